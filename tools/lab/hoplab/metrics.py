# SPDX-License-Identifier: GPL-2.0
"""The metrics: what is measured from a run's results.

Every public method of Measures below whose docstring starts with "=" is a
metric a claim may name. Times are in seconds, rates in bit/s, queues in
packets (bytes: with the suffix _bytes), all within the claim's window; drops,
marks, timeouts, retransmissions and FCTs are of the whole run. What never
happened is infinite: a transfer that was planned and did not end has an
infinite completion time, or a sender would look fast by not sending.
"""
import array
import bisect
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from .chance import Redraw
from .results import Item, Run, Series

# A group's or a port's name; None: all groups, the first sampled port.
Name = str | None
T = TypeVar("T")
# The goodput of a flow that received nothing.
NOTHING: Series = (array.array("q", [0]), array.array("q", [0]))


def quantile(values: Iterable[float], share: float) -> float:
    """The value that `share` of the values do not exceed; NaN without values."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def jain_index(values: Sequence[float]) -> float:
    """1: all shares are equal; 1/n: one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else math.nan


class Measures:
    """The metrics of one run within one window."""

    def __init__(self, run: Run, window_ns: Sequence[int] | None = None, redraw: Redraw | None = None) -> None:
        """redraw: metrics of transfers are those of such a draw."""
        self.run = run
        self.redraw = redraw
        low, high = window_ns or run.meta["window_ns"]
        self.window = (low, high)
        self.plan: dict[int, Item] = {f["id"]: f for f in run.meta["flows"]}

    # --- what the metrics are made of ---

    def port(self, name: Name) -> str:
        ports: list[str] = list(self.run.meta["ports"])
        if name is None and ports:
            return ports[0]
        if name not in ports:
            raise ValueError(f"port {name!r} is not sampled; sampled: {' '.join(ports) or 'none'}")
        return name

    def ids(self, group: Name) -> list[int]:
        groups = list(dict.fromkeys(f["group"] for f in self.plan.values()))
        if group is not None and group not in groups:
            raise ValueError(f"no flow {group!r}; there are: {' '.join(groups)}")
        return [i for i, f in self.plan.items() if group in (None, f["group"])]

    def samples(self, port: Name, column: int = 1) -> Sequence[int]:
        """A port's samples; column: 0 time, 1 packets, 2 bytes, 3 sent bytes, 4 sent packets."""
        series = self.run.queue.get(self.port(port))
        if not series:
            return []
        low, high = (bisect.bisect_left(series[0], t) for t in self.window)
        return series[column][low:high]

    def received(self, flow_id: int, t_ns: int) -> float:
        """Bytes received until then, interpolated between samples."""
        times, totals = self.run.goodput.get(flow_id, NOTHING)
        right = bisect.bisect_left(times, t_ns)
        if right == len(times):
            return totals[-1]
        if right == 0 or times[right] == t_ns:
            return totals[right]
        part = (t_ns - times[right - 1]) / (times[right] - times[right - 1])
        return totals[right - 1] + part * (totals[right] - totals[right - 1])

    def rates(self, ids: Iterable[int]) -> list[float]:
        low, high = self.window
        return [(self.received(i, high) - self.received(i, low)) * 8e9 / (high - low) for i in ids]

    def active(self, group: Name) -> list[int]:
        """Flows that are planned for most of the window."""
        low, high = self.window
        return [i for i in self.ids(group)
                if min(high, self.plan[i]["stop_ns"]) - max(low, self.plan[i]["start_ns"]) > (high - low) / 2]

    def fairness(self, ids: Iterable[int], low: int, high: int) -> float:
        return jain_index([self.received(i, high) - self.received(i, low) for i in ids])

    def records(self, group: Name) -> list[Item]:
        wanted = set(self.ids(group))
        return [f for f in self.run.flows if f["id"] in wanted]

    def planned(self, group: Name) -> Iterator[tuple[int, Item | None]]:
        """Each planned transfer: its connection, and its record if it ended."""
        for flow_id in self.ids(group):
            begun = self.run.begun.get(flow_id, [])
            yield from ((flow_id, f if f["done"] else None) for f in begun)
            # A transfer that waits for the end of the one before may not have started. A count of 0 is no number.
            for _ in range(max(1, self.plan[flow_id].get("count", 1)) - len(begun)):
                yield flow_id, None

    def sized(self, group: Name, low_bytes: float = 0, high_bytes: float = math.inf
              ) -> Iterator[tuple[Item, Item | None]]:
        """Each planned transfer with a size: the plan of its connection, and its record if it ended."""
        # A flow without a size ends at its stop time: that is no completion.
        for flow_id, record in self.planned(group):
            plan = self.plan[flow_id]
            if plan["bytes"] and low_bytes <= plan["bytes"] < high_bytes:
                yield plan, record

    def finished(self, group: Name, low_bytes: float = 0, high_bytes: float = math.inf) -> list[Item]:
        return [f for _, f in self.sized(group, low_bytes, high_bytes) if f]

    def fcts(self, group: Name) -> list[float]:
        """The completion time of each planned transfer; infinite if it did not end."""
        return self.drawn("fcts", group, lambda: [(f["end_ns"] - f["start_ns"]) / 1e9 if f else math.inf
                                                  for _, f in self.sized(group)])

    def drawn(self, what: str, group: Name, values: Callable[[], list[T]]) -> list[T]:
        """A value of each planned transfer, or of each that was drawn."""
        if (what, group) not in self.run.kept:
            self.run.kept[what, group] = values()
        found: list[T] = self.run.kept[what, group]
        return self.redraw.of(found) if self.redraw else found

    def slowdowns(self, group: Name, low_bytes: float = 0, high_bytes: float = math.inf) -> list[float]:
        return [value for size, value in self.slowdowns_by_size(group) if low_bytes <= size < high_bytes]

    def slowdowns_by_size(self, group: Name) -> list[tuple[int, float]]:
        """[(bytes, slowdown)]; a transfer that did not end is infinitely slow."""
        return self.drawn("slowdowns", group, lambda: self.each_slowdown(group))

    def each_slowdown(self, group: Name) -> list[tuple[int, float]]:
        found = []
        for plan, f in self.sized(group):
            ideal_ns = plan["ideal_base_ns"] + plan["bytes"] * 8e9 / plan["ceiling_bps"]
            found.append((plan["bytes"], (f["end_ns"] - f["start_ns"]) / ideal_ns if f else math.inf))
        return found

    def socket_values(self, key: str, group: Name) -> list[float]:
        wanted, (low, high) = set(self.ids(group)), self.window
        return [s[key] for s in self.run.sockets
                if s["id"] in wanted and low <= s["t_ns"] < high and s.get(key) is not None]

    def traced(self, event: str) -> list[dict[str, Any]]:
        low, high = self.window
        return [t["fields"] for t in self.run.traces if t["event"] == event and low <= t["t_ns"] < high]

    # --- the metrics ---

    def goodput(self, group: Name = None) -> float:
        """= bytes that receivers of a group read, bit/s"""
        return sum(self.rates(self.ids(group)))

    def utilization(self, port: Name = None) -> float:
        """= goodput of all flows through a port, as a share of its ceiling (IPv6: of IPv6's); NaN where flows
        choose among ports"""
        name, (low, high) = self.port(port), self.window
        ceilings = self.run.meta["ports"][name]
        if ceilings.get("chosen"):
            return math.nan     # which flows took this way is not known
        return sum((self.received(i, high) - self.received(i, low)) * 8e9 / (high - low)
                   / ceilings["ceiling6_bps" if f["family"] == 6 else "ceiling_bps"]
                   for i, f in self.plan.items() if name in f["path"])

    def utilization_min(self, port: Name = None) -> float:
        """= utilization in the worst of the goodput periods that lie in the window"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        return min((Measures(self.run, (t_ns, t_ns + step)).utilization(port)
                    for t_ns in range(low, high - step + 1, step)), default=math.nan)

    def load(self, port: Name = None) -> float:
        """= share of a link's time that packets took, headers and overhead included"""
        name = self.port(port)
        t_ns, sent, pkts = (self.samples(name, column) for column in (0, 3, 4))
        if len(t_ns) < 2:
            return math.nan
        plan = self.run.meta["ports"][name]
        wire_bytes = sent[-1] - sent[0] + plan["overhead_bytes"] * (pkts[-1] - pkts[0])
        return wire_bytes * 8e9 / (t_ns[-1] - t_ns[0]) / plan["rate_bps"]

    def queue_mean(self, port: Name = None) -> float:
        """= mean backlog"""
        return mean(self.samples(port))

    def queue_sd(self, port: Name = None) -> float:
        """= standard deviation of the backlog"""
        samples = self.samples(port)
        return statistics.pstdev(samples) if samples else math.nan

    def queue_max(self, port: Name = None) -> float:
        """= largest backlog sampled"""
        return max(self.samples(port), default=math.nan)

    def queue_p(self, share: float, port: Name = None) -> float:
        """= quantile of the backlog: queue_p(95); also queue_p5 _p25 _p50 _p95 _p99"""
        return quantile(self.samples(port), share / 100)

    def queue_mean_bytes(self, port: Name = None) -> float:
        """= mean backlog in bytes"""
        return mean(self.samples(port, 2))

    def queue_max_bytes(self, port: Name = None) -> float:
        """= largest backlog sampled, in bytes"""
        return max(self.samples(port, 2), default=math.nan)

    def drops(self, port: Name = None) -> float:
        """= packets that a port's queue dropped"""
        return self.run.ports[self.port(port)]["drops"]

    def marks(self, port: Name = None) -> float:
        """= packets that a port's queues marked CE; NaN where one of them is of a kind whose marks nobody counts"""
        marked = self.run.ports[self.port(port)]["marked"]
        return math.nan if marked is None else marked

    def xstat(self, name: str, port: Name = None) -> float:
        """= a counter of a port's qdiscs, by its name in the results: xstat('nect_dropped_pkts')"""
        xstats = self.run.ports[self.port(port)]["xstats"] or {}
        return xstats.get(name, math.nan)

    def packets(self, port: Name = None) -> float:
        """= packets that a port sent"""
        return self.run.ports[self.port(port)]["pkts"]

    def mark_share(self, port: Name = None) -> float:
        """= marks / packets"""
        return self.marks(port) / max(1, self.packets(port))

    def jain(self, group: Name = None) -> float:
        """= Jain's index of the goodputs of the flows planned for most of the window"""
        return self.fairness(self.active(group), *self.window)

    def convergence(self, group: Name = None, threshold: float = 0.95) -> float:
        """= seconds from the window's start until one goodput period has Jain's index >= threshold"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        ids = self.active(group)
        for t_ns in range(low, high - step + 1, step):
            if self.fairness(ids, t_ns, t_ns + step) >= threshold:
                return (t_ns + step - low) / 1e9
        return math.inf

    def settling(self, group: Name = None, threshold: float = 0.95) -> float:
        """= seconds from the window's start until no later goodput period has Jain's index < threshold"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        ids, since = self.active(group), low
        for t_ns in range(low, high - step + 1, step):
            if not self.fairness(ids, t_ns, t_ns + step) >= threshold:
                since = t_ns + step
        return (since - low) / 1e9 if since + step <= high else math.inf

    def rate_min(self, group: Name = None) -> float:
        """= goodput of a group's slowest flow, bit/s"""
        return min(self.rates(self.active(group)), default=math.nan)

    def rate_max(self, group: Name = None) -> float:
        """= goodput of a group's fastest flow, bit/s"""
        return max(self.rates(self.active(group)), default=math.nan)

    def recovery(self, rate_bps: float, group: Name = None) -> float:
        """= seconds from the window's start until the end of the first goodput period in which a group receives
        rate_bps or more: recovery(900mbit, 'long')"""
        step = self.run.meta["goodput_ns"]
        low, high = self.window
        for t_ns in range(low, high - step + 1, step):
            if Measures(self.run, (t_ns, t_ns + step)).goodput(group) >= rate_bps:
                return (t_ns + step - low) / 1e9
        return math.inf

    def share_min(self, span_s: float, group: Name = None) -> float:
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

    def fct_p(self, share: float, group: Name = None) -> float:
        """= quantile of completion times, infinite for a planned transfer that did not end: fct_p(99); also fct_p50
        _p95 _p99"""
        return quantile(self.fcts(group), share / 100)

    def fct_mean(self, group: Name = None) -> float:
        """= mean completion time; infinite if a planned transfer did not end"""
        return mean(self.fcts(group))

    def fct_max(self, group: Name = None) -> float:
        """= longest completion time; infinite if a planned transfer did not end"""
        return max(self.fcts(group), default=math.nan)

    def last_end(self, group: Name = None) -> float:
        """= from the first start to the last end of a group's transfers; infinite if a planned one did not end"""
        planned = list(self.sized(group))
        done = [f for _, f in planned if f]
        if len(done) < len(planned):
            return math.inf
        return (max(f["end_ns"] for f in done) - min(f["start_ns"] for f in done)) / 1e9 if done else math.nan

    def slowdown_p(self, share: float, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= quantile of completion time / ideal time of transfers of low_bytes <= size < high_bytes (one that did
        not end: infinite): slowdown_p(99, 'web', 0, 1e5); also slowdown_p50 _p95 _p99"""
        return quantile(self.slowdowns(group, low_bytes, high_bytes), share / 100)

    def slowdown_mean(self, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= mean of completion time / ideal time, by size as slowdown_p"""
        return mean(self.slowdowns(group, low_bytes, high_bytes))

    def bytes_mean(self, group: Name = None) -> float:
        """= mean size of a group's transfers that ended"""
        return mean(f["bytes"] for f in self.finished(group))

    def done(self, group: Name = None) -> float:
        """= share of a group's planned transfers that ended"""
        return mean(self.drawn("done", group, lambda: [float(f is not None) for _, f in self.planned(group)]))

    def unfinished(self, group: Name = None) -> float:
        """= number of a group's planned transfers that did not end"""
        return sum(f is None for _, f in self.planned(group))

    def transfers(self, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= number of a group's transfers that ended, by size as slowdown_p"""
        return len(self.finished(group, low_bytes, high_bytes))

    def host_counter(self, name: str, group: Name) -> float:
        hosts = {self.plan[i]["from"] for i in self.ids(group)}
        counts = [self.run.hosts[h].get(name) for h in hosts]
        return math.nan if None in counts else sum(c for c in counts if c is not None)

    def timeouts(self, group: Name = None) -> float:
        """= retransmission timeouts (RTO) of a group's hosts (the kernel counts them by host)"""
        return self.host_counter("timeouts", group)

    def loss_probes(self, group: Name = None) -> float:
        """= tail loss probes (RFC 8985) of a group's hosts (the kernel counts them by host)"""
        return self.host_counter("loss_probes", group)

    def retrans(self, group: Name = None) -> float:
        """= segments retransmitted"""
        return sum(f["retrans"] for f in self.records(group))

    def corrupt(self, group: Name = None) -> float:
        """= bytes of a checked payload that arrived wrong"""
        return sum(f["corrupt"] for f in self.records(group))

    def ecn(self, group: Name = None) -> float:
        """= share of transfers whose connection negotiated ECN"""
        return mean(float(bool(f.get("ecn"))) for f in self.records(group))

    def cc_share(self, cc: str, group: Name = None) -> float:
        """= share of transfers whose socket ran this cc: cc_share('dctcp_ms')"""
        return mean(float(f.get("cc") == cc) for f in self.records(group))

    def alpha_mean(self, group: Name = None) -> float:
        """= mean of the senders' DCTCP alpha"""
        return mean(self.socket_values("alpha", group))

    def cwnd_mean(self, group: Name = None) -> float:
        """= mean congestion window, segments"""
        return mean(self.socket_values("cwnd", group))

    def srtt_mean(self, group: Name = None) -> float:
        """= mean smoothed round-trip time"""
        return mean(self.socket_values("srtt_us", group)) / 1e6

    def counted(self, counter: str) -> float:
        """= packets that a firewall's rules of this comment counted: counted('dropped')"""
        return sum(c["packets"] for c in self.run.counters if c["name"] == counter)

    def trace_count(self, event: str) -> float:
        """= times that a tracepoint was passed: trace_count('tcp:tcp_probe')"""
        return len(self.traced(event))

    def trace_mean(self, event: str, field: str) -> float:
        """= mean of a tracepoint's field: trace_mean('tcp:tcp_probe', 'snd_cwnd')"""
        return mean(f[field] for f in self.traced(event) if field in f)

    def queue_p5(self, port: Name = None) -> float:
        """= queue_p(5)"""
        return self.queue_p(5, port)

    def queue_p25(self, port: Name = None) -> float:
        """= queue_p(25)"""
        return self.queue_p(25, port)

    def queue_p50(self, port: Name = None) -> float:
        """= queue_p(50)"""
        return self.queue_p(50, port)

    def queue_p95(self, port: Name = None) -> float:
        """= queue_p(95)"""
        return self.queue_p(95, port)

    def queue_p99(self, port: Name = None) -> float:
        """= queue_p(99)"""
        return self.queue_p(99, port)

    def fct_p50(self, group: Name = None) -> float:
        """= fct_p(50)"""
        return self.fct_p(50, group)

    def fct_p95(self, group: Name = None) -> float:
        """= fct_p(95)"""
        return self.fct_p(95, group)

    def fct_p99(self, group: Name = None) -> float:
        """= fct_p(99)"""
        return self.fct_p(99, group)

    def slowdown_p50(self, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= slowdown_p(50)"""
        return self.slowdown_p(50, group, low_bytes, high_bytes)

    def slowdown_p95(self, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= slowdown_p(95)"""
        return self.slowdown_p(95, group, low_bytes, high_bytes)

    def slowdown_p99(self, group: Name = None, low_bytes: float = 0, high_bytes: float = math.inf) -> float:
        """= slowdown_p(99)"""
        return self.slowdown_p(99, group, low_bytes, high_bytes)


def metrics() -> dict[str, str]:
    """name -> what it is, of all metrics."""
    found = ((name, getattr(function, "__doc__", None) or "") for name, function in vars(Measures).items())
    return {name: words[2:] for name, words in found if words.startswith("= ")}
