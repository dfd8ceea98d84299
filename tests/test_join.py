"""The bridge's steps one by one, each with a handful of tensors and rows, and numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import pytest

from inspector.architectures.naming import Namer, Names
from inspector.architectures.prediction import predict
from inspector.bridge import label_steps, labels, missing, shapes, single, widths
from inspector.bridge.account import Account, account
from inspector.bridge.identify import Stored
from inspector.bridge.join import Joined, join
from inspector.bridge.ledger import Ledger
from inspector.bridge.name import under_the_models_names
from inspector.bridge.tally import kinds_of
from inspector.bridge.words import short
from inspector.model import Config, Expected, Finding, Packing, Prediction, Step, Tensor

#: Bytes an element, as the formats have it.
BYTES = {"F32": 4, "BF16": 2, "F16": 2, "I8": 1, "U8": 1, "I32": 4, "I64": 8}


def tensors(*lines: str) -> list[Tensor]:
    """`BF16 4×2 name`, one after the other."""
    made: list[Tensor] = []
    end = 0
    for line in lines:
        dtype, size, name = line.split()
        shape = () if size == "-" else tuple(map(int, size.split("×")))
        made.append(Tensor(name, dtype, shape, end, prod(shape) * BYTES[dtype]))
        end += made[-1].nbytes
    return made


def row(role: str, name: str, *shape: int, **columns: Any) -> Expected:
    """A row of a prediction; its formula is its numbers."""
    numbers = tuple(map(str, shape))
    group = columns.pop("group", "attention")
    return Expected(role, group, "text", columns.pop("part", "weight"), name, shape, numbers, numbers, **columns)


Q = row("q_proj", "model.layers.{layer}.self_attn.q_proj.weight", 4, 4, layers=(0, 1))
K = row("k_proj", "model.layers.{layer}.self_attn.k_proj.weight", 2, 4, layers=(0, 1))
V = row("v_proj", "model.layers.{layer}.self_attn.v_proj.weight", 2, 4, layers=(0, 1))
NORM = row("norm", "model.norm.weight", 4, group="norm")
EMBED = row("embed_tokens", "model.embed_tokens.weight", 10, 4, group="embedding")
HEAD = row("lm_head", "lm_head.weight", 10, 4, group="head")
GATE = row("gate_proj", "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight", 3, 4, layers=(0,), experts=2)
UP = GATE._replace(role="up_proj", name=GATE.name.replace("gate", "up"))
MASK = row("causal_mask", "model.layers.{layer}.self_attn.mask", 3, layers=(0, 1), group="buffer", buffer=True)


class Book:
    """What the steps made of some tensors beside some rows, at 16 bits."""

    def __init__(
        self,
        stored: Sequence[Tensor],
        rows: Sequence[Expected],
        *,
        packing: Packing | None = None,
        tied: Sequence[Expected] = (),
        optional: Sequence[Expected] = (),
        config: dict[str, Any] | None = None,
        kind: Any = "config.json",
        base: Prediction | None = None,
        shared: dict[str, tuple[str, ...]] | None = None,
        predicted: bool = True,
        bits: int = 16,
    ) -> None:
        names = Names((packing.names if packing else {}).get(each.name, each.name) for each in stored)
        sizes = [(packing.shapes if packing else {}).get(each.name, each.shape) for each in stored]
        self.stored = Stored(stored, names, sizes, None, packing, shared or {})
        named = Namer().name(names, self.stored.side)
        kinds = kinds_of(stored, named.groups)
        self.prediction = (
            Prediction(Config(config or {}, kind), "test", "", tuple(rows), tuple(tied), (), tuple(optional), base)
            if predicted
            else None
        )
        packed = bool(packing and packing.shapes)
        self.joined: Joined = join(named, self.stored.shapes, kinds, rows, packed=packed)
        self.ledger = Ledger()
        self.account: Account = account(self.ledger, self.stored, named, kinds, self.joined, self.prediction, bits)

    @property
    def steps(self) -> dict[str, tuple[int, int, str]]:
        return {step.cause: (step.bytes, step.tensors, step.detail) for step in self.ledger.steps()}

    @property
    def findings(self) -> list[tuple[str, str, str | None]]:
        return [(found.rule, found.severity, found.tensor) for found in self.account.findings]


SOUND = tensors(
    "BF16 4×4 model.layers.0.self_attn.q_proj.weight",
    "BF16 4×4 model.layers.1.self_attn.q_proj.weight",
    "BF16 4 model.norm.weight",
)


def test_what_is_as_predicted_costs_nothing() -> None:
    """Three tensors, two rows: both are filled as a whole, and 36 parameters are counted."""
    book = Book(SOUND, [Q, NORM])
    assert len(book.joined.whole) == 2
    assert not any(book.joined[1:])
    assert book.account == Account([16, 16, 4], (), (), {"duplicate": []})
    assert book.steps == {}


def test_every_position_is_joined_once() -> None:
    """Whole groups, single tensors, copies, surplus and units partition the positions."""
    stored = tensors(
        "BF16 4×4 model.layers.0.self_attn.q_proj.weight",
        "BF16 4×4 model.layers.0.self_attn.q_proj.weight",
        "BF16 4×4 model.layers.1.self_attn.q_proj.weight",
        "BF16 4 model.norm.weight",
        "BF16 8 model.unheard.weight",
        "BF16 4×4 model.layers.0.self_attn.kv_proj.weight",
    )
    joined = Book(stored, [Q, NORM, K._replace(layers=(0,)), V._replace(layers=(0,))]).joined
    groups = Namer().name([each.name for each in stored]).groups
    single = [at for _, members in joined.matched for at in members]
    whole = [at for number in joined.whole for at in groups[number][1]]
    units = [at for unit in joined.units for at in unit.stored]
    assert (whole, single, [*joined.copies], [*joined.surplus], units) == ([3], [0, 2], [1], [4], [5])


# --- a cause each -------------------------------------------------------------------------------


def test_another_width_is_mixed_dtype() -> None:
    """4 elements of F32 at 16 bits: 8 bytes more."""
    book = Book([*SOUND[:2], *tensors("F32 4 model.norm.weight")], [Q, NORM])
    assert book.steps == {"mixed_dtype": (8, 1, "1 × norm in F32")}
    assert book.account.parameters == [16, 16, 4]


def test_a_narrower_type_is_a_negative_step() -> None:
    """16 elements of I8 at 16 bits: 16 bytes less, for the tensor that has it alone."""
    stored = tensors("I8 4×4 model.layers.0.self_attn.q_proj.weight", "BF16 4×4 model.layers.1.self_attn.q_proj.weight")
    assert Book(stored, [Q]).steps == {"mixed_dtype": (-16, 1, "1 × q_proj in I8")}


def test_bytes_that_shape_and_dtype_do_not_give_are_size_mismatch() -> None:
    """A header that claims 40 bytes for 4 BF16: 32 too many."""
    wrong = SOUND[2]._replace(nbytes=40)
    assert Book([*SOUND[:2], wrong], [Q, NORM]).steps == {"size_mismatch": (32, 1, "1 × norm")}


@pytest.mark.parametrize(("stored", "step"), [("3×4", -8), ("7×4", 24)])
def test_a_tensor_of_another_size_is_shape(stored: str, step: int) -> None:
    """The difference in elements at the predicted width; a finding says both shapes and the formula."""
    made = [*tensors(f"BF16 {stored} model.layers.0.self_attn.q_proj.weight"), SOUND[1], SOUND[2]]
    book = Book(made, [Q, NORM])
    assert book.steps == {"shape": (step, 1, "1 × self_attn.q_proj")}
    assert book.findings == [("shape", "error", "model.layers.0.self_attn.q_proj.weight")]
    assert book.account.findings[0].message == f"{stored} stored, 4×4 = 4 × 4 predicted"


def test_shape_and_dtype_give_two_steps_that_add() -> None:
    """3×4 in F32 for 4×4 at 16 bits: 4 elements less at 2 bytes, then 12 elements wider by 2."""
    made = [*tensors("F32 3×4 model.layers.0.self_attn.q_proj.weight"), SOUND[1], SOUND[2]]
    book = Book(made, [Q, NORM])
    assert book.steps["shape"][0] == -8
    assert book.steps["mixed_dtype"][0] == 24
    assert book.ledger.total == 12 * 4 - 16 * 2


@pytest.mark.parametrize("shape", ["4×4×1", "1×4×4", "4×1×4"])
def test_dimensions_of_one_are_another_layout(shape: str) -> None:
    """A convolution's kernel of one is a matrix."""
    book = Book([*tensors(f"BF16 {shape} model.layers.0.self_attn.q_proj.weight"), *SOUND[1:]], [Q, NORM])
    assert (book.steps, book.findings) == ({}, [])


