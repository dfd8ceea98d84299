"""A model's memory, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from inspector.report import verdict
from inspector.report.columns import table
from inspector.report.documents import SCHEMA, fields, finding
from inspector.report.pages import parts
from inspector.report.pages.parts import Findings, Mood, Page, Section, Table, Text
from inspector.report.tables import Rows, columns
from inspector.report.words import public
from inspector.sizing.memory import Memory
from inspector.sizing.placement import Placed
from inspector.sizing.verdict import verdict_of
from inspector.units import count, decimal, escape, integer, plural, ranges, size

if TYPE_CHECKING:
    from inspector.sizing.training import Training


def lines(result: Memory, swept: Sequence[Memory] = (), *, full: bool = False) -> Iterator[str]:
    """`inspect memory TARGET`: the verdict first.

    Args:
        full: with exact bytes, each group of layers, all findings and assumptions.
    """
    found = verdict_of(result)
    yield verdict.sentence(result, found)
    yield identity(result)
    yield ""
    if full:
        yield from _in_full(result)
    elif not result.training:
        yield verdict.over_contexts(result, found)
    for block in (verdict.help_lines(result, found), verdict.others(result, found)):
        yield from _below(block)
    if swept:
        yield from ("", _sweep(swept))
    if result.training:
        yield from (*([""] if full else []), *_training(result.training, full=full))
    reported = [each for each in result.findings if full or each.severity != "info"]
    yield from _below(f"{each.severity}: {escape(each.message, 300)}" for each in reported)
    if full:
        yield from _below(f"assumed: {escape(each)}" for each in assumptions(result))
    else:
        yield "more: --full (exact bytes, each layer, assumptions), --sweep, inspect quants"


def _below(lines: Iterable[str]) -> Iterator[str]:
    """Lines below an empty one, if there are any."""
    for number, line in enumerate(lines):
        if number == 0:
            yield ""
        yield line


def _in_full(result: Memory) -> Iterator[str]:
    yield table(term_rows(result), ("", "bytes", "", ""), "lrll")
    if result.held:
        yield ""
        yield table(held_rows(result), HELD_HEADERS, "lrrrl")
    yield from growth_lines(result)
    if (parts := result.touched) is not None:
        own = " + ".join(f"{decimal(each.nbytes)} {each.name}" for each in parts if each.nbytes)
        yield f"resident on this machine's CPU: {decimal(sum(each.nbytes for each in parts))} = {own}"
    if result.devices:
        yield ""
        yield from _devices(result)


def identity(result: Memory) -> str:
    """Model, engine, context."""
    request, model = result.request, result.model
    family = model.prediction.family if model.prediction else "unknown architecture"
    named = (model.prediction and model.config and model.config.model_type) or family
    made_for = f", made for {integer(model.context)} tokens" if model.context and model.kept != () else ""
    several = f", {plural(request.sequences, 'sequence')}" if request.sequences > 1 else ""
    return f"{escape(model.target, 80)}: {escape(named, 40)}, {result.engine.name}{made_for}{several}"


def term_rows(result: Memory) -> Iterator[tuple[str, str, str, str]]:
    """Weights, cache, activations and their total: exact bytes, readable bytes, and the type."""
    yield "weights", integer(result.weights.nbytes), size(result.weights.nbytes), escape(result.weights.dtype, 40)
    if result.cache is None:
        yield "cache", "unknown", "", ""
    else:
        yield "cache", integer(result.cache), size(result.cache), verdict.cached(result)
    if result.activations:
        nbytes = result.activations.nbytes
        yield "activations", integer(nbytes), size(nbytes), verdict.reserved(result)
    for each in result.other:
        yield each.name, integer(each.nbytes), size(each.nbytes), ""
    yield "total", integer(result.total), size(result.total), "" if result.cache is not None else "without the cache"


HELD_HEADERS = ("cache of", "layers", "tokens", "bytes", "kept per layer, for each token or sequence")


def held_rows(result: Memory) -> Iterator[tuple[str, str, str, str, str]]:
    """The cache, one row per group of equal layers."""
    for each in result.held or ():
        tokens = integer(each.tokens) if each.tokens else "state"
        yield f"{each.kind} {escape(each.dtype, 40)}", ranges(each.layers), tokens, integer(each.nbytes), each.formula


def growth_lines(result: Memory) -> Iterator[str]:
    """The cost of one more token, and the bytes it reads."""
    if result.model.kept == ():
        return
    read = result.weights.read
    if result.held is not None:
        yield f"one more token of each sequence: {integer(result.growth)} bytes of cache"
    line = f"generating one token reads {integer(read)} bytes of weights ({decimal(read)})"
    prediction = result.model.prediction
    if prediction and prediction.active != prediction.parameters:
        line += f", {count(prediction.active)} of {count(prediction.parameters)} parameters"
    yield line


def _devices(result: Memory) -> Iterator[str]:
    yield table([device_row(each) for each in result.devices], DEVICE_HEADERS, "lrrrrlrr")
    for each in result.devices:
        if each.layers_offloaded is not None:
            yield f"-ngl {each.layers_offloaded}: the layers that fit on {each.device.name if each.device else ''}"
    bound = tokens_a_second(result)
    if bound:
        yield f"at most {integer(bound)} tokens per second for one sequence: bandwidth ÷ bytes read, an upper bound"


DEVICE_HEADERS = ("device", "weights", "cache", "activations", "left", "fits", "longest context", "most sequences")


def device_row(each: Placed) -> tuple[str, ...]:
    """One device: what is on it, what is free, what else would fit."""
    name = escape(each.device.name, 30) if each.device else "each"
    cache = "unknown" if each.cache is None else decimal(each.cache)
    left = "" if each.room is None else decimal(each.room - each.nbytes)
    verdict = {None: "", True: "yes", False: "no"}[each.fits]
    parts = (integer(number) if number else "–" for number in (each.longest_context, each.most_sequences))
    return (name, decimal(each.weights), cache, decimal(each.activations), left, verdict, *parts)


def tokens_a_second(result: Memory) -> int | None:
    """Bandwidth ÷ bytes that one token reads: an upper bound for any engine. None if either is unknown."""
    named = [each.device for each in result.devices if each.device]
    if not named or any(each.bandwidth is None for each in named):
        return None
    reads = result.weights.read + (result.cache or 0) // result.request.sequences
    rate = min(each.bandwidth or 0 for each in named) * result.request.tp
    return rate // reads if reads else None


def _sweep(swept: Sequence[Memory]) -> str:
    headers, rows = _grid(swept)
    return table(rows, headers, "r" * len(headers))


def _grid(swept: Sequence[Memory]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A row for each context and a column for each type of cache: what it takes, and whether that fits."""
    kinds = list(dict.fromkeys(each.request.keys.name for each in swept))
    by_context: dict[int, dict[str, str]] = {}
    for each in swept:
        verdict = {None: "", True: " fits", False: " no"}[each.fits]
        by_context.setdefault(each.request.context, {})[each.request.keys.name] = decimal(each.total) + verdict
    rows = [(integer(tokens), *(cells.get(kind, "") for kind in kinds)) for tokens, cells in by_context.items()]
    return ("total, at context", *kinds), rows


