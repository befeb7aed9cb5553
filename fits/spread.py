"""Fit the hierarchical error model of collectives, from residuals of systems left out.

Every number here is of log(measured / predicted) of a system whose product family, or whose
end of an axis, took no part in the constants. A system counts once in every cell of size,
hosts and collective. The fit is maximum a posteriori under Student's law; what one system's
sweeps have in common comes from products of residuals in pairs.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from weft.engines.analytic.collective.domain import AXES
from weft.engines.analytic.collective.spread import Spread, parent

Array = NDArray[np.float64]

TAU_PRIOR: dict[str, float] = {
    "size": 0.10, "domain": 0.10, "collective": 0.30, "generation": 0.20, "fabric": 0.30,
    "version": 0.05,
}  # fmt: skip
"""Scale of the half-Cauchy prior of the spread at distance 1 (a doubling, a release)."""
TERM_SIGMA = 0.4
"""Ridge on the terms of log s beside the base."""
BASE = (np.log(0.2), 1.0)
TRUST_PRIOR = (np.log(20.0), 1.0)
DOUBT_PRIOR = (0.5, 1.0)
"""Logit of the trust where the release is open, as a share of that where it is stated."""
OFF_PRIOR = (1.0, 9.0)
"""Beta law of how often NVLS is off."""
DEGREES = 4.0
FEW_SYSTEMS = 8
FEW_EXTRAPOLATED = 0.5
"""Weight of a point from the far end of an axis against one of a left-out family."""
WIDEST = 0.002
NARROWEST = 0.35
CLIP = 3.0
CALIBRATED = {"same": 0.3, "other": 1.0}
"""Share of a band that is left after calibrating. With 0.3 the bands of other sizes of a
published sweep hold 82 % +- 3 % of them (42 systems). Other collectives and numbers of ranks
lie as far off as those of systems never measured: 69 % +- 16 % and 57 % +- 10 % are inside."""
NUDGE = 1e-4
PAIR_LIMIT = 4000


@dataclass(frozen=True)
class Residual:
    """One point, predicted by constants that have not seen its system."""

    log_time: float
    logs: tuple[float, ...]
    """Log of the predicted time of each option of the library."""
    ratios: tuple[float, ...]
    """Log of NCCL's own time of it over that of its choice."""
    nvls: tuple[bool, ...]
    nvls_open: bool
    stated: bool
    """Whether the release is known."""
    features: tuple[str, ...]
    distances: Mapping[str, float]
    group: str
    system: str
    family: str
    sweep: str
    log2_size: float
    weight: float = 1.0


@dataclass
class Table:
    """Residuals as arrays, padded to the most options."""

    rows: Sequence[Residual]

    def __post_init__(self) -> None:
        """Lay the residuals out."""
        rows = self.rows
        width = max(len(r.logs) for r in rows)

        def padded(values: Iterable[Sequence[float]], fill: float) -> Array:
            return np.array([list(v) + [fill] * (width - len(v)) for v in values], dtype=float)

        self.y = np.array([r.log_time for r in rows])
        self.logs = padded([r.logs for r in rows], 0.0)
        self.ratios = padded([r.ratios for r in rows], np.inf)
        nvls = padded([r.nvls for r in rows], 0.0) > 0
        plain = np.where(nvls, np.inf, self.ratios)
        least = plain.min(axis=1, keepdims=True)
        self.has_plain = np.isfinite(least[:, 0]) & nvls.any(axis=1)
        self.plain = plain - np.where(np.isfinite(least), least, 0.0)
        self.open = np.array([r.nvls_open for r in rows]) & self.has_plain
        self.stated = np.array([r.stated for r in rows])
        self.names = ["base", *sorted({n for r in rows for n in r.features} - {"base"})]
        self.x = np.array([[n in r.features for n in self.names] for r in rows], dtype=float)
        self.far = np.array([[r.distances.get(a, 0.0) for a in AXES] for r in rows])
        self.weight = np.array([r.weight for r in rows])

    def choice(self, trust: Array, off: float) -> Array:
        """Return the probability of each option."""

        def softmax(ratios: Array) -> Array:
            raw = np.exp(-trust[:, None] * ratios)
            return np.asarray(raw / np.maximum(raw.sum(axis=1, keepdims=True), 1e-300))

        on, without = softmax(self.ratios), softmax(self.plain)
        p = np.where(self.open, off, 0.0)[:, None]
        return np.asarray((1 - p) * on + p * without)


@dataclass(frozen=True)
class Parameters:
    """The parameters of the error model, as fitted."""

    names: Sequence[str]
    beta: Array
    tau: Array
    trust: tuple[float, float]
    off: float

    def sigma(self, table: Table) -> Array:
        """Return s of every row."""
        scale = np.exp(2 * table.x @ self.beta)
        return np.sqrt(scale + table.far @ self.tau**2)

    def weights(self, table: Table) -> Array:
        """Return the probability of each option of every row."""
        return table.choice(np.where(table.stated, *self.trust), self.off)


