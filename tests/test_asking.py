"""A library that is asked how it builds a model: what goes in and out, the table that is made of it, and who is trusted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from every import every
from safetensors.numpy import save_file

import inspector
from inspector import architectures
from inspector.architectures.asking import Library, answering, ask, learning, names_python, python_of
from inspector.architectures.asking.answers import Answer, answer_of
from inspector.architectures.caches import kept
from inspector.errors import ConfigError, UsageError
from inspector.model import Config

if TYPE_CHECKING:
    from conftest import Ran

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script with a first line stands for a Python")

#: Llama with one more projection, by hand: two layers of width 8, vocabulary 10.
CONFIG = {"model_type": "gated_new", "architectures": ["GatedForCausalLM"], "hidden_size": 8, "num_hidden_layers": 2}
TENSORS = {
    "model.embed_tokens.weight": [10, 8],
    **{
        f"model.layers.{layer}.self_attn.{name}": shape
        for layer in (0, 1)
        for name, shape in (("q_proj.weight", [8, 8]), ("gate_proj.weight", [2, 8]), ("gate_proj.bias", [2]))
    },
    "model.norm.weight": [8],
}
ANSWER = {
    "library": "Transformers",
    "version": "9.9",
    "answers": [
        {
            "class": "GatedForCausalLM",
            "config": {**CONFIG, "rope_theta": 1e4, "intermediate_size": 16},
            "tensors": {name: [shape, "parameter"] for name, shape in TENSORS.items()},
            "tied": {"lm_head.weight": [10, 8]},
        }
    ],
}


def python(place: Path, body: str) -> Path:
    """A program that stands for the Python of an environment with a library."""
    place.write_text(f"#!{sys.executable}\nimport json, sys\nasked = json.load(sys.stdin)\n{body}\n")
    place.chmod(0o755)
    return place


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return python(tmp_path / "python", f"print(json.dumps({ANSWER!r}))")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    save_file({name: numpy.zeros(shape, "float32") for name, shape in TENSORS.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def test_a_type_without_a_table_is_predicted_as_its_library_builds_it(
    inspect: Callable[..., Ran], library: Path, model: Path
) -> None:
    """Once asked, also without asking; a model of other numbers is not."""
    assert inspect(model, "--json").json["knowledge"]["asked"] is None
    asked = inspect(model, "--ask", library, "--json").json
    assert asked["knowledge"]["asked"] == "Transformers 9.9"
    assert asked["verdict"]["state"] == "complete"
    assert asked["parameters"]["predicted"] == asked["parameters"]["logical"] == 80 + 2 * (64 + 16 + 2) + 8
    assert asked["reconciliation"]["unexplained"]["bytes"] == 0
    assert "as Transformers 9.9 builds it" in inspect(model).out
    architectures._LIBRARY.clear()
    kept = inspect(model, "--json").json
    assert kept["knowledge"]["table"] == "learned/gated_new 1"
    assert kept["parameters"] == asked["parameters"]
    assert inspect("predict", model).out.splitlines()[1] == "  as Transformers 9.9 builds it"
    (model / "config.json").write_text(json.dumps({**CONFIG, "hidden_size": 16}))
    assert inspect("predict", model).code == 2


def test_a_request_has_the_configuration_the_packages_and_limits(tmp_path: Path) -> None:
    """The configuration, packages to import, and limits, as JSON; what cannot be downloaded is not tried."""
    program = python(
        tmp_path / "python",
        "import os\n"
        "offline = os.environ['HF_HUB_OFFLINE'], os.environ['TRANSFORMERS_OFFLINE'], os.listdir('.')\n"
        "print(json.dumps({'library': 'L', 'version': '1', 'answers': [[asked, offline]]}))",
    )
    by, ((asked, offline),) = ask(Library(str(program), ("own",)), [CONFIG])
    assert by == "L 1"
    assert (asked["configurations"], asked["modules"], asked["folder"]) == ([CONFIG], ["own"], None)
    assert asked["seconds"] > 0 < asked["bytes"]
    assert offline == ["1", "1", ["answering.py"]]


SILENT = {
    "nothing": ("", "gave no answer: exit code 0"),
    "a crash": ("raise MemoryError('all of it')", "gave no answer: MemoryError: all of it"),
    "no library": ('print(\'{"error": "No module named transformers"}\')', "No module named transformers"),
    "too few answers": (
        'print(\'{"library": "L", "version": "1", "answers": []}\')',
        "gave no answer",
    ),
    "an unknown type": (
        'print(\'{"library": "L", "version": "1", "answers": [{"error": "unknown"}]}\')',
        "L 1 was asked: unknown",
    ),
    "a hostile name": (f"print(json.dumps({ANSWER!r}).replace('norm', '$(a|b)'))", "not a list of tensors"),
    "a hostile shape": (f"print(json.dumps({ANSWER!r}).replace('[10, 8]', '[-1]'))", "not a list of tensors"),
}


@every("body, message", SILENT.values(), ids=SILENT)
def test_no_answer_is_one_line(body: str, message: str, tmp_path: Path) -> None:
    """Whatever the process does, there is a reason, and no table."""
    with pytest.raises(ConfigError, match=message):
        inspector.learn(CONFIG, python=str(python(tmp_path / "python", body)))
    assert not (architectures._tables_folder()).exists()


def test_a_refusal_is_in_the_message_and_a_table_is_used_where_there_is_one(
    inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    program = python(
        tmp_path / "python", 'print(\'{"library": "L", "version": "1", "answers": [{"error": "unknown"}]}\')'
    )
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG))
    assert (
        "there is no table for its architecture; L 1 was asked: unknown"
        in inspect("predict", config, "--ask", program).err
    )
    known = {"num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 16, "vocab_size": 10}
    known["tie_word_embeddings"] = False
    config.write_text(json.dumps({**CONFIG, **known}))
    assert "by analogy; L 1 was asked: unknown" in inspect("predict", config, "--ask", program).out
    assert "L 1 was asked: unknown: predicted by its table" in inspect("predict", "llama-7b", "--ask", program).out


def test_a_cache_that_the_library_does_not_say_is_that_of_the_types_own_table(
    inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Two layers with two heads of 4 elements, keys and values, at two bytes each: 64 bytes a token."""
    values = {**CONFIG, "model_type": "llama", "num_attention_heads": 2, "vocab_size": 10, "intermediate_size": 16}
    said: Any = ANSWER["answers"][0]
    answer = {**ANSWER, "answers": [{**said, "config": values}]}
    program = python(tmp_path / "python", f"print({json.dumps(answer)!r})")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**values, "torch_dtype": "float16"}))
    asked = inspect("memory", config, "--context", 10, "--ask", program, "--json").json
    assert asked["cache"]["bytes"] == 640


