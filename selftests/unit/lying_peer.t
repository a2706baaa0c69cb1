#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every law against a peer that lies: 16 million reports with any value in each field.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_csig "$@"
