"""Can it do harm: run code, reach out of its folder, mislead whoever looks at it?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inspector import configs
from inspector.rules import Found, rule
from inspector.rules.pickles import Budget, Imports, imports_of
from inspector.rules.subject import MAX_DOCUMENT, MAX_DOCUMENTS, WEIGHTS, Subject
from inspector.rules.templates import internals, templates
from inspector.units import escape, integer, plural

#: Ends of files that are pickles, or contain some.
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dat", ".npy", ".npz", ".mar")
#: Files that are read as pickles in one model.
MAX_PICKLES = 2_000
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
#: Folders that no loader looks into.
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


@rule("pickle", "error")
def pickle(subject: Subject) -> Iterator[Found]:
    """A pickle: loading it runs the program that it is.

    The opcodes are read, never run, and what they import is told. An error where that includes what no
    checkpoint needs (`os.system`, `builtins.eval`, …); else a warning. Use safetensors files instead, or
    `torch.load(…, weights_only=True)`. With `picklescan` installed (the extra `pickle`), its verdict
    counts too.
    """
    budget = Budget()
    opened = 0
    for entry in subject.entries:
        if entry.kind != "file" or entry.outside or not entry.size:
            continue
        likely = entry.name.lower().endswith(PICKLES)
        if likely or (not entry.name.lower().endswith(_KNOWN_DATA) and subject.head(entry.path, 2) in _STARTS):
            opened += 1
            if opened > MAX_PICKLES:
                what = f"more than {integer(MAX_PICKLES)} files that may be pickles: those from here on are not read"
                yield Found(what, entry.path, severity="warning")
                return
            found = imports_of(subject, entry.path, budget)
            if found is not None and (found.names or found.complete or likely):
                yield _pickle(entry.path, found)


_STARTS = (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def _pickle(path: str, found: Imports) -> Found:
    if found.dangerous:
        return Found(f"imports {_some(found.dangerous)}: do not load it", path)
    told = f"imports {_some(found.unusual)}" if found.unusual else "imports what PyTorch's own files do"
    unread = "" if found.complete else "; not all of it could be read"
    return Found(f"a pickle, which runs code when it is loaded; {told}{unread}", path, severity="warning")


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(name[:80] for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


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
            file = folder + local.split(".")[0] + ".py"
            here = file in subject.by_path
            origin = f"from the repository {repository}" if repository else f"in {file}" if here else "not here"
            yield Found(
                f"{what} names {reference:.120}, code {origin}",
                entry.path,
                severity="warning" if here or repository else "info",
            )


def _code(subject: Subject, path: str) -> Iterator[tuple[str, str]]:
    """Fields of a configuration that name code, each with what it names first."""
    name = path.rsplit("/", 1)[-1]
    if name == "modules.json":
        for kind in re.findall(r'"type"\s*:\s*"([\w.-]{1,200})"', subject.text(path) or ""):
            if not kind.startswith(_OWN_MODULES):
                yield "a module", kind
        return
    document = subject.document(path)
    for field in ("auto_map", "custom_pipelines"):
        value = document.get(field)
        if isinstance(value, dict) and value:
            yield field, next(_texts(value), "code")
        elif isinstance(value, str):
            yield field, value
    if name == "model_index.json":
        for value in document.values():
            if isinstance(value, list) and len(value) == 2 and _is_own_module(subject, path, value[0]):
                yield "a component", str(value[0])


def _texts(value: Mapping[str, Any]) -> Iterator[str]:
    for each in value.values():
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            yield from (text for text in each if isinstance(text, str))


def _is_own_module(subject: Subject, path: str, module: Any) -> bool:
    folder = path.rpartition("/")[0]
    return isinstance(module, str) and f"{folder + '/' if folder else ''}{module}.py" in subject.by_path


@rule("template-code", "error")
def template_code(subject: Subject) -> Iterator[Found]:
    """A chat template that reaches for Python's internals.

    Templates are programs, run on each message. One that touches `__class__`, the `attr` filter or a
    module tries to leave Jinja's sandbox, or counts on there being none (CVE-2024-34359). Do not use it.
    """
    for template in templates(subject):
        if found := internals(template.text):
            what, words = found
            yield Found(f"the template `{template.name[:40]}` has {what}: {words[:60]!r}", template.path)
        elif template.text is None:
            what = "more templates, or longer ones, than any model has: not looked into"
            yield Found(what, template.path, severity="warning")


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
        elif "\\" in entry.path or _RESERVED.match(entry.name) or entry.name != entry.name.strip():
            yield Found("a name that means something else, or nothing, on Windows", entry.path, severity="warning")


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
            strange = look_alike(name)
            if told < 10 and (strange or same in seen):
                told += 1
                what = f"a letter that looks like another: {strange}" if strange else "looks the same as another name"
                yield Found(what, header.path, name)
            seen.add(same)


#: Beginnings of the names of letters that look like Latin ones, and that Unicode does not take for the same.
_LIKE_LATIN = (
    *("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "TIFINAGH", "OLD ITALIC"),
    *("LATIN LETTER SMALL CAPITAL", "LATIN SMALL LETTER SCRIPT", "LATIN SMALL LETTER ALPHA", "LATIN SMALL LETTER IOTA"),
    *("LATIN SMALL LETTER DOTLESS", "LATIN LETTER DENTAL CLICK", "LATIN LETTER RETROFLEX CLICK"),
)


def look_alike(text: str) -> str | None:
    """The first letter that has the shape of a Latin one, in a word of those; or a digit that is none of ASCII's."""
    if text.isascii():
        return None
    for word in re.findall(r"\w+", text):
        among_latin = any(char.isascii() and char.isalpha() for char in word)
        for char in word:
            name = "" if char.isascii() else unicodedata.name(char, "")
            if (among_latin and (name.startswith(_LIKE_LATIN) or _is_variant(char))) or (name and char.isdecimal()):
                return name.capitalize()
    return None


def _is_variant(char: str) -> bool:
    """Whether Unicode calls a letter the same as ASCII's in another style: wide, bold, circled, a Roman numeral."""
    style, _, same = unicodedata.decomposition(char).partition("> ")
    raised = style in ("<super", "<sub", "<fraction")  # a formula's, and seen as such
    return bool(same) and not raised and any(int(code, 16) < 0x80 for code in same.split())


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
        elif name.endswith((".py", ".pyc")):
            yield Found("Python code", entry.path, severity="info")


#: Ends of files that are data by their reader: no text makes them a program, and none of them is a pickle.
_KNOWN_DATA = (".json", ".md", ".txt", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".jinja", ".jsonl", ".yaml", ".yml")
