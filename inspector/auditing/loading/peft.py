"""Adapters without their base: their configuration, and whether the weights are those it names and PEFT creates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from inspector.adapters.prediction import ends
from inspector.adapters.tensors import BASE_LAYER, PROMPTS, WHOLE, are_known, is_shared
from inspector.auditing import data
from inspector.auditing.loading import accepted_values as accepted
from inspector.auditing.loading.accepted_values import fields, shown
from inspector.auditing.readers.tokenizer_json import slowness
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Header
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.listing import Entry
from inspector.units import integer, plural

#: The names PEFT gives an adapter's weights.
_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
#: What was written by hand of adapters' fields.
_table = partial(data.overlay, "peft")


@rule("no-adapter-weights", "consistent", "error")
def no_adapter_weights(subject: Subject) -> Iterator[Found]:
    """An adapter's configuration without its weights.

    PEFT looks for adapter_model.safetensors, then adapter_model.bin, and fails without either. Download it, or restore
    its name.
    """
    for entry, own in accepted.documents(subject, ADAPTER_FILE):
        there = {entry.folder + name for name in _WEIGHTS} & subject.by_path.keys()
        if isinstance(own.get("peft_type"), str) and not there and not subject.alone:
            yield Found(f"no {_WEIGHTS[0]} beside it: download it", entry.path)


@rule("adapter-pieces", "consistent", "error")
def adapter_pieces(subject: Subject) -> Iterator[Found | NotJudged]:
    """An adapter's tensors are not those its method creates for its modules.

    PEFT refuses a tensor whose shape differs from the others of its kind. It fills a missing tensor with random numbers
    and drops one that does not belong to the method, in both cases with no more than a warning: these are warnings here
    too.
    """
    if any(header.path.rpartition("/")[2] in _WEIGHTS for header in subject.headers):
        from inspector.auditing.loading.adapters import created_tensors  # late: most downloads need no table of methods

        yield from created_tensors.findings(subject, _WEIGHTS)


@rule("adapter-field", "consistent", "error")
def adapter_field(subject: Subject) -> Iterator[Found | NotJudged]:
    """A field of adapter_config.json has a value that PEFT does not accept, or names a method it does not have.

    PEFT builds the adapter from these fields alone, and fails. A method or an option that a newer version of PEFT may
    have is only noted as not known.
    """
    table = fields()["peft"]
    for entry, own in accepted.documents(subject, ADAPTER_FILE):
        if "peft_type" not in own and not _is_of_peft(own):
            continue
        if "peft_type" not in own and (inner := accepted.wrapped(own, "peft_type")) is not None:
            yield Found(f"everything is nested under {inner!r:.40}, where PEFT does not look", entry.path)
            continue
        if "peft_type" not in own:
            yield Found("no peft_type, which names the method", entry.path)
            continue
        kind = own["peft_type"]
        if not isinstance(kind, str) or kind.upper() not in table["fields"]:
            if isinstance(kind, str) and _is_newer(own):
                what = f"the method {shown(kind)} is not known: PEFT {table['version']} has none"
                yield NotJudged(what, entry.path, "info")
            else:
                yield Found(f"peft_type {shown(kind)} is not a method of PEFT", entry.path)
            continue
        wrong = [
            f"{field} is {shown(value)}, but should be {should}"
            for field, value in own.items()
            if (should := accepted.wrong_kind("peft", kind.upper(), field, value))
            and (value or "n" not in (accepted.takes("peft", kind.upper(), field) or ""))  # `if field`, as for null
        ]
        task = own.get("task_type")
        if task is not None and task not in table["tasks"]:
            wrong.append(f"task_type is {shown(task)}, which PEFT does not have")
        wrong += [*_unknown_words(own, kind.upper()), *_wrong_targets(own), *_missing_tensors(subject, entry, own)]
        yield from accepted.first_reported(wrong, entry.path)
        if unknown := _unknown_options(own, kind.upper()):
            known = f"PEFT {table['version']} does not know, and ignores with a warning"
            yield Found(f"{', '.join(map(shown, unknown[:5]))}: options that {known}", entry.path, severity="info")


def _unknown_options(own: Mapping[str, Any], kind: str) -> list[str]:
    """Options that are set and that the method does not have, as a newer version may: `PeftConfigMixin` drops them."""
    options = fields()["peft"]["options"]
    known = {"peft_version", *options[""], *options[kind]}
    return [field for field, value in own.items() if value not in (None, False, [], {}) and field not in known]


def _is_newer(own: Mapping[str, Any]) -> bool:
    """Whether a newer PEFT wrote the configuration than the one whose fields are known."""
    return accepted.version(own.get("peft_version", "0")) > accepted.version(fields()["peft"]["version"])


def _unknown_words(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Words that a method does not know, unless a newer version of PEFT may."""
    if _is_newer(own):
        return
    numbered = tuple(_table()["numbered_words"])
    for field, words in data.table("choices")["peft"].get(kind, {}).items():
        value = own.get(field)
        if isinstance(value, str) and value not in words and not value.startswith(numbered):
            yield f"{field} is {shown(value)}, but should be one of {', '.join(words)}"


