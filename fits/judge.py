"""Fit what `weft bench judge` takes of noise, and of how errors of the model go together.

    python fits/judge.py [--data DIR] [--write]

Noise: nccl-tests times every size twice, in place and out of place. On a healthy system the
two do the same work, so the spread of log(in place / out of place) over the square root of two
is the noise of one timing; the middle 80 % sets it, for the tails are systems that differ.

Errors: the residuals log(measured / predicted) of healthy sweeps, each predicted by constants
fitted without its site, step from one size to the next smaller by Cauchy's law, whose scale is
a drift times the band times the doublings between them, beside the noise. Systems differ in
their drift: how many have each of DRIFTS is the mixture that makes all sweeps most likely (EM).
The scores of steps (what they add to the slope of the likelihood) go together over LAGS sizes:
their integrated correlation time is the inverse of the share that counts as independent.
Tables: residuals of the largest size, over the band, at pairs of runs of different operations
on one system.

Tails: the deviation of every range of sizes of a healthy sweep, in units of the edge of its
80 % band; the degrees of freedom of Student's law that make them most likely.
Writes noise.toml of src/weft/bench.
"""

import argparse
import datetime as dt
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from weft.accuracy.judge import settings
from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.accuracy.tables import SHIPPED, read
from weft.bench import student
from weft.bench.expected import expected
from weft.bench.likelihood import Table, fit_of
from weft.bench.noise import FILE
from weft.engines.analytic.collective import constants
from weft.engines.analytic.collective.spread import bucket

EDGE = 0.9
"""Share of systems below the upper edge of a band."""
MIDDLE = 0.8
"""Share of the pairs whose spread is taken; 1.2816 sigma either way in a normal law."""
SIGMAS = 1.2816
DRIFTS = (0.02, 0.1, 0.2, 0.4, 1.0)
ROUNDS = 500
LAGS = 6
MOST_SWEEPS = 3
"""Sweeps of one collective that count of one system: one has three dozens."""
FARTHEST = 3.0
"""A residual beyond this many bands counts as this many where two systems are multiplied."""


