"""Further faults, of which no rule was corrected when they were written: `mutate(folder, others, draw)`, as in `mutations`.

Sets from `f` on draw half of their faults here: what converters, merge scripts, editors and people do to a download.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import mutations
from faults_of_gguf import gguf_bytes, gguf_entry
from faults_of_tokenizers import decoder, other_vocabulary, special, stage, template, tokenizer_class
from faults_of_weights import data, header, index, names, other_pickle
from faulty import Change, Done, places_in, written


def mutate(folder: Path, others: list[Path], draw: random.Random) -> Done:
    """A fault of `mutations` or of here."""
    while True:
        if draw.random() < 0.5:
            return mutations.mutate(folder, others, draw)
        path = draw.choice(sorted(each for each in folder.rglob("*") if each.is_file() and each.name != "README.md"))
        changes = _of(path)
        if not changes:
            continue
        before = path.read_bytes()
        done = draw.choice(changes)(folder, path, others, draw)
        if done is not None and not (path.is_file() and path.read_bytes() == before):
            return done[0], f"{path.relative_to(folder)}: {done[1]}"


def _of(path: Path) -> tuple[Change, ...]:
    """The changes that apply to a file."""
    named: dict[str, tuple[Change, ...]] = {
        "config.json": (_class, _class, _sizes, _sizes, _quantized),
        "tokenizer.json": (stage, stage, other_vocabulary, special),
        "tokenizer_config.json": (tokenizer_class, decoder, template),
        "generation_config.json": (_generating,),
        "adapter_config.json": (_adapting, _adapting),
        "model_index.json": (_component, _component),
        "modules.json": (_modules,),
    }
    found = named.get(path.name, ())
    if path.name.endswith(".index.json"):
        found = (index,)
    if path.suffix == ".json":
        return (*found, _syntax, _wrapped)
    if path.suffix == ".safetensors":
        return (header, data, names, names, _compressed)
    if path.suffix == ".gguf":
        return (gguf_entry, gguf_entry, gguf_bytes, _compressed)
    if path.suffix in (".bin", ".pt"):
        return (other_pickle, _compressed)
    if path.suffix == ".jinja":
        return (template,)
    if path.suffix in (".model", ".spm"):
        return (_compressed,)
    return ()


# --- any JSON -------------------------------------------------------------------------------------


def _syntax(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """What JSON does not have, or has in two ways."""
    text = path.read_text()
    how = draw.choice(("comma", "comment", "single quotes", "NaN", "Infinity", "twice", "escapes", "Python", "tabs", "conflict"))  # fmt: skip
    if how == "comma":
        text = re.sub(r"(\s*[}\]])\s*$", r",\1", text)
    elif how == "comment":
        text = text.replace("{", "{ // as trained\n", 1)
    elif how == "single quotes":
        text = text.replace('"', "'")
    elif how in ("NaN", "Infinity"):
        numbers = [*re.finditer(r"(?<=: )-?[0-9.e-]+(?=[,\n}])", text)]
        if not numbers:
            return None
        one = draw.choice(numbers)
        text = text[: one.start()] + how + text[one.end() :]
    elif how == "twice":
        fields = [*re.finditer(r'"(\w+)": ("[^"\n]*"|[0-9.]+)(?=,\n)', text)]
        if not fields:
            return None
        one = draw.choice(fields)
        text = text[: one.end()] + f', "{one[1]}": ' + ('"other"' if one[2][0] == '"' else "7") + text[one.end() :]
    elif how == "escapes":
        text = text.replace("_", "\\u005f")
    elif how == "Python":
        text = text.replace("true", "True").replace("false", "False").replace("null", "None")
    elif how == "tabs":
        text = text.replace('": "', '": "\t', 1)
    else:
        lines = text.splitlines()
        at = draw.randrange(len(lines))
        lines[at : at + 1] = ["<<<<<<< HEAD", lines[at], "=======", lines[at], ">>>>>>> main"]
        text = "\n".join(lines)
    path.write_text(text)
    return f"JSON with {how}", how


def _wrapped(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The document lies within another, or stands as a text."""
    value = json.loads(path.read_text())
    how = draw.choice(("in a list", "under a key", "as text", "its first half"))
    if how == "in a list":
        value = [value]
    elif how == "under a key":
        value = {draw.choice(("config", "model", "data")): value}
    elif how == "as text":
        value = json.dumps(value)
    elif isinstance(value, dict):
        value = dict(list(value.items())[: len(value) // 2])
    else:
        value = value[: len(value) // 2]
    written(path, value)
    return f"document {how}", how


def _compressed(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The file's compressed form under its name; or the file twice, or as its own first part."""
    raw = path.read_bytes()
    how = draw.choice(("gzip", "twice", "padded", "shifted"))
    made = {
        "gzip": gzip.compress(raw, mtime=0),
        "twice": raw + raw,
        "padded": raw + bytes(4096),
        "shifted": b"\n" + raw,
    }
    path.write_bytes(made[how])
    return f"bytes {how}", how


# --- configurations -------------------------------------------------------------------------------


def _class(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Another class or type that exists, another dtype, or code of its own."""
    values = json.loads(path.read_text())
    how = draw.choice(("architecture", "model_type", "dtype", "auto_map", "no architecture", "labels"))
    if how == "architecture":
        values["architectures"] = [draw.choice(("LlamaForCausalLM", "BertModel", "ViTModel", "T5Model", "MyModel"))]
    elif how == "model_type":
        values["model_type"] = draw.choice(("llama", "bert", "qwen2", "t5", "vit", "clip", "my_model"))
    elif how == "dtype":
        values.pop("torch_dtype", None)
        values["dtype"] = draw.choice(("float16", "bfloat16", "float8_e4m3fn", "int8", "half", "fp16", "auto"))
    elif how == "auto_map":
        values["auto_map"] = {"AutoConfig": "configuration_x.XConfig", "AutoModelForCausalLM": "modeling_x.XModel"}
    elif how == "no architecture":
        values.pop("architectures", None)
        values.pop("model_type", None)
    else:
        values["id2label"] = draw.choice(({"0": "a"}, {"a": 0}, ["a", "b"], {"0": "a", "1": "b", "2": "c", "3": "d"}))
    written(path, values)
    return f"class: {how}", str(values.get(how, values.get("architectures")))[:60]


_SIZES = re.compile(r"(size|dim|num|layers|heads|width|depth|rank|channels|positions|experts|factor|kernel|stride)")


def _sizes(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A size is that of another member of the family, or one that does not go with the others."""
    values = json.loads(path.read_text())
    places = [each for each in places_in(values) if isinstance(each[-1], str) and _SIZES.search(each[-1])]
    draw.shuffle(places)
    for place in places:
        inner = values
        for key in place[:-1]:
            inner = inner[key]
        old = inner[place[-1]]
        if isinstance(old, bool) or not isinstance(old, int | list) or not old:
            continue
        if isinstance(old, list):
            inner[place[-1]] = draw.choice((old[::-1], [*old, 1], old[1:], [each * 2 if isinstance(each, int) else each for each in old]))  # fmt: skip
        else:
            inner[place[-1]] = draw.choice((old * 2, old + 2, old * 3 // 2, max(1, old // 2), 7, 1))
        if inner[place[-1]] == old:
            return None
        written(path, values)
        return "size of another model", f"{'.'.join(map(str, place))} {old} → {inner[place[-1]]}"
    return None


def _quantized(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """How weights are packed is gone, of another method, or has other numbers; or plain weights are called packed."""
    values = json.loads(path.read_text())
    own = values.get("quantization_config")
    if own is None:
        if draw.random() < 0.7:
            return None
        values["quantization_config"] = draw.choice(
            (
                {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False},
                {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"},
                {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
                {"quant_method": "fp8", "weight_block_size": [128, 128]},
                {"bits": 4},
            )
        )
        written(path, values)
        return "packing declared", str(values["quantization_config"])[:60]
    how = draw.choice(("gone", "method", "number", "list"))
    if how == "gone":
        del values["quantization_config"]
    elif how == "method":
        own["quant_method"] = draw.choice(("gptq", "awq", "fp8", "bitsandbytes", "exl2", "unknown", None))
    else:
        kinds = (int, list, bool) if how == "number" else (list,)
        names = [each for each in own if isinstance(own[each], kinds)]
        if not names:
            return None
        name = draw.choice(names)
        old = own[name]
        own[name] = not old if isinstance(old, bool) else old * 2 if isinstance(old, int) else old[:-1]
        how = f"{how} {name}"
    written(path, values)
    return f"packing: {how.split()[0]}", how


def _generating(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """Settings for generating that go together badly."""
    values = json.loads(path.read_text())
    more: dict[str, Any] = draw.choice(
        (
            {"do_sample": False, "temperature": 0.6, "top_p": 0.9},
            {"temperature": -1.0, "do_sample": True},
            {"num_beams": 0},
            {"max_new_tokens": 0},
            {"max_length": -5},
            {"cache_implementation": "fast"},
            {"eos_token_id": ["1", "2"]},
            {"eos_token_id": 10**7},
            {"num_return_sequences": 3},
            {"early_stopping": "often"},
            {"pad_token_id": -1},
            {"top_k": -5, "do_sample": True},
            {"my_setting": {"a": 1}},
            {"return_dict_in_generate": False, "output_scores": True},
            {"watermarking_config": {"greenlist_ratio": 2}},
            {"compile_config": {}},
            {"forced_decoder_ids": [[1, 10**6]]},
        )
    )
    values.update(more)
    written(path, values)
    return "generating", str(more)


# --- adapters, pipelines, modules -----------------------------------------------------------------


def _adapting(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    values = json.loads(path.read_text())
    choices: list[dict[str, Any]] = [
        {"peft_type": draw.choice(("LORA", "LOHA", "IA3", "VERA", "lora", "QLORA", None))},
        {
            "target_modules": draw.choice(
                (["query_key_value"], ["q_proj"], "all-linear", ".*q_proj", [], "(", ["embed_tokens", "lm_head"])
            )
        },
        {"r": draw.choice((1, 2, 16, 0, "8"))},
        {"task_type": draw.choice(("SEQ_CLS", "SEQ_2_SEQ_LM", "causal", None))},
        {"modules_to_save": draw.choice((["lm_head"], ["classifier"], "lm_head", ["embed_tokens", "norm"]))},
        {"layers_to_transform": draw.choice(([0], 1, [5], "all"))},
        {"use_dora": not values.get("use_dora")},
        {"bias": draw.choice(("all", "lora_only", "some"))},
        {"rank_pattern": {"q_proj": 3}},
        {"base_model_name_or_path": draw.choice((None, "", 7, "../llama"))},
        {"inference_mode": draw.choice((False, "yes"))},
        {"init_lora_weights": draw.choice(("pissa", "olora", "gaussian", "unknown", False))},
        {"num_virtual_tokens": draw.choice((3, 50, None))},
        {"alora_invocation_tokens": [1, 2]},
        {"trainable_token_indices": draw.choice(([0, 7], {"embed_tokens": [1]}, [999]))},
        {"future_option": draw.choice((True, 3, None))},
        {"layer_replication": [[0, 1], [0, 2]]},
        {"exclude_modules": draw.choice((["q_proj"], ".*", None))},
    ]
    known = [each for each in choices if next(iter(each)) in values or draw.random() < 0.2]
    if not known:
        return None
    more = draw.choice(known)
    values.update(more)
    written(path, values)
    return f"adapter's {next(iter(more))}", str(next(iter(more.values())))


def _component(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A part of a pipeline has another class or library, is null, or lies in another folder."""
    values = json.loads(path.read_text())
    parts = [name for name, each in values.items() if isinstance(each, list) and each and each[0]]
    name = draw.choice(parts)
    how = draw.choice(("class", "library", "null", "folder", "gone", "more", "pipeline", "form"))
    if how == "class":
        values[name][1] = draw.choice(("AutoencoderKL", "UNet2DConditionModel", "CLIPTextModel", "DDIMScheduler", "T5EncoderModel", "EulerDiscreteScheduler", "NoSuch"))  # fmt: skip
    elif how == "library":
        values[name][0] = draw.choice(("transformers", "diffusers", "my_code", "optimum", name))
    elif how == "null":
        values[name] = [None, None]
    elif how == "folder":
        (folder / name).rename(folder / f"{name}_old")
        values["_note"] = "moved"
    elif how == "gone":
        del values[name]
    elif how == "more":
        values[draw.choice(("refiner", "safety_checker", "feature_extractor"))] = ["transformers", "CLIPImageProcessor"]
    elif how == "pipeline":
        values["_class_name"] = draw.choice(("StableDiffusionPipeline", "DDPMPipeline", "FluxPipeline", "MyPipeline", ["a", "b"]))  # fmt: skip
    else:
        values[name] = draw.choice((values[name][1], values[name][:1], [*values[name], "x"], {"class": values[name][1]}))  # fmt: skip
    written(path, values)
    return f"component {how}", name


def _modules(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    values = json.loads(path.read_text())
    one = draw.choice(values)
    how = draw.choice(("order", "path", "type", "gone", "twice", "field gone", "unknown type"))
    if how == "order":
        values.reverse()
    elif how == "path":
        one["path"] = draw.choice(("9_Other", "", "../x", one["path"] + "/x"))
    elif how == "type":
        one["type"] = draw.choice(("sentence_transformers.models.Normalize", "sentence_transformers.models.Pooling"))
    elif how == "unknown type":
        one["type"] = draw.choice(("my.module.Pool", "sentence_transformers.models.Nothing", "os.path"))
    elif how == "gone":
        values.remove(one)
    elif how == "twice":
        values.append(dict(one))
    else:
        del one[draw.choice(sorted(one))]
    written(path, values)
    return f"modules: {how}", str(one.get("path"))
