"""The overview in full and the tensors → text for a terminal. All text from files is passed through `escape`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from inspector import units
from inspector.bridge.ledger import bridge_rows
from inspector.bridge.structure import structure_id
from inspector.model import Checkpoint, Claim, Folder, Labelled, Prediction, Reconciliation, RoleSum
from inspector.report.columns import GO, table, wrapped
from inspector.report.screen import adapter_lines, facts_line, family, findings, source
from inspector.units import count, decimal, escape, fixed, integer, plural, signed, size, times

MOST_VARIANTS = 60
MOST_SIZES = 16
#: Conventions shown in the text; the JSON has all.
TOLD = ("with_prediction_heads", "with_router_bias")
_NAME = 100  # characters of a name that are shown


def overview(
    result: Reconciliation, width: int | None = None, *, notes: bool = True, folder: Folder | None = None
) -> str:
    """`inspect TARGET --full`, in at most `width` columns; without `notes`, findings that need no action are omitted.

    Args:
        folder: what else is in the folder, if it is one.
    """
    account = ""
    if folder is not None:
        from inspector.report import folder as accounts  # only for folders

        account = accounts.lines(folder, width)
    blocks = (
        _identity(result, width, folder),
        _files(result.checkpoint, width),
        "" if account and not any(each.type for each in result.checkpoint.variants) else _variants(result, width),
        account or wrapped(_beside(result.checkpoint), width),
        _components(result, width),
        _parameters(result, width),
        _towers(result),
        _roles(result, width),
        bridge(result, width),
        findings([each for each in result.findings if notes or each.severity != "info"], width),
    )
    return "\n\n".join(filter(None, blocks))


def first_lines(result: Reconciliation) -> list[str]:
    """The lines after the title: the verdict and the basic facts."""
    return [line for line in (_verdict(result, None), facts_line(result)) if line]


def _identity(result: Reconciliation, width: int | None, folder: Folder | None) -> str:
    checkpoint, config = result.checkpoint, result.checkpoint.config
    tensors = sum(len(header.tensors) for header in checkpoint.files)
    files = plural(len(checkpoint.files), f"{checkpoint.format} file")
    lines = [escape(checkpoint.title, _NAME), _verdict(result, folder), facts_line(result)]
    lines.append(f"{files}, {plural(tensors, 'tensor')}, {size(checkpoint.size)}")
    if result.is_pipeline:
        parts = ", ".join(f"{escape(part.name, 40)} ({escape(part.kind, 60)})" for part in result.components)
        lines.append(f"{plural(len(result.components), 'model')} together: {parts}")
    elif config is not None:
        family = _read_as(result.prediction) if result.prediction else "no prediction"
        named = " ".join(filter(None, (config.model_type, f"({config.architecture})" if config.architecture else None)))
        origin = "inferred from the tensors" if config.kind == "inferred" else f"from {config.path or config.kind}"
        lines.append(f"{escape(named or 'unnamed architecture', _NAME)}: {family}, dimensions {escape(origin, _NAME)}")
        lines += [f"  {escape(note, 400)}" for note in config.notes]
    lines += adapter_lines(result)
    structure = structure_id(result)
    lines += [f"structure {structure}, whatever the names, files, order, dtypes and format"] if structure else []
    return "\n".join(wrapped(line, width) for line in (*lines, source(checkpoint)) if line)


def _read_as(prediction: Prediction) -> str:
    """The table, or the library, by which a model was predicted."""
    if prediction.config.relative:
        return f"read as {prediction.config.relative}, by analogy"
    asked = prediction.config.family and prediction.config.family.asked
    return f"as {asked} builds it" if asked else f"{prediction.family} family"


def _verdict(result: Reconciliation, folder: Folder | None = None) -> str:
    """One line: size, architecture, storage type, whether everything is present and explained; what the folder has."""
    beyond = ""
    if folder is not None:
        from inspector.report import folder as accounts  # only for folders

        beyond = accounts.clause(folder)
    bits = units.bits(result.bits_per_weight(result.weight_bytes))
    stored = f"{escape(result.dtype or result.checkpoint.format, 60)}{f' at {bits} bits' if result.packing else ''}"
    what = [f"{count(result.logical)} parameters", family(result), stored, decimal(result.on_disk)]
    return f"{', '.join(filter(None, what))}: {escape(result.verdict.sentence, 200)}{beyond}"


def _files(checkpoint: Checkpoint, width: int | None) -> str:
    if len(checkpoint.files) == 1:
        return ""
    shown = checkpoint.files if len(checkpoint.files) <= 12 else (*checkpoint.files[:5], *checkpoint.files[-5:])
    rows = [(escape(f.path, _NAME), integer(len(f.tensors)), integer(f.size)) for f in shown]
    if len(shown) < len(checkpoint.files):
        rows.insert(5, (f"… {len(checkpoint.files) - len(shown)} more", "", ""))
    return table(rows, ("file", "tensors", "bytes"), "lrr", width=width, give=((0, 20),))


def _variants(result: Reconciliation, width: int | None) -> str:
    """Other checkpoints in the place, and how to select them."""
    found = result.checkpoint.variants
    if all(map(result.has, found)):
        return ""
    rows = [
        (
            escape(each.paths[0], _NAME),
            each.type or "",
            integer(len(each.paths)),
            decimal(each.size),
            "" if (dense := result.bits_of(each)) is None else units.bits(dense),
            "inspected here" if result.has(each) else "",
        )
        for each in found[:MOST_VARIANTS]
    ]
    left = len(found) - len(rows)
    more = f"\n… {plural(left, 'more checkpoint')}" if left else ""
    headers = ("checkpoint", "type", "files", "size", "bits", "")
    listed = table(rows, headers, "llrrrl", width=width, give=((2, GO), (0, 20)))
    return f"{plural(len(found), 'checkpoint')} here; --include GLOB or the path selects another\n{listed}{more}"


def _components(result: Reconciliation, width: int | None) -> str:
    """The parts of a composite repository, one line each, and their total."""
    parts = result.components
    if not parts:
        return ""
    rows = [
        (
            escape(part.name, _NAME),
            escape(part.kind, 60),
            integer(part.files),
            integer(part.size),
            integer(part.copies) if part.copies else "",
            integer(part.parameters),
            "none" if part.predicted is None else integer(part.predicted),
            ", ".join(escape(dtype, 12) for dtype in part.dtypes),
        )
        for part in parts[:MOST_VARIANTS]
    ]
    sums = [sum(numbers) for numbers in zip(*((p.files, p.size, p.copies, p.parameters) for p in parts), strict=True)]
    files, nbytes, copies, parameters = map(integer, sums)
    rows.append(("all", "", files, nbytes, copies if sums[2] else "", parameters, "", ""))
    headers = ("component", "class", "files", "bytes", "copies", "parameters", "predicted", "dtype")
    return table(rows, headers, "llrrrrrl", width=width, give=((1, 0), (7, 0), (4, GO), (2, GO), (6, GO), (0, 12)))


def _towers(result: Reconciliation) -> str:
    """The towers of a model with several: text, vision, projector, …"""
    towers: dict[str, list[int]] = {}
    for role in result.roles:
        total = towers.setdefault(role.tower, [0, 0, 0])
        for at, number in enumerate((role.tensors, role.parameters, role.bytes)):
            total[at] += number
    if len(towers) < 2:
        return ""
    rows = [(escape(tower, 40), *map(integer, total)) for tower, total in towers.items()]
    return table(rows, ("tower", "tensors", "parameters", "bytes"), "lrrr")


def _beside(checkpoint: Checkpoint) -> str:
    if not checkpoint.other:
        return ""
    kinds = (f"{other.kind} {size(other.size)} in {plural(other.files, 'file')}" for other in checkpoint.other)
    return f"other files: {'; '.join(kinds)}"


def _parameters(result: Reconciliation, width: int | None) -> str:
    give = ((2, 10), (1, 16))
    counted, claims = table(parameter_rows(result), (), "lrl", width=width, give=give), claim_rows(result)
    return "\n".join((counted, table(claims, (), "lll", width=width, give=give)) if claims else (counted,))


def parameter_rows(result: Reconciliation) -> list[tuple[str, str, str]]:
    """What was counted, the number, and its readable form or comparison."""
    rows = [("parameters", integer(result.logical), count(result.logical))]
    if result.prediction:
        predicted = result.prediction.parameters
        off = result.logical - predicted
        verdict = f"{integer(abs(off))} {'more' if off > 0 else 'fewer'} counted" if off else "as counted"
        rows.append(("predicted", integer(predicted), verdict))
    rows += [("counted otherwise", integer(each.parameters), each.what) for each in result.counts if each.name in TOLD]
    if result.active is not None and result.active != result.logical:
        rows.append(("active per token", integer(result.active), count(result.active)))
    if result.stored_elements != result.logical:
        note = "as stored, packed words and side data included" if result.packed else ""
        rows.append(("elements", integer(result.stored_elements), note))
    if result.packing:
        each = units.bits(result.bits_per_weight(result.weight_bytes))
        rows.append(("bits per weight", each, f"stored as {escape(result.packing.scheme)}"))
    if packed := result.packed:
        each = f"{units.bits(packed.bits)} bits each, with {decimal(packed.side_bytes)} of side data"
        rows.append(("  packed weights", integer(packed.parameters), each))
    for line in result.dtypes:
        rows.append(
            (
                f"  {escape(line.dtype, 40)}",
                integer(line.elements),
                f"elements in {plural(line.tensors, 'tensor')}, {size(line.bytes)}",
            )
        )
    return rows


def claim_rows(result: Reconciliation) -> list[tuple[str, str, str]]:
    """What the files state about themselves, and whether they are right."""
    return [(f"stated {each.name}", _number(each.claimed), _right_or_wrong(each)) for each in result.claims]


def _right_or_wrong(claim: Claim) -> str:
    """Whether a claim is right, else the counted value."""
    if claim.claimed == str(claim.counted):
        return "as counted"
    return "; ".join(filter(None, (f"{_number(str(claim.counted))} counted", claim.note)))


def _number(text: str) -> str:
    """A number with thousands separators; any other text unchanged."""
    return integer(int(text)) if text.isascii() and text.isdigit() and len(text) < 30 else escape(text)


def _roles(result: Reconciliation, width: int | None) -> str:
    headers, rows = role_rows(result)
    give = ((8, 0), (1, GO), (6, 0), (7, GO), (0, 16), (2, GO))
    listed = table(rows, headers, "llrrrrlrl", width=width, give=give)
    return "\n".join(filter(None, (listed, wrapped(_sizes(result), width))))


def role_rows(result: Reconciliation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headers, and one row per role; a column without a header is empty."""
    several = len({role.tower for role in result.roles}) > 1
    rows, seen = list[tuple[str, ...]](), set[str]()
    for role in result.roles:
        label = " ".join(filter(None, (role.tower if several else "", role.branch, role.role)))
        again = f" ({role.group})" if label in seen else ""  # shown if there is no room for the column of groups
        seen.add(label)
        rows.append((escape(label, 60) + again, *_role_cells(role, packed=bool(result.packing))))
    explained = "shape explained" if any(row[8] for row in rows) else ""
    headers: tuple[str, ...] = (
        *("role", "group", "tensors", "parameters", "bytes"),
        "bits" if result.packing else "",
        "dtype",
        "predicted" if any(row[7] for row in rows) else "",
        "shape predicted" if any(role.formula for role in result.roles) else explained,
    )
    return headers, rows


