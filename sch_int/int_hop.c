// SPDX-License-Identifier: GPL-2.0
/* Parameters of a port, and the share of a class; see int_hop.h. */
#include "int_hop.h"

u32 sint_hop_code(u64 rate_bytes_ps)
{
	u32 rest;
	const u64 mbit_ps = div_u64_rem(rate_bytes_ps, INT_BYTES_PER_MBIT, &rest);

	return rest ? 0 : int_speed_code(mbit_ps);
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

u64 sint_class_scale_q32(const struct sint_hop_params *p, u64 spent_ns, u64 others_bytes)
{
	u64 could_bytes, left_bytes = 0, may_bytes;

	/* After a longer pause it is not known when in this time the other classes have sent. */
	if (spent_ns > INT_CLASS_MAX_NS) {
		spent_ns = INT_CLASS_MAX_NS;
		others_bytes = U64_MAX;
	}
	could_bytes = mul_u64_u64_shr(spent_ns, p->pace_q40, INT_PACE_SHIFT);
	if (others_bytes < could_bytes)
		left_bytes = could_bytes - others_bytes;
	may_bytes = max(left_bytes, mul_u64_u64_shr(spent_ns, p->least_q40, INT_PACE_SHIFT));
	/* 2^38 bytes << 16 */
	return max(div64_u64(could_bytes << 16, max(may_bytes, 1ULL)), 1ULL << 16) << 16;
}
