"""Parameters by other people's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saved import LLAMA, PARAMETERS, expected, save

import inspector
from inspector.architectures.counts import conventions, embeddings_of, of_prediction
from inspector.model import (
    Config,
    Count,
    Expected,
    Prediction,
)
from inspector.report import documents


def row(role: str, *shape: int, **columns: Any) -> Expected:
    return expected(role=role, shape=shape, **{"layers": None, "experts": None, **columns})


def reported(counts: Sequence[Count]) -> dict[str, int]:
    return {each.name: each.parameters for each in counts}


def test_a_plain_model_differs_only_by_its_embeddings() -> None:
    assert reported(conventions(100, [row("up_proj", 50)], embeddings=30)) == {"without_embeddings": 70}
    assert conventions(100, [row("up_proj", 50)]) == ()


def test_router_corrections_are_parameters_to_their_authors() -> None:
    """Two layers of 4 experts; a correction that is a parameter in Transformers, too, is not counted again."""
    buffer = row("router_bias", 4, layers=(0, 1), group="buffer", buffer=True)
    assert reported(conventions(100, [buffer])) == {"with_router_bias": 108}
    assert conventions(100, [row("router_bias", 4, layers=(0, 1))]) == ()


def test_transformers_does_not_load_what_predicts_further() -> None:
    buffer = row("router_bias", 4, group="buffer", buffer=True)
    found = conventions(100, [buffer], further=20)
    assert reported(found) == {"with_prediction_heads": 120, "with_router_bias": 104}


def test_a_tied_head_is_counted_again_by_some() -> None:
    tied = [row("lm_head", 10, 8), row("lm_head", 10, part="bias")]
    assert reported(conventions(100, [], tied)) == {"tied_head_again": 180}


def test_embeddings_are_those_of_the_text() -> None:
    rows = [row("embed_tokens", 10, 8), row("embed_positions", 5, 8), row("lm_head", 10, 8), row("up_proj", 3)]
    assert embeddings_of([*rows, row("embed_tokens", 7, 8, tower="vision")]) == 80 + 40 + 80


def test_conventions_of_a_configuration_count_a_tied_head_again() -> None:
    """A tied head of 10×8; layers that predict further tokens; the model without embeddings has 8 parameters."""
    rows, tied = (row("embed_tokens", 10, 8), row("norm", 8)), (row("lm_head", 10, 8),)
    prediction = Prediction(Config({}, "config.json"), "t", "", rows, tied, ahead=(row("q_proj", 3, layers=(0, 1)),))
    assert reported(of_prediction(prediction)) == {
        "with_prediction_heads": 88 + 6,
        "tied_head_again": 88 + 80,
        "without_embeddings": 8,
    }


def test_conventions_of_a_file_and_of_its_configuration(tmp_path: Path) -> None:
    """Both agree on a separate head and an embedding of 10×8."""
    result = inspector.reconcile(inspector.open(save(tmp_path / "m", LLAMA)))
    assert reported(result.counts) == {"without_embeddings": PARAMETERS - 160}
    assert result.prediction and of_prediction(result.prediction) == result.counts
    shown = documents.overview(result)["parameters"]["conventions"]
    assert shown == [
        {"name": "without_embeddings", "parameters": PARAMETERS - 160, "what": "without embeddings and head"}
    ]
