"""Where a name in a formula gets its value: invented families of a few fields, each value worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.architectures import formula
from inspector.architectures.scope import MAX_DIMENSION, Part, Scope
from inspector.architectures.table import Family, Include, Row
from inspector.errors import ConfigError, CostError


def scope(values: dict[str, Any], **table: Any) -> Scope:
    """A configuration of a family that has only these columns."""
    return Scope(Family(**{"name": "toy", "types": {}, "rows": (), **table}), values)


@every(
    ("values", "table", "expected"),
    [
        ({"width": 3}, {"types": {"toy": {"width": 5}}, "defaults": {"width": 7}}, 3),
        ({"model_type": "toy"}, {"types": {"toy": {"width": 5}}, "defaults": {"width": 7}}, 5),
        ({"model_type": "other"}, {"types": {"toy": {"width": 5}}, "defaults": {"width": 7}}, 7),
        ({}, {"derived": {"width": "2 * 4"}, "defaults": {"width": 7}}, 8),
        ({"model_type": "toy"}, {"types": {"toy": {"width": 5}}, "derived": {"width": "8"}}, 5),
        # a null is neither the type's own value nor the family's default
        ({"model_type": "toy", "width": None}, {"types": {"toy": {"width": 5}}, "derived": {"width": "8"}}, 8),
        ({"model_type": "toy", "width": None}, {"types": {"toy": {"width": 5}}, "defaults": {"width": 7}}, None),
        # under the family's own name, and under the common one
        ({"n_embd": 3}, {"fields": {"n_embd": "width"}}, 3),
        ({"n_embd": 3, "width": 4}, {"fields": {"n_embd": "width"}}, 4),
        ({"n_embd": 3, "width": None}, {"fields": {"n_embd": "width"}}, 3),
        ({"n_embd": None}, {"fields": {"n_embd": "width"}, "types": {"": {"width": 5}}}, None),
        ({}, {"fields": {"n_embd": "width"}, "types": {"": {"width": 5}}}, 5),
        # numbers as they appear in files
        ({"width": 4.0}, {}, 4),
        ({"width": 4.5}, {}, 4.5),
        ({"width": -4.0}, {}, -4),
        ({"width": 2.0**53}, {}, 2.0**53),
        ({"width": 2**63 - 1}, {}, 2**63 - 1),
        ({"width": 1 - 2**63}, {}, 1 - 2**63),
        ({"width": False}, {"defaults": {"width": 7}}, False),
        ({"width": 0}, {"defaults": {"width": 7}}, 0),
    ],
)
def test_the_first_that_has_a_value_gives_it(values: dict[str, Any], table: dict[str, Any], expected: Any) -> None:
    found = scope(values, **table)["width"]
    assert (found, type(found)) == (expected, type(expected))


def test_whole_floats_below_two_to_the_53_are_integers() -> None:
    """Above that, a float cannot be distinguished from its neighbours."""
    assert type(scope({"width": 2.0**53 - 1})["width"]) is int
    assert type(scope({"width": 2.0**53})["width"]) is float
    assert type(scope({"width": -(2.0**53)})["width"]) is float


@pytest.mark.parametrize("number", [2**63, -(2**63)])
def test_numbers_beyond_64_bits_are_refused(number: int) -> None:
    assert MAX_DIMENSION == 9_223_372_036_854_775_807
    with pytest.raises(ConfigError, match=r"^the configuration's `width` is beyond 64 bits$"):
        scope({"width": number})["width"]


@every(
    ("values", "name", "expected"),
    [
        ({"num_key_value_heads": None, "num_attention_heads": 6}, "num_key_value_heads", 6),
        ({"head_dim": None, "hidden_size": 100, "num_attention_heads": 6}, "head_dim", 16),
        ({"intermediate_size": None}, "intermediate_size", None),
        ({}, "num_labels", 2),
        ({"id2label": {"0": "no", "1": "yes", "2": "maybe"}}, "num_labels", 3),
        ({"id2label": {"5": "spam"}}, "id2label", {"5": "spam"}),
        ({}, "id2label", {"0": "LABEL_0", "1": "LABEL_1"}),
        ({}, "tie_word_embeddings", True),
    ],
)
def test_a_configuration_has_its_derived_and_default_fields(values: dict[str, Any], name: str, expected: Any) -> None:
    assert scope(values)[name] == expected


def test_a_value_that_nothing_gives_is_asked_for() -> None:
    message = "^the configuration has no `width`, which a toy model needs$"
    with pytest.raises(ConfigError, match=message):
        scope({})["width"]
    with pytest.raises(ConfigError, match=r"^the configuration has no `num_key_value_heads`"):
        scope({"num_attention_heads": 4})["num_key_value_heads"]  # FOR_NULL applies to nulls alone


def test_fields_that_follow_from_each_other_in_a_circle() -> None:
    circle = scope({}, derived={"width": "depth * 2", "depth": "width // 2"})
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"^the configuration has no `width`"):
            circle["width"]
    assert scope({"depth": 3}, derived={"width": "depth * 2", "depth": "width // 2"})["width"] == 6


def test_a_layers_own_values() -> None:
    """`per_layer_config` has precedence for the layer in question; its numbers may begin with zeros."""
    own = {"01": {"width": 5, "deep": None}, "3": {"width": 2**63}, "4": 7, "five": {"width": 1}, "1" * 9: {"width": 1}}
    whole = scope({"width": 3, "deep": 9, "per_layer_config": own}, derived={"double": "width * 2"})
    assert [whole.at(layer=layer)["width"] for layer in (0, 1, 4, 111_111_111)] == [3, 5, 3, 3]
    assert [whole.at(layer=layer)["double"] for layer in (0, 1, 2)] == [6, 10, 6]
    assert [whole["width"], whole["double"], whole.at(expert=1)["width"]] == [3, 6, 3]
    assert whole.at(layer=1)["deep"] == 9
    with pytest.raises(ConfigError, match=r"^the configuration's `width` is beyond 64 bits$"):
        whole.at(layer=3)["width"]
    assert scope({"width": 3, "per_layer_config": [{"width": 5}]}).at(layer=0)["width"] == 3
    assert scope({"per_layer_config": {"12345678": {"width": 5}}}).at(layer=12_345_678)["width"] == 5


def test_an_index_hides_a_field_of_its_name() -> None:
    whole = scope({"layer": 40, "expert": 50})
    inner = whole.at(layer=1)
    assert (whole["layer"], inner["layer"], inner["expert"], inner.at(expert=2)["expert"]) == (40, 1, 50, 2)
    assert (inner.at(expert=2)["layer"], inner.at(layer=7)["layer"], whole["layer"]) == (1, 7, 40)


def test_a_field_that_follows_from_an_index_is_worked_out_for_each() -> None:
    whole = scope({"width": 3}, derived={"wide": "width * step", "step": "layer + 1", "plain": "width * 10"})
    assert [whole.at(layer=layer)["wide"] for layer in (0, 1, 2)] == [3, 6, 9]
    assert [whole.at(layer=layer)["plain"] for layer in (0, 1)] == [30, 30]
    second = whole.at(layer=1)
    assert (second["wide"], second["wide"], second["step"]) == (6, 6, 2)


def test_a_field_is_worked_out_once() -> None:
    """Many formulas name it: the second time costs one step, for the name itself."""
    whole = scope({"width": 3}, derived={"plain": "width * width * width", "step": "layer * layer * layer"})

    def steps(name: str, where: Scope) -> int:
        for enough in range(1, 50):
            try:
                with formula.bounded(enough):
                    formula.evaluate(name, where)
            except CostError:
                continue
            return enough
        raise AssertionError(name)

    once = steps("width", whole)
    first = whole.at(layer=1)
    assert whole["plain"] == 27
    assert first["step"] == 1
    assert steps("plain", whole.at(layer=2)) == once
    assert steps("step", first) == once
    assert steps("step", whole.at(layer=2)) > once


@every(
    ("text", "varies"),
    [
        ("layer", True),
        ("width", False),
        ("wide", True),
        ("wider + 1", True),
        ("round", False),
        ("expert", False),
        ("kinds[layer] == 'a'", True),
        ("", False),
    ],
)
def test_whether_a_formula_varies_with_an_index(text: str, varies: bool) -> None:
    """Directly, or through fields that follow from others, which may form a circle."""
    derived = {"wide": "width * layer", "wider": "wide + 1", "round": "trip", "trip": "round"}
    whole = scope({"width": 3}, derived=derived)
    assert whole.mentions({"layer"}, text or "1") is varies
    assert whole.mentions((), text or "1") is False


@every(
    ("text", "expected"),
    [
        ({"tie_word_embeddings": False}, False),
        ({"tie_word_embeddings": True}, True),
        ({"tie_word_embeddings": 0}, False),
        ({"tie_word_embeddings": None}, True),  # left to the whole
        ({}, True),
        ({"model_type": "llama"}, False),  # LlamaConfig: not tied
        ({"model_type": "gemma2"}, True),  # Gemma2Config: tied
        ({"model_type": "llama", "tie_word_embeddings": True}, True),
        ({"model_type": "nobody knows"}, True),
        ("llama", True),
    ],
)
def test_a_whole_is_tied_as_its_text_model_is(text: Any, expected: bool) -> None:
    assert scope({"text_config": text})["tie_word_embeddings"] is expected


@pytest.mark.parametrize(
    ("values", "table", "expected"),
    [
        ({"tie_word_embeddings": True}, {}, True),
        ({}, {"defaults": {"tie_word_embeddings": True}}, True),
        ({}, {"derived": {"tie_word_embeddings": "3 > 2"}}, True),
        ({"model_type": "toy"}, {"types": {"toy": {"tie_word_embeddings": True}}}, True),
        ({"model_type": "other"}, {"types": {"toy": {"tie_word_embeddings": True}}}, False),
    ],
)
def test_a_whole_that_says_so_itself_is_not_asked_for_its_text(
    values: dict[str, Any], table: dict[str, Any], expected: bool
) -> None:
    stated = {**values, "text_config": {"tie_word_embeddings": False}}
    assert scope(stated, **table)["tie_word_embeddings"] is expected


def test_old_words_for_kinds_of_layers() -> None:
    kinds = ["attention", "mamba", "sliding_attention", 3]
    found = scope({"layer_types": kinds, "layers_block_type": ["mamba"], "others": ["mamba"]})
    assert found["layer_types"] == ["full_attention", "linear_attention", "sliding_attention", 3]
    assert (found["layers_block_type"], found["others"]) == (["linear_attention"], ["mamba"])
    assert kinds[0] == "attention"  # the configuration itself is unchanged
    assert scope({"layer_types": "mamba"})["layer_types"] == "mamba"


# --- nested configurations --------------------------------------------------------------------

#: Llama's own: 4,096 wide, 32 heads.
TEXT = Include("text_config", "model.", default_type="llama")


def test_a_part_is_completed_by_its_own_type() -> None:
    """A llama within a whole: missing fields are LlamaConfig's."""
    whole = scope({"text_config": {"hidden_size": 64}}, rows=(TEXT,))
    part = whole["text_config"]
    assert isinstance(part, Part)
    assert (part["hidden_size"], part["num_attention_heads"], part["num_hidden_layers"]) == (64, 32, 32)
    assert (part["model_type"], formula.evaluate("text_config.hidden_size * 2", whole)) == ("llama", 128)
    with pytest.raises(KeyError):
        part["of no meaning"]
    assert set(part) == {"hidden_size", "model_type"}
    assert len(part) == 2


