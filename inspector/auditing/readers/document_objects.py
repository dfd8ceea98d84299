"""Objects that a YAML or JSON document makes its reader create or call, even where the names are escaped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from urllib.parse import unquote

from inspector.auditing import data
from inspector.model import Severity

_NAMES = data.names("documents")
_TAG = re.compile(r"(?:!!python/|!<?tag:yaml\.org,2002:python/)(?:object|name|module|apply|new)[\w:/.]{0,100}")
#: A tag as written, which may be percent-encoded as in URIs (YAML 1.2, section 5.6).
_ANY_TAG = re.compile(r"!<[^>\n]{1,300}>|![^\s,\[\]{}]{1,300}")
#: A shorthand that a document defines for Python's tags: `%TAG !p! tag:yaml.org,2002:python/`.
_SHORT_FORM = re.compile(r"(?m)^%TAG[ \t]+\S{1,100}[ \t]+(\S{1,300})")
_OF_PYTHON = re.compile(r"!?!?<?tag:yaml\.org,2002:p|!!p")
#: Objects in JSON for which a reader puts something else, and what it does.
_CALLED = [(re.compile(pattern), what) for pattern, what in _NAMES["called"]]
#: A character escaped by its number, as in JSON and in YAML's double-quoted strings.
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
#: Fields that name what a reader creates, and the name after it: on the same line, on the next (`>-`), or by an anchor
#: (`*name`). Hydra has `_target_`, jsonargparse and Lightning `class_path`, latent diffusion `target`, torchtune
#: `_component_`.
_TARGET = re.compile(_NAMES["target"])
#: A tag of HyperPyYAML, which SpeechBrain reads its recipes with, and gin's `@`: they call or create what they name.
_HYPER_TAG = re.compile(r"(!apply|!applyref|!new|!name|!module):([\w.]{1,200})|=\s*(@)([\w.]{1,200})")
#: A field that names what is created, in a pickle: a memo, then an opcode, the text's length and the text.
_PICKLED_TARGET = re.compile(rb"_target_.{1,6}?(?:X(.)\0\0\0|[\x8cU](.))([A-Za-z_][\w.]{2,200})", re.DOTALL)
#: An expression of sizes in an archive of `torch.export`, which `torch.export.load` has SymPy evaluate as Python (tried
#: with torch 2.13), and what no such expression needs: attributes, names with two underscores, functions of Python's.
_EXPRESSION = re.compile(r'"expr_str"\s*:\s*"((?:[^"\\]|\\.)*)"')
_NOT_OF_SIZES = re.compile(
    r"__|[\w)\]'\"]\s*\.\s*[A-Za-z_]|\b(?:eval|exec|open|compile|getattr|globals|locals|vars|lambda|input)\b"
)
#: Other fields that name what a reader imports: Fiddle's, of which NeMo 2 makes `io.json`, those of Hydra's helpers.
_NAMED = tuple(map(re.compile, _NAMES["named"]))
#: Commands in lists of recordings and shards, but for the usual ones that convert or fetch, the ends of the lists'
#: names, and the program that runs them: Kaldi's `utt1 touch x |`, Lhotse's sources, WebDataset's `pipe:`.
_COMMANDS = [(re.compile(pattern), tuple(ends), what) for pattern, ends, what in _NAMES["commands"]]
#: Source that no field of plain words has.
SOURCE = re.compile(_NAMES["source"])
#: Words without which a text has none of these.
SIGNS = ("_target_", "class_path", "target", "_component_", "!apply", "!new:", "!name:")
#: Names that no configuration needs to call. Calling other functions is what Hydra is for: `from_pretrained`,
#: `partial`.
_RUNS = re.compile(_NAMES["runs"])


def text_of(raw: bytes) -> str:
    """A document's text: YAML may be UTF-16 or UTF-32, which its first bytes indicate (YAML 1.2, section 5.2)."""
    long, short = raw.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")), raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return raw.decode("utf-32" if long else "utf-16" if short else "utf-8", "replace")


def unescaped(text: str) -> str:
    """The text with the characters that it gives by number, as JSON does (RFC 8259, section 7)."""
    return _ESCAPED.sub(_unescaped_letter, text) if "\\" in text else text


def runs(name: str) -> bool:
    """Whether a dotted name is a function or module that can run programs."""
    return _RUNS.match(name) is not None


