"""GGUF checkpoints from end to end: configuration, keys, prediction, bridge, claims."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import pytest
import real
import sparse
from every import every
from fuzzing import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sparse_gguf import TENSOR_TYPES, write_gguf

import inspector
from inspector import units
from inspector.architectures import listed_gguf
from inspector.architectures.data import gguf_keys
from inspector.formats.ggml import FILE_TYPES, TYPES
from inspector.model import Header, Reconciliation, Tensor
from inspector.opening.named import Models, Named
from inspector.quantization import ggml
from inspector.report import documents, models, text

LISTINGS = real.files("gguf_listing/*.json")
MAPS = real.files("gguf_tensormap/*/*.map")


def reconciled(tmp_path: Path, recipe: str) -> Reconciliation:
    return inspector.reconcile(inspector.open(sparse.make(sparse.load(recipe), tmp_path / recipe)))


def steps(result: Reconciliation) -> dict[str, int]:
    """The steps of the bridge, after checking their sum."""
    booked = {step.cause: step.bytes for step in result.steps}
    assert result.start + sum(booked.values()) + result.unexplained_bytes == result.on_disk
    return booked


def test_mistral_q4_k_m_to_the_byte(tmp_path: Path) -> None:
    """The published file: its size, where its data begins, its parameters, and every byte of the bridge."""
    result = reconciled(tmp_path, "mistral-7b-instruct-v0.2-q4_k_m")
    (header,) = result.checkpoint.files
    assert (header.size, min(t.offset for t in header.tensors), len(header.tensors)) == (4_368_439_584, 735_520, 291)
    last = max(header.tensors, key=lambda tensor: tensor.offset)
    assert (last.name, last.dtype, last.shape, last.offset) == ("output.weight", "Q6_K", (32000, 4096), 4_260_919_584)
    assert result.logical == 7_241_732_096 == result.stored_elements
    assert result.prediction and result.prediction.parameters == 7_241_732_096
    assert result.packing and (result.packing.scheme, result.packing.bits) == ("Q4_K_M", 4)
    in_q4, in_q6, in_f32 = 6_103_760_896, 1_137_704_960, 266_240
    assert steps(result) == {
        "label_rounding": 241_732_096 // 2,
        "quantization_overhead": in_q4 // 256 * 16 + in_q6 // 256 * 18,
        "mixed_dtype": in_q6 * 2 // 8 + in_f32 * 28 // 8,
        "header": 24,
        "metadata": 555,
        "tokenizer": 717_625,
        "tensor_table": 17_286,
        "alignment": 30,
    }
    assert (result.unexplained_bytes, result.unexplained) == (0, ())
    assert result.bits_per_weight(result.on_disk) == pytest.approx(4.826, abs=0.0005)


def test_the_bridge_says_which_roles_have_other_types(tmp_path: Path) -> None:
    result = reconciled(tmp_path, "mistral-7b-instruct-v0.2-q4_k_m")
    detail = {step.cause: step.detail for step in result.steps}
    assert detail["quantization_overhead"] == "193 × Q4_K at 4.5 bits for 4, 33 × Q6_K at 6.56 bits for 6"
    for what in ("16 × v_proj in Q6_K", "16 × down_proj in Q6_K", "1 × lm_head in Q6_K", "1 × norm in F32"):
        assert what in detail["mixed_dtype"]
    by_role = {role.role: role.bits_per_weight for role in result.roles}
    assert by_role["q_proj"] == 4.5 and by_role["norm"] == 32
    assert by_role["v_proj"] == (4.5 + 6.5625) / 2


def test_the_overview_shows_bits_a_weight(tmp_path: Path) -> None:
    """Overall, by role, and for each step; the steps' bits add up."""
    result = reconciled(tmp_path, "mistral-7b-instruct-v0.2-q4_k_m")
    shown = text.overview(result)
    assert "4.83  stored as Q4_K_M" in shown and "unexplained: 0" in shown
    overhead = next(line for line in shown.splitlines() if "quantization_overhead" in line)
    assert overhead.split()[:2] == ["+461,479,936", "+0.510"]


def test_llama_3_2_has_32_rope_freqs_and_no_head(tmp_path: Path) -> None:
    """1,235,814,432 stored elements are 1,235,814,400 parameters and 32 constants; the head is tied, and listed."""
    result = reconciled(tmp_path, "llama-3.2-1b-q8_0")
    assert (result.stored_elements, result.logical) == (1_235_814_432, 1_235_814_400)
    booked = steps(result)
    assert result.prediction and result.prediction.parameters == 1_235_814_400
    assert booked["buffer"] == 32 * 4 and booked["tied_embeddings"] == 0
    assert booked["label_rounding"] == 1_235_814_400 - 1_000_000_000  # at 8 bits
    assert result.unexplained_bytes == 0 and not result.unexplained
    assert not result.findings
    assert "32 stored elements are not parameters" in text.overview(result)
    claims = {claim.name: (claim.claimed, claim.counted) for claim in result.claims}
    assert claims["general.parameter_count"] == ("1235814432", 1_235_814_400)
    assert claims["general.file_type"] == ("Q8_0", "Q8_0")


