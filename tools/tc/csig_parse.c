// SPDX-License-Identifier: GPL-2.0
/* The command line of sch_csig to netlink */
#include "csig.h"

/**
 * struct csig_request - options given on the command line
 * @has_rate: "rate" was given
 * @has_signals: "signals" was given
 * @seen: option was given, by index of csig_words[]
 * @signal: options of each signal, by type
 */
struct csig_request {
	bool has_rate, has_signals;
	bool seen[CSIG_WORDS];
	struct csig_signal_options signal[TC_CSIG_SIGNALS];
};

static int csig_refuse_layout(const char *word)
{
	return word_refuse("csig", "lm", word, "a number, or FIELD:BITS[,FIELD:BITS...] that fits");
}

/* Parse one FIELD:BITS. */
static bool csig_add_field(struct tc_csig_layout *l, char *word)
{
	char *colon = strchr(word, ':');
	__u32 bits;
	int what;

	if (!colon)
		return false;
	*colon = '\0';
	what = csig_index(word, csig_whats, TC_CSIG_WHATS);
	if (what < 0 || l->fields == TC_CSIG_FIELDS_MAX || !word_read_number(&bits, colon + 1) ||
	    !bits || bits > TC_CSIG_LM_BITS_EXPANDED)
		return false;
	l->field[l->fields].what = what;
	l->field[l->fields++].bits = bits;
	return true;
}

static int csig_take_layout(struct tc_csig_layout *l, int form, const char *typed)
{
	const __u32 room_bits = form ? TC_CSIG_LM_BITS_EXPANDED : TC_CSIG_LM_BITS_COMPACT;
	char list[256], *word, *rest;
	__u32 value, bits = 0;
	int i;

	memset(l, 0, sizeof(*l));
	if (!typed || strlen(typed) >= sizeof(list))
		return csig_refuse_layout(typed);
	if (word_read_number(&value, typed)) {
		l->constant = value;
		return value >> room_bits ? csig_refuse_layout(typed) : 0;
	}
	strcpy(list, typed);
	for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (!csig_add_field(l, word))
			return csig_refuse_layout(typed);
	for (i = 0; i < l->fields; i++)
		bits += l->field[i].bits;
	return !bits || bits > room_bits ? csig_refuse_layout(typed) : 0;
}

static int csig_take_signal(struct words *w, const char *option)
{
	const char *word = words_take(w);
	int type = csig_index(word, csig_signals, TC_CSIG_SIGNALS);

	if (type < 0)
		word_refuse("csig", option, word, "abw, abw_c or pd");
	return type;
}

static int csig_parse_buckets(struct csig_request *r, struct words *w)
{
	int type = csig_take_signal(w, "buckets");

	if (type < 0)
		return -1;
	if (r->signal[type].edges)
		return plugin_refuse_twice("csig", "", "buckets");
	return csig_take_edges(&r->signal[type], type, words_take(w));
}

static int csig_parse_quantum(struct csig_request *r, struct words *w)
{
	int type = csig_take_signal(w, "quantum");
	const char *word = words_take(w);
	__u32 quantum;

	if (type < 0)
		return -1;
	if (r->signal[type].quantum)
		return plugin_refuse_twice("csig", "", "quantum");
	if (!word || !csig_read_value(&quantum, type, word) || !quantum)
		return csig_refuse_value(type, "quantum", word);
	r->signal[type].quantum = quantum;
	return 0;
}

static int csig_parse_lm(struct csig_request *r, struct words *w)
{
	bool all = words_take_if(w, "all");
	int type = all ? 0 : csig_take_signal(w, "lm"), last = all ? TC_CSIG_SIGNALS - 1 : type;
	struct tc_csig_layout layout;
	const char *word;
	int form;

	if (type < 0)
		return -1;
	word = words_take(w);
	form = csig_index(word, csig_forms, CSIG_FORMS);
	if (form < 0)
		return word_refuse("csig", "lm", word, "compact or expanded");
	if (csig_take_layout(&layout, form, words_take(w)))
		return -1;
	for (; type <= last; type++) {
		if (r->signal[type].has_layout[form])
			return plugin_refuse_twice("csig", "", "lm");
		r->signal[type].has_layout[form] = true;
		r->signal[type].layout[form] = layout;
	}
	return 0;
}

