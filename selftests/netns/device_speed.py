#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The devices whose rate limits a sender's pacing rate: hardware, and devices that have only
hardware below them. All devices report 10 Gbit/s here, and none delays packets. So the RTT is very
small, and the window of csig would allow a much higher pacing rate. Prints TAP.

    a [device on nic0 or veth0] ---- [the same on nic1 or veth1] b

Needs root, the path of speed_nic.ko and csig; changes nothing outside its own network
namespaces.
"""
import contextlib
import socket
import struct
import sys
import time

import hosts
from hosts import run

tap = hosts.Tap()
RATE_BYTES_PS = 1250000000
SIZE = 4 << 20

LINKS = """
link set nic0 netns a
link set nic1 netns b
link add veth0 netns a type veth peer name veth1 netns b
-n a link set nic0 up
-n a link set veth0 up
-n b link set nic1 up
-n b link set veth1 up
"""
# The kind of device, the commands that make it on {port}, and True if the rate limits the pace.
DEVICES = (
    ("a NIC", "nic", (), True),
    ("veth", "veth", (), False),
    ("VLAN on a NIC", "nic", ("link add link {port} name top type vlan id 5",), True),
    ("VLAN on veth", "veth", ("link add link {port} name top type vlan id 5",), False),
    ("macvlan on a NIC", "nic", ("link add link {port} name top type macvlan",), True),
    ("macvlan on veth", "veth", ("link add link {port} name top type macvlan",), False),
    ("bridge on a NIC", "nic", ("link add top type bridge", "link set {port} master top"), True),
    ("bridge on veth", "veth", ("link add top type bridge", "link set {port} master top"), False),
    ("bridge on a NIC and a veth", "nic",
     ("link add top type bridge", "link set {port} master top",
      "link add stub0 type veth peer name stub1", "link set stub0 up", "link set stub1 up",
      "link set stub0 master top"), False),
    ("bridge on a NIC, and later on a veth", "nic",
     ("link add top type bridge", "link set {port} master top", "link set top up",
      "link add stub0 type veth peer name stub1", "link set stub0 master top"), False),
)


def paces():
    """Return the pacing rates of a socket at the end of a stream."""
    sock, other = hosts.connect(4, "csig")
    seen, left, got = set(), SIZE, 0
    end = time.monotonic() + 10
    while got < SIZE and time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            left -= sock.send(bytes(min(left, 1 << 16))) if left else 0
        with contextlib.suppress(BlockingIOError):
            got += len(other.recv(1 << 20))
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        seen.add(struct.unpack_from("Q", info, 104)[0])
        time.sleep(0.0001)
    hosts.close(sock, other)
    # All ones means that no pacing rate is set yet.
    return got, seen - {2**64 - 1}


def device(what, port, commands, bounds):
    for name, end, address in (("a", 0, "192.0.2.1"), ("b", 1, "198.51.100.1")):
        top = "top" if commands else f"{port}{end}"
        for command in commands:
            run(f"ip -n {name} " + command.format(port=f"{port}{end}"))
        run(f"ip -n {name} addr add {address}/32 dev {top}")
        run(f"ip -n {name} link set {top} up")
        other = "198.51.100.1" if name == "a" else "192.0.2.1"
        run(f"ip -n {name} route replace {other}/32 dev {top} src {address}")
    time.sleep(3)
    got, seen = paces()
    tap.claim(f"{what}: " + ("a pace of 10 Gbit/s at most" if bounds else "no bound"),
              got == SIZE and bool(seen) and (max(seen) <= RATE_BYTES_PS) == bounds,
              f"{got} bytes, {sorted(seen)[-5:]}")
    for name, end, address in (("a", 0, "192.0.2.1"), ("b", 1, "198.51.100.1")):
        if commands:
            run(f"ip -n {name} link del top")
            run(f"ip -n {name} link del stub0", check=False)
        else:
            run(f"ip -n {name} addr del {address}/32 dev {port}{end}")


def main():
    hosts.run(f"insmod {sys.argv[1]}")
    hosts.build("a", "b")
    hosts.ip(LINKS)
    for name in ("a", "b"):
        hosts.sysctl(name, "hopcc/csig", 2)
        hosts.sysctl(name, "hopcc/csig_ports", "*")
    for case in DEVICES:
        device(*case)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
