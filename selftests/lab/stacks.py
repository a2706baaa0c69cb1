#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Test the use of kernel stacks under KASAN. TCP with every congestion control runs in both
directions through three nested tunnels and through classful qdiscs around ours. Then the depth of
each stack is read.

    a ==[vxlan in gre in ipip]== r ---- b
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../netns"))
import hosts
from hosts import Stream, connect, ip, run, transfer

BYTES = 100000
# The share of each stack that must stay unused.
FREE_SHARE = 0.25
A, B = "10.3.0.1", "10.3.0.2"

TUNNELS = """
-n a link add ipip1 type ipip local 192.0.2.1 remote 198.51.100.1
-n b link add ipip1 type ipip local 198.51.100.1 remote 192.0.2.1
-n a addr add 10.1.0.1/24 dev ipip1
-n b addr add 10.1.0.2/24 dev ipip1
-n a link set ipip1 up
-n b link set ipip1 up
-n a link add gre1 type gretap local 10.1.0.1 remote 10.1.0.2
-n b link add gre1 type gretap local 10.1.0.2 remote 10.1.0.1
-n a addr add 10.2.0.1/24 dev gre1
-n b addr add 10.2.0.2/24 dev gre1
-n a link set gre1 up
-n b link set gre1 up
-n a link add vx type vxlan id 7 local 10.2.0.1 remote 10.2.0.2 dstport 4789
-n b link add vx type vxlan id 7 local 10.2.0.2 remote 10.2.0.1 dstport 4789
-n a addr add 10.3.0.1/24 dev vx
-n b addr add 10.3.0.2/24 dev vx
-n a link set vx up
-n b link set vx up
"""
QDISCS = ("root handle 1: htb default 1",
          "parent 1:1 handle 2: tbf rate 100mbit burst 20k limit 1m",
          "parent 2:1 handle 3: csig rate 100mbit",
          "parent 3:1 handle 4: int switch_id 1 rate 100mbit",
          "parent 4:1 handle 5: xcp rate 100mbit",
          "parent 5:1 handle 6: wred limit 1000000 ect min 30000 max 30000 prob 1")


def qdiscs(node, dev):
    run(f"tc -n {node} qdisc add dev {dev} {QDISCS[0]}")
    run(f"tc -n {node} class add dev {dev} parent 1: classid 1:1 htb rate 200mbit")
    for words in QDISCS[1:]:
        run(f"tc -n {node} qdisc add dev {dev} {words}")


def depths():
    """Return {task: (free bytes of its stack, size of the stack)}."""
    subprocess.run(["insmod", sys.argv[1]], stderr=subprocess.DEVNULL, check=False)
    log = subprocess.run(["dmesg", "-t"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"stack_depth: (.*\]) ([0-9]+) of ([0-9]+) bytes free", log)
    size = int(found[0][2]) if found else 0
    # When a task ends, the kernel reports it if it used more stack than all tasks before.
    found += [(task, free, size) for task, free in re.findall(r"(\S+ \([0-9]+\)) used greatest stack depth: ([0-9]+)", log)]
    return {task: (int(free), int(whole)) for task, free, whole in found}


def sent(source, sink, address, cc):
    ends = connect(4, cc, source, sink, {4: address}, sink_cc=cc)
    if not ends:
        return False
    good = transfer([Stream(*ends, BYTES)])
    hosts.close(*ends)
    return good


def main():
    tap = hosts.Tap()
    hosts.build_path()
    ip(TUNNELS)
    for node, dev in (("a", "a-r"), ("r", "r-a"), ("r", "r-b"), ("b", "b-r"), ("a", "vx"), ("b", "gre1")):
        qdiscs(node, dev)
    for cc in ("cubic", "dctcp_ms", "ldcp", "xcp", "hpccpp", "csig"):
        for source, sink, address in (("a", "b", B), ("b", "a", A)):
            tap.result(sent(source, sink, address, cc), f"{BYTES} bytes of {cc} from {source} through all layers")
    found = depths()
    tap.result("swapper" in str(found) and len(found) > 5, "the stacks of all tasks are known", str(found))
    least = min(found or {"none": (0, 1)}, key=lambda task: found[task][0])
    tap.result(found[least][0] >= FREE_SHARE * found[least][1],
               f"at least {FREE_SHARE:.0%} of each stack was never used",
               f"least: {least}, {found[least][0]} of {found[least][1]} bytes")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
