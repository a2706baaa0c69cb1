/* SPDX-License-Identifier: GPL-2.0 */
/* Draw an XCP header with any fields that pass xcp_check(). */
#ifndef HOPCC_SELFTESTS_FUZZ_XCP_HEADER_H
#define HOPCC_SELFTESTS_FUZZ_XCP_HEADER_H

#include "fuzz.h"
#include <hopcc/wire/xcp.h>

/* Draw all fields except Reverse_Feedback, which stays 0: switch qdiscs do not read it. */
static inline struct xcp_hdr draw_header(void)
{
	return (struct xcp_hdr) {
		.version_format = XCP_VERSION << 4 | fuzz_range(XCP_FORMAT_STANDARD,
								XCP_FORMAT_MICRO),
		.length = XCP_HDR_BYTES,
		.flags = fuzz_byte(),
		.rtt = cpu_to_be32(fuzz_u32()),
		.throughput = cpu_to_be32(fuzz_u32()),
		.delta = cpu_to_be32(fuzz_u32()),
	};
}

#endif /* HOPCC_SELFTESTS_FUZZ_XCP_HEADER_H */
