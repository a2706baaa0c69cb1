// SPDX-License-Identifier: GPL-2.0
/*
 * CSIG over UDP. The receiver reflects the tag in the payload, as in figure 4 of
 * draft-ravi-ippm-csig-01: a flag Valid, and the fields of a compact tag.
 *
 *	csig-udp serve PORT		answer each datagram with the content of its tag
 *	csig-udp ask ADDRESS PORT N	send N datagrams and print the answers
 *
 * Both ends must set net.hopcc.csig_rules to "udp to ADDRESS port PORT".
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "csig_udp_socket.h"

/* Time that a client waits for an answer. */
static const struct timeval timeout = { .tv_sec = 1 };

static int serve(const char *port)
{
	struct sockaddr_in6 here = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_storage from;
	char data[1500];

	if (fd < 0 || csig_udp_open(fd) || bind(fd, (struct sockaddr *)&here, sizeof(here))) {
		perror("csig-udp");
		return 1;
	}
	for (;;) {
		socklen_t from_bytes = sizeof(from);
		__u8 answer[CSIG_UDP_BYTES];
		__u32 mark;

		if (csig_udp_receive(fd, data, sizeof(data), (struct sockaddr *)&from, &from_bytes,
				     &mark) < 0)
			continue;
		csig_udp_put(answer, mark);
		sendto(fd, answer, sizeof(answer), 0, (struct sockaddr *)&from, from_bytes);
	}
}

static int connected(const char *address, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *there;
	int fd = -1;

	if (getaddrinfo(address, port, &hints, &there))
		return -1;
	fd = socket(there->ai_family, SOCK_DGRAM, 0);
	if (fd >= 0 && (connect(fd, there->ai_addr, there->ai_addrlen) ||
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(there);
	return fd;
}

static void print_answer(const __u8 *answer, ssize_t bytes)
{
	static const char * const names[] = { "min(ABW)", "min(ABW/C)", "max(PD)" };
	__u32 type, value, locator;

	if (bytes != CSIG_UDP_BYTES)
		puts("no answer");
	else if (!csig_udp_get(answer, &type, &value, &locator))
		puts("no tag came");
	else
		printf("%s bucket %u locator %u\n", type < 3 ? names[type] : "?", value, locator);
}

static int ask(const char *address, const char *port, int count)
{
	int fd = connected(address, port);

	if (fd < 0) {
		perror("csig-udp");
		return 1;
	}
	while (count-- > 0) {
		__u8 answer[CSIG_UDP_BYTES];

		if (send(fd, "?", 1, 0) != 1) {
			perror("csig-udp");
			return 1;
		}
		print_answer(answer, recv(fd, answer, sizeof(answer), 0));
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "ask"))
		return ask(argv[2], argv[3], atoi(argv[4]));
	fputs("csig-udp serve PORT | ask ADDRESS PORT N\n", stderr);
	return 2;
}
