// SPDX-License-Identifier: GPL-2.0
/*
 * The lab's links between kernels: one clock for several lab kernels, and a device at each end of
 * a link whose ends are in different ones.
 *
 * Each kernel runs on a core of the host, with its own virtual clock. All of them share a memory
 * (wire_memory.h), in which each publishes a lower bound of the time of its next action. A frame
 * takes the link's delay, so a kernel may go on to any time before the bound of each neighbour
 * plus the delay from there. It waits for no message: it reads the others' clocks until it may.
 *
 * A frame carries its time of arrival. There the clock stops, before local events of the same
 * time; frames that arrive at the same time do so in the order of channels, then in that of
 * sending. So a run depends on the division of the network, and never on the speed of the cores.
 */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/reboot.h>
#include <linux/skbuff.h>
#include <linux/time-internal.h>
#include <mem_user.h>
#include <os.h>

#include "wire_memory.h"

/* Reads of the others' clocks before the host may run another process here. */
#define SPINS_MAX 2000

/* As veth, which other links have; but nothing that struct virtio_net_hdr cannot say. */
#define WIRE_FEATURES (NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | \
		       NETIF_F_HIGHDMA | NETIF_F_ALL_TSO)
#define WIRE_VLAN_FEATURES (NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX | \
			    NETIF_F_HW_VLAN_STAG_TX | NETIF_F_HW_VLAN_STAG_RX)

static unsigned int kernel;
module_param(kernel, uint, 0444);
MODULE_PARM_DESC(kernel, "number of this kernel, from 0 on");

/**
 * struct wire_port - private data of a device
 * @link: index of the link
 * @out: the channel that it sends to
 */
struct wire_port {
	u32 link;
	u32 out;
};

/**
 * struct wire_state - this kernel's view of the shared memory
 * @head: the memory
 * @clocks: clocks of all kernels
 * @channels: table of channels
 * @links: table of links
 * @devices: the device of each link that has an end here
 * @tails_bytes: by channel: its tail when the clocks were last read; of an own one, its tail
 * @heads_bytes: by channel: its head
 * @horizon_ns: no unknown frame arrives before this time
 * @published_ns: this kernel's clock as the others see it
 * @step_ns: the least step by which a kernel that need not wait publishes its clock
 */
static struct wire_state {
	struct wire_head *head;
	struct wire_clock *clocks;
	const struct wire_channel *channels;
	const struct wire_link *links;
	struct net_device **devices;
	u64 *tails_bytes;
	u64 *heads_bytes;
	u64 horizon_ns;
	u64 published_ns;
	u64 step_ns;
} state;

static struct wire_ring *wire_ring(u32 channel)
{
	return (void *)state.head + state.channels[channel].offset_bytes;
}

static u32 wire_record_bytes(u32 len)
{
	return ALIGN(sizeof(struct wire_frame) + len, sizeof(struct wire_frame));
}

/* Frames begin at multiples of the size of their heads, so that no head is divided. */
static struct wire_frame *wire_frame_at(u32 channel, u64 at_bytes)
{
	return (void *)wire_ring(channel)->data +
	       (at_bytes & (state.channels[channel].ring_bytes - 1));
}

/* The frame of the channel that arrives first; NULL: none is known. */
static struct wire_frame *wire_first(u32 channel)
{
	u64 head_bytes = state.heads_bytes[channel];

	if (state.channels[channel].to != kernel || head_bytes == state.tails_bytes[channel])
		return NULL;
	return wire_frame_at(channel, head_bytes);
}

/* Find the channel with the first arrival. Return: its time, U64_MAX if no frame is known. */
static u64 wire_next_arrival(u32 *channel)
{
	u64 arrival_ns = U64_MAX;
	struct wire_frame *frame;
	u32 i;

	for (i = 0; i < state.head->channels; i++) {
		frame = wire_first(i);
		if (frame && frame->arrival_ns < arrival_ns) {
			arrival_ns = frame->arrival_ns;
			*channel = i;
		}
	}
	return arrival_ns;
}

/* --- the clock --- */

static void wire_publish(u64 ns)
{
	if (ns <= state.published_ns)
		return;
	/* Pairs with wire_look(): frames sent before this time are in the rings. */
	smp_store_release(&state.clocks[kernel].ns, ns);
	state.published_ns = ns;
}

/* Read the others' clocks. Return: true if the horizon is further away. */
static bool wire_look(void)
{
	const struct wire_channel *channel;
	u64 horizon_ns = U64_MAX, old_ns = state.horizon_ns, clock_ns;
	u32 i;

	for (i = 0; i < state.head->channels; i++) {
		channel = &state.channels[i];
		if (channel->to != kernel)
			continue;
		/* Pairs with wire_publish(). */
		clock_ns = smp_load_acquire(&state.clocks[channel->from].ns);
		horizon_ns = min(horizon_ns, clock_ns + channel->delay_ns);
	}
	/* Only now: the frames of the time before those clocks are there. */
	for (i = 0; i < state.head->channels; i++) {
		if (state.channels[i].to != kernel)
			continue;
		/* Pairs with wire_write(): the bytes up to the tail are there. */
		state.tails_bytes[i] = smp_load_acquire(&wire_ring(i)->tail_bytes);
	}
	state.horizon_ns = horizon_ns;
	return horizon_ns > old_ns;
}

