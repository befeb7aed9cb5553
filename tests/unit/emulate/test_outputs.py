"""Every format that is emulated, read back: parse(emulate(x)) = x."""

from types import MappingProxyType

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict
from weft.emulate.bundle import BETWEEN_S, emulate, files, write
from weft.emulate.fields import Fields
from weft.emulate.ordinary import counted, ordinary
from weft.emulate.outputs import extras, forms
from weft.emulate.switches import PORT_NAMES, leaves, of_port
from weft.errors import SpecError
from weft.generate.plan import plan
from weft.inventory.entity import Entity
from weft.monitor.sample import Host as Root
from weft.monitor.sample import sampled
from weft.readers.read import read
from weft.spec.load import preset

CLUSTERS = {
    "infiniband": preset("dgx_h100", hosts=64), "roce": preset("hgx_h100_roce", hosts=64),
}  # fmt: skip
FAULTS = MappingProxyType({
    "infiniband": ("port-down", "port-half", "link-flap", "symbol-errors"),
    "roce": ("port-down", "port-half", "link-flap", "pause-storm", "packet-loss", "crc-errors"),
})  # fmt: skip
SPEED = 26.5625e9 / 2
"""Of a lane of NDR in bytes/s: 106.25 Gb/s with the coding of the link."""


def _read(kind, folder, *asked, seed=2):
    state = emulate(plan(CLUSTERS[kind]), FAULTS[kind], seed=seed, events=ordinary())
    write(state, folder / "bundle", asked=asked)
    inventory = read(folder / "bundle")
    assert not [one for one in inventory.files if one.notes or one.skipped]
    # Of files of the kernel some tell only what a part is, as board_id does.
    assert all(one.matched or "/sys/" in one.file for one in inventory.files)
    return state, inventory


def _grown(state, host, part, path):
    first, last = (
        counted(state.events, host, part, path, since_s=state.since_s, at_s=at_s)
        for at_s in (0, BETWEEN_S)
    )
    return last - first


@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize("asked", [(), ("sysfs",)])
def test_counters_of_hosts_grow_as_those_of_the_state(kind, asked, tmp_path):
    state, inventory = _read(kind, tmp_path, *asked)
    paths = ["port.link_downed", "port.symbol_errors", "port.rcv_errors"]
    if kind == "roce":
        paths += ["port.packet_seq_err", "port.cnp_handled", "interface.crc_errors",
                  "interface.rx_discards", "priority.rx_pause"]  # fmt: skip
    for host in state.hosts:
        for rail in host.rails:
            key = {"port": (rail.device, "1"), "interface": (f"rail{rail.number}",),
                   "priority": (f"rail{rail.number}", "3")}  # fmt: skip
            for path in paths:
                owner, _, name = path.partition(".")
                entity = Entity(owner, (host.name, *key[owner]))
                assert inventory.increase(entity, name) == _grown(state, host, rail, path), path


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_files_of_the_kernel_are_read_by_the_monitor_too(kind, tmp_path):
    state, _ = _read(kind, tmp_path, "sysfs")
    for host in state.hosts:
        seen = sampled(Root(root=tmp_path / "bundle" / "hosts" / host.name, commands=False))
        for rail in host.rails:
            port = Entity("port", ("", rail.device, "1"))
            up = rail.values["port.state"] == "active"
            assert seen.value(port, "state") == rail.values["port.state"]
            assert seen.value(port, "rate") == (
                50e9 * rail.values["port.rate_ratio"] if up else 1.25e9
            )


@pytest.mark.parametrize("asked", ["", "lldp-json"])
def test_neighbours_of_hosts_are_the_ports_of_their_leaves(asked, tmp_path):
    state, inventory = _read("roce", tmp_path, *filter(None, [asked]))
    for leaf in leaves(state):
        for port in leaf.ports:
            host = state.host(port.host) if port.host is not None else None
            if host is None:
                continue
            entity = Entity("interface", (host.name, f"rail{port.peer_port}"))
            assert inventory.value(entity, "neighbor") == leaf.name
            expected = of_port(state, port, "sonic", 0)["name"]
            assert {one.value for one in inventory.all(entity, "neighbor_port")} == {expected}


