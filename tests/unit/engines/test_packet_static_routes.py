"""Static routes: every packet goes where the tables say, whatever else is in the network."""

from pathlib import Path

import numpy as np
import pytest

from forwarding_text import loads_of, table_text, two_tiers
from possible_deadlocks import possible_deadlock
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import simulate
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.errors import SpecError
from weft.predict.simulate import simulate as simulate_scenario
from weft.spec.load import load_cluster, load_scenario

EXAMPLE = Path(__file__).parents[3] / "examples/scenarios/static-routes.yaml"
HOSTS = 34
MIB = 1 << 20
PERMUTATION = {"permutation": {"size_bytes": "256KiB"}}


@pytest.fixture
def scenario(tmp_path):
    def made(*traffic, uplink=lambda leaf, host: 3 * host + leaf, host=None, **more):
        cluster = two_tiers(HOSTS, **(host or {}))
        (tmp_path / "tables").write_text(table_text(cluster, uplink))
        network = {"balancing": "static", "routes": str(tmp_path / "tables")}
        return load_scenario(
            {
                "cluster": {
                    "preset": "dgx_h100", "hosts": HOSTS,
                    "host": {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1},
                             **(host or {})},
                    "topology": {"kind": "leaf_spine", "switch_ports": 32},
                },
                "traffic": list(traffic or [PERMUTATION]),
                "network": {**network, **more},
            }
        )  # fmt: skip

    return made


def run(spec, seed=1):
    fabric = scenario_fabric(spec)
    schedule = compile_traffic(fabric, spec, seed)
    routes = routes_of(schedule, fabric)
    outcome = simulate(schedule.wiring, schedule.flows, options_of(spec, seed), routes=routes)
    assert (outcome.end_ps >= 0).all()
    return fabric, schedule, routes, outcome


