#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hopstat doctor: each planted fault is named, with a command that mends it; prints TAP.

    a [a-r] ---- [r-a] r [r-b: tbf 500mbit, csig] ---- b

Needs root and nft; changes nothing outside its own network namespaces but the list of allowed
congestion controls, for as long as it runs.
"""
import contextlib
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

import hosts
from hosts import B, close, connect, run, sysctl
from xcp_firewall import nft

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/hopstat"))
from hopstat_lib import cli  # noqa: E402

HOPSTAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/hopstat/hopstat")
PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Documentation")
UDP_SEGMENT = 103
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
PORTS = "a-r r-a r-b b-r"
TBF = "tbf rate 500mbit burst 64k limit 1mb"
CSIG = "csig rate 500mbit overhead 24"
# Four packet times are 98 us.
TARGET_NS = 100000
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-B"]
tap = hosts.Tap()

DROP_ECT = """
table inet lossy {
	chain forward {
		type filter hook forward priority 0; policy accept;
		ip ecn != not-ect drop
	}
}
"""


def within(name):
    return ["nsenter", f"--net=/run/netns/{name}"]


class Load:
    """Connections from a to b that always have something to send, while doctor looks."""

    def __init__(self, *kinds, **options):
        self.pairs = [connect(version, cc, **options) for version, cc in kinds]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for pair in self.pairs:
            close(*pair)
        time.sleep(0.1)

    def step(self):
        for source, sink in self.pairs:
            with contextlib.suppress(BlockingIOError):
                source.send(bytes(1 << 18))
            with contextlib.suppress(BlockingIOError):
                while sink.recv(1 << 20):
                    pass
        time.sleep(5e-4)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()


class Datagrams:
    """Datagrams from a to b that a rule tags without negotiation."""

    def __init__(self, size, to=B[4]):
        with hosts.inside("a"):
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.data, self.to = bytes(size), to

    def step(self):
        with contextlib.suppress(OSError):
            self.sock.sendto(self.data, (self.to, 7000))
        time.sleep(1e-3)


def forked(name, words, files):
    """hopstat in a namespace, in a child of this process: to start Python and to import it takes most of its time."""
    child = os.fork()
    if child:
        return child
    status = 2
    try:
        for file, standard in zip(files, (1, 2)):
            os.dup2(file.fileno(), standard)
        sys.argv = ["hopstat", *words]
        with hosts.inside(name):
            status = cli.main()
        sys.stdout.flush()
    except SystemExit as end:
        status = end.code
    finally:
        os._exit(status)


def hopstat(name, *words, load=None):
    """(exit status, output, errors)"""
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child, status = forked(name, words, (out, errors)), None
        while status is None:
            ended, state = os.waitpid(child, os.WNOHANG if load else 0)
            if ended:
                status = os.waitstatus_to_exitcode(state)
            else:
                load.step()
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read())
    return status, *texts


def doctor(name, *words, load=None, by=()):
    """(exit status, findings, text); by: words before the command"""
    if by:
        child = subprocess.Popen([*within(name), *by, HOPSTAT, "doctor", *words], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while load and child.poll() is None:
            load.step()
        text, said = child.communicate()
        status = child.returncode
    else:
        status, text, said = hopstat(name, "doctor", *words, load=load)
    rows = [json.loads(line) for line in text.splitlines()] if "--json" in words else []
    return status, rows, text + said


def finds(name, what, *wanted, words=(), load=None, by=()):
    """wanted: (check, where, part of the cause) of all findings. Return: their commands."""
    status, rows, text = doctor(name, "--json", *words, load=load, by=by)
    found = [(r["check"], r["where"]) for r in rows]
    tap.claim(f"{what}: " + (", ".join(w[0] for w in wanted) or "nothing found"),
              found == [w[:2] for w in wanted] and status == bool(wanted) and
              all(w[2] in r["cause"] for w, r in zip(wanted, rows)), f"{status}, {text}")
    # One for each that is wanted, so that the test goes on after a claim that failed.
    return ([r["command"] for r in rows] + [""] * len(wanted))[:len(wanted)]


def obey(name, commands):
    """Run what doctor says, in a namespace."""
    for command in commands:
        subprocess.run([*within(name), "sh", "-c", command], check=True)


def path_queue(*qdiscs):
    """Queues of r's port to b, each below the one before."""
    run("tc -n r qdisc del dev r-b root", check=False)
    for i, qdisc in enumerate(qdiscs):
        parent = f"parent {i}0:1" if i else "root"
        run(f"tc -n r qdisc add dev r-b {parent} handle {i + 1}0: {qdisc}")


