"""Model type nemotron3_diarization_audio.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="nemotron3_diarization_audio",
    types={"nemotron3_diarization_audio": {}},
    rows=(
        Row("projection", "embedder.projection", "hidden_size, num_mel_bins * subsampling_factor", group="embedding"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size"),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * (hidden_size // num_attention_heads), hidden_size",
        ),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("input_layer_norm", "input_layer_norm", "hidden_size", bias="True"),
        Row("layer_norm", "layer_norm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 31,
        "num_mel_bins": 128,
        "subsampling_factor": 8,
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    head="Model",
)
