"""Trace records' shapes: each tensor's dimensions as the expressions that the model's own code computes them by.

    python -m zoo.trace --truth DIR [--types a,b] [--variants default,p1,p2,p3] [--jobs N]

Each record's model is built once more, its configuration's numbers replaced by `traced.Int`. What arrives at
`torch.empty` is kept with the tensor and follows it through views, parts and joins; where it gets lost, the dimension
is left out, and the search explains it. Written to DIR/../traces, a file a record:

    {"shapes": {name: ["num_attention_heads * head_dim", "hidden_size"]}, "ranges": ["num_hidden_layers"],
     "derived": {"head_dim": "hidden_size // num_attention_heads"}}
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import gzip
import json
import math
import multiprocessing
import os
import resource
import sys
import types
import warnings
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from transformers import CONFIG_MAPPING, PreTrainedConfig
from transformers.core_model_loading import revert_weight_conversion
from transformers.modeling_utils import remove_tied_weights_from_state_dict

from zoo import records
from zoo.build import MEMORY_LIMIT
from zoo.build_configurations import Overrides, Path_, construct, is_int, nested_configs, own_differences
from zoo.build_models import Part, on_meta, resolve_class
from zoo.build_templates import CONSTRUCTOR_ARGUMENTS, REPAIRS, template_for
from zoo.records import Record
from zoo.trace_numbers import Float, Int, List, Recorder, Tree, Tuple, operation, text, total, traced, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Trees = tuple[Tree, ...]

#: Larger models are left out: a small one shows the same.
MOST_TENSORS = 1200


# --- configurations ---------------------------------------------------------------------------


def instrumented(config: PreTrainedConfig, scope: str = "") -> None:
    """Replace a configuration's numbers by traced ones, in nested ones too."""
    vars(config)["_scope"] = scope
    for name, value in list(vars(config).items()):
        path = f"{scope}{name}"
        if isinstance(value, PreTrainedConfig):
            instrumented(value, f"{path}.")
        elif not name.startswith("_") and not records.IRRELEVANT.search(path):
            vars(config)[name] = numbered(value, path)


def numbered(value: Any, path: str) -> Any:
    """A value with traced numbers in it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Int(value, path)
    if isinstance(value, float):
        return Float(value, ("float", path))
    if isinstance(value, (list, tuple)):
        items = [numbered(item, f"{path}[{at}]") for at, item in enumerate(value)]
        made = List(items) if isinstance(value, list) else Tuple(items)
        made.path = path
        return made
    if type(value) is dict and all(isinstance(k, str) and k.isidentifier() for k in value):
        return {key: numbered(item, f"{path}.{key}") for key, item in value.items()}
    return value


def derived_fields(template: PreTrainedConfig, overrides: Overrides) -> dict[str, str]:
    """Fields that the configuration class computes from others if they are not given."""
    found: dict[str, str] = {}

    def make(node: PreTrainedConfig, prefix: Path_) -> PreTrainedConfig:
        scope = "".join(f"{word}." for word in prefix)
        declared = dataclasses.fields(node) if dataclasses.is_dataclass(node) else ()
        arguments = {f.name: f.default for f in declared if is_int(f.default) and f.init}
        arguments |= own_differences(node)
        arguments |= {path[-1]: value for path, value in overrides.items() if path[:-1] == prefix}
        arguments = {
            name: numbered(value, f"{scope}{name}") if not records.IRRELEVANT.search(name) else value
            for name, value in arguments.items()
        }
        for name, child in nested_configs(node).items():
            arguments[name] = make(child, (*prefix, name))
        made = type(node)(**copy.deepcopy(arguments))
        for name, value in vars(made).items():
            tree = tree_of(value)
            if isinstance(value, Int) and text(tree) != f"{scope}{name}" and arguments.get(name) is None:
                found[f"{scope}{name}"] = text(tree)
        return made

    make(template, ())
    return found


#: Fields that models read if a configuration has them, and otherwise compute themselves.
OPTIONAL = {"head_dim": ("hidden_size // num_attention_heads", "n_embd // n_head", "d_model // n_heads")}


def with_optional(config: PreTrainedConfig, missed: set[tuple[str, str]]) -> dict[str, str]:
    """Give a configuration the fields that the model looked for in vain, with the values that they have by default."""
    found: dict[str, str] = {}
    for scope, name in missed:
        node = config
        for word in scope.split(".")[:-1]:
            node = getattr(node, word)
        for rule in OPTIONAL.get(name, ()):
            size, heads = (vars(node).get(field) for field in rule.split(" // "))
            if size and heads:
                vars(node)[name] = Int(size // heads, f"{scope}{name}")
                found[f"{scope}{name}"] = " // ".join(scope + field for field in rule.split(" // "))
                break
    return found


# --- tensors ----------------------------------------------------------------------------------

#: Functions whose arguments are a size.
SIZED = {"empty", "zeros", "ones", "rand", "randn", "full", "new_empty", "new_zeros", "new_ones", "new_full"}


def trees_of(tensor: Any) -> Trees:
    """The known trees of a tensor's dimensions; plain numbers where there are none."""
    known = getattr(tensor, "_trees", None)
    return known if known is not None and len(known) == tensor.dim() else tuple(tensor.size())


