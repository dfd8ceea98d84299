"""Rows of a table → tensors, and tensors → a prediction: small invented families, each tensor worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from every import every

from inspector.architectures import formula
from inspector.architectures.expansion import expand, expand_row
from inspector.architectures.prediction import by_role, bytes_at, head_of, predict, scope_of, size_of
from inspector.architectures.scope import Scope
from inspector.architectures.table import Family, Include, Row
from inspector.errors import ConfigError, CostError
from inspector.model import Config, Expected, Prediction

Shapes = dict[str, tuple[int, ...]]
LAYER = "layers.{layer<depth}"


def family(*rows: Row | Include, **columns: Any) -> Family:
    return Family(**{"name": "toy", "types": {}, "rows": rows, **columns})


def tensors(row: Row, **values: Any) -> Shapes:
    """Each tensor of a row under a configuration, by name."""
    return shapes_of(expand_row(row, Scope(family(), values)))


def shapes_of(rows: Any) -> Shapes:
    return {expected.name_of(key): expected.shape for expected in rows for key in expected.keys()}


def refused(row: Row, **values: Any) -> str:
    with pytest.raises(ConfigError) as raised:
        tensors(row, **values)
    return f"{type(raised.value).__name__}: {raised.value}"


# --- one row ----------------------------------------------------------------------------------


def test_every_column_of_a_row() -> None:
    """Eight experts from the third on, of which two are active, in the second and third of three layers."""
    row = Row(
        "up_proj",
        LAYER + ".mlp.{group<groups}.experts.{expert<experts - 2}.up",
        "wide, 2 * deep",
        when="layer > 0",
        bias="with_bias",
        active="chosen",
        first_expert="chosen",
        tower="vision",
        branch="cross",
    )
    values = {"depth": 3, "groups": 1, "experts": 10, "wide": 6, "deep": 4, "with_bias": 1, "chosen": 2}
    weight, bias = expand_row(row, Scope(family(), values))
    assert weight == Expected(
        role="up_proj",
        group="feed_forward",
        tower="vision",
        part="weight",
        name="layers.{layer}.mlp.0.experts.{expert}.up.weight",
        shape=(6, 8),
        formula=("wide", "2·deep"),
        numbers=("6", "2·4"),
        layers=(1, 2),
        experts=8,
        first_expert=2,
        active=2,
        branch="cross",
        indexes=(0,),
        stacked=None,
        buffer=False,
    )
    assert bias == weight._replace(
        part="bias",
        name="layers.{layer}.mlp.0.experts.{expert}.up.bias",
        shape=(6,),
        formula=("wide",),
        numbers=("6",),
    )


def test_a_plain_row_is_a_weight_of_the_text_tower() -> None:
    (norm,) = expand_row(Row("norm", "norm", "wide"), Scope(family(), {"wide": 6}))
    assert norm == Expected("norm", "norm", "text", "weight", "norm.weight", (6,), ("wide",), ("6",))
    (scalar,) = expand_row(Row("scale", "scale", "", leaf=""), Scope(family(), {}))
    assert (scalar.name, scalar.shape, scalar.formula, scalar.layers) == ("scale", (), (), None)


def test_a_bias_beside_a_transposed_weight_is_as_long_as_its_last_dimension() -> None:
    row = Row("q_proj", "attn", "5, 3", bias="1")
    assert tensors(row) == {"attn.weight": (5, 3), "attn.bias": (5,)}
    assert tensors(row._replace(transposed=True)) == {"attn.weight": (5, 3), "attn.bias": (3,)}
    assert tensors(Row("q_proj", "in_proj_weight", "5, 3", bias="1", leaf="")) == {
        "in_proj_weight": (5, 3),
        "in_proj_bias": (5,),
    }


def test_buffers_and_stacks() -> None:
    (mask,) = expand_row(Row("norm", "mask", "3", leaf="", buffer=True), Scope(family(), {}))
    assert (mask.group, mask.buffer, mask.parameters) == ("buffer", True, 0)
    (stack,) = expand_row(Row("up_proj", "up", "8, 3", stacked="4 * 2", active="k"), Scope(family(), {"k": 2}))
    assert (stack.stacked, stack.active, stack.experts, stack.active_parameters) == (8, 2, None, 6)
    (open_number,) = expand_row(Row("up_proj", "up", "8, 3", stacked="8", active="k"), Scope(family(), {"k": None}))
    assert (open_number.active, open_number.active_parameters) == (None, 24)


@pytest.mark.parametrize(
    ("when", "layers"),
    [
        ("", [0, 1, 2, 3]),
        ("flag", []),
        ("not flag", [0, 1, 2, 3]),
        ("layer % 2", [1, 3]),
        ("layer in chosen", [0, 3]),
        ("odd", [1, 3]),  # through a field that follows from the layer
        ("layer > 9", []),
    ],
)
def test_in_which_layers_a_row_is(when: str, layers: list[int]) -> None:
    whole = Scope(family(derived={"odd": "layer % 2"}), {"depth": 4, "flag": False, "chosen": [0, 3]})
    found = [row.layers for row in expand_row(Row("norm", LAYER + ".norm", "7", when=when), whole)]
    assert found == ([tuple(layers)] if layers else [])


def test_layers_of_one_shape_are_one_row() -> None:
    """The first layer of a shape gives the order; a bias in some layers keeps them apart."""
    row = Row("q_proj", LAYER + ".q", "sizes[layer], 2", bias="layer == 2")
    found = list(expand_row(row, Scope(family(), {"depth": 4, "sizes": [5, 6, 5, 5]})))
    assert [(each.part, each.shape, each.layers, each.numbers) for each in found] == [
        ("weight", (5, 2), (0, 3), ("sizes[0]", "2")),
        ("weight", (6, 2), (1,), ("sizes[1]", "2")),
        ("weight", (5, 2), (2,), ("sizes[2]", "2")),
        ("bias", (5,), (2,), ("sizes[2]",)),
    ]


def test_a_condition_a_size_and_a_bias_vary_each_by_itself() -> None:
    row = Row("q_proj", LAYER + ".q", "wide, 2")
    assert tensors(row._replace(when="layer != 1"), depth=3, wide=4) == {
        "layers.0.q.weight": (4, 2),
        "layers.2.q.weight": (4, 2),
    }
    assert tensors(row._replace(shape="layer + 1, 2"), depth=2) == {
        "layers.0.q.weight": (1, 2),
        "layers.1.q.weight": (2, 2),
    }
    assert tensors(row._replace(bias="layer"), depth=2, wide=4) == {
        "layers.0.q.weight": (4, 2),
        "layers.1.q.weight": (4, 2),
        "layers.1.q.bias": (4,),
    }
    assert tensors(row._replace(bias="wide > 4"), depth=1, wide=4) == {"layers.0.q.weight": (4, 2)}


def test_experts_may_be_of_another_number_in_each_layer() -> None:
    row = Row("up_proj", LAYER + ".experts.{expert<counts[layer]}.up", "2, 2")
    found = tensors(row, depth=3, counts=[2, 0, 1])
    assert list(found) == [
        "layers.0.experts.0.up.weight",
        "layers.0.experts.1.up.weight",
        "layers.2.experts.0.up.weight",
    ]


def test_layers_with_values_of_their_own() -> None:
    """`per_layer_config` changes a condition, a size and a bias that do not mention the layer."""
    row = Row("q_proj", LAYER + ".q", "wide, 2", when="on", bias="biased")
    own = {"1": {"wide": 5}, "2": {"on": False}}
    assert tensors(row, depth=3, wide=4, on=True, biased=False, per_layer_config=own) == {
        "layers.0.q.weight": (4, 2),
        "layers.1.q.weight": (5, 2),
    }
    outside = Row("norm", "norm", "wide", when="on")
    assert tensors(outside, depth=3, wide=4, on=False, per_layer_config={"0": {"on": True}}) == {}


def test_several_numbers_in_a_name() -> None:
    """The outermost is the slowest, a literal number is one more, and each shape has its numbers."""
    row = Row("norm", "stages.{stage<2}.3.blocks.{block<stage + 1}.norm", "10 * stage + block + 1")
    found = list(expand_row(row, Scope(family(), {})))
    assert [(each.indexes, each.shape, each.name) for each in found] == [
        ((0, 3, 0), (1,), "stages.0.3.blocks.0.norm.weight"),
        ((1, 3, 0), (11,), "stages.1.3.blocks.0.norm.weight"),
        ((1, 3, 1), (12,), "stages.1.3.blocks.1.norm.weight"),
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"depth": -1}, "ConfigError: the configuration gives -1 for `depth`: not a number of layers or experts"),
        ({"depth": True}, "ConfigError: the configuration gives True for `depth`: not a number of layers or experts"),
        (
            {"depth": "x" * 99},
            f"ConfigError: the configuration gives '{'x' * 39} for `depth`: not a number of layers or experts",
        ),
        ({"depth": 2.5}, "ConfigError: the configuration gives 2.5 for `depth`: not a number of layers or experts"),
        ({"depth": 10_001}, "CostError: the configuration gives 10001 for `depth`: not a number of layers or experts"),
    ],
)
def test_numbers_of_layers_that_are_none(values: dict[str, Any], message: str) -> None:
    assert refused(Row("norm", LAYER + ".norm", "2"), **values) == message


def test_the_most_layers() -> None:
    assert len(tensors(Row("norm", LAYER + ".norm", "2"), depth=10_000)) == 10_000
    assert tensors(Row("norm", LAYER + ".norm", "2"), depth=0) == {}


@pytest.mark.parametrize(
    ("wide", "reported"), [(-1, "-1"), (True, "True"), (2.5, "2.5"), ("a" * 99, "'" + "a" * 39), (None, "None")]
)
def test_dimensions_that_are_none(wide: Any, reported: str) -> None:
    stated = refused(Row("norm", "norm", "2, wide * 1" if wide == -1 else "2, wide"), wide=wide)
    shown = "wide·1" if wide == -1 else "wide"
    assert stated == f"ConfigError: the configuration gives {reported} for `{shown}` of norm: not a dimension"


def test_dimensions_up_to_64_bits() -> None:
    assert tensors(Row("norm", "norm", "a, b"), a=2**63 - 1, b=0) == {"norm.weight": (2**63 - 1, 0)}
    assert refused(Row("norm", "norm", "a * 2"), a=2**62).startswith("ConfigError: ")


def steps(row: Row, **values: Any) -> int:
    """The least step budget that suffices for a row's tensors."""
    enough, short = 1 << 20, 0
    while enough - short > 1:
        middle = (enough + short) // 2
        try:
            with formula.bounded(middle):
                tensors(row, **values)
        except CostError:
            short = middle
        else:
            enough = middle
    return enough


