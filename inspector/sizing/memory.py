"""Will it run, and how long a context fits? Weights, cache and activations on one device or several."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from inspector.architectures import library_asked
from inspector.architectures.scope import Scope
from inspector.errors import ConfigError, UsageError
from inspector.model import Finding
from inspector.sizing.engines import engine as engine_of
from inspector.sizing.engines.engine import Engine, Held, Request, growth
from inspector.sizing.engines.engine import on_devices as on_devices_of
from inspector.sizing.model import Beside, Model
from inspector.sizing.weights import Weights, as_declared, as_loaded, as_type, stored
from inspector.sizing.widths import WIDTHS, Width, width
from inspector.tabular import NamedTuple, Tabular
from inspector.units import TOKENS, decimal, escape, plural, written

if TYPE_CHECKING:
    from inspector.quantization.declaration import Declaration
    from inspector.sizing.devices import Device
    from inspector.sizing.engines.graphs import Buffers
    from inspector.sizing.placement import Placed
    from inspector.sizing.training import Plan, Training

#: The largest context, and the most sequences and devices, that are accepted.
MOST_TOKENS, MOST_SEQUENCES, MOST_DEVICES = 2**34, 2**20, 4096
#: The context if the configuration gives none, and the encoder's input.
USUAL_CONTEXT, USUAL_SOURCE = 4096, 1024
#: The name of this machine's own devices.
HERE = "here"
#: The first context of a sweep.
SHORTEST = 2048
#: Fields for the type of recurrent states, for engines that follow it.
_STATE_DTYPES = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")


class Activations(NamedTuple):
    """Peak bytes of intermediate results."""

    nbytes: int
    assumes: tuple[str, ...]
    version: str | None = None  # of the engine whose own reservation this is; None for an estimate
    eager: int | None = None  # bytes with Transformers' eager attention, which keeps whole score matrices


class Other(NamedTuple):
    """A further buffer of the engine's process."""

    name: str
    nbytes: int


class _Memory(NamedTuple):
    model: Model
    engine: Engine
    request: Request
    weights: Weights
    held: tuple[Held, ...] | None  # None if it is unknown what layers keep
    growth: int  # bytes for one more token of each sequence
    activations: Activations | None
    devices: tuple[Placed, ...]  # the fullest of several identical ones
    pipeline: int  # stages into which the layers are divided
    training: Training | None
    findings: tuple[Finding, ...]
    asked: bool  # whether the context was given
    other: tuple[Other, ...] = ()


class Memory(_Memory, Tabular):
    """The memory that a model needs."""

    __slots__ = ()

    def __repr__(self) -> str:
        terms = f"{decimal(self.total)} at {plural(self.request.context, 'token')} by {self.engine.name}"
        verdict = {True: ", fits", False: ", does not fit", None: ""}[self.fits]
        return f"<Memory {escape(self.model.target, 100)}: {terms}{verdict}>"

    @property
    def confirmed(self) -> bool:
        """Whether the cache was compared with the engine's own for models of this type."""
        return self.model.is_confirmed(self.engine.name)

    @property
    def cache(self) -> int | None:
        """Bytes of the whole cache, over all devices."""
        return sum(each.nbytes for each in self.held) if self.held is not None else None

    @property
    def total(self) -> int:
        """Weights, cache, activations and other buffers, as far as known."""
        known = self.weights.nbytes + (self.cache or 0) + sum(each.nbytes for each in self.other)
        return known + (self.activations.nbytes if self.activations else 0)

    @property
    def touched(self) -> tuple[Other, ...] | None:
        """What a process of llama.cpp keeps in memory on this machine's CPU, part by part; None if that is unknown."""
        result, found = self.model.result, self.activations
        if not self.engine.graphs or result is None or self.model.format != "gguf" or self.cache is None or not found:
            return None
        if self.weights.nbytes != stored(result).nbytes:
            return None  # others than the file's
        from inspector.sizing.resident import parts_of  # rarely needed

        used = self.engine._replace(
            all_outputs=False
        )  # what is reserved for outputs that nobody asks for is not touched
        computed = activations(self.model, used, self.request) or found
        parts = (*parts_of(result), ("cache", self.cache), ("activations", computed.nbytes))
        return (*(Other(*each) for each in parts), *self.other)

    @property
    def fits(self) -> bool | None:
        """Whether every device has room for its part; None if none was named, or the cache is unknown."""
        verdicts = [each.fits for each in self.devices]
        return None if not verdicts or None in verdicts else all(verdicts)


