"""Caches of held-out configurations: every type with a class that generates, random values, run.

    python -m zoo.build_held_caches --seed 7 --out held.jsonl [--types a,b] [--timeout 40]

A line is a configuration, the number of tokens in its cache (of an encoder's input too), and the sum of the cache's
tensors in bytes; or the reason why the model did not run. Models run on the meta device, or with values if that fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import multiprocessing
import os
import random
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling
from transformers.models.auto import modeling_auto

from zoo.build_caches import STATES, tensors, total
from zoo.build_configurations import Overrides, construct, nested_configs
from zoo.build_models import on_meta
from zoo.build_templates import template_for
from zoo.build_values import Perturber

#: Of a worker's memory, in bytes.
MEMORY_LIMIT = 6 << 30
#: Larger models run on the meta device alone.
MOST_PARAMETERS = 2 * 10**8
#: Mappings of classes, the most specific first.
FIRST = ("CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ", "IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM")


def generating() -> dict[str, list[type[PreTrainedModel]]]:
    """Model type → its classes that generate, the most specific first."""
    found: dict[str, list[type[PreTrainedModel]]] = {}
    others = sorted(name for name in dir(modeling_auto) if name.endswith("_MAPPING_NAMES"))
    for mapping in [*(f"MODEL_FOR_{each}_MAPPING_NAMES" for each in FIRST), *others]:
        for model_type, names in getattr(modeling_auto, mapping, {}).items():
            for name in (names,) if isinstance(names, str) else names:
                with contextlib.suppress(Exception):
                    cls = getattr(transformers, name)
                    if cls.can_generate() and cls not in found.setdefault(model_type, []):
                        found[model_type].append(cls)
    return {model_type: classes for model_type, classes in found.items() if classes}


class Runner(Perturber):
    """Draws configurations that not only build, but also run."""

    device: str | None = None  # where the default configuration runs; None if unknown

    def builds(self, overrides: Overrides) -> PreTrainedModel | None:
        """The model of these overrides, or None when it is refused or does not run."""
        model = super().builds(overrides)
        if model is None or (self.device is None and parameters(model) >= MOST_PARAMETERS):
            return model
        device = self.device or "cpu"
        try:
            filled(model if device == "meta" else made(self.cls, model.config, device), 5, 6, device)
        except RuntimeError:
            return None
        return model


def parameters(model: PreTrainedModel) -> int:
    """How many numbers its parameters have."""
    return sum(each.numel() for each in model.parameters())


def made(cls: type[PreTrainedModel], config: PreTrainedConfig, device: str) -> PreTrainedModel:
    """The model of a configuration, with values or on the meta device."""
    with on_meta() if device == "meta" else contextlib.nullcontext():
        model = cls._from_config(config, dtype=torch.bfloat16, attn_implementation="eager").eval()
    if device == "meta" and hasattr(model, "set_experts_implementation"):
        with contextlib.suppress(Exception):
            model.set_experts_implementation("batched_mm")  # the only one that needs no values
    return model


def drawn(
    cls: type[PreTrainedModel], template: PreTrainedConfig, seed: int, deadline: float, device: str | None
) -> Iterator[Overrides]:
    """Two sets of random values; in the second half of the flags and layer patterns are changed, too."""
    perturber = Runner(cls, template, deadline, seed)
    perturber.device = device
    with contextlib.suppress(TimeoutError):
        yield perturber.numbered(0)
        overrides = perturber.numbered(1)
        changes = [*perturber.patterns(overrides, 1), *perturber.booleans(overrides)]
        changes = [each for each in changes if each[0][-1] not in ("is_encoder_decoder", "use_cache")]
        assert perturber.draw
        yield perturber.grow(overrides, perturber.draw.sample(changes, len(changes) // 2))


def widths(config: PreTrainedConfig) -> Iterator[int]:
    """Widths that an encoder's outputs may have."""
    seen = set()
    for part in (getattr(config, "encoder", None), config, *nested_configs(config).values()):
        for name in ("hidden_size", "d_model", "encoder_hidden_size", "dim"):
            value = getattr(part, name, None)
            if isinstance(value, int) and value not in seen:
                seen.add(value)
                yield value


def attempts(
    model: PreTrainedModel, tokens: int, source: int, device: str
) -> Iterator[tuple[str, Any, Any, int | None]]:
    """Ways to run it: the name of the tokens' argument, those of the prompt and the last one, and other arguments."""
    config = model.config
    books = [
        value
        for part in (config, *nested_configs(config).values())
        for name in ("num_codebooks", "num_channels")
        if isinstance(value := getattr(part, name, None), int)
    ]
    shapes: list[Any] = [lambda number: (1, number)]
    shapes += [lambda number, n=n: (n, number) for n in books] + [lambda number, n=n: (1, number, n) for n in books]

    def ids(shape: Any) -> list[torch.Tensor]:
        return [torch.ones(shape(number), dtype=torch.long, device=device) for number in (tokens - 1, 1)]

    def encoded(width: int) -> dict[str, Any]:
        states = torch.zeros((1, source, width), dtype=model.dtype, device=device)
        outputs = BaseModelOutputWithPooling(last_hidden_state=states, pooler_output=states)
        outputs.attention_mask = None  # speech encoders' outputs have one
        return {"encoder_outputs": outputs}

    if not config.is_encoder_decoder:
        for shape in shapes:
            yield "input_ids", ids(shape), {}, None
    for width in widths(config):
        for shape in shapes:
            yield "decoder_input_ids", ids(shape), encoded(width), source


