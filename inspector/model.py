"""The nouns: frozen data that every floor above shares, with no behaviour beyond arithmetic on itself.

Sizes are bytes, counts are elements, offsets are from a file's first byte; all are exact integers.
All are named tuples: a checkpoint may have half a million tensors and keys, which are then built and hashed at C speed,
and creating the classes at each start takes less than half as long as for dataclasses.
"""

# Annotations are evaluated here, except those of absent libraries: `NamedTuple` would compile each string again.
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from inspector.units import decimal, escape, integer, plural

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Severity = Literal["error", "warning", "info"]
_Item = TypeVar("_Item")


def view(name: str, noun: object) -> Any:
    """The module that renders a noun for people. It is floors above, and the nouns know only its name."""
    from importlib import import_module

    return getattr(import_module("inspector.report.notebook"), name)(noun)


def as_arrow(noun: object) -> "pa.Table":
    """The rows, with exact types. Raises UsageError if pyarrow is not installed."""
    shown: pa.Table = view("to_arrow", noun)
    return shown


def as_pandas(noun: object) -> "pd.DataFrame":
    """The rows. Raises UsageError if pandas is not installed."""
    shown: pd.DataFrame = view("to_pandas", noun)
    return shown


def as_polars(noun: object) -> "pl.DataFrame":
    """The rows. Raises UsageError if polars or pyarrow is not installed."""
    shown: pl.DataFrame = view("to_polars", noun)
    return shown


class Table(tuple[_Item, ...]):
    """Several results that form a table, one row each."""

    __slots__ = ()

    def to_arrow(self) -> "pa.Table":
        """The rows, with exact types. Raises UsageError if pyarrow is not installed."""
        return as_arrow(self)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows. Raises UsageError if pandas is not installed."""
        return as_pandas(self)

    def to_polars(self) -> "pl.DataFrame":
        """The rows. Raises UsageError if polars or pyarrow is not installed."""
        return as_polars(self)


class Tensor(NamedTuple):
    """One tensor as its file's header declares it."""

    name: str
    dtype: str  # the format's own name: "BF16", "Q4_K"
    shape: tuple[int, ...]  # row-major: GGUF's order reversed
    offset: int  # from the file's first byte
    nbytes: int  # according to the header

    @property
    def elements(self) -> int:
        """Stored elements: the product of the shape; 1 for a scalar."""
        return prod(self.shape)


STACKED = -1  # `Key.expert` of a tensor that holds all experts of its layer


class Key(NamedTuple):
    """A tensor's purpose, independent of its name: the key on which file and prediction are joined."""

    tower: str  # "text" if there is only one; "encoder", "decoder", "vision", "audio", "projector", …
    layer: int | None  # None outside the stack of layers
    expert: int | None  # None outside the experts; STACKED for all of them in one tensor
    role: str  # Llama's names: "q_proj", "gate_proj", "norm", …
    part: str  # "weight", "bias" or a piece of quantization side data
    branch: str = ""  # distinguishes several of a role in a layer: "cross", "temporal", …; "" for the main one
    indexes: tuple[int, ...] = ()  # further numbers in the name: stages, copies, …


class Finding(NamedTuple):
    """Something worth reporting about a file, with its location and numbers."""

    rule: str  # the rule's code: "hole", "duplicate-key", …
    severity: Severity
    message: str  # one line, unescaped
    path: str | None = None  # relative to the checkpoint
    tensor: str | None = None


class Piece(NamedTuple):
    """The part of a tensor that a file holds, if the tensor is spread over several files."""

    start: tuple[int, ...]  # position of its first element; one number if the whole was flattened before splitting
    whole: tuple[int, ...]  # the whole tensor's shape


class Region(NamedTuple):
    """A labelled range of a file's bytes. A file's regions partition it."""

    label: str  # one of REGIONS
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


#: Region label → the column of `files[]` that counts it.
REGIONS: Mapping[str, str] = {
    "length": "header",  # safetensors: the 8 bytes with the header's length
    "header": "header",  # safetensors: JSON with its padding; GGUF: magic, version and counts
    "metadata": "header",  # GGUF key-values except the tokenizer's
    "tokenizer": "header",  # GGUF key-values that begin with `tokenizer.`
    "tensor table": "header",  # GGUF tensor infos
    "pickle": "header",  # PyTorch: the program that names the tensors
    "archive": "header",  # PyTorch, NumPy: ZIP's records around the tensors, and the list of its members
    "tensors": "tensors",  # claimed by at least one tensor
    "padding": "padding",  # required by the format's alignment
    "hole": "unused",  # between tensors, claimed by none
    "trailing": "unused",  # after the last tensor
    "unreadable": "unused",  # all of a file without a readable header
}


