"""Does the model lead outside its folder: paths in documents and recipes, links, external data of ONNX and HDF5?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from inspector.auditing import data
from inspector.auditing.limits import MAX_DOCUMENT
from inspector.auditing.readers.archives import leaves
from inspector.auditing.readers.document_objects import SOURCE, text_of
from inspector.auditing.readers.graphs import ONNX, DamageError, texts
from inspector.auditing.readers.pickles import pickle_verdicts
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.formats.hdf5 import structure as hdf5
from inspector.model import Severity
from inspector.sources.listing import Entry
from inspector.units import plural


@rule("outside-path", "safe", "error")
def outside_path(subject: Subject) -> Iterator[Found | NotJudged]:
    """A document refers to a file outside the folder: an index, a list of modules, a recipe.

    A program that loads the model then reads, and sometimes writes, a file that its user did not intend. Checked are
    every index except that of safetensors files (see index-path), modules.json, the files of onnxruntime-genai and MLC,
    `transformers_weights`, DeepSpeed's `latest`, Ollama's manifests and Modelfile, the members of archives, XML, fields
    of YAML (`user_dir`, `!include:`), and a base model's path on another computer. Only a warning for YAML and for a
    tokenizer's files: some are left over from the computer that saved it.
    """
    yield from _named_in_documents(subject)
    yield from _on_another_computer(subject)
    yield from _xml_entities(subject)
    yield from _in_manifests(subject)
    for path, found in pickle_verdicts(subject).items():
        for outside in (found.outside if found else ())[:10]:
            place = f"{outside.name!r:.120} in it" if outside.name else "the archive"
            yield Found(f"{place} has {outside.leads_to!r:.120}, outside the folder where it is unpacked", path)
    yield from _named_in_recipes(subject)


#: TensorFlow.js's own, which has a whole graph: of MAXIM's, 27 million bytes.
GRAPH = "model.json"


def _named_in_documents(subject: Subject) -> Iterator[Found | NotJudged]:
    checkpoint = subject.checkpoint
    met = (*subject.findings, *(checkpoint.all_findings if checkpoint else ()))
    reported = {finding.path for finding in met if finding.rule == "index-path"}
    if subject.index:
        reported.add(subject.index.path)  # each of its files was looked for in the folder
    for entry in subject.named(*dict.fromkeys(end for end, *_ in _NAMING)):
        if entry.name.lower() in _LISTS and entry.size > MAX_DOCUMENT:
            what = f"a list of files of {plural(entry.size, 'byte')}"
            yield NotJudged(what, entry.path, "warning" if entry.name.lower() == GRAPH else "error")
        elif entry.path not in reported:
            for path, severity in dict.fromkeys(_named_paths(subject.json(entry.path), entry.name.lower())):
                if leaves(path) or _ADDRESS.match(path):
                    yield Found(f"it names {path!r:.120}, outside the folder", entry.path, severity=severity)


def _on_another_computer(subject: Subject) -> Iterator[Found]:
    for entry in subject.named("config.json"):
        document = subject.document(entry.path)
        for field in ("_name_or_path", "name_or_path", "base_model_name_or_path"):
            if isinstance(document.get(field), str) and _ON_ANOTHER.match(document[field]):
                yield Found(f"{field} is {document[field]!r:.120}, on another computer", entry.path)


def _xml_entities(subject: Subject) -> Iterator[Found]:
    for entry in subject.named(".xml", ".pmml", ".svg", ".gexf"):
        start = subject.head(entry.path, MAX_PROLOGUE)
        if found := _ENTITY.search(start):
            yield Found(f"it includes text from elsewhere: {found[0].decode('utf-8', 'replace')!r:.120}", entry.path)
        elif entry.size > MAX_PROLOGUE and not re.search(rb"<[A-Za-z_]", start):
            yield Found("its prolog is implausibly long, and was not checked", entry.path)


def _in_manifests(subject: Subject) -> Iterator[Found]:
    """Ollama before 0.1.34 joined a digest of a manifest with its folder as it was (CVE-2024-37032)."""
    for entry in subject.regular():
        if "manifests/" in entry.path and entry.size <= MAX_DOCUMENT:
            for digest in filter(leaves, _DIGEST.findall(text_of(subject.head(entry.path, entry.size)))):
                yield Found(f"it names {digest!r:.120}, outside the folder", entry.path)


def _named_in_recipes(subject: Subject) -> Iterator[Found]:
    """Paths in recipes that are no JSON, and in files that name the newest checkpoint."""
    for entry in subject.regular():
        name = "/modelfile" if entry.name.startswith("Modelfile") else f"/{entry.name.lower()}"
        for _, pattern, *severities in (row for row in _RECIPES if name.endswith(row[0])):
            for found in pattern.finditer(text_of(subject.head(entry.path, MAX_DOCUMENT))):
                if leaves(path := found[found.lastindex or 0]):
                    severity = severities[".." not in path]
                    yield Found(f"it names {path!r:.120}, outside the folder", entry.path, severity=severity)


_PATHS = data.names("paths")
#: Documents in JSON that name files, by the ends of their names: in which fields (`*` is each item, `#` each key of an
#: object, `**` whatever is below, `|` or), and the severity of a path outside, if it is no error.
_NAMING = [(end, fields, *(severity or [None])) for end, fields, *severity in _PATHS["naming"]]
#: Those of other programs, whose size no other rule reports.
_LISTS = tuple(_PATHS["lists"])
#: The ends of recipes' names, what names a file in them that a program reads or whose code it imports, and the severity
#: of a path upwards and of an absolute one: TensorFlow itself records where a model was trained.
_RECIPES = [(tuple(ends), re.compile(pattern), *severities) for ends, pattern, *severities in _PATHS["recipes"]]
#: An address on the network.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://")
#: A network share: Windows contacts its server, and sends the user's name and the hash of the password.
_ON_ANOTHER = re.compile(r"(?:\\\\|//|file://)[^/\\]")
_DIGEST = re.compile(r'"digest"\s*:\s*"(?:sha256:)?([^"]{1,1000})"')
#: Bytes of an XML document before its first element, which declare its entities.
MAX_PROLOGUE = 1 << 20
#: An XML entity whose text is read from another file or a URL.
_ENTITY = re.compile(rb"<!ENTITY[^>]{0,200}?(?:SYSTEM|PUBLIC)[^>]{0,200}")


def _named_paths(document: Any, name: str) -> Iterator[tuple[str, Severity | None]]:
    """Paths in a document that names files, each with the severity if it leads outside; None for the rule's own."""
    own = max((end for end, *_ in _NAMING if name.endswith(end)), key=len)  # genai_config.json is no config.json
    for end, fields, severity in _NAMING:
        if end == own:
            yield from ((text, severity) for field in fields for text in texts_at(document, field))


