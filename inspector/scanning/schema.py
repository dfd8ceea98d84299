"""The tables of a scan: their columns, types and meanings. Names, types and order are stable; columns may be added.

`checkpoint` joins the tables. Sizes are bytes and counts are elements, unsigned: a file may claim more than 2⁶³.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

#: The version of the tables, stored in `scan.json`.
VERSION = 1


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # Arrow's name
    meaning: str


_ID = Column("checkpoint", "string", "id: 16 hexadecimal digits, the same for the same target in each scan")

CHECKPOINTS = (
    _ID,
    Column("target", "string", "what to type to inspect it alone"),
    Column("unit", "string", "how it was found: a folder, a single file, a repository"),
    Column("root", "string", "the ROOT below which it was found"),
    Column("kind", "string", "local, hub or url"),
    Column("revision", "string", "commit of a repository"),
    Column("stamp", "string", "what is compared to detect changes: sizes, times, ETags, or the commit"),
    Column("scan", "uint32", "the scan that wrote the row, from 1 on"),
    Column("first_scan", "uint32", "the scan that saw it first"),
    Column("bytes_before", "uint64", "`on_disk` before it changed; null if it never did"),
    Column("format", "string", "safetensors, gguf, pytorch, … or mixed; null where nothing could be read"),
    Column("family", "string", "family of the architecture"),
    Column("model_type", "string", "according to the configuration"),
    Column("class", "string", "class that wrote it, according to the configuration"),
    Column("config", "string", "config.json, params.json, gguf or inferred"),
    Column("dtype", "string", "type of most weights, or the packing scheme"),
    Column("scheme", "string", "how weights are packed; null if they are not"),
    Column("bits", "uint32", "of a packed weight"),
    Column("group_size", "int64", "packed weights that share a scale"),
    Column("logical", "uint64", "parameters of the model"),
    Column("predicted", "uint64", "parameters that its configuration predicts"),
    Column("active", "uint64", "parameters used for one token"),
    Column("stored_elements", "uint64", "elements in the files"),
    Column("on_disk", "uint64", "bytes of its weight files"),
    Column("unexplained", "int64", "bytes that no cause explains"),
    Column("weight_files", "uint32", "its weight files"),
    Column("tensors", "uint64", "tensors in them"),
    Column("adapter", "string", "lora, dora, …; null for a whole model"),
    Column("base", "string", "the base model that it names"),
    Column("license", "string", "from the model card or the key-values"),
    Column("errors", "uint32", "findings of that severity"),
    Column("warnings", "uint32", "the same"),
    Column("infos", "uint32", "the same"),
    Column("same_tensors", "string", "equal if all names, shapes and dtypes are"),
    Column("same_model", "string", "equal if the parameters of each role are, whatever format and dtype"),
    Column(
        "structure_id",
        "string",
        "equal if all weights have the same roles and shapes, whatever names, format and dtype",
    ),
    Column("same_data", "string", "equal if the weight files' digests are; null if not all are known"),
    Column("error", "string", "why nothing could be read; null if something could"),
    Column("error_kind", "string", "the kind of that error: FormatError, NetworkError, Timeout, Crash, …"),
)
FILES = (
    _ID,
    Column("path", "string", "within the checkpoint's folder"),
    Column("size", "uint64", "bytes"),
    Column("weights", "bool", "whether it is one of the weight files that were read"),
    Column("header", "uint64", "bytes of its header; null for other files, like the next three"),
    Column("data", "uint64", "bytes that tensors claim"),
    Column("padding", "uint64", "bytes needed for the format's alignment"),
    Column("unused", "uint64", "bytes that no tensor claims"),
    Column("digest", "string", "from a store, a cache, a manifest or the Hub: sha256:… or git:…"),
)
TENSORS = (
    _ID,
    Column("name", "string", "as in the file"),
    Column("file", "string", "path of the file"),
    Column("dtype", "string", "the format's name for it"),
    Column("shape", "list<uint64>", "row-major"),
    Column("offset", "uint64", "from the file's first byte"),
    Column("bytes", "uint64", "claimed by the header"),
    Column("parameters", "uint64", "logical; 0 for buffers, side data and second copies"),
    Column("role", "string", "a word of docs/roles.md"),
    Column("group", "string", "the role's group"),
    Column("tower", "string", "text, vision, audio, …"),
    Column("branch", "string", "distinguishes several tensors of one role in a layer"),
    Column("layer", "int64", "from 0 on"),
    Column("expert", "int64", "from 0 on"),
    Column("part", "string", "weight, bias, or a piece of side data"),
)
FINDINGS = (
    _ID,
    Column("rule", "string", "a code of docs/rules.md"),
    Column("severity", "string", "error, warning or info"),
    Column("path", "string", "file"),
    Column("tensor", "string", "tensor"),
    Column("message", "string", "one line; text from files is not escaped"),
)
#: Table → columns. A part is committed once its `checkpoints` exist: that table is written last.
TABLES: Mapping[str, tuple[Column, ...]] = {
    "tensors": TENSORS,
    "files": FILES,
    "findings": FINDINGS,
    "checkpoints": CHECKPOINTS,
}
#: Kinds of transient errors: `--resume` repeats such rows.
PASSING = ("NetworkError", "Timeout", "Crash", "MemoryError")


def arrow_schema(table: str) -> pa.Schema:
    """A table's schema in Arrow's types."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "uint32": pa.uint32(),
        "uint64": pa.uint64(),
        "int64": pa.int64(),
        "bool": pa.bool_(),
        "list<uint64>": pa.list_(pa.uint64()),
    }
    return pa.schema([pa.field(each.name, types[each.type]) for each in TABLES[table]])
