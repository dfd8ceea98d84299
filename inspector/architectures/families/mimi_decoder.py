"""Model type mimi_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "decoder.layers.{layer<19}"
DECODER_TRANSFORMER = "decoder_transformer.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mimi_decoder",
    types={"mimi_decoder": {}},
    rows=(
        Row("conv", DECODER + ".conv", "1664", leaf="bias"),
        Row("conv", DECODER + ".conv", "1664, 1536, 7"),
        Row(
            "conv", DECODER + ".block.{block<4}.conv", "166, 832, 1 if block > 1 else residual_kernel_size", bias="True"
        ),
        Row("shortcut_conv", DECODER + ".shortcut.conv", "832, 832, 1", bias="True"),
        Row("input_layernorm", DECODER_TRANSFORMER + ".input_layernorm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            DECODER_TRANSFORMER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            DECODER_TRANSFORMER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            DECODER_TRANSFORMER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "o_proj",
            DECODER_TRANSFORMER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("scale", DECODER_TRANSFORMER + ".mlp_layer_scale.scale", "hidden_size", leaf="", group="feed_forward"),
        Row(
            "self_attn_layer_scale_scale", DECODER_TRANSFORMER + ".self_attn_layer_scale.scale", "hidden_size", leaf=""
        ),
        Row("post_attention_layernorm", DECODER_TRANSFORMER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", DECODER_TRANSFORMER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("down_proj", DECODER_TRANSFORMER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row("conv", "upsample.conv", "hidden_size, 1, 42"),
    ),
    prefix="decoder.",
    defaults={
        "attention_bias": False,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 8,
        "num_key_value_heads": 8,
        "residual_kernel_size": 3,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
