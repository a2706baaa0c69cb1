# SPDX-License-Identifier: GPL-2.0
# Shared by the build tests: TAP, and where the kernels' headers are.
# shellcheck shell=sh
# shellcheck disable=SC2034 # headers_* are for the includer

cd "$(dirname "$0")/../.." || exit 2
mkdir -p build
tap_n=0 tap_failed=0

# tap_result STATUS NAME [FILE with what went wrong]
tap_result()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
		return
	fi
	echo "not ok $tap_n - $2"
	tap_failed=1
	[ -z "${3:-}" ] || head -n 40 "$3" | sed 's/^/# /'
}

tap_done()
{
	echo "1..$tap_n"
	exit $tap_failed
}

tap_skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# Kernel headers of a series, 6.1 or 6.12; empty when there are none.
headers_of()
{
	backport=$(tools/setup/backport-kernel.sh --path 2>/dev/null) || backport=
	for root in "" "$backport"; do
		find "$root/usr/src" -maxdepth 1 -name "linux-headers-$1.*-amd64" \
			! -name '*cloud*' ! -name '*-rt-*' 2>/dev/null
	done | sort -V | tail -1
}

# The tree of the kernel's own scripts, from the lab's source: of the oldest series that is there,
# so that what make matrix unpacks does not change what the gate says.
kernel_scripts()
{
	src=$(tools/lab/kernel/build.sh release --path 2>/dev/null)
	find "${src%/*}" -maxdepth 3 -path '*/src-*/scripts/checkpatch.pl' 2>/dev/null |
		sort -V | head -n 1 | sed 's,/checkpatch.pl$,,'
}

# build_kernel SERIES: modules for the headers of that series here, and the two who judge them
build_kernel()
{
	command -v sparse >/dev/null || tap_skip "no sparse: run tools/setup/setup.sh check"
	kdir=$(headers_of "$1")
	[ -n "$kdir" ] || tap_skip "no headers of Linux $1 here: run tools/setup/setup.sh check"
	judge_build "$1" "$kdir"
	judge_sparse
}

# cross_build ARCH PREFIX [DEBIAN'S NAME]: modules for another architecture, by its compiler
# PREFIXgcc, and the two who judge them
cross_build()
{
	command -v sparse >/dev/null || tap_skip "no sparse: run tools/setup/setup.sh check"
	command -v "${2}gcc" >/dev/null || tap_skip "no ${2}gcc: run tools/setup/setup.sh matrix"
	flavour=${3:-$1}
	root=$(tools/setup/other-kernel.sh "$flavour" --path 2>/dev/null) ||
		tap_skip "no headers of $flavour here: run tools/setup/setup.sh matrix"
	judge_build "$flavour" "$root/usr/src/linux-headers-$(cat "$root/version")" \
		env "ARCH=$1" "CROSS_COMPILE=$2"
	judge_sparse
}

# What sparse says of the build that was judged last.
judge_sparse()
{
	! complaints "$log" | grep -v -e '\[-W' >"$log.bad" && grep -q '^ *CHECK ' "$log"
	tap_result $? "sparse is content: types on the wire, address spaces, locks" "$log.bad"
}

# judge_build SERIES KDIR [COMMAND...]: what gcc says; the arguments are built_modules.sh's
judge_build()
{
	kdir=$2 log=build/linux-$1.log
	if selftests/build/built_modules.sh "$@"; then
		tap_result 0 "modules build for ${kdir##*/linux-headers-}"
	else
		grep -E 'error|Error|No rule' "$log" >"$log.bad" || cp "$log" "$log.bad"
		tap_result 1 "modules build for ${kdir##*/linux-headers-}" "$log.bad"
	fi
	# gcc names the switch that a complaint is of; the rest is sparse's.
	! complaints "$log" | grep -e '\[-W' >"$log.bad"
	tap_result $? "no warning with W=1" "$log.bad"
}

# Every complaint counts but those about the kernel's own headers. Our own path
# goes first: a checkout may lie where those do.
complaints()
{
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc
	sed "s,$(pwd -P)/,,g; s,$PWD/,,g" "$1" |
		grep -E '(warning|error|WARNING|ERROR)' |
		grep -vE "(^|[^a-z])(/usr/src|$cache|\./include|\./arch)[^ ]*: *(warning|error)"
}
