"""Model type mimi_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<19}"
ENCODER_TRANSFORMER = "encoder_transformer.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mimi_encoder",
    types={"mimi_encoder": {}},
    rows=(
        Row("conv", ENCODER + ".conv", "104, 1, 7", bias="True"),
        Row(
            "conv", ENCODER + ".block.{block<4}.conv", "20, 104, 1 if block > 1 else residual_kernel_size", bias="True"
        ),
        Row(
            "shortcut_conv",
            ENCODER + ".shortcut.conv",
            "104, 104, 1",
            bias="True",
            when="use_conv_shortcut and num_residual_layers and layer % 3 == 1 and layer < num_attention_heads or use_conv_shortcut and use_causal_conv and layer % 3 == 1 and layer % 4 == 2 or use_conv_shortcut and tie_word_embeddings and layer % 3 == 1 and (layer + 1) % 4 == 0",
        ),
        Row("input_layernorm", ENCODER_TRANSFORMER + ".input_layernorm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            ENCODER_TRANSFORMER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            ENCODER_TRANSFORMER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            ENCODER_TRANSFORMER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "o_proj",
            ENCODER_TRANSFORMER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("scale", ENCODER_TRANSFORMER + ".mlp_layer_scale.scale", "hidden_size", leaf="", group="feed_forward"),
        Row(
            "self_attn_layer_scale_scale", ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale", "hidden_size", leaf=""
        ),
        Row("post_attention_layernorm", ENCODER_TRANSFORMER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", ENCODER_TRANSFORMER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("down_proj", ENCODER_TRANSFORMER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row("conv", "downsample.conv", "hidden_size, hidden_size, 42"),
    ),
    prefix="encoder.",
    defaults={
        "attention_bias": False,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 8,
        "num_key_value_heads": 8,
        "num_residual_layers": 1,
        "residual_kernel_size": 3,
        "tie_word_embeddings": True,
        "use_causal_conv": True,
        "use_conv_shortcut": False,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