def test_a_row_costs_8_steps_a_layer_and_100_a_shape() -> None:
    """8 steps a layer and 100 a shape, besides those of the formulas."""
    row = Row("norm", LAYER + ".norm", "4")
    assert steps(row, depth=30) - steps(row, depth=20) == 10 * 8
    sized = Row("norm", LAYER + ".norm", "sizes[layer]")
    alike, apart = steps(sized, depth=3, sizes=[4, 4, 4]), steps(sized, depth=3, sizes=[4, 4, 5])
    assert apart - alike == 100
    one_more = steps(sized, depth=4, sizes=[4, 4, 4, 4])
    budget = [1000]
    token = formula._left.set(budget)
    formula.evaluate("sizes[layer]", {"sizes": [4], "layer": 0})
    formula._left.reset(token)
    assert one_more - alike == 8 + 1000 - budget[0]


def test_a_formula_without_an_index_is_computed_once() -> None:
    row = Row("q_proj", LAYER + ".q", "a * a * a * a, 2", when="a * a * a * a", bias="a * a * a * a")
    assert steps(row, depth=30, a=2) - steps(row, depth=20, a=2) == 10 * 8


# --- a family ---------------------------------------------------------------------------------


def found(whole: Family, head: str = "ForCausalLM", **values: Any) -> list[tuple[str, bool]]:
    """The names that a family has under a class, and whether they are tied."""
    return [
        (expected.name_of(key), tied) for _, expected, tied in expand(whole, values, head) for key in expected.keys()
    ]


