"""The causes of the bridge one by one, each with a handful of tensors and rows, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from joining import EMBED, GATE, HEAD, NORM, SOUND, Book, K, Q, V, row, tensors

from inspector.architectures.naming import Namer
from inspector.bridge import reconciliation
from inspector.bridge.book import Account, alike, cause_of_size
from inspector.bridge.ledger import short
from inspector.model import Config, Expected, Prediction
from inspector.units import times


def test_a_predicted_tensor_is_no_step() -> None:
    """Three tensors, two rows: both are completely filled, and 36 parameters are counted."""
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
    """16 elements of I8 at 16 bits: 16 bytes less, for the one tensor that has it."""
    stored = tensors("I8 4×4 model.layers.0.self_attn.q_proj.weight", "BF16 4×4 model.layers.1.self_attn.q_proj.weight")
    assert Book(stored, [Q]).steps == {"mixed_dtype": (-16, 1, "1 × q_proj in I8")}


def test_bytes_that_shape_and_dtype_do_not_give_are_size_mismatch() -> None:
    """A header that claims 40 bytes for 4 BF16: 32 too many."""
    wrong = SOUND[2]._replace(nbytes=40)
    assert Book([*SOUND[:2], wrong], [Q, NORM]).steps == {"size_mismatch": (32, 1, "1 × norm")}


@pytest.mark.parametrize(("stored", "step"), [("3×4", -8), ("7×4", 24)])
def test_a_tensor_of_another_size_is_shape(stored: str, step: int) -> None:
    """The difference in elements at the predicted width; a finding states both shapes and the formula."""
    made = [*tensors(f"BF16 {stored} model.layers.0.self_attn.q_proj.weight"), SOUND[1], SOUND[2]]
    book = Book(made, [Q, NORM])
    assert book.steps == {"shape": (step, 1, "1 × self_attn.q_proj")}
    assert book.findings == [("shape", "error", "model.layers.0.self_attn.q_proj.weight")]
    assert book.account.findings[0].message == f"{stored} stored, 4×4 = 4 × 4 predicted"


def test_shape_and_dtype_give_two_steps_that_add() -> None:
    """3×4 in F32 for 4×4 at 16 bits: 4 elements fewer at 2 bytes, then 12 elements wider by 2."""
    made = [*tensors("F32 3×4 model.layers.0.self_attn.q_proj.weight"), SOUND[1], SOUND[2]]
    book = Book(made, [Q, NORM])
    assert book.steps["shape"][0] == -8
    assert book.steps["mixed_dtype"][0] == 24
    assert book.ledger.total == 12 * 4 - 16 * 2


@pytest.mark.parametrize("shape", ["4×4×1", "1×4×4", "4×1×4"])
def test_dimensions_of_one_are_another_layout(shape: str) -> None:
    """A convolution with a kernel of one is a matrix."""
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
def test_equal_elements_alone_are_not_likeness(stored: tuple[int, ...], predicted: tuple[int, ...], same: bool) -> None:
    """2×8 does not match 4×4, though both have 16 elements."""
    assert alike(stored, predicted) is same


@pytest.mark.parametrize(("shape", "reported"), [((), "scalar"), ((3,), "3"), ((4096, 32000), "4096×32000")])
def test_shapes_in_words(shape: tuple[int, ...], reported: str) -> None:
    assert times(shape) == reported


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
    assert cause_of_size(role, stored, predicted) == cause


def test_missing_tensors_are_an_error_for_each_row() -> None:
    """Layer 1 of 4×4 at 16 bits: 32 bytes; the norm 8; the first is named as in the model."""
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
    """It is a warning, and a step of the bridge names it."""
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


@pytest.mark.parametrize(
    ("listed", "stored", "cause"),
    [
        (None, EMBED, "missing"),  # nothing says what is in the missing file
        ({"model.embed_tokens", "lm_head"}, EMBED, "missing"),
        ({"model.embed_tokens"}, EMBED, "tied_embeddings"),
        ({"model.embed_tokens", "model.norm"}, NORM, "tied_embeddings"),  # the embedding is in the missing file
        ({"lm_head", "model.norm"}, NORM, "missing"),
    ],
)
def test_a_head_in_a_missing_file_is_missing(listed: set[str] | None, stored: Expected, cause: str) -> None:
    """10 × 4 in two bytes each. The index knows whether the missing file has the head."""
    size = "×".join(map(str, stored.shape))
    book = Book(tensors(f"BF16 {size} {stored.name}"), [NORM, EMBED, HEAD], incomplete=True, listed=listed)
    causes = {found.rule: found.tensor for found in book.account.findings}
    assert book.steps[cause][0] <= -80
    assert ("tied_embeddings" in book.steps) is (cause == "tied_embeddings")
    assert ("head-not-stored" in causes) is (cause == "tied_embeddings")


def test_a_tied_head_that_is_not_stored_costs_nothing_and_is_reported() -> None:
    book = Book(tensors("BF16 10×4 model.embed_tokens.weight"), [EMBED], tied=[HEAD])
    assert book.steps == {"tied_embeddings": (0, 0, "lm_head is the token embedding: not stored twice")}
    assert book.findings == []


def test_a_tied_head_that_is_stored_is_a_second_copy() -> None:
    """Its 80 bytes are on disk, its 40 elements are not parameters."""
    stored = tensors("BF16 10×4 model.embed_tokens.weight", "BF16 10×4 lm_head.weight")
    book = Book(stored, [EMBED], tied=[HEAD])
    assert book.steps == {"tied_embeddings": (80, 1, "1 × lm_head")}
    assert book.account.parameters == [40, 0]


def test_the_same_name_in_two_files_is_a_duplicate() -> None:
    """Whether predicted or not, the second copy counts nothing."""
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
    """Layer 0 without the model's prefix, then both layers with it: 16 elements of BF16 are duplicates."""
    stored = tensors("BF16 4×4 layers.0.self_attn.q_proj.weight")
    book = Book([*stored, *SOUND], [Q, NORM])
    assert book.steps == {"duplicate": (32, 1, "1 × self_attn.q_proj")}
    assert book.account.parameters == [16, 0, 16, 4]


