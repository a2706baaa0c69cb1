#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hopstat against connections whose hop is known; prints TAP.

    a ---- [r-a] r [r-b: tbf 1gbit, csig: locator 4242, or int, or xcp] ---- b

Needs root; changes nothing outside its own network namespaces.
"""
import csv
import io
import json
import os
import subprocess
import sys
import time

import hosts
from hosts import A, B, close, connect, sysctl

HOPSTAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/hopstat/hopstat")
LM = 4242
TBF = "root handle 1: tbf rate 1gbit burst 64k limit 1mb"
CSIG = f"csig rate 1gbit lm all compact 42 lm all expanded {LM}"
OUT = "/tmp/hopstat"
tap = hosts.Tap()


def within(name):
    """Not by ip netns exec, which hides the kernel's tracing behind a /sys of its own."""
    return ["nsenter", f"--net=/run/netns/{name}"]


def hopstat(name, *words, check=True):
    done = subprocess.run([*within(name), HOPSTAT, *words], check=False,
                          capture_output=True, text=True)
    if check and done.returncode:
        print(f"# hopstat {' '.join(words)}: {done.returncode}: {done.stderr}")
    return done


def rows(name, *words):
    return [json.loads(line) for line in hopstat(name, *words).stdout.splitlines()]


def setup():
    hosts.build_path()
    hosts.run(f"tc -n r qdisc replace dev r-b {TBF}")
    hosts.run(f"tc -n r qdisc add dev r-b parent 1:1 handle 10: {CSIG}")
    for name in ("a", "r", "b"):
        sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
    sysctl("a", "hopcc/csig", 2)
    sysctl("a", "hopcc/csig_form", 2)
    sysctl("b", "hopcc/csig", 1)
    os.makedirs(OUT, exist_ok=True)


class Load:
    """Connections that always have something to send."""

    def __init__(self, *kinds):
        self.pairs = [connect(version, cc) for version, cc in kinds]

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for source, sink in self.pairs:
                try:
                    source.send(bytes(1 << 18))
                except BlockingIOError:
                    pass
                try:
                    while sink.recv(1 << 20):
                        pass
                except BlockingIOError:
                    pass
            time.sleep(1e-4)

    def close(self):
        for pair in self.pairs:
            close(*pair)


def see_lists(load):
    load.run(0.05)
    found = rows("a", "--json")
    flow = [r for r in found if r["what"] == "flow" and r["peer"].startswith(B[4])]
    tap.claim("a flow, its bottleneck by locator, and what the bottleneck says",
              len(flow) == 1 and flow[0]["system"] == "CSIG" and flow[0]["cc"] == "csig" and
              flow[0]["hop"] == LM and flow[0]["local"].startswith(A[4]) and
              flow[0]["used_ppm"] > 500000 and flow[0]["path"] == "proven", f"{flow}")
    tap.claim("IPv6", any(r["what"] == "flow" and r["peer"].startswith(f"[{B[6]}]:") and
                          r["hop"] == LM for r in found))
    port = [r for r in rows("r", "--json") if r["what"] == "port" and r["kind"] == "csig"]
    tap.claim("the port at r", len(port) == 1 and port[0]["dev"] == "r-b" and
              port[0]["handle"] == "10:" and port[0]["sent_pkts"] > 1000 and
              "rate_bytes_ps=125000000" in port[0]["detail"] and port[0]["used_ppm"] is not None,
              f"{port}")
    table = list(csv.DictReader(io.StringIO(hopstat("a", "--csv").stdout)))
    tap.claim("the flows as CSV", sorted(r["hop"] for r in table) == [str(LM)] * 2, f"{table}")


def tmux(*words):
    return subprocess.run(["tmux", "-S", f"{OUT}/tmux", *words], check=True, capture_output=True,
                          text=True).stdout


def see_screen(load):
    load.run(0.02)
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "30",
         f"nsenter --net=/run/netns/a {HOPSTAT} --interval 0.2; echo over; sleep 9")
    for _ in range(20):
        load.run(0.02)
        time.sleep(0.2)
        lines = tmux("capture-pane", "-p").splitlines()
        if any(str(LM) in line for line in lines):
            break
    print("".join(f"# {line}\n" for line in lines if line.strip()), end="")
    tap.claim("the screen: a heading, and a line a flow with its hop",
              lines[0].startswith("flows: 2   ports: 0") and lines[1].split()[:3] ==
              ["system", "cc", "local"] and sum(f" {LM} " in line for line in lines) == 2)
    tmux("send-keys", "q")
    time.sleep(0.5)
    tap.claim("q leaves it", "over" in tmux("capture-pane", "-p"))
    tmux("kill-server")


