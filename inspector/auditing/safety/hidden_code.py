"""Is there code in it: pickles, templates, archives, programs, other files within weights?"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from inspector.auditing import data
from inspector.auditing.readers.archives import TOO_LARGE, UNOPENED, program_of
from inspector.auditing.readers.document_objects import text_of, unescaped
from inspector.auditing.readers.pickles import PICKLES, PickleVerdict, pickle_verdicts
from inspector.auditing.readers.templates import NOT_INSTALLED, judge, templates
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.model import Severity
from inspector.sources.filenames import OTHERS, PICKLED, WEIGHTS
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_NAMES = data.names("hidden")

#: Suffixes of scripts that are text, which a shell or an interpreter runs only if it is given them.
TEXTS = tuple(_NAMES["texts"])
#: Suffixes of programs, and of what a desktop runs when it is opened.
SCRIPTS = tuple(_NAMES["scripts"])
#: First bytes → another format for which a reader may mistake the file.
HIDDEN: tuple[tuple[bytes, str], ...] = tuple((magic.encode("latin-1"), what) for magic, what in _NAMES["magics"])
#: The most pickles of a model that are the same but for their names and each have a line of their own.
MOST_ALIKE = 3
#: The most unclaimed bytes that are searched.
MAX_UNCLAIMED = 1024 * 1024
MAX_REGIONS = 20_000
#: Characters of a package's RECORD, and bytes of a program whose digest is compared with it.
MAX_RECORD, MAX_HASHED = 16 * 1024 * 1024, 32 * 1024 * 1024
#: RECORDs that are read, and folders above a target in which they are looked for.
MOST_RECORDS, MOST_ABOVE = 2_000, 8
_SMALLEST = 22  # bytes of an empty ZIP archive: padding is smaller


@rule("pickle", "safe", "error")
def pickle(subject: Subject) -> Iterator[Found]:
    """A pickle, which loading runs as a program.

    The audit interprets the program as an unpickler would, without running it, and lists the names that it resolves and
    calls. An error if one of them runs, opens or fetches something (`os.system`, `builtins.eval`, …), or if the program
    cannot be followed to its end; a warning for unknown names, or if it is longer than the audit reads; a note if there
    are only known constructors of PyTorch, NumPy and trainers. Consecutive pickles and nested archives are read. Use
    safetensors files instead, or `torch.load(…, weights_only=True)`.
    """
    for entry in subject.regular(".arrow", ".feather", ".parquet"):
        schema = (0, max(0, entry.size - MAX_UNCLAIMED))  # at the start, or at the end
        if any(b"arrow.py_extension_type" in subject.span(entry.path, at, MAX_UNCLAIMED) for at in schema):
            yield Found("a type that pyarrow before 14.0.1 unpickles (CVE-2023-47248)", entry.path)
    alike: defaultdict[tuple[str, Severity | None], list[str]] = defaultdict(list)
    for path, found in pickle_verdicts(subject).items():
        if found is None:
            yield Found("too many files that may be pickles: this one and those after it were not read", path)
        elif found.pickles:
            own = tuple(name for name in found.unusual if not name.startswith(_OWN_CODE))
            scripted = len(own) < len(found.unusual) and _scripts(subject, subject.by_path[path]) is not None
            verdict = _verdict_on_pickle(path, found._replace(unusual=own) if scripted else found)
            alike[verdict.message, verdict.severity].append(path)
    for (message, severity), paths in alike.items():
        if severity == "error" or severity is None or len(paths) <= MOST_ALIKE:
            yield from (Found(message, path, severity=severity) for path in paths)
        else:
            yield Found(f"{message}; so are {integer(len(paths) - 1)} more files", paths[0], severity=severity)


#: The package of a TorchScript archive's own source, which `torchscript` judges: Python has none of this name.
_OWN_CODE = "__torch__."


def _verdict_on_pickle(path: str, found: PickleVerdict) -> Found:
    unread = f"; it cannot be followed to its end: {found.unread[0]}" if found.unread else ""
    unread = unread or (f"; it is longer than the audit reads: {found.cut[0]}" if found.cut else "")
    if found.dangerous:
        return Found(f"loading it reaches {_first_few(found.dangerous)}, which can run anything: do not load it", path)
    imports = _first_few(found.unusual) if found.unusual else "what PyTorch's own files import"
    severity: Severity = "error" if found.unread else "warning" if found.unusual or found.odd or found.cut else "info"
    odd = f"; {found.odd[0]}, which no pickler writes" if found.odd else ""
    return Found(
        f"a pickle, which runs code when it is loaded; imports {imports}{odd}{unread}", path, severity=severity
    )


def _first_few(names: tuple[str, ...]) -> str:
    return ", ".join(name[:80] for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


@rule("unopened", "safe", "error")
def unopened(subject: Subject) -> Iterator[Found]:
    """An archive or a compressed file that the audit does not open, so its contents are unknown.

    Its kind is not supported (7z, RAR, Zstandard, …), or it is damaged or too large to unpack. An error in a file named
    like weights or a pickle, because a loader may open it; a warning elsewhere, and if only its beginning was read.
    Unpack it outside the model's folder, and audit the result.
    """
    for path, found in pickle_verdicts(subject).items():
        for each in (found.unopened if found else ())[:10]:
            place = f"{each.name!r:.120} in it: " if each.name else ""
            whole = path.lower().endswith(PICKLES) and each.why is not TOO_LARGE
            severity: Severity = "error" if whole else "warning"
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


@rule("template-wording", "safe", "warning")
def template_wording(subject: Subject) -> Iterator[Found]:
    """A chat template looks for words in what a user wrote, replaces them, or adds what no template adds.

    A template writes roles and tools. One that does something else if a message has the word "login", replaces an
    address, waits for a date, or adds a link, markup, invisible characters or an instruction to keep something from the
    user, changes what the model is asked without a word to anybody. Words of formats (`</think>`, `image`) are looked
    for by many; 170 public templates have none of the others. One that is a public template (of llama.cpp's and TRL's
    collections) but for something is named with the places: a warning if it only has something more, or more
    sentences, a note otherwise. Compare it with the one of the base model. The system prompts of Ollama's Modelfile and
    LM Studio's presets are searched for the same.
    """
    for template in templates(subject):
        judgement, name = judge(template.text or ""), f"the template `{template.name[:40]}`"
        for what, words in dict.fromkeys(judgement.words):
            yield Found(f"{name} has {what}{f' {words!r:.80}' if words else ''}", template.path)
        for difference, severity in judgement.unlike:
            yield Found(f"{name} is {difference}", template.path, severity=severity)
    for entry in subject.named(*_PROMPTING):
        text = text_of(subject.head(entry.path, MAX_PROMPT)) if entry.kind == "file" else ""
        prompts = [text] if entry.name.lower().endswith(".txt") else map("".join, _PROMPT.findall(unescaped(text)))
        for prompt in prompts:
            for what, pattern in data.overlay("wording")["added"].items():
                if what != "a link" and (match := re.search(pattern, prompt, re.IGNORECASE)):
                    yield Found(f"the system prompt has {what} {match[0]!r:.80}", entry.path)


#: Bytes of such a file that are searched.
MAX_PROMPT = 100_000
#: Files with a system prompt, and the prompt: of a Modelfile, in quotation marks or on one line; of a preset.
_PROMPTING = ("modelfile", ".modelfile", ".preset.json", "mlc-chat-config.json", "system_prompt.txt")
_PROMPT = re.compile(
    r"(?ims)^[ \t]*(?:SYSTEM|TEMPLATE)[ \t]+(?:\"{3}(.{1,9000}?)\"{3}|([^\n]{1,9000}))"
    r'|[."](?:systemPrompt|system_message)"\s*,?\s*(?:"value")?\s*:\s*"([^"]{1,9000})"'
)


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
            if found := _kind_of_hidden(subject.span(header.path, region.start, min(region.size, MAX_UNCLAIMED))):
                yield Found(f"{found} in {plural(region.size, 'byte')} that no tensor claims", header.path)
            elif region.size > MAX_UNCLAIMED:
                rest = plural(region.size - MAX_UNCLAIMED, "byte")
                yield NotJudged(f"{rest} that no tensor claims, after {integer(MAX_UNCLAIMED)} of them", header.path)
        # files of other formats may be ZIP archives themselves
        if header.format not in ("safetensors", "gguf") or subject.root is None:
            continue
        with subject.reading(header.path) as read:
            try:
                if listed := zips.members(read, subject.by_path[header.path].size):
                    what = f"a ZIP archive of {plural(len(listed), 'member')} ends where the file ends"
                    yield Found(what, header.path)
            except zips.LongListError as error:
                yield NotJudged(f"a ZIP archive ends where the file ends, and {error}", header.path)
            except zips.ZipError:
                continue


def _kind_of_hidden(data: bytes) -> str | None:
    """What the bytes are, if they are a file of another kind."""
    stripped = data.lstrip(b"\0 \r\n\t")
    anywhere = ((magic, what, magic.startswith(b"PK") and magic in data) for magic, what in HIDDEN)
    return next((what for magic, what, inside in anywhere if inside or stripped.startswith(magic)), None)


@rule("executable", "safe", "error")
def executable(subject: Subject) -> Iterator[Found]:
    """There is a program or a script among the files.

    Weights need none. A binary program is an error, in an archive too; a warning if its name says what it is and no
    weights are in its folder. What Windows or a desktop runs when it is opened, and scripts, are a warning in a folder
    with weights. Scripts elsewhere, those of web pages and of npm's packages, and Python files are a note unless
    something makes a loader run them (see remote-code); so is what an installed Python package's RECORD lists with this
    size and digest among its modules, unless a model is in that folder or one above it, or there are weights
    outside the packages. Examine them first.
    """
    beside = {entry.folder for entry in subject.regular() if entry.name.lower().endswith((*WEIGHTS, *PICKLED, *OTHERS))}
    models = {entry.folder for entry in subject.regular() if entry.name.lower().endswith(WEIGHTS)}
    models |= {entry.folder for entry in subject.regular() if entry.name == "config.json" and entry.folder in beside}
    recorded = cache(lambda: _recorded(subject, frozenset(models)))
    for found in _program_files(subject, beside):
        path = found.path or ""
        judged = found.severity != "info" and not path.endswith(".pth") and path in recorded()
        if judged and _is_as_recorded(subject, path, recorded()[path]):
            found = found._replace(message=f"{found.message}, listed in its package's RECORD", severity="info")
        yield found
    for path, inside in pickle_verdicts(subject).items():
        programs = inside.programs if inside else ()
        openly = programs and path.lower().endswith(SCRIPTS)  # such an archive is a program itself
        severity: Severity = "warning" if openly and subject.by_path[path].folder not in beside else "error"
        for inner, what in programs[: 1 if openly else 10]:
            yield Found(f"{inner!r:.120} in it is {what}", path, severity=severity)


def _program_files(subject: Subject, beside: set[str]) -> Iterator[Found]:
    """Files that are programs by their first bytes, or run because of their names; `beside`: folders with weights."""
    # npm's packages and web pages, below which JavaScript and WebAssembly are what one expects
    ends = ("package.json", ".html", ".htm")
    of_web = frozenset(entry.folder for entry in subject.regular() if entry.name.lower().endswith(ends))
    for entry in subject.regular():
        name = entry.name.lower()
        if name.endswith(WEIGHTS):
            continue
        start = subject.head(entry.path, 8)
        data = name.endswith(_KNOWN_DATA) and not entry.executable
        program = program_of(start)
        alone = entry.folder not in beside
        web = name.endswith(_OF_WEB) and _within(entry.folder, of_web)
        if program and not (data and start[:4].isascii() and start[:4].decode().isprintable()):
            openly: Severity = "info" if web else "warning" if alone and _OPENLY.search(name) else "error"
            yield Found(program, entry.path, severity=openly)
        elif _SHEBANG.match(start) and not data:
            quiet = name.endswith(".py") or alone
            yield Found("a script", entry.path, severity="info" if quiet else "warning")
        elif name.endswith(TEXTS):
            yield Found("a script", entry.path, severity="info" if alone or web else "warning")
        elif name.endswith(SCRIPTS):
            yield Found("a file that is run when it is opened", entry.path, severity="info" if alone else "warning")
        elif name.endswith(".pth") and subject.head(entry.path, 7) == b"import ":
            yield Found("a line that Python runs at its start, if the file is among its installed packages", entry.path)
        elif name.endswith((".py", ".pyc", ".ipynb")):
            yield Found("Python code", entry.path, severity="info")


def _recorded(subject: Subject, models: frozenset[str]) -> dict[str, str]:
    """Path → digest and size, as the RECORDs of installed Python packages in and above a local target list them.

    A package has METADATA and WHEEL of its name and version, and lists its modules: only what is in their folders, or
    an extension module itself, counts, and nothing below a folder with a model (`models`, and those above the target),
    nor anything if there are weights outside the packages' folders.
    """
    if subject.root is None:
        return {}
    root = Path(subject.root).absolute()
    within = [root / entry.path for entry in subject.regular() if entry.path.endswith(".dist-info/RECORD")]
    above = (each for folder in (root, *root.parents[:MOST_ABOVE]) for each in folder.glob("*.dist-info/RECORD"))
    records = tuple(islice(dict.fromkeys((*within, *islice(above, MOST_RECORDS))), MOST_RECORDS))
    bases = {each.parent.parent for each in records}
    outer = {base: (base, *(each for each in base.parents if each.is_relative_to(root))) for base in bases}
    forged = {base for base, folders in outer.items() if any(map(_has_weights, folders))}
    listed, folders = dict[str, str](), set[str]()
    for record in records:
        base = record.parent.parent
        rows = _ROW.findall("" if base in forged or not _is_package(record.parent) else _text(record))
        own = {name.partition("/")[0] for name, _ in rows if name.endswith(".py")}
        name = record.parent.name.partition("-")[0]
        own |= {name.partition("_")[0], f"{name}.libs"}  # `nvidia` of nvidia_cublas; auditwheel's and delvewheel's
        for name, rest in rows:
            path = f"{base}/{name}".removeprefix(f"{root}/")
            if (name.partition("/")[0] in own or _EXTENSION.search(name)) and not _within(path, models):
                listed[path] = rest
        folders |= {f"{base}/{name}/".removeprefix(f"{root}/") for name in own if rows}
    apart = any(not entry.path.startswith(tuple(folders)) for entry in subject.named(*WEIGHTS))
    return {} if apart else listed


def _has_weights(folder: Path) -> bool:
    """Whether a folder itself has weights; its `.pth` may also be Python's, which are text."""
    files = (each for each in folder.glob("*") if each.is_file())
    named = (each for each in files if each.name.lower().endswith((*WEIGHTS, *PICKLED, *OTHERS)))
    return any(each.suffix != ".pth" or not _text(each, 2).isascii() or _text(each, 2) == "PK" for each in named)


