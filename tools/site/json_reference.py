"""The reference of JSON: the fields of real documents, of checkpoints chosen so that each field has a value."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sparse

import inspector
from inspector import __main__ as main

#: Command → its checkpoints, by the names of their recipes, and its options.
ASKED: dict[str, tuple[tuple[str, ...], ...]] = {
    "inspect TARGET --tensors --layers --json": (
        ("mixtral-8x7b-q4_0", "--tensors", "--layers", "--json"),
        ("llama-3.1-8b-nf4", "--tensors", "--layers", "--json"),
        ("llama-7b", "--tensors", "--layers", "--json"),
    ),
    "inspect predict CONFIG --training --tensors --json, inspect learn TYPE --json (and `kept`: the file of the table)": (
        ("predict", "llama-7b", "--training", "--tensors", "--label", "6607343616", "--json"),
    ),
    "inspect audit TARGET --json": (("audit", "stranger", "--json"),),
    "inspect memory TARGET --gpu l4 --train full --json": (
        ("memory", "llama-3.2-1b", "--gpu", "l4", "--json"),
        ("memory", "llama-3.2-1b", "--gpu", "l4", "--train", "full", "--json"),
    ),
    "inspect quants TARGET --gpu l4 --json": (("quants", "llama-3.2-1b", "--gpu", "l4", "--json"),),
    "inspect diff A B --json": (("diff", "llama-3.1-8b", "llama-3.1-8b-q4_k_m", "--json"),),
    "inspect parents TARGET CANDIDATE… --json": (("parents", "gpt2", "gpt2-xl", "--json"),),
    "inspect scan ROOT --out DIR --json": (("scan", "llama-3.2-1b", "--out", "tables", "--workers", "1", "--json"),),
    "inspect scan --report DIR --json": (("scan", "--report", "tables", "--json"),),  # of the preceding scan
    "inspect tensors TARGET --json": (("tensors", "llama-7b", "--json"),),
    "inspect values TARGET --json": (("values", "gpt2", "wpe", "--json"),),
    "inspect metadata TARGET --json": (("metadata", "llama-3.2-1b-q8_0", "--json"),),
    "inspect architectures --json": (("architectures", "--json"),),
}
_LONGEST = 60  # signs of an example
Fields = dict[str, tuple[set[str], str]]


def page() -> str:
    """A table of fields for each command."""
    parts = [
        "# JSON",
        "",
        "Every command with `--json` prints one object. Fields may be added; those here keep their names, types and",
        "meaning. Bytes, counts and offsets are integers. The tables are made from what the commands print of sample",
        "checkpoints: a type with `null` is one that some of them have no value for.",
        "",
    ]
    with tempfile.TemporaryDirectory() as folder, _within(folder):
        for title, runs in ASKED.items():
            fields: Fields = {}
            for words in runs:
                _walk(_ran(words), "", fields)
            parts += [f"## `{title}`", "", "| field | type | for example |", "|---|---|---|"]
            parts += [
                f"| `{path}` | {' or '.join(sorted(kinds))} | {_code(example)} |"
                for path, (kinds, example) in fields.items()
            ]
            parts += [""]
    return "\n".join(parts)


@contextlib.contextmanager
def _within(folder: str) -> Iterator[None]:
    """Change the working folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _ran(words: tuple[str, ...]) -> Any:
    """The output of a command, after making the checkpoints whose recipes it names."""
    for word in words:
        if word in sparse.names() and "predict" not in words and not Path(word).exists():
            sparse.make(sparse.load(word), Path(word))
    # A scan starts processes, which would begin by importing mkdocs again.
    out = _in_process(words) if words[0] == "scan" else _here(words)
    return json.loads(out.replace(str(Path.cwd()), "/models"))


def _here(words: tuple[str, ...]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main.run(words)
    return out.getvalue()


def _in_process(words: tuple[str, ...]) -> str:
    command = [sys.executable, "-m", "inspector", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(inspector.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def _walk(value: Any, path: str, fields: Fields) -> None:
    """Record the type, and the first example, of each field; for lists, those of their items."""
    if isinstance(value, dict) and value and not _is_map(value):
        if path:
            _note(path, "object", "", fields)
        for name, each in value.items():
            _walk(each, f"{path}.{name}" if path else name, fields)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for each in value:
            _walk(each, f"{path}[]", fields)
    else:
        _note(path, _kind(value), json.dumps(value, ensure_ascii=False), fields)


def _is_map(value: dict[str, Any]) -> bool:
    """Whether the keys are data, such as dtypes, and no field names."""
    return not all(key.isidentifier() and key == key.lower() for key in value)


def _note(path: str, kind: str, example: str, fields: Fields) -> None:
    kinds, known = fields.get(path, (set(), ""))
    fields[path] = (kinds | {kind}, example if known in ("", "null", "[]") else known)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"list of {_kind(value[0])}" if value else "list"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "map", type(None): "null"}
    return names[type(value)]


def _code(example: str) -> str:
    if not example:
        return ""
    short = example if len(example) <= _LONGEST else example[: _LONGEST - 1] + "…"
    return "`" + short.replace("|", "¦").replace("`", "'") + "`"