def test_rows_of_classes() -> None:
    """Only its classes have a head; the body's names begin as in the class."""
    whole = family(
        Row("norm", "model.norm", "2"),
        Row("lm_head", "lm_head", "2", heads="ForCausalLM LMHeadModel", tied="tie"),
        prefix="model.",
        prefixes={"ForOther": "other.", "Model": ""},
    )
    assert found(whole, tie=True) == [("model.norm.weight", False), ("lm_head.weight", True)]
    assert found(whole, "LMHeadModel", tie=False) == [("model.norm.weight", False), ("lm_head.weight", False)]
    assert found(whole, "ForOther") == [("other.norm.weight", False)]
    assert found(whole, "Model") == [("norm.weight", False)]
    assert found(whole, "LMHead") == [("model.norm.weight", False)]  # a substring of the class's name is not the class


def test_names_outside_the_prefix_stay() -> None:
    whole = family(Row("norm", "outer.norm", "2"), Row("embed_tokens", "model.embed", "3"), prefix="model.")
    assert found(whole, "Model") == [("outer.norm.weight", False), ("embed.weight", False)]


GPT2 = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 10, "n_positions": 4}


def included(include: Include, *rows: Row, **values: Any) -> list[Expected]:
    return [expected for _, expected, _ in expand(family(include, *rows), values, "ForCausalLM")]


