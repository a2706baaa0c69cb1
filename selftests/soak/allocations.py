#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make each allocation of each operation on the modules fail once, in turn; prints TAP.

Qdiscs are added, changed, given a child and removed; sysctls are written, congestion controls are
selected, connections are opened, namespaces are made, modules are loaded. The first allocation
of the system call fails, then the second, and so on, until none is left. A request that was refused
must have changed nothing; one that was accepted despite the failure must work. The lab's debug
kernel checks for reports and leaks. Run in the lab's guest: allocations.py [GROUP ...]
"""
import ctypes
import errno
import os
import select
import socket
import struct
import sys
import time

import faults
import ports
import rawlink
from faults import write
from rawlink import attr, text, u32, u64

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap

CLONE_NEWNET = 0x40000000
SYS_FINIT_MODULE, SYS_DELETE_MODULE, O_NONBLOCK = 313, 176, 0x800
RTM_NEWLINK, RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 16, 36, 37, 38
IFLA_IFNAME, IFLA_LINKINFO, IFF_UP = 3, 18, 1
TCP_CONGESTION = 13
MODULES = ("sch_wred", "sch_xcp", "sch_int", "sch_csig", "net_xcp", "net_tlm", "net_int", "net_csig_tag",
           "tcp_xcp", "tcp_hpccpp", "tcp_csig", "tcp_ldcp", "tcp_dctcp_ms", "hop_core")
CCS = ("xcp", "hpccpp", "csig", "ldcp", "dctcp_ms")
KNOBS = "/proc/sys/net/hopcc/"
# Errors that mean that the answer was lost, not the request.
UNSAID = (-errno.ENOBUFS, -errno.ETIMEDOUT)
MOST = 3000             # maximum number of allocations of a system call
LAST = 150              # allocations tested if only the last ones of an operation are ours
LIBC = ctypes.CDLL(None, use_errno=True)

# Options of a qdisc when it is added, and options of a change.
PROFILE = u32(1, 20000) + u32(2, 40000) + u32(3, 500000)
OPTIONS = {
    "xcp": (u64(2, 12500000), u64(2, 25000000) + u32(14, 1)),
    "csig": (u64(2, 12500000), u64(2, 25000000) + u32(9, 1) + u32(16, 1000000)),
    "int": (u64(2, 12500000) + u32(4, 1), u64(2, 125000000) + u32(4, 2) + u32(8, 1)),
    "wred": (u32(1, 300000), u32(1, 400000) + attr(3, PROFILE)),
}
# Values of sysctls that are not a single number.
VALUES = {"csig_weights": "3 2 1", "csig_quantum": "1000 2000 3000", "csig_cc": "cubic", "csig_ports": "v0 v1",
          "csig_rules": "", "csig_buckets": "", "int_key": "0" * 31 + "1", "tcp_hpccpp_t_ns": "20000",
          "tcp_csig_edges": "9 63 1 63"}


class Device:
    """The device v0 and its peer v1 in this namespace, and the qdiscs on v0."""

    def __init__(self):
        self.link = rawlink.Link()
        peer = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + text(IFLA_IFNAME, "v1")
        info = text(1, "veth") + attr(2, attr(1, peer))
        self.link.ask(RTM_NEWLINK, rawlink.NLM_F_CREATE | rawlink.NLM_F_EXCL,
                      struct.pack("=BxHiII", 0, 0, 0, 0, 0) + text(IFLA_IFNAME, "v0") + attr(IFLA_LINKINFO, info))
        self.index = socket.if_nametoindex("v0")
        for name in ("lo", "v0", "v1"):
            self.link.ask(RTM_NEWLINK, 0, struct.pack("=BxHiII", 0, 0, socket.if_nametoindex(name), IFF_UP, IFF_UP))

    def set(self, kind, opts, flags=0, parent=ports.ROOT, handle=0x10000):
        return self.link.ask(RTM_NEWQDISC, flags, ports.request(self.index, parent, handle, kind, opts))

    def add(self, kind, opts, parent=ports.ROOT, handle=0x10000):
        return self.set(kind, opts, rawlink.NLM_F_CREATE | rawlink.NLM_F_REPLACE, parent, handle)

    def remove(self, parent=ports.ROOT):
        return self.link.ask(RTM_DELQDISC, 0, struct.pack("=BxxxiIII", 0, self.index, 0, parent, 0))

    def tree(self):
        """Return {(handle, parent): (kind, options)} of v0's qdiscs."""
        found, link = {}, rawlink.Link()    # a socket whose dump was interrupted starts no other
        for body in link.dump(RTM_GETQDISC, struct.pack("=BxxxiIII", 0, 0, 0, 0, 0)):
            _, index, handle, parent, _ = struct.unpack_from("=BxxxiIII", body)
            if index == self.index and handle:
                attrs = rawlink.attributes(body[20:])
                found[handle, parent] = attrs[ports.TCA_KIND], attrs.get(ports.TCA_OPTIONS)
        link.sock.close()
        return found


