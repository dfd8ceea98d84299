"""Results as plain dictionaries: the JSON for scripts. Field names are stable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any

from inspector import units
from inspector.architectures import Known, KnownGguf
from inspector.architectures.counts import in_heads, of_prediction
from inspector.architectures.prediction import BYTES_AT, by_role, bytes_at
from inspector.model import (
    Checkpoint,
    ComponentSum,
    Config,
    Count,
    Expected,
    Finding,
    Header,
    Labelled,
    Prediction,
    Reconciliation,
    RoleForecast,
    RoleSum,
    Variant,
)
from inspector.opening.metadata import Entry
from inspector.units import bits

if TYPE_CHECKING:
    from inspector.architectures import rules_of_thumb as counts

SCHEMA = "checkpoint-inspector/1"


def overview(result: Reconciliation, *, tensors: bool = False) -> dict[str, Any]:
    """`inspect TARGET --json`."""
    checkpoint = result.checkpoint
    document = {
        "schema": SCHEMA,
        "target": checkpoint.target,
        "source": _source(checkpoint),
        "format": checkpoint.format,
        "files": [_file(header) for header in checkpoint.files],
        "repository": _repository(checkpoint),
        "architecture": _architecture(checkpoint.config, result.family),
        "quantization": _packing(result),
        "adapter": _adapter(result),
        "parameters": {
            "logical": result.logical,
            "predicted": result.prediction.parameters if result.prediction else None,
            "active": result.active,
            "stored_elements": result.stored_elements,
            "prediction_heads": in_heads(result.counts, result.logical),
            "conventions": _counts(result.counts),
        },
        "dtypes": [
            {"dtype": d.dtype, "tensors": d.tensors, "elements": d.elements, "bytes": d.bytes} for d in result.dtypes
        ],
        "roles": [_role(each) for each in result.roles],
        "reconciliation": _reconciliation(result),
        "variants": [_variant(each, result) for each in checkpoint.variants],
        "components": [_component(each) for each in result.components],
        "claims": [
            {"name": c.name, "claimed": c.claimed, "counted": c.counted, "note": c.note or None} for c in result.claims
        ],
        "findings": [finding(each) for each in result.findings],
    }
    if tensors:
        document["tensors"] = [tensor(each) for each in result.tensors]
    return document


def _role(role: RoleSum) -> dict[str, Any]:
    sizes = role.dimensions
    return {
        "role": role.role,
        "group": role.group,
        "tower": role.tower,
        "branch": role.branch or None,
        "tensors": role.tensors,
        "parameters": role.parameters,
        "bytes": role.bytes,
        "predicted_parameters": role.predicted_parameters,
        "formula": role.formula,
        "dimensions": None if sizes is None else [{"size": each.size, "meaning": each.meaning} for each in sizes],
        "bits_per_weight": None if role.bits_per_weight is None else bits(role.bits_per_weight),
    }


def _component(part: ComponentSum) -> dict[str, Any]:
    return {
        "name": part.name,
        "class": part.kind,
        "files": part.files,
        "size": part.size,
        "copies": part.copies,
        "parameters": part.parameters,
        "predicted_parameters": part.predicted,
    }


def _counts(counts: Iterable[Count]) -> list[dict[str, Any]]:
    return [{"name": each.name, "parameters": each.parameters, "what": each.what} for each in counts]


def _packing(result: Reconciliation) -> dict[str, Any] | None:
    packing, packed = result.packing, result.packed
    if packing is None:
        return None
    document = {
        "scheme": packing.scheme,
        "bits": packing.bits,
        "group_size": packing.group_size,
        "bits_per_weight": bits(result.bits_per_weight(result.weight_bytes)),
    }
    if packed is None:
        return document
    sums = {"parameters": packed.parameters, "bytes": packed.bytes, "side_bytes": packed.side_bytes}
    return {**document, "packed": sums}


def _adapter(result: Reconciliation) -> dict[str, Any] | None:
    if result.adapter is None:
        return None
    base = result.prediction.base if result.prediction else None
    claimed = result.adapter.config.get("base_model_name_or_path")
    return {
        "method": result.adapter.method,
        "ranks": [{"rank": rank, "modules": modules} for rank, modules in result.adapter.ranks.items()],
        "base": claimed if isinstance(claimed, str) else None,
        "base_parameters": base.parameters if base else None,
    }


def _source(checkpoint: Checkpoint) -> dict[str, Any]:
    origin = checkpoint.origin
    return {
        "kind": origin.kind,
        "location": origin.location,
        "revision": origin.revision,
        "requests": origin.requests,
        "redirects": origin.redirects,
        "bytes_read": origin.bytes_read,
    }


def _variant(each: Variant, result: Reconciliation) -> dict[str, Any]:
    bits = result.bits_of(each)
    return {
        "name": each.name,
        "format": each.format,
        "type": each.type,
        "files": len(each.paths),
        "path": each.paths[0],
        "size": each.size,
        "bits_per_weight": None if bits is None else units.bits(bits),
        "inspected": result.has(each),
    }


def _file(header: Header) -> dict[str, Any]:
    columns = {column: header.bytes_in(column) for column in ("header", "tensors", "padding", "unused")}
    return {"path": header.path, "size": header.size, **columns}


def _repository(checkpoint: Checkpoint) -> dict[str, Any] | None:
    if checkpoint.other is None:
        return None
    others = [{"kind": o.kind, "files": o.files, "size": o.size} for o in checkpoint.other]
    return {"size": checkpoint.repository_size, "other": others}


def _architecture(config: Config | None, family: str | None) -> dict[str, Any]:
    return {
        "family": family,
        "model_type": config.model_type if config else None,
        "class": config.architecture if config else None,
        "config": config.kind if config else None,
    }


def _reconciliation(result: Reconciliation) -> dict[str, Any]:
    nominal = result.nominal
    return {
        "nominal": nominal
        and {"label": nominal.label, "parameters": nominal.parameters, "bits": nominal.bits, "bytes": nominal.bytes},
        "predicted": result.predicted,
        "on_disk": result.on_disk,
        "dtype": result.dtype,
        "steps": [{"cause": s.cause, "bytes": s.bytes, "tensors": s.tensors, "detail": s.detail} for s in result.steps],
        "unexplained": {"bytes": result.unexplained_bytes, "tensors": list(result.unexplained)},
    }


def metadata(checkpoint: Checkpoint, entries: Iterable[Entry], *, whole: bool) -> dict[str, Any]:
    """`inspect metadata TARGET [KEY] --json`. `complete` is false if only the beginning of a value is given."""
    return {
        "schema": SCHEMA,
        "target": checkpoint.target,
        "format": checkpoint.format,
        "metadata": [_entry(each, whole=whole) for each in entries],
    }


#: Bytes of a string that are given if no key was requested.
LONGEST_TEXT = 64 * 1024


def _entry(each: Entry, *, whole: bool) -> dict[str, Any]:
    value, complete = (each.value(), True) if whole else each.preview(LONGEST_TEXT)
    return {
        "files": list(each.files),
        "key": each.key,
        "type": each.type,
        "items": each.items,
        "complete": complete,
        "value": _plain(value),
    }


def _plain(value: Any) -> Any:
    """A value that JSON can express: infinities and NaN as text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, list) else value


