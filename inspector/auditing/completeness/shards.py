"""Is everything present, and does each file's content match its name?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Header
from inspector.opening import configs
from inspector.sources.filenames import ENDS, WEIGHTS, shard_of
from inspector.sources.listing import Entry
from inspector.units import integer, plural

#: Suffixes of unfinished files: of browsers, download managers, and programs that copy between machines.
PARTIAL = (
    *(".incomplete", ".part", ".partial", ".crdownload", ".ucrdownload", ".download", ".opdownload", ".tmp", ".temp"),
    *(".downloadinprogress", ".downloading", ".inprogress", ".in-progress", ".unfinished", ".filepart", ".dltemp"),
    *(
        *(".!qb", ".!ut", ".bc!", ".jc!", ".td", ".xltd", ".fdmdownload", ".idm", ".dctmp", ".gstmp", "-partial"),
        ".uncompleted",
    ),
)
#: Suffixes of the state that a program keeps beside an unfinished file, appended to the file's name.
CONTROL = (".aria2", ".aria2__temp", ".st", ".xltd.cfg", ".td.cfg", ".bt.xltd", ".axel", ".chunks", ".bt.td")
#: Temporary names of downloads: rsync's, those of AWS with eight digits, Ollama's parts.
_TEMPORARY = re.compile(
    r"(?:.*/)?(?:\.(?P<rsync>.+)\.[A-Za-z0-9]{6}|(?P<aws>.+)\.[0-9A-Fa-f]{8}|(?P<ollama>.+-partial)-\d+|"
    r"Unconfirmed \d+\.crdownload|~(?P<tilde>.+\.tmp))"
)
_LFS = b"version https://git-lfs"
#: A pointer has three lines; real ones take about 130 bytes.
_LFS_SIZE = 1024
_HTML = re.compile(rb"(\xef\xbb\xbf)?\s*(<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
#: Companion files that are never legitimately a web page.
_DATA = (".json", ".model", ".bin", ".pt", ".pth", ".jinja", ".txt", ".tiktoken", ".onnx", ".msgpack", ".h5")


@rule("lfs-pointer", "whole", "error")
def lfs_pointer(subject: Subject) -> Iterator[Found]:
    """A file is only a git-LFS pointer.

    The repository was cloned without git-LFS, or its files were copied as they are stored in git. Run
    `git lfs pull` in the folder, or download the file itself.
    """
    for entry in subject.entries:
        if 0 < entry.size <= _LFS_SIZE and not entry.path.endswith(WEIGHTS):
            start = subject.head(entry.path, _LFS_SIZE)
            if start.startswith(_LFS):
                size = re.search(rb"^size (\d{1,15})$", start, re.MULTILINE)
                stands_for = f" for a file of {plural(int(size[1]), 'byte')}" if size else ""
                yield Found(f"a git-LFS pointer{stands_for}: run `git lfs pull` in its folder", entry.path)


@rule("html-page", "whole", "error")
def html_page(subject: Subject) -> Iterator[Found]:
    """A data file contains a web page.

    The download received a login or error page and saved it. Download the file again; a gated
    repository needs a token.
    """
    for entry in subject.named(*_DATA):
        if _HTML.match(subject.head(entry.path, 64)):
            yield Found("a web page, not the file: a login or error page was saved; download it again", entry.path)


def stands_in(start: bytes) -> bool:
    """Whether a file's first bytes are a pointer's or a web page's, for which there are separate rules."""
    return start.startswith(_LFS) or _HTML.match(start) is not None


