"""Packed weights: the tensors that libraries save are split into weights and their side data, to the unit."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest
import sparse
from every import every
from fuzzing import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from joining import tensors

import inspector
from inspector.architectures.data.projections import COARSE
from inspector.architectures.naming.by_words import by_pattern
from inspector.model import Config, Header, Reconciliation, Tensor
from inspector.quantization import packing, packing_of, unpacking
from inspector.quantization.declaration import declaration_of, declared_bytes, pieces_of
from inspector.quantization.packing import packing_of as packing_by_names
from inspector.quantization.scheme import Scheme
from inspector.quantization.schemes import all_schemes
from inspector.quantization.unpacking import Unpacked
from inspector.report import documents, text

FOLDER = Path(sparse.__file__).parent / "packed"
REAL = Path(sparse.__file__).parent / "real"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
Packed = Callable[[str], Reconciliation]
#: Weights whose shape is data, and whose number of elements only the configuration states.
NEEDS_CONFIGURATION = {"vptq"}
#: Models whose dimensions are not inferred from tensors.
NOT_INFERRED = {"fp8-latent"}


def recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Reconciliation]:
    """Name of a recipe → the checkpoint joined with its prediction, made once."""
    root = tmp_path_factory.mktemp("packed")
    return cache(lambda name: reconciled(recipe(name), root / name, "1.7M"))


def reconciled(recipe: dict[str, Any], folder: Path, label: str | None = None) -> Reconciliation:
    return inspector.reconcile(inspector.open(sparse.make(recipe, folder)), label)


def without_declaration(name: str) -> dict[str, Any]:
    """The recipe with a configuration that does not mention packing."""
    loaded = recipe(name)
    config = loaded["beside"]["config.json"]
    config = {key: value for key, value in config.items() if not key.startswith("quantization")}
    return {**loaded, "beside": {"config.json": config}}


@every("name", NAMES)
def test_logical_parameters_are_those_of_the_model_before_packing(name: str, packed: Packed) -> None:
    """As many as PyTorch counted, none of them a scale, and every byte of the gap named."""
    loaded = recipe(name)
    result = packed(name)
    expected = loaded["expected"]
    assert result.packing is not None
    assert (result.packing.scheme, result.packing.bits) == (expected["scheme"], expected["bits"])
    assert result.logical == expected["parameters"] == result.prediction.parameters  # type: ignore[union-attr]
    assert result.unexplained_bytes == 0
    assert not result.unexplained
    assert not [finding for finding in result.findings if finding.severity == "error"]
    assert result.nominal is not None
    assert result.nominal.bits == expected["bits"]


@every("name", NAMES)
def test_logical_shapes_are_the_predicted_ones(name: str, packed: Packed) -> None:
    """A packed `q_proj` is checked against the same formula as a plain one: there is no step `shape`."""
    result = packed(name)
    assert not {step.cause for step in result.steps} & {"shape", "missing", "vocab_padding", "size_mismatch"}
    assert all(role.parameters == role.predicted_parameters for role in result.roles if role.group != "quantization")


@every("name", NAMES)
def test_side_data_is_a_group_of_its_own(name: str, packed: Packed) -> None:
    """Scales and the like have the role of the weight they serve, the group `quantization`, and no parameters."""
    result = packed(name)
    served = [each for each in result.tensors if each.group == "quantization"]
    assert served
    assert {each.parameters for each in served} == {0}
    predicted = {role.role for role in result.roles if role.predicted_parameters}
    assert {each.key.role for each in served} <= predicted | {COARSE.get(role, role) for role in predicted}


@every("name", sorted(set(NAMES) - NEEDS_CONFIGURATION))
def test_packing_is_inferred_from_the_tensors_if_the_configuration_does_not_name_it(name: str, tmp_path: Path) -> None:
    """The count is the same without any declaration."""
    loaded = without_declaration(name)
    result = reconciled(loaded, tmp_path / "model")
    rules = {finding.rule for finding in result.findings}
    assert result.packing is not None
    assert "packing-inferred" in rules
    assert result.logical == loaded["expected"]["parameters"]


@every("name", sorted(set(NAMES) - NEEDS_CONFIGURATION - NOT_INFERRED), parts=2)
def test_recognised_without_any_configuration(name: str, tmp_path: Path) -> None:
    """The tensors alone reveal the scheme and the model's dimensions."""
    loaded = {**recipe(name), "beside": {}}
    result = reconciled(loaded, tmp_path / "model")
    assert result.packing is not None
    assert result.logical == loaded["expected"]["parameters"]
    assert result.checkpoint.config is not None
    assert result.checkpoint.config.kind == "inferred"


