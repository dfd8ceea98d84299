"""The ledger: what each step is about, in words, and the sum."""

from __future__ import annotations

from inspector.bridge.ledger import Ledger
from inspector.model import Step


def test_equal_kinds_are_counted_together_the_largest_first() -> None:
    book = Ledger()
    book.add("mixed_dtype", 10, "norm in F32", 3)
    book.add("mixed_dtype", -500, "q_proj in I8", 2)
    book.add("mixed_dtype", 10, "norm in F32")
    assert book.steps() == (Step("mixed_dtype", -480, 6, "2 × q_proj in I8, 4 × norm in F32"),)
    assert book.total == -480


def test_steps_stand_in_the_order_of_the_causes() -> None:
    book = Ledger()
    book.add_bytes("header", 8, "1 safetensors header")
    book.add("buffer", 4, "inv_freq")
    book.add_bytes("label_rounding", -3, "rounded")
    assert [(step.cause, step.bytes, step.tensors) for step in book.steps()] == [
        ("label_rounding", -3, 0),
        ("buffer", 4, 1),
        ("header", 8, 0),
    ]
    assert book.total == 9


def test_each_sentence_is_shown_once_and_none_is_lost() -> None:
    """Two short files: both are named, and their bytes are summed."""
    book = Ledger()
    book.add_bytes("truncated", -5, "5 bytes beyond the end of a")
    book.add_bytes("truncated", -9, "9 bytes beyond the end of b")
    book.add_bytes("truncated", -5, "5 bytes beyond the end of a")
    (step,) = book.steps()
    assert (step.bytes, step.detail) == (-19, "5 bytes beyond the end of a, 9 bytes beyond the end of b")


def test_a_cause_that_costs_nothing_is_shown_if_it_has_a_note() -> None:
    book = Ledger()
    book.add_bytes("tied_embeddings", 0, "lm_head is the token embedding")
    book.add_bytes("header", 0)
    assert book.steps() == (Step("tied_embeddings", 0, 0, "lm_head is the token embedding"),)


def test_tensors_whose_bytes_cancel_out_are_still_a_step() -> None:
    book = Ledger()
    book.add("shape", 7, "up_proj")
    book.add("shape", -7, "down_proj")
    assert book.steps() == (Step("shape", 0, 2, "1 × up_proj, 1 × down_proj"),)


def test_sentences_stand_before_kinds_and_without_either_the_causes_meaning() -> None:
    book = Ledger()
    book.add("shape", 1)
    book.add("missing", -2, "norm not stored")
    book.add_bytes("missing", -1, "and a sentence")
    assert [step.detail for step in book.steps()] == [
        "a tensor whose size differs from the configuration's",
        "and a sentence; 1 × norm not stored",
    ]


def test_more_than_eight_kinds_are_counted() -> None:
    book = Ledger()
    for number in range(11):
        book.add("buffer", 100 - number, f"kind{number}")
    (step,) = book.steps()
    assert step.detail.count("×") == 8
    assert step.detail.endswith("1 × kind7, 3 more kinds")


def test_exactly_eight_sentences_are_all_shown() -> None:
    book = Ledger()
    for number in range(8):
        book.add_bytes("truncated", -1, f"file{number}")
    (step,) = book.steps()
    book.add_bytes("truncated", -1, "file8")
    book.add_bytes("truncated", -1, "file9")
    (more,) = book.steps()
    assert more.detail.endswith("file7, 2 more")
    assert step.detail == "file0, file1, file2, file3, file4, file5, file6, file7"
