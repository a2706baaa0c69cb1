#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each allocation of each operation on the modules fails once, under KASAN, UBSAN, lockdep and kmemleak.
#
#   allocations.t [GROUP ...]     also: congestion_controls namespaces modules
cd "$(dirname "$0")/../.." || exit 2
[ $# -gt 0 ] || set -- qdiscs dumps sysctls connections
exec tools/lab/lab exec --kernel debug --timeout 900 --kernel-argument log_buf_len=4M -- \
	python3 -B selftests/soak/allocations.py "$@"
