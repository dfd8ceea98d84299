"""Records of diffusers' model classes, as `build.py` makes them of Transformers' types, with their traces.

    python -m zoo.build_diffusers --out DIR/truth [--types a,b] [--jobs N]
    python -m zoo.build_diffusers --out DIR/held --seed N [--types a,b]

A class's arguments are its configuration. The variants are those of `build.py`: the default; p1, p2 and p3 with few
layers and other numbers (p2 with other lists too, p3 with every flag turned); from p1 one argument changed; `x2_` and
`x3_` what brought or took tensors, from p2 and p3. `--seed` draws h1 to h4 instead: numbers, half of the flags, lists
and words, to hold out.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import multiprocessing
import os
import random
import re
import resource
import time
import warnings
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from zoo import records
from zoo.build import MEMORY_LIMIT
from zoo.build_diffusers_models import (
    Arguments,
    Unbuildable,
    annotated,
    build,
    configuration,
    declared,
    model_classes,
    plain,
    shapes,
    tensors,
    words_for,
)
from zoo.build_uses import uses
from zoo.trace import Tracing, numbered, parameters_keep_trees, stand_ins, trees_of
from zoo.trace_numbers import Recorder, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_STILL = re.compile(
    r"(eps|dropout|_prob|_scale|scaling_factor|shift_factor|theta|_std|_mean|momentum|temperature|freq_shift|"
    r"scale_factor|pad_token_id|interpolation_scale)$"
)
_LAYERS = re.compile(r"layers?$|depth|blocks?$|layers_per_block|num_res|n_layer|repeat|num_layer")
_HEADS = re.compile(r"heads?$|n_head")
#: Larger models are not traced: a small one shows the same.
MOST_TENSORS = 2500
#: Numbers of layers are reduced to this for records of a change.
FEW = (3, 2, 3)
#: Changes that are repeated from p2 and p3.
MOST_CROSSED = 30
Item = tuple[str, list[Any]]
#: A model, and its trace.
Made = tuple[Any, dict[str, Any]]
#: A variant's name, the arguments that it changes, and the result.
Change = tuple[str, Arguments, Made]


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_list(value: Any, kind: type | None = None) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and (kind is None or all(type(v) is kind for v in value))


class Maker:
    """Finds arguments of one class that build."""

    def __init__(self, cls: type[Any], deadline: float, recorder: Recorder, seed: int = 0) -> None:
        self.cls = cls
        self.recorder = recorder
        self.values = declared(cls)
        self.reported = annotated(cls)
        self.deadline = deadline
        self.patience = max(1.0, (deadline - time.process_time()) / 20)
        self.draw = random.Random(f"{seed} {cls.__name__}")
        self.seed = seed

    def builds(self, changes: Arguments) -> Any:
        """The model of these changes; None if it is refused. Raises TimeoutError."""
        if time.process_time() > self.deadline:
            raise TimeoutError
        with contextlib.suppress(Unbuildable):
            return build(self.cls, {**self.values, **changes})
        return None

    def traced(self, changes: Arguments) -> Made | None:
        """The model of these changes, built with traced numbers, and its dimensions' expressions."""
        if time.process_time() > self.deadline:
            raise TimeoutError
        values = {**self.values, **changes}
        given = {n: v if records.IRRELEVANT.search(n) else numbered(v, n) for n, v in values.items()}
        self.recorder.ranges = {}
        try:
            with Tracing(), torch.device("meta"):
                model = self.cls(**given)
            state = model.state_dict(keep_vars=True)
        except Exception:
            model = self.builds(changes)
            return None if model is None else (model, {"shapes": {}, "ranges": {}, "derived": {}})
        found = {name: [text(tree) for tree in trees_of(tensor)] for name, tensor in state.items()}
        return model, {"shapes": found, "ranges": self.recorder.ranges, "derived": {}}

    def grow(self, base: Arguments, items: list[Item]) -> Arguments:
        """As many of the items as still build within the time, each with the first of its values that does."""
        self.until = time.process_time() + self.patience
        return self._grow(base, items)

    def _grow(self, base: Arguments, items: list[Item]) -> Arguments:
        if not items or time.process_time() > self.until:
            return base
        trial = {**base, **{name: values[0] for name, values in items}}
        if self.builds(trial) is not None:
            return trial
        if len(items) == 1:
            name, values = items[0]
            for value in values[1:4]:
                if self.builds({**base, name: value}) is not None:
                    return {**base, name: value}
            return base
        half = len(items) // 2
        return self._grow(self._grow(base, items[:half]), items[half:])

    # --- values ---

    def few_layers(self, k: int) -> list[Item]:
        """Numbers of layers made small, so that models are quick to build."""
        found: list[Item] = []
        for at, (name, value) in enumerate(self.values.items()):
            if is_int(value) and _LAYERS.search(name) and value > 4:
                found.append((name, [FEW[(k + at) % 3] if not self.seed else self.draw.choice((2, 3, 4, 5)), 4, 6]))
        return found

    def numbers(self, k: int, done: Arguments) -> list[Item]:
        """Other values for the numbers."""
        found: list[Item] = []
        for at, (name, value) in enumerate(self.values.items()):
            if not is_int(value) or name in done or _STILL.search(name):
                continue
            found.append((name, self.near(name, value, k + at)))
        return found

    def near(self, name: str, value: int, turn: int) -> list[int]:
        """Values to try for a number, different ones in each round."""
        if value == 0:
            return [1]
        if value <= 8:
            options = [value + 1 + turn % 3, value + 1, 2 * value, value + 2, max(1, value - 1)]
        elif _HEADS.search(name):
            options = [[value // 2, 2 * value, value + 2, value // 4][turn % 4] or 1, 2 * value, value // 2]
        else:
            many = [2, 3, 5, 6, 7, 4][turn % 6]
            options = [many * value, 2 * value, 3 * value, value // 2 or 1, 4 * value]
            if self.seed:
                options = [self.draw.choice([2, 3, 4, 5, 6, 8, 10]) * value, *options]
        if self.seed:
            self.draw.shuffle(options)
        return [n for n in dict.fromkeys(options) if n != value]

    def lists(self, done: Arguments, k: int) -> list[Item]:
        """Other values for the lists."""
        found: list[Item] = []
        for name, value in {**self.values, **done}.items():
            if not is_list(value) or _STILL.search(name):
                continue
            if is_list(value, int):
                many = self.draw.choice([2, 3]) if self.seed else 2 + k % 2
                small = max(value) <= 8
                grown = [v + (at + k) % 2 for at, v in enumerate(value)] if small else [many * v for v in value]
                mixed = [(2 + (at + k) % 3) * v for at, v in enumerate(value)] if not small else grown
                found.append((name, [mixed, grown, [2 * v for v in value]]))
            elif is_list(value, str):
                turned = [*value[1:], value[0]] if k % 2 else list(value)[::-1]
                if self.seed:
                    turned = self.draw.sample(list(value), len(value))
                found.append((name, [turned, list(value)[::-1]]))
            elif is_list(value, bool):
                turned = [not v if (at + k) % 2 else v for at, v in enumerate(value)]
                if self.seed:
                    turned = [self.draw.random() < 0.5 for _ in value]
                found.append((name, [turned, [not v for v in value]]))
        return found

    def other_lengths(self, done: Arguments) -> Iterator[tuple[str, Arguments]]:
        """Related lists made shorter and longer: those of one length, with those one less."""
        values = {**self.values, **done}
        lengths = {name: len(value) for name, value in values.items() if is_list(value)}
        for length in sorted(set(lengths.values())):
            for wanted in ({length}, {length, length - 1}, {length, length + 1}):
                names = [name for name, n in lengths.items() if n in wanted]
                ones = [n for n in names if lengths[n] == length]
                for trial in (names, *([[n] for n in ones] if wanted == {length} else [])):
                    if len(wanted) > 1 and len({lengths[n] for n in trial}) < 2:
                        continue
                    label = f"{length}.{'-'.join(map(str, sorted(wanted)))}"
                    label += "" if trial is names else f".{trial[0]}"
                    if length > 1:
                        yield f"less{label}", {n: list(values[n])[1:] for n in trial if len(values[n]) > 1}
                        yield f"last{label}", {n: list(values[n])[:-1] for n in trial if len(values[n]) > 1}
                    yield f"more{label}", {n: [*values[n], self.after(values[n])] for n in trial}
                    if length == 1:
                        yield f"two{label}", {n: [*values[n], self.after(values[n]), values[n][0]] for n in trial}

    @staticmethod
    def after(values: Any) -> Any:
        """One more item: the last again, with numbers twice as large."""
        return 2 * values[-1] if is_int(values[-1]) and values[-1] > 8 else values[-1]

    def flags(self, done: Arguments) -> list[Item]:
        """Every flag flipped."""
        return [(n, [not v]) for n, v in {**self.values, **done}.items() if isinstance(v, bool)]

    def empty(self) -> list[Item]:
        """Values for empty arguments."""
        found: list[Item] = []
        for name, value in self.values.items():
            if value is None and not _STILL.search(name):
                options = [v for _, values, _ in self.alternatives(name, None) for v in values]
                if options:
                    found.append((name, options))
        return found

    def words(self) -> list[Item]:
        """Other words."""
        found: list[Item] = []
        for name, value in self.values.items():
            if isinstance(value, str):
                options = [w for w in words_for(self.cls, name, self.reported.get(name, "")) if w != value]
                if options:
                    self.draw.shuffle(options)
                    found.append((name, options))
        return found

    def alternatives(self, name: str, value: Any) -> Iterator[tuple[str, list[Any], bool]]:
        """Kind of change, values to try, and whether to use all or the first that builds."""
        reported = self.reported.get(name, "")
        optional = "None" in reported
        if isinstance(value, bool):
            yield "b", [not value], False
            if "tuple" in reported or "list" in reported:
                yield "l", [[not value, value, value, not value], [not value, value]], False
        elif is_int(value):
            if _STILL.search(name):
                return
            if value <= 12:
                yield "i", [v for v in (value + 1, value - 1) if v > 0], True
            if optional:
                yield "i", [None], True
            if "tuple" in reported or "list" in reported:
                yield "l", [[value + (at % 2) * max(value // 2, 1) for at in range(n)] for n in (4, 3, 2, 5)], False
        elif isinstance(value, float):
            if not re.search(r"eps|dropout|scaling_factor|theta", name):
                yield "f", [2 * value, value / 2, value + 0.5], False
            if optional:
                yield "f", [None], True
        elif isinstance(value, str):
            yield "s", [w for w in words_for(self.cls, name, reported) if w != value], True
            if optional:
                yield "s", [None], True
        elif isinstance(value, (list, tuple)):
            values = list(value)
            if is_list(value, str):
                kinds = list(dict.fromkeys([*values, *words_for(self.cls, name, reported)]))
                yield "l", [[kind] * len(values) for kind in kinds], True
                yield "l", [[kind, *values[1:]] for kind in kinds if kind != values[0]], True
                yield "l", [[*values[:-1], kind] for kind in kinds if kind != values[-1]], True
                yield "l", [values[::-1], [*values[1:], values[0]]], True
            elif is_list(value, int):
                if len(values) > 1:
                    yield "l", [[*values[:-1], 2 * values[-1]], [*values[:-1], values[-1] + 1]], False
                    yield "l", [[2 * values[0], *values[1:]], [values[0] + 1, *values[1:]]], False
            elif is_list(value, bool):
                yield "l", [[True] * len(values), [False] * len(values), values[::-1]], True
                yield "l", [[at == n for at in range(len(values))] for n in range(len(values))], True
            elif not values:
                yield "l", [[1], [0, 2], [0, 1]], True
            if optional:
                yield "l", [None], True
        elif value is None:
            if re.search(r"\bbool\b", reported):
                yield "b", [True, False], True
            if re.search(r"\bint\b", reported) or not reported:
                yield "i", [104, 320, 2, 1], False
                yield "i", [112, 640, 4, 3], False
            if re.search(r"\bfloat\b", reported):
                yield "f", [0.5, 2.0], False
            if re.search(r"\bstr\b|Literal", reported):
                yield "s", words_for(self.cls, name, reported), True
            if re.search(r"(list|tuple)\[int|\blist\b|\btuple\b", reported):
                yield "l", [[1, 2], [0, 2], [64, 128], [1]], True

    # --- variants ---

    def based(self) -> Iterator[tuple[str, Arguments]]:
        """p1, p2 and p3."""
        for k in range(3):
            changes = self.grow({}, self.few_layers(k))
            changes = self.grow(changes, self.numbers(k, changes))
            if k:
                changes = self.grow(changes, self.lists(changes, k))
            if k == 2:
                changes = self.grow(changes, self.flags(changes))
            yield f"p{k + 1}", changes

    def single(self, base: Arguments, reference: Any) -> Iterator[Change]:
        """One argument changed, if that changes a tensor."""
        values = {**self.values, **base}
        order = {bool: 0, type(None): 1, str: 2, int: 3, tuple: 4, list: 4}
        for name, value in sorted(values.items(), key=lambda item: order.get(type(item[1]), 5)):
            for kind, options, every in self.alternatives(name, value):
                for option in options:
                    made = self.traced({**base, name: option})
                    if made is None:
                        continue
                    if shapes(made[0]) != reference:
                        yield f"{kind}_{name}.{shown(option)}", {**base, name: option}, made
                    if not every:
                        break

    def pairs(self, base: Arguments) -> Iterator[Change]:
        """Changes that have no effect, or are refused, unless an empty argument or a word is set too."""
        reference = self.builds(base)
        known = {records.pattern_of(name)[0] for name in shapes(reference)} if reference is not None else set()
        switches = [*self.words(), *self.empty()]
        for name, options in switches:
            for option in options:
                if self.builds({**base, name: option}) is not None:
                    continue
                for other, values in self.empty():
                    if other == name:
                        continue
                    for value in values:
                        changes = {**base, name: option, other: value}
                        made = self.traced(changes)
                        if made is not None:
                            patterns = {records.pattern_of(n)[0] for n in shapes(made[0])}
                            if patterns - known:
                                known |= patterns
                                yield f"s2_{name}.{shown(option)}.{other}", changes, made
                            break

    def held(self) -> Iterator[tuple[str, Arguments]]:
        """h1 to h4: random numbers, and half of the lists, flags, words and lengths."""
        for k in range(4):
            changes = self.grow({}, self.few_layers(k))
            numbers = self.numbers(k, changes)
            changes = self.grow(changes, self.draw.sample(numbers, (2 * len(numbers) + 2) // 3))
            if k % 2:
                lengths = [each for _, each in self.other_lengths(changes)]
                self.draw.shuffle(lengths)
                ranks = _ranks(self.builds(changes))
                for each in lengths[:12]:
                    found = _ranks(self.builds({**changes, **each}))
                    if found and all(ranks.get(name, rank) == rank for name, rank in found.items()):
                        changes = {**changes, **each}
                        break
            items = [*self.lists(changes, k), *self.flags(changes), *self.words(), *self.empty()]
            items = [(name, self.draw.sample(values, len(values))) for name, values in items]
            changes = self.grow(changes, self.draw.sample(items, (len(items) + 1) // 2))
            yield f"h{k + 1}", changes


def _ranks(model: Any) -> dict[str, int]:
    """Each tensor's number of dimensions: a list of a kernel's sides has a length of its own."""
    return {name: len(shape) for name, shape in shapes(model).items()} if model is not None else {}


def shown(value: Any) -> str:
    """A value as part of a file's name."""
    if isinstance(value, list):
        return "-".join(map(str, value))[:48]
    return str(value)[:40]


# --- records ----------------------------------------------------------------------------------


def write(maker: Maker, out: Path, variant: str, changes: Arguments, made: Made) -> None:
    """One record, and its trace beside it."""
    cls = maker.cls.__name__
    model, trace = made
    content = {
        "model_type": cls,
        "class": cls,
        "auto": "base",
        "variant": variant,
        "config": configuration(model),
        "config_full": {},
        "overrides": plain(changes),
        "declared": json.loads(json.dumps(plain(declared(maker.cls)), default=str)),
        "tensors": tensors(model),
        "uses": uses(model),
    }
    safe = re.sub(r"[^\w.-]+", "_", variant)[:100]
    name = f"{cls}__{cls}__{safe}.json.gz"
    _json(out / name, content)
    if trace:
        _json(out.parent / "traces" / name, trace)


def _json(path: Path, content: Any) -> None:
    with gzip.open(path, "wt", compresslevel=4) as stream:
        stream.write(json.dumps(content))


def records_of(name: str, out: Path, budget: float, seed: int, defaults: bool = False) -> str:
    """All records of a class, or that of its defaults."""
    recorder = Recorder()
    packages = ("diffusers.models.", "diffusers.pipelines.")
    with stand_ins(recorder, packages), parameters_keep_trees():
        maker = Maker(model_classes()[name], time.process_time() + budget, recorder, seed)
        made: list[str] = []
        try:
            for variant, changes, model in _held(maker) if seed else _varied(maker):
                write(maker, out, variant, changes, model)
                made.append(variant)
                if defaults:
                    break
        except TimeoutError:
            return f"{len(made)}, out of time"
    return f"{len(made)}" if made else "does not build"


def _held(maker: Maker) -> Iterator[Change]:
    for variant, changes in maker.held():
        model = maker.builds(changes)
        if model is not None:
            yield variant, changes, (model, {})


def _varied(maker: Maker) -> Iterator[Change]:
    """The default, the bases, changes of the first, and some of those for the others."""
    default = maker.builds({})
    if default is None:
        return
    yield "default", {}, (default, {})
    bases: dict[str, Arguments] = {}
    for variant, changes in maker.based():
        made = maker.traced(changes)
        if made is not None:
            bases[variant] = changes
            yield variant, changes, made
            if variant == "p1":
                reference = shapes(made[0])
    base = bases["p1"]
    patterns = {records.pattern_of(name)[0] for name in reference}
    changed: list[tuple[str, Arguments]] = []
    for variant, changes, made in chain(
        maker.single(base, reference), _lengths(maker, base, reference), maker.pairs(base)
    ):
        yield variant, changes, made
        found = shapes(made[0])
        moved = {records.pattern_of(n)[0] for n in found} != patterns
        if moved or variant[:2] in ("b_", "s_", "s2") or (variant[:2] == "n_" and found.keys() != reference.keys()):
            changed.append((variant, {n: v for n, v in changes.items() if n not in base or base[n] != v}))
    for variant, change in changed[:MOST_CROSSED]:
        for k in (2, 3):
            made_again = maker.traced({**bases[f"p{k}"], **change})
            if made_again is not None:
                yield f"x{k}_{variant}", {**bases[f"p{k}"], **change}, made_again


def _lengths(maker: Maker, base: Arguments, reference: dict[str, tuple[int, ...]]) -> Iterator[Change]:
    """Lists of other lengths, if these are not sides of a convolution's kernel."""
    together = set[str]()
    for label, change in maker.other_lengths(base):
        kind, _, which = label.partition(".")
        if f"{kind} {which.split('.')[0]}" in together and "." in which:
            continue  # one list alone, if all of its length do
        made = maker.traced({**base, **change})
        if made is None:
            continue
        if "." not in which:
            together.add(f"{kind} {which}")
        found = shapes(made[0])
        if found != reference and all(len(reference.get(n, s)) == len(s) for n, s in found.items()):
            yield f"n_{label}", {**base, **change}, made


def worker(job: tuple[str, Path, float, int, bool]) -> str:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    torch.set_num_threads(1)
    started = time.monotonic()
    try:
        reported = records_of(*job)
    except Exception as error:
        reported = f"FAILED {type(error).__name__}: {error}"
    return f"{job[0]}\t{reported}\t{time.monotonic() - started:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one class")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--defaults", action="store_true", help="only the default arguments")
    parser.add_argument("--missing", action="store_true", help="only classes without records")
    arguments = parser.parse_args()
    os.environ["DIFFUSERS_VERBOSITY"] = "error"
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out.parent / "traces").mkdir(exist_ok=True)
    known = model_classes()  # before the workers are forked, since importing all of them takes seconds
    names = [t for t in arguments.types.split(",") if t] or list(known)
    if arguments.missing:
        names = [n for n in names if not list(arguments.out.glob(f"{n}__*"))]
    names.sort(key=lambda n: bool(re.search("UNet|Autoencoder|ControlNet|Vocoder|VAE|Vae", n)))  # the quick ones first
    jobs = [(name, arguments.out, arguments.budget, arguments.seed, arguments.defaults) for name in names]
    with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for reported in pool.imap_unordered(worker, jobs):
            print(reported, flush=True)


if __name__ == "__main__":
    main()
