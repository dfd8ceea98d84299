"""Findings of the join, and the steps from a label, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from joining import GATE, NORM, Book, K, Q, row, tensors

from inspector.bridge import labels
from inspector.bridge.book import book_missing
from inspector.bridge.ledger import Ledger, short
from inspector.model import Config, Expected, Finding, Prediction, Step

# --- findings -------------------------------------------------------------------------------------


def test_tensors_that_differ_alike_are_one_finding() -> None:
    """Layers of the same wrong shape share a finding; another shape of the same row is another one."""
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
    """Most tensors have another size: one sentence, not one for each row; the steps still have every byte."""
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


def test_a_file_without_tensors_is_reported_once() -> None:
    """For a vocabulary alone there is one finding, and the missing bytes are counted."""
    book = Book([], [Q, NORM])
    assert book.findings == [("no-tensors", "info", None)]
    assert book.steps["missing"][:2] == (-72, 3)


def test_missing_rows_are_found_by_their_name() -> None:
    ledger = Ledger()
    wanted = Book([], [Q]).joined.missing
    found = list(book_missing(ledger, wanted, {}, 16, lambda _: False))
    assert found == [Finding("missing", "error", "2 tensors of q_proj predicted and not stored", None, wanted[0].name)]
    assert ledger.steps() == (Step("missing", -64, 2, "2 × self_attn.q_proj not stored"),)


def test_missing_layers_are_one_finding() -> None:
    """Two of three layers with nothing of them: one finding; of the third only one row is missing."""
    name = "model.layers.{layer}.self_attn.%s.weight"
    rows = [row(f"{kind}_proj", name % f"{kind}_proj", 4, 4, layers=(0, 1, 2)) for kind in "qkv"]
    book = Book(tensors(*(f"BF16 4×4 {(name % kind).format(layer=0)}" for kind in ("q_proj", "k_proj"))), rows)
    assert [each.message for each in book.account.findings] == [
        "layers 1–2 predicted and not stored, with 6 tensors",
        "1 tensor of v_proj predicted and not stored",
    ]


# --- labels ---------------------------------------------------------------------------------------


def label_booked(label: str, rows: Sequence[Expected], bits: int = 16) -> dict[str, tuple[int, str]]:
    prediction = Prediction(Config({}, "config.json"), "test", "", tuple(rows))
    ledger = Ledger()
    labels.book_label(ledger, labels.from_text(label, bits), prediction, prediction.parameters * bits // 8)
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
    ("name", "reported"),
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
def test_names_in_short(name: str, reported: str) -> None:
    assert short(name) == reported
