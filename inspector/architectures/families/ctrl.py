"""Model type ctrl.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="ctrl",
    types={"ctrl": {}},
    rows=(
        Row("Wq", LAYER + ".multi_head_attention.Wq", "n_embd, n_embd", bias="True", group="attention"),
        Row("Wk", LAYER + ".multi_head_attention.Wk", "n_embd, n_embd", bias="True", group="attention"),
        Row("Wv", LAYER + ".multi_head_attention.Wv", "n_embd, n_embd", bias="True", group="attention"),
        Row("dense", LAYER + ".multi_head_attention.dense", "n_embd, n_embd", bias="True", group="attention"),
        Row("ffn", LAYER + ".ffn.0", "dff, n_embd", bias="True"),
        Row("ffn", LAYER + ".ffn.2", "n_embd, dff", bias="True"),
        Row("layernorm1", LAYER + ".layernorm1", "n_embd", bias="True"),
        Row("layernorm2", LAYER + ".layernorm2", "n_embd", bias="True"),
        Row("embed_tokens", "transformer.w", "vocab_size, n_embd"),
        Row("layernorm", "transformer.layernorm", "n_embd", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("lm_head", "lm_head", "vocab_size", heads="LMHeadModel", leaf="bias"),
        Row("classifier", "classifier", "num_labels, n_embd", heads="ForSequenceClassification"),
    ),
    prefix="transformer.",
    defaults={"dff": 8192, "n_embd": 1280, "n_layer": 48, "tie_word_embeddings": True, "vocab_size": 246534},
    fields={"hidden_size": "n_embd", "num_hidden_layers": "n_layer"},
    head="LMHeadModel",
)
