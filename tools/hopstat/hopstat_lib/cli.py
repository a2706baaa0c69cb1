# SPDX-License-Identifier: GPL-2.0
"""The command line of hopstat."""
import argparse
import sys
import time

from . import export, flows, ports, probe, screen, table


def positive(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text}: more than 0")
    return value


def natural(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return value


def bits(most):
    def parse(text):
        value = int(text)
        if not 0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: 0 to {most}")
        return value
    return parse


def add_forms(where, of_json, of_csv):
    how = where.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="JSON lines" + of_json)
    how.add_argument("--csv", action="store_true", help="CSV" + of_csv)


def parser():
    top = argparse.ArgumentParser(prog="hopstat", description="What the hops say.")
    top.add_argument("--interval", type=positive, default=1.0, metavar="S", help="seconds, 1")
    top.add_argument("--count", type=natural, metavar="N", help="so many times; the screen: for ever")
    add_forms(top, ", flows and ports", ", flows only")
    form = argparse.ArgumentParser(add_help=False)
    add_forms(form, "", "")
    verbs = top.add_subparsers(dest="verb", metavar="VERB")

    one = verbs.add_parser("trace", parents=[form], help="the bottleneck on a path")
    one.add_argument("host", nargs=1)
    many = verbs.add_parser("mesh", parents=[form], help="the same to many hosts")
    many.add_argument("host", nargs="*")
    many.add_argument("--hosts", metavar="FILE", help="one a line")
    for verb in (one, many):
        verb.add_argument("--port", type=int, default=probe.PORT)
        verb.add_argument("--cc", default="csig", help="congestion control whose packets bear tags")
        verb.add_argument("--probes", type=natural, default=12)
    be = verbs.add_parser("answer", help="answer to trace and mesh")
    be.add_argument("--address", default="::")
    be.add_argument("--port", type=int, default=probe.PORT)
    out = verbs.add_parser("export", help="sum up by destination prefix and locator")
    out.add_argument("--textfile", metavar="FILE", help="Prometheus text format, replaced each period")
    out.add_argument("--jsonl", metavar="FILE", help="JSON lines, appended")
    out.add_argument("--sample", type=positive, default=0.1, metavar="S", help="flows are read so often, 0.1")
    out.add_argument("--bits4", type=bits(32), default=24, help="of an IPv4 prefix, 24")
    out.add_argument("--bits6", type=bits(128), default=64, help="of an IPv6 prefix, 64")
    return top


def write(options, rows, columns, **more):
    if options.json:
        table.write_json(sys.stdout, rows, **more)
    elif options.csv:
        table.write_csv(sys.stdout, rows, columns)
    else:
        print("\n".join(table.lines(rows, columns)), flush=True)


def run_probes(options):
    hosts = list(options.host)
    if getattr(options, "hosts", None):
        with open(options.hosts, encoding="utf-8") as file:
            hosts += [line.strip() for line in file if line.strip() and line[0] != "#"]
    if not hosts:
        raise ValueError("no hosts")
    rows = list(probe.mesh(hosts, port=options.port, cc=options.cc, count=options.probes))
    write(options, rows, probe.COLUMNS)
    return 0 if any(r["hop"] for r in rows) else 1


def run_lists(options):
    left = options.count or 1
    while True:
        now_s = round(time.time(), 6)
        rows = flows.read()
        if options.csv:
            table.write_csv(sys.stdout, rows, flows.COLUMNS, heading=left == (options.count or 1))
        else:
            table.write_json(sys.stdout, rows, what="flow", time_s=now_s)
            table.write_json(sys.stdout, ports.read(), what="port", time_s=now_s)
        left -= 1
        if not left:
            return 0
        time.sleep(options.interval)


def run(options):
    if options.verb in ("trace", "mesh"):
        return run_probes(options)
    if options.verb == "answer":
        return probe.answer(options.address, options.port)
    if options.verb == "export":
        if not options.textfile and not options.jsonl:
            raise ValueError("export: --textfile or --jsonl")
        return export.run(options)
    if options.json or options.csv:
        return run_lists(options)
    screen.show(options.interval, options.count)
    return 0


def main():
    options = parser().parse_args()
    try:
        return run(options)
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError) as error:
        print(f"hopstat: {error}", file=sys.stderr)
        return 2
