"""Statistics of tensors' values are NumPy's own, whatever the file, its dtype and the pieces that are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from conftest import Ran
from every import every
from safetensors.numpy import save_file
from test_stored import Entry, safetensors

import inspector
from inspector.auditing.run import audit
from inspector.errors import FormatError, UsageError
from inspector.formats import decoding
from inspector.measuring import needs, statistics
from inspector.measuring.statistics import PERCENTILES, Tally, keys, numbers
from inspector.report import values as report

Run = Callable[..., Ran]
DRAW = np.random.default_rng(11)  # for values made at import; each test draws from its own
#: dtype → its bits, drawn at random: every pattern of the narrow ones, NaN and infinities among them.
BITS = {
    "BF16": np.arange(1 << 16, dtype="<u2"),
    "F16": np.arange(1 << 16, dtype="<u2"),
    "F8_E4M3": np.arange(256, dtype="u1"),
    "F8_E5M2": np.arange(256, dtype="u1"),
    "I8": DRAW.integers(0, 256, 777, np.uint8),
    "U16": DRAW.integers(0, 60000, 777, np.uint16),
    "I32": DRAW.integers(0, 1 << 32, 777, np.uint32),
    "F32": DRAW.normal(3, 0.01, 4321).astype("<f4").view("<u4"),
    "F64": DRAW.normal(-3, 100, 4321).astype("<f8").view("<u8"),
    "I64": DRAW.integers(-9, 9, 777).view("<u8"),
    "BOOL": DRAW.integers(0, 2, 99, np.uint8),
}


def test_integers_of_64_bits_are_exact(tmp_path: Path) -> None:
    """Beyond 2**53 a double is not exact; the extremes are, in JSON too, and Parquet has the nearest double."""
    ids = np.array([[2**62 + 1, -(2**62) - 3, 2**53 + 1]], "<i8")
    save_file({"ids": ids, "hashes": np.array([2**64 - 1, 3], "<u8")}, tmp_path / "model.safetensors")
    rows = {row.name: row.summary for row in inspector.values(tmp_path / "model.safetensors").rows}
    assert (rows["ids"].min, rows["ids"].max) == (-(2**62) - 3, 2**62 + 1)
    assert (rows["hashes"].min, rows["hashes"].max) == (3, 2**64 - 1)
    assert rows["ids"].mean == pytest.approx(ids.astype(np.float64).mean())


def test_compressed_arrays_are_refused_with_a_reason(tmp_path: Path) -> None:
    """The message says what to do; the audit reports nothing about numbers that it cannot read."""
    np.savez_compressed(tmp_path / "model.npz", w=np.random.default_rng(1).normal(size=(64, 64)))
    with pytest.raises(FormatError, match=r"w is compressed .* `numpy\.savez`"):
        inspector.values(tmp_path / "model.npz")
    (checked,) = audit([tmp_path / "model.npz"], data=True).checkpoints
    assert {finding.severity for finding in checked.findings} == {"info"}
    assert checked.verdicts == ()


def expect(summary: statistics.Summary, values: Any, exact: bool = True) -> None:
    """NumPy's statistics, of the finite numbers except for the counts."""
    with np.errstate(all="ignore"):
        values = np.asarray(values).astype(np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    assert summary.total == values.size
    assert (summary.nan, summary.inf) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert summary.zeros == (values == 0).sum()
    assert (summary.min, summary.max) == (finite.min(), finite.max())
    assert summary.mean == pytest.approx(finite.mean(), rel=1e-9, abs=1e-9 * finite.std())
    assert summary.std == pytest.approx(finite.std(), rel=1e-9)
    near = 1e-12 if exact else 1 / 128
    for percent in PERCENTILES:
        assert summary.percentiles[percent] == pytest.approx(np.percentile(finite, percent), rel=near, abs=1e-30)
    histogram = summary.histogram
    assert histogram
    if exact:
        assert histogram.counts == tuple(np.histogram(finite, histogram.edges)[0])
        assert histogram.below == (finite < histogram.edges[0]).sum()
        assert histogram.above == (finite > histogram.edges[-1]).sum()
    assert sum(histogram.counts) + histogram.below + histogram.above == finite.size


@every("dtype", BITS)
def test_statistics_are_numpys(dtype: str, tmp_path: Path) -> None:
    """Every statistic of a tensor agrees."""
    bits = BITS[dtype]
    path = safetensors(tmp_path / "model.safetensors", {"x": (dtype, [len(bits)], bits.tobytes())})
    (row,) = inspector.values(path).rows
    assert (row.name, row.elements, row.shape) == ("x", len(bits), (len(bits),))
    expect(row.summary, decoding.decoded(bits.tobytes(), dtype))


def test_long_tensors_are_counted_by_their_upper_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Percentiles to 1 part in 128 if there are more numbers than are kept; everything else is exact."""
    monkeypatch.setattr(statistics, "KEPT", 1000)
    values = np.random.default_rng(2).normal(0, 0.02, 50_000).astype(np.float32)
    tally = Tally()
    for start in range(0, len(values), 7000):
        tally.add(values[start : start + 7000])
    expect(tally.summary(), values, exact=False)


def test_keys_are_in_the_numbers_order() -> None:
    """Each key of finite numbers begins with its least number, also below zero."""
    draw = np.random.default_rng(3)
    values = np.concatenate([draw.normal(0, 10.0**power, 500) for power in range(-38, 38)]).astype(np.float32)
    values = np.sort(np.append(values, [0.0, -0.0, 1.0, -1.0]).astype(np.float32))
    found = keys(values)
    assert (np.diff(found) >= 0).all()
    assert (numbers(found) <= values).all()
    assert (values < numbers(found + 1)).all()
    assert numbers(keys(np.array([1.0, -1.0], np.float32))).tolist() == [1.0, -1.0]


def test_nothing_but_nan() -> None:
    """There is no number to report."""
    tally = Tally()
    tally.add(np.full(5, np.nan, np.float32))
    assert tally.summary() == statistics.Summary(5, 5, 0, 0, None, None, None, None, {}, None)


def test_a_gguf_is_counted_in_its_dequantized_numbers(tmp_path: Path) -> None:
    """Blocks are dequantized as by the gguf package."""
    values = np.random.default_rng(4).normal(0, 1, (8, 512)).astype(np.float32)
    packed = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_tensor("blk.0.attn_q.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (row,) = inspector.values(tmp_path / "x.gguf").rows
    expect(row.summary, gguf.quants.dequantize(packed, gguf.GGMLQuantizationType.Q8_0))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two layers with a norm and a projection each."""
    tensors: dict[str, Entry] = {}
    for layer in range(2):
        tensors[f"model.layers.{layer}.input_layernorm.weight"] = (
            "F32",
            [4],
            np.array([1, 1, 1, layer], np.float32).tobytes(),
        )
        raw = np.arange(8, dtype="<f4") + layer
        tensors[f"model.layers.{layer}.self_attn.q_proj.weight"] = ("F32", [2, 4], raw.tobytes())
    return safetensors(tmp_path / "model.safetensors", tensors)


def test_roles_and_layers_together(small: Path) -> None:
    """All tensors of a role, or of a layer, as one set of numbers."""
    rows = {row.name: row for row in inspector.values(small, by="role").rows}
    assert list(rows) == ["input_layernorm", "q_proj"]
    expect(rows["q_proj"].summary, [*range(8), *range(1, 9)], exact=False)
    assert len(rows["q_proj"].tensors) == 2
    layers = {row.name: row for row in inspector.values(small, by="layer").rows}
    expect(layers["1"].summary, [1, 1, 1, 1, *range(1, 9)], exact=False)
    assert layers["0"].summary.zeros == 2


def test_the_command_in_its_forms(small: Path, inspect: Run, tmp_path: Path) -> None:
    """The same numbers as text, JSON, CSV, lines of JSON, a table and Parquet."""
    found = json.loads(inspect("values", str(small), "q_proj", "--layer", "1", "--json").out)
    (reported,) = found["tensors"]
    assert found["bytes_read"] == 32
    assert (reported["name"], reported["shape"], reported["elements"]) == (
        "model.layers.1.self_attn.q_proj.weight",
        [2, 4],
        8,
    )
    assert (reported["nan"], reported["inf"], reported["zeros"], reported["min"], reported["max"]) == (0, 0, 0, 1, 8)
    assert (reported["mean"], reported["std"]) == (4.5, pytest.approx(np.arange(8).std()))
    assert (reported["role"], reported["layer"], reported["percentiles"]["50"]) == ("q_proj", 1, 4.5)
    assert sum(reported["histogram"]["counts"]) == 8
    (line,) = inspect("values", str(small), "q_proj", "--layer", "1", "--jsonl").out.splitlines()
    assert json.loads(line) == reported
    cells = list(csv.DictReader(io.StringIO(inspect("values", str(small), "--csv").out)))
    assert [float(row["max"]) for row in cells] == [1, 7, 1, 8]
    assert cells[1]["shape"] == "2x4"
    assert "| 2×4" in inspect("values", str(small), "--format", "github").out
    text = inspect("values", str(small)).out
    assert "4 tensors" in text or "q_proj" in text
    assert "96 B of tensor data read" in text
    inspect("values", str(small), "--parquet", str(tmp_path / "v.parquet"))
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "v.parquet").to_pylist()
    assert [row["mean"] for row in table] == [0.75, 3.5, 1.0, 4.5]
    assert table[1]["shape"] == [2, 4]
    assert sum(table[1]["histogram_counts"]) == 8


