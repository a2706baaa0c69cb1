#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What each rule of a congestion control is for: the lab's scenarios without it.

LAW/NAME.patch removes the rule NAME from the tree. Its text in front of the diff has a line `Rule:` with
what the rule does and a line `Scenarios:` with those that can show it. Each patch is applied to a copy of
the tree in build/ablation, and a table shows the claims that fail without the rule and the figures that
change by more than --change. A run with the same bytes as with the rule is not listed.

    ablation.py check                                         do all patches apply? prints TAP
    ablation.py run LAW [RULE ...] [--scenario S ...] [--seed N] [--change F]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
COPY = TOP / "build/ablation/tree"


def header(patch, key):
    """The words behind `key:` in the text of a patch."""
    for line in patch.read_text().splitlines():
        if line.startswith(key + ":"):
            return line[len(key) + 1:].strip()
        if line.startswith("diff "):
            break
    return ""


def apply(patch, tree, *options):
    return subprocess.run(["git", "apply", "-C1", *options, str(patch)], cwd=tree, capture_output=True, text=True)


def check():
    """TAP: each patch has its text and applies to the tree."""
    failed = 0
    patches = sorted(HERE.glob("*/*.patch"))
    for number, patch in enumerate(patches, 1):
        result = apply(patch, TOP, "--check")
        scenarios = header(patch, "Scenarios").split()
        good = result.returncode == 0 and header(patch, "Rule") and scenarios and all(map(scenario_file, scenarios))
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {patch.relative_to(HERE)} applies and names scenarios")
        for line in result.stderr.splitlines():
            print(f"# {line}")
    print(f"1..{len(patches)}")
    return 1 if failed or not patches else 0


def scenario_file(name):
    for folder in "", "figures/":
        file = f"tools/lab/scenarios/{folder}{name}.toml"
        if (TOP / file).exists():
            return file
    return None


def copy_tree():
    """The tree's files as they are, tracked or not ignored; the copy keeps what the lab has built."""
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\0")
    for old in COPY.glob("*"):
        if old.name == "build":
            continue
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink()
    for name in filter(None, files):
        if (TOP / name).exists() or (TOP / name).is_symlink():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, COPY / name, follow_symlinks=False)
    # git applies patches to paths below its work tree.
    subprocess.run(["git", "init", "-q"], cwd=COPY, check=True)


def measure(scenario, seed):
    """Results of a scenario in the copy, as `lab run --json` prints them."""
    command = ["tools/lab/lab", "run", "--json", "--out", str(COPY / "build/results"), str(COPY / scenario_file(scenario))]
    result = subprocess.run(command + (["--seed", str(seed)] if seed else []), cwd=COPY, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    try:
        return json.loads(result.stdout)
    except ValueError:
        sys.exit(f"ablation: {scenario}: {result.stderr[-2000:]}")


def spread(values):
    """The least and the largest value; None is infinite."""
    known = [float("inf") if v is None else v for v in values] or [float("inf")]
    low, high = f"{min(known):.4g}", f"{max(known):.4g}"
    return low if low == high else f"{low} to {high}"


def differs(before, after, change):
    return any(abs((b or 0) - (a or 0)) > change * max(abs(b or 0), abs(a or 0)) for b, a in zip(before, after))


def compare(rule, scenario, before, after, change):
    """Rows of the table: claims that fail or change."""
    for run in after["runs"]:
        if run["problem"]:
            print(f"| {rule} | {run['run']} | | | {run['problem']} | | failed |")
    if [r["digest"] for r in before["runs"]] == [r["digest"] for r in after["runs"]]:
        print(f"| {rule} | {scenario} | the same bytes | | | | |", flush=True)
        return
    changed = 0
    for old, new in zip(before["claims"], after["claims"]):
        worse = old["passed"] and not new["passed"]
        if worse or differs(old["measured"], new["measured"], change):
            changed += 1
            print(f"| {rule} | {scenario}/{new['case']} | `{new['metric']}` | {spread(old['measured'])} | "
                  f"{spread(new['measured'])} | {new['required']} | {'failed' if worse else ''} |", flush=True)
    if not changed:
        print(f"| {rule} | {scenario} | no claim changes by {change} | | | | |", flush=True)


def run(args):
    patches = sorted((HERE / args.law).glob("*.patch"))
    if args.rules:
        patches = [HERE / args.law / f"{rule}.patch" for rule in args.rules]
    COPY.mkdir(parents=True, exist_ok=True)
    copy_tree()
    plain = {}
    print("| rule | scenario | metric | with it | without | required | |\n| --- | --- | --- | --- | --- | --- | --- |",
          flush=True)
    for patch in patches:
        scenarios = args.scenario or header(patch, "Scenarios").split()
        for name in scenarios:
            if name not in plain:
                plain[name] = measure(name, args.seed)
        applied = apply(patch, COPY)
        if applied.returncode:
            sys.exit(f"ablation: {patch}: {applied.stderr}")
        for name in scenarios:
            compare(patch.stem, name, plain[name], measure(name, args.seed), args.change)
        apply(patch, COPY, "-R")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    one = commands.add_parser("run")
    one.add_argument("law")
    one.add_argument("rules", nargs="*", metavar="RULE")
    one.add_argument("--scenario", action="append", help="instead of the patch's; may be repeated")
    one.add_argument("--seed", type=int)
    one.add_argument("--change", type=float, default=0.05, help="least change of a figure that is listed")
    args = parser.parse_args()
    return check() if args.command == "check" else run(args)


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
