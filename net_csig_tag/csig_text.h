/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of net.hopcc.csig_rules and csig_buckets: what a user writes becomes rules and scales. Each
 * function modifies the text that it parses.
 */
#ifndef HOPCC_NET_CSIG_TAG_CSIG_TEXT_H
#define HOPCC_NET_CSIG_TAG_CSIG_TEXT_H

#include <linux/errno.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/wire/csig.h>
#include <uapi/linux/pkt_sched_csig.h>

#define CTAG_RULES_MAX		16
#define CTAG_EVERY_MAX_PKTS	1000000U
#define CTAG_V4_MAPPED_BITS	96

/**
 * enum ctag_packets - packets of a flow that carry tags (7.3)
 * @CTAG_DATA: every n-th packet with data
 * @CTAG_PROBES: packets without new data: ACKs, keep-alives, window probes
 */
enum ctag_packets {
	CTAG_DATA,
	CTAG_PROBES,
};

/**
 * struct ctag_rule - rule that selects flows that carry tags
 * @prefix: prefix of the destinations; IPv4 is v4-mapped
 * @prefix_bits: length of @prefix
 * @port: destination port
 * @mark: mark of the socket
 * @mark_mask: bits of the mark to compare; 0: any mark
 * @every_pkts: every n-th packet carries a tag
 * @packets: enum ctag_packets
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @udp: the rule is for UDP, not for TCP
 * @datagrams: number of UDP datagrams that matched on output
 */
struct ctag_rule {
	struct in6_addr prefix;
	u8 prefix_bits;
	__be16 port;
	u32 mark;
	u32 mark_mask;
	u32 every_pkts;
	u8 packets;
	u8 form;
	bool udp;
	atomic_t datagrams;
};

/*
 * in4_pton() and in6_pton() take any character that is no part of an address for its end, and a
 * colon for the end of an IPv4 address: only the end of the text may end it here.
 *
 * Return: the number of bits of the address, or 0 if it is invalid
 */
static inline u32 ctag_parse_address(const char *text, struct in6_addr *addr)
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
static inline int ctag_parse_prefix(char *text, struct ctag_rule *r)
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
static inline int ctag_parse_mark(char *text, struct ctag_rule *r)
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
static inline int ctag_parse_pair(const char *word, char *value, struct ctag_rule *r)
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
static inline char *ctag_next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t");
	} while (word && !*word);
	return word;
}

static inline int ctag_parse_rule(char *text, struct ctag_rule *r)
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

/**
 * ctag_parse_rules() - parse rules that are separated by semicolons or newlines
 * @text: the rules
 * @rule: result, CTAG_RULES_MAX rules
 * @count: result: number of rules
 *
 * Return: 0, -EINVAL or -E2BIG
 */
static inline int ctag_parse_rules(char *text, struct ctag_rule *rule, u32 *count)
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

static inline void ctag_use_pow2(struct csig_scale *scale, u32 base)
{
	scale->edges = CSIG_EDGES;
	tc_csig_pow2(scale->edge, base);
}

/* Parses a list of edges, or the name of a rule for them. */
static inline int ctag_parse_edges(char *text, u32 type, struct csig_scale *scale)
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

static inline int ctag_parse_signal(char *text, struct csig_scale *scale)
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
static inline void ctag_default_scales(struct csig_scale *scale)
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

/**
 * ctag_parse_scales() - parse scales that are separated by semicolons or newlines
 * @text: the scales
 * @scale: result, a scale for each signal; the defaults for signals that @text does not name
 *
 * Return: 0 or -EINVAL
 */
static inline int ctag_parse_scales(char *text, struct csig_scale *scale)
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

#endif /* HOPCC_NET_CSIG_TAG_CSIG_TEXT_H */
