// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that insert and remove a header in packets made here, in every state of the checksum.
 * Runs in the kernel only; selftests/netns/checksum_nic.t tests the same with TCP streams.
 */
#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <hopcc/core/hop_shim.h>
#include <net/ip.h>

#define SHIM_BYTES	20
#define SHIM_PROTOCOL	253
#define PAYLOAD_BYTES	133	/* odd */
#define ROOM_BYTES	64

static const struct shim_case {
	const char *what;
	bool ipv6;
	int mac_bytes;		/* < 0: no MAC header was set */
	u8 before, after;	/* ip_summed */
} shim_cases[] = {
	{ "IPv4, a sum over the packet", false, ETH_HLEN, CHECKSUM_COMPLETE, CHECKSUM_COMPLETE },
	{ "IPv6, a sum over the packet", true, ETH_HLEN, CHECKSUM_COMPLETE, CHECKSUM_COMPLETE },
	{ "without a frame's header", false, -1, CHECKSUM_COMPLETE, CHECKSUM_COMPLETE },
	{ "a device without one", true, 0, CHECKSUM_COMPLETE, CHECKSUM_COMPLETE },
	{ "IPv4, checked by the device", false, ETH_HLEN, CHECKSUM_UNNECESSARY, CHECKSUM_NONE },
	{ "IPv6, checked by the device", true, ETH_HLEN, CHECKSUM_UNNECESSARY, CHECKSUM_NONE },
	{ "nothing known", false, ETH_HLEN, CHECKSUM_NONE, CHECKSUM_NONE },
	{ "left to the device", false, ETH_HLEN, CHECKSUM_PARTIAL, CHECKSUM_PARTIAL },
};

static void put_ip(struct sk_buff *skb, bool ipv6, unsigned int payload_bytes)
{
	skb_reset_network_header(skb);
	if (ipv6) {
		struct ipv6hdr *h = skb_put_zero(skb, sizeof(*h));

		h->version = 6;
		h->nexthdr = IPPROTO_TCP;
		h->payload_len = htons(payload_bytes);
		skb->protocol = htons(ETH_P_IPV6);
	} else {
		struct iphdr *h = skb_put_zero(skb, sizeof(*h));

		h->version = 4;
		h->ihl = 5;
		h->ttl = 64;
		h->protocol = IPPROTO_TCP;
		h->tot_len = htons(sizeof(*h) + payload_bytes);
		ip_send_check(h);
		skb->protocol = htons(ETH_P_IP);
	}
}

/* Make a frame without our header; skb->data at IP. */
static struct sk_buff *make(struct kunit *test, const struct shim_case *c)
{
	struct sk_buff *skb = alloc_skb(512, GFP_KERNEL);
	int n;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, ROOM_BYTES);
	if (c->mac_bytes >= 0) {
		skb_reset_mac_header(skb);
		memset(skb_put(skb, c->mac_bytes), 0xee, c->mac_bytes);
		__skb_pull(skb, c->mac_bytes);
	}
	put_ip(skb, c->ipv6, PAYLOAD_BYTES);
	skb_set_transport_header(skb, skb->len);
	for (n = 0; n < PAYLOAD_BYTES; n++)
		skb_put_u8(skb, n * 7 + 1);
	return skb;
}

static struct sk_buff *make_without_mac(struct kunit *test, const struct shim_case *c)
{
	struct shim_case bare = *c;

	bare.mac_bytes = -1;
	return make(test, &bare);
}

/* Add the MAC header that an arriving packet has. */
static void add_mac(struct sk_buff *skb, const struct shim_case *c)
{
	if (c->mac_bytes < 0)
		return;
	memset(skb_push(skb, c->mac_bytes), 0xee, c->mac_bytes);
	skb_reset_mac_header(skb);
	__skb_pull(skb, c->mac_bytes);
}

