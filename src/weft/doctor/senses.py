"""What a complaint in plain words may mean: a thing and its trouble, to a cause it hints at."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from weft.observe.facts import Complaint

_MILD = frozenset({"down", "missing", "degraded", "lost", "flapping"})
"""States that are often as they should be; a line of nothing else is no hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """A cause that a line hints at which names the thing and one of the troubles."""

    cause: str
    thing: re.Pattern[str]
    trouble: frozenset[str]
    says: re.Pattern[str] | None
    question: str
    command: str

    def fits(self, complaint: Complaint) -> bool:
        """Return whether a complaint may be of this cause; that a thing is off is no hint."""
        kinds = frozenset(complaint.troubles)
        grave = kinds - _MILD and kinds & self.trouble
        return bool(grave) and bool(self.thing.search(complaint.evidence.text))

    def leaves_no_doubt(self, complaint: Complaint) -> bool:
        """Return whether the words of a complaint name the cause themselves."""
        return self.says is not None and bool(self.says.search(complaint.evidence.text))


@cache
def _table() -> tuple[dict[str, str], ...]:
    text = resources.files("weft.doctor").joinpath("senses.toml").read_text()
    return tuple(tomllib.loads(text)["sense"])


def causes() -> tuple[str, ...]:
    """Return the causes that a line may hint at, each once."""
    return tuple(dict.fromkeys(one["cause"] for one in _table()))


@cache
def senses() -> tuple[Sense, ...]:
    """Return the senses, the more special first; expressions are made when first asked for."""
    return tuple(map(_sense, _table()))


def _sense(told: dict[str, str]) -> Sense:
    says = told.get("says")
    return Sense(
        cause=told["cause"],
        thing=re.compile(told["thing"], re.IGNORECASE),
        trouble=frozenset(told["trouble"]),
        says=re.compile(says, re.IGNORECASE) if says else None,
        question=told["question"],
        command=told["command"],
    )


def sense_of(complaint: Complaint) -> Sense | None:
    """Return the sense that leaves no doubt, else the first that fits."""
    sure = (one for one in senses() if one.leaves_no_doubt(complaint))
    return next(sure, None) or next((one for one in senses() if one.fits(complaint)), None)
