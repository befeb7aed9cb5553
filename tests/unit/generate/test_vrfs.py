"""Tenants of an Ethernet fabric: the same VRFs and links at both ends, for every system."""

import re

import pytest

from weft.errors import Infeasible
from weft.generate.plan import plan
from weft.generate.router import routers
from weft.generate.target import render, suitable
from weft.generate.underlay import underlay
from weft.lint.lint import lint_texts
from weft.lint.text import Text
from weft.network.network import layout
from weft.spec.cluster import Tenant
from weft.spec.load import preset

TENANTS = (Tenant(name="red", hosts=3), Tenant(name="blue", hosts=12))


def _cluster(switch: str, name: str = "hgx_h100_roce", **changes):
    cluster = preset(name, hosts=24)
    return cluster.with_(
        tenants=TENANTS,
        host=cluster.host.with_(nic="connectx7", nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(
            switch=switch, **{"kind": "fat_tree", "oversubscription": 2.0, **changes}
        ),
    )


CASES = {
    "sonic": (_cluster("sn4700"), r'"Vrf{vrf}"'),
    "cumulus": (_cluster("sn4700"), r"^nv set interface \S+ vrf {vrf}$"),
    "eos": (_cluster("arista_7060x6_32pe"), r"^   vrf {vrf}$"),
    "nxos": (_cluster("cisco_n9364e_sg2"), r"^  vrf member {vrf}$"),
    "junos": (_cluster("juniper_qfx5240_64od"), r"^    {vrf} \{{$"),
    "frr": (_cluster("sn4700", "h100_tcp_100g"), r"^interface \S+ vrf {vrf}$"),
}
"""Each target, and how it says that something is in a VRF."""


@pytest.mark.parametrize("target", CASES)
def test_every_switch_has_the_vrfs_and_the_ends_of_its_tenants(target):
    cluster, says = CASES[target]
    made = plan(cluster)
    texts = {file.path: file.text for file in render(made, [target]).files}
    assert any(one.tenants for one in routers(made))
    for router in routers(made):
        whole = "\n".join(text for path, text in texts.items() if f"/{router.name}/" in path)
        names = {name for name, _ in router.tenants}
        for name in ("red", "blue"):
            there = re.search(says.format(vrf=name), whole, re.MULTILINE)
            assert bool(there) == (name in names), (router.name, name)
        for vrf in router.vrfs()[1:]:
            for one in vrf.fabric:
                assert f"{one.address}/31" in whole
                assert re.search(rf"\b{re.escape(str(one.peer_address))}\b", whole)


@pytest.mark.parametrize("target", CASES)
def test_lint_finds_nothing_in_the_switches_of_tenants(target):
    files = render(plan(CASES[target][0]), [target]).files
    texts = [Text(name=file.path, content=file.text) for file in files]
    found = {one.rule for one in lint_texts(texts).findings}
    assert found <= {"switch_unlike_peers"}  # leaves of different tenants are not alike


def _ends(made):
    return {
        (router.name, one.port.number): one for router in routers(made) for one in router.fabric
    }


@pytest.mark.parametrize("kind", ["fat_tree", "dragonfly_plus"])
def test_both_ends_of_a_link_agree_and_no_address_is_used_twice(kind):
    changes = {"hosts_per_pod": 8} if kind == "dragonfly_plus" else {}
    made = plan(_cluster("sn4700", kind=kind, **changes))
    ends = _ends(made)
    used = [one.address for one in ends.values() if one.tenants]
    assert len(used) == len(set(used)) > 0
    for (name, _), one in ends.items():
        far = ends[one.port.peer, one.port.peer_port]
        assert far.port.peer == name
        assert (far.tenants, far.address) == (one.tenants, one.peer_address)


def test_a_switch_has_the_vrfs_of_the_hosts_below_it_alone():
    made = plan(_cluster("sn4700"))
    known = {router.name: router for router in routers(made)}
    below = {
        name: {link.tenant for link in router.hosts} - {""} for name, router in known.items()
    }
    for name, router in known.items():
        own = {tenant for tenant, _ in router.tenants}
        if router.switch.tier == 0:
            assert own == below[name]
        else:
            leaves = {one.port.peer for one in router.fabric}
            assert own == set().union(*(below[leaf] for leaf in leaves))
    assert {"red", "blue"} in below.values()
    assert set() in below.values()


def test_hosts_of_nobody_stay_in_the_default_vrf():
    for router in routers(plan(_cluster("sn4700"))):
        default = router.vrfs()[0]
        assert all(link.tenant == "" for link in default.hosts)
        assert (default.block is not None) == bool(default.hosts)


def test_more_tenants_than_tags_are_refused():
    with pytest.raises(Infeasible, match="900 tenants: tags of VRFs are 101 to 999"):
        underlay(layout(_cluster("sn4700")), [f"t{number}" for number in range(900)])


def test_every_target_of_the_fabric_takes_tenants():
    made = plan(_cluster("sn4700"))
    without = plan(_cluster("sn4700").with_(tenants=()))
    assert suitable(made) == suitable(without)
    paths = {file.path for file in render(made, ["all"]).files}
    assert {"slurm/tenants.conf", "kubernetes/05-tenants.yaml"} <= paths
