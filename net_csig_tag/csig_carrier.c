// SPDX-License-Identifier: GPL-2.0
/* Negotiation and paths that drop tags; the functions for each packet are in csig_carrier.h. */

#include "csig_carrier.h"

void ctag_opt_write_question(u8 *to, u16 exid)
{
	memset(ctag_opt_write_head(to, exid, CSIG_QUESTION_DATA_BYTES, CSIG_OPT_QUESTION_BYTES), 0,
	       CSIG_QUESTION_DATA_BYTES);
}

void ctag_turns_start(struct ctag_turns *v)
{
	v->type = CSIG_TYPES - 1;
	v->left_pkts = 0;
}

void ctag_path_miss(struct csig_path *p, u64 now_ns)
{
	p->waiting = false;
	WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
	if (++p->misses < CSIG_MISSES_MAX)
		return;
	WRITE_ONCE(p->state, CSIG_PATH_STRIPPED);
	p->since_ns = now_ns;
}

void ctag_path_unsent(struct csig_path *p)
{
	if (p->newest)
		p->waiting = false;
}
