#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The law of two queues against its formulas in double precision, 10^6 intervals.
set -eu
cd "$(dirname "$0")/../.."
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out"
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare \
	-fsanitize=undefined -fno-sanitize-recover=all \
	-Iselftests/unit/shim -Iinclude -Isch_xcp \
	-o "$out/xcp_share_reference" selftests/unit/xcp_share_reference.c -lm
"$out/xcp_share_reference" "$@"
