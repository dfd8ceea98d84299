"""Records against checkpoints that `save_pretrained` really writes, on the CPU.

    python tools/zoo/verify.py --truth DIR [--types a,b] [--variants p1,p2]

Only small models are written; each in a process of its own, one line of result a record.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from models import resolve_class


def verify(out: Path, types: list[str], variants: list[str], limit: int) -> None:
    """Verify the records of some types; one forked process each, one line of result per record."""
    context = multiprocessing.get_context("fork")
    for model_type in types:
        for variant in variants:
            for path in sorted(out.glob(f"{model_type}__*__{variant}.json.gz")):

                def check(path: Path = path) -> None:
                    warnings.simplefilter("ignore")
                    try:
                        result = verify_one(path, limit)
                    except Exception as error:
                        reason = " ".join(str(error).split())[:200]
                        result = f"FAILED {type(error).__name__}: {reason}"
                    print(f"{path.name.removesuffix('.json.gz')}\t{result}", flush=True)
                    os._exit(0)

                process = context.Process(target=check)
                process.start()
                process.join(60)
                if process.is_alive():
                    process.kill()
                    print(f"{path.name}\tTIMEOUT", flush=True)


def verify_one(path: Path, limit: int) -> str:
    """Compare one record with the header of a checkpoint that `save_pretrained` really writes."""
    from safetensors import safe_open

    with gzip.open(path, "rt") as stream:
        truth = json.load(stream)
    size = 0
    for shape, _, _ in truth["tensors"].values():
        count = 1
        for length in shape:
            count *= length
        size += count
    if size > limit:
        return f"skipped ({size} elements)"
    cls = resolve_class(truth["class"])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(truth["config_full"]))
        config = cls.config_class.from_json_file(str(Path(folder) / "config.json"))
    model = cls(config)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        found = {}
        for file in Path(folder).glob("*.safetensors"):
            with safe_open(file, "pt") as reader:
                for name in reader.keys():
                    tensor = reader.get_slice(name)
                    found[name] = [tensor.get_shape(), tensor.get_dtype()]
        written = json.loads((Path(folder) / "config.json").read_text())
    codes = {
        "F32": "float32",
        "BF16": "bfloat16",
        "F16": "float16",
        "I64": "int64",
        "BOOL": "bool",
        "I32": "int32",
        "C64": "complex64",
        "F64": "float64",
        "U8": "uint8",
    }
    actual = {name: (tuple(shape), codes.get(code, code)) for name, (shape, code) in found.items()}
    expected = {name: (tuple(s), d) for name, (s, d, _) in truth["tensors"].items()}
    if actual != expected:
        missing = sorted(set(expected) - set(actual))
        extra = sorted(set(actual) - set(expected))
        other = [n for n in actual if n in expected and actual[n] != expected[n]]
        return f"DIFFERS not written {missing[:3]} not recorded {extra[:3]} other {other[:3]}"
    if without_dtype(written) != without_dtype(truth["config"]):
        keys = [k for k in {*written, *truth["config"]} if written.get(k) != truth["config"].get(k)]
        return f"same {len(actual)} tensors; config.json differs in {sorted(keys)[:5]}"
    return f"same {len(actual)} tensors, same config.json"


def without_dtype(value: Any) -> Any:
    """A configuration without `dtype`, which a reloaded one also writes into nested ones."""
    if isinstance(value, dict):
        return {k: without_dtype(v) for k, v in value.items() if k != "dtype"}
    return [without_dtype(v) for v in value] if isinstance(value, list) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--variants", default="p1")
    parser.add_argument("--limit", type=int, default=60_000_000, help="elements")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    types = [t for t in arguments.types.split(",") if t]
    types = types or sorted({path.name.split("__")[0] for path in arguments.truth.glob("*.json.gz")})
    verify(arguments.truth, types, arguments.variants.split(","), arguments.limit)


if __name__ == "__main__":
    main()
