"""One model as the rules see it: its files, its checkpoint, and small documents, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector import formats
from inspector.auditing import limits
from inspector.auditing.files import Files
from inspector.bridge.reconciliation import reconcile
from inspector.errors import FormatError, InspectorError, TargetError
from inspector.formats.findings import Findings
from inspector.model import Checkpoint, Config, Finding, Header, Index, Reconciliation, Variant
from inspector.opening import checkpoint as checkpoints
from inspector.opening import configs, selection
from inspector.opening import variants as grouping
from inspector.opening.models import USUAL
from inspector.sources import Place
from inspector.sources.filenames import HDF5, OTHERS, PICKLED, WEIGHTS, rank_of, shard_of
from inspector.sources.listing import Entry
from inspector.sources.places import Narrowed
from inspector.units import integer, plural

if TYPE_CHECKING:
    from inspector.auditing.values.numbers.facts import Measured

#: What `selection.kind_of` calls weights that their names do not show to be an accessory.
_WEIGHTS_OF_A_MODEL = "duplicate"
#: Loose files of one folder whose headers are compared; a folder with more is not a model in pieces.
MOST_LOOSE = 64
#: Bytes of their headers together, because each file is joined with its prediction again.
MOST_LOOSE_BYTES = 10_000_000
#: The least share of a checkpoint's tensors that its own configuration explains.
FITS = 0.5
#: Suffixes of a configuration named after a weight file.
_CONFIG_SUFFIXES = (".json", ".config.json", "_config.json", "-config.json")
#: Suffixes of PyTorch's archives that no model is opened from, and of all files whose contents say where they end.
_ALSO_PICKLED = (".pt2", ".ptl", ".tar")
_SIZED = (*PICKLED, *_ALSO_PICKLED, *OTHERS, ".npy")
#: Causes that show that a configuration does not belong to the files.
_MISMATCHES = frozenset({"shape", "missing"})


class Subject(Files):
    """A model's files and their contents. Nothing is read before a rule needs it, or twice."""

    def __init__(
        self,
        place: Place,
        listed: Sequence[Entry],
        target: str,
        root: str | None = None,
        cache_name: str | None = None,
        members: frozenset[str] | None = None,
        *,
        is_model: bool = True,
    ) -> None:
        """
        Args:
            root: the base of relative paths; None if it is not on this machine.
            cache_name: `org/name` of a repository in the Hub's cache.
            members: if the target names a shard, the files of its set; what is examined of a folder with several.
            is_model: whether it is a checkpoint's files, and not those that belong to none in a folder.
        """
        self.is_model = is_model
        super().__init__(place, listed, root, members)
        self.target = target
        self.cache_name = cache_name
        self.config_named: Path | None = None  # the user's replacement for the configuration next to the weights
        self.findings = self._left_out()  # and what is found while the files are read
        self.main_file: str | None = None  # the selected one of several files that are separate models
        self.measured: Measured | None = None  # the properties of the data, if it was read
        self.digests: Mapping[str, str] = {}  # path → SHA-256 of the files that were hashed
        self.memo: dict[str, Any] = {}  # results of one rule that another needs, too
        self._others: list[Reconciliation] = []  # further checkpoints in the folder, joined with their predictions

    def _left_out(self) -> list[Finding]:
        """A finding about a target with more files than are examined."""
        if len(self.entries) == self.extent.total:
            return []
        total, examined = integer(self.extent.total), integer(len(self.entries))
        what = f"{total} files, of which {examined} were examined: the others were not checked"
        return [Finding("many-files", "error", what)]

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """The weight files that a loader would select, with their configuration; None if there are none."""
        place = Narrowed(self.place, self._may_hold_weights)
        try:
            found = checkpoints.examine(place, self.target, self.config_named)
        except TargetError:
            self._without_weights(place)
            return None
        except FormatError as error:  # what says which parts there are cannot be read
            self.findings.append(Finding(error.rule, "error", str(error)))
            return None
        if self.members:
            self.main_file = found.files[0].path if len(found.files) == 1 else None
            return found if self.config_named else _with_own_config(place, found)
        main = _main_of(found)
        return found if main is None else self._one_of_several(place, found, main)

    def _one_of_several(self, place: Place, together: Checkpoint, main: str) -> Checkpoint:
        """The selected one of several files that are separate models; the others are examined as further ones."""
        others = {header.path for header in together.files} - {main}
        what = f"{integer(len(others) + 1)} models in one folder, each in its own file: each is checked separately"
        self.findings.append(Finding("several-checkpoints", "info", what, main))
        self.main_file = main
        found = checkpoints.examine(Narrowed(place, lambda path: path not in others), self.target, self.config_named)
        named = None if self.config_named else _named_like(place, [main.rpartition(".")[0]])
        return found if named is None else found._replace(config=named)

    def _without_weights(self, place: Place) -> None:
        """The files that an index, including one of pickles, lists."""
        for path in sorted(place.files):
            if path.endswith(".index.json"):
                try:
                    self.findings += selection.by_index(place, path, required=False).findings
                except InspectorError as error:
                    self.findings.append(Finding("index", "error", str(error), path))
        self.findings += self._not_read() if self.is_model else ()

    def _not_read(self) -> Iterator[Finding]:
        """The weights in formats that are not read, each format at its first file: nothing else tells of them."""
        from inspector.formats import foreign  # only where there is nothing to read

        kinds: dict[str, list[str]] = {}
        for entry in self.regular(*foreign.SUFFIXES, ".bin"):
            head = self.span(entry.path, 0, foreign.HEAD)
            known = foreign.foreign_of(entry.path, head, self.by_path)
            if known or (head and not head.isascii() and not head.startswith((b"PK", b"\x80"))):  # a rule reads pickles
                kinds.setdefault(known.name if known else "an unknown format", []).append(entry.path)
        for kind, paths in kinds.items():
            what = f"{plural(len(paths), 'file')} of {kind}, whose weights are not read: not judged"
            yield Finding("not-judged", "info", what, paths[0])

    def _may_hold_weights(self, path: str) -> bool:
        """Whether weights may be selected from a file: it is within the limits, and not another program's pickle."""
        size = self.place.files[path]
        if path.endswith(PICKLED) and path != self._whole.selected:
            return self._is_pytorch(path, size)
        too_large = limits.excess(path, size, self.head)
        if too_large:
            self.findings.append(too_large)
        return too_large is None

    def _is_pytorch(self, path: str, size: int) -> bool:
        from inspector.formats.pytorch.reader import is_pytorch  # only if there is a file to check

        with self.reading(path) as read:
            return is_pytorch(read, size)

    def give_up(self) -> None:
        """Stop reading: anything not read so far counts as absent."""
        own = vars(self)
        for name in ("checkpoint", "result", "extra", "misfits", "of_other_sets"):
            own.setdefault(name, None if name in ("checkpoint", "result") else ())

    @cached_property
    def extra(self) -> tuple[Header, ...]:
        """Weight files in addition to the checkpoint's own: damage in them is reported as well."""
        others = self._other_weights()
        if len(others) > limits.MAX_EXTRA:
            first, rest = integer(limits.MAX_EXTRA), integer(len(others) - limits.MAX_EXTRA)
            what = f"{rest} weight files beside the first {first}: not checked"
            self.findings.append(Finding("not-judged", "error", what, others[limits.MAX_EXTRA]))
        headers = []
        for path in others[: limits.MAX_EXTRA]:
            try:
                with closing(self.place.open(path)) as source:
                    headers.append(formats.read(source, path))
            except InspectorError as error:
                self.findings.append(checkpoints.finding_of(error, path))
        return tuple(headers)

    def _other_weights(self) -> list[str]:
        """Paths of weight files that are not the checkpoint's, and not reported so far."""
        skipped = {header.path for header in self.headers} | {finding.path for finding in self.findings}
        names = (entry.path for entry in self.entries if entry.path.endswith(WEIGHTS))
        return sorted(path for path in names if path in self.place.files and path not in skipped)

    @cached_property
    def misfits(self) -> tuple[Finding, ...]:
        """Files in other formats, on this machine, that end before their contents or after them."""
        return tuple(self._misfits())

    def _misfits(self) -> Iterator[Finding]:
        read = {header.path for header in self.all_headers} | {finding.path for finding in self.findings}
        entries = self.entries if self.root is not None else ()
        paths = [each.path for each in entries if each.path.endswith(_SIZED) and each.path not in read]
        for path in [path for path in paths if self.place.files.get(path)][: limits.MAX_EXTRA]:
            try:
                found = self._findings_on_size(path)
            except FormatError as error:  # what is in a pickle is searched by a rule, which reports it
                found = () if path.endswith((*PICKLED, *_ALSO_PICKLED)) else (checkpoints.finding_of(error, path),)
            except InspectorError:
                continue
            yield from (each for each in found if each.severity != "info" and each.rule in ("truncated", "trailing"))

    def _findings_on_size(self, path: str) -> tuple[Finding, ...]:
        """Raises FormatError, e.g. for a truncated archive."""
        if path.endswith((*PICKLED, *_ALSO_PICKLED)) and not self._is_pytorch(path, self.place.files[path]):
            return ()
        with closing(self.place.open(path)) as source:
            if not path.endswith(HDF5):
                return formats.read(source, path).findings
            from inspector.formats import hdf5  # without h5py, which is not hardened against hostile files

            findings = Findings(path)
            findings.check_end(hdf5.end_of(source, path), source.size)
            return findings.all()

    @cached_property
    def of_other_sets(self) -> tuple[Finding, ...]:
        """Missing files of sets other than the checkpoint's."""
        return tuple(self._other_sets())

    def _other_sets(self) -> Iterator[Finding]:
        """Whether each further checkpoint in the folder is complete, and its configuration.

        The checkpoint's own completeness is reported by its selection and the bridge.
        """
        own = {header.path for header in self.headers}
        stems = {shard.stem for path in own if (shard := shard_of(path))}
        read = {header.path: header for header in self.extra if is_readable(header)}
        main = {each.model for each in grouping.variants({path: self.place.files[path] for path in own})}
        for variant in grouping.variants({path: size for path, size in self.place.files.items() if path not in own}):
            shard = shard_of(variant.paths[0])
            if shard is not None and shard.stem in stems:  # leftovers, which a separate rule reports
                continue
            absent = selection.absent_shards(variant.paths)
            yield from absent
            parts = [read[path] for path in variant.paths if path in read]
            if any("split.count" in header.metadata for header in parts):
                from inspector.opening import gguf  # only for files that are split

                yield from gguf.check_split(parts)
            if not absent and parts and len(parts) == len(variant.paths):
                yield from self._findings_on_further(variant, parts, of_main=variant.model in main)

    def _findings_on_further(self, variant: Variant, parts: Sequence[Header], *, of_main: bool) -> Iterator[Finding]:
        """The bridge's findings on a further checkpoint."""
        further = self._further_checkpoint(variant, tuple(parts), of_main=of_main)
        if further is None:
            return
        known = {finding for header in parts for finding in header.findings}
        result = reconcile(further, analogy=False)
        self._others.append(result)
        for finding in result.findings:
            if finding.severity != "info" and finding not in known:
                yield finding if finding.path else finding._replace(path=variant.paths[0])

    def _further_checkpoint(self, variant: Variant, parts: tuple[Header, ...], *, of_main: bool) -> Checkpoint | None:
        """A further checkpoint with its own configuration, or the main one's; None if it may belong to anything."""
        config: Config | None
        if variant.format == "gguf":
            from inspector.opening import gguf  # imports knowledge needed only for GGUF files

            if (config := gguf.config_of(parts)) is None:
                return None
        elif of_main and variant.format == "safetensors" and self.config:
            config = self.config
        elif self.checkpoint and self._is_beside(parts) and selection.kind_of(variant.paths[0]) == _WEIGHTS_OF_A_MODEL:
            config = _config_of(self.checkpoint, parts, self.place)
        else:
            return None
        return Checkpoint(self.target, variant.name, self.place.origin(), parts, config)

    def _is_beside(self, headers: Iterable[Header]) -> bool:
        """Whether all files are in the checkpoint's folder, or at the top."""
        return all(header.path.rpartition("/")[0] + "/" in ("/", self.folder) for header in headers)

    @property
    def headers(self) -> tuple[Header, ...]:
        """The checkpoint's own files."""
        return self.checkpoint.files if self.checkpoint else ()

    @property
    def all_headers(self) -> tuple[Header, ...]:
        return self.headers + self.extra

    @cached_property
    def result(self) -> Reconciliation | None:
        """The checkpoint joined with its prediction; None if it cannot be read."""
        if self.checkpoint is None or not any(is_readable(header) for header in self.headers):
            return None
        return reconcile(self.checkpoint, analogy=False)

    @property
    def results(self) -> tuple[Reconciliation, ...]:
        """The checkpoint's reconciliation, and those of further ones."""
        _ = self.of_other_sets  # joins them
        return (*((self.result,) if self.result else ()), *self._others)

    @property
    def incomplete(self) -> bool:
        """Whether some of the checkpoint's tensors were not read, and this is reported."""
        found = self.checkpoint.findings if self.checkpoint else ()
        absent = any(each.severity == "error" or each.rule == "lone-shard" for each in found)
        return absent or any(each.rule == "header-size" for each in self.findings)

    @property
    def config(self) -> Config | None:
        """The configuration that was found, not one inferred."""
        return self.checkpoint.config if self.checkpoint else None

    @property
    def index(self) -> Index | None:
        """The index that assigns the checkpoint's tensors to its files."""
        return self.checkpoint.index if self.checkpoint else None

    @cached_property
    def folder(self) -> str:
        """Where the checkpoint's files are within the place: "" or ending in "/"."""
        paths: Iterable[str] = (header.path for header in self.headers)
        return next((path.rpartition("/")[0] + "/" for path in paths if "/" in path), "")


