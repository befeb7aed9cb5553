"""Thresholds for gates of others: as each tool reads them; nothing where weft cannot tell."""

import re
from datetime import date

import pytest
import yaml

from weft import plugins
from weft.cli import app
from weft.errors import SpecError, UnknownName
from weft.generate import gates
from weft.generate.gate import Asked, emit
from weft.predict.collective import busbw, expect
from weft.spec.load import preset

CLUSTER = preset("dgx_h100", hosts=16)
DAY = date(2026, 11, 23)
WRITTEN = ["aicr", "gcm", "nhc", "superbench"]


def _low(operation, size, hosts=16, largest=None):
    found = expect(CLUSTER, operation, smallest_bytes=size, largest_bytes=largest or size,
                   ranks=8 * hosts, ranks_per_domain=8)  # fmt: skip
    lows = [busbw(one).low / 1e9 for one in found.points]
    return sum(lows) / len(lows)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_file_has_band_derivation_and_date(name):
    text = emit(name, CLUSTER, DAY)
    assert re.search(r"80 % band \d+\.\d to \d+\.\d GB/s, weft expect, 2026-11-23", text)


def test_aicr_passes_exactly_from_the_lower_end():
    read = yaml.safe_load(emit("aicr", CLUSTER, DAY))
    (one,) = read["spec"]["validation"]["performance"]["constraints"]
    assert one["name"] == "nccl-all-reduce-bw"
    floor = float(one["value"].removeprefix(">= "))
    assert 0.9 * floor == pytest.approx(_low("all_reduce", 8 << 30), rel=0.01)


def test_superbench_rules_part_healthy_from_slow_and_match_its_metrics():
    rules = yaml.safe_load(emit("superbench", CLUSTER, DAY))["superbench"]["rules"]
    rule = rules["weft-allreduce-8589934592"]
    low = _low("all_reduce", 8 << 30)
    defective = eval(rule["criteria"])  # noqa: S307 - as SuperBench reads it
    assert (defective(low + 0.1), defective(low - 0.1)) == (False, True)
    assert re.search(rule["metrics"][0], "nccl-bw:allreduce/allreduce_8589934592_busbw")
    assert len(rules) == 4
    assert "# no threshold for reduce_scatter over 128 GPUs" in emit("superbench", CLUSTER, DAY)


def test_gcm_has_the_mean_over_its_sizes_for_one_node_and_for_pairs():
    found = re.findall(r"--(single|pairwise).*--critical-threshold ([0-9.]+)",
                       emit("gcm", CLUSTER, DAY))  # fmt: skip
    sizes = (32 << 20, 1 << 30)
    for how, value in found:
        hosts = {"single": 1, "pairwise": 2}[how]
        expected = _low("all_reduce", sizes[0], hosts, largest=sizes[1])
        assert float(value) == pytest.approx(expected, abs=0.06)
    assert len(found) == 2


def test_nhc_has_the_rate_of_every_port():
    lines = emit("nhc", CLUSTER, DAY).splitlines()
    assert sum(one.startswith("* || check_hw_ib 400 mlx5_") for one in lines) == 8


@pytest.mark.parametrize("name", sorted({*plugins.names(gates)} - {*WRITTEN}))
def test_a_gate_that_takes_no_threshold_is_refused_with_the_reason(name, capsys):
    with pytest.raises(SpecError, match="threshold"):
        emit(name, CLUSTER, DAY)
    assert app.run(["expect", "--preset", "dgx_h100", "--emit", name]) == 2
    assert not capsys.readouterr().out


def test_nothing_is_written_beyond_what_was_measured(tmp_path):
    with pytest.raises(SpecError, match=r"no threshold for all_reduce over .* extrapolated"):
        Asked(cluster=preset("gb200_nvl72", hosts=4), day=DAY).threshold()
    out = tmp_path / "rules.yaml"
    words = ["expect", "--preset", "gb200_nvl72", "--emit", "superbench", "--out", str(out)]
    assert app.run(words) == 2
    assert not out.exists()


def test_a_strange_gate_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'aicr'"):
        emit("acir", CLUSTER, DAY)