static void expect_same(struct kunit *test, const struct sk_buff *skb, const struct sk_buff *plain,
			const struct shim_case *c)
{
	const int mac_bytes = max(c->mac_bytes, 0);

	KUNIT_EXPECT_EQ_MSG(test, skb->len, plain->len, "%s", c->what);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(skb->data - mac_bytes, plain->data - mac_bytes,
					 plain->len + mac_bytes), 0,
			    "%s: as if it had come without", c->what);
}

/* Insert our header, as on the network. */
static void insert(struct kunit *test, struct sk_buff *skb)
{
	struct hop_shim_place place;
	u8 *shim;
	int n;

	KUNIT_ASSERT_TRUE(test, hop_shim_find(skb, &place));
	KUNIT_EXPECT_EQ(test, place.next, (u8)IPPROTO_TCP);
	shim = hop_shim_insert(skb, &place, SHIM_BYTES, SHIM_PROTOCOL, true);
	KUNIT_ASSERT_NOT_NULL(test, shim);
	for (n = 0; n < SHIM_BYTES; n++)
		shim[n] = n * 5 + 3;
}

static void set_sum(struct sk_buff *skb, u8 ip_summed)
{
	skb->ip_summed = ip_summed;
	if (ip_summed == CHECKSUM_COMPLETE)
		skb->csum = skb_checksum(skb, 0, skb->len, 0);
	else if (ip_summed == CHECKSUM_UNNECESSARY)
		skb->csum_level = 1;
	else if (ip_summed == CHECKSUM_PARTIAL)
		skb->csum_start = skb_transport_header(skb) - skb->head;
}

static void strip(struct kunit *test, struct sk_buff *skb, const struct shim_case *c)
{
	const unsigned char *payload = skb_tail_pointer(skb) - PAYLOAD_BYTES;
	struct hop_shim_place place;

	KUNIT_ASSERT_TRUE(test, hop_shim_find(skb, &place));
	KUNIT_EXPECT_EQ_MSG(test, place.next, (u8)SHIM_PROTOCOL, "%s", c->what);
	KUNIT_EXPECT_EQ(test, hop_shim_strip(skb, &place, SHIM_BYTES, IPPROTO_TCP), 0);
	KUNIT_EXPECT_EQ_MSG(test, (u8)skb->ip_summed, c->after, "%s", c->what);
	if (c->after == CHECKSUM_COMPLETE)
		KUNIT_EXPECT_EQ_MSG(test, csum_fold(skb->csum),
				    csum_fold(skb_checksum(skb, 0, skb->len, 0)), "%s", c->what);
	if (c->after == CHECKSUM_PARTIAL)
		KUNIT_EXPECT_PTR_EQ(test, payload,
				    (const unsigned char *)skb->head + skb->csum_start);
}

static void strip_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shim_cases); i++) {
		const struct shim_case *c = &shim_cases[i];
		struct sk_buff *plain = make(test, c), *skb = make_without_mac(test, c);

		insert(test, skb);
		add_mac(skb, c);
		set_sum(skb, c->before);
		strip(test, skb, c);
		expect_same(test, skb, plain, c);
		if (c->mac_bytes >= 0)
			KUNIT_EXPECT_EQ(test, skb->data - skb_mac_header(skb),
					(ptrdiff_t)c->mac_bytes);
		kfree_skb(skb);
		kfree_skb(plain);
	}
}

#define BEHIND_BYTES	12
#define L4_BYTES	20

