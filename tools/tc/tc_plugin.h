/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface between a plug-in and iproute2's tc: the operations table that tc looks up as
 * <kind>_qdisc_util, and the helpers that the tc binary exports.
 *
 * tc has no development header and promises no ABI, so this file has only declarations that have
 * been the same since 6.1. If a helper is missing at run time, tc reports "Unknown qdisc";
 * tools/tc/Makefile checks the symbols against the installed tc.
 */
#ifndef HOPCC_TOOLS_TC_TC_PLUGIN_H
#define HOPCC_TOOLS_TC_TC_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/types.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/pkt_sched.h>

/* Space that tc reserves for the attributes of one request */
#define TC_PLUGIN_REQ_BYTES 1024

/**
 * struct qdisc_util - one qdisc kind in tc
 * @next: tc's list; leave NULL
 * @id: the kind's name
 * @parse_qopt: converts words of "tc qdisc add/change" to netlink; returns 0, or -1 after a message
 * @print_qopt: prints the options nest of a dump
 * @print_xstats: prints TCA_STATS_APP of a dump, with tc -s
 * @parse_copt: like @parse_qopt, for classes
 * @print_copt: like @print_qopt, for classes
 * @has_block: checks for filter blocks
 */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

/* Output to which a value is printed: the text, JSON, or either of them */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_IFNAME,
	COLOR_MAC,
	COLOR_INET,
	COLOR_INET6,
	COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN,
	COLOR_NONE
};

/*
 * Convert words to numbers. Return: 0, or -1 if the word is not a number. Sizes are in bytes, times
 * in ns, rates in bytes/s.
 */
int get_u32(__u32 *val, const char *arg, int base);
int get_u64(__u64 *val, const char *arg, int base);
int get_size(unsigned int *size_bytes, const char *str);
int get_rate64(__u64 *rate_bytes_ps, const char *str);
int get_time64(__s64 *time_ns, const char *str);
/* Convert "12.5%" to 0.125. */
int parse_percent(double *val, const char *str);

/* Add numbers to a netlink message; max is the size of the whole message (TC_PLUGIN_REQ_BYTES). */
int addattr_l(struct nlmsghdr *n, int max, int type, const void *data, int len);
int addattr8(struct nlmsghdr *n, int max, int type, __u8 data);
int addattr32(struct nlmsghdr *n, int max, int type, __u32 data);
int addattr64(struct nlmsghdr *n, int max, int type, __u64 data);
struct rtattr *addattr_nest(struct nlmsghdr *n, int max, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

/* Print as text and JSON: fmt is used for text, key for JSON. */
bool is_json_context(void);
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *text);
void print_nl(void);
int print_color_uint(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, uint64_t value);
int print_color_s64(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, int64_t value);
int print_color_float(enum output_type type, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_bool(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, bool value);
int print_color_null(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, const char *value);
int print_color_string(enum output_type type, enum color_attr color,
		       const char *key, const char *fmt, const char *value);

static inline void plugin_print_uint(const char *key, const char *fmt, unsigned int value)
{
	print_color_uint(PRINT_ANY, COLOR_NONE, key, fmt, value);
}

static inline void plugin_print_u64(const char *key, const char *fmt, uint64_t value)
{
	print_color_u64(PRINT_ANY, COLOR_NONE, key, fmt, value);
}

static inline void plugin_print_string(const char *key, const char *fmt, const char *value)
{
	print_color_string(PRINT_ANY, COLOR_NONE, key, fmt, value);
}

/* Print in the text output only. */
static inline void plugin_print_text(const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
}

/*
 * Format as in "1gbit": in the largest of @units, each 1000 times the one before, that divides
 * @value.
 */
static inline void plugin_format_scaled(char *text, size_t size, uint64_t value,
					const char *const *units)
{
	while (units[1] && value && value % 1000 == 0) {
		value /= 1000;
		units++;
	}
	snprintf(text, size, "%llu%s", (unsigned long long)value, *units);
}

static inline void plugin_format_rate(char *text, size_t size, uint64_t rate_bits_ps)
{
	static const char *const units[] = { "bit", "kbit", "mbit", "gbit", NULL };

	plugin_format_scaled(text, size, rate_bits_ps, units);
}

/* Print a rate: in bit/s as text, in bytes/s in JSON. */
static inline void plugin_print_rate(const char *name, uint64_t rate_bytes_ps)
{
	char rate[32], text[64];

	plugin_format_rate(rate, sizeof(rate), rate_bytes_ps * 8);
	snprintf(text, sizeof(text), "%s %s ", name, rate);
	plugin_print_text(text);
	print_color_u64(PRINT_JSON, COLOR_NONE, name, NULL, rate_bytes_ps);
}

/* Print the rate in an attribute: 0 or a missing attribute is "auto", in JSON null. */
static inline void plugin_print_rate_attr(const char *name, const struct rtattr *attr)
{
	uint64_t rate_bytes_ps = 0;
	char text[32];

	if (attr && RTA_PAYLOAD(attr) >= sizeof(rate_bytes_ps))
		memcpy(&rate_bytes_ps, RTA_DATA(attr), sizeof(rate_bytes_ps));
	if (rate_bytes_ps) {
		plugin_print_rate(name, rate_bytes_ps);
		return;
	}
	snprintf(text, sizeof(text), "%s auto ", name);
	plugin_print_text(text);
	print_color_null(PRINT_JSON, COLOR_NONE, name, NULL, NULL);
}

/* Print counters with their names, in JSON in an object. */
static inline void plugin_print_counters(const char *object, const char *const *names,
					 const __u64 *values, int count)
{
	char text[32];
	int i;

	open_json_object(object);
	snprintf(text, sizeof(text), "  %s:", object);
	plugin_print_text(text);
	for (i = 0; i < count; i++) {
		snprintf(text, sizeof(text), " %s %%llu", names[i]);
		plugin_print_u64(names[i], text, values[i]);
	}
	close_json_object();
}

/* Read statistics of @bytes bytes; an older or newer module may have fewer or more fields. */
static inline void plugin_read_xstats(void *st, size_t bytes, const struct rtattr *xstats)
{
	size_t known_bytes = RTA_PAYLOAD(xstats);

	memset(st, 0, bytes);
	memcpy(st, RTA_DATA(xstats), known_bytes < bytes ? known_bytes : bytes);
}

static inline void plugin_parse_nested(struct rtattr *tb[], int max, struct rtattr *nest)
{
	parse_rtattr(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest));
}

/**
 * struct words - the words of a tc command line, as passed to parse_qopt()
 * @argc: number of words left, including the current one
 * @argv: the current word
 */
struct words {
	int argc;
	char **argv;
};

/* Consume the current word. Return: the word, or NULL at the end */
static inline const char *words_take(struct words *w)
{
	if (w->argc <= 0)
		return NULL;
	w->argc--;
	return *w->argv++;
}

/* Return: true if the current word is @word, which is then consumed */
static inline bool words_take_if(struct words *w, const char *word)
{
	if (w->argc <= 0 || strcmp(*w->argv, word))
		return false;
	w->argc--;
	w->argv++;
	return true;
}

/*
 * Refuse an option that is given twice: it is probably a typing error, which must not be hidden
 * by the second value. @scope is "", or the option that @option belongs to and a blank.
 */
static inline int plugin_refuse_twice(const char *kind, const char *scope, const char *option)
{
	fprintf(stderr, "%s: %s%s: given twice\n", kind, scope, option);
	return -1;
}

#endif /* HOPCC_TOOLS_TC_TC_PLUGIN_H */
