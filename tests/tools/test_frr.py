"""FRR reads what is rendered for it, and a fabric of it routes: real daemons, real packets.

Every switch and every host is a network namespace, every cable a pair of virtual ports. The
fabric has 4 leaves and 2 spines, as weft rendered it, port by port.
"""

import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.generate.wiring import wired
from weft.network.network import layout
from weft.spec.load import preset
from weft.spec.site import Site

DAEMONS = Path("/usr/lib/frr")
HEADERS_BYTES = 28
"""IPv4 and ICMP."""
PATIENCE_S = 600

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("vtysh") is None, reason="FRR is not installed; run scripts/tools.sh"
    ),
]


def _cluster():
    """Return 8 hosts with 8 NICs on 4 leaves, 10 uplinks each, and 2 spines."""
    cluster = preset("h100_tcp_100g", hosts=8)
    return cluster.with_(
        host=cluster.host.with_(nic="connectx7", nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(kind="fat_tree", switch="sn4700", oversubscription=2.0),
    )


def _complaints(text, folder):
    """Return all that vtysh says: it leaves with 0 after some of what it cannot read."""
    conf = folder / "frr.conf"
    conf.write_text(text)
    done = _run("vtysh", "-C", "--inputfile", str(conf), check=False)
    return done.stdout + done.stderr


def _texts(cluster):
    return {f.path: f.text for f in render(plan(cluster), ["frr", "linux_host"]).files}


def _run(*words, text=None, check=True):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=check)


@pytest.mark.parametrize(("name", "hosts"), [("h100_tcp_100g", 300), ("h100_tcp_100g", 4)])
def test_vtysh_has_nothing_against_any_switch(name, hosts, tmp_path):
    files = render(plan(preset(name, hosts=hosts)), ["frr"]).files
    for file in (one for one in files if one.path.endswith("frr.conf")):
        assert _complaints(file.text, tmp_path) == "", file.path


def test_vtysh_has_nothing_against_what_a_site_adds(tmp_path):
    cluster = _cluster().with_(site=Site(maintenance=("leaf-0000",)))
    for path, text in _texts(cluster).items():
        if path.endswith("frr.conf"):
            assert " neighbor FABRIC bfd" in text
            assert _complaints(text, tmp_path) == "", path


