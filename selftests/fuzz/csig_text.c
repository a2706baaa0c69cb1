// SPDX-License-Identifier: GPL-2.0
/*
 * The texts of net.hopcc.csig_rules and csig_buckets, and lists of names: any text gives rules and
 * scales within their ranges or is refused; rules and scales that were written as a text are read
 * as they were; one wrong value in the text is refused.
 */
#include "fuzz.h"
#include <arpa/inet.h>
#include <hopcc/lib/hop_names.h>
#include "../../net_csig_tag/csig_text.c"

#define TEXT_BYTES	1024

static const char *const signals[CSIG_TYPES] = { "abw", "abw_c", "pd" };

/* A text in a buffer of exactly its size, so that ASan detects a read beyond its end. */
static char *exact(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return strcpy(copy, text);
}

__attribute__((format(printf, 2, 3)))
static void append(char *text, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list values;

	va_start(values, format);
	FUZZ_CLAIM(vsnprintf(text + used, TEXT_BYTES - used, format, values) < TEXT_BYTES - used);
	va_end(values);
}

static void append_blank(char *text)
{
	static const char *const blanks[] = { " ", "\t", "  ", " \t " };

	append(text, "%s", blanks[fuzz_choice(ARRAY_SIZE(blanks))]);
}

static void append_separator(char *text)
{
	static const char *const separators[] = { ";", "\n", " ; ", ";\n;" };

	append(text, "%s", separators[fuzz_choice(ARRAY_SIZE(separators))]);
}

/* Parse into exactly CTAG_RULES_MAX rules, so that ASan detects one more. */
static int parse_rules(const char *text, struct ctag_rule **rule, u32 *count)
{
	char *copy = exact(text);
	int err;

	*rule = calloc(CTAG_RULES_MAX, sizeof(**rule));
	err = ctag_parse_rules(copy, *rule, count);
	free(copy);
	FUZZ_CLAIM(*count <= CTAG_RULES_MAX);
	FUZZ_CLAIM(!err || err == -EINVAL || (err == -E2BIG && *count == CTAG_RULES_MAX));
	return err;
}

static void check_rule(const struct ctag_rule *r)
{
	FUZZ_CLAIM(r->prefix_bits <= 128);
	FUZZ_CLAIM(!(r->mark & ~r->mark_mask));
	FUZZ_CLAIM(r->every_pkts >= 1 && r->every_pkts <= CTAG_EVERY_MAX_PKTS);
	FUZZ_CLAIM(r->form == CSIG_COMPACT || r->form == CSIG_EXPANDED);
	FUZZ_CLAIM(r->packets == CTAG_DATA || (r->packets == CTAG_PROBES && !r->udp));
	FUZZ_CLAIM(!r->datagrams.counter);
}

static int parse_scales(const char *text, struct csig_scale *scale)
{
	char *copy = exact(text);
	int err = ctag_parse_scales(copy, scale);

	free(copy);
	FUZZ_CLAIM(!err || err == -EINVAL);
	return err;
}

static void check_scale(const struct csig_scale *s)
{
	u32 i;

	FUZZ_CLAIM(s->quantum == 1 && s->edges >= 1 && s->edges <= CSIG_EDGES && s->edge[0]);
	for (i = 1; i < s->edges; i++)
		FUZZ_CLAIM(s->edge[i] > s->edge[i - 1]);
}

/* Words that belong to the texts, and single bytes: more of it is parsed than of random bytes. */
static void draw_text(char *text)
{
	static const char *const words[] = {
		"to", "port", "every", "mark", "udp", "probes", "compact", "expanded", "abw",
		"abw_c", "pd", "pow2", "appendix_a", "10.0.0.1", "2001:db8::", "::ffff:1.2.3.4",
		"/", "0x", "0", "1", "65535", "4294967295", " ", "\t", ";", "\n", "+", "-", ":",
		".", "\r", "\xa0",
	};
	u32 left = fuzz_range(0, 60);

	for (*text = 0; left; left--) {
		const u8 byte = fuzz_byte();

		if (byte < 0xc0)
			append(text, "%s", words[byte % ARRAY_SIZE(words)]);
		else
			append(text, "%c", fuzz_byte());
	}
}

/* Whatever is written there, what was accepted is in its range. */
static void check_any_text(void)
{
	struct csig_scale scale[CSIG_TYPES] = {};
	char text[TEXT_BYTES];
	struct ctag_rule *rule;
	u32 count, i;

	draw_text(text);
	if (!parse_rules(text, &rule, &count))
		for (i = 0; i < count; i++)
			check_rule(&rule[i]);
	free(rule);
	if (!parse_scales(text, scale))
		for (i = 0; i < CSIG_TYPES; i++)
			check_scale(&scale[i]);
}

