"""What a check is worth, and that every fault and check name one another."""

import math

import pytest

from weft.bench.check import all_checks
from weft.bench.evidence import MISLED
from weft.bench.fault import all_faults
from weft.bench.next_check import _gain_of_sweep, gain_bits
from weft.doctor.cause import causes

CHECKS = dict(all_checks())


@pytest.mark.parametrize(("name", "fault"), all_faults(), ids=[n for n, _ in all_faults()])
def test_a_fault_names_checks_that_there_are_and_causes_of_the_doctor(name, fault):
    assert fault.shows.keys() <= CHECKS.keys(), name
    assert fault.shows, "nothing would tell it apart"
    known = {one.name for one in causes()}
    assert fault.causes <= known


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_tells_some_fault_apart(name):
    shown = any(name in fault.shows for _, fault in all_faults())
    assert shown or CHECKS[name].beside is not None


def test_two_faults_that_a_check_parts_are_worth_a_bit_less_the_chance_of_error():
    """I = H(outcome) - H(error), with H(outcome) = 1 by symmetry."""
    error = -MISLED * math.log2(MISLED) - (1 - MISLED) * math.log2(1 - MISLED)
    assert gain_bits({"a": 0.5, "b": 0.5}) == pytest.approx(1 - error)
    assert gain_bits({"a": 1.0}) == 0.0


def test_a_sweep_is_worth_nothing_where_all_faults_look_alike_and_a_bit_where_far_apart():
    assert _gain_of_sweep([0.5, 0.5], [0.0, 0.0], 0.1) == pytest.approx(0.0, abs=1e-3)
    assert _gain_of_sweep([0.5, 0.5], [0.0, 3.0], 0.01) == pytest.approx(1.0, abs=0.02)
