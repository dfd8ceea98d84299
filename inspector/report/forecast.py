"""Predictions → text for a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inspector.architectures import knowledge_of
from inspector.architectures.counts import (
    Explanation,
    TrainingState,
    explain,
    of_prediction,
    rule_of_thumb,
    training_state,
)
from inspector.architectures.prediction import BYTES_AT, by_role, bytes_at
from inspector.model import Expected, Prediction, RoleForecast
from inspector.quantization.declaration import declared_bytes
from inspector.report.columns import table, wrapped
from inspector.report.documents import COUNT, SCHEMA, architecture, fields, knowledge
from inspector.report.pages.parts import Column, Page, Report, Section, Table, of_rows
from inspector.report.tables import PREDICTED, Rows
from inspector.report.text import TOLD
from inspector.units import count, decimal, escape, integer, percent, plural, signed, size

_NAME = 100  # characters of a name that are shown


#: Lines of a screen: a terminal's 24, without the prompt.
HEIGHT = 23


def prediction(
    result: Prediction,
    width: int | None = None,
    *,
    training: bool = False,
    stated: int | None = None,
    absent: str = "",
    full: bool = False,
) -> str:
    """`inspect predict CONFIG`, in at most `width` columns: what was asked for, then roles, the largest on one screen.

    Args:
        training: with what training keeps.
        stated: a number of parameters to be explained.
        absent: lines above it that say that there are no weights.
        full: every role, bytes to the unit, the rule of thumb.
    """
    above = "\n".join(filter(None, (absent, _predicted_identity(result, full=full))))
    head = "\n".join(wrapped(line, width) for line in above.split("\n"))
    asked = [_explanation(result, stated)] if stated is not None else []
    asked += [_training(result, full=full)] if training else []
    if full:
        sizes = table([*_sizes(result)], ("dtype", "bytes", ""), "lrl")
        return "\n\n".join(filter(None, (head, _predicted_roles(result, width), sizes, _rule_of_thumb(result), *asked)))
    sizes = wrapped(_sizes_in_short(result), width)
    taken = sum(block.count("\n") + 2 for block in (head, sizes, *asked))
    return "\n\n".join((head, _predicted_roles(result, width, max(3, HEIGHT - taken - 2)), sizes, *asked))


def learned(result: Prediction, path: str, free: Sequence[str], width: int | None = None) -> str:
    """`inspect learn`: what was predicted, where the table is, and for which configurations it holds."""
    others = f", and for others that differ in {escape(', '.join(free), 2000)}" if free else " alone"
    lines = (f"kept in {escape(path)}, for types without a table", f"it holds for this configuration{others}")
    return "\n".join(wrapped(line, width) for line in (*_predicted_identity(result).split("\n"), *lines))


def tensors(result: Prediction, width: int | None = None) -> Iterator[str]:
    """`inspect predict --tensors`: one line each."""
    rows = [
        ("×".join(map(str, row.shape)) or "scalar", " ".join(filter(None, (row.branch, row.role))), row.name_of(key))
        for row in result.expected
        for key in row.keys()
    ]
    yield table(rows, (), "lll", width=width, give=((1, 12), (2, 24), (1, 0), (0, 12)))


def _sizes(result: Prediction) -> Iterator[tuple[str, str, str]]:
    """The model's bytes in each type, and as its configuration declares that it is packed."""
    for dtype, bits in BYTES_AT.items():
        yield dtype, integer(bytes_at(result, bits)), size(bytes_at(result, bits))
    if declared := declared_bytes(result):
        yield declared.packing, integer(declared.bytes), f"{size(declared.bytes)}, as the configuration declares"


def _sizes_in_short(result: Prediction) -> str:
    """`in F16 or BF16 13.48 GB, in F32 26.95 GB, …`: the types of one width together."""
    widths = dict.fromkeys(BYTES_AT.values())
    types = {bits: " or ".join(name for name, own in BYTES_AT.items() if own == bits) for bits in widths}
    parts = [f"{decimal(bytes_at(result, bits))} in {types[bits]}" for bits in widths]
    if declared := declared_bytes(result):
        parts.insert(0, f"{decimal(declared.bytes)} in {declared.packing} as the configuration declares")
    return ", ".join(parts)


