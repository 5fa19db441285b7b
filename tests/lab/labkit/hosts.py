# SPDX-License-Identifier: MIT
"""Hosts are network namespaces, each a veth pair away from a router namespace.

An outage is made in the router's forward path: the host's own capture then shows its segments leaving and
nothing coming back, as with a failed path and unlike a local firewall.
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from . import build, relay

ENTER = pathlib.Path(__file__).resolve().parent.parent / "enter.sh"
PREFIX = "aftershock-lab"
# Kafka's tools and the JVM get nothing of the user's environment: it could show in a log.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
# The host's own directories, bound over the machine's for its processes alone.
OWN_DIRECTORIES = ("opt", "srv", "var/lib", "var/log")
PR_SET_PDEATHSIG = 1

ROUTER_RULES = """
table inet lab {
    chain forward {
        type filter hook forward priority 0; policy accept;
    }
}
"""

# Any rule that asks for a connection's state turns connection tracking on in its namespace.
HOST_RULES = """
table inet filter {
    chain input {
        type filter hook input priority 0; policy accept;
        ct state invalid drop
        ct state established,related accept
    }
}
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def in_namespace(namespace, *command, **options):
    return subprocess.run(["ip", "netns", "exec", namespace, *command], check=True, **options)


def die_with_parent():
    """Runs in the child: the kernel ends it should the lab itself be killed.

    It comes a little before whatever else the machine does, so that a busy machine is not recorded as a pause.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.nice(-4)


class Host:
    def __init__(self, network, name, address):
        self.network = network
        self.name = name
        self.address = address
        self.namespace = f"{network.prefix}-{name}"
        self.root = network.work / "hosts" / name
        self.binds = []
        for directory in OWN_DIRECTORIES:
            self.make_directory("/" + directory)

    def path(self, inside):
        """Where a path of this host lies on the machine."""
        return self.root / inside.lstrip("/")

    def make_directory(self, inside):
        self.path(inside).mkdir(parents=True, exist_ok=True)

    def write(self, inside, text):
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        self.path(inside).write_text(text)

    def bind(self, source, inside):
        self.make_directory(inside)
        self.binds.append(f"{source}={inside}")

    def command(self, *command):
        binds = [f"{self.root}/{d}=/{d}" for d in OWN_DIRECTORIES]
        binds += [f"{self.root}/etc/{f}=/etc/{f}" for f in ("hosts", "resolv.conf")]
        return ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "--uts", "--propagation", "private",
                str(ENTER), self.name, *binds, *self.binds, "--", *map(str, command)]

    def run(self, *command, **options):
        return subprocess.run(self.command(*command), env=ENVIRONMENT, check=True, **options)

    def start(self, *command, **options):
        """Starts a process; every link of the chain is an exec, so its pid is the process's own."""
        process = subprocess.Popen(self.command(*command), env=ENVIRONMENT, preexec_fn=die_with_parent,
                                   start_new_session=True, **options)
        self.network.processes.append(process)
        return process


