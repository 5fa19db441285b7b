# SPDX-License-Identifier: MIT
"""The injector: executes the steps of a run file one after another and notes when each truly began and ended."""

import sqlite3
import time

from . import clock

EVICTING = ("blackout", "process_pause", "slow_handler")


class Injector:
    def __init__(self, run, network, consumers, producer, books, group):
        self.run = run
        self.network = network
        self.consumers = consumers
        self.producer = producer
        self.books = books
        self.group = group
        self.faults = []
        self.locks = []

    def execute(self, step):
        getattr(self, "do_" + step["do"])(step)
        self.group.wait_whole()
        time.sleep(step["then_wait"])

    def _begin(self, kind, host, network):
        fault = {"id": f"F{len(self.faults) + 1}", "kind": kind, "network": network, "host": host}
        if network:
            fault["path"] = {"a": host, "b": self.run["broker"]}
        fault["start"] = clock.now()
        self.faults.append(fault)
        return fault

    @staticmethod
    def _end(fault):
        fault["end"] = clock.now()

    def do_blackout(self, step):
        lock = step.get("ledger_lock")
        if lock:
            self._with_locked_ledger(step, lock)
        else:
            self._blackout(step, step["seconds"])

    def _blackout(self, step, seconds):
        host = step["host"]
        fault = self._begin("blackout", host, True)
        self.network.cut(host, self.run["broker"])
        time.sleep(seconds)
        self.network.heal(host, self.run["broker"])
        self._end(fault)
        self._note_eviction(step, fault)

    def _with_locked_ledger(self, step, lock):
        """The ledger refuses writes from before the outage until some way into it."""
        host = step["host"]
        database = sqlite3.connect(self.books / "ledger.db", isolation_level=None, timeout=10)
        database.execute("BEGIN EXCLUSIVE")
        locked = {"database": "ledger", "start": clock.now()}
        time.sleep(lock["before"])
        fault = self._begin("blackout", host, True)
        self.network.cut(host, self.run["broker"])
        time.sleep(lock["after"])
        database.execute("ROLLBACK")
        database.close()
        locked.update(end=clock.now(), fault=fault["id"])
        self.locks.append(locked)
        time.sleep(step["seconds"] - lock["after"])
        self.network.heal(host, self.run["broker"])
        self._end(fault)
        self._note_eviction(step, fault)

    def do_process_pause(self, step):
        fault = self._begin("process_pause", step["host"], False)
        self.consumers[step["host"]].pause()
        time.sleep(step["seconds"])
        self.consumers[step["host"]].resume()
        self._end(fault)
        self._note_eviction(step, fault)

    def do_slow_handler(self, step):
        """The stall begins with the next record that the host gets: its journal has the moments."""
        consumer = self.consumers[step["host"]]
        seen = len([e for e in consumer.journal() if e["what"] == "stall_over"])
        fault = self._begin("slow_handler", step["host"], False)
        consumer.stall_next(int(step["seconds"] * 1000))
        deadline = time.monotonic() + step["seconds"] + 30
        while len([e for e in consumer.journal() if e["what"] == "stall_over"]) == seen:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{step['host']} never stalled")
            time.sleep(0.2)
        fault["start"] = clock.normal([e for e in consumer.journal() if e["what"] == "stall"][-1]["time"])
        fault["end"] = clock.normal([e for e in consumer.journal() if e["what"] == "stall_over"][-1]["time"])
        self._note_eviction(step, fault)

    def do_restart(self, step):
        consumer = self.consumers[step["host"]]
        leave = self._begin("leave", step["host"], False)
        consumer.stop()
        self._end(leave)
        time.sleep(step["seconds"])
        join = self._begin("join", step["host"], False)
        consumer.start()
        self.group.wait_whole()
        self._end(join)

    def do_resubmit(self, step):
        del step
        self.producer.tell("resubmit")

    @staticmethod
    def _note_eviction(step, fault):
        fault["evicts"] = step.get("evicts", True)
