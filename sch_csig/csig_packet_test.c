// SPDX-License-Identifier: GPL-2.0
/* Test of scsig_packet_normalise() with packets made here. Runs in the kernel only. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>

#include "csig_packet.c"

#define IP_AT	(ETH_HLEN + 4)
#define TCP_AT	(IP_AT + sizeof(struct iphdr))
#define BYTES	(TCP_AT + sizeof(struct tcphdr) + 100)

static const struct csig_tpids tpids = {
	{ 0, CSIG_TPID_COMPACT_DEFAULT, CSIG_TPID_EXPANDED_DEFAULT },
};

static const struct packet_case {
	const char *what;
	u8 ip_summed;
	int transport_at;	/* 0: not set */
	int sum_at;		/* start of the checksum that the device computes */
} packet_cases[] = {
	{ "received", CHECKSUM_NONE, ETH_HLEN, 0 },
	{ "never set", CHECKSUM_NONE, 0, 0 },
	{ "its sum is left to the device", CHECKSUM_PARTIAL, ETH_HLEN, TCP_AT },
	{ "of a host of ours, bridged", CHECKSUM_PARTIAL, TCP_AT, TCP_AT },
	{ "of a tap, the sum starts at the frame", CHECKSUM_PARTIAL, ETH_HLEN, 0 },
	{ "of a tap, the sum starts in IP", CHECKSUM_PARTIAL, IP_AT + 7, IP_AT + 7 },
	{ "of a tap, the sum starts in the data", CHECKSUM_PARTIAL, BYTES - 50, BYTES - 50 },
};

static void packet_desc(const struct packet_case *c, char *desc)
{
	strcpy(desc, c->what);
}

KUNIT_ARRAY_PARAM(packet, packet_cases, packet_desc);

/* Make a packet of the second form, as from a bridge: the network header is at the tag. */
static struct sk_buff *make_packet(const struct packet_case *c)
{
	struct sk_buff *skb = alloc_skb(BYTES, GFP_KERNEL);
	u8 *frame;

	if (!skb)
		return NULL;
	frame = skb_put_zero(skb, BYTES);
	csig_put(CSIG_COMPACT, frame + CSIG_FIRST_TAG_BYTES, &tpids, &(struct csig_tag){});
	frame[IP_AT - 2] = ETH_P_IP >> 8;
	frame[IP_AT] = 0x45;
	skb->protocol = htons(CSIG_TPID_COMPACT_DEFAULT);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	if (c->transport_at)
		skb_set_transport_header(skb, c->transport_at);
	skb->ip_summed = c->ip_summed;
	skb->csum_start = skb_headroom(skb) + c->sum_at;
	skb->csum_offset = offsetof(struct tcphdr, check);
	return skb;
}

static void normalise_test(struct kunit *test)
{
	struct sk_buff *skb = make_packet(test->param_value);
	struct net_device *dev = alloc_etherdev(0);
	const struct packet_case *c = test->param_value;
	struct csig_place place;

	KUNIT_EXPECT_TRUE(test, skb && dev);
	if (skb && dev) {
		dev->features = NETIF_F_HW_CSUM;
		place = scsig_packet_find(skb, &tpids);
		rcu_read_lock();
		KUNIT_EXPECT_TRUE(test, scsig_packet_is_second_form(skb, &place));
		KUNIT_EXPECT_TRUE(test, scsig_packet_normalise(skb, dev, &place));
		KUNIT_EXPECT_FALSE(test, scsig_packet_is_second_form(skb, &place));
		rcu_read_unlock();
		KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ETH_P_IP);
		KUNIT_EXPECT_EQ(test, skb_network_offset(skb), IP_AT);
		KUNIT_EXPECT_EQ(test, skb_transport_offset(skb), (int)TCP_AT);
	}
	kfree_skb(skb);
	if (dev)
		free_netdev(dev);
}

static struct kunit_case scsig_packet_cases[] = {
	KUNIT_CASE_PARAM(normalise_test, packet_gen_params),
	{}
};

static struct kunit_suite scsig_packet_suite = {
	.name = "csig_packet",
	.test_cases = scsig_packet_cases,
};

kunit_test_suite(scsig_packet_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of CSIG tags in packets");
