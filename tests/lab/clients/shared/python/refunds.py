# SPDX-License-Identifier: MIT
"""The refund handler of the Python clients: executes the steps of a refund and journals what it received and did."""

import json
import logging
import os
import random
import socket
from datetime import datetime, timezone

LOG = logging.getLogger("refunds")
STEPS = ("reversal", "ledger", "notice")
RETRY_SECONDS = 0.3

BOOTSTRAP = os.environ["BOOTSTRAP"]
GROUP = os.environ["GROUP"]
CLIENT_ID = os.environ["CLIENT_ID"]
TOPIC = os.environ["TOPIC"]
SESSION_TIMEOUT_MS = int(os.environ["SESSION_TIMEOUT_MS"])
HEARTBEAT_INTERVAL_MS = int(os.environ["HEARTBEAT_INTERVAL_MS"])
MAX_POLL_INTERVAL_MS = int(os.environ["MAX_POLL_INTERVAL_MS"])
SLOW_NEXT = os.environ["SLOW_NEXT"]


class Refunds:
    def __init__(self):
        self.file = os.open(os.environ["JOURNAL"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.environ["BOOKS"])
        self.books = connection.makefile("rw")

    def journal(self, what, **fields):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = json.dumps({"time": now, "what": what, "consumer": CLIENT_ID, **fields})
        os.write(self.file, line.encode() + b"\n")

    def partitions(self, what, partitions):
        """Journals assigned, revoked or lost partitions, given as (topic, partition)."""
        self.journal(what, partitions=sorted(f"{topic}-{partition}" for topic, partition in partitions))

    def handle(self, topic, partition, offset, value):
        """Executes one record; yields seconds for its caller to sleep, in whatever way the client wants it."""
        refund = json.loads(value)
        place = {"topic": topic, "partition": partition, "offset": offset}
        self.journal("received", **place, business_key=refund["order_no"])
        for step in STEPS:
            if step == "ledger":
                yield from self._stall_if_told()
            yield random.uniform(0.006, 0.018)
            while (status := self._attempt(step, refund, place)) == "failed":
                yield RETRY_SECONDS
            LOG.info("%s %s %s (%s-%d@%d)", step, refund["order_no"], status, topic, partition, offset)
        self.journal("done", **place)

    def _attempt(self, step, refund, place):
        asked = {"step": step, "instance": CLIENT_ID, **place, **refund}
        self.books.write(json.dumps(asked) + "\n")
        self.books.flush()
        answer = json.loads(self.books.readline())
        self.journal("attempt", business_key=refund["order_no"], step=step, **answer, **place,
                     amount=refund["amount"], currency=refund["currency"])
        return answer["status"]

    def _stall_if_told(self):
        """The injector's way to make one record slow: a file with a number of milliseconds, used up by the next record."""
        if os.path.exists(SLOW_NEXT):
            with open(SLOW_NEXT) as file:
                millis = int(file.read())
            os.unlink(SLOW_NEXT)
            self.journal("stall", millis=millis)
            yield millis / 1000
            self.journal("stall_over")
