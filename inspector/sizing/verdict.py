"""The answer first: does it fit, up to which context, and what would make more of it fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.sizing.devices import MEMORY, Device, devices, typed
from inspector.sizing.memory import Memory, cache_types, on_devices
from inspector.sizing.placement import Placed
from inspector.sizing.weights import Weights
from inspector.tabular import NamedTuple, Tabular
from inspector.units import escape

#: Sizes of usual devices, from small to large: what is compared if none is named.
USUAL = ("8GiB", "12GiB", "16GiB", "24GiB", "32GiB", "48GiB", "80GiB", "2x80GiB", "4x80GiB", "8x80GiB", "8x141GiB")
#: How many of them are shown.
SHOWN = 4
#: Hundredths of the need within which an estimate could turn a verdict: activations, the driver's share.
CLOSE = 3
#: Numbers of devices that are tried; powers of two where the heads are divided.
COUNTS = (2, 3, 4, 6, 8, 16)
#: Weights that do not fit either are advised if they take at most this share of the bytes of now.
HELPS = 0.9
#: Narrower types of a cache that are advised → the option's word, from wide to narrow.
CACHES = {"F16": "f16", "BF16": "bf16", "F8": "fp8", "Q8_0": "q8_0", "Q4_0": "q4_0"}
#: The shortest context of a table.
SHORT = 4096


class Choice(NamedTuple):
    """A model on some devices."""

    devices: tuple[Device, ...]
    placed: tuple[Placed, ...]

    @property
    def fits(self) -> bool | None:
        """Whether the requested context does, or the model's own; None if the cache is unknown."""
        verdicts = [each.fits for each in self.placed]
        return False if False in verdicts else None if None in verdicts else True

    @property
    def longest(self) -> int | None:
        """The longest context that fits; None if not even one token does, or the cache is unknown."""
        lengths = [each.longest_context for each in self.placed]
        return None if None in lengths else min((each for each in lengths if each), default=None)

    @property
    def nbytes(self) -> int:
        """What is on all devices."""
        return sum(each.nbytes for each in self.placed)

    @property
    def left(self) -> int:
        """What is left on the fullest device; negative if it has too little."""
        return min((each.room or 0) - each.nbytes for each in self.placed)

    @property
    def close(self) -> bool:
        """Whether the fullest device's need and its room differ by less than the estimates may be wrong."""
        return any(abs((each.room or 0) - each.nbytes) * 100 <= CLOSE * each.nbytes for each in self.placed)


class Remedy(NamedTuple):
    """What would make the wanted context fit, or more of it."""

    change: str  # in words
    option: str  # of the command, or of llama.cpp
    total: int  # bytes on all devices then
    fits: bool
    longest_context: int | None


@dataclass(frozen=True, slots=True)
class Verdict(Tabular):
    """Whether a model fits, on which devices, and what would help."""

    result: Memory
    choice: Choice | None  # the devices in question; None if none is known
    fits: bool | None  # whether they have room for the requested context, or the model's own; or for training it
    named: bool  # whether they were named, or found on this machine
    others: tuple[Choice, ...]  # the rest of this machine, and usual sizes, if none were named
    remedies: tuple[Remedy, ...]

    def __repr__(self) -> str:
        word = {True: "fits", False: "does not fit", None: "unknown"}[self.fits]
        names = dict.fromkeys(each.name for each in self.choice.devices) if self.choice else ()
        return f"<Verdict {escape(self.result.model.target, 100)}: {word}{': ' if names else ''}{', '.join(names)}>"


def verdict_of(result: Memory) -> Verdict:
    """The verdict on the named devices; or, if there are none, on this machine's, and usual sizes beside."""
    named = tuple(each.device for each in result.devices if each.device)
    choices = [Choice(named, result.devices)] if named else []
    if not named:
        from inspector.sizing import machine  # for this question alone

        rest = dict.fromkeys((machine.here(), machine.found()[-1:]))
        choices = [Choice(each, on_devices(result, each)) for each in rest if each]
    if result.training:
        room = min((each.room or 0 for choice in choices[:1] for each in choice.placed), default=None)
        fits = None if room is None else result.training.total <= room
        return Verdict(result, choices[0] if choices else None, fits, bool(named), (), ())
    others = () if named else (*choices[1:], *usual(result))
    if not choices:
        return Verdict(result, None, None, False, others, ())
    return Verdict(result, choices[0], choices[0].fits, bool(named), others, tuple(remedies(result, choices[0])))


