"""Model type splinter.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "splinter.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="splinter",
    types={"splinter": {}},
    rows=(
        Row("embed_tokens", "splinter.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "splinter.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "splinter.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "splinter.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row(
            "dense",
            "splinter_qass.query_start_transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="feed_forward",
        ),
        Row(
            "LayerNorm",
            "splinter_qass.query_start_transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="norm",
        ),
        Row(
            "query_end_transform_dense",
            "splinter_qass.query_end_transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="feed_forward",
        ),
        Row(
            "query_end_transform_LayerNorm",
            "splinter_qass.query_end_transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="norm",
        ),
        Row(
            "start_transform_dense",
            "splinter_qass.start_transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="feed_forward",
        ),
        Row(
            "start_transform_LayerNorm",
            "splinter_qass.start_transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="norm",
        ),
        Row(
            "end_transform_dense",
            "splinter_qass.end_transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="feed_forward",
        ),
        Row(
            "end_transform_LayerNorm",
            "splinter_qass.end_transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForPreTraining ForQuestionAnswering",
            group="norm",
        ),
        Row(
            "start_classifier",
            "splinter_qass.start_classifier",
            "hidden_size, hidden_size",
            heads="ForPreTraining ForQuestionAnswering",
        ),
        Row(
            "end_classifier",
            "splinter_qass.end_classifier",
            "hidden_size, hidden_size",
            heads="ForPreTraining ForQuestionAnswering",
        ),
    ),
    prefix="splinter.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="ForPreTraining",
)