def test_a_transposed_matrix_is_another_layout() -> None:
    stored = tensors(
        "BF16 4×2 model.layers.0.self_attn.k_proj.weight", "BF16 4×2 model.layers.1.self_attn.k_proj.weight"
    )
    assert (Book(stored, [K]).steps, Book(stored, [K]).findings) == ({}, [])


@pytest.mark.parametrize(
    ("stored", "predicted", "same"),
    [((2, 8), (4, 4), False), ((16,), (4, 4), False), ((4, 2), (2, 4), True), ((1, 4), (4,), True), ((), (1,), True)],
)
def test_equal_elements_alone_are_no_likeness(stored: tuple[int, ...], predicted: tuple[int, ...], same: bool) -> None:
    """2×8 is not 4×4, though both have 16 elements."""
    assert shapes.alike(stored, predicted) is same


@pytest.mark.parametrize(("shape", "told"), [((), "scalar"), ((3,), "3"), ((4096, 32000), "4096×32000")])
def test_shapes_in_words(shape: tuple[int, ...], told: str) -> None:
    assert shapes.times(shape) == told


@pytest.mark.parametrize("role", [EMBED, HEAD], ids=lambda each: each.role)
def test_rows_beyond_the_vocabulary_are_vocab_padding(role: Expected) -> None:
    """12 rows of 4 for 10: 16 bytes, and a warning."""
    book = Book(tensors(f"BF16 12×4 {role.name}"), [role])
    assert book.steps == {"vocab_padding": (16, 1, f"1 × {short(role.name)}")}
    assert book.findings == [("vocab-padding", "warning", role.name)]


@pytest.mark.parametrize(
    ("role", "stored", "predicted", "cause"),
    [
        ("embed_tokens", (12, 4), (10, 4), "vocab_padding"),
        ("embed_tokens", (10, 6), (10, 4), "shape"),
        ("embed_tokens", (12, 6), (10, 4), "shape"),
        ("embed_tokens", (12,), (10, 4), "shape"),
        ("q_proj", (12, 4), (10, 4), "shape"),
        ("lm_head", (12, 4), (10, 4), "vocab_padding"),
    ],
)
def test_only_the_first_dimension_counts_words(
    role: str, stored: tuple[int, ...], predicted: tuple[int, ...], cause: str
) -> None:
    assert shapes.cause_of(role, stored, predicted) == cause


def test_missing_tensors_are_an_error_for_each_row() -> None:
    """Layer 1 of 4×4 at 16 bits: 32 bytes; the norm 8; the first is named as the model would write it."""
    book = Book(SOUND[:1], [Q, NORM])
    assert book.steps == {"missing": (-40, 2, "1 × self_attn.q_proj not stored, 1 × model.norm not stored")}
    assert book.findings == [
        ("missing", "error", "model.layers.1.self_attn.q_proj.weight"),
        ("missing", "error", "model.norm.weight"),
    ]
    assert book.account.findings[0].message == "1 tensor of q_proj predicted and not stored"


def test_a_missing_expert_is_named() -> None:
    book = Book(tensors("BF16 3×4 model.layers.0.mlp.experts.0.gate_proj.weight"), [GATE])
    assert book.steps["missing"][0] == -24
    assert book.findings == [("missing", "error", "model.layers.0.mlp.experts.1.gate_proj.weight")]


