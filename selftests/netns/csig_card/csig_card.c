// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet cards with a cable between them, card0 and card1, that sum up and segment
 * only what they can parse: TCP on IP, behind one VLAN tag or none. What else is left to them
 * is lost, and counted: a real one would send it mangled.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>

#define CARD_FEATURES (NETIF_F_SG | NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM | NETIF_F_TSO | \
		       NETIF_F_TSO6 | NETIF_F_HIGHDMA)

/* The lab has one CPU, and this is softirq or BH off: no race. */
static ulong parsed;
module_param(parsed, ulong, 0644);
MODULE_PARM_DESC(parsed, "packets that the card summed up or segmented");
static ulong mistaken;
module_param(mistaken, ulong, 0644);
MODULE_PARM_DESC(mistaken, "packets that it could not parse");

static struct net_device *cards[2];

static bool card_parses(const struct sk_buff *skb)
{
	__be16 protocol = eth_hdr(skb)->h_proto;

	if (protocol == htons(ETH_P_8021Q))
		protocol = vlan_eth_hdr(skb)->h_vlan_encapsulated_proto;
	return protocol == htons(ETH_P_IP) || protocol == htons(ETH_P_IPV6);
}

static netdev_tx_t card_xmit(struct sk_buff *skb, struct net_device *dev)
{
	skb_reset_mac_header(skb);
	if (skb->ip_summed == CHECKSUM_PARTIAL || skb_is_gso(skb)) {
		if (!card_parses(skb)) {
			mistaken++;
			kfree_skb(skb);
			return NETDEV_TX_OK;
		}
		parsed++;
	}
	dev_forward_skb(cards[dev == cards[0]], skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops card_ops = {
	.ndo_start_xmit = card_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static void card_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &card_ops;
	dev->needs_free_netdev = true;
	dev->features = CARD_FEATURES;
	dev->vlan_features = CARD_FEATURES;
	dev->hw_enc_features = 0;
	eth_hw_addr_random(dev);
}

static int __init card_init(void)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		cards[i] = alloc_netdev(0, "card%d", NET_NAME_ENUM, card_setup);
		err = cards[i] ? register_netdev(cards[i]) : -ENOMEM;
	}
	return err;
}

module_init(card_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cards that parse, for tests of CSIG");
