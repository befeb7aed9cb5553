"""The checklist: items pass on a healthy bundle, fail on their fault and are never guessed."""

import json
from xml.etree import ElementTree as ET

import pytest

from weft.check.checked import Outcome, check
from weft.check.item import items
from weft.cli import app
from weft.errors import SpecError
from weft.inventory.entity import Entity
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Event, FileRead, Inventory
from weft.report import show
from weft.spec.load import preset

ROCE = preset("hgx_h100_roce", hosts=2)
INFINIBAND = preset("dgx_h100", hosts=2)
HOSTS = ("host-0000", "host-0001")
LINE = Evidence("bundle", 1, "as read")


class Bundle:
    """An inventory of healthy hosts, of which a test changes what it is about."""

    def __init__(self, cluster):
        self.inventory = Inventory()
        self.roce = cluster.fabric.kind == "roce"
        for host in HOSTS:
            self._host(host)
            self.inventory.files.append(FileRead(file=f"{host}/dmesg", lines=9, matched=9))
        busbw = {"busbw": 350e9, "algbw": 185e9, "ranks": 16.0, "hosts": 2.0}
        for name, value in busbw.items():
            key = ("all_reduce", "1073741824")
            self.set(Entity("collective", ("run", *key)), name, value)
        if not self.roce:
            self.set(Entity("subnet", ("",)), "masters", ("1",))

    def set(self, entity, name, *values):
        self.inventory.readings.setdefault(entity, {}).pop(name, None)
        for number, value in enumerate(values):
            self.inventory.record(entity, name, value, LINE, float(number * 10))

    def forget(self, kind, name):
        for _, found in self.inventory.of(kind):
            found.pop(name, None)

    def _host(self, host):
        for name, value in {"gpus": 8.0, "memlock_unlimited": True, "driver": "570.1",
                            "kernel": "6.8"}.items():  # fmt: skip
            self.set(Entity("host", (host,)), name, value)
        self.set(Entity("module", (host, "nvidia_peermem")), "loaded", bool(1))
        for number in range(8):
            self._rail(host, number)
            gpu = Entity("gpu", (host, str(number)))
            self.set(gpu, "ecc_uncorrectable", 0.0, 0.0)
            self.set(gpu, "throttle_thermal", bool(0))
            process = Entity("process", (host, str(number)))
            used = tuple(f"mlx5_{one}" for one in range(8))
            for name, value in {"nccl": "2.27.3", "network": "IB", "gdr": True,
                                "adapters": used}.items():  # fmt: skip
                self.set(process, name, value)
        slot = Entity("slot", (host, "0000:c1:00.0"))
        self.set(slot, "width", 16.0)
        self.set(slot, "width_max", 16.0)

    def _rail(self, host, number):
        adapter, interface = f"mlx5_{number}", f"rail{number}"
        port = Entity("port", (host, adapter, "1"))
        found = {"state": "active", "rate": 50e9, "mtu": 4096.0, "interface": interface,
                 "link_layer": "ethernet" if self.roce else "infiniband"}  # fmt: skip
        for name, value in found.items():
            self.set(port, name, value)
        self.set(port, "link_downed", 3.0, 3.0)
        self.set(Entity("adapter", (host, adapter)), "firmware", "28.43")
        self.set(Entity("adapter", (host, adapter)), "model", "MT4129")
        if self.roce:
            self.set(Entity("gid", (host, adapter, "1", "3")), "type", "v2")
            self.set(Entity("gid", (host, adapter, "1", "0")), "type", "ib")
            for name, value in {"mtu": 9000.0, "trust": "dscp",
                                "pfc": tuple("00010000")}.items():  # fmt: skip
                self.set(Entity("interface", (host, interface)), name, value)
            priority = Entity("priority", (host, interface, "3"))
            self.set(priority, "pause_share", 0.001)
            self.set(priority, "rx_discards", 0.0, 0.0)


def _outcomes(bundle, cluster, **wished):
    return {one.item: one for one in check(bundle.inventory, cluster, **wished).items}


@pytest.mark.parametrize("cluster", [ROCE, INFINIBAND], ids=["roce", "infiniband"])
def test_every_item_passes_on_a_healthy_bundle(cluster):
    result = check(Bundle(cluster).inventory, cluster)
    assert not [
        (one.item, one.reason) for one in result.items if one.outcome is not Outcome.PASS
    ]
    assert result.exit_code == 0


@pytest.mark.parametrize("cluster", [ROCE, INFINIBAND], ids=["roce", "infiniband"])
def test_nothing_that_was_not_read_passes(cluster):
    result = check(Inventory(), cluster)
    assert {one.outcome for one in result.items} == {Outcome.UNMEASURED}
    assert result.exit_code == 5


