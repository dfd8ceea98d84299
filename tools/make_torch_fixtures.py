"""Files that PyTorch writes, with what PyTorch says is in them: fixtures/torch_files.jsonl. Needs torch.

    python tools/make_torch_fixtures.py                              writes the cases that the tests read
    python tools/make_torch_fixtures.py --seed 7 --count 500 > x     draws other values, for a comparison by hand:
    PYTHONPATH=tests python -m torch_files x                         which of them the inspector reads otherwise

A line is a case: its files (base 85 of their compressed bytes), and each tensor's name, dtype, shape, strides and the
SHA-256 of its elements in order.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import pickle
import random
import shutil
import struct
import sys
import tarfile
import tempfile
import warnings
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

OUT = Path(__file__).parents[1] / "fixtures" / "torch_files.jsonl"
#: torch's dtypes → safetensors' words where it has one.
WORDS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "complex32": "C32", "complex64": "C64",
    "complex128": "C128", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
    "float4_e2m1fn_x2": "F4", "qint8": "QI8", "quint8": "QU8", "qint32": "QI32",
}  # fmt: skip
SPARSE = {
    torch.sparse_coo: ("indices", "values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


# --- what torch says ------------------------------------------------------------------------------


def elements(tensor: torch.Tensor) -> bytes:
    """The bytes of a tensor's elements, in the order of its shape."""
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""


def row(name: str, tensor: torch.Tensor) -> list[Any]:
    stride = list(tensor.stride())
    expected = list(torch.empty(tensor.shape, device="meta").stride())
    plain = tensor.numel() == 0 or all(
        size == 1 or own == step for size, own, step in zip(tensor.shape, stride, expected, strict=True)
    )
    digest = None if tensor.device.type == "meta" else hashlib.sha256(elements(tensor)).hexdigest()[:16]
    dtype = WORDS[str(tensor.dtype).removeprefix("torch.")]
    return [name, dtype, list(tensor.shape), None if plain else stride, digest]


def rows(name: str, value: Any) -> Iterator[list[Any]]:
    """Every tensor in a value, by the path to it."""
    if isinstance(value, torch.Tensor):
        yield from parts(name, value)
    elif isinstance(value, nn.Module):
        yield from rows(name, {**value._parameters, **value._buffers, **value._modules})
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from rows(f"{name}.{key}" if name else str(key), each)
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from rows(f"{name}.{number}" if name else str(number), each)


def parts(name: str, tensor: torch.Tensor) -> Iterator[list[Any]]:
    """A tensor, or those of which it is made."""
    if tensor.layout in SPARSE:
        for word in SPARSE[tensor.layout]:
            yield row(f"{name}.{word}", getattr(tensor, ("_" if tensor.layout is torch.sparse_coo else "") + word)())
    elif tensor.is_quantized:
        yield row(name, tensor)
        if tensor.qscheme() in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
            yield row(f"{name}.scales", tensor.q_per_channel_scales())
            yield row(f"{name}.zero_points", tensor.q_per_channel_zero_points())
    elif tensor.is_nested and tensor.layout is torch.strided:
        yield row(f"{name}.buffer", tensor.values())
        yield row(f"{name}.sizes", tensor._nested_tensor_size())
        yield row(f"{name}.strides", tensor._nested_tensor_strides())
        yield row(f"{name}.storage_offsets", tensor._nested_tensor_storage_offsets())
    elif tensor.is_nested:
        yield row(f"{name}.values", tensor.values())
        yield row(f"{name}.offsets", tensor.offsets())
    else:
        yield row(name, tensor)


# --- values ---------------------------------------------------------------------------------------

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
NUMBERS = [
    *FLOATS, torch.complex64, torch.complex128, torch.complex32, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2,
    torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
]  # fmt: skip


