// SPDX-License-Identifier: GPL-2.0
/*
 * One TCP stream from namespace a to namespace b, and what it costs the only CPU.
 *
 *   cost_stream CC LISTENER_CC WARM_BYTES BYTES
 *
 * WARM_BYTES pass first, for the congestion control to find its window; BYTES are measured. Then
 * half as many pass, again and again, while ack_cost.ko counts what the congestion control does
 * with ACKS ACKs or more.
 * Prints one line of NAME=VALUE words.
 *
 * The guest's clock counts instructions, one a nanosecond (qemu -icount shift=0), and goes on
 * while the CPU idles. The cost is the time that passed less the time in which the CPU was idle:
 * all instructions of the sender, the router, the receiver and of this program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SINK "198.51.100.1"
#define PORT 5001
#define BLOCK_BYTES 1048576
#define STALL_MS 10000
#define ACKS 128

static char block[BLOCK_BYTES];

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("cost_stream: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	exit(1);
}

static void enter(const char *namespace)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", namespace);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s", namespace);
	close(fd);
}

/* Counters of namespaces, read from files of this thread's namespace, and of the connection. */
struct counts {
	unsigned long long a_tx_skbs, b_tx_pkts, b_in_skbs;
	unsigned int retransmits;
};

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		die("%s", path);
	return file;
}

/* Packets, as skbs, that a device has sent. */
static unsigned long long tx_skbs(const char *dev)
{
	unsigned long long skbs = 0, value;
	FILE *file = open_file("/proc/thread-self/net/dev");
	char line[512], name[32];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %31[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", name,
			   &value) == 2 && !strcmp(name, dev))
			skbs = value;
	fclose(file);
	return skbs;
}

/* Packets that IPv4 and IPv6 got, as skbs: what GRO has merged counts as one. */
static unsigned long long in_skbs(void)
{
	unsigned long long v4 = 0, v6 = 0;
	FILE *file = open_file("/proc/thread-self/net/snmp");
	char line[1024];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Ip: %*u %*u %llu", &v4) == 1)
			break;
	fclose(file);
	file = open_file("/proc/thread-self/net/snmp6");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Ip6InReceives %llu", &v6) == 1)
			break;
	fclose(file);
	return v4 + v6;
}

static struct tcp_info tcp_info_of(int sock)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	getsockopt(sock, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info;
}

static struct counts count(int source)
{
	struct counts counts = { .retransmits = tcp_info_of(source).tcpi_total_retrans };

	enter("a");
	counts.a_tx_skbs = tx_skbs("a-r");
	enter("b");
	counts.b_tx_pkts = tx_skbs("b-r");
	counts.b_in_skbs = in_skbs();
	return counts;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* /proc/stat rounds to 10 ms; this is exact. */
static long long idle_ns(void)
{
	FILE *file = open_file("/proc/timer_list");
	long long idle = -1;
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %lld", &idle) == 1)
			break;
	fclose(file);
	if (idle < 0)
		die("no idle_sleeptime in /proc/timer_list");
	return idle;
}

/* To ack_cost.ko: a socket's descriptor, or -1. */
static void count_acks(int sock)
{
	FILE *file = fopen("/proc/ack_cost", "w");

	if (!file || fprintf(file, "%d", sock) < 1 || fclose(file))
		die("/proc/ack_cost");
}

/* For profile.c: instructions that do nothing, found by their operand. */
static inline void mark_start(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x01, 0x00, 0x57, 0x7e");
}

static inline void mark_stop(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x02, 0x00, 0x57, 0x7e");
}

static int tcp_socket(const char *namespace, const char *cc)
{
	int sock;

	enter(namespace);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (sock < 0 || setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("%s in namespace %s", cc, namespace);
	return sock;
}

static void wait_for(int sock, short events)
{
	struct pollfd fd = { .fd = sock, .events = events };

	if (poll(&fd, 1, STALL_MS) != 1)
		die("no connection");
}

static void connect_pair(const char *cc, const char *listener_cc, int *source, int *sink)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int listener = tcp_socket("b", listener_cc), yes = 1;

	inet_pton(AF_INET, SINK, &to.sin_addr);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (struct sockaddr *)&to, sizeof(to)) || listen(listener, 1))
		die("listen");
	*source = tcp_socket("a", cc);
	connect(*source, (struct sockaddr *)&to, sizeof(to));
	wait_for(listener, POLLIN);
	*sink = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (*sink < 0)
		die("accept");
	wait_for(*source, POLLOUT);
	close(listener);
}

