"""Model type qwen2_audio_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<encoder_layers}"

FAMILY = Family(
    name="qwen2_audio_encoder",
    types={"qwen2_audio_encoder": {}},
    rows=(
        Row("embed_patches", "conv1", "d_model, num_mel_bins, 3", bias="True"),
        Row("embed_positions", "embed_positions", "max_source_positions, d_model"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "d_model", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "d_model, d_model", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "d_model, d_model"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "d_model, d_model", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "d_model, d_model", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "d_model", bias="True"),
        Row("up_proj", LAYER + ".fc1", "encoder_ffn_dim, d_model", bias="True"),
        Row("down_proj", LAYER + ".fc2", "d_model, encoder_ffn_dim", bias="True"),
        Row("conv2", "conv2", "d_model, d_model, 3", bias="True"),
        Row("layer_norm", "layer_norm", "d_model", bias="True"),
    ),
    classes={"Qwen2AudioEncoder": "Qwen2AudioEncoder"},
    defaults={
        "d_model": 1280,
        "encoder_ffn_dim": 5120,
        "encoder_layers": 32,
        "max_source_positions": 1500,
        "num_mel_bins": 128,
    },
    fields={"num_hidden_layers": "encoder_layers", "hidden_size": "d_model", "intermediate_size": "encoder_ffn_dim"},
    head="Qwen2AudioEncoder",
)
