"""VITS: a text encoder, how long each sound lasts, a flow, a vocoder, and the encoder that training needs.

modeling_vits.py. Durations come from a flow of their own, or from two convolutions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.architectures.data.families.encodec import both
from inspector.architectures.data.families.hifigan import hifigan
from inspector.architectures.table import Family, Row

STOCHASTIC = "use_stochastic_duration_prediction"
SPEAKERS = "speaker_embedding_size != 0"
DURATIONS = "duration_predictor."


def linear(role: str, name: str, shape: str, when: str = "", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=when, group=group)


def text_encoder() -> Iterator[Row]:
    """A transformer with places by distance, whose feed-forward is of convolutions."""
    at = "text_encoder."
    layer = at + "encoder.layers.{layer<num_hidden_layers}."
    yield Row("embed_tokens", at + "embed_tokens", "vocab_size, hidden_size")
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield Row(role, f"{layer}attention.{word}", "hidden_size, hidden_size", bias="use_bias")
    for word in ("emb_rel_k", "emb_rel_v"):
        yield Row(
            word,
            f"{layer}attention.{word}",
            "1, 2 * window_size + 1, hidden_size // num_attention_heads",
            when="window_size",
            leaf="",
            group="attention",
        )
    yield linear("post_attention_layernorm", layer + "layer_norm", "hidden_size")
    yield linear("up_proj", layer + "feed_forward.conv_1", "ffn_dim, hidden_size, ffn_kernel_size")
    yield linear("down_proj", layer + "feed_forward.conv_2", "hidden_size, ffn_dim, ffn_kernel_size")
    yield linear("post_feedforward_layernorm", layer + "final_layer_norm", "hidden_size")
    yield linear("project", at + "project", "2 * flow_size, hidden_size, 1")


def weight_normed(role: str, name: str, out: str, into: str, kernel: str, when: str = "") -> Iterator[Row]:
    """A convolution whose weight is split into lengths and directions."""
    split = name + ".parametrizations.weight.original"
    yield Row(role, name, out, when=when, leaf="bias", group="convolution")
    yield Row(role + "_g", split + "0", f"{out}, 1, 1", when=when, leaf="", group="convolution")
    yield Row(role + "_v", split + "1", f"{out}, {into}, {kernel}", when=when, leaf="", group="convolution")


def wavenet(at: str, number: str) -> Iterator[Row]:
    """Gated convolutions; all layers but the last go on and skip at once."""
    out = f"(hidden_size if at == {number} - 1 else 2 * hidden_size)"
    yield from weight_normed(
        "cond_layer", at + "cond_layer", f"2 * hidden_size * {number}", "speaker_embedding_size", "1", SPEAKERS
    )
    yield from weight_normed(
        "in_layers", f"{at}in_layers.{{at<{number}}}", "2 * hidden_size", "hidden_size", "wavenet_kernel_size"
    )
    yield from weight_normed("res_skip_layers", f"{at}res_skip_layers.{{at<{number}}}", out, "hidden_size", "1")


def flow() -> Iterator[Row]:
    at = "flow.flows.{layer<prior_encoder_num_flows}."
    yield linear("conv_pre", at + "conv_pre", "hidden_size, flow_size // 2, 1")
    yield from wavenet(at + "wavenet.", "prior_encoder_num_wavenet_layers")
    yield linear("conv_post", at + "conv_post", "flow_size // 2, hidden_size, 1")


def posterior_encoder() -> Iterator[Row]:
    at = "posterior_encoder."
    yield linear("conv_pre", at + "conv_pre", "hidden_size, spectrogram_bins, 1")
    yield from wavenet(at + "wavenet.", "posterior_encoder_num_wavenet_layers")
    yield linear("conv_proj", at + "conv_proj", "2 * flow_size, hidden_size, 1")


def separable(before: str, at: str, when: str = "") -> Iterator[Row]:
    """Depthwise and pointwise convolutions, with a norm after each."""
    for role, word, shape in (
        ("convs_dilated", "convs_dilated", "hidden_size, 1, duration_predictor_kernel_size"),
        ("convs_pointwise", "convs_pointwise", "hidden_size, hidden_size, 1"),
        ("norms_1", "norms_1", "hidden_size"),
        ("norms_2", "norms_2", "hidden_size"),
    ):
        yield linear(before + role, f"{at}{word}.{{at<depth_separable_num_layers}}", shape, when)


def duration_flow(before: str, word: str) -> Iterator[Row]:
    """A scale and a shift, then flows of splines."""
    first, further = f"{DURATIONS}{word}.{{layer<1}}.", f"{DURATIONS}{word}.{{layer<1 + duration_predictor_num_flows}}."
    for role in ("translate", "log_scale"):
        yield Row(before + role, first + role, "depth_separable_channels, 1", leaf="")
    half, spline = "depth_separable_channels // 2", "(3 * duration_predictor_flow_bins - 1)"
    yield linear(before + "flow_conv_pre", further + "conv_pre", f"hidden_size, {half}, 1", "layer > 0")
    yield from separable(before + "flow_", further + "conv_dds.", "layer > 0")
    yield linear(before + "flow_conv_proj", further + "conv_proj", f"{half} * {spline}, hidden_size, 1", "layer > 0")


def stochastic_durations() -> Iterator[Row]:
    """A flow to durations, and one from them that training needs."""
    for before, word, into in (("", "", "hidden_size"), ("post_", "post_", "1")):
        at = DURATIONS + word
        yield linear(before + "conv_pre", at + "conv_pre", f"hidden_size, {into}, 1")
        yield linear(before + "conv_proj", at + "conv_proj", "hidden_size, hidden_size, 1")
        yield from separable(before, at + "conv_dds.")
        yield from duration_flow(before, word + "flows")


def plain_durations() -> Iterator[Row]:
    inner, kernel = "duration_predictor_filter_channels", "duration_predictor_kernel_size"
    for role, shape in (
        ("conv_1", f"{inner}, hidden_size, {kernel}"),
        ("norm_1", inner),
        ("conv_2", f"{inner}, {inner}, {kernel}"),
        ("norm_2", inner),
        ("proj", f"1, {inner}, 1"),
    ):
        yield linear(role, DURATIONS + role, shape)


def part(rows: Iterable[Row], tower: str, when: str = "") -> Iterator[Row]:
    return (row._replace(tower=tower, when=both(when, row.when)) for row in rows)


def speaker(name: str, out: str) -> Row:
    """A voice, brought into a part."""
    return linear("cond", name, f"{out}, speaker_embedding_size, 1", SPEAKERS, "convolution")


FAMILY = Family(
    name="vits",
    types={"vits": {}},
    rows=(
        *part(text_encoder(), "text"),
        Row("embed_speaker", "embed_speaker", "num_speakers, speaker_embedding_size", when="num_speakers > 1"),
        *part(stochastic_durations(), "durations", STOCHASTIC),
        *part(plain_durations(), "durations", f"not {STOCHASTIC}"),
        *part([speaker(DURATIONS + "cond", "hidden_size")], "durations"),
        *part(flow(), "flow"),
        *part(hifigan("decoder.", "flow_size", bias=""), "decoder"),
        *part([speaker("decoder.cond", "upsample_initial_channel")], "decoder"),
        *part(posterior_encoder(), "encoder"),
    ),
    head="Model",
    defaults={
        "vocab_size": 38,
        "hidden_size": 192,
        "num_hidden_layers": 6,
        "num_attention_heads": 2,
        "window_size": 4,
        "use_bias": True,
        "ffn_dim": 768,
        "ffn_kernel_size": 3,
        "flow_size": 192,
        "spectrogram_bins": 513,
        "use_stochastic_duration_prediction": True,
        "num_speakers": 1,
        "speaker_embedding_size": 0,
        "upsample_initial_channel": 512,
        "upsample_rates": [8, 8, 2, 2],
        "upsample_kernel_sizes": [16, 16, 4, 4],
        "resblock_kernel_sizes": [3, 7, 11],
        "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
        "depth_separable_channels": 2,
        "depth_separable_num_layers": 3,
        "duration_predictor_filter_channels": 256,
        "duration_predictor_flow_bins": 10,
        "duration_predictor_kernel_size": 3,
        "duration_predictor_num_flows": 4,
        "prior_encoder_num_flows": 4,
        "prior_encoder_num_wavenet_layers": 4,
        "posterior_encoder_num_wavenet_layers": 16,
        "wavenet_kernel_size": 5,
    },
    fields={"intermediate_size": "ffn_dim"},
)
