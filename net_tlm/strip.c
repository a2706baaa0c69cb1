// SPDX-License-Identifier: GPL-2.0
/*
 * Data into which switches of other vendors have inserted telemetry: the host is the terminator,
 * and removes it in front of conntrack, the firewall and TCP.
 *
 *	IFA	[IP, protocol 253][IFA header][TCP or UDP][metadata header, metadata][data]
 *	INT-MD	[IP, DSCP: mark of INT][TCP][shim, header, metadata][data]
 *
 * Nothing proves who inserted it, and nothing needs to: an attacker who sends such a packet could
 * as well send TCP with the same addresses, ports and data, which is what TCP and all filters
 * behind this hook then see. For filters in front of it, see hop_filter_misses_input() and
 * hop_input_show(); INT-MD does not hide TCP's header from them. The metadata itself is used only
 * in a connection that has negotiated telemetry, and only if the sequence and acknowledgment
 * numbers are within its windows.
 *
 * A packet is changed only after all lengths were checked and all its headers are writable.
 */
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_input.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "net_tlm.h"

/* Sets the DSCP of a packet whose IP header is writable. */
void ntlm_set_dscp(struct sk_buff *skb, u8 dscp)
{
	const unsigned int bytes = sizeof(__be32);

	/* IPv4's header checksum keeps the sum over the packet unchanged. */
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv4_change_dsfield(ip_hdr(skb), INET_ECN_MASK, dscp << 2);
		return;
	}
	skb_postpull_rcsum(skb, skb->data, bytes);
	ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, dscp << 2);
	skb_postpush_rcsum(skb, skb->data, bytes);
}

/* Return: true if TCP's checksum is wrong for a segment of @bytes that add up to @sum. */
static bool ntlm_is_wrong(const struct sk_buff *skb, unsigned int bytes, __wsum sum)
{
	if (skb->protocol == htons(ETH_P_IP))
		return tcp_v4_check(bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, sum);
#if IS_ENABLED(CONFIG_IPV6)
	return tcp_v6_check(bytes, &ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, sum);
#else
	return true;
#endif
}

/*
 * Return: true if TCP's checksum is wrong for the segment without what is between its header, of
 * @tcp_bytes at @tcp_at, and @payload_at. Offsets are from skb->data.
 */
static bool ntlm_is_mangled_without(const struct sk_buff *skb, unsigned int tcp_at,
				    unsigned int tcp_bytes, unsigned int payload_at)
{
	const unsigned int payload_bytes = skb->len - payload_at;

	/* The device that sends it was to compute the checksum. */
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return false;
	return ntlm_is_wrong(skb, tcp_bytes + payload_bytes,
			     csum_block_add(skb_checksum(skb, tcp_at, tcp_bytes, 0),
					    skb_checksum(skb, payload_at, payload_bytes, 0),
					    tcp_bytes));
}

/*
 * IOAM: reads the trace of a TCP segment, whose headers are linear. It stays in the packet: TCP
 * skips it, and GRO is in front of this hook.
 */
void ntlm_read_ioam_data(const struct net *net, struct sk_buff *skb, unsigned int tcp_at)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + tcp_at);
	struct int_flow *f;

	if (skb->protocol != htons(ETH_P_IPV6) || ipv6_hdr(skb)->nexthdr != NEXTHDR_HOP ||
	    !ntlm_reads(net, TLM_IOAM))
		return;
	f = nint_vendor_reader(skb, th);
	if (!f)
		return;
	if (hop_input_is_mangled(skb, th))
		ntlm_count(net, INT_COUNT_IN_BAD_SUM);
	else
		ntlm_collect_ioam(net, skb, tcp_at, f, INT_COUNT_IN_DATA_TLM);
}

/* TCP's checksum was verified, or corrected for what was removed. */
static void ntlm_set_verified(struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
}

/*
 * IFA: reads the metadata of a TCP segment, from @ifa_at on. @count: counter of success. Return:
 * -EBADMSG if TCP's checksum is wrong, otherwise as ntlm_collect().
 */
static int ntlm_read_ifa(const struct net *net, const struct sk_buff *skb, unsigned int ifa_at,
			 const struct ifa_view *v, struct int_flow *f, unsigned int count)
{
	struct tlm_stack s;

	if (ntlm_is_mangled_without(skb, ifa_at + IFA_HDR_BYTES, v->l4_bytes,
				    ifa_at + v->stack_offset + v->stack_bytes)) {
		ntlm_count(net, INT_COUNT_IN_BAD_SUM);
		return -EBADMSG;
	}
	ntlm_stack_ifa(&s, v, skb->data + ifa_at);
	return ntlm_collect(net, f, &s, count);
}

