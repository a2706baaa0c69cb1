#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The control surface fuzzed for minutes, under KASAN, UBSAN, lockdep and kmemleak, while allocations
# fail; `make soak-control` goes on with other seeds. A finding is repeated by its seed.
cd "$(dirname "$0")/../.." || exit 2
operations=${SOAK_OPERATIONS:-2000}
# The log holds a stack for each failed allocation of an episode.
exec tools/lab/lab exec --kernel debug --timeout $((600 + operations / 4)) --kernel-argument log_buf_len=4M -- \
	python3 selftests/soak/control.py --seed "${SOAK_SEED:-1}" --operations "$operations"