def test_gguf_and_safetensors_of_one_model_count_alike(tmp_path: Path) -> None:
    """Llama-3.1-8B in both formats has the same logical count, and the same roles with the same parameters."""
    packed, plain = (reconciled(tmp_path, recipe) for recipe in ("llama-3.1-8b-q4_k_m", "llama-3.1-8b"))
    assert packed.logical == plain.logical == 8_030_261_248

    def roles(result: Reconciliation) -> list[tuple[Any, ...]]:
        return [
            (r.role, r.group, r.tower, r.tensors, r.parameters, r.formula) for r in result.roles if r.group != "buffer"
        ]

    assert roles(packed) == roles(plain)
    assert [role.role for role in packed.roles if role.group == "buffer"] == ["rope_freqs"]
    assert packed.unexplained_bytes == plain.unexplained_bytes == 0


def test_stacked_experts_join_the_same_prediction(tmp_path: Path) -> None:
    """Mixtral, which GGUF calls a llama: the count, the active parameters, "8x7B", and 0 unexplained bytes."""
    result = reconciled(tmp_path, "mixtral-8x7b-q4_0")
    assert result.checkpoint.config and result.checkpoint.config.model_type == "mixtral"
    assert (result.logical, result.active) == (46_702_792_704, 12_879_925_248)
    booked = steps(result)
    # The experts share 1,605,636,096 parameters (Transformers' own count less its experts'), of 4 bits.
    assert booked["label_experts"] == -7 * 1_605_636_096 // 2 == -5_619_726_336
    assert booked["label_rounding"] == (8 * 1_605_636_096 + 45_097_156_608 - 56 * 10**9) // 2
    assert result.unexplained_bytes == 0 and not result.unexplained


def test_a_size_label_of_the_converter_counts_the_shared_parts_too(tmp_path: Path) -> None:
    """`general.size_label` is "8x7.2B" where the name has no size: the shared part is the same."""
    recipe = sparse.load("mixtral-8x7b-q4_0")
    (file,) = recipe["files"].values()
    file["key_values"] = [pair for pair in file["key_values"] if pair[0] != "general.name"]
    file["key_values"].append(["general.size_label", "string", "8x7.2B"])
    recipe["files"] = {"model.gguf": file}
    result = inspector.reconcile(inspector.open(sparse.make(recipe, tmp_path / "mixture")))
    assert result.nominal and result.nominal.label == "8x7.2B"
    assert steps(result)["label_experts"] == -5_619_726_336


def test_a_stored_head_is_a_head_of_its_own(tmp_path: Path) -> None:
    """Granite's configuration ties by default; a GGUF that stores `output.weight` is not tied, and counts it."""
    size, words = 64, 128
    key_values = [
        ("general.architecture", "string", "granite"),
        ("granite.block_count", "uint32", 1),
        ("granite.embedding_length", "uint32", size),
        ("granite.feed_forward_length", "uint32", 96),
        ("granite.attention.head_count", "uint32", 4),
        ("granite.attention.head_count_kv", "uint32", 4),
        ("tokenizer.ggml.tokens", "array[string]", {"items": words, "text": words}),
    ]
    block = [[size], *[[size, size]] * 4, [size], [96, size], [96, size], [size, 96]]
    names = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
    tensors = [("F32", shape, f"blk.0.{name}.weight") for name, shape in zip(names, block, strict=True)]
    tensors += [("F32", [words, size], "token_embd.weight"), ("F32", [size], "output_norm.weight")]
    without = 4 * size * size + 3 * 96 * size + 3 * size + words * size
    for head, count in (([], without), ([("F32", [words, size], "output.weight")], without + words * size)):
        write_gguf(tmp_path / "model.gguf", key_values, tensors + head)
        result = inspector.reconcile(inspector.open(tmp_path / "model.gguf"))
        assert result.prediction and result.prediction.parameters == result.logical == count
        assert not result.findings


