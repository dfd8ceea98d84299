"""Chat templates: their locations, and the verdict on each.

A template is an untrusted Jinja program, run on each message (CVE-2024-34359). It is judged by its syntax tree; on
request (`--deep`) it is rendered, too, for some conversations, in a separate process without files or network, and with
little time (`jinja.rendered`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from inspector.auditing.readers.document_objects import text_of, texts_of
from inspector.auditing.subject import Subject
from inspector.errors import UsageError, install_command
from inspector.formats.gguf.values import KeyValues
from inspector.model import Finding, Severity
from inspector.sources.filenames import WEIGHTS

#: The most characters examined of one template, and of all of a model's. Real ones reach some 50,000.
MAX_TEMPLATE = 200_000
MAX_ALL = 1_000_000


class Template(NamedTuple):
    """One chat template."""

    path: str  # the file that contains it
    name: str  # "default", or the name among several
    text: str | None  # None if it was not examined
    unread: str = "implausibly many or long templates"  # the reason


def templates(subject: Subject) -> Iterator[Template]:
    """Every chat template of a model. Those beyond the limits have no text."""
    left = MAX_ALL
    for template in _every_template(subject):
        length = len(template.text or "")
        left -= length
        yield template if length <= MAX_TEMPLATE and left >= 0 else template._replace(text=None)
        if left < 0:
            return


#: What a chat template reads; one of another program (of a README, of code), away from any model, has none of it.
_OF_CHAT = re.compile(r"\{[{%][^{}]*\b(?:messages?|tools?|add_generation_prompt|[be]os_token|prompt)\b")


def _every_template(subject: Subject) -> Iterator[Template]:
    for entry in subject.named("config.json", "chat_template.json"):
        if subject.too_large(entry):
            yield Template(entry.path, "default", None)
        yield from _templates_in(entry.path, subject.document(entry.path).get("chat_template"))
    for entry in subject.regular(".yaml", ".yml"):
        texts = texts_of("templates", text_of(subject.head(entry.path, MAX_TEMPLATE)))
        yield from (Template(entry.path, "default", text) for text in texts if "{" in text)  # not the name of one
    yield from _of_files(subject)
    for header in subject.all_headers:
        for key in header.metadata if header.format == "gguf" else ():
            if key == "tokenizer.chat_template" or key.startswith("tokenizer.chat_template."):
                yield from _templates_in(header.path, _gguf_text(header.metadata, key), key[24:] or "default")


def _of_files(subject: Subject) -> Iterator[Template]:
    of_models = {entry.folder for entry in subject.named("config.json", "tokenizer.json", *WEIGHTS)}
    for entry in subject.named(".jinja", ".jinja2", ".j2"):
        name = entry.name.partition(".")[0].replace("chat_template", "default")
        if entry.size > MAX_TEMPLATE and entry.kind == "file":
            yield Template(entry.path, name, None)
        elif (text := subject.text(entry.path, MAX_TEMPLATE)) is not None:
            if entry.folder in of_models or "chat_template" in entry.path or _OF_CHAT.search(text):
                yield Template(entry.path, name, text)
        elif subject.head(entry.path, 1):
            yield Template(entry.path, name, None, "not UTF-8 text")


def _gguf_text(metadata: Mapping[str, Any], key: str) -> Any:
    """A GGUF's string, decoded only up to the length that is examined."""
    if isinstance(metadata, KeyValues) and metadata.fields[key].type_name == "string":
        return metadata.text_of(key, MAX_TEMPLATE + 1)[0]
    return None


def _templates_in(path: str, value: Any, name: str = "default") -> Iterator[Template]:
    if isinstance(value, str):
        yield Template(path, name, value)
    elif isinstance(value, dict):
        for key, text in value.items():
            yield from _templates_in(path, text, str(key))
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict) and isinstance(each.get("template"), str):
                yield Template(path, str(each.get("name", name)), each["template"])


@dataclass(frozen=True, slots=True)
class Judgement:
    """Something a template does that no template needs to do."""

    reaches: tuple[tuple[str, str], ...] = ()  # the kind, and the words
    unread: str | None = None  # why it could not be checked
    absent: tuple[str, ...] = ()  # what it always uses, but Jinja does not have: kind and name
    words: tuple[tuple[str, str], ...] = ()  # what it does with a user's words or adds to them, and the words
    unlike: tuple[tuple[str, Severity], ...] = ()  # the public template that it is, and what differs


