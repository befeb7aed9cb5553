"""What pages have in common: they end with what made the result, and what that cannot see."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from weft.report.page import Block, Page, Sentences
from weft.results import Effect, Provenance

Result = TypeVar("Result")


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


def paged(
    title: Callable[[Result], str],
    answer: Callable[[Result], Iterable[Block]] = lambda _: (),
    blocks: Callable[[Result], Iterable[Block]] = lambda _: (),
    *,
    rest: str = "",
    is_modelled: bool = True,
    held_by: Callable[[Result], Any] = lambda result: result,
) -> Callable[[Result], Page]:
    """Return what makes the page of a result from its parts; its provenance is the footer.

    Without ``is_modelled`` the footer does not say which effects the model lacks; ``held_by``
    gives the part of the result that has the provenance, where it is not the result.
    """

    def page(result: Any) -> Page:  # noqa: ANN401 - any result with a provenance, or without
        made = getattr(held_by(result), "provenance", None)
        lines = () if made is None else footer(made)
        return Page(
            title=title(result), answer=tuple(answer(result)), blocks=tuple(blocks(result)),
            rest=rest, footer=lines if is_modelled else lines[:1],
        )  # fmt: skip

    return page


def all_assumptions(made: Provenance, predictions: Iterable[Any]) -> Sentences:
    """Return the assumptions of a comparison, and once those of each prediction in it."""
    every = (text for prediction in predictions for text in prediction.provenance.assumptions)
    return Sentences(
        title="Assumptions", lines=tuple(dict.fromkeys((*made.assumptions, *every)))
    )
