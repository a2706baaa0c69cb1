// SPDX-License-Identifier: GPL-2.0
/*
 * Received packets: the hook is in front of net_int's, so that everything behind it sees packets
 * without telemetry of other vendors. IOAM is read only.
 */
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_input.h>
#include <net/tcp.h>

#include "net_tlm.h"

/*
 * A packet of IFA's protocol, while the netns has a layout of IFA: a probe is consumed, other
 * packets of TCP and UDP lose IFA's headers, and the rest is left unchanged to the stack. Return:
 * NF_ACCEPT, NF_DROP or NF_STOLEN.
 */
static unsigned int ntlm_input_ifa(const struct net *net, struct sk_buff *skb,
				   const struct hop_shim_place *place,
				   const struct nf_hook_state *state)
{
	struct ntlm_carried c = { .format = TLM_IFA, .at = place->offset_bytes };
	const unsigned int len_bytes = skb->len;
	unsigned int decision;
	enum ifa_fault fault;

	if (skb_is_gso(skb) || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, min(skb->len, c.at + IFA_HEADERS_MAX_BYTES))) {
		ntlm_count(net, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	fault = hop_ifa_parse(&c.ifa, skb->data + c.at, skb->len - c.at);
	if (fault) {
		ntlm_count(net, INT_COUNT_BAD_IFA + fault);
		return NF_ACCEPT;
	}
	if (c.ifa.next == IFA_NEXT_TCP &&
	    nint_vendor_take(skb, c.at + IFA_HDR_BYTES,
			     c.at + c.ifa.stack_offset + c.ifa.stack_bytes, &c))
		return NF_STOLEN;
	decision = ntlm_strip_ifa(net, skb, place, &c.ifa);
	if (decision != NF_ACCEPT || skb->len == len_bytes)
		return decision;
	/* The device's filters and then net_int see the packet without IFA's headers. */
	return hop_input_show(skb);
}

/*
 * A TCP segment with the mark of INT, while the netns has a layout of INT-MD. It may be a user's
 * own: without a valid shim it is left unchanged to TCP.
 */
static unsigned int ntlm_input_intmd(const struct net *net, struct sk_buff *skb,
				     const struct hop_shim_place *place, unsigned int shim_at,
				     const struct nf_hook_state *state)
{
	struct ntlm_carried c = { .format = TLM_INT_MD, .at = shim_at };
	enum intmd_fault fault;

	if (!hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, min(skb->len, shim_at + INTMD_SHIM_MAX_BYTES))) {
		ntlm_count(net, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	fault = hop_intmd_parse(&c.intmd, skb->data + shim_at, skb->len - shim_at);
	if (fault) {
		ntlm_count(net, INT_COUNT_BAD_INTMD + fault);
		return NF_ACCEPT;
	}
	if (nint_vendor_take(skb, place->offset_bytes, shim_at + c.intmd.shim_bytes, &c))
		return NF_STOLEN;
	return ntlm_strip_intmd(net, skb, place, &c.intmd);
}

static unsigned int ntlm_input_tcp(const struct net *net, struct sk_buff *skb,
				   const struct hop_shim_place *place,
				   const struct nf_hook_state *state)
{
	const unsigned int tcp_at = place->offset_bytes;
	unsigned int payload_at = tcp_at + sizeof(struct tcphdr), decision = NF_ACCEPT;

	if (!pskb_may_pull(skb, payload_at))
		return NF_ACCEPT;
	payload_at = tcp_at + __tcp_hdrlen((const struct tcphdr *)(skb->data + tcp_at));
	if (payload_at < tcp_at + sizeof(struct tcphdr) || payload_at >= skb->len ||
	    nint_vendor_is_control(skb, tcp_at, payload_at))
		return NF_ACCEPT;
	if (ntlm_dscp(skb) == ntlm_dscp_intmd && ntlm_reads(net, TLM_INT_MD))
		decision = ntlm_input_intmd(net, skb, place, payload_at, state);
	if (decision == NF_ACCEPT)
		ntlm_read_ioam_data(net, skb, tcp_at);
	return decision;
}

static unsigned int ntlm_input(struct sk_buff *skb, const struct hop_shim_place *place,
			       const struct nf_hook_state *state)
{
	const struct net *net = state->net;

	if (!nint_vendor_on(state->net))
		return NF_ACCEPT;
	if (place->next == IPPROTO_TCP)
		return ntlm_input_tcp(net, skb, place, state);
	if (place->next == IFA_PROTOCOL && ntlm_reads(net, TLM_IFA))
		return ntlm_input_ifa(net, skb, place, state);
	return NF_ACCEPT;
}

/* In front of net_int, so that net_int sees packets without the headers of others. */
static const struct hop_carrier ntlm_carrier = {
	.order = 1,
	.input = ntlm_input,
};

/* Switches may insert INT-MD into data of any connection. Context: the table does not change. */
void ntlm_hook(struct net *net)
{
	struct hop_hook_request request = { .dscp = ntlm_dscp_intmd };

	rcu_read_lock();
	request.segments = rcu_access_pointer(ntlm_net(net)->table);
	request.marked = ntlm_reads(net, TLM_INT_MD);
	if (ntlm_reads(net, TLM_IFA))
		request.protocol = IFA_PROTOCOL;
	rcu_read_unlock();
	if (request.segments)
		hop_hook_start(net, &ntlm_carrier, &request);
	else
		ntlm_unhook(net);
}

void ntlm_unhook(struct net *net)
{
	hop_hook_stop(net, &ntlm_carrier);
}