def test_a_declaration_that_the_tensors_do_not_follow(tmp_path: Path) -> None:
    """A dequantized checkpoint whose configuration still says GPTQ is plain, with a warning."""
    loaded = sparse.load("tinyllama-1.1b-chat")
    loaded["beside"]["config.json"]["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    result = reconciled(loaded, tmp_path / "model")
    assert result.packing is None
    assert "quantization" in {finding.rule for finding in result.findings}


def test_a_declaration_of_another_scheme(tmp_path: Path) -> None:
    """The tensors decide: AWQ's layout under a configuration that says GPTQ."""
    loaded = recipe("awq-gemm")
    loaded["beside"]["config.json"]["quantization_config"]["quant_method"] = "gptq"
    result = reconciled(loaded, tmp_path / "model")
    assert result.packing is not None
    assert result.packing.scheme == "awq-gemm"
    assert "packing-inferred" in {finding.rule for finding in result.findings if finding.severity == "warning"}
    assert result.logical == loaded["expected"]["parameters"]


TURNED = {"bitsandbytes-int8": "weight", "compressed-tensors-fp8": "weight", "eetq": "weight", "awq-gemm": "qweight", "quanto-int8": "weight._data", "torchao-int8": "_weight_qdata"}  # fmt: skip


@every("name", TURNED)
def test_one_transposed_weight_is_an_error(name: str, tmp_path: Path) -> None:
    """Its count is right, and its library refuses it or reads other numbers: told by the other layer's dimensions."""
    made = recipe(name)
    (rows,) = (file["tensors"] for file in made["files"].values())
    at, (dtype, shape, layers) = next(
        (at, row) for at, row in enumerate(rows) if row[2].endswith("mlp.down_proj." + TURNED[name])
    )
    rows[at : at + 1] = [[dtype, [*reversed(shape)] if layer else shape, layers.replace("{0..1}", str(layer))]
                         for layer in (0, 1)]  # fmt: skip
    found = inspector.audit(sparse.make(made, tmp_path / "turned")).checkpoints[0].findings
    (error,) = (each for each in found if each.severity != "info")
    assert (error.rule, error.tensor) == ("transposed", layers.replace("{0..1}", "1"))
    assert error.message == f"{shape[1]}×{shape[0]} here, {shape[0]}×{shape[1]} in other layers"


@every("bits", ["4", -1, 0, 10**30, None, [], {}, True, 2.5])
def test_senseless_claims_are_not_believed(bits: object, tmp_path: Path) -> None:
    """Numbers in a configuration come from strangers: the tensors say 4 bits."""
    loaded = recipe("gptq-4bit")
    loaded["beside"]["config.json"]["quantization_config"].update(bits=bits, group_size=bits)
    result = reconciled(loaded, tmp_path / "model")
    assert result.logical == loaded["expected"]["parameters"]


@every("shape", [[], [0, 0], [7, 3]])
@every("name", NAMES, parts=3)
def test_side_data_of_senseless_shapes(name: str, shape: list[int], tmp_path: Path) -> None:
    """Scales of no size or another rank leave a weight as it is stored; nothing crashes, all bytes add up."""
    loaded = recipe(name)
    for file in loaded["files"].values():
        file["tensors"] = [
            [dtype, own if "norm" in tensor or (len(own) > 1 and tensor.endswith("weight")) else shape, tensor]
            for dtype, own, tensor in file["tensors"]
        ]
    result = reconciled(loaded, tmp_path / "model")
    explained = sum(step.bytes for step in result.steps) + result.unexplained_bytes
    assert result.start + explained == result.on_disk


#: Recipes at full size → parameters, as published or as Transformers counts them before packing.
#: gpt-oss, NF4 and W4A16: what the Hub's own tests assert.
LARGE = {
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "llama-3.1-8b-nf4": 8_030_261_248,
    "llama-3.1-8b-w4a16": 8_030_261_248,
    "llama-3.3-70b-w4a16": 70_553_706_496,
    "llama-3.1-8b-gptq-3bit": 8_030_261_248,
    "qwen3-14b-mlx-4bit": 14_768_307_200,
}


@pytest.mark.parametrize("name", LARGE)
def test_full_size_checkpoints_count_to_the_unit(made: Callable[[str], Path], name: str) -> None:
    """From "nB at k bits" to the size on disk without a gap, and logical parameters as published."""
    result = inspector.reconcile(inspector.open(made(name)))
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == LARGE[name]
    assert result.unexplained_bytes == 0
    assert not result.unexplained
    assert result.nominal is not None
    assert result.start + sum(step.bytes for step in result.steps) == result.on_disk
    assert {"quantization_overhead", "unquantized"} <= {step.cause for step in result.steps}


def test_mlx_weights_take_4_5_bits_with_their_side_data(
    made: Callable[[str], Path], inspect: Callable[..., Any]
) -> None:
    """MLX's 4 bits in groups of 64 with two half-precision numbers a group: 4.5 bits."""
    folder = made("qwen3-14b-mlx-4bit")
    assert "4.5 bits each" in inspect(folder, "--full").out
    packed = inspect(folder, "--json").json["quantization"]["packed"]
    assert (packed["bytes"] + packed["side_bytes"]) * 8 * 2 == packed["parameters"] * 9


@pytest.mark.parametrize("name", ["gptq-4bit", "bitsandbytes-nf4", "mlx-by-module"])
def test_each_output_distinguishes_stored_from_logical(name: str, tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Text, JSON, layers and tables give the same logical parameters, and side data is marked everywhere."""
    loaded = recipe(name)
    folder = sparse.make(loaded, tmp_path / "model")
    document = inspect(folder, "--json", "--tensors", "--layers").json
    side = {each["name"] for each in document["tensors"] if each["group"] == "quantization"}
    logical = loaded["expected"]["parameters"]
    assert document["parameters"]["logical"] == logical
    assert sum(each["parameters"] for each in document["tensors"]) == logical
    assert sum(role["parameters"] for role in document["roles"]) == logical
    assert sum(role["parameters"] for role in document["roles"] if role["group"] == "quantization") == 0
    outside = sum(each["parameters"] for each in document["tensors"] if each["layer"] is None)
    assert sum(layer["parameters"] for layer in document["layers"]) + outside == logical
    assert document["parameters"]["stored_elements"] == sum(prod(each["shape"]) for each in document["tensors"])
    assert document["parameters"]["stored_elements"] == sum(each["elements"] for each in document["dtypes"])
    out = inspect(folder, "--full").out
    assert "as stored, packed words and side data included" in out
    listed = [line for line in inspect("tensors", folder).out.splitlines()[1:] if line]
    assert {line.rsplit(" ", 1)[1] for line in listed if "side data, " in line} == side


def test_mlx_checkpoint_has_the_published_bytes(made: Callable[[str], Path]) -> None:
    """Qwen3-14B at 4 bits: the total_size of its published index."""
    checkpoint = inspector.open(made("qwen3-14b-mlx-4bit"))
    assert sum(header.bytes_in("tensors") for header in checkpoint.files) == 8_307_783_680


def test_order_of_columns_is_not_a_parameter(made: Callable[[str], Path]) -> None:
    """The 6,225,920 entries of g_idx in a W4A16 Llama-3.3-70B are side data."""
    result = inspector.reconcile(inspector.open(made("llama-3.3-70b-w4a16")))
    order = [each for each in result.tensors if each.tensor.name.endswith("weight_g_idx")]
    assert sum(each.tensor.elements for each in order) == 6_225_920
    assert {(each.group, each.parameters) for each in order} == {("quantization", 0)}


@pytest.fixture(scope="module")
def deepseek_v3(made: Callable[[str], Path]) -> Reconciliation:
    """Its 91,991 tensors, read once."""
    return inspector.reconcile(inspector.open(made("deepseek-v3-fp8")), "671B")


def test_deepseek_v3_in_blocks_of_fp8(deepseek_v3: Reconciliation) -> None:
    """As published: elements of each dtype; the main model's parameters, and the layer that predicts further tokens."""
    result = deepseek_v3
    elements = {line.dtype: line.elements for line in result.dtypes}
    assert elements == {"F8_E4M3": 680_571_043_840, "BF16": 3_918_786_560, "F32": 41_555_600}
    assert result.prediction is not None
    assert result.prediction.parameters == 671_026_404_352
    steps = {step.cause: step.bytes for step in result.steps}
    assert steps["quantization_overhead"] == 4 * (41_555_600 - 59 * 256)
    assert steps["duplicate"] == 2 * 2 * 129_280 * 7_168
    assert result.unexplained_bytes == 0
    further = sum(each.parameters for each in result.tensors if each.key.layer == 61)
    assert result.logical == 671_026_404_352 + further
    assert steps["buffer"] == 4 * 59 * 256  # the router's correction biases


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("modelopt-nvfp4", "hf_quant_config.json"),
        ("quanto-int4", "quanto_qmap.json"),
        ("gptq-4bit", "quantize_config.json"),
        ("awq-gemm", "quant_config.json"),
    ],
)
def test_declared_in_a_file_of_its_own(name: str, file: str, tmp_path: Path) -> None:
    """Settings beside config.json count as if they were in it."""
    loaded = recipe(name)
    config = loaded["beside"]["config.json"]
    declared = config.pop("quantization_config", {})
    settings = {key: value for key, value in declared.items() if key != "quant_method"}
    loaded["beside"] = {"config.json": config, file: loaded["beside"].get(file, settings)}
    result = reconciled(loaded, tmp_path / "model")
    assert result.logical == loaded["expected"]["parameters"]
    assert not result.findings


