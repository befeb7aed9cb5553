"""Fit the constants of the training-step model that no source gives.

    python fits/training.py [--data DIR] [--write]

One constant stands for a class (GPU generation, precision, kind of framework), never for a row.
Gauss-Newton on log(predicted / measured step time) with Huber weights, families of rows
weighted so that large tables do not drown the small ones, and a ridge towards the priors of
training_priors.toml. Bands and the errors printed come from fits that leave a family out.
Writes engines/analytic/step/constants.toml.
"""

import argparse
import copy
import csv
import datetime as dt
import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.accuracy.rows import gpu_steps
from weft.accuracy.rows.training import Case, case_of, family_key
from weft.catalogue import find
from weft.engines.analytic import step as engine
from weft.engines.analytic.step.constants import band_names, constants_of, software_class
from weft.engines.analytic.step.model import step_time
from weft.errors import WeftError
from weft.spec.workload import Job

Array = NDArray[np.float64]
HERE = Path(__file__).parent
PRIORS = tomllib.loads((HERE / "training_priors.toml").read_text(encoding="utf-8"))
SHIPPED = Path(engine.__file__).with_name("constants.toml")
HELD_OUT = SHIPPED.with_name("held_out.toml")
HUBER = 0.15
SMALLEST_CHANGE = 1e-3
ROUNDS = 6
FAMILY_POWER = 0.5
SINGLE_EVERY = 7
"""One row in so many of the single-host grid: it is one family with 1,440 rows.

A number that divides none of its sides: one in eight takes a slice that is no sample.
"""
LEAST = 10
"""Rows that a band of its own takes."""
LENT = 20
"""Rows that the wider class counts for in the band of a narrower one."""
MARGIN = 0.03
"""No band is narrower than this: the published figures are rounded to it."""

# Sigma of the prior, of the logarithm (of the log-odds for shares that are hidden).
SIGMAS = {
    "model.wave_loss": 0.4, "depth_loss": 0.5, "route_passes": 0.5,
    "expert_issue_ratio": 0.5, "sync_ratio": 0.5,
    "model.grouped_ratio": 0.08, "model.unaligned_ratio": 0.15,
    "model.jitter_ratio": 0.3, "power_exponent": 0.2,
    "volta.matrix.": 0.15, "deepspeed_unfused.matrix": 0.04,
    "deepspeed_unfused.passes": 0.1, ".matrix.": 0.035,
    ".matrix": 0.12, "attention": 0.2, "memory": 0.08,
    "passes": 0.2, "kernel_s": 0.4, "issue_s": 0.5, "hidden": 0.8, "step_s": 0.8,
}  # fmt: skip
FITTED = ("model", "generation", "software")
FIXED = {"compute_units", "power_w_per_tflop", "flash2"}
REFERENCE = "megatron"
"""Matrix products and attention of other classes are relative to this one."""


@dataclass(frozen=True, slots=True)
class Point:
    """A row ready to be predicted: its layout is settled once, before the fit."""

    row: str
    family: str
    case: Case
    job: Job
    generation: str
    lenders: Mapping[str, str]
    """Class of software that each of its constants is of: its own, or the one like it."""


def read_points(data: Path) -> list[Point]:
    """Read all rows that weft covers."""
    points = []
    for name, every in (("train_runs", 1), ("train_runs_vtrain_single", SINGLE_EVERY)):
        with (data / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))[::every]
        points += [p for row in rows if (p := _point(row, case_of(row))) is not None]
    with (data / "gpu_steps.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return points + [
        p for row in rows if (p := _point(row, gpu_steps.case_of(row))) is not None
    ]


def _point(row: Mapping[str, str], case: Case | str) -> Point | None:
    if isinstance(case, str) or case.doubt:
        return None
    try:
        job = engine.resolve(case.cluster, case.job, fits=False)
    except WeftError:
        return None
    generation = find("gpus", case.cluster.host.gpu).generation
    family = family_key(case.labels["family"])
    lenders = _lenders(software_class(job))
    return Point(row["row_id"], family, case, job, generation, lenders)


def _lenders(name: str) -> dict[str, str]:
    own = PRIORS["software"][name]
    borrowed = _lenders(own["like"]) if "like" in own else {}
    return borrowed | dict.fromkeys(own, name)