def finding(each: Finding) -> dict[str, Any]:
    """A finding, its text unescaped: escaping is for terminals."""
    return {
        "rule": each.rule,
        "severity": each.severity,
        "path": each.path,
        "tensor": each.tensor,
        "message": each.message,
    }


def tensor(each: Labelled) -> dict[str, Any]:
    """A tensor with its purpose."""
    key = each.key
    return {
        "name": each.tensor.name,
        "file": each.file,
        "dtype": each.tensor.dtype,
        "shape": list(each.tensor.shape),
        "offset": each.tensor.offset,
        "bytes": each.tensor.nbytes,
        "parameters": each.parameters,
        "role": key.role or None,
        "group": each.group,
        "tower": key.tower,
        "branch": key.branch or None,
        "layer": key.layer,
        "expert": key.expert if key.expert is not None and key.expert >= 0 else None,
        "part": key.part,
    }


def prediction(
    result: Prediction, *, tensors: bool = False, training: bool = False, stated: int | None = None
) -> dict[str, Any]:
    """`inspect predict CONFIG --json`."""
    from inspector.architectures import rules_of_thumb as counts  # an audit's documents do not need them

    document: dict[str, Any] = {
        "schema": SCHEMA,
        "architecture": _architecture(result.config, result.family),
        "parameters": {
            "predicted": result.parameters,
            "active": result.active,
            "prediction_heads": sum(row.parameters for row in result.ahead),
            "conventions": _counts(of_prediction(result)),
        },
        "tensor_count": result.tensors,
        "bytes": {dtype: bytes_at(result, bits) for dtype, bits in BYTES_AT.items()},
        "roles": [_forecast(line) for line in by_role(result)],
        "notes": list(result.config.notes),
    }
    if result.ahead:
        document["prediction_heads"] = _heads(result, tensors=tensors)
    if rule := counts.rule_of_thumb(result):
        document["rule_of_thumb"] = {
            "estimate": rule.estimate,
            "exact": rule.exact,
            "error": rule.estimate - rule.exact,
        }
    if stated is not None:
        document["stated"] = _explanation(counts.explain(result, stated))
    if training:
        document["training"] = {dtype: _training(result, bits) for dtype, bits in (("F32", 32), ("BF16", 16))}
    if tensors:
        document["tensors"] = list(predicted_tensors(result.expected))
    return document


