# SPDX-License-Identifier: GPL-2.0
"""Frames by hand, a pair of devices to send them over, and a runner of checks that prints TAP.

    sender --va [qdisc]========vb-- receiver

This is for the lab's guest: sending takes no virtual time, and starting programs takes most of the
wall-clock time. So one `tc -batch` runs all the time, and a shell is used only where needed.
"""
import json
import re
import shlex
import socket
import struct
import subprocess
import time
import traceback

TCP, UDP, ICMP, HOPOPTS, FRAGMENT, DSTOPTS = 6, 17, 1, 0, 44, 60
SOL_PACKET, PACKET_VNET_HDR, SO_RCVBUFFORCE = 263, 15, 33
ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86dd
TYPES = {"q": 0x8100, "ad": 0x88a8}


def sh(command):
    """Run lines of the shell, or plain commands separated by ";", each of which must succeed."""
    if re.search(r"[|&<>()`$*?~#\"'{}\[\]]", command):
        subprocess.run(command, shell=True, check=True)
        return
    for part in map(str.strip, command.split(";")):
        if Tc.ours and re.match(r"tc .*\bdev va(?!\S)", part):
            Tc.ours.do(part)
        else:
            subprocess.run(shlex.split(part), check=True)


class Tc:
    """One tc for all commands about va. It caches interface indices, so it must not outlive va."""

    ours = None

    def __init__(self):
        self.tc = subprocess.Popen(["tc", "-force", "-s", "-j", "-batch", "-"], text=True, bufsize=1,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)

    def ask(self, line):
        """Send a show command. Return its output, and the messages before it."""
        self.tc.stdin.write(f"{line}\n")
        said = []
        for answer in self.tc.stdout:
            if answer.startswith("["):
                return json.loads(answer), said
            said.append(answer)
            if answer.startswith("Command failed") and "\n" not in line:
                break
        raise ValueError(f"tc: {line}: {''.join(said)}")

    def show(self):
        return self.ask("qdisc show dev va")[0]

    def do(self, command, check=True):
        """Run a command; it is complete when tc has answered the show command behind it."""
        _, said = self.ask(f"{command.removeprefix('tc ')}\nqdisc show dev lo")
        # After a warning, the command has been carried out.
        if check and not all(line.startswith("Warning: ") for line in said):
            raise ValueError(f"{command}: {''.join(said)}")

    def close(self):
        self.tc.stdin.close()
        self.tc.wait()
        self.tc.stdout.close()


def short(value):
    return value[:80].hex() if isinstance(value, bytes) else value


def expect(got, want, what):
    assert got == want, f"{what}: got {short(got)}, expected {short(want)}"


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def ipv4(payload, protocol, options=b"", fragment=0, dsfield=0):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, dsfield, 20 + len(options) +
                     len(payload), 0, fragment, 64, protocol, 0,
                     socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2")) + options
    return ETH_P_IP, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + payload


def ipv6(payload, protocol, extension=b"", dsfield=0):
    """extension: complete, with its own next header; protocol is then the extension's number."""
    return ETH_P_IPV6, (struct.pack("!IHBB", 6 << 28 | dsfield << 20, len(extension) + len(payload), protocol, 64) +
                        socket.inet_pton(socket.AF_INET6, "2001:db8::1") +
                        socket.inet_pton(socket.AF_INET6, "2001:db8::2") + extension + payload)


def frame(kind, ip, tags=()):
    out = b"\xff" * 6 + b"\x02" + b"\0" * 5
    for tag in tags:
        out += struct.pack("!HH", TYPES[tag], 5)
    out += struct.pack("!H", kind) + ip
    return out


def network(data):
    """Return the packet behind the Ethernet header and the tags; the outer tag is not in data."""
    at = 12
    while struct.unpack_from("!H", data, at)[0] in TYPES.values():
        at += 4
    return data[at:]


class Wire:
    """A pair of devices with a raw socket at both ends; kind: kind of the qdisc under test."""

    def __init__(self, kind, *options):
        self.kind = kind
        sh("ip link add dev va numtxqueues 2 numrxqueues 2 type veth peer name vb")
        sh("sysctl -qw net.ipv6.conf.va.disable_ipv6=1 net.ipv6.conf.vb.disable_ipv6=1")
        sh("ip link set dev va mtu 65535 up; ip link set dev vb mtu 65535 up")
        Tc.ours = Tc()
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        for option in options:
            self.out.setsockopt(SOL_PACKET, option, 1)
        self.out.bind(("va", 0))
        self.inp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.inp.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
        self.inp.bind(("vb", 0))
        self.inp.settimeout(0.2)

    def qdisc(self, *lines):
        for line in lines:
            sh(f"tc qdisc add dev va {line}")
        return self

    def put(self, data):
        self.out.send(data)

    def arrived(self):
        frames = []
        while True:
            try:
                frames.append(self.inp.recv(70000))
            except TimeoutError:
                return frames

    def pass_one(self, data):
        self.put(data)
        got = self.arrived()
        expect(len(got), 1, "frames arrived")
        return got[0]

    def stats(self):
        return self.stats_of(self.kind)

    def stats_of(self, kind):
        return next(q for q in self.shown() if q["kind"] == kind)

    def shown(self):
        return Tc.ours.show()

    def empty(self):
        for qdisc in self.shown():
            expect((qdisc["backlog"], qdisc["qlen"]), (0, 0), f"backlog of {qdisc['kind']}")

    def clear(self):
        """Restore the initial state, for the next check."""
        Tc.ours.do("qdisc del dev va root", check=False)    # there may be none
        self.arrived()

    def close(self):
        self.out.close()
        self.inp.close()
        Tc.ours.close()
        Tc.ours = None
        sh("ip link del dev va")


