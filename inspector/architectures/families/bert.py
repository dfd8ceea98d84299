"""BERT: an encoder with learned positions, token types and a pooler."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "bert.encoder.layer.{layer<num_hidden_layers}"
#: BERT's class for causal language is `BertLMHeadModel`; composite models ask for `ForCausalLM`.
MASKED = "ForMaskedLM ForPreTraining LMHeadModel ForCausalLM"
POOLED = "Model ForPreTraining ForNextSentencePrediction ForSequenceClassification ForMultipleChoice"

#: What a decoder that reads an encoder's output has besides.
CROSS = LAYER + ".crossattention."
CROSS_ATTENTION = (
    *(
        Row(f"cross_{role}", CROSS + word, "hidden_size, hidden_size", bias="True", when="add_cross_attention")
        for role, word in {
            "q_proj": "self.query",
            "k_proj": "self.key",
            "v_proj": "self.value",
            "o_proj": "output.dense",
        }.items()
    ),
    Row(
        "cross_layernorm",
        CROSS + "output.LayerNorm",
        "hidden_size",
        bias="True",
        when="add_cross_attention",
        group="norm",
    ),
)

FAMILY = Family(
    name="bert",
    types={"bert": {}, "align_text_model": {}},
    rows=(
        Row("embed_tokens", "bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "bert.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        *CROSS_ATTENTION,
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
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
    gguf=("bert",),
    gguf_head="body",
)
