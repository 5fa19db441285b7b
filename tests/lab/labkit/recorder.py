# SPDX-License-Identifier: MIT
"""Collects the evidence as its users have it: captures, shell loops over kernel counters, logs, exported tables."""

import csv
import gzip
import re
import shutil
import signal
import subprocess

COUNTERS = {
    "softnet.log": "/proc/net/softnet_stat",
    "conntrack.log": "/proc/net/stat/nf_conntrack",
    "snmp.log": "/proc/net/snmp",
    "netstat.log": "/proc/net/netstat",
}
EFFECT_COLUMNS = ("time", "consumer", "business_key", "step", "request_id", "topic", "partition", "offset", "status",
                  "amount", "currency")


class HostRecorder:
    """The capture and the counter loops of one host."""

    def __init__(self, host, directory, record):
        self.host = host
        self.directory = directory
        self.record = record
        self.loops = []
        directory.mkdir(parents=True)

    def start(self):
        self.capture = self.host.start(
            "tcpdump", "-n", "-i", "eth0", "-s", self.record["snap_length"], "--immediate-mode", "-U", "-Z", "root",
            "-w", self.directory / "eth0.pcap", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for name, source in COUNTERS.items():
            loop = f"while :; do date -u +%FT%T.%3NZ; cat {source}; sleep {self.record['counter_seconds']}; done"
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


def export_tables(directory, attempts, books):
    write_csv(directory / "effects.csv", EFFECT_COLUMNS, ([a[c] for c in EFFECT_COLUMNS] for a in attempts))
    for name, columns in (("channel", ("time", "request_id", "business_key", "amount", "currency")),
                          ("ledger", ("time", "order_no", "biz_type", "amount", "currency"))):
        write_csv(directory / f"{name}.csv", columns, ([row[c] for c in columns] for row in books[name]))


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
