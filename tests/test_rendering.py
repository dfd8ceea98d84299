"""`--deep` renders templates in a process without any rights, and reports what happens there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hostile
import pytest
from hostile.templates import HARMLESS

import inspector
from inspector.auditing.readers import templates

ROOT = Path(inspector.__file__).parents[1]
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="processes are limited by Unix's means")
pytestmark = UNIX

GRAVE = {
    "{{ lipsum.__globals__.os }}": "sandbox stops",
    "{{ messages.append(1) }}": "sandbox stops",
    "{{ range(10000000) }}": "more memory than",
    "{{ 'x'.ljust(10**30) }}": "more memory than",
    "{% set ns = namespace(x='a' * 99) %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}": "memory",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "without end",
    "{% for i in range(90000) %}{{ 'a' * 200 }}{% endfor %}": "writes more than",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "out of time",
}


@pytest.mark.parametrize("text", sorted(GRAVE))
@pytest.mark.gate
def test_grave(text: str) -> None:
    """The sandbox's own refusals, and templates that exhaust time or memory."""
    assert GRAVE[text] in templates._outcome(text)["grave"]


def test_failures_are_reported() -> None:
    """A template that fails for every conversation is reported; one that raises its own exception is sound."""
    assert "UndefinedError" in templates._outcome("{{ a.b.c }}")["failed"]
    assert "cannot parse" in templates._outcome("{% if %}")["failed"]
    assert "0x110000" in templates._outcome("{{ '%c' % -5 }}")["failed"]  # an overflow that takes no memory
    assert templates._outcome("{{ raise_exception('no') }}") == {}


@pytest.mark.parametrize("text", [hostile.unusual.FULL_TEMPLATE, *HARMLESS[:3]])
def test_sound_templates_are_silent(text: str) -> None:
    """Templates that are sound by their source are also sound when rendered."""
    assert "grave" not in templates._outcome(text)


def test_json_as_transformers_writes_it() -> None:
    """Its filter accepts the keywords of `json.dumps` that are listed, and no others."""
    template = "{{ messages | tojson(ensure_ascii=true, indent=2, separators=(',', ':'), sort_keys=true) }}"
    assert templates._outcome(template) == {}
    assert "'default'" in templates._outcome("{{ messages | tojson(default=1) }}")["failed"]


NEEDS = {
    "a file": "open('/etc/hostname')",
    "a socket": "__import__('socket').socket()",
    "a program": "__import__('subprocess').run(['true'])",
    "memory": "bytearray(1 << 30)",
}


@pytest.mark.parametrize("what", sorted(NEEDS))
def test_the_process_has_no_rights(what: str) -> None:
    """If the sandbox failed, a template could do nothing: each attempt is made in such a process."""
    code = (
        "import socket, subprocess\nfrom inspector.auditing.readers.jinja import rendered\nrendered._give_up_rights()\n"
        f"try:\n    {NEEDS[what]}\nexcept (OSError, MemoryError) as error:\n    print(type(error).__name__)\n"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert ran.stdout.strip() in ("OSError", "BlockingIOError", "MemoryError"), ran


def test_the_number_of_templates_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that is not rendered is an error."""
    monkeypatch.setattr(templates, "MAX_RENDERED", 2)
    monkeypatch.setattr(templates, "_outcome", lambda _: {})
    several = (hostile.put(f"additional_chat_templates/{number}.jinja", b"{{ messages }}") for number in range(3))
    folder = hostile.make(hostile.both(*several), tmp_path)
    assert not inspector.audit([folder]).fails("error")
    (deep,) = inspector.audit([folder], deep=True).checkpoints
    assert [each.message for each in deep.findings] == ["more than 2 templates: the others are not rendered"]


def test_the_library_renders_on_request(tmp_path: Path) -> None:
    """`inspector.audit(…, deep=True)` finds what only rendering shows, which it does not find without."""
    folder = hostile.make(hostile.put("chat_template.jinja", b"{{ messages.append(1) }}"), tmp_path)
    with_rendering = {
        each.rule for model in inspector.audit([folder], deep=True).checkpoints for each in model.findings
    }
    without = {each.rule for model in inspector.audit([folder]).checkpoints for each in model.findings}
    assert with_rendering - without == {"template-render"}