def _training(training: Training, *, full: bool) -> Iterator[str]:
    yield table(training_rows(training), ("training, per device", "bytes", "", ""), "lrll")
    yield from (f"assumed: {each}" for each in training.assumes if full)


def training_rows(training: Training) -> list[tuple[str, str, str, str]]:
    """Memory for training, term by term, and the total."""
    terms = [(term, getattr(training, term), training.formulas[term]) for term in _TERMS]
    rows = [(term, integer(nbytes), size(nbytes), how) for term, nbytes, how in terms if nbytes is not None]
    total = ("total", integer(training.total), size(training.total), f"{integer(training.trained)} parameters trained")
    return [*rows, total]


_TERMS = ("weights", "gradients", "optimizer", "master", "activations")


def assumptions(result: Memory) -> Iterator[str]:
    """The assumptions behind the numbers, one line each."""
    yield from result.weights.assumes
    yield from result.engine.assumes if result.model.kept != () else ()
    if any(each.kind == "cross" for each in result.held or ()):
        yield f"{integer(result.request.source)} tokens of encoder or image output (--source)"
    if result.activations:
        yield from (f"activations: {each}" for each in result.activations.assumes)
    elif result.engine.graphs:
        yield f"no activations: what {result.engine.name} reserves for this architecture is not known"
    if any(each.device for each in result.devices):
        yield "512 MiB on each device for driver and kernels"
    nominal = dict.fromkeys(each.device.name for each in result.devices if each.device and each.device.nominal)
    if nominal:
        yield f"memory of {', '.join(nominal)} is from the data sheet: a driver may report a few percent less"


def document(result: Memory, swept: Sequence[Memory] = ()) -> dict[str, Any]:
    """`inspect memory TARGET --json`."""
    model, request = result.model, result.request
    whole = {
        "schema": SCHEMA,
        "target": model.target,
        "architecture": {
            "family": model.prediction.family if model.prediction else None,
            "model_type": model.config.model_type if model.config else None,
            "class": model.config.architecture if model.config else None,
        },
        "engine": result.engine.name,
        "context": request.context,
        "context_made_for": model.context,
        "sequences": request.sequences,
        "weights": fields(result.weights, "bytes=nbytes dtype read_for_one_token=read"),
        "cache": _cache(result),
        "activations": _activations(result),
        "other": [fields(each, "name bytes=nbytes") for each in result.other],
        "total": result.total,
        "touched": _touched(result),
        "devices": [_device_document(each) for each in result.devices],
        "tensor_parallel": request.tp,
        "pipeline_parallel": result.pipeline,
        "tokens_a_second_at_most": tokens_a_second(result),
        "fits": result.fits,
        "verdict": verdict.document(result, verdict_of(result)),
        "training": _training_document(result.training),
        "findings": [finding(each) for each in result.findings],
        "assumes": list(assumptions(result)),
    }
    return whole if not swept else {**whole, "sweep": [_swept(each) for each in swept]}


