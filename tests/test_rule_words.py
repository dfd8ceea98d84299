"""Each rule's own words, numbers and places, for every hostile case that it is to find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hostile
import pytest
import rule_words
from rule_words import Said

from inspector.auditing.rules import running, tokenizer_json

CASES = {case.name: case for case in rule_words.cases()}
EXPECTED = {line["case"]: line["said"] for line in map(json.loads, rule_words.SAID.read_text().splitlines())}


def test_every_case_is_in_the_file() -> None:
    assert [*EXPECTED] == [*CASES]


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_said(case: Said, tmp_path: Path) -> None:
    """As somebody has read it: where words are changed on purpose, write the file anew and read what changed in it."""
    assert rule_words.said(case, tmp_path) == EXPECTED[case.name]


@pytest.mark.parametrize("case", [*rule_words.near_misses()], ids=lambda case: case.name)
def test_what_is_done_rightly(case: Said, tmp_path: Path) -> None:
    assert rule_words.said(case, tmp_path) == []


def asked(code: str, change: hostile.Change, folder: Path) -> list[str | None]:
    """Only what is said."""
    return [message for _, message, *_ in rule_words.said(Said(code, code, change, False), folder)]


@pytest.mark.parametrize(
    "name",
    ["model (1).safetensors", "model.safetensors.part", "model.safetensors.aria2", "model-00001-of-00002.safetensors"],
)
def test_weights_under_another_name_are_told_by_their_own_rule(name: str, tmp_path: Path) -> None:
    """A model without weights; not where a copy's name, a download's or a shard's tells more."""
    bare = hostile.drop(*(each for each in hostile.sound() if each not in ("config.json", "tokenizer.json")))
    assert asked("no-weights", hostile.both(bare, hostile.put("optimizer.pt", b"x")), tmp_path / "a") == [
        "a configuration, and no weights beside it: download them"
    ]
    assert asked("no-weights", hostile.both(bare, hostile.put(name, b"x")), tmp_path / "b") == []


def test_a_graph_as_text_is_read_as_far_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MAX_TEXT_GRAPH", 40)
    write, beyond = b'node { op: "WriteFile" }', "its graph is not judged to its end: larger than any"
    found = "its graph has the operations WriteFile"
    for text, said in (
        (write, [found]),
        (write + b" " * 16, [found]),
        (write + b" " * 17, [found, beyond]),
        (b" " * 40 + write, []),
        (b'node { op: "Add" }' + b" " * 40, [beyond]),
    ):
        assert asked("graph-operation", hostile.put("a.pbtxt", text), tmp_path / str(len(text))) == said


TOKEN = {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}


@pytest.mark.parametrize(
    ("template", "faults"),
    [
        ({}, []),
        ({"single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "B", "type_id": 1}}]}, []),
        ({"single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}], "special_tokens": {"[CLS]": TOKEN}}, []),
        ({"single": ["A"]}, ["p.single.0 is no piece of a template"]),
        ({"pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Other": {}}]}, ["p.pair.1 is no piece of a template"]),
        ({"single": [{"Sequence": {"id": "A"}}]}, ["p.single.0 has no type_id"]),
        ({"single": [{"Sequence": {"id": "A", "type_id": "0"}}]}, ["p.single.0.type_id is no whole number"]),
        ({"single": [{"Sequence": {"id": "C", "type_id": 0}}]}, ["p.single.0 is of sequence 'C'"]),
        (
            {"single": [{"SpecialToken": {"id": "[SEP]", "type_id": 0}}], "special_tokens": {"[CLS]": TOKEN}},
            ["p.single.0 names '[SEP]', which is not among its tokens"],
        ),
        ({"special_tokens": {"x" * 50: 5}}, [f"p.special_tokens.{'x' * 40} is no object"]),
        (
            {"special_tokens": {"a": {"ids": 1, "tokens": []}}},
            ["p.special_tokens.a has no id", "p.special_tokens.a.ids is no list"],
        ),
        ({"special_tokens": {"a": {**TOKEN, "tokens": "a"}}}, ["p.special_tokens.a.tokens is no list"]),
        ({"special_tokens": {"a": {"id": "a", "ids": []}}}, ["p.special_tokens.a has no tokens"]),
        ({"special_tokens": []}, []),
    ],
)
def test_what_is_wrong_with_a_template(template: dict[str, Any], faults: list[str]) -> None:
    assert list(tokenizer_json._of_template(template, "p")) == faults
