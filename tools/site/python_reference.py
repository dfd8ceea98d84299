"""The reference of the library: every public name, from its signature, docstring and fields."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import inspector
from inspector.model import Model

_FIELD = re.compile(r"^    (?P<name>\w+): (?P<type>.+?)(?: = (?P<default>.+?))?(?:  # (?P<about>.*))?$", re.MULTILINE)
_IGNORED = re.compile(r" *# (?:type|noqa)\b.*?(?=#|$)")


def page() -> str:
    """Functions first, then the nouns, the exceptions and the vocabulary."""
    known = {name: getattr(inspector, name) for name in sorted({*dir(inspector)} - {"__version__"})}
    parts = ["# Python", "", *(inspector.__doc__ or "").split("\n")[:1], ""]
    for title, chosen in (
        ("Functions", inspect.isfunction),
        ("Nouns", lambda each: inspect.isclass(each) and not issubclass(each, Exception)),
        ("Exceptions", lambda each: inspect.isclass(each) and issubclass(each, Exception)),
        ("Data", lambda each: not inspect.isfunction(each) and not inspect.isclass(each)),
    ):
        parts += [f"## {title}", ""]
        for name, each in known.items():
            if chosen(each):
                parts += [*_entry(name, each), ""]
    return "\n".join(parts) + "\n"


def _entry(name: str, each: Any) -> Iterator[str]:
    yield f"### `inspector.{name}`"
    yield ""
    if inspect.isfunction(each):
        yield from ("```python", _signature(name, each), "```", "")
    if not inspect.isfunction(each) and not inspect.isclass(each):
        yield f"A mapping of {len(each)} words: see [roles](../roles.md)."
        return
    yield from _docstring(inspect.getdoc(each) or "")
    if hasattr(each, "_fields"):
        yield from _fields(each)
        yield from _properties(each)
    if each is inspector.Reconciliation:
        yield from (
            "",
            "Of its `model`; all but `config`, `bits` and `findings` are attributes of the reconciliation, too:",
        )
        yield from _fields(Model)


def _signature(name: str, each: Any) -> str:
    parameters = ",\n    ".join(str(parameter) for parameter in _starred(inspect.signature(each)))
    returned = inspect.signature(each).return_annotation
    return f"inspector.{name}(\n    {parameters},\n) -> {returned}"


def _starred(signature: inspect.Signature) -> Iterator[str]:
    """Parameters as in the source, with the star before the first keyword-only one."""
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        reported = re.sub(r": '([^']*)'", r": \1", str(parameter))
        yield re.sub(r"<function .*>", "…", reported)  # a default without an effect


def _docstring(text: str) -> Iterator[str]:
    """Paragraphs; sections such as `Args:` and `Raises:` as lists, examples as code."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if re.fullmatch(r"(Args|Returns|Raises|Example):", line):
            block = []
            while at + 1 < len(lines) and (not lines[at + 1] or lines[at + 1].startswith(" ")):
                at += 1
                block.append(lines[at].removeprefix("    "))
            yield from (f"**{line}**", "")
            yield from _block(line, block)
            yield ""
        else:
            yield re.sub(r"(?<!`)<", "&lt;", line)
        at += 1


def _block(title: str, lines: list[str]) -> Iterator[str]:
    if title == "Example:":
        yield from ("```pycon", *lines, "```")
        return
    for line in lines:
        reported = re.match(r"([\w, ]+): (.*)", line)
        yield (
            f"- `{reported[1]}`: {reported[2]}"
            if reported and title != "Returns:"
            else line.strip() and f"  {line.strip()}"
        )


def _fields(each: Any) -> Iterator[str]:
    """The fields with their types and comments."""
    yield from ("", "| field | type | |", "|---|---|---|")
    declared = next(base for base in each.__mro__ if "_fields" in vars(base))
    source = inspect.getsource(declared)
    for match in _FIELD.finditer(source.split("    @property")[0].split("    def ")[0]):
        about = _IGNORED.sub("", f"# {match['about']}").lstrip("# ") if match["about"] else ""
        kind = match["type"].strip('"').replace("|", r"\|")
        yield f"| `{match['name']}` | `{kind}` | {about.replace('|', chr(92) + '|').replace('<', '&lt;')} |"


def _properties(each: Any) -> Iterator[str]:
    """What is worked out from the fields, with its type and the first line of its docstring."""
    for name, found in vars(each).items():
        if isinstance(found, property) and found.__doc__ and not name.startswith("_"):
            returned = inspect.signature(found.fget).return_annotation if found.fget else ""
            kind = re.sub(r"inspector\.[\w.]*\.", "", inspect.formatannotation(returned)).replace("|", r"\|")
            yield f"| `{name}` | `{kind}` | {found.__doc__.splitlines()[0].replace('|', chr(92) + '|')} |"
