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
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import hosts
from hosts import A, B, close, connect, sysctl

EXPORTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/hopstat/hopcc-exporter")
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
    # The used part is that of one interval, in which csig may just have cut its window: the median of five.
    looks = [[r for r in during(load, 0.4, "r") if r["what"] == "port" and r["kind"] == "csig"] for _ in range(5)]
    port = looks[0]
    tap.claim("the port at r", len(port) == 1 and port[0]["dev"] == "r-b" and
              port[0]["handle"] == "10:" and port[0]["sent_pkts"] > 1000 and
              port[0]["rate_bit_ps"] == 1000000000 and sorted(look[0]["used_ppm"] for look in looks)[2] > 500000 and
              port[0]["detail"]["rate_bytes_ps"] == 125000000 and
              port[0]["says"]["longest_delay_ns"] > 0 and port[0]["delay_ns"] is not None,
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
    lines = f"{OUT}/csig.jsonl"
    child = subprocess.Popen([*within("a"), HOPSTAT, "export", "--interval", "0.5", "--count",
                              "1", "--sample", "0.01", "--jsonl", lines])
    load.run(0.8)
    child.wait()
    with open(lines, encoding="ascii") as file:
        found = [json.loads(line) for line in file]
    tap.claim("signals as JSON lines: by destination prefix and locator",
              any(r["signal"] == "hop_delay_seconds" and r["prefix"] == "198.51.100.0/24" and
                  r["locator"] == LM and r["readings"] > 0 and 0 <= r["mean"] <= r["worst"] < 0.01 for r in found),
              f"{found}")


class Exporter:
    """hopcc-exporter in a namespace, over HTTP."""

    def __init__(self, name, *words):
        self.name = name
        self.child = subprocess.Popen([*within(name), EXPORTER, "--sample", "0.02", *words])
        time.sleep(1)

    def text(self):
        with hosts.inside(self.name), urllib.request.urlopen("http://127.0.0.1:14353/metrics") as answer:
            return answer.read().decode()

    def scrape(self):
        """Return {(name, {label values}): value}, by Prometheus' own parser."""
        return {(s.name, frozenset(s.labels.values())): s.value
                for f in text_string_to_metric_families(self.text()) for s in f.samples}

    def close(self):
        self.child.terminate()
        self.child.wait()


def between(first, last, name, labels):
    """Return how much a summary's count and sum grew between two scrapes."""
    return [last.get((name + end, labels), 0) - first.get((name + end, labels), 0) for end in ("_count", "_sum")]


def see_exporter(load, promtool):
    """A queue that is there at none of the scrapes: csig alone leaves none, cubic fills it for 0.2 s."""
    host, switch = Exporter("a"), Exporter("r", "--worst", "2")
    load.run(0.1)
    first = [host.scrape(), switch.scrape()]
    load.pairs.append(connect(4, "cubic"))
    load.run(0.2)
    close(*load.pairs.pop())
    load.run(0.3)
    middle = [host.scrape(), switch.scrape()]
    load.run(0.3)
    last = [host.scrape(), switch.scrape()]
    port = frozenset(("r-b", "csig", "10:"))
    counts, sums = zip(*(between(one[1], two[1], "hopcc_port_delay_seconds", port)
                         for one, two in ((first, middle), (middle, last), (first, last))))
    tap.claim("the exporter adds up: two scrapes have what each of them has", counts[0] + counts[1] == counts[2] and
              abs(sums[0] + sums[1] - sums[2]) < 1e-9 and min(counts) > 5, f"{counts} {sums}")
    most = last[1].get(("hopcc_port_delay_seconds_max", port), -1)
    tap.claim("a queue of 0.2 s before the scrapes is in the maximum and in the mean", 0.0005 < most < 0.1 and
              most / 50 < sums[0] / counts[0] < most, f"{most} {sums[0] / counts[0]}")
    signal = frozenset(("198.51.100.0/24", str(LM)))
    count, total = between(first[0], last[0], "hopcc_csig_hop_delay_seconds", signal)
    worst = last[0].get(("hopcc_csig_hop_delay_seconds_max", signal), -1)
    longest = last[1][("hopcc_port_longest_delay_seconds", port)]
    tap.claim("CSIG's delays by destination prefix and locator, the same queue among them", count > 5 and
              0 < total / count < worst and 0.0005 < worst < longest + 1e-6 and
              ("hopcc_csig_hop_delay_seconds_max", frozenset(("2001:db8:2::/64", str(LM)))) in last[0],
              f"{count} {total} {worst}")
    free = [last[0].get((f"hopcc_csig_available_ratio{end}", signal), -1) for end in ("_min", "_sum", "_count")]
    tap.claim("the part that is free is one", 0 <= free[0] <= free[1] / max(free[2], 1) <= 1, f"{free}")
    see_counters(*last)
    checked = subprocess.run([promtool, "check", "metrics"], input=switch.text() + "\n" + host.text().replace(
        "hopcc_", "hopcc_host_"), check=False, capture_output=True, text=True)
    tap.claim("promtool check metrics has nothing to say", checked.returncode == 0 and
              not checked.stdout + checked.stderr, checked.stdout + checked.stderr)
    time.sleep(3.5)
    tap.claim("the maximum forgets what is longer ago than --worst", switch.scrape().get(
        ("hopcc_port_delay_seconds_max", port), -1) < most / 4)
    host.close()
    switch.close()


def see_counters(host, switch):
    """What the exporter has of a port, a carrier and connections, against what it reads."""
    with hosts.inside("a"), open("/proc/net/hopcc_csig", encoding="ascii") as file:
        now = dict(line.split() for line in file)
    names = {labels - {"csig"} for name, labels in host if name == "hopcc_carrier_events_total" and "csig" in labels}
    tap.claim("all counters of a carrier", names == {frozenset((name,)) for name in now} -
              {frozenset(("flows",)), frozenset(("flows_half_open",))} and
              0 < host[("hopcc_carrier_events_total", frozenset(("csig", "out_tag")))] <= int(now["out_tag"]) and
              host[("hopcc_carrier_flows", frozenset(("csig",)))] >= 2, f"{names}")
    port = frozenset(("r-b", "csig", "10:"))
    tap.claim("the port's rate, and what its qdisc counts",
              switch[("hopcc_port_rate_bytes_per_second", port)] == 125000000 and
              switch[("hopcc_port_sent_packets_total", port)] > 1000 and
              switch[("hopcc_port_events_total", port | {"updated_pd"})] > 10 and
              switch[("hopcc_port_longest_delay_seconds", port)] > 0.0005)
    tap.claim("up, with the modules' versions and the connections",
              host[("hopcc_up", frozenset())] == switch[("hopcc_up", frozenset())] == 1 and
              any(name == "hopcc_module_info" and {"tcp_csig"} < labels for name, labels in host) and
              host[("hopcc_connections", frozenset(("csig", "own")))] == 2 and
              host[("hopcc_rtt_seconds_count", frozenset(("csig", "198.51.100.0/24")))] > 5)


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
    user = [*within("a"), "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-B"]
    said = {verb: subprocess.run([*user, HOPSTAT, *verb.split()], check=False, capture_output=True, text=True)
            for verb in ("--json", f"trace {B[4]}", "flows", "doctor", "export --count 1 --jsonl /dev/null")}
    tap.claim("a plain user: lists and doctor work, probes and export say what to type",
              [done.returncode for done in said.values()] == [0, 2, 0, 0, 2] and
              "sudo hopstat trace" in said[f"trace {B[4]}"].stderr and
              said["export --count 1 --jsonl /dev/null"].stderr ==
              "hopstat: netlink: Operation not permitted; as root: sudo hopstat export\n" and
              not any("Errno" in done.stderr or "Traceback" in done.stderr for done in said.values()),
              "".join(done.stderr for done in said.values()))
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


def main(promtool):
    setup()
    load = Load((4, "csig"), (6, "csig"))
    see_lists(load)
    see_screen(load)
    see_export(load)
    see_exporter(load, promtool)
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


sys.exit(main(*sys.argv[1:]))
