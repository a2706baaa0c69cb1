// SPDX-License-Identifier: GPL-2.0
/*
 * Write sysctls in network namespaces: settings NODE...
 *
 * NODE.sysctl has lines such as "net/ipv4/tcp_ecn=1". One process serves all nodes, since
 * starting one process per node would take most of the time of setting up a network.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int set_one(const char *path, const char *value)
{
	char full[512];
	int fd, ok;

	snprintf(full, sizeof(full), "/proc/sys/%s", path);
	fd = open(full, O_WRONLY);
	if (fd < 0) {
		fprintf(stderr, "sysctl %s: %s\n", path, strerror(errno));
		return -1;
	}
	ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	if (!ok)
		fprintf(stderr, "sysctl %s: refused '%s': %s\n", path, value, strerror(errno));
	close(fd);
	return ok ? 0 : -1;
}

static int set_node(const char *node)
{
	char line[1024], *value;
	FILE *f;
	int err = 0;

	snprintf(line, sizeof(line), "%s.sysctl", node);
	f = fopen(line, "r");
	if (!f) {
		fprintf(stderr, "%s: %s\n", line, strerror(errno));
		return -1;
	}
	while (!err && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = 0;
		err = set_one(line, value);
	}
	fclose(f);
	if (err)
		fprintf(stderr, "settings of node %s\n", node);
	return err;
}

static int enter(const char *node)
{
	char path[256];
	int fd, err;

	snprintf(path, sizeof(path), "/run/netns/%s", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: settings NODE...\n");
		return 2;
	}
	for (i = 1; i < argc; i++)
		/* The initial namespace has no name; its settings are in ".sysctl". */
		if ((*argv[i] && enter(argv[i])) || set_node(argv[i]))
			return 1;
	return 0;
}
