"""`weft predict` of an inference service: one cluster, one service."""

from collections.abc import Iterator

from weft.predict.inference import ServicePrediction, spread_text
from weft.report.numbers import count, figures, money, percent, seconds, show_rate
from weft.report.page import Block, Facts, Sentences, Table, View

PARTS = {
    "matrix": "weights and products", "attention": "attention, KV cache",
    "passes": "norms, residuals", "launch": "kernel starts", "head": "vocabulary head",
    "tp": "tensor parallel", "ep": "expert parallel", "pp": "pipeline sends",
    "between": "scheduling, sampling",
}  # fmt: skip
LIMITS = {"first_token_s": "time to first token", "token_s": "time per output token"}


def _title(result: ServicePrediction) -> str:
    return (
        f"{result.service.model.name} on {result.cluster.name}: "
        f"{seconds(result.token_s.value)} per token, "
        f"{count(result.tokens_per_s_per_gpu.value, 'tokens/s')} per GPU"
    )


def _answer(result: ServicePrediction) -> Iterator[Block]:
    yield Facts(pairs=(*_question(result), *_figures(result)))
    missed = tuple(f"{LIMITS[name]} is longer than the limit" for name in result.misses)
    yield Sentences(title="Limits not kept", lines=missed)
    yield _parts(result)


def _question(result: ServicePrediction) -> tuple[tuple[str, str], ...]:
    service, host = result.service, result.cluster.host
    gpus = f"{result.gpus} x {host.gpu}, {spread_text(service)}, {service.precision}"
    rate = show_rate(host.nic_bytes_per_s)
    shape = f"{service.prompt_tokens} tokens in, {service.output_tokens} out"
    return (
        ("service", gpus),
        ("network", f"{result.cluster.fabric.kind}, {host.nics} x {rate} per host"),
        ("requests", f"{service.sequences} at once, {shape}"),
    )


def _figures(result: ServicePrediction) -> tuple[tuple[str, str], ...]:
    prefill = percent(result.prefill_network_ratio.value)
    network = f"{percent(result.network_ratio)} of a decode step, {prefill} of a prefill"
    return (
        ("first token", seconds(result.first_token_s)),
        ("per output token", f"{seconds(result.token_s)} (decode {seconds(result.step_s)})"),
        ("throughput", f"{count(result.tokens_per_s, 'tokens/s')}"),
        ("waits for network", network),
        ("cost", f"{money(result.usd_per_1m_tokens)} per 1M output tokens"),
    )


def _parts(result: ServicePrediction) -> Table:
    """Return the parts of a decode step, the largest first."""
    rows = [
        (
            title,
            seconds(result.decode_s[part]),
            f"{figures(100 * result.decode_s[part] / result.step_s.value)} %",
            seconds(result.prefill_s.get(part, 0.0)),
        )
        for part, title in sorted(PARTS.items(), key=lambda named: -result.decode_s[named[0]])
        if result.decode_s[part] or result.prefill_s.get(part)
    ]
    held = ", ".join(
        f"{name.replace('_', ' ')} {figures(size / 1e9)} GB"
        for name, size in result.memory_bytes.items()
    )
    return Table(
        title="Where the time goes",
        columns=("part", "decode step", "share", "prefill"),
        rows=tuple(rows),
        notes=(f"Memory of the fullest GPU: {held}",),
    )


service_prediction = View(
    shows="weft.predict.inference.ServicePrediction", verb="predict", title=_title,
    answer=_answer, assumes=True, charts=(),
)  # fmt: skip