class Tracing(TorchFunctionMode):
    """Sees every function of torch with its arguments, and keeps the trees of the results' sizes."""

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        with contextlib.suppress(Exception), torch._C.DisableTorchFunction():
            if isinstance(result, torch.Tensor):
                keep(result, name, args, kwargs)
            elif name == "size" or (name == "__get__" and isinstance(result, torch.Size)):
                return size_of(result, args)
            elif isinstance(result, (tuple, list)):
                for part in result:
                    if isinstance(part, torch.Tensor):
                        keep(part, name, args, kwargs)
        return result


def size_of(result: Any, args: Any) -> Any:
    """A tensor's size as traced numbers."""
    trees = trees_of(args[0])
    if isinstance(result, int):
        tree = trees[args[1]]
        return result if isinstance(tree, int) else Int(result, tree)
    return torch.Size(n if isinstance(t, int) else Int(n, t) for n, t in zip(result, trees, strict=True))


def keep(result: torch.Tensor, name: str, args: Any, kwargs: Any) -> None:
    """Remember a result's sizes."""
    if getattr(result, "_trees", None) is None:
        result._trees = guessed(result, name, args, kwargs)  # type: ignore[attr-defined]


def guessed(result: torch.Tensor, name: str, args: Any, kwargs: Any) -> Trees:
    """The trees of a result's sizes, derived from the arguments of its function."""
    shape = tuple(result.size())
    reported = told_sizes(name, args, kwargs)
    if (
        len(reported) == len(shape)
        and all(n in (-1, m) for n, m in zip(reported, shape, strict=True))
        and -1 not in reported
    ):
        return tuple(_plain_or_tree(n) for n in reported)
    inputs = list(tensors_in(args)) + list(tensors_in(tuple(kwargs.values())))
    numbers = {int(n): n.tree for n in numbers_in((args, kwargs)) if isinstance(n, Int)}
    if name == "arange" and len(shape) == 1 and isinstance(args[0], Int):
        return (args[0].tree,)
    if name in ("cat", "concat", "stack") and inputs:
        return joined(shape, name, inputs)
    if name in ("repeat", "tile", "repeat_interleave", "expand"):
        numbers = {}
    known = [trees_of(each) for each in inputs]
    sizes = [tuple(each.size()) for each in inputs]
    trees: list[Tree] = []
    for at, number in enumerate(shape):
        if number in numbers and number > 1:
            trees.append(numbers[number])
            continue
        same = [t[at] for t, s in zip(known, sizes, strict=True) if len(s) == len(shape) and s[at] == number]
        else_ = [t[k] for t, s in zip(known, sizes, strict=True) for k, n in enumerate(s) if n == number]
        trees.append(next((t for t in (*same, *else_) if not isinstance(t, int)), number))
    if inputs and name not in SIZED:
        parted(trees, shape, known[0], sizes[0])
    return tuple(trees)