def explains(wanted, what, verdict, load, status=1):
    """The verdict of hopstat why about a connection; return its row."""
    ended, text, said = hopstat("a", "why", "--json", wanted, load=load)
    rows = [json.loads(line) for line in text.splitlines()]
    tap.claim(f"why: {what}", len(rows) == 1 and verdict in rows[0]["verdict"] and
              ended == status, f"{ended}, {text}{said}")
    return rows[0] if rows else dict(facts={}, findings=[])


def recipe(page, heading, name, **names):
    """Run the first commands below a heading of a page, as written, but for the names of devices. The guest has all
    modules loaded."""
    with open(os.path.join(PAGES, page), encoding="utf-8") as file:
        part = file.read().split(f"\n## {heading}\n")[1]
    lines = itertools.takewhile(lambda line: not line or line.startswith("    "),
                                itertools.dropwhile(lambda line: not line.startswith("    "), part.splitlines()))
    text = "modprobe() { :; }\n" + "\n".join(lines)
    for written, meant in names.items():
        text = text.replace(written.replace("_", "="), meant)
    done = subprocess.run([*within(name), "sh", "-e", "-c", text], check=False, capture_output=True, text=True)
    tap.equal(f"{page}, {heading}, on {name}: the commands work, without a warning", (done.returncode, done.stderr), (0, ""))


def path_of():
    """What a's carrier knows of the path after a transfer by csig: path, and the hop."""
    with Load((4, "csig")) as load:
        load.run(1)
        rows = [json.loads(line) for line in hopstat("a", "--json", load=load)[1].splitlines()]
    return [(row["path"], row["hop"]) for row in rows if row["what"] == "flow"]


def allowed_list():
    with open(ALLOWED, encoding="ascii") as file:
        return file.read()


def see_recipe():
    """The how-to of CSIG on a router and hosts with defaults; without csig_ports the router strips."""
    allowed = allowed_list()
    hosts.write(ALLOWED, "reno cubic csig")
    recipe("howto/csig.md", "3. Hosts: the congestion control", "a", eth0="a-r")
    recipe("howto/csig.md", "3. Hosts: the congestion control", "b", eth0="b-r", csig_2="csig=1")
    tap.equal("a router with defaults strips tags", path_of(), [("stripped", None)])
    recipe("howto/csig.md", "1. Switches: every port", "r", eth0="r-b", eth1="r-a")
    sysctl("a", "hopcc/csig_retry_s", 1)
    time.sleep(2)
    tap.equal("by the recipe it does not, and its port is the hop", path_of(), [("proven", 17)])
    for name in "ab":
        sysctl(name, "ipv4/tcp_congestion_control", "cubic")
    sysctl("a", "hopcc/csig_form", 1)
    sysctl("a", "hopcc/csig_retry_s", 10)
    hosts.write(ALLOWED, allowed)


def see_page():
    """The recipes of tcp_csig's page: a queue of its own on a router's port, and the sysctls for paths."""
    path_queue()
    recipe("reference/tcp_csig.md", "A queue of its own", "r", eth0="r-b")
    shown = subprocess.run("tc -n r qdisc show dev r-b".split(), check=True, capture_output=True, text=True).stdout
    tap.claim("the port has a queue for each flow below sch_csig", re.search(r"qdisc csig 1: root", shown) and
              re.search(r"qdisc fq_codel \w+: parent 1:1 .*target (499|500)us interval 10ms", shown), shown)
    path_queue(TBF, CSIG)
    names = ("hopcc/tcp_csig_move_rounds", "hopcc/tcp_csig_edges")
    before = [read("a", name) for name in names]
    run("tc -n r qdisc replace dev r-b parent 10:1 handle 20: csig rate 500mbit lm all expanded "
        "stage:4,orientation:2,port:10")
    recipe("reference/tcp_csig.md", "Choice of paths", "a")
    tap.equal("a's choice of paths is that of the page", [read("a", name).split() for name in names],
              [["1"], ["6144", "64512", "1024", "64512"]])
    for name, value in zip(names, before):
        sysctl("a", name, value)
    path_queue(TBF, CSIG)


