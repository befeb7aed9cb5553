"""Hugging Face config.json in, the fields of a Model out, by the rows of architectures.toml."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import reduce
from operator import add, floordiv, getitem, mul
from pathlib import Path
from typing import Any, Final

from weft.errors import SpecError
from weft.records import table
from weft.spec.document import read_json
from weft.spec.problems import nearest

Config = Mapping[str, Any]
LARGEST_BYTES: Final = 1 << 22
"""Lists of quantised layers make some configs long."""
Fields = dict[str, Any]
_OPERATORS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "//": floordiv, "*": mul, "+": add,
}  # fmt: skip


def read_config(path: Path) -> Fields:
    """Read a config.json; return the fields of a model.

    Mixed models (vision and text) are read by their text part.
    """
    config = read_json(path, LARGEST_BYTES)
    if not isinstance(config, Mapping):
        raise SpecError(f"{path}: is no config.json: it holds no mapping")
    text = config.get("text_config")
    if isinstance(text, Mapping):
        kind = text.get("model_type", config.get("model_type"))
        config = {**config, **text, "model_type": kind}
    kind, known = str(config.get("model_type", "")), table("weft.spec", "architectures")
    if kind not in known:
        raise SpecError(
            f"{path}: model_type: value {kind!r}: is no architecture that weft reads; "
            f"{nearest(kind, known)}; or write the model's fields in the job"
        )
    try:
        fields = _settled(_fields(_row(kind), config))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise SpecError(f"{path}: {what}; a {kind} config.json has it as a number") from error
    name = config.get("_name_or_path") or path.parent.name or kind
    return {"name": str(name), **fields}


def _row(kind: str) -> Fields:
    own = table("weft.spec", "architectures")[kind]
    base = _row(own["like"]) if "like" in own else {}
    return {name: value for name, value in (base | own).items() if name != "like"}


def _fields(row: Config, config: Config) -> Fields:
    """Return the values of a row; what is computed may name fields above."""
    found: Fields = {}
    for name, entry in row.items():
        inner = isinstance(entry, Mapping)
        found[name] = _fields(entry, config) if inner else _value(entry, {**config, **found})
    return found


def _value(entry: object, known: Config) -> Any:  # noqa: ANN401 - whatever the config has
    """Return what an entry of a row stands for; KeyError names a key that is missing."""
    if isinstance(entry, list):
        for option in entry[:-1]:
            with suppress(KeyError, TypeError):  # of an inner mapping that is none
                if (value := _value(option, known)) is not None:
                    return value
        return _value(entry[-1], known)
    if not isinstance(entry, str):
        return entry
    if " " in entry:
        left, operator, right = entry.split()
        return _OPERATORS[operator](_value(left, known), _value(right, known))
    if entry.isdecimal():
        return int(entry)
    return reduce(getitem, entry.split("."), known)


def _settled(fields: Fields) -> Fields:
    """Return the fields without the switches of a row, and with what those decide."""
    windowed = fields.pop("windowed", True) is not False and fields.get("window")
    multi_query, grouped = fields.pop("multi_query", False), fields.pop("grouped_query", False)
    if fields.pop("alibi", False):
        fields["positions"] = 0
    if multi_query and not grouped:
        fields["kv_heads"] = 1
    if fields.get("experts", {}).get("shared_ffn_hidden"):
        fields["experts"]["shared_experts"] = 1
    unused = () if windowed else ("window", "full_attention_every")
    return {name: value for name, value in fields.items() if name not in unused}
