// SPDX-License-Identifier: GPL-2.0
/*
 * At the receiver: telemetry of other vendors in probes and in data. Only formats that have a
 * layout in the network namespace are read. The law is in int_tlm.h.
 *
 * Data has no ID that an answer could name. Its hops are stored until the next probe, whose answer
 * then reports them as if the probe itself had collected them.
 */
#include <linux/slab.h>

#include "net_int.h"

/* Context: f->lock is held. Return: NULL if memory is short or the flow is about to be freed. */
static struct nint_foreign *nint_get_foreign(struct int_flow *f)
{
	lockdep_assert_held(&f->lock);
	if (!f->foreign && !f->stopped)
		f->foreign = kzalloc(sizeof(*f->foreign), GFP_ATOMIC | __GFP_ACCOUNT);
	return f->foreign;
}

/* A packet that is being processed may have found the flow before. */
void nint_tlm_stop(void *state)
{
	struct nint_foreign *foreign;
	struct int_flow *f = state;

	spin_lock_bh(&f->lock);
	foreign = f->foreign;
	f->foreign = NULL;
	f->stopped = true;
	spin_unlock_bh(&f->lock);
	if (foreign)
		kfree_rcu(foreign, rcu);
}

/* Reduces the metadata to records. @count: counter of success. Context: RCU read lock. */
static bool nint_tlm_collect(struct nint_net *in, struct int_flow *f, const struct tlm_stack *s,
			     unsigned int count)
{
	const struct nint_table *t = rcu_dereference(in->table);
	struct nint_foreign *foreign;
	bool whole = false;

	lockdep_assert_in_rcu_read_lock();
	if (!t)
		return false;
	spin_lock_bh(&f->lock);
	foreign = nint_get_foreign(f);
	if (foreign) {
		nint_tlm_use_table(&foreign->t, t->generation, t->trust_idle);
		whole = nint_tlm_reduce(&foreign->t.path, &t->t, s);
		/* That of earlier data is overwritten. */
		if (!whole)
			foreign->data_ns = 0;
	}
	spin_unlock_bh(&f->lock);
	if (!foreign)
		nint_count(in, INT_COUNT_NO_MEMORY);
	else
		nint_count(in, whole ? count : INT_COUNT_BAD_STACK);
	return whole;
}

/*
 * The headers up to TCP's, at @tcp_bytes from skb->data, are linear. Return: true if the packet has
 * a trace that hops have written into, whose records are now in @f->foreign. @count: counter of
 * what was read.
 */
bool nint_tlm_read_ioam(struct nint_net *in, const struct sk_buff *skb, unsigned int tcp_bytes,
			struct int_flow *f, enum nint_count count)
{
	const u8 *hdr = skb->data + sizeof(struct ipv6hdr);
	enum ioam_fault fault;
	struct ioam_view v;
	struct tlm_stack s;

	if (skb->protocol != htons(ETH_P_IPV6) || ipv6_hdr(skb)->nexthdr != NEXTHDR_HOP ||
	    !nint_reads(in, TLM_IOAM))
		return false;
	fault = hop_ioam_parse(&v, hdr, tcp_bytes - sizeof(struct ipv6hdr));
	if (fault == IOAM_NONE)
		return false;
	if (fault) {
		nint_count(in, INT_COUNT_BAD_IOAM + fault);
		return false;
	}
	if (!v.hops && !(v.flags & IOAM_FLAG_OVERFLOW))
		return false;
	nint_tlm_stack_ioam(&s, &v, hdr);
	return nint_tlm_collect(in, f, &s, count);
}

/* @packet: the packet, linear, from the IFA header. Return: true as nint_tlm_read_ioam(). */
bool nint_tlm_read_ifa(struct nint_net *in, const struct ifa_view *v, const u8 *packet,
		       struct int_flow *f, enum nint_count count)
{
	struct tlm_stack s;

	if (!v->stack_bytes && v->hop_limit)
		return false;
	nint_tlm_stack_ifa(&s, v, packet);
	return nint_tlm_collect(in, f, &s, count);
}

