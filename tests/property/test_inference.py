"""What must hold for any inference service."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from weft.engines.analytic.inference import resolve, serve
from weft.engines.analytic.inference.search import fits
from weft.errors import WeftError
from weft.spec import checks
from weft.spec.load import load_inference, preset

MODELS = ("llama3_8b", "llama3_70b", "mixtral_8x7b", "deepseek_v3")
FABRICS = ("infiniband", "roce", "tcp")
CHECKS = settings(max_examples=60, deadline=None)


def _fitting(cluster, fields):
    """Return the service, or None where it does not suit the model or the cluster."""
    try:
        service = load_inference(fields)
        ok = not checks.pair_problems(cluster, service)
        return resolve(cluster, service) if ok else None
    except WeftError:
        return None


@st.composite
def cases(draw, hosts=(1, 2, 4, 8)):
    """Draw a cluster and a service that fits on it."""
    base = preset("dgx_h200", hosts=draw(st.sampled_from(hosts)))
    host = base.host.with_(nic="", server="")  # whatever NIC speaks the fabric
    fabric = base.fabric.with_(kind=draw(st.sampled_from(FABRICS)))
    cluster = base.with_(host=host, fabric=fabric)
    model = draw(st.sampled_from(MODELS))
    tp, pp = draw(st.sampled_from((1, 2, 8, 16))), draw(st.sampled_from((1, 2)))
    sizes = {"tp": tp, "pp": pp}
    if model in {"mixtral_8x7b", "deepseek_v3"}:
        sizes["ep"] = draw(st.sampled_from((1, 8, 16, 32)))
    fields = {
        "model": model, "parallelism": sizes, "sequences": draw(st.integers(64, 512)),
        "prompt_tokens": draw(st.sampled_from((128, 2048))), "precision": "fp8",
        "cuda_graphs": draw(st.booleans()),
    }  # fmt: skip
    found = _fitting(cluster, fields)
    assume(found is not None)
    return cluster, found


@CHECKS
@given(cases())
def test_every_number_is_inside_its_band(case):
    found = serve(*case)
    for one in (found.first_token_s, found.step_s, found.token_s, found.tokens_per_s):
        assert 0 < one.low <= one.value <= one.high
    assert abs(sum(found.decode_s.values()) - found.step_s.value) < 1e-12


@CHECKS
@given(cases(), st.floats(1.1, 2.0))
def test_more_bandwidth_is_never_slower(case, factor):
    cluster, service = case
    faster = cluster.with_(
        host=cluster.host.with_(nic_bytes_per_s=cluster.host.nic_bytes_per_s * factor)
    )
    slow, fast = serve(cluster, service), serve(faster, service)
    assert fast.step_s.value <= slow.step_s.value * (1 + 1e-9)
    assert fast.first_token_s.value <= slow.first_token_s.value * (1 + 1e-9)
    assert fast.tokens_per_s.value >= slow.tokens_per_s.value * (1 - 1e-9)


@CHECKS
@given(cases(), st.integers(2, 8))
def test_a_larger_batch_never_lowers_throughput_while_it_fits(case, factor):
    cluster, service = case
    larger = service.with_(sequences=service.sequences * factor)
    assume(fits(cluster, larger))
    small, large = serve(cluster, service), serve(cluster, larger)
    assert large.tokens_per_s.value >= small.tokens_per_s.value * (1 - 1e-9)
    assert large.step_s.value >= small.step_s.value * (1 - 1e-9)


@CHECKS
@given(cases(hosts=(1,)), st.sampled_from(FABRICS))
def test_on_one_host_the_network_makes_no_difference(case, kind):
    cluster, service = case
    other = cluster.with_(fabric=cluster.fabric.with_(kind=kind))
    assert serve(cluster, service) == serve(other, service)
    assert serve(cluster, service).network_ratio.high == 0


@CHECKS
@given(cases())
def test_a_longer_answer_or_prompt_never_takes_less_time(case):
    cluster, service = case
    longer = service.with_(prompt_tokens=service.prompt_tokens * 2)
    assume(fits(cluster, longer))
    short, long = serve(cluster, service), serve(cluster, longer)
    assert long.first_token_s.value >= short.first_token_s.value * (1 - 1e-9)
    assert long.step_s.value >= short.step_s.value * (1 - 1e-9)
