"""Configurations in other words than Transformers': which keys they use, and what Transformers calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple


class Dialect(NamedTuple):
    """One way to write a configuration."""

    name: str  # for people
    kind: Literal["config.json", "params.json"]  # what results call it
    marks: frozenset[str]  # keys that tell it; all must be there
    keys: Mapping[str, str]  # its key → Transformers' field
    model_types: tuple[
        tuple[str, str], ...
    ]  # (condition over its keys, model_type), the first that fits, or else the last
    constants: Mapping[str, Any] = {}  # fields that it implies
    derived: Mapping[str, str] = {}  # fields it computes, as formulas over its own keys
    unknown: Mapping[str, Any] = {}  # value that stands for "see elsewhere"


#: What lists of layers' kinds called them before, in the fields of `LAYER_KINDS` → what they are called today.
OLD_KINDS: Mapping[str, str] = {
    "attention": "full_attention",
    "deepseek_sparse_attention": "indexed_attention",
    "mamba": "linear_attention",
    "qwen_sparse_attention": "indexed_attention",
}
LAYER_KINDS = ("layer_types", "layers_block_type")

DIALECTS: tuple[Dialect, ...] = (
    # Meta's params.json, and Mistral's, which adds hidden_dim and head_dim.
    # The width of the feed-forward: facebookresearch/llama, llama/model.py, FeedForward.__init__.
    Dialect(
        name="Meta's params.json",
        kind="params.json",
        marks=frozenset({"dim", "n_layers"}),
        keys={
            "dim": "hidden_size",
            "n_layers": "num_hidden_layers",
            "n_heads": "num_attention_heads",
            "n_kv_heads": "num_key_value_heads",
            "hidden_dim": "intermediate_size",
            "head_dim": "head_dim",
            "vocab_size": "vocab_size",
            "max_seq_len": "max_position_embeddings",
        },
        model_types=(("moe", "mixtral"), ("dim", "llama")),
        constants={"multiple_of": 256, "ffn_dim_multiplier": 1, "tie_word_embeddings": False},
        derived={
            "intermediate_size": "ceil_to(scaled(2 * 4 * dim // 3, ffn_dim_multiplier), multiple_of)",
            "num_local_experts": "moe.num_experts",
            "num_experts_per_tok": "moe.num_experts_per_tok",
        },
        unknown={"vocab_size": -1},
    ),
    # OpenAI's own configuration of gpt-oss, in `original/`.
    Dialect(
        name="OpenAI's gpt-oss configuration",
        kind="config.json",
        marks=frozenset({"experts_per_token", "num_experts", "swiglu_limit"}),
        keys={"num_experts": "num_local_experts", "experts_per_token": "num_experts_per_tok"},
        model_types=(("num_experts", "gpt_oss"),),
        constants={"tie_word_embeddings": False, "attention_bias": True},
    ),
    # The keys of S. Raschka's book "Build a Large Language Model (From Scratch)" and its Llama variations.
    Dialect(
        name="emb_dim configuration",
        kind="config.json",
        marks=frozenset({"emb_dim", "n_layers"}),
        keys={
            "emb_dim": "hidden_size",
            "n_layers": "num_hidden_layers",
            "n_heads": "num_attention_heads",
            "n_kv_groups": "num_key_value_heads",
            "hidden_dim": "intermediate_size",
            "head_dim": "head_dim",
            "vocab_size": "vocab_size",
            "context_length": "max_position_embeddings",
            "qkv_bias": "qkv_bias",
            "qk_norm": "qk_norm",
        },
        model_types=(("hidden_dim", "llama"), ("emb_dim", "gpt2")),
        constants={"tie_word_embeddings": False, "qkv_bias": False},
    ),
    # state-spaces/mamba, mamba_ssm/models/config_mamba.py: MambaConfig; the widths from modules/mamba_simple.py and
    # mamba2.py. Today's files name a Mamba-2 by `ssm_cfg`.
    Dialect(
        name="mamba_ssm's configuration",
        kind="config.json",
        marks=frozenset({"d_model", "n_layer", "ssm_cfg"}),
        keys={"d_model": "hidden_size", "n_layer": "num_hidden_layers", "tie_embeddings": "tie_word_embeddings"},
        model_types=(("ssm_cfg.layer == 'Mamba2'", "mamba2"), ("d_model", "mamba")),
        constants={"pad_vocab_size_multiple": 8, "tie_word_embeddings": True},
        derived={
            "vocab_size": "ceil_to(vocab_size, pad_vocab_size_multiple)",
            "expand": "ssm_cfg.expand or 2",
            "state_size": "ssm_cfg.d_state or (128 if ssm_cfg.layer == 'Mamba2' else 16)",
            "conv_kernel": "ssm_cfg.d_conv or 4",
            "time_step_rank": "ssm_cfg.dt_rank or 'auto'",
            "n_groups": "ssm_cfg.ngroups or 1",
            "num_heads": "(ssm_cfg.expand or 2) * d_model // (ssm_cfg.headdim or 64)",
        },
    ),
)
