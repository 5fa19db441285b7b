# SPDX-License-Identifier: MIT
"""What runs on the hosts: one broker, the refund consumers, the producer, the administrator's tools."""

import base64
import json
import os
import shutil
import signal
import subprocess
import time
import uuid

KAFKA = "/opt/kafka"
REFUNDS = "/opt/refunds"
CONTROL = "/srv/lab"
BOOKS = "/srv/refunds"

BROKER_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://{host}:9092
controller.listener.names=CONTROLLER
log.dirs=/var/lib/kafka/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def java_binary():
    return os.path.realpath(shutil.which("java"))


def java(heap, *arguments):
    # Two cores are shared by eight JVMs; a collector with few threads of its own suits that.
    return [java_binary(), f"-Xmx{heap}m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", *arguments]


def settings(values):
    return [f"{key}={value}" for key, value in values.items()]


class Cluster:
    """The broker and the tools that speak to it."""

    def __init__(self, run, network, jars):
        self.run = run
        self.broker = network.hosts[run["broker"]]
        self.admin = network.hosts[run["admin"]]
        self.bootstrap = f"{run['broker']}:9092"
        for host in (self.broker, self.admin):
            host.bind(jars, f"{KAFKA}/libs")

    def _tool(self, name, *arguments):
        return java(256, "-cp", f"{KAFKA}/libs/*", name, *arguments)

    def start(self):
        config = f"{KAFKA}/config/server.properties"
        self.broker.make_directory("/var/lib/kafka")
        self.broker.make_directory("/var/log/kafka")
        self.broker.write(config, BROKER_PROPERTIES.format(host=self.broker.name))
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.broker.run(*self._tool("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", config),
                        stdout=subprocess.DEVNULL)
        self.process = self.broker.start(
            *java(768, "-Dkafka.logs.dir=/var/log/kafka", "-Dlog4j2.configurationFile=classpath:broker-log4j2.xml",
                  "-cp", f"{KAFKA}/libs/*", "kafka.Kafka", config),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._wait_started()
        topic = self.run["topic"]
        self.admin.run(*self._tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.bootstrap, "--create",
                                   "--topic", topic["name"], "--partitions", topic["partitions"]), stdout=subprocess.DEVNULL)

    def _wait_started(self, limit=60):
        log = self.broker.path("/var/log/kafka/server.log")
        deadline = time.monotonic() + limit
        while not (log.exists() and "Kafka Server started" in log.read_text()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the broker did not start")
            time.sleep(0.2)

    def watch(self, output):
        return self.admin.start(*self._tool("aftershock.lab.GroupWatch", self.bootstrap, self.run["group"]["name"], "25"),
                                stdin=subprocess.DEVNULL, stdout=output)

    def describe(self, seconds, output):
        return self.admin.start(*self._tool("aftershock.lab.DescribeLoop", str(seconds), "--bootstrap-server", self.bootstrap,
                                            "--describe", "--group", self.run["group"]["name"]),
                                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def history(self):
        """What __consumer_offsets holds of the group."""
        printed = self.admin.run(*self._tool("aftershock.lab.GroupHistory", self.bootstrap, self.run["group"]["name"]),
                                 stdout=subprocess.PIPE, text=True).stdout
        return [json.loads(line) for line in printed.splitlines()]


class Consumer:
    """The refund service on one host."""

    def __init__(self, run, host, jars, books):
        self.run = run
        self.host = host
        self.process = None
        host.bind(jars, f"{REFUNDS}/lib")
        host.bind(books, BOOKS)
        host.make_directory(CONTROL)
        host.make_directory("/var/log/refunds")

    def start(self):
        group = self.run["group"]
        values = {
            "bootstrap.servers": f"{self.run['broker']}:9092",
            "client.id": self.host.name,
            "group.id": group["name"],
            "group.protocol": group["protocol"],
            "max.poll.interval.ms": group["max_poll_interval_ms"],
            "session.timeout.ms": group["session_timeout_ms"],
            "heartbeat.interval.ms": group["heartbeat_interval_ms"],
            **self.run["consumer_settings"],
        }
        # The layout prints ${PID}; the shell's own pid is the JVM's after the exec.
        command = java(256, "-cp", f"{REFUNDS}/lib/*", "com.example.refunds.RefundConsumer", BOOKS, CONTROL,
                       self.run["topic"]["name"], self.host.name, *settings(values))
        self.process = self.host.start("sh", "-c", 'exec "$0" "-DPID=$$" "$@"', *command, stdin=subprocess.DEVNULL)

    def stop(self):
        """Asks it to close, as a deployment does, and waits until it has."""
        self.process.terminate()
        self.process.wait(30)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def stall_next(self, millis):
        """Makes the handler of its next record sleep."""
        partial = self.host.path(f"{CONTROL}/slow-next.partial")
        partial.write_text(str(millis))
        partial.rename(self.host.path(f"{CONTROL}/slow-next"))

    def journal(self):
        return read_journal(self.host.path(f"{CONTROL}/journal.jsonl"))


class Producer:
    def __init__(self, run, host, jars):
        self.run = run
        self.host = host
        self.process = None
        host.bind(jars, f"{REFUNDS}/lib")
        host.make_directory(CONTROL)
        host.make_directory("/var/log/refunds")

    def start(self):
        load = self.run["load"]
        values = {"bootstrap.servers": f"{self.run['broker']}:9092", "client.id": self.host.name}
        self.process = self.host.start(
            *java(256, "-cp", f"{REFUNDS}/lib/*", "com.example.refunds.RefundProducer", CONTROL, self.run["topic"]["name"],
                  load["per_second"], load["first_number"], load["seed"], *settings(values)),
            stdin=subprocess.PIPE, text=True)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.tell("stop")
        self.process.wait(30)

    def journal(self):
        return read_journal(self.host.path(f"{CONTROL}/journal.jsonl"))


def read_journal(path):
    """Reads a file of JSON lines that may still be written to: a last line without its end is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