def size(
    model: Model,
    *,
    context: int | str | None = None,
    sequences: int | str = 1,
    cache_dtype: str | None = None,
    engine: str | None = None,
    weights: str | Weights | None = None,
    gpu: str | None = None,
    tp: int | str | None = None,
    pp: int | str | None = None,
    source: int | str | None = None,
    batch: int | str | None = None,
    flash_attention: bool = True,
    training: Plan | None = None,
) -> Memory:
    """The memory needed to run a model, or to train it: `inspector.memory`, with its arguments and errors.

    Args:
        weights: a type to load them in, instead of the stored one; or what they take.
    """
    length = _number("context", context, MOST_TOKENS)
    number = _number("sequences", sequences, MOST_SEQUENCES) or 1
    encoded = _number("source", source, MOST_TOKENS, least=0)  # 0: no encoder, no image
    batched = _number("batch", batch, MOST_TOKENS)
    named = _devices(_text("gpu", gpu))
    runs = engine_of(_text("engine", engine) or ("llama.cpp" if model.format == "gguf" else "transformers"))
    runs, model = on_devices_of(runs, named), model.run_by(runs)
    shared, stages = _division_among_devices(runs, named, tp, pp)
    heads = _first_positive(model.scope, "num_attention_heads n_head") if model.scope is not None else None
    divided = {each.heads: "key" for each in model.kept or () if each.heads and runs.whole_heads}
    divided |= {heads: "attention"} if heads and (runs.over == "heads" or runs.whole_heads) else {}
    for number_of, whose in divided.items():
        if number_of % shared:
            least = next(each for each in range(shared, 0, -1) if all(count % each == 0 for count in divided))
            why = f"{shared} devices cannot share {number_of} {whose} heads evenly, and it refuses"
            raise UsageError(f"{runs.name}: {why}: --tp {least}, or --pp to divide the layers instead")
    own = model.computes_in
    if own.name == "F32" and runs.instead_of_f32:
        own = WIDTHS[runs.instead_of_f32]
    keys, values = _cache_types(_text("cache_dtype", cache_dtype), runs, own)
    if encoded is None:
        encoded = USUAL_SOURCE if model.source is None else model.source
    tokens = length or model.context or USUAL_CONTEXT
    request = Request(tokens, number, encoded, keys, values, own, shared, _state_type(model), batched)
    if any(model.beside):
        from inspector.sizing.beside import with_draft  # only if there is something

        model, request = with_draft(model, runs, request, flash=flash_attention)
    if runs.graphs:
        runs, buffers = _buffers(model, runs, request, flash=flash_attention)
        model = model._replace(buffers=buffers)
    elif library_asked() is not None:
        runs = runs._replace(assumes=(*runs.assumes, f"{runs.name} was not asked (--ask): only llama.cpp can be"))
    taken = _weights_loaded(model, weights if isinstance(weights, Weights) else _text("weights", weights), own, runs)
    held = runs.hold(model.kept, request._replace(tp=1)) if model.kept is not None else None
    temporary = activations(model, runs, request)
    return Memory(
        model,
        runs,
        request,
        taken,
        held,
        growth(model.kept or (), request),
        temporary,
        _placed(model, runs, request, taken, named, stages),
        stages,
        _training_of(model, training, tokens, number) if training else None,
        tuple(_findings(model, length, taken, runs, request)),
        length is not None,
        others(model, runs, request),
    )


def _buffers(model: Model, runs: Engine, request: Request, *, flash: bool) -> tuple[Engine, Buffers | None]:
    """What determines the buffers; by the library that is asked, if the user named one. Raises ConfigError."""
    from inspector.sizing.buffers import buffers_of  # only for engines with graphs

    library = library_asked()
    if library is None:
        return runs, buffers_of(model, flash=flash)
    if model.format != "gguf":
        why = f"{runs.name} was not asked (--ask): only GGUF files can be asked about"
        return runs._replace(assumes=(*runs.assumes, why)), buffers_of(model, flash=flash)
    from inspector.sizing.asked import answered  # only if asked for

    version, answer = answered(library, model, request, flash=flash)
    assumes = (*runs.assumes, f"{version} printed its compute buffers when it was asked (--ask), on the CPU")
    return runs._replace(version=version, asked=True, assumes=assumes), buffers_of(model, flash=flash, graph=answer)