def test_one_tensor_is_shown_whole(small: Path, inspect: Run) -> None:
    """Percentiles, and a bar for each bin."""
    text = inspect("values", str(small), "model.layers.1.self_attn.*").out
    assert "99.9 %  " in text
    assert "2×4" in text
    assert "█" in text


def test_damage_is_reported_beside_what_can_be_read(tmp_path: Path, inspect: Run) -> None:
    """A tensor that ends beyond the file is a line on stderr, beside the others' numbers."""
    tensors: dict[str, Entry] = {"a": ("F32", [2], b"\0" * 8), "b": ("F32", [2], b"\0" * 8)}
    path = safetensors(tmp_path / "model.safetensors", tensors)
    path.write_bytes(path.read_bytes()[:-4])
    result = inspect("values", str(path))
    assert "ends 4 bytes before the end of the tensor" in result.err
    assert "a" in result.out


def test_without_numpy_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, small: Path) -> None:
    """It is an extra, since readers of headers do not need it."""
    monkeypatch.setattr(needs, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"needs NumPy: `.+ install .*'numpy>=1.26'`"):
        inspector.values(small)


def test_many_tensors_are_one_screen(tmp_path: Path, inspect: Run) -> None:
    """Three hundred tensors of two roles: two rows with NumPy's numbers of all; `--full` has a row for each."""
    draw = np.random.default_rng(7)
    tensors = {
        f"model.layers.{n}.{role}.weight": draw.normal(n, size=(4, 4)).astype("<f4")
        for n in range(150)
        for role in ("mlp.up_proj", "self_attn.q_proj")
    }
    tensors["model.layers.149.mlp.up_proj.weight"][0, 0] = np.inf
    save_file(tensors, tmp_path / "m.safetensors")
    lines = inspect("values", tmp_path / "m.safetensors").out.splitlines()
    assert lines[1] == "  model.layers.149.mlp.up_proj.weight: 1 infinite of 16 numbers"
    every = np.concatenate([each.ravel() for name, each in tensors.items() if "q_proj" in name]).astype("f8")
    row = lines[5].split()
    assert row[:3] == ["q_proj", "150", "2,400"]
    assert [float(text.replace("−", "-")) for text in row[6:]] == [
        pytest.approx(number, rel=0.01) for number in (every.min(), every.max(), every.mean(), every.std())
    ]
    assert lines[6:] == ["each of the 300 tensors: --full", "", "19.20 kB of tensor data read"]
    assert len(inspect("values", tmp_path / "m.safetensors", "--full").out.splitlines()) == 306
    layers = inspect("values", tmp_path / "m.safetensors", "--by", "layer").out.splitlines()
    assert len(layers) == 23
    assert layers[-3] == "… 134 more layers: --full"
    single = inspect("values", tmp_path / "m.safetensors", "layers.7.mlp.up_proj").out.splitlines()
    assert len(single) <= 23