class Header(NamedTuple):
    """Everything a weight file says before its tensor data."""

    path: str  # relative to the checkpoint, "/"-separated
    format: Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
    size: int  # the file's
    tensors: Sequence[Tensor]  # in the header's order
    regions: tuple[Region, ...]  # partition of [0, size), in order
    metadata: Mapping[str, Any]  # `__metadata__`, or GGUF's key-values (decoded on request)
    findings: tuple[Finding, ...] = ()
    strides: Mapping[int, tuple[int, ...]] = {}  # position in `tensors` → steps in elements, where unusual
    pieces: Mapping[int, Piece] = {}  # position in `tensors` → which part of a larger tensor it is

    def __repr__(self) -> str:
        return f"<Header {escape(self.path, 100)}: {plural(len(self.tensors), 'tensor')}, {decimal(self.size)}>"

    def bytes_in(self, column: str) -> int:
        """Bytes of the regions counted in one column of `files[]`."""
        return sum(r.size for r in self.regions if REGIONS[r.label] == column)


class Joined(NamedTuple):
    """Headers in which each tensor appears once and whole, for files that hold parts of tensors."""

    files: tuple[Header, ...]  # a tensor is in the first that has a part, with its whole shape and all its bytes
    copies: Mapping[str, int]  # tensor → bytes of its further copies


class Origin(NamedTuple):
    """Where a checkpoint's bytes came from, and the cost of reading them."""

    kind: Literal["local", "hub", "url"]
    location: str  # absolute path, or URL without secrets
    revision: str | None = None  # commit hash, for a Hub repository
    requests: int | None = None  # HTTP requests sent, without redirects; None for local files
    bytes_read: int = 0  # from weight files, index and configuration, as received
    redirects: int | None = None  # redirects followed; None for local files


class Config(NamedTuple):
    """A configuration with Transformers' field names, whatever dialect it was written in."""

    values: Mapping[str, Any]  # config.json's fields
    kind: Literal["config.json", "params.json", "gguf", "inferred"]
    path: str | None = None  # where it was read
    notes: tuple[str, ...] = ()  # what was assumed or inferred, as text

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


class OtherFiles(NamedTuple):
    """Files of one kind next to the weights."""

    kind: str  # "tokenizer", "config", "pickle", "duplicate", …
    files: int
    size: int


class Variant(NamedTuple):
    """One of several checkpoints in a place, by file names."""

    name: str  # the common part of its files' names, with their folder: "Llama-8B-Q4_K_M", "unet/model"
    format: Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
    type: str | None  # the quantization or dtype in the name: "Q4_K_M", "F16"
    model: str  # the name without it: equal for variants of one model
    paths: tuple[str, ...]
    size: int  # bytes of its files


class Index(NamedTuple):
    """`*.safetensors.index.json`: which file each tensor should be in, and the claimed totals."""

    path: str
    weight_map: Mapping[str, str]  # tensor name → file name
    metadata: Mapping[str, Any]  # claims: total_size, total_parameters, …

    def __repr__(self) -> str:
        return f"<Index {escape(self.path, 100)}: {plural(len(self.weight_map), 'tensor')}>"


class Checkpoint(NamedTuple):
    """One model's weight files and the files next to them; the result of opening a target."""

    target: str  # as typed
    name: str  # its display name: the folder's or the repository's
    origin: Origin
    files: tuple[Header, ...]
    config: Config | None = None
    index: Index | None = None  # type: ignore[assignment]  # shadows `tuple.index`, which nobody calls
    other: tuple[OtherFiles, ...] | None = None  # None if the target is a single file
    variants: tuple[Variant, ...] = ()  # all in the place, if there are several; the inspected one first
    findings: tuple[Finding, ...] = ()  # of the whole; each header has its own
    adapter: Mapping[str, Any] | None = None  # adapter_config.json's fields
    components: "tuple[Component, ...]" = ()  # of a composite repository, this one among them
    composite: str | None = None  # the class that puts the components together: "StableDiffusionPipeline"
    card: Mapping[str, str] = {}  # `license` and `base_model`, from the model card or the key-values
    namesake: str | None = None  # a repository in the Hub's cache that a relative path hides: "org/name"
    joined: Joined | None = None  # if tensors are spread over several files, as ranks of a run write them

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
    def may_be_several(self) -> bool:
        """Whether the folder may hold unrelated models."""
        loose = len(self.files) > 1 and self.index is None and not self.components
        return self.origin.kind != "hub" and self.other is not None and (loose or len(self.variants) > 1)

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

    def overview(self) -> str:
        """The text that `inspect TARGET` prints."""
        shown: str = view("overview", self)
        return shown

    def to_pandas(self) -> "pd.DataFrame":
        """One row per tensor. Raises UsageError if pandas is not installed."""
        shown: pd.DataFrame = view("to_pandas", self)
        return shown

    def to_arrow(self) -> "pa.Table":
        """One row per tensor, with exact types. Raises UsageError if pyarrow is not installed."""
        shown: pa.Table = view("to_arrow", self)
        return shown

    def to_polars(self) -> "pl.DataFrame":
        """One row per tensor. Raises UsageError if polars is not installed."""
        shown: pl.DataFrame = view("to_polars", self)
        return shown

    def _repr_html_(self) -> str:
        shown: str = view("html", self)
        return shown


