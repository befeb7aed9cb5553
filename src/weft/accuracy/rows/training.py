"""One row of a table of training runs: the cluster and the job it stands for, and its time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from weft.accuracy.kind import Row
from weft.accuracy.rows import words
from weft.accuracy.rows.machines import Machine, cluster_of, machine_of
from weft.accuracy.rows.recipes import Recipe, doubt, recipe_of
from weft.accuracy.rows.shapes import Shape, one_layer, shape_of
from weft.catalogue import find
from weft.catalogue.devices import Gpu
from weft.engines.analytic.step.flops import hardware_flops, model_flops
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism

WHOLE_SQUARE: Final = r"nemo 2|nvidia recipe v2[45]|maxtext|composer|megatron-l|2021|megascale"
"""Sources whose TFLOP/s count causal attention as the whole square."""
REDUCED_GRADIENTS: Final = r"nemo|nvidia recipe|megatron bridge|nvidia release"
"""Frameworks whose tuned recipes reduce gradients in 16 bits (grad_sync_dtype)."""
HIGHEST_MFU: Final = 0.9
"""Above this share of the peak the printed figures contradict one another."""
GRAPHS: Final = re.compile(r"_cg\b|_cg_|cuda ?graph", re.IGNORECASE)
DISPATCH: Final = re.compile(r"deepep|hybridep|uccl-ep")
"""Expert dispatch that sends a token once to a host (DeepEP, HybridEP, UCCL-EP)."""
BINNED_TOKENS: Final = {512: 320}
"""Mean length that NVIDIA's data loader (LDDL) pads BERT's sequences of 512 tokens to: half of
the tokens would be padding [Krell 2021, abstract], and bins are 64 tokens wide."""
TERA: Final = 1e12
MEASURES: Final = (
    "step_s", "tokens_per_s", "tokens_per_s_gpu", "samples_per_s", "tflops_per_gpu", "mfu_pct",
    "hfu_pct",
)  # fmt: skip
ROUNDING: Final = 0.02
PART_RATIO: Final = 1.3
FOUR_BITS_SINCE: Final = (5, 1)
"""Round of MLPerf from which on Blackwell computes in 4 bits where nothing says otherwise."""
UNSTATED_SHARDING: Final = {"fsdp": "zero3", "other": "none"}
"""What a framework that only knows one way does; it states the layout by that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row as weft sees it: what to predict, and the measured step time."""

    cluster: Cluster
    job: Job
    measured_s: float
    labels: Mapping[str, str] = field(default_factory=dict)
    doubt: str | None = None
    """Why its source does not stand by the figure; then it is no part of a fit."""


def family_key(family: str) -> str:
    """Return what is held out together: rounds of MLPerf, and tables of one paper, are one.

    >>> family_key("mlperf-v5.1"), family_key("korthikanti-T5"), family_key("vtrain-multi")
    ('mlperf', 'korthikanti', 'vtrain')
    """
    return re.sub(r"-(v\d.*|T\d.*|text|multi|single)$", "", family)


class _Refused(Exception):  # noqa: N818 - it never leaves this file
    """A row cannot be a case, and why."""


def case_of(row: Row) -> Case | str:
    """Return the case of a row, or the reason why weft leaves it out."""
    try:
        return _read(row)
    except _Refused as reason:
        return str(reason)
    except (ValueError, ArithmeticError) as error:
        return f"its figures make no job: {str(error).splitlines()[0]}"


def _read(row: Row) -> Case:
    reading = _reading(row)
    gpus, shape, machine = reading.gpus, reading.shape, reading.machine
    cluster = cluster_of(machine, _text(row, "fabric", "gpu"), gpus)
    job = _job(row, reading)
    measured_s = _measured_s(row, job, reading.gpu, gpus)
    if measured_s is None or measured_s <= 0:
        raise _Refused("no figure that gives a step time")
    _check(row, job, measured_s, reading)
    doubted = doubt(row)
    labels = {
        "family": row.get("family", ""), "gpu": machine.gpu, "model": shape.model.name,
        "precision": reading.precision, "framework": job.framework, "scale": _scale(gpus),
        "assumed": reading.assumed,
    } | ({"health": doubted} if doubted else {})  # fmt: skip
    return Case(cluster=cluster, job=job, measured_s=measured_s, labels=labels, doubt=doubted)


def _text(row: Row, *columns: str) -> str:
    return " ".join(row.get(column, "") for column in columns)


@dataclass(frozen=True, slots=True)
class _Batch:
    sequence: int
    sequences: int
    micro: int
    assumed: bool


def _shape(row: Row) -> Shape:
    name = row.get("model", "")
    if one_layer(name):
        raise _Refused("one layer alone: not a training step")
    size_b, stages = words.number(row.get("params_B")), _sizes(row).get("PP", 1)
    shape = shape_of(name, size_b, row.get("other", ""), stages)
    if isinstance(shape, str):
        raise _Refused(shape)
    return shape


def _framework(row: Row) -> str:
    """Return the class of framework; some tables name it beside the model alone."""
    return words.framework(_text(row, "framework", "model"))


def _is_compiled(row: Row) -> bool:
    """Tell whether a run went through torch.compile.

    TorchTitan's commands have it in every run but those of its tables that do not name it
    beside FSDP alone: 8-bit products and asynchronous tensor parallelism need it to be fast.
    """
    torchtitan = row.get("family", "").startswith("torchtitan")
    return torchtitan and not re.fullmatch(r"Table \d FSDP", row.get("other", ""))


def _sizes(row: Row) -> dict[str, int]:
    """Return the parallel sizes: columns first, then what the model's name holds."""
    text = _text(row, "model", "other")
    sizes = dict(words.sizes_in(text))
    for key in ("TP", "PP", "CP", "EP", "VP"):
        stated = words.whole(row.get(key))
        if stated:
            sizes[key] = stated
    ranks = sizes.get("PP", 1) * sizes.get("CP", 1) * (words.whole(row.get("DP")) or 0)
    gpus = words.whole(row.get("gpus")) or 0
    if "TP" not in sizes and "PP" in sizes and ranks and gpus % ranks == 0:
        sizes["TP"] = gpus // ranks
    # Some names print "PP=41" for models of 32 layers on 8 GPUs: a slip for 1.
    if "PP=41" in text:
        sizes["PP"] = 1
    return sizes