#: Transformers' names → OpenAI's own, for the tensors of gpt-oss.
OPENAI = {
    "model.embed_tokens.weight": "embedding.weight",
    "model.norm.weight": "norm.scale",
    "lm_head.weight": "unembedding.weight",
    "model.layers.": "block.",
    "self_attn.sinks": "attn.sinks",
    "self_attn.o_proj": "attn.out",
    "mlp.router": "mlp.gate",
    "mlp.experts.gate_up_proj_bias": "mlp.mlp1_bias",
    "mlp.experts.down_proj_bias": "mlp.mlp2_bias",
    "mlp.experts.gate_up_proj_": "mlp.mlp1_weight.",
    "mlp.experts.down_proj_": "mlp.mlp2_weight.",
    "input_layernorm.weight": "attn.norm.scale",
    "post_attention_layernorm.weight": "mlp.norm.scale",
}


def in_openais_names(made: dict[str, Any]) -> dict[str, Any]:
    """gpt-oss as published by OpenAI in `original/`: other names, one tensor for queries, keys and values."""
    listed: list[Any] = []
    for dtype, shape, name in made["files"]["model.safetensors"]["tensors"]:
        for theirs, own in OPENAI.items():
            name = name.replace(theirs, own)
        if "self_attn.q_proj" in name:
            listed.append([dtype, [5120, *shape[1:]], name.replace("self_attn.q_proj", "attn.qkv")])
        elif "self_attn" not in name:
            listed.append([dtype, shape, name])
    fields = (
        "num_hidden_layers vocab_size hidden_size intermediate_size head_dim num_attention_heads num_key_value_heads"
    )
    config = made["beside"]["config.json"]
    further = {"num_experts": config["num_local_experts"], "experts_per_token": 4, "swiglu_limit": 7.0}
    made["beside"] = {"config.json": {**{field: config[field] for field in fields.split()}, **further}}
    made["files"] = {"model.safetensors": {"tensors": listed}}
    return made


