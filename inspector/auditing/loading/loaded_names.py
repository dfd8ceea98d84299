"""Are the tensors stored under names that Transformers loads?

It renames as it loads: by what is registered for a class or a model type, and by adding or removing the name of the
body (`core_model_loading.rename_source_key`). `data/renamings.json` states both, with the release they are from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from inspector.architectures.data.projections import COARSE
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import class_name
from inspector.auditing.data import table
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Config, Key, Packing, Prediction, Reconciliation
from inspector.units import integer, plural

#: Formats whose names are those of Transformers' tensors.
_NAMED = ("safetensors", "pytorch")
#: Packings of programs that load their own names.
_OTHER_PROGRAMS = ("mlx", "exl2", "exl3", "nunchaku")
#: The most tensors of which each is judged; of more, the first two of every numbered kind within a layer.
_MOST_TENSORS = 5_000
#: The longest name that is renamed.
_LONGEST = 300
#: The most parts of a name that may stand in another's place.
_PARTS_APART = 3


@rule("tensor-names", "consistent", "warning")
def tensor_names(subject: Subject) -> Iterator[Found]:
    """Tensors have different names than Transformers looks for in this model.

    The weights are there, but with a prefix that a training program or another class put before them, fused into one
    matrix although the model has several, or named as in another program. What Transformers itself renames as it loads
    is not reported. It fills the tensors it misses with random numbers, and drops those it does not know.
    """
    result = subject.result
    if result is None or result.prediction is None or not _is_judged(subject, result):
        return
    stored = _stored(subject, result)
    wanted = {name for row in result.prediction.expected if not row.spare for name in row.names()}
    if len(wanted) > _MOST_TENSORS or len(stored) > _MOST_TENSORS:
        wanted = {name for name in wanted if _is_sampled(name)}
        stored = {name: own for name, own in stored.items() if _is_sampled(name)}
    if not stored or wanted <= stored.keys():
        return
    loading = loading_of(result.prediction)
    lost, unknown = loading.apart(wanted, stored)
    yield from _tied_the_other_way(result.prediction, stored, lost)
    pairs = _pairs(result.prediction, stored, lost, unknown) if lost and unknown else {}
    if "auto_map" in result.prediction.config.values:  # its own code may have other names, but no wrapper's
        pairs = {name: other for name, other in pairs.items() if other.endswith(f".{name}")}
    if pairs:
        name = min(pairs)
        more = f"; of {plural(len(stored), 'tensor')} it does not know {integer(len(unknown))}"
        what = f"Transformers looks for {name:.100}{more if len(unknown) > 1 else ''}"
        yield Found(what, None, stored[pairs[name]].name)


def _tied_the_other_way(
    prediction: Prediction, stored: Mapping[str, _Weight], lost: Collection[str]
) -> Iterator[Found]:
    """An embedding that is stored under the name of the head alone, as safetensors' `save_model` may write it."""
    heads = (row.name for row in prediction.tied if row.role == "lm_head" and row.name in stored)
    embeddings = (row.name for row in prediction.expected if row.role == "embed_tokens" and row.name in lost)
    if (head := next(heads, None)) and (embedding := next(embeddings, None)):
        what = "is not stored, only the head that is tied to it: Transformers 5 loads that, other programs may not"
        yield Found(f"{embedding} {what}", None, stored[head].name)


def _is_judged(subject: Subject, result: Reconciliation) -> bool:
    """Whether Transformers is to load the files, and all of them are there."""
    prediction, packing = result.prediction, result.packing
    if prediction is None or prediction.config.kind != "config.json" or result.adapter is not None:
        return False
    return not subject.incomplete and not (packing and packing.scheme.startswith(_OTHER_PROGRAMS))


class _Weight(NamedTuple):
    name: str  # in the file
    shape: tuple[int, ...]  # before it was packed


def _stored(subject: Subject, result: Reconciliation) -> Mapping[str, _Weight]:
    """The name of each weight before it was packed → the weight. Without side data."""
    packing = result.packing or Packing("", 0)
    return {
        packing.names.get(each.name, each.name): _Weight(each.name, packing.shapes.get(each.name, each.shape))
        for header in subject.headers
        if header.format in _NAMED
        for each in header.tensors
        if each.name not in packing.side
    }


def _is_sampled(name: str) -> bool:
    """Whether all numbers of a name after the first, which is the layer's, are below two."""
    return all(int(number) < 2 for number in _NUMBERS.findall(name)[1:])


_NUMBERS = re.compile(r"\.(\d{1,9})(?=\.)")


# --- what Transformers does ------------------------------------------------------------------------


