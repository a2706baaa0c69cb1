#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Mainline's own selftests of sockets and GSO, in virtual time, with all modules loaded: KSELFTEST_RUNS
# (100) runs of each. Sources are those of the kernel that the lab was built from.
cd "$(dirname "$0")/../.." || exit 2
top=$(pwd)
runs=${KSELFTEST_RUNS:-100}
programs="tcp_fastopen_backup_key reuseport_bpf_cpu reuseport_dualstack reuseport_addr_any
reuseaddr_conflict sk_bind_sendto_listen sk_connect_zero_addr so_netns_cookie socket rxtimestamp
psock_snd udpgso ipv6_flowlabel ipv6_flowlabel_mgr"
tests="tcp_fastopen_backup_key reuseport_bpf_cpu reuseport_dualstack reuseport_addr_any
reuseaddr_conflict sk_bind_sendto_listen sk_connect_zero_addr so_netns_cookie socket rxtimestamp
psock_snd.sh udpgso.sh ipv6_flowlabel.sh"
for series in 6.12 6.1; do
	[ ! -e "/usr/src/linux-source-$series.tar.xz" ] || tarball=/usr/src/linux-source-$series.tar.xz
done
[ -n "$tarball" ] || { echo "Bail out! no kernel source: tools/setup/setup.sh check"; exit 1; }
out=$top/build/kselftest
rm -rf "$out"
mkdir -p "$out"
tar -xf "$tarball" -C "$out" --strip-components=4 --wildcards \
	'linux-source-*/tools/testing/selftests/net' \
	'linux-source-*/tools/testing/selftests/*.h' || exit 1
for program in $programs; do
	# Warnings of others' sources are not ours to mend.
	cc -O2 -w -I"$out" -o "$out/net/$program" "$out/net/$program.c" || {
		echo "Bail out! $program did not build"
		exit 1
	}
done
tools/lab/lab setup >/dev/null || exit 1
# shellcheck disable=SC2086
exec tools/lab/lab exec --timeout 1800 sh selftests/lab/kselftest.sh "$out/net" "$runs" $tests
