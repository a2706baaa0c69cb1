#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run in the guest of mq_scaling.py: packets through qdiscs below mq, from one CPU and from two.

    mq_rates.py MQ_SEND ROUNDS SECONDS DEVICE...

Prints a line at the start and at the end of each round, and pauses between a line and the traffic,
so that the host has time to read the CPU time.
"""
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../tdc"), HERE]
import csig_queue as csig
import int_queue
import mq
import xcp_queue as xcp
from tap import must

REST_S = 0.3
PLAIN = mq.plain(1000)
RED = ("red limit 4000000 min 400000 max 1200000 avpkt 1000 burst 500 probability 0.02 "
       "bandwidth 10gbit ecn")
# ONE is not below mq, so both CPUs take its lock for each packet: an example of bad scaling.
ONE = "red, one queue"
CASES = (
    (ONE, "plain", RED, PLAIN),
    ("pfifo", "plain", "pfifo limit 10000", PLAIN),
    ("red", "plain", RED, PLAIN),
    ("wred", "plain", "wred limit 10m ect min 9m max 9m", PLAIN),
    ("int", "plain", "int rate 10gbit", PLAIN),
    ("int", "inband", "int rate 10gbit switch_id 7", mq.int_frame(0)),
    ("csig", "plain", "csig rate 10gbit", PLAIN),
    ("csig", "expanded", "csig rate 10gbit",
     csig.frame(csig.tag(csig.EXPANDED, csig.ABW), *csig.ip(4, 900))),
    ("xcp", "plain", "xcp rate 10gbit", PLAIN),
    ("xcp", "header", "xcp rate 10gbit", int_queue.frame(*xcp.V4(xcp.header()))),
)


def say(*words):
    print(*words, flush=True)
    time.sleep(REST_S)


def one_round(program, seconds, device, frame, cpus):
    """Return the number of packets, and packets per second."""
    out = subprocess.run([program, device, frame, seconds, *map(str, cpus)], check=True,
                         capture_output=True, text=True).stdout
    rows = [list(map(int, line.split())) for line in out.splitlines()]
    return sum(frames for frames, _ in rows), sum(frames * 1e9 / ns for frames, ns in rows)


def attach(device, name, words):
    if name == ONE:
        must(f"tc qdisc replace dev {device} root handle 11: {words}")
        return
    must(f"tc qdisc replace dev {device} root handle 100: mq")
    mq.tc_batch(f"qdisc replace dev {device} parent 100:{n} handle {n}1: {words}" for n in (1, 2))


def measure(program, seconds, device):
    for name, form, words, data in CASES:
        with open("/tmp/frame", "wb") as file:
            file.write(data)
        attach(device, name, words)
        for cpus in ([0], [0, 1]):
            say(f"START|{device}|{name}|{form}|{len(cpus)}")
            frames, rate = one_round(program, seconds, device, "/tmp/frame", cpus)
            time.sleep(REST_S)
            say(f"END|{frames}|{rate:.0f}")
        must(f"tc qdisc del dev {device} root")


def main(program, rounds, seconds, *devices):
    for device in devices:
        if device == "dummy0":
            must("modprobe dummy")
            must(f"ip link add {device} numtxqueues {mq.QUEUES} type dummy")
        mq.write(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6", "1")
        must(f"ip link set {device} txqueuelen 1000 up")
        mq.steer(device)
        for _ in range(int(rounds)):
            measure(program, seconds, device)
    return 0


sys.exit(main(*sys.argv[1:]))
