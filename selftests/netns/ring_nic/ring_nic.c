// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1, on a bus like real hardware. Each has
 * one transmit queue with a ring, from which it sends packet after packet at the cable's rate. A
 * packet arrives at the other NIC when its last byte has been sent.
 *
 * The driver stops the queue when the ring is full. An interrupt reports packets that were sent,
 * late_ns after the first of them. With bql the driver counts bytes for byte queue limits, as most
 * drivers do.
 */
#include <linux/hrtimer.h>
#include <linux/platform_device.h>

#define NIC_FEATURES	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA)
#define NIC_START	nic_plug
#define NIC_PRIV_BYTES	sizeof(struct ring)

/**
 * struct ring - the ring of one NIC; the positions wrap
 * @lock: protects all members; nests in nothing
 * @sent: ends with the packet that is being sent
 * @interrupt: reports packets that were sent
 * @dev: the NIC
 * @skb: the packets
 * @put: number of packets put into the ring; written by the driver
 * @gone: number of packets sent
 * @freed: number of those that an interrupt has reported
 * @freed_bytes: bytes sent that no interrupt has reported
 */
struct ring {
	spinlock_t lock; /* protects the ring */
	struct hrtimer sent;
	struct hrtimer interrupt;
	struct net_device *dev;
	struct sk_buff *skb[1024];
	unsigned int put;
	unsigned int gone;
	unsigned int freed;
	unsigned int freed_bytes;
};

#include "nic.h"

static struct platform_device *slot;

static int mbit = 1000;
module_param(mbit, int, 0644);
MODULE_PARM_DESC(mbit, "rate of the cable, Mbit/s");
static int slots = 256;
module_param(slots, int, 0644);
MODULE_PARM_DESC(slots, "length of a ring, packets, at most 1024");
static int late_ns;
module_param(late_ns, int, 0644);
MODULE_PARM_DESC(late_ns, "delay of the interrupt, ns");
static bool bql;
module_param(bql, bool, 0644);
MODULE_PARM_DESC(bql, "byte queue limits; change it while the rings are empty");

/* Start to send at the time that the timer would have to expire; so its latency does not add up. */
static void nic_send_next(struct ring *ring, ktime_t start)
{
	const struct sk_buff *skb = ring->skb[ring->gone % ARRAY_SIZE(ring->skb)];

	hrtimer_start(&ring->sent, ktime_add_ns(start, skb->len * 8000ULL / mbit),
		      HRTIMER_MODE_ABS_SOFT);
}

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);

	spin_lock(&ring->lock);
	ring->skb[ring->put++ % ARRAY_SIZE(ring->skb)] = skb;
	if (bql)
		netdev_sent_queue(dev, skb->len);
	if (ring->put - ring->freed >= slots)
		netif_stop_queue(dev);
	if (ring->put - ring->gone == 1)
		nic_send_next(ring, ktime_get());
	spin_unlock(&ring->lock);
	return NETDEV_TX_OK;
}

/* Free the packets that were sent. */
static void nic_free(struct ring *ring)
{
	const unsigned int pkts = ring->gone - ring->freed, bytes = ring->freed_bytes;

	ring->freed = ring->gone;
	ring->freed_bytes = 0;
	if (bql)
		netdev_completed_queue(ring->dev, pkts, bytes);
	if (ring->put - ring->freed < slots)
		netif_wake_queue(ring->dev);
}

static enum hrtimer_restart nic_interrupt(struct hrtimer *timer)
{
	struct ring *ring = container_of(timer, struct ring, interrupt);

	spin_lock(&ring->lock);
	nic_free(ring);
	spin_unlock(&ring->lock);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart nic_sent(struct hrtimer *timer)
{
	struct ring *ring = container_of(timer, struct ring, sent);
	struct sk_buff *skb;

	spin_lock(&ring->lock);
	skb = ring->skb[ring->gone++ % ARRAY_SIZE(ring->skb)];
	ring->freed_bytes += skb->len;
	if (!late_ns)
		nic_free(ring);
	else if (!hrtimer_is_queued(&ring->interrupt))
		hrtimer_start(&ring->interrupt, ns_to_ktime(late_ns), HRTIMER_MODE_REL_SOFT);
	if (ring->put != ring->gone)
		nic_send_next(ring, hrtimer_get_expires(timer));
	spin_unlock(&ring->lock);
	dev_forward_skb(nic_peer(ring->dev), skb);
	return HRTIMER_NORESTART;
}

static int nic_plug(struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);

	if (!slot)
		slot = platform_device_register_simple("ring_nic", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	SET_NETDEV_DEV(dev, &slot->dev);
	spin_lock_init(&ring->lock);
	hrtimer_setup(&ring->sent, nic_sent, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&ring->interrupt, nic_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	ring->dev = dev;
	return 0;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Pair of NICs whose rings hold packets, for tests of switch qdiscs");
