// SPDX-License-Identifier: GPL-2.0
/*
 * A host with another size of extended registers than this one's.
 *
 * Preloaded into User-Mode Linux: PTRACE_GETREGSET of NT_X86_XSTATE gives HOPLAB_XSTATE_BYTES
 * bytes, or as many as there is room for; PTRACE_SETREGSET of any other number is refused with
 * EFAULT, as the kernel's xstateregs_set() does. What is beyond this machine's own registers is
 * remembered: other bytes than were given before for this process are refused with EINVAL.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define ROOM_BYTES (128 * 1024)

static long (*host_ptrace)(enum __ptrace_request request, pid_t pid, void *addr, void *data);
static unsigned char own[ROOM_BYTES];
static size_t own_bytes, reported_bytes;

/* A byte beyond this machine's registers: another for each place. */
static unsigned char beyond(size_t place)
{
	return (unsigned char)(place * 131 + (place >> 8) + 7);
}

static long get_own(pid_t pid)
{
	struct iovec iov = { own, sizeof(own) };
	long err = host_ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &iov);

	own_bytes = iov.iov_len;
	return err;
}

static long get_registers(pid_t pid, struct iovec *iov)
{
	size_t i;

	if (get_own(pid))
		return -1;
	for (i = own_bytes; i < reported_bytes; i++)
		own[i] = beyond(i);
	if (iov->iov_len > reported_bytes)
		iov->iov_len = reported_bytes;
	memcpy(iov->iov_base, own, iov->iov_len);
	return 0;
}

static long set_registers(pid_t pid, const struct iovec *iov)
{
	const unsigned char *wanted = iov->iov_base;
	struct iovec all;
	size_t i;

	if (iov->iov_len != reported_bytes) {
		errno = EFAULT;
		return -1;
	}
	if (get_own(pid))
		return -1;
	for (i = own_bytes; i < reported_bytes; i++) {
		if (wanted[i] == beyond(i))
			continue;
		errno = EINVAL;
		return -1;
	}
	memcpy(own, wanted, reported_bytes < own_bytes ? reported_bytes : own_bytes);
	all = (struct iovec){ own, own_bytes };
	return host_ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

static void start(void)
{
	host_ptrace = dlsym(RTLD_NEXT, "ptrace");
	reported_bytes = strtoul(getenv("HOPLAB_XSTATE_BYTES"), NULL, 10);
	if (reported_bytes > sizeof(own))
		abort();
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (!host_ptrace)
		start();
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_GETREGSET)
		return get_registers(pid, data);
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_SETREGSET)
		return set_registers(pid, data);
	return host_ptrace(request, pid, addr, data);
}
