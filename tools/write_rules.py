"""docs/rules.md, from the rules' docstrings: run it after a rule was changed."""

from __future__ import annotations

from pathlib import Path

from inspector.report.audit import handbook

if __name__ == "__main__":
    path = Path(__file__).parent.parent / "docs" / "rules.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(handbook(), encoding="utf-8")
    print(path)
