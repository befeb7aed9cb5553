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
import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.engines.analytic.collective import collective_time, model
from weft.engines.analytic.collective.constants import FILE, WITHOUT_FILE, Fitted, using
from weft.network import fabric

Array = NDArray[np.float64]

HUBER = 0.15
ROUNDS = 7
STEP = 0.02
MAX_MOVE = 0.4
MIN_SITES = 3
LEAST_MOVE = 1e-3
MIN_SITES_OF_FABRIC = 3
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


STATED_BANDS: dict[str, tuple[float, float, int, int]] = {
    "tcp.two_hosts.large": (0.65, 1.8, 0, 0),
    "tcp.two_hosts.middle": (0.5, 1.8, 0, 0),
    "tcp.two_hosts.small": (0.3, 1.8, 0, 0),
    "tcp.more_hosts.large": (0.65, 2.0, 0, 0),
    "tcp.more_hosts.middle": (0.5, 2.0, 0, 0),
    "tcp.more_hosts.small": (0.3, 2.0, 0, 0),
}
"""Kernel sockets: one site has sweeps, so the range of single published values (4 to 9.6 GB/s
where 7 is predicted) stands for the spread between sites."""


@dataclass(frozen=True)
class Sample:
    """One measured point."""

    case: rows.Case
    size_bytes: float
    time_s: float
    row: str

    @property
    def size(self) -> str:
        """Range of sizes, as bands have it."""
        return model.bucket(self.size_bytes)

    @property
    def scale(self) -> str:
        """Hosts, as bands have them."""
        return model.scale(self.case.group.domains)

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


def samples(data: Mapping[str, list[Row]]) -> list[Sample]:
    """Return the healthy points that the model covers."""
    found: list[Sample] = []
    for run, points in rows.runs(data):
        case = rows.try_case(run)
        if case is None or not case.healthy:
            continue
        name = run["run_id"]
        found += [Sample(case, p.size_bytes, p.time_s, name) for p in points]
    for row in data.get("nccl_summary", []):
        made = rows.try_summary(row)
        if made is not None and made[0].healthy:
            case, point = made
            found.append(Sample(case, point.size_bytes, point.time_s, row["row_id"]))
    return found


def residuals(values: Mapping[str, float], points: Sequence[Sample]) -> Array:
    """Return log(predicted / measured) of time."""
    fitted = Fitted(dict(values) | NOT_FITTED, {"any": (1.0, 1.0)})
    with using(fitted):
        predicted = [
            collective_time(p.case.cluster, p.case.operation, p.size_bytes, p.case.group)
            for p in points
        ]
    return np.log([p.time_s.value / s.time_s for p, s in zip(predicted, points, strict=True)])


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

    def values(self, theta: Array) -> dict[str, float]:
        """Return constants by name."""
        return {n: float(v) for n, v in zip(self.names, np.exp(theta), strict=True)}

    def residual(self, theta: Array) -> Array:
        """Return residuals at a vector of constants."""
        return residuals(self.values(theta), self.points)

    def jacobian(self, theta: Array, at: Array) -> Array:
        """Return derivatives by differences."""
        columns = []
        for i in range(len(theta)):
            moved = theta.copy()
            moved[i] += STEP
            columns.append((self.residual(moved) - at) / STEP)
        return np.stack(columns, axis=1)

    def step(self, theta: Array, r: Array, jac: Array, keep: Array) -> Array:
        """Return the Gauss-Newton step of the rows kept, with Huber weights."""
        huber = np.minimum(1.0, HUBER / np.maximum(np.abs(r), 1e-9))
        w = self.weight * huber * keep * MARK / HUBER**2
        lhs = jac.T @ (w[:, None] * jac) + np.diag(1 / self.sigma**2)
        rhs = -(jac.T @ (w * r)) - (theta - self.prior) / self.sigma**2
        return np.clip(np.linalg.solve(lhs, rhs), -MAX_MOVE, MAX_MOVE)

    def fit(self) -> tuple[Array, Array]:
        """Return the constants of all points, and the last derivatives."""
        theta = self.prior.copy()
        everything = np.ones(len(self.points))
        jac = np.zeros((len(self.points), len(theta)))
        for _ in range(ROUNDS):
            r = self.residual(theta)
            jac = self.jacobian(theta, r)
            theta = np.minimum(theta + self.step(theta, r, jac, everything), self.ceiling())
        return theta, jac

    def ceiling(self) -> Array:
        """Return the bounds: no share of a NIC above one."""
        share = [n.startswith("net.") for n in self.names]
        return np.where(share, 0.0, np.inf)

    def left_out(self, theta: Array, jac: Array) -> tuple[Array, dict[str, Array]]:
        """Return residuals of every site under constants fitted without it, and those."""
        changed: dict[str, Array] = {}
        found = self.residual(theta)
        sites = sorted({p.case.site for p in self.points})
        for site in sites:
            mine = np.array([p.case.site == site for p in self.points])
            without = theta
            for _ in range(3):
                r = self.residual(theta) + jac @ (without - theta)
                without = np.minimum(
                    without + self.step(without, r, jac, (~mine).astype(float)), self.ceiling()
                )
            changed[site] = without
            held = [p for p, m in zip(self.points, mine, strict=True) if m]
            found[mine] = residuals(self.values(without), held)
        return found, changed