def _predicted_identity(result: Prediction, *, full: bool = False) -> str:
    config = result.config
    named = " ".join(filter(None, (config.model_type, f"({config.architecture})" if config.architecture else None)))
    table_of = f"the {result.family} family" if result.family != config.model_type else ""
    own = result.head in ("", "Model") or (config.architecture or config.model_type or "").endswith(result.head)
    as_class = "" if own else f"taken as {result.head}"
    lines = [": ".join(filter(None, (escape(named, _NAME), ", ".join(filter(None, (table_of, as_class))))))]
    lines += [f"  {escape(note, 400)}" for note in config.notes]
    lines.append(
        f"{integer(result.parameters)} parameters ({count(result.parameters)}) in {plural(result.tensors, 'tensor')}"
    )
    if result.active != result.parameters:
        lines.append(f"{integer(result.active)} active per token ({count(result.active)})")
    lines += [f"{integer(each.parameters)} {each.what}" for each in of_prediction(result) if each.name in TOLD]
    lines += [f"{row.role} is the token embedding: not stored twice" for row in result.tied if row.part == "weight"]
    beside = (("", result.optional), (" of multi-token prediction layers", result.ahead))
    lines += [f"files may also hold {_beside(rows, which, full=full)}" for which, rows in beside if rows]
    return "\n".join(lines)


def _beside(rows: Sequence[Expected], which: str, *, full: bool) -> str:
    """`45 further tensors, 31,461,120 parameters not counted here: k_proj, v_proj, k_norm`."""
    tensors, parameters = (sum(getattr(row, each) for row in rows) for each in ("tensors", "parameters"))
    names = list(dict.fromkeys(row.role for row in rows))
    roles = ", ".join(names if full else [*names[:3], *["…"][: len(names) - 3]])
    return f"{plural(tensors, 'tensor')}{which} in addition, {integer(parameters)} parameters not counted here: {roles}"


def _predicted_roles(result: Prediction, width: int | None, most: int | None = None) -> str:
    """A row for each role; for at most `most` of them, the largest, and a line about the others."""
    kept = roles = list(by_role(result))
    if most is not None and len(roles) > most:
        kept = sorted(roles, key=lambda line: -line.parameters)[: most - 1]
    several = len({row.tower for row in result.expected}) > 1
    rows = [
        (
            " ".join(filter(None, (line.tower if several else "", line.branch, line.role))),
            integer(line.tensors),
            integer(line.parameters),
            line.formula,
            line.numbers,
        )
        for line in roles
        if line in kept
    ]
    rows.append(("total", integer(result.tensors), integer(result.parameters), "", ""))
    headers = ("role", "tensors", "parameters", "shape of each", "in numbers")
    shown = table(rows, headers, "lrrll", width=width, give=((4, 12), (3, 24), (4, 0), (3, 0), (0, 16)))
    return shown + (f"\n… {plural(len(roles) - len(kept), 'smaller role')}: --full" if len(kept) < len(roles) else "")


def _rule_of_thumb(result: Prediction) -> str:
    rule = rule_of_thumb(result)
    if rule is None:
        return ""
    numbers = f"12·{rule.layers}·{rule.hidden}² + {rule.vocabulary}·{rule.hidden} = {integer(rule.estimate)}"
    return (
        f"rule of thumb 12·L·h² + V·h = {numbers}: "
        f"{signed(rule.estimate - rule.exact)}, {percent(rule.estimate - rule.exact, rule.exact)} off the exact count"
    )


def _explanation(result: Prediction, stated: int) -> str:
    found = explain(result, stated)
    rows = [(integer(found.exact), "exact")]
    rows += [(signed(-parameters), f"without {part}") for part, parameters in found.omitted]
    rows += [(signed(parameters), f"with {part}") for part, parameters in found.added]
    if found.residual:
        rows.append((signed(found.residual), "unexplained: a mistake, or rounding"))
    rows.append((integer(found.stated), "stated"))
    return table(rows, (), "rl")


def _training(result: Prediction, *, full: bool) -> str:
    rows = [
        (dtype, *map(integer if full else decimal, (each.weights, each.gradients, each.optimizer, each.total)))
        for dtype, each in _states(result)
    ]
    return table(rows, ("training with Adam", "weights", "gradients", "optimizer state", "total"), "lrrrr")


def _states(result: Prediction) -> Iterator[tuple[str, TrainingState]]:
    """What training with Adam keeps, with weights of each width."""
    for dtype, bits in (("F32", 32), ("BF16", 16)):
        yield dtype, training_state(result.parameters, bits)


