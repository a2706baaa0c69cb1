#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""LDCP in Mininet: four senders start with a full window; rate and RTT of the path are known.

    sudo python3 ldcp.py [MBIT [SECONDS]]     in real time
    lab mininet ldcp.py [MBIT [SECONDS]]      in virtual time
"""
import sys
from functools import partial

from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

from hopcc_mininet import HopccLink, HopccRouter, transfer

mbit = float(sys.argv[1]) if len(sys.argv) > 1 else 100
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1
link = partial(HopccLink, system="ldcp", bw=mbit, delay="25us", rtt="1ms")
net = Mininet(topo=SingleSwitchTopo(5), switch=HopccRouter, link=link, controller=None)
net.start()
senders, receiver = net.hosts[:4], net["h5"]
for sender, goodput in zip(senders, transfer(senders, receiver, seconds)):
    print(f"{sender.name} {goodput:.1f} Mbit/s")
# The port to the receiver.
counters = net["s1"].nameToIntf["s1-eth5"].statistics()
print(f"sent {counters['sent_pkts']} packets, marked {counters['marked']}, dropped {counters['dropped']}")
net.stop()