def on_the_wire(spec, fabric, schedule, only=slice(None)):
    """Return the bytes of every link of the graph when each flow follows the tables."""
    options, flows = options_of(spec, 1), schedule.flows
    packets = -(-flows.size_bytes // options.mtu_bytes)
    size = flows.size_bytes + packets * options.header_bytes
    lanes = fabric.lanes
    ends = flows.source // lanes, flows.target // lanes
    picked = np.arange(len(size))[only]
    rows = [(int(ends[0][n]), int(ends[1][n]), int(size[n])) for n in picked]
    found = loads_of(spec.cluster, fabric.forwarding.links, rows)
    return [found.get(link, 0) for link in range(fabric.graph.links)]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_bytes_of_every_link_are_those_of_the_flows_that_the_tables_send_there(
    scenario, seed
):
    spec = scenario()
    fabric, schedule, _, outcome = run(spec, seed)
    assert outcome.links.sent_bytes.tolist() == on_the_wire(spec, fabric, schedule)


def test_one_uplink_for_all_carries_all(scenario):
    """Sixteen hosts of a leaf over one of its uplinks wait for fifteen others' bytes."""
    pairs = [{"source": h, "target": 16 + h, "size_bytes": "1MiB"} for h in range(16)]
    flows = {"flows": {"flows": pairs}}
    *_, spread = run(scenario(flows, uplink=lambda _, host: host))
    spec = scenario(flows, uplink=lambda *_: 5)
    fabric, schedule, _, piled = run(spec)
    busiest = max(on_the_wire(spec, fabric, schedule))
    others_ps = busiest * 15 / 16 / fabric.wiring.bytes_per_s[0] * 1e12
    assert piled.completion_ps - spread.completion_ps == pytest.approx(others_ps, rel=1e-3)


def test_nics_behind_pcie_and_gaps_follow_them_too(scenario):
    gather = {"collective": {"operation": "all_gather", "size_bytes": "4MiB", "repeat": 2,
                             "gap_s": "5us"}}  # fmt: skip
    spec = scenario(gather, host={"pcie_bytes_per_s": "16GB/s"})
    fabric, schedule, _, outcome = run(spec)
    assert fabric.inside is not None
    assert not schedule.real.all()
    sent = outcome.links.sent_bytes[: fabric.graph.links].tolist()
    assert sent == on_the_wire(spec, fabric, schedule, schedule.real)


def test_switches_that_reduce_keep_their_shortest_routes(scenario):
    reduce = {"collective": {"operation": "all_reduce", "size_bytes": "1MiB",
                             "algorithm": "collnet"}}  # fmt: skip
    spec = scenario(reduce)
    free = spec.with_(network=spec.network.with_(balancing="ecmp"))
    (*_, tables), (*_, shortest) = run(spec), run(free)
    assert tables.completion_ps == shortest.completion_ps


def test_up_and_down_tables_have_no_cyclic_dependency(scenario):
    _, schedule, routes, _ = run(scenario())
    assert possible_deadlock(schedule.wiring, routes) == ()


def test_the_result_names_the_tables_and_not_where_they_lie(scenario, tmp_path):
    spec = scenario()
    first = simulate_scenario(spec)
    said = [line for line in first.provenance.assumptions if "tables" in line]
    assert said[0].startswith("every packet goes where the tables of tables say (")
    (tmp_path / "moved").mkdir()
    moved = (tmp_path / "tables").rename(tmp_path / "moved" / "tables")
    again = simulate_scenario(spec.with_(network=spec.network.with_(routes=(str(moved),))))
    assert again.provenance.spec_sha256 == first.provenance.spec_sha256
    text = moved.read_text().replace("# by hand", "# by hand, again")
    moved.write_text(text)
    other = simulate_scenario(spec.with_(network=spec.network.with_(routes=(str(moved),))))
    assert other.provenance.spec_sha256 != first.provenance.spec_sha256


def test_traffic_alone_follows_them_as_well(scenario):
    """Or else the ratio beside others would compare two networks."""
    spec = scenario(
        {"flows": {"flows": [{"source": 0, "target": 17, "size_bytes": "1MiB"},
                             {"source": 1, "target": 18, "size_bytes": "1MiB"}]}},
        {"flows": {"flows": [{"source": 20, "target": 21, "size_bytes": "4KiB"}]}},
        uplink=lambda *_: 0,
    ).with_(alone=True)  # fmt: skip
    found = simulate_scenario(spec)
    assert found.jobs[0].slowdown_ratio.p50 == pytest.approx(1.0)


def test_tables_of_ftree_keep_a_shift_apart_and_not_a_random_permutation():
    found = {}
    for balancing in ("static", "adaptive", "ecmp"):
        sets = [f"network.balancing={balancing}", "seeds=[1]"]
        shift, scattered = simulate_scenario(load_scenario(EXAMPLE, sets)).traffic
        found[balancing] = shift.slowdown_ratio.largest, scattered.slowdown_ratio.largest
    assert found["static"][0] == pytest.approx(1, abs=1e-3)
    assert found["static"][1] > 1.9
    assert max(found["adaptive"]) < 1.05
    assert min(found["ecmp"]) > 1.9


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"balancing": "static"}, r"network\.balancing: value 'static': needs tables; write"),
        ({"routes": "a.dump"}, r"network\.routes: names tables that nothing follows"),
        (
            {"balancing": "static", "routes": "a", "classes": [{"name": "x"},
             {"name": "y", "balancing": "spray"}]},
            r"network\.classes\.1\.balancing: value 'spray': all classes follow",
        ),
        (
            {"classes": [{"name": "x", "balancing": "static"}]},
            r"classes\.0\.balancing: value 'static': all classes follow",
        ),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_followed_are_refused(network, said):
    with pytest.raises(SpecError, match=said):
        load_scenario({"cluster": "dgx_h100", "traffic": [PERMUTATION], "network": network})


