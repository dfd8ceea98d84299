"""Knowledge of model families: one table each, loaded when a configuration needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.architectures import table_file
from inspector.architectures.store import Store, of_folder, store
from inspector.architectures.table import BARE, Family, Include, class_suffix, nested_values
from inspector.errors import ConfigError
from inspector.model import Config
from inspector.tabular import NamedTuple
from inspector.units import plural

if TYPE_CHECKING:
    from inspector.architectures.asking import Library

#: The field with the GGUF architecture, in a configuration from key-values.
GGUF_ARCHITECTURE = "general.architecture"
#: The field with the kind of projector, in the configuration of a language model's accompanying tower.
PROJECTOR = "gguf.projector"
#: The entry points by which a package names the folder of its tables: `newmodel = "my_package.tables"`.
ENTRY_POINTS = "checkpoint_inspector.tables"


class GgufArchitecture(str):
    """A GGUF architecture that key-values named: JSON has only plain strings, so no config.json can claim one."""

    __slots__ = ()


@cache
def load(name: str) -> Family:
    """The family in the package's table of this name."""
    return _read(store(), "families", name)


@cache
def _read(home: Store, kind: str, name: str) -> Family:
    """The family in a table; one that is not the package's is checked. Raises TableError."""
    if home.beyond is None:
        return table_file.read(kind, name, home.find)
    from inspector.architectures.table_check import check

    return check(home, kind, name)


def load_gguf(architecture: str, model_type: str) -> Family | None:
    """The family of a `general.architecture`, named like Transformers' `model_type`; None if there is no table."""
    place = _gguf_place(architecture)
    return _table_under_name(place.home, architecture, store().table_of(model_type) or architecture) if place else None


def load_projector(name: str) -> Family | None:
    """The family of a tower that feeds a language model, by its kind of projector; None if there is no table."""
    place = _projector_place(name)
    return _read(*place)._replace(name=name) if place else None


class _Place(NamedTuple):
    """Where a table is."""

    home: Store
    kind: str
    name: str


def _gguf_place(architecture: str) -> _Place | None:
    if architecture.startswith("_"):  # names of inherited tables are not architectures
        return None
    first = next((home for home in (*_ADDED, store()) if home.has("gguf", architecture)), None)
    home = first or next((home for home in _installed() if home.has("gguf", architecture)), None)
    return _Place(home, "gguf", architecture) if home else None


def _projector_place(name: str) -> _Place | None:
    """The table of a kind of projector.

    A file with two towers names both kinds, `gemma4v+gemma4a`: the family combines each tower's own configuration.
    """
    from inspector.architectures.data.gguf_keys import PROJECTORS_IN_ONE  # only for this format

    table = "_towers" if "+" in name or name in PROJECTORS_IN_ONE else name
    home = next((home for home in (*_ADDED, store()) if home.has("projectors", table)), None)
    return _Place(home, "projectors", table) if home else None


@cache
def _table_under_name(home: Store, architecture: str, name: str) -> Family:
    return _read(home, "gguf", architecture)._replace(name=name)


#: Added tables, the last first.
_ADDED: list[Store] = []


def add_tables(folder: str | Path) -> None:
    """Add a folder of tables, which take precedence over the package's own.

    Raises:
        TableError: a file in the folder is not a table.

    Example:
        >>> inspector.add_tables("my-tables")
        Traceback (most recent call last):
        inspector.errors.TableError: my-tables is not a folder of tables
    """
    _ADDED.insert(0, of_folder(Path(folder)))


def added_tables() -> tuple[str, ...]:
    """The added folders, the last first, as paths valid in another process."""
    return tuple(str(home.home.absolute()) for home in _ADDED)


#: The folder of the project's own tables, if set; the last one applies.
_PROJECT: list[Path | None] = []


@contextmanager
def tables_of_project(folder: Path | None) -> Iterator[None]:
    """Use these project tables regardless of any pyproject.toml: an audit must not be configured by what it audits."""
    _PROJECT.append(folder)
    try:
        yield
    finally:
        _PROJECT.pop()


