"""Nested calibration: everything is refitted with one product family left out at a time.

Inside a fold every other family is left out in turn, and so is the far end of every axis; the
residuals of what is left out give the error model (fits/spread.py). Nothing of the fold's own
family enters: neither constants nor spreads, levels, or what counts as measured.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
import spread as law
from numpy.typing import NDArray

from weft.accuracy import tables
from weft.accuracy.nested import mean_log_times
from weft.engines.analytic.collective import choice, constants, domain, mixture, spread
from weft.engines.analytic.collective.constants import FILE, WITHOUT_FILE, Fitted, using
from weft.engines.analytic.collective.domain import Place
from weft.engines.analytic.collective.model import collective_time, option_time_s, place_of
from weft.engines.analytic.collective.path import Same, path_of

Array = NDArray[np.float64]
LEAST_MOVE = 1e-3
ENDS_OF_SIZE = (8, 64)
"""Hosts above which sweeps are left out, to see what doublings cost."""
END_OF_DOMAIN = 8
LATEST = (2, 27)
"""Release after which sweeps are left out, to see what newer ones cost."""


@dataclass(frozen=True)
class Fold:
    """What was fitted without one family, or of everything."""

    family: str
    values: dict[str, float]
    spread: spread.Spread
    outside: Array
    """Residuals of every point with its own family left out, within this fold."""


@dataclass(frozen=True)
class Fitting:
    """What a fold needs of the problem (fits/collective.py)."""

    theta: Array
    jac: Array
    r: Array


def places(problem) -> list[Place]:  # noqa: ANN001 - Problem of fits/collective.py
    """Return where every point lies."""
    fitted = Fitted(problem.values(problem.prior) | not_fitted(), spread.fixed())
    return [
        place_of(path_of(Same(p.case.cluster), p.case.group, fitted), p.case.operation)
        for p in problem.points
    ]


def not_fitted() -> Mapping[str, float]:
    """Return the constants that no row fits."""
    from collective import NOT_FITTED  # noqa: PLC0415 - each needs the other

    return NOT_FITTED


def fold(problem, family: str, fitting: tuple[Array, Array, Array] | None = None) -> Fold:  # noqa: ANN001
    """Return what is fitted without one family; of all where it is empty."""
    of = np.array([p.family for p in problem.points])
    kept = of != family
    theta, jac, r = fitting or problem.fit(kept)
    where = places(problem)
    outside = np.zeros(len(of))
    near: list[law.Residual] = []
    for other in sorted(set(of[kept])):
        mine = of == other
        near += _left_out(problem, theta, jac, r, where, kept & ~mine, mine, outside)
    far: list[law.Residual] = []
    for axis, beyond in _ends(where):
        mine = np.array([beyond(p) for p in where]) & kept
        if mine.any() and (kept & ~mine).any():
            rest = kept & ~mine
            found = _left_out(problem, theta, jac, r, where, rest, mine, None)
            far += [one for one in found if one.distances.get(axis)]
    model = law.fitted(near, far)
    measured = domain.extents(w for w, k in zip(where, kept, strict=True) if k)
    return Fold(
        family=family, values=problem.values(theta),
        spread=replace(model, measured=measured), outside=outside,
    )  # fmt: skip


def _ends(where: Sequence[Place]) -> Iterator[tuple[str, Callable[[Place], bool]]]:
    """Yield the far end of each axis: what is left out to see what it costs."""
    for limit in ENDS_OF_SIZE:
        yield domain.SIZE, lambda p, limit=limit: p.domains > limit
    yield domain.DOMAIN, lambda p: p.local > END_OF_DOMAIN
    yield domain.VERSION, lambda p: p.version[:2] > LATEST
    for name in sorted({p.operation for p in where}):
        yield domain.COLLECTIVE, lambda p, name=name: p.operation == name
    for name in sorted({p.generation for p in where}):
        yield domain.GENERATION, lambda p, name=name: p.generation == name
    for name in sorted({p.fabric for p in where if p.domains > 1}):
        yield domain.FABRIC, lambda p, name=name: p.fabric == name and p.domains > 1


def _left_out(  # noqa: PLR0917 - the parts of one refit
    problem,  # noqa: ANN001
    theta: Array,
    jac: Array,
    r: Array,
    where: Sequence[Place],
    kept: NDArray[np.bool_],
    mine: NDArray[np.bool_],
    outside: Array | None,
) -> list[law.Residual]:
    """Return residuals of some points under constants fitted without them."""
    values = problem.values(problem.refit(theta, jac, r, kept)) | not_fitted()
    fitted = Fitted(values, spread.fixed())
    measured = domain.extents(w for w, k in zip(where, kept, strict=True) if k)
    found = []
    for i in np.flatnonzero(mine):
        one = _residual(problem.points[i], where[i], fitted, measured)
        found.append(one)
        if outside is not None:
            outside[i] = one.logs[int(np.argmin(one.ratios))] - one.log_time
    return found


def _residual(p, where: Place, fitted: Fitted, measured: domain.Measured) -> law.Residual:  # noqa: ANN001
    path = path_of(Same(p.case.cluster), p.case.group, fitted)
    able = choice.options(path, p.case.operation)
    own = [choice.nccl_time_s(path, option, p.size_bytes) for option in able]
    far = domain.distances(where, measured)
    return law.Residual(
        log_time=log(p.time_s),
        logs=tuple(log(option_time_s(path, option, p.size_bytes)) for option in able),
        ratios=tuple(log(t / min(own)) if min(own) > 0 else 0.0 for t in own),
        nvls=tuple(option.kind.name in mixture.NVLS for option in able),
        nvls_open=not mixture.nvls_stated(path.env), stated=path.release_stated,
        features=spread.features(where, p.size), distances=far,
        group=spread.group(where, p.size, within=not far),
        system=p.case.site, family=p.family, sweep=p.case.sweep,
        log2_size=float(np.log2(p.size_bytes)),
    )  # fmt: skip


def folds(problem) -> list[Fold]:  # noqa: ANN001
    """Return a fold for every family."""
    return [fold(problem, name) for name in sorted({p.family for p in problem.points})]


def predicted(points, one: Fold) -> list:  # noqa: ANN001
    """Return times of points by what was fitted without their family, with bands."""
    with using(Fitted(one.values | dict(not_fitted()), one.spread)):
        return [
            collective_time(p.case.cluster, p.case.operation, p.size_bytes, p.case.group).time_s
            for p in points
        ]


def show(problem, found: Sequence[Fold]) -> None:  # noqa: ANN001
    """Print nested errors and coverage, a system counted once."""
    scored: list[tuple[str, str, str, str, float, bool, bool]] = []
    where = places(problem)
    for one in found:
        chosen = [i for i, p in enumerate(problem.points) if p.family == one.family]
        mine = [problem.points[i] for i in chosen]
        for i, p, t in zip(chosen, mine, predicted(mine, one), strict=True):
            far = bool(domain.distances(where[i], one.spread.measured))
            error, inside = log(p.time_s / t.value), t.low <= p.time_s <= t.high
            op = p.case.operation.value
            scored.append((p.case.site, p.size, p.scale, op, error, inside, far))
    for title, keep in _views():
        rows_of = [s for s in scored if keep(s)]
        by_site: dict[str, list] = {}
        for s in rows_of:
            by_site.setdefault(s[0], []).append(s)
        if not by_site:
            continue
        errors = [np.median([abs(np.expm1(s[4])) for s in v]) for v in by_site.values()]
        factor = [np.exp(np.median([abs(s[4]) for s in v])) for v in by_site.values()]
        inside = [np.mean([s[5] for s in v]) for v in by_site.values()]
        bias = [np.median([s[4] for s in v]) for v in by_site.values()]
        print(
            f"  {title:34} systems={len(by_site):3d} error={np.median(errors):.3f}"
            f" factor={np.median(factor):.2f} inside={np.mean(inside):.2f}"
            f" +- {np.std(inside) / max(1, len(inside)) ** 0.5:.2f} bias={np.median(bias):+.3f}"
        )


def _views() -> Iterator[tuple[str, Callable[[tuple], bool]]]:
    across = lambda s: s[2] != "one_host"  # noqa: E731
    large = lambda s: across(s) and s[1] == "large"  # noqa: E731
    yield "from 64 MiB", large
    yield "from 64 MiB, within", lambda s: large(s) and not s[6]
    yield "from 64 MiB, beyond", lambda s: large(s) and s[6]
    yield "below 64 MiB", lambda s: across(s) and s[1] != "large"
    yield "middle", lambda s: across(s) and s[1] == "middle"
    yield "small", lambda s: across(s) and s[1] == "small"
    yield "one host from 64 MiB", lambda s: not across(s) and s[1] == "large"
    for scale in ("two_hosts", "few_hosts", "many_hosts"):
        yield f"from 64 MiB {scale}", lambda s, scale=scale: large(s) and s[2] == scale
        yield f"below {scale}", lambda s, c=scale: across(s) and s[1] != "large" and s[2] == c
    for op in ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv"):
        yield f"from 64 MiB {op}", lambda s, op=op: large(s) and s[3] == op


def write(problem, whole: Fold, found: Sequence[Fold]) -> None:  # noqa: ANN001
    """Write the shipped constants and error model, and those of every fold."""
    today = dt.datetime.now(tz=dt.UTC).date()
    systems = {p.case.site for p in problem.points}
    head = [
        "# Constants that no source gives. Written by fits/collective.py; do not edit by hand.",
        f"fitted = {today}",
        f"rows = {len(problem.points)}",
        f"sites = {len(systems)}",
        f"families = {len(found)}",
        'method = "Gauss-Newton on log time, Huber, ridge to physical priors; classes only"',
        "",
    ]
    lines = [*head, *_tables("", {"constants": _nested(whole.values | dict(not_fitted()))})]
    lines += ["# Error model: fits/spread.py.", *_tables("", {"spread": _spread(whole)})]
    FILE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    lines = [
        "# Constants and error model as fitted without one product family at a time.",
        "# Written by fits/collective.py; do not edit by hand.",
        f"fitted = {today}",
        "",
        "[families]",
        *(f'"{site}" = "{name}"' for site, name in sorted(_families(problem).items())),
        "",
    ]
    for one in found:
        own = one.values.items()
        moved = {n: v for n, v in own if abs(log(v / whole.values[n])) > LEAST_MOVE}
        rows_of = sum(p.family == one.family for p in problem.points)
        lines += [f'[without."{one.family}"]', f"rows = {rows_of}", ""]
        lines += _tables(
            f'without."{one.family}".', {"constants": moved, "spread": _spread(one)}
        )
    WITHOUT_FILE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    _add_check(lines)


def _add_check(lines: list[str]) -> None:
    """Add what each fold predicts, read back from the file, so that drift shows."""
    for cached in (constants.shipped, constants.nested, constants.without_family):
        cached.cache_clear()
    means = mean_log_times(tables.read(tables.SHIPPED))
    lines += ["[mean_log_time]", *(f'"{name}" = {mean:.5f}' for name, mean in means.items())]
    WITHOUT_FILE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _families(problem) -> dict[str, str]:  # noqa: ANN001
    return {p.case.site: p.family for p in problem.points}


def _nested(values: Mapping[str, float]) -> dict[str, dict[str, float] | float]:
    found: dict[str, dict[str, float] | float] = {}
    for name, value in sorted(values.items()):
        table, _, key = name.rpartition(".")
        if not table:
            found[name] = value
            continue
        inner = found.setdefault(table, {})
        assert isinstance(inner, dict)
        inner[key] = value
    return found


def _spread(one: Fold) -> dict:
    s = one.spread
    return {
        "log_scale": dict(s.log_scale), "tau": dict(s.tau), "shares": dict(s.shares),
        "choice": dict(s.choice), "calibrated": dict(s.calibrated),
        "levels": {k: list(v) for k, v in sorted(s.levels.items())},
        "measured": domain.to_table(s.measured),
    }  # fmt: skip


def _tables(prefix: str, tables: Mapping[str, Mapping]) -> list[str]:
    """Return TOML of nested tables; dotted names of constants are keys of their own."""
    lines: list[str] = []
    for name, table in tables.items():
        plain = {k: v for k, v in table.items() if not isinstance(v, Mapping)}
        if plain:
            lines.append(f"[{prefix}{name}]")
            lines += [f"{_key(k)} = {_value(v)}" for k, v in plain.items()]
            lines.append("")
        inner = {k: v for k, v in table.items() if isinstance(v, Mapping)}
        lines += _tables(f"{prefix}{name}.", inner)
    return lines


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
