"""Adapters alone: PEFT's own are sound; what PEFT would refuse, fill at random or drop is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import folders
import hostile
import pytest
import rule_words
import sparse
from every import every
from hostile.files import safetensors

import inspector
from inspector.adapters import methods, prediction
from inspector.auditing import targets
from inspector.auditing.catalogue import all_rules
from inspector.auditing.loading.adapters import created_tensors
from inspector.auditing.rule import NotJudged
from inspector.auditing.subject import Subject
from inspector.errors import ConfigError
from inspector.opening import configs
from inspector.sources.listing import entries
from inspector.sources.local import LocalPlace

ADAPTERS = Path(sparse.__file__).parent / "adapters"
FILE = "adapter_model.safetensors"


@contextmanager
def subject_of(files: dict[str, bytes], folder: Path) -> Iterator[Subject]:
    """A folder with these files, as rules receive it."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    listed = list(entries(folder))
    with closing(LocalPlace(folder, targets.listed_files(listed))) as place:
        yield Subject(place, listed, str(folder), str(folder))


def test_options_of_a_newer_peft_are_a_note(tmp_path: Path) -> None:
    """PEFT drops them with a warning; options that are unset, and PEFT's own, are none."""
    folders.lora(tmp_path)
    path = tmp_path / "adapter_config.json"
    more = {"use_frobnicate": True, "later": None, "use_rslora": True, "peft_version": "0.30.0", "auto_mapping": None}
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))
    findings = inspector.audit(tmp_path).checkpoints[0].findings
    found = [each for each in findings if each.rule == "adapter-field"]
    known = "options that PEFT 0.21.2 does not know, and ignores with a warning"
    assert [(each.severity, each.message) for each in found] == [("info", f'"use_frobnicate": {known}')]


@every("name", sorted(path.stem for path in ADAPTERS.glob("*.json")))
def test_adapters_of_peft_are_sound(name: str, tmp_path: Path) -> None:
    """An adapter of each method, as saved by PEFT, without its base model: no rule about adapters has a word to say."""
    folder = sparse.make(json.loads((ADAPTERS / f"{name}.json").read_text()), tmp_path / "adapter")
    listed = list(entries(folder))
    with closing(LocalPlace(folder, targets.listed_files(listed))) as place:
        subject = Subject(place, listed, str(folder), str(folder))
        rules = [all_rules()[code] for code in ("adapter-pieces", "adapter-targets", "adapter-rank", "half-adapter")]
        assert [finding for rule in rules for finding in rule.findings(subject)] == []


def lora(*modules: str, layers: int = 2, rank: int = 4, **changed: list[int] | None) -> dict[str, list[int]]:
    """LoRA's two matrices of 16 × 16 modules in each layer; `l1_q_A` changes one, and None removes it."""
    made = {}
    for layer in range(layers):
        for module in modules:
            for half, shape in (("A", [rank, 16]), ("B", [16, rank])):
                own = changed.get(f"l{layer}_{module[0]}_{half}", shape)
                if own is not None:
                    made[f"base_model.model.layers.{layer}.self_attn.{module}.lora_{half}.weight"] = own
    return made


LORA: dict[str, Any] = {"peft_type": "LORA", "r": 4, "target_modules": ["q_proj", "v_proj"]}
BOTH = lora("q_proj", "v_proj")
DROPPED = "that the method does not create, so PEFT drops them"
STRANGE = "that belong to no adapter, so PEFT drops them"
#: The same layers within a model that has a head. Loading one made with PEFT 0.21.2 ends in a KeyError.
BESIDE_HEAD = {name.replace("layers", "model.layers"): shape for name, shape in BOTH.items()}
HEADLESS = "neither classifier nor score is stored, one of which PEFT requires for SEQ_CLS"
ABSENT = "that the method creates but no file stores"


