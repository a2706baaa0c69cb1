# SPDX-License-Identifier: GPL-2.0
"""A wire that this script emulates: it passes frames of one host's device to the other host, later,
changed, more than once or never. a's device may be a NIC whose driver reports a rate: see
speed_nic.

    a 192.0.2.1 [tap0 or nic0] ---- script ---- [tap0] 192.0.2.2 b
"""
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import time

import hosts
from wire import TUNSETIFF, tun_node

IFF_TAP, IFF_NO_PI = 2, 0x1000
PR_SET_TIMERSLACK = 29
ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 3, 263, 23, 33
ADDRESS = {"a": "192.0.2.1", "b": "192.0.2.2"}
MAC = {"a": "02:00:00:00:00:01", "b": "02:00:00:00:00:02"}


def make_tap(name, device, flags=0):
    """Make a host's tap device; flags: more of TUNSETIFF's. Return its file descriptor."""
    with hosts.inside(name):
        node = tun_node()
        fd = os.open(node, os.O_RDWR | os.O_NONBLOCK)
        if node.startswith("/run/"):
            os.unlink(node)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI | flags))
    return fd


def open_tap(name, flags=0):
    """Make a host's tap device, up, with its neighbour resolved; flags: more of TUNSETIFF's."""
    fd = make_tap(name, "tap0", flags)
    hosts.ip(f"-n {name} addr add {ADDRESS[name]}/24 dev tap0")
    start(name, "tap0")
    return fd


def start(name, device):
    """Set a host's device up and resolve its neighbour again, which was lost when it went down."""
    other = "b" if name == "a" else "a"
    hosts.ip(f"""
        -n {name} link set {device} address {MAC[name]} txqueuelen 10000 up
        -n {name} neigh replace {ADDRESS[other]} lladdr {MAC[other]} dev {device}""")


def open_nic(name):
    """Make a host's NIC, up; the other end of its cable is in its own namespace, at the script."""
    hosts.build("cable")
    hosts.sysctl("cable", "ipv6/conf/all/disable_ipv6", 1)
    hosts.ip(f"""
        link set nic0 netns {name}
        link set nic1 netns cable
        -n cable link set nic1 up
        -n {name} addr add {ADDRESS[name]}/24 dev nic0""")
    # The script gets packets before the NIC would compute their checksums.
    hosts.offload(name, "nic0", hosts.ETHTOOL_STXCSUM, 0)
    start(name, "nic0")
    with hosts.inside("cable"):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.bind(("nic1", ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    sock.setblocking(False)
    return sock.detach()


class Relay:
    """Passes frames between both devices. A frame from a is dropped if drop(frame) returns True.
    rewrite(frame, from_a) returns the frames that replace a frame: [(additional delay, frame)]. flags are those of b's tap device.
    """

    def __init__(self, delay_s, nic=False, flags=0):
        self.names = ("a", "b", "cable") if nic else ("a", "b")
        hosts.build("a", "b")
        # By default, a sleep may be 50 us too long; allow 1 ns.
        hosts.LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        self.taps = [open_nic("a") if nic else open_tap("a"), open_tap("b", flags)]
        self.delay_s, self.drop, self.under_way, self.number = delay_s, None, [], 0
        self.rewrite = None

    def take(self, fd):
        try:
            frame = os.read(fd, 65536)
        except BlockingIOError:
            return
        if fd == self.taps[0] and self.drop and self.drop(frame):
            return
        from_a = fd == self.taps[0]
        for late_s, one in self.rewrite(frame, from_a) if self.rewrite else [(0, frame)]:
            self.number += 1
            heapq.heappush(self.under_way, (time.monotonic() + self.delay_s + late_s, self.number,
                                            self.taps[from_a], one))

    def run(self, seconds, sockets=(), serve=None):
        """Pass frames for a time, and call serve(socket) for each socket that can be read."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            due = min(self.under_way[0][0] if self.under_way else end, end)
            ready = select.select([*self.taps, *sockets], [], [],
                                  max(0, due - time.monotonic()))[0]
            for one in ready:
                if one in self.taps:
                    self.take(one)
                else:
                    serve(one)
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                os.write(*heapq.heappop(self.under_way)[2:])

    def close(self):
        for fd in self.taps:
            os.close(fd)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=True)