@rule("wrong-extension", "whole", "warning")
def wrong_extension(subject: Subject) -> Iterator[Found]:
    """A weight file's name implies a different format than its bytes.

    Loaders choose the format by the name: they refuse the file, or read it as a pickle. Rename it.
    """
    for header in subject.all_headers:
        if header.tensors and not header.path.endswith(ENDS[header.format]):
            yield Found(f"the file is {header.format}, but its name says otherwise: rename it", header.path)
    for entry in subject.named(".bin", ".pt", ".pth", ".ckpt", ".model"):
        start = subject.head(entry.path, 16)
        if start[:4] == b"GGUF":
            yield Found("the file is GGUF, but its name says otherwise: rename it", entry.path)
        elif start[8:10] == b'{"' and int.from_bytes(start[:8], "little") < entry.size:
            yield Found("the file is safetensors, but its name says otherwise: rename it", entry.path)


@rule("unfinished-download", "whole", "error")
def unfinished_download(subject: Subject) -> Iterator[Found]:
    """An unfinished download.

    The tool left its temporary file, or its state beside a file that it has not finished. Run the download again. Only
    a warning if the finished file is present too: delete the remains.
    """
    for entry in subject.named(*CONTROL):
        if (name := _without(entry.path, CONTROL)) in subject.by_path and name.endswith(_ENDS):
            yield Found("left by an unfinished download of this file: run the download again", name)
        elif name.endswith(_ENDS):
            yield Found("left by an unfinished download, whose file is missing: run the download again", entry.path)
    for entry in subject.named(*PARTIAL):
        hub = re.match(r"(?:.*/)?\.cache/huggingface/download/(.+?)(?:\.[^./]+)?\.incomplete$", entry.path)
        yield _remains(subject, entry, _without(entry.path, PARTIAL), *([hub[1]] if hub else []))
    for entry in subject.entries:
        if _SCOPE in entry.path and entry.size:  # ModelScope's folder for unfinished downloads
            yield _remains(subject, entry, entry.path.replace(_SCOPE, ""))
        found = _TEMPORARY.fullmatch(entry.path) if entry.size else None
        if found and not entry.path.lower().endswith(PARTIAL):
            whole = next((name for name in found.groups() if name), "")
            if whole.endswith(_ENDS):
                yield _remains(subject, entry, entry.folder + whole)


_SCOPE = "._____temp/"
#: Suffixes of files that belong to a model's download.
_ENDS = (*WEIGHTS, ".bin", ".pt", ".pth", ".ckpt", ".json", ".model", ".onnx", ".h5", ".msgpack", "-partial")


def _without(path: str, ends: tuple[str, ...]) -> str:
    return path[: -max(len(end) for end in ends if path.lower().endswith(end))]


def _remains(subject: Subject, entry: Entry, *named: str) -> Found:
    if any(name in subject.by_path for name in named):
        return Found("remains of a download beside the finished file: delete them", entry.path, severity="warning")
    return Found(f"a download that stopped after {plural(entry.size, 'byte')}: run the download again", entry.path)


@rule("broken-link", "whole", "error")
def broken_link(subject: Subject) -> Iterator[Found]:
    """A symbolic link to a file that does not exist.

    In the Hub's cache, the blob was deleted and its link remained. Download the repository again.
    """
    for entry in subject.entries:
        if entry.broken:
            yield Found(f"a link to {entry.link or ''!r:.160}, which does not exist: download it again", entry.path)


@rule("special-file", "whole", "warning")
def special_file(subject: Subject) -> Iterator[Found]:
    """A pipe, socket or device, or a link to a folder, among the files.

    No model needs a pipe, a socket or a device, and a reader that opens one may wait forever. A linked
    folder is only a note, and is not followed.
    """
    for entry in subject.entries:
        if entry.kind == "special" and not entry.broken and entry.refused is None:
            if entry.link is None:
                yield Found("not a regular file: a pipe, a socket or a device", entry.path)
            elif not entry.outside:
                yield Found("a link to a folder: not followed", entry.path, severity="info")


@rule("no-access", "whole", "warning")
def no_access(subject: Subject) -> Iterator[Found]:
    """A file or a folder that cannot be read.

    Its permissions forbid it, its path is longer than the system allows, or it was deleted during the audit.
    Its contents were not checked: allow reading, and audit again.
    """
    for entry in subject.entries:
        if entry.refused is not None:
            yield Found(f"cannot be listed: {entry.refused}", entry.path)
        elif reason := subject.refusal(entry):
            yield Found(f"cannot be read: {reason}", entry.path)


