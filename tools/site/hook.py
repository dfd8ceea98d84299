"""The parts of the documentation that nobody writes by hand, added while mkdocs builds the site: `make site`.

The pages beside the folder docs/ are used as they are; the references of commands, JSON and the library, and the lists
in other pages (`pages.lists`), are made from the code. None of it is kept in the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Where the modules beside this one are, and what they import.
PATHS = [str(Path(__file__).parent), str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tests")]

#: Page of the site → its file in the repository.
TAKEN = {
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
}
_MARKER = re.compile(r"^<!-- (.+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")


def generated() -> dict[str, str]:
    """Path of each page → its text."""
    sys.path[:0] = PATHS  # mkdocs forgets changes that a hook made there while it was loaded
    import command_reference
    import json_reference
    import python_reference

    pages = {page: taken(name) for page, name in TAKEN.items()}
    return {
        **pages,
        "reference/commands.md": command_reference.page(),
        "reference/json.md": json_reference.page(),
        "reference/python.md": python_reference.page(),
    }


def taken(name: str) -> str:
    """A file of the repository, its links turned into those of the site; targets outside the site are not links."""
    homes = {source: page for page, source in TAKEN.items()}
    folder = Path(name).parent

    def link(match: re.Match[str]) -> str:
        target = (folder / match[1]).as_posix()
        if target in homes:
            return f"]({homes[target]}{match[2] or ''})"
        if target.startswith("docs/"):
            return f"]({target.removeprefix('docs/')}{match[2] or ''})"
        return "]"

    return _LINK.sub(link, (ROOT / name).read_text(encoding="utf-8"))


def on_files(files: Any, *, config: Any) -> Any:
    """Called by mkdocs for the list of files."""
    from mkdocs.structure.files import File

    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page's text: a marker in it becomes the list that it names."""
    if not _MARKER.search(markdown):
        return markdown
    import pages

    lists = pages.lists()
    return _MARKER.sub(lambda match: lists[match[1]], markdown)
