#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tools/ldcp-thresholds: values that can be redone by hand, and what it refuses.
cd "$(dirname "$0")/../.." || exit 2
n=0 failed=0

# is WANT ARGUMENT...: its output, or for WANT = refused its exit status
is()
{
	n=$((n + 1))
	want=$1
	shift
	got=$(tools/ldcp-thresholds "$@" 2>/dev/null) || got=refused
	if [ "$got" = "$want" ]; then
		echo "ok $n - $*"
	else
		printf 'not ok %s - %s\n# got  %s\n# want %s\n' "$n" "$*" "$got" "$want"
		failed=1
	fi
}

# BDP 125000; Kmin a half of it; 4 * 32 * 1538 = 196864 more; 259364 + 125000 + 32 * 1538
is '{"bdp_bytes": 125000, "first_pkts": 82, "kmin_bytes": 62500, "kmax_bytes": 259364, "k_bytes": 259364, "limit_bytes": 433580}' \
	10gbit 100us 32 --json
# 4 * 1024 packets are more than 8 BDP
is '{"bdp_bytes": 125000, "first_pkts": 82, "kmin_bytes": 62500, "kmax_bytes": 1062500, "k_bytes": 1062500, "limit_bytes": 2762412}' \
	100gbit 10us 1024 --json
# a path shorter than a packet
is '{"bdp_bytes": 1538, "first_pkts": 1, "kmin_bytes": 769, "kmax_bytes": 6921, "k_bytes": 6921, "limit_bytes": 9997}' \
	10mbit 10us 1 --json
is 'bdp_bytes    125000
first_pkts   14
kmin_bytes   62500
kmax_bytes   353764
k_bytes      353764
limit_bytes  551580
tc qdisc add dev DEV root wred limit 551580 overhead 24 ect min 62500 max 353764 prob 1 nect min 353764 max 353764 prob 1' \
	10Gbit 100us 8 --packet 9102
is refused 10 100us 32
is refused 10gbit 100 32
is refused 0gbit 100us 32
is refused 10gbit 100us 0
is refused 800gbit 100ms 32
echo "1..$n"
exit $failed
