"""Target → checkpoint: the weight files' headers, with their configuration and the listing of other files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector import formats
from inspector.adapters import DESCRIPTIONS
from inspector.errors import ConfigError, FormatError, InspectorError, NetworkError, SourceError, TargetError
from inspector.model import Checkpoint, Component, Config, Finding, Header, Joined, Region, Severity, Variant
from inspector.opening import configs, selection
from inspector.opening.variants import Composite, Part, composite_of
from inspector.opening.variants import variants as checkpoints_among
from inspector.sources import Place, Source, workers
from inspector.sources.filenames import HDF5, INDEX, format_of, rank_of
from inspector.sources.targets import place_of, shadows_cached
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.opening.ranks import Collective

#: Reads a file's header, from its own first bytes or from another file's description of it.
Reader = Callable[[Source, str], Header]


def open(
    target: str | Path,
    *,
    config: str | Path | None = None,
    revision: str | None = None,
    include: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    alone: bool = False,
) -> Checkpoint:
    """Open the checkpoint at a target: one of `inspector.open`, with its arguments and errors."""
    place = place_of(str(target), revision)
    try:
        return _read(place, str(target), Path(config) if config is not None else None, include, progress, alone=alone)
    finally:
        place.close()


def examine(place: Place, target: str, config: Path | None = None) -> Checkpoint:
    """The checkpoint at a place for an audit: whatever cannot be read is a finding.

    Args:
        config: a configuration file to use instead of the one next to the weights.

    Raises:
        TargetError: there are no weight files.
    """
    if (place.selected or "").endswith(HDF5):
        raise TargetError(f"{escape(target)}: HDF5's library is written in C and is not used on untrusted files")
    from inspector.sources.places import Narrowed  # everything else is read as it is

    place = Narrowed(place, lambda path: not path.endswith(HDF5))
    try:
        return _read(place, target, config, None, None, lenient=True, alone=True)
    except NetworkError:
        raise
    except (FormatError, SourceError) as error:  # the index: use the files' names instead
        without = Narrowed(place, lambda path: not path.endswith(INDEX))
        read = _read(without, target, config, None, None, lenient=True, alone=True)
        return read._replace(findings=(*read.findings, Finding("index", "error", str(error))))


def _read(
    place: Place,
    target: str,
    config_path: Path | None,
    include: str | None,
    progress: Callable[[int, int], object] | None,
    *,
    lenient: bool = False,
    alone: bool = False,
) -> Checkpoint:
    selected = selection.select(place, include, alone=alone)
    described = _description(place, selected.collected)
    read = described.read if described else formats.read
    files, unreadable = _headers(place, selected.paths, progress, read, lenient=lenient)
    files, whole_tensors, gaps = _with_ranks_parts(files, known=described is not None)
    found, complaints = (configs.load(config_path), ()) if config_path else _config_of(place, selected, files)
    adapter, found, doubts = _adapter(place, selected, found, files)
    whole = place.selected is None or place.selected.endswith(".index.json")
    composite = composite_of(place) if include is None else Composite()  # a glob picks one of its parts
    components = tuple(
        _component(place, part, target, files) for part in composite.parts
    )  # must precede `place.origin()`, which counts bytes read
    return Checkpoint(
        target=target,
        name=place.name,
        origin=place.origin(),
        files=files,
        config=found,
        index=selected.index,
        other=selection.classify(place.files, selected.paths, _kinds(composite.parts)) if whole else None,
        variants=_variants(place, selected.paths) if whole else (),
        findings=(
            *selected.findings,
            *(described.findings(selected) if described else ()),
            *unreadable,
            *complaints,
            *doubts,
            *_split_findings(files),
            *gaps,
        ),
        adapter=adapter,
        components=components,
        composite=composite.kind,
        card=_card_of(place, files),
        joined=whole_tensors,
        namesake=target if place.origin().kind == "local" and shadows_cached(target) else None,
    )


def _description(place: Place, path: str | None) -> Collective | None:
    """A `.metadata` file's description of the ranks' files in its folder."""
    if not path:
        return None
    from inspector.opening import ranks  # reads a pickle

    return ranks.describe(place, path)


def _with_ranks_parts(
    files: tuple[Header, ...], *, known: bool
) -> tuple[tuple[Header, ...], Joined | None, tuple[Finding, ...]]:
    """The headers with the parts that ranks of a run wrote, their whole tensors, and findings about what does not fit.

    Args:
        known: whether the headers say already which parts they have.
    """
    if not any(header.pieces for header in files) and (known or not all(rank_of(header.path) for header in files)):
        return files, None, ()
    from inspector.opening import ranks  # few checkpoints are in parts

    files = files if known else ranks.in_parts(files)
    return (files, *ranks.assemble(files))


def whole_tensors(files: tuple[Header, ...]) -> tuple[Header, ...]:
    """The headers of one checkpoint with each tensor once and whole, for those that ranks of a run wrote."""
    files, joined, _ = _with_ranks_parts(files, known=False)
    return joined.files if joined else files


def _kinds(parts: tuple[Part, ...]) -> dict[str, str]:
    """The kinds of weights of a composite repository's parts."""
    main = {path: "component" for part in parts for path in part.main.paths}
    return {**main, **{path: "duplicate" for part in parts for copy in part.copies for path in copy.paths}}


