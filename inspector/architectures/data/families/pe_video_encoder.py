"""Perception Encoder's video tower: timm's image tower on each frame, and a transformer over them.

timm/models/eva.py: the configuration only names the image tower, so its sizes stand here.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
TIMM = "embedder.vision_model.timm_model."
KEYS = "num_key_value_heads"
WIDTH, PATCH, IMAGE = 1024, 14, 336


def vision(role: str, name: str, shape: str, bias: str = "True", leaf: str = "weight", group: str = "") -> Row:
    return Row(f"vision_{role}", TIMM + name, shape, bias=bias, leaf=leaf, group=group)


def feed_forward(role: str, name: str) -> Iterator[Row]:
    yield vision(f"{role}up_proj", f"{name}.fc1", f"{4 * WIDTH}, {WIDTH}", group="feed_forward")
    yield vision(f"{role}down_proj", f"{name}.fc2", f"{WIDTH}, {4 * WIDTH}", group="feed_forward")


def image_tower() -> Iterator[Row]:
    """The image tower, whose places a query of its own sums up, and the head that scores them."""
    yield vision("embed_class", "cls_token", f"1, 1, {WIDTH}", "", "", "embedding")
    yield vision("embed_positions", "pos_embed", f"1, {(IMAGE // PATCH) ** 2 + 1}, {WIDTH}", "", "", "embedding")
    yield vision("embed_patches", "patch_embed.proj", f"{WIDTH}, 3, {PATCH}, {PATCH}", "", group="embedding")
    yield vision("embed_norm", "norm_pre", str(WIDTH), group="norm")
    block = "blocks.{layer<vision_layers}."
    yield vision("input_layernorm", block + "norm1", str(WIDTH))
    yield vision("qkv_proj", block + "attn.qkv", f"{3 * WIDTH}, {WIDTH}", group="attention")
    yield vision("o_proj", block + "attn.proj", f"{WIDTH}, {WIDTH}", group="attention")
    yield vision("post_attention_layernorm", block + "norm2", str(WIDTH))
    yield from feed_forward("", block + "mlp")
    yield vision("norm", "norm", str(WIDTH))
    yield vision("pool_latent", "attn_pool.latent", f"1, 1, {WIDTH}", "", "", "embedding")
    yield vision("pool_q_proj", "attn_pool.q", f"{WIDTH}, {WIDTH}", group="attention")
    yield vision("pool_kv_proj", "attn_pool.kv", f"{2 * WIDTH}, {WIDTH}", group="attention")
    yield vision("pool_o_proj", "attn_pool.proj", f"{WIDTH}, {WIDTH}", group="attention")
    yield vision("pool_norm", "attn_pool.norm", str(WIDTH))
    yield from feed_forward("pool_", "attn_pool.mlp")
    yield vision("head", "head", f"vision_labels, {WIDTH}", group="head")


def transformer() -> Iterator[Row]:
    """What all of Perception Encoder's towers end in: convolutions over neighbours, then layers of attention."""
    yield Row("embed_class", "patch_embedder.class_embedding", "1, 1, hidden_size", leaf="")
    for word in ("block1", "block2"):
        at = f"patch_embedder.resnet_block.{word}."
        yield Row(f"{word}_groupnorm", at + "groupnorm", "hidden_size", bias="True")
        shape = "hidden_size, hidden_size, 3"
        yield Row(f"{word}_project", at + "project", shape, bias="True", group="embedding")
    yield Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size")
    for role, heads in (("q_proj", "num_attention_heads"), ("k_proj", KEYS), ("v_proj", KEYS)):
        yield Row(role, f"{LAYER}.self_attn.{role}", f"{heads} * head_dim, hidden_size", bias="attention_bias")
    shape = "hidden_size, num_attention_heads * head_dim"
    yield Row("o_proj", LAYER + ".self_attn.o_proj", shape, bias="attention_bias")
    yield Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim")
    yield Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim")
    yield Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size")
    yield Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size")
    yield Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size")
    yield Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size")
    yield Row("norm", "norm", "hidden_size")
    yield Row("lm_head", "output", "hidden_size, hidden_size")


DEFAULTS = {
    "attention_bias": False,
    "head_dim": 128,
    "hidden_size": 1792,
    "intermediate_size": 4800,
    "num_attention_heads": 14,
    "num_hidden_layers": 6,
}

FAMILY = Family(
    name="pe_video_encoder",
    types={"pe_video_encoder": {}},
    rows=(
        *image_tower(),
        Row("proj", "embedder.proj", "hidden_size, vision_labels", group="embedding"),
        Row("data_proj", "embedder.data_proj", "hidden_size, hidden_size", bias="True", group="embedding"),
        *transformer(),
    ),
    classes={"PeVideoEncoder": "PeVideoEncoder"},
    defaults={**DEFAULTS, "vision_config": {"architecture": "vit_pe_core_large_patch14_336"}},
    derived={
        "num_key_value_heads": "num_attention_heads",
        "vision_labels": "len(vision_config.label_names) if vision_config.label_names else 2",
        "vision_layers": "24 if vision_config.architecture == 'vit_pe_core_large_patch14_336'"
        " else layers_of_this_timm_architecture",
    },
    head="PeVideoEncoder",
)
