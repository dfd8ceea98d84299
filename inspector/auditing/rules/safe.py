"""Can it do harm: run code, reach out of its folder, mislead whoever looks at it?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inspector.auditing.rules.names import barely_portable, look_alike, not_on_windows, odd_space
from inspector.auditing.rules.pickles import PICKLES, Judged, judged
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import MAX_DOCUMENT, MAX_DOCUMENTS, Subject
from inspector.auditing.rules.templates import NOT_INSTALLED, judge, templates
from inspector.model import Severity
from inspector.opening import configs
from inspector.sources.filenames import WEIGHTS
from inspector.units import escape, plural

#: First bytes of a program → what it is.
PROGRAMS: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a program or library for Linux (ELF)"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS (Mach-O)"),
    (b"\xce\xfa\xed\xfe", "a program for macOS (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "a program for macOS or Java"),
    (b"\0asm", "a WebAssembly program"),
    (b"dex\n", "a program for Android"),
)
#: Ends of files that are run.
SCRIPTS = (
    *(".sh", ".bash", ".zsh", ".command", ".bat", ".cmd", ".ps1", ".psm1", ".vbs", ".js", ".mjs", ".wsf", ".hta"),
    *(".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".com", ".lnk", ".desktop", ".jar", ".apk", ".pyd"),
    *(".php", ".pl", ".rb", ".applescript", ".scpt", ".reg", ".deb", ".rpm", ".appimage"),
    *(".whl", ".egg", ".docm", ".xlsm", ".pptm", ".chm", ".iso", ".vhd"),
)
#: First bytes → another format that a reader may take the bytes for.
HIDDEN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "the end of a ZIP archive"),
    (b"\x7fELF", "an ELF program"),
    (b"MZ\x90", "a Windows program"),
    (b"%PDF", "a PDF document"),
    (b"#!/", "a script"),
    (b"GGUF", "a GGUF file"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x1f\x8b\x08", "a gzip file"),
    (b"\x80\x02}", "a pickle"),
    (b"\x80\x03}", "a pickle"),
    (b"\x80\x04\x95", "a pickle"),
    (b"<script", "a web page's script"),
    (b"<html", "a web page"),
    (b"<?php", "a PHP program"),
)
#: Bytes that are looked through of what no tensor claims.
MAX_UNCLAIMED = 1024 * 1024
MAX_REGIONS = 16
_SMALLEST = 22  # bytes of an empty ZIP archive: padding is smaller
#: Modules of sentence-transformers' own, as `modules.json` names them.
_OWN_MODULES = ("sentence_transformers.", "torch.nn.")


@rule("pickle", "error")
def pickle(subject: Subject) -> Iterator[Found]:
    """A pickle: loading it runs the program that it is.

    The program is followed, never run, as an unpickler would: which names it resolves, and which it calls. An error
    where one of them runs, opens or fetches something (`os.system`, `builtins.eval`, …), and where the program cannot
    be followed to its end; a warning for names that are not known; information for PyTorch's, NumPy's and the
    trainers' own constructors and nothing else. Several pickles in a row are read, and archives within archives.
    Use safetensors files instead, or `torch.load(…, weights_only=True)`.
    """
    for path, found in judged(subject).items():
        if found is None:
            yield Found("more files that may be pickles than are read: nothing is known of those from here on", path)
        elif found.pickles:
            yield _pickle(path, found)


def _pickle(path: str, found: Judged) -> Found:
    unread = f"; it cannot be followed to its end: {found.unread[0]}" if found.unread else ""
    if found.dangerous:
        return Found(f"loading it reaches {_some(found.dangerous)}, which can run anything: do not load it", path)
    told = f"imports {_some(found.unusual)}" if found.unusual else "imports what PyTorch's own files do"
    severity: Severity = "error" if unread else "warning" if found.unusual else "info"
    return Found(f"a pickle, which runs code when it is loaded; {told}{unread}", path, severity=severity)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(name[:80] for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


@rule("unopened", "error")
def unopened(subject: Subject) -> Iterator[Found]:
    """An archive, or a compressed file, that is not opened: what it holds is not known.

    Of a kind that is not read here (7z, RAR, Zstandard, …), damaged, or larger than is unpacked. An error in a file
    that is named as weights and pickles are, for what loads it may open it; a warning elsewhere. Open it apart from
    the model, and audit what comes out.
    """
    for path, found in judged(subject).items():
        for each in (found.unopened if found else ())[:10]:
            place = f"{each.name!r:.120} in it: " if each.name else ""
            severity: Severity = "error" if path.lower().endswith(PICKLES) else "warning"
            yield Found(f"{place}{each.why}: not looked into", path, severity=severity)


@rule("remote-code", "warning")
def remote_code(subject: Subject) -> Iterator[Found]:
    """The model asks to run Python code that comes with it, or from another repository.

    `auto_map` in a configuration, a module of its own in modules.json, a custom pipeline. Loaders run it
    under `trust_remote_code=True`. Read the code before, and pin its revision. Information where the
    file that is named is not here, so that there is nothing to run.
    """
    for entry in subject.named("config.json", "modules.json", "model_index.json"):
        folder = entry.folder
        for what, reference in _code(subject, entry.path):
            repository, _, local = reference.rpartition("--")
            file = folder + local.split(".")[0].lstrip("/") + ".py"
            here = file in subject.by_path
            origin = f"from the repository {repository}" if repository else f"in {file}" if here else "not here"
            yield Found(
                f"{what} names {reference:.120}, code {origin}",
                entry.path,
                severity="warning" if here or repository or what == "auto_mapping" else "info",
            )
    for entry in subject.entries:
        if loader := next((who for end, who in _RUN if entry.path.endswith(end)), None):
            yield Found(f"code that {loader} runs", entry.path)


#: Files that are run for their names, and by whom.
_RUN = (
    ("custom_generate/generate.py", "Transformers' `generate(custom_generate=…, trust_remote_code=True)`"),
    ("hubconf.py", "`torch.hub.load`"),
)
#: Packages that PEFT finds a model's class in; it imports whatever is named.
_LIBRARIES = ("transformers", "peft", "diffusers", "torch", "timm", "sentence_transformers")


def _code(subject: Subject, path: str) -> Iterator[tuple[str, str]]:
    """Fields of a configuration that name code, each with what it names first."""
    name = path.rsplit("/", 1)[-1]
    if name == "modules.json":
        for kind in re.findall(r'"type"\s*:\s*"([\w.-]{1,200})"', subject.text(path) or ""):
            if not kind.startswith(_OWN_MODULES):
                yield "a module", kind
        return
    document = subject.document(path)
    for scope in _scopes(document):
        for field in ("auto_map", "custom_pipelines"):
            value = scope.get(field)
            if isinstance(value, dict) and value:
                yield field, next(_texts(value), "code")
            elif isinstance(value, str):
                yield field, value
    mapping = document.get("auto_mapping")
    library = mapping.get("parent_library") if isinstance(mapping, dict) else None
    if isinstance(library, str) and not library.startswith(_LIBRARIES):
        yield "auto_mapping", library
    if name == "model_index.json":
        yield from (("a component", module) for module in _components(subject, path, document))


def _components(subject: Subject, path: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Modules of a pipeline's own: beside its index, or in the folder of the part that they are for."""
    folder = path[: path.rfind("/") + 1]
    for part, value in document.items():
        match value:
            case [str(module), str()]:
                places = (module, f"{part}/{module}")
                yield from (place for place in places if f"{folder}{place}.py" in subject.by_path)


