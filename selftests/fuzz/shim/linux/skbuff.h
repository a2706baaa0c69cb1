/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of sk_buff that parsers need to read packets in place: a linear part and a rest, each in
 * memory of exactly its length, so that ASan detects reads beyond its end.
 */
#ifndef FUZZ_SHIM_LINUX_SKBUFF_H
#define FUZZ_SHIM_LINUX_SKBUFF_H

#include <arpa/inet.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* A harness has one thread and no locks. */
#define lockdep_assert_in_rcu_reader() do { } while (0)

/* The static_assert() of C requires a message; that of the kernel may have one. */
#undef static_assert
#define static_assert(e, ...) _Static_assert(e, #e)

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
 * @head: start of the memory of the linear part
 * @data: start of the packet in the linear part
 * @rest: data after the linear part, @len - @head_bytes bytes
 * @len: length of the packet
 * @head_bytes: length of the packet's linear part
 * @network_header: offset from @data, like all offsets here
 * @transport_header: offset from @data; -1: not set
 * @inner_transport: offset of the transport header in a tunnel
 * @mac_header: offset, 0 or below; above 0: not set
 * @csum_start: start of the range that a device checksums
 * @csum: with CHECKSUM_COMPLETE, the sum of all bytes from @data
 * @protocol: EtherType of the packet
 * @ip_summed: CHECKSUM_NONE and the like: what the device knows of the checksum
 * @csum_level: number of checksums, less 1, that CHECKSUM_UNNECESSARY is about
 * @remcsum_offload: the tunnel has its checksum computed by remote offload
 * @encapsulation: the inner headers are those that a device segments by
 * @vlan_tag: a VLAN tag is kept beside the data
 * @writable: memory for a copy is available
 * @shared: lengths and types of a GSO packet
 */
struct sk_buff {
	u8 *head;
	u8 *data;
	u8 *rest;
	unsigned int len;
	unsigned int head_bytes;
	int network_header;
	int transport_header;
	int inner_transport;
	int mac_header;
	int csum_start;
	__wsum csum;
	__be16 protocol;
	u8 ip_summed;
	u8 csum_level;
	bool remcsum_offload;
	bool encapsulation;
	bool vlan_tag;
	bool writable;
	struct skb_shared_info shared;
};

static inline void __skb_reset_checksum_unnecessary(struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_UNNECESSARY) {
		skb->ip_summed = CHECKSUM_NONE;
		skb->csum_level = 0;
	}
}

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
	return skb->network_header;
}

static inline int skb_transport_offset(const struct sk_buff *skb)
{
	return skb->transport_header;
}

static inline int skb_inner_transport_offset(const struct sk_buff *skb)
{
	return skb->inner_transport;
}

static inline bool skb_transport_header_was_set(const struct sk_buff *skb)
{
	return skb->transport_header >= 0;
}

static inline int skb_checksum_start_offset(const struct sk_buff *skb)
{
	return skb->csum_start;
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

/* Return: a pointer into the linear part if all of it is there, otherwise a copy in @buffer */
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

/*
 * A packet counts as cloned if no memory is available, because only a clone needs memory before its
 * linear part can be written.
 */
static inline bool skb_cloned(const struct sk_buff *skb)
{
	return !skb->writable;
}

static inline unsigned int skb_headroom(const struct sk_buff *skb)
{
	return skb->data - skb->head;
}

/* Reallocate the linear part with @room_bytes of headroom and @head_bytes of data. */
static inline void shim_realloc(struct sk_buff *skb, unsigned int room_bytes,
				unsigned int head_bytes)
{
	const unsigned int kept_bytes = min(room_bytes, skb_headroom(skb));
	u8 *head = malloc(room_bytes + head_bytes);
	u8 *rest = malloc(skb->len - head_bytes);

	memset(head, 0, room_bytes);
	memcpy(head + room_bytes - kept_bytes, skb->data - kept_bytes, kept_bytes);
	skb_copy_bits(skb, 0, head + room_bytes, head_bytes);
	skb_copy_bits(skb, head_bytes, rest, skb->len - head_bytes);
	free(skb->head);
	free(skb->rest);
	skb->head = head;
	skb->data = head + room_bytes;
	skb->rest = rest;
	skb->head_bytes = head_bytes;
}

static inline int skb_ensure_writable(struct sk_buff *skb, unsigned int bytes)
{
	if (!skb->writable || bytes > skb->len)
		return -ENOMEM;
	if (bytes > skb->head_bytes)
		shim_realloc(skb, skb_headroom(skb), bytes);
	return 0;
}

/* Make the first bytes linear. Return: false if the packet is shorter or no memory is available */
static inline bool pskb_may_pull(struct sk_buff *skb, unsigned int bytes)
{
	return bytes <= skb->head_bytes || !skb_ensure_writable(skb, bytes);
}

static inline int skb_cow_head(struct sk_buff *skb, unsigned int room_bytes)
{
	if (!skb->writable)
		return -ENOMEM;
	if (skb_headroom(skb) < room_bytes)
		shim_realloc(skb, room_bytes, skb->head_bytes);
	return 0;
}

/* Move @data; all offsets count from it. */
static inline void shim_move(struct sk_buff *skb, int bytes)
{
	skb->data -= bytes;
	skb->len += bytes;
	skb->head_bytes += bytes;
	skb->network_header += bytes;
	skb->transport_header += bytes;
	skb->mac_header += bytes;
	skb->csum_start += bytes;
}

static inline void *skb_push(struct sk_buff *skb, unsigned int bytes)
{
	shim_move(skb, bytes);
	return skb->data;
}

#define __skb_push skb_push

static inline void *__skb_pull(struct sk_buff *skb, unsigned int bytes)
{
	shim_move(skb, -(int)bytes);
	return skb->data;
}

static inline u8 *skb_network_header(const struct sk_buff *skb)
{
	return skb->data + skb->network_header;
}

static inline u8 *skb_mac_header(const struct sk_buff *skb)
{
	return skb->data + skb->mac_header;
}

static inline u8 *skb_tail_pointer(const struct sk_buff *skb)
{
	return skb->data + skb->head_bytes;
}

static inline bool skb_mac_header_was_set(const struct sk_buff *skb)
{
	return skb->mac_header <= 0;
}

static inline void skb_reset_network_header(struct sk_buff *skb)
{
	skb->network_header = 0;
}

static inline void skb_reset_transport_header(struct sk_buff *skb)
{
	skb->transport_header = 0;
}

static inline void skb_set_network_header(struct sk_buff *skb, int offset)
{
	skb->network_header = offset;
}

static inline void skb_set_transport_header(struct sk_buff *skb, int offset)
{
	skb->transport_header = offset;
}

static inline void skb_reset_mac_header(struct sk_buff *skb)
{
	skb->mac_header = 0;
}

/* Nothing to do: the MAC length is computed from the two headers above. */
static inline void skb_reset_mac_len(struct sk_buff *skb)
{
}

static inline bool skb_vlan_tag_present(const struct sk_buff *skb)
{
	return skb->vlan_tag;
}

#endif