def _batch(row: Row, shape: Shape, gpus: int) -> _Batch:
    sizes = _sizes(row)
    sequence, assumed = _sequence(row)
    micro = words.whole(row.get("micro_batch")) or sizes.get("MBS") or 1
    global_batch = words.whole(row.get("global_batch")) or sizes.get("GBS")
    step_s, per_s = words.number(row.get("step_s")), words.number(row.get("tokens_per_s"))
    if global_batch is None and step_s and per_s and sequence:
        global_batch = _rounded(step_s * per_s / sequence)
    if global_batch is None:
        own = _per_gpu(row)
        if own:
            micro, steps = own
            global_batch = micro * steps * gpus
    if global_batch is None and row.get("sharding", "").startswith("FSDP"):
        ranks = gpus // (sizes.get("TP", 1) * sizes.get("PP", 1) * sizes.get("CP", 1))
        global_batch = micro * ranks
    if global_batch is None:
        raise _Refused("batch not stated")
    if sequence in BINNED_TOKENS and _is_binned(row):
        sequence = BINNED_TOKENS[sequence]
    if sequence is None:
        sequence = _from_flops(row, shape, global_batch, gpus)
    if sequence is None:
        raise _Refused("sequence length not stated")
    return _Batch(sequence, global_batch, micro, assumed)


def _is_binned(row: Row) -> bool:
    """Tell whether a run used the data loader that sorts sequences into bins of length."""
    return bool(re.fullmatch(r"PyTorch|PaddlePaddle", row.get("framework", "")))


def _rounded(batch: float) -> int:
    """Return the multiple of 16 (8, 4 ...) nearest to a batch that was computed from times."""
    for step in (16, 8, 4, 2):
        near = round(batch / step) * step
        if near and abs(near / batch - 1) < ROUNDING:
            return near
    return max(1, round(batch))


def _sequence(row: Row) -> tuple[int | None, bool]:
    stated = words.whole(row.get("seq_len"))
    if stated:
        return stated, False
    name = row.get("model", "")
    if row.get("family", "").startswith("torchtitan"):
        return 8192, True
    if re.match(r"GPT\b(?!-?3|.?3\b)", name):
        return None, False
    length = words.meant("sequences", name)
    return length, length is not None


def _from_flops(row: Row, shape: Shape, batch: int, gpus: int) -> int | None:
    """Return the power of two that makes the printed FLOP/s and step time agree."""
    step_s, flops = words.number(row.get("step_s")), words.number(row.get("tflops_per_gpu"))
    if not (step_s and flops):
        return None
    wanted = step_s * flops * TERA * gpus
    lengths = (512, 1024, 2048, 4096, 8192)
    size = shape.model.parameters()
    return min(lengths, key=lambda s: abs(8 * size * s * batch / wanted - 1))