def test_a_part_of_another_family() -> None:
    """GPT-2 in a tower: under the part's prefix, tower and branch."""
    include = Include("text_config", "body.", strip="transformer.", tower="decoder", branch="cross")
    rows = included(include, text_config=GPT2)
    shapes = shapes_of(rows)
    assert shapes["body.wte.weight"] == (10, 8)
    assert shapes["body.wpe.weight"] == (4, 8)
    assert shapes["body.h.0.mlp.c_fc.weight"] == (8, 32)
    assert {(row.tower, row.branch) for row in rows} == {("decoder", "cross")}
    assert "body.lm_head.weight" not in shapes


def test_a_part_is_there_under_its_condition() -> None:
    include = Include("text_config", "body.", strip="transformer.", when="with_text")
    after = Row("norm", "norm", "2")
    assert len(included(include, after, with_text=True, text_config=GPT2)) > 10
    assert [row.name for row in included(include, after, with_text=False, text_config=GPT2)] == ["norm.weight"]
    other = include._replace(when="", heads="ForOther")
    assert [row.name for row in included(other, after, text_config=GPT2)] == ["norm.weight"]


def test_a_part_leaves_out_what_the_whole_says() -> None:
    include = Include("text_config", "body.", strip="transformer.", without="embed_tokens transformer.ln_f")
    names = shapes_of(included(include, text_config=GPT2))
    assert "body.wpe.weight" in names
    assert names.keys().isdisjoint({"body.wte.weight", "body.ln_f.weight", "body.ln_f.bias"})


def test_a_part_of_which_there_are_many() -> None:
    """Each part has its number, before those of its tensors; a literal number counts, too."""
    include = Include("text_config", "7.parts.{part<parts}.", strip="transformer.", without="embed_tokens")
    rows = included(include, parts=2, text_config=GPT2)
    assert {row.indexes for row in rows} == {(7, 0), (7, 1)}
    assert shapes_of(rows)["7.parts.1.ln_f.weight"] == (8,)
    assert [row.layers for row in rows if row.role == "down_proj" and row.part == "weight"] == [(0,), (0,)]


