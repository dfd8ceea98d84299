"""RoCBert: BERT that also embeds the pronunciation and the shape of Chinese characters."""

from __future__ import annotations

from inspector.architectures.data.families.shared import bert_cross_attention, bert_layer
from inspector.architectures.table import Family, Row

LAYER = "roc_bert.encoder.layer.{layer<num_hidden_layers}"

INPUTS = (
    "hidden_size, hidden_size + (pronunciation_embed_dim if enable_pronunciation else 0)"
    " + (shape_embed_dim if enable_shape else 0)"
)

FAMILY = Family(
    name="roc_bert",
    types={"roc_bert": {}},
    rows=(
        Row("embed_tokens", "roc_bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "pronunciation_embed",
            "roc_bert.embeddings.pronunciation_embed",
            "pronunciation_vocab_size, pronunciation_embed_dim",
        ),
        Row("shape_embed", "roc_bert.embeddings.shape_embed", "shape_vocab_size, shape_embed_dim"),
        Row("embed_positions", "roc_bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "roc_bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "roc_bert.embeddings.LayerNorm", "hidden_size", bias="True"),
        *bert_layer(LAYER),
        *bert_cross_attention(LAYER),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForCausalLM ForMaskedLM ForPreTraining", leaf="bias"),
        Row(
            "mlm_dense",
            "cls.predictions.transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining",
        ),
        Row(
            "mlm_norm",
            "cls.predictions.transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining",
        ),
        Row(
            "map_inputs_layer",
            "roc_bert.embeddings.map_inputs_layer",
            INPUTS,
            bias="True",
            when="concat_input",
            group="embedding",
        ),
        Row(
            "pooler",
            "roc_bert.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining Model ForMultipleChoice ForSequenceClassification",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="roc_bert.",
    defaults={
        "add_cross_attention": False,
        "concat_input": True,
        "enable_pronunciation": True,
        "enable_shape": True,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "pronunciation_embed_dim": 768,
        "pronunciation_vocab_size": 910,
        "shape_embed_dim": 512,
        "shape_vocab_size": 24858,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
)
