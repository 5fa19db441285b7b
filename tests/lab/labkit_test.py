#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the lab that need no root, no Java and no broker: its run files, its recorded truths, its arithmetic."""

import copy
import json
import struct
import tarfile
import unittest
from datetime import timedelta

from labkit import clock, faults, plan, recorder, rewrite, schema, truth


def recorded():
    return sorted(plan.RUNS.glob("*.truth.json"))


class RunFiles(unittest.TestCase):
    def test_each_loads_and_asks_for_what_there_is(self):
        for name in plan.names():
            run = plan.load(name)
            self.assertTrue(run["about"], name)
            if "derived_from" in run:
                self.assertIn(run["derived_from"], plan.names(), name)
                continue
            pending = list(run["steps"])
            while pending:
                step = pending.pop()
                pending += step.get("steps", [])
                self.assertTrue(hasattr(faults.Injector, f"do_{step['do']}"), f"{name}: {step['do']}")
                if "host" in step:
                    self.assertIn(step["host"], run["addresses"], name)


class Truths(unittest.TestCase):
    def test_each_has_the_shape(self):
        for path in recorded():
            self.assertEqual(schema.problems(json.loads(path.read_text())), [], path.name)

    def test_each_agrees_with_its_brokers_log(self):
        for path in recorded():
            found = json.loads(path.read_text())
            with tarfile.open(path.with_name(path.name.replace(".truth.json", ".tar.xz"))) as tar:
                log = tar.extractfile(f"{found['reference']}/server.log").read().decode()
            self.assertEqual(schema.against_broker(found, log), [], path.name)

    def test_damage_is_found(self):
        for path in recorded()[:1]:
            good = json.loads(path.read_text())
            for damage in (lambda t: t.pop("faults"), lambda t: t["rebalances"][0].update(trigger="jitter"),
                           lambda t: t["rebalances"].reverse() or t["rebalances"].append(t["rebalances"][0]),
                           lambda t: t["share"].update(roots=99), lambda t: t["settings"].pop("group")):
                bad = copy.deepcopy(good)
                damage(bad)
                self.assertNotEqual(schema.problems(bad), [])


class Clocks(unittest.TestCase):
    START = "2026-11-30T14:00:00.000000Z"

    def clock(self, **said):
        return rewrite.HostClock({"host": "consumer-1", **said}, self.START)

    def test_an_offset_moves_each_form_of_line(self):
        ahead = self.clock(offset_us=1_250_000)
        self.assertEqual(ahead.iso("2026-11-30T14:00:01.500Z  INFO 1 --- x\n", True), "2026-11-30T14:00:02.750Z  INFO 1 --- x\n")
        self.assertEqual(ahead.broker("[2026-11-30 13:59:59,900] INFO x\n"), "[2026-11-30 14:00:01,150] INFO x\n")
        self.assertEqual(ahead.collector("[2026-11-30T14:00:01.000+0000][info] x\n"), "[2026-11-30T14:00:02.250+0000][info] x\n")
        self.assertEqual(ahead.iso("\tat java.lang.Thread\n", True), "\tat java.lang.Thread\n")

    def test_drift_grows_from_the_start(self):
        drift = self.clock(drift_ppm=80)
        start = clock.parse(self.START)
        self.assertEqual(drift.shift_us(start), 0)
        self.assertEqual(drift.shift_us(start + timedelta(hours=1)), 288_000)
        self.assertEqual(drift.shift_us(start - timedelta(seconds=100)), -8_000)

    def test_a_step_is_none_before_it(self):
        step = self.clock(steps=[{"after_seconds": 50, "step_us": 1_500_000}])
        start = clock.parse(self.START)
        self.assertEqual(step.shift_us(start + timedelta(seconds=49.9)), 0)
        self.assertEqual(step.shift_us(start + timedelta(seconds=50)), 1_500_000)

    def test_a_zone_is_not_named(self):
        zone = self.clock(timezone="Asia/Shanghai")
        self.assertEqual(zone.iso("2026-11-30T20:00:01.500Z  INFO x\n", True), "2026-12-01 04:00:01.500  INFO x\n")
        self.assertEqual(zone.iso("2026-11-30T20:00:01.500Z\n", False), "2026-11-30T20:00:01.500Z\n")

    def test_whole_seconds_are_cut_not_rounded(self):
        whole = self.clock(whole_seconds=True)
        self.assertEqual(whole.iso("2026-11-30T20:00:01.999Z  INFO x\n", True), "2026-11-30T20:00:01Z  INFO x\n")

    def test_a_capture_is_moved_packet_by_packet(self):
        header = struct.pack("<IHHiIII", rewrite.PCAP_MICROSECONDS, 2, 4, 0, 0, 160, 1)
        packet = struct.pack("<IIII", 1796047200, 900_000, 3, 3) + b"abc"
        moved = self.clock(offset_us=-45_000_000).capture(header + packet * 2)
        self.assertEqual(moved[:24], header)
        self.assertEqual(struct.unpack_from("<II", moved, 24), (1796047155, 900_000))
        self.assertEqual(struct.unpack_from("<II", moved, 43), (1796047155, 900_000))


