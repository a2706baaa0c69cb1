// SPDX-License-Identifier: GPL-2.0
/* tc's plug-in for sch_xcp: converts the command line to netlink, and netlink to text and JSON */
#include <linux/pkt_sched_xcp.h>
#include "tc_words.h"

#define XCP_PPM 1000000
#define XCP_PPB 1000000000
#define XCP_NS_PER_US 1000

/* The output can be used as input again. */
static const char xcp_usage[] =
	"Usage: ... xcp [ rate RATE | auto ] [ overhead BYTES ] [ limit BYTES ]\n"
	"       [ alpha P ] [ beta P | auto ] [ gamma P ] [ e2e_share P ]\n"
	"       [ min_interval TIME ] [ max_interval TIME ] [ allowed_queue TIME ]\n"
	"       [ protocol NUMBER ] [ share [ reno | cubic ] | noshare ]\n"
	"  rate           of the port, 10kbit to 1600gbit (default auto: the device's speed)\n"
	"  overhead       the wire adds this to each packet, 0 to %d bytes (default %d)\n"
	"  limit          of the default child, a byte fifo; with share, of each of the two\n"
	"  alpha          gain of spare capacity, 0.000001 to 0.554999 (default 0.4)\n"
	"  beta           gain of the persistent queue (default auto: alpha^2 * sqrt 2)\n"
	"  gamma          part of the load that is shuffled (default 0.1)\n"
	"  e2e_share      part of its feedback that is charged for a packet which says that\n"
	"                 its sender is end-to-end limited (default 1)\n"
	"  min_interval   shortest control interval (default 1ms)\n"
	"  max_interval   longest control interval and RTT (default 1s)\n"
	"  allowed_queue  shortest period of the queue's estimate (default 2ms)\n"
	"  protocol       XCP's IP protocol number, %d to %d (default %d)\n"
	"  share          a queue for XCP and one for all else, class 2, with weights by which\n"
	"                 their flows are equal, if the others are Reno (default) or CUBIC\n"
	"                 (default noshare: all in one queue)\n"
	"  P is 0 to 1, or 0%% to 100%%; TIME 10us to 10s, whole us\n";

static void xcp_print_usage(void)
{
	fprintf(stderr, xcp_usage, TC_XCP_OVERHEAD_MAX_BYTES, TC_XCP_OVERHEAD_DEFAULT_BYTES,
		TC_XCP_PROTOCOL_MIN, TC_XCP_PROTOCOL_MAX, TC_XCP_PROTOCOL_DEFAULT);
}

static int xcp_put_rate(struct nlmsghdr *n, const char *word)
{
	__u64 rate_bytes_ps;

	if (word && !strcmp(word, "auto"))
		return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_XCP_RATE, TC_XCP_RATE_AUTO);
	if (!word || word[0] == '-' || get_rate64(&rate_bytes_ps, word) ||
	    rate_bytes_ps < TC_XCP_RATE_MIN_BYTES_PS || rate_bytes_ps > TC_XCP_RATE_MAX_BYTES_PS)
		return word_refuse("xcp", "rate", word, "10kbit to 1600gbit, or auto");
	return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_XCP_RATE, rate_bytes_ps);
}

/* Read a fraction, "0.1" or "10%". */
static bool xcp_read_ppm(__u32 *ppm, const char *word)
{
	double value;
	char *end;

	value = strtod(word, &end);
	if (end != word && !strcmp(end, "%")) {
		value /= 100;
		end++;
	}
	if (end == word || *end || !(value >= 0 && value <= 1))
		return false;
	*ppm = value * XCP_PPM + 0.5;
	return *ppm || !value;	/* a value that is not 0 must not become 0 */
}

static bool xcp_read_us(__u32 *us, const char *word)
{
	__s64 ns;

	if (get_time64(&ns, word) || ns < 0 || ns % XCP_NS_PER_US ||
	    ns / XCP_NS_PER_US > TC_XCP_TIME_MAX_US)
		return false;
	*us = ns / XCP_NS_PER_US;
	return true;
}

