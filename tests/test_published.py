"""Published models: totals to the parameter, and real configurations and indexes where they are available."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import pytest
import real
import sparse
from every import every

from inspector.architectures import family_of
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import predict
from inspector.model import Config
from inspector.opening import configs
from inspector.opening.configs import normalize

#: Models with their published figures: `parameters`, as stated by the repository or counted by Transformers' own class,
#: or the `bytes` of its one file as the format's writer makes it, with the `dtype` of its tensors.
PUBLISHED: list[dict[str, Any]] = json.loads((Path(sparse.__file__).parent / "published.json").read_text())
TOTALS = {each["model"]: each for each in PUBLISHED if "parameters" in each}
FILES = {each["model"]: each for each in PUBLISHED if "bytes" in each}


@every("name", TOTALS)
def test_published_totals(name: str) -> None:
    """Configurations as published, with their omissions and the types that their own code gave them."""
    assert predict(normalize(TOTALS[name]["config"])).parameters == TOTALS[name]["parameters"]


@pytest.mark.parametrize("name", FILES)
def test_published_files(name: str) -> None:
    """To the byte, which depends on the length of every name and every offset."""
    published = FILES[name]
    prediction = predict(normalize(published["config"]))
    shapes = {row.name_of(key): list(row.shape) for row in prediction.expected for key in row.keys()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for tensor, shape in sorted(shapes.items()):
        begin, end = end, end + prod(shape) * {"F32": 4, "F16": 2}[published["dtype"]]
        header[tensor] = {"dtype": published["dtype"], "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"))
    assert 8 + -(-len(text) // 8) * 8 + end == published["bytes"]


@every(
    ("architecture", "model_type"),
    [
        ("LlamaForCausalLM", "llama"),
        ("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl"),
        ("Gemma3ForCausalLM", "gemma3_text"),
        ("RWForCausalLM", "RefinedWeb"),
        ("QWenLMHeadModel", "qwen"),
        ("BailingMoeV2ForCausalLM", "bailing_moe_v2"),
        ("HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe"),
        ("GPTNeoXForCausalLM", "gpt_neox"),
        ("Grok1ForCausalLM", "grok-2"),
        ("GteNewModel", "new"),
        ("LLaDA2MoeModelLM", "llada2_moe"),
        ("LlamaBidirectionalModel", "llama"),
        ("MoonshotKimiaForCausalLM", "kimi_audio"),
        ("Phi4ForCausalLMV", "phi4-siglip"),
        ("RForConditionalGeneration", "R"),
        ("NobodyKnowsForCausalLM", None),
    ],
)
def test_the_class_decides_the_type(architecture: str, model_type: str | None) -> None:
    """For a configuration without `model_type`."""
    assert normalize({"architectures": [architecture]}).model_type == model_type


def test_the_class_decides_the_type_where_no_table_has_the_one_given() -> None:
    """Engines choose their code by the class: Trillion's own type, with Llama's class, is a Llama."""
    known = {"model_type": "trillion", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2}
    prediction = predict(normalize(known))
    assert (prediction.family, prediction.parameters) == (
        "llama",
        predict(normalize({**known, "model_type": "llama"})).parameters,
    )
    assert prediction.config.notes == (
        "read as llama, by the class LlamaForCausalLM: no table has model_type trillion",
    )
    assert normalize({**known, "architectures": ["TrillionForCausalLM"]}).model_type == "trillion"


@pytest.mark.parametrize(
    "fields",
    [
        {"model_type": "mistral", "num_local_experts": 8},
        {"model_type": "qwen3", "num_experts": [1, 64]},
        {"model_type": "llava", "text_config": {"model_type": "llama", "n_routed_experts": 16}},
    ],
)
def test_experts_that_no_table_reads_are_not_passed_over(fields: dict[str, Any]) -> None:
    """A relative with experts may have the type of a dense model: the prediction says what it omits."""
    (note,) = predict(normalize(fields)).config.notes
    assert note.endswith("does not use: the experts are missing from the prediction")


@pytest.mark.parametrize(
    "fields",
    [
        {"model_type": "mistral", "num_local_experts": 1},
        {"model_type": "mixtral", "num_hidden_layers": 1},
        {"model_type": "qwen3_moe", "num_experts": 8, "num_hidden_layers": 1, "mlp_only_layers": [0]},
        {"model_type": "skywork", "num_experts": [4], "num_hidden_layers": 1},
    ],
)
def test_experts_that_are_read_or_alone_are_not_reported(fields: dict[str, Any]) -> None:
    """A table that reads the experts may still predict none, as in Qwen 3's leading dense layers."""
    assert predict(normalize(fields)).config.notes == ()


