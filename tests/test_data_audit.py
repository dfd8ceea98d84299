"""`inspect audit --data` finds seventy kinds of damage, and passes over sixty kinds of sound oddities."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spoilt
from conftest import Ran
from every import every

from inspector.auditing import verdicts
from inspector.auditing.catalogue import all_rules
from inspector.auditing.run import audit
from inspector.auditing.values.numbers.pieces import facts_of
from inspector.auditing.values.numbers.reading import PIECE, measure
from inspector.model import Finding
from inspector.model.codes import Code
from inspector.opening.checkpoint import open as opened
from inspector.sources.targets import place_of

Run = Callable[..., Ran]


def found(kind: str, seed: int, folder: Path) -> list[Finding]:
    """The findings of the rules about values."""
    result = audit([spoilt.make(kind, seed, folder)], data=True)
    findings = [finding for model in result.checkpoints for finding in model.findings]
    assert "not-judged" not in {finding.rule for finding in findings}
    return [finding for finding in findings if all_rules()[finding.rule].group == "data"]


def seed_of(kind: str) -> int:
    """A different seed for each kind, the same in every run."""
    return zlib.crc32(kind.encode()) % 10_000


@every("kind", spoilt.DAMAGED, parts=9)
@pytest.mark.gate
def test_damage_is_found(kind: str, tmp_path: Path) -> None:
    """Damage is an error in the damaged file."""
    findings = found(kind, seed_of(kind), tmp_path)
    assert findings
    assert {finding.severity for finding in findings} == {"warning" if kind == "rows-lost-amid-table" else "error"}
    assert all(finding.path == next(tmp_path.glob("*model*.[gs]*")).name for finding in findings if finding.path)


@every("kind", spoilt.SOUND, parts=6)
@pytest.mark.gate
def test_oddities_are_passed_over(kind: str, tmp_path: Path) -> None:
    """Properties of sound models have no finding."""
    assert found(kind, seed_of(kind), tmp_path) == []


#: Kind of damage → the rule that reports it, and words of the message.
TOLD = {
    "hole-anywhere": ("zero-block", "6,000 bytes of zeros"),
    "nothing-but-zeros": ("zero-tensor", "never filled"),
    "copy-anywhere": ("repeated-block", "7,000 bytes"),
    "html": ("text-in-tensor", "504 Gateway"),
    "swapped-tensor": ("scrambled-tensor", "bytes of each number swapped"),
    "lost-byte-in-tensor": ("scrambled-tensor", "they are plausible if shifted by 1 of a number's"),
    "nan": ("not-finite", "1 NaN in"),
    "minus-infinity": ("not-finite", "3 minus infinity"),
    "flipped-bit": ("value-scale", "half of the others are below"),
    "constant-matrix": ("constant-tensor", "every number is 0.01"),
    "gptq-scale-zero": ("packed-scale", "zero"),
    "mantissa-cut": ("lost-bits", "the lowest 16 bits of each number are the same throughout"),
    "bit-stuck": ("lost-bits", "the same in all of them, but not in the rest"),
    "signs-lost": ("lost-bits", "all numbers have the same sign"),
    "written-over-role": ("repeated-tensor", "byte for byte equal to model.layers."),
    "exchanged": ("exchanged-tensors", "the two were exchanged"),
    "noise-in-codes": ("noise", "all equally frequent"),
    "rows-lost-amid-table": ("zero-block", "12% of the table, followed by other rows"),
    "gguf-nan-scale": ("not-finite", "1 NaN in the scales of blocks"),
}


@every("kind", TOLD, parts=2)
def test_faults_are_reported(kind: str, tmp_path: Path) -> None:
    """The finding has the rule, and the number or the reason."""
    rule, words = TOLD[kind]
    model = spoilt.Drawn(77, tmp_path)
    model.dtype = "BF16"
    spoilt.DAMAGED[kind](model)
    if not hasattr(model, "path"):
        model.save()
    findings = [each for checked in audit([tmp_path], data=True).checkpoints for each in checked.findings]
    assert any(each.rule == rule and words in each.message for each in findings), findings


def test_without_data_nothing_is_read(tmp_path: Path) -> None:
    """NaN does not show in headers."""
    result = audit([spoilt.make("nan", 1, tmp_path)])
    assert [finding.rule for model in result.checkpoints for finding in model.findings] == []


def test_one_pass_hashes_and_looks(tmp_path: Path, inspect: Run) -> None:
    """The checksum is that of the file, and errors in its numbers are found in the same pass."""
    spoilt.make("nan", 3, tmp_path)
    weights = tmp_path / "model.safetensors"
    (tmp_path / "SHA256SUMS").write_text(f"{hashlib.sha256(weights.read_bytes()).hexdigest()} *model.safetensors\n")
    ran = inspect("audit", tmp_path, "--data", "--checksum", "--json")
    assert ran.code == 1
    assert [finding["rule"] for finding in ran.json["checkpoints"][0]["findings"]] == ["not-finite"]
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64} *model.safetensors\n")
    ran = inspect("audit", tmp_path, "--data", "--checksum", "--json")
    assert {finding["rule"] for finding in ran.json["checkpoints"][0]["findings"]} == {"not-finite", "checksum"}


def test_every_byte_is_read_once(tmp_path: Path) -> None:
    """Tensors without hashing, the whole file with it; faults at the ends of pieces within a tensor are found."""
    values = np.random.default_rng(2).normal(0, 0.02, (3, PIECE // 4)).astype("<f4")
    values[1, -1] = np.nan
    values[2, 0] = np.inf
    path = tmp_path / "model.safetensors"
    spoilt.safetensors(path, {"a.weight": values, "b.weight": values[:1] * 2})
    checkpoint, place = opened(path), place_of(str(path))
    plain = measure(checkpoint.files, place.open)
    assert plain.bytes_read == 4 * PIECE
    facts = plain.facts["model.safetensors", "a.weight"]
    assert (facts.numbers, facts.nan, facts.inf, facts.first_odd) == (3 * PIECE // 4, 1, 1, PIECE // 2 - 1)
    assert facts.largest == np.abs(values[np.isfinite(values)]).max()
    hashed = measure(checkpoint.files, place.open, hashed=["model.safetensors"])
    assert hashed.bytes_read == path.stat().st_size
    assert hashed.digests == {"model.safetensors": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert hashed.facts == plain.facts
    place.close()


_RECORDED = Path(spoilt.__file__).parents[2] / "fixtures" / "gguf_blocks.jsonl"
BLOCKS = [json.loads(line) for line in _RECORDED.read_text().splitlines()]


@every("blocks", BLOCKS, ids=[each["type"] for each in BLOCKS])
def test_blocks_are_refused_as_by_llama_cpp(blocks: dict[str, Any]) -> None:
    """Of each type, the blocks that `--check-tensors` accepts and those that it refuses."""
    for verdict in ("taken", "refused"):
        for block in blocks[verdict]:
            facts = facts_of(np.frombuffer(bytes.fromhex(block), np.uint8), blocks["type"], 0, 0)
            assert bool(facts.nan or facts.inf or facts.minus_inf) == (verdict == "refused")


@pytest.mark.parametrize(("rule", "met"), [("value-scale", False), ("not-finite", False), ("truncated", True)])
def test_no_verdict_on_opening_from_values(rule: Code, met: bool) -> None:
    """llama.cpp looks at numbers only with `--check-tensors`: it opens a file whatever they are."""
    assert verdicts._is_met(Finding(rule, "error", "", "m.gguf")) is met
