"""PyTorch's own files: tensors from the pickle's opcodes, every byte accounted for, nothing executed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
from every import every
from hostile.files import calls, dump
from hostile.torch_files import (
    OBJECT,
    PLAIN,
    SHORT,
    STRIDED,
    TIED,
    Saved,
    Tensors,
    inner,
    opcodes,
    torch_pickles,
    torch_zip,
)

import inspector
from inspector.errors import FormatError, TargetError
from inspector.formats import read
from inspector.formats.pytorch.reader import TAIL, clipped, placed
from inspector.model import Header
from inspector.sources.local import LocalFile


def header(data: bytes, tmp_path: Path, name: str = "x.bin") -> Header:
    path = tmp_path / name
    path.write_bytes(data)
    found = read(LocalFile(path), name)
    assert [region.end for region in found.regions[:-1]] == [region.start for region in found.regions[1:]]
    assert (found.regions[0].start, found.regions[-1].end) == (0, len(data))
    return found


WRITERS = pytest.mark.parametrize("write", [torch_zip, torch_pickles], ids=["archive", "pickles"])


@WRITERS
def test_tensors_at_their_places(write: Callable[[Tensors], bytes], tmp_path: Path) -> None:
    """Names, dtypes and shapes as saved; 48 and 10 bytes are all that tensors claim."""
    found = header(write(PLAIN), tmp_path)
    assert [(t.name, t.dtype, t.shape, t.nbytes) for t in found.tensors] == [
        ("a.weight", "F32", (3, 4), 48),
        ("b.weight", "F16", (5,), 10),
    ]
    assert found.bytes_in("tensors") == 58
    assert found.findings == ()


def test_offsets_lead_to_the_bytes(tmp_path: Path) -> None:
    """Aligned to 64 as by PyTorch, or anywhere as by `zipfile`: the offset is that of the storage's own bytes."""
    for aligned in (True, False):
        data = torch_zip(PLAIN, aligned=aligned)
        for tensor in header(data, tmp_path).tensors:
            assert data[tensor.offset : tensor.offset + tensor.nbytes] == bytes(range(tensor.nbytes))
            assert not aligned or tensor.offset % 64 == 0


@WRITERS
def test_shared_bytes_are_counted_once(write: Callable[[Tensors], bytes], tmp_path: Path) -> None:
    """The second name is listed with the first, and has no bytes of its own."""
    found = header(write(TIED), tmp_path)
    assert [t.name for t in found.tensors] == ["a"]
    assert found.metadata == {"b": "a"}
    assert found.bytes_in("tensors") == 48
    assert [finding.rule for finding in found.findings] == ["shared-storage"]


def test_views_and_what_they_leave(tmp_path: Path) -> None:
    """A transposed tensor, and two elements of forty: no tensor uses 152 bytes of its storage."""
    found = header(torch_zip(STRIDED), tmp_path)
    assert [(t.name, t.nbytes) for t in found.tensors] == [("a", 48), ("b", 8)]
    assert found.bytes_in("unused") == 152
    assert {finding.rule for finding in found.findings} == {"view"}


def test_overlapping_views_share_bytes(tmp_path: Path) -> None:
    """Rows 0 and 1 of a matrix that is itself saved have no further bytes."""
    found = header(torch_zip({"m": Saved((2, 4)), "r": Saved((4,), offset=4, numel=8)}), tmp_path)
    assert [t.nbytes for t in found.tensors] == [32, 0]


def test_a_storage_that_is_too_short_or_gone(tmp_path: Path) -> None:
    """An error states the number of bytes; the sums hold."""
    found = header(torch_zip(SHORT), tmp_path)
    assert [(f.rule, f.message) for f in found.findings] == [("storage", "it reaches 28 bytes beyond its storage")]
    gone = header(torch_zip(PLAIN, drop="archive/data/0"), tmp_path)
    assert [(f.rule, f.tensor) for f in gone.findings] == [("storage", "a.weight")]


def test_objects_are_passed_by(tmp_path: Path) -> None:
    """What is not a tensor is reported by its class, and nothing is imported for it."""
    found = header(torch_zip(OBJECT), tmp_path)
    assert [t.name for t in found.tensors] == ["a"]
    assert "argparse.Namespace" in found.findings[0].message


