"""SONiC's own YANG models accept every switch of a rendered fabric, by libyang.

config_db.json is not YANG data: a table is a container, ``a|b`` are the keys of a list, and
all values are text. What follows turns one into the other by asking the models.
"""

import copy
import json
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.cluster import Tenant
from weft.spec.load import preset
from weft.spec.site import Aaa, Site

libyang = pytest.importorskip(
    "libyang", reason="the binding of libyang is not installed; run scripts/tools.sh",
    exc_type=ImportError,
)  # fmt: skip

MODELS = Path(__file__).parents[3] / "shared" / "schemas" / "sonic-yang"
WHOLE = {"int8", "int16", "int32", "uint8", "uint16", "uint32"}

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(not MODELS.is_dir(), reason=f"SONiC's YANG models are not in {MODELS}"),
]


class Sonic:
    """The models, by table."""

    def __init__(self, folder: Path):
        self.context = libyang.Context(str(folder))
        files = sorted(folder.glob("sonic-*.yang"))
        modules = [self.context.load_module(file.stem) for file in files]
        self.tables = {
            table.name(): (f"{module.name()}:{top.name()}", table)
            for module in reversed(modules)
            for top in module.children()
            for table in top.children()
        }

    def problems(self, config: dict) -> list[str]:
        """Return what the models have against a config_db.json."""
        unknown: list[str] = []
        data: dict = {}
        for name, rows in config.items():
            if name not in self.tables:
                unknown.append(f"no model has the table {name}")
                continue
            top, table = self.tables[name]
            data.setdefault(top, {})[name] = self._table(table, rows, unknown)
        try:
            tree = self.context.parse_data_mem(
                json.dumps(data), "json", strict=True, validate_present=True
            )
        except libyang.LibyangError as failure:
            return [*unknown, str(failure)]
        if tree is not None:
            tree.free()
        return unknown

    def _table(self, table, rows: dict, unknown: list[str]) -> dict:
        singles = {c.name(): c for c in table.children() if c.keyword() == "container"}
        lists = [c for c in table.children() if c.keyword() == "list"]
        body: dict = {}
        for key, row in rows.items():
            if key in singles:
                body[key] = self._fields(singles[key], row, unknown)
                continue
            parts = key.split("|")
            found = next((c for c in lists if len(list(c.keys())) == len(parts)), None)
            if found is None:
                unknown.append(f"{table.name()} has no list with the keys of {key}")
                continue
            entry = {k.name(): _typed(k, p) for k, p in zip(found.keys(), parts, strict=True)}
            body.setdefault(found.name(), []).append(entry | self._row(found, row, unknown))
        return body

    def _row(self, found, row: dict, unknown: list[str]) -> dict:
        inner = next((c for c in found.children() if c.keyword() == "list"), None)
        if inner is None:
            return self._fields(found, row, unknown)
        key = next(iter(inner.keys()))
        value = next(c for c in inner.children() if c.name() != key.name())
        pairs = [
            {key.name(): _typed(key, a), value.name(): _typed(value, b)}
            for a, b in row.items()
        ]  # fmt: skip
        return {inner.name(): pairs}

    def _fields(self, node, row: dict, unknown: list[str]) -> dict:
        known = {child.name(): child for child in node.children()}
        unknown += [f"{node.name()} has no field {key}" for key in row if key not in known]
        return {key: _typed(known[key], value) for key, value in row.items() if key in known}


def _typed(node, value):
    if node.keyword() == "leaf-list":
        values = value if isinstance(value, list) else str(value).split(",")
        return [_one(node, item) for item in values]
    return _one(node, value)


def _one(node, value):
    """Return the value in the first type of the leaf that it fits; text where in none."""
    for base in _bases(node.type()):
        name = libyang.Type.BASENAMES.get(base)
        if name in WHOLE and str(value).lstrip("-").isdecimal():
            return int(value)
        if name == "boolean" and value in {"true", "false"}:
            return value == "true"
    return str(value)


def _bases(kind):
    if kind.base() == libyang.Type.LEAFREF:
        return _bases(kind.leafref_type())
    if kind.base() == libyang.Type.UNION:
        return [base for part in kind.union_types() for base in _bases(part)]
    return [kind.base()]


@pytest.fixture(scope="module")
def models():
    return Sonic(MODELS)


def _switches(name: str, hosts: int, **changes):
    cluster = preset(name, hosts=hosts)
    cluster = cluster.with_(topology=cluster.topology.with_(**changes))
    files = render(plan(cluster), ["sonic"]).files
    return {file.path.split("/")[1]: json.loads(file.text) for file in files}


def _some(switches: dict) -> dict:
    """Return the first and the last switch of every tier: those between are like them."""
    tiers: dict = {}
    for name in switches:
        tiers.setdefault(name.partition("-")[0], []).append(name)
    return {name: switches[name] for names in tiers.values() for name in (names[0], names[-1])}


