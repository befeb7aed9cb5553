"""Switch and cable counts of published designs: integers, so a miss is a bug.

Every count that a row prints is predicted from the row's hosts, NICs, rate and switch. What a
row does not print is taken from its own words, then from what is usual for its GPU.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from weft import catalogue, plugins
from weft.accuracy.kind import LeftOut, Row, Score
from weft.accuracy.rows.words import meant, table
from weft.catalogue.devices import Switch
from weft.catalogue.fitting import usual_switch
from weft.errors import WeftError
from weft.network import topologies
from weft.network.clos import mesh_max, three_tier_max, two_tier_max
from weft.network.topology import Layout, Place, Topology, site_of
from weft.results import Estimate
from weft.spec.cluster import TopologyChoice
from weft.units import rate_from_gbit

UFM_PORTS = 4
"""Ports that two fabric managers take where one host slot is given to them [DGX SuperPOD
H100 reference architecture, table 4: 31 hosts of 8 NICs and 252 cables]."""

_RACK_SCALE = re.compile(r"GB[23]00|NVL72", re.IGNORECASE)
_RACK_GPUS = 72
_SERVER_GPUS = 8
_LINK_GBIT = 400.0
_USUAL_PORTS = 64
"""Ports of the switch chips of the day at the full rate of a NIC, each of eight lanes."""
_COUNTS: dict[str, Callable[[Layout], int]] = {
    "leaf_switches": lambda found: found.leaf,
    "spine_switches": lambda found: found.spine,
    "core_switches": lambda found: found.core,
    "total_switches": lambda found: found.switches,
    "leaf_spine_links": lambda found: found.leaf_spine_cables,
    "spine_core_links": lambda found: found.spine_core_cables,
}
_PRINTED = ("gpus", *_COUNTS, "node_leaf_links")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """What a row says, with what it leaves unsaid filled in."""

    hosts: int
    gpus_per_host: int
    nics: int
    gbit: float
    switch: Switch
    choice: TopologyChoice
    infiniband: bool


def score(_: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score every count that the rows print."""
    for row in tables.get("topology", []):
        try:
            yield from _score_row(row)
        except (WeftError, ValueError) as error:
            yield _left_out(row, str(error))


def _score_row(row: Row) -> Iterator[Score | LeftOut]:
    printed = {name: count for name in _PRINTED if (count := _count(row, name)) is not None}
    if not printed:
        yield _left_out(row, "prints no count")
        return
    hosts = _hosts(row)
    if not hosts:
        yield from _score_capacity(row, printed)
        return
    design = _design(row, hosts)
    layout = _layout(design)
    for name, count in printed.items():
        yield _judge(row, name, count, _predicted(name, design, layout))


def _judge(row: Row, name: str, printed: int, predicted: int) -> Score | LeftOut:
    if printed == 0:
        return _left_out(row, f"prints none, and {predicted} are predicted: no ratio", name)
    if name == "gpus" and not row.get("nodes") and not row.get("scalable_units"):
        return _left_out(row, "hosts follow from GPUs, so GPUs are no test", name)
    if name == "gpus" and printed != predicted and _contradicts_itself(row, printed, predicted):
        return _left_out(row, "printed GPUs contradict printed hosts and cables", name)
    return _scored(row, name, printed, predicted)


def _scored(row: Row, name: str, printed: int, predicted: int) -> Score:
    return Score.of(
        Estimate(*(float(predicted),) * 3), kind="topology", quantity="count",
        row=f"{row['row_id']}:{name}", site=row.get("design", ""), measured=float(printed),
        labels={"design": row.get("design", ""), "count": name},
    )  # fmt: skip


def _contradicts_itself(row: Row, gpus: int, predicted: int) -> bool:
    """Whether the row's own cables count one per predicted GPU and not per printed one."""
    cables = _count(row, "node_leaf_links")
    return cables is not None and cables == predicted != gpus


def _predicted(name: str, design: _Design, layout: Layout) -> int:
    if name == "gpus":
        return design.hosts * design.gpus_per_host
    if name == "node_leaf_links":
        return layout.host_leaf_cables + _manager_ports(design, layout)
    return _COUNTS[name](layout)