class Group:
    """Operations of one kind: number of failed allocations, and of refused requests."""

    def __init__(self, tap, name):
        self.tap, self.name, self.nth = tap, name, faults.Nth()
        self.failed = self.refused = 0
        self.wrong = []

    def each(self, what, call, check, start=1):
        """Run call() with each allocation failing in turn; a negative result is an error. Then run
        check(what, error)."""
        for number in range(start, MOST):
            result, failed = self.nth.during(number, call)
            error = min(result or 0, 0)
            if not failed:
                check(what, error)
                if error:
                    self.wrong.append(f"{what}: error {error}, and no allocation failed")
                return number - 1
            self.failed += 1
            self.refused += error < 0
            check(f"{what}, allocation {number}", error)
        self.wrong.append(f"{what}: more than {MOST} allocations")
        return MOST

    def count(self, call, undo):
        """Return the number of allocations of a call."""
        low, high = 0, 1
        while self.fails_at(high, call, undo):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fails_at(middle, call, undo) else (low, middle)
        return low

    def fails_at(self, number, call, undo):
        result, failed = self.nth.during(number, call)
        undo(result)
        return failed

    def expect(self, good, words):
        if not good:
            self.wrong.append(words)

    def done(self):
        self.tap.claim(f"{self.name}: {self.failed} allocations failed, {self.refused} operations were refused",
                       self.failed and not self.wrong, "\n".join(self.wrong[:20]))


def qdiscs(group):
    device = Device()
    for kind, (first, second) in OPTIONS.items():
        added(group, device, kind, first)
        changed(group, device, kind, first, second)
        if kind != "wred":
            child_set(group, device, kind, first)
        removed(group, device, kind, first)


def added(group, device, kind, opts):
    def check(what, error):
        tree = device.tree()
        whole = [name for name, _ in tree.values()] == [kind.encode() + b"\0"]
        group.expect(error in UNSAID or (not tree if error else whole), f"{what}: {error}, {tree}")
        if tree:
            device.remove()
    group.each(f"add {kind}", lambda: device.add(kind, opts), check)


def changed(group, device, kind, first, second):
    device.add(kind, first)
    before = device.tree()
    group.expect(not device.set(kind, second), f"change {kind} is refused")
    after = device.tree()
    group.expect(before != after, f"change {kind} changes nothing")
    device.set(kind, first)
    # Options that a change omits stay, so each change starts from a new qdisc.
    device.remove()
    device.add(kind, first)

    def check(what, error):
        tree = device.tree()
        group.expect(tree in (before, after) if error in UNSAID else tree == (before if error else after),
                     f"{what}: {error}, {tree}")
        device.remove()
        device.add(kind, first)
    group.each(f"change {kind}", lambda: device.set(kind, second), check)


