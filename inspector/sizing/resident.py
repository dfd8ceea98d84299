"""What a process of llama.cpp really keeps in memory when it runs on the CPU alone.

Weights are mapped from the file, which the system reads in whole; matrices of some types are copied in another order
("CPU_REPACK") while their pages stay; caches are cleared, and so touched at once; buffers are touched by the first
batches. A vocabulary takes more than its text.

Sources: `ggml_repack_get_optimal_repack_type` of ggml-cpu/repack.cpp, the operations of llama-arch.cpp, and
`llama_kv_cache` of b11549. `fixtures/resident_llama_cpp.jsonl` has what processes took, and
`tools/llama_cpp/resident_cases.py` measures again.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping

from inspector.formats.gguf.values import KeyValues
from inspector.model import Reconciliation, Tensor

#: Type → instructions of the CPU → rows that its backend takes at a time. Builds for AVX-512, which no published
#: package is, copy Q2_K, too.
REPACKED: Mapping[str, Mapping[str, int]] = {
    "Q4_0": {"avx2": 8, "neon": 4},
    "Q4_K": {"avx2": 8, "neon": 8},
    "IQ4_NL": {"avx2": 8, "neon": 4},
    "MXFP4": {"avx2": 8, "neon": 4},
    "Q5_K": {"neon": 8},
    "Q6_K": {"neon": 8},
    "Q8_0": {"neon": 4},
    "Q1_0": {"neon": 4},
}
#: A matrix product's too, if there is no head.
EMBEDDING = "token_embd.weight"
#: Matrices of which rows are looked up, or that are not a matrix product's.
_LOOKED_UP = re.compile(
    r"(token_embd|position_embd|token_types|per_layer_token_embd|d2t)\.|attn_rel_b|cross_attn_rel|_ape\.|tid2eid|"
    r"conv|nextn\.embed_tokens|centroid|ordering|markov_w1|selector_(prev|next)|\.bias$"
)
_EXPERTS = re.compile(r"_(ch)?exps\.")
#: Bytes for each token, and each merge of two, of a vocabulary: texts, two tables that find them, and their pieces; and
#: for each token of a unigram model, whose trie finds them. Measured: 18 of the first kind take 216 to 248.
TOKEN, UNIGRAM_TOKEN = 230, 590


def instructions() -> str:
    """The instructions of this machine's CPU for which matrices are copied: "neon" or "avx2"."""
    return "neon" if platform.machine().lower() in ("arm64", "aarch64") else "avx2"


def _is_repacked(tensor: Tensor, cpu: str, *, tied: bool) -> bool:
    """Whether the CPU's backend copies it: a matrix, or a stack of experts', with whole groups of rows."""
    rows = REPACKED.get(tensor.dtype, {}).get(cpu, 0)
    product = not _LOOKED_UP.search(tensor.name) or (tied and tensor.name == EMBEDDING)
    dimensions = 3 if _EXPERTS.search(tensor.name) else 2
    return bool(rows) and product and len(tensor.shape) == dimensions and tensor.shape[-2] % rows == 0


def mapped_and_repacked(result: Reconciliation, cpu: str) -> tuple[int, int]:
    """Bytes of the file that stay mapped, and of matrices that the CPU's backend copies in another order.

    A file stays mapped from the first tensor to the last one that is used where it is.
    """
    tied = not any(each.tensor.name == "output.weight" for each in result.tensors)
    spans: dict[str, tuple[int, int]] = {}
    copied = 0
    for each in result.tensors:
        tensor = each.tensor
        if _is_repacked(tensor, cpu, tied=tied):
            copied += tensor.nbytes
            if tensor.name != EMBEDDING:
                continue
        first, last = spans.get(each.file, (tensor.offset, 0))
        spans[each.file] = min(first, tensor.offset), max(last, tensor.offset + tensor.nbytes)
    return sum(last - first for first, last in spans.values()), copied


def vocabulary(result: Reconciliation) -> int:
    """Bytes that the tokenizer takes, about."""
    total = 0
    for file in result.checkpoint.files[:1]:
        if isinstance(file.metadata, KeyValues):
            fields = file.metadata.fields
            tokens, merges = (_length(fields, f"tokenizer.ggml.{name}") for name in ("tokens", "merges"))
            each = UNIGRAM_TOKEN if file.metadata.get("tokenizer.ggml.model") == "t5" else TOKEN
            total += tokens * each + merges * TOKEN
    return total


def _length(fields: Mapping[str, object], key: str) -> int:
    return getattr(fields.get(key), "items", None) or 0


def parts_of(result: Reconciliation, cpu: str | None = None) -> Iterator[tuple[str, int]]:
    """Bytes that the weights' file takes in a process, by name: those that are not zero."""
    mapped, copied = mapped_and_repacked(result, cpu or instructions())
    named = ("mapped weights", mapped), ("repacked weights", copied), ("vocabulary", vocabulary(result))
    yield from (each for each in named if each[1])
