"""A scan continues where it was ended, and updates its tables: only what is missing or changed is inspected."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Event
from time import monotonic, sleep

import pytest
from costs import HANGS

from inspector.errors import UsageError
from inspector.scanning import storage
from inspector.scanning.trees import LocalTree, Node
from scan.conftest import OF_THE_SCAN, Scan, gguf, llama, make, table, tables

pytestmark = pytest.mark.gate


def names(out: Path) -> list[str]:
    return sorted(Path(row["target"]).name for row in table(out, "checkpoints"))


def test_nothing_changed_is_nothing_done(tmp_path: Path, scan: Scan) -> None:
    tree = make(tmp_path / "tree", a=llama(), b=gguf(), c=llama(cut=1))
    scan([tree], tmp_path / "out")
    before = tables(tmp_path / "out")
    again = scan([], tmp_path / "out", resume=True)
    assert (again.number, again.inspected, again.units["kept"]) == (2, 0, 3)
    assert tables(tmp_path / "out") == before


def test_only_what_is_new_or_changed_is_inspected(tmp_path: Path, scan: Scan) -> None:
    """One is new, one larger, one gone, two unchanged; the tables are those of a first scan of all that."""
    tree, out = make(tmp_path / "tree", same=llama(), other=gguf(), grows=llama(), goes=llama()), tmp_path / "out"
    scan([tree], out)
    gone = (tree / "goes/model.safetensors").stat().st_size
    before = (tree / "grows/model.safetensors").stat().st_size
    shutil.rmtree(tree / "goes")
    make(tree, grows=llama("F32", "float32"), new=llama("BF16", "bfloat16"))
    done = scan([], out, resume=True)
    assert done.inspected == 2
    assert done.units == {"inspected": 2, "kept": 2, "changed": 1}
    assert done.vanished == {"checkpoints": 1, "on_disk": gone}
    found = {Path(row["target"]).name: row for row in table(out, "checkpoints")}
    assert sorted(found) == ["grows", "new", "other", "same"]
    assert {name: (row["first_scan"], row["scan"], row["bytes_before"]) for name, row in found.items()} == {
        "same": (1, 1, None),
        "other": (1, 1, None),
        "grows": (1, 2, before),
        "new": (2, 2, None),
    }
    scan([tree], tmp_path / "fresh")
    assert tables(out, without=OF_THE_SCAN) == tables(tmp_path / "fresh", without=OF_THE_SCAN)


def test_a_place_that_cannot_be_read_now_keeps_its_rows(tmp_path: Path, scan: Scan) -> None:
    """A disk that is not mounted loses no rows."""
    one, two, out = make(tmp_path / "one", a=llama()), make(tmp_path / "two", b=llama()), tmp_path / "out"
    scan([one, two], out)
    two.rename(tmp_path / "away")
    done = scan([], out, resume=True)
    assert done.vanished["checkpoints"] == 0
    assert names(out) == ["a", "b", "two"]
    (tmp_path / "away").rename(two)
    scan([], out, resume=True)
    assert names(out) == ["a", "b"]


def test_roots_that_are_not_named_keep_their_rows(tmp_path: Path, scan: Scan) -> None:
    one, two, out = make(tmp_path / "one", a=llama()), make(tmp_path / "two", b=llama()), tmp_path / "out"
    scan([one], out)
    scan([two], out, resume=True)
    assert names(out) == ["a", "b"]


def test_a_scan_is_not_written_over(tmp_path: Path, scan: Scan) -> None:
    tree = make(tmp_path / "tree", a=llama())
    scan([tree], tmp_path / "out")
    with pytest.raises(UsageError, match="already has a scan: --resume"):
        scan([tree], tmp_path / "out")


def test_two_scans_do_not_share_a_folder(tmp_path: Path, scan: Scan) -> None:
    """The second scan ends with one line, and the first continues."""
    tree, out = make(tmp_path / "tree", a=llama()), tmp_path / "out"
    storage.prepare(out)
    with (
        storage.locked(out),
        pytest.raises(UsageError, match=rf"another scan is writing to it \(process {os.getpid()} on"),
    ):
        scan([tree], out)
    scan([tree], out)
    assert names(out) == ["a"]


def test_the_same_thing_twice_is_one_row(tmp_path: Path, scan: Scan) -> None:
    """Roots within each other, a link to a folder, and a list that repeats one."""
    tree = make(tmp_path / "tree", inner__a=llama(), inner__b=llama())
    (tree / "link").symlink_to(tree / "inner")
    (tmp_path / "list.txt").write_text(f"# models\n{tree / 'inner' / 'a'}\n\n{tree}\n")
    scan([tree, tree / "inner", f"@{tmp_path / 'list.txt'}"], tmp_path / "out")
    assert names(tmp_path / "out") == ["a", "b"]


def test_times_of_any_kind(tmp_path: Path, scan: Scan) -> None:
    """Files from the year 2200, and from before 1970: what counts is that a time is different, not later."""
    tree, out = make(tmp_path / "tree", future=llama(), past=llama()), tmp_path / "out"
    os.utime(tree / "future/model.safetensors", (7_258_118_400, 7_258_118_400))
    os.utime(tree / "past/model.safetensors", (-86_400, -86_400))
    scan([tree], out)
    assert scan([], out, resume=True).inspected == 0
    os.utime(tree / "future/model.safetensors", (1_000_000_000, 1_000_000_000))
    assert scan([], out, resume=True).inspected == 1


def killed(tree: Path, out: Path, scheduler: str, *, parts: int) -> int:
    """Run the command until there are some parts, and end it by SIGKILL; the checkpoints that are committed."""
    command = [sys.executable, "-m", "inspector", "scan", str(tree), "--out", str(out), "--scheduler", scheduler]
    running = Popen(command, stdout=DEVNULL)
    until = monotonic() + HANGS
    while len(storage.parts(out)) < parts and running.poll() is None and monotonic() < until:
        sleep(0.01)
    running.send_signal(signal.SIGKILL)
    assert running.wait(10) == -signal.SIGKILL
    sleep(0.5)  # its running tasks end
    return len(table(out, "checkpoints"))


def many(tree: Path, number: int) -> Path:
    """A tree of this many small models, of which one in a hundred is damaged."""
    whole, cut = make(tree, _0=llama()) / "_0", make(tree, _1=llama(cut=7)) / "_1"
    for at in range(2, number):
        shutil.copytree(cut if at % 100 == 99 else whole, tree / f"_{at}", copy_function=os.link)
    return tree


def test_killed_and_resumed(tmp_path: Path, scan: Scan, one_cluster: str) -> None:
    """After `kill -9`, what was committed stays, the rest is done, and the tables are those of an undisturbed run."""
    tree, out = many(tmp_path / "tree", 300), tmp_path / "out"
    before = killed(tree, out, one_cluster, parts=3)
    assert 0 < before < 300
    assert storage.check(out)["scans"][-1]["finished"] is None
    done = scan([], out, resume=True)
    assert (done.number, done.inspected, done.checkpoints) == (1, 300 - before, 300)
    scan([tree], tmp_path / "quiet")
    assert tables(out) == tables(tmp_path / "quiet")
    assert not [*(out / ".work").iterdir()]


@pytest.mark.parametrize("lost", ["tensors", "checkpoints", "sources"])
def test_killed_while_parts_are_put_together(lost: str, tmp_path: Path, scan: Scan) -> None:
    """Killed before the new part was committed, while it was, and before the old ones were deleted."""
    tree, out = many(tmp_path / "tree", 40), tmp_path / "out"
    scan([tree], tmp_path / "quiet")
    scan([tree], out)
    (part,) = storage.parts(out)
    work = out / ".work" / "dead"
    work.mkdir(parents=True)
    storage.merge(out, work, "0123456789abcdef", {part: []})
    if lost != "sources":
        storage.part_file(out, "checkpoints", "0123456789abcdef").unlink()
    if lost == "tensors":
        storage.part_file(out, "tensors", "0123456789abcdef").unlink()
    assert scan([], out, resume=True).inspected == 0
    assert tables(out) == tables(tmp_path / "quiet")
    assert {len([*(out / name).iterdir()]) for name in ("tensors", "files", "findings", "checkpoints")} == {1}


def test_parts_are_few() -> None:
    """A million checkpoints in batches of 128 become some 250 parts; large sound parts are left as they are."""
    from inspector.scanning.run import merges

    sizes = {f"{at:05}": 128 for at in range(7813)}
    assert len(merges(sizes, {})) == 245
    assert merges({"a": 4096, "b": 5, "c": 7, "d": 4000}, {"d": {"x"}}) == [{"b": [], "c": [], "d": ["x"]}]
    assert merges({"a": 4096, "b": 5}, {}) == []


def test_a_listing_hangs(tmp_path: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose listing hangs is a row, the others are inspected; later, --resume reads only that one."""
    tree = make(tmp_path / "tree", a=llama(), b=llama(), c=llama())
    back, listed = Event(), LocalTree.list

    def hang(self: LocalTree, folder: str) -> Sequence[Node]:
        if folder.endswith("/b"):
            back.wait()
        return listed(self, folder)

    monkeypatch.setattr(LocalTree, "list", hang)
    done = scan([tree], tmp_path / "out", timeout=5)
    assert (done.checkpoints, done.unreadable) == (3, 1)
    (row,) = [row for row in table(tmp_path / "out", "checkpoints") if row["error"]]
    assert (row["target"], row["error_kind"]) == (str(tree / "b"), "Timeout")
    assert row["error"] == "does not answer within 5 seconds"
    back.set()
    assert scan([], tmp_path / "out", resume=True).inspected == 1
    assert [row["error"] for row in table(tmp_path / "out", "checkpoints")] == [None, None, None]
