# SPDX-License-Identifier: GPL-2.0
"""Count expiries of high-resolution timers by function, and packets, in all network namespaces.

The function's name tells the modules' timers from those of tbf, fq and netem. Packets of all
namespaces count, because a namespace outlives its processes: a closed connection keeps it until the
connection's last packet is sent.
"""
import collections
import os
import re
import time

BASE = "/sys/kernel/tracing/instances/soak"
EVENTS = ("timer/hrtimer_expire_entry", "net/net_dev_queue", "net/net_dev_start_xmit")
EXPIRED = re.compile(r"hrtimer_expire_entry: .* function=(\w+)(?: \[(\w+)\])?")
# TCP's own callbacks, which run at the pacing rate of the congestion control.
PACED = ("tcp_pace_kick",)


def put(name, value):
    with open(f"{BASE}/{name}", "w", encoding="ascii") as file:
        file.write(value)


def prepare():
    os.makedirs(BASE, exist_ok=True)
    put("buffer_size_kb", "4096")
    for event in EVENTS:
        put(f"events/{event}/enable", "1")
    put("tracing_on", "0")


def during(window_s, modules):
    """Return ({function: expiries} for these modules and for pacing, packets queued and sent)."""
    put("trace", "")
    put("tracing_on", "1")
    time.sleep(window_s)
    put("tracing_on", "0")
    expiries, moved = collections.Counter(), 0
    with open(f"{BASE}/trace", encoding="utf-8", errors="replace") as trace:
        for line in trace:
            found = EXPIRED.search(line)
            if not found:
                moved += ": net_dev_" in line
            elif found[2] in modules or found[1] in PACED:
                expiries[found[1]] += 1
    return expiries, moved
