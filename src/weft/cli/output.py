"""Where results go: standard output or a file written in one piece; charts."""

import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from weft import report
from weft.errors import UnknownName, Unreadable
from weft.report.chart import FORMS


def emit(
    result: Any,  # noqa: ANN401 - any result that report can show
    output: str = "text",
    *,
    out: Path | None = None,
    charts: Sequence[Path] = (),
    full: bool = True,
) -> None:
    """Show one result in one format, on standard output or in a file.

    Without ``full``, text is the first screen alone.
    """
    terminal = out is None and sys.stdout.isatty()
    text = report.show(result, output, terminal=terminal, command=command_line(), full=full)
    if out is not None:
        write_file(out, text.encode("utf-8"))
    else:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")  # an ASCII terminal stops no result
        sys.stdout.write(text)
    for chart in charts:  # after it: a result without this picture is still a result
        draw(result, str(chart))


def check_format(output: str, kind: str = "") -> None:
    """Refuse an unknown format before any work is done; a kind of result may have its own."""
    if not report.has_format(output, kind):
        known = ", ".join(report.formats(kind))
        raise UnknownName(f"no output format is called {output!r}; there are: {known}")


def check_places(
    *files: Path | None, charts: Sequence[Path] = (), kind: str | None = None
) -> None:
    """Refuse what cannot be written before any work is done: a long run must not be lost.

    ``kind`` is that of the result to come, as its view is called: it knows its charts.
    """
    known = None if kind is None or not charts else report.charts_of(kind)
    for chart in charts:
        name = str(chart).rpartition("=")[0]
        if known is not None and (not known or name not in {"", *known}):
            raise UnknownName(
                f"{chart}: this result has no chart called {name!r}; there are: "
                f"{', '.join(known)}"
                if known
                else f"{chart}: this result has no chart; remove --chart"
            )
        form = str(chart).rpartition(".")[2]
        if form not in FORMS:
            raise UnknownName(
                f"{chart}: a chart cannot be a {form!r} file; there are: {', '.join(FORMS)}"
            )
    drawn = (Path(str(chart).rpartition("=")[2]) for chart in charts)
    for file in (*filter(None, files), *drawn):
        if file.is_dir():
            raise Unreadable(f"{file}: is a folder; give a file in it")
        if not file.parent.is_dir():
            raise Unreadable(f"{file}: folder {file.parent} does not exist; create it first")


def draw(result: Any, target: str) -> None:  # noqa: ANN401 - as emit
    """Draw one chart of a result: ``FILE`` takes its first, ``NAME=FILE`` the named one."""
    name, _, path = target.rpartition("=")
    file = Path(path)
    write_file(file, report.picture(result, name or None, file.suffix.removeprefix(".")))


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one piece: whoever reads it sees the old one or all of the new one."""
    write_lines(path, (content,))


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """As write_file, for what is too large to be held."""
    if not path.parent.is_dir():
        raise Unreadable(f"{path}: folder {path.parent} does not exist; create it first")
    try:
        _replace(path, lines)
    except OSError as error:  # a full disk names no file
        raise Unreadable(f"{path}: cannot be written: {error.strerror or error}") from error


def _replace(path: Path, lines: Iterable[bytes]) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".weft.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(lines)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)  # mkstemp is stricter than a redirection
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def command_line(words: Sequence[str] | None = None) -> str:
    """Return the command as it could be typed again."""
    import shlex

    return shlex.join(["weft", *(sys.argv[1:] if words is None else words)])