@rule("extra-shard", "whole", "error")
def extra_shard(subject: Subject) -> Iterator[Found]:
    """A shard whose number exceeds its set's total.

    Files of two sets were mixed, or one was renamed: `model-00003-of-00002.safetensors`.
    """
    for stem, total, numbers in _sets(subject):
        start = 0 if 0 in numbers else 1
        for number, path in numbers.items():
            if number >= total + start:
                yield Found(f"shard {integer(number)} of a set of {integer(total)}, {stem or 'unnamed'}", path)


@rule("stale-shards", "whole", "warning")
def stale_shards(subject: Subject) -> Iterator[Found]:
    """A second set of shards beside the one in use.

    A model was saved again, with other shards, into the same folder. The old set is not loaded, doubles the disk
    space, and a loader that goes by file names instead of the index loads a mixture. Delete the stale set.
    """
    live = {header.path for header in subject.headers}
    sets = list(_sets(subject))
    for stem, total, numbers in sets:
        paths = list(numbers.values())
        rivals = [other for other in sets if other[0] == stem and other[1] != total]
        rivalled = any(live & set(other[2].values()) for other in rivals)
        single = stem + paths[0][paths[0].rfind(".") :] in live
        if not live & set(paths) and (rivalled or single):
            what = f"{plural(len(paths), 'shard')} of a set of {integer(total)} beside the set in use: delete them"
            yield Found(what, paths[0])


def _sets(subject: Subject) -> Iterator[tuple[str, int, dict[int, str]]]:
    """Shards grouped by the common part of their names: path before the number, total, number → path."""
    sets: defaultdict[tuple[str, int, str], dict[int, str]] = defaultdict(dict)
    for path in sorted(entry.path for entry in subject.entries if entry.path.endswith(WEIGHTS)):
        if shard := shard_of(path):
            sets[shard.stem, shard.total, shard.suffix][shard.number] = path
    for (stem, total, _), numbers in sets.items():
        yield stem, total, numbers


@rule("index-mismatch", "whole", "error")
def index_mismatch(subject: Subject) -> Iterator[Found]:
    """The index assigns a tensor to a file that does not have it.

    The index belongs to another version of the shards, or a shard to another model: loading fails, or leaves the tensor
    random. Only a warning if another shard of the set has it: loaders that read whole shards find it.
    """
    index = subject.checkpoint.index if subject.checkpoint else None
    if index is None:
        return
    stored = {_name(header): {tensor.name for tensor in header.tensors} for header in subject.headers if _read(header)}
    wrong = [(name, file) for name, file in index.weight_map.items() if file in stored and name not in stored[file]]
    if wrong:
        name, file = wrong[0]
        what = f"{plural(len(wrong), 'tensor')} missing from the file that the index names, first from {file}"
        everywhere = set[str]().union(*stored.values())
        elsewhere = all(name in everywhere for name, _ in wrong)
        yield Found(what, index.path, name, "warning" if elsewhere else None)


@rule("unindexed-tensors", "whole", "warning")
def unindexed_tensors(subject: Subject) -> Iterator[Found]:
    """Tensors that are in a shard but not in the index.

    Some loaders use them, others do not, so the model differs between programs. Write the index again.
    """
    index = subject.checkpoint.index if subject.checkpoint else None
    for header in subject.headers if index else ():
        assert index is not None
        extra = [tensor.name for tensor in header.tensors if tensor.name not in index.weight_map]
        if extra:
            yield Found(f"{plural(len(extra), 'tensor')} not listed in the index", header.path, extra[0])


