#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send the frames of a qdisc's tests out of a device, as fast as possible.

    flood.py KIND DEV SECONDS PRIORITY
"""
import importlib
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tdc"))


def main(kind, dev, seconds, priority):
    frames = importlib.import_module(f"{kind}_queue").flood_frames()
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind((dev, 0))
    out.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, int(priority))
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for frame in frames:
            try:
                out.send(frame)
            except OSError:     # no room in the queue
                time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
