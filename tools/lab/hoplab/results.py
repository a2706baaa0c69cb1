# SPDX-License-Identifier: GPL-2.0
"""One run's results: the JSON-lines file, and what is measured from it.

Every public method of Measures below whose docstring starts with "=" is a
metric a claim may name. Times are in seconds, rates in bit/s, queues in
packets (bytes: with the suffix _bytes), all within the claim's window; drops,
marks, timeouts, retransmissions and FCTs are of the whole run.
"""
import array
import bisect
import hashlib
import json
import math
import re
import statistics
import sys
from pathlib import Path

from . import LabError, arrivals, topology

SCHEMA = 1
# The lab warns when the delay of one of its programs exceeds this share of the measured time.
LATE_SHARE = 0.01


def meta_line(scenario, case, seed, kernel, net):
    """The first line of a result: all that reading it takes."""
    flows, chosen = [], set()
    for flow in topology.flows(net):
        family = topology.flow_family(flow)
        ways = topology.paths_of(net, flow["from"], flow["to"])
        chosen |= {p.name for step in ways if len(step) > 1 for p in step}
        handshake = flow["mode"] != "persistent" and not flow.get("warm_bytes")
        base = topology.ideal_s(net, flow, 0, handshake)
        flows.append({
            "id": flow["id"], "group": flow["group"], "from": flow["from"], "to": flow["to"],
            "cc": flow.get("cc", "host"), "start_ns": flow["start_ns"], "stop_ns": flow["stop_ns"],
            "family": family, "bytes": flow["bytes"],
            "path": [p[0].name for p in ways if len(p) == 1], "ideal_base_ns": round(base * 1e9),
            "ceiling_bps": min(topology.ceiling_bps(p[0], family) for p in ways)})
    ports = {name: {"rate_bps": net.ports[name].value("rate"),
                    "overhead_bytes": net.ports[name].value("overhead"),
                    "ceiling_bps": topology.ceiling_bps(net.ports[name]),
                    "ceiling6_bps": topology.ceiling_bps(net.ports[name], 6),
                    "queue": net.ports[name].value("queue"), "chosen": name in chosen}
             for name in case.sample["ports"]}
    params = {k: v for k, v in case.params.items() if k != "case"}
    return {"type": "meta", "schema": SCHEMA, "scenario": scenario.name, "title": scenario.title,
            "source": scenario.source, "case": case.name, "params": params, "seed": seed,
            "kernel": kernel, "duration_ns": case.run["duration"], "window_ns": list(case.window),
            "goodput_ns": case.sample["goodput"], "ports": ports, "flows": flows,
            "arrivals": [f["name"] for f in case.flows if f["mode"] in arrivals.MODES],
            "claims": claims_for(case)}


def claims_for(case):
    from .scenario import applies
    return [c for c in case.claims if applies(c, case.name)]


def write(path, meta, parts):
    """Join the meta line and the guest's files; returns the digest of all of it."""
    digest = hashlib.sha256()
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as out:
        for chunk in [json.dumps(meta).encode() + b"\n", *(p.read_bytes() for p in parts)]:
            out.write(chunk)
            digest.update(chunk)
    # What bears the name is whole, whenever this is interrupted.
    part.replace(path)
    return digest.hexdigest()


TRACE_LINE = re.compile(r"\s*\S+-\d+\s+\[\d+\].*?\s(\d+)\.(\d{6}): (\w+): (.*)")


def trace_lines(text, events):
    """The kernel's trace as JSON-lines; it prints its times in us."""
    systems = {e.partition(":")[2]: e for e in events}
    found = []
    for line in text.splitlines():
        match = TRACE_LINE.match(line)
        if match:
            t_ns = int(match[1] + match[2]) * 1000 - topology.T0_NS
            fields = dict(re.findall(r"(\w+)=(\S+)", match[4]))
            found.append(json.dumps({"type": "trace", "t_ns": t_ns, "event": systems.get(match[3], match[3]),
                                     "fields": {k: number(v) for k, v in fields.items()}}) + "\n")
    return "".join(found)


def counter_lines(node, text):
    """What the rules with a comment counted, as JSON-lines; the text is nft's own JSON."""
    found = []
    for rule in (item["rule"] for item in json.loads(text)["nftables"] if "rule" in item):
        for counter in (e["counter"] for e in rule["expr"] if "counter" in e and "comment" in rule):
            found.append(json.dumps({"type": "counter", "node": node, "name": rule["comment"],
                                     "packets": counter["packets"], "bytes": counter["bytes"]}) + "\n")
    return "".join(found)