@every(
    ("config", "tensors", "stated"),
    [
        (LORA, BOTH, []),
        ({**LORA, "peft_type": "lora"}, BOTH, []),
        ({**LORA, "r": 8}, lora("q_proj", "v_proj", rank=8), []),
        (LORA, {}, [f"{FILE}: warning: no tensors in it: PEFT fills the adapter with random numbers"]),
        (LORA, lora("q_proj", "v_proj", l1_v_A=[5, 16]), ["error: 5×16 stored, 4×16 = r × inputs made by the method"]),
        (LORA, lora("q_proj", "v_proj", l1_v_A=[4, 15]), ["error: 4×15 stored, 4×16 = r × inputs made by the method"]),
        (LORA, lora("q_proj", "v_proj", l0_q_B=[16, 3]), ["error: 16×3 stored, 16×4 = outputs × r made by the method"]),
        (LORA, lora("q_proj", "v_proj", layers=3, l0_q_B=[17, 4]), ["error: 17×4 stored, 16×4 = outputs × r made by the method"]),
        # Layers differ in width, as in stages: nothing shows which of them is wrong.
        (LORA, lora("q_proj", "v_proj", layers=4, l0_q_B=[8, 4], l1_q_B=[8, 4]), []),
        (LORA, lora("q_proj", "v_proj", layers=3, l0_q_B=[8, 4], l1_q_B=[24, 4]), []),
        (LORA, lora("q_proj", "v_proj", l1_v_A=None), []),  # reported as half of a pair
        (LORA, lora("q_proj", "v_proj", l1_v_B=None), []),
        (LORA, lora("q_proj", "v_proj", l1_v_A=None, l1_v_B=None), [f"warning: 2 pieces {ABSENT}: layers.1.self_attn.v_proj.weight: lora_A"]),
        ({**LORA, "use_dora": True}, BOTH, [f"warning: 4 pieces {ABSENT}: layers.0.self_attn.q_proj.weight: magnitude"]),
        ({**LORA, "lora_bias": True}, BOTH, [f"warning: 4 pieces {ABSENT}: layers.0.self_attn.q_proj.weight: lora_B_bias"]),
        ({**LORA, "layers_to_transform": [0]}, lora("q_proj", "v_proj", layers=1), []),
        ({**LORA, "layers_to_transform": 0}, lora("q_proj", "v_proj", layers=1), []),
        ({**LORA, "layers_to_transform": [0]}, BOTH, [f"warning: 4 tensors {DROPPED}"]),
        ({**LORA, "rank_pattern": {"v_proj": 8}}, {**lora("q_proj"), **lora("v_proj", rank=8)}, []),
        ({**LORA, "rank_pattern": {"v_proj": 8}}, BOTH, [*(f"error: {each}" for _ in (0, 1) for each in ("4×16 stored, 8×16 = r × inputs made by the method", "16×4 stored, 16×8 = outputs × r made by the method"))]),
        ({**LORA, "target_modules": None}, BOTH, []),
        ({**LORA, "target_modules": ["q_proj"]}, BOTH, []),  # another rule reports modules that are named nowhere
        (LORA, {**BOTH, "extra.weight": [2]}, [f"warning: 1 tensor {STRANGE}"]),
        (LORA, {**BOTH, "base_model.model.norm.weight": [2], "base_model.model.q.bias": [2], "q.alpha": [1]}, []),
        (LORA, {**BOTH, "base_model.model.norm.scale": [2]}, [f"warning: 1 tensor {STRANGE}"]),
        ({**LORA, "auto_mapping": {"base_model_class": "X"}}, {**BOTH, "extra.weight": [2]}, []),
        ({**LORA, "modules_to_save": ["lm_head"]}, {**BOTH, "base_model.model.lm_head.weight": [2, 16]}, []),
        ({**LORA, "modules_to_save": ["lm_head"]}, {**BOTH, "base_model.model.my_lm_head.weight": [2, 16]}, ["error: 'lm_head' is in modules_to_save but not stored, and PEFT requires it"]),
        ({**LORA, "modules_to_save": ["b", "a", 3]}, BOTH, ["error: 'a' is in modules_to_save but not stored, and PEFT requires it", "error: 'b' is in modules_to_save but not stored, and PEFT requires it"]),
        ({**LORA, "modules_to_save": "lm_head"}, BOTH, []),
        # A classifier's last layer has one of two names, and PEFT lists both.
        ({**LORA, "modules_to_save": ["classifier", "score"]}, {**BOTH, "base_model.model.score.weight": [2, 16]}, []),
        ({**LORA, "modules_to_save": ["classifier", "score"]}, BOTH, ["error: 'classifier' is in modules_to_save but not stored, and PEFT requires it", "error: 'score' is in modules_to_save but not stored, and PEFT requires it"]),
        # PEFT adds them for a task, and T5's and BART's classifier has another name.
        ({**LORA, "modules_to_save": ["classifier", "score"], "task_type": "SEQ_CLS"}, BOTH, []),
        ({**LORA, "modules_to_save": ["classifier", "score"], "task_type": "SEQ_CLS"}, BESIDE_HEAD, [f"error: {HEADLESS}"]),
        ({**LORA, "modules_to_save": None, "task_type": "SEQ_CLS"}, BESIDE_HEAD, [f"error: {HEADLESS}"]),
        ({**LORA, "modules_to_save": ["classifier", "score"], "task_type": "SEQ_CLS"}, {**BESIDE_HEAD, "base_model.model.score.weight": [2, 16]}, []),
        ({**LORA, "modules_to_save": ["fc"], "task_type": "SEQ_CLS"}, {**BESIDE_HEAD, "base_model.model.fc.weight": [2, 16]}, []),
        ({**LORA, "modules_to_save": ["head", "score"], "task_type": "SEQ_CLS"}, BOTH, ["error: 'head' is in modules_to_save but not stored, and PEFT requires it"]),
        ({**LORA, "modules_to_save": ["head", "score"]}, {**BOTH, "base_model.model.score.weight": [2, 16]}, ["error: 'head' is in modules_to_save but not stored, and PEFT requires it"]),
        ({**LORA, "peft_type": "UNHEARD_OF"}, lora("q_proj", l1_q_A=[5, 16]), []),
    ],
)  # fmt: skip
def test_matrices_of_lora(
    config: dict[str, Any], tensors: dict[str, list[int]], stated: list[str], tmp_path: Path
) -> None:
    files = {"adapter_config.json": config, FILE: safetensors(tensors)}
    found = rule_words.lines("adapter-pieces", files, tmp_path)
    assert found == [each if each.startswith(FILE) else f"{FILE}: {each}" for each in stated]