def texts_at(document: Any, field: str) -> Iterator[str]:
    """The strings, alone or in a list, that a document has in a field."""
    values = [document]
    for step in field.split("."):
        if step == "**":
            for each in values:
                values += [*each.values()] if isinstance(each, dict) else each if isinstance(each, list) else ()
        elif step == "#":
            values = [key for each in values if isinstance(each, dict) for key in each]
        elif step == "*":
            inner = (each.values() if isinstance(each, dict) else each for each in values)
            values = [item for each in inner if not isinstance(each, str | float | int | None) for item in each]
        else:
            values = [
                each[name] for each in values if isinstance(each, dict) for name in step.split("|") if name in each
            ]
    for each in values:
        yield from (text for text in (each if isinstance(each, list) else (each,)) if isinstance(text, str))


@rule("external-data", "safe", "error")
def external_data(subject: Subject) -> Iterator[Found]:
    """An ONNX graph or an HDF5 file whose tensors are in a file outside the folder.

    Loaders have followed ONNX's `location` anywhere (CVE-2022-25882, CVE-2024-27318), and the HDF5 library follows
    links, external storage and virtual datasets by itself: such a model can read its user's secrets. Operations that
    call Python are reported as well, and so is a graph that cannot be read to its end. Only a note if the other file is
    in the folder.
    """
    for entry in subject.regular(".onnx", ".onnx_model"):
        with subject.reading(entry.path) as read:
            yield from _in_onnx(entry.path, read, entry.size)
    for entry in subject.named(".bin", ".data", ".model"):
        if entry.kind == "file" and _ONNX.match(subject.head(entry.path, 4)):
            with subject.reading(entry.path) as read:  # anything else fails to parse, and other rules report it
                yield from (each for each in _in_onnx(entry.path, read, entry.size) if "outside" in each.message)
    for entry in subject.regular():
        if is_hdf5(subject, entry):
            yield from _in_hdf5(entry.path, hdf5_parts(subject, entry))


