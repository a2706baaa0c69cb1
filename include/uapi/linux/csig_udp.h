/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * CSIG over UDP, draft-ravi-ippm-csig-01 section 4.2.2: how net_csig_tag tells an
 * application the tag of a datagram, and how it may reflect that in its own payload.
 *
 * With a rule `udp ...` in net.hopcc.csig_rules the mark of a datagram that came with a tag
 * is that tag. An application that has set SO_RCVMARK reads it as the control message
 * SO_MARK of recvmsg():
 *
 *	31     30         27..24 23..4      15..0
 *	valid  expanded   type   value                of an expanded tag, whose locator is left out
 *	valid  0                            T R S LM  of a compact tag, as in the frame
 *
 * It is the packet's mark to the kernel, too: see Documentation/net_csig_tag.md.
 *
 * In the payload, figure 4 of the draft: three bytes, flags and the compact tag's fields.
 */
#ifndef HOPCC_UAPI_CSIG_UDP_H
#define HOPCC_UAPI_CSIG_UDP_H

#include <linux/types.h>

#define CSIG_UDP_VALID		0x80000000U
#define CSIG_UDP_EXPANDED	0x40000000U
#define CSIG_UDP_TYPE_SHIFT	24
#define CSIG_UDP_VALUE_SHIFT	4

/* Of the flags in the payload. */
#define CSIG_UDP_FLAG_VALID	0x01
#define CSIG_UDP_BYTES		3

/* Reflect the mark of a datagram, or 0: flags say whether it had a compact tag. */
static inline void csig_udp_put(__u8 *at, __u32 mark)
{
	const int valid = (mark & (CSIG_UDP_VALID | CSIG_UDP_EXPANDED)) == CSIG_UDP_VALID;

	at[0] = valid ? CSIG_UDP_FLAG_VALID : 0;
	at[1] = valid ? mark >> 8 & 0xff : 0;
	at[2] = valid ? mark & 0xff : 0;
}

/* Was a signal reflected? Then its type, value (a bucket) and locator. */
static inline int csig_udp_get(const __u8 *at, __u32 *type, __u32 *value, __u32 *locator)
{
	const __u32 data = at[1] << 8 | at[2];

	if (!(at[0] & CSIG_UDP_FLAG_VALID))
		return 0;
	*type = data >> 13;
	*value = data >> 7 & 0x1f;
	*locator = data & 0x7f;
	return 1;
}

#endif /* HOPCC_UAPI_CSIG_UDP_H */