def _role_cells(role: RoleSum, *, packed: bool) -> tuple[str, ...]:
    """A row without its label."""
    predicted = role.predicted_parameters
    return (
        role.group,
        integer(role.tensors),
        integer(role.parameters),
        integer(role.bytes),
        units.bits(role.bits_per_weight) if packed and role.bits_per_weight else "",
        ", ".join(escape(each, 12) for each in role.dtypes),
        "" if predicted in (None, role.parameters) else f"≠ {integer(predicted or 0)}",
        _brief(role.formula or (role.explained and f"{escape(role.explained, 200)}?")),
    )


def _sizes(result: Reconciliation) -> str:
    """The sizes explained by configuration fields, each once: `11008 = intermediate_size`."""
    sizes = {
        f"{each.size} = {escape(each.meaning, 80)}": None
        for role in result.roles
        for each in role.dimensions or ()
        if each.meaning is not None
    }
    shown = list(sizes)[:MOST_SIZES]
    more = f", and {len(sizes) - len(shown)} more" if len(sizes) > len(shown) else ""
    return f"sizes explained, not predicted: {', '.join(shown)}{more}" if sizes else ""


def _brief(formula: str | None) -> str:
    return "" if formula is None else formula if len(formula) <= 90 else formula[:89] + "…"


def bridge(result: Reconciliation, width: int | None) -> str:
    """The steps from the stated size to the bytes on disk; for packed weights also in bits per weight."""
    rows = list(bridge_rows(result))
    if not result.packing or not result.logical:
        return table(
            [(signed(nbytes) if sign else integer(nbytes), *rest) for nbytes, sign, *rest in rows],
            (),
            "rll",
            width=width,
            give=((2, 12),),
        )
    return table(
        [
            (
                signed(nbytes) if sign else integer(nbytes),
                fixed(result.bits_per_weight(nbytes), 3, sign=sign),
                *rest,
            )
            for nbytes, sign, *rest in rows
        ],
        ("bytes", "bits per weight", "", ""),
        "rrll",
        width=width,
        give=((3, 30), (1, GO), (3, 12), (2, 22)),
    )


def tensors(labelled: Iterable[Labelled], width: int | None = None) -> Iterator[str]:
    """`inspect tensors`: one line each, in at most `width` columns."""
    listed = list(labelled)
    several = len({each.file for each in listed}) > 1
    known = cache(escape)  # a hundred thousand tensors have few dtypes, shapes, purposes and files
    of_shape, of_key = cache(times), cache(_purpose)
    rows = [
        (
            known(dtype, 40),
            integer(nbytes),
            integer(offset),
            of_key(each.key.branch, each.key.role, each.group),
            of_shape(shape),
            escape(name),
            known(each.file) if several else "",
        )
        for each in listed
        for name, dtype, shape, offset, nbytes in (each.tensor,)
    ]
    headers = ("dtype", "bytes", "offset", "role", "shape", "name", "file" if several else "")
    give = ((2, GO), (6, 24), (5, 30), (6, 0), (3, 12), (5, 16))
    yield table(rows, headers, "lrrllll", width=width, give=give)


def _purpose(branch: str, role: str, group: str) -> str:
    """A tensor's role; for a packed weight's side data, marked as such."""
    named = " ".join(filter(None, (branch, role))) or "–"
    return f"side data, {named}" if group == "quantization" else named
