"""DeepSeek-OCR 2 as it was published, with code of its own: DeepSeek's mixture behind SAM and a small Qwen2.

The towers' sizes are those of the code (`deepencoderv2.py`); the configuration repeats only some of them.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

SAM = "model.sam_model"
BLOCK = SAM + ".blocks.{layer<12}"
QWEN = "model.qwen2_model"
WIDTH, SIDE, HEAD = "768", "64", "64"


def sam(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "") -> Row:
    return Row(role, name, shape, bias=bias, leaf=leaf, group=group, tower="vision")


def encoder(role: str, name: str, shape: str, *, bias: str = "") -> Row:
    """A row of Qwen2-0.5B, which reads SAM's output between learned queries."""
    return Row(role, f"{QWEN}.model.model.layers.{{layer<24}}.{name}", shape, bias=bias, tower="encoder")


REACH = "127 if layer in (2, 5, 8, 11) else 27"

FAMILY = Family(
    name="deepseek_ocr2_original",
    types={"deepseek_ocr2_original": {}},
    rows=(
        Include("language_config", "model.", strip="model.", head="Model", default_type="deepseek"),
        sam("embed_patches", SAM + ".patch_embed.proj", f"{WIDTH}, 3, 16, 16", bias="True"),
        sam("embed_positions", SAM + ".pos_embed", f"1, {SIDE}, {SIDE}, {WIDTH}", leaf=""),
        sam("input_layernorm", BLOCK + ".norm1", WIDTH, bias="True"),
        sam("qkv_proj", BLOCK + ".attn.qkv", f"3 * {WIDTH}, {WIDTH}", bias="True"),
        sam("o_proj", BLOCK + ".attn.proj", f"{WIDTH}, {WIDTH}", bias="True"),
        sam("rel_pos_h", BLOCK + ".attn.rel_pos_h", f"{REACH}, {HEAD}", leaf="", group="attention"),
        sam("rel_pos_w", BLOCK + ".attn.rel_pos_w", f"{REACH}, {HEAD}", leaf="", group="attention"),
        sam("post_attention_layernorm", BLOCK + ".norm2", WIDTH, bias="True"),
        sam("up_proj", BLOCK + ".mlp.lin1", f"4 * {WIDTH}, {WIDTH}", bias="True"),
        sam("down_proj", BLOCK + ".mlp.lin2", f"{WIDTH}, 4 * {WIDTH}", bias="True"),
        sam("neck_conv1", SAM + ".neck.0", f"256, {WIDTH}, 1, 1"),
        sam("neck_norm1", SAM + ".neck.1", "256", bias="True"),
        sam("neck_conv2", SAM + ".neck.2", "256, 256, 3, 3"),
        sam("neck_norm2", SAM + ".neck.3", "256", bias="True"),
        sam("downsample_conv1", SAM + ".net_2", "512, 256, 3, 3"),
        sam("downsample_conv2", SAM + ".net_3", "896, 512, 3, 3"),
        encoder("input_layernorm", "input_layernorm", "896"),
        encoder("q_proj", "self_attn.q_proj", "896, 896", bias="True"),
        encoder("k_proj", "self_attn.k_proj", "128, 896", bias="True"),
        encoder("v_proj", "self_attn.v_proj", "128, 896", bias="True"),
        encoder("o_proj", "self_attn.o_proj", "896, 896"),
        encoder("post_attention_layernorm", "post_attention_layernorm", "896"),
        encoder("gate_proj", "mlp.gate_proj", "4864, 896"),
        encoder("up_proj", "mlp.up_proj", "4864, 896"),
        encoder("down_proj", "mlp.down_proj", "896, 4864"),
        Row("norm", QWEN + ".model.model.norm", "896", tower="encoder"),
        Row("embed_queries_768", QWEN + ".query_768", "144, 896", tower="encoder"),
        Row("embed_queries_1024", QWEN + ".query_1024", "256, 896", tower="encoder"),
        Row(
            "projector",
            "model.projector.layers",
            "projector_config.n_embed, projector_config.input_dim",
            bias="True",
            tower="projector",
        ),
        Row("view_seperator", "model.view_seperator", "projector_config.n_embed", leaf="", tower="projector"),
        Row("lm_head", "lm_head", "language_config.vocab_size, language_config.hidden_size", heads="ForCausalLM"),
    ),
    defaults={
        "language_config": {},
        "projector_config": {"input_dim": 896, "n_embed": 1280},
    },
)
