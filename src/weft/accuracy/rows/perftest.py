"""Rows of perftest_runs and perftest_points as links and messages of weft."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from weft.accuracy.kind import IN_THE_FIT, LeftOut, Row, Score
from weft.accuracy.rows.words import meant
from weft.engines.analytic.point_to_point import Link, Verb, bandwidth, latency
from weft.errors import SpecError, WeftError
from weft.units import gbit_from_rate, rate_from_gbit

_GBIT: Final = re.compile(r"(\d+)\s*(?:x\s*(\d+)\s*)?g(?:b|\b|e)", re.IGNORECASE)
_DIRECT: Final = re.compile(r"direct|back-to-back|\bDAC\b|loop", re.IGNORECASE)
_HELD_BACK: Final = re.compile(
    r"limited|misalign|not aligned|saturat|below NIC|differs from|not stated|placehold",
    re.IGNORECASE,
)
"""Words that say something other than the network holds the figure back."""
_OWN: Final = re.compile(r"MT28908|MCX75310AAS")
"""Hosts whose outputs the constants of a message were read from."""
_TWO_WAYS: Final = re.compile(r"bidir|(?:^|\s)-b\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One output of perftest, as weft sees it."""

    link: Link
    verb: Verb
    ways: int
    queue_pairs: int
    depth: int | None
    labels: Mapping[str, str]
    site: str
    healthy: bool


def run_of(row: Row) -> Run:
    """Turn a row into a link and a verb; raise when a fact is missing."""
    said = " ".join(row.get(key) or "" for key in ("rate", "settings", "notes", "tool"))
    how = " ".join(row.get(key) or "" for key in ("rate", "settings", "hca"))
    fabric = _fabric(row)
    held_back = bool(_HELD_BACK.search(said)) or "/" in (row.get("rate") or "")
    rate = rate_from_gbit(_gbit(row))
    mtu = re.search(r"MTU (\d+)", how)
    own = bool(_OWN.search(row.get("hca") or ""))
    direct = bool(_DIRECT.search(how))
    pairs, depth = re.search(r"(\d+) QPs", how), re.search(r"depth (\d+)", how)
    return Run(
        link=Link(
            fabric=fabric, bytes_per_s=rate, hops=0 if direct else 1,
            mtu_bytes=min(int(mtu[1]), 4096) if mtu else None,
        ),
        verb=_verb(row, said), ways=2 if _TWO_WAYS.search(said) else 1,
        queue_pairs=max(1, int(pairs[1])) if pairs else 1,
        depth=max(1, int(depth[1])) if depth else 1 if "1 WR in flight" in how else None,
        labels={
            "fabric": fabric, "verb": _verb(row, said),
            "rate": f"{gbit_from_rate(rate):g} Gb/s",
            "health": "held back" if held_back else IN_THE_FIT if own else "reference",
        },
        site=re.sub(r"\W+", " ", row.get("hca") or "").strip() or row.get("run_id", ""),
        healthy=not (held_back or own),
    )  # fmt: skip


def _fabric(row: Row) -> str:
    text = (row.get("link_layer") or "").lower()
    named = [
        name for word, name in (("infini", "infiniband"), ("roce", "roce")) if word in text
    ]
    if len(named) != 1:
        raise SpecError(f"fabric not named ({row.get('link_layer') or 'empty'})")
    return named[0]


def _gbit(row: Row) -> float:
    text = (row.get("rate") or "").lower()
    said = _GBIT.search(text)
    if said:
        return float(said[1]) * float(said[2] or 1) or 1.0
    gbit: float | None = meant("rates_of_infiniband", text)
    if gbit:
        return gbit
    raise SpecError(f"rate of the NIC not stated ({text or 'empty'})")


def _verb(row: Row, said: str) -> Verb:
    tool = (row.get("tool") or "").lower()
    if "read" in tool or "ib_read" in said.lower():
        return "read"
    return "send" if "send" in tool else "write"


def score_points(
    kind: str, tables: Mapping[str, list[Row]], *, mode: str
) -> Iterator[Score | LeftOut]:
    """Score the points of all runs of one mode: lat or bw."""
    runs = {row.get("run_id", ""): row for row in tables.get("perftest_runs", [])}
    for point in tables.get("perftest_points", []):
        name = point.get("run_id", "")
        row = runs.get(name)
        if (row or point).get("mode", mode) != mode or not _measured(point, mode):
            continue
        identity = f"{name}@{point.get('size_B', '')}"
        if row is None:
            yield LeftOut(kind=kind, row=identity, reason="its run is not in perftest_runs.csv")
            continue
        try:
            yield _score(kind, identity, mode, run_of(row), point)
        except (WeftError, ValueError) as problem:
            yield LeftOut(kind=kind, row=identity, reason=str(problem))


def _measured(point: Row, mode: str) -> str:
    if mode == "bw":
        return point.get("bw_avg_Gbps") or ""
    return point.get("lat_typ_us") or point.get("lat_avg_us") or ""


def _score(kind: str, identity: str, mode: str, run: Run, point: Row) -> Score:
    size_bytes, figure = float(point.get("size_B") or ""), float(_measured(point, mode))
    if not 0 < size_bytes < float("inf"):
        raise SpecError("size is not above zero")
    if mode == "lat":
        found, unit, quantity = latency(run.link, size_bytes, run.verb), 1e-6, "time_s"
        measured = figure * unit
    else:
        found = bandwidth(
            run.link, size_bytes, run.verb, queue_pairs=run.queue_pairs, depth=run.depth
        ).map(lambda rate: rate * run.ways)
        quantity, measured = "bytes_per_s", rate_from_gbit(figure)
    return Score.of(
        found, kind=kind, row=identity, site=run.site, quantity=quantity, measured=measured,
        labels={**run.labels, "size": _size(size_bytes)}, healthy=run.healthy,
    )  # fmt: skip


def _size(size_bytes: float) -> str:
    for limit, name in ((257, "to 256 B"), (2**16, "to 64 KiB"), (2**20, "64 KiB to 1 MiB")):
        if size_bytes < limit:
            return name
    return "from 1 MiB"