@pytest.mark.parametrize(("name", "hosts", "changes"), [
    ("hgx_h100_roce", 4, {}),
    ("hgx_h100_roce", 128, {}),
    ("hgx_h100_roce", 96, {"kind": "rail_only"}),
    ("mi325x_roce", 64, {}),
    ("hgx_h100_roce", 40, {"switch": "sn4700"}),
    ("hgx_h100_roce", 40, {"switch": "sn5400", "kind": "fat_tree"}),
    ("hgx_h100_roce", 40, {"switch": "sn5640", "kind": "fat_tree"}),
    ("h100_tcp_100g", 64, {}),
    ("hgx_h100_roce", 256, {"kind": "multi_plane", "planes": 2}),
    ("hgx_h100_roce", 64, {"kind": "dragonfly_plus", "hosts_per_pod": 16}),
    ("mi300x_roce", 100, {"kind": "fat_tree", "cable_m": 4.0}),
])  # fmt: skip
@pytest.mark.proves(
    "sonic",
    effect="every table is valid: ports, BGP, QoS, buffers, watchdog",
    tool="yang",
)
def test_the_switches_of_a_fabric_are_valid(models, name, hosts, changes):
    for switch, config in _some(_switches(name, hosts, **changes)).items():
        assert models.problems(config) == [], switch


SITES = {
    "all of it": Site(
        management_prefix="192.0.2.0/24", ntp=("192.0.2.3",), syslog=("192.0.2.5",),
        aaa=Aaa(servers=("192.0.2.6",)), snmp_user="monitor", maintenance=("leaf-0000",)),
    "RADIUS": Site(aaa=Aaa(protocol="radius", servers=("192.0.2.6",)), bfd=False),
}  # fmt: skip


@pytest.mark.parametrize("case", SITES)
@pytest.mark.proves(
    "sonic",
    effect="the tables of a site are valid",
    tool="yang",
)
def test_the_tables_of_a_site_are_valid(models, case):
    cluster = preset("hgx_h100_roce", hosts=8).with_(site=SITES[case])
    for file in render(plan(cluster), ["sonic"]).files:
        assert models.problems(json.loads(file.text)) == [], file.path


@pytest.mark.proves(
    "sonic",
    effect="the tables of tenants are valid: VRFs, sub-interfaces, BGP of each",
    tool="yang",
)
def test_the_tables_of_tenants_are_valid(models):
    tenants = (Tenant(name="red", hosts=9), Tenant(name="blue", hosts=30))
    cluster = preset("hgx_h100_roce", hosts=40).with_(tenants=tenants, site=SITES["all of it"])
    files = render(plan(cluster), ["sonic"]).files
    switches = {file.path: json.loads(file.text) for file in files}
    assert any(one["VLAN_SUB_INTERFACE"] for one in switches.values())
    for name, config in switches.items():
        assert models.problems(config) == [], name


def test_the_switches_of_three_tiers_are_valid(models):
    switches = _switches("hgx_h100_roce", 128, hosts_per_pod=64)
    assert any(name.startswith("core") for name in switches)
    for name, config in _some(switches).items():
        assert models.problems(config) == [], name


FAULTS = {
    "a profile that is not there": ("BUFFER_PG", "Ethernet0|3", "profile", "nobody"),
    "a map that is not there": ("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map", "nobody"),
    "a priority above 7": ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "9"),
    "an MTU above the most": ("PORT", "Ethernet0", "mtu", "10000"),
    "an FEC that is none": ("PORT", "Ethernet0", "fec", "rss"),
    "Kmin above Kmax": ("WRED_PROFILE", "AI_LOSSLESS", "green_min_threshold", "99999999"),
    "a probability above 100": ("WRED_PROFILE", "AI_LOSSLESS", "green_drop_probability", "101"),
    "an action that is none": ("PFC_WD", "Ethernet0", "action", "dropp"),
    "a watchdog faster than it polls": ("PFC_WD", "Ethernet0", "detection_time", "100"),
    "a field that is none": ("PORT", "Ethernet0", "sped", "1"),
    "a DSCP that is none": ("DSCP_TO_TC_MAP", "AI", "64", "3"),
    "a peer group that is not there": (
        "BGP_NEIGHBOR", "default|Ethernet256", "peer_group_name", "nobody",
    ),
    "a route map that is not there": (
        "ROUTE_REDISTRIBUTE", "default|connected|bgp|ipv4", "route_map", ["nobody"],
    ),
    "an AS number too large": ("BGP_GLOBALS", "default", "local_asn", "4294967296"),
}  # fmt: skip


@pytest.fixture(scope="module")
def leaf():
    return _switches("hgx_h100_roce", 128)["leaf-0000"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(models, leaf, fault):
    """Or else no complaint would mean nothing."""
    table, key, field, value = FAULTS[fault]
    bad = copy.deepcopy(leaf)
    assert key in bad[table], "the fault is planted in a row that is there"
    bad[table][key] = bad[table][key] | {field: value}
    assert models.problems(bad)
