#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Delay and queue that csig and int report on a NIC whose ring holds packets, and the persistent
queue that xcp decides by, against the true ones, in virtual time. Prints TAP.

    sender --nic0 [csig [int]] ring========nic1-- receiver
                  [xcp]

Each frame asks for both: a CSIG tag for its delay, and INT for the queue and the bytes sent. The
truth is from the times at which frames were sent and arrived: the cable is a FIFO of a known rate.

Needs root and the path of ring_nic.ko.
"""
import bisect
import json
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../tdc")
import frames
import int_queue
from csig_queue import EXPANDED, PD, frame, read, tag
from hosts import Tap, run

SO_SNDBUFFORCE, SO_TIMESTAMPNS = 32, 35
LEN_BYTES = 1000
UNIT_BYTES = {100: 1, 1000: 4, 10000: 64}
DATA = frame(tag(EXPANDED, PD), *frames.ipv4((int_queue.H + bytes(LEN_BYTES))[:LEN_BYTES - 42], int_queue.INT))
# Errors are relative to what waits, but to so many packets at least
FEW = 4
MAX_ERROR, MAX_SENT = 0.2, 2


def knob(name, value):
    with open(f"/sys/module/ring_nic/parameters/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


class Ends:
    def __init__(self):
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
        self.out.bind(("nic0", 0))
        self.inp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.inp.setsockopt(socket.SOL_SOCKET, frames.SO_RCVBUFFORCE, 1 << 28)
        self.inp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.inp.bind(("nic1", 0))
        self.inp.settimeout(0.1)

    def send(self, gaps_ns):
        """Send a frame after each gap. Return their times, ns."""
        sent_ns, due_ns = [], time.monotonic_ns()
        for gap_ns in gaps_ns:
            due_ns += gap_ns
            while time.monotonic_ns() < due_ns:
                time.sleep((due_ns - time.monotonic_ns()) / 1e9)
            sent_ns.append(time.monotonic_ns())
            self.out.send(DATA)
        return sent_ns

    def arrived(self):
        """Return (time, frame) of each frame that has arrived."""
        got, ahead_ns = [], time.time_ns() - time.monotonic_ns()
        while True:
            try:
                data, more, _, _ = self.inp.recvmsg(2000, 64)
            except TimeoutError:
                return got
            seconds, ns = struct.unpack("qq", more[0][2])
            got.append((seconds * 10**9 + ns - ahead_ns, data))


def truths(sent_ns, got, wire_ns, unit_bytes):
    """Yield (delay, queue, bytes sent, the same as reported) of each frame."""
    left_ns = [at_ns for at_ns, _ in got]
    for number, (at_ns, data) in enumerate(got):
        delay_ns = at_ns - wire_ns - sent_ns[number]
        _, ts_ns, tx_units, qlen_units = int_queue.read(data, 42)[3][0]
        ts_ns = sent_ns[number] + ((ts_ns - sent_ns[number]) & 0xffffff)
        gone = bisect.bisect_right(left_ns, ts_ns)
        part = max(0, ts_ns - (left_ns[gone] - wire_ns)) * LEN_BYTES / wire_ns
        sent_bytes = gone * LEN_BYTES + part
        queue_bytes = bisect.bisect_right(sent_ns, ts_ns) * LEN_BYTES - sent_bytes - LEN_BYTES
        yield (delay_ns, queue_bytes, sent_bytes,
               read(data)[1] * 128, qlen_units * unit_bytes, tx_units * unit_bytes)


def worst(pairs, small):
    """Return the worst error of (true, reported): relative above @small, else of @small."""
    return max(abs(said - true) / max(true, small) for true, said in pairs)


def measure(tap, ends, name, gaps, mbit=1000, said_mbit=None, settle=0, **knobs):
    """Send frames with gaps in packet times; compare all but the first ones with the truth."""
    wire_ns, said_mbit = LEN_BYTES * 8000 // mbit, said_mbit or mbit
    for knob_name, value in {"mbit": mbit, "slots": 256, "late_ns": 0, "bql": 0, **knobs}.items():
        knob(knob_name, value)
    for line in (f"root handle 1: csig rate {said_mbit}mbit", f"parent 1:1 handle 2: int rate {said_mbit}mbit",
                 "parent 2:1 handle 3: bfifo limit 100mb"):
        run(f"tc qdisc add dev nic0 {line}")
    sent_ns = ends.send([int(gap * wire_ns) for gap in gaps])
    got = ends.arrived()
    run("tc qdisc del dev nic0 root")
    unit_bytes = UNIT_BYTES[said_mbit]
    rows = list(truths(sent_ns, got, wire_ns, unit_bytes))[settle:]
    delay = worst([(row[0], row[3]) for row in rows], FEW * wire_ns)
    queue = worst([(min(row[1], 0xffff * unit_bytes), row[4]) for row in rows], FEW * LEN_BYTES)
    sent = max(abs(row[2] % (unit_bytes << 20) - row[5]) for row in rows) / LEN_BYTES
    said = "" if said_mbit == mbit else f" that says {said_mbit}"
    tap.claim(f"{name}, {mbit} Mbit/s{said}: delay and queue within {MAX_ERROR}, bytes sent within {MAX_SENT} packets",
              len(got) == len(gaps) and delay <= MAX_ERROR and queue <= MAX_ERROR and sent <= MAX_SENT,
              f"up to {max(row[0] for row in rows) / wire_ns:.0f} packets wait: delay {delay:.3f}, queue {queue:.3f}, "
              f"bytes sent {sent:.1f} packets")


def least_packets(sent_ns, got, wire_ns, since_ns):
    """Return the minimum number of packets behind the one on the wire since @since_ns, and at its end."""
    left_ns = [at_ns - wire_ns for at_ns, _ in got]
    times_ns = [at_ns for at_ns in left_ns if since_ns <= at_ns <= sent_ns[-1]]
    return min(bisect.bisect_right(sent_ns, at_ns) - bisect.bisect_right(left_ns, at_ns) for at_ns in times_ns)


def measure_xcp(tap, ends, name, gaps, mbit=1000, unseen=0, **knobs):
    """
    Send frames with gaps in packet times; compare xcp's persistent queue with the true minimum, of
    which @unseen packets are known to be missing.
    """
    wire_ns = LEN_BYTES * 8000 // mbit
    period_ns = PERIOD * wire_ns
    for knob_name, value in {"mbit": mbit, "slots": 256, "late_ns": 0, "bql": 0, **knobs}.items():
        knob(knob_name, value)
    run(f"tc qdisc add dev nic0 root handle 1: xcp rate {mbit}mbit allowed_queue {period_ns // 1000}us limit 100mb")
    sent_ns = ends.send([int(gap * wire_ns) for gap in gaps])
    shown = json.loads(subprocess.check_output("tc -j -s qdisc show dev nic0 root".split()))[0]
    got = ends.arrived()
    run("tc qdisc del dev nic0 root")
    # The last whole period ended up to one period ago.
    true_pkts = least_packets(sent_ns, got, wire_ns, sent_ns[-1] - 2 * period_ns) - unseen
    said_pkts = shown["persistent_queue"] / LEN_BYTES
    error = abs(said_pkts - true_pkts) / max(true_pkts, FEW)
    tap.claim(f"xcp, {name}, {mbit} Mbit/s: the persistent queue within {MAX_ERROR}",
              len(got) == len(gaps) and error <= MAX_ERROR,
              f"{said_pkts:.1f} packets, in truth {true_pkts}, and {unseen} unseen")


# Gaps in packet times: twice what the cable takes, then as much as it takes, or less than half.
FULL = [0.47] * 600 + [1] * 400
FULL_16 = [0.47] * 60 + [1] * 500
HALF = [2.1] * 300
# Bursts of 20 at once, at 95 % of the rate
BURSTS = ([0] * 19 + [21]) * 20
CASES = (
    ("a ring of 16", FULL_16, {"slots": 16, "mbit": 100}),
    ("a ring of 16", FULL_16, {"slots": 16, "mbit": 10000}),
    ("a ring of 256", FULL, {}),
    ("a ring of 256", FULL, {"mbit": 10000}),
    ("a ring of 256, late interrupts", FULL, {"late_ns": 64000}),
    ("bursts, late interrupts", BURSTS, {"late_ns": 64000}),
    ("half the rate, late interrupts", HALF, {"late_ns": 64000}),
    # The pace is measured in the first round, and known in the second one.
    ("a ring of 256, second round", FULL + [3000] + FULL, {"said_mbit": 10000, "settle": len(FULL)}),
    ("BQL", FULL, {"bql": 1}),
    ("BQL", FULL, {"bql": 1, "mbit": 10000}),
    ("BQL, late interrupts", FULL, {"bql": 1, "late_ns": 64000}),
    ("BQL, bursts, late interrupts", BURSTS, {"bql": 1, "late_ns": 64000}),
    ("BQL, half the rate, late interrupts", HALF, {"bql": 1, "late_ns": 64000}),
    ("BQL, late interrupts, once it is full", FULL, {"bql": 1, "late_ns": 64000, "said_mbit": 10000, "settle": 600}),
)

# A period of the queue's estimate, in packet times
PERIOD = 100
# The ring takes what the cable cannot send at once, and the qdisc is empty.
HIDDEN = [0.47] * 300 + [1] * 400
DRAINED = HIDDEN + [1.2] * 900
XCP_CASES = (
    ("all in a ring of 256", HIDDEN, {}),
    ("all in a ring of 256", HIDDEN, {"mbit": 10000}),
    ("all in a ring of 256, late interrupts", HIDDEN, {"late_ns": 64000}),
    ("a ring of 256 and the qdisc", FULL, {}),
    ("a ring of 256, drained again", DRAINED, {}),
    ("bursts, late interrupts", BURSTS, {"late_ns": 64000}),
    # The pause hides a part of the burst: sch_xcp.md, "The ring below the qdisc".
    ("a burst after a pause", [2.1] * 60 + [0] * 20 + [1] * 400, {"unseen": 12}),
    ("BQL", FULL, {"bql": 1}),
    ("BQL, late interrupts", FULL, {"bql": 1, "late_ns": 64000}),
    ("BQL, bursts, late interrupts", BURSTS, {"bql": 1, "late_ns": 64000}),
    ("BQL, half the rate, late interrupts", HALF, {"bql": 1, "late_ns": 64000}),
)


def main():
    tap = Tap()
    run(f"insmod {sys.argv[1]}")
    with open("/proc/self/timerslack_ns", "w", encoding="ascii") as file:
        file.write("1")
    for dev in ("nic0", "nic1"):
        run(f"sysctl -qw net.ipv6.conf.{dev}.disable_ipv6=1")
        run(f"ip link set {dev} up")
    # High-resolution timers start with the first tick.
    time.sleep(0.2)
    ends = Ends()
    # The counters of BQL are shared with the NIC's next case: they come last.
    for bql in (0, 1):
        for test, cases in ((measure, CASES), (measure_xcp, XCP_CASES)):
            for name, gaps, more in cases:
                if more.get("bql", 0) == bql:
                    test(tap, ends, name, gaps, **more)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
