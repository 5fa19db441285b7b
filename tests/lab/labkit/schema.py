# SPDX-License-Identifier: MIT
"""Checks truth files: their shape, and what the broker itself says. python3 -m labkit.schema FILE.truth.json ..."""

import json
import re
import sys

from . import clock

TRIGGERS = ("session_timeout", "poll_timeout", "rebalance_timeout", "member_leave", "admin_removal", "member_join", "member_rejoin",
            "metadata_change", "subscription_change", "coordinator_change", "member_fenced", "protocol_followup", "unknown")
KINDS = ("blackout", "loss", "delay", "congestion", "softnet", "conntrack", "link", "reset", "process_pause", "server_pause",
         "slow_handler", "crash", "leave", "join", "metadata", "coordinator")
CAUSES = ("redelivery", "upstream", "retry")


def instant(value):
    try:
        clock.parse(value)
    except (AttributeError, TypeError, ValueError):
        return False
    return value.endswith("Z")


def text(value):
    return isinstance(value, str) and value != ""


def number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def flag(value):
    return isinstance(value, bool)


def maybe(check):
    return lambda value: value is None or check(value)


def one_of(words):
    return lambda value: value in words


SHAPES = {
    "faults": {"id": text, "kind": one_of(KINDS), "network": flag, "host": text, "start": instant, "end": instant, "evicts": flag},
    "clocks": {"host": text, "offset_us": number, "drift_ppm": lambda v: isinstance(v, (int, float)), "timezone": text},
    "rebalances": {"group": text, "generation": number, "time": instant, "joined": maybe(instant), "completed": maybe(instant),
                   "members": number, "trigger": one_of(TRIGGERS), "host": maybe(text), "fault": maybe(text), "root": flag},
    "redeliveries": {"group": text, "topic": text, "partition": number, "from": number, "to": number, "generation": number,
                     "to_host": text, "fault": maybe(text)},
    "duplicates": {"business_key": text, "step": text, "effects": number, "cause": one_of(CAUSES), "fault": maybe(text),
                   "generation": maybe(number), "amount": text, "currency": text},
    "resubmissions": {"business_key": text, "time": instant, "first": lambda v: isinstance(v, dict),
                      "again": lambda v: isinstance(v, dict)},
    "lost": {"business_key": text, "step": text},
    "database_locks": {"database": text, "start": instant, "end": instant},
    "strained": {"host": text, "start": instant, "end": instant},
}
# Older truths do not have it.
LATER = ("strained",)
SETTINGS = {"kafka": text, "client_kafka": text, "group": text, "protocol": one_of(("classic", "consumer")),
            "session_timeout_ms": number, "heartbeat_interval_ms": number, "max_poll_interval_ms": number, "key": text}
TOP = {"schema": one_of(("aftershock/truth/1",)), "run": text, "reference": text}


def problems(truth):
    found = []

    def check(shape, value, where):
        for key, good in shape.items():
            if key not in value:
                found.append(f"{where}: no {key}")
            elif not good(value[key]):
                found.append(f"{where}.{key}: {value[key]!r}")

    check(TOP, truth, "truth")
    check(SETTINGS, truth.get("settings", {}), "settings")
    for name, shape in SHAPES.items():
        if name in LATER and name not in truth:
            continue
        if not isinstance(truth.get(name), list):
            found.append(f"no list {name}")
            continue
        for at, row in enumerate(truth[name]):
            check(shape, row, f"{name}[{at}]")
    return found or relations(truth)


def relations(truth):
    """What must hold between the lists."""
    found = []
    faults = {f["id"]: f for f in truth["faults"]}
    generations = [r["generation"] for r in truth["rebalances"]]
    if generations != sorted(set(generations)):
        found.append("generations are not in order")
    for name in ("rebalances", "redeliveries", "duplicates"):
        found += [f"{name}: no fault {r['fault']}" for r in truth[name] if r["fault"] and r["fault"] not in faults]
    for fault in truth["faults"]:
        if clock.parse(fault["start"]) > clock.parse(fault["end"]):
            found.append(f"{fault['id']} ends before it begins")
        if fault["network"] and set(fault.get("path", {})) != {"a", "b"}:
            found.append(f"{fault['id']} is of the network and has no path")
    for row in truth["rebalances"]:
        if not row["root"] and row.get("root_generation") not in generations:
            found.append(f"generation {row['generation']} has no root")
    found += [f"an empty range: {r}" for r in truth["redeliveries"] if r["from"] >= r["to"]]
    found += [f"one effect is no duplicate: {d}" for d in truth["duplicates"] if d["effects"] < 2]
    roots = [r for r in truth["rebalances"] if r["root"]]
    network = [r for r in roots if r["fault"] and faults[r["fault"]]["network"]]
    if truth.get("share") != {"roots": len(roots), "network": len(network)}:
        found.append(f"share {truth.get('share')} of {len(roots)} roots, {len(network)} by the network")
    return found


def against_broker(truth, log):
    """The generations that the broker's log has are those of the truth. The truth was made without it."""
    group = re.escape(truth["settings"]["group"])
    if truth["settings"]["protocol"] == "consumer":
        told = {int(n) for n in re.findall(rf"\[GroupId {group}\] Bumped group epoch to (\d+)", log)}
        missing = told - {r["generation"] for r in truth["rebalances"]}
        return [f"the broker's log has epochs {sorted(missing)} that the truth lacks"] if missing else []
    told = {int(n) for n in re.findall(rf"Stabilized group {group} generation (\d+)", log)}
    told |= {int(n) for n in re.findall(rf"[Gg]roup {group} with generation (\d+) is now empty", log)} - {0}
    known = {r["generation"] for r in truth["rebalances"]}
    return [f"generations of the broker's log alone {sorted(told - known)}, of the truth alone {sorted(known - told)}"] \
        if told != known else []


def main(paths):
    bad = 0
    for path in paths:
        with open(path) as file:
            found = problems(json.load(file))
        for problem in found:
            print(f"{path}: {problem}")
        bad += bool(found)
    print(f"{len(paths)} truth files, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