def read(name, knob):
    with hosts.inside(name), open(f"/proc/sys/net/{knob}", encoding="ascii") as file:
        return file.read().strip()


def see_namespace():
    """README's two lines for other namespaces; a list that names a module which is not loaded is refused as a whole."""
    with open(os.path.join(PAGES, "../README.md"), encoding="utf-8") as file:
        allow, select = re.findall(r"^ +sudo (sysctl net.ipv4.tcp_allowed.*|ip netns exec h1 .*)$", file.read(), re.M)
    allowed = allowed_list()
    done = subprocess.run(["sh", "-e", "-c", f"{allow}\n{select.replace(' h1 ', ' a ')}"], check=False,
                          capture_output=True, text=True)
    tap.equal("README: a namespace selects a congestion control that is loaded and allowed",
              (done.returncode, read("a", "ipv4/tcp_congestion_control")), (0, "hpccpp"))
    sysctl("a", "ipv4/tcp_congestion_control", "cubic")
    hosts.write(ALLOWED, allowed)
    run("rmmod tcp_dctcp_ms")
    allowed = allowed_list()
    done = subprocess.run(["sh", "-c", allow], check=False, capture_output=True, text=True)
    left = allowed_list()
    tap.claim("README: with one that is not loaded the list is refused as a whole",
              "No such file" in done.stderr and left == allowed, f"{done}, {left}")


def see_parts():
    """A port with csig needs no name below a VLAN device or a bridge that csig_ports names."""
    finds("r", "a port that csig_ports names")
    run("ip -n r link add link r-b name r-b.5 type vlan id 5")
    sysctl("r", "hopcc/csig_ports", "r-a r-b.5")
    finds("r", "a port below a VLAN device that csig_ports names")
    sysctl("r", "hopcc/csig_ports", "r-a")
    finds("r", "a port below one that it does not name", ("ports", "r-b", "does not name the device"))
    run("ip -n r link del r-b.5")
    run("ip -n r link add br0 type bridge")
    run("ip -n r link set r-b master br0")
    finds("r", "a port of a bridge")
    run("ip -n r link del br0")
    sysctl("r", "hopcc/csig_ports", PORTS)


class Openings:
    """Connections by xcp from a to b, one after the other, each with some data."""

    def __init__(self):
        self.server = hosts.tcp("b", 4)
        self.server.bind((B[4], 7003))
        self.server.listen()
        self.server.setblocking(False)

    def step(self):
        sock = hosts.tcp("a", 4)
        with contextlib.suppress(BlockingIOError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"xcp")
            sock.setblocking(False)
            sock.connect((B[4], 7003))
        with contextlib.closing(sock), contextlib.suppress(BlockingIOError):
            time.sleep(2e-3)
            sock.send(bytes(10000))
            time.sleep(5e-3)


def see_filtered():
    """A filter below the device with the address: headers stay in place."""
    run("ip -n b link add br0 type bridge")
    run("ip -n b link set b-r master br0")
    run("ip -n b addr add 198.51.100.1/24 dev br0")
    run("ip -n b link set br0 up")
    run("ip -n b route replace default via 198.51.100.2 dev br0")
    run("tc -n b qdisc add dev b-r clsact")
    run("tc -n b filter add dev b-r ingress protocol ip flower ip_proto tcp dst_port 9 action drop")
    sysctl("a", "hopcc/xcp_unsupported_s", 0)
    load = Openings()
    finds("b", "a filter below the device with the address", ("hidden", "xcp", "has not seen TCP"), load=load)
    run("tc -n b qdisc del dev b-r clsact")
    finds("b", "no filter", load=load)
    load.server.close()
    sysctl("a", "hopcc/xcp_unsupported_s", 60)
    run("ip -n b link del br0")
    run("ip -n b addr replace 198.51.100.1/24 dev b-r")
    run("ip -n b route replace default via 198.51.100.2 dev b-r")
    time.sleep(1)


