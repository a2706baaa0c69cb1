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


def during(load, seconds, *names):
    """Return the list that hopstat prints in these namespaces while there is load."""
    watch = [subprocess.Popen([*within(name), HOPSTAT, "--json"], stdout=subprocess.PIPE, text=True)
             for name in names]
    load.run(seconds)
    return [json.loads(line) for one in watch for line in one.communicate()[0].splitlines()]


def see_lists(load):
    load.run(0.05)
    found = during(load, 0.4, "a")
    flow = [r for r in found if r["what"] == "flow" and r["peer"].startswith(B[4])]
    tap.claim("a flow, its bottleneck by locator, and what the bottleneck says",
              len(flow) == 1 and flow[0]["system"] == "CSIG" and flow[0]["cc"] == "csig" and
              flow[0]["hop"] == LM and flow[0]["local"].startswith(A[4]) and
              flow[0]["used_ppm"] > 500000 and flow[0]["path"] == "proven", f"{flow}")
    tap.claim("the rate is what is acknowledged, all flows together what the port carries",
              0.5e9 < sum(r["rate_bit_ps"] for r in found if r["what"] == "flow") < 1e9)
    tap.claim("IPv6", any(r["what"] == "flow" and r["peer"].startswith(f"[{B[6]}]:") and
                          r["hop"] == LM for r in found))
    port = [r for r in during(load, 0.4, "r") if r["what"] == "port" and r["kind"] == "csig"]
    tap.claim("the port at r", len(port) == 1 and port[0]["dev"] == "r-b" and
              port[0]["handle"] == "10:" and port[0]["sent_pkts"] > 1000 and
              port[0]["rate_bit_ps"] == 1000000000 and port[0]["used_ppm"] > 500000 and
              port[0]["detail"]["rate_bytes_ps"] == 125000000 and port[0]["delay_ns"] is not None,
              f"{port}")
    table = list(csv.DictReader(io.StringIO(hopstat("a", "--csv").stdout)))
    tap.claim("the flows as CSV", sorted(r["hop"] for r in table) == [str(LM)] * 2, f"{table}")


def tmux(*words):
    return subprocess.run(["tmux", "-S", f"{OUT}/tmux", *words], check=True, capture_output=True,
                          text=True).stdout


def screen(name, load, wanted, size="140x30", keys=()):
    """Return the screens of hopstat in a terminal, once all wanted words are there, and after each key."""
    columns, lines = size.split("x")
    tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", lines,
         f"nsenter --net=/run/netns/{name} {HOPSTAT} --interval 0.2; echo over; sleep 9")
    for _ in range(20):
        load.run(0.02)
        time.sleep(0.2)
        shown = [tmux("capture-pane", "-p")]
        if all(word in shown[0] for word in wanted):
            break
    for key in keys:
        tmux("send-keys", key)
        load.run(0.02)
        time.sleep(0.5)
        shown.append(tmux("capture-pane", "-p"))
    tmux("kill-server")
    # hopstat answers before it has ended, and programs take no time: the next session would meet it.
    time.sleep(0.1)
    for text in shown:
        print("".join(f"# {line}\n" for line in text.splitlines() if line.strip()), end="")
    return [text.splitlines() for text in shown]


def columns_of(lines, first):
    """The heading that starts with this word, and the lines under it, by where its words end."""
    at = next(i for i, line in enumerate(lines) if line.startswith(first))
    return lines[at], [line for line in lines[at + 1:] if line.strip()]


def see_screen(load):
    now, explained, over = screen("a", load, [f" {LM} "], keys=("h", "q"), size="80x24")
    heading, below = columns_of(now, "system")
    ours = [line for line in below if f" {LM} " in line]
    tap.claim("the screen: a heading, and a line a flow with its hop",
              now[0].startswith("flows: 2   ports: 0") and heading.split()[:4] ==
              ["system", "peer", "hop", "used"] and len(ours) == 2)
    ends = [heading.index(word) + len(word) for word in ("hop", "used", "delay", "free", "rate")]
    tap.claim("its columns end where their headings end",
              all(line[end - 1] != " " and line[end:end + 2] == "  " for line in ours
                  for end in ends), f"{ends}")
    tap.claim("without ports it says so", any("no queue of sch_csig" in line for line in now))
    tap.claim("h explains the columns", any(line.endswith("XCP names none") for line in explained) and
              any("not known" in line for line in explained))
    tap.claim("q leaves it", "over" in "\n".join(over))
    ports = screen("r", load, ["10:"])[0]
    heading, below = columns_of(ports, "dev")
    tap.claim("a switch: its port, its rate, load and queue, and that it has no flows",
              any("no flow of csig" in line for line in ports) and
              heading.split()[:7] == ["dev", "kind", "handle", "rate", "used", "backlog", "delay"]
              and below[0].split()[:4] == ["r-b", "csig", "10:", "1G"] and "free" in below[0])


def see_export(load):
    text, lines = f"{OUT}/csig.prom", f"{OUT}/csig.jsonl"
    # csig alone leaves no queue most of the time, and then r-b's delay is not the largest: cubic fills it.
    load.pairs.append(connect(4, "cubic"))
    load.run(0.1)
    child = subprocess.Popen([*within("a"), HOPSTAT, "export", "--interval", "0.1", "--count",
                              "1", "--sample", "0.01", "--textfile", text, "--jsonl", lines])
    load.run(0.3)
    child.wait()
    close(*load.pairs.pop())
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
    done = subprocess.run([*within("a"), HOPSTAT], check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    tap.claim("no terminal: one line, exit 2", done.returncode == 2 and
              done.stderr.count("\n") == 1 and "--json" in done.stderr, done.stderr)


def see_other(kind, cc, handle, options, wanted):
    """Flows of another system; and its port, by its own qdisc, in a terminal too."""
    hosts.run(f"tc -n r qdisc replace dev r-b parent 1:1 handle {handle}: {kind} {options}")
    hosts.run(f"tc -n r qdisc replace dev r-b parent {handle}:1 handle 99: wred limit 400000 "
              "ect min 60000 max 60000 prob 1")
    load = Load((4, cc))
    load.run(0.2)
    found = during(load, 0.6, "a", "r")
    flow = [r for r in found if r["what"] == "flow" and r["cc"] == cc]
    tap.claim(f"{wanted['system']}: a flow, and what is known of its path",
              len(flow) == 1 and all(flow[0][k] == v for k, v in wanted.items()) and
              flow[0]["rate_bit_ps"] > 1e7 and flow[0]["delay_ns"] is not None, f"{flow}")
    port = {r["kind"]: r for r in found if r["what"] == "port"}
    tap.claim(f"its port: rate, load and queue, by sch_{kind} and by the sch_wred below it",
              set(port) == {kind, "wred"} and all(r["rate_bit_ps"] == 1000000000 and
                                                  100000 < r["used_ppm"] < 1100000 and
                                                  r["delay_ns"] == r["backlog_bytes"] * 8
                                                  for r in port.values()), f"{port}")
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
    flow = see_other("xcp", "xcp", 30, "rate 1gbit min_interval 1ms", dict(system="XCP", hop=None))
    tap.claim("XCP: what its routers change, and how much of what it may have it has",
              bool(flow) and flow[0]["feedback_bit_ps"] is not None and
              100000 < flow[0]["used_ppm"] < 3000000 and
              flow[0]["free_kbit_ps"] == max(0, flow[0]["feedback_bit_ps"]) // 1000, f"{flow}")
    return tap.done()


sys.exit(main())
