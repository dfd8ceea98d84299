"""Model type fun_asr_nano_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="fun_asr_nano_encoder",
    types={"fun_asr_nano_encoder": {}},
    rows=(
        Row(
            "input_layernorm",
            LAYER + ".input_layernorm",
            "(hidden_size if layer > 0 else num_mel_bins * num_stacked_frames) if num_stacked_frames else hidden_size",
            bias="True",
        ),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "hidden_size, (hidden_size if layer > 0 else num_mel_bins * num_stacked_frames) if num_stacked_frames else hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "hidden_size, (hidden_size if layer > 0 else num_mel_bins * num_stacked_frames) if num_stacked_frames else hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "hidden_size, (hidden_size if layer > 0 else num_mel_bins * num_stacked_frames) if num_stacked_frames else hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, hidden_size", bias="True"),
        Row("conv", LAYER + ".self_attn.fsmn.conv", "hidden_size, 1, fsmn_kernel_size", group="attention"),
        Row("norm", LAYER + ".final_layernorm", "hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
    ),
    classes={"FunAsrNanoEncoder": "FunAsrNanoEncoder"},
    defaults={
        "fsmn_kernel_size": 11,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_hidden_layers": 70,
        "num_mel_bins": 80,
        "num_stacked_frames": 7,
    },
    head="FunAsrNanoEncoder",
)
