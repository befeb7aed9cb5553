"""The numbers of a lossless plan are simulated, and so is the plan without each of them."""

import pytest

from weft.generate.effects import effects
from weft.generate.plan import plan
from weft.spec.load import load_cluster


@pytest.fixture(scope="module")
def found():
    made = plan(load_cluster({"preset": "dgx_h100", "hosts": 64, "fabric": {"kind": "roce"}}))
    return {one.without.partition(" ")[0]: one for one in effects(made)}


def test_without_pauses_packets_drop_and_the_collective_takes_longer(found):
    pfc = found["PFC"]
    assert pfc.drops_without > 0
    assert pfc.paused_without_s == 0.0
    assert pfc.longer_ratio is None or pfc.longer_ratio > 0.5


def test_without_marks_links_stand_paused_for_longer(found):
    marks = found["switches"]
    assert marks.drops_without == 0
    assert marks.paused_without_s > marks.paused_s


def test_every_effect_is_set_beside_the_same_planned_network(found):
    assert len(found) == 3
    assert len({one.collective_s for one in found.values()}) == 1


@pytest.mark.parametrize("kind", ["infiniband", "tcp", "ultra_ethernet"])
def test_a_network_without_pauses_has_no_such_effects(kind):
    assert (
        effects(
            plan(
                load_cluster(
                    {
                        "preset": "dgx_h100",
                        "hosts": 8,
                        "fabric": {"kind": kind},
                        "host": {"nic": "pollara" if "ultra" in kind else "connectx7"},
                    }
                )
            )
        )
        == ()
    )
