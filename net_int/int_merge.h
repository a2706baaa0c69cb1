/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two segments, one header of telemetry: what GRO may merge.
 *
 * The newest header stays, with its records and its id. What is lost is used by nobody:
 *
 * - A receiver's answer tells of one packet, the newest, and supersedes the answers to all before
 *   (int_answered()). Merged segments are answered once, with the id and records of the last and
 *   with TCP's sequence number behind it: as if the answers to the others had been overtaken.
 *   So it is with segments of one GSO packet, which have one id, and with those of several.
 * - The law, wherever it runs, compares the newest records with those that it took before, over
 *   the time between. Segments that merge arrive within one poll of a NIC, far below T; a
 *   sender whose ACKs are merged by GRO takes as many.
 *
 * What the carrier treats differently does not merge: another type, length, flag, path or number
 * of hops, which a change of the path shows; another cookie, since a forged segment must not get
 * in with good ones; an older id behind a newer one, since the answer would be taken for old.
 */
#ifndef NET_INT_INT_MERGE_H
#define NET_INT_INT_MERGE_H

#include <linux/string.h>
#include <linux/types.h>
#include <net/int.h>

/* The header, with its tail; of a header that int_check() passed. */
static inline unsigned int int_shim_bytes(const struct int_hdr *h)
{
	return h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
}

static inline const struct int_tail *int_tail_of(const struct int_hdr *h)
{
	return (const void *)h + h->words * INT_WORD_BYTES;
}

/**
 * int_may_merge() - may the newer of two headers stand for the segments of both?
 * @held: an INT_TYPE_DATA header that int_check() passed, with its tail
 * @header: another, of the segment that follows
 *
 * Return: true if int_merge() loses nothing that is used.
 */
static inline bool int_may_merge(const struct int_hdr *held, const struct int_hdr *header)
{
	const struct int_tail *old, *new;

	if (held->next != header->next || held->words != header->words ||
	    held->type != header->type || held->flags != header->flags ||
	    held->path != header->path)
		return false;
	old = int_tail_of(held);
	new = int_tail_of(header);
	return old->second == new->second &&
	       (s32)(be32_to_cpu(new->first) - be32_to_cpu(old->first)) >= 0;
}

/**
 * int_merge() - let the newer of two headers stand for the segments of both
 * @held: of int_may_merge(); changed
 * @header: of int_may_merge()
 */
static inline void int_merge(struct int_hdr *held, const struct int_hdr *header)
{
	memcpy(held, header, int_shim_bytes(header));
}

#endif /* NET_INT_INT_MERGE_H */
