"""Size labels, "7B", "8x7B", "1.1B", "135M", read from a name or given; and the steps from there to the prediction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from inspector.architectures import PROJECTOR
from inspector.architectures.counts import ADDED_BY, explain
from inspector.architectures.prediction import NO_MODEL, size_of
from inspector.bridge import forecast
from inspector.bridge.ledger import Ledger
from inspector.errors import UsageError
from inspector.model import Checkpoint, ComponentSum, Config, Model, Nominal, Prediction
from inspector.sources.filenames import shard_of
from inspector.units import escape, integer

_UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}

# Not within a word: the 4b of `4bit`, the A3B (active) of `30B-A3B` and the E4B (effective) of `3n-E4B` are not sizes.
# Nor are the 17B of `17B-16E`, which counts active parameters, the 2T of `2T-tokens`, and the bits of `4b-128g`.
# In `bloom-7b1` the unit is the point. An underscore is one in `2-1_6b`, but a separator in `llama_2_7b`.
_IN_NAME = re.compile(
    r"(?<![A-Za-z0-9.])(?:(?P<experts>\d{1,3})x)?(?P<number>\d{1,4}(?:\.\d{1,3}|(?:(?<!_\d)(?<!_\d\d)|(?<=_0))_\d{1,3})?)"
    r"(?P<unit>[bmt])(?P<fraction>\d(?=[-_.]|$))?(?![A-Za-z0-9]|-\d+E\b|[-_]\d+g\b|[-_. ]?tokens\b)",
    re.IGNORECASE,
)
# Active parameters before all of them, as in `OLMoE-1B-7B`.
_ACTIVE = r"(?i)moe.*?(?<![A-Za-z0-9.])\d{1,3}(?:\.\d{1,3})?b-(?=\d{1,3}(?:\.\d{1,3})?b(?![A-Za-z0-9]))"
_GIVEN = r"(?:(?P<experts>\d{1,3})[x×])?(?P<number>[\d,_]+(?:\.\d+)?)\s*(?P<unit>[kmbt]?)"


def from_names(names: Iterable[str], bits: int) -> Iterator[Nominal]:
    """The labels in names, in their order."""
    for name in names:
        active = re.search(_ACTIVE, name) if "moe" in name.lower() else None
        for match in _IN_NAME.finditer(name, active.end() if active else 0):
            fraction = f".{match['fraction']}" if match["fraction"] else ""
            yield _nominal(match, match["number"].replace("_", ".") + fraction, bits)


#: How far a rounded size may be from the counted one.
WITHIN_TIMES = 2


def fits(nominal: Nominal, model: Model, components: Iterable[ComponentSum] = ()) -> bool:
    """Whether a label may be a size: of a context, a date, a version or a training set, none is near any count.

    Without a prediction, the files may have few of the parameters, or packed ones: only more contradict a label.
    """
    stated, counted = nominal.parameters, [model.logical, *(each.parameters for each in components)]
    if model.prediction is None:
        return model.logical <= WITHIN_TIMES * stated
    outside, predicted = _outside_experts(model.prediction), model.prediction.parameters
    twice = (nominal.experts - 1) * outside if outside < predicted else 0  # without experts nothing is shared
    counted += [predicted, predicted + twice]
    return any(stated <= WITHIN_TIMES * number and number <= WITHIN_TIMES * stated for number in counted)


def book_dropped(ledger: Ledger, nominal: Nominal, model: Model) -> None:
    """Say that a number in the name is not taken as the model's size."""
    number = model.prediction.parameters if model.prediction else model.logical
    what = f'"{escape(nominal.label)}" in the name is not its size, which is {integer(number)} parameters'
    ledger.add_bytes("label_rounding", 0, what)


def from_text(text: str, bits: int) -> Nominal:
    """A label that the user typed: `7B`, `8x7B`, or a whole number of parameters.

    Raises:
        UsageError: it is none of these.
    """
    match = re.fullmatch(_GIVEN, text.strip(), re.IGNORECASE)
    if not match or not match["number"].strip(",_"):
        raise UsageError(
            f"--label {escape(text)!r} is not a size: write 7B, 1.1B, 135M, 8x7B or a number of parameters"
        )
    return _nominal(match, match["number"].replace(",", "").replace("_", ""), bits)