def is_readable(header: Header) -> bool:
    """Whether the file's header could be read."""
    return all(region.label != "unreadable" for region in header.regions)


def _main_of(checkpoint: Checkpoint) -> str | None:
    """The loose file that represents the folder, if its files are separate models.

    The one that best matches the configuration, or the largest. None if the files form one model: a single file,
    shards, ranks' parts, or pieces that match the configuration or the names in them only together.
    """
    files = checkpoint.files
    if not 1 < len(files) <= MOST_LOOSE or checkpoint.index is not None or not all(map(_is_loose, files)):
        return None
    if sum(header.bytes_in("header") for header in files) > MOST_LOOSE_BYTES:
        return None
    if _are_pieces(checkpoint):
        return None
    by_fit = {header.path: _fit(checkpoint, (header,), checkpoint.config) for header in files}
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
    if checkpoint.config is not None and _is_whole(_reconciled(checkpoint, checkpoint.files, checkpoint.config)):
        return True
    return not any(_is_whole(_reconciled(checkpoint, (header,), None)) for header in checkpoint.files)


def _reconciled(checkpoint: Checkpoint, files: Sequence[Header], config: Config | None) -> Reconciliation:
    own = Checkpoint(checkpoint.target, checkpoint.name, checkpoint.origin, tuple(files), config, findings=())
    return reconcile(own, analogy=False)