def _explanation(told: counts.Explanation) -> dict[str, Any]:
    return {
        "stated": told.stated,
        "exact": told.exact,
        "omitted": [{"part": part, "parameters": parameters} for part, parameters in told.omitted],
        "unexplained": told.residual,
    }


def _training(result: Prediction, bits: int) -> dict[str, int]:
    from inspector.architectures.rules_of_thumb import training_state

    state = training_state(result.parameters, bits)
    return {"weights": state.weights, "gradients": state.gradients, "optimizer": state.optimizer, "bytes": state.total}


def _forecast(line: RoleForecast) -> dict[str, Any]:
    return {
        "role": line.role,
        "group": line.group,
        "tower": line.tower,
        "branch": line.branch or None,
        "tensors": line.tensors,
        "parameters": line.parameters,
        "formula": line.formula,
        "numbers": line.numbers,
    }


def _heads(result: Prediction, *, tensors: bool) -> dict[str, Any]:
    """Layers that predict further tokens: not counted anywhere else."""
    heads = result._replace(expected=result.ahead)
    document = {
        "parameters": heads.parameters,
        "tensor_count": heads.tensors,
        "roles": [_forecast(line) for line in by_role(heads)],
    }
    return document | ({"tensors": list(predicted_tensors(heads.expected))} if tensors else {})


def predicted_tensors(rows: Iterable[Expected]) -> Iterator[dict[str, Any]]:
    """One row per predicted tensor."""
    for row in rows:
        for key in row.keys():
            yield {
                "name": row.name_of(key),
                "shape": list(row.shape),
                "role": row.role,
                "group": row.group,
                "tower": row.tower,
                "branch": row.branch or None,
                "layer": key.layer,
                "expert": key.expert,
                "part": row.part,
            }


def architectures(known: Iterable[Known], gguf: Iterable[KnownGguf]) -> dict[str, Any]:
    """`inspect architectures --json`."""
    return {
        "schema": SCHEMA,
        "model_types": [architecture(each) for each in known],
        "gguf": [
            {"architecture": each.architecture, "model_type": each.model_type, "predicted": each.predicted}
            for each in gguf
        ],
    }


def architecture(known: Known) -> dict[str, Any]:
    """One line of `inspect architectures --json`."""
    return {
        "model_type": known.model_type,
        "family": known.table,
        "gguf": list(known.gguf),
        "keyed_percent": known.keyed,
        "exact_default_percent": known.default,
        "exact_changed_percent": known.changed,
        "exact_drawn_percent": known.drawn,
    }
