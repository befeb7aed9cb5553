"""Arista's own schema and renderer (PyAVD) make of the plan what weft writes, line by line."""

import pytest

from weft.generate.plan import plan
from weft.generate.router import cages, routers
from weft.generate.target import render
from weft.spec.cluster import Tenant
from weft.spec.load import preset
from weft.spec.site import Aaa, Site

pyavd = pytest.importorskip(
    "pyavd", reason="pyavd is not installed; run scripts/tools.sh", exc_type=ImportError
)

pytestmark = [pytest.mark.tool, pytest.mark.slow]

NOT_OURS = ("!RANCID", "transceiver qsfp default-mode", "no enable password", "no aaa root")
"""Lines that PyAVD adds to a whole configuration; weft's is merged into the site's own."""


def _cluster(name: str, switch: str, hosts: int, **changes):
    cluster = preset(name, hosts=hosts)
    topology = cluster.topology.with_(switch=switch, kind="fat_tree", **changes)
    return cluster.with_(topology=topology)


CLUSTERS = {
    "lossless, two tiers, split cages": _cluster(
        "hgx_h100_roce", "arista_7060x6_64pe", 20, oversubscription=2.0
    ),
    "lossless, one lane rate below": _cluster("hgx_h100_roce", "arista_7060dx5_64s", 12),
    "lossy": _cluster("h100_tcp_100g", "arista_7060dx5_64s", 200).with_(
        host=preset("h100_tcp_100g").host.with_(nic="connectx7", nic_bytes_per_s=50e9)
    ),
}


CLUSTERS["lossless, two tenants on one leaf"] = CLUSTERS[
    "lossless, two tiers, split cages"
].with_(tenants=(Tenant(name="blue", hosts=5), Tenant(name="red", hosts=12)))


def _name(held, number):
    cage, place = divmod(number, held.split)
    return f"Ethernet{cage + 1}/{1 + place * (8 // held.split)}"


def _structured(made, router):
    """Say the plan in the words of AVD's schema."""
    said = {
        "hostname": router.name, "service_routing_protocols_model": "multi-agent",
        "ipv6_unicast_routing": True, "ip_routing_ipv6_interfaces": True,
        "ethernet_interfaces": _interfaces(made, router),
        "loopback_interfaces": [
            {"name": "Loopback0", "ip_address": f"{router.loopback}/32"}
        ],
        "prefix_lists": [{"name": "OWN", "sequence_numbers": [
            {"sequence": 5, "action": f"permit {made.underlay.loopbacks.text()} ge 32"},
            {"sequence": 10, "action": f"permit {made.underlay.pool.text()} ge 31"},
        ]}],
        "route_maps": [{"name": "OWN", "sequence_numbers": [
            {"sequence": 10, "type": "permit", "match": ["ip address prefix-list OWN"]},
        ]}],
        "router_bgp": _bgp(made, router),
    }  # fmt: skip
    if router.tenants:
        said["vrfs"] = [{"name": name, "ip_routing": True} for name, _ in router.tenants]
    return said | (_lossless(made) if made.labels else {})


def _interfaces(made, router):
    held = cages(made)
    speeds = {"arista_7060x6_64pe": "400g-4", "arista_7060dx5_64s": "400g-8"}
    links = {one.port.number: one for one in router.hosts}
    found = []
    for port in router.switch.ports:
        one = {
            "name": _name(held, port.number), "type": "routed", "mtu": 9214,
            "speed": speeds[made.cluster.topology.switch],
            "error_correction_encoding": {"reed_solomon": True},
        }  # fmt: skip
        if port.number in links:
            one["ip_address"] = f"{links[port.number].address}/31"
            one["description"] = f"{port.peer} mlx5_{port.peer_port}"
        else:
            one["ipv6_enable"] = True
            one["description"] = f"{port.peer} {_name(held, port.peer_port)}"
        if made.labels:
            one["service_profile"] = "AI"
        if port.number in links and links[port.number].tenant:
            one["vrf"] = links[port.number].tenant
        found.append(one)
    return found + [_inside(made, one, vrf) for vrf in router.vrfs()[1:] for one in vrf.fabric]


def _inside(made, link, vrf):
    """Say a tenant's sub-interface."""
    held = cages(made)
    return {
        "name": f"{_name(held, link.port.number)}.{vrf.tag}", "mtu": 9214, "vrf": vrf.name,
        "description": f"{link.port.peer} {_name(held, link.port.peer_port)}",
        "type": "l3dot1q", "encapsulation_dot1q_vlan": vrf.tag,
        "ip_address": f"{link.address}/31",
    }  # fmt: skip


