"""Tiny models of Transformers as llama.cpp's own converter writes them: `fixtures/gguf_cases.jsonl`.

    python tools/llama_cpp/convert_cases.py SOURCE [--seed N…] [--half] [CLASS…]   # needs torch, transformers, xllamacpp

SOURCE is llama.cpp's. With `--half`, models in BF16 are converted, and their configurations recorded beside the tensors'
types: `fixtures/converted.jsonl`, what `inspect quants` must find from a configuration alone. Each class that both the converter and Transformers have is built with a small configuration,
saved, converted without its tokenizer, and recorded: key-values, and tensors with their shapes. Files that llama.cpp
itself does not load are left out: the converter writes some from configurations that no model has. Without CLASS all.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import multiprocessing
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from library import Llama  # noqa: E402
from load_cases import patterns  # noqa: E402

if TYPE_CHECKING:
    from structure import Structure

OUT = ROOT / "fixtures" / "gguf_cases.jsonl"
HALF = ROOT / "fixtures" / "converted.jsonl"
#: Fields of configurations that say nothing of tensors.
IDLE = re.compile(
    r"(id2label|label2id|transformers_version|(?!pad)\w*_token_ids?|.*(dropout|_pdrop|_range|_eps|_coef)\w*|use_cache)"
)
KINDS = ROOT / "fixtures" / "gguf_kinds.json"  # `tools/write_gguf.py` writes them
VOCABULARY = 160
MOST_PARAMETERS = 60_000_000
#: The converter's classes that need a tensor's numbers immediately, and fail when these are read late.
EAGER = frozenset({"JaisModel"})
MOST_SECONDS = 120  # of one conversion

#: A field's name → its value, by the first pattern that fits; chosen by `Small` where it is random.
SIZES: tuple[tuple[str, Any], ...] = (
    (r"(text_)?hidden_size|d_model|n_embd|embed_dim|embedding_size|hidden_dim|out_hidden_size|projection_dim", "hidden"),
    (r"(shared_|dense_)?intermediate_size(_mlp)?|ffn_dim|n_inner|d_ff|ffn_hidden_size|block_ff_dim", "width"),
    (r"(en|de)coder_ffn_dim|feed_forward_size", "width"),
    (r"num_hidden_layers|n_layers?|num_(decoder_)?layers|(en|de)coder_layers|depth", "layers"),
    (r"num_attention_heads|n_heads?|num_heads|(en|de)coder_attention_heads", 4),
    (r"num_key_value_heads|num_kv_heads|n_kv_heads", "kv"),
    (r"head_dim|d_kv", "head"),
    (r"moe_intermediate_size|expert_ffn_hidden_size|moe_ffn_hidden_size", 40),
    (r"(moe_)?shared_expert_intermediate_size", 48),
    (r"vocab_size(_per_layer_input)?", VOCABULARY),
    (r"max_position_embeddings|n_positions|n_ctx|max_seq_len", 64),
    (r"(num|n)_(local_|routed_)?experts|moe_num_experts", 8),
    (r"num_experts_per_tok(en)?|moe_topk|moe_k|top_k_experts|router_topk", 2),
    (r"(n|num|moe_num)_shared_experts?", 1),
    (r"q_lora_rank", 24), (r"kv_lora_rank", 16), (r"qk_nope_head_dim", 16), (r"qk_rope_head_dim", 8),
    (r"v_head_dim", 12), (r"n_group|topk_group|num_expert_groups?", 1),
    (r"first_k_dense_replace|num_dense_layers|moe_layer_start_index", 1),
    (r"index_n_heads", 2), (r"index(er)?_head_dim", 16), (r"index_topk", 8),
    (r"linear_num_key_heads", 2), (r"linear_num_value_heads", 4), (r"linear_(key|value)_head_dim", 16),
    (r"mamba_d_state|(ssm_)?state_size", 16), (r"mamba_dt_rank|time_step_rank", 6), (r"mamba_(n|num)_heads", 8),
    (r"mamba_head_dim|mamba_d_head", "quarter"), (r"(mamba_)?n_groups", 2), (r"(mamba_)?expand", 2),
    (r"(mamba_)?chunk_size|sliding_window|local_attention", 16), (r"hidden_size_per_layer_input", 16),
    (r"num_kv_shared_layers", 0), (r"relative_attention_num_buckets", 8), (r"global_head_dim", 32),
    (r"(bos|eos|pad|cls|sep|mask|decoder_start)_token_id", 1), (r"(image|video|audio)_token_i(d|ndex)", 3),
    (r"image_size", 56), (r"patch_size", 14), (r"attn_layer_indices", [1, 3]),
)  # fmt: skip

#: Fields that are set if the class has no value of its own.
NEEDED = frozenset({"num_key_value_heads", "num_experts_per_tok", "pad_token_id"})

#: Model types whose latent attention has as many heads for keys as for queries.
LATENT = ("deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "youtu")
#: Model type → fields that its class or the converter ties to others; None leaves the class's own default.
TIED: Mapping[str, Mapping[str, Any]] = {
    **{name: {"num_key_value_heads": 4} for name in LATENT},
    "bamba": {"attn_layer_indices": [1, 3], "mamba_d_head": 24, "mamba_n_heads": 8, "hidden_size": 96},
    "bitnet": {"tie_word_embeddings": True},
    "chameleon": {"num_key_value_heads": 4},
    "ernie4_5_moe": {"intermediate_size": 80, "num_key_value_heads": 2},
    "eurobert": {"classifier_pooling": "mean"},
    "falcon": {"head_dim": None, "num_kv_heads": 2, "new_decoder_architecture": True, "ffn_hidden_size": None},
    "falcon_h1": {"mamba_d_ssm": 96, "mamba_n_heads": 4, "mamba_d_head": 24, "hidden_size": 96, "head_dim": 24},
    "gpt2": {"n_inner": None},
    "hunyuan_v1_dense": {"head_dim": 24},
    "hunyuan_v1_moe": {"head_dim": 24},
    "lfm2_moe": {"num_hidden_layers": 4, "layer_types": ["conv", "conv", "full_attention", "conv"]},
    "mamba2": {"num_heads": 8, "head_dim": 24, "hidden_size": 96},
    "mamba": {"hidden_size": 96, "intermediate_size": 192},
    "falcon_mamba": {"hidden_size": 96, "intermediate_size": 192},
    "minicpm3": {"hidden_size": 96, "v_head_dim": 24, "num_key_value_heads": 4},
    "nemotron_h": {"layers_block_type": ["linear_attention", "moe", "full_attention", "moe"]},
    "phi": {"hidden_size": 96, "intermediate_size": 384, "num_key_value_heads": 4},
    "qwen3_next": {"num_hidden_layers": 4},
}

#: Model type → fields of published configurations that Transformers no longer writes.
WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "deepseek_v32": {"scoring_func": "sigmoid"},
    "exaone_moe": {"scoring_func": "sigmoid"},
    "gemma4_unified": {"moe_intermediate_size": None},
    "gemma4_unified_assistant": {"moe_intermediate_size": None},
    "cohere2": {"rotary_pct": 1.0, "rope_theta": 10000.0},
    "falcon_h1": {"head_dim": 24, "mamba_expand": 2},
    "gpt2": {"n_ctx": 64},
    "gpt_neox": {"rotary_pct": 0.25, "rotary_emb_base": 10000},
    "minimax_m2": {"rotary_dim": 8},
    "t5": {"decoder_start_token_id": 0},
    "umt5": {"decoder_start_token_id": 0},
}


def published(model_type: str, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the published configuration of a model that Transformers saved as `config`."""
    text = config.get("text_config", config)
    return {**WRITTEN.get(model_type, {}), **(OF_FIELDS[model_type](text) if model_type in OF_FIELDS else {})}


