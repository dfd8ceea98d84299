"""Mistral Large 4's text model: latent attention with an indexer, a mixture of experts after a few dense layers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import DENSE, SPARSE
from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}."
ATTENTION = LAYER + "attention."
INDEXER = ATTENTION + "indexer."

#: What the text model's own class calls the linear layers, and what classes with a vision tower do.
OWN = {"o_proj": "o_proj", "gate_proj": "gate_proj", "up_proj": "up_proj", "down_proj": "down_proj"}
PUBLISHED = {"o_proj": "wo", "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}

#: A layer without rotary positions has more of the other kind instead: modeling_mistral_large4.py.
HAS_ROPE = "no_rope_layers[layer]"
OWN_CACHE = "kv_source_layers[layer] == layer"
OWN_INDEXER = "indexer_types[layer] == 'full'"


def scaling(at: str, before: str, heads: str, when: str = "") -> Iterator[Row]:
    """A factor and an offset for each head's softmax."""
    for role, word in (("softmax_scale", "s"), ("softmax_offset", "b")):
        yield Row(before + role, f"{at}ssmax_scaling.{word}", heads, when=when, leaf="", group="attention")


def gated(at: str, width: str, words: dict[str, str], heads: str, when: str, before: str = "") -> Iterator[Row]:
    for role in ("gate_proj", "up_proj", "down_proj"):
        shape = f"hidden_size, {width}" if role == "down_proj" else f"{width}, hidden_size"
        yield Row(before + role, at + words[role], shape, when=when, heads=heads)


def linear(words: dict[str, str], heads: str) -> Iterator[Row]:
    """The layers whose names go by the class."""
    yield Row(
        "o_proj",
        ATTENTION + words["o_proj"],
        "hidden_size, num_attention_heads * v_head_dim",
        bias="attention_bias",
        heads=heads,
    )
    yield from gated(LAYER + "feed_forward.", "intermediate_size", words, heads, DENSE)
    yield from gated(
        LAYER + "shared_experts.", "n_shared_experts * moe_intermediate_size", words, heads, SPARSE, "shared_"
    )


FAMILY = Family(
    name="mistral_large4_text",
    types={"mistral_large4_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size", heads="Model Nested"),
        Row("embed_tokens", "tok_embeddings", "vocab_size, hidden_size", heads="Published"),
        Row("input_layernorm", LAYER + "attention_norm", "hidden_size"),
        Row("q_proj", ATTENTION + "wq", "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim), hidden_size"),
        Row(
            "kv_a_proj_with_mqa",
            ATTENTION + "wkv_a_with_mqa",
            f"kv_lora_rank + (qk_rope_head_dim if {HAS_ROPE} else 0), hidden_size",
            bias="attention_bias",
            when=OWN_CACHE,
        ),
        Row("kv_a_layernorm", ATTENTION + "kv_a_norm", "kv_lora_rank", when=OWN_CACHE),
        Row(
            "kv_b_proj",
            ATTENTION + "wkv_b",
            "num_attention_heads * (qk_nope_head_dim"
            f" + (0 if {HAS_ROPE} else qk_rope_head_dim) + v_head_dim), kv_lora_rank",
        ),
        *scaling(ATTENTION, "", "num_attention_heads"),
        Row("indexer_q_norm", INDEXER + "q_input_norm", "hidden_size", bias="True", when=OWN_INDEXER),
        Row("indexer_q_b_proj", INDEXER + "wq_b", "index_n_heads * index_head_dim, hidden_size", when=OWN_INDEXER),
        Row("indexer_k_proj", INDEXER + "wk", "index_head_dim, hidden_size", when=OWN_INDEXER),
        Row("indexer_k_norm", INDEXER + "k_norm", "index_head_dim", bias="True", when=OWN_INDEXER),
        Row(
            "indexer_weights_proj",
            INDEXER + "weights_proj",
            "index_n_heads, hidden_size",
            when=OWN_INDEXER,
            group="attention",
        ),
        *scaling(INDEXER, "indexer_", "index_n_heads", OWN_INDEXER),
        *linear(OWN, "Model"),
        *linear(PUBLISHED, "Nested Published"),
        Row("post_attention_layernorm", LAYER + "ffn_norm", "hidden_size"),
        Row("router", LAYER + "gate", "n_routed_experts, hidden_size", when=SPARSE),
        *(
            row._replace(active="num_experts_per_tok")
            for row in gated(
                LAYER + "experts.{expert<n_routed_experts}.", "moe_intermediate_size", PUBLISHED, "", SPARSE
            )
        ),
        Row("norm", "norm", "hidden_size"),
        *(
            Row(
                "rope_scale",
                name,
                "qk_rope_head_dim // 2",
                heads=heads,
                leaf="",
                buffer=True,
                persistent=True,
            )
            for name, heads in (("rotary_emb.alpha", "Model Nested"), ("lerope.alpha", "Published"))
        ),
        Row("lm_head", "output", "vocab_size, hidden_size", heads="Published", tied="tie_word_embeddings"),
    ),
    defaults={
        "attention_bias": False,
        "first_k_dense_replace": 1,
        "hidden_size": 6144,
        "index_head_dim": 128,
        "index_n_heads": 32,
        "intermediate_size": 24576,
        "kv_lora_rank": 512,
        "moe_intermediate_size": 6144,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "no_rope_layer_interval": 4,
        "num_attention_heads": 64,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 72,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 64,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 204800,
    },
    derived={
        "mlp_layer_types": (
            "['dense' if layer < first_k_dense_replace else 'sparse' for layer in range(num_hidden_layers)]"
        ),
        "no_rope_layers": "[(layer + 1) % no_rope_layer_interval for layer in range(num_hidden_layers)]",
        "kv_source_layers": "[layer for layer in range(num_hidden_layers)]",
        "indexer_types": "['full' for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts", "num_experts": "n_routed_experts"},
    head="Model",
)
