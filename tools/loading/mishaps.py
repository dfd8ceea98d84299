"""Further faults, of which no rule was corrected when they were written: `mutate(folder, others, draw)`, as in `mutations`.

Sets from `f` on draw half of their faults here: what converters, merge scripts, editors and people do to a download.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mutations
from mutations import Done, _gguf_parts, _places, _write_gguf, _write_tensors, _written

Change = Callable[[Path, Path, list[Path], random.Random], Done | None]


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
        "tokenizer.json": (_stage, _stage, _vocabulary, _special),
        "tokenizer_config.json": (_tokenizer_class, _decoder, _template),
        "generation_config.json": (_generating,),
        "adapter_config.json": (_adapting, _adapting),
        "model_index.json": (_component, _component),
        "modules.json": (_modules,),
    }
    found = named.get(path.name, ())
    if path.name.endswith(".index.json"):
        found = (_index,)
    if path.suffix == ".json":
        return (*found, _syntax, _wrapped)
    if path.suffix == ".safetensors":
        return (_header, _data, _names, _names, _compressed)
    if path.suffix == ".gguf":
        return (_gguf_key, _gguf_key, _gguf_bytes, _compressed)
    if path.suffix in (".bin", ".pt"):
        return (_pickled, _compressed)
    if path.suffix == ".jinja":
        return (_template,)
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
    _written(path, value)
    return f"document {how}", how


def _compressed(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The file's compressed form under its name; or the file twice, or as its own first part."""
    raw = path.read_bytes()
    how = draw.choice(("gzip", "twice", "padded", "shifted"))
    made = {"gzip": gzip.compress(raw), "twice": raw + raw, "padded": raw + bytes(4096), "shifted": b"\n" + raw}
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
    _written(path, values)
    return f"class: {how}", str(values.get(how, values.get("architectures")))[:60]


_SIZES = re.compile(r"(size|dim|num|layers|heads|width|depth|rank|channels|positions|experts|factor|kernel|stride)")


