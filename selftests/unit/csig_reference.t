#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CSIG's sender against doubles, 2^19 streams.
set -eu
cd "$(dirname "$0")/../.."
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out"
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare \
	-fsanitize=undefined -fno-sanitize-recover=all \
	-Iselftests/unit/shim -Iinclude -Itcp_csig \
	-o "$out/csig_reference" selftests/unit/csig_reference.c -lm
"$out/csig_reference" "$@"
