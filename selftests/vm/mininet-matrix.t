#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Mininet with each system: in virtual time, and in Debian's kernel on two CPUs, in QEMU; and Mininet's own
# examples, unmodified, in virtual time.
. "$(dirname "$0")/vm_lib.sh"
. selftests/lib/tap.sh
for program in mn ping iperf iperf3; do
	command -v $program >/dev/null || skip "no $program: run tools/setup/setup.sh check"
done
systems="dctcp_ms ldcp xcp hpccpp csig"
log=build/mininet.log

# shellcheck disable=SC2086 # a list
tools/lab/lab mininet --limit 600 selftests/netns/mininet.py $systems >"$log" 2>&1
ok $? "each system's example in virtual time"
grep -A 9 '^not ok' "$log" | sed 's/^/# /'
for example in linuxrouter bind popen multiping; do
	tools/lab/lab mininet --limit 600 "/usr/lib/python3/dist-packages/mininet/examples/$example.py" >"$log" 2>&1 &&
		! grep -q Traceback "$log"
	ok $? "Mininet's own example in virtual time: $example"
	tail -n 3 "$log" | sed 's/^/# /'
done

for series in $(tools/setup/setup.sh series); do
	root=''
	[ "$series" != 6.12 ] || root=$(tools/setup/backport-kernel.sh --path 2>/dev/null) || root=''
	ver=$(newest "$series" "$root/boot")
	[ -n "$ver" ] || continue
	selftests/build/built_modules.sh "$series" "$root/usr/src/linux-headers-$ver" &&
		make -C tools/tc OUT="$PWD/build/linux-$series/tc" >"$log" 2>&1
	ok $? "modules and plug-ins for Linux $ver"
	# shellcheck disable=SC2086 # a list
	VM_LIMIT_S=900 selftests/vm/run_vm.sh "$root/boot/vmlinuz-$ver" "$root/lib/modules/$ver" \
		"$PWD/selftests/vm/guest_mininet.sh" "$PWD/build/linux-$series" $systems >"$log" 2>&1
	ok $? "Linux $ver: each system's example fills its port"
	sed 's/^/# /' "$log"
done
echo "1..$count"
exit $failed
