#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""DCTCP in Mininet: two senders share a port that marks packets and drops none.

    sudo python3 dctcp_ms.py [MBIT [SECONDS]]     in real time
    lab mininet dctcp_ms.py [MBIT [SECONDS]]      in virtual time
"""
import sys
from functools import partial

from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

from hopcc_mininet import HopccLink, HopccRouter, transfer

mbit = float(sys.argv[1]) if len(sys.argv) > 1 else 100
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1
link = partial(HopccLink, system="dctcp_ms", bw=mbit, delay="25us")
net = Mininet(topo=SingleSwitchTopo(3), switch=HopccRouter, link=link, controller=None)
net.start()
senders, receiver = [net["h1"], net["h2"]], net["h3"]
for sender, goodput in zip(senders, transfer(senders, receiver, seconds)):
    print(f"{sender.name} {goodput:.1f} Mbit/s")
# The port to the receiver.
counters = net["s1"].nameToIntf["s1-eth3"].statistics()
print(f"sent {counters['sent_pkts']} packets, marked {counters['marked']}, dropped {counters['dropped']}")
net.stop()
