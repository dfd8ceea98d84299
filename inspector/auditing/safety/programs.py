"""Is something run by the programs that read it: TensorFlow, YAML's and JSON's readers, Python, git, editors?"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from inspector.auditing import data
from inspector.auditing.readers import document_objects, graphs, repositories
from inspector.auditing.readers.pickles import pickle_verdicts
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.model import Severity
from inspector.sources.listing import Entry
from inspector.units import integer

_NAMES = data.names("programs")
#: TensorFlow operations that read or write files of any name, or call Python.
_OPERATIONS = frozenset(_NAMES["tensorflow"])
#: Those of them that read records of a file that the graph names, as a training graph's own input does.
_INPUTS = frozenset(_NAMES["tensorflow_inputs"])


@rule("graph-operation", "safe", "error")
def graph_operation(subject: Subject) -> Iterator[Found | NotJudged]:
    """A TensorFlow graph has operations that read or write files, or call Python.

    A SavedModel is a program: `WriteFile` and `ReadFile` take any path that the author chose, and run with the model.
    Use the safetensors files instead. The same is true of Paddle's `py_func`. A graph that cannot be read to its end is
    an error too; one that only reads records, as the input of a graph that was saved with its training does, is a
    warning.
    """
    for entry in subject.regular(".pbtxt", ".tflite", ".pdmodel"):
        lite = entry.name.lower().endswith(".tflite")
        yield from _in_tflite(subject, entry) if lite else _in_text_graph(subject, entry)
    for entry in subject.regular(".pb", ".meta", ".graphdef"):
        name = entry.name.lower()
        if name in ("keras_metadata.pb", "fingerprint.pb"):
            continue
        kind = "model" if name.startswith("saved_model") else "meta" if name.endswith(".meta") else "graph"
        with subject.reading(entry.path) as read:
            try:
                found = graphs.texts(read, entry.size, graphs.SAVED_MODEL, kind)
                names = [text.value for text in found if text.value in _OPERATIONS]
            except graphs.DamageError as error:
                if name.startswith("saved_model"):
                    yield Found(f"its graph could not be checked: {error}", entry.path)
                continue
        yield from _operations(names, entry)


def _operations(names: Iterable[str], entry: Entry) -> Iterator[Found]:
    if found := dict.fromkeys(name for name in names if name in _OPERATIONS):
        severity: Severity = "warning" if _INPUTS.issuperset(found) else "error"
        yield Found(f"its graph has the operations {', '.join(found):.160}", entry.path, severity=severity)


def _in_text_graph(subject: Subject, entry: Entry) -> Iterator[Found | NotJudged]:
    """A graph as text, `node { op: "WriteFile" }`, or Paddle's, which has the names of its operations in field 3."""
    raw = subject.head(entry.path, min(entry.size, MAX_TEXT_GRAPH))
    yield from _operations((each.decode() for each in _OPERATION.findall(raw)), entry)
    if entry.size > MAX_TEXT_GRAPH:
        yield NotJudged(f"what follows the first {integer(MAX_TEXT_GRAPH)} bytes of a graph as text", entry.path)


def _in_tflite(subject: Subject, entry: Entry) -> Iterator[Found]:
    """The TensorFlow operations that a TensorFlow Lite model calls: their names start with `Flex`."""
    with subject.reading(entry.path) as read:
        try:
            names = [name.removeprefix("Flex") for name in graphs.custom_operations(read)]
        except ValueError as error:
            yield Found(f"its operations could not be checked: {error}", entry.path)
            return
    yield from _operations(names, entry)


_OPERATION = re.compile(rb"""(?:\bop\s*:\s*["']|\x1a\x07(?=py_func))(\w{1,80})""")
#: The most bytes of a graph in text form that are read.
MAX_TEXT_GRAPH = 16 * 1024 * 1024


@rule("yaml-code", "safe", "error")
def yaml_code(subject: Subject) -> Iterator[Found]:
    """A YAML or JSON document names functions that its reader calls.

    `!!python/object/apply:os.system` runs when `yaml.load` reads it; `_target_: os.system` when Hydra, which NeMo and
    many trainers use, instantiates it; `py/reduce` when jsonpickle decodes it; a function in a skops schema when skops
    loads it; HyperPyYAML's `!apply:os.system`. They are looked for in archives, in metadata and in the constants of
    pickles, too. Ultralytics runs `download` of a data set and `activation` of a model as Python: only a warning if it
    starts a program. Do not load the document with any of these.
    """
    for entry in subject.regular(".scp", ".jsonl", ".opt", "part-00000"):
        text = document_objects.text_of(subject.head(entry.path, min(entry.size, MAX_LIST))) if entry.size else ""
        called = (*document_objects.commands_in(text, entry.name), *document_objects.named_in(text))
        yield from (Found(what, entry.path) for what in called)
    for entry in subject.regular(".yaml", ".yml", ".json", ".model_config", ".gin"):
        yield from (Found(what, entry.path, severity=severity) for what, severity in _in_document(subject, entry))
    for entry in subject.regular(".skops"):
        yield from (Found(what, entry.path) for what in _in_skops(subject, entry))
    for path, found in pickle_verdicts(subject).items():
        yield from (Found(f"in it: {what}", path) for what in (found.named if found else ())[:10])
    for header in subject.all_headers:
        for key, value in header.metadata.items() if header.format == "safetensors" else ():
            if isinstance(value, str) and any(sign in value for sign in document_objects.SIGNS):
                found_in = document_objects.in_text(value, is_json=False)
                yield from (Found(f"the metadata {key:.60}: {what}", header.path) for what in found_in)


