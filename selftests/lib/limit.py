#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run a command, and end it when its own time exceeds a limit: the time in which it, or a process that it started,
runs, or all of them sleep. Time in which they wait for a CPU or a disk does not count, so load ends no command.

    limit.py [--ticks] SECONDS COMMAND...

The status is the command's, or 124 if it was ended, as by timeout(1). --ticks: each second of own time is an empty
line on the command's stdin.
"""
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, f"{Path(__file__).resolve().parents[2]}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import own_time  # noqa: E402

ENDED = 124


def writer(fd):
    """A function that writes a line, unless nobody reads what is there."""
    os.set_blocking(fd, False)

    def tick():
        try:
            os.write(fd, b"\n")
        except OSError:
            pass
    return tick


def main():
    words = sys.argv[1:]
    ticks = words[:1] == ["--ticks"]
    limit_s, *command = words[ticks:]
    process = subprocess.Popen(command, stdin=subprocess.PIPE if ticks else None, start_new_session=True)

    def interrupted(number, _):
        own_time.end(process)
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    if not own_time.wait(process, float(limit_s), writer(process.stdin.fileno()) if ticks else lambda: None):
        print(f"limit.py: no end within {limit_s} s of its own time: {' '.join(command)}", file=sys.stderr)
        return ENDED
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if len(sys.argv) < 3:
    sys.exit(__doc__)
sys.exit(main())
