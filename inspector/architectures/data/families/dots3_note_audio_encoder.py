"""dots3.note's audio tower: convolutions over time and frequency, then layers without biases of keys."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

ENCODER = "dots_encoder.speech_encoder."
LAYER = ENCODER + "layers.{layer<num_hidden_layers}."


def convolutions() -> Iterator[Row]:
    """Each halves both time and frequency."""
    for number, before in ((1, "1"), (2, "downsample_hidden_size"), (3, "downsample_hidden_size")):
        shape = f"downsample_hidden_size, {before}, 3, 3"
        yield Row(f"conv2d{number}", f"{ENCODER}conv2d{number}", shape, bias="True")
    yield Row("conv_out", ENCODER + "conv_out", "hidden_size, conv_output_size")


FAMILY = Family(
    name="dots3_note_audio_encoder",
    types={"dots3_note_audio_encoder": {}},
    rows=(
        *convolutions(),
        Row("input_layernorm", LAYER + "self_attn_layer_norm", "hidden_size"),
        Row("q_proj", LAYER + "self_attn.q_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("k_proj", LAYER + "self_attn.k_proj", "hidden_size, hidden_size"),
        Row("v_proj", LAYER + "self_attn.v_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("o_proj", LAYER + "self_attn.out_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("post_attention_layernorm", LAYER + "final_layer_norm", "hidden_size"),
        Row("gate_up_proj", LAYER + "fc1", "2 * intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + "fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", ENCODER + "layer_norm", "hidden_size"),
    ),
    head="Model",
    defaults={
        "adapter_input_size": 1280,
        "adapter_out_dim": 5120,
        "attention_bias": True,
        "downsample_hidden_size": 480,
        "feature_size": 128,
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "num_hidden_layers": 32,
    },
    derived={"conv_output_size": "downsample_hidden_size * ceil(feature_size / 8)"},
)
