# SPDX-License-Identifier: GPL-2.0
"""The commands."""
import argparse
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from . import LabError, build, guest


def cmd_exec(args):
    kdir, modules = build.everything(args.kernel, args.modules)
    (build.BUILD / "run").mkdir(exist_ok=True)
    run = Path(tempfile.mkdtemp(prefix="exec-", dir=build.BUILD / "run"))
    outcome = guest.run(guest.Boot(
        command=shlex.join(args.command), run=run, kernel=args.kernel, kdir=kdir, modules=modules,
        seed=args.seed, timeout_s=args.timeout, limit_s=args.limit))
    if outcome.problem:
        guest.describe(outcome, shlex.join(args.command))
        print(f"lab: all of it is in {run}", file=sys.stderr)
    else:
        shutil.rmtree(run)
    return outcome.status


def parser():
    top = argparse.ArgumentParser(prog="lab", description="real Linux networking in virtual time")
    commands = top.add_subparsers(dest="name", required=True, metavar="COMMAND")
    run = commands.add_parser("exec", help="run a command as root in a guest, modules loaded")
    add_kernel(run)
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--timeout", type=float, default=600, metavar="S", help="wall time (600)")
    run.add_argument("--limit", type=float, default=0, metavar="S", help="virtual time (none)")
    run.add_argument("--modules", metavar="DIR", help="load the .ko of DIR, build none")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    run.set_defaults(call=cmd_exec)
    return top


def add_kernel(command):
    command.add_argument("--kernel", choices=build.KERNELS, default="release")


def main(argv):
    args = parser().parse_args(argv)
    if getattr(args, "command", None) and args.command[0] == "--":
        args.command = args.command[1:]
    if args.name == "exec" and not args.command:
        parser().error("exec: which command?")
    try:
        return args.call(args)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130
