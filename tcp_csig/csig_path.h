/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of another path by CSIG: draft-ravi-ippm-csig-01, section 8.2.1 */
#ifndef HOPCC_TCP_CSIG_CSIG_PATH_H
#define HOPCC_TCP_CSIG_CSIG_PATH_H

#include "csig_sender.h"

#define TCSIG_MOVE_MAX_ROUNDS	1000U
#define TCSIG_EDGES	2U

/**
 * tcsig_is_core() - check if another path could avoid the bottleneck (8.2.1)
 * @edges: TCSIG_EDGES pairs of a value and a mask for locators of ports, such as last hops, that no
 *	other path avoids; a mask of 0 is none; without any the result is not known, i.e. false
 * @locator: locator of the bottleneck
 *
 * Return: true if another path could avoid it.
 */
bool tcsig_is_core(const int *edges, u32 locator);

/**
 * struct tcsig_path - decides when to try another path (8.2.1)
 * @left: bottleneck that was left last; 0: none
 * @points: points in favour of a move
 * @above_pkts: packets delivered when the delay rose above the target, or a round trip later
 * @tries: number of consecutive tries that led back to @left
 * @above: the delay is above the target
 * @waits: packets are still on the previous path, whose queue the first packets of the new path
 *	overtake
 * @fresh: all packets are on the new path, but no whole round of reports about it has ended yet
 */
struct tcsig_path {
	u32 left;
	s32 points;
	u32 above_pkts;
	u8 tries;
	bool above;
	bool waits;
	bool fresh;
};

/**
 * tcsig_path_is_old() - check if a report is about the path that was left
 * @path: the state
 * @locator: locator of the bottleneck
 *
 * Return: true if it is.
 */
static inline bool tcsig_path_is_old(const struct tcsig_path *path, u32 locator)
{
	return path->waits && locator == path->left;
}

/**
 * tcsig_path_settle() - all packets sent before the move have arrived
 * @path: the state; waits
 */
void tcsig_path_settle(struct tcsig_path *path);

/**
 * tcsig_path_round() - process the end of a round
 * @path: the state
 * @target_ns: target delay
 * @least_ns: minimum delay reported in the round; TCSIG_NO_DELAY: none
 * @locator: locator of the bottleneck if it is in the core; otherwise 0
 *
 * A queue below the target is what the algorithm leaves: with other flows, or alone if the core is
 * slower than the host. Only a try can tell which, so it takes longer.
 */
void tcsig_path_round(struct tcsig_path *path, u64 target_ns, u64 least_ns, u32 locator);

/**
 * tcsig_path_receive() - process an ACK: decide if another path should be tried
 * @path: the state; call tcsig_path_round() first if the ACK ended a round
 * @target_ns: target delay
 * @a: the ACK
 * @locator: locator of the bottleneck if it is in the core; otherwise 0
 * @wanted: number of round trips above the target, at least 1
 * @random: any value
 *
 * Return: true to try another path now.
 */
bool tcsig_path_receive(struct tcsig_path *path, u64 target_ns, const struct tcsig_ack *a,
			u32 locator, u32 wanted, u32 random);

#endif /* HOPCC_TCP_CSIG_CSIG_PATH_H */
