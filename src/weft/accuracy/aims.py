"""What weft aims at on systems that took no part in a fit, and how far it is from that."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weft.accuracy.by_system import ALL, WITHIN, BySystem

LARGE, SMALL = "collective_from_64MiB", "collective_below_64MiB"
ERROR, FACTOR, COVERAGE = "median error", "median factor", "inside the 80 % band"
_FIELD: Final = {
    ERROR: "median_abs_error_ratio", FACTOR: "median_factor", COVERAGE: "inside_band_ratio",
}  # fmt: skip
_SCALES: Final = ("two_hosts", "3-8 hosts", "more than 8 hosts")
_COLLECTIVES: Final = (
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv",
)  # fmt: skip
_BAND: Final = (0.75, 0.88)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Limits of one figure of some rows of a kind, every system counted once."""

    kind: str
    part: str
    figure: str
    low: float
    high: float


AIMS: Final = (
    Aim(kind=LARGE, part=ALL, figure=ERROR, low=0.0, high=0.12),
    Aim(kind=LARGE, part=WITHIN, figure=ERROR, low=0.0, high=0.08),
    Aim(kind=SMALL, part=ALL, figure=FACTOR, low=1.0, high=1.4),
    *(
        Aim(kind=kind, part=part, figure=COVERAGE, low=_BAND[0], high=_BAND[1])
        for kind in (LARGE, SMALL)
        for part in (ALL, WITHIN, *_SCALES, *_COLLECTIVES)
    ),
    Aim(kind="training_step", part=ALL, figure=ERROR, low=0.0, high=0.10),
    Aim(kind="training_step", part=ALL, figure=COVERAGE, low=_BAND[0], high=_BAND[1]),
    Aim(kind="topology", part=ALL, figure=ERROR, low=0.0, high=0.0),
    Aim(kind="topology", part=ALL, figure=COVERAGE, low=1.0, high=1.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An aim beside what was found."""

    aim: Aim
    found: float
    error_ratio: float
    """Standard error of a coverage; 0 of other figures."""
    systems: int

    @property
    def missed_by(self) -> float:
        """How far the figure lies outside its limits; 0 where the aim is reached."""
        return max(0.0, self.aim.low - self.found, self.found - self.aim.high)


def outcomes(found: Iterable[BySystem]) -> Iterator[Outcome]:
    """Yield every aim that has rows, with what was found."""
    by_part = {(part.kind, part.part): part for part in found}
    for aim in AIMS:
        # Where all rows are of one part there is no figure of that part alone.
        part = by_part.get((aim.kind, aim.part))
        if part is None:
            continue
        yield Outcome(
            aim=aim, found=getattr(part, _FIELD[aim.figure]), systems=part.systems,
            error_ratio=part.inside_band_error_ratio if aim.figure == COVERAGE else 0.0,
        )  # fmt: skip


def missed(found: Sequence[Outcome]) -> list[Outcome]:
    """Return the aims that are missed."""
    return [outcome for outcome in found if outcome.missed_by > 0]
