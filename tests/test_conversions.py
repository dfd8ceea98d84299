"""What llama.cpp's converter does to tensors, as the tables have it, against what it did.

`tools/llama_cpp/compare_cases.py` numbered the elements of tiny models, had them converted, and wrote down which element of
the model a few elements of each tensor of the file are: here the views of both sides must say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sparse
from sparse_gguf import write_gguf
from test_gguf_cases import pair as key_value

import inspector
from inspector.architectures.conversions import Conversion, conversion_of, key_text
from inspector.architectures.store import store
from inspector.comparing.layouts import Known, Option, Sides, pieces
from inspector.comparing.pairing import Pair
from inspector.comparing.views import loops
from inspector.model import Key

FIXTURES = Path(sparse.__file__).parent
#: Language models, then the towers beside them.
CASES = [
    json.loads(line)
    for name in ("conversions.jsonl", "conversions_towers.jsonl")
    for line in (FIXTURES / name).read_text().splitlines()
]


def made(case: dict[str, Any], folder: Path) -> inspector.Diff:
    """The model's header and the file's, compared."""
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text(json.dumps(case["config"]))
    sparse.write_safetensors(
        folder / "model" / "model.safetensors", [("F32", shape, name) for name, shape in expanded(case["model"])]
    )
    architecture = case["architecture"]
    pairs = [("general.architecture", "string", architecture)]
    pairs += [
        key_value(key if key.startswith("tokenizer.") else f"{architecture}.{key}", value)
        for key, value in case["keys"].items()
    ]
    if case["tokens"]:
        pairs.append(("tokenizer.ggml.tokens", "array[string]", {"items": case["tokens"], "text": case["tokens"]}))
    write_gguf(folder / "model.gguf", pairs, [("F32", shape, name) for name, shape in expanded(case["tensors"])])
    return inspector.diff(folder / "model", folder / "model.gguf")


def expanded(entries: list[Any]) -> Iterator[tuple[str, list[int]]]:
    for name, shape, *numbers in entries:
        for number in numbers[0] if numbers else [0]:
            yield name.replace("{}", str(number), 1), shape


@pytest.mark.parametrize("case", CASES, ids=[case.get("projector", case["architecture"]) for case in CASES])
def test_every_element_is_where_the_converter_put_it(case: dict[str, Any], tmp_path: Path) -> None:
    """All tensors are paired, but for those that are left out or made; and sampled elements are the model's own."""
    result = made(case, tmp_path)
    assert [pair.key for pair in result.pairs if not (pair.a and pair.b) and not pair.converter] == []
    sides = Sides(Known(result.a), Known(result.b))
    holders = {each.tensor.name: pair for pair in result.pairs if pair.b for each in pair.b.tensors}
    for name, samples in case["from"].items():
        pair = holders[name]
        if pair.a is not None:
            for place, *origin in samples:
                assert origin in list(origins(pair, sides, name, place)), (name, place)


def origins(pair: Pair, sides: Sides, name: str, place: int) -> Iterator[list[Any]]:
    """What an element of the file is, by each option: the model's tensor, its element, and what was added."""
    assert pair.a is not None
    assert pair.b is not None
    for piece in pieces(pair, sides):
        for option in piece.options:
            if pair.b.tensors[option.b.store].tensor.name == name:
                for element in elements(option, place):
                    source = pair.a.tensors[option.a.store].tensor.name
                    added = 1 if option.value == "x + 1" else 0
                    yield ["A_log" if source.endswith("A_log") else source, element, added]


def elements(option: Option, place: int) -> Iterator[int]:
    """The element of the model that is walked together with one of the file."""
    model, file = option.a.offset, place - option.b.offset
    for loop in sorted(loops(option.a, option.b), key=lambda loop: -loop.b):
        step = file // loop.b
        if not 0 <= step < loop.size:
            return
        model, file = model + step * loop.a, file - step * loop.b
    if file == 0:
        yield model


def test_every_document_says_what_it_can() -> None:
    """No field that nothing reads, no key that is none, no column of a conversion that is unknown."""
    for name in store().names("conversions"):
        found = conversion_of(name)
        assert isinstance(found, Conversion)
        for text, step in found.converted.items():
            numbers = {"order", "axes", "value", "rows", "name"}
            words = set(step.get("order", "").split())
            assert step.keys() - numbers <= words, (name, text)
            assert not words or sorted(step["order"].split("->")[0].split()) == sorted(
                step["order"].split("->")[1].split()
            )
            assert step.get("rows", "first") in ("first", "last")


def test_names_are_told_with_their_numbers() -> None:
    """A name by itself goes before its pattern, what a document says before what it inherits."""
    found = conversion_of("clip", "qwen3vl_merger")
    endings = {stem: list(found.endings(stem, place)) for stem, place in (("mm.2", 0), ("v.deepstack.24.fc1", 2))}
    assert endings["mm.2"].index("visual.merger.linear_fc2") < endings["mm.2"].index("aligner.hidden_layers.1")
    assert endings["v.deepstack.24.fc1"][0] == "visual.deepstack_merger_list.2.linear_fc1"


