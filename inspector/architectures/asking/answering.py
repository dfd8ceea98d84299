"""What a library answers about configurations, run by the Python that has the library. This package need not be there.

One JSON object comes on stdin, one goes to stdout; whatever the library prints goes to stderr.

    asked      {configurations: [{…}], modules: [str], home: str, folder: str|null, seconds, bytes, probing: seconds}
               modules are imported first: packages that register types of their own, installed or in the folder `home`.
               With a folder, whose code the user trusts, the classes that `auto_map` names are loaded from its files.
    answered   {library, version, answers: [{class, config, tensors, tied, held, probes} | {error}]}, or {error}
               config    all fields of the configuration as the class completes it
               tensors   name → [shape, "parameter" or "buffer"], as `save_pretrained` writes them
               tied      name → shape of those that are left out, because another tensor is the same
               held      for each layer what the library's cache holds of a prompt: [{kind, keys, values, window,
                         kernel, heads, dtype}], elements per token, or per sequence for states; null if not run
               probes    the same of configurations in which one field has another value, [{field, value, …}], if all
                         could be built in the seconds of `probing`

Models are built on the meta device: no weight is allocated. Sockets are refused, and nothing is downloaded.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import time
from typing import Any

#: Fields that do not change a model's tensors, but may name code, files or hardware.
IGNORED = (
    "auto_map",
    "quantization_config",
    "attn_implementation",
    "_attn_implementation",
    "experts_implementation",
    "_experts_implementation",
    "dtype",
    "torch_dtype",
    "transformers_version",
    "_name_or_path",
    "torchscript",
)
#: Tokens of the prompt that is run, more than convolutions look back at.
TOKENS = 16
#: Transformers' mappings of types to classes, that of the most specific head first.
MAPPINGS = (
    "CAUSAL_LM",
    "IMAGE_TEXT_TO_TEXT",
    "MULTIMODAL_LM",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "SPEECH_SEQ_2_SEQ",
    "MASKED_LM",
    "CTC",
    "PRETRAINING",
    "",
)


def main() -> None:
    asked = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    limit(asked["seconds"], asked["bytes"])
    json.dump(_answer(asked), out)
    out.flush()
    os._exit(0)  # a library's threads need not be waited for


def limit(seconds: int, nbytes: int) -> None:
    """Limits on this process, where the system has them; no sockets."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_DATA, (nbytes, nbytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def refuse(event: str, _: object) -> None:
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"):
            raise PermissionError("no network here")

    sys.addaudithook(refuse)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    name = "diffusers" if any("_class_name" in each for each in asked["configurations"]) else "transformers"
    try:
        library = importlib.import_module(name)
        importlib.import_module("torch")
        sys.path += [asked["home"]] if asked["modules"] else []  # the last: it replaces no other module
        for module in asked["modules"]:
            importlib.import_module(module)
    except Exception as error:
        return {"error": _line(error)}
    build = _of_diffusers if name == "diffusers" else _of_transformers
    answers = []
    for values in asked["configurations"]:
        try:
            found = build(values, asked["folder"])
            until = time.monotonic() + asked["probing"]
            found["probes"] = _probed(lambda changed: build(changed, asked["folder"]), values, found, until)
            answers.append(found)
        except Exception as error:
            answers.append({"error": _line(error)})
    return {"library": name.capitalize(), "version": library.__version__, "answers": answers}


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, Unknown) else f"{type(error).__name__}: {text}"


class Unknown(Exception):  # noqa: N818  it is not a fault
    """The library has no such model."""


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


# --- probes ------------------------------------------------------------------------------------


def _probed(build: Any, values: dict[str, Any], found: dict[str, Any], until: float) -> list[dict[str, Any]]:
    """Answers about configurations with one other value each; none if there is not the time for all fields."""
    probes: list[dict[str, Any]] = []
    own = {**values, "architectures": [found["class"]]}
    for path, value in _numbers(found["config"]):
        lists = _lists_of(values, value)
        for other in _others(value):
            if time.monotonic() > until:
                return []
            with contextlib.suppress(Exception):
                changed = _with(own, path, other, found["config"])
                for each, items in lists:
                    changed = _with(changed, each, [items[at % value] for at in range(other)], found["config"])
                answer = build(changed)
                probes.append({"field": ".".join(path), "value": other, **answer})
                break
    return probes