/* Return: true if the metadata of data was to be read, and TCP's checksum was verified for that. */
static bool ntlm_read_ifa_data(const struct net *net, struct sk_buff *skb, unsigned int ifa_at,
			       const struct ifa_view *v)
{
	struct int_flow *f;

	if (v->next != IFA_NEXT_TCP)
		return false;
	f = nint_vendor_reader(skb, (const struct tcphdr *)(skb->data + ifa_at + IFA_HDR_BYTES));
	return f && ntlm_read_ifa(net, skb, ifa_at, v, f, INT_COUNT_IN_DATA_TLM) >= 0;
}

/* Without the headers removed, the stack would refuse the packet, or TCP read them as data. */
static unsigned int ntlm_strip_fail(const struct net *net, int err, unsigned int bad_length)
{
	ntlm_count(net, err == -ENOMEM ? INT_COUNT_NO_MEMORY : bad_length);
	return err == -ENOMEM ? NF_DROP : NF_ACCEPT;
}

/*
 * Removes IFA's headers, at @place. Switches do not update the length and the checksum of TCP and
 * UDP, which are therefore right without the headers. Return: NF_ACCEPT or NF_DROP; the packet has
 * another length if they were removed.
 */
unsigned int ntlm_strip_ifa(const struct net *net, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct ifa_view *v)
{
	bool verified;
	int err;

	if (nint_vendor_on(net) != HOP_FILTER_TRUST && hop_filter_misses_input(skb)) {
		ntlm_count(net, INT_COUNT_IN_HIDDEN);
		return NF_ACCEPT;
	}
	/* Otherwise only one of IFA's two headers could be removed. */
	if (!hop_shim_has_sum_behind(skb, place->offset_bytes + IFA_HDR_BYTES))
		return ntlm_strip_fail(net, -EINVAL, INT_COUNT_BAD_IFA + IFA_BAD_L4);
	if (skb_ensure_writable(skb, place->offset_bytes + v->stack_offset + v->stack_bytes))
		return ntlm_strip_fail(net, -ENOMEM, 0);
	verified = ntlm_read_ifa_data(net, skb, place->offset_bytes, v);
	err = hop_shim_strip_behind(skb, place, IFA_HDR_BYTES + v->l4_bytes, v->shim_bytes) ?:
	      hop_shim_strip(skb, place, IFA_HDR_BYTES, v->next);
	if (err)
		return ntlm_strip_fail(net, err, INT_COUNT_BAD_IFA + IFA_BAD_LENGTH);
	if (verified)
		ntlm_set_verified(skb);
	ntlm_count(net, INT_COUNT_IN_IFA_DATA);
	return NF_ACCEPT;
}

/*
 * Finds out which bytes TCP's checksum covers. The TCP header, of @tcp_bytes, is at @tcp_at, and
 * INT-MD's shim follows it.
 */
static enum ntlm_sum ntlm_intmd_sum(struct sk_buff *skb, unsigned int tcp_at,
				    unsigned int tcp_bytes, unsigned int shim_bytes)
{
	if (!hop_input_is_mangled(skb, (const struct tcphdr *)(skb->data + tcp_at)))
		return NTLM_SUM_WHOLE;
	return ntlm_is_mangled_without(skb, tcp_at, tcp_bytes, tcp_at + tcp_bytes + shim_bytes) ?
		NTLM_SUM_NOTHING : NTLM_SUM_ORIGINAL;
}

/*
 * Subtracts the shim, of @bytes at @shim, from TCP's checksum, and its length from the one in the
 * pseudo-header. Where the device computes the checksum (CHECKSUM_PARTIAL), the field has only the
 * sum of the pseudo-header.
 */
static void ntlm_strip_update_sum(const struct sk_buff *skb, struct tcphdr *th, const u8 *shim,
				  unsigned int bytes)
{
	const __wsum length = (__force __wsum)htonl(bytes);

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		th->check = ~csum_fold(csum_sub(csum_unfold(th->check), length));
	else
		th->check = csum_fold(csum_sub(csum_sub(~csum_unfold(th->check), length),
					       csum_partial(shim, bytes, 0)));
}

/* Removes INT-MD from a packet whose headers are writable. Return: 0 or -EINVAL. */
static int ntlm_strip_intmd_header(struct sk_buff *skb, const struct hop_shim_place *place,
				   unsigned int tcp_bytes, const struct intmd_view *v,
				   enum ntlm_sum sum)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + place->offset_bytes);
	const __sum16 check = th->check;
	int err;

	if (sum != NTLM_SUM_ORIGINAL)
		ntlm_strip_update_sum(skb, th, (const u8 *)th + tcp_bytes, v->shim_bytes);
	err = hop_shim_strip_behind(skb, place, tcp_bytes, v->shim_bytes);
	if (err) {
		th->check = check;
		return err;
	}
	ntlm_set_dscp(skb, v->original);
	ntlm_set_verified(skb);
	return 0;
}