/* An address and its length; inet_ntop() knows nothing of our parser. */
static void append_prefix(char *text, struct ctag_rule *r, bool bad)
{
	const bool v4 = fuzz_flag();
	const u32 most = v4 ? 32 : 128, bits = fuzz_range(0, most);
	u8 *address = fuzz_buffer(sizeof(r->prefix));
	const u32 how = fuzz_choice(3);
	char word[INET6_ADDRSTRLEN];

	if (v4)
		memcpy(address, &(struct in6_addr) { .s6_addr = { [10] = 0xff, [11] = 0xff } }, 12);
	memcpy(&r->prefix, address, sizeof(r->prefix));
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, word, sizeof(word));
	free(address);
	append(text, "to");
	append_blank(text);
	append(text, "%s", word);
	r->prefix_bits = bits + 128 - most;
	if (bad && !how)
		append(text, "%c/32", "g-%+_,!x"[fuzz_choice(8)]);
	else if (bad && how == 1)
		append(text, "/%u", most + 1 + fuzz_byte());
	else if (bad)
		append(text, v4 ? ":1" : "::");
	else if (bits < most || fuzz_flag())
		append(text, "/%u", bits);
}

static void append_number(char *text, const char *word, u64 value)
{
	append(text, "%s", word);
	append_blank(text);
	append(text, "%s%llu", fuzz_flag() ? "+" : "", value);
}

static void append_every(char *text, struct ctag_rule *r, bool bad)
{
	r->every_pkts = fuzz_range(1, CTAG_EVERY_MAX_PKTS);
	append_number(text, "every", !bad ? r->every_pkts : fuzz_flag() ? 0 :
		      fuzz_range(CTAG_EVERY_MAX_PKTS + 1, 1ULL << 33));
}

static void append_port(char *text, struct ctag_rule *r, bool bad)
{
	const u32 port = fuzz_range(1, U16_MAX);

	r->port = cpu_to_be16(port);
	append_number(text, "port", !bad ? port : fuzz_flag() ? 0 : U16_MAX + port);
}

static void append_mark(char *text, struct ctag_rule *r, bool bad)
{
	/* All bits of the mark must be in the mask; a bad mark has one more. */
	r->mark_mask = fuzz_u32() & (bad ? U32_MAX >> 1 : U32_MAX);
	r->mark = fuzz_u32() & r->mark_mask;
	append(text, "mark ");
	append(text, fuzz_flag() ? "%#x" : fuzz_flag() ? "%#o" : "%u", r->mark | (u32)bad << 31);
	if (bad || r->mark_mask != U32_MAX || fuzz_flag())
		append(text, fuzz_flag() ? "/%#x" : "/%u", r->mark_mask);
}

/* A word alone; bad: one that does not exist, one without its value, or probes of datagrams. */
static void append_word(char *text, struct ctag_rule *r, bool bad)
{
	static const char *const bads[] = { "to", "port", "often 1", "expand", "udp probes" };

	switch (fuzz_choice(4)) {
	case 0:
		r->form = CSIG_EXPANDED;
		append(text, "expanded");
		break;
	case 1:
		r->form = CSIG_COMPACT;
		append(text, "compact");
		break;
	case 2:
		if (!r->udp) {
			r->packets = CTAG_PROBES;
			append(text, "probes");
		}
		break;
	default:
		if (r->packets == CTAG_DATA) {
			r->udp = true;
			append(text, "udp");
		}
	}
	if (bad)
		append(text, " %s", bads[fuzz_choice(ARRAY_SIZE(bads))]);
}

/* Draw a rule and write it; if @bad, its last words are wrong. */
static void append_rule(char *text, struct ctag_rule *r, bool bad)
{
	static void (*const part[])(char *, struct ctag_rule *, bool) = {
		append_prefix, append_every, append_port, append_mark, append_word,
	};
	u32 left = fuzz_range(1, 3);

	*r = (struct ctag_rule) { .every_pkts = 1, .form = CSIG_COMPACT };
	while (left--) {
		part[fuzz_choice(ARRAY_SIZE(part))](text, r, bad && !left);
		append_blank(text);
	}
}

static bool is_same_rule(const struct ctag_rule *a, const struct ctag_rule *b)
{
	return !memcmp(&a->prefix, &b->prefix, sizeof(a->prefix)) &&
	       a->prefix_bits == b->prefix_bits && a->port == b->port && a->mark == b->mark &&
	       a->mark_mask == b->mark_mask && a->every_pkts == b->every_pkts &&
	       a->packets == b->packets && a->form == b->form && a->udp == b->udp;
}

