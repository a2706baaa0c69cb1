/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a transmitter: when is it free again?
 *
 * A packet of L bytes (overhead included) occupies a transmitter of rate R bit/s for
 * L * 8e9 / R ns. At 800 Gbit/s that is 15.14 ns for a full frame, so time is kept in
 * ns and 2^-64 ns: the time of one byte is computed once, cut below 2^-64 ns; a packet
 * costs three multiplications, no division. The error is at most L * 2^-64 ns a packet,
 * always early: below 1e-3 ns after 1e13 full frames.
 *
 * Cutting matters: the free instant is rounded up to whole ns, and a time that is a
 * whole number of ns must not come out one later.
 */
#ifndef HOPCC_LINK_CLOCK_H
#define HOPCC_LINK_CLOCK_H

#include <linux/math64.h>
#include <linux/types.h>

/**
 * struct link_clock_params - a rate, as time a byte
 * @byte_ns: whole ns of one byte
 * @byte_frac: the rest, in 2^-64 ns
 */
struct link_clock_params {
	u64 byte_ns;
	u64 byte_frac;
};

/**
 * struct link_clock_vars - the state of one transmitter, under the qdisc's lock
 * @free_ns: whole ns of the instant at which the transmitter is free
 * @free_frac: the rest, in 2^-64 ns
 */
struct link_clock_vars {
	u64 free_ns;
	u64 free_frac;
};

/* Binary long division: 64 steps, once a configuration. @rem < @div < 2^63. */
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
 * link_clock_free_ns() - the first whole ns at which the transmitter is free
 * @vars: the transmitter
 *
 * Return: ns, rounded up.
 */
static inline u64 link_clock_free_ns(const struct link_clock_vars *vars)
{
	return vars->free_ns + !!vars->free_frac;
}

/**
 * link_clock_wake() - the queue was empty or held back until now
 * @vars: the transmitter
 * @now_ns: now
 *
 * A transmitter that was free and had nothing to send starts no earlier than now; one
 * that is still sending goes on from its exact free instant.
 */
static inline void link_clock_wake(struct link_clock_vars *vars, u64 now_ns)
{
	if (now_ns < link_clock_free_ns(vars))
		return;
	vars->free_ns = now_ns;
	vars->free_frac = 0;
}

/**
 * link_clock_send() - occupy the transmitter with a packet, from its free instant
 * @params: the rate
 * @vars: the transmitter
 * @len_bytes: the packet, overhead included
 *
 * Return: whole ns, rounded up, at which the last bit has left.
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

#endif /* HOPCC_LINK_CLOCK_H */
