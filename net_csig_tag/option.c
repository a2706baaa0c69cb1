// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option that reflects, section 4.2.1. TCP ignores it. The option by which carriers
 * negotiate is hop_core's: hopcc/core/hop_negotiate.h.
 */
#include <hopcc/core/hop_option.h>
#include <hopcc/core/hop_output.h>
#include <net/tcp.h>

#include "net_csig_tag.h"

/**
 * ctag_read_segment() - find the parts of a TCP packet
 * @skb: the packet; skb->data is at its network header
 * @seg: result
 *
 * Context: RCU read lock. Pulls the TCP header with its options.
 * Return: false if the packet is not TCP, or ends within its headers.
 */
bool ctag_read_segment(struct sk_buff *skb, struct hop_segment *seg)
{
	unsigned int tcp_bytes;

	lockdep_assert_in_rcu_read_lock();
	if (!hop_shim_find(skb, &seg->place) || !hop_output_read(skb, seg))
		return false;
	tcp_bytes = __tcp_hdrlen(hop_segment_tcp(skb, seg));
	return tcp_bytes >= sizeof(struct tcphdr) &&
	       pskb_may_pull(skb, seg->place.offset_bytes + tcp_bytes);
}

static bool ctag_option_append(struct ctag_net *cn, struct sk_buff *skb,
			       const struct hop_segment *seg, enum csig_form form,
			       const struct csig_tag *t)
{
	u8 opt[CSIG_OPT_MAX_BYTES] __aligned(4);
	int err;

	ctag_opt_write(opt, ctag_exid, form, t);
	err = hop_option_append(skb, seg->place.offset_bytes, opt, ctag_opt_bytes(form));
	if (err)
		ctag_count(cn, err == -ENOSPC ? CTAG_NO_ROOM : CTAG_NO_MEMORY);
	return !err;
}

/*
 * Return: true if there is something to reflect; @type is CSIG_TYPES to report that no tag came. In
 * data packets, each change of the option stops the receiver from merging them. So there is at most
 * one value per quarter of an RTT, and no report that no tag was received.
 */
static bool ctag_is_due(const struct csig_flow *f, const struct hop_segment *seg,
			const struct sock *sk, u32 type, u64 now_ns)
{
	if (!seg->payload_bytes)
		return type != CSIG_TYPES || f->untagged;
	return type != CSIG_TYPES &&
	       now_ns - f->reflected_ns >= (u64)(tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC / 4;
}

/**
 * ctag_reflect() - reflect the received tags to the peer
 * @cn: the netns' state
 * @skb: a packet of this host; skb->data is at its network header
 * @seg: result of ctag_read_segment()
 * @flow: the flow
 * @sk: its socket; locked, because it is sending
 *
 * If the packet has no room for the option, the next packet is tried.
 *
 * Context: RCU read lock. Moves skb->head.
 */
void ctag_reflect(struct ctag_net *cn, struct sk_buff *skb, const struct hop_segment *seg,
		  struct hop_flow *flow, struct sock *sk)
{
	struct csig_flow *f = hop_flow_state(flow);
	const u64 now_ns = ktime_get_ns();
	struct ctag_received *h = NULL;
	enum csig_form form;
	u32 type;

	lockdep_assert_in_rcu_read_lock();
	spin_lock_bh(&f->lock);
	type = ctag_reflect_pick(f->received);
	if (type != CSIG_TYPES)
		h = &f->received[type];
	form = h ? h->form : CSIG_NONE;
	/* If there is no room, the signal stays fresh. */
	if (ctag_is_due(f, seg, sk, type, now_ns) &&
	    ctag_option_append(cn, skb, seg, form, h ? &h->latest : NULL)) {
		if (h)
			ctag_reflected(h, now_ns);
		f->untagged = false;
		f->reflected_ns = now_ns;
		ctag_count(cn, form ? CTAG_OUT_VALUE : CTAG_OUT_EMPTY);
	}
	spin_unlock_bh(&f->lock);
}
