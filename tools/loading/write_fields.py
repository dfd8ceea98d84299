"""Which kinds of value the libraries take for each field of a configuration: `inspector/auditing/data/fields.json`.

    python tools/loading/write_fields.py [SECTION…]     # needs torch, transformers, peft

Transformers' classes say so themselves: each field has validators, which are asked. PEFT's have none: an adapter is made
with one field of another kind at a time. What ends with an error of types is refused for every such value; what is
refused for its value is not recorded here. Most fields have one answer in all types: `usual` has it, `types` what differs,
and `fields` which of the usual ones a type has, by their places.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import peft
import torch
import transformers
from transformers.activations import ACT2FN
from transformers.configuration_utils import _LEGACY_LAYER_TYPE_REMAP, ALLOWED_LAYER_TYPES
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

OUT = Path(os.environ.get("OUT") or Path(__file__).parents[2] / "inspector" / "auditing" / "data" / "fields.json")
#: Letter → a value of the kind: numbers, texts, null; lists by their items; objects.
SAMPLES: dict[str, Any] = {
    "i": 1,
    "f": 0.5,
    "s": "x",
    "b": True,
    "n": None,
    "I": [1],
    "F": [0.5],
    "S": ["x"],
    "B": [True],
    "L": [[1]],
    "O": [{}],
    "d": {"a": 1},
}
KINDS: Mapping[type, str] = {bool: "b", int: "i", float: "f", str: "s", dict: "d"}
#: Fields that no class looks at.
UNLOOKED = {"transformers_version", "model_type", "architectures", "peft_type", "peft_version"}
ANYTHING = "".join(SAMPLES)


def letters(take: Callable[[Any], object], default: Any = None, samples: Mapping[str, Any] = SAMPLES) -> str:
    """The accepted kinds; a default stands for its own kind. Anything, if no sample is: lists of lists of pairs."""
    own = _letter(default)
    found = "".join(
        letter for letter, sample in samples.items() if _is_taken(take, default if letter == own else sample)
    )
    return found or "".join(samples)


def _letter(value: Any) -> str:
    """The kind of a value; for a list, that of its first item."""
    if isinstance(value, (list, tuple)) and value:
        return (
            "L"
            if isinstance(value[0], (list, tuple))
            else "O"
            if isinstance(value[0], dict)
            else KINDS.get(type(value[0]), "").upper()
        )
    return KINDS.get(type(value), "")


def _is_taken(take: Callable[[Any], object], value: Any) -> bool:
    """Whether a value's kind is accepted; one that is refused for its content counts as accepted."""
    try:
        take(value)
    except (TypeError, AttributeError):
        return False
    except Exception:
        return True
    return True


# --- Transformers ---------------------------------------------------------------------------------


def of_class(kind: Any) -> dict[str, str]:
    """Field → kinds, of a configuration class."""

    def take(validators: list[Any], value: Any) -> None:
        for each in validators:
            try:
                each(value)
            except Exception as error:
                raise TypeError from error

    validated = getattr(kind, "__validators__", {})
    defaults = {field.name: field.default for field in getattr(kind, "__dataclass_fields__", {}).values()}
    try:  # an object's keys follow from the one that the class fills in
        filled = {field: value for field, value in vars(kind()).items() if isinstance(value, dict) and value}
    except Exception:
        filled = {}
    defaults |= {field: value for field, value in filled.items() if defaults.get(field) is None}
    return {
        field: letters(partial(take, all_of_it), defaults.get(field))
        for field, all_of_it in validated.items()
        if field not in UNLOOKED and field != "dtype"
    }


def parts(kind: Any) -> dict[str, str]:
    """Field → model type of the nested configuration, if that is always the same."""
    found = getattr(kind, "sub_configs", {}) or {}
    return {
        field: own.model_type
        for field, own in found.items()
        if getattr(own, "model_type", "") and "Auto" not in own.__name__
    }


#: Source in which positions are counted from the padding token, whose id must then be a number.
_COUNTED = re.compile(r"\.ne\((self\.)?padding_idx\)|!= ?(self\.)?padding_idx")