FAULTS = {
    "a session to nobody": ("interface peer-group", "interface per-group"),
    "an AS number too large": ("router bgp 4", "router bgp 44"),
    "an address that is none": ("ip address 100.", "ip address 300."),
    "more paths than there can be": ("maximum-paths ", "maximum-paths 999"),
    "a prefix that is none": ("permit 172.16.0.0/12", "permit 172.16.0.0/42"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_vtysh_sees_a_planted_fault(fault, tmp_path):
    text = _texts(_cluster())["frr/leaf-0000/frr.conf"]
    old, new = FAULTS[fault]
    assert old in text
    assert "Unknown command" in _complaints(text.replace(old, new), tmp_path)


class Fabric:
    """A rendered fabric, running."""

    def __init__(self, cluster, folder, clean_up):
        self.cluster, self.folder, self.clean_up = cluster, folder, clean_up
        self.texts = _texts(cluster)
        self.switches = [switch.name for switch in wired(cluster)]
        self.prefix = f"weft-{os.getpid()}-{cluster.topology.kind[0]}-"

    def space(self, name):
        return self.prefix + name

    def inside(self, name, *words, check=True):
        return _run("ip", "netns", "exec", self.space(name), *words, check=check)

    def ip(self, name, lines):
        done = _run("ip", "-n", self.space(name), "-batch", "-", text="\n".join(lines))
        assert done.stderr == "", done.stderr

    def build(self):
        hosts = sorted(
            {p.peer for s in wired(self.cluster) for p in s.ports} - {*self.switches}
        )
        for name in [*self.switches, *hosts]:
            self.clean_up.callback(_run, "ip", "netns", "del", self.space(name), check=False)
            made = _run("ip", "netns", "add", self.space(name), check=False)
            if made.returncode:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
            self.ip(name, ["link set lo up"])
        for switch in wired(self.cluster):
            self._cable(switch)
        for name in self.switches:
            self._sysctl(name, "frr/90-weft-forwarding.conf")
            self.ip(name, self._mtus(name))
        for name in hosts:
            self._sysctl(name, "linux_host/90-weft-rdma.conf")
            self._host(name)

    def _cable(self, switch):
        lines = []
        for port in switch.ports:
            if port.host is None and port.peer > switch.name:
                continue
            far = f"mlx5_{port.peer_port}" if port.host is not None else _swp(port.peer_port)
            lines.append(
                f"link add {_swp(port.number)} netns {self.space(switch.name)} type veth "
                f"peer name {far} netns {self.space(port.peer)}"
            )
        _run("ip", "-batch", "-", text="\n".join(lines))

    def _sysctl(self, name, path):
        file = self.folder / path.replace("/", "-")
        file.write_text(self.texts[path])
        assert self.inside(name, "sysctl", "-qp", str(file)).stderr == ""

    def _mtus(self, name):
        stanzas = self.texts[f"frr/{name}/interfaces"]
        found = re.findall(r"iface (\w+) inet manual\n    mtu (\d+)", stanzas)
        return [f"link set {port} mtu {mtu} up" for port, mtu in found]

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
        self.ip(name, lines)

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
            (own / "frr.conf").write_text(self.texts[f"frr/{name}/frr.conf"])
            _run("chown", "-R", "frr:frr", str(own))
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(name), DAEMONS / daemon,
             "-f", own / "frr.conf", "-i", own / f"{daemon}.pid", "-z", own / "zserv.api",
             "--vty_socket", own, "-A", "127.0.0.1", "-P", "0", "-u", "frr", "-g", "frr"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.clean_up.callback(_end, process)

    def _wait(self, done):
        until = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < until, "not in time"
            time.sleep(0.3)

    def ask(self, name, command):
        socket = str(self.folder / name)
        done = _run("vtysh", "--vty_socket", socket, "-c", command, check=False)
        return json.loads(done.stdout) if done.stdout.startswith("{") else {}

    def sessions(self, name):
        return self.ask(name, "show bgp ipv4 unicast summary json").get("peers", {})

    def blocks(self):
        """Return what every leaf announces for the hosts below it."""
        return [
            re.search(r"aggregate-address (\S+)", self.texts[f"frr/{name}/frr.conf"])[1]
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


def _settled(ask, wanted):
    """Ask until the answer is the wanted one, with patience; return the last answer."""
    until = time.monotonic() + PATIENCE_S
    while (answer := ask()) != wanted and time.monotonic() < until:
        time.sleep(0.3)
    return answer


def _swp(number):
    return f"swp{number + 1}"


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


def _running(cluster, clean_up):
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
    made = Fabric(cluster, folder, clean_up)
    made.build()
    made.start()
    made.converge()
    return made


@pytest.fixture(scope="module")
def fabric():
    with ExitStack() as clean_up:
        yield _running(_cluster(), clean_up)


@pytest.fixture
def groups():
    """Three groups of two leaves and a spine, whose spines are joined (dragonfly+)."""
    cluster = preset("h100_tcp_100g", hosts=24)
    cluster = cluster.with_(
        host=cluster.host.with_(nic="connectx7", nics=2, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(
            kind="dragonfly_plus", switch="sn4700", oversubscription=4.0, hosts_per_pod=8
        ),
    )
    with ExitStack() as clean_up:
        yield _running(cluster, clean_up)


def test_every_session_of_the_fabric_comes_up(fabric):
    network = layout(fabric.cluster)
    assert (network.leaf, network.spine) == (4, 2)
    wanted = ["Established"] * (2 * network.leaf_spine_cables)
    assert _settled(fabric.states, wanted) == wanted


def test_a_leaf_spreads_over_all_its_uplinks(fabric):
    """The planned number of paths is the number of next hops that the kernel has."""
    paths = plan(fabric.cluster).underlay.most_paths.whole()
    others = fabric.blocks()[1:]

    def hops():
        """The families of the next hops that the kernel has for each other block."""
        routes = fabric.ask("leaf-0000", "show ip route json")
        return [
            [hop["afi"] for route in routes.get(block, []) for hop in route["nexthops"]
             if hop.get("fib")]
            for block in others
        ]  # fmt: skip

    assert paths == 10
    assert _settled(hops, [["ipv6"] * paths] * len(others)) == [["ipv6"] * paths] * len(others)


def test_only_addresses_of_the_fabric_are_announced(fabric):
    """One block a leaf and one address a switch: links to hosts stay below their leaf."""

    def known():
        """The blocks, and the number of loopbacks."""
        found = fabric.ask("spine-0000", "show ip route bgp json").keys()
        loopbacks = {prefix for prefix in found if prefix.endswith("/32")}
        return found - loopbacks, len(loopbacks)

    leaves = [name for name in fabric.switches if name.startswith("leaf")]
    wanted = set(fabric.blocks()), len(leaves)
    assert _settled(known, wanted) == wanted


def _lost(fabric, hosts):
    """Return the pairs of hosts that do not reach one another at the planned MTU."""
    mtu = plan(fabric.cluster).link.host_mtu_bytes.whole()
    pairs = [(a, b) for a in hosts for b in hosts if a != b]
    waiting = []
    for number, (a, b) in enumerate(pairs):
        rail = number % fabric.cluster.host.nics
        near, far = (fabric.rails(h)[rail][2].partition("/")[0] for h in (a, b))
        words = _ping(mtu, near, far)
        waiting.append(subprocess.Popen(
            ["ip", "netns", "exec", fabric.space(a), *words], stdout=subprocess.DEVNULL
        ))  # fmt: skip
    return [pair for pair, one in zip(pairs, waiting, strict=True) if one.wait()]


def test_every_pair_of_hosts_pings_at_the_planned_mtu(fabric):
    """Do not fragment: what does not fit is not delivered."""
    hosts = [f"host-{number:04d}" for number in range(fabric.cluster.hosts)]
    assert len(hosts) == 8
    assert _lost(fabric, hosts) == []


def test_what_binds_no_address_reaches_every_rail_over_the_fabric(fabric):
    """There is no other network here, and no default gateway."""
    for _, _, address, _, _ in fabric.rails("host-0007"):
        words = _ping(1500, None, address.partition("/")[0])
        assert fabric.inside("host-0000", *words, check=False).returncode == 0, address


def test_groups_reach_one_another_directly_and_never_through_a_third(groups):
    """A path is leaf, spine, spine, leaf: two AS numbers before the leaf's own at most."""
    network = layout(groups.cluster)
    assert (network.leaf, network.spine, network.wiring.groups) == (6, 3, 3)
    joined = network.leaf_spine_cables + network.spine_core_cables
    assert _settled(groups.states, ["Established"] * 2 * joined) == ["Established"] * 2 * joined

    def longest(name):
        routes = groups.ask(name, "show bgp ipv4 unicast json").get("routes", {})
        paths = [path["path"].split() for found in routes.values() for path in found]
        return max(map(len, paths), default=0)

    wanted = {name: 3 if name.startswith("leaf") else 2 for name in groups.switches}
    assert _settled(lambda: {name: longest(name) for name in wanted}, wanted) == wanted
    assert _lost(groups, [f"host-{number:04d}" for number in range(0, 24, 4)]) == []


def test_a_larger_packet_than_planned_does_not_leave_the_host(fabric):
    mtu = plan(fabric.cluster).link.host_mtu_bytes.whole()
    near, far = (fabric.rails(h)[0][2].partition("/")[0] for h in ("host-0000", "host-0007"))
    words = _ping(mtu + 1, near, far, patience_s=3)
    assert fabric.inside("host-0000", *words, check=False).returncode


def _ping(size_bytes, near, far, patience_s=300):
    payload = str(size_bytes - HEADERS_BYTES)
    # one answer within the time, asked for again each second: a busy machine may lose the first
    words = ["ping", "-M", "do", "-s", payload, "-c", "1", "-w", str(patience_s)]
    return [*words, *(("-I", near) if near else ()), far]
