#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The commands of howto/measure.md for iperf3, netperf and Flent, as written but for the address; prints TAP.

    a [a-r] ---- [r-a: tbf 100mbit, int] r [r-b: the same] ---- b

measure.py PATH    PATH: the folder of netperf and netserver. Needs root; changes nothing outside its network namespaces.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import hosts
from hosts import B, run

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Documentation/howto/measure.md")
ADDRESS = "10.1.0.2"
PORT_MBIT = 100
# Longer than any of the page's measurements.
LIMIT_S = 120
tap = hosts.Tap()


def commands(heading):
    """The commands below a heading, without comments; a line that ends in a backslash goes on."""
    with open(PAGE, encoding="utf-8") as file:
        part = file.read().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    text = "\n".join(line[4:] for line in part.splitlines() if line.startswith("    ")).replace("\\\n", " ")
    return [line.partition(" #")[0].replace(ADDRESS, B[4]).strip() for line in text.splitlines()]


def within(name):
    return ["nsenter", f"--net=/run/netns/{name}", "sh", "-c"]


def serve(command):
    """A server of b; a daemon stays after its first process has ended."""
    child = subprocess.Popen([*within("b"), f"exec {command}"], stdout=subprocess.DEVNULL)
    time.sleep(1)
    return child


class Measured:
    """The output of a command of a, and the congestion controls of its connections while it ran."""

    def __init__(self, command, folder, seconds):
        self.command, self.controls = command, set()
        with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
            child = subprocess.Popen([*within("a"), command], stdout=said, stderr=subprocess.STDOUT, cwd=folder)
            end = time.monotonic() + LIMIT_S
            while child.poll() is None and time.monotonic() < end:
                time.sleep(seconds / 4)
                self.look()
            if child.poll() is None:
                child.kill()
            self.status = child.wait()
            said.seek(0)
            self.text = said.read()

    def look(self):
        """Connections with more than a few segments, so that those that only control the test are left out."""
        text = subprocess.run([*within("a"), f"ss -tiHO dst {B[4]}"], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            acked, control = re.search(r"bytes_acked:(\d+)", line), re.search(r" (\w+(?:-reno)?) wscale:", line)
            if acked and control and int(acked[1]) > 100000:
                self.controls.add(control[1])


def claims(one, wanted):
    """wanted: (what, pattern of what is printed, least value of its last group)"""
    tap.claim(f"{one.command}: ends well", one.status == 0, one.text[-600:])
    for what, pattern, least in wanted:
        found = re.findall(pattern, one.text)
        tap.claim(f"{one.command.split()[0]}: {what}", found and float(found[-1]) >= least, one.text[-600:])
    tap.equal(f"{one.command.split()[0]}: its data is sent by hpccpp", one.controls, {"hpccpp"})


def see_iperf3(folder):
    server, client, look = commands("iperf3")
    child = serve(server)
    # 5 % of the port stays free; headers and probes take more.
    claims(Measured(client, folder, 10), [("Mbit/s at the receiver", r"\[SUM\].* (\S+) Mbits/sec +receiver",
                                           0.8 * PORT_MBIT)])
    child.terminate()
    child.wait()
    tap.equal("the page's ss names the congestion control", subprocess.run(
        [*within("a"), look], check=False, stdout=subprocess.DEVNULL).returncode, 0)


def see_netperf(folder):
    server, stream, requests = commands("netperf")
    serve(server)
    claims(Measured(stream, folder, 10), [("10^6 bits a second", r"\d+ +\d+ +\d+ +[\d.]+ +([\d.]+)", 0.8 * PORT_MBIT)])
    claims(Measured(requests, folder, 10), [("transactions a second", r"(?m)^\d+ +\d+ +64 +20000 +[\d.]+ +([\d.]+)", 400)])


def see_flent(folder):
    one, several = commands("Flent")[:2]
    claims(Measured(one, folder, 30), [])
    tap.claim("flent: a picture", os.path.exists(f"{folder}/hpccpp.png"))
    done = subprocess.run([*within("a"), several], cwd=folder, capture_output=True, text=True, check=False)
    tap.claim("flent: several in one picture", done.returncode == 0 and os.path.exists(f"{folder}/all.png"),
              done.stderr[-300:])


def main():
    os.environ["PATH"] = f"{sys.argv[1]}:{os.environ['PATH']}:/usr/sbin:/sbin"
    hosts.build_path()
    for port in "r-a", "r-b":
        run(f"tc -n r qdisc add dev {port} root handle 1: tbf rate {PORT_MBIT}mbit burst 5k limit 1mb")
        run(f"tc -n r qdisc add dev {port} parent 1: handle 10: int rate {PORT_MBIT}mbit overhead 24")
    with tempfile.TemporaryDirectory() as folder:
        for see in see_iperf3, see_netperf, see_flent:
            see(folder)
    subprocess.run(["pkill", "netserver"], check=False)
    hosts.remove_path()
    return tap.done()


sys.exit(main())
