"""What a cluster file leaves open of NCCL, and the time of a collective in each case.

A file rarely states whether NVLS is on, which release runs or what a plug-in chooses, and
published runs on equal nodes differ by a factor of 1.2 to 2 for these reasons. Each open
question is one key of the specification; stating it removes its branches.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.engines.analytic.collective.choice import Option, options
from weft.engines.analytic.collective.constants import Fitted, current
from weft.engines.analytic.collective.model import option_time_s, time_of
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation

DEFAULT: Final = "default"
VERSION_KEY: Final = "nccl.version"
_ENV: Final = "nccl.env."
NVLS_KEY: Final = f"{_ENV}NCCL_NVLS_ENABLE"
ALGORITHM_KEY: Final = f"{_ENV}NCCL_ALGO"
PROTOCOL_KEY: Final = f"{_ENV}NCCL_PROTO"
TUNER_KEY: Final = f"{_ENV}NCCL_TUNER_PLUGIN"
_RELEASES: Final = ("2.21.5", "2.23.4", "2.27.3", "2.28.9", "2.30.7")
"""Releases between which the tables, and so the choices, differ most."""
_FIRST_OF_CLASS: Final = {"blackwell": (2, 25, 1), "hopper": (2, 16)}
_NVLS: Final = frozenset({"nvls", "nvls_tree"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One thing that NCCL may do where the specification does not state it."""

    name: str
    """``default``, or the setting: ``NCCL_NVLS_ENABLE=0``."""
    settle_key: str
    """Key of the specification that decides; empty for the default."""
    value: str
    """Value of the key that gives this branch."""
    time_s: float
    algorithm: str
    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Variant:
    """The cluster with one key set."""

    key: str
    value: str
    path: Path


def _stated(cluster: Cluster, key: str) -> bool:
    if key == VERSION_KEY:
        return "version" in cluster.nccl.model_fields_set
    return key.removeprefix(_ENV) in cluster.nccl.env


def with_key(cluster: Cluster, key: str, value: str) -> Cluster:
    """Return the cluster with one key of the library set."""
    nccl = cluster.nccl
    if key == VERSION_KEY:
        return cluster.with_(nccl=nccl.with_(version=value))
    env = {**nccl.env, key.removeprefix(_ENV): value}
    return cluster.with_(nccl=nccl.with_(env=env))


def _releases(path: Path, found: tuple[Option, ...]) -> Iterator[str]:  # noqa: ARG001
    first = _FIRST_OF_CLASS.get(path.gpu_class, (2,))
    if path.tuning.library != "nccl":
        return
    for release in _RELEASES:
        number = tuple(int(part) for part in release.split("."))
        if number >= first and number != path.version:
            yield release


def _nvls(path: Path, found: tuple[Option, ...]) -> Iterator[str]:  # noqa: ARG001
    if any(option.kind.name in _NVLS for option in found):
        yield "0"


def _protocols(path: Path, found: tuple[Option, ...]) -> Iterator[str]:  # noqa: ARG001
    if any(option.protocol == "ll128" for option in found):
        yield "^LL128"


def _algorithms(path: Path, found: tuple[Option, ...]) -> Iterator[str]:  # noqa: ARG001
    names = sorted({option.kind.title for option in found})
    if len(names) > 1:
        yield from (name.replace(" ", "") for name in names)


_QUESTIONS: Final[dict[str, Callable[[Path, tuple[Option, ...]], Iterator[str]]]] = {
    VERSION_KEY: _releases,
    NVLS_KEY: _nvls,
    ALGORITHM_KEY: _algorithms,
    PROTOCOL_KEY: _protocols,
}
"""By key of the specification: the values that differ from the default."""


@lru_cache(maxsize=1024)
def _variants(
    same: Same, operation: Operation, group: Group, fitted: Fitted
) -> tuple[_Variant, ...]:
    """Return the cluster under every value of every key that it does not state."""
    cluster = same.cluster
    path = path_of(same, group, fitted)
    found = options(path, operation)
    return tuple(
        _Variant(key=key, value=value, path=path_of(Same(changed), group, fitted))
        for key, values in _QUESTIONS.items()
        if not _stated(cluster, key)
        for value in values(path, found)
        for changed in (with_key(cluster, key, value),)
    )


def _has_tuner(path: Path) -> bool:
    """Whether a plug-in of this network brings a tuner that overrides NCCL's choice."""
    return path.fabric.plugin_latency_s > 0 and path.domains > 1


def _branch(key: str, value: str, time_s: float, option: Option) -> Branch:
    name = f"{key.removeprefix(_ENV)}={value}" if key else DEFAULT
    return Branch(
        name=name, settle_key=key, value=value, time_s=time_s,
        algorithm=option.kind.name, protocol=option.protocol,
    )  # fmt: skip


def branches(
    cluster: Cluster, operation: Operation, size_bytes: float, group: Group
) -> tuple[Branch, ...]:
    """Return the default first, then one branch for each value of each key left open.

    A branch that gives the default's algorithm, protocol and time is left out. Times are
    those of the model without a band (seconds).
    """
    fitted, same = current(), Same(cluster)
    path = path_of(same, group, fitted)
    time_s, chosen = time_of(path, operation, size_bytes)
    found = [_branch("", "", time_s, chosen)]
    for variant in _variants(same, operation, group, fitted):
        other_s, option = time_of(variant.path, operation, size_bytes)
        found.append(_branch(variant.key, variant.value, other_s, option))
    if _has_tuner(path) and not _stated(cluster, TUNER_KEY):
        able = options(path, operation)
        fastest = min(able, key=lambda option: option_time_s(path, option, size_bytes))
        fastest_s = option_time_s(path, fastest, size_bytes)
        found.append(_branch(TUNER_KEY, "fastest", fastest_s, fastest))
    seen = {(chosen.kind.name, chosen.protocol, time_s)}
    return tuple(
        branch
        for branch in found
        if not branch.settle_key
        or (branch.algorithm, branch.protocol, branch.time_s) not in seen
    )
