"""Every knob reaches the kernel, stays in its range, and says where it applies."""

import pytest

from weft.engines.packet.settings import options_of
from weft.errors import SpecError, UnknownName
from weft.tune.knob import all_knobs
from weft.tune.space import explicit, rate_of, space_of

BUFFER = {"buffer": {"shared_bytes": "16MB", "headroom_bytes": "100kB"}}
LOSSY = {"preset": "roce_without_pfc"}


@pytest.mark.parametrize("name", all_knobs())
def test_a_knob_changes_what_the_kernel_is_given(name, scenario):
    """Both ends of the range are read back as they were entered."""
    knob = all_knobs()[name]
    asked = scenario(**(LOSSY if name == "queue_limit_bytes" else BUFFER))
    assert knob.applies(options_of(asked, 1)), "the scenario of this test has every knob"
    seen = []
    for value in (knob.low, knob.high):
        entered = asked.with_(network=knob.enter(explicit(asked), value))
        options = options_of(entered, 1)
        seen.append(options)
        assert knob.read(options) == pytest.approx(value, rel=1e-3)
    assert seen[0] != seen[1]


def test_thresholds_stay_in_order_whatever_is_entered(scenario):
    asked = scenario()
    space = space_of([asked])
    for kmin, kmax, xoff, xon in ((4e6, 1.5, 4e4, 0.98), (2e4, 20.0, 4e6, 0.2)):
        found = space.applied(explicit(asked), {
            "kmin_bytes": kmin, "kmax_over_kmin_ratio": kmax,
            "xoff_bytes": xoff, "xon_over_xoff_ratio": xon,
        })  # fmt: skip
        assert found.ecn.kmin_bytes < found.ecn.kmax_bytes
        assert found.pfc.xon_bytes < found.pfc.xoff_bytes


def test_settings_filled_in_run_as_those_they_are_of(scenario):
    asked = scenario(preset="roce_tuned")
    assert options_of(asked.with_(network=explicit(asked)), 1) == options_of(asked, 1)


def test_only_knobs_that_the_settings_have_are_searched(scenario):
    found = space_of([scenario(congestion="swift")]).knobs
    assert "rate_timer_s" not in found
    assert "xoff_bytes" in found
    assert "headroom_bytes" not in found, "without a limit there is always room"
    with pytest.raises(SpecError, match=r"have no knob rate_timer_s .pfc, swift.; they have"):
        space_of([scenario(congestion="swift")], ["rate_timer_s"])
    with pytest.raises(UnknownName, match="did you mean 'kmin_bytes'"):
        space_of([scenario()], ["kmin_byte"])


OWN = {"ecn": {"kmin_bytes": "100kB", "kmax_bytes": "200kB", "pmax_ratio": 0.5}}


def in_classes(scenario, *classes):
    """Two transfers of the incast's kind, each of a class of its own."""
    asked = scenario(classes=[{"name": name, **more} for name, more in classes])
    incast = asked.traffic[0].incast
    items = [incast.with_(name=name, traffic_class=name) for name, _ in classes]
    return asked.with_(traffic=tuple(asked.traffic[0].with_(incast=one) for one in items))


def test_a_knob_that_every_class_sets_for_itself_is_not_searched_and_said(scenario):
    asked = in_classes(scenario, ("a", OWN), ("b", OWN))
    space = space_of([asked])
    assert "kmin_bytes" not in space.knobs
    assert "xoff_bytes" in space.knobs
    assert any("not searched: kmax_over_kmin_ratio, kmin_bytes, pmax" in n for n in space.notes)
    with pytest.raises(SpecError, match=r"kmin_bytes change nothing here: every traffic class"):
        space_of([asked], ["kmin_bytes"])


def test_a_knob_that_some_class_leaves_alone_is_searched_for_it(scenario):
    asked = in_classes(scenario, ("a", OWN), ("b", {}))
    space = space_of([asked])
    assert "kmin_bytes" in space.knobs
    assert any("kmin_bytes, pmax_ratio: searched for traffic class b" in n for n in space.notes)
    assert not space_of([scenario()]).notes


def test_knobs_of_a_control_that_no_class_runs_are_dead(scenario):
    own = {"congestion": "swift", "flow_control": "none", "recovery": "go_back_n"}
    asked = in_classes(scenario, ("a", own), ("b", own))
    with pytest.raises(SpecError, match="change nothing here"):
        space_of([asked], ["rate_timer_s"])


def test_scenarios_of_different_link_rates_are_refused(scenario):
    slow = scenario()
    slow = slow.with_(
        cluster=slow.cluster.with_(host=slow.cluster.host.with_(nic_bytes_per_s=12.5e9))
    )
    with pytest.raises(SpecError, match=r"links of 100 ?Gb/s and 400 ?Gb/s"):
        rate_of([scenario(), slow])
