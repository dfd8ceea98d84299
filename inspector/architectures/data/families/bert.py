"""BERT: an encoder with learned positions, token types and a pooler."""

from __future__ import annotations

from inspector.architectures.data.families.shared import bert_cross_attention, bert_layer
from inspector.architectures.table import Family, Row

LAYER = "bert.encoder.layer.{layer<num_hidden_layers}"
#: BERT's class for causal language is `BertLMHeadModel`; composite models ask for `ForCausalLM`.
MASKED = "ForMaskedLM ForPreTraining LMHeadModel ForCausalLM"
POOLED = "Model ForPreTraining ForNextSentencePrediction ForSequenceClassification ForMultipleChoice"

FAMILY = Family(
    name="bert",
    types={"bert": {}, "align_text_model": {}},
    rows=(
        Row("embed_tokens", "bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "bert.embeddings.LayerNorm", "hidden_size", bias="True"),
        *bert_layer(LAYER),
        *bert_cross_attention(LAYER),
        Row("pooler", "bert.pooler.dense", "hidden_size, hidden_size", bias="True", heads=POOLED),
        Row("position_ids", "bert.embeddings.position_ids", "1, max_position_embeddings", leaf="", buffer=True),
        Row("token_type_ids", "bert.embeddings.token_type_ids", "1, max_position_embeddings", leaf="", buffer=True),
        Row("mlm_bias", "cls.predictions", "vocab_size", leaf="bias", heads=MASKED),
        Row("mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", bias="True", heads=MASKED),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads=MASKED),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads=MASKED,
            tied="tie_word_embeddings",
        ),
        Row(
            "nsp_head",
            "cls.seq_relationship",
            "2, hidden_size",
            bias="True",
            heads="ForPreTraining ForNextSentencePrediction",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="bert.",
    head="Model",
    defaults={
        "vocab_size": 30522,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "tie_word_embeddings": True,
        "add_cross_attention": False,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    },
    derived={"num_labels": "len(id2label)"},
)
