"""The cost of inputs that try to exhaust a machine: at most 6 million calls and 200 MB, each in its own process."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
from hostile.hdf5_files import hdf5

import inspector
from inspector.auditing import limits, verdicts
from inspector.sources import local
from inspector.units import times

ROOT = Path(inspector.__file__).parents[1]
#: Calls of functions, Python's and C's, which do not depend on the machine. Importing and printing take 110,000.
CALLS, MEGABYTES = 6_000_000, 200
#: Seconds of processor time after which a process is ended, since a single call may hang.
HANGS = 120

pytestmark = [
    pytest.mark.once,  # with the oldest dependencies a process costs more
    pytest.mark.skipif(sys.platform == "win32", reason="what a process has cost is asked of Unix"),
]


def large_index(folder: Path) -> None:
    """An index of 60 MB and 450,000 tensors, about as large as the reader accepts."""
    stem = "model.layers.{}.mlp.experts.{}.down_proj." + "weight_scale_inv_" * 3
    names = (stem.format(at % 90, at // 90) for at in range(450_000))
    pairs = ", ".join(f'"{name}{at}": "model-{at % 800:05}-of-00800.safetensors"' for at, name in enumerate(names))
    text = '{"metadata": {"total_size": 1}, "weight_map": {' + pairs + "}}"
    assert 55_000_000 < len(text) < 64 * 1024 * 1024
    (folder / hostile.INDEX).write_text(text)


def short_pairs(folder: Path) -> None:
    """An index of as many tensors as 60 MB can name."""
    pairs = ",".join(f'"{at:x}":"a"' for at in range(4_500_000))
    (folder / hostile.INDEX).write_text('{"weight_map": {' + pairs + "}}")


def long_metadata(folder: Path) -> None:
    """A header of 100 MB, all of it one text in `__metadata__`."""
    entry = json.dumps({"dtype": "U8", "shape": [1], "data_offsets": [0, 1]})
    text = '{"__metadata__":{"x":"' + "y" * 99_900_000 + f'"}},"a":{entry}}}'
    (folder / "model.safetensors").write_bytes(hostile.framed(text.encode(), 1))


def many_files(folder: Path) -> None:
    """40,000 files."""
    for number in range(40_000):
        os.close(os.open(folder / f"{number}.json", os.O_CREAT | os.O_WRONLY))


def many_pickles(folder: Path) -> None:
    """20,000 pickles."""
    for number in range(20_000):
        (folder / f"{number}.bin").write_bytes(b"\x80\x02N.")


def many_tokens(folder: Path) -> None:
    """A tokenizer of a million tokens and as many merges."""
    vocabulary = {f"token{at}": at for at in range(1_000_000)}
    merges = [f"a{at} b{at}" for at in range(1_000_000)]
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary, "merges": merges}}))


def product_of_counts(folder: Path) -> None:
    """Ten thousand groups of ten thousand layers, in 120 bytes."""
    own = {"model_type": "albert", "architectures": ["AlbertModel"]}
    (folder / "config.json").write_text(json.dumps({**own, "num_hidden_groups": 10_000, "inner_group_num": 10_000}))


def text_times_number(folder: Path) -> None:
    """A text where a factor is expected."""
    own = {"model_type": "cvt", "embed_dim": [4_000_000_000] * 3, "mlp_ratio": ["ab"] * 3}
    (folder / "config.json").write_text(json.dumps(own))


def long_gguf(folder: Path) -> None:
    """A GGUF whose vocabulary takes 60 MB, of long and similar texts."""
    (folder / "model.gguf").write_bytes(
        hostile.gguf({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["x" * 100_000] * 600}, {"a": [32]})
    )


def endless_name(folder: Path) -> None:
    """A tensor's name of 14 MB, and one of as many numbers as 900 kB can hold."""
    (folder / "long.safetensors").write_bytes(hostile.safetensors({"a" * 14_000_000: [2]}))
    (folder / "numbers.safetensors").write_bytes(hostile.safetensors({"1." * 450_000: [2]}))


