/* SPDX-License-Identifier: GPL-2.0 */
/* 32-bit options of a name and a value: one table describes how to read, send and print them. */
#ifndef HOPCC_TOOLS_TC_TC_WORDS_H
#define HOPCC_TOOLS_TC_TC_WORDS_H

#include <stdlib.h>
#include "tc_plugin.h"

/* Convert a limit to text. */
#define WORD_TEXT_(bound) #bound
#define WORD_TEXT(bound) WORD_TEXT_(bound)

/**
 * struct word - a 32-bit option
 * @name: name of the option in input, output and JSON
 * @attr: netlink attribute
 * @read: reads the value from a word; returns false if the word is not valid. NULL: the option has
 *	no value; its name alone means 1, with "no" before it 0
 * @min: minimum value
 * @max: maximum value
 * @unit: unit printed after the value
 * @allowed: allowed values, for messages
 * @zero: word for 0, null in JSON; NULL if there is none
 * @print: prints a value other than @zero; NULL: print the number and @unit
 */
struct word {
	const char *name;
	int attr;
	bool (*read)(__u32 *value, const char *word);
	__u32 min, max;
	const char *unit;
	const char *allowed;
	const char *zero;
	void (*print)(const struct word *o, __u32 value);
};

static inline bool word_read_number(__u32 *number, const char *word)
{
	return word[0] != '-' && !get_u32(number, word, 0);
}

/* get_size() wraps if the size exceeds 32 bits, so the word is also read as a number. */
static inline bool word_read_bytes(__u32 *bytes, const char *word)
{
	return word[0] != '-' && !get_size(bytes, word) && strtod(word, NULL) <= UINT32_MAX;
}

static inline int word_refuse(const char *kind, const char *option, const char *word,
			      const char *allowed)
{
	if (word)
		fprintf(stderr, "%s: %s: \"%s\" is not %s\n", kind, option, word, allowed);
	else
		fprintf(stderr, "%s: %s: missing; expected %s\n", kind, option, allowed);
	return -1;
}

/*
 * Return: true if the current word is this option, which is then consumed; @on: false for its "no"
 * form
 */
static inline bool word_take(const struct word *o, struct words *w, bool *on)
{
	*on = true;
	if (words_take_if(w, o->name))
		return true;
	if (o->read || w->argc <= 0 || strncmp(*w->argv, "no", 2) || strcmp(*w->argv + 2, o->name))
		return false;
	*on = false;
	words_take(w);
	return true;
}

/* Read an option's value from the words after its name and add it to the request. */
static inline int word_put(struct nlmsghdr *n, const char *kind, const struct word *o,
			   struct words *w, bool on)
{
	const char *word;
	__u32 value = on;

	if (o->read) {
		word = words_take(w);
		if (word && o->zero && !strcmp(word, o->zero))
			value = 0;
		else if (!word || !o->read(&value, word) || value < o->min || value > o->max)
			return word_refuse(kind, o->name, word, o->allowed);
	}
	return addattr32(n, TC_PLUGIN_REQ_BYTES, o->attr, value);
}

static inline void word_print(const struct word *o, __u32 value)
{
	char text[32];

	if (o->zero && !value) {
		snprintf(text, sizeof(text), "%s %s ", o->name, o->zero);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
		print_color_null(PRINT_JSON, COLOR_NONE, o->name, NULL, NULL);
		return;
	}
	if (o->print) {
		o->print(o, value);
		return;
	}
	if (o->read) {
		snprintf(text, sizeof(text), "%s %%u%s ", o->name, o->unit);
		plugin_print_uint(o->name, text, value);
		return;
	}
	snprintf(text, sizeof(text), "%s%s ", value ? "" : "no", o->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
	print_color_bool(PRINT_JSON, COLOR_NONE, o->name, NULL, value);
}

/*
 * Print all options in a dump. An older module has fewer options, and a grafted child has its own
 * limit: these attributes are absent.
 */
static inline void word_print_all(const struct word *words, size_t count, struct rtattr **tb)
{
	__u32 value;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct rtattr *attr = tb[words[i].attr];

		if (!attr || RTA_PAYLOAD(attr) < sizeof(value))
			continue;
		memcpy(&value, RTA_DATA(attr), sizeof(value));
		word_print(&words[i], value);
	}
}

#endif /* HOPCC_TOOLS_TC_TC_WORDS_H */
