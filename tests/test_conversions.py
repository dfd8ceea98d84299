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

CASES = [json.loads(line) for line in (Path(sparse.__file__).parent / "conversions.jsonl").read_text().splitlines()]


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


#: What no document can say yet: blocks of a file that are two stacks of the model, one after the other.
STACKS = pytest.mark.xfail(strict=True, reason="the blocks of two stacks are counted through")
MARKED = [pytest.param(case, marks=STACKS if case["architecture"] == "hrm_text" else ()) for case in CASES]


@pytest.mark.parametrize("case", MARKED, ids=[case["architecture"] for case in CASES])
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
            numbers = {"order", "value", "rows", "name"}
            words = set(step.get("order", "").split())
            assert step.keys() - numbers <= words, (name, text)
            assert not words or sorted(step["order"].split("->")[0].split()) == sorted(
                step["order"].split("->")[1].split()
            )
            assert step.get("rows", "first") in ("first", "last")


def test_keys_are_written_and_read_alike() -> None:
    """Tower, branch, part and further numbers; what is usual is left out."""
    from inspector.architectures.conversions import named

    plain = Key("text", 3, None, "q_proj", "weight")
    odd = Key("decoder", 3, None, "k_proj", "bias", "cross", (1, 2))
    assert [key_text(plain), key_text(odd)] == ["q_proj", "decoder:cross k_proj.bias/1/2"]
    assert [named(key_text(key), key) for key in (plain, odd)] == [plain, odd]
