#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A test turns each knob, or the knob is a constant. The sysctls are those of hopcc(7), which
netns/sysctl_names.t compares with the modules, and the options of the qdiscs are the attributes of
include/uapi: these are turned by a test, or a scenario, that has the name. A module parameter is turned
where a test loads the module with it, or writes to it.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from tap import Tap

FOLDERS = ("selftests/cost", "selftests/interfaces", "selftests/lab", "selftests/netns", "selftests/tdc",
           "selftests/vm", "tools/lab/scenarios")
# They write to all knobs alike, and do not look at what a knob is for.
GENERAL = ("sysctl_names.py", "manual_page.py", "user_namespace.py")


def sysctls(page):
    """The names of hopcc(7)'s sysctls."""
    found, heading, names = [], "", False
    for line in page.splitlines():
        words = line.split(None, 1)
        if words and words[0] == ".SH":
            heading = words[1]
        elif names and words and words[0] in (".B", ".BR") and heading == "SYSCTLS":
            found.append(words[1].split()[0])
        names = words == [".TP"]
    return found


def options(kind, header):
    """The options of a qdisc: its attributes, of nests, too, in lower case without their prefix."""
    names = re.findall(rf"^\tTCA_{kind.upper()}_(?:PROFILE_|SIGNAL_)?(\w+)", header, re.M)
    return [f"{kind} {name.lower()}" for name in names
            if not re.fullmatch(r"UNSPEC|PAD|UNUSED\w*|\w*_MAX", name)]


def parameters(module, source):
    """A module's parameters, as (module, name, can it be written when the module is loaded?)."""
    return [(module, name, int(mode, 8) & 0o222) for name, mode in
            re.findall(r"^module_param(?:_named)?\((\w+),.*, 0(\d+)\);", source, re.M)]


def loaded(parameter, texts):
    """True if a text loads the module with the parameter, or writes to its file."""
    module, name, is_writable = parameter
    patterns = [rf"(?:insmod|modprobe)\b[^\n;]*\b{module}\b[^\n;]*\b{name}=",
                rf"\bload\(\"{module}\",[^)]*\"{name}="]
    if is_writable:
        patterns.append(rf"/sys/module/{module}/parameters/{name}\b")
    return any(re.search(pattern, text) for pattern in patterns for text in texts)


def turned(knob, texts):
    """True if a text has the knob; that of a qdisc's option has the qdisc's kind, too."""
    words = [re.compile(rf"(?<!\w){word}(?!\w)") for word in knob.split()]
    return any(all(word.search(text) for word in words) for text in texts)


def tests():
    for top in FOLDERS:
        for folder, _, names in os.walk(top):
            for name in names:
                if name not in GENERAL and name.endswith((".py", ".sh", ".t", ".json", ".toml")):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        yield file.read()


def planted():
    page = ".SH SYSCTLS\n.TP\n.BR a_us \" (1)\"\nText.\n.TP\n.B b_us\n.SH COUNTERS\n.TP\n.B c\n"
    header = "enum {\n\tTCA_X_UNSPEC,\n\tTCA_X_RATE,\n\tTCA_X_LIMIT,\n\tTCA_X_UNUSED,\t/* was unused */\n\t__TCA_X_MAX,\n};\n"
    source = "".join(f"module_param_named({name}, m_{name}, ushort, 0{mode});\n" for name, mode in
                     (("protocol", 444), ("exid", 444), ("port", 444), ("most", 644), ("read", 444), ("other", 444)))
    knobs = sysctls(page) + options("x", header)
    texts = ["sysctl a_us=1", "tc qdisc add x rate 1 protocol 2 unused other", "y limit 1, b_us_2",
             "hosts.load(\"net_x\", \"port=1\", f\"exid={EXID}\"), hosts.load(\"net_y\", \"protocol=1\")",
             "/sys/module/net_x/parameters/most /sys/module/net_x/parameters/read", "insmod net_x other=1"]
    found = [knob for knob in knobs if not turned(knob, texts)]
    found += [knob[1] for knob in parameters("net_x", source) if not loaded(knob, texts)]
    return [] if found == ["b_us", "x limit", "protocol", "read"] else [f"{knobs}: {found}"]


def sources():
    """(module, text) of each source file of the modules."""
    for folder in sorted(os.listdir(".")):
        if folder.startswith(("hop_core", "net_", "sch_", "tcp_")):
            for name in sorted(os.listdir(folder)):
                if name.endswith(".c"):
                    with open(f"{folder}/{name}", encoding="utf-8") as file:
                        yield folder, file.read()


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    with open("Documentation/man/hopcc.7", encoding="utf-8") as file:
        knobs = sysctls(file.read())
    for name in sorted(os.listdir("include/uapi/linux")):
        if name.startswith("pkt_sched_"):
            with open(f"include/uapi/linux/{name}", encoding="utf-8") as file:
                knobs += options(name[len("pkt_sched_"):-2], file.read())
    found = [parameter for source in sources() for parameter in parameters(*source)]
    texts = list(tests())
    bare = {knob for knob in knobs if not turned(knob, texts)}
    never = [f"{module} {name}=" for module, name, mode in found if not loaded((module, name, mode), texts)]
    tap = Tap()
    tap.claim("a planted sysctl, option and module parameter without a test are found, and nothing else",
              not planted(), "\n".join(planted()))
    tap.claim(f"a test turns each of {len(knobs)} sysctls and options", len(knobs) > 100 and not bare,
              "\n".join(sorted(bare)))
    tap.claim(f"a test gives each of {len(found)} module parameters another value", len(found) > 5 and not never,
              "\n".join(never))
    return tap.done()


sys.exit(main())
