// SPDX-License-Identifier: GPL-2.0
/* Telemetry of other switches in packets; see int_foreign.h. */
#include "int_foreign.h"
#include "int_packet.h"

#define SINT_TCP_MIN_BYTES	20
#define SINT_UDP_BYTES		8

/* A cause as the return value of the functions below; 0: the data was written */
#define SINT_REFUSED(cause) (1 + TC_INT_REFUSED_##cause)

static bool sint_ip_read_v4(const struct iphdr *ip, struct sint_ip *i)
{
	if (!ip || ip->version != 4 || ip->ihl < 5 || ntohs(ip->tot_len) < ip->ihl * 4)
		return false;
	i->next_bytes = i->ip_bytes + ip->ihl * 4;
	i->end_bytes = i->ip_bytes + ntohs(ip->tot_len);
	i->next = ip->protocol;
	i->dscp = ip->tos >> 2;
	i->ttl = ip->ttl;
	i->is_v6 = false;
	i->is_fragment = ip->frag_off & htons(IP_MF | IP_OFFSET);
	return true;
}

static bool sint_ip_read_v6(const struct ipv6hdr *ip, struct sint_ip *i)
{
	if (!ip || ip->version != 6)
		return false;
	i->next_bytes = i->ip_bytes + (int)sizeof(*ip);
	i->end_bytes = i->next_bytes + ntohs(ip->payload_len);
	i->next = ip->nexthdr;
	i->dscp = ipv6_get_dsfield(ip) >> 2;
	i->ttl = ip->hop_limit;
	i->is_v6 = true;
	i->is_fragment = false;
	return true;
}

bool sint_ip_read(const struct sk_buff *skb, struct sint_ip *i)
{
	const __be16 type = hop_pkt_ip_offset(skb, &i->ip_bytes);
	bool is_ip = false;

	if (type == htons(ETH_P_IP))
		is_ip = sint_ip_read_v4(hop_pkt_linear(skb, i->ip_bytes, sizeof(struct iphdr)), i);
	else if (type == htons(ETH_P_IPV6))
		is_ip = sint_ip_read_v6(hop_pkt_linear(skb, i->ip_bytes, sizeof(struct ipv6hdr)),
					i);
	return is_ip && i->end_bytes <= (int)skb->len;
}

unsigned int sint_foreign_format(const struct sint_ip *i, const struct sint_foreign_params *p)
{
	if (p->formats & 1U << TC_INT_FORMAT_IFA && i->next == IFA_PROTOCOL)
		return TC_INT_FORMAT_IFA;
	if (p->formats & 1U << TC_INT_FORMAT_IOAM && i->is_v6 && i->next == NEXTHDR_HOP)
		return TC_INT_FORMAT_IOAM;
	if (p->formats & 1U << TC_INT_FORMAT_INTMD && i->dscp == p->dscp_intmd &&
	    (i->next == IPPROTO_TCP || i->next == IPPROTO_UDP))
		return TC_INT_FORMAT_INTMD;
	return TC_INT_FORMATS;
}

/* Return: bytes of the frame, in the linear part now; NULL if it ends before, or without memory */
static u8 *sint_pull(struct sk_buff *skb, int offset_bytes, int bytes)
{
	return pskb_may_pull(skb, offset_bytes + bytes) ? skb->data + offset_bytes : NULL;
}

/* Return: 0 if the packet may grow by @more_bytes, or the cause for which it may not */
static unsigned int sint_may_grow(const struct sk_buff *skb, const struct sint_ip *i,
				  u32 more_bytes)
{
	if (i->is_fragment)
		return SINT_REFUSED(FRAGMENT);
	/* Segmentation and the device's checksum would take the metadata for data. */
	if (skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL)
		return SINT_REFUSED(OFFLOAD);
	if (i->end_bytes - i->ip_bytes + more_bytes > i->mtu_bytes)
		return SINT_REFUSED(MTU);
	return 0;
}

