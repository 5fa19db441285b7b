/* SPDX-License-Identifier: MIT */
/* See input/mapped.h. */

#include "input/mapped.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Fewer are not worth a call: each that takes memory back interrupts the other
 * threads, which at half of this took a tenth of two threads' time.
 */
#define EXPECT_BYTES ((size_t)1024 * 1024)
#define PASS_BYTES ((size_t)8 * 1024 * 1024)

struct mapped {
	uint8_t *bytes;
	size_t n, page_bytes;
	atomic_size_t expected;
	atomic_size_t passed;	/* whole pages of these take no memory */
	atomic_bool lost;
	struct sigaction before;
};

/* That whose faults are answered. */
static _Atomic(struct mapped *) guarded;

/* In a handler of signals; mmap is a call of the kernel and nothing besides. */
static bool put_zeros(struct mapped *m, const uint8_t *at)
{
	size_t from;

	if (m == NULL || at < m->bytes || at >= m->bytes + m->n)
		return false;
	from = (size_t)(at - m->bytes) / m->page_bytes * m->page_bytes;
	atomic_store(&m->lost, true);
	return mmap(m->bytes + from, m->n - from, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* What is not ours happens again, to whoever was to be told before. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	struct mapped *m = atomic_load(&guarded);

	(void)context;
	if (!put_zeros(m, info->si_addr))
		(void)sigaction(signal, m != NULL ? &m->before : &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static bool guard(struct mapped *m)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct mapped *none = NULL;

	(void)sigemptyset(&action.sa_mask);
	if (!atomic_compare_exchange_strong(&guarded, &none, m))
		return false;
	if (sigaction(SIGBUS, &action, &m->before) == 0)
		return true;
	atomic_store(&guarded, NULL);
	return false;
}

struct mapped *mapped_new(struct arena *a, int fd, uint64_t n)
{
	struct mapped *m = arena_alloc(a, sizeof *m);
	const long page_bytes = sysconf(_SC_PAGESIZE);
	void *bytes;

	if (n == 0 || n > SIZE_MAX / 2 || page_bytes <= 0)
		return NULL;
	bytes = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	m->bytes = bytes;
	m->n = (size_t)n;
	m->page_bytes = (size_t)page_bytes;
	if (guard(m))
		return m;
	(void)munmap(bytes, (size_t)n);
	return NULL;
}

const uint8_t *mapped_bytes(const struct mapped *m)
{
	return m->bytes;
}

size_t mapped_size(const struct mapped *m)
{
	return m->n;
}

bool mapped_is_lost(const struct mapped *m)
{
	return atomic_load(&m->lost);
}

void mapped_expect(struct mapped *m, size_t before)
{
#ifdef MADV_POPULATE_READ
	size_t from = atomic_load(&m->expected);

	before = before < m->n ? before : m->n;
	while (from < before) {
		const size_t n = m->n - from < EXPECT_BYTES ? m->n - from : EXPECT_BYTES;

		/* Where the kernel does not know how, or the file has become shorter, each page is asked for when it is looked at. */
		if (atomic_compare_exchange_strong(&m->expected, &from, from + n))
			(void)madvise(m->bytes + from, n, MADV_POPULATE_READ);
		from = atomic_load(&m->expected);
	}
#else
	(void)m;
	(void)before;
#endif
}

void mapped_pass(struct mapped *m, size_t before)
{
	size_t from = atomic_load(&m->passed);

	before -= before % m->page_bytes;
	/* Another thread may be about to: it has all up to its own place. */
	if (before < from + PASS_BYTES || !atomic_compare_exchange_strong(&m->passed, &from, before))
		return;
	(void)madvise(m->bytes + from, before - from, MADV_DONTNEED);
}

void mapped_free(struct mapped *m)
{
	if (m == NULL)
		return;
	(void)sigaction(SIGBUS, &m->before, NULL);
	atomic_store(&guarded, NULL);
	(void)munmap(m->bytes, m->n);
}
