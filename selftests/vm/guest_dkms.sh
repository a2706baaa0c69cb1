#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest by deb-matrix.t: load what DKMS built, as modprobe, tc and sysctl find it.
#
#   guest_dkms.sh VERSION
set -u
modules="hop_core net_csig_tag net_int net_tlm net_xcp sch_csig sch_int sch_wred sch_xcp tcp_csig tcp_dctcp_ms
	tcp_hpccpp tcp_ldcp tcp_xcp"

# shellcheck disable=SC2086 # a list
modprobe -a $modules || exit 1
for module in $modules; do
	[ "$(cat "/sys/module/$module/version")" = "$1" ] || { echo "$module is not $1"; exit 1; }
done
for module in tcp_csig tcp_dctcp_ms tcp_hpccpp tcp_ldcp tcp_xcp net_csig_tag net_tlm net_int net_xcp sch_csig \
	sch_int sch_wred sch_xcp hop_core; do
	rmmod "$module" || exit 1
done
echo hpccpp >/proc/sys/net/ipv4/tcp_congestion_control || exit 1
grep -q '^net_int ' /proc/modules || { echo "the congestion control has not loaded net_int"; exit 1; }