def test_the_tensor_is_named(tmp_path: Path) -> None:
    for tensors, name in (
        (lora("q_proj", "v_proj", l1_v_A=[5, 16]), "base_model.model.layers.1.self_attn.v_proj.lora_A.weight"),
        ({**BOTH, "extra.weight": [2]}, "extra.weight"),
    ):
        files = {"adapter_config.json": json.dumps(LORA).encode(), FILE: safetensors(tensors)}
        change = hostile.both(dict.clear, partial(dict.update, **files))
        found = rule_words.findings("adapter-pieces", change, tmp_path / name)
        assert [each.tensor for each in found] == [name]


def of(module: str, part: str, shape: list[int], layers: int = 3) -> dict[str, list[int]]:
    return {f"base_model.model.layers.{layer}.attn.{module}.{part}": list(shape) for layer in range(layers)}


OFT: dict[str, Any] = {"peft_type": "OFT", "r": 0, "oft_block_size": 8, "target_modules": ["q", "v"]}
ROTATIONS = {**of("q", "oft_R.weight", [4, 28]), **of("v", "oft_R.weight", [2, 28])}
LOKR: dict[str, Any] = {"peft_type": "LOKR", "r": 4, "target_modules": ["q", "v"]}
FACTORS = {**of("q", "lokr_w1", [4, 4]), **of("q", "lokr_w2", [8, 8])}
PROMPTS: dict[str, Any] = {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 4, "token_dim": 16}
PREFIX = {
    "peft_type": "PREFIX_TUNING",
    "num_virtual_tokens": 4,
    "token_dim": 16,
    "num_layers": 2,
    "num_attention_heads": 2,
}
FIRST = "base_model.model.layers.0.attn.q."


