#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hopcc-exporter: promtool has nothing to say of its metrics; what it adds up, what it refuses, its unit, and
# the dashboard of its metrics.
cd "$(dirname "$0")/../.." || exit 2
promtool=$(tools/setup/promtool.sh --path 2>/dev/null) && [ -e /usr/lib/python3/dist-packages/prometheus_client ] || {
	echo "1..0 # SKIP no promtool or no Prometheus client: run tools/setup/setup.sh check"
	exit 0
}
exec selftests/build/exporter.py "$promtool"
