#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The flow table: dumps, limits, and the end of namespaces. Prints TAP.

    empty [wire0] ---- [wire1] full         contained: a user namespace of its own

Needs root and net_csig_tag; changes nothing outside its own network namespaces but
hop_core's parameter flows_max, which it restores.
"""
import socket
import subprocess
import sys
import time

import csig_bulk
import csig_flows
import csig_tag
import hosts
from hosts import counts, sysctl

FLOWS_MAX = "/sys/module/hop_core/parameters/flows_max"
PAIRS = 400
# More entries than this test needs, and no more than any default of flows_max.
WIDE = 65536
FLOW_LIMIT_DEFAULT = 65536
SPOOFED = 1000
MAC = {"wire0": "02:00:00:00:00:01", "wire1": "02:00:00:00:00:02"}

tap = hosts.Tap()


def flows_max(value=None):
    if value is not None:
        hosts.write(FLOWS_MAX, value)
    with open(FLOWS_MAX, encoding="ascii") as file:
        return int(file.read())


def speak(name):
    """Make connections of a namespace with itself carry the option: each has two flows."""
    sysctl(name, "hopcc/csig", 2)
    sysctl(name, "hopcc/csig_cc", "reno")
    sysctl(name, "ipv4/tcp_syncookies", 0)


def contain(name):
    """Make a network namespace in another user namespace. Return the shell of its root, which keeps
    it alive. Outside, its root is the user nobody.
    """
    # pylint: disable=consider-using-with
    shell = subprocess.Popen(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                              "unshare", "-Urn", "sh"], text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    status(shell, "ip link set lo up")
    hosts.run(f"ip netns attach {name} {shell.pid}")
    return shell


def status(shell, command):
    """Run a command in a shell. Return its exit status."""
    shell.stdin.write(f"{command}; echo $?\n")
    shell.stdin.flush()
    return int(shell.stdout.readline())


class Pairs:
    """The connections of a namespace with itself."""

    def __init__(self, name, number, cc="reno"):
        self.name, self.cc, self.socks = name, cc, []
        self.listener = hosts.tcp(name, 4, "reno")
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(1024)
        self.open(number)

    def open(self, number):
        for _ in range(number):
            sock = hosts.tcp(self.name, 4, self.cc)
            sock.connect(self.listener.getsockname())
            self.socks += [sock, self.listener.accept()[0]]

    def ports(self):
        """Return (local, peer) ports of every end."""
        return {(s.getsockname()[1], s.getpeername()[1]) for s in self.socks}

    def close_some(self, step):
        """Close every @step-th connection by a reset, so that its flow can be removed at once."""
        gone = []
        for n in range(0, len(self.socks), 2 * step):
            gone += self.socks[n:n + 2]
        self.socks = [s for s in self.socks if s not in gone]
        for sock in gone:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()

    def close(self):
        hosts.close(*self.socks, self.listener)
        self.socks = []


def dump(name, between=None):
    """Return the ports of the flows in a dump; between() is called after its first part."""
    shown = []
    with hosts.inside(name):
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, csig_flows.NETLINK_GENERIC)
    with sock:
        sock.bind((0, 0))
        csig_flows.ask(sock, csig_flows.family(sock), csig_flows.FLOW_GET, flags=csig_flows.DUMP)
        for number, data in enumerate(csig_flows.messages(sock)):
            found = dict(csig_flows.attributes(data))
            shown.append(tuple(int.from_bytes(found[k], "little") for k in (3, 4)))
            if between and number == 5:
                between()
                between = None
    return shown


def walked(name, act):
    """Call act(). Return the number of entries that dumps passed meanwhile, and act()'s result."""
    before = counts(name, "csig").get("flows_walked", -1)
    result = act()
    return counts(name, "csig").get("flows_walked", -1) - before if before >= 0 else None, result


def until(condition, limit_s=200):
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(1)
    return condition()


def dumps():
    pairs = Pairs("full", PAIRS)
    tap.equal("a namespace with connections has two flows of each",
              counts("full", "csig")["flows"], 2 * PAIRS)
    tap.equal("a dump of an empty namespace passes no entry of another",
              walked("empty", lambda: dump("empty")), (0, []))
    passed, shown = walked("full", lambda: dump("full"))
    tap.claim("a dump shows every flow once, and passes each once",
              len(shown) == len(set(shown)) and set(shown) == pairs.ports() and
              passed == 2 * PAIRS, f"{len(shown)} shown, {passed} passed")

    def churn():
        pairs.close_some(3)
        pairs.open(50)
        time.sleep(5)

    opened = pairs.ports()
    shown = dump("full", churn)
    stayed = opened & pairs.ports()
    tap.claim("while flows come and go, a dump shows those that stay once",
              len(shown) == len(set(shown)) and stayed <= set(shown) and len(stayed) > PAIRS,
              f"{len(shown)} shown, {len(stayed)} stayed, {len(stayed - set(shown))} missing")
    abandoned()
    pairs.close()
    tap.claim("after that all flows of closed connections go",
              until(lambda: not counts("full", "csig")["flows"]))


def abandoned():
    """Dumps that are not read to their end."""
    for _ in range(20):
        with hosts.inside("full"):
            sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, csig_flows.NETLINK_GENERIC)
        with sock:
            sock.bind((0, 0))
            csig_flows.ask(sock, csig_flows.family(sock), csig_flows.FLOW_GET,
                           flags=csig_flows.DUMP)
            sock.recv(100)


