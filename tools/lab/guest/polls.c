// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the programs of `lab mininet`. In virtual time a program takes no time, so a
 * program that polls, reading the clock or calling again what has just failed, would poll for
 * ever: no timer comes, and no other program runs. On a real machine the time passes meanwhile.
 * So here it sleeps after some such calls, for about as long as they would have taken.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Clock readings that are free, and the sleep after them: what they take on a real machine. */
#define CLOCK_CALLS 32
#define CLOCK_NS 1000
/* A sleep after a call that has failed twice in a row since nothing can be sent or received. */
#define AGAIN_CALLS 2
#define AGAIN_NS 10000

static __thread unsigned int clock_calls, again_calls;

static void pass(long ns)
{
	struct timespec time = { 0, ns };
	int error = errno;

	nanosleep(&time, NULL);
	errno = error;
}

static void *next(void **found, const char *name)
{
	if (!*found)
		*found = dlsym(RTLD_NEXT, name);
	return *found;
}

static void count_clock(void)
{
	if (++clock_calls < CLOCK_CALLS)
		return;
	clock_calls = 0;
	pass(CLOCK_NS);
}

static ssize_t count_again(ssize_t result)
{
	if (result >= 0 || errno != EAGAIN)
		again_calls = 0;
	else if (++again_calls >= AGAIN_CALLS)
		pass(AGAIN_NS);
	return result;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static void *found;
	__typeof__(clock_gettime) *call = next(&found, "clock_gettime");

	count_clock();
	return call(clock, time);
}

int gettimeofday(struct timeval *time, void *zone)
{
	static void *found;
	__typeof__(gettimeofday) *call = next(&found, "gettimeofday");

	count_clock();
	return call(time, zone);
}

ssize_t write(int fd, const void *data, size_t size)
{
	static void *found;
	__typeof__(write) *call = next(&found, "write");

	return count_again(call(fd, data, size));
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	static void *found;
	__typeof__(send) *call = next(&found, "send");

	return count_again(call(fd, data, size, flags));
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	static void *found;
	__typeof__(recv) *call = next(&found, "recv");

	return count_again(call(fd, data, size, flags));
}
