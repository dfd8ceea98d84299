"""LFM3-VL's vision tower: layers of attention and of convolution over merged patches."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="lfm3_vl_vision",
    types={"lfm3_vl_vision": {}},
    rows=(
        Row("embedding_norm", "embedding_norm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * (hidden_size // num_attention_heads), hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * (hidden_size // num_attention_heads), hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "spatial_conv",
            LAYER + ".conv.spatial_conv",
            "hidden_size, 1, conv_kernel_size, conv_kernel_size",
            when="layer_types[layer] == 'conv'",
        ),
        Row("operator_norm", LAYER + ".operator_norm", "hidden_size"),
        Row(
            "q_norm",
            LAYER + ".self_attn.q_layernorm",
            "hidden_size // num_attention_heads",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.k_layernorm",
            "hidden_size // num_attention_heads",
            when="layer_types[layer] != 'conv'",
        ),
        Row("in_proj", LAYER + ".conv.in_proj", "3 * hidden_size, hidden_size", when="layer_types[layer] == 'conv'"),
        Row("out_proj", LAYER + ".conv.out_proj", "hidden_size, hidden_size", when="layer_types[layer] == 'conv'"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".feed_forward.w1", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".feed_forward.w3", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".feed_forward.w2", "hidden_size, intermediate_size"),
        Row("patchifier", "patchifier", "hidden_size, in_channels * temporal_patch_size * patch_size ** 2"),
    ),
    defaults={
        "conv_kernel_size": 3,
        "hidden_size": 1024,
        "in_channels": 3,
        "intermediate_size": 2560,
        "num_attention_heads": 16,
        "num_hidden_layers": 14,
        "num_key_value_heads": 8,
        "patch_size": 16,
        "temporal_patch_size": 2,
    },
    derived={
        "layer_types": "['full_attention' if layer > 0 and layer % 2 == 0 else 'conv' for layer in range(num_hidden_layers)]"
    },
    head="Model",
)
