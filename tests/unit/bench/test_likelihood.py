"""How likely a curve makes a sweep: a common scale is one event, a shape is many."""

import math
from itertools import pairwise

import pytest
from scipy import integrate, stats

from weft.bench import likelihood, noise
from weft.bench.likelihood import Table, Unknown, log_likelihoods, log_of_none

SIZES = 6


def _fit(gaps, **more):
    table = {
        "above": (0.1,) * SIZES, "below": (0.2,) * SIZES, "noises": (0.01,) * SIZES,
        "doublings": tuple(float(30 - place) for place in range(SIZES)), "degrees": 5,
    } | more  # fmt: skip
    return (Table(places=tuple(range(SIZES)), gaps=tuple(gaps), **table),)


def test_the_height_of_one_size_follows_the_law_with_a_side_each():
    """Its density adds up to 1, twice as much of it on the side that is twice as wide."""

    def density(gap):
        table = Table(places=(0,), gaps=(gap,), above=(0.1,), below=(0.2,), noises=(0.0,),
                      doublings=(30.0,), degrees=5)  # fmt: skip
        return math.exp(log_of_none((table,)))

    slower = integrate.quad(density, 0, 40)[0]
    faster = integrate.quad(density, -40, 0)[0]
    assert slower == pytest.approx(1 / 3, abs=1e-3)
    assert faster == pytest.approx(2 / 3, abs=1e-3)
    assert density(0.1) / density(0.0) == pytest.approx(stats.t.pdf(1, 5) / stats.t.pdf(0, 5))


def test_a_common_scale_costs_as_much_at_six_sizes_as_at_one():
    one, six = _fit([0.0] * SIZES), _fit([0.3] * SIZES)
    assert log_of_none(one) - log_of_none(six) == pytest.approx(
        stats.t.logpdf(0, 5) - stats.t.logpdf(0.3 / math.hypot(0.1, 0.01), 5)
    )


def test_a_jump_costs_less_than_a_zigzag():
    jump, zigzag = [0.0] * 3 + [0.3] * 3, [0.0, 0.3] * 3
    assert log_of_none(_fit(jump)) > log_of_none(_fit(zigzag))


def test_the_curve_that_was_measured_is_the_likeliest():
    curve = [0.7, 0.7, 0.6, 0.3, 0.1, 0.0]
    half = [one / 2 for one in curve]
    flat = [0.7] * SIZES
    own, lower, level = log_likelihoods(_fit(curve), [curve, half, flat])
    assert own > max(lower, level, log_of_none(_fit(curve)))


def test_a_cost_that_is_off_as_a_whole_is_forgiven():
    """A fifth of its logarithm is one spread; four fifths are four."""
    curve = [1.0, 1.0, 0.8, 0.4, 0.1, 0.0]

    def off(ratio):
        return log_likelihoods(_fit([one * ratio for one in curve]), [curve])[0]

    assert off(1.0) - off(1.2) < 2.0 < off(1.0) - off(1.8)


def test_what_no_fault_describes_makes_any_height_likely():
    far = _fit([2.0] * SIZES)
    assert log_of_none(far, Unknown.HEIGHT) > log_of_none(far) + 5
    zigzag = _fit([0.0, 1.0] * 3)
    assert log_of_none(zigzag, Unknown.SHAPE) > log_of_none(zigzag, Unknown.HEIGHT)


def test_tables_share_part_of_their_height():
    """The second of two tables that are slow alike surprises less than one that is fast."""
    (table,) = _fit([0.3] * SIZES)

    def both(other):
        moved = Table(
            places=tuple(range(SIZES, 2 * SIZES)), gaps=(other,) * SIZES, above=table.above,
            below=table.below, noises=table.noises, doublings=table.doublings, degrees=5,
        )  # fmt: skip
        return log_of_none((table, moved))

    assert 0 < noise.errors().tables_ratio < 1
    assert both(0.05) > both(-0.05)


def test_the_points_of_the_integral_are_those_of_a_normal_law():
    nodes, weights = likelihood.normal_points(57)
    assert float(weights.sum()) == pytest.approx(1.0)
    assert float((weights * nodes**2).sum()) == pytest.approx(1.0, abs=0.01)


def test_no_cost_is_likelier_for_lying_on_a_point_of_the_integral():
    """By an own good run the height is known within 2 %, and a fault costs what it costs.

    The likelihood of a cost that is off by d spreads is the normal law's, d by d.
    """
    curve = [1.0, 1.0, 0.8, 0.4, 0.1, 0.0]
    narrow = {"above": (0.02,) * SIZES, "below": (0.02,) * SIZES}
    logs = [
        log_likelihoods(_fit([one * (1 + 0.2 * d / 10) for one in curve], **narrow), [curve])[0]
        for d in range(21)
    ]
    drops = [a - b for a, b in pairwise(logs)]
    assert min(drops) > -0.02
    assert logs[0] - logs[-1] == pytest.approx(2.0, abs=0.5)