#: How ONNX models start: a small version number, then a field with text or the graph.
_ONNX = re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x3a\x42]")


def is_hdf5(subject: Subject, entry: Entry) -> bool:
    """Whether a file is HDF5, by its first bytes or, since other bytes may precede them, by its name."""
    named = entry.name.lower().endswith((".h5", ".hdf5", ".hdf", ".he5"))
    return named or subject.head(entry.path, 8) == hdf5.SIGNATURE


def hdf5_parts(subject: Subject, entry: Entry) -> tuple[hdf5.Part, ...]:
    """The contents of an HDF5 file's objects, read once for all rules."""
    found: dict[str, tuple[hdf5.Part, ...]] = subject.memo.setdefault("hdf5", {})
    if entry.path not in found:
        with subject.reading(entry.path) as read:
            found[entry.path] = tuple(hdf5.parts(read, entry.size))
    return found[entry.path]


def _in_hdf5(path: str, parts: Iterable[hdf5.Part]) -> Iterator[Found]:
    """Files that the file itself names. Damage is reported once, by keras-lambda."""
    named = dict.fromkeys(each for each in parts if isinstance(each, hdf5.Elsewhere))
    for each in list(named)[:20]:
        severity: Severity | None = None if leaves(each.file) else "info"
        place = ", outside the folder" if severity is None else ""
        yield Found(f"{each.what} in {each.file!r:.120}{place}", path, severity=severity)


def _in_onnx(path: str, read: Any, size: int) -> Iterator[Found]:
    keys, values, reported = dict[int, str](), dict[int, str](), dict[str, None]()
    try:
        for text in texts(read, size, ONNX):
            if text.kind == ".key":
                keys[text.parent] = text.value
            elif text.kind == ".value":
                values[text.parent] = text.value
            elif text.kind == ".operation" and text.value in ("PyOp", "PyCustomOp", "PythonOp"):
                reported[f"an operation that calls Python: {text.value}"] = None
    except DamageError as error:
        yield Found(f"its graph could not be checked to its end: {error}", path)
    for parent, key in keys.items():
        location = values.get(parent, "")
        if key == "location" and leaves(location):
            reported[f"a tensor's data in {location!r:.120}, outside the folder"] = None
        elif found := SOURCE.search(location):
            reported[f"Python in its metadata, which YOLOv5 evaluates: {found[0]:.80}"] = None
    yield from (Found(what, path) for what in list(reported)[:20])


@rule("link-outside", "safe", "error")
def link_outside(subject: Subject) -> Iterator[Found]:
    """A symbolic link that leads out of the folder.

    It is not followed. With such a link, an untrusted repository can make a program read or overwrite any file that its
    user can. Links from the Hub cache's snapshots to its blobs are not reported. If the link is your own, audit its
    target.
    """
    for entry in subject.entries:
        if entry.outside:
            yield Found(f"a link to {entry.link or ''!r:.160}, outside the folder: not followed", entry.path)