def _component(place: Place, part: Part, target: str, known: tuple[Header, ...]) -> Component:
    """One part with its headers and its own configuration; nothing is read twice."""
    read = {header.path: header for header in known}
    files = _readable(place, part.main.paths, [read.get(path) or _header(place, path) for path in part.main.paths])
    try:
        config = configs.find(place, part.folder)
    except ConfigError:
        config = None
    checkpoint = Checkpoint(target=target, name=part.name, origin=place.origin(), files=files, config=config)
    return Component(part.name, part.kind, checkpoint, sum(copy.size for copy in part.copies))


def _variants(place: Place, paths: tuple[str, ...]) -> tuple[Variant, ...]:
    """All checkpoints of the place, the inspected one first; empty if it is the only one."""
    found = checkpoints_among(place.files)
    wanted = frozenset(paths)
    chosen = [each for each in found if not wanted.isdisjoint(each.paths)]
    if not chosen or len(chosen) == len(found):
        return ()
    others = [each for each in found if wanted.isdisjoint(each.paths)]
    others.sort(key=lambda each: (each.model != chosen[0].model, -each.size, each.name))
    return (*chosen, *others)


def _adapter(
    place: Place, selected: selection.Selection, config: Config | None, files: tuple[Header, ...]
) -> tuple[Mapping[str, Any] | None, Config | None, tuple[Finding, ...]]:
    """An adapter's own configuration and its base's, which may be elsewhere on this machine."""
    try:
        own = configs.adapter(place, selected.folder)
        origin = place.origin()
        if own is not None and config is None:
            location = Path(origin.location) if origin.kind == "local" else None
            config = configs.base_of(own, location if location is None or location.is_dir() else location.parent)
    except ConfigError as error:
        return None, config, (Finding("config", "warning", str(error), selected.folder + configs.ADAPTER_FILE),)
    if own is None and not all(header.metadata.keys().isdisjoint(DESCRIPTIONS) for header in files):
        from inspector.adapters import metadata  # models need no adapter methods

        return metadata.configuration(files), config or metadata.base(files), ()
    return own, config, ()


def _headers(
    place: Place,
    paths: tuple[str, ...],
    progress: Callable[[int, int], object] | None,
    read: Reader = formats.read,
    *,
    lenient: bool,
) -> tuple[tuple[Header, ...], tuple[Finding, ...]]:
    """Each file's header. One bad file among several is a finding; a single bad file is an error, unless `lenient`."""
    numbers = count(1)
    done = (lambda: progress(next(numbers), len(paths))) if progress else (lambda: None)
    found = workers.each(lambda path: _header(place, path, read), paths, place.parallel, done)
    errors = [(path, each) for path, each in zip(paths, found, strict=True) if isinstance(each, InspectorError)]
    if errors and len(paths) == 1 and not lenient:
        raise errors[0][1]
    if errors and len(errors) == len(paths) and not lenient:
        raise FormatError(f"none of {len(paths)} weight files can be read; the first: {errors[0][1]}")
    return _readable(place, paths, found), tuple(finding_of(error, path) for path, error in errors)


