"""Model type nomic_bert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "nomic_bert.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="nomic_bert",
    types={"nomic_bert": {}},
    rows=(
        Row("embed_norm", "nomic_bert.emb_ln", "hidden_size", bias="True"),
        Row("embed_token_types", "nomic_bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_tokens", "nomic_bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.Wqkv", "3 * num_attention_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".attn.out_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("fc12", LAYER + ".mlp.fc12", "intermediate_size, hidden_size"),
        Row("fc11", LAYER + ".mlp.fc11", "intermediate_size, hidden_size"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"
        ),
        Row("layer_norm", "cls.predictions.transform.layer_norm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "pooler",
            "nomic_bert.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
        ),
    ),
    prefix="nomic_bert.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "vocab_size": 30528,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    gguf=("nomic-bert",),
    head="ForMaskedLM",
)
