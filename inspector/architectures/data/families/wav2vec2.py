"""wav2vec 2.0, and what its relatives share with it: convolutions over the waveform, a transformer, heads.

modeling_wav2vec2.py. The relatives' modules take these rows under their own prefix.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

CTC, PRETRAINING, SEQUENCE = "ForCTC", "ForPreTraining", "ForSequenceClassification"
FRAME, XVECTOR = "ForAudioFrameClassification", "ForXVector"
#: What is told of a sound as a whole, or of its frames, may be told from all layers, weighted.
CLASSIFIERS = f"{SEQUENCE} {FRAME} {XVECTOR}"

MASKED = "mask_time_prob > 0 or mask_feature_prob > 0"


def linear(role: str, name: str, shape: str, when: str = "", group: str = "", heads: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=when, group=group, heads=heads)


def masked_embedding(prefix: str, when: str = MASKED) -> Row:
    """What stands for a masked frame."""
    return Row("masked_spec_embed", prefix + "masked_spec_embed", "hidden_size", when=when, leaf="")


def waveform_encoder(
    prefix: str, normed: str = "feat_extract_norm == 'layer' or layer == 0", word: str = "feature_extractor"
) -> Iterator[Row]:
    """The convolutions over the waveform; with a group norm the first layer alone has a norm."""
    layer = f"{prefix}{word}.conv_layers.{{layer<len(conv_dim)}}."
    into = "conv_dim[layer - 1] if layer > 0 else 1"
    yield Row("conv", layer + "conv", f"conv_dim[layer], {into}, conv_kernel[layer]", bias="conv_bias")
    yield linear("conv_norm", layer + "layer_norm", "conv_dim[layer]", normed)


def feature_projection(prefix: str, normed: str = "") -> Iterator[Row]:
    yield linear("feature_norm", prefix + "feature_projection.layer_norm", "conv_dim[-1]", normed)
    yield linear(
        "feature_projection", prefix + "feature_projection.projection", "hidden_size, conv_dim[-1]", group="embedding"
    )


def positional_convolution(prefix: str, when: str = "", part: str = "encoder.") -> Iterator[Row]:
    """Places, told by a wide grouped convolution whose weight is split into lengths and directions."""
    at = f"{prefix}{part}pos_conv_embed.conv"
    split = at + ".parametrizations.weight.original"
    shape = "hidden_size, hidden_size // num_conv_pos_embedding_groups, num_conv_pos_embeddings"
    yield Row("embed_positions", at, "hidden_size", leaf="bias")
    yield Row("embed_positions_g", split + "0", "1, 1, num_conv_pos_embeddings", when=when, leaf="")
    yield Row("embed_positions_v", split + "1", shape, when=when, leaf="")


def layers(prefix: str) -> Iterator[Row]:
    """The transformer's layers, and the norm before or after them all."""
    layer = prefix + "encoder.layers.{layer<num_hidden_layers}."
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield linear(role, f"{layer}attention.{word}", "hidden_size, hidden_size")
    yield linear("post_attention_layernorm", layer + "layer_norm", "hidden_size")
    yield linear("up_proj", layer + "feed_forward.intermediate_dense", "intermediate_size, hidden_size")
    yield linear("down_proj", layer + "feed_forward.output_dense", "hidden_size, intermediate_size")
    yield linear("post_feedforward_layernorm", layer + "final_layer_norm", "hidden_size")
    yield linear("norm", prefix + "encoder.layer_norm", "hidden_size")


def language_adapters(prefix: str) -> Iterator[Row]:
    """An adapter at the end of each layer, as MMS has one a language; layers that norm first have it alone."""
    layer = prefix + "encoder.layers.{layer<num_hidden_layers}.adapter_layer."
    there = "adapter_attn_dim is not None and do_stable_layer_norm"
    yield linear("adapter_norm", layer + "norm", "hidden_size", there, "adapter")
    yield linear("adapter_linear_1", layer + "linear_1", "adapter_attn_dim, hidden_size", there)
    yield linear("adapter_linear_2", layer + "linear_2", "hidden_size, adapter_attn_dim", there)


