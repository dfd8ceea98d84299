"""Headers over a network where each answer takes 50 ms, compared with other programs. `make bench`

Each measure is taken in turns within one run, against the same loopback Hub in a process of its own; the median counts.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

LATENCY = 0.05
ROUNDS = 3


def serve(folder: str, pipe: Connection) -> None:
    from loopback.server import Hub, Repo

    repos = {
        "demo/deepseek-v3": Repo(Path(folder, "deepseek"), all_headers=False),
        "demo/gguf": Repo(Path(folder, "gguf")),
    }
    with Hub(repos, LATENCY) as hub:
        pipe.send(hub.endpoint)
        pipe.recv()


def timed(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def side_by_side(title: str, ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Print both medians and their ratio, which is returned."""
    both = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
    mine, other = (statistics.median(column) for column in zip(*both, strict=True))
    print(f"{title}: {mine:.2f} s, against {other:.2f} s: {other / mine:.1f} times faster")
    return other / mine


def headers_here(target: str) -> None:
    from inspector.opening import checkpoint

    checkpoint.open(target)


def headers_by_huggingface_hub(repo: str) -> None:
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    disable_progress_bars()
    assert len(HfApi().get_safetensors_metadata(repo).files_metadata) == 157


def gguf_here(target: str, header: int) -> None:
    """The header's bytes, requested little by little as by a parser, and no parsing."""
    from inspector.sources.answers import Link
    from inspector.sources.http import Wire
    from inspector.sources.remote import RemoteFile, has_long_header

    source = RemoteFile(Wire(), Link(target), streamed=has_long_header(target))
    for end in range(0, header, 10_000):
        source.prefix(end)
    source.prefix(header)
    source.close()


def gguf_parsed_here(target: str) -> None:
    """The complete result, and the request for the repository."""
    from inspector.opening import checkpoint

    checkpoint.open(target)


def gguf_by_doubling(url: str, header: int) -> None:
    """The fetches of hf-mem 0.5: from the start, 1 MB and then twice as much, up to the header's end. No parsing."""
    from httpx2 import Client

    size, got = 1_000_000, 0
    with Client(follow_redirects=True) as client:
        while got < header:
            got = len(client.get(url, headers={"Range": f"bytes=0-{size}"}).content)
            size *= 2


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        from loopback.samples import deepseek, gguf

        deepseek(Path(folder, "deepseek"))
        vocabulary = gguf(Path(folder, "gguf", "large.gguf"), tokens=200_000, merges=350_000)
        here, there = multiprocessing.get_context("spawn").Pipe()
        server = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, there), daemon=True)
        server.start()
        os.environ |= {"HF_ENDPOINT": here.recv(), "HF_HUB_CACHE": str(Path(folder, "cache"))}
        url = f"{os.environ['HF_ENDPOINT']}/demo/gguf/resolve/main/large.gguf"
        from inspector import formats
        from inspector.sources.local import LocalFile

        header = formats.read(LocalFile(vocabulary), "large.gguf").bytes_in("header")
        print(f"each answer takes {LATENCY * 1000:.0f} ms; {os.cpu_count()} processors; median of {ROUNDS}")
        side_by_side(
            "157 shards of DeepSeek-V3 by range, against huggingface_hub's get_safetensors_metadata",
            lambda: headers_here("demo/deepseek-v3"),
            lambda: headers_by_huggingface_hub("demo/deepseek-v3"),
        )
        side_by_side(
            f"a GGUF header of {header / 1e6:.1f} MB fetched, against from the start again at each doubling",
            lambda: gguf_here(url, header),
            lambda: gguf_by_doubling(url, header),
        )
        side_by_side(
            "the same with the repository's listing and all parsing, against the doubling fetches alone",
            lambda: gguf_parsed_here("demo/gguf/large.gguf"),
            lambda: gguf_by_doubling(url, header),
        )
        here.send(None)
        server.join(5)


if __name__ == "__main__":
    main()
