#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Data races: the modules in a kernel with KCSAN, two CPUs, in QEMU, under the traffic and the
# races of distro-*.t. A report about code of the modules is a failure. The kernel's own code has
# races by these rules, too: they are counted and listed only.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

# claim NAME COMMAND...
claim()
{
	name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		status=1
	fi
}

instrumented()
{
	for module in build/linux-kcsan/*/*.ko; do
		nm "$module" | grep -q ' U __tsan_read' || { echo "# $module is not"; return 1; }
	done
}

# KCSAN was on at the end, and had looked often. The guest prints its statistics.
watched()
{
	awk '
		$3 == "enabled:" { on = $4 }
		$3 == "setup_watchpoints:" { watched = $4 }
		END {
			print "# accesses watched: " watched
			exit !(on == 1 && watched > 20000)
		}' build/vm-kcsan.tap
}

# races MODULE...: KCSAN's reports about them; fails if there are some
# shellcheck disable=SC2086 # a list
races() { selftests/vm/kcsan_reports.py build/vm-kcsan.console "$@"; }

racer_found() { ! races racer >build/vm-kcsan.racer; }

root=$(selftests/vm/kcsan_kernel.sh 2>build/kcsan-kernel.log) ||
	fail "a kernel with KCSAN builds" build/kcsan-kernel.log
ver=$(cat "$root/version")
# For the reports' line numbers: -g.
tools/build-modules.sh linux-kcsan "$root/build" KCFLAGS=-g -j"$(nproc)" >build/linux-kcsan.log 2>&1 ||
	fail "modules build for Linux $ver with KCSAN" build/linux-kcsan.log
rm -rf build/racer
cp -r selftests/vm/racer build/racer
make -C "$root/build" M="$PWD/build/racer" modules >build/racer.log 2>&1 ||
	fail "a module with a race builds" build/racer.log

# KCSAN makes the guest several times slower.
VM_SCRIPT_S=$((2400 + ${VM_ROUNDS:-3} * 120))
run_guest guest_kcsan.sh kcsan "$ver" 0 "$root"
claim "KCSAN passed its own tests at boot" \
	grep -q '^# kcsan: selftest: \([0-9]*\)/\1 tests passed' build/vm-kcsan.tap
claim "all modules are instrumented" instrumented
claim "KCSAN watched memory until the end" watched
claim "KCSAN found the race of a module that has one on purpose" racer_found
names=$(find build/linux-kcsan -name '*.ko' -exec basename {} .ko \;)
# shellcheck disable=SC2086 # a list
claim "no data race in code of the modules" races $names
echo "1..$n"
exit "$status"
