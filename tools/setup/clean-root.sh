#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A Debian 12 or 13 with nothing but what every Debian has, to install packages in: in the cache, with
# the archives of what hopcc's packages need, so that each test starts from the same. As root.
#
#   clean-root.sh SUITE          make it if it is not there; print its directory
#   clean-root.sh SUITE --path   print the directory only; exit 1 if not there
#   clean-root.sh SUITE --run DIRECTORY COMMAND [ARGUMENT...]
#       run it there as root, in DIRECTORY of this machine; what it changes is in DIRECTORY/upper, which
#       is emptied first, and not in the cache
#
# SUITE: bookworm or trixie.
set -eu
suite=${1:-}
case $suite in
bookworm | trixie) ;;
*) echo "clean-root.sh: unknown suite '$suite': bookworm or trixie" >&2; exit 2 ;;
esac
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc
dir=$cache/clean-$suite
PATH=$PATH:/usr/sbin:/sbin

die()
{
	echo "clean-root.sh: $*" >&2
	exit 1
}

# in_root ROOT FOLDER COMMAND...: in ROOT; FOLDER, which is the machine's, is the working directory
in_root()
{
	# shellcheck disable=SC2016 # the inner shell's
	DEBIAN_FRONTEND=noninteractive unshare --mount sh -euc '
		root=$1 folder=$2
		shift 2
		mount -t proc proc "$root/proc"
		mkdir -p "$root$folder"
		mount --rbind "$folder" "$root$folder"
		exec chroot "$root" sh -euc "cd \"\$1\"; shift; exec \"\$@\"" sh "$folder" "$@"
	' sh "$@"
}

# on_top FOLDER COMMAND...: in the root, with changes in FOLDER/upper
on_top()
{
	folder=$(cd "$1" && pwd)
	shift
	rm -rf "$folder/upper" "$folder/work"
	mkdir -p "$folder/upper" "$folder/work" "$folder/root"
	# shellcheck disable=SC2016
	unshare --mount sh -euc '
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
		shift 2
		exec "$@"
	' sh "$dir" "$folder" "$0" "$suite" --in "$folder/root" "$folder" "$@"
}

case ${2:-} in
--in)
	shift 2
	in_root "$@"
	exit
	;;
--run)
	[ -e "$dir/complete" ] || die "nothing in $dir: run tools/setup/setup.sh matrix"
	shift 2
	on_top "$@"
	exit
	;;
esac
if [ -e "$dir/complete" ]; then
	echo "$dir"
	exit 0
fi
[ "${2:-}" != --path ] || die "nothing in $dir: run tools/setup/setup.sh matrix"
[ "$(id -u)" -eq 0 ] || die "a system can be unpacked by root only"

mkdir -p "$cache"
exec 9>"$cache/clean-$suite.lock"
flock 9
if [ -e "$dir/complete" ]; then
	echo "$dir"
	exit 0
fi

# Where this machine gets its Debian from is where the other is.
VERSION_CODENAME=''
# shellcheck source=/dev/null
. /etc/os-release
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
uri=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" \
	'Component: main' 'Created-By: Packages' | head -1)
[ -n "$uri" ] || die "no Debian in the apt sources"

log=$cache/clean-$suite.log
rm -rf "$dir"
echo "unpacking $suite from $uri" >&2
debootstrap --variant=minbase "$suite" "$dir" "$uri" >"$log" 2>&1 ||
	{ tail -3 "$log" >&2; die "debootstrap: all of it is in $log"; }
# Two kernels' headers, what builds modules, what the tools need, and the image of the first kernel.
images=$(mktemp -d)
trap 'rm -rf "$images"' EXIT
# shellcheck disable=SC2016 # the inner shell's
in_root "$dir" "$images" sh -euc '
	echo "APT::Keep-Downloaded-Packages \"true\"; Binary::apt::APT::Keep-Downloaded-Packages \"true\";" \
		>/etc/apt/apt.conf.d/90keep
	rm -f /etc/apt/apt.conf.d/docker-clean
	apt-get -q update
	apt-get -q -y --no-install-recommends --download-only install \
		dkms openssl linux-headers-amd64 linux-headers-cloud-amd64 iproute2 python3 bash-completion man-db iperf
	ver=$(apt-cache depends linux-headers-amd64 | sed -n "s/.*Depends: linux-headers-\(.*\)/\1/p" | head -n 1)
	apt-get -q -o APT::Sandbox::User= download $(apt-cache pkgnames linux- | grep -Fx \
		-e "linux-image-$ver" -e "linux-base-$ver" -e "linux-binary-$ver" -e "linux-modules-$ver")
	mkdir /kernel
	for deb in linux-*.deb; do
		dpkg-deb -x "$deb" /kernel
	done
	echo "$ver" >/kernel/version
' >>"$log" 2>&1 9>&- || { tail -3 "$log" >&2; die "all of it is in $log"; }
touch "$dir/complete"
rm -f "$log"
echo "$dir"
