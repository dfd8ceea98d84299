"""One inspected checkpoint → its rows, kept as columns until a batch is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from inspector.auditing import checksums
from inspector.auditing.examination import Audited
from inspector.auditing.subject import Subject
from inspector.bridge.structure import structure_id
from inspector.errors import InspectorError
from inspector.model import Finding, Labelled, Reconciliation
from inspector.scanning.schema import TABLES, arrow_schema
from inspector.scanning.unit import Unit, short_digest, storable

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, list[Any]]
#: Column of `files` → the header's regions that it counts.
_REGIONS = (("header", "header"), ("data", "tensors"), ("padding", "padding"), ("unused", "unused"))


class Rows:
    """The four tables, by column."""

    def __init__(self, scan: int, before: Mapping[str, Sequence[Any]] | None = None) -> None:
        """
        Args:
            scan: the number of the scan that writes them.
            before: checkpoint → the scan that saw it first, and its bytes then, for those seen before.
        """
        self._scan, self._before = scan, before or {}
        self._cost: dict[str, tuple[int, int]] = {}  # place → requests and bytes read so far
        self._on_disk = self._errors = 0
        self._tables: dict[str, Columns] = {name: {each.name: [] for each in TABLES[name]} for name in TABLES}

    def __len__(self) -> int:
        return sum(len(next(iter(columns.values()))) for columns in self._tables.values())

    @property
    def sums(self) -> dict[str, int]:
        """Totals of the checkpoints, and the cost of reading them."""
        requests, nbytes = (sum(column) for column in zip((0, 0), *self._cost.values(), strict=True))
        return {"on_disk": self._on_disk, "errors": self._errors, "requests": requests, "bytes_read": nbytes}

    def add(self, unit: Unit, target: str, subject: Subject, audited: Audited) -> None:
        """Add an examined checkpoint, with or without findings."""
        name = short_digest(target)
        origin = subject.place.origin()
        found = audited.findings
        tensors = list(subject.result.tensors) if subject.result else []  # their keys are made once
        columns, files = described_by(subject, tensors)
        self._cost[origin.location] = (origin.requests or 0, origin.bytes_read)
        self._on_disk += columns["on_disk"]
        self._errors += any(each.severity == "error" for each in found)
        self._row("checkpoints", {
            **self._start(unit, target), **columns, **_findings_sums(found),
            "stamp": unit.stamp or origin.revision, **_failure(subject.result, found),
        })  # fmt: skip
        for file in files:
            self._row("files", {"checkpoint": name, **file})
        self._tensors(name, tensors)
        self._findings(name, found)

    def add_failed(self, unit: Unit, target: str, kind: str, reason: str) -> None:
        """Add a checkpoint, or a place, that could not be read."""
        self._errors += 1
        where = {"folder": "local", "files": "local", "store": "url"}.get(unit.kind)
        failure = {"kind": where, "stamp": unit.stamp, "error": reason[:2000], "error_kind": kind}
        self._row("checkpoints", {**self._start(unit, target), **_findings_sums(()), **failure})

    def _start(self, unit: Unit, target: str) -> dict[str, Any]:
        first, size = self._before.get(short_digest(target), (self._scan, None))
        return {
            "checkpoint": short_digest(target), "target": target, "unit": unit.target, "root": unit.root,
            "scan": self._scan, "first_scan": first, "bytes_before": size,
        }  # fmt: skip

    def _row(self, table: str, row: Mapping[str, Any]) -> None:
        for name, values in self._tables[table].items():
            values.append(row.get(name))

    def _tensors(self, checkpoint: str, rows: Sequence[Labelled]) -> None:
        """Column by column, not row by row: this table has by far the most rows."""
        if not rows:
            return
        tensors, paths, keys, groups, parameters = zip(*rows, strict=True)
        names, dtypes, shapes, offsets, sizes = zip(*tensors, strict=True)
        towers, layers, experts, roles, parts, branches, _ = zip(*keys, strict=True)
        columns = self._tables["tensors"]
        for name, values in (
            ("checkpoint", [checkpoint] * len(rows)),
            ("name", names),
            ("file", paths),
            ("dtype", dtypes),
            ("shape", shapes),
            ("offset", offsets),
            ("bytes", sizes),
            ("parameters", parameters),
            ("role", [role or None for role in roles]),
            ("group", groups),
            ("tower", towers),
            ("branch", [branch or None for branch in branches]),
            ("layer", layers),
            ("expert", [expert if expert is not None and expert >= 0 else None for expert in experts]),
            ("part", parts),
        ):
            columns[name].extend(values)

    def _findings(self, checkpoint: str, found: Iterable[Finding]) -> None:
        for each in found:
            self._row("findings", {
                "checkpoint": checkpoint, "rule": each.rule, "severity": each.severity, "path": each.path,
                "tensor": each.tensor, "message": each.message,
            })  # fmt: skip

    def take(self) -> Iterator[tuple[str, pa.Table]]:
        """Each table with its rows, which are then dropped."""
        import pyarrow as pa

        for name, columns in self._tables.items():
            schema = arrow_schema(name)
            arrays = [_array(columns[field.name], field.type) for field in schema]
            for values in columns.values():
                values.clear()
            yield name, pa.Table.from_arrays(arrays, schema=schema)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column; what Arrow's types cannot hold (unpaired surrogates, 2⁶⁴ and more) is escaped or left out."""
    import pyarrow as pa

    try:
        return pa.array(values, kind)
    except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):
        return pa.array([_fitting(value) for value in values], kind)


