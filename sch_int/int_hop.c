// SPDX-License-Identifier: GPL-2.0
/* Parameters of a port, computed when its rate is set; see int_hop.h. */
#include "int_hop.h"

u32 sint_hop_code(u64 rate_bytes_ps)
{
	u32 code;

	for (code = INT_SPEEDS - 1; code; code--)
		if (rate_bytes_ps &&
		    rate_bytes_ps == (u64)int_speeds[code].mbit_ps * INT_BYTES_PER_MBIT)
			break;
	return code;
}

u64 sint_hop_pace_q40(u64 rate_bytes_ps)
{
	u64 pace_q40;
	u32 rest;

	pace_q40 = div_u64_rem(rate_bytes_ps, INT_NS_PER_S, &rest) << 32;
	pace_q40 += div_u64_rem((u64)rest << 32, INT_NS_PER_S, &rest);
	return (pace_q40 << 8) + div_u64((u64)rest << 8, INT_NS_PER_S);
}

u64 sint_hop_scale_q32(u32 code, u64 rate_bytes_ps)
{
	u64 scale_q32, rest;

	scale_q32 = div64_u64_rem((u64)int_speeds[code].mbit_ps * INT_BYTES_PER_MBIT,
				  rate_bytes_ps, &rest) << 32;
	scale_q32 += div64_u64_rem(rest << 16, rate_bytes_ps, &rest) << 16;
	return scale_q32 + div64_u64(rest << 16, rate_bytes_ps);
}
