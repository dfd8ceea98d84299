"""Molmo: a text model in OLMo's words, and CLIP's vision tower, whose sizes the code fixes.

The code comes with the checkpoints (`modeling_molmo.py`), and is not in Transformers.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.transformer.blocks.{layer<num_hidden_layers}"
VISION = "model.vision_backbone"
VIT = VISION + ".image_vit"
BLOCK = VIT + ".transformer.resblocks.{layer<image_num_layers}"
POOL = VISION + ".image_pooling_2d"
WIDTH, PAIR = "image_emb_dim", "2 * image_emb_dim"
HALF = "intermediate_size // 2"


def vision(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight") -> Row:
    return Row(role, name, shape, bias=bias, leaf=leaf, tower="vision")


def projector(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight") -> Row:
    return Row(role, name, shape, bias=bias, leaf=leaf, tower="projector")


FAMILY = Family(
    name="molmo",
    types={"molmo": {}},
    rows=(
        Row("embed_tokens", "model.transformer.wte.embedding", "embedding_size, hidden_size", leaf=""),
        Row("embed_more_tokens", "model.transformer.wte.new_embedding", "additional_vocab_size, hidden_size", leaf=""),
        Row("input_layernorm", LAYER + ".attn_norm", "hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".att_proj",
            "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row("o_proj", LAYER + ".attn_out", "hidden_size, num_attention_heads * head_dim"),
        Row("q_norm", LAYER + ".q_norm", "num_attention_heads * head_dim", when="attention_layer_norm"),
        Row("k_norm", LAYER + ".k_norm", "num_key_value_heads * head_dim", when="attention_layer_norm"),
        Row("post_attention_layernorm", LAYER + ".ff_norm", "hidden_size"),
        Row("gate_up_proj", LAYER + ".ff_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".ff_out", f"hidden_size, {HALF}"),
        Row("norm", "model.transformer.ln_f", "hidden_size"),
        Row("lm_head", "model.transformer.ff_out", "embedding_size, hidden_size", tied="weight_tying"),
        vision("embed_patches", VIT + ".patch_embedding", f"{WIDTH}, 3 * image_patch_size * image_patch_size"),
        vision("embed_class", VIT + ".class_embedding", WIDTH, leaf=""),
        vision("embed_positions", VIT + ".positional_embedding", f"image_num_pos, {WIDTH}", leaf=""),
        vision("embed_norm", VIT + ".pre_ln", WIDTH, bias="True"),
        vision("input_layernorm", BLOCK + ".attention_norm", WIDTH, bias="True"),
        vision("q_proj", BLOCK + ".attention.wq", f"{WIDTH}, {WIDTH}", bias="True"),
        vision("k_proj", BLOCK + ".attention.wk", f"{WIDTH}, {WIDTH}", bias="True"),
        vision("v_proj", BLOCK + ".attention.wv", f"{WIDTH}, {WIDTH}", bias="True"),
        vision("o_proj", BLOCK + ".attention.wo", f"{WIDTH}, {WIDTH}", bias="True"),
        vision("post_attention_layernorm", BLOCK + ".ffn_norm", WIDTH, bias="True"),
        vision("up_proj", BLOCK + ".feed_forward.w1", f"image_mlp_dim, {WIDTH}", bias="True"),
        vision("down_proj", BLOCK + ".feed_forward.w2", f"{WIDTH}, image_mlp_dim", bias="True"),
        projector("embed_padding", VISION + ".pad_embed", f"2, {PAIR}", leaf=""),
        projector("q_proj", POOL + ".wq", f"{WIDTH}, {PAIR}", bias="True"),
        projector("k_proj", POOL + ".wk", f"{WIDTH}, {PAIR}", bias="True"),
        projector("v_proj", POOL + ".wv", f"{WIDTH}, {PAIR}", bias="True"),
        projector("o_proj", POOL + ".wo", f"{WIDTH}, {WIDTH}", bias="True"),
        projector("gate_proj", VISION + ".image_projector.w1", f"{HALF}, {WIDTH}"),
        projector("down_proj", VISION + ".image_projector.w2", f"hidden_size, {HALF}"),
        projector("up_proj", VISION + ".image_projector.w3", f"{HALF}, {WIDTH}"),
    ),
    defaults={
        "weight_tying": False,
        "qkv_bias": True,
        "attention_layer_norm": False,
        "additional_vocab_size": 128,
        "image_emb_dim": 1024,
        "image_mlp_dim": 4096,
        "image_num_layers": 23,
        "image_num_pos": 577,
        "image_patch_size": 14,
    },
    derived={
        "embedding_size": "vocab_size",
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
    },
)