def test_tensors_with_nan_infinity_or_zeros_come_first(tmp_path: Path, inspect: Run) -> None:
    """Tensors with NaN or infinity by their whole names, then a matrix of zeros; in the table they are first, too."""
    draw = np.random.default_rng(5)
    tensors = {f"model.layers.{n}.mlp.up_proj.weight": draw.normal(size=(8, 8)).astype("<f4") for n in range(12)}
    tensors["model.layers.7.mlp.up_proj.weight"][3, 4] = np.nan
    tensors["model.layers.9.mlp.up_proj.weight"][0, :2] = np.inf
    tensors["model.layers.2.mlp.up_proj.weight"][:] = 0
    save_file(tensors, tmp_path / "model.safetensors")
    lines = inspect("values", tmp_path / "model.safetensors").out.splitlines()
    assert lines[:4] == [
        "damaged: NaN or infinity in 2 of 12 tensors",
        "  model.layers.7.mlp.up_proj.weight: 1 NaN of 64 numbers",
        "  model.layers.9.mlp.up_proj.weight: 2 infinite of 64 numbers",
        "  model.layers.2.mlp.up_proj.weight: all 64 numbers are zero",
    ]
    assert [line.split()[0] for line in lines[6:9]] == [f"model.layers.{n}.mlp.up_proj.weight" for n in (7, 9, 0)]
    found = inspector.values(tmp_path / "model.safetensors")
    page = report.page(found)
    assert page.mood == "bad"
    zeros = {f"{n}.weight": np.zeros((2, 2), "<f4") for n in range(11)}
    save_file({**zeros, "bias": np.zeros(2, "<f4")}, tmp_path / "zeros.safetensors")
    lines = inspect("values", tmp_path / "zeros.safetensors").out.splitlines()
    assert (lines[0], lines[9]) == ("doubtful: nothing but zeros in 11 of 12 tensors", "  … 3 more")
    assert page.lines[0] == "model.layers.7.mlp.up_proj.weight: 1 NaN of 64 numbers"
    assert not any(section.title == "Findings" for section in page.sections)
    narrow = list(report.lines(found, 60))
    names = [line.split()[0] for line in narrow[5].splitlines()[1:]]
    assert len(set(names)) == 12
    assert max(len(line) for text in narrow for line in text.splitlines()) <= 60
