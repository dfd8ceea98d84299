"""LXMERT: BERT over words, an encoder over objects of an image, and layers in which each attends to the other."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

ENCODER = "lxmert.encoder."
LAYER, VISUAL = ENCODER + "layer.{layer<l_layers}", ENCODER + "r_layers.{layer<r_layers}"
CROSS = ENCODER + "x_layers.{layer<x_layers}"
HEADS = "num_attention_heads * head_dim, hidden_size"
PRETRAINING = "ForPreTraining"


def linear(role: str, name: str, shape: str, tower: str = "text", heads: str = "", when: str = "") -> Row:
    group = "head" if heads and not role.endswith("norm") else ""
    return Row(role, name, shape, bias="True", tower=tower, heads=heads, when=when, group=group)


def attention(at: str, projections: str, tower: str, before: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
        yield linear(before + role, f"{at}.{projections}.{word}", HEADS, tower)
    yield linear(before + "o_proj", at + ".output.dense", "hidden_size, hidden_size", tower)
    yield linear(before + "post_attention_layernorm", at + ".output.LayerNorm", "hidden_size", tower)


def feed_forward(inner: str, outer: str, tower: str) -> Iterator[Row]:
    yield linear("up_proj", inner + ".dense", "intermediate_size, hidden_size", tower)
    yield linear("down_proj", outer + ".dense", "hidden_size, intermediate_size", tower)
    yield linear("post_feedforward_layernorm", outer + ".LayerNorm", "hidden_size", tower)


def objects() -> Iterator[Row]:
    """The head that tells kind, attribute and features of each object, those that it is trained on."""
    asked = "task_obj_predict"
    head = "obj_predict_head."
    yield linear("obj_dense", head + "transform.dense", "hidden_size, hidden_size", heads=PRETRAINING, when=asked)
    yield linear("obj_norm", head + "transform.LayerNorm", "hidden_size", heads=PRETRAINING, when=asked)
    for word, number in (("obj", "num_object_labels"), ("attr", "num_attr_labels"), ("feat", "visual_feat_dim")):
        shape, when = f"{number}, hidden_size", f"{asked} and visual_{word}_loss"
        yield linear(f"{word}_head", f"{head}decoder_dict.{word}", shape, heads=PRETRAINING, when=when)


def answers(heads: str, when: str = "") -> Iterator[Row]:
    """Two layers with a norm between them, which are numbers of one list."""
    for number, shape in (
        (0, "2 * hidden_size, hidden_size"),
        (2, "2 * hidden_size"),
        (3, "num_qa_labels, 2 * hidden_size"),
    ):
        role = "answer_head" if number != 2 else "answer_norm"
        yield linear(role, f"answer_head.logit_fc.{number}", shape, heads=heads, when=when)


FAMILY = Family(
    name="lxmert",
    types={"lxmert": {}},
    rows=(
        Row("embed_tokens", "lxmert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "lxmert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "lxmert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        linear("embed_norm", "lxmert.embeddings.LayerNorm", "hidden_size"),
        linear("embed_objects", ENCODER + "visn_fc.visn_fc", "hidden_size, visual_feat_dim", "vision"),
        linear("embed_objects_norm", ENCODER + "visn_fc.visn_layer_norm", "hidden_size", "vision"),
        linear("embed_boxes", ENCODER + "visn_fc.box_fc", "hidden_size, visual_pos_dim", "vision"),
        linear("embed_boxes_norm", ENCODER + "visn_fc.box_layer_norm", "hidden_size", "vision"),
        *attention(LAYER + ".attention", "self", "text"),
        *feed_forward(LAYER + ".intermediate", LAYER + ".output", "text"),
        *attention(VISUAL + ".attention", "self", "vision"),
        *feed_forward(VISUAL + ".intermediate", VISUAL + ".output", "vision"),
        # One attention serves both directions.
        *attention(CROSS + ".visual_attention", "att", "cross_text", "cross_"),
        *attention(CROSS + ".lang_self_att", "self", "cross_text"),
        *feed_forward(CROSS + ".lang_inter", CROSS + ".lang_output", "cross_text"),
        *attention(CROSS + ".visn_self_att", "self", "cross_vision"),
        *feed_forward(CROSS + ".visn_inter", CROSS + ".visn_output", "cross_vision"),
        linear("pooler", "lxmert.pooler.dense", "hidden_size, hidden_size"),
        linear("mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", heads=PRETRAINING),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads=PRETRAINING),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads=PRETRAINING, leaf="bias"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            heads=PRETRAINING,
            tied="tie_word_embeddings",
        ),
        linear("nsp_head", "cls.seq_relationship", "2, hidden_size", heads=PRETRAINING),
        *objects(),
        *answers(PRETRAINING, "task_qa"),
        *answers("ForQuestionAnswering"),
    ),
    prefix="lxmert.",
    head="Model",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "l_layers": 9,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_attr_labels": 400,
        "num_object_labels": 1600,
        "num_qa_labels": 9500,
        "r_layers": 5,
        "task_obj_predict": True,
        "task_qa": True,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "visual_attr_loss": True,
        "visual_feat_dim": 2048,
        "visual_feat_loss": True,
        "visual_obj_loss": True,
        "visual_pos_dim": 4,
        "vocab_size": 30522,
        "x_layers": 5,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
)