def test_missing_parts_leave_the_head_open(tmp_path: Path) -> None:
    """A head may be in a missing part of a split: the architecture's default holds."""
    recipe = sparse.load("llama-3.2-1b-q8_0")
    (file,) = recipe["files"].values()
    file["key_values"] += [
        ["split.no", "uint16", 0],
        ["split.count", "uint16", 2],
        ["split.tensors.count", "int32", 200],
    ]
    recipe["files"] = {"model.gguf": file}
    result = inspector.reconcile(inspector.open(sparse.make(recipe, tmp_path / "split") / "model.gguf"))
    assert result.prediction and result.prediction.parameters == 1_235_814_400 + 128256 * 2048


def test_the_present_part_of_a_split_predicts_its_biases_and_head(tmp_path: Path) -> None:
    """Of two layers' biases of 64 in F32 only the first part is there: they are predicted, and the model has a head."""
    keys = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "vocab_size": 10}
    keys |= {"attention.head_count": 2, "context_length": 8}
    pairs: list[tuple[str, str, Any]] = [("general.architecture", "string", "granite"), ("split.count", "uint16", 2)]
    pairs += [(f"granite.{key}", "uint32", number) for key, number in keys.items()]
    stored = [("F32", [64], f"blk.{layer}.attn_q.bias") for layer in (0, 1)]
    write_gguf(tmp_path / "x-00001-of-00002.gguf", pairs, [*stored, ("F32", [10, 64], "output.weight")])
    result = inspector.reconcile(inspector.open(tmp_path))
    found = {role.role: role.predicted_parameters for role in result.roles}
    assert (result.unexplained, found["lm_head"]) == ((), 640)
    assert {step.cause for step in result.steps}.isdisjoint({"optional", "tied_embeddings"})


def test_the_json_keeps_its_promises(tmp_path: Path) -> None:
    result = reconciled(tmp_path, "mistral-7b-instruct-v0.2-q4_k_m")
    document = json.loads(json.dumps(documents.overview(result, tensors=True), allow_nan=False))
    assert document["format"] == "gguf" and document["architecture"]["config"] == "gguf"
    assert document["quantization"] == {"scheme": "Q4_K_M", "bits": 4, "group_size": 256, "bits_per_weight": "4.83"}
    assert {role["role"]: role["bits_per_weight"] for role in document["roles"]}["v_proj"] == "5.53"
    (file,) = document["files"]
    assert file["header"] + file["tensors"] + file["padding"] + file["unused"] == file["size"]
    assert sum(tensor["parameters"] for tensor in document["tensors"]) == document["parameters"]["logical"]


# --- published models -----------------------------------------------------------------------------


def rebuilt(path: Path, folder: Path) -> dict[str, Any]:
    """A sparse file of a listing's key-values and tensors; unlisted values are derived from the embedding."""
    listing: dict[str, Any] = json.loads(path.read_text())
    rows = next(t["shape"][-1] for t in listing["tensors"] if t["name"] == "token_embd.weight")
    pairs: list[tuple[str, str, Any]] = []
    for key, value in listing["model_info"].items():
        if key == "tokenizer.ggml.tokens":
            pairs.append((key, "array[string]", {"items": rows, "text": rows}))
        elif value is not None:
            kinds = {bool: "bool", str: "string", float: "float64", int: "uint64"}
            pairs.append((key, kinds[type(value)], value))
    write_gguf(folder / "model.gguf", pairs, [(t["type"], t["shape"][::-1], t["name"]) for t in listing["tensors"]])
    return listing


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
def test_published_models_are_counted_and_described(path: Path, tmp_path: Path) -> None:
    """Elements as published, the scheme as named by its publisher though inferred from types, every tensor keyed."""
    listing = rebuilt(path, tmp_path)
    result = inspector.reconcile(inspector.open(tmp_path))
    steps(result)
    assert result.stored_elements == listing["model_info"]["general.parameter_count"]
    assert result.packing and result.packing.scheme == listing["details"]["quantization_level"]
    assert FILE_TYPES[listing["model_info"]["general.file_type"]] == result.packing.scheme
    assert all(role.role != "other" for role in result.roles)
    if result.prediction:
        assert (result.unexplained_bytes, result.unexplained) == (0, ())
        assert {f.rule for f in result.findings} <= {"head-not-stored"}


