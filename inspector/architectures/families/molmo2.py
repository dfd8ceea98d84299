"""Model type molmo2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TRANSFORMER = "model.transformer.blocks.{layer<text_config.num_hidden_layers}"
TRANSFORMER_RESBLOCKS = "model.vision_backbone.image_vit.transformer.resblocks.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="molmo2",
    types={"molmo2": {}},
    rows=(
        Row(
            "embed_tokens",
            "model.transformer.wte.embedding",
            "(text_config.vocab_size + text_config.additional_vocab_size) // 2, text_config.hidden_size",
            leaf="",
        ),
        Row(
            "new_embedding",
            "model.transformer.wte.new_embedding",
            "(text_config.vocab_size + text_config.additional_vocab_size) // 2, text_config.hidden_size",
            leaf="",
        ),
        Row(
            "embed_patches",
            "model.vision_backbone.image_vit.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels * vision_config.patch_size * vision_config.patch_size",
            bias="True",
        ),
        Row(
            "positional_embedding",
            "model.vision_backbone.image_vit.positional_embedding",
            "vision_config.num_position_embeddings, vision_config.hidden_size",
            leaf="",
        ),
        Row("input_layernorm", TRANSFORMER + ".attn_norm", "text_config.hidden_size"),
        Row(
            "qkv_proj",
            TRANSFORMER + ".self_attn.att_proj",
            "text_config.num_attention_heads * text_config.head_dim + 2 * text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
        ),
        Row(
            "ff_out",
            TRANSFORMER + ".mlp.ff_out",
            "text_config.hidden_size, text_config.intermediate_size",
            group="feed_forward",
        ),
        Row("ff_norm", TRANSFORMER + ".ff_norm", "text_config.hidden_size"),
        Row(
            "attn_out",
            TRANSFORMER + ".self_attn.attn_out",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
        ),
        Row(
            "q_norm",
            TRANSFORMER + ".self_attn.q_norm",
            "text_config.head_dim * (num_labels - 3) if text_config.qk_norm_type == 'olmo' else text_config.head_dim",
        ),
        Row(
            "k_norm",
            TRANSFORMER + ".self_attn.k_norm",
            "text_config.head_dim * (text_config.num_hidden_layers + 2) if text_config.qk_norm_type == 'olmo' else text_config.head_dim",
        ),
        Row("gate_up_proj", TRANSFORMER + ".mlp.ff_proj", "2 * text_config.intermediate_size, text_config.hidden_size"),
        Row(
            "q_proj",
            TRANSFORMER_RESBLOCKS + ".attention.wq",
            "vision_config.num_attention_heads * vision_config.head_dim, vision_config.hidden_size",
            bias="vision_config.attention_bias",
        ),
        Row(
            "k_proj",
            TRANSFORMER_RESBLOCKS + ".attention.wk",
            "vision_config.num_key_value_heads * vision_config.head_dim, vision_config.hidden_size",
            bias="vision_config.attention_bias",
        ),
        Row(
            "v_proj",
            TRANSFORMER_RESBLOCKS + ".attention.wv",
            "vision_config.num_key_value_heads * vision_config.head_dim, vision_config.hidden_size",
            bias="vision_config.attention_bias",
        ),
        Row(
            "o_proj",
            TRANSFORMER_RESBLOCKS + ".attention.wo",
            "vision_config.hidden_size, vision_config.num_attention_heads * vision_config.head_dim",
            bias="vision_config.attention_bias",
        ),
        Row(
            "attention_norm_input_layernorm",
            TRANSFORMER_RESBLOCKS + ".attention_norm",
            "vision_config.hidden_size",
            bias="True",
        ),
        Row("post_attention_layernorm", TRANSFORMER_RESBLOCKS + ".ffn_norm", "vision_config.hidden_size", bias="True"),
        Row(
            "gate_proj",
            TRANSFORMER_RESBLOCKS + ".feed_forward.w1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
        ),
        Row(
            "down_proj",
            TRANSFORMER_RESBLOCKS + ".feed_forward.w2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
        ),
        Row("norm", "model.transformer.ln_f", "text_config.hidden_size"),
        Row(
            "k_proj",
            "model.vision_backbone.image_pooling_2d.wk",
            "adapter_config.num_key_value_heads * adapter_config.head_dim, adapter_config.hidden_size * len(adapter_config.vision_feature_layer)",
            bias="adapter_config.attention_bias",
        ),
        Row(
            "o_proj",
            "model.vision_backbone.image_pooling_2d.wo",
            "adapter_config.hidden_size, adapter_config.num_attention_heads * adapter_config.head_dim",
            bias="adapter_config.attention_bias",
        ),
        Row(
            "q_proj",
            "model.vision_backbone.image_pooling_2d.wq",
            "adapter_config.num_attention_heads * adapter_config.head_dim, adapter_config.hidden_size * len(adapter_config.vision_feature_layer)",
            bias="adapter_config.attention_bias",
        ),
        Row(
            "v_proj",
            "model.vision_backbone.image_pooling_2d.wv",
            "adapter_config.num_key_value_heads * adapter_config.head_dim, adapter_config.hidden_size * len(adapter_config.vision_feature_layer)",
            bias="adapter_config.attention_bias",
        ),
        Row(
            "w2",
            "model.vision_backbone.image_projector.w2",
            "adapter_config.text_hidden_size, adapter_config.intermediate_size",
        ),
        Row(
            "w1",
            "model.vision_backbone.image_projector.w1",
            "adapter_config.intermediate_size, adapter_config.hidden_size",
            bias="adapter_config.mlp_bias",
        ),
        Row(
            "w3",
            "model.vision_backbone.image_projector.w3",
            "adapter_config.intermediate_size, adapter_config.hidden_size",
            bias="adapter_config.mlp_bias",
        ),
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", heads="ForConditionalGeneration"),
    ),
    prefix="model.",
    defaults={
        "adapter_config": {
            "attention_bias": True,
            "head_dim": 72,
            "hidden_size": 1152,
            "intermediate_size": 18944,
            "mlp_bias": False,
            "num_attention_heads": 16,
            "num_key_value_heads": 16,
            "text_hidden_size": 3584,
            "vision_feature_layer": [24, 18],
        },
        "text_config": {
            "additional_vocab_size": 128,
            "attention_bias": False,
            "head_dim": 128,
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "num_attention_heads": 32,
            "num_hidden_layers": 36,
            "num_key_value_heads": 8,
            "qk_norm_type": "qwen3",
            "vocab_size": 151936,
        },
        "vision_config": {
            "attention_bias": True,
            "head_dim": 72,
            "hidden_size": 1152,
            "image_size": [378, 378],
            "intermediate_size": 4304,
            "num_attention_heads": 16,
            "num_channels": 3,
            "num_hidden_layers": 25,
            "num_key_value_heads": 16,
            "num_position_embeddings": 729,
            "patch_size": 14,
        },
    },
    head="ForConditionalGeneration",
)
