"""What inputs made to exhaust a machine cost: at most 2 seconds of processor and 200 MB, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest

import inspector

ROOT = Path(inspector.__file__).parents[1]
SECONDS, MEGABYTES = 2, 200

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what a process has cost is asked of Unix")


def large_index(folder: Path) -> None:
    """An index of 60 MB and 450,000 tensors, about as long as the reader takes."""
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
    """A text where a factor is meant."""
    own = {"model_type": "cvt", "embed_dim": [4_000_000_000] * 3, "mlp_ratio": ["ab"] * 3}
    (folder / "config.json").write_text(json.dumps(own))


def long_gguf(folder: Path) -> None:
    """A GGUF whose vocabulary takes 60 MB, of long texts that are all alike."""
    (folder / "model.gguf").write_bytes(
        hostile.gguf({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["x" * 100_000] * 600}, {"a": [32]})
    )


def endless_name(folder: Path) -> None:
    """A tensor's name of 14 MB, and one of as many numbers as 900 kB have."""
    (folder / "long.safetensors").write_bytes(hostile.safetensors({"a" * 14_000_000: [2]}))
    (folder / "numbers.safetensors").write_bytes(hostile.safetensors({"1." * 450_000: [2]}))


def many_words(folder: Path) -> None:
    """A packed weight whose name has 19,000 words, and modules left out of packing."""
    stem = "a." * 19_000
    shapes = {stem + "qweight": [2, 16], stem + "qzeros": [1, 2], stem + "scales": [1, 16], stem + "g_idx": [16]}
    (folder / "model.safetensors").write_bytes(hostile.safetensors(shapes))
    said = {"quant_method": "gptq", "bits": 4, "modules_to_not_convert": ["lm_head"]}
    (folder / "config.json").write_text(json.dumps({**hostile.CONFIG, "quantization_config": said}))


def large_tokenizer(folder: Path) -> None:
    """A tokenizer of 60 MB, none of which is one."""
    (folder / "tokenizer.json").write_bytes(b'{"model": {"vocab": {' + b'"a\\\\": 1, ' * 5_500_000 + b'"b": 2}}}')


CASES: tuple[Callable[[Path], None], ...] = (
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
)


#: Runs a command and says what it has cost. A process that pytest starts itself would begin with pytest's own memory.
METER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
kilobytes = cost.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
print(json.dumps([done.returncode, done.stderr.decode(), cost.ru_utime + cost.ru_stime, kilobytes * 1024 / 1e6]))
"""


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("command", [(), ("audit",)], ids=["overview", "audit"])
def test_is_bounded(command: tuple[str, ...], make: Callable[[Path], None], tmp_path: Path) -> None:
    """The command ends with an answer or one line, in bounded time and memory."""
    folder = hostile.make(hostile.nothing, tmp_path)
    make(folder)
    check(command, folder)


@pytest.mark.parametrize("command", [(), ("audit",)], ids=["overview", "audit"])
def test_deep_folders(command: tuple[str, ...], tmp_path: Path) -> None:
    """1,200 folders within each other: more than Python may nest calls."""
    chain = [hostile.make(hostile.nothing, tmp_path)]
    for _ in range(1200):
        chain.append(chain[-1] / "d")
        chain[-1].mkdir()
    try:
        check(command, tmp_path)
    finally:
        for folder in reversed(chain[1:]):  # `shutil.rmtree` nests calls as well
            folder.rmdir()


def check(command: tuple[str, ...], folder: Path) -> None:
    """Run the command on a folder within the bounds."""
    inspect = (sys.executable, "-m", "inspector", *command, str(folder), "--json")
    ran = subprocess.run([sys.executable, "-c", METER, *inspect], cwd=ROOT, capture_output=True, check=True)
    code, told, seconds, megabytes = json.loads(ran.stdout)
    assert code in (0, 1, 2)
    assert told.count("\n") == (code == 2), told
    assert seconds < SECONDS
    assert megabytes < MEGABYTES