def in_text(text: str, *, is_json: bool) -> Iterator[str]:
    """Names that the document's reader would create or call, and that can run anything."""
    text = unescaped(text)
    for pattern, what in _CALLED if is_json else ():
        if found := pattern.search(text):
            yield f"{found[0]:.80}, {what}"
    if is_json and '"expr_str"' in text:
        odd = (each for each in _EXPRESSION.findall(text) if _NOT_OF_SIZES.search(each))
        yield from (f"the expression {each:.80}, which torch.export evaluates" for each in dict.fromkeys(odd))
    elif not is_json and (tag := _python_tag(text)):
        yield f"the tag {tag:.80}, which runs code"
    for field, target in dict.fromkeys(_TARGET.findall(text) if any(sign in text for sign in SIGNS[:4]) else ()):
        name = _anchored_name(target[1:], text) if target.startswith("*") else target
        if runs(name):
            yield f"`{field}` names {name:.120}, which can run anything"
    yield from named_in(text)
    if not is_json and (found := SOURCE.search(text)):
        yield f"Python in it that imports what it runs: {found[0]:.80}"
    for tag, own, at, other in dict.fromkeys(_HYPER_TAG.findall(text)):
        if runs(name := own or other):
            yield f"the tag `{tag or at}{':' if tag else ''}` names {name:.120}, which can run anything"


def named_in(text: str) -> Iterator[str]:
    """Names in other fields than Hydra's that the document's reader imports, and that can run anything."""
    names = (".".join(filter(None, found.groups())) for each in _NAMED for found in each.finditer(text))
    yield from (f"it names {name:.120}, which can run anything" for name in dict.fromkeys(names) if runs(name))


def commands_in(text: str, name: str) -> Iterator[str]:
    """Commands in a list of data, by its name, that a program runs as it reads them."""
    for pattern, ends, what in _COMMANDS:
        if name.lower().endswith(ends) and (found := pattern.search(text)):
            yield f"the command {found[1]:.80}, {what}"


def texts_of(kind: str, text: str) -> Iterator[str]:
    """The texts of a YAML document's fields of one kind: on the same line, or in the block that follows."""
    names = "|".join(_NAMES[kind])
    for found in re.finditer(_FIELD.replace("NAMES", names), text):
        yield textwrap.dedent(found[2]) if found[2] else found[3].strip(" \"'").replace("\\n", "\n")


#: A field, and its text in the block after it or on its line.
_FIELD = (
    r"(?m)^([ \t]*)(?:-[ \t]+)?[\"']?(?:NAMES)[\"']?[ \t]*:[ \t]*"
    r"(?:[|>][-+0-9]{0,3}[ \t]*\n((?:\1[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)+)|([^|>\n][^\n]*))"
)


def run_by_readers(text: str) -> Iterator[tuple[str, Severity]]:
    """Python in a YAML document that its reader runs: `download` and `activation` of Ultralytics' data and models.

    An error if it hides what it does; to start a program is a warning, because data sets of Ultralytics' own do so.
    """
    from inspector.auditing.readers.python_code import acts_in  # few audits parse source

    for source in texts_of("evaluated", text):
        with suppress(ValueError, RecursionError):  # no Python
            grave = (act for act in acts_in(source) if act.kind in data.overlay("python")["grave"])
            for act in islice(grave, 1):
                yield f"Python that its reader runs {act.what}", "warning" if act.kind == "programs" else "error"


def in_pickle(raw: bytes) -> Iterator[str]:
    """The same in a pickle's constants, such as the hyperparameters of a Lightning checkpoint."""
    for long, short, target in dict.fromkeys(_PICKLED_TARGET.findall(raw)) if b"_target_" in raw else ():
        if runs(name := target[: ord(long or short)].decode("ascii", "replace")):
            yield f"`_target_` names {name:.120}, which can run anything"


def _python_tag(text: str) -> str | None:
    if found := _TAG.search(text):
        return found[0]
    for prefix in _SHORT_FORM.findall(text):
        if _OF_PYTHON.match(unquote(prefix)):
            return f"%TAG … {prefix}"
    escaped = (unquote(tag) for tag in _ANY_TAG.findall(text) if "%" in tag) if "%" in text else ()
    return next((tag for tag in escaped if _TAG.match(tag)), None)


def _unescaped_letter(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2] or escape[3], 16)
    return chr(number) if 0x20 <= number < 0x110000 else escape[0]


def _anchored_name(anchor: str, text: str) -> str:
    """The name that an anchor refers to: `&name os.system`; empty if there is none."""
    found = re.search(rf"&{re.escape(anchor)}\s+[\"']?([\w.]{{1,200}})", text)
    return found[1] if found else ""
