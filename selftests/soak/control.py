#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Fuzz all settings of the modules, under traffic; prints TAP. Run in the lab's guest.

    control.py [--seed N] [--operations N] [--without OPERATION]... [--verbose]

In each episode, a veth pair connects two hosts, which are network namespaces in a user namespace
(in one of four episodes, in the initial one). Each host does random operations: netlink of
all qdiscs, sysctls, routes with metrics, sockets of every congestion control and their options,
changes of its link, frames from a tap with any virtio header. Meanwhile modules are unloaded and loaded. Then the hosts end, whatever is
open. In virtual time, the same seed gives the same result in the same build; the number of
allocations of a system call differs between builds. Allocations fail: in one episode the nth of a
system call, for many calls that set something; in the next, 10 % of the atomic allocations, which
packets need. The kernel's checkers and this program look for:

- any report of the kernel. But TCP itself warns, with any congestion control, of a window of 0,
  which a locked metric causes. If nothing else is reported, these warnings and the failed
  allocations are removed from the log, so that `lab exec` does not find them;
- a timer loop: at the end of an episode the hosts are idle, but the timers of the modules or of
  pacing expire much more often than packets move. A port's two timers may each expire 17 times
  after its last packet: 40 expiries are allowed for a packet queued or sent, and 1000 per second.