def paths(table: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    """Yield the constants that are fitted, as dotted names."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from paths(value, f"{name}.")
        elif name.startswith(FITTED) and key not in FIXED and not isinstance(value, str):
            reference = name.startswith(f"software.{REFERENCE}.")
            if not (reference and key in {"matrix", "attention"}):
                yield name


def at(table: Mapping[str, Any], name: str) -> float:
    """Return one constant."""
    value: Any = table
    for key in name.split("."):
        value = value[key]
    return float(value)


def put(table: dict[str, Any], name: str, value: float) -> None:
    """Set one constant."""
    *parents, last = name.split(".")
    for key in parents:
        table = table[key]
    table[last] = value


def is_share(name: str) -> bool:
    """Tell whether a constant lies between 0 and 1 and is fitted by its log-odds."""
    return ".hidden_" in name or (name.startswith("generation") and "units" not in name)


def inward(name: str, value: float) -> float:
    """Turn a constant into the unbounded number that is fitted."""
    if is_share(name):
        value = min(max(value, 0.01), 0.99)
        return log(value / (1 - value))
    return log(max(value, 1e-7))


def outward(name: str, value: float) -> float:
    """Turn the fitted number back."""
    return 1 / (1 + exp(-value)) if is_share(name) else exp(value)


def sigma(name: str, prior: float) -> float:
    """Return how far the prior can be trusted, in the fitted number."""
    key = next(k for k in SIGMAS if k in name)
    if ".hidden_" in name:
        return SIGMAS["hidden"]
    return SIGMAS[key] / (1 - prior) if is_share(name) else SIGMAS[key]


def touches(name: str, point: Point) -> bool:
    """Tell whether a constant can move a point."""
    kind, *rest = name.split(".")
    if kind == "generation":
        return rest[0] == point.generation
    if kind == "software":
        return rest[0] == point.lenders[rest[1]]
    sparse = any(part in name for part in ("grouped", "route", "expert", "sync"))
    return not sparse or point.job.model.experts is not None


class Fit:
    """The points, the constants that they can tell, and the fit."""

    def __init__(self, points: list[Point], priors: dict[str, Any]) -> None:
        """Find which constants the points can tell."""
        self.points, self.priors = points, priors
        names = list(paths(priors))
        self.names = [n for n in names if any(touches(n, p) for p in points)]
        self.start = np.array([inward(n, at(priors, n)) for n in self.names])
        self.ridge = np.array([1 / sigma(n, at(priors, n)) for n in self.names])
        self.touch = [[i for i, p in enumerate(points) if touches(n, p)] for n in self.names]
        counts: dict[str, int] = defaultdict(int)
        for point in points:
            counts[point.family] += 1
        self.weight = np.array([counts[p.family] ** -FAMILY_POWER for p in points]) * 3

    def table(self, x: Array) -> dict[str, Any]:
        """Return the constants for a vector."""
        table = copy.deepcopy(self.priors)
        for name, value in zip(self.names, x, strict=True):
            put(table, name, outward(name, float(value)))
        return table

    def errors(self, x: Array, which: Iterable[int]) -> Array:
        """Return log(predicted / measured) of some points."""
        fitted = constants_of(self.table(x))
        chosen = [self.points[i] for i in which]
        return np.array([
            log(
                step_time(p.case.cluster, p.job, fitted=fitted).step_s.value
                / p.case.measured_s
            )
            for p in chosen
        ])  # fmt: skip

    def jacobian(self, x: Array, base: Array) -> Array:
        """Return the derivatives of the errors, by differences."""
        out = np.zeros((len(self.points), len(self.names)))
        for column, touched in enumerate(self.touch):
            moved = x.copy()
            moved[column] += 0.02
            out[touched, column] = (self.errors(moved, touched) - base[touched]) / 0.02
        return out

    def move(self, x: Array, errors: Array, slopes: Array, keep: Array) -> Array:
        """Return one damped Gauss-Newton step on the points that are kept."""
        huber = np.minimum(1, HUBER / np.maximum(np.abs(errors), 1e-9))
        weight = self.weight * huber * keep
        left = (slopes * weight[:, None]).T @ slopes / HUBER**2
        right = (slopes * weight[:, None]).T @ errors / HUBER**2
        left += np.diag(self.ridge**2)
        right += self.ridge**2 * (x - self.start)
        return np.clip(-np.linalg.solve(left, right), -0.5, 0.5)

    def solve(self) -> tuple[Array, Array, Array]:
        """Return the solution, its errors and its derivatives."""
        x, keep = self.start.copy(), np.ones(len(self.points))
        everything = range(len(self.points))
        for _ in range(ROUNDS):
            errors = self.errors(x, everything)
            slopes = self.jacobian(x, errors)
            x = x + self.move(x, errors, slopes, keep)
        errors = self.errors(x, everything)
        return x, errors, self.jacobian(x, errors)

    def left_out(
        self, x: Array, errors: Array, slopes: Array
    ) -> tuple[Array, dict[str, dict[str, float]]]:
        """Return the error of every point from a fit without its family, and those fits."""
        out, changed = np.zeros_like(errors), {}
        for family in sorted({p.family for p in self.points}):
            keep = np.array([float(p.family != family) for p in self.points])
            other = x.copy()
            for _ in range(4):
                linear = errors + slopes @ (other - x)
                other = other + self.move(other, linear, slopes, keep)
            held = [i for i, p in enumerate(self.points) if p.family == family]
            out[held] = self.errors(other, held)
            changed[family] = {
                name: outward(name, float(value))
                for name, value, full in zip(self.names, other, x, strict=True)
                if abs(value - full) > SMALLEST_CHANGE
            }
        return out, changed


def summary(errors: Iterable[float]) -> str:
    """Describe some errors of the logarithm as ratios."""
    ratios = [exp(e) - 1 for e in errors]
    sizes = sorted(abs(r) for r in ratios)
    p90 = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return (
        f"n {len(sizes):5d}  median {statistics.median(sizes):.3f}  p90 {p90:.3f}"
        f"  bias {statistics.median(ratios):+.3f}"
    )


def bands(fit: Fit, errors: Array) -> dict[str, dict[str, float]]:
    """Return the 80 % band of every class from errors of families left out."""
    groups: dict[str, list[float]] = defaultdict(list)
    for point, error in zip(fit.points, errors, strict=True):
        alone = (point.job.gpus or 1) <= point.case.cluster.host.gpus
        for name in band_names(point.job, point.generation, one_host=alone):
            groups[name].append(float(error))
    found: dict[str, dict[str, float]] = {}
    everything = _band(errors)
    for name in sorted(groups, key=len):
        group = groups[name]
        if len(group) < LEAST:
            continue
        parents = [found[other] for other in found if name.startswith(f"{other}_")]
        found[name] = _between(parents[-1] if parents else everything, group)
    found = {n: found.get(n, everything) for n in {*fit.priors["software"], *found}}
    # A class of software without a mixture of experts is as uncertain as the one that has.
    known = found[f"{REFERENCE}_experts"]
    for name in fit.priors["software"]:
        own = found[name]
        found.setdefault(f"{name}_experts", {
            "low": min(own["low"], known["low"]), "high": max(own["high"], known["high"]),
        })  # fmt: skip
    return found


def _between(parent: Mapping[str, float], group: list[float]) -> dict[str, float]:
    """Return a band between that of a class and of the wider one, by how many rows it has."""
    own, share = _band(np.array(group)), len(group) / (len(group) + LENT)
    return {
        end: exp(share * log(own[end]) + (1 - share) * log(parent[end]))
        for end in ("low", "high")
    }


def _band(errors: Array) -> dict[str, float]:
    low, high = np.quantile(-errors, [0.11, 0.89])
    return {"low": exp(min(low, -MARGIN)), "high": exp(max(high, MARGIN))}


def write(fit: Fit, table: dict[str, Any], lines: list[str]) -> None:
    """Write the file of constants that weft ships."""
    out = [
        "# Constants of the training-step model, one set per class; written by",
        "# fits/training.py from accuracy/data/train_runs*.csv. Do not edit by hand.",
        "#",
        *[f"# {line}" for line in lines],
        "", "[meta]", f'date = "{dt.datetime.now(tz=dt.UTC).date()}"',
        f"rows = {len(fit.points)}", 'script = "fits/training.py"',
    ]  # fmt: skip
    for kind in ("model", "generation", "software", "bands"):
        blocks = {kind: table[kind]} if kind == "model" else table[kind]
        for name, block in sorted(blocks.items()):
            head = kind if kind == "model" else f"{kind}.{name}"
            out += ["", f"[{head}]", *[_line(key, value) for key, value in block.items()]]
    SHIPPED.write_text("\n".join(out) + "\n", encoding="utf-8")


def write_held_out(fit: Fit, changed: dict[str, dict[str, float]]) -> None:
    """Write the rows seen, and what the fit comes to without each family."""
    rows = sorted(p.row for p in fit.points)
    out = ["# Written by fits/training.py. Do not edit by hand.", "rows = ["]
    out += [f'  "{" ".join(rows[i : i + 12])}",' for i in range(0, len(rows), 12)]
    out += ["]"]
    for family, values in sorted(changed.items()):
        out += ["", f'[without."{family}"]']
        out += [f'"{name}" = {value:.4g}' for name, value in values.items()]
    HELD_OUT.write_text("\n".join(out) + "\n", encoding="utf-8")


def _line(key: str, value: Mapping[str, float] | float) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{k} = {v:.4g}" for k, v in value.items())
        return f"{key} = {{ {inside} }}"
    if isinstance(value, str):
        return f'{key} = "{value}"'
    return f"{key} = {value:.4g}" if isinstance(value, float) else f"{key} = {value}"


def main() -> None:
    """Fit, print the errors by family, and write the constants when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    data = HERE.parent / "src/weft/accuracy/data"
    parser.add_argument("--data", type=Path, default=data)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    fit = Fit(read_points(options.data), PRIORS)
    x, errors, slopes = fit.solve()
    held, changed = fit.left_out(x, errors, slopes)
    lines = [f"{'all':28s} in sample  {summary(errors)}"]
    lines.append(f"{'all':28s} left out   {summary(held)}")
    for family in sorted({p.family for p in fit.points}):
        where = [i for i, p in enumerate(fit.points) if p.family == family]
        lines.append(f"{family:28s} in sample  {summary(errors[where])}")
        lines.append(f"{family:28s} left out   {summary(held[where])}")
    table = fit.table(x)
    table["bands"] = bands(fit, held)
    print("\n".join(lines))
    for name, prior in zip(fit.names, fit.start, strict=True):
        print(f"{name:44s} {outward(name, prior):.4g} -> {at(table, name):.4g}")
    if options.write:
        write(fit, table, lines)
        write_held_out(fit, changed)


if __name__ == "__main__":
    main()
