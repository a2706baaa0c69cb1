// SPDX-License-Identifier: GPL-2.0
/* tc's plug-in for sch_int: converts the command line to netlink, and netlink to text and JSON */
#include <linux/pkt_sched_int.h>
#include "tc_words.h"

/* The output can be used as input again. */
static const char int_usage[] =
	"Usage: ... int [ switch_id NUMBER ] [ port_id NUMBER ] [ rate RATE | auto ]\n"
	"       [ speed RATE | auto ] [ overhead BYTES ] [ [no]sojourn ] [ [no]share ]\n"
	"       [ protocol NUMBER ] [ [no]border ] [ limit BYTES ]\n"
	"       [ formats LIST | none ] [ node_id NUMBER ] [ schema NUMBER ]\n"
	"       [ dscp_intmd NUMBER ] [ [no]formats_only ]\n"
	"  switch_id   of this box, 0 to %d (default: from the device's address)\n"
	"  port_id     of this port, 0 to %d (default %d)\n"
	"  rate        of the port or class, 10kbit to 1600gbit\n"
	"              (default auto: the device's speed)\n"
	"  speed       that records name, one that has a code (default auto: the rate)\n"
	"  overhead    the wire adds this to each packet, 0 to %d bytes (default %d)\n"
	"  sojourn     the queue is the packet's time in it, times the rate (default off)\n"
	"  share       count bytes sent with all of this device and port_id (default off)\n"
	"  protocol    IP protocol of telemetry between IP and transport, %d to %d (default %d)\n"
	"  border      clear telemetry, which leaves the domain here (default off)\n"
	"  limit       of the default child, a byte fifo\n"
	"  formats     of other switches, written too: ifa,ioam,intmd (default none)\n"
	"  node_id     in these formats, 1 to %d, with ifa to %d\n"
	"  schema      of opaque state in ioam that takes a record, 0 to %d\n"
	"              (default %d)\n"
	"  dscp_intmd  DSCP of packets with intmd, 0 to %d\n"
	"  formats_only  write no records of our own (default off)\n";

static void int_print_usage(void)
{
	fprintf(stderr, int_usage, TC_INT_SWITCH_ID_MAX,
		TC_INT_PORT_ID_MAX, TC_INT_PORT_ID_DEFAULT, TC_INT_OVERHEAD_MAX_BYTES,
		TC_INT_OVERHEAD_DEFAULT_BYTES, TC_INT_PROTOCOL_MIN, TC_INT_PROTOCOL_MAX,
		TC_INT_PROTOCOL_DEFAULT, TC_INT_NODE_ID_MAX,
		TC_INT_NODE_ID_IFA_MAX, TC_INT_SCHEMA_MAX, TC_INT_SCHEMA_DEFAULT, TC_INT_DSCP_MAX);
}

static const char *const int_formats[TC_INT_FORMATS] = {
	[TC_INT_FORMAT_IFA] = "ifa",
	[TC_INT_FORMAT_IOAM] = "ioam",
	[TC_INT_FORMAT_INTMD] = "intmd",
};

/* Read names with commas between them. */
static bool int_read_formats(__u32 *formats, const char *word)
{
	size_t i, length;

	for (*formats = 0; ; word += length + 1) {
		length = strcspn(word, ",");
		for (i = 0; i < TC_INT_FORMATS; i++)
			if (length == strlen(int_formats[i]) &&
			    !strncmp(word, int_formats[i], length))
				break;
		if (i == TC_INT_FORMATS || *formats & 1U << i)
			return false;
		*formats |= 1U << i;
		if (!word[length])
			return true;
	}
}

static void int_print_formats(const struct word *o, __u32 formats)
{
	char text[32] = "";
	size_t i, at = 0;

	for (i = 0; i < TC_INT_FORMATS; i++)
		if (formats & 1U << i)
			at += snprintf(text + at, sizeof(text) - at, "%s%s", at ? "," : "",
				       int_formats[i]);
	plugin_print_string(o->name, "formats %s ", text);
}

#define INT_TO(max) "0 to " WORD_TEXT(max)
#define INT_FROM_TO(min, max) WORD_TEXT(min) " to " WORD_TEXT(max)

