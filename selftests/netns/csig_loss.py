#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A packet of the handshake is lost or late, once: CSIG is in use nevertheless. Prints TAP.

    a ---- [r-a] r [r-b: tbf 1gbit, csig] ---- b

Needs root, nft and the modules; changes nothing outside its own network namespaces.
"""
import sys
import threading
import time

import hosts
from csig_tag import MIB, Since, knob, setup
from hosts import Stream, close, connect, run, sysctl, transfer
from late_choice import uses_reports
from xcp_firewall import nft

tap = hosts.Tap()

# For half a second, and the packet is repeated after a whole one.
DROP = """
table ip lossy {{
	chain forward {{
		type filter hook forward priority 0; policy accept;
		tcp flags & (syn | ack) == {} drop
	}}
}}
"""
LATE = "tc -n r qdisc {} dev r-a root netem delay {}ms limit 10000"


def late_synack(act):
    """The SYN-ACK comes after 1.2 s. The SYN is repeated after 1 s, and is answered too."""
    run(LATE.format("add", 1200))
    return meanwhile(act, 1.3, lambda: run(LATE.format("change", 0)))


def meanwhile(act, wait_s, end):
    timer = threading.Timer(wait_s, end)
    timer.start()
    pair = act()
    timer.join()
    return pair


def once(flags):
    def lose(act):
        nft("r", DROP.format(flags))
        return meanwhile(act, 0.5, lambda: nft("r", "flush ruleset"))
    return lose


def opened():
    return connect(4, "csig")


def paused():
    """b repeats its SYN-ACK while a says nothing."""
    pair = connect(4, "csig")
    time.sleep(1.6)
    return pair


CASES = (("the SYN is lost", once("syn"), opened, False),
         ("the SYN-ACK is lost", once("(syn | ack)"), opened, False),
         ("the handshake's ACK is lost", once("ack"), paused, False),
         ("the SYN-ACK is late", late_synack, opened, False),
         ("the SYN-ACK is late, and the server speaks first", late_synack, opened, True))


def check(what, lose, act, server_first):
    since = Since()
    pair = lose(act)
    if server_first:
        pair[1].sendall(b"?")
        time.sleep(0.1)
    good = transfer([Stream(*pair, 2 * MIB)])
    reports = uses_reports(pair[0], "csig")
    got = {name: since(name) for name in "ab"}
    close(*pair)
    a, b = got["a"], got["b"]
    tap.claim(f"{what}: whole, tags are sent and reflected, csig follows the hop's delay",
              good and reports and a.get("peer_supported") == b.get("peer_supported") == 1 and
              a.get("out_tag", 0) > 1000 and a.get("in_value", 0) > 20 and
              not a.get("path_stripped"), f"whole {good}, reports {reports}, {got}")
    run("tc -n r qdisc del dev r-a root", check=False)


def main():
    setup()
    for name in "ab":
        sysctl(name, "hopcc/tcp_csig_target_ns", 50000)
    knob("a", "csig_cc", "csig")
    for case in CASES:
        check(*case)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
