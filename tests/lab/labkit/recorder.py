# SPDX-License-Identifier: MIT
"""Collects the evidence as its users have it: captures, shell loops over kernel counters, logs, exported tables."""

import csv
import gzip
import json
import re
import shutil
import signal
import subprocess
import tarfile

COUNTERS = {
    "softnet.log": "/proc/net/softnet_stat",
    "conntrack.log": "/proc/net/stat/nf_conntrack",
    "snmp.log": "/proc/net/snmp",
    "netstat.log": "/proc/net/netstat",
}
EFFECT_COLUMNS = ("time", "consumer", "business_key", "step", "version", "request_id", "topic", "partition", "offset", "message_id",
                  "status", "amount", "currency")
BOOK_COLUMNS = {
    "channel": ("time", "request_id", "business_key", "amount", "currency"),
    "ledger": ("time", "order_no", "biz_type", "amount", "currency"),
}


class HostRecorder:
    """The capture and the counter loops of one host. Of what is looped over, a text with a space is a command, else a file."""

    def __init__(self, host, directory, record, more=None):
        self.host = host
        self.directory = directory
        self.record = record
        self.counters = {**COUNTERS, **(more or {})}
        self.loops = []
        directory.mkdir(parents=True, exist_ok=True)

    def start(self):
        self.capture = self.host.start(
            "tcpdump", "-n", "-i", "eth0", "-s", self.record["snap_length"], "--immediate-mode", "-U", "-Z", "root",
            "-w", self.directory / "eth0.pcap", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for name, source in self.counters.items():
            command = source if " " in str(source) else f"cat {source}"
            loop = f"while :; do date -u +%FT%T.%3NZ; {command}; sleep {self.record['counter_seconds']}; done"
            with open(self.directory / name, "w") as output:
                self.loops.append(self.host.start("sh", "-c", loop, stdout=output))

    def stop(self):
        for loop in self.loops:
            loop.terminate()
            loop.wait()
        self.capture.send_signal(signal.SIGINT)
        _, said = self.capture.communicate(timeout=20)
        dropped = re.search(r"(\d+) packets? dropped by kernel", said)
        if not dropped or int(dropped[1]) > 0:
            raise RuntimeError(f"{self.host.name}: the capture is not whole: {said.strip()}")


def cut_to_whole_samples(path):
    """A loop that was ended may have written half a sample; the file ends before its last date line."""
    lines = path.read_text().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if re.match(r"\d{4}-\d\d-\d\dT", line))
    path.write_text("".join(lines[:last]))


def compress(path):
    with open(path, "rb") as plain, open(f"{path}.gz", "wb") as packed:
        # No name and no time inside: they would be the machine's.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
            shutil.copyfileobj(plain, stream)
    path.unlink()


def write_csv(path, header, rows):
    with open(path, "w", newline="") as output:
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def tsv_cell(value):
    """As mysql -B prints it."""
    text = "NULL" if value is None or value == "" else str(value)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def export(path, form, columns, rows):
    if form == "csv":
        write_csv(path.with_suffix(".csv"), columns, ([row[c] for c in columns] for row in rows))
    elif form == "tsv":
        lines = ["\t".join(columns), *("\t".join(tsv_cell(row[c]) for c in columns) for row in rows)]
        path.with_suffix(".tsv").write_text("\n".join(lines) + "\n")
    elif form == "jsonl":
        path.with_suffix(".jsonl").write_text("".join(json.dumps({c: row[c] for c in columns}) + "\n" for row in rows))
    else:
        raise ValueError(f"no such form of a table: {form}")


def export_tables(directory, attempts, books, forms):
    """forms may be empty: then the services' own log lines are all that there is."""
    # A service in another client keeps a journal without the two later columns.
    attempts = [{"message_id": "", "version": 1, **a} for a in attempts]
    for form in forms:
        export(directory / "effects", form, EFFECT_COLUMNS, attempts)
        for name, columns in BOOK_COLUMNS.items():
            export(directory / name, form, columns, books[name])


def find_leaks(directory, words):
    """Names of this machine that must not be in the evidence; returns (file, word) pairs."""
    found = []
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found += [(str(path.relative_to(directory)), word) for word in words if word.encode() in data]
    return found


def replace_directory(new, old):
    """Puts a finished recording where the last one is; the place is never half full."""
    old.parent.mkdir(parents=True, exist_ok=True)
    staged, retired = old.with_name(old.name + ".new"), old.with_name(old.name + ".old")
    for path in (staged, retired):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(new, staged)
    if old.exists():
        old.rename(retired)
    staged.rename(old)
    shutil.rmtree(retired, ignore_errors=True)


def pack(directory, archive):
    """A tar.xz of the directory's content, without names, times or owners of this machine."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    staged = archive.with_name(archive.name + ".new")
    with tarfile.open(staged, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(directory.iterdir()):
            tar.add(path, arcname=path.name, filter=plain)
    staged.rename(archive)


def unpack(archive, directory):
    with tarfile.open(archive, "r:xz") as tar:
        tar.extractall(directory)
