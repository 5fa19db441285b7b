# SPDX-License-Identifier: MIT
"""What truly happened, as aftershock/truth/1.

Made from the injector's times, the processes' own journals, the coordinator's answers to GroupWatch, the records
of __consumer_offsets and the tables of the side effects. Nothing here reads the evidence.
"""

from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal

from . import clients, clock

STEPS = ("reversal", "ledger", "notice")
NETWORK = ("blackout", "loss", "delay", "congestion", "softnet", "conntrack", "link", "reset")
# What each kind of fault can do to a member: the trigger of the rebalance in which it is gone.
TRIGGER_OF_FAULT = {
    **{kind: "session_timeout" for kind in NETWORK},
    "process_pause": "session_timeout",
    "server_pause": "session_timeout",
    "crash": "session_timeout",
    "slow_handler": "poll_timeout",
    "leave": "member_leave",
    "coordinator": "coordinator_change",
}
EVICTIONS = ("session_timeout", "poll_timeout", "coordinator_change")
# How long after the end of a fault TCP's backoff may still keep a connection silent.
BACKOFF_SECONDS = 30
FOLLOWUP_SECONDS = 20


class Inconsistent(Exception):
    """Two sources of the truth contradict each other: the run is of no use."""


def require(condition, message):
    if not condition:
        raise Inconsistent(message)


class Evidence:
    """The private records of a run, on one time line."""

    def __init__(self, run, faults, journals, submitted, views, history, books, late=()):
        self.run = run
        self.faults = faults
        self.journal = sorted((e for j in journals for e in j), key=lambda e: clock.parse(e["time"]))
        self.submitted = submitted
        self.views = [{**v, "moment": clock.parse(v["time"])} for v in views]
        self.history = history
        self.books = books
        self.late = late
        self._follow_assignments()
        self.attempts = self._attempts()

    def _follow_assignments(self):
        """Numbers the assignments of each partition at each consumer, and says of each record in which it was received."""
        current = {}
        self.began = {}
        number = 0
        for entry in self.journal:
            if entry["what"] == "assigned":
                number += 1
                self.began[number] = clock.parse(entry["time"])
                names = entry.get("partitions")
                if names is None:
                    current = {k: v for k, v in current.items() if k[0] != entry["consumer"]}
                    current[(entry["consumer"], None)] = number
                for name in names or ():
                    current[(entry["consumer"], int(name.rsplit("-", 1)[1]))] = number
            elif entry["what"] == "received":
                whole = current.get((entry["consumer"], None), 0)
                entry["assignment"] = current.get((entry["consumer"], entry["partition"]), whole)

    def _attempts(self):
        """Each attempt of a step, with the generation and the assignment in which its record was received."""
        received = {}
        attempts = []
        for entry in self.journal:
            if entry["what"] == "received":
                received[entry["consumer"]] = entry
            elif entry["what"] == "attempt":
                delivery = received[entry["consumer"]]
                attempts.append({**entry, "time": clock.normal(entry["time"]), "generation": delivery["generation"],
                                 "assignment": delivery["assignment"]})
        return attempts


class Member:
    """Who is in a group: a static member is its instance, whatever its member id; its host is its client id."""

    def __init__(self, record):
        self.id = record["member"]
        self.key = record.get("instance") or record["member"]
        self.host = record["client_id"]


def joined(record):
    """When the members had joined; group metadata of brokers before 2.1 lacks it, and the assignment came right after."""
    unknown = clock.parse(record["state_time"]).year < 1970
    return record["time"] if unknown else record["state_time"]


def classic_generations(evidence):
    """The stored generations, each once: the coordinator writes one when its assignment is known.

    Generation 0 is the empty group before its first member; it is not the outcome of a rebalance. A generation whose members
    never got an assignment, because the next rebalance came first, was not stored: its members stay None.
    """
    stored = {}
    for record in evidence.history:
        if record["what"] == "generation" and record["generation"]:
            stored.setdefault(record["generation"], record)
    found = []
    for number in range(1, max(stored, default=0) + 1):
        record = stored.get(number)
        found.append({"generation": number, "joined": record and joined(record), "completed": record and record["time"],
                      "members": record and [Member(m) for m in record["members"]]})
    return found


