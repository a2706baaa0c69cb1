# SPDX-License-Identifier: GPL-2.0
"""Hosts as network namespaces of one guest, and streams between them.

    a 192.0.2.1 ---- 192.0.2.2 r 198.51.100.2 ---- 198.51.100.1 b
      2001:db8:1::1            r                   2001:db8:2::1
"""
import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap  # noqa: F401 -- tests take it from here

CLONE_NEWNET = 0x40000000
SIOCETHTOOL, ETHTOOL_GSET, ETHTOOL_SSET = 0x8946, 1, 2
ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGRO = 0x17, 0x1f, 0x2c
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
HOPSTAT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/hopstat/hopstat")
LIBC = ctypes.CDLL(None, use_errno=True)
# A clock of vm/guest_init.sh, for limits: in an emulated guest time goes on while other processes have its CPU.
OWN_SECONDS = "/run/own_seconds"
HAS_OWN_SECONDS = os.path.exists(OWN_SECONDS)

A = {4: "192.0.2.1", 6: "2001:db8:1::1"}
B = {4: "198.51.100.1", 6: "2001:db8:2::1"}

TOPOLOGY = """
link add a-r netns a type veth peer name r-a netns r
link add b-r netns b type veth peer name r-b netns r
-n a addr add 192.0.2.1/24 dev a-r
-n a addr add 2001:db8:1::1/64 dev a-r nodad
-n r addr add 192.0.2.2/24 dev r-a
-n r addr add 2001:db8:1::2/64 dev r-a nodad
-n r addr add 198.51.100.2/24 dev r-b
-n r addr add 2001:db8:2::2/64 dev r-b nodad
-n b addr add 198.51.100.1/24 dev b-r
-n b addr add 2001:db8:2::1/64 dev b-r nodad
-n a link set a-r up
-n r link set r-a up
-n r link set r-b up
-n b link set b-r up
-n a route add default via 192.0.2.2
-n b route add default via 198.51.100.2
-n a route add default via 2001:db8:1::2
-n b route add default via 2001:db8:2::2
"""


def limit_clock():
    """Return the time by which a limit is to be counted, in seconds."""
    while HAS_OWN_SECONDS:
        with open(OWN_SECONDS, encoding="ascii") as file:
            # Empty for a moment, while it is written.
            if text := file.read():
                return int(text)
    return time.monotonic()


def run(line, check=True):
    subprocess.run(line.split(), check=check, stderr=None if check else subprocess.DEVNULL)


def modules():
    """Return the paths of the run's modules, in the order of loading."""
    with open(f"{os.environ['HOPLAB_OUT']}/insmod", encoding="utf-8") as order:
        return order.read().split()


def load(name, *parameters):
    """Load one of the run's modules with parameters. Return: true if the kernel took it."""
    path, = (path for path in modules() if path.endswith(f"/{name}.ko"))
    return not subprocess.run(["insmod", path, *parameters], check=False, stderr=subprocess.DEVNULL).returncode


def unload():
    """Unload the run's modules."""
    for path in reversed(modules()):
        name = os.path.basename(path)[:-3]
        if os.path.isdir(f"/sys/module/{name}"):
            run(f"rmmod {name}")


def ip(lines):
    """Run commands of ip: those without "-n NAME" first, then one ip process for each name."""
    batches = {}
    for line in lines.strip().splitlines():
        words = line.split()
        options = tuple(words[:2]) if words[0] == "-n" else ()
        batches.setdefault(options, []).append(" ".join(words[len(options):]))
    for options in sorted(batches, key=len):
        subprocess.run(["ip", *options, "-batch", "-"], input="\n".join(batches[options]) + "\n",
                       text=True, check=True)