def test_the_whole_says_what_a_part_and_its_type_leave_out() -> None:
    """`defaults` of the whole's table apply to fields that the part's own type does not have."""
    table = {"rows": (TEXT,), "defaults": {"text_config": {"hidden_size": 96, "towers": 3}}}
    given = scope({"text_config": {"num_hidden_layers": 2}}, **table)["text_config"]
    assert (given["num_hidden_layers"], given["hidden_size"], given["towers"]) == (2, 4096, 3)
    assert set(given) == {"hidden_size", "towers", "num_hidden_layers", "model_type"}
    assert len(given) == 4
    absent = scope({}, **table)["text_config"]
    assert (absent["num_hidden_layers"], absent["hidden_size"], absent["towers"]) == (32, 96, 3)


def test_a_part_of_a_type_without_a_table() -> None:
    """Its own fields take precedence over those that the whole gives it."""
    unknown = Include("text_config", "model.", default_type="nobody knows")
    table = {"rows": (unknown,), "defaults": {"text_config": {"hidden_size": 96, "towers": 3}}}
    assert scope({"text_config": {"hidden_size": 64}}, **table)["text_config"] == {"hidden_size": 64, "towers": 3}
    assert scope({}, **table)["text_config"] == {"hidden_size": 96, "towers": 3}


