// SPDX-License-Identifier: GPL-2.0
/* The options of sch_csig from netlink to text and JSON */
#include "csig.h"

/* Print the options of csig_words[]; print a value that has a name by its name. */
static void csig_print_words(struct rtattr **tb)
{
	char text[64];
	size_t i;

	for (i = 0; i < CSIG_WORDS; i++) {
		const struct word *o = &csig_words[i];
		const struct rtattr *attr = tb[o->attr];
		const char *const *names = NULL;
		__u32 value, count = TC_CSIG_MODES;

		if (!attr || RTA_PAYLOAD(attr) < sizeof(value))
			continue;
		memcpy(&value, RTA_DATA(attr), sizeof(value));
		if (o->read == csig_read_mode)
			names = csig_modes;
		else if (o->read == csig_read_estimator)
			names = csig_estimators;
		if (!names) {
			word_print(o, value);
			continue;
		}
		snprintf(text, sizeof(text), "%s %%s ", o->name);
		plugin_print_string(o->name, text, value < count ? names[value] : "?");
	}
}

static void csig_print_edges(int type, const struct rtattr *attr)
{
	int i, edges = RTA_PAYLOAD(attr) / sizeof(__u32);
	__u32 edge[TC_CSIG_EDGES_MAX] = {};
	char text[64];

	if (edges > TC_CSIG_EDGES_MAX)
		edges = TC_CSIG_EDGES_MAX;
	memcpy(edge, RTA_DATA(attr), edges * sizeof(*edge));
	snprintf(text, sizeof(text), "buckets %s ", csig_signals[type]);
	plugin_print_text(text);
	if (csig_name_edges(text, sizeof(text), type, edge, edges)) {
		plugin_print_text(text);
	} else {
		for (i = 0; i < edges; i++) {
			plugin_print_text(i ? "," : "");
			csig_format_value(text, sizeof(text), type, edge[i]);
			plugin_print_text(text);
		}
	}
	plugin_print_text(" ");
	open_json_array(PRINT_JSON, "buckets");
	for (i = 0; i < edges; i++)
		print_color_uint(PRINT_JSON, COLOR_NONE, NULL, NULL, edge[i]);
	close_json_array(PRINT_JSON, NULL);
}

static void csig_print_layout(int type, int form, const struct rtattr *attr)
{
	char text[256], *at = text, *end = text + sizeof(text);
	struct tc_csig_layout l;
	int i;

	memcpy(&l, RTA_DATA(attr), sizeof(l));
	if (!l.fields)
		snprintf(text, sizeof(text), "%u", l.constant);
	for (i = 0; i < l.fields && i < TC_CSIG_FIELDS_MAX; i++)
		at += snprintf(at, end - at, "%s%s:%u", i ? "," : "",
			       l.field[i].what < TC_CSIG_WHATS ? csig_whats[l.field[i].what] : "?",
			       l.field[i].bits);
	plugin_print_text("lm ");
	plugin_print_text(csig_signals[type]);
	plugin_print_text(form ? " expanded " : " compact ");
	plugin_print_text(text);
	plugin_print_text(" ");
	print_color_string(PRINT_JSON, COLOR_NONE, form ? "lm_expanded" : "lm_compact", NULL, text);
}

static __u32 csig_attr_u32(const struct rtattr *attr)
{
	__u32 value = 0;

	if (attr && RTA_PAYLOAD(attr) >= sizeof(value))
		memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

static void csig_print_signal(int type, struct rtattr **tb)
{
	__u32 quantum = csig_attr_u32(tb[TCA_CSIG_SIGNAL_QUANTUM]);
	char text[32];
	size_t form;

	open_json_object(csig_signals[type]);
	print_color_bool(PRINT_JSON, COLOR_NONE, "on", NULL, csig_attr_u32(tb[TCA_CSIG_SIGNAL_ON]));
	if (tb[TCA_CSIG_SIGNAL_EDGES])
		csig_print_edges(type, tb[TCA_CSIG_SIGNAL_EDGES]);
	plugin_print_text("quantum ");
	plugin_print_text(csig_signals[type]);
	csig_format_value(text, sizeof(text), type, quantum);
	plugin_print_text(" ");
	plugin_print_text(text);
	plugin_print_text(" ");
	print_color_uint(PRINT_JSON, COLOR_NONE, "quantum", NULL, quantum);
	for (form = 0; form < CSIG_FORMS; form++) {
		const struct rtattr *attr = tb[TCA_CSIG_SIGNAL_LM_COMPACT + form];

		if (attr && RTA_PAYLOAD(attr) >= sizeof(struct tc_csig_layout))
			csig_print_layout(type, form, attr);
	}
	close_json_object();
}

/* Print "signals abw,pd" in the text output; JSON has "on" in each signal. */
static void csig_print_signals(struct rtattr *tb[][TCA_CSIG_SIGNAL_MAX + 1])
{
	bool any = false;
	int type;

	plugin_print_text("signals ");
	for (type = 0; type < TC_CSIG_SIGNALS; type++) {
		if (!csig_attr_u32(tb[type][TCA_CSIG_SIGNAL_ON]))
			continue;
		plugin_print_text(any ? "," : "");
		plugin_print_text(csig_signals[type]);
		any = true;
	}
	plugin_print_text(any ? " " : "none ");
}

int csig_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *signal[TC_CSIG_SIGNALS][TCA_CSIG_SIGNAL_MAX + 1] = {};
	struct rtattr *tb[TCA_CSIG_MAX + 1];
	int type;

	if (!opt)
		return 0;
	plugin_parse_nested(tb, TCA_CSIG_MAX, opt);
	for (type = 0; type < TC_CSIG_SIGNALS; type++)
		if (tb[TCA_CSIG_SIGNAL_ABW + type])
			plugin_parse_nested(signal[type], TCA_CSIG_SIGNAL_MAX,
					    tb[TCA_CSIG_SIGNAL_ABW + type]);
	plugin_print_rate_attr("rate", tb[TCA_CSIG_RATE]);
	csig_print_words(tb);
	csig_print_signals(signal);
	for (type = 0; type < TC_CSIG_SIGNALS; type++)
		csig_print_signal(type, signal[type]);
	return 0;
}