def test_a_vector_in_the_place_of_an_optional_matrix_is_unexplained() -> None:
    """A vector with one element per row of the matrix is a bias in a GGUF, and nothing else."""
    matrix = row("gate_proj", "model.layers.{layer}.mlp.gate_proj.weight", 3, 4, layers=(0,), group="feed_forward")
    for size, cause in (("3×4", "optional"), ("3", None)):
        stored = tensors(f"BF16 {size} model.layers.0.mlp.gate_proj.weight")
        book = Book([*SOUND, *stored], [Q, NORM], optional=[matrix])
        assert [*book.steps] == ([cause] if cause else [])
        assert len(book.account.unexplained) == (0 if cause else 1)


def test_an_unclaimed_tensor_is_unexplained_and_counts_its_parameters() -> None:
    """Its bytes are in no other step, its parameters count, and one warning names the first."""
    book = Book([*SOUND, *tensors("BF16 5 model.unheard.weight", "BF16 7 model.other.weight")], [Q, NORM])
    assert book.steps == {}
    assert book.account.unexplained == ("model.unheard.weight", "model.other.weight")
    assert book.account.parameters == [16, 16, 4, 5, 7]
    assert book.findings == [("unexplained", "warning", "model.unheard.weight")]
    assert book.account.findings[0].message == "2 tensors that the configuration does not predict"


def test_without_a_prediction_no_tensor_is_reported_as_unexplained() -> None:
    book = Book(SOUND, [], predicted=False)
    assert len(book.account.unexplained) == 3
    assert (book.steps, book.findings) == ({}, [])


def test_a_stored_constant_is_a_buffer() -> None:
    """Two rotary frequencies of 2 F32 each: 16 bytes, no parameters."""
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
    """Stored, it is a buffer; if not, it is a note, and no bytes are missing, since a prediction does not count it."""
    mask = row(
        "inv_freq", "model.layers.{layer}.self_attn.rotary_emb.inv_freq", 3, layers=(0, 1), group="buffer", buffer=True
    )
    stored = tensors("F32 3 model.layers.0.self_attn.rotary_emb.inv_freq")
    book = Book([*SOUND, *stored], [Q, NORM, mask])
    assert book.steps == {"buffer": (12, 1, "1 × rotary_emb.inv_freq")}
    assert book.findings == [("missing", "info", "model.layers.1.self_attn.rotary_emb.inv_freq")]
    assert sum(each.parameters for each in (Q, NORM, mask)) == 36


def test_a_missing_running_mean_is_a_warning_and_a_frozen_weight_an_error() -> None:
    """A missing mean of a batch norm is a warning, a frozen one's weight an error, another buffer a note."""
    mean = row("running_mean", "model.bn.running_mean", 3, group="buffer", buffer=True)
    frozen = row("conv_norm", "model.bn.weight", 3, group="buffer", buffer=True)
    other = row("inv_freq", "model.rotary_emb.inv_freq", 3, group="buffer", buffer=True)
    book = Book(SOUND, [Q, NORM, mean, frozen, other])
    assert book.findings == [
        ("missing", "warning", "model.bn.running_mean"),
        ("missing", "error", "model.bn.weight"),
        ("missing", "info", "model.rotary_emb.inv_freq"),
    ]


