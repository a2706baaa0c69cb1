#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""TCP streams whose every byte is checked.

    stream.py serve CC                     until it is killed
    stream.py send CC ADDRS FLOWS SECONDS [FILE]
                                           FLOWS to each of ADDR,ADDR, one line of JSON per flow;
                                           they run until FILE exists
    stream.py rough CC ADDRS FLOWS SECONDS the same on a network that may vanish,
                                           and the cc is swapped now and then

A stream is random blocks and at its end their CRC; the receiver answers "ok".
Status 1: a stream was corrupted, or (send) failed. One that stands still is ended with the guest, by run_vm.sh's
limit: no time by the clock is long enough on every machine.
"""

import json
import os
import random
import select
import socket
import struct
import sys
import threading
import time
import zlib

PORT = 5001
BLOCK_BYTES = 65536
# The kernel doubles this. With autotuning it would be megabytes, all of which must leave before the
# answer arrives, on a machine that may be slow.
SNDBUF_BYTES = 131072
POOL = random.Random(1).randbytes(1 << 20)
# Close at once, since a lingering socket would hold a reference to the module of its cc.
ABORT = struct.pack("ii", 1, 0)


def tcp_socket(family, cc):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SNDBUF_BYTES)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return sock


def receive(sock):
    """Receive a stream and answer: its last four bytes, which may be split, are its CRC."""
    crc, tail = 0, b""
    try:
        while data := sock.recv(1 << 20):
            tail += data
            crc, tail = zlib.crc32(tail[:-4], crc), tail[-4:]
        sock.sendall(b"ok" if tail == struct.pack("!I", crc) else b"bad")
        wait_for_reset(sock)
    except OSError:
        pass
    sock.close()


def wait_for_reset(sock):
    """Wait until the sender has read the answer and closed, since our reset might overtake it."""
    poll = select.poll()
    poll.register(sock, 0)
    poll.poll()


def serve(cc):
    server = tcp_socket(socket.AF_INET6, cc)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("::", PORT))
    server.listen(64)
    print("listening", flush=True)
    while True:
        sock, _ = server.accept()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        threading.Thread(target=receive, args=(sock,), daemon=True).start()


def seconds_of(least_s, until):
    """Yield once per turn, until it is time to end."""
    start_s = time.monotonic()
    while (took_s := time.monotonic() - start_s) < least_s or (
            until and not os.path.exists(until)):
        yield took_s


def stream(sock, address, least_s, until, swap_with):
    crc, sent_bytes = 0, 0
    ccs = swap_with or []
    sock.connect((address, PORT))
    start_s = time.monotonic()
    for _ in seconds_of(least_s, until):
        at = random.randrange(len(POOL) - BLOCK_BYTES)
        block = POOL[at:at + BLOCK_BYTES]
        sock.sendall(block)
        crc = zlib.crc32(block, crc)
        sent_bytes += len(block)
        if ccs and random.random() < 0.1:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, random.choice(ccs))
    mbit = sent_bytes * 8 / 1e6 / (time.monotonic() - start_s)
    cc = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    sock.sendall(struct.pack("!I", crc))
    sock.shutdown(socket.SHUT_WR)
    return {"bytes": sent_bytes, "mbit": round(mbit, 2), "cc": cc.rstrip(b"\0").decode(), "answer": sock.recv(3).decode()}


def send(cc, address, seconds, until, rough, results):
    result = {"to": address, "answer": "none"}
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    start_s = time.monotonic()
    try:
        sock = tcp_socket(family, cc)
        sock.settimeout(3 if rough else None)
        result |= stream(sock, address, seconds, until, [b"cubic", cc.encode()] if rough else None)
        sock.close()
    except OSError as error:
        result |= {"error": str(error), "after_s": round(time.monotonic() - start_s, 1)}
    results.append(result)


def main():
    action, cc = sys.argv[1:3]
    if action == "serve":
        return serve(cc)
    addresses, flows, seconds = sys.argv[3].split(","), int(sys.argv[4]), float(sys.argv[5])
    until = sys.argv[6] if len(sys.argv) > 6 else None
    results = []
    threads = [threading.Thread(target=send, args=(cc, address, seconds, until, action == "rough", results))
               for address in addresses for _ in range(flows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        print(json.dumps(result))
    allowed = {"ok", "none", ""} if action == "rough" else {"ok"}
    return int(any(result["answer"] not in allowed for result in results))


sys.exit(main())
