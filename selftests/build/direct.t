#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A congestion control calls its law directly: in the modules for Debian's kernel, whose compiler replaces each
indirect call by a thunk, only tracepoints and the handler of sysctls have one. A planted one is found."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
from tap import Tap

MODULES = ("tcp_dctcp_ms", "tcp_ldcp", "tcp_xcp", "tcp_hpccpp", "tcp_csig")
# Functions of the kernel's own macro for tracepoints, and of hop_sysctl.h.
ALLOWED = re.compile(r"__traceiter_\w+|hop_sysctl_handle")
THUNK = re.compile(r"__x86_indirect_thunk|\b(?:call|jmp)q? +\*")
PLANTED = """struct law { void (*ack)(int); };
void planted(const struct law *law) { law->ack(1); }
static void ack(int a) { __asm__ volatile("" : : "r"(a)); }
static const struct law constant = { ack };
static inline void frame(int a, const struct law *law) { law->ack(a); }
void direct(int a) { frame(a, &constant); }
"""


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def indirect(path):
    """Functions of an object file that have an indirect call or jump."""
    found, function = set(), ""
    for line in output("objdump", "-dr", "--no-show-raw-insn", path).splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:", line):
            function = match[1]
        elif THUNK.search(line) and not ALLOWED.fullmatch(function):
            found.add(function)
    return sorted(found)


def planted():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/planted.c", "w", encoding="ascii") as file:
            file.write(PLANTED)
        output("gcc", "-O2", "-mindirect-branch=thunk-extern", "-c", "-o", f"{folder}/planted.o", f"{folder}/planted.c")
        return indirect(f"{folder}/planted.o")


def main():
    os.chdir(os.path.join(HERE, "../.."))
    tap = Tap()
    tap.equal("a planted indirect call is found, and a constant law is called directly", planted(), ["planted"])
    headers = output("sh", "-c", '. selftests/build/build_lib.sh; headers_of 6.1', "selftests/build/direct.t").strip()
    if not headers:
        print("1..1")
        return 0
    output("selftests/build/built_modules.sh", "6.1", headers)
    for name in MODULES:
        tap.equal(f"{name} has no indirect call", indirect(f"build/linux-6.1/{name}/{name}.ko"), [])
    return tap.done()


sys.exit(main())