def told_sizes(name: str, args: Any, kwargs: Any) -> tuple[int, ...]:
    """The sizes in a function's arguments, in their order; none for other functions."""
    if name not in SIZED | {"view", "reshape"}:
        return ()
    after = 1 if name.startswith("new_") or name in ("view", "reshape") else 0
    wanted = kwargs.get("size", args[after:])
    if len(wanted) and isinstance(wanted[0], (tuple, list)):
        wanted = wanted[0]
    return tuple(n for n in wanted if isinstance(n, int))


def _plain_or_tree(number: int) -> Tree:
    tree = tree_of(number)
    return int(tree) if isinstance(tree, bool) else tree


def parted(trees: list[Tree], shape: Sequence[int], known: Trees, sizes: Sequence[int]) -> None:
    """Sizes that are a part of one input dimension, or several input dimensions in one."""
    for at, number in enumerate(shape):
        if not isinstance(trees[at], int) or number < 2:
            continue
        if len(shape) == len(sizes) and sizes[at] != number and not sizes[at] % number:
            trees[at] = operation("//", known[at], sizes[at] // number)
        for start in range(len(sizes)):
            for end in range(start + 2, len(sizes) + 1):
                if math.prod(sizes[start:end]) == number and isinstance(trees[at], int):
                    for tree in known[start:end]:
                        trees[at] = tree if tree is known[start] else operation("*", trees[at], tree)


def joined(shape: Sequence[int], name: str, inputs: Sequence[torch.Tensor]) -> Trees:
    """The size of tensors that are joined."""
    known, sizes = [trees_of(each) for each in inputs], [tuple(each.size()) for each in inputs]
    if name == "stack":
        at = next((k for k, n in enumerate(shape) if n == len(inputs) and _without(shape, k) == sizes[0]), 0)
        return (*known[0][:at], len(inputs), *known[0][at:])
    axis = next((k for k, n in enumerate(shape) if n == sum(s[k] for s in sizes) and n != sizes[0][k]), 0)
    return tuple(total(t[k] for t in known) if k == axis else known[0][k] for k in range(len(shape)))


def _without(items: Sequence[int], at: int) -> tuple[int, ...]:
    return (*items[:at], *items[at + 1 :])


def tensors_in(values: Any) -> Iterator[torch.Tensor]:
    """The tensors among some arguments."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)


def numbers_in(value: Any) -> Iterator[int]:
    """The numbers among some arguments."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, dict):
        yield from numbers_in(tuple(value.values()))


@contextlib.contextmanager
def parameters_keep_trees() -> Iterator[None]:
    """A parameter is made from a tensor by a function that no mode sees."""
    plain = torch.Tensor._make_subclass

    def make(cls: Any, data: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
        made: torch.Tensor = plain(cls, data, *rest, **options)
        known = getattr(data, "_trees", None)
        if known is not None:
            made._trees = known  # type: ignore[attr-defined]
        return made

    torch.Tensor._make_subclass = staticmethod(make)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        torch.Tensor._make_subclass = plain  # type: ignore[method-assign]


# --- code -------------------------------------------------------------------------------------


def traced_math() -> types.SimpleNamespace:
    """`math`, with functions that keep the trees."""
    names = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}

    def sqrt(number: Any) -> Any:
        value = math.sqrt(number)
        return traced(value, operation("**", number.tree, 0.5)) if isinstance(number, Int) else value

    def prod(numbers: Any) -> Any:
        value = math.prod(numbers)
        path = getattr(numbers, "path", "")
        if path:
            return traced(value, f"product({path})")
        trees = [tree_of(number) for number in numbers]
        return traced(value, reduce(lambda a, b: operation("*", a, b), trees)) if trees else value

    return types.SimpleNamespace(**{**names, "sqrt": sqrt, "prod": prod})


@contextlib.contextmanager
def stand_ins(recorder: Recorder, packages: tuple[str, ...] = ("transformers.models.", "timm.")) -> Iterator[None]:
    """Replace builtins that lose the trees, in the modules of models."""
    names = recorder.names()
    proxy = traced_math()
    changed: list[tuple[dict[str, Any], str, Any]] = []
    for module in [m for n, m in sys.modules.items() if n.startswith(packages) and isinstance(m, types.ModuleType)]:
        space = vars(module)
        if module.__name__.startswith("transformers.") and not (
            "PreTrainedModel" in space or "config" in module.__name__
        ):
            continue
        if module.__name__.startswith("diffusers.") and "nn" not in space and "torch" not in space:
            continue
        for name, value in {**names, **({"math": proxy} if space.get("math") is math else {})}.items():
            if name not in space or name == "math":
                changed.append((space, name, space.get(name)))
                space[name] = value
    try:
        yield
    finally:
        for space, name, old in changed:
            if old is None:
                del space[name]
            else:
                space[name] = old


@contextlib.contextmanager
def watched_configurations(missed: set[tuple[str, str]]) -> Iterator[None]:
    """Trace the number of labels; record fields that a model looks for in vain, with their scope."""
    labels = PreTrainedConfig.num_labels

    def count(config: PreTrainedConfig) -> int:
        return Int(len(config.id2label or ()), "num_labels")

    def miss(config: PreTrainedConfig, name: str) -> Any:
        missed.add((vars(config).get("_scope", ""), name))
        raise AttributeError(f"{type(config).__name__} has no {name}")

    PreTrainedConfig.num_labels = property(count, labels.fset)  # type: ignore[method-assign, assignment]
    PreTrainedConfig.__getattr__ = miss  # type: ignore[attr-defined]
    try:
        yield
    finally:
        PreTrainedConfig.num_labels = labels  # type: ignore[method-assign]
        del PreTrainedConfig.__getattr__  # type: ignore[attr-defined]


# --- records ----------------------------------------------------------------------------------


def saved(model: Any) -> dict[str, torch.Tensor]:
    """The tensors that `save_pretrained` writes, as in `build.saved_tensors`, but the tensors themselves."""
    state = {k: v for k, v in model.state_dict(keep_vars=True).items() if isinstance(v, torch.Tensor)}
    if isinstance(model, Part):
        return state
    for ignored in model._keys_to_ignore_on_save or ():
        state.pop(ignored, None)
    state = remove_tied_weights_from_state_dict(state, model)
    return revert_weight_conversion(model, dict(state))  # type: ignore[no-any-return]


def trace(record: Record, template: PreTrainedConfig) -> dict[str, Any]:
    """The expressions of one record."""
    paths = {tuple(path.split(".")): value for path, value in record.overrides.items()}
    missed: set[tuple[str, str]] = set()
    found = run(record, construct(template, paths), missed)
    optional = {pair for pair in missed if pair[1] in OPTIONAL}
    if optional:
        config = construct(template, paths)
        rules = with_optional(config, optional)
        with contextlib.suppress(Exception):
            again = run(record, config, missed)
            if len(again["shapes"]) == len(found["shapes"]):
                found = {**again, "optional": rules}
    return found


def run(record: Record, config: PreTrainedConfig, missed: set[tuple[str, str]]) -> dict[str, Any]:
    """The expressions of a model built from a configuration, if the record has the same shape."""
    cls = resolve_class(record.cls, record.model_type)
    instrumented(config)
    recorder = Recorder()
    with stand_ins(recorder), watched_configurations(missed), parameters_keep_trees(), Tracing(), on_meta():
        model = cls._from_config(config)
        tensors = saved(model)
    shapes = {}
    for name, tensor in tensors.items():
        if record.shapes.get(name) == tuple(map(int, tensor.size())):
            shapes[name] = [text(tree) for tree in trees_of(tensor)]
    return {"shapes": shapes, "ranges": recorder.ranges}


def light_template(model_type: str, cls: Any) -> PreTrainedConfig:
    """The default configuration of a class, without building a model of it as `template_for` does."""
    config = CONFIG_MAPPING[model_type](**copy.deepcopy(CONSTRUCTOR_ARGUMENTS.get(model_type, {})))
    if cls.config_class is not None and not isinstance(config, cls.config_class):
        inner = [child for child in nested_configs(config).values() if isinstance(child, cls.config_class)]
        config = inner[0] if inner else config
    return construct(config, REPAIRS[model_type]) if model_type in REPAIRS else config


def trace_type(model_type: str, truth: Path, variants: set[str]) -> None:
    """All wanted records of a type."""
    out = truth.parent / "traces"
    templates: dict[Any, list[PreTrainedConfig]] = {}
    made = whole = 0
    seen: dict[str, set[str]] = {}
    for name in in_order({path.name for path in truth.glob(f"{model_type}__*.json.gz")}, variants):
        record = records.read(truth / name)
        patterns = {records.pattern_of(n)[0] for n in record.shapes}
        known = seen.setdefault(record.cls, set())
        if len(record.shapes) > MOST_TENSORS or (record.variant not in variants and patterns <= known):
            continue
        known |= patterns
        if (out / name).exists():
            continue
        cls = resolve_class(record.cls, record.model_type)
        kind = cls.config_class
        content: dict[str, Any] = {}
        for attempt in (light_template, lambda *a: template_for(*a)[0]):
            try:
                if len(templates.setdefault(kind, [])) == 0 or content:
                    templates[kind] = [attempt(model_type, cls)]
                content = traced_record(record, templates[kind][0])
                if len(content["shapes"]) > len(record.shapes) // 2:
                    break
            except Exception as error:
                content = {"shapes": {}, "ranges": {}, "derived": {}}
                print(f"{name}\t{type(error).__name__}: {str(error)[:200]}", flush=True)
        with gzip.open(out / name, "wt", compresslevel=4) as stream:
            stream.write(json.dumps(content))
        made += 1
        whole += len(content["shapes"]) == len(record.shapes)
    print(f"{model_type}\t{whole}/{made}", flush=True)


def in_order(names: set[str], variants: set[str]) -> list[str]:
    """Files of the wanted variants, then of flags, words and lists: those that add tensors are traced as well."""
    reported = {name: name.split("__", 2)[2].removesuffix(".json.gz") for name in names}
    first = [n for n, v in reported.items() if v in variants]
    first = [n for n in first if reported[n] != "default" or n.replace("__default.", "__p1.") not in names]
    return sorted(first) + sorted(n for n, v in reported.items() if v.startswith(("b_", "s_", "l_", "x2_b", "x2_s")))


def traced_record(record: Record, template: PreTrainedConfig) -> dict[str, Any]:
    """The expressions of a record, and the rules for its empty fields."""
    content = {**trace(record, template), "derived": {}}
    paths = {tuple(p.split(".")): value for p, value in record.overrides.items()}
    with contextlib.suppress(Exception), stand_ins(Recorder()):
        content["derived"] = derived_fields(template, paths)
    return content


def worker(job: tuple[str, Path, set[str]]) -> None:
    """Trace one type, catching any exception."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    torch.set_num_threads(1)
    try:
        trace_type(*job)
    except Exception as error:
        print(f"{job[0]}\tFAILED {type(error).__name__}: {error}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--variants", default="default,p1,p2,p3")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    (arguments.truth.parent / "traces").mkdir(exist_ok=True)
    types_ = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    jobs = [(t, arguments.truth, set(arguments.variants.split(","))) for t in types_]
    with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=10) as pool:
        for _ in pool.imap_unordered(worker, jobs):
            pass


if __name__ == "__main__":
    main()
