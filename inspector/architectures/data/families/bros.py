"""BROS: BERT that also sees where on the page a word stands."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "bros.encoder.layer.{layer<num_hidden_layers}"
#: One for each second number below the width.
FREQUENCIES = "(dim_bbox_sinusoid_emb_1d + 1) // 2"

FAMILY = Family(
    name="bros",
    types={"bros": {}},
    rows=(
        Row("embed_tokens", "bros.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bros.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "bros.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "bros.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "bbox_projection",
            "bros.bbox_embeddings.bbox_projection",
            "dim_bbox_projection, dim_bbox_sinusoid_emb_2d",
            group="embedding",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_o_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row("pooler", "bros.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row(
            "position_ids",
            "bros.embeddings.position_ids",
            "1, max_position_embeddings",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "inv_freq",
            "bros.bbox_embeddings.bbox_sinusoid_emb.x_pos_emb.inv_freq",
            FREQUENCIES,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "y_pos_emb_inv_freq",
            "bros.bbox_embeddings.bbox_sinusoid_emb.y_pos_emb.inv_freq",
            FREQUENCIES,
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="bros.",
    defaults={
        "add_cross_attention": False,
        "dim_bbox": 8,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    derived={
        "dim_bbox_projection": "hidden_size // num_attention_heads",
        "dim_bbox_sinusoid_emb_1d": "hidden_size // 4 // dim_bbox",
        "dim_bbox_sinusoid_emb_2d": "hidden_size // 4",
    },
    head="Model",
)
