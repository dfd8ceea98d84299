"""Chat templates are judged by what they would do, however it is written."""

from __future__ import annotations

import sys
from pathlib import Path

import hostile
import pytest
from costs import at_most
from every import every
from hostile.files import dump, gguf
from hostile.model import GGUF_PAIRS, GGUF_TENSORS
from hostile.templates import HARMLESS, REACHING
from jinja2 import TemplateAssertionError, TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from inspector.auditing.readers.templates import NOT_INSTALLED, judge
from inspector.auditing.run import audit


@every("text", REACHING, parts=2)
def test_reaching_is_found(text: str) -> None:
    """Names assembled in any way, other templates, built-ins, endless work."""
    assert judge(text).reaches


@every("text", [*HARMLESS, hostile.unusual.FULL_TEMPLATE])
def test_harmless_is_silent(text: str) -> None:
    """Constructs of sound templates have no finding."""
    assert judge(text).reaches == ()
    assert judge(text).unread is None


#: Templates, and the names that each uses in every conversation although Jinja does not have them.
ABSENT: dict[str, tuple[str, ...]] = {
    "{{ messages | shout }}": ("the filter 'shout'",),
    "{{ messages | length | tojson }}": (),
    "{% for each in [] %}{{ each | shout }}{% endfor %}": ("the filter 'shout'",),
    "{% if tools %}{{ tools | shout }}{% endif %}": (),
    "{% if tools %}{% for each in tools %}{{ each | shout }}{% endfor %}{% endif %}": ("the filter 'shout'",),
    "{% if tools %}{% set x %}{{ 1 | shout }}{% endset %}{% endif %}": ("the filter 'shout'",),
    "{% if tools %}{% else %}{{ 1 | shout }}{% endif %}": (),
    "{% filter shout %}x{% endfilter %}": ("the filter 'shout'",),
    "{% set x %}{{ 1 | shout }}{% endset %}": ("the filter 'shout'",),
    "{{ tools | shout if tools else 1 }}": (),
    "{{ tools and tools | shout }}": ("the filter 'shout'",),
    "{% macro m() %}{{ 1 | shout }}{% endmacro %}": ("the filter 'shout'",),
    "{% if messages is loud %}{% endif %}": ("the test 'loud'",),
    "{% if tools and messages is loud %}{% endif %}": (),
    "{% if tools is defined and tools is not none %}{% endif %}": (),
    "{{ shout(1) }}": ("the function 'shout'",),
    "{% set y = shout(1) | upper %}": ("the function 'shout'",),
    "{{ shout(1) if shout is defined }}": (),
    "{% if tools %}{{ shout(1) }}{% endif %}": (),
    "{% for each in [] %}{{ shout(each) }}{% endfor %}": (),
    "{% for each in shout() %}{% endfor %}": ("the function 'shout'",),
    "{% macro shout(x) %}{{ x }}{% endmacro %}{{ shout(1) }}": (),
    "{% macro m() %}{{ shout() }}{% endmacro %}": (),
    "{% set n = namespace(a=dict()) %}{{ strftime_now('%Y') }}{{ n.a }}{{ range(2) | list }}{{ cycler(1).next() }}": (),
    "{{ messages" + ".a" * 5000 + " | shout }}": ("the filter 'shout'",),
}


@every(("text", "expected"), ABSENT.items())
def test_names_that_jinja_lacks(text: str, expected: tuple[str, ...]) -> None:
    assert judge(text).absent == expected


@every("text", [text for text in ABSENT if len(text) < 1000])
def test_names_that_jinja_lacks_are_those_it_fails_on(text: str) -> None:
    """Jinja's own answer, with Transformers' additions: a conversation without tools fails, and one with them."""
    assert bool(judge(text).absent) is all(_is_failing(text, tools) for tools in ([], [{"name": "x"}]))


def _is_failing(text: str, tools: list[dict[str, str]]) -> bool:
    environment = ImmutableSandboxedEnvironment()
    environment.globals["strftime_now"] = str
    try:
        environment.from_string(text).render(messages=[{"role": "user", "content": "x"}], tools=tools)
    except (TemplateAssertionError, TemplateRuntimeError):  # the second includes undefined functions
        return True
    return False


SOUND = "{{ messages }}"
LACKING: dict[str, tuple[str, bool]] = {
    "tokenizer_config.json": ("{{ 1 | shout }}", True),
    "chat_template.jinja": ("{{ 1 | shout }}", True),
    "additional_chat_templates/tool.jinja": ("{{ 1 | shout }}", True),
    "examples/page.jinja": ("{{ 1 | shout }}", False),  # a template of another program
    "chat_template.json": (SOUND, False),
}


@pytest.mark.parametrize(("path", "text", "is_told"), [(path, *each) for path, each in LACKING.items()])
def test_a_template_that_always_fails_is_reported(path: str, text: str, tmp_path: Path, *, is_told: bool) -> None:
    raw = dump({"chat_template": text}) if path.endswith(".json") else text.encode()
    found = audit([hostile.make(hostile.put(path, raw), tmp_path)]).checkpoints[0].findings
    reported = [(each.severity, each.path) for each in found if each.rule == "template-names"]
    assert reported == ([("warning", path)] if is_told else [])


def test_a_gguf_template_is_not_judged_by_jinjas_names(tmp_path: Path) -> None:
    """llama.cpp has an engine of its own."""
    pairs = {**GGUF_PAIRS, "tokenizer.chat_template": "{{ 1 | shout }}"}
    made = hostile.make(lambda files: files.update({"model.gguf": gguf(pairs, GGUF_TENSORS)}), tmp_path)
    assert [each for each in audit([made]).checkpoints[0].findings if each.rule == "template-names"] == []


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


@every("place", sorted(PLACES))
def test_every_place_is_looked_into(place: str, tmp_path: Path) -> None:
    """Each place from which a loader takes a template is examined."""
    audited = audit([hostile.make(PLACES[place], tmp_path)])
    found = [each for model in audited.checkpoints for each in model.findings]
    assert [each.severity for each in found if each.rule == "template-code"] == ["error"]


#: Templates that are costly to judge: nested, long, broken.
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


@pytest.mark.gate
@pytest.mark.parametrize("name", sorted(COSTLY))
def test_judging_ends(name: str) -> None:
    """A template of 200,000 characters is judged, or given up as too long, in a second or two."""
    judge.cache_clear()
    with at_most(16_000_000):
        judge(COSTLY[name])


def test_without_jinja_nothing_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Jinja, a finding says that templates were not judged."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "inspector.auditing.readers.jinja.statements", raising=False)
    judge.cache_clear()
    found = audit([hostile.make(hostile.put("chat_template.jinja", EVIL.encode()), tmp_path)]).checkpoints[0].findings
    judge.cache_clear()  # drop verdicts that later tests would get
    assert [each.message for each in found if each.rule == "template-code"] == [
        f"chat templates were not checked: {NOT_INSTALLED}"
    ]
