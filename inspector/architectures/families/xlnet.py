"""Model type xlnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.layer.{layer<n_layer}"

FAMILY = Family(
    name="xlnet",
    types={"xlnet": {}},
    rows=(
        Row("word_embedding", "transformer.word_embedding", "vocab_size, d_model"),
        Row("q", LAYER + ".rel_attn.q", "d_model, n_head, d_head", leaf="", group="attention"),
        Row("k", LAYER + ".rel_attn.k", "d_model, n_head, d_head", leaf="", group="attention"),
        Row("v", LAYER + ".rel_attn.v", "d_model, n_head, d_head", leaf="", group="attention"),
        Row("o", LAYER + ".rel_attn.o", "d_model, n_head, d_head", leaf="", group="attention"),
        Row("r", LAYER + ".rel_attn.r", "d_model, n_head, d_head", leaf="", group="attention"),
        Row("r_r_bias", LAYER + ".rel_attn.r_r_bias", "n_head, d_head", leaf="", group="attention"),
        Row("r_s_bias", LAYER + ".rel_attn.r_s_bias", "n_head, d_head", leaf="", group="attention"),
        Row("r_w_bias", LAYER + ".rel_attn.r_w_bias", "n_head, d_head", leaf="", group="attention"),
        Row("seg_embed", LAYER + ".rel_attn.seg_embed", "2, n_head, d_head", leaf=""),
        Row("layer_norm", LAYER + ".rel_attn.layer_norm", "d_model", bias="True"),
        Row("ff_layer_norm", LAYER + ".ff.layer_norm", "d_model", bias="True"),
        Row("layer_1", LAYER + ".ff.layer_1", "d_inner, d_model", bias="True"),
        Row("layer_2", LAYER + ".ff.layer_2", "d_model, d_inner", bias="True"),
        Row("mask_emb", "transformer.mask_emb", "1, 1, d_model", leaf="", group="convolution"),
        Row("lm_loss", "lm_loss", "vocab_size, d_model", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("lm_loss", "lm_loss", "vocab_size", heads="LMHeadModel", leaf="bias"),
        Row(
            "summary",
            "sequence_summary.summary",
            "d_model, d_model",
            bias="True",
            heads="ForMultipleChoice ForSequenceClassification",
        ),
        Row("logits_proj", "logits_proj", "1, d_model", bias="True", heads="ForMultipleChoice", group="head"),
        Row(
            "logits_proj",
            "logits_proj",
            "num_labels, d_model",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, d_model", bias="True", heads="ForQuestionAnsweringSimple"),
        Row("classifier", "classifier", "num_labels, d_model", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        "d_inner": 4096,
        "d_model": 1024,
        "n_head": 16,
        "n_layer": 24,
        "tie_word_embeddings": True,
        "vocab_size": 32000,
    },
    derived={"d_head": "d_model // n_head"},
    fields={
        "n_token": "vocab_size",
        "hidden_size": "d_model",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    head="LMHeadModel",
)