@pytest.mark.parametrize("path", MAPS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_tensor_maps_have_our_byte_counts(path: Path) -> None:
    """Elements and bytes of each tensor of two published models, in each of their quantizations."""
    by_name = {kind.name.lower(): kind for kind in TYPES.values()}
    lines = [line.split(":")[2:] for line in path.read_text().splitlines() if line]
    for _, shape, dtype, elements, nbytes in lines:
        dims = [int(dim) for dim in shape.removeprefix("shape=").strip("()").split(",") if dim]
        kind = by_name[dtype.removeprefix("dtype=")]
        assert prod(dims) == int(elements.removeprefix("elements="))
        assert prod(dims) // kind.block * kind.nbytes == int(nbytes.removeprefix("bytes="))
    assert lines


#: `general.file_type`, the types of the layers' weights, most elements first → the scheme, and its bits.
SCHEMES = {
    "IQ3_M": (27, ["IQ3_S", "IQ3_S", "Q4_K"], "IQ3_M", 3),
    "IQ3_XS, mostly of a smaller type": (22, ["IQ3_XXS", "IQ3_XXS", "IQ3_S"], "IQ3_XS", 3),
    "IQ2_M": (29, ["IQ2_S", "IQ2_S", "IQ3_S"], "IQ2_M", 2),
    "experts in MXFP4": (38, ["MXFP4", "Q8_0"], "MXFP4_MOE", 4),
    "experts in MXFP4, and more of the rest": (38, ["Q8_0", "Q8_0", "MXFP4"], "MXFP4_MOE", 4),
    "Q2_0": (41, ["Q2_0", "Q6_K"], "Q2_0", 2),
    "declared IQ3_M, of another type": (27, ["Q4_0", "Q4_0", "IQ3_S"], "mixed, mostly Q4_0", 4),
    "declared MXFP4_MOE, and none there": (38, ["Q8_0", "Q8_0"], "Q8_0", 8),
    "declared Q8_0, of another type": (7, ["Q4_0", "Q4_0", "Q8_0"], "mixed, mostly Q4_0", 4),
    "nothing declared": (None, ["IQ3_S", "IQ3_S", "Q4_K"], "IQ3_S", 3),
}


@every("case", SCHEMES)
def test_mixtures_of_the_same_types_are_distinguished_by_the_file_type(case: str) -> None:
    """The file type names the mixture if it agrees with the counted types."""
    reported, dtypes, scheme, bits = SCHEMES[case]
    names = ["ffn_up" if dtype == dtypes[0] else "ffn_down" for dtype in dtypes]
    tensors = [Tensor(f"blk.{n}.{names[n]}.weight", dtype, (256, 256), 0, 0) for n, dtype in enumerate(dtypes)]
    header = Header(
        "m.gguf", "gguf", 0, tensors, (), {"general.file_type": reported} if reported is not None else {}, ()
    )
    packing = ggml.packing_of([header])
    assert packing and (packing.scheme, packing.bits) == (scheme, bits)


#: What llama.cpp's `llama_model_quantize` (release 0.5.0) wrote for models of 16 layers, width 320, and of 8 layers,
#: width 256, 8 experts; and for the third the published gemma-3-270m-q4_k_m.gguf, width 640: `general.file_type`,
#: width of `ffn_down`, width of the others, experts, types of attn_v, of ffn_down, of the others → the scheme.
WRITTEN = {
    "Gemma 3 270M": (15, 2048, 640, 0, "Q5_0 Q8_0", "Q4_K Q6_K", "Q5_0", "Q4_K_M", 4),
    "Q4_K_M": (15, 512, 320, 0, "Q5_0 Q8_0", "Q4_K Q6_K", "Q5_0", "Q4_K_M", 4),
    "Q4_K_M --pure": (15, 512, 320, 0, "Q5_0", "Q4_K", "Q5_0", "mixed, mostly Q5_0", 5),
    "Q3_K_S": (11, 512, 320, 0, "Q4_0", "Q3_K", "Q4_0", "Q3_K_S", 3),
    "IQ4_XS": (30, 512, 320, 0, "IQ4_NL", "IQ4_XS Q5_K", "IQ4_NL", "IQ4_XS", 4),
    "Q4_K_M of experts": (15, 256, 256, 8, "Q8_0", "Q4_K Q6_K", "Q4_K", "Q4_K_M", 4),
    "Q4_K_M of experts --pure": (15, 256, 256, 8, "Q4_K", "Q4_K", "Q4_K", "Q4_K", 4),
    "Q8_0 where no experts are": (15, 256, 256, 0, "Q8_0", "Q4_K Q6_K", "Q4_K", "mixed, mostly Q4_K", 4),
}


@every("case", WRITTEN)
def test_a_mixture_is_called_what_made_it(case: str) -> None:
    """Types that the width forbids are replaced, and the embedding, most of the file, says nothing."""
    stated, inner, width, experts, values, down, others, scheme, bits = WRITTEN[case]
    columns = ((values, "attn_v", width), (down, "ffn_down", inner), (others, "ffn_up", width))
    shapes = [(f"blk.{n}.{name}.weight", dtype, (640, size))
              for dtypes, name, size in columns for n, dtype in enumerate(dtypes.split() * 4)]  # fmt: skip
    tensors = [Tensor(*each, 0, 0) for each in (("token_embd.weight", "Q8_0", (262144, width)), *shapes)]
    pairs = {"general.architecture": "llama", "general.file_type": stated, "llama.expert_count": experts}
    packing = ggml.packing_of([Header("m.gguf", "gguf", 0, tensors, (), pairs, ())])
    assert packing and (packing.scheme, packing.bits) == (scheme, bits)


# --- configurations -------------------------------------------------------------------------------


def opened(tmp_path: Path, pairs: list[tuple[str, str, Any]], names: tuple[str, ...] = ()) -> inspector.Checkpoint:
    write_gguf(tmp_path / "model.gguf", pairs, [("F32", [32], name) for name in names])
    return inspector.open(tmp_path / "model.gguf")


def test_numbers_a_layer_are_one_number_where_all_agree(tmp_path: Path) -> None:
    pairs = [
        ("general.architecture", "string", "llama"),
        ("llama.attention.head_count_kv", "array[uint32]", [8, 8, 8]),
        ("llama.attention.head_count", "array[uint32]", [16, 32, 32]),
    ]
    config = opened(tmp_path, pairs).config
    assert config and config.values["num_key_value_heads"] == 8
    assert config.values["num_attention_heads"] == [16, 32, 32]


def test_blocks_that_predict_further_tokens_are_not_layers(tmp_path: Path) -> None:
    """GLM-4.5 and DeepSeek-V3 count them in block_count; Transformers does not."""
    pairs = [
        ("general.architecture", "string", "glm4moe"),
        ("glm4moe.block_count", "uint32", 47),
        ("glm4moe.nextn_predict_layers", "uint32", 1),
    ]
    config = opened(tmp_path, pairs).config
    assert config and (config.model_type, config.values["num_hidden_layers"]) == ("glm4_moe", 46)


def test_key_values_of_the_wrong_types_predict_nothing(tmp_path: Path) -> None:
    """A text in place of a number is reported in one line, and the rest of the overview is shown."""
    pairs = [("general.architecture", "string", "llama"), ("llama.block_count", "string", "many")]
    result = inspector.reconcile(opened(tmp_path, pairs, ("token_embd.weight",)))
    assert result.prediction is None and [f.rule for f in result.findings] == ["no-prediction"]
    assert "\n" not in result.findings[0].message


def test_predict_takes_a_gguf(tmp_path: Path) -> None:
    """The prediction alone, from the key-values of a file or of the folder that has it."""
    folder = sparse.make(sparse.load("mistral-7b-instruct-v0.2-q4_k_m"), tmp_path / "m")
    for target in (folder, next(folder.iterdir())):
        assert inspector.predict(target).parameters == 7_241_732_096
    with pytest.raises(inspector.ConfigError, match=r"no general\.architecture"):
        opened(tmp_path, [("x", "bool", True)])
        inspector.predict(tmp_path / "model.gguf")


def test_the_label_is_read_from_the_key_values_too(tmp_path: Path) -> None:
    """A file whose name says nothing still has its name and size label inside."""
    pairs = [("general.architecture", "string", "llama"), ("general.size_label", "string", "8x7B")]
    result = inspector.reconcile(opened(tmp_path, pairs))
    assert result.nominal and (result.nominal.label, result.nominal.parameters) == ("8x7B", 56 * 10**9)


def test_tensors_without_key_values_are_inferred(tmp_path: Path) -> None:
    """A GGUF without an architecture is inferred from its tensors, as a bare safetensors file is."""
    recipe = sparse.load("mistral-7b-instruct-v0.2-q4_k_m")
    (file,) = recipe["files"].values()
    file["key_values"] = []
    result = inspector.reconcile(inspector.open(sparse.make(recipe, tmp_path / "m")))
    assert result.checkpoint.config and result.checkpoint.config.kind == "inferred"
    assert result.prediction and result.prediction.parameters == result.logical == 7_241_732_096


def test_a_vocabulary_alone_has_bytes_and_no_parameters(tmp_path: Path) -> None:
    pairs = [
        ("general.architecture", "string", "llama"),
        ("tokenizer.ggml.tokens", "array[string]", {"items": 9, "text": 30}),
    ]
    result = inspector.reconcile(opened(tmp_path, pairs))
    assert result.logical == 0 and steps(result)["tokenizer"] == 8 + 21 + 4 + 4 + 8 + 9 * 8 + 30
    assert text.overview(result)


def layers(*entries: tuple[str, list[int], str]) -> list[tuple[str, list[int], str]]:
    """Two layers of the entries whose names begin with a dot, and the others once."""
    made = []
    for dtype, shape, name in entries:
        names = [f"blk.{number}{name}" for number in range(2)] if name.startswith(".") else [name]
        made += [(dtype, shape, each) for each in names]
    return made


def with_bias(dtype: str, shape: list[int], name: str) -> list[tuple[str, list[int], str]]:
    return [(dtype, shape, f"{name}.weight"), ("F32", shape[:1], f"{name}.bias")]


DECODER = (
    ("F16", [99, 64], "token_embd.weight"),
    ("F16", [64, 64], ".attn_output.weight"),
    ("F16", [96, 64], ".ffn_gate.weight"),
    ("F16", [96, 64], ".ffn_up.weight"),
    ("F16", [64, 96], ".ffn_down.weight"),
    ("F32", [64], ".attn_norm.weight"),
    ("F32", [64], ".ffn_norm.weight"),
    ("F32", [64], "output_norm.weight"),
)
PLAIN = (("F16", [64, 64], ".attn_q.weight"), ("F16", [32, 64], ".attn_k.weight"), ("F16", [32, 64], ".attn_v.weight"))
HEAD = ("F16", [99, 64], "output.weight")

#: Architecture → its tensors, as llama.cpp's converter names them.
FAMILIES: dict[str, list[tuple[str, list[int], str]]] = {
    "llama": [*DECODER, *PLAIN, HEAD],
    "qwen2": [
        *DECODER,
        *with_bias("F16", [64, 64], ".attn_q"),
        *with_bias("F16", [32, 64], ".attn_k"),
        *with_bias("F16", [32, 64], ".attn_v"),
        HEAD,
    ],
    "qwen3": [*DECODER, *PLAIN, ("F32", [16], ".attn_q_norm.weight"), ("F32", [16], ".attn_k_norm.weight"), HEAD],
    "gemma": [*DECODER, *PLAIN],
    "gpt2": [
        ("F16", [99, 64], "token_embd.weight"),
        ("F32", [50, 64], "position_embd.weight"),
        *with_bias("F16", [192, 64], ".attn_qkv"),
        *with_bias("F16", [64, 64], ".attn_output"),
        *with_bias("F16", [96, 64], ".ffn_up"),
        *with_bias("F16", [64, 96], ".ffn_down"),
        *with_bias("F32", [64], ".attn_norm"),
        *with_bias("F32", [64], ".ffn_norm"),
        *with_bias("F32", [64], "output_norm"),
    ],
    "bert": [
        ("F16", [99, 64], "token_embd.weight"),
        ("F32", [50, 64], "position_embd.weight"),
        ("F32", [2, 64], "token_types.weight"),
        *with_bias("F32", [64], "token_embd_norm"),
        *with_bias("F16", [64, 64], ".attn_q"),
        *with_bias("F16", [64, 64], ".attn_k"),
        *with_bias("F16", [64, 64], ".attn_v"),
        *with_bias("F16", [64, 64], ".attn_output"),
        *with_bias("F32", [64], ".attn_output_norm"),
        *with_bias("F16", [96, 64], ".ffn_up"),
        *with_bias("F16", [64, 96], ".ffn_down"),
        *with_bias("F32", [64], ".layer_output_norm"),
    ],
}


@pytest.mark.parametrize("architecture", FAMILIES)
def test_each_family_with_a_table_is_predicted_from_key_values(architecture: str, tmp_path: Path) -> None:
    """Dimensions only from the key-values, the vocabulary from the token list: exactly the tensors of the file."""
    numbers = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "context_length": 50}
    kv = 4 if architecture in ("gpt2", "bert") else 2
    heads = {"attention.head_count": 4, "attention.head_count_kv": kv, "attention.key_length": 16}
    pairs: list[tuple[str, str, Any]] = [("general.architecture", "string", architecture)]
    pairs += [(f"{architecture}.{key}", "uint32", value) for key, value in (numbers | heads).items()]
    pairs += [
        ("tokenizer.ggml.tokens", "array[string]", {"items": 99, "text": 300}),
        ("tokenizer.ggml.token_type_count", "uint32", 2),
    ]
    write_gguf(tmp_path / "model.gguf", pairs, layers(*FAMILIES[architecture]))
    result = inspector.reconcile(inspector.open(tmp_path))
    assert result.prediction and result.prediction.parameters == result.logical
    assert (result.unexplained_bytes, result.unexplained, result.findings) == (0, (), ())
    assert not {"missing", "shape", "vocab_padding"} & steps(result).keys()


