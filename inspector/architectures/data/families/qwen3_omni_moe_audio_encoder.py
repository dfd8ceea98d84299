"""Qwen3-Omni's audio tower: Whisper's layers after three convolutions over time and frequency."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<encoder_layers}"


def linear(role: str, name: str, shape: str, tower: str = "text") -> Row:
    return Row(role, name, shape, bias="True", tower=tower)


def convolutions() -> Iterator[Row]:
    """Each halves both time and frequency."""
    for number, before in ((1, "1"), (2, "downsample_hidden_size"), (3, "downsample_hidden_size")):
        yield linear(f"conv2d{number}", f"conv2d{number}", f"downsample_hidden_size, {before}, 3, 3")
    bins = "ceil(num_mel_bins / 8)"
    yield Row("conv_out", "conv_out", f"d_model, downsample_hidden_size * {bins}")


FAMILY = Family(
    name="qwen3_omni_moe_audio_encoder",
    types={"qwen3_omni_moe_audio_encoder": {}},
    rows=(
        *convolutions(),
        linear("input_layernorm", LAYER + ".self_attn_layer_norm", "d_model"),
        linear("q_proj", LAYER + ".self_attn.q_proj", "d_model, d_model"),
        linear("k_proj", LAYER + ".self_attn.k_proj", "d_model, d_model"),
        linear("v_proj", LAYER + ".self_attn.v_proj", "d_model, d_model"),
        linear("o_proj", LAYER + ".self_attn.out_proj", "d_model, d_model"),
        linear("post_attention_layernorm", LAYER + ".final_layer_norm", "d_model"),
        linear("up_proj", LAYER + ".fc1", "encoder_ffn_dim, d_model"),
        linear("down_proj", LAYER + ".fc2", "d_model, encoder_ffn_dim"),
        linear("norm", "ln_post", "d_model"),
        linear("linear_1", "proj1", "d_model, d_model", "audio_projector"),
        linear("linear_2", "proj2", "output_dim, d_model", "audio_projector"),
    ),
    head="Model",
    defaults={
        "d_model": 1280,
        "downsample_hidden_size": 480,
        "encoder_ffn_dim": 5120,
        "encoder_layers": 32,
        "num_mel_bins": 128,
        "output_dim": 3584,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
)
