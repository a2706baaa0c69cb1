// SPDX-License-Identifier: GPL-2.0
/* Texts of net.hopcc.csig_rules and csig_buckets; see csig_text.h. */

#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <uapi/linux/pkt_sched_csig.h>

#include "csig_text.h"

/*
 * in4_pton() and in6_pton() take any character that is no part of an address for its end, and a
 * colon for the end of an IPv4 address: only the end of the text may end it here.
 *
 * Return: the number of bits of the address, or 0 if it is invalid
 */
static u32 ctag_parse_address(const char *text, struct in6_addr *addr)
{
	const char *end;

	if (in4_pton(text, -1, &addr->s6_addr[12], 0, &end)) {
		addr->s6_addr[10] = 0xff;
		addr->s6_addr[11] = 0xff;
		return *end ? 0 : 32;
	}
	return in6_pton(text, -1, addr->s6_addr, 0, &end) && !*end ? 128 : 0;
}

/* ADDRESS[/BITS] */
static int ctag_parse_prefix(char *text, struct ctag_rule *r)
{
	char *slash = strchr(text, '/');
	u32 bits, most;

	if (slash)
		*slash++ = 0;
	r->prefix = (struct in6_addr) {};
	most = ctag_parse_address(text, &r->prefix);
	bits = most;
	if (!most || (slash && (kstrtou32(slash, 10, &bits) || bits > most)))
		return -EINVAL;
	r->prefix_bits = most == 32 ? CTAG_V4_MAPPED_BITS + bits : bits;
	return 0;
}

/* VALUE[/MASK] */
static int ctag_parse_mark(char *text, struct ctag_rule *r)
{
	char *slash = strchr(text, '/');

	r->mark_mask = U32_MAX;
	if (slash)
		*slash++ = 0;
	if (kstrtou32(text, 0, &r->mark) || (slash && kstrtou32(slash, 0, &r->mark_mask)))
		return -EINVAL;
	return r->mark & ~r->mark_mask ? -EINVAL : 0;
}

/* Parses a keyword that is followed by a value. */
static int ctag_parse_pair(const char *word, char *value, struct ctag_rule *r)
{
	u16 port;

	if (!strcmp(word, "to"))
		return ctag_parse_prefix(value, r);
	if (!strcmp(word, "mark"))
		return ctag_parse_mark(value, r);
	if (!strcmp(word, "port")) {
		if (kstrtou16(value, 10, &port) || !port)
			return -EINVAL;
		r->port = cpu_to_be16(port);
		return 0;
	}
	if (strcmp(word, "every") || kstrtou32(value, 10, &r->every_pkts) || !r->every_pkts ||
	    r->every_pkts > CTAG_EVERY_MAX_PKTS)
		return -EINVAL;
	return 0;
}

/* Return: the next word of a list separated by blanks, or NULL; modifies @rest. */
static char *ctag_next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t");
	} while (word && !*word);
	return word;
}

static int ctag_parse_rule(char *text, struct ctag_rule *r)
{
	char *word, *value;
	int err = 0;

	*r = (struct ctag_rule) { .every_pkts = 1, .form = CSIG_COMPACT };
	while (!err && (word = ctag_next_word(&text))) {
		if (!strcmp(word, "compact")) {
			r->form = CSIG_COMPACT;
		} else if (!strcmp(word, "expanded")) {
			r->form = CSIG_EXPANDED;
		} else if (!strcmp(word, "udp")) {
			r->udp = true;
		} else if (!strcmp(word, "probes")) {
			r->packets = CTAG_PROBES;
		} else {
			value = ctag_next_word(&text);
			err = value ? ctag_parse_pair(word, value, r) : -EINVAL;
		}
	}
	/* Datagrams have no probe packets. */
	return r->udp && r->packets == CTAG_PROBES ? -EINVAL : err;
}

int ctag_parse_rules(char *text, struct ctag_rule *rule, u32 *count)
{
	char *one;
	int err;

	*count = 0;
	while ((one = strsep(&text, ";\n"))) {
		one = strim(one);
		if (!*one)
			continue;
		if (*count == CTAG_RULES_MAX)
			return -E2BIG;
		err = ctag_parse_rule(one, &rule[(*count)++]);
		if (err)
			return err;
	}
	return 0;
}

static void ctag_use_pow2(struct csig_scale *scale, u32 base)
{
	scale->edges = CSIG_EDGES;
	tc_csig_pow2(scale->edge, base);
}

/* Parses a list of edges, or the name of a rule for them. */
static int ctag_parse_edges(char *text, u32 type, struct csig_scale *scale)
{
	char *word = ctag_next_word(&text);
	u32 base;

	if (word && !strcmp(word, "appendix_a")) {
		scale->edges = TC_CSIG_APPENDIX_A_EDGES;
		tc_csig_appendix_a(scale->edge, type);
		return ctag_next_word(&text) ? -EINVAL : 0;
	}
	if (word && !strcmp(word, "pow2")) {
		word = ctag_next_word(&text);
		if (!word || kstrtou32(word, 10, &base) || base < 2 || base > TC_CSIG_POW2_BASE_MAX)
			return -EINVAL;
		ctag_use_pow2(scale, base);
		return ctag_next_word(&text) ? -EINVAL : 0;
	}
	for (scale->edges = 0; word; word = ctag_next_word(&text))
		if (scale->edges == CSIG_EDGES ||
		    kstrtou32(word, 10, &scale->edge[scale->edges++]))
			return -EINVAL;
	return scale->edges ? 0 : -EINVAL;
}

static int ctag_parse_signal(char *text, struct csig_scale *scale)
{
	static const char *const names[CSIG_TYPES] = {
		[CSIG_ABW] = "abw",
		[CSIG_ABW_C] = "abw_c",
		[CSIG_PD] = "pd",
	};
	char *word = ctag_next_word(&text);
	u32 type;
	int err;

	for (type = 0; type < CSIG_TYPES; type++)
		if (word && !strcmp(word, names[type]))
			break;
	if (type == CSIG_TYPES || !text)
		return -EINVAL;
	err = ctag_parse_edges(text, type, &scale[type]);
	return err ?: csig_scale_ok(&scale[type]) ? 0 : -EINVAL;
}

/* The defaults are those of tc's csig. */
static void ctag_default_scales(struct csig_scale *scale)
{
	static const u32 pow2_bases[CSIG_TYPES] = {
		TC_CSIG_POW2_DEFAULT_KBIT_PS, TC_CSIG_POW2_DEFAULT_PPM, TC_CSIG_POW2_DEFAULT_NS,
	};
	u32 type;

	for (type = 0; type < CSIG_TYPES; type++) {
		scale[type].quantum = 1;
		ctag_use_pow2(&scale[type], pow2_bases[type]);
	}
}

int ctag_parse_scales(char *text, struct csig_scale *scale)
{
	char *one;
	int err = 0;

	ctag_default_scales(scale);
	while (!err && (one = strsep(&text, ";\n"))) {
		one = strim(one);
		if (*one)
			err = ctag_parse_signal(one, scale);
	}
	return err;
}
