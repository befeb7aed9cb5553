"""Model names of published tables, and the shapes that they stand for."""

import re
from dataclasses import dataclass
from math import log
from typing import Final

from weft.accuracy.rows.words import settings_in, whole
from weft.errors import UnknownName
from weft.spec import load
from weft.spec.workload import Experts, Model

NAMES: Final = (
    (r"llama[ _-]?3(\.\d)?[ _-]*405b|llama31_405b", "llama3_405b"),
    (r"llama[ _-]?3(\.\d)?[ _-]*70b", "llama3_70b"),
    (r"llama[ _-]?3(\.\d)?[ _-]*8b|llama31_8b", "llama3_8b"),
    (r"llama[ _-]?3\.2[ _-]*3b", "llama3_2_3b"),
    (r"llama[ _-]?3\.2[ _-]*1b", "llama3_2_1b"),
    (r"llama[ _-]?2[ _-]*70b", "llama2_70b"),
    (r"llama[ _-]?2?[ _-]*13b", "llama2_13b"),
    (r"llama[ _-]?2?[ _-]*7b", "llama2_7b"),
    (r"llama[ _-]*65b", "llama_65b"),
    (r"llama[ _-]?4.*maverick", "llama4_maverick"),
    (r"llama[ _-]?4.*scout", "llama4_scout"),
    (r"gpt[ _-]?oss[ _-]*120b", "gpt_oss_120b"),
    (r"gpt[ _-]?oss[ _-]*20b", "gpt_oss_20b"),
    (r"deepseek[ _-]?v3", "deepseek_v3"),
    (r"deepseek[ _-]?v2[ _-]*lite", "deepseek_v2_lite"),
    (r"deepseek[ _-]?v2", "deepseek_v2"),
    (r"kimi[ _-]?k2", "kimi_k2"),
    (r"qwen[ _-]?3[ _-]*235b", "qwen3_235b_a22b"),
    (r"qwen[ _-]?3[ _-]*30b", "qwen3_30b_a3b"),
    (r"qwen[ _-]?3[ _-]*32b", "qwen3_32b"),
    (r"qwen[ _-]?3[ _-]*14b", "qwen3_14b"),
    (r"qwen[ _-]?3[ _-]*8b", "qwen3_8b"),
    (r"qwen[ _-]?2(\.5)?[ _-]*72b", "qwen2_72b"),
    (r"qwen[ _-]?2(\.5)?[ _-]*32b", "qwen2_5_32b"),
    (r"qwen[ _-]?2(\.5)?[ _-]*7b", "qwen2_7b"),
    (r"mixtral[ _-]*8x22b", "mixtral_8x22b"),
    (r"mixtral", "mixtral_8x7b"),
    (r"mistral", "mistral_7b"),
    (r"grok[ _-]?1", "grok_1"),
    (r"dbrx", "dbrx"),
    (r"nemotron[ _-]?4[ _-]*15b|nemotron-15b", "nemotron4_15b"),
    (r"nemotron[ _-]?4?[ _-]*340b", "nemotron4_340b"),
    (r"nemotron[ _-]?3?[ _-]*22b", "nemotron3_22b"),
    (r"nemotron[ _-]?3?[ _-]*8b", "nemotron3_8b"),
    (r"bert[ _-]large|^bert$", "bert_large"),
    (r"gpt[ _-]?neox", "gpt_neox_20b"),
    (r"falcon[ _-]*180b", "falcon_180b"),
    (r"falcon[ _-]*40b", "falcon_40b"),
    (r"ernie[ _-]*4\.5", "ernie_4_5_300b_a47b"),
    (r"bloom", "bloom_176b"),
    (r"palm[ _-]*540b", "palm_540b"),
    (r"(mt[ _-]?nlg|megatron[ _-]turing).*", "megatron_530b"),
    (r"^nemo megatron|gpt([ _-]?3)?[ _-]*175b|^gpt3$|^gpt-3 \(", "gpt3_175b"),
    (r"gpt[ _-]?3[ _-]+20b", "gpt3_20b"),
    (r"gpt([ _-]?3)?[ _-]*\b5b|gpt5b", "gpt3_5b"),
    (r"gpt([ _-]?3)?[ _-]*126m", "gpt3_126m"),
    (r"gpt[ _-]?3[ _-]*13b", "gpt3_13b"),
)
NOT_COVERED: Final = (
    (r"nemotron_3|nemotron-h|mamba", "a hybrid of state-space layers"),
    (r"t5|bart|transformer-xl", "an encoder-decoder or recurrent model"),
    (r"resnet|efficientnet|stable_diffusion|flux|rnn|dlrm", "not a language model"),
    (r"maskrcnn|ssd|unet|retina|gnn|vit\b|dit\b|minigo", "not a language model"),
    (r"deepseekv4|deepseek v4", "a model whose shape weft does not know"),
    (r"biobert", "a BERT whose shape the table does not state"),
)  # fmt: skip
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
    name="deepseek_v3_like",
    layers=61,
    hidden=7168,
    heads=128,
    kv_heads=128,
    head_dim=56,
    ffn_hidden=2048,
    vocab=32000,
    experts=Experts(experts=256, experts_per_token=8, ffn_hidden=2048),
)
"""What the options of the UCCL-EP benchmark build: V3's experts with ordinary attention
[github.com/uccl-project/uccl, ep/bench/megatron/README.md]."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A model and whether its shape was assumed."""

    model: Model
    assumed: bool = False


def shape_of(name: str, parameters_b: float | None, other: str, stages: int) -> Shape | str:
    """Return the model of a row, or why there is none."""
    for pattern, reason in NOT_COVERED:
        if re.search(pattern, name, re.IGNORECASE):
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
    layers = whole(settings.get("layers"))
    heads = whole(settings.get("heads"))
    if hidden and layers and heads:
        return Shape(gpt(hidden, layers, heads, whole(settings.get("v")) or MEGATRON_VOCAB))
    return None


def _named(name: str, other: str) -> Shape | None:
    mpt = re.search(r"mpt-?(\d+[bm])", name, re.IGNORECASE)
    if mpt:
        return _shipped(f"mpt_{mpt.group(1).lower()}")
    for pattern, known in NAMES:
        if re.search(pattern, name, re.IGNORECASE):
            shape = _shipped(known)
            return shape and _fewer_layers(shape, name, other)
    return None


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
    names = [n for n in load.models() if n.startswith("megatron_")]
    for known in names:
        model = load.model(known)
        if abs(model.parameters() / 1e9 / size_b - 1) < 0.03:  # noqa: PLR2004 - rounding
            settings = settings_in(other)
            layers = whole(settings.get("layers"))
            return Shape(model.with_(layers=layers) if layers else model)
    return None


def gpt(hidden: int, layers: int, heads: int, vocab: int = MEGATRON_VOCAB) -> Model:
    """Return a dense GPT as Megatron-LM builds it: feed-forward of 4 h, learned positions."""
    return Model(
        name=f"gpt_h{hidden}_l{layers}",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=max(1, hidden // heads),
        ffn_hidden=4 * hidden,
        vocab=vocab,
        gated_ffn=False,
        tied_embeddings=True,
        positions=2048,
    )


def one_layer(name: str) -> bool:
    """Tell whether a table times one layer alone."""
    return "one layer" in name.lower()
