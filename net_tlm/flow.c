// SPDX-License-Identifier: GPL-2.0
/*
 * At the receiver: telemetry of other vendors in probes and in data. Only formats that have a
 * layout in the network namespace are read. The law is in int_tlm.h.
 *
 * Data has no ID that an answer could name. Its hops are stored until the next probe, whose answer
 * then reports them as if the probe itself had collected them.
 */
#include "net_tlm.h"

/*
 * Reduces the metadata to records, which are then in the flow. @count: counter of success. Context:
 * RCU read lock. Return: true if hops have written something, and it was read.
 */
bool ntlm_collect(const struct net *net, struct int_flow *f, const struct tlm_stack *s,
		  unsigned int count)
{
	const bool from_data = count == INT_COUNT_IN_DATA_TLM;
	const struct ntlm_table *t = rcu_dereference(ntlm_net(net)->table);
	struct ntlm_flow *flow;
	bool whole = false;

	lockdep_assert_in_rcu_read_lock();
	if (!t || (!s->bytes && !s->full))
		return false;
	flow = (struct ntlm_flow *)nint_vendor_lock(f, sizeof(*flow));
	if (flow) {
		ntlm_use_table(&flow->t, t->generation, t->t.trust_idle);
		whole = ntlm_reduce(&flow->t.path, &t->t, s);
		/* If it is not whole, that of earlier data is overwritten. */
		if (from_data || !whole)
			flow->data_ns = whole ? ktime_get_ns() : 0;
		flow->data_is_new |= from_data && whole;
	}
	nint_vendor_unlock(f);
	if (!flow)
		ntlm_count(net, INT_COUNT_NO_MEMORY);
	else
		ntlm_count(net, whole ? count : INT_COUNT_BAD_STACK);
	return whole;
}

/*
 * Reads an IOAM trace. The headers up to TCP's, at @tcp_bytes from skb->data, are linear. @count:
 * counter of success. Return: true if hops have written something, and it was read.
 */
bool ntlm_collect_ioam(const struct net *net, const struct sk_buff *skb, unsigned int tcp_bytes,
		       struct int_flow *f, unsigned int count)
{
	const u8 *hdr = skb->data + sizeof(struct ipv6hdr);
	enum ioam_fault fault;
	struct ioam_view v;
	struct tlm_stack s;

	if (skb->protocol != htons(ETH_P_IPV6) || ipv6_hdr(skb)->nexthdr != NEXTHDR_HOP ||
	    !ntlm_reads(net, TLM_IOAM))
		return false;
	fault = hop_ioam_parse(&v, hdr, tcp_bytes - sizeof(struct ipv6hdr));
	if (fault == IOAM_NONE)
		return false;
	if (fault) {
		ntlm_count(net, INT_COUNT_BAD_IOAM + fault);
		return false;
	}
	ntlm_stack_ioam(&s, &v, hdr);
	return ntlm_collect(net, f, &s, count);
}

static void ntlm_count_news(const struct net *net, enum ntlm_news news)
{
	static_assert(INT_COUNT_TLM_PATHS - INT_COUNT_TLM_NO_LAYOUT == NTLM_PATHS - NTLM_NO_LAYOUT);
	if (news != NTLM_USED)
		ntlm_count(net, INT_COUNT_TLM_NO_LAYOUT + news - NTLM_NO_LAYOUT);
}

/*
 * Return: true if a probe without telemetry of other vendors must be answered by that of data. A
 * switch may insert it into a few packets only, so the last one counts as long as the law would
 * compare with it, and the layouts are the same. Context: RCU read lock.
 */
static bool ntlm_has_data(const struct net *net, const struct ntlm_flow *flow, u32 t_ns,
			  u64 now_ns)
{
	const struct ntlm_table *t = rcu_dereference(ntlm_net(net)->table);
	const u64 stale_ns = max_t(u64, TLM_STALE_MIN_NS, (u64)t_ns * TLM_STALE_RTTS);

	lockdep_assert_in_rcu_read_lock();
	/* Data that another CPU receives at this moment may be later than @now_ns. */
	return flow->data_ns && now_ns <= flow->data_ns + stale_ns && t &&
	       t->generation == flow->t.generation;
}

/* If data's telemetry is of no use, that of hopcc's own hops may be. */
bool ntlm_learn(const struct net *net, struct int_vendor_state *state,
		const struct nint_arrival *arrival, u64 now_ns, const struct hpcc_params *p,
		struct hpcc_vars *v, struct nint_reply *reply)
{
	struct ntlm_flow *flow = container_of(state, struct ntlm_flow, state);
	const struct tlm_sample s = {
		.now_ns = arrival->traced ? now_ns : flow->data_ns,
		/* 2^32 * 10^9 < 2^62 */
		.own_bytes_ps = div_u64((u64)arrival->wnd_bytes * NSEC_PER_SEC, p->t_ns),
		.rtt_ns = arrival->rtt_ns,
		.trust_idle = flow->t.trust_idle,
	};
	const u32 before = flow->t.v.implausible;

	if (!arrival->traced && !ntlm_has_data(net, flow, p->t_ns, now_ns))
		return false;
	if (arrival->traced || flow->data_is_new)
		ntlm_count_news(net, ntlm_update(&flow->t, p, v, arrival->hdr, &s, reply));
	else
		ntlm_reply(&flow->t, p, v, arrival->hdr, now_ns, false, reply);
	flow->data_is_new = false;
	nint_vendor_count(net, INT_COUNT_TLM_IMPLAUSIBLE, flow->t.v.implausible - before);
	return arrival->traced || !reply->none;
}