@every(
    ("config", "tensors", "stated"),
    [
        (OFT, ROTATIONS, []),
        (OFT, {**ROTATIONS, f"{FIRST}oft_R.weight": [3, 28]}, ["error: 3×28 here, 4×28 in other layers"]),
        (OFT, {**ROTATIONS, f"{FIRST}oft_R.weight": [4, 27]}, ["error: 4×27 here, 4×28 in other layers"]),
        (LOKR, FACTORS, []),
        (LOKR, {**FACTORS, f"{FIRST}lokr_w2": [8, 7]}, ["error: 8×7 here, 8×8 in other layers"]),
        ({**LOKR, "rank_pattern": {"q": 2}}, {**FACTORS, f"{FIRST}lokr_w2": [8, 7]}, []),
        (LOKR, {**FACTORS, **of("v", "lora_A.weight", [4, 16])}, [f"warning: 3 tensors {DROPPED}"]),
        (LOKR, {**FACTORS, **of("v", "lokr_w1", [4, 4], layers=2)}, ["warning: 1 piece that other layers have but no file stores: layers.2.attn.v.weight: lokr_w1"]),
        ({**LOKR, "layers_to_transform": [0]}, {**FACTORS, **of("v", "lokr_w1", [4, 4], layers=2)}, []),
        ({"peft_type": "IA3", "target_modules": ["q"], "feedforward_modules": []}, of("q", "ia3_l", [16, 1]), []),
        ({"peft_type": "IA3", "target_modules": ["q"], "feedforward_modules": ["q"]}, of("q", "ia3_l", [1, 16]), []),
        ({"peft_type": "IA3", "target_modules": ["q"], "feedforward_modules": ["q"]}, {**of("q", "ia3_l", [1, 16]), f"{FIRST}ia3_l": [1, 15]}, ["error: 1×15 stored, 1×16 = 1 × inputs made by the method"]),
        (PROMPTS, {"prompt_embeddings": [4, 16]}, []),
        (PROMPTS, {"prompt_embeddings": [5, 16]}, ["error: 5×16 stored, 4×16 = num_virtual_tokens·num_transformer_submodules × width made by the method"]),
        (PROMPTS, {"prompts": [4, 16]}, ["error: no prompt_embeddings, which the method PROMPT_TUNING consists of"]),
        (PREFIX, {"prompt_embeddings": [4, 64]}, []),
        (PREFIX, {"prompt_embeddings": [4, 32]}, ["error: 4×32 stored, 4×64 = num_virtual_tokens × keys made by the method"]),
    ],
)  # fmt: skip
def test_pieces_of_other_methods(
    config: dict[str, Any], tensors: dict[str, list[int]], stated: list[str], tmp_path: Path
) -> None:
    files = {"adapter_config.json": config, FILE: safetensors(tensors)}
    found = rule_words.lines("adapter-pieces", files, tmp_path)
    assert found == [f"{FILE}: {each}" for each in stated]


