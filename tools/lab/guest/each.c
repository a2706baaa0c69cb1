// SPDX-License-Identifier: GPL-2.0
/*
 * One start of `ip -batch -` or `tc -batch -` for all namespaces.
 *
 * Preloaded: before the program begins it is forked for each name in HOPLAB_EACH, in that
 * namespace and with NAME.HOPLAB_BATCH as its input. To load ip and its libraries is most
 * of what it takes there, 20 ms in User-Mode Linux. The first that fails ends it.
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
