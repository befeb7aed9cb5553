"""Every shipped example: predicted, compared, and beside what was published of it."""

import tomllib
from pathlib import Path

import pytest

from weft.advise.compare import compare
from weft.predict.training import predict
from weft.spec.load import load_case

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.yaml") if "kind: Job" in path.read_text()
)
EXPECTED = tomllib.loads(Path(__file__).with_name("expected.toml").read_text())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_parts_of_the_step_add_up_to_it(path):
    """sum(breakdown) = step, and useful work never exceeds what was executed."""
    result = predict(*load_case([path]))
    assert sum(result.step.breakdown_s.values()) == pytest.approx(result.step_s.value)
    assert 0 < result.mfu_ratio.value <= result.hfu_ratio.value < 1
    assert result.step_s.low < result.step_s.value < result.step_s.high


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_rdma_is_never_slower_than_tcp_over_the_same_ports(path):
    found = compare(*load_case([path]), same=["parallelism", "topology", "nics"])
    rows = {row.name: row.prediction for row in found.lines}
    assert rows.keys() >= {"infiniband", "roce_tuned", "tcp"}  # not every NIC speaks UET
    for name in rows.keys() - {"roce_default"}:
        assert rows[name].step_s.value <= rows["tcp"].step_s.value


@pytest.mark.parametrize("name", EXPECTED)
def test_the_band_holds_what_was_published(name):
    result = predict(*load_case([ROOT / "examples" / f"{name}.yaml"]))
    expected = EXPECTED[name]
    band = getattr(result, expected["quantity"])
    assert band.low <= expected["value"] <= band.high, f"{band} against {expected}"


def test_every_kind_of_case_that_was_asked_for_is_among_the_examples():
    assert {path.stem for path in EXAMPLES} >= {
        "llama3-405b-16k-h100-roce",
        "gpt3-175b-a100-hdr",
        "deepseek-v3-h800",
        "llama70b-finetune-64gpu-100g-tcp",
        "gb200-nvl72-xdr",
    }
