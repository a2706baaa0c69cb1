#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Part of deb-matrix.t: install, use, upgrade and purge the packages in this system, which is thrown away.
# The working directory has the packages of two versions in `first` and `next`; the results go to the
# file `claims`, a line each: "ok CLAIM" or "not CLAIM".
#
#   deb_steps.sh VERSION    the version of `first`; that of `next` is VERSION.1
set -u
version=$1
modules="hop_core net_csig_tag net_int net_tlm net_xcp sch_csig sch_int sch_wred sch_xcp tcp_csig tcp_dctcp_ms
	tcp_hpccpp tcp_ldcp tcp_xcp"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
: >claims
: >log.short

# claim TEXT COMMAND...: what the command prints goes to log.short if it fails
claim()
{
	text=$1
	shift
	echo "--- $text"
	if "$@" >out 2>&1; then
		echo "ok $text" >>claims
	else
		echo "not $text" >>claims
		{ echo "--- $text"; tail -n 15 out; } >>log.short
	fi
	cat out
}

install()
{
	apt-get -q -y --no-install-recommends install "$@"
}

# built KERNEL VERSION: all modules are in the kernel's tree, with this version
built()
{
	dkms status hopcc
	for module in $modules; do
		[ "$(modinfo -k "$1" -F version "$module")" = "$2" ] || { echo "no $module $2 for $1"; return 1; }
	done
}

only_kernels()
{
	find /lib/modules/ -mindepth 1 -maxdepth 1 -name '*-amd64*' -printf '%f\n' | sort
}

# signed KERNEL: secure boot wants a signature; the key is the one that howto/install.md enrols
signed()
{
	[ -s /var/lib/dkms/mok.pub ] && signer=$(modinfo -k "$1" -F signer tcp_xcp) && echo "signed by '$signer'" &&
		[ -n "$signer" ]
}

# works: what users type first
works()
{
	tc qdisc add dev lo root wred help 2>&1 | grep -q 'ect PROFILE' &&
		hopstat --help && csigd --help && ldcp-thresholds 10gbit 100us 32 &&
		hopcc-ports list && hopcc-exporter --help && test -e /usr/include/linux/pkt_sched_int.h
}

# gone FILE...: none of these exists
gone()
{
	for file; do
		[ ! -e "$file" ] || { echo "left: $file"; return 1; }
	done
}

no_modules()
{
	find /lib/modules/ -path '*updates*' -name '*.ko*' >left
	cat left
	[ ! -s left ]
}

# tutorial: the commands of the page, as they are written there, where the user is root and answers yes
tutorial()
{
	echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/91yes
	commands=$(cat packages.sh)
	(cd first && sh -e -c "sudo() { \"\$@\"; }
$commands") >tutorial.out 2>&1
	status=$?
	rm /etc/apt/apt.conf.d/91yes
	cat tutorial.out
	[ $status -eq 0 ] && grep -q 'hopcc.*: installed' tutorial.out && command -v iperf
}

claim "the tutorial's commands install the packages" tutorial
claim "what needs more installs" install linux-headers-amd64 openssl python3-prometheus-client ./first/hopcc-dkms_*.deb \
	./first/hopcc-tools_*.deb ./first/hopcc-dev_*.deb
kernel=$(only_kernels | head -n 1)
claim "DKMS has built all 13 modules for $kernel" built "$kernel" "$version"
claim "and signed them with a key of its own" signed "$kernel"
claim "the tools run" works
mkdir -p dkms
cp /lib/modules/"$kernel"/updates/dkms/*.ko* dkms/
cp -r /kernel .
claim "a second kernel's headers come" install linux-headers-cloud-amd64
second=$(only_kernels | grep -vx "$kernel" | head -n 1)
claim "and DKMS builds for that kernel, $second, too" built "$second" "$version"
echo '# ours' >>/etc/hopcc/ports
claim "an upgrade installs" install ./next/hopcc-dkms_*.deb ./next/hopcc-tools_*.deb ./next/hopcc-dev_*.deb
claim "and rebuilds the modules for the first kernel" built "$kernel" "$version.1"
claim "and for the second" built "$second" "$version.1"
claim "and removes the sources of the old version" gone "/usr/src/hopcc-$version" "/var/lib/dkms/hopcc/$version"
claim "and keeps the settings" grep -qx '# ours' /etc/hopcc/ports
claim "the packages are purged" apt-get -q -y purge hopcc-dkms hopcc-tools hopcc-dev
claim "without a file left" gone /usr/src/hopcc-* /var/lib/dkms/hopcc /etc/hopcc /usr/share/hopcc \
	/etc/bash_completion.d/tc-hopcc /usr/include/hopcc
claim "and without a module" no_modules
