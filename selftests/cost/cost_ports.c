// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of many ports, each of which has a packet in every period, on the only CPU.
 *
 *   cost_ports PORTS PERIOD_US DURATION_MS
 *
 * Sends a UDP packet through each of the devices port0, port1 ... of namespace a, once a period,
 * and prints the packets and the instructions of everything in that time, as cost_stream does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX 1000
#define NS_PER_US 1000LL

static void die(const char *what)
{
	fprintf(stderr, "cost_ports: %s: %s\n", what, strerror(errno));
	exit(1);
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
	FILE *file = fopen("/proc/timer_list", "r");
	long long idle = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %lld", &idle) == 1)
			break;
	if (idle < 0)
		die("no idle_sleeptime in /proc/timer_list");
	fclose(file);
	return idle;
}

static void sleep_until(long long at_ns)
{
	const struct timespec at = { at_ns / 1000000000, at_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static int port_index(int number)
{
	char name[IFNAMSIZ];
	int index;

	snprintf(name, sizeof(name), "port%d", number);
	index = if_nametoindex(name);
	if (!index)
		die(name);
	return index;
}

int main(int argc, char **argv)
{
	/* IPv4 and UDP without data; the devices discard it. */
	unsigned char packet[28] = {
		0x45, 0, 0, 28, [8] = 64, 17, [12] = 10, 0, 0, 1, 10, 0, 0, 2
	};
	struct sockaddr_ll to[PORTS_MAX];
	long long period_ns, start_ns, end_ns, at_ns, idle_before, packets = 0;
	int ports, sock, i, net = open("/run/netns/a", O_RDONLY);

	if (argc != 4) {
		fputs("usage: cost_ports PORTS PERIOD_US DURATION_MS\n", stderr);
		return 2;
	}
	if (net < 0 || setns(net, CLONE_NEWNET))
		die("namespace a");
	ports = atoi(argv[1]) < PORTS_MAX ? atoi(argv[1]) : PORTS_MAX;
	period_ns = atoll(argv[2]) * NS_PER_US;
	sock = socket(AF_PACKET, SOCK_DGRAM, 0);
	if (sock < 0)
		die("socket");
	for (i = 0; i < ports; i++)
		to[i] = (struct sockaddr_ll) {
			.sll_family = AF_PACKET, .sll_ifindex = port_index(i),
			.sll_protocol = htons(ETH_P_IP), .sll_halen = ETH_ALEN,
		};
	idle_before = idle_ns();
	start_ns = now_ns();
	end_ns = start_ns + atoll(argv[3]) * 1000 * NS_PER_US;
	for (at_ns = start_ns; at_ns < end_ns; at_ns += period_ns) {
		sleep_until(at_ns);
		for (i = 0; i < ports; i++, packets++)
			if (sendto(sock, packet, sizeof(packet), 0, (void *)&to[i],
				   sizeof(to[i])) < 0)
				die("sendto");
	}
	sleep_until(end_ns);
	end_ns = now_ns();
	printf("packets=%lld took_ns=%lld instructions=%lld\n", packets, end_ns - start_ns,
	       end_ns - start_ns - (idle_ns() - idle_before));
	return 0;
}