def _minimax_m3(text: Mapping[str, Any]) -> dict[str, Any]:
    sparse = {"num_index_heads": "n_heads", "index_dim": "head_dim", "topk_blocks": "topk_blocks"}
    sparse |= {"block_size": "block_size", "local_block": "local_blocks"}
    return {
        "n_shared_experts": 1,
        "sparse_attention_config": {f"sparse_{new}": text[f"index_{old}"] for new, old in sparse.items()},
        "moe_layer_freq": [int(kind == "sparse") for kind in text["mlp_layer_types"]],
    }


def _glm5_next(text: Mapping[str, Any]) -> dict[str, Any]:
    linear = {"num_heads": "num_heads", "head_dim": "head_dim", "short_conv_kernel_size": "conv_kernel_dim"}
    return {
        "linear_attn_config": {new: text[f"linear_{old}"] for new, old in linear.items()},
        "mla_use_nope": True,
        "first_k_dense_replace": text["mlp_layer_types"].count("dense"),
    }


def _dots3_note(text: Mapping[str, Any]) -> dict[str, Any]:
    slides = text["layer_types"].index("sliding_attention")
    own = {**text, **(text.get("per_layer_config") or {}).get(str(slides), {})}
    names = ("num_attention_heads", "kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    return {
        "scoring_func": "sigmoid",
        "first_k_dense_replace": text["mlp_layer_types"].count("dense"),
        "sliding_window_size": text["sliding_window"],
        "swa_head_dim": own["qk_nope_head_dim"] + own["qk_rope_head_dim"],
        **{f"swa_{name}": own[name] for name in names},
    }


