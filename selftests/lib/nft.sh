# SPDX-License-Identifier: GPL-2.0
# A test that sources this file is skipped where there is no nft.
# shellcheck shell=sh
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
