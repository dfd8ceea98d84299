"""Model type visual_bert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "visual_bert.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="visual_bert",
    types={"visual_bert": {}},
    rows=(
        Row("embed_tokens", "visual_bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "visual_bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "visual_bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "visual_bert.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "visual_token_type_embeddings",
            "visual_bert.embeddings.visual_token_type_embeddings",
            "type_vocab_size, hidden_size",
        ),
        Row(
            "visual_position_embeddings",
            "visual_bert.embeddings.visual_position_embeddings",
            "max_position_embeddings, hidden_size",
        ),
        Row(
            "visual_projection",
            "visual_bert.embeddings.visual_projection",
            "hidden_size, visual_embedding_dim",
            bias="True",
            group="embedding",
        ),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row("pooler", "visual_bert.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "q_proj",
            "visual_bert.additional_layer.attention.self.query",
            "hidden_size, hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "k_proj",
            "visual_bert.additional_layer.attention.self.key",
            "hidden_size, hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "v_proj",
            "visual_bert.additional_layer.attention.self.value",
            "hidden_size, hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "o_proj",
            "visual_bert.additional_layer.attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "post_attention_layernorm",
            "visual_bert.additional_layer.attention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "up_proj",
            "visual_bert.additional_layer.intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "down_proj",
            "visual_bert.additional_layer.output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row(
            "post_feedforward_layernorm",
            "visual_bert.additional_layer.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="bypass_transformer",
        ),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForPreTraining", leaf="bias"),
        Row(
            "mlm_dense",
            "cls.predictions.transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining",
        ),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads="ForPreTraining"),
        Row("nsp_head", "cls.seq_relationship", "2, hidden_size", bias="True", heads="ForPreTraining"),
    ),
    prefix="visual_bert.",
    defaults={
        "bypass_transformer": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "visual_embedding_dim": 512,
        "vocab_size": 30522,
    },
    head="ForPreTraining",
)
