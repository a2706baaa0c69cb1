// SPDX-License-Identifier: GPL-2.0
/* tc's plug-in for sch_wred: converts the command line to netlink, and netlink to text and JSON */
#include <stdlib.h>
#include <linux/pkt_sched_wred.h>
#include "tc_plugin.h"

/*
 * A complete configuration fits into one request of tc, and the output can be used as input again.
 */
static const char wred_usage[] =
	"Usage: ... wred [ limit BYTES ] [ overhead BYTES ] [ ect PROFILE ] [ nect PROFILE ]\n"
	"       PROFILE := { off | [ min BYTES ] [ max BYTES ] [ prob P ] }\n"
	"  limit     queue at most this much, %d to %d bytes\n"
	"  overhead  the wire adds this to each packet, 0 to %d bytes (default %d)\n"
	"  ect       mark ECN-capable packets; nect: drop other IP packets:\n"
	"            never below min, with a probability that grows to P between min and\n"
	"            max, always from max on; min = max is a step\n"
	"  P         0 to 1, or 0%% to 100%%, in steps of 0.000001 (default 1)\n";

static void wred_print_usage(void)
{
	fprintf(stderr, wred_usage, TC_WRED_LIMIT_MIN_BYTES, TC_WRED_LIMIT_MAX_BYTES,
		TC_WRED_OVERHEAD_MAX_BYTES, TC_WRED_OVERHEAD_DEFAULT_BYTES);
}

/**
 * struct wred_size - one size on the command line
 * @word: the word as given, for messages; NULL if absent
 * @bytes: its value
 */
struct wred_size {
	const char *word;
	unsigned int bytes;
};

struct wred_prob {
	const char *word;
	__u32 ppm;
};

/* One profile on the command line */
struct wred_words {
	bool seen;
	bool off;
	struct wred_size min;
	struct wred_size max;
	struct wred_prob prob;
};

/*
 * Return: true for a number with a unit that get_size() knows. get_size() itself also rejects a
 * valid size that exceeds 32 bits.
 */
static bool wred_is_size(const char *word, double *number)
{
	unsigned int bytes;
	char one[8], *unit;

	*number = strtod(word, &unit);
	return unit != word && snprintf(one, sizeof(one), "1%s", unit) < (int)sizeof(one) &&
	       !get_size(&bytes, one);
}

/*
 * Read a size. Messages start with "wred: limit: ..." or "wred: ect min: ...": @scope is "" or the
 * profile and a blank. get_size() may wrap, so the word is also read as a number.
 */
static int wred_take_size(struct words *w, const char *scope, const char *option,
			  struct wred_size *size, unsigned int min, unsigned int max)
{
	const char *word = words_take(w);
	double number;

	if (size->word)
		return plugin_refuse_twice("wred", scope, option);
	if (!word) {
		fprintf(stderr, "wred: %s%s: a size in bytes is missing\n", scope, option);
		return -1;
	}
	if (!wred_is_size(word, &number)) {
		fprintf(stderr, "wred: %s%s: \"%s\" is not a size such as 30000, 30k or 1mb\n",
			scope, option, word);
		return -1;
	}
	if (!(number >= 0 && number <= max) || get_size(&size->bytes, word) ||
	    size->bytes < min || size->bytes > max) {
		fprintf(stderr, "wred: %s%s: %s is not within %u to %u bytes\n",
			scope, option, word, min, max);
		return -1;
	}
	size->word = word;
	return 0;
}

