"""Random key-values of an architecture: the keys that its loader reads, with numbers that distinguish dimensions.

The keys are read from llama.cpp's source, `src/models/*.cpp`. Values that must satisfy a condition, as in its own tests
(`tests/test-llama-archs.cpp`) or in published models, are in `SPECIAL`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Pair = tuple[str, str, Any]  # key, type, value
Entry = tuple[str, list[int], str]  # dtype, shape, name
Keys = dict[str, Any]

#: Architectures without a loader, or that are not a model.
WITHOUT = frozenset({"clip", "gptj", "(unknown)"})
#: The width of a head is hidden size / heads, whatever `attention.key_length` says.
NARROW = frozenset({
    "falcon", "grok", "gpt2", "gptneox", "mpt", "baichuan", "starcoder", "bert", "modern-bert", "nomic-bert",
    "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3", "eurobert", "bloom", "stablelm", "qwen", "qwen2",
    "qwen2moe", "qwen2vl", "phi2", "phi3", "phimoe", "plamo", "codeshell", "orion", "internlm2", "starcoder2",
    "xverse", "command-r", "cohere2", "dbrx", "olmo", "olmo2", "olmoe", "arctic", "deepseek", "deepseek2-ocr",
    "chatglm", "bitnet", "jais", "nemotron", "exaone4", "chameleon", "lfm2", "lfm2moe", "dream", "llada-moe",
    "pockettts", "bailingmoe2", "jamba",
})  # fmt: skip
#: Architectures with as many heads for keys as for queries.
MANY_HEADS = frozenset({
    "olmoe", "dots1", "deepseek2-ocr", "modern-bert", "qwen", "cogvlm", "t5", "t5encoder", "bloom", "gptneox",
    "mpt", "phi2", "neo-bert", "jina-bert-v3", "nomic-bert", "nomic-bert-moe", "codeshell", "gpt2", "pockettts",
})  # fmt: skip
#: Always a mixture of experts, or in every second draw.
EXPERTS = frozenset({
    "llama4", "cohere2moe", "grok", "qwen2moe", "qwen3moe", "qwen3next", "qwen3vlmoe", "qwen35moe", "qwen4exp",
    "phimoe", "dbrx", "olmoe", "arctic", "deepseek", "deepseek2", "deepseek32", "dots3note", "deepseek4", "glm4moe",
    "glm-dsa", "exaone-moe", "bailingmoe", "bailingmoe2", "bailingmoe3", "dots1", "afmoe", "ernie4_5-moe",
    "hunyuan-moe", "hy_v3", "hy_v4", "gpt-oss", "lfm2moe", "smallthinker", "llada-moe", "grovemoe", "minimax-01",
    "minimax-m2", "minimax-m3", "rnd1", "mimo2", "kimi-linear", "kimi-k3", "glm5-next", "step35", "mistral4",
    "mellum", "laguna", "maple", "deepseek2-ocr", "nemotron_h_moe", "granitemoe", "nomic-bert-moe",
})  # fmt: skip
SOMETIMES_EXPERTS = frozenset({
    "llama", "refact", "minicpm", "granite", "mistral3", "llama-embed", "granite_swa", "jamba", "granitehybrid",
    "gemma4",
})  # fmt: skip
#: Layers of two kinds, which differ in the number of key heads.
HYBRID = frozenset({
    "plamo2", "jamba", "granitehybrid", "lfm2", "lfm2moe", "kimi-linear", "bailingmoe3", "kimi-k3", "glm5-next",
})  # fmt: skip
#: Latent attention.
LATENT = frozenset({
    "deepseek2", "deepseek32", "glm-dsa", "dots3note", "kimi-linear", "bailingmoe3", "kimi-k3", "glm5-next",
    "mistral4", "hy_v4", "minicpm3", "plm",
})  # fmt: skip
#: Latent attention without positions in its heads, and with values as wide as hidden size / heads.
WITHOUT_ROPE = frozenset({"glm5-next"})
NARROW_VALUES = frozenset({"minicpm3"})
#: No attention at all.
RECURRENT = frozenset({
    "mamba", "mamba2", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7",
})  # fmt: skip

#: Prefixes of keys other than the architecture.
WHOLE = ("xielu.", "tokenizer.")

FLOATS = re.compile(
    "epsilon|_scale|^logit_scale|softcap|freq_base|factor|clamp|alibi|xielu|situ|gain|magnitude|multiplier|rms_eps|beta"
)
FLAGS = re.compile(
    "weights_norm|causal|safe_gate|swin_norm|parallel_residual|dt_b_c_rms|select_tail|prefix_lm|skip_loop"
)


def loaders(source: Path) -> dict[str, dict[str, bool]]:
    """Architecture → the keys that its loader reads, and whether it needs them."""
    arch = (source / "src/llama-arch.cpp").read_text()
    keys = dict(re.findall(r'\{\s*(LLM_KV_\w+),\s*"([^"]+)"', arch))
    names = dict(re.findall(r'\{\s*LLM_ARCH_(\w+),\s*"([^"]+)"\s*\}', arch.split("LLM_KV_NAMES")[0]))
    model = (source / "src/llama-model.cpp").read_text()
    classes = dict(re.findall(r"case LLM_ARCH_(\w+):\s*return new (llama_model_\w+)", model))
    header = (source / "src/models/models.h").read_text()
    bases = dict(re.findall(r"struct (llama_model_\w+) : public (llama_model_\w+) \{", header))
    bodies: dict[str, str] = {}
    for path in (source / "src/models").glob("*.cpp"):
        for match in re.finditer(r"void (llama_model_\w+)::load_arch_hparams\(.*?\n\}", path.read_text(), re.S):
            bodies[match[1]] = match[0]
    found: dict[str, dict[str, bool]] = {}
    for word, name in names.items():
        owner = classes.get(word)
        while owner and owner not in bodies:
            owner = bases.get(owner)
        asked: dict[str, bool] = {}
        calls = re.finditer(r"get_(?:key|arr|key_or_arr)\w*\(\s*(LLM_KV_\w+)([^;]*);", bodies.get(owner or "", ""))
        for call in calls:
            key = keys[call[1]].replace("%s.", "")
            asked[key] = asked.get(key, False) or "false" not in call[2]
        found[name] = asked
    return {name: asked for name, asked in found.items() if name not in WITHOUT}


class Draw:
    """The numbers of one model, and its key-values so far."""

    def __init__(self, architecture: str, seed: int) -> None:
        pick = self.random = random.Random(f"{architecture} {seed}")
        self.architecture = architecture
        self.layers = pick.choice([4, 5, 6])
        self.head = 8 * pick.randint(3, 9)
        self.kv_heads = pick.choice([1, 2, 3])
        self.heads = self.kv_heads * pick.choice([1, 2, 3]) if self.kv_heads > 1 else pick.choice([2, 3, 4])
        self.hidden = 24 * self.heads * pick.randint(2, 4)
        self.narrow = architecture in NARROW or pick.random() < 0.4
        if self.narrow:
            self.head = self.hidden // self.heads
        self.experts = architecture in EXPERTS or (architecture in SOMETIMES_EXPERTS and pick.random() < 0.5)
        self.keys: Keys = {}

    @property
    def rope(self) -> int:
        """A random number of dimensions that have positions."""
        return 2 * self.random.randint(4, 8)

    def eight(self, least: int, most: int) -> int:
        """A random multiple of 8."""
        return 8 * self.random.randint(least, most)

    def by_layer(self, value: Any, at: Callable[[int], bool], other: Any = 0) -> list[Any]:
        """A value for the layers to which it applies."""
        return [value if at(layer) else other for layer in range(self.layers)]


def draw(architecture: str, asked: Mapping[str, bool], seed: int, kind: type[Draw] | None = None) -> list[Pair]:
    """Draw the key-values. The same seed gives the same values."""
    model = (kind or Draw)(architecture, seed)
    _common(model)
    drawn = _numbers(model)
    for key, needed in asked.items():
        optional = not needed and model.random.random() < 0.25 and not key.endswith("_mla")
        dense = not model.experts and not needed and key.startswith(("expert", "moe", "leading", "interleave"))
        if key not in model.keys and not optional and not dense:
            _add(model, key, drawn)
    if "attention.key_length_swa" in model.keys:
        model.keys["attention.value_length_swa"] = model.keys["attention.key_length_swa"]
    SPECIAL.get(architecture, lambda _: None)(model)
    if architecture in HYBRID:
        model.keys["attention.head_count_kv"] = model.by_layer(model.kv_heads, lambda layer: layer % 3 == 1)
    if architecture in LATENT:
        _latent(model)
    elif "rope.dimension_count" not in model.keys and architecture not in RECURRENT:
        model.keys["rope.dimension_count"] = model.keys.get("attention.key_length", model.head)
    pairs: list[Pair] = [
        ("general.architecture", "string", architecture),
        ("tokenizer.ggml.model", "string", "none"),
        ("tokenizer.ggml.token_type_count", "uint32", 2),
    ]
    return pairs + [
        (key if key.startswith(WHOLE) else f"{architecture}.{key}", kind_of(key, value), value)
        for key, value in model.keys.items()
    ]


def kind_of(key: str, value: Any) -> str:
    """The type with which a key's value is written."""
    one = value[0] if isinstance(value, list) else value
    kind = {bool: "bool", int: "uint32", float: "float32", str: "string"}[type(one)]
    if key in ("rope.dimension_sections", "adapters.token_ids_activate", "adapters.token_ids_substitute"):
        kind = "int32"
    if key.startswith("ple.") and key.endswith(("multipliers", "offsets", "sizes")):
        kind = "uint64"
    return f"array[{kind}]" if isinstance(value, list) else kind


