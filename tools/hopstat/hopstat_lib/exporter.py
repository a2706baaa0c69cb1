# SPDX-License-Identifier: GPL-2.0
"""Metrics of this network namespace for Prometheus: over HTTP, or in a file for node_exporter."""
import argparse
import contextlib
import os
import socket
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

try:
    import prometheus_client
    from prometheus_client.core import (CollectorRegistry, CounterMetricFamily, GaugeMetricFamily, Metric,
                                        SummaryMetricFamily)
    from prometheus_client.registry import Collector
except ImportError:
    sys.exit("hopcc-exporter needs Prometheus' client library: apt-get install python3-prometheus-client")

from . import cli, export, flows, host, ports, sockets
from .series import Choose, Labels, Readings
from .table import Row

# Outside of the range that Prometheus' own exporters share.
LISTEN = "127.0.0.1:14353"
TEXTFILE_S, SAMPLE_S, WORST_S = 15.0, 0.1, 300.0

PORT_LABELS = ("device", "qdisc", "handle")
FLOW_LABELS = ("congestion_control", "prefix")
SIGNAL_LABELS = ("prefix", "locator")

# Name, help, labels, the worse of two values.
READINGS: tuple[tuple[str, str, Labels, Choose], ...] = (
    ("hopcc_csig_available_bytes_per_second", "Unused rate of the paths: min(ABW) in CSIG's tags.", SIGNAL_LABELS, min),
    ("hopcc_csig_available_ratio", "Unused part of the paths' rate: min(ABW/C) in CSIG's tags.", SIGNAL_LABELS, min),
    ("hopcc_csig_hop_delay_seconds", "Largest delay at a hop of the paths: max(PD) in CSIG's tags.", SIGNAL_LABELS, max),
    ("hopcc_rtt_seconds", "Smoothed round trip time of connections.", FLOW_LABELS, max),
    ("hopcc_hpccpp_used_ratio", "Used part of the paths' rate, U of HPCC++.", ("prefix",), max),
    ("hopcc_port_backlog_bytes", "Backlog of the port's queue.", PORT_LABELS, max),
    ("hopcc_port_delay_seconds", "Backlog of the port's queue over its rate.", PORT_LABELS, max),
)
# CSIG's values by kind of signal: metric, and its unit in the tag's.
SIGNALS = {0: ("hopcc_csig_available_bytes_per_second", 125.0), 1: ("hopcc_csig_available_ratio", 1e-6),
           2: ("hopcc_csig_hop_delay_seconds", 1e-9)}

# Counters of a port: name, help, column of hopstat's ports.
PORT_COUNTERS = (("hopcc_port_sent_bytes", "Bytes sent.", "sent_bytes"),
                 ("hopcc_port_sent_packets", "Packets sent.", "sent_pkts"),
                 ("hopcc_port_dropped_packets", "Packets dropped.", "drops"))

# Values of a port, present or greatest since its qdisc was made: name, help, column, base unit in the column's.
PORT_GAUGES = (("hopcc_port_rate_bytes_per_second", "Rate of the port.", "rate_bit_ps", 0.125),
               ("hopcc_port_longest_delay_seconds", "Longest delay that sch_csig wrote since it was made.",
                "longest_delay_ns", 1e-9),
               ("hopcc_port_longest_queue_bytes", "Longest queue since the qdisc was made.", "longest_queue_bytes", 1))

# Fields of a carrier's file in /proc/net that are no counters.
CARRIER_GAUGES = {"flows": ("hopcc_carrier_flows", "Connections with state."),
                  "flows_half_open": ("hopcc_carrier_half_open_flows", "Connections that are not established yet.")}

MODULES = ("hop_core", "net_csig_tag", "net_int", "net_tlm", "net_xcp", "sch_csig", "sch_int", "sch_wred", "sch_xcp",
           *host.MODULES.values())


def loaded() -> dict[str, str]:
    """Return {module: version} of hopcc's modules that are loaded."""
    return {name: host.read_text(f"/sys/module/{name}/version") or "" for name in MODULES
            if os.path.isdir(f"/sys/module/{name}")}


