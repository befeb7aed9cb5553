"""FRR reads what is rendered for it, and a fabric of it routes: real daemons, real packets.

Every switch and every host is a network namespace, every cable a pair of virtual ports. The
fabric has 4 leaves and 2 spines, as weft rendered it, port by port.
"""

import shutil
from contextlib import ExitStack

import pytest

from tools.frr_fabric import four_leaves, lost, ping, run, running, settled, texts_of
from weft.generate.plan import plan
from weft.generate.target import render
from weft.network.network import layout
from weft.spec.load import preset
from weft.spec.site import Site

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("vtysh") is None, reason="FRR is not installed; run scripts/tools.sh"
    ),
]


def _complaints(text, folder):
    """Return all that vtysh says: it leaves with 0 after some of what it cannot read."""
    conf = folder / "frr.conf"
    conf.write_text(text)
    done = run("vtysh", "-C", "--inputfile", str(conf), check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(("name", "hosts"), [("h100_tcp_100g", 300), ("h100_tcp_100g", 4)])
@pytest.mark.proves(
    "frr",
    effect="every line is read",
    tool="vtysh",
)
def test_vtysh_has_nothing_against_any_switch(name, hosts, tmp_path):
    files = render(plan(preset(name, hosts=hosts)), ["frr"]).files
    for file in (one for one in files if one.path.endswith("frr.conf")):
        assert _complaints(file.text, tmp_path) == "", file.path


def test_vtysh_has_nothing_against_what_a_site_adds(tmp_path):
    cluster = four_leaves().with_(site=Site(maintenance=("leaf-0000",)))
    for path, text in texts_of(cluster, "frr").items():
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
    text = texts_of(four_leaves(), "frr")["frr/leaf-0000/frr.conf"]
    old, new = FAULTS[fault]
    assert old in text
    assert "Unknown command" in _complaints(text.replace(old, new), tmp_path)


@pytest.fixture(scope="module")
def fabric():
    with ExitStack() as clean_up:
        yield running(four_leaves(), clean_up)


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
        yield running(cluster, clean_up)


def test_every_session_of_the_fabric_comes_up(fabric):
    network = layout(fabric.cluster)
    assert (network.leaf, network.spine) == (4, 2)
    wanted = ["Established"] * (2 * network.leaf_spine_cables)
    assert settled(fabric.states, wanted) == wanted


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
    assert settled(hops, [["ipv6"] * paths] * len(others)) == [["ipv6"] * paths] * len(others)


@pytest.mark.proves(
    "frr",
    effect="only addresses of the fabric are announced",
    tool="frr",
)
def test_only_addresses_of_the_fabric_are_announced(fabric):
    """One block a leaf and one address a switch: links to hosts stay below their leaf."""

    def known():
        """The blocks, and the number of loopbacks."""
        found = fabric.ask("spine-0000", "show ip route bgp json").keys()
        loopbacks = {prefix for prefix in found if prefix.endswith("/32")}
        return found - loopbacks, len(loopbacks)

    leaves = [name for name in fabric.switches if name.startswith("leaf")]
    wanted = set(fabric.blocks()), len(leaves)
    assert settled(known, wanted) == wanted


def test_every_pair_of_hosts_pings_at_the_planned_mtu(fabric):
    """Do not fragment: what does not fit is not delivered."""
    hosts = [f"host-{number:04d}" for number in range(fabric.cluster.hosts)]
    assert len(hosts) == 8
    assert lost(fabric, hosts) == []


def test_what_binds_no_address_reaches_every_rail_over_the_fabric(fabric):
    """There is no other network here, and no default gateway."""
    for _, _, address, _, _ in fabric.rails("host-0007"):
        words = ping(1500, None, address.partition("/")[0])
        done = fabric.inside(fabric.space("host-0000"), *words, check=False)
        assert done.returncode == 0, address


@pytest.mark.proves(
    "frr",
    effect="groups of a dragonfly+ reach one another directly, never through a third",
    tool="frr",
)
def test_groups_reach_one_another_directly_and_never_through_a_third(groups):
    """A path is leaf, spine, spine, leaf: two AS numbers before the leaf's own at most."""
    network = layout(groups.cluster)
    assert (network.leaf, network.spine, network.wiring.groups) == (6, 3, 3)
    joined = network.leaf_spine_cables + network.spine_core_cables
    assert settled(groups.states, ["Established"] * 2 * joined) == ["Established"] * 2 * joined

    def longest(name):
        routes = groups.ask(name, "show bgp ipv4 unicast json").get("routes", {})
        paths = [path["path"].split() for found in routes.values() for path in found]
        return max(map(len, paths), default=0)

    wanted = {name: 3 if name.startswith("leaf") else 2 for name in groups.switches}
    assert settled(lambda: {name: longest(name) for name in wanted}, wanted) == wanted
    assert lost(groups, [f"host-{number:04d}" for number in range(0, 24, 4)]) == []


def test_a_larger_packet_than_planned_does_not_leave_the_host(fabric):
    mtu = plan(fabric.cluster).link.host_mtu_bytes.whole()
    near, far = (fabric.rails(h)[0][2].partition("/")[0] for h in ("host-0000", "host-0007"))
    words = ping(mtu + 1, near, far, patience_s=3)
    assert fabric.inside(fabric.space("host-0000"), *words, check=False).returncode