numbers = st.sampled_from([("uint32", n) for n in (0, 1, 2, 8, 64, 2**32 - 1)])
others = st.sampled_from(
    [
        ("int64", -1),
        ("float32", float("nan")),
        ("float64", 1e300),
        ("string", "\x1b[0m"),
        ("bool", True),
        ("array[uint32]", [1, 2]),
        ("array[string]", ["a"]),
        ("array[uint32]", []),
    ]
)


#: Tensors whose presence has a meaning, under numbers that no block has.
ABSURD = ("token_embd.weight", "blk.0.ffn_up_exps.weight", "blk.99999999.ffn_gate_inp.weight", "blk..attn_sinks.weight",
          "blk.x.attn_q.bias", "cls.weight", "blk.", "direction.7")  # fmt: skip


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([each.architecture for each in listed_gguf() if each.predicted]),
    st.dictionaries(
        st.sampled_from([*gguf_keys.FIELDS, *gguf_keys.LISTS, *gguf_keys.COUNTS]), numbers | numbers | numbers | others
    ),
    st.dictionaries(st.sampled_from([*gguf_keys.GENERAL_FIELDS, gguf_keys.TOKENS, "general.file_type"]), others),
)
def test_absurd_key_values_never_break_the_overview(
    tmp_path: Path, architecture: str, fields: dict[str, tuple[str, Any]], general: dict[str, tuple[str, Any]]
) -> None:
    """Absurd numbers and wrong types lead at most to a prediction that is refused in one line."""
    pairs = [("general.architecture", "string", architecture)]
    pairs += [(f"{architecture}.{key}", *value) for key, value in fields.items()]
    pairs += [(key, *value) for key, value in general.items()]
    result = inspector.reconcile(opened(tmp_path, pairs, ABSURD))
    steps(result)
    assert "\x1b" not in text.overview(result)
    assert json.dumps(documents.overview(result, tensors=True), allow_nan=False)


