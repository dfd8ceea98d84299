"""Composites with another model in one part, and classes that no Auto class lists: drawn, then compared with the tables.

    python -m zoo.check_swapped draw --seed S OUT [--types a,b] [--kinds swapped,exported]    # needs torch and transformers
    python -m zoo.check_swapped check OUT [--types a,b]                                       # needs neither

OUT is a file of JSON lines: the type, class, kind, config.json as `save_pretrained` writes it, and tensors with shapes.
A composite comes twice, with another of its parts swapped each time; what the class refuses is drawn again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: A part's name and type → types that may replace it; the first that fits.
POOLS: tuple[tuple[str, str], ...] = (
    (
        r"backbone",
        "resnet swin swinv2 convnext convnextv2 dinov2 dinov2_with_registers dinov3_vit dinov3_convnext beit bit focalnet "
        "hiera maskformer-swin pvt_v2 rt_detr_resnet vitdet vitpose_backbone hgnet_v2",
    ),
    (
        r"vision|image|visual",
        "clip_vision_model siglip_vision_model siglip2_vision_model dinov2 dinov3_vit pixtral vit beit aimv2_vision_model "
        "intern_vit_6b internvl_vision ijepa swin convnext llama4_vision_model mlcd_vision_model",
    ),
    (
        r"audio|speech|sound|parakeet|whisper|wav2vec|lasr|conformer",
        "whisper wav2vec2 qwen2_audio_encoder parakeet_encoder hubert wavlm wav2vec2-bert audio-spectrogram-transformer "
        "voxtral_encoder lasr_encoder",
    ),
    (
        r"",
        "llama qwen2 qwen3 mistral gemma gemma2 gemma3_text phi phi3 opt mixtral granite gpt2 gpt_neox cohere olmo2 stablelm "
        "qwen2_moe qwen3_moe falcon bloom mamba smollm3 glm4 deepseek_v3 nemotron bert roberta",
    ),
)
SECONDS = 12
TRIES = 8
MOST_TENSORS = 3000


def draws(model_type: str, seed: str, kinds: set[str]) -> Iterator[dict[str, Any]]:
    """The cases of a type."""
    from zoo.build_models import auto_classes, exported_classes

    listed = list(auto_classes(model_type))
    exported = [name for name in exported_classes(model_type) if name not in listed]
    if "exported" in kinds:
        for name in exported:
            yield from _first(_case(model_type, name, "exported", random.Random(f"{seed} {name}"), None))
    principal = next(iter([*listed, *exported]), None)
    if "swapped" in kinds and principal:
        for turn in range(2):
            rng = random.Random(f"{seed} {model_type} {turn}")
            yield from _first(_swapped(model_type, principal, rng, turn))


def _first(cases: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The first case that can be built."""
    for _, case in zip(range(1), cases, strict=False):
        yield case


def _swapped(model_type: str, name: str, rng: random.Random, turn: int) -> Iterator[dict[str, Any]]:
    from transformers import CONFIG_MAPPING, AutoConfig

    kinds = getattr(CONFIG_MAPPING[model_type], "sub_configs", {})
    parts = sorted(part for part, kind in kinds.items() if kind is AutoConfig)
    for _ in range(TRIES if parts else 0):
        part = parts[turn % len(parts)]
        old = getattr(CONFIG_MAPPING[model_type](), part, None)
        reported = f"{part} {getattr(old, 'model_type', '')}"
        pool = next(types.split() for pattern, types in POOLS if re.search(pattern, reported))
        yield from _case(model_type, name, "swapped", rng, (part, rng.choice(pool)))


