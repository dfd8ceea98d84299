"""BART and the encoder-decoders that differ from it by a column."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

#: The classes that have an encoder; a causal language model is the decoder alone, whatever `is_decoder` says.
WHOLE = "Model ForConditionalGeneration ForSequenceClassification ForQuestionAnswering"
DECODER_ALONE = "ForCausalLM body"

ATTENTION_WORDS = {"q_proj": "q_proj", "k_proj": "k_proj", "v_proj": "v_proj", "o_proj": "out_proj"}


def attention(at: str, tower: str, heads: str = "", *, before: str = "", bias: str = "True") -> Iterator[Row]:
    """Four square projections; `before` goes before the roles."""
    for role, word in ATTENTION_WORDS.items():
        yield Row(before + role, f"{at}.{word}", "d_model, d_model", bias=bias, heads=heads, tower=tower)


def norm(role: str, name: str, tower: str, heads: str = "", when: str = "") -> Row:
    return Row(role, name, "d_model", bias="True", when=when, heads=heads, tower=tower)


def feed_forward(layer: str, tower: str, heads: str = "") -> Iterator[Row]:
    """The norms at both ends of a layer, and the two linear layers between them."""
    width = f"{tower}_ffn_dim"
    yield norm("input_layernorm", layer + ".self_attn_layer_norm", tower, heads)
    yield norm("norm", layer + ".final_layer_norm", tower, heads)
    yield Row("up_proj", layer + ".fc1", f"{width}, d_model", bias="True", heads=heads, tower=tower)
    yield Row("down_proj", layer + ".fc2", f"d_model, {width}", bias="True", heads=heads, tower=tower)


ENCODER = "model.encoder.layers.{layer<encoder_layers}"
DECODER = "model.decoder.layers.{layer<decoder_layers}"


def decoder_layers(bias: str = "True") -> Iterator[Row]:
    """A decoder's layers; `bias` is of the attention."""
    yield from attention(DECODER + ".self_attn", "decoder", bias=bias)
    yield from attention(DECODER + ".encoder_attn", "decoder", before="cross_", bias=bias)
    yield norm("cross_layernorm", DECODER + ".encoder_attn_layer_norm", "decoder")
    yield from feed_forward(DECODER, "decoder")


ENCODER_LAYERS = (*attention(ENCODER + ".self_attn", "encoder", WHOLE), *feed_forward(ENCODER, "encoder", WHOLE))
DECODER_LAYERS = (*decoder_layers(),)

#: One matrix for both sides and the head. Untied, each has one of its own, and the shared one is stored all the same.
EMBEDDINGS = (
    Row("embed_tokens", "model.shared", "vocab_size, d_model", heads=WHOLE),
    Row(
        "embed_tokens",
        "model.encoder.embed_tokens",
        "vocab_size, d_model",
        heads=WHOLE,
        tied="tie_word_embeddings",
        tower="encoder",
    ),
    Row(
        "embed_tokens",
        "model.decoder.embed_tokens",
        "vocab_size, d_model",
        heads=WHOLE,
        tied="tie_word_embeddings",
        tower="decoder",
    ),
    Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, d_model", heads=DECODER_ALONE, tower="decoder"),
)


def _beside_layers(tower: str, heads: str = "") -> Iterator[Row]:
    yield Row(
        "embed_positions",
        f"model.{tower}.embed_positions",
        "max_position_embeddings + position_offset, d_model",
        when="stored_positions",
        heads=heads,
        tower=tower,
    )
    yield norm("embed_norm", f"model.{tower}.layernorm_embedding", tower, heads, "embedding_norm")
    yield norm("norm", f"model.{tower}.layer_norm", tower, heads, "last_norm")


