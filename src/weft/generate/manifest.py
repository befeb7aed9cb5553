"""Kubernetes manifests as text, in the part of YAML that YAML 1.1 and 1.2 read alike.

Kubernetes reads YAML 1.1, where off, no, 1_000 and 12:30 are no text. So a scalar stands plain
only where no version of YAML could take it for anything but text; all else is quoted, with
what is not printable escaped. No value can end its line and begin another.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import yaml

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]
Manifest = Mapping[str, Value]

_PLAIN: Final = re.compile(r"[A-Za-z/](?:[A-Za-z0-9_./:@+-]*[A-Za-z0-9_/])?")
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Text to a person, and a boolean or nothing to YAML 1.1."""
_BLOCK: Final = re.compile(r"[!-~][ -~]*\n(?:(?:[ -~]*\n)*[ -~]*[!-~][ -~]*\n)?")
"""Whole lines, each printable, that a literal block holds as it stands."""
_WIDTH: Final = 94
_ONE_LINE: Final = 1 << 30


def text(manifests: Iterable[Manifest], head: Iterable[str]) -> str:
    r"""Return manifests as one file of documents under a head of comments.

    >>> print(text([{"kind": "Pod", "args": ["off", "a\nb: c"]}], ["why"]), end="")
    # why
    ---
    kind: Pod
    args:
    - "off"
    - "a\nb: c"
    """
    lines = [
        f"# {line}" for text in head for line in wrap(text, _WIDTH, break_on_hyphens=False)
    ]
    documents = yaml.dump_all(
        manifests, Dumper=_Dumper, explicit_start=True, sort_keys=False, width=_ONE_LINE
    )
    return "\n".join([*lines, documents])


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes text plain, as a block or quoted, and what is used twice twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - as yaml calls it
        return True


def _text(dumper: Any, value: str) -> Any:  # noqa: ANN401 - yaml's own
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    style = None if is_plain else "|" if _BLOCK.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_multi_representer(str, _text)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)
_Dumper.add_multi_representer(Mapping, lambda dumper, value: dumper.represent_dict(dict(value)))