/* Read a probability, "0.1" or "10%", in ppm. */
static int wred_take_prob(struct words *w, const char *scope, struct wred_prob *prob)
{
	const char *word = words_take(w);
	double value = -1;
	char *end;

	if (prob->word)
		return plugin_refuse_twice("wred", scope, "prob");
	if (!word) {
		fprintf(stderr, "wred: %sprob: a probability from 0 to 1 is missing\n", scope);
		return -1;
	}
	value = strtod(word, &end);
	if (end != word && !strcmp(end, "%")) {
		value /= 100;
		end++;
	}
	if (end == word || *end || !(value >= 0 && value <= 1)) {
		fprintf(stderr, "wred: %sprob: \"%s\" is not within 0 to 1 (or 0%% to 100%%)\n",
			scope, word);
		return -1;
	}
	prob->ppm = value * TC_WRED_PROB_MAX_PPM + 0.5;
	if (!prob->ppm && value) {
		fprintf(stderr, "wred: %sprob: \"%s\" is not 0, but below 0.000001, the least\n",
			scope, word);
		return -1;
	}
	prob->word = word;
	return 0;
}

static int wred_check_profile(const char *name, const struct wred_words *p)
{
	bool curve = p->min.word || p->max.word || p->prob.word;

	if (p->off && curve) {
		fprintf(stderr, "wred: %s: off excludes min, max and prob\n", name);
		return -1;
	}
	if (!p->off && !curve) {
		fprintf(stderr, "wred: %s: expected off, or min, max, prob\n", name);
		return -1;
	}
	if (p->min.word && p->max.word && p->min.bytes > p->max.bytes) {
		fprintf(stderr, "wred: %s: min %s exceeds max %s\n", name, p->min.word,
			p->max.word);
		return -1;
	}
	return 0;
}

/* Read the words after "ect" or "nect", up to the first that does not belong to a profile. */
static int wred_take_profile(struct words *w, const char *name, struct wred_words *p)
{
	char scope[8];
	int err = 0;

	if (p->seen)
		return plugin_refuse_twice("wred", "", name);
	p->seen = true;
	snprintf(scope, sizeof(scope), "%s ", name);
	while (!err) {
		if (words_take_if(w, "off"))
			p->off = true;
		else if (words_take_if(w, "min"))
			err = wred_take_size(w, scope, "min", &p->min, 0,
					     TC_WRED_THRESHOLD_MAX_BYTES);
		else if (words_take_if(w, "max"))
			err = wred_take_size(w, scope, "max", &p->max, 0,
					     TC_WRED_THRESHOLD_MAX_BYTES);
		else if (words_take_if(w, "prob"))
			err = wred_take_prob(w, scope, &p->prob);
		else
			return wred_check_profile(name, p);
	}
	return err;
}

static int wred_check_limit(const char *name, const struct wred_words *p,
			    const struct wred_size *limit)
{
	if (!limit->word || !p->max.word || p->max.bytes <= limit->bytes)
		return 0;
	fprintf(stderr, "wred: %s: max %s exceeds limit %s\n", name, p->max.word, limit->word);
	return -1;
}

static void wred_put_profile(struct nlmsghdr *n, int attr, const struct wred_words *p)
{
	struct rtattr *nest;

	if (!p->seen)
		return;
	nest = addattr_nest(n, TC_PLUGIN_REQ_BYTES, attr);
	if (p->off)
		addattr_l(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_PROFILE_OFF, NULL, 0);
	if (p->min.word)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_PROFILE_MIN, p->min.bytes);
	if (p->max.word)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_PROFILE_MAX, p->max.bytes);
	if (p->prob.word)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_PROFILE_PROB, p->prob.ppm);
	addattr_nest_end(n, nest);
}