def _lists_of(
    values: dict[str, Any], length: Any, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Paths and items of the given lists that have an item for each of this many layers."""
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            found += _lists_of(value, length, (*path, key))
        elif isinstance(value, list) and type(length) is int and len(value) == length > 1:
            found.append(((*path, key), value))
    return found


def _numbers(config: dict[str, Any], path: tuple[str, ...] = ()) -> Any:
    """Paths and values of numbers and flags in a configuration."""
    for key, value in config.items():
        if isinstance(value, dict) and key.endswith("config"):
            yield from _numbers(value, (*path, key))
        elif (
            isinstance(value, (bool, int, float)) and key not in IGNORED and not key.endswith(("_id", "_index", "_eps"))
        ):
            yield (*path, key), value


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float):
        return [value / 2 if value else 0.25]
    return [2 * value, 3 * value, value + 1, value - 1] if value > 0 else [1]


def _with(values: Any, path: Any, value: Any, full: Any) -> dict[str, Any]:
    """A configuration with another value at a path of fields."""
    first, *rest = path
    if not rest:
        return {**values, first: value}
    inner = values.get(first) if isinstance(values.get(first), dict) else full[first]
    return {**values, first: _with(inner, rest, value, full[first])}


# --- Transformers -------------------------------------------------------------------------------


def _of_transformers(values: dict[str, Any], folder: str | None) -> dict[str, Any]:
    named = values.get("architectures") or [""]
    trusted = values.get("auto_map") if folder else None
    own = {key: value for key, value in values.items() if key not in (*IGNORED, "model_type", "architectures")}
    if trusted:
        config = _trusted(trusted, ("AutoConfig",), folder)(**own)
        cls = _trusted(trusted, _autos(trusted, named[0]), folder)
    else:
        config = _config_class(values["model_type"])(**own)
    model = _on_meta(cls, config) if trusted else _built(config, str(named[0]))
    tensors, tied = _saved(model)
    whole = _plain(config.to_dict())
    held: Any = None
    with contextlib.suppress(Exception):
        held = _cache_content(model)
    return {"class": type(model).__name__, "config": whole, "tensors": tensors, "tied": tied, "held": held}


def _config_class(model_type: str) -> Any:
    from transformers import CONFIG_MAPPING

    if model_type not in CONFIG_MAPPING:
        raise Unknown(f"it has no model type {model_type!r:.60}")
    return CONFIG_MAPPING[model_type]


def _trusted(auto_map: dict[str, Any], autos: tuple[str, ...], folder: str | None) -> Any:
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    reference = next((auto_map[auto] for auto in autos if isinstance(auto_map.get(auto), str)), None)
    if reference is None:
        raise Unknown(f"auto_map names no {autos[0]}")
    return get_class_from_dynamic_module(reference, folder, local_files_only=True)


def _autos(auto_map: dict[str, Any], named: str) -> tuple[str, ...]:
    """The names in `auto_map` of a class, and of others if it names none."""
    exact = [auto for auto, cls in auto_map.items() if isinstance(cls, str) and cls.rpartition(".")[2] == named]
    return (*exact, "AutoModelForCausalLM", "AutoModelForImageTextToText", "AutoModelForSeq2SeqLM", "AutoModel")


def _built(config: Any, named: str) -> Any:
    """The class of this name, or else the first class of the type that can be built, the most specific head first."""
    classes = [each for each in _classes_of(config, named) if isinstance(each, type)]
    if not classes:
        raise Unknown(f"no class has the model type {config.model_type!r:.60}")
    exact = [each for each in classes if each.__name__ == named]
    for cls in exact or classes[:-1]:
        with contextlib.suppress(Exception) if not exact else contextlib.nullcontext():
            return _on_meta(cls, config)
    return _on_meta(classes[-1], config)


def _classes_of(config: Any, named: str) -> list[Any]:
    """The type's classes by the mappings, and those of its module, too, where no mapping has it."""
    import transformers
    from transformers.models.auto import modeling_auto

    names = ["_".join(filter(None, ("MODEL", "FOR" * bool(head), head, "MAPPING"))) for head in MAPPINGS]
    others = [name for name, each in vars(modeling_auto).items() if type(each).__name__ == "_LazyAutoMapping"]
    found: list[Any] = []
    for name in (*names, *others):
        with contextlib.suppress(Exception):
            classes = getattr(modeling_auto, name)[type(config)]
            found += classes if isinstance(classes, (list, tuple)) else [classes]
    with contextlib.suppress(AttributeError, ImportError, RuntimeError):
        found.append(getattr(transformers, named))
    home = type(config).__module__
    with contextlib.suppress(ImportError):
        module = importlib.import_module(home.replace(".configuration_", ".modeling_"))
        own = [each for each in vars(module).values() if getattr(each, "config_class", None) is type(config)]
        public = [each for each in own if each.__name__ in getattr(module, "__all__", ())]
        found += [each for each in public or own if not each.__name__.endswith("PreTrainedModel")]
    return found


def _on_meta(cls: Any, config: Any) -> Any:
    import torch

    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.device("meta"))
        with contextlib.suppress(ImportError, AttributeError):
            from transformers import initialization

            stack.enter_context(initialization.meta_device_safe_creation_ops())
        return cls._from_config(config)


