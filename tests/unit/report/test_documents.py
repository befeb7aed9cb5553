"""The document of every result is JSON, fits its schema and is the same in YAML."""

import json
from dataclasses import dataclass
from enum import StrEnum

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from weft import report
from weft.report import plain, schema
from weft.results import Estimate


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """What is inside."""

    colours: frozenset[Colour]
    by_name_s: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One of each."""

    when_s: Estimate
    inner: tuple[Inner, ...]
    pair: tuple[int, str]
    note: str | None = None

    @property
    def twice_s(self) -> float:
        """Twice."""
        return self.when_s.value * 2


SAMPLE = Sample(
    when_s=Estimate(1.0, 0.5, float("inf")),
    inner=(Inner(colours=frozenset({Colour.RED}), by_name_s={"a": 0.25}),),
    pair=(1, "x"),
)


def test_a_result_becomes_plain_data_with_its_properties():
    assert plain.plain(SAMPLE) == {
        "when_s": {"value": 1.0, "low": 0.5, "high": None},
        "inner": [{"colours": ["red"], "by_name_s": {"a": 0.25}}],
        "pair": [1, "x"],
        "note": None,
        "twice_s": 2.0,
    }


def test_a_document_fits_the_schema_of_its_class():
    checker = Draft202012Validator(plain.schema_of(Sample))
    document = json.loads(report.show(SAMPLE, "json"))
    checker.validate(document)
    assert not checker.is_valid(document | {"when_s": "1 s"})
    assert not checker.is_valid(document | {"extra": 1})
    assert not checker.is_valid({k: v for k, v in document.items() if k != "inner"})


@pytest.mark.parametrize("kind", schema.kinds())
def test_every_kind_of_result_has_a_schema_that_is_one(kind):
    Draft202012Validator.check_schema(schema.schema(kind))
    assert plain.kind_of(schema.result_class(kind)) == kind


def test_the_error_envelope_has_a_schema_that_is_one():
    Draft202012Validator.check_schema(schema.schema("error"))


def test_an_expectation_fits_its_schema(expectation):
    document = json.loads(report.show(expectation, "json"))
    Draft202012Validator(schema.schema("expect")).validate(document)
    assert document["points"][0]["time_s"]["value"] == expectation.points[0].time_s.value
    assert document["provenance"]["models"] == ["latency", "serialisation"]


def test_yaml_holds_the_document_of_json(expectation):
    loaded = YAML(typ="safe", pure=True).load(report.show(expectation, "yaml"))
    assert loaded == json.loads(report.show(expectation, "json"))


def test_the_same_result_gives_the_same_bytes(expectation):
    assert report.show(expectation, "json") == report.show(expectation, "json")
