"""dots3.note's text model: DeepSeek's latent attention and indexer, with other sizes in the layers that slide."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import DENSE, EMBED_TOKENS, LAYER, NORMS, SPARSE, gated
from inspector.architectures.table import Family, Row

ATTENTION, EXPERT = LAYER + ".self_attn", LAYER + ".mlp.experts.{expert<n_routed_experts}"
SLIDING, INDEXED = "layer_types[layer] == 'sliding_attention'", "layer_types[layer] == 'indexed_attention'"
#: Fields that a layer that slides has of its own: in `per_layer_config`, or as `swa_…` for all of them.
OWN = {
    "kv_lora_rank": 1024,
    "num_attention_heads": 64,
    "q_lora_rank": 1024,
    "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}


def attention() -> Iterator[Row]:
    """Latent attention with a norm of what is rotated, and a gate for each head."""
    inner = "heads * (nope_dim + rope_dim)"
    for role, shape, bias in (
        ("q_a_proj", "q_rank, hidden_size", "attention_bias"),
        ("q_a_layernorm", "q_rank", ""),
        ("q_b_proj", f"{inner}, q_rank", ""),
        ("kv_a_proj_with_mqa", "kv_rank + rope_dim, hidden_size", "attention_bias"),
        ("kv_a_layernorm", "kv_rank", ""),
        ("k_rope_only_layernorm", "rope_dim", ""),
        ("kv_b_proj", "heads * (nope_dim + v_dim), kv_rank", ""),
        ("o_proj", "hidden_size, heads * v_dim", "attention_bias"),
    ):
        yield Row(role, f"{ATTENTION}.{role}", shape, bias=bias)
    yield Row("gate_attn", ATTENTION + ".g_proj", "heads, hidden_size")
    indexer = ATTENTION + ".indexer."
    yield Row("indexer_q_b_proj", indexer + "wq_b", "index_n_heads * index_head_dim, q_rank", when=INDEXED)
    yield Row("indexer_k_proj", indexer + "wk", "index_head_dim, hidden_size", when=INDEXED)
    yield Row("indexer_k_norm", indexer + "k_norm", "index_head_dim", bias="True", when=INDEXED)
    weights = indexer + "weights_proj"
    yield Row("indexer_weights_proj", weights, "index_n_heads, hidden_size", when=INDEXED, group="attention")


def here(name: str) -> str:
    """A field's value in a layer."""
    return f"swa_{name} if per_layer_config is None and {SLIDING} else {name}"


FAMILY = Family(
    name="dots3_note_text",
    types={"dots3_note_text": {}},
    rows=(
        EMBED_TOKENS,
        *attention(),
        *gated(LAYER + ".mlp", "intermediate_size", when=DENSE),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when=SPARSE),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
            "n_routed_experts",
            when=SPARSE,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        *gated(EXPERT, "moe_intermediate_size", when=SPARSE, active="num_experts_per_tok"),
        *gated(
            LAYER + ".mlp.shared_experts",
            "n_shared_experts * shared_experts_intermediate_size",
            when=SPARSE,
            prefix="shared_",
        ),
        *NORMS,
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 5120,
        "index_head_dim": 128,
        "index_n_heads": 64,
        "intermediate_size": 13824,
        "kv_lora_rank": 512,
        "moe_intermediate_size": 1536,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "norm_bias": False,
        "num_attention_heads": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 46,
        "per_layer_config": None,
        "q_lora_rank": 1024,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "shared_experts_intermediate_size": 1536,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 152064,
        **{f"swa_{name}": value for name, value in OWN.items()},
    },
    derived={
        "heads": here("num_attention_heads"),
        "kv_rank": here("kv_lora_rank"),
        "nope_dim": here("qk_nope_head_dim"),
        "q_rank": here("q_lora_rank"),
        "rope_dim": here("qk_rope_head_dim"),
        "v_dim": here("v_head_dim"),
        "layer_types": (
            "['indexed_attention' if layer % 4 == 1 or layer == 0 else 'sliding_attention'"
            " for layer in range(num_hidden_layers)]"
        ),
        "mlp_layer_types": "['sparse' if layer else 'dense' for layer in range(num_hidden_layers)]",
    },
    fields={  # the first is Transformers' common word, the second the published configuration's
        "num_local_experts": "n_routed_experts",
        "moe_shared_expert_intermediate_size": "shared_experts_intermediate_size",
    },
)