def _prompt(at: str, before: str = "") -> Iterator[Row]:
    """MVP's prompts for each layer of a side, made from an embedding by two linear layers.

    Older releases store the encoder's, today's makes none: its `use_prompt` goes to another argument of MvpEncoder.
    """
    tower = at.partition(".")[0]
    prompt = Row(
        before + "prompt_embedding",
        f"model.{at}_prompt.prompt_embedding",
        "prompt_length, d_model",
        when="use_prompt",
        heads=WHOLE,
        tower=tower,
        optional=tower == "encoder",
    )
    yield prompt
    yield prompt._replace(
        role=before + "prompt_proj",
        name=f"model.{at}_prompt.prompt_trans.{{step<3}}",
        shape=f"2 * {tower}_layers * d_model if step else prompt_mid_dim, prompt_mid_dim if step else d_model",
        bias="True",
        when="use_prompt and step != 1",
        group="embedding",
    )


#: What the classes on top add.
HEADS = (
    Row(
        "lm_head",
        "lm_head",
        "vocab_size, d_model",
        heads="ForCausalLM ForConditionalGeneration",
        tied="tie_word_embeddings",
    ),
    Row(
        "final_logits_bias",
        "final_logits_bias",
        "1, vocab_size",
        when="logits_bias",
        heads="ForConditionalGeneration",
        leaf="",
        buffer=True,
        persistent=True,
    ),
    Row("qa_outputs", "qa_outputs", "2, d_model", bias="True", heads="ForQuestionAnswering"),
    Row(
        "dense",
        "classification_head.dense",
        "d_model, d_model",
        bias="True",
        heads="ForSequenceClassification",
        group="head",
    ),
    Row(
        "out_proj",
        "classification_head.out_proj",
        "num_labels, d_model",
        bias="True",
        heads="ForSequenceClassification",
        group="head",
    ),
)

#: Sizes of BART's large model, where a configuration leaves them out.
DEFAULTS = {
    "vocab_size": 50265,
    "d_model": 1024,
    "encoder_layers": 12,
    "decoder_layers": 12,
    "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096,
    "max_position_embeddings": 1024,
}
FIELDS = {
    "hidden_size": "d_model",
    "num_hidden_layers": "encoder_layers",
    "num_attention_heads": "encoder_attention_heads",
}


def _sizes(width: int, feed_forward_width: int, encoder: int, decoder: int) -> dict[str, int]:
    return {
        "d_model": width,
        "encoder_ffn_dim": feed_forward_width,
        "decoder_ffn_dim": feed_forward_width,
        "encoder_layers": encoder,
        "decoder_layers": decoder,
    }


#: Positions begin after those of the padding: modeling_bart.py, BartLearnedPositionalEmbedding.offset.
_BART = {"position_offset": 2, "embedding_norm": True}

FAMILY = Family(
    name="bart",
    types={
        "bart": _BART,
        "mbart": {**_BART, "last_norm": True},
        "plbart": {**_BART, **_sizes(768, 3072, 6, 6), "vocab_size": 50005},
        "mvp": {**_BART, "vocab_size": 50267},
        "blenderbot": {
            **_sizes(2560, 10240, 2, 24),
            "vocab_size": 8008,
            "max_position_embeddings": 128,
            "last_norm": True,
        },
        "blenderbot-small": {**_sizes(512, 2048, 8, 8), "max_position_embeddings": 512, "embedding_norm": True},
        "pegasus": {"last_norm": True},
        "m2m_100": {"vocab_size": 128112, "stored_positions": False, "last_norm": True, "logits_bias": False},
    },
    rows=(
        *EMBEDDINGS,
        *_beside_layers("encoder", WHOLE),
        *_beside_layers("decoder"),
        *ENCODER_LAYERS,
        *DECODER_LAYERS,
        *_prompt("encoder.self_attn"),
        *_prompt("decoder.self_attn"),
        *_prompt("decoder.cross_attn", "cross_"),
        *HEADS,
    ),
    prefix="model.",
    defaults={
        **DEFAULTS,
        "position_offset": 0,
        "stored_positions": True,
        "embedding_norm": False,
        "last_norm": False,
        "logits_bias": True,
        "use_prompt": False,
        "prompt_length": 100,
        "prompt_mid_dim": 800,
    },
    fields=FIELDS,
    head="ForConditionalGeneration",
)
