#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Mininet in virtual time: examples, and a script that knows nothing of the lab. Run by `lab mininet`.

    mininet.py SYSTEM...    the examples of these systems
"""
import contextlib
import io
import os
import re
import runpy
import sys
from functools import partial

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
from hopcc_mininet import HopccError, HopccLink, HopccRouter  # noqa: E402
from mininet.link import TCLink  # noqa: E402
from mininet.net import Mininet  # noqa: E402
from mininet.topo import SingleSwitchTopo  # noqa: E402
from tap import Tap  # noqa: E402

EXAMPLES = os.path.join(HERE, "../../tools/mininet/examples")
# System: Mbit/s, seconds, number of senders, least load, the port's counter of what it reported. A start
# of XCP takes some of its long RTTs.
RUNS = {"dctcp_ms": (1000, 0.015, 2, 0.8, "marked"),
        "ldcp": (1000, 0.015, 4, 0.8, "marked"), "xcp": (50, 0.4, 2, 0.6, "reduced"),
        "hpccpp": (1000, 0.015, 2, 0.8, "probe"), "csig": (1000, 0.015, 2, 0.8, "expanded")}


def run_example(name, mbit, seconds):
    path = os.path.join(EXAMPLES, f"{name}.py")
    sys.argv = [path, str(mbit), str(seconds)]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(path, run_name="__main__")
    return output.getvalue()


def examples(tap, systems):
    for name in systems:
        mbit, seconds, senders, least, counter = RUNS[name]
        printed = run_example(name, mbit, seconds)
        rates = [float(rate) for rate in re.findall(r"(\S+) Mbit/s", printed)]
        counters = {word: int(value) for word, value in re.findall(r"(\w+) (\d+)\b", printed)}
        # Each connection's rate is over its own time, so that their sum may be a little above the port's.
        tap.claim(f"{name}: {senders} senders fill the port of {mbit} Mbit/s",
                  len(rates) == senders and least * mbit < sum(rates) < 1.05 * mbit, printed)
        tap.claim(f"{name}: the port reports ({counter})", counters.get(counter, 0) > 0, printed)
        if name != "ldcp":      # it drops of first windows what is too much, as it should
            tap.claim(f"{name}: and drops no packet", counters.get("dropped") == 0, printed)
        if name == "xcp":
            tap.claim("xcp: the senders' rates differ by 5 % at most", max(rates) < 1.05 * min(rates), printed)


def unmodified(tap):
    """Mininet's default switch, controller and shaped links, faster than Mininet allows elsewhere."""
    net = Mininet(topo=SingleSwitchTopo(2), link=partial(TCLink, bw=10000, delay="1ms", max_queue_size=10000))
    net.start()
    h1, h2 = net["h1"], net["h2"]
    h1.cmd("ping -c 1 10.0.0.2")
    printed = h1.cmd("ping -c 3 10.0.0.2")
    tap.claim("an unmodified script with Mininet's default switch: each RTT is 4 times 1 ms, exactly",
              re.findall(r"time=(\S+) ms", printed) == ["4.00"] * 3 and "/0.000 ms" in printed, printed)
    h2.cmd("iperf3 -s -D -1")
    printed = h1.cmd("iperf3 -c 10.0.0.2 -n 20M -i 0 -f m")
    rates = [float(rate) for rate in re.findall(r"(\S+) Mbits/sec", printed)]
    tap.claim("iperf3 ends, at gigabits a second", len(rates) > 1 and 2000 < rates[-1] < 10000, printed)
    net.stop()


def refusals(tap):
    net = Mininet(topo=None, controller=None)
    for number, (what, params, words) in enumerate((
            ("an unknown system", {"system": "hpcc"}, "no system 'hpcc'; there are: dctcp_ms"),
            ("a delay without a unit", {"delay": "5"}, "'5': write a time as 25us"),
            ("what tc refuses", {"system": "csig", "bw": 2000000}, "tc -batch")), 1):
        try:
            net.addLink(net.addHost(f"h{number}"), net.addSwitch(f"s{number}", cls=HopccRouter),
                        cls=HopccLink, **params)
            said = "nothing"
        except HopccError as error:
            said = str(error)
        tap.claim(f"{what} is an error with its cause", words in said, said)
    net.stop()


def main():
    tap = Tap()
    examples(tap, sys.argv[1:])
    unmodified(tap)
    refusals(tap)
    return tap.done()


sys.exit(main())