class Component(NamedTuple):
    """One of the models that make up a composite repository."""

    name: str  # its folder: "unet", "2_Dense"
    kind: str  # the class that loads it
    checkpoint: Checkpoint
    copies: int = 0  # bytes of the same weights in other precisions


class ComponentSum(NamedTuple):
    """A component, counted."""

    name: str
    kind: str
    files: int
    size: int  # bytes of its weight files
    copies: int  # bytes of second copies
    parameters: int  # logical
    predicted: int | None  # None without a prediction
    dtypes: tuple[str, ...]  # largest in bytes first


class Expected(NamedTuple):
    """One row of a prediction: tensors of one role and shape, across layers and experts."""

    role: str
    group: str
    tower: str
    part: str  # "weight" or "bias"
    name: str  # template with {layer} and {expert}, as Transformers writes the tensor
    shape: tuple[int, ...]  # of each tensor
    formula: tuple[str, ...]  # the same in configuration fields, one string per dimension
    numbers: tuple[str, ...]  # the same with the configuration's numbers
    layers: tuple[int, ...] | None = None  # None outside the stack of layers
    experts: int | None = None  # experts per layer; None outside the experts
    first_expert: int = 0  # the number of the first of them
    active: int | None = None  # active experts per token
    branch: str = ""  # as in `Key`
    indexes: tuple[int, ...] = ()  # further numbers in the name
    stacked: int | None = None  # experts in the first dimension of each tensor
    buffer: bool = False  # stored, but not a parameter

    @property
    def elements(self) -> int:
        """Elements of each tensor."""
        return prod(self.shape)

    @property
    def tensors(self) -> int:
        return (1 if self.layers is None else len(self.layers)) * (1 if self.experts is None else self.experts)

    @property
    def expert_numbers(self) -> range:
        """The numbers of the row's experts in names."""
        return range(self.first_expert, self.first_expert + (self.experts or 0))

    @property
    def parameters(self) -> int:
        return 0 if self.buffer else self.tensors * self.elements

    @property
    def active_parameters(self) -> int:
        experts = self.experts or self.stacked
        if not experts or self.active is None:
            return self.parameters
        return self.parameters // experts * min(self.active, experts)

    def keys(self) -> Iterator[Key]:
        """One key per tensor, layer by layer."""
        for layer in (None,) if self.layers is None else self.layers:
            for expert in (
                (STACKED if self.stacked is not None else None,) if self.experts is None else self.expert_numbers
            ):
                yield Key(self.tower, layer, expert, self.role, self.part, self.branch, self.indexes)

    def names(self) -> Iterator[str]:
        """Transformers' name for each tensor, in the order of `keys`."""
        parts = self.name.split("{layer}")
        for layer in (None,) if self.layers is None else self.layers:
            name = str(layer).join(parts)
            if self.experts is None:
                yield name
                continue
            head, _, tail = name.partition("{expert}")
            for expert in self.expert_numbers:
                yield f"{head}{expert}{tail}"

    def name_of(self, key: Key) -> str:
        """Transformers' name for one of the tensors."""
        return self.name.replace("{layer}", str(key.layer)).replace("{expert}", str(key.expert))


