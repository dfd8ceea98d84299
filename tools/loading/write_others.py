"""What generating, tokenizers, processors and modules of sentences take: further sections of `fields.json`.

Each is asked by loading a tiny download of which one field is of another kind. What is refused as a kind is recorded, not
what is refused as a value.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import transformers
from downloads import SHARED
from transformers.models.auto.feature_extraction_auto import FEATURE_EXTRACTOR_MAPPING_NAMES
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
from vocabularies import byte_pairs

Letters = Callable[..., str]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _kinds(letters: Letters, path: Path, load: Callable[[], object], fields: dict[str, Any]) -> dict[str, str]:
    """Field → kinds, for a document with the field that is loaded by `load`."""
    own = json.loads(path.read_text())

    def take(field: str, value: Any) -> None:
        path.write_text(json.dumps({**own, field: value}))
        load()

    found = {field: letters(partial(take, field), default) for field, default in fields.items()}
    path.write_text(json.dumps(own))
    return found


def generation(letters: Letters) -> dict[str, str]:
    """Kinds of generation_config.json: loaded with the model, and used for two tokens."""
    with _folder() as folder:
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHARED["llama"])).save_pretrained(folder)
        model = transformers.LlamaForCausalLM.from_pretrained(folder)
        fields = transformers.GenerationConfig().to_dict()

        def load() -> None:
            model.generation_config = transformers.GenerationConfig.from_pretrained(folder)
            with torch.no_grad():
                for sampled in (False, True):
                    model.generate(torch.tensor([[5, 6]]), max_new_tokens=2, do_sample=sampled)

        left_out = {"_from_model_config", "transformers_version"}
        fields = {field: default for field, default in fields.items() if field not in left_out}
        return _kinds(letters, folder / "generation_config.json", load, fields)


#: Fields of tokenizer_config.json, with a possible value of each.
_TOKENIZER: dict[str, Any] = {
    "model_max_length": 128,
    "padding_side": "left",
    "truncation_side": "right",
    "clean_up_tokenization_spaces": True,
    "add_prefix_space": False,
    "add_bos_token": False,
    "add_eos_token": False,
    "do_lower_case": False,
    "split_special_tokens": False,
    "spaces_between_special_tokens": False,
    "model_input_names": ["input_ids", "attention_mask"],
    "extra_special_tokens": {},
    "additional_special_tokens": [],
    "added_tokens_decoder": {},
    "chat_template": None,
    "backend": "tokenizers",
    "is_local": True,
    "legacy": False,
    **{f"{name}_token": "<pad>" for name in ("bos", "eos", "unk", "pad", "sep", "cls", "mask")},
}


def tokenizer(letters: Letters) -> dict[str, str]:
    """Kinds of tokenizer_config.json: loaded, and used for a sentence."""
    with _folder() as folder:
        byte_pairs(folder)

        def load() -> None:
            own = transformers.AutoTokenizer.from_pretrained(folder)
            own("the quick brown fox", padding="max_length", max_length=9, truncation=True)
            own("the quick brown fox")
            own.decode([5, 6])

        return _kinds(letters, folder / "tokenizer_config.json", load, _TOKENIZER)


def processors(letters: Letters) -> dict[str, dict[str, str]]:
    """Kinds of preprocessor_config.json: class → field → kinds."""
    found: dict[str, dict[str, str]] = {}
    for auto, names in (
        (transformers.AutoImageProcessor, IMAGE_PROCESSOR_MAPPING_NAMES),
        (transformers.AutoFeatureExtractor, FEATURE_EXTRACTOR_MAPPING_NAMES),
    ):
        for listed in sorted({name for each in names.values() for name in _named(each)}):
            kind = getattr(transformers, listed, None)
            with _folder() as folder:
                try:
                    made = kind() if kind is not None else None
                    assert made is not None
                    made.save_pretrained(folder)
                    load = partial(auto.from_pretrained, folder)
                    load()
                except Exception as error:
                    print(f"{listed} left out: {type(error).__name__}: {str(error)[:80]}")
                    continue
                path = folder / "preprocessor_config.json"
                fields = {
                    field: own for field, own in json.loads(path.read_text()).items() if not field.endswith("_type")
                }
                found[listed] = _kinds(letters, path, load, fields)
    return found


def _named(value: Any) -> list[str]:
    """The classes of one entry of the automatic class's table."""
    if isinstance(value, dict):
        return [each for each in value.values() if each]
    return [each for each in (value if isinstance(value, tuple | list) else [value]) if each]


