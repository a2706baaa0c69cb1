#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The carriers together with NFQUEUE, and with connection tracking in tc.

    a [1 output, 2 behind the carriers] ---- [3 forward] r [tbf 1gbit, hop] ---- [4 in front
    of the carriers, 5 input] b

carriers_beside.py [CARRIER ...] tests all carriers by default. Prints TAP. Needs root and nft;
changes nothing outside its own network namespaces.
"""
import signal
import subprocess
import sys
import time

import hosts
from hosts import Stream, close, connect, counts, run, sysctl, transfer
from nfqueue import ACCEPT, DROP, Program

tap = hosts.Tap()
KIB = 1 << 10
TBF = "root handle 1: tbf rate 1gbit burst 64k limit 1mb"
# Carrier: cc, switch qdisc, counters of headers sent, and of headers received at the other end.
CARRIERS = {
    "csig": ("cubic", "csig rate 1gbit lm all compact 42", "out_tag", "in_received"),
    "int": ("hpccpp", "int rate 1gbit switch_id 1", "out_data", "in_data"),
    "xcp": ("xcp", "xcp rate 1gbit", "out_data", "in"),
}
QUEUES = {"a": (1, 2), "r": (3,), "b": (4, 5)}
HOOKS = {1: "output priority 0", 2: "postrouting priority 400", 3: "forward priority 0",
         4: "prerouting priority -500", 5: "input priority 0"}


def nft(name, text):
    subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=text, text=True,
                   check=True)


def rules(numbers):
    """Return the nftables rules. If no program listens, packets pass."""
    return "".join(f"""