def padded(classes: Mapping[str, Any]) -> list[str]:
    """Model types whose positions are counted from the padding token, by their modules' source."""
    found = []
    for name, kind in classes.items():
        path = Path(inspect.getfile(kind))
        sources = [each.read_text() for each in path.parent.glob("modeling_*.py")]
        if "pad_token_id" in vars(kind) and any(_COUNTED.search(each) for each in sources):
            found.append(name)
    return sorted(found)


def activations(classes: Mapping[str, Any]) -> list[str]:
    """Fields whose default is the name of an activation function."""
    found: Counter[str] = Counter()
    for kind in classes.values():
        for field in getattr(kind, "__dataclass_fields__", {}).values():
            if isinstance(field.default, str) and field.default in ACT2FN and "act" in field.name:
                found[field.name] += 1
    return sorted(found)


# --- PEFT -----------------------------------------------------------------------------------------


class Tiny(torch.nn.Module):
    """A model with two modules to adapt."""

    def __init__(self) -> None:
        super().__init__()
        self.config = transformers.LlamaConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, vocab_size=8)
        self.q_proj = torch.nn.Linear(8, 8, bias=False)
        self.down_proj = torch.nn.Linear(8, 8, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(self.q_proj(x))


def _language_model() -> Any:
    """A model in front of which prompts can be put."""
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, vocab_size=8, pad_token_id=0))


#: Arguments that methods need besides their modules for a model this small.
_SIZES: Mapping[str, dict[str, Any]] = {
    "VBLORA": {"vector_length": 4, "num_vectors": 4, "topk": 2, "r": 2},
    "MISS": {"r": 2},
    "TRAINABLE_TOKENS": {"token_indices": [1]},
    "BOFT": {"boft_block_size": 4},
    "ADALORA": {"total_step": 10},
    **{key: {"n_frequency": 4} for key in ("FOURIERFT", "WAVEFT")},
    **{key: {"r": 2} for key in ("SHIRA", "PSOFT")},
    "ROAD": {"group_size": 4},
    "C3A": {"block_size": 4},
    "SUPERTUNING": {"sparsity": 0.5},
    **{key: {"num_virtual_tokens": 2} for key in ("PROMPT_TUNING", "P_TUNING", "PREFIX_TUNING", "CARTRIDGE")},
    "MULTITASK_PROMPT_TUNING": {"num_virtual_tokens": 2, "num_tasks": 2},
    "ADAPTION_PROMPT": {"adapter_len": 2, "adapter_layers": 1, "task_type": "CAUSAL_LM"},
    "CPT": {"cpt_token_ids": [1], "cpt_mask": [1], "cpt_tokens_type_mask": [1], "num_virtual_tokens": 1},
}
#: Fields that hold names of modules: an object in their place is refused if it is not empty.
_NAMES = frozenset({"target_modules", "exclude_modules", "modules_to_save", "feedforward_modules"})


def maker(name: str) -> tuple[dict[str, Any], Callable[[str, Any], object]]:
    """A method's fields, and a function that applies it to a tiny model with one field changed; none if it fails."""
    kind = peft.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(name)]
    fixed = {"peft_type": name, "target_modules": ["q_proj", "down_proj"], "inference_mode": True}
    fixed |= _SIZES.get(name, {})
    prompts = issubclass(kind, peft.PromptLearningConfig)
    fixed |= {"task_type": "CAUSAL_LM"} if prompts else {}

    def made(values: dict[str, Any]) -> dict[str, Any]:
        config = kind.from_peft_type(**values)
        peft.get_peft_model(_language_model() if prompts or name == "ADAPTION_PROMPT" else Tiny(), config)
        return config.to_dict()

    def with_field(field: str, value: Any) -> None:
        made({**fixed, field: value})

    fixed = {key: value for key, value in fixed.items() if key in kind.__dataclass_fields__ or key == "peft_type"}
    try:
        return made(fixed), with_field
    except Exception as error:
        print(f"{name} left out: {type(error).__name__}: {str(error)[:100]}")
        return {}, with_field


def of_method(name: str) -> dict[str, str]:
    """Field → kinds, of a method that can be applied to `Tiny`; empty for others."""
    own, with_field = maker(name)
    return {
        field: letters(partial(with_field, field), default, SAMPLES if field in _NAMES else {**SAMPLES, "d": {}})
        for field, default in own.items()
        if field not in UNLOOKED
    }


# --- the document ---------------------------------------------------------------------------------


