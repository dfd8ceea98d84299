"""One model as the rules see it: its files, its checkpoint, and small documents, each read once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector import formats
from inspector.auditing import loose
from inspector.bridge.reconciliation import reconcile
from inspector.errors import InspectorError, TargetError
from inspector.model import Checkpoint, Config, Finding, Header, Reconciliation, Variant
from inspector.opening import checkpoint as checkpoints
from inspector.opening import configs, gguf_splits, selection
from inspector.opening import variants as grouping
from inspector.opening import weight_index as indexes
from inspector.sources import Place, Source
from inspector.sources.filenames import INDEX, PICKLED, WEIGHTS, shard_of
from inspector.sources.listing import Entry
from inspector.sources.local import LocalPlace
from inspector.sources.narrowed import Narrowed
from inspector.units import integer

if TYPE_CHECKING:
    from inspector.auditing.numbers.passing import Measured

#: Limits on what an audit reads, far above real models: a hostile input must not take seconds.
MAX_HEADER = 16 * 1024 * 1024  # 92,000 tensors in one file take 12 MB
MAX_TENSORS = 20_000  # in one GGUF, in which experts are stacked: real ones have 3,000
MAX_DOCUMENT = configs.MAX_CONFIG  # configurations, tokenizer_config.json
MAX_DOCUMENTS = 16 * 1024 * 1024  # all of them together
KEPT_DOCUMENTS = 16  # parsed ones that are kept for the next rule
MAX_FILES = 10_000  # of one model; the largest published ones have about 1,000
START = 64  # first bytes of a file, which identify it for many rules: read once
MAX_EXTRA = 500  # weight files in addition to the checkpoint's own
#: What `selection.kind_of` calls weights that their names do not show to be an accessory.
_WEIGHTS_OF_A_MODEL = "duplicate"


class Subject:
    """A model's files and their contents. Nothing is read before a rule needs it, or twice."""

    def __init__(
        self,
        place: Place,
        listed: Sequence[Entry],
        target: str,
        root: str | None = None,
        cache_name: str | None = None,
        members: frozenset[str] | None = None,
    ) -> None:
        """
        Args:
            members: if the target names a shard, the files of its set.
        """
        self.target = target
        self.root = root  # the base of relative paths; None if it is not on this machine
        self.config_named: Path | None = None  # the user's replacement for the configuration next to the weights
        self.cache_name = cache_name  # `org/name` of a repository in the Hub's cache
        self.by_path: Mapping[str, Entry] = {entry.path: entry for entry in listed}
        self.findings: list[Finding] = []  # found while the files are read
        self.apart: str | None = None  # the selected one of several files that are separate models
        one = place.selected is not None and not place.selected.endswith(INDEX)
        #: The one file that the target names; None for a folder, and for a set of shards.
        self.alone = place.selected if one and members is None else None
        #: The one file, or set of shards, that the target names; empty for a whole folder, or an index's.
        self.members = members or (frozenset({self.alone}) if self.alone else frozenset[str]())
        #: The files that the rules examine. Siblings of a single-file target may be read but are not audited.
        self.entries = self._few_of([entry for entry in listed if not self.members or entry.path in self.members])
        self._beyond_few = set[str]() if one else self.by_path.keys() - {entry.path for entry in self.entries}
        self._lower = [(entry.name.lower(), entry) for entry in self.entries]
        self._starts: dict[str, bytes] = {}
        self.measured: Measured | None = None  # the properties of the data, if it was read
        self._others: list[Reconciliation] = []  # further checkpoints in the folder, joined with their predictions
        self.memo: dict[str, Any] = {}  # results of one rule that another needs, too
        self._whole = place
        #: What loaders see: without hidden files. A set of shards is selected by the names of its files.
        self.place: Place = Narrowed(place, self.readable, selected=bool(self.alone) or not one)

    # --- weights --------------------------------------------------------------------------------

    def readable(self, path: str) -> bool:
        """Whether a file is of this model, and of the kind that an audit reads."""
        entry = self.by_path.get(path)
        if entry is None or entry.kind != "file" or entry.outside:
            return False
        beside = bool(self.members) and path not in self.members and path.endswith((*WEIGHTS, ".index.json"))
        return not beside and path not in self._beyond_few

    def _few_of(self, entries: list[Entry]) -> list[Entry]:
        """As many files as are examined, weights and small documents first; the others are reported."""
        if len(entries) <= MAX_FILES:
            return entries
        ends = (*WEIGHTS, ".json")
        what = f"{integer(len(entries))} files, of which {integer(MAX_FILES)} were examined: the others are not judged"
        self.findings.append(Finding("many-files", "error", what))
        return sorted(entries, key=lambda entry: (not entry.path.endswith(ends), entry.path.count("/")))[:MAX_FILES]

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """The weight files that a loader would select, with their configuration; None if there are none."""
        place = Narrowed(self.place, self._small_enough)
        try:
            found = checkpoints.examine(place, self.target, self.config_named)
        except TargetError:
            self._without_weights(place)
            return None
        main = None if self.members else loose.main_of(found)
        return found if main is None else self._alone(place, found, main)

    def _alone(self, place: Place, together: Checkpoint, main: str) -> Checkpoint:
        """The selected one of several files that are separate models; the others are examined as further ones."""
        others = {header.path for header in together.files} - {main}
        what = f"{integer(len(others) + 1)} models in one folder, each in a file of its own: each is judged by itself"
        self.findings.append(Finding("several-checkpoints", "info", what, main))
        self.apart = main
        found = checkpoints.examine(Narrowed(place, lambda path: path not in others), self.target, self.config_named)
        named = None if self.config_named else loose.named_like(place, [main.rpartition(".")[0]])
        return found if named is None else found._replace(config=named)

    def _without_weights(self, place: Place) -> None:
        """The files that an index, including one of pickles, lists."""
        for path in sorted(place.files):
            if path.endswith(".index.json"):
                try:
                    self.findings += selection.by_index(place, path, required=False).findings
                except InspectorError as error:
                    self.findings.append(Finding("index", "error", str(error), path))

    def _small_enough(self, path: str) -> bool:
        """Whether a file is within the audit's bounds. A larger file is reported and then ignored."""
        size = self.place.files[path]
        if (
            path.endswith(PICKLED) and path != self._whole.selected
        ):  # common in other programs, where such files are sound
            from inspector.formats.pytorch.reader import is_pytorch  # only if there is one to check

            with self.reading(path) as read:
                return is_pytorch(read, size)
        if path.endswith(".index.json"):
            return self._within(path, size, indexes.MAX_INDEX, "index")
        if path.rsplit("/", 1)[-1] in configs.FILES:
            return self._within(path, size, MAX_DOCUMENT, "config")
        if path.endswith(WEIGHTS):
            first = self.head(path, 16)
            if first[:4] in (b"GGUF", b"FUGG"):
                return self._few_enough(path, min(int.from_bytes(first[8:], order) for order in ("little", "big")))
            length = int.from_bytes(first[:8], "little")
            if length <= min(size, 100_000_000):  # the reader reports an impossible header
                return self._within(path, length, MAX_HEADER, "header-size")
        return True

    def _few_enough(self, path: str, tensors: int) -> bool:
        """Whether a GGUF's tensor count is worth reading; its reader reports counts that exceed the file."""
        if MAX_TENSORS < tensors < self.by_path[path].size:
            what = f"{integer(tensors)} tensors, where no sound file needs {integer(MAX_TENSORS)}: not judged"
            self.findings.append(Finding("header-size", "error", what, path))
            return False
        return True

    def _within(self, path: str, size: int, limit: int, rule: str) -> bool:
        if size > limit:
            what = f"{integer(size)} bytes, where no sound one needs {integer(limit)}: not judged"
            self.findings.append(Finding(rule, "error", what, path))
        return size <= limit

    def give_up(self) -> None:
        """Read nothing more: what is not read by now stands as if it were not there."""
        own = vars(self)
        for name, nothing in (("checkpoint", None), ("result", None), ("extra", ()), ("of_other_sets", ())):
            own.setdefault(name, nothing)

    @cached_property
    def extra(self) -> tuple[Header, ...]:
        """Weight files in addition to the checkpoint's own: damage in them is reported as well."""
        taken = {header.path for header in self.headers}
        skipped = {finding.path for finding in self.findings}
        others = [
            entry.path
            for entry in self.entries
            if entry.path in self.place.files
            and entry.path.endswith(WEIGHTS)
            and entry.path not in taken
            and entry.path not in skipped
        ]
        headers = []
        if len(others) > MAX_EXTRA:
            what = f"{integer(len(others) - MAX_EXTRA)} weight files beside the first {integer(MAX_EXTRA)}: not judged"
            self.findings.append(Finding("not-judged", "error", what, sorted(others)[MAX_EXTRA]))
        for path in sorted(others)[:MAX_EXTRA]:
            try:
                with closing(self.place.open(path)) as source:
                    headers.append(formats.read(source, path))
            except InspectorError as error:
                self.findings.append(checkpoints.finding_of(error, path))
        return tuple(headers)

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
        read = {header.path: header for header in self.extra if _readable(header)}
        main = {each.model for each in grouping.variants({path: self.place.files[path] for path in own})}
        for variant in grouping.variants({path: size for path, size in self.place.files.items() if path not in own}):
            shard = shard_of(variant.paths[0])
            if shard is not None and shard.stem in stems:  # leftovers, which a separate rule reports
                continue
            absent = selection.absent_shards(variant.paths)
            yield from absent
            parts = [read[path] for path in variant.paths if path in read]
            if any("split.count" in header.metadata for header in parts):
                yield from gguf_splits.check(parts)
            if not absent and parts and len(parts) == len(variant.paths):
                yield from self._compared(variant, parts, of_main=variant.model in main)

    def _compared(self, variant: Variant, parts: Sequence[Header], *, of_main: bool) -> Iterator[Finding]:
        """The bridge's findings on a further checkpoint, by its own configuration, or by its tensors if it has none.

        Files in other folders may belong to anything.
        """
        config = self.config if of_main and variant.format == "safetensors" else None
        if variant.format == "gguf":
            from inspector.opening import gguf_config  # contains knowledge needed only for GGUF files

            config = gguf_config.config_of(tuple(parts))
            if config is None:
                return
        elif config is None:
            beside = all(header.path.rpartition("/")[0] + "/" in ("/", self.folder) for header in parts)
            if self.checkpoint is None or not beside or selection.kind_of(variant.paths[0]) != _WEIGHTS_OF_A_MODEL:
                return
            config = loose.config_of(self.checkpoint, parts, self.place)
        known = {finding for header in parts for finding in header.findings}
        whole = Checkpoint(self.target, variant.name, self.place.origin(), tuple(parts), config)
        result = reconcile(whole)
        self._others.append(result)
        for finding in result.findings:
            if finding.severity != "info" and finding not in known:
                yield finding if finding.path else finding._replace(path=variant.paths[0])

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
        if self.checkpoint is None or not any(_readable(header) for header in self.headers):
            return None
        return reconcile(self.checkpoint)

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

    # --- other files ----------------------------------------------------------------------------

    def named(self, *ends: str) -> Iterator[Entry]:
        """Entries whose lower-case name has one of these suffixes."""
        return (entry for name, entry in self._lower if name.endswith(ends))

    def head(self, path: str, length: int) -> bytes:
        """A file's first bytes, fewer of a shorter one; none of a file that cannot be read."""
        if length > START:
            return self.span(path, 0, length)
        if path not in self._starts:
            self._starts[path] = self.span(path, 0, START)
        return self._starts[path][:length]

    def names_in(self, folder: str) -> frozenset[str]:
        """Names of the entries of a subfolder, including one that is a separate model."""
        own = frozenset(path[len(folder) + 1 :] for path in self.by_path if path.startswith(folder + "/"))
        if own or self.root is None or ".." in folder or "\0" in folder or folder.startswith("/"):
            return own
        try:
            return frozenset(os.listdir(os.path.join(self.root, folder)))  # noqa: PTH118, PTH208  a string is at hand
        except (OSError, ValueError):  # absent, or not encodable in the system's file names
            return own

    def folders_in(self, folder: str) -> frozenset[str]:
        """Names of the subfolders of a folder of a local target, given as in entries: "" or ending in "/"."""
        try:
            with os.scandir(os.path.join(self.root or "", folder)) as found:  # noqa: PTH118  a string is at hand
                return frozenset(each.name for each in found if each.is_dir(follow_symlinks=False))
        except (OSError, ValueError):
            return frozenset()

    def names_beside(self, entry: Entry) -> frozenset[str]:
        """Names in a file's own folder."""
        return self.names_in(entry.folder.rstrip("/")) if entry.folder else frozenset(self.by_path)

    @property
    def is_local(self) -> bool:
        """Whether the files are on this machine."""
        return isinstance(self._whole, LocalPlace)

    def on_disk(self, path: str) -> Path | None:
        """The location of a file of the model; None if it is not local, or must not be read."""
        full = self._full(path)
        return None if full is None else Path(full)

    def _full(self, path: str) -> str | None:
        if not isinstance(self._whole, LocalPlace) or not self.readable(path):
            return None
        return self._whole.full(path)

    def refusal(self, entry: Entry) -> str | None:
        """Why a local file cannot be read as listed; None if it can."""
        full = self._full(entry.path)
        if full is None:
            return None
        try:
            size = os.stat(full).st_size  # noqa: PTH116  the same
        except OSError:
            return "it was deleted while other files were read"
        if size < entry.size:
            return "it was truncated while other files were read"
        may = os.access(full, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
        return None if may else "its permissions forbid reading"

    def span(self, path: str, start: int, length: int) -> bytes:
        """Bytes of a file from `start`; none of a file that cannot be read."""
        if not self.readable(path):
            return b""
        length = min(length, self.by_path[path].size - start)
        if length <= 0:
            return b""
        try:
            source = self._whole.open(path)
        except InspectorError:
            return b""
        try:
            return source.read(start, length)
        except InspectorError:
            return b""
        finally:
            source.close()

    @contextmanager
    def reading(self, path: str) -> Iterator[Callable[[int, int], bytes]]:
        """Reads from one file, opened once: start and length → bytes, empty if they cannot be read."""
        source: Source | None = None
        if self.readable(path):
            with suppress(InspectorError):
                source = self._whole.open(path)
        size = source.size if source else 0

        def read(start: int, length: int) -> bytes:
            length = min(length, size - start)
            if source is None or length <= 0 or start < 0:
                return b""
            try:
                return source.read(start, length)
            except InspectorError:
                return b""

        try:
            yield read
        finally:
            if source:
                source.close()

    def text(self, path: str, limit: int = MAX_DOCUMENT) -> str | None:
        """A small text file; None if it is absent, too large or not text."""
        if not self.readable(path):
            return None
        try:
            return self._whole.read_text(path, limit)
        except InspectorError:
            return None

    def document(self, path: str) -> dict[str, Any]:
        """A JSON object next to the weights; empty if it cannot be read."""
        if path not in self._documents:
            if len(self._documents) >= KEPT_DOCUMENTS:
                self._documents.pop(next(iter(self._documents)))
            entry = self.by_path.get(path)
            self._documents[path] = {} if entry is None or self.too_large(entry) else _object(self.text(path))
        return self._documents[path]

    def too_large(self, entry: Entry) -> bool:
        """Whether a document is skipped: it is larger than any real one, or exceeds the number of them."""
        return entry.kind == "file" and (entry.size > MAX_DOCUMENT or entry.path in self._beyond)

    @cached_property
    def _beyond(self) -> frozenset[str]:
        """Documents after the first `MAX_DOCUMENTS` bytes of them."""
        documents = list(self.named("config.json", "modules.json", "model_index.json", "template.json"))
        sums = accumulate(entry.size for entry in documents)
        return frozenset(entry.path for entry, total in zip(documents, sums, strict=True) if total > MAX_DOCUMENTS)

    @cached_property
    def _documents(self) -> dict[str, dict[str, Any]]:
        return {}

    @cached_property
    def folder(self) -> str:
        """Where the checkpoint's files are within the place: "" or ending in "/"."""
        paths: Iterable[str] = (header.path for header in self.headers)
        return next((path.rpartition("/")[0] + "/" for path in paths if "/" in path), "")


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = configs.loads(text) if text else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _readable(header: Header) -> bool:
    return all(region.label != "unreadable" for region in header.regions)
