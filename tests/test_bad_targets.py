"""One bad target hides no other: `audit a BAD c` audits a and c, whatever is wrong with BAD."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hostile
from every import every

import inspector

if TYPE_CHECKING:
    from conftest import Ran

Put = Callable[[Path], object]


def folder(**files: bytes) -> Put:
    """A folder of files: `config_json=b"…"`."""

    def put(path: Path) -> None:
        path.mkdir()
        for name, content in files.items():
            (path / name.replace("_", ".")).write_bytes(content)

    return put


def endless(path: Path) -> None:
    """Nested folders, deeper than calls may nest."""
    for _ in range(400):
        path = path / "d"
    os.makedirs(path)  # noqa: PTH103  at once


def circle(path: Path) -> None:
    path.mkdir()
    (path / "a").symlink_to(path / "b")
    (path / "b").symlink_to(path / "a")
    (path / "model.safetensors").symlink_to(path / "a")


#: What a target may be that has no model.
BAD: dict[str, Put] = {
    "nothing": str,  # writes nothing
    "empty folder": folder(),
    "empty file": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("hello"),
    "zeros": lambda path: path.write_bytes(bytes(100_000)),
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to(path / "nowhere"),
    "link to itself": lambda path: path.symlink_to(path),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "links in a circle": circle,
    "deep folders": endless,
    "a header of 2⁶³ bytes": folder(model_safetensors=b"\xff" * 8),
    "deep JSON": folder(config_json=b"[" * 100_000, model_safetensors=b"\2\0\0\0\0\0\0\0{}"),
    "a GGUF's start": folder(model_gguf=b"GGUF\3\0\0\0" + b"\xff" * 16),
    "a pickle's start": folder(pytorch_model_bin=b"\x80\x04\x95" + b"\xff" * 8, model_bin=b"("),
    "an archive's end": folder(model_pt=b"PK\5\6" + b"\xff" * 18),
    "HDF5's start": folder(model_h5=b"\x89HDF\r\n\x1a\n" + b"\xff" * 100),
    "no UTF-8": folder(config_json=b"\xff\xfe\0", tokenizer_json=b"\xff" * 10, model_safetensors=b"\1" + bytes(8)),
    "an index of nothing": folder(model_safetensors_index_json=b'{"weight_map": {"a": "../../b.safetensors"}}'),
    "a template without end": folder(
        model_safetensors=b"\2\0\0\0\0\0\0\0{}", chat_template_jinja=b"{% for a in range(99999) %}" * 900
    ),
    "a configuration without end": folder(
        model_safetensors=b"\2\0\0\0\0\0\0\0{}",
        config_json=json.dumps({"model_type": "albert", "num_hidden_groups": 10**4, "inner_group_num": 10**4}).encode(),
    ),
}


@every("name", list(BAD))
def test_the_others_are_judged(name: str, tmp_path: Path) -> None:
    """A pickle before it and a truncated file after it are found, and the bad target is reported."""
    before = hostile.make(hostile.CASES["pickle"].trips, tmp_path / "before")
    after = hostile.make(hostile.CASES["truncated"].trips, tmp_path / "after")
    BAD[name](bad := tmp_path / "bad")
    found = inspector.audit([before, bad, after])
    rules = {Path(each.target).name: {finding.rule for finding in each.findings} for each in found.checkpoints}
    assert "pickle" in rules["before"]
    assert "truncated" in rules["after"]
    reported = [str(each.reason) for each in found.failed] + [
        rule for name in rules for rule in rules[name] if "bad" in name
    ]
    assert reported
    assert all(each.isprintable() for each in reported)


def test_the_exit_code_says_so(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """If a target could not be audited, the code is 2, and the findings of the others are printed."""
    good = hostile.make(hostile.CASES["pickle"].trips, tmp_path / "good")
    ran = inspect("audit", tmp_path / "none", good, "--json")
    assert ran.code == 2
    assert "pickle" in {finding["rule"] for finding in json.loads(ran.out)["checkpoints"][0]["findings"]}
    assert ran.err.count("\n") == 1
