"""Model type xlm-roberta-xl.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "roberta.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="xlm-roberta-xl",
    types={"xlm-roberta-xl": {}},
    rows=(
        Row("embed_tokens", "roberta.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_token_types", "roberta.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_positions", "roberta.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("input_layernorm", LAYER + ".attention.self_attn_layer_norm", "hidden_size", bias="True", tower="encoder"),
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
        Row("LayerNorm", LAYER + ".LayerNorm", "hidden_size", bias="True", tower="encoder", group="norm"),
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
        Row(
            "cross_input_layernorm",
            LAYER + ".crossattention.self_attn_layer_norm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("LayerNorm", "roberta.encoder.LayerNorm", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row("lm_head", "lm_head", "vocab_size", heads="ForCausalLM ForMaskedLM", leaf="bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row("pooler", "roberta.pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model ForMultipleChoice"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classifier.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row(
            "out_proj", "classifier.out_proj", "num_labels, hidden_size", bias="True", heads="ForSequenceClassification"
        ),
        Row(
            "lm_head",
            "lm_head.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="roberta.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "max_position_embeddings": 514,
        "num_attention_heads": 32,
        "num_hidden_layers": 36,
        "tie_word_embeddings": True,
        "type_vocab_size": 1,
        "vocab_size": 250880,
    },
)
