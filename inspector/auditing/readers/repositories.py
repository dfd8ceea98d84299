"""Programs started automatically by version control and editors: in `.git`, `.hg`, settings next to the files."""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from inspector.auditing import data
from inspector.auditing.files import real_path
from inspector.auditing.readers.archives import Piece
from inspector.auditing.readers.document_objects import text_of, unescaped
from inspector.auditing.readers.pickles import PICKLES, Budgets, judge
from inspector.auditing.rule import Found
from inspector.auditing.subject import Subject
from inspector.model import Severity

_NAMES = data.names("editors")

#: The most bytes of a configuration that are read: git's own has a few hundred.
MAX_CONFIG = 256 * 1024
#: The most folders in which `.git` and the like are searched for.
MAX_FOLDERS = 10_000
#: The most folders of submodules of one repository that are searched, and the most hooks that are reported.
MAX_MODULES, MAX_HOOKS = 5_000, 1_000

#: Fields of git-config, as `section.field`, whose value is a program; `*` stands for a subsection's name.
_PROGRAMS = re.compile(_NAMES["git_programs"])
#: Values of such fields that do not start a program chosen by the author.
_HARMLESS = re.compile(_NAMES["git_harmless"])

#: Files that make editors, shells and package managers run the author's programs without asking, from the programs'
#: documentation: suffixes of the file's path, the content that starts a program, its description; and the severity, if
#: it is no error.
STARTERS: tuple[tuple[tuple[str, ...], str, str, Severity], ...] = tuple(
    (tuple(ends), content, what, *(severity or ["error"])) for ends, content, what, *severity in _NAMES["starters"]
)
_OF_STARTERS = tuple(end for ends, *_ in STARTERS for end in ends)


def programs(subject: Subject) -> Iterator[Found]:
    """The programs that files start."""
    yield from _of_starters(subject)
    yield from (Found(what, path) for path, what in _of_version_control(subject))


def _of_version_control(subject: Subject) -> Iterator[tuple[str, str]]:
    """A path and the program that it starts."""
    yield from _in_listing(subject)
    if subject.root is None or subject.alone is not None:
        return
    folders = {""} | {entry.folder for entry in subject.entries}
    if len(folders) > MAX_FOLDERS:
        yield sorted(folders)[MAX_FOLDERS], "too many folders: the rest were not searched for git's configuration"
    for folder in sorted(folders)[:MAX_FOLDERS]:
        if os.path.lexists(os.path.join(subject.root, f"{folder}.git")):  # noqa: PTH118  as the listing does
            yield from _in_git(subject.root, f"{folder}.git/")
            if real_path(subject.root, f"{folder}.git") is not None:
                yield from _in_modules(subject.root, f"{folder}.git/modules/")
                yield from _pickles_in_git(subject.root, f"{folder}.git/")
        yield from _in_config(subject.root, f"{folder}.hg/hgrc", _in_hgrc)


def _in_listing(subject: Subject) -> Iterator[tuple[str, str]]:
    """Bare repositories: these files are in the listing."""
    for entry in subject.regular():
        if entry.name == "config" and f"{entry.folder}HEAD" in subject.by_path:
            text = text_of(subject.head(entry.path, MAX_CONFIG))
            yield from ((entry.path, what) for what in (_in_text(text) if entry.size <= MAX_CONFIG else (_TOO_LARGE,)))
        if entry.name == ".git" and (elsewhere := _ELSEWHERE.match(text_of(subject.head(entry.path, MAX_CONFIG)))):
            yield entry.path, f"git takes its configuration from {elsewhere[1]!r:.120}"


def _of_starters(subject: Subject) -> Iterator[Found]:
    """Settings of editors, direnv and the like."""
    for entry in (each for each in subject.regular() if each.path.endswith(_OF_STARTERS)):
        texts = _as_editors_read(text_of(subject.head(entry.path, MAX_CONFIG)))
        for ends, pattern, what, severity in STARTERS:
            if not entry.path.endswith(ends):
                continue
            if entry.size > MAX_CONFIG:
                yield Found(f"implausibly large, so not checked: it may have {what}", entry.path, severity=severity)
            elif any(re.search(pattern, each) for each in texts):
                yield Found(what, entry.path, severity=severity)


def _as_editors_read(text: str) -> tuple[str, str]:
    """A text as it is, and as editors read it if it is JSON: letters given by number, without comments."""
    first, *others = unescaped(text).split("/*")
    bare = first + "".join(each.partition("*/")[2] for each in others)
    return text, re.sub(r"//[^\n]*", "", bare)


#: `.git` as a file: git reads hooks and configuration from the folder it names.
_ELSEWHERE = re.compile(r"gitdir:\s*(.+)")
_LEADS_OUT = "a link out of the folder, to what git runs or reads its configuration from: not followed"