class _Step(NamedTuple):
    """One of the transforms that are registered for a model: names that match a source get the target."""

    kind: str  # rename, convert (tensors are joined or split, too), group (all sources if the first occurs), offset
    sources: re.Pattern[str]
    targets: Sequence[str]
    scopes: Sequence[str] = ("",)  # what names must begin with, which is not matched
    offset: int = 0  # added to the number in the target

    def renamed(self, name: str, targets: Sequence[str] = ()) -> str | None:
        """The name in memory; None if no source matches."""
        scope = next((each for each in self.scopes if name.startswith(each)), None)
        found = self.sources.search(name[len(scope) :]) if scope is not None else None
        if scope is None or found is None:
            return None
        group = next(key for key, value in found.groupdict().items() if value is not None)
        number = self.sources.groupindex[group]
        target = (targets or self.targets)[int(group[1:]) if self.kind == "group" else 0]
        for at in range(1, 1 + target.count("\\")):
            value = found.group(number + at) if number + at <= self.sources.groups else ""
            target = target.replace(f"\\{at}", str(int(value) + self.offset) if self.kind == "offset" else value or "")
        return scope + name[len(scope) :].replace(found.group(0), target, 1)


class Loading:
    """The names under which a class of Transformers has what a file stores."""

    def __init__(self, steps: Iterable[_Step], base: str, spare: Collection[str] = ()) -> None:
        """
        Args:
            base: the name of the body in classes with a head.
            spare: patterns of tensors that may be missing.
        """
        self._renaming = [each for each in steps if each.kind != "convert"]
        self._converting = [each for each in steps if each.kind == "convert"]
        self._base = base
        self._spare = re.compile("|".join(f"({each})" for each in spare)) if spare else None

    def apart(self, wanted: Collection[str], stored: Collection[str]) -> tuple[list[str], list[str]]:
        """Wanted names whose tensors are not loaded, and stored ones that are not known."""
        active = [each for each in self._renaming if each.kind != "group" or any(map(_guard(each), stored))]
        targets = {name: self._targets(name, active) for name in wanted}
        known = {target for those in targets.values() for target in those}
        loaded = {name: self._loaded(name, active, known) for name in stored}
        found = {*loaded.values()}
        missed = ((name, those) for name, those in targets.items() if name not in loaded and found.isdisjoint(those))
        lost = [name for name, those in missed if not self._is_spare(name, those)]
        return lost, [name for name, other in loaded.items() if other not in known and name not in targets]

    def joined(self, name: str) -> str | None:
        """The tensor in memory that what is saved under a name is a part of, with others like it; None if it is whole.

        As `merge_modulelist` and `concatenate` have it: experts × rows of all the joined matrices × columns.
        """
        renamed = self._renamed(name, self._renaming)
        steps = (each for each in self._converting if len(each.targets) == 1)
        return next(filter(None, (step.renamed(renamed) for step in steps)), None)

    def _is_spare(self, name: str, targets: Iterable[str]) -> bool:
        return self._spare is not None and any(map(self._spare.search, (name, *targets)))

    def _targets(self, name: str, active: Iterable[_Step]) -> Sequence[str]:
        """The names in memory of what is saved under a name."""
        renamed = self._renamed(name, active)
        for step in self._converting:
            if step.renamed(renamed) is not None:
                return [step.renamed(renamed, (target,)) or renamed for target in step.targets]
        return (renamed,)

    def _renamed(self, name: str, active: Iterable[_Step]) -> str:
        for step in active if len(name) <= _LONGEST else ():
            name = step.renamed(name) or name
        return name

    def _loaded(self, name: str, active: Iterable[_Step], known: Collection[str]) -> str:
        """The name in memory of what is stored under a name, with the body's name where the class has it."""
        renamed = self._targets(name, active)[0]
        inner, outer = renamed.removeprefix(f"{self._base}."), f"{self._base}.{renamed}"
        found = inner if inner in known else outer if outer in known else renamed
        return name if found not in known and name in known else found  # a name that was not to be renamed


def _guard(step: _Step) -> Any:
    """Whether the first source of a group of renamings matches."""
    first = re.compile(step.sources.pattern)
    return lambda name: (found := first.search(name)) is not None and found.groupdict().get("g0") is not None


def loading_of(prediction: Prediction) -> Loading:
    """What is known of the class that the configuration names, or else of the predicted one.

    A class that Transformers does not have is loaded without renamings of its own.
    """
    config, family = prediction.config, prediction.config.family
    classes = table("renamings")["classes"]
    names = [config.architecture or "", class_name(family, config, prediction.head) if family else ""]
    name = next((each for each in names if each in classes), None) or _of_type(classes, config, prediction.head)
    if name is None:
        return Loading(_steps("legacy"), (family.prefix if family else "").rstrip("."))
    entry = classes[name]
    steps = [*_of_parts(name, entry, config.values, entry["prefix"]), *_steps("legacy")]
    return Loading(steps, entry["prefix"], entry.get("spare", ()))


def _of_type(classes: Mapping[str, Any], config: Config, head: str) -> str | None:
    """The class of a configuration that names none: the one with this head around the body of its type."""
    if config.architecture:
        return None
    bodies = (
        (name, place == entry["prefix"] and kind == config.model_type)
        for name, entry in classes.items()
        for place, _, _, kind in entry.get("parts", ())
    )
    return next((name for name, fits in bodies if fits and name.endswith(head)), None)


