# SPDX-License-Identifier: MIT
"""Delay, jitter and reordering, without netem: a link of two TAP devices with a process between them.

The host's end is its eth0, the router's end has the host's name. The process holds each frame as the schedule says,
which is told on its standard input, one JSON object a line:

    {"delay_ms": 800, "jitter_ms": 400}                every frame, later by 800 to 1200 ms, order kept
    {"reorder_percent": 30, "hold_ms": 400}            some frames later than the ones after them
    {}                                                 a wire, once what is held has been let go: then it says "idle"

"direction": "up" (from the host), "down" (to the host); without it, both.
"""

import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
CLONE_NEWNET = 0x40000000


class Relay:
    """The lab's end: starts the process and tells it what to do."""

    def __init__(self, network, host):
        self.process = network.start_aside(
            network.router, sys.executable, "-m", "labkit.relay", network.router, host.name, host.namespace, "eth0",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(os.path.dirname(__file__)))
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the relay did not start")

    def tell(self, **schedule):
        self.process.stdin.write(json.dumps(schedule) + "\n")
        self.process.stdin.flush()

    def rest(self):
        """A wire again; returns when nothing is held any more: until then the path is late."""
        self.tell()
        if self.process.stdout.readline() != "idle\n":
            raise RuntimeError("the relay has ended")


def tap(namespace, name):
    """Makes a TAP device in a network namespace; it lives as long as its file."""
    with open(f"/var/run/netns/{namespace}") as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return file


class Wire:
    """What is on its way in one direction."""

    def __init__(self, source, target, direction):
        self.source, self.target, self.direction = source, target, direction
        self.held = []
        self.count = 0
        self.last = 0.0

    def take(self, schedule):
        while True:
            try:
                frame = os.read(self.source, 65536)
            except BlockingIOError:
                return
            except OSError:
                return  # the device is not up yet
            now = time.monotonic()
            due = now
            if schedule.get("direction", self.direction) == self.direction:
                due += (schedule.get("delay_ms", 0) + random.uniform(0, schedule.get("jitter_ms", 0))) / 1000
                if random.uniform(0, 100) < schedule.get("reorder_percent", 0):
                    due += schedule["hold_ms"] / 1000
                else:
                    due = max(due, self.last) if "reorder_percent" not in schedule else due
                    self.last = due
            heapq.heappush(self.held, (due, self.count, frame))
            self.count += 1

    def release(self):
        now = time.monotonic()
        while self.held and self.held[0][0] <= now:
            try:
                os.write(self.target, heapq.heappop(self.held)[2])
            except OSError:
                pass  # the other end is down: the frame is lost, as on a wire


def main(router, router_name, host, host_name):
    inside, outside = tap(host, host_name), tap(router, router_name)
    wires = [Wire(inside, outside, "up"), Wire(outside, inside, "down")]
    schedule, resting = {}, False
    print("ready", flush=True)
    while True:
        due = [w.held[0][0] for w in wires if w.held]
        wait = max(0.0, min(due) - time.monotonic()) if due else None
        readable, _, _ = select.select([inside, outside, sys.stdin], [], [], wait)
        if sys.stdin in readable:
            line = sys.stdin.readline()
            if not line:
                return
            schedule = json.loads(line)
            resting = not schedule
        for wire in wires:
            if wire.source in readable:
                wire.take(schedule)
            wire.release()
        if resting and not any(w.held for w in wires):
            print("idle", flush=True)
            resting = False


if __name__ == "__main__":
    main(*sys.argv[1:])