def _in_modules(root: str, folder: str) -> Iterator[tuple[str, str]]:
    """All folders below: a submodule's name may contain slashes, and it may have submodules itself."""
    pending = [folder]
    searched = 0
    while pending:
        here = pending.pop()
        if (real := real_path(root, here)) is None:
            yield here.rstrip("/"), _LEADS_OUT
            continue
        try:
            with os.scandir(real) as found:
                inner = sorted((each.name, each.is_symlink()) for each in found if each.is_dir())
        except OSError:
            continue
        searched += 1
        if searched > MAX_MODULES:
            yield here, "more folders of submodules than are searched for git's configuration"
            return
        yield from ((f"{here}{name}", "a link among git's submodules: not followed") for name, link in inner if link)
        yield from _in_git(root, here)
        pending += (f"{here}{name}/" for name, link in reversed(inner) if not link)


def _in_git(root: str, folder: str) -> Iterator[tuple[str, str]]:
    if real_path(root, folder) is None:
        yield folder.rstrip("/"), _LEADS_OUT
        return
    for name in ("config", "config.worktree"):
        yield from _in_config(root, folder + name, _in_text)
    common = "git takes its configuration from {!r:.120}".format
    named = _in_config(root, folder + "commondir", lambda text: (common(each) for each in (text.strip(),) if each))
    yield from named
    if (hooks := real_path(root, folder + "hooks")) is None:
        yield f"{folder}hooks", _LEADS_OUT
        return
    try:
        names = sorted(os.listdir(hooks))  # noqa: PTH208  as the listing does
    except OSError:
        return
    for name in [each for each in names if not each.endswith(".sample")][:MAX_HOOKS]:
        yield f"{folder}hooks/{name}", "a hook, which git runs"


def _pickles_in_git(root: str, folder: str) -> Iterator[tuple[str, str]]:
    """Pickles among a repository's own files and loose objects that run something: no listing of a model has them."""
    budgets = Budgets()
    places = (os.path.join(where, name) for where, _, names in os.walk(os.path.join(root, folder)) for name in names)  # noqa: PTH118
    for number, place in enumerate(places):
        path = os.path.relpath(place, root)
        if number > MAX_GIT_FILES:
            yield folder.rstrip("/"), "more files than are searched for pickles"
            return
        raw, loose = _first_bytes(place), _LOOSE.search(path) is not None
        with suppress(zlib.error):
            raw = zlib.decompressobj().decompress(raw, MAX_CONFIG).partition(b"\0")[2] if loose else raw
        if loose or raw[:1] == b"\x80" or path.endswith(PICKLES):
            piece = Piece("", lambda at, length, raw=raw: raw[at : at + length], len(raw))  # type: ignore[misc]
            if names := judge(piece, budgets, likely=path.endswith(PICKLES)).dangerous:
                yield path, f"a pickle that reaches {', '.join(names[:3]):.120}, which can run anything"


def _first_bytes(path: str) -> bytes:
    """The start of a regular file; nothing of a link, or of what cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return b""
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # making a file object of a folder raises an error
        os.close(handle)
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_CONFIG + 1)


#: The most files of one `.git` that are searched for pickles: git packs its loose objects when there are 6,700.
MAX_GIT_FILES = 20_000
#: A loose object of git, which is compressed: a kind and a size, a zero, then the file.
_LOOSE = re.compile(r"objects[/\\][0-9a-f]{2}[/\\][0-9a-f]{4,64}$")


def _in_config(root: str, path: str, look: Callable[[str], Iterator[str]]) -> Iterator[tuple[str, str]]:
    if (real := real_path(root, path)) is None:
        yield path, _LEADS_OUT
        return
    text = _small_text(real)
    yield from ((path, what) for what in (look(text) if text is not None else (_TOO_LARGE,)))


_TOO_LARGE = f"a configuration of more than {MAX_CONFIG // 1024} KiB, not searched for the programs that it starts"


def _small_text(path: str) -> str | None:
    """A regular file's text, without following links; empty if there is none, None if it is too large."""
    raw = _first_bytes(path)
    return raw.decode("utf-8", "replace") if len(raw) <= MAX_CONFIG else None


_SECTION = re.compile(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_FIELD = re.compile(r"\s*([A-Za-z][\w-]*)\s*=?\s*(.*)")


def _in_text(text: str) -> Iterator[str]:
    """Fields of a git configuration that start programs (git-config's own syntax)."""
    section = ""
    for line in text.replace("\\\n", "").splitlines():
        if header := _SECTION.match(line):
            section = header[1].lower() + (f".{header[2]}" if header[2] is not None else "")
            line = line[header.end() :]
        field = _FIELD.match(line)
        if not field or not section:
            continue
        name = f"{section}.{field[1].lower()}"
        value = re.split(r"\s[#;]", field[2])[0].strip().strip('"')
        runs = _PROGRAMS.fullmatch(name) and not _HARMLESS.fullmatch(value)
        if name.startswith("alias.") and not value.startswith("!"):
            continue
        if name.startswith("submodule.") and not value.startswith("!"):
            continue
        if runs or (name.endswith(".url") and value.startswith("ext::")):
            yield f"git's configuration sets {name:.60} to {value!r:.80}, which it runs"


def _in_hgrc(text: str) -> Iterator[str]:
    for found in re.finditer(r"(?m)^\s*\[(hooks|extensions|alias|hgext\.\w+)\]", text):
        yield f"Mercurial's configuration has {found[1]}, which it runs"
