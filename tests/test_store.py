"""The source of the tables: a packed file, which in a source tree follows the folder that it is made from."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import inspector.architectures  # noqa: F401  the module, whose name its function has too
from inspector.architectures import table_file
from inspector.architectures.store import Store, packed
from inspector.auditing import data
from inspector.errors import TableError

MODULE = sys.modules["inspector.architectures.store"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of tables that replaces the package's own."""
    write(tmp_path / "tables" / "families" / "a.json", {"types": {"a-type": {}, "z": {}}, "rows": []})
    write(tmp_path / "tables" / "families" / "b.json", {"types": {"b": {}}, "outside": ["b"], "notes": ["left out"]})
    write(tmp_path / "tables" / "blocks" / "some.json", {"about": "blocks", "one": {"rows": []}, "two": {"rows": []}})
    monkeypatch.setattr(MODULE, "FOLDER", tmp_path / "tables")
    monkeypatch.setattr(MODULE, "PACKED", tmp_path / "tables.pack")
    yield tmp_path
    MODULE.store.cache_clear()


def write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def read() -> Store:
    """The store as a new process finds it."""
    MODULE.store.cache_clear()
    found = MODULE.store()
    assert isinstance(found, Store)
    return found


def written(path: Path) -> tuple[int, int]:
    """The identity of the file and when it was written, not when it was read."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns


def test_documents_are_found_by_kind_and_name(home: Path) -> None:
    """Types are in alphabetical order; each block can be found alone; notes are for people, and not packed."""
    found = read()
    assert list(found.types.items()) == [("a-type", "a"), ("b", "b"), ("z", "a")]
    assert found.find("families", "b") == {"types": {"b": {}}, "outside": ["b"]}
    assert (found.names("families"), found.names("blocks")) == (["a", "b"], ["one", "two"])
    with pytest.raises(KeyError):
        found.find("families", "c")


def test_a_file_may_hold_relatives(home: Path) -> None:
    """Several tables, each under its name, as in a file without rows and types of its own."""
    relatives = {"about": "relatives", "c": {"types": {"c": {}, "c2": {}}}, "d": {"like": "c", "types": {"d": {}}}}
    write(home / "tables" / "families" / "c.json", relatives)
    found = read()
    assert found.find("families", "d") == relatives["d"]
    assert {each: found.table_of(each) for each in ("c", "c2", "d", "e")} == {"c": "c", "c2": "c", "d": "d", "e": None}
    write(home / "tables" / "families" / "c.json", {"c": {"rows": []}})
    with pytest.raises(TableError, match=r"c.json names no model types"):
        read()


def test_documents_of_any_size_and_number_are_found(home: Path) -> None:
    """Small ones are deflated together, one larger than a group alone; groups beyond the limit are inflated again."""
    tables = {f"t{at}": {"types": {f"t{at}": {}}, "about": "x" * size} for at, size in enumerate([1, 0, 40_000] * 20)}
    for name, table in tables.items():
        write(home / "tables" / "families" / f"{name}.json", table)
    found = read()
    assert all(found.find("families", name) == table for _ in range(2) for name, table in tables.items())
    assert found.find("families", "a") == {"types": {"a-type": {}, "z": {}}, "rows": []}


@pytest.mark.parametrize("name", ['a-type":"a', 'a"', "", "a-type\n", "{", 'z":"a"}\n'])
def test_a_model_type_is_not_part_of_the_index(home: Path, name: str) -> None:
    """Types come from strangers' configurations, and are looked up as texts."""
    assert read().table_of(name) is None


def test_coverage_is_whole_where_a_table_says_nothing_else(home: Path) -> None:
    """Types that no library has are compared with cases alone."""
    table = {"types": {"c": {}, "d": {}, "e": {}}, "outside": {"d": 2}, "coverage": {"e": [100, 98, None, 97]}}
    write(home / "tables" / "families" / "c.json", table)
    covered = read().find("made", "coverage")
    whole, cases = [100] * 4, [100, None, 100, None]
    assert covered == {"a-type": whole, "z": whole, "b": cases, "c": whole, "d": cases, "e": [100, 98, None, 97]}


