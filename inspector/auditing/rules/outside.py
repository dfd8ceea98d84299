"""Does it name files outside of its folder: in an index, a list of modules, an ONNX graph, a recipe?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.auditing.rules.protobufs import ONNX, DamageError, texts
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.opening import configs


def leaves(path: str) -> bool:
    """Whether a path, taken from a folder, leads out of it: on any system."""
    parts = re.split(r"[/\\]", path)
    absolute = path.startswith(("/", "\\", "~", "file:")) or re.match(r"[A-Za-z]:", path) is not None
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return absolute or "\0" in path


@rule("outside-path", "error", group="safe")
def outside_path(subject: Subject) -> Iterator[Found]:
    """A document names a file outside the folder: an index, a list of modules, a recipe.

    What loads the model then reads, and some programs write, a file that its user never meant. Looked for in every
    index but that of safetensors files (see index-path), modules.json, the files of onnxruntime-genai, Ollama's
    Modelfile, and archives' own lists of members.
    """
    for entry in subject.named(".index.json", "modules.json", "genai_config.json", "config_sentence_transformers.json"):
        if not entry.name.endswith(".safetensors.index.json"):
            for path in _paths(configs_of(subject, entry.path), entry.name):
                if leaves(path):
                    yield Found(f"it names {path!r:.120}, outside the folder", entry.path)
    for entry in subject.entries:
        if entry.name.startswith("Modelfile") and entry.kind == "file":
            for found in re.finditer(r"(?im)^\s*(?:FROM|ADAPTER)\s+(\S+)", subject.text(entry.path) or ""):
                if found[1].startswith(("/", "~", "\\")) or (found[1].startswith("..") and leaves(found[1])):
                    yield Found(f"it names {found[1]!r:.120}, outside the folder", entry.path, severity="warning")


def configs_of(subject: Subject, path: str) -> Any:
    """A JSON document of any kind; None where there is none to be read."""
    try:
        text = subject.text(path)
        return configs.loads(text) if text else None
    except ValueError:
        return None


def _paths(document: Any, name: str) -> Iterator[str]:
    if name == "modules.json" and isinstance(document, list):
        yield from (each["path"] for each in document if isinstance(each, dict) and isinstance(each.get("path"), str))
    elif isinstance(document, dict) and name.endswith(".index.json"):
        weight_map = document.get("weight_map")
        files = weight_map.values() if isinstance(weight_map, dict) else ()
        yield from dict.fromkeys(each for each in files if isinstance(each, str))
    elif isinstance(document, dict):
        yield from _files_in(document)


def _files_in(document: dict[str, Any]) -> Iterator[str]:
    """Values of fields that are called `filename`."""
    pending: list[Any] = [document]
    for number, value in enumerate(pending):
        if number > 10_000:
            return
        if isinstance(value, dict):
            if isinstance(value.get("filename"), str):
                yield value["filename"]
            pending += value.values()
        elif isinstance(value, list):
            pending += value


@rule("external-data", "error", group="safe")
def external_data(subject: Subject) -> Iterator[Found]:
    """An ONNX graph whose tensors lie in a file outside the folder.

    Loaders have followed `location` anywhere (CVE-2022-25882, CVE-2024-27318): a model reads the secrets of whoever
    runs it. Operations that call Python are told as well, and a graph that cannot be read to its end.
    """
    for entry in subject.named(".onnx", ".ort", ".onnx_model"):
        if entry.kind != "file" or entry.outside or entry.name.endswith(".ort"):
            continue
        with subject.reading(entry.path) as read:
            yield from _in_onnx(entry.path, read, entry.size)


def _in_onnx(path: str, read: Any, size: int) -> Iterator[Found]:
    keys: dict[int, str] = {}
    values: dict[int, str] = {}
    told: dict[str, None] = {}
    try:
        for text in texts(read, size, ONNX):
            if text.kind == ".key":
                keys[text.parent] = text.value
            elif text.kind == ".value":
                values[text.parent] = text.value
            elif text.kind == ".operation" and text.value in ("PyOp", "PyCustomOp", "PythonOp"):
                told[f"an operation that calls Python: {text.value}"] = None
    except DamageError as error:
        yield Found(f"its graph is not judged to its end: {error}", path)
    for parent, key in keys.items():
        location = values.get(parent, "")
        if key == "location" and leaves(location):
            told[f"a tensor's data in {location!r:.120}, outside the folder"] = None
    yield from (Found(what, path) for what in list(told)[:20])
