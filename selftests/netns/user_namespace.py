#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The settings of an unprivileged user in a user namespace: route metrics, socket options, and the
sysctls of the network namespace. No value may crash the kernel, stop a connection or move a window
out of its range. And every name of a congestion control that a socket returns can be set. Prints
TAP.

The script starts as root, and runs itself as user "nobody" in a new user and network namespace,
where all connections are on the loopback device. The stack warns, once for each line of its code,
of windows that come from a route. CUBIC and Reno cause these warnings first, and from then on the
kernel may not log anything. The kernel copies a route's metrics when it first caches a
destination. So each case has its own address, and a CUBIC connection in front. Needs root and all
congestion controls loaded.
"""
import contextlib
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/../lib")
from tap import Tap

OURS = ("ldcp", "xcp", "hpccpp", "csig", "dctcp_ms")
# Beginnings of the sysctls that a connection depends on.
KNOBS = {"ldcp": "tcp_ldcp_", "xcp": ("tcp_xcp_", "xcp_"), "hpccpp": "tcp_hpccpp_", "csig": "tcp_csig_",
         "dctcp_ms": "tcp_dctcp_ms_"}
HOPCC = "/proc/sys/net/hopcc/"
USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-Urn")

METRICS = ("cwnd lock 0", "cwnd lock 1", "cwnd lock 2147483647", "cwnd lock 4294967295",
           "initcwnd 1", "initcwnd 2147483647", "initcwnd 2147483647 cwnd lock 0",
           "initcwnd 2147483647 cwnd lock 2147483647", "ssthresh lock 1", "rtt 1 rttvar 1",
           "reordering 4294967295")
MAXSEG = (88, 536, 32767)
PACES = (0, 1, 1000000, 2**32 - 1, 2**63, 2**64 - 2)
VALUES = (0, 1, 2, 1000, 10**6, 2**31 - 1, 2**32 - 1)

SO_MAX_PACING_RATE, TCP_CC_INFO = 47, 26
CWND_MAX = 1 << 20
SIZE = 400000

tap = Tap()
addresses = (f"127.0.{n >> 8}.{n & 255}" for n in range(2, 65536))


def run(line):
    subprocess.run(line.split(), check=True)


def write(name, value):
    """Write a sysctl. Return True if it accepts the value."""
    try:
        with open(name, "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError:
        return False
    return True


def route(metrics):
    """Return a new address on loopback, with these route metrics."""
    address = next(addresses)
    run(f"ip route replace local {address} dev lo table local proto kernel scope host "
        f"src {address} {metrics}")
    return address


def knobs(cc):
    return [k for k in subprocess.run(["ls", HOPCC], capture_output=True, text=True,
                                      check=True).stdout.split() if k.startswith(KNOBS[cc])]


class Connection:
    """Both ends of a connection, in this process."""

    def __init__(self, address, cc, options=(), early=None):
        listener = self.socket(cc, options)
        listener.bind((address, 0))
        listener.listen()
        self.sock = self.socket("cubic" if early else cc, options)
        self.sock.setblocking(False)
        self.sock.connect_ex(listener.getsockname())
        if early:
            self.change(early)
        self.other = listener.accept()[0] if select.select([listener], [], [], 5)[0] else None
        listener.close()
        select.select([], [self.sock], [], 5)
        if self.other:
            self.other.setblocking(False)

    @staticmethod
    def socket(cc, options):
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
        for level, option, value in options:
            sock.setsockopt(level, option, value)
        return sock

    def change(self, cc):
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())

    def info(self):
        """Return (cwnd, bytes of the congestion control's own report)."""
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        own = self.sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 64)
        return struct.unpack_from("I", info, 80)[0], len(own)

    def name(self):
        return self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()

    def transfer(self, size=SIZE, limit_s=5):
        """Send data. Return (number of bytes that arrived, windows that were seen)."""
        left, got, seen, end = size, 0, set(), time.monotonic() + limit_s
        while got < size and self.other and time.monotonic() < end:
            with contextlib.suppress(BlockingIOError):
                left -= self.sock.send(bytes(min(left, 65536))) if left else 0
            if not select.select([self.other], [], [], 0.01)[0]:
                seen.add(self.info()[0])
                continue
            got += len(self.other.recv(1 << 20))
            seen.add(self.info()[0])
        return got, seen

    def close(self):
        self.sock.close()
        time.sleep(0.02)
        if self.other:
            self.other.close()
        time.sleep(0.02)


def in_range(windows):
    return windows and min(windows) >= 1 and max(windows) <= CWND_MAX


def remember(address):
    """Make the kernel cache the destination, with the metrics of its route."""
    connection = Connection(address, "cubic")
    connection.transfer(1000, limit_s=0.1)
    connection.close()


def check(what, connection, size=SIZE):
    got, seen = connection.transfer(size)
    tap.claim(f"{what}: all arrives, windows of 1 to 2^20 packets", got == size and in_range(seen),
              f"{got} bytes, windows {sorted(seen)[:9]}")


def metrics(cc):
    for words in METRICS:
        address = route(words)
        remember(address)
        connection = Connection(address, cc)
        check(f"{cc}, {words}", connection)
        subprocess.run(["ss", "-tinH"], stdout=subprocess.DEVNULL, check=True)
        connection.close()