@pytest.mark.parametrize("dialect", PORT_NAMES)
def test_tables_of_switches_show_the_other_end_of_each_cable(dialect, tmp_path):
    state, inventory = _read("roce", tmp_path, dialect)
    for leaf in leaves(state):
        for port in leaf.ports:
            said = of_port(state, port, dialect, 0)
            entity = Entity("switch_port", (leaf.name, said["name"]))
            assert inventory.value(entity, "state") == said["interface.state"]
            if not said["up"]:
                continue
            assert inventory.value(entity, "rate") == float(said["rate"]) * 125e6
            assert inventory.value(entity, "peer") == port.peer
            assert inventory.value(entity, "peer_port") == said["peer_port"]
            host = state.host(port.host) if port.host is not None else None
            if host is not None and dialect == "sonic":
                queue = Entity("queue", (leaf.name, said["name"], "3"))
                part = host.rails[port.peer_port]
                grown = _grown(state, host, part, "priority.rx_pause")
                assert inventory.increase(queue, "tx_pause") == grown
            if host is not None and dialect == "eos":
                part = host.rails[port.peer_port]
                grown = _grown(state, host, part, "priority.rx_pause")
                assert inventory.increase(entity, "tx_pause") == grown


def test_the_subnet_has_every_cable_that_is_up(tmp_path):
    state, inventory = _read("infiniband", tmp_path, "subnet")
    lit = dark = narrow = 0
    for leaf in leaves(state):
        for port in leaf.ports:
            part = (
                state.part(port.host, port.peer_port)
                if port.host is not None
                else state.spare(0)
            )
            entity = Entity("switch_port", (leaf.name, str(port.number + 1)))
            up = part.values["port.state"] == "active"
            assert inventory.value(entity, "state") == ("active" if up else "down")
            dark += not up
            if up:
                lit += 1
                assert inventory.value(entity, "width") == 4 * part.values["port.rate_ratio"]
                assert inventory.value(entity, "speed") == SPEED
                narrow += part.values["port.rate_ratio"] < 1
    assert (dark, narrow) == (1, 1)
    assert lit > 100


@pytest.mark.parametrize(
    ("kind", "system"), [("infiniband", "subnet"), *(("roce", one) for one in PORT_NAMES)]
)
def test_all_of_it_together_raises_no_alarm_on_a_healthy_fabric(kind, system, tmp_path):
    state = emulate(plan(CLUSTERS[kind]), (), hosts=2, seed=4, events=ordinary())
    asked = [one for one in extras(kind) if one not in PORT_NAMES or one == system]
    write(state, tmp_path / "bundle", asked=asked)
    assert diagnose([tmp_path / "bundle"], CLUSTERS[kind]).verdict is Verdict.NONE


def test_what_is_not_known_is_refused():
    state = emulate(plan(CLUSTERS["infiniband"]), ())
    with pytest.raises(SpecError, match="did you mean 'subnet'"):
        dict(files(state, asked=["subnets"]))
    with pytest.raises(SpecError, match="sonic"):
        dict(files(state, asked=["sonic"]))
    roce = emulate(plan(CLUSTERS["roce"]), ())
    with pytest.raises(SpecError, match="switches run one system"):
        dict(files(roce, asked=["sonic", "eos"]))
    with pytest.raises(KeyError):
        Fields({}).fill("{nothing}")


def test_rows_of_formats_name_what_exists():
    assert {one.of for one in forms()} <= {
        "host",
        "rail",
        "adapter",
        "switch",
        "leaf",
        "fabric",
    }
    assert all(one.each or not one.text for one in forms())
    assert all("{sample}" in one.file for one in forms() if one.sampled)