def test_a_missing_head_may_be_tied() -> None:
    """A warning, and a step that says so."""
    book = Book(tensors("BF16 10×4 model.embed_tokens.weight"), [EMBED, HEAD])
    what = "the configuration has a separate head, but none is stored: it is tied after all, or left out"
    assert book.account.findings[0].message == what
    assert book.steps == {"tied_embeddings": (-80, 1, "1 × lm_head not stored")}
    assert book.findings == [("head-not-stored", "warning", "lm_head.weight")]


def test_a_head_cannot_be_tied_to_embeddings_that_are_missing_too() -> None:
    """Two tables of 10 × 4 in two bytes each."""
    book = Book(tensors("BF16 4 model.norm.weight"), [EMBED, HEAD])
    assert "tied_embeddings" not in book.steps
    assert book.steps["missing"][:2] == (-160, 2)
    assert ("missing", "error", "lm_head.weight") in book.findings


def test_a_tied_head_that_is_not_stored_costs_nothing_and_is_told() -> None:
    book = Book(tensors("BF16 10×4 model.embed_tokens.weight"), [EMBED], tied=[HEAD])
    assert book.steps == {"tied_embeddings": (0, 0, "lm_head is the token embedding: not stored twice")}
    assert book.findings == []


def test_a_tied_head_that_is_stored_is_a_second_copy() -> None:
    """Its 80 bytes are on the disk, its 40 elements are no parameters."""
    stored = tensors("BF16 10×4 model.embed_tokens.weight", "BF16 10×4 lm_head.weight")
    book = Book(stored, [EMBED], tied=[HEAD])
    assert book.steps == {"tied_embeddings": (80, 1, "1 × lm_head")}
    assert book.account.parameters == [40, 0]


def test_the_same_name_in_two_files_is_a_duplicate() -> None:
    """Of what is predicted and of what is not: the second counts for nothing."""
    stored = [*SOUND, SOUND[2], *tensors("BF16 6 model.unheard.weight", "BF16 6 model.unheard.weight")]
    book = Book(stored, [Q, NORM])
    assert book.steps == {"duplicate": (8 + 12, 2, "1 × model.unheard, 1 × model.norm")}
    assert book.account.parameters == [16, 16, 4, 0, 6, 0]
    assert book.account.unexplained == ("model.unheard.weight",)


def test_a_row_that_is_filled_twice_has_a_duplicate_of_each() -> None:
    stored = [*SOUND[:2], *SOUND[:2]]
    book = Book(stored, [Q])
    assert book.steps == {"duplicate": (64, 2, "2 × self_attn.q_proj")}
    assert book.account.parameters == [16, 16, 0, 0]


def test_a_row_that_is_begun_under_another_name_is_not_filled_again() -> None:
    """Layer 0 without the model's prefix, then both layers with it: 16 elements of BF16 are there twice."""
    stored = tensors("BF16 4×4 layers.0.self_attn.q_proj.weight")
    book = Book([*stored, *SOUND], [Q, NORM])
    assert book.steps == {"duplicate": (32, 1, "1 × self_attn.q_proj")}
    assert book.account.parameters == [16, 0, 16, 4]


def test_a_vector_in_the_place_of_an_optional_matrix_is_unexplained() -> None:
    """As many elements as the matrix has rows make a bias in a GGUF, and nothing else."""
    matrix = row("gate_proj", "model.layers.{layer}.mlp.gate_proj.weight", 3, 4, layers=(0,), group="feed_forward")
    for size, cause in (("3×4", "optional"), ("3", None)):
        stored = tensors(f"BF16 {size} model.layers.0.mlp.gate_proj.weight")
        book = Book([*SOUND, *stored], [Q, NORM], optional=[matrix])
        assert [*book.steps] == ([cause] if cause else [])
        assert len(book.account.unexplained) == (0 if cause else 1)


def test_what_no_cause_claims_is_unexplained() -> None:
    """Its bytes are in no step, its parameters count, and one warning names the first."""
    book = Book([*SOUND, *tensors("BF16 5 model.unheard.weight", "BF16 7 model.other.weight")], [Q, NORM])
    assert book.steps == {}
    assert book.account.unexplained == ("model.unheard.weight", "model.other.weight")
    assert book.account.parameters == [16, 16, 4, 5, 7]
    assert book.findings == [("unexplained", "warning", "model.unheard.weight")]
    assert book.account.findings[0].message == "2 tensors that the configuration does not predict"


def test_without_a_prediction_nothing_is_said_of_unexplained_tensors() -> None:
    book = Book(SOUND, [], predicted=False)
    assert len(book.account.unexplained) == 3
    assert (book.steps, book.findings) == ({}, [])


def test_a_stored_constant_is_a_buffer() -> None:
    """Two rotary frequencies of 2 F32: 16 bytes, no parameters."""
    stored = tensors(
        "F32 2 model.layers.0.self_attn.rotary_emb.inv_freq", "F32 2 model.layers.1.self_attn.rotary_emb.inv_freq"
    )
    book = Book([*SOUND, *stored], [Q, NORM])
    assert book.steps == {"buffer": (16, 2, "2 × rotary_emb.inv_freq")}
    assert book.account.parameters == [16, 16, 4, 0, 0]


def test_statistics_of_a_batch_normalization_are_buffers() -> None:
    """Three of the five tensors of PyTorch's module: 4 + 4 elements of F32 and one I64."""
    lines = ("F32 4 bn1.weight", "F32 4 bn1.bias", "F32 4 bn1.running_mean", "F32 4 bn1.running_var")
    book = Book(tensors(*lines, "I64 - bn1.num_batches_tracked"), [], predicted=False)
    assert book.account.parameters == [4, 4, 0, 0, 0]
    assert book.steps["buffer"][:2] == (2 * 16 + 8, 3)


def test_a_predicted_buffer_is_asked_for_and_not_counted() -> None:
    """Stored, it is a buffer; not stored, it is a note, and no bytes are missing: a prediction does not count it."""
    mask = row(
        "inv_freq", "model.layers.{layer}.self_attn.rotary_emb.inv_freq", 3, layers=(0, 1), group="buffer", buffer=True
    )
    stored = tensors("F32 3 model.layers.0.self_attn.rotary_emb.inv_freq")
    book = Book([*SOUND, *stored], [Q, NORM, mask])
    assert book.steps == {"buffer": (12, 1, "1 × rotary_emb.inv_freq")}
    assert book.findings == [("missing", "info", "model.layers.1.self_attn.rotary_emb.inv_freq")]
    assert sum(each.parameters for each in (Q, NORM, mask)) == 36


