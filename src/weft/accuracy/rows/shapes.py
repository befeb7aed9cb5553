"""Model names of published tables, and the shapes that they stand for."""

import re
from dataclasses import dataclass
from math import log
from typing import Final

from weft.accuracy.rows.words import meant, settings_in, whole
from weft.errors import UnknownName
from weft.spec import load
from weft.spec.workload import Experts, Model

LADDER: Final = (
    # Parameters in 1e9, hidden width, heads: GPT-3 table 2.1; SC'21 table 1 above 15e9; and
    # BigScience's search for 176e9.
    (0.125, 768, 12), (0.35, 1024, 16), (0.76, 1536, 16), (1.3, 2048, 16), (2.7, 2560, 32),
    (6.7, 4096, 32), (13, 5120, 40), (18.4, 6144, 48), (22, 6144, 64), (39, 8192, 64),
    (76, 10240, 80), (145, 12288, 96), (175, 12288, 96), (187, 13824, 108),
    (200, 14400, 120), (310, 16384, 128), (530, 20480, 128), (1000, 25600, 160),
)  # fmt: skip
MEGATRON_VOCAB: Final = 51200
LOW_RANK: Final = r"\blora\b|_lora"
TUNED: Final = r"fine-?tuning|\bsft\b|\blora (bf16|fp8|performance)|^lora$|; ?lora"
PACKED_TOKENS: Final = 512
"""Fine-tuning tables pack short examples (SQuAD) into one sequence; none attends further."""
LOW_RANK_RATIO: Final = 0.01
MASKED_RATIO: Final = 0.15
"""BERT's head sees the masked positions only [Devlin 2019, section 3.1]."""


V3_LIKE: Final = Model(
    name="deepseek_v3_like", layers=61, hidden=7168, heads=128, kv_heads=128, head_dim=56,
    ffn_hidden=2048, vocab=32000,
    experts=Experts(experts=256, experts_per_token=8, ffn_hidden=2048),
)  # fmt: skip
"""What the options of the UCCL-EP benchmark build: V3's experts with ordinary attention
[github.com/uccl-project/uccl, ep/bench/megatron/README.md]."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A model and whether its shape was assumed."""

    model: Model
    assumed: bool = False


def shape_of(name: str, parameters_b: float | None, other: str, stages: int) -> Shape | str:
    """Return the model of a row, or why there is none."""
    reason: str | None = meant("models_not_covered", name)
    if reason:
        return reason
    shape = _stated(name, other) or _named(name, other) or _sized(
        name, parameters_b, other, stages
    )  # fmt: skip
    if shape is None:
        return f"model {name!r} is not known and its size is not stated"
    if re.search(TUNED, f"{name} {other}", re.IGNORECASE):
        shape = Shape(shape.model.with_(window=PACKED_TOKENS), shape.assumed)
    if re.search(LOW_RANK, f"{name} {other}", re.IGNORECASE):
        return Shape(shape.model.with_(trainable_ratio=LOW_RANK_RATIO), shape.assumed)
    return shape


def _stated(name: str, other: str) -> Shape | None:
    """Read widths that the table prints."""
    if name.startswith("DeepSeek-V3-like"):
        return _fewer_layers(Shape(V3_LIKE), name, other)
    match = re.search(r"\bh(\d+)\s+L(\d+)\s+a(\d+)", name)
    if match:
        return Shape(gpt(*(int(part) for part in match.groups())))
    settings = settings_in(other)
    hidden = whole(settings.get("hidden") or settings.get("h"))
    layers, heads = whole(settings.get("layers")), whole(settings.get("heads"))
    if hidden and layers and heads:
        return Shape(gpt(hidden, layers, heads, whole(settings.get("v")) or MEGATRON_VOCAB))
    return None


def _named(name: str, other: str) -> Shape | None:
    mpt = re.search(r"mpt-?(\d+[bm])", name, re.IGNORECASE)
    if mpt:
        return _shipped(f"mpt_{mpt.group(1).lower()}")
    known = meant("models", name)
    shape = _shipped(known) if known else None
    return shape and _fewer_layers(shape, name, other)


def _fewer_layers(shape: Shape, name: str, other: str) -> Shape:
    """Cut the model where the table runs a part of its layers."""
    model = shape.model
    layers = whole(settings_in(other).get("layers"))
    inside = re.search(r"(\d+) layers", name)
    if inside:
        layers = int(inside.group(1))
    if model.name.startswith("bert"):
        return Shape(model.with_(vocab=round(model.vocab * MASKED_RATIO)))
    if layers and layers < model.layers:
        experts = model.experts
        if experts and experts.dense_layers >= layers:
            model = model.with_(experts=experts.with_(dense_layers=0))
        return Shape(model.with_(layers=layers))
    return shape


def _shipped(name: str) -> Shape | None:
    try:
        return Shape(load.model(name))
    except UnknownName:
        return None


def _sized(name: str, parameters_b: float | None, other: str, stages: int) -> Shape | None:
    """Take the standard shape of a dense GPT of the stated size."""
    in_name = re.search(r"(\d+(?:\.\d+)?)\s*B\b", name)
    size_b = parameters_b or (float(in_name.group(1)) if in_name else None)
    if size_b is None or re.search(r"moe|expert|-a\d", name, re.IGNORECASE):
        return None
    known = _megatron(name, size_b, other)
    if known:
        return known
    settings = settings_in(other)
    _, hidden, heads = min(LADDER, key=lambda step: abs(log(step[0] / size_b)))
    stated = whole(settings.get("nhidden"))
    if stated:
        hidden, heads = stated, stated // 128
    layers = whole(settings.get("layers"))
    if layers is None:
        layers = max(1, round((size_b * 1e9 - MEGATRON_VOCAB * hidden) / (12 * hidden**2)))
        layers = max(stages, round(layers / stages) * stages)
    return Shape(gpt(hidden, layers, heads), assumed=True)


def _megatron(name: str, size_b: float, other: str) -> Shape | None:
    if not name.upper().startswith("GPT") or "nhidden" in other.lower():
        return None
    known = (load.model(name) for name in load.models() if name.startswith("megatron_"))
    for model in known:
        if abs(model.parameters() / 1e9 / size_b - 1) < 0.03:  # noqa: PLR2004 - rounding
            layers = whole(settings_in(other).get("layers"))
            return Shape(model.with_(layers=layers) if layers else model)
    return None


def gpt(hidden: int, layers: int, heads: int, vocab: int = MEGATRON_VOCAB) -> Model:
    """Return a dense GPT as Megatron-LM builds it: feed-forward of 4 h, learned positions."""
    return Model(
        name=f"gpt_h{hidden}_l{layers}", layers=layers, hidden=hidden, heads=heads,
        kv_heads=heads, head_dim=max(1, hidden // heads), ffn_hidden=4 * hidden, vocab=vocab,
        gated_ffn=False, tied_embeddings=True, positions=2048,
    )  # fmt: skip


def one_layer(name: str) -> bool:
    """Tell whether a table times one layer alone."""
    return "one layer" in name.lower()