TRACE = "/sys/kernel/tracing/"


def traced(event, run, words=""):
    """Return lines of a tracepoint ("sch_csig/csig_interval") with these words during run()."""
    sh(f"echo > {TRACE}trace; echo 1 > {TRACE}events/{event}/enable")
    run()
    sh(f"echo 0 > {TRACE}events/{event}/enable")
    with open(f"{TRACE}trace", encoding="utf-8") as log:
        return [line for line in log if f"{event.split('/')[1]}:" in line and words in line]


def expiries(function, run):
    """Return how often a high-resolution timer with this callback expires during run()."""
    return len(traced("timer/hrtimer_expire_entry", run, f"function={function} "))


def expiry_times(timers, run):
    """When timers of these callbacks expire while run() runs, ns."""
    return sorted(int(line.split("now=")[1].split()[0])
                  for line in traced("timer/hrtimer_expire_entry", run, "function=")
                  if line.split("function=")[1].split()[0] in timers)


def expiries_of_ports(number, qdiscs, data, burst, timers):
    """Ports with these qdiscs, each of which is sent a burst of one frame: (when the last frame was
    sent, when timers expire in the next second and in the one after that), ns.
    """
    names, sent_ns = [f"port{n}" for n in range(number)], []
    sh("sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
    batch("ip", [f"link add {name} up type veth peer name {name}p" for name in names])
    batch("ip", [f"link set {name}p up" for name in names])
    batch("tc", [f"qdisc add dev {name} {line}" for line in qdiscs for name in names])

    def send():
        for name, sock in zip(names * burst, socks * burst):
            sock.sendto(data, (name, 0))
        sent_ns.append(time.monotonic_ns())
        time.sleep(1)

    # Packets that a port holds fill the buffer of its socket.
    socks = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in names]
    first = expiry_times(timers, send)
    for sock in socks:
        sock.close()
    second = expiry_times(timers, lambda: time.sleep(1))
    batch("ip", [f"link del {name}" for name in names])
    sh("sysctl -qw net.ipv6.conf.default.disable_ipv6=0")
    return sent_ns[0], first, second


def batch(program, lines):
    subprocess.run([program, "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def most_in_1_ms(times_ns):
    """The most of these times in a millisecond; a timer's latency varies by less than a microsecond."""
    return max(sum(0 <= other - start < 999000 for other in times_ns[n:n + 1000])
               for n, start in enumerate(times_ns))


IN_CONTAINER = "ip link add dev va type veth peer name vb; ip link set dev va up; ip link set dev vb up"


def in_container(script):
    """Run lines of the shell as any user can: in a new user and network namespace, with va in a
    pair of devices. Return their output and errors."""
    return subprocess.run(["unshare", "-Urn", "sh", "-c", f"{IN_CONTAINER}\n{script}"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def by_host_in_container(commands):
    """Run commands as the host's root, in the network namespace of in_container(). Return what they print."""
    said = ""
    with subprocess.Popen(["unshare", "-Urn", "sh", "-c", f"{IN_CONTAINER}; echo; read x"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as container:
        container.stdout.readline()
        for command in commands:
            said += subprocess.run(["nsenter", "-t", str(container.pid), "-n", *command.split()], text=True,
                                   check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        container.communicate("\n")
    return said


def flood(wire, qdisc, data):
    """flood_all() for one frame. Return the frames that arrive at both ports."""
    return [got[0] for got in flood_all(wire, qdisc, [data])]


def flood_all(wire, qdisc, frames):
    """A bridge behind vb floods clones to two ports, the first with a qdisc. Return arrivals."""
    sh("ip link add dev br type bridge mcast_snooping 0;"
       "sysctl -qw net.ipv6.conf.br.disable_ipv6=1; ip link set dev br up")
    sh("for i in 1 2; do ip link add dev p$i type veth peer name q$i;"
       "sysctl -qw net.ipv6.conf.p$i.disable_ipv6=1 net.ipv6.conf.q$i.disable_ipv6=1;"
       "ip link set dev p$i master br; ip link set dev p$i up; ip link set dev q$i up; done")
    sh(f"ip link set dev vb master br; tc qdisc add dev p1 {qdisc}")
    ends = []
    for name in ("q1", "q2"):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        end.bind((name, 0))
        end.settimeout(0.2)
        ends.append(end)
    time.sleep(0.5)
    try:
        for data in frames:
            wire.put(data)
        return [[end.recv(70000) for _ in frames] for end in ends]
    finally:
        sh("ip link del dev br; ip link del dev p1; ip link del dev p2")
        for end in ends:
            end.close()


def run_checks(kind, checks, make=Wire):
    """Run checks, [(name, function of a Wire, socket options)]. Return the exit status. Each check
    starts with the devices in their initial state; they are made again only after a failure."""
    failures = 0
    print(f"1..{len(checks)}")
    # High-resolution timers start with the first tick.
    time.sleep(0.1)
    wire = held = None
    for number, (name, check, options) in enumerate(checks, 1):
        if wire and held != options:
            wire.close()
            wire = None
        wire, held = wire or make(kind, *options), options
        try:
            check(wire)
            wire.clear()
            print(f"ok {number} - {name}", flush=True)
        except (AssertionError, OSError, ValueError, subprocess.CalledProcessError) as wrong:
            failures += 1
            line = traceback.extract_tb(wrong.__traceback__)[-1].lineno
            print(f"not ok {number} - {name}\n# line {line}: {wrong}", flush=True)
            wire.close()
            wire = None
    if wire:
        wire.close()
    return 1 if failures else 0
