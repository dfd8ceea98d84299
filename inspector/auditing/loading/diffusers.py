"""Would Diffusers build the pipeline? The components its class needs, and the fields of their configurations.

`auditing/data/fields.json` has the pipelines' components and the fields of schedulers and models, extracted from
Diffusers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading import accepted_values as accepted
from inspector.auditing.loading.accepted_values import fields, shown, version
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_OF_COMPONENTS = ("config.json", "scheduler_config.json")


@rule("pipeline-parts", "consistent", "error")
def pipeline_parts(subject: Subject) -> Iterator[Found]:
    """A pipeline's index lacks a component that its class requires, or names a class that does not exist.

    Diffusers builds a pipeline from the components in model_index.json, and fails if one is missing. The index was
    edited, or belongs to another pipeline.
    """
    for entry, own in accepted.documents(subject, "model_index.json"):
        kind = own.get("_class_name")
        for part in _required_parts(own):
            if _is_absent(own.get(part)):
                yield Found(f"no {part}, which {kind} requires", entry.path)
        if isinstance(kind, str) and _is_unknown_class(own, kind):
            yield Found(f"Diffusers has no pipeline {kind:.60}", entry.path)
        for name, value in own.items():
            yield from accepted.reported(_wrong_part(subject, entry, name, value, own), entry.path)


#: The libraries that Diffusers takes components from, by their exact names.
_LIBRARIES = ("diffusers", "transformers")


def _is_unknown_class(own: Mapping[str, Any], name: str) -> bool:
    """Whether Diffusers has no such class; False for a file written by a newer version, which may have it."""
    return name not in data.table("choices")["diffusers_classes"] and _is_old(own)


def _wrong_part(subject: Subject, entry: Entry, name: str, value: Any, own: Mapping[str, Any]) -> Iterator[str]:
    """A component of a class that does not exist, or from a library that Diffusers does not load from."""
    match value:
        case ["diffusers", str(kind)]:
            if _is_unknown_class(own, kind) if kind[:1].isupper() else kind not in fields()["diffusers"]["fields"]:
                yield f"{name:.60} is of class {kind!r:.60}, which Diffusers does not have"
        case [str(library), str(kind)]:
            known = library in data.table("choices")["diffusers_libraries"] or "." in library
            places = {f"{entry.folder}{folder}{library}.py" for folder in ("", f"{name}/")}
            unknown = not known and places.isdisjoint(subject.by_path) and kind[:1].isupper() and _is_old(own)
            if unknown or (library not in _LIBRARIES and get_close_matches(library, _LIBRARIES, 1, 0.9)):
                yield f"{name:.60} is from {library!r:.40}, from which Diffusers does not load"
        case str() if not name.startswith("_") and name in _required_parts(own):
            yield f"{name:.60} is {value!r:.40}, but should name a library and a class"


def _is_old(own: Mapping[str, Any]) -> bool:
    """Whether a file was written by a known version, which has no other libraries."""
    return version(own.get("_diffusers_version")) <= version(data.table("choices")["diffusers_version"][0])


def _required_parts(own: Mapping[str, Any]) -> list[str]:
    """The components that a pipeline's class requires."""
    kind = own.get("_class_name")
    return list(fields()["diffusers"]["pipelines"].get(kind, ())) if isinstance(kind, str) else []


def _is_absent(part: Any) -> bool:
    """Whether an index declares a component absent: Diffusers checks only the library."""
    return part is None or (isinstance(part, list) and part[:1] == [None])


@rule("diffusers-field", "consistent", "error")
def diffusers_field(subject: Subject) -> Iterator[Found]:
    """A field of a Diffusers scheduler or model has a value that its class does not accept.

    Null in place of a number, an unknown word, a list of something other than block names: creating it ends with an
    error. A misspelt field name is a warning: Diffusers ignores the field and uses the default.
    """
    table = fields()["diffusers"]
    for entry, own in accepted.documents(subject, *_OF_COMPONENTS):
        kind = own.get("_class_name")
        if entry.name == "scheduler_config.json" and (inner := accepted.wrapped(own, "_class_name")):
            yield Found(f"everything is nested under {inner!r:.40}, where Diffusers does not look", entry.path)
        if "_class_name" in own and not isinstance(kind, str | list):
            yield Found(f"_class_name is {shown(kind)}, but should be a string", entry.path)
        if isinstance(kind, str) and kind in table["fields"]:
            wrong = list(_wrong_fields_of(own, kind, table))[: accepted.MOST]
            yield from (Found(what, entry.path, severity=severity) for what, severity in wrong)


