# SPDX-License-Identifier: MIT
"""Consumers in other clients than Kafka's own Java client: how each is built, started, stopped and stalled.

A run names them by host: "clients": {"consumer-1": "franz-go"}; a host without one runs the Java service. Each client is a
program under clients/ that executes the same refunds and keeps the same private journal. Their side effects go through
Books, a Unix socket beside the tables, so that no program needs a database driver of its own.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import socketserver
import sqlite3
import subprocess
import tempfile
import threading
import uuid
from dataclasses import dataclass

from . import build, clock, services

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "clients"
PYTHON = "/usr/bin/python3"
HOME = "/opt/refunds/client"
LOG = "/var/log/refunds/app.log"
BOOKS_SOCKET = "refunds.sock"
LEDGER_TIMEOUT, OTHER_TIMEOUT = 1.2, 10.0

# --- what each client is -------------------------------------------------------------------------------------------


def build_python(source, target, variant):
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "--no-compile", "--root-user-action=ignore", "--target",
                    target / "lib", "-r", source / f"requirements{variant}.txt"], check=True)
    shutil.copy(source / "main.py", target)
    shutil.copy(SOURCE / "shared/python/refunds.py", target / "lib")


def build_go(source, target, _):
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-o", target / "refunds", "."], cwd=source, check=True,
                   env={**os.environ, "CGO_ENABLED": "0"})


def build_node(source, target, _):
    for file in ("package.json", "main.js"):
        shutil.copy(source / file, target)
    subprocess.run(["npm", "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund"], cwd=target, check=True)


def build_maven(source, target, _):
    subprocess.run(["mvn", "-q", "-B", "-f", source / "pom.xml", f"-Dlab.build={target}/build", "package"], check=True)
    shutil.copy(target / "build/refunds.jar", target)
    shutil.rmtree(target / "build")


def build_script(source, target, _):
    shutil.copy(source / "main.py", target)
    (target / "lib").mkdir()
    shutil.copy(SOURCE / "shared/python/refunds.py", target / "lib")


def python(*arguments):
    return ["env", f"PYTHONPATH={HOME}/lib", "PYTHONDONTWRITEBYTECODE=1", PYTHON, f"{HOME}/main.py", *arguments]


@dataclass(frozen=True)
class Client:
    folder: str
    needs: dict
    """Tools and the Debian packages that have them."""
    build: object
    command: list
    overrun: str | None
    """The trigger of the eviction when its handler takes longer than max_poll_interval_ms, if there is one."""
    variant: str = ""
    """Names other dependencies for the same program."""


PIP = {PYTHON: "python3-pip"}
CLIENTS = {
    "confluent-kafka": Client("confluent-kafka", PIP, build_python, python(), "poll_timeout"),
    "confluent-kafka-logger": Client("confluent-kafka", PIP, build_python, python("logger"), "poll_timeout"),
    "kafka-python": Client("kafka-python", PIP, build_python, python(), "poll_timeout"),
    "kafka-python-3": Client("kafka-python", PIP, build_python, python(), "poll_timeout", "-3"),
    "aiokafka": Client("aiokafka", PIP, build_python, python(), "poll_timeout"),
    # These three heartbeat from a goroutine of their own, however long the handler takes. Go 1.25, newer than Debian's.
    "franz-go": Client("franz-go", {"go": "golang-go"}, build_go, [f"{HOME}/refunds"], None),
    "sarama": Client("sarama", {"go": "golang-go"}, build_go, [f"{HOME}/refunds"], None),
    "kafka-go": Client("kafka-go", {"go": "golang-go"}, build_go, [f"{HOME}/refunds"], None),
    # Heartbeats between two records, never beside one: its limit is the session timeout.
    "kafkajs": Client("kafkajs", {"node": "nodejs", "npm": "npm"}, build_node,
                      ["env", "KAFKAJS_NO_PARTITIONER_WARNING=1", "node", f"{HOME}/main.js"], "session_timeout"),
    "spring-kafka": Client("spring-kafka", {"mvn": "maven"}, build_maven, None, "poll_timeout"),
    # Its handler is behind a pipe: kcat polls on as long as the pipe has room.
    "kcat": Client("kcat", {"kcat": "kcat"}, build_script, python(), None),
}


def used(run):
    return {host: CLIENTS[name] for host, name in run.get("clients", {}).items()}


def missing(run):
    needs = {tool: package for client in used(run).values() for tool, package in client.needs.items()}
    return [f"{tool} (package {package})" for tool, package in needs.items() if not shutil.which(tool)]


def overrun_triggers(run):
    """Host to the trigger that an overrun of its handler has; only of hosts that do not run the Java client."""
    return {host: client.overrun for host, client in used(run).items()}


# --- building ------------------------------------------------------------------------------------------------------


def fingerprint(*folders):
    digest = hashlib.sha256()
    for file in sorted(f for folder in folders for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts):
        digest.update(str(file.relative_to(SOURCE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def built(client):
    """The directory of a built client: made once for each state of its sources, whoever else builds at the same time."""
    source = SOURCE / client.folder
    cache = build.cache_directory() / "clients"
    cache.mkdir(parents=True, exist_ok=True)
    target = cache / f"{client.folder}{client.variant}-{fingerprint(source, SOURCE / 'shared')}"
    with open(cache / f"{client.folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            work = pathlib.Path(tempfile.mkdtemp(dir=cache))
            work.chmod(0o755)
            client.build(source, work, client.variant)
            work.rename(target)
    return target


# --- running -------------------------------------------------------------------------------------------------------


class Consumer(services.Consumer):
    """A refund consumer in another client. Its process leads a group, which is paused and resumed as a whole."""

    def __init__(self, run, host, books):
        self.run = run
        self.host = host
        self.process = None
        self.limit = None
        self.client = used(run)[host.name]
        host.bind(built(self.client), HOME)
        host.bind(books, services.BOOKS)
        host.make_directory(services.CONTROL)
        host.make_directory("/var/log/refunds")

    def start(self):
        group = self.run["group"]
        values = {
            "BOOTSTRAP": f"{self.run['broker']}:9092",
            "GROUP": group["name"],
            "CLIENT_ID": self.host.name,
            "TOPIC": self.run["topic"]["name"],
            "SESSION_TIMEOUT_MS": group["session_timeout_ms"],
            "HEARTBEAT_INTERVAL_MS": group["heartbeat_interval_ms"],
            "MAX_POLL_INTERVAL_MS": group["max_poll_interval_ms"],
            "JOURNAL": f"{services.CONTROL}/journal.jsonl",
            "SLOW_NEXT": f"{services.CONTROL}/slow-next",
            "BOOKS": f"{services.BOOKS}/{BOOKS_SOCKET}",
        }
        command = self.client.command or services.java(256, "-jar", f"{HOME}/refunds.jar")
        self.process = self.host.start("env", *(f"{key}={value}" for key, value in values.items()),
                                       "sh", "-c", f'exec "$@" >>{LOG} 2>&1', "sh", *command, stdin=subprocess.DEVNULL)
        if self.limit:
            self.limit.take(self.process.pid)

    def signal(self, number):
        os.killpg(self.process.pid, number)


def consumer(run, host, jars, books):
    """The consumer of a host, in the client that the run says."""
    return Consumer(run, host, books) if host.name in used(run) else services.Consumer(run, host, jars, books)


# --- the side effects ----------------------------------------------------------------------------------------------

SCHEMA = {
    "reversal": ("channel", "CREATE TABLE IF NOT EXISTS reversal (request_id TEXT PRIMARY KEY, time TEXT NOT NULL,"
                            " business_key TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL)"),
    "ledger": ("ledger", "CREATE TABLE IF NOT EXISTS entry (order_no TEXT NOT NULL, biz_type TEXT NOT NULL, time TEXT NOT NULL,"
                         " request_id TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, UNIQUE (order_no, biz_type))"),
    "notice": ("notice", "CREATE TABLE IF NOT EXISTS notice (request_id TEXT PRIMARY KEY, time TEXT NOT NULL,"
                         " business_key TEXT NOT NULL)"),
    "dedupe": ("dedupe", "CREATE TABLE IF NOT EXISTS processed (topic TEXT, partition INTEGER, offset INTEGER, instance TEXT,"
                         " step TEXT, PRIMARY KEY (topic, partition, offset, instance, step))"),
}
INSERT = {
    "reversal": "INSERT INTO reversal (request_id, time, business_key, amount, currency)"
                " VALUES (:request_id, :time, :order_no, :amount, :currency)",
    "ledger": "INSERT INTO entry (order_no, biz_type, time, request_id, amount, currency)"
              " VALUES (:order_no, 'refund', :time, :request_id, :amount, :currency)",
    "notice": "INSERT INTO notice (request_id, time, business_key) VALUES (:request_id, :time, :order_no)",
}
COORDINATES = "topic = :topic AND partition = :partition AND offset = :offset AND instance = :instance AND step = :step"


class Books:
    """The tables behind a Unix socket: a step asked for, one JSON line, is executed and answered with its outcome.

    The same flawed dedupe as the Java service's: by message coordinates and consumer instance.
    """

    def __init__(self, directory):
        self.directory = directory
        books = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                with contextlib.suppress(ConnectionError):
                    books.serve(self.rfile, self.wfile)

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

        self.server = Server(str(directory / BOOKS_SOCKET), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        (self.directory / BOOKS_SOCKET).unlink()

    def serve(self, requests, answers):
        tables = {step: self.open(step) for step in SCHEMA}
        for line in requests:
            answers.write(json.dumps(self.execute(tables, json.loads(line))).encode() + b"\n")

    def open(self, step):
        name, schema = SCHEMA[step]
        database = sqlite3.connect(self.directory / f"{name}.db", timeout=OTHER_TIMEOUT, isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", schema):
            database.execute(statement)
        if step == "ledger":
            database.execute(f"PRAGMA busy_timeout = {int(LEDGER_TIMEOUT * 1000)}")
        return database

    @staticmethod
    def execute(tables, asked):
        step = asked["step"]
        if tables["dedupe"].execute(f"SELECT 1 FROM processed WHERE {COORDINATES}", asked).fetchone():
            return {"request_id": "", "status": "skipped"}
        request_id = str(uuid.uuid4())
        try:
            tables[step].execute(INSERT[step], {**asked, "request_id": request_id, "time": clock.now()})
            status = "success"
        except sqlite3.IntegrityError:
            status = "duplicate"
        except sqlite3.OperationalError:
            return {"request_id": request_id, "status": "failed"}
        tables["dedupe"].execute("INSERT OR IGNORE INTO processed VALUES (:topic, :partition, :offset, :instance, :step)", asked)
        return {"request_id": request_id, "status": status}


# --- the truth -----------------------------------------------------------------------------------------------------


def by_host(history, addresses):
    """The coordinator's records with each member named by its host: Spring adds a number to the client id that it is given."""
    names = {f"/{address}": host for host, address in addresses.items()}
    for record in history:
        for member in (*record.get("members", ()), record):
            if member.get("client_host") in names:
                member["client_id"] = names[member["client_host"]]
    return history


