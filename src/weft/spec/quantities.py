"""Quantities as the user writes them: text with a unit outside, one plain number inside."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from weft import units
from weft.errors import UnitError


def _text(parse: Callable[[str], float], example: str) -> BeforeValidator:
    def read(value: Any) -> float:  # noqa: ANN401 - whatever YAML held
        if not isinstance(value, str):
            raise UnitError(f"{value!r} has no unit; write {example}")
        return parse(value)

    return BeforeValidator(read)


def _schema(example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": [example]})


Rate = Annotated[
    float, _text(units.parse_rate, "400Gb/s or 50GB/s"), _schema("400Gb/s"),
    PlainSerializer(lambda v: f"{units.gbit_from_rate(v):.12g}Gb/s", when_used="json"),
]  # fmt: skip
Size = Annotated[
    int, _text(units.parse_size, "4MiB or 1GB"), _schema("4MiB"),
    PlainSerializer(lambda v: f"{v}B", when_used="json"),
]  # fmt: skip
Time = Annotated[
    float, _text(units.parse_time, "1.5us, 30s or 4h"), _schema("1.5us"),
    PlainSerializer(lambda v: f"{v:.12g}s", when_used="json"),
]  # fmt: skip
Money = Annotated[
    float, _text(units.parse_money, "38000USD"), _schema("38000USD"),
    PlainSerializer(lambda v: f"{v:.12g}USD", when_used="json"),
]  # fmt: skip
Power = Annotated[
    float, _text(units.parse_power, "700W or 10.2kW"), _schema("700W"),
    PlainSerializer(lambda v: f"{v:.12g}W", when_used="json"),
]  # fmt: skip
Length = Annotated[
    float, _text(units.parse_length, "30m"), _schema("30m"),
    PlainSerializer(lambda v: f"{v:.12g}m", when_used="json"),
]  # fmt: skip
