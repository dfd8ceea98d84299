"""The library's functions: `open`, `predict`, `reconcile`, `variants`, `models`, `folder`, `diff`,
`memory`, `verdict`, `quants`, `values`, `metadata`.

Each takes one target, as text or as a path, and returns one result; of several targets, such as a list, it returns
`Results`, a tuple with a result for each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from inspector.architectures import prediction as _prediction
from inspector.bridge import reconciliation as _reconciliation
from inspector.errors import ConfigError, FormatError, InspectorError, NetworkError, TargetError, UsageError, readable
from inspector.model import Checkpoint, Config, Folder, Prediction, Reconciliation
from inspector.opening import checkpoint as _checkpoint
from inspector.opening import configs
from inspector.opening.variants import Variants
from inspector.opening.variants import variants as checkpoints_among
from inspector.sources import Place
from inspector.sources.targets import place_of
from inspector.tabular import NamedTuple, Tabular
from inspector.units import escape, plural

if TYPE_CHECKING:
    from inspector.bridge.outline import Outline
    from inspector.comparing.attachment import Attachment
    from inspector.comparing.data import Comparison
    from inspector.comparing.derivation import Merge, Rank
    from inspector.comparing.diff import Diff, Three
    from inspector.comparing.effects import Effect
    from inspector.comparing.pairing import Pair
    from inspector.comparing.parents import Parents
    from inspector.measuring.values import Values
    from inspector.opening.metadata import Metadata
    from inspector.opening.named import Models, Named
    from inspector.sizing.memory import Memory, Sweep
    from inspector.sizing.model import Model as Sized
    from inspector.sizing.quants import Quants
    from inspector.sizing.training import Plan
    from inspector.sizing.verdict import Verdict

    Opened = str | Path | Checkpoint | Reconciliation  # a target, or the result of opening it


P = ParamSpec("P")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Results(Tabular, tuple[R_co, ...]):
    """The results of one verb for several targets, in their order."""

    targets: tuple[str, ...]  # as given; the column `target` of the rows

    def __repr__(self) -> str:
        kinds = ", ".join(sorted({type(each).__name__ for each in self}))
        return f"<Results for {plural(len(self), 'target')}: {kinds or 'none'}>"


class Verb(Protocol[T_contra, P, R_co]):
    """A function of one target that takes several as well."""

    __name__: str

    @overload
    def __call__(self, target: T_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, targets: Iterable[T_contra], /, *args: P.args, **options: P.kwargs) -> Results[R_co]: ...


def _several(verb: Callable[Concatenate[T_contra, P], R]) -> Verb[T_contra, P, R]:
    """Let a function of one target take several: it is called for each, and the first error ends it."""

    @wraps(verb)
    def called(target: Any, *args: Any, **options: Any) -> Any:
        if not _are_several(target):
            with readable(target):
                return verb(target, *args, **options)
        named = list(target)
        results = Results(called(each, *args, **options) for each in named)
        results.targets = tuple(map(_name_of, named))
        return results

    return cast("Verb[T_contra, P, R]", called)


def _are_several(target: object) -> bool:
    """Whether it is an iterable of targets: a text, a path, fields of a configuration and a result are one."""
    one = (str, bytes, os.PathLike, Mapping, Tabular)
    return isinstance(target, Iterable) and not isinstance(target, one) and not hasattr(target, "_fields")


def _name_of(target: object) -> str:
    if isinstance(target, Mapping):
        return ""
    checkpoint = getattr(target, "checkpoint", target)
    return str(getattr(checkpoint, "target", checkpoint))


@_several
def open(
    target: str | Path,
    *,
    config: str | Path | None = None,
    revision: str | None = None,
    include: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    alone: bool = False,
) -> Checkpoint:
    """Open the checkpoint at a target: a file, a folder, an index file, a Hub repository, a URL.

    Reads the weight files' headers, the index and the configuration; never tensor data.

    Args:
        config: a configuration file to use instead of the one next to the weights.
        revision: branch, tag or commit of a Hub repository.
        include: a glob over the weight files' paths, for a place with several checkpoints.
        progress: called after each weight file with the number read and the total.
        alone: whether to read a shard alone, without its set.

    Raises:
        TargetError: there is nothing to inspect.
        SourceError: it cannot be read.
        FormatError: a weight file has no readable header.
        ConfigError: `config` cannot be read.

    Example:
        >>> checkpoint = inspector.open("fixtures/real/safetensors/burn/complex_nested.safetensors")
        >>> checkpoint.format, checkpoint.size, len(checkpoint.tensors)
        ('safetensors', 9248, 23)
        >>> one, other = inspector.open(["fixtures/real/safetensors/burn/linear.safetensors"] * 2)
        >>> one.tensors[0].name, one.tensors[0].dtype, one.tensors[0].shape
        ('fc1.bias', 'F32', (3,))
    """
    return _checkpoint.open(target, config=config, revision=revision, include=include, progress=progress, alone=alone)


@_several
def reconcile(target: str | Path | Checkpoint | Reconciliation, label: str | None = None) -> Reconciliation:
    """Join a checkpoint with what its configuration predicts, and account for every byte of the difference.

    Args:
        target: what `open` returned, or anything that it takes.
        label: the model's stated size, "7B"; by default read from the checkpoint's name.

    Raises:
        UsageError: `label` is not a size.
        TargetError, FormatError, SourceError: the target cannot be read.

    Example:
        >>> result = inspector.reconcile("fixtures/real/safetensors/burn/complex_nested.safetensors")
        >>> result.logical, result.on_disk
        (1816, 9248)
        >>> [(step.cause, step.bytes) for step in result.steps]
        [('buffer', 152), ('header', 1832)]
    """
    if isinstance(target, Reconciliation):
        target = target.checkpoint
    checkpoint = target if isinstance(target, Checkpoint) else _checkpoint.open(target)
    return _reconciliation.reconcile(checkpoint, label)


@_several
def metadata(target: str | Path | Checkpoint, key: str | None = None) -> Metadata:
    """The metadata of a checkpoint's files (GGUF's key-values), or one key from each file that has it.

    Args:
        target: what `open` returned, or anything that it takes.
        key: a whole key, or a glob over keys: `general.*`.

    Raises:
        UsageError: no file has the key.
        TargetError, FormatError, SourceError: the target cannot be read.

    Example:
        >>> (entry,) = inspector.metadata("fixtures/real/gguf/ggml-vocab-bert-bge.gguf", "general.architecture")
        >>> entry.type, entry.value()
        ('string', 'bert')
    """
    from inspector.opening import metadata as of_files

    return of_files.Metadata(
        of_files.metadata(target if isinstance(target, Checkpoint) else _checkpoint.open(target), key)
    )


@_several
def predict(config: str | Path | Mapping[str, Any] | Config, *, revision: str | None = None) -> Prediction:
    """Predict every tensor of a checkpoint from its configuration alone.

    Args:
        config: a preset's name (`llama-7b`), a config.json or params.json, a folder or repository that
            has one, or the fields themselves.

    Raises:
        ConfigError: it cannot be read, no table knows the architecture or a relative's, or a required field is missing.
        TargetError: there is nothing at the path.

    Example:
        >>> llama = inspector.predict("llama-7b")
        >>> llama.parameters, llama.tensors
        (6738415616, 291)
        >>> llama.expected[0].name, llama.expected[0].shape
        ('model.embed_tokens.weight', (32000, 4096))
    """
    found = _config(config, revision)
    try:
        return _prediction.predict(found)
    except ConfigError as error:
        if by_analogy := _prediction.by_fields(found):
            return by_analogy
        if found.family is None and found.model_type and found.kind == "config.json":
            raise ConfigError(f"{error}{_NEXT}") from error
        raise


class _Learned(NamedTuple):
    prediction: Prediction  # of the configuration that was asked about
    path: Path  # the file in which the table is kept
    free: tuple[str, ...]  # the fields in which other configurations may differ; all others must be the same


class Learned(_Learned, Tabular):
    """A table that was made of a library's answer; shown and listed as its prediction is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Learned {self.prediction!r} in {escape(str(self.path), 100)}>"


