// SPDX-License-Identifier: GPL-2.0
/* tc's plug-in for sch_csig: converts the command line to netlink, and netlink to text and JSON */
#include <errno.h>
#include <linux/pkt_sched_csig.h>
#include "tc_words.h"

/* The output can be used as input again. */
static const char csig_usage[] =
	"Usage: ... csig [ rate RATE | auto ] [ overhead BYTES ] [ mode update | pass | strip ]\n"
	"       [ unsupported pass | strip ] [ signals LIST | none ]\n"
	"       [ estimator raw | ewma | dre ] [ interval TIME ] [ shift NUMBER ] [ [no]timer ]\n"
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

static void csig_print_usage(void)
{
	fprintf(stderr, csig_usage, TC_CSIG_EDGES_MAX, TC_CSIG_LM_BITS_COMPACT,
		TC_CSIG_LM_BITS_EXPANDED, TC_CSIG_INTERVAL_DEFAULT_BYTES, TC_CSIG_SHIFT_MIN,
		TC_CSIG_SHIFT_MAX, TC_CSIG_SHIFT_DEFAULT, TC_CSIG_OVERHEAD_MAX_BYTES);
}

static const char *const csig_signals[TC_CSIG_SIGNALS] = { "abw", "abw_c", "pd" };
static const char *const csig_forms[] = { "compact", "expanded" };
static const char *const csig_modes[TC_CSIG_MODES] = { "update", "pass", "strip" };
static const char *const csig_estimators[TC_CSIG_ESTIMATORS] = { "raw", "ewma", "dre" };
static const char *const csig_whats[TC_CSIG_WHATS] = {
	"capacity", "stage", "orientation", "port", "device", "ttl",
};

#define CSIG_FORMS (sizeof(csig_forms) / sizeof(*csig_forms))
#define CSIG_RATE_BYTES_PER_KBIT 125

