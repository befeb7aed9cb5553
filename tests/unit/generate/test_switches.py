"""Switches of every vendor are told the same: one plan, many spellings."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest

from weft.errors import SpecError
from weft.generate.plan import lossless, plan
from weft.generate.router import routers
from weft.generate.switch_system import switch_systems
from weft.generate.target import reason_against, render
from weft.network import network as resolver
from weft.spec.load import preset
from weft.spec.site import Site

SAMPLES = Path(__file__).parents[2] / "samples" / "generate"


def fabric(name: str, switch: str, hosts: int = 8):
    """Return a cluster of 8 NICs a host, whose leaves hold two hosts or a few more."""
    cluster = preset(name, hosts=hosts)
    return cluster.with_(
        name=f"{cluster.fabric.kind}-{switch.replace('_', '-')}",
        host=cluster.host.with_(nic="connectx7", nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(kind="fat_tree", switch=switch, oversubscription=2.0),
    )


TCP = fabric("h100_tcp_100g", "sn4700")
CASES = {
    "frr": TCP,
    "cumulus": fabric("hgx_h100_roce", "sn4700"),
    "eos": fabric("hgx_h100_roce", "arista_7060x6_32pe", hosts=12),
    "nxos": fabric("hgx_h100_roce", "cisco_n9364e_sg2", hosts=24),
    "junos": fabric("hgx_h100_roce", "juniper_qfx5240_64od", hosts=24),
}
"""A fabric of two tiers for every target of switches."""


def _texts(target: str, cluster=None):
    made = render(plan(cluster or CASES[target]), [target])
    return {file.path: file.text for file in made.files}


@pytest.mark.parametrize("target", CASES)
def test_a_leaf_and_a_spine_are_as_they_were_read(target):
    for path, text in _texts(target).items():
        if "-0" in path and not re.search("(leaf|spine)-0000", path):
            continue
        expected = SAMPLES / CASES[target].name / path
        if not expected.exists():
            expected.parent.mkdir(parents=True, exist_ok=True)
            expected.write_text(text, "utf-8")
            pytest.fail(f"{expected} was written: read it, then commit it")
        assert text == expected.read_text("utf-8"), path


@pytest.mark.parametrize("target", CASES)
def test_every_switch_has_the_as_number_and_the_router_id_of_the_plan(target):
    texts = _texts(target)
    made = plan(CASES[target]).underlay
    network = resolver.layout(CASES[target])
    for tier, count in enumerate((network.leaf, network.spine)):
        for number in range(count):
            name = f"{('leaf', 'spine')[tier]}-{number:04d}"
            whole = "\n".join(text for path, text in texts.items() if f"/{name}/" in path)
            count_before = tier * network.leaf + number
            assert str(made.asn(tier, number, 0)) in whole
            assert str(made.loopback(count_before)) in whole


@pytest.mark.parametrize("target", CASES)
def test_every_leaf_has_its_end_of_every_link_to_a_host(target):
    """Addresses below a leaf are those that the hosts are told to send to."""
    cluster = CASES[target]
    rails = _texts("linux_host", cluster)["linux_host/rails.tsv"].splitlines()[1:]
    gateways = {row.split("\t")[3] for row in rails}
    leaves = "\n".join(t for path, t in _texts(target).items() if "/leaf-" in path)
    found = set(re.findall(r"\b(\d+\.\d+\.\d+\.\d+)/31", leaves))
    assert found == gateways


LOSSLESS = ("cumulus", "eos", "nxos", "junos")
IN_BYTES = LOSSLESS[:3]
"""Junos marks by the fill of a queue's buffer in per cent."""
SAID = {
    "cumulus": {
        "dscp": r"dscp (\d+) switch-priority 3$",
        "priority": r"qos pfc default-global switch-priority (\d)$",
        "cnp_dscp": r"dscp (\d+) switch-priority 6$",
        "kmin": r"traffic-class 3 min-threshold (\d+)$",
        "kmax": r"traffic-class 3 max-threshold (\d+)$",
        "percent": r"traffic-class 3 probability (\d+)$",
        "weight": r"traffic-class 3 bw-percent (\d+)$",
        "poll": r"pfc-watchdog polling-interval (\d+)$",
        "mtu": r"link mtu (\d+)$",
        "paths": r"multipaths ebgp (\d+)$",
    },
    "eos": {
        "dscp": r"^qos map dscp (\d+) to traffic-class 3$",
        "priority": r"priority-flow-control priority (\d) no-drop$",
        "cnp_dscp": r"^qos map dscp (\d+) to traffic-class 6$",
        "kmin": r"ecn minimum-threshold (\d+) bytes",
        "kmax": r"maximum-threshold (\d+) bytes",
        "percent": r"max-mark-probability (\d+)",
        "weight": r"uc-tx-queue 3\n +bandwidth percent (\d+)$",
        "poll": r"polling-interval 0\.(\d+)",
        "mtu": r"mtu (\d+)$",
        "paths": r"maximum-paths \d+ ecmp (\d+)$",
    },
    "nxos": {
        "dscp": r"AI-RDMA\n +match dscp (\d+)$",
        "priority": r"pause pfc-cos (\d)$",
        "cnp_dscp": r"AI-CNP\n +match dscp (\d+)$",
        "kmin": r"random-detect minimum-threshold (\d+) bytes",
        "kmax": r"maximum-threshold (\d+) bytes",
        "percent": r"drop-probability (\d+) ",
        "weight": r"c-out-8q-q3\n +bandwidth remaining percent (\d+)$",
        "poll": r"watch-dog interval (\d+)$",
        "mtu": r"mtu (\d+)$",
        "paths": r"maximum-paths (\d+)$",
    },
}
"""How each vendor spells what the plan says once."""


