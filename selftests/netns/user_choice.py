#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What an unprivileged user may choose, and have loaded: congestion controls by setsockopt() and by the
namespace's sysctl, qdiscs by tc. First as user "nobody" in the initial namespaces, then as root of
a user and network namespace of its own. A script in place of modprobe notes what the kernel asks
for. The rules are the kernel's: the modules neither add to them nor take from them, as cubic and
pfifo show. Prints TAP.

Needs root and all congestion controls loaded.
"""
import json
import os
import subprocess
import sys

import hosts

OURS = ("ldcp", "xcp", "hpccpp", "csig")
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
MODPROBE = "/proc/sys/kernel/modprobe"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
OWN = (*NOBODY, "unshare", "-Urn")
ASKED = "/run/user-choice.asked"
HELPER = "/run/user-choice.sh"
EPERM, ENOENT = 1, 2

# Run as the user; prints {name: error} as JSON. argv: names of congestion controls.
SOCKETS = """
import json, socket, sys
errors = {}
for name in sys.argv[1:]:
    with socket.socket() as sock:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            errors[name] = 0
        except OSError as error:
            errors[name] = error.errno
print(json.dumps(errors))
"""
# argv: one name
DEFAULT = """
import sys
try:
    with open("/proc/sys/net/ipv4/tcp_congestion_control", "w") as file:
        file.write(sys.argv[1])
    print(0)
except OSError as error:
    print(error.errno)
"""

tap = hosts.Tap()


def python(user, code, *names):
    done = subprocess.run([*user, sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def asked():
    """Return the modules that the kernel has asked for since the last call."""
    with open(ASKED, "r+", encoding="ascii") as file:
        words = file.read().split()
        file.truncate(0)
    return [word for word in words if not word.startswith("-")]


def add_qdisc(user, kind):
    """Return True if tc succeeds on the loopback device."""
    return not subprocess.run([*user, "tc", "qdisc", "add", "dev", "lo", "root", kind],
                              capture_output=True, check=False).returncode


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def prepare():
    """Unload a congestion control and a qdisc, and note requests for modules."""
    subprocess.run(["rmmod", "tcp_dctcp_ms"], check=True)
    subprocess.run(["rmmod", "sch_wred"], check=True)
    write(ASKED, "")
    os.chmod(ASKED, 0o666)
    write(HELPER, f"#!/bin/sh\necho \"$@\" >>{ASKED}\n")
    os.chmod(HELPER, 0o755)
    write(ALLOWED, "reno cubic")
    write(MODPROBE, HELPER)
    asked()


def congestion_controls():
    """Who may choose which one."""
    names = ("cubic", *OURS)
    tap.equal("nobody chooses what is allowed, nothing else", python(NOBODY, SOCKETS, *names),
              {"cubic": 0} | dict.fromkeys(OURS, EPERM))
    tap.equal("root of a namespace chooses each one that is loaded", python(OWN, SOCKETS, *names),
              dict.fromkeys(names, 0))
    tap.equal("and sets the namespace's default to what is allowed", python(OWN, DEFAULT, "cubic"), 0)
    for name in OURS:
        tap.equal(f"but not to {name}", python(OWN, DEFAULT, name), EPERM)
    tap.equal("no module was asked for", asked(), [])


def loads():
    """What they make the kernel load."""
    for what, user in (("nobody", NOBODY), ("root of a namespace", OWN)):
        tap.equal(f"{what}: congestion controls that are not loaded do not exist",
                  python(user, SOCKETS, "dctcp_ms", "nothing"), {"dctcp_ms": ENOENT, "nothing": ENOENT})
        tap.equal(f"{what}: and no module is asked for", asked(), [])
    for kind in ("wred", "nothing"):
        tap.claim(f"nobody: no qdisc {kind}", not add_qdisc(NOBODY, kind))
        tap.equal("and no module is asked for", asked(), [])
        tap.claim(f"root of a namespace: no qdisc {kind} without its module", not add_qdisc(OWN, kind))
        tap.claim("but the kernel asks for it, whatever its name is",
                  {word.removeprefix("net-").replace("-", "_") for word in asked()} == {f"sch_{kind}"})


def main():
    # The guest ends with the test, so nothing is set back.
    prepare()
    congestion_controls()
    loads()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