def _cache_content(model: Any) -> list[list[dict[str, Any]]] | None:
    """What each layer of the library's own cache holds after a prompt, run on the meta device."""
    import torch
    from transformers import DynamicCache

    if not model.can_generate():
        return None
    model = model.to(torch.bfloat16).eval()
    with contextlib.suppress(Exception):
        model.set_attn_implementation("eager")
    with contextlib.suppress(Exception):
        model.set_experts_implementation("batched_mm")  # needs no values
    with torch.device("meta"), torch.no_grad():
        tokens = torch.ones((1, TOKENS), dtype=torch.long)
        outputs = model(input_ids=tokens, use_cache=True)
        cache = outputs.get("past_key_values") or outputs.get("cache_params")
        if cache is None:  # as `generate` does for every class that can have one
            cache = DynamicCache(config=model.config)
            model(input_ids=tokens, past_key_values=cache, use_cache=True)
    own = getattr(cache, "self_attention_cache", cache)
    held = [list(_held_by(layer)) for layer in own.layers]
    crossed = own is not cache and any(any(_held_by(layer)) for layer in cache.cross_attention_cache.layers)
    return held if any(held) and not crossed else None


def _held_by(layer: Any) -> Any:
    """The parts of one layer's cache."""
    keys: Any = getattr(layer, "keys", None)
    values: Any = getattr(layer, "values", None)
    if keys is not None and keys.dim() == 4:
        window = getattr(layer, "sliding_window", None)
        sizes = {"keys": keys.shape[1] * keys.shape[3], "values": values.shape[1] * values.shape[3]}
        yield {"kind": "sliding" if window else "full", "window": window, "heads": keys.shape[1], **sizes}
    index = getattr(layer, "indexer_keys", None)
    if index is not None:
        yield {"kind": "full", "keys": index.shape[-1]}
    for state in (getattr(layer, "conv_states", None) or {}).values():
        if state is not None:
            yield {"kind": "recurrent", "keys": state.shape[1], "kernel": state.shape[2]}
    for state in (getattr(layer, "recurrent_states", None) or {}).values():
        if state is not None:
            wide = "F32" if str(state.dtype) == "torch.float32" else ""
            yield {"kind": "recurrent", "keys": state[0].numel(), "dtype": wide}


def _saved(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `save_pretrained` writes, and what it leaves out because it is tied."""
    import torch

    state = {name: tensor for name, tensor in model.state_dict().items() if isinstance(tensor, torch.Tensor)}
    for ignored in getattr(model, "_keys_to_ignore_on_save", None) or ():
        state.pop(ignored, None)
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    kept = _untied(state, model)
    buffers = {name: tensor for name, tensor in kept.items() if name not in parameters}
    saved, constants = _reverted(model, kept), set(buffers) & set(kept)
    with contextlib.suppress(Exception):
        constants |= set(_reverted(model, buffers))
    left = _reverted(model, {name: state[name] for name in state.keys() - kept.keys()})
    return (
        {name: [list(tensor.shape), "buffer" if name in constants else "parameter"] for name, tensor in saved.items()},
        {name: list(tensor.shape) for name, tensor in left.items() if name not in saved},
    )


def _untied(state: dict[str, Any], model: Any) -> dict[str, Any]:
    try:
        from transformers.modeling_utils import remove_tied_weights_from_state_dict
    except ImportError:  # before 5.0
        first: dict[int, str] = {}
        for name, tensor in model.named_parameters(remove_duplicate=False):
            first.setdefault(id(tensor), name)
        return {name: tensor for name, tensor in state.items() if name in first.values() or name not in _all(model)}
    return dict(remove_tied_weights_from_state_dict(dict(state), model))


def _all(model: Any) -> set[str]:
    return {name for name, _ in model.named_parameters(remove_duplicate=False)}


def _reverted(model: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Tensors under their names in files, which since 5.0 differ from those in memory."""
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:
        return state
    return dict(revert_weight_conversion(model, dict(state))) if state else {}


# --- Diffusers ----------------------------------------------------------------------------------


def _of_diffusers(values: dict[str, Any], _: str | None) -> dict[str, Any]:
    import diffusers
    import torch

    cls: Any = getattr(diffusers, str(values["_class_name"]), None)
    if not hasattr(cls, "from_config") or not issubclass(cls, diffusers.ModelMixin):
        raise Unknown(f"it has no model class {str(values['_class_name'])!r:.60}")
    own = {key: value for key, value in values.items() if key not in (*IGNORED, "model_type")}
    with torch.device("meta"):
        model: Any = cls.from_config(own)
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return {
        "class": cls.__name__,
        "config": _plain(dict(model.config)),
        "tensors": {
            name: [list(tensor.shape), "parameter" if name in parameters else "buffer"]
            for name, tensor in model.state_dict().items()
        },
        "tied": {},
    }


if __name__ == "__main__":
    main()