def unpacked(theta: Array, names: Sequence[str]) -> Parameters:
    """Return the parameters of a vector."""
    n, a = len(names), len(AXES)
    return Parameters(
        names=names, beta=theta[:n], tau=np.exp(theta[n : n + a]),
        trust=_trust(theta[n + a], theta[n + a + 1]),
        off=float(special.expit(theta[n + a + 2])),
    )  # fmt: skip


def _trust(log_stated: float, doubt: float) -> tuple[float, float]:
    """Return trust where the release is stated and where not, which is never the larger."""
    stated = float(np.exp(log_stated))
    return stated, stated * float(special.expit(doubt))


def objective(theta: Array, table: Table) -> tuple[float, Array]:
    """Return minus the log posterior and its slope."""
    p = unpacked(theta, table.names)
    value, slope = _scales(p, table, p.weights(table))
    first = len(p.beta) + len(AXES)
    for place in range(first, len(theta)):
        moved = theta.copy()
        moved[place] += NUDGE
        other = unpacked(moved, table.names)
        there, _ = _scales(other, table, other.weights(table))
        slope[place] = (there - value) / NUDGE
    return value, slope


def _scales(p: Parameters, table: Table, weights: Array) -> tuple[float, Array]:
    """Return minus the log posterior, and its slope along the terms of s."""
    scale = np.exp(2 * table.x @ p.beta)
    sigma2 = scale + table.far @ p.tau**2
    z2 = (table.y[:, None] - table.logs) ** 2 / sigma2[:, None] / DEGREES
    core = weights * (1 + z2) ** (-(DEGREES + 1) / 2)
    density = np.maximum(core.sum(axis=1), 1e-30)
    value = -float(table.weight @ (np.log(density) - 0.5 * np.log(sigma2)))
    pull = (DEGREES + 1) * (core * z2 / (1 + z2)).sum(axis=1) / density - 1
    per_row = table.weight * pull / sigma2
    value += _prior(p)
    slope = np.zeros(len(p.beta) + len(AXES) + 3)
    n = len(p.beta)
    slope[:n] = -(per_row * scale) @ table.x
    slope[0] += (p.beta[0] - BASE[0]) / BASE[1] ** 2
    slope[1:n] += p.beta[1:] / TERM_SIGMA**2
    slope[n : n + len(AXES)] = -(per_row @ table.far) * p.tau**2
    for place, (axis, tau) in enumerate(zip(AXES, p.tau, strict=True)):
        ratio2 = (tau / TAU_PRIOR[axis]) ** 2
        slope[n + place] += 2 * ratio2 / (1 + ratio2) - 1
    return value, slope


def _prior(p: Parameters) -> float:
    found = 0.5 * ((p.beta[0] - BASE[0]) / BASE[1]) ** 2
    found += 0.5 * float((p.beta[1:] ** 2).sum()) / TERM_SIGMA**2
    for axis, tau in zip(AXES, p.tau, strict=True):
        found += np.log1p((tau / TAU_PRIOR[axis]) ** 2) - np.log(tau / TAU_PRIOR[axis])
    found += 0.5 * ((np.log(p.trust[0]) - TRUST_PRIOR[0]) / TRUST_PRIOR[1]) ** 2
    doubt = special.logit(min(p.trust[1] / p.trust[0], 1 - 1e-9))
    found += 0.5 * ((doubt - DOUBT_PRIOR[0]) / DOUBT_PRIOR[1]) ** 2
    return float(found - OFF_PRIOR[0] * np.log(p.off) - OFF_PRIOR[1] * np.log1p(-p.off))


def parameters(table: Table) -> Parameters:
    """Return the most likely parameters."""
    start = np.concatenate(
        [
            [BASE[0]],
            np.zeros(len(table.names) - 1),
            [np.log(TAU_PRIOR[a]) for a in AXES],
            [TRUST_PRIOR[0], DOUBT_PRIOR[0]],
            [-2.0],
        ]
    )
    found = optimize.minimize(
        objective, start, args=(table,), jac=True, method="L-BFGS-B",
        options={"maxiter": 80},
    )  # fmt: skip
    return unpacked(found.x, table.names)


def probabilities(table: Table, p: Parameters) -> Array:
    """Return the probability that the law gives to times below each measured one."""
    sigma = p.sigma(table)
    z = (table.y[:, None] - table.logs) / sigma[:, None]
    return np.asarray((p.weights(table) * special.ndtr(z)).sum(axis=1))


