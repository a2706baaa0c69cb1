// SPDX-License-Identifier: GPL-2.0
/* The estimate of a port's load; see csig_port.h. */

#include <linux/math64.h>
#include "csig_port.h"

static u64 scsig_port_rate(u64 bytes, u64 time_ns)
{
	return mul_u64_u64_div_u64(bytes, CSIG_NS_PER_S, time_ns);
}

u64 scsig_port_interval_ns(u64 rate_bytes_ps)
{
	const u64 ns = div64_u64((u64)TC_CSIG_INTERVAL_DEFAULT_BYTES * CSIG_NS_PER_S,
				 rate_bytes_ps);

	return clamp_t(u64, ns, TC_CSIG_INTERVAL_MIN_NS, TC_CSIG_INTERVAL_MAX_NS);
}

/* (1 - 2^-shift)^n, by squares, in 2^-32; 0 once it is below that. */
static u64 scsig_port_discount(u32 shift, u64 n)
{
	u64 factor = (1ULL << CSIG_DISCOUNT_SHIFT) - (1ULL << (CSIG_DISCOUNT_SHIFT - shift));
	u64 product = 1ULL << CSIG_DISCOUNT_SHIFT;

	for (; n && factor; n >>= 1) {
		if (n & 1)
			product = mul_u64_u64_shr(product, factor, CSIG_DISCOUNT_SHIFT);
		factor = mul_u64_u64_shr(factor, factor, CSIG_DISCOUNT_SHIFT);
	}
	return n ? 0 : product;
}

/*
 * T has changed: X is the bytes of one T. X is bounded before the multiplication, because the CPU
 * faults on a quotient above 2^64.
 */
static void scsig_port_scale_dre(struct scsig_port_vars *v, u64 interval_ns)
{
	const u64 before_ns = v->dre_interval_ns;

	v->dre_interval_ns = interval_ns;
	if (!before_ns)
		return;
	if (interval_ns > before_ns)
		v->dre_x = min(v->dre_x,
			       mul_u64_u64_div_u64(CSIG_DRE_X_MAX, before_ns, interval_ns));
	v->dre_x = mul_u64_u64_div_u64(v->dre_x, interval_ns, before_ns);
}

/* @n periods have ended, at least one; all but the first were empty. */
static void scsig_port_close_dre(struct scsig_port_vars *v, const struct scsig_port_params *p,
				 u64 n)
{
	const u64 t_ns = scsig_port_t_ns(v, p);

	if (v->dre_interval_ns != t_ns)
		scsig_port_scale_dre(v, t_ns);
	v->dre_x = mul_u64_u64_shr(v->dre_x + (v->bytes << CSIG_DRE_SHIFT),
				   scsig_port_discount(p->shift, n - 1), CSIG_DISCOUNT_SHIFT);
	v->used_bytes_ps = mul_u64_u64_div_u64(v->dre_x, CSIG_NS_PER_S, t_ns << CSIG_DRE_SHIFT);
	v->dre_x -= v->dre_x >> p->shift;
}

/* Add a sample: the last packet's bytes over the time since it left. 2^40 * 2^30 / 2^30 */
static void scsig_port_weigh(struct scsig_port_vars *v, const struct scsig_port_params *p,
			     u64 gap_ns)
{
	const u64 t_ns = scsig_port_t_ns(v, p), whole_ns = t_ns + gap_ns;

	v->used_bytes_ps = mul_u64_u64_div_u64(v->used_bytes_ps, t_ns, whole_ns) +
			   scsig_port_rate(v->bytes, whole_ns);
	v->used_bytes_ps = min_t(u64, v->used_bytes_ps, CSIG_USED_MAX_BYTES_PS);
}

/* Time has passed: end all intervals or periods that are over. All but the first were empty. */
static void scsig_port_close(struct scsig_port_vars *v, const struct scsig_port_params *p,
			     u64 now_ns)
{
	const u64 period_ns = scsig_port_due_ns(v, p), passed_ns = now_ns - v->start_ns;
	u64 n;

	if (p->estimator == TC_CSIG_ESTIMATOR_EWMA) {
		scsig_port_weigh(v, p, passed_ns);
		v->start_ns = now_ns;
		return;
	}
	n = div64_u64(passed_ns, period_ns);
	if (p->estimator == TC_CSIG_ESTIMATOR_DRE)
		scsig_port_close_dre(v, p, n);
	else
		v->used_bytes_ps = n > 1 ? 0 : scsig_port_rate(v->bytes, period_ns);
	v->start_ns += n * period_ns;
}

bool scsig_port_look(struct scsig_port_vars *v, const struct scsig_port_params *p, u64 total_bytes,
		     u64 now_ns)
{
	const u64 left_bytes = total_bytes - v->total_bytes;

	v->total_bytes = total_bytes;
	if (!v->runs) {
		v->runs = true;
		v->start_ns = now_ns;
		return false;
	}
	v->bytes = min_t(u64, v->bytes + min_t(u64, left_bytes, CSIG_BYTES_MAX), CSIG_BYTES_MAX);
	if (!scsig_port_is_due(v, p, now_ns))
		return false;
	scsig_port_close(v, p, now_ns);
	v->bytes = 0;
	return true;
}

/**
 * scsig_port_capacity_bytes_ps() - get the rate that the port can send at
 * @v: variables of the port
 * @p: parameters of the port
 *
 * Return: bytes/s, at least 1, at most the configured rate.
 */
static u64 scsig_port_capacity_bytes_ps(const struct scsig_port_vars *v,
					const struct scsig_port_params *p)
{
	return hop_drain_capacity_bytes_ps(&v->drain, p->capacity_bytes_ps);
}

u64 scsig_port_available_bytes_ps(const struct scsig_port_vars *v,
				  const struct scsig_port_params *p)
{
	const u64 capacity_bytes_ps = scsig_port_capacity_bytes_ps(v, p);

	return capacity_bytes_ps - min(v->used_bytes_ps, capacity_bytes_ps);
}

u64 scsig_port_value(const struct scsig_port_vars *v, const struct scsig_port_params *p, u32 type)
{
	const u64 available_bytes_ps = scsig_port_available_bytes_ps(v, p);

	if (type == CSIG_ABW)
		return div_u64(available_bytes_ps, CSIG_BYTES_PER_KBIT);
	/* 2^38 * 2^20 */
	return div64_u64(available_bytes_ps * CSIG_PPM_MAX, scsig_port_capacity_bytes_ps(v, p));
}
