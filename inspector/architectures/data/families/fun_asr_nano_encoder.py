"""Fun-ASR-Nano's encoder: attention with a convolution over the values, on stacked frames of a spectrogram.

modeling_fun_asr_nano.py. The last layer and the last before those that time the words have a norm after them.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}."
#: The first layer reads the stacked frames.
INTO = "(num_mel_bins * num_stacked_frames if layer == 0 else 0) or hidden_size"
LAST = "layer in [num_hidden_layers - 1, num_hidden_layers - 1 - num_timestamp_prediction_layers]"

FAMILY = Family(
    name="fun_asr_nano_encoder",
    types={"fun_asr_nano_encoder": {}},
    rows=(
        Row("input_layernorm", LAYER + "input_layernorm", INTO, bias="True"),
        Row("q_proj", LAYER + "self_attn.q_proj", f"hidden_size, {INTO}", bias="True"),
        Row("k_proj", LAYER + "self_attn.k_proj", f"hidden_size, {INTO}", bias="True"),
        Row("v_proj", LAYER + "self_attn.v_proj", f"hidden_size, {INTO}", bias="True"),
        Row("o_proj", LAYER + "self_attn.o_proj", "hidden_size, hidden_size", bias="True"),
        Row("fsmn_conv", LAYER + "self_attn.fsmn.conv", "hidden_size, 1, fsmn_kernel_size", group="attention"),
        Row("post_attention_layernorm", LAYER + "post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + "mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + "mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", LAYER + "final_layernorm", "hidden_size", bias="True", when=LAST),
    ),
    classes={"FunAsrNanoEncoder": "Model"},
    head="Model",
    defaults={
        "num_mel_bins": 80,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_hidden_layers": 70,
        "num_stacked_frames": 7,
        "num_timestamp_prediction_layers": 20,
        "fsmn_kernel_size": 11,
    },
)