/* Fractions and times are printed such that they can be used as input. */
static void xcp_print_ppm(const struct word *o, __u32 ppm)
{
	char format[32];

	snprintf(format, sizeof(format), "%s %%g ", o->name);
	print_color_float(PRINT_ANY, COLOR_NONE, o->name, format, (double)ppm / XCP_PPM);
}

static void xcp_print_us(const struct word *o, __u32 us)
{
	static const char *const units[] = { "us", "ms", "s", NULL };
	char time[32], text[64], key[32];

	plugin_format_scaled(time, sizeof(time), us, units);
	snprintf(text, sizeof(text), "%s %s ", o->name, time);
	plugin_print_text(text);
	snprintf(key, sizeof(key), "%s_us", o->name);
	print_color_uint(PRINT_JSON, COLOR_NONE, key, NULL, us);
}

#define XCP_PART(option, number, least, most, text)			\
	{ .name = option, .attr = number, .read = xcp_read_ppm, .min = least, \
	  .max = most, .allowed = text, .print = xcp_print_ppm }
#define XCP_TIME(option, number)					\
	{ .name = option, .attr = number, .read = xcp_read_us, .min = TC_XCP_TIME_MIN_US, \
	  .max = TC_XCP_TIME_MAX_US, .allowed = "10us to 10s, in whole us", \
	  .print = xcp_print_us }

static const struct word xcp_words[] = {
	{ .name = "overhead", .attr = TCA_XCP_OVERHEAD, .read = word_read_bytes,
	  .max = TC_XCP_OVERHEAD_MAX_BYTES, .unit = "b",
	  .allowed = "0 to " WORD_TEXT(TC_XCP_OVERHEAD_MAX_BYTES) " bytes" },
	XCP_PART("alpha", TCA_XCP_ALPHA, TC_XCP_ALPHA_MIN_PPM, TC_XCP_ALPHA_MAX_PPM,
		 "0.000001 to 0.554999: from 0.555 on it is unstable"),
	{ .name = "beta", .attr = TCA_XCP_BETA, .read = xcp_read_ppm, .min = 1,
	  .max = TC_XCP_BETA_MAX_PPM, .allowed = "0.000001 to 1, or auto", .zero = "auto",
	  .print = xcp_print_ppm },
	XCP_PART("gamma", TCA_XCP_GAMMA, 0, TC_XCP_GAMMA_MAX_PPM, "0 to 1, in steps of 0.000001"),
	XCP_TIME("min_interval", TCA_XCP_MIN_INTERVAL),
	XCP_TIME("max_interval", TCA_XCP_MAX_INTERVAL),
	XCP_TIME("allowed_queue", TCA_XCP_ALLOWED_QUEUE),
	XCP_PART("e2e_share", TCA_XCP_E2E_SHARE, 0, TC_XCP_SHARE_MAX_PPM,
		 "0 to 1, in steps of 0.000001"),
	{ .name = "protocol", .attr = TCA_XCP_PROTOCOL, .read = word_read_number,
	  .min = TC_XCP_PROTOCOL_MIN, .max = TC_XCP_PROTOCOL_MAX, .unit = "",
	  .allowed = WORD_TEXT(TC_XCP_PROTOCOL_MIN) " to " WORD_TEXT(TC_XCP_PROTOCOL_MAX) },
	{ .name = "limit", .attr = TCA_XCP_LIMIT, .read = word_read_bytes,
	  .min = TC_XCP_LIMIT_MIN_BYTES, .max = TC_XCP_LIMIT_MAX_BYTES, .unit = "b",
	  .allowed = WORD_TEXT(TC_XCP_LIMIT_MIN_BYTES) " to "
		     WORD_TEXT(TC_XCP_LIMIT_MAX_BYTES) " bytes" },
};

#define XCP_WORDS (sizeof(xcp_words) / sizeof(*xcp_words))