class Network:
    def __init__(self, work, addresses, relayed=()):
        self.work = work
        self.relayed = relayed
        self.relays = {}
        self.undo = []
        self.prefix = f"{PREFIX}-{os.getpid()}"
        self.router = f"{self.prefix}-router"
        self.namespaces = []
        self.processes = []
        self.hosts = {name: Host(self, name, address) for name, address in addresses.items()}

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _build(self):
        self._add_namespace(self.router)
        in_namespace(self.router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        in_namespace(self.router, "nft", "-f", "-", input=ROUTER_RULES, text=True)
        names = "127.0.0.1 localhost\n" + "".join(f"{h.address} {h.name}\n" for h in self.hosts.values())
        for host in self.hosts.values():
            host.write("/etc/hosts", names)
            host.write("/etc/resolv.conf", "")
            self._connect(host)

    def _add_namespace(self, name):
        ip("netns", "add", name)
        self.namespaces.append(name)
        ip("-n", name, "link", "set", "lo", "up")

    def _connect(self, host):
        self._add_namespace(host.namespace)
        gateway = host.address.rsplit(".", 1)[0] + ".1"
        if host.name in self.relayed:
            self.relays[host.name] = relay.Relay(self, host)
        else:
            ip("link", "add", host.name, "netns", self.router, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
        for namespace, device, address in ((self.router, host.name, gateway), (host.namespace, "eth0", host.address)):
            # Without IPv6 a capture holds no neighbour discovery; the lab has no use for it.
            in_namespace(namespace, "sysctl", "-q", "-w", f"net.ipv6.conf.{device}.disable_ipv6=1")
            ip("-n", namespace, "address", "add", address + "/24", "dev", device)
            ip("-n", namespace, "link", "set", device, "up")
        ip("-n", host.namespace, "route", "add", "default", "via", gateway)
        in_namespace(host.namespace, "nft", "-f", "-", input=HOST_RULES, text=True)

    def add_rule(self, rule):
        """Adds a rule to the router's forward path; returns what remove_rule() takes."""
        printed = in_namespace(self.router, "nft", "--echo", "--handle", "add", "rule", "inet", "lab", "forward", rule,
                               capture_output=True, text=True).stdout
        return re.search(r"# handle (\d+)", printed)[1]

    def remove_rule(self, handle):
        in_namespace(self.router, "nft", "delete", "rule", "inet", "lab", "forward", "handle", handle)

    def set_machine(self, values):
        """Sets sysctls of the whole machine; returns what puts them back. They are put back at the latest by the next lab."""
        before = {key: pathlib.Path(f"/proc/sys/{key}").read_text().strip() for key in values}
        note = build.cache_directory() / f"{self.prefix}.sysctl"
        note.write_text(json.dumps(before))

        def restore():
            if note.exists():
                restore_machine(note)

        self.undo.append(restore)
        for key, value in values.items():
            pathlib.Path(f"/proc/sys/{key}").write_text(f"{value}\n")
        return restore

    def between(self, a, b):
        """The two matches for what goes from a to b and from b to a."""
        one, other = self.hosts[a].address, self.hosts[b].address
        return f"ip saddr {one} ip daddr {other}", f"ip saddr {other} ip daddr {one}"

    def start_aside(self, namespace, *command, **options):
        """Starts a process that is no host's own (a rival flow, a relay), in a namespace; it ends with the network."""
        process = subprocess.Popen(["ip", "netns", "exec", namespace, *map(str, command)], env=ENVIRONMENT,
                                   preexec_fn=die_with_parent, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def close(self):
        """Ends the processes that this network started, and only those, then removes its namespaces."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # an impatient second Ctrl-C would leave half behind
        alive = [p for p in self.processes if p.poll() is None]
        for process in alive:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        deadline = time.monotonic() + 8
        for process in alive:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for undo in reversed(self.undo):
            undo()
        self.undo = []
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "delete", name], check=False)
        self.namespaces = []


def restore_machine(note):
    for key, value in json.loads(note.read_text()).items():
        pathlib.Path(f"/proc/sys/{key}").write_text(f"{value}\n")
    note.unlink()


def is_stale(name):
    owner = name.removeprefix(PREFIX + "-").split("-")[0].split(".")[0]
    return name.startswith(PREFIX + "-") and owner.isdigit() and not os.path.exists(f"/proc/{owner}")


def remove_stale():
    """Removes the namespaces and control groups of labs that were killed before they could, and puts back what they had set."""
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    for name in (line.split()[0] for line in listed.splitlines() if line):
        if is_stale(name):
            ip("netns", "delete", name)
    for group in [*pathlib.Path("/sys/fs/cgroup").glob(f"{PREFIX}-*"), *pathlib.Path("/sys/fs/cgroup/cpu").glob(f"{PREFIX}-*")]:
        if is_stale(group.name):
            group.rmdir()
    for note in build.cache_directory().glob(f"{PREFIX}-*.sysctl"):
        if is_stale(note.name):
            restore_machine(note)
