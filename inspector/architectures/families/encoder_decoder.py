"""Pairs of an encoder and a decoder, each by its own type's table: texts, images (TrOCR, Donut, captioners), speech.

A decoder of BERT's has its cross-attention and its head here, all others have them in their own tables.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

BERT = "decoder.model_type == 'bert'"
PREDICTIONS = "decoder.cls.predictions"


def _decoder(role: str, name: str, shape: str, *, tied: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=BERT, tied=tied, tower="decoder")


def _cross(part: str, body: str) -> tuple[Row, ...]:
    """Cross-attention in the layers of a part that is BERT."""
    at = f"{part}.{body}encoder.layer.{{layer<{part}.num_hidden_layers}}.crossattention."
    hidden, heads = f"{part}.hidden_size", f"{part}.num_attention_heads"
    wide = f"{hidden} // {heads} * {heads}, {hidden}"

    def row(role: str, name: str, shape: str) -> Row:
        when = f"{part}.add_cross_attention and {part}.model_type == 'bert'"
        return Row(role, at + name, shape, bias="True", when=when, tower=part)

    return (
        row("cross_q_proj", "self.query", wide),
        row("cross_k_proj", "self.key", wide),
        row("cross_v_proj", "self.value", wide),
        row("cross_down_proj", "output.dense", f"{hidden}, {hidden}"),
        row("cross_post_feedforward_layernorm", "output.LayerNorm", hidden),
    )


def pair(name: str, encoder: str) -> Family:
    """The family of a pair, `encoder` being the type of an encoder that names none."""
    return Family(
        name=name,
        types={name: {}},
        rows=(
            Include("decoder", "decoder.", tower="decoder", head="body", default_type="bert", when=BERT),
            Include(
                "decoder", "decoder.", tower="decoder", head="ForCausalLM", default_type="bert", when="not " + BERT
            ),
            Include("encoder", "encoder.", tower="encoder", head="Model", default_type=encoder),
            *_cross("decoder", "bert."),
            *_cross("encoder", ""),
            Row("mlm_bias", PREDICTIONS, "decoder.vocab_size", when=BERT, tower="decoder", leaf="bias"),
            _decoder("mlm_dense", PREDICTIONS + ".transform.dense", "decoder.hidden_size, decoder.hidden_size"),
            _decoder("mlm_norm", PREDICTIONS + ".transform.LayerNorm", "decoder.hidden_size"),
            _decoder(
                "lm_head",
                PREDICTIONS + ".decoder",
                "decoder.vocab_size, decoder.hidden_size",
                tied="decoder.tie_word_embeddings",
            ),
            Row(
                "enc_to_dec_proj",
                "enc_to_dec_proj",
                "decoder.hidden_size, encoder.hidden_size",
                bias="True",
                when=(
                    "encoder.hidden_size != decoder.hidden_size"
                    " and decoder.cross_attention_hidden_size != encoder.hidden_size"
                ),
            ),
        ),
        defaults={
            "decoder": {
                "add_cross_attention": True,
                "cross_attention_hidden_size": None,
                "hidden_size": 768,
                "num_attention_heads": 12,
                "num_hidden_layers": 12,
                "tie_word_embeddings": True,
                "vocab_size": 30522,
            },
            "encoder": {
                "add_cross_attention": False,
                "hidden_size": 768,
                "num_attention_heads": 12,
                "num_hidden_layers": 12,
            },
        },
        head="Model",
    )


FAMILY = pair("encoder-decoder", "bert")