def build(*names):
    """Make empty namespaces with loopback up."""
    ip("".join(f"netns add {name}\n-n {name} link set lo up\n" for name in names))
    for name in names:
        with inside(name):
            write("/proc/sys/net/ipv4/tcp_no_metrics_save", 1)
            write("/proc/sys/net/ipv4/ip_forward", 1)
            write("/proc/sys/net/ipv6/conf/all/forwarding", 1)


def build_path():
    build("a", "r", "b")
    ip(TOPOLOGY)
    # Wait for duplicate address detection of the link-local addresses.
    time.sleep(3)


def remove_path():
    ip("netns del a\nnetns del r\nnetns del b")


@contextlib.contextmanager
def inside(name):
    """Move the calling thread to a namespace; sockets that it opens there stay there."""
    with open("/proc/thread-self/ns/net", encoding="ascii") as here, \
            open(f"/run/netns/{name}", encoding="ascii") as there:
        LIBC.setns(there.fileno(), CLONE_NEWNET)
        try:
            yield
        finally:
            LIBC.setns(here.fileno(), CLONE_NEWNET)


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def sysctl(name, knob, value):
    with inside(name):
        write("/proc/sys/net/" + knob, value)


def offload(name, dev, command, on):
    """Set an offload by ETHTOOL_STXCSUM, ETHTOOL_STSO or ETHTOOL_SGRO."""
    with inside(name):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    value = ctypes.create_string_buffer(struct.pack("II", command, on))
    with sock:
        fcntl.ioctl(sock, SIOCETHTOOL,
                    struct.pack("16sP16x", dev.encode(), ctypes.addressof(value)))


def set_speed(name, dev, mbit):
    """What `ethtool -s DEV speed MBIT` does; -1: unknown."""
    command = ctypes.create_string_buffer(struct.pack("I", ETHTOOL_GSET), 44)
    request = struct.pack("16sP16x", dev.encode(), ctypes.addressof(command))
    with inside(name):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        fcntl.ioctl(sock, SIOCETHTOOL, request)
        struct.pack_into("I", command, 0, ETHTOOL_SSET)
        struct.pack_into("H", command, 12, mbit & 0xffff)
        struct.pack_into("H", command, 28, mbit >> 16 & 0xffff)
        fcntl.ioctl(sock, SIOCETHTOOL, request)


def counts(name, carrier="xcp"):
    """Return the counters of a carrier in a namespace, from /proc/net/hopcc_*."""
    with inside(name), open(f"/proc/thread-self/net/hopcc_{carrier}", encoding="ascii") as file:
        return {k: int(v) for k, v in (line.split() for line in file)}


