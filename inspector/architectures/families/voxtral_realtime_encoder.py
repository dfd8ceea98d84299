"""Model type voxtral_realtime_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="voxtral_realtime_encoder",
    types={"voxtral_realtime_encoder": {}},
    rows=(
        Row("embed_patches", "embedder.conv1", "hidden_size, num_mel_bins, 3", bias="True"),
        Row("conv2", "embedder.conv2", "hidden_size, hidden_size, 3", bias="True", group="embedding"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "norm", "hidden_size"),
    ),
    classes={"VoxtralRealtimeEncoder": "VoxtralRealtimeEncoder"},
    defaults={
        "head_dim": 64,
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_mel_bins": 128,
    },
    fields={
        "d_model": "hidden_size",
        "encoder_layers": "num_hidden_layers",
        "encoder_attention_heads": "num_attention_heads",
        "encoder_ffn_dim": "intermediate_size",
        "num_key_value_heads": "num_attention_heads",
    },
    head="VoxtralRealtimeEncoder",
)