def consumer_generations(evidence):
    """The epochs of a KIP-848 group. One is complete when every member of it has reached it, or at the next one."""
    members, found, reached = {}, [], {}
    for record in evidence.history:
        if record["what"] == "member":
            if record["client_id"] is None:
                members.pop(record["member"], None)
            else:
                members[record["member"]] = Member(record)
        elif record["what"] == "epoch" and record["epoch"]:
            found.append({"generation": record["epoch"], "joined": record["time"], "completed": None,
                          "members": list(members.values())})
        elif record["what"] == "current":
            reached[record["member"]] = record["epoch"]
            if found and not found[-1]["completed"] and all((reached.get(m.id) or 0) >= found[-1]["generation"]
                                                            for m in found[-1]["members"]):
                found[-1]["completed"] = record["time"]
    return found


def trigger_time(evidence, after, before):
    """When the coordinator was first seen to prepare this rebalance; GroupWatch asks about 20 times a second."""
    for view in evidence.views:
        if after < view["moment"] <= before and view["state"] == "PreparingRebalance":
            return view["time"]
    return None


def vanished(evidence, member, after, before):
    """When a member was first seen to be gone."""
    for view in evidence.views:
        if after < view["moment"] <= before and view["state"] not in ("unknown", "Empty", "Dead") and member.id not in view["members"]:
            return view["moment"]
    return before


def rebalances(evidence):
    consumer_protocol = evidence.run["group"]["protocol"] == "consumer"
    rows = []
    evicted = {}
    members = {}
    after = clock.parse("1970-01-01T00:00:00Z")
    found = consumer_generations(evidence) if consumer_protocol else classic_generations(evidence)
    for at, one in enumerate(found):
        stored = next(o for o in found[at:] if o["members"] is not None)
        completed = clock.parse(stored["completed"] or stored["joined"])
        seen = None if consumer_protocol else trigger_time(evidence, after, completed)
        now = {m.key: m for m in stored["members"]}
        gone = [m for k, m in members.items() if k not in now]
        came = [m for k, m in now.items() if k not in members]
        if one is not stored and gone:
            # Not stored: of several changes the departures are taken to have come first.
            now = {k: m for k, m in members.items() if k in now}
            came = []
        row = {
            "group": evidence.run["group"]["name"],
            "generation": one["generation"],
            "time": clock.normal(seen or stored["joined"]),
            "joined": one["joined"] and clock.normal(one["joined"]),
            "completed": one["completed"] and clock.normal(one["completed"]),
            "members": len(now),
        }
        row.update(cause_of(evidence, rows, row, gone, came, now, evicted, after))
        rows.append(row)
        for member in came:
            evicted.pop(member.host, None)
        # A member that was evicted and is back in the same generation owes no rejoin; a process that ended does not rejoin.
        if row["root"] and row["trigger"] in EVICTIONS:
            for host in {m.host for m in gone} - {m.host for m in came}:
                fault = by_id(evidence, row["fault"])
                if not fault or fault["kind"] not in ("crash", "leave"):
                    evicted[host] = row
        members = now
        if one is stored:
            after = completed
    return rows


def by_id(evidence, name):
    return next((f for f in evidence.faults if f["id"] == name), None)


def cause_of(evidence, rows, row, gone, came, now, evicted, after):
    """Names trigger, host and fault from who went and who came; a departure outweighs an arrival."""
    moment = clock.parse(row["time"])
    if gone and not came_first(evidence, row, gone, came, after):
        return cause_of_departure(evidence, row, gone, after)
    hosts = sorted({m.host for m in came})
    again = came_again(evidence, rows, row, now, after)
    if again and not hosts:
        return {"trigger": "member_rejoin", "host": again, "fault": rows[-1]["fault"], "root": False,
                "root_generation": rows[-1]["root_generation"]}
    if hosts:
        named = {"host": hosts[0]} if len(hosts) == 1 else {"host": None, "hosts": hosts}
        back = [h for h in hosts if h in evicted]
        if back:
            root = evicted[back[0]]
            return {"trigger": "member_rejoin", **named, "fault": root["fault"], "root": False,
                    "root_generation": root["generation"]}
        joins = [f for f in evidence.faults if f["kind"] == "join" and f["host"] in hosts and clock.parse(f["start"]) <= moment]
        return {"trigger": "member_join", **named, "fault": joins[-1]["id"] if joins else None, "root": True}
    return cause_without_change(evidence, rows, moment)