static int csig_parse_signals(struct csig_request *r, struct words *w)
{
	const char *typed = words_take(w);
	char list[64], *word, *rest;
	int type;

	if (r->has_signals)
		return plugin_refuse_twice("csig", "", "signals");
	r->has_signals = true;
	for (type = 0; type < TC_CSIG_SIGNALS; type++)
		r->signal[type].on = 0;
	if (typed && !strcmp(typed, "none"))
		return 0;
	if (!typed || !*typed || strlen(typed) >= sizeof(list))
		return word_refuse("csig", "signals", typed,
				   "a list of abw, abw_c and pd, or none");
	strcpy(list, typed);
	for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		type = csig_index(word, csig_signals, TC_CSIG_SIGNALS);
		if (type < 0)
			return word_refuse("csig", "signals", word, "abw, abw_c or pd");
		r->signal[type].on = 1;
	}
	return 0;
}

static int csig_put_rate(struct nlmsghdr *n, struct csig_request *r, struct words *w)
{
	const char *word = words_take(w);
	__u64 rate_bytes_ps;

	if (r->has_rate)
		return plugin_refuse_twice("csig", "", "rate");
	r->has_rate = true;
	if (word && !strcmp(word, "auto"))
		return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_RATE, TC_CSIG_RATE_AUTO);
	if (!word || word[0] == '-' || get_rate64(&rate_bytes_ps, word) ||
	    rate_bytes_ps < TC_CSIG_RATE_MIN_BYTES_PS || rate_bytes_ps > TC_CSIG_RATE_MAX_BYTES_PS)
		return word_refuse("csig", "rate", word, "10kbit to 1600gbit, or auto");
	return addattr64(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_RATE, rate_bytes_ps);
}

/* Refuse an option that is given twice: it is probably a typing error. */
static int csig_put_word(struct nlmsghdr *n, struct csig_request *r, struct words *w)
{
	size_t i;
	bool on;

	for (i = 0; i < CSIG_WORDS; i++) {
		if (!word_take(&csig_words[i], w, &on))
			continue;
		if (r->seen[i])
			return plugin_refuse_twice("csig", "", csig_words[i].name);
		r->seen[i] = true;
		return word_put(n, "csig", &csig_words[i], w, on);
	}
	if (strcmp(*w->argv, "help"))
		fprintf(stderr, "csig: \"%s\" is not an option\n", *w->argv);
	csig_print_usage();
	return -1;
}

static int csig_parse_one(struct nlmsghdr *n, struct csig_request *r, struct words *w)
{
	if (words_take_if(w, "rate"))
		return csig_put_rate(n, r, w);
	if (words_take_if(w, "signals"))
		return csig_parse_signals(r, w);
	if (words_take_if(w, "buckets"))
		return csig_parse_buckets(r, w);
	if (words_take_if(w, "quantum"))
		return csig_parse_quantum(r, w);
	if (words_take_if(w, "lm"))
		return csig_parse_lm(r, w);
	return csig_put_word(n, r, w);
}

static void csig_put_signal(struct nlmsghdr *n, const struct csig_signal_options *s, int attr)
{
	struct rtattr *nest = addattr_nest(n, TC_PLUGIN_REQ_BYTES, attr);
	size_t form;

	if (s->on >= 0)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_SIGNAL_ON, s->on);
	if (s->quantum)
		addattr32(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_SIGNAL_QUANTUM, s->quantum);
	if (s->edges)
		addattr_l(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_SIGNAL_EDGES, s->edge,
			  s->edges * sizeof(*s->edge));
	for (form = 0; form < CSIG_FORMS; form++)
		if (s->has_layout[form])
			addattr_l(n, TC_PLUGIN_REQ_BYTES, TCA_CSIG_SIGNAL_LM_COMPACT + form,
				  &s->layout[form], sizeof(s->layout[form]));
	addattr_nest_end(n, nest);
}

int csig_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
		   const char *dev)
{
	struct rtattr *opts = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS);
	struct words w = { .argc = argc, .argv = argv };
	struct csig_request r = {};
	int type;

	for (type = 0; type < TC_CSIG_SIGNALS; type++)
		r.signal[type].on = -1;
	while (w.argc > 0)
		if (csig_parse_one(n, &r, &w))
			return -1;
	for (type = 0; type < TC_CSIG_SIGNALS; type++)
		csig_put_signal(n, &r.signal[type], TCA_CSIG_SIGNAL_ABW + type);
	addattr_nest_end(n, opts);
	return 0;
}
