"""Model type vilt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vilt.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vilt",
    types={"vilt": {}},
    rows=(
        Row("embed_class", "vilt.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_positions",
            "vilt.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            leaf="",
        ),
        Row("embed_tokens", "vilt.embeddings.text_embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "position_embeddings_embed_positions",
            "vilt.embeddings.text_embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
        ),
        Row(
            "embed_token_types", "vilt.embeddings.text_embeddings.token_type_embeddings", "type_vocab_size, hidden_size"
        ),
        Row("LayerNorm", "vilt.embeddings.text_embeddings.LayerNorm", "hidden_size", bias="True", group="norm"),
        Row(
            "embed_patches",
            "vilt.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "token_type_embeddings_embed_token_types",
            "vilt.embeddings.token_type_embeddings",
            "modality_type_vocab_size, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "vilt.layernorm", "hidden_size", bias="True"),
        Row("pooler", "vilt.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row("classifier", "classifier.0", "2 * hidden_size, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("classifier", "classifier.1", "2 * hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("classifier", "classifier.3", "num_labels, 2 * hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="vilt.",
    defaults={
        "hidden_size": 768,
        "image_size": 384,
        "intermediate_size": 3072,
        "max_position_embeddings": 40,
        "modality_type_vocab_size": 2,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 32,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="Model",
)