def test_towers_of_two_kinds_have_what_either_says() -> None:
    """Gemma 4's unified model: its images' positions, and the sounds' scales that all have."""
    both = conversion_of("clip", "gemma4uv+gemma4ua").converted
    assert {"vision:embed_positions", "audio:attn_scale"} <= both.keys()
    assert both["vision:embed_positions"] == {"axes": "1 0 2", "name": "axes exchanged"}


def test_keys_are_written_and_read_alike() -> None:
    """Tower, branch, part and further numbers; what is usual is left out."""
    from inspector.architectures.conversions import named

    plain = Key("text", 3, None, "q_proj", "weight")
    odd = Key("decoder", 3, None, "k_proj", "bias", "cross", (1, 2))
    assert [key_text(plain), key_text(odd)] == ["q_proj", "decoder:cross k_proj.bias/1/2"]
    assert [named(key_text(key), key) for key in (plain, odd)] == [plain, odd]


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        (
            "clip(round(x / mean_abs), -1, 1) * mean_abs",
            {"mean_abs": 0.5},
            [0.0, -0.5, 0.5],
        ),  # BitNet's ternary weights
        ("x - mean", {"mean": 0.25}, [0.0, -1.25, 2.75]),
        ("x + 1 / 5", {}, [0.45, -0.8, 3.2]),
        ("x / 2 ** (layer // rescale_every)", {"layer": 5, "rescale_every": 2}, [0.0625, -0.25, 0.75]),
        (
            "x / 2 ** (layer // rescale_every)",
            {"layer": 5, "rescale_every": 0},
            [0.25, -1.0, 3.0],
        ),  # nothing is rescaled
        ("x * (a * b)", {"a": 2.0, "b": 4.0}, [2.0, -8.0, 24.0]),
    ],
)
def test_formulas_of_values_are_what_the_converter_computes(
    text: str, known: dict[str, float], expected: list[float]
) -> None:
    """On 1/4, -1 and 3, by hand."""
    import numpy as np

    from inspector.comparing.numbers import applied, words

    assert words(text) == known.keys()
    assert applied(text, np.array([0.25, -1, 3], np.float32), known.get).tolist() == pytest.approx(expected)


def test_a_batch_norm_that_was_folded_is_equal_to_the_four_it_was_made_of(tmp_path: Path) -> None:
    """weight / sqrt(variance + eps) and bias - mean * that: of 6, 1, 2 and 4 (less eps) these are 3 and -5."""
    import numpy as np
    from gguf import GGUFWriter
    from safetensors.numpy import save_file

    norm = "encoder.layers.0.conv.batch_norm"
    numbers = {"weight": 6, "bias": 1, "running_mean": 2, "running_var": 4 - 1e-5}
    (tmp_path / "model").mkdir()
    config = {"model_type": "granite_speech", "encoder_config": {"model_type": "granite_speech_encoder"}}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    save_file(
        {f"{norm}.{name}": np.full(8, number, np.float32) for name, number in numbers.items()},
        tmp_path / "model" / "model.safetensors",
    )
    for changed in (0, 1):
        path = tmp_path / f"{changed}.gguf"
        writer = GGUFWriter(path, "clip")
        writer.add_string("clip.projector_type", "granite_speech")
        writer.add_tensor("a.blk.0.conv_norm_var.weight", np.full(8, 3, np.float32))
        writer.add_tensor("a.blk.0.conv_norm_var.bias", np.array([changed - 5, *[-5] * 7], np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        (pair,) = (result := inspector.diff(tmp_path / "model", path, data=True)).pairs
        (data,) = result.data or ()
        assert data is not None
        assert (pair.status, data.status, data.sums.differing) == ("same", "different" if changed else "equal", changed)
        assert data.transform == "batch norm folded"


def test_a_tensor_made_ternary_by_its_own_mean_is_equal(tmp_path: Path) -> None:
    """BitNet's converter rounds each weight to -1, 0 or 1 times the mean of all magnitudes, here 1.5."""
    import numpy as np
    from gguf import GGUFWriter
    from safetensors.numpy import save_file

    weight = np.tile(np.array([[0.5, -1, 2, -2.5]], np.float32), (8, 8))
    (tmp_path / "model").mkdir()
    config = {"model_type": "bitnet", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    save_file({"model.layers.0.mlp.up_proj.weight": weight}, tmp_path / "model" / "model.safetensors")
    ternary = np.tile(np.array([[0, -1.5, 1.5, -1.5]], np.float32), (8, 8))
    for changed in (0, 1):
        ternary[3, 3] += changed
        path = tmp_path / f"{changed}.gguf"
        writer = GGUFWriter(path, "bitnet")
        writer.add_block_count(1)
        writer.add_tensor("blk.0.ffn_up.weight", ternary)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        (data,) = inspector.diff(tmp_path / "model", path, data=True).data or ()
        assert data is not None
        assert (data.status, data.sums.differing) == (("different", 1) if changed else ("equal", 0))
        assert data.transform == "made ternary"
