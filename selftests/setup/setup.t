#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What tools/setup/setup.sh says of a system: supported or not, the kernels to
# test with, the packages to install. No package is installed: the systems are
# os-release files, and apt-get, sudo, id and dpkg-query are ours.
cd "$(dirname "$0")/../.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# is NAME GOT WANT
is()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
		return
	fi
	echo "not ok $n - $1"
	printf '%s\n' "got  $2" "want $3" | sed 's/^/# /'
	failed=1
}

# contains NAME GOT WORD...: every word is in it
contains()
{
	name=$1 got=$2 absent=
	shift 2
	for word; do
		case " $got " in
		*" $word "*) ;;
		*) absent="$absent $word" ;;
		esac
	done
	is "$name" "$got, without:$absent" "$got, without:"
}

# A user without root on a system without packages.
mkdir "$tmp/bin"
printf '#!/bin/sh\necho 1000\n' >"$tmp/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/sudo"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/dpkg-query"
printf '#!/bin/sh\necho "apt-get $*"; exit 1\n' >"$tmp/bin/apt-get"
chmod +x "$tmp"/bin/*

# release [LINE...]: the system is this os-release
release()
{
	printf '%s\n' "$@" >"$tmp/os-release"
}

# setup GOAL: all that it says on one line, then its status
setup()
{
	said=$(PATH=$tmp/bin:$PATH HOPCC_OS_RELEASE=$tmp/os-release \
		tools/setup/setup.sh "$@" 2>&1)
	status=$?
	echo "$said $status" | tr '\n' ' ' | sed 's/ $//'
}

refusal="is not supported: Debian 12 or 13 is needed 2"

release 'ID=debian' 'VERSION_ID="12"' 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"'
is "Debian 12 tests with its kernel and its backports'" "$(setup series)" "6.1 6.12 0"
is "an unknown goal is refused" "$(setup all)" \
	"setup.sh: unknown goal 'all': demo, figures, check, matrix, deb or series 2"
demo=$(setup demo)
contains "Debian 12: one line of apt-get" "$demo" apt-get install --no-install-recommends 2
contains "Debian 12: what the demo needs" "$demo" gcc linux-source-6.1 iproute2 python3
contains "Debian 12: what the figures need" "$(setup figures)" gcc python3-matplotlib python3-jinja2 parallel
contains "Debian 12: what the tests need" "$(setup check)" gcc parallel qemu-system-x86 linux-headers-amd64 \
	clang libclang-rt-dev shellcheck flake8 mypy debhelper dh-dkms lintian groff-base bash-completion mininet iputils-ping
contains "Debian 12: what packages need" "$(setup deb)" debhelper dh-dkms build-essential
contains "Debian 12: what the matrix needs" "$(setup matrix)" gcc qemu-system-x86 debootstrap \
	gcc-aarch64-linux-gnu gcc-s390x-linux-gnu qemu-user

release 'ID=debian' 'VERSION_ID="13"' 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"'
is "Debian 13 tests with its own kernel" "$(setup series)" "6.12 0"
contains "Debian 13: what the demo needs" "$(setup demo)" linux-source-6.12

release 'ID=debian' 'VERSION_ID="11"' 'PRETTY_NAME="Debian GNU/Linux 11 (bullseye)"'
is "Debian 11 is refused" "$(setup demo)" "setup.sh: Debian GNU/Linux 11 (bullseye) $refusal"
release 'ID=ubuntu' 'VERSION_ID="24.04"' 'PRETTY_NAME="Ubuntu 24.04 LTS"'
is "another distribution is refused" "$(setup series)" "setup.sh: Ubuntu 24.04 LTS $refusal"
release 'ID=debian' 'PRETTY_NAME="Debian GNU/Linux forky/sid"'
is "a Debian without a version is refused" "$(setup check)" \
	"setup.sh: Debian GNU/Linux forky/sid $refusal"
rm "$tmp/os-release"
is "a system that does not say what it is is refused" "$(setup demo)" \
	"setup.sh: this system $refusal"

echo "1..$n"
exit $failed
