"""vLLM's pages against what its users published of its logs: memory for caches, and the tokens and sequences in it.

A log rounds GiB to hundredths, so that a figure stands for an interval. Assumptions are columns of the fixture: `batch` is
--max-num-batched-tokens where it was said; `states` 1 where prefix caching was off, as it was for models with states
before 0.20.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import inspector
from inspector.sizing.engines import vllm
from inspector.sizing.memory import Memory

PUBLISHED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "published_vllm.jsonl").read_text().splitlines()
]
GIB = 2**30


class Interval(NamedTuple):
    """The numbers that are written alike."""

    least: float
    most: float

    def __contains__(self, number: object) -> bool:
        return isinstance(number, (int, float)) and self.least <= number <= self.most


def written(text: str, unit: float = 1) -> Interval:
    """What may stand behind a number of two decimals, in units."""
    return Interval((float(text) - 0.005) * unit, (float(text) + 0.005) * unit)


def sized(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Memory:
    monkeypatch.setattr(vllm, "STATES", case.get("states", vllm.STATES))
    options: dict[str, Any] = {name: case[name] for name in ("context", "batch", "cache_dtype") if name in case}
    options.update(changes)
    return inspector.memory(case["config"], engine="vllm", **options)


def having(*figures: str) -> pytest.MarkDecorator:
    """The cases that have all of these figures."""
    cases = [case for case in PUBLISHED if all(figure in case for figure in figures)]
    return pytest.mark.parametrize("case", cases, ids=lambda case: f"{case['model']} {case['context']}")


def test_there_are_enough_figures() -> None:
    """At least 25, of dense models, mixtures, latents, windows and states."""
    figures = ("needed", "blocks", "tokens", "concurrency", "longest", "block", "blocks_each")
    assert sum(figure in case for case in PUBLISHED for figure in figures) >= 25
    assert len({case["config"]["model_type"] for case in PUBLISHED}) >= 7


@having("needed")
def test_what_a_request_needs(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`To serve at least one request with the model's max seq len (N), (X GiB KV cache is needed …`"""
    assert sized(case, monkeypatch).cache in written(case["needed"], GIB)


@having("available", "concurrency")
def test_sequences_at_a_time(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`Maximum concurrency for N tokens per request`: the memory for caches over what one sequence takes."""
    one = sized(case, monkeypatch).cache
    assert one
    available, told = written(case["available"], GIB), written(case["concurrency"])
    assert available.most / one >= told.least
    assert available.least / one - 0.001 <= told.most


@having("available", "tokens")
def test_tokens_in_all(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`GPU KV cache size: N tokens`, whole blocks of 16."""
    of_a_token = sized(case, monkeypatch).growth
    assert case["tokens"] * of_a_token in Interval(
        written(case["available"], GIB).least - 16 * of_a_token, written(case["available"], GIB).most
    )


@having("available", "blocks")
def test_blocks_in_all(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`# GPU blocks: N`, of 16 tokens."""
    block = 16 * sized(case, monkeypatch).growth
    assert case["blocks"] * block in Interval(
        written(case["available"], GIB).least - block, written(case["available"], GIB).most
    )


@having("available", "longest")
def test_the_longest_context(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`the estimated maximum model length is N`: it fits into the memory, and a block more does not."""
    fits = sized(case, monkeypatch, context=case["longest"]).cache
    beyond = sized(case, monkeypatch, context=case["longest"] + 16).cache
    assert fits
    assert beyond
    available = written(case["available"], GIB)
    assert fits <= available.most
    assert beyond > available.least


@pytest.mark.parametrize("case", [case for case in PUBLISHED if "states" in case], ids=lambda case: str(case["model"]))
def test_blocks_beside_states(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`Setting attention block size to N tokens to ensure that attention page size is >= mamba page size.`"""
    held = sized(case, monkeypatch).held
    assert held
    (full,) = (each for each in held if each.kind == "full")
    if "block" in case:
        assert full.tokens == -(-case["context"] // case["block"]) * case["block"]
    if "blocks_each" in case:  # those of the context, and one for each group of layers with states
        states = sum(each.kind == "linear" for each in held) * 3
        assert full.tokens // 784 + states == case["blocks_each"]
