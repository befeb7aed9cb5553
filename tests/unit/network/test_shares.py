"""Simulated factors beside published ones: which is used, and what results say."""

import pytest

from weft.engines.analytic.collective import collective_time
from weft.network import fabric, shares
from weft.sources import sourced
from weft.spec.load import preset
from weft.traffic.collective import Group, Operation

PUBLISHED = sourced(0.85, "somebody", low=0.6, high=0.92)


def share(used):
    return shares.Share(
        simulated=sourced(0.7, "weft_packets", low=0.5, high=0.8),
        cells="ring/roce_tuned/ecmp/1 QP",
        seeds=5,
        published=PUBLISHED,
        used=used,
        why="a test",
    )


def test_a_simulated_factor_has_a_band_that_holds_both():
    found = share("simulated").of(PUBLISHED)
    assert (found.value, found.low, found.high) == (0.7, 0.5, 0.92)
    assert found.sources == ("weft_packets", "somebody")


def test_where_the_published_factor_is_used_nothing_of_it_changes():
    assert share("published").of(PUBLISHED) is PUBLISHED


@pytest.mark.parametrize(
    ("name", "mode", "used"),
    [
        ("roce", "ecmp", "simulated"),
        ("infiniband", "adaptive", "simulated"),
        ("infiniband", "static", "published"),
        ("ultra_ethernet", "spray", "published"),
    ],
)
def test_closed_forms_take_the_factor_that_the_table_says(name, mode, used):
    found = shares.find(name, "load_balancing", mode)
    kind = fabric.find(name)
    assert found.used == used
    assert kind.balanced(mode).value == getattr(found, used).value
    assert all(kind.source(key) for key in kind.balanced(mode).sources)


def test_results_name_the_simulated_and_the_published_factor_and_the_cells():
    cluster = preset("hgx_h100_roce").with_(hosts=512)
    cluster = cluster.with_(
        fabric=cluster.fabric.with_(load_balancing="ecmp", tuning="default")
    )
    group = Group(ranks=4096, ranks_per_domain=8)
    said = collective_time(cluster, Operation.ALL_REDUCE, 1 << 30, group).assumptions
    hashed = next(one for one in said if "ecmp load balancing keeps" in one)
    assert "simulated 65%" in hashed
    assert "by nccl_ring+nccl_exchange/roce_tuned/ecmp/1+4 QP, 5 seeds" in hashed
    assert "published 85% (60% to 92%)" in hashed
    untuned = next(one for one in said if "of its bandwidth remains" in one)
    assert "published 78%" in untuned
    assert any("an incast of 16 takes 1.8" in one for one in said)


def test_a_mode_that_nothing_was_simulated_of_says_only_what_is_published():
    assert "simulated" not in fabric.find("roce").assumption("planned")


def test_the_band_of_a_collective_holds_the_time_with_the_published_factor(monkeypatch):
    """A ring over hashed leaves: with the published factor alone it lies inside the band."""
    cluster = preset("hgx_h100_roce").with_(hosts=512)
    cluster = cluster.with_(fabric=cluster.fabric.with_(load_balancing="ecmp"))
    group = Group(ranks=4096, ranks_per_domain=8)
    both = collective_time(cluster, Operation.ALL_GATHER, 16 << 30, group).time_s
    monkeypatch.setattr(shares, "find", lambda *_: None)
    again = cluster.with_(hosts=512)
    published = collective_time(again, Operation.ALL_GATHER, 16 << 30, group).time_s
    assert published.value < 0.9 * both.value
    assert both.low <= published.value <= both.high
