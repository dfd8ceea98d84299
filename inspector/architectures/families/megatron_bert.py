"""Model type megatron-bert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "bert.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="megatron-bert",
    types={"megatron-bert": {}},
    rows=(
        Row("embed_tokens", "bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("ln", LAYER + ".attention.ln", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row("encoder_ln", LAYER + ".ln", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row(
            "cross_ln",
            LAYER + ".crossattention.ln",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
            group="norm",
        ),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("ln", "bert.encoder.ln", "hidden_size", bias="True", tower="encoder", group="norm"),
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
            "pooler",
            "bert.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining Model ForMultipleChoice ForNextSentencePrediction ForSequenceClassification",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "nsp_head",
            "cls.seq_relationship",
            "2, hidden_size",
            bias="True",
            heads="ForPreTraining ForNextSentencePrediction",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="bert.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "max_position_embeddings": 512,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 29056,
    },
)
