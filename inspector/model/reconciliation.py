"""A checkpoint joined with its prediction, and the sums made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from inspector.model.checkpoint import Checkpoint, Config, Variant
from inspector.model.files import Finding, Tensor
from inspector.model.prediction import Key, Prediction
from inspector.tabular import NamedTuple, Tabular
from inspector.units import decimal, escape, integer, plural

#: Bits of the widest dtype of stored weights.
WIDEST = 64


class Adapter(NamedTuple):
    """Small weights that modify a model's weights, and the purpose of each adapter tensor."""

    method: str  # "lora", "dora", "loha", …
    served: Mapping[str, str]  # adapter tensor → the name of the weight that it changes
    parts: Mapping[str, str]  # adapter tensor → which piece it is: "lora_A"
    ranks: Mapping[int, int]  # rank → modules that have it
    constants: frozenset[str] = frozenset()  # tensors that are not parameters
    config: Mapping[str, Any] = {}  # adapter_config.json's fields
    in_files: Mapping[str, str] = {}  # base's tensor in memory → its name in the base's files, where they differ


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
    lacking: Mapping[str, tuple[str, ...]] = {}  # packed tensor → suffixes of the side data that it needs and lacks


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

    cause: str  # a row of the bridge's `CAUSES`
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


class Model(NamedTuple):
    """The tensors of one model joined with its prediction, and counted; of a pipeline, those of all its models."""

    config: Config | None  # inferred, if there is none
    prediction: Prediction | None
    predicted: int | None  # bytes
    dtype: str | None  # the dtype or packing scheme at which the prediction's bytes are counted
    bits: int  # bits per element of that dtype
    logical: int  # parameters of the model, as counted
    active: int | None
    roles: tuple[RoleSum, ...]
    dtypes: tuple[DtypeSum, ...]
    packing: Packing | None  # None for plain tensors
    packed: PackedSum | None  # totals of packed weights; None if types pack by themselves, as GGUF's do
    adapter: Adapter | None
    unexplained: tuple[str, ...]  # names of tensors
    findings: tuple[Finding, ...]  # findings of the join
    tensors: Sequence[Labelled]
    family: str | None = None  # of the prediction; a pipeline's main model's
    counts: tuple[Count, ...] = ()  # by other conventions


_Value = TypeVar("_Value")


class _OfModel(Generic[_Value]):
    """An attribute of a reconciliation that is its model's."""

    def __init__(self, read: Callable[[Model], _Value]) -> None:
        self._read = read

    def __get__(self, result: Reconciliation, _: object = None) -> _Value:
        return self._read(result.model)


#: Findings that something predicted or listed is not stored, or not whole.
_ABSENT = frozenset(
    {"missing", "head-not-stored", "vocab-padding", "missing-shard", "missing-part", "side-data-missing"}
)
#: Findings that a file has fewer, more or other bytes than its contents take.
_MISFIT = frozenset({"truncated", "trailing", "hole", "overlap", "storage"})


class Verdict(NamedTuple):
    """Whether all is there and explained: what the overview's second line and the JSON's `verdict` say."""

    state: Literal["complete", "incomplete", "damaged", "unknown"]
    sentence: str  # unescaped


class _Reconciliation(NamedTuple):
    checkpoint: Checkpoint
    model: Model
    nominal: Nominal | None
    steps: tuple[Step, ...]
    unexplained_bytes: int
    claims: tuple[Claim, ...]
    components: tuple[ComponentSum, ...] = ()  # of a composite repository


