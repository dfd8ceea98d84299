"""What `check.py` found, as files: docs/architectures.md, the package's coverage, and fixtures for tests without torch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cases
import records
import table_text

from inspector.architectures import family_of, model_types
from inspector.architectures.prediction import predict
from inspector.architectures.store import FOLDER, store
from inspector.architectures.table import Include
from inspector.errors import ConfigError
from inspector.model import Config

if TYPE_CHECKING:
    from check import Verdict

ROOT = Path(__file__).parent.parent.parent


def coverage(table: Mapping[str, list[Verdict]]) -> None:
    """The share of records that are exact, at the default and changed, and of tensors that have a role.

    Model types that were not checked keep their line.
    """
    lines: dict[str, tuple[int | None, ...]] = {t: tuple(each) for t, each in store().find("made", "coverage").items()}
    for model_type, verdicts in sorted(table.items()):
        default = [v for v in verdicts if v.variant == "default"]
        drawn = [v for v in verdicts if _DRAWN.fullmatch(v.variant)]
        changed = [v for v in verdicts if v.variant != "default" and v not in drawn]
        keyed = sum(v.keyed for v in verdicts), sum(v.tensors for v in verdicts)
        lines[model_type] = (_percent(keyed), *(_percent(_exact(some)) for some in (default, changed, drawn)))
    for path in sorted(FOLDER.glob("families/*.json")):
        _cover(path, lines)
    _document(dict(sorted(lines.items())), {t: str(len(verdicts)) for t, verdicts in table.items()})


def _cover(path: Path, lines: Mapping[str, tuple[int | None, ...]]) -> None:
    """Write into a table which of its types are not wholly covered, and which Transformers does not have."""
    before = path.read_text()
    types = json.loads(before)["types"]
    partly = {t: lines[t] for t in types if lines.get(t, (100,) * 4) != (100,) * 4}
    after = table_text.put(before, "coverage", partly)
    after = table_text.put(after, "outside", [t for t in types if t not in lines])
    if after != before:
        path.write_text(after)


def _exact(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    found = list(verdicts)
    return sum(v.exact for v in found), len(found)


def _percent(pair: tuple[int, int]) -> int | None:
    return 100 * pair[0] // pair[1] if pair[1] else None


def _models(document: Path) -> dict[str, str]:
    """How many models of each type the document told of before."""
    rows = [line.strip("| \n").split(" | ") for line in document.read_text().splitlines() if line.startswith("| ")]
    return {row[0]: row[-1] for row in rows if len(row) == 7}


#: What was measured on configurations that nobody corrected tables against.
HELD_BACK = (
    "How exact predictions are was measured on configurations that another generator drew, and from which no table was",
    "corrected: sizes, layer patterns, flags and ties of 686 of Transformers 5.23's 804 model types (November 2026; the others",
    "have no class, or do not build). A model is exact where every tensor's name and shape is predicted, and none besides.",
    "",
    "| | before that month's last corrections | after |",
    "|---|---|---|",
    "| principal classes | 1,315 of 1,342, and 22 without a table | 1,360 of 1,364 |",
    "| other classes that Transformers registers | 722 of 730 | 725 of 730 |",
    "| heads of one label | 332 of 333 | 332 of 333 |",
    "| the shortest config.json that means the same | 1,150 of 1,175 | 1,210 of 1,215 |",
)


def _of_diffusers() -> list[str]:
    """The section on diffusers' classes: how exact their predictions are, and which have a table."""
    known = sorted((t for t, table in model_types().items() if table.startswith("diffusers_")), key=str.lower)
    return [
        "## diffusers' classes",
        "",
        "The class that a config.json names as `_class_name` is its model type. All 155 model classes of diffusers 0.42.1 are",
        "predicted exactly at their defaults. Configurations were drawn three a class, of integers, flags, lists and words that the",
        "class still builds: before anything was corrected from them, all three were exact of 152 classes, and 459 of 465 in all",
        "(November 2026; 100 classes before that month's tables).",
        "",
        ", ".join(f"`{each}`" for each in known) + ".",
        "",
    ]


