"""Model type biogpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "biogpt.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="biogpt",
    types={"biogpt": {}},
    rows=(
        Row("embed_tokens", "biogpt.embed_tokens", "vocab_size, hidden_size"),
        Row("embed_positions", "biogpt.embed_positions", "max_position_embeddings + 2, hidden_size"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".fc2", "hidden_size, intermediate_size", bias="True"),
        Row("layer_norm", "biogpt.layer_norm", "hidden_size", bias="True"),
        Row(
            "output_projection",
            "output_projection",
            "vocab_size, hidden_size",
            heads="ForCausalLM",
            tied="tie_word_embeddings",
        ),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="biogpt.",
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "max_position_embeddings": 1024,
        "num_hidden_layers": 24,
        "tie_word_embeddings": True,
        "vocab_size": 42384,
    },
)