def test_findings_about_objects(tmp_path: Path) -> None:
    """A module that was saved whole is reported; an ordered dictionary is not."""
    ordered = b"\x80\x02ccollections\nOrderedDict\n)R(X\x01\0\0\0a" + opcodes(Saved((2,), "0")) + b"u."
    whole = b"\x80\x02cmine\nNet\n)\x81}(X\x01\0\0\0a" + opcodes(Saved((2,), "0")) + b"ub."
    reported = ["objects of 1 class inside: mine.Net", "a whole object of the class mine.Net, not a state dict"]
    for pickled, messages in ((ordered, []), (whole, reported)):
        found = header(hostile.archive({"x/data.pkl": pickled, "x/data/0": bytes(8)}), tmp_path)
        assert [tensor.name for tensor in found.tensors] == ["a"]
        assert [each.message for each in found.findings] == messages


def test_training_checkpoints(tmp_path: Path) -> None:
    """The weights have their own names, and so do an optimizer's tensors."""
    saved: Tensors = {
        "state_dict": inner({"w": Saved((2,), "0")}),
        "optimizer": inner({"exp_avg": Saved((2,), "1")}),
    }
    found = header(torch_zip(saved, storages={"0": 8, "1": 8}), tmp_path)
    assert [t.name for t in found.tensors] == ["w", "optimizer.exp_avg"]


@WRITERS
def test_numbers_of_a_run_are_not_parameters(write: Callable[[Tensors], bytes], tmp_path: Path) -> None:
    """A number beside the dictionary of weights is counted or measured, whatever it is called; within, it is a weight."""
    weights = inner({"fc.weight": Saved((5,), "0"), "temperature": Saved((1,), "1")})
    cases: list[tuple[Tensors, int]] = [
        ({"state_dict": weights, "best_acc1": Saved((1,), "2")}, 6),
        ({"encoder": weights, "best_acc1": Saved((1,), "2")}, 6),
        ({"fc.weight": Saved((5,), "0"), "logit_scale": Saved((1,), "1")}, 6),
    ]
    for number, (saved, parameters) in enumerate(cases):
        path = tmp_path / f"{number}.pt"
        path.write_bytes(write(saved))
        result = inspector.reconcile(inspector.open(path))
        state = [step.tensors for step in result.steps if step.cause == "training_state"]
        assert (result.logical, state) == (parameters, [1] if number < 2 else [])


def test_folders_and_indexes(tmp_path: Path) -> None:
    """A folder without other weights; with an index, its shards; beside safetensors, the safetensors."""
    one, two = torch_zip({"a": Saved((2,), "0")}), torch_zip({"b": Saved((3,), "0")})
    names = ("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin")
    index = dump({"metadata": {"total_size": 20}, "weight_map": {"a": names[0], "b": names[1]}})
    files: hostile.Files = {
        names[0]: one,
        names[1]: two,
        "pytorch_model.bin.index.json": index,
        "training_args.bin": b"x",
    }
    folder = hostile.write(files, tmp_path / "shards")
    found = inspector.open(folder)
    assert [each.path for each in found.files] == list(names)
    assert found.format == "pytorch" and found.index is not None
    hostile.write({"model.safetensors": hostile.safetensors({"a": [2]})}, folder)
    assert inspector.open(folder).format == "safetensors"


