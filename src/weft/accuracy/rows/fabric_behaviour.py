"""Published effects of a fabric: those that a sourced factor or a distance stands for.

Routing, incast, loss and pauses need a simulation; such rows are left out, by topic.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from weft.accuracy.kind import IN_THE_FIT, LeftOut, Row, Score
from weft.accuracy.rows.words import meant
from weft.errors import SpecError
from weft.network import fabric
from weft.results import Estimate

_SHARE: Final = re.compile(r"utilisation|share of line rate|data throughput", re.IGNORECASE)
_STEP: Final = re.compile(r"step time", re.IGNORECASE)
_LONG: Final = 6
_Judged = tuple[Estimate, float, tuple[str, ...]]
"""What is predicted, what was measured, and the sources of the factor."""


def score(kind: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score both sides of every study that a factor or a distance stands for."""
    for row in tables.get("fabric_behaviour", []):
        name = row.get("row_id") or ""
        try:
            rule = _rule(row)
        except SpecError as problem:
            yield LeftOut(kind=kind, row=name, reason=str(problem))
            continue
        for side in ("baseline", "treatment"):
            if row.get(f"{side}_value"):
                yield _side(kind, row, side, rule)


def _rule(row: Row) -> str:
    metric, unit = row.get("metric") or "", row.get("unit") or ""
    if "latency" in metric.lower() and unit == "us":
        return "latency"
    if _SHARE.search(metric) and unit == "%":
        return "share"
    if _STEP.search(f"{row.get('study')} {metric}"):
        raise SpecError("a step time: training_step scores it where its set-up is known")
    raise SpecError(f"needs a simulation, or is no figure: {row.get('topic') or 'no topic'}")


def _side(kind: str, row: Row, side: str, rule: str) -> Score | LeftOut:
    text, row_name = row.get(side) or "", f"{row.get('row_id') or ''}:{side}"
    try:
        of = _fabric(row)
        judge = _latency if rule == "latency" else _share
        found, measured, keys = judge(row, side, text, of)
    except (SpecError, ValueError) as problem:
        return LeftOut(kind=kind, row=row_name, reason=str(problem))
    study = row.get("study") or ""
    own = _is_source(keys, study)
    return Score.of(
        found, kind=kind, row=row_name, site=study, healthy=not own, measured=measured,
        labels={"figure": rule, "fabric": of, "health": IN_THE_FIT if own else ""},
        quantity="time_s" if rule == "latency" else "ratio",
    )  # fmt: skip


def _is_source(keys: Iterable[str], study: str) -> bool:
    """Tell whether a factor was read from this study: a long word of its source's key."""
    words = (word for key in keys for word in key.split("_") if len(word) >= _LONG)
    return any(word in study.lower() for word in words)


def _fabric(row: Row) -> str:
    text = row.get("fabric") or ""
    found: str | None = meant("fabrics_of_behaviour", text)
    if found is None:
        raise SpecError(f"fabric not modelled ({text or 'not stated'})")
    return found


def _latency(row: Row, side: str, text: str, kind: str) -> _Judged:
    hops = meant("hops", text)
    if hops is None:
        raise SpecError("distance not stated")
    of = fabric.find(kind)
    ends = (
        getattr(of.end_to_end_s, end) + hops * getattr(of.switch_hop_s, end)
        for end in ("value", "low", "high")
    )
    measured = float(row[f"{side}_value"]) * 1e-6
    return Estimate(*ends), measured, (*of.end_to_end_s.sources, *of.switch_hop_s.sources)


def _share(row: Row, side: str, text: str, kind: str) -> _Judged:
    words = f"{text} {_not_said(row, side)}"
    modes = fabric.find(kind).load_balancing
    mode = meant("balancings", words)
    if mode is None or mode not in modes:
        raise SpecError("load balancing not stated")
    share = fabric.find(kind).balanced(mode)
    measured = float(row[f"{side}_value"]) / 100
    return Estimate(share.value, share.low, share.high), measured, share.sources


def _not_said(row: Row, side: str) -> str:
    """Return what else tells the mode: a topic is the treatment's, not the baseline's.

    >>> _not_said({"fabric": "A vs standard Ethernet", "topic": "adaptive"}, "baseline")
    'standard Ethernet'
    """
    if side == "treatment":
        return row.get("topic") or ""
    return (row.get("fabric") or "").partition(" vs ")[2]
