"""Each rule's own words, numbers and places, for every hostile case that it is to find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rule_words
from rule_words import Said

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