def test_layers_beyond_the_configurations_predict_further_tokens() -> None:
    """Layer 2 of 2, where the configuration has one more that predicts: no parameters of the model, no warning."""
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
    counts = reconciliation._counts(36, (), book.stored, book.account, book.prediction)
    # The whole layer's 4 × 4; embeddings and head are the model's own. The model has no embedding to exclude.
    assert [(each.name, each.parameters) for each in counts] == [("with_prediction_heads", 36 + 16)]
    above = book.prediction._replace(base=book.prediction)
    assert reconciliation._counts(36, (), book.stored, book.account, above) == ()  # an adapter
    assert reconciliation._counts(36, (), book.stored, book.account, None) == ()


@pytest.mark.parametrize("further", [0, None, True, "1"])
def test_layers_beyond_are_unexplained_where_nothing_says_so(further: Any) -> None:
    """`True` is a number in Python: layer 2 is one more; nothing else announces it."""
    stored = tensors("BF16 4×4 model.layers.2.self_attn.q_proj.weight")
    book = Book([*SOUND, *stored], [Q, NORM], config={"num_nextn_predict_layers": further})
    assert ("prediction_head" in book.steps) is (further is True)


def test_a_number_that_counts_no_layers_is_not_a_layer_beyond_them() -> None:
    """`blobs.2` of two layers; the configuration says that one more layer predicts."""
    stored = tensors("BF16 4×4 blobs.2.quux.weight")
    book = Book([*SOUND, *stored], [Q, NORM], config={"num_nextn_predict_layers": 1})
    assert (book.steps, book.account.unexplained) == ({}, ("blobs.2.quux.weight",))


@pytest.mark.parametrize(
    "name", ["mtp.layers.0.q_proj.weight", "model.mtp_layers.0.q_proj.weight", "nextn.0.eh_proj.weight"]
)
def test_layers_marked_as_predicting_further_tokens(name: str) -> None:
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
def test_a_tensor_that_the_table_allows_is_optional(stored: str, optional: bool) -> None:
    """A tensor of the size and in the layer that the table states; it has parameters."""
    book = Book([*SOUND, *tensors(stored)], [Q, NORM], optional=[SINKS])
    assert (book.steps.get("optional") == (8, 1, "1 × self_attn.sinks")) is optional
    assert bool(book.account.unexplained) is not optional


def test_a_tensor_allowed_in_another_branch_is_not_optional() -> None:
    """A decoder's cross-attention may have sinks; those of its self-attention match no row."""
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


# --- near misses of the causes --------------------------------------------------------------------


def test_other_roles_of_a_layer_do_not_fill_a_fused_row() -> None:
    """An unpredicted `o_proj` is not the missing part of q, k and v; a stacked `up_proj` is not the `gate_proj`."""
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
    """They match neither within a layer, nor another part of the same size."""
    book = Book([*SOUND, *tensors(stored)], [Q, NORM], optional=[TYPES])
    assert ("optional" in book.steps) is optional


def test_two_optional_tensors_are_counted() -> None:
    sinks = SINKS._replace(layers=(0, 1))
    stored = tensors("BF16 4 model.layers.0.self_attn.sinks", "BF16 4 model.layers.1.self_attn.sinks")
    assert Book([*SOUND, *stored], [Q, NORM], optional=[sinks]).steps["optional"] == (16, 2, "2 × self_attn.sinks")


@pytest.mark.parametrize(("part", "cause"), [("weight", "duplicate"), ("bias", "adapter")])
def test_weights_that_peft_wraps_belong_to_the_base(part: str, cause: str) -> None:
    """A weight under `base_layer` is a copy of the base's; a bias is stored where it is trained."""
    name = f"base_model.model.model.layers.0.self_attn.o_proj.base_layer.{part}"
    book = Book([*SOUND, *tensors(f"F32 4 {name}")], [Q, NORM])
    assert book.steps[cause][:2] == (16, 1)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("model.layers.0.self_attn.o_proj.lora_A.weight", None),  # a predicted adapter has no more
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
        ("state.step", None),  # two words, which a module may have as its name
        ("state.model.quux.width", None),
        ("model.quux.exp_avg", None),
    ],
)
def test_an_optimizers_state_is_no_parameter(name: str, cause: str | None) -> None:
    book = Book([*SOUND, *tensors(f"F32 4 {name}")], [Q, NORM])
    assert ("training_state" in book.steps) is (cause is not None)
    assert book.account.parameters[-1] == (0 if cause else 4)


def test_an_average_does_not_stand_in_for_a_weight() -> None:
    """4 BF16 of the average are 8 bytes of a run's state, and the norm is missing; averages alone are the model."""
    averages = [each._replace(name=f"ema.{each.name}") for each in SOUND]
    book = Book([*SOUND[:2], averages[2]], [Q, NORM])
    assert book.steps == {
        "missing": (-8, 1, "1 × model.norm not stored"),
        "training_state": (8, 1, "1 × averaged weights (EMA)"),
    }
    assert book.account.parameters == [16, 16, 0]
    assert Book(averages, [Q, NORM]).account.parameters == [16, 16, 4]
