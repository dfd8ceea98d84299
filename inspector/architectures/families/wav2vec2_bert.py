"""Model type wav2vec2-bert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="wav2vec2-bert",
    types={"wav2vec2-bert": {}},
    rows=(
        Row("masked_spec_embed", "masked_spec_embed", "1024", leaf=""),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "hidden_size", bias="True"),
        Row("ffn1_layer_norm", LAYER + ".ffn1_layer_norm", "hidden_size", bias="True"),
        Row(
            "intermediate_dense",
            LAYER + ".ffn1.intermediate_dense",
            "intermediate_size, hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "output_dense",
            LAYER + ".ffn1.output_dense",
            "hidden_size, intermediate_size",
            bias="True",
            group="feed_forward",
        ),
        Row("linear_q", LAYER + ".self_attn.linear_q", "hidden_size, hidden_size", bias="True", group="attention"),
        Row("linear_k", LAYER + ".self_attn.linear_k", "hidden_size, hidden_size", bias="True", group="attention"),
        Row("linear_v", LAYER + ".self_attn.linear_v", "hidden_size, hidden_size", bias="True", group="attention"),
        Row("linear_out", LAYER + ".self_attn.linear_out", "hidden_size, hidden_size", bias="True", group="attention"),
        Row(
            "distance_embedding",
            LAYER + ".self_attn.distance_embedding",
            "left_max_position_embeddings + right_max_position_embeddings + 1, hidden_size // num_attention_heads",
        ),
        Row("layer_norm", LAYER + ".conv_module.layer_norm", "hidden_size", bias="True"),
        Row("pointwise_conv1", LAYER + ".conv_module.pointwise_conv1", "2 * hidden_size, hidden_size, 1"),
        Row("depthwise_conv", LAYER + ".conv_module.depthwise_conv", "hidden_size, 1, conv_depthwise_kernel_size"),
        Row("depthwise_layer_norm", LAYER + ".conv_module.depthwise_layer_norm", "hidden_size", bias="True"),
        Row("pointwise_conv2", LAYER + ".conv_module.pointwise_conv2", "hidden_size, hidden_size, 1"),
        Row("ffn2_layer_norm", LAYER + ".ffn2_layer_norm", "hidden_size", bias="True"),
        Row(
            "ffn2_intermediate_dense", LAYER + ".ffn2.intermediate_dense", "intermediate_size, hidden_size", bias="True"
        ),
        Row("ffn2_output_dense", LAYER + ".ffn2.output_dense", "hidden_size, intermediate_size", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size", bias="True"),
        Row("layer_norm", "feature_projection.layer_norm", "feature_projection_input_dim", bias="True"),
        Row("projection", "feature_projection.projection", "hidden_size, feature_projection_input_dim", bias="True"),
    ),
    defaults={
        "conv_depthwise_kernel_size": 31,
        "feature_projection_input_dim": 160,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "left_max_position_embeddings": 64,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "right_max_position_embeddings": 8,
    },
    head="Model",
)