/* Send and receive @bytes: one program, so that no scheduler has a say in the cost. */
static void move_bytes(int source, int sink, long long bytes)
{
	long long sent = 0, got = 0;
	ssize_t n;

	while (got < bytes) {
		struct pollfd fds[2] = {
			{ .fd = sink, .events = POLLIN },
			{ .fd = source, .events = sent < bytes ? POLLOUT : 0 },
		};

		if (poll(fds, 2, STALL_MS) < 1)
			die("stalled after %lld of %lld bytes", got, bytes);
		if (fds[0].revents) {
			n = recv(sink, block, sizeof(block), 0);
			got += n > 0 ? n : 0;
		}
		if (fds[1].revents & POLLOUT) {
			n = bytes - sent;
			n = send(source, block, n < BLOCK_BYTES ? n : BLOCK_BYTES, 0);
			sent += n > 0 ? n : 0;
		}
	}
}

/* So many ACKs at least: what one costs depends on what it changes. */
static void print_acks(int source, int sink, long long bytes)
{
	unsigned long long acks = 0, instructions = 0;
	FILE *file;

	count_acks(source);
	while (acks < ACKS) {
		move_bytes(source, sink, bytes);
		file = open_file("/proc/ack_cost");
		if (fscanf(file, "%llu %llu", &acks, &instructions) != 2)
			die("/proc/ack_cost");
		fclose(file);
	}
	count_acks(-1);
	printf(" acks=%llu ack_instructions=%llu\n", acks, instructions);
}

static void print_result(int source, long long bytes, long long took_ns, long long idle,
			 const struct counts *from, const struct counts *to)
{
	const struct tcp_info info = tcp_info_of(source);
	char cc[16] = "";
	socklen_t len = sizeof(cc);

	getsockopt(source, IPPROTO_TCP, TCP_CONGESTION, cc, &len);
	printf("cc=%s bytes=%lld took_ns=%lld idle_ns=%lld instructions=%lld ", cc, bytes, took_ns,
	       idle, took_ns - idle);
	printf("skbs_out=%llu skbs_in=%llu pkts_back=%llu ", to->a_tx_skbs - from->a_tx_skbs,
	       to->b_in_skbs - from->b_in_skbs, to->b_tx_pkts - from->b_tx_pkts);
	printf("retransmits=%u mss=%u cwnd=%u srtt_us=%u", to->retransmits - from->retransmits,
	       info.tcpi_snd_mss, info.tcpi_snd_cwnd, info.tcpi_rtt);
}

int main(int argc, char **argv)
{
	long long bytes, start_ns, idle_before, took_ns;
	struct counts before, after;
	int source, sink;

	if (argc != 5) {
		fputs("usage: cost_stream CC LISTENER_CC WARM_BYTES BYTES\n", stderr);
		return 2;
	}
	connect_pair(argv[1], argv[2], &source, &sink);
	move_bytes(source, sink, atoll(argv[3]));
	bytes = atoll(argv[4]);
	before = count(source);
	idle_before = idle_ns();
	start_ns = now_ns();
	mark_start();
	move_bytes(source, sink, bytes);
	mark_stop();
	took_ns = now_ns() - start_ns;
	idle_before = idle_ns() - idle_before;
	after = count(source);
	print_result(source, bytes, took_ns, idle_before, &before, &after);
	print_acks(source, sink, bytes / 2);
	return 0;
}
