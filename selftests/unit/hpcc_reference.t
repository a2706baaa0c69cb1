#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HPCC++'s law against the draft's pseudo-code in double precision, 10^6 sequences.
set -eu
cd "$(dirname "$0")/../.."
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out"
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare -Wno-unused-function \
	-fsanitize=undefined -fno-sanitize-recover=all \
	-Iselftests/unit/shim -Iinclude \
	-o "$out/hpcc_reference" selftests/unit/hpcc_reference.c -lm
"$out/hpcc_reference" "$@"
