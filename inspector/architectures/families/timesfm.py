"""Model type timesfm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
DECODER = "decoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="timesfm",
    types={"timesfm": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", heads="Model"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="True",
            heads="Model",
        ),
        Row("scaling", LAYER + ".self_attn.scaling", "head_dim", heads="Model", leaf="", group="attention"),
        Row("layer_norm", LAYER + ".mlp.layer_norm", "hidden_size", bias="True", heads="Model"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row("self_attn_scaling", DECODER + ".self_attn.scaling", "head_dim", heads="ForPrediction", leaf=""),
        Row(
            "self_attn_q_proj",
            DECODER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "self_attn_k_proj",
            DECODER + ".self_attn.k_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "self_attn_v_proj",
            DECODER + ".self_attn.v_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "self_attn_o_proj",
            DECODER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "mlp_gate_proj",
            DECODER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "mlp_down_proj",
            DECODER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row("mlp_layer_norm", DECODER + ".mlp.layer_norm", "hidden_size", bias="True", heads="ForPrediction"),
        Row("decoder_input_layernorm", DECODER + ".input_layernorm", "hidden_size", heads="ForPrediction"),
        Row(
            "input_layer",
            "input_ff_layer.input_layer",
            "intermediate_size, 2 * patch_length",
            bias="True",
            heads="Model",
        ),
        Row(
            "output_layer", "input_ff_layer.output_layer", "hidden_size, intermediate_size", bias="True", heads="Model"
        ),
        Row(
            "residual_layer",
            "input_ff_layer.residual_layer",
            "hidden_size, 2 * patch_length",
            bias="True",
            heads="Model",
        ),
        Row("freq_emb", "freq_emb", "freq_size, hidden_size", heads="Model"),
        Row(
            "input_ff_layer_input_layer",
            "decoder.input_ff_layer.input_layer",
            "intermediate_size, 2 * patch_length",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "input_ff_layer_output_layer",
            "decoder.input_ff_layer.output_layer",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "input_ff_layer_residual_layer",
            "decoder.input_ff_layer.residual_layer",
            "hidden_size, 2 * patch_length",
            bias="True",
            heads="ForPrediction",
        ),
        Row("decoder_freq_emb", "decoder.freq_emb", "3, hidden_size", heads="ForPrediction"),
        Row(
            "horizon_ff_layer_input_layer",
            "horizon_ff_layer.input_layer",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "horizon_ff_layer_output_layer",
            "horizon_ff_layer.output_layer",
            "10 * horizon_length, intermediate_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "horizon_ff_layer_residual_layer",
            "horizon_ff_layer.residual_layer",
            "10 * horizon_length, hidden_size",
            bias="True",
            heads="ForPrediction",
        ),
        Row(
            "inv_timescales",
            "position_emb.inv_timescales",
            "hidden_size // 2",
            when="use_positional_embedding",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "freq_size": 3,
        "head_dim": 80,
        "hidden_size": 1280,
        "horizon_length": 128,
        "intermediate_size": 1280,
        "num_attention_heads": 16,
        "num_hidden_layers": 50,
        "patch_length": 32,
        "use_positional_embedding": False,
    },
    head="Model",
)