/* "share", "share cubic" or "noshare"; the first word is already consumed. */
static int xcp_put_share(struct nlmsghdr *n, struct words *w, bool *seen, bool shares)
{
	__u32 share = TC_XCP_SHARE_OFF;

	if (*seen)
		return plugin_refuse_twice("xcp", "", "share");
	*seen = true;
	if (shares)
		share = words_take_if(w, "cubic") ? TC_XCP_SHARE_CUBIC : TC_XCP_SHARE_RENO;
	if (share == TC_XCP_SHARE_RENO)
		words_take_if(w, "reno");
	return addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_XCP_SHARE, share);
}

/* Refuse an option that is given twice: it is probably a typing error. */
static int xcp_put_once(struct nlmsghdr *n, struct words *w, bool *seen)
{
	size_t i;
	bool on;

	if (words_take_if(w, "rate")) {
		if (seen[XCP_WORDS])
			return plugin_refuse_twice("xcp", "", "rate");
		seen[XCP_WORDS] = true;
		return xcp_put_rate(n, words_take(w));
	}
	if (words_take_if(w, "share"))
		return xcp_put_share(n, w, &seen[XCP_WORDS + 1], true);
	if (words_take_if(w, "noshare"))
		return xcp_put_share(n, w, &seen[XCP_WORDS + 1], false);
	for (i = 0; i < XCP_WORDS; i++) {
		if (!word_take(&xcp_words[i], w, &on))
			continue;
		if (seen[i])
			return plugin_refuse_twice("xcp", "", xcp_words[i].name);
		seen[i] = true;
		return word_put(n, "xcp", &xcp_words[i], w, on);
	}
	if (strcmp(*w->argv, "help"))
		fprintf(stderr, "xcp: \"%s\" is not an option\n", *w->argv);
	xcp_print_usage();
	return -1;
}

static int xcp_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			 const char *dev)
{
	struct words w = { .argc = argc, .argv = argv };
	bool seen[XCP_WORDS + 2] = {};
	struct rtattr *opts = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS);

	while (w.argc > 0)
		if (xcp_put_once(n, &w, seen))
			return -1;
	addattr_nest_end(n, opts);
	return 0;
}

static void xcp_print_share(const struct rtattr *attr)
{
	__u32 share = TC_XCP_SHARE_OFF;

	if (attr && RTA_PAYLOAD(attr) >= sizeof(share))
		memcpy(&share, RTA_DATA(attr), sizeof(share));
	if (share == TC_XCP_SHARE_OFF) {
		print_color_null(PRINT_JSON, COLOR_NONE, "share", NULL, NULL);
		return;
	}
	print_color_string(PRINT_ANY, COLOR_NONE, "share", "share %s ",
			   share == TC_XCP_SHARE_CUBIC ? "cubic" : "reno");
}

static int xcp_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_XCP_MAX + 1];

	if (!opt)
		return 0;
	plugin_parse_nested(tb, TCA_XCP_MAX, opt);
	plugin_print_rate_attr("rate", tb[TCA_XCP_RATE]);
	word_print_all(xcp_words, XCP_WORDS, tb);
	xcp_print_share(tb[TCA_XCP_SHARE]);
	return 0;
}

static void xcp_print_law(const struct tc_xcp_xstats *st)
{
	plugin_print_u64("capacity", "  capacity %lluB/s", st->capacity_bytes_ps);
	if (st->measured_bytes_ps)
		plugin_print_u64("measured", " (measured %lluB/s)", st->measured_bytes_ps);
	plugin_print_u64("input_bw", " input_bw %lluB/s", st->input_bw_bytes_ps);
	print_color_s64(PRINT_ANY, COLOR_NONE, "feedback", " feedback %lldB/s",
			st->feedback_bytes_ps);
	plugin_print_u64("persistent_queue", " persistent_queue %llub", st->queue_bytes);
	print_nl();
	plugin_print_u64("residue_pos", "  residue_pos %lluB/s", st->residue_pos_bytes_ps);
	plugin_print_u64("residue_neg", " residue_neg %lluB/s", st->residue_neg_bytes_ps);
	plugin_print_u64("cp", " cp %llu", st->cp_bytes_ps2);
	print_color_float(PRINT_ANY, COLOR_NONE, "cn", " cn %g", (double)st->cn_ppm_ps / XCP_PPM);
	print_nl();
	plugin_print_u64("avg_rtt_ns", "  avg_rtt %lluns", st->avg_rtt_ns);
	plugin_print_u64("interval_ns", " interval %lluns", st->ctl_interval_ns);
	plugin_print_u64("intervals", " intervals %llu", st->intervals);
	if (st->qdiscs > 1)
		plugin_print_u64("qdiscs", " qdiscs %llu", st->qdiscs);
	print_nl();
}