/* Return: index of a word in a list; -1 if it is not in the list */
static int csig_index(const char *word, const char *const *names, int count)
{
	int i;

	for (i = 0; word && i < count; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

static bool csig_read_mode(__u32 *mode, const char *word)
{
	*mode = csig_index(word, csig_modes, TC_CSIG_MODES);
	return *mode != (__u32)-1;
}

static bool csig_read_estimator(__u32 *estimator, const char *word)
{
	*estimator = csig_index(word, csig_estimators, TC_CSIG_ESTIMATORS);
	return *estimator != (__u32)-1;
}

static bool csig_read_time(__u32 *time_ns, const char *word)
{
	__s64 value_ns;

	if (word[0] == '-' || get_time64(&value_ns, word) || value_ns > UINT32_MAX)
		return false;
	*time_ns = value_ns;
	return true;
}

#define CSIG_TO(max) "0 to " WORD_TEXT(max)
#define CSIG_FROM_TO(min, max) WORD_TEXT(min) " to " WORD_TEXT(max)

static const struct word csig_words[] = {
	{ "overhead", TCA_CSIG_OVERHEAD, word_read_bytes, 0, TC_CSIG_OVERHEAD_MAX_BYTES, "b",
	  CSIG_TO(TC_CSIG_OVERHEAD_MAX_BYTES) " bytes", NULL, NULL },
	{ "mode", TCA_CSIG_MODE, csig_read_mode, 0, TC_CSIG_MODE_MAX, "",
	  "update, pass or strip", NULL, NULL },
	{ "unsupported", TCA_CSIG_UNSUPPORTED, csig_read_mode, TC_CSIG_UNSUPPORTED_MIN,
	  TC_CSIG_UNSUPPORTED_MAX, "", "pass or strip", NULL, NULL },
	{ "estimator", TCA_CSIG_ESTIMATOR, csig_read_estimator, 0, TC_CSIG_ESTIMATOR_MAX, "",
	  "raw, ewma or dre", NULL, NULL },
	{ "interval", TCA_CSIG_INTERVAL, csig_read_time, TC_CSIG_INTERVAL_MIN_NS,
	  TC_CSIG_INTERVAL_MAX_NS, "ns", "10us to 1s", NULL, NULL },
	{ "shift", TCA_CSIG_SHIFT, word_read_number, TC_CSIG_SHIFT_MIN, TC_CSIG_SHIFT_MAX, "",
	  CSIG_FROM_TO(TC_CSIG_SHIFT_MIN, TC_CSIG_SHIFT_MAX), NULL, NULL },
	{ "timer", TCA_CSIG_TIMER, NULL, 0, 1, "", "", NULL, NULL },
	{ "stage", TCA_CSIG_STAGE, word_read_number, 0, TC_CSIG_STAGE_MAX, "",
	  CSIG_TO(TC_CSIG_STAGE_MAX), NULL, NULL },
	{ "orientation", TCA_CSIG_ORIENTATION, word_read_number, 0, TC_CSIG_ORIENTATION_MAX, "",
	  CSIG_TO(TC_CSIG_ORIENTATION_MAX), NULL, NULL },
	{ "port_id", TCA_CSIG_PORT_ID, word_read_number, 0, TC_CSIG_PORT_ID_MAX, "",
	  CSIG_TO(TC_CSIG_PORT_ID_MAX), NULL, NULL },
	{ "device_id", TCA_CSIG_DEVICE_ID, word_read_number, 0, TC_CSIG_DEVICE_ID_MAX, "",
	  CSIG_TO(TC_CSIG_DEVICE_ID_MAX), NULL, NULL },
	{ "tpid_compact", TCA_CSIG_TPID_COMPACT, word_read_number, TC_CSIG_TPID_MIN,
	  TC_CSIG_TPID_MAX, "", CSIG_FROM_TO(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX), NULL, NULL },
	{ "tpid_expanded", TCA_CSIG_TPID_EXPANDED, word_read_number, TC_CSIG_TPID_MIN,
	  TC_CSIG_TPID_MAX, "", CSIG_FROM_TO(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX), NULL, NULL },
	{ "limit", TCA_CSIG_LIMIT, word_read_bytes, TC_CSIG_LIMIT_MIN_BYTES,
	  TC_CSIG_LIMIT_MAX_BYTES, "b",
	  CSIG_FROM_TO(TC_CSIG_LIMIT_MIN_BYTES, TC_CSIG_LIMIT_MAX_BYTES) " bytes", NULL, NULL },
};

#define CSIG_WORDS (sizeof(csig_words) / sizeof(*csig_words))

/**
 * struct csig_signal - options given for a signal
 * @on: 1 or 0; -1: not given
 * @quantum: the quantum; 0: not given
 * @edges: number of entries in @edge; 0: not given
 * @edge: edges of the buckets
 * @has_layout: by form: a layout was given
 * @layout: by form: layout of the locator
 */
struct csig_signal {
	int on;
	__u32 quantum;
	int edges;
	__u32 edge[TC_CSIG_EDGES_MAX];
	bool has_layout[CSIG_FORMS];
	struct tc_csig_layout layout[CSIG_FORMS];
};

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
	struct csig_signal signal[TC_CSIG_SIGNALS];
};

static const char *const csig_allowed[TC_CSIG_SIGNALS] = {
	"a rate of whole kbit, up to 4294967295kbit",
	"a part of the rate, 0% to 100%",
	"a time, up to 4294967295ns",
};

/* Read a value of a signal, in its unit. */
static bool csig_read_value(__u32 *value, int type, const char *word)
{
	__u64 rate_bytes_ps;
	double part;

	if (word[0] == '-')
		return false;
	switch (type) {
	case TC_CSIG_ABW:
		if (get_rate64(&rate_bytes_ps, word) ||
		    rate_bytes_ps % CSIG_RATE_BYTES_PER_KBIT ||
		    rate_bytes_ps / CSIG_RATE_BYTES_PER_KBIT > UINT32_MAX)
			return false;
		*value = rate_bytes_ps / CSIG_RATE_BYTES_PER_KBIT;
		return true;
	case TC_CSIG_ABW_C:
		if (!strchr(word, '%') || parse_percent(&part, word) || part < 0 || part > 1)
			return false;
		*value = part * 1000000 + 0.5;
		return true;
	default:
		return csig_read_time(value, word);
	}
}

static int csig_refuse_value(int type, const char *option, const char *word)
{
	return word_refuse("csig", option, word, csig_allowed[type]);
}

/* Add an edge, which must be above the one before it. */
static int csig_add_edge(struct csig_signal *s, int type, const char *word)
{
	__u32 edge;

	if (!csig_read_value(&edge, type, word))
		return csig_refuse_value(type, "buckets", word);
	if (edge <= (s->edges ? s->edge[s->edges - 1] : 0))
		return word_refuse("csig", "buckets", word,
				   "above the edge before it, and above 0");
	if (s->edges == TC_CSIG_EDGES_MAX)
		return word_refuse("csig", "buckets", word,
				   "among " WORD_TEXT(TC_CSIG_EDGES_MAX) " edges, which are all");
	s->edge[s->edges++] = edge;
	return 0;
}

/* Read edges from a file: one edge per word; "#" starts a comment. */
static int csig_read_edges(struct csig_signal *s, int type, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256], *word, *rest;
	int err = 0;

	if (!f) {
		fprintf(stderr, "csig: buckets: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (!err && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "#")] = '\0';
		for (word = strtok_r(line, " \t\n,", &rest); word && !err;
		     word = strtok_r(NULL, " \t\n,", &rest))
			err = csig_add_edge(s, type, word);
	}
	fclose(f);
	if (!err && !s->edges)
		return word_refuse("csig", "buckets", path, "a file of edges");
	return err;
}

static const __u32 csig_pow2_bases[TC_CSIG_SIGNALS] = {
	TC_CSIG_POW2_DEFAULT_KBIT_PS, TC_CSIG_POW2_DEFAULT_PPM, TC_CSIG_POW2_DEFAULT_NS,
};

static int csig_fill_pow2(struct csig_signal *s, int type, const char *word)
{
	__u32 base = csig_pow2_bases[type];

	if (word && (!csig_read_value(&base, type, word) || base < 2 ||
		     base > TC_CSIG_POW2_BASE_MAX))
		return word_refuse("csig", "buckets pow2", word,
				   "a value of 2 to " WORD_TEXT(TC_CSIG_POW2_BASE_MAX)
				   " kbit, ppm or ns");
	s->edges = TC_CSIG_EDGES_MAX;
	tc_csig_pow2(s->edge, base);
	return 0;
}

static int csig_fill_linear(struct csig_signal *s, int type, const char *word)
{
	__u32 step;
	int i;

	if (!csig_read_value(&step, type, word))
		return csig_refuse_value(type, "buckets linear", word);
	if (!step || step > UINT32_MAX / TC_CSIG_EDGES_MAX)
		return word_refuse("csig", "buckets linear", word,
				   "above 0, and 31 times below 2^32");
	s->edges = TC_CSIG_EDGES_MAX;
	for (i = 0; i < TC_CSIG_EDGES_MAX; i++)
		s->edge[i] = (i + 1) * step;
	return 0;
}

static int csig_list_edges(struct csig_signal *s, int type, const char *words)
{
	char list[1024], *word, *rest;
	int err = 0;

	if (strlen(words) >= sizeof(list))
		return word_refuse("csig", "buckets", words, "a list of edges");
	strcpy(list, words);
	for (word = strtok_r(list, ",", &rest); word && !err; word = strtok_r(NULL, ",", &rest))
		err = csig_add_edge(s, type, word);
	if (!err && !s->edges)
		return word_refuse("csig", "buckets", words, "a list of edges");
	return err;
}

/* Return: the part after "name:"; NULL if the word is not of this form */
static const char *csig_behind(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, name, len) && word[len] == ':' ? word + len + 1 : NULL;
}

