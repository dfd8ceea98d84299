"""Coverage-guided fuzzing of the safetensors reader: `make fuzz`, or `python fuzz/safetensors_header.py`.

Any exception but FormatError ends the run, as do regions that do not partition the file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "fixtures")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector import formats
    from inspector.errors import FormatError
    from inspector.formats import safetensors  # noqa: F401  imported late otherwise, and not instrumented

import hostile  # noqa: E402  found through the path above
from memory import Growing  # noqa: E402  the same


def one_input(data: bytes) -> None:
    """Read a header whose length is right; the last bytes are data."""
    cut = len(data) - min(len(data), data[-1] if data else 0)
    content = cut.to_bytes(8, "little") + data
    try:
        header = formats.read(Growing(content), "fuzzed.safetensors")
    except FormatError:
        return
    at = 0
    for region in header.regions:
        assert region.start == at < region.end, header.regions
        at = region.end
    assert at == len(content), header.regions


def seeds(folder: Path) -> None:
    """The headers of the hostile fixtures that are one safetensors file."""
    for number, case in enumerate(hostile.CASES.values()):
        for change in (case.trips, case.misses):
            files = hostile.sound()
            change(files)
            for name, content in files.items():
                if name.endswith(".safetensors") and isinstance(content, bytes) and len(content) < 10_000:
                    (folder / f"{number}-{name.replace('/', '-')}").write_bytes(content[8:])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        seeds(Path(corpus))
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