"""
import argparse
import collections
import ctypes
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import time
import traceback

import expiries
import faults
import frames
import ports
import rawlink
from faults import write
from rawlink import attr, near_bounds, text, u32

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SYS_FINIT_MODULE, SYS_DELETE_MODULE, O_NONBLOCK = 313, 176, 0x800
RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE = 16, 20, 24
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC, RTM_NEWTCLASS, RTM_DELTCLASS, RTM_GETTCLASS = 36, 37, 38, 40, 41, 42
IFF_UP, IFLA_ADDRESS, IFLA_MTU, IFLA_IFNAME, IFLA_LINKINFO, IFLA_TXQLEN, IFLA_NET_NS_PID, IFLA_GSO_MAX_SEGS = 1, 1, 4, 3, 18, 13, 19, 40
SOCK_DIAG_BY_FAMILY, GENL_CTRL = 20, 16
TCP_CONGESTION, TCP_CC_INFO, TCP_INFO = 13, 26, 11
ADDRESS = {socket.AF_INET: ("192.0.2.1", "192.0.2.2"), socket.AF_INET6: ("2001:db8::1", "2001:db8::2")}
CCS = ("xcp", "hpccpp", "csig", "ldcp", "dctcp_ms", "cubic", "reno", "dctcp")
MODULES = ("sch_wred", "sch_xcp", "sch_int", "sch_csig", "net_xcp", "net_tlm", "net_int", "net_csig_tag",
           "tcp_xcp", "tcp_hpccpp", "tcp_csig", "tcp_ldcp", "tcp_dctcp_ms", "hop_core")
OPERATIONS = 40             # number of operations of a host in an episode
SETTLE_S, QUIET_S = 0.3, 0.2
ALLOWED_A_MOVE, ALLOWED_PS = 40, 1000
ATOMIC_PERCENT = 10
LIBC = ctypes.CDLL(None, use_errno=True)
WITHOUT = set()
STOCK = re.compile(r"WARNING: .* at include/net/tcp\.h:\d+ tcp_\w+\+\S+$")


def unshare(flags):
    if LIBC.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


class Faults:
    """Makes the nth allocation of some system calls fail, if the kernel supports that."""

    def __init__(self, rng, count):
        self.rng, self.count, self.nth = rng, count, faults.Nth()

    def during(self, call):
        if not self.nth.file or self.rng.random() > 0.3:
            return call()
        result, failed = self.nth.during(self.rng.randrange(1, 25), call)
        self.count["failed"] += failed
        return result


class Host:
    """One end of the link: its sockets, its qdiscs, and random operations on them."""

    def __init__(self, seed, side, report):
        self.rng = random.Random(seed)
        self.side, self.report = side, report
        self.route, self.diag = rawlink.Link(), rawlink.Link(rawlink.NETLINK_SOCK_DIAG)
        self.generic = rawlink.Link(rawlink.NETLINK_GENERIC)
        self.listeners, self.sockets = [], []
        self.count = collections.Counter()
        self.faults = Faults(self.rng, self.count)

    def set_up(self):
        """Set up addresses, and listeners with random congestion controls."""
        self.tap = frames.open_tap("t0")
        self.index = {name: socket.if_nametoindex(name) for name in ("lo", "v0", "t0")}
        self.link("t0", attr(IFLA_ADDRESS, frames.HOST))
        for name in self.index:
            self.link(name, b"", IFF_UP)
        for path in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
            write(f"/proc/sys/net/{path}", b"1")
        for family, names in ADDRESS.items():
            self.add_address(family, names[self.side], 24 if family == socket.AF_INET else 64, "v0")
            self.add_address(family, frames.TAP[family][0], frames.TAP[family][2], "t0")
        for family in ADDRESS:
            listener = socket.socket(family)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(("", 5001))
            listener.listen(16)
            listener.setblocking(False)
            self.listeners.append(listener)

    def add_address(self, family, address, prefix_bits, name):
        own = socket.inet_pton(family, address)
        # 2: no test for duplicates
        self.route.ask(RTM_NEWADDR, rawlink.NLM_F_CREATE, struct.pack(
            "=BBBBI", family, prefix_bits, 2, 0, self.index[name]) + attr(1, own) + attr(2, own))

    def link(self, name, more, flags=0, change=IFF_UP):
        return self.route.ask(RTM_NEWLINK, 0, struct.pack("=BxHiII", 0, 0, self.index[name], flags,
                                                          change if flags or not more else 0) + more)

    # Operations. Each returns a text for the log.

    def place(self):
        return self.rng.choices((ports.ROOT, 0x10001, 0x10002, 0x20001, self.rng.getrandbits(32)),
                                (6, 4, 2, 2, 1))[0]

    def device(self):
        return self.index["lo" if self.rng.random() < 0.1 else "v0"]

    def op_qdisc(self):
        """Add, replace or change one of our qdiscs with random options, anywhere."""
        kind = self.rng.choice(ports.OURS)
        parent = self.place()
        handle = self.rng.choice((0x10000, 0x10000, 0x20000, 0x30000, 0))
        flags = self.rng.choice((0, 0, rawlink.NLM_F_CREATE, rawlink.NLM_F_CREATE | rawlink.NLM_F_REPLACE,
                                 rawlink.NLM_F_CREATE | rawlink.NLM_F_EXCL))
        opts = ports.ours(self.rng, kind)
        message = self.route.message(RTM_NEWQDISC, flags | rawlink.NLM_F_ACK,
                                     ports.request(self.device(), parent, handle, kind, opts))
        if self.rng.random() < 0.03:
            message = message[:4] + rawlink.spoil(self.rng, message[4:])
        error = self.faults.during(lambda: self.route.send(message))
        return f"{kind} {parent:x} {error}"

    def op_tree(self):
        """Build a typical port: one of our qdiscs, mostly around a child that holds packets."""
        kind = self.rng.choice(ports.OURS)
        create = rawlink.NLM_F_CREATE | rawlink.NLM_F_REPLACE
        index = self.index["v0"]
        self.route.ask(RTM_DELQDISC, 0, struct.pack("=BxxxiIII", 0, index, 0, ports.ROOT, 0))
        error = self.route.ask(RTM_NEWQDISC, create, ports.request(
            index, ports.ROOT, 0x10000, kind, ports.ours(self.rng, kind)))
        if error and kind != "wred":
            error = self.route.ask(RTM_NEWQDISC, create, ports.request(
                index, ports.ROOT, 0x10000, kind, rawlink.u64(2, 10**8)))
        child, opts = (ports.holder if self.rng.random() < 0.6 else ports.other)(self.rng)
        below = self.route.ask(RTM_NEWQDISC, create, ports.request(index, 0x10001, 0x20000, child, opts))
        return f"{kind} {error} {child} {below}"

    def op_other(self):
        kind, opts = (ports.holder if self.rng.random() < 0.5 else ports.other)(self.rng)
        error = self.route.ask(RTM_NEWQDISC, rawlink.NLM_F_CREATE | rawlink.NLM_F_REPLACE, ports.request(
            self.device(), self.place(), self.rng.choice((0x10000, 0x20000, 0x40000)), kind, opts))
        return f"{kind} {error}"

    def op_remove(self):
        return self.route.ask(RTM_DELQDISC, 0, struct.pack("=BxxxiIII", 0, self.device(), 0, self.place(), 0))

    def op_class(self):
        """Try to change a class of our qdiscs, which is not allowed."""
        body = ports.request(self.device(), self.place(), self.place(), self.rng.choice(ports.OURS),
                             ports.ours(self.rng, "xcp"))
        return self.route.ask(self.rng.choice((RTM_NEWTCLASS, RTM_DELTCLASS)), rawlink.NLM_F_CREATE, body)

    def op_dump(self):
        tc = struct.pack("=BxxxiIII", 0, self.device(), 0, 0, 0)
        return [len(self.route.dump(kind, tc)) for kind in (RTM_GETQDISC, RTM_GETTCLASS)]

    def op_sysctl(self):
        path, low, high = self.rng.choice(self.knobs())
        word = str(near_bounds(self.rng, low, high))
        chance = self.rng.random()
        if chance < 0.2:
            word = " ".join(self.rng.choice(CCS) for _ in range(self.rng.randrange(4)))
        elif chance < 0.3:
            word = " ".join(str(near_bounds(self.rng, 0, 1000)) for _ in range(self.rng.randrange(1, 40)))
        elif chance < 0.4:
            word = self.rng.randbytes(self.rng.choice((1, 7, 100, 5000))).decode("latin-1")
        elif chance < 0.5:
            word = self.rng.choice(("", "*", "lo", "v0 lo", "0" * 32, "-1", "1 2 3", "v0=1", "port 5001",
                                    "to 192.0.2.0/24 port 5001 every 2 compact; udp; probes mark 1/3 expanded",
                                    "abw 1000000 5000000; abw_c pow2 32; pd appendix_a"))
        error = self.faults.during(lambda: write(path, word.encode("latin-1")))
        return f"{path} {word[:20]!r} {error}"

    def knobs(self):
        """Return (path, low, high) of our sysctls, and of TCP's that our modules use."""
        folder = "/proc/sys/net/hopcc/"
        ours = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return ([(folder + name, 0, 2) for name in ours] + [(folder + name, 0, 2**31) for name in ours] +
                [("/proc/sys/net/ipv4/tcp_ecn", 0, 3), ("/proc/sys/net/ipv4/tcp_no_metrics_save", 0, 1),
                 ("/proc/sys/net/ipv4/tcp_timestamps", 0, 2), ("/proc/sys/net/ipv4/tcp_sack", 0, 1),
                 ("/proc/sys/net/ipv4/tcp_min_snd_mss", 48, 65535), ("/proc/sys/net/ipv4/ip_default_ttl", 1, 255),
                 ("/proc/sys/net/ipv4/tcp_slow_start_after_idle", 0, 1)])

    def op_metrics(self):
        """Replace the route to the peer or to this host by one with metrics."""
        local = self.rng.random() < 0.6
        index = self.index["lo" if local else "v0"]
        # The same destination, table, scope and protocol as the kernel's, to replace its route.
        head, where = (32, "127.0.0.1") if local else (24, "192.0.2.0")
        table, scope, kind = (255, 254, 2) if local else (254, 253, 1)
        own = "127.0.0.1" if local else ADDRESS[socket.AF_INET][self.side]
        body = struct.pack("=BBBBBBBBI", socket.AF_INET, head, 0, 0, table, 2, scope, kind, 0)
        body += attr(1, socket.inet_aton(where)) + u32(4, index) + attr(7, socket.inet_aton(own))
        body += attr(8, self.metrics())
        error = self.route.ask(RTM_NEWROUTE, rawlink.NLM_F_CREATE | rawlink.NLM_F_REPLACE, body)
        return f"{'lo' if local else 'v0'} {error}"

    def metrics(self):
        """Return random metrics, locked or not; windows are more frequent than others."""
        out, locks = b"", 0
        for _ in range(self.rng.randrange(1, 4)):
            kind = self.rng.choice((6, 7, 7, 7, 11, 11, 4, 5, 13, 8, 14, 3, 9, 10, 12, 2))
            out += u32(kind, near_bounds(self.rng, 0, 65535))
            locks |= 1 << kind
        if self.rng.random() < 0.7:
            out += u32(1, locks)
        if self.rng.random() < 0.2:
            out += text(16, self.rng.choice(CCS))
        return out

    def op_connect(self):
        """Connect to the peer or to this host, with a random congestion control."""
        self.accept()
        if len(self.sockets) > 12:
            self.sockets.pop(self.rng.randrange(len(self.sockets))).close()
        family = self.rng.choice((socket.AF_INET, socket.AF_INET, socket.AF_INET6))
        to = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}[family]
        if self.rng.random() < 0.6:
            to = ADDRESS[family][1 - self.side]
        cc = self.rng.choice(CCS)
        sock = socket.socket(family)
        sock.setblocking(False)
        error = self.set_option(sock, socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
        try:
            if self.rng.random() < 0.5:
                self.listeners[family == socket.AF_INET6].setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
            sock.connect((to, 5001))
        except BlockingIOError:
            pass
        except OSError as wrong:
            error = -wrong.errno
        self.sockets.append(sock)
        return f"{cc} {to} {error}"

    def accept(self):
        for listener in self.listeners:
            try:
                while True:
                    sock, _ = listener.accept()
                    sock.setblocking(False)
                    self.sockets.append(sock)
                    self.count["streams"] += 1
            except OSError:
                pass

    def op_send(self):
        """Read all data that has arrived; some sockets write."""
        self.accept()
        moved = 0
        for sock in self.sockets:
            try:
                while data := sock.recv(1 << 18):
                    self.count["bytes"] += len(data)
            except OSError:
                pass
            if self.rng.random() < 0.5:
                try:
                    moved += sock.send(bytes(self.rng.choice((1, 1448, 20000, 200000))))
                except OSError:
                    pass
        return moved

    def op_option(self):
        if not self.sockets:
            return "none"
        sock = self.rng.choice(self.sockets)
        level, option = self.rng.choice((
            (6, TCP_CONGESTION), (6, TCP_CONGESTION), (6, TCP_CONGESTION), (6, 2), (6, 10), (6, 1),
            (6, 3), (6, 18), (6, 25), (6, 12), (1, 7), (1, 8), (1, 47), (1, 12), (1, 36), (1, 46),
            (0, 1), (41, 67), (6, 4), (1, 13)))
        if option == TCP_CONGESTION and level == 6:
            value = self.rng.choice(CCS + ("ldcp-reno", "xcp-reno", "hpccpp-reno", "nothing")).encode()
        elif (level, option) == (1, 47):
            value = struct.pack("=Q", near_bounds(self.rng, 0, 10**10) & (2**64 - 1))
        elif (level, option) == (1, 13):
            value = struct.pack("=ii", self.rng.randrange(2), self.rng.randrange(2))
        else:
            value = struct.pack("=I", near_bounds(self.rng, 0, 100000) & 0xffffffff)
        return f"{level} {option} {value[:16]!r} {self.set_option(sock, level, option, value)}"

    def set_option(self, sock, level, option, value):
        def call():
            try:
                sock.setsockopt(level, option, value)
                return 0
            except OSError as error:
                return -error.errno
        return self.faults.during(call)

    def op_ask(self):
        """Send the netlink requests of ss, for one socket and for all."""
        for sock in self.sockets:
            for option, size in ((TCP_CC_INFO, 64), (TCP_INFO, 256), (TCP_CONGESTION, 16)):
                try:
                    sock.getsockopt(socket.IPPROTO_TCP, option, self.rng.choice((size, self.rng.randrange(size))))
                except OSError:
                    pass
        family = self.rng.choice((socket.AF_INET, socket.AF_INET6))
        body = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 0xff, 0xffffffff) + bytes(48)
        return len(self.diag.dump(SOCK_DIAG_BY_FAMILY, body))

    def op_flows(self):
        """Send a request to our generic netlink family, with a random command and attributes."""
        family = self.family(b"hopcc_csig\0")
        if not family:
            return "not loaded"
        body = struct.pack("=BBH", self.rng.choice((1, 1, 0, 2, 255)), 1, 0)
        body += rawlink.options(self.rng, {1: 16, 2: 16, 3: 2, 4: 2, 5: 4})
        if self.rng.random() < 0.5:
            return len(self.generic.dump(family, body))
        return self.generic.ask(family, 0, body)

    def family(self, name):
        found = self.generic.dump(GENL_CTRL, struct.pack("=BBH", 3, 1, 0))
        for body in found:
            attrs = rawlink.attributes(body[4:])
            if attrs.get(2) == name:
                return struct.unpack("=H", attrs[1])[0]
        return 0

    def op_link(self):
        """Change the link: flap, MTU or queue length."""
        way = self.rng.randrange(4)
        if way == 0:
            down = self.link("v0", b"")
            time.sleep(10 ** self.rng.uniform(-5, -2))
            return f"down {down} up {self.link('v0', b'', IFF_UP)}"
        if way == 1:
            return f"mtu {self.link('v0', u32(IFLA_MTU, self.rng.choice((68, 576, 1280, 1500, 1500, 9000, 65535))))}"
        if way == 2:
            return f"txqlen {self.link('v0', u32(IFLA_TXQLEN, near_bounds(self.rng, 0, 100000)))}"
        return f"gso {self.link('v0', u32(IFLA_GSO_MAX_SEGS, self.rng.choice((1, 2, 17, 65535))))}"

    def op_unsolicited(self):
        """Send random packets that may be our headers: protocols 63 and 254."""
        to = ADDRESS[socket.AF_INET][1 - self.side]
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_RAW, self.rng.choice((63, 254))) as sock:
                sock.sendto(self.rng.randbytes(self.rng.randrange(200)), (to, 0))
            return 0
        except OSError as error:
            return -error.errno

    def op_frame(self):
        """Send frames by the tap, for this host or for the peer."""
        taken = 0
        for _ in range(self.rng.randrange(1, 32)):
            family = self.rng.choice((socket.AF_INET, socket.AF_INET6))
            to = self.rng.choice((frames.TAP[family][0], *ADDRESS[family]))
            try:
                taken += os.write(self.tap, frames.frame(self.rng, family, to)) > 0
            except OSError:
                pass
        try:
            while os.read(self.tap, 1 << 17):
                pass
        except OSError:
            pass
        self.count["frames"] += taken
        return taken

    WEIGHTS = {"qdisc": 14, "tree": 7, "other": 3, "remove": 2, "class": 1, "dump": 2, "sysctl": 10, "metrics": 8,
               "connect": 16, "send": 16, "option": 10, "ask": 6, "flows": 2, "link": 2, "unsolicited": 2,
               "frame": 6}

    def operate(self, operations):
        """Do random operations. Excluded ones are also drawn, so that the others stay the same."""
        names, weights = list(self.WEIGHTS), list(self.WEIGHTS.values())
        for _ in range(operations):
            name = self.rng.choices(names, weights)[0]
            said = "left out" if name in WITHOUT else getattr(self, f"op_{name}")()
            self.count[name] += 1
            self.report(f"{'ab'[self.side]} {name} {said}")
            time.sleep(10 ** self.rng.uniform(-5, -1.7))