static void ntlm_read_intmd(const struct net *net, struct sk_buff *skb, unsigned int tcp_at,
			    unsigned int tcp_bytes, const struct intmd_view *v)
{
	const unsigned int shim_at = tcp_at + tcp_bytes;
	struct int_flow *f = nint_vendor_reader(skb, (const struct tcphdr *)(skb->data + tcp_at));
	struct tlm_stack s;

	if (!f)
		return;
	ntlm_stack_intmd(&s, v, skb->data + shim_at);
	ntlm_collect(net, f, &s, INT_COUNT_IN_DATA_TLM);
}

/*
 * Removes INT-MD behind the TCP header at @place, and restores the DSCP that the switch has
 * replaced by the mark of INT. Packets that GRO or the NIC has merged have a shim in each of their
 * segments. Their sequence numbers do not follow each other, unless a packet of just the shim's
 * length is missing in between, so this is rare. TCP must not get them; the sender sends them
 * again.
 *
 * Return: NF_ACCEPT, NF_DROP or, for a copy, NF_STOLEN; the packet has another length if it was
 * changed.
 */
unsigned int ntlm_strip_intmd(const struct net *net, struct sk_buff *skb,
			      const struct hop_shim_place *place, const struct intmd_view *v)
{
	const unsigned int tcp_at = place->offset_bytes;
	const unsigned int tcp_bytes = __tcp_hdrlen((const struct tcphdr *)(skb->data + tcp_at));
	enum ntlm_sum sum;
	int err;

	/* Only then are all segments TCP's, and the original value is the DSCP. */
	if (v->npt != INTMD_NPT_DSCP) {
		ntlm_count(net, INT_COUNT_BAD_INTMD + INTMD_BAD_NPT);
		return NF_ACCEPT;
	}
	if (skb_is_gso(skb)) {
		ntlm_count(net, INT_COUNT_IN_MERGED);
		return NF_DROP;
	}
	if (skb_ensure_writable(skb, tcp_at + tcp_bytes + v->shim_bytes))
		return ntlm_strip_fail(net, -ENOMEM, 0);
	sum = ntlm_intmd_sum(skb, tcp_at, tcp_bytes, v->shim_bytes);
	if (sum == NTLM_SUM_NOTHING) {
		ntlm_count(net, INT_COUNT_IN_BAD_SUM);
		return NF_ACCEPT;
	}
	if (v->flags & INTMD_FLAG_D) {
		consume_skb(skb);
		return NF_STOLEN;
	}
	ntlm_read_intmd(net, skb, tcp_at, tcp_bytes, v);
	err = ntlm_strip_intmd_header(skb, place, tcp_bytes, v, sum);
	if (err)
		return ntlm_strip_fail(net, err, INT_COUNT_BAD_INTMD + INTMD_BAD_LENGTH);
	ntlm_count(net, INT_COUNT_IN_INTMD_DATA);
	return NF_ACCEPT;
}

/* A probe behind INT-MD's shim. */
static int ntlm_read_intmd_probe(const struct net *net, struct sk_buff *skb, unsigned int tcp_at,
				 const struct ntlm_carried *c, struct int_flow *f)
{
	struct tlm_stack s;

	if (ntlm_intmd_sum(skb, tcp_at, c->at - tcp_at, c->intmd.shim_bytes) == NTLM_SUM_NOTHING) {
		ntlm_count(net, INT_COUNT_IN_BAD_SUM);
		return -EBADMSG;
	}
	/* A copy is for other purposes. */
	if (c->intmd.flags & INTMD_FLAG_D)
		return -EALREADY;
	ntlm_stack_intmd(&s, &c->intmd, skb->data + c->at);
	return ntlm_collect(net, f, &s, INT_COUNT_IN_INTMD);
}

int ntlm_read_probe(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		    const void *carried)
{
	const struct net *net = dev_net(skb->dev);
	const struct ntlm_carried *c = carried;

	if (!c)
		return ntlm_collect_ioam(net, skb, tcp_at, f, INT_COUNT_IN_IOAM);
	return c->format == TLM_IFA ?
		ntlm_read_ifa(net, skb, c->at, &c->ifa, f, INT_COUNT_IN_IFA) :
		ntlm_read_intmd_probe(net, skb, tcp_at, c, f);
}
