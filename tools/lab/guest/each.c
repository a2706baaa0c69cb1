// SPDX-License-Identifier: GPL-2.0
/*
 * Start `ip -batch -` or `tc -batch -` once for all namespaces.
 *
 * This is a preloaded library. Before main() it forks the program for each name in HOPLAB_EACH, in
 * that namespace and with NAME.HOPLAB_BATCH as its input. Loading ip and its libraries takes most
 * of the time, 20 ms in User-Mode Linux, and so happens only once. The first failure ends the
 * program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