@pytest.mark.parametrize("target", IN_BYTES)
def test_every_vendor_says_the_numbers_of_the_plan(target):
    cluster = CASES[target]
    cluster = cluster.with_(nccl=cluster.nccl.with_(env={"NCCL_IB_TC": "138"}))
    made = plan(cluster)
    on = switch_systems()["nvue" if target == "cumulus" else target]
    stop, marks = lossless(cluster, on)
    wanted = {
        "dscp": 34, "cnp_dscp": made.labels.cnp_dscp.value,
        "priority": made.labels.priority.value, "weight": made.labels.rdma_weight.value,
        "kmin": marks.kmin_bytes.value, "kmax": marks.kmax_bytes.value,
        "percent": round(100 * marks.pmax_ratio.number()),
        "poll": stop.watchdog_poll_ms.value,
        "mtu": made.link.switch_mtu_bytes.value, "paths": made.underlay.most_paths.value,
    }  # fmt: skip
    for path, text in _texts(target, cluster).items():
        found = {
            name: {int(one) for one in re.findall(pattern, text, re.MULTILINE)}
            for name, pattern in SAID[target].items()
        }
        assert found == {name: {value} for name, value in wanted.items()}, path


@pytest.mark.parametrize("target", LOSSLESS)
def test_no_vendor_says_anything_of_pause_for_a_lossy_fabric(target):
    cluster = CASES[target]
    lossy = cluster.with_(fabric=cluster.fabric.with_(kind="tcp"))
    for text in _texts(target, lossy).values():
        assert "pfc" not in text.lower()
        assert "priority-flow-control" not in text
        assert "dscp" not in text


@pytest.mark.parametrize("target", [*LOSSLESS, "frr"])
def test_every_cable_between_switches_is_named_by_both_ends(target):
    ends = set()
    for path, text in _texts(target).items():
        found = re.findall(
            r"(?:(?:interface )?(\S+)(?: description| ?{?\n +description)) ['\"]?"
            r"((?:leaf|spine)-\d+) ([^\s'\"]+)", text,
        )  # fmt: skip
        ends |= {(path.split("/")[1], port, peer, far) for port, peer, far in found}
    network = resolver.layout(CASES[target])
    assert len(ends) == 2 * network.leaf_spine_cables
    assert all((peer, far, here, port) in ends for here, port, peer, far in ends)


@pytest.mark.parametrize("target", LOSSLESS)
def test_a_switch_of_another_vendor_is_refused_by_name(target):
    other = fabric("hgx_h100_roce", "celestica_ds5000")
    assert "not those of celestica_ds5000" in reason_against(target, plan(other))


def test_beyond_100_m_nx_os_gets_pause_buffers_whose_arithmetic_closes():
    """Size = pause threshold + headroom; pausing begins above Kmax; all ports fit."""
    cluster = CASES["nxos"]
    far = cluster.with_(topology=cluster.topology.with_(cable_m=150.0))
    stop, _ = lossless(far, switch_systems()["nxos"])
    pattern = r"pause buffer-size (\d+) pause-threshold (\d+) resume-threshold (\d+)"
    assert "pause buffer-size" not in "".join(_texts("nxos", cluster).values())
    for text in _texts("nxos", far).values():
        size, pause, resume = map(int, re.search(pattern, text).groups())
        kmax = int(re.search(r"maximum-threshold (\d+) bytes", text)[1])
        assert resume < kmax < pause
        assert size == pause + stop.headroom_bytes.whole()
        assert "service-policy type queuing input AI-PAUSE" in text
        network = resolver.layout(far)
        assert network.radix * size <= network.site.switch.buffer_bytes.value


