"""SARIF of names that are not allowed in documents; `test_rules` checks the findings of each rule's case."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import hostile
import sarif_om
from conftest import Ran
from sarif_schema import check

Run = Callable[..., Ran]


def test_names_from_files_are_escaped_in_sarif(inspect: Run, tmp_path: Path) -> None:
    """Control characters and half of a surrogate pair in names stay out of the document."""
    odd = "\x1b]0;x\x07\u202e\n"
    hostile.make(hostile.put(f"a{odd}.bin", hostile.calls("o\x1bs", "sys\u202etem")), tmp_path)
    Path(str(tmp_path), "b\udcff.bin").write_bytes(hostile.calls("os", "system"))
    document = json.loads(inspect("audit", tmp_path, "--sarif").out)
    check(document, sarif_om.SarifLog, "log")
    for result in document["runs"][0]["results"]:
        texts = (result["message"]["text"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", "".join(texts))
    assert len(document["runs"][0]["results"]) >= 2