def sound(case: Mapping[str, Any]) -> tuple[list[Pair], list[Entry]]:
    """The key-values and tensors of a case of `fixtures/gguf_loaded.jsonl`, whose file of zeros llama.cpp loads."""
    architecture = case["architecture"]
    pairs: list[Pair] = [
        ("general.architecture", "string", architecture),
        ("tokenizer.ggml.model", "string", "no_vocab"),
    ]
    for key, value in case["keys"].items():
        pairs.append((key if key.startswith(WHOLE) else f"{architecture}.{key}", kind_of(key, value), value))
    entries: list[Entry] = []
    for name, shape, *layers in case["tensors"]:
        entries += [("F32", shape, name.replace("{}", str(layer))) for layer in (layers[0] if layers else [0])]
    return pairs, entries


def _common(model: Draw) -> None:
    """The keys that every loader reads."""
    model.keys = {
        "context_length": model.random.randint(40, 99),
        "embedding_length": model.hidden,
        "block_count": model.layers,
        "feed_forward_length": 16 * model.random.randint(9, 40) + 8,
        "attention.head_count": model.heads,
        "attention.head_count_kv": model.heads if model.architecture in MANY_HEADS else model.kv_heads,
        "attention.layer_norm_epsilon": 1e-5,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "vocab_size": model.random.randint(60, 300),
    }
    if not model.narrow:
        model.keys |= {"attention.key_length": model.head, "attention.value_length": model.head}
    if model.experts:
        model.keys |= {"expert_count": model.random.choice([4, 6, 8]), "expert_used_count": 2}
    if model.architecture in RECURRENT:
        model.keys |= {"attention.head_count": 0, "attention.head_count_kv": 0}
        model.keys.pop("attention.key_length", None)
        model.keys.pop("attention.value_length", None)


