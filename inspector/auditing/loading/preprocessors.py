"""Could Transformers create the preprocessor for images and sound? preprocessor_config.json and processor_config.json.

`auditing/data/fields.json` has the classes and the types that their fields accept, extracted from Transformers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading import accepted_values as accepted
from inspector.auditing.loading.accepted_values import documents, fields, is_number, reported, shown, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.sources.listing import Entry
from inspector.units import integer

_FILES = ("preprocessor_config.json", "processor_config.json")
#: Fields that name the class, and where the known ones are listed.
_TYPES = {"image_processor_type": "image_processors", "feature_extractor_type": "feature_extractors"}
#: Parts of a processor that are created like a standalone one.
_PARTS = ("image_processor", "feature_extractor")
#: Preprocessors' fields that were written by hand.
_table = partial(data.overlay, "preprocessors")

#: Files of a published repository, which no program saves with a model.
_PUBLISHED = frozenset({"README.md", ".gitattributes"})
#: Files that an unfinished training run leaves next to a model.
_TRAINING = frozenset({"trainer_state.json", "optimizer.pt", "training_args.bin", "scheduler.pt"})


@rule("preprocessor", "consistent", "error")
def preprocessor(subject: Subject) -> Iterator[Found]:
    """The preprocessor for images or sound cannot be created from its configuration.

    The configuration names a class that Transformers does not have, a size lacks its height or width, or a field has a
    type that the class does not accept. The file was edited, or belongs to another model: get the model's original.
    """
    for entry, own in documents(subject, *_FILES):
        if "auto_map" in own:
            continue
        yield from reported(_wrong_preprocessor(own, ""), entry.path)
        named = own.get("processor_class")
        if named is not None and not (isinstance(named, str) and named[:1].isupper()):
            yield Found(f"processor_class is {shown(named)}, but no such class exists", entry.path)
        for part in _PARTS:
            inner = own.get(part)
            if inner is not None and not isinstance(inner, Mapping):
                yield Found(f"{part} is {shown(inner)}, but should be an object", entry.path)
            if isinstance(inner, Mapping) and "auto_map" not in inner:
                yield from reported(_wrong_preprocessor(inner, f"{part}."), entry.path)
        yield from _wrong_input(subject, entry, own)
        yield from _unlike_model(subject, entry, own)


def _unlike_model(subject: Subject, entry: Entry, own: Mapping[str, Any]) -> Iterator[Found]:
    """What the model beside it would refuse: other numbers of frequencies or colours, a class that does not exist."""
    config = subject.document(entry.folder + "config.json")
    for scope in (own, *(own[part] for part in _PARTS if isinstance(own.get(part), Mapping))):
        for field, name in _table()["shared"].get(str(scope.get("feature_extractor_type")), {}).items():
            made, taken = scope.get(field), config.get(name)
            if type(made) is type(taken) is int and made != taken:
                what = f"{field} is {integer(made)}, but the model's {name} is {integer(taken)}"
                yield Found(what, entry.path)
        colours = config.get("num_channels", 3)
        for field in ("image_mean", "image_std"):
            listed = scope.get(field)
            normal = "image_processor_type" in scope and scope.get("do_normalize") is not False
            if normal and isinstance(listed, list) and type(colours) is int and len(listed) not in (1, 3, colours):
                yield Found(f"{field} has {integer(len(listed))} numbers for {integer(colours)} colours", entry.path)
        resample, highest = scope.get("resample"), _table()["highest_filter"]
        if type(resample) is int and not 0 <= resample <= highest:
            what = f"resample is {integer(resample)}, which is not a filter of Pillow's (0 to {highest})"
            yield Found(what, entry.path)
    yield from _unlike_parts(subject, entry, own, config)


def _unlike_parts(subject: Subject, entry: Entry, own: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Found]:
    """What is wrong with a processor's class, or with its part that prepares images."""
    named, kind = own.get("processor_class"), config.get("model_type")
    table = data.table("choices")
    if isinstance(named, str) and named not in table["processors"] and accepted.not_newer(config, table):
        prepares = fields()["processors"]
        exists = _class_stem(named) in prepares["image_processors"] or named in prepares["feature_extractors"]
        if named.endswith("Processor") and not exists:
            yield Found(f"processor_class is {shown(named)}, but no such class exists", entry.path)
    beside = subject.names_beside(entry)
    of_images = isinstance(kind, str) and kind in fields()["processors"]["of_images"]
    if entry.name == "processor_config.json" and of_images and _FILES[0] not in beside and "image_processor" not in own:
        what = f"no image_processor in it, and no {_FILES[0]} beside it, of which {kind} needs one"
        yield Found(what, entry.path)