def _placed(
    model: Model,
    runs: Engine,
    request: Request,
    loaded: Weights,
    named: Sequence[Device],
    stages: int,
    *,
    searched: bool = True,
    most: bool = True,
) -> tuple[Placed, ...]:
    """What each device holds; activations, and the engine's further buffers, are computed once for each request."""
    if not named and request.tp * stages == 1:
        return ()
    from inspector.sizing.placement import placed  # only if devices or a division were requested

    runs = on_devices_of(runs, named)
    alone = model._replace(beside=Beside())

    @cache
    def temporary(asked: Request) -> int:
        found = activations(model, runs, asked)
        return (found.nbytes if found else 0) + sum(each.nbytes for each in others(alone, runs, asked))

    @cache
    def on_first(asked: Request) -> int:
        return temporary(asked) + sum(each.nbytes for each in beside(model, runs, asked))

    needs = temporary, on_first if any(model.beside) else temporary
    return placed(model.kept, runs, request, loaded, needs, named, stages, model.context, searched=searched, most=most)


def on_devices(
    result: Memory,
    named: Sequence[Device],
    *,
    context: int | None = None,
    keys: Width | None = None,
    weights: Weights | None = None,
    searched: bool = True,
) -> tuple[Placed, ...]:
    """The same on other devices, divided among them as the engine does by default.

    Args:
        context, keys, weights: another context, type of keys and values, or other weights.
        searched: whether to search for the longest context that fits.
    """
    own = result.request
    tp, stages = own.tp, result.pipeline
    if tp * stages != max(len(named), 1):
        tp, stages = _division_among_devices(result.engine, named, None, None)
    request = own._replace(context=context or own.context, keys=keys or own.keys, values=keys or own.values, tp=tp)
    loaded = weights or result.weights
    return _placed(result.model, result.engine, request, loaded, named, stages, searched=searched, most=False)


def _devices(text: str | None) -> tuple[Device, ...]:
    if not text:
        return ()
    if text != HERE:
        from inspector.sizing.devices import devices  # only where some are named

        return devices(text)
    from inspector.sizing import machine  # for this question alone

    if not (found := machine.here()):
        raise UsageError(f"--gpu {HERE}: no device of this machine was found; name one, or a size such as 24GiB")
    return found


def _training_of(model: Model, plan: Plan, context: int, sequences: int) -> Training:
    from inspector.sizing.training import training_of  # rarely needed

    return training_of(model, plan, context, sequences)


class Sweep(Tabular, tuple[Memory, ...]):
    """The memory with each context and type of cache."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Sweep of {plural(len(self), 'context and cache type', 'contexts and cache types')}>"


def sweep(model: Model, **options: Any) -> Sweep:
    """Contexts from 2,048 tokens to the model's own, doubled each time, with each of the engine's cache types."""
    first = size(model, **options)
    longest = options.get("context") or model.context or USUAL_CONTEXT
    lengths = sorted({min(SHORTEST << step, longest) for step in range(40)})
    own = first.request.keys
    kinds = {name: WIDTHS[name] for name in (own.name, *first.engine.types)}
    narrower = [name for name, kind in kinds.items() if kind.is_narrower(own) or kind is own]
    asked = ({**options, "context": tokens, "cache_dtype": kind} for tokens in lengths for kind in narrower)
    return Sweep(size(model, **each) for each in asked)


def at_context(result: Memory, tokens: int, keys: Width | None = None, values: Width | None = None) -> Memory:
    """The same with another context, or another cache type; without devices and training.

    Args:
        keys, values: of the cache; by default unchanged.
    """
    own = result.request
    request = own._replace(context=tokens, keys=keys or own.keys, values=values or own.values)
    model, runs = result.model, result.engine
    held = runs.hold(model.kept, request._replace(tp=1)) if model.kept is not None else None
    temporary = activations(model, runs, request)
    other = others(model, runs, request)
    return result._replace(request=request, held=held, activations=temporary, other=other, devices=(), training=None)


def cache_types(result: Memory) -> tuple[tuple[Width, Width], ...]:
    """Types of keys and values: the requested ones, then narrower ones in which the engine can keep this cache."""
    from inspector.sizing.placement import odd_blocks

    own, kept, runs = result.request, result.model.kept or (), result.engine
    narrower = (WIDTHS[name] for name in runs.types if WIDTHS[name].is_narrower(own.keys))
    asked = (own._replace(keys=kind, values=kind) for kind in narrower if kept)
    found = [(each.keys, each.values) for each in asked if not any(odd_blocks(kept, runs, each))]
    return ((own.keys, own.values), *found)


def contexts(result: Memory) -> tuple[int, ...]:
    """Contexts of a curve: powers of two up to the model's own, or to the requested one."""
    longest = max(result.request.context, result.model.context or 0)
    return tuple(sorted({min(SHORTEST << step, longest) for step in range(40)}))


