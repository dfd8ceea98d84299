"""Does an adapter have both halves of each matrix, and the rank and the modules that its configuration names?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.adapters.prediction import ends
from inspector.adapters.tensors import BASE_LAYER, PROMPTS, WHOLE, are_known, is_shared
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Header
from inspector.opening import configs
from inspector.opening.configs import ADAPTER_FILE
from inspector.units import integer, plural

#: The longest name of a tensor that is taken apart.
LONGEST_NAME = 1_000
#: Pieces of LoRA that only work together; not the bias of the second, which `lora_bias` adds.
_HALF = re.compile(r"^(.*?)[._](lora_(?:embedding_)?[AB]|lora_down|lora_up)(?=[._]|$)(?!.*\.bias$)(.*)$")


@rule("half-adapter", "consistent", "warning")
def half_adapter(subject: Subject) -> Iterator[Found | NotJudged]:
    """One of LoRA's two matrices is stored without the other.

    The adapter is their product. PEFT fills the missing one with zeros or random numbers, and at most logs a warning.
    The file was truncated or edited: download it again.
    """
    for header in subject.all_headers:
        names = {tensor.name for tensor in header.tensors if "lora_" in tensor.name}
        if long := sum(len(name) > LONGEST_NAME for name in names):
            what = f"{plural(long, 'name')} of more than {integer(LONGEST_NAME)} characters"
            yield NotJudged(what, header.path)
        halves: dict[tuple[str, str], str] = {}
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for name in names:
            if len(name) <= LONGEST_NAME and (part := _HALF.match(name)):
                found[part[1], part[3]].add(part[2])
                halves[part[1], part[3]] = name
        lone = sorted(halves[key] for key, parts in found.items() if len(parts) == 1)
        if lone and len(lone) < len(subject.headers) * 10_000 and len(subject.headers) == 1:
            what = f"{plural(len(lone), 'matrix', 'matrices')} of LoRA without the other half"
            yield Found(what, header.path, lone[0])


@rule("adapter-targets", "consistent", "error")
def adapter_targets(subject: Subject) -> Iterator[Found | NotJudged]:
    """The modules that an adapter's configuration names are not those for which it has tensors.

    PEFT creates matrices for every module in `target_modules`: those without tensors keep their initial values, and
    tensors of other modules are dropped. Configuration and weights belong to different adapters. An error if they have
    no module in common: PEFT then finds nothing to adapt, or leaves the model unchanged. Modules that `exclude_modules`
    leaves out have no tensors, and those of `target_parameters` have some.
    """
    for entry in subject.named(ADAPTER_FILE):
        own = subject.document(entry.path)
        targets = own.get("target_modules")
        weights = (each for each in subject.all_headers if each.path.startswith(entry.folder + "adapter_model"))
        header = next(weights, None)
        kind = own.get("peft_type")
        if not isinstance(targets, list) or header is None or not header.tensors:
            continue
        named = {each for each in targets if isinstance(each, str)}
        modules = {found[1] for tensor in header.tensors if (found := _HALF.match(tensor.name[:LONGEST_NAME]))}
        if isinstance(kind, str) and not are_known(kind.lower(), (tensor.name for tensor in header.tensors)):
            yield NotJudged(f"how the method {kind:.40} names its tensors is not known here", header.path, "info")
            continue
        if kind not in ("LORA", "LN_TUNING"):  # LN_TUNING's tensors are named like the base's weights
            modules = _adapted_modules(subject, header)
        if not modules or not named:
            continue
        without = sorted(_unexcluded(named.difference(*map(ends, modules)), own))
        layers = _layers(own)
        if without:
            what = f"{plural(len(without), 'target module')} without tensors: {', '.join(without[:4])}"
            unless = _reservation(own)
            if unless:
                yield NotJudged(f"{what}, unless {unless}", entry.path, "info")
            else:
                yield Found(what, entry.path, severity="warning")
        known = named | _words(own.get("modules_to_save"))
        holders = {target.rpartition(".")[0] for target in _words(own.get("target_parameters"))}
        other = [
            module
            for module in sorted(modules)
            if known.isdisjoint(ends(module)) and not _holds_parameter(module, holders)
        ]
        if other:
            what = f"{plural(len(other), 'module')} with tensors that no target names: {other[0]:.120}"
            none_fits = len(other) == len(modules) and len(without) == len(named)
            yield Found(what, header.path, severity="error" if none_fits else "warning")
        unasked = [
            module
            for module in sorted(modules - named)  # layers are for suffixes alone
            if layers is not None and _layer_number(module) not in layers
        ]
        if unasked:
            what = f"{plural(len(unasked), 'module')} in none of the layers of layers_to_transform: {unasked[0]:.120}"
            yield Found(what, header.path, severity="warning")


def _layers(own: Mapping[str, Any]) -> set[Any] | None:
    """The layers of `layers_to_transform`; None for all."""
    chosen = own.get("layers_to_transform")
    return {*(chosen if isinstance(chosen, list) else [chosen])} if chosen not in (None, []) else None


def _reservation(own: Mapping[str, Any]) -> str:
    """What may leave out target modules, which only the base can show; "" if nothing does."""
    if isinstance(own.get("exclude_modules"), str):
        return "exclude_modules leaves them out: it is a pattern"
    return "they are in no layer of layers_to_transform" if _layers(own) is not None else ""


def _words(value: Any) -> set[str]:
    """The names in a list."""
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()


def _unexcluded(targets: set[str], own: dict[str, Any]) -> Iterator[str]:
    """Target modules that are not left out: as excluded ones, or as those that are saved whole.

    The words of all three fields are suffixes of modules' names.
    """
    excluded = _words(own.get("exclude_modules")) | _words(own.get("modules_to_save"))
    covered = {end for each in excluded for end in ends(each)}
    yield from (target for target in targets if target not in covered and excluded.isdisjoint(ends(target)))


def _holds_parameter(module: str, holders: set[str]) -> bool:
    """Whether a module holds a parameter that is adapted by itself: a second one's pieces are in its `base_layer`.

    Args:
        holders: the names in `target_parameters` without their last word, which are suffixes of modules' names.
    """
    while module.endswith(BASE_LAYER):
        module = module.removesuffix(BASE_LAYER)
    return "" in holders or not holders.isdisjoint(ends(module))


def _adapted_modules(subject: Subject, header: Header) -> set[str]:
    """The modules for which an adapter has tensors, under the names that its method uses."""
    adapter = subject.result.adapter if subject.result else None
    if adapter is None or header not in subject.headers:
        return set()
    own = (each.name for each in header.tensors if each.name in adapter.parts and not is_shared(each.name))
    in_memory = {in_files: name for name, in_files in adapter.in_files.items()}
    served = (in_memory.get(weight, weight) for weight in map(adapter.served.__getitem__, own))
    return {weight.removesuffix(".weight") for weight in served} - PROMPTS - {WHOLE}


def _layer_number(module: str) -> int | None:
    """The number of a module's layer; None if it is in no layer."""
    found = re.search(r"\.(\d+)\.", module)
    return int(found[1]) if found and len(found[1]) < 9 else None


@rule("adapter-rank", "consistent", "error")
def adapter_rank(subject: Subject) -> Iterator[Found]:
    """An adapter's tensors have a different rank than its configuration states.

    PEFT creates the matrices from `r` and `rank_pattern`, and refuses others. The configuration belongs to another
    adapter.
    """
    adapter = subject.result.adapter if subject.result else None
    config = adapter.config if adapter else {}
    rank, pattern = config.get("r"), config.get("rank_pattern")
    if adapter is None or config.get("peft_type") != "LORA" or isinstance(rank, bool) or not isinstance(rank, int):
        return
    stated = {rank, *(own for own in (pattern.values() if isinstance(pattern, dict) else ()) if type(own) is int)}
    stacked = bool(config.get("target_parameters"))  # one matrix has the ranks of all experts
    odd = [own for own in adapter.ranks if own not in stated and not (stacked and rank > 0 and own % rank == 0)]
    if odd:
        what = f"tensors of rank {', '.join(map(integer, odd[:4]))}; the configuration says {integer(rank)}"
        yield Found(what, subject.folder + configs.ADAPTER_FILE)