class Prediction(NamedTuple):
    """The tensors that a checkpoint should contain, according to a configuration."""

    config: Config
    family: str
    head: str  # suffix of the class: "ForCausalLM", "Model", …
    expected: tuple[Expected, ...]  # stored tensors, except buffers
    tied: tuple[Expected, ...] = ()  # shared with the token embedding, so not stored
    buffers: tuple[Expected, ...] = ()  # what a checkpoint may also hold
    optional: tuple[Expected, ...] = ()  # tensors whose presence the configuration does not determine
    base: "Prediction | None" = None  # of an adapter: the model that it changes
    ahead: tuple[Expected, ...] = ()  # layers that predict further tokens, stored with the model

    @property
    def parameters(self) -> int:
        return sum(row.parameters for row in self.expected)

    @property
    def active(self) -> int:
        """Parameters used for one token; equals `parameters` for a dense model."""
        return sum(row.active_parameters for row in self.expected)

    @property
    def tensors(self) -> int:
        return sum(row.tensors for row in self.expected)

    def __repr__(self) -> str:
        of = f"{self.family} {self.head}".strip()
        return f"<Prediction {of}: {integer(self.parameters)} parameters in {plural(self.tensors, 'tensor')}>"

    def overview(self) -> str:
        """The text that `inspect predict` prints."""
        shown: str = view("overview", self)
        return shown

    def to_pandas(self) -> "pd.DataFrame":
        """One row per tensor. Raises UsageError if pandas is not installed."""
        shown: pd.DataFrame = view("to_pandas", self)
        return shown

    def to_arrow(self) -> "pa.Table":
        """One row per tensor, with exact types. Raises UsageError if pyarrow is not installed."""
        shown: pa.Table = view("to_arrow", self)
        return shown

    def to_polars(self) -> "pl.DataFrame":
        """One row per tensor. Raises UsageError if polars is not installed."""
        shown: pl.DataFrame = view("to_polars", self)
        return shown

    def _repr_html_(self) -> str:
        shown: str = view("html", self)
        return shown


class RoleForecast(NamedTuple):
    """All predicted tensors of one role in one branch of one tower."""

    role: str
    group: str
    tower: str
    branch: str
    tensors: int
    parameters: int
    formula: str  # distinct shapes in configuration fields, biases after a plus
    numbers: str  # the same with the configuration's numbers


class Adapter(NamedTuple):
    """Small weights that modify a model's weights, and the purpose of each adapter tensor."""

    method: str  # "lora", "dora", "loha", …
    served: Mapping[str, str]  # adapter tensor → the name of the weight that it changes
    parts: Mapping[str, str]  # adapter tensor → which piece it is: "lora_A"
    ranks: Mapping[int, int]  # rank → modules that have it
    constants: frozenset[str] = frozenset()  # tensors that are not parameters
    config: Mapping[str, Any] = {}  # adapter_config.json's fields


class Packing(NamedTuple):
    """How a checkpoint's weights are packed: stored tensors → logical weights and their side data."""

    scheme: str  # "gptq", "bitsandbytes-nf4", "Q4_K_M", …
    bits: int  # per element of a packed weight, without side data
    group_size: int | None = None  # weights that share a scale
    names: Mapping[str, str] = {}  # packed tensor → the name of the weight it encodes
    shapes: Mapping[str, tuple[int, ...]] = {}  # packed tensor → logical shape
    side: Mapping[str, str] = {}  # side tensor → the name of the weight it serves
    widths: Mapping[str, int] = {}  # dtype of a self-contained packing → bits per element
    findings: tuple[Finding, ...] = ()
    odd_bits: Mapping[str, int] = {}  # packed tensor → its bits, if not `bits`
    kinds: Mapping[str, str] = {}  # side tensor → its description: "scales"
    uneven: bool = False  # `bits` is only the nearest integer


class PackedSum(NamedTuple):
    """All packed weights of a checkpoint."""

    parameters: int  # logical
    bytes: int  # of the tensors that hold them
    side_bytes: int  # of scales, zero points and the like

    @property
    def bits(self) -> float:
        """Bits per weight, including side data."""
        return (self.bytes + self.side_bytes) * 8 / self.parameters if self.parameters else 0.0