def filled(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """A tensor of arbitrary bytes that are numbers of its type."""
    count = torch.empty(shape, device="meta").numel()
    if dtype is torch.bool:
        return torch.randint(0, 2, shape).bool()
    width = torch.empty(0, dtype=dtype).element_size()
    return torch.randint(0, 120, (count * width,), dtype=torch.uint8).view(dtype).reshape(shape)


def drawn_tensor(rng: random.Random) -> torch.Tensor:  # noqa: C901, PLR0912  a kind a case
    shape = [rng.randint(0 if rng.random() < 0.1 else 1, 5) for _ in range(rng.randint(0, 4))]
    dense = filled(rng.choice(NUMBERS), *shape)
    match rng.randrange(14):
        case 0 if dense.dim() > 1:
            return dense.transpose(0, rng.randrange(1, dense.dim()))
        case 1 if dense.dim() and dense.shape[0] > 1:
            return dense[1:]
        case 2 if dense.dim() and dense.shape[-1] > 2:
            return dense[..., ::2]
        case 3 if dense.dim():
            return dense[:1].expand(rng.randint(2, 4), *dense.shape[1:])
        case 4:
            return nn.Parameter(filled(rng.choice(FLOATS), *shape))
        case 5:
            return torch.randn(4, 5).relu().to_sparse()
        case 6:
            kinds = ("to_sparse_csr", "to_sparse_csc")
            return getattr(torch.randn(4, 6).relu(), rng.choice(kinds))()
        case 7:
            return getattr(torch.randn(4, 6).relu(), rng.choice(("to_sparse_bsr", "to_sparse_bsc")))((2, 3))
        case 8:
            kind = rng.choice((torch.qint8, torch.quint8, torch.qint32))
            return torch.quantize_per_tensor(torch.randn(shape), 0.1, 3, kind)
        case 9:
            return torch.quantize_per_channel(torch.randn(3, 4), torch.rand(3), torch.zeros(3).long(), 0, torch.qint8)
        case 10:
            layout = rng.choice((torch.strided, torch.jagged))
            return torch.nested.nested_tensor([torch.randn(2, 4), torch.randn(3, 4)], layout=layout)
        case 11:
            return torch.empty(shape, device="meta", dtype=rng.choice(FLOATS))
        case 12:
            return torch.tensor(rng.random(), dtype=rng.choice(FLOATS))
    return dense


WORDS_IN_NAMES = ["weight", "bias", "layers", "0", "17", "größe", "层", "a b", "", "_", "x.y", "\n", "🙂"]


def drawn(rng: random.Random, depth: int = 0) -> Any:
    """Any value that `torch.load(weights_only=True)` takes."""
    pool: list[torch.Tensor] = []

    def value(depth: int) -> Any:
        kind = rng.random()
        if depth < 4 and kind < 0.3:
            pairs = [
                (rng.choice(WORDS_IN_NAMES) + str(number), value(depth + 1)) for number in range(rng.randint(0, 4))
            ]
            return OrderedDict(pairs) if rng.random() < 0.5 else dict(pairs)
        if depth < 4 and kind < 0.4:
            values = [value(depth + 1) for _ in range(rng.randint(0, 3))]
            return values if rng.random() < 0.5 else tuple(values)
        if kind < 0.5:
            return rng.choice([None, True, 3, -(2**70), 1.5, "text", b"bytes", torch.float16, torch.Size([2, 3]), {1}])
        if pool and kind < 0.65:
            old = rng.choice(pool)
            if rng.random() < 0.5 or old.layout is not torch.strided or old.is_nested or not old.dim():
                return old  # tied
            return old[: rng.randint(1, max(1, old.shape[0]))]
        pool.append(drawn_tensor(rng))
        return pool[-1]

    return {f"k{number}": value(depth) for number in range(rng.randint(1, 6))}


# --- cases ----------------------------------------------------------------------------------------


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("steps", torch.arange(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.embed(x))) * torch.tensor([2.0])


def trained(model: nn.Module) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(1, dtype=torch.long)).sum().backward()
    optimizer.step()
    return optimizer


Case = tuple[Callable[[Path], object], Any]


def saved(value: Any, *, legacy: bool = False, expected: Any = None) -> Case:
    def write(folder: Path) -> None:
        torch.save(value, folder / "x.pt", _use_new_zipfile_serialization=not legacy)

    return write, value if expected is None else expected


def cases() -> Iterator[tuple[str, Case]]:
    torch.manual_seed(0)
    every = {str(dtype).removeprefix("torch."): filled(dtype, 2, 3) for dtype in NUMBERS}
    yield "dtypes", saved(every)
    yield "dtypes, old format", saved(every, legacy=True)
    yield "float4", saved({"x": torch.zeros(2, 4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)})
    base = torch.arange(24.0).reshape(4, 6)
    views = {
        "whole": base, "rows": base[1:3], "columns": base[:, ::2], "turned": base.t(), "same": base,
        "repeated": torch.ones(3).expand(4, 3), "scalar": base[2, 3], "empty": torch.empty(0, 5), "none": base[:0],
    }  # fmt: skip
    yield "views", saved(views)
    yield "views, old format", saved(views, legacy=True)
    yield "names", saved(OrderedDict([("größe.层", torch.ones(2)), ("", torch.ones(1)), ("a\nb", torch.ones(3))]))
    sparse = torch.eye(4)
    yield "sparse", saved({
        "coo": sparse.to_sparse(), "csr": sparse.to_sparse_csr(), "csc": sparse.to_sparse_csc(),
        "bsr": sparse.to_sparse_bsr((2, 2)), "bsc": sparse.to_sparse_bsc((2, 2)),
    })  # fmt: skip
    yield "quantized", saved({
        "tensor": torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8),
        "channel": torch.quantize_per_channel(torch.randn(2, 3), torch.rand(2), torch.zeros(2).long(), 0, torch.quint8),
    })  # fmt: skip
    rows_ = [torch.randn(2, 3), torch.randn(4, 3)]
    yield "nested", saved({
        "strided": torch.nested.nested_tensor(rows_), "jagged": torch.nested.nested_tensor(rows_, layout=torch.jagged)
    })  # fmt: skip
    model = Tied()
    yield "state dict", saved(model.state_dict())
    yield "module", saved(model)
    yield "module, old format", saved(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), legacy=True)
    optimizer = trained(model)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 7, "rng": torch.get_rng_state()}
    yield "training", saved(state, expected={**model.state_dict(), **{k: state[k] for k in ("optimizer", "rng")}})
    lightning = {"epoch": 1, "pytorch-lightning_version": "2.6.6", "state_dict": OrderedDict(model.state_dict()),
                 "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [], "loops": {}}  # fmt: skip
    yield "lightning", saved(lightning, expected={**model.state_dict(), "optimizer_states": [optimizer.state_dict()]})
    yield "parameters", saved({"a": nn.Parameter(torch.ones(2)), "b": nn.Parameter(torch.ones(3), requires_grad=False)})
    yield (
        "storage",
        saved({"s": torch.arange(3.0).untyped_storage()}, expected={"s": torch.arange(3.0).view(torch.uint8)}),
    )
    yield "meta", saved({"m": torch.empty(3, 4, device="meta"), "x": torch.ones(2)})
    plain = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).eval()
    yield "script", (lambda folder: torch.jit.save(torch.jit.script(plain), folder / "x.pt"), plain)
    frozen = torch.jit.freeze(torch.jit.script(plain))
    yield "frozen script", (lambda folder: torch.jit.save(frozen, folder / "x.pt"), None)
    with tempfile.TemporaryDirectory() as folder:
        old_archive(Path(folder))
        old = torch.load(Path(folder) / "x.pt", weights_only=False)
    yield "tar archive", (old_archive, old)
    program = torch.export.export(plain, (torch.ones(2, 4),))
    yield "program", (lambda folder: torch.export.save(program, folder / "x.pt2"), dict(program.state_dict))


