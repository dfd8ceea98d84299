"""LiLT: a text encoder beside a narrower one for the layout, each of which sees the other's attention."""

from __future__ import annotations

from inspector.architectures.data.families.shared import bert_layer
from inspector.architectures.table import Family, Row

LAYER = "lilt.encoder.layer.{layer<num_hidden_layers}."
LAYOUT = "lilt.layout_embeddings."
NARROW = "hidden_size // channel_shrink_ratio"
NARROW_WITHIN = "intermediate_size // channel_shrink_ratio"

FAMILY = Family(
    name="lilt",
    types={"lilt": {}},
    rows=(
        Row("embed_tokens", "lilt.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "lilt.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "lilt.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "lilt.embeddings.LayerNorm", "hidden_size", bias="True"),
        # A sixth each: left, upper, right, lower, height, width (modeling_lilt.py, LiltLayoutEmbeddings).
        *(
            Row(
                f"{side}_position_embeddings",
                f"{LAYOUT}{side}_position_embeddings",
                "max_2d_position_embeddings, hidden_size // 6",
            )
            for side in "xyhw"
        ),
        Row("box_position_embeddings", LAYOUT + "box_position_embeddings", f"max_position_embeddings, {NARROW}"),
        Row("box_linear_embeddings", LAYOUT + "box_linear_embeddings", f"{NARROW}, hidden_size", bias="True"),
        Row("layout_embed_norm", LAYOUT + "LayerNorm", NARROW, bias="True", group="norm"),
        *bert_layer(LAYER.removesuffix(".")),
        *(
            Row(f"layout_{role}_proj", f"{LAYER}attention.self.layout_{word}", f"{NARROW}, {NARROW}", bias="True")
            for role, word in (("q", "query"), ("k", "key"), ("v", "value"))
        ),
        Row("layout_o_proj", LAYER + "attention.layout_output.dense", f"{NARROW}, {NARROW}", bias="True"),
        Row("layout_post_attention_layernorm", LAYER + "attention.layout_output.LayerNorm", NARROW, bias="True"),
        Row("layout_up_proj", LAYER + "layout_intermediate.dense", f"{NARROW_WITHIN}, {NARROW}", bias="True"),
        Row("layout_down_proj", LAYER + "layout_output.dense", f"{NARROW}, {NARROW_WITHIN}", bias="True"),
        Row("layout_post_feedforward_layernorm", LAYER + "layout_output.LayerNorm", NARROW, bias="True"),
        Row("pooler", "lilt.pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "classifier_dense",
            "classifier.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row(
            "classifier_out_proj",
            "classifier.out_proj",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="lilt.",
    defaults={
        "channel_shrink_ratio": 4,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_2d_position_embeddings": 1024,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="Model",
)