/* IPv4's checksum follows the change, and a header that was damaged before stays so. */
static void sint_grow_ip(struct sk_buff *skb, const struct sint_ip *i, u32 more_bytes)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)(skb->data + i->ip_bytes);
	struct iphdr *ip = (struct iphdr *)(skb->data + i->ip_bytes);
	__be16 before;

	if (i->is_v6) {
		ip6->payload_len = htons(ntohs(ip6->payload_len) + more_bytes);
		return;
	}
	before = ip->tot_len;
	ip->tot_len = htons(ntohs(before) + more_bytes);
	csum_replace2(&ip->check, before, ip->tot_len);
}

/*
 * Insert @more_bytes, not initialised, at @at_bytes of the frame, and update the IP header.
 *
 * Return: false if there is no headroom and no memory; the packet is then unchanged.
 */
static bool sint_grow(struct sk_buff *skb, const struct sint_ip *i, int at_bytes, u32 more_bytes)
{
	const int network_bytes = skb_network_offset(skb);
	const int transport_bytes = skb_transport_offset(skb);
	const bool has_transport = skb_transport_header_was_set(skb);

	if (!sint_pull(skb, 0, at_bytes) || skb_cow_head(skb, more_bytes))
		return false;
	skb_push(skb, more_bytes);
	memmove(skb->data, skb->data + more_bytes, at_bytes);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, network_bytes);
	if (has_transport)
		skb_set_transport_header(skb, transport_bytes);
	hop_pkt_forget_sum(skb);
	sint_grow_ip(skb, i, more_bytes);
	return true;
}

/* Return: 0 if the metadata of this hop was inserted into an IFA packet, or the cause why not */
static unsigned int sint_write_ifa(struct sk_buff *skb, const struct sint_ip *i,
				   const struct sint_node *n)
{
	const int room_bytes = i->end_bytes - i->next_bytes;
	struct ifa_view v;
	unsigned int why;
	const u8 *packet;
	int at_bytes;

	if (i->is_fragment)
		return SINT_REFUSED(FRAGMENT);
	packet = sint_pull(skb, i->next_bytes, min_t(int, room_bytes, SINT_IFA_LOOK_BYTES));
	if (!packet)
		return SINT_REFUSED(UNWRITABLE);
	if (hop_ifa_parse(&v, packet, room_bytes))
		return SINT_REFUSED(MALFORMED);
	if (!ifa_may_insert(&v, SINT_IFA_WORDS))
		return SINT_REFUSED(LIMIT);
	why = sint_may_grow(skb, i, SINT_IFA_BYTES);
	if (why)
		return why;
	at_bytes = i->next_bytes + v.stack_offset;
	if (!sint_grow(skb, i, at_bytes, SINT_IFA_BYTES))
		return SINT_REFUSED(UNWRITABLE);
	ifa_count((struct ifa_md *)(skb->data + i->next_bytes + v.md_offset), SINT_IFA_WORDS);
	sint_ifa_node(skb->data + at_bytes, n);
	return 0;
}

/* Return: 0 if this hop's data in an IOAM trace is complete now, or the cause why not */
static unsigned int sint_write_ioam(struct sk_buff *skb, const struct sint_ip *i,
				    const struct sint_node *n)
{
	const int room_bytes = i->end_bytes - i->next_bytes;
	enum ioam_fault fault;
	struct ioam_view v;
	const u8 *hdr;

	hdr = sint_pull(skb, i->next_bytes, min_t(int, room_bytes, IOAM_HBH_BYTES));
	if (hdr && room_bytes >= (int)IOAM_HBH_BYTES)
		hdr = sint_pull(skb, i->next_bytes, min_t(int, room_bytes, (hdr[1] + 1) * 8));
	if (!hdr)
		return SINT_REFUSED(UNWRITABLE);
	fault = hop_ioam_parse(&v, hdr, room_bytes);
	if (fault)
		return fault == IOAM_NONE ? SINT_NO_FORMAT : SINT_REFUSED(MALFORMED);
	if (!sint_ioam_is_ours(&v, hdr, n))
		return SINT_REFUSED(OTHER_NODE);
	if (!hop_pkt_writable(skb, i->next_bytes + v.hdr_bytes))
		return SINT_REFUSED(UNWRITABLE);
	sint_ioam_write(&v, skb->data + i->next_bytes, n);
	hop_pkt_forget_sum(skb);
	return 0;
}

