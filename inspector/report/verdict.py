"""The first screen of `inspect memory`: the verdict as a sentence, the memory over contexts, what would help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.report.columns import table
from inspector.report.tables import Rows, columns
from inspector.sizing.devices import MEMORY, Device
from inspector.sizing.memory import Memory, at_context, beside, on_devices
from inspector.sizing.verdict import CLOSE, Choice, Remedy, Verdict, contexts_of
from inspector.units import decimal, escape, integer

if TYPE_CHECKING:
    from inspector.sizing.training import Training

#: The driver's own words in devices' names, which need no repeating.
_VENDORS = ("NVIDIA GeForce ", "NVIDIA ", "AMD ", "Radeon ")
#: Words of our devices' names that are not written in capitals.
_WORDS = {"ti": "Ti", "super": "Super", "ada": "Ada", "pro": "Pro", "pcie": "PCIe", "arc": "Arc"}


def sentence(result: Memory, verdict: Verdict) -> str:
    """Whether it fits, and up to which context: `fits an RTX 4060 (8 GB) up to 21,760 tokens; …`."""
    choice = verdict.choice
    if result.training:
        return _of_training(result.training, verdict)
    if choice is None:
        return f"takes {_about(result.total)}{_at(result)}; no device of this machine was found, --gpu names one"
    where, need = place(choice.devices, here=not verdict.named), _about(choice.nbytes)
    where = f"in {where}" if _sized(choice) else where
    close = f"; within {CLOSE} %: too close to call" if choice.close else ""
    if choice.fits is None:
        return f"its weights, {_about(result.weights.nbytes)}, fit {where}; what running takes besides is unknown"
    if result.model.kept == ():
        return f"{'fits' if choice.fits else 'does not fit'} {where}: it takes {need}{close}"
    goal = integer(result.request.context)
    full = "its full " if not result.asked and result.model.context else ""
    if choice.fits:
        longer = choice.longest and choice.longest > result.request.context
        more = f"; up to {integer(choice.longest or 0)} fit" if longer else ""
        return f"fits {where} with {full}{goal} tokens: takes {need}, leaves {_about(_left(choice))}{more}{close}"
    if any(each.room is not None and each.weights > each.room for each in choice.placed):
        needs, room = result.weights.nbytes, sum(each.room or 0 for each in choice.placed)
        if needs > sum(each.nbytes for each in choice.devices):
            return f"does not fit {where}: its weights alone take {_about(needs)}{close}"
        return f"does not fit {where}: its weights alone take {decimal(needs)}, and {decimal(room)} are free{close}"
    if choice.longest is None:
        return f"does not fit {where}: takes {need}{_at(result)}{close}"
    if result.asked:
        longest = f"up to {integer(choice.longest)} fit"
        return f"does not fit {where} with {goal} tokens: takes {need}; {longest}{close}"
    return f"fits {where} up to {integer(choice.longest)} tokens; {full}{goal} would take {need}{close}"


def _of_training(training: Training, verdict: Verdict) -> str:
    need = f"training takes {_about(training.total)} on each device"
    if verdict.choice is None:
        return need
    where = f"{'in ' if _sized(verdict.choice) else ''}{place(verdict.choice.devices[:1], here=not verdict.named)}"
    return f"{'fits' if verdict.fits else 'does not fit'} {where}: {need}"


def _at(result: Memory) -> str:
    return f" at {integer(result.request.context)} tokens" if result.model.kept else ""


def _left(choice: Choice) -> int:
    return sum(each.room or 0 for each in choice.placed) - choice.nbytes


def place(devices: Sequence[Device], *, here: bool = False) -> str:
    """Devices in a sentence: `an RTX 4060 (8 GiB)`, `2 × H100 (80 GB each)`, `8 GB`, `this machine's memory`."""
    names = list(dict.fromkeys(each.name for each in devices))
    first, number = devices[0], len(devices)
    whose = "this machine's " if here else ""
    if len(names) > 1:
        return f"{whose}{' + '.join(label(each) for each in devices[:4])} ({_memory(devices)})"
    name = label(first)
    if not _is_named(first):
        return f"{number} × {name}" if number > 1 else name
    if number > 1:
        return f"{whose}{number} × {name} ({_memory(devices[:1])} each)"
    article = whose or ("" if first.name == MEMORY else "an " if name[:1] in "AEFHLMNRSX8" else "a ")
    return f"{article}{name} ({_memory(devices)})"


def _is_named(device: Device) -> bool:
    return not device.name[:1].isdigit() or device.bandwidth is not None


def _memory(devices: Sequence[Device]) -> str:
    """`8 GB`, as vendors say for GiB; `22.5 GiB`, which no vendor says."""
    tenths = (sum(each.nbytes for each in devices) * 10 + 2**29) >> 30
    whole = (tenths + 5) // 10
    return f"{whole} GB" if abs(tenths - whole * 10) * 10 <= whole else f"{tenths / 10:g} GiB"


def _about(nbytes: int) -> str:
    """`22.4 GB`: for a sentence."""
    number, unit = decimal(nbytes).split()
    return f"{float(number):.1f} {unit}"


def label(device: Device) -> str:
    """A device's name as vendors write it: `rtx-4070-ti-super` → `RTX 4070 Ti Super`."""
    name = escape(device.name, 40)
    for vendor in _VENDORS:
        name = name.removeprefix(vendor)
    if not _is_named(device):
        return re.sub(r"(?<=[\d.])\s*(?=[A-Za-z])", " ", name)
    if name != name.lower() or name == MEMORY:
        return name
    return " ".join(_WORDS.get(word, word.upper()) for word in name.replace("-", " ").split())


