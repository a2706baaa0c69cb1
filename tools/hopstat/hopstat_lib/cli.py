# SPDX-License-Identifier: GPL-2.0
"""The command line of hopstat."""
import argparse
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from . import doctor, export, flows, ports, probe, screen, table, why
from .table import Row


class Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **more: Any) -> argparse.Action: ...


def positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text}: more than 0")
    return value


def natural(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return value


def port(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text}: 1 to 65535")
    return value


def bits(most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not 0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: 0 to {most}")
        return value
    return parse


def add_forms(where: argparse.ArgumentParser, of_json: str, of_csv: str) -> None:
    how = where.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="JSON lines" + of_json)
    how.add_argument("--csv", action="store_true", help="CSV" + of_csv)


ABOUT = """Show the flows of this network namespace with their bottlenecks, as switches report them, and
the ports with their queues. Without a verb: a live screen; q ends it, h explains its columns."""

USAGE = "hopstat [-h] [--interval S] [--count N] [--json | --csv] [VERB ...]"

EXAMPLES = """\
examples:
  hopstat                                a live screen
  hopstat --json | jq .                  flows and ports, once; --csv: flows only
  hopstat answer &                       on other hosts, for the next two commands
  hopstat trace HOST                     the bottleneck on the path to it
  hopstat mesh --hosts FILE              the bottlenecks on the paths to many hosts
  hopstat flows                          all connections of hopcc, with ss's values by their names
  hopstat why 192.0.2.1:80               why a connection is what it is
  hopstat doctor                         faults of the configuration, and the commands that correct them
  hopstat export --jsonl FILE            signals by destination prefix; for Prometheus: hopcc-exporter

columns:
""" + "".join(f"  {line}\n" for line in screen.HELP)


def add_periods(where: Options, default: Any, count: str) -> None:
    """The options that may stand before the verb or after it."""
    where.add_argument("--interval", type=positive, default=default, metavar="S",
                       help="seconds between updates (1)")
    where.add_argument("--count", type=natural, metavar="N", help=f"number of updates (default: {count})",
                       default=argparse.SUPPRESS if default is argparse.SUPPRESS else None)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="hopstat", usage=USAGE, description=ABOUT, epilog=EXAMPLES,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    add_periods(top, 1.0, "no limit; 1 with --json or --csv")
    add_forms(top, ", flows and ports", ", flows only")
    form = argparse.ArgumentParser(add_help=False)
    add_forms(form, "", "")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", title="verbs", prog="hopstat",
                               description="hopstat VERB --help shows its options")

    one = verbs.add_parser("trace", parents=[form], help="the bottleneck on a path")
    one.add_argument("host", nargs=1, metavar="HOST", help="runs hopstat answer")
    many = verbs.add_parser("mesh", parents=[form], help="the bottlenecks on the paths to many hosts")
    many.add_argument("host", nargs="*", metavar="HOST", help="runs hopstat answer")
    many.add_argument("--hosts", metavar="FILE", help="one host a line; # starts a comment")
    for verb in (one, many):
        verb.add_argument("--port", type=port, default=probe.PORT, metavar="N", help="TCP port (4353)")
        verb.add_argument("--cc", default="csig", metavar="NAME",
                          help="congestion control whose packets have tags (csig)")
        verb.add_argument("--probes", type=natural, default=12, metavar="N",
                          help="number of bytes that are sent one by one (12)")
    be = verbs.add_parser("answer", help="answer to trace and mesh until a signal ends it")
    be.add_argument("--address", default="::", help="address to listen at (all)")
    be.add_argument("--port", type=port, default=probe.PORT, metavar="N", help="TCP port (4353)")
    verbs.add_parser("flows", parents=[form], help="all connections of our congestion controls, with the "
                     "values that ss shows, by their own names")
    ask = verbs.add_parser("why", help="explain a connection: why it is Reno, where its bottleneck is")
    ask.add_argument("flow", metavar="FLOW", help="the peer's ADDRESS, ADDRESS:PORT or :PORT, or LOCAL-PEER")
    ask.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON lines")
    look = verbs.add_parser("doctor", help="find faults of the configuration")
    look.add_argument("cc", nargs="?", metavar="NAME",
                      help="also check this congestion control, which nothing uses yet")
    look.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON lines")
    out = verbs.add_parser("export", help="summarise the signals by destination prefix and locator")
    add_periods(out, argparse.SUPPRESS, "no limit")
    out.add_argument("--jsonl", metavar="FILE", required=True, help="JSON lines, appended")
    out.add_argument("--sample", type=positive, default=0.1, metavar="S",
                     help="seconds between readings of the flows (0.1)")
    out.add_argument("--bits4", type=bits(32), default=24, help="length of an IPv4 prefix (24)")
    out.add_argument("--bits6", type=bits(128), default=64, help="length of an IPv6 prefix (64)")
    return top


