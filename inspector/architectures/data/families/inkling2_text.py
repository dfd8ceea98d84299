"""Inkling 2's text model: a mixture whose attention is convolved over time, and which attends to its earlier layers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BODY = "model.llm."
LAYER = BODY + "layers.{layer<num_hidden_layers}."
ATTENTION, EARLIER = LAYER + "attn.", BODY + "attn_res."
SLIDING = "layer_types[layer] == 'hybrid_sliding'"
HYBRID = "layer_types[layer] != 'hybrid_sliding'"
QUERIES, KEYS = "heads * width", "key_heads * width"


def attention() -> Iterator[Row]:
    """Grouped queries with sinks, a gate, and logits of distances."""
    for role, word, shape in (
        ("q_proj", "wq_du", f"{QUERIES}, hidden_size"),
        ("k_proj", "wk_dv", f"{KEYS}, hidden_size"),
        ("v_proj", "wv_dv", f"{KEYS}, hidden_size"),
        ("o_proj", "wo_ud", f"hidden_size, {QUERIES}"),
        ("gate_attn", "gate_attn", f"{QUERIES}, hidden_size"),
        ("r_proj", "wr_du", "heads * d_rel, hidden_size"),
        ("sinks", "attn_sink_proj", "heads, hidden_size"),
    ):
        yield Row(role, ATTENTION + word, shape, group="attention")
    yield Row("q_clip", ATTENTION + "q_l2_clip.scale", "heads, width", leaf="", group="attention")
    yield Row("rel_clip", ATTENTION + "rel_l2_clip.scale", "heads, d_rel", leaf="", group="attention")
    extent = f"rel_extent if {HYBRID} else sliding_window_size"
    yield Row("rel_logits", ATTENTION + "rel_logits_proj.proj", f"d_rel, {extent}", leaf="", group="attention")


def convolutions() -> Iterator[Row]:
    """Over the last tokens; in the layers that see all, with weights that depend on the token."""
    for word in ("k", "v"):
        at, role = f"{ATTENTION}{word}_sconv", f"{word}_conv1d"
        yield Row(role, at, f"{KEYS}, 1, conv_kernel_size", when=SLIDING)
        yield Row(f"{role}_static", at + ".static_w", f"conv_kernel_size, {KEYS}", when=HYBRID, leaf="")
        shape = "key_heads * conv_kernel_size, hidden_size"
        yield Row(f"{role}_proj", at + ".weight_proj", shape, when=HYBRID, leaf="")
    for word in ("attn", "mlp"):
        shape = "hidden_size, 1, conv_kernel_size"
        yield Row(f"{word}_conv1d", f"{LAYER}{word}_sconv", shape, group="convolution")


def norms() -> Iterator[Row]:
    """One before attention, or, in the layers that see all, one each for queries, keys and values."""
    yield Row("input_layernorm", LAYER + "attn_norm", "hidden_size", when=SLIDING)
    for word in ("q", "k", "v"):
        yield Row(f"{word}_input_layernorm", f"{LAYER}{word}_input_norm", "hidden_size", when=HYBRID)
    yield Row("post_attention_layernorm", LAYER + "mlp_norm", "hidden_size")


def earlier() -> Iterator[Row]:
    """Queries with which a layer reads what earlier blocks of layers gave; the first layer has none of attention."""
    after = "layer_types[before + 1] != 'hybrid_sliding'"
    name = EARLIER + "attn_queries.{before<max(num_hidden_layers - 1, 0)}"
    yield Row("attn_queries", name, "3, hidden_size", when=after, leaf="", group="attention")
    yield Row("attn_queries", name, "hidden_size", when=f"not ({after})", leaf="", group="attention")
    each = EARLIER + "mlp_queries.{layer<num_hidden_layers}"
    yield Row("mlp_queries", each, "hidden_size", leaf="", group="feed_forward")
    yield Row("output_query", EARLIER + "output_query", "hidden_size", leaf="", group="other")


def mixture() -> Iterator[Row]:
    """All experts of a layer in one tensor, gates and ups of each fused; the router's bias is a buffer of its own."""
    yield Row("router_bias", LAYER + "mlp.gate.bias", "n_routed_experts", leaf="", buffer=True, persistent=True)
    yield Row("router", LAYER + "mlp.gate", "n_routed_experts, hidden_size")
    for role, word, shape in (
        ("gate_up_proj", "w13_weight", "2 * moe_intermediate_size, hidden_size"),
        ("down_proj", "w2_weight", "hidden_size, moe_intermediate_size"),
    ):
        yield Row(
            role,
            f"{LAYER}mlp.experts.{word}",
            f"n_routed_experts, {shape}",
            active="num_experts_per_tok",
            leaf="",
            stacked="n_routed_experts",
        )


FAMILY = Family(
    name="inkling2_text",
    types={"inkling2_text": {}},
    rows=(
        Row("embed_tokens", BODY + "embed", "vocab_size, hidden_size"),
        Row("embed_norm", BODY + "embed_norm", "hidden_size"),
        *norms(),
        *attention(),
        *convolutions(),
        *mixture(),
        *earlier(),
        Row("norm", BODY + "norm", "hidden_size"),
        Row("lm_head", BODY + "unembed", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix=BODY,
    defaults={
        "conv_kernel_size": 4,
        "d_rel": 16,
        "head_dim": 128,
        "hidden_size": 4608,
        "moe_intermediate_size": 2304,
        "n_routed_experts": 384,
        "num_attention_heads": 48,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "rel_extent": 1024,
        "sliding_window_size": 1024,
        "swa_head_dim": 128,
        "swa_num_attention_heads": 48,
        "swa_num_key_value_heads": 8,
        "vocab_size": 201024,
    },
    derived={
        "heads": f"num_attention_heads if {HYBRID} else swa_num_attention_heads",
        "key_heads": f"num_key_value_heads if {HYBRID} else swa_num_key_value_heads",
        "width": f"head_dim if {HYBRID} else swa_head_dim",
        "layer_types": "['hybrid_sliding' if (layer + 1) % 6 else 'hybrid' for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts", "intermediate_size": "moe_intermediate_size"},
)
