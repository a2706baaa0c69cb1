// SPDX-License-Identifier: GPL-2.0
/* The CSIG carrier: turns of the signals, reflection, and detection of paths that pass no tags */
#include "fuzz.h"
#include "../../net_csig_tag/csig_carrier.c"

static void take_turn(void)
{
	const u32 weights[CSIG_TYPES] = { fuzz_range(0, 1 << 20), fuzz_range(0, 1 << 20),
					  fuzz_range(0, 1 << 20) };
	const u32 type = ctag_turn(fuzz_u32(), weights);
	const bool any = weights[0] || weights[1] || weights[2];

	FUZZ_CLAIM(type <= CSIG_TYPES && (type < CSIG_TYPES) == any);
	/* A signal without a weight gets no turn. */
	FUZZ_CLAIM(!any || weights[type]);
}

static void learn(struct ctag_received *received)
{
	const enum csig_form form = fuzz_range(CSIG_COMPACT, CSIG_EXPANDED);
	const u32 type = fuzz_choice(CSIG_TYPES);
	const struct csig_tag t = {
		.type = type,
		.value = fuzz_range(0, csig_shapes[form].value_max),
		.locator = fuzz_byte(),
	};

	ctag_receive(&received[type], form, &t);
	FUZZ_CLAIM(received[type].fresh && received[type].form == form);
	FUZZ_CLAIM(received[type].latest.value == t.value);
}

static void reflect(struct ctag_received *received, u64 now_ns)
{
	const u32 type = ctag_reflect_pick(received);

	FUZZ_CLAIM(type <= CSIG_TYPES);
	if (type == CSIG_TYPES) {
		FUZZ_CLAIM(!received[0].fresh && !received[1].fresh && !received[2].fresh);
		return;
	}
	FUZZ_CLAIM(received[type].fresh);
	ctag_reflected(&received[type], now_ns);
	FUZZ_CLAIM(!received[type].fresh && received[type].latest.type == type);
}

static void try_path(struct csig_path *path, u32 *seq, u64 now_ns)
{
	const u64 timeout_ns = ctag_timeout_ns(fuzz_u32());

	FUZZ_CLAIM(timeout_ns >= CSIG_TIMEOUT_MIN_NS);
	*seq += fuzz_range(0, 1 << 20);
	if (ctag_path_may_tag(path, now_ns, timeout_ns, fuzz_range(0, 1ULL << 40))) {
		/* Until a tag has been reflected, at most one tag is in flight. */
		FUZZ_CLAIM(path->state == CSIG_PATH_PROVEN || !path->waiting);
		FUZZ_CLAIM(path->state != CSIG_PATH_STRIPPED);
		ctag_path_tagged(path, *seq, now_ns);
	}
	switch (fuzz_choice(4)) {
	case 0:
		ctag_path_answered(path);
		break;
	case 1:
		ctag_path_empty(path, *seq - fuzz_range(0, 1 << 20), now_ns);
		break;
	case 2:
		ctag_path_unsent(path);
		break;
	}
	FUZZ_CLAIM(path->state <= CSIG_PATH_STRIPPED && path->misses <= CSIG_MISSES_MAX);
	FUZZ_CLAIM(path->state != CSIG_PATH_PROVEN || !path->misses);
}

static void fuzz_once(void)
{
	struct ctag_received received[CSIG_TYPES] = {};
	struct csig_path path = {};
	u64 now_ns = fuzz_range(0, 1ULL << 60);
	u32 seq = fuzz_u32();

	while (fuzz_has_more()) {
		now_ns += fuzz_range(0, 1ULL << 40);
		switch (fuzz_choice(4)) {
		case 0:
			take_turn();
			break;
		case 1:
			learn(received);
			break;
		case 2:
			reflect(received, now_ns);
			break;
		default:
			try_path(&path, &seq, now_ns);
		}
	}
}
