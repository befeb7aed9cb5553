"""The published rows are read as meant, and rows that say too little are left out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.accuracy.kind import LeftOut, Score, all_kinds
from weft.accuracy.tables import SHIPPED, read

SUPERPOD = {
    "design": "NVIDIA DGX SuperPOD H100", "gpu": "H100", "nic_per_node": "8",
    "link_gbps": "400", "switch": "QM9700 64x400G", "oversubscription": "1:1",
}  # fmt: skip


def score(**columns):
    row = {"row_id": "r", **columns}
    return list(all_kinds()["topology"].score({"topology": [row]}))


def counts(results):
    return {
        r.labels["count"]: (int(r.measured), int(r.predicted))
        for r in results
        if isinstance(r, Score)
    }


def reasons(results):
    return [r.reason for r in results if isinstance(r, LeftOut)]


def test_cables_of_the_fabric_managers_are_counted_where_a_host_slot_is_theirs():
    found = counts(score(**SUPERPOD, nodes="31", node_leaf_links="252", leaf_switches="8"))
    assert found == {"node_leaf_links": (252, 252), "leaf_switches": (8, 8)}
    full = counts(score(**SUPERPOD, nodes="64", node_leaf_links="512"))
    assert full == {"node_leaf_links": (512, 512)}


def test_hosts_may_follow_from_scalable_units():
    row = SUPERPOD | {"variant": "32 nodes per SU"}
    assert counts(score(**row, scalable_units="4", gpus="1024", spine_switches="16")) == {
        "gpus": (1024, 1024), "spine_switches": (16, 16),
    }  # fmt: skip


def test_hosts_that_follow_from_gpus_make_gpus_no_test():
    found = score(design="a sheet", gpu="H100", gpus="32768", total_switches="2560")
    assert counts(found) == {"total_switches": (2560, 2560)}
    assert reasons(found) == ["hosts follow from GPUs, so GPUs are no test"]


def test_spectrum_x_at_800g_is_two_planes():
    found = score(
        design="SuperPOD B300 (Spectrum-X)", gpu="B300", nic_per_node="8", nodes="1024",
        leaf_switches="256", spine_switches="128", node_leaf_links="8192",
    )  # fmt: skip
    assert all(printed == predicted for printed, predicted in counts(found).values())


def test_a_switch_named_in_the_design_is_found_in_the_catalogue():
    found = score(
        design="Asterfusion CX864E-N backend", variant="rail-optimised, 4 GPUs per server",
        nic_per_node="4", nodes="64", gpus="256", leaf_switches="4", spine_switches="2",
    )  # fmt: skip
    assert counts(found) == {
        "gpus": (256, 256), "leaf_switches": (4, 4), "spine_switches": (2, 2),
    }  # fmt: skip


def test_a_row_that_contradicts_itself_is_said_to():
    found = score(
        design="SuperPOD", gpu="B300", nic_per_node="8", nodes="1296", gpus="9216",
        node_leaf_links="10368", leaf_switches="144", switch="Q3400-RA",
    )  # fmt: skip
    assert reasons(found) == ["printed GPUs contradict printed hosts and cables"]
    assert counts(found)["leaf_switches"] == (144, 144)


@pytest.mark.parametrize(
    ("design", "gpus"),
    [
        ("two-tier non-blocking, k=64", 2048),
        ("three-tier fat tree of radix 64", 65536),
        ("dragonfly+ k=64", 1049600),
    ],
)
def test_formulas_are_scored_by_what_they_hold_at_most(design, gpus):
    assert counts(score(design=design, gpus=str(gpus))) == {"gpus": (gpus, gpus)}


def test_planes_named_as_8x100g_make_the_radix():
    found = score(
        design="MRC", variant="2-tier 8x100G multi-plane", link_gbps="800", gpus="131072"
    )
    assert counts(found) == {"gpus": (131072, 131072)}


def test_a_rack_of_an_nvl72_has_72_gpus():
    assert counts(score(design="SuperPOD", gpu="GB200", nodes="8", gpus="576")) == {
        "gpus": (576, 576)
    }


@pytest.mark.parametrize("columns", [{}, {"gpus": "128"}, {"nodes": "5"}, {"nodes": "x"}])
def test_a_row_that_says_too_little_is_left_out_with_a_reason(columns):
    found = score(design="something", **columns)
    assert counts(found) == {}
    assert all(reasons(found))


def test_a_design_that_cannot_be_built_is_left_out_and_not_a_crash():
    found = score(
        design="leaf-spine", gpu="H100", nodes="9999", leaf_switches="7", link_gbps="400"
    )
    assert "two tiers" in reasons(found)[0]


def test_a_miss_shows():
    assert counts(score(**SUPERPOD, nodes="64", leaf_switches="15")) == {
        "leaf_switches": (15, 16)
    }


def test_a_printed_zero_is_no_ratio():
    found = score(**SUPERPOD, nodes="64", core_switches="0")
    assert reasons(found) == ["prints none, and 0 are predicted: no ratio"]


@pytest.mark.published
def test_every_published_count_that_can_be_predicted_is_met():
    """Integers: a miss is a bug."""
    found = list(all_kinds()["topology"].score(read(SHIPPED)))
    scores = [r for r in found if isinstance(r, Score)]
    assert [r.row for r in scores if r.measured != r.predicted] == []
    assert len(scores) >= 115


WORDS = st.sampled_from(
    [
        "", "0", "1", "8", "31", "64", "1e9", "-3", "nan", "H100", "GB200 NVL72", "800",
        "QM9700 64x400G", "0x0G", "k=0 two-tier", "k=1", "two-tier k=7", "rail-only",
        "dragonfly+ radix 5", "8 planes", "0 planes", "8x100G multi-plane", "1:0", "3:1",
        "1:7 above the pod", "0 pods x 0 GPUs", "0 GPUs per node", "2 pods x 3 GPUs",
        "3-tier", "\u00bd", "fat tree", "leaf-spine",
    ]
)  # fmt: skip
COLUMNS = [*SUPERPOD, "variant", "nodes", "gpus", "leaf_switches", "scalable_units",
           "spine_core_links", "node_leaf_links"]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(COLUMNS), WORDS))
def test_no_row_is_so_odd_that_scoring_fails(columns):
    for result in score(**columns):
        assert isinstance(result, LeftOut) or result.measured > 0
