"""The bridge's ledger: bytes by cause; and the named causes of what lies between stated, predicted and stored sizes.

One row per cause, in the order in which the bridge shows them. A row with a test claims tensors that are not predicted;
the first that claims a tensor accounts for its bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from inspector.formats import training
from inspector.model import Expected, Header, Key, Prediction, Reconciliation, Step, Tensor
from inspector.tabular import NamedTuple
from inspector.units import escape, integer, plural


class Surplus(NamedTuple):
    """A stored tensor that matches no row of the prediction."""

    tensor: Tensor
    key: Key
    group: str
    prediction: Prediction | None
    is_number: bool = False  # whether the file has it as one that a training run counted or measured

    @property
    def layers(self) -> int:
        """Number of predicted layers."""
        rows = self.prediction.expected if self.prediction else ()
        return max((row.layers[-1] + 1 for row in rows if row.layers and row.tower == self.key.tower), default=0)


class Cause(NamedTuple):
    """Why bytes are present or absent."""

    name: str
    plain: str  # in a few words, for the first screen
    meaning: str
    claims: Callable[[Surplus], bool] | None = None  # which surplus tensors it explains
    parameters: bool = True  # whether Transformers counts those as parameters of the model
    word: Callable[[str], str] | None = None  # a tensor's display name; None for the end of its name


def is_tied(surplus: Surplus) -> bool:
    """A copy of a tied weight, or of the embedding under a module's own name: `encoder.embed_tokens.weight`."""
    prediction, key = surplus.prediction, surplus.key
    if prediction is None:
        return False
    own = key.role, key.part, key.tower, key.branch
    if any((row.role, row.part, row.tower, row.branch) == own for row in prediction.tied):
        return True
    return (
        key.layer is None
        and key.role == "embed_tokens"
        and any(
            (row.role, row.part, row.shape) == (key.role, key.part, surplus.tensor.shape) for row in prediction.expected
        )
    )


def _is_second_copy(surplus: Surplus) -> bool:
    """The embedding and head in a layer that predicts further tokens, or a base's weight next to its adapter."""
    base = surplus.prediction.base if surplus.prediction else None
    if base is not None and surplus.group != "adapter":
        rows = (*base.expected, *base.tied)
        own = surplus.key.role, surplus.key.part, surplus.key.branch
        return any((row.role, row.part, row.branch) == own for row in rows)
    if surplus.group != "adapter" and ".base_layer." in surplus.tensor.name:  # as PEFT wraps adapted modules
        return surplus.key.part != "bias"  # PEFT stores a bias if it was trained
    return surplus.key.layer is not None and surplus.key.role in ("embed_tokens", "lm_head") and _is_ahead(surplus)


def _is_ahead(surplus: Surplus) -> bool:
    words = surplus.tensor.name.split(".")
    if any(word in ("mtp", "mtp_layers", "nextn") for word in words):
        return True
    config = surplus.prediction.config.values if surplus.prediction else {}
    more = config.get("num_nextn_predict_layers") or config.get("num_mtp_layers") or 0
    layer = surplus.key.layer
    return (
        isinstance(more, int)
        and layer is not None
        and surplus.layers <= layer < surplus.layers + more
        and _is_among_layers(surplus, words)
    )


def _is_among_layers(surplus: Surplus, words: list[str]) -> bool:
    """Whether the number in a name counts the model's layers: `layers.61`, but not `tower.61`."""
    rows = surplus.prediction.expected if surplus.prediction else ()
    stacks = {row.name.partition(".{layer}")[0].rpartition(".")[2] for row in rows if row.layers}
    number = str(surplus.key.layer)
    return any(after == number and before in stacks for before, after in pairwise(words))


def _is_optional(surplus: Surplus) -> bool:
    """A tensor that is optional in the architecture, or a bias in a GGUF file, which no key-value announces."""
    prediction, key = surplus.prediction, surplus.key
    if prediction is None:
        return False
    bias = prediction.config.kind == "gguf" and key.part == "bias"
    rows = (*prediction.optional, *(prediction.expected if bias else ()))
    return any(
        (row.role, row.tower, row.branch) == (key.role, key.tower, key.branch)
        and row.part in (key.part, "weight" if bias else "")
        and (key.layer in row.layers if row.layers is not None else key.layer is None)
        and surplus.tensor.elements in (row.elements, _outputs(row) if bias else row.elements)
        for row in rows
    )


def _outputs(row: Expected) -> int:
    """Elements of a weight's bias: one for each row of its matrix, or of each expert's."""
    return prod(row.shape[: 1 if row.stacked is None else 2])


def _is_adapter(surplus: Surplus) -> bool:
    """An adapter's weight beside the model's; what a predicted adapter has beyond its prediction is unexplained."""
    if surplus.prediction and surplus.prediction.base is not None:
        return False
    return surplus.group == "adapter" or "lora_" in surplus.tensor.name or surplus.tensor.name.startswith("base_model.")


def _is_state(surplus: Surplus) -> bool:
    """An optimizer's per-parameter state, and other state, by training frameworks' names or by its place."""
    return surplus.is_number or training.is_state(surplus.tensor.name)


