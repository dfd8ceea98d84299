"""Model type mimi.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "decoder.layers.{layer}"
DECODER_TRANSFORMER = "decoder_transformer.layers.{layer}"
ENCODER_TRANSFORMER = "encoder_transformer.layers.{layer}"
ENCODER = "encoder.layers.{layer}"
QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER = "quantizer.acoustic_residual_vector_quantizer.layers.{layer}"
QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER = "quantizer.semantic_residual_vector_quantizer.layers.{layer}"

FAMILY = Family(
    name="mimi",
    types={"mimi": {}},
    rows=(
        Row("conv", DECODER + ".conv", "", tower="decoder", leaf="bias"),
        Row("conv", DECODER + ".conv", "", tower="decoder"),
        Row("conv", DECODER + ".block.{block}.conv", "", tower="decoder"),
        Row("shortcut_conv", DECODER + ".shortcut.conv", "", tower="decoder"),
        Row("input_layernorm", DECODER_TRANSFORMER + ".input_layernorm", ""),
        Row("q_proj", DECODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", DECODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", DECODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", DECODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("scale", DECODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf="", group="feed_forward"),
        Row("self_attn_layer_scale_scale", DECODER_TRANSFORMER + ".self_attn_layer_scale.scale", "", leaf=""),
        Row("post_attention_layernorm", DECODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("up_proj", DECODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("down_proj", DECODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("encoder_transformer_input_layernorm", ENCODER_TRANSFORMER + ".input_layernorm", ""),
        Row("fc1_up_proj", ENCODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("fc2_down_proj", ENCODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("mlp_layer_scale_scale", ENCODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf=""),
        Row("encoder_transformer_post_attention_layernorm", ENCODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("self_attn_k_proj", ENCODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("self_attn_o_proj", ENCODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("self_attn_q_proj", ENCODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("self_attn_v_proj", ENCODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row(
            "encoder_transformer_self_attn_layer_scale_scale",
            ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale",
            "",
            leaf="",
        ),
        Row("conv", ENCODER + ".conv", "", tower="encoder"),
        Row("conv", ENCODER + ".block.{block}.conv", "", tower="encoder"),
        Row("shortcut_conv", ENCODER + ".shortcut.conv", "", tower="encoder"),
        Row("conv", "upsample.conv", ""),
        Row("downsample_conv", "downsample.conv", ""),
        Row("input_proj", "quantizer.acoustic_residual_vector_quantizer.input_proj", "", group="convolution"),
        Row("output_proj", "quantizer.acoustic_residual_vector_quantizer.output_proj", "", group="convolution"),
        Row(
            "semantic_residual_vector_quantizer_input_proj",
            "quantizer.semantic_residual_vector_quantizer.input_proj",
            "",
            group="convolution",
        ),
        Row(
            "semantic_residual_vector_quantizer_output_proj",
            "quantizer.semantic_residual_vector_quantizer.output_proj",
            "",
            group="convolution",
        ),
        Row(
            "cluster_usage",
            QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.cluster_usage",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "embed_sum", QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.embed_sum", "", leaf="", buffer=True
        ),
        Row(
            "initialized",
            QUANTIZER_ACOUSTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.initialized",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "codebook_cluster_usage",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.cluster_usage",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "codebook_embed_sum",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.embed_sum",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "codebook_initialized",
            QUANTIZER_SEMANTIC_RESIDUAL_VECTOR_QUANTIZER + ".codebook.initialized",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