PORT = Entity("port", ("host-0001", "mlx5_3", "1"))
INTERFACE = Entity("interface", ("host-0001", "rail3"))
FAULTS = {
    "ports-active": (PORT, "state", "down"),
    "port-rate": (PORT, "rate", 25e9),
    "link-errors": (PORT, "link_downed", 3.0, 5.0),
    "rdma-mtu": (PORT, "mtu", 1024.0),
    "jumbo-frames": (INTERFACE, "mtu", 1500.0),
    "pfc": (INTERFACE, "pfc", *(tuple("00000000"),)),
    "trust-dscp": (INTERFACE, "trust", "pcp"),
    "pauses": (Entity("priority", ("host-0001", "rail3", "3")), "pause_share", 0.4),
    "lossless": (Entity("priority", ("host-0001", "rail3", "3")), "rx_discards", 0.0, 7.0),
    "adapter-pcie": (Entity("slot", ("host-0001", "0000:c1:00.0")), "width", 8.0),
    "gpus": (Entity("host", ("host-0001",)), "gpus", 7.0),
    "gpu-memory": (Entity("gpu", ("host-0001", "2")), "ecc_uncorrectable", 0.0, 1.0),
    "gpu-heat": (Entity("gpu", ("host-0001", "2")), "throttle_thermal", True),
    "memlock": (Entity("host", ("host-0001",)), "memlock_unlimited", False),
    "drivers-equal": (Entity("host", ("host-0001",)), "driver", "550.9"),
    "firmware-equal": (Entity("adapter", ("host-0001", "mlx5_3")), "firmware", "28.39"),
    "nccl-equal": (Entity("process", ("host-0001", "3")), "nccl", "2.21.5"),
    "transport": (Entity("process", ("host-0001", "3")), "network", "Socket"),
    "adapters-used": (Entity("process", ("host-0001", "3")), "adapters", ("mlx5_0",)),
    "gpudirect-used": (Entity("process", ("host-0001", "3")), "gdr", False),
    "all-reduce": (
        Entity("collective", ("run", "all_reduce", "1073741824")), "busbw", 60e9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("item", FAULTS)
def test_an_item_fails_on_its_fault_and_names_the_host(item):
    bundle = Bundle(ROCE)
    entity, name, *values = FAULTS[item]
    bundle.set(entity, name, *values)
    found = _outcomes(bundle, ROCE)[item]
    assert found.outcome is Outcome.FAIL, found
    assert "host-0001" in found.reason or entity.kind in {"collective", "host"}
    assert found.evidence


def test_a_yes_or_no_is_shown_as_such():
    bundle = Bundle(ROCE)
    bundle.set(*FAULTS["memlock"])
    reason = _outcomes(bundle, ROCE)["memlock"].reason
    assert "memlock_unlimited is no, expected yes" in reason


@pytest.mark.parametrize(
    ("item", "code"), [("no-xid", "gpu.off_the_bus"), ("acs", "pci.acs_on")]
)
def test_a_message_fails_its_item(item, code):
    bundle = Bundle(ROCE)
    event = Event(code, Entity("host", ("host-0001",)), "error", {}, [LINE])
    bundle.inventory.happened(event)
    assert _outcomes(bundle, ROCE)[item].outcome is Outcome.FAIL


def test_two_masters_fail_and_so_does_a_port_without_a_roce_v2_gid():
    bundle = Bundle(INFINIBAND)
    bundle.set(Entity("subnet", ("",)), "masters", ("1", "7"))
    assert _outcomes(bundle, INFINIBAND)["one-subnet-manager"].outcome is Outcome.FAIL
    bundle = Bundle(ROCE)
    bundle.set(Entity("gid", ("host-0001", "mlx5_3", "1", "3")), "type", "roce v1")
    assert _outcomes(bundle, ROCE)["roce-v2-gid"].outcome is Outcome.UNMEASURED


def test_a_storage_port_that_is_down_fails_nothing():
    bundle = Bundle(ROCE)
    bundle.set(Entity("port", ("host-0000", "mlx5_9", "1")), "state", "down")
    assert _outcomes(bundle, ROCE)["ports-active"].outcome is Outcome.PASS


def test_seven_of_eight_ports_are_not_measured_and_a_counter_read_once_is_none():
    bundle = Bundle(ROCE)
    del bundle.inventory.readings[PORT]["rate"]
    found = _outcomes(bundle, ROCE)["port-rate"]
    assert (found.outcome, "7 of 8" in found.reason) == (Outcome.UNMEASURED, True)
    bundle.set(PORT, "link_downed", 3.0)
    assert _outcomes(bundle, ROCE)["link-errors"].outcome is Outcome.UNMEASURED


def test_a_host_that_is_missing_is_not_measured_and_the_gate_takes_one():
    larger = preset("hgx_h100_roce", hosts=3)
    assert _outcomes(Bundle(ROCE), larger)["hosts-read"].outcome is Outcome.UNMEASURED
    gate = check(Bundle(ROCE).inventory, larger, gate=True)
    assert gate.exit_code == 0
    assert {one.item for one in gate.items} == {
        one.name for one in items()
        if one.gate and (not one.fabrics or "roce" in one.fabrics)
    }  # fmt: skip


def test_junit_counts_what_was_not_measured_as_an_error():
    bundle = Bundle(ROCE)
    bundle.set(PORT, "state", "down")
    bundle.forget("port", "mtu")
    suite = ET.fromstring(show(check(bundle.inventory, ROCE), "junit"))  # noqa: S314
    cases = {one.get("name"): one for one in suite.iter("testcase")}
    assert cases["ports-active"].find("failure") is not None
    assert cases["rdma-mtu"].find("error") is not None
    assert suite.get("errors") == "1"


def test_one_item_is_checked_and_a_strange_one_is_refused():
    assert [*_outcomes(Bundle(ROCE), ROCE, only=["pfc"])] == ["pfc"]
    with pytest.raises(SpecError, match="no item is called 'pcf'"):
        check(Inventory(), ROCE, only=["pcf"])


def test_the_command_exits_with_the_outcome(tmp_path, capsys):
    (tmp_path / "ibstat").write_text("nothing\n")
    words = ["check", str(tmp_path), "--preset", "dgx_h100", "--hosts", "1"]
    assert app.run([*words, "-o", "json"]) == 5
    assert json.loads(capsys.readouterr().out)["kind"] == "checklist"
    assert app.run(["check", "--preset", "dgx_h100"]) == 2