def band_name(p: Sample) -> list[str]:
    """Return the classes of a point, the narrowest first, as the model looks them up."""
    kind = fabric.find(p.case.cluster.fabric.kind)
    return [*model.band_names(kind, p.scale, p.size), "any"]


def bands(points: Sequence[Sample], r: Array) -> dict[str, tuple[float, float, int, int]]:
    """Return the 80 % band (measured over predicted time) of every class with enough sites.

    A wider class has the band of what has no narrower one, where that is enough sites.
    """
    found: dict[str, tuple[float, float, int, int]] = dict(STATED_BANDS)
    for depth in (2, 1, 0):
        groups: dict[str, list[int]] = defaultdict(list)
        for i, p in enumerate(points):
            for name in band_name(p):
                if name.count(".") == depth and name not in STATED_BANDS:
                    groups[name].append(i)
        narrower = dict(found)
        for name, members in sorted(groups.items()):
            rest = [i for i in members if not any(n in narrower for n in band_name(points[i]))]
            chosen = rest if len({points[i].case.site for i in rest}) >= MIN_SITES else members
            sites: dict[str, int] = defaultdict(int)
            for i in chosen:
                sites[points[i].case.site] += 1
            if len(sites) < (MIN_SITES_OF_FABRIC if depth > 1 else MIN_SITES):
                continue
            weight = np.array([sites[points[i].case.site] ** -0.25 for i in chosen])
            low, high = quantiles(-r[chosen], weight, (0.1, 0.9))
            low, high = min(0.99, float(np.exp(low))), max(1.01, float(np.exp(high)))
            found[name] = (low, high, len(chosen), len(sites))
    return found


def coverage(points: Sequence[Sample], r: Array) -> None:
    """Print how many points lie inside their band."""
    found = bands(points, r)
    inside: dict[str, list[bool]] = defaultdict(list)
    for p, x in zip(points, r, strict=True):
        name = next(n for n in band_name(p) if n in found)
        inside[f"{p.scale}.{p.size}"].append(found[name][0] <= np.exp(-x) <= found[name][1])
    for name, hits in sorted(inside.items()):
        print(f"  inside the band: {name:20} {np.mean(hits):.2f} of {len(hits)}")


def quantiles(values: Array, weight: Array, at: tuple[float, ...]) -> tuple[float, ...]:
    """Return weighted quantiles."""
    order = np.argsort(values)
    share = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    return tuple(float(np.interp(a, share, values[order])) for a in at)


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


def write(
    values: Mapping[str, float],
    band: Mapping[str, tuple[float, float, int, int]],
    points: Sequence[Sample],
) -> None:
    """Write the constants with their date, rows and spread."""
    nested: dict[str, dict[str, float]] = defaultdict(dict)
    for name, value in sorted({**values, **NOT_FITTED}.items()):
        table_name, _, key = name.rpartition(".")
        nested[table_name][key or name] = value
    today = dt.datetime.now(tz=dt.UTC).date()
    lines = [
        "# Constants that no source gives. Written by fits/collective.py; do not edit by hand.",
        f"fitted = {today}",
        f"rows = {len(points)}",
        f"sites = {len({p.case.site for p in points})}",
        'method = "Gauss-Newton on log time, Huber, ridge to physical priors; classes only"',
        "",
    ]
    for name in sorted(nested):
        lines.append(f"[constants.{name}]" if name else "[constants]")
        lines += [f"{k} = {v:.6g}" for k, v in nested[name].items()]
        lines.append("")
    lines.append("# 80 % bands of measured over predicted time, from leave-one-site-out fits.")
    for name, (low, high, rows_used, sites) in band.items():
        lines += [
            f'[bands."{name}"]',
            f"low = {low:.4f}",
            f"high = {high:.4f}",
            f"rows = {rows_used}",
            f"sites = {sites}",
            "",
        ]
    FILE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write_without(problem: Problem, theta: Array, changed: Mapping[str, Array]) -> None:
    """Write what changes in the constants when one site is left out of the fit."""
    lines = ["# Constants as fitted without one site. Written by fits/collective.py.", ""]
    for site, without in sorted(changed.items()):
        moved = [
            f'"{name}" = {np.exp(new):.6g}'
            for name, old, new in zip(problem.names, theta, without, strict=True)
            if abs(new - old) > LEAST_MOVE
        ]
        if moved:
            lines += [f'[without."{site}"]', *moved, ""]
    WITHOUT_FILE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def main(arguments: Iterable[str] | None = None) -> None:
    """Fit, print the errors, and write the file when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(rows.__file__).parents[1] / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(list(arguments) if arguments is not None else None)
    problem = Problem(samples(tables(options.data)))
    theta, jac = problem.fit()
    inside = problem.residual(theta)
    outside, changed = problem.left_out(theta, jac)
    table("in sample", problem.points, inside)
    table("leave one site out", problem.points, outside)
    coverage(problem.points, outside)
    for name, value in problem.values(theta).items():
        print(f"  {name:28} {value:10.4g}  prior {PRIORS[name][0]:10.4g}")
    worst(problem.points, outside)
    if options.write:
        write(problem.values(theta), bands(problem.points, outside), problem.points)
        write_without(problem, theta, changed)


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
