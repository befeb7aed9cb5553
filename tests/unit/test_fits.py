"""The fits of collectives: variances are found again, folds do not see what is left out."""

import sys
from dataclasses import replace
from math import exp, log
from pathlib import Path
from statistics import NormalDist, fmean

import numpy as np
import pytest

from weft.accuracy import tables
from weft.engines.analytic.collective import constants
from weft.engines.analytic.collective.domain import AXES, Place
from weft.engines.analytic.collective.mixture import Law
from weft.engines.analytic.collective.spread import features
from weft.engines.analytic.collective.spread import group as group_of

FITS = Path(__file__).parents[2] / "fits"
NAMES = ("spread", "nested", "collective")
SPREADS = {"family": 0.20, "system": 0.12, "sweep": 0.08, "residual": 0.06}
HERE = Place(
    operation="all_reduce", ranks=16, domains=2, local=8, generation="hopper",
    fabric="infiniband", version=(2, 27),
)  # fmt: skip
FEW = replace(HERE, domains=4, ranks=32)
SIZE = "large"


@pytest.fixture(scope="module")
def fits():
    sys.path.insert(0, str(FITS))
    import collective  # noqa: PLC0415 - scripts of a folder that is no package
    import nested  # noqa: PLC0415
    import spread  # noqa: PLC0415

    yield {"collective": collective, "nested": nested, "spread": spread}
    sys.path.remove(str(FITS))
    for name in NAMES:
        del sys.modules[name]


def drawn(fits, seed, *, families=60, place=HERE, far=(), beyond=0.0):
    """Draw families of two systems of two sweeps of five sizes, with known spreads."""
    random = np.random.default_rng(seed)
    found = []
    for family in range(families):
        of_family = random.normal(0, SPREADS["family"]) + random.normal(0, beyond or 1e-12)
        for system in range(2):
            of_system = of_family + random.normal(0, SPREADS["system"])
            for sweep in range(2):
                of_sweep = of_system + random.normal(0, SPREADS["sweep"])
                found += [
                    fits["spread"].Residual(
                        log_time=of_sweep + random.normal(0, SPREADS["residual"]),
                        logs=(0.0,), ratios=(0.0,), nvls=(False,), nvls_open=False, stated=True,
                        features=features(place, SIZE), distances=dict(far),
                        group=group_of(place, SIZE, within=not far),
                        system=f"{family}.{system}", family=f"{family}",
                        sweep=f"{family}.{system}.{sweep}", log2_size=30.0 + size,
                    )
                    for size in range(5)
                ]  # fmt: skip
    return found


def fitted(fits, near, far=()):
    """Fit the error model, of families and of ends of axes."""
    return fits["spread"].fitted(near, far)


def inside(model, rows, place=HERE):
    """Return the share of rows that the band of a new system holds."""
    low, high = model.ends(place, SIZE, {})
    law = Law((1.0,), (0.0,), model.sigma(place, SIZE, {}))
    ends = log(law.quantile(low)), log(law.quantile(high))
    return fmean(ends[0] <= row.log_time <= ends[1] for row in rows)


def test_a_new_system_lies_in_its_band_four_times_of_five(fits):
    model = fitted(fits, drawn(fits, 1, families=200))
    assert inside(model, drawn(fits, 2, families=3000)) == pytest.approx(0.8, abs=0.05)
    whole = sum(value**2 for value in SPREADS.values()) ** 0.5
    high = model.ends(HERE, SIZE, {})[1]
    edge = model.sigma(HERE, SIZE, {}) * NormalDist().inv_cdf(high)
    assert edge == pytest.approx(1.2816 * whole, rel=0.2)


def test_the_parts_of_the_variance_are_found_again(fits):
    shares = fits["spread"].fitted(drawn(fits, 3, families=150), []).shares
    whole = sum(value**2 for value in SPREADS.values())
    for name, value in SPREADS.items():
        assert shares[name] == pytest.approx(value**2 / whole, abs=0.12)
    assert sum(shares.values()) == pytest.approx(1.0)


def test_what_lies_far_out_widens_the_band_there_alone(fits):
    far = replace(HERE, ranks=128, domains=16)
    near, out = drawn(fits, 4), drawn(fits, 5, place=far, far={"size": 3.0}, beyond=0.6)
    calm = fitted(fits, near, drawn(fits, 6, place=far, far={"size": 3.0}))
    wild = fitted(fits, near, out)
    assert wild.tau["size"] > 2 * calm.tau["size"]
    assert wild.sigma(HERE, SIZE, {}) == pytest.approx(calm.sigma(HERE, SIZE, {}), rel=0.15)


def test_an_axis_without_data_keeps_its_prior(fits):
    tau = fits["spread"].fitted(drawn(fits, 7, families=20), []).tau
    for axis in AXES:
        assert tau[axis] == pytest.approx(fits["spread"].TAU_PRIOR[axis], rel=0.2)


def test_a_small_group_takes_the_wider_of_its_own_and_its_parents_levels(fits):
    rows = drawn(fits, 8, families=30)
    lone = drawn(fits, 9, families=2, place=FEW)
    model, both = fitted(fits, rows), fitted(fits, rows + lone)
    assert both.ends(FEW, SIZE, {})[0] <= both.ends(HERE, SIZE, {})[0] * 1.5
    assert both.ends(FEW, SIZE, {})[1] >= model.ends(HERE, SIZE, {})[1] * 0.95


@pytest.fixture(scope="module")
def small(fits):
    """Return a few points of four families: a fold of them takes a second."""
    found = fits["collective"].samples(tables.read(tables.SHIPPED), most=3)
    wanted = {"AWS p5", "HGX A100 HDR", "OCI BM.GPU4.8", "GCP A4"}
    return [p for p in found if p.family in wanted]


def test_a_fold_does_not_see_the_family_that_it_leaves_out(fits, small):
    """Twice the times of one family change nothing of what is fitted without it."""
    changed = [replace(p, time_s=2 * p.time_s) if p.family == "AWS p5" else p for p in small]
    one, other = (
        fits["nested"].fold(fits["collective"].Problem(points), "AWS p5")
        for points in (small, changed)
    )
    assert one.values == other.values
    assert one.spread == replace(other.spread) or one.spread.__dict__ == other.spread.__dict__


def test_what_a_fold_does_see_changes_it(fits, small):
    changed = [replace(p, time_s=2 * p.time_s) if p.family == "GCP A4" else p for p in small]
    one, other = (
        fits["nested"].fold(fits["collective"].Problem(points), "AWS p5")
        for points in (small, changed)
    )
    assert one.values != other.values


def test_the_shipped_constants_come_from_all_families_and_each_fold_from_one_less():
    folds = constants.nested()["without"]
    assert set(constants.nested()["families"].values()) == set(folds)
    assert len(folds) > 20
    for name in list(folds)[:3]:
        fitted = constants.without_family(name)
        assert fitted.values.keys() == constants.shipped().values.keys()
        assert all(exp(value) > 0 for value in fitted.spread.log_scale.values())
