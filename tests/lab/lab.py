#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records real incidents with known truth: lab.py RUN [-o DIR], or lab.py all. See README.md beside this file."""

import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from labkit import build, clients, clock, faults, group, hosts, jvm, plan, recorder, rewrite, schema, services, truth

LAB = pathlib.Path(__file__).resolve().parent
REPOSITORY = LAB.parent.parent
NEEDED = {
    "ip": "iproute2", "tc": "iproute2", "ss": "iproute2", "nft": "nftables", "tcpdump": "tcpdump", "unshare": "util-linux",
    "taskset": "util-linux", "sysctl": "procps", "java": "openjdk-17-jdk-headless", "mvn": "maven",
}
TABLES = {
    "channel": "SELECT time, request_id, business_key, amount, currency FROM reversal ORDER BY time",
    "ledger": "SELECT time, request_id, order_no, biz_type, amount, currency FROM entry ORDER BY time",
    "notice": "SELECT time, request_id, business_key FROM notice ORDER BY time",
}
# A file of a host that is evidence when it is there: where it lies, and its name in the recording.
MORE_LOGS = {"/var/log/refunds/gc.log": "gc.log"}


def steps_of(run):
    """All steps, those inside others too."""
    pending = list(run["steps"])
    while pending:
        step = pending.pop()
        pending += step.get("steps", [])
        yield step


def missing(run):
    """What this machine lacks for a run, each with the Debian package that has it."""
    needed = dict(NEEDED)
    if any(step["do"].startswith("conntrack") for step in steps_of(run)):
        needed["conntrack"] = "conntrack"
    lacking = [f"{tool} (package {package})" for tool, package in needed.items() if not shutil.which(tool)]
    if run.get("relayed") and not os.path.exists("/dev/net/tun"):
        lacking.append("/dev/net/tun (kernel module tun)")
    lacking += clients.missing(run)
    if os.geteuid() != 0:
        lacking.append("root (network namespaces, tcpdump)")
    if shutil.which("java") and jvm.own().startswith(("/opt/", "/srv/", "/var/")):
        lacking.append("a JVM outside /opt, /srv and /var, which the lab's hosts have their own of")
    return lacking


def make_books(directory):
    """Three services that begin at once must not race for who makes the files."""
    for name in (*TABLES, "dedupe"):
        database = sqlite3.connect(directory / f"{name}.db")
        database.execute("PRAGMA journal_mode = WAL")
        database.close()


def read_books(directory):
    books = {}
    for name, query in TABLES.items():
        database = sqlite3.connect(directory / f"{name}.db")
        database.row_factory = sqlite3.Row
        books[name] = [dict(row) for row in database.execute(query)]
        database.close()
    return books


