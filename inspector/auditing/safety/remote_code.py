"""Does the model make loaders run Python code: its own, another repository's, or code that a document names?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from inspector.auditing.readers.dangerous_names import runs
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.model import Severity
from inspector.sources.listing import Entry

#: sentence-transformers' own modules, as `modules.json` names them.
_OWN_MODULES = ("sentence_transformers.", "torch.nn.")


@rule("remote-code", "safe", "error")
def remote_code(subject: Subject) -> Iterator[Found]:
    """The model makes loaders run Python code that comes with it or from another repository.

    Checked are `auto_map` in a configuration, custom modules in modules.json, custom pipelines and TorchServe's
    archives. Loaders run such code with `trust_remote_code=True`. Read the code first, and pin its revision. Only a
    note if the named file is absent, so that there is nothing to run. An error if a component is one of Python's own
    modules (`["subprocess", "Popen"]`): loaders import and call it without asking.
    """
    for entry in subject.named("config.json", "modules.json", "model_index.json", "router_config.json"):
        folder = entry.folder
        for what, reference in _named_code(subject, entry.path):
            repository, _, local = (reference, "", "") if what in _KERNELS else reference.rpartition("--")
            if what in _IMPORTED_AS_NAMED and runs(reference):
                yield Found(f"{what} is {reference:.120}, which can run anything: loading imports it", entry.path)
                continue
            file = folder + local.split(".")[0].lstrip("/") + ".py"
            here = file in subject.by_path
            origin = f"from the repository {repository}" if repository else f"in {file}" if here else "not here"
            severity: Severity = "warning" if here or repository or what == "auto_mapping" or ".." in local else "info"
            yield Found(f"{what} names {reference:.120}, code {origin}", entry.path, severity=severity)
    for entry in subject.entries:
        if loader := next((who for end, who in _RUN if entry.path.endswith(end)), None):
            yield Found(f"code that {loader} runs", entry.path)
        elif entry.name.lower().endswith(".mar") and (inner := _first_code(subject, entry)):
            yield Found(f"code that TorchServe runs: {inner:.120}", entry.path)
        elif entry.name == "MLmodel" and (named := _LOADER.search(subject.text(entry.path) or "")):
            yield Found(f"MLflow imports {named[1]:.120}", entry.path)


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
_RUN = (
    ("custom_generate/generate.py", "Transformers' `generate(custom_generate=…, trust_remote_code=True)`"),
    ("hubconf.py", "`torch.hub.load`"),
)
#: Keys whose value is the name of something to import.
_IMPORTED_AS_NAMED = ("a module", "a component's class", "auto_mapping")
#: Fields that name a repository whose compiled kernels Transformers fetches and loads.
_KERNELS = ("_attn_implementation", "attn_implementation", "_experts_implementation", "experts_implementation")
#: Packages in which PEFT finds a model's class; it imports any named package.
_LIBRARIES = ("transformers", "peft", "diffusers", "torch", "timm", "sentence_transformers")


def _named_code(subject: Subject, path: str) -> Iterator[tuple[str, str]]:
    """Fields of a document that name code, each with the first code that it names."""
    name = path.rsplit("/", 1)[-1]
    if name == "modules.json":
        kinds: Iterable[str] = re.findall(r'"type"\s*:\s*"([\w.-]{1,200})"', subject.text(path) or "")
        yield from (("a module", kind) for kind in kinds if not kind.startswith(_OWN_MODULES))
        return
    document = subject.document(path)
    if name == "router_config.json":
        kinds = _strings(document["types"]) if isinstance(document.get("types"), dict) else ()
        yield from (("a module", kind) for kind in kinds if not kind.startswith(_OWN_MODULES))
    elif name.endswith("model_index.json"):
        yield from _of_pipeline(subject, path, document)
    yield from _of_configuration(document)


def _of_configuration(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for scope in _nested_configs(document):
        for field in ("auto_map", "custom_pipelines"):
            value = scope.get(field)
            if isinstance(value, dict) and value:
                inner = (each["impl"] for each in value.values() if isinstance(each, dict) and "impl" in each)
                yield field, next((text for text in (*inner, *_strings(value)) if isinstance(text, str)), "code")
            elif isinstance(value, str):
                yield field, value
        for field in _KERNELS:
            named = scope.get(field)
            for value in named.values() if isinstance(named, dict) else (named,):
                if isinstance(value, str) and "/" in value:
                    yield field, value
    mapping = document.get("auto_mapping")
    library = mapping.get("parent_library") if isinstance(mapping, dict) else None
    if isinstance(library, str) and not library.startswith(_LIBRARIES):
        yield "auto_mapping", library


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


def _strings(value: Mapping[str, Any]) -> Iterator[str]:
    for each in value.values():
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            yield from (text for text in each if isinstance(text, str))
