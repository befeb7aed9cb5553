"""The fitted constants of the training-step model, one set per class, never per row."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from weft.records import table
from weft.spec.workload import Job

# A class without a fit of its own borrows the nearest: (new precision, fitted, factor on it).
NEAREST = {
    "fp16": ("bf16", 1.0),
    "bf16": ("fp16", 1.0),
    "tf32": ("bf16", 0.95),
    "fp32": ("tf32", 1.0),
    "fp8": ("bf16", 0.85),
    "mxfp8": ("fp8", 0.95),
    "fp6": ("fp8", 0.9),
    "nvfp4": ("mxfp8", 0.8),
    "fp4": ("nvfp4", 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What matrix products and memory passes reach on one GPU generation."""

    compute_units: int
    """Streaming multiprocessors (or compute units): the tiles that run at once."""
    matrix: Mapping[str, float]
    """Best share of the peak in training, by precision."""
    attention: float
    """Share of the 16-bit peak in fused attention."""
    flash2: float
    """Rate of FlashAttention-2, made for Ampere, over that of kernels made for this one."""
    power_w_per_tflop: float
    """Of the part at full clocks: one with less of it slows down under load."""
    memory: float
    """Share of the memory bandwidth."""

    def matrix_ratio(self, precision: str) -> float:
        """Return the best share of the peak, borrowed from a neighbour when not fitted."""
        factor, key = 1.0, precision
        for _ in NEAREST:
            if key in self.matrix:
                return self.matrix[key] * factor
            key, step = NEAREST[key]
            factor *= step
        return max(self.matrix.values()) * 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """How one class of framework runs a step; hidden_*: communication under compute."""

    passes: float
    """Memory passes over those of perfectly fused kernels."""
    matrix: float
    """Its matrix products over the best of the generation."""
    attention: float
    """Its fused attention over the best of the generation (FlashAttention-2 against cuDNN)."""
    operations: str
    """How operations between matrix products run: a way of operations.toml."""
    kernel_s: float
    """Start and drain of one kernel on the GPU."""
    issue_s: float
    """CPU time to issue one kernel of a layer; a layer is never faster than its kernels."""
    hidden_tp: float
    hidden_dp: float
    hidden_pp: float
    hidden_cp: float
    hidden_ep: float
    step_s: float
    """Per step, whatever its size: data, norms, logging, clipping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """All constants of the model."""

    wave_loss: float
    """Part of a wave of tiles that is lost at the end of a matrix product."""
    depth_loss: float
    """Inner length that a tile loses to filling and draining its pipeline."""
    route_passes: float
    """Memory passes of routing, permuting and weighting tokens over the least there are."""
    grouped_ratio: float
    """Grouped (expert) matrix products over dense ones of the same size."""
    unaligned_ratio: float
    """Matrix products whose widths are no multiple of 64 over those whose are."""
    expert_issue_ratio: float
    """CPU time to issue the kernels of one more expert of this GPU, over that of a layer."""
    sync_ratio: float
    """Part of a sparse layer's issue that no GPU work hides: the CPU waits for the counts of
    tokens before it can issue the experts."""
    jitter_ratio: float
    """Deviation of the speed of one GPU, over its mean."""
    power_exponent: float
    """Clock under load against power limit, of parts of one generation."""
    generations: Mapping[str, Generation]
    software: Mapping[str, Software]
    bands: Mapping[str, tuple[float, float]]
    """Ends of the 80 % band over the prediction by class, on families not used in the fit."""

    def band(self, job: Job, generation: str, *, one_host: bool = False) -> tuple[float, float]:
        """Return the band of the narrowest class that has one.

        Mixtures of experts are harder to predict, and so are GPUs with few published runs;
        one host alone is easier.
        """
        keys = reversed(band_names(job, generation, one_host=one_host))
        return next(self.bands[key] for key in keys if key in self.bands)


def constants_of(tables: Mapping[str, Any]) -> Constants:
    """Build constants from the tables of the file (fits change the tables and call this)."""
    return Constants(
        **tables["model"],
        generations={k: Generation(**v) for k, v in tables["generation"].items()},
        software={k: Software(**software_table(tables, k)) for k in tables["software"]},
        bands={k: (v["low"], v["high"]) for k, v in tables["bands"].items()},
    )


def software_table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the constants of one class; those that it does not set are of the one like it."""
    own = dict(tables["software"][name])
    like = own.pop("like", None)
    return (software_table(tables, like) if like else {}) | own


def constants_table() -> Mapping[str, Any]:
    """Read the file of constants."""
    return table(__package__, "constants")


@cache
def constants() -> Constants:
    """Return the constants that weft ships."""
    return constants_of(constants_table())


def held_out_table() -> Mapping[str, Any]:
    """Read what the fit comes to without each family of rows, and the rows that it has seen."""
    return table(__package__, "held_out")


@cache
def seen_rows() -> frozenset[str]:
    """Return the rows that the fit has used."""
    return frozenset(row for line in held_out_table()["rows"] for row in line.split())


@cache
def constants_without(family: str) -> Constants:
    """Return the constants fitted without a family of rows.

    A row that the fit has seen is scored with these, as if its family were new.
    """
    changed = held_out_table()["without"].get(family, {})
    tables = deepcopy(dict(constants_table()))
    for name, value in changed.items():
        *parents, last = name.split(".")
        block: Any = tables
        for key in parents:
            block = block[key]
        block[last] = value
    return constants_of(tables)


def band_names(job: Job, generation: str, *, one_host: bool) -> list[str]:
    """Name the classes that a band may belong to, the widest first."""
    name = software_class(job)
    experts = f"{name}_experts" if job.model.experts else name
    names = [name, experts, f"{experts}_{generation}"]
    return [*names, f"{experts}_{generation}_host"] if one_host else names


def has_fused_experts(job: Job) -> bool:
    """Tell whether all of a mixture of experts runs as one CUDA graph.

    A graph holds no wait for the CPU, so the experts' products take their sizes on the GPU;
    such grouped kernels apply the activation and quantise as they write.
    """
    return job.cuda_graphs and job.model.experts is not None


PYTORCH: Final = frozenset({"pytorch", "fsdp"})


def software_class(job: Job) -> str:
    """Name the class of software that a job runs on.

    Unfused attention marks Megatron-LM and Megatron-DeepSpeed of 2021 and 2022, and the
    BERT examples of their time, the first FlashAttention PyTorch's libraries of 2023; whole
    graphs of experts mark Megatron-Core since June 2026.
    """
    if job.framework == "megatron" and has_fused_experts(job):
        return "megatron_graphs"
    if job.framework in PYTORCH and job.attention == "flash1":
        return "fsdp_flash1"
    old = job.attention == "unfused" and job.framework in {"megatron", "deepspeed", "other"}
    return f"{job.framework}_unfused" if old else job.framework