def _is_package(folder: Path) -> bool:
    """Whether a `.dist-info` folder has WHEEL, and METADATA with the name and version that are its own name."""
    found = dict(reversed(_METADATA.findall(_text(folder / "METADATA"))))
    names = (f"{found.get('Name')}-{found.get('Version')}.dist-info", folder.name)
    return len({_PUNCTUATION.sub("-", each).lower() for each in names}) == 1 and (folder / "WHEEL").is_file()


def _text(path: Path, most: int = MAX_RECORD) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except OSError:
        return ""


def _is_as_recorded(subject: Subject, path: str, recorded: str) -> bool:
    """Whether a file has the size that a RECORD lists, and the digest if it is not too large to be read for this."""
    digest, _, size = recorded.rpartition(",")
    if size != str(subject.by_path[path].size):
        return False
    if int(size) > MAX_HASHED:
        return True
    found = hashlib.sha256(subject.span(path, 0, int(size))).digest()
    return base64.urlsafe_b64encode(found).decode().rstrip("=") == digest


#: Names that say that a file is a program or a library.
_OPENLY = re.compile(r"\.(?:exe|dll|so(?:\.\d+)*|dylib|pyd|jar|class|wasm|node|o|a)$")
#: An extension module's name, which says for which Python it is (PEP 3149), at the root of the installed packages.
_EXTENSION = re.compile(r"^\w+\.(?:cpython-|abi3\.|cp\d).*(?:so|pyd)$")
_ROW = re.compile(r"(?m)^(.*?),sha256=(.*)$")
_METADATA = re.compile(r"(?m)^(Name|Version):[ \t]*(\S+)")
_PUNCTUATION = re.compile(r"[-_.]+")
#: Suffixes of files that readers treat as data: their content cannot make them a program or a pickle.
_KNOWN_DATA = tuple(_NAMES["known_data"])


