#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`lab ns3` runs scenarios in ns-3, with sane results, and refuses what ns-3 has not."""
import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests/lib"))
sys.dont_write_bytecode = True

from tap import Tap  # noqa: E402

tap = Tap()
LAB = TOP / "tools/lab/lab"
# One Gbit/s: the payload of full segments with timestamps.
CEILING_MBIT = 941.5
LIMIT_S = 600


def ns3(*words):
    return subprocess.run([TOP / "selftests/lib/limit.py", str(LIMIT_S), LAB, "ns3", *words], capture_output=True,
                          text=True, check=False)


def measured(*words):
    done = ns3(*words, "--json")
    tap.claim(f"lab ns3 {' '.join(words)}: ends well", not done.returncode, done.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if not done.returncode else None


def see_long_flows():
    row = measured("dctcp-1g", "--only", "dctcp_ms")
    if row:
        share = 2 * row["goodput_mbit"]["long"] / CEILING_MBIT
        tap.claim("two long flows: the port is full, and a packet takes as long as in the lab",
                  0.99 <= share <= 1.001, f"{share:.4f} of the ceiling")


def see_incast():
    row = measured("dctcp-incast", "--only", "dctcp_ms-20")
    if row:
        whole = row["slowdown"][-1]
        tap.equal("incast: all of 10 x 20 answers end", (whole["flows"], whole["unfinished"]), (200, 0))
        tap.claim("incast: without a timeout", row["fct_max_ms"] < 1.1 * 8e3 / CEILING_MBIT, f"{row['fct_max_ms']} ms")
    row = measured("dctcp-incast", "--only", "reno-40")
    if row:
        tap.claim("incast of reno: a timeout, so that losses are real", row["fct_max_ms"] > 200,
                  f"{row['fct_max_ms']} ms")


def see_fabric():
    row = measured("fabric-small", "--only", "dctcp")
    if row:
        tap.equal("leaf-spine: as many transfers as in the lab, all end",
                  [(one["flows"], one["unfinished"]) for one in row["slowdown"]][-1], (704, 0))
        tap.claim("leaf-spine: a transfer in the middle takes little longer than alone",
                  1 <= row["slowdown"][-1]["p50"] < 1.5, f"{row['slowdown'][-1]['p50']}")


def see_refusals():
    for words, said in ((("hpccpp-single",), "not hpccpp"), (("dctcp-ipv6",), "no IPv6"),
                        (("dctcp-1g", "--only", "none"), "no case"), (("sceptic-mtu", "--only", "cubic"), "[[change]]")):
        done = ns3(*words)
        tap.claim(f"refused in one line: {' '.join(words)}",
                  done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr)


if subprocess.run(["pkg-config", "--exists", "ns3-internet"], check=False).returncode:
    print("1..0 # SKIP no ns-3: on Debian 12 run tools/setup/setup.sh matrix")
    sys.exit(0)
see_long_flows()
see_incast()
see_fabric()
see_refusals()
sys.exit(tap.done())
