"""Models of `build.py` as llama.cpp's converter would write them: key-values and tensors, for `tests/test_gguf_cases.py`.

    python tools/zoo/gguf_cases.py RECORDS    # the folder that build.py wrote; writes fixtures/gguf_cases.jsonl

Names are those of the `gguf` package's own map of names. What the converter splits, stacks, squeezes and drops, and
which key-values it writes, is told here apart from the project's tables, for it tests them.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import records

from inspector.architectures import listed_gguf

Config = Mapping[str, Any]
Tensors = dict[str, tuple[int, ...]]
ROOT = Path(__file__).parents[2]
OUT = ROOT / "fixtures" / "gguf_cases.jsonl"
DOC = ROOT / "docs" / "gguf.md"
KINDS = ROOT / "fixtures" / "gguf_kinds.json"  # `tools/write_gguf_kinds.py` writes them

ARCH = {name: arch for arch, name in gguf.MODEL_ARCH_NAMES.items()}

#: Key → fields of a configuration, the first that is there: what the converter writes for every text model.
COMMON = {
    "block_count": "n_layers num_hidden_layers n_layer num_layers",
    "context_length": "max_position_embeddings n_ctx n_positions max_length max_seq_len",
    "embedding_length": "hidden_size n_embd dim d_model",
    "feed_forward_length": "intermediate_size n_inner ffn_hidden_size hidden_dim",
    "attention.head_count": "num_attention_heads n_head n_heads num_heads",
    "attention.head_count_kv": "num_key_value_heads n_kv_heads",
    "attention.key_length": "head_dim",
    "attention.value_length": "head_dim",
    "vocab_size": "vocab_size",
    "expert_count": "num_local_experts num_experts n_routed_experts moe_num_experts",
    "expert_used_count": "num_experts_per_tok num_experts_per_token moe_k",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_count": "n_shared_experts num_shared_experts moe_num_shared_experts",
    "leading_dense_block_count": "first_k_dense_replace num_dense_layers",
}


@dataclass
class Case:
    """How one architecture is converted."""

    model_type: str
    keys: Callable[[Config], Mapping[str, Any]] = lambda _: {}  # beyond, or in place of, the common ones
    rename: tuple[tuple[str, str], ...] = ()  # regular expression → replacement, before names are mapped
    after: tuple[tuple[str, str], ...] = ()  # the same, after tensors are split
    drop: str = r"$^"  # names that the converter leaves out
    reshape: Callable[[str, tuple[int, ...], Config], Iterable[tuple[str, tuple[int, ...]]]] = field(
        default=lambda name, shape, _: [(name, shape)]
    )
    cls: str = "ForCausalLM"
    text: bool = False  # whether the model is the text part of a larger one
    variants: tuple[str, ...] = ("default", "p1", "p2")
    fields: Mapping[str, Any] = field(default_factory=dict)  # a model of these is built, where no record fits


def first(config: Config, names: str) -> Any:
    """The first of the fields that the configuration has."""
    return next((config[name] for name in names.split() if config.get(name) is not None), None)


def is_attention(kind: str) -> bool:
    return kind in ("attention", "full_attention")


def head_counts(c: Config, layers: Iterable[str]) -> list[int]:
    """Heads for keys and values: none where a layer is no attention."""
    return [c["num_key_value_heads"] if is_attention(kind) else 0 for kind in layers]


# --- what converters split and join ----------------------------------------------------------------


def split_kv_b(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Latent attention's second projection in two, its heads stacked."""
    if not name.endswith("kv_b_proj.weight"):
        return [(name, shape)]
    heads, nope, value = c["num_attention_heads"], c["qk_nope_head_dim"], c["v_head_dim"]
    assert shape[0] == heads * (nope + value)
    return [
        (name.replace("kv_b_proj", "k_b_proj"), (heads, shape[1], nope)),
        (name.replace("kv_b_proj", "v_b_proj"), (heads, value, shape[1])),
    ]


