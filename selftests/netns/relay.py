# SPDX-License-Identifier: GPL-2.0
"""A wire that the script is: frames of one host's tap leave at the other's, later or never.

    a 192.0.2.1 [tap0] ---- script ---- [tap0] 192.0.2.2 b
"""
import fcntl
import heapq
import os
import select
import struct
import subprocess
import time

import hosts
from wire import TUNSETIFF, tun_node

IFF_TAP, IFF_NO_PI = 2, 0x1000
PR_SET_TIMERSLACK = 29
ADDRESS = {"a": "192.0.2.1", "b": "192.0.2.2"}
MAC = {"a": "02:00:00:00:00:01", "b": "02:00:00:00:00:02"}


def open_tap(name):
    """A host's tap, up, its neighbour known."""
    other = "b" if name == "a" else "a"
    with hosts.inside(name):
        node = tun_node()
        fd = os.open(node, os.O_RDWR | os.O_NONBLOCK)
        if node.startswith("/run/"):
            os.unlink(node)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI))
    hosts.ip(f"""
        -n {name} link set tap0 address {MAC[name]} txqueuelen 10000 up
        -n {name} addr add {ADDRESS[name]}/24 dev tap0
        -n {name} neigh add {ADDRESS[other]} lladdr {MAC[other]} dev tap0""")
    return fd


class Relay:
    """Both taps. drop(frame), if there is one, is asked of each frame from a."""

    def __init__(self, delay_s):
        hosts.build("a", "b")
        # The kernel may let a sleeper oversleep 50 us: here 1 ns.
        hosts.LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        self.taps = [open_tap("a"), open_tap("b")]
        self.delay_s, self.drop, self.under_way, self.number = delay_s, None, [], 0

    def take(self, fd):
        try:
            frame = os.read(fd, 65536)
        except BlockingIOError:
            return
        if fd == self.taps[0] and self.drop and self.drop(frame):
            return
        self.number += 1
        heapq.heappush(self.under_way, (time.monotonic() + self.delay_s, self.number,
                                        self.taps[fd == self.taps[0]], frame))

    def run(self, seconds, sockets=(), serve=None):
        """Frames go on for so long, and serve(socket) is called for what can be read."""
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
        subprocess.run(["ip", "netns", "del", "a"], check=True)
        subprocess.run(["ip", "netns", "del", "b"], check=True)
