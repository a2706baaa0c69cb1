#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A test turns each knob, or the knob is a constant. The sysctls and module parameters are those of
hopcc(7), which netns/sysctl_names.t compares with the modules; the options of the qdiscs are the
attributes of include/uapi. A knob is turned by a test, or a scenario, that has its name.
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


def manual_knobs(page):
    """The names of hopcc(7)'s sysctls and module parameters."""
    found, heading, names = [], "", False
    for line in page.splitlines():
        words = line.split(None, 1)
        if words and words[0] == ".SH":
            heading = words[1]
        elif names and words and words[0] in (".B", ".BR") and heading in ("SYSCTLS", "MODULE PARAMETERS"):
            found.append(words[1].split()[0])
        names = words == [".TP"]
    return found


def options(kind, header):
    """The options of a qdisc: its attributes, of nests, too, in lower case without their prefix."""
    names = re.findall(rf"^\tTCA_{kind.upper()}_(?:PROFILE_|SIGNAL_)?(\w+)", header, re.M)
    return [f"{kind} {name.lower()}" for name in names if not re.fullmatch(r"UNSPEC|PAD|\w*_MAX", name)]


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
    header = "enum {\n\tTCA_X_UNSPEC,\n\tTCA_X_RATE,\n\tTCA_X_LIMIT,\n\t__TCA_X_MAX,\n};\n"
    knobs = manual_knobs(page) + options("x", header)
    texts = ["sysctl a_us=1", "tc qdisc add x rate 1", "y limit 1, b_us_2"]
    found = [knob for knob in knobs if not turned(knob, texts)]
    return [] if found == ["b_us", "x limit"] else [f"{knobs}: {found}"]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    with open("Documentation/man/hopcc.7", encoding="utf-8") as file:
        knobs = manual_knobs(file.read())
    for name in sorted(os.listdir("include/uapi/linux")):
        if name.startswith("pkt_sched_"):
            with open(f"include/uapi/linux/{name}", encoding="utf-8") as file:
                knobs += options(name[len("pkt_sched_"):-2], file.read())
    texts = list(tests())
    bare = {knob for knob in knobs if not turned(knob, texts)}
    tap = Tap()
    tap.claim("a planted sysctl and a planted option without a test are found, and nothing else", not planted(),
              "\n".join(planted()))
    tap.claim(f"a test turns each of {len(knobs)} knobs", len(knobs) > 100 and not bare, "\n".join(sorted(bare)))
    return tap.done()


sys.exit(main())
