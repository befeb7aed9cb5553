"""The run history: every benchmark that was run, in SQLite, or in PostgreSQL by its URL."""

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.bench.run import BenchRun
from weft.bench.sweep import Timing
from weft.errors import Unreadable

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Row

VARIABLE: Final = "WEFT_HISTORY"
MOST_OUTPUT: Final = 1 << 20
"""Characters of a benchmark's own output that are kept."""
_MOST_RUNS: Final = 10_000
_TEXTS: Final = ("tool", "operation", "launcher", "label", "began", "what")
_PASSWORD: Final = re.compile(r"([?&](?:ssl)?password=)[^&]*", re.IGNORECASE)
_LISTS: Final = ("hosts", "versions", "options", "commands")


def default_url(environment: Mapping[str, str] | None = None) -> str:
    """Return where the history is: WEFT_HISTORY, or a file in the user's state folder."""
    given = os.environ if environment is None else environment
    if given.get(VARIABLE):
        return given[VARIABLE]
    state = given.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return f"sqlite:///{Path(state) / 'weft' / 'history.sqlite3'}"


def _tables() -> "MetaData":
    from sqlalchemy import (  # noqa: PLC0415 - it takes time to load
        Column,
        Float,
        ForeignKey,
        Integer,
        MetaData,
        Table,
        Text,
    )

    found = MetaData()
    Table(
        "runs", found, Column("id", Integer, primary_key=True),
        *(Column(name, Text, nullable=False) for name in (*_TEXTS, *_LISTS)),
        Column("ranks", Integer), Column("ranks_per_host", Integer, nullable=False),
        Column("output", Text, nullable=False),
    )  # fmt: skip
    Table(
        "timings", found,
        Column("run", Integer, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        Column("size_bytes", Float, primary_key=True), Column("time_s", Float, nullable=False),
        Column("noise_ratio", Float, nullable=False),
        Column("own_noise", Integer, nullable=False), Column("wrong", Integer, nullable=False),
    )  # fmt: skip
    return found


@contextmanager
def _connected(url: str) -> "Iterator[tuple[Connection, MetaData]]":
    """Open the history, make its tables where they are missing, and end in one transaction."""
    from sqlalchemy import create_engine, exc  # noqa: PLC0415 - as above

    place = url.removeprefix("sqlite:///")
    tables = _tables()
    try:
        if place != url and place not in ("", ":memory:"):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(_driver(url))
        try:
            tables.create_all(engine)
            with engine.begin() as connection:
                yield connection, tables
        finally:
            engine.dispose()
    except exc.ArgumentError as error:
        raise Unreadable(
            f"run history {hidden(url)!r}: is no URL; write sqlite:///FILE or "
            "postgresql://USER@HOST/DATABASE"
        ) from error
    except (exc.SQLAlchemyError, OSError, ImportError) as error:
        first = str(error).splitlines()[0]
        raise Unreadable(f"run history {hidden(url)}: {first}") from error


def _driver(url: str) -> str:
    """Name the driver of PostgreSQL that weft asks for; other URLs say theirs.

    >>> _driver("postgresql://a@b/c")
    'postgresql+psycopg://a@b/c'
    """
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return f"postgresql+psycopg://{url.removeprefix(plain)}"
    return url


def hidden(url: str) -> str:
    """Leave the password out of a URL that is shown.

    >>> hidden("postgresql://me:secret@host/db")
    'postgresql://me:***@host/db'
    >>> hidden("postgresql://host/db?user=me&password=secret")
    'postgresql://host/db?user=me&password=***'
    """
    url = _PASSWORD.sub(r"\1***", url)
    head, at, tail = url.rpartition("@")
    user, colon, _ = head.rpartition(":")
    return f"{user}:***@{tail}" if at and colon and "//" in user else url


def keep(run: BenchRun, url: str) -> BenchRun:
    """Add a run to the history; return it with its number."""
    with _connected(url) as (connection, tables):
        row: dict[str, Any] = {name: getattr(run, name) for name in _TEXTS}
        row |= {name: json.dumps(getattr(run, name)) for name in _LISTS}
        row |= {"ranks": run.ranks, "ranks_per_host": run.ranks_per_host}
        row["output"] = run.output[:MOST_OUTPUT].replace("\0", "")
        inserted = connection.execute(tables.tables["runs"].insert().values(**row))
        key = inserted.inserted_primary_key
        assert key is not None
        number = int(key[0])
        connection.execute(
            tables.tables["timings"].insert(),
            [
                {"run": number, "size_bytes": t.size_bytes, "time_s": t.time_s,
                 "noise_ratio": t.noise_ratio, "own_noise": int(t.own_noise),
                 "wrong": t.wrong}
                for t in run.timings
            ],
        )  # fmt: skip
    return replace(run, id=number)


@dataclass(frozen=True, slots=True)
class Stored:
    """What a history holds: its runs, the oldest first, and the rows that are none."""

    runs: tuple[BenchRun, ...]
    unreadable: tuple[str, ...] = ()
    """One line for each row that cannot be read, with its number and the reason."""


def load(url: str) -> Stored:
    """Return the runs of a history; a row that cannot be read is named and left out."""
    with _connected(url) as (connection, tables):
        runs, timings = tables.tables["runs"], tables.tables["timings"]
        found = connection.execute(runs.select().order_by(runs.c.id.desc()).limit(_MOST_RUNS))
        rows = list(found)[::-1]
        by_run: dict[int, list[Row[Any]]] = {row.id: [] for row in rows}
        for timing in connection.execute(timings.select().order_by(timings.c.size_bytes)):
            if timing.run in by_run:
                by_run[timing.run].append(timing)
    readable: list[BenchRun] = []
    unreadable: list[str] = []
    for row in rows:
        try:
            readable.append(_run(row, tuple(map(_timing, by_run[row.id]))))
        except (ValueError, TypeError) as error:
            unreadable.append(f"run {row.id} is left out: {error}")
    return Stored(tuple(readable), tuple(unreadable))


def _timing(row: "Row[Any]") -> Timing:
    for name in ("size_bytes", "time_s"):
        value = getattr(row, name)
        if not (isinstance(value, int | float) and 0 < value < math.inf):
            raise ValueError(f"{name} is {value!r:.40}; it must be a number above 0")
    return Timing(
        size_bytes=row.size_bytes, time_s=row.time_s, noise_ratio=row.noise_ratio,
        own_noise=bool(row.own_noise), wrong=row.wrong,
    )  # fmt: skip


def _run(row: "Row[Any]", timings: tuple[Timing, ...]) -> BenchRun:
    known: dict[str, Any] = {name: getattr(row, name) for name in _TEXTS}
    known |= {name: _texts(name, getattr(row, name)) for name in _LISTS}
    if not timings:
        raise ValueError("it has no timings")
    return BenchRun(
        id=row.id, ranks=row.ranks, ranks_per_host=row.ranks_per_host, output=row.output,
        timings=timings, **known,
    )  # fmt: skip


def _texts(name: str, stored: str) -> tuple[str, ...]:
    found = json.loads(stored)
    if not (isinstance(found, list) and all(isinstance(text, str) for text in found)):
        raise ValueError(f"{name} is {stored!r:.40}; it must be a list of texts")
    return tuple(found)