def see_missed():
    """A filter on egress would miss TCP below a header: packets leave without one."""
    run("tc -n a qdisc add dev a-r clsact")
    run("tc -n a filter add dev a-r egress protocol ip flower ip_proto tcp dst_port 9 action drop")
    load = Openings()
    finds("a", "a filter behind the carriers", ("hidden", "xcp", "would not see TCP"), load=load)
    run("tc -n a qdisc del dev a-r clsact")
    finds("a", "no filter", load=load)
    load.server.close()


def see_segmented():
    """GSO datagrams in a tunnel whose outer packets have tags, by a device that is no veth."""
    run("modprobe vxlan")
    run("ip -n a link add d0 type dummy")
    run("ip -n a addr add 203.0.113.1/24 dev d0")
    run("ip -n a link set d0 up")
    run("ip -n a neigh add 203.0.113.9 lladdr 02:00:00:00:00:09 dev d0")
    run("ip -n a link add t0 type vxlan id 7 dstport 4789 local 203.0.113.1 remote 203.0.113.9 dev d0")
    run("ip -n a addr add 203.0.114.1/24 dev t0")
    run("ip -n a link set t0 up")
    run("ip -n a neigh add 203.0.114.9 lladdr 02:00:00:00:01:09 dev t0")
    sysctl("a", "hopcc/csig_ports", PORTS + " d0 t0")
    sysctl("a", "hopcc/csig_rules", "udp to 203.0.114.9 port 7000")
    load = Datagrams(10000, "203.0.114.9")
    load.sock.setsockopt(socket.SOL_UDP, UDP_SEGMENT, 1000)
    finds("a", "GSO packets with tags in a tunnel", ("segmented", "csig", "they enter a tunnel"), load=load)
    sysctl("a", "hopcc/csig_rules", "\n")
    sysctl("a", "hopcc/csig_ports", PORTS)
    run("ip -n a link del t0")
    run("ip -n a link del d0")


def see_speed():
    """A device whose speed changes to one without a code."""
    run("ip -n r tuntap add dev tap0 mode tap")
    run("ip -n r link set tap0 up")
    run("tc -n r qdisc add dev tap0 root int")
    hosts.set_speed("r", "tap0", 7000)
    run("ip -n r link set tap0 down")
    run("ip -n r link set tap0 up")
    found = [row for row in doctor("r", "--json")[1] if row["check"] == "speed"]
    tap.claim("a port whose speed has no code: speed", [row["where"] for row in found] == ["tap0"], f"{found}")
    obey("r", [found[0]["command"].partition(",")[0].replace("SPEED", "10gbit") if found else "true"])
    tap.equal("it is mended", [row for row in doctor("r", "--json")[1] if row["check"] == "speed"], [])
    run("ip -n r link del tap0")


def setup():
    hosts.build_path()
    see_recipe()
    run("tc -n r qdisc del dev r-a root", check=False)
    run("tc -n r qdisc add dev r-a root handle 90: csig rate 500mbit overhead 24")
    for name in ("a", "r", "b"):
        sysctl(name, "hopcc/csig_ports", PORTS)
        sysctl(name, "hopcc/tcp_csig_target_ns", TARGET_NS)
        sysctl(name, "ipv4/tcp_ecn", 1)
    sysctl("a", "hopcc/csig", 2)
    sysctl("b", "hopcc/csig", 1)
    path_queue(TBF, CSIG)


def see_healthy():
    finds("a", "a host that uses none of ours")
    finds("r", "a switch")
    for version in (4, 6):
        with Load((version, "csig")) as load:
            load.run(0.3)
            finds("a", f"IPv{version}: a healthy flow of csig", load=load)
            if version == 4:
                row = explains(B[4], "a healthy flow of csig", "uses csig", load, status=0)
                tap.claim("its facts: selected by the program, device, carrier, path",
                          row["facts"].get("congestion control") == "csig, selected by the program or its "
                          "listener" and row["facts"].get("leaves by") == "a-r to the router 192.0.2.2" and
                          row["facts"].get("device trusted") == "yes" and
                          row["facts"].get("path") == "proven" and "used" in row["facts"], f"{row}")
    status, _, text = doctor("a")
    tap.equal("in words, exit 0", (status, text), (0, "nothing found\n"))
    path_queue()
    with Load((4, "xcp")) as load:
        load.run(0.1)
        finds("a", "a healthy flow of xcp", load=load)
    path_queue(TBF, CSIG)
    with Load((4, "dctcp_ms"), sink_cc="dctcp_ms") as load:
        load.run(0.1)
        finds("a", "a healthy flow of dctcp_ms", load=load)