def switches(words):
    """Switch from each congestion control to each other one, while data flows."""
    address = route(words)
    remember(address)
    connection = Connection(address, "reno")
    for cc in ("cubic",) + OURS:
        for other in OURS:
            connection.change(cc)
            connection.transfer(20000, limit_s=0.2)
            connection.change(other)
            got, seen = connection.transfer(60000)
            tap.claim(f"{words}: from {cc} to {other}", got and in_range(seen), f"{got}, {seen}")
    connection.close()


def early(cc):
    """Select a congestion control before the handshake ends; the metrics are copied later."""
    for words in METRICS:
        address = route(words)
        remember(address)
        connection = Connection(address, "cubic", early=cc)
        connection.transfer(60000, limit_s=0.3)
        cwnd, _ = connection.info()
        name = connection.name()
        tap.claim(f"{cc} before the SYN-ACK, {words}: a window of 2^20 packets at most, or Reno's",
                  cwnd <= CWND_MAX or name == f"{cc}-reno", f"{name}: {cwnd}")
        connection.close()


def options(cc):
    for size in MAXSEG:
        address = route("initcwnd 2147483647")
        connection = Connection(address, cc, [(socket.IPPROTO_TCP, socket.TCP_MAXSEG, size)])
        check(f"{cc}, TCP_MAXSEG {size}", connection)
        connection.close()
    for pace in PACES:
        address = route("initcwnd 2147483647")
        option = (socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("Q", pace))
        connection = Connection(address, cc, [option])
        _, seen = connection.transfer(limit_s=0.2)
        tap.claim(f"{cc}, SO_MAX_PACING_RATE {pace}: windows of 1 to 2^20 packets", in_range(seen), str(seen))
        connection.close()


def names():
    """The name that getsockopt() returns can be set, on this socket and on another one."""
    switches = ("/proc/sys/net/ipv4/tcp_ecn", HOPCC + "xcp", HOPCC + "int")
    for switch in switches:
        tap.claim(f"{switch} 0", write(switch, 0))
    for cc in ("ldcp", "xcp", "hpccpp", "dctcp_ms"):
        address = next(addresses)
        connection = Connection(address, "cubic", early=cc)
        connection.transfer()
        name = connection.name()
        connection.change(name)
        other = Connection(address, name)
        got, seen = other.transfer()
        tap.claim(f"{cc} falls back to {cc}-reno, a name that setsockopt() takes",
                  (name, connection.name(), other.name(), got) == (f"{cc}-reno",) * 3 + (SIZE,),
                  f"{name}, {connection.name()}, {other.name()}, {got} bytes, {seen}")
        connection.change(cc)
        tap.claim(f"{cc} after that", connection.name() in (cc, f"{cc}-reno"), connection.name())
        connection.close()
        other.close()
    for switch in switches:
        write(switch, 1)


def settings(cc):
    """Try every value that a sysctl of the namespace accepts."""
    tap.claim(f"{cc} has sysctls", knobs(cc))
    for knob in knobs(cc):
        path = HOPCC + knob
        with open(path, encoding="ascii") as file:
            default = file.read().strip()
        taken, windows = [], set()
        for value in VALUES:
            if not write(path, value):
                continue
            taken.append(value)
            connection = Connection(route("initcwnd 2147483647"), cc)
            windows |= connection.transfer(60000, limit_s=0.3)[1]
            connection.close()
        write(path, default)
        tap.claim(f"{cc}, every value of {knob}: windows of 1 to 2^20 packets", in_range(windows),
                  f"took {taken}, windows {sorted(windows)[:9]}")


def stock():
    """Cause the stack's own warnings about such metrics."""
    for cc in ("cubic", "reno"):
        for words in METRICS:
            address = route(words)
            remember(address)
            for early_cc in (None, cc):
                connection = Connection(address, cc, early=early_cc)
                connection.transfer(60000, limit_s=0.2)
                connection.close()
    return 0


def ours():
    for cc in OURS:
        metrics(cc)
        early(cc)
        options(cc)
        settings(cc)
    for words in ("cwnd lock 0", "initcwnd 2147483647", "initcwnd 2147483647 cwnd lock 1"):
        switches(words)
    names()
    return tap.done()


def as_user(what):
    run("ip link set lo up")
    run("tc qdisc add dev lo root link rate 10gbit delay 5us")
    write("/proc/sys/net/ipv4/tcp_ecn", 1)
    write(HOPCC + "csig", 2)
    return {"stock": stock, "ours": ours}[what]()


def as_nobody(what):
    return subprocess.run([*USER, sys.executable, "-B", sys.argv[0], what], check=False).returncode


def warnings():
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
    return [line for line in log.splitlines() if "WARNING:" in line or "BUG:" in line]


def main():
    if sys.argv[1:]:
        return as_user(sys.argv[1])
    status = as_nobody("stock")
    # In the kernel's log, a module's function is followed by the module's name.
    if status or any(line.endswith("]") for line in warnings()):
        return 1
    subprocess.run(["dmesg", "-C"], check=True)
    status = as_nobody("ours")
    print("".join(f"# {line}\n" for line in warnings()), end="")
    # The lab fails the run for lines of the kernel's log, so clear it.
    write("/dev/kmsg", "user_namespace: over\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
