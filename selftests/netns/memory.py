#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The modules' use of memory per connection, port and network namespace. Prints TAP.

Each figure is a difference of the kernel's own counts, divided by a large number: connections
with a congestion control and with cubic; qdiscs; namespaces with the modules loaded and without.

Needs root and the lab's guest, which has nothing else to do.
"""
import itertools
import resource
import subprocess
import sys
import time

import hosts
from hosts import ip, run, sysctl

CONNECTIONS, PORTS, NAMESPACES = 500, 400, 100
# Upper bounds, bytes, above the measured values in Documentation/cost.md.
END_MAX = {"dctcp_ms": 16, "ldcp": 16, "xcp": 320, "hpccpp": 2304, "csig": 1280}
PORT_MAX = {"wred": 600, "int": 1750, "xcp": 2900, "csig": 2900}
NAMESPACE_MAX = 90000
SHIMS = {"xcp": ("hopcc/xcp", 1), "hpccpp": ("hopcc/int", 1), "csig": ("hopcc/csig", 2)}

tap = hosts.Tap()
numbers = itertools.count()
kept = []


def used():
    """Return the kernel's unreclaimable memory, bytes in whole pages, after deferred frees."""
    time.sleep(0.5)
    with open("/proc/meminfo", encoding="ascii") as file:
        words = dict(line.split(":") for line in file)
    return sum(int(words[name].split()[0]) for name in ("SUnreclaim", "Percpu", "VmallocUsed")) * 1024


def taken(make, number):
    """Return bytes per object that make() makes. All are kept, so that none reuses freed memory."""
    make()
    before = used()
    make()
    return (used() - before) / number


def connections(cc):
    """Connections of a namespace with itself: each has two ends, and two flows."""
    with hosts.tcp("a", 4, cc) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        for _ in range(CONNECTIONS):
            sock = hosts.tcp("a", 4, cc)
            sock.connect(listener.getsockname())
            sock.send(b"x")
            kept.extend((sock, listener.accept()[0]))


def ports(kind):
    """Root qdiscs of devices that are down, which have no other qdisc."""
    rate = "" if kind == "wred" else " rate 1gbit"
    names = [f"d{next(numbers)}" for _ in range(PORTS)]
    ip("".join(f"-n a link add {name} type dummy\n" for name in names))
    before = used()
    subprocess.run(["tc", "-n", "a", "-batch", "-"], text=True, check=True,
                   input="".join(f"qdisc add dev {name} root {kind}{rate}\n" for name in names))
    return (used() - before) / PORTS


def namespaces():
    ip("".join(f"netns add n{next(numbers)}\n" for _ in range(NAMESPACES)))


def claim(what, measured, most):
    tap.claim(f"{what}: at most {most} bytes", measured <= most, f"{measured:.0f} bytes")


def check_namespaces():
    hosts.unload()
    without = taken(namespaces, NAMESPACES)
    for path in hosts.modules():
        run(f"insmod {path}", check=False)
    claim("a network namespace, of all modules", taken(namespaces, NAMESPACES) - without, NAMESPACE_MAX)


def check_connections():
    cubic = taken(lambda: connections("cubic"), 2 * CONNECTIONS)
    print(f"# one end of a connection of cubic: {cubic:.0f} bytes")
    for cc, most in END_MAX.items():
        knob, on = SHIMS.get(cc, ("ipv4/tcp_ecn", 1))
        sysctl("a", knob, on)
        claim(f"one end of a connection of {cc} more than one of cubic",
              taken(lambda name=cc: connections(name), 2 * CONNECTIONS) - cubic, most)
        if cc in SHIMS:
            sysctl("a", knob, 0)


def check_ports():
    for kind, most in PORT_MAX.items():
        # The first objects allocate memory that all share, which must not count.
        ports(kind)
        claim(f"a port of {kind}, with its child", ports(kind), most)


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (16 * 2 * CONNECTIONS, 16 * 2 * CONNECTIONS))
    check_namespaces()
    run("ip netns add a")
    run("ip -n a link set lo up")
    check_connections()
    check_ports()
    return tap.done()


sys.exit(main())