def snmp(name, group, key):
    """Return a counter of /proc/net/snmp."""
    with inside(name), open("/proc/thread-self/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith(group + ":")]
    return int(values[names.index(key)])


def netstat(name, key):
    """Return a counter of TcpExt in /proc/net/netstat."""
    with inside(name), open("/proc/thread-self/net/netstat", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(values[names.index(key)])


def since(name, before, carrier="xcp"):
    return {k: v - before[k] for k, v in counts(name, carrier).items()}


def asked(got):
    """Data packets with a header of XCP, or of which a copy has it."""
    return got["out_data"] + got["out_try"]


def tcp(name, version, cc=None):
    with inside(name):
        sock = socket.socket(FAMILY[version], socket.SOCK_STREAM)
    if cc:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return sock


def connect(version, cc="xcp", source="a", sink="b", to=None, sink_cc="cubic", wait_s=20,
            listener_version=None):
    """Connect from source to sink. Return both ends, non-blocking; None if it fails."""
    listener = tcp(sink, listener_version or version, sink_cc)
    listener.bind(("::" if listener.family == socket.AF_INET6 else "0.0.0.0", 0))
    listener.listen()
    sock = tcp(source, version, cc)
    sock.setblocking(False)
    sock.connect_ex(((to or B)[version], listener.getsockname()[1]))
    if not select.select([listener], [], [], wait_s)[0]:
        return None
    other = listener.accept()[0]
    select.select([], [sock], [], wait_s)
    listener.close()
    other.setblocking(False)
    return sock, other


class Stream:
    """Sends random bytes in one direction; both ends hash them."""
    BLOCK = random.Random(1).randbytes(1 << 20)

    def __init__(self, source, sink, total):
        self.source, self.sink, self.left = source, sink, total
        self.sent, self.got = hashlib.sha256(), hashlib.sha256()
        self.pending = b""
        self.received, self.over = 0, False

    def push(self, more=False):
        """Send; end the stream after its last byte, unless the caller will add @more to @left."""
        if not self.pending and self.left:
            at = random.randrange(len(self.BLOCK) // 2)
            self.pending = memoryview(self.BLOCK)[at:at + min(self.left, 1 << 18)]
        if self.pending:
            with contextlib.suppress(BlockingIOError):
                n = self.source.send(self.pending)
                self.sent.update(self.pending[:n])
                self.pending = self.pending[n:]
                self.left -= n
        if not self.left and not self.pending and not more:
            self.source.shutdown(socket.SHUT_WR)
            return False
        return True

    def pull(self):
        with contextlib.suppress(BlockingIOError):
            data = self.sink.recv(1 << 20)
            self.got.update(data)
            self.received += len(data)
            self.over = not data
        return not self.over

    def exact(self):
        return self.over and not self.left and self.sent.digest() == self.got.digest()


def transfer(streams, limit_s=600, meanwhile=None, step_s=5):
    """Run streams to their ends; meanwhile(bytes received) is called every step_s at least."""
    writers = {s.source: s for s in streams}
    readers = {s.sink: s for s in streams}
    end = limit_clock() + limit_s
    while (writers or readers) and limit_clock() < end:
        ready = select.select(list(readers), list(writers), [], step_s)
        for sock in ready[0]:
            if not readers[sock].pull():
                del readers[sock]
        for sock in ready[1]:
            if not writers[sock].push():
                del writers[sock]
        if meanwhile:
            meanwhile(sum(s.received for s in streams))
    return all(s.exact() for s in streams)


def transfer_switching(a, b, names):
    """Send a stream whose sender switches to the next congestion control every 0.5 MiB."""
    step, left = 1 << 19, list(names)

    def turn(received):
        if left and received > (len(names) - len(left) + 1) * step:
            a.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, left.pop(0).encode())

    return transfer([Stream(a, b, (len(names) + 2) * step)], meanwhile=turn)


def srtt_us(sock):
    """Return TCP's smoothed RTT."""
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 68)[0]


def retrans_of(sock):
    """Return the number of segments that TCP has sent again."""
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]


def cwnd_of(sock):
    """Return TCP's congestion window, packets."""
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 80)[0]


# The name of a congestion control on a path of which no hop reports, where it is another one.
NO_HOP = {"csig": "csig-reno"}


def cc_of(sock):
    """Return the name of a socket's congestion control."""
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()


def findings(name, check):
    """Return where hopstat's doctor finds a fault of a kind in a host."""
    out = subprocess.run(["ip", "netns", "exec", name, HOPSTAT, "--json", "doctor"], capture_output=True, text=True,
                         check=False).stdout
    return [row["where"] for row in map(json.loads, out.splitlines()) if row["check"] == check]


def close(*socks):
    for sock in socks:
        sock.close()


def insmod(path):
    # The real congestion control has the same name.
    run("rmmod tcp_xcp", check=False)
    run(f"insmod {path}")


def drive(name, value=None, module="xcp_drive"):
    """Read or set a counter or a parameter of the module that drives a carrier."""
    path = f"/sys/module/{module}/parameters/{name}"
    if value is not None:
        write(path, value)
    with open(path, encoding="ascii") as file:
        return int(file.read())


def drive_reset():
    for name in ("feedback", "headers", "opened", "refused", "closed", "silenced"):
        drive(name, 0)
    return os.getpid()
