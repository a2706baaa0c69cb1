/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of the carriers, which /proc/net/hopcc_* shows; see hopcc/core/hop_carrier.h. */
#ifndef HOPCC_LIB_HOP_COUNT_H
#define HOPCC_LIB_HOP_COUNT_H

/* A carrier lists its counters once, as count(INDEX, name): these make its enum and its names. */
#define HOP_COUNTER_INDEX(index, name)	index,
#define HOP_COUNTER_NAME(index, name)	name,

/*
 * The counters that all carriers have, in front of their own. "The option" is the one by which
 * carriers negotiate.
 *
 * SUPPORTED: connections whose peer supports the carrier's headers
 * UNSUPPORTED: connections whose peer does not
 * AVOIDED: connections that do not ask by ACKs, because the peer is cached as one without support
 * IN_NO_FLOW: packets that ask or answer and for which there is no flow
 * IN_HANDSHAKE: packets received with the option
 * OUT_HANDSHAKE: packets sent with the option
 * IN_BAD_SUM: packets with the option whose checksum is wrong
 * NO_ROOM: packets that have no room for the option
 * NO_MEMORY: packets that could not be made writable for the option
 */
#define HOP_CARRIER_COUNT_LIST(prefix, count)		\
	count(prefix##_SUPPORTED, "peer_supported")	\
	count(prefix##_UNSUPPORTED, "peer_unsupported")	\
	count(prefix##_AVOIDED, "peer_avoided")		\
	count(prefix##_IN_NO_FLOW, "in_no_flow")	\
	count(prefix##_IN_HANDSHAKE, "in_handshake")	\
	count(prefix##_OUT_HANDSHAKE, "out_handshake")	\
	count(prefix##_IN_BAD_SUM, "in_bad_sum")	\
	count(prefix##_IN_HIDDEN, "in_hidden")		\
	count(prefix##_OUT_HIDDEN, "out_hidden")	\
	count(prefix##_NO_ROOM, "out_no_room")		\
	count(prefix##_NO_MEMORY, "no_memory")

enum hop_carrier_count {
	HOP_CARRIER_COUNT_LIST(HOP_COUNT, HOP_COUNTER_INDEX)
};

#endif /* HOPCC_LIB_HOP_COUNT_H */
