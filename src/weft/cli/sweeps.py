"""``--sweep``: a verb at several values of a key, each laid over the documents as a set."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from weft.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

    from weft.advise.compare import Comparison
    from weft.advise.need import Need
    from weft.cli.inputs import Case
    from weft.cli.options import CaseGiven, ClusterGiven
    from weft.predict.collective import Expectation
    from weft.predict.grid import Grid, Measures
    from weft.predict.training import Prediction
    from weft.results import Provenance
    from weft.spec.cluster import Cluster

Given = TypeVar("Given", bound="ClusterGiven")
Result = TypeVar("Result", "Prediction", "Need", "Comparison")


def swept_case(
    verb: str,
    sweep: Sequence[str],
    given: "CaseGiven",
    documents: "Sequence[Path]",
    *,
    run: "Callable[[Case], Result]",
    measures: "Callable[[Result], Measures]",
) -> "Grid":
    """Run a verb on a cluster and a job at every point of a sweep."""
    from weft.cli.inputs import case_of
    from weft.predict.grid import axis, grid

    stated: list[tuple[str, ...]] = []

    def at(point: Mapping[str, str]) -> "tuple[str, Measures, Provenance]":
        own, sets = _at(given, point)
        if "model" in point:
            own = replace(own, model=point["model"])
        with _named_as_given(sets):
            case = case_of(own, documents, sets)
        stated.append(case.defaults)
        result = run(case)
        model = "" if "model" in point else f"{case.job.model.name} on "
        about = f"{model}{case.cluster.name}"
        return about, measures(result), result.provenance

    found = grid(verb, [axis(text) for text in sweep], at)
    return replace(found, provenance=replace(found.provenance, defaults=_shared(stated)))


def swept_cluster(
    sweep: Sequence[str],
    given: "ClusterGiven",
    documents: "Sequence[Path]",
    overlay: "Path | None",
    run: "Callable[[Cluster], Expectation]",
) -> "Grid":
    """Expect a collective at every point of a sweep."""
    from weft.cli.inputs import cluster_of
    from weft.predict.grid import axis, grid
    from weft.study.measures import expected

    def at(point: Mapping[str, str]) -> "tuple[str, Measures, Provenance]":
        own, sets = _at(given, point)
        with _named_as_given(sets):
            cluster = cluster_of(own, documents, overlay=overlay, more=sets)
        result = run(cluster)
        about = f"{result.operation.value} on {result.cluster.name}"
        return about, expected(result), result.provenance

    return grid("expect", [axis(text) for text in sweep], at)


def _at(given: Given, point: Mapping[str, str]) -> tuple[Given, list[str]]:
    """Lay a point over what was given; hosts and GPUs are those of the options."""
    counts = {key: value for key, value in point.items() if key in {"gpus", "hosts"}}
    wrong = [f"{key}={value}" for key, value in counts.items() if not value.isdecimal()]
    if wrong:
        raise typer.BadParameter(f"{wrong[0]}: write whole numbers", param_hint="--sweep")
    own = replace(given, hosts=None, gpus=None) if counts else given
    apart = {*counts, "model"}
    sets = [f"{key}={value}" for key, value in point.items() if key not in apart]
    sizes: dict[str, Any] = {key: int(value) for key, value in counts.items()}
    return replace(own, **sizes), sets


@contextmanager
def _named_as_given(sets: Sequence[str]) -> Iterator[None]:
    """Name --sweep in errors of a point: it is laid over the documents as --set would be."""
    try:
        yield
    except SpecError as error:
        text = str(error)
        for given in sets:
            text = text.replace(f"--set {given}", f"--sweep {given}")
        raise type(error)(text) from error


def _shared(stated: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the defaults that all points share; those that differ by their key alone."""
    every = dict.fromkeys(text for defaults in stated for text in defaults)
    shared = {text for text in every if all(text in defaults for defaults in stated)}
    named = (text if text in shared else f"{text.partition('=')[0]} by point" for text in every)
    return tuple(dict.fromkeys(named))
