/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enough of packets for the parsers that read them in place: a linear part and a rest, each in
 * memory of exactly its length, so that ASan sees who reads behind it.
 */
#ifndef FUZZ_SHIM_LINUX_SKBUFF_H
#define FUZZ_SHIM_LINUX_SKBUFF_H

#include <arpa/inet.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* C's own wants a message. */
#undef static_assert
#define static_assert(e) _Static_assert(e, #e)

struct net_offload;
struct sock;

enum {
	SKB_GSO_TCPV4 = 1,
	SKB_GSO_DODGY = 2,
	SKB_GSO_TCPV6 = 4,
	SKB_GSO_UDP_L4 = 8,
};

enum {
	CHECKSUM_NONE,
	CHECKSUM_UNNECESSARY,
	CHECKSUM_COMPLETE,
	CHECKSUM_PARTIAL,
};

#define GSO_BY_FRAGS	0xffff

struct skb_shared_info {
	u16 gso_size;
	u16 gso_segs;
	u32 gso_type;
};

/**
 * struct sk_buff - a packet
 * @data: its linear part, @head_bytes
 * @rest: what follows, @len - @head_bytes
 * @len: all of it
 * @network: offset of the network header from @data
 * @transport: offset of the transport header; -1: not set
 * @inner_transport: offset of that in a tunnel
 * @check_start: offset of what a device would sum up
 */
struct sk_buff {
	u8 *data;
	u8 *rest;
	unsigned int len;
	unsigned int head_bytes;
	int network;
	int transport;
	int inner_transport;
	int check_start;
	__be16 protocol;
	u8 ip_summed;
	bool encapsulation;
	bool vlan_tag;
	bool writable;
	struct skb_shared_info shared;
};

static inline struct skb_shared_info *skb_shinfo(const struct sk_buff *skb)
{
	return (struct skb_shared_info *)&skb->shared;
}

static inline bool skb_is_gso(const struct sk_buff *skb)
{
	return skb->shared.gso_size;
}

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->head_bytes;
}

static inline int skb_network_offset(const struct sk_buff *skb)
{
	return skb->network;
}

static inline int skb_transport_offset(const struct sk_buff *skb)
{
	return skb->transport;
}

static inline int skb_inner_transport_offset(const struct sk_buff *skb)
{
	return skb->inner_transport;
}

static inline bool skb_transport_header_was_set(const struct sk_buff *skb)
{
	return skb->transport >= 0;
}

static inline int skb_checksum_start_offset(const struct sk_buff *skb)
{
	return skb->check_start;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	u8 *byte = to;
	int i;

	if (offset < 0 || offset > (int)skb->len - len)
		return -EFAULT;
	for (i = offset; i < offset + len; i++)
		*byte++ = i < (int)skb->head_bytes ? skb->data[i] : skb->rest[i - skb->head_bytes];
	return 0;
}

/* The place itself if all of it is linear, else a copy in @buffer. */
static inline void *skb_header_pointer(const struct sk_buff *skb, int offset, int len,
				       void *buffer)
{
	if (offset >= 0 && offset <= (int)skb->head_bytes - len)
		return skb->data + offset;
	return skb_copy_bits(skb, offset, buffer, len) < 0 ? NULL : buffer;
}

static inline bool skb_shared(const struct sk_buff *skb)
{
	return false;
}

static inline bool skb_cloned(const struct sk_buff *skb)
{
	return false;
}

/* Writable is what is linear. */
static inline int skb_ensure_writable(struct sk_buff *skb, unsigned int bytes)
{
	return skb->writable && bytes <= skb->head_bytes ? 0 : -ENOMEM;
}

static inline bool skb_vlan_tag_present(const struct sk_buff *skb)
{
	return skb->vlan_tag;
}

#endif
