#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# LDCP's window law and stages against doubles, 2^20 streams.
set -eu
cd "$(dirname "$0")/../.."
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out"
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare \
	-fsanitize=undefined -fno-sanitize-recover=all \
	-Iselftests/unit/shim -Iinclude -Itcp_ldcp \
	-o "$out/ldcp_reference" selftests/unit/ldcp_reference.c -lm
"$out/ldcp_reference" "$@"
