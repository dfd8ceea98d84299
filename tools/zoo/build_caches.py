"""The content of Transformers' caches: models run with a prompt and one more token, and the sum of the tensors they keep.

    python -m zoo.build_caches                      # runs every configuration of the fixture again, and writes it
    python -m zoo.build_caches config.json 70       # one configuration after 70 tokens: layers, names, shapes, dtypes
    python -m zoo.build_caches --seed 7 --out held.jsonl [--types a,b] [--timeout 40]

The last draws configurations of every type with a class that generates: a line is a configuration, the number of tokens
in its cache (of an encoder's input too), and the sum of the cache's tensors in bytes; or the reason why the model did not
run. Models run on the meta device, where no weight is made and any size runs, or with values if that fails.
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
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from zoo import ROOT
from zoo.build_configurations import Overrides, construct, nested_configs
from zoo.build_models import on_meta
from zoo.build_templates import template_for
from zoo.build_values import Perturber

FIXTURE = ROOT / "fixtures" / "caches_transformers.jsonl"
#: The outputs that are passed back with the next token.
STATES = ("past_key_values", "cache", "cache_params", "state", "mems", "past_buckets_states")
#: Types that are given all tokens at each step, and skip those already seen.
WHOLE = frozenset({"cpmant"})
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


def class_of(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """The class with which a configuration is run: the one it names, or an encoder-decoder if it declares one."""
    for name in config.architectures or ():
        if named := getattr(transformers, name, None):
            return named  # type: ignore[no-any-return]
    mappings = FIRST[2::-1] if config.is_encoder_decoder else FIRST[:3]
    names = (getattr(modeling_auto, f"MODEL_FOR_{each}_MAPPING_NAMES").get(config.model_type) for each in mappings)
    name = next(name for name in names if name)
    found: type[PreTrainedModel] = getattr(transformers, name if isinstance(name, str) else name[0])
    return found


def tensors(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in a cache, with its place."""
    if isinstance(value, torch.Tensor):
        if value.dim() > 1:
            yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from tensors(inner, f"{path}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from tensors(inner, f"{path}.{number}", depth + 1)
    elif hasattr(value, "__dict__") and depth < 6 and not isinstance(value, (PreTrainedConfig, torch.nn.Module, type)):
        yield from tensors(vars(value), path, depth + 1)


def total(found: Mapping[str, torch.Tensor]) -> int:
    """Bytes; a tensor that occurs under two names counts once."""
    return sum(each.numel() * each.element_size() for each in {id(each): each for each in found.values()}.values())


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


def made(cls: type[PreTrainedModel], config: PreTrainedConfig, device: str, dtype: str = "bfloat16") -> PreTrainedModel:
    """The model of a configuration, with values or on the meta device."""
    with on_meta() if device == "meta" else contextlib.nullcontext():
        model = cls._from_config(config, dtype=getattr(torch, dtype), attn_implementation="eager").eval()
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
    model: PreTrainedModel, tokens: int, source: int | None, device: str
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
        last = tokens if config.model_type in WHOLE else 1
        return [torch.ones(shape(number), dtype=torch.long, device=device) for number in (tokens - 1, last)]

    def encoded(width: int) -> dict[str, Any]:
        states = torch.zeros((1, source, width), dtype=model.dtype, device=device)
        outputs = BaseModelOutputWithPooling(last_hidden_state=states, pooler_output=states)
        outputs.attention_mask = None  # speech encoders' outputs have one
        return {"encoder_outputs": outputs}

    if source is None or not config.is_encoder_decoder:
        for shape in shapes:
            yield "input_ids", ids(shape), {}, None
    for width in widths(config) if source is not None else ():
        for shape in shapes:
            yield "decoder_input_ids", ids(shape), encoded(width), source


@torch.no_grad()
def filled(
    model: PreTrainedModel, tokens: int, source: int | None, device: str, *, known: bool = False
) -> tuple[dict[str, torch.Tensor], int | None]:
    """The tensors of a cache after this many tokens, the last of them given alone, and the encoder's tokens.

    Args:
        known: it runs, and with tokens in one row.

    Raises RuntimeError, with the error of the first way to run it.
    """
    stated = ""
    ways = attempts(model, tokens, source, device)
    for word, (prompt, last), given, length in islice(ways, 1) if known else ways:
        try:
            first = model(**{word: prompt}, **given, use_cache=True)
            state = next((name for name in STATES if first.get(name) is not None), None)
            if state is None and known:
                return _given(model, word, prompt, given), length
            if state is None:
                raise RuntimeError("it gives back no cache")
            second = model(**{word: last}, **given, **{state: first.get(state)}, use_cache=True)
            return dict(tensors(second.get(state))), length
        except Exception as error:
            stated = stated or f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
    raise RuntimeError(stated)


def _given(model: PreTrainedModel, word: str, ids: torch.Tensor, given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The cache that `generate` gives every class that can have one, after all tokens but the last, which it holds too."""
    if not model._supports_default_dynamic_cache():
        return {}
    cache = transformers.DynamicCache(config=model.config)
    model(**{word: torch.cat((ids, ids[:, :1]), 1)}, **given, past_key_values=cache, use_cache=True)
    return dict(tensors(cache))


def ran(
    cls: type[PreTrainedModel],
    config: PreTrainedConfig,
    tokens: int,
    source: int | None,
    dtype: str = "bfloat16",
    *,
    known: bool = False,
) -> dict[str, Any]:
    """The content of a configuration's cache, or why it is unknown. One that is `known` to run may be of any size."""
    stated, small = "", True
    for device in ("meta", "cpu"):
        if device == "cpu" and not small:
            break
        try:
            model = made(cls, config, device, dtype)
            small = known or parameters(model) < MOST_PARAMETERS
            found, length = filled(model, tokens, source, device, known=known)
        except Exception as error:
            stated = f"{stated} | {device}: {type(error).__name__}: {error}"[:500]
            continue
        shapes = {path: [list(each.shape), str(each.dtype).split(".")[1]] for path, each in found.items()}
        return {"source": length, "bytes": total(found), "device": device, "tensors": shapes}
    return {"failed": stated}


def again(values: Mapping[str, Any], tokens: int, source: int | None) -> dict[str, Any]:
    """The same of a config.json: run as text, or in any other way."""
    dtype = values.get("dtype", "bfloat16")
    try:
        config = CONFIG_MAPPING[values["model_type"]].from_dict(dict(values))
        found = ran(class_of(config), config, tokens, source, dtype, known=True)
        return ran(class_of(config), config, tokens, source, dtype) if "failed" in found else found
    except Exception as error:  # a field that this release refuses
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


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


def draw_all(types: Sequence[str], seed: int, out: Path, timeout: float) -> None:
    """Configurations of these types, each type in a process of its own."""
    for model_type in types:
        given = (model_type, seed, out, timeout / 3)
        process = multiprocessing.get_context("fork").Process(target=worker, args=given)
        process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            with out.open("a") as stream:
                stream.write(json.dumps({"model_type": model_type, "failed": "out of time"}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="0 for the default configurations alone")
    parser.add_argument("--out", type=Path, help="draw configurations, and write them here")
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    parser.add_argument("--timeout", type=float, default=40.0, help="seconds a type")
    parser.add_argument("config", nargs="?", type=Path, help="the configuration to run once")
    parser.add_argument("tokens", nargs="?", type=int)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    if arguments.out:
        types = [each for each in arguments.types.split(",") if each] or list(generating())
        draw_all(types, arguments.seed, arguments.out, arguments.timeout)
    elif arguments.config:
        found = again(json.loads(arguments.config.read_text()), arguments.tokens, None)
        print(*(f"{path} {shape} {dtype}" for path, (shape, dtype) in found["tensors"].items()), sep="\n")
    else:
        cases = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
        for case in cases:
            found = again(case["config"], case["context"], case["source"])
            if "bytes" not in found:
                print(case["config"]["model_type"], found["failed"])
            case["bytes"] = found.get("bytes", case["bytes"])
        FIXTURE.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases))


if __name__ == "__main__":
    main()