def adapter(prefix: str) -> Iterator[Row]:
    """Convolutions that stride, after the transformer."""
    differs = "add_adapter and output_hidden_size != hidden_size"
    yield linear("adapter_proj", prefix + "adapter.proj", "output_hidden_size, hidden_size", differs)
    yield linear("adapter_proj_norm", prefix + "adapter.proj_layer_norm", "output_hidden_size", differs)
    yield linear(
        "adapter_conv",
        prefix + "adapter.layers.{layer<num_adapter_layers}.conv",
        "2 * output_hidden_size, output_hidden_size, adapter_kernel_size",
        "add_adapter",
    )


def quantizer(width: str = "conv_dim[-1]", hidden: str = "proj_codevector_dim, hidden_size") -> Iterator[Row]:
    """Pre-training's codebooks: what is to be told of a masked frame."""
    number = "num_codevector_groups * num_codevectors_per_group"
    yield Row(
        "codevectors",
        "quantizer.codevectors",
        f"1, {number}, codevector_dim // num_codevector_groups",
        heads=PRETRAINING,
        leaf="",
        group="head",
    )
    for role, name, shape in (
        ("weight_proj", "quantizer.weight_proj", f"{number}, {width}"),
        ("project_hid", "project_hid", hidden),
        ("project_q", "project_q", "proj_codevector_dim, codevector_dim"),
    ):
        yield linear(role, name, shape, group="head", heads=PRETRAINING)


def heads() -> Iterator[Row]:
    """Text, classes of a whole or of frames, and voices."""
    width = "output_hidden_size if add_adapter else hidden_size"
    yield linear("lm_head", "lm_head", f"vocab_size, {width}", heads=CTC)
    yield Row(
        "layer_weights",
        "layer_weights",
        "num_hidden_layers + 1",
        heads=CLASSIFIERS,
        when="use_weighted_layer_sum",
        leaf="",
        group="head",
    )
    before = "tdnn_dim[at - 1] if at > 0 else tdnn_dim[0]"
    for role, name, shape, of in (
        ("projector", "projector", "classifier_proj_size, hidden_size", SEQUENCE),
        ("classifier", "classifier", "num_labels, classifier_proj_size", SEQUENCE),
        ("classifier", "classifier", "num_labels, hidden_size", FRAME),
        ("projector", "projector", "tdnn_dim[0], hidden_size", XVECTOR),
        ("tdnn", "tdnn.{at<len(tdnn_dim)}.kernel", f"tdnn_dim[at], tdnn_kernel[at] * ({before})", XVECTOR),
        ("xvector", "feature_extractor", "xvector_output_dim, 2 * tdnn_dim[-1]", XVECTOR),
        ("classifier", "classifier", "xvector_output_dim, xvector_output_dim", XVECTOR),
    ):
        yield linear(role, name, shape, group="head", heads=of)
    yield Row("objective", "objective", "xvector_output_dim, num_labels", heads=XVECTOR, group="head")


SIZES = {
    "vocab_size": 32,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "feat_extract_norm": "group",
    "conv_dim": [512, 512, 512, 512, 512, 512, 512],
    "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
    "conv_bias": False,
    "num_conv_pos_embeddings": 128,
    "num_conv_pos_embedding_groups": 16,
    "do_stable_layer_norm": False,
    "mask_time_prob": 0.05,
    "mask_feature_prob": 0.0,
    "num_codevectors_per_group": 320,
    "num_codevector_groups": 2,
    "codevector_dim": 256,
    "proj_codevector_dim": 256,
    "use_weighted_layer_sum": False,
    "classifier_proj_size": 256,
    "tdnn_dim": [512, 512, 512, 512, 1500],
    "tdnn_kernel": [5, 3, 3, 1, 1],
    "xvector_output_dim": 512,
    "add_adapter": False,
    "adapter_kernel_size": 3,
    "num_adapter_layers": 3,
    "adapter_attn_dim": None,
}
#: The width after the adapter, where nothing says.
DERIVED = {"output_hidden_size": "hidden_size"}

FAMILY = Family(
    name="wav2vec2",
    types={"wav2vec2": {}},
    rows=(
        masked_embedding("wav2vec2."),
        *waveform_encoder("wav2vec2."),
        *feature_projection("wav2vec2."),
        *positional_convolution("wav2vec2."),
        *layers("wav2vec2."),
        *language_adapters("wav2vec2."),
        *adapter("wav2vec2."),
        *quantizer(),
        *heads(),
    ),
    prefix="wav2vec2.",
    head=PRETRAINING,
    defaults=SIZES,
    derived=DERIVED,
)
