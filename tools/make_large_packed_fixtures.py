"""Write recipes of packed checkpoints at full size: Transformers' shapes, packed by the libraries' rules.

    pip install torch transformers
    python tools/make_large_packed_fixtures.py

`make_packed_fixtures.py` has the same rules from the libraries themselves, on a small model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import transformers
from make_fixtures import FIXTURES, LLAMA_31_8B, Shapes, compress, decoder, llama, stored, write

Entry = tuple[str, str, tuple[int, ...]]  # dtype, name, shape
Rule = Callable[[str, int, int], list[Entry]]  # module, outputs, inputs → what is stored

LLAMA_33_70B = llama(8192, 28672, 80, 64, 8, 128256)
QWEN3_14B = decoder("qwen3", "Qwen3", 5120, 17408, 40, 40, 8, 151936, head_dim=128)
GPT_OSS = {"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088, "num_experts_per_tok": 4, "tie_word_embeddings": False, "torch_dtype": "bfloat16"}  # fmt: skip
DEEPSEEK_V3 = {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
    "num_attention_heads": 128, "num_key_value_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16",
}  # fmt: skip


def nf4(module: str, outputs: int, inputs: int) -> list[Entry]:
    return [
        ("U8", f"{module}.weight", (outputs * inputs // 2, 1)),
        ("F32", f"{module}.weight.absmax", (outputs * inputs // 64,)),
        ("F32", f"{module}.weight.quant_map", (16,)),
        ("U8", f"{module}.weight.quant_state.bitsandbytes__nf4", (len('{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": []}') + len(f"{outputs}, {inputs}"),)),
    ]  # fmt: skip


def w4a16(module: str, outputs: int, inputs: int, *, ordered: bool = False) -> list[Entry]:
    order: list[Entry] = [("I32", f"{module}.weight_g_idx", (inputs,))] if ordered else []
    return [
        ("I32", f"{module}.weight_packed", (outputs, inputs // 8)),
        ("BF16", f"{module}.weight_scale", (outputs, inputs // 128)),
        ("I64", f"{module}.weight_shape", (2,)),
        *order,
    ]


def w4a16_ordered(module: str, outputs: int, inputs: int) -> list[Entry]:
    return w4a16(module, outputs, inputs, ordered=True)


def gptq_3bit(module: str, outputs: int, inputs: int) -> list[Entry]:
    return [
        ("I32", f"{module}.qweight", (inputs * 3 // 32, outputs)),
        ("I32", f"{module}.qzeros", (inputs // 128, outputs * 3 // 32)),
        ("F16", f"{module}.scales", (inputs // 128, outputs)),
        ("I32", f"{module}.g_idx", (inputs,)),
    ]


def mlx_4bit(module: str, outputs: int, inputs: int) -> list[Entry]:
    return [
        ("U32", f"{module}.weight", (outputs, inputs // 8)),
        ("BF16", f"{module}.scales", (outputs, inputs // 64)),
        ("BF16", f"{module}.biases", (outputs, inputs // 64)),
    ]


def fp8_blocks(module: str, outputs: int, inputs: int) -> list[Entry]:
    return [
        ("F8_E4M3", f"{module}.weight", (outputs, inputs)),
        ("F32", f"{module}.weight_scale_inv", (-(-outputs // 128), -(-inputs // 128))),
    ]


def packed(
    shapes: Mapping[str, tuple[int, ...]],
    rule: Rule,
    plain: str = "BF16",
    keep: Iterable[str] = ("embed_tokens", "lm_head"),
) -> list[Entry]:
    """Each weight of two dimensions by the rule, others plain, as are modules with a word of `keep`."""
    entries: list[Entry] = []
    for name, shape in shapes.items():
        if len(shape) == 2 and name.endswith(".weight") and not any(word in name for word in keep):
            entries += rule(name.removesuffix(".weight"), *shape)
        else:
            entries.append((plain, name, shape))
    return entries


def mxfp4(shapes: Shapes) -> list[Entry]:
    """gpt-oss: the experts in blocks of 32, transposed to [experts, out, in]."""
    entries: list[Entry] = []
    for name, shape in shapes.items():
        if "experts" in name and len(shape) == 3:
            experts, inputs, outputs = shape
            entries.append(("U8", f"{name}_blocks", (experts, outputs, inputs // 32, 16)))
            entries.append(("U8", f"{name}_scales", (experts, outputs, inputs // 32)))
        else:
            entries.append(("BF16", name, shape))
    return entries


def deepseek(shapes: Shapes) -> Shapes:
    """Experts apart, the router's bias, and the layer that predicts a further token, as published."""
    apart: Shapes = {}
    for name, shape in shapes.items():
        head, found, tail = name.partition(".mlp.experts.")
        for expert in range(shape[0]) if found else ():
            if tail == "gate_up_proj":
                for part in ("gate_proj", "up_proj"):
                    apart[f"{head}.mlp.experts.{expert}.{part}.weight"] = (shape[1] // 2, shape[2])
            else:
                apart[f"{head}.mlp.experts.{expert}.{tail}.weight"] = shape[1:]
        if not found:
            apart[name] = shape
    last = {name.replace("layers.60.", "layers.61."): shape for name, shape in apart.items() if "layers.60." in name}
    hidden, vocabulary = shapes["model.norm.weight"][0], shapes["lm_head.weight"][0]
    head = "model.layers.61"
    further = {"enorm": (hidden,), "hnorm": (hidden,), "shared_head.norm": (hidden,), "eh_proj": (hidden, 2 * hidden), "embed_tokens": (vocabulary, hidden), "shared_head.head": (vocabulary, hidden)}  # fmt: skip
    return {**apart, **last, **{f"{head}.{name}.weight": shape for name, shape in further.items()}}


def recipe(
    config: dict[str, Any], entries: list[Entry], quantization: dict[str, Any], field: str = "quantization_config"
) -> dict[str, Any]:
    return {
        "about": f"shapes: transformers {transformers.__version__}; packed by the rules of fixtures/packed",
        "beside": {"config.json": {**config, field: quantization}},
        "files": {"model.safetensors": {"metadata": {"format": "pt"}, "tensors": compress(entries)}},
    }


def recipes() -> dict[str, dict[str, Any]]:
    small, large = stored(LLAMA_31_8B), stored(LLAMA_33_70B)
    weights = {"num_bits": 4, "type": "int", "group_size": 128, "symmetric": True, "strategy": "group"}
    w4 = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}, "ignore": ["lm_head"]}  # fmt: skip
    keep = ("embed_tokens", "lm_head", "shared_head.head", "mlp.gate.", "eh_proj")
    made = {
        "llama-3.1-8b-nf4": recipe(LLAMA_31_8B, packed(small, nf4), {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}),
        "llama-3.1-8b-w4a16": recipe(LLAMA_31_8B, packed(small, w4a16), w4),
        "llama-3.3-70b-w4a16": recipe(LLAMA_33_70B, packed(large, w4a16_ordered), w4),
        "llama-3.1-8b-gptq-3bit": recipe(LLAMA_31_8B, packed(small, gptq_3bit, "F16"), {"quant_method": "gptq", "bits": 3, "group_size": 128, "desc_act": True}),
        "qwen3-14b-mlx-4bit": recipe(QWEN3_14B, packed(stored(QWEN3_14B), mlx_4bit, keep=()), {"group_size": 64, "bits": 4}, "quantization"),
        "deepseek-v3-fp8": recipe({**DEEPSEEK_V3, "num_nextn_predict_layers": 1}, router_bias(packed(deepseek(stored(DEEPSEEK_V3)), fp8_blocks, keep=keep)), {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}),
    }  # fmt: skip
    for name, layers, experts in (("20b", 24, 32), ("120b", 36, 128)):
        config = {**GPT_OSS, "num_hidden_layers": layers, "num_local_experts": experts}
        left = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
        made[f"gpt-oss-{name}"] = recipe(
            config, mxfp4(stored(config)), {"quant_method": "mxfp4", "modules_to_not_convert": left}
        )
    return made


def router_bias(entries: list[Entry]) -> list[Entry]:
    """The router's score correction is kept in F32."""
    return [("F32" if "e_score" in name else dtype, name, shape) for dtype, name, shape in entries]


if __name__ == "__main__":
    for name, made in recipes().items():
        write(FIXTURES / "recipes" / f"{name}.json", made)