def test_the_whole_says_whether_a_parts_head_is_tied() -> None:
    """The whole takes precedence over the part's own value."""
    include = Include("text_config", "body.", head="LMHeadModel", strip="transformer.", tied="tie")
    for tie in (True, False):
        values = {"tie": tie, "text_config": {**GPT2, "tie_word_embeddings": not tie}}
        heads = [tied for _, row, tied in expand(family(include), values, "") if row.role == "lm_head"]
        assert heads == [tie]


def test_a_part_without_a_table_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^no prediction for text_config.model_type 'nobody knows'$"):
        included(Include("text_config", "body."), text_config={"model_type": "nobody knows"})
    with pytest.raises(ConfigError, match=rf"^no prediction for text_config.model_type '{'x' * 59}$"):
        included(Include("text_config", "body."), text_config={"model_type": "x" * 99})


def test_parts_cost_8_steps_for_each_of_their_rows() -> None:
    """8 steps per row and part."""
    include = Include("text_config", "parts.{part<parts}.", strip="transformer.")

    def spent(parts: int) -> int:
        budget = [1 << 20]
        token = formula._left.set(budget)
        try:
            rows = included(include, parts=parts, text_config=GPT2)
        finally:
            formula._left.reset(token)
        assert len(rows) % parts == 0
        return (1 << 20) - budget[0] - 8 * len(rows)

    assert spent(5) - spent(4) == 8


# --- a prediction -----------------------------------------------------------------------------

TOY = family(
    Row("embed_tokens", "embed", "vocab, wide"),
    Row("q_proj", LAYER + ".q", "wide, wide", bias="1"),
    Row("lm_head", "lm_head", "vocab, wide", heads="ForCausalLM", tied="tie"),
    Row("causal_mask", LAYER + ".mask", "9", leaf="", buffer=True),
    Row("running_mean", "mean", "wide", leaf="", buffer=True, persistent=True),
    Row("norm", LAYER + ".extra", "wide", optional=True),
    Row("proj_norm", "mtp.norm", "wide", ahead=True),
    derived={"depth": "num_hidden_layers"},
    ahead="more",
)
VALUES = {"model_type": "toy", "vocab": 5, "wide": 3, "num_hidden_layers": 2, "tie": False}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(values: Mapping[str, Any]) -> Family | None:
        return TOY if values.get("model_type") == "toy" else None

    monkeypatch.setattr(Config, "find_family", found)


def predicted(**values: Any) -> Prediction:
    return predict(Config({**VALUES, **values}, "config.json"))


@pytest.mark.usefixtures("toy")
def test_a_prediction_counts_stored_tensors_and_parameters_of_a_toy() -> None:
    """5×3 twice, two layers of 3×3 + 3; a mask that is not stored, statistics that are stored and no parameters."""
    whole = predicted()
    assert (whole.family, whole.head, whole.parameters, whole.tensors) == ("toy", "ForCausalLM", 54, 7)
    assert [row.name for row in whole.expected] == [
        "embed.weight",
        "layers.{layer}.q.weight",
        "layers.{layer}.q.bias",
        "lm_head.weight",
        "mean",
    ]
    assert [[row.name for row in rows] for rows in (whole.tied, whole.buffers, whole.optional, whole.ahead)] == [
        [],
        ["layers.{layer}.mask"],
        ["layers.{layer}.extra.weight"],
        ["mtp.norm.weight"],
    ]
    tied = predicted(tie=True)
    assert (tied.parameters, [row.name for row in tied.tied]) == (39, ["lm_head.weight"])
    assert scope_of(whole)["depth"] == 2
    assert whole.config.notes == ()