def number(word):
    try:
        return int(word, 0)
    except ValueError:
        return word


def shared(item):
    """One copy of each word, however many lines have it."""
    for key, value in item.items():
        if isinstance(value, str):
            item[key] = sys.intern(value)
    return item


class Run:
    """A result file in memory."""

    def __init__(self, path):
        self.path = Path(path)
        self.meta, self.flows, self.sockets, self.traces = None, [], [], []
        self.queue = {}         # port -> ([t_ns], [pkts], [bytes], [sent bytes], [sent pkts])
        self.goodput = {}       # flow id -> ([t_ns], [bytes])
        self.ports, self.hosts, self.counters = {}, {}, []
        self.lateness_ns = {}   # program -> its longest delay
        number_ = 0
        with open(path) as lines:
            try:
                for number_, line in enumerate(lines, 1):
                    self.take(json.loads(line))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise LabError(f"{path}: line {number_}: not of a result of this lab") from None
        if not self.meta or self.meta.get("schema") != SCHEMA:
            raise LabError(f"{path}: not a result of this lab (schema {SCHEMA})")

    def take(self, item):
        kind = item["type"]
        if kind == "queue":
            series = self.queue.setdefault(item["port"], tuple(array.array("q") for _ in range(5)))
            series[0].append(item["t_ns"])
            series[1].append(item["pkts"])
            series[2].append(item["bytes"])
            series[3].append(item["sent_bytes"])
            series[4].append(item["sent_pkts"])
        elif kind == "goodput":
            series = self.goodput.setdefault(
                item["id"], (array.array("q", [0]), array.array("q", [0])))
            series[0].append(item["t_ns"])
            series[1].append(item["bytes"])
        elif kind == "meta":
            self.meta = item
            paths = {}
            for flow in item.get("flows", []):
                # Thousands of flows take the same few ways.
                flow["path"] = paths.setdefault(tuple(flow["path"]), flow["path"])
                shared(flow)
        elif kind == "port":
            self.ports[item["port"]] = item
        elif kind == "host":
            self.hosts[item["ns"] if "ns" in item else item["host"]] = item
        elif kind == "counter":
            self.counters.append(item)
        elif kind == "lateness":
            self.lateness_ns[item["program"]] = item["late_ns"]
        elif kind == "flow":
            self.flows.append(shared(item))
        elif kind == "socket":
            self.sockets.append(item)
        elif kind == "trace":
            self.traces.append(item)

    @property
    def label(self):
        return f"{self.meta['scenario']}/{self.meta['case']}/{self.meta['seed']}"

    def late(self):
        """Lines that say where a program of the lab was later than LATE_SHARE of what it measured."""
        found = []
        slow = [f for f in self.flows if f["done"] and f["end_ns"] > f["start_ns"]
                and f.get("late_ns", 0) > LATE_SHARE * (f["end_ns"] - f["start_ns"])]
        if slow:
            found.append(f"{len(slow)} completion times, by up to {max(f['late_ns'] for f in slow)} ns")
        for program, what in (("hopflow", "goodput"), ("hopflow", "sockets"), ("hopsample", "queue")):
            late_ns, period_ns = self.lateness_ns.get(program, 0), self.period_ns(what)
            if period_ns and late_ns > LATE_SHARE * period_ns:
                found.append(f"samples of {what}, by up to {late_ns} ns")
        return found

    def period_ns(self, what):
        """Of the samples of goodput, sockets or queues; None where there are less than two."""
        if what == "goodput":
            return self.meta["goodput_ns"]
        if what == "sockets":
            times = sorted({s["t_ns"] for s in self.sockets})[:2]
        else:
            times = next((series[0][:2] for series in self.queue.values()), [])
        return times[1] - times[0] if len(times) == 2 else None

    @property
    def packets(self):
        """Packets sent by the sampled ports."""
        return sum(p["pkts"] or 0 for p in self.ports.values())


def quantile(values, share):
    """The value that `share` of the values do not exceed; NaN of none."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def jain_index(values):
    """1: equal shares; 1/n: one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else math.nan


