"""Does the model make loaders run Python code: its own, another repository's, or code that a document names?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from inspector.auditing import data
from inspector.auditing.readers.document_objects import text_of
from inspector.auditing.readers.pickles import runs
from inspector.auditing.readers.python_code import MAX_SOURCE, acts_in
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.safety.outside_paths import texts_at
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.model import Severity
from inspector.sources.listing import Entry

#: sentence-transformers' own modules, as `modules.json` names them.
_OWN_MODULES = ("sentence_transformers.", "torch.nn.")


@rule("remote-code", "safe", "error")
def remote_code(subject: Subject) -> Iterator[Found | NotJudged]:
    """The model makes loaders run Python code that comes with it or from another repository.

    Checked are `auto_map` and MLX's `model_file` in a configuration, custom modules in modules.json, custom pipelines
    and TorchServe's archives. Loaders run such code with `trust_remote_code=True`. Read the code first, and pin its
    revision. Only a note if the named file is absent, so that there is nothing to run. An error if a component is one
    of Python's own modules (`["subprocess", "Popen"]`): loaders import and call it without asking. The code itself is
    judged by its syntax tree: an error if it starts programs, loads libraries, opens sockets, sends secrets, or runs
    what it unpacks or fetches; the last two in any Python file. Only a warning for what starts programs in `setup.py`
    and `install.py`, which run when somebody installs the folder (pip, ComfyUI's manager), unless it is a compiler.
    """
    named: dict[str, None] = {}
    for entry in subject.named("config.json", "modules.json", "model_index.json", "router_config.json"):
        folder = entry.folder
        for what, reference in _named_code(subject, entry.path):
            repository, _, local = (reference, "", "") if what in _KERNELS else reference.rpartition("--")
            if what in _IMPORTED_AS_NAMED and runs(reference):
                yield Found(f"{what} is {reference:.120}, which can run anything: loading imports it", entry.path)
                continue
            file = folder + local.split(".")[0].lstrip("/") + ".py"
            here = file in subject.by_path
            named |= {file: None} if here else {}
            origin = f"from the repository {repository}" if repository else f"in {file}" if here else "not here"
            severity: Severity = "warning" if here or repository or what in _MODULES or ".." in local else "info"
            if repository and what.startswith("vision_config."):
                origin, severity = f"{origin}, which vLLM before 0.11.1 runs without asking (CVE-2025-66448)", "error"
            yield Found(f"{what} names {reference:.120}, code {origin}", entry.path, severity=severity)
    for entry in subject.entries:
        if loader := next((who for end, who in _RUN if entry.path.endswith(end)), None):
            yield Found(f"code that {loader} runs", entry.path)
        elif entry.name.lower().endswith(".mar") and (inner := _first_code(subject, entry)):
            yield Found(f"code that TorchServe runs: {inner:.120}", entry.path)
        elif entry.name == "MLmodel" and (loads := _LOADER.search(subject.text(entry.path) or "")):
            yield Found(f"MLflow imports {loads[1]:.120}", entry.path)
    for entry in subject.regular(".yaml", ".yml"):
        functions = _FUNCTION.findall(text_of(subject.head(entry.path, MAX_SOURCE)))
        files = (f"{entry.folder}{module.replace('.', '/')}.py" for module in functions)
        named |= {file: None for file in files if file in subject.by_path}
    yield from _judged(subject, named)


def _judged(subject: Subject, named: dict[str, None]) -> Iterator[Found | NotJudged]:
    """What Python files do: those that a configuration names, or that are loaded by their names, with their imports."""
    loaded = _with_imports(
        subject, [*named, *(each.path for each in subject.regular(".py") if _is_loaded(subject, each))]
    )
    left = MAX_ALL_SOURCE
    for entry in subject.regular(".py", ".ipynb"):
        raw = subject.head(entry.path, min(entry.size, MAX_SOURCE + 1)) if entry.size else b""
        installing = entry.name in data.overlay("python")["installed"]
        own = entry.path in loaded or installing or _BUILDER.search(raw) is not None
        if not own and not (_HIDING.search(raw) and _RUNNING.search(raw)):
            continue
        left -= len(raw)
        if len(raw) > MAX_SOURCE or left < 0:
            yield NotJudged("implausibly long source", entry.path, "error" if own else "info")
        else:
            yield from _of_source(raw, entry, own=own, installing=installing)


def _of_source(raw: bytes, entry: Entry, *, own: bool, installing: bool) -> Iterator[Found | NotJudged]:
    notebook = entry.name.endswith(".ipynb")
    try:
        acts = acts_in(_cells(raw) if notebook else raw, installing=installing)
    except RecursionError:
        yield NotJudged("source that takes more work than any program's", entry.path, "error" if own else "info")
        return
    except ValueError as error:
        if own:
            yield Found(f"loaders run it, and Python cannot parse it: {error!s:.80}", entry.path, severity="warning")
        return
    kinds = data.overlay("python")
    grave = [act for act in acts if act.kind in (kinds["grave"] if own else ("hidden",))]
    mild = [act for act in acts if act.kind in kinds["mild"]] if own else []
    if grave or mild:
        what = ", ".join(dict.fromkeys(f"{act.what} (line {act.line})" for act in (grave or mild)[:3]))
        asked = notebook or (installing and grave and grave[0].kind != "hidden")  # a user has to run it
        severity: Severity = ("warning" if asked else "error") if grave else "info"
        yield Found(f"it {what}{': do not run it' if grave else ''}", entry.path, severity=severity)


def _cells(raw: bytes) -> str:
    """The Python of a notebook, without commands to the shell. Raises ValueError."""
    cells = json.loads(raw).get("cells", ())
    code = ("".join(each["source"]) for each in cells if each.get("cell_type") == "code")
    return "\n".join(re.sub(r"(?m)^\s*[!%].*", "", each) for each in code)


def _is_loaded(subject: Subject, entry: Entry) -> bool:
    """Whether a loader runs a file by its name: at the top, or beside a configuration."""
    beside = not entry.folder or any(f"{entry.folder}{name}" in subject.by_path for name in _CONFIGS)
    names = data.overlay("python")["loaded"]
    return any(fnmatchcase(entry.path, name) or (beside and fnmatchcase(entry.name, name)) for name in names)


def _with_imports(subject: Subject, paths: list[str]) -> frozenset[str]:
    """Files and those beside them that they import, directly or not."""
    found = dict.fromkeys(paths)
    for path in paths:
        folder = path[: path.rfind("/") + 1]
        for one, several in _RELATIVE.findall(subject.head(path, MAX_SOURCE)):
            for name in (one,) if one else several.split(b","):
                file = f"{folder}{name.decode('utf-8', 'replace').strip().replace('.', '/')}.py"
                if file in subject.by_path and file not in found:
                    found[file] = None
                    paths.append(file)
    return frozenset(found)


#: Bytes of a model's sources that are parsed.
MAX_ALL_SOURCE = 1_000_000
_NAMES = data.names("code")
#: A function of a module beside a task of lm-evaluation-harness, which imports it.
_FUNCTION = re.compile(r"!function[ \t]+([\w.]{1,200})\.\w")
#: Configurations beside which loaders look for code.
_CONFIGS = tuple(_NAMES["configs"])
#: The script of a data set, which `datasets` before 4 imports whatever its name.
_BUILDER = re.compile(rb"(?m)^class \w+\([\w. ]*\b(?:GeneratorBased|ArrowBased)Builder\b")
_RELATIVE = re.compile(rb"(?m)^\s*from\s+\.(?:([\w.]{1,100})\s+import|\s+import\s+([\w, ]{1,400}))")
#: What source has that runs what it unpacks, fetches or finds out: both of them, where it is not loaded by its name.
_RUNNING = re.compile(rb"exec|eval|compile|loads|__globals__|post|connect|send")
_HIDING = re.compile(
    rb"b64|a85|unhexlify|a2b_|decompress|fromhex|chr\b|marshal|codecs|urlopen|requests|socket|download|__globals__|environ"
)


def _first_code(subject: Subject, entry: Entry) -> str | None:
    """A Python file in TorchServe's archive of a model; None if there is none: TorchServe has handlers of its own."""
    if entry.kind != "file" or entry.outside:
        return None
    with subject.reading(entry.path) as read, suppress(zips.ZipError):
        return next((member.name for member in zips.members(read, entry.size) if member.name.endswith(".py")), None)
    return None


#: The module with which MLflow loads a model, if it is not one of MLflow's.
_LOADER = re.compile(r"""(?m)^\s*["']?loader_module["']?\s*:\s*["']?(?!mlflow\.)([\w.]{1,200})""")
#: Files that are run because of their names → the program that runs them.
_RUN = [tuple(each) for each in _NAMES["run"]]
#: Keys whose value is the name of something to import.
_IMPORTED_AS_NAMED = tuple(_NAMES["imported_as_named"])
#: Those among them that may be any module of the user's Python.
_MODULES = ("auto_mapping", "megatron_core")
#: Fields that name a repository whose compiled kernels Transformers fetches and loads.
_KERNELS = tuple(_NAMES["kernels"])
#: Packages in which PEFT finds a model's class; it imports any named package.
_LIBRARIES = tuple(_NAMES["libraries"])


def _named_code(subject: Subject, path: str) -> Iterator[tuple[str, str]]:
    """Fields of a document that name code, each with the first code that it names."""
    name = path.rsplit("/", 1)[-1]
    if name == "modules.json":
        kinds: Iterable[str] = re.findall(r'"type"\s*:\s*"([\w.-]{1,200})"', subject.text(path) or "")
        yield from (("a module", kind) for kind in kinds if not kind.startswith(_OWN_MODULES))
        return
    document = subject.document(path)
    if name == "router_config.json":
        kinds = texts_at(document, "types.*") if isinstance(document.get("types"), dict) else ()
        yield from (("a module", kind) for kind in kinds if not kind.startswith(_OWN_MODULES))
    elif name.endswith("model_index.json"):
        yield from _of_pipeline(subject, path, document)
    yield from _of_configuration(document)


def _of_configuration(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for scope in _nested_configs(document):
        for field in ("auto_map", "custom_pipelines", "model_file"):
            value = scope.get(field)
            field = f"vision_config.{field}" if scope is document.get("vision_config") else field
            if isinstance(value, dict) and value:
                inner = (each["impl"] for each in value.values() if isinstance(each, dict) and "impl" in each)
                yield field, next((text for text in (*inner, *texts_at(value, "*")) if isinstance(text, str)), "code")
            elif isinstance(value, str):
                yield field, value
        for field in _KERNELS:
            named = scope.get(field)
            for value in named.values() if isinstance(named, dict) else (named,):
                if isinstance(value, str) and "/" in value:
                    yield field, value
    yield from _imported(document)


def _imported(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields with the name of a module that sentence-transformers or PEFT imports."""
    function = document.get("activation_function")
    if isinstance(function, str) and runs(function) and not function.startswith("torch."):
        yield "activation_function", function  # sentence-transformers before 5 imports and calls it
    mapping = document.get("auto_mapping")
    library = mapping.get("parent_library") if isinstance(mapping, dict) else None
    if isinstance(library, str) and library.partition(".")[0] not in _LIBRARIES:
        yield "auto_mapping", library
    core = document.get("megatron_core", "megatron.core")
    if isinstance(core, str) and document.get("megatron_config") is not None and not core.startswith("megatron."):
        yield "megatron_core", core  # PEFT imports it


def _of_pipeline(subject: Subject, path: str, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A pipeline's custom modules, beside its index or in the folder of their component; and Python's own."""
    folder = path[: path.rfind("/") + 1]
    for part, value in document.items():
        match value:
            case [str(module), str(kind), *_]:  # modular pipelines also state the component's origin
                places = (module, f"{part}/{module}")
                yield from (("a component", place) for place in places if f"{folder}{place}.py" in subject.by_path)
                if runs(f"{module}.{kind}"):
                    yield "a component's class", f"{module}.{kind}"


def _nested_configs(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A configuration and those nested in it, three levels deep."""
    pending = [(document, 0)]
    for scope, depth in pending:
        yield scope
        if depth < 3:
            pending += [(value, depth + 1) for value in scope.values() if isinstance(value, dict)]