def old_archive(folder: Path) -> None:
    """What PyTorch wrote before 0.1.10, which it still reads: see `_legacy_load` in torch/serialization.py."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, value: Any) -> str | None:
            return str(value[1]) if isinstance(value, tuple) and value[:1] == ("tensor",) else None

    storages, tensors, value, system = (io.BytesIO() for _ in range(4))
    pickle.dump(2, storages, 2)
    for key, kind, data in ((100, torch.FloatStorage, torch.arange(12.0)), (200, torch.LongStorage, torch.arange(5))):
        pickle.dump((key, "cpu", kind), storages, 2)
        storages.write(struct.pack("<q", data.numel()) + elements(data))
    pickle.dump([(300, 100, 4, 4)], storages, 2)  # four elements of the first, from its fifth on
    listed = ((1, 100, torch.FloatTensor, (3, 4), (4, 1), 0), (2, 200, torch.LongTensor, (5,), (1,), 0),
              (3, 100, torch.FloatTensor, (4, 3), (1, 4), 0), (4, 300, torch.FloatTensor, (2,), (1,), 1))  # fmt: skip
    pickle.dump(len(listed), tensors, 2)
    for key, storage, kind, shape, stride, offset in listed:
        pickle.dump((key, storage, kind), tensors, 2)
        tensors.write(struct.pack(f"<i4x{2 * len(shape)}qq", len(shape), *shape, *stride, offset))
    Pickler(value, 2).dump(
        OrderedDict((name, ("tensor", key)) for key, name in enumerate(("w", "n", "turned", "part"), 1))
    )
    pickle.dump({"protocol_version": 1000, "little_endian": True}, system, 2)
    with tarfile.open(folder / "x.pt", "w:", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (("sys_info", system), ("pickle", value), ("tensors", tensors), ("storages", storages)):
            info = tarfile.TarInfo(name)
            info.size = len(data.getvalue())
            archive.addfile(info, io.BytesIO(data.getvalue()))


def collective_cases() -> Iterator[tuple[str, Case]]:
    """Folders of torch.distributed.checkpoint from one process."""
    from torch.distributed import checkpoint

    model = Tied()
    optimizer = trained(model)
    state = {"model": model.state_dict(), "optim": optimizer.state_dict(), "epoch": 3}
    tensors = {**model.state_dict(), "optim": optimizer.state_dict()}
    yield "collective", (lambda folder: checkpoint.save(state, checkpoint_id=folder), tensors)
    flat = model.state_dict()
    yield "collective, weights alone", (lambda folder: checkpoint.save(flat, checkpoint_id=folder), flat)


def line(name: str, case: Case) -> dict[str, Any]:
    write, expected = case
    folder = Path(tempfile.mkdtemp())
    try:
        write(folder)
        packed = {
            str(path.relative_to(folder)): base64.b85encode(zlib.compress(path.read_bytes(), 9)).decode()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    finally:
        shutil.rmtree(folder)
    tensors = None if expected is None else sorted(rows("", expected))
    return {"case": name, "tensors": tensors, "files": packed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.seed is None:
        with OUT.open("w") as out:
            for name, case in (*cases(), *collective_cases()):
                print(json.dumps(line(name, case)), file=out)
        return
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    for number in range(options.count):
        legacy = rng.random() < 0.3
        try:
            value = drawn(rng)
            print(json.dumps(line(f"{options.seed}/{number}", saved(value, legacy=legacy))))
        except (RuntimeError, NotImplementedError, TypeError, KeyError) as error:  # torch cannot make it, or save it
            print(f"{options.seed}/{number}: {error!s:.100}", file=sys.stderr)


if __name__ == "__main__":
    main()
