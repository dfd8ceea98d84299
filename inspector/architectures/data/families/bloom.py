"""BLOOM: ALiBi positions, a norm on the embedding, everything with biases."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="bloom",
    types={"bloom": {}},
    rows=(
        Row("embed_tokens", "transformer.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_norm", "transformer.word_embeddings_layernorm", "hidden_size", bias="True"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".self_attention.query_key_value", "3 * hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attention.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "4 * hidden_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, 4 * hidden_size", bias="True"),
        Row("norm", "transformer.ln_f", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="transformer.",
    defaults={
        "hidden_size": 64,
        "n_layer": 2,
        "tie_word_embeddings": True,
        "vocab_size": 250880,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    },
    derived={"num_labels": "len(id2label)"},
    # The first checkpoints' configurations say n_embed.
    fields={"num_hidden_layers": "n_layer", "n_embed": "hidden_size"},
)