def join_hosts(link, pid):
    """Make a veth pair: v0 here, and v0 in the peer's namespace."""
    peer = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + text(IFLA_IFNAME, "v0") + u32(IFLA_NET_NS_PID, pid)
    info = text(1, "veth") + attr(2, attr(1, peer))
    error = link.ask(RTM_NEWLINK, rawlink.NLM_F_CREATE | rawlink.NLM_F_EXCL,
                     struct.pack("=BxHiII", 0, 0, 0, 0, 0) + text(IFLA_IFNAME, "v0") + attr(IFLA_LINKINFO, info))
    if error:
        raise OSError(-error, "veth")


def own_user_namespace():
    unshare(CLONE_NEWUSER)
    write("/proc/self/uid_map", b"0 0 1")
    write("/proc/self/setgroups", b"deny")
    write("/proc/self/gid_map", b"0 0 1")


def child(function):
    """Start a process that runs function(from the parent, to the parent). Return (pid, pipe from
    it, pipe to it)."""
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()
    pid = os.fork()
    if pid:
        os.close(to_parent)
        os.close(from_parent)
        return pid, from_child, to_child
    os.close(from_child)
    os.close(to_child)
    status = 1
    try:
        function(from_parent, to_parent)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def counts(host):
    return " ".join(f"{name}={number}" for name, number in host.count.items())