# --- tables -------------------------------------------------------------------------------------------


def over_contexts(result: Memory, verdict: Verdict) -> str:
    """Weights, cache, activations and their sum at a few contexts, and what is left on the devices."""
    choice, known = verdict.choice, result.cache is not None
    lengths = contexts_of(result, choice) if result.model.kept else (result.request.context,)
    states = [_state(result, choice, each) for each in lengths]
    tokens = (*map(integer, lengths), "tokens") if result.model.kept else ("", "")
    rows = [
        ("weights", *(decimal(each.weights) for each in states), escape(result.weights.dtype, 30)),
        ("cache", *(decimal(each.cache) if known else "unknown" for each in states), cached(result)),
        ("activations", *(decimal(each.activations) for each in states), reserved(result)),
        ("beside", *(decimal(each.beside) for each in states), ", ".join(_named(result))),
        ("total", *(decimal(each.total) for each in states), "" if known else "without the cache"),
    ]
    if not any(result.model.beside):
        del rows[3]
    if not result.activations:
        del rows[2]
    if choice and known:
        of = "on the fullest device" if len(choice.devices) > 1 else ""
        rows.append(("left", *(decimal(each.left) for each in states), of))
        rows.append(("it fits", *("yes" if each.left >= 0 else "no" for each in states), ""))
    return table(rows, ("", *tokens) if any(tokens) else (), "l" + "r" * len(states) + "l")


class _State(NamedTuple):
    """The memory at one context, on all devices together."""

    weights: int
    cache: int
    activations: int
    beside: int  # a vision tower, a draft model
    left: int  # on the fullest device

    @property
    def total(self) -> int:
        return self.weights + self.cache + self.activations + self.beside


def _state(result: Memory, choice: Choice | None, tokens: int) -> _State:
    own = at_context(result, tokens)
    loaded = sum(each.nbytes for each in beside(result.model, result.engine, own.request))
    if choice is None:
        computed = sum(each.nbytes for each in own.other) + (own.activations.nbytes if own.activations else 0)
        return _State(own.weights.nbytes, own.cache or 0, computed - loaded, loaded, 0)
    if tokens != result.request.context:
        choice = Choice(choice.devices, on_devices(result, choice.devices, context=tokens, searched=False))
    placed = choice.placed
    return _State(
        sum(each.weights for each in placed),
        sum(each.cache or 0 for each in placed),
        sum(each.activations for each in placed) - loaded,
        loaded,
        choice.left,
    )


def _named(result: Memory) -> Iterator[str]:
    tower, draft = result.model.beside
    if tower is not None:
        yield escape(tower.checkpoint.target.rpartition("/")[2], 30)
    if draft is not None:
        yield f"draft: {escape(draft.target.rpartition('/')[2], 30)}"


