// SPDX-License-Identifier: GPL-2.0
/*
 * Run commands at given times: at PLAN T0_NS
 *
 * PLAN has lines of "NS WORD...", in order of time; NS counts from T0_NS on CLOCK_MONOTONIC. The
 * program ends with the first command that fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define WORDS_MAX 32

static void sleep_until(long long t_ns)
{
	struct timespec at = { t_ns / NS_PER_S, t_ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int run(char *line)
{
	char *words[WORDS_MAX + 1] = {}, *word, *rest;
	int n = 0, status;
	pid_t child;

	line[strcspn(line, "\n")] = 0;
	for (word = strtok_r(line, " ", &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	child = n ? fork() : -1;
	if (!child) {
		execvp(words[0], words);
		_exit(127);
	}
	return child < 0 || waitpid(child, &status, 0) < 0 || status ? -1 : 0;
}

int main(int argc, char **argv)
{
	char line[1024], *command;
	FILE *plan = argc == 3 ? fopen(argv[1], "r") : NULL;
	long long t0_ns;

	if (!plan) {
		fprintf(stderr, "usage: at PLAN T0_NS\n");
		return 2;
	}
	t0_ns = strtoll(argv[2], NULL, 10);
	while (fgets(line, sizeof(line), plan)) {
		char whole[sizeof(line)];

		strcpy(whole, line);
		sleep_until(t0_ns + strtoll(line, &command, 10));
		if (run(command)) {
			fprintf(stderr, "scenario: failed: %s", whole);
			return 1;
		}
	}
	return 0;
}