def _numbers(model: Draw) -> Keys:
    """A value for each key that is an independent number."""
    pick, eight = model.random, model.eight
    state, heads, expert = eight(2, 6), pick.choice([4, 6, 8]), eight(5, 17)
    return {
        "leading_dense_block_count": pick.choice([0, 1, 2]) if model.experts else model.layers,
        "expert_feed_forward_length": expert, "expert_shared_feed_forward_length": eight(5, 17) + 4,
        "expert_shared_count": pick.choice([1, 2]), "expert_gating_func": pick.choice([1, 2]),
        "expert_chunk_feed_forward_length": eight(3, 9), "experts_per_group": 2, "expert_latent_length": eight(3, 9) + 4,
        "moe_latent_size": eight(3, 9) + 4, "moe_every_n_layers": 2, "interleave_moe_layer_step": pick.choice([1, 2]),
        "attention.q_lora_rank": eight(3, 11), "attention.kv_lora_rank": eight(3, 9),
        "attention.key_length_mla": eight(3, 8), "attention.value_length_mla": eight(2, 7),
        "attention.sliding_window": 16, "attention.relative_buckets_count": pick.randint(5, 12),
        "attention.decay_lora_rank": eight(2, 6), "attention.iclr_lora_rank": eight(2, 6),
        "attention.value_residual_mix_lora_rank": eight(2, 6), "attention.gate_lora_rank": eight(2, 6),
        "attention.indexer.head_count": pick.randint(2, 5), "attention.indexer.key_length": 64 * pick.randint(1, 2),
        "attention.indexer.top_k": pick.choice([40, 56, 88, 104]), "attention.indexer.block_size": 4, "attention.indexer.local_blocks": 1,
        "attention.indexer.kpool": 4, "attention.output_group_count": 2, "attention.output_lora_rank": eight(2, 5),
        "attention.temperature_length": 64, "attention.group_norm_groups": 8, "attention.shared_kv_layers": 0,
        "attention.key_length_swa": eight(3, 9), "full_attention_interval": pick.choice([2, 3]),
        "hyper_connection.count": 4, "hyper_connection.sinkhorn_iterations": 2, "hyper_connection.low_rank": 8,
        "hash_layer_count": pick.choice([0, 1, 2]), "embedding_length_per_layer_input": eight(2, 5),
        "ssm.conv_kernel": pick.choice([3, 4]), "ssm.inner_size": heads * state, "ssm.state_size": state,
        "ssm.time_step_rank": heads, "ssm.group_count": 2, "kda.head_dim": eight(2, 5),
        "shortconv.l_cache": pick.choice([3, 4]), "wkv.head_size": model.hidden // model.heads,
        "time_mix_extra_dim": eight(2, 5), "time_decay_extra_dim": eight(2, 5), "decoder_block_count": pick.choice([2, 3]),
        "decoder_start_token_id": 0, "attn_res.block_size": 4, "rope.dimension_count_swa": 8,
        "dense_2_feat_in": model.hidden, "dense_2_feat_out": 2 * model.hidden + 8,
        "dense_3_feat_in": 2 * model.hidden + 8, "dense_3_feat_out": model.hidden, "num_loops": 2,
        "attention.sliding_window_pattern": model.by_layer(1, lambda layer: layer % 3 != 2),
        "n_deepstack_layers": 0, "rescale_every_n_layers": 0, "rope.dimension_sections": [4, 2, 2, 0],
    }  # fmt: skip