def see_export(load):
    text, lines = f"{OUT}/csig.prom", f"{OUT}/csig.jsonl"
    child = subprocess.Popen([*within("a"), HOPSTAT, "--interval", "0.1", "--count", "1",
                              "export", "--sample", "0.01", "--textfile", text, "--jsonl", lines])
    load.run(0.3)
    child.wait()
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        tap.claim("Prometheus' parser is here (python3-prometheus-client)", False)
        return
    with open(text, encoding="ascii") as file:
        samples = [s for f in text_string_to_metric_families(file.read()) for s in f.samples]
    ours = {(s.name, s.labels["prefix"]): s.value for s in samples if s.labels["locator"] == str(LM)}
    delay = ours.get(("hopcc_csig_hop_delay_seconds_mean", "198.51.100.0/24"), -1)
    worst = ours.get(("hopcc_csig_hop_delay_seconds_worst", "198.51.100.0/24"), -1)
    tap.claim("Prometheus' own parser reads it: by destination prefix and locator",
              0 < delay <= worst < 0.01 and ("hopcc_csig_hop_delay_seconds_mean",
                                             "2001:db8:2::/64") in ours, f"{ours}")
    tap.claim("the share that is free is one",
              0 <= ours.get(("hopcc_csig_available_ratio_worst", "198.51.100.0/24"), -1) <= 1)
    with open(lines, encoding="ascii") as file:
        found = [json.loads(line) for line in file]
    tap.claim("the same as JSON lines", any(r["signal"] == "hop_delay_seconds" and
                                            r["prefix"] == "198.51.100.0/24" and
                                            r["locator"] == LM and r["readings"] > 0 and
                                            abs(r["mean"] - delay) < 1e-9 for r in found),
              f"{len(found)} lines")


def see_probes():
    server = subprocess.Popen([*within("b"), HOPSTAT, "answer"])
    time.sleep(1)
    found = rows("a", "trace", "--json", B[4])
    tap.claim("trace: each signal of an idle path, and its hop where it wrote one",
              {r["signal"]: r["hop"] for r in found if r["signal"] != "pd_ns"} ==
              {"abw_kbit_ps": LM, "abw_c_ppm": LM} and all(r["lost"] == 0 for r in found) and
              any(r["signal"] == "abw_kbit_ps" and r["value"] > 900000 for r in found), f"{found}")
    found = rows("a", "mesh", "--json", B[4], B[6], "192.0.2.99")
    tap.claim("mesh: each host, and the one that is not there",
              {r["host"] for r in found if r["hop"] == LM} == {B[4], B[6]} and
              [r["signal"][:11] for r in found if r["host"] == "192.0.2.99"] == ["unreachable"],
              f"{[(r['host'], r['signal']) for r in found]}")
    server.terminate()
    server.wait()
    done = hopstat("a", "trace", B[4], check=False)
    tap.claim("nobody answers: exit 1", done.returncode == 1, done.stdout)


def see_other(kind, cc, handle, options, wanted):
    hosts.run(f"tc -n r qdisc replace dev r-b parent 1:1 handle {handle}: {kind} {options}")
    load = Load((4, cc))
    load.run(0.2)
    watch = subprocess.Popen([*within("a"), HOPSTAT, "--json"],
                             stdout=subprocess.PIPE, text=True)
    load.run(0.5)
    found = [json.loads(line) for line in watch.communicate()[0].splitlines()]
    flow = [r for r in found if r["what"] == "flow" and r["cc"] == cc]
    tap.claim(f"{wanted['system']}: a flow, and what is known of its path",
              len(flow) == 1 and all(flow[0][k] == v for k, v in wanted.items()) and
              flow[0]["rate_bit_ps"] > 1e7, f"{flow}")
    load.close()
    return flow


def main():
    setup()
    load = Load((4, "csig"), (6, "csig"))
    see_lists(load)
    see_screen(load)
    see_export(load)
    load.close()
    see_probes()
    flow = see_other("int", "hpccpp", 20, "rate 1gbit switch_id 1", dict(system="INT", hop=1))
    tap.claim("INT: what is used", bool(flow) and flow[0]["used_ppm"] > 300000)
    see_other("xcp", "xcp", 30, "rate 1gbit", dict(system="XCP", hop=None))
    return tap.done()


sys.exit(main())