def _vrf_bgp(router, vrf):
    said = {
        "name": vrf.name, "router_id": str(router.loopback),
        "redistribute_routes": [{"source_protocol": "connected", "route_map": "OWN"}],
    }  # fmt: skip
    if vrf.block:
        said["aggregate_addresses"] = [{"prefix": str(vrf.block), "summary_only": True}]
    if vrf.fabric:
        said["neighbors"] = [
            {"ip_address": str(one.peer_address), "peer_group": "FABRIC",
             "remote_as": str(one.peer_asn)}
            for one in vrf.fabric
        ]  # fmt: skip
        said["address_family_ipv4"] = {"neighbors": [
            {"ip_address": str(one.peer_address), "activate": True} for one in vrf.fabric
        ]}  # fmt: skip
    return said


def _bgp(made, router):
    paths = made.underlay.most_paths.whole()
    said = {
        "as": str(router.asn), "router_id": str(router.loopback),
        "maximum_paths": {"paths": paths, "ecmp": paths},
        "bgp": {"default": {"ipv4_unicast": False}},
        "redistribute_routes": [{"source_protocol": "connected", "route_map": "OWN"}],
    }  # fmt: skip
    default, *tenants = router.vrfs()
    if default.block:
        said["aggregate_addresses"] = [{"prefix": str(default.block), "summary_only": True}]
    if tenants:
        said["vrfs"] = [_vrf_bgp(router, vrf) for vrf in tenants]
    if router.fabric:
        said["peer_groups"] = [{"name": "FABRIC", "timers": "3 9"}]
        said["neighbor_interfaces"] = [
            {
                "name": _name(cages(made), one.port.number), "peer_group": "FABRIC",
                "remote_as": str(one.peer_asn),
            }
            for one in router.fabric
        ]  # fmt: skip
        said["address_family_ipv4"] = {"peer_groups": [{
            "name": "FABRIC", "activate": True,
            "next_hop": {"address_family_ipv6": {"enabled": True, "originate": True}},
        }]}  # fmt: skip
    return said


def _lossless(made):
    others = " ".join(str(dscp) for dscp in range(64) if dscp not in {26, 48})
    ecn = {
        "units": "bytes", "min": made.marking.kmin_bytes.whole(),
        "max": made.marking.kmax_bytes.whole(), "max_probability": 100, "weight": 0,
    }  # fmt: skip
    weight = made.labels.rdma_weight.whole()
    seconds = made.pause.watchdog_detection_ms.whole() / 1000
    return {
        "qos": {"map": {
            "dscp": [f"{others} to traffic-class 0", "26 to traffic-class 3",
                     "48 to traffic-class 6"],
            "traffic_class": ["0 to tx-queue 0", "3 to tx-queue 3", "6 to tx-queue 6"],
        }},
        "qos_profiles": [{
            "name": "AI", "trust": "dscp",
            "priority_flow_control": {
                "enabled": True, "priorities": [{"priority": 3, "no_drop": True}],
                "watchdog": {"enabled": True, "action": "drop", "timer": {
                    "timeout": f"{seconds:.2f}", "recovery_time": f"{seconds:.2f}",
                    "polling_interval": "0.100",
                }},
            },
            "uc_tx_queues": [
                {"id": 0, "bandwidth_percent": 100 - weight, "priority": "no priority"},
                {"id": 3, "bandwidth_percent": weight, "priority": "no priority",
                 "random_detect": {"ecn": {"count": False, "threshold": ecn}}},
                {"id": 6, "priority": "priority strict"},
            ],
        }],
    }  # fmt: skip


def _stanzas(text):
    """Return the stanzas of a configuration, without comments and what is not ours."""
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith(("! ", *NOT_OURS)) and line.strip() not in {"", "end"}
    ]
    return [part for part in ("\n".join(lines) + "\n").split("!\n") if part.strip()]


@pytest.mark.parametrize("case", CLUSTERS)
@pytest.mark.proves(
    "eos",
    effect="the text is what Arista's renderer makes of the same plan",
    tool="pyavd",
)
def test_the_text_is_what_arista_writes_for_the_same_plan(case):
    made = plan(CLUSTERS[case])
    texts = {file.path: file.text for file in render(made, ["eos"]).files}
    known = list(routers(made))
    for router in (known[0], known[-1]):
        said = _structured(made, router)
        judged = pyavd.validate_structured_config(said)
        assert not judged.failed, [str(one) for one in judged.validation_errors]
        ours = _stanzas(texts[f"eos/{router.name}/eos.conf"])
        assert ours == _stanzas(pyavd.get_device_config(said)), router.name