def _add(model: Draw, key: str, drawn: Keys) -> None:
    if key in drawn:
        model.keys[key] = drawn[key]
    elif FLAGS.search(key):
        model.keys[key] = model.random.random() < 0.5
    elif FLOATS.search(key):
        model.keys[key] = 1.0


def _latent(model: Draw) -> None:
    """The widths of latent attention, which determine those of its cache."""
    keys = model.keys
    rope = 0 if model.architecture in WITHOUT_ROPE else model.rope
    keys["rope.dimension_count"] = rope
    if "attention.key_length_mla" in keys:
        keys["attention.key_length_mla"] = model.eight(2, 6) + rope
        keys["attention.key_length"] = keys["attention.kv_lora_rank"] + rope
        keys["attention.value_length"] = keys["attention.kv_lora_rank"]
        kv = keys["attention.head_count_kv"]
        keys["attention.head_count_kv"] = [min(1, heads) for heads in kv] if isinstance(kv, list) else 1
    else:
        value = model.hidden // model.heads if model.architecture in NARROW_VALUES else model.eight(2, 7)
        keys |= {"attention.key_length": model.eight(2, 6) + rope, "attention.value_length": value}
        keys["attention.head_count_kv"] = model.heads


# --- values that must satisfy a condition ----------------------------------------------------------------


def _nemotron(model: Draw) -> None:
    kinds = ["mamba", "plain", "attention", *(model.random.choice(["mamba", "plain"]) for _ in range(model.layers - 3))]
    width, kv = model.keys["feed_forward_length"], model.kv_heads
    model.keys["feed_forward_length"] = [width if kind == "plain" else 0 for kind in kinds]
    model.keys["attention.head_count_kv"] = [kv if kind == "attention" else 0 for kind in kinds]


