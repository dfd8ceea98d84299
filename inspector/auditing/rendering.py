"""Rendering of chat templates: what `--deep` adds to the static analysis.

Each is rendered for some conversations in a separate process without files or network, and with little time
(`readers.jinja.rendered`). Only on request, because it runs an untrusted program, albeit in a sandbox.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from inspector.auditing.readers.templates import Template, templates
from inspector.auditing.subject import Subject
from inspector.errors import UsageError
from inspector.model import Finding

#: Templates of one model that are rendered.
MAX_TEMPLATES = 50
#: Wall-clock seconds for one, including Python's start: only against a process that hangs. What a template may take is
#: processor time, which the process limits itself, so that no verdict depends on what else the machine does.
PATIENCE = 120.0
_START = "import sys; sys.path[:] = sys.argv[1:]; from inspector.auditing.readers.jinja.rendered import main; main()"


def findings(subject: Subject) -> Iterator[Finding]:
    """Findings from rendering a model's templates. Raises UsageError as `check` does."""
    check()
    for number, template in enumerate(templates(subject)):
        if number >= MAX_TEMPLATES:
            what = f"more than {MAX_TEMPLATES} templates: the others are not rendered"
            yield Finding("template-render", "error", what, template.path)
            return
        yield from _rendered(template)


def check() -> None:
    """Raises UsageError if processes cannot be limited, or Jinja is not installed."""
    if sys.platform == "win32":
        raise UsageError("--deep needs a system that limits processes, as Linux and macOS do")
    try:
        import jinja2  # noqa: F401  asked for where there is a template alone
    except ImportError as error:
        raise UsageError("--deep needs Jinja: `pip install jinja2`") from error


def _rendered(template: Template) -> Iterator[Finding]:
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
    """The result of a template: see `readers.jinja.rendered.outcome`."""
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