def reserved(result: Memory) -> str:
    """Whether the activations are an engine's own reservation, or an estimate."""
    version = result.activations.version if result.activations else None
    if result.engine.asked:
        return f"as {version} answers"
    return f"as {result.engine.name} {version} reserves them" if version else "an estimate"


def cached(result: Memory) -> str:
    """The type of the cache, and whether it was compared with the engine's own."""
    if result.cache is None:
        return ""
    if not result.model.kept:
        return "none: it generates nothing"
    keys, values = result.request.keys.name, result.request.values.name
    dtype = keys if keys == values else f"{keys}, {values}"
    return dtype if result.confirmed else f"{dtype}, unconfirmed"


def others(result: Memory, verdict: Verdict) -> Iterator[str]:
    """How long a context fits on the rest of this machine, and on usual sizes: one line."""
    reached = [f"{_usual(each)} {reach(result, each)}" for each in verdict.others]
    if reached:
        what = "longest on" if result.model.kept else "fits" if result.cache is not None else "its weights fit"
        yield f"{what} {', '.join(reached)}"


def _usual(choice: Choice) -> str:
    """This machine's other devices, or a usual size of cards: `2 × 80 GB`."""
    if not _sized(choice):
        return place(choice.devices, here=True)
    return f"{len(choice.devices)} × ".removeprefix("1 × ") + _memory(choice.devices[:1])


def _sized(choice: Choice) -> bool:
    return not _is_named(choice.devices[0])


def reach(result: Memory, choice: Choice) -> str:
    """The longest context on some devices, in a few words."""
    if not result.model.kept:
        return "no" if choice.fits is False else "yes"
    if choice.longest is None:
        return "none"
    return "all" if choice.longest == result.model.context else integer(choice.longest)


def help_lines(result: Memory, verdict: Verdict) -> Iterator[str]:
    """What would make more of it fit, each with its number."""
    if not verdict.remedies:
        return
    rows = [
        (escape(each.change, 40), escape(each.option, 40), decimal(each.total), _outcome(each))
        for each in verdict.remedies
        if result.asked or not each.option.startswith("--context")  # the sentence has it
    ]
    tokens = integer(result.request.context)
    yield table(rows, (f"to have {tokens} tokens", "", "takes", "fits"), "llrl")
    if any(each.option.startswith("-ngl") for each in verdict.remedies):
        yield "-ngl is llama.cpp's: the other layers stay in the machine's memory, slower"


def _outcome(remedy: Remedy) -> str:
    if remedy.fits:
        return "yes"
    return f"up to {integer(remedy.longest_context)}" if remedy.longest_context else "no"


def lines(verdict: Verdict) -> Iterator[str]:
    """The sentence, and what would help."""
    yield sentence(verdict.result, verdict)
    yield from help_lines(verdict.result, verdict)
    yield from others(verdict.result, verdict)


#: Columns of a table with a row for each choice of devices.
COLUMNS = columns("devices bytes:uint64 left:int64 fits:bool longest_context:uint64")


def rows(verdict: Verdict) -> Rows:
    """One row for each choice of devices, the one in question first."""
    choices = [*([verdict.choice] if verdict.choice else []), *verdict.others]
    return Rows(COLUMNS, [
        {
            "devices": " + ".join(device.name for device in each.devices), "bytes": each.nbytes, "left": each.left,
            "fits": each.fits, "longest_context": each.longest,
        }
        for each in choices
    ])  # fmt: skip


def document(result: Memory, verdict: Verdict) -> dict[str, Any]:
    """The verdict in `inspect memory --json`."""
    return {
        "fits": verdict.fits,
        "sentence": sentence(result, verdict),
        "close": verdict.choice.close if verdict.choice else None,
        "longest_context": verdict.choice.longest if verdict.choice else None,
        "devices": [each.name for each in verdict.choice.devices] if verdict.choice else [],
        "named": verdict.named,
        "remedies": [each._asdict() for each in verdict.remedies],
        "elsewhere": [
            {
                "name": place(each.devices, here=not _sized(each)),
                "bytes": sum(device.nbytes for device in each.devices),
                "fits": each.fits,
                "longest_context": each.longest,
            }
            for each in verdict.others
        ],
    }