def _of_parts(name: str, entry: Mapping[str, Any], values: Mapping[str, Any], base: str) -> Iterator[_Step]:
    """The transforms of a class and of its parts, each for the names below it.

    In the order of `get_model_conversion_mapping`: a part's class comes before its model type, and neither counts again
    below a part of which it was taken.
    """
    seen: defaultdict[str, list[str]] = defaultdict(list)
    for place, field, class_, kind in (("", "", name, str(values.get("model_type"))), *entry.get("parts", ())):
        nested = values.get(field) if field else None
        actual = str(nested.get("model_type") or kind) if isinstance(nested, Mapping) else kind
        of_class = class_ in _known() and actual == kind
        identifier = class_ if of_class else actual
        taken = any(other == "" or place.startswith(f"{other}.") for other in seen[identifier])
        if taken or identifier not in _known():
            continue
        seen[identifier].append(place)
        scope = place.removeprefix(base).removeprefix(".") if place else None
        for step in _steps(identifier):
            inner, outer = f"{scope}." if scope else "", f"{base}." if base else ""
            yield step if scope is None else step._replace(scopes=(outer + inner, inner))


@cache
def _known() -> Mapping[str, str]:
    """Identifier of a class or model type → the one whose transforms it has."""
    found = table("renamings")
    own: dict[str, str] = found["same"]
    return own | {name: name for name in found["transforms"]}


@cache
def _steps(identifier: str) -> Sequence[_Step]:
    rows = table("renamings")["transforms"][_known()[identifier]]
    return [
        _Step(kind, _compiled(sources), targets, offset=more[0] if more else 0)
        for kind, sources, targets, *more in rows
        if kind != "code"
    ]


def _compiled(sources: Sequence[str]) -> re.Pattern[str]:
    """One pattern of all sources: longest first, each up to the end of a word, as `WeightTransform` has it."""
    branches = []
    for at, source in sorted(enumerate(sources), key=lambda item: -len(item[1])):
        pattern = source.replace("*.", r".*\.")
        branches.append(f"(?P<g{at}>{pattern}" + (r"(?!\w))" if re.search(r"[a-zA-Z0-9]$", pattern) else ")"))
    return re.compile("|".join(branches))


# --- which lost tensor is stored under which name ---------------------------------------------------


def _pairs(
    prediction: Prediction, stored: Mapping[str, _Weight], lost: Sequence[str], unknown: Sequence[str]
) -> Mapping[str, str]:
    """Lost name → the unknown one that has the same purpose, or differs in a few parts alone."""
    config = prediction.config
    keys = Namer(config.family, config.values).name([*stored]).keys()
    places = {name: _place(key) for name, key in zip(stored, keys, strict=True)}
    by_place = {places[name]: name for name in reversed(unknown)}
    rows = {
        name: (row.shape, key) for row in prediction.expected for name, key in zip(row.names(), row.keys(), strict=True)
    }
    found = {name: by_place[place] for name in lost if (place := _place(rows[name][1])) in by_place}
    taken = {*found.values()}
    others = _Alike((name, stored[name].shape) for name in unknown if name not in taken)
    for name in lost:
        if name not in found and (other := others.most_like(name, rows[name][0])):
            found[name] = other
    return found


def _place(key: Key) -> tuple[Any, ...]:
    """What all layouts of the same weights share, whether their experts are stacked or their projections fused."""
    role = COARSE.get(key.role, key.role)
    return key.tower, key.layer, role, key.part, key.expert is not None, key.branch, key.indexes


class _Alike:
    """Names by what a misnamed tensor keeps: its sizes, and its numbers and last part, or all but its last part."""

    def __init__(self, tensors: Iterable[tuple[str, tuple[int, ...]]]) -> None:
        self._names: defaultdict[tuple[Any, ...], list[Sequence[str]]] = defaultdict(list)
        for name, shape in tensors:
            for kept in _kept(name.split("."), shape):
                self._names[kept].append(name.split("."))

    def most_like(self, name: str, shape: tuple[int, ...]) -> str | None:
        """The name that has most parts in common, if few differ, all in one place."""
        parts = name.split(".")
        alike = [
            (number, other)
            for kept in _kept(parts, shape)
            for other in self._names.get(kept, ())
            if (number := _common(parts, other))
        ]
        return ".".join(max(alike)[1]) if alike else None


def _kept(parts: Sequence[str], shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    sizes = tuple(sorted(shape))
    yield sizes, tuple(part for part in parts if part.isdigit()), parts[-1]
    yield sizes, tuple(parts[:-1])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of parts before and after the place where two names differ; 0 if more, or too many, differ."""
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    end = next((at for at in range(shorter - start) if one[-1 - at] != other[-1 - at]), shorter - start)
    common, other_parts = start + end, max(len(one), len(other)) - start - end
    return common if other_parts <= min(common, _PARTS_APART) else 0
