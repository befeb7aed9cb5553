import pytest

from weft.accuracy.kind import LeftOut
from weft.accuracy.rows.perftest import run_of, score_points
from weft.errors import SpecError

RUN = {
    "run_id": "r", "tool": "ib_write_bw", "mode": "bw", "hca": "ConnectX-6",
    "link_layer": "InfiniBand", "rate": "HDR 200G", "settings": "MTU 4096, 1 QP",
}  # fmt: skip


def test_a_run_says_its_link():
    run = run_of(RUN)
    assert (run.link.fabric, run.link.bytes_per_s, run.link.hops) == ("infiniband", 25e9, 1)
    assert run.link.mtu_bytes == 4096
    assert run.healthy


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        ({"rate": "NDR 400G back-to-back DAC"}, "hops", 0),
        ({"rate": "EDR"}, "bytes_per_s", 12.5e9),
        ({"settings": "MTU 9000 fabric"}, "mtu_bytes", 4096),
    ],
)
def test_words_of_a_row_change_the_link(change, name, value):
    assert getattr(run_of(RUN | change).link, name) == value


def test_queue_pairs_depth_and_both_ways_are_read():
    run = run_of(RUN | {"settings": "8 QPs, tx depth 8", "tool": "ib_write_bw -b"})
    assert (run.queue_pairs, run.depth, run.ways) == (8, 8, 2)


def test_what_something_else_holds_back_is_not_healthy():
    assert not run_of(RUN | {"rate": "200G port, PCIe x4-limited half"}).healthy


def test_an_unnamed_fabric_is_refused():
    with pytest.raises(SpecError, match="fabric not named"):
        run_of(RUN | {"link_layer": "InfiniBand or RoCE not stated"})


def test_points_without_their_run_are_left_out():
    points = [{"run_id": "lost", "size_B": "2", "bw_avg_Gbps": "1"}]
    (found,) = score_points("link_bandwidth", {"perftest_points": points}, mode="bw")
    assert isinstance(found, LeftOut)


def test_bidirectional_rows_count_both_ways():
    point = {"run_id": "r", "size_B": str(8 << 20), "bw_avg_Gbps": "390"}
    tables = {"perftest_runs": [RUN | {"tool": "ib_write_bw -b"}], "perftest_points": [point]}
    (found,) = score_points("link_bandwidth", tables, mode="bw")
    assert found.error_ratio == pytest.approx(0.02, abs=0.01)


def test_the_hosts_that_constants_come_from_are_apart():
    assert not run_of(RUN | {"hca": "ConnectX-6 (MT28908)"}).healthy