@pytest.mark.usefixtures("toy")
@every(
    ("more", "layers"),
    [(0, ()), (1, (2,)), (3, (2, 3, 4)), (16, tuple(range(2, 18))), (17, ()), (-1, ()), ("2", ()), (None, ())],
)
def test_layers_that_predict_further_tokens(more: Any, layers: tuple[int, ...]) -> None:
    """They equal the last layer; optional rows, buffers and rows of their own are not repeated."""
    whole = predicted(more=more)
    assert whole.parameters == 54
    own = [row for row in whole.ahead if row.name != "mtp.norm.weight"]
    names = ["layers.{layer}.q.weight", "layers.{layer}.q.bias"] if layers else []
    assert [(row.name, row.layers) for row in own] == [(name, layers) for name in names]
    assert whole.ahead[-1].name == "mtp.norm.weight"


@pytest.mark.usefixtures("toy")
def test_a_class_that_the_table_does_not_know() -> None:
    whole = predicted(architectures=["ToyForWonders"])
    assert whole.head == "ForWonders"
    assert whole.config.notes == ("ToyForWonders is not a class in the table of toy: only its body is predicted",)
    assert "lm_head.weight" not in {row.name for row in whole.expected}
    assert predicted(architectures=["ToyModel"]).config.notes == ()


@pytest.mark.usefixtures("toy")
def test_a_class_of_no_known_kind_is_not_taken_for_the_default_one_silently() -> None:
    inner = predicted(architectures=["ToyEncoder"])
    expected = f"ToyEncoder is not a class in the table of toy: predicted as its default class, {inner.head}"
    assert inner.config.notes == (expected,)
    assert inner.expected == predicted(architectures=[]).expected
    assert predicted(architectures=[]).config.notes == ()


@pytest.mark.parametrize(
    ("model_type", "named", "head"),
    [
        ("bart", "BartEncoder", "ForConditionalGeneration"),
        ("detr", "DetrDecoder", "ForObjectDetection"),
        ("dpr", "DPRSpanPredictor", "DPRQuestionEncoder"),
    ],
)
def test_a_part_of_a_model_in_architectures_is_noted(model_type: str, named: str, head: str) -> None:
    notes = predict(Config({"model_type": model_type, "architectures": [named]}, "config.json")).config.notes
    assert notes == (f"{named} is not a class in the table of {model_type}: predicted as its default class, {head}",)