#: `model_type` → why it has no table. Without a table, only sizes explain a file's tensors.
WITHOUT = {
    "internlmxcomposer2": "its code has the projector's and CLIP's sizes as constants, which differ between 2.0, 4KHD and 2.5; no field of "
    "the configuration says which version it is, and LMDeploy tells them by the names in their code",
    "aquila3": "one model has it, and its code was not found; with AquilaForCausalLM as its class it is read as Aquila",
    "moondream3": "vLLM's code leaves out the part that reads and writes coordinates",
    "eagle_2_5_vl": "vLLM's code does not say whether the pooling head of its tower is stored",
    "pangu_v2_moe": "the codes found disagree on whether queries, keys and values are stored in one matrix",
    "bagel": "vLLM's code leaves out the half that makes images",
}

#: Classes that vLLM 0.32 or SGLang 0.5.23 registers for models of their own, whose code was not read.
UNREAD = [
    "BailingMM2NativeForConditionalGeneration",
    "BailingMMNativeForConditionalGeneration",
    "BailingMoeV3ForCausalLM",
    "BailingMoeV3VLForConditionalGeneration",
    "ClefFlashForJointSchema",
    "ClefOmniForJointSchema",
    "ColQwen3",
    "ColQwen3_5",
    "Cosmos3ForConditionalGeneration",
    "D3ForSequenceClassification",
    "DeepseekV41ForCausalLM",
    "FireRedASR2ForConditionalGeneration",
    "FunASRForConditionalGeneration",
    "FunAudioChatForConditionalGeneration",
    "GigaChat35ForCausalLM",
    "IQuestQ1ForCausalLM",
    "InternS1ProForConditionalGeneration",
    "InternS2MobiusForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "JetVLMForConditionalGeneration",
    "JinaVLForRanking",
    "K2HorizonForCausalLM",
    "KananaVForConditionalGeneration",
    "KimiK3ForConditionalGeneration",
    "LlamaNemotronVLModel",
    "LlavaOnevision2ForConditionalGeneration",
    "LlavaVidForCausalLM",
    "MiMoV2ASRForCausalLM",
    "MiMoV2OmniForCausalLM",
    "MossAudioModel",
    "MossVLForConditionalGeneration",
    "NVILAForConditionalGeneration",
    "NVILALiteForConditionalGeneration",
    "NemotronHPuzzleForCausalLM",
    "NemotronParseForConditionalGeneration",
    "OpenPanguVLForConditionalGeneration",
    "OpsColQwen3Model",
    "POINTSV15ChatModel",
    "Qwen3VLNemotronEmbedModel",
    "Sarashina2VisionForCausalLM",
    "StepVLForConditionalGeneration",
    "Terratorch",
    "XllmForCausalLM",
    "YiVLForCausalLM",
]

#: A name that lists of models have, but no config.json that is known → the `model_type` of the published ones.
CALLED = {
    "yi": "Yi or llama",
    "moondream2": "moondream1",
    "cogvlm2": "cogvlm",
    "grok": "grok-1",
    "deepseekocr": "deepseek_vl_v2",
    "santacoder": "gpt2 or gpt_bigcode",
    "dream": "Dream",
    "longcat": "longcat_flash",
    "ernie4_5_vl": "ernie4_5_moe_vl",
    "keye and KeyeChat": "Keye or KeyeVL1_5",
}


def without() -> list[str]:
    """The section on known types that have no table."""
    return [
        "## Types without a table",
        "",
        "Looked for in November 2026, in the authors' repositories, vLLM, SGLang, LMDeploy and llama.cpp's converter:",
        "",
        "| model type | why it has no table |",
        "|---|---|",
        *(f"| {name} | {reason} |" for name, reason in WITHOUT.items()),
        "",
        "Some names in lists of models are no `model_type`; the published config.json says instead: "
        + "; ".join(f"{name}: {known}" for name, known in CALLED.items())
        + ".",
        "",
        "vLLM 0.32 and SGLang 0.5.23 register some classes for models whose code was not read, and which have no table: "
        + ", ".join(f"`{name}`" for name in UNREAD)
        + ". Other names in their registries are a draft's (DFlash, DSpark, EAGLE, MTP), stand for any model of Transformers, or are "
        "the engine's own for a type that has a table, such as ColBERT over BERT.",
        "",
    ]


