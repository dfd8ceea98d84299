"""Model type bert-generation.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "bert.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="bert-generation",
    types={"bert-generation": {}},
    rows=(
        Row("embed_tokens", "bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_norm", "bert.embeddings.LayerNorm", "hidden_size", bias="True"),
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
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".attention.output.LayerNorm",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True", tower="encoder"),
        Row("lm_head", "lm_head", "vocab_size", heads="BertGenerationDecoder", leaf="bias"),
        Row(
            "lm_head",
            "lm_head.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="BertGenerationDecoder",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="bert.",
    prefixes={"BertGenerationEncoder": ""},
    classes={"BertGenerationDecoder": "BertGenerationDecoder", "BertGenerationEncoder": "BertGenerationEncoder"},
    defaults={
        "add_cross_attention": False,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "max_position_embeddings": 512,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "tie_word_embeddings": True,
        "vocab_size": 50358,
    },
    head="BertGenerationDecoder",
)
