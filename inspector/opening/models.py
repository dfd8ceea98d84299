"""Which checkpoints are in a folder: the one definition, for the overview, the audit, tables of models and scans.

    models/llama/                        one, "llama"; `pytorch_model.bin` beside the shards is a copy of it
    models/qwen/Qwen-Q4_K_M.gguf, …      one per file: "qwen/Qwen-Q4_K_M.gguf"
    models/run/checkpoint-500, …         one per step
    models/whisper/model.bin             one that is not read: CTranslate2

Each has a name that can be typed: its folder, or its first file where the folder has several. A copy is not a row: it
is called one by evidence from the headers (`copies`). Projectors, drafts and a run's state accompany a checkpoint.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache

from inspector import formats
from inspector.errors import InspectorError
from inspector.formats import foreign
from inspector.model import Copy, Variant
from inspector.opening.copies import Headers, evidence
from inspector.opening.index import MAX_INDEX
from inspector.opening.selection import STEP, kind_of, select
from inspector.opening.variants import INDEXES_OF_PARTS, variants
from inspector.sources import Place
from inspector.sources.filenames import (
    COLLECTED,
    COLLECTIVE,
    INDEX,
    OTHERS,
    PICKLE,
    PICKLED,
    PICKLED_INDEX,
    TYPE,
    WEIGHTS,
    rank_of,
    shard_of,
)
from inspector.tabular import NamedTuple

#: Names that do not identify the model: its folder's name does.
USUAL = ("model", "pytorch_model", "diffusion_pytorch_model", "adapter_model", "consolidated", "flax_model", "tf_model")
#: Files beside weights that make the folder one model's.
_CONFIGS = ("config.json", "params.json", "adapter_config.json", "model" + INDEX, "pytorch_model" + PICKLED_INDEX)
#: Those with which a subfolder is a model of its own.
_OWN = ("config.json", "adapter_config.json", "trainer_state.json")
#: Loose files whose headers are read to decide whether they are pieces of one model.
MOST_LOOSE = 64
#: How many times larger a copy in F32 may be than weights of some 4 bits, and what its own header may take.
_LARGER, _HEADERS = 8, 1 << 18
#: Words in the name of a copy of the same weights: averaged, without what training needs, in another precision.
_WORDS = re.compile(r"[-._]?(?:ema[-_]?only|non[-_]ema|ema|pruned|half)(?=$|[-._])", re.IGNORECASE)
_BLOBS = re.compile(r"(?:.*/)?models--[^/]+/blobs/")
#: Suffixes of weights that are read.
_READ = (*WEIGHTS, *PICKLED, *OTHERS)
#: Suffixes of files that make a folder without readable weights a model's: damaged, partial, or of another format.
_MARKS = (
    *_READ,
    *foreign.SUFFIXES,
    *(".index.json", COLLECTED, "adapter_config.json", *INDEXES_OF_PARTS),
)
#: Suffixes of weights that are still being downloaded, or were numbered: `model.safetensors.tmp`.
_UNFINISHED = re.compile(rf"(?:{'|'.join(map(re.escape, WEIGHTS))})[.-]\w+$", re.IGNORECASE)


class Found(NamedTuple):
    """One checkpoint of a folder."""

    name: str  # what to type for it within the folder; "" for the folder itself
    home: str  # the folder that it is in, "" or without a trailing slash
    paths: tuple[str, ...]  # its weight files, those that are read; none if there is only an index or a configuration
    copies: tuple[Copy, ...] = ()
    foreign: str | None = None  # the name of its format, if it is one that is not read
    model: str = ""  # the name without types: equal for the quantizations of one model

    @property
    def step(self) -> int | None:
        """The number of a step of a training run; None if it is not one."""
        found = re.fullmatch(STEP, self.home.rpartition("/")[2])
        return int(found[1]) if found else None


def is_one(found: Sequence[Found]) -> bool:
    """Whether a folder is one model's, whose overview is shown: others in it are its copies, steps or quantizations."""
    if len(found) < 2 or any(not each.name and each.foreign is None for each in found):
        return True
    readable = [each for each in found if each.foreign is None]
    if len(readable) < len(found) or not readable:
        return False
    if all(each.step is not None for each in readable):
        return len({each.home.rpartition("/")[0] for each in readable}) == 1
    return len({(each.home, each.model) for each in readable}) == 1  # quantizations