def see_choice():
    allowed = allowed_list()
    hosts.write(ALLOWED, "reno cubic")
    command, = finds("a", "not allowed", ("allowed", "ldcp", "CAP_NET_ADMIN"), words=["ldcp"])
    tap.equal("the command keeps what is allowed", command,
              'sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic ldcp" '
              "in the initial network namespace")
    hosts.write(ALLOWED, "reno cubic ldcp csig")
    finds("a", "allowed", words=["ldcp"])
    sysctl("a", "ipv4/tcp_ecn", 2)
    obey("a", finds("a", "named, without ECN", ("ecn", "ldcp", "tcp_ecn is 2"), words=["ldcp"]))
    sysctl("a", "ipv4/tcp_ecn", 0)
    finds("a", "ECN is off, and nothing needs it")
    run("ip -n a route add 203.0.113.0/24 via 192.0.2.2 congctl dctcp_ms")
    obey("a", finds("a", "a route's, without ECN", ("ecn", "dctcp_ms", "tcp_ecn is 0")))
    finds("a", "a route's, with ECN")
    run("ip -n a route del 203.0.113.0/24")
    sysctl("a", "ipv4/tcp_congestion_control", "csig")
    finds("a", "csig is the default")
    sysctl("a", "hopcc/csig", 1)
    sysctl("a", "hopcc/csig_ports", "\n")
    found = finds("a", "its carrier answers only, and no port is trusted",
                  ("carrier", "csig", "net.hopcc.csig is 1"), ("ports", "csig", "names no device"))
    obey("a", (c.replace("DEVICE", "a-r") for c in found))
    finds("a", "both are mended")
    sysctl("a", "ipv4/tcp_congestion_control", "cubic")
    hosts.write(ALLOWED, allowed)


def see_servers():
    """A listener that was started before the sysctl, and one after it."""
    allowed = allowed_list()
    hosts.write(ALLOWED, "reno cubic dctcp_ms")
    early = hosts.tcp("b", 4)
    early.bind(("0.0.0.0", 7001))
    early.listen()
    sysctl("b", "ipv4/tcp_congestion_control", "dctcp_ms")
    late = hosts.tcp("b", 4)
    late.bind(("0.0.0.0", 7002))
    late.listen()
    command, = finds("b", "a server from before the sysctl",
                     ("servers", "port 7001", "started before net.ipv4.tcp_congestion_control was dctcp_ms"))
    tap.claim("the command names the program", command.startswith("restart python3"), command)
    close(early, late)
    sysctl("b", "ipv4/tcp_congestion_control", "cubic")
    hosts.write(ALLOWED, allowed)


def see_switch():
    """Faults of a switch's ports."""
    run("tc -n r qdisc del dev r-a root")
    obey("r", (c.replace("root csig", "root handle 90: csig rate 500mbit overhead 24") for c in
               finds("r", "a port without a queue of its own", ("qdisc", "r-a", "no sch_csig, unlike r-b"))))
    run("tc -n r qdisc change dev r-b parent 10:1 handle 20: csig rate 1gbit")
    command, = finds("r", "a rate above the shaper's", ("rate", "r-b", "assumes 1000mbit, but packets leave at 500mbit"))
    obey("r", [command])
    run("tc -n r qdisc change dev r-b parent 10:1 handle 20: csig rate 100mbit")
    with Load((4, "cubic")) as load:
        load.run(0.1)
        finds("r", "a rate below what leaves", ("rate", "r-b", "assumes 100mbit, but the port sends"), load=load)
    run("tc -n r qdisc change dev r-b parent 10:1 handle 20: csig rate 500mbit")
    finds("r", "all of them are mended")


