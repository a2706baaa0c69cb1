#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the modules cost a host, in instructions on Debian's kernel, within bounds.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/vm/vm_lib.sh
. selftests/vm/vm_lib.sh
[ -n "$(newest 6.1 /boot)" ] || skip "no kernel 6.1 in /boot: run tools/setup/setup.sh check"
exec selftests/cost/bounds.py