def _document(lines: Mapping[str, tuple[Any, ...]], checked: Mapping[str, str]) -> None:
    target = ROOT / "docs" / "architectures.md"
    models = {**(_models(target) if target.exists() else {}), **checked}
    whole = sum(line[0] == 100 for line in lines.values())
    default = sum(line[1] == 100 for line in lines.values())
    changed = sum(line[2] == 100 for line in lines.values())
    drawn = sum(line[3] == 100 for line in lines.values())
    rows = [
        f"| {t} | {model_types().get(t, '–')} | {' | '.join(map(_show, line))} | {models.get(t, '–')} |"
        for t, line in lines.items()
    ]
    text = [
        "# Model types",
        "",
        *HELD_BACK,
        "",
        "The table below is written by `tools/zoo/check.py`, of configurations that the tables' makers could see. *keyed*:",
        "tensors with a role. *default*, *changed*: models predicted exactly at the default configuration, and at others (fields",
        "changed one by one, all together, flags flipped). *drawn*: the same where every number and half of the flags are drawn.",
        f"Of {len(lines)} model types, {whole} have all tensors keyed, {default} are exact at every default class, "
        f"{changed} at every changed configuration, {drawn} at every drawn one.",
        "",
        "| model type | module | keyed % | default % | changed % | drawn % | models |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        *without(),
        *_of_diffusers(),
    ]
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(text))


def _show(percent: int | None) -> str:
    return "–" if percent is None else str(percent)


#: Records of a type that tests run on, the first that are exact.
_WANTED = ("default", "p2", "p3", "x3", "x2", "h1", "h2")
#: Variants of `build.py --seed`.
_DRAWN = re.compile(r"h\d")
#: Cases after a type's first are kept where they are no longer than this, in characters.
_SHORT = 6000
#: A default model of more tensors than this is left to `check.py`.
_MOST_TENSORS = 1500


def fixtures(truths: Iterable[Path], table: Mapping[str, list[Verdict]]) -> None:
    """What models hold: a few configurations of each type, with names and shapes."""
    for model_type, verdicts in sorted(table.items()):
        found = [_case(truths, verdict) for verdict in _chosen(verdicts)]
        _write_cases(model_type, [case for at, case in enumerate(found) if not at or len(cases.text(case)) < _SHORT])


def _chosen(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """One exact verdict of each wanted variant, the smallest first."""
    chosen: dict[str, Verdict] = {}
    for verdict in verdicts:
        kind = verdict.variant.split("_")[0]
        small = verdict.tensors <= _MOST_TENSORS
        if verdict.exact and verdict.agree and verdict.unique and small and kind in _WANTED:
            chosen.setdefault(kind, verdict)
    return sorted(chosen.values(), key=lambda verdict: verdict.tensors)


def _case(truths: Iterable[Path], verdict: Verdict) -> cases.Case:
    name = f"{verdict.model_type}__{verdict.cls}__{verdict.variant}.json.gz"
    record = records.read(next(truth / name for truth in truths if (truth / name).exists()))
    config = pruned(record.config)
    config = config if _suffices(config, record.shapes) else record.config
    return cases.Case(f"Transformers, {verdict.cls}", config, dict(record.shapes))


def _write_cases(model_type: str, found: list[cases.Case]) -> None:
    """The cases of a type in the file of its table, in the place of those that were there."""
    path = cases.FOLDER / f"{model_types()[model_type]}.txt"
    others = [
        case for case in (cases.load(path) if path.exists() else []) if case.config.get("model_type") != model_type
    ]
    path.write_text("\n".join(map(cases.text, [*others, *found])))


def _suffices(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a pruned configuration still predicts the same."""
    try:
        prediction = predict(Config(config, "config.json"))
    except ConfigError:
        return False
    return {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()} == shapes


def pruned(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that some expression of the family mentions, and those that tell families."""
    family = family_of(config)
    named = repr([family.rows, family.derived, family.fields]) if family else ""
    scopes = {row.scope for row in family.rows if isinstance(row, Include)} if family else set()
    always = {"model_type", "architectures", "per_layer_config", *scopes}
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key == "id2label":
            kept[key] = {str(n): "" for n in range(len(value))} if value and "num_labels" in named else value
        elif isinstance(value, Mapping) and "model_type" in value and key in scopes:
            kept[key] = pruned(value)
        elif key in always or key in named:
            kept[key] = value
    if "num_labels" not in named:
        kept.pop("id2label", None)
    return kept
