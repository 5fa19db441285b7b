#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records one real incident with known truth: lab.py RUN [-o DIR]. See README.md beside this file."""

import argparse
import json
import os
import pathlib
import platform
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

from labkit import build, clock, faults, group, hosts, recorder, services, truth

LAB = pathlib.Path(__file__).resolve().parent
REPOSITORY = LAB.parent.parent
NEEDED = {
    "ip": "iproute2", "nft": "nftables", "tcpdump": "tcpdump", "unshare": "util-linux", "sysctl": "procps",
    "java": "openjdk-17-jdk-headless", "mvn": "maven",
}
TABLES = {
    "channel": "SELECT time, request_id, business_key, amount, currency FROM reversal ORDER BY time",
    "ledger": "SELECT time, request_id, order_no, biz_type, amount, currency FROM entry ORDER BY time",
    "notice": "SELECT time, request_id, business_key FROM notice ORDER BY time",
}


def missing():
    """What this machine lacks, each with the Debian package that has it."""
    lacking = [f"{tool} (package {package})" for tool, package in NEEDED.items() if not shutil.which(tool)]
    if os.geteuid() != 0:
        lacking.append("root (network namespaces, tcpdump)")
    if shutil.which("java") and services.java_binary().startswith(("/opt/", "/srv/", "/var/")):
        lacking.append("a JVM outside /opt, /srv and /var, which the lab's hosts have their own of")
    return lacking


def read_books(directory):
    books = {}
    for name, query in TABLES.items():
        database = sqlite3.connect(directory / f"{name}.db")
        database.row_factory = sqlite3.Row
        books[name] = [dict(row) for row in database.execute(query)]
        database.close()
    return books


