/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion header of XCP on the wire, draft-falk-xcp-spec-00 section 2.2.
 *
 *	 0                   1                   2                   3
 *	+-------+-------+---------------+---------------+---------------+
 *	|Version|Format |   Protocol    |    Length     |     flags     |
 *	+-------+-------+---------------+---------------+---------------+
 *	|                              RTT                              |
 *	|                           Throughput                          |
 *	|                        Delta_Throughput                       |
 *	|                        Reverse_Feedback                       |
 *	+---------------------------------------------------------------+
 *
 * The header is between the IP header and the transport header. All fields are big-endian.
 *
 * Deviations:
 * - Length is 20, as in the draft's drawing and in the authors' simulator; the draft's text says
 *   40.
 * - Format 3 is our addition: it is Standard with the RTT in microseconds, because 1 ms is too
 *   coarse for a data centre.
 * - `unused` carries two flags, one of them for section 4.1. Its other bits are sent as 0; a
 *   received header with other bits set is counted and accepted.
 * - Within a host, the header of a GSO packet represents one header per segment: see XCP_FLAG_SUM.
 */
#ifndef HOPCC_WIRE_XCP_H
#define HOPCC_WIRE_XCP_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define XCP_PROTOCOL_DEFAULT	63	/* IANA: any local network; 253 is also that of IFA */
#define XCP_VERSION		1
#define XCP_HDR_BYTES		20

/* Section 4.1: the sender is limited by its end-to-end control, not by XCP. */
#define XCP_FLAG_E2E_LIMITED	0x01
/*
 * The packet is a copy, which ends at the peer's carrier: its sender does not know yet if the path
 * passes headers.
 */
#define XCP_FLAG_TRY		0x02
#define XCP_FLAGS_KNOWN		(XCP_FLAG_E2E_LIMITED | XCP_FLAG_TRY)

/*
 * Set only within a host, in a GSO packet that GRO built, never on the wire: Delta_Throughput is
 * the sum over the packet's segments instead of the value of each segment. For a single packet both
 * are the same.
 */
#define XCP_FLAG_SUM		0x80

#define XCP_US_PER_MS		1000U
#define XCP_MS_PER_S		1000U

/**
 * enum xcp_format - format of the header
 * @XCP_FORMAT_STANDARD: RTT in ms
 * @XCP_FORMAT_MINIMAL: only Reverse_Feedback is valid; switch qdiscs only count the packet's bytes
 * @XCP_FORMAT_MICRO: RTT in us
 */
enum xcp_format {
	XCP_FORMAT_STANDARD = 1,
	XCP_FORMAT_MINIMAL = 2,
	XCP_FORMAT_MICRO = 3,
};

/**
 * struct xcp_hdr - the congestion header
 * @version_format: version << 4 | format
 * @protocol: protocol number of the next header
 * @length: XCP_HDR_BYTES
 * @flags: the draft's `unused` field; XCP_FLAG_*
 * @rtt: the sender's RTT in ms or us, depending on the format; 0: not known
 * @throughput: the sender's throughput, bytes/ms; 0: not known
 * @delta: Delta_Throughput, signed bytes/s
 * @reverse: Reverse_Feedback, signed bytes/s
 */
struct xcp_hdr {
	__u8	version_format;
	__u8	protocol;
	__u8	length;
	__u8	flags;
	__be32	rtt;
	__be32	throughput;
	__be32	delta;
	__be32	reverse;
} __packed __aligned(4);

/**
 * enum xcp_fault - why a header is invalid; counted by cause
 * @XCP_OK: the header is valid
 * @XCP_BAD_TRUNCATED: the packet ends within the header
 * @XCP_BAD_VERSION: the version is not 1
 * @XCP_BAD_FORMAT: the format is not 1, 2 or 3
 * @XCP_BAD_LENGTH: the length is not 20
 * @XCP_BAD_NEXT: a next header that must not follow, such as another XCP header
 * @XCP_FAULTS: number of causes
 */
