"""Files of unrelated models in one folder: which belong together, and which of them the configuration belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.bridge.reconciliation import reconcile
from inspector.errors import InspectorError
from inspector.model import Checkpoint, Config, Header, Reconciliation
from inspector.opening import configs
from inspector.sources import Place
from inspector.sources.filenames import rank_of, shard_of

#: The most files whose headers are compared; a folder with more is not a model in pieces.
MOST = 64
#: Bytes of their headers together: each file is joined with its prediction once more.
MOST_BYTES = 10_000_000
#: The share of a checkpoint's tensors that its own configuration explains at least.
FITS = 0.5
#: Suffixes of a configuration named after a weight file.
_OWN = (".json", ".config.json", "_config.json", "-config.json")
#: Rules that fire if the configuration is not the files'.
_WRONG = frozenset({"shape", "missing"})


def main_of(checkpoint: Checkpoint) -> str | None:
    """The loose file that represents the folder, if its files are separate models.

    The one that best matches the configuration, or the largest. None if the files form one model: a single file,
    shards, ranks' parts, or pieces that match the configuration or the names in them only together.
    """
    files = checkpoint.files
    if not 1 < len(files) <= MOST or checkpoint.index is not None or not all(map(_is_loose, files)):
        return None
    if sum(header.bytes_in("header") for header in files) > MOST_BYTES:
        return None
    if _are_pieces(checkpoint):
        return None
    by_fit = {header.path: fit(checkpoint, (header,), checkpoint.config) for header in files}
    best = max(by_fit.values(), default=0.0)
    fitting = [header for header in files if best < FITS or by_fit[header.path] == best]
    return max(fitting, key=lambda header: header.size).path


def _is_loose(header: Header) -> bool:
    return header.format == "safetensors" and shard_of(header.path) is None and rank_of(header.path) is None


def _are_pieces(checkpoint: Checkpoint) -> bool:
    """Whether no tensor occurs twice, and none of the files is a whole model alone."""
    seen: set[str] = set()
    for header in checkpoint.files:
        names = {tensor.name for tensor in header.tensors}
        if not seen.isdisjoint(names):
            return False
        seen |= names
    if checkpoint.config is not None and _is_whole(_joined(checkpoint, checkpoint.files, checkpoint.config)):
        return True
    return not any(_is_whole(_joined(checkpoint, (header,), None)) for header in checkpoint.files)


def _joined(checkpoint: Checkpoint, files: Sequence[Header], config: Config | None) -> Reconciliation:
    return reconcile(
        Checkpoint(checkpoint.target, checkpoint.name, checkpoint.origin, tuple(files), config, findings=())
    )


def _is_whole(result: Reconciliation) -> bool:
    """Whether the files are exactly what is predicted."""
    return result.prediction is not None and not result.unexplained and not _wrong(result)


def _wrong(result: Reconciliation) -> int:
    return sum(step.tensors for step in result.steps if step.cause in _WRONG)


def fit(checkpoint: Checkpoint, files: Sequence[Header], config: Config | None) -> float:
    """The share of the files' tensors that a configuration explains."""
    number = sum(len(header.tensors) for header in files)
    if config is None or not number:
        return 0.0
    result = _joined(checkpoint, files, config)
    if result.prediction is None:
        return 0.0
    return max(0.0, 1 - (len(result.unexplained) + _wrong(result)) / number)


def config_of(checkpoint: Checkpoint, files: Sequence[Header], place: Place) -> Config | None:
    """The configuration of further files in the folder: one with their name, or the common one if it matches."""
    stems = (shard.stem if (shard := shard_of(header.path)) else header.path.rpartition(".")[0] for header in files)
    named = named_like(place, dict.fromkeys(stems))
    if named is not None:
        return named
    common = checkpoint.config
    return common if common is not None and fit(checkpoint, files, common) >= FITS else None


def named_like(place: Place, stems: Iterable[str]) -> Config | None:
    """A configuration named after a weight file."""
    for stem in stems:
        for end in _OWN:
            if stem + end in place.files:
                try:
                    config = configs.parse(place.read_text(stem + end, configs.MAX_CONFIG), stem + end)
                except InspectorError:
                    continue
                if config.model_type is not None:
                    return config
    return None