def balanced(data: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return the data with so many sweeps of a system at most, so that none outweighs all."""
    by_system: dict[str, list[Row]] = defaultdict(list)
    for run in data["nccl_runs"]:
        by_system[f"{run.get('system')} {run.get('op')}"].append(run)
    kept = []
    for runs in by_system.values():
        apart = max(1, -(-len(runs) // MOST_SWEEPS))
        kept += runs[::apart]
    names = {run["run_id"] for run in kept}
    points = [point for point in data["nccl_points"] if point["run_id"] in names]
    return data | {"nccl_runs": kept, "nccl_points": points}


def noise_ratio(points: list[Row], buckets: tuple[str, ...]) -> tuple[float, int]:
    """Return the noise of one timing in a range of sizes, and the pairs it comes from."""
    gaps = []
    for row in points:
        try:
            out, into = float(row["time_us"]), float(row["inplace_time_us"])
        except (KeyError, ValueError):
            continue
        if bucket(float(row["size_B"])) in buckets and out > 0 and into > 0:
            gaps.append(abs(math.log(into / out)))
    gaps.sort()
    return gaps[int(MIDDLE * len(gaps))] / SIGMAS / math.sqrt(2), len(gaps)


def residuals(
    data: dict[str, list[Row]], *, by_side: bool = False
) -> Iterator[tuple[str, float, float]]:
    """Yield run, doublings of its size, and its residual in units of its band.

    The wider side of the band is the unit, or the side that the residual is on.
    """
    for run, points in rows.runs(data):
        case = rows.try_case(run)
        if case is None or not case.healthy:
            continue
        for point in points:
            found = rows.score("judge", "", case, point)
            ratio = found.measured / found.predicted
            slower = math.log(ratio if found.quantity == "time_s" else 1 / ratio)
            sides = sorted(math.log(edge / found.predicted) for edge in (found.low, found.high))
            if found.quantity != "time_s":
                sides = [-sides[1], -sides[0]]
            unit = max(map(abs, sides)) if not by_side else abs(sides[slower > 0])
            yield run["run_id"], math.log2(point.size_bytes), slower / max(unit, 1e-3)


def tables(data: dict[str, list[Row]]) -> Iterator[tuple[Row, Table]]:
    """Yield the healthy sweeps, laid over what is expected without their site."""
    for run, setting, site in settings(data):
        if setting is None or (run.get("health") or "") not in rows.HEALTHY:
            continue
        with constants.using(constants.without(site)):
            (found,) = fit_of(setting, expected(setting))
        yield run, found


def steps(table: Table, drift: float) -> tuple[list[float], list[float]]:
    """Return the steps of a sweep over their scale, and the scales."""
    found, scales = [], []
    for place in range(1, len(table.gaps)):
        apart = abs(table.doublings[place] - table.doublings[place - 1])
        band = (table.above[place] + table.below[place]) / 2
        scale = math.hypot(drift * band * apart, table.noises[place])
        found.append((table.gaps[place] - table.gaps[place - 1]) / scale)
        scales.append(scale)
    return found, scales


def log_steps(table: Table, drift: float) -> float:
    """Return the likelihood of the steps of a sweep by Cauchy's law."""
    found, scales = steps(table, drift)
    return -sum(
        math.log(math.pi * scale) + math.log1p(one * one)
        for one, scale in zip(found, scales, strict=True)
    )


def mixture(found: list[Table]) -> list[float]:
    """Return how many systems have each drift."""
    logs = [[log_steps(one, drift) for drift in DRIFTS] for one in found]
    weights = [1 / len(DRIFTS)] * len(DRIFTS)
    for _ in range(ROUNDS):
        sums = [0.0] * len(DRIFTS)
        for row in logs:
            shares = [w * math.exp(log - max(row)) for w, log in zip(weights, row, strict=True)]
            for place, share in enumerate(shares):
                sums[place] += share / sum(shares)
        weights = [one / len(logs) for one in sums]
    return weights


def steps_ratio(found: list[Table], weights: list[float]) -> float:
    """Return the share of steps that count as independent."""
    scores = []
    for one in found:
        logs = [
            log_steps(one, drift) + math.log(max(weight, 1e-12))
            for drift, weight in zip(DRIFTS, weights, strict=True)
        ]
        own, _ = steps(one, DRIFTS[logs.index(max(logs))])
        scores.append([2 * x / (1 + x * x) for x in own])
    together = 0.0
    for lag in range(1, LAGS + 1):
        pairs = [(a, b) for row in scores for a, b in zip(row, row[lag:], strict=False)]
        square = sum(a * a + b * b for a, b in pairs) / 2
        together += sum(a * b for a, b in pairs) / square
    return 1 / (1 + 2 * together)


def tables_ratio(found: list[tuple[Row, Table]]) -> float:
    """Return how the heights of tables of one system go together."""
    by_system: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for run, table in found:
        height = 2 * table.gaps[0] / (table.above[0] + table.below[0])
        place = f"{run.get('system')} {run.get('nodes')} {run.get('gpus')}"
        clamped = max(-FARTHEST, min(FARTHEST, height))
        by_system[place].append((run.get("op") or "", clamped))
    pairs = [
        (a, b)
        for heights in by_system.values()
        for place, (kind, a) in enumerate(heights)
        for other, b in heights[place + 1 :]
        if kind != other
    ]
    squares = [h * h for heights in by_system.values() for _, h in heights]
    mean_square = sum(squares) / len(squares)
    print(f"{len(pairs)} pairs of operations on one system")
    return max(0.0, sum(a * b for a, b in pairs) / len(pairs) / mean_square)


def deviations(data: dict[str, list[Row]]) -> Iterator[float]:
    """Yield the deviation of ranges over the edge of their band; slower is above zero."""
    by_range: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run, doublings, residual in residuals(data, by_side=True):
        by_range[run, bucket(2**doublings)].append(residual)
    yield from (sum(found) / len(found) for found in by_range.values())


def degrees(found: list[float]) -> int:
    """Return the degrees of freedom that make deviations most likely."""

    def log_likelihood(nu: int) -> float:
        edge = student.quantile(EDGE, nu)
        constant = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2
        return sum(
            constant + math.log(edge) - (nu + 1) / 2 * math.log1p((one * edge) ** 2 / nu)
            for one in found
        )

    return max(range(2, 61), key=log_likelihood)


def main() -> None:
    """Fit, print, and write where asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=SHIPPED)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    data = balanced(read(asked.data))
    lines = [
        "# Noise of a timing, and how errors of the model go together. Written by",
        "# fits/judge.py; do not edit by hand.",
        f"fitted = {dt.date.today().isoformat()}",  # noqa: DTZ011 - the day of the machine
    ]
    for name in ("small", "middle", "large"):
        ratio, pairs = noise_ratio(data["nccl_points"], (name,))
        lines += [f"\n[noise.{name}]", f"ratio = {ratio:.5f}", f"pairs = {pairs}"]
    found = list(residuals(data))
    laid = list(tables(data))
    weights = mixture([one for _, one in laid])
    ratio = steps_ratio([one for _, one in laid], weights)
    lines += ["\n[errors]", f"drifts = [{', '.join(f'{one:g}' for one in DRIFTS)}]"]
    lines += [f"weights = [{', '.join(f'{one:.3f}' for one in weights)}]"]
    lines += [f"steps_ratio = {ratio:.2f}", f"tables_ratio = {tables_ratio(laid):.2f}"]
    ranges = list(deviations(data))
    lines += [f"degrees = {degrees(ranges)}", f"ranges = {len(ranges)}"]
    lines += [f"points = {len(found)}", f"runs = {len({run for run, _, _ in found})}"]
    print("\n".join(lines))
    if asked.write:
        FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
