#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CSIG's sender against doubles, 2^19 streams.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_csig "$@"