@rule("torchscript", "safe", "error")
def torchscript(subject: Subject) -> Iterator[Found]:
    """A TorchScript archive contains a program as well as weights.

    `torch.jit.load`, and `torch.load` for such a file, run the program with the model. An error if its source names
    operations that write or map files, or an extension's; a note if it only computes. Use the safetensors files
    instead.
    """
    for entry in subject.regular():
        if subject.head(entry.path, 2) != b"PK":
            continue
        if (raw := _scripts(subject, entry)) is not None:
            found = dict.fromkeys(each.decode() for each in _SCRIPTED.findall(raw))
            what = f", which calls {', '.join(found):.120}" if found else ""
            yield Found(f"a TorchScript program in it{what}", entry.path, severity="error" if found else "info")


def _scripts(subject: Subject, entry: Entry) -> bytes | None:
    """The source of a TorchScript archive; None for any other file."""
    with subject.reading(entry.path) as read:
        try:
            listed = zips.members(read, entry.size)
            code = [each for each in listed if "/code/" in f"/{each.name}" and each.name.endswith(".py")]
            return b"\n".join(zips.unpacked(read, each, 1 << 20) for each in code[:1_000]) if code else None
        except zips.ZipError:
            return None


_SCRIPTED = re.compile(_NAMES["scripted"].encode())


