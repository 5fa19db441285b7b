/* SPDX-License-Identifier: MIT */
/* Giving up privileges. See cli/probe_user.h. */

#define _GNU_SOURCE	/* setresuid, setresgid */

#include "cli/probe_user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(struct diag *d, const char *what, const char *user)
{
	diag_add(d, SEVERITY_ERROR, "probe.privileges", NULL, "privileges cannot be dropped: %s %s: %s", what, user,
		 errno != 0 ? strerror(errno) : "there is no such user");
	return -1;
}

/* Groups first: who is no longer root may not set them. */
static int become(const struct passwd *to, const char *user, struct diag *d)
{
	uid_t real, effective, saved;

	if (setgroups(0, NULL) != 0)
		return fail(d, "groups of", user);
	if (setresgid(to->pw_gid, to->pw_gid, to->pw_gid) != 0)
		return fail(d, "group of", user);
	if (setresuid(to->pw_uid, to->pw_uid, to->pw_uid) != 0)
		return fail(d, "user", user);
	errno = EPERM;
	if (getresuid(&real, &effective, &saved) != 0 || real != to->pw_uid || effective != to->pw_uid ||
	    saved != to->pw_uid || (to->pw_uid != 0 && (setuid(0) == 0 || getegid() != to->pw_gid)))
		return fail(d, "still not", user);
	return 0;
}

/* What "setcap cap_net_raw+ep" gave; for who was root nothing is left of it. */
static int drop_capabilities(struct diag *d)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0, 0, 0 } };

	errno = 0;
	if (syscall(SYS_capset, &header, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return fail(d, "capabilities of", "this program");
	return 0;
}

int probe_user_drop(const char *user, struct diag *d)
{
	const char *name = user != NULL ? user : "nobody";

	if (geteuid() != 0 && user != NULL) {
		errno = EPERM;
		return fail(d, "only root can become", user);
	}
	if (geteuid() == 0) {
		errno = 0;
		const struct passwd *to = getpwnam(name);
		if (to == NULL)
			return fail(d, "user", name);
		if (become(to, name, d) < 0)
			return -1;
	}
	return drop_capabilities(d);
}
