"""What messages take on each fabric, beside what has been written about it."""

from dataclasses import dataclass

from weft.advise.consideration import Number
from weft.advise.wording import figure
from weft.network import fabric
from weft.results import Estimate


@dataclass(frozen=True, slots=True)
class Published:
    """A range of latencies that an article gives for a fabric."""

    article: str
    fabric: str
    low_s: float
    high_s: float
    switches: int = 1


def message_s(kind: str, switches: int) -> Estimate:
    """Return the time of a small message, one way, through some switches."""
    found = fabric.find(kind)
    ends, hop = found.end_to_end_s, found.switch_hop_s
    return Estimate(
        ends.value + switches * hop.value,
        ends.low + switches * hop.low,
        ends.high + switches * hop.high,
    )


def judge(published: tuple[Published, ...]) -> list[tuple[str, bool, Number]]:
    """Say of each figure what weft has instead, and whether weft's value lies in its range."""
    return [_judge(one) for one in published]


def _judge(one: Published) -> tuple[str, bool, Number]:
    ours = message_s(one.fabric, one.switches)
    inside = one.low_s <= ours.value <= one.high_s
    overlap = ours.low <= one.high_s and one.low_s <= ours.high
    words = "inside" if inside else "the ranges meet" if overlap else "outside"
    text = (
        f"{one.article}, {one.fabric}: {figure(one.low_s, 's')} to {figure(one.high_s, 's')}; "
        f"weft {figure(ours.value, 's')} ({figure(ours.low, 's')} to "
        f"{figure(ours.high, 's')}) through {one.switches} switch(es): {words}"
    )
    return text, inside, Number(f"{one.fabric}, {one.switches} switch(es)", ours.value, "s")
