// SPDX-License-Identifier: GPL-2.0
/* tc plug-in for the lab's link, sch_link. */

#include <math.h>
#include <stdlib.h>

#include "pkt_sched_link.h"
#include "tc_plugin.h"

static void explain(void)
{
	fputs("Usage: ... link rate RATE [ delay TIME ] [ overhead BYTES ]\n"
	      "\t[ loss P ] [ reorder P ] [ duplicate P ] [ corrupt P ] [ seed NUMBER ]\n"
	      "RATE 10kbit to 1600gbit; TIME to the ns, at most 10s; P 0 to 1 or 0% to 100%\n",
	      stderr);
}

static int refuse(const char *what, const char *word, const char *allowed)
{
	fprintf(stderr, "link: bad %s \"%s\": %s\n", what, word ? word : "", allowed);
	return -1;
}

static int put_rate(struct nlmsghdr *n, const char *word)
{
	__u64 rate_bytes_ps;

	if (!word || get_rate64(&rate_bytes_ps, word))
		return refuse("rate", word, "10kbit to 1600gbit");
	return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_LINK_RATE, rate_bytes_ps * 8);
}

static int put_delay(struct nlmsghdr *n, const char *word)
{
	__s64 delay_ns;

	if (!word || get_time64(&delay_ns, word) || delay_ns < 0)
		return refuse("delay", word, "a time such as 25us or 12345ns, at most 10s");
	return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_LINK_DELAY, delay_ns);
}

static int put_overhead(struct nlmsghdr *n, const char *word)
{
	__u32 overhead_bytes;

	if (!word || get_u32(&overhead_bytes, word, 0))
		return refuse("overhead", word, "bytes, at most 1024");
	return addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_LINK_OVERHEAD, overhead_bytes);
}

static int put_seed(struct nlmsghdr *n, const char *word)
{
	__u64 seed;

	if (!word || get_u64(&seed, word, 0))
		return refuse("seed", word, "a number of 64 bits");
	return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_LINK_SEED, seed);
}

static int put_chance(struct nlmsghdr *n, int type, const char *what, const char *word)
{
	char *end = NULL;
	double p = word ? strtod(word, &end) : -1;

	if (word && end != word && !strcmp(end, "%"))
		p /= 100;
	else if (!word || end == word || *end)
		p = -1;
	if (!(p >= 0 && p <= 1))
		return refuse(what, word, "0 to 1, or 0% to 100%");
	return addattr32(n, TC_PLUGIN_REQ_BYTES, type, (__u32)rint(p * LINK_CHANCE_ONE));
}

static int put_option(struct nlmsghdr *n, struct words *w)
{
	static const struct {
		const char *word;
		int type;
	} chances[] = {
		{ "loss", TCA_LINK_LOSS },
		{ "reorder", TCA_LINK_REORDER },
		{ "duplicate", TCA_LINK_DUPLICATE },
		{ "corrupt", TCA_LINK_CORRUPT },
	};
	size_t i;

	if (words_take_if(w, "rate"))
		return put_rate(n, words_take(w));
	if (words_take_if(w, "delay"))
		return put_delay(n, words_take(w));
	if (words_take_if(w, "overhead"))
		return put_overhead(n, words_take(w));
	if (words_take_if(w, "seed"))
		return put_seed(n, words_take(w));
	for (i = 0; i < sizeof(chances) / sizeof(*chances); i++)
		if (words_take_if(w, chances[i].word))
			return put_chance(n, chances[i].type, chances[i].word, words_take(w));
	if (strcmp(*w->argv, "help"))
		fprintf(stderr, "link: what is \"%s\"?\n", *w->argv);
	explain();
	return -1;
}

static int link_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev)
{
	struct words w = { argc, argv };
	struct rtattr *nest = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS | NLA_F_NESTED);

	(void)qu;
	(void)dev;
	while (w.argc > 0)
		if (put_option(n, &w))
			return -1;
	addattr_nest_end(n, nest);
	return 0;
}

/* Use a larger unit only for a whole number of it, so that the text can be used as input. */
static void print_scaled(const char *key, __u64 value, unsigned int base_count,
			 const char *const *units)
{
	char text[64];
	unsigned int unit = 0;

	while (unit + 1 < base_count && value && value % 1000 == 0) {
		value /= 1000;
		unit++;
	}
	snprintf(text, sizeof(text), "%s %llu%s ", key, (unsigned long long)value, units[unit]);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
}

static void print_rate(__u64 rate_bits_ps)
{
	static const char *const units[] = { "bit", "kbit", "mbit", "gbit" };

	print_scaled("rate", rate_bits_ps, 4, units);
	print_color_u64(PRINT_JSON, COLOR_NONE, "rate_bits_ps", NULL, rate_bits_ps);
}

static void print_delay(__u64 delay_ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	print_scaled("delay", delay_ns, 4, units);
	print_color_u64(PRINT_JSON, COLOR_NONE, "delay_ns", NULL, delay_ns);
}

static void print_chance(const char *key, struct rtattr *attr)
{
	double p = attr ? *(__u32 *)RTA_DATA(attr) / (double)LINK_CHANCE_ONE : 0;
	char text[64];

	snprintf(text, sizeof(text), "%s %.10g ", key, p);
	if (p > 0)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
	print_color_float(PRINT_JSON, COLOR_NONE, key, NULL, p);
}

static __u64 attr_u64(const struct rtattr *attr)
{
	__u64 value;

	memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

static int link_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_LINK_MAX + 1];

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	plugin_parse_nested(tb, TCA_LINK_MAX, opt);
	if (tb[TCA_LINK_RATE])
		print_rate(attr_u64(tb[TCA_LINK_RATE]));
	if (tb[TCA_LINK_DELAY])
		print_delay(attr_u64(tb[TCA_LINK_DELAY]));
	if (tb[TCA_LINK_OVERHEAD])
		plugin_print_uint("overhead", "overhead %u ",
				  *(__u32 *)RTA_DATA(tb[TCA_LINK_OVERHEAD]));
	print_chance("loss", tb[TCA_LINK_LOSS]);
	print_chance("reorder", tb[TCA_LINK_REORDER]);
	print_chance("duplicate", tb[TCA_LINK_DUPLICATE]);
	print_chance("corrupt", tb[TCA_LINK_CORRUPT]);
	if (tb[TCA_LINK_SEED])
		plugin_print_u64("seed", "seed %llu ", attr_u64(tb[TCA_LINK_SEED]));
	return 0;
}

static int link_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_link_xstats st;

	(void)qu;
	(void)f;
	if (!xstats || RTA_PAYLOAD(xstats) < sizeof(st))
		return 0;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));
	plugin_print_u64("sent_pkts", "  wire %llu pkts", st.sent_pkts);
	plugin_print_u64("sent_wire_bytes", " %llu bytes", st.sent_bytes);
	plugin_print_u64("busy_ns", " busy %lluns", st.busy_ns);
	plugin_print_uint("in_flight_pkts", " in flight %u", st.in_flight_pkts);
	plugin_print_u64("lost_pkts", " lost %llu", st.lost_pkts);
	plugin_print_u64("reordered_pkts", " reordered %llu", st.reordered_pkts);
	plugin_print_u64("duplicated_pkts", " duplicated %llu", st.duplicated_pkts);
	plugin_print_u64("corrupted_pkts", " corrupted %llu", st.corrupted_pkts);
	return 0;
}

struct qdisc_util link_qdisc_util = {
	.id = "link",
	.parse_qopt = link_parse_opt,
	.print_qopt = link_print_opt,
	.print_xstats = link_print_xstats,
};
