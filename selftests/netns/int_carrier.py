#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Telemetry's carrier from end to end: streams are exact, answers come in the form
that was asked for, who does not know telemetry gets a connection without. Prints
TAP. Needs root and the path of int_drive.ko; all is in network namespaces of its own.
"""
import os
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer

# The debug kernel is slow.
SCALE = 10 if os.environ.get("HOPLAB_KERNEL") == "debug" else 1
MB = (1 << 20) // SCALE
CC = "int_drive"
RECORDS, SUMMARY, RATIO, WINDOW = range(4)
ANSWERS = {RECORDS: "records", SUMMARY: "summaries", RATIO: "ratios", WINDOW: "windows"}
KEY = "000102030405060708090a0b0c0d0e0f"

tap = hosts.Tap()


def counts(name):
    return hosts.counts(name, "int")


def since(name, before):
    return hosts.since(name, before, "int")


def drive(name, value=None):
    return hosts.drive(name, value, "int_drive")


def drive_reset():
    for name in ("opened", "refused", "closed", "silenced", "odd", "hops", "path_id", "flows",
                 "value", *ANSWERS.values()):
        drive(name, 0)


def answers():
    return {kind: drive(name) for kind, name in ANSWERS.items() if drive(name)}


def path(rate="1gbit", delay="50us"):
    """The router's ports: a queue at a rate, and the way to the next node."""
    for dev in ("r-a", "r-b"):
        run(f"ip netns exec r tc qdisc replace dev {dev} root handle 1: netem rate {rate}"
            f" delay {delay} limit 100000")


def settle():
    """Wait until sockets are gone; in virtual time this is free."""
    time.sleep(1)


def one_way(version, total, **options):
    """A stream from a to b; (exact, counts of a, counts of b)."""
    drive_reset()
    before = [counts(end) for end in ("a", "b")]
    pair = connect(version, cc=CC, **options)
    exact = False
    if pair:
        exact = transfer([Stream(*pair, total)])
        hosts.close(*pair)
    settle()
    return exact, *(since(end, b) for end, b in zip(("a", "b"), before))


def malformed(got):
    return {k: v for k, v in got.items() if k.startswith(("bad_", "in_bad_")) and v}


def sound(a, b):
    """Nothing was lost or refused on the way."""
    return not malformed(a) and not malformed(b) and drive("odd") == 0 and \
        not a["in_forged"] and not a["in_no_flow"] and not b["in_no_flow"]


def probing(version, name, kind=RECORDS, want=None, **options):
    """Probes, and answers in packets of their own."""
    want = kind if want is None else want
    drive("kind", kind)
    exact, a, b = one_way(version, 5 * MB, **options)
    tap.claim(f"IPv{version} {name}: exact, opened and closed",
              exact and (drive("opened"), drive("closed"), drive("refused")) == (1, 1, 0) and
              (a["out_hello"], b["out_hello"]) == (1, 1))
    probes, told = a["out_probe"], answers()
    tap.claim(f"IPv{version} {name}: each probe arrived, no data had a header",
              probes > 5 and b["in_probe"] == probes and not a["out_data"], f"{probes} probes")
    tap.claim(f"IPv{version} {name}: answers of kind {want} and no other came back",
              b["out_answer"] == a["in_answer"] > 0 and set(told) == {want} and
              (want == WINDOW or a["in_answer"] == probes), f"{told}")
    tap.claim(f"IPv{version} {name}: all sound", sound(a, b), f"{malformed(a)} {malformed(b)}")
    drive("kind", RECORDS)


def no_duplicate_acks(version):
    """Probes are not seen by TCP: no duplicate is reported."""
    before = {k: netstat("b", k) for k in ("TCPDSACKOldSent", "TCPDSACKOfoSent")}
    exact, _, b = one_way(version, 5 * MB)
    tap.claim(f"IPv{version}: TCP sees no probe: no DSACK",
              exact and b["in_probe"] > 5 and
              before == {k: netstat("b", k) for k in before})


def netstat(name, key):
    with hosts.inside(name), open("/proc/thread-self/net/netstat", encoding="ascii") as file:
        lines = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(lines[1][lines[0].index(key)])


def period(version):
    """Once per min(T, 4 ms) while data is sent."""
    path(delay="5ms")
    for t_ns, low, high in ((1000000, 1e-3, 2e-3), (100000000, 4e-3, 8e-3)):
        drive("t_ns", t_ns)
        start = time.monotonic()
        exact, a, _ = one_way(version, 20 << 20)
        took = time.monotonic() - start - 1
        tap.claim(f"IPv{version} T = {t_ns // 1000000} ms: a probe each {low * 1e3} ms at most",
                  exact and low <= took / a["out_probe"] <= high,
                  f"{a['out_probe']} probes in {took:.3f} s")
    drive("t_ns", 100000)
    path()


def main():
    module = sys.argv[1]
    run(f"insmod {module}")
    hosts.build_path()
    path()
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_cc", "hpccpp " + CC)
    for version in (4, 6):
        probing(version, "probe")
        probing(version, "ratio", RATIO, RECORDS)
        no_duplicate_acks(version)
        period(version)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