def learn(
    config: str | Path | Mapping[str, Any] | Config,
    *,
    python: str | None = None,
    modules: Sequence[str] = (),
    folder: str | Path | None = None,
    revision: str | None = None,
) -> Learned:
    """Ask the library that defines a model how it builds it, and keep the answer as a table.

    It is kept in the folder that `add_tables` added last, or the user's own. Transformers or Diffusers runs in a
    process of its own, with limits and without a network.

    Args:
        config: a model type, or what `predict` takes.
        python: the interpreter, or the folder of the environment, that has the library; by default this one, or the one
            that `inspect --ask` named.
        modules: packages to import there first, which register types of their own.
        folder: a model's folder, whose own code may run: the library's `trust_remote_code`.

    Raises:
        ConfigError: the library cannot be asked, does not know the type, or refuses the configuration.
        UsageError: there is no such interpreter, or the table cannot be written.
        TargetError: there is nothing at the path.

    Example:
        >>> inspector.learn("dory", python="no-environment")
        Traceback (most recent call last):
        inspector.errors.UsageError: --ask no-environment: neither a Python nor an environment with one
    """
    from inspector import architectures
    from inspector.architectures import asking

    whole = None if folder is None else str(Path(folder).resolve())
    library = architectures.library_asked()
    if library is None or python or modules or folder:
        library = asking.Library(asking.python_of(python), tuple(modules), whole)
    found = _of_type(config) if isinstance(config, str) and re.fullmatch(r"[\w-]+", config) else None
    found = found or _config(config, revision)
    with architectures.asked_by(library):
        path, free = architectures.keep(found.values, probing=True)
        own = found._replace()  # a copy, whose family was not looked up yet
        return Learned(_prediction.predict(own), path, tuple(free))