static int csig_take_edges(struct csig_signal *s, int type, const char *word)
{
	const char *more;

	if (!word)
		return word_refuse("csig", "buckets", word, "edges");
	if (!strcmp(word, "pow2"))
		return csig_fill_pow2(s, type, NULL);
	if (!strcmp(word, "appendix_a")) {
		s->edges = TC_CSIG_APPENDIX_A_EDGES;
		tc_csig_appendix_a(s->edge, type);
		return 0;
	}
	more = csig_behind(word, "pow2");
	if (more)
		return csig_fill_pow2(s, type, more);
	more = csig_behind(word, "linear");
	if (more)
		return csig_fill_linear(s, type, more);
	more = csig_behind(word, "file");
	return more ? csig_read_edges(s, type, more) : csig_list_edges(s, type, word);
}

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

static int csig_refuse_again(const char *name)
{
	return word_refuse("csig", name, name, "to be given twice");
}

static int csig_parse_buckets(struct csig_request *r, struct words *w)
{
	int type = csig_take_signal(w, "buckets");

	if (type < 0)
		return -1;
	if (r->signal[type].edges)
		return csig_refuse_again("buckets");
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
		return csig_refuse_again("quantum");
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
			return csig_refuse_again("lm");
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
		return csig_refuse_again("signals");
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
		return csig_refuse_again("rate");
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
			return csig_refuse_again(csig_words[i].name);
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

static void csig_put_signal(struct nlmsghdr *n, const struct csig_signal *s, int attr)
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

static int csig_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev)
{
	struct rtattr *opts = addattr_nest(n, TC_PLUGIN_REQ_BYTES, TCA_OPTIONS);
	struct words w = { argc, argv };
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

/* Format a value of a signal such that it can be used as input. */
static void csig_format_value(char *text, size_t size, int type, __u32 value)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	if (type == TC_CSIG_ABW)
		plugin_format_rate(text, size, value * 1000ULL);
	else if (type == TC_CSIG_ABW_C)
		snprintf(text, size, "%g%%", value / 10000.0);
	else
		plugin_format_scaled(text, size, value, units);
}

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

/*
 * Return: true if this table has a name, which is written to @text such that it can be used as
 * input
 */
static bool csig_name_edges(char *text, size_t size, int type, const __u32 *edge, int edges)
{
	struct csig_signal known = {};
	char value[32];

	tc_csig_appendix_a(known.edge, type);
	if (edges == TC_CSIG_APPENDIX_A_EDGES &&
	    !memcmp(known.edge, edge, edges * sizeof(*edge))) {
		snprintf(text, size, "appendix_a");
		return true;
	}
	if (edges != TC_CSIG_EDGES_MAX)
		return false;
	csig_format_value(value, sizeof(value), type, edge[0]);
	if (edge[0] <= TC_CSIG_POW2_BASE_MAX) {
		tc_csig_pow2(known.edge, edge[0]);
		if (!memcmp(known.edge, edge, sizeof(known.edge))) {
			snprintf(text, size, edge[0] == csig_pow2_bases[type] ? "pow2" : "pow2:%s",
				 value);
			return true;
		}
	}
	if (csig_fill_linear(&known, type, value) || memcmp(known.edge, edge, sizeof(known.edge)))
		return false;
	snprintf(text, size, "linear:%s", value);
	return true;
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

static int csig_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
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

static void csig_print_port(const struct tc_csig_xstats *st)
{
	plugin_print_text("  ");
	plugin_print_rate("port_rate", st->rate_bytes_ps);
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