#: Parts of a configuration within each other that are looked into.
MAX_SCOPES = 200


def _scopes(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A configuration and those of its parts, three deep."""
    pending = [(document, 0)]
    for scope, depth in pending:
        yield scope
        if depth < 3:
            inner = [value for value in scope.values() if isinstance(value, dict)]
            pending += [(value, depth + 1) for value in inner[: MAX_SCOPES - len(pending)]]


def _texts(value: Mapping[str, Any]) -> Iterator[str]:
    for each in value.values():
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            yield from (text for text in each if isinstance(text, str))


@rule("template-code", "error")
def template_code(subject: Subject) -> Iterator[Found]:
    """A chat template that reaches for Python's internals, or makes work without end.

    Templates are programs, run on each message. Judged on Jinja's own syntax tree, without rendering: an attribute
    or item such as `__class__`, however its name is put together, tries to leave Jinja's sandbox, or counts on there
    being none (CVE-2024-34359); so do other templates, and functions that no chat template has. Loops within loops,
    recursion and texts that double cost hours. Do not use it. One that is longer than
    any is an error too; a warning where Jinja cannot parse it, or Jinja is not installed.
    """
    uninstalled = False
    for template in templates(subject):
        name = f"the template `{template.name[:40]}`"
        if template.text is None:
            yield Found("more templates, or longer ones, than any model has: not judged", template.path)
            continue
        judgement = judge(template.text)
        for what, words in judgement.reaches[:3]:
            yield Found(f"{name} has {what}{f': {words!r}' if words else ''}", template.path)
        if judgement.unread == NOT_INSTALLED:
            uninstalled = True
        elif judgement.unread:
            yield Found(f"{name} is not judged: {judgement.unread:.160}", template.path, severity="warning")
    if uninstalled:
        yield Found(f"chat templates are not judged: {NOT_INSTALLED}", severity="warning")


@rule("link-outside", "error")
def link_outside(subject: Subject) -> Iterator[Found]:
    """A link that leads out of the folder.

    It is not followed. A repository from a stranger can make a program read, or overwrite, any file that
    its user can. Links from the Hub cache's snapshots to its blobs are not meant. Audit the folder that
    the link leads to, if the link is your own.
    """
    for entry in subject.entries:
        if entry.outside:
            yield Found(f"a link to {entry.link or ''!r:.160}, outside the folder: not followed", entry.path)


@rule("file-name", "error")
def file_name(subject: Subject) -> Iterator[Found]:
    """A file's name that misleads: control characters, text that runs backwards, look-alike letters.

    What a terminal or a file manager shows is not what is there. Names that other systems cannot hold
    are a warning; two that systems without upper and lower case take for one are told as information.
    """
    seen: dict[str, str] = {}
    for entry in subject.entries:
        folded = entry.path.lower() if entry.path.isascii() else unicodedata.normalize("NFC", entry.path.casefold())
        if (other := seen.setdefault(folded, entry.path)) != entry.path:
            what = f"on Windows and macOS the same name as {other!r:.160}"
            yield Found(what, entry.path, severity="info")
        if escape(entry.path) != entry.path:
            yield Found("control or invisible characters in the name", entry.path)
        elif strange := look_alike(entry.path):
            yield Found(f"a letter that looks like another: {strange}", entry.path)
        elif odd := odd_space(entry.path):
            yield Found(f"a character that shows as a space: {odd}", entry.path, severity="warning")
        elif not_on_windows(entry.path):
            yield Found("a name that means something else, or nothing, on Windows", entry.path, severity="warning")
        elif entry.name.startswith("-"):
            yield Found("a name that programs take for an option", entry.path, severity="warning")
        elif barely_portable(entry.path):
            yield Found("a name that Windows cannot hold", entry.path, severity="info")


@rule("look-alike", "warning")
def look_alike_names(subject: Subject) -> Iterator[Found]:
    """A tensor's name mixes letters of scripts that look alike.

    `wеight` with a Cyrillic е is another tensor than `weight`: a check that goes by names passes over it. So
    are two names that differ in nothing but how an accent is written.
    """
    for header in subject.all_headers:
        told = 0
        seen: set[str] = set()
        for name in (tensor.name for tensor in header.tensors if not tensor.name.isascii()):
            same = unicodedata.normalize("NFC", name)
            strange = look_alike(name) or odd_space(name)
            if told < 10 and (strange or same in seen):
                told += 1
                what = (
                    f"a character that looks like another: {strange}" if strange else "looks the same as another name"
                )
                yield Found(what, header.path, name)
            seen.add(same)


@rule("duplicate-field", "error")
def duplicate_field(subject: Subject) -> Iterator[Found]:
    """A key stands twice in one object of a JSON document: a configuration, an index.

    Python's reader takes the last, others the first: what one of them checked, the other does not load. A
    warning where the values are the same. Get the file from whoever wrote it, or remove one.
    """
    left = MAX_DOCUMENTS
    for entry in subject.named(*_FIELDED):
        left -= entry.size
        if entry.size > MAX_DOCUMENT or left < 0:
            continue
        try:
            repeated = list(configs.repeated(subject.text(entry.path) or ""))
        except ValueError:
            continue  # no JSON: told by others
        for name, differ in repeated[:10]:
            what = f"the field {name!r:.120} stands twice" + (", with different values" if differ else "")
            yield Found(what, entry.path, severity="error" if differ else "warning")


#: Ends of documents whose fields decide something.
_FIELDED = ("config.json", "params.json", "modules.json", "model_index.json", "_map.json", "_tokens.json")


@rule("polyglot", "error")
def polyglot(subject: Subject) -> Iterator[Found]:
    """A weight file that is another kind of file as well.

    Something is hidden in the bytes that no tensor claims: a ZIP archive at the end is read by loaders
    that try PyTorch's format first. Only unclaimed bytes are looked at; with `--checksum`, which reads
    the file anyway, the end of the data is too.
    """
    for header in subject.all_headers:
        unclaimed = (r for r in header.regions if r.label in ("trailing", "hole", "padding") and r.size >= _SMALLEST)
        for region in islice(unclaimed, MAX_REGIONS):
            if found := _hidden(subject.span(header.path, region.start, min(region.size, MAX_UNCLAIMED))):
                yield Found(f"{found} in {plural(region.size, 'byte')} that no tensor claims", header.path)
        if subject.reads_data and _ends_as_zip(subject.span(header.path, max(0, header.size - _ZIP_END), _ZIP_END)):
            yield Found("a ZIP archive ends where the file ends, within a tensor's data", header.path)


#: A ZIP archive's last record: 22 bytes and a comment of at most 65,535.
_ZIP_END = 22 + 65_535


def _ends_as_zip(data: bytes) -> bool:
    at = data.rfind(b"PK\x05\x06")
    return at >= 0 and len(data) - at >= 22 and int.from_bytes(data[at + 20 : at + 22], "little") == len(data) - at - 22


def _hidden(data: bytes) -> str | None:
    """What the bytes are, if they are a file of another kind."""
    stripped = data.lstrip(b"\0 \r\n\t")
    for magic, what in HIDDEN:
        if stripped.startswith(magic) or (magic.startswith(b"PK") and magic in data):
            return what
    return None


@rule("executable", "error")
def executable(subject: Subject) -> Iterator[Found]:
    """A program or a script among the files.

    Weights need none. A binary program is an error, a script a warning; Python files are told as
    information where nothing makes a loader run them (see remote-code). Look at them before anything else.
    """
    for entry in subject.entries:
        if entry.kind != "file" or entry.outside:
            continue
        name = entry.name.lower()
        if name.endswith(WEIGHTS):
            continue
        start = subject.head(entry.path, 4)
        data = name.endswith(_KNOWN_DATA) and not entry.executable
        program = next((what for magic, what in PROGRAMS if start.startswith(magic)), None)
        if program and not (data and start.isascii() and start.decode().isprintable()):
            yield Found(program, entry.path)
        elif start.startswith(b"#!") and not data:
            yield Found("a script", entry.path, severity="info" if name.endswith(".py") else "warning")
        elif name.endswith(SCRIPTS):
            yield Found("a file that is run when it is opened", entry.path, severity="warning")
        elif name.endswith(".pth") and subject.head(entry.path, 7) == b"import ":
            yield Found("a line that Python runs when it starts, if the file lies among its packages", entry.path)
        elif name.endswith((".py", ".pyc", ".ipynb")):
            yield Found("Python code", entry.path, severity="info")


#: Ends of files that are data by their reader: no text makes them a program, and none of them is a pickle.
_KNOWN_DATA = (".json", ".md", ".txt", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".jinja", ".jsonl", ".yaml", ".yml")