static const struct word int_words[] = {
	{ .name = "switch_id", .attr = TCA_INT_SWITCH_ID, .read = word_read_number,
	  .max = TC_INT_SWITCH_ID_MAX, .unit = "", .allowed = INT_TO(TC_INT_SWITCH_ID_MAX) },
	{ .name = "port_id", .attr = TCA_INT_PORT_ID, .read = word_read_number,
	  .max = TC_INT_PORT_ID_MAX, .unit = "", .allowed = INT_TO(TC_INT_PORT_ID_MAX) },
	{ .name = "overhead", .attr = TCA_INT_OVERHEAD, .read = word_read_bytes,
	  .max = TC_INT_OVERHEAD_MAX_BYTES, .unit = "b",
	  .allowed = INT_TO(TC_INT_OVERHEAD_MAX_BYTES) " bytes" },
	{ .name = "sojourn", .attr = TCA_INT_SOJOURN },
	{ .name = "share", .attr = TCA_INT_SHARE },
	{ .name = "protocol", .attr = TCA_INT_PROTOCOL, .read = word_read_number,
	  .min = TC_INT_PROTOCOL_MIN, .max = TC_INT_PROTOCOL_MAX, .unit = "",
	  .allowed = INT_FROM_TO(TC_INT_PROTOCOL_MIN, TC_INT_PROTOCOL_MAX) },
	{ .name = "border", .attr = TCA_INT_BORDER },
	{ .name = "limit", .attr = TCA_INT_LIMIT, .read = word_read_bytes,
	  .min = TC_INT_LIMIT_MIN_BYTES, .max = TC_INT_LIMIT_MAX_BYTES, .unit = "b",
	  .allowed = INT_FROM_TO(TC_INT_LIMIT_MIN_BYTES, TC_INT_LIMIT_MAX_BYTES) " bytes" },
	{ .name = "formats", .attr = TCA_INT_FORMATS, .read = int_read_formats,
	  .max = TC_INT_FORMATS_MAX, .zero = "none", .print = int_print_formats,
	  .allowed = "none, or names of ifa,ioam,intmd" },
	{ .name = "node_id", .attr = TCA_INT_NODE_ID, .read = word_read_number, .min = 1,
	  .max = TC_INT_NODE_ID_MAX, .unit = "", .allowed = INT_FROM_TO(1, TC_INT_NODE_ID_MAX) },
	{ .name = "schema", .attr = TCA_INT_SCHEMA, .read = word_read_number,
	  .max = TC_INT_SCHEMA_MAX, .unit = "", .allowed = INT_TO(TC_INT_SCHEMA_MAX) },
	{ .name = "dscp_intmd", .attr = TCA_INT_DSCP_INTMD, .read = word_read_number,
	  .max = TC_INT_DSCP_MAX, .unit = "", .allowed = INT_TO(TC_INT_DSCP_MAX) },
	{ .name = "formats_only", .attr = TCA_INT_FORMATS_ONLY },
};

#define INT_WORDS (sizeof(int_words) / sizeof(*int_words))

/**
 * struct int_rate - an option that is a rate
 * @name: name of the option in input, output and JSON
 * @attr: netlink attribute
 * @allowed: allowed values, for messages
 */
struct int_rate {
	const char *name;
	int attr;
	const char *allowed;
};

static const struct int_rate int_rates[] = {
	{ .name = "rate", .attr = TCA_INT_RATE, .allowed = "10kbit to 1600gbit, or auto" },
	{ .name = "speed", .attr = TCA_INT_SPEED, .allowed = "a rate, e.g. 10gbit, or auto" },
};

#define INT_RATES (sizeof(int_rates) / sizeof(*int_rates))

static int int_put_rate(struct nlmsghdr *n, const struct int_rate *o, const char *word)
{
	__u64 rate_bytes_ps;

	if (word && !strcmp(word, "auto"))
		return addattr64(n, TC_PLUGIN_REQ_BYTES, o->attr, 0);
	if (!word || word[0] == '-' || get_rate64(&rate_bytes_ps, word) ||
	    rate_bytes_ps < TC_INT_RATE_MIN_BYTES_PS || rate_bytes_ps > TC_INT_RATE_MAX_BYTES_PS)
		return word_refuse("int", o->name, word, o->allowed);
	return addattr64(n, TC_PLUGIN_REQ_BYTES, o->attr, rate_bytes_ps);
}

/* Refuse an option that is given twice: it is probably a typing error. */
static bool int_is_new(bool *seen, const char *name)
{
	bool new = !*seen;

	if (!new)
		plugin_refuse_twice("int", "", name);
	*seen = true;
	return new;
}