class Told:
    """What truth.Evidence holds, as far as a test needs it."""

    def __init__(self, faults=(), views=(), late=()):
        self.run = {"broker": "broker-1"}
        self.faults = faults
        self.views = [{"moment": clock.parse(time), "time": time, "state": "PreparingRebalance", "members": dict.fromkeys(members)}
                      for time, members in views]
        self.late = [{"time": start, "end": end} for start, end in late]


class TruthOfTheMachine(unittest.TestCase):
    RECORDED = {"start": "2026-11-30T14:00:00Z", "end": "2026-11-30T14:02:00Z"}
    LATE = [("2026-11-30T14:01:00Z", "2026-11-30T14:01:02.5Z")]

    def test_a_coordinator_that_nobody_touched_was_strained(self):
        self.assertEqual(truth.strained(Told(late=self.LATE), self.RECORDED),
                         [{"host": "broker-1", "start": "2026-11-30T14:01:00.000000Z", "end": "2026-11-30T14:01:02.500000Z"}])

    def test_one_that_was_stopped_was_not(self):
        stopped = {"host": "broker-1", "start": "2026-11-30T14:00:55Z", "end": "2026-11-30T14:01:01Z"}
        self.assertEqual(truth.strained(Told([stopped], late=self.LATE), self.RECORDED), [])
        self.assertEqual(truth.strained(Told(late=[("2026-11-30T13:59:00Z", "2026-11-30T13:59:09Z")]), self.RECORDED), [])


class SecondAsks(unittest.TestCase):
    """consumer-1 comes back as -a, which no generation was stored with, and then as -b."""

    ROWS = [{"completed": None, "trigger": "member_rejoin", "host": "consumer-1", "fault": "F1", "root_generation": 2}]
    AFTER = clock.parse("2026-11-30T14:00:00Z")

    def again(self, *views, rows=None):
        class Member:
            id, host = "consumer-1-b", "consumer-1"
        row = {"completed": "2026-11-30T14:00:10Z", "time": "2026-11-30T14:00:03Z"}
        return truth.came_again(Told(views=views), rows or self.ROWS, row, {Member.id: Member}, self.AFTER)

    def test_a_host_that_had_another_id_before_came_again(self):
        self.assertEqual(self.again(("2026-11-30T14:00:03Z", ["consumer-1-a"]),
                                    ("2026-11-30T14:00:04Z", ["consumer-1-a", "consumer-1-b"])), "consumer-1")

    def test_one_that_kept_its_id_did_not(self):
        self.assertIsNone(self.again(("2026-11-30T14:00:03Z", ["consumer-1-b"])))
        self.assertIsNone(self.again(("2026-11-30T14:00:03Z", ["consumer-10-a"]), ("2026-11-30T14:00:04Z", ["consumer-1-b"])))
        stored = [{**self.ROWS[0], "completed": "2026-11-30T14:00:02Z"}]
        self.assertIsNone(self.again(("2026-11-30T14:00:03Z", ["consumer-1-a"]), ("2026-11-30T14:00:04Z", ["consumer-1-b"]),
                                     rows=stored))


class Arithmetic(unittest.TestCase):
    def test_runs_of_offsets(self):
        self.assertEqual(list(truth.runs_of([4, 5, 6, 9, 11, 12])), [(4, 7), (9, 10), (11, 13)])

    def test_cells_as_mysql_prints_them(self):
        self.assertEqual([recorder.tsv_cell(v) for v in (None, "", "a\tb", "c\\d\n", 7)], ["NULL", "NULL", "a\\tb", "c\\\\d\\n", "7"])

    def test_defaults_are_merged_deeply(self):
        self.assertEqual(plan.merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}}), {"a": {"b": 1, "c": 4}, "d": 3})


if __name__ == "__main__":
    unittest.main()
