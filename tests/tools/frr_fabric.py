"""A rendered fabric in network namespaces, with real FRR daemons and real packets.

Every switch and every host is a network namespace, every cable a pair of virtual ports. A VRF
is a namespace too (zebra -n), for not every kernel has the device; FRR reads the same file. A
tagged sub-interface is a virtual cable of its own: that tags keep traffic apart is 802.1Q's.
"""

import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest

from tools.switch_frr import of_nvue, of_sonic
from weft.generate.plan import plan
from weft.generate.target import render
from weft.generate.wiring import wired
from weft.spec.load import preset

DAEMONS = Path("/usr/lib/frr")
HEADERS_BYTES = 28
"""IPv4 and ICMP."""
PATIENCE_S = 300


def four_leaves():
    """Return 8 hosts with 8 NICs on 4 leaves, 10 uplinks each, and 2 spines."""
    cluster = preset("h100_tcp_100g", hosts=8)
    return cluster.with_(
        host=cluster.host.with_(nic="connectx7", nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(kind="fat_tree", switch="sn4700", oversubscription=2.0),
    )


def texts_of(cluster, *targets):
    return {f.path: f.text for f in render(plan(cluster), targets).files}


def run(*words, text=None, check=True):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=check)


def swp(number):
    return f"swp{number + 1}"


SYSTEMS = {
    "frr": ("frr.conf", lambda text: text, swp),
    "sonic": ("config_db.json", of_sonic, lambda number: f"Ethernet{8 * number}"),
    "cumulus": ("nvue.commands", of_nvue, swp),
}
"""By target: its file, how FRR's configuration follows from it, and names of ports."""


class Fabric:
    """A rendered fabric, running."""

    def __init__(self, cluster, folder, clean_up, system):
        self.cluster, self.folder, self.clean_up = cluster, folder, clean_up
        self.texts = texts_of(cluster, "frr", "linux_host", system)
        file, frr_of, self.port = SYSTEMS[system]
        self.switches = [switch.name for switch in wired(cluster)]
        self.confs = {
            name: frr_of(self.texts[f"{system}/{name}/{file}"]) for name in self.switches
        }
        self.prefix = f"weft-{os.getpid()}-{system[0]}{cluster.topology.kind[0]}-"

    def space(self, name, vrf=""):
        return self.prefix + name + (f".{vrf}" if vrf else "")

    def vrfs(self, name):
        """Return the VRF of each interface that is in one."""
        conf = self.confs.get(name, "")
        return dict(re.findall(r"^interface (\S+) vrf (\S+)$", conf, re.MULTILINE))

    def spaces(self, name):
        """Return all namespaces of a switch or a host."""
        return [self.space(name, vrf) for vrf in ("", *dict.fromkeys(self.vrfs(name).values()))]

    def _space_of(self, name, interface):
        return self.space(name, self.vrfs(name).get(interface, ""))

    def inside(self, space, *words, check=True):
        return run("ip", "netns", "exec", space, *words, check=check)

    def ip(self, space, lines):
        done = run("ip", "-n", space, "-batch", "-", text="\n".join(lines))
        assert done.stderr == "", done.stderr

    def build(self):
        hosts = sorted(
            {p.peer for s in wired(self.cluster) for p in s.ports} - {*self.switches}
        )
        for space in chain.from_iterable(map(self.spaces, [*self.switches, *hosts])):
            self.clean_up.callback(run, "ip", "netns", "del", space, check=False)
            made = run("ip", "netns", "add", space, check=False)
            if made.returncode:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
            self.ip(space, ["link set lo up"])
        for switch in wired(self.cluster):
            self._cable(switch)
        for name in self.switches:
            for space in self.spaces(name):
                self._sysctl(space, "frr/90-weft-forwarding.conf")
            self._mtus(name)
        for name in hosts:
            self._sysctl(self.space(name), "linux_host/90-weft-rdma.conf")
            self._host(name)

    def _cable(self, switch):
        lines = []
        for port in switch.ports:
            if port.host is None and port.peer > switch.name:
                continue
            nic = port.host is not None
            far = self.rails(port.peer)[port.peer_port][1] if nic else self.port(port.peer_port)
            near = self.port(port.number)
            ends = [(near, far)] if nic else [
                (near + tag, far + tag) for tag in ("", *self._tags(switch.name, near))
                if not tag or far + tag in self.vrfs(port.peer)
            ]  # fmt: skip
            lines += [
                f"link add {one} netns {self._space_of(switch.name, one)} type veth "
                f"peer name {other} netns {self._space_of(port.peer, other)}"
                for one, other in ends
            ]
        run("ip", "-batch", "-", text="\n".join(lines))

    def _tags(self, name, port):
        """Return the tags of a port's sub-interfaces, as ``.101``."""
        return [one[len(port) :] for one in self.vrfs(name) if one.startswith(f"{port}.")]

    def _sysctl(self, space, path):
        file = self.folder / path.replace("/", "-")
        file.write_text(self.texts[path])
        assert self.inside(space, "sysctl", "-qp", str(file)).stderr == ""

    def _mtus(self, name):
        """MTU is the kernel's: of the switch, as the plan has it for every target."""
        mtu = plan(self.cluster).link.switch_mtu_bytes.whole()
        for space in self.spaces(name):
            there = json.loads(run("ip", "-n", space, "-j", "link").stdout)
            names = [one["ifname"] for one in there if one["ifname"] != "lo"]
            self.ip(space, [f"link set {one} mtu {mtu} up" for one in names])

    def _host(self, name):
        """Do what the rendered script of the host does; its devices are no RDMA ones here."""
        mtu = re.search(r"mtu (\d+)", self.texts["linux_host/weft-rdma"])[1]
        pool = re.search(r"ip route replace (\S+)", self.texts["linux_host/weft-rdma"])[1]
        lines = []
        for _, device, address, gateway, table in self.rails(name):
            lines += [
                f"link set {device} mtu {mtu} up",
                f"address add {address} dev {device}",
                f"route add {pool} via {gateway} dev {device} table {table}",
                f"rule add from {address.partition('/')[0]} table {table}",
            ]
            script = self.texts["linux_host/weft-rdma"]
            prefixes = re.search(rf'{device}\) prefixes="(.*)"', script)
            lines += [
                f"route add {prefix} via {gateway} dev {device}"
                for prefix in (prefixes[1].split() if prefixes else ())
            ]
        self.ip(self.space(name), lines)

    def rails(self, host):
        rows = self.texts["linux_host/rails.tsv"].splitlines()[1:]
        return [row.split("\t") for row in rows if row.startswith(f"{host}\t")]

    def start(self):
        for daemon in ("zebra", "bgpd"):
            for name in self.switches:
                self._daemon(name, daemon)
            self._wait(lambda: all((self.folder / n / "zserv.api").exists()
                                   for n in self.switches))  # fmt: skip

    def _daemon(self, name, daemon):
        own = self.folder / name
        if not own.exists():
            own.mkdir()
            (own / "frr.conf").write_text(self.confs[name])
            run("chown", "-R", "frr:frr", str(own))
        apart = ["-n"] if daemon == "zebra" and self.vrfs(name) else []
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(name), "sh", "-ec", self._own_vrfs(name), "sh",
             DAEMONS / daemon, *apart, "-f", own / "frr.conf",
             "-i", own / f"{daemon}.pid", "-z", own / "zserv.api",
             "--vty_socket", own, "-A", "127.0.0.1", "-P", "0", "-u", "frr", "-g", "frr"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.clean_up.callback(_end, process)

    def _own_vrfs(self, name):
        """Return a script that shows a daemon the VRFs of its switch alone, by their names."""
        there = self.folder / name / "vrfs"
        lines = [f"mkdir -p {there}"]
        for vrf in dict.fromkeys(self.vrfs(name).values()):
            space = self.space(name, vrf)
            lines += [f"touch {there}/{vrf}", f"mount --bind /run/netns/{space} {there}/{vrf}"]
        return "\n".join([*lines, f"mount --rbind {there} /run/netns", 'exec "$@"'])

    def _wait(self, done):
        until = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < until, "not in time"
            time.sleep(0.3)

    def ask(self, name, command):
        socket = str(self.folder / name)
        done = run("vtysh", "--vty_socket", socket, "-c", command, check=False)
        return json.loads(done.stdout) if done.stdout.startswith("{") else {}

    def sessions(self, name):
        return self.ask(name, "show bgp ipv4 unicast summary json").get("peers", {})

    def blocks(self):
        """Return what every leaf announces for the hosts below it."""
        return [
            re.search(r"aggregate-address (\S+)", self.confs[name])[1]
            for name in self.switches
            if name.startswith("leaf")
        ]

    def states(self):
        return [s["state"] for name in self.switches for s in self.sessions(name).values()]

    def converge(self):
        wanted = set(self.blocks())
        self._wait(lambda: {*self.states()} == {"Established"} and all(
            wanted <= self.ask(name, "show ip route json").keys() for name in self.switches
        ))  # fmt: skip


