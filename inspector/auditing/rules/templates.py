"""Chat templates: where they lie, and what in them reaches for Python's internals.

A template is a Jinja program from a stranger, run on each message (CVE-2024-34359).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector.auditing.rules.subject import Subject
from inspector.formats.gguf.values import KeyValues

#: Characters of one template, and of all of a model's, that are looked at. Real ones reach some 20,000.
MAX_TEMPLATE = 1024 * 1024
MAX_ALL = 4 * MAX_TEMPLATE

# Only blocks are run: `{{ … }}`, `{% … %}`. What stands between them is text.
_OPENING = re.compile(r"\{\{|\{%")
_CLOSING = {"{{": "}}", "{%": "%}"}
#: What no chat template needs → how it is told.
INTERNALS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"__[A-Za-z]\w*__"), "a double-underscore attribute"),
    (re.compile(r"\\x5f|\\u005f|\\137|\\N\{LOW LINE\}", re.IGNORECASE), "an escaped underscore"),
    (re.compile(r"_['\"]\s*[~+]?\s*['\"]_"), "a double underscore put together from pieces"),
    (re.compile(r"(['\"])_{1,2}\1\s*(\*|\|\s*(join|format))"), "a double underscore put together from pieces"),
    (re.compile(r"\b(\w{1,40})\s*[~+]\s*\1\s*[~+]\s*['\"]\w{1,40}['\"]"), "a name put together from pieces"),
    (re.compile(r"(['\"])(__\w{0,40}|\w{1,40}__)\1"), "a double underscore put together from pieces"),
    (re.compile(r"%c[^'\"]{0,40}['\"]\s*(%|\|\s*format)"), "a character made from its number"),
    (re.compile(r"\{%[-+]?\s*(include|import|extends|from)\b"), "a tag that loads another template"),
    (re.compile(r"\|\s*attr\s*\("), "the `attr` filter"),
    (re.compile(r"\b(getattr|eval|exec|compile|globals|locals|open)\s*\("), "a Python built-in"),
    (re.compile(r"\b(lipsum|cycler|joiner)\s*(\.|\[|\|)"), "a Jinja global through which Python is reached"),
    (re.compile(r"\b(os|sys|subprocess|importlib|socket)\s*\.\s*\w+\s*\("), "a Python module"),
    (re.compile(r"\b(popen|_module|mro|_TemplateReference__context)\b"), "an internal"),
    (
        re.compile(r"\b((gi|cr|ag)_(frame|code)|f_(globals|locals|builtins|back)|tb_frame|func_\w+|im_func)\b"),
        "an internal",
    ),
    (re.compile(r"\brange\s*\([^)]{0,80}\d{7}|\d\s*\*\*\s*\d|\*\s*\d{7}"), "work without end"),
)


class Template(NamedTuple):
    """One chat template."""

    path: str  # the file that has it
    name: str  # "default", or the name among several
    text: str | None  # None where it is too long to be looked at


def templates(subject: Subject) -> Iterator[Template]:
    """Every chat template of a model. Those beyond what is looked at have no text."""
    left = MAX_ALL
    for template in _all(subject):
        length = len(template.text or "")
        left -= length
        yield template if length <= MAX_TEMPLATE and left >= 0 else template._replace(text=None)
        if left < 0:
            return


def _all(subject: Subject) -> Iterator[Template]:
    for entry in subject.named("config.json", "chat_template.json"):
        if subject.too_large(entry):
            yield Template(entry.path, "default", None)
        yield from _named(entry.path, subject.document(entry.path).get("chat_template"))
    for entry in subject.named(".jinja", ".jinja2", ".j2"):
        name = entry.name.partition(".")[0].replace("chat_template", "default")
        if entry.size > MAX_TEMPLATE and entry.kind == "file":
            yield Template(entry.path, name, None)
        elif (text := subject.text(entry.path, MAX_TEMPLATE)) is not None:
            yield Template(entry.path, name, text)
    for header in subject.all_headers:
        for key in header.metadata if header.format == "gguf" else ():
            if key == "tokenizer.chat_template" or key.startswith("tokenizer.chat_template."):
                yield from _named(header.path, _text(header.metadata, key), key[24:] or "default")


def _text(metadata: Mapping[str, Any], key: str) -> Any:
    """A GGUF's string, of which no more is decoded than is looked at."""
    if isinstance(metadata, KeyValues) and metadata.fields[key].type_name == "string":
        return metadata.text_of(key, MAX_TEMPLATE + 1)[0]
    return None


def _named(path: str, value: Any, name: str = "default") -> Iterator[Template]:
    if isinstance(value, str):
        yield Template(path, name, value)
    elif isinstance(value, dict):
        for key, text in value.items():
            yield from _named(path, text, str(key))
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict) and isinstance(each.get("template"), str):
                yield Template(path, str(each.get("name", name)), each["template"])


def internals(text: str | None) -> tuple[str, str] | None:
    """What in a template reaches for Python's internals, and the words; None where nothing does."""
    for block in _blocks(text or ""):
        for pattern, what in INTERNALS:
            if found := pattern.search(block):
                return what, found[0]
    return None


def _blocks(text: str) -> Iterator[str]:
    """The parts of a template that are run, in one pass; one that is not closed reaches to the end."""
    at = 0
    while opening := _OPENING.search(text, at):
        end = text.find(_CLOSING[opening[0]], opening.end())
        at = len(text) if end < 0 else end + 2
        yield text[opening.start() : at]
