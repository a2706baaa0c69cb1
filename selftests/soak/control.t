#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The control surface fuzzed for minutes, under KASAN, lockdep and kmemleak; `make soak-control` goes
# on with other seeds. A finding is repeated by its seed.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec --kernel debug --timeout 900 -- python3 selftests/soak/control.py \
	--seed "${SOAK_SEED:-1}" --operations "${SOAK_OPERATIONS:-2000}"
