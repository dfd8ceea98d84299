"""Model type mimi.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "decoder.layers.{layer<19}"
DECODER_TRANSFORMER = "decoder_transformer.layers.{layer<num_hidden_layers}"
ENCODER_TRANSFORMER = "encoder_transformer.layers.{layer<num_hidden_layers}"
ENCODER = "encoder.layers.{layer<19}"
QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER = (
    "quantizer.acoustic_residual_vector_quantizer.layers.{layer<num_quantizers - 1}"
)
QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER = "quantizer.semantic_residual_vector_quantizer.layers.{layer<1}"

FAMILY = Family(
    name="mimi",
    types={"mimi": {}},
    rows=(
        Row("conv", DECODER + ".conv", "1664", tower="decoder", leaf="bias"),
        Row("conv", DECODER + ".conv", "1664, 1536, 7", tower="decoder"),
        Row(
            "conv",
            DECODER + ".block.{block<4}.conv",
            "166, 832, 1 if block > 1 else residual_kernel_size",
            bias="True",
            tower="decoder",
        ),
        Row("shortcut_conv", DECODER + ".shortcut.conv", "832, 832, 1", bias="True", tower="decoder"),
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
        Row(
            "encoder_transformer_input_layernorm", ENCODER_TRANSFORMER + ".input_layernorm", "hidden_size", bias="True"
        ),
        Row("fc1_up_proj", ENCODER_TRANSFORMER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("fc2_down_proj", ENCODER_TRANSFORMER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row("mlp_layer_scale_scale", ENCODER_TRANSFORMER + ".mlp_layer_scale.scale", "hidden_size", leaf=""),
        Row(
            "encoder_transformer_post_attention_layernorm",
            ENCODER_TRANSFORMER + ".post_attention_layernorm",
            "hidden_size",
            bias="True",
        ),
        Row(
            "self_attn_k_proj",
            ENCODER_TRANSFORMER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "self_attn_o_proj",
            ENCODER_TRANSFORMER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "self_attn_q_proj",
            ENCODER_TRANSFORMER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "self_attn_v_proj",
            ENCODER_TRANSFORMER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "encoder_transformer_self_attn_layer_scale_scale",
            ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale",
            "hidden_size",
            leaf="",
        ),
        Row("conv", ENCODER + ".conv", "104, 1, 7", bias="True", tower="encoder"),
        Row("conv", ENCODER + ".block.{block<4}.conv", "20, 104, 4", bias="True", tower="encoder"),
        Row(
            "shortcut_conv",
            ENCODER + ".shortcut.conv",
            "104, 104, 1",
            bias="True",
            when="use_conv_shortcut and use_causal_conv and layer % num_hidden_layers == 0 and layer % 3 == 1 or use_conv_shortcut and num_residual_layers and layer % 3 == 1 and layer < num_attention_heads or use_conv_shortcut and use_causal_conv and layer % 3 == 1 and layer % num_hidden_layers == num_hidden_layers // 2",
            tower="encoder",
        ),
        Row("conv", "upsample.conv", "hidden_size, 1, 42"),
        Row("downsample_conv", "downsample.conv", "hidden_size, hidden_size, 42"),
        Row(
            "input_proj",
            "quantizer.acoustic_residual_vector_quantizer.input_proj",
            "vector_quantization_hidden_dimension, hidden_size, 1",
            group="convolution",
        ),
        Row(
            "output_proj",
            "quantizer.acoustic_residual_vector_quantizer.output_proj",
            "hidden_size, vector_quantization_hidden_dimension, 1",
            group="convolution",
        ),
        Row(
            "semantic_residual_vector_quantizer_input_proj",
            "quantizer.semantic_residual_vector_quantizer.input_proj",
            "vector_quantization_hidden_dimension, hidden_size, 1",
            group="convolution",
        ),
        Row(
            "semantic_residual_vector_quantizer_output_proj",
            "quantizer.semantic_residual_vector_quantizer.output_proj",
            "hidden_size, vector_quantization_hidden_dimension, 1",
            group="convolution",
        ),
        Row(
            "cluster_usage",
            QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.cluster_usage",
            "codebook_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "embed_sum",
            QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.embed_sum",
            "codebook_size, codebook_dim",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "initialized",
            QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.initialized",
            "1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "codebook_cluster_usage",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.cluster_usage",
            "codebook_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "codebook_embed_sum",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.embed_sum",
            "codebook_size, codebook_dim",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "codebook_initialized",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.initialized",
            "1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "attention_bias": False,
        "codebook_dim": 256,
        "codebook_size": 2048,
        "head_dim": 64,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 8,
        "num_key_value_heads": 8,
        "num_quantizers": 32,
        "num_residual_layers": 1,
        "residual_kernel_size": 3,
        "use_causal_conv": True,
        "use_conv_shortcut": False,
        "vector_quantization_hidden_dimension": 256,
    },
    head="Model",
)