def came_again(evidence, rows, row, now, after):
    """The host that joined twice: the coordinator had had it back before, under an id with which no generation was stored."""
    if not rows or rows[-1]["completed"] or rows[-1]["trigger"] != "member_rejoin":
        return None
    before = clock.parse(row["completed"] or row["time"])
    first = {}
    for view in evidence.views:
        if after < view["moment"] <= before:
            for name in view.get("members", ()):
                first.setdefault(name, view["moment"])
    for member in now.values():
        earlier = [n for n in first if n.startswith(f"{member.host}-") and n not in {m.id for m in now.values()}]
        if member.host == rows[-1]["host"] and member.id in first and any(first[n] < first[member.id] for n in earlier):
            return member.host
    return None


def came_first(evidence, row, gone, came, after):
    """Whether the coordinator had a new process's member before the first departure: then the arrival is the trigger."""
    before = clock.parse(row["completed"] or row["time"])
    left = min(vanished(evidence, m, after, before) for m in gone)
    fresh = [m for m in came if any(f["kind"] == "join" and f["host"] == m.host and after < clock.parse(f["start"]) <= before
                                    for f in evidence.faults)]
    return any(v["moment"] < left and m.id in v.get("members", ()) for m in fresh for v in evidence.views if v["moment"] > after)


def cause_without_change(evidence, rows, moment):
    """The members are the same: the topic or a subscription changed, or the protocol needed another round."""
    used = {r["fault"] for r in rows}
    for fault in evidence.faults:
        begun = clock.parse(fault["start"])
        if fault["kind"] == "metadata" and fault["id"] not in used and begun <= moment:
            subscription = fault["sub"] == "subscription"
            return {"trigger": "subscription_change" if subscription else "metadata_change",
                    "host": fault["host"] if subscription else None, "fault": fault["id"], "root": True}
    for fault in evidence.faults:
        since = (moment - clock.parse(fault["end"])).total_seconds()
        if fault["kind"] == "coordinator" and -1 < since < FOLLOWUP_SECONDS:
            # The leader finds the restarted broker's metadata changed.
            return {"trigger": "metadata_change", "host": None, "fault": fault["id"], "root": True}
    last = rows[-1]
    if (moment - clock.parse(last["completed"] or last["time"])).total_seconds() < FOLLOWUP_SECONDS:
        return {"trigger": "protocol_followup", "host": None, "fault": last["fault"], "root": False,
                "root_generation": last.get("root_generation", last["generation"])}
    return {"trigger": "unknown", "host": None, "fault": None, "root": True}


def cause_of_departure(evidence, row, gone, after):
    moment = clock.parse(row["time"])
    completed = clock.parse(row["completed"] or row["time"])
    went = {m.host: vanished(evidence, m, after, completed) for m in gone}
    first = min(gone, key=lambda m: went[m.host])
    fault, also = fault_of_departure(evidence, first.host, moment)
    require(fault, f"generation {row['generation']}: {first.host} went and nothing was done to it")
    trigger = TRIGGER_OF_FAULT[fault["kind"]]
    if fault["kind"] == "leave" and evidence.run["group"].get("static"):
        trigger = "session_timeout"  # a static member closes without a word
    if fault["kind"] == "slow_handler":
        trigger = clients.overrun_triggers(evidence.run).get(first.host, trigger)
    hosts = sorted({m.host for m in gone})
    cause = {"trigger": trigger, "host": first.host, "fault": fault["id"], "root": True}
    if len(hosts) > 1:
        cause["hosts"] = hosts
        others = {h: fault_of_departure(evidence, h, completed)[0] for h in hosts if h != first.host}
        if all(f is fault for f in others.values()) or list(went.values()).count(went[first.host]) > 1:
            cause["host"] = None  # one cause, or too close together to say who went first
        also = also + [f["id"] for f in others.values() if f and f is not fault and f["id"] not in also]
    if also:
        cause["also_faults"] = also
    return cause


