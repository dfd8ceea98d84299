"""Coverage-guided fuzzing of files beside the weights: `make fuzz`, or `python fuzz/documents.py`.

The first byte selects the kind of the rest: a configuration, an index, a tokenizer, a chat template or a pickle.
Any exception ends the run: an audit has findings, not errors.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector.auditing.catalogue import all_rules
    from inspector.auditing.run import audit

    all_rules()  # otherwise imported late, and not instrumented

import hostile  # noqa: E402  found through the path above

NAMES = ("config.json", hostile.INDEX, "tokenizer.json", "chat_template.jinja", "training_args.bin", "modules.json")


def one_input(data: bytes, folder: Path) -> None:
    """The sound model with one document replaced."""
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    path = folder / name
    before = path.read_bytes() if path.exists() else None
    path.write_bytes(data[1:])
    try:
        audit([folder])
    finally:
        path.unlink() if before is None else path.write_bytes(before)


def seeds(folder: Path) -> None:
    """The documents of the sound model and of the hostile fixtures."""
    for number, (_, change) in enumerate(hostile.MORE):
        files = hostile.sound()
        change(files)
        for kind, name in enumerate(NAMES):
            content = files.get(name)
            if isinstance(content, bytes) and len(content) < 10_000:
                (folder / f"{number}-{kind}").write_bytes(bytes([kind]) + content)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryDirectory() as model:
        seeds(Path(corpus))
        hostile.write(hostile.sound(), Path(model))
        atheris.Setup([*sys.argv, corpus], lambda data: one_input(data, Path(model)))
        atheris.Fuzz()