def peer_host(seed, report, operations):
    """The second host's process: set up, do operations, then be idle until the end is requested."""
    def main(inp, out):
        unshare(CLONE_NEWNET)
        os.write(out, b"ready\n")
        os.read(inp, 1)
        host = Host(f"{seed} b", 1, report)
        host.set_up()
        os.write(out, b"ready\n")
        os.read(inp, 1)
        host.operate(operations)
        os.write(out, f"{counts(host)}\n".encode())
        os.read(inp, 1)
    return main


def first_host(seed, report, operations):
    """The first host's process: set up, do operations, end; each step on request."""
    def main(inp, out):
        rng = random.Random(f"{seed} episode")
        if rng.random() < 0.75:
            own_user_namespace()
        unshare(CLONE_NEWNET)
        pid, from_peer, to_peer = child(peer_host(seed, report, operations))
        os.read(from_peer, 6)
        join_hosts(rawlink.Link(), pid)
        os.write(to_peer, b"x")
        host = Host(f"{seed} a", 0, report)
        host.set_up()
        os.read(from_peer, 6)
        os.write(out, b"ready\n")
        os.read(inp, 1)
        os.write(to_peer, b"x")
        host.operate(operations)
        theirs = os.read(from_peer, 4096).decode()
        os.write(out, f"{counts(host)} {theirs.strip()} done=1\n".encode())
        os.read(inp, 1)
        if rng.random() < 0.5:
            os.write(to_peer, b"x")
            os.waitpid(pid, 0)
    return main


