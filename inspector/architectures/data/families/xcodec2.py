"""X-Codec 2 and NeuCodec: a DAC-like encoder beside Wav2Vec2-BERT, codes by rounding, and a transformer that speaks.

modeling_xcodec2.py, modeling_neucodec.py: NeuCodec speaks at a higher rate than it hears.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import dac
from inspector.architectures.table import Family, Include, Row

SEMANTIC = "semantic_model_config.hidden_size"


def snake(role: str, name: str, width: str, tower: str) -> Iterator[Row]:
    """An activation with a learnt frequency and magnitude a channel."""
    for word in ("alpha", "beta"):
        yield Row(f"{role}_{word}", f"{name}.act.{word}", width, tower=tower, leaf="", group="convolution")


def net(name: str) -> Iterator[Row]:
    """Two residual blocks, before or after the transformer."""
    at = f"acoustic_decoder.{name}.{{layer<2}}."
    for word in ("1", "2"):
        yield decoder(f"{name}_norm{word}", f"{at}norm{word}", "hidden_size")
        yield decoder(f"{name}_conv{word}", f"{at}conv{word}", "hidden_size, hidden_size, 3")


def decoder(role: str, name: str, shape: str) -> Row:
    return Row(role, name, shape, bias="True", tower="decoder")


def transformer() -> Iterator[Row]:
    layer = "acoustic_decoder.layers.{layer<num_hidden_layers}."
    heads, shared = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"
    for role, word, shape in (
        ("input_layernorm", "input_layernorm", "hidden_size"),
        ("q_proj", "self_attn.q_proj", f"{heads}, hidden_size"),
        ("k_proj", "self_attn.k_proj", f"{shared}, hidden_size"),
        ("v_proj", "self_attn.v_proj", f"{shared}, hidden_size"),
        ("o_proj", "self_attn.o_proj", f"hidden_size, {heads}"),
        ("post_attention_layernorm", "post_attention_layernorm", "hidden_size"),
        ("up_proj", "mlp.fc1", "intermediate_size, hidden_size"),
        ("down_proj", "mlp.fc2", "hidden_size, intermediate_size"),
    ):
        bias = "attention_bias" if "self_attn" in word else ""
        yield Row(role, layer + word, shape, bias=bias, tower="decoder")


def adapter() -> Iterator[Row]:
    """The semantic encoder's features, convolved; the inner convolutions have a bias."""
    for number in (1, 2, 3, 4):
        yield Row(
            f"conv{number}",
            f"semantic_adapter.conv{number}",
            f"{SEMANTIC}, {SEMANTIC}, 3",
            bias="True" if number in (2, 3) else "",
            tower="projector",
        )


FAMILY = Family(
    name="xcodec2",
    types={"xcodec2": {"output_sampling_rate": 16000}, "neucodec": {"output_sampling_rate": 24000}},
    rows=(
        Include(
            "semantic_model_config", "semantic_encoder.", tower="semantic", head="Model", default_type="wav2vec2-bert"
        ),
        *adapter(),
        *dac.encoder("acoustic_encoder.", activation=snake),
        Row(
            "fc_encoder",
            "fc_encoder",
            f"hidden_size + {SEMANTIC}, hidden_size + {SEMANTIC}",
            bias="True",
            group="other",
        ),
        Row("project_in", "quantizer.project_in", "len(quantization_levels), quantization_dim", bias="True"),
        Row("project_out", "quantizer.project_out", "quantization_dim, len(quantization_levels)", bias="True"),
        decoder("fc", "acoustic_decoder.fc", f"hidden_size, hidden_size + {SEMANTIC}"),
        decoder("embed", "acoustic_decoder.embed", "hidden_size, hidden_size, 7"),
        *net("prior_net"),
        *transformer(),
        *net("post_net"),
        decoder("norm", "acoustic_decoder.norm", "hidden_size"),
        # Magnitudes and phases of a Fourier transform four hops long.
        decoder("head", "acoustic_decoder.head.linear", "4 * hop_length + 2, hidden_size"),
    ),
    head="Model",
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 12,
        "num_attention_heads": 16,
        "head_dim": 64,
        "attention_bias": False,
        "encoder_hidden_size": 48,
        "downsampling_ratios": [2, 2, 4, 4, 5],
        "quantization_dim": 2048,
        "quantization_levels": [4, 4, 4, 4, 4, 4, 4, 4],
        "input_sampling_rate": 16000,
        "semantic_model_config": {"num_hidden_layers": 16},
    },
    derived={
        "num_key_value_heads": "num_attention_heads",
        "hop_length": "int(product(downsampling_ratios) * output_sampling_rate / input_sampling_rate)",
    },
)