# A port that does not report its use is read twice, this long apart.
PORTS_S = 0.1


def write(options: Namespace, rows: list[Row], columns: Sequence[str], **more: object) -> None:
    if options.json:
        table.write_json(sys.stdout, rows, **more)
    elif options.csv:
        table.write_csv(sys.stdout, rows, columns)
    else:
        print("\n".join(table.lines(rows, columns)), flush=True)


def run_probes(options: Namespace) -> int:
    hosts = list(options.host)
    if getattr(options, "hosts", None):
        with open(options.hosts, encoding="utf-8") as file:
            words = [line.partition("#")[0].strip() for line in file]
            hosts += [word for word in words if word]
    if not hosts:
        raise ValueError("mesh: name hosts, or --hosts FILE")
    rows = list(probe.mesh(hosts, port=options.port, cc=options.cc, count=options.probes))
    write(options, rows, probe.COLUMNS)
    return 0 if any(map(probe.is_reported, rows)) else 1


def run_doctor(options: Namespace) -> int:
    rows = doctor.findings(options.cc)
    if options.json:
        table.write_json(sys.stdout, rows)
    else:
        print("\n".join(doctor.lines(rows)) if rows else "nothing found", flush=True)
    return 1 if rows else 0


def run_why(options: Namespace) -> int:
    rows = why.explain(options.flow)
    if not rows:
        raise ValueError(f"why: no TCP connection to {options.flow} in this network namespace")
    if options.json:
        table.write_json(sys.stdout, rows)
    else:
        print("\n".join(why.lines(rows)), flush=True)
    return 1 if any(row["findings"] for row in rows) else 0


def run_flows(options: Namespace) -> int:
    rows = flows.connections()
    if rows or options.json or options.csv:
        write(options, rows, flows.TCP_COLUMNS)
    else:
        print("no connection of hopcc's congestion controls in this network namespace")
    return 0


def run_lists(options: Namespace) -> int:
    left = options.count or 1
    while True:
        now_s = round(time.time(), 6)
        queues, rows = ports.over(PORTS_S, flows.read)
        if options.csv:
            table.write_csv(sys.stdout, rows, flows.COLUMNS, heading=left == (options.count or 1))
        else:
            table.write_json(sys.stdout, rows, what="flow", time_s=now_s)
            table.write_json(sys.stdout, queues, what="port", time_s=now_s)
        left -= 1
        if not left:
            return 0
        time.sleep(options.interval)


VERBS: dict[str, Callable[[Namespace], int]] = {
    "trace": run_probes, "mesh": run_probes, "doctor": run_doctor, "why": run_why, "flows": run_flows,
    "export": export.run, "answer": lambda options: probe.answer(options.address, options.port),
}


def run(options: Namespace) -> int:
    if options.verb in VERBS:
        return VERBS[options.verb](options)
    if options.json or options.csv:
        return run_lists(options)
    screen.show(options.interval, options.count)
    return 0


def main() -> int:
    options = parser().parse_args()
    try:
        return run(options)
    except KeyboardInterrupt:
        return 130
    except PermissionError as error:
        print(f"hopstat: {error.strerror}; as root: sudo hopstat {options.verb or ''}".rstrip(), file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"hopstat: {error}", file=sys.stderr)
        return 2
