"""Inkling's text model: a mixture whose attention is convolved over time, its layers sliding but for each sixth."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import DENSE, LAYER, SPARSE
from inspector.architectures.table import Family, Row

#: The class suffix as which the whole model reads its text model, whose layers have the published names there.
INSIDE = "Inside"
OWN = "Model ForCausalLM"
SLIDING = "layer_types[layer] == 'hybrid_sliding'"
QUERIES, KEYS = "heads * width", "key_heads * width"


def both(role: str, own: str, published: str, shape: str, *, leaf: str = "weight", group: str = "") -> Iterator[Row]:
    """A row under the name that the model alone gives it, and under the published one."""
    for heads, name in ((OWN, own), (INSIDE, published)):
        yield Row(role, f"{LAYER}.{name}", shape, heads=heads, leaf=leaf, group=group)


def attention() -> Iterator[Row]:
    """Grouped queries with norms, logits of distances, and convolutions of keys and values."""
    for role, word, shape in (
        ("q_proj", "wq_du", f"{QUERIES}, hidden_size"),
        ("k_proj", "wk_dv", f"{KEYS}, hidden_size"),
        ("v_proj", "wv_dv", f"{KEYS}, hidden_size"),
        ("r_proj", "wr_du", "heads * d_rel, hidden_size"),
        ("o_proj", "wo_ud", f"hidden_size, {QUERIES}"),
    ):
        yield from both(role, f"self_attn.{role}", f"attn.{word}", shape, group="attention")
    for role in ("q_norm", "k_norm"):
        yield from both(role, f"self_attn.{role}", f"attn.{role}", "width")
    for word in ("k", "v"):
        own, published = f"self_attn.{word}_sconv.conv1d", f"attn.{word}_sconv"
        yield from both(f"{word}_conv1d", own, published, f"{KEYS}, 1, conv_kernel_size", group="convolution")
    shape, name = f"d_rel, sliding_window_size if {SLIDING} else rel_extent", "rel_logits_proj.proj"
    yield from both("rel_logits", f"self_attn.{name}", f"attn.{name}", shape, leaf="", group="attention")


def feed_forward() -> Iterator[Row]:
    """One in the first layers of some; in the others a mixture, all experts of a layer in one tensor."""
    inner = "expert_width"
    for role, name, shape, heads in (
        ("gate_proj", "gate_proj", "dense_width, hidden_size", OWN),
        ("up_proj", "up_proj", "dense_width, hidden_size", OWN),
        ("down_proj", "down_proj", "hidden_size, dense_width", OWN),
        ("gate_up_proj", "w13_dn", "2 * dense_width, hidden_size", INSIDE),
        ("down_proj", "w2_md", "hidden_size, dense_width", INSIDE),
    ):
        yield Row(role, f"{LAYER}.mlp.{name}", shape, when=DENSE, heads=heads)
    yield Row("mlp_scale", LAYER + ".mlp.global_scale", "1", when=DENSE, leaf="", group="feed_forward")
    for heads, name in ((OWN, "e_score_correction_bias"), (INSIDE, "bias")):
        yield Row(
            "router_bias",
            f"{LAYER}.mlp.gate.{name}",
            "n_routed_experts",
            when=SPARSE,
            heads=heads,
            leaf="",
            buffer=True,
            persistent=True,
        )
    yield Row("router", LAYER + ".mlp.gate", "n_routed_experts + n_shared_experts, hidden_size", when=SPARSE)
    yield Row("router_scale", LAYER + ".mlp.gate.global_scale", "1", when=SPARSE, leaf="")
    for role, own, published, shape in (
        ("gate_up_proj", "gate_up_proj", "w13_weight", f"2 * {inner}, hidden_size"),
        ("down_proj", "down_proj", "w2_weight", f"hidden_size, {inner}"),
    ):
        for heads, name in ((OWN, own), (INSIDE, published)):
            yield Row(
                role,
                f"{LAYER}.mlp.experts.{name}",
                f"n_routed_experts, {shape}",
                when=SPARSE,
                heads=heads,
                active="num_experts_per_tok",
                leaf="",
                stacked="n_routed_experts",
            )
    for role, name, shape, heads in (
        ("shared_gate_proj", "gate_proj", f"{inner}, hidden_size", OWN),
        ("shared_up_proj", "up_proj", f"{inner}, hidden_size", OWN),
        ("shared_down_proj", "down_proj", f"hidden_size, {inner}", OWN),
        ("shared_gate_up_proj", "shared_w13_weight", f"2 * {inner}, hidden_size", INSIDE),
        ("shared_down_proj", "shared_w2_weight", f"hidden_size, {inner}", INSIDE),
    ):
        at = f"{LAYER}.mlp.shared_experts.{name}"
        yield Row(role, at, f"n_shared_experts, {shape}", when=SPARSE, heads=heads, leaf="")


FAMILY = Family(
    name="inkling_text",
    types={"inkling_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("embed_norm", "model.embed_tokens.embed_norm", "hidden_size"),
        *both("input_layernorm", "input_layernorm", "attn_norm", "hidden_size"),
        *attention(),
        *both(
            "attn_conv1d", "attn_sconv.conv1d", "attn_sconv", "hidden_size, 1, conv_kernel_size", group="convolution"
        ),
        *both("post_attention_layernorm", "post_attention_layernorm", "mlp_norm", "hidden_size"),
        *feed_forward(),
        *both("mlp_conv1d", "mlp_sconv.conv1d", "mlp_sconv", "hidden_size, 1, conv_kernel_size", group="convolution"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="model.",
    defaults={
        "conv_kernel_size": 4,
        "d_rel": 16,
        "dense_intermediate_size": None,
        "dense_mlp_idx": 0,
        "head_dim": 128,
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "local_layer_ids": None,
        "moe_intermediate_size": 3072,
        "n_routed_experts": 256,
        "n_shared_experts": 2,
        "num_attention_heads": 64,
        "num_experts_per_tok": 6,
        "num_hidden_layers": 66,
        "num_key_value_heads": 8,
        "rel_extent": 1024,
        "sliding_window_size": 512,
        "swa_head_dim": 128,
        "swa_num_attention_heads": 64,
        "swa_num_key_value_heads": 16,
        "vocab_size": 201024,
    },
    derived={
        "heads": f"swa_num_attention_heads if {SLIDING} else num_attention_heads",
        "key_heads": f"swa_num_key_value_heads if {SLIDING} else num_key_value_heads",
        "width": f"swa_head_dim if {SLIDING} else head_dim",
        "layer_types": (
            "['hybrid_sliding' if (layer in local_layer_ids if local_layer_ids is not None else (layer + 1) % 6)"
            " else 'hybrid' for layer in range(num_hidden_layers)]"
        ),
        # The published configuration has the experts' width where Transformers' own has the others'.
        "dense_width": "dense_intermediate_size or intermediate_size",
        "expert_width": "moe_intermediate_size if dense_intermediate_size is None else intermediate_size",
        "mlp_layer_types": "['dense' if layer < dense_mlp_idx else 'sparse' for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts"},
)
