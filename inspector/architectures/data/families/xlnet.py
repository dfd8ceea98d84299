"""XLNet: projections as [width, heads, head width], with one for relative positions."""

from __future__ import annotations

from inspector.architectures.data.families.shared import SUMMARY_DEFAULTS, squad_head, summary
from inspector.architectures.table import Family, Row

LAYER = "transformer.layer.{layer<n_layer}"
ATTENTION = LAYER + ".rel_attn."
SUMMED_UP = "ForMultipleChoice ForSequenceClassification"

FAMILY = Family(
    name="xlnet",
    types={"xlnet": {}},
    rows=(
        Row("embed_tokens", "transformer.word_embedding", "vocab_size, d_model"),
        Row("mask_emb", "transformer.mask_emb", "1, 1, d_model", leaf="", group="embedding"),
        *(
            Row(role, ATTENTION + role, "d_model, n_head, d_head", leaf="", group="attention")
            for role in ("q", "k", "v", "o", "r")
        ),
        *(
            Row(role, ATTENTION + role, "n_head, d_head", leaf="", group="attention")
            for role in ("r_r_bias", "r_s_bias", "r_w_bias")
        ),
        Row("seg_embed", ATTENTION + "seg_embed", "2, n_head, d_head", leaf="", group="attention"),
        Row("post_attention_layernorm", ATTENTION + "layer_norm", "d_model", bias="True"),
        Row("up_proj", LAYER + ".ff.layer_1", "d_inner, d_model", bias="True"),
        Row("down_proj", LAYER + ".ff.layer_2", "d_model, d_inner", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".ff.layer_norm", "d_model", bias="True"),
        Row("lm_head", "lm_loss", "vocab_size, d_model", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("lm_head", "lm_loss", "vocab_size", heads="LMHeadModel", leaf="bias"),
        summary("sequence_summary", "d_model", SUMMED_UP),
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
        *squad_head("", "d_model", "ForQuestionAnswering"),
        Row("classifier", "classifier", "num_labels, d_model", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        **SUMMARY_DEFAULTS,
        "d_inner": 4096,
        "d_model": 1024,
        "n_head": 16,
        "n_layer": 24,
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