def levels(rows: Sequence[Residual], u: Array) -> dict[str, tuple[float, float]]:
    """Return the conformal levels of every group; small ones take the wider of two.

    The parent of a group is all of the same sizes, side (inside or outside what was measured)
    and hosts, whatever the network; that of those whatever the hosts.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        name = row.group
        while name:
            members[name].append(i)
            name = parent(name)
    found: dict[str, tuple[float, float]] = {}
    for name in sorted(members, key=lambda name: name.count(".")):
        low, high = _ends(rows, u, members[name])
        wide = found.get(parent(name))
        if wide and len({rows[i].system for i in members[name]}) < FEW_SYSTEMS:
            low, high = min(low, wide[0]), max(high, wide[1])
        found[name] = (low, high)
    return found


def _ends(rows: Sequence[Residual], u: Array, members: Sequence[int]) -> tuple[float, float]:
    count: dict[tuple[str, str], int] = defaultdict(int)
    for i in members:
        count[_cell(rows[i])] += 1
    weight = np.array([rows[i].weight / count[_cell(rows[i])] for i in members])
    by_system: dict[str, float] = defaultdict(float)
    for i, w in zip(members, weight, strict=True):
        by_system[rows[i].system] += w
    weight /= np.array([by_system[rows[i].system] for i in members])
    values = u[list(members)]
    order = np.argsort(values)
    share = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    low, high = (float(np.interp(a, share, values[order])) for a in (0.1, 0.9))
    return min(max(low, WIDEST), NARROWEST), max(min(high, 1 - WIDEST), 1 - NARROWEST)


def _cell(row: Residual) -> tuple[str, str]:
    """Return the cell in which points of one system count once."""
    return row.system, " ".join(row.features[1:4])


def weighted(rows: Iterable[Residual], weight: float = 1.0) -> list[Residual]:
    """Return residuals whose weights make a system count once in every cell."""
    from dataclasses import replace  # noqa: PLC0415 - used here alone

    held = list(rows)
    count: dict[tuple[str, str], int] = defaultdict(int)
    for row in held:
        count[_cell(row)] += 1
    return [replace(row, weight=weight / count[_cell(row)]) for row in held]


def shares(rows: Sequence[Residual], u: Array) -> dict[str, float]:
    """Return the shares of the variance: of family, system, sweep and residual.

    Products of standardised residuals of one sweep hold family, system and sweep; those of two
    sweeps of one system hold family and system; those of two systems of one family that alone.
    """
    z = np.clip(stats.norm.ppf(np.clip(u, 1e-4, 1 - 1e-4)), -CLIP, CLIP)
    total = _mean(((row.system,), z[i] ** 2) for i, row in enumerate(rows))
    by_sweep: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_sweep[row.sweep].append(i)
    same = _mean(
        ((rows[i].system,), z[i] * z[j])
        for found in by_sweep.values()
        for i, j in combinations(found[:: max(1, len(found) // 12)], 2)
    )
    middle = {name: float(np.mean(z[found])) for name, found in by_sweep.items()}
    first = {name: rows[found[0]] for name, found in by_sweep.items()}
    systems: dict[str, list[str]] = defaultdict(list)
    for name, row in first.items():
        systems[row.system].append(name)
    apart = _mean(
        ((system,), middle[a] * middle[b])
        for system, found in systems.items()
        for a, b in list(combinations(found, 2))[:PAIR_LIMIT]
    )
    level = {system: float(np.mean([middle[n] for n in found]))
             for system, found in systems.items()}  # fmt: skip
    families: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        families[row.family].add(row.system)
    related = _mean(
        ((name,), level[a] * level[b])
        for name, found in families.items()
        for a, b in combinations(sorted(found), 2)
    )
    family = min(max(related, 0.0), max(apart, 0.0))
    system = max(apart, family) - family
    sweep = max(same, system + family) - system - family
    rest = max(total - family - system - sweep, 0.02 * total)
    whole = family + system + sweep + rest
    return {
        "family": family / whole, "system": system / whole, "sweep": sweep / whole,
        "residual": rest / whole,
    }  # fmt: skip


def _mean(pairs: Iterable[tuple[tuple[str, ...], float]]) -> float:
    """Return the mean over groups of the mean of each."""
    held: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for key, value in pairs:
        held[key].append(value)
    return float(np.mean([np.mean(v) for v in held.values()])) if held else 0.0


def fitted(families: Sequence[Residual], ends: Sequence[Residual]) -> Spread:
    """Return the error model of residuals of families left out and of ends of axes left out."""
    near, far = weighted(families), weighted(ends, FEW_EXTRAPOLATED)
    rows = near + far
    table = Table(rows)
    p = parameters(table)
    u = probabilities(table, p)
    within = [i for i, row in enumerate(rows) if not row.distances]
    return Spread(
        log_scale=dict(zip(p.names, map(float, p.beta), strict=True)),
        tau=dict(zip(AXES, map(float, p.tau), strict=True)),
        levels=levels(rows, u),
        shares=shares([rows[i] for i in within], u[within]),
        calibrated=CALIBRATED,
        choice={"stated": p.trust[0], "open": p.trust[1], "nvls_off": p.off},
    )