@pytest.mark.parametrize("name", ["gpt-oss-20b", "gpt-oss-120b"])
@pytest.mark.parametrize("configured", [True, False])
def test_gpt_oss_in_openais_own_names(name: str, configured: bool, tmp_path: Path) -> None:
    """The files of `original/` count the same, and with their configuration join the same prediction."""
    made = in_openais_names(sparse.load(name))
    if not configured:
        made["beside"] = {}
    result = reconciled(made, tmp_path / "original")
    assert result.logical == LARGE[name]
    assert result.packing is not None
    assert result.packing.scheme == "mxfp4"
    assert all(each.key.role for each in result.tensors)
    if configured:
        assert result.prediction is not None
        assert result.prediction.parameters == LARGE[name]
        assert result.unexplained_bytes == 0
        assert not result.unexplained
        assert not [finding for finding in result.findings if finding.severity == "error"]


def test_active_parameters_of_stacked_experts(made: Callable[[str], Path]) -> None:
    """gpt-oss-20b uses 4 of 32 experts a token, all in one tensor: 3.61B and the embedding, as on its card."""
    result = inspector.reconcile(inspector.open(made("gpt-oss-20b")))
    expert = 24 * (2880 * 5760 + 5760 + 2880 * 2880 + 2880)
    assert result.active == 20_914_757_184 - 28 * expert == 3_608_307_264 + 201_088 * 2_880


