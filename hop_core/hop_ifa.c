// SPDX-License-Identifier: GPL-2.0
/* Reads the headers of IFA 2.0; hopcc/wire/ifa.h. */
#include <linux/export.h>
#include <hopcc/wire/ifa.h>

/* Sets the length of the L4 header in front of the metadata header. */
static enum ifa_fault hop_ifa_parse_l4(struct ifa_view *v, const u8 *l4, u32 room_bytes)
{
	u32 bytes;

	switch (v->next) {
	case IFA_NEXT_UDP:
		v->l4_bytes = IFA_UDP_BYTES;
		break;
	case IFA_NEXT_TCP:
		if (room_bytes <= IFA_TCP_DOFF_BYTE)
			return IFA_BAD_TRUNCATED;
		bytes = (l4[IFA_TCP_DOFF_BYTE] >> 4) * IFA_WORD_BYTES;
		if (bytes < IFA_TCP_MIN_BYTES)
			return IFA_BAD_L4;
		v->l4_bytes = bytes;
		break;
	default:
		return IFA_BAD_NEXT;
	}
	return v->l4_bytes > room_bytes ? IFA_BAD_TRUNCATED : IFA_OK;
}

/* Sets the positions of the metadata header and of the stack. */
static enum ifa_fault hop_ifa_parse_md(struct ifa_view *v, const u8 *packet, u32 room_bytes)
{
	const struct ifa_md *md;

	v->md_offset = IFA_HDR_BYTES + v->l4_bytes;
	v->md_offset += v->flags & IFA_FLAG_C ? IFA_WORD_BYTES : 0;
	v->md_offset += v->flags & IFA_FLAG_MF ? IFA_WORD_BYTES : 0;
	v->stack_offset = v->md_offset + IFA_MD_BYTES;
	if (v->stack_offset > room_bytes)
		return IFA_BAD_TRUNCATED;
	md = (const struct ifa_md *)(packet + v->md_offset);
	if (md->words > v->max_words)
		return IFA_BAD_LENGTH;
	v->hop_limit = md->hop_limit;
	v->stack_bytes = md->words * IFA_WORD_BYTES;
	v->shim_bytes = v->stack_offset + v->stack_bytes - IFA_HDR_BYTES - v->l4_bytes;
	return (u32)v->stack_offset + v->stack_bytes > room_bytes ? IFA_BAD_TRUNCATED : IFA_OK;
}

enum ifa_fault hop_ifa_parse(struct ifa_view *v, const u8 *packet, u32 room_bytes)
{
	const struct ifa_hdr *h = (const struct ifa_hdr *)packet;
	enum ifa_fault fault;

	memset(v, 0, sizeof(*v));
	if (room_bytes < IFA_HDR_BYTES)
		return IFA_BAD_TRUNCATED;
	if (h->version_gns >> 4 != IFA_VERSION)
		return IFA_BAD_VERSION;
	if (h->flags & IFA_FLAG_TS)
		return IFA_BAD_TAIL;
	v->gns = h->version_gns & IFA_GNS_MAX;
	v->next = h->next;
	v->flags = h->flags;
	v->max_words = h->max_words;
	fault = hop_ifa_parse_l4(v, packet + IFA_HDR_BYTES, room_bytes - IFA_HDR_BYTES);
	return fault ? fault : hop_ifa_parse_md(v, packet, room_bytes);
}
EXPORT_SYMBOL_GPL(hop_ifa_parse);
