"""IDEFICS: Llama with gated layers that attend to CLIP's features, as they are or resampled."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import ATTENTION, EMBED_TOKENS, FEED_FORWARD, NORMS, gated
from inspector.architectures.table import Family, Include, Row

CROSS = "model.gated_cross_attn_layers.{layer<num_hidden_layers // cross_layer_interval}"
RESAMPLER = "model.perceiver_resampler."
BLOCK = RESAMPLER + "blocks.{layer<perceiver_config.resampler_depth}"
INNER = "perceiver_config.resampler_n_heads * perceiver_config.resampler_head_dim"
IMAGE = "vision_config.embed_dim"
HEAD = "ForVisionText2Text"


def cross_layer() -> Iterator[Row]:
    """Attention to the image and a feed-forward, each through a gate: one number, or one a channel."""
    attention = CROSS + ".cross_attn"
    yield Row("cross_input_layernorm", CROSS + ".input_layernorm", "hidden_size")
    yield Row("cross_q_proj", attention + ".q_proj", "hidden_size, hidden_size")
    yield Row("cross_k_proj", attention + ".k_proj", f"hidden_size, {IMAGE}")
    yield Row("cross_v_proj", attention + ".v_proj", f"hidden_size, {IMAGE}")
    yield Row("cross_o_proj", attention + ".o_proj", "hidden_size, hidden_size")
    yield Row("cross_q_norm", attention + ".q_layer_norm", "head_dim", when="qk_layer_norms")
    yield Row("cross_k_norm", attention + ".k_layer_norm", "head_dim", when="qk_layer_norms")
    yield Row("cross_post_attention_layernorm", CROSS + ".post_attention_layernorm", "hidden_size")
    yield from gated(CROSS + ".mlp", "intermediate_size", prefix="cross_")
    for role, group in (("alpha_cross_attn", "attention"), ("alpha_dense", "feed_forward")):
        for kind, shape in (("float", "1"), ("vector", "1, 1, hidden_size")):
            yield Row(role, f"{CROSS}.{role}", shape, when=f"alpha_type == '{kind}'", leaf="", group=group)


def resampled(
    role: str,
    name: str,
    shape: str,
    *,
    bias: str = "",
    when: str = "use_resampler",
    leaf: str = "weight",
    group: str = "",
) -> Row:
    """A row of the perceiver that makes the image's features so many."""
    return Row(role, name, shape, bias=bias, when=when, tower="projector", leaf=leaf, group=group)


def perceiver() -> Iterator[Row]:
    """Latents that attend to the image, and a feed-forward, in each block."""
    yield resampled(
        "latents", RESAMPLER + "latents", f"perceiver_config.resampler_n_latents, {IMAGE}", leaf="", group="embedding"
    )
    for role in ("context_layer_norm", "latents_layer_norm"):
        yield resampled(role, f"{BLOCK}.0.{role}", IMAGE, bias="True")
    for role in ("q_proj", "k_proj", "v_proj"):
        yield resampled(role, f"{BLOCK}.0.{role}", f"{INNER}, {IMAGE}")
    yield resampled("o_proj", BLOCK + ".0.output_proj", f"{IMAGE}, {INNER}")
    for role in ("q_norm", "k_norm"):
        name = f"{BLOCK}.0.{role[0]}_layer_norm"
        when = "use_resampler and perceiver_config.qk_layer_norms_perceiver"
        yield resampled(role, name, "perceiver_config.resampler_head_dim", bias="True", when=when)
    yield resampled("post_attention_layernorm", BLOCK + ".1.ln", IMAGE, bias="True")
    yield resampled("up_proj", BLOCK + ".1.fc", f"4 * {IMAGE}, {IMAGE}")
    yield resampled("down_proj", BLOCK + ".1.c_proj", f"{IMAGE}, 4 * {IMAGE}")
    yield resampled("norm", RESAMPLER + "layer_norm", IMAGE, bias="True")


FAMILY = Family(
    name="idefics",
    types={"idefics": {}},
    rows=(
        EMBED_TOKENS,
        Row(
            "embed_more_tokens",
            "model.embed_tokens.additional_embedding",
            "additional_vocab_size, hidden_size",
            when="additional_vocab_size > 0",
        ),
        Include("vision_config", "model.vision_model.", tower="vision", head="Model", default_type="idefics_vision"),
        *perceiver(),
        *ATTENTION,
        *FEED_FORWARD,
        *NORMS,
        *cross_layer(),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads=HEAD, tied="tie_word_embeddings"),
        Row(
            "additional_fc",
            "lm_head.additional_fc",
            "additional_vocab_size, hidden_size",
            when="additional_vocab_size > 0",
            heads=HEAD,
            tied="tie_word_embeddings",
            group="head",
        ),
    ),
    prefix="model.",
    head=HEAD,
    defaults={
        "additional_vocab_size": 0,
        "alpha_type": "float",
        "attention_bias": False,
        "cross_layer_interval": 1,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "mlp_bias": False,
        "norm_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "perceiver_config": {
            "qk_layer_norms_perceiver": False,
            "resampler_depth": 6,
            "resampler_head_dim": 96,
            "resampler_n_heads": 16,
            "resampler_n_latents": 64,
        },
        "qk_layer_norms": False,
        "qk_norm": False,
        "tie_word_embeddings": False,
        "use_resampler": False,
        "vision_config": {},
        "vocab_size": 32000,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "o_bias": "attention_bias",
        "qkv_bias": "attention_bias",
    },
)