SITE = Site(
    management_prefix="192.0.2.0/24", ntp=("192.0.2.3",), syslog=("192.0.2.5",),
    aaa=Aaa(servers=("192.0.2.6",)), snmp_user="monitor", gnmi_port=9339,
    maintenance=("spine-0000",),
)  # fmt: skip


def _around(router):
    """Say the site of the first spine in the words of AVD's schema."""
    auth, priv = "FILL_IN_SNMP_AUTH_SECRET", "FILL_IN_SNMP_PRIV_SECRET"
    return {
        "hostname": router.name,
        "vrfs": [{"name": "MGMT", "ip_routing": False}],
        "management_interfaces": [{"name": "Management1", "vrf": "MGMT",
                                   "ip_address": f"192.0.2.{11 + router.switch.count}/24"}],
        "static_routes": [{"vrf": "MGMT", "destination_address_prefix": "0.0.0.0/0",
                           "gateway": "192.0.2.1"}],
        "ntp": {"servers": [{"name": "192.0.2.3", "vrf": "MGMT", "iburst": True}]},
        "logging": {"vrfs": [{"name": "MGMT", "hosts": [{"name": "192.0.2.5"}]}]},
        "tacacs_servers": {"hosts": [{"host": "192.0.2.6", "vrf": "MGMT", "key_type": "0",
                                      "key": "FILL_IN_TACACS_SECRET"}]},
        "aaa_server_groups": [{"name": "SITE", "type": "tacacs+",
                               "servers": [{"server": "192.0.2.6", "vrf": "MGMT"}]}],
        "aaa_authentication": {"login": {"default": "group SITE local"}},
        "aaa_authorization": {"exec": {"default": "group SITE local"}},
        "aaa_accounting": {"exec": {"default": {
            "type": "start-stop", "group": "SITE"}}},
        "snmp_server": {
            "groups": [{"name": "SITE", "version": "v3", "authentication": "priv"}],
            "users": [{"name": "monitor", "group": "SITE", "version": "v3", "auth": "sha",
                       "auth_passphrase": auth, "priv": "aes", "priv_passphrase": priv}],
            "vrfs": [{"name": "MGMT", "enable": True}],
        },
        "management_api_gnmi": {"transport": {"grpc": [
            {"name": "default", "port": 9339, "vrf": "MGMT"}]}},
        "maintenance": {"units": [{"name": "System", "quiesce": True}]},
        "banners": {"login": f"{SITE.banner}\nEOF"},
        "router_bfd": {"interval": 300, "min_rx": 300, "multiplier": 3},
        "router_bgp": {"as": str(router.asn),
                       "peer_groups": [{"name": "FABRIC", "bfd": True}]},
    }  # fmt: skip


NO_MODEL = {"unit System", "quiesce", "dcbx mode ieee"}
"""Lines that AVD has no key for."""


@pytest.mark.proves(
    "eos",
    effect="every line of the site is one that Arista's renderer writes",
    tool="pyavd",
)
def test_every_line_of_the_site_is_one_that_arista_writes():
    made = plan(CLUSTERS["lossless, two tiers, split cages"].with_(site=SITE))
    router = next(one for one in routers(made) if one.name == "spine-0000")
    text = next(f.text for f in render(made, ["eos"]).files if "spine-0000" in f.path)
    without = plan(CLUSTERS["lossless, two tiers, split cages"])
    before = next(f.text for f in render(without, ["eos"]).files if "spine-0000" in f.path)
    said = _around(router)
    judged = pyavd.validate_structured_config(said)
    assert not judged.failed, [str(one) for one in judged.validation_errors]
    known = {line.strip() for line in pyavd.get_device_config(said).splitlines()}
    added = {one.strip() for one in text.splitlines() if not one.startswith("! ")}
    added -= {one.strip() for one in before.splitlines()}
    assert len(added) > 20
    assert added - known - NO_MODEL == set()


FAULTS = {
    "a priority above 7": ("qos_profiles", 0, "priority_flow_control", "priorities", 0,
                           "priority", 9),
    "an action that is none": ("qos_profiles", 0, "priority_flow_control", "watchdog",
                               "action", "explode"),
    "an MTU that is none": ("ethernet_interfaces", 0, "mtu", "jumbo"),
    "an unknown key": ("router_bgp", "paths", 4),
    "more paths than there can be": ("router_bgp", "maximum_paths", "paths", 9999),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_the_schema_sees_a_planted_fault(fault):
    made = plan(CLUSTERS["lossless, two tiers, split cages"])
    said = _structured(made, next(routers(made)))
    *way, last, value = FAULTS[fault]
    place = said
    for key in way:
        place = place[key]
    place[last] = value
    assert pyavd.validate_structured_config(said).failed
