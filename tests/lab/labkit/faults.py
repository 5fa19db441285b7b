# SPDX-License-Identifier: MIT
"""The injector: executes the steps of a run file one after another and notes when each truly began and ended.

A step is {"do": NAME, ..., "then_wait": SECONDS}: the method do_NAME below. After it the injector waits until the group has
been whole for 3 s, then then_wait seconds more. Of a fault, "evicts" says what it was meant to do (true, false; left
out: what came of it is noted), "seconds" how long it lasts, "host" where.
"""

import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading
import time

from . import clock
from .hosts import in_namespace, ip

RIVAL = pathlib.Path(__file__).with_name("rival.py")
BROKER_PORT = "9092"


def write(path, text):
    pathlib.Path(path).write_text(f"{text}\n")


class Injector:
    def __init__(self, run, network, cluster, consumers, producer, books, group):
        self.run = run
        self.network = network
        self.cluster = cluster
        self.consumers = consumers
        self.producer = producer
        self.books = books
        self.group = group
        self.faults = []
        self.locks = []
        self.mutex = threading.Lock()

    def execute(self, step):
        self._do(step)
        if not step.get("leaves_group_short"):
            self.group.wait_whole()
        time.sleep(step.get("then_wait", 5))

    def _do(self, step):
        getattr(self, "do_" + step["do"])(step)

    def _begin(self, step, kind, host, network, **more):
        with self.mutex:
            fault = {"id": f"F{len(self.faults) + 1}", "kind": kind, "network": network, "host": host}
            if network:
                fault["path"] = {"a": host, "b": self.run["broker"]}
            fault.update(more)
            fault["evicts"] = step.get("evicts")
            fault["start"] = clock.now()
            self.faults.append(fault)
            return fault

    @staticmethod
    def _end(fault):
        fault["end"] = clock.now()

    # --- several at once -------------------------------------------------------------------------------------------

    def do_together(self, step):
        """Each of "steps" begins "at" seconds after the first; all have ended before this one has."""
        failures = []

        def one(inner, done):
            try:
                time.sleep(inner.get("at", 0))
                self._do(inner)
            except Exception as e:  # noqa: BLE001  (raised again below, in the thread that waits)
                failures.append(e)
            done.set()
            # What this thread started gets SIGKILL when it ends (PR_SET_PDEATHSIG): it stays as long as the lab.
            threading.Event().wait()

        waiting = []
        for inner in step["steps"]:
            waiting.append(threading.Event())
            threading.Thread(target=one, args=(inner, waiting[-1]), daemon=True).start()
        for done in waiting:
            done.wait()
        if failures:
            raise failures[0]

    def do_wait(self, step):
        time.sleep(step.get("seconds", 0))

    def do_whole(self, step):
        """Inside "together": waits until the group is whole."""
        del step
        self.group.wait_whole()

    def do_series(self, step):
        """Inside "together": steps one after another, each followed by its then_wait."""
        for inner in step["steps"]:
            self._do(inner)
            time.sleep(inner.get("then_wait", 0))

    # --- the network -----------------------------------------------------------------------------------------------

    def _with_rules(self, rules, seconds):
        handles = [self.network.add_rule(rule) for rule in rules]
        try:
            time.sleep(seconds)
        finally:
            for handle in handles:
                self.network.remove_rule(handle)

    def _path_rules(self, step, action):
        up, down = self.network.between(step["host"], self.run["broker"])
        chosen = {"both": (up, down), "to_host": (down,), "from_host": (up,)}[step.get("direction", "both")]
        return [f"{match} {action}" for match in chosen]

    def do_blackout(self, step):
        """Nothing passes between a host and the broker; with "direction" only one way is cut."""
        lock = step.get("ledger_lock")
        holder = self._lock_ledger(lock["before"]) if lock else None
        more = {"direction": step["direction"]} if "direction" in step else {}
        fault = self._begin(step, "blackout", step["host"], True, **more)
        if holder:
            timer = threading.Timer(lock["after"], self._unlock_ledger, (*holder, fault))
            timer.start()
        self._with_rules(self._path_rules(step, "drop"), step["seconds"])
        self._end(fault)
        if holder:
            timer.join()

    def do_loss(self, step):
        """"percent" of the packets between a host and the broker are dropped."""
        fault = self._begin(step, "loss", step["host"], True, percent=step["percent"])
        self._with_rules(self._path_rules(step, f"numgen random mod 100 < {step['percent']} drop"), step["seconds"])
        self._end(fault)

    def do_coordinator_cut(self, step):
        """All connections but the fetching one are cut: fetching goes on, and with it the side effects (a zombie)."""
        host = self.network.hosts[step["host"]]
        port = self._fetching_port(host)
        fault = self._begin(step, "blackout", step["host"], True, but_for=f"{step['host']}:{port}")
        up, down = self.network.between(step["host"], self.run["broker"])
        self._with_rules([f"{up} tcp sport != {port} drop", f"{down} tcp dport != {port} drop"], step["seconds"])
        self._end(fault)

    def _fetching_port(self, host):
        """Of the connections to the broker the coordinator's sends now and then, the one that fetches all the time."""
        def sent():
            printed = in_namespace(host.namespace, "ss", "-Htni", "dport", "=", BROKER_PORT, capture_output=True, text=True).stdout
            found = {}
            for socket, info in zip(*[iter(printed.splitlines())] * 2):
                match = re.search(r"bytes_sent:(\d+)", info)
                found[socket.split()[3].rsplit(":", 1)[1]] = int(match[1]) if match else 0
            return found

        before = sent()
        time.sleep(5)
        grown = {port: count - before.get(port, 0) for port, count in sent().items()}
        busy = sorted((count, port) for port, count in grown.items() if count > 0)
        if len(busy) < 2:
            raise RuntimeError(f"{host.name}: no connection of the coordinator's own: {grown}")
        return busy[-1][1]

    def do_reset(self, step):
        """Every segment of the host to the broker is answered with a RST by the router."""
        up, _ = self.network.between(step["host"], self.run["broker"])
        fault = self._begin(step, "reset", step["host"], True)
        self._with_rules([f"{up} tcp dport {BROKER_PORT} reject with tcp reset"], step["seconds"])
        self._end(fault)

    def do_link(self, step):
        """The router's end of the host's link goes down: the host loses its carrier."""
        fault = self._begin(step, "link", step["host"], True)
        ip("-n", self.network.router, "link", "set", step["host"], "down")
        time.sleep(step["seconds"])
        ip("-n", self.network.router, "link", "set", step["host"], "up")
        self._end(fault)

    def do_delay(self, step):
        """The relay holds frames: "schedule" is the relay's own. The host must be one of the run's "relayed"."""
        relay = self.network.relays[step["host"]]
        fault = self._begin(step, "delay", step["host"], True, schedule=step["schedule"])
        relay.tell(**step["schedule"])
        time.sleep(step["seconds"])
        relay.rest()
        self._end(fault)

    def _rival(self, namespace, *arguments, cpu=None):
        pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
        return self.network.start_aside(namespace, *pinned, sys.executable, RIVAL, *arguments, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _listener(self, name):
        host = self.network.hosts[name]
        listener = self._rival(host.namespace, "listen", host.address)
        listener.stdout.readline()
        return listener

    @staticmethod
    def _stop(*processes):
        for process in processes:
            process.terminate()
            process.wait()

    def do_congestion(self, step):
        """The host's link is shaped to "kbit" both ways, with "queue_ms" of queue, and a rival offers "rival_kbit"."""
        host, other = self.network.hosts[step["host"]], self.network.hosts[self.run["producer"]]
        ends = ((self.network.router, host.name), (host.namespace, "eth0"))
        size = step.get("rival_bytes", 200)
        rate = str(int(step["rival_kbit"] * 1000 / 8 / (size + 42)))
        listeners = [self._listener(host.name), self._listener(other.name)]
        fault = self._begin(step, "congestion", step["host"], True, kbit=step["kbit"], rival_kbit=step["rival_kbit"])
        for namespace, device in ends:
            ip_tc(namespace, "add", device, "tbf", "rate", f"{step['kbit']}kbit", "burst", "3kb", "latency", f"{step['queue_ms']}ms")
        rivals = [self._rival(other.namespace, "flood", host.address, size, rate),
                  self._rival(host.namespace, "flood", other.address, size, rate)]
        time.sleep(step["seconds"])
        self._stop(*rivals)
        for namespace, device in ends:
            ip_tc(namespace, "del", device)
        self._end(fault)
        self._stop(*listeners)

    def _sysctl(self, values):
        """Sets settings of the whole machine, and puts them back when told, or at the latest when the network closes."""
        return self.network.set_machine(values)

    def do_softnet(self, step):
        """The kernel takes few packets at a time while a flood between two other hosts comes in.

        With "backlog" the queue of one processor is that short, and what the host sends and gets must pass it. The
        settings are the machine's: such a run is "exclusive".
        """
        producer, admin = self.network.hosts[self.run["producer"]], self.network.hosts[self.run["admin"]]
        values = {"net/core/netdev_budget": step["budget"]}
        squeezed = "backlog" not in step
        listener = self._listener(admin.name)
        if not squeezed:
            values["net/core/netdev_max_backlog"] = step["backlog"]
            for namespace, device in ((self.network.router, step["host"]), (self.network.hosts[step["host"]].namespace, "eth0"),
                                      (self.network.router, producer.name)):
                in_namespace(namespace, "sh", "-c", f"echo 2 >/sys/class/net/{device}/queues/rx-0/rps_cpus")
        # Another processor may serve any host's packets for a moment: with drops all of them are struck.
        struck = [step["host"]] if squeezed else [step["host"], *(c for c in self.consumers if c != step["host"])]
        begun = [self._begin(step, "softnet", host, not squeezed, sub="squeeze" if squeezed else "drop") for host in struck]
        restore = self._sysctl(values)
        rivals = [self._rival(producer.namespace, "flood", admin.address, 100, step.get("per_second", 0), cpu=0)
                  for _ in range(step.get("floods", 1))]
        time.sleep(step["seconds"])
        self._stop(*rivals)
        restore()
        for fault in begun:
            self._end(fault)
        self._stop(listener)

    def do_conntrack_full(self, step):
        """The host's table is full of living connections when the entries of its connections to the broker go.

        The limit is the machine's, the count each namespace's own: "connections" must be more than any other has.
        """
        host, other = self.network.hosts[step["host"]], self.network.hosts[self.run["producer"]]
        listener = self._listener(other.name)
        holder = self._rival(host.namespace, "hold", other.address, step["connections"])
        holder.stdout.readline()
        fault = self._begin(step, "conntrack", step["host"], True, sub="full")
        restore = self._sysctl({"net/netfilter/nf_conntrack_max": step["connections"]})
        self._forget_flows(host)
        time.sleep(step["seconds"])
        restore()
        self._end(fault)
        self._stop(holder, listener)

    def do_conntrack_delete(self, step):
        """The entries of the host's connections to the broker are deleted, in a firewall that does not pick up flows midway."""
        host = self.network.hosts[step["host"]]
        loose = "net.netfilter.nf_conntrack_tcp_loose"
        fault = self._begin(step, "conntrack", step["host"], True, sub="deleted")
        in_namespace(host.namespace, "sysctl", "-q", "-w", f"{loose}=0")
        self._forget_flows(host)
        time.sleep(step["seconds"])
        in_namespace(host.namespace, "sysctl", "-q", "-w", f"{loose}=1")
        self._end(fault)

    @staticmethod
    def _forget_flows(host):
        subprocess.run(["ip", "netns", "exec", host.namespace, "conntrack", "-D", "-p", "tcp", "--dport", BROKER_PORT],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    # --- not the network -------------------------------------------------------------------------------------------

    def do_process_pause(self, step):
        fault = self._begin(step, "process_pause", step["host"], False)
        self.consumers[step["host"]].pause()
        time.sleep(step["seconds"])
        self.consumers[step["host"]].resume()
        self._end(fault)

    def do_gc(self, step):
        """The service fills its heap with "megabytes" that live for "seconds": the journal has each collection that is felt.

        One of them at least lasts for "least_seconds"; the short ones before it and between are pauses as well."""
        consumer = self.consumers[step["host"]]
        begun = clock.now()
        consumer.control("hog", f"{step['megabytes']} {step['seconds']}")
        self._wait_for(consumer, "hog_over", step["seconds"] + 90)
        time.sleep(1)
        found = [e for e in consumer.journal() if e["what"] == "collection" and e["start"] >= begun]
        longest = max(((clock.parse(e["end"]) - clock.parse(e["start"])).total_seconds() for e in found), default=0)
        if longest < step.get("least_seconds", 2):
            raise RuntimeError(f"{step['host']}: no collection was long")
        for entry in found:
            fault = self._begin(step, "process_pause", step["host"], False, sub="gc")
            fault["start"], fault["end"] = clock.normal(entry["start"]), clock.normal(entry["end"])

    def do_throttle(self, step):
        """The service's control group gets "quota_us" of a processor in each second while it has work for all of it."""
        consumer = self.consumers[step["host"]]
        consumer.control("burn", f"{step.get('threads', 2)} {step['seconds'] + 3}")
        time.sleep(1.5)
        fault = self._begin(step, "process_pause", step["host"], False, sub="throttled")
        consumer.limit.set(step["quota_us"])
        time.sleep(step["seconds"])
        consumer.limit.set(None)
        self._end(fault)

    def do_slow_handler(self, step):
        """The stall begins with the next record that the host gets: its journal has the moments."""
        consumer = self.consumers[step["host"]]
        before = len([e for e in consumer.journal() if e["what"] == "stall_over"])
        fault = self._begin(step, "slow_handler", step["host"], False)
        consumer.stall_next(int(step["seconds"] * 1000))
        self._wait_for(consumer, "stall_over", step["seconds"] + 30, before)
        fault["start"] = clock.normal([e for e in consumer.journal() if e["what"] == "stall"][-1]["time"])
        fault["end"] = clock.normal([e for e in consumer.journal() if e["what"] == "stall_over"][-1]["time"])

    @staticmethod
    def _wait_for(consumer, what, limit, before=0):
        deadline = time.monotonic() + limit
        while len([e for e in consumer.journal() if e["what"] == what]) <= before:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{consumer.host.name}: no {what}")
            time.sleep(0.2)

    def do_server_pause(self, step):
        fault = self._begin(step, "server_pause", self.run["broker"], False)
        self.cluster.pause()
        time.sleep(step["seconds"])
        self.cluster.resume()
        self._end(fault)

    def do_broker_restart(self, step):
        fault = self._begin(step, "coordinator", self.run["broker"], False)
        self.cluster.restart(step.get("seconds", 0))
        self._end(fault)

    def do_crash(self, step):
        """kill -9; with "seconds" the service is started again after so long."""
        consumer = self.consumers[step["host"]]
        fault = self._begin(step, "crash", step["host"], False)
        consumer.kill()
        self._end(fault)
        self._again(step, consumer)

    def do_restart(self, step):
        consumer = self.consumers[step["host"]]
        leave = self._begin(step, "leave", step["host"], False)
        consumer.stop()
        self._end(leave)
        self._again(step, consumer)

    def _again(self, step, consumer):
        if "seconds" not in step:
            self.group.members -= 1
            return
        time.sleep(step["seconds"])
        join = self._begin(step, "join", step["host"], False)
        # Whatever the other half was meant to do, a start evicts nobody.
        join["evicts"] = None
        self._start_and_join(consumer)
        if not step.get("returns_at_once"):
            self.group.wait_whole()
        self._end(join)

    @staticmethod
    def _start_and_join(consumer, limit=30):
        """Returns when the consumer has been assigned something; not every client tells, so not later than the limit."""
        def assigned():
            return len([e for e in consumer.journal() if e["what"] == "assigned"])

        before = assigned()
        consumer.start()
        deadline = time.monotonic() + limit
        while assigned() == before and time.monotonic() < deadline:
            time.sleep(0.2)

    def do_start(self, step):
        """Scale out: one of the run's later_consumers, or one that was stopped."""
        join = self._begin(step, "join", step["host"], False)
        self.group.members += 1
        self._start_and_join(self.consumers[step["host"]])
        self.group.wait_whole()
        self._end(join)

    def do_stop(self, step):
        """Scale in."""
        leave = self._begin(step, "leave", step["host"], False)
        self.group.members -= 1
        self.consumers[step["host"]].stop()
        self._end(leave)

    def do_partitions(self, step):
        fault = self._begin(step, "metadata", self.run["broker"], False, sub="partitions")
        self.cluster.tell("partitions", self.run["topic"]["name"], step["to"])
        self._end(fault)
        time.sleep(step.get("seconds", 8))

    def do_subscribe(self, step):
        fault = self._begin(step, "metadata", step["host"], False, sub="subscription")
        self.consumers[step["host"]].control("subscribe", "\n".join(step["topics"]))
        time.sleep(2)
        self._end(fault)

    # --- side effects ----------------------------------------------------------------------------------------------

    def do_resubmit(self, step):
        del step
        self.producer.tell("resubmit")

    def do_unknown_answer(self, step):
        """The channel acts, but its answer to the host's next "calls" reversals is lost."""
        consumer = self.consumers[step["host"]]
        consumer.control("unknown-next", str(step.get("calls", 1)))
        deadline = time.monotonic() + 60
        while consumer.has_control("unknown-next"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{step['host']} made no call")
            time.sleep(0.2)

    def do_ledger_lock(self, step):
        """The ledger refuses writes for "seconds": step 2 of each refund times out after step 1 took effect."""
        database, locked = self._lock_ledger(0)
        time.sleep(step["seconds"])
        self._unlock_ledger(database, locked, None)

    def _lock_ledger(self, seconds):
        # The connection is closed by another thread than the one that opened it.
        database = sqlite3.connect(self.books / "ledger.db", isolation_level=None, timeout=10, check_same_thread=False)
        database.execute("BEGIN EXCLUSIVE")
        locked = {"database": "ledger", "start": clock.now()}
        time.sleep(seconds)
        return database, locked

    def _unlock_ledger(self, database, locked, fault):
        database.execute("ROLLBACK")
        database.close()
        locked.update(end=clock.now(), fault=fault and fault["id"])
        self.locks.append(locked)


def ip_tc(namespace, verb, device, *kind):
    subprocess.run(["tc", "-n", namespace, "qdisc", verb, "dev", device, "root", *kind], check=True)


class CpuLimit:
    """A control group with a limit of processor time: version 2 where the machine has it, else version 1."""

    PERIOD_US = 1_000_000

    def __init__(self, network, name):
        self.two = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        self.path = pathlib.Path("/sys/fs/cgroup" if self.two else "/sys/fs/cgroup/cpu") / f"{network.prefix}-{name}"
        self.path.mkdir()
        network.undo.append(self.path.rmdir)
        if not self.two:
            write(self.path / "cpu.cfs_period_us", self.PERIOD_US)

    @property
    def statistics(self):
        return self.path / "cpu.stat"

    def take(self, pid):
        write(self.path / "cgroup.procs", pid)

    def set(self, quota_us):
        if self.two:
            write(self.path / "cpu.max", f"{quota_us or 'max'} {self.PERIOD_US}")
        else:
            write(self.path / "cpu.cfs_quota_us", quota_us or -1)
