"""GGUF architectures: predictions from key-values against what llama.cpp's converter writes and llama.cpp loads.

`tools/llama_cpp` wrote the cases, key-values and tensors: models of Transformers as the converter writes them, and
for each architecture random key-values, with exactly the tensors that llama.cpp requires.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import gguf
import pytest
import real
import sparse
from every import every
from sparse_gguf import write_gguf

import inspector
from inspector.architectures import GGUF_ARCHITECTURE, PROJECTOR, GgufArchitecture, listed_gguf, load_gguf
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import predict
from inspector.architectures.table import Row
from inspector.model import Config

ARCHITECTURES = [each.architecture for each in listed_gguf() if each.predicted]
FIXTURES = Path(sparse.__file__).parent
KINDS = json.loads((FIXTURES / "gguf_kinds.json").read_text())
CONVERTED, LOADED = (
    [json.loads(line) for line in (FIXTURES / f"gguf_{name}.jsonl").read_text().splitlines()]
    for name in ("cases", "loaded")
)
CASES = [*CONVERTED, *LOADED]
PROJECTORS = [json.loads(line) for line in (FIXTURES / "gguf_projectors.jsonl").read_text().splitlines()]


def pair(key: str, value: Any) -> tuple[str, str, Any]:
    """A key-value with its type."""
    kinds = {bool: "bool", str: "string", float: "float32", int: "uint32"}
    values = value if isinstance(value, list) else [value]
    kind = "int32" if min(map(str, values)).startswith("-") and type(values[0]) is int else kinds[type(values[0])]
    return (key, f"array[{kind}]" if isinstance(value, list) else kind, value)


def written(case: dict[str, Any], folder: Path) -> inspector.Reconciliation:
    """The case as a file, joined with the prediction from its key-values."""
    architecture = case["architecture"]
    pairs = [("general.architecture", "string", architecture)]
    pairs += [
        pair(key if key.startswith("tokenizer.") else f"{architecture}.{key}", value)
        for key, value in case["keys"].items()
    ]
    tokens = case.get("tokens", 0)
    if tokens:
        pairs.append(("tokenizer.ggml.tokens", "array[string]", {"items": tokens, "text": tokens}))
    entries = []
    for name, shape, *layers in case["tensors"]:
        entries += [("F32", shape, name.replace("{}", str(layer))) for layer in (layers[0] if layers else [0])]
    write_gguf(folder / "model.gguf", pairs, entries)
    return inspector.reconcile(inspector.open(folder / "model.gguf"))


@every("case", CASES, ids=lambda case: f"{case['architecture']}-{case['from'].replace(' ', '-')}", parts=4)
def test_key_values_predict_every_tensor(case: dict[str, Any], tmp_path: Path) -> None:
    """Nothing is missing, of another shape or unexplained; counts differ by a head, or by what no key states."""
    result = written(case, tmp_path)
    assert result.prediction is not None, [finding.message for finding in result.findings]
    assert (result.unexplained_bytes, result.unexplained) == (0, ())
    steps = {step.cause: step for step in result.steps}
    reported = {"header", "metadata", "tokenizer", "tensor_table", "alignment", "buffer", "optional", "tied_embeddings"}
    assert steps.keys() <= reported, [(step.cause, step.detail) for step in result.steps if step.cause not in reported]
    assert result.findings == ()
    assert all(role.role != "other" for role in result.roles)
    if "optional" not in steps:
        assert result.prediction.parameters == result.logical


def test_all_architectures_have_a_case() -> None:
    """llama.cpp itself has no loader for GPT-J; the number of converted cases cannot shrink unnoticed."""
    assert {case["architecture"] for case in LOADED} == set(ARCHITECTURES) - {"gptj"}
    assert len({case["architecture"] for case in CONVERTED}) >= 60


#: Kinds that llama.cpp loads for an architecture, though the package's own table lacks them.
BEYOND = {
    "granite": "ffn_gate_inp ffn_gate_exps ffn_up_exps ffn_down_exps",
    "refact": "ffn_gate_inp ffn_gate_exps ffn_up_exps ffn_down_exps",
    "granitemoe": "ffn_gate ffn_up ffn_down",
    "minicpm3": "attn_q attn_k_b attn_v_b",
    "plm": "attn_q_a attn_q_a_norm attn_q_b attn_k_b attn_v_b",
    "deepseek": "exp_probs_b",
    "spark2_5": "attn_q attn_k attn_v",
}
EVERYWHERE = {"output", "cls", "cls.output", "ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp"}


@every("architecture", ARCHITECTURES, parts=2)
def test_tables_are_of_the_packages_kinds(architecture: str) -> None:
    """Each kind is listed by the package for the architecture, and has the role that its name implies."""
    family = load_gguf(architecture, architecture)
    assert family is not None
    rows = [row for row in family.rows if isinstance(row, Row)]
    names = {row.name.removesuffix(".bias").rsplit("}.")[-1] for row in rows}
    listed = {name.rsplit("}.")[-1] for name in KINDS[architecture].split()}
    assert names - listed - EVERYWHERE - set(BEYOND.get(architecture, "").split()) == set()
    alone = Namer()
    for row in rows:
        slot = alone.slot(row.template.replace("{layer}", "{}"))
        own = slot.role == "up_proj" and row.role == "gate_up_proj"
        own |= (slot.role, row.role) == ("shared_up_proj", "shared_gate_up_proj")
        own |= row.role in ("adapter_down", "adapter_up") or row.branch == "target"  # names known from tables alone
        own |= row.role == "embed_projection"  # EmbeddingGemma's output is an embedding
        own |= slot.role == "post_attention_layernorm" and row.role == "pre_feedforward_layernorm"
        assert (
            own
            or row.leaf == "scale"
            or (slot.role, slot.part, slot.stacked) == (row.role, row.part, bool(row.stacked))
        )
        assert slot.tower == row.tower or row.branch == "target"


@every("case", PROJECTORS, ids=lambda case: case["from"])
def test_a_tower_beside_a_language_model(case: dict[str, Any], tmp_path: Path) -> None:
    """It is predicted from its keys and its kind of projector, as the converter writes it; every tensor has a role."""
    pairs = [("general.architecture", "string", "clip"), *(pair(key, value) for key, value in case["keys"].items())]
    wanted = {
        name.replace("{}", str(layer)): tuple(shape)
        for name, shape, *layers in case["tensors"]
        for layer in (layers[0] if layers else (0,))
    }
    path = tmp_path / "mmproj.gguf"
    write_gguf(path, pairs, [("F32", list(shape), name) for name, shape in wanted.items()])
    result = inspector.reconcile(inspector.open(path))
    assert result.prediction is not None
    found = {row.name_of(key): row.shape for row in result.prediction.expected for key in row.keys()}
    assert found == wanted
    assert not result.unexplained and not {role.role for role in result.roles} & {"", "other"}


@pytest.mark.parametrize(
    ("kind", "fields", "tensors", "parameters"),
    [
        (
            "mlp",  # LLaVA 1.5 7B: 23 of CLIP's layers and two matrices
            {
                "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 23, "image_size": 336, "patch_size": 14,
                "has_v_class_embd": True, "has_v_pre_ln_weight": True, "has_mm_0_bias": True, "has_mm_2_weight": True,
                "mm_0_rows": 4096, "mm_2_rows": 4096, "v_blk_ffn_down_rows": 4096,
            },
            377,
            23 * 12_596_224 + 1024 * (1 + 3 * 14**2 + 577 + 2) + 4096 * (1024 + 1 + 4096 + 1),
        ),
        (
            "resampler",  # MiniCPM-V 2.6: SigLIP's 27 layers and 64 queries
            {
                "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "image_size": 448, "patch_size": 14,
                "has_v_patch_embd_bias": True, "has_v_post_ln_weight": True, "v_position_embd_rows": 4900,
                "v_blk_ffn_down_rows": 4304, "resampler_query_rows": 64, "resampler_query_columns": 3584,
                "resampler_pos_embed_k_rows": 4900,
            },
            455,
            27 * 15_239_504 + 1152 * (3 * 14**2 + 1 + 4900 + 2) + 3584 * (64 + 4900 + 1152 + 4 * 3584 + 4 + 6 + 3584),
        ),
    ],
)  # fmt: skip
def test_a_tower_of_the_first_converters(kind: str, fields: dict[str, Any], tensors: int, parameters: int) -> None:
    """As many tensors as in the published files; parameters worked out by hand."""
    values = {"model_type": "clip", GGUF_ARCHITECTURE: GgufArchitecture("clip"), PROJECTOR: kind, **fields}
    rows = predict(Config(values, "gguf")).expected
    assert sum(len(list(row.keys())) for row in rows) == tensors
    assert sum(len(list(row.keys())) * prod(row.shape) for row in rows) == parameters


def test_a_projector_that_no_table_knows_is_named_and_not_predicted(tmp_path: Path) -> None:
    pairs = [("general.architecture", "string", "clip"), ("clip.projector_type", "string", "mystery")]
    write_gguf(tmp_path / "mmproj.gguf", pairs, [("F32", [8, 8], "v.blk.0.attn_q.weight")])
    result = inspector.reconcile(inspector.open(tmp_path / "mmproj.gguf"))
    assert result.prediction is None
    assert [role.role for role in result.roles] == ["q_proj"]


def test_every_architecture_of_the_package_is_listed() -> None:
    """Those that have a table, and those that are only named."""
    assert {each.architecture for each in listed_gguf()} == KINDS.keys() >= set(gguf.MODEL_ARCH_NAMES.values())
    assert {each.architecture for each in listed_gguf() if not each.predicted} == {"clip"}
    assert load_gguf("_base", "llama") is None


# --- published models -----------------------------------------------------------------------------

#: The key-values of published files.
PUBLISHED = {
    "GLM-4.5-Air": (
        "glm4moe",
        {
            "block_count": 47, "embedding_length": 4096, "feed_forward_length": 10944, "attention.head_count": 96,
            "attention.head_count_kv": 8, "attention.key_length": 128, "attention.value_length": 128,
            "expert_count": 128, "expert_used_count": 8, "expert_feed_forward_length": 1408, "expert_shared_count": 1,
            "leading_dense_block_count": 1, "nextn_predict_layers": 1,
        },
    ),
    "Qwen3-4B-Instruct-2507": (
        "qwen3",
        {
            "block_count": 36, "embedding_length": 2560, "feed_forward_length": 9728, "attention.head_count": 32,
            "attention.head_count_kv": 8, "attention.key_length": 128, "attention.value_length": 128,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tensor_maps_are_predicted(name: str, tmp_path: Path) -> None:
    """Every tensor of two published models, with a separate layer that predicts further tokens."""
    architecture, keys = PUBLISHED[name]
    text = real.file(f"gguf_tensormap/{name}/tensors.bf16.map").read_text().splitlines()
    tensors = []
    for line in text:
        if line:
            tensor, shape = line.split(":")[2:4]
            tensors.append(
                [tensor, [int(dim) for dim in shape.removeprefix("shape=").strip("()").split(",") if dim.strip()][::-1]]
            )
    tokens = next(shape[0] for tensor, shape in tensors if tensor == "token_embd.weight")
    result = written({"architecture": architecture, "keys": keys, "tokens": tokens, "tensors": tensors}, tmp_path)
    assert result.prediction is not None
    assert (result.unexplained_bytes, result.unexplained) == (0, ())
    assert not {"missing", "shape", "optional"} & {step.cause for step in result.steps}
