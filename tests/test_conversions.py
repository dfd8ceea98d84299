"""The tables' account of what llama.cpp's converter does to tensors, against what it did.

`tools/llama_cpp/compare_cases.py` numbered the elements of tiny models, had them converted, and recorded which element
of the model a few elements of each tensor of the file are: the views of both sides must agree with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sparse
from every import every
from sparse_gguf import write_gguf
from test_gguf_cases import pair as key_value

import inspector
from inspector.architectures.conversions import Conversion, conversion_of, key_text
from inspector.architectures.store import store
from inspector.comparing.diff import Diff
from inspector.comparing.formulas import words as numbers_of
from inspector.comparing.layouts import Option, pieces
from inspector.comparing.pairing import Pair
from inspector.comparing.sides import Known, Sides
from inspector.comparing.strided import loops
from inspector.model import Key

FIXTURES = Path(sparse.__file__).parent
#: Language models, then their image and sound towers.
CASES = [
    json.loads(line)
    for name in ("conversions.jsonl", "conversions_towers.jsonl")
    for line in (FIXTURES / name).read_text().splitlines()
]
#: Models in two forms, as published and as held by Transformers.
LOADED = [json.loads(line) for line in (FIXTURES / "loaded_forms.jsonl").read_text().splitlines()]


def made(case: dict[str, Any], folder: Path) -> Diff:
    """The model's header compared with that of the file."""
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


@every("case", CASES, ids=[case.get("projector", case["architecture"]) for case in CASES], parts=2)
@pytest.mark.gate
def test_every_element_is_where_the_converter_put_it(case: dict[str, Any], tmp_path: Path) -> None:
    """All tensors are paired, but for those left out or added; sampled elements are the model's own."""
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
    """For each option, the origin of an element of the file: the model's tensor, its element, and what was added."""
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
    """The element of the model that corresponds to one of the file."""
    model, file = option.a.offset, place - option.b.offset
    for loop in sorted(loops(option.a, option.b), key=lambda loop: -loop.b):
        step = file // loop.b
        if not 0 <= step < loop.size:
            return
        model, file = model + step * loop.a, file - step * loop.b
    if file == 0:
        yield model


def test_every_document_says_what_it_can() -> None:
    """Every field is read, every key exists, and every column of a conversion is known."""
    for name in store().names("conversions"):
        found = conversion_of(name)
        assert isinstance(found, Conversion)
        for text, step in found.converted.items():
            numbers = {"order", "axis", "axes", "value", "rows", "rest", "name"}
            words = set(step.get("order", "").split())
            assert step.keys() - numbers <= words, (name, text)
            assert not words or sorted(step["order"].split("->")[0].split()) == sorted(
                step["order"].split("->")[1].split()
            )
            assert step.get("rows", "first") in ("first", "last")
            assert step.get("rest", "zeros") == "zeros"
            assert "rows" in step or "rest" not in step
        for place, step in found.computed.items():
            text, _, part = place.partition(".")
            assert part in found.file[text]
            assert numbers_of(step["value"]) == step.keys() - {"value", "name"}


@pytest.mark.parametrize(
    ("deep", "spatial", "blocks"),
    [
        ([[-2, 0], [-1, 2]], [1, -1], "layerwise.0 spatial.0 layerwise.1 spatial.1"),
        ([[5, 4], [3, 6]], [1], "spatial.0 layerwise.1 layerwise.0"),  # pairs are counted in their own order
        (None, [3, 1], "spatial.1 spatial.0"),
        ([["a", 0]], [1], "spatial.0"),
        ([[1, 2], 3], [], ""),
    ],
)
def test_blocks_lie_in_the_order_of_the_layers_that_they_feed(deep: Any, spatial: list[int], blocks: str) -> None:
    """By hand, for a language model with 8 layers; an invalid list is ignored."""
    found = conversion_of("clip", "granite4_vision")
    config = {"text_config": {"num_hidden_layers": 8}, "deepstack_layer_map": deep, "spatial_target_layers": spatial}
    reported = [name.replace("_projectors", "") for name in found.blocks(config)]
    assert reported == blocks.split()
    first = next(found.endings("v.proj_blk.0.query", 0, found.blocks(config)))
    assert not reported or first == reported[0].replace(".", "_projectors.") + ".query"


