/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of net.hopcc.csig_rules and csig_buckets: what a user writes becomes rules and scales. Each
 * function modifies the text that it parses.
 */
#ifndef HOPCC_NET_CSIG_TAG_CSIG_TEXT_H
#define HOPCC_NET_CSIG_TAG_CSIG_TEXT_H

#include <linux/in6.h>
#include <linux/types.h>
#include <hopcc/wire/csig.h>

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

/**
 * ctag_parse_rules() - parse rules that are separated by semicolons or newlines
 * @text: the rules
 * @rule: result, CTAG_RULES_MAX rules
 * @count: result: number of rules
 *
 * Return: 0, -EINVAL or -E2BIG
 */
int ctag_parse_rules(char *text, struct ctag_rule *rule, u32 *count);

/**
 * ctag_parse_scales() - parse scales that are separated by semicolons or newlines
 * @text: the scales
 * @scale: result, a scale for each signal; the defaults for signals that @text does not name
 *
 * Return: 0 or -EINVAL
 */
int ctag_parse_scales(char *text, struct csig_scale *scale);

#endif /* HOPCC_NET_CSIG_TAG_CSIG_TEXT_H */