@torch.no_grad()
def filled(model: PreTrainedModel, tokens: int, source: int, device: str) -> tuple[dict[str, torch.Tensor], int | None]:
    """The tensors of a cache after this many tokens, the last of them given alone, and the encoder's tokens.

    Raises RuntimeError, with the error of the first way to run it.
    """
    stated = ""
    for word, (prompt, last), given, length in attempts(model, tokens, source, device):
        try:
            first = model(**{word: prompt}, **given, use_cache=True)
            state = next((name for name in STATES if first.get(name) is not None), None)
            if state is None:
                raise RuntimeError("it gives back no cache")
            second = model(**{word: last}, **given, **{state: first.get(state)}, use_cache=True)
            return dict(tensors(second.get(state))), length
        except Exception as error:
            stated = stated or f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
    raise RuntimeError(stated)


def ran(cls: type[PreTrainedModel], config: PreTrainedConfig, tokens: int, source: int) -> dict[str, Any]:
    """The content of a configuration's cache, or why it is unknown."""
    stated, small = "", True
    for device in ("meta", "cpu"):
        if device == "cpu" and not small:
            break
        try:
            model = made(cls, config, device)
            small = parameters(model) < MOST_PARAMETERS
            found, length = filled(model, tokens, source, device)
        except Exception as error:
            stated = f"{stated} | {device}: {type(error).__name__}: {error}"[:500]
            continue
        shapes = {path: [list(each.shape), str(each.dtype).split(".")[1]] for path, each in found.items()}
        return {"source": length, "bytes": total(found), "device": device, "tensors": shapes}
    return {"failed": stated}


def as_published(config: PreTrainedConfig, cls: type[PreTrainedModel]) -> dict[str, Any]:
    """The config.json that `save_pretrained` writes."""
    values: dict[str, Any] = json.loads(config.to_json_string(use_diff=True))
    values.pop("transformers_version", None)
    return {**values, "architectures": [cls.__name__], "dtype": "bfloat16"}


def worker(model_type: str, seed: int, out: Path, budget: float) -> None:
    """One type, in a process of its own."""
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    draw = random.Random(f"{seed} {model_type}")
    configs: dict[type, list[PreTrainedConfig]] = {}
    for cls in generating()[model_type]:
        reported: dict[str, Any] = {"model_type": model_type, "class": cls.__name__}

        def write(case: dict[str, Any], reported: dict[str, Any] = reported) -> None:
            with out.open("a") as stream:
                stream.write(json.dumps({**reported, **case}, separators=(",", ":")) + "\n")

        def tried(config: PreTrainedConfig, cls: type[PreTrainedModel] = cls, write: Any = write) -> dict[str, Any]:
            tokens, source = draw.choice((37, 70, 131, 300)), draw.choice((24, 50))
            answer = ran(cls, config, tokens, source)
            write({"config": as_published(config, cls), "context": tokens, **answer})
            return answer

        try:
            if cls.config_class in configs:
                for config in configs[cls.config_class][1:2]:
                    tried(config)
                continue
            template, _ = template_for(model_type, cls)
            if getattr(template, "is_decoder", None) is False and not template.is_encoder_decoder:
                template = construct(template, {("is_decoder",): True})  # BERT and its relatives keep nothing otherwise
            seen = configs.setdefault(cls.config_class, [template])
            device = tried(template).get("device")
            for overrides in drawn(cls, template, seed, time.process_time() + budget, device) if seed else ():
                seen.append(construct(template, overrides))
                tried(seen[-1])
        except BaseException as error:
            write({"failed": f"{type(error).__name__}: {error}"[:500]})
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="0 for the default configurations alone")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    parser.add_argument("--timeout", type=float, default=40.0, help="seconds a type")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    types = [each for each in arguments.types.split(",") if each] or list(generating())
    for model_type in types:
        given = (model_type, arguments.seed, arguments.out, arguments.timeout / 3)
        process = multiprocessing.get_context("fork").Process(target=worker, args=given)
        process.start()
        process.join(arguments.timeout)
        if process.is_alive():
            process.kill()
            with arguments.out.open("a") as stream:
                stream.write(json.dumps({"model_type": model_type, "failed": "out of time"}) + "\n")


if __name__ == "__main__":
    main()