@pytest.mark.parametrize(
    ("model_type", "named"),
    [
        ("dpr", "DPRContextEncoder"),
        ("speecht5_hifigan", "SpeechT5HifiGan"),
        ("granite_speech_plus_encoder", "GraniteSpeechPlusCTCEncoder"),
        ("qwen3_omni_moe_vision_encoder", "Qwen3OmniMoeVisionEncoder"),
    ],
)
def test_a_class_with_a_name_of_its_own_needs_no_note(model_type: str, named: str) -> None:
    assert predict(Config({"model_type": model_type, "architectures": [named]}, "config.json")).config.notes == ()


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model_type": "odd"}, "no prediction for model_type 'odd': there is no table for its architecture"),
        (
            {"model_type": None},
            "no prediction for a configuration without model_type: there is no table for its architecture",
        ),
        ({"general.type": "imatrix"}, "this file does not hold a model, so nothing is predicted: imatrix"),
    ],
)
def test_a_configuration_without_a_table_is_refused_with_its_reason(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        predicted(**values)
    assert str(raised.value) == message


def test_more_tensors_than_any_model_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 layers of 10,000 experts are the maximum."""
    many = family(
        Row("up_proj", "l.{layer<depth}.experts.{expert<10000}.up", "1"), Row("norm", "norm", "1", when="more")
    )
    monkeypatch.setattr(Config, "find_family", lambda _: many)
    assert predict(Config({"depth": 30, "more": False}, "config.json")).tensors == 300_000
    with pytest.raises(CostError, match=r"^the configuration asks for 300,001 tensors: no model has that many$"):
        predict(Config({"depth": 30, "more": True}, "config.json"))


def test_parts_within_parts_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> Any:
        raise RecursionError

    monkeypatch.setattr(Config, "find_family", endless)
    with pytest.raises(CostError, match=r"^the configuration's parts are nested too deep: not predicted$"):
        predict(Config({}, "config.json"))


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 layers of a formula of more than 200 steps exceed two million steps, and are refused."""
    monkeypatch.setattr(Config, "find_family", lambda _: family(Row("norm", LAYER + ".n", " + ".join(["layer"] * 120))))
    assert predict(Config({"depth": 100}, "config.json")).tensors == 100
    with pytest.raises(CostError, match="more than 2,000,000 steps of work"):
        predict(Config({"depth": 10_000}, "config.json"))


@pytest.mark.parametrize(
    ("architecture", "columns", "head"),
    [
        ("ToyForCausalLM", {}, "ForCausalLM"),
        ("ToyModel", {}, "Model"),
        ("ToyLMHeadModel", {}, "LMHeadModel"),
        (None, {}, "ForCausalLM"),
        (None, {"head": "ForOther"}, "ForOther"),
        ("Odd", {"head": "ForOther"}, "ForOther"),
        ("ToyForCausalLM", {"classes": {"ToyForCausalLM": "Special"}}, "Special"),
    ],
)
def test_a_head_is_chosen_by_the_class_name(architecture: str | None, columns: dict[str, Any], head: str) -> None:
    config = Config({"architectures": [architecture]} if architecture else {}, "config.json")
    assert head_of(family(**columns), config) == head


def test_sizes_are_whole_bytes() -> None:
    """Three weights of 4 bits are 2 bytes; a buffer does not count with the parameters."""
    assert [size_of(elements, 4) for elements in (0, 1, 2, 3)] == [0, 1, 1, 2]
    assert [size_of(3, bits) for bits in (32, 16, 8, 1)] == [12, 6, 3, 1]
    row = Row("q_proj", LAYER + ".q", "3")
    rows = (*expand_row(row, Scope(TOY, VALUES)), *expand_row(Row("norm", "m", "9", buffer=True), Scope(TOY, VALUES)))
    whole = Prediction(Config({}, "config.json"), "toy", "", rows)
    assert [bytes_at(whole, bits) for bits in (4, 16, 32)] == [2 * 2, 2 * 6, 2 * 12]


def test_a_line_a_role() -> None:
    """Each shape once, biases after a plus, in the order of the table; branches and towers have their own lines."""
    rows = [
        Row("q_proj", "a.q", "2 * wide, deep", bias="1"),
        Row("norm", "n", "wide"),
        Row("q_proj", "b.q", "wide, deep", bias="1"),
        Row("q_proj", "c.q", "wide, deep"),
        Row("scale", "s", "", leaf=""),
        Row("q_proj", "d.q", "wide", branch="cross"),
        Row("q_proj", "e.q", "wide", tower="vision"),
        Row("norm", "f", "wide", leaf="bias"),
    ]
    whole = Scope(family(), {"wide": 3, "deep": 4})
    lines = by_role(
        Prediction(Config({}, "config.json"), "toy", "", tuple(each for row in rows for each in expand_row(row, whole)))
    )
    assert [tuple(line) for line in lines] == [
        ("q_proj", "attention", "text", "", 5, 24 + 6 + 12 + 3 + 12, "2·wide × deep; wide × deep + 2·wide; wide",
         "2·3 × 4; 3 × 4 + 2·3; 3"),
        ("norm", "norm", "text", "", 2, 6, "wide + wide", "3 + 3"),
        ("scale", "other", "text", "", 1, 1, "1", "1"),
        ("q_proj", "attention", "text", "cross", 1, 3, "wide", "3"),
        ("q_proj", "attention", "vision", "", 1, 3, "wide", "3"),
    ]  # fmt: skip