def child_set(group, device, kind, opts):
    """Replace the child of our class by a pfifo."""
    pfifo = struct.pack("=I", 100)
    before = device.tree()

    def check(what, error):
        tree = device.tree()
        whole = b"pfifo\0" in [name for name, _ in tree.values()]
        group.expect(error in UNSAID or (tree == before if error else whole), f"{what}: {error}, {tree}")
        device.remove()
        device.add(kind, opts)
    group.each(f"pfifo below {kind}", lambda: device.add("pfifo", pfifo, 0x10001, 0x20000), check)


def removed(group, device, kind, opts):
    device.add(kind, opts)

    def check(what, error):
        tree = device.tree()
        group.expect(error in UNSAID or bool(tree) == bool(error), f"{what}: {error}, {tree}")
        if not tree:
            device.add(kind, opts)
    group.each(f"remove {kind}", device.remove, check)
    device.remove()


def dumps(group):
    """Dumps of qdiscs return a part, or an error, and change nothing."""
    device = Device()
    for kind, (first, second) in OPTIONS.items():
        device.add(kind, first)
        device.set(kind, second)
        before = device.tree()
        link = rawlink.Link()
        group.each(f"dump {kind}", lambda: link.dump(RTM_GETQDISC, struct.pack("=BxxxiIII", 0, 0, 0, 0, 0)) and 0,
                   lambda what, _: group.expect(device.tree() == before, what))
        device.remove()
    for name in ("xcp", "int", "csig"):
        group.each(f"read /proc/net/hopcc_{name}", lambda: read(f"/proc/thread-self/net/hopcc_{name}") and 0,
                   lambda what, _: group.expect(read(f"/proc/thread-self/net/hopcc_{name}"), what))


def read(path):
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def values(name, before):
    """Return values that a sysctl accepts, besides its current one."""
    if name in VALUES:
        return [VALUES[name].encode()]
    if not before.strip().isdigit():
        return [b"cubic"]
    number = int(before)
    return [str(v).encode() for v in (1, 0, 2, 8, number + 1, number - 1, number * 2, number // 2)]


def sysctls(group):
    Device()
    for name in sorted(os.listdir(KNOBS)):
        path = KNOBS + name
        before = read(path)
        value = next((v for v in values(name, before) if not write(path, v) and read(path) != before), None)
        if value is None and name in VALUES:
            value = VALUES[name].encode()
        if value is None:
            group.wrong.append(f"{name}: no other value is taken")
            continue
        after = read(path)
        write(path, before)

        def check(what, error):
            group.expect(read(path) == (before if error else after), f"{what}: {error}, {read(path)}")
            write(path, before)
            group.expect(read(path) == before, f"{what}: not back")
        group.each(f"{name} = {value.decode()}", lambda: write(path, value), check)


def choose(sock, cc):
    try:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
        return 0
    except OSError as error:
        return -error.errno


def carriers_on():
    for name, value in (("xcp", 1), ("int", 1), ("csig", 2), ("csig_ports", "*")):
        write(KNOBS + name, str(value).encode())
    write("/proc/sys/net/ipv4/tcp_ecn", b"1")


def congestion_controls(group):
    """Set the congestion control of an open connection."""
    Device()
    carriers_on()
    for cc in CCS:
        sock, other = opened("reno")[:2]
        before = sock.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)

        def check(what, error):
            now = sock.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)
            group.expect(now == before if error else now.startswith(cc.encode()), f"{what}: {error}, {now}")
            group.expect(exchange(sock, other), f"{what}: bytes are lost")
            choose(sock, "reno")
        group.each(f"choose {cc}", lambda: choose(sock, cc), check)
        sock.close()
        other.close()


def opened(cc, group=None, number=0):
    """Connect over loopback. Return (socket, peer, error, True if an allocation failed)."""
    with socket.socket() as listener:
        choose(listener, cc)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        sock = socket.socket()
        choose(sock, cc)

        def connect():
            return sock.connect_ex(listener.getsockname())

        error, failed = group.nth.during(number, connect) if group else (connect(), False)
        if error:
            sock.close()
            return None, None, error, failed
        return sock, listener.accept()[0], error, failed