def see_tags():
    """Faults of tags at the own port, and at a switch's ports."""
    run(f"tc -n a qdisc add dev a-r root handle 30: {CSIG}")
    sysctl("a", "hopcc/csig_quantum", "16000 1 128")
    obey("a", finds("a", "another quantum than the port's", ("domain", "a-r", "16000 1 128, the port's sch_csig has 8000")))
    run("tc -n a qdisc change dev a-r root handle 30: csig mode strip")
    with Load((4, "csig")) as load:
        load.run(0.3)
        obey("a", finds("a", "the own port strips", ("mode", "a-r", "removes the tags"), load=load))
    finds("a", "quantum and mode are mended")
    run("tc -n a qdisc del dev a-r root")
    sysctl("a", "hopcc/csig_rules", f"udp to {B[4]} port 7000")
    finds("a", "datagrams that leave no room for a tag", ("room", "csig", "no room"), load=Datagrams(1472))
    run("tc -n r qdisc del dev r-a root")
    sysctl("r", "hopcc/csig_ports", "r-b")
    commands = finds("r", "tags arrive at a port that is not trusted", ("qdisc", "r-a", "no sch_csig"),
                     ("fenced", "csig", "does not name"), load=Datagrams(100))
    obey("r", commands[1:])
    sysctl("a", "hopcc/csig_rules", "\n")
    sysctl("r", "hopcc/csig_ports", PORTS)
    run("tc -n r qdisc add dev r-a root handle 90: csig rate 500mbit overhead 24")


def see_carriers():
    for cc, knob in (("xcp", "xcp"), ("hpccpp", "int"), ("csig", "csig")):
        value = 1 if cc == "csig" else 0
        sysctl("a", "hopcc/" + knob, value)
        with Load((4, cc)) as load:
            load.run(0.2)
            obey("a", finds("a", f"a flow of {cc}, the carrier off",
                            ("carrier", cc, f"net.hopcc.{knob} is {value}"), load=load))


def see_ports():
    sysctl("a", "hopcc/csig_ports", "eth9")
    with Load((6, "csig")) as load:
        load.run(0.2)
        command, = finds("a", "a flow of csig by a port that is not trusted",
                         ("ports", "a-r", "does not name"), load=load)
    tap.equal("the command keeps what is trusted", command, 'sysctl net.hopcc.csig_ports="eth9 a-r"')
    obey("a", [command])
    sysctl("a", "hopcc/csig_ports", "*")
    with Load((4, "csig")) as load:
        load.run(0.2)
        finds("a", "all ports are trusted", load=load)
    sysctl("r", "hopcc/csig_ports", "r-a")
    obey("r", finds("r", "a switch whose sch_csig is on a port that is not trusted",
                    ("ports", "r-b", "does not name")))
    finds("r", "it is trusted")


def see_reno():
    with Load((4, "dctcp_ms")) as load:
        load.run(0.1)
        finds("a", "the listener needs no ECN", ("reno", f"dctcp_ms-reno to {B[4]}", "this host asked"),
              load=load)
        row = explains(B[4], "why it is Reno", "this connection is Reno because ECN was not negotiated", load)
        tap.claim("with the finding and its command", [f["check"] for f in row["findings"]] == ["reno"] and
                  row["facts"].get("ECN") == "not negotiated; net.ipv4.tcp_ecn is 1", f"{row}")
    sysctl("a", "ipv4/tcp_ecn", 2)
    with Load((4, "cubic"), sink_cc="dctcp_ms") as load:
        load.pairs[0][0].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp_ms")
        load.run(0.1)
        finds("a", "chosen after connect()", ("ecn", "dctcp_ms", "is 2"),
              ("reno", f"dctcp_ms-reno to {B[4]}", "selected after connect()"), load=load)
    sysctl("a", "ipv4/tcp_ecn", 1)
    with Load((4, "ldcp"), sink_cc="ldcp") as load:
        load.run(0.1)
        nft("r", DROP_ECT)
        load.run(4)
        nft("r", "flush ruleset")
        load.run(1)
        finds("a", "ECT is dropped", ("reno", f"ldcp-reno to {B[4]}", "timed out"), load=load)
    path_queue("netem loss 10% limit 1000")
    with Load((4, "xcp")) as load:
        load.run(1)
        command, = finds("a", "a loss", ("reno", f"xcp-reno to {B[4]}", "was lost"), load=load)
    tap.equal("a loss, and no peer without XCP", command, "sysctl net.hopcc.tcp_xcp_loss=2")
    path_queue()
    sysctl("b", "hopcc/xcp", 0)
    with Load((6, "xcp"), (6, "xcp")) as load:
        load.run(0.1)
        finds("a", "two flows, the peer's carrier off", ("reno", f"xcp-reno to {B[6]}",
              "protocol 63, and new connections do not ask it again for 60 s"), load=load)
    sysctl("b", "hopcc/xcp", 1)
    path_queue("netem loss 10% limit 1000")
    with Load((4, "xcp")) as load:
        load.run(1)
        finds("a", "a loss, and a peer without XCP was met",
              ("reno", f"xcp-reno to {B[4]}", f"is 0) or {B[4]}, or a device"), load=load)
    path_queue(TBF)
    with Load((4, "hpccpp")) as load:
        load.run(0.5)
        finds("a", "no hop writes telemetry", ("reno", f"hpccpp-reno to {B[4]}", "no hop writes"), load=load)