class Reconciliation(_Reconciliation, Tabular):
    """A checkpoint joined with its prediction: every byte of difference has a cause.

    What its model has is an attribute here, too: `result.logical` is `result.model.logical`.
    """

    __slots__ = ()

    prediction = _OfModel(lambda model: model.prediction)
    predicted = _OfModel(lambda model: model.predicted)
    dtype = _OfModel(lambda model: model.dtype)
    logical = _OfModel(lambda model: model.logical)
    active = _OfModel(lambda model: model.active)
    roles = _OfModel(lambda model: model.roles)
    dtypes = _OfModel(lambda model: model.dtypes)
    packing = _OfModel(lambda model: model.packing)
    packed = _OfModel(lambda model: model.packed)
    adapter = _OfModel(lambda model: model.adapter)
    unexplained = _OfModel(lambda model: model.unexplained)
    tensors = _OfModel(lambda model: model.tensors)
    family = _OfModel(lambda model: model.family)
    counts = _OfModel(lambda model: model.counts)

    @property
    def on_disk(self) -> int:
        """Bytes of all weight files."""
        return self.checkpoint.size

    @property
    def stored_elements(self) -> int:
        """Elements of all tensors, as they are stored."""
        return sum(each.elements for each in self.dtypes)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The checkpoint's, and those of the join."""
        return (*self.checkpoint.all_findings, *self.model.findings)

    @property
    def verdict(self) -> Verdict:
        """Whether the checkpoint is whole, by the bridge and the findings: a cut file's bridge adds up, too."""
        findings = self.findings
        errors = [each for each in findings if each.severity == "error"]
        if errors:
            return Verdict(self._state(errors), f"{plural(len(errors), 'error')}, listed below")
        warned = [each.rule for each in findings if each.severity == "warning"]
        if misfits := sum(rule in _MISFIT for rule in warned):
            return Verdict("damaged", f"{plural(misfits, 'warning')}, listed below")
        if short := sum(step.bytes for step in self.steps if step.cause == "truncated"):
            return Verdict("damaged", f"{plural(-short, 'byte')} missing at the end")
        if not any(header.tensors for header in self.checkpoint.files):
            return Verdict("unknown", "no tensors: a vocabulary, or an empty file")
        if self.prediction is None or self.prediction.config.relative:
            reasons = (each.message for each in findings if each.rule == "no-prediction")
            return Verdict("unknown", next(reasons, "no prediction"))
        if self.unexplained or self.unexplained_bytes:
            what = f"{plural(len(self.unexplained), 'tensor')} unexplained, {decimal(self.unexplained_bytes)}"
            return Verdict("unknown", what)
        if absent := sum(rule in _ABSENT for rule in warned):
            return Verdict("incomplete", f"{plural(absent, 'warning')}, listed below")
        return Verdict("complete", "complete, every byte explained")

    def _state(self, errors: list[Finding]) -> Literal["incomplete", "damaged", "unknown"]:
        """What errors say: those of the files' readers are damage, unless all are about what is absent."""
        if all(each.rule in _ABSENT for each in errors):
            return "incomplete"
        return "unknown" if {*errors}.isdisjoint(self.checkpoint.all_findings) else "damaged"

    @property
    def is_pipeline(self) -> bool:
        """Whether this is the sum of several models."""
        return len(self.components) > 1 and self.on_disk == sum(part.size for part in self.components)

    def has(self, variant: Variant) -> bool:
        """Whether a variant's files are among those that were joined."""
        return {header.path for header in self.checkpoint.files}.issuperset(variant.paths)

    def bits_of(self, variant: Variant) -> float | None:
        """Bits per parameter, counted for the inspected variant and inferred for the others of its model.

        Everything besides weights is assumed to be as large as in the inspected file: in GGUF it is the same
        vocabulary. None for another model (a file too large for these parameters is one too), for a pipeline's part,
        and if no parameters were counted.
        """
        inspected = self.checkpoint.variants[0]
        if not self.logical or (variant.model, variant.format) != (inspected.model, inspected.format):
            return None
        if self.on_disk != inspected.size:  # of several models together
            return None
        bits = max(0, variant.size - (self.on_disk - self.weight_bytes)) * 8 / self.logical
        return bits if bits <= WIDEST else None

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