def test_an_adapter_beyond_the_bounds_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not compared tensor by tensor: a note if a sound adapter may be as large, an error if none is."""
    files = {"adapter_config.json": json.dumps(LORA).encode(), FILE: safetensors(BOTH)}
    for bound, most, reported in (
        ("_MOST", 5, NotJudged("8 tensors, more than 5", FILE, "info")),
        ("_MOST_PAIRS", 2, NotJudged("4 pairs of a layer and a module, more than 2", FILE)),
    ):
        with monkeypatch.context() as patch, subject_of(files, tmp_path / bound) as subject:
            patch.setattr(created_tensors, bound, most)
            assert [*created_tensors.findings(subject, (FILE,))] == [reported]
            assert [finding.rule for finding in all_rules()["adapter-pieces"].findings(subject)] == ["not-judged"]


def test_modules_saved_whole_are_found_by_their_names(tmp_path: Path) -> None:
    """By one word or several, in the middle of a name or at its start; never by its last word."""
    own = {**LORA, "modules_to_save": ["norm", "head.out", "embed", "lost", "layers.0.lost", "weight"]}
    whole = {f"base_model.model.{name}.weight": [4] for name in ("final.norm", "head.out", "embed.tokens")}
    files = {"adapter_config.json": json.dumps(own).encode(), FILE: safetensors({**BOTH, **whole})}
    found = rule_words.lines("adapter-pieces", files, tmp_path)
    assert [line.split(" is in ")[0] for line in found] == [
        f"{FILE}: error: {name!r}" for name in ("layers.0.lost", "lost", "weight")
    ]


@pytest.mark.parametrize(
    ("keys", "module", "first"),
    [
        (["q", "a.q"], "x.a.q", "q"),
        (["a.q", "q"], "x.a.q", "a.q"),
        (["v", r".*\.q$", "q"], "x.a.q", r".*\.q$"),
        (["q", r".*\.q$"], "x.a.q", "q"),
        (["q.lora_E", "q"], "x.a.q", "q.lora_E"),
        (["a"], "x.a.q", None),
        ([], "x.a.q", None),
    ],
)
def test_the_first_pattern_that_fits_counts(keys: list[str], module: str, first: str | None) -> None:
    """PEFT takes the first of the keys that a module's name ends with."""
    assert prediction.own_pattern({"rank_pattern": dict.fromkeys(keys, 4)}, "rank_pattern", module) == first


def test_more_patterns_than_any_adapter_has_are_refused() -> None:
    """Each would be compared with every module."""
    keys = {rf".*\.q{at}$": 4 for at in range(prediction.MOST_EXPRESSIONS + 1)}
    with pytest.raises(ConfigError, match="its `rank_pattern` has 501 patterns"):
        prediction.own_pattern({"rank_pattern": keys}, "rank_pattern", "q")
    del keys[r".*\.q7$"]
    assert prediction.own_pattern({"rank_pattern": keys}, "rank_pattern", "x.q8") == r".*\.q8$"


@pytest.mark.parametrize(
    ("files", "stated"),
    [
        ({"adapter_config.json": LORA}, ["adapter_config.json: error: no adapter_model.safetensors beside it: download it"]),
        ({"adapter_config.json": LORA, "adapter_model.bin": "x"}, []),
        ({"a/adapter_config.json": LORA, FILE: "x"}, ["a/adapter_config.json: error: no adapter_model.safetensors beside it: download it"]),
        ({"a/adapter_config.json": LORA, f"a/{FILE}": "x"}, []),
        ({"adapter_config.json": {"r": 4}}, []),
        ({"adapter_config.json": {"peft_type": 3}}, []),
        ({"my_adapter_config.json": LORA}, []),
    ],
)  # fmt: skip
def test_adapters_without_weights(files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines("no-adapter-weights", files, tmp_path) == stated


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        ({}, ["road_theta", "road_alpha"] * 0),
        ({"variant": "road_1"}, ["road_theta", "road_alpha"]),
        ({"variant": "road_4"}, ["road_theta", "road_alpha"]),
    ],
)
def test_pieces_that_fields_ask_for(config: dict[str, Any], parts: list[str]) -> None:
    road = methods.method("ROAD")
    assert road is not None
    assert [piece.part for piece in created_tensors._method_as_configured(road, config).pieces] == parts


def test_pieces_of_which_a_module_decides_stay() -> None:
    ia3, lokr = methods.method("IA3"), methods.method("LOKR")
    assert ia3 is not None
    assert lokr is not None
    assert created_tensors._method_as_configured(ia3, {}) == ia3
    assert created_tensors._method_as_configured(lokr, {"r": 4}) == lokr


