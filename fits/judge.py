"""Fit what `weft bench judge` takes of noise, and of how errors of the model go together.

    python fits/judge.py [--data DIR] [--write]

Noise: nccl-tests times every size twice, in place and out of place. On a healthy system the
two do the same work, so the spread of log(in place / out of place) over the square root of two
is the noise of one timing; the middle 80 % sets it, for the tails are systems that differ.

Errors: the residuals log(measured / predicted) of healthy sweeps, each predicted by constants
fitted without its site, and scaled by their band, are compared at pairs of sizes of one run:
correlation = share x exp(- doublings between the sizes / length), by least squares.

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

from weft.accuracy import tables
from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.bench import student
from weft.bench.noise import FILE
from weft.engines.analytic.collective.model import bucket

EDGE = 0.9
"""Share of systems below the upper edge of a band."""
MIDDLE = 0.8
"""Share of the pairs whose spread is taken; 1.2816 sigma either way in a normal law."""
SIGMAS = 1.2816
FARTHEST_DOUBLINGS = 20
Pair = tuple[float, float]


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


def correlations(found: list[tuple[str, float, float]]) -> dict[int, tuple[float, int]]:
    """Return the mean product of residuals by distance, over their mean square, and pairs."""
    by_run = defaultdict(list)
    for run, doublings, residual in found:
        by_run[run].append((doublings, max(-3.0, min(3.0, residual))))
    mean_square = sum(r * r for points in by_run.values() for _, r in points) / len(found)
    products = defaultdict(list)
    for points in by_run.values():
        for place, (a, first) in enumerate(points):
            for b, second in points[place + 1 :]:
                products[round(abs(a - b))].append(first * second / mean_square)
    return {
        gap: (sum(p) / len(p), len(p))
        for gap, p in sorted(products.items())
        if 0 < gap <= FARTHEST_DOUBLINGS
    }


def fit(found: dict[int, tuple[float, int]]) -> tuple[float, float]:
    """Return share and length by least squares over a grid."""

    def misfit(pair: Pair) -> float:
        share, length = pair
        return sum(
            pairs * (value - share * math.exp(-gap / length)) ** 2
            for gap, (value, pairs) in found.items()
        )

    grid = [(s / 50, d / 4) for s in range(20, 51) for d in range(4, 121)]
    return min(grid, key=misfit)


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
    parser.add_argument("--data", type=Path, default=tables.SHIPPED)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    data = tables.read(asked.data)
    lines = [
        "# Noise of a timing, and how errors of the model go together. Written by",
        "# fits/judge.py; do not edit by hand.",
        f"fitted = {dt.date.today().isoformat()}",  # noqa: DTZ011 - the day of the machine
    ]
    for name in ("small", "middle", "large"):
        ratio, pairs = noise_ratio(data["nccl_points"], (name,))
        lines += [f"\n[noise.{name}]", f"ratio = {ratio:.5f}", f"pairs = {pairs}"]
    found = list(residuals(data))
    by_gap = correlations(found)
    share, length = fit(by_gap)
    lines += ["\n[errors]", f"share_ratio = {share:.2f}", f"length_doublings = {length:.2f}"]
    ranges = list(deviations(data))
    lines += [f"degrees = {degrees(ranges)}", f"ranges = {len(ranges)}"]
    lines += [f"points = {len(found)}", f"runs = {len({run for run, _, _ in found})}"]
    for gap, (value, pairs) in by_gap.items():
        print(f"{gap:3d} doublings: {value:6.3f} ({pairs} pairs)")
    print("\n".join(lines))
    if asked.write:
        FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
