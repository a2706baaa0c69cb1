#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tunnels of each kind carry what is behind them, a source sends at its rate, rules are checked before a guest starts.

    h1..h4 -- s1 -- s2 -- s3 -- r1..r4

s1 and s3 are the ends of three tunnels; s2 counts what passes.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.path.insert(0, f"{TOP}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import scenario  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()

TUNNELS = """
title = "three kinds of tunnel, and a source of a constant rate"
[params]
# 100000 bytes in segments of 1448: no path takes fewer packets.
segments = 69
[[case]]
name = "through-tunnels"
[run]
duration = "120ms"
warmup = "20ms"
[network]
hosts = ["h[1-4]", "r[1-4]"]
switches = ["s[1-3]"]
[[link]]
a = "h[1-4]"
b = "s1"
rate = "1gbit"
delay = "5us"
[[link]]
a = "r[1-4]"
b = "s3"
rate = "1gbit"
delay = "5us"
[[link]]
a = "s2"
b = ["s1", "s3"]
rate = "10gbit"
delay = "5us"
queue = "bfifo limit 1m"
[[tunnel]]
a = "s1"
b = "s3"
kind = "vxlan"
behind_a = "h1"
behind_b = "r1"
[[tunnel]]
a = "s3"
b = "s1"
kind = "gre"
behind_a = "r2"
behind_b = "h2"
[[tunnel]]
a = "s1"
b = "s3"
kind = "ipip"
behind_a = "h3"
behind_b = "r3"
[[host]]
name = "s2"
nft = '''
table inet look {
	chain pass {
		type filter hook forward priority 0;
		udp dport 4789 counter comment "vxlan"
		ip protocol gre counter comment "gre"
		ip protocol ipencap counter comment "ipip"
		ip protocol tcp counter comment "tcp"
		ip6 nexthdr tcp counter comment "tcp6"
	}
}
'''
[[flow]]
name = "inner"
from = "h[1-3]"
to = "r[1-3]"
pairwise = true
bytes = 100000
verify = true
[[flow]]
name = "inner6"
from = "h[1-2]"
to = "r[1-2]"
pairwise = true
bytes = 100000
family = 6
[[flow]]
name = "constant"
from = "h4"
to = "r4"
cc = "cubic"
rate = "97mbit"
[sample]
ports = ["s3:r4"]
queue = "1ms"
[[claim]]
metric = "done('inner') + done('inner6')"
min = 2
[[claim]]
metric = "corrupt('inner')"
max = 0
[[claim]]
metric = "min(counted('vxlan') - 2 * {segments}, counted('gre') - 2 * {segments}, counted('ipip') - {segments})"
min = 0
[[claim]]
metric = "counted('tcp6')"
max = 0
note = "IPv6 went through the tunnels alone"
[[claim]]
metric = "goodput('constant')"
min = "97mbit * 0.99"
max = "97mbit * 1.01"
[[claim]]
metric = "counted('tcp') / (97e6 * 0.12 / 8 / 1448)"
max = 2.05
note = "the constant flow's segments and an ACK for each: another flow outside of its tunnel were 0.07 more"
"""


def lab(folder, text, *words):
    file = Path(folder, "tunnels.toml")
    file.write_text(text)
    return subprocess.run([TOP / "tools/lab/lab", "run", file, "--out", folder, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = lab(folder, TUNNELS, "--only", "through-tunnels")
        tap.result(done.returncode == 0, "tunnels carry what is behind them; a source has its rate", done.stdout + done.stderr)
        done = lab(folder, TUNNELS.replace("ip protocol gre", "ip protocoll gre"))
        tap.result(done.returncode == 2 and "s2.nft:5:" in done.stderr and "syntax error" in done.stderr
                   and "[lab]" not in done.stderr, "a rule that is none is refused before a guest starts", done.stderr)
        found = scenario.load(f"{folder}/tunnels.toml")
        names = [found.case_named(word) and found.case_named(word).name for word in
                 ("through-tunnels", "through_tunnels", "through")]
        tap.equal("a case has the name in the file, too", names, ["through_tunnels", "through_tunnels", None])
    return tap.done()


sys.exit(main())