class Nominal(NamedTuple):
    """The nominal size: "7B" at some bits per parameter."""

    label: str  # "7B", "8x7B"
    parameters: int
    bits: int
    experts: int = 1  # the 8 of "8x7B"

    @property
    def bytes(self) -> int:
        return -(-self.parameters * self.bits // 8)


class Step(NamedTuple):
    """One signed step of the bridge."""

    cause: str  # a row of `causes.CAUSES`
    bytes: int
    tensors: int  # number of tensors it concerns
    detail: str  # one line of text


class Dimension(NamedTuple):
    """One size in the shapes of a role's tensors."""

    size: int
    meaning: str | None  # in configuration fields; None if unexplained


class RoleSum(NamedTuple):
    """All tensors of one role in one branch of one tower, as counted and as predicted."""

    role: str
    group: str
    tower: str
    branch: str
    tensors: int
    parameters: int
    bytes: int
    predicted_parameters: int | None  # None without a prediction
    formula: str | None
    dtypes: tuple[str, ...] = ()
    explained: str = ""  # the shapes if there is no prediction, as far as configuration fields explain them
    dimensions: tuple[Dimension, ...] | None = None  # the sizes in these shapes; None with a prediction
    weight_bytes: int = 0  # of the tensors that hold parameters, without buffers and second copies

    @property
    def bits_per_weight(self) -> float | None:
        """Stored bits per parameter; None for buffers and the like."""
        return self.weight_bytes * 8 / self.parameters if self.parameters else None


class DtypeSum(NamedTuple):
    """All tensors of one dtype."""

    dtype: str
    tensors: int
    elements: int
    bytes: int


class Labelled(NamedTuple):
    """One tensor with its purpose."""

    tensor: Tensor
    file: str
    key: Key
    group: str
    parameters: int  # logical; 0 for buffers, side data, second copies and layers for predicting further tokens


class Claim(NamedTuple):
    """A file's claim about itself, next to what was counted."""

    name: str  # "total_size", "total_parameters", "general.parameter_count", …
    claimed: str  # as stated
    counted: int | str  # a number, or a phrase if that says more
    note: str = ""  # why the two differ, if known


class Count(NamedTuple):
    """The model's parameters by a convention other than ours, which is Transformers'."""

    name: str  # for scripts: "with_router_bias"
    parameters: int
    what: str  # what is counted, as text


class Reconciliation(NamedTuple):
    """A checkpoint joined with its prediction: every byte of difference has a cause."""

    checkpoint: Checkpoint
    prediction: Prediction | None
    packing: Packing | None  # None for plain tensors
    dtype: str | None  # the dtype or packing scheme at which the prediction's bytes are counted
    nominal: Nominal | None
    predicted: int | None  # bytes
    on_disk: int  # bytes of all weight files
    steps: tuple[Step, ...]
    unexplained_bytes: int
    unexplained: tuple[str, ...]  # names of tensors
    logical: int  # parameters of the model, as counted
    active: int | None
    stored_elements: int
    roles: tuple[RoleSum, ...]
    dtypes: tuple[DtypeSum, ...]
    findings: tuple[Finding, ...]  # the checkpoint's, and those of the join
    claims: tuple[Claim, ...]
    tensors: Sequence[Labelled]
    adapter: Adapter | None = None
    components: tuple[ComponentSum, ...] = ()  # of a composite repository
    packed: PackedSum | None = None  # totals of packed weights; None if types pack by themselves, as GGUF's do
    family: str | None = None  # of the prediction; a pipeline's main model's
    counts: tuple[Count, ...] = ()  # by other conventions

    @property
    def is_pipeline(self) -> bool:
        """Whether this is the sum of several models."""
        return len(self.components) > 1 and self.on_disk == sum(part.size for part in self.components)

    def has(self, variant: Variant) -> bool:
        """Whether a variant's files are among those that were joined."""
        return {header.path for header in self.checkpoint.files}.issuperset(variant.paths)

    def bits_per_weight(self, nbytes: int) -> float:
        """Bits per counted parameter, for a number of bytes."""
        return nbytes * 8 / self.logical if self.logical else 0.0

    @property
    def weight_bytes(self) -> int:
        """Bytes that hold parameters, with the side data of packed ones, without buffers and second copies."""
        return sum(role.bytes if role.group == "quantization" else role.weight_bytes for role in self.roles)

    @property
    def start(self) -> int:
        """The start of the bridge: the nominal bytes, or the predicted, or 0."""
        return self.nominal.bytes if self.nominal else self.predicted or 0

    def __repr__(self) -> str:
        counted, left = f"{integer(self.logical)} parameters", f"{integer(self.unexplained_bytes)} bytes unexplained"
        return f"<Reconciliation {escape(self.checkpoint.title, 100)}: {counted}, {decimal(self.on_disk)}, {left}>"

    def overview(self) -> str:
        """The text that `inspect TARGET` prints."""
        shown: str = view("overview", self)
        return shown

    def to_pandas(self) -> "pd.DataFrame":
        """One row per tensor. Raises UsageError if pandas is not installed."""
        shown: pd.DataFrame = view("to_pandas", self)
        return shown

    def to_arrow(self) -> "pa.Table":
        """One row per tensor, with exact types. Raises UsageError if pyarrow is not installed."""
        shown: pa.Table = view("to_arrow", self)
        return shown

    def to_polars(self) -> "pl.DataFrame":
        """One row per tensor. Raises UsageError if polars is not installed."""
        shown: pl.DataFrame = view("to_polars", self)
        return shown

    def _repr_html_(self) -> str:
        shown: str = view("html", self)
        return shown
