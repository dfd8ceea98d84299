"""Names of a model's size, read from its name or given."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.bridge import labels
from inspector.errors import UsageError
from inspector.model import Config, Expected, Model, Prediction


@every(
    ("name", "label", "parameters", "experts"),
    [
        ("llama-7b", "7B", 7 * 10**9, 1),
        ("Llama-3.2-1B-Instruct", "1B", 10**9, 1),
        ("TinyLlama-1.1B-Chat-v1.0", "1.1B", 1_100_000_000, 1),
        ("SmolLM2-135M", "135M", 135 * 10**6, 1),
        ("Kimi-K2-1T", "1T", 10**12, 1),
        ("mixtral-8x7b-v0.1.Q4_0.gguf", "8x7B", 56 * 10**9, 8),
        ("Mixtral-8X22B", "8x22B", 176 * 10**9, 8),
        ("tiny-8x3.4M", "8x3.4M", 27_200_000, 8),
        ("model-0_5b", "0_5B", 500_000_000, 1),
        ("30B-A3B", "30B", 30 * 10**9, 1),
        ("smollm2-135m", "135M", 135 * 10**6, 1),
        ("kimi-1t", "1T", 10**12, 1),
        ("bloom-7b1", "7B1", 7_100_000_000, 1),
        ("bloomz-1b7-mt", "1B7", 1_700_000_000, 1),
        ("bloom-560m", "560M", 560 * 10**6, 1),
        ("stablelm-2-1_6b", "1_6B", 1_600_000_000, 1),
        ("llama_2_7b_hf", "7B", 7 * 10**9, 1),
        ("Qwen2_5_14B", "14B", 14 * 10**9, 1),
        ("model_0_5b", "0_5B", 500_000_000, 1),
        ("trained-on-2T-tokens-7B", "7B", 7 * 10**9, 1),
        ("llama-4b-128g-13b", "13B", 13 * 10**9, 1),
        ("OLMoE-1B-7B-0924-Instruct", "7B", 7 * 10**9, 1),
        ("merge-1B-7B", "1B", 10**9, 1),
        ("TinyLlama-1.1B-step-50K-105b", "1.1B", 1_100_000_000, 1),
        ("llama-7b-token-classifier", "7B", 7 * 10**9, 1),
        ("TinyLlama-1.1B-intermediate-step-1431k-3T", "1.1B", 1_100_000_000, 1),
        ("Qwen2.5-14B-Instruct-1M", "14B", 14 * 10**9, 1),
        ("Llama-3-8B-Instruct-262k", "8B", 8 * 10**9, 1),
    ],
)
def test_labels_in_names(name: str, label: str, parameters: int, experts: int) -> None:
    found = next(labels.from_names([name], 16))
    assert (found.label, found.parameters, found.experts, found.bits) == (label, parameters, experts, 16)


@every(
    "name",
    [
        "model.safetensors",
        "gemma-3n-E4B-it",
        "bnb-4bit",
        "Qwen1.5-MoE-A2.7B",
        "v1.7b2",
        "llama4b",
        "12345b",
        "7 b",
        "data-10B-tokens",
        "gptq-4b-128g",
        "v2b3",
        "",
    ],
)
def test_numbers_in_names_that_are_no_size_are_ignored(name: str) -> None:
    """Bits, active and effective sizes, versions, and words that only end in a number and a letter."""
    assert list(labels.from_names([name], 16)) == []


def test_the_size_of_what_works_on_one_token_is_not_the_models() -> None:
    """Llama-4-Scout-17B-16E: 17 of 109 billion parameters are active."""
    assert list(labels.from_names(["Llama-4-Scout-17B-16E-Instruct"], 16)) == []


def test_the_first_name_with_a_label_wins() -> None:
    found = next(labels.from_names(["model.safetensors", "llama-7b", "llama-13b"], 4))
    assert (found.label, found.bytes) == ("7B", 3_500_000_000)


@every(
    ("text", "label", "parameters"),
    [
        ("7B", "7B", 7 * 10**9),
        (" 7b ", "7B", 7 * 10**9),
        ("1.1B", "1.1B", 1_100_000_000),
        ("8x7B", "8x7B", 56 * 10**9),
        ("8×7B", "8×7B", 56 * 10**9),
        ("135M", "135M", 135 * 10**6),
        ("12k", "12k", 12_000),
        ("2T", "2T", 2 * 10**12),
        ("6,738,415,616", "6,738,415,616", 6_738_415_616),
        ("6_738_415_616", "6_738_415_616", 6_738_415_616),
        ("7 B", "7B", 7 * 10**9),
    ],
)
def test_labels_that_are_given(text: str, label: str, parameters: int) -> None:
    found = labels.from_text(text, 16)
    assert (found.label, found.parameters, found.bytes) == (label, parameters, 2 * parameters)


@every("text", ["", "B", "seven", "7Q", ",", "7B7B", "-7B", "1.2.3B"])
def test_a_given_label_that_is_not_a_size_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        labels.from_text(text, 16)


@pytest.mark.parametrize(
    ("parameters", "bits", "nbytes"), [("3", 4, 2), ("2", 4, 1), ("5", 3, 2), ("1B", 5, 625 * 10**6)]
)
def test_bytes_of_a_label_are_filled_up(parameters: str, bits: int, nbytes: int) -> None:
    """Three weights of four bits take two bytes."""
    assert labels.from_text(parameters, bits).bytes == nbytes


def test_a_label_is_counted_in_whole_numbers() -> None:
    """2⁵³ + 1, which no float represents; and 1.1 billion, since 1.1 is not a float either."""
    assert labels.from_text("9,007,199,254,740,993", 16).parameters == 2**53 + 1
    exact = labels.from_text("1.1B", 16).parameters
    assert (exact, type(exact)) == (1_100_000_000, int)


def counted(predicted: int | None, logical: int, outside: int = 0) -> Model:
    """A model of so many parameters, `outside` of them shared by its experts."""
    shared = expected_row("shared", (outside,)) if outside else None
    row = expected_row("own", (((predicted or 0) - outside) // (8 if outside else 1),))._replace(
        experts=8 if outside else None
    )
    rows = tuple(filter(None, (shared, row)))
    prediction = Prediction(Config({}, "config.json"), "", "", rows) if predicted is not None else None
    empty: dict[str, Any] = dict.fromkeys(Model._fields)
    return Model(**{**empty, "prediction": prediction, "logical": logical})


def expected_row(name: str, shape: tuple[int, ...]) -> Expected:
    return Expected("q_proj", "attention", "text", "weight", name, shape, (), ())


@every(
    ("text", "predicted", "logical", "fits"),
    [
        ("7B", 6_738_415_616, 6_738_415_616, True),
        ("1M", 6_738_415_616, 6_738_415_616, False),
        ("3T", 1_100_048_384, 1_100_048_384, False),
        ("2B", 4 * 10**9, 4 * 10**9, True),
        ("2B", 4 * 10**9 + 1, 4 * 10**9 + 1, False),
        ("4B", 2 * 10**9, 2 * 10**9, True),
        ("4B", 2 * 10**9 - 1, 2 * 10**9 - 1, False),
        ("8x7B", 6_738_415_616, 6_738_415_616, False),  # 56B
        ("8x1.1B", 6_738_415_616, 6_738_415_616, True),  # 8.8B
        ("7B", 6_738_415_616, 10**9, True),  # a part of its files
        ("7B", None, 10**9, True),  # as before, or packed in a way that is not known
        ("1M", None, 2 * 10**6, True),
        ("1M", None, 2 * 10**6 + 1, False),
    ],
)
def test_labels_that_fit_a_count(text: str, predicted: int | None, logical: int, *, fits: bool) -> None:
    assert labels.fits(labels.from_text(text, 16), counted(predicted, logical)) is fits


def test_experts_count_what_they_share() -> None:
    """8 × 2M of 7M parameters, of which 1.5M are shared: counted for each expert, 17.5M."""
    assert labels.fits(labels.from_text("8x2M", 16), counted(7_000_000, 7_000_000, 1_500_000))
    assert not labels.fits(labels.from_text("8x2M", 16), counted(7_000_000, 7_000_000))