def _of_type(name: str) -> Config | None:
    """The configuration of a model type, or of a class of Diffusers, that says nothing else; None for a path."""
    if Path(name).exists():
        return None
    return configs.normalize({"_class_name" if name[0].isupper() else "model_type": name})


#: What to do about a type that no table has.
_NEXT = (
    "; `--ask` has the installed Transformers or Diffusers build it, `inspect DIR` shows what is in files, "
    "`--tables DIR` adds a table of your own, and a newer version may have one"
)


@_several
def variants(target: str | Path, *, revision: str | None = None) -> Variants:
    """List the checkpoints at a target by their file names, the one that `open` selects first. Reads no weight file.

    Raises:
        TargetError: there is nothing.
        SourceError: it cannot be listed.

    Example:
        >>> main, *others = inspector.variants("fixtures/real/safetensors/burn")
        >>> main.name, main.format, main.size
        ('multi_layer', 'safetensors', 17624)
    """
    place = place_of(str(target), revision)
    try:
        return Variants(checkpoints_among(place.files))
    finally:
        place.close()


@_several
def outline(target: str | Path, *, config: str | Path | None = None, revision: str | None = None) -> Outline:
    """Outline a checkpoint from its index alone: names, what the index claims, and the prediction.

    Raises:
        TargetError: there is nothing, or not an index.
        FormatError, ConfigError: the index cannot be read, or the configuration cannot.

    Example:
        >>> falcon = "fixtures/real/index/Decentralised-AI+falcon-40b__pytorch_model.bin.index.json"
        >>> found = inspector.outline(falcon)
        >>> found.files, found.claimed
        (9, 83671941120)
    """
    from inspector.bridge.outline import outline as of_index
    from inspector.formats.findings import Findings
    from inspector.opening.index import read_index

    place = place_of(str(target), revision)
    try:
        if place.selected is None or not place.selected.endswith(".index.json"):
            raise TargetError(f"{escape(str(target))} is not an index")
        index = read_index(place, place.selected, Findings(place.selected))
        return of_index(index, configs.load(Path(config)) if config else configs.find(place))
    finally:
        place.close()


@_several
def models(target: str | Path, *, progress: Callable[[int, int], object] | None = None) -> Models:
    """Reconcile each of the unrelated models in a folder, such as that of LM Studio, Ollama or the Hub's cache.

    Returns:
        Each model with its result, or with the error raised on reading it; nothing if the folder holds one model.
        `to_pandas()`, `to_arrow()` and `to_polars()` convert them to a table.

    Args:
        progress: called with the number of models read and their total, after each.

    Raises:
        SourceError, TargetError: the folder cannot be listed.

    Example:
        >>> [(named.name, type(found).__name__) for named, found in inspector.models("fixtures/real/gguf")]
        [('ggml-vocab-bert-bge.gguf', 'Reconciliation'), ('test.gguf', 'FormatError')]
    """
    from inspector.opening.named import Models, models_at
    from inspector.sources.local import listed_once

    named = models_at(target)
    found: list[tuple[Named, Reconciliation | InspectorError]] = []
    with listed_once():
        for number, each in enumerate(named, 1):
            if each.foreign:
                found.append((each, FormatError(f"{each.foreign}: this format is not read")))
                continue
            try:
                found.append((each, reconcile(open(each.target))))
            except InspectorError as error:
                found.append((each, error))
            if progress:
                progress(number, len(named))
    return Models(found)


@_several
def folder(target: str | Path, result: Reconciliation | None = None) -> Folder | None:
    """What the bytes of a folder are: a checkpoint's weights, copies of them, other checkpoints, the rest.

    All regular files below the folder count, hidden ones too, each once; the parts sum to its size. A copy is called
    one by evidence from the headers, which is stated.

    Args:
        result: the checkpoint whose weights are the folder's; by default the one that opening the folder yields.

    Returns:
        None if the target is not a folder on this machine.

    Raises:
        SourceError, TargetError: the folder cannot be listed.

    Example:
        >>> found = inspector.folder("fixtures/real/safetensors")
        >>> found.size == found.weights + sum(each.size for each in (*found.copies, *found.checkpoints)) + found.other
        True
    """
    from inspector.opening.folder import folder_of

    path = Path(target).expanduser()
    if not path.is_dir():
        return None
    if result is None:
        with suppress(InspectorError):
            result = reconcile(open(path))
    weights: set[str] = set()
    if result is not None:
        parts = (result.checkpoint, *(each.checkpoint for each in result.checkpoint.components))
        weights = {header.path for each in parts for header in each.files}
    return folder_of(path, weights, result.logical if result else 0)


