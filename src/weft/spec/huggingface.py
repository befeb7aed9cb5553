"""Hugging Face config.json in, the fields of a Model out.

One small function an architecture; the table at the end names those that are read.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from weft.errors import SpecError
from weft.spec.document import is_file, read_json
from weft.spec.problems import nearest

Config = Mapping[str, Any]
LARGEST_BYTES: Final = 1 << 22
"""Lists of quantised layers make some configs long."""
Fields = dict[str, Any]


def read_config(path: Path) -> Fields:
    """Read a config.json; return the fields of a model.

    Mixed models (vision and text) are read by their text part.
    """
    config = _parse(path)
    text = config.get("text_config")
    if isinstance(text, Mapping):
        config = {
            **config,
            **text,
            "model_type": text.get("model_type", config.get("model_type")),
        }
    kind = str(config.get("model_type", ""))
    if kind not in READERS:
        raise SpecError(
            f"{path}: model_type: value {kind!r}: is no architecture that weft reads; "
            f"{nearest(kind, READERS)}; or write the model's fields in the job"
        )
    try:
        fields = READERS[kind](config)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise SpecError(f"{path}: {what}; a {kind} config.json has it as a number") from error
    return {"name": _name(config, path), **fields}


def precision_of(path: Path) -> str | None:
    """Return the precision that a config.json states (its quantisation, or its dtype).

    >>> precision_of(Path("no-such-file")) is None
    True
    """
    if not is_file(path):
        return None
    config = _parse(path)
    method = (config.get("quantization_config") or {}).get("quant_method", "")
    if method in {"fp8", "mxfp4", "nvfp4"}:
        return {"mxfp4": "fp4"}.get(method, str(method))
    dtype = config.get("torch_dtype", config.get("dtype"))
    return {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(str(dtype))


def _parse(path: Path) -> Config:
    config = read_json(path, LARGEST_BYTES)
    if not isinstance(config, Mapping):
        raise SpecError(f"{path}: is no config.json: it holds no mapping")
    return config


def _name(config: Config, path: Path) -> str:
    return str(config.get("_name_or_path") or path.parent.name or config["model_type"])


def _llama(config: Config) -> Fields:
    """Read what most decoders share: grouped queries, a gated feed-forward part, rotation."""
    heads = config["num_attention_heads"]
    return {
        "layers": config["num_hidden_layers"],
        "hidden": config["hidden_size"],
        "heads": heads,
        "kv_heads": config.get("num_key_value_heads") or heads,
        "head_dim": config.get("head_dim") or config["hidden_size"] // heads,
        "ffn_hidden": config["intermediate_size"],
        "vocab": config["vocab_size"],
        "tied_embeddings": bool(config.get("tie_word_embeddings", False)),
    }


def _windowed(config: Config, *, full_every: int = 0) -> Fields:
    window = config.get("sliding_window")
    if not window or config.get("use_sliding_window") is False:
        return _llama(config)
    return {**_llama(config), "window": window, "full_attention_every": full_every}


def _qwen2(config: Config) -> Fields:
    """Read Qwen2, whose window is off unless ``use_sliding_window`` says otherwise."""
    return _windowed({"use_sliding_window": False, **config})


def _routed(config: Config, count: str, width: str) -> Fields:
    """Read the experts that tokens are routed to; the last two are names of keys."""
    return {
        "experts": config[count],
        "experts_per_token": config["num_experts_per_tok"],
        "ffn_hidden": config[width],
    }


def _qwen_moe(config: Config) -> Fields:
    shared = config.get("shared_expert_intermediate_size") or 0
    experts = {
        **_routed(config, "num_experts", "moe_intermediate_size"),
        "shared_experts": 1 if shared else 0,
        "shared_ffn_hidden": shared,
        "every": config.get("decoder_sparse_step", 1),
    }
    return {**_qwen2(config), "experts": experts}


def _mixtral(config: Config) -> Fields:
    experts = _routed(config, "num_local_experts", "intermediate_size")
    return {**_windowed(config), "experts": experts}


def _gpt_oss(config: Config) -> Fields:
    return {**_mixtral(config), **_windowed(config, full_every=2)}


def _llama4(config: Config) -> Fields:
    experts = {
        **_routed(config, "num_local_experts", "intermediate_size"),
        "shared_experts": 1,
        "every": config.get("interleave_moe_layer_step", 1),
    }
    window = config.get("attention_chunk_size")
    fields = {
        **_llama(config),
        "ffn_hidden": config["intermediate_size_mlp"],
        "experts": experts,
    }
    return {**fields, "window": window, "full_attention_every": 4 if window else 0}


def _deepseek(config: Config) -> Fields:
    latent = {
        "q_lora_rank": config.get("q_lora_rank") or 0,
        "kv_lora_rank": config["kv_lora_rank"],
        "qk_nope_head_dim": config["qk_nope_head_dim"],
        "qk_rope_head_dim": config["qk_rope_head_dim"],
        "v_head_dim": config["v_head_dim"],
    }
    experts = {
        **_routed(config, "n_routed_experts", "moe_intermediate_size"),
        "shared_experts": config.get("n_shared_experts") or 0,
        "dense_layers": config.get("first_k_dense_replace", 0),
        "every": config.get("moe_layer_freq", 1),
    }
    width = latent["qk_nope_head_dim"] + latent["qk_rope_head_dim"]
    fields = {**_llama(config), "head_dim": width, "kv_heads": config["num_attention_heads"]}
    return {**fields, "latent_attention": latent, "experts": experts}


def _gemma2(config: Config) -> Fields:
    return {**_windowed({"tie_word_embeddings": True, **config}, full_every=2)}


def _gemma3(config: Config) -> Fields:
    every = config.get("sliding_window_pattern", 6)
    return {**_windowed({"tie_word_embeddings": True, **config}, full_every=every)}


def _gemma(config: Config) -> Fields:
    return _llama({"tie_word_embeddings": True, **config})


def _nemotron(config: Config) -> Fields:
    """Read Nemotron: squared ReLU, hence two matrices."""
    return {**_llama(config), "gated_ffn": False}


def _gpt_neox(config: Config) -> Fields:
    return {**_llama(config), "gated_ffn": False}


def _plain(config: Config, layers: int, hidden: int, heads: int) -> Fields:
    """Return the fields of a decoder without gates, whose embeddings are tied."""
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": hidden // heads,
        "vocab": config["vocab_size"],
        "gated_ffn": False,
        "tied_embeddings": True,
    }


def _gpt2(config: Config) -> Fields:
    return {
        **_plain(config, config["n_layer"], config["n_embd"], config["n_head"]),
        "ffn_hidden": config.get("n_inner") or 4 * config["n_embd"],
        "positions": config.get("n_positions", 1024),
    }


def _mpt(config: Config) -> Fields:
    attention = config.get("attn_config") or {}
    return {
        **_plain(config, config["n_layers"], config["d_model"], config["n_heads"]),
        "kv_heads": attention.get("kv_n_heads", config["n_heads"]),
        "ffn_hidden": config.get("expansion_ratio", 4) * config["d_model"],
        "positions": 0 if attention.get("alibi", False) else config["max_seq_len"],
    }


def _falcon(config: Config) -> Fields:
    hidden = config["hidden_size"]
    heads = config.get("num_attention_heads") or config["n_head"]
    shared = (
        1 if config.get("multi_query") and not config.get("new_decoder_architecture") else 0
    )
    layers = config.get("num_hidden_layers") or config["n_layer"]
    return {
        **_plain(config, layers, hidden, heads),
        "kv_heads": shared or config.get("num_kv_heads") or config.get("n_head_kv") or heads,
        "ffn_hidden": config.get("ffn_hidden_size") or 4 * hidden,
    }


def _bert(config: Config) -> Fields:
    fields = {**_llama(config), "positions": config["max_position_embeddings"]}
    return {**fields, "gated_ffn": False, "tied_embeddings": True, "causal": False}


def _bloom(config: Config) -> Fields:
    hidden = config.get("hidden_size") or config["n_embed"]
    named = {**config, "n_embd": hidden, "n_head": config.get("n_head") or config["num_heads"]}
    return {**_gpt2(named), "positions": 0}


READERS: Final[Mapping[str, Callable[[Config], Fields]]] = {
    "llama": _llama,
    "llama4": _llama4,
    "llama4_text": _llama4,
    "mistral": _windowed,
    "mixtral": _mixtral,
    "qwen2": _qwen2,
    "qwen3": _qwen2,
    "qwen2_moe": _qwen_moe,
    "qwen3_moe": _qwen_moe,
    "deepseek_v2": _deepseek,
    "deepseek_v3": _deepseek,
    "kimi_k2": _deepseek,
    "gpt_oss": _gpt_oss,
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
    "nemotron": _nemotron,
    "gemma": _gemma,
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "gemma3_text": _gemma3,
    "mpt": _mpt,
    "falcon": _falcon,
    "bloom": _bloom,
    "bert": _bert,
}
