/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that the kernels of one run share. hoplab/wires.py lays it out and fills the head and
 * the two tables in; numbers are in the byte order of the machine.
 *
 *	head	clocks[kernels]		channels[channels]	links[links]	rings
 */
#ifndef HOPCC_TOOLS_LAB_NET_WIRE_WIRE_MEMORY_H
#define HOPCC_TOOLS_LAB_NET_WIRE_WIRE_MEMORY_H

#include <linux/types.h>
#include <linux/virtio_net.h>

#define WIRE_MAGIC	0x31657269772d6f68ULL
/* The clock of a kernel that has ended: it sends nothing any more. */
#define WIRE_OVER_NS	(~0ULL >> 1)
/* Both ends of a link are in different kernels, so a link has two channels. */
#define WIRE_ENDS	2

/**
 * struct wire_head - what the memory holds
 * @magic: WIRE_MAGIC
 * @kernels: number of kernels
 * @channels: number of channels
 * @links: number of links
 */
struct wire_head {
	u64 magic;
	u32 kernels;
	u32 channels;
	u32 links;
} __aligned(64);

/**
 * struct wire_clock - the clock of a kernel; only this kernel writes it
 * @ns: it sends no frame before this time, unless it has written it already
 */
struct wire_clock {
	u64 ns;
} __aligned(64);

/**
 * struct wire_channel - frames from one kernel to another, over all links of the same delay
 * @from: number of the kernel that sends
 * @to: number of the kernel that receives
 * @delay_ns: propagation delay
 * @offset_bytes: place of the struct wire_ring from the start of the memory
 * @ring_bytes: bytes of its data, a power of two
 */
struct wire_channel {
	u32 from;
	u32 to;
	u64 delay_ns;
	u64 offset_bytes;
	u64 ring_bytes;
};

/**
 * struct wire_link - a link between two kernels
 * @number: the number in the names of its two devices
 * @kernel: the kernel of each end
 * @channel: the channel that each end sends to
 */
struct wire_link {
	u32 number;
	u32 kernel[WIRE_ENDS];
	u32 channel[WIRE_ENDS];
};

/**
 * struct wire_ring - a channel's frames, each a struct wire_frame and its bytes
 * @tail_bytes: bytes written so far, by the sender
 * @head_bytes: bytes read so far, by the receiver
 * @data: bytes from head to tail, modulo the ring's size
 */
struct wire_ring {
	u64 tail_bytes __aligned(64);
	u64 head_bytes __aligned(64);
	u8 data[] __aligned(64);
};

/**
 * struct wire_frame - the head of a frame in a ring, which its size divides
 * @arrival_ns: time of arrival, of the clock of all kernels
 * @len: bytes that follow
 * @link: index of the link
 * @vlan_tci: the VLAN tag that is not in the bytes
 * @vlan_proto: its protocol; 0: there is none
 * @offload: checksum and segmentation that are left to the receiver
 */
struct wire_frame {
	u64 arrival_ns;
	u32 len;
	u32 link;
	u16 vlan_tci;
	__be16 vlan_proto;
	struct virtio_net_hdr offload;
} __aligned(32);

#endif /* HOPCC_TOOLS_LAB_NET_WIRE_WIRE_MEMORY_H */
