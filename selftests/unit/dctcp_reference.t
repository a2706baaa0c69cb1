#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# DCTCP's estimator and window law against exact fractions, 2^20 streams.
set -eu
cd "$(dirname "$0")/../.."
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out"
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare \
	-fsanitize=undefined -fno-sanitize-recover=all \
	-Iselftests/unit/shim -Itcp_dctcp_ms \
	-o "$out/dctcp_reference" selftests/unit/dctcp_reference.c
"$out/dctcp_reference" "$@"
