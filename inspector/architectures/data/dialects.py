"""Configurations that are written differently from Transformers': without a type, or with other names of fields.

A class name implies a type (`type_of_class`). Tables in `data/tables/dialects` map other names of fields to those of
Transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from inspector.architectures.store import store
from inspector.tabular import NamedTuple

#: Suffixes that a class adds to the name of its type, removed one after another.
_SUFFIXES = (r"$", r"For[A-Z]\w*$", r"(WithLMHead|LMHead|DoubleHeads)?Model$", r"(EncoderModel|MTModel|ModelFor\w*)$")

#: Classes that share a `model_type` with a class of a different structure → a distinct type. The classes are a model's
#: own, or those that `auto_map` names for its configuration and model.
OWN_TYPES: Mapping[str, str] = {
    "DeepseekOCR2ForCausalLM": "deepseek_ocr2_original",
    "DeepseekOCRForCausalLM": "deepseek_ocr_original",
    "Grok1ForCausalLM": "grok-2",
    "InternLM2ForCausalLM": "internlm2",
    "XLMRobertaFlashConfig": "xlm-roberta-flash",
    "XLMRobertaLoRA": "xlm-roberta-flash-lora",
    **dict.fromkeys(("LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM", "LlamaEagle3Model"), "eagle3"),
}

#: Words in class names of draft models, which may have the `model_type` of the model they draft for.
DRAFTS = ("Eagle", "Medusa", "Hydra", "Speculator", "Draft", "DFlash", "DSpark", "NextN")

#: Classes whose name does not imply their type.
TYPES: Mapping[str, str] = {
    "ASTForAudioClassification": "audio-spectrogram-transformer",
    "BailingMoeV2_5ForCausalLM": "bailing_hybrid",
    "DeciLMForCausalLM": "nemotron-nas",
    "DeepseekVL2ForCausalLM": "deepseek_vl_v2",
    "EmbeddingGemmaModel": "gemma3_text",
    "GteNewForSequenceClassification": "new",
    "GteNewModel": "new",
    "HCXVisionV2ForCausalLM": "hyperclovax_vision_v2",
    "HfMoondream": "moondream1",
    "HunYuanDenseV1ForCausalLM": "hunyuan_v1_dense",
    "HunYuanDenseV1ForSequenceClassification": "hunyuan_v1_dense",
    "HunYuanMoEV1ForCausalLM": "hunyuan_v1_moe",
    "HunYuanMoEV1ForSequenceClassification": "hunyuan_v1_moe",
    "InklingForConditionalGeneration": "inkling_mm_model",
    "LLaDA2MoeModelLM": "llada2_moe",
    "Lfm2BidirectionalModel": "lfm2",
    "LlamaBidirectionalForSequenceClassification": "llama",
    "LlamaBidirectionalModel": "llama",
    "LlamaEmbeddingModel": "llama",
    "MiniMaxM3SparseForCausalLM": "minimax_m3",
    "MiniMaxM3SparseForConditionalGeneration": "minimax_m3_vl",
    "MoonshotKimiaForCausalLM": "kimi_audio",
    "MultiModalityCausalLM": "multi_modality",
    "NemotronHPuzzleForCausalLM": "nemotron_h",
    "NemotronH_Nano_Omni_Reasoning_V3": "nemotron_h_omni",
    "NemotronH_Omni_Reasoning_V3": "nemotron_h_omni",
    "NemotronH_Super_Omni_Reasoning_V3": "nemotron_h_omni",
    "Ovis2_6ForCausalLM": "ovis2_5",
    "Ovis2_6_MoeForCausalLM": "ovis2_5",
    "Phi4ForCausalLMV": "phi4-siglip",
    "PhiMSFTForCausalLM": "phi-msft",
    "QuantMixtralForCausalLM": "mixtral",
    "RWForCausalLM": "RefinedWeb",
    "Rnj1ForCausalLM": "gemma3_text",
    "SkyworkR1VChatModel": "skywork_chat",
    "Speech2TextForConditionalGeneration": "speech_to_text",
    "VoxtralRealtimeGeneration": "voxtral_realtime",
}


def type_of_class(name: str) -> str | None:
    """The model type of a class, by its name; None if no table has a similar one."""
    if name in TYPES:
        return TYPES[name]
    types = {_plain(model_type): model_type for model_type in reversed(tuple(store().types))}
    stems = [_plain(re.sub(suffix, "", name)) for suffix in _SUFFIXES]
    texts = [stem + "text" for stem in stems] if name.endswith("ForCausalLM") else []
    return next((types[stem] for stem in (*texts, *stems) if stem in types), None)


def _plain(name: str) -> str:
    """A name reduced to what classes and types write identically: `Qwen2_5_VL` and `qwen2_5_vl`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Dialect(NamedTuple):
    """One way to write a configuration."""

    name: str  # for people
    kind: Literal["config.json", "params.json"]  # its kind in results
    marks: frozenset[str]  # keys that identify it; all must be present
    keys: Mapping[str, str]  # its key → Transformers' field
    #: Conditions on its keys, each with a `model_type`: that of the first true condition, or else the last.
    model_types: tuple[tuple[str, str], ...]
    constants: Mapping[str, Any] = {}  # fields that it implies
    derived: Mapping[str, str] = {}  # fields it computes, as formulas of its keys
    unknown: Mapping[str, Any] = {}  # values that mean "see elsewhere"


@cache
def dialects() -> tuple[Dialect, ...]:
    """All dialects, in the order in which they are tried."""
    return tuple(_dialect_of(name, store().find("dialects", name)) for name in store().names("dialects"))


def _dialect_of(name: str, document: Mapping[str, Any]) -> Dialect:
    fields = {field: value for field, value in document.items() if field in Dialect._fields}
    types = tuple((condition, model_type) for condition, model_type in fields["model_types"])
    return Dialect(**{**fields, "name": name, "marks": frozenset(fields["marks"]), "model_types": types})
