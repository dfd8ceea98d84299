"""The documentation's site builds without a warning, needs no network, and documents all of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import inspector
from inspector.auditing.catalogue import all_rules
from inspector.cli.commands import inspect
from inspector.scanning.queries import QUERIES
from inspector.scanning.schema import TABLES

pytest.importorskip("mkdocs")

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A broken link, a page that the menu lacks, or any warning fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    # A proxy that does not exist: any use of the network fails.
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """No font, script, style or image is loaded from an address; links that readers follow are none of these."""
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        loads = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*", text(page))
        assert [each for each in loads if re.search(r"(?:src|href)=\"?(?:https?:)?//", each)] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", text(style))


def test_the_reference_has_every_command_with_its_options(site: Path) -> None:
    """Commands and options are those of click."""
    page = text(site / "reference" / "commands.html")
    context = click.Context(inspect, info_name="inspect")
    for name in inspect.list_commands(context):
        command = inspect.get_command(context, name)
        assert command is not None
        section = page.partition(f'<h2 id="inspect-{name}">')[2].partition("<h2 ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in section, f"{name} {parameter.opts[0]}"


def test_the_reference_has_every_public_name(site: Path) -> None:
    """With the fields of the nouns, and no address of an object."""
    page = text(site / "reference" / "python.html")
    for name in {*dir(inspector)} - {"__version__"}:
        assert f"inspector.{name}</code>" in page
    assert "<code>unexplained_bytes</code>" in page
    assert "0x" not in page


def test_the_reference_has_the_json_of_every_command_that_has_one(site: Path) -> None:
    """Each such command is there, and so are the promised fields, by name."""
    page = text(site / "reference" / "json.html")
    context = click.Context(inspect)
    for name in inspect.list_commands(context):
        command = inspect.get_command(context, name)
        assert command is not None
        options = [option for each in command.params if isinstance(each, click.Option) for option in each.opts]
        if "--json" in options:
            assert f"inspect {'TARGET' if name == 'overview' else name}" in page, name
    for field in ("reconciliation.steps[].cause", "files[].unused", "cache.layers[].kind", "counts.only_a"):
        assert f"<code>{field}</code>" in page
    assert "/tmp" not in page


def test_the_reference_has_every_rule_and_role(site: Path) -> None:
    """Rules with their documentation, roles with their meaning; no placeholder of a list is left in any page."""
    rules, roles = text(site / "rules.html"), text(site / "roles.html")
    assert [code for code in all_rules() if f"<code>{code}</code>" not in rules] == []
    assert [role for role in inspector.ROLES if f"<code>{role}</code>" not in roles] == []


def test_lists_are_made_from_the_code(site: Path) -> None:
    """Bounds with their values, model types with their coverage, GGUF architectures; no placeholder is left."""
    assert "<td>1,073,741,824</td>" in text(site / "internals.html")  # adapters' MAX_NUMBER, 2³⁰
    types = text(site / "architectures.html")
    assert [name for name in inspector.architectures.model_types() if f"{name}<" not in types] == []
    assert "<td>qwen3moe</td>" in text(site / "gguf.html")
    scan = text(site / "scan.html")
    columns = [column.name for table in TABLES.values() for column in table]
    assert [name for name in columns if f"<td><code>{name}</code></td>" not in scan] == []
    assert [name for name in QUERIES if f"<strong>{name}</strong>" not in scan] == []
    assert [page for page in site.rglob("*.html") if re.search(r"<!-- [a-zA-Z ]+ -->", text(page))] == []


def test_the_menu_has_every_page(site: Path) -> None:
    """mkdocs reports a page that the menu lacks; this test, one of the menu that does not exist."""
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site) for path in site.rglob("*.html")}
    assert pages <= built