/* Bytes behind a header of 20 bytes, with ours in front of it: both are removed. */
static void strip_behind(struct kunit *test, struct sk_buff *skb, const struct shim_case *c)
{
	const unsigned char *l4 = skb_tail_pointer(skb) - PAYLOAD_BYTES;
	struct hop_shim_place place;

	KUNIT_ASSERT_TRUE(test, hop_shim_find(skb, &place));
	KUNIT_EXPECT_EQ(test, hop_shim_strip_behind(skb, &place, SHIM_BYTES + L4_BYTES,
						    BEHIND_BYTES), 0);
	KUNIT_EXPECT_EQ(test, hop_shim_strip(skb, &place, SHIM_BYTES, IPPROTO_TCP), 0);
	KUNIT_EXPECT_EQ_MSG(test, (u8)skb->ip_summed, c->after, "%s", c->what);
	KUNIT_EXPECT_PTR_EQ(test, (const unsigned char *)skb_transport_header(skb), l4);
	if (c->after == CHECKSUM_COMPLETE)
		KUNIT_EXPECT_EQ_MSG(test, csum_fold(skb->csum),
				    csum_fold(skb_checksum(skb, 0, skb->len, 0)), "%s", c->what);
	if (c->after == CHECKSUM_PARTIAL)
		KUNIT_EXPECT_PTR_EQ(test, l4, (const unsigned char *)skb->head + skb->csum_start);
}

/* Enlarge a packet behind its header of 20 bytes, as a switch does. */
static void insert_behind(struct sk_buff *skb)
{
	u8 *l4 = skb_transport_header(skb);

	memset(skb_put(skb, BEHIND_BYTES), 0, BEHIND_BYTES);
	memmove(l4 + L4_BYTES + BEHIND_BYTES, l4 + L4_BYTES, PAYLOAD_BYTES - L4_BYTES);
	memset(l4 + L4_BYTES, 0xa5, BEHIND_BYTES);
	if (skb->protocol == htons(ETH_P_IPV6)) {
		ipv6_hdr(skb)->payload_len = htons(PAYLOAD_BYTES + BEHIND_BYTES);
		return;
	}
	ip_hdr(skb)->tot_len = htons(skb->len);
	ip_send_check(ip_hdr(skb));
}

static void strip_behind_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shim_cases); i++) {
		const struct shim_case *c = &shim_cases[i];
		struct sk_buff *plain = make(test, c), *skb = make_without_mac(test, c);

		insert_behind(skb);
		set_sum(skb, c->before);
		insert(test, skb);
		/* As on arrival: the transport header is the first one behind IP. */
		skb->transport_header -= SHIM_BYTES;
		if (c->before == CHECKSUM_COMPLETE)
			set_sum(skb, c->before);
		add_mac(skb, c);
		strip_behind(test, skb, c);
		expect_same(test, skb, plain, c);
		kfree_skb(skb);
		kfree_skb(plain);
	}
}

/*
 * The user of a tap says where the checksum starts. If that is in the header that is removed or in
 * front of it, the packet stays as it is.
 */
static void sum_start_test(struct kunit *test)
{
	static const struct {
		int start_bytes;	/* from the header that is removed */
		int err, behind_err;
	} cases[] = {
		{ -30, -EINVAL, -EINVAL },
		{ -1, -EINVAL, -EINVAL },
		{ 0, -EINVAL, 0 },
		{ L4_BYTES - 1, 0, 0 },
		{ L4_BYTES, 0, -EINVAL },
		{ L4_BYTES + BEHIND_BYTES - 1, 0, -EINVAL },
		{ L4_BYTES + BEHIND_BYTES, 0, 0 },
	};
	size_t i, behind;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (behind = 0; behind <= 1; behind++) {
			struct sk_buff *skb = make(test, &shim_cases[6]);
			struct hop_shim_place place;
			int want = cases[i].err, err;
			unsigned int len;

			if (behind)
				want = cases[i].behind_err;
			insert_behind(skb);
			len = skb->len;
			KUNIT_ASSERT_TRUE(test, hop_shim_find(skb, &place));
			skb->ip_summed = CHECKSUM_PARTIAL;
			skb->csum_start = skb_network_header(skb) - skb->head +
					  place.offset_bytes + cases[i].start_bytes;
			if (behind)
				err = hop_shim_strip_behind(skb, &place, L4_BYTES, BEHIND_BYTES);
			else
				err = hop_shim_strip(skb, &place, BEHIND_BYTES, IPPROTO_TCP);
			KUNIT_EXPECT_EQ_MSG(test, err, want, "%d, %zu", cases[i].start_bytes,
					    behind);
			KUNIT_EXPECT_EQ(test, skb->len, len - (want ? 0 : BEHIND_BYTES));
			if (!want)
				KUNIT_EXPECT_GE(test, skb_checksum_start_offset(skb),
						(int)place.offset_bytes);
			kfree_skb(skb);
		}
	}
}

