"""`inspect architectures`: the model types with a table, GGUF's architectures, and the vocabulary of roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inspector.architectures import Knowledge, Known, KnownGguf, knowledge_of_gguf, knowledge_of_type
from inspector.architectures.data.roles import MEANINGS, ROLES
from inspector.report.columns import table
from inspector.report.documents import SCHEMA, fields, knowledge
from inspector.report.tables import Rows, columns
from inspector.units import plural

_HEADERS = ("model type", "family", "GGUF", "keyed %", "default %", "changed %", "drawn %")


#: Up to this many model types are shown with the source of what is known about them.
FEW = 12


def lines(known: Sequence[Known], gguf: Sequence[KnownGguf]) -> Iterator[str]:
    """Each model type with its family, GGUF's names for it, and its coverage in percent; where few tables come from."""
    rows = [
        (
            each.model_type,
            each.table,
            ", ".join(each.gguf),
            *map(_percent, (each.keyed, each.default, each.changed, each.drawn)),
        )
        for each in known
    ]
    yield table(rows, _HEADERS, "lllrrrr")
    yield f"{plural(len(rows), 'model type')} in {len({row[1] for row in rows})} families"
    yield ""
    if len(rows) <= FEW:
        yield from (_origin(each.model_type, knowledge_of_type(each.model_type)) for each in known)
        yield from (_origin(f"GGUF's {each.architecture}", knowledge_of_gguf(each.architecture)) for each in gguf)
        yield ""
    architectures = [
        (each.architecture, each.model_type or "–", "from key-values" if each.predicted else "names only")
        for each in gguf
    ]
    yield table(architectures, ("GGUF architecture", "model type", "prediction"), "lll")
    predicted = sum(row[2] == "from key-values" for row in architectures)
    yield f"{plural(len(architectures), 'GGUF architecture')}, {predicted} predicted from key-values"


def _origin(name: str, known: Knowledge) -> str:
    """Where a table comes from, and what it was compared with, as a line."""
    if known.table is None:
        return f"{name}: no table"
    how = {"derived": ", derived", "hand": ", by hand"}.get(known.made or "", "")
    checked = f"checked against {known.checked_against}" if known.checked_against else "not checked"
    return f"{name}: from {known.made_from or 'a source that its table does not state'}{how}; {checked}"


COLUMNS = columns(
    "model_type family gguf:list<string>"
    " keyed_percent:int64 exact_default_percent:int64 exact_changed_percent:int64 exact_drawn_percent:int64"
)


def rows(known: Iterable[Known]) -> Rows:
    """One row per model type."""
    return Rows(COLUMNS, list(map(architecture, known)))


def _percent(number: int | None) -> str:
    return "–" if number is None else str(number)


def document(known: Iterable[Known], gguf: Iterable[KnownGguf]) -> dict[str, Any]:
    """`inspect architectures --json`."""
    return {
        "schema": SCHEMA,
        "model_types": [
            {**architecture(each), "knowledge": knowledge(knowledge_of_type(each.model_type))} for each in known
        ],
        "gguf": [
            {
                **fields(each, "architecture model_type predicted"),
                "knowledge": knowledge(knowledge_of_gguf(each.architecture)),
            }
            for each in gguf
        ],
    }


def architecture(known: Known) -> dict[str, Any]:
    """One line of `inspect architectures --json`."""
    return {
        **fields(known, "model_type family=table"),
        "gguf": list(known.gguf),
        **fields(known, "keyed_percent=keyed"),
        **{f"exact_{what}_percent": getattr(known, what) for what in ("default", "changed", "drawn")},
    }


# --- roles ------------------------------------------------------------------------------------------


def roles_with(part: str = "") -> Iterator[tuple[str, str, str]]:
    """Role, group and meaning of each role whose name or group contains `part`."""
    return ((role, group, MEANINGS[role]) for role, group in ROLES.items() if part in role or part in group)


def role_lines(part: str = "") -> Iterator[str]:
    """`inspect architectures --roles`."""
    yield from table(list(roles_with(part)), ("role", "group", "purpose"), "lll").splitlines()


def role_document(part: str = "") -> dict[str, Any]:
    """`inspect architectures --roles --json`."""
    roles = [{"role": role, "group": group, "meaning": meaning} for role, group, meaning in roles_with(part)]
    return {"schema": SCHEMA, "roles": roles}


def role_rows(part: str = "") -> Rows:
    """One row per role."""
    return Rows(columns("role group meaning"), role_document(part)["roles"])
