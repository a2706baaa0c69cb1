/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * CSIG over UDP, draft-ravi-ippm-csig-01 section 4.2.2: how net_csig_tag reports the tag of a
 * datagram to an application, and how the application may reflect it in its own payload.
 *
 * With a rule `udp ...` in net.hopcc.csig_rules, the mark of a datagram that was received with a
 * tag is set to that tag. An application that has set SO_RCVMARK reads it as the control message
 * SO_MARK of recvmsg():
 *
 *	31     30         27..24 23..4      15..0
 *	valid  expanded   type   value                of an expanded tag, without its locator
 *	valid  0                            T R S LM  of a compact tag, as in the frame
 *
 * The kernel, too, uses this value as the packet's mark: see
 * Documentation/reference/net_csig_tag.md.
 *
 * The payload of figure 4 of the draft has three bytes: flags and the compact tag's fields.
 */
#ifndef HOPCC_UAPI_CSIG_UDP_H
#define HOPCC_UAPI_CSIG_UDP_H

#include <linux/types.h>

#define CSIG_UDP_VALID		0x80000000U
#define CSIG_UDP_EXPANDED	0x40000000U
#define CSIG_UDP_TYPE_SHIFT	24
#define CSIG_UDP_VALUE_SHIFT	4

/* Flags in the payload */
#define CSIG_UDP_FLAG_VALID	0x01
#define CSIG_UDP_BYTES		3

/* Write the mark of a datagram, or 0, to the payload; the flags show if it has a compact tag. */
static inline void csig_udp_put(__u8 *at, __u32 mark)
{
	const int valid = (mark & (CSIG_UDP_VALID | CSIG_UDP_EXPANDED)) == CSIG_UDP_VALID;

	at[0] = valid ? CSIG_UDP_FLAG_VALID : 0;
	at[1] = valid ? mark >> 8 & 0xff : 0;
	at[2] = valid ? mark & 0xff : 0;
}

/* Return: 1 if a signal was reflected, with its type, value (a bucket) and locator; otherwise 0 */
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