# --- what tensors say, and no key -----------------------------------------------------------------


def with_keys(architecture: str, **numbers: int) -> list[tuple[str, str, Any]]:
    keys = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "context_length": 50,
            "attention.head_count": 4, "vocab_size": 99, **numbers}  # fmt: skip
    pairs: list[tuple[str, str, Any]] = [("general.architecture", "string", architecture)]
    return pairs + [(f"{architecture}.{key}", "uint32", number) for key, number in keys.items()]


def exact(tmp_path: Path, pairs: list[tuple[str, str, Any]], entries: list[tuple[str, list[int], str]]) -> None:
    """Every tensor is predicted, with nothing left over, and a removed tensor is missed."""
    write_gguf(tmp_path / "whole.gguf", pairs, entries)
    result = inspector.reconcile(inspector.open(tmp_path / "whole.gguf"))
    assert (result.unexplained, result.findings) == ((), ())
    assert result.prediction and result.prediction.parameters == result.logical
    write_gguf(tmp_path / "less.gguf", pairs, entries[:-1])
    less = inspector.reconcile(inspector.open(tmp_path / "less.gguf"))
    assert [finding.rule for finding in less.findings] == ["missing"]


def test_biases_are_predicted_where_one_block_has_them(tmp_path: Path) -> None:
    """No key announces them: Llama has none, other models of its layout do."""
    biases = [("F32", [64], f"blk.{layer}.attn_{part}.bias") for part in "qkv" for layer in (0, 1)]
    square = [("F16", [64, 64], f".attn_{part}.weight") for part in "qkv"]
    exact(tmp_path, with_keys("llama"), [*layers(*DECODER, *square, HEAD), *biases])