def test_experts_that_mlx_stacks(tmp_path: Path) -> None:
    """MLX stacks a layer's experts in one packed tensor: it joins the predicted ones, and each is counted."""
    made = sparse.load("mixtral-8x7b")
    made["beside"]["config.json"]["quantization"] = {"bits": 4, "group_size": 64}
    experts = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
    listed: list[Any] = []
    for file in made["files"].values():
        for dtype, shape, name in file["tensors"]:
            module = name.removesuffix(".weight")
            word = experts.get(module.rpartition(".")[2])
            if word and "experts.{0..7}" in name:
                outer: list[int] = [8]
                module = module.partition(".experts.")[0] + f".switch_mlp.{word}"
            elif len(shape) == 2:
                outer = []
            else:
                listed.append([dtype, shape, name])
                continue
            rows, columns = [*outer, *shape[:-1]], shape[-1]
            listed.append(["U32", [*rows, columns // 8], f"{module}.weight"])
            listed += [["BF16", [*rows, columns // 64], f"{module}.{side}"] for side in ("scales", "biases")]
    made["files"] = {"model.safetensors": {"tensors": listed}}
    result = reconciled(made, tmp_path / "model", "8x7B")
    assert result.logical == 46_702_792_704
    assert result.unexplained_bytes == 0
    assert not result.unexplained


ENDS = sorted({end for scheme in all_schemes() for end in (*scheme.weights, *scheme.side, *scheme.loose)})
DTYPES = ["U8", "I8", "I16", "I32", "U32", "F16", "F32", "F8_E4M3", "I64"]
SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, 16, 32, 64, 100, 256, 2**33]), max_size=4)
CLAIMS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 70), st.text(max_size=3), st.lists(st.integers(), max_size=2)
)
FIELDS = ["bits", "w_bit", "group_size", "quant_method", "config_groups", "config_for_layers", "nbits", "a"]


@given(
    pieces=st.dictionaries(st.sampled_from(ENDS), st.tuples(st.sampled_from(DTYPES), SHAPES), min_size=2, max_size=8),
    claims=st.dictionaries(st.sampled_from(FIELDS), CLAIMS, max_size=4),
    method=st.sampled_from(sorted({method for scheme in all_schemes() for method in scheme.methods})),
)
@settings(max_examples=examples(200), deadline=None)
def test_any_shapes_under_any_scheme(pieces: dict[str, tuple[str, list[int]]], claims: dict[str, Any], method: str) -> None:  # fmt: skip
    """Whatever a stranger's shapes and claims, packing is recognised or not, in whole numbers and without a crash."""
    tensors = [
        Tensor("a" + end, dtype, tuple(shape), 0, prod(shape) * sparse.WIDTHS[dtype])
        for end, (dtype, shape) in pieces.items()
    ]
    header = Header("x", "safetensors", 0, tensors, (), {})
    config = Config({"quantization_config": {"quant_method": method, **claims}}, "config.json")
    packing = packing_of(config, (header,), by_pattern([tensor.name for tensor in header.tensors]))
    if packing is not None:
        assert packing.bits > 0
        assert all(size > 0 for shape in packing.shapes.values() for size in shape)
        assert not packing.side.keys() & packing.names.keys()


def test_several_widths_in_one_checkpoint(tmp_path: Path) -> None:
    """ModelOpt's mixed precision: FP8 attention beside NVFP4, stated as 4 bits with a step for the wider ones."""
    made, wide = recipe("modelopt-nvfp4"), recipe("modelopt-fp8")
    listed = [
        entry
        for loaded, attention in ((made, False), (wide, True))
        for entry in loaded["files"]["model.safetensors"]["tensors"]
        if (".self_attn." in entry[2]) is attention
    ]
    made["files"]["model.safetensors"]["tensors"] = listed
    result = reconciled(made, tmp_path / "model")
    assert result.packing is not None
    assert (result.packing.scheme, result.packing.bits) == ("modelopt-nvfp4", 4)
    assert result.logical == made["expected"]["parameters"]
    attention = 2 * (2 * 256 * 256 + 2 * 128 * 256)
    assert {step.cause: step.bytes for step in result.steps}["mixed_dtype"] == attention // 2
    assert result.unexplained_bytes == 0


@pytest.mark.parametrize("field", ["text_config", "llm_config", "thinker_config"])
def test_declared_in_a_nested_configuration(field: str, tmp_path: Path) -> None:
    """Vision-language models declare packing with their text model."""
    made = recipe("gptq-4bit")
    config = made["beside"]["config.json"]
    config[field] = {"quantization_config": config.pop("quantization_config")}
    assert not reconciled(made, tmp_path / "model").findings


def test_modules_left_out_are_reported_as_unquantized(tmp_path: Path) -> None:
    """A layer that the library skipped is plain: counted at its own width, under `unquantized`."""
    made = recipe("gptq-4bit")
    tensors = made["files"]["model.safetensors"]["tensors"]
    kept = [entry for entry in tensors if "mlp.down_proj" not in entry[2]]
    made["files"]["model.safetensors"]["tensors"] = [
        *kept,
        ["F16", [256, 512], "model.layers.{0..1}.mlp.down_proj.weight"],
    ]
    result = reconciled(made, tmp_path / "model")
    assert result.logical == made["expected"]["parameters"]
    (step,) = [step for step in result.steps if step.cause == "unquantized"]
    assert "2 × down_proj in F16" in step.detail
    assert result.unexplained_bytes == 0


def test_deepseek_v3_by_each_convention(deepseek_v3: Reconciliation) -> None:
    """Transformers 5.23 counts 671,026,404,352; its authors 671,026,419,200."""
    result = deepseek_v3
    assert {each.name: each.parameters for each in result.counts} == {
        "with_prediction_heads": 682_636_472_320,
        "with_router_bias": 671_026_419_200,
        "without_embeddings": 671_026_404_352 - 2 * 129280 * 7168,
    }
    assert result.logical == 671_026_404_352
    assert "counted otherwise  682,636,472,320  with layers that predict further tokens" in text.overview(result)
    document = documents.overview(result, tensors=True)
    assert document["parameters"]["prediction_heads"] == 11_610_067_968
    assert sum(each["parameters"] for each in document["tensors"]) == result.logical


@pytest.mark.parametrize(
    "name", ["gptq-4bit", "awq-gemm", "bitsandbytes-nf4", "modelopt-nvfp4", "fp8-blocks", "mlx-4bit"]
)
def test_a_weight_whose_scales_are_in_a_missing_shard_is_read_as_in_other_layers(name: str, tmp_path: Path) -> None:
    """A unit is split between shards. What is left of it is neither unexplained nor missing."""
    given = recipe(name)
    (file,) = given["files"].values()
    entries = [*sparse.expand(file["tensors"])]
    stem = "model.layers.1.mlp.up_proj."
    packed = max((entry for entry in entries if entry[2].startswith(stem)), key=lambda entry: prod(entry[1]))
    file["tensors"] = [list(each) for each in entries if not each[2].startswith(stem) or each == packed]
    result = reconciled(given, tmp_path / name)
    assert (result.logical, result.unexplained) == (given["expected"]["parameters"], ())
    assert "missing" not in {step.cause for step in result.steps}


#: Recipe → the pieces that its library, of the release that the recipe names, stored for every weight, and with which
#: the scheme's arithmetic makes numbers of the codes. Not those of activations, nor settings.
NEEDED = {
    "aqlm": ".codebooks .scales",
    "awq-gemm": ".qzeros .scales",
    "awq-marlin": ".scales",
    "bitnet": ".weight_scale",
    "bitsandbytes-fp4-double": ".weight.absmax .weight.quant_map .weight.quant_state.bitsandbytes__fp4"
    " .weight.nested_absmax .weight.nested_quant_map",
    "bitsandbytes-int8": ".SCB",
    "bitsandbytes-nf4": ".weight.absmax .weight.quant_map .weight.quant_state.bitsandbytes__nf4",
    "compressed-tensors-fp8": ".weight_scale",
    "compressed-tensors-mxfp4": ".weight_scale",
    "compressed-tensors-nvfp4": ".weight_scale .weight_global_scale",
    "compressed-tensors-sparse-24": ".bitmask .shape",
    "compressed-tensors-w4a16": ".weight_scale .weight_shape",
    "compressed-tensors-w4a16_asym": ".weight_scale .weight_shape .weight_zero_point",
    "eetq": ".weight_scales",
    "exl2": ".q_scale .q_scale_max .q_groups .q_invperm",
    "exl3": ".suh .svh",
    "fp-quant": ".scales",
    "fp8-blocks": ".weight_scale_inv",
    "fp8-rows": ".weight_scale",
    "gemma": ".weight_scale",
    "auto-round-2bit": ".scales .qzeros",
    "gptq-4bit": ".scales .qzeros .g_idx",
    "gptq-marlin": ".scales .qzeros",
    "higgs": ".scales .tables .tables2",
    "hqq-4bit": ".scale .zero",
    "metal": ".scales .qbiases",
    "mlx-4bit": ".scales .biases",
    "mlx-mxfp4": ".scales",
    "modelopt-fp8": ".weight_scale",
    "modelopt-nvfp4": ".weight_scale .weight_scale_2",
    "modelopt-w4a8_awq": ".weight_scale .weight_scale_2",
    "qqq": ".s_channel .s_group",
    "quanto-int4": ".weight._scale .weight._shift",
    "quanto-int8": ".weight._scale",
    "quark-mxfp4": ".weight_scale",
    "sinq": ".meta.scale2 .meta.scale.x .meta.scale.m .meta.scale.s .meta.zero.x .meta.zero.m .meta.zero.s",
    "spqr": ".row_offsets .col_vals .in_perm",
    "torchao-int4": "._weight_scale ._weight_zero_point",
    "torchao-int4-tiles": "._weight_scale_and_zero",
    "torchao-nvfp4": "._weight_scale ._weight_per_tensor_scale",
    "vptq": ".centroids.weight .res_centroids.weight .weight_scale .weight_bias .perm",
}


def without(loaded: dict[str, Any], dropped: str) -> dict[str, Any]:
    """The recipe without one tensor."""
    for file in loaded["files"].values():
        file["tensors"] = [list(each) for each in sparse.expand(file["tensors"]) if each[2] != dropped]
    return loaded


def unpackable(folder: Path) -> list[tuple[str | None, str]]:
    """What the audit says about packed weights whose side data is missing: (tensor, message)."""
    (result,) = inspector.audit([folder]).checkpoints
    return [(each.tensor, each.message) for each in result.findings if each.rule == "side-data-missing"]


@every("name", NAMES, parts=2)
def test_sound_packed_weights_lack_nothing(name: str, packed: Packed) -> None:
    """What libraries wrote has all that they read, experts whose scales Transformers left stacked included."""
    result = packed(name)
    assert result.packing is not None
    assert result.packing.lacking == {}


@every(("name", "end"), [(name, end) for name, ends in NEEDED.items() for end in ends.split()], parts=2)
def test_a_weight_that_lacks_a_piece_of_its_side_data(name: str, end: str, tmp_path: Path) -> None:
    """One weight loses one piece: that weight and that piece are reported, once."""
    loaded = recipe(name)
    stored = [each[2] for file in loaded["files"].values() for each in sparse.expand(file["tensors"])]
    inside = [each for each in stored if each.endswith(end) and "layers.1." in each]
    dropped = next(each for each in inside if "down_proj" in each)
    ((tensor, message),) = unpackable(sparse.make(without(loaded, dropped), tmp_path / "model"))
    assert str(tensor).startswith(dropped.removesuffix(end))
    assert message == f"1 packed weight without {end.lstrip('._').removeprefix('weight.')}: {tensor}"


def test_experts_without_their_scales(tmp_path: Path) -> None:
    """MXFP4 as in gpt-oss: the blocks of one layer's experts cannot be unpacked."""
    dropped = "model.layers.3.mlp.experts.down_proj_scales"
    ((tensor, message),) = unpackable(sparse.make(without(sparse.load("gpt-oss-20b"), dropped), tmp_path / "model"))
    assert tensor == "model.layers.3.mlp.experts.down_proj_blocks"
    assert message == f"1 packed weight without scales: {tensor}"


#: Weights of a layer → the stored name of the one that lacks the last piece in layer 1.
UNITS = {
    "F8_E4M3 256×256 fc.weight | F32 2×2 fc.weight_scale_inv | F8_E4M3 4×256×256 experts.gate_up_proj | F32 4×2×2 experts.gate_up_proj_scale_inv": "experts.gate_up_proj",
    "U8 4×256×128 experts.down_proj | F8_E4M3 4×256×16 experts.down_proj_weight_scale"
    " | F32 4 experts.down_proj_weight_scale_2": "experts.down_proj",
    "I8 256×128 fc.qweight | F16 4×256 fc.wscales": "fc.qweight",
    "I16 256×32 fc.Qidxs | F16 256 fc.SU | F32 1 fc.Wscale | F16 256 fc.SV": "fc.Qidxs",
}


@pytest.mark.parametrize("unit", UNITS)
def test_weights_of_other_names_that_lack_a_piece(unit: str) -> None:
    """Experts in one tensor without a last word, and schemes without a recipe."""
    parts = [each.split() for each in unit.split(" | ")]
    listed = [f"{dtype} {shape} layers.{at}.{name}" for at in (0, 1, 2) for dtype, shape, name in parts]
    stored = tensors(*(each for each in listed if not each.endswith(f"layers.1.{parts[-1][2]}")))
    packing = packing_by_names(stored, by_pattern([each.name for each in stored]), {})
    assert packing is not None
    (lacking,) = packing.lacking.items()
    weight = f"layers.1.{UNITS[unit]}"
    stem = next(weight.removesuffix(end) for end in (".qweight", ".Qidxs", "") if weight.endswith(end))
    assert lacking == (weight, (f"layers.1.{parts[-1][2]}".removeprefix(stem),))


@pytest.mark.parametrize(
    ("unit", "shape", "scheme"),
    [
        ("U8 8×128×32 _packed | F8_E4M3 8×128×4 _scale | F32 8×1 _global_scale", (8, 128, 64), "nvfp4-pack-quantized"),
        ("U8 8×128×32 _packed | U8 8×128×2 _scale", (8, 128, 64), "mxfp4-pack-quantized"),
        ("I32 8×128×8 _packed | BF16 8×128×2 _scale | I64 3 _shape", (8, 128, 64), "pack-quantized"),
        ("F8_E4M3 8×128×64 - | F32 8×128×1 _scale", (8, 128, 64), "float-quantized"),
    ],
)
def test_experts_in_one_tensor(unit: str, shape: tuple[int, ...], scheme: str) -> None:
    """The pieces of experts that are one packed tensor follow its name, which has no last word `weight`.

    Two codes of four bits are in a byte, eight in a word: 32 bytes or 8 words are 64 columns.
    """
    name = "layers.{}.mlp.experts.gate_up_proj"
    parts = [each.split() for each in unit.split(" | ")]
    stored = tensors(
        *(f"{dtype} {size} {name.format(at)}{end.removeprefix('-')}" for at in (0, 1) for dtype, size, end in parts)
    )
    values = {
        "quant_method": "compressed-tensors",
        "config_groups": {"g": {"weights": {"num_bits": 4, "group_size": 32}}},
    }
    packing = packing_by_names(stored, by_pattern([each.name for each in stored]), values)
    assert packing is not None
    assert packing.scheme == f"compressed-tensors-{scheme}"
    assert set(packing.shapes.values()) == {shape}
    assert set(packing.names.values()) == {name.format(0), name.format(1)}
    assert len(packing.side) == len(stored) - 2
    assert not packing.lacking


@every("name", NAMES)
def test_bytes_from_the_declaration_alone(name: str, packed: Packed) -> None:
    """What the libraries saved is what their configuration says, to the byte, where the declaration is understood."""
    config = Config(recipe(name)["beside"].get("config.json", {}), "config.json")
    declared = declaration_of(config.declared_packing)
    result = packed(name)
    assert (declared is not None) == (name in DECLARED)
    if declared is None or result.prediction is None:
        return
    weights = [(row, each) for row in result.prediction.expected for each in row.names()]
    sizes = [declared.bytes_of(row, each) or row.elements * 2 for row, each in weights]
    assert sum(sizes) == sum(each.tensor.nbytes for each in result.tensors)


#: Recipes whose configuration alone says what every weight takes.
DECLARED = {
    *(f"compressed-tensors-{kind}" for kind in ("fp8", "mxfp4", "nvfp4", "w4a16_asym", "w8a8")),
    *(f"compressed-tensors-w{bits}a16" for bits in (2, 3, 4, 5, 7, 8)),
    *(f"gptq-{bits}bit" for bits in (2, 3, 4, 8)),
    *("auto-round-2bit", "auto-round-awq", "awq-gemm", "modelopt-fp8", "modelopt-nvfp4"),
    *("mlx-4bit", "mlx-8bit", "mlx-mxfp4", "mlx-nvfp4"),
    *("bitsandbytes-int8", "bitsandbytes-nf4"),
}


def test_experts_packed_as_declared() -> None:
    """gpt-oss-120b: 65.25 GB are published, of which the experts are MXFP4 and all else BF16.

    36 layers of 128 experts with 3 × 2880 × 2880 weights, of 4.25 bits; the other 2,167,371,840 parameters have two bytes.
    """
    config = {"model_type": "gpt_oss", "num_hidden_layers": 36, "num_local_experts": 128, "vocab_size": 201_088}
    plain = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": plain}
    experts = 36 * 128 * 3 * 2880 * 2880
    result = inspector.memory(config)
    assert result.weights.nbytes == experts * 17 // 32 + (116_829_156_672 - experts) * 2 == 65_248_815_744
    assert result.weights.dtype == "mxfp4"


def test_a_published_total_from_the_configuration_alone() -> None:
    """Molmo-7B-D in NF4: `total_size` in the index that its makers published."""
    name = "reubzdubz+Molmo7B_D_NF4Quant"
    config = REAL / "config" / f"{name}__config.json"
    index = json.loads((REAL / "index" / f"{name}__model.safetensors.index.json").read_text())
    assert inspector.memory(config).weights.nbytes == index["metadata"]["total_size"] == 6_661_964_712
    assert declared_bytes(inspector.predict(config)) == ("bitsandbytes-nf4", 6_661_964_712)


def test_pieces_that_an_index_lists() -> None:
    """NVFP4 of 64 outputs and 128 inputs: 64 bytes and 8 scales for each output; the inputs' scale is not listed."""
    weights = {"num_bits": 4, "group_size": 16, "type": "float", "strategy": "tensor_group"}
    values: dict[str, Any] = {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}
    values["config_groups"] = {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": {}}}
    names = ["a.bias", "a.weight_global_scale", "a.weight_packed", "a.weight_scale"]
    (found,) = pieces_of(names, values, "bfloat16").items()
    assert found[0] == "a.weight"
    assert found[1]((64, 128)) == {
        "a.weight_packed": ("U8", (64, 64)),
        "a.weight_scale": ("F8_E4M3", (64, 8)),
        "a.weight_global_scale": ("F32", (1,)),
    }


def test_a_missing_shard_is_the_cause_of_missing_side_data(tmp_path: Path) -> None:
    """Side data in a shard that is not there: the shard is reported, not each weight that it served."""
    loaded = recipe("gptq-4bit")
    entries = [list(each) for each in sparse.expand(loaded["files"]["model.safetensors"]["tensors"])]
    scales = [each for each in entries if str(each[2]).endswith(".1.mlp.up_proj.scales")]
    rest = [each for each in entries if each not in scales]
    loaded["files"] = {
        f"model-0000{at}-of-00002.safetensors": {"tensors": each} for at, each in enumerate((rest, scales), 1)
    }
    folder = sparse.make(loaded, tmp_path / "model")
    assert not unpackable(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    (result,) = inspector.audit([folder]).checkpoints
    assert {each.rule for each in result.findings if each.severity == "error"} == {"missing-shard"}


def test_a_unit_that_the_end_of_a_shard_parts_is_read_like_the_others(tmp_path: Path) -> None:
    """Whichever of a weight's pieces comes first, and in whichever of two files."""
    loaded = recipe("gptq-4bit")
    entries = [list(each) for each in sparse.expand(loaded["files"]["model.safetensors"]["tensors"])]
    whole = reconciled(loaded, tmp_path / "whole")
    parted = [each for each in entries if ".1.mlp.up_proj." in str(each[2])]
    halves = [*parted[2:], *(each for each in entries if each not in parted)], parted[:2]
    loaded["files"] = {f"model-0000{at}-of-00002.safetensors": {"tensors": each} for at, each in enumerate(halves, 1)}
    result = reconciled(loaded, tmp_path / "parted")
    assert len(parted) > 2
    assert whole.packing is not None
    assert result.packing is not None
    weight = "model.layers.1.mlp.up_proj.weight"
    serves = {**result.packing.names, **result.packing.side}
    assert {serves[str(each[2])] for each in parted} == {weight}
    assert result.packing.names == whole.packing.names
    assert result.packing.shapes == whole.packing.shapes
    assert result.packing.side == whole.packing.side


@pytest.mark.parametrize(("declared", "most"), [(True, 1), (False, 3)])
def test_schemes_that_cannot_account_for_more_are_not_tried(
    declared: bool, most: int, packed: Packed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight schemes have a suffix of NVFP4's names; its own is the first that is tried, or one of the first."""
    tried: list[str] = []

    def counted(scheme: Scheme, *rest: Any) -> Unpacked:
        tried.append(scheme.name)
        return unpack(scheme, *rest)

    unpack = unpacking.unpack
    result = packed("modelopt-nvfp4")
    assert result.checkpoint.config is not None
    monkeypatch.setattr(packing, "unpack", counted)
    stored = result.checkpoint.tensors
    values = result.checkpoint.config.declared_packing if declared else {}
    again = packing_by_names(stored, by_pattern([each.name for each in stored]), values)
    assert again is not None
    assert again.scheme.startswith("modelopt")
    assert 1 <= len(tried) <= most