def _fitting(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else None
    return None if isinstance(value, tuple) and any(not 0 <= each < 2**63 for each in value) else value


def described_by(
    subject: Subject, tensors: Sequence[Labelled] | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The columns of `checkpoints` that an examined model yields by itself, and its rows of `files`."""
    origin, digests = subject.place.origin(), digests_of(subject)
    headers = {header.path: header for header in subject.headers}
    files: list[dict[str, Any]] = []
    for entry in subject.entries:
        header = headers.get(entry.path)
        regions = {name: header.bytes_in(column) if header else None for name, column in _REGIONS}
        files.append({
            "path": entry.path, "size": entry.size, "weights": header is not None, "digest": digests.get(entry.path),
            **regions,
        })  # fmt: skip
    columns = {
        **_identity(subject.result), **_sums(subject.result, subject, tensors), "kind": origin.kind,
        "revision": origin.revision, "same_data": _same_data(subject, digests),
    }  # fmt: skip
    return columns, files


def _identity(result: Reconciliation | None) -> dict[str, Any]:
    """The columns that identify the checkpoint."""
    if result is None:
        return {}
    checkpoint, config, packing = result.checkpoint, result.checkpoint.config, result.packing
    card = checkpoint.card
    base = result.adapter.config.get("base_model_name_or_path") if result.adapter else card.get("base_model")
    return {
        "format": checkpoint.format,
        "family": result.family,
        "model_type": config.model_type if config else None,
        "class": config.architecture if config else None,
        "config": config.kind if config else None,
        "dtype": result.dtype,
        "scheme": packing.scheme if packing else None,
        "bits": packing.bits if packing else None,
        "group_size": packing.group_size if packing else None,
        "adapter": result.adapter.method if result.adapter else None,
        "base": base if isinstance(base, str) and base else None,
        "license": card.get("license"),
    }


def _sums(result: Reconciliation | None, subject: Subject, tensors: Sequence[Labelled] | None) -> dict[str, Any]:
    """Counts and bytes; only of files if no header could be read."""
    files = {"weight_files": len(subject.headers), "on_disk": sum(header.size for header in subject.headers)}
    if result is None:
        return {**files, "tensors": 0}
    return {
        **files,
        "on_disk": result.on_disk,
        "logical": result.logical,
        "predicted": result.prediction.parameters if result.prediction else None,
        "active": result.active,
        "stored_elements": result.stored_elements,
        "unexplained": result.unexplained_bytes,
        "tensors": sum(len(header.tensors) for header in result.checkpoint.files),
        "same_tensors": _same_tensors(result),
        "same_model": _same_model(result),
        "structure_id": structure_id(result, tensors),
    }


def _findings_sums(found: Iterable[Finding]) -> dict[str, int]:
    counted = Counter(each.severity for each in found)
    return {"errors": counted["error"], "warnings": counted["warning"], "infos": counted["info"]}


def _failure(result: Reconciliation | None, found: Sequence[Finding]) -> dict[str, str]:
    """Why existing weights could not be read."""
    nothing = result is None or not any(header.tensors for header in result.checkpoint.files)
    first = next((each for each in found if each.severity == "error"), None) if nothing else None
    if first is None:
        return {}
    return {"error": f"{first.path}: {first.message}" if first.path else first.message, "error_kind": first.rule}


def digests_of(subject: Subject) -> dict[str, str]:
    """Path → digest, if a store, a cache or a manifest has it. No tensor data is read."""
    try:
        known = [*checksums.known(subject)]
    except InspectorError:  # an invalid manifest: the audit's checksums report it, if requested
        return {}
    return {each.path: f"{'sha256' if len(each.digest) == 64 else 'git'}:{each.digest}" for each in known}


def _same_data(subject: Subject, digests: Mapping[str, str]) -> str | None:
    weights = [digests.get(header.path) for header in subject.headers]
    if not weights or None in weights:
        return None
    return _print(sorted(filter(None, weights)))


def _same_tensors(result: Reconciliation) -> str:
    tensors = [tensor for header in result.checkpoint.files for tensor in header.tensors]
    shapes = {shape: str(shape) for shape in {tensor.shape for tensor in tensors}}
    return _print(sorted(f"{tensor.name}\0{tensor.dtype}\0{shapes[tensor.shape]}" for tensor in tensors))


def _same_model(result: Reconciliation) -> str | None:
    """A digest of the keys on which all formats are joined: fused, stacked and packed weights count the same."""
    if not result.logical:
        return None
    sums = [f"{each.tower}\0{each.branch}\0{each.role}\0{each.parameters}" for each in result.roles if each.parameters]
    return _print([result.adapter.method if result.adapter else "", *sorted(sums)])


def _print(lines: Iterable[str]) -> str:
    joined = "\n".join(lines).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()