LORA_OF_TWO = {"peft_type": "LORA", "r": 4, "target_modules": ["q_proj", "down_proj"]}
Q = {"base_model.model.layers.0.attn.q_proj.lora_A.weight": [4, 8], "base_model.model.layers.0.attn.q_proj.lora_B.weight": [8, 4]}  # fmt: skip
STACK = "base_model.model.layers.0.mlp.experts"
STACKED = {f"{STACK}{own}.lora_{half}.weight": [16, 16] for own in ("", ".base_layer") for half in "AB"}
SHADOW = {"base_model.model.layers.0.shadow_down.default.weight": [8, 32]}
NO_TENSORS = f"{configs.ADAPTER_FILE}: warning: 1 target module without tensors: down_proj"
UNKNOWN = "how the method SHADOW names its tensors is not known here"


@every(
    ("options", "tensors", "stated"),
    [
        ({}, Q, [NO_TENSORS]),
        ({"exclude_modules": ["down_proj"]}, Q, []),
        ({"exclude_modules": ["layers.0.mlp.down_proj", "o_proj"]}, Q, []),
        ({"exclude_modules": ["proj", "own_proj", "mlp"]}, Q, [NO_TENSORS]),
        ({"exclude_modules": r".*\.mlp\..*"}, Q, [f"{configs.ADAPTER_FILE}: info: adapter-targets: 1 target module without tensors: down_proj, unless exclude_modules leaves them out: it is a pattern: not judged"]),
        ({"target_modules": ["q_proj"], "target_parameters": ["mlp.experts.down_proj", "experts.gate_up_proj"]}, Q | STACKED, []),
        ({"target_modules": ["q_proj"], "target_parameters": ["down_proj"]}, Q | STACKED, []),
        ({"target_modules": ["q_proj"], "target_parameters": ["router.weight"]}, Q | STACKED, [f"{FILE}: warning: 2 modules with tensors that no target names: {STACK}"]),
        ({"target_modules": ["q_proj"]}, Q | STACKED, [f"{FILE}: warning: 2 modules with tensors that no target names: {STACK}"]),
        ({"peft_type": "SHADOW", "target_modules": ["layers.0"]}, SHADOW, [f"{FILE}: info: adapter-targets: {UNKNOWN}: not judged"]),
        ({"peft_type": "SHADOW"}, Q, [NO_TENSORS]),
    ],
)  # fmt: skip
def test_options_that_choose_modules(
    options: dict[str, Any], tensors: dict[str, list[int]], stated: list[str], tmp_path: Path
) -> None:
    """As PEFT 0.21's `check_target_module_exists` and `inject_adapter` match modules, and the parameters of others."""
    files = {configs.ADAPTER_FILE: LORA_OF_TWO | options, FILE: safetensors(tensors)}
    assert rule_words.lines("adapter-targets", files, tmp_path) == stated


def test_a_bias_of_the_second_half_has_no_first(tmp_path: Path) -> None:
    """`lora_bias` of PEFT adds it to `lora_B` alone."""
    bias = "base_model.model.layers.0.attn.q_proj.lora_B.bias"
    assert rule_words.lines("half-adapter", {FILE: safetensors({**Q, bias: [8]})}, tmp_path / "a") == []
    first = next(iter(Q))
    found = rule_words.lines("half-adapter", {FILE: safetensors({first: Q[first], bias: [8]})}, tmp_path / "b")
    assert found == [f"{FILE}: warning: 1 matrix of LoRA without the other half"]


def test_a_share_of_a_modules_elements_shows_no_size(tmp_path: Path) -> None:
    """Supertuning of PEFT keeps 5 of 16 × 32 numbers at a sparsity of 0.99: no side of the module follows from it."""
    config = {"peft_type": "SUPERTUNING", "sparsity": 0.99, "r": None, "target_modules": ["v_proj"]}
    weights = safetensors({f"base_model.model.layers.{n}.v_proj.supertuning_values": [5] for n in (0, 1)})
    assert rule_words.lines("adapter-pieces", {configs.ADAPTER_FILE: config, FILE: weights}, tmp_path) == []