def document(found: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The usual kinds of a field, and those of types that differ."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for own in found.values():
        for field, kinds in own.items():
            counts[field][kinds] += 1
    usual = {field: each.most_common(1)[0][0] for field, each in sorted(counts.items())}
    types = {
        name: {field: kinds for field, kinds in sorted(own.items()) if kinds != usual[field]}
        for name, own in sorted(found.items())
    }
    places = {field: at for at, field in enumerate(usual)}
    of_types = {
        name: sorted(places[field] for field, kinds in own.items() if kinds != ANYTHING) for name, own in found.items()
    }
    return {"usual": usual, "fields": of_types, "types": {name: own for name, own in types.items() if own}}


def of_transformers() -> dict[str, Any]:
    classes = dict(transformers.CONFIG_MAPPING.items())
    return {
        "version": transformers.__version__,
        **document({name: of_class(kind) for name, kind in classes.items()}),
        "padded": padded(classes),
        "parts": {name: own for name, kind in sorted(classes.items()) if (own := parts(kind))},
        "activations": sorted(ACT2FN),
        "activation_fields": activations(classes),
        "layer_types": sorted({*ALLOWED_LAYER_TYPES, *_LEGACY_LAYER_TYPE_REMAP}),
        "dtypes": sorted(name for name, value in vars(torch).items() if isinstance(value, torch.dtype)),
    }


def options() -> dict[str, list[str]]:
    """Method → the fields of its configuration that not all have; under "" those that all have."""
    own = {each.value: set(peft.PEFT_TYPE_TO_CONFIG_MAPPING[each].__dataclass_fields__) for each in peft.PeftType}
    common = set.intersection(*own.values())
    return {"": sorted(common), **{name: sorted(fields - common) for name, fields in sorted(own.items())}}


def of_peft() -> dict[str, Any]:
    methods = {each.value: of_method(each.value) for each in peft.PeftType}
    return {
        "version": peft.__version__,
        **document(methods),
        "tasks": sorted(each.value for each in peft.TaskType),
        "options": options(),
    }


def of_tokenizers() -> dict[str, Any]:
    """Class → the files that it reads if there is no tokenizer.json."""
    found = {}
    for name in sorted({each for each in TOKENIZER_MAPPING_NAMES.values() if each}):
        files = getattr(getattr(transformers, name, None), "vocab_files_names", {})
        if files:
            found[name] = sorted(files.values())
    others = {each for each in dir(transformers) if "Tokenizer" in each} - found.keys()
    return {"classes": found, "others": sorted(each.removesuffix("Fast") for each in others)}


def of_diffusers() -> dict[str, Any]:
    import diffusers
    import write_pipelines

    kinds = write_pipelines.of_classes(letters, SAMPLES)
    return {
        "version": diffusers.__version__,
        **document(kinds),
        "names": {name: sorted(own) for name, own in kinds.items()},
        "checked": write_pipelines.checked(kinds),
        "words": write_pipelines.words(),
        "pipelines": write_pipelines.pipelines(),
    }


def of_others(name: str) -> dict[str, Any]:
    """The kinds that another reader accepts: of a single document, or of one of each class."""
    import write_others

    found: dict[str, Any] = getattr(write_others, name)(letters)
    return document(found if isinstance(next(iter(found.values())), dict) else {"any": found})


def of_processors() -> dict[str, Any]:
    import write_others

    return {**of_others("processors"), **write_others.names_of_processors()}


def of_words() -> dict[str, Any]:
    import write_others

    return write_others.words()


SECTIONS: dict[str, Callable[[], Any]] = {
    "words": of_words,
    "generation": partial(of_others, "generation"),
    "tokenizer": partial(of_others, "tokenizer"),
    "processors": of_processors,
    "modules": partial(of_others, "modules"),
    "transformers": of_transformers,
    "peft": of_peft,
    "tokenizers": of_tokenizers,
    "diffusers": of_diffusers,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="all where none is named")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    whole: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    whole["about"] = "Kinds of value that the fields of configurations take, by tools/loading/write_fields.py"
    whole["kinds"] = {letter: json.dumps(sample) for letter, sample in SAMPLES.items()}
    for name in given.sections or SECTIONS:
        whole[name] = SECTIONS[name]()
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(whole, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