def changed(folder: Path) -> None:
    write(folder / "families" / "a.json", {"types": {"changed": {}}})


def added(folder: Path) -> None:
    write(folder / "families" / "c.json", {"types": {"c": {}}})


def removed(folder: Path) -> None:
    (folder / "families" / "a.json").unlink()


@pytest.mark.parametrize(
    ("change", "types"), [(changed, {"changed", "b"}), (added, {"a-type", "b", "c", "z"}), (removed, {"b"})]
)
def test_the_packed_file_follows_changes_in_the_folder(
    home: Path, change: Callable[[Path], None], types: set[str]
) -> None:
    """The packed file is written at the first reading, kept at the second, and rewritten after a change."""
    read()
    made = written(home / "tables.pack")
    read()
    assert written(home / "tables.pack") == made
    change(home / "tables")
    assert set(read().types) == types
    assert written(home / "tables.pack") != made
    assert set(read().types) == types


def test_a_wheel_has_the_packed_file_alone(home: Path) -> None:
    read()
    for path in [*home.glob("tables/*/*.json")]:
        path.unlink()
    for path in [*home.glob("tables/*"), home / "tables"]:
        path.rmdir()
    assert read().find("blocks", "two") == {"rows": []}


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x00\xff\n", b"[1]\n"])
def test_a_packed_file_that_is_none_is_made_again(home: Path, content: bytes) -> None:
    """A file cut short by a full disk, or of another version."""
    (home / "tables.pack").write_bytes(content)
    assert set(read().types) == {"a-type", "b", "z"}
    assert (home / "tables.pack").read_bytes() == packed(home / "tables", MODULE._stamp(home / "tables"))


def test_a_wheels_file_is_the_same_wherever_it_is_built(home: Path) -> None:
    """The time of the tables' checkout does not matter."""
    before = packed(home / "tables")
    os.utime(home / "tables" / "families" / "a.json", (1, 1))
    assert packed(home / "tables") == before


def test_where_nothing_may_be_written_tables_are_read_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "PACKED", home / "no-such-folder" / "tables.pack")
    assert set(read().types) == {"a-type", "b", "z"}
    assert not (home / "no-such-folder").exists()


def test_the_audits_tables_are_deflated_in_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either form can be read: the plain one of a source tree has precedence."""
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    (tmp_path / "deflated.json.z").write_bytes(zlib.compress(b'{"form": "deflated"}'))
    assert data.table("deflated") == {"form": "deflated"}
    (tmp_path / "plain.json.z").write_bytes(zlib.compress(b'{"form": "deflated"}'))
    (tmp_path / "plain.json").write_text('{"form": "plain"}')
    assert data.table("plain") == {"form": "plain"}


def test_an_overlay_is_read_over_its_table(home: Path) -> None:
    """What a hand adds stays where it is when the table below it is derived again."""
    row = ["q_proj", "q", "width, width"]
    write(home / "tables" / "families" / "c.json", {"types": {"c": {}}, "defaults": {"width": 3}, "rows": [row]})
    overlay = {
        "defaults": {"depth": 2},
        "cache": [],
        "instead": {"q": [["k_proj", "q", "width"]]},
        "rows": [["norm", "n", "1"]],
    }
    write(home / "tables" / "overlays" / "c.json", overlay)
    family = table_file.read("families", "c", read().find)
    assert family.types == {"c": {}}
    assert family.defaults == {"width": 3, "depth": 2}
    assert family.cache == ()
    assert [row[:3] for row in family.rows] == [("k_proj", "q", "width"), ("norm", "n", "1")]
    write(home / "tables" / "overlays" / "d.json", {})
    with pytest.raises(TableError, match="there is no table for the overlay d"):
        read()
