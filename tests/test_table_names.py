"""Tables read backwards: invented families of a few rows, and the row of each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from inspector.architectures import load
from inspector.architectures.naming import Namer, unwrapped
from inspector.architectures.naming.by_table import TableNames
from inspector.architectures.naming.by_words import by_gguf, pattern_of
from inspector.architectures.table import Family, Include, Row
from inspector.model import STACKED, Key


def table(*rows: Row | Include, config: dict[str, Any] | None = None, **columns: Any) -> TableNames:
    return TableNames(Family(**{"name": "toy", "types": {}, "rows": rows, **columns}), config or {})


def key(names: TableNames, name: str) -> Key | None:
    """The key that the rows alone give to a name; None if no row has it."""
    pattern = pattern_of(name)
    slot = names.slot(pattern, unwrapped(pattern))
    return slot.key([word for word in name.split(".") if word.isdecimal()]) if slot else None


NORM = Row("norm", "toy.norm", "2")


def test_the_names_of_a_family_in_each_of_its_classes() -> None:
    """The names in the rows, the same with the prefix of another class, and without a prefix."""
    names = table(NORM, Row("lm_head", "head", "2"), prefix="toy.", prefixes={"ForOther": "other."})
    for name in ("toy.norm.weight", "other.norm.weight", "norm.weight", "model.norm.weight"):
        assert key(names, name) == Key("text", None, None, "norm", "weight")
    assert key(names, "another.norm.weight") is None
    assert key(names, "other.head.weight") is None  # it is outside the body
    bare = table(Row("norm", "norm", "2"), prefixes={"ForOther": "other."})
    assert key(bare, "other.norm.weight") == Key("text", None, None, "norm", "weight")


def test_the_first_row_of_a_name_has_it() -> None:
    names = table(Row("q_proj", "same", "2"), Row("k_proj", "same", "2"))
    assert key(names, "same.weight") == Key("text", None, None, "q_proj", "weight")


def test_names_that_are_alike_without_their_wrapper() -> None:
    """A complete name precedes one that is the same without `model.`."""
    names = table(Row("q_proj", "model.same", "2"), Row("k_proj", "same", "2"))
    assert key(names, "model.same.weight") == Key("text", None, None, "q_proj", "weight")
    assert key(names, "same.weight") == Key("text", None, None, "k_proj", "weight")
    turned = table(Row("k_proj", "same", "2"), Row("q_proj", "model.same", "2"))
    assert key(turned, "model.same.weight") == Key("text", None, None, "q_proj", "weight")
    assert key(turned, "same.weight") == Key("text", None, None, "k_proj", "weight")


def test_numbers_of_a_row() -> None:
    """The layer and the expert by their names, other numbers in their order."""
    row = Row("up_proj", "stages.{stage<2}.layers.{layer<3}.7.experts.{expert<4}.up", "2")
    assert key(table(row), "stages.1.layers.2.7.experts.3.up.weight") == Key(
        "text", 2, 3, "up_proj", "weight", "", (1, 7)
    )
    stacked = Row("up_proj", "layers.{layer<3}.up", "4, 2", stacked="4", tower="vision", branch="cross")
    assert key(table(stacked), "layers.2.up.weight") == Key("vision", 2, STACKED, "up_proj", "weight", "cross")


@pytest.mark.parametrize(
    ("row", "name", "part"),
    [
        (Row("q_proj", "q", "2"), "q.bias", "bias"),
        (Row("q_proj", "q", "2", bias="1"), "q.bias", "bias"),
        (Row("q_proj", "in_proj_weight", "2", bias="1", leaf=""), "in_proj_bias", "bias"),
        (Row("q_proj", "in_proj_weight", "2", leaf=""), "in_proj_bias", None),
        (Row("q_proj", "latents", "2", bias="1", leaf=""), "latentsbias", None),
        (Row("norm", "shift", "2", leaf="bias"), "shift.bias", "bias"),
        (Row("norm", "shift", "2", leaf="bias"), "shift.weight", None),
    ],
)
def test_biases_beside_weights(row: Row, name: str, part: str | None) -> None:
    found = key(table(row), name)
    assert (found and found.part) == part


def test_an_older_name_has_the_numbers_that_it_leaves_out() -> None:
    names = table(
        Row("norm", "layers.{layer<2}.1.norm", "2", older="blocks.norm"), Row("norm", "0.norm", "2", older="old")
    )
    assert key(names, "old.weight") == Key("text", None, None, "norm", "weight", "", (0,))
    assert key(names, "0.norm.weight") == Key("text", None, None, "norm", "weight", "", (0,))


def test_buffers_are_not_weights() -> None:
    slot = table(Row("causal_mask", "mask", "2", leaf="", buffer=True)).slot("mask", "mask")
    assert slot is not None
    assert (slot.group, slot.part) == ("buffer", "weight")


# --- several rows of one pattern --------------------------------------------------------------

MIXED = Family(
    "toy",
    {},
    (
        Row("norm", "mix.0", "2"),
        Row("up_proj", "mix.2", "2"),
        Row("q_proj", "even.0", "2"),
        Row("q_proj", "even.1", "2"),
    ),
)


@pytest.mark.parametrize("wrapper", ["", "model.", "module.model."])
def test_numbers_distinguish_rows(wrapper: str) -> None:
    """The first row that fits; a number that fits no row belongs to the pattern's first row."""
    names = [f"{wrapper}mix.{number}.weight" for number in (0, 2, 5, 0)]
    named = Namer(MIXED, {}).name(names)
    assert [slot.role for slot in named.slots] == ["norm", "up_proj", "norm", "norm"]
    assert [each.indexes for each in named.keys()] == [(0,), (2,), (5,), (0,)]


