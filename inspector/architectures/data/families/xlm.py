"""XLM and FlauBERT: the parts of a layer are in lists of their own."""

from __future__ import annotations

from inspector.architectures.data.families.shared import squad_head, summary
from inspector.architectures.table import Family, Row

LAYERS = "{layer<n_layers}"
ATTENTION = f"transformer.attentions.{LAYERS}."
FEED_FORWARD = f"transformer.ffns.{LAYERS}."

FAMILY = Family(
    name="xlm",
    types={"xlm": {}, "flaubert": {}},
    rows=(
        Row("embed_tokens", "transformer.embeddings", "vocab_size, emb_dim"),
        Row("embed_positions", "transformer.position_embeddings", "max_position_embeddings, emb_dim"),
        Row("embed_languages", "transformer.lang_embeddings", "n_langs, emb_dim", when="n_langs > 1 and use_lang_emb"),
        Row("embed_norm", "transformer.layer_norm_emb", "emb_dim", bias="True"),
        Row("q_proj", ATTENTION + "q_lin", "emb_dim, emb_dim", bias="True"),
        Row("k_proj", ATTENTION + "k_lin", "emb_dim, emb_dim", bias="True"),
        Row("v_proj", ATTENTION + "v_lin", "emb_dim, emb_dim", bias="True"),
        Row("o_proj", ATTENTION + "out_lin", "emb_dim, emb_dim", bias="True"),
        Row("input_layernorm", f"transformer.layer_norm1.{LAYERS}", "emb_dim", bias="True"),
        Row("up_proj", FEED_FORWARD + "lin1", "4 * emb_dim, emb_dim", bias="True"),
        Row("down_proj", FEED_FORWARD + "lin2", "emb_dim, 4 * emb_dim", bias="True"),
        Row("post_attention_layernorm", f"transformer.layer_norm2.{LAYERS}", "emb_dim", bias="True"),
        Row("lm_head", "pred_layer.proj", "vocab_size, emb_dim", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("lm_head", "pred_layer.proj", "vocab_size", heads="LMHeadModel", leaf="bias"),
        summary("sequence_summary", "emb_dim", "ForMultipleChoice ForSequenceClassification"),
        Row("logits_proj", "logits_proj", "1, num_labels", bias="True", heads="ForMultipleChoice", group="head"),
        Row("qa_outputs", "qa_outputs", "num_labels, emb_dim", bias="True", heads="ForQuestionAnsweringSimple"),
        *squad_head("qa_outputs.", "emb_dim", "ForQuestionAnswering"),
        Row("classifier", "classifier", "num_labels, emb_dim", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        "emb_dim": 2048,
        "max_position_embeddings": 512,
        "n_langs": 1,
        "n_layers": 12,
        "summary_proj_to_labels": True,
        "summary_use_proj": True,
        "use_lang_emb": True,
        "vocab_size": 30145,
    },
    fields={"hidden_size": "emb_dim", "num_hidden_layers": "n_layers", "n_words": "vocab_size"},
    head="LMHeadModel",
)
