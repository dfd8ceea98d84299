"""One model's files and configuration, and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, SupportsIndex, overload

from inspector.model.files import Finding, Header, Joined, Tensor
from inspector.tabular import NamedTuple, Tabular
from inspector.units import decimal, escape, plural


class Origin(NamedTuple):
    """Where a checkpoint's bytes came from, and the cost of reading them."""

    kind: Literal["local", "hub", "url"]
    location: str  # absolute path, or URL without secrets
    revision: str | None = None  # commit hash, for a Hub repository
    requests: int | None = None  # HTTP requests sent, without redirects; None for local files
    bytes_read: int = 0  # from weight files, index and configuration, as received
    redirects: int | None = None  # redirects followed; None for local files
    listing: object = None  # the Hub's list of that commit's files, so that it is requested once


#: Fields that hold a declaration of packing, the usual one first; `quantization` is MLX's.
PACKING_FIELDS = ("quantization_config", "quantization", "compression_config", "quant_config")
#: Objects that may contain a composite model's text model, and so its declaration.
_TEXT_MODELS = ("text_config", "llm_config", "language_config", "language_model", "thinker_config")


class _Fields(NamedTuple):
    values: Mapping[str, Any]  # config.json's fields
    kind: Literal["config.json", "params.json", "gguf", "inferred"]
    path: str | None = None  # where it was read
    notes: tuple[str, ...] = ()  # what was assumed or inferred, as text
    relative: str | None = None  # the known type whose table is used, because no table has its own


class Config(_Fields):
    """A configuration with Transformers' field names, whatever dialect it was written in.

    Its family and its declaration of packing are looked up once, when they are first asked for.
    """

    #: Finds the table for a configuration's values, or its relative's. The tables are above: `architectures` sets it.
    find_family: ClassVar[Callable[..., Any]]

    @cached_property
    def family(self) -> Any:
        """The `Family` of its model type or GGUF architecture; None if no table knows it."""
        return type(self).find_family(self.values, *([self.relative] if self.relative else []))

    @cached_property
    def declared_packing(self) -> Mapping[str, Any]:
        """The object that declares how weights are packed, wherever it is; empty if there is none."""
        for values in (self.values, *map(self.values.get, _TEXT_MODELS)):
            if not isinstance(values, Mapping):
                continue
            for found in map(values.get, PACKING_FIELDS):
                if isinstance(found, Mapping) and found:
                    nested = found.get("quantization")  # where ModelOpt's own file has it, one level deeper
                    return {**found, **nested} if isinstance(nested, Mapping) else found
        return {}

    @property
    def model_type(self) -> str | None:
        value = self.values.get("model_type")
        return value if isinstance(value, str) else None

    @property
    def architecture(self) -> str | None:
        """The class that wrote the checkpoint: the first of `architectures`."""
        match self.values.get("architectures"):
            case [str(first), *_]:
                return first
        return None

    def __repr__(self) -> str:
        what, where = self.model_type or "without model_type", self.path or self.kind
        return f"<Config {escape(what, 100)}: {plural(len(self.values), 'field')}, {escape(where, 100)}>"


class Index(NamedTuple):
    """`*.safetensors.index.json`: which file each tensor should be in, and the claimed totals."""

    path: str
    weight_map: Mapping[str, str]  # tensor name → file name
    metadata: Mapping[str, Any]  # claims: total_size, total_parameters, …

    def __repr__(self) -> str:
        return f"<Index {escape(self.path, 100)}: {plural(len(self.weight_map), 'tensor')}>"


class OtherFiles(NamedTuple):
    """Files of one kind next to the weights."""

    kind: str  # "tokenizer", "config", "pickle", "duplicate", …
    files: int
    size: int


class Copy(NamedTuple):
    """Files of a folder that hold a checkpoint's tensors once more."""

    files: tuple[str, ...]
    size: int
    of: str  # the checkpoint, by its name in the folder; "." for the folder's own
    evidence: str  # what shows it
    what: str = ""  # what kind of copy: "PyTorch", "GGUF", ".git/lfs"


class Share(NamedTuple):
    """Files of a folder that are neither the inspected weights nor copies: a checkpoint's, or one kind of the rest."""

    name: str
    files: int
    size: int
    detail: str = ""


class _Folder(NamedTuple):
    path: str
    size: int
    files: int
    weights: int  # bytes of the inspected weights
    copies: tuple[Copy, ...]
    checkpoints: tuple[Share, ...]  # other checkpoints, under the names to type
    rest: tuple[Share, ...]  # the other files by kind, the largest first