def checkpoints_in(place: Place, may_read: Callable[[str], bool] = lambda _: True) -> tuple[Found, ...]:
    """Every checkpoint of a place, the main one of each folder first.

    Reads first bytes, and the headers of files that may be copies or pieces.

    Args:
        may_read: whether a file may be opened; one that may not is neither a copy nor of another format.
    """
    found = _Search(place, may_read).found()
    alone = _of_a_run(place) if not found else None
    return alone or tuple(found)


def _of_a_run(place: Place) -> tuple[Found, ...]:
    """The one checkpoint of a place whose weights are among a run's state, as ranks write them."""
    if not any(path.endswith(("_states.pt", COLLECTED, COLLECTIVE)) for path in place.files):
        return ()
    try:
        return (Found("", "", select(place).paths),)
    except InspectorError:
        return ()


def marks_a_model(name: str) -> bool:
    """Whether a file of this name may be a model's weights, whole, partial or damaged, or lists them."""
    return name.lower().endswith(_MARKS) or _UNFINISHED.search(name) is not None


class _Search:
    """The checkpoints of one place."""

    def __init__(self, place: Place, may_read: Callable[[str], bool]) -> None:
        self._place, self._may_read = place, may_read
        self._files = {path: size for path, size in place.files.items() if not _BLOBS.match(path)}
        self._headers = Headers(place, may_read)
        self._foreign: dict[str, str] = {}  # path → the name of its format
        self._weights: Collection[str] = ()  # files that are read
        self._is_torch = cache(self._begins_as_torch)

    def found(self) -> list[Found]:
        """All of them, unordered."""
        by_home = self._by_home(self._candidates())
        rows: dict[str, list[Found]] = {}
        for home in sorted(by_home):  # a folder before those in it
            rows[home] = self._rows_of(home, by_home[home], rows)
        models = {home for home, own in rows.items() if own and self._is_a_models(home, own)}
        others = self._others(
            models, {each.rpartition("/")[0] for own in by_home.values() for v in own for each in v.paths}
        )
        found = [each for own in rows.values() for each in own]
        homes = [each.home for each in (*found, *others)]
        return [self._with_name(each, homes, models) for each in found] + [
            self._with_name(each, homes, models) for each in others
        ]

    # --- candidates

    def _candidates(self) -> list[Variant]:
        """Every set of weight files that a loader may take, by names and first bytes."""
        files = {path: size for path, size in self._files.items() if self._is_weight(path)}
        self._weights = files.keys()
        native = (*WEIGHTS, *PICKLED, PICKLE)
        models = {path.rpartition("/")[0] for path in files if path.endswith(native) and self._is_usual(path)}
        files = {path: size for path, size in files.items() if path.endswith(native) or not _is_in(path, models)}
        return list(variants(files, (*native, *OTHERS)))

    def _is_usual(self, path: str) -> bool:
        """Whether a file's name or a configuration beside it shows that its folder is one model's."""
        folder, _, name = path.rpartition("/")
        start = f"{folder}/" if folder else ""
        return bool(
            name.partition(".")[0] in USUAL
            or shard_of(path)
            or any(start + each in self._files for each in (*_CONFIGS, *INDEXES_OF_PARTS))
        )

    def _is_weight(self, path: str) -> bool:
        kind = kind_of(path)
        if path.endswith(PICKLE):
            return kind != "state" and _begins_as_torch_does(self._head(path))
        if not path.endswith(_READ):
            return False
        if path.endswith(WEIGHTS):
            own = f"{path.rpartition('/')[0]}/config.json".lstrip("/") in self._files
            return kind in ("duplicate", "adapter") or (kind in ("draft", "prediction head") and own and "/" in path)
        if path.endswith(PICKLED):
            return kind == "pickle" and self._is_torch(path)
        return path.rpartition("/")[2] != "optimizer.npz"

    def _begins_as_torch(self, path: str) -> bool:
        """Whether a file of PyTorch's suffixes is PyTorch's, or was to be: a damaged one keeps its usual name."""
        head = self._head(path)
        if self._foreign_of(path, head):
            return False
        if head[:4] == b"GGUF" or _begins_as_torch_does(head):
            return True
        if head.startswith((b"sys_info", b"storages", b"tensors\0", b"pickle\0\0")):  # a tar archive
            return True
        name = path.rpartition("/")[2]
        known = formats.impostor(head)
        return name.startswith(USUAL) or not head or (known is not None and known[0] in ("lfs-pointer", "html-page"))

    def _foreign_of(self, path: str, head: bytes | None = None) -> str | None:
        if path not in self._foreign:
            known = foreign.foreign_of(path, self._head(path) if head is None else head, self._files)
            self._foreign[path] = known.name if known else ""
        return self._foreign[path] or None

    def _head(self, path: str) -> bytes:
        if not self._may_read(path):
            return b""
        try:
            with closing(self._place.open(path)) as source:
                return source.read(0, min(source.size, foreign.HEAD))
        except InspectorError:
            return b""

    # --- homes

    def _by_home(self, found: Sequence[Variant]) -> dict[str, list[Variant]]:
        """The candidates of each folder; a pipeline's parts are its own, and an index's shards in subfolders."""
        wholes = {path.rpartition("/")[0] for path in self._files if path.rpartition("/")[2] in INDEXES_OF_PARTS}
        indexed = self._indexed({each.paths[0].rpartition("/")[0] for each in found})
        homes: defaultdict[str, list[Variant]] = defaultdict(list)
        for each in found:
            folder = each.paths[0].rpartition("/")[0]
            home = next((above for above in _above(folder) if above in wholes), indexed.get(folder, folder))
            step = next((above for above in _above(folder) if re.fullmatch(STEP, above.rpartition("/")[2])), None)
            homes[step if step is not None and len(step) > len(home) else home].append(each)
        return homes

    def _indexed(self, folders: Collection[str]) -> dict[str, str]:
        """Folder with shards of an index above it → the index's folder."""
        homes: dict[str, str] = {}
        indexes = [path for path, size in self._files.items() if path.endswith(INDEX) and size <= MAX_INDEX]
        for path in indexes:
            folder = path.rpartition("/")[0]
            start = f"{folder}/" if folder else ""
            if not any(each != folder and each.startswith(start) for each in folders):
                continue
            try:
                raw = self._place.read_bytes(path, MAX_INDEX)
            except InspectorError:
                continue
            for inner in {each[1].decode("utf-8", "replace") for each in _IN_FOLDER.finditer(raw)}:
                homes[start + inner.rstrip("/")] = folder
        return homes

    # --- rows

    def _rows_of(self, home: str, found: Sequence[Variant], above: Mapping[str, list[Found]]) -> list[Found]:
        """The checkpoints of one folder; what is a copy is added to what it is a copy of."""
        start = f"{home}/" if home else ""
        if any(start + name in self._files for name in INDEXES_OF_PARTS):
            loose = self._beside_parts(home, found)
            rows = [self._pipeline(home, [each for each in found if each not in loose])]
            return rows + [row._replace(home=row.paths[0]) for row in self._apart(home, loose)]
        if any(each.paths[0].rpartition("/")[0] != home for each in found) and not any(
            each.paths[0].rpartition("/")[0] == home for each in found
        ):
            return [_row(home, found[0], tuple(path for each in found for path in each.paths))]
        if self._are_pieces(found):
            return [_row(home, found[0], tuple(path for each in found for path in each.paths))]
        rows = self._apart(home, found)
        if home and len(rows) == 1 and not any(start + name in self._files for name in _OWN):
            parent = next((each for each in list(_above(home))[1:] if above.get(each)), None)
            if (
                parent is not None
                and not rows[0].step
                and self._is_copy_of(found[0], above[parent], standard=self._is_a_models(parent, above[parent]))
            ):
                return []
        return rows

    def _apart(self, home: str, found: Sequence[Variant]) -> list[Found]:
        """A row for each candidate that is not a copy of another, nor accompanies the first."""
        rows: list[Found] = []
        for each in self._main_first(home, found):
            if self._is_leftover(each, rows):
                continue
            standard = bool(rows) and self._is_a_models(home, rows[:1])
            if not self._is_copy_of(each, rows, standard=standard) and not (
                standard and self._accompanies(each, rows[0])
            ):
                rows.append(_row(home, each, each.paths))
        return rows

    def _beside_parts(self, home: str, found: Sequence[Variant]) -> list[Variant]:
        """Single files beside the folders of a pipeline's parts, as Stable Diffusion is published; none if all are."""
        listed = f"{home}/{INDEXES_OF_PARTS[0]}".lstrip("/") in self._files
        beside = [each for each in found if listed and each.paths[0].rpartition("/")[0] == home]
        return beside if len(beside) < len(found) else []

    def _accompanies(self, each: Variant, main: Found) -> bool:
        """Whether weights beside a model are not one: an adapter of it, or a file that its index does not name."""
        if kind_of(each.paths[0]) == "adapter":
            return kind_of(main.paths[0]) != "adapter"
        start = f"{main.home}/" if main.home else ""
        index = (path for path in self._files if path.startswith(start) and path.endswith(INDEX))
        indexed = any("/" not in path[len(start) :] for path in index)
        return indexed and each.format == "safetensors" and shard_of(each.paths[0]) is None

    def _is_leftover(self, each: Variant, rows: Sequence[Found]) -> bool:
        """Whether a set of shards is what remains of an earlier save of a checkpoint, in another number of files."""
        own = shard_of(each.paths[0])
        if own is None or own.is_complete(self._files):
            return False
        sets = (shard_of(row.paths[0]) for row in rows)
        return any(other is not None and other.stem == own.stem and other.suffix == own.suffix for other in sets)

    def _main_first(self, home: str, found: Sequence[Variant]) -> list[Variant]:
        """The candidates of a folder, those that the folder's loader takes first: safetensors before PyTorch's own."""
        direct = sorted(found, key=lambda each: (each.paths[0].endswith((*PICKLED, PICKLE)), each.format == "gguf"))
        single = f"{home}/model.safetensors".lstrip("/")
        return sorted(direct, key=lambda each: each.paths != (single,))

    def _is_copy_of(self, each: Variant, rows: list[Found], *, standard: bool) -> bool:
        """Whether a candidate is a copy of one of the rows, to which it is added."""
        plain, anyway = _plain(each), standard and _may_be_copy(each)
        for at, row in enumerate(rows):
            both_gguf = each.format == "gguf" and row.paths[0].endswith(".gguf")
            alike = plain == row.model or (at == 0 and anyway)
            size = sum(self._files.get(path, 0) for path in row.paths)
            if each.size > _LARGER * size + _HEADERS:
                continue
            if both_gguf or not alike or kind_of(each.paths[0]) == "adapter" != kind_of(row.paths[0]):
                continue
            if what := evidence(self._headers.contents(row.paths), self._headers.contents(each.paths)):
                copy = Copy(each.paths, each.size, row.home or ".", what)
                rows[at] = row._replace(copies=(*row.copies, copy))
                return True
        return False

    def _pipeline(self, home: str, found: Sequence[Variant]) -> Found:
        """The parts of a pipeline as one checkpoint, with the copies of each part."""
        parts: defaultdict[str, list[Variant]] = defaultdict(list)
        for each in found:
            parts[each.paths[0].rpartition("/")[0]].append(each)
        rows = [row for folder, own in sorted(parts.items()) for row in self._part(folder, own)]
        paths = tuple(path for row in rows for path in row.paths)
        copies = tuple(copy._replace(of=home or ".") for row in rows for copy in row.copies)
        return Found(home, home, paths, copies)

    def _part(self, folder: str, own: Sequence[Variant]) -> list[Found]:
        rows: list[Found] = []
        for each in self._main_first(folder, own):
            if not self._is_copy_of(each, rows, standard=bool(rows)):
                rows.append(_row(folder, each, each.paths))
        return rows

    def _are_pieces(self, found: Sequence[Variant]) -> bool:
        """Whether loose files of one folder are pieces: no two hold a tensor of the same name. Reads headers."""
        loose = all(each.format == "safetensors" and each.paths == (f"{each.name}.safetensors",) for each in found)
        if not 1 < len(found) <= MOST_LOOSE or not loose or len({each.model for each in found}) < len(found):
            return False
        if any(each.name.rpartition("/")[2] in USUAL or shard_of(each.paths[0]) for each in found):
            return False
        seen: set[object] = set()
        for each in found:
            contents = self._headers.contents(each.paths)
            if contents is None or not seen.isdisjoint(contents.names):
                return False
            seen |= contents.names.keys()
        return True

    def _is_a_models(self, home: str, rows: Sequence[Found]) -> bool:
        """Whether a folder is one model's, by a configuration or by the names of the files in it."""
        first = rows[0].paths[0] if rows and rows[0].paths else ""
        return self._is_usual(f"{home}/{first.rpartition('/')[2]}".lstrip("/"))

    def _with_name(self, row: Found, homes: Sequence[str], models: Collection[str]) -> Found:
        """A row with its name: its folder if that stands for it alone, else its first file."""
        start = f"{row.home}/" if row.home else ""
        alone = homes.count(row.home) == 1
        lowest = row.home in models or not any(each != row.home and each.startswith(start) for each in homes)
        return row._replace(name=row.home if (alone and lowest) or not row.paths else row.paths[0])

    # --- what is not read

    def _others(self, taken: Collection[str], filled: Collection[str]) -> list[Found]:
        """Weights in formats that are not read, and what marks a model without weights, outside the models' folders.

        Args:
            taken: folders that are one model's, with all that is below them but an index of weights that are absent.
            filled: folders with weights that are read.
        """
        marked: defaultdict[str, list[str]] = defaultdict(list)
        read = {path.rpartition("/")[0] for path in self._weights}
        for path in filter(marks_a_model, self._files):
            folder = _folder_of(path)
            absent = path.endswith(INDEX) and folder not in filled and folder not in taken
            if absent or not any(above in taken for above in _above(folder)):
                marked[folder].append(path)
        return [row for folder, paths in marked.items() for row in self._foreign_rows(folder, paths, folder in read)]

    def _foreign_rows(self, folder: str, paths: Sequence[str], read: bool) -> list[Found]:
        groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path in paths:
            if path in self._weights:
                continue
            name = self._foreign_of(path)
            if name is not None:
                groups[name, _set_of_foreign(name, path)].append(path)
        rows = [Found("", folder, tuple(sorted(own, key=_data_last)), (), name) for (name, _), own in groups.items()]
        return rows or ([] if read else [Found("", folder, ())])