def test_a_part_whose_rows_the_whole_has() -> None:
    """It is not included: its type's table completes it, unless the type is the whole's own."""
    given = {"hidden_size": 64, "model_type": "llama"}
    assert scope({"text_config": given})["text_config"]["num_hidden_layers"] == 32
    own = scope({"model_type": "llama", "text_config": given})["text_config"]
    assert own == given
    assert "num_hidden_layers" not in own  # Llama's table is the whole's, which may set any field of its parts
    with pytest.raises(KeyError):
        own["num_hidden_layers"]
    table = {"defaults": {"text_config": {"hidden_size": 96, "towers": 3}}}
    assert scope({"text_config": {"hidden_size": 64}}, **table)["text_config"] == {"hidden_size": 64, "towers": 3}
    assert scope({}, **table)["text_config"] == {"hidden_size": 96, "towers": 3}
    typed = scope({"text_config": {**given, "towers": None}}, **table)["text_config"]
    assert (typed["towers"], typed["hidden_size"], typed["num_attention_heads"]) == (3, 64, 32)


def test_fields_of_a_part_that_follow_from_the_whole() -> None:
    """`text_config.hidden_size` of `derived` fills a missing or null field of the part, and nothing else."""
    derived = {"text_config.hidden_size": "width * 2", "text_config.depth": "7", "vision_config.hidden_size": "9"}
    whole = scope({"width": 24}, rows=(Row("norm", "norm", "1"), TEXT), derived=derived)
    assert whole.filled("text_config", {"depth": 1}) == {"depth": 1, "hidden_size": 48}
    assert whole.filled("text_config", {"hidden_size": None}) == {"hidden_size": 48, "depth": 7}
    assert whole.filled("text_config", {"hidden_size": 5, "depth": 1}) == {"hidden_size": 5, "depth": 1}
    assert whole.filled("audio_config", {"depth": 1}) == {"depth": 1}
    inner = scope({"width": 24, "text_config": {"num_hidden_layers": 2}}, rows=(TEXT,), derived=derived)["text_config"]
    assert (inner["hidden_size"], inner["num_hidden_layers"]) == (48, 2)
    round_trip = {"text_config.hidden_size": "text_config.num_attention_heads * 4"}
    assert scope({"text_config": {}}, rows=(TEXT,), derived=round_trip)["text_config"]["hidden_size"] == 32 * 4


