# SPDX-License-Identifier: MIT
"""What truly happened, as aftershock/truth/1.

Made from the injector's times, the processes' own journals, the coordinator's answers to GroupWatch, the records
of __consumer_offsets and the tables of the side effects. Nothing here reads the evidence.
"""

from collections import Counter, defaultdict
from decimal import Decimal

from . import clock

STEPS = ("reversal", "ledger", "notice")
TRIGGER_OF_FAULT = {
    "blackout": "session_timeout",
    "process_pause": "session_timeout",
    "slow_handler": "poll_timeout",
    "leave": "member_leave",
}


class Inconsistent(Exception):
    """Two sources of the truth contradict each other: the run is of no use."""


def require(condition, message):
    if not condition:
        raise Inconsistent(message)


class Evidence:
    """The private records of a run, on one time line."""

    def __init__(self, run, faults, journals, submitted, views, history, books):
        self.run = run
        self.faults = faults
        self.journal = sorted((e for j in journals for e in j), key=lambda e: clock.parse(e["time"]))
        self.submitted = submitted
        self.views = views
        self.history = history
        self.books = books
        self.attempts = self._attempts()

    def _attempts(self):
        """Each attempt of a step, with the generation in which its record was received."""
        generation = {}
        attempts = []
        for entry in self.journal:
            if entry["what"] == "received":
                generation[entry["consumer"]] = entry["generation"]
            elif entry["what"] == "attempt":
                attempts.append({**entry, "time": clock.normal(entry["time"]), "generation": generation[entry["consumer"]]})
        return attempts


def host_of(member):
    """A member id is the client id and a UUID (36 characters), with a hyphen between."""
    return member[:-37]


def generations(evidence):
    """The stored generations in order, each once: the coordinator writes one when its assignment is known.

    Generation 0 is the empty group before its first member; it is not the outcome of a rebalance.
    """
    stored = {}
    for record in evidence.history:
        if record["what"] == "generation" and record["generation"]:
            stored.setdefault(record["generation"], record)
    numbers = sorted(stored)
    require(numbers == list(range(1, len(numbers) + 1)), f"generations are not contiguous: {numbers}")
    return [stored[n] for n in numbers]


def trigger_time(evidence, after, before):
    """When the coordinator was first seen to prepare this rebalance; GroupWatch asks about 20 times a second."""
    for view in evidence.views:
        if after < clock.parse(view["time"]) <= before and view["state"] == "PreparingRebalance":
            return clock.normal(view["time"])
    return None


def rebalances(evidence):
    rows = []
    evicted = {}
    members = set()
    after = clock.parse("1970-01-01T00:00:00Z")
    for record in generations(evidence):
        completed = clock.parse(record["time"])
        now = {m["member"] for m in record["members"]}
        gone, came = members - now, now - members
        row = {
            "group": evidence.run["group"]["name"],
            "generation": record["generation"],
            "time": trigger_time(evidence, after, completed) or clock.normal(record["state_time"]),
            "joined": clock.normal(record["state_time"]),
            "completed": clock.normal(record["time"]),
            "members": len(now),
        }
        row.update(cause_of(evidence, row, gone, came, evicted))
        rows.append(row)
        for member in came:
            evicted.pop(host_of(member), None)
        # A member that was evicted and is back in the same generation owes no rejoin.
        if row["root"] and row["trigger"] in ("session_timeout", "poll_timeout"):
            for host in {host_of(m) for m in gone} - {host_of(m) for m in came}:
                evicted[host] = row
        members, after = now, completed
    return rows


def cause_of(evidence, row, gone, came, evicted):
    """Names trigger, host and fault from who went and who came; a departure outweighs an arrival."""
    moment = clock.parse(row["time"])
    if gone:
        hosts = sorted({host_of(m) for m in gone})
        require(len(hosts) == 1, f"generation {row['generation']}: several members went: {hosts}")
        fault = last_fault(evidence, hosts[0], moment, TRIGGER_OF_FAULT)
        require(fault, f"generation {row['generation']}: {hosts[0]} went and nothing was done to it")
        return {"trigger": TRIGGER_OF_FAULT[fault["kind"]], "host": hosts[0], "fault": fault["id"], "root": True}
    hosts = sorted({host_of(m) for m in came})
    if row["generation"] == 1:
        return {"trigger": "member_join", "host": hosts[0] if len(hosts) == 1 else None, "fault": None, "root": True}
    require(len(hosts) == 1, f"generation {row['generation']}: not one member came but {hosts}")
    host = hosts[0]
    if host in evicted:
        root = evicted[host]
        return {"trigger": "member_rejoin", "host": host, "fault": root["fault"], "root": False,
                "root_generation": root["generation"]}
    fault = last_fault(evidence, host, moment, ("join",))
    return {"trigger": "member_join", "host": host, "fault": fault["id"] if fault else None, "root": True}


