#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Sort KCSAN's reports on a guest's console by whose code raced.

    kcsan_reports.py CONSOLE MODULE...

A report has two accesses, each with its stack. It is ours if the code of one of the two accesses
is in one of the modules named: status 1, and the report is printed. Reports about the kernel's own
code are counted and listed: the modules can be in their stacks, since every packet goes through
them, but the code that races is not theirs.

The last line is a comment of TAP with JSON: the number of reports of each kind.
"""

import collections
import json
import re
import sys

STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")
RULE = "=" * 66
TITLE = re.compile(r"BUG: KCSAN: (\S+) in (.*)")
MODULE = re.compile(r"\[(\w+)\]")


def reports(lines):
    """The lines of each report, its title first."""
    report = None
    for line in lines:
        text = STAMP.sub("", line.rstrip("\r\n"))
        if TITLE.match(text):
            report = [text]
        elif report is not None:
            if text == RULE:
                yield report
                report = None
            else:
                report.append(text)
    # The console ended inside a report: what is there counts.
    if report:
        yield report


def is_ours(report, modules):
    """The title names the functions of both accesses, with their modules."""
    return bool(set(MODULE.findall(TITLE.match(report[0]).group(2))) & set(modules))


def show(report, times):
    print(f"# {times} times: {report[0]}")
    for text in report[1:]:
        print(f"#   {text}")


def main():
    console, modules = sys.argv[1], sys.argv[2:]
    with open(console, encoding="utf-8", errors="replace") as file:
        found = list(reports(file))
    first, times = {}, collections.Counter()
    for report in found:
        first.setdefault(report[0], report)
        times[report[0]] += 1
    ours = [report for title, report in first.items() if is_ours(report, modules)]
    for title, number in times.most_common():
        if first[title] not in ours:
            print(f"# {number} times, not ours: {TITLE.match(title).group(2)}")
    for report in ours:
        show(report, times[report[0]])
    count = sum(times[report[0]] for report in ours)
    print("# " + json.dumps({"ours": count, "others": len(found) - count}))
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