def test_nothing_else_is_taken_for_one(tmp_path: Path) -> None:
    """A pickle that PyTorch did not write, another archive, a folder of a training run's state: one clear line."""
    for data, word in (
        (
            calls("posix", "system"),
            r"^x\.bin is a pickle that PyTorch did not write: a pickle is never opened here, because opening one runs its code$",
        ),
        (hostile.archive({"a": b"b"}), "no data.pkl"),
    ):
        with pytest.raises(FormatError, match=word):
            header(data, tmp_path)
    state = hostile.write({"optimizer.pt": torch_zip(PLAIN)}, tmp_path / "state")
    with pytest.raises(TargetError, match="training run"):
        inspector.open(state)


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint whose pickle calls `os.mkdir` is listed, and no folder is created."""
    monkeypatch.chdir(tmp_path)
    evil = b"cposix\nmkdir\nX\x04\x00\x00\x00ranx\x85R"
    found = header(torch_zip({"a": Saved((2,), "0"), "x": evil}), tmp_path)
    assert [t.name for t in found.tensors] == ["a"]
    assert not (tmp_path / "ranx").exists()


@WRITERS
@every("cut", range(1, 12))
def test_truncation_is_an_error_or_a_finding(write: Callable[[Tensors], bytes], cut: int, tmp_path: Path) -> None:
    """Cut anywhere: one clear error, or a finding of severity error."""
    data = write(PLAIN)
    try:
        found = header(data[: len(data) * cut // 12], tmp_path)
    except FormatError as error:
        assert "\n" not in str(error)
    else:
        assert "error" in {finding.severity for finding in found.findings}


def test_bombs_of_references_cost_nothing(tmp_path: Path) -> None:
    """Sixty dictionaries, each with the one before under two names: of 2⁶⁰ paths to one tensor, few are followed."""
    text = b"X\x01\x00\x00\x00"
    doubled = b"".join(
        b"}(" + text + b"ah" + bytes([at]) + text + b"bh" + bytes([at]) + b"uq" + bytes([at + 1]) for at in range(60)
    )
    bomb = b"}(" + text + b"t" + opcodes(Saved((4,), "0")) + b"uq\x00" + doubled
    found = header(torch_zip({"x": bomb}, storages={"0": 16}), tmp_path)
    assert len(found.tensors) == 1 and len(found.metadata) < 1000
    assert "too many values" in [finding.message.partition(":")[0] for finding in found.findings]


def test_a_tuple_that_many_groups_share_is_not_a_bomb(tmp_path: Path) -> None:
    """An optimizer's `betas` are one tuple in all of its groups."""
    groups = b"](" + b"}X\x05\x00\x00\x00betas" + b"G" + bytes(8) + b"K\x01\x86q\x00s"
    groups += b"}X\x05\x00\x00\x00betash\x00s" * 50 + b"e"
    found = header(torch_zip({"a": Saved((2,), "0"), "groups": groups}), tmp_path)
    assert found.findings == ()


def test_places_of_numbers(tmp_path: Path) -> None:
    """The offset of each tensor's first element, also of a view and of a second name; none if it is too short."""
    saved: Tensors = {
        "a": Saved((3, 4), "0"),
        "b": Saved((4,), "0", offset=8, numel=12),
        "c": Saved((2,), "1", "HalfStorage"),
        "cut": Saved((9,), "2", numel=1),
    }
    path = tmp_path / "x.bin"
    path.write_bytes(torch_zip(saved))
    data = path.read_bytes()
    found = placed(LocalFile(path), "x.bin")
    assert [*found] == ["a", "b", "c"]
    starts = {name: data[at : at + 2] for name, (_, at) in found.items()}
    assert starts == {"a": b"\0\1", "b": bytes((32, 33)), "c": b"\0\1"}


def test_reads_end_where_the_file_does(tmp_path: Path) -> None:
    """The last 128 KiB are fetched once; what starts before them is fetched separately, and no more than needed."""
    asked: list[tuple[int, int]] = []
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(at % 251 for at in range(200_000)))
    data = path.read_bytes()

    class Noting(LocalFile):
        def read(self, offset: int, length: int) -> bytes:
            asked.append((offset, length))
            return super().read(offset, length)

    read_at = clipped(Noting(path))
    tail = (200_000 - TAIL, TAIL)
    for start, length in ((0, 5), (tail[0] - 1, 3), (tail[0], 4), (199_999, 1)):
        assert read_at(start, length) == data[start : start + length]
    assert asked == [(0, 5), (tail[0] - 1, 3), tail]
    assert (read_at(199_998, 9), read_at(200_000, 1), read_at(-1, 5), read_at(5, 0)) == (data[-2:], b"", b"", b"")
    assert len(asked) == 3


def test_a_list_of_storages_that_is_none(tmp_path: Path) -> None:
    good = torch_pickles(PLAIN)
    keys = pickle.dumps(["0", "1"], protocol=2)
    for odd in ({"0": 1}, ["0", None]):
        with pytest.raises(FormatError, match=r"^x\.bin: its list of storages is invalid$") as raised:
            header(good.replace(keys, pickle.dumps(odd, protocol=2)), tmp_path)
        assert raised.value.rule == "unreadable-file"
    with pytest.raises(
        FormatError, match=r"^x\.bin: its pickles end before the storages: a truncated download$"
    ) as raised:
        header(good[: good.index(keys)], tmp_path)
    assert raised.value.rule == "truncated"