class Folder(_Folder, Tabular):
    """All regular files below a folder, hidden ones too, each once: the parts sum to its size."""

    __slots__ = ()

    def __repr__(self) -> str:
        copied = sum(each.size for each in self.copies)
        parts = {"of weights": self.weights, "of copies": copied, "else": self.size - self.weights - copied}
        sums = ", ".join(f"{decimal(nbytes)} {what}" for what, nbytes in parts.items() if nbytes)
        return f"<Folder {escape(self.path, 100)}: {decimal(self.size)} in {plural(self.files, 'file')}: {sums}>"

    @property
    def other(self) -> int:
        """Bytes of everything else."""
        return sum(each.size for each in self.rest)


class Variant(NamedTuple):
    """One of several checkpoints in a place, by file names."""

    name: str  # the common part of its files' names, with their folder: "Llama-8B-Q4_K_M", "unet/model"
    format: Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
    type: str | None  # the quantization or dtype in the name: "Q4_K_M", "F16"
    model: str  # the name without it: equal for variants of one model
    paths: tuple[str, ...]
    size: int  # bytes of its files


class Tensors(tuple[Tensor, ...]):
    """Tensors in their order: by place, or by name as loaders have it (KeyError if there is none)."""

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex | str, /) -> Tensor: ...
    @overload
    def __getitem__(self, key: slice, /) -> tuple[Tensor, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice, /) -> Tensor | tuple[Tensor, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for tensor in self:
            if tensor.name == key:
                return tensor
        raise KeyError(key)

    def __repr__(self) -> str:
        return f"<{plural(len(self), 'tensor')}, {decimal(sum(each.nbytes for each in self))}>"


class _Checkpoint(NamedTuple):
    target: str  # as typed
    name: str  # its display name: the folder's or the repository's
    origin: Origin
    files: tuple[Header, ...]
    config: Config | None = None
    index: Index | None = None  # type: ignore[assignment]  # shadows `tuple.index`, which nobody calls
    other: tuple[OtherFiles, ...] | None = None  # None if the target is a single file
    variants: tuple[Variant, ...] = ()  # all in the place, if there are several; the inspected one first
    findings: tuple[Finding, ...] = ()  # about the whole; each header has its own
    adapter: Mapping[str, Any] | None = None  # adapter_config.json's fields
    components: tuple[Component, ...] = ()  # of a composite repository, this one among them
    composite: str | None = None  # the class that puts the components together: "StableDiffusionPipeline"
    card: Mapping[str, str] = {}  # `license` and `base_model`, from the model card or the key-values
    namesake: str | None = None  # a repository in the Hub's cache that a relative path hides: "org/name"
    joined: Joined | None = None  # if tensors are spread over several files, as ranks of a run write them


class Checkpoint(_Checkpoint, Tabular):
    """One model's weight files and the files next to them; the result of opening a target."""

    __slots__ = ()

    @property
    def title(self) -> str:
        """What was named: a single file's name, a repository's id, or the folder's name."""
        if self.origin.kind == "hub":
            named = self.target.removeprefix("hf://").rstrip("/")
            return named if "://" not in named else "/".join(self.origin.location.rstrip("/").split("/")[-2:])
        if self.other is None and len(self.files) == 1:
            return self.files[0].path.rsplit("/", 1)[-1]
        return self.name

    @property
    def tensors(self) -> Tensors:
        """All tensors of the files, in their order; one that ranks of a run share stands once, whole."""
        return Tensors(tensor for header in self.wholes for tensor in header.tensors)

    @property
    def wholes(self) -> tuple[Header, ...]:
        """The files with each tensor once and whole; `files` if none is spread over several."""
        return self.joined.files if self.joined else self.files

    @property
    def format(self) -> str:
        formats = {f.format for f in self.files}
        return formats.pop() if len(formats) == 1 else "mixed"

    @property
    def size(self) -> int:
        """Bytes of all weight files: `on_disk`."""
        return sum(f.size for f in self.files)

    @property
    def repository_size(self) -> int:
        """Bytes of the weights and of everything next to them."""
        return self.size + sum(other.size for other in self.other or ())

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return self.findings + tuple(finding for f in self.files for finding in f.findings)

    def __repr__(self) -> str:
        tensors = sum(len(header.tensors) for header in self.files)
        files = plural(len(self.files), f"{self.format} file")
        return f"<Checkpoint {escape(self.title, 100)}: {files}, {plural(tensors, 'tensor')}, {decimal(self.size)}>"


class Component(NamedTuple):
    """One of the models that make up a composite repository."""

    name: str  # its folder: "unet", "2_Dense"
    kind: str  # the class that loads it
    checkpoint: Checkpoint
    copies: int = 0  # bytes of the same weights in other precisions