def see_guard():
    """A port that reports, and behind it one that does not and drops."""
    run("tc -n a qdisc replace dev a-r root handle 7: csig rate 10gbit overhead 24")
    path_queue("tbf rate 100mbit burst 16k limit 100k")
    with Load((4, "csig")) as load:
        load.run(1)
        finds("a", "a port behind does not report", ("guard", f"csig to {B[4]}", "a port behind a-r"), load=load)
        explains(B[4], "the same", "behind a queue that no hop reports", load)
    tap.claim("it is counted", hosts.counts("a", "csig").get("path_guarded", 0) > 0)
    run("tc -n a qdisc replace dev a-r root handle 8: int rate 10gbit overhead 24 switch_id 1")
    with Load(*[(6, "hpccpp")] * 8) as load:
        load.run(1)
        finds("a", "the same with telemetry", ("guard", f"hpccpp to {B[6]}", "a port behind a-r"), load=load)
    run("tc -n a qdisc del dev a-r root")
    path_queue(TBF)


def see_path():
    with Load((4, "csig")) as load:
        load.run(0.5)
        finds("a", "no hop writes to tags", ("path", f"csig to {B[4]}", "no hop of the path"), load=load)
        finds("a", "the same without root", ("path", f"csig to {B[4]}", "only root"), load=load, by=NOBODY)
    path_queue(TBF, CSIG)
    sysctl("r", "hopcc/csig_ports", "\n")
    with Load((4, "csig")) as load:
        load.run(1)
        finds("a", "a router strips tags", ("path", f"csig to {B[4]}", "removes the tags"), load=load)
    sysctl("r", "hopcc/csig_ports", PORTS)
    sysctl("b", "hopcc/csig", 0)
    with Load((6, "csig")) as load:
        load.run(0.5)
        finds("a", "the peer's carrier off", ("reno", f"csig-reno to {B[6]}", "did not answer"), load=load)
    sysctl("b", "hopcc/csig", 1)


def see_beside():
    """In one queue, at the own port and at a switch; then in queues of their own."""
    path_queue()
    run(f"tc -n a qdisc add dev a-r root handle 10: {TBF}")
    run(f"tc -n a qdisc add dev a-r parent 10:1 handle 20: {CSIG}")
    with Load((4, "csig"), (4, "cubic")) as load:
        load.run(1)
        commands = finds("a", "one queue at the own port", ("beside", "a-r", "with cubic"), load=load)
        tap.claim("the command names the port", commands and commands[0].startswith(
            "tc qdisc replace dev a-r parent 20:1 fq_codel"), f"{commands}")
        obey("a", commands)
        load.run(2)
        # fq_codel sends a GSO packet of 64 kB as a whole: csig's next packet waits for 1 ms.
        commands = finds("a", "a queue for each flow, with GSO packets of 64 kB", ("burst", "a-r", "of cubic"),
                         load=load)
        tap.equal("the command limits GSO packets to half of the target", commands,
                  ["ip link set dev a-r gso_max_segs 2"])
        obey("a", commands)
        load.run(2)
        finds("a", "a queue for each flow, with GSO packets of 3 kB", load=load)
    run("tc -n a qdisc del dev a-r root")
    path_queue(TBF, CSIG)
    with Load((4, "csig"), (4, "cubic")) as load:
        load.run(1)
        commands = finds("a", "one queue at a switch", ("beside", "a-r", "with cubic"), load=load)
        obey("r", (c.removeprefix("on the port that they share: ").replace("PORT", "r-b")
                   .replace("HANDLE", "20") for c in commands))
        load.run(2)
        finds("a", "a queue for each flow at the switch", load=load)


