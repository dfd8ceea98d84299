"""LayoutLMv3: one encoder for text, its place on the page, and the page's patches."""

from __future__ import annotations

from inspector.architectures.data.families.shared import bert_layer
from inspector.architectures.table import Family, Row

BODY = "layoutlmv3."

#: Side of the page in the 2-D embeddings → its width.
SIDES = {"x": "coordinate_size", "y": "coordinate_size", "h": "shape_size", "w": "shape_size"}

FAMILY = Family(
    name="layoutlmv3",
    types={"layoutlmv3": {}},
    rows=(
        Row("embed_tokens", BODY + "embeddings.word_embeddings", "vocab_size, hidden_size", when="text_embed"),
        Row(
            "embed_token_types",
            BODY + "embeddings.token_type_embeddings",
            "type_vocab_size, hidden_size",
            when="text_embed",
        ),
        Row(
            "embed_positions",
            BODY + "embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
            when="text_embed",
        ),
        *(
            Row(
                f"{side}_position_embeddings",
                f"{BODY}embeddings.{side}_position_embeddings",
                f"max_2d_position_embeddings, {width}",
                when="text_embed",
            )
            for side, width in SIDES.items()
        ),
        Row("embed_norm", BODY + "embeddings.LayerNorm", "hidden_size", bias="True", when="text_embed"),
        Row(
            "embed_patches",
            BODY + "patch_embed.proj",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            when="visual_embed",
        ),
        Row("embed_class", BODY + "cls_token", "1, 1, hidden_size", when="visual_embed", leaf=""),
        Row(
            "embed_patch_positions",
            BODY + "pos_embed",
            "1, (input_size // patch_size) ** 2 + 1, hidden_size",
            when="visual_embed",
            leaf="",
        ),
        Row("embed_patch_norm", BODY + "norm", "hidden_size", bias="True", when="visual_embed", group="norm"),
        Row("input_norm", BODY + "LayerNorm", "hidden_size", bias="True", when="visual_embed"),
        Row(
            "relative_attention_bias",
            BODY + "encoder.rel_pos_bias",
            "num_attention_heads, rel_pos_bins",
            when="has_relative_attention_bias",
        ),
        Row(
            "x_relative_attention_bias",
            BODY + "encoder.rel_pos_x_bias",
            "num_attention_heads, rel_2d_pos_bins",
            when="has_spatial_attention_bias",
        ),
        Row(
            "y_relative_attention_bias",
            BODY + "encoder.rel_pos_y_bias",
            "num_attention_heads, rel_2d_pos_bins",
            when="has_spatial_attention_bias",
        ),
        *bert_layer(BODY + "encoder.layer.{layer<num_hidden_layers}"),
        Row(
            "qa_dense",
            "qa_outputs.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
            group="head",
        ),
        Row("qa_outputs", "qa_outputs.out_proj", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        # LayoutLMv3ForTokenClassification: one layer for fewer than ten labels.
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            when="num_labels < 10",
            heads="ForTokenClassification",
        ),
        *(
            Row(role, name, shape, bias="True", when=when, heads=heads, group="head")
            for heads, when in (("ForSequenceClassification", ""), ("ForTokenClassification", "num_labels >= 10"))
            for role, name, shape in (
                ("classifier_dense", "classifier.dense", "hidden_size, hidden_size"),
                ("classifier_out_proj", "classifier.out_proj", "num_labels, hidden_size"),
            )
        ),
    ),
    prefix=BODY,
    defaults={
        "coordinate_size": 128,
        "has_relative_attention_bias": True,
        "has_spatial_attention_bias": True,
        "hidden_size": 768,
        "input_size": 224,
        "intermediate_size": 3072,
        "max_2d_position_embeddings": 1024,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "rel_2d_pos_bins": 64,
        "rel_pos_bins": 32,
        "shape_size": 128,
        "text_embed": True,
        "type_vocab_size": 2,
        "visual_embed": True,
        "vocab_size": 50265,
    },
    head="Model",
)