def _missing_tensors(subject: Subject, entry: Entry, own: Mapping[str, Any]) -> Iterator[str]:
    """Tensors that PEFT looks up by name, and fails without."""
    header = next((each for each in subject.headers if each.path.rpartition("/")[0] + "/" in ("/", entry.folder)), None)
    if header is None or header.path.rpartition("/")[2] not in _WEIGHTS or len(header.tensors) > _MOST_TENSORS:
        return
    ends = {tensor.name.rpartition(".")[2] for tensor in header.tensors}
    if own.get("trainable_token_indices") and "trainable_tokens_delta" not in ends:
        yield "trainable_token_indices names tokens, but no tensor holds their embeddings"
    yield from _missing_layers(own, [tensor.name for tensor in header.tensors])
    if own["peft_type"] == "VERA" and own.get("save_projection", True) and not {"vera_A", "vera_B"} <= ends:
        yield "save_projection is true, but the projections vera_A and vera_B are not stored"


def _missing_layers(own: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    """A configured name of the list of layers that no stored tensor has: PEFT finds nothing to adapt."""
    patterns, layers = own.get("layers_pattern"), own.get("layers_to_transform")
    listed = [patterns] if isinstance(patterns, str) else patterns
    if not listed or not isinstance(listed, list) or layers is None or layers == []:
        return
    words = [each for each in listed if isinstance(each, str) and each.isidentifier()]  # others are expressions
    numbered = [name for name in names if re.search(r"\.\d+\.", name)]
    parts = (pair for name in numbered for pair in pairwise(name.split(".")))
    within = any(part in words and after.isdecimal() for part, after in parts)
    if len(words) == len(listed) and numbered and not within:
        yield f"layers_pattern is {shown(patterns)}, but no stored tensor is in such a layer"


#: The most tensors that are searched.
_MOST_TENSORS = 50_000


def _is_of_peft(own: Mapping[str, Any]) -> bool:
    """Whether a configuration that names no method is nevertheless PEFT's."""
    known = own.keys() & {"base_model_name_or_path", "inference_mode", "task_type", "auto_mapping", "target_modules"}
    return "peft_version" in own or len(known) > 1 or accepted.wrapped(own, "peft_type") is not None


def _wrong_targets(own: Mapping[str, Any]) -> Iterator[str]:
    """Checks of one field against another."""
    for field in ("target_modules", "modules_to_save", "feedforward_modules"):
        listed = own.get(field)
        if isinstance(listed, list) and (odd := [each for each in listed if not isinstance(each, str)]):
            yield f"{field} has {shown(odd[0])}, but should hold names"
        if isinstance(listed, Mapping) and listed:
            yield f"{field} is an object, but should be a list of names"
        if isinstance(listed, str) and listed[:1] in ("[", "{") and listed[-1:] in ("]", "}") and "'" in listed + '"':
            yield f"{field} is {shown(listed)}: a list written as a string"
    yield from (*_wrong_expressions(own), *_wrong_tokens(own))
    targets, forward = own.get("target_modules"), own.get("feedforward_modules")
    if isinstance(targets, list) and isinstance(forward, list):
        for name in sorted({*map(str, forward)} - {*map(str, targets)})[:1]:
            yield f"feedforward_modules has {name!r:.60}, which is not in target_modules"
    copies = own.get("layer_replication")
    if copies and not (isinstance(copies, list) and all(isinstance(each, list) and len(each) == 2 for each in copies)):
        yield f"layer_replication is {shown(copies)}, but should be a list of pairs"
    if own.get("layers_pattern") and own.get("layers_to_transform") is None:
        yield "layers_pattern without layers_to_transform"
    yield from (*_wrong_values(own), *_wrong_biases(own))


def _wrong_expressions(own: Mapping[str, Any]) -> Iterator[str]:
    for field in ("target_modules", "exclude_modules", "rank_pattern", "alpha_pattern"):
        value = own.get(field)
        listed = list(value)[: accepted.MOST_ITEMS] if isinstance(value, Mapping) else [value]
        for text in (each for each in listed if isinstance(each, str)):
            if fault := _fault_of_expression(text):
                yield f"{field} {'is' if value is text else 'has'} {shown(text)}, {fault}"


def _fault_of_expression(text: str) -> str | None:
    """Why a text is not a regular expression, or is not compiled here; None if it is one."""
    if len(text) > _LONGEST:
        return f"an expression of {integer(len(text))} characters, too long to be tried"
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"
    return "which can take exponential time, for each module's name" if slowness(text) else None


#: Characters of an expression that is compiled.
_LONGEST = 2_000


def _wrong_tokens(own: Mapping[str, Any]) -> Iterator[str]:
    """Lists with one number for each token of a prompt."""
    lists = _table()["prompt_lists"].get(str(own.get("peft_type")).upper(), ())
    for field in lists:
        listed = own.get(field)
        whole = isinstance(listed, list) and (field == "cpt_mask" or all(type(each) is int for each in listed))
        if not whole:
            yield f"{field} is {shown(listed)}, but should be a list of whole numbers"
            return
    yield from accepted.unequal_lengths(own, *lists)


def _wrong_biases(own: Mapping[str, Any]) -> Iterator[str]:
    """What LoRA cannot combine with a bias of its own (`LoraConfig.__post_init__`)."""
    if own.get("lora_bias") and str(own.get("peft_type")).upper() == "LORA":
        start = own.get("init_lora_weights", True)
        if start not in (True, False):
            yield f"lora_bias is {shown(own['lora_bias'])}, which init_lora_weights {shown(start)} does not allow"
        if own.get("use_dora"):
            yield f"lora_bias is {shown(own['lora_bias'])}, which use_dora does not allow"


def _wrong_values(own: Mapping[str, Any]) -> Iterator[str]:
    """Values of the right type that PEFT refuses."""
    rank = own.get("r")
    # OFT's r is 0 if oft_block_size is given, and AdaLoRA has `init_r` instead.
    if type(rank) is int and rank <= 0 and own.get("peft_type") not in ("OFT", "ADALORA"):
        yield f"r is {integer(rank)}: a rank must be positive"
    base, bias = own.get("base_model_name_or_path"), own.get("bias")
    if base and not isinstance(base, str):
        yield f"base_model_name_or_path is {shown(base)}, but should be a string"
    if isinstance(bias, str) and bias not in _table()["biases"] and not bias.endswith("_only"):
        yield f"bias is {shown(bias)}, but should be one of {', '.join(_table()['biases'])}"
    targeted = own.get("peft_type") in _table()["targeted"]
    if targeted and own.get("target_modules") == [] and not own.get("target_parameters"):
        yield "target_modules names nothing to adapt"
    yield from accepted.beyond_one(own)


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
    """Target modules that are neither excluded nor saved whole.

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
        yield Found(what, subject.folder + ADAPTER_FILE)