def test_a_classifier_without_named_labels_has_as_many_rows_as_are_stored(tmp_path: Path) -> None:
    """BERT's converter writes labels only if they have names."""
    body = layers(*FAMILIES["bert"])
    body = [(dtype, [64, *shape[1:]] if shape[0] == 32 else shape, name) for dtype, shape, name in body]
    pairs = [*with_keys("bert"), ("tokenizer.ggml.token_type_count", "uint32", 2)]
    exact(tmp_path, pairs, [("F16", [3, 64], "cls.weight"), ("F32", [3], "cls.bias"), *body])


def test_distilberts_tokens_have_no_types_though_a_key_counts_one(tmp_path: Path) -> None:
    body = [entry for entry in layers(*FAMILIES["bert"]) if entry[2] != "token_types.weight"]
    body = [(dtype, [64, *shape[1:]] if shape[0] == 32 else shape, name) for dtype, shape, name in body]
    exact(tmp_path, [*with_keys("bert"), ("tokenizer.ggml.token_type_count", "uint32", 1)], body)


T5_KEYS = {"attention.key_length": 16, "attention.value_length": 16, "attention.relative_buckets_count": 8}


@pytest.mark.parametrize("gated", [False, True], ids=["T5", "UMT5"])
def test_umt5_has_a_gate_and_a_bias_in_each_layer(gated: bool, tmp_path: Path) -> None:
    parts = [(f"attn_{part}", [64, 64]) for part in "qkvo"] + [("ffn_up", [96, 64]), ("ffn_down", [64, 96])]
    parts += [("ffn_gate", [96, 64])] * gated + [("attn_norm", [64]), ("ffn_norm", [64])]
    stacks = {"enc": parts, "dec": [*parts, *((f"cross_attn_{part}", [64, 64]) for part in "qkvo"),
                                    ("cross_attn_norm", [64])]}  # fmt: skip
    entries = [("F16", [99, 64], "token_embd.weight"), HEAD]
    entries += [("F32", [64], f"{stack}.output_norm.weight") for stack in stacks]
    for stack, each in stacks.items():
        for layer in (0, 1):
            entries += [("F16", shape, f"{stack}.blk.{layer}.{name}.weight") for name, shape in each]
            if gated or layer == 0:
                entries.append(("F16", [8, 4], f"{stack}.blk.{layer}.attn_rel_b.weight"))
    exact(tmp_path, with_keys("t5", **T5_KEYS), entries)