def _in_document(subject: Subject, entry: Entry) -> Iterator[tuple[str, Severity | None]]:
    is_json = entry.name.lower().endswith(".json")
    limit = MAX_JSON if is_json else MAX_YAML
    if entry.size > limit:
        yield "a very large document: not checked to its end", None
    raw = subject.head(entry.path, min(entry.size, limit)) if entry.size else b""
    if is_json and len(raw) > LONG_JSON and not (_TARGETED.search(raw) or any(sign in raw for sign in _SIGNS)):
        return  # a tokenizer or an index: their text is not analysed
    text = document_objects.text_of(raw)
    yield from ((what, None) for what in document_objects.in_text(text, is_json=is_json))
    yield from ((what, None) for what in document_objects.commands_in(text, entry.name))
    yield from () if is_json else document_objects.run_by_readers(text)


def _in_skops(subject: Subject, entry: Entry) -> Iterator[str]:
    """Functions that can run anything, in a skops archive's schema; skops asks the user to trust them."""
    with subject.reading(entry.path) as read:
        try:
            listed = [member for member in zips.members(read, entry.size) if member.name == "schema.json"]
            raw = zips.unpacked(read, listed[-1], MAX_YAML) if listed else b""
        except zips.ZipError as error:
            yield f"its schema could not be checked: {error}"
            return
    if listed and len(raw) < listed[-1].size:
        yield "its schema could not be checked: it is implausibly large"
    for module in dict.fromkeys(_SKOPS_MODULE.findall(raw.decode("utf-8", "replace"))):
        if document_objects.runs(f"{module}.") or module in ("os", "operator", "functools", "builtins.eval"):
            yield f"its schema names functions of {module:.80}"


#: Bytes of a list of recordings or shards that are searched: each of its lines is made like the first.
MAX_LIST = 1024 * 1024
#: The most bytes of a document that are searched: the largest in JSON are tokenizers.
MAX_YAML, MAX_JSON = 16 * 1024 * 1024, 64 * 1024 * 1024
#: Bytes of a JSON document beyond which it is searched only if it has one of the signs: the names themselves, or an
#: ASCII letter escaped by its number, which no writer needs to do.
LONG_JSON = 1024 * 1024
_SIGNS = (b'"py/', *(each.encode() for each in document_objects.SIGNS if each != "target"))
_SIGNS += tuple(rb"\u00%d" % digit for digit in range(2, 8))
#: The one sign that is a word, which vocabularies have, with a text for its value.
_TARGETED = re.compile(rb"""target[\\"']*\s*:\s*[\\"']""")
_SKOPS_MODULE = re.compile(r'"(?:__module__|module_path)"\s*:\s*"([\w.]{1,200})"')

#: Python files that are run because of their names → the program that runs them, and the severity.
_BY_NAME: dict[str, tuple[str, Severity]] = _NAMES["by_name"]
#: The same by whole path: elsewhere they are a package's own modules (the SageMaker toolkit reads `code/inference.py`,
#: Inference Endpoints `handler.py` beside the model).
_BY_PATH: dict[str, tuple[str, Severity]] = _NAMES["by_path"]
#: Modules of Python's library that nothing imports and whose names are common for scripts.
_SELDOM = frozenset(_NAMES["seldom"])
#: Packages that programs which load models import.
_IMPORTED = frozenset(_NAMES["imported"])


@rule("python-name", "safe", "error")
def python_name(subject: Subject) -> Iterator[Found]:
    """A Python file is run because of its name, without the user's request.

    `sitecustomize.py`, or a file named like a module that programs import (`torch.py`, `json.py`): Python prefers the
    one in the folder from which it is started. Only a warning for files that servers run (`handler.py`,
    `code/inference.py`), and a note for those of tools (`setup.py`, `conftest.py`). Do not start programs from within
    the folder; read the file first. In a package of Python's, which is imported from outside, such names are a note.
    """
    packaged = "__init__.py" in subject.by_path and "config.json" not in subject.by_path
    for entry in subject.entries:
        if named := _BY_PATH.get(entry.path) or _BY_NAME.get(entry.name):
            who, severity = named
            if entry.name == "__main__.py" and "__init__.py" in subject.by_path:
                severity = "info"  # a package's, which `python -m` runs by its name
            yield Found(who, entry.path, severity=severity)
        elif (module := _import_name(entry)) in _IMPORTED or module in sys.stdlib_module_names - _SELDOM:
            what = f"programs started here import it instead of the real `{module}`"
            yield Found(what, entry.path, severity="info" if packaged else "error")
        elif entry.name.endswith((".pyc", ".pyo")) and _source_of(entry) not in subject.by_path:
            what = "compiled Python without its source: what it does cannot be reviewed"
            yield Found(what, entry.path, severity="warning")


def _source_of(entry: Entry) -> str:
    """The path of a compiled module's source: `a/__pycache__/b.cpython-311.pyc` is `a/b.py`."""
    return entry.folder.removesuffix("__pycache__/") + entry.name.partition(".")[0] + ".py"


def _import_name(entry: Entry) -> str:
    """The name under which Python started in the folder would import a file; empty if it would not."""
    if entry.name.startswith("__init__.") and entry.folder.count("/") == 1:
        return entry.folder.rstrip("/")
    stem, _, end = entry.name.partition(".")
    return stem if not entry.folder and end.endswith(("py", "pyc", "so", "pyd")) else ""


@rule("repository-program", "safe", "error")
def repository_program(subject: Subject) -> Iterator[Found]:
    """Settings of version control or an editor start programs.

    A `.git` folder that came with a download has its author's hooks and configuration: `core.fsmonitor`, filters and
    aliases run as soon as git, or a shell prompt that calls git, reads the folder. The same is true of Mercurial's
    hgrc, editor tasks that run when the folder is opened, and direnv. Delete them.
    """
    yield from repositories.programs(subject)
