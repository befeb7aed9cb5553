r"""Text of strangers at the border: one escaping for each output format.

File names, log lines and keys of specs reach every report. Here, and nowhere else, they lose
what a terminal, a browser, a Markdown reader or a build server would take for its own:
control characters, marks that change the direction of writing, tags, links, commands.
(The templates of HTML escape tags, and show texts as ``visible`` does.)
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from html import escape
from typing import Any, Final, TypeVar

T = TypeVar("T")
_BREAKS: Final = dict.fromkeys(map(ord, "\t\n\r\v\f\x85\u2028\u2029"), " ")
_MARKS: Final = (
    *range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF,
    *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A),
)  # fmt: skip
"""C0 and C1, line separators, and the marks of direction of Unicode (UAX 9)."""
_BYTES: Final = range(0x100)
_SURROGATES: Final = range(0xD800, 0xE000)
_SHOWN: Final[Mapping[int, str]] = {
    **{code: f"\\x{code:02x}" if code in _BYTES else f"\\u{code:04x}" for code in _MARKS},
    **dict.fromkeys(_SURROGATES, "\ufffd"),
}
_LINES: Final = {code: shown for code, shown in _SHOWN.items() if chr(code) not in "\n\t"}
_IN_JSON: Final = {
    code: f"\\u{code:04x}" for code in (*_MARKS, *_SURROGATES) if chr(code) not in "\n\t\r"
}
_ODD: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_COMMAND: Final = re.compile(r"(?m)^(\s*)(::|##\[)")
"""What GitHub and Azure take for a command at the beginning of a line."""
_MARKDOWN: Final = {"\\": "\\\\", "<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LINK: Final = re.compile(r"\](?=[(\[:])")


def visible(text: str) -> str:
    r"""Return a text as one line whose control characters can be seen.

    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m b'
    """
    if not _ODD.search(text):
        return text
    return text.translate(_BREAKS).translate(_SHOWN)


def lines(text: str) -> str:
    r"""Return a text of lines for a terminal: no control character but ends of lines.

    A line that a build server would take for a command begins with a backslash.

    >>> lines("::error::forged\nb\x9b")
    '\\::error::forged\nb\\x9b'
    """
    return _COMMAND.sub(r"\1\\\2", text.translate(_LINES) if _ODD.search(text) else text)


def page(shown: T) -> T:
    """Return a page, or a part of one, whose every text is visible; data of charts stay."""
    if isinstance(shown, str):
        return visible(shown)  # type: ignore[return-value]
    if isinstance(shown, tuple):
        return tuple(map(page, shown))  # type: ignore[return-value]
    if is_dataclass(shown) and not isinstance(shown, type):
        held = {field.name: getattr(shown, field.name) for field in fields(shown)}
        texts = {key: page(part) for key, part in held.items() if isinstance(part, str | tuple)}
        changed = {key: part for key, part in texts.items() if part != held[key]}
        return replace(shown, **changed) if changed else shown
    return shown


def markdown(text: str) -> str:
    r"""Return a text in which Markdown finds no tag and no link.

    >>> markdown("<b> [x](javascript:y)")
    '&lt;b&gt; [x\\](javascript:y)'
    """
    escaped = "".join(_MARKDOWN.get(char, char) for char in visible(text))
    return _LINK.sub(r"\]", escaped)


def xml(text: str) -> str:
    """Return a text for an element of XML, which cannot hold control characters at all."""
    return escape(lines(text), quote=False)


def xml_attribute(text: str) -> str:
    """Return an attribute of XML with its quotes."""
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - it imports ssl, and XML is rare

    return quoteattr(visible(text))


def github(text: str) -> str:
    """Return the message of a workflow command [GitHub, toolkit, command.ts]."""
    plain = text.translate(_LINES) if _ODD.search(text) else text
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def github_property(text: str) -> str:
    """Return a property of a workflow command."""
    return github(text).replace(":", "%3A").replace(",", "%2C")


def json_text(document: Any, indent: int | None = 2) -> str:  # noqa: ANN401 - plain data
    """Return plain data as JSON in which control characters and half characters are escapes."""
    text = json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)
    return f"{text.translate(_IN_JSON) if _ODD.search(text) else text}\n"
