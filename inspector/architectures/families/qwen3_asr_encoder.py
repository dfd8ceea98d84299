"""Model type qwen3_asr_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<encoder_layers}"

FAMILY = Family(
    name="qwen3_asr_encoder",
    types={"qwen3_asr_encoder": {}},
    rows=(
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "d_model", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "d_model, d_model", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "d_model, d_model", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "d_model, d_model", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "d_model, d_model", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "d_model", bias="True"),
        Row("up_proj", LAYER + ".fc1", "encoder_ffn_dim, d_model", bias="True"),
        Row("down_proj", LAYER + ".fc2", "d_model, encoder_ffn_dim", bias="True"),
        Row("ln_post", "ln_post", "d_model", bias="True"),
        Row("conv2d1", "conv2d1", "downsample_hidden_size, 1, 3, 3", bias="True"),
        Row("conv2d2", "conv2d2", "downsample_hidden_size, downsample_hidden_size, 3, 3", bias="True"),
        Row("conv2d3", "conv2d3", "downsample_hidden_size, downsample_hidden_size, 3, 3", bias="True"),
        Row("conv_out", "conv_out", "d_model, downsample_hidden_size * (ceil_to(num_mel_bins, 8) // 8)"),
    ),
    classes={"Qwen3ASREncoder": "Qwen3ASREncoder"},
    defaults={
        "d_model": 1024,
        "downsample_hidden_size": 480,
        "encoder_ffn_dim": 4096,
        "encoder_layers": 24,
        "num_mel_bins": 128,
    },
    fields={"num_hidden_layers": "encoder_layers", "hidden_size": "d_model", "intermediate_size": "encoder_ffn_dim"},
    head="Qwen3ASREncoder",
)
