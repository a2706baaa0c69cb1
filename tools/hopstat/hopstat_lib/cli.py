# SPDX-License-Identifier: GPL-2.0
"""The command line of hopstat."""
import argparse
import sys
import time

from . import doctor, export, flows, ports, probe, screen, table


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


def port(text):
    value = int(text)
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text}: 1 to 65535")
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


ABOUT = """What the hops say: flows with their bottleneck, ports with their queues, of this network
namespace. Without a verb: a live screen; q leaves it, h explains its columns."""

USAGE = "hopstat [-h] [--interval S] [--count N] [--json | --csv] [VERB ...]"

EXAMPLES = """\
examples:
  hopstat                                a live screen
  hopstat --json | jq .                  flows and ports, once; --csv: flows
  hopstat answer &                       on other hosts, for:
  hopstat trace HOST                     the bottleneck on the path to it
  hopstat mesh --hosts FILE              the same to many
  hopstat doctor                         faults of the configuration, and what mends them
  hopstat export --textfile /var/lib/prometheus/node-exporter/csig.prom

columns:
""" + "".join(f"  {line}\n" for line in screen.HELP)


def add_periods(where, default, count):
    """Before the verb, or behind it."""
    where.add_argument("--interval", type=positive, default=default, metavar="S", help="seconds, 1")
    where.add_argument("--count", type=natural, metavar="N", help=f"so many times; {count}: for ever",
                       default=argparse.SUPPRESS if default is argparse.SUPPRESS else None)


def parser():
    top = argparse.ArgumentParser(prog="hopstat", usage=USAGE, description=ABOUT, epilog=EXAMPLES,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    add_periods(top, 1.0, "the screen and export")
    add_forms(top, ", flows and ports", ", flows only")
    form = argparse.ArgumentParser(add_help=False)
    add_forms(form, "", "")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", title="verbs", prog="hopstat",
                               description="hopstat VERB --help tells more")

    one = verbs.add_parser("trace", parents=[form], help="the bottleneck on a path")
    one.add_argument("host", nargs=1, metavar="HOST", help="runs hopstat answer")
    many = verbs.add_parser("mesh", parents=[form], help="the same to many hosts")
    many.add_argument("host", nargs="*", metavar="HOST", help="runs hopstat answer")
    many.add_argument("--hosts", metavar="FILE", help="one a line; # starts a comment")
    for verb in (one, many):
        verb.add_argument("--port", type=port, default=probe.PORT, metavar="N", help="TCP, 4353")
        verb.add_argument("--cc", default="csig", metavar="NAME",
                          help="congestion control whose packets bear tags, csig")
        verb.add_argument("--probes", type=natural, default=12, metavar="N",
                          help="bytes, one after the other, 12")
    be = verbs.add_parser("answer", help="answer to trace and mesh, until it is ended")
    be.add_argument("--address", default="::", help="to listen at; all")
    be.add_argument("--port", type=port, default=probe.PORT, metavar="N", help="TCP, 4353")
    look = verbs.add_parser("doctor", help="find faults of the configuration")
    look.add_argument("cc", nargs="?", metavar="NAME",
                      help="a congestion control that is to be used, beside those in use")
    look.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON lines")
    out = verbs.add_parser("export", help="sum up by destination prefix and locator")
    add_periods(out, argparse.SUPPRESS, "else")
    out.add_argument("--textfile", metavar="FILE", help="Prometheus text format, replaced each period")
    out.add_argument("--jsonl", metavar="FILE", help="JSON lines, appended")
    out.add_argument("--sample", type=positive, default=0.1, metavar="S", help="flows are read so often, 0.1")
    out.add_argument("--bits4", type=bits(32), default=24, help="of an IPv4 prefix, 24")
    out.add_argument("--bits6", type=bits(128), default=64, help="of an IPv6 prefix, 64")
    return top


# What a port uses that does not say so is seen over this long.
PORTS_S = 0.1


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
            words = [line.partition("#")[0].strip() for line in file]
            hosts += [word for word in words if word]
    if not hosts:
        raise ValueError("mesh: name hosts, or --hosts FILE")
    rows = list(probe.mesh(hosts, port=options.port, cc=options.cc, count=options.probes))
    write(options, rows, probe.COLUMNS)
    return 0 if any(map(probe.is_told, rows)) else 1


def run_doctor(options):
    rows = doctor.findings(options.cc)
    if options.json:
        table.write_json(sys.stdout, rows)
    else:
        print("\n".join(doctor.lines(rows)) if rows else "nothing found", flush=True)
    return 1 if rows else 0


def run_lists(options):
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


def run(options):
    if options.verb in ("trace", "mesh"):
        return run_probes(options)
    if options.verb == "answer":
        return probe.answer(options.address, options.port)
    if options.verb == "doctor":
        return run_doctor(options)
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