def page(result: Prediction, *, training: bool = False, stated: int | None = None, absent: str = "") -> Page:
    """`inspect predict CONFIG --html FILE`: the same as on a terminal, with every role and tensor."""
    title, verdict, *more = (each.strip() for each in _predicted_identity(result, full=True).split("\n"))
    if absent:
        own, what = absent.removesuffix(":").split("\n")
        title, verdict, more = own, what, [title, verdict, *more]
    roles = [
        (each.role, each.tower, each.tensors, each.parameters, each.formula, each.numbers)
        for each in sorted(by_role(result), key=lambda each: -each.parameters)
    ]
    heads = [
        Column("role"),
        Column("tower", filtered=True),
        Column("tensors", "number"),
        Column("parameters", "number"),
    ]
    heads += [Column("shape of each"), Column("in numbers")]
    sizes = [(dtype, bytes_at(result, bits)) for dtype, bits in BYTES_AT.items()]
    asked = [_explanation(result, stated)] if stated is not None else []
    asked += [_training(result, full=False)] if training else []
    tensors = Rows(PREDICTED, list(tensor_documents(result.expected)))
    return Page(
        title,
        verdict,
        [
            Section("Roles, the largest first", [Table(plural(len(roles), "role"), heads, roles)]),
            Section("Bytes", [Table("All parameters in one type", (Column("type"), Column("bytes", "bytes")), sizes)]),
            *([Section("What was asked for", [Report("\n\n".join(asked))])] if asked else []),
            Section("Tensors", [of_rows(plural(result.tensors, "tensor"), tensors, ("role", "group", "tower"))]),
        ],
        more,
    )


# --- JSON -------------------------------------------------------------------------------------------


def document(
    result: Prediction, *, tensors: bool = False, training: bool = False, stated: int | None = None
) -> dict[str, Any]:
    """`inspect predict CONFIG --json`."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "architecture": architecture(result.config, result.family),
        "knowledge": knowledge(knowledge_of(result.config.values, result.config.relative)),
        "parameters": {
            "predicted": result.parameters,
            "active": result.active,
            "prediction_heads": sum(row.parameters for row in result.ahead),
            "conventions": [fields(each, COUNT) for each in of_prediction(result)],
        },
        "tensor_count": result.tensors,
        "bytes": {dtype: bytes_at(result, bits) for dtype, bits in BYTES_AT.items()},
        "roles": [_forecast(line) for line in by_role(result)],
        "notes": list(result.config.notes),
    }
    if declared := declared_bytes(result):
        document["declared"] = declared._asdict()
    if result.ahead:
        document["prediction_heads"] = _heads(result, tensors=tensors)
    if rule := rule_of_thumb(result):
        document["rule_of_thumb"] = {**fields(rule, "estimate exact"), "error": rule.estimate - rule.exact}
    if stated is not None:
        document["stated"] = _stated(explain(result, stated))
    if training:
        document["training"] = {
            dtype: fields(state, "weights gradients optimizer bytes=total") for dtype, state in _states(result)
        }
    if tensors:
        document["tensors"] = list(tensor_documents(result.expected))
    return document


def _stated(found: Explanation) -> dict[str, Any]:
    omitted, added = (
        [{"part": part, "parameters": parameters} for part, parameters in parts]
        for parts in (found.omitted, found.added)
    )
    return {**fields(found, "stated exact"), "omitted": omitted, "added": added, "unexplained": found.residual}


def _forecast(line: RoleForecast) -> dict[str, Any]:
    place = {**fields(line, "role group tower"), "branch": line.branch or None}
    return {**place, **fields(line, "tensors parameters formula numbers")}


def _heads(result: Prediction, *, tensors: bool) -> dict[str, Any]:
    """Layers that predict further tokens: not counted anywhere else."""
    heads = result._replace(expected=result.ahead)
    document = {
        "parameters": heads.parameters,
        "tensor_count": heads.tensors,
        "roles": [_forecast(line) for line in by_role(heads)],
    }
    return document | ({"tensors": list(tensor_documents(heads.expected))} if tensors else {})


def tensor_documents(rows: Iterable[Expected]) -> Iterator[dict[str, Any]]:
    """One row per predicted tensor."""
    for row in rows:
        purpose = {**fields(row, "role group tower"), "branch": row.branch or None}
        for key in row.keys():
            yield {
                "name": row.name_of(key),
                "shape": list(row.shape),
                **purpose,
                "layer": key.layer,
                "expert": key.expert,
                "part": row.part,
            }
