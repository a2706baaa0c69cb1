/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for GRO: which headers of two segments may be merged into one.
 *
 * The latest header is kept, with its records and its ID. Nothing uses the data that is lost:
 *
 * - An answer reports on one packet, the latest, and supersedes the answers to all earlier ones
 *   (nint_answered()). Merged segments are answered once, with the id and records of the last and
 *   with TCP's sequence number behind it: as if the answers to the others had been overtaken. This
 *   holds for segments of one GSO packet, which have the same ID, and for those of several.
 * - The algorithm, at either end, compares the latest records with those that it has stored, over
 *   the time between them. Segments that merge arrive within one poll of a NIC, far below T; GRO of
 *   ACKs has the same effect at the sender.
 *
 * Headers that the carrier treats differently are not merged: if type, length, flags, path or
 * number of hops differ, which shows a change of the path; if cookies differ, because a forged
 * segment must not be accepted with good ones; and if an older ID follows a newer one, because the
 * answer would be ignored as old.
 */
#ifndef HOPCC_NET_INT_INT_MERGE_H
#define HOPCC_NET_INT_INT_MERGE_H

#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/wire/int.h>

/* Size of a header that passed int_check(), with its tail. */
static inline unsigned int nint_shim_bytes(const struct int_hdr *h)
{
	return h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
}

static inline const struct int_tail *nint_tail_of(const struct int_hdr *h)
{
	return (const void *)h + h->words * INT_WORD_BYTES;
}

/**
 * nint_may_merge() - check if the later of two headers can represent the segments of both
 * @held: an INT_TYPE_DATA header that int_check() passed, with its tail
 * @header: the header of the segment that follows
 *
 * Return: true if nint_merge() loses no data that is used.
 */
static inline bool nint_may_merge(const struct int_hdr *held, const struct int_hdr *header)
{
	const struct int_tail *old, *new;

	if (held->next != header->next || held->words != header->words ||
	    held->type != header->type || held->flags != header->flags ||
	    held->path != header->path)
		return false;
	old = nint_tail_of(held);
	new = nint_tail_of(header);
	return old->second == new->second &&
	       (s32)(be32_to_cpu(new->first) - be32_to_cpu(old->first)) >= 0;
}

/**
 * nint_merge() - merge two headers
 * @held: the earlier header of nint_may_merge(); is replaced
 * @header: the later header of nint_may_merge()
 */
static inline void nint_merge(struct int_hdr *held, const struct int_hdr *header)
{
	memcpy(held, header, nint_shim_bytes(header));
}

#endif /* HOPCC_NET_INT_INT_MERGE_H */
