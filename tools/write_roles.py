"""docs/roles.md, from the vocabulary: run it after a role was changed."""

from __future__ import annotations

from pathlib import Path

from inspector.report.roles import page

if __name__ == "__main__":
    path = Path(__file__).parent.parent / "docs" / "roles.md"
    path.write_text(page(), encoding="utf-8")
    print(path)