#: Model type → its published configuration's fields, from those that Transformers has instead.
OF_FIELDS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "dots3_note": _dots3_note,
    "dots3_note_text": _dots3_note,
    "glm5_next": _glm5_next,
    "minimax_m3_vl": _minimax_m3,
}


class Small:
    """The sizes of one small model."""

    def __init__(self, seed: int, structure: Structure | None = None) -> None:
        draw = random.Random(seed)
        self.structure = structure
        self.hidden = 16 * draw.choice([4, 6])
        self.quarter = self.hidden // 4
        self.factors = [1.0 + number / 8 for number in range(self.hidden // 8)]
        self.width = 8 * draw.randint(10, 15)
        self.layers = draw.choice([4, 6])
        self.kv = draw.choice([2, 2, 1])
        self.head = draw.choice([self.hidden // 4, 24])

    def fields(self, config_class: Any, start: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """The arguments of the class's configuration, including those of its parts.

        Args:
            start: fields without which there is no default.
        """
        default = config_class(**start)
        parts = {name: getattr(default, name, None) for name in getattr(config_class, "sub_configs", ())}
        olds = {name: old for name, old in default.to_dict().items() if name not in parts}
        fields = {name: value for name, old in olds.items() if (value := self._size(name, old)) is not None}
        if self.structure is not None:
            fields |= self.structure.changes({**olds, **fields})
        for name, part in parts.items():
            if part is not None and hasattr(part, "model_type"):
                fields[name] = {"model_type": part.model_type, **self.fields(type(part))}
        tied = TIED.get(config_class.model_type, {})
        return {name: value for name, value in {**fields, **tied}.items() if value is not None}

    def _size(self, name: str, old: Any) -> Any:
        """A smaller value of a field; None to leave it unchanged."""
        value = next((value for pattern, value in SIZES if re.fullmatch(pattern, name)), None)
        value = getattr(self, value) if isinstance(value, str) else value
        if isinstance(old, (bool, dict)) or isinstance(old, list) != isinstance(value, list):
            return None
        return None if old is None and name not in NEEDED else value


class Converter:
    """llama.cpp's converter, without its tokenizers and multi-token blocks."""

    def __init__(self, source: Path) -> None:
        sys.path[:0] = [str(source / "gguf-py"), str(source)]
        self.gguf = importlib.import_module("gguf")
        self.base = importlib.import_module("conversion.base")
        for path in (source / "conversion").glob("*.py"):
            importlib.import_module(f"conversion.{path.stem}".removesuffix(".__init__"))
        self.base.ModelBase.no_mtp = True
        for each in _with_subclasses(self.base.TextModel):
            each.set_vocab = _set_vocabulary
        self._mend()

    def _mend(self) -> None:
        """Undo what keeps the converter from models that it knows, without any effect on their values."""
        minimax = importlib.import_module("conversion.minimax").MiniMaxText01Model
        minimax._get_suppress_tokens = lambda _: []  # reads the tokenizer
        nomic = importlib.import_module("conversion.bert").NomicBertModel
        nomic._is_tokenizer_xlmroberta = lambda _: False
        baichuan = importlib.import_module("conversion.baichuan").BaichuanModel
        fused = baichuan.modify_tensors  # recurses endlessly for all but the fused projection

        def modify(model: Any, tensor: Any, name: str, layer: int | None) -> Any:
            own = fused if name.endswith("W_pack.weight") else self.base.TextModel.modify_tensors
            return own(model, tensor, name, layer)

        baichuan.modify_tensors = modify

    def classes(self, towers: bool = False) -> list[str]:
        """The classes that it converts, or whose towers beside a language model it converts."""
        kind = self.base.ModelType.MMPROJ if towers else self.base.ModelType.TEXT
        return sorted(self.base.ModelBase._model_classes[kind])

    def convert(self, folder: Path, name: str, more: Mapping[str, Any], kind: str = "ALL_F32") -> Path:
        """Convert the folder's model to a file beside it."""
        return self.written(folder, name, more, folder / "model.gguf", kind)

    def written(
        self,
        folder: Path,
        name: str,
        more: Mapping[str, Any],
        out: Path,
        kind: str = "ALL_F32",
        towers: bool = False,
        as_is: bool = False,
    ) -> Path:
        """The folder's model as a file, or its towers. In a process of its own, since the converter's classes keep state.

        Args:
            as_is: `more` is the configuration as it was published, which Transformers would change on reading.
        """
        answers = multiprocessing.get_context("fork").SimpleQueue()

        def write() -> None:
            base = self.base
            try:
                fields = {**more, **({} if as_is else base.ModelBase.load_hparams(folder, False))}
                which = base.ModelType.MMPROJ if towers else base.ModelType.TEXT
                model_class = base.ModelBase.from_model_architecture(name.partition("#")[0], which)
                model_class.no_mtp = not name.endswith("#mtp")
                eager = model_class.__name__ in EAGER
                of = {"hparams": fields, "eager": eager, "target_model_dir": _target(folder)}
                model_class(folder, getattr(self.gguf.LlamaFileType, kind), out, **of).write()
                answers.put("")
            except BaseException as error:
                answers.put(repr(error) or "stopped")

        process = multiprocessing.get_context("fork").Process(target=write)
        process.start()
        process.join(MOST_SECONDS)
        error = answers.get() if not answers.empty() else f"the converter died or took {MOST_SECONDS} s"
        if process.is_alive():
            process.terminate()
        if error:
            raise RuntimeError(error)
        return out

    def case(self, path: Path, source: str) -> dict[str, Any]:
        """A file's key-values and tensors, for the record."""
        reader = self.gguf.GGUFReader(path)
        values = {key: field.contents() for key, field in reader.fields.items()}
        architecture = values["general.architecture"]
        own = {key: value for key, value in values.items() if key.startswith(f"{architecture}.")}
        keys = {key.removeprefix(f"{architecture}."): value for key, value in own.items()}
        types = "tokenizer.ggml.token_type_count"
        keys |= {types: values[types]} if types in values else {}
        shapes = {tensor.name: [int(size) for size in reversed(tensor.shape)] for tensor in reader.tensors}
        tokens = len(values.get("tokenizer.ggml.tokens", ()))
        return {
            "architecture": architecture,
            "from": source,
            "keys": keys,
            "tokens": tokens,
            "tensors": patterns(shapes),
        }


def _target(folder: Path) -> Path:
    """The target model of a draft: its configuration is all that the converter reads of it."""
    target = folder.parent / "target"
    target.mkdir(exist_ok=True)
    fields = {
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": VOCABULARY,
        "num_hidden_layers": 8,
        "hidden_size": 64,
    }
    (target / "config.json").write_text(json.dumps(fields))
    return target


def _with_subclasses(cls: Any) -> Iterator[Any]:
    yield cls
    for each in cls.__subclasses__():
        yield from _with_subclasses(each)


def _set_vocabulary(model: Any) -> None:
    """Replaces reading a tokenizer."""
    writer, fields = model.gguf_writer, model.hparams
    writer.add_tokenizer_model("none")
    writer.add_token_list([f"token {number}" for number in range(fields.get("vocab_size") or VOCABULARY)])
    if "type_vocab_size" in fields or "DistilBert" in type(model).__name__:
        writer.add_token_type_count(fields.get("type_vocab_size", 1))
    if f"{writer.arch}.vocab_size" not in writer.kv_data[0]:
        writer.add_vocab_size(fields.get("vocab_size") or VOCABULARY)


def saved(name: str, seed: int, folder: Path, half: bool = False) -> str:
    """A model of the class, saved in F32 or BF16; its model type."""
    import transformers

    model_class = getattr(transformers, name)
    config = model_class.config_class(**Small(seed).fields(model_class.config_class))
    config.architectures = [name]
    model = model_class(config)
    if sum(tensor.numel() for tensor in model.parameters()) > MOST_PARAMETERS:
        raise ValueError("not small: the configuration has sizes that SIZES does not know")
    (model.bfloat16() if half else model.float()).save_pretrained(folder)
    words = {f"token {number}": number for number in range(VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": words, "type": "x"}, "added_tokens": []}))
    return str(config.model_type)


def halved(converter: Converter, path: Path, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration and the tensors that the converter writes, by type."""
    reader = converter.gguf.GGUFReader(path)
    kinds: dict[str, dict[str, list[int]]] = {}
    for tensor in reader.tensors:
        kinds.setdefault(tensor.tensor_type.name, {})[tensor.name] = [int(size) for size in reversed(tensor.shape)]
    fields = {key: value for key, value in config.items() if value is not None and not IDLE.fullmatch(key)}
    return {"class": name, "config": fields, "tensors": {kind: patterns(shapes) for kind, shapes in kinds.items()}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--seed", type=int, nargs="*", default=[0, 1])
    parser.add_argument("classes", nargs="*")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)  # the converter runs in forks, which have no other threads
    converter, llama, lines = Converter(arguments.source), Llama(), []
    for name in arguments.classes or [each for each in converter.classes() if hasattr(transformers, each)]:
        for seed in arguments.seed:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    model_type = saved(name, seed, Path(folder), arguments.half)
                    config = json.loads((Path(folder) / "config.json").read_text())
                    kind = "MOSTLY_BF16" if arguments.half else "ALL_F32"
                    path = converter.convert(Path(folder), name, published(model_type, config), kind)
                except Exception as error:  # a class that needs more than `TIED` gives it
                    print(f"{name} {seed}: {error!r:.160}")
                    continue
                if arguments.half:
                    lines.append(json.dumps(halved(converter, path, name, config), separators=(",", ":")))
                    continue
                answer = llama.load(path)
                print(f"{name} {seed}: {answer.error or 'converted'}")
                if not answer.error:
                    lines.append(json.dumps(converter.case(path, f"{name} {seed}"), separators=(",", ":")))
    if arguments.half:
        HALF.write_text("\n".join(lines) + "\n")
        print(f"{len(lines)} configurations")
        return
    if not arguments.classes:
        OUT.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} cases of {len({json.loads(line)['architecture'] for line in lines})} architectures")


if __name__ == "__main__":
    main()
