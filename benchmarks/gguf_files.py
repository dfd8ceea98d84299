"""Reading GGUF headers with large vocabularies, compared with gguf-dump, gguf.GGUFReader and @huggingface/gguf.

    python benchmarks/gguf_files.py [--rounds 5] [--node FOLDER]

`npm install @huggingface/gguf` was run in FOLDER. Each program is a process of its own, all in one run and in turn,
since machines are seldom idle: ratios say more than seconds. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from sparse_gguf import write_gguf  # noqa: E402  found through the path above

#: Vocabulary → (tokens, merges).
VOCABULARIES = {"128,256 tokens and 280,147 merges": (128_256, 280_147), "262,144 tokens": (262_144, 0)}
LLAMA_3 = next(iter(VOCABULARIES))

READER = "import sys, time, {module}; t = time.perf_counter(); {call}; print(time.perf_counter() - t)"
OURS = READER.format(
    module="pathlib, inspector.sources.local as s, inspector.formats.gguf as g",
    call="g.read(s.LocalFile(pathlib.Path(sys.argv[1])), 'x')",
)
PACKAGES = READER.format(module="gguf", call="gguf.GGUFReader(sys.argv[1])")
NODE = "import { gguf } from '@huggingface/gguf'; await gguf(process.argv[1], { allowLocalFile: true });"


@dataclass
class Run:
    """One process."""

    seconds: float  # wall time
    memory: int  # peak, bytes
    output: str


def run(command: Sequence[str], folder: Path = ROOT) -> Run:
    """Run a process, and measure its time and memory. Raises CalledProcessError."""
    with tempfile.TemporaryFile("w+") as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        return Run(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), out.read())


def make(path: Path, tokens: int, merges: int) -> None:
    """A file with 147 tensors and a vocabulary of random words."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrst", k=rng.randint(2, 11))) for _ in range(tokens)]
    pairs = [f"{rng.choice(words)} {rng.choice(words)}" for _ in range(merges)]
    key_values = [
        ("general.architecture", "string", "llama"),
        ("llama.block_count", "uint32", 16),
        ("llama.embedding_length", "uint32", 2048),
        ("tokenizer.ggml.tokens", "array[string]", words),
        ("tokenizer.ggml.scores", "array[float32]", {"items": tokens}),
        ("tokenizer.ggml.token_type", "array[int32]", {"items": tokens}),
        *([("tokenizer.ggml.merges", "array[string]", pairs)] if merges else []),
    ]
    write_gguf(path, key_values, [("F32", [32], f"blk.{number}.attn_norm.weight") for number in range(147)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of the fast programs; the slow ones run once")
    parser.add_argument("--node", type=Path, help="folder with node_modules/@huggingface/gguf")
    parser.add_argument("--make", nargs=3, metavar=("PATH", "TOKENS", "MERGES"), help="only write a file")
    options = parser.parse_args()
    if options.make:
        make(Path(options.make[0]), int(options.make[1]), int(options.make[2]))
        return 0
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for vocabulary, (tokens, merges) in VOCABULARIES.items():
            path = Path(folder) / f"{tokens}.gguf"
            # In another process: a child's peak memory starts at that of its parent.
            run([sys.executable, __file__, "--make", str(path), str(tokens), str(merges)])
            print(f"\n{vocabulary}: {path.stat().st_size:,} bytes")
            missed += compare(str(path), options.rounds, options.node, strict=vocabulary == LLAMA_3)
    print("\n".join(f"MISSED: {what}" for what in missed) or "\nevery target is met")
    return bool(missed)


def compare(path: str, rounds: int, node: Path | None, *, strict: bool) -> list[str]:
    """Run all programs on one file, print times and ratios; returns the missed targets."""
    python = sys.executable
    run([python, "-m", "inspector", path])  # compile what is not compiled yet
    inspect, reader, nodes = [], [], []
    for _ in range(rounds):
        inspect.append(run([python, "-m", "inspector", path]))
        reader.append(float(run([python, "-c", OURS, path]).output))
        if node:
            nodes.append(run(["node", "--input-type=module", "-e", NODE, path], node))
    packages = float(run([python, "-c", PACKAGES, path]).output)
    dump = run([python, "-m", "gguf.scripts.gguf_dump", path])
    seconds = median(each.seconds for each in inspect)
    memory = max(each.memory for each in inspect)
    print(f"  our reader      {median(reader):8.3f} s   gguf.GGUFReader {packages:8.2f} s")
    print(f"  inspect         {seconds:8.3f} s   {memory / 1e6:6.1f} MB")
    print(f"  gguf-dump       {dump.seconds:8.3f} s   {dump.memory / 1e6:6.1f} MB")
    targets = [
        ("reader / GGUFReader", packages / median(reader), 100),
        ("inspect / gguf-dump", dump.seconds / seconds, 40),
        ("50 MB / inspect's memory", 50e6 / memory, 1),
    ]
    if node:
        theirs = median(each.seconds for each in nodes)
        print(f"  @huggingface/gguf {theirs:6.3f} s   {max(each.memory for each in nodes) / 1e6:6.1f} MB")
        targets.append(("inspect / @huggingface/gguf", theirs / seconds, 4))
    for name, ratio, target in targets:
        print(f"  {name:<28} {ratio:7.1f} times" + (f" (target {target})" if strict else ""))
    return [f"{name}: {ratio:.1f}, not {target}" for name, ratio, target in targets if strict and ratio < target]


if __name__ == "__main__":
    sys.exit(main())