def many_words(folder: Path) -> None:
    """A packed weight whose name has 19,000 words, and modules excluded from packing."""
    stem = "a." * 19_000
    shapes = {stem + "qweight": [2, 16], stem + "qzeros": [1, 2], stem + "scales": [1, 16], stem + "g_idx": [16]}
    (folder / "model.safetensors").write_bytes(hostile.safetensors(shapes))
    stated = {"quant_method": "gptq", "bits": 4, "modules_to_not_convert": ["lm_head"]}
    (folder / "config.json").write_text(json.dumps({**hostile.CONFIG, "quantization_config": stated}))


def large_tokenizer(folder: Path) -> None:
    """A file of 60 MB in place of a tokenizer."""
    (folder / "tokenizer.json").write_bytes(b'{"model": {"vocab": {' + b'"a\\\\": 1, ' * 5_500_000 + b'"b": 2}}}')


def archives_in_archives(folder: Path) -> None:
    """5,000 members that are all the same archive, which contains 5,000 more, and again."""
    data = b"N."
    for _ in range(3):
        sizes = (zlib.crc32(data), len(data), len(data))
        head = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, *sizes, 5, 0) + b"a.zip"
        entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, *sizes, 5, 0, 0, 0, 0, 0, 0) + b"a.zip"
        listed, start = entry * 5_000, len(head) + len(data)
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 5_000, 5_000, len(listed), start, 0)
        data = head + data + listed + end
    (folder / "model.pt").write_bytes(data)


def long_templates(folder: Path) -> None:
    """As many templates as fit into a megabyte, each with one filter applied to another."""
    text = "{% if a %}{{ b }}{% elif c %}{{ (a if b else 'c') ~ (d or 'e') }}{% endif %}" * 12
    many = [{"name": f"t{at}", "template": text} for at in range(900)]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": many}))


def many_objects(folder: Path) -> None:
    """An HDF5 file of 15,000 links out of the folder, and attributes of 60 kB."""
    texts = {f"a{at}": b'{"class_name": "Dense", "config": {}}, ' * 1_500 for at in range(10)}
    (folder / "model.h5").write_bytes(hdf5(texts, {f"l{at}": "../x.h5" for at in range(4_000)}))


def doubled_tuples(folder: Path) -> None:
    """A pickle of 980 kB with a pair of the same pair, nested 490,000 times."""
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02K\1" + b"2\x86" * 490_000 + b".")


def modules_of_an_adapter(folder: Path) -> None:
    """An adapter of 4,000 modules in as many layers, whose configuration names 40,000, and ranks for 20,000."""
    stem = "base_model.model.model.layers"
    shapes = {f"{stem}.{at}.m{at}.lora_{half}.weight": [1] for at in range(4_000) for half in "AB"}
    named = {"target_modules": [f"m{at}" for at in range(40_000)], "modules_to_save": [f"s{at}" for at in range(9_000)]}
    ranks = {f"x{at}.q": at for at in range(20_000)}
    config = {"peft_type": "LORA", "r": 8, "rank_pattern": ranks, "alpha_pattern": ranks, **named}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(hostile.safetensors(shapes))


CASES: tuple[Callable[[Path], None], ...] = (
    archives_in_archives,
    long_templates,
    many_objects,
    large_index,
    short_pairs,
    long_metadata,
    many_files,
    many_pickles,
    many_tokens,
    product_of_counts,
    text_times_number,
    long_gguf,
    endless_name,
    many_words,
    large_tokenizer,
    doubled_tuples,
    modules_of_an_adapter,
)


#: Runs a command and writes its cost: exit code, calls, peak of memory in kB. Python counts by thread, and
#: the memory is that of this process alone, without pytest's.
METER = """
import cProfile, json, re, resource, sys, threading
from pathlib import Path

from inspector.__main__ import run

class Others:
    calls = 0
    def __call__(self, frame, event, argument):
        self.calls += event.endswith("call")

hangs, place, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_CPU, (int(hangs), int(hangs)))
others, profile = Others(), cProfile.Profile()
threading.setprofile(others)
code = profile.runcall(run, arguments)
calls = others.calls + sum(each.callcount for each in profile.getstats())
status = Path("/proc/self/status")
peak = re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1] if status.exists() else 0
Path(place).write_text(json.dumps([code, calls, int(peak)]))
"""