def test_learning_ahead(inspect: Callable[..., Ran], library: Path, model: Path, tmp_path: Path) -> None:
    """A type or a configuration; kept in the folder that --tables names, or the user's own."""
    own = tmp_path / "own"
    own.mkdir()
    learned = inspect("learn", model, "--ask", library, "--tables", own)
    assert learned.code == 0
    assert f"kept in {own / 'learned' / 'gated_new.json'}" in learned.out.replace("\n", "")
    architectures._ADDED.clear()
    architectures._LIBRARY.clear()
    assert inspect("predict", model).code == 2
    assert inspect("predict", model, "--tables", own).code == 0
    assert inspector.learn("gated_new", python=str(library)).prediction.parameters == 252


def test_misused_options_of_asking_are_one_line(inspect: Callable[..., Ran], library: Path, tmp_path: Path) -> None:
    """Misuse is one line."""
    assert "go with --ask" in inspect("predict", "gpt2", "--import", "own").err
    assert "needs the name of a package" in inspect("predict", "gpt2", "--ask", "--import").err
    assert "a scan asks no library" in inspect("scan", tmp_path, "--ask", library).err
    assert "no folder on this machine" in inspect("predict", "gpt2", "--ask", library, "--trust-remote-code").err
    assert "neither a Python nor" in inspect("predict", "gpt2", f"--ask={tmp_path}").err
    assert names_python(str(library))
    assert not names_python(str(tmp_path))
    with pytest.raises(UsageError):
        python_of(str(tmp_path / "absent"))