@rule("missing-component", "whole", "error")
def missing_component(subject: Subject) -> Iterator[Found]:
    """A component that a pipeline's index names is missing.

    model_index.json gives each component a folder; modules.json does so for those with a configuration of their own.
    Loading the pipeline fails: download the component. A component whose class has weights needs those too.
    """
    for entry in subject.named("model_index.json"):
        for name, value in subject.document(entry.path).items():
            match value:
                case [str(), str(kind)]:
                    yield from _absent(subject, entry.path, entry.folder + name, kind)
    for entry in subject.named("modules.json"):
        for path, kind in _modules(subject.text(entry.path, MAX_MODULES)):
            if kind in _CONFIGURED and path and not _configured(subject.names_in(f"{entry.folder}{path}")):
                yield Found(f"{kind} has no {path}/config.json: download it", entry.path)


def _configured(names: frozenset[str]) -> bool:
    """Whether a module has its configuration, which some classes name after themselves: `cnn_config.json`."""
    return any(name.endswith("config.json") for name in names)


#: sentence-transformers' modules with a configuration in their folder. Others have none, and no folder on the Hub.
_CONFIGURED = ("Pooling", "Dense", "CNN", "LSTM", "WeightedLayerPooling", "LayerNorm", "WordWeights")
#: Suffixes of the names of classes without weights.
_WEIGHTLESS = re.compile(r"(Tokenizer(Fast)?|TokenizersBackend|(Processor|Extractor)(Fast|Pil)?|Scheduler|Sampler)$")
MAX_MODULES = 1 << 20


def _absent(subject: Subject, index: str, folder: str, kind: str) -> Iterator[Found]:
    here = subject.names_in(folder)
    if not here:
        yield Found(f"{kind} has no folder {folder:.80}: download it", index)
    elif "config.json" in here and not _WEIGHTLESS.search(kind) and not any(name.endswith(_ANY) for name in here):
        yield Found(f"{kind} has no weights in {folder:.80}: download them", index)


#: Suffixes of weights in any format.
_ANY = (*WEIGHTS, ".bin", ".msgpack", ".h5", ".onnx", ".pt", ".pth", ".xml", ".pb", ".incomplete", ".index.json")


def _modules(text: str | None) -> Iterator[tuple[str, str]]:
    """(folder, class) of each sentence-transformers module."""
    try:
        found = configs.loads(text or "[]")
    except ValueError:
        return
    for each in found if isinstance(found, list) else ():
        match each:
            case {"path": str(path), "type": str(kind)}:
                yield path.strip("/"), kind.rpartition(".")[2]


@rule("second-index", "whole", "info")
def second_index(subject: Subject) -> Iterator[Found]:
    """More than one safetensors index in a folder.

    Only one is used. Delete a leftover; a variant (`model.fp16`) may be intended.
    """
    index = subject.checkpoint.index if subject.checkpoint else None
    if index is None:
        return
    here = index.path.rpartition("/")[0]
    for entry in subject.named(".safetensors.index.json"):
        if entry.path != index.path and entry.path.rpartition("/")[0] == here:
            yield Found(f"a second index beside {index.path}", entry.path)


@rule("split-name", "whole", "error")
def split_name(subject: Subject) -> Iterator[Found]:
    """A part of a split GGUF has another number in its name than in its header.

    `split.no` counts from 0, names from 1. llama.cpp finds the parts by their names and then refuses the
    set. A file was renamed, or replaced by another: download the parts again.
    """
    for header in subject.all_headers:
        number = header.metadata.get("split.no") if header.format == "gguf" else None
        shard = shard_of(header.path)
        if shard and number is None and "split.count" in header.metadata:
            yield Found("no split.no, which llama.cpp needs in each part", header.path)
        if shard and isinstance(number, int) and shard.number != number + 1:
            yield Found(f"split.no is {number}, counted from 0, but the name says {shard.number}", header.path)


def _name(header: Header) -> str:
    return header.path.rsplit("/", 1)[-1]


def _read(header: Header) -> bool:
    """Whether the file's header could be read."""
    return all(region.label != "unreadable" for region in header.regions)
