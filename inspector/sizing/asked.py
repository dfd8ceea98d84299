"""The compute buffer as the installed llama.cpp answers it (`--ask`), instead of our rule for it.

The library is asked in a process of its own, with limits of time and memory and without a network, and allocates
neither weights nor caches. It answers for a few contexts; those between lie on a line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspector.architectures.asking import Library, answering, read_answers, run_alone
from inspector.errors import ConfigError
from inspector.formats.ggml import TYPES
from inspector.sizing.engines import printing
from inspector.sizing.engines.engine import Request
from inspector.sizing.engines.graphs import Batch
from inspector.sizing.engines.llama_cpp import UBATCH, in_whole_blocks
from inspector.sizing.model import Model
from inspector.units import escape

#: Seconds of work, and bytes, that it may take.
MOST_SECONDS, MOST_BYTES = 120, 8 * 1024**3
#: MiB of a buffer from which an answer is not believed.
MOST_MIB = 2**24
#: Contexts that it is asked about, besides the requested one and the model's own.
CONTEXTS = (256, 4096, 32768)
_NUMBERS = {kind.name: number for number, kind in TYPES.items()}


class Answered:
    """Bytes of the compute buffer by cells of a sequence: a line between two answers, the last two's beyond them."""

    def __init__(self, points: Mapping[int, int]) -> None:
        self.points = sorted(points.items())

    def reserved(self, batch: Batch) -> int:
        """Bytes for this many cells, with the number of sequences that was asked about."""
        if len(self.points) == 1 or batch.cells <= self.points[0][0]:
            return self.points[0][1]
        at = min(bisect_left(self.points, (batch.cells, 0)), len(self.points) - 1)
        (less, low), (more, high) = self.points[at - 1 : at + 1]
        return low + -(-(high - low) * (batch.cells - less) // (more - less))


def answered(library: Library, model: Model, request: Request, *, flash: bool = True) -> tuple[str, Answered]:
    """The library with its version, and what it reserves for a model's file.

    Raises:
        ConfigError: no llama.cpp can be asked there, the model is not a local GGUF, or it is refused.
    """
    longest = max(request.context, model.context or 0)
    cells = {
        in_whole_blocks(each) for each in (request.context, longest, *(each for each in CONTEXTS if each < longest))
    }
    asked = {
        "sequences": request.sequences,
        "batch": request.batch or UBATCH,
        "flash": flash,
        "keys": _NUMBERS[request.keys.name],
        "values": _NUMBERS[request.values.name],
    }
    contexts = [{**asked, "context": each} for each in sorted(cells)]
    whole = {"file": _file(model), "contexts": contexts, "seconds": MOST_SECONDS, "bytes": MOST_BYTES}
    scripts = [Path(answering.__file__), Path(printing.__file__)]
    version, answers = read_answers(run_alone(library.python, scripts, whole), len(contexts))
    points = dict(_points(sorted(cells), answers))
    if not points:
        reason = next((each["error"] for each in answers if isinstance(each, dict) and "error" in each), "")
        raise ConfigError(f"{version} was asked: {escape(str(reason or 'it makes no context'), 200)}")
    return version, Answered(points)


def _file(model: Model) -> str:
    """The path of the model's file, of the first one if there are several."""
    checkpoint = model.result.checkpoint if model.result else None
    if model.format != "gguf" or checkpoint is None or checkpoint.origin.kind != "local":
        raise ConfigError("llama.cpp can be asked about GGUF files of this machine alone (--ask)")
    place = Path(checkpoint.origin.location)
    return str(place if place.is_file() else place / checkpoint.files[0].path)


def _points(cells: Sequence[int], answers: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Cells of a sequence, and bytes, of the contexts that were made."""
    for each, answer in zip(cells, answers, strict=True):
        size = answer.get("compute") if isinstance(answer, dict) else None
        if isinstance(size, (int, float)) and 0 < size < MOST_MIB:
            yield each, round(size * 2**20)