def _deci(model: Draw) -> None:
    kinds = ["attention", "linear", "none", "no_mlp", *(model.random.choice(["attention", "linear"]) for _ in range(9))]
    kinds = kinds[: model.layers]
    width = model.keys["feed_forward_length"]
    model.keys["attention.head_count"] = [0 if kind == "none" else model.heads for kind in kinds]
    model.keys["attention.head_count_kv"] = [model.kv_heads if kind in ("attention", "no_mlp") else 0 for kind in kinds]
    model.keys["feed_forward_length"] = [0 if kind == "no_mlp" else width for kind in kinds]
    for key in ("attention.key_length", "attention.value_length"):
        model.keys.pop(key, None)
    model.keys["rope.dimension_count"] = model.hidden // model.heads


def _openelm(model: Draw) -> None:
    kv = [model.random.choice([1, 2]) for _ in range(model.layers)]
    width = model.keys["feed_forward_length"]
    model.keys |= {
        "attention.head_count_kv": kv,
        "attention.head_count": [2 * heads for heads in kv],
        "feed_forward_length": [width + 8 * layer for layer in range(model.layers)],
        "attention.key_length": model.head,
        "attention.value_length": model.head,
    }


def _twice_as_wide(model: Draw) -> None:
    model.keys["ssm.inner_size"] = 2 * model.hidden
    if "ssm.group_count" in model.keys:
        model.keys["ssm.time_step_rank"] = model.heads


def _delta(model: Draw) -> None:
    model.keys["ssm.inner_size"] = model.keys["ssm.time_step_rank"] * model.keys["ssm.state_size"]


def _qwen4(model: Draw) -> None:
    _delta(model)
    vocabulary = model.keys["vocab_size"]
    model.keys |= {
        "ple.layers": [0], "ple.ngram_size": 3, "ple.heads_per_ngram": 2, "ple.conv_kernel": 4, "ple.eos_token_id": 0,
        "embedding_length_per_layer_input": model.hidden // 4, "ple.layer_multipliers": [1, 3, 5],
        "ple.head_offsets": [vocabulary * head for head in range(4)], "ple.head_vocab_sizes": [vocabulary] * 4,
        "attention.indexer.key_length": model.keys.get("attention.key_length", model.head),
    }  # fmt: skip


def _gemma4_assistant(model: Draw) -> None:
    model.keys |= {
        "nextn_predict_layers": model.layers, "embedding_length_out": model.hidden + 24, "attention.key_length": 64,
        "attention.value_length": 64, "attention.key_length_swa": 32, "attention.value_length_swa": 32,
        "attention.sliding_window_pattern": model.by_layer(True, lambda layer: layer < model.layers - 1, False),
    }  # fmt: skip


def _deepseek4(model: Draw) -> None:
    ratios = [0, 4, 128, *(model.random.choice([0, 4, 128]) for _ in range(model.layers - 3))]
    model.keys |= {
        "attention.compress_ratios": ratios, "attention.head_count_kv": 1, "attention.head_count": 2 * model.heads,
        "expert_gating_func": 4, "expert_weights_norm": True, "expert_weights_scale": 1.0, "swiglu_clamp_exp": 1.0,
        "attention.key_length": 32, "attention.value_length": 32, "rope.dimension_count": 16,
    }  # fmt: skip


def _dflash(model: Draw) -> None:
    for key in ("hyper_connection.count", "attention.sliding_window", "attention.sliding_window_pattern"):
        model.keys.pop(key, None)
    model.keys["target_layers"] = [1, 2, 4, 5]
    if model.random.random() < 0.5:
        _deepseek4(model)
        model.keys |= {
            "attention.compress_ratios": [0] * model.layers, "hyper_connection.count": 4, "attention.sliding_window": 16,
            "attention.q_lora_rank": 24, "expert_feed_forward_length": 40, "expert_shared_count": 1,
            "attention.output_group_count": 2, "attention.output_lora_rank": 16, "expert_count": 4,
            "expert_used_count": 2, "hyper_connection.sinkhorn_iterations": 2, "hyper_connection.epsilon": 1e-6,
        }  # fmt: skip


