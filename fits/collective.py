"""Fit the constants of the collective model that no source gives.

    python fits/collective.py [--data DIR] [--write]

One constant stands for a class (GPU generation, fabric, protocol, algorithm), never for a
site. The method is Gauss-Newton on log(predicted / measured time), with Huber weights (a site
that disagrees with its class pulls little), every site of equal weight at each range of sizes,
and a ridge towards the physical prior: sigma says how far the prior can be trusted. Bands and
the errors printed come from leave-one-site-out fits. Writes fitted.toml and
fitted_without.toml of engines/analytic/collective.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.accuracy.run import TWICE
from weft.engines.analytic.collective import spread
from weft.engines.analytic.collective.choice import choose
from weft.engines.analytic.collective.constants import Fitted
from weft.engines.analytic.collective.model import option_time_s
from weft.engines.analytic.collective.path import Same, path_of

Array = NDArray[np.float64]

HUBER = 0.15
ROUNDS = 5
RENEWED = frozenset({2})
"""Rounds that work the derivatives out anew; the others use the last."""
MOST_OF_A_SWEEP = 8
STEP = 0.02
MAX_MOVE = 0.4
MARK = 1.0
"""A weight of one site's range of sizes against one sigma of a prior."""

# (name, prior, sigma of its logarithm). Anchors: NCCL's topo.h ratios, nccl-tests of one host,
# NVIDIA's guidance per NIC (46-48 of 50 GB/s), the published tuning tables.
PRIORS: dict[str, tuple[float, float]] = {
    "nvls_tree_inside": (0.97, 0.05),
    "nvls_one_way": (0.8, 0.1),
    "staging": (0.33, 0.3),
    "staging_step": (4e-6, 0.7),
    "socket": (4.6e9, 0.2),
    "host_socket": (20e9, 0.2),
    "channel_alone": (0.85, 0.15),
    "fill_net.infiniband": (1.0, 0.3),
    "fill_net.roce": (1.0, 0.3),
    "fill_net.efa": (1.5, 0.5),
    "fill_net.efa_v1": (3.0, 0.7),
    "net.ring.efa_v1": (0.88, 0.07),
    "fill_net.tcp": (1.0, 0.5),
    "fill_net.tcpx": (1.0, 0.5),
    "fill_net.tcpxo": (1.0, 0.5),
    "fill_net.slingshot": (1.5, 0.5),
    "peer.local": (2e-6, 0.8),
    "peer.net": (1.5e-6, 0.8),
    "protocol.ll": (0.9, 0.2),
    "protocol.ll128": (0.97, 0.04),
    "fill_half_bytes.simple": (24e6, 0.8),
    "fill_half_bytes.ll": (64e3, 0.8),
    "fill_half_bytes.ll128": (1e6, 0.8),
    "fill.ll": (0.3, 0.8),
    "fill.ll128": (0.6, 0.8),
    "fill.ring": (0.8, 0.7),
    "fill.tree": (1.5, 0.7),
    "fill.nvls": (1.5, 0.7),
    "fill.nvls_tree": (1.8, 0.7),
    "fill.pairwise": (1.0, 0.7),
    "scale_up.ring.volta": (0.87, 0.05),
    "scale_up.ring.ampere": (0.79, 0.05),
    "scale_up.ring.hopper": (0.82, 0.05),
    "scale_up.ring.blackwell": (0.77, 0.05),
    "scale_up.ring.pcie": (0.60, 0.2),
    "scale_up.ring.cdna3": (0.72, 0.07),
    "scale_up.ring.cdna4": (0.76, 0.07),
    "scale_up.tree.ampere": (0.84, 0.07),
    "scale_up.tree.hopper": (0.85, 0.07),
    "scale_up.nvls.hopper": (1.075, 0.05),
    "scale_up.nvls.blackwell": (0.945, 0.05),
    "scale_up.pairwise.ampere": (0.75, 0.07),
    "scale_up.pairwise.cdna4": (0.67, 0.07),
    "scale_up.p2p.ampere": (0.65, 0.1),
    "channel.volta": (14e9, 0.3),
    "channel.ampere": (20e9, 0.3),
    "channel.hopper": (23e9, 0.1),
    "channel.blackwell": (23e9, 0.15),
    "sharp.ampere": (0.41, 0.1),
    "sharp.hopper": (0.485, 0.1),
    "sharp.blackwell": (0.7, 0.2),
    "peer_channel": (15e9, 0.15),
    "base.volta": (1.2, 0.25),
    "base.ampere": (1.2, 0.25),
    "base.hopper": (1.1, 0.25),
    "base.blackwell": (1.2, 0.25),
    "local_step.volta": (1.0, 0.3),
    "local_step.ampere": (1.0, 0.3),
    "local_step.hopper": (1.0, 0.3),
    "local_step.blackwell": (1.0, 0.3),
    "nvls_step.hopper": (1.0, 0.3),
    "nvls_step.blackwell": (1.2, 0.3),
    "net_step.infiniband": (1.0, 0.3),
    "net_step.roce": (1.0, 0.3),
    "step_overhead.infiniband": (0.5e-6, 1.0),
    "step_overhead.roce": (1.5e-6, 0.5),
    "step_overhead.efa": (20e-6, 0.6),
    "step_overhead.tcp": (8e-6, 0.8),
    "step_overhead.tcpx": (150e-6, 1.0),
    "step_overhead.tcpxo": (55e-6, 0.5),
    "step_overhead.slingshot": (1e-6, 1.0),
    "net.ring.infiniband": (0.97, 0.03),
    "net.ring.roce": (0.95, 0.04),
    "net.ring.efa": (0.95, 0.05),
    "net.ring.tcp": (0.95, 0.05),
    "net.ring.tcpx": (0.60, 0.1),
    "net.ring.tcpxo": (0.96, 0.04),
    "net.ring.slingshot": (0.93, 0.05),
    "net.tree.infiniband": (0.93, 0.05),
    "net.tree.roce": (0.93, 0.05),
    "net.tree.efa": (0.90, 0.07),
    "net.tree.slingshot": (0.85, 0.1),
    "net.nvls_tree.infiniband": (0.93, 0.05),
    "net.nvls_tree.roce": (0.93, 0.05),
    "net.nvls_tree.efa": (0.93, 0.05),
    "net.pairwise.infiniband": (0.88, 0.08),
    "net.pairwise.roce": (0.88, 0.08),
    "net.pairwise.efa": (0.80, 0.10),
}
NOT_FITTED: dict[str, float] = {
    "net.tree.tcp": 0.53,
    "net.nvls_tree.tcp": 0.53,
    "scale_up.tree.pcie": 0.55,
    "scale_up.pairwise.pcie": 0.55,
    "scale_up.p2p.pcie": 0.70,
    "scale_up.tree.volta": 0.87,
    "scale_up.tree.blackwell": 0.80,
    "scale_up.tree.cdna3": 0.70,
    "scale_up.tree.cdna4": 0.74,
    "scale_up.pairwise.volta": 0.75,
    "scale_up.pairwise.hopper": 0.78,
    "scale_up.pairwise.blackwell": 0.77,
    "scale_up.pairwise.cdna3": 0.66,
    "scale_up.p2p.volta": 0.80,
    "scale_up.p2p.hopper": 0.87,
    "scale_up.p2p.blackwell": 0.80,
    "scale_up.p2p.cdna3": 0.70,
    "scale_up.p2p.cdna4": 0.70,
    "channel.cdna3": 24e9,
    "channel.cdna4": 24e9,
    "fill.pat": 1.0,
    "fill.collnet_direct": 1.0,
    "fill.collnet_chain": 1.0,
}
"""Of classes without a published row: as their nearest relative. No published run over kernel
sockets shows the gain of a tree on two hosts, so its share is that of a ring (8 / 15)."""