def test_what_was_measured_in_training_cannot_be_made_anew() -> None:
    """A batch norm's mean that is missing is a warning, where another buffer that is missing is a note."""
    mean = row("running_mean", "model.bn.running_mean", 3, group="buffer", buffer=True)
    other = row("inv_freq", "model.rotary_emb.inv_freq", 3, group="buffer", buffer=True)
    book = Book(SOUND, [Q, NORM, mean, other])
    assert book.findings == [
        ("missing", "warning", "model.bn.running_mean"),
        ("missing", "info", "model.rotary_emb.inv_freq"),
    ]


def test_layers_beyond_the_configurations_predict_further_tokens() -> None:
    """Layer 2 of 2, where the configuration says that one more predicts: no parameters of the model, and no surprise."""
    stored = tensors(
        "BF16 4×4 model.layers.2.self_attn.q_proj.weight",
        "BF16 10×4 model.layers.2.embed_tokens.weight",
        "BF16 10×4 model.layers.2.shared_head.head.weight",
    )
    book = Book([*SOUND, *stored], [Q, NORM], config={"num_nextn_predict_layers": 1})
    assert book.steps["prediction_head"] == (32, 1, "1 × self_attn.q_proj")
    assert book.steps["duplicate"] == (160, 2, "1 × layers.embed_tokens, 1 × shared_head.head")
    assert book.account.parameters == [16, 16, 4, 0, 0, 0]
    assert book.findings == []
    assert book.prediction
    counts = single._counts(36, (), book.stored, book.account, book.prediction)
    # The whole layer's 4 × 4; embeddings and head are the model's own. The model has no embedding to leave out.
    assert [(each.name, each.parameters) for each in counts] == [("with_prediction_heads", 36 + 16)]
    above = book.prediction._replace(base=book.prediction)
    assert single._counts(36, (), book.stored, book.account, above) == ()  # an adapter
    assert single._counts(36, (), book.stored, book.account, None) == ()


@pytest.mark.parametrize("further", [0, None, True, "1"])
def test_layers_beyond_are_unexplained_where_nothing_says_so(further: Any) -> None:
    """`True` is a number in Python: layer 2 is one more; nothing else announces it."""
    stored = tensors("BF16 4×4 model.layers.2.self_attn.q_proj.weight")
    book = Book([*SOUND, *stored], [Q, NORM], config={"num_nextn_predict_layers": further})
    assert ("prediction_head" in book.steps) is (further is True)


@pytest.mark.parametrize(
    "name", ["mtp.layers.0.q_proj.weight", "model.mtp_layers.0.q_proj.weight", "nextn.0.eh_proj.weight"]
)
def test_layers_that_say_so_predict_further_tokens(name: str) -> None:
    assert Book([*SOUND, *tensors(f"BF16 4×4 {name}")], [Q, NORM]).steps["prediction_head"][:2] == (32, 1)


def test_two_layers_beyond_are_one_too_many() -> None:
    stored = tensors("BF16 4×4 model.layers.3.self_attn.q_proj.weight")
    book = Book([*SOUND, *stored], [Q, NORM], config={"num_nextn_predict_layers": 1})
    assert book.account.unexplained == ("model.layers.3.self_attn.q_proj.weight",)


SINKS = row("sinks", "model.layers.{layer}.self_attn.sinks", 4, layers=(0,))


@pytest.mark.parametrize(
    ("stored", "optional"),
    [
        ("BF16 4 model.layers.0.self_attn.sinks", True),
        ("BF16 5 model.layers.0.self_attn.sinks", False),  # of another size
        ("BF16 4 model.layers.1.self_attn.sinks", False),  # in another layer
    ],
)
def test_what_an_architecture_may_have_is_optional(stored: str, optional: bool) -> None:
    """A tensor of the size and in the layer that the table says; it has parameters."""
    book = Book([*SOUND, *tensors(stored)], [Q, NORM], optional=[SINKS])
    assert (book.steps.get("optional") == (8, 1, "1 × self_attn.sinks")) is optional
    assert bool(book.account.unexplained) is not optional


def test_what_an_architecture_may_have_in_another_branch_is_not_optional() -> None:
    """A decoder's cross-attention may have sinks; those of its self-attention are nobody's."""
    book = Book([*SOUND, *tensors("BF16 4 model.layers.0.self_attn.sinks")], [Q, NORM], optional=[
        SINKS._replace(branch="cross")
    ])  # fmt: skip
    assert "optional" not in book.steps


@pytest.mark.parametrize(
    ("kind", "size", "optional"), [("gguf", 4, True), ("gguf", 3, False), ("config.json", 4, False)]
)
def test_a_bias_in_gguf_is_optional(kind: str, size: int, optional: bool) -> None:
    """No key-value announces a bias: one element for each row of the weight. Elsewhere the configuration does."""
    stored = tensors(f"F32 {size} model.layers.0.self_attn.q_proj.bias")
    book = Book([*SOUND, *stored], [Q, NORM], kind=kind)
    assert ("optional" in book.steps) is optional


def test_a_stacked_bias_in_gguf_has_a_row_for_each_expert() -> None:
    experts = row("up_proj", "blk.{layer}.ffn_up_exps.weight", 2, 3, 4, layers=(0,), stacked=2, group="feed_forward")
    stored = tensors("BF16 2×3×4 blk.0.ffn_up_exps.weight", "F32 2×3 blk.0.ffn_up_exps.bias")
    assert Book(stored, [experts], kind="gguf").steps["optional"] == (24, 1, "1 × ffn_up_exps.bias")


