"""Tenants of an Ethernet fabric: hosts of one reach one another, and nobody else.

FRR gets what SONiC and Cumulus Linux make of the files that weft rendered, and the file of the
FRR target as it is.
"""

import re
import shutil
from contextlib import ExitStack
from itertools import permutations

import pytest

from tools.frr_fabric import SYSTEMS, cut_off, four_leaves, run, running, settled
from weft.spec.cluster import Tenant

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("vtysh") is None, reason="FRR is not installed; run scripts/tools.sh"
    ),
]
TENANTS = (Tenant(name="red", hosts=3), Tenant(name="blue", hosts=4))
"""Two hosts a leaf: red and blue share one, and blue another with a host of nobody."""
GROUPS = [
    [f"host-{number:04d}" for number in numbers]
    for numbers in (range(3), range(3, 7), range(7, 8))
]


@pytest.fixture(scope="module", params=SYSTEMS)
def fabric(request):
    with ExitStack() as clean_up:
        yield running(four_leaves().with_(tenants=TENANTS), clean_up, request.param)


def _pairs(*, same):
    of = {host: number for number, hosts in enumerate(GROUPS) for host in hosts}
    return [pair for pair in permutations(of, 2) if (of[pair[0]] == of[pair[1]]) == same]


@pytest.mark.proves(
    "sonic",
    "cumulus",
    "frr",
    effect="hosts of a tenant ping one another at the planned MTU on every path of their VRF, "
    "and no host of another tenant",
    tool="frr",
)
def test_hosts_reach_those_of_their_tenant_and_no_others(fabric):
    assert len(_pairs(same=True)) == 3 * 2 + 4 * 3
    assert settled(lambda: cut_off(fabric, _pairs(same=True), 5), []) == []
    paths = settled(lambda: _paths(fabric, "leaf-0000"), [10])
    assert paths == [10]  # to the other leaf with hosts of red
    apart = _pairs(same=False)
    assert cut_off(fabric, apart, 2) == apart


def test_a_port_in_the_vrf_of_another_tenant_is_seen(fabric):
    """The fault that the test above would find: the third host's port, moved to blue."""
    address = fabric.rails("host-0002")[0][2].partition("/")[0]
    port = fabric.port(0)
    red, blue = (fabric.vrfs("leaf-0001")[fabric.port(number)] for number in (0, 8))
    assert red.endswith("red")
    assert blue.endswith("blue")
    moved = fabric.space("leaf-0001", blue)
    run("ip", "-n", fabric.space("leaf-0001", red), "link", "set", port, "netns", moved)
    gateway = fabric.rails("host-0002")[0][3]
    fabric.ip(moved, [f"link set {port} mtu 9216 up", f"address add {gateway}/31 dev {port}"])
    near = fabric.rails("host-0003")[0][2].partition("/")[0]
    words = ["ping", "-c", "1", "-w", "60", "-I", near, address]
    assert fabric.inside(fabric.space("host-0003"), *words, check=False).returncode == 0


def _paths(fabric, leaf):
    """Return the next hops that the kernel has in red for each other leaf with hosts of red."""
    vrf = fabric.vrfs(leaf)[fabric.port(0)]
    routes = fabric.ask(leaf, f"show ip route vrf {vrf} bgp json")
    own = re.search(rf"router bgp \d+ vrf {vrf}$.*?aggregate-address (\S+)",
                    fabric.confs[leaf], re.MULTILINE | re.DOTALL)[1]  # fmt: skip
    found = [rows for block, rows in routes.items() if block.endswith("/26") and block != own]
    return [sum(bool(hop.get("fib")) for row in rows for hop in row["nexthops"])
            for rows in found]  # fmt: skip
