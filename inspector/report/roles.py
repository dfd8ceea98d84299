"""The vocabulary of roles, as text, as JSON and as the page docs/roles.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.architectures.data.roles import BY_GROUP, MEANINGS, ROLES
from inspector.model import Reconciliation
from inspector.report.columns import table
from inspector.report.documents import SCHEMA
from inspector.report.tables import Column, Rows

_PAGE = """# Roles

Generated from `inspector/architectures/data/roles.py` by `tools/write_roles.py`: edit them there.

A role says what a tensor does, and belongs to one group. The vocabulary is closed: the tables of all model
types, including GGUF's, and names that match no table use only these {number} words. They are Llama's where
Llama has one. A tensor's position is never part of its role:

| field | meaning | examples |
|---|---|---|
| `tower` | the submodel | `text`, `encoder`, `decoder`, `vision`, `audio`, `projector` |
| `layer`, `expert` | the index among identical ones | 31, 7 |
| `branch` | the variant within a layer | `cross` for cross-attention, `indexer`, `temporal`, `1` and `2` |

So the key projection of a speech encoder is `k_proj` in tower `audio`, and that of cross-attention is `k_proj` in
branch `cross`. A stored constant belongs to the group `buffer` whatever its role; the side data of a quantized
weight (scales, zero points) has the weight's role and the group `quantization`.

`inspect architectures --roles` prints the list, `inspector.ROLES` maps each role to its group.
"""


def chosen(part: str = "") -> Iterator[tuple[str, str, str]]:
    """Role, group and meaning of each role whose name or group contains `part`."""
    return ((role, group, MEANINGS[role]) for role, group in ROLES.items() if part in role or part in group)


def lines(part: str = "") -> Iterator[str]:
    """`inspect architectures --roles`."""
    yield from table(list(chosen(part)), ("role", "group", "purpose"), "lll").splitlines()


def document(part: str = "") -> dict[str, Any]:
    """`inspect architectures --roles --json`."""
    roles = [{"role": role, "group": group, "meaning": meaning} for role, group, meaning in chosen(part)]
    return {"schema": SCHEMA, "roles": roles}


def rows(part: str = "") -> Rows:
    """One row per role."""
    return Rows(tuple(Column(name, "string") for name in ("role", "group", "meaning")), document(part)["roles"])


#: Columns of a checkpoint's totals by role.
SUMS = (
    *(Column(name, "string") for name in ("role", "group", "tower", "branch")),
    *(Column(name, "uint64") for name in ("tensors", "parameters", "bytes", "predicted_parameters")),
    Column("bits_per_weight", "double"),
    Column("dtypes", "list<string>"),
    Column("formula", "string"),
)


def of_result(result: Reconciliation) -> Rows:
    """One row per role of a checkpoint."""
    told = ({name: getattr(each, name) for name, _ in SUMS} for each in result.roles)
    return Rows(SUMS, [{**each, "branch": each["branch"] or None} for each in told])


def page() -> str:
    """docs/roles.md."""
    text = [_PAGE.format(number=len(ROLES))]
    for group, roles in BY_GROUP.items():
        rows = "\n".join(f"| `{role}` | {meaning} |" for role, meaning in roles.items())
        text.append(f"\n## {group}\n\n| role | purpose |\n|---|---|\n{rows}\n")
    return "".join(text)