class Sampler:
    """Reads what changes faster than Prometheus scrapes. A signal counts once: by the count of its flow's
    signals."""

    def __init__(self, bits4: int, bits6: int, worst_s: float) -> None:
        self.bits = bits4, bits6
        self.seen: dict[tuple[str, str, int], int] = {}
        self.readings = {name: Readings(name, text, labels, choose, worst_s)
                         for name, text, labels, choose in READINGS}
        self.samples = 0
        self.failed: set[str] = set()       # what the last sample could not read
        self.errors = {"csig": 0, "sockets": 0, "ports": 0}

    def prefix(self, peer: str) -> str:
        return export.prefix_of(peer, *self.bits)

    def read_csig(self) -> None:
        seen: dict[tuple[str, str, int], int] = {}
        for local, peer, _, signals in flows.csig_flows():
            for kind, signal in signals.items():
                key = local, peer, kind
                seen[key] = signal["count"]
                if kind in SIGNALS and self.seen.get(key) != signal["count"]:
                    name, unit = SIGNALS[kind]
                    value = flows.middle(signal) if kind == 2 else signal["low"]
                    self.readings[name].add((self.prefix(peer), str(signal["locator"])), value * unit)
        self.seen = seen

    def read_sockets(self) -> None:
        for (_, peer), flow in sockets.connections().items():
            base = flow["cc"].removesuffix("-reno")
            if base not in flows.OURS or not flow["rtt_us"]:
                continue
            self.readings["hopcc_rtt_seconds"].add((flow["cc"], self.prefix(peer)), flow["rtt_us"] * 1e-6)
            if flow["cc"] == "hpccpp" and flow["bbr"]:
                self.readings["hopcc_hpccpp_used_ratio"].add((self.prefix(peer),), flow["bbr"][2] / flows.GAIN)

    def read_ports(self) -> None:
        for row in ports.read():
            self.readings["hopcc_port_backlog_bytes"].add(port_labels(row), row["backlog_bytes"])
            if row["delay_ns"] is not None:
                self.readings["hopcc_port_delay_seconds"].add(port_labels(row), row["delay_ns"] * 1e-9)

    def sample(self) -> None:
        """Read all once."""
        self.failed = set()
        for source, read in (("csig", self.read_csig), ("sockets", self.read_sockets), ("ports", self.read_ports)):
            try:
                read()
            except OSError:
                self.errors[source] += 1
                self.failed.add(source)
        self.samples += 1


def port_labels(row: Row) -> Labels:
    return row["dev"], row["kind"], row["handle"]


def summary(readings: Readings) -> Iterator[Metric]:
    """Yield the sum and the number of readings, and the worst of the last minutes."""
    worst = "min" if readings.choose is min else "max"
    total = SummaryMetricFamily(readings.name, readings.text, labels=readings.labels)
    extreme = GaugeMetricFamily(f"{readings.name}_{worst}", f"{readings.text} The {worst}imum of the last minutes.",
                                labels=readings.labels)
    for labels, count, total_value, value in readings.rows():
        total.add_metric(labels, count, total_value)
        if value is not None:
            extreme.add_metric(labels, value)
    yield from (total, extreme)


