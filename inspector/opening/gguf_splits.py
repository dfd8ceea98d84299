"""A GGUF that is split into files: checks across its parts.

Written by llama.cpp's `gguf-split`: `split.no` counts from 0, file names from 1; `split.tensors.count` counts all
parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from inspector.model import Finding, Header
from inspector.units import integer, plural


def check(files: Sequence[Header]) -> tuple[Finding, ...]:
    """Parts that are missing, duplicated or from another split, and tensors that are missing or duplicated."""
    return tuple(_findings(files))


def _findings(files: Sequence[Header]) -> Iterator[Finding]:
    first = files[0]
    counts = {header.path: _number(header, "split.count") for header in files}
    for path, count in counts.items():
        if count != counts[first.path]:
            what = (
                f"split.count is {count if count is not None else 'absent'}, and {counts[first.path]} in {first.path}"
            )
            yield Finding("split-count", "error", what, path)
    numbers = Counter(_number(header, "split.no") for header in files)
    for number, times in numbers.items():
        if number is not None and times > 1:
            yield Finding("split-number", "error", f"{times} files have split.no {number}", first.path)
    total = counts[first.path]
    if len(files) > 1 and total is not None and len(files) < total <= len(files) + 100_000:
        absent = [number + 1 for number in range(total) if number not in numbers]
        listed = ", ".join(map(integer, absent[:8])) + ("…" if len(absent) > 8 else "")
        yield Finding(
            "missing-part", "error", f"{plural(len(absent), 'part')} of {total} missing: {listed}", first.path
        )
    if (total or 0) < len(files) and len(files) > 1:
        said = f"split.count is {'absent' if total is None else integer(total)}"
        yield Finding("split-count", "error", f"{said}, but there are {integer(len(files))} parts", first.path)
    yield from _tensors(files, total)


def _tensors(files: Sequence[Header], total: int | None) -> Iterator[Finding]:
    names = Counter(tensor.name for header in files for tensor in header.tensors)
    stated = _number(files[0], "split.tensors.count")
    if len(files) == total and stated is not None and stated != names.total():
        what = f"split.tensors.count says {plural(stated, 'tensor')}; the parts have {integer(names.total())}"
        yield Finding("split-tensors", "error", what, files[0].path)
    for header in files:
        twice = sum(names[tensor.name] > 1 for tensor in header.tensors)
        if twice:
            what = f"{plural(twice, 'tensor')} of this part are in several parts"
            yield Finding(
                "split-duplicate", "error", what, header.path, next(t.name for t in header.tensors if names[t.name] > 1)
            )


def _number(header: Header, key: str) -> int | None:
    value = header.metadata.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
