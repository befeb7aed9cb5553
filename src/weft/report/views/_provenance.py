"""The last lines of every report: what made the result, and what that cannot see."""

from collections.abc import Iterator

from weft.report.page import Sentences
from weft.results import Effect, Provenance


def defaults(made: Provenance) -> Iterator[Sentences]:
    """Say which values nobody gave, and how to give them."""
    if made.defaults:
        named = ", ".join(made.defaults)
        yield Sentences(lines=(f"Defaults, change them with --set: {named}.",))


def footer(made: Provenance) -> tuple[str, ...]:
    """Say how to get the same result again and which effects are missing from it."""
    overlay = f", overlay {made.overlay}" if made.overlay else ", no overlay"
    seed = "" if made.seed is None else f", seed {made.seed}"
    first = (
        f"weft {made.weft}, {made.engine} engine, spec {made.spec_sha256[:12]}, "
        f"catalogue {made.catalogue_sha256[:12]}{overlay}{seed}"
    )
    unseen = [effect.value for effect in Effect if effect not in made.models]
    if not unseen:
        return (first,)
    return (first, f"Not simulated, only in the sourced factors: {', '.join(unseen)}")