@pytest.mark.gate
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_is_bounded(make: Callable[[Path], None], tmp_path: Path) -> None:
    """The overview and the audit of a folder end with an answer or one line, within bounds of time and memory."""
    folder = hostile.make(hostile.nothing, tmp_path)
    make(folder)
    check((), folder)
    check(("audit",), folder)


@pytest.mark.gate
@pytest.mark.parametrize("command", [(), ("audit",)], ids=["overview", "audit"])
def test_deep_folders(command: tuple[str, ...], tmp_path: Path) -> None:
    """1,200 nested folders, more than Python may nest calls."""
    chain = [hostile.make(hostile.nothing, tmp_path)]
    for _ in range(1200):
        chain.append(chain[-1] / "d")
        chain[-1].mkdir()
    try:
        check(command, tmp_path)
    finally:
        for folder in reversed(chain[1:]):  # `shutil.rmtree` nests calls, too
            folder.rmdir()


def check(command: tuple[str, ...], folder: Path) -> None:
    """Run the command on a folder within the bounds."""
    with tempfile.NamedTemporaryFile("r") as cost:
        metered = (sys.executable, "-c", METER, str(HANGS), cost.name, *command, str(folder), "--json")
        ran = subprocess.run(
            metered, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True
        )
        code, calls, kilobytes = json.load(cost)
    assert code in (0, 1, 2)
    assert ran.stderr.count("\n") == (code == 2), ran.stderr
    assert calls < CALLS
    assert kilobytes * 1024 < MEGABYTES * 1_000_000


def test_a_stopped_audit_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the time is used up, the files are not read again, without a limit."""
    folder = hostile.make(hostile.nothing, tmp_path)
    read: list[str] = []

    def endless(*_: object, **__: object) -> None:
        read.append("again")
        raise limits.Exceeded

    monkeypatch.setattr("inspector.opening.checkpoint.examine", endless)
    (model,) = inspector.audit([folder]).checkpoints
    assert [(finding.rule, len(read)) for finding in model.findings] == [("not-judged", 1)]


def test_a_library_is_asked_about_few_entries_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The `gguf` package takes 30 kB for each entry of a file that our own reader refuses as well."""
    keys = {"general.architecture": "llama", **{f"k{at}": "v" for at in range(30_000)}}
    (tmp_path / "model.gguf").write_bytes(hostile.gguf(keys, {"blk.0.attn_q.weight": [32, 32]}))
    monkeypatch.setattr("inspector.auditing.verdicts._gguf", lambda path: pytest.fail(f"{path} is read"))
    (model,) = inspector.audit([tmp_path]).checkpoints
    assert [finding.rule for finding in model.findings] == ["unreadable-file"]
    assert [(each.accepts, each.reason) for each in model.verdicts if each.reader == "gguf"] == [
        (None, "too many entries")
    ]


@pytest.mark.parametrize(
    ("order", "tensors", "keys", "few"),
    [
        ("<", 4_000, 4_000, True),
        ("<", 4_001, 0, False),
        ("<", 0, 4_001, False),
        (">", 4_000, 4_000, True),
        (">", 0, 4_001, False),
    ],
)
def test_entries_are_counted_in_the_files_byte_order(order: str, tensors: int, keys: int, few: bool) -> None:
    head = b"GGUF" + struct.pack(f"{order}IQQ", 3, tensors, keys)
    assert verdicts.few_enough(head) is few
    assert verdicts.few_enough(head[:23])  # the package refuses it at once


