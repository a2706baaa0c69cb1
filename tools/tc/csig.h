/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of tc's plug-in for sch_csig: its options and the values of its signals */
#ifndef HOPCC_TOOLS_TC_CSIG_H
#define HOPCC_TOOLS_TC_CSIG_H

#include <linux/pkt_sched_csig.h>
#include "tc_words.h"

#define CSIG_FORMS 2
#define CSIG_WORDS 13

/* tc looks up csig_qdisc_util alone in the plug-in. */
#pragma GCC visibility push(hidden)

/**
 * struct csig_signal_options - options given for a signal
 * @on: 1 or 0; -1: not given
 * @quantum: the quantum; 0: not given
 * @edges: number of entries in @edge; 0: not given
 * @edge: edges of the buckets
 * @has_layout: by form: a layout was given
 * @layout: by form: layout of the locator
 */
struct csig_signal_options {
	int on;
	__u32 quantum;
	int edges;
	__u32 edge[TC_CSIG_EDGES_MAX];
	bool has_layout[CSIG_FORMS];
	struct tc_csig_layout layout[CSIG_FORMS];
};

extern const char *const csig_signals[TC_CSIG_SIGNALS];
extern const char *const csig_forms[CSIG_FORMS];
extern const char *const csig_modes[TC_CSIG_MODES];
extern const char *const csig_estimators[TC_CSIG_ESTIMATORS];
extern const char *const csig_whats[TC_CSIG_WHATS];
/* The options of 32 bits. */
extern const struct word csig_words[CSIG_WORDS];

/* q_csig.c */
void csig_print_usage(void);
int csig_index(const char *word, const char *const *names, int count);
bool csig_read_mode(__u32 *mode, const char *word);
bool csig_read_estimator(__u32 *estimator, const char *word);
bool csig_read_time(__u32 *time_ns, const char *word);

/* csig_edges.c */
bool csig_read_value(__u32 *value, int type, const char *word);
void csig_format_value(char *text, size_t size, int type, __u32 value);
int csig_refuse_value(int type, const char *option, const char *word);
int csig_take_edges(struct csig_signal_options *s, int type, const char *word);
bool csig_name_edges(char *text, size_t size, int type, const __u32 *edge, int edges);

/* csig_parse.c */
int csig_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
		   const char *dev);

/* csig_print.c */
int csig_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt);

#pragma GCC visibility pop

#endif /* HOPCC_TOOLS_TC_CSIG_H */