def halves(ending: str, *names: str) -> Callable[..., Iterable[tuple[str, tuple[int, ...]]]]:
    """A weight of two halves, each with a name of its own."""

    def split(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
        if not name.endswith(ending):
            return [(name, shape)]
        half = (*shape[:-2], shape[-2] // 2, shape[-1])
        return [(name.replace(ending, each), half) for each in names]

    return split


def in_turn(*steps: Callable[..., Iterable[tuple[str, tuple[int, ...]]]]) -> Callable[..., Any]:
    """One step after the other."""

    def all_steps(name: str, shape: tuple[int, ...], c: Config) -> list[tuple[str, tuple[int, ...]]]:
        pairs = [(name, shape)]
        for step in steps:
            pairs = [pair for each in pairs for pair in step(*each, c)]
        return pairs

    return all_steps


def mamba2(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Mamba 2's parameters with a dimension more, its norm in groups."""
    groups = first(c, "n_groups mamba_n_groups") or 1
    if re.search(r"(A_log|\.D)$", name):
        return [(name, (*shape, 1))]
    if re.search(r"(mixer|mamba)\.norm\.weight$", name):
        return [(name, (groups, shape[0] // groups))]
    return squeezed(name, shape, c)


def squeezed(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Convolutions without their dimension of one."""
    if re.search(r"(conv1d|shared_expert_gate|conv\.conv)\.weight$", name):
        return [(name, tuple(dim for dim in shape if dim != 1))]
    return [(name, shape)]


def delta(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Qwen3-Next's one projection in two."""
    if name.endswith("in_proj_qkvz.weight"):
        keys = 2 * c["linear_num_key_heads"] * c["linear_key_head_dim"]
        values = c["linear_num_value_heads"] * c["linear_value_head_dim"]
        return [
            (name.replace("qkvz", "qkv"), (keys + values, shape[1])),
            (name.replace("qkvz", "z"), (values, shape[1])),
        ]
    return squeezed(name, shape, c)


def transposed(ending: str) -> Callable[..., Iterable[tuple[str, tuple[int, ...]]]]:
    """GPT-2's weights the other way round."""

    def turn(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
        return [(name, shape[::-1] if re.search(ending, name) else shape)]

    return turn


# --- which key-values ------------------------------------------------------------------------------


def latent_keys(c: Config) -> Mapping[str, Any]:
    rank, rope = c["kv_lora_rank"], c["qk_rope_head_dim"]
    return {
        "attention.head_count_kv": 1,
        "attention.q_lora_rank": c.get("q_lora_rank"),
        "attention.kv_lora_rank": rank,
        "attention.key_length": rank + rope,
        "attention.value_length": rank,
        "attention.key_length_mla": c["qk_nope_head_dim"] + rope,
        "attention.value_length_mla": c["v_head_dim"],
        "rope.dimension_count": rope,
        "expert_gating_func": 2 if c["model_type"] in ("deepseek_v3", "glm_moe_dsa") else 1,
    }


def mamba2_keys(c: Config) -> Mapping[str, Any]:
    heads = first(c, "num_heads mamba_n_heads mamba_num_heads")
    inner = first(c, "mamba_d_ssm") or heads * first(c, "mamba_d_head mamba_head_dim head_dim")
    return {
        "ssm.conv_kernel": first(c, "conv_kernel mamba_d_conv d_conv"),
        "ssm.inner_size": inner,
        "ssm.state_size": first(c, "state_size mamba_d_state ssm_state_size"),
        "ssm.time_step_rank": heads,
        "ssm.group_count": first(c, "n_groups mamba_n_groups"),
    }


def delta_keys(c: Config) -> Mapping[str, Any]:
    return {
        "ssm.conv_kernel": c["linear_conv_kernel_dim"],
        "ssm.state_size": c["linear_key_head_dim"],
        "ssm.group_count": c["linear_num_key_heads"],
        "ssm.time_step_rank": c["linear_num_value_heads"],
        "ssm.inner_size": c["linear_value_head_dim"] * c["linear_num_value_heads"],
        "full_attention_interval": c.get("full_attention_interval", 4),
        "expert_shared_feed_forward_length": c.get("shared_expert_intermediate_size"),
    }


def gemma4_keys(c: Config) -> Mapping[str, Any]:
    sliding = [kind == "sliding_attention" for kind in c["layer_types"]]
    shared, wide, layers = c["num_kv_shared_layers"], c.get("use_double_wide_mlp"), c["num_hidden_layers"]
    keys: dict[str, Any] = {
        "attention.shared_kv_layers": shared,
        "embedding_length_per_layer_input": c.get("hidden_size_per_layer_input") or 0,
        "attention.sliding_window_pattern": sliding,
        "attention.key_length": full_head_dim(c),
        "attention.value_length": full_head_dim(c),
        "attention.key_length_swa": c["head_dim"],
        "attention.value_length_swa": c["head_dim"],
        "expert_feed_forward_length": first(c, "expert_intermediate_size moe_intermediate_size"),
    }
    if wide:
        width = c["intermediate_size"]
        keys["feed_forward_length"] = [width if at < layers - shared else 2 * width for at in range(layers)]
    if (full := c.get("num_global_key_value_heads")) is not None:
        keys["attention.head_count_kv"] = [c["num_key_value_heads"] if each else full for each in sliding]
    return keys


def lfm2_keys(c: Config) -> Mapping[str, Any]:
    width = c["intermediate_size"]
    if c.get("block_auto_adjust_ff_dim"):
        width = int(c["block_ffn_dim_multiplier"] * int(2 * width / 3))
        width = -(-width // c["block_multiple_of"]) * c["block_multiple_of"]
    return {
        "attention.head_count_kv": head_counts(c, c["layer_types"]),
        "shortconv.l_cache": c["conv_L_cache"],
        "feed_forward_length": width,
    }


def full_head_dim(c: Config) -> int:
    """The width of heads that see everything: newer configurations give it layer by layer."""
    by_layer = c.get("per_layer_config") or {}
    own = [each["head_dim"] for each in by_layer.values() if "head_dim" in each]
    return c.get("global_head_dim") or (own or [c["head_dim"]])[0]


def four(c: Config) -> Mapping[str, Any]:
    """Four times the width, where nothing else is said."""
    return {"feed_forward_length": c.get("n_inner") or 4 * first(c, "hidden_size n_embd d_model")}


def experts_apart(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Experts that are stacked already: gate and up apart, each the other way round."""
    if name.endswith("gate_up_proj"):
        half = (shape[0], shape[2] // 2, shape[1])
        return [(name.replace("gate_up_proj", f"{each}_proj.weight"), half) for each in ("gate", "up")]
    if name.endswith("gate_up_proj_bias"):
        half = (shape[0], shape[1] // 2)
        return [(name.replace("gate_up_proj_bias", f"{each}_proj.bias"), half) for each in ("gate", "up")]
    if name.endswith("experts.down_proj"):
        return [(name + ".weight", (shape[0], shape[2], shape[1]))]
    return [(name.replace("down_proj_bias", "down_proj.bias"), shape)]


def granite(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Granite's fused inputs in two; a shared expert alone is the feed-forward."""
    for part in ("block_sparse_moe", "shared_mlp"):
        if name.endswith(f"{part}.input_linear.weight"):
            half = (*shape[:-2], shape[-2] // 2, shape[-1])
            return [(name.replace("input_linear", each), half) for each in ("gate_proj", "up_proj")]
    return mamba2(name, shape, c) if "mamba" in name else [(name, shape)]


def dbrx(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """All experts' rows in one matrix: a matrix each."""
    if "experts.mlp" not in name:
        return [(name, shape)]
    experts = c["ffn_config"]["moe_num_experts"]
    return [(name + ".weight", (experts, shape[0] // experts, shape[1]))]


def padded(name: str, shape: tuple[int, ...], c: Config) -> Iterable[tuple[str, tuple[int, ...]]]:
    """The embeddings a layer with as many rows as the others."""
    return [(name, (c["vocab_size"], *shape[1:]) if "embed_tokens_per_layer" in name else shape)]


GRANITE_WORDS = (
    (r"block_sparse_moe\.(gate|up)_proj", r"mlp.experts.\1_proj"),
    (r"shared_mlp\.(gate|up)_proj", r"mlp.shared_experts.\1_proj"),
)


def t5_keys(c: Config) -> Mapping[str, Any]:
    return {
        "feed_forward_length": c["d_ff"],
        "decoder_block_count": c.get("num_decoder_layers"),
        "attention.key_length": c["d_kv"],
        "attention.value_length": c["d_kv"],
        "attention.relative_buckets_count": c["relative_attention_num_buckets"],
    }


def nemotron_keys(c: Config) -> Mapping[str, Any]:
    kinds = c["layers_block_type"]
    width = c["moe_intermediate_size"] if "moe" in kinds else c["intermediate_size"]
    return {
        **mamba2_keys(c),
        "block_count": len(kinds),
        "attention.head_count_kv": head_counts(c, kinds),
        "feed_forward_length": [width if kind in ("moe", "mlp") else 0 for kind in kinds],
        "expert_shared_feed_forward_length": c["moe_shared_expert_intermediate_size"],
    }


#: Models without a record that fits: few layers, and numbers that tell dimensions apart.
SMALL: dict[str, Any] = {
    "vocab_size": 500, "hidden_size": 96, "intermediate_size": 176, "num_hidden_layers": 5, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 24, "max_position_embeddings": 88,
}  # fmt: skip
ENCODER = {key: value for key, value in SMALL.items() if key not in ("num_key_value_heads", "head_dim")}
T5 = {
    "vocab_size": 500, "d_model": 96, "d_ff": 176, "num_layers": 4, "num_decoder_layers": 3, "num_heads": 6,
    "d_kv": 24, "relative_attention_num_buckets": 11, "decoder_start_token_id": 0,
}  # fmt: skip
NEMOTRON = {
    **{key: value for key, value in SMALL.items() if key != "num_hidden_layers"},
    "mamba_num_heads": 4, "mamba_head_dim": 40, "n_groups": 2, "ssm_state_size": 28, "conv_kernel": 4,
    "n_routed_experts": 7, "num_experts_per_tok": 2, "moe_intermediate_size": 104,
    "moe_shared_expert_intermediate_size": 136,
}  # fmt: skip

MOE_WORDS = (
    (r"\.mlp\.experts\.gate_up_proj$", ".mlp.experts.gate_up_proj.weight"),
    (r"\.mlp\.experts\.down_proj$", ".mlp.experts.down_proj.weight"),
)
A_LOG = ((r"\.dt_bias$", ".dt_proj.bias"),)
BERT: dict[str, Any] = {
    "rename": ((r"^bert\.", ""),),
    "variants": ("default", "p1"),
    "drop": r"(pooler|cls\.|classifier|^lm_head|predictions|decoder|head\.)",
    "cls": "Model",
}

VISION = {"cls": "ForConditionalGeneration", "text": True, "drop": r"visual"}
TO_TEXT = ((r"^model\.language_model\.", "model."),)

CASES: dict[str, Case] = {
    "llama/mixtral": Case("mixtral"),
    "qwen2vl": Case("qwen2_vl", rename=TO_TEXT, **VISION),
    "qwen3vl": Case("qwen3_vl", rename=TO_TEXT, **VISION),
    "qwen3vlmoe": Case(
        "qwen3_vl_moe",
        rename=(*TO_TEXT, MOE_WORDS[1]),
        reshape=halves(".experts.gate_up_proj", ".experts.gate_proj.weight", ".experts.up_proj.weight"),
        **VISION,
    ),
    "llama": Case("llama", variants=("default", "p1", "p2", "p3")),
    "granite": Case("granite"),
    "mistral3": Case("ministral3"),
    "qwen2": Case("qwen2"),
    "qwen3": Case("qwen3"),
    "qwen2moe": Case(
        "qwen2_moe",
        lambda c: {"expert_shared_feed_forward_length": c["shared_expert_intermediate_size"]},
        reshape=squeezed,
    ),
    "qwen3moe": Case("qwen3_moe"),
    "qwen3next": Case("qwen3_next", delta_keys, A_LOG, reshape=delta),
    "qwen35": Case("qwen3_5_text", delta_keys, A_LOG, reshape=squeezed, variants=("default", "p1")),
    "qwen35moe": Case(
        "qwen3_5_moe_text", delta_keys, (*A_LOG, *MOE_WORDS), reshape=squeezed, variants=("default", "p1")
    ),
    "gemma": Case("gemma"),
    "gemma2": Case("gemma2"),
    "gemma3": Case("gemma3_text"),
    "gemma4": Case("gemma4_text", gemma4_keys, ((r"layer_scalar$", "layer_scalar.weight"),), reshape=padded),
    "phi2": Case("phi"),
    "phi3": Case("phi3"),
    "phimoe": Case("phimoe", variants=("b_attention_bias",)),
    "stablelm": Case("stablelm"),
    "starcoder": Case(
        "gpt_bigcode",
        lambda c: {**four(c), "attention.head_count_kv": 1 if c["multi_query"] else c["n_head"]},
    ),
    "starcoder2": Case("starcoder2"),
    "gpt2": Case("gpt2", four, cls="LMHeadModel", reshape=transposed(r"(c_attn|c_proj|c_fc)\.weight$")),
    "gptj": Case("gptj", four),
    "gptneox": Case("gpt_neox"),
    "bloom": Case("bloom", four, ((r"^transformer\.", ""),)),
    "mpt": Case("mpt", four),
    "falcon": Case(
        "falcon",
        lambda c: {
            "attention.head_count_kv": c["num_kv_heads"] if c.get("new_decoder_architecture") else 1,
            "feed_forward_length": c.get("ffn_hidden_size") or 4 * c["hidden_size"],
        },
    ),
    "nemotron": Case("nemotron"),
    "command-r": Case("cohere"),
    "cohere2": Case("cohere2"),
    "olmo": Case("olmo"),
    "olmo2": Case("olmo2"),
    "olmoe": Case("olmoe"),
    "exaone4": Case("exaone4"),
    "arcee": Case("arcee"),
    "apertus": Case("apertus", drop=r"act_fn"),
    "smollm3": Case("smollm3"),
    "seed_oss": Case("seed_oss"),
    "hunyuan-dense": Case("hunyuan_v1_dense"),
    "hunyuan-moe": Case(
        "hunyuan_v1_moe",
        lambda c: {"expert_shared_feed_forward_length": c["intermediate_size"]},
        ((r"mlp\.gate\.wg\.", "mlp.gate."),),
    ),
    "ernie4_5": Case("ernie4_5"),
    "ernie4_5-moe": Case(
        "ernie4_5_moe",
        lambda c: {
            "leading_dense_block_count": c["moe_layer_start_index"],
            "expert_shared_feed_forward_length": c["moe_intermediate_size"] * c["moe_num_shared_experts"],
        },
        ((r"moe_statics\.e_score_correction_bias$", "e_score_correction.bias"),),
    ),
    "deepseek2": Case(
        "deepseek_v3", latent_keys, ((r"e_score_correction_bias$", "e_score_correction.bias"),), reshape=split_kv_b
    ),
    "minicpm3": Case(
        "minicpm3",
        lambda c: {
            "attention.q_lora_rank": c["q_lora_rank"],
            "attention.kv_lora_rank": c["kv_lora_rank"],
            "attention.key_length": c["qk_nope_head_dim"] + c["qk_rope_head_dim"],
            "attention.value_length": c["v_head_dim"],
            "rope.dimension_count": c["qk_rope_head_dim"],
        },
    ),
    "glm4": Case("glm4"),
    "glm4moe": Case(
        "glm4_moe", rename=((r"e_score_correction_bias$", "e_score_correction.bias"),), variants=("b_attention_bias",)
    ),
    "dots1": Case(
        "dots1", lambda _: {"expert_gating_func": 2}, ((r"e_score_correction_bias$", "e_score_correction.bias"),)
    ),
    "gpt-oss": Case(
        "gpt_oss",
        lambda c: {"expert_feed_forward_length": c["intermediate_size"], "rope.dimension_count": c["head_dim"]},
        ((r"sinks$", "sinks.weight"),),
        reshape=experts_apart,
    ),
    "llama4": Case(
        "llama4_text",
        lambda c: {
            "feed_forward_length": c["intermediate_size_mlp"],
            "expert_feed_forward_length": c["intermediate_size"],
            "interleave_moe_layer_step": c["interleave_moe_layer_step"],
        },
        reshape=experts_apart,
        variants=("default", "p1"),
    ),
    "granitemoe": Case("granitemoe", reshape=granite, after=GRANITE_WORDS),
    "granitehybrid": Case(
        "granitemoehybrid",
        lambda c: {
            **mamba2_keys(c),
            "attention.head_count_kv": head_counts(c, c["layer_types"]),
            "expert_shared_feed_forward_length": c["shared_intermediate_size"],
        },
        A_LOG,
        reshape=granite,
        after=GRANITE_WORDS,
    ),
    "mamba": Case(
        "mamba",
        lambda c: {
            "ssm.conv_kernel": c["conv_kernel"],
            "ssm.inner_size": c["intermediate_size"],
            "ssm.state_size": c["state_size"],
            "ssm.time_step_rank": c["time_step_rank"],
            "feed_forward_length": 0,
            "attention.head_count": 0,
        },
        reshape=squeezed,
    ),
    "mamba2": Case(
        "mamba2",
        lambda c: {
            **mamba2_keys(c),
            "feed_forward_length": 0,
            "attention.head_count": 0,
            "attention.key_length": None,
            "attention.value_length": None,
        },
        A_LOG,
        reshape=mamba2,
    ),
    "jamba": Case(
        "jamba",
        lambda c: {
            "ssm.conv_kernel": c["mamba_d_conv"],
            "ssm.inner_size": c["mamba_expand"] * c["hidden_size"],
            "ssm.state_size": c["mamba_d_state"],
            "ssm.time_step_rank": c["mamba_dt_rank"],
            "attention.head_count_kv": [
                0 if (at - c["attn_layer_offset"]) % c["attn_layer_period"] else c["num_key_value_heads"]
                for at in range(c["num_hidden_layers"])
            ],
        },
        reshape=squeezed,
        variants=("default",),
    ),
    "falcon-h1": Case("falcon_h1", mamba2_keys, A_LOG, reshape=mamba2),
    "lfm2": Case("lfm2", lfm2_keys, reshape=squeezed),
    "lfm2moe": Case(
        "lfm2_moe",
        lfm2_keys,
        (
            (r"expert_bias$", "expert_bias.bias"),
            (r"(experts\.\d+)\.w1", r"\1.gate_proj"),
            (r"(experts\.\d+)\.w2", r"\1.down_proj"),
            (r"(experts\.\d+)\.w3", r"\1.up_proj"),
        ),
        reshape=squeezed,
        variants=("default", "p1"),
    ),
    "minimax-m2": Case("minimax_m2", rename=((r"e_score_correction_bias$", "e_score_correction.bias"),)),
    "afmoe": Case("afmoe", rename=((r"expert_bias$", "expert_bias.bias"),)),
    "glm-dsa": Case(
        "glm_moe_dsa",
        lambda c: {
            **latent_keys(c),
            "attention.indexer.head_count": c["index_n_heads"],
            "attention.indexer.key_length": c["index_head_dim"],
        },
        ((r"e_score_correction_bias$", "e_score_correction.bias"),),
        reshape=split_kv_b,
        variants=("default", "p1"),
    ),
    "bert": Case("bert", lambda c: {"tokenizer.ggml.token_type_count": c["type_vocab_size"]}, **BERT),
    "eurobert": Case("eurobert", **BERT),
    "bitnet": Case(
        "bitnet",
        rename=((r"self_attn\.attn_sub_norm", "self_attn.inner_attn_ln"), (r"mlp\.ffn_sub_norm", "mlp.ffn_layernorm")),
        drop=r"lm_head",
    ),
    "jais2": Case("jais2"),
    "dbrx": Case(
        "dbrx",
        lambda c: {
            "feed_forward_length": c["ffn_config"]["ffn_hidden_size"],
            "attention.head_count_kv": c["attn_config"]["kv_n_heads"],
            "expert_count": c["ffn_config"]["moe_num_experts"],
            "expert_used_count": c["ffn_config"]["moe_top_k"],
        },
        reshape=dbrx,
    ),
    "exaone-moe": Case(
        "exaone_moe", rename=((r"e_score_correction_bias$", "e_score_correction.bias"),), variants=("default", "p1")
    ),
    "chameleon": Case("chameleon", cls="ForConditionalGeneration", drop=r"vqmodel"),
    "hunyuan_vl": Case(
        "hunyuan_vl_text", rename=((r"^layers", "model.layers"), (r"^(norm|embed)", r"model.\1")), cls="Model"
    ),
    "olmo2/olmo3": Case("olmo3"),
    "bert/roberta": Case(
        "roberta",
        lambda c: {"tokenizer.ggml.token_type_count": c["type_vocab_size"]},
        ((r"^roberta\.", ""),),
        drop=BERT["drop"],
        cls="Model",
        variants=("default", "p1"),
    ),
    "mimo2": Case(
        "mimo_v2_flash",
        lambda c: {
            "attention.value_length": c["v_head_dim"],
            "attention.sliding_window_pattern": [int(kind == "sliding_attention") for kind in c["layer_types"]],
            "attention.head_count_kv": [
                c["num_key_value_heads"] * (2 if kind == "sliding_attention" else 1) for kind in c["layer_types"]
            ],
        },
        ((r"e_score_correction_bias$", "e_score_correction.bias"), (r"self_attn\.sinks$", "self_attn.sinks.weight")),
        variants=("p1",),
    ),
    "kimi-linear": Case(
        "kimi_linear",
        lambda c: {
            **latent_keys(c),
            "attention.head_count_kv": [1 if is_attention(kind) else 0 for kind in c["layer_types"]],
            "kda.head_dim": c["linear_head_dim"],
            "ssm.conv_kernel": c["linear_conv_kernel_dim"],
            "leading_dense_block_count": c["mlp_layer_types"].count("dense"),
        },
        (
            *A_LOG,
            (r"e_score_correction_bias$", "e_score_correction.bias"),
            (r"block_sparse_moe\.(gate|up|down)_proj", r"mlp.\1_proj"),
            (r"(experts\.\d+)\.w1", r"\1.gate_proj"),
            (r"(experts\.\d+)\.w2", r"\1.down_proj"),
            (r"(experts\.\d+)\.w3", r"\1.up_proj"),
            (r"block_sparse_moe\.experts", "mlp.experts"),
        ),
        reshape=split_kv_b,
        variants=("default",),
    ),
    "gemma3n": Case(
        "gemma3n_text",
        lambda c: {
            "altup.num_inputs": c["altup_num_inputs"],
            "embedding_length_per_layer_input": c["hidden_size_per_layer_input"],
            "feed_forward_length": c["intermediate_size"],
        },
        (
            (r"correct_output_scale$", "correct_output_scale.weight"),
            (r"projections\.(\d)\.", r"projections.experts.\1."),
        ),
        reshape=padded,
        after=((r"projections\.experts\.weight$", "projections.weight"),),
        cls="Gemma3nForCausalLM",
        fields={
            **SMALL,
            "intermediate_size": [176] * 5,
            "layer_types": [*["sliding_attention"] * 4, "full_attention"],
            "activation_sparsity_pattern": [0.0] * 5,
            "num_kv_shared_layers": 0,
            "vocab_size_per_layer_input": 490,
            "hidden_size_per_layer_input": 40,
        },
    ),
    "t5": Case("t5", t5_keys, cls="T5ForConditionalGeneration", fields=T5),
    "t5/gated": Case(
        "t5",
        t5_keys,
        cls="T5ForConditionalGeneration",
        fields={**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
    "t5encoder": Case("t5", t5_keys, cls="T5EncoderModel", fields=T5),
    "modern-bert": Case(
        "modernbert",
        cls="ModernBertModel",
        fields={**ENCODER, "pad_token_id": 0},
    ),
    "nomic-bert": Case(
        "nomic_bert",
        lambda c: {"tokenizer.ggml.token_type_count": c["type_vocab_size"]},
        drop=r"pooler",
        cls="NomicBertModel",
        fields={**ENCODER, "type_vocab_size": 2},
    ),
    "nemotron_h": Case(
        "nemotron_h",
        nemotron_keys,
        A_LOG,
        reshape=mamba2,
        cls="NemotronHForCausalLM",
        fields={**NEMOTRON, "layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"]},
    ),
    "nemotron_h_moe": Case(
        "nemotron_h",
        nemotron_keys,
        (*A_LOG, (r"e_score_correction_bias$", "e_score_correction.bias")),
        reshape=mamba2,
        after=((r"^backbone\.layers\.(\d+)\.mixer\.experts", r"model.layers.\1.mlp.experts"),),
        cls="NemotronHForCausalLM",
        fields={**NEMOTRON, "layers_block_type": ["linear_attention", "moe", "full_attention", "moe"]},
    ),
    "mistral4": Case("mistral4", latent_keys, reshape=split_kv_b),
}


# --- conversion ------------------------------------------------------------------------------------

_EXPERT = re.compile(r"^(.*\.experts)\.(\d+)\.(.+)$")
_WHOLE_MAP = copy.deepcopy(gguf.TensorNameMap.block_mappings_cfg)


def name_map(architecture: str, layers: int) -> Any:
    """The package's map of names; made anew, for it changes its class."""
    gguf.TensorNameMap.block_mappings_cfg = copy.deepcopy(_WHOLE_MAP)
    return gguf.TensorNameMap(ARCH[architecture], layers)


def converted(architecture: str, case: Case, record: records.Record) -> tuple[dict[str, Any], Tensors, list[str]]:
    """Key-values, tensors, and names that the package's map does not know."""
    c = {**record.config_full, **record.config}
    if case.text:
        c = {**c, **c["text_config"]}
    keys = {key: first(c, names) for key, names in COMMON.items()} | dict(case.keys(c))
    keys = {key: value for key, value in keys.items() if value is not None}
    stacked: dict[str, list[tuple[int, ...]]] = {}
    plain: Tensors = {}
    for name, shape in record.shapes.items():
        if (name in record.buffers and not name.endswith(("_bias", "scalar"))) or re.search(case.drop, name):
            continue
        for pattern, replacement in case.rename:
            name = re.sub(pattern, replacement, name)
        match = _EXPERT.match(name)
        if match:
            stacked.setdefault(f"{match[1]}.{match[3]}", []).append(shape)
        else:
            plain.update(case.reshape(name, shape, c))
    plain.update({name: (len(shapes), *shapes[0]) for name, shapes in stacked.items()})
    for pattern, replacement in case.after:
        plain = {re.sub(pattern, replacement, name): shape for name, shape in plain.items()}
    names = name_map(architecture, keys["block_count"])
    tensors: Tensors = {}
    unknown = []
    for name, shape in plain.items():
        found = names.get_name(name, (".weight", ".bias"))
        if found is None:
            unknown.append(name)
        else:
            tensors[found] = shape
    return keys, tensors, unknown


def built(case: Case) -> records.Record:
    """A model of the case's own fields, built on the meta device."""
    import build
    from transformers import AutoConfig

    model = build.build_model(build.resolve_class(case.cls), AutoConfig.for_model(case.model_type, **case.fields))
    tensors, _ = build.saved_tensors(model)
    return records.Record(
        case.model_type,
        case.cls,
        "",
        "built",
        "",
        build.as_json(model.config, True),
        build.as_json(model.config, False),
        {},
        {},
        {name: tuple(shape) for name, (shape, _, _) in tensors.items()},
        frozenset(name for name, (_, _, kind) in tensors.items() if kind == "buffer"),
    )


def patterns(tensors: Tensors) -> list[list[Any]]:
    """[name, shape] or [name with {}, shape, layers], tensors of one shape together."""
    groups: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for name, shape in sorted(tensors.items()):
        layer = re.search(r"blk\.(\d+)\.", name)
        pattern = name.replace(layer[0], "blk.{}.") if layer else name
        groups.setdefault((pattern, shape), []).extend([int(layer[1])] if layer else [])
    return [[name, list(shape), *([sorted(layers)] if layers else [])] for (name, shape), layers in groups.items()]


def document(cases: Mapping[str, int]) -> str:
    """The table of architectures for people."""
    known = listed_gguf()
    kinds = json.loads(KINDS.read_text())
    lines = [
        "# GGUF architectures",
        "",
        "Written by `tools/zoo/gguf_cases.py`. *kinds*: tensor kinds that llama.cpp's gguf-py lists for the architecture;",
        "all have a role. *prediction*: whether a file's key-values predict its tensors. *cases*: models of Transformers,",
        "converted as llama.cpp would, whose every tensor the tests find predicted; – where none was converted",
        "and the layout is from llama.cpp's loader alone.",
        "",
        f"Of {len(known)} architectures, {sum(each.predicted for each in known)} are predicted, {len(cases)} of them tested "
        f"with {sum(cases.values())} models.",
        "",
        "| architecture | model type | kinds | prediction | cases |",
        "|---|---|---|---|---|",
    ]
    for each in known:
        predicted = "from key-values" if each.predicted else "names only"
        lines.append(
            f"| {each.architecture} | {each.model_type or '–'} | {len(kinds[each.architecture].split())} | {predicted} | {cases.get(each.architecture, '–')} |"
        )
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    lines = []
    for name, case in CASES.items():
        architecture = name.partition("/")[0]
        paths = [
            path
            for variant in case.variants
            for path in folder.glob(f"{case.model_type}__*{case.cls}__{variant}.json.gz")
        ]
        found = [built(case)] if case.fields else [records.read(path) for path in paths]
        if not found:
            print(f"{architecture}: no records of {case.model_type}")
        for record in found:
            try:
                keys, tensors, unknown = converted(architecture, case, record)
            except Exception as error:  # a configuration that has no such field
                print(f"{architecture} {record.variant}: {error!r}")
                continue
            if unknown:
                print(f"{architecture} {record.variant}: not mapped: {unknown[:4]} of {len(unknown)}")
                continue
            line = {"architecture": architecture, "from": f"{case.model_type} {record.variant}", "keys": keys}
            line["tokens"] = next((shape[0] for name, shape in tensors.items() if name == "token_embd.weight"), 0)
            line["tensors"] = patterns(tensors)
            lines.append(json.dumps(line, separators=(",", ":")))
    OUT.write_text("\n".join(lines) + "\n")
    DOC.write_text(document(Counter(json.loads(line)["architecture"] for line in lines)))
    print(f"{len(lines)} cases of {len({json.loads(line)['architecture'] for line in lines})} architectures")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