static struct time_travel_peers peers;

static bool wire_wait(unsigned long long *ns)
{
	u64 arrival_ns, first_ns;
	u32 channel, spins = 0;

	for (;;) {
		/* The frames of an arrival that still has to be handled are not new. */
		arrival_ns = peers.arrival.pending ? U64_MAX : wire_next_arrival(&channel);
		first_ns = min_t(u64, *ns, arrival_ns);
		if (first_ns < state.horizon_ns)
			break;
		wire_publish(min(first_ns, state.horizon_ns));
		if (wire_look())
			continue;
		/* Not cpu_relax(), which lets virtual time pass and would get here again. */
		if (++spins < SPINS_MAX)
			rep_nop();
		else
			os_yield();
	}
	if (first_ns >= state.published_ns + state.step_ns)
		wire_publish(first_ns);
	if (arrival_ns > *ns)
		return false;
	*ns = arrival_ns;
	return true;
}

/* --- frames --- */

/* Copy between a ring and a frame's bytes, which may go on at the start of the ring. */
static u32 wire_part_bytes(u32 channel, u64 at_bytes, u32 len)
{
	u64 ring_bytes = state.channels[channel].ring_bytes;

	return min_t(u64, len, ring_bytes - (at_bytes & (ring_bytes - 1)));
}

static bool wire_has_room(u32 channel, u32 bytes)
{
	/* Pairs with wire_arrive(): the bytes up to the head have been read. */
	u64 head_bytes = smp_load_acquire(&wire_ring(channel)->head_bytes);
	u64 used_bytes = state.tails_bytes[channel] - head_bytes;

	return used_bytes + bytes <= state.channels[channel].ring_bytes;
}

static void wire_write(const struct sk_buff *skb, const struct wire_port *port,
		       const struct virtio_net_hdr *offload)
{
	u64 tail_bytes = state.tails_bytes[port->out];
	u64 at_bytes = tail_bytes + sizeof(struct wire_frame);
	u32 part_bytes = wire_part_bytes(port->out, at_bytes, skb->len);
	struct wire_frame *frame = wire_frame_at(port->out, tail_bytes);

	*frame = (struct wire_frame){
		.arrival_ns = time_travel_now() + state.channels[port->out].delay_ns,
		.len = skb->len,
		.link = port->link,
		.offload = *offload,
	};
	if (skb_vlan_tag_present(skb)) {
		frame->vlan_tci = skb_vlan_tag_get(skb);
		frame->vlan_proto = skb->vlan_proto;
	}
	skb_copy_bits(skb, 0, wire_frame_at(port->out, at_bytes), part_bytes);
	skb_copy_bits(skb, part_bytes, wire_ring(port->out)->data, skb->len - part_bytes);
	state.tails_bytes[port->out] += wire_record_bytes(skb->len);
	/* Pairs with wire_look(). */
	smp_store_release(&wire_ring(port->out)->tail_bytes, state.tails_bytes[port->out]);
}

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	const struct wire_port *port = netdev_priv(dev);
	u32 to = state.channels[port->out].to;
	struct virtio_net_hdr offload;

	/* A kernel that has ended reads nothing. */
	if (READ_ONCE(state.clocks[to].ns) >= WIRE_OVER_NS)
		goto drop;
	/* The lab makes rings larger than what a link can have under way. */
	if (WARN_ONCE(!wire_has_room(port->out, wire_record_bytes(skb->len)),
		      "net_wire: the ring to kernel %u is full", to))
		goto drop;
	if (WARN_ONCE(virtio_net_hdr_from_skb(skb, &offload, true, false, 0),
		      "net_wire: a GSO packet of unknown type"))
		goto drop;
	wire_write(skb, port, &offload);
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	consume_skb(skb);
	return NETDEV_TX_OK;
drop:
	dev->stats.tx_dropped++;
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* Return: the frame as a packet of @dev; NULL without memory. */
static struct sk_buff *wire_read(u32 channel, const struct wire_frame *frame,
				 struct net_device *dev)
{
	u64 at_bytes = state.heads_bytes[channel] + sizeof(*frame);
	u32 part_bytes = wire_part_bytes(channel, at_bytes, frame->len);
	struct sk_buff *skb = netdev_alloc_skb_ip_align(dev, frame->len);

	if (!skb)
		return NULL;
	skb_put_data(skb, wire_frame_at(channel, at_bytes), part_bytes);
	skb_put_data(skb, wire_ring(channel)->data, frame->len - part_bytes);
	if (virtio_net_hdr_to_skb(skb, &frame->offload, true)) {
		kfree_skb(skb);
		return NULL;
	}
	if (frame->vlan_proto)
		__vlan_hwaccel_put_tag(skb, frame->vlan_proto, frame->vlan_tci);
	skb->protocol = eth_type_trans(skb, dev);
	return skb;
}

