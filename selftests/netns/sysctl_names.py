#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The names of the sysctls: a carrier's start with its signal, those of a congestion control with the
name of its module. Then the manual page against them, and qdiscs of ports by hopcc-ports. Prints TAP.

Needs root and all modules; changes nothing outside its own network namespace.
"""
import errno
import os
import subprocess
import sys
import time

import hosts
import manual_page
import qdisc_ports

tap = hosts.Tap()
DIRECTORY = "/proc/sys/net/hopcc"
# Sysctls of net_xcp, net_int and net_csig_tag, of the congestion controls, and of hop_core.
PREFIXES = ("xcp", "int", "csig", "tcp_dctcp_ms", "tcp_ldcp", "tcp_xcp", "tcp_hpccpp", "tcp_csig",
            "flow_limit")


def read(name):
    with open(f"{DIRECTORY}/{name}", encoding="ascii") as file:
        return file.read().strip()


def write(name, value):
    hosts.write(f"{DIRECTORY}/{name}", value)


def names():
    stray = sorted(name for name in os.listdir(DIRECTORY)
                   if not any(name == prefix or name.startswith(prefix + "_") for prefix in PREFIXES))
    tap.equal("each sysctl starts with the name of its carrier or congestion control", stray, [])


# A value that is refused, and what the kernel's log says may be typed.
REFUSED = (
    ("csig", "3", '"N", N from 0 to 2'), ("csig_weights", "1001 1 1", '"N N N", N from 0 to 1000'),
    ("xcp", "7", '"N", N from 0 to 2'), ("xcp_format", "2", "N, N 1 or 3"),
    ("int_slots", "99", '"N", N from 0 to 15'), ("int_key", "ab", "KEY, 32 hexadecimal digits, or nothing"),
    ("csig_rules", "to nowhere", '"to ADDRESS/BITS port N; udp", 16 rules at most'),
    ("csig_buckets", "pd 5 4", '"abw 1000000; abw_c pow2 32; pd appendix_a"'),
    ("tcp_csig_target_ns", "99", '"N", N from 100 to 1000000000'),
    ("tcp_csig_edges", "65536 1", '"N N N N", N from 0 to 65535'), ("tcp_csig_jump", "2", '"N", N from 0 to 1'),
    ("tcp_hpccpp_t_ns", "999", "N, N 0 or from 1000 to 1000000000"), ("tcp_xcp_loss", "9", '"N", N from 0 to 2'),
    ("tcp_ldcp_ack_pkts", "0", '"N", N from 1 to 2'), ("tcp_dctcp_ms_rtt_max_us", "-1", '"N", N from 0 to 10000000'),
    ("flow_limit", "x", '"N", N from 0 to 4194304'),
)


def log():
    """The lines of the kernel's log that explain refusals."""
    lines = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.partition("hopcc: value refused: ")[2] for line in lines if "hopcc: value refused: " in line]


def refuse(name, value):
    """Write a value in one system call, where a file would try again when it is closed; True if it is refused."""
    handle = os.open(f"{DIRECTORY}/{name}", os.O_WRONLY)
    try:
        os.write(handle, value.encode())
    except OSError as error:
        return error.errno == errno.EINVAL
    finally:
        os.close(handle)
    return False


def refusals():
    """One line for a refused value, ten in five seconds at most, none for what is taken or read."""
    for number, (name, value, words) in enumerate(REFUSED):
        if number % 10 == 9:
            time.sleep(6)
        before = log()
        refused = refuse(name, value)
        tap.equal(f"{name}: the kernel's log has what may be typed", (refused, log()[len(before):]),
                  (True, [f"sysctl net.hopcc.{name}={words}"]))
    before = log()
    write("csig", read("csig"))
    tap.equal("nothing for a value that is taken", log(), before)
    time.sleep(6)
    for _ in range(100):
        refuse("csig", "3")
    tap.equal("100 refusals at once: 10 lines", len(log()) - len(before), 10)
    time.sleep(6)


def main():
    hosts.build("a")
    with hosts.inside("a"):
        refusals()
        names()
        manual_page.check(tap)
        qdisc_ports.check(tap)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
