#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP in Mininet: two senders over two routers and a long path have equal rates and no loss.

    sudo python3 xcp.py [MBIT [SECONDS]]     in real time
    lab mininet xcp.py [MBIT [SECONDS]]      in virtual time
"""
import sys
from functools import partial

from mininet.net import Mininet
from mininet.topo import LinearTopo

from hopcc_mininet import HopccLink, HopccRouter, transfer

mbit = float(sys.argv[1]) if len(sys.argv) > 1 else 100
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1
link = partial(HopccLink, system="xcp", bw=mbit, delay="2ms", rtt="12ms")
net = Mininet(topo=LinearTopo(k=2, n=2), switch=HopccRouter, link=link, controller=None)
net.start()
senders, receiver = [net["h1s1"], net["h2s1"]], net["h1s2"]
for sender, goodput in zip(senders, transfer(senders, receiver, seconds)):
    print(f"{sender.name} {goodput:.1f} Mbit/s")
# The port to the receiver.
counters = net["s2"].nameToIntf["s2-eth1"].statistics()
print(f"sent {counters['sent_pkts']} packets, reduced {counters['reduced']}, dropped {counters['dropped']}")
net.stop()
