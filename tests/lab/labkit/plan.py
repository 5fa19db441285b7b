# SPDX-License-Identifier: MIT
"""Reads run files. A run file says only what differs from the defaults below."""

import json
import pathlib

RUNS = pathlib.Path(__file__).resolve().parent.parent / "runs"

DEFAULTS = {
    "reference": "broker-1",
    "kafka": "4.1.1",
    "broker": "broker-1",
    "consumers": ["consumer-1", "consumer-2", "consumer-3"],
    "producer": "producer-1",
    "admin": "admin-1",
    "topic": {"name": "refunds", "partitions": 6},
    "group": {
        "name": "refunds",
        "protocol": "classic",
        "session_timeout_ms": 6000,
        "heartbeat_interval_ms": 2000,
        "max_poll_interval_ms": 15000,
    },
    "consumer_settings": {"auto.offset.reset": "earliest"},
    "service": {},
    "load": {"per_second": 2, "first_number": 713, "seed": 20240618},
    "record": {"snap_length": 160, "counter_seconds": 1, "describe_seconds": 5, "at_broker": False},
    "quiet_seconds": {"before": 10, "after": 4},
    "exports": ["csv"],
    "exclusive": False,
    "steps": [],
}
ADDRESSES = {"broker-1": "10.77.0.10", "producer-1": "10.77.8.10", "admin-1": "10.77.9.10"}


def names():
    return sorted(p.stem for p in RUNS.glob("*.json") if not p.name.endswith(".truth.json"))


def merged(base, over):
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def address(host):
    """consumer-N is 10.77.N.10; the others are fixed."""
    if host in ADDRESSES:
        return ADDRESSES[host]
    return f"10.77.{int(host.rsplit('-', 1)[1])}.10"


def load(name):
    run = json.loads((RUNS / f"{name}.json").read_text())
    if run.get("run") != name:
        raise ValueError(f"runs/{name}.json calls itself {run.get('run')}")
    if "derived_from" in run:
        return run
    run = merged(DEFAULTS, run)
    run.setdefault("client_kafka", run["kafka"])
    later = run.get("later_consumers", [])
    hosts = [run["broker"], *run["consumers"], *later, run["producer"], run["admin"]]
    run["addresses"] = run.get("addresses") or {host: address(host) for host in hosts}
    return run
