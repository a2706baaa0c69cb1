#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every option and every refusal of tc's int, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/tdc/run_tdc.py selftests/tdc/int.json
