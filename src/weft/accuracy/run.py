"""Scoring a folder of measurements, whatever subset of the files it has."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from weft.accuracy import scoreboard as board
from weft.accuracy import tables as files
from weft.accuracy.aims import LARGE, SMALL, outcomes
from weft.accuracy.by_system import by_system
from weft.accuracy.calibrated import calibrated
from weft.accuracy.kind import Kind, LeftOut, Row, Score, all_kinds, as_shipped, is_apart
from weft.accuracy.nested import check
from weft.accuracy.scoreboard import Scoreboard
from weft.accuracy.trend import trends
from weft.errors import UnknownName
from weft.plugins import unknown
from weft.predict.provenance import provenance

Tables = Mapping[str, list[Row]]
Found = Score | LeftOut

COLLECTIVES: Final = frozenset({LARGE, SMALL})
TWICE: Final = ("same logs as", "do not count twice")
"""Words of a row's notes that say another row holds the same measurement."""


def score(data_folder: Path | None = None, kinds: Sequence[str] | None = None) -> Scoreboard:
    """Predict every row of a folder that the model covers, and say how far off it is.

    Without a folder, the measurements that come with weft are used. A row of a site that a
    fit has seen is predicted by a fit without it; ``as_shipped`` has the shipped constants.
    """
    tables = files.read(data_folder or files.SHIPPED)
    known = all_kinds()
    for name in kinds or ():
        if name not in known:
            raise UnknownName(unknown("kind", name, [*known]))
    loaded = {name: known[name] for name in (known if kinds is None else kinds)}
    found = [score for name, kind in loaded.items() for score in run(name, kind, tables)]
    with as_shipped():
        again = {name: kind for name, kind in loaded.items() if kind.holds_out}
        shipped = [score for name, kind in again.items() for score in run(name, kind, tables)]
    shown = str(data_folder) if data_folder else "shipped"
    return assemble(shown, loaded, tables, found, shipped)


def run(name: str, kind: Kind, tables: Tables) -> list[Found]:
    """Score one kind; what fails as a whole is tried row by row, so that one row costs one."""
    if not any(tables.get(file) for file in kind.files):
        return []
    try:
        found = list(kind.score(tables))
    except Exception:  # noqa: BLE001 - a malformed row must not hide the others
        found = list(_one_by_one(name, kind, tables))
    rows = _rows_by_name(kind, tables)
    return [_checked(score, rows) for score in found]


def _one_by_one(name: str, kind: Kind, tables: Tables) -> Iterator[Found]:
    for row in _rows_by_name(kind, tables):
        alone = dict(tables) | {
            file: [r for r in tables.get(file, []) if files.identity(r) == row]
            for file in kind.files
        }
        try:
            found = list(kind.score(alone))
        except Exception as error:  # noqa: BLE001 - as above
            said = str(error) or type(error).__name__
            yield LeftOut(kind=name, row=row, reason=f"cannot be read: {said}")
        else:
            yield from found


def _rows_by_name(kind: Kind, tables: Tables) -> dict[str, Row]:
    """Return the first row of each name over the files of a kind, the first file first."""
    found: dict[str, Row] = {}
    for file in kind.files:
        for row in tables.get(file, []):
            found.setdefault(files.identity(row), row)
    return found


def row_name(score: Found) -> str:
    """Return the name of the row in its file: before the size or column."""
    return score.row.partition("@")[0].partition(":")[0]


def _checked(score: Found, rows: Mapping[str, Row]) -> Found:
    """Leave out what cannot be compared, and what another row holds already."""
    if isinstance(score, LeftOut):
        return score
    notes = (rows.get(row_name(score)) or {}).get("notes") or ""
    reason = ""
    if any(words in notes.lower() for words in TWICE):
        reason = "counted once: another row has it"
    elif not (math.isfinite(score.measured) and score.measured > 0):
        reason = "measured figure is not above zero"
    elif not (math.isfinite(score.predicted) and score.predicted >= 0):
        reason = "no finite prediction"
    return LeftOut(kind=score.kind, row=score.row, reason=reason) if reason else score


def assemble(
    data: str,
    loaded: Mapping[str, Kind],
    tables: Tables,
    found: Sequence[Found],
    shipped: Sequence[Found],
) -> Scoreboard:
    """Put scores and reasons together into a scoreboard."""
    scores = [score for score in found if isinstance(score, Score)]
    missing = [score for score in found if isinstance(score, LeftOut)]
    names = list(dict.fromkeys((*board.ALWAYS, *loaded)))
    rows = {name: _rows_by_name(kind, tables) for name, kind in loaded.items()}
    systems = tuple(by_system(scores))
    read = {file for kind in all_kinds().values() for file in kind.files}
    swept = bool(COLLECTIVES & loaded.keys())

    def row(score: Score) -> Row:
        return rows[score.kind].get(row_name(score)) or {}

    return Scoreboard(
        data=data,
        groups=tuple(board.whole(name, scores, missing) for name in names),
        as_shipped=tuple(
            board.whole(name, own, missing)
            for name in names
            if (own := [s for s in shipped if isinstance(s, Score) and s.kind == name])
        ),
        breakdown=tuple(
            part
            for name, kind in loaded.items()
            for part in board.parts(name, [s for s in scores if s.kind == name], kind.groups_by)
        ),
        site_errors=tuple(board.site_errors(s for s in scores if not is_apart(s))),
        left_out=tuple(board.reasons(missing)),
        worst=tuple(board.worst(scores, lambda score: row(score).get("source") or "")),
        trends=tuple(trends(scores, row)),
        scores=tuple(scores),
        by_system=systems,
        calibrated=calibrated(tables) if swept else (),
        aims=tuple(outcomes(systems)),
        nested=check(files.read(files.SHIPPED)) if swept else None,
        unread=tuple(sorted(tables.keys() - read)),
        provenance=provenance(
            sources=tuple(
                f"{name}.csv: {len(own)} rows" for name, own in sorted(tables.items())
            ),
            assumptions=(),
        ),
    )