def with_generations(journal, history):
    """Fills in the generation where a client has no way to tell it, from what the coordinator stored.

    An assignment belongs to the latest generation stored before it that has the host as a member; a record to the
    assignment before it. A client that cannot even tell its assignments gets one for each generation of its host.
    """
    if all("generation" in e for e in journal if e["what"] in ("assigned", "received")):
        return journal
    hosts = {e["consumer"] for e in journal}
    stored = {host: [] for host in hosts}
    seen = set()
    for record in history:
        if record["what"] != "generation" or not record["generation"] or record["generation"] in seen:
            continue
        seen.add(record["generation"])
        for host in hosts & {m["client_id"] for m in record["members"]}:
            stored[host].append((clock.parse(record["time"]), record["generation"]))

    def latest(entry):
        moment = clock.parse(entry["time"])
        return max((g for time, g in stored[entry["consumer"]] if time <= moment), default=-1)

    silent = hosts - {e["consumer"] for e in journal if e["what"] == "assigned"}
    made = [{"time": clock.text(time), "what": "assigned", "consumer": host, "generation": generation}
            for host in silent for time, generation in stored[host]]
    filled = []
    current = {}
    for entry in sorted(journal + made, key=lambda e: clock.parse(e["time"])):
        host = entry.get("consumer")
        if entry["what"] == "assigned":
            current[host] = entry.get("generation", latest(entry))
        if entry["what"] in ("assigned", "revoked", "lost", "received", "done"):
            entry = {**entry, "generation": entry.get("generation", current.get(host, -1))}
        filled.append(entry)
    return filled
