"""The inference model against closed forms and published measurements."""

from statistics import median

import pytest

from weft import catalogue
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.analytic.inference import resolve, serve
from weft.engines.analytic.inference.exchange import exchange_s
from weft.engines.analytic.inference.kernels import touched_ratio
from weft.engines.analytic.inference.memory import kv_token_bytes, memory_bytes
from weft.engines.analytic.inference.model import constants, knobs
from weft.errors import Infeasible, SpecError
from weft.spec.load import load_inference, load_service, preset
from weft.traffic.serving import Pass, exchange

DEEPEP = {
    8: (77, 114),
    16: (118, 195),
    32: (155, 273),
    64: (173, 314),
    128: (192, 369),
    256: (194, 360),
}
"""Dispatch and combine of 128 tokens of 7,168 to 8 experts by ranks, in us [deepseek-ai/DeepEP
README, 2025-06-11: low-latency kernels, H800, ConnectX-7 400 Gb/s]."""


def _service(**fields):
    return load_inference({"model": "deepseek_v3", "precision": "fp8", **fields})


def _spread(ep, **more):
    return {"tp": 1, "ep": ep, "dp": ep, **more}


def _one_way_s(ep):
    """Dispatch and combine, each with its own call, on the published system."""
    base = preset("hgx_h800")
    up = base.host.scale_up.with_(bytes_per_s=200e9)
    cluster = base.with_(hosts=ep // 8, host=base.host.with_(scale_up=up))
    service = _service(sequences=128 * ep, parallelism=_spread(ep))
    wanted = exchange(service, Pass(tokens=128, per_host=False), 8)
    return exchange_s(cluster, service, wanted, constants=knobs().constants)


@pytest.mark.parametrize("ep", DEEPEP)
def test_the_exchange_is_within_15_percent_of_deepep(ep):
    assert _one_way_s(ep) == pytest.approx(sum(DEEPEP[ep]) * 1e-6, rel=0.15)


def test_the_exchange_has_a_median_error_below_6_percent():
    errors = [abs(_one_way_s(ep) / sum(us) * 1e6 - 1) for ep, us in DEEPEP.items()]
    assert median(errors) < 0.06


def test_the_exchange_of_deepseek_has_its_published_closed_form():
    """(1 + 2 bytes) x 32 tokens x 9 experts x 7,000 / 50 GB/s = 120.96 us [DeepSeek 2025,
    Insights into DeepSeek-V3, section 2.3.2], here with 8 experts, 7,168 and scales."""
    service = _service(sequences=32 * 64, parallelism=_spread(64))
    wanted = exchange(service, Pass(tokens=32, per_host=False), 8)
    sent = wanted.dispatch_bytes + wanted.combine_bytes
    assert sent == pytest.approx(32 * 8 * 7168 * (1 + 1 / 32 + 2))
    cluster = preset("dgx_h100", hosts=8)
    path = path_of(Same(cluster), wanted.group, current())
    rate = path.net_bytes_per_s / path.local * path.fabric_ratio
    ideal = {"one_sided_start": 0.0, "one_sided_ratio": 1.0, "scale_up_ratio": 1.0}
    fabric = path.fabric
    latency = fabric.end_to_end_s.value + path.reach.hops * fabric.switch_hop_s.value
    expected = sent * 56 / 64 / rate + 2 * (latency + path.reach.cable_s)
    assert exchange_s(cluster, service, wanted, constants=ideal) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "bytes_per_token"),
    [("deepseek_v3", 70_272), ("llama3_405b", 516_096)],
)
def test_the_cache_of_a_token_is_the_published_one(model, bytes_per_token):
    """[DeepSeek-AI 2025, table 1]: 70.272 and 516.096 KB."""
    service = _service(model=model, sequences=1, parallelism={"tp": 1})
    assert kv_token_bytes(service) * service.model.layers == bytes_per_token


def test_one_request_reads_all_weights_once():
    """Products take weights / memory rate, for one GPU and one request."""
    cluster = preset("dgx_a100", hosts=1)
    service = load_inference({
        "model": "llama3_8b", "sequences": 1, "gpus": 1, "prompt_tokens": 16,
        "output_tokens": 2, "parallelism": {"tp": 1},
    })  # fmt: skip
    found = serve(cluster, resolve(cluster, service))
    read = memory_bytes(resolve(cluster, service))["weights"]
    read -= service.model.vocab * service.model.hidden * 2  # the embedding is looked up
    parts = found.decode_s
    gpu = catalogue.find("gpus", cluster.host.gpu)
    reached = read / (parts["matrix"] + parts["head"])
    assert reached < gpu.memory_bytes_per_s.value
    assert reached == pytest.approx(gpu.memory_bytes_per_s.value * 0.7826, rel=0.01)