static int int_put_once(struct nlmsghdr *n, struct words *w, bool *seen)
{
	size_t i;
	bool on;

	for (i = 0; i < INT_RATES; i++)
		if (words_take_if(w, int_rates[i].name))
			return int_is_new(&seen[INT_WORDS + i], int_rates[i].name) ?
			       int_put_rate(n, &int_rates[i], words_take(w)) : -1;
	for (i = 0; i < INT_WORDS; i++)
		if (word_take(&int_words[i], w, &on))
			return int_is_new(&seen[i], int_words[i].name) ?
			       word_put(n, "int", &int_words[i], w, on) : -1;
	if (strcmp(*w->argv, "help"))
		fprintf(stderr, "int: \"%s\" is not an option\n", *w->argv);
	int_print_usage();
	return -1;
}

static int int_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			 const char *dev)
{
	struct words w = { .argc = argc, .argv = argv };
	bool seen[INT_WORDS + INT_RATES] = {};
	struct rtattr *opts = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS);

	while (w.argc > 0)
		if (int_put_once(n, &w, seen))
			return -1;
	addattr_nest_end(n, opts);
	return 0;
}

static int int_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_INT_MAX + 1];
	size_t i;

	if (!opt)
		return 0;
	plugin_parse_nested(tb, TCA_INT_MAX, opt);
	for (i = 0; i < INT_RATES; i++)
		plugin_print_rate_attr(int_rates[i].name, tb[int_rates[i].attr]);
	word_print_all(int_words, INT_WORDS, tb);
	return 0;
}

static void int_print_port(const struct tc_int_xstats *st)
{
	plugin_print_text("  ");
	plugin_print_rate("port_rate", st->rate_bytes_ps);
	plugin_print_rate("port_speed", st->speed_bytes_ps);
	plugin_print_u64("tx_bytes", "tx_bytes %llu", st->tx_bytes);
	plugin_print_u64("longest_queue", " longest_queue %llub", st->longest_queue_bytes);
	if (st->qdiscs > 1)
		plugin_print_u64("qdiscs", " qdiscs %llu", st->qdiscs);
	print_nl();
}

static void int_print_foreign(const struct tc_int_xstats *st)
{
	static const char *const causes[TC_INT_REFUSED_CAUSES] = {
		[TC_INT_REFUSED_MALFORMED] = "malformed",
		[TC_INT_REFUSED_LIMIT] = "limit",
		[TC_INT_REFUSED_MTU] = "mtu",
		[TC_INT_REFUSED_FRAGMENT] = "fragment",
		[TC_INT_REFUSED_OFFLOAD] = "offload",
		[TC_INT_REFUSED_UNWRITABLE] = "unwritable",
		[TC_INT_REFUSED_OTHER_NODE] = "other_node",
	};

	if (!st->formats)
		return;
	print_nl();
	plugin_print_counters("written", int_formats, st->format_pkts, TC_INT_FORMATS);
	print_nl();
	plugin_print_counters("refused", causes, st->refused_pkts, TC_INT_REFUSED_CAUSES);
}

static int int_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	static const char *const kinds[TC_INT_STAMPED_KINDS] = {
		[TC_INT_STAMPED_DATA] = "data",
		[TC_INT_STAMPED_PROBE] = "probe",
	};
	static const char *const causes[TC_INT_MALFORMED_CAUSES] = {
		[TC_INT_MALFORMED_TRUNCATED] = "truncated",
		[TC_INT_MALFORMED_LENGTH] = "length",
		[TC_INT_MALFORMED_TYPE] = "type",
		[TC_INT_MALFORMED_SLOTS] = "slots",
		[TC_INT_MALFORMED_HOPS] = "hops",
	};
	struct tc_int_xstats st;

	if (!xstats)
		return 0;
	plugin_read_xstats(&st, sizeof(st), xstats);
	int_print_port(&st);
	plugin_print_counters("stamped", kinds, st.stamped_pkts, TC_INT_STAMPED_KINDS);
	plugin_print_u64("full", " full %llu", st.full_pkts);
	plugin_print_u64("untimed", " untimed %llu", st.untimed_pkts);
	plugin_print_u64("echo", " echo %llu", st.echo_pkts);
	plugin_print_u64("unwritable", " unwritable %llu", st.unwritable_pkts);
	if (st.cleared_pkts)
		plugin_print_u64("cleared", " cleared %llu", st.cleared_pkts);
	print_nl();
	plugin_print_counters("malformed", causes, st.malformed_pkts, TC_INT_MALFORMED_CAUSES);
	int_print_foreign(&st);
	return 0;
}

struct qdisc_util int_qdisc_util = {
	.id = "int",
	.parse_qopt = int_parse_opt,
	.print_qopt = int_print_opt,
	.print_xstats = int_print_xstats,
};