@pytest.mark.parametrize(
    "name",
    ["base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "model.layers.0.self_attn.q_proj.lora_B.weight"],
)
def test_adapter_weights_beside_a_model(name: str) -> None:
    book = Book([*SOUND, *tensors(f"F32 2×4 {name}")], [Q, NORM])
    assert book.steps["adapter"][:2] == (32, 1)
    assert book.account.parameters[-1] == 8


def test_a_bases_weight_beside_its_adapter_is_a_second_copy() -> None:
    base = Prediction(Config({}, "config.json"), "base", "", (EMBED,))
    book = Book([*SOUND, *tensors("BF16 10×4 model.embed_tokens.weight")], [Q, NORM], base=base)
    assert book.steps["duplicate"] == (80, 1, "1 × model.embed_tokens")
    assert book.account.parameters[-1] == 0


# --- other layouts --------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "step"), [(8, 0), (9, 2 * 4), (7, -2 * 4)])
def test_a_fused_projection_is_compared_by_its_elements(rows: int, step: int) -> None:
    """q, k and v of one layer, 4 + 2 + 2 rows of 4, in one tensor; a row more is 8 bytes more, one less 8 less."""
    stored = tensors(f"BF16 {rows}×4 model.layers.0.self_attn.qkv_proj.weight")
    book = Book(stored, [each._replace(layers=(0,)) for each in (Q, K, V)])
    assert [len(unit.wanted) for unit in book.joined.units] == [3]
    assert book.steps == ({"shape": (step, 1, "1 × self_attn.qkv_proj")} if step else {})
    assert book.account.parameters == [rows * 4]
    assert book.findings == ([("shape", "error", stored[0].name)] if step else [])
    if step:
        message = f"{rows * 4} elements stored, 32 predicted for q_proj"
        assert book.account.findings[0].message == message


def test_projections_apart_are_what_a_row_has_fused() -> None:
    fused = row("gate_up_proj", "model.layers.{layer}.mlp.gate_up_proj.weight", 6, 4, layers=(0,), group="feed_forward")
    stored = tensors("BF16 3×4 model.layers.0.mlp.gate_proj.weight", "F32 3×4 model.layers.0.mlp.up_proj.weight")
    book = Book(stored, [fused])
    assert book.steps == {"mixed_dtype": (24, 1, "1 × up_proj in F32")}
    assert (book.account.parameters, book.findings) == ([12, 12], [])


def test_projections_apart_that_come_to_another_size() -> None:
    """Two tensors of 4×4 where a row has 6×4 in one: 8 elements more, of two tensors."""
    fused = row("gate_up_proj", "model.layers.{layer}.mlp.gate_up_proj.weight", 6, 4, layers=(0,), group="feed_forward")
    stored = tensors("BF16 4×4 model.layers.0.mlp.gate_proj.weight", "BF16 4×4 model.layers.0.mlp.up_proj.weight")
    assert Book(stored, [fused]).steps == {"shape": (16, 2, "2 × mlp.gate_proj")}


def test_stacked_experts_are_what_rows_have_apart() -> None:
    """Two experts of 3×4 in one tensor of 2×3×4."""
    stored = tensors("BF16 2×3×4 model.layers.0.mlp.experts.gate_proj")
    book = Book(stored, [GATE])
    assert (book.steps, book.account.parameters, book.findings) == ({}, [24], [])


def test_stacked_and_fused_experts_are_what_rows_have_apart() -> None:
    """Gate and up of two experts in one tensor of 2×6×4; half of it in F32 costs 2 bytes an element more."""
    book = Book(tensors("F32 2×6×4 model.layers.0.mlp.experts.gate_up_proj"), [GATE, UP])
    assert book.steps == {"mixed_dtype": (96, 1, "1 × gate_up_proj in F32")}
    assert book.account.parameters == [48]


def test_a_stack_of_another_size_has_its_row() -> None:
    """2×3×4 predicted as a stack and 2×5×4 stored as one: the same tensor, of another size."""
    stack = GATE._replace(experts=None, stacked=2, shape=(2, 3, 4), formula=("e", "f", "h"))
    stored = tensors("BF16 2×5×4 model.layers.0.mlp.experts.gate_proj", *["BF16 4 model.norm.weight"])
    book = Book(stored, [stack, NORM])
    assert book.joined.units == []
    assert book.account.findings[0].message == "2×5×4 stored, 2×3×4 = e × f × h predicted"
    assert book.steps == {"shape": (32, 1, "1 × experts.gate_proj")}


def test_a_row_outside_the_layers_takes_none_from_within() -> None:
    """The norm of a layer is not the model's last."""
    book = Book(tensors("BF16 4 model.layers.0.norm.weight"), [NORM])
    assert book.account.unexplained == ("model.layers.0.norm.weight",)
    assert book.findings[-1] == ("missing", "error", "model.norm.weight")


def test_one_expert_too_few_in_a_stack_is_shape() -> None:
    book = Book(tensors("BF16 1×3×4 model.layers.0.mlp.experts.gate_proj"), [GATE])
    assert book.steps == {"shape": (-24, 1, "1 × experts.gate_proj")}


def test_layouts_of_different_layers_do_not_meet() -> None:
    """A fused projection of layer 1 does not stand for the parts of layer 0."""
    stored = tensors("BF16 8×4 model.layers.1.self_attn.qkv_proj.weight")
    book = Book(stored, [each._replace(layers=(0,)) for each in (Q, K, V)])
    assert book.joined.units == []
    assert book.account.unexplained == (stored[0].name,)
    assert book.steps["missing"][:2] == (-64, 3)


def test_a_shared_expert_is_no_expert() -> None:
    """A dense projection of the same role does not fill the experts' row, nor the reverse."""
    stored = tensors("BF16 6×4 model.layers.0.mlp.gate_proj.weight")
    assert Book(stored, [GATE]).joined.units == []


def test_experts_are_numbered_from_the_rows_first() -> None:
    """A second row of narrower experts begins where the first ends."""
    later = GATE._replace(shape=(1, 4), first_expert=2)
    name = "model.layers.0.mlp.experts.{}.gate_proj.weight"
    stored = tensors(*(f"BF16 {3 if at < 2 else 1}×4 {name.format(at)}" for at in range(4)))
    book = Book(stored, [GATE, later])
    assert (book.steps, book.findings) == ({}, [])
    assert Book(stored, [GATE]).account.unexplained == tuple(each.name for each in stored[2:])


# --- packed weights -------------------------------------------------------------------------------

PACKED = Packing(
    "gptq",
    4,
    names={"model.layers.0.self_attn.q_proj.qweight": "model.layers.0.self_attn.q_proj.weight"},
    shapes={"model.layers.0.self_attn.q_proj.qweight": (4, 4)},
    side={"model.layers.0.self_attn.q_proj.scales": "model.layers.0.self_attn.q_proj.weight"},
    kinds={"model.layers.0.self_attn.q_proj.scales": "scales"},
)
ONE = Q._replace(layers=(0,))


def test_packed_weights_and_their_side_data() -> None:
    """16 weights of 4 bits in 8 bytes, 4 scales of 2 bytes that are no parameters, and a norm at its full width."""
    stored = tensors(
        "I32 2×1 model.layers.0.self_attn.q_proj.qweight",
        "F16 1×4 model.layers.0.self_attn.q_proj.scales",
        "F16 4 model.norm.weight",
    )
    book = Book(stored, [ONE, NORM], packing=PACKED, bits=4)
    assert book.steps == {
        "quantization_overhead": (8, 1, "1 × scales"),
        "unquantized": (4 * 2 - 2, 1, "1 × norm in F16"),
    }
    assert book.account.parameters == [16, 0, 4]


@pytest.mark.parametrize(
    ("words", "cause", "step", "what"),
    [
        (3, "quantization_overhead", 2 * 4, "2 × q_proj padded"),
        (1, "sparsity", 2 * -4, "2 × q_proj without its zeros"),
        (2, None, 0, ""),
    ],
)
def test_packed_words_that_are_filled_up_or_leave_out_zeros(
    words: int, cause: str | None, step: int, what: str
) -> None:
    """16 weights of 4 bits need two words of 4 bytes, in each of two layers."""
    names = [f"model.layers.{at}.self_attn.q_proj" for at in (0, 1)]
    packing = Packing(
        "gptq", 4, names={f"{n}.qweight": f"{n}.weight" for n in names}, shapes={f"{n}.qweight": (4, 4) for n in names}
    )
    stored = tensors(*(f"I32 {words}×1 {name}.qweight" for name in names))
    steps = Book(stored, [Q], packing=packing, bits=4).steps
    assert steps == ({cause: (step, 2, what)} if cause else {})


def test_an_empty_packed_weight_of_uneven_width() -> None:
    """No elements, no bits: told at the nearest whole number."""
    ledger = Ledger()
    widths.book(ledger, "q_proj", {widths.Width("U8", 0, 3, 4): 2}, 4, PACKED._replace(uneven=True))
    assert ledger.steps() == (Step("mixed_dtype", 6, 2, "2 × q_proj packed at 4 bits"),)


def test_packed_weights_of_another_width() -> None:
    """16 weights of 8 bits where most have 4: 8 bytes more."""
    odd = PACKED._replace(odd_bits={"model.layers.0.self_attn.q_proj.qweight": 8})
    stored = tensors("I32 4×1 model.layers.0.self_attn.q_proj.qweight")
    steps = Book(stored, [ONE], packing=odd, bits=4).steps
    assert steps == {"mixed_dtype": (8, 1, "1 × q_proj packed at 8 bits")}


def test_uneven_widths_are_told_as_they_come_out() -> None:
    """10 bytes for 16 weights are 5 bits, whatever the nearest whole number says."""
    uneven = PACKED._replace(uneven=True)
    stored = [Tensor("model.layers.0.self_attn.q_proj.qweight", "U8", (10,), 0, 10)]
    steps = Book(stored, [ONE], packing=uneven, bits=4).steps
    assert steps == {"mixed_dtype": (2, 1, "1 × q_proj packed at 5 bits")}


def test_a_packed_weight_of_which_only_the_elements_are_known() -> None:
    """(16,) fits 4×4; (12,) does not."""
    name = "model.layers.0.self_attn.q_proj.qweight"
    stored = tensors(f"I32 2×1 {name}")
    assert Book(stored, [ONE], packing=PACKED._replace(shapes={name: (16,)}), bits=4).steps == {}
    assert Book(stored, [ONE], packing=PACKED._replace(shapes={name: (12,)}), bits=4).steps["shape"][0] == -2


def test_biases_that_packing_added_are_overhead() -> None:
    """AutoGPTQ's zeros: a bias of a packed weight that the configuration does not have, and no other."""
    stored = tensors(
        "I32 2×1 model.layers.0.self_attn.q_proj.qweight",
        "F16 4 model.layers.0.self_attn.q_proj.bias",
        "F16 4 model.layers.0.self_attn.o_proj.bias",
    )
    book = Book(stored, [ONE], packing=PACKED, bits=4)
    assert book.steps == {"quantization_overhead": (8, 1, "1 × biases that packing added")}
    assert book.account.parameters == [16, 0, 4]
    assert book.account.unexplained == ("model.layers.0.self_attn.o_proj.bias",)


def test_types_that_pack_by_themselves_have_overhead() -> None:
    """Q4_0 of GGUF: 32 weights in 18 bytes are 4.5 bits for 4; F32 beside it is mixed, not unquantized."""
    packing = Packing("Q4_0", 4, widths={"Q4_0": 4, "F32": 32})
    up = row("up_proj", "blk.{layer}.ffn_up.weight", 2, 32, layers=(0,), group="feed_forward")
    norm = row("norm", "output_norm.weight", 32, group="norm")
    stored = [
        Tensor("blk.0.ffn_up.weight", "Q4_0", (2, 32), 0, 36),
        Tensor("output_norm.weight", "F32", (32,), 36, 128),
    ]
    book = Book(stored, [up, norm], packing=packing, bits=4)
    assert book.steps == {
        "quantization_overhead": (4, 1, "1 × Q4_0 at 4.5 bits for 4"),
        "mixed_dtype": (128 - 16, 1, "1 × norm in F32"),
    }


def test_a_type_of_unknown_width_counts_as_stored() -> None:
    """Its bytes are what they are: nothing is called a mismatch."""
    stored = [Tensor("model.norm.weight", "Q9_9", (4,), 0, 3)]
    assert Book(stored, [NORM]).steps == {"mixed_dtype": (-5, 1, "1 × norm in Q9_9")}


def test_widths_of_equal_tensors_are_booked_together() -> None:
    ledger = Ledger()
    widths.book(ledger, "norm", {widths.Width("F32", 4, 16): 3, widths.Width("BF16", 4, 8): 5}, 16, None)
    assert ledger.steps() == (Step("mixed_dtype", 24, 3, "3 × norm in F32"),)


# --- a tensor with several names ------------------------------------------------------------------


def several(kept: str, *others: str) -> Stored:
    return Stored(tensors(f"BF16 10×4 {kept}"), Names([kept]), [(10, 4)], shared={kept: others})


def test_save_model_keeps_a_tied_pair_under_the_heads_name() -> None:
    """`lm_head.weight` comes first in the alphabet; the model stores `model.embed_tokens.weight`."""
    prediction = Prediction(Config({}, "config.json"), "test", "", (EMBED,), (HEAD,))
    stored = under_the_models_names(several("lm_head.weight", "model.embed_tokens.weight"), None, prediction)
    assert stored.names == ("model.embed_tokens.weight",)
    assert stored.shared == {"model.embed_tokens.weight": ("lm_head.weight",)}


def test_of_many_names_the_predicted_one_is_taken() -> None:
    """T5 stores `shared.weight`; in the alphabet the decoder's comes first. Whose table names it, knows it."""
    config = Config({"model_type": "t5", "d_model": 8, "d_ff": 16, "num_layers": 1, "vocab_size": 10}, "config.json")
    prediction = predict(config)
    names = ("decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "lm_head.weight", "shared.weight")
    stored = under_the_models_names(several(*names), config, prediction)
    assert stored.names == ("shared.weight",)
    assert stored.shared == {"shared.weight": ("decoder.embed_tokens.weight", "encoder.embed_tokens.weight", names[2])}


def test_names_that_only_a_table_knows() -> None:
    """gpt2's embedding, under its own name, before a name that says nothing."""
    config = Config({"model_type": "gpt2", "vocab_size": 10, "n_embd": 4, "n_layer": 1, "n_head": 1}, "config.json")
    stored = under_the_models_names(several("a.weight", "transformer.wte.weight"), config, predict(config))
    assert stored.names == ("transformer.wte.weight",)


def test_nothing_is_renamed_where_nothing_is_shared() -> None:
    stored = several("lm_head.weight")._replace(shared={})
    assert under_the_models_names(stored, None, None) is stored


def test_without_a_prediction_a_head_is_the_copy() -> None:
    stored = under_the_models_names(several("lm_head.weight", "model.embed_tokens.weight"), None, None)
    assert stored.names == ("model.embed_tokens.weight",)
    stored = under_the_models_names(several("model.embed_tokens.weight", "lm_head.weight"), None, None)
    assert stored.names == ("model.embed_tokens.weight",)


def test_a_tensor_that_is_shared_though_nothing_ties_it_is_not_missing() -> None:
    """The file says that the head is the embedding: a step says so, and no finding."""
    stored = tensors("BF16 10×4 model.embed_tokens.weight")
    book = Book(stored, [EMBED, HEAD], shared={"model.embed_tokens.weight": ("lm_head.weight",)})
    told = "1 × lm_head not stored again: it is model.embed_tokens"
    assert book.steps == {"tied_embeddings": (-80, 1, told)}
    assert book.findings == []


# --- findings -------------------------------------------------------------------------------------


def test_tensors_that_differ_alike_are_one_finding() -> None:
    """Layers of the same wrong shape are told once; another shape of the same row is another finding."""
    many = Q._replace(layers=tuple(range(8)))
    name = "model.layers.{}.self_attn.q_proj.weight"
    stored = tensors(*(f"BF16 {'3×4' if at < 2 else '2×4' if at < 3 else '4×4'} {name.format(at)}" for at in range(8)))
    book = Book(stored, [many])
    assert [found.message for found in book.account.findings] == [
        "3×4 stored, 4×4 = 4 × 4 predicted, and 1 tensor like it",
        "2×4 stored, 4×4 = 4 × 4 predicted",
    ]
    assert book.steps["shape"][:2] == (-8 - 8 - 16, 3)


def test_a_configuration_of_another_model_is_one_finding() -> None:
    """Most tensors of another size: one sentence, not one a row; the steps still have every byte."""
    stored = tensors(
        "BF16 6×6 model.layers.0.self_attn.q_proj.weight",
        "BF16 6×6 model.layers.1.self_attn.q_proj.weight",
        "BF16 6 model.norm.weight",
        "BF16 3 model.unheard.weight",
    )
    book = Book(stored, [Q, NORM, K])
    (found,) = book.account.findings
    assert (found.rule, found.severity, found.tensor) == ("shape", "error", stored[0].name)
    assert found.message.startswith("3 of 3 tensors differ in size from what the configuration predicts")
    assert book.steps["shape"][0] == 2 * (2 * 20 + 2)
    assert book.steps["missing"][0] == -2 * 2 * 8


def test_half_of_the_tensors_is_not_most() -> None:
    stored = tensors(
        "BF16 6×6 model.layers.0.self_attn.q_proj.weight", "BF16 4×4 model.layers.1.self_attn.q_proj.weight"
    )
    (found,) = Book(stored, [Q]).account.findings
    assert found.message == "6×6 stored, 4×4 = 4 × 4 predicted"


def test_no_tensors_at_all_is_said_once() -> None:
    """A vocabulary: nothing else is said of what is missing, but its bytes are."""
    book = Book([], [Q, NORM])
    assert book.findings == [("no-tensors", "info", None)]
    assert book.steps["missing"][:2] == (-72, 3)


def test_missing_rows_are_found_by_their_name() -> None:
    ledger = Ledger()
    wanted = Book([], [Q]).joined.missing
    found = list(missing.book(ledger, wanted, {}, 16))
    assert found == [Finding("missing", "error", "2 tensors of q_proj predicted and not stored", None, wanted[0].name)]
    assert ledger.steps() == (Step("missing", -64, 2, "2 × self_attn.q_proj not stored"),)


# --- labels ---------------------------------------------------------------------------------------


def label_booked(label: str, rows: Sequence[Expected], bits: int = 16) -> dict[str, tuple[int, str]]:
    prediction = Prediction(Config({}, "config.json"), "test", "", tuple(rows))
    ledger = Ledger()
    label_steps.book(ledger, labels.given(label, bits), prediction, prediction.parameters * bits // 8)
    return {step.cause: (step.bytes, step.detail) for step in ledger.steps()}


def test_a_label_rounds() -> None:
    """ "40" for 36 parameters at 2 bytes."""
    assert label_booked("40", [Q, NORM]) == {"label_rounding": (-8, "the configuration says 36 parameters")}


@pytest.mark.parametrize(
    "experts", [GATE, GATE._replace(experts=None, stacked=2, shape=(2, 3, 4))], ids=["apart", "stacked"]
)
def test_a_label_of_experts_counts_what_they_share_again(experts: Expected) -> None:
    """Two experts of 12, 36 shared: "2x48" is 96, which counts the 36 twice."""
    assert label_booked("2x48", [Q, NORM, experts]) == {
        "label_experts": (-72, "1 × 36 parameters shared by the experts, counted again"),
        "label_rounding": (0, "the configuration says 60 parameters"),
    }


def test_a_plain_label_of_a_mixture_only_rounds() -> None:
    assert label_booked("60", [Q, NORM, GATE]) == {"label_rounding": (0, "the configuration says 60 parameters")}


def test_a_label_of_experts_on_a_dense_model_only_rounds() -> None:
    assert label_booked("2x20", [Q, NORM]) == {"label_rounding": (-8, "the configuration says 36 parameters")}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("model.layers.0.self_attn.q_proj.weight", "self_attn.q_proj"),
        ("model.layers.0.self_attn.q_proj.bias", "q_proj.bias"),
        ("model.layers.{layer}.mlp.experts.{expert}.up_proj.weight", "experts.up_proj"),
        ("lm_head.weight", "lm_head"),
        ("weight", "weight"),
        ("0.weight", "weight"),
        ("rotary_emb.inv_freq", "rotary_emb.inv_freq"),
    ],
)
def test_names_in_short(name: str, told: str) -> None:
    assert short(name) == told


# --- near misses of the causes --------------------------------------------------------------------


def test_other_roles_of_a_layer_do_not_fill_a_fused_row() -> None:
    """An unpredicted `o_proj` is not what is missing of q, k and v; a stacked `up_proj` is not the `gate_proj`."""
    stored = tensors("BF16 4×4 model.layers.0.self_attn.o_proj.weight", "BF16 2×3×4 model.layers.0.mlp.experts.up_proj")
    book = Book(stored, [Q._replace(layers=(0,)), GATE])
    assert book.joined.units == []
    assert set(book.account.unexplained) == {each.name for each in stored}
    assert book.steps["missing"][:2] == (-32 - 48, 3)


@pytest.mark.parametrize("field", ["num_nextn_predict_layers", "num_mtp_layers"])
def test_fields_that_announce_further_layers(field: str) -> None:
    stored = tensors("BF16 4×4 model.layers.2.self_attn.q_proj.weight")
    book = Book([*SOUND, *stored], [Q, NORM], config={field: 1})
    assert book.steps["prediction_head"][:2] == (32, 1)


TYPES = row("embed_token_types", "model.embed_token_types.weight", 2, 4, group="embedding")


@pytest.mark.parametrize(
    ("stored", "optional"),
    [
        ("BF16 2×4 model.token_type_embeddings.weight", True),
        ("BF16 2×4 model.layers.0.token_type_embeddings.weight", False),
        ("BF16 8 model.token_type_embeddings.bias", False),
    ],
)
def test_optional_tensors_outside_the_layers(stored: str, optional: bool) -> None:
    """Neither within a layer, nor another part of the same size."""
    book = Book([*SOUND, *tensors(stored)], [Q, NORM], optional=[TYPES])
    assert ("optional" in book.steps) is optional


def test_two_optional_tensors_are_counted() -> None:
    sinks = SINKS._replace(layers=(0, 1))
    stored = tensors("BF16 4 model.layers.0.self_attn.sinks", "BF16 4 model.layers.1.self_attn.sinks")
    assert Book([*SOUND, *stored], [Q, NORM], optional=[sinks]).steps["optional"] == (16, 2, "2 × self_attn.sinks")


@pytest.mark.parametrize(("part", "cause"), [("weight", "duplicate"), ("bias", "adapter")])
def test_what_peft_wraps_is_the_bases_own(part: str, cause: str) -> None:
    """A weight under `base_layer` is a copy of the base's; a bias is stored where it is trained."""
    name = f"base_model.model.model.layers.0.self_attn.o_proj.base_layer.{part}"
    book = Book([*SOUND, *tensors(f"F32 4 {name}")], [Q, NORM])
    assert book.steps[cause][:2] == (16, 1)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("model.layers.0.self_attn.o_proj.lora_A.weight", "adapter"),
        ("model.embed_tokens.weight", "duplicate"),
        ("model.layers.0.self_attn.o_proj.weight", None),
    ],
)
def test_beside_an_adapter_the_bases_tensors_are_copies(name: str, cause: str | None) -> None:
    base = Prediction(Config({}, "config.json"), "base", "", (EMBED, Q))
    book = Book([*SOUND, *tensors(f"F32 4 {name}")], [Q, NORM], base=base)
    assert ({"adapter", "duplicate"} & book.steps.keys()) == ({cause} if cause else set())


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("optimizer.param_groups", "training_state"),
        ("lr_scheduler.last_epoch", "training_state"),
        ("state.model.norm.weight.exp_avg", "training_state"),
        ("state.step", None),  # two words: a module may be called so
        ("state.model.quux.width", None),
        ("model.quux.exp_avg", None),
    ],
)
def test_what_an_optimizer_keeps_is_no_parameter(name: str, cause: str | None) -> None:
    book = Book([*SOUND, *tensors(f"F32 4 {name}")], [Q, NORM])
    assert ("training_state" in book.steps) is (cause is not None)
    assert book.account.parameters[-1] == (0 if cause else 4)
