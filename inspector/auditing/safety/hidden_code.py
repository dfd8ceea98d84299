"""Can it do harm: run code, escape from its folder, mislead a reader?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inspector.auditing.bounds import MAX_DOCUMENT, MAX_DOCUMENTS, MAX_HEADER
from inspector.auditing.readers.archives import program_of
from inspector.auditing.readers.misleading_names import barely_portable, look_alike, not_on_windows, odd_space
from inspector.auditing.readers.pickles import PICKLES, Judged, judged
from inspector.auditing.readers.templates import NOT_INSTALLED, judge, templates
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.formats.gguf.values import KeyValues
from inspector.model import Severity
from inspector.opening import configs
from inspector.sources.filenames import WEIGHTS
from inspector.units import escape, integer, plural

#: Suffixes of programs and scripts.
SCRIPTS = (
    *(".sh", ".bash", ".zsh", ".command", ".bat", ".cmd", ".ps1", ".psm1", ".vbs", ".js", ".mjs", ".wsf", ".hta"),
    *(".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".com", ".lnk", ".desktop", ".jar", ".apk", ".pyd"),
    *(".php", ".pl", ".rb", ".applescript", ".scpt", ".reg", ".deb", ".rpm", ".appimage"),
    *(".url", ".webloc", ".scf", ".pif", ".cpl", ".inf", ".job", ".gadget", ".library-ms", ".search-ms", ".xll"),
    *(".whl", ".egg", ".docm", ".xlsm", ".pptm", ".chm", ".iso", ".vhd"),
)
#: First bytes → another format for which a reader may mistake the file.
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
#: The most unclaimed bytes that are searched.
MAX_UNCLAIMED = 1024 * 1024
MAX_REGIONS = 16
_SMALLEST = 22  # bytes of an empty ZIP archive: padding is smaller


@rule("pickle", "safe", "error")
def pickle(subject: Subject) -> Iterator[Found]:
    """A pickle, which loading runs as a program.

    The audit interprets the program as an unpickler would, without running it, and lists the names that it resolves and
    calls. An error if one of them runs, opens or fetches something (`os.system`, `builtins.eval`, …), or if the program
    cannot be followed to its end; a warning for unknown names; a note if there are only known constructors of PyTorch,
    NumPy and trainers. Consecutive pickles and nested archives are read. Use safetensors files instead, or
    `torch.load(…, weights_only=True)`.
    """
    for path, found in judged(subject).items():
        if found is None:
            yield Found("too many files that may be pickles: this one and those after it were not read", path)
        elif found.pickles:
            yield _pickle(path, found)


def _pickle(path: str, found: Judged) -> Found:
    unread = f"; it cannot be followed to its end: {found.unread[0]}" if found.unread else ""
    if found.dangerous:
        return Found(f"loading it reaches {_some(found.dangerous)}, which can run anything: do not load it", path)
    told = f"imports {_some(found.unusual)}" if found.unusual else "imports what PyTorch's own files import"
    severity: Severity = "error" if unread else "warning" if found.unusual or found.odd else "info"
    odd = f"; {found.odd[0]}, which no pickler writes" if found.odd else ""
    return Found(f"a pickle, which runs code when it is loaded; {told}{odd}{unread}", path, severity=severity)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(name[:80] for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


@rule("unopened", "safe", "error")
def unopened(subject: Subject) -> Iterator[Found]:
    """An archive or a compressed file that the audit does not open, so its contents are unknown.

    Its kind is not supported (7z, RAR, Zstandard, …), or it is damaged or too large to unpack. An error in a file named
    like weights or a pickle, because a loader may open it; a warning elsewhere. Unpack it outside the model's folder,
    and audit the result.
    """
    for path, found in judged(subject).items():
        for each in (found.unopened if found else ())[:10]:
            place = f"{each.name!r:.120} in it: " if each.name else ""
            severity: Severity = "error" if path.lower().endswith(PICKLES) else "warning"
            yield Found(f"{place}{each.why}: not examined", path, severity=severity)


@rule("template-code", "safe", "error")
def template_code(subject: Subject) -> Iterator[Found]:
    """A chat template accesses Python's internals, or never finishes.

    Templates are programs, run for each message. They are judged by Jinja's syntax tree, without rendering. A template
    that accesses an attribute or item such as `__class__`, however its name is assembled, tries to leave Jinja's
    sandbox, or relies on there being none (CVE-2024-34359); so does one that includes other templates or calls
    functions that no chat template uses. Nested loops, recursion and strings that keep doubling can take hours. Do not
    use such a template. One that is implausibly long, or not UTF-8, is an error too; only a warning if Jinja cannot
    parse it, or is not installed.
    """
    uninstalled = False
    for template in templates(subject):
        name = f"the template `{template.name[:40]}`"
        if template.text is None:
            yield Found(f"{template.unread}: not checked", template.path)
            continue
        judgement = judge(template.text)
        for what, words in judgement.reaches[:3]:
            yield Found(f"{name} has {what}{f': {words!r}' if words else ''}", template.path)
        if judgement.unread == NOT_INSTALLED:
            uninstalled = True
        elif judgement.unread:
            yield Found(f"{name} was not checked: {judgement.unread:.160}", template.path, severity="warning")
    if uninstalled:
        yield Found(f"chat templates were not checked: {NOT_INSTALLED}", severity="warning")


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


@rule("file-name", "safe", "error")
def file_name(subject: Subject) -> Iterator[Found]:
    """A misleading file name: control characters, text that runs backwards, look-alike letters.

    The name that a terminal or a file manager shows is not the real one. Names that other systems cannot store are a
    warning; two names that a case-insensitive file system treats as one are a note.
    """
    seen: dict[str, str] = {}
    for entry in subject.entries:
        folded = entry.path.lower() if entry.path.isascii() else unicodedata.normalize("NFC", entry.path.casefold())
        if (other := seen.setdefault(folded, entry.path)) != entry.path:
            what = f"on Windows and macOS, the same name as {other!r:.160}"
            yield Found(what, entry.path, severity="info")
        if escape(entry.path) != entry.path:
            yield Found("control or invisible characters in the name", entry.path)
        elif strange := look_alike(entry.path):
            yield Found(f"a look-alike letter: {strange}", entry.path)
        elif odd := odd_space(entry.path):
            yield Found(f"a character that looks like a space: {odd}", entry.path, severity="warning")
        elif not_on_windows(entry.path):
            yield Found("a name that means something else, or nothing, on Windows", entry.path, severity="warning")
        elif entry.name.startswith("-"):
            yield Found("a name that programs mistake for an option", entry.path, severity="warning")
        elif barely_portable(entry.path):
            yield Found("a name that Windows cannot store", entry.path, severity="info")


@rule("look-alike", "safe", "warning")
def look_alike_names(subject: Subject) -> Iterator[Found]:
    """A tensor's name mixes look-alike letters of different scripts.

    `wеight` with a Cyrillic е is a different tensor than `weight`, and a check by name misses it. The same is true of
    two names that differ only in how an accent is encoded.
    """
    for header in subject.all_headers:
        told = 0
        seen: set[str] = set()
        for name in (tensor.name for tensor in header.tensors if not tensor.name.isascii()):
            same = unicodedata.normalize("NFC", name)
            strange = look_alike(name) or odd_space(name)
            if told < 10 and (strange or same in seen):
                told += 1
                what = f"a look-alike character: {strange}" if strange else "looks the same as another name"
                yield Found(what, header.path, name)
            seen.add(same)


@rule("terminal-code", "safe", "warning")
def terminal_code(subject: Subject) -> Iterator[Found | NotJudged]:
    """Text in the metadata rewrites what a terminal shows, or runs backwards.

    Programs print a model's name, licence or author unchanged: escape codes in them erase lines, set titles and create
    links; bidirectional controls make a different text appear. Tokens and chat templates are not examined.
    """
    for header in subject.all_headers:
        if (beyond := len(header.metadata) - MAX_FIELDS) > 0:
            yield NotJudged(f"{plural(beyond, 'field')} after the first {integer(MAX_FIELDS)}", header.path, "warning")
        fields = ((key, _own_text(header.metadata, key)) for key in islice(header.metadata, MAX_FIELDS))
        for key, text in fields:
            if text and not (text.isascii() and text.isprintable()) and _CODES.search(text):
                yield Found(f"control characters in the field {key!r:.80}: {text!r:.100}", header.path)


#: The most fields of one file that are examined, and characters of each: no header that is read has more.
MAX_FIELDS, MAX_FIELD = 2_000, MAX_HEADER
#: Escape sequences (ECMA-48), erasure, C1 controls, and directional overrides (UAX 9).
_CODES = re.compile("\x1b[\x28-\x2f\x37-\x3e\x4d-\x50\x58-\x63]|[\x08\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _own_text(metadata: Mapping[str, Any], key: str) -> str:
    if key.startswith("tokenizer."):
        return ""
    if isinstance(metadata, KeyValues):
        return metadata.text_of(key, MAX_FIELD)[0] if metadata.fields[key].type_name == "string" else ""
    value = metadata[key]
    return value[:MAX_FIELD] if isinstance(value, str) else ""


@rule("duplicate-field", "safe", "error")
def duplicate_field(subject: Subject) -> Iterator[Found]:
    """A key appears twice in one object of a JSON document, such as a configuration or an index.

    Python's json takes the last value, other readers the first, so a program may load another value than the one that
    was checked. Only a warning if the values are equal. Get the original file, or remove one of the keys.
    """
    left = MAX_DOCUMENTS
    for entry in subject.named(*_FIELDED):
        left -= entry.size
        if entry.size > MAX_DOCUMENT or left < 0:
            continue
        try:
            repeated = list(configs.repeated(subject.text(entry.path) or ""))
        except ValueError:
            continue  # not JSON: another rule reports it
        for name, differ in repeated[:10]:
            what = f"the field {name!r:.120} appears twice" + (", with different values" if differ else "")
            yield Found(what, entry.path, severity="error" if differ else "warning")


#: Suffixes of documents whose fields affect loading.
_FIELDED = ("config.json", "params.json", "modules.json", "model_index.json", "_map.json", "_tokens.json")


@rule("polyglot", "safe", "error")
def polyglot(subject: Subject) -> Iterator[Found | NotJudged]:
    """A weight file is also a file of another kind.

    Something is hidden in bytes that no tensor claims, or a ZIP archive ends where the file does, perhaps inside a
    tensor: loaders that try PyTorch's format first read that archive. Only unclaimed bytes are examined, and the last
    64 kB of local files.
    """
    for header in subject.all_headers:
        unclaimed = (r for r in header.regions if r.label in ("trailing", "hole", "padding") and r.size >= _SMALLEST)
        for number, region in enumerate(unclaimed):
            if number == MAX_REGIONS:
                what = f"bytes that no tensor claims, in more than {MAX_REGIONS} places"
                yield NotJudged(what, header.path, "info")  # padding between tensors is sound
                break
            if found := _hidden(subject.span(header.path, region.start, min(region.size, MAX_UNCLAIMED))):
                yield Found(f"{found} in {plural(region.size, 'byte')} that no tensor claims", header.path)
            elif region.size > MAX_UNCLAIMED:
                rest = plural(region.size - MAX_UNCLAIMED, "byte")
                yield NotJudged(f"{rest} that no tensor claims, after {integer(MAX_UNCLAIMED)} of them", header.path)
        if (
            header.format not in ("safetensors", "gguf") or subject.root is None
        ):  # files in other formats are such archives
            continue
        try:
            listed = _members_at_the_end(subject, header.path)
        except zips.LongListError as error:
            yield NotJudged(f"a ZIP archive ends where the file ends, and {error}", header.path)
            continue
        if listed:
            yield Found(f"a ZIP archive of {plural(listed, 'member')} ends where the file ends", header.path)


def _members_at_the_end(subject: Subject, path: str) -> int:
    """The number of members of the ZIP archive that a ZIP reader would find in a file; 0 if there is none.

    Raises LongListError.
    """
    with subject.reading(path) as read:
        try:
            return len(zips.members(read, subject.by_path[path].size))
        except zips.LongListError:
            raise
        except zips.ZipError:
            return 0


def _hidden(data: bytes) -> str | None:
    """What the bytes are, if they are a file of another kind."""
    stripped = data.lstrip(b"\0 \r\n\t")
    for magic, what in HIDDEN:
        if stripped.startswith(magic) or (magic.startswith(b"PK") and magic in data):
            return what
    return None


@rule("executable", "safe", "error")
def executable(subject: Subject) -> Iterator[Found]:
    """There is a program or a script among the files.

    Weights need none. A binary program is an error, in an archive too, and a script is a warning; Python files are a
    note unless something makes a loader run them (see remote-code). Examine them first.
    """
    yield from _programs(subject)
    for path, found in judged(subject).items():
        for inner, what in (found.programs if found else ())[:10]:
            yield Found(f"{inner!r:.120} in it is {what}", path)


def _programs(subject: Subject) -> Iterator[Found]:
    """Files that are programs by their first bytes, or that are run because of their names."""
    for entry in subject.entries:
        if entry.kind != "file" or entry.outside:
            continue
        name = entry.name.lower()
        if name.endswith(WEIGHTS):
            continue
        start = subject.head(entry.path, 8)
        data = name.endswith(_KNOWN_DATA) and not entry.executable
        program = program_of(start)
        if program and not (data and start[:4].isascii() and start[:4].decode().isprintable()):
            yield Found(program, entry.path)
        elif start.startswith(b"#!") and not data:
            yield Found("a script", entry.path, severity="info" if name.endswith(".py") else "warning")
        elif name.endswith(SCRIPTS):
            yield Found("a file that is run when it is opened", entry.path, severity="warning")
        elif name.endswith(".pth") and subject.head(entry.path, 7) == b"import ":
            yield Found("a line that Python runs at its start, if the file is among its installed packages", entry.path)
        elif name.endswith((".py", ".pyc", ".ipynb")):
            yield Found("Python code", entry.path, severity="info")


#: Suffixes of files that readers treat as data: their content cannot make them a program or a pickle.
_KNOWN_DATA = (".json", ".md", ".txt", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".jinja", ".jsonl", ".yaml", ".yml")