def _manager_ports(design: _Design, layout: Layout) -> int:
    """Return the ports of the fabric managers, where one host slot was left for them."""
    network = layout.wiring
    slots = getattr(network, "trays_per_unit", 0)
    one_left = slots > 1 and layout.spine > 0 and design.hosts % slots == slots - 1
    return UFM_PORTS if design.infiniband and one_left else 0


def _layout(design: _Design) -> Layout:
    site = site_of(
        design.hosts, design.gpus_per_host, design.nics, rate_from_gbit(design.gbit),
        Place(switch=design.switch, choice=design.choice),
    )  # fmt: skip
    return plugins.load(topologies, design.choice.kind, Topology).layout(site)


def _score_capacity(row: Row, printed: Mapping[str, int]) -> Iterator[Score | LeftOut]:
    """Score a row that prints what a topology of some radix can join at most."""
    mesh, tiers = _kind(_words(row).lower()) == "dragonfly_plus", _tiers(row)
    known = _radix_text(row) or _switch_text(row) or _split(row)
    if not (mesh or tiers) or not known or set(printed) != {"gpus"} or not printed["gpus"]:
        yield _left_out(row, "prints no hosts to predict from")
        return
    rate = _link_gbit(row)
    radix = _radix_text(row) or _ports(_switch(row, rate), rate, _planes(row, rate))
    by_tiers = two_tier_max(radix) if tiers == 2 else three_tier_max(radix)  # noqa: PLR2004
    yield _scored(row, "gpus", printed["gpus"], mesh_max(radix) if mesh else by_tiers)


def _design(row: Row, hosts: int) -> _Design:
    gpus = _gpus_per_host(row)
    gbit = _link_gbit(row)
    switch = _switch(row, gbit)
    return _Design(
        hosts=hosts, gpus_per_host=gpus, nics=_count(row, "nic_per_node") or gpus, gbit=gbit,
        switch=switch, choice=_choice(row, gbit), infiniband=_fabric(row) == "infiniband",
    )  # fmt: skip


def _hosts(row: Row) -> int | None:
    nodes = _count(row, "nodes")
    if nodes is not None:
        return nodes
    per_unit = re.search(r"([1-9]\d*) (?:nodes|hosts|servers) per SU", _words(row))
    units = _count(row, "scalable_units")
    if per_unit and units is not None:
        return units * int(per_unit[1])
    gpus = _count(row, "gpus")
    some_counts = any(_count(row, name) is not None for name in _COUNTS)
    return gpus // _gpus_per_host(row) if gpus is not None and some_counts else None


def _gpus_per_host(row: Row) -> int:
    said = re.search(
        r"\b([1-9]\d*) GPUs? (?:per|a|/) ?(?:server|node|host)", _words(row), re.IGNORECASE
    )
    if said:
        return int(said[1])
    nics = _count(row, "nic_per_node") or None
    if _RACK_SCALE.search(row.get("gpu", "")):
        return nics if nics in {4, 18, 36} else _RACK_GPUS
    return _SERVER_GPUS if row.get("gpu") or nics is None else nics


def _link_gbit(row: Row) -> float:
    printed = _number(row.get("link_gbps", ""))
    if printed:
        return printed
    of_switch = _switch_text(row)
    if of_switch:
        return float(of_switch[2])
    gpu = row.get("gpu", "").upper()
    usual = table("usual_gbit")
    names = sorted(usual, key=len, reverse=True)
    return float(next((usual[name] for name in names if name in gpu), _LINK_GBIT))


def _choice(row: Row, gbit: float) -> TopologyChoice:
    words, ratio, above = _words(row).lower(), *_oversubscription(row)
    pods = re.search(r"\d+ pods? x ([1-9]\d*) gpus", words)
    return TopologyChoice(
        kind=_kind(words), planes=_planes(row, gbit),
        oversubscription=1.0 if above else ratio,
        pod_oversubscription=ratio if above else 1.0,
        hosts_per_pod=int(pods[1]) // _gpus_per_host(row) if pods else None,
    )  # fmt: skip


def _kind(words: str) -> str:
    return meant("topologies", words) or "rail_optimized"


def _oversubscription(row: Row) -> tuple[float, bool]:
    """Return down over up, and whether it is meant above the pod."""
    text = row.get("oversubscription", "")
    ratio = re.search(r"(\d+(?:\.\d+)?)\s*:\s*(\d+(?:\.\d+)?)", text)
    ends = sorted((float(ratio[1]), float(ratio[2]))) if ratio else [1.0, 1.0]
    if ends[0] == 0:
        raise ValueError(f"oversubscription {text!r} is no ratio")
    return ends[1] / ends[0], bool(re.search(r"above|between pods|core", text))