def names_of_processors() -> dict[str, Any]:
    """The classes that the automatic ones know; model type → whether it has one for images or for sound."""
    images = {name for each in IMAGE_PROCESSOR_MAPPING_NAMES.values() for name in _named(each)}
    sounds = {name for each in FEATURE_EXTRACTOR_MAPPING_NAMES.values() for name in _named(each)}
    stems = {name.removesuffix("Fast").removesuffix("Pil") for name in images}
    return {
        "image_processors": sorted(stems),
        "feature_extractors": sorted(sounds),
        "of_images": sorted({*IMAGE_PROCESSOR_MAPPING_NAMES} & {*MODEL_MAPPING_NAMES}),
        "of_sound": sorted({*FEATURE_EXTRACTOR_MAPPING_NAMES} & {*MODEL_MAPPING_NAMES}),
    }


def words() -> dict[str, Any]:
    """Words with which libraries compare something, and names of their classes."""
    import sentence_transformers
    from sentence_transformers.base.modules import transformer
    from sentence_transformers.models import Pooling
    from torch.nn.modules import activation
    from transformers.generation.configuration_utils import ALL_CACHE_IMPLEMENTATIONS

    marks = (transformers.WatermarkingConfig, transformers.SynthIDTextWatermarkingConfig)
    fields = {name for kind in marks for name in inspect.signature(kind.__init__).parameters}
    return {
        "transformers": transformers.__version__,
        "sentence_transformers": sentence_transformers.__version__,
        "torch": torch.__version__.partition("+")[0],
        "cache_implementations": sorted(ALL_CACHE_IMPLEMENTATIONS),
        "watermark_fields": sorted(fields - {"self", "kwargs"}),
        "activation_classes": sorted({*activation.__all__} - {"MultiheadAttention"}),
        "pooling_modes": sorted(Pooling.POOLING_MODES),
        "transformer_tasks": sorted(transformer.TRANSFORMER_TASK_TO_AUTO_MODEL),
        "sentence_modules": sorted(_sentence_modules()),
    }


def _sentence_modules() -> set[str]:
    """The modules of sentence-transformers, of all kinds of encoder, and their older names."""
    import sentence_transformers
    from sentence_transformers import models
    from sentence_transformers.base.modules.module import Module

    found = [models]
    for info in pkgutil.walk_packages(sentence_transformers.__path__, "sentence_transformers."):
        if info.name.endswith(".modules"):
            found.append(import_module(info.name))
    kinds = [(name, kind) for each in found for name, kind in vars(each).items() if inspect.isclass(kind)]
    return {name for name, kind in kinds if issubclass(kind, Module) and not inspect.isabstract(kind)}


def modules(letters: Letters) -> dict[str, dict[str, str]]:
    """Kinds of the modules of sentence-transformers, each made from its config.json."""
    from sentence_transformers import models

    made: dict[str, Callable[[], Any]] = {
        "Pooling": lambda: models.Pooling(8),
        "Dense": lambda: models.Dense(8, 4),
        "LayerNorm": lambda: models.LayerNorm(8),
        "Dropout": lambda: models.Dropout(0.1),
        "CNN": lambda: models.CNN(8, 4),
        "LSTM": lambda: models.LSTM(8, 4),
        "WeightedLayerPooling": lambda: models.WeightedLayerPooling(8),
        "Normalize": models.Normalize,
    }
    found = {}
    for name, make in made.items():
        with _folder() as folder:
            own = make()
            own.save(str(folder))
            path = folder / "config.json"
            if path.exists():
                load = partial(type(own).load, str(folder))
                found[name] = _kinds(letters, path, load, json.loads(path.read_text()))
    return found
