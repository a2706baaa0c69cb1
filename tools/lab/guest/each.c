// SPDX-License-Identifier: GPL-2.0
/*
 * Start `ip -batch -` or `tc -batch -` once for all namespaces.
 *
 * This is a preloaded library. Before main() it forks the program for each name in HOPLAB_EACH, in
 * that namespace and with NAME.HOPLAB_BATCH as its input. Loading ip and its libraries takes most
 * of the time, 20 ms in User-Mode Linux, and so happens only once. The first failure ends the
 * program.
 *
 * The messages by which tc sets qdiscs are also written to the file tc.messages, if there is one:
 * in a large network the program network sends them to all other devices with the same qdiscs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int record_fd = -1;

/* This is in place of the C library's function: all of tc's messages pass through it. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct iovec *iov = msg->msg_iov;
	const struct nlmsghdr *n = iov->iov_base;

	if (record_fd >= 0 && iov->iov_len >= sizeof(*n) && n->nlmsg_type == RTM_NEWQDISC &&
	    write(record_fd, n, NLMSG_ALIGN(n->nlmsg_len)) < 0)
		perror("tc.messages");
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static void become(const char *node, const char *batch)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !setns(fd, CLONE_NEWNET)) {
		close(fd);
		snprintf(path, sizeof(path), "%s.%s", node, batch);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && dup2(fd, 0) == 0)
			return;
	}
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(1);
}

static void __attribute__((constructor)) each(void)
{
	char *names = getenv("HOPLAB_EACH"), *batch = getenv("HOPLAB_BATCH"), *node;
	int status;
	pid_t child;

	if (!names || !batch)
		return;
	record_fd = open("tc.messages", O_WRONLY | O_APPEND | O_CLOEXEC);
	while ((node = strsep(&names, " "))) {
		child = fork();
		if (!child) {
			unsetenv("LD_PRELOAD");
			become(node, batch);
			return;
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
			fprintf(stderr, "scenario: failed: %s.%s\n", node, batch);
			_exit(1);
		}
	}
	_exit(0);
}
