"""Bubbles of the pipeline schedules, against their closed forms."""

import pytest

from weft.engines.analytic.step.overlap import bubble_s
from weft.spec.workload import Parallelism


def test_1f1b_idles_p_minus_1_micro_batches():
    """Bubble over useful time = (p - 1) / m [Narayanan 2021, section 2.2.1]."""
    micro_batches, forward_s, backward_s = 16, 1.0, 2.0
    idle = bubble_s(Parallelism(pp=8), forward_s, backward_s)
    useful = micro_batches * (forward_s + backward_s)
    assert idle / useful == pytest.approx(7 / 16)


def test_interleaving_divides_the_bubble_by_the_chunks():
    plain = bubble_s(Parallelism(pp=8), 1.0, 2.0)
    chunks = Parallelism(pp=8, virtual_stages=4, schedule="interleaved")
    assert bubble_s(chunks, 1.0, 2.0) == plain / 4


def test_zero_bubble_keeps_a_third():
    assert bubble_s(Parallelism(pp=8, schedule="zero_bubble"), 1.0, 2.0) == pytest.approx(7.0)


def test_gpipe_idles_as_long_as_1f1b():
    assert bubble_s(Parallelism(pp=4, schedule="gpipe"), 1, 2) == bubble_s(
        Parallelism(pp=4), 1, 2
    )


def test_one_stage_has_no_bubble():
    assert bubble_s(Parallelism(pp=1), 1.0, 2.0) == 0