@rule("hidden-archive", "safe", "warning")
def hidden_archive(subject: Subject) -> Iterator[Found]:
    """An archive has the name of another kind of file.

    A picture, text or configuration whose bytes are a 7z or RAR archive is meant to be overlooked. Examine its contents
    first.
    """
    unopened = {magic: what for magic, what in UNOPENED if len(magic) >= 4}
    archives = (*unopened, b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ")
    for entry in subject.named(*_DOCUMENTS):
        start = subject.head(entry.path, 8)
        if start.startswith(archives):
            kind = next((what for magic, what in unopened.items() if start.startswith(magic)), "a compressed archive")
            yield Found(f"{kind}, under the name of a document", entry.path)


#: How a script names its interpreter (`execve`): `#![` begins an attribute of Rust.
_SHEBANG = re.compile(rb"#![ \t]*/")
#: Suffixes of what web pages and Node.js run.
_OF_WEB = (".js", ".mjs", ".wasm")


def _within(folder: str, outer: frozenset[str]) -> bool:
    """Whether a folder or one above it is among those; each ends in a slash, and the target's own is empty."""
    return any(folder[: at + 1] in outer for at, letter in enumerate(folder) if letter == "/") or "" in outer


#: Suffixes of documents and pictures.
_DOCUMENTS = tuple(_NAMES["documents"])