@_several
def diff(
    a: str | Path | Checkpoint | Reconciliation,
    b: str | Path | Checkpoint | Reconciliation,
    *,
    data: bool = False,
    workers: int = 1,
    done: Callable[[int], object] = lambda _: None,
) -> Diff:
    """Compare two checkpoints, whatever their formats: tensors are paired by purpose.

    Args:
        a, b: targets, or what `open` or `reconcile` returned for them; each of several a is compared with b.
        data: also compare the values; by default only headers are read.
        workers: pairs whose values are read concurrently.
        done: called with the bytes of both sides after the values of each pair.

    Raises:
        TargetError, FormatError, SourceError: one of them cannot be read, or changed while being read.
        UsageError: `data` needs NumPy, which is not installed.

    Example:
        >>> folder = "fixtures/real/safetensors/burn"
        >>> inspector.diff(f"{folder}/conv1d.safetensors", f"{folder}/conv2d.safetensors").counts
        {'same': 1, 'dtype': 0, 'shape': 2, 'only_a': 0, 'only_b': 0}
    """
    from dataclasses import replace

    from inspector.comparing.diff import diff as compare
    from inspector.comparing.relation import of_headers

    result = compare(*map(_reconciled, (a, b)))
    result = replace(result, relation=of_headers(result))
    return with_values(result, workers, done) if data else result


def with_values(result: Diff, workers: int = 1, done: Callable[[int], object] = lambda _: None) -> Diff:
    """Add a comparison of the values to one of headers. Arguments and errors as for `diff`.

    Example:
        >>> from inspector import api
        >>> folder = "fixtures/real/safetensors/burn"
        >>> headers = inspector.diff(f"{folder}/linear.safetensors", f"{folder}/linear_with_bias.safetensors")
        >>> [each and each.status for each in api.with_values(headers).data]
        ['different', 'different', None]
    """
    from dataclasses import replace

    with _comparison(result) as comparison:
        from inspector.comparing.relation import of_values

        result = comparison.run(workers, done)
        return replace(result, relation=of_values(result, comparison))


def attachment(base: Opened, adapter: Opened) -> Attachment:
    """Which weights of a base an adapter changes, whether the shapes match, and what it adds.

    Raises:
        TargetError, FormatError, SourceError: one of them cannot be read.

    Example:
        >>> import numpy
        >>> from inspector import api
        >>> from safetensors.numpy import save_file
        >>> name = "model.layers.0.self_attn.q_proj"
        >>> save_file({f"{name}.weight": numpy.ones((8, 8))}, "base.safetensors")
        >>> down, up = numpy.ones((1, 8)), numpy.ones((8, 1))
        >>> lora = {f"base_model.model.{name}.lora_A.weight": down, f"base_model.model.{name}.lora_B.weight": up}
        >>> save_file(lora, "lora.safetensors")
        >>> found = api.attachment("base.safetensors", "lora.safetensors")
        >>> [(each.piece.key.part, each.expected, each.base.tensor.shape) for each in found.tensors]
        [('lora_A', (1, 8), (8, 8)), ('lora_B', (8, 1), (8, 8))]
    """
    from inspector.comparing.attachment import attachment as attach

    return attach(*map(_reconciled, (base, adapter)))


def effects(
    base: Opened,
    adapter: Opened,
    merged: Opened | None = None,
) -> tuple[Effect, ...]:
    """The size of an adapter's change to each weight, and whether a merged model's weight is the sum.

    Args:
        adapter: the folder of a LoRA or DoRA adapter, whose adapter_config.json says how it is scaled.
        merged: a model that should be the base with the adapter added to it.

    Raises:
        UsageError: NumPy is not installed.
        TargetError, FormatError, SourceError: one of them cannot be read.

    Example:
        >>> import numpy, pathlib
        >>> from inspector import api
        >>> from safetensors.numpy import save_file
        >>> name, ones = "model.layers.0.self_attn.q_proj", numpy.ones((8, 8))
        >>> save_file({f"{name}.weight": ones}, "base.safetensors")
        >>> save_file({f"{name}.weight": ones + 0.5}, "merged.safetensors")
        >>> pathlib.Path("lora").mkdir()
        >>> fields = '{"peft_type": "LORA", "r": 1, "lora_alpha": 1}'
        >>> _ = pathlib.Path("lora/adapter_config.json").write_text(fields)
        >>> matrices = {"lora_A": ones[:1], "lora_B": ones[:, :1] / 2}
        >>> lora = {f"base_model.model.{name}.{part}.weight": each.copy() for part, each in matrices.items()}
        >>> save_file(lora, "lora/adapter_model.safetensors")
        >>> (effect,) = api.effects("base.safetensors", "lora", "merged.safetensors")
        >>> effect.relative, effect.merged.status
        (0.5, 'equal')
    """
    from inspector.measuring import needs

    needs.check()
    from inspector.comparing.effects import effects as compute

    own = _reconciled(base)
    return compute(attachment(own, adapter), diff(own, merged) if merged is not None else None)