def test_the_text_part_decides_the_type() -> None:
    """A lone text part is the model; beside a vision part its type names the whole's."""
    sizes = {"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    text = {"model_type": "llama", **sizes, "vocab_size": 1000}
    assert predict(normalize({"text_config": text})).family == "llama"
    whole = normalize({"text_config": {"model_type": "gemma3_text"}, "vision_config": {"hidden_size": 64}})
    assert whole.model_type == "gemma3"
    assert whole.notes


def test_names_of_mambas_own_checkpoints() -> None:
    """`backbone.embedding` where Transformers has `backbone.embeddings`."""
    config = normalize({"d_model": 64, "n_layer": 1, "vocab_size": 100, "ssm_cfg": {"layer": "Mamba2", "headdim": 32}})
    assert config.model_type == "mamba2"
    prediction = predict(config)
    named = Namer(family_of(config.values), config.values).name(["backbone.embedding.weight", "lm_head.weight"])
    assert named.key(0) in {key for row in prediction.expected for key in row.keys()}
    assert named.key(1).role == "lm_head"


# --- real configurations and indexes, where available --------------------------------------------

#: Files that no family can predict: parts of image pipelines, and files that only describe packing or hosting.
NO_MODEL = ("stable-difusion", "image-generation", "__quantize_config", "__configuration.json")
CONFIGS = [path for path in real.files("config/*.json") if not any(word in path.name for word in NO_MODEL)]
#: Index → bytes that its total has beyond the prediction's at 16 bits, and why.
BEYOND: Mapping[str, int] = {
    "Decentralised-AI+falcon-40b__pytorch_model.bin": 65024 * 8192 * 2,  # the tied head, stored too
    "drcege+RedPajama-INCITE-7B-Base__pytorch_model.bin": 32 * (2048 * 2048 // 8 + 2 + 128),  # masks, as bits; inv_freq
    "nuxwork+llama-7b-hf__pytorch_model.bin": 4096,  # inv_freq
    "Ibtasam-98+medgemma-27b-it__model.safetensors": 0,
    "amansingh61+bloom@4bf48c6__model.safetensors": 0,
    "amansingh61+bloom__pytorch_model.bin": 0,
    "ananddhanabal+gemma__model.safetensors": 0,
    "bryce-hoehn+Qwen3.5-25B-REAP-A3B-Coding__model.safetensors": 0,
    "fetchwiki+mistralai-Devstral-Small-2507__model.safetensors": 0,
    "mikeybellissimo+LoRA-MPT__pytorch_model.bin": 0,
    "root-hypercube+qwen3-mlx__model.safetensors": 0,
}


DEEPSEEK_OCR_2 = "sen-ye+DeepSeek-OCR2-query-ablation__"


def config_of(stem: str) -> Config:
    """The configuration beside a real index."""
    paths = {path.name: path for path in CONFIGS}
    owner = re.split("__|@", stem, maxsplit=1)[0]
    name = f"{owner}__config.json" if f"{owner}__config.json" in paths else f"{owner}__src__config.json"
    return configs.load(paths[name])


@every("path", CONFIGS, ids=lambda path: path.name)
def test_real_configurations_predict(path: Path) -> None:
    """Each of them is predicted, without an error."""
    assert predict(configs.load(path)).parameters > 0


@pytest.mark.parametrize("stem", [stem for stem in BEYOND if real.has(f"index/{stem}.index.json")])
def test_real_indexes_are_explained(stem: str) -> None:
    """Every tensor has a role; stored and predicted tensors agree key by key, and the total is the sum to the byte."""
    index = json.loads(real.file(f"index/{stem}.index.json").read_text())
    config = config_of(stem)
    prediction = predict(config)
    named = Namer(family_of(config.values), config.values).name(list(index["weight_map"]))
    assert all(slot.role for slot in named.slots)
    expected = {key for row in prediction.expected for key in row.keys()}
    known = expected | {key for row in (*prediction.buffers, *prediction.tied) for key in row.keys()}
    stored = {key for key, slot in zip(named.keys(), named.slots, strict=True) if slot.group != "buffer"}
    assert expected <= stored <= known
    assert int(index["metadata"]["total_size"]) == 2 * prediction.parameters + BEYOND[stem]


# The licence of its index is unknown: it is not among our own data.
if real.has(f"index/{DEEPSEEK_OCR_2}model.safetensors.index.json"):

    def test_deepseek_ocr_2_is_named_whole() -> None:
        """All 2,707 names, and the published count; its index claims one more megabyte, which no tensor has."""
        index = json.loads(real.file(f"index/{DEEPSEEK_OCR_2}model.safetensors.index.json").read_text())
        prediction = predict(configs.load(real.file(f"config/{DEEPSEEK_OCR_2}config.json")))
        assert {row.name_of(key) for row in prediction.expected for key in row.keys()} == set(index["weight_map"])
        assert prediction.parameters == 3_389_119_360
        assert index["metadata"]["total_size"] == 2 * prediction.parameters + 1_010_688