/* @shim: the packet, linear, from the shim. Return: true as nint_tlm_read_ioam(). */
bool nint_tlm_read_intmd(struct nint_net *in, const struct intmd_view *v, const u8 *shim,
			 struct int_flow *f, enum nint_count count)
{
	struct tlm_stack s;

	if (!v->hops && !(v->flags & (INTMD_FLAG_E | INTMD_FLAG_M)))
		return false;
	nint_tlm_stack_intmd(&s, v, shim);
	return nint_tlm_collect(in, f, &s, count);
}

static void nint_count_news(const struct nint_net *in, enum nint_tlm_news news)
{
	static const u8 counts[] = {
		[NINT_TLM_NO_LAYOUT] = INT_COUNT_TLM_NO_LAYOUT,
		[NINT_TLM_USELESS] = INT_COUNT_TLM_USELESS,
		[NINT_TLM_CONTRADICTED] = INT_COUNT_TLM_CONTRADICTED,
		[NINT_TLM_NO_ROOM] = INT_COUNT_TLM_NO_ROOM,
		[NINT_TLM_PATHS] = INT_COUNT_TLM_PATHS,
	};

	if (news != NINT_TLM_USED)
		nint_count(in, counts[news]);
}

/* The records that were just read into @f->foreign are those of a packet with data. */
void nint_tlm_from_data(struct int_flow *f)
{
	spin_lock_bh(&f->lock);
	if (f->foreign) {
		f->foreign->data_ns = ktime_get_ns();
		f->foreign->data_is_new = true;
	}
	spin_unlock_bh(&f->lock);
}

/*
 * Context: f->lock is held. Return: true if a probe without telemetry of other vendors must be
 * answered by that of data. A switch may insert it into a few packets only, so the last one counts
 * as long as the law would compare with it, and the layouts are the same. Context: RCU read lock.
 */
bool nint_tlm_has_data(const struct nint_net *in, const struct int_flow *f,
		       const struct nint_arrival *arrival, u64 now_ns)
{
	const struct nint_table *t = rcu_dereference(in->table);
	const struct nint_foreign *foreign = f->foreign;
	const u64 stale_ns = max_t(u64, TLM_STALE_MIN_NS,
				   (u64)f->receiver.p.t_ns * TLM_STALE_RTTS);

	lockdep_assert_held(&f->lock);
	/* Data that another CPU receives at this moment may be later than @now_ns. */
	return foreign && foreign->data_ns && arrival->hdr->type == INT_TYPE_PROBE &&
	       now_ns <= foreign->data_ns + stale_ns && t &&
	       t->generation == foreign->t.generation;
}

/*
 * Context: f->lock is held, RCU read lock. The probe has telemetry, or nint_tlm_has_data() is true.
 * Return: true if an answer packet is needed.
 */
bool nint_tlm_learn(struct nint_net *in, struct int_flow *f, const struct nint_arrival *arrival,
		    u64 now_ns, struct nint_reply *reply)
{
	struct nint_foreign *foreign = f->foreign;
	const struct tlm_sample s = {
		.now_ns = arrival->traced || !foreign ? now_ns : foreign->data_ns,
		/* 2^32 * 10^9 < 2^62 */
		.own_bytes_ps = div_u64((u64)arrival->wnd_bytes * NSEC_PER_SEC,
					f->receiver.p.t_ns),
		.rtt_ns = arrival->rtt_ns,
	};
	u32 before;

	lockdep_assert_in_rcu_read_lock();
	lockdep_assert_held(&f->lock);
	if (!foreign) {
		*reply = (struct nint_reply){};
		return false;
	}
	before = foreign->t.v.implausible;
	if (arrival->traced || foreign->data_is_new)
		nint_count_news(in,
				nint_tlm_update(&foreign->t, &f->receiver, arrival->hdr, &s,
						reply));
	else
		nint_tlm_reply(&foreign->t, &f->receiver, arrival->hdr, now_ns, false, reply);
	foreign->data_is_new = false;
	nint_count_add(in, INT_COUNT_TLM_IMPLAUSIBLE, foreign->t.v.implausible - before);
	if (READ_ONCE(in->anonymous))
		reply->hops = 0;
	return true;
}
