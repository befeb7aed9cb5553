"""Results as data frames and in notebooks; pandas is used where it is installed."""

from collections.abc import Mapping
from typing import Any

from weft.errors import WeftError
from weft.report.plain import flat, plain

LIST_FIELDS = ("points", "lines", "groups", "curve", "traffic")
"""Fields that hold the rows of a result, where it has any; the first of them is its table."""
LEFT_OUT = ("provenance", "sources")


class NoPandas(WeftError):  # noqa: N818 - reads better at the call site
    """Data frames were asked for and pandas is not installed."""

    code = "no_pandas"


def to_frame(result: Any) -> Any:  # noqa: ANN401 - any result; a pandas.DataFrame
    """Return a result as a data frame: its rows where it has rows, else one row.

    Nested values become columns with a dot in their name, lists and provenance are left to the
    JSON document; numbers are not rounded.
    """
    try:
        import pandas  # noqa: ICN001, PLC0415 - an extra; 0.5 s that others need not pay
    except ImportError as error:
        raise NoPandas(
            "pandas is not installed; install it with `pip install weft[frames]`"
        ) from error
    return pandas.DataFrame([_columns(row) for row in rows(result)])


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in LEFT_OUT}
    return {name: value for name, value in flat(kept) if not isinstance(value, list)}


def rows(result: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - any result
    """Return the rows of a result as plain data."""
    body = plain(result)
    for name in LIST_FIELDS:
        if isinstance(body.get(name), list):
            return [row if isinstance(row, Mapping) else {name: row} for row in body[name]]
    return [body]


def repr_html(result: Any) -> str:  # noqa: ANN401 - any result
    """Return what a notebook shows for a result: the HTML report without its frame."""
    from weft.report import view_of  # noqa: PLC0415 - report imports this module's users
    from weft.report.renderers.html import fragment  # noqa: PLC0415 - as above

    return fragment(view_of(type(result)).page(result))


def attach(*classes: type) -> None:
    """Give result classes ``to_frame`` and ``_repr_html_``; computations know neither."""
    for cls in classes:
        if not hasattr(cls, "to_frame"):
            cls.to_frame = to_frame  # type: ignore[attr-defined]
            cls._repr_html_ = repr_html  # type: ignore[attr-defined]
