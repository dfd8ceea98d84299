"""Packed weights as each quantizer saves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, llama, output, outputs, tokenizer


@output
def hqq_own(folder: Path) -> int:
    import torch
    from hqq.core.quantize import BaseQuantizeConfig
    from hqq.models.hf.base import AutoHQQHFModel

    model = llama()
    number = count(model)
    AutoHQQHFModel.quantize_model(
        model, quant_config=BaseQuantizeConfig(nbits=4, group_size=64), compute_dtype=torch.float32, device="cpu"
    )
    AutoHQQHFModel.save_quantized(model, str(folder))
    return number


@output
def quanto_own(folder: Path) -> int:
    from optimum.quanto import QuantizedModelForCausalLM, qint8

    model = llama()
    number = count(model)
    QuantizedModelForCausalLM.quantize(model, weights=qint8, exclude="lm_head").save_pretrained(str(folder))
    return number


@output
def torchao_transformers(folder: Path) -> int:
    import transformers
    from torchao.quantization import Int8WeightOnlyConfig

    model = llama()
    number = count(model)
    model.save_pretrained(folder.parent / "plain")
    config = transformers.TorchAoConfig(Int8WeightOnlyConfig())
    transformers.AutoModelForCausalLM.from_pretrained(
        folder.parent / "plain", quantization_config=config
    ).save_pretrained(folder)
    return number


def _compressed(folder: Path, scheme: str) -> int:
    from llmcompressor import oneshot
    from llmcompressor.modifiers.quantization import QuantizationModifier

    model = llama(hidden_size=128, intermediate_size=256)
    number = count(model)
    model.save_pretrained(folder.parent / "plain")
    tokenizer(folder).save_pretrained(folder.parent / "plain")
    model = type(model).from_pretrained(folder.parent / "plain")
    oneshot(
        model=model,
        tokenizer=str(folder.parent / "plain"),
        recipe=QuantizationModifier(targets="Linear", scheme=scheme, ignore=["lm_head"]),
    )
    model.save_pretrained(folder, save_compressed=True)
    return number


outputs(
    _compressed,
    compressed_nvfp4={"scheme": "NVFP4A16"},
    compressed_w4a16={"scheme": "W4A16"},
    compressed_fp8={"scheme": "FP8_DYNAMIC"},
    compressed_mxfp4={"scheme": "MXFP4A16"},
)


def _rounded(folder: Path, layout: str) -> int:
    from auto_round import AutoRound

    model = llama(hidden_size=128, intermediate_size=256)
    number = count(model)
    made = AutoRound(
        model, tokenizer=tokenizer(folder), scheme="W4A16", iters=0, disable_opt_rtn=True, device_map="cpu"
    )
    made.quantize_and_save(str(folder), format=layout)
    return number


outputs(
    _rounded,
    autoround_own={"layout": "auto_round"},
    autoround_gptq={"layout": "auto_gptq"},
    autoround_awq={"layout": "auto_awq"},
    autoround_compressor={"layout": "llm_compressor"},
)


def _of_bitsandbytes(folder: Path, **fields: Any) -> int:
    import torch
    import transformers

    model = llama()
    number = count(model)
    model.to(torch.bfloat16).save_pretrained(folder.parent / "plain")
    config = transformers.BitsAndBytesConfig(**fields)
    transformers.AutoModelForCausalLM.from_pretrained(
        folder.parent / "plain", quantization_config=config, device_map="cpu"
    ).save_pretrained(folder)
    return number


outputs(
    _of_bitsandbytes,
    bitsandbytes_nf4={"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
    bitsandbytes_storage={"load_in_4bit": True, "bnb_4bit_quant_type": "fp4", "bnb_4bit_quant_storage": "bfloat16"},
)


def _torchao(folder: Path, config: str, dtype: str = "bfloat16", **settings: Any) -> int:
    import torch
    from torchao import quantization
    from torchao.quantization.granularity import PerGroup

    model = llama(hidden_size=128, intermediate_size=256).to(getattr(torch, dtype))
    number = count(model)
    if "group" in settings:
        settings = {"weight_dtype": torch.int4, "granularity": PerGroup(settings["group"])}
    quantization.quantize_(model, getattr(quantization, config)(**settings))
    torch.save(model.state_dict(), folder / "model.pt")
    return number


outputs(
    _torchao,
    torchao_state={"config": "Int8WeightOnlyConfig", "dtype": "float32"},
    torchao_float8_state={"config": "Float8WeightOnlyConfig"},
    torchao_dynamic_state={"config": "Int8DynamicActivationInt8WeightConfig"},
    torchao_intx_state={"config": "IntxWeightOnlyConfig", "group": 32},
)


@output
def torchao_safetensors(folder: Path) -> int:
    """As torchao's own safetensors support flattens tensors that are packed."""
    import torch
    from safetensors.torch import save_file
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import Float8WeightOnlyConfig, quantize_

    model = llama(hidden_size=128, intermediate_size=256).to(torch.bfloat16)
    number = count(model)
    quantize_(model, Float8WeightOnlyConfig())
    state, metadata = flatten_tensor_state_dict(model.state_dict())
    save_file(state, folder / "model.safetensors", metadata=metadata)
    return number


@output
def gptqmodel_own(folder: Path) -> int:
    """GPTQModel's own save of what it quantized on the processor."""
    import os

    os.environ["BUILD_CUDA_EXT"] = "0"
    processors, os.cpu_count = os.cpu_count, lambda: 8  # it starts no pool of threads on fewer
    from gptqmodel import GPTQModel, QuantizeConfig

    os.cpu_count = processors
    model, plain = llama(), folder.parent / "plain"
    model.save_pretrained(plain)
    tokenizer(plain).save_pretrained(plain)
    quantized = GPTQModel.load(str(plain), QuantizeConfig(bits=4, group_size=32), device="cpu")
    words = {"input_ids": list(range(1, 40)), "attention_mask": [1] * 39}
    quantized.quantize([words] * 8, batch_size=1)
    quantized.save(str(folder))
    return count(model)