def see_words():
    sysctl("a", "hopcc/xcp", 0)
    status, _, text = doctor("a", "xcp")
    tap.equal("in words: the cause, and below it the command, exit 1", (status, text.splitlines()[-2:]),
              (1, ["carrier: xcp: net.hopcc.xcp is 0: connections open without the feedback of the "
                   "network's hops", "    sysctl net.hopcc.xcp=1"]))
    sysctl("a", "hopcc/xcp", 1)


# hopstat doctor with other files of the kernel's.
WITH_FILES = """
import sys
sys.path.insert(0, sys.argv[1])
from hopstat_lib import cli, host
host.MODULES_DIR, host.LOCKDOWN, host.SIG_ENFORCE = sys.argv[2:5]
sys.argv[1:] = ["doctor", "--json", "xcp"]
sys.exit(cli.main())
"""


def see_signatures():
    """tcp_xcp is installed and not loaded, and the kernel asks for a signature, or does not."""
    with tempfile.TemporaryDirectory() as folder:
        def plant(name, text):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            hosts.write(path, text)
            return path

        plant(f"{os.uname().release}/modules.dep", "updates/hopcc/tcp_xcp.ko:\n")
        free, locked = plant("free", "[none] integrity confidentiality"), plant("locked", "none [integrity] confidentiality")
        yes, no = plant("yes", "Y"), plant("no", "N")
        for lockdown, enforce, cause in ((locked, no, "(lockdown integrity, as with secure boot)"),
                                         (free, yes, "(module.sig_enforce)"), (free, no, "is not loaded")):
            done = subprocess.run([*within("a"), "/usr/bin/python3", "-B", "-c", WITH_FILES, os.path.dirname(HOPSTAT),
                                   folder, lockdown, enforce], check=False, capture_output=True, text=True)
            row = json.loads(done.stdout.splitlines()[0]) if done.stdout else dict(cause="", command="")
            tap.claim(f"installed, not loaded: {cause}", row["cause"].endswith(cause) and
                      ("mokutil" in row["command"]) == (cause[0] == "("), f"{row}{done.stderr}")


def see_module():
    """Last: the lab's guest loads modules by their files."""
    with hosts.inside("a"), open("/proc/sys/net/ipv4/tcp_available_congestion_control",
                                 encoding="ascii") as file:
        loaded = file.read().split()
    names = {"dctcp_ms", "ldcp", "xcp", "hpccpp", "csig"}
    tap.claim("all modules are loaded", names <= set(loaded), f"{loaded}")
    see_namespace()
    for name in sorted(names):
        module = "tcp_" + name
        if os.path.exists("/sys/module/" + module):
            run("rmmod " + module)
        command, = finds("a", f"{name}: not loaded", ("module", name, "not loaded"), words=[name])
        tap.claim(f"{name}: the command names its module", command.endswith("modprobe " + module), command)
    done = subprocess.run([*within("a"), HOPSTAT, "trace", B[4]], check=False, capture_output=True, text=True)
    tap.equal("hopstat trace without tcp_csig says what to type", (done.returncode, done.stderr), (
        2, "hopstat: the congestion control csig is not loaded: modprobe tcp_csig, or another --cc\n"))
    see_signatures()
    run("rmmod net_csig_tag")
    path_queue()
    run("tc -n r qdisc replace dev r-b root csig rate 500mbit")
    command, = finds("r", "a router without the carrier", ("router", "r-a, r-b", "net_csig_tag is not loaded"))
    tap.claim("the command names its ports", command ==
              'modprobe net_csig_tag; sysctl net.hopcc.csig_ports="r-a r-b"', command)


def main():
    setup()
    see_page()
    see_healthy()
    see_choice()
    see_servers()
    see_switch()
    see_tags()
    see_parts()
    see_segmented()
    see_speed()
    see_carriers()
    see_ports()
    see_reno()
    see_guard()
    see_path()
    see_beside()
    see_filtered()
    see_missed()
    see_words()
    see_module()
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
