"""What a renderer is: a result and its page in, text out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.report import escape
from weft.report.page import Page, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """All that a renderer may use."""

    result: Any
    view: View
    terminal: bool = False
    """Whether a person reads it on a terminal, which takes colours and frames."""
    width: int = 96
    full: bool = True
    """Whether text holds everything, or the first screen alone."""
    command: str = ""
    """The command that made the result, to be copied."""

    @property
    def page(self) -> Page:
        """The result as tables and sentences, whose texts hold no control character."""
        return escape.page(self.view.page(self.result))


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """One output format; the file's name is what follows ``-o``."""

    title: str
    render: Callable[[Rendering], str]
    kinds: frozenset[str] = frozenset()
    """Kinds of result that it can show; empty: all of them."""
