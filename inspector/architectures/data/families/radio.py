"""RADIO: a vision transformer with registers, over patches of images and, in some, of several frames."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

MODEL = "radio_model.model."
PATCHES = MODEL + "patch_generator."
BLOCK = MODEL + "blocks.{layer<num_hidden_layers}"
HEADS = "num_attention_heads * head_dim"
GATED, PLAIN = "use_swiglu_ffn", "not use_swiglu_ffn"


def linear(role: str, name: str, shape: str, when: str = "") -> Row:
    return Row(role, f"{BLOCK}.{name}", shape, bias="True", when=when)


def statistic(role: str, name: str, shape: str) -> Row:
    return Row(role, f"radio_model.{name}", shape, leaf="", buffer=True, persistent=True)


FAMILY = Family(
    name="radio",
    types={"radio": {}},
    rows=(
        Row("embed_patches", PATCHES + "embedder", "hidden_size, patch_dim"),
        Row(
            "embed_video_patches",
            PATCHES + "video_embedder",
            "hidden_size, video_patch_dim",
            when="video_temporal_patch_size is not None",
        ),
        Row("embed_positions", PATCHES + "pos_embed", "1, (max_img_size // patch_size) ** 2, hidden_size", leaf=""),
        Row("embed_class", PATCHES + "cls_token.token", "num_cls_tokens + num_registers, hidden_size", leaf=""),
        linear("input_layernorm", "norm1", "hidden_size"),
        Row("qkv_proj", BLOCK + ".attn.qkv", f"3 * {HEADS}, hidden_size", bias="qkv_bias"),
        linear("o_proj", "attn.proj", f"hidden_size, {HEADS}"),
        Row("attention_scale", BLOCK + ".layer_scale1.lambda1", "hidden_size", leaf=""),
        linear("post_attention_layernorm", "norm2", "hidden_size"),
        linear("up_proj", "mlp.fc1", "intermediate_size, hidden_size", PLAIN),
        linear("down_proj", "mlp.fc2", "hidden_size, intermediate_size", PLAIN),
        linear("gate_proj", "mlp.gate_proj", "gated_size, hidden_size", GATED),
        linear("up_proj", "mlp.up_proj", "gated_size, hidden_size", GATED),
        linear("down_proj", "mlp.down_proj", "hidden_size, gated_size", GATED),
        Row("mlp_scale", BLOCK + ".layer_scale2.lambda1", "hidden_size", leaf=""),
        statistic("norm_mean", "input_conditioner.norm_mean", "len(norm_mean), 1, 1"),
        statistic("norm_std", "input_conditioner.norm_std", "len(norm_std), 1, 1"),
        statistic("summary_idxs", "summary_idxs", "len(summary_idxs)"),
    ),
    head="Model",
    defaults={
        "hidden_size": 1280,
        "max_img_size": 2048,
        "mlp_ratio": 4.0,
        "norm_mean": [0.48145466, 0.4578275, 0.40821073],
        "norm_std": [0.26862954, 0.26130258, 0.27577711],
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_cls_tokens": 3,
        "num_hidden_layers": 32,
        "num_registers": 7,
        "patch_size": 16,
        "qkv_bias": True,
        "summary_idxs": [0, 1],
        "use_swiglu_ffn": False,
        "video_temporal_patch_size": None,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "intermediate_size": "scaled(hidden_size, mlp_ratio)",
        # Two thirds, for there are three matrices in place of two, rounded up: modeling_radio.py.
        "gated_size": "ceil_to(int(intermediate_size * 2 / 3), 8)",
        "patch_dim": "num_channels * patch_size ** 2",
        "video_patch_dim": "video_temporal_patch_size * patch_dim",
    },
)
