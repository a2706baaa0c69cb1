#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Frames with telemetry of every form out of a device, as fast as it goes.

    int_flood.py DEV SECONDS PRIORITY
"""
import importlib
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tdc"))
int_queue = importlib.import_module("int-queue")


def main(dev, seconds, priority):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind((dev, 0))
    out.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, int(priority))
    frames = [make(head) for _, make, head, _, _ in int_queue.STAMPED]
    frames += [row[1] for row in int_queue.UNTOUCHED]
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for frame in frames:
            try:
                out.send(frame)
            except OSError:     # no room in the queue
                time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