table ip q{n} {{
	chain c {{
		type filter hook {HOOKS[n]};
		meta l4proto {{ tcp, 63, 254 }} queue num {n} bypass
	}}
}}
""" for n in numbers)


def build(carrier):
    cc, hop, *_ = CARRIERS[carrier]
    hosts.build_path()
    run(f"tc -n r qdisc replace dev r-b {TBF}")
    run(f"tc -n r qdisc add dev r-b parent 1:1 handle 10: {hop}")
    if carrier == "csig":
        for name in "arb":
            sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
            sysctl(name, "hopcc/csig", 2)
        sysctl("a", "hopcc/csig_cc", cc)
    else:
        # The programs behind the carriers know the header: it is added although they are there.
        for name in "ab":
            sysctl(name, f"hopcc/{carrier}", 2)
        # A delay by a program must not make the peer be cached as one without support.
        sysctl("a", f"hopcc/{carrier}_unsupported_s", 0)
    if carrier == "int":
        sysctl("a", "hopcc/int_forward", 1)
        sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 1000)
    if carrier == "xcp":
        # After a loss, XCP uses Reno for one round trip only.
        sysctl("a", "hopcc/tcp_xcp_loss", 1)


def stream(carrier, total=512 * KIB, meanwhile=None, **more):
    """Return (intact, a's counters, b's counters, segments that b's TCP found damaged)."""
    before = {name: counts(name, carrier) for name in "ab"}
    damaged = hosts.snmp("b", "Tcp", "InCsumErrors")
    pair = connect(4, CARRIERS[carrier][0], **more)
    good = bool(pair) and transfer([Stream(*pair, total)], meanwhile=meanwhile)
    if pair:
        close(*pair)
    return (good, hosts.since("a", before["a"], carrier), hosts.since("b", before["b"], carrier),
            hosts.snmp("b", "Tcp", "InCsumErrors") - damaged)


class Judge:
    """Gives verdicts: in each queue it drops one packet and returns every 7th unchanged; in the
    router's queue it changes one bit that only TCP's checksum covers."""

    def __init__(self):
        self.damaged = False

    def __call__(self, number, seen, data, may_rebuild):
        # The losses are apart: three at once cause a timeout, and two timeouts end headers. What is
        # damaged comes behind them, so that no queue drops it.
        if seen == 20 + 9 * number:
            return DROP, None
        if not may_rebuild:
            return ACCEPT, None
        if number == 3 and seen > 80 and len(data) > 1000 and not self.damaged:
            self.damaged = True
            return ACCEPT, data[:-1] + bytes([data[-1] ^ 1])
        return ACCEPT, data if seen % 7 == 0 else None


def check_judged(carrier):
    """Queue wire packets, and GSO packets; some are dropped, some rebuilt, one damaged."""
    _, _, out, into = CARRIERS[carrier]
    for whole in (False, True):
        for name, numbers in QUEUES.items():
            nft(name, rules(numbers))
        programs = [Program([(name, n, whole) for n in numbers], Judge())
                    for name, numbers in QUEUES.items()]
        good, sent, taken, damaged = stream(carrier, (1 + whole) * 512 * KIB)
        said = {}
        for program in programs:
            said.update(program.end() or {})
        what = f"{carrier}, {'GSO packets' if whole else 'wire packets'} are queued"
        tap.claim(f"{what} at five places, some dropped and some rebuilt: whole",
                  good and len(said) == 5 and all(q[1] == 1 and (whole or q[2] > 5) for q in said.values()),
                  f"whole: {good}; seen, dropped, rebuilt, waiting: {said}")
        tap.claim(f"{what}: signals go on", sent[out] > 50 and taken[into] > 50,
                  f"{ {k: v for k, v in sent.items() if v} } { {k: v for k, v in taken.items() if v} }")
        # If the device computes the checksums, no packet is damaged.
        tap.claim(f"{what}: what was damaged is damaged for TCP, and sent again",
                  damaged == 1 or whole and not damaged, f"{damaged}")
        for name in QUEUES:
            nft(name, "flush ruleset")


def lazy(_, seen, *__):
    return None if seen > 30 else (ACCEPT, None)


def check_dies(carrier):
    """The programs stop giving verdicts and are killed; the rules stay and let packets pass."""
    for name, numbers in QUEUES.items():
        nft(name, rules(numbers))
    programs = [Program([(name, n, False) for n in numbers], lazy)
                for name, numbers in QUEUES.items()]
    pair = connect(4, CARRIERS[carrier][0])
    flow = Stream(*pair, 512 * KIB)
    transfer([flow], limit_s=1, meanwhile=lambda _: None)
    stuck = flow.received < 512 * KIB
    parked = sum(queued(name) for name in QUEUES)
    for program in programs:
        program.end(signal.SIGKILL)
    good = transfer([flow])
    close(*pair)
    tap.claim(f"{carrier}: programs die with packets in their hands: what waited is gone, the "
              "stream goes on and is whole",
              stuck and parked > 0 and good and sum(queued(name) for name in QUEUES) == 0,
              f"stuck: {stuck}, {parked} parked, whole: {good}")
    for name in QUEUES:
        nft(name, "flush ruleset")


TRACK = """
-n r qdisc add dev r-a clsact
-n r qdisc add dev r-b clsact
-n r filter add dev r-a ingress protocol ip flower ct_state -trk action ct NAT pipe action goto chain 1
-n r filter add dev r-a ingress protocol ip chain 1 flower ct_state +trk+new action ct commit TO pass
-n r filter add dev r-b ingress protocol ip flower ct_state -trk action ct NAT pass
"""


def track(nat):
    text = TRACK.replace("TO", "nat src addr 203.0.113.77" if nat else "").replace("NAT", nat)
    for line in text.strip().splitlines():
        run("tc " + line)


def check_tracked(carrier):
    """Connection tracking in tc on ingress of the router, from both sides. Tags are not touched by
    it; a NAT that does not know our protocols corrupts the TCP behind them."""
    _, _, out, into = CARRIERS[carrier]
    for nat in ("", "nat"):
        track(nat)
        start = time.monotonic()
        good, sent, taken, damaged = stream(carrier)
        took_s = time.monotonic() - start
        detail = (f"whole: {good}, {took_s:.1f} s, damaged: {damaged}, "
                  f"{ {k: v for k, v in sent.items() if v} } { {k: v for k, v in taken.items() if v} }")
        what = f"{carrier}, conntrack {'and NAT ' if nat else ''}in tc on ingress of the router"
        if carrier == "csig":
            tap.claim(f"{what}: whole, each data packet's tag passes and is reported",
                      good and not sent["path_stripped"] and taken["in_received"] > 10 and
                      taken["in_received"] == taken["in_tag"] == sent["out_gso"] and
                      sent["in_value"] == taken["out_value"], detail)
        elif nat:
            tap.claim(f"{what}: whole, opened at once, without our header",
                      good and sent[out] <= (3 if carrier == "int" else 0) and took_s < 0.5, detail)
        else:
            tap.claim(f"{what}: whole, signals go on",
                      good and sent[out] > 300 and taken[into] > 300, detail)
        for dev in ("r-a", "r-b"):
            run(f"tc -n r qdisc del dev {dev} clsact")
        # The kernel waits for connections in tc's table when a namespace is removed, and no virtual
        # time passes meanwhile.
        time.sleep(2)
        if not nat:
            # A new path, so that conntrack has no entries of the previous case.
            hosts.remove_path()
            build(carrier)


def queued(name):
    """Return the number of packets that wait for a verdict: the third number of each line."""
    with hosts.inside(name), open("/proc/thread-self/net/netfilter/nfnetlink_queue",
                                  encoding="ascii") as file:
        return sum(int(line.split()[2]) for line in file)


def main():
    run("modprobe -a nfnetlink_queue act_ct")
    for carrier in sys.argv[1:] or CARRIERS:
        build(carrier)
        check_judged(carrier)
        check_dies(carrier)
        check_tracked(carrier)
        hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
