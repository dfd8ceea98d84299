"""Model type neomme.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="neomme",
    types={"neomme": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens.word_embeddings", "vocab_size, embedding_rank"),
        Row("embedding_projection", "model.embed_tokens.embedding_projection", "hidden_size, embedding_rank"),
        Row("norm", "model.patch_embeddings.norm", "3 * patch_size * patch_size", bias="True"),
        Row("up_proj", "model.patch_embeddings.up_proj", "2 * hidden_size, 3 * patch_size * patch_size"),
        Row("down_proj", "model.patch_embeddings.down_proj", "hidden_size, 2 * hidden_size", bias="True"),
        Row("value_embeddings", "model.value_embeddings", "vocab_size, num_key_value_heads * head_dim"),
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
            "o_proj",
            LAYER + ".self_attn.output_projection.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("lambdas", LAYER + ".lambdas", "2", leaf=""),
        Row(
            "alpha",
            LAYER + ".self_attn.exclusive_self_attention.alpha",
            "num_attention_heads",
            leaf="",
            group="attention",
        ),
        Row(
            "gate_proj", LAYER + ".self_attn.output_projection.gate_proj", "num_attention_heads * head_dim, hidden_size"
        ),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row(
            "unembedding_projection",
            "unembedding_projection",
            "hidden_size, embedding_rank",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
        ),
        Row("lm_head", "lm_head", "vocab_size, embedding_rank", heads="ForMaskedLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "embedding_rank": 256,
        "head_dim": 64,
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "mlp_bias": False,
        "num_attention_heads": 16,
        "num_hidden_layers": 17,
        "num_key_value_heads": 4,
        "patch_size": 32,
        "tie_word_embeddings": True,
        "vocab_size": 131072,
    },
    head="ForMaskedLM",
)
