# SPDX-License-Identifier: GPL-2.0
"""hopcc-ports: the qdiscs of a port as a file describes them, the whole of it or nothing; and the
example of a switch. Part of sysctl_names.py."""
import json
import os
import subprocess
import tempfile

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
PORTS = f"{TOP}/tools/ports/hopcc-ports"
EXAMPLES = f"{TOP}/tools/ports/examples"
EXAMPLE = f"{EXAMPLES}/switch-ports"
CC = "net.ipv4.tcp_congestion_control"


def call(file, *words):
    done = subprocess.run([PORTS, *words], env={**os.environ, "HOPCC_PORTS": file}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def kinds(port):
    """The kinds of the port's qdiscs; not the default child of one, whose handle the kernel chooses."""
    out = subprocess.run(["tc", "-j", "qdisc", "show", "dev", port], stdout=subprocess.PIPE, check=True)
    return sorted(q["kind"] for q in json.loads(out.stdout) if 0 < int(q["handle"].rstrip(":"), 16) < 0x8000)


def check_example(tap):
    tap.equal("hopcc-ports: the ports of the example", call(EXAMPLE, "list"), (0, "eth1\neth2\neth3\n"))
    seen = {}
    for port, *wanted in (("eth1", "tbf", "wred"), ("eth2", "int", "tbf"), ("eth3", "drr", "pfifo", "xcp")):
        status, text = call(EXAMPLE, "start", port)
        seen[port] = (status, text, kinds(port) == wanted)
    tap.equal("hopcc-ports start: the port has the qdiscs of the example",
              seen, {port: (0, "", True) for port in seen})
    # A reload, and a port that came back.
    tap.equal("hopcc-ports start, again: the same",
              (call(EXAMPLE, "start", "eth1"), kinds("eth1")), ((0, ""), ["tbf", "wred"]))
    tap.equal("hopcc-ports stop: the port has its default again",
              (call(EXAMPLE, "stop", "eth1"), kinds("eth1")), ((0, ""), []))


def settings(suffix):
    """The lines of the examples whose name ends in suffix, without comments."""
    for name in sorted(os.listdir(EXAMPLES)):
        if name.endswith(suffix):
            with open(f"{EXAMPLES}/{name}", encoding="utf-8") as file:
                yield from (f"{name}: {line.strip()}" for line in file if not line.startswith("#"))


def check_settings(tap):
    """Another network namespace may not select a congestion control: it is enough that there is one."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        available = file.read().split()
    refused = []
    for line in settings("sysctl.conf"):
        key, _, value = line.partition(": ")[2].partition(" = ")
        if key == CC:
            refused += [line] * (value not in available)
        elif subprocess.run(["sysctl", "-qw", f"{key}={value}"], check=False).returncode:
            refused.append(line)
    tap.equal("the examples of sysctl.d: each setting is accepted", refused, [])
    tap.equal("the examples of modules-load.d: each module is there",
              [line for line in settings("modules.conf")
               if not os.path.isdir(f"/sys/module/{line.partition(': ')[2]}")], [])


def check_faults(tap, file):
    with open(file, "w", encoding="ascii") as out:
        out.write("# a comment\n\neth1 root handle 1: tbf rate 1gbit burst 5k limit 1mb # another one\n"
                  "eth1 parent 1: handle 10: wred limit 1mb ect min 9k max 8k\nlost root xcp rate 1gbit\n")
    status, text = call(file, "start", "eth1")
    last = text.splitlines()[-1]
    tap.equal("hopcc-ports: a line that fails is named, and the port has its default",
              (status, last, kinds("eth1")),
              (1, f"hopcc-ports: {file}, line 4: eth1 parent 1: handle 10: wred limit 1mb ect min 9k max 8k", []))
    tap.equal("hopcc-ports: a port that does not exist", call(file, "start", "lost"),
              (1, "hopcc-ports: there is no port lost\n"))
    tap.equal("hopcc-ports: a port that the file does not name", call(file, "start", "eth2"),
              (1, f"hopcc-ports: {file} has no line for port eth2\n"))
    tap.equal("hopcc-ports: a verb that does not exist", call(file, "restart", "eth1")[0], 2)


def check(tap):
    for port in ("eth1", "eth2", "eth3"):
        subprocess.run(["ip", "link", "add", port, "type", "dummy"], check=True)
    check_example(tap)
    check_settings(tap)
    with tempfile.NamedTemporaryFile() as file:
        check_faults(tap, file.name)
