#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# LDCP's window law and stages against doubles, 2^20 streams.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_ldcp "$@"