static void wire_receive(u32 channel, const struct wire_frame *frame)
{
	struct net_device *dev = state.devices[frame->link];
	struct sk_buff *skb;

	if (!netif_running(dev))
		return;
	skb = wire_read(channel, frame, dev);
	if (!skb) {
		dev->stats.rx_dropped++;
		return;
	}
	dev->stats.rx_packets++;
	dev->stats.rx_bytes += frame->len;
	netif_rx(skb);
}

static void wire_arrive(struct time_travel_event *event)
{
	struct wire_frame *frame;
	u32 channel;

	while (wire_next_arrival(&channel) <= time_travel_now()) {
		frame = wire_first(channel);
		wire_receive(channel, frame);
		state.heads_bytes[channel] += wire_record_bytes(frame->len);
		/* Pairs with wire_has_room(). */
		smp_store_release(&wire_ring(channel)->head_bytes, state.heads_bytes[channel]);
	}
}

static struct time_travel_peers peers = {
	.wait = wire_wait,
	.arrival = { .fn = wire_arrive },
};

/* --- devices --- */

static const struct net_device_ops wire_ops = {
	.ndo_start_xmit		= wire_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_features_check	= passthru_features_check,
};

/* The speed that veth reports. */
static int wire_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *cmd)
{
	cmd->base.speed = SPEED_10000;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_TP;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static const struct ethtool_ops wire_ethtool_ops = {
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= wire_get_link_ksettings,
};

static void wire_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_ops;
	dev->ethtool_ops = &wire_ethtool_ops;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE;
	dev->features |= WIRE_FEATURES | WIRE_VLAN_FEATURES;
	dev->vlan_features = WIRE_FEATURES;
	dev->hw_features = dev->features;
	dev->mpls_features = NETIF_F_HW_CSUM | NETIF_F_ALL_TSO;
	dev->max_mtu = ETH_MAX_MTU;
	dev->needs_free_netdev = true;
}

static int wire_add_device(u32 link, int end)
{
	struct net_device *dev;
	/* The lab sets the address when the device gets into its namespace. */
	u8 address[ETH_ALEN] = { 2, 0, 1, link >> 8, link, end };
	struct wire_port *port;
	char name[IFNAMSIZ];
	int err;

	snprintf(name, sizeof(name), "wire%u", state.links[link].number);
	dev = alloc_netdev(sizeof(*port), name, NET_NAME_USER, wire_setup);
	if (!dev)
		return -ENOMEM;
	port = netdev_priv(dev);
	port->link = link;
	port->out = state.links[link].channel[end];
	eth_hw_addr_set(dev, address);
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return err;
	}
	state.devices[link] = dev;
	return 0;
}

static int wire_add_devices(void)
{
	int end, err;
	u32 i;

	for (i = 0; i < state.head->links; i++)
		for (end = 0; end < WIRE_ENDS; end++) {
			if (state.links[i].kernel[end] != kernel)
				continue;
			err = wire_add_device(i, end);
			if (err)
				return err;
		}
	return 0;
}

/* A kernel that ends holds the others up no longer. */
static int wire_over(struct notifier_block *nb, unsigned long action, void *data)
{
	time_travel_peers = NULL;
	wire_publish(WIRE_OVER_NS);
	return NOTIFY_DONE;
}

static struct notifier_block wire_reboot = { .notifier_call = wire_over };

/* --- start --- */

static int wire_find_memory(void)
{
	unsigned long bytes;
	struct wire_head *head = (void *)find_iomem("wire", &bytes);

	if (!head || head->magic != WIRE_MAGIC || kernel >= head->kernels)
		return -ENODEV;
	state.head = head;
	state.clocks = (void *)(head + 1);
	state.channels = (void *)(state.clocks + head->kernels);
	state.links = (void *)(state.channels + head->channels);
	return 0;
}

static int wire_alloc(void)
{
	state.devices = kcalloc(state.head->links, sizeof(*state.devices), GFP_KERNEL);
	state.tails_bytes = kcalloc(state.head->channels, sizeof(u64), GFP_KERNEL);
	state.heads_bytes = kcalloc(state.head->channels, sizeof(u64), GFP_KERNEL);
	return state.devices && state.tails_bytes && state.heads_bytes ? 0 : -ENOMEM;
}

static void wire_set_step(void)
{
	u64 delay_ns = U64_MAX;
	u32 i;

	for (i = 0; i < state.head->channels; i++)
		delay_ns = min(delay_ns, state.channels[i].delay_ns);
	state.step_ns = delay_ns / 4;
}

static int __init wire_init(void)
{
	int err = wire_find_memory() ?: wire_alloc() ?: wire_add_devices();

	if (err)
		return err;
	wire_set_step();
	register_reboot_notifier(&wire_reboot);
	time_travel_peers = &peers;
	return 0;
}
module_init(wire_init);

MODULE_DESCRIPTION("hopcc: the lab's links between kernels");
MODULE_LICENSE("GPL");
