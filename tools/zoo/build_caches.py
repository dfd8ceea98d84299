"""The content of Transformers' caches: models on the meta device, a prompt, one more token, and the sum of the tensors.

    python -m zoo.build_caches                      # runs every configuration of the fixture again, and writes it
    python -m zoo.build_caches config.json 70       # one configuration after 70 tokens: layers, names, shapes, dtypes

No weight is made, so that models of any size run; mixtures of experts go through `batched_mm`, which needs no values. A
model that reads values while it runs is made with them, and should be small.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedConfig, initialization
from transformers.modeling_outputs import BaseModelOutputWithPooling
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from zoo import ROOT

FIXTURE = ROOT / "fixtures" / "caches_transformers.jsonl"
#: Classes that generate, the most specific first.
MAPPINGS = ("CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ")
#: The outputs that are passed back with the next token.
STATES = ("past_key_values", "cache", "cache_params", "state", "mems", "past_buckets_states")

#: Types that are given all tokens at each step, and skip those already seen.
WHOLE = frozenset({"cpmant"})


def class_of(config: PreTrainedConfig) -> type:
    """The class with which a configuration is run: the one it names, or an encoder-decoder if it declares one."""
    for name in config.architectures or ():
        if named := getattr(transformers, name, None):
            return named  # type: ignore[no-any-return]
    mappings = reversed(MAPPINGS) if config.is_encoder_decoder else MAPPINGS
    names = (getattr(modeling_auto, f"MODEL_FOR_{each}_MAPPING_NAMES").get(config.model_type) for each in mappings)
    name = next(name for name in names if name)
    found: type = getattr(transformers, name if isinstance(name, str) else name[0])
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


def filled(values: Mapping[str, Any], tokens: int, source: int | None) -> dict[str, torch.Tensor]:
    """The tensors of a cache after this many tokens, the last given alone; none if the model returns no cache."""
    try:
        return _filled(values, tokens, source, "meta")
    except (RuntimeError, NotImplementedError):
        return _filled(values, tokens, source, "cpu")


@torch.no_grad()
def _filled(values: Mapping[str, Any], tokens: int, source: int | None, device: str) -> dict[str, torch.Tensor]:
    config = CONFIG_MAPPING[values["model_type"]].from_dict(dict(values))
    dtype = getattr(torch, values.get("dtype", "bfloat16"))
    place = (torch.device("meta"), initialization.meta_device_safe_creation_ops()) if device == "meta" else ()
    with contextlib.ExitStack() as stack:
        for each in place:
            stack.enter_context(each)
        model = class_of(config)._from_config(config, dtype=dtype, attn_implementation="eager").eval()  # type: ignore[attr-defined]
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("batched_mm" if device == "meta" else "eager")
    ids = torch.ones((1, tokens), dtype=torch.long, device=device)
    word, given = "input_ids", {}
    if source:
        parts = (config, config.get_text_config())
        width = next(
            value for part in parts for name in ("hidden_size", "d_model") if (value := getattr(part, name, None))
        )
        states = torch.zeros((1, source, width), dtype=dtype, device=device)
        outputs = BaseModelOutputWithPooling(last_hidden_state=states, pooler_output=states)
        word, given = "decoder_input_ids", {"encoder_outputs": outputs}
    first = model(**{word: ids[:, :-1]}, **given, use_cache=True)
    state = next((name for name in STATES if first.get(name) is not None), None)
    if state is None:
        return _given(model, word, ids[:, :-1], given)
    last = ids if model.config.model_type in WHOLE else ids[:, -1:]
    second = model(**{word: last}, **given, **{state: first.get(state)}, use_cache=True)
    return dict(tensors(second.get(state)))


def _given(model: Any, word: str, ids: torch.Tensor, given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The cache that `generate` gives every class that can have one, after all tokens but the last, which it holds too."""
    if not model._supports_default_dynamic_cache():
        return {}
    cache = transformers.DynamicCache(config=model.config)
    model(**{word: torch.cat((ids, ids[:, :1]), 1)}, **given, past_key_values=cache, use_cache=True)
    return dict(tensors(cache))


def total(found: Mapping[str, torch.Tensor]) -> int:
    """Bytes; a tensor that occurs under two names counts once."""
    return sum(each.numel() * each.element_size() for each in {id(each): each for each in found.values()}.values())


def main() -> None:
    """Write the fixture again, or show one cache."""
    if len(sys.argv) > 2:
        for path, each in filled(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2]), None).items():
            print(path, list(each.shape), each.dtype)
        return
    lines = []
    for line in FIXTURE.read_text().splitlines():
        case = json.loads(line)
        case["bytes"] = total(filled(case["config"], case["context"], case["source"]))
        lines.append(json.dumps(case, separators=(",", ":")) + "\n")
    FIXTURE.write_text("".join(lines))


if __name__ == "__main__":
    main()