def three(a: Diff, b: Diff, *, data: bool = False, workers: int = 1) -> Three:
    """What two checkpoints changed in their common base: neither, one, both alike, or both differently.

    Args:
        a, b: the comparisons of the base with each of the two, as `diff` returns them.
        data: whether to compare the values of the two, too; `a` and `b` then need theirs.

    Raises:
        UsageError: `data` needs NumPy, which is not installed.
        SourceError: a file cannot be read, or changed while being read.

    Example:
        >>> from inspector import api
        >>> folder = "fixtures/real/safetensors/burn"
        >>> base = inspector.open(f"{folder}/conv1d.safetensors")
        >>> a = inspector.diff(inspector.reconcile(base), f"{folder}/conv2d.safetensors")
        >>> b = inspector.diff(inspector.reconcile(base), f"{folder}/conv1d.safetensors")
        >>> api.three(a, b).counts
        {'same': 1, 'a': 2, 'b': 0, 'alike': 0, 'apart': 0}
    """
    from inspector.comparing.diff import three as compare

    return compare(a, b, diff(a.b, b.b, data=data, workers=workers))


def ranks(result: Diff) -> list[tuple[Pair, Rank]]:
    """The rank of the difference of each matrix whose values differ: low where an adapter was merged.

    Args:
        result: a comparison with values, `diff(…, data=True)`.

    Raises:
        UsageError: NumPy is not installed.
        SourceError, FormatError: the values cannot be read.

    Example:
        >>> import numpy
        >>> from inspector import api
        >>> from safetensors.numpy import save_file
        >>> name, base = "model.layers.0.self_attn.q_proj.weight", numpy.eye(8)
        >>> save_file({name: base}, "base.safetensors")
        >>> save_file({name: base + numpy.outer(numpy.arange(8), numpy.ones(8))}, "tuned.safetensors")
        >>> compared = inspector.diff("base.safetensors", "tuned.safetensors", data=True)
        >>> [(rank.rank, rank.full) for pair, rank in api.ranks(compared)]
        [(1, 8)]
    """
    with _comparison(result) as comparison:
        from inspector.comparing.derivation import rank

        pairs = zip(result.pairs, result.data or (), strict=True)
        differ = [pair for pair, data in pairs if data and data.status == "different"]
        return [(pair, found) for pair in differ if (found := rank(comparison, pair)) is not None]


def merge(
    target: Opened,
    first: Opened,
    second: Opened,
) -> Merge | None:
    """Whether a checkpoint is a weighted sum of two parents; None if no tensor is in all three.

    Raises:
        UsageError: NumPy is not installed.
        TargetError, FormatError, SourceError: one of them cannot be read.

    Example:
        >>> import numpy
        >>> from inspector import api
        >>> from safetensors.numpy import save_file
        >>> name, (one, other) = "model.norm.weight", numpy.random.default_rng(0).random((2, 64))
        >>> for file, numbers in {"a": one, "b": other, "merged": one / 4 + other * 3 / 4}.items():
        ...     save_file({name: numbers}, f"{file}.safetensors")
        >>> found = api.merge("merged.safetensors", "a.safetensors", "b.safetensors")
        >>> round(found.first, 3), round(found.second, 3)
        (0.25, 0.75)
    """
    own = _reconciled(target)
    with _comparison(diff(first, own)) as one, _comparison(diff(second, own)) as two:
        from inspector.comparing.derivation import merge as fit

        return fit(one, two)


@_several
def parents(
    target: str | Path | Reconciliation,
    candidates: str | Path | Iterable[str | Path],
    *,
    done: Callable[[int, int], object] = lambda *_: None,
) -> Parents:
    """Which of some models a checkpoint was made from, best first, by samples of values; the best is compared whole.

    Args:
        candidates: one target or several, of which the checkpoint itself is left out.
        done: called with the number of candidates that were looked at, and of all, after each.

    Raises:
        UsageError: NumPy is not installed.
        TargetError, FormatError, SourceError: the checkpoint cannot be read. A candidate that cannot has an `error`.

    Example:
        >>> import numpy
        >>> from safetensors.numpy import save_file
        >>> name, draw = "model.layers.0.mlp.up_proj.weight", numpy.random.default_rng(0)
        >>> for file in ("one", "other"):
        ...     save_file({name: draw.standard_normal((64, 64))}, f"{file}.safetensors")
        >>> found = inspector.parents("one.safetensors", ["other.safetensors", "one.safetensors"])
        >>> [(each.target, each.relation.kind) for each in found.candidates]
        [('other.safetensors', 'unrelated')]
    """
    from inspector.measuring import needs

    needs.check()
    from inspector.comparing.parents import parents as rank

    own = _reconciled(target)
    named = [candidates] if isinstance(candidates, (str, Path)) else candidates
    others = [str(each) for each in named if not _is_same_place(str(each), own)]
    return rank(own, others, _reconciled, done)