def _planes(row: Row, gbit: float) -> int:
    """Return the planes that the row names; Spectrum-X splits a port of 800G in two of 400G.

    [DGX SuperPOD B300 reference architecture: two 400G planes a GPU]
    """
    words = _words(row).lower()
    split = _split(row)
    if split:
        return int(split[1])
    said = re.search(r"\b([1-9]\d*) planes", words)
    if said:
        return int(said[1])
    twofold = "dual-plane" in words or ("spectrum" in words and gbit == 2 * _LINK_GBIT)
    return 2 if twofold else 1


def _switch(row: Row, gbit: float) -> Switch:
    ports, text = _radix_text(row), _switch_text(row)
    if ports is not None or text is not None:
        each = float(text[2]) if text else gbit
        return _plain(ports or int(text[1] if text else 0), each)
    if _split(row) and not row.get("switch"):
        return _plain(_USUAL_PORTS, gbit)
    words = re.sub(r"[^a-z0-9]", "", f"{row.get('switch', '')} {_words(row)}".lower())
    names = catalogue.names("switches")
    named = (n for n in names if re.sub(r"[^a-z0-9]", "", re.split(r"[_-]", n)[-1]) in words)
    slug = next(iter(sorted(named, key=len, reverse=True)), None)
    slug = slug or usual_switch(_fabric(row), rate_from_gbit(gbit))
    found = catalogue.find("switches", slug)
    assert isinstance(found, Switch)
    return found


def _plain(ports: int, gbit: float) -> Switch:
    """Return a switch of so many ports, each of which splits into 2, 4 or 8."""
    radix = {rate_from_gbit(gbit / n): ports * n for n in (1, 2, 4, 8)}
    return Switch(name=f"{ports} x {gbit:g}G", title="", fabrics=(), radix=radix)


def _ports(switch: Switch, gbit: float, planes: int) -> int:
    choice = TopologyChoice(planes=planes)
    place = Place(switch=switch, choice=choice)
    return site_of(1, 1, 1, rate_from_gbit(gbit), place).radix(planes)


def _switch_text(row: Row) -> re.Match[str] | None:
    return re.search(r"\b([1-9]\d*)\s*[x×]\s*([1-9]\d*)\s*G", row.get("switch", ""))  # noqa: RUF001


def _radix_text(row: Row) -> int | None:
    said = re.search(r"(?:\bk\s*=\s*|radix[ -])([1-9]\d*)", _words(row))
    return int(said[1]) if said else None


def _split(row: Row) -> re.Match[str] | None:
    """Return the match of '8x100G', the planes of one NIC."""
    return re.search(r"\b([1-9]\d*)x(\d+)G\w* .*plane", _words(row))


def _tiers(row: Row) -> int | None:
    said = re.search(r"\b(two|three|2|3)[ -](?:tier|stage|level|layer)", _words(row).lower())
    return {"two": 2, "2": 2, "three": 3, "3": 3}[said[1]] if said else None


def _fabric(row: Row) -> str:
    """Return the fabric that the row names; without a word of Ethernet, InfiniBand."""
    words = f"{row.get('switch', '')} {_words(row)}".lower()
    said = r"spectrum|roce|ethernet|\bsn\d|tomahawk|arista|broadcom|efa\b"
    return "roce" if re.search(said, words) else "infiniband"


def _words(row: Row) -> str:
    return f"{row.get('design', '')} {row.get('variant', '')}"


def _count(row: Row, name: str) -> int | None:
    number = _number(row.get(name, ""))
    return None if number is None else round(number)


def _number(text: str | None) -> float | None:
    """Read a plain number; anything else is no number."""
    clean = (text or "").replace(",", "").strip()
    return float(clean) if re.fullmatch(r"\d+(?:\.\d+)?", clean) else None


def _left_out(row: Row, reason: str, name: str = "") -> LeftOut:
    mark = f"{row.get('row_id', '?')}:{name}" if name else row.get("row_id", "?")
    return LeftOut(kind="topology", row=mark, reason=reason)
