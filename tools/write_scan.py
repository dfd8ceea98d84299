"""The tables and queries of docs/scan.md, from the code: run it after one of them was changed."""

from __future__ import annotations

from pathlib import Path

from inspector.scanning.queries import QUERIES
from inspector.scanning.schema import TABLES, arrow_schema

PAGE = Path(__file__).parent.parent / "docs" / "scan.md"


def written(text: str) -> str:
    """The page with its tables and queries as they are."""
    for name, lines in (("tables", tables()), ("queries", queries())):
        before, start, rest = text.partition(f"<!-- {name}: made by tools/write_scan.py -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{start}{lines}\n{end}{after}"
    return text


def tables() -> str:
    """Each table's columns."""
    parts = []
    for name in ("checkpoints", "files", "tensors", "findings"):
        types = {field.name: field.type for field in arrow_schema(name)}
        rows = [f"| `{each.name}` | {types[each.name]} | {each.meaning} |" for each in TABLES[name]]
        parts.append("\n".join((f"### `{name}`", "", "| column | type | what it is |", "|---|---|---|", *rows, "")))
    return "\n".join(parts)


def queries() -> str:
    """Each query with its SQL."""
    parts = [f"**{name}**: {each.about}\n\n```sql\n{each.sql}\n```\n" for name, each in QUERIES.items()]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
