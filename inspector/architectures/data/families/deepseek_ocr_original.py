"""DeepSeek-OCR and Unlimited-OCR as they were published, with code of their own: DeepSeek's mixture behind SAM and
CLIP's ViT-L/14.

The towers' sizes are those of the code (`deepencoder.py`); the configuration repeats only some of them.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

SAM = "model.sam_model"
BLOCK = SAM + ".blocks.{layer<12}"
WIDTH, SIDE, HEAD = "768", "64", "64"
REACH = "127 if layer in (2, 5, 8, 11) else 27"
CLIP = "model.vision_model"
CLIP_LAYER = CLIP + ".transformer.layers.{layer<24}"


def sam(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "") -> Row:
    return Row(role, name, shape, bias=bias, leaf=leaf, group=group, tower="vision")


def sam_tower(width: str) -> tuple[Row, ...]:
    """SAM's base encoder, its last convolution as wide as what reads it."""
    return (
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
        sam("downsample_conv2", SAM + ".net_3", f"{width}, 512, 3, 3"),
    )


def clip(role: str, name: str, shape: str, *, bias: str = "True", leaf: str = "weight") -> Row:
    return Row(role, name, shape, bias=bias, leaf=leaf, tower="encoder")


FAMILY = Family(
    name="deepseek_ocr_original",
    types={"deepseek_ocr_original": {}, "unlimited-ocr": {}},
    rows=(
        Include("language_config", "model.", strip="model.", head="Model", default_type="deepseek"),
        *sam_tower("1024"),
        clip("cls_token", CLIP + ".embeddings.class_embedding", "1024", bias="", leaf=""),
        clip("embed_patches", CLIP + ".embeddings.patch_embedding", "1024, 3, 14, 14", bias=""),
        clip("position_embedding", CLIP + ".embeddings.position_embedding", "257, 1024", bias=""),
        clip("embed_norm", CLIP + ".pre_layrnorm", "1024"),
        clip("input_layernorm", CLIP_LAYER + ".layer_norm1", "1024"),
        clip("qkv_proj", CLIP_LAYER + ".self_attn.qkv_proj", "3072, 1024"),
        clip("o_proj", CLIP_LAYER + ".self_attn.out_proj", "1024, 1024"),
        clip("post_attention_layernorm", CLIP_LAYER + ".layer_norm2", "1024"),
        clip("up_proj", CLIP_LAYER + ".mlp.fc1", "4096, 1024"),
        clip("down_proj", CLIP_LAYER + ".mlp.fc2", "1024, 4096"),
        Row(
            "projector",
            "model.projector.layers",
            "projector_config.n_embed, projector_config.input_dim",
            bias="True",
            tower="projector",
        ),
        Row("image_newline", "model.image_newline", "projector_config.n_embed", leaf="", tower="projector"),
        Row("view_seperator", "model.view_seperator", "projector_config.n_embed", leaf="", tower="projector"),
        Row("lm_head", "lm_head", "language_config.vocab_size, language_config.hidden_size", heads="ForCausalLM"),
    ),
    defaults={
        "language_config": {},
        "projector_config": {"input_dim": 2048, "n_embed": 1280},
    },
)