def _case(
    model_type: str, name: str, kind: str, rng: random.Random, swap: tuple[str, str] | None
) -> Iterator[dict[str, Any]]:
    """What `save_pretrained` would write of one random model; None if the class refuses it."""
    from transformers import CONFIG_MAPPING

    from zoo.build_configurations import construct, nested_configs, own_differences
    from zoo.build_models import Unbuildable, build_model, resolve_class, saved_tensors
    from zoo.build_values import Perturber

    try:
        cls, template = resolve_class(name), CONFIG_MAPPING[model_type]()
        if swap:
            part, other = swap
            old = nested_configs(template)
            if part not in old or old[part].model_type == other:
                return
            stages = {"out_features": ["stage1", "stage2", "stage3", "stage4"]}
            few = len(getattr(old[part], "out_features", None) or ()) < 2
            made = CONFIG_MAPPING[other](**({} if few else stages))
            template = type(template)(**{**own_differences(template), **old, part: made})
        build_model(cls, template)
        perturber = Perturber(cls, template, time.process_time() + SECONDS, rng.randrange(1, 1 << 30))
        overrides: Any = {}
        try:
            overrides = perturber.numbered(0)
            changes = perturber.booleans(overrides)
            overrides = perturber.grow(overrides, rng.sample(changes, len(changes) // 3))
        except TimeoutError:
            pass
        model = build_model(cls, construct(template, overrides))
        tensors, _, _ = saved_tensors(model)
    except (Unbuildable, AttributeError, ImportError, KeyError, TypeError, ValueError) as error:
        print(model_type, name, swap, " ".join(str(error).split())[:200], file=sys.stderr)
        return
    if 0 < len(tensors) <= MOST_TENSORS:
        config = json.loads(model.config.to_json_string(use_diff=True))
        shapes = {tensor: each[0] for tensor, each in tensors.items()}
        yield {
            "type": model_type, "class": name, "kind": kind, "swap": swap, "config": config, "tensors": shapes,
        }  # fmt: skip


def _draw(job: tuple[str, str, set[str]]) -> list[str]:
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        return [json.dumps(case, default=str) for case in draws(*job)]
    except Exception as error:
        print(job[0], repr(error)[:200], file=sys.stderr)
        return []


def draw(out: Path, seed: str, kinds: set[str], types: list[str]) -> None:
    """Every type's cases, as lines of a file."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    jobs = [(each, seed, kinds) for each in types or sorted(CONFIG_MAPPING_NAMES)]
    with out.open("a") as stream, multiprocessing.get_context("fork").Pool(1, maxtasksperchild=20) as pool:
        for lines in pool.imap(_draw, jobs):
            stream.writelines(f"{line}\n" for line in lines)
            stream.flush()


def check(path: Path, types: list[str]) -> None:
    """Compare each case with the prediction; a line for each error, and the number of correct ones."""
    import inspector
    from inspector.errors import InspectorError

    right, every = Counter[str](), Counter[str]()
    for case in map(json.loads, path.read_text().splitlines()):
        if types and case["type"] not in types:
            continue
        every[case["kind"]] += 1
        reported = " ".join([case["type"], case["class"], *(case["swap"] or ())])
        try:
            rows = inspector.predict(case["config"]).expected
        except InspectorError as error:
            print(f"{reported}: {error}")
            continue
        names = [(row.name_of(key), tuple(row.shape)) for row in rows for key in row.keys()]
        wrong = _difference(dict(names), {name: tuple(shape) for name, shape in case["tensors"].items()})
        wrong = wrong or ("a name twice" if len(dict(names)) < len(names) else "")
        right[case["kind"]] += not wrong
        if wrong:
            print(f"{reported}: {wrong}")
    for kind, count in every.items():
        print(f"{kind}: {right[kind]} of {count} = {right[kind] / count:.1%}")


def _difference(ours: dict[str, tuple[int, ...]], real: dict[str, tuple[int, ...]]) -> str:
    missing, surplus = [each for each in real if each not in ours], [each for each in ours if each not in real]
    other = [each for each in real if each in ours and ours[each] != real[each]]
    reported = [
        f"{len(missing)} missing, {missing[0]} {real[missing[0]]}" if missing else "",
        f"{len(surplus)} surplus, {surplus[0]} {ours[surplus[0]]}" if surplus else "",
        f"{len(other)} of another shape, {other[0]} {ours[other[0]]} for {real[other[0]]}" if other else "",
    ]
    return "; ".join(filter(None, reported))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=("draw", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--types", default="", help="comma-separated; all without it")
    parser.add_argument("--kinds", default="swapped,exported")
    given = parser.parse_args()
    types = [each for each in given.types.split(",") if each]
    if given.verb == "draw":
        draw(given.file, given.seed, set(given.kinds.split(",")), types)
    else:
        check(given.file, types)


if __name__ == "__main__":
    main()