def load(path):
    with open(path, "rb") as file:
        return LIBC.syscall(SYS_FINIT_MODULE, file.fileno(), b"", 0)


def shuffle_modules(rng, files, report):
    """Unload a module if nothing uses it, and load all modules that are unloaded."""
    name = rng.choice(MODULES)
    gone = LIBC.syscall(SYS_DELETE_MODULE, name.encode(), O_NONBLOCK)
    time.sleep(10 ** rng.uniform(-5, -2))
    for other in reversed(MODULES):
        if not os.path.isdir(f"/sys/module/{other}"):
            load(files[other])
    report(f"- module {name} {gone}")


class Fuzzer:
    """Runs episodes and keeps their results."""

    def __init__(self, arguments):
        self.arguments, self.total = arguments, collections.Counter()
        self.burns, self.failed, self.most = [], [], 0
        self.log = faults.Log()
        with open(f"{os.environ['HOPLAB_OUT']}/insmod", encoding="utf-8") as order:
            self.files = {os.path.basename(line.strip())[:-3]: line.strip() for line in order}

    def report(self, line):
        if self.arguments.verbose:
            print("#", f"{time.monotonic():.6f}", line, flush=True)

    def run(self):
        operations, episode = 0, 0
        while operations < self.arguments.operations and not self.burns:
            self.episode(episode)
            episode += 1
            operations = 2 * OPERATIONS * episode
            if episode % 5 == 0:
                print(f"# {operations} operations, {episode} episodes, {self.total['bytes']} bytes", flush=True)
        return operations

    def episode(self, number):
        seed = f"{self.arguments.seed} {number}"
        rng = random.Random(f"{seed} modules")
        pid, answers, orders = child(first_host(seed, self.report, OPERATIONS))
        # No allocation fails while the episode is set up.
        os.read(answers, 6)
        faults.fail_atomic(ATOMIC_PERCENT * (number % 2))
        os.write(orders, b"x")
        while not select.select([answers], [], [], 0.02)[0]:
            if rng.random() < 0.1:
                shuffle_modules(rng, self.files, self.report)
        text = os.read(answers, 4096).decode()
        faults.fail_atomic(0)
        if "done=" in text:
            self.look_for_burn(number)
            for word in text.split():
                name, value = word.split("=")
                self.total[name] += int(value)
        else:
            self.failed.append(number)
        os.close(answers)
        os.close(orders)
        os.waitpid(pid, 0)
        self.log.read()

    def look_for_burn(self, number):
        time.sleep(SETTLE_S)
        expired, moved = expiries.during(QUIET_S, MODULES)
        self.most = max(self.most, expired.total())
        if expired.total() > ALLOWED_A_MOVE * moved + ALLOWED_PS * QUIET_S:
            self.burns.append(f"episode {number}: {dict(expired)} in {QUIET_S} s, while packets were queued and "
                              f"sent {moved} times")


