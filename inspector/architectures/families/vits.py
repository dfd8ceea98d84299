"""VITS: from text to sound by a flow, durations drawn or predicted, and HiFi-GAN's decoder."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "text_encoder.encoder.layers.{layer<num_hidden_layers}."
SQUARE = "hidden_size, hidden_size"
SPEAKS = "speaker_embedding_size != 0"
DRAWN, PREDICTED = "use_stochastic_duration_prediction", "not use_stochastic_duration_prediction"


def convolution(role: str, name: str, shape: str, tower: str, when: str = "", bias: str = "True") -> Row:
    """A convolution over time, by default with its bias."""
    return Row(role, name, shape, bias=bias, when=when, tower=tower, group="convolution")


def normed(role: str, name: str, out: str, inside: str, tower: str, when: str = "") -> Iterator[Row]:
    """A convolution whose weight is stored as length and direction."""

    def row(role: str, name: str, shape: str, leaf: str = "") -> Row:
        return Row(role, name, shape, when=when, tower=tower, leaf=leaf, group="convolution")

    yield row(role, name, out, "bias")
    yield row(f"{role}_length", f"{name}.parametrizations.weight.original0", f"{out}, 1, 1")
    yield row(f"{role}_direction", f"{name}.parametrizations.weight.original1", f"{out}, {inside}")


def wavenet(at: str, layers: str, tower: str) -> Iterator[Row]:
    """Gated convolutions, each with what goes on and what is added up; the last has only the latter."""
    index = f"{{at<{layers}}}"
    yield from normed(
        "in_layers", f"{at}.in_layers.{index}", "2 * hidden_size", "hidden_size, wavenet_kernel_size", tower
    )
    out = f"(hidden_size if at == {layers} - 1 else 2 * hidden_size)"
    yield from normed("res_skip_layers", f"{at}.res_skip_layers.{index}", out, "hidden_size, 1", tower)
    spoken = f"2 * hidden_size * {layers}"
    yield from normed("cond_layer", f"{at}.cond_layer", spoken, "speaker_embedding_size, 1", tower, SPEAKS)


def text_encoder() -> Iterator[Row]:
    """A transformer with relative positions, whose feed-forward looks at neighbours."""
    yield Row("embed_tokens", "text_encoder.embed_tokens", "vocab_size, hidden_size")
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield Row(role, f"{LAYER}attention.{word}", SQUARE, bias="use_bias")
    for word in ("emb_rel_k", "emb_rel_v"):
        yield Row(
            word,
            f"{LAYER}attention.{word}",
            "1, 2 * window_size + 1, hidden_size // num_attention_heads",
            when="window_size",
            leaf="",
            group="attention",
        )
    yield Row("post_attention_layernorm", LAYER + "layer_norm", "hidden_size", bias="True")
    yield Row("up_proj", LAYER + "feed_forward.conv_1", "ffn_dim, hidden_size, ffn_kernel_size", bias="True")
    yield Row("down_proj", LAYER + "feed_forward.conv_2", "hidden_size, ffn_dim, ffn_kernel_size", bias="True")
    yield Row("post_feedforward_layernorm", LAYER + "final_layer_norm", "hidden_size", bias="True")
    yield convolution("project", "text_encoder.project", "2 * flow_size, hidden_size, 1", "text")


def flow() -> Iterator[Row]:
    """Steps that turn one half of the latent by what the other half says."""
    at = "flow.flows.{layer<prior_encoder_num_flows}."
    yield convolution("conv_pre", at + "conv_pre", "hidden_size, flow_size // 2, 1", "flow")
    yield from wavenet(at + "wavenet", "prior_encoder_num_wavenet_layers", "flow")
    yield convolution("conv_post", at + "conv_post", "flow_size // 2, hidden_size, 1", "flow")


def decoder() -> Iterator[Row]:
    """HiFi-GAN: each step makes the sound finer at half the width, and several kernels look at it."""
    width = "upsample_initial_channel"
    yield convolution("conv_pre", "decoder.conv_pre", f"{width}, flow_size, 7", "decoder")
    steps = "decoder.upsampler.{layer<len(upsample_rates)}"
    finer = f"{width} // 2 ** layer, {width} // 2 ** (layer + 1), upsample_kernel_sizes[layer]"
    yield convolution("upsampler", steps, finer, "decoder", bias="")
    yield Row("upsampler", steps, f"{width} // 2 ** (layer + 1)", tower="decoder", leaf="bias", group="convolution")
    kernels = "len(resblock_kernel_sizes)"
    block = f"decoder.resblocks.{{layer<len(upsample_rates) * {kernels}}}."
    wide = f"{width} // 2 ** (layer // {kernels} + 1)"
    for word in ("convs1", "convs2"):
        name = f"{block}{word}.{{at<len(resblock_dilation_sizes[layer % {kernels}])}}"
        yield convolution(word, name, f"{wide}, {wide}, resblock_kernel_sizes[layer % {kernels}]", "decoder")
    last = f"1, {width} // 2 ** len(upsample_rates), 7"
    yield convolution("conv_post", "decoder.conv_post", last, "decoder", bias="")
    yield convolution("cond", "decoder.cond", f"{width}, speaker_embedding_size, 1", "decoder", SPEAKS)


def separable(role: str, at: str, when: str) -> Iterator[Row]:
    """Convolutions within each channel and across them, a norm after each."""
    for word, shape in (
        ("convs_dilated", "hidden_size, 1, duration_predictor_kernel_size"),
        ("convs_pointwise", f"{SQUARE}, 1"),
        ("norms_1", "hidden_size"),
        ("norms_2", "hidden_size"),
    ):
        name = f"{at}.{word}.{{at<depth_separable_num_layers}}"
        row = convolution(f"{role}{word}", name, shape, "duration", when)
        yield row._replace(group="norm") if "norms" in word else row


def drawn_durations() -> Iterator[Row]:
    """A flow that draws durations, and one that training reads them by."""
    for before in ("", "post_"):
        at = f"duration_predictor.{before}"
        inside = "1" if before else "hidden_size"
        yield convolution(f"{before}conv_pre", at + "conv_pre", f"hidden_size, {inside}, 1", "duration", DRAWN)
        yield convolution(f"{before}conv_proj", at + "conv_proj", f"{SQUARE}, 1", "duration", DRAWN)
        yield from separable(before, at + "conv_dds", DRAWN)
        flow = at + "flows.{layer<duration_predictor_num_flows + 1}."
        for word in ("translate", "log_scale"):
            yield Row(
                before + word,
                flow + word,
                "depth_separable_channels, 1",
                when=f"{DRAWN} and layer == 0",
                tower="duration",
                leaf="",
                group="other",
            )
        later, half = f"{DRAWN} and layer > 0", "depth_separable_channels // 2"
        role = f"{before}flow_"
        yield convolution(role + "conv_pre", flow + "conv_pre", f"hidden_size, {half}, 1", "duration", later)
        yield from separable(role, flow + "conv_dds", later)
        bins = f"{half} * (3 * duration_predictor_flow_bins - 1), hidden_size, 1"
        yield convolution(role + "conv_proj", flow + "conv_proj", bins, "duration", later)


def predicted_durations() -> Iterator[Row]:
    """Two convolutions and a number for each letter."""
    at, width = "duration_predictor.", "duration_predictor_filter_channels"
    for number, inside in (("1", "hidden_size"), ("2", width)):
        shape = f"{width}, {inside}, duration_predictor_kernel_size"
        yield convolution(f"conv_{number}", f"{at}conv_{number}", shape, "duration", PREDICTED)
        norm = convolution(f"norm_{number}", f"{at}norm_{number}", width, "duration", PREDICTED)
        yield norm._replace(group="norm")
    yield convolution("proj", at + "proj", f"1, {width}, 1", "duration", PREDICTED)


FAMILY = Family(
    name="vits",
    types={"vits": {}},
    rows=(
        *text_encoder(),
        *flow(),
        *decoder(),
        *drawn_durations(),
        *predicted_durations(),
        convolution("cond", "duration_predictor.cond", "hidden_size, speaker_embedding_size, 1", "duration", SPEAKS),
        Row(
            "embed_speaker",
            "embed_speaker",
            "num_speakers, speaker_embedding_size",
            when="num_speakers > 1",
            group="embedding",
        ),
        convolution("conv_pre", "posterior_encoder.conv_pre", "hidden_size, spectrogram_bins, 1", "posterior"),
        *wavenet("posterior_encoder.wavenet", "posterior_encoder_num_wavenet_layers", "posterior"),
        convolution("conv_proj", "posterior_encoder.conv_proj", "2 * flow_size, hidden_size, 1", "posterior"),
    ),
    defaults={
        "depth_separable_channels": 2,
        "depth_separable_num_layers": 3,
        "duration_predictor_filter_channels": 256,
        "duration_predictor_flow_bins": 10,
        "duration_predictor_kernel_size": 3,
        "duration_predictor_num_flows": 4,
        "ffn_dim": 768,
        "ffn_kernel_size": 3,
        "flow_size": 192,
        "hidden_size": 192,
        "num_attention_heads": 2,
        "num_hidden_layers": 6,
        "num_speakers": 1,
        "posterior_encoder_num_wavenet_layers": 16,
        "prior_encoder_num_flows": 4,
        "prior_encoder_num_wavenet_layers": 4,
        "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
        "resblock_kernel_sizes": [3, 7, 11],
        "speaker_embedding_size": 0,
        "spectrogram_bins": 513,
        "upsample_initial_channel": 512,
        "upsample_kernel_sizes": [16, 16, 4, 4],
        "upsample_rates": [8, 8, 2, 2],
        "use_bias": True,
        "use_stochastic_duration_prediction": True,
        "vocab_size": 38,
        "wavenet_kernel_size": 5,
        "window_size": 4,
    },
    head="Model",
)
