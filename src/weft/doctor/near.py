"""Questions about how near GPUs and adapters are, and about the tree of bridges above them."""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts
from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import RingsConnected, TopologyPart, TopologyPath
from weft.observe.facts.pci import Distance

_NEAR = frozenset({"PIX", "PXB"})
_BY_HOST = frozenset({"PHB", "NODE", "SYS"})
"""How a way is called that leads over a processor."""


def parents(facts: Facts) -> Iterator[tuple[TopologyPart, tuple[TopologyPart, ...]]]:
    """Return each part of the machines' trees with what is above it, the processor first."""
    above: list[TopologyPart] = []
    place = ("", "")
    for one in facts.of(TopologyPart):
        here = (one.evidence.file, one.process.host)
        if here != place:
            place, above = here, []
        while above and above[-1].depth >= one.depth:
            above.pop()
        yield one, tuple(above)
        above.append(one)


def by_way_of_host(facts: Facts) -> list[Fact]:
    """Return the library's ways from GPUs to adapters on their own switch, by the processor.

    It turns a way to the processor where GPUDirect RDMA is not to be had.
    """
    ways = facts.of(TopologyPath)
    if not ways or any(one.connection not in _BY_HOST for one in ways):
        return []
    switches = _switches(facts)
    turned: list[Fact] = [
        one for one in ways
        if switches.get((one.process.host, "GPU", one.source), set())
        & switches.get((one.process.host, "NET", one.target), set())
    ]  # fmt: skip
    near = _all_near(facts)
    return turned or ([*ways, *near[:2]] if near else [])


def plain_though_near(facts: Facts) -> list[Fact]:
    """Return channels over verbs that pass by the host's memory though all GPUs are near.

    What is sent says nothing: the library reads some older GPUs through the host on purpose.
    """
    channels = job.verbs_channels(facts)
    direct = any(one.gpudirect for one in channels)
    direct = direct or any(one.gpudirect for one in facts.of(RingsConnected))
    received = [one for one in channels if one.direction == "receive"]
    near = _all_near(facts)
    return [*received[:2], *near[:2]] if received and near and not direct else []


def _switches(facts: Facts) -> dict[tuple[str, str, str], set[str]]:
    """Return the switches above each GPU and network device."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for part, above in parents(facts):
        if part.kind in {"GPU", "NET"}:
            names = {one.name for one in above if one.kind == "PCI"}
            found.setdefault((part.process.host, part.kind, part.name), set()).update(names)
    return found


def _all_near(facts: Facts) -> list[Fact]:
    """Return how near adapters are to GPUs, where every GPU has one on its own switch."""
    seen = [
        one for one in facts.of(Distance)
        if one.source.startswith("GPU") and not one.target.startswith(("GPU", "CPU"))
    ]  # fmt: skip
    near = [one for one in seen if one.connection in _NEAR]
    gpus = {
        (one.host, one.source) for one in facts.of(Distance) if one.source.startswith("GPU")
    }
    return [*near] if gpus <= {(one.host, one.source) for one in near} else []
