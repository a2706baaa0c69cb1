// SPDX-License-Identifier: GPL-2.0
/*
 * Integrity, section 9.1: SipHash-2-4 over the addresses and ports, the message with a tag of 0,
 * and the header with its records. The key is configured at both ends, for all connections of a
 * netns. NAT makes the tag invalid.
 */

#include "net_int.h"

/**
 * struct nint_signed - input of the hash
 * @from: address of the host that answers; IPv4 is v4-mapped
 * @to: address of the host that receives the answer
 * @from_port: port at @from
 * @to_port: port at @to
 * @msg: the message with a tag of 0
 * @hdr: the header
 */
struct nint_signed {
	struct in6_addr from;
	struct in6_addr to;
	__be16 from_port;
	__be16 to_port;
	struct int_msg msg;
	u8 hdr[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
};

bool nint_has_key(const struct nint_net *in)
{
	return rcu_access_pointer(in->key);
}

/*
 * @out: the answer is sent by @key's local end. Context: RCU read lock. Return: the tag; 0 without
 *	a key.
 */
u64 nint_tag(const struct nint_net *in, const struct hop_flow_key *key, bool out,
	     const struct int_msg *msg, const struct int_hdr *h)
{
	const struct nint_key *sip = rcu_dereference(in->key);
	unsigned int hdr_bytes = h->words * INT_WORD_BYTES;
	struct nint_signed s = {
		.from = out ? key->local : key->peer,
		.to = out ? key->peer : key->local,
		.from_port = out ? key->local_port : key->peer_port,
		.to_port = out ? key->peer_port : key->local_port,
		.msg = *msg,
	};

	lockdep_assert_in_rcu_read_lock();
	if (!sip)
		return 0;
	s.msg.tag_hi = 0;
	s.msg.tag_lo = 0;
	memcpy(s.hdr, h, hdr_bytes);
	return siphash(&s, offsetof(struct nint_signed, hdr) + hdr_bytes, &sip->sip);
}