def _is_whole(result: Reconciliation) -> bool:
    """Whether the files are exactly what is predicted."""
    return result.prediction is not None and not result.unexplained and not _mismatches(result)


def _mismatches(result: Reconciliation) -> int:
    return sum(step.tensors for step in result.steps if step.cause in _MISMATCHES)


def _fit(checkpoint: Checkpoint, files: Sequence[Header], config: Config | None) -> float:
    """The share of the files' tensors that a configuration explains."""
    number = sum(len(header.tensors) for header in files)
    if config is None or not number:
        return 0.0
    result = _reconciled(checkpoint, files, config)
    if result.prediction is None:
        return 0.0
    return max(0.0, 1 - (len(result.unexplained) + _mismatches(result)) / number)


def _config_of(checkpoint: Checkpoint, files: Sequence[Header], place: Place) -> Config | None:
    """The configuration of further files in the folder: one with their name, or the common one if it matches."""
    stems = (shard.stem if (shard := shard_of(header.path)) else header.path.rpartition(".")[0] for header in files)
    named = _named_like(place, dict.fromkeys(stems))
    if named is not None:
        return named
    common = checkpoint.config
    return common if common is not None and _fit(checkpoint, files, common) >= FITS else None


def _with_own_config(place: Place, found: Checkpoint) -> Checkpoint:
    """A checkpoint that lies among others: a loose file's configuration is the one with its name, or the common one."""
    if found.config is None or found.config.kind != "config.json" or not all(map(_is_loose, found.files)):
        return found
    if any(header.path.rpartition("/")[2].partition(".")[0] in USUAL for header in found.files):
        return found
    return found._replace(config=_config_of(found, found.files, place))


def _named_like(place: Place, stems: Iterable[str]) -> Config | None:
    """A configuration named after a weight file."""
    for stem in stems:
        for end in _CONFIG_SUFFIXES:
            if stem + end in place.files:
                try:
                    config = configs.parse(place.read_text(stem + end, configs.MAX_CONFIG), stem + end)
                except InspectorError:
                    continue
                if config.model_type is not None:
                    return config
    return None
