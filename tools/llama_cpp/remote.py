"""Models that Transformers cannot build: their tensors written from `remote.txt`, with random sizes.

for case in cases(seed):
    write(case, folder, seed)       config.json, and a model.safetensors of random BF16 numbers
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cases as texts

if TYPE_CHECKING:
    from structure import Structure

RECIPES = Path(__file__).parent / "remote.txt"
TOWERS = Path(__file__).parent / "towers.txt"
VOCABULARY = 160
#: Suffixes of the names of tensors that are published in F32.
FLOATS = ("expert_bias", "e_score_correction_bias", "router_bias")


#: Other names under which the converter knows a class → the class that is built, and the prefix of its tensors' names.
ALSO: dict[str, tuple[str, str]] = {
    "BaiChuanForCausalLM": ("BaichuanForCausalLM", ""),
    "BitNetForCausalLM": ("BitnetForCausalLM", ""),
    "BailingMoeV3VLForConditionalGeneration": ("BailingMoeV3ForCausalLM", ""),
    "ChameleonForCausalLM": ("ChameleonForConditionalGeneration", ""),
    "ChatGLMForConditionalGeneration": ("ChatGLMModel", ""),
    "DSparkDraftModel": ("Qwen3DSparkModel", ""),
    "Dots3NoteForConditionalGeneration": ("Dots3NoteForCausalLM", ""),
    "Dots3NoteTextForCausalLM": ("Dots3NoteForCausalLM", ""),
    "DotsOCRForCausalLM": ("Qwen2ForCausalLM", ""),
    "Eagle3DraftModel": ("LlamaForCausalLMEagle3", ""),
    "Eagle3LlamaForCausalLM": ("LlamaForCausalLMEagle3", ""),
    "ExaoneMoEForCausalLM": ("ExaoneMoeForCausalLM", ""),
    "Gemma3nForConditionalGeneration": ("Gemma3nForCausalLM", "model.language_model."),
    "IQuestCoderForCausalLM": ("LlamaForCausalLM", ""),
    "JinaEmbeddingsV5Model": ("EuroBertModel", ""),
    "KORMoForCausalLM": ("Qwen2ForCausalLM", ""),
    "KimiLinearModel": ("KimiLinearForCausalLM", ""),
    "KimiK25ForConditionalGeneration": ("DeepseekV3ForCausalLM", "language_model."),
    "KimiVLForConditionalGeneration": ("DeepseekV3ForCausalLM", "language_model."),
    "LFM2ForCausalLM": ("Lfm2ForCausalLM", ""),
    "LLaDAMoEModelLM": ("LLaDAMoEModel", ""),
    "LLaMAForCausalLM": ("LlamaForCausalLM", ""),
    "Lfm2BidirectionalModel": ("Lfm2Model", ""),
    "Lfm2DSparkDraftModel": ("Qwen3DSparkModel", ""),
    "LingDSparkModel": ("Qwen3DSparkModel", ""),
    "LlavaStableLMEpochForCausalLM": ("StableLMEpochForCausalLM", ""),
    "MiMoV2ForCausalLM": ("MiMoV2FlashForCausalLM", ""),
    "MiniMaxM1ForCausalLM": ("MiniMaxText01ForCausalLM", ""),
    "MiniMaxM3SparseForCausalLM": ("MiniMaxM3SparseForConditionalGeneration", ""),
    "NeoBERTForSequenceClassification": ("NeoBERT", ""),
    "NeoBERTLMHead": ("NeoBERT", ""),
    "OLMoForCausalLM": ("OlmoForCausalLM", ""),
    "PLaMo2ForCausalLM": ("Plamo2ForCausalLM", ""),
    "PLaMo3ForCausalLM": ("Plamo3ForCausalLM", ""),
    "Phi4ForCausalLMV": ("Phi3ForCausalLM", ""),
    "Qwen2_5OmniModel": ("Qwen2_5_VLForConditionalGeneration", "thinker."),
    "Rwkv7ForCausalLM": ("RWKV7ForCausalLM", ""),
    "Sarashina2VisionForCausalLM": ("LlamaForCausalLM", "llm."),
    "StepVLForConditionalGeneration": ("Qwen3ForCausalLM", ""),
    "T5WithLMHeadModel": ("T5ForConditionalGeneration", ""),
    "UnlimitedOCRForCausalLM": ("DeepseekOCRForCausalLM", ""),
    "VLlama3ForCausalLM": ("LlamaForCausalLM", ""),
    "YoutuVLForConditionalGeneration": ("DeepseekV3ForCausalLM", ""),
    "modeling_grove_moe.GroveMoeForCausalLM": ("GroveMoeForCausalLM", ""),
    "modeling_sarvam_moe.SarvamMoEForCausalLM": ("SarvamMoEForCausalLM", ""),
}


#: Fields of these configurations that the class which is built lacks.
MORE: dict[str, dict[str, Any]] = {"BailingMoeV3VLForConditionalGeneration": {"mrope_section": [2, 1, 1]}}
#: The same for the towers beside language models.
ALSO_TOWERS: dict[str, str] = {
    "Dots3NoteForConditionalGeneration": "Dots3NoteForCausalLM",
    "MiniMaxM3VLForConditionalGeneration": "MiniMaxM3SparseForConditionalGeneration",
    "Step3p7ForConditionalGeneration": "StepVLForConditionalGeneration",
    "UnlimitedOCRForCausalLM": "DeepseekOCRForCausalLM",
}


class Remote(NamedTuple):
    name: str  # of the class, with a number where it has several cases
    case: texts.Case

    @property
    def model_class(self) -> str:
        return str(self.case.config["architectures"][0])


def cases(seed: int, recipes: Path = RECIPES) -> Iterator[Remote]:
    """Every recipe with the sizes of a seed."""
    counted: dict[str, int] = {}
    filled = re.sub(r"<([^<>]+)>", lambda match: str(_value(match[1], _sizes(seed))), recipes.read_text())
    for case in texts.parsed(filled):
        name, tag = str(case.config["architectures"][0]), case.config.pop("#", "")
        counted[name] = counted.get(name, 0) + (not tag)
        yield Remote(f"{name}{f'#{tag}' if tag else '' if counted[name] == 1 else f'#{counted[name]}'}", case)


def _sizes(seed: int) -> dict[str, int]:
    draw = random.Random(seed)
    sizes = {"E": 16 * draw.choice([4, 6]), "H": 4, "K": draw.choice([4, 2, 2, 1]), "V": VOCABULARY}
    sizes |= {"F": 8 * draw.randint(10, 15), "M": 40, "X": draw.choice([4, 8]), "L": draw.choice([2, 3])}
    return sizes | {"D": sizes["E"] // 4, "P": draw.choice([sizes["E"] // 4, 24])}


def _value(text: str, sizes: dict[str, int]) -> int:
    """The value of a formula of the recipes, which are this project's own."""
    return int(eval(text, {"__builtins__": {}}, sizes))


