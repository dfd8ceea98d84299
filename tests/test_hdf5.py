"""HDF5 files by their own structure: objects that h5py reports are found, and damage is reported."""

from __future__ import annotations

import base64
import json
import random
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hostile.hdf5_files import hdf5

from inspector.formats.hdf5.structure import Attribute, Elsewhere, Part, Unread, parts

CASES: Mapping[str, Any] = json.loads((Path(__file__).parents[1] / "fixtures" / "hdf5.json").read_text())


def found(file: bytes) -> list[Part]:
    return list(parts(lambda start, length: file[start : start + length], len(file)))


def file_of(name: str) -> bytes:
    return zlib.decompress(base64.b85decode(CASES[name]["file"]))


@pytest.mark.parametrize("name", sorted(CASES))
def test_everything_that_the_library_finds_is_found(name: str) -> None:
    """Links to other files, data in them, and attributes of any size, in every way that the library stores them."""
    every = found(file_of(name))
    assert sorted(each.file for each in every if isinstance(each, Elsewhere)) == CASES[name]["files"]
    attributes = {each.name: len(each.value) for each in every if isinstance(each, Attribute)}
    assert attributes == CASES[name]["attributes"]
    assert [each for each in every if isinstance(each, Unread)] == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_file_that_is_cut_off_is_reported(name: str) -> None:
    """An object beyond the end of the file is reported."""
    whole = file_of(name)
    assert any(isinstance(each, Unread) for each in found(whole[: len(whole) // 2]))


@pytest.mark.parametrize("name", sorted(CASES))
def test_damage_ends_in_findings(name: str) -> None:
    """Any bytes are read to an end, and only DamageError stops a part."""
    chance = random.Random(name)
    whole = file_of(name)
    for _ in range(60):
        file = bytearray(whole)
        for _ in range(chance.randrange(1, 30)):
            file[chance.randrange(len(file))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        found(bytes(file))


def test_an_empty_file() -> None:
    """A root group with nothing in it, by hand."""
    assert found(hdf5()) == []
    assert found(hdf5({"backend": b"jax"}, {"a": "b.h5"})) == [
        Elsewhere("an external link", "b.h5"),
        Attribute("backend", b"jax"),
    ]


def test_a_group_that_holds_itself() -> None:
    """Each object is read once, however many links lead to it."""
    file = bytearray(hdf5(links={"a": "12345678901234567"}))
    at = file.index(b"\x01\x08\x40")  # change the link's message into a hard one to the root's header
    file[at : at + 12] = bytes((1, 0, 1)) + b"a" + (96).to_bytes(8, "little")
    assert found(bytes(file)) == []
