// SPDX-License-Identifier: GPL-2.0
/*
 * Does a guest's kernel keep a program's extended registers? keep_registers sse|avx|avx512
 *
 * Processes and threads each hold a pattern of their own in all vector registers while they make
 * system calls, fault pages in, yield to one another, fork, and get signals whose handler holds
 * another pattern, on a stack of its own. Exit status 0: each register had its value each time;
 * else the first difference is printed.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 200
#define PROCESSES 3
#define THREADS 3
#define PAGE_BYTES 4096
/* A common size for a handler with few needs. */
#define SIGNAL_STACK_BYTES 8192
/* A fork takes long in the debug kernel. */
#define FORK_EVERY 50

/* Registers of each width: 16 of SSE and AVX, 32 of AVX-512. */
struct registers {
	uint8_t at[32][64] __attribute__((aligned(64)));
};

static enum { SSE, AVX, AVX512 } width;
static const int register_bytes[] = { 16, 32, 64 };
static const int register_count[] = { 16, 16, 32 };

static void fill(struct registers *r, unsigned int seed)
{
	unsigned int i, j;

	for (i = 0; i < 32; i++)
		for (j = 0; j < 64; j++)
			r->at[i][j] = (uint8_t)(seed * 89 + i * 17 + j * 3 + 1);
}

/*
 * Load all registers, make system call @number, store all registers: nothing of the compiler's
 * or the library's in between.
 */
#define LOAD(op, n, size) op " " #n "*64(%[in]), %%" size #n "\n\t"
#define STORE(op, n, size) op " %%" size #n ", " #n "*64(%[out])\n\t"
#define LOW(f, op, size) f(op, 0, size) f(op, 1, size) f(op, 2, size) f(op, 3, size) \
	f(op, 4, size) f(op, 5, size) f(op, 6, size) f(op, 7, size) f(op, 8, size) \
	f(op, 9, size) f(op, 10, size) f(op, 11, size) f(op, 12, size) f(op, 13, size) \
	f(op, 14, size) f(op, 15, size)
#define HIGH(f, op, size) f(op, 16, size) f(op, 17, size) f(op, 18, size) f(op, 19, size) \
	f(op, 20, size) f(op, 21, size) f(op, 22, size) f(op, 23, size) f(op, 24, size) \
	f(op, 25, size) f(op, 26, size) f(op, 27, size) f(op, 28, size) f(op, 29, size) \
	f(op, 30, size) f(op, 31, size)
#define HOLD(load, store)						\
	asm volatile(load "syscall\n\t" store				\
		     : "+a"(result), "+D"(a), "+S"(b)			\
		     : [in] "r"(in), [out] "r"(out), "d"(c)		\
		     : "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm3",	\
		       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",	\
		       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

static long hold(const struct registers *in, struct registers *out, long number, long a, long b,
		 long c)
{
	long result = number;

	switch (width) {
	case SSE:
		HOLD(LOW(LOAD, "movdqa", "xmm"), LOW(STORE, "movdqa", "xmm"));
		break;
	case AVX:
		HOLD(LOW(LOAD, "vmovdqa", "ymm"), LOW(STORE, "vmovdqa", "ymm"));
		break;
	case AVX512:
		HOLD(LOW(LOAD, "vmovdqa64", "zmm") HIGH(LOAD, "vmovdqa64", "zmm"),
		     LOW(STORE, "vmovdqa64", "zmm") HIGH(STORE, "vmovdqa64", "zmm"));
		break;
	}
	return result;
}

static int differs(const struct registers *a, const struct registers *b, const char *when,
		   unsigned int seed)
{
	int i;

	for (i = 0; i < register_count[width]; i++) {
		if (!memcmp(a->at[i], b->at[i], register_bytes[width]))
			continue;
		fprintf(stderr, "register %d is another after %s (seed %u)\n", i, when, seed);
		return 1;
	}
	return 0;
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	struct registers in, out;

	fill(&in, 1000 + sig);
	hold(&in, &out, SYS_getppid, 0, 0, 0);
	handled++;
}

/* Both the parent and the child go on with the parent's registers. */
static int fork_round(unsigned int seed)
{
	struct registers in, out;
	int status;
	pid_t child;

	fill(&in, seed);
	child = hold(&in, &out, SYS_fork, 0, 0, 0);
	if (!child)
		_exit(differs(&in, &out, "fork, in the child", seed));
	return waitpid(child, &status, 0) != child || status || differs(&in, &out, "fork", seed);
}

static int one_round(unsigned int seed, uint8_t *pages)
{
	struct registers in, out;
	struct timespec nap = { 0, 1000 + seed };

	fill(&in, seed);
	hold(&in, &out, SYS_sched_yield, 0, 0, 0);
	if (differs(&in, &out, "sched_yield", seed))
		return 1;
	hold(&in, &out, SYS_nanosleep, (long)&nap, 0, 0);
	if (differs(&in, &out, "nanosleep", seed))
		return 1;
	/* The system call faults a page in, and so does the store behind it. */
	hold(&in, (struct registers *)(pages + PAGE_BYTES), SYS_getcwd, (long)pages, PAGE_BYTES, 0);
	if (differs(&in, (struct registers *)(pages + PAGE_BYTES), "a page fault", seed))
		return 1;
	madvise(pages, 2 * PAGE_BYTES, MADV_DONTNEED);
	hold(&in, &out, SYS_tgkill, getpid(), gettid(), SIGUSR1);
	return differs(&in, &out, "a signal", seed);
}

static void *work(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	uint8_t *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES };
	int i;

	if (sigaltstack(&stack, NULL))
		exit(1);
	for (i = 0; i < ROUNDS; i++)
		if (one_round(seed + i * 100, pages) ||
		    (i % FORK_EVERY == 0 && fork_round(seed + i * 100)))
			exit(1);
	return NULL;
}

static void work_in_threads(unsigned int seed)
{
	pthread_t thread[THREADS];
	uintptr_t i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(seed + i));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	exit(handled ? 0 : 1);
}

int main(int argc, char **argv)
{
	static const char *const words[] = { "sse", "avx", "avx512" };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	int i, status, failed = 0;

	for (i = 0; i < 3; i++)
		if (argc == 2 && !strcmp(argv[1], words[i]))
			width = i;
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < PROCESSES; i++)
		if (!fork())
			work_in_threads(10 * (i + 1));
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
