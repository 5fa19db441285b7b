/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_SPIN_H
#define AFTERSHOCK_BASE_SPIN_H

/*
 * To sleep and to be woken costs both threads more than a short wait does: so
 * many looks, with a pause each, come before it. A pause takes some 20 to 50 ns.
 */
#define SPIN_LOOKS 4000

static inline void spin_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

#endif
