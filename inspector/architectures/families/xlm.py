"""Model types xlm, flaubert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.attentions.{layer<n_layers}"

FAMILY = Family(
    name="xlm",
    types={"xlm": {}, "flaubert": {}},
    rows=(
        Row("embed_positions", "transformer.position_embeddings", "max_position_embeddings, emb_dim"),
        Row("embeddings", "transformer.embeddings", "vocab_size, emb_dim"),
        Row("lang_embeddings", "transformer.lang_embeddings", "2, emb_dim", when="n_langs > 1"),
        Row("q_lin", LAYER + ".q_lin", "emb_dim, emb_dim", bias="True", group="attention"),
        Row("k_lin", LAYER + ".k_lin", "emb_dim, emb_dim", bias="True", group="attention"),
        Row("v_lin", LAYER + ".v_lin", "emb_dim, emb_dim", bias="True", group="attention"),
        Row("out_lin", LAYER + ".out_lin", "emb_dim, emb_dim", bias="True", group="attention"),
        Row("input_layernorm", "transformer.layer_norm1.{layer<n_layers}", "emb_dim", bias="True"),
        Row(
            "lin1", "transformer.ffns.{layer<n_layers}.lin1", "4 * emb_dim, emb_dim", bias="True", group="feed_forward"
        ),
        Row(
            "lin2", "transformer.ffns.{layer<n_layers}.lin2", "emb_dim, 4 * emb_dim", bias="True", group="feed_forward"
        ),
        Row("post_attention_layernorm", "transformer.layer_norm2.{layer<n_layers}", "emb_dim", bias="True"),
        Row("layer_norm_emb", "transformer.layer_norm_emb", "emb_dim", bias="True"),
        Row("proj", "pred_layer.proj", "vocab_size, emb_dim", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("proj", "pred_layer.proj", "vocab_size", heads="LMHeadModel", leaf="bias"),
        Row(
            "summary",
            "sequence_summary.summary",
            "num_labels, emb_dim",
            bias="True",
            heads="ForMultipleChoice ForSequenceClassification",
        ),
        Row("logits_proj", "logits_proj", "1, num_labels", bias="True", heads="ForMultipleChoice", group="head"),
        Row("qa_outputs", "qa_outputs", "num_labels, emb_dim", bias="True", heads="ForQuestionAnsweringSimple"),
        Row("classifier", "classifier", "num_labels, emb_dim", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        "emb_dim": 2048,
        "max_position_embeddings": 512,
        "n_langs": 1,
        "n_layers": 12,
        "tie_word_embeddings": True,
        "vocab_size": 30145,
    },
    fields={"hidden_size": "emb_dim", "num_hidden_layers": "n_layers", "n_words": "vocab_size"},
    head="LMHeadModel",
)
