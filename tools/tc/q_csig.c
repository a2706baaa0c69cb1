// SPDX-License-Identifier: GPL-2.0
/* tc's plug-in for sch_csig: converts the command line to netlink, and netlink to text and JSON */
#include "csig.h"

/* The output can be used as input again. */
static const char csig_usage[] =
	"Usage: ... csig [ rate RATE | auto ] [ overhead BYTES ] [ mode update | pass | strip ]\n"
	"       [ unsupported pass | strip ] [ signals LIST | none ]\n"
	"       [ estimator raw | ewma | dre ] [ interval TIME ] [ shift NUMBER ]\n"
	"       [ buckets SIGNAL EDGES ] [ quantum SIGNAL VALUE ]\n"
	"       [ lm SIGNAL|all compact|expanded LOCATOR ]\n"
	"       [ stage NUMBER ] [ orientation NUMBER ] [ port_id NUMBER ] [ device_id NUMBER ]\n"
	"       [ tpid_compact NUMBER ] [ tpid_expanded NUMBER ] [ limit BYTES ]\n"
	"  SIGNAL := abw | abw_c | pd; values are rates, percents, times\n"
	"  LIST := SIGNAL[,SIGNAL...]\n"
	"  EDGES := pow2[:BASE] | linear:STEP | appendix_a | file:PATH | VALUE[,VALUE...], up to %d\n"
	"  LOCATOR := NUMBER | FIELD:BITS[,FIELD:BITS...], up to %d or %d bits in all\n"
	"  FIELD := capacity | stage | orientation | port | device | ttl\n"
	"  interval    of the estimator, 10us to 1s (default: of %u bytes at the rate)\n"
	"  shift       dre discounts by 2^-shift, %d to %d (default %d)\n"
	"  overhead    the wire adds this to each packet, 0 to %d bytes\n"
	"  limit       of the default child, a byte fifo\n";

void csig_print_usage(void)
{
	fprintf(stderr, csig_usage, TC_CSIG_EDGES_MAX, TC_CSIG_LM_BITS_COMPACT,
		TC_CSIG_LM_BITS_EXPANDED, TC_CSIG_INTERVAL_DEFAULT_BYTES, TC_CSIG_SHIFT_MIN,
		TC_CSIG_SHIFT_MAX, TC_CSIG_SHIFT_DEFAULT, TC_CSIG_OVERHEAD_MAX_BYTES);
}

const char *const csig_signals[TC_CSIG_SIGNALS] = { "abw", "abw_c", "pd" };
const char *const csig_forms[] = { "compact", "expanded" };
const char *const csig_modes[TC_CSIG_MODES] = { "update", "pass", "strip" };
const char *const csig_estimators[TC_CSIG_ESTIMATORS] = { "raw", "ewma", "dre" };
const char *const csig_whats[TC_CSIG_WHATS] = {
	"capacity", "stage", "orientation", "port", "device", "ttl",
};