def test_llama_8b_on_an_a100_decodes_as_measured():
    """75 tokens/s for one request of 1,024 + 128 tokens, BF16, vLLM on an A100 of 40 GB
    [johnmusgrave.com, vLLM throughput-latency sweep]."""
    base = preset("dgx_a100", hosts=1)
    cluster = base.with_(host=base.host.with_(gpu="a100_sxm_40"))
    service = load_inference({
        "model": "llama3_8b", "sequences": 1, "gpus": 1, "prompt_tokens": 1024,
        "output_tokens": 128, "parallelism": {"tp": 1},
    })  # fmt: skip
    found = serve(cluster, resolve(cluster, service))
    assert found.step_s.low <= 1 / 75 <= found.step_s.high


def test_deepseek_v3_decodes_as_its_operators_publish():
    """EP 144 on H800: 14,800 tokens/s a node of 8 at 20 to 22 tokens/s a request, so 88
    requests a GPU, over a mean cache of 4,989 tokens [DeepSeek, open-infra index, day 6]. Both
    halves of the batch overlap as far as they can: between no overlap and all of it."""
    cluster = preset("hgx_h800", hosts=18)
    alone, hidden = (
        serve(cluster, resolve(cluster, _service(
            sequences=88 * 144, prompt_tokens=3989, output_tokens=2000,
            parallelism=_spread(144, overlap_ep=overlap),
        )))
        for overlap in (False, True)
    )  # fmt: skip
    assert hidden.step_s.low <= 1 / 22
    assert alone.step_s.high >= 1 / 20
    assert hidden.step_s.value < 1 / 21 < alone.step_s.value


def test_few_tokens_touch_few_experts():
    service = _service(sequences=1)
    assert touched_ratio(service, 1) == pytest.approx(8 / 256)
    assert touched_ratio(service, 1000) == pytest.approx(1.0)


def test_a_service_too_large_says_how_many_requests_fit():
    cluster = preset("dgx_h100", hosts=1)
    service = load_inference({"model": "llama3_70b", "sequences": 4000})
    with pytest.raises(Infeasible, match=r"at most [0-9]+ sequences fit"):
        resolve(cluster, service)
    with pytest.raises(Infeasible, match="use more GPUs"):
        resolve(cluster, load_inference({"model": "llama3_405b", "sequences": 1}))


def test_a_limit_of_latency_changes_the_parallelism():
    cluster = preset("dgx_h100", hosts=4)
    free = load_inference({"model": "llama3_8b", "sequences": 4096})
    at = resolve(cluster, free)
    limit_s = 0.9 * serve(cluster, at).first_token_s.value
    kept = resolve(cluster, free.with_(first_token_s=limit_s))
    assert kept.parallelism.tp > at.parallelism.tp
    assert serve(cluster, kept).first_token_s.value <= limit_s


def test_without_rdma_nccl_exchanges_the_tokens():
    cluster = preset("dgx_h100", hosts=8)
    tcp = cluster.with_(fabric=cluster.fabric.with_(kind="tcp"))
    ways = [_service(sequences=64, parallelism=_spread(64), expert_exchange=how)
            for how in ("one_sided", "nccl")]  # fmt: skip
    on_tcp = [serve(tcp, one).step_s for one in ways]
    assert on_tcp[0] == on_tcp[1]
    on_rdma = [serve(cluster, one).step_s.value for one in ways]
    assert on_rdma[0] < on_rdma[1]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"parallelism": {"tp": 3}}, "must divide model.heads"),
        ({"parallelism": {"ep": 512}}, "must not exceed the experts"),
        ({"parallelism": {"tp": 8, "ep": 12}}, "a multiple of tp"),
        ({"model": "llama3_8b", "parallelism": {"ep": 2}}, "has no experts"),
        ({"sequences": 4, "parallelism": {"dp": 8}}, "a request for each"),
    ],
)
def test_sizes_that_do_not_suit_are_told(fields, told):
    with pytest.raises(SpecError, match=told):
        _service(**{"sequences": 64, **fields})


def test_a_service_is_checked_on_its_cluster(tmp_path):
    file = tmp_path / "both.yaml"
    file.write_text(
        "apiVersion: weft/v1\nkind: Cluster\nspec: {preset: dgx_a100, hosts: 2}\n---\n"
        "apiVersion: weft/v1\nkind: Inference\n"
        "spec: {model: llama3_8b, precision: fp8, sequences: 8, parallelism: {tp: 32}}\n"
    )
    with pytest.raises(SpecError, match=r"precision.*a100.*\n.*must divide the GPUs"):
        load_service([file])


def test_every_constant_has_an_order_and_a_source():
    for one in constants().values():
        assert one.low <= one.value <= one.high