def wait_for_drain(producer, consumers, limit=60):
    """Returns when all that was submitted has been received by someone."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        wanted = {(e["partition"], e["offset"]) for e in producer.journal()}
        done = {(e["partition"], e["offset"]) for c in consumers.values() for e in c.journal() if e["what"] == "done"}
        if wanted <= done:
            return
        time.sleep(0.5)
    raise RuntimeError("the consumers did not work off what was submitted")


@contextlib.contextmanager
def turn(name, kind):
    """Holds a lock of the machine, shared or exclusive, that all labs on it know."""
    with open(build.cache_directory() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, kind)
        yield


@contextlib.contextmanager
def alone(name):
    """Two labs do not record one run at the same time."""
    try:
        with turn(f"run-{name}", fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield
    except BlockingIOError:
        sys.exit(f"lab: {name} is being recorded already")


class Recording:
    """One run from the first namespace to the finished directory."""

    def __init__(self, run, work, say):
        self.run = run
        self.work = work
        self.say = say
        self.evidence = work / "evidence"
        self.books = work / "books"
        self.names = [*run["consumers"], *run.get("later_consumers", [])]
        for directory in (self.evidence, self.books):
            directory.mkdir()
        make_books(self.books)

    def make(self):
        jars = build.service(self.run["client_kafka"]), build.broker(self.run["kafka"]), build.tools(self.run["kafka"])
        # Some faults are settings of the whole machine: such a run is alone on it.
        with turn("machine", fcntl.LOCK_EX if self.run["exclusive"] else fcntl.LOCK_SH), \
                clients.Books(self.books), hosts.Network(self.work, self.run["addresses"], self.run.get("relayed", ())) as network:
            # Eight JVMs that start load a small machine: one lab at a time.
            with turn("start", fcntl.LOCK_EX):
                self._set_up(network, *jars)
            self._begin_work()
            begun = clock.now()
            try:
                self._act()
            finally:
                # For whoever has to find out why a run failed.
                (self.work / "faults.json").write_text(json.dumps(self.injector.faults, indent=2))
            return self._collect(network, {"start": begun, "end": clock.now()})

    def _set_up(self, network, app, broker, tools):
        run = self.run
        self.say("starting the broker")
        self.cluster = services.Cluster(run, network, broker, tools)
        self.cluster.start()
        self.watch_file = self.work / "group-watch.jsonl"
        with open(self.watch_file, "w") as output:
            self.cluster.watch(output)
        self.cluster.create_topics()
        self.group = group.Group(self.watch_file, len(run["consumers"]))
        self.consumers = {name: clients.consumer(run, network.hosts[name], app, self.books) for name in self.names}
        self.producer = services.Producer(run, network.hosts[run["producer"]], app)
        limits = {name: faults.CpuLimit(network, name) for name in run.get("limited", [])}
        for name, limit in limits.items():
            self.consumers[name].limit = limit
        more = {name: {"cpu-stat.log": limit.statistics} for name, limit in limits.items()}
        for name in (step["host"] for step in steps_of(run) if step["do"] == "link"):
            more.setdefault(name, {})["link.log"] = "ip -s link show dev eth0 | sed 's/ link-netns .*//'"
        self.recorders = [recorder.HostRecorder(network.hosts[name], self.evidence / name, run["record"], more.get(name))
                          for name in self.names + [run["broker"]] * run["record"]["at_broker"]]
        self.injector = faults.Injector(run, network, self.cluster, self.consumers, self.producer, self.books, self.group)
        for one in self.recorders:
            one.start()
        time.sleep(1)
        self.say("starting consumers and producer")
        for name in run["consumers"]:
            self.consumers[name].start()
        time.sleep(2)

    def _begin_work(self):
        self.group.wait_whole()
        with open(self.evidence / "groups-describe.log", "w") as output:
            self.describe = self.cluster.describe(self.run["record"]["describe_seconds"], output)
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
        history = clients.by_host(self.cluster.history(), self.run["addresses"])
        logs = [(self.run["broker"], "/var/log/kafka/server.log", "server.log")]
        for name in self.names:
            logs.append((name, "/var/log/refunds/app.log", "app.log"))
            logs += [(name, source, target) for source, target in MORE_LOGS.items() if network.hosts[name].path(source).exists()]
        for name, source, target in logs:
            (self.evidence / name).mkdir(exist_ok=True)
            if network.hosts[name].path(source).exists():
                # Old brokers log the kernel's release, whose suffix names the recording machine's vendor.
                text = network.hosts[name].path(source).read_text()
                release = platform.release()
                (self.evidence / name / target).write_text(text.replace(release, release.split("-")[0]))
        with open(self.work / "history.jsonl", "w") as output:
            output.writelines(json.dumps(record) + "\n" for record in history)
        journals = [clients.with_generations(c.journal(), history) for c in self.consumers.values()]
        private = truth.Evidence(self.run, self.injector.faults, journals, self.producer.journal(), self.group.views(),
                                 history, read_books(self.books), self.group.late())
        recorder.export_tables(self.evidence, private.attempts, private.books, self.run["exports"])
        recorder.cut_to_whole_samples(self.evidence / "groups-describe.log")
        for one in self.recorders:
            for file in one.counters:
                recorder.cut_to_whole_samples(one.directory / file)
                if "output" in self.run:
                    recorder.compress(one.directory / file)
            if "output" in self.run:
                recorder.compress(one.directory / "eth0.pcap")
        found = truth.make(private, network, self.injector.locks, recorded)
        wrong = schema.problems(found)
        wrong += schema.against_broker(found, (self.evidence / self.run["broker"] / "server.log").read_text())
        if wrong:
            (self.work / "truth.json").write_text(json.dumps(found, indent=1) + "\n")
            raise RuntimeError(f"the truth does not hold: {wrong[:5]}")
        words = [str(self.work), str(REPOSITORY), str(build.cache_directory()), os.path.expanduser("~") + "/"]
        words += [network.prefix]
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


def write_truth(path, found):
    path.write_text(json.dumps(found, indent=1) + "\n")


def keep(run, found, work, output):
    """Puts a finished recording where it belongs: a directory with its truth, or an archive with its truth beside it."""
    if output or "output" in run:
        write_truth(work / "evidence" / "truth.json", found)
        recorder.replace_directory(work / "evidence", output or REPOSITORY / run["output"])
        return
    recorder.pack(work / "evidence", plan.RUNS / f"{run['run']}.tar.xz")
    write_truth(plan.RUNS / f"{run['run']}.truth.json", found)


def record(name, output, keep_work):
    run = plan.load(name)
    derived = "derived_from" in run
    lacking = [] if derived else missing(run)
    if lacking:
        sys.exit("lab: this machine lacks: " + "; ".join(lacking))
    hosts.remove_stale()
    # A polite end unwinds like an interrupt, so that everything is cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("lab: ended"))
    work = pathlib.Path(tempfile.mkdtemp(prefix="aftershock-lab-"))
    done = False
    try:
        if derived:
            found = rewrite.derive(run, plan.RUNS, work / "evidence")
        else:
            found = Recording(run, work, lambda text: print(f"lab: {text}", file=sys.stderr, flush=True)).make()
        keep(run, found, work, output)
        done = True
        print(summary(found))
    finally:
        if keep_work or not done:
            print(f"lab: working directory kept: {work}", file=sys.stderr)
        else:
            shutil.rmtree(work)


def is_recorded(name):
    output = plan.load(name).get("output")
    if output:
        return (REPOSITORY / output / "truth.json").exists()
    return all((plan.RUNS / f"{name}.{end}").exists() for end in ("tar.xz", "truth.json"))


class Driver:
    """Records many runs, some at a time, each in a process of its own; goes on after one that failed."""

    def __init__(self, again, jobs):
        runs = {name: plan.load(name) for name in plan.names()}
        wanted = [n for n, run in runs.items() if "output" not in run and (again or not is_recorded(n))]
        recorded = [n for n in wanted if "derived_from" not in runs[n]]
        # What needs the machine for itself comes after the rest, what is made from another run after that.
        self.stages = [([n for n in recorded if not runs[n]["exclusive"]], jobs), ([n for n in recorded if runs[n]["exclusive"]], 1),
                       ([n for n in wanted if "derived_from" in runs[n]], jobs)]
        self.failed = []
        self.running = set()
        self.mutex = threading.Lock()

    def run(self):
        try:
            for names, jobs in self.stages:
                pending = list(names)
                workers = [threading.Thread(target=self._work, args=(pending,), daemon=True) for _ in range(jobs)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
        except (KeyboardInterrupt, SystemExit):
            with self.mutex:
                for process in self.running:
                    process.terminate()
            for process in list(self.running):
                process.wait()
            raise
        if self.failed:
            sys.exit(f"lab: failed: {' '.join(self.failed)}")

    def _work(self, pending):
        while True:
            with self.mutex:
                if not pending:
                    return
                name = pending.pop(0)
                # Its own session: an interrupt reaches it through us, once.
                process = subprocess.Popen([sys.executable, str(LAB / "lab.py"), name], stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True, start_new_session=True)
                self.running.add(process)
            said = process.communicate()[0]
            with self.mutex:
                self.running.discard(process)
                if process.returncode != 0:
                    self.failed.append(name)
                    print("\n".join(f"  {line}" for line in said.splitlines()[-12:]))
                print(f"lab: {name}: {'recorded' if process.returncode == 0 else 'FAILED'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", choices=[*plan.names(), "all", "list"], metavar="RUN",
                        help="a file in runs/, without .json; all: each that has no recording yet; list: what there is")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="directory of the recording (default: as the run file says)")
    parser.add_argument("-k", "--keep", action="store_true", help="keep the working directory with journals and databases")
    parser.add_argument("--again", action="store_true", help="all: also those that have one")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="all: how many at a time (default 2)")
    arguments = parser.parse_args()
    if arguments.run == "list":
        for name in plan.names():
            print(f"{name:28}{'' if is_recorded(name) else '(not recorded) '}{plan.load(name)['about']}")
    elif arguments.run == "all":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("lab: ended"))
        Driver(arguments.again, arguments.jobs).run()
    else:
        with alone(arguments.run):
            record(arguments.run, arguments.output, arguments.keep)


if __name__ == "__main__":
    main()
