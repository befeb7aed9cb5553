"""What both views of a plan share: its parts by name, its values as text."""

from collections.abc import Iterable, Iterator
from typing import Final

from weft.generate.planned import Planned
from weft.report.numbers import figures

TITLES: Final = {
    "names": "Names",
    "link": "Links",
    "labels": "Labels: one class everywhere",
    "pause": "PFC: pause, headroom, watchdog",
    "marking": "ECN",
    "dcqcn": "DCQCN on the NICs",
    "subnet": "InfiniBand subnet",
    "underlay": "Addresses and AS numbers",
    "host": "Hosts",
    "nccl": "NCCL",
    "kubernetes": "Kubernetes",
}
_UNIT_ENDS: Final = (
    "_bytes", "_gbit_per_s", "_mbit_per_s", "_ms", "_us", "_ratio", "_gib", "_m", "_s",
)  # fmt: skip


def within(numbers: Iterable[tuple[str, Planned]], part: str) -> Iterator[tuple[str, Planned]]:
    """Yield the values of one part, by their own names."""
    for path, planned in numbers:
        head, _, name = path.partition(".")
        if head == part:
            yield _name(name.removeprefix("settings.")), planned


def _name(name: str) -> str:
    head, _, mode = name.partition(".")
    if head == "modes":  # as it is written in the document
        return f"mode {mode}"
    for end in _UNIT_ENDS:
        name = name.removesuffix(end)
    return name if name.isupper() else name.replace("_", " ")


def value(planned: Planned) -> str:
    """Show a value with its unit."""
    own = planned.value
    if isinstance(own, bool):
        return "yes" if own else "no"
    return f"{figures(own) if isinstance(own, float) else own} {planned.unit}".strip()
