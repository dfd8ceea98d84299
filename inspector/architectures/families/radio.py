"""C-RADIO: a vision transformer that learned from several."""

from __future__ import annotations

from inspector.architectures.families.tipsv2_vision_model import GATED
from inspector.architectures.table import Family, Row

LAYER = "radio_model.model.blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="radio",
    types={"radio": {}},
    rows=(
        Row("embedder", "radio_model.model.patch_generator.embedder", "hidden_size, patch_dim"),
        Row(
            "embed_positions",
            "radio_model.model.patch_generator.pos_embed",
            "1, (max_img_size // patch_size) ** 2, hidden_size",
            leaf="",
        ),
        Row(
            "video_embedder",
            "radio_model.model.patch_generator.video_embedder",
            "hidden_size, video_patch_dim",
            when="video_temporal_patch_size is not None",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
        ),
        Row("lambda1", LAYER + ".layer_scale1.lambda1", "hidden_size", leaf=""),
        Row("layer_scale2_lambda1", LAYER + ".layer_scale2.lambda1", "hidden_size", leaf=""),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            f"hidden_size, {GATED}",
            bias="True",
            when="use_swiglu_ffn",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            f"{GATED}, hidden_size",
            bias="True",
            when="use_swiglu_ffn",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            f"{GATED}, hidden_size",
            bias="True",
            when="use_swiglu_ffn",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "scaled(hidden_size, mlp_ratio), hidden_size",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "hidden_size, scaled(hidden_size, mlp_ratio)",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row(
            "token",
            "radio_model.model.patch_generator.cls_token.token",
            "num_cls_tokens + num_registers, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row("norm_mean", "radio_model.input_conditioner.norm_mean", "3, 1, 1", leaf="", buffer=True, persistent=True),
        Row("norm_std", "radio_model.input_conditioner.norm_std", "3, 1, 1", leaf="", buffer=True, persistent=True),
        Row("summary_idxs", "radio_model.summary_idxs", "2", leaf="", buffer=True, persistent=True),
    ),
    defaults={
        "hidden_size": 1280,
        "max_img_size": 2048,
        "mlp_ratio": 4.0,
        "num_attention_heads": 16,
        "num_cls_tokens": 3,
        "num_hidden_layers": 32,
        "num_registers": 7,
        "num_channels": 3,
        "patch_size": 16,
        "qkv_bias": True,
        "use_swiglu_ffn": False,
        "video_temporal_patch_size": None,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "patch_dim": "num_channels * patch_size ** 2",
        "video_patch_dim": "video_temporal_patch_size * patch_dim",
    },
    head="Model",
)