/* With @short_rules there is room for one rule too many. */
static void check_rules(void)
{
	const bool short_rules = fuzz_flag(), bad = !short_rules && fuzz_flag();
	const u32 wanted = fuzz_range(1, short_rules ? CTAG_RULES_MAX + 1 : 4);
	struct ctag_rule drawn[CTAG_RULES_MAX + 1] = {}, *rule;
	char text[TEXT_BYTES] = "";
	u32 count, i;
	int err;

	for (i = 0; i < wanted; i++) {
		if (short_rules)
			drawn[i] = (struct ctag_rule) { .every_pkts = 1, .form = CSIG_COMPACT };
		if (short_rules)
			append_port(text, &drawn[i], false);
		else
			append_rule(text, &drawn[i], bad && i + 1 == wanted);
		if (i + 1 < wanted || fuzz_flag())
			append_separator(text);
	}
	err = parse_rules(text, &rule, &count);
	FUZZ_CLAIM(err == (bad ? -EINVAL : wanted > CTAG_RULES_MAX ? -E2BIG : 0));
	for (i = 0; i < wanted && !err; i++)
		FUZZ_CLAIM(count == wanted && is_same_rule(&rule[i], &drawn[i]));
	free(rule);
}

/* Edges that ascend; bad: one too many, or two that do not. */
static void append_edges(char *text, struct csig_scale *s, bool bad)
{
	const bool many = bad && fuzz_flag();
	u32 i, last = 0;

	s->edges = many ? CSIG_EDGES : fuzz_range(1, CSIG_EDGES);
	for (i = 0; i < s->edges; i++) {
		last += fuzz_range(1, U32_MAX / CSIG_EDGES - 1);
		s->edge[i] = last;
		append(text, "%u ", last);
	}
	if (bad)
		append(text, "%u", many ? last + 1 : last);
}

static void append_pow2(char *text, struct csig_scale *s, bool bad)
{
	const u32 base = fuzz_range(2, TC_CSIG_POW2_BASE_MAX);

	s->edges = CSIG_EDGES;
	tc_csig_pow2(s->edge, base);
	if (bad && fuzz_flag())
		append(text, "pow2 %u 1", base);
	else if (bad)
		append(text, "pow2 %llu", fuzz_flag() ? fuzz_choice(2) :
		       fuzz_range(TC_CSIG_POW2_BASE_MAX + 1, 1ULL << 33));
	else
		append(text, "pow2 %u", base);
}

static void append_scale(char *text, struct csig_scale *scale, bool bad)
{
	const u32 type = fuzz_choice(CSIG_TYPES), how = fuzz_choice(3);
	struct csig_scale *s = &scale[type];

	append(text, "%s", signals[type]);
	append_blank(text);
	if (how == 1)
		append_pow2(text, s, bad);
	else if (how == 2)
		append_edges(text, s, bad);
	else
		append(text, "appendix_a%s", bad ? " 1" : "");
	if (!how) {
		s->edges = TC_CSIG_APPENDIX_A_EDGES;
		tc_csig_appendix_a(s->edge, type);
	}
}

static void check_scales(void)
{
	struct csig_scale drawn[CSIG_TYPES], scale[CSIG_TYPES] = {};
	u32 i, wanted = fuzz_range(0, 2);
	char text[TEXT_BYTES] = "";
	const bool bad = fuzz_flag();
	int err;

	ctag_default_scales(drawn);
	for (i = 0; i < wanted; i++) {
		append_scale(text, drawn, bad && i + 1 == wanted);
		append_separator(text);
	}
	err = parse_scales(text, scale);
	FUZZ_CLAIM(err == (bad && wanted ? -EINVAL : 0));
	for (i = 0; i < CSIG_TYPES && !err; i++)
		FUZZ_CLAIM(scale[i].edges == drawn[i].edges &&
			   !memcmp(scale[i].edge, drawn[i].edge, drawn[i].edges * sizeof(u32)));
}

/* A name is found if it is in the list, and only then, whatever the other names start with. */
static void check_names(void)
{
	static const char *const names[] = { "csig", "csig2", "xcsig", "csi", "*" };
	const char *wanted = names[fuzz_choice(ARRAY_SIZE(names))];
	u32 left = fuzz_range(0, 6);
	char text[TEXT_BYTES] = "";
	bool has = false;
	char *copy;

	while (left--) {
		const char *name = names[fuzz_choice(ARRAY_SIZE(names))];

		append(text, "%.*s%s", (int)fuzz_range(0, 3), " ,\t", name);
		append(text, "%c", " ,\n\t"[fuzz_choice(4)]);
		has |= !strcmp(name, wanted);
	}
	copy = exact(text);
	FUZZ_CLAIM(hop_names_has(copy, wanted) == has);
	free(copy);
}

static void fuzz_once(void)
{
	static void (*const check[])(void) = {
		check_any_text, check_rules, check_scales, check_names,
	};

	check[fuzz_choice(ARRAY_SIZE(check))]();
}
