"""The candidates that a model may come from, as text and as a document: the answer first, then the ranking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.comparing.parents import Candidate, Parents
from inspector.report.columns import table, wrapped
from inspector.report.diff import relation, relation_lines
from inspector.report.documents import SCHEMA
from inspector.report.tables import Rows, columns
from inspector.units import escape, plural

#: Candidates in the text; the JSON has all.
_SHOWN = 15
COLUMNS = columns("target score:double relation sentence error")


def lines(result: Parents, width: int | None = None) -> Iterator[str]:
    """`inspect parents TARGET CANDIDATE…`."""
    best = result.candidates[0] if result.candidates else None
    if best is None or not best.score or result.relation is None:
        yield wrapped(
            f"{escape(result.target, 60)} comes from none of {plural(len(result.candidates), 'model')}", width
        )
        yield ""
    else:
        yield from relation_lines(result.relation, width)
        if result.relation.kind != "merged":
            yield table([("a", escape(best.target, 60)), ("b", escape(result.target, 60))], (), "ll", width=width)
            yield ""
    shown = result.candidates[:_SHOWN]
    yield table(
        [(f"{each.score:.4f}", escape(each.target, 60), _word(each)) for each in shown],
        ("score", "candidate", "b is"), "rll", width=width, give=((2, 12), (1, 16)),
    )  # fmt: skip
    if len(result.candidates) > len(shown):
        yield f"{len(result.candidates) - len(shown)} more with --json"


def _word(each: Candidate) -> str:
    return escape(each.error, 100) if each.relation is None else each.relation.kind.replace("_", " ")


def document(result: Parents) -> dict[str, Any]:
    """`inspect parents TARGET CANDIDATE… --json`."""
    return {
        "schema": SCHEMA,
        "target": result.target,
        "relation": relation(result.relation),
        "candidates": [
            {
                "target": each.target,
                "relation": relation(each.relation),
                "score": round(each.score, 6),
                **({"error": each.error} if each.error else {}),
            }
            for each in result.candidates
        ],
    }


def rows(result: Parents) -> Rows:
    """One row per candidate, the best first."""
    return Rows(COLUMNS, [
        {
            "target": each.target, "score": each.score, "error": each.error or None,
            "relation": each.relation and each.relation.kind, "sentence": each.relation and each.relation.sentence,
        }
        for each in result.candidates
    ])  # fmt: skip
