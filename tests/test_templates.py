"""Chat templates are judged by what they would do, however they spell it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import hostile
import pytest
from hostile.files import dump, gguf
from hostile.model import GGUF_PAIRS, GGUF_TENSORS
from hostile.templates import HARMLESS, REACHING

from inspector.auditing.rules.templates import NOT_INSTALLED, judge
from inspector.auditing.run import audit


@pytest.mark.parametrize("text", REACHING)
def test_reaching_is_found(text: str) -> None:
    """Names put together in any way, other templates, built-ins, work without end."""
    assert judge(text).reaches


@pytest.mark.parametrize("text", [*HARMLESS, hostile.unusual.FULL_TEMPLATE])
def test_harmless_is_silent(text: str) -> None:
    """What sound templates do is no finding."""
    assert judge(text).reaches == ()
    assert judge(text).unread is None


EVIL = "{{ messages[['__', 'class', '__'] | join] }}"
PLACES: dict[str, hostile.Change] = {
    "tokenizer_config.json": hostile.put("tokenizer_config.json", dump({"chat_template": EVIL})),
    "one of several": hostile.put(
        "tokenizer_config.json", dump({"chat_template": [{"name": "default", "template": EVIL}]})
    ),
    "chat_template.json": hostile.put("chat_template.json", dump({"chat_template": EVIL})),
    "chat_template.jinja": hostile.put("chat_template.jinja", EVIL.encode()),
    "another one": hostile.put("additional_chat_templates/tool.jinja", EVIL.encode()),
    "a processor's": hostile.put("processor_config.json", dump({"chat_template": {"x": EVIL}})),
    "GGUF": lambda files: files.update(
        {"model.gguf": gguf({**GGUF_PAIRS, "tokenizer.chat_template": EVIL}, GGUF_TENSORS)}
    ),
    "GGUF, by a name": lambda files: files.update(
        {"model.gguf": gguf({**GGUF_PAIRS, "tokenizer.chat_template.rag": EVIL}, GGUF_TENSORS)}
    ),
}


@pytest.mark.parametrize("place", sorted(PLACES))
def test_every_place_is_looked_into(place: str, tmp_path: Path) -> None:
    """Wherever a loader takes a template from."""
    found = audit([hostile.make(PLACES[place], tmp_path)]).checkpoints[0].findings
    assert [each.severity for each in found if each.rule == "template-code"] == ["error"]


#: Templates that cost much to judge: nested, long, broken.
COSTLY: dict[str, str] = {
    "parentheses": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
    "additions": "{{ " + "+".join(["a"] * 50_000) + " }}",
    "filters": "{{ a" + "|trim" * 30_000 + " }}",
    "conditions": "{% if a %}" * 5_000 + "{% endif %}" * 5_000,
    "loops": "{% for a in b %}" * 60 + "{% endfor %}" * 60,
    "loops that set": "{% for a in b %}{% set c = c ~ a %}" * 30 + "{% endfor %}" * 30,
    "macros": "".join(
        f"{{% macro m{at}(x) %}}{{{{ m{at - 1}(x) }}}}{{{{ m{at - 1}([x]) }}}}{{% endmacro %}}" for at in range(200)
    ),
    "texts": "{% set x = 'ab' %}" + "{% set x = x ~ x %}" * 5_000,
    "lists": "{% set x = [1] %}" + "{% set x = x + x %}" * 5_000,
    "replacements": "{% set x = 'aa' %}" + "{% set x = x.replace('a', x) %}" * 5_000,
    "choices": "{% set x = 'a' %}" + "{% set x = x ~ ('a' if y else 'b') %}" * 3_000,
    "spaces": "{{ _'" + " " * 100_000,
    "blocks": "{{ a }}" * 25_000,
    "an open quote": "{{ '" + "\\" * 190_000,
}


@pytest.mark.parametrize("name", sorted(COSTLY))
def test_judging_ends(name: str) -> None:
    """A template of 200,000 characters is judged, or given up as more than is followed, in a second or two."""
    start = time.process_time()
    judge(COSTLY[name])
    assert time.process_time() - start < 4


def test_without_jinja_nothing_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Jinja is not installed, a finding says that templates were not judged."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "inspector.auditing.jinja.statements", raising=False)
    found = audit([hostile.make(hostile.put("chat_template.jinja", EVIL.encode()), tmp_path)]).checkpoints[0].findings
    assert [each.message for each in found if each.rule == "template-code"] == [
        f"chat templates were not checked: {NOT_INSTALLED}"
    ]
