"""Tiny downloads, each written by the library that real ones are written by.

`downloads.json` lists them by set, from "a" to "g". The audit was corrected on faults in sets a, b and d; those of c
and e were only ever counted; those of f and g were counted before a rule was corrected from them. A row's first field
says what writes it:

    model              a class of Transformers with the configuration's `values`; `packed` is what bitsandbytes is given,
                       `float8` the side of a block of FP8, `integers` the group of compressed-tensors' 4-bit integers
    adapter            a configuration's class of PEFT, for the download `llama`
    pipeline           a pipeline's class of Diffusers; `parts` are classes with their arguments
    sentences          a class of Transformers that sentence-transformers' `modules` follow

`{"like": NAME, "without": […], …}` stands for the values of that name under "shared", changed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import torch
import transformers
import vocabularies

Row = dict[str, Any]
_DOCUMENT = json.loads(Path(__file__).with_suffix(".json").read_text())
#: Shared values of rows, by name.
SHARED: dict[str, Any] = _DOCUMENT.pop("shared")


def _expanded(value: Any) -> Any:
    """A value with the shared ones in their places."""
    if isinstance(value, list):
        return [_expanded(each) for each in value]
    if not isinstance(value, dict):
        return value
    own = _expanded(SHARED[value["like"]]) if "like" in value else {}
    without = value.get("without", ())
    own = {key: each for key, each in own.items() if key not in without}
    return own | {key: _expanded(each) for key, each in value.items() if key not in ("like", "without")}


#: Set → name → row.
SETS: dict[str, dict[str, Row]] = _expanded(_DOCUMENT)
_LIBRARIES = {"adapter": "peft", "pipeline": "diffusers", "sentences": "sentence-transformers"}
#: Name of a download → its loader: the class of Transformers, or the library.
LOADED: dict[str, str] = {
    name: row.get("model") or next(library for kind, library in _LIBRARIES.items() if kind in row)
    for rows in SETS.values()
    for name, row in rows.items()
}


def make(part: str, out: Path, only: tuple[str, ...] = ()) -> None:
    """Write the downloads of a set; one whose library is absent is reported and left out."""
    transformers.logging.set_verbosity_error()
    for name, row in SETS[part].items():
        folder = out / name
        if folder.exists() or (only and name not in only):
            continue
        torch.manual_seed(0)
        folder.mkdir(parents=True)
        kind = next(kind for kind in ("packed", "float8", "integers", *row) if kind in row)
        try:
            globals()[f"_{kind}"](folder, row)
        except Exception as error:
            print(f"{name} left out: {type(error).__name__}: {str(error)[:200]}")
            shutil.rmtree(folder)


# --- Transformers ---------------------------------------------------------------------------------


def _built(kind: str, values: Row) -> Any:
    """A model of Transformers with a configuration, or any other class with its arguments."""
    own = getattr(transformers, kind)
    return own(own.config_class(**values)) if getattr(own, "config_class", None) else own(**values)


def _model(folder: Path, row: Row) -> None:
    save = {"max_shard_size": row["shards"]} if "shards" in row else {}
    dtype = getattr(torch, row.get("dtype", "float32"))
    _built(row["model"], row["values"]).to(dtype).save_pretrained(folder, **save)
    tokenizer = row.get("tokenizer", "byte_pairs")
    if row.get("pickled"):
        _pickle(folder)
    if "processor" in row:
        _write_processor(folder, row, tokenizer)
        return
    if tokenizer:
        vocabularies.write(folder, tokenizer)
    for kind, values in row.get("preprocessor", {}).items():
        _built(kind, values).save_pretrained(folder)


def _pickle(folder: Path) -> None:
    """The same weights as a file of PyTorch."""
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def _write_processor(folder: Path, row: Row, tokenizer: Any) -> None:
    """A processor of a feature extractor and a tokenizer, in the files in which Transformers saves it."""
    ((kind, values),) = row["preprocessor"].items()
    with tempfile.TemporaryDirectory() as inner:
        _built(kind, values).save_pretrained(inner)
        vocabularies.write(Path(inner), tokenizer)
        auto = transformers.AutoImageProcessor if "Image" in kind else transformers.AutoFeatureExtractor
        parts = auto.from_pretrained(inner), transformers.AutoTokenizer.from_pretrained(inner)
        getattr(transformers, row["processor"])(*parts, **row.get("processor_values", {})).save_pretrained(folder)


# --- packed weights -------------------------------------------------------------------------------


def _packed(folder: Path, row: Row) -> None:
    """A model that Transformers packs by bitsandbytes, and saves."""
    with tempfile.TemporaryDirectory() as plain:
        _built(row["model"], row["values"]).bfloat16().save_pretrained(plain)
        how = transformers.BitsAndBytesConfig(**row["packed"])
        more = {"quantization_config": how, "device_map": "cpu", "dtype": torch.bfloat16}
        getattr(transformers, row["model"]).from_pretrained(plain, **more).save_pretrained(folder)
    vocabularies.byte_pairs(folder)


def _float8(folder: Path, row: Row) -> None:
    """FP8 in square blocks, as in DeepSeek and Qwen, optionally in shards with an index."""
    side, kept = row["float8"], tuple(row["declared"].get("modules_to_not_convert", ()))
    own = _built(row["model"], row["values"]).bfloat16()
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if name.endswith("proj.weight") and not name.startswith(kept):
            tensors[name] = tensor.to(torch.float8_e4m3fn)
            tensors[name + "_scale_inv"] = torch.ones([-(-size // side) for size in tensor.shape])
        else:
            tensors[name] = tensor.clone()
    how = {"quant_method": "fp8", "weight_block_size": [side, side], **row["declared"]}
    _write_declared(folder, row, own, tensors, how)


def _integers(folder: Path, row: Row) -> None:
    """compressed-tensors' 4-bit integers in groups, packed into I32."""
    group = row["integers"]
    own = _built(row["model"], row["values"]).bfloat16()
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if "layers" in name and name.endswith("proj.weight"):
            rows, width = tensor.shape
            tensors[f"{name}_packed"] = torch.zeros(rows, width // 8, dtype=torch.int32)
            tensors[f"{name}_scale"] = torch.ones(rows, width // group, dtype=torch.bfloat16)
            tensors[f"{name}_shape"] = torch.tensor([rows, width])
        else:
            tensors[name] = tensor
    weights = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "dynamic": False}
    weights["group_size"] = group
    groups = {
        "group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    }
    how = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups}
    _write_declared(folder, row, own, tensors, {**how, "ignore": ["lm_head"], "quantization_status": "compressed"})


def _write_declared(folder: Path, row: Row, own: Any, tensors: Row, how: Row) -> None:
    """Tensors in as many files as the row says, and a configuration that declares their packing."""
    from safetensors.torch import save_file

    names, files = sorted(tensors), row.get("shards", 1)
    index: dict[str, str] = {}
    for number in range(files):
        some = names[len(names) * number // files : len(names) * (number + 1) // files]
        file = f"model-{number + 1:05}-of-{files:05}.safetensors" if files > 1 else "model.safetensors"
        save_file({name: tensors[name] for name in some}, folder / file, {"format": "pt"})
        index |= dict.fromkeys(some, file)
    if files > 1:
        total = sum(each.numel() * each.element_size() for each in tensors.values())
        text = json.dumps({"metadata": {"total_size": total}, "weight_map": index}, indent=2)
        (folder / "model.safetensors.index.json").write_text(text)
    values = {**own.config.to_dict(), "dtype": "bfloat16", "architectures": [row["model"]]}
    (folder / "config.json").write_text(json.dumps({**values, "quantization_config": how}, indent=2))
    vocabularies.write(folder, row.get("tokenizer", "byte_pairs"))


# --- the other libraries --------------------------------------------------------------------------


def _adapter(folder: Path, row: Row) -> None:
    import peft

    base = _built("LlamaForCausalLM", SHARED["llama"])
    own = getattr(peft, row["adapter"])(task_type="CAUSAL_LM", base_model_name_or_path="example/tiny", **row["values"])
    peft.get_peft_model(base, own).save_pretrained(folder)


def _pipeline(folder: Path, row: Row) -> None:
    """A pipeline assembled from its parts."""
    import diffusers

    index: Row = {"_class_name": row["pipeline"], "_diffusers_version": diffusers.__version__, **row.get("values", {})}
    parts: Row = {}
    for name, part in row["parts"].items():
        if part is None:
            index[name] = [None, None]
        elif part == "byte_pairs":
            vocabularies.byte_pairs(folder / name)
            index[name] = ["transformers", "PreTrainedTokenizerFast"]
        else:
            kind, values = part
            if "from_unet" in values:
                net = parts[values["from_unet"]]
                more = {key: each for key, each in values.items() if key != "from_unet"}
                own = getattr(diffusers, kind).from_unet(net, **more)
            else:
                own = getattr(diffusers, kind)(**values) if hasattr(diffusers, kind) else _built(kind, values)
            own.save_pretrained(folder / name)
            parts[name] = own
            index[name] = [type(own).__module__.split(".")[0], type(own).__name__]
    (folder / "model_index.json").write_text(json.dumps(index, indent=2))


def _sentences(folder: Path, row: Row) -> None:
    from sentence_transformers import SentenceTransformer, models
    from tokenizers import Tokenizer

    with tempfile.TemporaryDirectory() as inner:
        _built(row["sentences"], row["values"]).save_pretrained(inner)
        vocabularies.word_pieces(Path(inner))
        modules = []
        for kind, *arguments in row["modules"]:
            values = dict(arguments.pop()) if arguments and isinstance(arguments[-1], dict) else {}
            if kind == "Transformer":
                arguments = [inner]
            elif kind == "StaticEmbedding":
                arguments = [Tokenizer.from_file(f"{inner}/tokenizer.json")]
            if "activation_function" in values:
                values["activation_function"] = getattr(torch.nn, values["activation_function"])()
            modules.append(getattr(models, kind)(*arguments, **values))
        more = {"prompts": row["prompts"]} if "prompts" in row else {}
        SentenceTransformer(modules=modules, device="cpu", **more).save(str(folder))
