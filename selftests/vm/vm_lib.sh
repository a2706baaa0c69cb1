# SPDX-License-Identifier: GPL-2.0
# The modules in one distribution kernel. Included by distro-*.t.
# shellcheck shell=sh
cd "$(dirname "$0")/../.." || exit 2
mkdir -p build

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

fail()
{
	echo "not ok 1 - $1"
	tail -n 20 "$2" | sed 's/^/# /'
	echo "1..1"
	exit 1
}

# newest SERIES DIRECTORY: the kernel's version there
newest()
{
	find "$2" -maxdepth 1 -name "vmlinuz-$1.*-amd64" ! -name '*cloud*' ! -name '*-rt-*' 2>/dev/null |
		sed 's,.*/vmlinuz-,,' | sort -V | tail -1
}

# distro_test SERIES FIRST ROOT: the kernel in ROOT/boot, ROOT/lib/modules, ROOT/usr/src;
# FIRST: 0 or 1, which half of what can happen at once
distro_test()
{
	series=$1 first=$2 root=$3
	ver=$(newest "$series" "$root/boot")
	[ -n "$ver" ] || skip "no kernel $series in $root/boot: run tools/setup/setup.sh check"
	headers=$root/usr/src/linux-headers-$ver
	[ -e "$headers/Makefile" ] || skip "no headers of Linux $ver: run tools/setup/setup.sh check"
	selftests/build/built_modules.sh "$series" "$headers" ||
		fail "modules build for Linux $ver" "build/linux-$series.log"
	boot_test "$series" "$ver" "$first" "$root"
}

# boot_test SERIES VERSION FIRST ROOT: the same with the modules that are built
boot_test()
{
	run_guest guest_hopcc.sh "$@"
	echo "1..$n"
	exit "$status"
}

# run_guest SCRIPT SERIES VERSION FIRST ROOT: run SCRIPT of this folder in the guest; n counts the
# claims. VM_SCRIPT_S: the seconds that the script may take
run_guest()
{
	script=$1 series=$2 ver=$3 first=$4 root=$5
	modules=build/linux-$series log=build/vm-$series.log rounds=${VM_ROUNDS:-2}
	make -C tools/tc OUT="$PWD/$modules/tc" >"$log" 2>&1 || fail "tc's plug-ins build" "$log"
	make -C tools/bpf OUT="$PWD/$modules/bpf" MORE="$PWD/selftests/vm/csig_null.bpf.c" >"$log" 2>&1 ||
		fail "the programs in BPF build" "$log"

	out=build/vm-$series.tap
	{
		VM_LOG=$PWD/build/vm-$series.console \
			VM_LIMIT_S=${VM_SCRIPT_S:-$((720 + rounds * 60))} \
			selftests/vm/run_vm.sh "$root/boot/vmlinuz-$ver" "$root/lib/modules/$ver" \
			"$PWD/selftests/vm/$script" "$PWD/$modules" "$rounds" "$first" 2>&1
		echo $? >"$out.status"
	} | tee "$out"
	status=$(cat "$out.status")
	n=$(grep -cE '^(not )?ok ' "$out")
	n=$((n + 1))
	other=$(grep -m 1 -vE '^((not )?ok |#|Warning: |$)' "$out")
	# Status 1 with a failure above is that failure's; else the kernel complained.
	if [ -n "$other" ]; then
		echo "not ok $n - the script printed: $other"
	elif [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && grep -q '^not ok' "$out" &&
		! grep -q '^# .*the kernel complained' "$out"; }; then
		echo "ok $n - Linux $ver had nothing to complain of"
	else
		echo "not ok $n - Linux $ver: status $status$(cause_in "$out")"
	fi
}

# cause_in OUTPUT: why run_vm.sh says that the guest failed, with the kernel's first complaint, or the
# console's last line
cause_in()
{
	awk '/; the last lines of the kernel.s console:$/ { sub(/^# /, ""); sub(/;.*/, ""); why = ": " $0 }
		/^#   / { last = ": " substr($0, 5) }
		/^# (\[|[A-Z])/ && why != "" && first == "" { first = ": " substr($0, 3) }
		END { print why (first != "" ? first : last) }' "$1"
}
