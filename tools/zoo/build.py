"""Build ground truth about checkpoints: the tensors `save_pretrained` writes, per configuration.

For every model type `transformers` defines, the classes of its auto mappings are built on the
meta device from several configurations, and the name, shape, dtype and kind of each tensor that
`save_pretrained` would write is stored next to the config.json it would write. No weight is ever
allocated, so configurations of any size are cheap.

Variants of one model type (see `perturb` and `changes`):

  default      the default configuration of the type
  p1, p2, p3   few layers, and a value of its own for each integer field, so that a dimension can
               be traced to an expression in the fields; p2 also flips `tie_word_embeddings` and
               changes layer patterns, p3 flips every boolean that still builds
  b_<field>    p1 with one boolean flipped
  i_<field>    p1 with one integer changed (`.v<value>`, `.none` for further values)
  f_, s_, l_, d_<field>   the same for floats, strings, lists and integers inside plain dicts

The single-field variants are written only when they change a name, a shape or a dtype against p1.

Usage:
  build.py [--out DIR] [--jobs N] [--timeout S] [--types a,b] [--stage causal,i2t,rest]
  build.py --seed N --out OTHER   other values and random flags instead: h1, h2 in the place of the above
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import logging
import multiprocessing
import os
import re
import resource
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from zoo.build_configurations import Overrides, attribute_maps, construct
from zoo.build_models import auto_classes, build_model, exported_classes, resolve_class, saved_tensors
from zoo.build_templates import template_for
from zoo.build_values import Perturber, single_field_variants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Seconds that a second of work may take, where others work on the same machine.
_PATIENCE = 10
#: The list of the types that are done, in their records' folder, with the seconds that each took.
DONE = "done.tsv"
MEMORY_LIMIT = 10 << 30  # of a worker; a few models make real tensors even on the meta device


def build_type(
    model_type: str,
    out: Path,
    budget: float,
    fail: Callable[[str, str, str], None],
    seed: int = 0,
    *,
    defaults: bool = False,
) -> None:
    """All records of one model type."""
    deadline = time.process_time() + budget
    classes = auto_classes(model_type) or exported_classes(model_type)
    if not classes:
        fail("-", "-", "no class has this type (part of another model)")
        return
    ready: list[tuple[str, str, bool, type[PreTrainedModel], PreTrainedConfig, str]] = []
    for name, (auto, full) in classes.items():
        try:
            cls = resolve_class(name, model_type)
            template, note = template_for(model_type, cls)
            if template.model_type != model_type and auto_classes(template.model_type):
                continue  # the type of the text configuration has records of its own
            if not seed:
                record(out, model_type, auto, "default", build_model(cls, template), note)
            ready.append((name, auto, full, cls, template, note))
        except Exception as error:
            fail(name, "default", f"{type(error).__name__}: {error}")
            with contextlib.suppress(Exception):
                cls = resolve_class(name, model_type)
                template, note = template_for(model_type, cls)
                ready.append((name, auto, full, cls, template, note))
    if not ready or defaults:
        return

    def recorded(variant: str, entry: Any, overrides: Overrides) -> None:
        name, auto, _, cls, template, note = entry
        try:
            model = build_model(cls, construct(template, overrides))
            record(out, model_type, auto, variant, model, note, overrides)
        except Exception as error:
            fail(name, variant, f"{type(error).__name__}: {error}")

    # One set of values for the classes that share a template; single fields for the first class.
    probes: dict[type, tuple[Perturber, dict[str, Overrides]]] = {}
    for entry in ready:
        name, auto, full, cls, template, note = entry
        kind = type(template)
        if kind not in probes:
            share = time.process_time() + max(5.0, (deadline - time.process_time()) * 0.6)
            perturber = Perturber(cls, template, share, seed)
            probes[kind] = (perturber, perturber.variants())
            if not probes[kind][1]:
                fail(name, "p1", "no perturbed configuration builds")
        for variant, overrides in probes[kind][1].items():
            if full or variant in ("p1", "h1"):
                recorded(variant, entry, overrides)
    heads = [entry for entry in ready if entry[1] in ("CausalLM", "ImageTextToText")][:2]
    for entry in heads or ready[:1]:
        name, auto, _, cls, template, note = entry
        base = probes[type(template)][1].get("p1")
        if base is None:
            continue
        perturber = Perturber(cls, template, deadline)
        try:
            for variant, change, model, overrides in single_field_variants(perturber, base):
                try:
                    record(out, model_type, auto, variant, model, change, overrides)
                except Exception as error:
                    fail(name, variant, f"{type(error).__name__}: {error}")
        except TimeoutError:
            fail(name, "single", "time budget used up, single-field variants incomplete")


def record(
    out: Path,
    model_type: str,
    auto: str,
    variant: str,
    model: PreTrainedModel,
    note: str,
    overrides: Overrides | None = None,
) -> None:
    """Write one truth file."""
    raw = content(model_type, auto, variant, model, note, overrides)
    safe = re.sub(r"[^\w.\-]+", "_", variant)[:120]
    target = out / f"{model_type}__{type(model).__name__}__{safe}.json.gz"
    partial = target.with_suffix(f".{os.getpid()}.tmp")
    with gzip.open(partial, "wt", compresslevel=4) as stream:
        stream.write(json.dumps(raw))  # a fourth of the time of `dump`
    partial.replace(target)


def content(
    model_type: str, auto: str, variant: str, model: PreTrainedModel, note: str, overrides: Overrides | None = None
) -> dict[str, Any]:
    """What a truth file holds."""
    tensors, used, saving_note = saved_tensors(model)
    return {
        "model_type": model_type,
        "class": type(model).__name__,
        "auto": auto,
        "variant": variant,
        "base_model_prefix": model.base_model_prefix,
        "config": as_json(model.config, True),
        "config_full": as_json(model.config, False),
        "attribute_map": attribute_maps(model.config),
        "overrides": {".".join(path): value for path, value in (overrides or {}).items()},
        "tensors": tensors,
        "uses": used,
        "note": "; ".join(part for part in (note, saving_note) if part),
    }


def as_json(config: PreTrainedConfig, use_diff: bool) -> dict[str, Any]:
    return json.loads(config.to_json_string(use_diff=use_diff))


def worker(model_type: str, out: Path, budget: float, failures: Path, seed: int, defaults: bool) -> None:
    """One type in a process of its own."""
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)

    def fail(name: str, variant: str, reason: str) -> None:
        reason = " ".join(reason.split())[:300]
        with failures.open("a") as stream:
            stream.write(f"{model_type}\t{name}\t{variant}\t{reason}\n")

    started = time.monotonic()
    try:
        build_type(model_type, out, budget, fail, seed, defaults=defaults)
    except BaseException as error:
        fail("-", "-", f"{type(error).__name__}: {error} | {traceback.format_exc()[-200:]}")
    with (out / DONE).open("a") as stream:
        stream.write(f"{model_type}\t{time.monotonic() - started:.1f}\n")
    os._exit(0)


def ordered_types(stages: list[str]) -> list[str]:
    causal = list(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    images = list(modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)
    images += list(getattr(modeling_auto, "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES", {}))
    seen = {*causal, *images}
    rest = [t for t in CONFIG_MAPPING_NAMES if t not in seen]
    rest.sort(key=lambda t: not auto_classes(t))
    stage = {"causal": causal, "i2t": [t for t in images if t not in causal], "rest": rest}
    return list(dict.fromkeys(t for name in stages for t in stage[name]))


def _ready() -> None:
    """Import, before processes are forked, what nearly every model needs: each would do so for half a second."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    saved_tensors(build_model(LlamaForCausalLM, LlamaConfig(num_hidden_layers=1)))