def _nominal(match: re.Match[str], number: str, bits: int) -> Nominal:
    experts = int(match["experts"] or 1)
    whole, _, fraction = number.partition(".")
    # In whole numbers: 1.1 has no exact float.
    parameters = int(whole + fraction) * _UNITS.get(match["unit"].lower(), 1) // 10 ** len(fraction) * experts
    return Nominal(
        re.sub(r"\s", "", match[0]).replace("b", "B").replace("m", "M").replace("t", "T").replace("X", "x"),
        parameters,
        bits,
        experts,
    )


#: Fields that occur only in files whose model is in another file.
ACCOMPANYING = frozenset((NO_MODEL, PROJECTOR))


def names_of(checkpoint: Checkpoint) -> Iterator[str]:
    """Names that may contain the model's size, the most specific first.

    None for what accompanies a model (a projector, an importance matrix, a draft model): it is named after that model.
    """
    if checkpoint.config and _accompanies(checkpoint.config):
        return
    if len(checkpoint.files) == 1:
        yield checkpoint.files[0].path.rsplit("/", 1)[-1]
    elif checkpoint.files and (shard := shard_of(checkpoint.files[0].path)):
        yield shard.stem.rsplit("/", 1)[-1]
    if checkpoint.other is not None or checkpoint.origin.kind == "hub":
        yield checkpoint.name  # for a single file this is only the folder that it happens to be in
    origin = checkpoint.config.values.get("_name_or_path") if checkpoint.config else None
    if isinstance(origin, str):
        yield origin.rstrip("/").rsplit("/", 1)[-1]


def _accompanies(config: Config) -> bool:
    return (
        not ACCOMPANYING.isdisjoint(config.values) or forecast.called_draft(config) or forecast.has_draft_table(config)
    )


def book_label(ledger: Ledger, nominal: Nominal, prediction: Prediction, predicted: int) -> None:
    """Book what a label counts twice, and what it rounds.

    Args:
        predicted: bytes of the prediction.
    """
    outside = _outside_experts(prediction)
    twice = 0
    if nominal.experts > 1 and outside < prediction.parameters:
        twice = size_of((nominal.experts - 1) * outside, nominal.bits)
        what = f"{nominal.experts - 1} × {integer(outside)} parameters shared by the experts, counted again"
        ledger.add_bytes("label_experts", -twice, what)
    twice += _book_counted(ledger, nominal, prediction) if not twice and _is_exact(nominal) else 0
    what = f"the configuration says {integer(prediction.parameters)} parameters"
    ledger.add_bytes("label_rounding", predicted - nominal.bytes + twice, what)


#: A label with as many digits is a count, not a rounded size: what it adds to ours and omits can be found.
EXACT_DIGITS = 6


def _is_exact(nominal: Nominal) -> bool:
    return sum(letter.isdigit() for letter in nominal.label) >= EXACT_DIGITS


def _book_counted(ledger: Ledger, nominal: Nominal, prediction: Prediction) -> int:
    """Book what an exact count adds to the prediction or omits; the bytes of it."""
    found = explain(prediction, nominal.parameters)
    if not found.near:
        return 0
    booked = 0
    for sign, parts, verb in ((-1, found.added, "includes"), (1, found.omitted, "omits")):
        for part, parameters in parts:
            nbytes = sign * size_of(parameters, nominal.bits)
            cause = ADDED_BY.get(part, "label_rounding")
            ledger.add_bytes(cause, nbytes, f"the label {verb} {part}: {integer(parameters)}")
            booked -= nbytes
    return booked


def _outside_experts(prediction: Prediction) -> int:
    """The parameters that experts share."""
    return sum(row.parameters for row in prediction.expected if not row.experts and not row.stacked)