def last_fault(evidence, host, moment, kinds):
    begun = [f for f in evidence.faults if f["host"] == host and f["kind"] in kinds and clock.parse(f["start"]) <= moment]
    return begun[-1] if begun else None


def root_of(rows):
    return {r["generation"]: r.get("root_generation", r["generation"]) for r in rows}


def redeliveries(evidence, rows):
    """Runs of offsets that were received in more than one assignment, by partition and later assignment."""
    faults = {r["generation"]: r["fault"] for r in rows}
    deliveries = defaultdict(dict)
    for entry in evidence.journal:
        if entry["what"] == "received":
            place = (entry["partition"], entry["offset"])
            deliveries[place].setdefault((entry["generation"], entry["consumer"]), entry["time"])
    again = defaultdict(list)
    for (partition, offset), owners in deliveries.items():
        for generation, consumer in sorted(owners)[1:]:
            again[(generation, partition, consumer)].append(offset)
    found = []
    for (generation, partition, consumer), offsets in sorted(again.items()):
        offsets.sort()
        require(offsets == list(range(offsets[0], offsets[-1] + 1)), f"a hole in what was delivered again: {offsets}")
        found.append({"group": evidence.run["group"]["name"], "topic": evidence.run["topic"]["name"], "partition": partition,
                      "from": offsets[0], "to": offsets[-1] + 1, "generation": generation, "to_host": consumer,
                      "fault": faults[generation]})
    return found


def check_redeliveries(evidence, found):
    """The first offset delivered again is the one last committed when the new owner began."""
    for row in found:
        began = min(clock.parse(e["time"]) for e in evidence.journal
                    if e["what"] == "assigned" and e["generation"] == row["generation"] and e["consumer"] == row["to_host"])
        committed = 0
        for record in evidence.history:
            if record["what"] == "commit" and record["partition"] == row["partition"] and clock.parse(record["time"]) <= began:
                committed = record["offset"]
        require(committed == row["from"], f"committed {committed} but delivered again: {row}")


def effects_by_intent(evidence):
    """(business key, step) to the attempts that took effect; the tables and the journals must agree."""
    rows = {
        "reversal": {r["request_id"] for r in evidence.books["channel"]},
        "ledger": {r["request_id"] for r in evidence.books["ledger"]},
        "notice": {r["request_id"] for r in evidence.books["notice"]},
    }
    succeeded = defaultdict(list)
    journalled = defaultdict(set)
    for attempt in evidence.attempts:
        if attempt["status"] == "success":
            succeeded[(attempt["business_key"], attempt["step"])].append(attempt)
            journalled[attempt["step"]].add(attempt["request_id"])
    for step in STEPS:
        require(rows[step] == journalled[step], f"{step}: the table and the consumers' journals differ")
    return succeeded


def duplicates(evidence, rows):
    faults = {r["generation"]: r["fault"] for r in rows}
    found = []
    for (key, step), effects in effects_by_intent(evidence).items():
        if len(effects) < 2:
            continue
        places = {(e["partition"], e["offset"]) for e in effects}
        require(len(places) in (1, len(effects)), f"{key} {step}: redelivered and submitted twice at once")
        row = {"business_key": key, "step": step, "effects": len(effects)}
        if len(places) > 1:
            row.update(cause="upstream", fault=None, generation=None)
        else:
            generation = max(e["generation"] for e in effects)
            row.update(cause="redelivery", fault=faults[generation], generation=generation)
        row.update(amount=effects[0]["amount"], currency=effects[0]["currency"])
        found.append(row)
    return sorted(found, key=lambda d: (d["business_key"], STEPS.index(d["step"])))


def lost(evidence):
    done = set(effects_by_intent(evidence))
    keys = sorted({s["business_key"] for s in evidence.submitted})
    return [{"business_key": key, "step": step} for key in keys for step in STEPS if (key, step) not in done]