def _wrong_fields_of(own: Mapping[str, Any], kind: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Severity]]:
    names = table["names"].get(kind, ())
    words = table["checked"].get(kind, ())
    stepped = data.table("choices")["diffusers"].get(kind, {})
    is_known = version(own.get("_diffusers_version")) <= version(table["version"])
    yield from ((what, "error") for what in _wrong_blocks(own, kind))
    for field, value in own.items():
        if isinstance(value, list) and None in value and any(type(each) is int for each in value):
            yield f"{field} is {shown(value)}, which has null among numbers", "error"
        elif should := accepted.wrong_kind("diffusers", kind, field, value):
            yield f"{field} is {shown(value)}, but should be {should}", "error"
        elif (wrong_one := accepted.wrong_size(field, value)) is not None:
            yield f"{field} is {wrong_one}", "error"
        elif field in stepped and isinstance(value, str) and is_known and value not in stepped[field]:
            yield f"{field} is {shown(value)}, but should be one of {', '.join(stepped[field])}", "error"
        elif field in words and (wrong := _unknown_word(value, table["words"], is_known=is_known)) is not None:
            yield f"{field} has {shown(wrong)}, which {kind} does not know", "error"
        elif field not in names and names and not field.startswith("_"):
            near = get_close_matches(field.strip("_").lower().replace("-", "_"), names, 1, 0.9)
            if near and near[0] not in own:
                yield f"{field:.60} is not a field of {kind}: did you mean {near[0]}?", "warning"
            elif (
                field not in table["usual"]
                and field not in data.overlay("diffusers")["averaging"]
                and _is_of_version(own, table["version"])
            ):
                yield f"{field:.60} is not a field of any Diffusers class, and is ignored", "warning"


def _wrong_blocks(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Groups that do not divide a block's channels, and lists of blocks of other lengths (`UNet2DConditionModel`)."""
    groups, widths = own.get("norm_num_groups"), own.get("block_out_channels")
    if not isinstance(widths, list) or not widths or not all(type(each) is int for each in widths):
        return
    odd = [each for each in widths if type(groups) is int and groups > 0 and each % groups]
    if odd:
        what = f"norm_num_groups ({integer(groups or 0)})"
        yield f"block_out_channels has {integer(odd[0])}, which is not a multiple of {what}"
    for field in ("down_block_types", "up_block_types"):
        blocks = own.get(field)
        if kind in data.overlay("diffusers")["with_blocks"] and isinstance(blocks, list) and len(blocks) != len(widths):
            yield f"{field} has {plural(len(blocks), 'block')}, but block_out_channels {integer(len(widths))}"


def _is_of_version(own: Mapping[str, Any], version: str) -> bool:
    """Whether a configuration was written by the version whose fields are known: others have different fields."""
    stated = own.get("_diffusers_version")
    return isinstance(stated, str) and stated.split(".")[:2] == version.split(".")[:2]


def _unknown_word(value: Any, words: list[str], *, is_known: bool = False) -> Any:
    """An invalid word in a field with a fixed vocabulary; None if all may be valid.

    A word unlike any known one may come from a newer version, unless the file was written by a known one.
    """
    for each in value if isinstance(value, list) else [value]:
        if isinstance(value, list) and not isinstance(each, str):
            return each if each is not None else "null"
        if isinstance(each, str) and each not in words and (is_known or get_close_matches(each, words, 1, 0.7)):
            return each
        if isinstance(each, str) and each.lower() in words and each not in words:
            return each
    return None


@rule("pipeline-index", "whole", "error")
def pipeline_index(subject: Subject) -> Iterator[Found]:
    """A Diffusers pipeline without its index, or an index with an entry that is not a component.

    model_index.json gives the class of each folder. Diffusers fails if the index is missing, if an entry is not
    `[library, class]`, or if a component lacks the configuration from which its class is built.
    """
    for entry, own in accepted.documents(subject, "model_index.json"):
        if own and not isinstance(own.get("_class_name"), str):
            yield Found("no _class_name, which names the pipeline's class", entry.path)
        for name, value in own.items():
            if name.startswith("_") or not isinstance(value, list | type(None)):
                continue
            yield from _misstated_part(subject, entry, name, value)
    folders = {entry.folder.rstrip("/") for entry in subject.entries}
    folders |= {name for name in _PARTS if subject.names_in(name)}  # those that are separate models
    if subject.root is not None and not subject.alone and {"scheduler"} < folders & {*_PARTS}:
        names = {entry.name for entry in subject.entries if not entry.folder}
        if not names & {"model_index.json", "config.json", "modular_model_index.json"}:
            yield Found(f"a pipeline's components {', '.join(sorted(folders & {*_PARTS}))}, but no model_index.json")


#: Folders found only in Diffusers pipelines, with their contents.
_PARTS = ("unet", "transformer", "vae", "text_encoder", "scheduler", "prior", "controlnet", "vqvae", "movq")
#: Class of a component → the file from which it is built.
_MADE_FROM = [(re.compile(kind), tuple(files)) for kind, files in data.names("companions")["made_from"]]


def _misstated_part(subject: Subject, entry: Entry, name: str, value: Any) -> Iterator[Found]:
    match value:
        case [None, _]:  # Diffusers checks only the library
            return
        case [str(library), _] if library.lower() in _LIBRARIES and library not in _LIBRARIES:
            yield Found(f"{name:.60} is from {library!r:.40}, which Diffusers does not know", entry.path)
        case [str(), str(kind)]:
            here = subject.names_in(entry.folder + name)
            needed = next(files for pattern, files in _MADE_FROM if pattern.fullmatch(kind))
            if here and not here & {*needed}:
                yield Found(f"{kind} in {name:.60} has no {needed[0]}: download it", entry.path)
        case _:
            what = "null" if value is None else f"{str(value)[:60]}"
            yield Found(f"{name:.60} is {what}, but should name a library and a class", entry.path)
