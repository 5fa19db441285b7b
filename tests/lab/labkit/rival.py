# SPDX-License-Identifier: MIT
"""Flows that are not Kafka's: rival.py flood ADDRESS SIZE PACKETS_A_SECOND | listen ADDRESS | hold ADDRESS CONNECTIONS."""

import socket
import sys
import time

PORT = 7007


def flood(address, size, per_second):
    """UDP at a steady rate; 0 is as fast as it goes."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    payload = bytes(int(size))
    begun, sent = time.monotonic(), 0
    while True:
        due = sent + 1 if per_second == "0" else int((time.monotonic() - begun) * int(per_second))
        for _ in range(due - sent):
            try:
                out.sendto(payload, (address, PORT))
            except OSError:
                pass  # the queue is full, or nobody listens: both are meant
        sent = due
        if per_second != "0":
            time.sleep(0.005)


def listen(address):
    """Swallows what a flood sends and keeps what is connected."""
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind((address, PORT))
    sink.setblocking(False)
    server = socket.create_server((address, PORT), backlog=512)
    server.settimeout(0.05)
    kept = []
    print("ready", flush=True)
    while True:
        try:
            kept.append(server.accept()[0])
        except TimeoutError:
            pass
        try:
            for _ in range(10000):
                sink.recv(2048)
        except BlockingIOError:
            pass


def hold(address, connections):
    kept = [socket.create_connection((address, PORT), timeout=5) for _ in range(int(connections))]
    print("ready", flush=True)
    time.sleep(3600)
    del kept


if __name__ == "__main__":
    {"flood": flood, "listen": listen, "hold": hold}[sys.argv[1]](*sys.argv[2:])