def activations(model: Model, engine: Engine, request: Request) -> Activations | None:
    """Intermediate results of one batch; None if the configuration does not give the widths."""
    if engine.graphs:
        if model.buffers is None:
            return None
        from inspector.sizing.buffers import batch_of

        asked = batch_of(model.buffers, engine, request)
        of = "all" if asked.outputs == asked.tokens else f"{asked.outputs:,}"
        assumes = f"the compute buffer for a batch of {plural(asked.tokens, 'token')} (--batch), with results of {of}"
        return Activations(model.buffers.graph.reserved(asked), (assumes,), engine.version)
    if model.scope is None:
        return None
    hidden, vocabulary = (_first_positive(model.scope, names) for names in ("hidden_size n_embd d_model", "vocab_size"))
    if not hidden or not vocabulary:
        return None
    wide = _first_positive(model.scope, "intermediate_size n_inner ffn_hidden_size d_ff decoder_ffn_dim") or 4 * hidden
    batch = min(request.batch or engine.batch, request.context)
    from inspector.sizing.prefill import prefill

    if engine.prefills and (found := prefill(model, hidden, vocabulary, request, batch)):
        assumes = f"a prompt of {plural(batch, 'token')} in each sequence (--batch), with sdpa or flash attention"
        return Activations(found.sdpa, (assumes, f"with eager attention {decimal(found.eager)}"), eager=found.eager)
    layer = 2 * hidden + 3 * wide // request.tp
    if engine.profile:
        step = plural(request.batch or engine.batch, "token")
        assumes = f"profiled with {step} (--batch) and --max-num-seqs {engine.samples:,}"
        return Activations(engine.profile(engine, request, hidden, vocabulary, layer), (assumes,))
    nbytes = batch * layer * request.model.nbytes + 4 * request.sequences * vocabulary
    formula = (
        f"batch {batch:,} × (2·hidden_size + 3·intermediate_size) × {request.model.nbytes} bytes"
        " + sequences × vocab_size × 4 bytes; attention without a full score matrix"
    )
    return Activations(nbytes, (formula,))


def others(model: Model, engine: Engine, request: Request) -> tuple[Other, ...]:
    """The engine's further buffers, as far as known, and what is loaded beside the model."""
    found = beside(model, engine, request)
    if not engine.graphs or model.buffers is None:
        return found
    from inspector.sizing.buffers import output

    return (Other("output", output(model.buffers, engine, request)), *found)


def beside(model: Model, engine: Engine, request: Request) -> tuple[Other, ...]:
    """What is loaded beside the model, part by part: a vision tower, a draft model."""
    if not any(model.beside):
        return ()
    from inspector.sizing.beside import parts_of  # only if there is something

    return tuple(Other(*each) for each in parts_of(model.beside, engine, request))


def _first_positive(scope: Scope, names: str) -> int | None:
    for name in names.split():
        try:
            value = scope[name]
        except ConfigError:
            continue
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        if isinstance(value, list) and value and all(isinstance(each, int) for each in value):
            return int(max(value))
    return None


def _number(what: str, given: object, most: int, *, least: int = 1) -> int | None:
    """A whole number, also as people write it: "16k". None if none is given."""
    number = written(given, TOKENS) if isinstance(given, str) else given
    if number is None and given is None:
        return None
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        shown = repr(given if number is None else number)
        raise UsageError(f"{what} {shown:.40}: a number from {least} to {most:,} is expected, such as 8192 or 8k")
    return number


