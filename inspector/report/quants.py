"""A model in each quantization, as text and as a document: the answer first, then the sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.report.columns import table
from inspector.report.documents import SCHEMA
from inspector.report.tables import Rows, columns
from inspector.sizing.memory import USUAL_CONTEXT
from inspector.sizing.quants import Quant, Quants
from inspector.units import bits, decimal, escape, integer

#: What the text lists unless all are requested: one screen of those that are commonly published.
USUAL = frozenset({
    "IQ2_M", "Q2_K", "IQ3_M", "Q3_K_M", "IQ4_XS", "Q4_0", "Q4_K_S", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16", "nf4",
    "gptq-4bit", "int8",
})  # fmt: skip
#: Bytes of a GGUF's tokenizer for each token: a vocabulary with scores, and one with merges.
TOKEN = (23, 61)


def lines(result: Quants, *, everything: bool = False) -> Iterator[str]:
    """`inspect quants TARGET`: one screen, or, with `--all`, each of them and its exact bytes."""
    yield answer(result)
    yield ""
    shown = [each for each in result.quants if everything or each.name in USUAL or each is result.best]
    exact = ("bytes",) * everything
    headers = ("", *exact, "size", "bits", *(("in memory", "fits") if result.devices else ()), "")
    rows = [
        (name, *[integer(each.nbytes)] * everything, *cells)
        for each in shown
        for name, *cells in (_cells(each, result),)
    ]
    yield table(rows, headers, "l" + "r" * len(exact) + "rl" + "rl" * bool(result.devices) + "l")
    yield from (f"{escape(each, 200)}" for each in result.notes)
    left = len(result.quants) - len(shown)
    more = "" if everything else f"; {left} more, to the byte: --all" if left else "; to the byte: --all"
    yield f"size: {includes(result)}{more}"


def answer(result: Quants) -> str:
    """The largest that fits; without devices, the sizes of two usual ones."""
    target = escape(result.target, 60)
    if result.devices is None:
        named = {each.name: each for each in result.quants}
        usual = [named[name] for name in ("Q4_K_M", "Q8_0", "nf4", "int8") if name in named][:2]
        sizes = ", ".join(f"{each.name} is {decimal(each.nbytes)}" for each in usual)
        return f"{target}: {sizes}; --gpu says which fit"
    held = next((each.memory for each in result.quants if each.memory), None)
    where = f"{escape(result.devices, 40)} at {integer(held.request.context) if held else '?'} tokens"
    best = result.best
    if best is None and held and any(each.fits is None for each in result.quants):
        return f"{target}: which fit {where} is unknown: {escape(held.model.unknown, 100)}"
    if best is None and (shorter := _with_less(result)):
        each, tokens = shorter
        return f"{target}: none fits {where}; {each.name}, {decimal(each.nbytes)}, up to {integer(tokens)}"
    if best is None:
        least = min((each for each in result.quants if each.memory), key=lambda each: each.memory.total)  # type: ignore[union-attr]
        return f"{target}: none fits {where}; the smallest, {least.name}, takes {decimal(_total(least) or 0)}"
    return f"{target}: the largest that fits {where}: {best.name}, {decimal(best.nbytes)}"


def _with_less(result: Quants) -> tuple[Quant, int] | None:
    """The largest of llama.cpp's that holds a usual context, and the longest that it does."""
    held = ((each, each.memory.devices) for each in result.quants if each.memory and each.advised)
    fitting = [(each, min(one.longest_context or 0 for one in devices)) for each, devices in held if devices]
    return max((each for each in fitting if each[1] >= USUAL_CONTEXT), key=lambda each: each[0].nbytes, default=None)


def includes(result: Quants) -> str:
    """What the sizes are of."""
    if result.whole:
        return "of the whole file, as llama.cpp's quantizer writes it"
    if not result.vocabulary:
        return "of the tensors"
    least, most = (decimal(result.vocabulary * each) for each in TOKEN)
    return f"of the tensors; a GGUF's tokenizer adds about {least} to {most}"


def _cells(each: Quant, result: Quants) -> tuple[str, ...]:
    verdict: tuple[str, ...] = ()
    if result.devices:
        total = _total(each)
        word = {True: "yes", False: "no", None: "unknown"}[each.fits]
        verdict = ("" if total is None else decimal(total), word)
    notes = [
        *(("largest that fits",) if each is result.best else ()),
        *(("needs an imatrix",) if each.weighted else ()),
    ]
    by = () if each.by == "llama.cpp" else (each.by,)
    return (each.name, decimal(each.nbytes), bits(each.bits), *verdict, ", ".join([*notes, *by]))


def _total(each: Quant) -> int | None:
    return each.memory.total if each.memory else None


def document(result: Quants) -> dict[str, Any]:
    """`inspect quants TARGET --json`."""
    best = result.best
    return {
        "schema": SCHEMA,
        "target": result.target,
        "answer": answer(result),
        "bytes_include": includes(result),
        "largest_that_fits": best.name if best else None,
        "devices": result.devices,
        "context": next((each.memory.request.context for each in result.quants if each.memory), None),
        "notes": list(result.notes),
        "quants": [
            {**_row(each), "types": [{"dtype": k.dtype, "tensors": k.tensors, "bytes": k.nbytes} for k in each.kinds]}
            for each in result.quants
        ],
    }


COLUMNS = columns("name bytes:uint64 bits_per_weight:double by needs_imatrix:bool memory:uint64 fits:bool")


def rows(result: Quants) -> Rows:
    """One row per quantization."""
    return Rows(COLUMNS, [_row(each) for each in result.quants])


def _row(each: Quant) -> dict[str, Any]:
    return {
        "name": each.name,
        "bytes": each.nbytes,
        "bits_per_weight": round(each.bits, 4),
        "by": each.by,
        "needs_imatrix": each.weighted,
        "memory": _total(each),
        "fits": each.fits,
    }