def test_numbers_that_distinguish_nothing() -> None:
    names = TableNames(MIXED, {})
    assert [slot.role for slot in Namer(MIXED, {}).name(["even.0.weight", "even.1.weight"]).slots] == ["q_proj"] * 2
    assert names.variants("even.{}.weight") == ()
    assert [dict(each.numbers) for each in names.variants("mix.{}.weight")] == [{0: 0}, {0: 2}]
    assert names.variants("model.mix.{}.weight") == names.variants("mix.{}.weight")
    assert table(NORM).variants("toy.norm.weight") == ()
    variant = names.variants("mix.{}.weight")[1]
    assert [variant.fits(numbers) for numbers in ([2], [2, 9], [0], [])] == [True, True, False, False]


def test_side_data_goes_with_its_weight() -> None:
    """It has its own part, the weight's role and numbers, and no row of the table: the row's shape is the weight's."""
    names = ["model.layers.1.self_attn.q_proj.weight", "model.layers.1.self_attn.q_proj.scales"]
    config = {"model_type": "llama"}
    named = Namer(load("llama"), config).name(names, side={names[1]: names[0]})
    weight, scales = named.slots
    assert weight.row is not None
    assert (scales.row, scales.part, scales.group, scales.role) == (None, "scales", "quantization", "q_proj")
    assert named.key(1) == Key("text", 1, None, "q_proj", "scales")
    lora = Namer(load("llama"), config).name(names, side={names[1]: names[0]}, pieces={names[1]: ("lora_A", "adapter")})
    assert (lora.slots[1].part, lora.slots[1].group, lora.slots[0]) == ("lora_A", "adapter", weight)


# --- nested families --------------------------------------------------------------------------


def part(*names: str, config: dict[str, Any] | None = None, **columns: Any) -> Sequence[Key | None]:
    """The keys of names under a whole that has GPT-2 as a part."""
    include = Include(**{"scope": "part", "prefix": "inner.", "default_type": "gpt2", **columns})
    found = table(include, config=config)
    return [key(found, name) for name in names]


def test_the_rows_of_a_part() -> None:
    """They have the whole's prefix, tower and branch, without the names that the whole strips or leaves out."""
    assert part("inner.transformer.wte.weight", "inner.transformer.h.3.ln_1.bias") == [
        Key("text", None, None, "embed_tokens", "weight"),
        Key("text", 3, None, "input_layernorm", "bias"),
    ]
    assert part("inner.wte.weight", "inner.h.3.ln_1.weight", strip="transformer.", tower="decoder", branch="cross") == [
        Key("decoder", None, None, "embed_tokens", "weight", "cross"),
        Key("decoder", 3, None, "input_layernorm", "weight", "cross"),
    ]
    assert part("inner.transformer.wte.weight", without="embed_tokens") == [None]
    assert part("inner.wte.weight", "inner.transformer.wte.weight", head="Model") == [
        Key("text", None, None, "embed_tokens", "weight"),
        None,
    ]


def test_the_head_of_a_part_is_there_in_its_class() -> None:
    assert part("inner.lm_head.weight", "inner.lm_head.weight".upper()) == [None, None]
    assert part("inner.lm_head.weight", head="LMHeadModel") == [Key("text", None, None, "lm_head", "weight")]


def test_an_older_vision_tower_has_one_more_word() -> None:
    """It stands between the tower's name and those of its parts, unless the tower's own name ends with it."""
    name = "inner.vision_model.transformer.wte.weight"
    assert part(name) == [None]
    assert part(name, tower="vision") == [Key("vision", None, None, "embed_tokens", "weight")]
    doubled = "a.vision_model.vision_model.transformer.wte.weight"
    assert part(doubled, tower="vision", prefix="a.vision_model.") == [None]


def test_a_part_of_which_nothing_is_known() -> None:
    assert part("inner.transformer.wte.weight", config={"part": {"model_type": "nobody knows"}}) == [None]
    # A part of another type is what AutoModel makes of it: `LlamaModel`, whose names have no `model.`.
    assert part(
        "inner.embed_tokens.weight", "inner.model.embed_tokens.weight", config={"part": {"model_type": "llama"}}
    ) == [
        Key("text", None, None, "embed_tokens", "weight"),
        None,
    ]


def test_a_part_of_a_part_is_asked_for_its_type() -> None:
    """LLaVA within a whole, whose text model is a GPT-2 there, though LLaVA's own is a Llama."""
    outer = {"part": {"model_type": "llava", "text_config": {"model_type": "gpt2"}}}
    found = table(Include("part", "inner."), config=outer)
    slots = {name for name in found._whole if "wte" in name}
    assert slots
    assert not any("embed_tokens" in name for name in found._whole)


# --- towers and statistics --------------------------------------------------------------------


def test_an_encoder_that_a_table_knows_stays_one() -> None:
    """T5's encoder alone: the table says `encoder`; without a table it is the text model."""
    name = "encoder.block.0.layer.0.SelfAttention.q.weight"
    assert Namer(load("t5"), {"model_type": "t5"}).name([name]).slots[0].tower == "encoder"
    assert Namer().name([name]).slots[0].tower == "text"
    both = [name, "decoder.block.0.layer.0.SelfAttention.q.weight"]
    assert [slot.tower for slot in Namer().name(both).slots] == ["encoder", "decoder"]


@pytest.mark.parametrize("end", ["in_sum2", "counts"])
def test_statistics_of_an_importance_matrix(end: str) -> None:
    """`blk.3.attn_q.weight.in_sum2` belongs to q_proj."""
    slot = by_gguf("blk.{}.attn_q.weight." + end)
    assert slot is not None
    assert slot.key(["3"]) == Key("text", 3, None, "q_proj", end)