def _readable(place: Place, paths: Sequence[str], found: Sequence[Header | InspectorError]) -> tuple[Header, ...]:
    """The headers, with placeholders for those that cannot be read."""
    return tuple(
        _unreadable(path, place.files[path]) if isinstance(each, InspectorError) else each
        for path, each in zip(paths, found, strict=True)
    )


def _header(place: Place, path: str, read: Reader = formats.read) -> Header | InspectorError:
    """A file's header, or the fault of the file. A network failure says nothing about the file, and is raised."""
    try:
        with closing(place.open(path)) as source:
            return read(source, path)
    except NetworkError:
        raise
    except InspectorError as error:
        return error


def finding_of(error: InspectorError, path: str) -> Finding:
    """The finding for an unreadable file. Its path is removed from the start of the message."""
    rule = error.rule if isinstance(error, FormatError) else "unreadable-file"
    severity: Severity = "info" if rule == "not-judged" else "error"
    return Finding(rule, severity, str(error).removeprefix(escape(path)).removeprefix(":").strip(), path)


def _unreadable(path: str, size: int) -> Header:
    """A placeholder that keeps the file's bytes in the sums."""
    regions = (Region("unreadable", 0, size),) if size else ()
    return Header(path, format_of(path), size, (), regions, {})


def _config_of(
    place: Place, selected: selection.Selection, files: tuple[Header, ...]
) -> tuple[Config | None, tuple[Finding, ...]]:
    """The configuration in a GGUF file, else the one next to the weights; an unreadable one is a finding."""
    if any(header.format == "gguf" for header in files):
        from inspector.opening import gguf  # needed only for GGUF files

        inside = gguf.config_of(files)
        if inside is not None:
            return inside, ()
    try:
        return configs.find(place, selected.folder), ()
    except ConfigError as error:
        return None, (Finding("config", "warning", str(error), selected.folder + configs.FILES[0]),)


def _split_findings(files: tuple[Header, ...]) -> tuple[Finding, ...]:
    """Findings from comparing the parts of a split GGUF."""
    if not any("split.count" in header.metadata for header in files):
        return ()
    from inspector.opening import gguf  # only for files that are split

    return gguf.check_split(files)


# --- the licence and the base model, from a model card's front matter or a GGUF's key-values -----

#: In bytes; front matter ends well before this.
MAX_CARD = 16_384
_FIELD = r"^(license|license_name|base_model):[ \t]*(.*)$\n?((?:^[ \t]*-[ \t]+.*$\n?)*)"


def _card_of(place: Place, headers: Sequence[Header]) -> Mapping[str, str]:
    """`license` and `base_model`, if given; read only from files on this machine."""
    found = _of_key_values(headers[0].metadata) if headers and headers[0].format == "gguf" else {}
    return {**found, **_of_card(place)} if place.parallel == 1 and "README.md" in place.files else found


def _of_card(place: Place) -> dict[str, str]:
    try:
        with closing(place.open("README.md")) as source:
            text = source.read(0, min(source.size, MAX_CARD)).decode("utf-8", "replace")
    except InspectorError:  # gone or unreadable: a card is not part of the weights
        return {}
    matter = re.match(r"---\s*\n(.*?)^---\s*$", text, re.DOTALL | re.MULTILINE)
    if matter is None:
        return {}
    found = {name: _first(value, items) for name, value, items in re.findall(_FIELD, matter[1], re.MULTILINE)}
    named = found.pop("license_name", "")
    if named and found.get("license", "other") == "other":
        found["license"] = named
    return {name: value for name, value in found.items() if value}


def _first(value: str, items: str) -> str:
    """A plain value, or the first of a list."""
    first = value.strip() or items.partition("\n")[0].strip().removeprefix("-").strip()
    return first.strip("\"'[]")[:200]


def _of_key_values(metadata: Mapping[str, object]) -> dict[str, str]:
    names = {"license": "general.license", "base_model": "general.base_model.0.repo_url"}
    values = {name: metadata.get(key) for name, key in names.items()}
    return {
        name: value.removeprefix("https://huggingface.co/")[:200]
        for name, value in values.items()
        if isinstance(value, str)
    }