def fault_of_departure(evidence, host, moment):
    """The fault that made a member go, and those that could have as well: which one overlaps its session the most."""
    group = evidence.run["group"]
    session = group["session_timeout_ms"] / 1000
    candidates = []
    for fault in evidence.faults:
        if fault["kind"] not in TRIGGER_OF_FAULT or fault["host"] not in (host, evidence.run["broker"]):
            continue
        before = (moment - clock.parse(fault["start"])).total_seconds()
        since = (moment - clock.parse(fault["end"])).total_seconds()
        if before < -0.1:
            continue
        if fault["kind"] == "leave" and since < 1:
            return fault, []
        overrun = None
        if fault["kind"] == "slow_handler":
            overrun = clients.overrun_triggers(evidence.run).get(host, TRIGGER_OF_FAULT["slow_handler"])
            if overrun is None:
                continue
        limit = group["max_poll_interval_ms"] / 1000 if overrun == "poll_timeout" else session
        if overrun == "poll_timeout" and before < limit - 1:
            continue
        if since > limit + BACKOFF_SECONDS and fault["kind"] not in ("crash", "leave"):
            continue
        candidates.append((min(before, limit) - max(0.0, min(since, limit)), fault))
    if not candidates:
        return None, []
    # Of a restart of the broker and what befell the member itself, the member's own comes first.
    candidates.sort(key=lambda c: (c[1]["host"] == host, c[0]), reverse=True)
    best = candidates[0][1]
    return best, [f["id"] for overlap, f in candidates[1:] if overlap > 0]


def fault_by_generation(rows):
    """What fault a delivery belongs to; under KIP-848 a member may be told of a later epoch than that of its partitions."""
    def find(generation):
        known = [r for r in rows if r["generation"] <= generation]
        return known[-1] if known else None
    return find


def redeliveries(evidence, rows):
    """Runs of offsets that were received in more than one assignment, by partition and later assignment."""
    row_of = fault_by_generation(rows)
    deliveries = defaultdict(dict)
    for entry in evidence.journal:
        if entry["what"] == "received":
            place = (entry["partition"], entry["offset"])
            owner = (entry["generation"], entry["assignment"], entry["consumer"])
            deliveries[place].setdefault(owner, entry["time"])
    again = defaultdict(list)
    for (partition, offset), owners in deliveries.items():
        order = sorted(owners)
        for number, (generation, assignment, consumer) in enumerate(order[1:], 1):
            same = order[number - 1][0] == generation
            again[(generation, partition, consumer, assignment, same)].append(offset)
    found = []
    for (generation, partition, consumer, assignment, same), offsets in sorted(again.items()):
        row = row_of(generation)
        fault = row["fault"] if row else None
        if same:  # a static member that came back into its own generation: no rebalance
            joins = [f["id"] for f in evidence.faults if f["kind"] == "join" and f["host"] == consumer
                     and clock.parse(f["start"]) <= evidence.began[assignment]]
            fault = joins[-1] if joins else None
        for start, end in runs_of(sorted(offsets)):
            found.append({"group": evidence.run["group"]["name"], "topic": evidence.run["topic"]["name"], "partition": partition,
                          "from": start, "to": end, "generation": row["generation"] if row else generation, "to_host": consumer,
                          "fault": fault, **({"without_rebalance": True} if same else {}), "assignment": assignment})
    return found


def runs_of(offsets):
    start = previous = offsets[0]
    for offset in offsets[1:]:
        if offset != previous + 1:
            yield start, previous + 1
            start = offset
        previous = offset
    yield start, previous + 1


def check_redeliveries(evidence, found):
    """The first offset delivered again is the one last committed when the new owner began."""
    firsts = {}
    for row in found:
        firsts.setdefault((row["assignment"], row["partition"]), row)
    for row in firsts.values():
        began = evidence.began.get(row["assignment"])
        committed = 0
        for record in evidence.history:
            if (record["what"] == "commit" and record["partition"] == row["partition"] and record["offset"] is not None
                    and record["topic"] == row["topic"] and clock.parse(record["time"]) <= began):
                committed = record["offset"]
        require(committed == row["from"], f"committed {committed} but delivered again: {row}")
    for row in found:
        del row["assignment"]


