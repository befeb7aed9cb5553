from weft.accuracy.kind import LeftOut, all_kinds
from weft.network import fabric

LATENCY = {
    "row_id": "f1", "study": "s", "fabric": "RoCE", "metric": "end-to-end latency, 64 B",
    "baseline": "same leaf", "treatment": "cross leaf", "baseline_value": "3.6",
    "treatment_value": "5.6", "unit": "us",
}  # fmt: skip
SHARE = {
    "row_id": "f2", "study": "s", "fabric": "RoCEv2", "metric": "bandwidth utilisation",
    "topic": "load balance", "baseline": "ECMP five-tuple", "treatment": "adaptive routing",
    "baseline_value": "84.5", "treatment_value": "97", "unit": "%",
}  # fmt: skip


def scored(row):
    return list(all_kinds()["fabric_behaviour"].score({"fabric_behaviour": [row]}))


def test_both_sides_of_a_comparison_are_scored():
    near, far = scored(LATENCY)
    assert (near.measured, far.measured) == (3.6e-6, 5.6e-6)
    assert near.predicted < far.predicted


def test_load_balancing_is_read_from_the_words_of_each_side():
    ecmp, adaptive = scored(SHARE)
    assert ecmp.predicted < adaptive.predicted <= 1


def test_what_needs_a_simulation_is_left_out_by_topic():
    (found,) = scored(SHARE | {"unit": "", "metric": "victim flow", "topic": "incast"})
    assert isinstance(found, LeftOut)
    assert found.reason.endswith("incast")


def test_a_side_without_words_is_left_out_and_the_other_is_not():
    near, far = scored(LATENCY | {"treatment": "somewhere"})
    assert isinstance(far, LeftOut)
    assert near.measured == 3.6e-6


def test_the_rows_that_a_factor_comes_from_are_apart():
    assert all(one.healthy for one in scored(SHARE))
    assert not any(one.healthy for one in scored(SHARE | {"study": "Asterfusion test report"}))


def test_a_topic_names_the_treatment_and_what_it_is_held_against_has_the_baseline():
    versus = SHARE | {
        "fabric": "RoCE with more vs standard Ethernet", "topic": "adaptive routing",
        "baseline": "", "treatment": "", "baseline_value": "60", "treatment_value": "95",
    }  # fmt: skip
    baseline, treatment = scored(versus)
    assert baseline.predicted == fabric.find("roce").balanced("ecmp").value
    assert treatment.predicted == fabric.find("roce").balanced("adaptive").value