def answered(tensors: dict[str, list[Any]], tied: dict[str, list[int]] | None = None) -> Answer:
    return answer_of({"class": "X", "config": {}, "tensors": tensors, "tied": tied or {}})


def rows(tensors: dict[str, list[Any]], **tied: list[int]) -> list[list[Any]]:
    table = learning.document(
        "x", {}, answered(tensors, {name.replace("__", "."): s for name, s in tied.items()}), "L 1"
    )
    return table["rows"]  # type: ignore[no-any-return]


def test_rows_say_which_layers() -> None:
    """Numbers that are a product of ranges are one row, with a condition where some are left out; others are several."""
    whole = {f"layers.{n}.mlp.experts.{e}.up_proj.weight": [[4, 2], "parameter"] for n in range(3) for e in range(2)}
    assert rows(whole) == [["up_proj", "layers.{layer<3}.mlp.experts.{expert<2}.up_proj", "4, 2"]]
    some = {name: each for name, each in whole.items() if ".1.mlp" not in name}
    ((_, name, _, columns),) = rows(some)
    assert (name, columns["when"]) == ("layers.{layer<3}.mlp.experts.{expert<2}.up_proj", "layer in (0, 2)")
    uneven = {name: each for name, each in whole.items() if ".2.mlp.experts.1" not in name}
    assert [(name, *rest) for _, name, _, *rest in rows(uneven)] == [
        ("layers.{layer<2}.mlp.experts.{expert<2}.up_proj",),
        ("layers.{layer<3}.mlp.experts.{expert<1}.up_proj", {"when": "layer == 2"}),
    ]


def test_rows_of_buffers_and_of_tied_tensors() -> None:
    """A frozen norm's weight and bias are buffers with a key each; a tied head is known, and not predicted."""
    found = rows({"norm.weight": [[2], "buffer"], "norm.bias": [[2], "buffer"]}, lm_head__weight=[4, 2])
    assert len({(row[0], row[3].get("branch")) for row in found}) == 3
    assert found[-1][3]["tied"] == "True"
    assert all(row[3]["persistent"] for row in found[:2])


def probed(tensors: Callable[[dict[str, int]], dict[str, list[int]]], base: dict[str, int]) -> Answer:
    """An answer with probes, of a library that builds these tensors."""

    def answer(values: dict[str, int]) -> dict[str, Any]:
        shapes = tensors(values)
        return {"class": "X", "config": values, "tensors": {k: [v, "parameter"] for k, v in shapes.items()}, "tied": {}}

    probes = [{"field": name, "value": 2 * n, **answer({**base, name: 2 * n})} for name, n in base.items()]
    return answer_of({**answer(base), "probes": probes})