def wait_for_drain(producer, consumers, limit=30):
    """Returns when all that was submitted has been received by someone."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        wanted = {(e["partition"], e["offset"]) for e in producer.journal()}
        done = {(e["partition"], e["offset"]) for c in consumers.values() for e in c.journal() if e["what"] == "done"}
        if wanted <= done:
            return
        time.sleep(0.5)
    raise RuntimeError("the consumers did not work off what was submitted")


class Recording:
    """One run from the first namespace to the finished directory."""

    def __init__(self, run, work, say):
        self.run = run
        self.work = work
        self.say = say
        self.evidence = work / "evidence"
        self.books = work / "books"
        for directory in (self.evidence, self.books):
            directory.mkdir()

    def make(self):
        app, cluster = build.build(self.run["kafka"])
        with hosts.Network(self.work, self.run["addresses"]) as network:
            self._set_up(network, app, cluster)
            begun = clock.now()
            try:
                self._act()
            finally:
                # For whoever has to find out why a run failed.
                (self.work / "faults.json").write_text(json.dumps(self.injector.faults, indent=2))
            return self._collect(network, {"start": begun, "end": clock.now()})

    def _set_up(self, network, app, cluster):
        run = self.run
        self.say("starting the broker")
        self.cluster = services.Cluster(run, network, cluster)
        self.cluster.start()
        self.watch_file = self.work / "group-watch.jsonl"
        with open(self.watch_file, "w") as output:
            self.cluster.watch(output)
        self.group = group.Group(self.watch_file, len(run["consumers"]))
        self.consumers = {name: services.Consumer(run, network.hosts[name], app, self.books) for name in run["consumers"]}
        self.producer = services.Producer(run, network.hosts[run["producer"]], app)
        self.recorders = [recorder.HostRecorder(network.hosts[name], self.evidence / name, run["record"])
                          for name in run["consumers"]]
        self.injector = faults.Injector(run, network, self.consumers, self.producer, self.books, self.group)
        for one in self.recorders:
            one.start()
        time.sleep(2)
        self.say("starting consumers and producer")
        for consumer in self.consumers.values():
            consumer.start()
        self.group.wait_whole()
        with open(self.evidence / "groups-describe.log", "w") as output:
            self.describe = self.cluster.describe(run["record"]["describe_seconds"], output)
        self.producer.start()

    def _act(self):
        time.sleep(self.run["quiet_seconds"]["before"])
        for number, step in enumerate(self.run["steps"], 1):
            self.say(f"step {number} of {len(self.run['steps'])}: {step['do']} {step.get('host', '')}".rstrip())
            self.injector.execute(step)
        self.producer.stop()
        wait_for_drain(self.producer, self.consumers)
        time.sleep(self.run["quiet_seconds"]["after"])

    def _collect(self, network, recorded):
        """Takes the evidence while everything still runs, as a user would: no shutdown is in it."""
        self.say("collecting")
        self.describe.kill()
        self.describe.wait()
        for one in self.recorders:
            one.stop()
        logs = {self.run["broker"]: ("/var/log/kafka/server.log", "server.log")}
        logs |= {name: ("/var/log/refunds/app.log", "app.log") for name in self.run["consumers"]}
        for name, (source, target) in logs.items():
            (self.evidence / name).mkdir(exist_ok=True)
            shutil.copy(network.hosts[name].path(source), self.evidence / name / target)
        private = truth.Evidence(
            self.run, self.injector.faults, [c.journal() for c in self.consumers.values()], self.producer.journal(),
            self.group.views(), self.cluster.history(), read_books(self.books))
        with open(self.work / "history.jsonl", "w") as output:
            output.writelines(json.dumps(record) + "\n" for record in private.history)
        recorder.export_tables(self.evidence, private.attempts, private.books)
        recorder.cut_to_whole_samples(self.evidence / "groups-describe.log")
        for name in self.run["consumers"]:
            for file in recorder.COUNTERS:
                recorder.cut_to_whole_samples(self.evidence / name / file)
                recorder.compress(self.evidence / name / file)
            recorder.compress(self.evidence / name / "eth0.pcap")
        found = truth.make(private, network, self.injector.locks, recorded)
        (self.evidence / "truth.json").write_text(json.dumps(found, indent=1) + "\n")
        words = [str(self.work), str(REPOSITORY), str(build.cache_directory()), os.path.expanduser("~") + "/"]
        words += [platform.node()] if len(platform.node()) > 3 else []
        leaks = recorder.find_leaks(self.evidence, words)
        if leaks:
            raise RuntimeError(f"the evidence names this machine: {leaks}")
        return found


def summary(found):
    triggers = {}
    for row in found["rebalances"]:
        triggers[row["trigger"]] = triggers.get(row["trigger"], 0) + 1
    return json.dumps({"rebalances": triggers, "redelivered_ranges": len(found["redeliveries"]), "lost": len(found["lost"]),
                       "share": found["share"], "totals": found["totals"]}, indent=1)


def main():
    names = sorted(p.stem for p in (LAB / "runs").glob("*.json"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", choices=names, help="a file in runs/, without .json")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="directory of the recording (default: as the run file says)")
    parser.add_argument("-k", "--keep", action="store_true", help="keep the working directory with journals and databases")
    arguments = parser.parse_args()
    lacking = missing()
    if lacking:
        sys.exit("lab: this machine lacks: " + "; ".join(lacking))
    run = json.loads((LAB / "runs" / f"{arguments.run}.json").read_text())
    output = arguments.output or REPOSITORY / run["output"]
    hosts.remove_stale()
    # A polite end unwinds like an interrupt, so that everything is cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("lab: ended"))
    work = pathlib.Path(tempfile.mkdtemp(prefix="aftershock-lab-"))
    done = False
    try:
        found = Recording(run, work, lambda text: print(f"lab: {text}", file=sys.stderr, flush=True)).make()
        recorder.replace_directory(work / "evidence", output)
        done = True
        print(summary(found))
    finally:
        if arguments.keep or not done:
            print(f"lab: working directory kept: {work}", file=sys.stderr)
        else:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
