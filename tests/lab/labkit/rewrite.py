# SPDX-License-Identifier: MIT
"""Makes a run from a recorded one by rewriting what the clocks of some hosts wrote. No broker is needed.

A run file says "derived_from" and "clocks": of a host "offset_us" (how far its clock is ahead), "drift_ppm" from the recording's
start on, "steps" of {"after_seconds", "step_us"}; and of its application's and broker's logs alone "timezone" (local time, the
zone not written) and "whole_seconds". Rewritten are the host's logs, its captures, its counter loops, and its rows in the table
of attempts. The books keep their own systems' clock, as does what the administrator printed.
"""

import csv
import io
import json
import re
import struct
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from . import clock, recorder

PCAP_MICROSECONDS = 0xA1B2C3D4
ISO = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")
BROKER = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")
GC = re.compile(r"^\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\+0000\]")


class HostClock:
    def __init__(self, said, start):
        self.start = clock.parse(start)
        self.offset = said.get("offset_us", 0)
        self.drift = said.get("drift_ppm", 0)
        self.steps = [(self.start + timedelta(seconds=s["after_seconds"]), s["step_us"]) for s in said.get("steps", [])]
        self.zone = ZoneInfo(said["timezone"]) if "timezone" in said else None
        self.whole_seconds = said.get("whole_seconds", False)

    def shift_us(self, moment):
        drifted = round((moment - self.start) / timedelta(seconds=1) * self.drift)
        return self.offset + drifted + sum(us for at, us in self.steps if moment >= at)

    def written(self, moment):
        return moment + timedelta(microseconds=self.shift_us(moment))

    # --- one form of line each -----------------------------------------------------------------------------------

    def iso(self, line, is_log):
        match = ISO.match(line)
        if not match:
            return line
        fraction = match[2] or ""
        moment = self.written(clock.parse(match[1] + (f".{fraction}" if fraction else "") + "Z"))
        if is_log and (self.zone or self.whole_seconds):
            local = moment.astimezone(self.zone or timezone.utc)
            text = local.strftime("%Y-%m-%d %H:%M:%S") if self.zone else local.strftime("%Y-%m-%dT%H:%M:%S")
            text += "" if self.whole_seconds else local.strftime(".%f")[:1 + len(fraction)]
            text += "" if self.zone else match[3]
        else:
            text = moment.strftime("%Y-%m-%dT%H:%M:%S") + moment.strftime(".%f")[:1 + len(fraction)] * bool(fraction) + match[3]
        return text + line[match.end():]

    def broker(self, line):
        match = BROKER.match(line)
        if not match:
            return line
        moment = datetime.strptime(f"{match[1]}.{match[2]}", "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=timezone.utc)
        local = self.written(moment).astimezone(self.zone or timezone.utc)
        return f"[{local.strftime('%Y-%m-%d %H:%M:%S')},{local.microsecond // 1000:03d}]" + line[match.end():]

    def collector(self, line):
        match = GC.match(line)
        if not match:
            return line
        moment = self.written(clock.parse(match[1] + "Z"))
        return f"[{moment.strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3]}+0000]" + line[match.end():]

    # --- whole files ------------------------------------------------------------------------------------------------

    def rewrite(self, path):
        if path.suffix == ".pcap":
            path.write_bytes(self.capture(path.read_bytes()))
            return
        lines = path.read_text().splitlines(keepends=True)
        if path.name == "server.log":
            lines = map(self.broker, lines)
        elif path.name == "gc.log":
            lines = map(self.collector, lines)
        else:
            lines = (self.iso(line, path.name == "app.log") for line in lines)
        path.write_text("".join(lines))

    def capture(self, data):
        if struct.unpack_from("<I", data)[0] != PCAP_MICROSECONDS:
            raise ValueError("a capture that tcpdump did not write")
        out, at = bytearray(data), 24
        while at < len(data):
            seconds, micros, kept, _ = struct.unpack_from("<IIII", data, at)
            moment = datetime.fromtimestamp(seconds, timezone.utc) + timedelta(microseconds=micros)
            total = seconds * 1_000_000 + micros + self.shift_us(moment)
            struct.pack_into("<II", out, at, total // 1_000_000, total % 1_000_000)
            at += 16 + kept
        return bytes(out)


def rewrite_effects(path, clocks):
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for row in rows:
        if row["consumer"] in clocks:
            row["time"] = clock.text(clocks[row["consumer"]].written(clock.parse(row["time"])))
    recorder.write_csv(path, rows[0].keys(), (row.values() for row in rows))


def derive(run, runs, target):
    """Unpacks the recording, rewrites it in place, and returns its truth with the clocks as they now are."""
    source = run["derived_from"]
    if not (runs / f"{source}.tar.xz").exists():
        raise FileNotFoundError(f"{run['run']} is made from {source}, which has no recording yet")
    target.mkdir(exist_ok=True)
    recorder.unpack(runs / f"{source}.tar.xz", target)
    truth = json.loads((runs / f"{source}.truth.json").read_text())
    start = truth["recorded"]["start"]
    clocks = {said["host"]: HostClock(said, start) for said in run["clocks"]}
    for host, host_clock in clocks.items():
        for path in sorted((target / host).iterdir()):
            host_clock.rewrite(path)
    if (target / "effects.csv").exists():
        rewrite_effects(target / "effects.csv", clocks)
    truth.update(run=run["run"], derived_from=source)
    for row in truth["clocks"]:
        said = next((c for c in run["clocks"] if c["host"] == row["host"]), {})
        row.update({k: v for k, v in said.items() if k != "steps"})
        if "steps" in said:
            row["steps"] = [{"time": clock.text(at), "step_us": us} for at, us in clocks[row["host"]].steps]
    truth["clocks_since"] = start
    return truth