def _text(what: str, given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise UsageError(f"{what} {given!r:.40}: text is expected, not {type(given).__name__}")
    return given


def _division_among_devices(
    runs: Engine, named: Sequence[Device], tp: int | str | None, pp: int | str | None
) -> tuple[int, int]:
    """Devices that share a layer, and groups that divide the layers; by default as the engine does."""
    tp, pp = _number("--tp", tp, MOST_DEVICES), _number("--pp", pp, MOST_DEVICES)
    number = max(len(named), 1)
    if tp is None and pp is None:
        return (number, 1) if runs.over == "heads" else (1, number)
    if tp is None:
        tp = max(1, number // (pp or 1))
    if pp is None:
        pp = max(1, number // tp)
    if len(named) > 1 and tp * pp != len(named):
        raise UsageError(f"--tp {tp} and --pp {pp} take {tp * pp} devices, but {len(named)} are named")
    return tp, pp


def _state_type(model: Model) -> Width | None:
    """The configuration's type of states."""
    for name in _STATE_DTYPES:
        with suppress(ConfigError):
            stated = model.scope[name] if model.scope is not None else None
            if isinstance(stated, str) and stated in ("float32", "float16", "bfloat16"):
                return width(stated)
    return None


def _cache_types(text: str | None, runs: Engine, own: Width) -> tuple[Width, Width]:
    """The types of keys and of values."""
    names = (text or runs.default or own.name).split(",")
    if len(names) > 2:
        raise UsageError(f"--cache-dtype {text!r:.40}: give one type, or one for keys and one for values")
    found = [width(name.strip(), runs.types) for name in names]
    for each in found:
        if each.name not in runs.types:
            raise UsageError(f"{runs.name} has no cache of type {each.name}: it has {', '.join(runs.types)}")
    return found[0], found[-1]


def _weights_loaded(model: Model, kind: str | Weights | None, own: Width, runs: Engine) -> Weights:
    if isinstance(kind, Weights):
        return kind
    if kind is None and model.result is not None:
        return (
            stored(model.result) if runs.graphs or model.format == "gguf" else as_loaded(model.result, own, runs.name)
        )
    if kind is not None:
        from inspector.sizing.packings import weights_in  # only if asked for

        if (found := weights_in(model, kind)) is not None:
            return found
    if model.prediction is None:
        raise UsageError("--weights needs a prediction of the tensors, and no table knows this architecture")
    if kind is None and (declared := _declaration(model)):
        return as_declared(model.prediction, declared, own)
    loaded = width(kind) if kind else own
    return as_type(model.prediction, loaded, WIDTHS["F32"] if loaded.block > 1 else own)


def _declaration(model: Model) -> Declaration | None:
    """The packing that the configuration declares, if it says what every weight takes."""
    from inspector.quantization.declaration import (  # only for configurations
        declaration_of,
        stated_dtype,
        stated_release,
    )

    declared = model.config.declared_packing if model.config else {}
    if model.config is None or not declared:
        return None
    own, release = stated_dtype(model.config), stated_release(model.config)
    return declaration_of(declared, own, exact=False, release=release)


def _findings(model: Model, context: int | None, weights: Weights, runs: Engine, request: Request) -> list[Finding]:
    found = []
    packed = model.config.declared_packing if model.config and not model.result else {}
    if packed and _declaration(model) is None:
        how = f" by {packed['quant_method']!s:.40}" if packed.get("quant_method") else ""
        why = f"the configuration declares weights packed{how}: here they are counted in {weights.dtype}"
        found.append(
            Finding("weights-packed", "warning", f"{why}; use --weights to ask about a type, or give the files")
        )
    if model.config and model.config.relative:
        why = f"no table for {model.config.model_type!s:.60}: read as {model.config.relative}, by analogy"
        found.append(Finding("no-prediction", "warning", f"{why}: what it keeps and computes is that model's"))
    if any(model.beside):
        from inspector.sizing.beside import missing  # only if there is something

        found += [Finding("beside-unknown", "warning", why) for why in missing(model.beside)]
    if model.kept is None:
        why = f"what running takes besides the weights is unknown: {model.unknown}; the total excludes it"
        found.append(Finding("cache-unknown", "warning", why))
    elif model.kept and not model.is_confirmed(runs.name):
        why = f"this cache was not compared with {runs.name}'s own for such a model: it is computed by general rules"
        found.append(Finding("cache-unconfirmed", "info", why))
    if context and model.context and context > model.context:
        scaled = f" with {model.scaling} scaling of its positions" if model.scaling else ""
        advice = "" if model.scaling else "; a longer one needs rope scaling, and quality falls"
        why = f"the model is made for {model.context:,} tokens{scaled}, but {context:,} are requested{advice}"
        found.append(Finding("context-beyond", "warning", why))
    if context is None and model.context is None and model.kept != ():
        why = f"the configuration gives no maximum context: {USUAL_CONTEXT:,} tokens are assumed"
        found.append(Finding("context-unknown", "info", why))
    if max(request.keys.block, request.values.block) > 1:
        from inspector.sizing.placement import odd_blocks  # only for caches in blocks

        found += odd_blocks(model.kept or (), runs, request)
    return found