def _cache(result: Memory) -> dict[str, Any]:
    keys, values = result.request.keys.name, result.request.values.name
    return {
        "bytes": result.cache,
        "dtype": keys if keys == values else f"{keys},{values}",
        "confirmed": result.cache is not None and result.confirmed,
        "bytes_next_token": None if result.held is None else result.growth,
        "unknown": result.model.unknown or None,
        "layers": [
            {"layers": list(each.layers), **fields(each, "kind tokens bytes=nbytes dtype formula")}
            for each in result.held or ()
        ],
    }


def _activations(result: Memory) -> dict[str, Any] | None:
    found = result.activations
    if found is None:
        return None
    return {
        **fields(found, "bytes=nbytes engine_version=version eager_attention=eager"),
        "basis": "asked" if result.engine.asked else "rule",
        "assumes": list(found.assumes),
    }


def _touched(result: Memory) -> dict[str, Any] | None:
    parts = result.touched
    if parts is None:
        return None
    return {"bytes": sum(each.nbytes for each in parts), "parts": [fields(each, "name bytes=nbytes") for each in parts]}


def _device_document(each: Placed) -> dict[str, Any]:
    return {
        "name": each.device.name if each.device else None,
        **fields(each, "bytes=nbytes fits longest_context most_sequences layers_offloaded"),
        "memory": each.device.nbytes if each.device else None,
        **fields(each, "usable=room weights cache activations"),
    }


def _training_document(training: Training | None) -> dict[str, Any] | None:
    if training is None:
        return None
    terms = fields(training, f"{' '.join(_TERMS)} total parameters=trained")
    return {**terms, "formulas": dict(training.formulas), "assumes": list(training.assumes)}


#: Columns of a sweep, with one row per context and type of cache.
COLUMNS = columns("context:uint64 cache_dtype cache:uint64 total:uint64 fits:bool")


def rows(swept: Sequence[Memory]) -> Rows:
    """One row per context and type of cache."""
    return Rows(COLUMNS, [_swept(each) for each in swept])


def row(result: Memory) -> Rows:
    """One row, in the columns of a sweep."""
    return rows((result,))


def _swept(each: Memory) -> dict[str, Any]:
    own = {"context": each.request.context, "cache_dtype": each.request.keys.name}
    return {**own, **fields(each, "cache total fits")}


# --- the page ----------------------------------------------------------------------------------------

_MOODS: dict[bool | None, Mood] = {True: "good", False: "bad", None: "plain"}


def page(result: Memory, swept: Sequence[Memory] = ()) -> Page:
    """`inspect memory TARGET --html FILE`: the memory for running or training a model."""
    result = result._replace(model=result.model._replace(target=public(result.model.target)))
    found = verdict_of(result)
    return Page(
        f"Memory of {result.model.target}",
        verdict.sentence(result, found),
        list(_sections(result, swept)),
        (identity(result), *growth_lines(result)),
        _MOODS[True if not result.training and found.choice and found.choice.longest else found.fits],
    )


def _sections(result: Memory, swept: Sequence[Memory]) -> Iterator[Section]:
    from inspector.plots import cache_lines  # for a page alone

    terms = (parts.Column("what"), parts.Column("bytes", "number"), parts.Column("size"), parts.Column("type"))
    yield Section("Memory", [Table("Weights, cache, activations", terms, list(term_rows(result)))])
    if result.devices:
        devices = list(map(device_row, result.devices))
        yield Section("Devices", [Table("Contents of each device", _page_columns(DEVICE_HEADERS), devices)])
    yield Section("By context length", [cache_lines.chart(result)])
    if result.held:
        yield Section("Cache", [Table("Cache per layer", _page_columns(HELD_HEADERS), list(held_rows(result)))])
    if swept:
        headers, grid = _grid(swept)
        columns = [parts.Column(header, "number") for header in headers]
        yield Section("Context lengths and cache types", [Table("In total, by type of cache", columns, grid)])
    if result.training:
        assumes = Text([f"Assumed: {each}" for each in result.training.assumes])
        columns = _page_columns(("what", "bytes", "size", "how"))
        yield Section("Training", [Table("Per device", columns, training_rows(result.training)), assumes])
    assumed = Text([f"Assumed: {each}" for each in assumptions(result)])
    found = [Findings(result.findings)] if result.findings else []
    yield Section("Findings and assumptions" if found else "Assumptions", [*found, assumed])


def _page_columns(headers: Sequence[str]) -> list[parts.Column]:
    numeric = ("bytes", "tokens", "longest context", "most sequences")
    return [parts.Column(header, "number" if header in numeric else "text") for header in headers]