/* The data of a clone stays as it was. */
static void clone_test(struct kunit *test)
{
	const struct shim_case *c = &shim_cases[6];
	struct sk_buff *skb = make(test, c), *clone, *copy;
	struct hop_shim_place place;

	insert_behind(skb);
	clone = skb_clone(skb, GFP_KERNEL);
	copy = skb_copy(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_ASSERT_TRUE(test, hop_shim_find(skb, &place));
	KUNIT_EXPECT_EQ(test, hop_shim_strip_behind(skb, &place, L4_BYTES, BEHIND_BYTES), 0);
	KUNIT_EXPECT_EQ(test, clone->len, copy->len);
	KUNIT_EXPECT_EQ(test, memcmp(clone->data, copy->data, copy->len), 0);
	/* More than the packet has: unchanged. */
	KUNIT_EXPECT_EQ(test, hop_shim_strip_behind(clone, &place, L4_BYTES, PAYLOAD_BYTES),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, memcmp(clone->data, copy->data, copy->len), 0);
	kfree_skb(skb);
	kfree_skb(clone);
	kfree_skb(copy);
}

/* A MAC header in front of IP prevents insertion; one that a tunnel's device left does not. */
static void mac_test(struct kunit *test)
{
	const struct shim_case *c = &shim_cases[0];
	struct sk_buff *skb = make(test, c);
	struct hop_shim_place place;

	KUNIT_EXPECT_TRUE(test, hop_shim_find(skb, &place));
	KUNIT_EXPECT_NULL(test, hop_shim_insert(skb, &place, SHIM_BYTES, SHIM_PROTOCOL, true));
	skb_set_mac_header(skb, sizeof(struct iphdr));
	insert(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len,
			(unsigned int)(sizeof(struct iphdr) + SHIM_BYTES + PAYLOAD_BYTES));
	kfree_skb(skb);
}

/* The offsets of an IP packet within a packet count from the start of the inner packet. */
static void inner_test(struct kunit *test)
{
	const struct shim_case *c = &shim_cases[1];
	struct sk_buff *skb = make(test, c);
	struct hop_shim_place place;

	memset(skb_push(skb, 7), 0xff, 7);
	KUNIT_EXPECT_TRUE(test, hop_shim_find_at(skb, 7, htons(ETH_P_IPV6), &place));
	KUNIT_EXPECT_EQ(test, place.offset_bytes, (u16)sizeof(struct ipv6hdr));
	KUNIT_EXPECT_EQ(test, place.next, (u8)IPPROTO_TCP);
	KUNIT_EXPECT_FALSE(test, hop_shim_find_at(skb, 7, htons(ETH_P_IP), &place));
	KUNIT_EXPECT_FALSE(test, hop_shim_find_at(skb, 0, htons(ETH_P_IPV6), &place));
	KUNIT_EXPECT_FALSE(test, hop_shim_find_at(skb, 7, 0, &place));
	KUNIT_EXPECT_FALSE(test, hop_shim_find_at(skb, skb->len - 39, htons(ETH_P_IPV6), &place));
	kfree_skb(skb);
}

static struct kunit_case hop_shim_cases[] = {
	KUNIT_CASE(strip_test),
	KUNIT_CASE(strip_behind_test),
	KUNIT_CASE(sum_start_test),
	KUNIT_CASE(clone_test),
	KUNIT_CASE(mac_test),
	KUNIT_CASE(inner_test),
	{}
};

static struct kunit_suite hop_shim_suite = {
	.name = "hop_shim",
	.test_cases = hop_shim_cases,
};

kunit_test_suite(hop_shim_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of a header between IP and transport");
