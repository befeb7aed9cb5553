"""What switches of SONiC, Cumulus Linux and FRR achieve: hosts meet, on every path.

FRR gets what each system makes of the files that weft rendered, with the policies that are on
by default, and then one link and one spine are lost.
"""

import re
import shutil
from contextlib import ExitStack

import pytest

from tools.frr_fabric import SYSTEMS, four_leaves, lost, run, running, settled
from tools.switch_frr import of_nvue, of_sonic
from weft.generate.plan import plan
from weft.generate.target import render
from weft.generate.wiring import wired

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("vtysh") is None, reason="FRR is not installed; run scripts/tools.sh"
    ),
]


@pytest.fixture(scope="module", params=SYSTEMS)
def fabric(request):
    with ExitStack() as clean_up:
        yield running(four_leaves(), clean_up, request.param)


def _paths(fabric, leaf):
    """Return the number of next hops that the kernel has for each other leaf's hosts."""
    routes = fabric.ask(leaf, "show ip route json")
    own = re.search(r"aggregate-address (\S+)", fabric.confs[leaf])[1]
    found = {
        block: [hop for route in routes.get(block, []) for hop in route["nexthops"]]
        for block in fabric.blocks()
        if block != own
    }
    return [sum(bool(hop.get("fib")) for hop in hops) for hops in found.values()]


def _cut(fabric, switch, peer, links):
    """Take down the first links between two switches."""
    ports = [p for p in next(s for s in wired(fabric.cluster) if s.name == switch).ports
             if p.peer == peer]  # fmt: skip
    fabric.ip(
        fabric.space(switch),
        [f"link set {fabric.port(one.number)} down" for one in ports[:links]],
    )


HOSTS = [f"host-{number:04d}" for number in range(8)]


@pytest.mark.proves(
    "sonic",
    "cumulus",
    "frr",
    effect="every pair of hosts pings at the planned MTU and leaves use every path, with the "
    "policies of eBGP on, also after a link and a spine are lost",
    tool="frr",
)
def test_every_host_is_reached_on_every_path_and_after_a_link_and_a_spine_are_lost(fabric):
    """10 uplinks a leaf, 5 to each of 2 spines: 10 paths, 9 without a link, then 4 and 5."""
    assert "no bgp ebgp-requires-policy" not in "".join(fabric.confs.values())
    leaves = [name for name in fabric.switches if name.startswith("leaf")]
    assert len(leaves) == 4
    for leaf in leaves:
        assert settled(lambda leaf=leaf: _paths(fabric, leaf), [10] * 3) == [10] * 3, leaf
    assert lost(fabric, HOSTS) == []
    _cut(fabric, "leaf-0000", "spine-0000", 1)
    assert settled(lambda: _paths(fabric, "leaf-0000"), [9] * 3) == [9] * 3
    assert lost(fabric, HOSTS) == []
    for leaf in leaves:
        _cut(fabric, leaf, "spine-0001", 5)
    for leaf, left in zip(leaves, (4, 5, 5, 5), strict=True):
        wanted = [left] * 3
        assert settled(lambda leaf=leaf: _paths(fabric, leaf), wanted) == wanted, leaf
    assert lost(fabric, HOSTS) == []


def test_without_its_policy_a_leaf_learns_nothing(fabric):
    """The fault that only the effect shows: the file is valid, the session is up."""
    conf = ["configure terminal", f"router bgp {_asn(fabric)}", "address-family ipv4 unicast",
            "no neighbor FABRIC route-map FABRIC in"]  # fmt: skip
    words = [word for line in conf for word in ("-c", line)]
    words += ["-c", "end", "-c", "clear bgp *"]
    run("vtysh", "--vty_socket", str(fabric.folder / "leaf-0003"), *words)
    assert settled(lambda: _paths(fabric, "leaf-0003"), [0] * 3) == [0] * 3

    def states():
        """Five sessions: those to the other spine have lost their links."""
        found = [one["state"] for one in fabric.sessions("leaf-0003").values()]
        return found.count("Established")

    assert settled(states, 5) == 5
    assert _paths(fabric, "leaf-0003") == [0] * 3


def _asn(fabric):
    return re.search(r"router bgp (\d+)", fabric.confs["leaf-0003"])[1]


@pytest.mark.parametrize(("target", "file", "frr_of"), [
    ("sonic", "config_db.json", of_sonic), ("cumulus", "nvue.commands", of_nvue),
])  # fmt: skip
@pytest.mark.proves(
    "sonic",
    "cumulus",
    effect="FRR takes what the system makes of every switch's routing",
    tool="vtysh",
)
def test_frr_reads_what_the_systems_make_of_every_switch(target, file, frr_of, tmp_path):
    for one in render(plan(four_leaves()), [target]).files:
        if one.path.endswith(file):
            conf = tmp_path / "frr.conf"
            conf.write_text(frr_of(one.text))
            done = run("vtysh", "-C", "--inputfile", str(conf), check=False)
            assert done.stdout + done.stderr == "", one.path