static void xcp_print_packets(const struct tc_xcp_xstats *st)
{
	plugin_print_u64("standard", "  standard %llu", st->standard_pkts);
	plugin_print_u64("minimal", " minimal %llu", st->minimal_pkts);
	plugin_print_u64("micro", " micro %llu", st->micro_pkts);
	plugin_print_u64("unknown", " unknown %llu", st->unknown_pkts);
	plugin_print_u64("other", " other %llu", st->other_pkts);
	plugin_print_u64("e2e_limited", " e2e_limited %llu", st->e2e_limited_pkts);
	plugin_print_u64("flagged", " flagged %llu", st->flagged_pkts);
	plugin_print_u64("bounded", " bounded %llu", st->bounded_pkts);
	print_nl();
	plugin_print_u64("reduced", "  reduced %llu", st->reduced_pkts);
	plugin_print_u64("unwritable", " unwritable %llu", st->unwritable_pkts);
	print_nl();
}

static void xcp_print_malformed(const struct tc_xcp_xstats *st)
{
	static const char *const causes[TC_XCP_MALFORMED_CAUSES] = {
		[TC_XCP_MALFORMED_TRUNCATED] = "truncated",
		[TC_XCP_MALFORMED_VERSION] = "version",
		[TC_XCP_MALFORMED_FORMAT] = "format",
		[TC_XCP_MALFORMED_LENGTH] = "length",
		[TC_XCP_MALFORMED_NEXT] = "next",
	};

	plugin_print_counters("malformed", causes, st->malformed_pkts, TC_XCP_MALFORMED_CAUSES);
}

static void xcp_print_share_stats(const struct tc_xcp_xstats *st)
{
	open_json_object("share_xcp");
	print_color_float(PRINT_ANY, COLOR_NONE, "weight", "  xcp: weight %g",
			  (double)st->share_weight_ppm / XCP_PPM);
	plugin_print_u64("capacity", " capacity %lluB/s", st->xcp_capacity_bytes_ps);
	plugin_print_u64("window", " window %llub", st->xcp_window_bytes);
	plugin_print_u64("flow", " flow %lluB/s", st->xcp_flow_bytes_ps);
	plugin_print_u64("sent", " sent %llub", st->xcp_sent_bytes);
	close_json_object();
	print_nl();
	open_json_object("share_other");
	print_color_float(PRINT_ANY, COLOR_NONE, "loss", "  other: loss %g",
			  (double)st->share_loss_ppb / XCP_PPB);
	plugin_print_u64("window", " window %llub", st->other_window_bytes);
	plugin_print_u64("flow", " flow %lluB/s", st->other_flow_bytes_ps);
	plugin_print_u64("sent", " sent %llub", st->other_sent_bytes);
	close_json_object();
}

static int xcp_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_xcp_xstats st;

	if (!xstats)
		return 0;
	plugin_read_xstats(&st, sizeof(st), xstats);
	xcp_print_law(&st);
	xcp_print_packets(&st);
	xcp_print_malformed(&st);
	/* Without a second queue, the weight is 0. */
	if (st.share_weight_ppm) {
		print_nl();
		xcp_print_share_stats(&st);
	}
	return 0;
}

struct qdisc_util xcp_qdisc_util = {
	.id = "xcp",
	.parse_qopt = xcp_parse_opt,
	.print_qopt = xcp_print_opt,
	.print_xstats = xcp_print_xstats,
};
