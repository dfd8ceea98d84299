"""T5, and its multilingual relatives mT5 and umT5: an encoder and a decoder with places as a bias of attention.

modeling_t5.py, modeling_mt5.py, modeling_umt5.py. A layer is a list of sublayers, each with its norm; the first layer's
bias serves all, but in umT5.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BODY = "transformer."
ALONE = "T5EncoderModel"
ENCODER_ALONE = f"{ALONE} ForTokenClassification"
BOTH = "ForConditionalGeneration Model ForQuestionAnswering ForSequenceClassification"
GATED = "'gated' in feed_forward_proj"


class Stack:
    """The rows of an encoder or a decoder for some classes, under a condition."""

    def __init__(self, side: str, heads: str, when: str = "", body: str = BODY) -> None:
        self.side, self.heads, self.when, self.body = side, heads, when, body
        number = "num_layers" if side == "encoder" else "num_decoder_layers"
        self.layer = f"{body}{side}.block.{{layer<{number}}}.layer."

    def row(self, role: str, name: str, shape: str, when: str = "") -> Row:
        condition = " and ".join(filter(None, (self.when, when)))
        return Row(role, name, shape, when=condition, heads=self.heads, tower=self.side)

    def attention(self, at: str, before: str = "") -> Iterator[Row]:
        inner = "num_heads * d_kv"
        for word in ("q", "k", "v"):
            yield self.row(f"{before}{word}_proj", f"{at}.{word}", f"{inner}, d_model")
        yield self.row(before + "o_proj", at + ".o", f"d_model, {inner}")

    def feed_forward(self, at: str) -> Iterator[Row]:
        yield self.row("gate_proj", at + ".wi_0", "d_ff, d_model", GATED)
        yield self.row("up_proj", at + ".wi_1", "d_ff, d_model", GATED)
        yield self.row("up_proj", at + ".wi", "d_ff, d_model", f"not {GATED}")
        yield self.row("down_proj", at + ".wo", "d_model, d_ff")

    def rows(self, *, crossed: bool) -> Iterator[Row]:
        """Attention, attention to an encoder where `crossed`, and a feed-forward."""
        attention = self.layer + "0.SelfAttention"
        last = 2 if crossed else 1
        yield from self.attention(attention)
        yield self.row(
            "relative_attention_bias",
            attention + ".relative_attention_bias",
            "relative_attention_num_buckets, num_heads",
            "(biased or layer == 0)",
        )
        if crossed:
            yield from self.attention(self.layer + "1.EncDecAttention", "cross_")
        yield from self.feed_forward(f"{self.layer}{last}.DenseReluDense")
        for sublayer in range(last + 1):
            yield self.row("layer_norm", f"{self.layer}{sublayer}.layer_norm", "d_model")
        yield self.row("norm", f"{self.body}{self.side}.final_layer_norm", "d_model")


MULTILINGUAL = {
    "vocab_size": 250112,
    "d_ff": 1024,
    "num_layers": 8,
    "num_heads": 6,
    "feed_forward_proj": "gated-gelu",
}

FAMILY = Family(
    name="t5",
    types={"t5": {}, "mt5": MULTILINGUAL, "umt5": {**MULTILINGUAL, "biased": True}},
    rows=(
        Row("embed_tokens", BODY + "shared", "vocab_size, d_model"),
        *Stack("encoder", BOTH).rows(crossed=False),
        # The encoder alone is built as its configuration says, which may be a decoder's.
        *Stack("encoder", ENCODER_ALONE, "not is_decoder").rows(crossed=False),
        *Stack("encoder", ENCODER_ALONE, "is_decoder").rows(crossed=True),
        *Stack("decoder", BOTH).rows(crossed=True),
        # Today's Transformers ties it always, and says so in what it saves; T5 1.1 and Flan-T5 are published with a head of their own.
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForConditionalGeneration", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "num_labels, d_model", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classification_head.dense",
            "d_model, d_model",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row(
            "classifier",
            "classification_head.out_proj",
            "num_labels, d_model",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row("classifier", "classifier", "num_labels, d_model", bias="True", heads="ForTokenClassification"),
    ),
    prefix=BODY,
    prefixes={"ForConditionalGeneration": "", "ForQuestionAnswering": "", ALONE: ""},
    classes={f"{name}EncoderModel": ALONE for name in ("T5", "MT5", "UMT5")},
    head="ForConditionalGeneration",
    defaults={
        "vocab_size": 32128,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "relative_attention_num_buckets": 32,
        "feed_forward_proj": "relu",
        "is_decoder": False,
        "biased": False,
    },
    derived={"num_decoder_layers": "num_layers"},
    fields={
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "head_dim": "d_kv",
    },
)