def write(remote: Remote, folder: Path, seed: int, structure: Structure | None = None) -> None:
    """The model's folder, filled with random numbers."""
    import torch
    from safetensors.torch import save_file

    config, without = remote.case.config, frozenset[str]()
    if structure is not None:
        config, without = structure.recipe(config, remote.case.shapes)
    folder.mkdir()
    own = {key: value for key, value in config.items() if "/" not in key}
    (folder / "config.json").write_text(json.dumps(own))
    draw = torch.Generator().manual_seed(seed + 1000)
    tensors = {
        name.partition(":")[0]: _filled(name, shape, draw)
        for name, shape in remote.case.shapes.items()
        if name not in without
    }
    tensors |= {name: _steps(len(tensor), draw) for name, tensor in tensors.items() if name == "d2t"}
    tensors |= {name: tensor > 0 for name, tensor in tensors.items() if name == "t2d"}
    tensors |= {name: tensor.abs() for name, tensor in tensors.items() if name.endswith("slopes")}  # of ALiBi
    for home in {key.rpartition("/")[0] for key in (*tensors, *remote.case.config)}:  # parts in folders of their own
        held = {name.rpartition("/")[2]: each for name, each in tensors.items() if name.rpartition("/")[0] == home}
        (folder / home).mkdir(exist_ok=True)
        if home:
            (folder / home / "config.json").write_text(json.dumps(remote.case.config[f"{home}/config.json"]))
        save_file(held, folder / home / "model.safetensors", metadata={"format": "pt"})


def _filled(name: str, shape: tuple[int, ...], draw: Any) -> Any:
    """Random numbers of the dtype that follows from a name."""
    import torch

    name, _, dtype = name.partition(":")
    if dtype in ("I8", "U8"):  # two 4-bit numbers
        held = torch.randint(0, 256, shape, generator=draw, dtype=torch.uint8)
        return held.view(torch.int8) if dtype == "I8" else held
    if dtype == "I64":
        return torch.randint(0, 4, shape, generator=draw)
    if dtype in ("E8", "S8"):  # powers of two around one
        held = torch.randint(125, 130, shape, generator=draw, dtype=torch.uint8)
        return held.view(torch.float8_e8m0fnu) if dtype == "E8" else held
    numbers = torch.randn(shape, generator=draw)
    if dtype == "F8":
        return numbers.to(torch.float8_e4m3fn)
    return numbers.to(torch.float32 if dtype == "F32" or name.endswith(FLOATS) else torch.bfloat16)


def _steps(count: int, draw: Any) -> Any:
    """The distance of each token of a draft's vocabulary from its token in the target's `VOCABULARY`, in order."""
    import torch

    chosen = torch.randperm(VOCABULARY, generator=draw)[:count].sort().values
    return chosen - torch.arange(count)


def rename(name: str, folder: Path) -> None:
    """Turn a written model into one of another name under which the converter knows its class."""
    from safetensors.torch import load_file, save_file

    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [name], **MORE.get(name, {})}))
    _, prefix = ALSO.get(name, ("", ""))
    if prefix:
        word = prefix.partition(".")[0] + "."  # `model.` becomes `model.language_model.`
        tensors = {
            prefix + (each.removeprefix(word) if word != prefix else each): tensor
            for each, tensor in load_file(folder / "model.safetensors").items()
        }
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