def _sizes(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A size is that of another member of the family, or one that does not go with the others."""
    values = json.loads(path.read_text())
    places = [each for each in _places(values) if isinstance(each[-1], str) and _SIZES.search(each[-1])]
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
        _written(path, values)
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
        _written(path, values)
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
    _written(path, values)
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
    _written(path, values)
    return "generating", str(more)


# --- tokenizers -----------------------------------------------------------------------------------

_STAGES: dict[str, tuple[Any, ...]] = {
    "normalizer": ({"type": "NFKC"}, {"type": "Upper"}, {"type": "Replace", "pattern": " "}, "Lowercase"),
    "pre_tokenizer": (
        {"type": "Whitespace"},
        {"type": "ByteLevel"},
        {"type": "Fast"},
        {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False},
    ),
    "post_processor": (
        {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
        {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {},
        },
        {"type": "RobertaProcessing"},
    ),
    "decoder": ({"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "Nice"}, {"type": "Fuse"}),
    "truncation": (
        {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        {"max_length": -1},
        {"max_length": 4, "stride": 9, "strategy": "LongestFirst", "direction": "Right"},
    ),
    "padding": (
        {
            "strategy": {"Fixed": 8},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 9999,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        {"strategy": "Long"},
    ),
    "version": ("2.0", 1, "0.9"),
}


def _stage(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """One stage of a tokenizer is gone, or another that exists or does not."""
    values = json.loads(path.read_text())
    name = draw.choice(sorted(_STAGES))
    if draw.random() < 0.25:
        values.pop(name, None)
        new: Any = "gone"
    else:
        new = values[name] = draw.choice(_STAGES[name])
    _written(path, values)
    return f"stage {name}", str(new)[:60]


def _vocabulary(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Ids twice, negative, as texts or with holes; or the model under another name."""
    values = json.loads(path.read_text())
    own = values["model"]
    vocab = own["vocab"]
    how = draw.choice(("model type", "unknown token", "form", "ids twice", "hole", "text id", "negative"))
    if how == "model type":
        own["type"] = draw.choice([each for each in ("BPE", "WordPiece", "Unigram", "WordLevel", "Chars") if each != own.get("type")])  # fmt: skip
    elif how == "unknown token":
        own["unk_id" if own.get("type") == "Unigram" else "unk_token"] = 9999 if own.get("type") == "Unigram" else "zz?"
    elif how == "form":
        own["vocab"] = [[token, 0.0] for token in vocab] if isinstance(vocab, dict) else {each[0]: at for at, each in enumerate(vocab)}  # fmt: skip
    elif not isinstance(vocab, dict):
        return None
    else:
        token = draw.choice(sorted(vocab))
        number = vocab[token]
        vocab[token] = {"ids twice": 5, "hole": number + 1000, "text id": str(number), "negative": -1}[how]
    _written(path, values)
    return f"tokenizer's {how}", how


def _special(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """The added tokens' list has an entry twice, is unsorted, empty, a dictionary, or lacks a field."""
    values = json.loads(path.read_text())
    added = values["added_tokens"]
    if len(added) < 2:
        return None
    how = draw.choice(("twice", "unsorted", "empty", "dictionary", "less a field", "same id", "ids moved"))
    if how == "twice":
        added.append(added[0])
    elif how == "unsorted":
        added.reverse()
    elif how == "empty":
        values["added_tokens"] = []
    elif how == "dictionary":
        values["added_tokens"] = {each["content"]: each["id"] for each in added}
    elif how == "less a field":
        added[0].pop(draw.choice(sorted(added[0])))
    elif how == "same id":
        added[1]["id"] = added[0]["id"]
    else:
        for each in added:
            each["id"] += 400
    _written(path, values)
    return f"added tokens {how}", how


def _tokenizer_class(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    values = json.loads(path.read_text())
    new = draw.choice(("LlamaTokenizer", "BertTokenizer", "T5Tokenizer", "GPT2TokenizerFast", "MyTokenizer", "CLIPTokenizer", "XLMRobertaTokenizer", "PreTrainedTokenizer", None, ""))  # fmt: skip
    old = values.get("tokenizer_class")
    values["tokenizer_class"] = new
    _written(path, values)
    return "tokenizer's class", f"{old} → {new}"


def _decoder(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """Special tokens as documents, as ids, unknown ones, or described at another id."""
    values = json.loads(path.read_text())
    how = draw.choice(("document", "id", "unknown", "described elsewhere", "described badly", "extra", "length", "names"))  # fmt: skip
    if how == "document":
        values["pad_token"] = {"__type": "AddedToken", "content": "<mine>", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}  # fmt: skip
    elif how == "id":
        values["eos_token"] = 2
    elif how == "unknown":
        values["eos_token"] = "<|finished|>"
    elif how == "described elsewhere":
        values["added_tokens_decoder"] = {"5000": {"content": "<s>", "special": True}}
    elif how == "described badly":
        values["added_tokens_decoder"] = draw.choice(({"a": {"content": "<s>"}}, {"0": "<s>"}, {"0": {"special": True}}, ["<s>"]))  # fmt: skip
    elif how == "extra":
        values["extra_special_tokens"] = draw.choice((["<a>", "<b>"], {"image_token": "<image>"}, "<a>", [1]))
    elif how == "length":
        values["model_max_length"] = draw.choice((10**30, 1e30, "512", -1, 0))
    else:
        values["model_input_names"] = draw.choice((["input_ids", "pixels"], "input_ids", [1]))
    _written(path, values)
    return f"tokenizer's settings: {how}", how


def _template(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A chat template that Jinja does not parse, or that calls what is not there; or in another form."""
    template: Any = draw.choice(
        (
            "{% for m in messages %}{{ m['content'] }}",
            "{{ messages[0]['content' }}",
            "{% if x %}",
            "{{ missing(messages) }}",
            "{% include 'other' %}",
            "{{ messages | shout }}",
            "",
            {"default": "{{ messages }}"},
            [{"name": "default", "template": "{{ messages }}"}],
            [{"name": "a"}],
            ["{{ messages }}"],
            7,
        )
    )
    if path.suffix == ".jinja":
        path.write_text(template if isinstance(template, str) else json.dumps(template))
    else:
        values = json.loads(path.read_text())
        values["chat_template"] = template
        _written(path, values)
    return "template", str(template)[:60]


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
    _written(path, values)
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
    _written(path, values)
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
    _written(path, values)
    return f"modules: {how}", str(one.get("path"))


# --- weights --------------------------------------------------------------------------------------


def _index(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    values = json.loads(path.read_text())
    entries = values["weight_map"]
    how = draw.choice(("empty", "absolute", "null", "total", "no metadata", "prefix", "plain shard", "list", "one file"))  # fmt: skip
    if how == "empty":
        values["weight_map"] = {}
    elif how == "absolute":
        values["weight_map"] = {key: f"/models/{file}" for key, file in entries.items()}
    elif how == "null":
        entries[draw.choice(sorted(entries))] = None
    elif how == "total":
        values["metadata"]["total_size"] = draw.choice((0, 10**15, "many", -1, 1.5))
    elif how == "no metadata":
        del values["metadata"]
    elif how == "prefix":
        values["weight_map"] = {f"model.{key}": file for key, file in entries.items()}
    elif how == "plain shard":
        first = path.parent / sorted(set(entries.values()))[0]
        (path.parent / "model.safetensors").write_bytes(first.read_bytes())
        values["note"] = 1
    elif how == "list":
        values["weight_map"] = [[key, file] for key, file in entries.items()]
    else:
        first_name = sorted(set(entries.values()))[0]
        values["weight_map"] = dict.fromkeys(entries, first_name)
    _written(path, values)
    return f"index: {how}", how


def _opened(path: Path) -> tuple[dict[str, tuple[str, list[int], bytes]], Any]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", None)
    rest = raw[8 + length :]
    return {name: (each["dtype"], each["shape"], rest[slice(*each["data_offsets"])]) for name, each in header.items()}, metadata  # fmt: skip


def _header(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The header's own bytes."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    rest = raw[8 + length :]
    how = draw.choice(("gap", "overlap", "unknown dtype", "lower dtype", "number metadata", "more fields", "no shape", "length", "indented", "unsorted", "size as text"))  # fmt: skip
    name = draw.choice(sorted(each for each in header if each != "__metadata__"))
    if how == "gap":
        rest += bytes(16)
        header["zz.gap"] = {"dtype": "U8", "shape": [8], "data_offsets": [len(rest) - 8, len(rest)]}
    elif how == "overlap":
        header["zz.tied"] = dict(header[name])
    elif how == "unknown dtype":
        header[name]["dtype"] = draw.choice(("F24", "INT4", "torch.float32", "F8", "COMPLEX"))
    elif how == "lower dtype":
        header[name]["dtype"] = header[name]["dtype"].lower()
    elif how == "number metadata":
        header["__metadata__"] = {**(header.get("__metadata__") or {}), "step": 100}
    elif how == "more fields":
        header[name]["strides"] = [1]
    elif how == "no shape":
        del header[name]["shape"]
    elif how == "size as text":
        header[name]["shape"] = [str(each) for each in header[name]["shape"]] or ["1"]
    elif how == "unsorted":
        header = dict(sorted(header.items(), reverse=True))
    text = json.dumps(header, indent=1 if how == "indented" else None).encode()
    path.write_bytes(struct.pack("<Q", len(text) + (8 if how == "length" else 0)) + text + rest)
    return f"header: {how}", name


def _data(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Values that are no numbers, all zeros, or in the other order of bytes."""
    tensors, metadata = _opened(path)
    name = draw.choice(sorted(tensors))
    dtype, shape, data = tensors[name]
    how = draw.choice(("NaN", "zeros", "big-endian", "negative", "large"))
    width = {"F32": 4, "F16": 2, "BF16": 2}.get(dtype, 0)
    if not width or not data:
        return None
    if how == "NaN":
        data = {"F32": b"\0\0\xc0\x7f", "F16": b"\0\x7e", "BF16": b"\xc0\x7f"}[dtype] * (len(data) // width)
    elif how == "zeros":
        data = bytes(len(data))
    elif how == "big-endian":
        data = b"".join(data[at : at + width][::-1] for at in range(0, len(data), width))
    elif how == "negative":
        data = b"".join(data[at : at + width - 1] + bytes([data[at + width - 1] ^ 128]) for at in range(0, len(data), width))  # fmt: skip
    else:
        data = {"F32": b"\xff\xff\x7f\x7f", "F16": b"\xff\x7b", "BF16": b"\x7f\x7f"}[dtype] * (len(data) // width)
    tensors[name] = dtype, shape, data
    _write_tensors(path, tensors, metadata)
    return f"values: {how}", name


Tensors = dict[str, tuple[str, list[int], bytes]]


def _names(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Names and shapes as another exporter writes them; layers missing, doubled or renumbered; parts joined or flat."""
    before, metadata = _opened(path)
    how = draw.choice((*_RENAMED, "flat", "one-dimensional", "doubled width", "joined", "head more", "suffix", "float64"))  # fmt: skip
    if how in _RENAMED:
        after = _RENAMED[how](before)
    elif how == "suffix":
        old, new = draw.choice(((".weight", ""), ("weight", "gamma"), (".bias", ".beta"), ("_", "."), ("lora_A.", "lora_A.default."), ("base_model.model.", "")))  # fmt: skip
        after = {name.replace(old, new): each for name, each in before.items()}
    elif how == "joined":
        name = next((each for each in before if "q_proj" in each or "query" in each), "")
        joined = name.replace("q_proj", "qkv_proj").replace("query", "qkv")
        after = {joined if each == name else each: value for each, value in before.items()}
    elif how == "head more":
        dtype = next(iter(before.values()))[0]
        after = {**before, "lm_head.bias": (dtype, [8], bytes(8 * {"F32": 4, "F16": 2, "BF16": 2}.get(dtype, 1)))}
    elif how == "float64":
        after = {name: ("F64", shape, data * 2) if dtype == "F32" else (dtype, shape, data) for name, (dtype, shape, data) in before.items()}  # fmt: skip
    else:
        name = draw.choice(sorted(before))
        dtype, shape, data = before[name]
        changed = {"flat": [_product(shape)], "one-dimensional": [1, *shape], "doubled width": [*shape[:-1], 2 * _product(shape[-1:])]}  # fmt: skip
        after = {**before, name: (dtype, changed[how], data * 2 if how == "doubled width" else data)}
    if after == before or not after:
        return None
    _write_tensors(path, after, metadata)
    return f"names: {how}", how


def _second(tensors: Tensors, new: str) -> Tensors:
    return {re.sub(r"\.1\.", new, name, count=1): each for name, each in tensors.items()}


_RENAMED: dict[str, Callable[[Tensors], Tensors]] = {
    "a layer gone": lambda all_of: {name: each for name, each in all_of.items() if ".1." not in name},
    "renumbered": lambda all_of: _second(all_of, ".2."),
    "a layer more": lambda all_of: {**all_of, **_second(all_of, ".2.")},
    "prefix gone": lambda all_of: {name.partition(".")[2] or name: each for name, each in all_of.items()},
    "head gone": lambda all_of: {
        name: each for name, each in all_of.items() if not re.search(r"head|classifier|embed", name)
    },
    "biases gone": lambda all_of: {name: each for name, each in all_of.items() if not name.endswith("bias")},
}


def _product(shape: list[int]) -> int:
    total = 1
    for each in shape:
        total *= each
    return total


def _pickled(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A file of PyTorch with something else among its tensors, of another protocol, or of another dtype."""
    import torch

    tensors: Any = torch.load(path, weights_only=True)
    if not isinstance(tensors, dict):
        return None
    how = draw.choice(("null", "number", "nested", "bfloat16", "int", "a list of one", "bare pickle", "name of number", "parameters"))  # fmt: skip
    name = draw.choice(sorted(tensors))
    if how == "null":
        tensors[name] = None
    elif how == "number":
        tensors["step"] = 100
    elif how == "nested":
        tensors = {"optimizer": {"lr": 0.1}, "model_state": tensors}
    elif how == "bfloat16":
        tensors = {key: each.bfloat16() for key, each in tensors.items()}
    elif how == "int":
        tensors[name] = tensors[name].int()
    elif how == "a list of one":
        tensors = [tensors]
    elif how == "name of number":
        tensors = dict(enumerate(tensors.values()))
    elif how == "parameters":
        tensors = {key: torch.nn.Parameter(each) for key, each in tensors.items()}
    else:
        path.write_bytes(pickle.dumps({key: each.tolist() for key, each in tensors.items()}))
        return f"pickle: {how}", name
    torch.save(tensors, path)
    return f"pickle: {how}", name


# --- GGUF -----------------------------------------------------------------------------------------


def _gguf_key(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A key-value of another model, of another width, twice, or under another architecture's name."""
    try:
        keys, tensors = _gguf_parts(path)
    except Exception:
        return None
    place = draw.randrange(len(keys))
    key, types, value = keys[place]
    how = draw.choice(("wider", "twice", "renamed", "architecture", "as text", "more", "empty text", "number"))
    if how == "wider" and types[0] in (4, 5):
        keys[place][1] = [10 if types[0] == 4 else 11]
    elif how == "twice":
        keys.append(keys[place])
    elif how == "renamed":
        keys[place][0] = draw.choice((key.upper(), key.replace("llama", "qwen2"), "x." + key, key + "s"))
    elif how == "architecture":
        for each in keys:
            if each[0] == "general.architecture":
                each[2] = draw.choice(("llama", "qwen2", "gemma", "phi3", "bert", "nothing"))
    elif how == "as text" and types[0] not in (8, 9):
        keys[place][1:] = [[8], str(value)]
    elif how == "more":
        keys.append(["my.key", [8], "text"])
    elif how == "empty text" and types[0] == 8:
        keys[place][2] = ""
    elif how == "number" and types[0] in (4, 10):
        keys[place][2] = draw.choice((value * 2, value + 1, max(0, value - 1), 3))
    else:
        return None
    _write_gguf(path, keys, tensors)
    return f"key-value: {how}", f"{key} {str(value)[:40]!r}"


def _gguf_bytes(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The head's own numbers, or bytes at the end."""
    raw = bytearray(path.read_bytes())
    how = draw.choice(("version", "tensors", "keys", "magic", "more at the end", "version 2"))
    if how == "version":
        raw[4:8] = struct.pack("<I", draw.choice((0, 1, 4, 3 << 24)))
    elif how == "version 2":
        raw[4:8] = struct.pack("<I", 2)
    elif how in ("tensors", "keys"):
        at = 8 if how == "tensors" else 16
        (old,) = struct.unpack("<Q", raw[at : at + 8])
        raw[at : at + 8] = struct.pack("<Q", max(0, old + draw.choice((-1, 1, 2**40))))
    elif how == "magic":
        raw[:4] = draw.choice((b"ggjt", b"GGML", b"GGUf"))
    else:
        raw += bytes(draw.choice((1, 100)))
    path.write_bytes(bytes(raw))
    return f"GGUF bytes: {how}", how
