"""Model type esmc.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "esmc.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="esmc",
    types={"esmc": {}},
    rows=(
        Row("embed_tokens", "esmc.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "hidden_size"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "esmc.norm", "hidden_size"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row("lm_head", "lm_head.decoder", "vocab_size, hidden_size", bias="True", heads="ForMaskedLM"),
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
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="esmc.",
    defaults={
        "attention_bias": False,
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "mlp_bias": False,
        "num_attention_heads": 40,
        "num_hidden_layers": 80,
        "num_key_value_heads": 40,
        "vocab_size": 64,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="ForMaskedLM",
)