def _is_data(surplus: Surplus) -> bool:
    """A file's bytes, a counter, or a number that a training run measured."""
    return training.is_data(*surplus.tensor[:3])


CAUSES: tuple[Cause, ...] = (
    Cause("label_rounding", "rounding of the name", "the name rounds the number of parameters"),
    Cause(
        "label_experts",
        "shared parts, which the name counts for each expert",
        '"8x7B" counts the shared parameters once per expert',
    ),
    Cause(
        "tied_embeddings",
        "tied head",
        "the output head is the token embedding: not stored, or stored twice",
        is_tied,
        False,
    ),
    Cause("duplicate", "stored twice", "a tensor stored twice", _is_second_copy, False),
    Cause(
        "vocab_padding", "rows of the vocabulary", "embedding rows more or fewer than the configuration's vocabulary"
    ),
    Cause("shape", "other shapes", "a tensor whose size differs from the configuration's"),
    Cause("missing", "missing", "tensors that the configuration implies, but no file has"),
    Cause(
        "prediction_head", "layers that predict further tokens", "layers that predict further tokens", _is_ahead, False
    ),
    Cause(
        "optional",
        "optional tensors",
        "optional tensors of such models, about which the configuration says nothing",
        _is_optional,
    ),
    Cause(
        "another_class",
        "parts of another class",
        "what another class of the family has, and the configuration's does not load",
        None,
        False,
    ),
    Cause("adapter", "adapter weights", "adapter weights stored with the model's", _is_adapter),
    Cause(
        "training_state",
        "a training run's state",
        "a training run's state stored with the weights",
        _is_state,
        False,
        training.kind_of,
    ),
    Cause("buffer", "buffers", "stored constants that are not parameters", _is_data, False),
    Cause("quantization_overhead", "scales of packed weights", "scales, zero points and the like", None, False),
    Cause("sparsity", "zeros left out", "zeros that a sparse checkpoint does not store"),
    Cause("unquantized", "kept at full precision", "weights that a quantized checkpoint keeps at full precision"),
    Cause("mixed_dtype", "stored in another type", "tensors stored in another dtype than the prediction assumes"),
    Cause("size_mismatch", "sizes that do not match", "tensors whose bytes do not match shape and dtype"),
    Cause("header", "headers", "a file's description of its tensors"),
    Cause("metadata", "metadata", "GGUF key-values, except the tokenizer's"),
    Cause("tokenizer", "tokenizer", "the tokenizer, in GGUF's key-values"),
    Cause("tensor_table", "table of tensors", "GGUF's table of tensors"),
    Cause("pickle", "pickle", "the pickle that names the tensors"),
    Cause(
        "archive", "ZIP archive", "the ZIP archive around the tensors: a record for each storage, and the list of them"
    ),
    Cause("alignment", "padding", "padding between tensors"),
    Cause("trailing", "bytes of no tensor", "bytes that no tensor claims"),
    Cause("truncated", "cut off", "bytes that a header claims beyond the file's end"),
    Cause("overlap", "bytes of several tensors", "bytes that several tensors claim"),
    Cause("unreadable", "unreadable files", "files without a readable header"),
)

BY_NAME: Mapping[str, Cause] = {cause.name: cause for cause in CAUSES}
ORDER: Mapping[str, int] = {cause.name: at for at, cause in enumerate(CAUSES)}

#: Group → the cause that claims its tensors in any layer: they are never parameters.
_BY_GROUP: Mapping[str, str] = {"quantization": "quantization_overhead", "buffer": "buffer"}

#: Region of a file → the cause of its bytes. Regions of tensors have none.
REGION_CAUSES: Mapping[str, str] = {
    "length": "header",
    "header": "header",
    "metadata": "metadata",
    "tokenizer": "tokenizer",
    "tensor table": "tensor_table",
    "pickle": "pickle",
    "archive": "archive",
    "padding": "alignment",
    "hole": "trailing",
    "trailing": "trailing",
    "unreadable": "unreadable",
}


def cause_of(surplus: Surplus) -> Cause | None:
    """The first cause that claims a surplus tensor."""
    whatever = _BY_GROUP.get(surplus.group)
    if whatever is not None:
        return BY_NAME[whatever]
    return next((cause for cause in CAUSES if cause.claims and cause.claims(surplus)), None)


# --- the ledger -------------------------------------------------------------------------------

#: Kinds of tensors, or sentences, that a step lists: a quantized file has six or seven.
MOST_KINDS = 8


