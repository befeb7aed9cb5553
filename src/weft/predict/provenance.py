"""What a result was made from, so that anybody can make it again."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from weft import catalogue
from weft.results import Effect, Provenance

if TYPE_CHECKING:  # the models of documents take an eighth of a second to import
    from weft.spec.base import Part
    from weft.spec.cluster import Cluster

ANALYTIC_EFFECTS = frozenset(
    {
        Effect.SERIALISATION,
        Effect.LATENCY,
        Effect.OVERSUBSCRIPTION,
        Effect.ALGORITHM_CHOICE,
        Effect.OVERLAP,
        Effect.PIPELINE,
        Effect.STRAGGLERS,
        Effect.FAILURES,
    }
)
"""What the closed forms see; everything else enters as a sourced factor, named in results."""


@cache
def weft_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("weft")
    except PackageNotFoundError:
        return "0+unknown"


def provenance(
    *specs: "Part", sources: tuple[str, ...], assumptions: tuple[str, ...]
) -> Provenance:
    """Describe how a result of the analytic engine was made from these specs."""
    clusters = _clusters(specs) if specs else []
    odd = []
    if clusters:
        from weft.predict.doubts import doubts  # noqa: PLC0415 - as above

        odd = [doubt for cluster in clusters for doubt in doubts(cluster)]
    digest = hashlib.sha256()
    for spec in specs:
        digest.update(spec.model_dump_json().encode())
    return Provenance(
        weft=weft_version(),
        engine="analytic",
        models=ANALYTIC_EFFECTS,
        spec_sha256=digest.hexdigest(),
        catalogue_sha256=catalogue.sha256(),
        overlay=next(map(_overlay_name, clusters), None),
        sources=sources,
        assumptions=tuple(dict.fromkeys((*odd, *assumptions))),
    )


def _clusters(specs: Sequence["Part"]) -> list["Cluster"]:
    from weft.spec.cluster import Cluster  # noqa: PLC0415 - as above

    return [spec for spec in specs if isinstance(spec, Cluster)]


def _overlay_name(cluster: "Cluster") -> str | None:
    overlay = getattr(cluster, "overlay", None)
    return None if overlay is None else f"{overlay.name}@{overlay.sha256[:12]}"