def test_readers_that_take_too_much_memory_are_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings of the rules are still reported."""

    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("inspector.auditing.verdicts.verdicts", exhausted)
    (model,) = inspector.audit([hostile.make(hostile.CASES["pickle"].trips, tmp_path)]).checkpoints
    reported = {finding.rule: finding.message for finding in model.findings}
    assert "pickle" in reported
    assert reported["not-judged"] == "the readers' verdicts: takes more memory than any sound model: not judged"


def many_fields(files: hostile.Files) -> None:
    files["model.safetensors"] = hostile.framed(
        json.dumps({"__metadata__": {f"k{at}": "v" for at in range(4)}}).encode()
    )


def many_holes(files: hostile.Files) -> None:
    """Four tensors with 32 unclaimed bytes before each."""
    own = {f"t{at}": {"dtype": "U8", "shape": [1], "data_offsets": [32 + 33 * at, 33 + 33 * at]} for at in range(4)}
    files["model.safetensors"] = hostile.framed(json.dumps(own).encode(), 132)


def nested_code(files: hostile.Files) -> None:
    """Code of another repository, with a name of 300 parts."""
    parts = {f"part{at}": {"a": 1} for at in range(300)}
    own = {**hostile.CONFIG, **parts, "last": {"auto_map": {"AutoModel": "evil/repository--module.Class"}}}
    files["config.json"] = json.dumps(own).encode()


def code(files: hostile.Files) -> None:
    """Python that loaders run, with three expressions."""
    files["modeling_own.py"] = b"import os\nprint(os.getcwd())\n"


@pytest.mark.parametrize(
    ("bound", "most", "change", "rule", "reported"),
    [
        ("safety.misleading_text.MAX_FIELDS", 3, many_fields, "not-judged", "terminal-code: 1 field after the first 3: not judged"),
        ("safety.hidden_code.MAX_REGIONS", 2, many_holes, "not-judged", "polyglot: bytes that no tensor claims, in more than 2 places: not judged"),
        ("consistency.documents._MOST_SHAPES", 3, hostile.nothing, "not-judged", "transposed: 12 tensors, more than 3: not judged"),
        ("consistency.packing._MOST_TENSORS", 3, hostile.CASES["side-data"].misses, "not-judged", "side-data: 8 tensors, more than 3: not judged"),
        ("readers.python_code.MOST_STEPS", 2, code, "not-judged", "remote-code: source that takes more work than any program's: not judged"),
        ("safety.remote_code.__doc__", "", nested_code, "remote-code", "evil/repository"),
    ],
)  # fmt: skip
def test_a_reached_bound_is_reported(
    bound: str,
    most: object,
    change: hostile.Change,
    rule: str,
    reported: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a rule skipped is never reported as sound."""
    monkeypatch.setattr(f"inspector.auditing.{bound}", most)
    audited = inspector.audit([hostile.make(change, tmp_path)])
    found = [each for model in audited.checkpoints for each in model.findings]
    assert any(reported in each.message for each in found if each.rule == rule), found


def test_a_compressed_pickle_has_no_more_opcodes_than_a_small_file(tmp_path: Path) -> None:
    """10 kB of an archive unpack to ten million opcodes; only as many as a real model has are read."""
    with zipfile.ZipFile(tmp_path / "model.pt", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/data.pkl", b"\x80\x02" + b"N0" * 2_000_000 + b"N.")
        file.writestr("a/version", b"3\n")
    with pytest.raises(inspector.InspectorError, match="too many opcodes"):
        inspector.open(tmp_path / "model.pt")


def test_a_folder_of_many_models_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,500 files of 60 bytes took half a minute, since the folder was listed for each of them."""
    for at in range(20):
        (tmp_path / f"m{at}.safetensors").write_bytes(hostile.safetensors({"a": [1]}))
    listed: list[Path] = []
    own = local.LocalPlace._list

    def noted(place: local.LocalPlace) -> dict[str, int]:
        listed.append(place.root)
        return own(place)

    monkeypatch.setattr(local.LocalPlace, "_list", noted)
    assert len(inspector.models(tmp_path)) == 20
    assert len(listed) <= 3  # the folder itself, and once for all of its files


def test_a_shape_of_many_dimensions_is_shown_in_part() -> None:
    assert times([2] * 32) == "×".join(["2"] * 32)
    assert times([2] * 480_000) == "×".join(["2"] * 32) + "×… (480,000 dimensions)"
    assert times([]) == "scalar"