class Measures:
    """The metrics of one run within one window."""

    def __init__(self, run, window_ns=None):
        self.run = run
        self.window = tuple(window_ns or run.meta["window_ns"])
        self.plan = {f["id"]: f for f in run.meta["flows"]}

    # --- what the metrics are made of ---

    def port(self, name):
        ports = list(self.run.meta["ports"])
        if name is None and ports:
            return ports[0]
        if name not in ports:
            raise ValueError(f"port {name!r} is not sampled; sampled: {' '.join(ports) or 'none'}")
        return name

    def ids(self, group):
        groups = list(dict.fromkeys(f["group"] for f in self.plan.values()))
        if group is not None and group not in groups:
            raise ValueError(f"no flow {group!r}; there are: {' '.join(groups)}")
        return [i for i, f in self.plan.items() if group in (None, f["group"])]

    def samples(self, port, column=1):
        times, *_ = series = self.run.queue.get(self.port(port), ([], [], [], [], []))
        low, high = (bisect.bisect_left(times, t) for t in self.window)
        return series[column][low:high]

    def received(self, flow_id, t_ns):
        """Bytes received until then, straight between samples."""
        times, totals = self.run.goodput.get(flow_id, ([0], [0]))
        right = bisect.bisect_left(times, t_ns)
        if right == len(times):
            return totals[-1]
        if right == 0 or times[right] == t_ns:
            return totals[right]
        part = (t_ns - times[right - 1]) / (times[right] - times[right - 1])
        return totals[right - 1] + part * (totals[right] - totals[right - 1])

    def rates(self, ids):
        low, high = self.window
        return [(self.received(i, high) - self.received(i, low)) * 8e9 / (high - low) for i in ids]

    def active(self, group):
        """Flows that are planned for most of the window."""
        low, high = self.window
        return [i for i in self.ids(group)
                if min(high, self.plan[i]["stop_ns"]) - max(low, self.plan[i]["start_ns"]) > (high - low) / 2]

    def fairness(self, ids, low, high):
        return jain_index([self.received(i, high) - self.received(i, low) for i in ids])

    def records(self, group):
        wanted = set(self.ids(group))
        return [f for f in self.run.flows if f["id"] in wanted]

    def sized(self, group, low_bytes=0, high_bytes=math.inf):
        # A flow without a size ends when it is told to: that is no completion.
        found = ((f, self.plan[f["id"]]["bytes"]) for f in self.records(group))
        return [f for f, size_bytes in found if size_bytes and low_bytes <= size_bytes < high_bytes]

    def finished(self, group, low_bytes=0, high_bytes=math.inf):
        return [f for f in self.sized(group, low_bytes, high_bytes) if f["done"]]

    def fcts(self, group):
        return [(f["end_ns"] - f["start_ns"]) / 1e9 for f in self.finished(group)]

    def slowdowns(self, group, low_bytes=0, high_bytes=math.inf):
        return [value for size, value in self.slowdowns_by_size(group) if low_bytes <= size < high_bytes]

    def slowdowns_by_size(self, group):
        """[(bytes, slowdown)]; of one that did not end infinite, or the slowest would look fast."""
        found = []
        for f in self.sized(group):
            plan = self.plan[f["id"]]
            ideal = plan["ideal_base_ns"] + f["bytes"] * 8e9 / plan["ceiling_bps"]
            found.append((plan["bytes"], (f["end_ns"] - f["start_ns"]) / ideal if f["done"] else math.inf))
        return found

    def socket_values(self, key, group):
        wanted, (low, high) = set(self.ids(group)), self.window
        return [s[key] for s in self.run.sockets
                if s["id"] in wanted and low <= s["t_ns"] < high and s.get(key) is not None]

    def traced(self, event):
        low, high = self.window
        return [t["fields"] for t in self.run.traces if t["event"] == event and low <= t["t_ns"] < high]

    # --- the metrics ---

    def goodput(self, group=None):
        """= bytes that receivers of a group read, bit/s"""
        return sum(self.rates(self.ids(group)))

    def utilization(self, port=None):
        """= goodput of all flows through a port, as a share of its ceiling (IPv6: of IPv6's); NaN where flows
        choose among ports"""
        name, (low, high) = self.port(port), self.window
        ceilings = self.run.meta["ports"][name]
        if ceilings.get("chosen"):
            return math.nan     # which flows took this way is not known
        return sum((self.received(i, high) - self.received(i, low)) * 8e9 / (high - low)
                   / ceilings["ceiling6_bps" if f["family"] == 6 else "ceiling_bps"]
                   for i, f in self.plan.items() if name in f["path"])

    def utilization_min(self, port=None):
        """= utilization in the worst of the goodput periods that lie in the window"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        return min((Measures(self.run, (t_ns, t_ns + step)).utilization(port)
                    for t_ns in range(low, high - step + 1, step)), default=math.nan)

    def load(self, port=None):
        """= share of a link's time that packets took, headers and overhead included"""
        name = self.port(port)
        t_ns, sent, pkts = (self.samples(name, column) for column in (0, 3, 4))
        if len(t_ns) < 2:
            return math.nan
        plan = self.run.meta["ports"][name]
        wire_bytes = sent[-1] - sent[0] + plan["overhead_bytes"] * (pkts[-1] - pkts[0])
        return wire_bytes * 8e9 / (t_ns[-1] - t_ns[0]) / plan["rate_bps"]

    def queue_mean(self, port=None):
        """= mean backlog"""
        return mean(self.samples(port))

    def queue_sd(self, port=None):
        """= standard deviation of the backlog"""
        samples = self.samples(port)
        return statistics.pstdev(samples) if samples else math.nan

    def queue_max(self, port=None):
        """= largest backlog sampled"""
        return max(self.samples(port), default=math.nan)

    def queue_p(self, share, port=None):
        """= quantile of the backlog: queue_p(95); also queue_p5 _p25 _p50 _p95 _p99"""
        return quantile(self.samples(port), share / 100)

    def queue_mean_bytes(self, port=None):
        """= mean backlog in bytes"""
        return mean(self.samples(port, 2))

    def queue_max_bytes(self, port=None):
        """= largest backlog sampled, in bytes"""
        return max(self.samples(port, 2), default=math.nan)

    def drops(self, port=None):
        """= packets that a port's queue dropped"""
        return self.run.ports[self.port(port)]["drops"]

    def marks(self, port=None):
        """= packets that a port's queues marked CE; NaN where one of them is of a kind whose marks nobody counts"""
        marked = self.run.ports[self.port(port)]["marked"]
        return math.nan if marked is None else marked

    def xstat(self, name, port=None):
        """= a counter of a port's qdiscs, by its name in the results: xstat('nect_dropped_pkts')"""
        xstats = self.run.ports[self.port(port)]["xstats"] or {}
        return xstats.get(name, math.nan)

    def packets(self, port=None):
        """= packets that a port sent"""
        return self.run.ports[self.port(port)]["pkts"]

    def mark_share(self, port=None):
        """= marks / packets"""
        return self.marks(port) / max(1, self.packets(port))

    def jain(self, group=None):
        """= Jain's index of the goodputs of the flows planned for most of the window"""
        return self.fairness(self.active(group), *self.window)

    def convergence(self, group=None, threshold=0.95):
        """= seconds from the window's start until one goodput period has Jain's index >= threshold"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        ids = self.active(group)
        for t_ns in range(low, high - step + 1, step):
            if self.fairness(ids, t_ns, t_ns + step) >= threshold:
                return (t_ns + step - low) / 1e9
        return math.inf

    def settling(self, group=None, threshold=0.95):
        """= seconds from the window's start until no later goodput period has Jain's index < threshold"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        ids, since = self.active(group), low
        for t_ns in range(low, high - step + 1, step):
            if not self.fairness(ids, t_ns, t_ns + step) >= threshold:
                since = t_ns + step
        return (since - low) / 1e9 if since + step <= high else math.inf

    def rate_min(self, group=None):
        """= goodput of a group's slowest flow, bit/s"""
        return min(self.rates(self.active(group)), default=math.nan)

    def rate_max(self, group=None):
        """= goodput of a group's fastest flow, bit/s"""
        return max(self.rates(self.active(group)), default=math.nan)

    def recovery(self, rate_bps, group=None):
        """= seconds from the window's start until the end of the first goodput period in which a group receives
        rate_bps or more: recovery(900mbit, 'long')"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        for t_ns in range(low, high - step + 1, step):
            if Measures(self.run, (t_ns, t_ns + step)).goodput(group) >= rate_bps:
                return (t_ns + step - low) / 1e9
        return math.inf

    def share_min(self, span_s, group=None):
        """= smallest share that a flow of a group has in any span_s seconds of the window, 1 being the mean of
        its flows then: share_min(100ms, 'long')"""
        step, (low, high), ids = self.run.meta["goodput_ns"], self.window, self.active(group)
        span_ns = round(span_s * 1e9)
        least = math.nan
        for t_ns in range(low, high - span_ns + 1, step):
            rates = Measures(self.run, (t_ns, t_ns + span_ns)).rates(ids)
            if sum(rates):
                least = min(min(rates) * len(rates) / sum(rates), 1 if math.isnan(least) else least)
        return least

    def fct_p(self, share, group=None):
        """= quantile of completion times: fct_p(99); also fct_p50 _p95 _p99"""
        return quantile(self.fcts(group), share / 100)

    def fct_mean(self, group=None):
        """= mean completion time"""
        return mean(self.fcts(group))

    def fct_max(self, group=None):
        """= longest completion time"""
        return max(self.fcts(group), default=math.nan)

    def last_end(self, group=None):
        """= from the first start to the last end of a group's transfers"""
        done = self.finished(group)
        if not done:
            return math.nan
        return (max(f["end_ns"] for f in done) - min(f["start_ns"] for f in done)) / 1e9

    def slowdown_p(self, share, group=None, low_bytes=0, high_bytes=math.inf):
        """= quantile of completion time / ideal time of transfers of low_bytes <= size < high_bytes (one that did
        not end: infinite): slowdown_p(99, 'web', 0, 1e5); also slowdown_p50 _p95 _p99"""
        return quantile(self.slowdowns(group, low_bytes, high_bytes), share / 100)

    def slowdown_mean(self, group=None, low_bytes=0, high_bytes=math.inf):
        """= mean of completion time / ideal time, by size as slowdown_p"""
        return mean(self.slowdowns(group, low_bytes, high_bytes))

    def bytes_mean(self, group=None):
        """= mean size of a group's transfers that ended"""
        return mean(f["bytes"] for f in self.finished(group))

    def done(self, group=None):
        """= share of a group's transfers that ended"""
        return mean(float(f["done"]) for f in self.records(group))

    def transfers(self, group=None, low_bytes=0, high_bytes=math.inf):
        """= number of a group's transfers that ended, by size as slowdown_p"""
        return len(self.finished(group, low_bytes, high_bytes))

    def host_counter(self, name, group):
        hosts = {self.plan[i]["from"] for i in self.ids(group)}
        counts = [self.run.hosts[h].get(name) for h in hosts]
        return math.nan if None in counts else sum(counts)

    def timeouts(self, group=None):
        """= retransmission timeouts (RTO) of a group's hosts (the kernel counts them by host)"""
        return self.host_counter("timeouts", group)

    def loss_probes(self, group=None):
        """= tail loss probes (RFC 8985) of a group's hosts (the kernel counts them by host)"""
        return self.host_counter("loss_probes", group)

    def retrans(self, group=None):
        """= segments retransmitted"""
        return sum(f["retrans"] for f in self.records(group))

    def corrupt(self, group=None):
        """= bytes of a checked payload that arrived wrong"""
        return sum(f["corrupt"] for f in self.records(group))

    def ecn(self, group=None):
        """= share of transfers whose connection negotiated ECN"""
        return mean(float(bool(f.get("ecn"))) for f in self.records(group))

    def cc_share(self, cc, group=None):
        """= share of transfers whose socket ran this cc: cc_share('dctcp_ms')"""
        return mean(float(f.get("cc") == cc) for f in self.records(group))

    def alpha_mean(self, group=None):
        """= mean of the senders' DCTCP alpha"""
        return mean(self.socket_values("alpha", group))

    def cwnd_mean(self, group=None):
        """= mean congestion window, segments"""
        return mean(self.socket_values("cwnd", group))

    def srtt_mean(self, group=None):
        """= mean smoothed round-trip time"""
        return mean(self.socket_values("srtt_us", group)) / 1e6

    def counted(self, counter):
        """= packets that a firewall's rules of this comment counted: counted('dropped')"""
        return sum(c["packets"] for c in self.run.counters if c["name"] == counter)

    def trace_count(self, event):
        """= times that a tracepoint was passed: trace_count('tcp:tcp_probe')"""
        return len(self.traced(event))

    def trace_mean(self, event, field):
        """= mean of a tracepoint's field: trace_mean('tcp:tcp_probe', 'snd_cwnd')"""
        return mean(f[field] for f in self.traced(event) if field in f)


def _fixed(method, share):
    def of_port(self, port=None):
        return getattr(self, method)(share, port)

    def of_group(self, group=None):
        return getattr(self, method)(share, group)

    def by_size(self, group=None, low_bytes=0, high_bytes=math.inf):
        return getattr(self, method)(share, group, low_bytes, high_bytes)
    metric = {"queue_p": of_port, "slowdown_p": by_size}.get(method, of_group)
    metric.__doc__ = f"= {method}({share})"
    return metric


for _method, _shares in (("queue_p", (5, 25, 50, 95, 99)), ("fct_p", (50, 95, 99)),
                         ("slowdown_p", (50, 95, 99))):
    for _share in _shares:
        setattr(Measures, f"{_method}{_share}", _fixed(_method, _share))


def metrics():
    """name -> what it is, of all metrics."""
    return {n: f.__doc__[2:] for n, f in vars(Measures).items()
            if callable(f) and (f.__doc__ or "").startswith("= ")}
