#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Install what is missing on a Debian 12 or 13, and nothing else: as root, by
# sudo where it asks for no password, else print the one line to type.
#
#   setup.sh [demo|figures|check|matrix|deb|series]
#
# demo: to build the modules and the lab's kernel, run scenarios, draw.
# figures: the same, and what runs many scenarios, here or on other machines.
# check: the same, and what the tests need.
# matrix: the same, the newest kernel that Debian packages, with a system of its own, and this
#	system's kernel for arm64, for s390x and with PREEMPT_RT; on Debian 12 the simulator ns-3.
# deb: to build Debian packages.
# series: install nothing; print the kernel series that this system tests with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

die()
{
	echo "setup.sh: $*" >&2
	exit 2
}

ID='' VERSION_ID='' PRETTY_NAME='this system'
os_release=${HOPCC_OS_RELEASE:-/etc/os-release}	# another file: for setup.t
# shellcheck source=/dev/null
[ ! -r "$os_release" ] || . "$os_release"
case $ID-$VERSION_ID in
# Debian 12 has a second kernel to test with, in its backports.
debian-12) series=6.1 tested="6.1 6.12" ns3="libns3-dev libgsl-dev g++ pkg-config" ;;
debian-13) series=6.12 tested=6.12 ns3= ;;
*) die "$PRETTY_NAME is not supported: Debian 12 or 13 is needed" ;;
esac

# A kernel built from source, and what builds beside it.
demo="gcc libc6-dev make flex bison bc perl libelf-dev libssl-dev kmod cpio
xz-utils patch linux-source-$series iproute2 procps util-linux python3 python3-jinja2 python3-matplotlib"
figures="parallel rsync"
# To build Debian packages, and to check them.
deb="build-essential debhelper dh-dkms lintian iproute2"
# The distribution's kernels in QEMU, the tools that check the source. Mininet without its recommended
# Open vSwitch, whose daemons would run on this machine.
check="busybox-static qemu-system-x86 linux-image-amd64 linux-headers-amd64 pahole
sparse shellcheck flake8 mypy nftables tmux python3-prometheus-client python3-markdown-it clang libclang-rt-dev groff-base bash-completion
tshark python3-scapy mininet iputils-ping iperf iperf3 flent
bpftool libbpf-dev"
matrix="debootstrap gcc-aarch64-linux-gnu gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
$ns3"
# Another npm than Debian's is as good, and does not go together with Debian's.
command -v npm >/dev/null || matrix="$matrix npm"

case ${1:-demo} in
demo) wanted=$demo ;;
figures) wanted="$demo $figures" ;;
check) wanted="$demo $figures $check $deb" ;;
deb) wanted=$deb ;;
matrix) wanted="$demo $figures $check $matrix $deb" ;;
series) echo "$tested"; exit 0 ;;
*) die "unknown goal '$1': demo, figures, check, matrix, deb or series" ;;
esac

missing()
{
	# shellcheck disable=SC2086 # a list
	dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
	awk -v wanted="$wanted" '
		$2 == "installed" { have[$1] = 1 }
		END {
			n = split(wanted, name, /[ \n]+/)
			for (i = 1; i <= n; i++)
				if (!(name[i] in have))
					printf "%s ", name[i]
		}'
}

install_packages()
{
	if [ "$(id -u)" -eq 0 ]; then
		as_root="env"
	elif sudo -n true 2>/dev/null; then
		as_root="sudo -n env"
	else
		echo "setup.sh: packages are missing; as root:" >&2
		echo "apt-get install --no-install-recommends $*" >&2
		exit 2
	fi
	echo "installing: $*"
	# shellcheck disable=SC2086 # a command and its words
	$as_root apt-get -q -o DPkg::Lock::Timeout=300 update >/dev/null ||
		die "apt-get update failed"
	# shellcheck disable=SC2086
	$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
		-o DPkg::Lock::Timeout=300 install --no-install-recommends "$@" >/dev/null ||
		die "apt-get install $* failed"
}

packages=$(missing)
# shellcheck disable=SC2086 # a list
[ -z "$packages" ] || install_packages $packages

# The other kernels are unpacked, not installed, as is one program of Prometheus.
case ${1:-demo} in
check | matrix)
	[ "$tested" = "$series" ] || "$here/backport-kernel.sh" >/dev/null || exit 2
	"$here/promtool.sh" >/dev/null || exit 2
	;;
esac
[ "${1:-demo}" != matrix ] || [ "$tested" = "$series" ] || "$here/backport-kernel.sh" --source >/dev/null || exit 2
[ "${1:-demo}" != matrix ] || "$here/newest-kernel.sh" >/dev/null || exit 2
[ "${1:-demo}" = matrix ] || exit 0
"$here/grafana-schema.sh" >/dev/null || exit 2
"$here/netperf.sh" >/dev/null || exit 2
for suite in bookworm trixie; do
	"$here/clean-root.sh" "$suite" >/dev/null || exit 2
done
for flavour in arm64 s390x rt-amd64; do
	"$here/other-kernel.sh" "$flavour" >/dev/null || exit 2
done
