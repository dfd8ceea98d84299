"""Damaged files on the command line: one clear line or a labelled result, never a traceback.

The audit's corpus is in `test_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
from conftest import Ran
from every import every

Run = Callable[..., Ran]

#: Faults of a lone safetensors file → its bytes.
FILES: dict[str, bytes] = {
    "empty": b"",
    "seven bytes": b"\x10\0\0\0\0\0\0",
    "header past the end": (1 << 20).to_bytes(8, "little") + b"{}",
    "header over the limit": (100_000_001).to_bytes(8, "little") + b"{}",
    "header length of 2⁶⁴ − 1": b"\xff" * 8 + b"{}",
    "not JSON": hostile.framed(b"{tensors: none}"),
    "not an object": hostile.framed(b"[1, 2, 3]"),
    "not UTF-8": hostile.framed(b'{"\xff": 1}'),
    "nested too deep": hostile.framed(b'{"a":' * 50_000),
    "a number of 10,000 digits": hostile.framed(b'{"a": ' + b"9" * 10_000 + b"}"),
    "NaN": hostile.framed(b'{"a": NaN}'),
    "git-LFS pointer": hostile.POINTER,
    "HTML page": hostile.PAGE,
    "ZIP archive": hostile.archive({"data.pkl": b"N."}),
    "duplicate keys": hostile.framed(
        b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', 2
    ),
    "unknown dtype": hostile.safetensors({}, a={"dtype": "Q4", "shape": [2], "data_offsets": [0, 2]}) + bytes(2),
    "negative dimension": hostile.safetensors({}, a={"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}) + b"\0",
    "float dimension": hostile.safetensors({}, a={"dtype": "U8", "shape": [1.5], "data_offsets": [0, 1]}) + b"\0",
    "huge dimensions": hostile.safetensors({}, a={"dtype": "U8", "shape": [2**62, 8], "data_offsets": [0, 0]}),
    "shape × dtype ≠ range": hostile.safetensors({}, a={"dtype": "U8", "shape": [3], "data_offsets": [0, 2]})
    + bytes(2),
    "overlap": hostile.safetensors({"a": [2]}, "U8", b={"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}),
    "hole": hostile.safetensors({}, a={"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}) + bytes(2),
    "trailing bytes": hostile.safetensors({"a": [2]}) + b"\0",
    "truncated data": hostile.safetensors({"a": [2]})[:-1],
    "ESC in a name": hostile.safetensors({"a\x1b[31mb": [2]}),
    "right-to-left mark in a name": hostile.safetensors({"a\u202eb": [2]}),
    "half a surrogate in a name": hostile.framed(b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
}

#: Faults of a folder → the change.
FOLDERS: dict[str, hostile.Change] = {
    "no weights": hostile.drop(hostile.FIRST, hostile.SECOND, hostile.INDEX),
    "an index that names a missing file": hostile.drop(hostile.SECOND),
    "an index that leaves the folder": hostile.CASES["index-path"].trips,
    "an index with an absolute path": hostile.index(lambda p: p["weight_map"].update(x="/etc/passwd")),
    "an index that is a list": hostile.put(hostile.INDEX, b"[]"),
    "a configuration that is no JSON": hostile.put("config.json", b"{"),
    "a configuration of lists": hostile.config(hidden_size=[1], num_hidden_layers={"a": 1}),
    "a configuration of huge numbers": hostile.config(hidden_size=10**30, vocab_size=-1),
    "a configuration without end": hostile.config(num_hidden_layers=10**9, num_attention_heads=0),
    "a link to itself": hostile.put(hostile.FIRST, hostile.Link(hostile.FIRST)),
    "a link out of the folder": hostile.put("extra.safetensors", hostile.Link("/etc/hostname")),
}

COMMANDS = (["{}"], ["{}", "--json"], ["tensors", "{}"], ["audit", "{}"], ["audit", "{}", "--json"])


def clear(ran: Ran, beside: str = "") -> None:
    """Check for one line of error, or a result, without control characters or a traceback; `beside` it, a line."""
    assert ran.code in (0, 1, 2)
    assert "Traceback" not in ran.err + ran.out and "an error of this program's own" not in ran.err
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", ran.out + ran.err)
    if ran.code == 2:
        assert ran.err.startswith("inspect: ") and ran.err.count("\n") == 1 and ran.out == ""
    elif beside:
        assert beside in ran.err and ran.err.count("\n") == 1
    else:
        assert ran.err == ""


@every("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", FILES)
def test_files(inspect: Run, tmp_path: Path, name: str, command: list[str]) -> None:
    """A damaged file is one clear line or a labelled result."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(FILES[name])
    ran = inspect(*(word.format(path) for word in command))
    clear(ran)
    if command[0] == "audit" and not name.endswith("in a name"):
        assert ran.code == (name != "duplicate keys")  # safetensors opens that file, with the last entry: a warning
    if command[0] == "{}" and ran.code == 0:
        assert "error" in ran.out or "warning" in ran.out


@every("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", FOLDERS)
def test_folders(inspect: Run, tmp_path: Path, name: str, command: list[str]) -> None:
    """A damaged folder is one clear line or a labelled result."""
    folder = hostile.make(FOLDERS[name], tmp_path)
    beside = "has no weight files" if name == "no weights" and command[0] == "audit" else ""
    clear(inspect(*(word.format(folder) for word in command)), beside)