#: A file in a folder, in an index's map. The map is not parsed, because it rarely names any.
_IN_FOLDER = re.compile(rb':\s*"([^"\\/.][^"\\]*/)[^"\\/]+\.safetensors"')
#: Formats whose files in one folder are one model, or one program's data.
_TOGETHER = ("TensorFlow.js", "TensorFlow", "CoreML", "pickle")


def _begins_as_torch_does(head: bytes) -> bool:
    from inspector.formats.pytorch import legacy  # only where there are such files

    return legacy.begins(head)


def _set_of_foreign(name: str, path: str) -> str:
    """Equal for the files of one model in a format that is not read."""
    if name in _TOGETHER:
        return ""
    stem = path.rpartition("/")[2].partition(".")[0]
    return "" if name == "ONNX" and path.lower().endswith(("_data", ".data")) else stem if name != "ONNX" else ""


def _data_last(path: str) -> tuple[bool, str]:
    return path.lower().endswith(("_data", ".data")), path


#: Core ML's name for a folder that is one model.
PACKAGE = re.compile(r"[^/]+\.(?:mlpackage|mlmodelc)")
#: The same in a path, and a SavedModel's variables.
_PACKAGED = re.compile(rf"(?:(.*?)/)?{PACKAGE.pattern}/.*|(?:(.*)/)?variables/variables\.[^/]*")


