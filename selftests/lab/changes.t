#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What [[change]] does to links and routes while traffic runs; tables of results.

    h1, h2 -- l1 ==s1, s2== l2 -- r1, r2

s1:l2 goes down; routing notices 10 ms later; both come back.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.path.insert(0, f"{TOP}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import changes, pages, scenario, topology  # noqa: E402
from hoplab.batches import link_seed  # noqa: E402
from hoplab.schema import Change  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()

SPINES = """
title = "a spine loses a link, and gets it back"
[run]
duration = "700ms"
[network]
hosts = ["h[1-2]", "r[1-2]"]
switches = ["l1", "l2", "s1", "s2"]
sysctl = { "net.ipv4.tcp_syn_retries" = 2 }
[[link]]
a = ["h1", "h2"]
b = "l1"
rate = "1gbit"
delay = "10us"
[[link]]
a = ["r1", "r2"]
b = "l2"
rate = "1gbit"
delay = "10us"
[[link]]
a = ["l1", "l2"]
b = ["s1", "s2"]
rate = "1gbit"
delay = "10us"
queue = "bfifo limit 200k"
[[route]]
from = "h1"
to = "r1"
options = "congctl reno"
[[change]]
at = "100ms"
a = "s1"
b = "l2"
up = false
[[change]]
at = "110ms"
a = "s1"
b = "l2"
routed = false
[[change]]
at = "400ms"
a = "s1"
b = "l2"
up = true
[[change]]
at = "410ms"
a = "s1"
b = "l2"
routed = true
[[flow]]
name = "long"
from = ["h1", "h2"]
to = ["r1", "r2"]
parallel = 4
family = FAMILY
[[flow]]
name = "late"
from = "h1"
to = "r1"
start = "420ms"
bytes = 20000
family = FAMILY
[sample]
ports = ["l1:s1", "s1:l2", "l1:s2"]
queue = "100us"
goodput = "1ms"
"""

SPINES_CLAIMS = (
    ("both spines are used", "min(load('l1:s1'), load('l1:s2'))", ("10ms", "100ms"), lambda v: v > 0.2),
    ("a port that is down sends nothing", "load('s1:l2')", ("101ms", "400ms"), lambda v: v == 0),
    ("and its queue is empty", "queue_max('s1:l2')", ("101ms", "400ms"), lambda v: v == 0),
    ("until routing knows, packets go there", "load('l1:s1')", ("100ms", "110ms"), lambda v: v > 0),
    # But what IPv6 sends its neighbours, at random times: 194 bytes, were seen.
    ("then no data does", "load('l1:s1')", ("111ms", "399ms"), lambda v: v < 0.00002),
    ("and the other path is full", "load('l1:s2')", ("320ms", "400ms"), lambda v: v > 0.9),
    ("when it is back, both spines are used", "load('s1:l2')", ("450ms", "700ms"), lambda v: v > 0.2),
    ("routes have their options again", "cc_share('reno', 'late')", None, lambda v: v == 1),
)

FLAP = """
title = "a host's link goes down for 10 ms"
[run]
duration = "600ms"
[network]
hosts = ["h1", "r1"]
switches = ["s1"]
[[link]]
a = "h1"
b = "s1"
rate = "100Mbit"
delay = "10us"
queue_a = "pfifo limit 1000"
[[link]]
a = "s1"
b = "r1"
rate = "1gbit"
delay = "10us"
queue_a = "bfifo limit 1m"
[[change]]
at = "50ms"
a = "h1"
b = "s1"
up = false
[[change]]
at = "60ms"
a = "h1"
b = "s1"
up = true
[[change]]
at = "560ms"
a = ["s1", "h1"]
b = ["r1", "s1"]
pairwise = true
queue_a = "bfifo limit {= 10 * 1500 / 2}"
[[flow]]
name = "one"
from = "h1"
to = "r1"
cc = "cubic"
verify = true
family = FAMILY
[sample]
ports = ["h1:s1", "s1:r1"]
queue = "100us"
goodput = "1ms"
[[column]]
title = "queue"
metric = "queue_mean"
window = ["0s", "50ms"]
digits = 1
[[column]]
title = "again at 90 Mbit/s"
metric = "recovery(90mbit)"
window = ["60ms", "600ms"]
show = "time"
"""

FLAP_CLAIMS = (
    ("there is a queue", "queue_mean('h1:s1')", ("10ms", "50ms"), lambda v: v > 10),
    ("down, it is gone and nothing is sent", "queue_max('h1:s1') + load('h1:s1')", ("50100us", "60ms"), lambda v: v == 0),
    ("up again, data arrives", "goodput / 94mbit", ("350ms", "600ms"), lambda v: v > 0.8),
    ("another queue has another limit", "queue_max('h1:s1')", ("570ms", "600ms"), lambda v: 1 <= v <= 5),
    ("recovery() is finite and not nothing", "recovery(90mbit)", ("60ms", "600ms"), lambda v: 0.001 < v < 0.4),
    ("nothing is corrupt", "corrupt", None, lambda v: v == 0),
)


def claims_text(claims):
    """Bounds that always hold: the values that they measure are checked here."""
    return "".join(f'[[claim]]\nmetric = "{metric}"\nmin = 0\nmax = 1e12\n'
                   + (f"window = {json.dumps(list(window))}\n" if window else "")
                   for _, metric, window, _ in claims)


def run(folder, name, text, claims, family):
    file = folder / f"{name}{family}.toml"
    file.write_text(text.replace("FAMILY", str(family)) + claims_text(claims))
    done = subprocess.run([TOP / "tools/lab/lab", "run", file, "--json", "--out", folder],
                          capture_output=True, text=True, check=False)
    try:
        measured = [c["measured"] for c in json.loads(done.stdout)["claims"]]
    except ValueError:
        measured = []
    for (what, metric, window, good), values in zip(claims, measured or [[]] * len(claims)):
        tap.result(bool(values) and values[0] is not None and good(values[0]), f"{name}, IPv{family}: {what}",
                   f"{metric} in {window}: {values}" + ("" if measured else f"\n{done.stderr}"))
    return file


def to_hosts(case, batches):
    """Nodes that change a route to a host's subnet, not to a link between switches only."""
    net = topology.build(case)
    subnets = [topology.address(net, host).rsplit(".", 1)[0] + ".0/24" for host in case.network.hosts]
    return sorted(node for node, lines in batches if any(f" {subnet} " in line for line in lines for subnet in subnets))


def test_plan(folder):
    """The plan alone: nodes that a change does not concern are left alone."""
    file = folder / "plan.toml"
    file.write_text(SPINES.replace("FAMILY", "4"))
    case = scenario.load(str(file)).cases[0]
    plan, batches = changes.change_plan(topology.build(case))
    said = {}
    for line in plan:
        at_ns, _, _, node, *rest = line.split()
        said.setdefault(int(at_ns) // 10**6, []).append((node, batches.get(rest[-1], rest)))
    tap.equal("down: both ends' devices", said[100],
              [("s1", ["link", "set", "dev", "l2", "down"]), ("l2", ["link", "set", "dev", "s1", "down"])])
    # l2 has its other way since its own port is down.
    tap.equal("routing: nodes whose next hops to hosts are others, and they only", to_hosts(case, said[110]), ["l1", "s1"])
    lines = dict(said[110])["l1"]
    tap.result(not any("nexthop" in line for line in lines), "one way is left of two", "\n".join(lines))
    back = dict(said[400])
    tap.result(set(back) == {"s1", "l2"} and all(lines[0].endswith("up") for lines in back.values()),
               "up: devices, addresses and neighbours of both ends", str(back))
    port = topology.build(case).ports["s1:l2"]
    change = Change(at=0, a=["s1"], b=["l2"], loss=0.5, reorder=0.1)
    words = list(changes.change_words(port, change, 3))
    tap.result(len(words) == 1 and "qdisc change dev l2 root" in words[0] and
               words[0].endswith(f"link loss 0.5 reorder 0.1 seed {link_seed(port, 3)}"),
               "loss and reordering of a link, by seed", str(words))
    tap.equal("routing: and back", to_hosts(case, said[410]), ["l1", "l2", "s1"])


def test_table(folder, file):
    """Figures of a page are replaced, its words and other tables stay."""
    found = scenario.load(str(file))
    lines = pages.lines(found, folder)
    tap.result(lines[0] == "| | queue | again at 90 Mbit/s |" and len(lines) == 3 and
               lines[2].startswith("| `all` | ") and lines[2].endswith("ms |"), "a table has a row a case", "\n".join(lines))
    page = folder / "page.md"
    page.write_text(f"words\n\n<!-- lab table {found.name} -->\nold\n<!-- end -->\n\n"
                    "<!-- lab table other -->\nold\n<!-- end -->\n")
    command = [TOP / "tools/lab/lab", "table", file, "--out", folder, "--page", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    want = (f"words\n\n<!-- lab table {found.name} -->\n" + "".join(f"{x}\n" for x in lines) + "<!-- end -->\n\n"
            "<!-- lab table other -->\nold\n<!-- end -->\n")
    tap.equal("lab table --page", page.read_text(), want)
    page.write_text("words\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tap.result(done.returncode == 2 and found.name in done.stderr, "a page without the place is refused", done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test_plan(folder)
        for family in (4, 6):
            run(folder, "spines", SPINES, SPINES_CLAIMS, family)
            file = run(folder, "flap", FLAP, FLAP_CLAIMS, family)
        test_table(folder, file)
    return tap.done()


sys.exit(main())