def run(types: list[str], out: Path, jobs: int, timeout: float, seed: int = 0, *, defaults: bool = False) -> None:
    """Build the types, several at a time, each with a limit on its work, and a hard one of many times that."""
    failures = out.parent / "failures.tsv"
    late = parallel(worker, {t: (t, out, timeout * 0.7, failures, seed, defaults) for t in types}, jobs, timeout)
    for model_type in late:
        with failures.open("a") as stream:
            stream.write(f"{model_type}\t-\t-\tkilled after {_PATIENCE * timeout:.0f} s\n")


def parallel(
    target: Callable[..., None], jobs: Mapping[str, tuple[Any, ...]], workers: int, timeout: float
) -> list[str]:
    """Run each job in a process of its own, some at a time; the names of those killed after many times `timeout`."""
    _ready()
    context = multiprocessing.get_context("fork")
    waiting = [*jobs][::-1]
    active: dict[str, tuple[Any, float]] = {}
    late = []
    while waiting or active:
        while waiting and len(active) < workers:
            name = waiting.pop()
            process = context.Process(target=target, args=jobs[name], daemon=True)
            process.start()
            active[name] = (process, time.monotonic())
        for name, (process, started) in list(active.items()):
            if process.is_alive() and time.monotonic() - started > _PATIENCE * timeout:
                process.kill()
                process.join()
                late.append(name)
            if not process.is_alive():
                process.join()
                del active[name]
        time.sleep(0.02)
    return late


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("truth"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds of work for a model type")
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    parser.add_argument("--stage", default="causal,i2t,rest")
    parser.add_argument("--seed", type=int, default=0, help="other values and random flags: configurations to hold out")
    parser.add_argument("--defaults", action="store_true", help="only the default configurations")
    parser.add_argument("--resume", action="store_true", help="leave out the types already done")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    arguments.out.mkdir(parents=True, exist_ok=True)
    types = [t for t in arguments.types.split(",") if t]
    types = types or ordered_types(arguments.stage.split(","))
    if arguments.resume and (arguments.out / DONE).exists():
        lines = (arguments.out / DONE).read_text().splitlines()
        done = {line.split("\t")[0] for line in lines}
        types = [t for t in types if t not in done]
    started = time.monotonic()
    run(types, arguments.out, arguments.jobs, arguments.timeout, arguments.seed, defaults=arguments.defaults)
    print(f"{len(types)} types in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