# --- split files ----------------------------------------------------------------------------------


def split(folder: Path, parts: int, *, stated: int, left_out: int | None = None) -> Path:
    """A model in parts, the first with key-values and no tensor, as llama.cpp's `gguf-split` can write it."""
    for number in range(parts):
        pairs: list[tuple[str, str, Any]] = [
            ("split.no", "uint16", number),
            ("split.count", "uint16", parts),
            ("split.tensors.count", "int32", stated),
        ]
        if number == 0:
            pairs[:0] = [("general.architecture", "string", "llama"), ("llama.block_count", "uint32", parts - 1)]
        if number != left_out:
            entries = [("Q8_0", [64, 64], f"blk.{number - 1}.attn_q.weight")] if number else []
            write_gguf(folder / f"m-{number + 1:05}-of-{parts:05}.gguf", pairs, entries)
    return folder


def test_the_parts_of_a_split_are_one_checkpoint(tmp_path: Path) -> None:
    checkpoint = inspector.open(split(tmp_path, 3, stated=2))
    assert [header.path for header in checkpoint.files] == [f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    assert checkpoint.config and checkpoint.config.values["num_hidden_layers"] == 2
    assert checkpoint.findings == ()
    result = inspector.reconcile(checkpoint)
    assert result.logical == 2 * 64 * 64 and steps(result)["header"] == 3 * 24


def test_a_part_that_is_missing_is_found(tmp_path: Path) -> None:
    checkpoint = inspector.open(split(tmp_path, 4, stated=3, left_out=2))
    assert {"missing-part"} <= {f.rule for f in checkpoint.findings}
    assert any("1 part of 4 missing: 3" in f.message for f in checkpoint.findings)


def test_a_wrong_total_or_a_stranger_among_the_parts_is_found(tmp_path: Path) -> None:
    folder = split(tmp_path, 2, stated=5)
    assert [f.rule for f in inspector.open(folder).findings] == ["split-tensors"]
    (folder / "m-00001-of-00002.gguf").write_bytes((folder / "m-00002-of-00002.gguf").read_bytes())
    rules = {f.rule for f in inspector.open(folder).findings}
    assert {"split-number", "split-duplicate"} <= rules


def test_the_fixtures_table_of_types_is_the_packages() -> None:
    """The sizes in the fixtures' recipes are those of the `gguf` package."""
    ours = {kind.name: (number, kind.block, kind.nbytes) for number, kind in TYPES.items()}
    assert TENSOR_TYPES.items() <= ours.items()


def test_bits_are_rounded_for_people() -> None:
    assert (units.bits(4.826), units.bits(4.5), units.bits(32)) == ("4.83", "4.5", "32")


def test_a_vocabulary_alone_is_not_a_complete_model() -> None:
    """llama.cpp's own test file: key-values and a tokenizer for BERT, no tensor."""
    result = inspector.reconcile(inspector.open(real.file("gguf/ggml-vocab-bert-bge.gguf")))
    assert result.verdict.sentence == "no tensors: a vocabulary, or an empty file"
    predicted = result.prediction
    assert predicted
    assert "tied_embeddings" not in steps(result)
    assert steps(result)["missing"] == -(result.start or 0)
    (row, *_) = models.documents(Models([(Named("bert", "bert.gguf"), result)]))
    assert row["complete"] is False