@lru_cache(maxsize=8)  # for the rules about it
def judge(text: str) -> Judgement:
    """The verdict on a template, by its syntax tree; a text without a block does nothing."""
    if "{{" not in text and "{%" not in text:
        return Judgement()
    try:
        from jinja2 import TemplateSyntaxError  # late: 0.07 s that only models with templates cost

        from inspector.auditing.readers.jinja.known import differences, findings
        from inspector.auditing.readers.jinja.statements import absent, tree_of
        from inspector.auditing.readers.jinja.statements import judge as judged
    except ImportError:
        return Judgement(unread=NOT_INSTALLED)
    try:
        tree = tree_of(text)
        reaches = tuple((each.what, each.words) for each in judged(tree))
        words, unlike = (tuple(findings(tree)), tuple(differences(tree))) if tree else ((), ())
        return Judgement(reaches, absent=absent(tree), words=words, unlike=unlike)
    except TemplateSyntaxError as error:
        return Judgement(unread=f"{UNPARSABLE}: {error.message or 'no template'}")


#: Why a text that is not a template is not checked.
UNPARSABLE = "Jinja cannot parse it"
#: Why templates are not checked in an environment without the extra.
NOT_INSTALLED = "Jinja is not installed: `pip install jinja2`"


# --- rendering --------------------------------------------------------------------------------------

#: Templates of one model that are rendered.
MAX_RENDERED = 50
#: Wall-clock seconds for one, including Python's start: only against a process that hangs. What a template may take is
#: processor time, which the process limits itself, so that no verdict depends on what else the machine does.
PATIENCE = 120.0
_START = "import sys; sys.path[:] = sys.argv[1:]; from inspector.auditing.readers.jinja.rendered import main; main()"


def rendered(subject: Subject) -> Iterator[Finding]:
    """Findings from rendering a model's templates. Raises UsageError as `check_rendering` does."""
    check_rendering()
    for number, template in enumerate(templates(subject)):
        if number >= MAX_RENDERED:
            what = f"more than {MAX_RENDERED} templates: the others are not rendered"
            yield Finding("template-render", "error", what, template.path)
            return
        yield from _findings_of(template)


def check_rendering() -> None:
    """Raises UsageError if processes cannot be limited, or Jinja is not installed."""
    if sys.platform == "win32":
        raise UsageError("--deep needs a system that limits processes, as Linux and macOS do")
    try:
        import jinja2  # noqa: F401  asked for where there is a template alone
    except ImportError as error:
        raise UsageError(f"--deep needs Jinja: `{install_command('', 'jinja2')}`") from error


def _findings_of(template: Template) -> Iterator[Finding]:
    name = f"the template `{template.name[:40]}`"
    if template.text is None:
        yield Finding("template-render", "error", f"{name}: {template.unread}: not rendered", template.path)
        return
    outcome = _outcome(template.text)
    if "grave" in outcome:
        yield Finding("template-render", "error", f"{name}, rendered: {outcome['grave']:.200}", template.path)
    elif "failed" in outcome:
        what = f"{name} fails on every conversation: {outcome['failed']:.200}"
        yield Finding("template-render", "info", what, template.path)


def _outcome(text: str) -> dict[str, str]:
    """The result of a template: see `jinja.rendered.outcome`."""
    import subprocess  # few audits start a process

    command = [sys.executable, "-I", "-c", _START, *(each for each in sys.path if each)]
    try:
        raw = text.encode("utf-8", "replace")
        ran = subprocess.run(  # noqa: S603  Python itself, the template on its stdin
            command, input=raw, capture_output=True, timeout=PATIENCE, env={}, cwd="/", check=False
        )
    except subprocess.TimeoutExpired:
        return {"grave": f"not done after {PATIENCE:.0f} s"}
    except OSError as error:
        return {"grave": f"no process could be started: {error}"}
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        return {"grave": "its process ended before it was done: out of time or memory"}
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}
