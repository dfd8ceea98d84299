"""The vocabulary of roles, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.architectures.data.roles import MEANINGS, ROLES
from inspector.model import Reconciliation
from inspector.report.columns import table
from inspector.report.documents import SCHEMA
from inspector.report.tables import Column, Rows


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
