#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What csig reports of a virtio NIC whose ring is the bottleneck, against the true delay. Prints TAP.

    slow_cable.py KERNEL_IMAGE MODULES_DIR MODULES_BUILD

The other end of the guest's NIC is a stream socket that holds few frames. This program takes frames
from it at RATE_MBIT, so the guest's ring fills. Each frame has the time at which it was sent, by the
guest's clock. The difference of the clocks is that of the fastest of some lone frames, less the time
that a frame takes.
"""
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../lib")
sys.path.insert(0, HERE)
from ring_send import BURST, LEN_BYTES, LONE, MARK, QUANTUM_NS, RATE_MBIT
from tap import Tap

MAX_ERROR = 0.2
# Only frames are compared that wait for more than so many others.
FAR = 40
FRAME_NS = LEN_BYTES * 8000 // RATE_MBIT
# The least that a socket may hold.
SOCKET_BYTES = 1


class Cable(threading.Thread):
    """Take frames at the rate. `rows`: arrival, time of sending, number, delay in the tag; ns"""

    def __init__(self, sock):
        super().__init__(daemon=True)
        self.sock = sock
        self.rows = []

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                return None
            data += more
        return data

    def run(self):
        free_ns = 0
        while True:
            # A reader that the host's scheduler has held up catches up, one that had nothing to read does not.
            if not select.select([self.sock], [], [], 2 * FRAME_NS / 1e9)[0]:
                select.select([self.sock], [], [])
                free_ns = time.monotonic_ns()
            head = self.read(4)
            data = head and self.read(struct.unpack("!I", head)[0])
            if not data:
                return
            free_ns += len(data) * 8000 // RATE_MBIT
            time.sleep(max(0, free_ns - time.monotonic_ns()) / 1e9)
            at = data.find(MARK)
            if at < 0:
                continue
            number, sent_ns = struct.unpack_from("!QQ", data, at + len(MARK))
            delay_ns = (struct.unpack_from("!I", data, 16)[0] >> 8 & 0xfffff) * QUANTUM_NS
            self.rows.append((time.monotonic_ns(), sent_ns, number, delay_ns))


def measure(kernel, modules, build):
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
    os.set_inheritable(theirs.fileno(), True)
    cable = Cable(ours)
    cable.start()
    status = subprocess.run(
        [f"{HERE}/run_vm.sh", kernel, modules, f"{HERE}/guest_ring.sh", build], check=False,
        pass_fds=[theirs.fileno()], env=os.environ | {"VM_NETDEV": f"socket,fd={theirs.fileno()}"}).returncode
    theirs.close()
    cable.join(60)
    return status, cable.rows


def main():
    tap = Tap()
    status, rows = measure(*sys.argv[1:])
    tap.claim("the guest ended well, and all frames arrived",
              not status and [row[2] for row in rows] == list(range(LONE + BURST)), f"{status}, {len(rows)} frames")
    ahead_ns = min((at_ns - sent_ns for at_ns, sent_ns, number, _ in rows if number < LONE), default=0) - FRAME_NS
    delays = [(at_ns - sent_ns - ahead_ns - FRAME_NS, said_ns)
              for at_ns, sent_ns, number, said_ns in rows if number >= LONE]
    # A few frames are in the socket, behind the ring, and the host's scheduler adds some milliseconds.
    far = [(said_ns / true_ns - 1, true_ns, said_ns) for true_ns, said_ns in delays if true_ns > FAR * FRAME_NS]
    errors = sorted(abs(error) for error, _, _ in far)
    most_ns = max((true_ns for true_ns, _ in delays), default=0)
    tap.claim("100 packets and more wait", most_ns > 100 * FRAME_NS and len(far) > BURST // 2,
              f"up to {most_ns / 1e6:.1f} ms, {most_ns / FRAME_NS:.0f} packets; {len(far)} wait for more than {FAR}")
    for number in range(0, len(far), max(1, len(far) // 10)):
        print(f"# true {far[number][1] / 1e6:.1f} ms, reported {far[number][2] / 1e6:.1f} ms")
    at_95 = errors[len(errors) * 95 // 100] if errors else 1
    tap.claim(f"the reported delay is within {MAX_ERROR} of the true one for 95 % of them", at_95 <= MAX_ERROR,
              f"median {errors[len(errors) // 2] if errors else 1:.3f}, 95 %: {at_95:.3f}, "
              f"worst {errors[-1] if errors else 1:.3f}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