def forget_expected(reports):
    """Clear the log if all of these reports are expected ones of the kernel: a warning of
    tcp_snd_cwnd_set(), inlined in our function, ends with the module's name. Return the others."""
    others = [line for line in reports if not STOCK.search(line)]
    if not others:
        faults.forget("soak: warnings of TCP's own and failed allocations were taken out")
    return others


def prepare():
    subprocess.run(["modprobe", "-a", "sch_tbf", "sch_netem", "sch_plug", "sch_prio", "sch_fq_codel", "sch_fq"],
                   check=False)
    write("/proc/sys/net/ipv4/tcp_ecn", b"1")
    frames.node()
    faults.prepare()
    expiries.prepare()
    for name in CCS:
        with socket.socket() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, name.encode())
    write("/proc/sys/net/ipv4/tcp_allowed_congestion_control", " ".join(CCS).encode())


def judge_log(tap, log, asked):
    """Claim that failed allocations reach modules, and that nothing else is logged."""
    log.read()
    others = forget_expected(log.reports)
    tap.claim("the kernel reports nothing", not others and not log.lost, "\n".join(others[:10]))
    print(f"# {len(log.reports)} warnings of TCP's own")
    if not faults.available():
        return
    found = log.of_modules(MODULES)
    print(f"# {log.failures} allocations failed, {asked} of them in calls that set something")
    for module, sites in found.items():
        print(f"# {module}: {sum(sites.values())} failed allocations below {sites}")
    # This depends on chance; allocations.t covers all allocations of each operation.
    tap.claim("failed allocations reach four of the modules", len(found) > 3, f"{sorted(found)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--without", action="append", default=[], choices=Host.WEIGHTS,
                        help="leave this operation out, e.g. to see what is behind a finding")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    WITHOUT.update(arguments.without)
    tap = Tap()
    time.sleep(0.1)     # high-resolution timers start with the first tick
    prepare()
    fuzzer = Fuzzer(arguments)
    operations = fuzzer.run()
    seen = fuzzer.total
    tap.claim(f"seed {arguments.seed}: no timer without work after {operations} operations", not fuzzer.burns,
              "\n".join(fuzzer.burns))
    print(f"# at most {fuzzer.most} expiries in {QUIET_S} s after an episode")
    tap.claim("every episode ends", not fuzzer.failed, f"{fuzzer.failed}" if fuzzer.failed else "")
    tap.claim("every operation was tried", all(seen[name] for name in Host.WEIGHTS), str(dict(seen)))
    tap.claim("streams carried data", seen["streams"] > operations / 50 and seen["bytes"] > operations * 1000,
              f"{seen['streams']} streams, {seen['bytes']} bytes")
    tap.claim("the kernel took frames of taps", seen["frames"] > operations / 20, f"{seen['frames']} frames")
    judge_log(tap, fuzzer.log, seen["failed"])
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
