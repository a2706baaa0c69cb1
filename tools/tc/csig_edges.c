// SPDX-License-Identifier: GPL-2.0
/* Values of signals and edges of their buckets: read from words, and written as words */
#include <errno.h>
#include "csig.h"

#define CSIG_RATE_BYTES_PER_KBIT 125

static const char *const csig_allowed[TC_CSIG_SIGNALS] = {
	"a rate of whole kbit, up to 4294967295kbit",
	"a part of the rate, 0% to 100%",
	"a time, up to 4294967295ns",
};

/* Read a value of a signal, in its unit. */
bool csig_read_value(__u32 *value, int type, const char *word)
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

int csig_refuse_value(int type, const char *option, const char *word)
{
	return word_refuse("csig", option, word, csig_allowed[type]);
}

/* Add an edge, which must be above the one before it. */
static int csig_add_edge(struct csig_signal_options *s, int type, const char *word)
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
static int csig_read_edges(struct csig_signal_options *s, int type, const char *path)
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

static int csig_fill_pow2(struct csig_signal_options *s, int type, const char *word)
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

static int csig_fill_linear(struct csig_signal_options *s, int type, const char *word)
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

static int csig_list_edges(struct csig_signal_options *s, int type, const char *words)
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

int csig_take_edges(struct csig_signal_options *s, int type, const char *word)
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

/* Format a value of a signal such that it can be used as input. */
void csig_format_value(char *text, size_t size, int type, __u32 value)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	if (type == TC_CSIG_ABW)
		plugin_format_rate(text, size, value * 1000ULL);
	else if (type == TC_CSIG_ABW_C)
		snprintf(text, size, "%g%%", value / 10000.0);
	else
		plugin_format_scaled(text, size, value, units);
}

/*
 * Return: true if this table has a name, which is written to @text such that it can be used as
 * input
 */
bool csig_name_edges(char *text, size_t size, int type, const __u32 *edge, int edges)
{
	struct csig_signal_options known = {};
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
