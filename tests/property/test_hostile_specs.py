"""Whatever a key of a spec holds, it is read as what it says or refused with its place."""

import math

import pytest

from weft.cli.failures import describe
from weft.errors import SpecError, WeftError
from weft.spec.load import load_cluster, load_job, load_scenario
from weft.spec.schema import schema

HOSTILE = (
    ".inf", "-.inf", ".nan", "1e400", "-1", "0", "true", "null", "[]", "[[1]]", "{}", "{a: 1}",
    "''", '"\\0"', "1e400Gb/s", "1e999B", "1e400s", "1e400USD", "1e400W", "1e400m", "²",
    "٣Gb/s", "412..", "9" * 5000, f"{'9' * 5000}Gb/s", f"{'9' * 5000}B", "&a [*a]",
)  # fmt: skip
"""YAML texts: numbers without end, digits of other scripts, other kinds."""

MOST_TEXT = 5000

GIVEN = {
    "cluster": (load_cluster, "kind: Cluster\nspec: {preset: dgx_h100, hosts: 8}"),
    "job": (load_job, "kind: Job\nspec: {model: llama3_8b, global_batch: 64}"),
    "scenario": (load_scenario, "kind: Scenario\nspec: {cluster: dgx_h100, traffic: []}"),
}


def _keys(kind):
    """Return the path of every key of a kind of document, through its references."""
    document = schema(kind)
    parts = document["$defs"]

    def below(node, path):
        for arm in (node, *node.get("anyOf", ())):
            part = parts.get(arm.get("$ref", "").rpartition("/")[2], arm)
            for key, value in part.get("properties", {}).items():
                yield ".".join((*path, key))
                if len(path) < 3:
                    yield from below(value, (*path, key))

    return sorted(set(below(document["properties"]["spec"], ())))


@pytest.mark.slow
@pytest.mark.parametrize("kind", GIVEN)
def test_a_hostile_value_is_refused_or_finite(kind, tmp_path):
    load, text = GIVEN[kind]
    file = tmp_path / "spec.yaml"
    file.write_text(f"apiVersion: weft/v1\n{text}\n")
    for key in _keys(kind):
        for value in HOSTILE:
            try:
                spec = load(file, [f"{key}={value}"])
            except WeftError as error:
                told = describe(error).message
                assert len(told) < MOST_TEXT, (key, value[:60])
                continue
            assert all(map(math.isfinite, _numbers(spec.model_dump()))), (key, value[:60])


def _numbers(value):
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, int | float):
        yield float(value)
        return
    elif not isinstance(value, list | tuple):
        return
    for below in value:
        yield from _numbers(below)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_depth_is_refused_whatever_it_is_made_of(opening):
    with pytest.raises(SpecError):
        load_cluster({"preset": "dgx_h100"}, [f"hosts={opening * 3000}"])
