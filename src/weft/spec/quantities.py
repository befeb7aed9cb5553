"""Quantities as the user writes them: text with a unit outside, one plain number inside."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from weft import units
from weft.errors import UnitError


def _text(parse: Callable[[str], float], example: str) -> BeforeValidator:
    def read(value: Any) -> float:  # noqa: ANN401 - whatever YAML held
        if not isinstance(value, str):
            raise UnitError(f"has no unit; write {example}")
        return parse(value)

    return BeforeValidator(read)


def _schema(example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": [example]})


_FASTEST_PORT_GBIT = 1600


def _show_rate(value: float) -> str:
    """Show ports in bits and NVLink in bytes, as the field does; never rounded."""
    gbit = units.gbit_from_rate(value)
    text = f"{gbit:.12g}Gb/s" if gbit <= _FASTEST_PORT_GBIT else f"{value / 1e9:.12g}GB/s"
    return text if units.parse_rate(text) == value else f"{value!r}B/s"


def _suffix(unit: str) -> PlainSerializer:
    """Show a number so that reading it gives the same number again."""

    def show(value: float) -> str:
        short = f"{value:.12g}"
        return (short if float(short) == value else repr(value)) + unit

    return PlainSerializer(show, when_used="json")


_positive = Field(gt=0)
_not_negative = Field(ge=0)

Rate = Annotated[
    float, _positive, _text(units.parse_rate, "400Gb/s or 50GB/s"), _schema("400Gb/s"),
    PlainSerializer(_show_rate, when_used="json"),
]  # fmt: skip
Size = Annotated[
    int, Field(gt=0), _text(units.parse_size, "4MiB or 1GB"), _schema("4MiB"),
    PlainSerializer(lambda v: f"{v}B", when_used="json"),
]  # fmt: skip
Time = Annotated[
    float, _not_negative, _text(units.parse_time, "1.5us, 30s or 4h"), _schema("1.5us"),
    _suffix("s"),
]  # fmt: skip
Money = Annotated[
    float, _not_negative, _text(units.parse_money, "38000USD"), _schema("38000USD"),
    _suffix("USD"),
]  # fmt: skip
Power = Annotated[
    float, _positive, _text(units.parse_power, "700W or 10.2kW"), _schema("700W"),
    _suffix("W"),
]  # fmt: skip
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Ratio = Annotated[float, Field(ge=0, le=1)]
