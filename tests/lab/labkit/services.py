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

from . import build, jvm

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
# The limits of the consumer group protocol are the broker's; their defaults are longer than a run.
GROUP_PROTOCOL_PROPERTIES = """\
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms={session_timeout_ms}
group.consumer.min.heartbeat.interval.ms=500
group.consumer.heartbeat.interval.ms={heartbeat_interval_ms}
"""
ZOOKEEPER_BROKER_PROPERTIES = """\
broker.id=1
zookeeper.connect=127.0.0.1:2181
listeners=PLAINTEXT://:9092
advertised.listeners=PLAINTEXT://{host}:9092
log.dirs=/var/lib/kafka/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
# What brokers of 3.x and 4.x, of 1.x and 2.x, and of 0.x say when they are up.
STARTED = ("Kafka Server started", "[KafkaServer id=1] started", "[Kafka Server 1], started")
ZOOKEEPER_PROPERTIES = """\
dataDir=/var/lib/zookeeper
clientPort=2181
clientPortAddress=localhost
maxClientCnxns=0
admin.enableServer=false
"""


def java(heap, *arguments, binary=None):
    # Two cores are shared by eight JVMs; a collector with few threads of its own suits that.
    return [binary or jvm.own(), f"-Xmx{heap}m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", *arguments]


def settings(values):
    return [f"{key}={value}" for key, value in values.items()]


class Cluster:
    """The broker and the tools that speak to it."""

    def __init__(self, run, network, jars, tools):
        self.run = run
        self.version = run["kafka"]
        self.major = int(self.version.split(".")[0])
        self.broker = network.hosts[run["broker"]]
        self.admin = network.hosts[run["admin"]]
        self.bootstrap = f"{run['broker']}:9092"
        self.commands = 0
        self.broker.bind(jars, f"{KAFKA}/libs")
        self.java = None
        if "broker_java" in run:
            self.broker.bind(jvm.older(run["broker_java"]), "/opt/java")
            self.java = "/opt/java/bin/java"
        self.admin.bind(tools, f"{KAFKA}/libs")
        self.admin.make_directory(CONTROL)
        for directory in ("/var/lib/kafka", "/var/lib/zookeeper", "/var/log/kafka", "/var/log/zookeeper"):
            self.broker.make_directory(directory)

    def _tool(self, name, *arguments):
        return java(256, "-cp", f"{KAFKA}/libs/*", name, *arguments)

    def _server(self, heap, logs, *arguments):
        logging = ("-Dlog4j2.configurationFile=classpath:broker-log4j2.xml" if self.major >= 4
                   else "-Dlog4j.configuration=broker-log4j.properties")
        return self.broker.start(
            *java(heap, f"-Dkafka.logs.dir={logs}", logging, "-cp", f"{KAFKA}/libs/*", *arguments,
                  binary=self.java),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        """Starts the broker: with KRaft from 3.x on, before with ZooKeeper beside it."""
        self.config = f"{KAFKA}/config/server.properties"
        if self.major < 3:
            self._start_zookeeper()
            properties = ZOOKEEPER_BROKER_PROPERTIES
        else:
            properties = BROKER_PROPERTIES
        properties = properties.format(host=self.broker.name)
        if self.run["group"]["protocol"] == "consumer":
            properties += GROUP_PROTOCOL_PROPERTIES.format(**self.run["group"])
        properties += "".join(f"{key}={value}\n" for key, value in self.run.get("broker_settings", {}).items())
        self.broker.write(self.config, properties)
        if self.major >= 3:
            self._format()
        self._start_broker()

    def _format(self):
        """An empty data directory is the same in every run: each version's is made once."""
        made = build.cache_directory() / f"formatted_{self.version}"
        data = self.broker.path("/var/lib/kafka/data")
        if not made.exists():
            cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            self.broker.run(*self._tool("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", self.config),
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            shutil.copytree(data, made.with_name(made.name + "-new"))
            made.with_name(made.name + "-new").rename(made)
        else:
            shutil.copytree(made, data)

    def _start_zookeeper(self):
        config = f"{KAFKA}/config/zookeeper.properties"
        self.broker.write(config, ZOOKEEPER_PROPERTIES)
        # ZooKeeper 3.4 shows log4j 1 by JMX, which reload4j has not.
        self._server(128, "/var/log/zookeeper", "-Dzookeeper.jmx.log4j.disable=true", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
        time.sleep(3)

    def _start_broker(self):
        started = self._times_started()
        self.process = self._server(640, "/var/log/kafka", "kafka.Kafka", self.config)
        deadline = time.monotonic() + 90
        while self._times_started() == started:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the broker did not start")
            time.sleep(0.2)

    def _times_started(self):
        log = self.broker.path("/var/log/kafka/server.log")
        text = log.read_text() if log.exists() else ""
        return sum(text.count(words) for words in STARTED)

    def pause(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def restart(self, seconds):
        self.process.terminate()
        self.process.wait(60)
        time.sleep(seconds)
        self._start_broker()

    def watch(self, output):
        self.watcher = self.admin.start(
            *self._tool("aftershock.lab.GroupWatch", self.bootstrap, self.run["group"]["name"], "40"),
            stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL, text=True)

    def tell(self, *command, limit=60):
        """Has the administrator do something; returns what it wrote."""
        self.commands += 1
        answer = f"{CONTROL}/answer-{self.commands}"
        self.watcher.stdin.write(" ".join(map(str, (*command, answer))) + "\n")
        self.watcher.stdin.flush()
        deadline = time.monotonic() + limit
        while not self.admin.path(answer).exists():
            if self.watcher.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no answer to {command[0]}")
            time.sleep(0.1)
        text = self.admin.path(answer).read_text()
        if text.startswith("failed: "):
            raise RuntimeError(f"{command[0]}: {text.strip()}")
        return text

    def create_topics(self):
        topic = self.run["topic"]
        for name in (topic["name"], *self.run.get("more_topics", [])):
            self.tell("topic", name, topic["partitions"])

    def describe(self, seconds, output):
        return self.admin.start(*self._tool("aftershock.lab.DescribeLoop", str(seconds), "--bootstrap-server", self.bootstrap,
                                            "--describe", "--group", self.run["group"]["name"]),
                                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def history(self):
        """What __consumer_offsets holds of the group."""
        return [json.loads(line) for line in self.tell("history").splitlines()]


class Consumer:
    """The refund service on one host."""

    def __init__(self, run, host, jars, books):
        self.run = run
        self.host = host
        self.process = None
        self.limit = None
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
            "max.poll.interval.ms": group["max_poll_interval_ms"],
        }
        if group["protocol"] == "consumer":
            values["group.protocol"] = "consumer"
        else:
            # Session and heartbeat are the client's to say; under the consumer protocol the broker's.
            values |= {"session.timeout.ms": group["session_timeout_ms"], "heartbeat.interval.ms": group["heartbeat_interval_ms"]}
        if group.get("static"):
            values["group.instance.id"] = self.host.name
        values |= self.run["consumer_settings"]
        values |= {f"refunds.{key}": value for key, value in self.run["service"].items()}
        # The layout prints ${PID}; the shell's own pid is the JVM's after the exec.
        options = self.run.get("java_options", {}).get(self.host.name, [])
        command = java(192, *options, "-cp", f"{REFUNDS}/lib/*", "com.example.refunds.RefundConsumer", BOOKS, CONTROL,
                       self.run["topic"]["name"], self.host.name, *settings(values))
        self.process = self.host.start("sh", "-c", 'exec "$0" "-DPID=$$" "$@"', *command, stdin=subprocess.DEVNULL)
        if self.limit:
            self.limit.take(self.process.pid)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self):
        """Asks it to close, as a deployment does, and waits until it has."""
        self.process.terminate()
        self.process.wait(40)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def control(self, name, text):
        """Leaves a word for the service; it takes the file away when it has read it."""
        partial = self.host.path(f"{CONTROL}/{name}.partial")
        partial.write_text(text)
        partial.rename(self.host.path(f"{CONTROL}/{name}"))

    def has_control(self, name):
        return self.host.path(f"{CONTROL}/{name}").exists()

    def stall_next(self, millis):
        """Makes the handler of its next record sleep."""
        self.control("slow-next", str(millis))

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
