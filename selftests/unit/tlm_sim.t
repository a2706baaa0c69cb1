#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HPCC++ with reduced records on simulated ports: utilisation, queues, and what lies can do.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_hpccpp "$@"