def test_an_overwritten_field_is_ignored_under_each_name() -> None:
    """A field of `overwritten` is ignored, under each of its names, and in a part."""
    table = {"derived": {"width": "2 * heads"}, "fields": {"n_embd": "width"}, "overwritten": ["width"]}
    assert [scope({"heads": 4, name: 5}, **table)["width"] for name in ("width", "n_embd", "other")] == [8, 8, 8]
    part = {"derived": {"text_config.width": "heads"}, "overwritten": ["text_config.width"], "rows": (TEXT,)}
    assert scope({"heads": 4, "text_config": {"width": 5}}, **part)["text_config"]["width"] == 4


@pytest.mark.parametrize("rows", [(), (TEXT,)])
def test_a_part_that_is_null_has_its_usual_values(rows: tuple[Row | Include, ...]) -> None:
    """Unless the table has null for it: such a class has no part of this kind. Null labels are not labels."""
    usual = {"rows": rows, "defaults": {"text_config": {"towers": 3}, "id2label": {"0": "cat"}}}
    assert scope({"text_config": None}, **usual)["text_config"]["towers"] == 3
    assert scope({"text_config": None}, rows=rows, defaults={"text_config": None})["text_config"] is None
    assert scope({"id2label": None}, **usual)["id2label"] is None


def test_a_part_of_a_part_is_completed_too() -> None:
    """The outer part's fields of the inner one replace the table's, field by field; labels are replaced as a whole."""
    usual = {"encoder": {"vision_config": {"width": 8, "depth": 2}, "id2label": {"0": "cat", "1": "dog"}}}
    given = {"encoder": {"vision_config": {"width": 4}, "id2label": {"0": "cow"}}}
    found = {"vision_config": {"width": 4, "depth": 2}, "id2label": {"0": "cow"}}
    assert scope(given, defaults=usual)["encoder"] == found
    assert scope({"encoder": {"vision_config": None}}, defaults=usual)["encoder"] == usual["encoder"]


def test_the_first_include_of_a_field_completes_it() -> None:
    vision = Include("text_config", "vision.", default_type="gpt2")
    assert scope({"text_config": {}}, rows=(TEXT, vision))["text_config"]["model_type"] == "llama"
    assert scope({"text_config": {}}, rows=(vision, TEXT))["text_config"]["model_type"] == "gpt2"
