"""What llama.cpp reserves for vision towers beside a model: `fixtures/towers_llama_cpp.jsonl`, and how far off ours is.

    python tools/llama_cpp/tower_buffers.py [--seed N…] [--write]     # needs xllamacpp

The towers of `fixtures/gguf_projectors.jsonl` of the kinds that are known get other widths and picture sizes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from draw import Pair, kind_of  # noqa: E402
from library import POINTER, Library, in_child  # noqa: E402
from load_cases import patterns, write  # noqa: E402

import inspector  # noqa: E402
from inspector.sizing.beside import TOWERS, buffer_of  # noqa: E402

CASES, OUT = ROOT / "fixtures" / "gguf_projectors.jsonl", ROOT / "fixtures" / "towers_llama_cpp.jsonl"
PRINTED = re.compile(r"compute buffer size = +([\d.]+)")


class _Params(ctypes.Structure):
    """`mtmd_context_params` of mtmd.h."""

    _fields_: ClassVar[Any] = (
        ("use_gpu", ctypes.c_bool), ("device", POINTER), ("print_timings", ctypes.c_bool), ("n_threads", ctypes.c_int),
        ("image_marker", ctypes.c_char_p), ("media_marker", ctypes.c_char_p), ("flash_attn_type", ctypes.c_int),
        ("warmup", ctypes.c_bool), ("image_min_tokens", ctypes.c_int), ("image_max_tokens", ctypes.c_int),
        ("cb_eval", POINTER), ("cb_eval_user_data", POINTER), ("batch_max_tokens", ctypes.c_int32),
        ("progress_callback", POINTER), ("progress_callback_user_data", POINTER),
    )  # fmt: skip


def printed(path: Path) -> list[float]:
    """MiB of the compute buffers that are logged for a tower's file; empty if it is refused."""
    library = Library()
    lib = library.lib
    lib.mtmd_log_set(library._log, None)
    lib.mtmd_helper_log_set(library._log, None)
    lib.mtmd_context_params_default.restype = _Params
    lib.mtmd_init_from_file.argtypes = [ctypes.c_char_p, POINTER, _Params]
    params = lib.mtmd_context_params_default()
    params.use_gpu = False
    lib.mtmd_init_from_file(str(path).encode(), None, params)
    return [float(each) for each in PRINTED.findall(library.log)]


def pairs_of(keys: dict[str, Any]) -> list[Pair]:
    """Key-values with their types."""
    signed = "wa_layer_indexes"
    kinds = [
        (key, "array[int32]" if key.endswith(signed) else kind_of(key, value), value) for key, value in keys.items()
    ]
    return [("general.architecture", "string", "clip"), *kinds]


def drawn(case: dict[str, Any], pick: random.Random) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """A case's key-values and tensors, as wide as published towers."""
    keys = dict(case["keys"])
    own = {name: keys[f"clip.vision.{name}"] for name in ("embedding_length", "feed_forward_length")}
    heads, patch = pick.choice([8, 12, 16, 20]), pick.choice([14, 16])
    hidden = heads * pick.choice([64, 72, 80, 96])
    wide, side = 8 * (hidden * pick.randint(20, 34) // 64), 4 * pick.randint(5, 18)
    keys |= {
        "clip.vision.embedding_length": hidden, "clip.vision.feed_forward_length": wide, "clip.vision.patch_size": patch,
        "clip.vision.attention.head_count": heads, "clip.vision.image_size": side * patch,
    }  # fmt: skip
    scaled = {times * own["embedding_length"]: times * hidden for times in (1, 3, 4)}
    scaled |= {own["feed_forward_length"]: wide}
    whole = {name: shape for name, shape, *_ in case["tensors"]}
    tensors: dict[str, list[int]] = {}
    for name, shape, *layers in case["tensors"]:
        sizes = [scaled.get(size, size) if size > 2 else size for size in shape]
        if name.startswith("v.patch_embd.weight"):
            sizes = [hidden, 3, patch, patch]
        elif name == "v.position_embd.weight":
            sizes = [side**2 + ("v.class_embd" in whole), hidden]
        tensors |= {name.replace("{}", str(layer)): sizes for layer in (layers[0] if layers else [0])}
    if keys.get("clip.projector_type") == "pixtral":  # which published files have, and small ones lack
        tensors["v.token_embd.img_break"] = tensors["mm.2.weight"][:1]
    return keys, tensors


def cases(seeds: list[int]) -> Iterator[tuple[dict[str, Any], float | None]]:
    """Cases with what is printed, and the ratio of ours."""
    for line in CASES.read_text().splitlines():
        case = json.loads(line)
        if case["keys"].get("clip.projector_type") not in TOWERS:
            continue
        for seed in seeds:
            keys, tensors = drawn(case, random.Random(f"{case['from']} {seed}"))
            with tempfile.TemporaryDirectory() as folder:
                path = write(Path(folder, "mmproj.gguf"), pairs_of(keys), tensors)
                found = in_child(lambda path=path: printed(path))
                ours = buffer_of(inspector.reconcile(path))
            if not found:
                print(case["from"], seed, "is refused")
                continue
            entry = {"from": case["from"], "keys": keys, "tensors": patterns(tensors), "compute": found[0]}
            yield entry, ours and ours / 2**20 / found[0]


def main() -> None:
    """Ask about all kinds that are known."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, nargs="*", default=[0])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = list(cases(given.seed))
    for case, ratio in found:
        print(case["from"], case["compute"], "unknown" if ratio is None else f"{ratio:.3f}")
    print(f"{sum(ratio is not None and abs(ratio - 1) <= 0.05 for _, ratio in found)} of {len(found)} within 5 %")
    if given.write:
        OUT.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case, _ in found))


if __name__ == "__main__":
    main()
