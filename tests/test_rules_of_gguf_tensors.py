"""The audit of a GGUF's tensors. llama.cpp (xllamacpp 2026.10) refuses or aborts on each faulty file, and loads each
near miss.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rule_words
from every import every
from hostile.files import gguf

import inspector

#: One block of Llama, dimensions as in the file: the fastest first.
TENSORS = {
    "token_embd.weight": [32, 8],
    "output_norm.weight": [32],
    "output.weight": [32, 8],
    "blk.0.attn_norm.weight": [32],
    "blk.0.attn_q.weight": [32, 32],
    "blk.0.attn_k.weight": [32, 16],
    "blk.0.attn_v.weight": [32, 16],
    "blk.0.attn_output.weight": [32, 32],
    "blk.0.ffn_norm.weight": [32],
    "blk.0.ffn_gate.weight": [32, 48],
    "blk.0.ffn_up.weight": [32, 48],
    "blk.0.ffn_down.weight": [48, 32],
}
KEYS = {
    "general.architecture": "llama",
    "llama.context_length": 64,
    "llama.embedding_length": 32,
    "llama.block_count": 1,
    "llama.feed_forward_length": 48,
    "llama.attention.head_count": 2,
    "llama.attention.head_count_kv": 1,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.dimension_count": 16,
    "llama.vocab_size": 8,
    "tokenizer.ggml.model": "none",
}
F16, BF16, Q8_0, I8, I32, F64 = 1, 30, 8, 24, 26, 28


def model(tensors: dict[str, list[int]] | None = None, **changes: Any) -> dict[str, Any]:
    return {"m.gguf": gguf(KEYS, TENSORS | (tensors or {}), **changes)}


@every(
    ("code", "files", "expected"),
    [
        ("gguf-dimensions", model(), []),
        ("gguf-dimensions", model({"blk.0.attn_k.weight": [16, 32]}), ["m.gguf: error: its dimensions are 32×16, but should be 16×32"]),
        ("gguf-dimensions", model({"blk.0.attn_q.weight": [1, 32, 32]}), ["m.gguf: error: its dimensions are 32×32×1, but should be 32×32"]),
        ("gguf-dimensions", model({"blk.0.attn_q.weight": [32, 32, 1]}), []),
        ("gguf-dimensions", model({"blk.0.ffn_norm.weight": [1, 32]}), ["m.gguf: error: its dimensions are 32×1, but should be 32"]),
        ("gguf-dimensions", model({"blk.0.ffn_norm.weight": [32, 1]}), []),
        ("gguf-dimensions", model({"blk.0.attn_k.weight": [32, 24]}), []),  # another size: reported by the rule `shape`
        ("gguf-weight-type", model(), []),
        ("gguf-weight-type", model(kinds={"blk.0.ffn_norm.weight": F16}), ["m.gguf: error: a norm or another vector in F16: llama.cpp computes with it only in F32"]),
        ("gguf-weight-type", model(kinds={"output_norm.weight": Q8_0}), ["m.gguf: error: a norm or another vector in Q8_0: llama.cpp computes with it only in F32"]),
        ("gguf-weight-type", model({"blk.0.attn_q.bias": [32]}, kinds={"blk.0.attn_q.bias": BF16}), ["m.gguf: error: a bias in BF16: llama.cpp computes with it only in F32"]),
        ("gguf-weight-type", model(kinds={"blk.0.attn_q.weight": I8, "blk.0.attn_k.weight": I8}), ["m.gguf: error: weights in I8, with which llama.cpp does not compute, and 1 tensor like it"]),
        ("gguf-weight-type", model(kinds={"blk.0.ffn_up.weight": F64}), ["m.gguf: error: weights in F64, with which llama.cpp does not compute"]),
        ("gguf-weight-type", model(kinds={"token_embd.weight": I8}), ["m.gguf: error: weights in I8, with which llama.cpp does not compute"]),
        ("gguf-weight-type", model(kinds={"output.weight": I32}), ["m.gguf: error: weights in I32, with which llama.cpp does not compute"]),
        ("gguf-weight-type", model(kinds={"blk.0.attn_q.weight": F16, "output.weight": BF16, "token_embd.weight": Q8_0}), []),
        ("gguf-weight-type", model({"blk.0.ffn_gate_tid2eid.weight": [4, 8]}, kinds={"blk.0.ffn_gate_tid2eid.weight": I32}), []),
        ("gguf-alignment", model(), []),
        ("gguf-tensors", model({"blk.0.ffn_down.bias": [32]}), []),
        ("gguf-tensors", model({"blk.0.attn_norm.bias": [32]}), ["m.gguf: error: 1 tensor that llama.cpp does not load"]),
        ("gguf-tensors", model({"token_embd.bias": [32]}), ["m.gguf: error: 1 tensor that llama.cpp does not load"]),
    ],
)  # fmt: skip
def test_tensors(code: str, files: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == expected


def test_alignment(tmp_path: Path) -> None:
    """Each 8 bytes more of a name move the data by 8: of four files in a row, one begins at a multiple of 32."""
    reported = []
    for length in (8, 16, 24, 32):
        file = gguf({**KEYS, "general.alignment": 8, "general.name": "x" * length}, TENSORS)
        folder = tmp_path / str(length)
        folder.mkdir()
        reported.append(rule_words.lines("gguf-alignment", {"m.gguf": file}, folder))
    (silent,) = [at for at, lines in enumerate(reported) if not lines]
    assert all(lines[0].endswith("which is not a multiple of 32") for at, lines in enumerate(reported) if at != silent)


def test_bias_in_one_block(tmp_path: Path) -> None:
    """llama.cpp loads a bias in any block: it is a warning that other blocks lack it."""
    blocks = {name.replace("blk.0", "blk.1"): dims for name, dims in TENSORS.items() if name.startswith("blk.0")}
    file = gguf({**KEYS, "llama.block_count": 2}, {**TENSORS, **blocks, "blk.1.attn_output.bias": [32]})
    (tmp_path / "m.gguf").write_bytes(file)
    (audited,) = inspector.audit([tmp_path]).checkpoints
    assert [(each.rule, each.severity) for each in audited.findings if each.rule == "missing"] == [
        ("missing", "warning")
    ]
    assert [each.accepts for each in audited.verdicts if each.reader == "llama.cpp"] == [True]


def test_head_of_another_size(tmp_path: Path) -> None:
    """Fewer rows than the embedding has are an error, whatever a loader checks."""
    (tmp_path / "m.gguf").write_bytes(gguf(KEYS, {**TENSORS, "output.weight": [32, 6]}))
    (audited,) = inspector.audit([tmp_path]).checkpoints
    assert ("vocab-padding", "error") in {(each.rule, each.severity) for each in audited.findings}