class Ledger:
    """Bytes by cause, with an explanation of each."""

    def __init__(self) -> None:
        self.bytes: Counter[str] = Counter()
        self.tensors: Counter[str] = Counter()
        self._kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)  # cause → what → tensors
        self._sizes: defaultdict[str, Counter[str]] = defaultdict(Counter)  # cause → what → absolute bytes
        self._sentences: defaultdict[str, dict[str, None]] = defaultdict(dict)  # cause → each sentence once, in order

    def add(self, cause: str, nbytes: int, what: str = "", tensors: int = 1) -> None:
        """Book the bytes of one or more tensors; equal `what` are counted together."""
        self.bytes[cause] += nbytes
        self.tensors[cause] += tensors
        if what:
            self._kinds[cause][what] += tensors
            self._sizes[cause][what] += abs(nbytes)

    def add_bytes(self, cause: str, nbytes: int, sentence: str = "") -> None:
        """Book bytes that belong to no tensor, with a whole sentence; each is shown once."""
        self.bytes[cause] += nbytes
        if sentence:
            self._sentences[cause][sentence] = None

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def steps(self) -> tuple[Step, ...]:
        """A step for each cause with bookings, in the causes' order."""
        booked = sorted(self.bytes, key=lambda cause: ORDER[cause])
        return tuple(
            Step(cause, self.bytes[cause], self.tensors[cause], self._detail(cause))
            for cause in booked
            if self.bytes[cause] or self.tensors[cause] or cause in self._sentences
        )

    def _detail(self, cause: str) -> str:
        counts = self._kinds[cause]
        kinds = (f"{integer(counts[what])} × {what}" for what, _ in self._sizes[cause].most_common())
        texts = (_first(self._sentences.get(cause, ()), "more"), _first(kinds, "more kinds"))
        return "; ".join(filter(None, texts)) or BY_NAME[cause].meaning


def _first(texts: Iterable[str], others: str) -> str:
    """The first of several texts, and how many remain."""
    listed = list(texts)
    more = len(listed) - MOST_KINDS
    return ", ".join([*listed[:MOST_KINDS], *([f"{more} {others}"] if more > 0 else [])])


def short(name: str) -> str:
    """The last words of a tensor's name that identify it: `rotary_emb.inv_freq`, `q_proj.bias`."""
    words = [word for word in name.split(".") if not word.isdigit() and not word.startswith("{")]
    if words[-1:] == ["weight"] and len(words) > 1:
        words.pop()
    return ".".join(words[-2:])


# --- bytes of files that belong to no tensor --------------------------------------------------


def book_files(ledger: Ledger, files: Sequence[Header]) -> None:
    """Book each file's bytes that belong to no tensor, and those that tensors claim beyond its end."""
    for header in files:
        for region in header.regions:
            cause = REGION_CAUSES.get(region.label)
            if cause is not None:
                ledger.add_bytes(cause, region.size, "" if cause == "header" else BY_NAME[cause].meaning)
        _book_claims(ledger, header)
    if "header" in ledger.bytes:
        for name, number in Counter(header.format for header in files).items():
            ledger.add_bytes("header", 0, plural(number, f"{name} header"))


def _book_claims(ledger: Ledger, header: Header) -> None:
    """Book what tensors claim beyond the regions that hold them."""
    held = sum(region.size for region in header.regions if region.label not in REGION_CAUSES)
    claimed = sum(tensor.nbytes for tensor in header.tensors)
    if claimed == held:
        return
    # All bytes of a tensor that begins beyond the end; of others, those after the end.
    beyond = sum(max(0, t.offset + t.nbytes - max(header.size, t.offset)) for t in header.tensors)
    if beyond:
        ledger.add_bytes("truncated", -beyond, f"{plural(beyond, 'byte')} beyond the end of {header.path}")
    if held - claimed + beyond:
        ledger.add_bytes("overlap", held - claimed + beyond, BY_NAME["overlap"].meaning)


_SHORT = 8  # characters of a dtype next to the label


def bridge_rows(result: Reconciliation) -> Iterator[tuple[int, bool, str, str]]:
    """The bridge as people read it: bytes, whether they are a step, their name, and the reason."""
    if result.nominal:
        whole = not result.nominal.bits % 8
        at = f"× {plural(result.nominal.bits // 8, 'byte')}" if whole else f"× {result.nominal.bits} bits"
        dtype = escape(result.dtype or "", 60)
        inline = f" ({dtype})" if 0 < len(dtype) <= _SHORT else ""
        yield result.nominal.bytes, False, f'"{escape(result.nominal.label)}" {at}{inline}', "" if inline else dtype
    elif result.predicted is not None:
        yield result.predicted, False, f"predicted, at {escape(result.dtype or '16 bits', 60)}", ""
    else:
        yield 0, False, "no prediction", ""
    for step in result.steps:
        yield step.bytes, True, step.cause, escape(step.detail, 160)
    if result.unexplained_bytes or result.unexplained:
        yield result.unexplained_bytes, True, "unexplained", unexplained(result)
    explained = "" if result.unexplained_bytes or result.unexplained else "unexplained: 0"
    yield result.on_disk, False, "on disk", explained


def unexplained(result: Reconciliation) -> str:
    """How many tensors nothing explains, and the names of the first three; "" for none."""
    names = ", ".join(escape(name, 60) for name in result.unexplained[:3])
    more = "…" if len(result.unexplained) > 3 else ""
    return f"{plural(len(result.unexplained), 'tensor')}: {names}{more}" if names else ""
