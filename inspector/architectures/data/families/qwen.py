"""Qwen, the first: GPT-2's names, a gated feed-forward; Qwen-VL with a vision tower inside the text model.

The code came with the checkpoints (`modeling_qwen.py`, `visual.py`), and is not in Transformers.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<num_hidden_layers}"
VISUAL = "transformer.visual"
BLOCK = VISUAL + ".transformer.resblocks.{layer<visual.layers}"
POOL = VISUAL + ".attn_pool"
PROJECTION = "kv_channels * num_attention_heads"
WIDTH, OUT, MLP = "visual.width", "visual.output_dim", "scaled(visual.width, visual.mlp_ratio)"


def vision(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", tower: str = "vision") -> Row:
    """A row of the vision tower, there in Qwen-VL alone."""
    return Row(role, name, shape, bias=bias, when="visual", leaf=leaf, tower=tower)


#: The vision transformer, after OpenCLIP's ViT-bigG.
TOWER = (
    vision("embed_patches", VISUAL + ".conv1", f"{WIDTH}, 3, visual.patch_size, visual.patch_size"),
    vision("embed_positions", VISUAL + ".positional_embedding", f"256, {WIDTH}", leaf=""),
    vision("embed_norm", VISUAL + ".ln_pre", WIDTH, bias="True"),
    vision("input_layernorm", BLOCK + ".ln_1", WIDTH, bias="True"),
    vision("qkv_proj", BLOCK + ".attn.in_proj", f"3 * {WIDTH}, {WIDTH}", bias="True"),
    vision("o_proj", BLOCK + ".attn.out_proj", f"{WIDTH}, {WIDTH}", bias="True"),
    vision("post_attention_layernorm", BLOCK + ".ln_2", WIDTH, bias="True"),
    vision("up_proj", BLOCK + ".mlp.c_fc", f"{MLP}, {WIDTH}", bias="True"),
    vision("down_proj", BLOCK + ".mlp.c_proj", f"{WIDTH}, {MLP}", bias="True"),
)

#: 256 learned queries that attend to the tower's output.
POOLING = (
    vision("embed_queries", POOL + ".query", f"256, {OUT}", leaf="", tower="projector"),
    vision("embed_positions", POOL + ".pos_embed", f"256, {OUT}", leaf="", tower="projector"),
    vision("kv_proj", POOL + ".kv_proj", f"{OUT}, {WIDTH}", tower="projector"),
    vision("qkv_proj", POOL + ".attn.in_proj_weight", f"3 * {OUT}, {OUT}", leaf="", tower="projector"),
    vision("qkv_proj", POOL + ".attn.in_proj_bias", f"3 * {OUT}", leaf="", tower="projector"),
    vision("o_proj", POOL + ".attn.out_proj", f"{OUT}, {OUT}", bias="True", tower="projector"),
    vision("q_norm", POOL + ".ln_q", OUT, bias="True", tower="projector"),
    vision("k_norm", POOL + ".ln_kv", OUT, bias="True", tower="projector"),
    vision("norm", VISUAL + ".ln_post", OUT, bias="True", tower="projector"),
    vision("embed_projection", VISUAL + ".proj", f"{OUT}, {OUT}", leaf="", tower="projector"),
)

FAMILY = Family(
    name="qwen",
    types={"qwen": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".ln_1", "hidden_size"),
        Row("qkv_proj", LAYER + ".attn.c_attn", f"3 * {PROJECTION}, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attn.c_proj", f"hidden_size, {PROJECTION}", bias="not no_bias"),
        Row("post_attention_layernorm", LAYER + ".ln_2", "hidden_size"),
        Row("up_proj", LAYER + ".mlp.w1", "intermediate_size // 2, hidden_size", bias="not no_bias"),
        Row("gate_proj", LAYER + ".mlp.w2", "intermediate_size // 2, hidden_size", bias="not no_bias"),
        Row("down_proj", LAYER + ".mlp.c_proj", "hidden_size, intermediate_size // 2", bias="not no_bias"),
        Row("norm", "transformer.ln_f", "hidden_size"),
        *TOWER,
        *POOLING,
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="LMHeadModel", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    head="LMHeadModel",
    defaults={"tie_word_embeddings": False, "no_bias": True, "kv_channels": 128, "visual": None},
)
