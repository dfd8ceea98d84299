"""Render one chat template, in the process that `rendering` starts. Nothing else imports this module.

The process first gives up its rights: it can open no further file or socket, start no process, and has little memory
and time. Beyond that, Jinja's sandbox decides, as for anyone who loads the model with Transformers.
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import jinja2.debug  # noqa: F401  which Jinja imports when something fails: too late then
from jinja2 import TemplateSyntaxError
from jinja2.exceptions import SecurityError
from jinja2.ext import do, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from inspector.auditing import data
from inspector.auditing.readers.jinja.statements import Generation

#: Bytes of memory in addition to those at the start; seconds of processor time; characters of output.
MEMORY, SECONDS, MOST_WRITTEN = 256 * 1024 * 1024, 2, 10_000_000

#: Typical conversations: most templates reject some. The last is long.
_TYPICAL: list[dict[str, Any]] = data.names("rendered")["conversations"]
_ASKED, *_FURTHER = _TYPICAL[1]["messages"][1:]
CONVERSATIONS = (*_TYPICAL, {"messages": [_ASKED] + _FURTHER * 20})
_USUAL = {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "tools": None, "documents": None}
#: Messages of Python and Jinja's sandbox about a text, list or range longer than memory; other numbers only overflow.
_TOO_LONG_A_RESULT = ("index-sized", "ssize_t", "Range too big")


def main() -> None:
    """Read a template from stdin and write the result to stdout as JSON."""
    text = sys.stdin.read()
    _import_all()
    _give_up_rights()
    sys.stdout.write(json.dumps(outcome(text)))


def _import_all() -> None:
    """Import everything that Jinja and Python import on first use: later, no file can be opened."""
    environment = _environment()
    for name in environment.filters:
        with suppress(Exception):
            environment.from_string("{{ '\\n\\u00e4' | " + name + " }}").render()


def _give_up_rights() -> None:
    """Forbid files and sockets (by allowing no further descriptors), writing and processes; limit the time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    in_use = pages * resource.getpagesize()
    for what, most in (
        (resource.RLIMIT_AS, in_use + MEMORY if in_use else 1 << 30),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 1 << 20),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        resource.setrlimit(what, (most, most))


def outcome(text: str) -> dict[str, str]:
    """`grave`: behaviour that no template needs; `failed`: why no conversation could be rendered; otherwise empty."""
    try:
        template = _environment().from_string(text)
    except (TemplateSyntaxError, SyntaxError) as error:  # the second is Python's, from Jinja's generated code
        return {"failed": f"Jinja cannot parse it: {error.args[0]}"}
    except RecursionError:
        return {"grave": "expressions nested more deeply than Python allows"}
    failed: list[str] = []
    for conversation in CONVERSATIONS:
        try:
            _render(template, {**_USUAL, **conversation})
        except _Refused:
            continue
        except Exception as error:  # a template may raise any Python exception
            if what := _misbehaviour(error):
                return {"grave": what}
            failed.append(f"{type(error).__name__}: {error}")
    return {"failed": failed[0]} if len(failed) == len(CONVERSATIONS) else {}


def _misbehaviour(error: Exception) -> str | None:
    """The behaviour that no template needs, as an error reveals it; None if the template only fails."""
    match error:
        case SecurityError():
            return f"Jinja's sandbox stops it: {error.message}"
        case RecursionError():
            return "it recurses without end"
        case _TooLong():
            return f"it writes more than {MOST_WRITTEN} characters"
        case OverflowError() if not any(words in str(error) for words in _TOO_LONG_A_RESULT):
            return None
        case MemoryError() | OverflowError():
            return "it needs more memory than any conversation could"
    return None


class _Refused(Exception):  # noqa: N818  the template's own refusal
    """`raise_exception`: the template does not support such a conversation."""


class _TooLong(Exception):  # noqa: N818  a bound
    """The output is longer than any page."""


def _render(template: Any, conversation: dict[str, Any]) -> None:
    written = 0
    for piece in template.generate(**conversation):
        written += len(piece)
        if written > MOST_WRITTEN:
            raise _TooLong


def _environment() -> ImmutableSandboxedEnvironment:
    """An environment like Transformers' (utils/chat_template_utils.py)."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, do, Generation]
    )
    environment.filters["tojson"] = _as_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: form
    return environment


def _as_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """The filter `tojson` as Transformers has it, which does not escape HTML as Jinja's own does."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: object) -> NoReturn:
    raise _Refused(str(message))