@every("case", LOADED, ids=[case["type"] for case in LOADED], parts=3)
def test_a_model_as_transformers_holds_it_is_paired_whole(case: dict[str, Any], tmp_path: Path) -> None:
    """Either side may come first, and every pair is known by pieces. `tools/loaded_forms.py` saved both forms."""
    for form in ("published", "held"):
        (tmp_path / form).mkdir()
        (tmp_path / form / "config.json").write_text(json.dumps(case["config"]))
        tensors = [("BF16", shape, name) for name, shape in expanded(case[form])]
        sparse.write_safetensors(tmp_path / form / "model.safetensors", tensors)
    for one, other in (("published", "held"), ("held", "published")):
        result = inspector.diff(tmp_path / one, tmp_path / other)
        sides = Sides(Known(result.a), Known(result.b))
        assert [pair.key for pair in result.pairs if pair.status not in ("same", "dtype")] == []
        assert all(pieces(pair, sides) for pair in result.pairs)


def test_names_are_converted_with_their_numbers() -> None:
    """A literal name precedes its pattern, and a document's own entries precede those that it inherits."""
    found = conversion_of("clip", "qwen3vl_merger")
    endings = {stem: list(found.endings(stem, place)) for stem, place in (("mm.2", 0), ("v.deepstack.24.fc1", 2))}
    assert endings["mm.2"].index("visual.merger.linear_fc2") < endings["mm.2"].index("aligner.hidden_layers.1")
    assert endings["v.deepstack.24.fc1"][0] == "visual.deepstack_merger_list.2.linear_fc1"


def test_towers_of_two_kinds_have_what_either_says() -> None:
    """Gemma 4's unified model: its images' positions, and the scales that all sound towers have."""
    both = conversion_of("clip", "gemma4uv+gemma4ua").converted
    assert {"vision:embed_positions", "audio:attn_scale"} <= both.keys()
    assert both["vision:embed_positions"] == {"axes": "1 0 2", "name": "axes exchanged"}


def test_keys_are_written_and_read_alike() -> None:
    """Tower, branch, part and further numbers are written; defaults are left out."""
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
    """They agree on 1/4, -1 and 3, by hand."""
    import numpy as np

    from inspector.comparing.formulas import applied, words

    assert words(text) == known.keys()
    assert applied(text, np.array([0.25, -1, 3], np.float32), known.get).tolist() == pytest.approx(expected)


def test_a_batch_norm_that_was_folded_is_equal_to_the_four_it_was_made_of(tmp_path: Path) -> None:
    """weight / sqrt(variance + eps) and bias - mean * that: for 6, 1, 2 and 4 (less eps) these are 3 and -5."""
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