def test_formulas_that_probes_show() -> None:
    """Products, quotients, sums of products that share a value, numbers of layers: read from changes by one field each."""
    base = {"width": 64, "heads": 4, "kv": 2, "size": 16, "key": 8, "keys": 2, "layers": 3}

    def tensors(v: dict[str, int]) -> dict[str, list[int]]:
        per_layer = {
            "q_proj.weight": [v["heads"] * v["size"], v["width"]],
            "qkv.weight": [(v["heads"] + 2 * v["kv"]) * v["size"], v["width"]],
            "conv": [2 * v["key"] * v["keys"] + v["heads"] * v["size"], 3],
            "norm.weight": [v["width"] // v["heads"]],
        }
        return {f"layers.{n}.{name}": shape for n in range(v["layers"]) for name, shape in per_layer.items()}

    answer = probed(tensors, base)
    table = learning.document("x", {}, answer, "L 1")
    assert table["learned"]["fixed"] == base
    found = learning.general(table, {}, answer)
    assert found and found.table["learned"]["fixed"] == {}
    shapes = {row[1].rpartition(".")[2]: row[2] for row in found.table["rows"]}
    assert shapes["q_proj"] == "heads * size, width"
    assert shapes["norm"] == "width // heads"
    assert all("{layer<layers}" in row[1] for row in found.table["rows"])
    other = {"width": 96, "heads": 6, "kv": 3, "size": 10, "key": 4, "keys": 3, "layers": 5}
    assert learning.tensors_of(found.table["rows"], other) == {k: tuple(v) for k, v in tensors(other).items()}
    assert found.holds(other, probed(tensors, other))
    assert not found.holds(other, probed(tensors, {**other, "kv": 4}))


def test_layers_that_a_list_tells_apart() -> None:
    """The conditions of rows and of a cache read the list, which is as long as the model is deep; so is its pattern."""
    base = {"width": 8, "layers": 4, "every": 2, "dense": 1, "window": 6, "kv": 2, "size": 3}

    def answer(v: dict[str, Any]) -> dict[str, Any]:
        kinds = v.get("kinds") or ["full" if (n + 1) % v["every"] == 0 else "slides" for n in range(v["layers"])]
        mixes = ["dense" if n < v["dense"] else "sparse" for n in range(v["layers"])]
        tensors = {f"layers.{n}.mlp.{mixes[n]}.weight": [v["width"], 5] for n in range(v["layers"])}
        tensors |= {f"layers.{n}.q_norm.weight": [v["size"]] for n in range(v["layers"]) if kinds[n] == "full"}
        part = {"keys": v["kv"] * v["size"], "values": v["kv"] * v["size"], "heads": v["kv"]}
        held = [
            [{"kind": "full", **part}] if each == "full" else [{"kind": "sliding", "window": v["window"], **part}]
            for each in kinds
        ]
        config = {**v, "kinds": kinds, "mixes": mixes}
        return {"class": "X", "config": config, "tensors": {k: [s, "parameter"] for k, s in tensors.items()},
                "tied": {}, "held": held}  # fmt: skip

    def asked(base: dict[str, Any]) -> Answer:
        changed = [(name, 2 * n) for name, n in base.items() if type(n) is int]
        probes = [{"field": name, "value": value, **answer({**base, name: value})} for name, value in changed]
        return answer_of({**answer(base), "probes": probes})

    found = learning.general(learning.document("x", {}, asked(base), "L 1"), {}, asked(base))
    assert found
    table = found.table
    assert table["learned"]["fixed"] == {}
    assert table["derived"] == {
        "kinds": "['full' if (layer + 1) % every == 0 else 'slides' for layer in range(layers)]",
        "mixes": "['dense' if layer < dense else 'sparse' for layer in range(layers)]",
    }
    columns = {row[1]: row[3]["when"] for row in table["rows"]}
    assert columns["layers.{layer<layers}.q_norm"] == "kinds[layer] == 'full'"
    assert columns["layers.{layer<layers}.mlp.dense"] == "mixes[layer] == 'dense'"
    other = {"width": 7, "layers": 9, "every": 3, "dense": 2, "window": 4, "kv": 1, "size": 5}
    assert found.holds(other, answer_of(answer(other)))
    mixed = {**other, "layers": 3, "kinds": ["full", "slides", "full"]}
    assert found.holds(mixed, answer_of(answer(mixed)))
    assert not found.holds(mixed, answer_of(answer({**mixed, "kv": 3})))
    assert learning.fits(table["learned"], mixed)
    assert not learning.fits(table["learned"], {**mixed, "kinds": ["full", "linear", "full"]})


def test_a_cache_is_learned_and_a_strange_one_refused(tmp_path: Path) -> None:
    """Of one answer: numbers, with the layers that hold each part; the memory that it takes follows."""
    full = {"kind": "full", "window": None, "heads": 2, "keys": 6, "values": 6}
    states = [{"kind": "recurrent", "keys": 5, "kernel": 4}, {"kind": "recurrent", "keys": 40, "dtype": "F32"}]
    answer = {**ANSWER["answers"][0], "held": [[full], states, [full]]}  # type: ignore[dict-item]
    table = learning.document("gated_new", CONFIG, answer_of(answer), "L 1")
    assert table["cache"] == [
        ["full", "6", "6", {"layers": "3", "when": "layer in (0, 2)", "heads": "2"}],
        ["recurrent", "5", "0", {"layers": "3", "when": "layer == 1", "kernel": "4"}],
        ["recurrent", "40", "0", {"layers": "3", "dtype": "F32", "when": "layer == 1"}],
    ]
    family = architectures._of_document(table)
    config = type("Learned", (Config,), {"find_family": staticmethod(lambda *_: family)})(CONFIG, "config.json")
    groups = [(group.kind, group.layers, group.elements, group.dtype) for group in kept(config)]
    assert groups == [("full", (0, 2), 12, None), ("recurrent", (1,), 5, None), ("recurrent", (1,), 40, "F32")]
    for strange in (
        {"kind": "magic", "keys": 1},
        {"kind": "full", "keys": -1},
        {"kind": "full"},
        {**full, "dtype": "X"},
    ):
        with pytest.raises(ConfigError, match="not a list of tensors"):
            answer_of({**answer, "held": [[strange]]})


class Tensor:
    """What is read of a tensor of a cache."""

    def __init__(self, *shape: int, dtype: str = "torch.bfloat16") -> None:
        self.shape, self.dtype = shape, dtype

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return prod(self.shape)

    def __getitem__(self, _: int) -> Tensor:
        return Tensor(*self.shape[1:])


def test_a_caches_layer_holds_keys_values_windows_and_states() -> None:
    """Keys and values by token, an indexer's keys, the columns of a convolution, a state."""
    attention = SimpleNamespace(keys=Tensor(1, 2, 16, 8), values=Tensor(1, 2, 16, 4), sliding_window=None)
    attention.indexer_keys = Tensor(1, 16, 3)
    assert list(answering._held_by(attention)) == [
        {"kind": "full", "window": None, "heads": 2, "keys": 16, "values": 8},
        {"kind": "full", "keys": 3},
    ]
    slides = SimpleNamespace(keys=Tensor(1, 2, 16, 8), values=Tensor(1, 2, 16, 8), sliding_window=5)
    assert [(each["kind"], each["window"]) for each in answering._held_by(slides)] == [("sliding", 5)]
    states = {0: Tensor(1, 4, 8, dtype="torch.float32"), 1: None}
    linear = SimpleNamespace(conv_states={0: Tensor(1, 6, 4), 1: None}, recurrent_states=states)
    assert list(answering._held_by(linear)) == [
        {"kind": "recurrent", "keys": 6, "kernel": 4},
        {"kind": "recurrent", "keys": 32, "dtype": "F32"},
    ]
    assert list(answering._held_by(SimpleNamespace(keys=None))) == []
    lists = {"kinds": ["a", "b"], "text_config": {"mixes": [1, 2]}, "other": [1]}
    assert answering._lists_of(lists, 2) == [(("kinds",), ["a", "b"]), (("text_config", "mixes"), [1, 2])]


def test_a_table_holds_for_what_it_was_proven_for() -> None:
    """A fixed field must be as it was, a given one be given, and one that the table does not know must not appear."""
    learned = {
        "class": "X",
        "given": ["width"],
        "known": ["width", "flag", "kinds"],
        "fixed": {"flag": True, "kinds": ["a", "a"]},
    }
    assert learning.fits(learned, {"width": 3})
    assert learning.fits(learned, {"width": 3, "kinds": ["a"] * 5, "flag": True, "architectures": ["X"]})
    assert not learning.fits(learned, {"width": 3, "kinds": ["a", "b"]})
    assert not learning.fits(learned, {"width": 3, "flag": False})
    assert not learning.fits(learned, {})
    assert not learning.fits(learned, {"width": 3, "head_dim": 8})
    assert not learning.fits(learned, {"width": 3, "architectures": ["Y"]})