def _installed() -> tuple[Store, ...]:
    """The tables of the user's current project and of installed packages. Raises TableError, UsageError."""
    return _in_folders(_PROJECT[-1]) if _PROJECT else _in_working_directory()


@cache
def _in_working_directory() -> tuple[Store, ...]:
    from inspector import settings

    return _in_folders(settings.here().tables)


@cache
def _in_folders(project: Path | None) -> tuple[Store, ...]:
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    folders = [project] if project else []
    for entry in entry_points(group=ENTRY_POINTS):
        spec = find_spec(entry.value)
        folders += [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
    return tuple(map(of_folder, folders))


def model_types() -> Mapping[str, str]:
    """`model_type` → the package's table for it, in alphabetical order."""
    return store().types


class Knowledge(NamedTuple):
    """What is known about an architecture, since when: the table that was used, and what it was compared with."""

    table: str | None = None  # its file in `data/tables`: "families/llama"
    made_from: str | None = None  # package, version and place
    made: str | None = None  # "derived" by the command that follows releases, or by "hand"
    checked_against: str | None = None  # the newest release that it was compared with, or how many configurations
    asked: str | None = None  # the library that was asked instead of a table, and its version
    relative: str | None = None  # the model type whose table was used by analogy


def knowledge_of(config: Mapping[str, Any], relative: str | None = None) -> Knowledge:
    """The source of what is known about a configuration, by the table of a relative if its own type has none."""
    if relative:
        return knowledge_of_type(relative)._replace(checked_against=None, relative=relative)
    asked = _asked(config)
    if asked and asked.family:
        return Knowledge(None, asked.document["source"], "derived", None, asked.family.asked)
    place = _place_of(config)
    if place is None:
        return Knowledge()
    document = place.home.find(place.kind, place.name)
    source = table_file.joined(document.get("source"))
    if learned := document.get("learned"):
        return Knowledge(f"{place.kind}/{place.name}", source, document.get("made"), None, learned["by"])
    checked = _checked(place, document, str(config.get("model_type")))
    return Knowledge(f"{place.kind}/{place.name}", source, document.get("made"), checked)


def knowledge_of_type(model_type: str) -> Knowledge:
    """The same of a model type."""
    return knowledge_of({"model_type": model_type})


def knowledge_of_gguf(architecture: str) -> Knowledge:
    """The same of a GGUF architecture."""
    return knowledge_of({GGUF_ARCHITECTURE: GgufArchitecture(architecture)})


def _checked(place: _Place, document: Mapping[str, Any], model_type: str) -> str | None:
    """The newest release, or the number of configurations, that a table was compared with."""
    home, kind, name = place
    outside = document.get("outside", ())
    if model_type in outside:
        number = outside[model_type] if isinstance(outside, Mapping) else 0
        return f"{plural(number, 'configuration')} with known tensors" if number else None
    if home.beyond is not None:
        return None
    of = "llama.cpp" if kind != "families" else "diffusers" if name.startswith("diffusers_") else "transformers"
    releases = home.find("checked", of)
    release: str = releases["behind"].get(model_type if kind == "families" else name, releases["release"])
    return release


def _place_of(config: Mapping[str, Any]) -> _Place | None:
    """The place of a configuration's table; None if no table knows it."""
    model_type = str(config.get("model_type"))
    architecture = config.get(GGUF_ARCHITECTURE)
    if isinstance(architecture, GgufArchitecture):
        return _projector_place(str(config[PROJECTOR])) if PROJECTOR in config else _gguf_place(architecture)
    home = _home_of(model_type) if config.get("model_type") else None
    table = home.table_of(model_type) if home else None
    if home and table:
        return _Place(home, "families", table)
    return _learned(config) if config.get("model_type") else None


def family_of(config: Mapping[str, Any]) -> Family | None:
    """The family of a configuration's `model_type`, or of its GGUF architecture; None if no table knows it."""
    place = _place_of(config)
    if place is None or place.kind == "families":
        return _read(*place) if place else None
    if place.kind == "projectors":
        return load_projector(str(config[PROJECTOR]))
    if place.kind == LEARNED:
        learned = place.home.find(*place[1:])["learned"]
        return _read(*place)._replace(name=str(config["model_type"]), asked=learned["by"])
    return load_gguf(place.name, str(config.get("model_type")))


def _family_of_model(config: Mapping[str, Any], relative: str | None = None) -> Family | None:
    """The family of a whole model: as the library that is asked builds it, else by its table or that of a relative."""
    if relative:
        return _as_relative(config, relative)
    asked = _asked(config)
    return (asked.family if asked else None) or family_of(config)


def _as_relative(config: Mapping[str, Any], relative: str) -> Family | None:
    """A known type's family, read for a configuration of an unknown type.

    The numbers that the configuration does not give are not taken from the relative: they are the relative's own.
    """
    family = family_of({"model_type": relative})
    if family is None:
        return None
    named = next(iter(config.get("architectures") or ()), None)
    suffix = class_suffix(named) if isinstance(named, str) else None
    known = {named: suffix if suffix and family.has_head(suffix) else family.head} if isinstance(named, str) else {}
    own = _without_numbers(family.types[relative])
    return family._replace(
        types={**family.types, str(config.get("model_type")): own},
        defaults=_without_numbers(family.defaults),
        classes={**family.classes, **known},
    )


def _without_numbers(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {field: value for field, value in values.items() if type(value) is not int}


Config.find_family = _family_of_model


# --- libraries that are asked ---------------------------------------------------------------------

#: The kind of tables that were made of a library's answers.
LEARNED = "learned"
#: Who is asked about configurations, if anyone: the last one.
_LIBRARY: list[Library] = []


class _Asked(NamedTuple):
    """What a library answered."""

    family: Family | None
    document: Mapping[str, Any] = {}  # the table
    refused: str = ""  # why there is none


#: Answers by configuration.
_ANSWERS: dict[tuple[Library, str], _Asked] = {}


def ask(library: Library) -> None:
    """Have a library answer what is predicted of configurations, wherever it knows their type."""
    _LIBRARY.append(library)


def library_asked() -> Library | None:
    """The library that answers, if any is asked."""
    return _LIBRARY[-1] if _LIBRARY else None


@contextmanager
def asked_by(library: Library) -> Iterator[None]:
    """Ask this library for a while."""
    _LIBRARY.append(library)
    try:
        yield
    finally:
        _LIBRARY.pop()


def refusal(config: Mapping[str, Any]) -> str:
    """Why the library that is asked did not answer; "" if it did, or none is."""
    asked = _asked(config)
    return asked.refused if asked else ""


def keep(config: Mapping[str, Any], *, probing: bool = False) -> tuple[Path, Sequence[str]]:
    """Keep the table of what the library answered about a configuration: its file, and the fields that may differ.

    Raises ConfigError, UsageError.

    Args:
        probing: whether to ask about other values of its fields, too.
    """
    from inspector.architectures import asking as library

    asked = _asked(config, probing=probing)
    if asked is None or not asked.document:
        raise ConfigError(asked.refused if asked else "there is no library that could be asked")
    path = library.keep(asked.document, _tables_folder())
    _user.cache_clear()
    learned = asked.document["learned"]
    return path, [field for field in learned["known"] if field not in learned["fixed"]]


def _asked(config: Mapping[str, Any], *, probing: bool = False) -> _Asked | None:
    """What the library answers about a configuration; None if no library is asked, or it is not one of a library's."""
    if not _LIBRARY or GGUF_ARCHITECTURE in config or not isinstance(config.get("model_type"), str):
        return None
    import json

    from inspector.architectures.asking import answering, learn

    own = {field: value for field, value in config.items() if field not in answering.IGNORED}
    key = _LIBRARY[-1], json.dumps(own, sort_keys=True, default=str)
    if key not in _ANSWERS or probing:
        try:
            document = learn(_LIBRARY[-1], config, probing=probing)
        except ConfigError as error:
            _ANSWERS[key] = _Asked(None, refused=str(error))
        else:
            _ANSWERS[key] = _Asked(_of_document(document), document)
            if _place_of(config) is None:
                keep(config)
    return _ANSWERS[key]


def _of_document(document: Mapping[str, Any]) -> Family:
    (model_type,) = document["types"]
    family = table_file.read(LEARNED, model_type, lambda *_: document)
    return family._replace(name=model_type, asked=document["learned"]["by"])


def _tables_folder() -> Path:
    """Where learned tables are kept: in the folder added last, or else the user's own."""
    from inspector.architectures.asking import user_folder

    return _ADDED[0].home if _ADDED else user_folder()


@cache
def _user(folder: Path) -> Store | None:
    """The tables in a folder that may not exist. Raises TableError."""
    return of_folder(folder) if folder.is_dir() else None


def _learned(config: Mapping[str, Any]) -> _Place | None:
    """The learned table that holds for a configuration."""
    from inspector.architectures.asking import MOST_KEPT, learning, user_folder  # only types without a table need it

    names = [f"{config['model_type']} {number}" for number in range(1, MOST_KEPT + 1)]
    homes = filter(None, map(_user, (*(each.home for each in _ADDED), user_folder())))
    known = (_Place(home, LEARNED, name) for home in homes for name in names if home.has(LEARNED, name))
    return next((place for place in known if learning.fits(place.home.find(*place[1:])["learned"], config)), None)


def included(include: Include, values: Mapping[str, Any]) -> tuple[Family | None, Mapping[str, Any]]:
    """The family of an included part, None if no table knows it, and the part's values."""
    nested = nested_values(include, values)
    return family_of(nested), nested


def taken_off(include: Include, inner: Family) -> str:
    """The prefix removed from an included family's names: its own, where the default would remove the includer's."""
    if include.head in BARE:  # these classes have no prefix
        return include.strip
    usual = family_of({"model_type": include.default_type}) if include.default_type not in inner.types else inner
    return inner.prefix if usual and usual.name != inner.name and include.strip == usual.prefix else include.strip


def _home_of(model_type: str) -> Store | None:
    """The tables that have a model type. Installed packages come last, because finding them is slow."""
    first = next((home for home in (*_ADDED, store()) if home.table_of(model_type)), None)
    return first or next((home for home in _installed() if home.table_of(model_type)), None)


class Known(NamedTuple):
    """A model type with a table, and how far it was checked; None where it was not."""

    model_type: str
    table: str  # its file in `data/tables/families`
    gguf: tuple[str, ...]  # the corresponding `general.architecture` values
    keyed: int | None  # percent of tensors that have a role
    default: int | None  # percent of models predicted exactly, at the default configuration
    changed: int | None  # the same at changed configurations
    drawn: int | None  # the same at held-out configurations with other values and flags


def listed() -> list[Known]:
    """All model types with a table; loads no tables."""
    coverage = store().find("made", "coverage")
    names: dict[str | None, list[str]] = {}
    for each in listed_gguf():
        names.setdefault(each.model_type, []).append(each.architecture)
    none = (None, None, None, None)
    types = {model_type: (table, coverage.get(model_type, none)) for model_type, table in model_types().items()}
    types |= {
        model_type: (table, none) for home in (*_installed(), *_ADDED) for model_type, table in home.types.items()
    }
    return [
        Known(model_type, table, tuple(names.get(model_type, ())), *covered)
        for model_type, (table, covered) in sorted(types.items())
    ]


class KnownGguf(NamedTuple):
    """An architecture of the `gguf` package: all its tensors are recognised."""

    architecture: str  # the value of `general.architecture`
    model_type: str | None  # Transformers' name for it; None if that has no table
    predicted: bool  # whether its key-values predict its tensors


def predicted_gguf() -> frozenset[str]:
    """The values of `general.architecture` with a table."""
    names = (name for home in (*_ADDED, store(), *_installed()) for name in home.names("gguf"))
    return frozenset(name for name in names if not name.startswith("_"))


def listed_gguf() -> list[KnownGguf]:
    """All GGUF architectures."""
    from inspector.architectures.data.gguf_keys import MODEL_TYPES
    from inspector.architectures.data.gguf_names import NAMED

    predicted = predicted_gguf()
    return [
        KnownGguf(name, model_type if model_type in model_types() else None, name in predicted)
        for name in sorted(predicted | NAMED)
        for model_type in (MODEL_TYPES.get(name, name),)
    ]
