"""ConvBERT: BERT half of whose attention is a convolution, its feed-forward perhaps in groups."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "convbert.encoder.layer.{layer<num_hidden_layers}"
MASKED = "ForMaskedLM"
INNER = "attention_heads * head_dim"


def linear(role: str, name: str, shape: str, heads: str = "", when: str = "", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", heads=heads, when=when, group=group)


def attention(name: str, before: str = "", when: str = "") -> Iterator[Row]:
    """Half of the heads attend, the others are convolutions whose kernels are made of the keys."""
    at = f"{LAYER}.{name}.self"
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
        yield linear(before + role, f"{at}.{word}", f"{INNER}, hidden_size", when=when, group="attention")
    for role, word, shape, leaf in (
        ("depthwise", ".depthwise", "hidden_size, 1, conv_kernel_size", "weight"),
        ("pointwise", ".pointwise", f"{INNER}, hidden_size, 1", "weight"),
        ("pointwise", "", f"{INNER}, 1", "bias"),
    ):
        full = f"{before}key_{role}_conv"
        yield Row(full, f"{at}.key_conv_attn_layer{word}", shape, when=when, leaf=leaf, group="convolution")
    kernels = f"attention_heads * conv_kernel_size, {INNER}"
    yield linear(before + "conv_kernel", at + ".conv_kernel_layer", kernels, when=when, group="convolution")
    yield linear(before + "conv_out", at + ".conv_out_layer", f"{INNER}, hidden_size", when=when, group="convolution")
    out = f"{LAYER}.{name}.output"
    yield linear(before + "o_proj", out + ".dense", "hidden_size, hidden_size", when=when, group="attention")
    yield linear(before + "post_attention_layernorm", out + ".LayerNorm", "hidden_size", when=when)


def grouped(role: str, name: str, out: str, into: str) -> Iterator[Row]:
    """A layer of the feed-forward: one matrix, or one a group, with the input first."""
    yield Row(role, name, f"{out}, {into}", when="num_groups == 1")
    yield Row(role, name, f"num_groups, {into} // num_groups, {out} // num_groups", when="num_groups != 1")
    yield Row(role, name, out, leaf="bias")


FAMILY = Family(
    name="convbert",
    types={"convbert": {}},
    rows=(
        Row("embed_tokens", "convbert.embeddings.word_embeddings", "vocab_size, embedding_size"),
        Row("embed_positions", "convbert.embeddings.position_embeddings", "max_position_embeddings, embedding_size"),
        Row("embed_token_types", "convbert.embeddings.token_type_embeddings", "type_vocab_size, embedding_size"),
        linear("embed_norm", "convbert.embeddings.LayerNorm", "embedding_size"),
        linear(
            "embed_projection",
            "convbert.embeddings_project",
            "hidden_size, embedding_size",
            when="embedding_size != hidden_size",
        ),
        *attention("attention"),
        *attention("crossattention", "cross_", "add_cross_attention"),
        *grouped("up_proj", LAYER + ".intermediate.dense", "intermediate_size", "hidden_size"),
        *grouped("down_proj", LAYER + ".output.dense", "hidden_size", "intermediate_size"),
        linear("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size"),
        linear("mlm_dense", "generator_predictions.dense", "embedding_size, hidden_size", MASKED),
        linear("mlm_norm", "generator_predictions.LayerNorm", "embedding_size", MASKED),
        Row("lm_head", "generator_lm_head", "vocab_size, embedding_size", heads=MASKED, tied="tie_word_embeddings"),
        Row("lm_head", "generator_lm_head", "vocab_size", heads=MASKED, leaf="bias"),
        linear("classifier", "classifier", "num_labels, hidden_size", "ForTokenClassification"),
        linear("classifier", "classifier", "1, hidden_size", "ForMultipleChoice"),
        linear("classifier_dense", "classifier.dense", "hidden_size, hidden_size", "ForSequenceClassification"),
        linear("classifier", "classifier.out_proj", "num_labels, hidden_size", "ForSequenceClassification"),
        linear("qa_outputs", "qa_outputs", "num_labels, hidden_size", "ForQuestionAnswering"),
    ),
    prefix="convbert.",
    head="Model",
    defaults={
        "add_cross_attention": False,
        "conv_kernel_size": 9,
        "embedding_size": 768,
        "head_ratio": 2,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_groups": 1,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    derived={
        "attention_heads": "max(num_attention_heads // head_ratio, 1)",
        "head_dim": "hidden_size // attention_heads // 2",
    },
)
