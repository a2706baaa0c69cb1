#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The shape of the C source: no body above 60 lines (80 where netlink is
parsed or dumped), a median of 12 and a 90th percentile of 40 at most; kernel versions in compat.h only;
a licence line in every source; one scheme of include guards; no circle of calls between the files of a module;
one definition of each type; its module's prefix before the name of each function, also of a static one, since a
stack trace, perf and ftrace show nothing else."""

import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
from circles import reachable
from tap import Tap

WALL, NETLINK_WALL, MEDIAN, P90 = 60, 80, 12, 40
FOLDERS = ("include", "hop_core", "sch_", "net_", "tcp_", "tools", "selftests")
MODULES = ("hop_core", "sch_", "net_", "tcp_")
HEAD = re.compile(r"^(?!static\b)[a-z][\w \t*]*?\b(\w+)\([^;{}]*?\)\n\{", re.M)
DEFINITION = re.compile(r"^[a-z][\w \t*]*?[ *](\w+)\([^;{}]*?\)(?:\s*__\w+(?:\([^)]*\))?)*\n\{", re.M)
# bpf_ is that of kfuncs in every module, hpcc_ that of the law in hop_core that three modules call.
PREFIXES = {"hop_core": "hop", "net_csig_tag": "ctag", "net_int": "nint", "net_tlm": "ntlm",
            "net_xcp": "nxcp", "sch_csig": "scsig", "sch_int": "sint", "sch_wred": "wred", "sch_xcp": "sxcp",
            "tcp_csig": "tcsig", "tcp_dctcp_ms": "dctcp", "tcp_hpccpp": "hpccpp", "tcp_ldcp": "ldcp", "tcp_xcp": "txcp"}
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
TAG = re.compile(r"\bstruct\s+\w+")
TYPE = re.compile(r"^[\t ]*(?:static |const )*((?:struct|union|enum) \w+)(?: __\w+)* ?\{", re.M)
VERSION_TEST = re.compile(r"LINUX_VERSION_CODE|KERNEL_VERSION\s*\(|\bKV\s*\(")


def sources(suffixes):
    for top in sorted(os.listdir(".")):
        if not top.startswith(FOLDERS) or not os.path.isdir(top):
            continue
        for folder, subfolders, names in os.walk(top):
            subfolders.sort()
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.join(folder, name)


def functions(text):
    """(name, body lines) of each function: kernel style puts its braces in
    column 0, and nothing else's opening one alone on a line."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            head = " ".join(lines[max(0, start - 5):start])
            names = re.findall(r"(\w+)\s*\(", head.rsplit(";", 1)[-1])
            yield names[0] if names else "?", number - start - 1
            start = None


def circles(texts):
    """The groups of files, of {name: text}, that use each other's functions in a circle."""
    code = {name: TAG.sub("", NO_CODE.sub("", text)) for name, text in texts.items()}
    home = {head: name for name, text in code.items() for head in HEAD.findall(text)}
    graph = {name: {home[word] for word in set(re.findall(r"\w+", text)) if word in home} - {name}
             for name, text in code.items()}
    reach = {name: reachable(graph, name) for name in graph}
    return {" ".join(sorted(other for other in reach[name] if name in reach[other]))
            for name in reach if name in reach[name]}


def without_prefix(module, text):
    return [name for name in DEFINITION.findall(text)
            if not name.startswith((PREFIXES[module] + "_", "bpf_", "hpcc_"))]


def all_without_prefix():
    for path in sources((".c", ".h")):
        module = path.split("/")[0]
        if module in PREFIXES and not path.endswith("_test.c") and "/q_" not in path:
            with open(path, encoding="utf-8") as file:
                yield from (f"{path}: {name}()" for name in without_prefix(module, file.read()))


def all_circles():
    found = set()
    for top in sorted(os.listdir(".")):
        if top.startswith(MODULES) and os.path.isdir(top):
            texts = {}
            for name in os.listdir(top):
                if name.endswith(".c") and not name.endswith("_test.c"):
                    with open(os.path.join(top, name), encoding="utf-8") as file:
                        texts[name] = file.read()
            found |= {f"{top}: {group}" for group in circles(texts)}
    return found