class HopccCollector(Collector):
    """What is read at the time of a scrape, and what the sampler has added up."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def collect(self) -> Iterator[Metric]:
        works, modules = True, loaded()
        for part in (self.of_ports, self.of_carriers, self.of_connections):
            try:
                yield from list(part())
            except OSError:
                works = False
        for readings in self.sampler.readings.values():
            yield from summary(readings)
        yield from self.of_exporter(works, modules)

    def of_exporter(self, works: bool, modules: dict[str, str]) -> Iterator[Metric]:
        up = works and bool(modules) and not self.sampler.failed
        yield GaugeMetricFamily("hopcc_up", "1 if a module of hopcc is loaded and all of it can be read.", value=up)
        info = GaugeMetricFamily("hopcc_module_info", "Modules that are loaded.", labels=("module", "version"))
        for labels in modules.items():
            info.add_metric(labels, 1)
        yield info
        yield CounterMetricFamily("hopcc_samples", "Samples of the exporter.", value=self.sampler.samples)
        errors = CounterMetricFamily("hopcc_sample_errors", "Samples that could not be read.", labels=("source",))
        for source, count in self.sampler.errors.items():
            errors.add_metric((source,), count)
        yield errors

    @staticmethod
    def of_ports() -> Iterator[Metric]:
        rows = [row | row["says"] for row in ports.read()]
        for name, text, column in PORT_COUNTERS:
            yield family(CounterMetricFamily, name, text, PORT_LABELS, ((port_labels(r), r[column]) for r in rows))
        for name, text, column, unit in PORT_GAUGES:
            yield family(GaugeMetricFamily, name, text, PORT_LABELS,
                         ((port_labels(r), r[column] * unit) for r in rows if r.get(column) is not None))
        yield family(CounterMetricFamily, "hopcc_port_events", "Packets by what the port's qdisc did with them.",
                     (*PORT_LABELS, "event"), (((*port_labels(r), name.removesuffix("_pkts")), value) for r in rows
                                               for name, value in r["detail"].items() if name.endswith("_pkts")))

    @staticmethod
    def of_carriers() -> Iterator[Metric]:
        counts = {carrier: host.read_counts(carrier) for carrier in ("xcp", "int", "csig")}
        for key, (name, text) in CARRIER_GAUGES.items():
            yield family(GaugeMetricFamily, name, text, ("carrier",),
                         (((carrier,), own[key]) for carrier, own in counts.items() if key in own))
        yield family(CounterMetricFamily, "hopcc_carrier_events", "Counters of /proc/net/hopcc_*, see hopcc(7).",
                     ("carrier", "event"), (((carrier, name), value) for carrier, own in counts.items()
                                            for name, value in own.items() if name not in CARRIER_GAUGES))

    @staticmethod
    def of_connections() -> Iterator[Metric]:
        numbers: dict[Labels, int] = {}
        for flow in sockets.connections().values():
            base = flow["cc"].removesuffix("-reno")
            if base in flows.OURS:
                labels = base, "reno" if flow["cc"] != base else "own"
                numbers[labels] = numbers.get(labels, 0) + 1
        yield family(GaugeMetricFamily, "hopcc_connections", "Connections; law reno: they fell back to Reno.",
                     ("congestion_control", "law"), sorted(numbers.items()))


def family(kind: Callable[..., Any], name: str, text: str, labels: Labels,
           values: Iterable[tuple[Labels, float]]) -> Metric:
    found = kind(name, text, labels=labels)
    for of, value in values:
        found.add_metric(of, value)
    metric: Metric = found
    return metric


def endpoint(text: str) -> tuple[str, int]:
    """Parse ADDRESS:PORT; without an address: all of them."""
    address, _, number = text.rpartition(":")
    everywhere = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"
    return address.strip("[]") or everywhere, cli.port(number)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="hopcc-exporter", description="Metrics of hopcc's flows, ports and carriers "
                                  "in this network namespace, for Prometheus. Without an option: over HTTP, to "
                                  "this host only.")
    top.add_argument("--listen", type=endpoint, metavar="ADDRESS:PORT",
                     help=f"serve HTTP here ({LISTEN}); :PORT for all addresses")
    top.add_argument("--textfile", metavar="FILE", help="write a file for node_exporter's textfile collector")
    top.add_argument("--interval", type=cli.positive, default=TEXTFILE_S, metavar="S",
                     help="seconds between two files (15)")
    top.add_argument("--count", type=cli.natural, metavar="N", help="end after so many files (default: no limit)")
    top.add_argument("--sample", type=cli.positive, default=SAMPLE_S, metavar="S",
                     help="seconds between readings of flows and ports (0.1)")
    top.add_argument("--worst", type=cli.positive, default=WORST_S, metavar="S",
                     help="seconds that _max and _min look back; longer than the interval of the scrapes (300)")
    top.add_argument("--bits4", type=cli.bits(32), default=24, metavar="N", help="length of an IPv4 prefix (24)")
    top.add_argument("--bits6", type=cli.bits(128), default=64, metavar="N", help="length of an IPv6 prefix (64)")
    return top


def run(options: Namespace) -> int:
    sampler = Sampler(options.bits4, options.bits6, options.worst)
    registry = CollectorRegistry()
    sampler.sample()
    if "csig" in sampler.failed:
        print("hopcc-exporter: only root, or CAP_NET_ADMIN, can read CSIG's signals: hopcc_up is 0", file=sys.stderr)
    registry.register(HopccCollector(sampler))
    if options.listen or not options.textfile:
        address, number = options.listen or endpoint(LISTEN)
        prometheus_client.start_http_server(number, addr=address, registry=registry)
    left, due_s = options.count, time.monotonic() + options.interval
    while True:
        time.sleep(options.sample)
        sampler.sample()
        if options.textfile and time.monotonic() >= due_s:
            prometheus_client.write_to_textfile(options.textfile, registry)
            due_s += options.interval
            left = left and left - 1
            if left == 0:
                return 0


def main(words: Sequence[str] | None = None) -> int:
    options = parser().parse_args(words)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            return run(options)
        except OSError as error:
            print(f"hopcc-exporter: {error}", file=sys.stderr)
            return 2
    return 130