def _is_same_place(candidate: str, target: Reconciliation) -> bool:
    """Whether a candidate is the target itself."""
    if candidate == target.checkpoint.target:
        return True
    with suppress(OSError, ValueError, RuntimeError):
        return Path(candidate).expanduser().resolve() == Path(target.checkpoint.target).expanduser().resolve()
    return False


def _comparison(result: Diff) -> closing[Comparison]:
    """The values of both sides. Raises UsageError if NumPy is not installed."""
    from inspector.measuring import needs

    needs.check()
    from inspector.comparing.data import Comparison

    return closing(Comparison(result))


def _reconciled(target: Opened) -> Reconciliation:
    if _are_several(target):
        raise UsageError("one target is compared with another: several can only be the first")
    return target if isinstance(target, Reconciliation) else reconcile(target)


@_several
def values(
    target: str | Path | Checkpoint | Reconciliation,
    pattern: str | None = None,
    *,
    roles: Sequence[str] = (),
    layers: str | None = None,
    by: Literal["tensor", "role", "layer"] = "tensor",
    stored: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Values:
    """Summarise the values of tensors: counts, extremes, moments, percentiles, a histogram.

    Reads only the selected tensors; needs NumPy, which the extra `data` installs.

    Args:
        pattern: a glob over whole names, a part of a name, a role, a group or a dtype.
        layers: "3", "3-7", "0,2,4-6".
        by: what to summarise together.
        stored: whether packed weights are counted as the integers that the file has.
        progress: called with the number of bytes read since the last call, from several threads.

    Raises:
        UsageError: NumPy is not installed.
        TargetError: no tensor matches.
        FormatError, SourceError: nothing can be read.

    Example:
        >>> found = inspector.values("fixtures/real/safetensors/burn/complex_nested.safetensors", "fc1.weight")
        >>> [(row.name, row.summary.total, row.summary.nan) for row in found.rows]
        [('fc1.weight', 1440, 0)]
    """
    from inspector.measuring import needs

    needs.check()
    from inspector.bridge.filters import Filter
    from inspector.measuring.values import values as measure

    return measure(_reconciled(target), Filter(pattern, roles, layers=layers), by, progress, stored=stored)


@_several
def memory(
    target: str | Path | Mapping[str, Any] | Checkpoint | Reconciliation | Prediction | Sized,
    *,
    context: int | str | None = None,
    sequences: int | str = 1,
    cache_dtype: str | None = None,
    engine: str | None = None,
    weights: str | None = None,
    gpu: str | None = None,
    tp: int | str | None = None,
    pp: int | str | None = None,
    source: int | str | None = None,
    batch: int | str | None = None,
    flash_attention: bool = True,
    mmproj: str | Path | None = None,
    draft: str | Path | None = None,
    training: Plan | None = None,
) -> Memory:
    """Compute the memory for running or training a model: weights, cache, activations, and whether they fit.

    Numbers of tokens may be written as people do: "16k" and "16,384" are 16384.

    Args:
        target: anything that `open` or `predict` accepts, or a result of `open`, `reconcile` or `predict`.
        context: tokens of each sequence; by default the model's own.
        sequences: at a time.
        cache_dtype: of keys and values, or of each: "q8_0,q4_0"; by default the engine's own.
        engine: "transformers", "llama.cpp" or "vllm"; by default llama.cpp for a GGUF, Transformers for others.
        weights: a type to load them in, instead of the stored one: "nf4", "q4_k_m".
        gpu: the devices: "rtx-4090", "2xh100", "24 GiB"; "here" for those of this machine.
        tp, pp: devices that share each layer, and groups of devices among which the layers are divided.
        source: tokens of an encoder's input.
        batch: tokens that the engine processes at a time.
        flash_attention: whether llama.cpp uses it.
        mmproj, draft: a vision tower's GGUF, and a draft model, that llama.cpp loads beside it.
        training: how it is trained; `inspector.sizing.training.Plan`.

    Raises:
        UsageError: an option is invalid; the message names it.
        TargetError, FormatError, SourceError, ConfigError: the target cannot be read.

    Example:
        >>> inspector.memory("llama-7b", context=4096).weights.nbytes
        13476831232
        >>> inspector.memory("llama-3.1-8b", context="16k", gpu="rtx-4090").fits
        True
    """
    from inspector.sizing.memory import size
    from inspector.sizing.model import Model as Sized

    model = target if isinstance(target, Sized) else sized(target)
    if mmproj is not None or draft is not None:
        model = with_beside(model, mmproj, draft)
    return size(
        model,
        context=context,
        sequences=sequences,
        cache_dtype=cache_dtype,
        engine=engine,
        weights=weights,
        gpu=gpu,
        tp=tp,
        pp=pp,
        source=source,
        batch=batch,
        flash_attention=flash_attention,
        training=training,
    )


@_several
def verdict(target: str | Path | Mapping[str, Any] | Checkpoint | Reconciliation | Prediction | Memory) -> Verdict:
    """Whether a model fits, up to which context, and what would make more of it fit.

    Args:
        target: what `memory` returned, or takes; if it names no devices, the verdict is on this machine's.

    Raises:
        TargetError, FormatError, SourceError, ConfigError: as `memory`.

    Example:
        >>> found = inspector.verdict(inspector.memory("llama-3.1-8b", gpu="rtx-4090"))
        >>> found.fits, found.choice.longest < 131072
        (False, True)
        >>> found.remedies[-1].option
        '--gpu 2xrtx-4090'
    """
    from inspector.sizing.memory import Memory
    from inspector.sizing.verdict import verdict_of

    return verdict_of(target if isinstance(target, Memory) else memory(target))


@_several
def quants(
    target: str | Path | Mapping[str, Any] | Checkpoint | Reconciliation | Prediction | Sized,
    *,
    gpu: str | None = None,
    context: int | str | None = None,
    sequences: int | str = 1,
    cache_dtype: str | None = None,
    imatrix: bool = False,
) -> Quants:
    """What a model weighs in each of llama.cpp's mixtures and the libraries' packings, and which fit.

    Args:
        target: as for `memory`.
        gpu, context, sequences, cache_dtype: as for `memory`; without `gpu`, only the sizes.
        imatrix: whether there is an importance matrix for the mixtures that do not require one.

    Raises:
        UsageError: an option is invalid, or nothing is known about the tensors.
        TargetError, FormatError, SourceError, ConfigError: the target cannot be read.

    Example:
        >>> inspector.quants("llama-3.1-8b", gpu="8GB", context=16384).best.name
        'Q4_1'
    """
    from inspector.sizing.model import Model as Sized
    from inspector.sizing.quants import quants as of_model

    model = target if isinstance(target, Sized) else sized(target)
    return of_model(model, gpu=gpu, context=context, sequences=sequences, cache_dtype=cache_dtype, imatrix=imatrix)


def sized(
    target: str | Path | Mapping[str, Any] | Checkpoint | Reconciliation | Prediction,
    *,
    config: str | None = None,
    revision: str | None = None,
    include: str | None = None,
) -> Sized:
    """The model at a target, to be passed to `memory` several times without reading the target again.

    Args:
        target: as for `memory`.
        config: a configuration to use instead of the one next to the weights.
        include: which of several checkpoints at the target.

    Raises:
        TargetError, FormatError, SourceError, ConfigError: the target cannot be read.

    Example:
        >>> from inspector import api
        >>> model = api.sized("llama-7b")
        >>> [inspector.memory(model, context=tokens).cache for tokens in (1024, 2048)]
        [536870912, 1073741824]
    """
    from inspector.sizing.model import of_prediction, of_result

    found = _known(target, config, revision, include)
    if isinstance(found, Reconciliation):
        return of_result(found)
    return of_prediction(str(target) if isinstance(target, (str, Path)) else "", found)


def with_beside(model: Sized, mmproj: str | Path | None = None, draft: str | Path | None = None) -> Sized:
    """A model with what a server loads beside it, to be passed to `memory`.

    Args:
        mmproj: the GGUF of a vision tower.
        draft: a smaller model that drafts tokens.

    Raises:
        UsageError: `mmproj` is no tower's file.
        TargetError, FormatError, SourceError, ConfigError: one of the two cannot be read.

    Example:
        >>> from inspector import api
        >>> model = api.with_beside(api.sized("llama-7b"), draft="gpt2")
        >>> found = inspector.memory(model, engine="llama.cpp", context=1024)
        >>> {each.name: each.nbytes for each in found.other}["draft cache"]  # 12 · 2 · 768 · 2 · 1024
        37748736
    """
    from inspector.sizing.beside import tower_at
    from inspector.sizing.model import Beside

    tower = tower_at(reconcile(mmproj)) if mmproj is not None else None
    return model._replace(beside=Beside(tower, None if draft is None else sized(draft)))


def sweep(model: Sized, **options: Any) -> Sweep:
    """The memory for contexts from 2,048 tokens up to the model's own, doubling each time, and each cache type.

    Args:
        model: as `sized` returns it.
        options: those of `memory`; `context` is the longest.

    Raises:
        UsageError: an option is invalid.

    Example:
        >>> from inspector import api
        >>> table = api.sweep(api.sized("llama-7b"), context=4096)
        >>> [(each.request.context, each.cache) for each in table if each.request.keys.name == "F16"]
        [(2048, 1073741824), (4096, 2147483648)]
    """
    from inspector.sizing.memory import sweep as table

    return table(model, **options)


def training_plan(plan: Plan, lora: str | None) -> Plan:
    """A plan with an adapter, described as `r=16,targets=q_proj+v_proj` or given as a folder.

    Example:
        >>> from inspector import api
        >>> from inspector.sizing.training import Plan
        >>> plan = api.training_plan(Plan("lora"), "r=16,targets=q_proj+v_proj")
        >>> inspector.memory("llama-7b", training=plan, context=512).training.trained  # 32 · 2 · 16 · (4096 + 4096)
        8388608
    """
    from inspector.sizing.training import plan_of

    adapter = open(lora).adapter if lora and "=" not in lora else None
    if adapter:
        targets = adapter.get("target_modules")
        named = [targets] if isinstance(targets, str) else targets or ()
        words = [f"r={adapter.get('r')}", "targets=" + "+".join(map(str, named))]
        return plan_of(plan, ",".join(words))
    return plan_of(plan, lora)


def _known(target: Any, config: str | None, revision: str | None, include: str | None) -> Reconciliation | Prediction:
    """The files' contents; if there are none, what the configuration predicts."""
    if isinstance(target, (Reconciliation, Prediction)):
        return target
    if isinstance(target, Checkpoint):
        return reconcile(target)
    if isinstance(target, Mapping) or _is_config(str(target)):
        return _predicted(_config(target, revision))
    try:
        return reconcile(open(str(target), config=config, revision=revision, include=include))
    except (TargetError, FormatError):
        with suppress(InspectorError):
            return _prediction.predict(_config(target, revision))
        raise


def _predicted(config: Config) -> Prediction:
    """The prediction for a configuration; an error also says what context it states."""
    try:
        return _prediction.predict(config)
    except ConfigError as error:
        from inspector.sizing.model import stated_context  # for an unknown type

        if context := stated_context(config):
            raise ConfigError(f"{error}; it states a context of {context:,} tokens") from None
        raise


def _is_config(target: str) -> bool:
    return _preset(target) is not None or (target.endswith(".json") and not target.endswith(".index.json"))


def _preset(name: str) -> Mapping[str, Any] | None:
    """The fields of a preset; None if there is none of that name, or a file has it."""
    from inspector.architectures.data.presets import PRESETS  # checkpoints have no use for them

    return None if Path(name).exists() else PRESETS.get(name)


def _config(config: str | Path | Mapping[str, Any] | Config, revision: str | None) -> Config:
    if isinstance(config, Config):
        return config
    if isinstance(config, Mapping):
        return configs.normalize(config)
    name = str(config)
    if (preset := _preset(name)) is not None:
        return configs.normalize(preset, f"preset {name}")
    if Path(name).is_file() and name.endswith(".json"):
        return configs.load(Path(name))
    return _config_at(name, revision)


def _config_at(target: str, revision: str | None) -> Config:
    try:
        place = place_of(target, revision)
    except (TargetError, NetworkError) as error:
        from difflib import get_close_matches

        from inspector.architectures.data.presets import PRESETS

        near = get_close_matches(target.lower(), PRESETS, 1, 0.6)
        hint = f"did you mean the preset {near[0]}? " if near and "/" not in target else ""
        raise type(error)(f"{hint}{error}") from error
    try:
        if _has_gguf(place):
            return _config_inside(target, revision)
        found = configs.find(place)
    finally:
        place.close()
    if found is None:
        raise ConfigError(f"{escape(target)} has no {' and no '.join(configs.FILES)}")
    return found


def _has_gguf(place: Place) -> bool:
    """Whether the target is a GGUF file, or a folder of GGUF files without a configuration."""
    if place.selected is not None:
        return place.selected.endswith(".gguf")
    return not any(name in place.files for name in configs.FILES) and any(
        path.endswith(".gguf") for path in place.files
    )


def _config_inside(target: str, revision: str | None) -> Config:
    """The configuration in a GGUF's key-values."""
    config = open(target, revision=revision).config
    if config is None:
        raise ConfigError(f"{escape(target)} has no general.architecture: its key-values are not a configuration")
    return config
