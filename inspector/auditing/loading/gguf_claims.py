"""Is a GGUF consistent? The keys that llama.cpp needs, and the quantization in its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from inspector.architectures import predicted_gguf
from inspector.auditing.loading.gguf_keys import by_hand, table
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.formats.gguf.types import FILE_TYPES
from inspector.model import Header
from inspector.quantization.scheme import FLOATS


@rule("gguf-keys", "consistent", "error")
def gguf_keys(subject: Subject) -> Iterator[Found]:
    """A GGUF lacks a key-value that llama.cpp needs, or states that its attention has no heads.

    Loading ends with an error or a division by zero. The converter was written for another architecture or version, or
    the key-values were edited: convert the model again.
    """
    files = [each for each in subject.all_headers if each.format == "gguf" and each.tensors]
    known = predicted_gguf() if files else frozenset()
    for header in files:
        architecture = header.metadata.get("general.architecture")
        if architecture not in known or header.metadata.get("general.type", "model") != "model":
            continue
        own = table()["architectures"].get(architecture, {}).get("needed", ())
        hand = by_hand()
        whole = tuple(hand["without_architecture"])
        needed = [key if key.startswith(whole) else f"{architecture}.{key}" for key in own or hand["needed"]]
        missing = [key for key in needed if key not in header.metadata]
        epsilons = [f"{architecture}.{key}" for key in hand["epsilons"]]
        if not own and not any(key in header.metadata for key in epsilons):
            missing.append(epsilons[0])
        for key in missing:
            yield Found(f"no {key}, which llama.cpp needs", header.path)
        heads = header.metadata.get(f"{architecture}.attention.head_count")
        if heads == 0 and any(".attn_q." in tensor.name for tensor in header.tensors):
            yield Found(f"{architecture}.attention.head_count is 0, but there are query projections", header.path)


@rule("gguf-name", "consistent", "warning")
def gguf_name(subject: Subject) -> Iterator[Found]:
    """A GGUF's name or its general.file_type states a different quantization than its tensors have.

    The file was renamed, or is another one: its quality and size are not what the name promises. In mixtures the type
    of most weights counts. Unpacked weights in a file with few tensors are not reported: such files are made for tests.
    """
    for header in subject.all_headers:
        if header.format != "gguf":
            continue
        names = _QUANTIZED.findall(header.path.rpartition("/")[2].upper())
        file_type = FILE_TYPES.get(header.metadata.get("general.file_type", -1))
        for where, named in (
            ("the name", names[:1] if len(set(names)) == 1 else []),
            ("general.file_type", [file_type]),
        ):
            if named and named[0] and (most := _other_type(named[0], header)):
                yield Found(f"{where} says {named[0]}, but most weights are {most}", header.path)
                break


#: Types in which models are trained: writers leave such experts unchanged, whatever the file's name.
_AS_TRAINED = frozenset({"MXFP4", "NVFP4"})
#: An unpacked file with fewer elements of weights may be anything.
_FEW = 1_000_000


def _other_type(named: str, header: Header) -> str | None:
    """The type of most weights, if its width differs from the named one; None if it matches, or may match."""
    counts, all_of_it = Counter[str](), 0
    block = 256 if "_K" in named or (named.startswith("IQ") and named != "IQ4_NL") else 32
    for tensor in header.tensors:
        if len(tensor.shape) > 1:
            all_of_it += tensor.elements
            if tensor.shape[-1] % block == 0:  # other rows use another type, whatever was requested
                counts[tensor.dtype] += tensor.elements
    most = counts.most_common(1)[0][0] if counts.total() * 2 > all_of_it else None
    if most is None or most in _AS_TRAINED:
        return None
    told, has = _bits_in_name(named), _bits_in_name(most)
    plain = most in FLOATS and counts.total() < _FEW
    return most if told and has and told != has and not plain and not _is_mixture(named, counts) else None


_QUANTIZED = re.compile(r"(?<![A-Z0-9])(I?Q\d_[A-Z0-9]+(?:_[A-Z]+)?|BF16|F16|F32)(?![A-Z0-9])")


def _bits_in_name(name: str) -> int | None:
    """Bits of a weight by a type's name: `Q4_K_M` 4, `F16` and `BF16` 16."""
    found = re.search(r"\d+", name)
    return int(found[0]) if found else None


def _is_mixture(named: str, counts: Counter[str]) -> bool:
    """Whether a fair share of the weights has the named width: mixtures use a bit or two more for some."""
    of_it = sum(number for dtype, number in counts.items() if _bits_in_name(dtype) == _bits_in_name(named))
    return of_it * 5 >= counts.total()
