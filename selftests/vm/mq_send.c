// SPDX-License-Identifier: GPL-2.0
/*
 * Send one frame repeatedly from several CPUs: mq_send DEVICE FRAME_FILE SECONDS CPU...
 *
 * For each CPU's process, this prints the number of frames that the stack accepted and the time
 * that this took, in ns.
 */
#define _GNU_SOURCE
#include <err.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define CPUS_MAX 64

/**
 * struct sender - result of a process
 * @frames: number of frames that the stack accepted
 * @took_ns: time from the first frame to the last
 */
struct sender {
	unsigned long long frames, took_ns;
};

static unsigned char frame[65536];

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int open_device(const char *device, int cpu)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	address.sll_ifindex = if_nametoindex(device);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(2, "%s, CPU %d", device, cpu);
	return fd;
}

static void send_for(int fd, size_t bytes, double seconds, struct sender *result)
{
	struct iovec data = { .iov_base = frame, .iov_len = bytes };
	struct mmsghdr messages[BATCH] = {};
	const unsigned long long start_ns = now_ns();
	int i, sent;

	for (i = 0; i < BATCH; i++) {
		messages[i].msg_hdr.msg_iov = &data;
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	/* The marks for mq_count.c. */
	asm volatile("nopl 0x7e570001(%%rax)" ::: "memory");
	do {
		sent = sendmmsg(fd, messages, BATCH, 0);
		result->frames += sent > 0 ? sent : 0;
		result->took_ns = now_ns() - start_ns;
	} while (result->took_ns < seconds * 1e9);
	asm volatile("nopl 0x7e570002(%%rax)" ::: "memory");
}

int main(int argc, char **argv)
{
	struct sender *result = mmap(NULL, CPUS_MAX * sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	FILE *file = argc > 4 && argc - 4 <= CPUS_MAX ? fopen(argv[2], "rb") : NULL;
	size_t bytes;
	int i;

	if (!file || result == MAP_FAILED)
		errx(2, "mq_send DEVICE FRAME_FILE SECONDS CPU...");
	bytes = fread(frame, 1, sizeof(frame), file);
	for (i = 4; i < argc; i++) {
		if (fork())
			continue;
		send_for(open_device(argv[1], atoi(argv[i])), bytes, atof(argv[3]), &result[i - 4]);
		return 0;
	}
	while (wait(NULL) > 0)
		;
	for (i = 4; i < argc; i++)
		printf("%llu %llu\n", result[i - 4].frames, result[i - 4].took_ns);
	return 0;
}