def test_pause_buffers_that_do_not_fit_are_refused():
    cluster = CASES["nxos"]
    far = cluster.with_(topology=cluster.topology.with_(cable_m=300.1))
    assert "shorten topology.cable_m" in reason_against("nxos", plan(far))


@pytest.mark.parametrize(("release", "said"), [
    ("5.14", ("ip address 100.64", "router bgp enable on", "qos roce enable on",
              "aspath-ignore on", "ecn enable\n")),
    ("5.15.0", ("ipv4 address 100.64", "router bgp state enabled", "qos roce state enabled",
                "aspath-ignore enabled", "ecn enabled\n")),
])  # fmt: skip
def test_nvue_is_spelt_for_the_named_release_which_the_file_states(release, said):
    cluster = CASES["cumulus"].with_(site=Site(release=release))
    for text in _texts("cumulus", cluster).values():
        assert f"for Cumulus Linux {release} " in text
        assert all(one in text for one in said)
        assert "qos roce cable-length" not in text


def test_a_release_of_nvue_without_the_watchdog_is_refused():
    cluster = CASES["cumulus"].with_(site=Site(release="5.5"))
    with pytest.raises(SpecError, match=r"5\.6 and later"):
        _texts("cumulus", cluster)


@pytest.mark.parametrize(("target", "pattern"), [
    ("cumulus", r"hash-seed (\d+)"), ("nxos", r"universal-id (\d+)"),
])  # fmt: skip
def test_leaves_and_spines_never_share_a_hash_seed(target, pattern):
    """One seed at both tiers leaves a spine with the flows that one leaf hashed to it."""
    seeds = {path: int(re.search(pattern, text)[1]) for path, text in _texts(target).items()}
    assert len(set(seeds.values())) == len(seeds) > 2


def test_tiers_of_sonic_have_roles_of_their_own_which_seed_their_hash():
    """orchagent seeds by the role (switch.json.j2): ToRRouter 0, LeafRouter 10, others 25."""
    cluster = fabric("hgx_h100_roce", "sn5600", hosts=24)
    roles = {}
    for path, text in _texts("sonic", cluster).items():
        role = json.loads(text)["DEVICE_METADATA"]["localhost"]["type"]
        roles.setdefault(path.split("/")[1].partition("-")[0], set()).add(role)
    assert roles == {"leaf": {"ToRRouter"}, "spine": {"LeafRouter"}}


def test_adaptive_routing_of_the_document_reaches_nvue_instead_of_a_seed():
    cluster = fabric("hgx_h100_roce", "sn5600", hosts=24)
    asked = cluster.with_(fabric=cluster.fabric.with_(load_balancing="adaptive"))
    text = _texts("cumulus", asked)["cumulus/leaf-0000/nvue.commands"]
    assert "nv set router adaptive-routing state enabled" in text
    assert "hash-seed" not in text


def test_the_mtu_is_the_most_that_the_vendors_switches_take():
    """EOS takes 9214 B on a routed port, the others 9216 B; a host's frame fits both."""
    for target, most in (("eos", 9214), ("nxos", 9216), ("cumulus", 9216)):
        link = plan(CASES[target]).link
        assert link.switch_mtu_bytes.whole() == most > link.host_mtu_bytes.whole()


def test_the_text_for_sonic_is_that_of_the_json_module():
    for text in _texts("sonic", fabric("hgx_h100_roce", "sn5600")).values():
        assert text == json.dumps(json.loads(text), indent=1) + "\n"


def _descriptions(cluster):
    for path, text in _texts("sonic", cluster).items():
        for port, row in json.loads(text)["PORT"].items():
            yield path.split("/")[1], port, *row["description"].split()


def test_every_plane_of_every_nic_has_a_port_and_planes_do_not_meet():
    """Two planes: each NIC twice, on different leaves, and no cable from one to the other."""
    cluster = preset("hgx_h100_roce", hosts=256)
    cluster = cluster.with_(topology=cluster.topology.with_(kind="multi_plane", planes=2))
    ends = list(_descriptions(cluster))
    nics = [(peer, far) for _, _, peer, far in ends if peer.startswith("host")]
    assert len(set(nics)) == len(nics) == 256 * 8 * 2
    plane = {here: far[-1] for here, _, peer, far in ends if peer.startswith("host")}
    reached = {(plane[here], peer) for here, _, peer, _ in ends if peer.startswith("spine")}
    assert len(reached) == len({peer for _, peer in reached}) > 0