def strained(evidence, recorded):
    """When the coordinator kept those who asked it waiting, and nobody had done anything to it: the machine was too busy."""
    broker = evidence.run["broker"]
    own = [(clock.parse(f["start"]), clock.parse(f["end"]) + timedelta(seconds=FOLLOWUP_SECONDS))
           for f in evidence.faults if f["host"] == broker]
    found = []
    for line in evidence.late:
        start, end = clock.parse(line["time"]), clock.parse(line["end"])
        if end > clock.parse(recorded["start"]) and not any(start < until and since < end for since, until in own):
            found.append({"host": broker, "start": clock.text(start), "end": clock.text(end)})
    return found


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
        took_effect = attempt["status"] == "success" or (attempt["status"] == "unknown" and attempt["request_id"] in rows[attempt["step"]])
        if took_effect and attempt["request_id"] not in journalled[attempt["step"]]:
            succeeded[(attempt["business_key"], attempt["step"])].append(attempt)
            journalled[attempt["step"]].add(attempt["request_id"])
    for step in STEPS:
        require(rows[step] == journalled[step], f"{step}: the table and the consumers' journals differ")
    return succeeded


def duplicates(evidence, rows):
    row_of = fault_by_generation(rows)
    found = []
    for (key, step), effects in effects_by_intent(evidence).items():
        if len(effects) < 2:
            continue
        places = {(e["partition"], e["offset"]) for e in effects}
        assignments = {e["assignment"] for e in effects}
        row = {"business_key": key, "step": step, "effects": len(effects)}
        if len(places) > 1:
            row.update(cause="upstream", fault=None, generation=None)
            if len(places) < len(effects):
                row["redelivered_too"] = True
        elif len(assignments) == 1:
            # The outcome of a call was not known, and it was made again: no rebalance had a part in it.
            row.update(cause="retry", fault=None, generation=None)
        else:
            rebalance = row_of(max(e["generation"] for e in effects))
            row.update(cause="redelivery", fault=rebalance["fault"], generation=rebalance["generation"])
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
    twice = {r["business_key"] for r in truth["resubmissions"]}
    unknown = {a["business_key"] for a in evidence.attempts if a["status"] == "unknown"}
    require(upstream <= twice, "upstream duplicates that were never resubmitted")
    ranges = {(r["partition"], o) for r in truth["redeliveries"] for o in range(r["from"], r["to"])}
    for attempt in evidence.attempts:
        if attempt["status"] == "duplicate" and attempt["business_key"] not in twice | unknown:
            require((attempt["partition"], attempt["offset"]) in ranges, f"refused, but never delivered again: {attempt}")


def check_faults(evidence, rows):
    """Each fault that was to evict has its root; each that was not to has none; of the others it is noted what came of them."""
    for fault in evidence.faults:
        evicted = any(r["root"] and r["trigger"] in EVICTIONS and fault["id"] in (r["fault"], *r.get("also_faults", ()))
                      for r in rows)
        if fault["evicts"] is None:
            fault["evicts"] = evicted
        require(fault["evicts"] == evicted, f"{fault['id']} {fault['kind']}: "
                + ("evicted nobody" if fault["evicts"] else "was not to evict and did"))


def settings_more(run):
    more = {"static": True} if run["group"].get("static") else {}
    if "clients" in run:
        more["clients"] = run["clients"]
    assignor = run["consumer_settings"].get("partition.assignment.strategy")
    return {**more, "assignor": assignor.rsplit(".", 1)[1]} if assignor else more


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
        "settings": {"kafka": run["kafka"], "client_kafka": run["client_kafka"], "group": group["name"],
                     "protocol": group["protocol"],
                     **{k: group[k] for k in ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms")},
                     "key": run["service"].get("key", "message+instance"), **settings_more(run)},
        "faults": evidence.faults,
        "strained": strained(evidence, recorded),
        "database_locks": locks,
        "clocks": [{"host": h, "offset_us": 0, "drift_ppm": 0, "timezone": "UTC"} for h in (run["broker"], *run["consumers"], *run.get("later_consumers", []))],
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
