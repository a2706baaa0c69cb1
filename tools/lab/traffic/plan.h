/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parser of plans. Each line is "WORD key=value key=value ..."; # starts a comment.
 * An unknown key, a key without a value or a bad number ends the program with an error message
 * that contains the file, the line and the allowed values.
 */
#ifndef HOPCC_TOOLS_LAB_TRAFFIC_PLAN_H
#define HOPCC_TOOLS_LAB_TRAFFIC_PLAN_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define NS_PER_S 1000000000LL
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static inline void *zalloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		die("out of memory");
	return p;
}

static inline s64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static inline struct timespec ns_to_timespec(s64 ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

/* Enter a network namespace for the sockets created from now on. Without a name: the program's. */
static inline void enter_netns(const char *name)
{
	static int own = -1;
	char path[256];
	int fd;

	if (own < 0)
		own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	fd = own;
	if (name && *name) {
		snprintf(path, sizeof(path), "/run/netns/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die("no network namespace '%s': %s", name, strerror(errno));
	}
	if (setns(fd, CLONE_NEWNET))
		die("cannot enter network namespace '%s': %s", name, strerror(errno));
	if (fd != own)
		close(fd);
}

enum key_type { KEY_TEXT, KEY_U64, KEY_BOOL, KEY_MODE };

/**
 * struct key - one key of a line
 * @name: the word before '='
 * @type: type of the value
 * @offset: offset of the value in the line's structure
 * @words: for KEY_MODE: the allowed words, NULL-terminated; the index is stored
 */
struct key {
	const char *name;
	enum key_type type;
	size_t offset;
	const char *const *words;
};

struct plan_place {
	const char *file;
	int line;
};

static inline void __attribute__((noreturn)) plan_refuse(const struct plan_place *at,
							 const char *key, const char *why)
{
	die("%s:%d: %s: %s", at->file, at->line, key, why);
}

static inline u64 plan_number(const struct plan_place *at, const char *key, const char *text)
{
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		plan_refuse(at, key, "a whole number is needed");
	return value;
}

static inline int plan_word(const struct plan_place *at, const struct key *key, const char *text)
{
	char why[256] = "allowed:";
	int i;

	for (i = 0; key->words[i]; i++) {
		if (!strcmp(key->words[i], text))
			return i;
		strncat(why, " ", sizeof(why) - strlen(why) - 1);
		strncat(why, key->words[i], sizeof(why) - strlen(why) - 1);
	}
	plan_refuse(at, key->name, why);
}

static inline void plan_store(const struct plan_place *at, const struct key *key, void *base,
			      const char *text)
{
	void *field = (char *)base + key->offset;

	switch (key->type) {
	case KEY_TEXT:
		*(char **)field = strdup(text);
		break;
	case KEY_U64:
		*(u64 *)field = plan_number(at, key->name, text);
		break;
	case KEY_BOOL:
		*(u64 *)field = plan_number(at, key->name, text);
		if (*(u64 *)field > 1)
			plan_refuse(at, key->name, "0 or 1");
		break;
	case KEY_MODE:
		*(int *)field = plan_word(at, key, text);
		break;
	}
}

/* Parse the rest of a line by @keys and store the values in @base. */
static inline void plan_keys(const struct plan_place *at, const struct key *keys, size_t n,
			     void *base)
{
	char *pair, *value;
	size_t i;

	while ((pair = strtok(NULL, " \t\n"))) {
		value = strchr(pair, '=');
		if (!value)
			plan_refuse(at, pair, "key=value is needed");
		*value++ = 0;
		for (i = 0; i < n && strcmp(keys[i].name, pair); i++)
			;
		if (i == n)
			plan_refuse(at, pair, "unknown key");
		plan_store(at, &keys[i], base, value);
	}
}

/**
 * plan_read() - read a plan
 * @file: path of the plan
 * @line: function that is called for each line with the first word; it parses the rest by
 *	plan_keys()
 */
static inline void plan_read(const char *file,
			     void (*line)(const struct plan_place *at, const char *word))
{
	struct plan_place at = { file, 0 };
	char *text = NULL, *word;
	size_t room = 0;
	FILE *f = fopen(file, "r");

	if (!f)
		die("%s: %s", file, strerror(errno));
	while (getline(&text, &room, f) > 0) {
		at.line++;
		text[strcspn(text, "#\n")] = 0;
		word = strtok(text, " \t");
		if (word)
			line(&at, word);
	}
	free(text);
	fclose(f);
}

/**
 * struct out - a result file, kept in memory until the end of the run
 * @f: stream to print to
 * @text: the text that was printed
 * @bytes: length of @text
 */
struct out {
	FILE *f;
	char *text;
	size_t bytes;
};

static inline void out_open(struct out *out)
{
	out->f = open_memstream(&out->text, &out->bytes);
	if (!out->f)
		die("out of memory");
}

static inline void out_write(struct out *out, const char *path)
{
	FILE *f = fopen(path, "w");

	fclose(out->f);
	if (!f || fwrite(out->text, 1, out->bytes, f) != out->bytes || fclose(f))
		die("%s: %s", path, strerror(errno));
}

#endif /* HOPCC_TOOLS_LAB_TRAFFIC_PLAN_H */
