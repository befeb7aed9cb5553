"""What the shell offers for a value: names of presets, models, keys, read without an engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft.catalogue.load import Folder


def complete_preset(incomplete: str) -> list[str]:
    """Return the presets that begin so."""
    from weft.spec.load import presets

    return _beginning(presets(), incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Return the models that begin so, with names of the Hugging Face Hub after a slash."""
    from weft.spec.hub import names
    from weft.spec.load import models

    known = names() if "/" in incomplete else (*models(), *names())
    return _beginning(known, incomplete)


def complete_fabric(incomplete: str) -> list[str]:
    """Return the networks that begin so; several are parted by commas."""
    from weft.api import fabrics

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(fabrics(), last)]


def complete_set(incomplete: str) -> list[str]:
    """Return the keys of clusters and jobs that begin so, or the values that a key may have."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        return _beginning((f"{name}=" for name in keys()), incomplete)
    return [f"{key}={name}" for name in _beginning(values(key), value)]


def complete_operation(incomplete: str) -> list[str]:
    """Return the collectives that begin so."""
    from weft.traffic.collective import Operation

    return _beginning((operation.value for operation in Operation), incomplete)


def keys() -> list[str]:
    """Return every key of a cluster and of a job that holds one value, as --set takes it."""
    return [key for key, shape in _shapes().items() if "properties" not in shape]


def values(key: str) -> list[str]:
    """Return the values that are known for a key: names of files, or those of its type.

    >>> values("fabric.tuning"), values("fabric.in_network_reduction")
    (['tuned', 'default', 'misconfigured'], ['true', 'false'])
    """
    if key in _NAMED:
        return list(_NAMED[key]())
    shape = _shapes().get(key, {})
    return ["true", "false"] if shape.get("type") == "boolean" else shape.get("enum", [])


def _devices(kind: "Folder") -> Callable[[], Iterable[str]]:
    def named() -> Iterable[str]:
        from weft.catalogue import names

        return names(kind)

    return named


def _topologies() -> Iterable[str]:
    from weft import plugins
    from weft.network import topologies

    return plugins.names(topologies)


def _models() -> Iterable[str]:
    from weft.spec.load import models

    return models()


_NAMED: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "fabric.kind": _devices("fabrics"),
    "topology.kind": _topologies,
    "topology.switch": _devices("switches"),
    "host.gpu": _devices("gpus"),
    "host.nic": _devices("nics"),
    "host.server": _devices("servers"),
    "model": _models,
}


def _shapes() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of every key of a cluster and of a job, by its path."""
    from weft.spec.cluster import Cluster
    from weft.spec.workload import Job

    found: dict[str, dict[str, Any]] = {}
    for part in (Cluster, Job):
        whole = part.model_json_schema()
        found |= dict(_below(whole, whole.get("$defs", {}), ""))
    return found


def _below(
    shape: Mapping[str, Any], parts: Mapping[str, Any], at: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, below in shape.get("properties", {}).items():
        own = _followed(below, parts)
        yield f"{at}{name}", own
        yield from _below(own, parts, f"{at}{name}.")


def _followed(shape: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a reference, and of several shapes take the one that holds keys or names."""
    if "$ref" in shape:
        return _followed(parts[shape["$ref"].rpartition("/")[2]], parts)
    arms = [_followed(arm, parts) for key in ("anyOf", "oneOf") for arm in shape.get(key, ())]
    telling = (arm for arm in arms if "properties" in arm or "enum" in arm)
    return dict(next(telling, arms[0] if arms else shape))


def _beginning(known: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in known if name.startswith(incomplete)]
