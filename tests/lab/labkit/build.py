# SPDX-License-Identifier: MIT
"""Builds the Java half once per Kafka version, outside the source tree."""

import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "java"


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "aftershock-lab"


def build(kafka_version):
    """Returns the directories of jars of (service, cluster)."""
    target = cache_directory() / f"kafka-{kafka_version}"
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mvn", "-q", "-B", "-f", str(SOURCE / "pom.xml"), f"-Dlab.build={target}", f"-Dkafka.version={kafka_version}", "package"],
        check=True)
    for module in ("app", "cluster"):
        shutil.copy(target / module / f"{module}-1.jar", target / module / "lib" / f"{module}-1.jar")
    return target / "app" / "lib", target / "cluster" / "lib"
