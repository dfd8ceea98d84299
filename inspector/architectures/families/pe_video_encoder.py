"""Model type pe_video_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

VISION_MODEL_TIMM_MODEL = "embedder.vision_model.timm_model.blocks.{layer<24}"
LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pe_video_encoder",
    types={"pe_video_encoder": {}},
    rows=(
        Row(
            "embed_class",
            "embedder.vision_model.timm_model.cls_token",
            "1, 1, vision_config.num_classes",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_positions",
            "embedder.vision_model.timm_model.pos_embed",
            "1, 577, vision_config.num_classes",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_patches",
            "embedder.vision_model.timm_model.patch_embed.proj",
            "vision_config.num_classes, 3, 14, 14",
            tower="vision",
        ),
        Row(
            "norm_pre",
            "embedder.vision_model.timm_model.norm_pre",
            "vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row("norm", "embedder.vision_model.timm_model.norm", "vision_config.num_classes", bias="True", tower="vision"),
        Row(
            "latent",
            "embedder.vision_model.timm_model.attn_pool.latent",
            "1, 1, vision_config.num_classes",
            tower="vision",
            leaf="",
            group="embedding",
        ),
        Row(
            "q",
            "embedder.vision_model.timm_model.attn_pool.q",
            "vision_config.num_classes, vision_config.num_classes",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row(
            "kv",
            "embedder.vision_model.timm_model.attn_pool.kv",
            "2048, vision_config.num_classes",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row(
            "proj",
            "embedder.vision_model.timm_model.attn_pool.proj",
            "vision_config.num_classes, vision_config.num_classes",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row(
            "attn_pool_norm",
            "embedder.vision_model.timm_model.attn_pool.norm",
            "vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            "embedder.vision_model.timm_model.attn_pool.mlp.fc1",
            "4096, vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            "embedder.vision_model.timm_model.attn_pool.mlp.fc2",
            "vision_config.num_classes, 4096",
            bias="True",
            tower="vision",
        ),
        Row(
            "head",
            "embedder.vision_model.timm_model.head",
            "2, vision_config.num_classes",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row("proj", "embedder.proj", "hidden_size, 2", group="embedding"),
        Row("data_proj", "embedder.data_proj", "hidden_size, hidden_size", bias="True", group="embedding"),
        Row("embed_class", "patch_embedder.class_embedding", "1, 1, hidden_size", leaf=""),
        Row("groupnorm", "patch_embedder.resnet_block.block1.groupnorm", "hidden_size", bias="True"),
        Row(
            "project",
            "patch_embedder.resnet_block.block1.project",
            "hidden_size, hidden_size, 3",
            bias="True",
            group="embedding",
        ),
        Row("block2_groupnorm", "patch_embedder.resnet_block.block2.groupnorm", "hidden_size", bias="True"),
        Row(
            "block2_project",
            "patch_embedder.resnet_block.block2.project",
            "hidden_size, hidden_size, 3",
            bias="True",
            group="embedding",
        ),
        Row(
            "input_layernorm",
            VISION_MODEL_TIMM_MODEL + ".norm1",
            "vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "qkv_proj",
            VISION_MODEL_TIMM_MODEL + ".attn.qkv",
            "3072, vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISION_MODEL_TIMM_MODEL + ".attn.proj",
            "vision_config.num_classes, vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISION_MODEL_TIMM_MODEL + ".norm2",
            "vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_MODEL_TIMM_MODEL + ".mlp.fc1",
            "4096, vision_config.num_classes",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISION_MODEL_TIMM_MODEL + ".mlp.fc2",
            "vision_config.num_classes, 4096",
            bias="True",
            tower="vision",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "norm", "hidden_size"),
        Row("lm_head", "output", "hidden_size, hidden_size"),
    ),
    classes={"PeVideoEncoder": "PeVideoEncoder"},
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 1792,
        "intermediate_size": 4800,
        "num_attention_heads": 14,
        "num_hidden_layers": 6,
        "vision_config": {"num_classes": 1024},
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    head="PeVideoEncoder",
)
