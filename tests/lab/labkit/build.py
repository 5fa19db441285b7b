# SPDX-License-Identifier: MIT
"""Builds the Java half once per Kafka version and state of its sources, outside the source tree."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "java"
# The administrator's tools are of one version whatever the broker's, but that those of 4.x do not speak to brokers before 2.1.
TOOLS, OLDER_TOOLS = "4.1.1", "3.9.1"


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = pathlib.Path(base) / "aftershock-lab"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def fingerprint(module):
    digest = hashlib.sha256((SOURCE / "pom.xml").read_bytes())
    for file in sorted(f for f in (SOURCE / module).rglob("*") if f.is_file() and "target" not in f.parts):
        digest.update(str(file.relative_to(SOURCE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def major(version):
    return int(version.split(".")[0])


def is_before(version, other):
    return [int(n) for n in version.split(".")[:2]] < [int(n) for n in other.split(".")[:2]]


def build(module, kafka_version):
    """The directory of a module's jars, made at most once, whoever else builds at the same time."""
    target = cache_directory() / f"{module}-{kafka_version}-{fingerprint(module)}"
    done = target / "done"
    with open(cache_directory() / "build.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            # Scala 2.13 is served from Kafka 2.4 on.
            scala = "2.12" if is_before(kafka_version, "2.4") else "2.13"
            subprocess.run(["mvn", "-q", "-B", "-f", str(SOURCE / "pom.xml"), "-pl", module, f"-Dlab.build={target}",
                            f"-Dkafka.version={kafka_version}", f"-Dscala.version={scala}", "package"], check=True)
            shutil.copy(target / module / f"{module}-1.jar", target / module / "lib" / f"{module}-1.jar")
            done.touch()
    return target / module / "lib"


def service(kafka_version):
    return build("app", kafka_version)


def broker(kafka_version):
    return build("cluster" if major(kafka_version) >= 4 else "broker-log4j1", kafka_version)


def tools(broker_version):
    return build("cluster", OLDER_TOOLS if is_before(broker_version, "2.1") else TOOLS)