def test_groups_tell_one_another_their_own_routes_alone():
    cluster = preset("hgx_h100_roce", hosts=64)
    grouped = cluster.with_(
        topology=cluster.topology.with_(kind="dragonfly_plus", hosts_per_pod=16)
    )
    assert plan(cluster).underlay.between_groups is None
    assert plan(grouped).underlay.between_groups is not None
    for path, text in _texts("sonic", grouped).items():
        tables = json.loads(text)
        across = {
            port.partition("|")[2]
            for port, row in tables["BGP_NEIGHBOR"].items()
            if row["peer_group_name"] == "ACROSS"
        }
        to_spines = {
            port
            for port, row in tables["PORT"].items()
            if row["description"].startswith("spine") and "/spine" in path
        }
        assert across == to_spines
        told = tables["BGP_PEER_GROUP_AF"].get("default|ACROSS|ipv4_unicast", {})
        assert bool(told.get("route_map_out")) == ("/spine" in path)


def _tree(text):
    """Read Junos' braces into nested lists of statements; fails on what is not closed."""
    text = re.sub(r"/\*.*?\*/", "", text)
    top, waiting, words = [], [], []
    here = top
    for word in re.findall(r'"[^"]*"|[{};]|[^\s{};"]+', text):
        if word == "{":
            inner = []
            here.append((" ".join(words), inner))
            waiting.append(here)
            here, words = inner, []
        elif word == "}":
            assert not words, f"{words} has no end"
            here = waiting.pop()
        elif word == ";":
            here.append((" ".join(words), None))
            words = []
        else:
            words.append(word)
    assert not waiting
    assert not words
    return top


def _at(tree, *path):
    """Return what stands below a path of statements."""
    for name in path:
        found = [inner for key, inner in tree if key == name]
        assert len(found) == 1, f"{name}: {len(found)} times"
        tree = found[0]
    return tree


@pytest.mark.parametrize("site", [None, Site(snmp_user="monitor")])
def test_junos_closes_what_it_opens_and_names_only_what_is_defined(site):
    made = plan(CASES["junos"].with_(site=site))
    for text in _texts("junos", CASES["junos"].with_(site=site)).values():
        tree = _tree(text)
        quality = _at(tree, "class-of-service")
        classes = {key.split()[1] for key, _ in _at(quality, "forwarding-classes")}
        classes |= {"best-effort", "network-control"}  # of Junos itself
        schedulers = {key for key, _ in _at(quality, "schedulers")}
        used = [key.split() for key, _ in _at(quality, "scheduler-maps", "AI")]
        assert {words[1] for words in used} == classes
        assert {words[3] for words in used} == schedulers
        marked = {key for key, _ in _at(quality, "schedulers", "NO-LOSS")}
        assert "explicit-congestion-notification" in marked
        group = _at(tree, "protocols", "bgp", "group FABRIC")
        policies = {key.split()[-1] for key, _ in _at(tree, "policy-options")}
        for key, _ in group:
            if key.split()[0] in {"import", "export", "peer-as-list"}:
                assert key.split()[1] in policies
        interfaces = {key for key, _ in _at(tree, "interfaces")}
        found = _at(group, "dynamic-neighbor FABRIC", "peer-auto-discovery")
        peers = {key.split()[1] for key, _ in found if key.startswith("interface ")}
        assert {f"{one}.0" for one in interfaces} >= peers
        assert len(peers) in {len(router.fabric) for router in routers(made)}
        assert {key for key, _ in _at(quality, "interfaces")} <= interfaces


def test_junos_classifies_every_dscp_once_and_pauses_by_that_of_rdma():
    made = plan(CASES["junos"])
    for text in _texts("junos").values():
        quality = _at(_tree(text), "class-of-service")
        said = {name.split()[1]: re.findall(r"[01]{6}", rows[0][0])
                for name, rows in _at(quality, "classifiers", "dscp AI")}  # fmt: skip
        assert said["NO-LOSS"] == [f"{made.labels.dscp.whole():06b}"]
        assert said["CNP"] == [f"{made.labels.cnp_dscp.whole():06b}"]
        assert sorted(chain.from_iterable(said.values())) == [
            f"{dscp:06b}" for dscp in range(64)
        ]
        profile = _at(quality, "congestion-notification-profile", "AI")
        assert _at(profile, "input", "dscp")[0][0] == f"code-point {said['NO-LOSS'][0]}"
        queue = _at(profile, "output", "ieee-802.1", "code-point 011")[0][0].split()[1]
        assert f"class NO-LOSS queue-num {queue} no-loss pfc-priority 3" in text


def test_frr_is_for_routing_alone():
    assert "lossless" in reason_against("frr", plan(preset("hgx_h100_roce", hosts=8)))
    assert "an Ethernet underlay" in reason_against("frr", plan(preset("dgx_h100", hosts=8)))