static int wred_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev)
{
	struct wred_words ect = {}, nect = {};
	struct wred_size limit = {}, overhead = {};
	struct words w = { .argc = argc, .argv = argv };
	struct rtattr *opts;
	int err = 0;

	while (w.argc > 0 && !err) {
		if (words_take_if(&w, "limit")) {
			err = wred_take_size(&w, "", "limit", &limit, TC_WRED_LIMIT_MIN_BYTES,
					     TC_WRED_LIMIT_MAX_BYTES);
		} else if (words_take_if(&w, "overhead")) {
			err = wred_take_size(&w, "", "overhead", &overhead, 0,
					     TC_WRED_OVERHEAD_MAX_BYTES);
		} else if (words_take_if(&w, "ect")) {
			err = wred_take_profile(&w, "ect", &ect);
		} else if (words_take_if(&w, "nect")) {
			err = wred_take_profile(&w, "nect", &nect);
		} else {
			if (strcmp(*w.argv, "help"))
				fprintf(stderr, "wred: \"%s\" is not an option\n", *w.argv);
			wred_print_usage();
			return -1;
		}
	}
	if (err || wred_check_limit("ect", &ect, &limit) || wred_check_limit("nect", &nect, &limit))
		return -1;

	opts = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS);
	if (limit.word)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_LIMIT, limit.bytes);
	if (overhead.word)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_WRED_OVERHEAD, overhead.bytes);
	wred_put_profile(n, TCA_WRED_ECT, &ect);
	wred_put_profile(n, TCA_WRED_NECT, &nect);
	addattr_nest_end(n, opts);
	return 0;
}

static __u32 wred_u32(const struct rtattr *attr)
{
	__u32 value = 0;

	if (attr && RTA_PAYLOAD(attr) >= sizeof(value))
		memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

/* Print bytes instead of tc's rounded "29Kb", so that the output can be used as exact input. */
static void wred_print_profile(const char *name, struct rtattr *nest)
{
	struct rtattr *tb[TCA_WRED_PROFILE_MAX_ATTR + 1];

	if (!nest)
		return;
	plugin_parse_nested(tb, TCA_WRED_PROFILE_MAX_ATTR, nest);
	if (tb[TCA_WRED_PROFILE_OFF]) {
		print_color_null(PRINT_JSON, COLOR_NONE, name, NULL, NULL);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s off ", name);
		return;
	}
	open_json_object(name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", name);
	plugin_print_uint("min", "min %ub ", wred_u32(tb[TCA_WRED_PROFILE_MIN]));
	plugin_print_uint("max", "max %ub ", wred_u32(tb[TCA_WRED_PROFILE_MAX]));
	print_color_float(PRINT_ANY, COLOR_NONE, "prob", "prob %g ",
			  (double)wred_u32(tb[TCA_WRED_PROFILE_PROB]) / TC_WRED_PROB_MAX_PPM);
	close_json_object();
}

static int wred_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_WRED_MAX + 1];

	if (!opt)
		return 0;
	plugin_parse_nested(tb, TCA_WRED_MAX, opt);
	plugin_print_uint("limit", "limit %ub ", wred_u32(tb[TCA_WRED_LIMIT]));
	plugin_print_uint("overhead", "overhead %ub ", wred_u32(tb[TCA_WRED_OVERHEAD]));
	wred_print_profile("ect", tb[TCA_WRED_ECT]);
	wred_print_profile("nect", tb[TCA_WRED_NECT]);
	return 0;
}

static int wred_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_wred_xstats st;

	if (!xstats)
		return 0;
	plugin_read_xstats(&st, sizeof(st), xstats);
	plugin_print_u64("marked", "  marked %llu", st.marked_pkts);
	plugin_print_u64("ce", " ce %llu", st.ce_pkts);
	plugin_print_u64("ect_dropped", " ect_dropped %llu", st.ect_dropped_pkts);
	plugin_print_u64("nect_dropped", " nect_dropped %llu", st.nect_dropped_pkts);
	plugin_print_u64("limit_dropped", " limit_dropped %llu", st.limit_dropped_pkts);
	print_nl();
	plugin_print_u64("wire_backlog", "  wire_backlog %llub", st.backlog_bytes);
	plugin_print_u64("peak", " peak %llub", st.peak_bytes);
	return 0;
}

struct qdisc_util wred_qdisc_util = {
	.id = "wred",
	.parse_qopt = wred_parse_opt,
	.print_qopt = wred_print_opt,
	.print_xstats = wred_print_xstats,
};