@dataclass(frozen=True)
class Sample:
    """One measured point."""

    case: rows.Case
    size_bytes: float
    time_s: float
    row: str
    family: str = ""
    """Product family of its system: left out as a whole."""

    @property
    def size(self) -> str:
        """Range of sizes, as bands have it."""
        return spread.bucket(self.size_bytes)

    @property
    def scale(self) -> str:
        """Hosts, as bands have them."""
        return spread.scale(self.case.group.domains)

    @property
    def multi(self) -> bool:
        """Whether it crosses the network."""
        return self.scale != "one_host"


def tables(folder: Path) -> dict[str, list[Row]]:
    """Read the files of a data folder."""
    found: dict[str, list[Row]] = {}
    for path in sorted(folder.glob("nccl_*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found[path.stem] = list(csv.DictReader(file))
    return found


def samples(data: Mapping[str, list[Row]], most: int = MOST_OF_A_SWEEP) -> list[Sample]:
    """Return the healthy points that the model covers, so many of a sweep at most.

    Neighbouring sizes say the same, so a long sweep is thinned evenly.
    """
    found: list[Sample] = []
    for run, points in rows.runs(data):
        case = rows.try_case(run)
        if case is None or not case.healthy or _is_copy(run):
            continue
        kept = _thinned(points, most)
        found += [Sample(case, p.size_bytes, p.time_s, run["run_id"]) for p in kept]
    for row in data.get("nccl_summary", []):
        made = rows.try_summary(row)
        if made is not None and made[0].healthy and not _is_copy(row):
            case, point = made
            found.append(Sample(case, point.size_bytes, point.time_s, row["row_id"]))
    family = families(found)
    return [replace(one, family=family[one.case.site]) for one in found]


def _is_copy(row: Row) -> bool:
    return any(words in (row.get("notes") or "").lower() for words in TWICE)


def _thinned(points: Sequence[rows.Point], most: int) -> list[rows.Point]:
    if len(points) <= most:
        return list(points)
    last = len(points) - 1
    return [points[round(i * last / (most - 1))] for i in range(most)]


def families(points: Iterable[Sample]) -> dict[str, str]:
    """Return the family of every system: that of its sweeps over the most hosts."""
    ordered = sorted(points, key=lambda p: p.case.group.domains)
    return {p.case.site: p.case.family for p in ordered}


def residuals(values: Mapping[str, float], points: Sequence[Sample]) -> Array:
    """Return log(predicted / measured) of the time of what the library chooses."""
    fitted = Fitted(dict(values) | NOT_FITTED, spread.fixed())
    return np.array([log(chosen_time_s(p, fitted) / p.time_s) for p in points])


def chosen_time_s(p: Sample, fitted: Fitted) -> float:
    """Return the time of the library's choice."""
    path = path_of(Same(p.case.cluster), p.case.group, fitted)
    return option_time_s(path, choose(path, p.case.operation, p.size_bytes), p.size_bytes)


def site_weights(points: Sequence[Sample]) -> Array:
    """Give every site the same weight at each range of sizes."""
    count: dict[tuple[str, str], int] = defaultdict(int)
    for p in points:
        count[p.case.site, p.size] += 1
    ease = {"large": 2.0, "middle": 0.7, "small": 0.7}
    return np.array(
        [
            ease[p.size]
            / count[p.case.site, p.size]
            * (1.0 if p.multi or p.size == "large" else 0.4)
            for p in points
        ]
    )


class Recorder(Fitted):
    """Constants that note which of them are read."""

    def __call__(self, name: str, default: float | None = None) -> float:
        """Return one constant and note its name."""
        READ.add(name)
        return super().__call__(name, default)


READ: set[str] = set()


@dataclass
class Problem:
    """Points, their weights, and the priors of the constants."""

    points: list[Sample]

    def __post_init__(self) -> None:
        """Lay the constants out as a vector of logarithms."""
        self.names = list(PRIORS)
        self.prior = np.log([PRIORS[n][0] for n in self.names])
        self.sigma = np.array([PRIORS[n][1] for n in self.names])
        self.weight = site_weights(self.points)
        self.uses = self._uses()
        self.everything = np.ones(len(self.points), dtype=bool)

    def _uses(self) -> Array:
        """Return which constants the runs of each point read: the others have no derivative."""
        by_run: dict[str, set[str]] = defaultdict(set)
        fitted = Recorder(self.values(self.prior) | NOT_FITTED, spread.fixed())
        for p in self.points:
            READ.clear()
            chosen_time_s(p, fitted)
            by_run[p.row] |= READ
        return np.array([[n in by_run[p.row] for n in self.names] for p in self.points])

    def values(self, theta: Array) -> dict[str, float]:
        """Return constants by name."""
        return {n: float(v) for n, v in zip(self.names, np.exp(theta), strict=True)}

    def residual(self, theta: Array, kept: Array) -> Array:
        """Return residuals at a vector of constants; none (0) of points that are not kept."""
        found = np.zeros(len(self.points))
        chosen = np.flatnonzero(kept)
        found[chosen] = residuals(self.values(theta), [self.points[i] for i in chosen])
        return found

    def jacobian(self, theta: Array, at: Array, kept: Array) -> Array:
        """Return derivatives by differences, of the points kept."""
        found = np.zeros((len(self.points), len(theta)))
        for i in range(len(theta)):
            used = kept & self.uses[:, i]
            if used.any():
                moved = theta.copy()
                moved[i] += STEP
                there = self.residual(moved, used)
                found[used, i] = (there[used] - at[used]) / STEP
        return found

    def step(self, theta: Array, r: Array, jac: Array, kept: Array) -> Array:
        """Return constants after a Gauss-Newton step over the rows kept, Huber weighted."""
        huber = np.minimum(1.0, HUBER / np.maximum(np.abs(r), 1e-9))
        w = self.weight * huber * kept * MARK / HUBER**2
        lhs = jac.T @ (w[:, None] * jac) + np.diag(1 / self.sigma**2)
        rhs = -(jac.T @ (w * r)) - (theta - self.prior) / self.sigma**2
        moved = theta + np.clip(np.linalg.solve(lhs, rhs), -MAX_MOVE, MAX_MOVE)
        return np.asarray(np.minimum(moved, self.ceiling()))

    @cached_property
    def start(self) -> tuple[Array, Array]:
        """Residuals and derivatives at the priors: the same for every fold."""
        r = self.residual(self.prior, self.everything)
        return r, self.jacobian(self.prior, r, self.everything)

    def fit(self, kept: Array) -> tuple[Array, Array, Array]:
        """Return the constants of the points kept, with derivatives and residuals there.

        It starts from the priors, so that nothing of the other points enters.
        """
        r, jac = self.start
        theta = self.prior
        for turn in range(ROUNDS):
            if turn in RENEWED:
                jac = self.jacobian(theta, r, kept)
            theta = self.step(theta, r, jac, kept)
            r = self.residual(theta, kept)
        return theta, jac, r

    def refit(self, theta: Array, jac: Array, r: Array, kept: Array) -> Array:
        """Return the constants of fewer points, to first order from those of more."""
        without = theta
        for _ in range(3):
            without = self.step(without, r + jac @ (without - theta), jac, kept)
        return without

    def ceiling(self) -> Array:
        """Return the bounds: no share of a NIC above one."""
        share = [n.startswith("net.") for n in self.names]
        return np.where(share, 0.0, np.inf)


def table(title: str, points: Sequence[Sample], r: Array) -> None:
    """Print errors by class: of busbw from 64 MiB on, of time below."""
    print(title)
    keys: list[tuple[str, Callable[[Sample], bool]]] = [
        ("multi-host from 64 MiB", lambda p: p.multi and p.size == "large"),
        ("multi-host 256 KiB to 64 MiB", lambda p: p.multi and p.size == "middle"),
        ("multi-host to 256 KiB", lambda p: p.multi and p.size == "small"),
        ("one host from 64 MiB", lambda p: not p.multi and p.size == "large"),
        ("one host below 64 MiB", lambda p: not p.multi and p.size != "large"),
    ]
    for name, wanted in keys:
        mine = np.array([wanted(p) for p in points])
        error = np.abs(np.expm1(-r[mine] if "from" in name else r[mine]))
        factor = np.exp(np.abs(r[mine]))
        print(
            f"  {name:30} n={mine.sum():4d} median={np.median(error):.3f}"
            f" p90={np.quantile(error, 0.9):.3f} median factor={np.median(factor):.3f}"
        )


def main(arguments: Iterable[str] | None = None) -> None:
    """Fit, print the errors, and write the files when asked."""
    import nested  # noqa: PLC0415 - beside this file, and it needs a problem

    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(rows.__file__).parents[1] / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true", help="constants alone, no folds")
    options = parser.parse_args(list(arguments) if arguments is not None else None)
    problem = Problem(samples(tables(options.data)))
    theta, jac, r = problem.fit(problem.everything)
    table("in sample", problem.points, r)
    for name, value in problem.values(theta).items():
        print(f"  {name:28} {value:10.4g}  prior {PRIORS[name][0]:10.4g}")
    if options.quick:
        worst(problem.points, r)
        return
    whole = nested.fold(problem, "", (theta, jac, r))
    table("a product family left out", problem.points, whole.outside)
    worst(problem.points, whole.outside)
    folds = nested.folds(problem)
    nested.show(problem, folds)
    if options.write:
        nested.write(problem, whole, folds)


def worst(points: Sequence[Sample], r: Array) -> None:
    """Print every run with its median error by range of sizes."""
    by_run: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for p, x in zip(points, r, strict=True):
        by_run[p.row][p.size].append(float(x))
    for name, sizes in sorted(by_run.items()):
        shown = "  ".join(
            f"{s} {np.exp(np.median(sizes[s])):.2f}"
            for s in ("small", "middle", "large")
            if s in sizes
        )
        print(f"  {name:40} {shown}")


if __name__ == "__main__":
    main()