def test_a_model_as_transformers_holds_it_is_equal_to_the_published(tmp_path: Path) -> None:
    """HRM's gate, queries, keys and values lie in one tensor, in this order; when loaded they are four.

    A changed number of the keys is a difference of that projection alone.
    """
    import numpy as np
    from safetensors.numpy import save_file

    parts = ("gate_proj", "q_proj", "k_proj", "v_proj")
    fused = np.arange(4 * 8 * 8, dtype=np.float32).reshape(32, 8)
    widths = {
        "hidden_size": 8,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 4,
        "intermediate_size": 8,
    }
    published = {"model.L_module.layers.0.attn.gqkv_proj.weight": fused}
    loaded = {
        f"model.L_module.layers.0.self_attn.{name}.weight": fused[8 * at : 8 * at + 8].copy()
        for at, name in enumerate(parts)
    }
    for folder, tensors in (("published", published), ("loaded", loaded)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps({"model_type": "hrm_text", **widths}))
        save_file(tensors, tmp_path / folder / "model.safetensors")
    for sides in (("published", "loaded"), ("loaded", "published")):
        result = inspector.diff(*(tmp_path / side for side in sides), data=True)
        assert [
            (pair.status, data and data.status) for pair, data in zip(result.pairs, result.data or (), strict=True)
        ] == [("same", "equal")]
    loaded["model.L_module.layers.0.self_attn.k_proj.weight"][2, 3] += 7
    save_file(loaded, tmp_path / "loaded" / "model.safetensors")
    (data,) = inspector.diff(tmp_path / "published", tmp_path / "loaded", data=True).data or ()
    assert data is not None
    assert (data.status, data.sums.differing, data.sums.max_abs) == ("different", 1, 7)


def test_rotary_halves_of_a_loaded_tower_are_put_back(tmp_path: Path) -> None:
    """Step 3.7's vision stores a head's pairs side by side (0 1 2 3); Transformers holds their halves (0 2 1 3)."""
    import numpy as np
    from safetensors.numpy import save_file

    rows = np.repeat(np.arange(24, dtype=np.float32)[:, None], 8, axis=1)
    halves = [0, 2, 1, 3, 4, 6, 5, 7]  # of two heads
    config = {"model_type": "step3p7", "vision_config": {"hidden_size": 8, "num_attention_heads": 2}}
    inner = "model.vision_model.layers.0.self_attn"
    loaded = {
        f"{inner}.q_proj.weight": rows[halves].copy(),
        f"{inner}.k_proj.weight": rows[8:16][halves].copy(),
        f"{inner}.v_proj.weight": rows[16:].copy(),
        "model.vision_model.downsampler1.bias": np.ones(16, np.float32),
    }
    published = {
        "vision_model.transformer.resblocks.0.attn.in_proj_weight": rows,
        "vision_model.vit_downsampler1.bias": np.ones(16, np.float32),
    }
    for folder, tensors in (("published", published), ("loaded", loaded)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps(config))
        save_file(tensors, tmp_path / folder / "model.safetensors")
    result = inspector.diff(tmp_path / "published", tmp_path / "loaded", data=True)
    reported = {
        pair.b.tensors[0].tensor.name: data
        for pair, data in zip(result.pairs, result.data or (), strict=True)
        if pair.b
    }
    assert {data and data.status for data in reported.values()} == {"equal"}
    assert any(data and data.transform and "permuted" in data.transform for data in reported.values())


@pytest.mark.parametrize(("last", "status"), [(9, "equal"), (10, "different")])
def test_a_draft_s_tokens_are_numbered_as_the_target_s(last: int, status: str, tmp_path: Path) -> None:
    """EAGLE-3 stores the distance of each token from the target's (5, 6, 7), the converter its number (5, 7, 9)."""
    import numpy as np
    from gguf import GGUFWriter
    from safetensors.numpy import save_file

    (tmp_path / "model").mkdir()
    config = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "draft_vocab_size": 3}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    save_file({"d2t": np.array([5, 6, 7]), "t2d": np.zeros(16, bool)}, tmp_path / "model" / "model.safetensors")
    writer = GGUFWriter(tmp_path / "draft.gguf", "eagle3")
    writer.add_tensor("d2t", np.array([5, 7, last]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    result = inspector.diff(tmp_path / "model", tmp_path / "draft.gguf", data=True)
    reported = {
        (pair.a.tensors[0].tensor.name, pair.converter): data
        for pair, data in zip(result.pairs, result.data or (), strict=True)
        if pair.a
    }
    assert reported.keys() == {("d2t", ""), ("t2d", "leaves out")}
    data = reported["d2t", ""]
    assert data is not None
    assert data.status == status
