#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every congestion control and every carrier while the network around them breaks.
#
#   chaos.t [SEED [SYSTEM ...]]
#
# CHAOS_FAULTS: of each connection; `make soak-chaos` has more.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/netns/module_lib.sh
. selftests/netns/module_lib.sh
build_module release standstill
# shellcheck disable=SC2154 # set by build_module
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/chaos.py \
	--faults "${CHAOS_FAULTS:-8}" "$module" "$@"