def _folder_of(path: str) -> str:
    """The folder that a file is in; that of the package which it is a part of."""
    found = _PACKAGED.fullmatch(path)
    return path.rpartition("/")[0] if found is None else found[1] or found[2] or ""


def _row(home: str, each: Variant, paths: tuple[str, ...]) -> Found:
    return Found("", home, paths, model=_plain(each))


def _plain(each: Variant) -> str:
    """The name without types and other words for a copy: equal for copies of one model."""
    folder, _, last = each.name.rpartition("/")
    last = _WORDS.sub("", TYPE.sub("", last)).strip("-._") or "model"
    last = "model" if last in ("consolidated", "pytorch_model") else last
    return f"{folder}/{last}"


def _may_be_copy(each: Variant) -> bool:
    """Whether a file beside a model may hold it once more whatever its name: it has a usual one, or is a conversion."""
    last = each.name.rpartition("/")[2]
    return (
        each.format == "gguf"
        or last.partition(".")[0] in USUAL
        or bool(shard_of(each.paths[0]) or rank_of(each.paths[0]))
        or _WORDS.search(last) is not None
        or each.format == "pytorch"
    )


def _is_in(path: str, folders: Collection[str]) -> bool:
    return any(above in folders for above in _above(path.rpartition("/")[0]))


def _above(folder: str) -> Iterator[str]:
    """A folder and all above it, the place itself last."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