def exchange(sock, other, size=20000):
    """Return True if bytes in both directions arrive intact."""
    data = os.urandom(size)
    for source, sink in ((sock, other), (other, sock)):
        source.sendall(data)
        got = b""
        while len(got) < size and select.select([sink], [], [], 10)[0]:
            got += sink.recv(size - len(got))
        if got != data:
            return False
    return True


def connections(group):
    """A connect() with a failed allocation returns an error, or makes a working connection."""
    Device()
    carriers_on()
    for cc in CCS:
        for number in range(1, MOST):
            sock, other, error, failed = opened(cc, group, number)
            group.failed += failed
            group.refused += bool(error)
            if sock:
                group.expect(exchange(sock, other), f"{cc}, allocation {number}: bytes are lost")
                sock.close()
                other.close()
            elif not failed:
                group.wrong.append(f"{cc}: {error}, and no allocation failed")
            if not failed:
                break


def namespace():
    return -ctypes.get_errno() if LIBC.unshare(CLONE_NEWNET) else 0


def namespaces(group):
    """Make namespaces; our modules allocate last in a new namespace."""
    def undo(_):
        time.sleep(0.05)
    total = group.count(namespace, undo)
    start = max(1, total - LAST)

    def check(what, error):
        undo(error)
        group.expect(error or os.path.isdir(KNOBS), f"{what}: without knobs")
    group.each("a network namespace", namespace, check, start)


def load(path):
    with open(path, "rb") as file:
        return -ctypes.get_errno() if LIBC.syscall(SYS_FINIT_MODULE, file.fileno(), b"", 0) else 0


def unload(name):
    for _ in range(100):
        if not is_loaded(name) or not LIBC.syscall(SYS_DELETE_MODULE, name.encode(), O_NONBLOCK):
            return
        time.sleep(0.05)


def is_loaded(name):
    return os.path.isdir(f"/sys/module/{name}")


def modules(group):
    """Unload all modules, and load each again after those that it needs; its init() runs last."""
    with open(f"{os.environ['HOPLAB_OUT']}/insmod", encoding="utf-8") as order:
        files = [line.strip() for line in order]
    names = [os.path.basename(path)[:-3] for path in files]
    for name in reversed(names):
        unload(name)
    for name, path in zip(names, files):
        if name not in MODULES:
            load(path)
            continue
        group.expect(not is_loaded(name), f"{name} is not to be unloaded")
        total = group.count(lambda: load(path), lambda _: unload(name))

        def check(what, error):
            group.expect(is_loaded(name) == (not error), f"{what}: {error}")
            unload(name)
        group.each(f"load {name}", lambda: load(path), check, max(1, total - LAST))
        load(path)


GROUPS = {"qdiscs": qdiscs, "dumps": dumps, "sysctls": sysctls, "congestion_controls": congestion_controls,
          "connections": connections, "namespaces": namespaces, "modules": modules}


def run(tap, log, name):
    start_s = time.monotonic()
    group = Group(tap, name)
    GROUPS[name](group)
    log.read()
    group.done()
    print(f"# {name}: {time.monotonic() - start_s:.2f} s of virtual time")


def main():
    tap = Tap()
    if not faults.available():
        print("1..0 # SKIP the kernel has no fault injection")
        return 4
    time.sleep(0.1)
    faults.prepare()
    log = faults.Log()
    LIBC.unshare(CLONE_NEWNET)
    for name in sys.argv[1:] or GROUPS:
        run(tap, log, name)
    found = log.of_modules(MODULES)
    for module, sites in found.items():
        print(f"# {module}: {sum(sites.values())} failures below {sites}")
    tap.claim("no report of the kernel", not log.reports, "\n".join(log.reports[:10]))
    tap.claim("the log is whole", not log.lost)
    if not log.reports:
        faults.forget("allocations: failed allocations were taken out")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