def resubmissions(evidence):
    first = {}
    found = []
    for entry in evidence.submitted:
        place = {"partition": entry["partition"], "offset": entry["offset"]}
        if entry["again"]:
            found.append({"business_key": entry["business_key"], "time": clock.normal(entry["time"]),
                          "first": first[entry["business_key"]], "again": place})
        else:
            first[entry["business_key"]] = place
    return found


def totals(evidence, doubled):
    amounts = defaultdict(Decimal)
    by_step, by_cause = Counter(), Counter()
    for row in doubled:
        by_step[row["step"]] += row["effects"] - 1
        by_cause[row["cause"]] += row["effects"] - 1
        if row["step"] == "reversal":
            amounts[row["currency"]] += Decimal(row["amount"]) * (row["effects"] - 1)
    return {
        "submitted": len(evidence.submitted),
        "refunds": len({s["business_key"] for s in evidence.submitted}),
        "reversals": len(evidence.books["channel"]),
        "ledger_rows": len(evidence.books["ledger"]),
        "notices": len(evidence.books["notice"]),
        "duplicate_amounts": {c: str(a) for c, a in sorted(amounts.items())},
        "by_step": dict(by_step),
        "by_cause": dict(by_cause),
        "attempts": dict(Counter(a["status"] for a in evidence.attempts)),
    }


def check_books(evidence, truth):
    """The number of rows beyond one for each key is the number of effects beyond one for each intent."""
    for step, table, column in (("reversal", "channel", "business_key"), ("ledger", "ledger", "order_no"),
                                ("notice", "notice", "business_key")):
        rows = evidence.books[table]
        surplus = len(rows) - len({r[column] for r in rows})
        counted = sum(d["effects"] - 1 for d in truth["duplicates"] if d["step"] == step)
        require(surplus == counted, f"{table} holds {surplus} rows too many, the duplicates explain {counted}")
    upstream = {d["business_key"] for d in truth["duplicates"] if d["cause"] == "upstream"}
    require(upstream == {r["business_key"] for r in truth["resubmissions"]}, "upstream duplicates are not the resubmissions")
    ranges = {(r["partition"], o) for r in truth["redeliveries"] for o in range(r["from"], r["to"])}
    for attempt in evidence.attempts:
        if attempt["status"] == "duplicate" and attempt["business_key"] not in upstream:
            require((attempt["partition"], attempt["offset"]) in ranges, f"refused, but never delivered again: {attempt}")


def check_faults(evidence, rows):
    """Each fault that was to evict has its root and its rejoin; each that was not has none."""
    for fault in evidence.faults:
        triggers = [r["trigger"] for r in rows if r["fault"] == fault["id"]]
        if fault["kind"] == "join":
            require(triggers == ["member_join"], f"{fault['id']}: {triggers}")
            continue
        expected = [TRIGGER_OF_FAULT[fault["kind"]]]
        if fault["kind"] != "leave":
            expected.append("member_rejoin")
        if fault.get("evicts", True) is None:
            # Whether so short an outage evicts is for TCP's backoff to say: what happened is the truth.
            fault["evicts"] = bool(triggers)
        if not fault.get("evicts", True):
            expected = []
        require(triggers == expected or triggers == expected[:1], f"{fault['id']} {fault['kind']}: {triggers}")


def make(evidence, network, locks, recorded):
    run, group = evidence.run, evidence.run["group"]
    rows = rebalances(evidence)
    check_faults(evidence, rows)
    again = redeliveries(evidence, rows)
    check_redeliveries(evidence, again)
    roots = [r for r in rows if r["root"]]
    by_network = {f["id"] for f in evidence.faults if f["network"]}
    doubled = duplicates(evidence, rows)
    truth = {
        "schema": "aftershock/truth/1",
        "run": run["run"],
        "reference": run["reference"],
        "recorded": recorded,
        "hosts": {name: host.address for name, host in network.hosts.items()},
        "settings": {"kafka": run["kafka"], "group": group["name"], "protocol": group["protocol"],
                     **{k: group[k] for k in ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms")}},
        "faults": evidence.faults,
        "database_locks": locks,
        "clocks": [{"host": h, "offset_us": 0, "drift_ppm": 0, "timezone": "UTC"} for h in (run["broker"], *run["consumers"])],
        "rebalances": rows,
        "redeliveries": again,
        "duplicates": doubled,
        "resubmissions": resubmissions(evidence),
        "lost": lost(evidence),
        "totals": totals(evidence, doubled),
        "share": {"roots": len(roots), "network": len([r for r in roots if r["fault"] in by_network])},
    }
    check_books(evidence, truth)
    return truth
