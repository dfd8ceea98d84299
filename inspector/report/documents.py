"""Results as plain dictionaries: the JSON for scripts. Field names are stable."""

from __future__ import annotations

from typing import Any

from inspector import units
from inspector.architectures import Knowledge, knowledge_of
from inspector.architectures.counts import in_heads
from inspector.bridge.structure import structure_id
from inspector.model import Checkpoint, Config, Finding, Folder, Header, Key, Labelled, Reconciliation, RoleSum, Variant
from inspector.report.tables import Rows, columns
from inspector.units import bits

SCHEMA = "checkpoint-inspector/1"
#: Fields of a count by another convention.
COUNT = "name parameters what"


def fields(noun: object, names: str) -> dict[str, Any]:
    """Some attributes of a noun as JSON, in this order; `key=attribute` for one under another name."""
    pairs = (name.partition("=") for name in names.split())
    return {key: getattr(noun, attribute or key) for key, _, attribute in pairs}


def overview(result: Reconciliation, *, tensors: bool = False, folder: Folder | None = None) -> dict[str, Any]:
    """`inspect TARGET --json`."""
    checkpoint = result.checkpoint
    document = {
        "schema": SCHEMA,
        "target": checkpoint.target,
        "source": fields(checkpoint.origin, "kind location revision requests redirects bytes_read"),
        "format": checkpoint.format,
        "files": [_file(header) for header in checkpoint.files],
        "repository": _repository(checkpoint),
        "architecture": architecture(checkpoint.config, result.family),
        "knowledge": knowledge(_known(checkpoint.config)),
        "quantization": _packing(result),
        "adapter": _adapter(result),
        "parameters": {
            "logical": result.logical,
            "predicted": result.prediction.parameters if result.prediction else None,
            "active": result.active,
            "stored_elements": result.stored_elements,
            "prediction_heads": in_heads(result.counts, result.logical),
            "conventions": [fields(each, COUNT) for each in result.counts],
        },
        "dtypes": [fields(each, "dtype tensors elements bytes") for each in result.dtypes],
        "roles": [_role(each) for each in result.roles],
        "reconciliation": reconciliation(result),
        "variants": [_variant(each, result) for each in checkpoint.variants],
        "components": [
            fields(each, "name class=kind files size copies parameters predicted_parameters=predicted")
            for each in result.components
        ],
        "claims": [{**fields(each, "name claimed counted"), "note": each.note or None} for each in result.claims],
        "findings": [finding(each) for each in result.findings],
        "folder": None if folder is None else _folder(folder),
        "structure_id": structure_id(result),
        "verdict": {**fields(result.verdict, "state sentence"), **_beyond(result, folder)},
    }
    if tensors:
        document["tensors"] = [tensor(each) for each in result.tensors]
    return document


def _beyond(result: Reconciliation, folder: Folder | None) -> dict[str, str]:
    """The verdict's sentence, with what else the folder has."""
    if folder is None:
        return {}
    from inspector.report import folder as accounts  # only for folders

    return {"sentence": result.verdict.sentence + accounts.clause(folder)}


def _folder(folder: Folder) -> dict[str, Any] | None:
    from inspector.report import folder as accounts  # only for folders

    return accounts.document(folder)


def _role(role: RoleSum) -> dict[str, Any]:
    sizes = role.dimensions
    return {
        **fields(role, "role group tower"),
        "branch": role.branch or None,
        **fields(role, "tensors parameters bytes predicted_parameters formula"),
        "dimensions": None if sizes is None else [fields(each, "size meaning") for each in sizes],
        "bits_per_weight": None if role.bits_per_weight is None else bits(role.bits_per_weight),
    }


def _packing(result: Reconciliation) -> dict[str, Any] | None:
    packing, packed = result.packing, result.packed
    if packing is None:
        return None
    document = fields(packing, "scheme bits group_size")
    document["bits_per_weight"] = bits(result.bits_per_weight(result.weight_bytes))
    return document if packed is None else {**document, "packed": fields(packed, "parameters bytes side_bytes")}


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


def _variant(each: Variant, result: Reconciliation) -> dict[str, Any]:
    bits = result.bits_of(each)
    return {
        **fields(each, "name format type"),
        "files": len(each.paths),
        "path": each.paths[0],
        "size": each.size,
        "bits_per_weight": None if bits is None else units.bits(bits),
        "inspected": result.has(each),
    }


def _file(header: Header) -> dict[str, Any]:
    parts = ("header", "tensors", "padding", "unused")
    return {**fields(header, "path size"), **{part: header.bytes_in(part) for part in parts}}


def _repository(checkpoint: Checkpoint) -> dict[str, Any] | None:
    if checkpoint.other is None:
        return None
    others = [fields(each, "kind files size") for each in checkpoint.other]
    return {"size": checkpoint.repository_size, "other": others}


def architecture(config: Config | None, family: str | None) -> dict[str, Any]:
    """What a model is called, and the kind of its configuration."""
    return {
        "family": family,
        "model_type": config.model_type if config else None,
        "class": config.architecture if config else None,
        "config": config.kind if config else None,
    }


def _known(config: Config | None) -> Knowledge:
    return knowledge_of(config.values, config.relative) if config else Knowledge()


def knowledge(known: Knowledge) -> dict[str, Any]:
    """Where what is known about an architecture comes from, and what it was compared with."""
    return fields(known, "table made_from made checked_against asked relative")


def reconciliation(result: Reconciliation) -> dict[str, Any]:
    return {
        "nominal": result.nominal and fields(result.nominal, "label parameters bits bytes"),
        **fields(result, "predicted on_disk dtype"),
        "steps": [fields(each, "cause bytes tensors detail") for each in result.steps],
        "unexplained": {"bytes": result.unexplained_bytes, "tensors": list(result.unexplained)},
    }


def finding(each: Finding) -> dict[str, Any]:
    """A finding, its text unescaped: escaping is for terminals."""
    return fields(each, "rule severity path tensor message")


def key(each: Key) -> dict[str, Any]:
    """A tensor's purpose. The number of an expert is absent if all are in one tensor."""
    return {
        "role": each.role,
        "tower": each.tower,
        "branch": each.branch or None,
        "layer": each.layer,
        "expert": each.expert if each.expert is not None and each.expert >= 0 else None,
        "part": each.part,
    }


def tensor(each: Labelled) -> dict[str, Any]:
    """A tensor with its purpose."""
    own, purpose = each.tensor, key(each.key)
    return {
        "name": own.name,
        "file": each.file,
        "dtype": own.dtype,
        "shape": list(own.shape),
        "offset": own.offset,
        "bytes": own.nbytes,
        "parameters": each.parameters,
        "role": purpose.pop("role") or None,
        "group": each.group,
        **purpose,
    }


def about(result: Reconciliation) -> dict[str, Any]:
    """One side of a comparison."""
    checkpoint = result.checkpoint
    return {
        "target": checkpoint.target,
        "format": checkpoint.format,
        "family": result.prediction.family if result.prediction else None,
        "dtype": result.dtype,
        "parameters": result.logical,
        "bytes": result.on_disk,
        "revision": checkpoint.origin.revision,
    }


#: Columns of a checkpoint's totals by role.
SUMS = columns(
    "role group tower branch tensors:uint64 parameters:uint64 bytes:uint64 predicted_parameters:uint64"
    " bits_per_weight:double dtypes:list<string> formula"
)


def role_rows(result: Reconciliation) -> Rows:
    """One row per role of a checkpoint."""
    names = " ".join(name for name, _ in SUMS)
    return Rows(SUMS, [{**fields(each, names), "branch": each.branch or None} for each in result.roles])