def _per_gpu(row: Row) -> tuple[int, int] | None:
    """Return batch and accumulation of one GPU where the table prints them by precision."""
    other = row.get("other", "")
    batch = steps = None
    for part in other.split(";"):
        key, _, values = part.partition("=")
        key = key.strip().lower()
        if key.startswith("batch size"):
            batch = _pick(key, values, row.get("precision", ""))
        if key.startswith(("accumulation steps", "gradient accumulation")):
            steps = _pick(key, values, row.get("precision", ""))
    return None if batch is None else (batch, steps or 1)


def _pick(key: str, values: str, precision: str) -> int | None:
    """Return the value of the row's precision from a pair; FP16 or mixed may come first."""
    found = [int(n) for n in re.findall(r"\d+", values)]
    if len(found) < 2:  # noqa: PLR2004 - one value serves both
        return found[0] if found else None
    reduced = words.precision(precision) in {"fp16", "bf16"}
    reduced_first = key.find("mixed") != -1 and key.find("mixed") < key.find("32")
    return found[0] if reduced == reduced_first else found[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What a row says of its job, or leaves to be assumed."""

    machine: Machine
    gpu: Gpu
    gpus: int
    shape: Shape
    batch: _Batch
    precision: str
    precision_assumed: bool
    spread: Parallelism | str
    recipe: Recipe | None

    @property
    def assumed(self) -> str:
        """What the row does not state, joined for a label."""
        said = {
            "shape": self.shape.assumed,
            "sequence": self.batch.assumed,
            "precision": self.precision_assumed,
            "layout": self.spread == "auto",
        }
        return "+".join(name for name, is_so in said.items() if is_so) or "nothing"


def _reading(row: Row) -> _Reading:
    if "same logs as" in row.get("notes", ""):
        raise _Refused("the same logs as an earlier round")
    # Some tables name the part of a DGX in the title of a section alone.
    section = row.get("notes", "").partition("section:")[2]
    machine = machine_of(f"{row.get('gpu', '')} {section}")
    if isinstance(machine, str):
        raise _Refused(machine)
    shape, gpus = _shape(row), words.whole(row.get("gpus"))
    if gpus is None:
        raise _Refused("number of GPUs not stated")
    if not any(row.get(column) for column in MEASURES):
        raise _Refused("time to train only: no step time, throughput or utilisation")
    batch, gpu, recipe = _batch(row, shape, gpus), find("gpus", machine.gpu), recipe_of(row)
    assert isinstance(gpu, Gpu)
    precision, is_assumed = _precision(row, gpu)
    if recipe and recipe.precision:
        precision, is_assumed = recipe.precision, False
    spread = _spread(row, gpus, shape)
    if spread == "auto" and (shape.assumed or "without CP" in row.get("other", "")):
        raise _Refused("parallel layout not stated, and more than that is not known")
    return _Reading(
        machine=machine, gpu=gpu, gpus=gpus, shape=shape, batch=batch, precision=precision,
        precision_assumed=is_assumed, spread=spread, recipe=recipe,
    )  # fmt: skip


def _job(row: Row, reading: _Reading) -> Job:
    batch, recipe, spread = reading.batch, reading.recipe, reading.spread
    graphs = bool(recipe and recipe.graphs) or bool(GRAPHS.search(row.get("notes", "")))
    return Job.model_validate({
        "name": row.get("row_id", "row"), "model": reading.shape.model, "parallelism": spread,
        "precision": reading.precision, "sequence_length": batch.sequence,
        "global_batch": batch.sequences, "gpus": reading.gpus,
        "micro_batch": _micro(row, batch, spread, reading.gpus),
        "recompute": (recipe and recipe.recompute) or _recompute(row),
        "gradient_bytes": _gradient_bytes(row), "framework": _framework(row),
        "compile": _is_compiled(row), "attention": _attention(row), "cuda_graphs": graphs,
        # TorchTitan's runs are of 2024 and 2025, before PyTorch had the kernel.
        "fused_norm": not row.get("family", "").startswith("torchtitan"),
    })  # fmt: skip


def _check(row: Row, job: Job, measured_s: float, reading: _Reading) -> None:
    """Refuse a row whose own figures cannot all be true."""
    precision, gpu, gpus = reading.precision, reading.gpu, reading.gpus
    # Where the precision is a guess, figures beyond the peak of 8 bits are not believed.
    believed = "fp8" if reading.precision_assumed and precision == "nvfp4" else precision
    if model_flops(job) / measured_s > HIGHEST_MFU * gpu.peak_flop_per_s(believed) * gpus:
        raise _Refused("batch and step time together imply more than the peak of the GPUs")
    if _is_part(row, job, measured_s, gpu, gpus):
        raise _Refused(
            "printed utilisation does not fit the model: a part of its layers, not stated"
        )


def _is_part(row: Row, job: Job, step_s: float, gpu: Gpu, gpus: int) -> bool:
    """Tell whether the whole model would run far from the utilisation that is printed."""
    printed = words.number(row.get("mfu_pct"))
    if not printed or not row.get("step_s"):
        return False
    rate = model_flops(job, whole_square=True) / step_s / gpus / (printed / 100)
    peaks = [gpu.peak_flop_per_s(p) for p in {job.precision, "bf16"} & set(gpu.flop_per_s)]
    return bool(peaks) and all(not 1 / PART_RATIO < rate / peak < PART_RATIO for peak in peaks)


def _scale(gpus: int) -> str:
    steps = (8, 64, 512, 4096)
    return next((f"<= {step} GPUs" for step in steps if gpus <= step), "> 4096 GPUs")


def _precision(row: Row, gpu: Gpu) -> tuple[str, bool]:
    stated = words.precision(row.get("precision", ""))
    if stated is None:
        stated = words.precision(_text(row, "notes", "other", "model"))
        stated = stated if stated in {"fp8", "nvfp4", "bf16"} else None
    if stated == "fp16" and "bf16" in gpu.flop_per_s and gpu.generation != "ampere":
        stated = "bf16"
    if stated:
        return stated, False
    if gpu.generation == "volta":
        return "fp16", True
    return _mlperf_precision(row, gpu), True


def _mlperf_precision(row: Row, gpu: Gpu) -> str:
    """Return what MLPerf's closed division computes in where the log does not say.

    8 bits on Hopper and newer, 4 bits on Blackwell from v5.1, whose configuration names say so
    where a name is known.
    """
    found = re.match(r"mlperf-v(\d+)\.(\d+)", row.get("family", ""))
    if found is None or "fp8" not in gpu.flop_per_s:
        return "bf16"
    late = (int(found.group(1)), int(found.group(2))) >= FOUR_BITS_SINCE
    named = "config" in row.get("notes", "")
    return "nvfp4" if late and "fp4" in gpu.flop_per_s and not named else "fp8"


def _spread(row: Row, gpus: int, shape: Shape) -> Parallelism | str:
    sizes = _sizes(row)
    sharding, stated = _sharding(row)
    if not ({"TP", "PP", "EP"} & sizes.keys()) and not stated:
        return "auto" if gpus > 1 else Parallelism()
    pp, vp = sizes.get("PP", 1), sizes.get("VP", 1)
    framework = _framework(row)
    text = _text(row, "framework", "other").lower()
    if pp > 1 and vp == 1 and not row.get("VP") and _interleaves(row):
        # Not stated: TorchTitan makes two stages a rank, tuned recipes one layer a chunk.
        vp = 2 if framework == "fsdp" else max(1, -(-shape.model.layers // pp))
    vp = max(1, min(vp, shape.model.layers // pp)) if pp > 1 else 1
    modern = framework == "megatron" and not _is_unfused(row)
    recipe = recipe_of(row)
    copies = "hosts" if DISPATCH.search(text) else "copies"
    return Parallelism.model_validate({
        "tp": sizes.get("TP", 1), "sequence_parallel": _sequence_parallel(row, framework),
        "cp": sizes.get("CP", 1), "pp": pp, "virtual_stages": vp,
        "schedule": "interleaved" if vp > 1 else "1f1b", "ep": sizes.get("EP", 1),
        "sharding": sharding, "shard_ranks": sizes.get("FSDP") if sharding == "hsdp" else None,
        "uneven_stages": shape.model.layers % pp != 0,
        "overlap_dp": "not overlapped" not in row.get("sharding", ""),
        "overlap_tp": modern or "asynctp" in text, "overlap_pp": modern,
        "overlap_ep": bool(recipe and recipe.overlap),
        "dispatch": recipe.dispatch if recipe else copies,
    })  # fmt: skip


def _interleaves(row: Row) -> bool:
    """Tell whether a pipeline without a stated schedule is interleaved all the same."""
    text = _text(row, "framework", "other").lower()
    named = "interleaved" in text or "meta internal" in text
    return named or row.get("family", "").startswith("mlperf")


def _sequence_parallel(row: Row, framework: str) -> bool:
    text = _text(row, "act_ckpt", "other").lower()
    if framework in {"megatron", "deepspeed"} and _is_unfused(row):
        return "sequence" in text or (_is_megatron_lm(row) and not row.get("act_ckpt"))
    return True


def _sharding(row: Row) -> tuple[str, bool]:
    """Return the sharding of data parallelism, and whether the row states it."""
    text = _text(row, "sharding", "other", "model").lower()
    framework = _framework(row)
    if re.search(r"fsdp=[01]\b", text):
        return ("none", True) if framework == "jax" else ("zero1", False)
    found = words.meant("shardings", text)
    if found:
        return found, found != "zero1"
    if framework in UNSTATED_SHARDING:
        return UNSTATED_SHARDING[framework], True
    return ("none" if _is_unfused(row) else "zero1"), False


def _micro(row: Row, batch: _Batch, spread: Parallelism | str, gpus: int) -> int:
    if not isinstance(spread, Parallelism):
        return batch.micro
    if spread.pp > 1 and row.get("family", "").startswith("torchtitan"):
        # Its local batch is cut into as many micro-batches as there are stages.
        return max(1, batch.micro // spread.pp)
    ranks = max(1, gpus // (spread.tp * spread.cp * spread.pp))
    return max(1, min(batch.micro, batch.sequences // ranks))


def _recompute(row: Row) -> str:
    stated = words.recompute(row.get("act_ckpt", ""))
    if stated:
        return stated
    if not _is_unfused(row) or "BERT" in row.get("model", ""):
        return "none"
    # Megatron-LM recomputes selectively since 2022; its DeepSpeed fork checkpointed layers.
    return "selective" if _is_megatron_lm(row) else "full"


def _is_megatron_lm(row: Row) -> bool:
    """Tell whether a run is Megatron-LM's own, and not of 2021 (those state full)."""
    return "megatron-lm" in row.get("framework", "").lower()


def _gradient_bytes(row: Row) -> float | None:
    mixed = words.settings_in(row.get("other", "")).get("mp", "")
    if re.search(REDUCED_GRADIENTS, row.get("framework", ""), re.IGNORECASE):
        return 2.0
    return {"PURE": 2.0, "DEFAULT": 4.0}.get(mixed)


def _attention(row: Row) -> str:
    """Return the kernels of attention.

    Composer's benchmarks took Triton's of 2022, and PyTorch its own until 2.11.
    """
    framework = row.get("framework", "")
    if framework.startswith("Composer"):
        return "flash1"
    if framework.startswith("torchtitan"):
        return "flash2"
    return "unfused" if _is_unfused(row) else "flash"


def _is_unfused(row: Row) -> bool:
    """Tell whether scores went through memory: Megatron of 2021-22, and BERT of that time."""
    framework = row.get("framework", "").lower()
    gpu = row.get("gpu", "")
    if not re.search(r"V100|A100|Ampere|DGX-1|DGX-2", gpu, re.IGNORECASE):
        return False
    if re.search(r"megatron-lm|megatron-?\(?-?deepspeed", framework):
        return "llama" not in framework
    # Paddle's BERT had fused attention kernels on A100, PyTorch's and TensorFlow's had not.
    fused = "paddle" in framework and "A100" in gpu
    return words.framework(framework) == "other" and not fused


def _measured_s(row: Row, job: Job, gpu: Gpu, gpus: int) -> float | None:
    value = {column: words.number(row.get(column)) for column in MEASURES}
    tokens = job.global_batch * job.sequence_length
    if value["step_s"]:
        return value["step_s"]
    if value["tokens_per_s_gpu"]:
        return tokens / (value["tokens_per_s_gpu"] * gpus)
    if value["tokens_per_s"]:
        return tokens / value["tokens_per_s"]
    if value["samples_per_s"]:
        return job.global_batch / value["samples_per_s"]
    return _from_rate(row, job, gpu, gpus)


def _from_rate(row: Row, job: Job, gpu: Gpu, gpus: int) -> float | None:
    """Turn FLOP/s, MFU or HFU into a step time, with the definition of the source."""
    whole = bool(re.search(WHOLE_SQUARE, row.get("framework", ""), re.IGNORECASE))
    useful = model_flops(job, whole_square=whole or job.attention == "unfused")
    rate = words.number(row.get("tflops_per_gpu"))
    if rate:
        printed_hfu = words.number(row.get("hfu_pct")) and not words.number(row.get("mfu_pct"))
        flops = hardware_flops(job) if printed_hfu or job.attention == "unfused" else useful
        return flops / (rate * TERA * gpus)
    mfu = words.number(row.get("mfu_pct"))
    if mfu is None:
        return None
    peak = gpu.peak_flop_per_s("bf16" if "bf16" in gpu.flop_per_s else "fp16")
    return useful / (mfu / 100 * peak * gpus)