/* Return: offset of the payload of TCP or UDP, with its header in the linear part now; 0 if none */
static int sint_payload_offset(struct sk_buff *skb, const struct sint_ip *i)
{
	const struct tcphdr *th;
	int bytes = SINT_UDP_BYTES;

	if (i->next == IPPROTO_TCP) {
		th = (struct tcphdr *)sint_pull(skb, i->next_bytes, SINT_TCP_MIN_BYTES);
		bytes = th ? th->doff * 4 : 0;
		if (bytes < SINT_TCP_MIN_BYTES)
			return 0;
	}
	if (i->next_bytes + bytes > i->end_bytes || !sint_pull(skb, i->next_bytes, bytes))
		return 0;
	return i->next_bytes + bytes;
}

/* Return: the checksum field of TCP or UDP; NULL if UDP has none */
static __sum16 *sint_l4_check(struct sk_buff *skb, const struct sint_ip *i)
{
	u8 *l4 = skb->data + i->next_bytes;

	if (i->next == IPPROTO_TCP)
		return &((struct tcphdr *)l4)->check;
	return ((struct udphdr *)l4)->check ? &((struct udphdr *)l4)->check : NULL;
}

/* Add @more, the sum of new words minus that of old ones, to the checksum of TCP or UDP. */
static void sint_add_check(struct sk_buff *skb, const struct sint_ip *i, __wsum more)
{
	__sum16 *check = sint_l4_check(skb, i);

	if (!check)
		return;
	*check = csum_fold(csum_add(~csum_unfold(*check), more));
	if (i->next == IPPROTO_UDP && !*check)
		*check = CSUM_MANGLED_0;
}

/* Set a flag of INT-MD's header if the bytes can be written. Return: @why */
static unsigned int sint_flag_intmd(struct sk_buff *skb, const struct sint_ip *i, int shim_bytes,
				    u32 flag, unsigned int why)
{
	struct intmd_hdr *h;
	__be32 before;

	if (i->is_fragment || skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL ||
	    !hop_pkt_writable(skb, shim_bytes + INTMD_STACK_OFFSET))
		return why;
	h = (struct intmd_hdr *)(skb->data + shim_bytes);
	before = h->first;
	h->first |= cpu_to_be32(flag << 25);
	sint_add_check(skb, i, csum_sub((__force __wsum)h->first, (__force __wsum)before));
	hop_pkt_forget_sum(skb);
	return why;
}

/* Write this hop's metadata and the headers around it; the packet has grown. */
static void sint_put_intmd(struct sk_buff *skb, const struct sint_ip *i, int shim_bytes,
			   const struct intmd_view *v, const struct sint_node *n)
{
	const u32 more_bytes = v->hop_words * INTMD_WORD_BYTES;
	struct intmd_hdr *h = (struct intmd_hdr *)(skb->data + shim_bytes);
	struct udphdr *uh = (struct udphdr *)(skb->data + i->next_bytes);
	const __wsum before = csum_partial(h, INTMD_STACK_OFFSET, 0);
	u8 *at = skb->data + shim_bytes + INTMD_STACK_OFFSET;
	/* TCP's and UDP's length is in the pseudo-header. */
	__wsum more = (__force __wsum)htonl(more_bytes);

	sint_intmd_node(at, v, n);
	h->words += v->hop_words;
	h->first = cpu_to_be32(be32_to_cpu(h->first) - 1);
	more = csum_add(more, csum_sub(csum_partial(h, INTMD_STACK_OFFSET, 0), before));
	more = csum_add(more, csum_partial(at, more_bytes, 0));
	if (i->next == IPPROTO_UDP) {
		/* The length is in UDP's header, too. */
		more = csum_add(more, (__force __wsum)htonl(more_bytes));
		uh->len = htons(ntohs(uh->len) + more_bytes);
	}
	sint_add_check(skb, i, more);
}