def _wrong_preprocessor(own: Mapping[str, Any], where: str) -> Iterator[str]:
    table = fields()["processors"]
    kinds = set[str]()
    for field, listed in _TYPES.items():
        kind = own.get(field)
        if kind is not None and not isinstance(kind, str):
            yield f"{where}{field} is {shown(kind)}, but should be a string"
        elif isinstance(kind, str):
            kinds.add(kind)
            known = {*table[listed], *table["image_processors"]}
            if _class_stem(kind) not in known and not _looks_like_a_class(kind):
                yield f"{where}{field} is {shown(kind)}, but no such class exists"
    yield from (where + what for what in (_wrong_sizes(own) if kinds else ()))
    low, high = own.get("frequency_min"), own.get("frequency_max")
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        yield f"{where}frequency_min is {shown(low)}, above frequency_max"
    for kind in kinds:
        for field, value in own.items():
            if should := wrong_kind("processors", kind, field, value):
                yield f"{where}{field} is {shown(value)}, but should be {should}"


def _wrong_sizes(own: Mapping[str, Any]) -> Iterator[str]:
    for field in ("image_mean", "image_std"):
        if isinstance(own.get(field), str):
            yield f"{field} is {shown(own[field])}, but should be a number or a list of numbers"
    factor = own.get("rescale_factor")
    if factor is not None and not is_number(factor):
        yield f"rescale_factor is {shown(factor)}, but should be a number"
    if own.get("patch_size") == {}:
        yield "patch_size is {}, but should be a number or an object with height and width"
    for field in ("size", "crop_size"):
        value = own.get(field)
        if isinstance(value, str):
            yield f"{field} is {shown(value)}, but should be a number or an object"
        elif isinstance(value, list) and len(value) != 2:
            yield f"{field} is {shown(value)}, but should be a height and a width"
        elif isinstance(value, Mapping) and not any({*each} <= value.keys() for each in _table()["sizes"]):
            yield f"{field} has {', '.join(sorted(map(str, value)))[:60]}, but no height and width or edge length"


def _class_stem(kind: str) -> str:
    """A class name without variant suffixes; former feature extractors for images are now image processors."""
    if kind in fields()["processors"]["feature_extractors"]:
        return kind
    return kind.removesuffix("Fast").removesuffix("Pil").replace("FeatureExtractor", "ImageProcessor")


def _looks_like_a_class(kind: str) -> bool:
    """Whether a class may come from another version of Transformers, because it follows the naming scheme."""
    return kind[:1].isupper() and kind.endswith(tuple(_table()["class_suffixes"]))


def _wrong_input(subject: Subject, entry: Entry, own: Mapping[str, Any]) -> Iterator[Found]:
    """A preprocessor for sound with a model for images, or vice versa."""
    table = fields()["processors"]
    kind = subject.document(entry.folder + "config.json").get("model_type")
    images, sound = (isinstance(kind, str) and kind in table[each] for each in ("of_images", "of_sound"))
    named = own.get("feature_extractor_type")
    if images and not sound and "image_processor_type" not in own and named in table["feature_extractors"]:
        yield Found(f"{named} prepares sound, but {kind:.40} takes images", entry.path)
    if sound and not images and "feature_extractor_type" not in own and "image_processor_type" in own:
        what = f"{shown(own['image_processor_type'])} prepares images, but {kind:.40} takes sound"
        yield Found(what, entry.path, severity="warning")


@rule("no-preprocessor", "consistent", "error")
def no_preprocessor(subject: Subject) -> Iterator[Found]:
    """A model for images or sound has no configuration of its preprocessor.

    The tokenizer names a processor, or the model's class is only for images or sound: Transformers cannot create the
    preprocessor without the file. Download preprocessor_config.json or processor_config.json. Only a note for a model
    that a program saved alone, without a model card: it loads as it is. Not reported for checkpoints of a training run.
    """
    table = fields()["processors"]
    for entry, own in documents(subject, "config.json"):
        names = subject.names_beside(entry)
        if not own or "auto_map" in own or names & {*_FILES, *_TRAINING, "video_preprocessor_config.json"}:
            continue
        kind, classes = own.get("model_type"), own.get("architectures")
        prepared = isinstance(kind, str) and (kind in table["of_images"] or kind in table["of_sound"])
        named = subject.document(entry.folder + "tokenizer_config.json").get("processor_class")
        first = classes[0] if isinstance(classes, list) and classes and isinstance(classes[0], str) else ""
        spoken = kind in table["of_sound"] and names & {"tokenizer.json", "tokenizer_config.json", "vocab.json"}
        if prepared and spoken and not isinstance(named, str) and not entry.folder:
            what = f"a tokenizer, but no preprocessor_config.json, which {kind} needs to take sound: download it"
            yield Found(what, entry.path, severity="warning")
        elif prepared and (isinstance(named, str) or first.endswith(tuple(_table()["tasks"]))) and not entry.folder:
            needs = named if isinstance(named, str) else first
            severity: Severity = "error" if isinstance(named, str) or names & _PUBLISHED else "info"
            what = f"no preprocessor_config.json beside it, which {needs:.60} needs: download it"
            yield Found(what, entry.path, severity=severity)
