"""What results rest on: values that nobody gave, and assumptions."""

from collections.abc import Iterable, Iterator
from typing import Any

from weft.report.page import Sentences
from weft.results import Provenance


def defaults(made: Provenance) -> Iterator[Sentences]:
    """Say which values nobody gave, and how to give them."""
    if made.defaults:
        named = ", ".join(made.defaults)
        yield Sentences(lines=(f"Defaults, change them with --set: {named}.",))


def all_assumptions(made: Provenance, predictions: Iterable[Any]) -> Sentences:
    """Return the assumptions of a comparison, and once those of each prediction in it."""
    every = (text for prediction in predictions for text in prediction.provenance.assumptions)
    return Sentences(
        title="Assumptions", lines=tuple(dict.fromkeys((*made.assumptions, *every)))
    )
