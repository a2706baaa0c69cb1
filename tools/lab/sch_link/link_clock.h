/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a transmitter computes when the transmitter is free again.
 *
 * A packet of L bytes (overhead included) occupies a transmitter of rate R bit/s for
 * L * 8e9 / R ns. At 800 Gbit/s that is 15.38 ns for a full frame, so time has a
 * resolution of 2^-64 ns. The time of one byte is computed once and truncated to that
 * resolution; a packet then takes three multiplications and no division. The error is at
 * most L * 2^-64 ns per packet, always early: below 1e-3 ns after 1e13 full frames.
 *
 * Truncating and not rounding matters: the time at which the transmitter is free is rounded
 * up to whole ns, and a time that is a whole number of ns must not become one ns later.
 */
#ifndef HOPCC_TOOLS_LAB_SCH_LINK_LINK_CLOCK_H
#define HOPCC_TOOLS_LAB_SCH_LINK_LINK_CLOCK_H

#include <linux/math64.h>
#include <linux/types.h>

/**
 * struct link_clock_params - the rate of a transmitter, as the time of one byte
 * @byte_ns: time of one byte, whole ns
 * @byte_frac: fractional part of the time, in units of 2^-64 ns
 */
struct link_clock_params {
	u64 byte_ns;
	u64 byte_frac;
};

/**
 * struct link_clock_vars - the state of one transmitter, under the qdisc's lock
 * @free_ns: time at which the transmitter is free, whole ns
 * @free_frac: fractional part of that time, in units of 2^-64 ns
 */
struct link_clock_vars {
	u64 free_ns;
	u64 free_frac;
};

/* Binary long division in 64 steps, once per configuration. @rem < @div < 2^63. */
static inline u64 link_clock_fraction(u64 rem, u64 div)
{
	u64 frac = 0;
	int i;

	for (i = 0; i < 64; i++) {
		rem <<= 1;
		frac <<= 1;
		if (rem >= div) {
			rem -= div;
			frac |= 1;
		}
	}
	return frac;
}

/**
 * link_clock_set_rate() - compute the time of a byte
 * @params: result
 * @rate_bits_ps: rate, 1 .. 2^62 bit/s
 */
static inline void link_clock_set_rate(struct link_clock_params *params, u64 rate_bits_ps)
{
	const u64 byte_bits_ns = 8 * 1000000000ULL;

	params->byte_ns = div64_u64(byte_bits_ns, rate_bits_ps);
	params->byte_frac = link_clock_fraction(byte_bits_ns - params->byte_ns * rate_bits_ps,
						rate_bits_ps);
}

/**
 * link_clock_free_ns() - get the first whole ns at which the transmitter is free
 * @vars: the transmitter
 *
 * Return: ns, rounded up.
 */
static inline u64 link_clock_free_ns(const struct link_clock_vars *vars)
{
	return vars->free_ns + !!vars->free_frac;
}

/**
 * link_clock_wake() - note that the queue was empty or throttled until now
 * @vars: the transmitter
 * @now_ns: current time, ns
 *
 * A transmitter that was idle sends its next packet from now on. One that is still sending
 * sends its next packet from the exact time at which it is free.
 */
static inline void link_clock_wake(struct link_clock_vars *vars, u64 now_ns)
{
	if (now_ns < link_clock_free_ns(vars))
		return;
	vars->free_ns = now_ns;
	vars->free_frac = 0;
}

/**
 * link_clock_send() - send a packet from the time at which the transmitter is free
 * @params: the rate
 * @vars: the transmitter
 * @len_bytes: length of the packet, overhead included
 *
 * Return: time at which the last bit has left, ns, rounded up.
 */
static inline u64 link_clock_send(const struct link_clock_params *params,
				  struct link_clock_vars *vars, u32 len_bytes)
{
	/* byte_frac * len_bytes in 96 bits. */
	u64 low = (params->byte_frac & 0xffffffff) * len_bytes;
	u64 high = (params->byte_frac >> 32) * len_bytes + (low >> 32);
	u64 frac = high << 32 | (low & 0xffffffff);

	vars->free_frac += frac;
	vars->free_ns += params->byte_ns * len_bytes + (high >> 32) +
			 (vars->free_frac < frac);
	return link_clock_free_ns(vars);
}

#endif /* HOPCC_TOOLS_LAB_SCH_LINK_LINK_CLOCK_H */
