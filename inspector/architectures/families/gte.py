"""Model type gte.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "gte.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gte",
    types={"gte": {}},
    rows=(
        Row("embed_norm", "gte.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "embed_token_types",
            "gte.embeddings.token_type_embeddings",
            "type_vocab_size, hidden_size",
            when="type_vocab_size",
        ),
        Row("embed_tokens", "gte.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".attention.qkv_proj",
            "3 * num_attention_heads * head_dim, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="True",
            tower="encoder",
        ),
        Row("up_gate_proj", LAYER + ".mlp.up_gate_proj", "2 * intermediate_size, hidden_size", tower="encoder"),
        Row("attn_ln", LAYER + ".attn_ln", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row("mlp_ln", LAYER + ".mlp_ln", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"),
        Row("norm", "lm_head.norm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("pooler", "gte.pooler.dense", "hidden_size, hidden_size", bias="True", heads="ForSequenceClassification"),
        Row("lm_head", "lm_head.decoder", "vocab_size", heads="ForMaskedLM", tower="decoder", leaf="bias"),
        Row(
            "lm_head",
            "lm_head.decoder",
            "vocab_size, hidden_size",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="gte.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 1,
        "vocab_size": 250048,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="ForMaskedLM",
)
