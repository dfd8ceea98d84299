"""Evolla: Llama that is told of a protein, through layers between its own, by an encoder and a resampler."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import ATTENTION, EMBED_TOKENS, FEED_FORWARD, LAYER, NORMS
from inspector.architectures.table import Family, Row

PROTEIN = "model.protein_encoder.model."
RESAMPLER = "model.protein_encoder.sequence_compressor_resampler."
CONFIG = "protein_encoder_config"
WIDTH, WIDER = CONFIG + ".hidden_size", CONFIG + ".intermediate_size"
INNER = "resampler_heads * resampler_dim_head"
#: As many layers as are asked for have an adapter, evenly spread: modeling_evolla.py.
ADAPTED = "(layer + 1) % max(num_hidden_layers // aligner_num_add_layers, 1) == 0"


def protein(role: str, name: str, shape: str, *, bias: str = "True", when: str = "") -> Row:
    return Row(role, PROTEIN + name, shape, bias=bias, when=when, tower="encoder")


def attention(layer: str, name: str, before: str = "", when: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
        yield protein(before + role, f"{layer}.{name}.self.{word}", f"{WIDTH}, {WIDTH}", when=when)
    yield protein(before + "o_proj", f"{layer}.{name}.output.dense", f"{WIDTH}, {WIDTH}", when=when)
    yield protein(before + "input_layernorm", f"{layer}.{name}.LayerNorm", WIDTH, when=when)


def encoder() -> Iterator[Row]:
    """SaProt, which is ESM-2."""
    places = f"{CONFIG}.max_position_embeddings, {WIDTH}"
    absolute = f"{CONFIG}.position_embedding_type == 'absolute'"
    layer = f"encoder.layer.{{layer<{CONFIG}.num_hidden_layers}}"
    yield protein("embed_tokens", "embeddings.word_embeddings", f"{CONFIG}.vocab_size, {WIDTH}", bias="")
    yield protein("embed_positions", "embeddings.position_embeddings", places, bias="", when=absolute)
    yield protein("embed_norm", "embeddings.layer_norm", WIDTH, when=CONFIG + ".emb_layer_norm_before")
    yield Row(
        "inv_freq",
        PROTEIN + "rotary_embeddings.inv_freq",
        f"{WIDTH} // {CONFIG}.num_attention_heads // 2",
        leaf="",
        tower="encoder",
        buffer=True,
        persistent=True,
    )
    yield from attention(layer, "attention")
    yield from attention(layer, "crossattention", "cross_", CONFIG + ".add_cross_attention")
    yield protein("post_attention_layernorm", layer + ".LayerNorm", WIDTH)
    yield protein("up_proj", layer + ".intermediate.dense", f"{WIDER}, {WIDTH}")
    yield protein("down_proj", layer + ".output.dense", f"{WIDTH}, {WIDER}")
    yield protein("norm", "encoder.emb_layer_norm_after", WIDTH)


def resampled(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "") -> Row:
    return Row(role, RESAMPLER + name, shape, bias=bias, tower="projector", leaf=leaf, group=group)


def resampler() -> Iterator[Row]:
    """Latents that attend to the protein, and a feed-forward, in each layer."""
    attends, passes = "layers.{layer<resampler_depth}.0.", "layers.{layer<resampler_depth}.1."
    yield resampled("latents", "latents", f"resampler_num_latents, {WIDTH}", leaf="", group="embedding")
    yield resampled("norm_media", attends + "norm_media", WIDTH, bias="True")
    yield resampled("norm_latents", attends + "norm_latents", WIDTH, bias="True")
    yield resampled("q_proj", attends + "to_q", f"{INNER}, {WIDTH}")
    yield resampled("kv_proj", attends + "to_kv", f"2 * {INNER}, {WIDTH}")
    yield resampled("o_proj", attends + "to_out", f"{WIDTH}, {INNER}")
    yield resampled("pre_feedforward_layernorm", passes + "norm", WIDTH, bias="True")
    yield resampled("up_proj", passes + "fc1", f"resampler_ff_mult * {WIDTH}, {WIDTH}")
    yield resampled("down_proj", passes + "fc2", f"{WIDTH}, resampler_ff_mult * {WIDTH}")
    yield resampled("norm", "norm", "hidden_size", bias="True")
    yield resampled("protein_projector", "protein_projector", f"hidden_size, {WIDTH}", bias="True", group="other")


def adapted(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "attention") -> Row:
    return Row(f"protein_{role}", f"{LAYER}.adapter.{name}", shape, bias=bias, when=ADAPTED, leaf=leaf, group=group)


def adapter() -> Iterator[Row]:
    """Attention to the protein and a feed-forward, each through a gate."""
    heads = "num_attention_heads * head_dim, hidden_size"
    yield adapted("norm", "attention_norm", "hidden_size", group="norm")
    yield adapted("q_proj", "query", heads, bias="True")
    yield adapted("k_proj", "key_protein", heads, bias="True")
    yield adapted("v_proj", "value_protein", heads, bias="True")
    yield adapted("o_proj", "out_proj", "hidden_size, hidden_size", bias="aligner_enable_bias")
    yield adapted("gate_attn", "gate_attention", "1", leaf="")
    yield adapted("ff_norm", "ff.norm", "hidden_size", bias="True", group="norm")
    yield adapted("up_proj", "ff.fc1", "aligner_ffn_mult * hidden_size, hidden_size", group="feed_forward")
    yield adapted("down_proj", "ff.fc2", "hidden_size, aligner_ffn_mult * hidden_size", group="feed_forward")
    yield adapted("gate_ffn", "gate_ffw", "1", leaf="", group="feed_forward")


FAMILY = Family(
    name="evolla",
    types={"evolla": {"num_key_value_heads": 8}},
    rows=(
        EMBED_TOKENS,
        *encoder(),
        *resampler(),
        *ATTENTION,
        *FEED_FORWARD,
        *NORMS,
        *adapter(),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForProteinText2Text"),
    ),
    prefix="model.",
    head="ForProteinText2Text",
    defaults={
        "aligner_enable_bias": True,
        "aligner_ffn_mult": 4,
        "aligner_num_add_layers": 8,
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "mlp_bias": False,
        "norm_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "protein_encoder_config": {
            "add_cross_attention": False,
            "emb_layer_norm_before": False,
            "hidden_size": 1280,
            "intermediate_size": 5120,
            "max_position_embeddings": 1026,
            "num_attention_heads": 20,
            "num_hidden_layers": 33,
            "position_embedding_type": "rotary",
            "vocab_size": 446,
        },
        "qk_norm": False,
        "resampler_depth": 6,
        "resampler_dim_head": 64,
        "resampler_ff_mult": 4,
        "resampler_heads": 8,
        "resampler_num_latents": 64,
        "vocab_size": 128256,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "o_bias": "attention_bias",
        "qkv_bias": "attention_bias",
    },
)