def usual(result: Memory) -> Iterator[Choice]:
    """Usual sizes: the last on which nothing fits, and larger ones until everything does, or all that is known."""
    found: list[Choice] = []
    for text in USUAL:
        named = devices(text)
        found.append(Choice(named, on_devices(result, named)))
        if found[-1].fits is not False:
            break
    some = [number for number, each in enumerate(found) if each.longest or each.fits is not False]
    first = max(0, (some[0] if some else len(found)) - 1)
    ladder = found[first:]
    yield from ladder if len(ladder) <= SHOWN else (*ladder[: SHOWN - 1], ladder[-1])


def contexts_of(result: Memory, choice: Choice | None) -> tuple[int, ...]:
    """Contexts for a table: a short one, the longest that fits, the requested one, and the model's own."""
    goal = result.request.context
    longest = choice.longest if choice else None
    made_for = result.model.context or goal
    lengths = {goal, min(made_for, SHORT), *((made_for,) if not result.asked else ()), *((longest,) if longest else ())}
    if len(lengths) == 2 and goal >= 4 * SHORT:
        lengths.add(1 << (goal.bit_length() + SHORT.bit_length() - 1) // 2)  # one between them
    return tuple(sorted(lengths))


def remedies(result: Memory, choice: Choice) -> Iterator[Remedy]:
    """What would make the wanted context fit, each by itself."""
    if choice.fits is not False or None in [each.cache for each in choice.placed]:
        return
    yield from _other_caches(result, choice)
    yield from _shorter(result, choice)
    yield from _fewer_layers(choice)
    yield from _smaller_weights(result, choice)
    yield from _more_devices(result, choice)


def _remedy(change: str, option: str, choice: Choice) -> Remedy:
    return Remedy(change, option, choice.nbytes, bool(choice.fits), choice.longest)


def _other_caches(result: Memory, choice: Choice) -> Iterator[Remedy]:
    for keys, _ in cache_types(result)[1:]:
        if keys.name in CACHES:
            found = Choice(choice.devices, on_devices(result, choice.devices, keys=keys))
            yield _remedy(f"a cache in {keys.name}", f"--cache-dtype {CACHES[keys.name]}", found)
            if found.fits:
                return


def _shorter(result: Memory, choice: Choice) -> Iterator[Remedy]:
    if choice.longest and choice.longest < result.request.context:
        placed = on_devices(result, choice.devices, context=choice.longest, searched=False)
        found = Choice(choice.devices, placed)
        yield Remedy("a shorter context", f"--context {choice.longest}", found.nbytes, True, choice.longest)


def _fewer_layers(choice: Choice) -> Iterator[Remedy]:
    """llama.cpp's `-ngl`."""
    for each in choice.placed:
        graphics = each.device is not None and each.device.name != MEMORY
        if graphics and each.layers_offloaded and each.bytes_offloaded is not None:
            change = f"{each.layers_offloaded} of {each.layers_in_all} layers on the GPU"
            yield Remedy(change, f"-ngl {each.layers_offloaded}", each.bytes_offloaded, True, None)


def _smaller_weights(result: Memory, choice: Choice) -> Iterator[Remedy]:
    from inspector.sizing.packings import smaller  # only if it does not fit

    def on(weights: Weights, *, searched: bool = False) -> Choice:
        return Choice(choice.devices, on_devices(result, choice.devices, weights=weights, searched=searched))

    room = result.weights.nbytes + choice.left * len(choice.devices)
    found = smaller(result.model, result.engine.name, result.weights, room, lambda weights: bool(on(weights).fits))
    if found is not None:
        name, weights = found
        if not on(weights).fits and weights.nbytes > result.weights.nbytes * HELPS:
            return  # Mixtral's experts, which bitsandbytes leaves plain
        yield _remedy(f"weights in {name}", f"--weights {name.lower()}", on(weights, searched=True))


def _more_devices(result: Memory, choice: Choice) -> Iterator[Remedy]:
    """The smallest number of the same devices that is enough."""
    if len(set(choice.devices)) > 1 or choice.devices[0].name == MEMORY:
        return
    (device, *_), now = choice.devices, len(choice.devices)
    counts = (each for each in COUNTS if each > now and (result.engine.over != "heads" or each.bit_count() == 1))
    for number in counts:
        found = Choice((device,) * number, on_devices(result, (device,) * number, searched=False))
        if found.fits:
            yield Remedy(f"{number} such devices", f"--gpu {number}x{typed(device)}", found.nbytes, True, None)
            return
