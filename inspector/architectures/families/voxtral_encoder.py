"""Model type voxtral_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="voxtral_encoder",
    types={"voxtral_encoder": {}},
    rows=(
        Row("embed_patches", "conv1", "hidden_size, num_mel_bins, 3", bias="True"),
        Row("embed_positions", "embed_positions", "max_source_positions, hidden_size"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".fc2", "hidden_size, intermediate_size", bias="True"),
        Row("conv2", "conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("layer_norm", "layer_norm", "hidden_size", bias="True"),
    ),
    classes={"VoxtralEncoder": "VoxtralEncoder"},
    defaults={
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "max_source_positions": 1500,
        "num_hidden_layers": 32,
        "num_mel_bins": 128,
    },
    fields={"d_model": "hidden_size", "encoder_layers": "num_hidden_layers", "encoder_ffn_dim": "intermediate_size"},
    head="VoxtralEncoder",
)