def without(name):
    """Return True if flows of this namespace were refused, or half-open ones removed."""
    got = counts(name, "csig")
    return got["flows_evicted"] + got["flows_refused_max"] > 0


def caps():
    before = flows_max()
    tap.claim("all namespaces together have room for those of one, by default", before >= WIDE,
              f"{before}")
    flows_max(100)
    first, contained = Pairs("full", 20), Pairs("contained", 40)
    tap.equal("containers have half of flows_max together; connections beyond it go without",
              (counts("contained", "csig")["flows"], without("contained")), (50, True))
    first.open(40)
    tap.equal("all together have flows_max, and the first user namespace what is left",
              (counts("full", "csig")["flows"], without("full")), (50, True))
    contained.close()
    until(lambda: not counts("contained", "csig")["flows"])
    first.open(50)
    tap.equal("what containers leave is there for others", counts("full", "csig")["flows"], 100)
    first.close()
    until(lambda: not counts("full", "csig")["flows"])
    flows_max(before)


def limits(shell):
    """The sysctl values that the root of a user namespace can set."""
    def write(value, path):
        return not status(shell, f"echo {value} >{path}")

    knob, total = "/proc/sys/net/hopcc/flow_limit", flows_max()
    tap.equal("a container's root can lower its flow_limit and raise it to the default, no further",
              [write(value, knob) for value in (1000, FLOW_LIMIT_DEFAULT, FLOW_LIMIT_DEFAULT + 1, 2**32 - 1)],
              [True, True, False, False])
    sysctl("full", "hopcc/flow_limit", FLOW_LIMIT_DEFAULT + 1)
    with hosts.inside("full"), open(knob, encoding="ascii") as file:
        tap.equal("the root of the first user namespace can raise it", int(file.read()),
                  FLOW_LIMIT_DEFAULT + 1)
    sysctl("full", "hopcc/flow_limit", FLOW_LIMIT_DEFAULT)
    tap.equal("a container's root cannot set flows_max", (write(2 * total, FLOWS_MAX), flows_max()),
              (False, total))


def wire():
    hosts.ip(f"""
        link add wire0 netns empty type veth peer name wire1 netns full
        -n empty link set wire0 address {MAC['wire0']}
        -n full link set wire1 address {MAC['wire1']}
        -n empty link set wire0 up
        -n full link set wire1 up
        -n full addr add {hosts.B[4]}/32 dev wire1
        -n full route add blackhole 192.0.3.0/24""")
    sysctl("full", "hopcc/csig_ports", "*")


def flood(port):
    """Send SYNs from addresses that do not answer. Return the most flows of all namespaces."""
    attacker, most = csig_tag.Sniffer("empty", "wire0"), 0
    ends = "".join(MAC[dev] for dev in ("wire1", "wire0"))
    for n, frame in enumerate(csig_bulk.syns(bytes.fromhex(ends.replace(":", "")), port, SPOOFED)):
        attacker.put(frame)
        if n % 20 == 19:
            time.sleep(0.001)
            most = max(most, sum(counts(name, "csig")["flows"] for name in ("full", "contained")))
    attacker.close()
    return most


def spoofed():
    """Half-open entries of spoofed SYNs, where flows_max and not flow_limit is reached."""
    wire()
    before, other = flows_max(), Pairs("contained", 20)
    flows_max(100)
    listener = hosts.tcp("full", 4, "reno")
    listener.bind(("0.0.0.0", 0))
    listener.listen(SPOOFED)
    evicted = counts("full", "csig")["flows_evicted"]
    most, got = flood(listener.getsockname()[1]), counts("full", "csig")
    tap.claim(f"{SPOOFED} spoofed SYNs: flows_max holds, the oldest half-open entries make room",
              most <= 100 and got["flows_half_open"] == 60 and
              got["flows_evicted"] - evicted == SPOOFED - 60,
              f"{most} at most, {got['flows_half_open']} half-open, {got['flows_evicted'] - evicted} evicted")
    tap.equal("connections of another namespace keep their entries", counts("contained", "csig")["flows"], 40)
    real = Pairs("full", 10)
    tap.claim("connections that open meanwhile have entries, half-open ones make room",
              real.ports() <= set(dump("full")) and counts("full", "csig")["flows"] == 60)
    real.close()
    other.close()
    hosts.close(listener)
    tap.claim("all of them go", until(lambda: not counts("full", "csig")["flows"] and
                                      not counts("contained", "csig")["flows"]))
    flows_max(before)


def ended(keeper):
    """Namespaces that end with flows in them."""
    pairs = [Pairs(name, 100) for name in ("full", "contained")]
    other = Pairs("empty", 10)
    hosts.ip("netns del full\nnetns del contained")
    keeper.kill()
    keeper.wait()
    for p in pairs:
        p.close()
    # The kernel removes namespaces asynchronously.
    time.sleep(70)
    tap.equal("namespaces end with flows in them, and leave another's alone",
              counts("empty", "csig")["flows"], 20)
    flows_max(20)
    other.open(1)
    full = counts("empty", "csig")["flows"]
    flows_max(22)
    other.open(1)
    tap.equal("what they had is not counted any more",
              (full, counts("empty", "csig")["flows"]), (20, 22))
    other.close()


def main():
    hosts.build("full", "empty")
    keeper = contain("contained")
    for name in ("full", "empty", "contained"):
        speak(name)
    dumps()
    caps()
    limits(keeper)
    spoofed()
    before = flows_max()
    ended(keeper)
    flows_max(before)
    hosts.run("ip netns del empty")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