def _dots3(model: Draw) -> None:
    model.keys |= {
        "attention.sliding_window_pattern": model.by_layer(True, lambda layer: layer % 2 == 1, False),
        "attention.indexer.types": model.by_layer(1, lambda layer: layer % 2 == 0),
        "attention.kv_lora_rank_swa": 40, "attention.key_length_mla_swa": 72, "attention.value_length_mla_swa": 56,
        "attention.key_length_swa": 48, "attention.value_length_swa": 40,
    }  # fmt: skip


def _hy4(model: Draw) -> None:
    types = [1, *(model.random.choice([0, 1]) for _ in range(model.layers - 1))]
    model.keys |= {
        "attention.indexer.head_count": 3,
        "attention.indexer.key_length": 32,
        "attention.indexer.top_k": 64,
        "attention.indexer.types": types,
    }


def _with(**numbers: Any) -> Callable[[Draw], None]:
    """Set these values, the words of keys joined by two underscores."""
    return lambda model: model.keys.update({key.replace("__", "."): value for key, value in numbers.items()})


def _experts_told(model: Draw) -> None:
    model.keys["expert_feed_forward_length"] = model.eight(5, 17)
    model.keys["expert_shared_feed_forward_length"] = model.eight(5, 17)


def _ernie(model: Draw) -> None:
    count = model.keys.setdefault("expert_shared_count", 1)
    model.keys["expert_shared_feed_forward_length"] = count * model.keys["expert_feed_forward_length"]


def _llama4(model: Draw) -> None:
    model.keys |= {"block_count": 4 * model.random.choice([1, 2]), "expert_count": 16}


def _eagle3(model: Draw) -> None:
    model.keys |= {"target_layers": [1, 2, 4], "target_hidden_size": model.hidden + 16, "block_count": 1}


def _apertus(model: Draw) -> None:
    model.keys |= {f"xielu.{name}": [1.0] * model.layers for name in ("alpha_n", "alpha_p", "beta", "eps")}


def _switch(model: Draw) -> None:
    model.keys |= {
        "adapters.count": 3, "adapters.lora_rank": 8, "logit_scale": 1.0,
        "adapters.token_ids_activate": [1, 2, 3], "adapters.token_ids_substitute": [4, 5, 6],
    }  # fmt: skip


def _nemotron_experts(model: Draw) -> None:
    _experts_told(model)
    _nemotron(model)


SPECIAL: Mapping[str, Callable[[Draw], None]] = {
    **dict.fromkeys(("nemotron_h", "nemotron_h_moe"), _nemotron_experts),
    **dict.fromkeys(("jamba", "granitehybrid", "mamba"), _twice_as_wide),
    **dict.fromkeys(("qwen3next", "qwen35", "qwen35moe"), _delta),
    **dict.fromkeys(("smallthinker", "step35", "gemma4"), _experts_told),
    **dict.fromkeys(("rwkv6qwen2", "arwkv7"), _with(token_shift_count=1)),
    "deci": _deci,
    "chameleon": lambda model: model.keys.update(vocab_size=8192 + 8 * model.random.randint(9, 99)),
    "openelm": _openelm, "qwen4exp": _qwen4, "gemma4-assistant": _gemma4_assistant,
    "deepseek4": _deepseek4, "dflash": _dflash, "dots3note": _dots3, "hy_v4": _hy4, "ernie4_5-moe": _ernie,
    "minimax-m3": lambda model: model.keys.update(
        {"attention.indexer.head_count": model.keys["attention.head_count_kv"], "attention.indexer.block_size": 128}
    ),
    "llama4": _llama4, "eagle3": _eagle3, "apertus": _apertus, "graniteswitch": _switch,
    "bailingmoe2": _with(expert_shared_count=1), "rwkv7": _with(attention__gate_lora_rank=24),
    "bailingmoe3": _with(kda__gate_lower_bound=-5.0, kda__safe_gate=True, expert_shared_feed_forward_length=72),
    "wavtokenizer-dec": _with(
        features_length=24, posnet__embedding_length=40, posnet__block_count=6,
        convnext__embedding_length=40, convnext__block_count=4, block_count=7,
    ),
    "hrm_text": _with(hrm__layers_per_stack=1, hrm__h_cycles=2, hrm__l_cycles=2, block_count=6),
    "plamo2": lambda model: model.keys.update(
        {"ssm.group_count": 0, "attention.key_length": model.head, "attention.value_length": model.head}
    ),
}  # fmt: skip
