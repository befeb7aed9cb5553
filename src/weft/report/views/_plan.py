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
    "_bytes",
    "_gbit_per_s",
    "_mbit_per_s",
    "_ms",
    "_us",
    "_ratio",
    "_gib",
    "_m",
    "_s",
)


def within(numbers: Iterable[tuple[str, Planned]], part: str) -> Iterator[tuple[str, Planned]]:
    """Yield the values of one part, by their own names."""
    for path, one in numbers:
        head, _, name = path.partition(".")
        if head == part:
            yield _name(name.removeprefix("settings.")), one


def _name(name: str) -> str:
    head, _, mode = name.partition(".")
    if head == "modes":  # as it is written in the document
        return f"mode {mode}"
    for end in _UNIT_ENDS:
        name = name.removesuffix(end)
    return name if name.isupper() else name.replace("_", " ")


def value(one: Planned) -> str:
    """Show a value with its unit."""
    if isinstance(one.value, bool):
        return "yes" if one.value else "no"
    shown = figures(one.value) if isinstance(one.value, float) else str(one.value)
    return f"{shown} {one.unit}".strip()