def settled(ask, wanted):
    """Ask until the answer is the wanted one, with patience; return the last answer."""
    until = time.monotonic() + PATIENCE_S
    while (answer := ask()) != wanted and time.monotonic() < until:
        time.sleep(0.3)
    return answer


def _end(process):
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _account(name):
    with suppress(KeyError):
        return pwd.getpwnam(name)


def running(cluster, clean_up, system="frr"):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if not _account("frr") or not all((DAEMONS / one).exists() for one in ("zebra", "bgpd")):
        pytest.skip("FRR is installed in part only; run scripts/tools.sh")
    for tool in ("ip", "ping", "sysctl"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed; run scripts/tools.sh")
    folder = Path(tempfile.mkdtemp(prefix="weft-frr-", dir="/run"))
    clean_up.callback(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    made = Fabric(cluster, folder, clean_up, system)
    made.build()
    made.start()
    if not cluster.tenants:
        made.converge()
    return made


def lost(fabric, hosts, patience_s=120):
    """Return the pairs of hosts that do not reach one another at the planned MTU."""
    return cut_off(fabric, [(a, b) for a in hosts for b in hosts if a != b], patience_s)


def cut_off(fabric, pairs, patience_s):
    """Return those of some pairs of hosts that do not reach one another in time."""
    mtu = plan(fabric.cluster).link.host_mtu_bytes.whole()
    waiting = []
    for number, (a, b) in enumerate(pairs):
        rail = number % fabric.cluster.host.nics
        near, far = (fabric.rails(h)[rail][2].partition("/")[0] for h in (a, b))
        words = ping(mtu, near, far, patience_s)
        waiting.append(subprocess.Popen(
            ["ip", "netns", "exec", fabric.space(a), *words], stdout=subprocess.DEVNULL
        ))  # fmt: skip
    return [pair for pair, one in zip(pairs, waiting, strict=True) if one.wait()]


def ping(size_bytes, near, far, patience_s=120):
    payload = str(size_bytes - HEADERS_BYTES)
    # one answer within the time, asked for again each second: a busy machine may lose the first
    words = ["ping", "-M", "do", "-s", payload, "-c", "1", "-w", str(patience_s)]
    return [*words, *(("-I", near) if near else ()), far]
