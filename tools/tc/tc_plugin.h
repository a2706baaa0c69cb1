/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a plug-in of iproute2's tc sees of its host: the operations table that
 * tc looks up as <kind>_qdisc_util, and those helpers that the tc binary exports.
 *
 * tc ships no development header and promises no ABI, so only declarations that
 * are the same from 6.1 on are here. A helper that is missing at run time shows
 * as tc's "Unknown qdisc"; tools/tc/Makefile checks the symbols against the
 * installed tc.
 */
#ifndef HOPCC_TC_PLUGIN_H
#define HOPCC_TC_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/types.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/pkt_sched.h>

/* The room that tc leaves for the attributes of one request. */
#define TC_PLUGIN_REQ_BYTES 1024

/**
 * struct qdisc_util - one qdisc kind in tc
 * @next: tc's list; leave NULL
 * @id: the kind's name
 * @parse_qopt: words of "tc qdisc add/change" into netlink; 0, or -1 after a message
 * @print_qopt: the options nest of a dump
 * @print_xstats: TCA_STATS_APP of a dump, with tc -s
 * @parse_copt: as @parse_qopt for classes
 * @print_copt: as @print_qopt for classes
 * @has_block: for filter blocks
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

/* Where a value goes: the text, the JSON object, or whichever is being written. */
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

/* Words to numbers: 0, or -1 when the word is not one. Sizes are bytes, times ns, rates bytes/s. */
int get_u32(__u32 *val, const char *arg, int base);
int get_u64(__u64 *val, const char *arg, int base);
int get_size(unsigned int *size_bytes, const char *str);
int get_rate64(__u64 *rate_bytes_ps, const char *str);
int get_time64(__s64 *time_ns, const char *str);
/* "12.5%" to 0.125. */
int parse_percent(double *val, const char *str);

/* Numbers to netlink; max is the room of the whole message (TC_PLUGIN_REQ_BYTES). */
int addattr_l(struct nlmsghdr *n, int max, int type, const void *data, int len);
int addattr8(struct nlmsghdr *n, int max, int type, __u8 data);
int addattr32(struct nlmsghdr *n, int max, int type, __u32 data);
int addattr64(struct nlmsghdr *n, int max, int type, __u64 data);
struct rtattr *addattr_nest(struct nlmsghdr *n, int max, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

/* Netlink to text and JSON: fmt is for the text, key for JSON. */
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

static inline void plugin_parse_nested(struct rtattr *tb[], int max, struct rtattr *nest)
{
	parse_rtattr(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest));
}

/**
 * struct words - the words of a tc command line, as parse_qopt() gets them
 * @argc: words left, the current one included
 * @argv: the current word
 */
struct words {
	int argc;
	char **argv;
};

/* The current word, or NULL at the end; then steps to the next one. */
static inline const char *words_take(struct words *w)
{
	if (w->argc <= 0)
		return NULL;
	w->argc--;
	return *w->argv++;
}

/* Whether the current word is @word; steps over it if so. */
static inline bool words_take_if(struct words *w, const char *word)
{
	if (w->argc <= 0 || strcmp(*w->argv, word))
		return false;
	w->argc--;
	w->argv++;
	return true;
}

#endif /* HOPCC_TC_PLUGIN_H */
