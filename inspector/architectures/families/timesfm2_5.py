"""Model type timesfm2_5.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
LAYER_ = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="timesfm2_5",
    types={"timesfm2_5": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", heads="Model"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
            heads="Model",
        ),
        Row(
            "ff0",
            LAYER + ".mlp.ff0",
            "intermediate_size, hidden_size",
            bias="use_bias",
            heads="Model",
            group="feed_forward",
        ),
        Row(
            "ff1",
            LAYER + ".mlp.ff1",
            "hidden_size, intermediate_size",
            bias="use_bias",
            heads="Model",
            group="feed_forward",
        ),
        Row("scaling", LAYER + ".self_attn.scaling", "head_dim", heads="Model", leaf="", group="attention"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim", heads="Model"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", heads="Model"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", heads="Model"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size", heads="Model"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size", heads="Model"),
        Row("input_layernorm_37", LAYER_ + ".input_layernorm", "hidden_size", heads="ForPrediction"),
        Row("mlp_ff0", LAYER_ + ".mlp.ff0", "intermediate_size, hidden_size", heads="ForPrediction"),
        Row("mlp_ff1", LAYER_ + ".mlp.ff1", "hidden_size, intermediate_size", heads="ForPrediction"),
        Row("post_attention_layernorm_43", LAYER_ + ".post_attention_layernorm", "hidden_size", heads="ForPrediction"),
        Row(
            "post_feedforward_layernorm_45",
            LAYER_ + ".post_feedforward_layernorm",
            "hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "pre_feedforward_layernorm_47", LAYER_ + ".pre_feedforward_layernorm", "hidden_size", heads="ForPrediction"
        ),
        Row("self_attn_k_norm", LAYER_ + ".self_attn.k_norm", "head_dim", heads="ForPrediction"),
        Row(
            "self_attn_k_proj",
            LAYER_ + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "self_attn_o_proj",
            LAYER_ + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            heads="ForPrediction",
        ),
        Row("self_attn_q_norm", LAYER_ + ".self_attn.q_norm", "head_dim", heads="ForPrediction"),
        Row(
            "self_attn_q_proj",
            LAYER_ + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            heads="ForPrediction",
        ),
        Row("self_attn_scaling", LAYER_ + ".self_attn.scaling", "head_dim", heads="ForPrediction", leaf=""),
        Row(
            "self_attn_v_proj",
            LAYER_ + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            heads="ForPrediction",
        ),
        Row("input_layer", "input_ff_layer.input_layer", "hidden_size, 2 * patch_length", bias="True", heads="Model"),
        Row("output_layer", "input_ff_layer.output_layer", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "residual_layer",
            "input_ff_layer.residual_layer",
            "hidden_size, 2 * patch_length",
            bias="True",
            heads="Model",
        ),
        Row(
            "input_ff_layer_input_layer",
            "model.input_ff_layer.input_layer",
            "hidden_size, 2 * patch_length",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "input_ff_layer_output_layer",
            "model.input_ff_layer.output_layer",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "input_ff_layer_residual_layer",
            "model.input_ff_layer.residual_layer",
            "hidden_size, 2 * patch_length",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_point_input_layer",
            "output_projection_point.input_layer",
            "hidden_size, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_point_output_layer",
            "output_projection_point.output_layer",
            "10 * horizon_length, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_point_residual_layer",
            "output_projection_point.residual_layer",
            "10 * horizon_length, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_quantiles_input_layer",
            "output_projection_quantiles.input_layer",
            "hidden_size, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_quantiles_output_layer",
            "output_projection_quantiles.output_layer",
            "10 * output_quantile_len, hidden_size",
            heads="ForPrediction",
        ),
        Row(
            "output_projection_quantiles_residual_layer",
            "output_projection_quantiles.residual_layer",
            "10 * output_quantile_len, hidden_size",
            heads="ForPrediction",
        ),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 80,
        "hidden_size": 1280,
        "horizon_length": 128,
        "intermediate_size": 1280,
        "num_attention_heads": 16,
        "num_hidden_layers": 20,
        "num_key_value_heads": 16,
        "output_quantile_len": 1024,
        "patch_length": 32,
        "use_bias": False,
    },
    head="Model",
)
