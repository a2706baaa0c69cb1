#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run the blocks of commands of Documentation/tutorial.md as they are written there.

    tutorial.py PAGE guest FOLDER    in the lab's guest: those for namespaces and for two hosts
    tutorial.py PAGE host FOLDER     here: those that use the lab; their files go to FOLDER

FOLDER also has the stand-ins for sudo and modprobe: the guest's user is root, and its modules are
loaded before its commands start.
"""
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../../tools/lab")]
from hoplab import own_time  # noqa: E402
from tap import Tap  # noqa: E402

# The word behind "```sh", and the namespaces that play the machines of the page.
NAMESPACES = {"hosts": ["h1", "h2"], "switch": ["s1"], "receiver": ["h2"], "sender": ["h1"]}
# deb-matrix.t runs these two.
INSTALL = ["checkout", "packages"]
PLACES = ["here", "lab", "shell", *INSTALL, *NAMESPACES]
PROMPT = b"lab# "
# Own time: a program hangs that takes so long for a block, or prints nothing for so long.
LIMIT_S = 600
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.M)


def blocks(page):
    """(place, commands) of each block."""
    with open(page, encoding="utf-8") as file:
        return [(head.removeprefix("sh "), commands) for head, commands in FENCE.findall(file.read())]


def run(commands, folder=None, inside=()):
    # Without a file for what they print, a server that stays would keep the pipe open.
    with open(os.path.join(folder or "/tmp", "printed"), "w+", encoding="utf-8") as printed:
        process = subprocess.Popen([*inside, "sh", "-e", "-c", commands], stdin=subprocess.DEVNULL, stdout=printed,
                                   stderr=subprocess.STDOUT, cwd=folder)
        ended = own_time.wait(process, LIMIT_S)
        printed.seek(0)
        return process.returncode, printed.read() + ("" if ended else f"\n(no end within {LIMIT_S} s of own time)\n")


def title(commands):
    return commands.splitlines()[0]


def count(words, printed):
    return int((re.findall(words, printed) or [-1])[-1])


def seen(tap, printed):
    """What the page says of these outputs."""
    if "ss -tin" in printed["commands"]:
        tap.claim("ss shows dctcp_ms and alpha", re.search(r"dctcp_ms .*alpha:\d", printed["text"]), printed["text"])
    if "-s qdisc show" in printed["commands"]:
        tap.claim("the switch has marked packets and dropped none", count(r"marked (\d+)", printed["text"]) > 0
                  and count(r"dropped (\d+)", printed["text"]) == 0, printed["text"])


def step(tap, commands, folder=None, inside=(), where=""):
    status, text = run(commands, folder, inside)
    tap.claim(f"{where}{title(commands)}", status == 0, f"status {status}\n{text}" if status else "")
    seen(tap, {"commands": commands, "text": text})
    return text


def in_guest(tap, page):
    found = blocks(page)
    here = [commands for place, commands in found if place == "here"]
    for commands in here:
        step(tap, commands)
    # The machines of the second place: the network of the first one.
    run(here[0])
    for place, commands in found:
        for namespace in NAMESPACES.get(place, []):
            step(tap, commands, inside=["ip", "netns", "exec", namespace], where=f"{place}: ")


def read_until(fd, words, pid):
    """What the process at the other end prints until `words` are in it, until it hangs, or until its end."""
    printed, own = b"", own_time.OwnTime([pid])
    while (words is None or words not in printed) and not own.has_exceeded(LIMIT_S):
        if not select.select([fd], [], [], own_time.PERIOD_S)[0]:
            continue
        own = own_time.OwnTime([pid])
        try:
            more = os.read(fd, 65536)
        except OSError:         # the other end is closed
            break
        if not more:
            break
        printed += more
    return printed


def typed(commands, folder):
    """Type lines into the program that the first one starts; wait for its prompt before each."""
    first, *rest = commands.splitlines()
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvp("sh", ["sh", "-c", first])
    printed = b""
    for line in rest:
        more = read_until(fd, PROMPT, pid)
        printed += more if PROMPT in more else more + f"\n(no prompt before: {line})\n".encode()
        os.write(fd, line.encode() + b"\n")
    printed += read_until(fd, None, pid)
    # It has ended, or it hangs.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGHUP)
    _, status = os.waitpid(pid, 0)
    return status, printed.decode(errors="replace").replace("\r", "")


def on_host(tap, page, folder):
    found = blocks(page)
    unknown = [place for place, _ in found if place not in PLACES]
    tap.claim("every block says where it runs", not unknown, repr(unknown))
    text = "".join(step(tap, commands, folder) for place, commands in found if place == "lab")
    tap.claim("Mininet: the port has marked packets and dropped none",
              count(r"sent \d+ packets, marked (\d+)", text) > 0 and ", dropped 0" in text, text)
    tap.claim("the lab: the claim holds, and there are pictures", re.search(r"utilization .* pass", text)
              and os.path.getsize(os.path.join(folder, "first/report.html")) > 10000, text)
    tap.claim("Flent reads the lab's results: two flows fill the port",
              re.search(r"TCP upload sum : +9[34]\d", text) and "TCP upload::2" in text, text)
    for place, commands in found:
        if place == "shell":
            status, text = typed(commands, folder)
            tap.claim(f"{title(commands)}: the scenario's flows start in the shell",
                      status == 0 and re.search(r"long: \d+ transfers, [0-9.]+ MB", text), text)
            tap.claim("and pass the switch", count(r"Sent (\d+) bytes", text) > 10000, text)


def main():
    page, where, folder = sys.argv[1:]
    tap = Tap()
    if where == "guest":
        os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"
        in_guest(tap, page)
    else:
        on_host(tap, page, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