/* Return: index of a word in a list; -1 if it is not in the list */
int csig_index(const char *word, const char *const *names, int count)
{
	int i;

	for (i = 0; word && i < count; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

bool csig_read_mode(__u32 *mode, const char *word)
{
	*mode = csig_index(word, csig_modes, TC_CSIG_MODES);
	return *mode != (__u32)-1;
}

bool csig_read_estimator(__u32 *estimator, const char *word)
{
	*estimator = csig_index(word, csig_estimators, TC_CSIG_ESTIMATORS);
	return *estimator != (__u32)-1;
}

bool csig_read_time(__u32 *time_ns, const char *word)
{
	__s64 value_ns;

	if (word[0] == '-' || get_time64(&value_ns, word) || value_ns > UINT32_MAX)
		return false;
	*time_ns = value_ns;
	return true;
}

#define CSIG_TO(max) "0 to " WORD_TEXT(max)
#define CSIG_FROM_TO(min, max) WORD_TEXT(min) " to " WORD_TEXT(max)

const struct word csig_words[] = {
	{ .name = "overhead", .attr = TCA_CSIG_OVERHEAD, .read = word_read_bytes,
	  .max = TC_CSIG_OVERHEAD_MAX_BYTES, .unit = "b",
	  .allowed = CSIG_TO(TC_CSIG_OVERHEAD_MAX_BYTES) " bytes" },
	{ .name = "mode", .attr = TCA_CSIG_MODE, .read = csig_read_mode,
	  .max = TC_CSIG_MODE_MAX, .unit = "", .allowed = "update, pass or strip" },
	{ .name = "unsupported", .attr = TCA_CSIG_UNSUPPORTED, .read = csig_read_mode,
	  .min = TC_CSIG_UNSUPPORTED_MIN, .max = TC_CSIG_UNSUPPORTED_MAX, .unit = "",
	  .allowed = "pass or strip" },
	{ .name = "estimator", .attr = TCA_CSIG_ESTIMATOR, .read = csig_read_estimator,
	  .max = TC_CSIG_ESTIMATOR_MAX, .unit = "", .allowed = "raw, ewma or dre" },
	{ .name = "interval", .attr = TCA_CSIG_INTERVAL, .read = csig_read_time,
	  .min = TC_CSIG_INTERVAL_MIN_NS, .max = TC_CSIG_INTERVAL_MAX_NS, .unit = "ns",
	  .allowed = "10us to 1s" },
	{ .name = "shift", .attr = TCA_CSIG_SHIFT, .read = word_read_number,
	  .min = TC_CSIG_SHIFT_MIN, .max = TC_CSIG_SHIFT_MAX, .unit = "",
	  .allowed = CSIG_FROM_TO(TC_CSIG_SHIFT_MIN, TC_CSIG_SHIFT_MAX) },
	{ .name = "stage", .attr = TCA_CSIG_STAGE, .read = word_read_number,
	  .max = TC_CSIG_STAGE_MAX, .unit = "", .allowed = CSIG_TO(TC_CSIG_STAGE_MAX) },
	{ .name = "orientation", .attr = TCA_CSIG_ORIENTATION, .read = word_read_number,
	  .max = TC_CSIG_ORIENTATION_MAX, .unit = "",
	  .allowed = CSIG_TO(TC_CSIG_ORIENTATION_MAX) },
	{ .name = "port_id", .attr = TCA_CSIG_PORT_ID, .read = word_read_number,
	  .max = TC_CSIG_PORT_ID_MAX, .unit = "", .allowed = CSIG_TO(TC_CSIG_PORT_ID_MAX) },
	{ .name = "device_id", .attr = TCA_CSIG_DEVICE_ID, .read = word_read_number,
	  .max = TC_CSIG_DEVICE_ID_MAX, .unit = "", .allowed = CSIG_TO(TC_CSIG_DEVICE_ID_MAX) },
	{ .name = "tpid_compact", .attr = TCA_CSIG_TPID_COMPACT, .read = word_read_number,
	  .min = TC_CSIG_TPID_MIN, .max = TC_CSIG_TPID_MAX, .unit = "",
	  .allowed = CSIG_FROM_TO(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX) },
	{ .name = "tpid_expanded", .attr = TCA_CSIG_TPID_EXPANDED, .read = word_read_number,
	  .min = TC_CSIG_TPID_MIN, .max = TC_CSIG_TPID_MAX, .unit = "",
	  .allowed = CSIG_FROM_TO(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX) },
	{ .name = "limit", .attr = TCA_CSIG_LIMIT, .read = word_read_bytes,
	  .min = TC_CSIG_LIMIT_MIN_BYTES, .max = TC_CSIG_LIMIT_MAX_BYTES, .unit = "b",
	  .allowed = CSIG_FROM_TO(TC_CSIG_LIMIT_MIN_BYTES, TC_CSIG_LIMIT_MAX_BYTES) " bytes" },
};

static void csig_print_port(const struct tc_csig_xstats *st)
{
	plugin_print_text("  ");
	plugin_print_rate("port_rate", st->rate_bytes_ps);
	if (st->measured_bytes_ps)
		plugin_print_rate("measured", st->measured_bytes_ps);
	plugin_print_rate("available", st->available_bytes_ps);
	plugin_print_u64("tx_bytes", "tx_bytes %llu", st->tx_bytes);
	plugin_print_u64("longest_delay", " longest_delay %lluns", st->longest_ns);
	if (st->qdiscs > 1)
		plugin_print_u64("qdiscs", " qdiscs %llu", st->qdiscs);
	print_nl();
}

static int csig_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	static const char *const causes[TC_CSIG_MALFORMED_CAUSES] = {
		[TC_CSIG_MALFORMED_TRUNCATED] = "truncated",
		[TC_CSIG_MALFORMED_ORDER] = "order",
	};
	struct tc_csig_xstats st;

	if (!xstats)
		return 0;
	plugin_read_xstats(&st, sizeof(st), xstats);
	csig_print_port(&st);
	plugin_print_counters("tagged", csig_forms,
			      (__u64 []){ st.compact_pkts, st.expanded_pkts }, CSIG_FORMS);
	plugin_print_counters("updated", csig_signals, st.updated_pkts, TC_CSIG_SIGNALS);
	print_nl();
	plugin_print_u64("unsupported", "  unsupported %llu", st.unsupported_pkts);
	plugin_print_u64("stripped", " stripped %llu", st.stripped_pkts);
	plugin_print_u64("fenced", " fenced %llu", st.fenced_pkts);
	plugin_print_u64("untimed", " untimed %llu", st.untimed_pkts);
	plugin_print_u64("unwritable", " unwritable %llu", st.unwritable_pkts);
	plugin_print_counters("malformed", causes, st.malformed_pkts, TC_CSIG_MALFORMED_CAUSES);
	return 0;
}

struct qdisc_util csig_qdisc_util = {
	.id = "csig",
	.parse_qopt = csig_parse_opt,
	.print_qopt = csig_print_opt,
	.print_xstats = csig_print_xstats,
};