def types_with_two_homes(texts):
    """Complaints about types that several files, of {path: text}, define. Unit tests are programs of their own."""
    homes = {}
    for path, text in texts.items():
        if path.startswith((*MODULES, "include/", "tools/tc/")) and not path.endswith("_test.c"):
            for name in TYPE.findall(NO_CODE.sub("", text)):
                homes.setdefault(name, []).append(path)
    return [f"{name}: {' '.join(paths)}" for name, paths in homes.items() if len(paths) > 1]


def guard(path):
    """The include guard of a header: its path below include/ or the top."""
    name = re.sub(r"^(include/(uapi/linux/|uapi/hopcc/|hopcc/)?)", lambda m: "uapi/" if "uapi" in m[1] else "", path)
    return "HOPCC_" + re.sub(r"\W", "_", name).upper()


def percentile(values, percent):
    """The least value that percent of all do not exceed."""
    rank = -(-len(values) * percent // 100)
    return sorted(values)[max(rank, 1) - 1] if values else 0


def is_netlink(name):
    return re.search(r"parse|dump|change|print|policy", name) is not None


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    long_ones, versions, unlicensed, guards, lengths, texts = [], [], [], [], [], {}
    for path in sources((".c", ".h")):
        with open(path, encoding="utf-8") as file:
            text = texts[path] = file.read()
        if "SPDX-License-Identifier: GPL-2.0" not in text[:200]:
            unlicensed.append(path)
        if not path.startswith("include/compat/") and VERSION_TEST.search(text):
            versions.append(path)
        if path.endswith(".h") and "/shim/" not in path and not path.endswith("trace.h") and \
                not text.rstrip().endswith(f"#endif /* {guard(path)} */"):
            guards.append(f"{path}: its guard is not {guard(path)}")
        for name, length in functions(text):
            lengths.append(length)
            if length > (NETLINK_WALL if is_netlink(name) else WALL):
                long_ones.append(f"{path}: {name}() has {length} lines")
    median = statistics.median(lengths) if lengths else 0
    p90 = percentile(lengths, 90)
    checks = [
        (f"no function body above {WALL} lines, {NETLINK_WALL} for netlink", long_ones),
        (f"the median body has {median} lines of {MEDIAN} at most",
         [] if median <= MEDIAN else ["split what is long"]),
        (f"nine bodies of ten have {p90} lines or less, of {P90} at most",
         [] if p90 <= P90 else ["split what is long"]),
        ("kernel versions are known to compat.h only", versions),
        ("every source names its licence", unlicensed),
        ("the include guard of every header is made from its path", guards),
        (f"there are sources: {len(lengths)} functions",
         [] if lengths else ["none found: is this the checkout?"]),
    ]
    checks += [
        ("each function of a module has the module's prefix", list(all_without_prefix())),
        ("a function without it is found",
         [] if without_prefix("net_xcp", "static bool nxcp_a(void)\n{\n}\n\nstatic struct b *receive(int a,\n\t\t"
                              "int b)\n{\n}\n") == ["receive"] else ["not found"]),
        ("no files of a module call each other in a circle",
         sorted(all_circles())),
        ("a circle of two files is found",
         [] if circles({"a.c": "void a(void)\n{\n\tb();\n}\n",
                        "b.c": "void b(void)\n{\n\ta();\n}\n"}) == {"a.c b.c"}
         else ["not found"]),
        ("each type is defined once", types_with_two_homes(texts)),
        ("a type that two modules define is found",
         [] if types_with_two_homes({"net_a/a.h": "struct a {\n};\nenum b {\n};\n", "sch_b/b.c": "struct a {\n};\n",
                                     "sch_b/c.c": "struct a *f(void)\n{\n}\n"}) == ["struct a: net_a/a.h sch_b/b.c"]
         else ["not found"]),
    ]
    tap = Tap()
    for claim, complaints in checks:
        tap.claim(claim, not complaints, "\n".join(complaints))
    return tap.done()


sys.exit(main())
