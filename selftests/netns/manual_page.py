# SPDX-License-Identifier: GPL-2.0
"""hopcc(7) against the modules: each sysctl with its range and default, each module parameter with its
default, and each counter; and none that does not exist. Part of sysctl_names.py."""
import errno
import os
import re

import hosts

PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../Documentation/man/hopcc.7")
SYSCTLS = "/proc/sys/net/hopcc"
MODULES = ("hop_core", "net_xcp", "net_int", "net_tlm", "net_csig_tag", "sch_wred", "sch_xcp", "sch_int", "sch_csig",
           "tcp_dctcp_ms", "tcp_ldcp", "tcp_xcp", "tcp_hpccpp", "tcp_csig")


def entries():
    """{heading: {subheading: {name: what is in brackets after it}}} of the page."""
    page, heading, sub, names = {}, "", "", False
    with open(PAGE, encoding="utf-8") as file:
        for line in file:
            words = line.split(None, 1)
            if words[0] in (".SH", ".SS"):
                heading, sub = (words[1].strip(), "") if words[0] == ".SH" else (heading, words[1].strip())
            elif names and words[0] in (".B", ".BR"):
                name, _, rest = words[1].strip().partition(" ")
                page.setdefault(heading, {}).setdefault(sub, {})[name] = rest.strip('"( )').replace("\\-", "-")
            names = words[0] == ".TP"
    return page


def read(path):
    with open(path, encoding="ascii") as file:
        return " ".join(file.read().split())


def accepts(name, value):
    """True if the sysctl takes the value, False if it refuses it with EINVAL; the default is back after it."""
    path = f"{SYSCTLS}/{name}"
    before = read(path)
    try:
        hosts.write(path, value)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return False
    hosts.write(path, before)
    return True


def range_faults(name, said):
    """What the sysctl takes or refuses against the page, which says "[N numbers, UNIT, each ]RANGE[ or RANGE]"."""
    match = re.search(r"(?:^|, |each )((?:\d+(?: to \d+)?(?: or )?)+), default", said)
    if not match:
        return []
    vector = re.match(r"(\d+) numbers", said)
    default = said.partition("default ")[2].split()
    faults, limits = [], [[int(n) for n in part.split(" to ")] for part in match[1].split(" or ")]
    for low, high in ((part[0], part[-1]) for part in limits):
        tries = [(low, True), (high, True)] + [
            (n, False) for n in (low - 1, high + 1) if not any(p[0] <= n <= p[-1] for p in limits)]
        for value, good in tries:
            text = " ".join([str(value), *default[1:]]) if vector else str(value)
            if accepts(name, text) != good:
                faults.append(f"{name}: {text} is {'refused' if good else 'accepted'}")
    return faults


def check_sysctls(tap, page):
    said = {name: text for part in page["SYSCTLS"].values() for name, text in part.items()}
    there = set(os.listdir(SYSCTLS))
    tap.equal("hopcc(7) has every sysctl, and no other", sorted(said), sorted(there))
    wrong = []
    for name in sorted(there & set(said)):
        default = said[name].partition("default ")[2]
        value = read(f"{SYSCTLS}/{name}")
        if value != ("" if default == "none" else default) and name != "csig_buckets":
            wrong.append(f"{name}: {value!r}, page {default!r}")
    tap.equal("with the default of each", wrong, [])
    tap.equal("and the range: its ends are accepted, the numbers beyond them refused",
              [fault for name in sorted(there & set(said)) for fault in range_faults(name, said[name])], [])


def check_parameters(tap, page):
    said = {(module, name): text for module, part in page["MODULE PARAMETERS"].items() for name, text in part.items()}
    there = {}
    for module in MODULES:
        folder = f"/sys/module/{module}/parameters"
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            there[module, name] = read(f"{folder}/{name}")
    tap.equal("hopcc(7) has every module parameter, and no other", sorted(said), sorted(there))
    # flows_max 0 was replaced by what the memory allows.
    tap.equal("with the default of each",
              [key for key in there if key in said and key[1] != "flows_max"
               and said[key].partition("default ")[2] != there[key]], [])


def check_counters(tap, page):
    parts = page["COUNTERS"]
    table = set(parts["All files: the table of connections"])
    for carrier in ("xcp", "int", "csig"):
        path = f"/proc/thread-self/net/hopcc_{carrier}"
        with open(path, encoding="ascii") as file:
            there = {line.split()[0] for line in file}
        tap.equal(f"hopcc(7) has every counter of hopcc_{carrier}, and no other",
                  sorted(table | set(parts[f"/proc/net/hopcc_{carrier}"])), sorted(there))


def check(tap):
    page = entries()
    check_sysctls(tap, page)
    check_parameters(tap, page)
    check_counters(tap, page)