def test_settings_of_a_cluster_name_no_tables(tmp_path):
    """They serve parts of it too, where the tables of the whole would not hold."""
    (tmp_path / "s.yaml").write_text(
        "apiVersion: weft/v1\nkind: NetworkSettings\n"
        "spec: {balancing: static, routes: a.dump}\n"
    )
    with pytest.raises(SpecError, match="needs tables of the whole cluster"):
        load_cluster({"preset": "dgx_h100", "fabric": {"settings": str(tmp_path / "s.yaml")}})


def test_paths_are_found_from_the_file_that_names_them(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "apiVersion: weft/v1\nkind: Scenario\nspec:\n  cluster: dgx_h100\n"
        "  traffic: [{permutation: {size_bytes: 1MiB}}]\n"
        "  network: {balancing: static, routes: [a.dump, below/b.dump]}\n"
    )
    found = load_scenario(tmp_path / "s.yaml").network.routes
    assert found == (str(tmp_path / "a.dump"), str(tmp_path / "below" / "b.dump"))
    spread = load_scenario(tmp_path / "s.yaml", ["network.balancing=spray"])
    assert spread.network.balancing == "spray"


ONE = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}


def by_destination(hosts, traffic, host=None, kind="leaf_spine", **more):
    """Static routes with no tables: destinations dealt out over the links."""
    return load_scenario(
        {
            "cluster": {
                "preset": "dgx_h100", "hosts": hosts, "host": ONE if host is None else host,
                "topology": {"kind": kind, "switch_ports": 32},
                "fabric": {"kind": "infiniband", "load_balancing": "static"},
            },
            "traffic": [traffic],
            **more,
        }
    )  # fmt: skip


@pytest.mark.parametrize(("hosts", "kind"), [(64, "leaf_spine"), (1024, "fat_tree")])
def test_routes_by_destination_carry_a_shift_without_meeting(hosts, kind):
    """D-mod-K leaves shifts of a full fat tree free of contention, in two tiers and three."""
    shift = {"permutation": {"size_bytes": "256KiB", "pattern": "shift"}}
    static = by_destination(hosts, shift, kind=kind)
    slowdown = simulate_scenario(static).traffic[0].slowdown_ratio
    assert slowdown.largest < 1.01
    hashed = by_destination(hosts, shift, kind=kind, network={"balancing": "ecmp"})
    assert simulate_scenario(hashed).traffic[0].slowdown_ratio.largest > 1.9


def test_all_connections_of_a_pair_take_the_one_way_of_their_destination():
    """Two senders of one leaf to ports whose numbers differ by K share an uplink for good."""
    flows = [{"source": n, "target": 16 + 16 * n, "size_bytes": "1MiB"} for n in range(2)]
    found = by_destination(64, {"flows": {"flows": flows}}, network={"queue_pairs": 8})
    result = simulate_scenario(found)
    assert result.settings["balancing"] == "static"
    assert any("the one way of its destination" in a for a in result.provenance.assumptions)
    both = 2 * MIB * (1 + 26 / 4096) / 50e9
    assert both < result.traffic[0].completion_s.value < both + 5e-6


def test_routes_by_destination_lead_everywhere_on_rails_and_planes():
    host = {"nics": 8}
    for more in ({}, {"planes": 2}):
        spec = load_scenario(
            {
                "cluster": {
                    "preset": "dgx_h100", "hosts": 40, "host": host,
                    "topology": {"switch_ports": 32, **more},
                    "fabric": {"kind": "infiniband", "load_balancing": "static"},
                },
                "traffic": [{"permutation": {"size_bytes": "64KiB"}}],
            }
        )  # fmt: skip
        assert simulate_scenario(spec).complete


def test_routes_by_destination_are_those_that_opensm_programmed_for_the_same_tree():
    """The tables of ftree in the examples, and none: every flow takes as long."""
    tables = load_scenario(EXAMPLE, ["seeds=[1,2]"])
    fabric = tables.cluster.fabric.with_(load_balancing="static")
    none = tables.with_(
        cluster=tables.cluster.with_(fabric=fabric),
        network=tables.network.with_(balancing=None, routes=()),
    )
    assert simulate_scenario(none).traffic == simulate_scenario(tables).traffic