enum xcp_fault {
	XCP_OK,
	XCP_BAD_TRUNCATED,
	XCP_BAD_VERSION,
	XCP_BAD_FORMAT,
	XCP_BAD_LENGTH,
	XCP_BAD_NEXT,
	XCP_FAULTS,
};

static inline enum xcp_format xcp_format(const struct xcp_hdr *h)
{
	return (enum xcp_format)(h->version_format & 0xf);
}

/**
 * xcp_check() - validate a congestion header
 * @h: the bytes, or NULL if there are fewer than XCP_HDR_BYTES
 * @own_protocol: the IP protocol number of XCP; an XCP header must not follow another
 *
 * Return: XCP_OK or the first fault found.
 */
static inline enum xcp_fault xcp_check(const struct xcp_hdr *h, __u8 own_protocol)
{
	if (!h)
		return XCP_BAD_TRUNCATED;
	if (h->version_format >> 4 != XCP_VERSION)
		return XCP_BAD_VERSION;
	if (xcp_format(h) < XCP_FORMAT_STANDARD || xcp_format(h) > XCP_FORMAT_MICRO)
		return XCP_BAD_FORMAT;
	if (h->length != XCP_HDR_BYTES)
		return XCP_BAD_LENGTH;
	if (h->protocol == own_protocol)
		return XCP_BAD_NEXT;
	return XCP_OK;
}

/**
 * xcp_rtt_us() - get the RTT of a header
 * @h: a header that xcp_check() passed
 *
 * Return: RTT, us; 0: not known. The RTT of a Standard header saturates at 2^32 - 1 us (71 min).
 */
static inline __u32 xcp_rtt_us(const struct xcp_hdr *h)
{
	__u32 rtt = be32_to_cpu(h->rtt);

	switch (xcp_format(h)) {
	case XCP_FORMAT_STANDARD:
		return rtt <= 0xffffffffU / XCP_US_PER_MS ? rtt * XCP_US_PER_MS :
								    0xffffffffU;
	case XCP_FORMAT_MICRO:
		return rtt;
	default:
		return 0;
	}
}

/**
 * xcp_rtt_field() - encode an RTT, rounded up because 0 means "not known"
 * @format: XCP_FORMAT_STANDARD or XCP_FORMAT_MICRO
 * @rtt_us: the sender's RTT estimate, us; 0: none
 *
 * Return: the field.
 */
static inline __be32 xcp_rtt_field(enum xcp_format format, __u32 rtt_us)
{
	if (format == XCP_FORMAT_STANDARD)
		rtt_us = rtt_us / XCP_US_PER_MS + !!(rtt_us % XCP_US_PER_MS);
	return cpu_to_be32(rtt_us);
}

/**
 * xcp_throughput_field() - encode a throughput, rounded up
 * @bytes_per_s: the sender's throughput estimate, at most 2^32 * 1000 bytes/s; 0: none
 *
 * Return: the field, saturated.
 */
static inline __be32 xcp_throughput_field(__u64 bytes_per_s)
{
	__u64 per_ms = div_u64(bytes_per_s + XCP_MS_PER_S - 1, XCP_MS_PER_S);

	return cpu_to_be32((__u32)min_t(__u64, per_ms, 0xffffffffU));
}

static inline __s32 xcp_delta(const struct xcp_hdr *h)
{
	return (__s32)be32_to_cpu(h->delta);
}

/**
 * xcp_delta_sum() - sum of Delta_Throughput over all packets that a header represents
 * @h: a header that xcp_check() passed
 * @pkts: number of packets on the wire, at most 2^16; above 1 for a GSO packet
 *
 * Return: bytes/s.
 */
static inline __s64 xcp_delta_sum(const struct xcp_hdr *h, __u32 pkts)
{
	return h->flags & XCP_FLAG_SUM ? xcp_delta(h) : (__s64)xcp_delta(h) * pkts;
}

static inline __s32 xcp_reverse(const struct xcp_hdr *h)
{
	return (__s32)be32_to_cpu(h->reverse);
}

#endif /* HOPCC_WIRE_XCP_H */