/* Return: true if UDP's length is that of the IP packet, which an inserted stack keeps */
static bool sint_udp_is_whole(const struct sk_buff *skb, const struct sint_ip *i)
{
	const struct udphdr *uh = (const struct udphdr *)(skb->data + i->next_bytes);

	return i->next != IPPROTO_UDP || ntohs(uh->len) == i->end_bytes - i->next_bytes;
}

/* Return: true for a probe or an answer without INT-MD, whose connection has the DSCP of INT-MD */
static bool sint_is_plain_control(const struct sk_buff *skb, const struct sint_ip *i,
				  int payload_bytes)
{
	const struct sint_marked *m = (const struct sint_marked *)(skb->data + i->next_bytes);

	if (i->next != IPPROTO_TCP || payload_bytes - i->next_bytes < (int)sizeof(*m))
		return false;
	if (m->mark == htonl(INT_MARK_ECHO))
		return sint_is_message(skb, payload_bytes, i->end_bytes);
	return m->mark == htonl(INT_MARK_PROBE) &&
	       sint_is_message(skb, payload_bytes, i->end_bytes - INT_TERMS_BYTES);
}

/* Return: 0 if the metadata of this hop was inserted into a packet with INT-MD, or the cause */
static unsigned int sint_write_intmd(struct sk_buff *skb, const struct sint_ip *i,
				     const struct sint_node *n)
{
	struct intmd_view v;
	int shim_bytes, room_bytes;
	unsigned int why;
	const u8 *shim;

	if (i->is_fragment)
		return SINT_REFUSED(FRAGMENT);
	shim_bytes = sint_payload_offset(skb, i);
	room_bytes = i->end_bytes - shim_bytes;
	/* A segment without data, as a SYN or an ACK, has no room for a shim. */
	if (!shim_bytes || !room_bytes || !sint_udp_is_whole(skb, i))
		return SINT_REFUSED(MALFORMED);
	shim = sint_pull(skb, shim_bytes, min_t(int, room_bytes, INTMD_STACK_OFFSET));
	if (!shim)
		return SINT_REFUSED(UNWRITABLE);
	if (sint_is_plain_control(skb, i, shim_bytes))
		return SINT_NO_FORMAT;
	if (hop_intmd_parse(&v, shim, room_bytes))
		return SINT_REFUSED(MALFORMED);
	if (!v.remaining_hops || ((const struct intmd_hdr *)shim)->words + v.hop_words >
				 INTMD_WORDS_MAX)
		return sint_flag_intmd(skb, i, shim_bytes, INTMD_FLAG_E, SINT_REFUSED(LIMIT));
	why = sint_may_grow(skb, i, v.hop_words * INTMD_WORD_BYTES);
	if (why == SINT_REFUSED(MTU))
		return sint_flag_intmd(skb, i, shim_bytes, INTMD_FLAG_M, why);
	if (why)
		return why;
	if (!sint_grow(skb, i, shim_bytes + INTMD_STACK_OFFSET, v.hop_words * INTMD_WORD_BYTES))
		return SINT_REFUSED(UNWRITABLE);
	sint_put_intmd(skb, i, shim_bytes, &v, n);
	return 0;
}

unsigned int sint_foreign_write(struct sk_buff *skb, const struct sint_ip *i, unsigned int format,
				const struct sint_node *n)
{
	/* pktgen holds a reference: its packets cannot be moved or copied. */
	if (skb_shared(skb))
		return SINT_REFUSED(UNWRITABLE);
	switch (format) {
	case TC_INT_FORMAT_IFA:
		return sint_write_ifa(skb, i, n);
	case TC_INT_FORMAT_IOAM:
		return sint_write_ioam(skb, i, n);
	default:
		return sint_write_intmd(skb, i, n);
	}
}
