"""Write fixtures/packed: what quantization libraries make of one small Llama, as recipes.

    pip install torch transformers bitsandbytes compressed-tensors torchao optimum-quanto hqq nvidia-modelopt \
        mlx[cpu] mlx-lm gptqmodel autoawq auto-round aqlm vptq sinq fp-quant exllamav2 spqr-quant
    python tools/make_packed_fixtures.py [NAME…]

Each library runs on the CPU; only the header of what it saves is kept. Where a library packs on a GPU
alone, its empty packed layers are put into the model: names, shapes and dtypes are the library's either way.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from make_fixtures import FIXTURES, compress, write
from safetensors.torch import save_file
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

SIZES = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
}

#: From the folder of the plain model to that of the packed one. A number is the parameters of a model of its own.
Save = Callable[[Path, Path], object]


@dataclass(frozen=True)
class Fixture:
    """One library's way to pack, and what the inspector should call it."""

    library: str
    save: Save
    scheme: str
    bits: int


# --- libraries that pack on a CPU -------------------------------------------------------------


def bitsandbytes(plain: Path, out: Path, **settings: Any) -> None:
    from transformers import BitsAndBytesConfig

    quantized = LlamaForCausalLM.from_pretrained(plain, quantization_config=BitsAndBytesConfig(**settings))
    quantized.save_pretrained(out)


def compressed_tensors(plain: Path, out: Path, preset: str, attention: str = "") -> None:
    """One preset for all layers, or another for attention; with two, the first `o_proj` is left out."""
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config, preset_name_to_scheme

    model = LlamaForCausalLM.from_pretrained(plain)
    groups = {"group_0": preset_name_to_scheme(preset, ["re:.*mlp.*"] if attention else ["Linear"])}
    ignore = ["lm_head"]
    if attention:
        groups["group_1"] = preset_name_to_scheme(attention, ["re:.*self_attn.*"])
        ignore.append(r"re:.*layers\.0\..*o_proj$")
    settings = QuantizationConfig(config_groups=groups, ignore=ignore, quantization_status="frozen")
    apply_quantization_config(model, settings)
    for module in model.modules():
        for name in ("weight_scale", "input_scale", "weight_global_scale", "input_global_scale"):
            if hasattr(module, name):
                getattr(module, name).data.fill_(1)
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    model.save_pretrained(out)
    compressor.update_config(out)


def sparse_24(plain: Path, out: Path) -> None:
    """Every second of four weights zero; compressed-tensors could write this until its release 0.11."""
    from compressed_tensors.compressors.sparse_compressors import Sparse24BitMaskCompressor
    from compressed_tensors.config import Sparse24BitMaskConfig

    model = LlamaForCausalLM.from_pretrained(plain)
    state = dict(model.state_dict())
    targets = [name for name, module in model.named_modules() if isinstance(module, nn.Linear) and name != "lm_head"]
    keep = torch.tensor([1, 0, 1, 0])
    for name in targets:
        weight = state[name + ".weight"]
        state[name + ".weight"] = weight * keep.repeat(weight.shape[1] // 4)
    settings = Sparse24BitMaskConfig(targets=["Linear"], ignore=["lm_head"])
    packed = Sparse24BitMaskCompressor(settings).compress(state, compression_targets=set(targets))
    config = json.loads((plain / "config.json").read_text())
    declared = {"quant_method": "compressed-tensors", "sparsity_config": settings.model_dump(mode="json")}
    out.mkdir()
    save_file(packed, out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps({**config, "quantization_config": declared}))


def torchao(plain: Path, out: Path, kind: str, module: str = "quantization", **settings: Any) -> None:
    from importlib import import_module

    from transformers import TorchAoConfig

    how = TorchAoConfig(getattr(import_module(f"torchao.{module}"), kind)(**settings))
    LlamaForCausalLM.from_pretrained(plain, quantization_config=how).save_pretrained(out)


def auto_round(plain: Path, out: Path, exported: str = "auto_round", **settings: Any) -> None:
    """Rounded to the nearest, which needs no data to calibrate with."""
    from auto_round import AutoRound
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    model = LlamaForCausalLM.from_pretrained(plain, dtype=torch.bfloat16)
    rounding = AutoRound(
        model, PreTrainedTokenizerFast(tokenizer_object=words), iters=0, disable_opt_rtn=True, **settings
    )
    folder = out.with_name(out.name + "-all")
    rounding.quantize_and_save(str(folder), format=exported)
    (saved,) = {path.parent for path in folder.rglob("config.json")}
    saved.rename(out)


def quanto(plain: Path, out: Path, weights: str) -> None:
    from optimum import quanto as library

    model = LlamaForCausalLM.from_pretrained(plain)
    quantize = library.QuantizedModelForCausalLM.quantize
    quantize(model, weights=getattr(library, weights), exclude="lm_head").save_pretrained(out)


def hqq(plain: Path, out: Path, bits: int, axis: int) -> None:
    from hqq.core.quantize import BaseQuantizeConfig
    from hqq.models.hf.base import AutoHQQHFModel

    model = LlamaForCausalLM.from_pretrained(plain, dtype=torch.float16)
    settings = BaseQuantizeConfig(nbits=bits, group_size=64, axis=axis)
    AutoHQQHFModel.quantize_model(model, quant_config=settings, compute_dtype=torch.float16, device="cpu")
    AutoHQQHFModel.save_to_safetensors(model, str(out))
    config = json.loads((plain / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": bits, "group_size": 64, "axis": axis}}}  # fmt: skip
    (out / "config.json").write_text(json.dumps(config))


def sinq(plain: Path, out: Path, bits: int) -> None:
    from sinq.patch_model import AutoSINQHFModel
    from sinq.sinqlinear_hf import sinq_base_quant_config

    model = LlamaForCausalLM.from_pretrained(plain, dtype=torch.float16)
    settings = sinq_base_quant_config(nbits=bits, group_size=64, tiling_mode="1D", method="sinq")
    AutoSINQHFModel.quantize_model(model, None, settings, compute_dtype=torch.float16, device="cpu")
    AutoSINQHFModel.save_quantized_safetensors(model, None, str(out), write_tokenizer=False)
    config = json.loads((plain / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "sinq", "nbits": bits, "group_size": 64}
    (out / "config.json").write_text(json.dumps(config))


def modelopt(plain: Path, out: Path, kind: str) -> None:
    from modelopt.torch import quantization
    from modelopt.torch.export import export_hf_checkpoint

    model = LlamaForCausalLM.from_pretrained(plain)
    tokens = torch.arange(32).reshape(1, 32)
    quantization.quantize(model, getattr(quantization, kind), lambda each: each(tokens))
    with torch.inference_mode():
        export_hf_checkpoint(model, export_dir=out)


def mlx(plain: Path, out: Path, **settings: Any) -> None:
    from mlx_lm import convert
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(plain)
    convert(str(plain), mlx_path=str(out), quantize=True, **settings)


def finegrained_fp8(_: Path, out: Path, model_type: str, **sizes: Any) -> int:
    """A model of its own as Transformers packs it; that it wants a GPU for this is for speed."""
    from transformers import AutoConfig, AutoModelForCausalLM, FineGrainedFP8Config
    from transformers.quantizers.quantizer_finegrained_fp8 import FineGrainedFP8HfQuantizer

    FineGrainedFP8HfQuantizer.validate_environment = lambda *_, **__: None
    config = AutoConfig.for_model(model_type, **{**SIZES, **sizes})
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    with tempfile.TemporaryDirectory() as plain:
        model.save_pretrained(plain)
        declared = FineGrainedFP8Config()
        packed = AutoModelForCausalLM.from_pretrained(plain, quantization_config=declared, dtype=torch.bfloat16)
    packed.save_pretrained(out)
    return int(model.num_parameters())


def mlx_by_module(name: str, _: object) -> bool | dict[str, Any]:
    """Attention at 8 bits, the feed-forward at 4, and `down_proj` left as it is."""
    if "down_proj" in name:
        return False
    bits, group = (8, 32) if "self_attn" in name else (4, 64)
    return {"bits": bits, "group_size": group, "mode": "affine"}


# --- libraries whose packed layers are put into the model -------------------------------------


def with_layers(plain: Path, out: Path, make: Callable[[nn.Linear], nn.Module], declared: Mapping[str, Any]) -> None:
    """Each linear layer but the head replaced by `make`'s; saved with `declared` in its configuration."""
    model = LlamaForCausalLM.from_pretrained(plain, dtype=torch.float16)
    per_module: dict[str, Any] = {}
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and name != "lm_head":
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, make(module))
            per_module[name] = {"in_features": module.in_features, "out_features": module.out_features}
    declared = {**declared, **({"config_for_layers": per_module} if declared["quant_method"] == "vptq" else {})}
    config = json.loads((plain / "config.json").read_text())
    out.mkdir()
    state = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps({**config, "quantization_config": declared}))


def gptq(bits: int) -> Save:
    def make(linear: nn.Linear) -> nn.Module:
        from gptqmodel.nn_modules.qlinear.torch import TorchLinear

        sizes = {"in_features": linear.in_features, "out_features": linear.out_features}
        return TorchLinear(
            bits=bits, group_size=128, sym=True, desc_act=True, bias=False, register_buffers=True, **sizes
        )

    declared = {"quant_method": "gptq", "bits": bits, "group_size": 128, "desc_act": True}
    return partial(with_layers, make=make, declared=declared)


def awq(layout: str) -> Save:
    def make(linear: nn.Linear) -> nn.Module:
        from awq.modules import linear as layers
        from awq.modules.linear.gemv_fast import WQLinear_GEMVFast
        from awq.modules.linear.marlin import WQLinear_Marlin

        kinds = {"gemm": layers.WQLinear_GEMM, "gemv": layers.WQLinear_GEMV, "gemv_fast": WQLinear_GEMVFast, "marlin": WQLinear_Marlin}  # fmt: skip
        return kinds[layout].from_linear(linear, 4, 128, init_only=True)  # type: ignore[no-any-return]

    return partial(
        with_layers, make=make, declared={"quant_method": "awq", "bits": 4, "group_size": 128, "version": layout}
    )


def aqlm_layer(linear: nn.Linear) -> nn.Module:
    from aqlm import QuantizedLinear

    sizes = {"in_group_size": 8, "out_group_size": 1, "num_codebooks": 1, "nbits_per_codebook": 16}
    return QuantizedLinear(linear.in_features, linear.out_features, bias=False, **sizes)  # type: ignore[no-any-return]


def vptq_layer(linear: nn.Linear) -> nn.Module:
    from vptq import VQuantLinear

    sizes = {"in_features": linear.in_features, "out_features": linear.out_features, "group_size": linear.in_features}
    books = {"vector_lens": [-1, 8], "num_centroids": [-1, 256], "num_res_centroids": [-1, 256], "group_num": 1}
    flags = {
        "indices_as_float": False,
        "enable_norm": True,
        "enable_perm": True,
        "is_indice_packed": True,
        "bias": False,
    }
    return VQuantLinear(outlier_size=0, **sizes, **books, **flags)  # type: ignore[no-any-return]


def fp_quant_layer(linear: nn.Linear) -> nn.Module:
    """As the layer is after it has packed its weight, for which it needs a GPU."""
    from fp_quant import FPQuantConfig, FPQuantDtype, FPQuantLinear

    settings = FPQuantConfig(forward_dtype=FPQuantDtype.MXFP4, hadamard_group_size=32)
    layer = FPQuantLinear(linear.in_features, linear.out_features, bias=False, config=settings, dtype=torch.bfloat16)
    layer.weight = layer.dqweight = None
    return layer  # type: ignore[no-any-return]


class Stored(nn.Module):
    """Tensors under names: a layout that its library writes on a GPU alone, after that library's source."""

    def __init__(self, **tensors: tuple[torch.dtype, tuple[int, ...]]) -> None:
        super().__init__()
        for name, (dtype, shape) in tensors.items():
            self.register_buffer(name, torch.zeros(shape, dtype=dtype))


def exl2_layer(linear: nn.Linear) -> nn.Module:
    """exllamav2/conversion/adaptivegptq.py, `pack`: half of the rows at 5 bits, half at 4, in groups of 32."""
    outputs, inputs = linear.weight.shape
    return Stored(
        q_weight=(torch.int32, (inputs // 2 * 5 // 32 + inputs // 2 * 4 // 32, outputs)),
        q_scale=(torch.int32, (inputs // 32, outputs // 8)),
        q_scale_max=(torch.float16, (inputs // 32,)),
        q_groups=(torch.int16, (inputs // 32 * 2,)),
        q_invperm=(torch.int32, (inputs,)),
    )


def spqr_layer(linear: nn.Linear) -> nn.Module:
    """spqr_quant/inference.py, `QuantizedLinear`: one word for 16 weights, and some outliers."""
    outputs, inputs = linear.weight.shape
    return Stored(
        dense_weights=(torch.int64, (outputs * inputs // 16,)),
        row_offsets=(torch.int32, (outputs + 1,)),
        col_vals=(torch.int32, (outputs * inputs // 100,)),
        in_perm=(torch.int32, (inputs,)),
    )


def qqq_layer(linear: nn.Linear) -> nn.Module:
    """gptqmodel/nn_modules/qlinear/qqq.py, the buffers that it saves."""
    outputs, inputs = linear.weight.shape
    return Stored(
        B=(torch.int32, (inputs // 16, outputs * 2)),
        s_channel=(torch.float32, (1, outputs)),
        s_group=(torch.float16, (inputs // 128, outputs)),
    )


def gptq_marlin_layer(linear: nn.Linear) -> nn.Module:
    """gptqmodel/nn_modules/qlinear/marlin.py: the same weights with words of 16 rows beside each other."""
    outputs, inputs = linear.weight.shape
    return Stored(
        qweight=(torch.int32, (inputs // 16, outputs * 2)),
        scales=(torch.float16, (inputs // 128, outputs)),
        g_idx=(torch.int32, (0,)),
        g_idx_sort_indices=(torch.int32, (0,)),
        qzeros=(torch.int32, (0,)),
    )


def torchao_layer(layout: str) -> Callable[[nn.Linear], nn.Module]:
    """torchao/quantization/quantize_/workflows/int4: layouts that it packs on a GPU alone, as Transformers names them."""

    def make(linear: nn.Linear) -> nn.Module:
        outputs, inputs = linear.weight.shape
        half = torch.bfloat16
        layouts: dict[str, dict[str, tuple[torch.dtype, tuple[int, ...]]]] = {
            "plain": {"qdata": (torch.int8, (outputs, inputs // 2)), "scale": (half, (inputs // 128, outputs)), "zero_point": (half, (inputs // 128, outputs))},
            "preshuffled": {"qdata": (torch.int8, (outputs, inputs // 2)), "group_scale": (half, (inputs // 128, outputs)), "group_zero": (half, (inputs // 128, outputs))},
            "tiles": {"qdata": (torch.int32, (outputs // 8, inputs // 128, 32, 4)), "scale_and_zero": (half, (inputs // 128, outputs, 2))},
        }  # fmt: skip
        return Stored(**{f"_weight_{name}": entry for name, entry in layouts[layout].items()})

    return make


def transformers_layer(module: str, name: str, **settings: Any) -> Callable[[nn.Linear], nn.Module]:
    def make(linear: nn.Linear) -> nn.Module:
        from importlib import import_module

        kind = getattr(import_module(f"transformers.integrations.{module}"), name)
        return kind(linear.in_features, linear.out_features, **settings)  # type: ignore[no-any-return]

    return make


GEMMA = transformers_layer("gemma_quant", "QuantizedLinear", num_bits=4)
INT4 = {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}}  # fmt: skip
BITNET = transformers_layer("bitnet", "BitLinear", bias=False, dtype=torch.bfloat16)
FP8 = transformers_layer("finegrained_fp8", "FP8Linear", block_size=(128, 128), activation_scheme="dynamic")
FBGEMM = transformers_layer("fbgemm_fp8", "FbgemmFp8Linear", bias=False)
HIGGS = transformers_layer("higgs", "HiggsLinear", num_bits=4, bias=False, dtype=torch.float16)
METAL = transformers_layer("metal_quantization", "MetalLinear", bias=False, dtype=torch.uint32, bits=4, group_size=64)
EETQ = transformers_layer("eetq", "EetqLinear", bias=False)

BY_LAYER = {"model.layers.0.self_attn.q_proj": {"bits": 8}, "model.layers.1.mlp.down_proj": {"bits": 16}}
MX = "prototype.mx_formats"
NF4: dict[str, Any] = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
FP4: dict[str, Any] = {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4", "bnb_4bit_use_double_quant": True, "bnb_4bit_quant_storage": torch.bfloat16}  # fmt: skip

FIXED: dict[str, Fixture] = {
    "bitsandbytes-nf4": Fixture("bitsandbytes", partial(bitsandbytes, **NF4), "bitsandbytes-nf4", 4),
    "bitsandbytes-fp4-double": Fixture("bitsandbytes", partial(bitsandbytes, **FP4), "bitsandbytes-fp4", 4),
    "bitsandbytes-int8": Fixture("bitsandbytes", partial(bitsandbytes, load_in_8bit=True), "bitsandbytes-int8", 8),
    "quanto-int2": Fixture("optimum-quanto", partial(quanto, weights="qint2"), "quanto-int2", 2),
    "quanto-int4": Fixture("optimum-quanto", partial(quanto, weights="qint4"), "quanto-int4", 4),
    "quanto-int8": Fixture("optimum-quanto", partial(quanto, weights="qint8"), "quanto-int8", 8),
    "quanto-float8": Fixture("optimum-quanto", partial(quanto, weights="qfloat8"), "quanto-float8", 8),
    "torchao-int8": Fixture("torchao", partial(torchao, kind="Int8WeightOnlyConfig"), "torchao-int8", 8),
    "torchao-float8": Fixture("torchao", partial(torchao, kind="Float8WeightOnlyConfig"), "torchao-fp8", 8),
    "torchao-intx": Fixture("torchao", partial(torchao, kind="IntxWeightOnlyConfig", weight_dtype=torch.int4), "torchao-int8", 8),
    "torchao-nvfp4": Fixture("torchao", partial(torchao, kind="NVFP4WeightOnlyConfig", module=MX), "torchao-nvfp4", 4),
    "torchao-mxfp4": Fixture("torchao", partial(torchao, kind="MXDynamicActivationMXWeightConfig", module=MX, activation_dtype=torch.float4_e2m1fn_x2, weight_dtype=torch.float4_e2m1fn_x2), "torchao-mxfp4", 4),
    "torchao-mxfp8": Fixture("torchao", partial(torchao, kind="MXDynamicActivationMXWeightConfig", module=MX), "torchao-fp8", 8),
    "compressed-tensors-sparse-24": Fixture("compressed-tensors", sparse_24, "compressed-tensors-sparse", 16),
    "auto-round-2bit": Fixture("auto-round", partial(auto_round, bits=2, group_size=32), "gptq", 2),
    "auto-round-mixed": Fixture("auto-round", partial(auto_round, bits=4, group_size=128, layer_config=BY_LAYER), "gptq", 4),
    "auto-round-awq": Fixture("auto-round", partial(auto_round, exported="auto_awq", bits=4, group_size=128), "awq-gemm", 4),
    "auto-round-mxfp4": Fixture("auto-round", partial(auto_round, scheme="MXFP4"), "compressed-tensors-mxfp4-pack-quantized", 4),
    "mlx-4bit": Fixture("mlx", partial(mlx, q_bits=4, q_group_size=64), "mlx", 4),
    "mlx-8bit": Fixture("mlx", partial(mlx, q_bits=8, q_group_size=32), "mlx", 8),
    "mlx-mixed": Fixture("mlx", partial(mlx, quant_predicate="mixed_3_6"), "mlx", 3),
    "mlx-mxfp4": Fixture("mlx", partial(mlx, q_mode="mxfp4"), "mlx-mxfp4", 4),
    "mlx-nvfp4": Fixture("mlx", partial(mlx, q_mode="nvfp4"), "mlx-nvfp4", 4),
    "aqlm": Fixture("aqlm", partial(with_layers, make=aqlm_layer, declared={"quant_method": "aqlm"}), "aqlm", 2),
    "vptq": Fixture("vptq", partial(with_layers, make=vptq_layer, declared={"quant_method": "vptq"}), "vptq", 2),
    "bitnet": Fixture("transformers", partial(with_layers, make=BITNET, declared={"quant_method": "bitnet"}), "bitnet", 2),
    "fp8-blocks": Fixture("transformers", partial(with_layers, make=FP8, declared={"quant_method": "fp8", "weight_block_size": [128, 128]}), "fp8", 8),
    "fp8-experts": Fixture("transformers", partial(finegrained_fp8, model_type="qwen3_moe", num_experts=8, moe_intermediate_size=128), "fp8", 8),
    "fp8-latent": Fixture("transformers", partial(finegrained_fp8, model_type="deepseek_v3", num_key_value_heads=4, n_routed_experts=8, num_experts_per_tok=2, n_group=1, topk_group=1, moe_intermediate_size=128, first_k_dense_replace=1, kv_lora_rank=64, q_lora_rank=128, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32), "fp8", 8),
    "fp8-rows": Fixture("transformers", partial(with_layers, make=FBGEMM, declared={"quant_method": "fbgemm_fp8"}), "fp8", 8),
    "higgs": Fixture("transformers", partial(with_layers, make=HIGGS, declared={"quant_method": "higgs", "bits": 4}), "higgs", 4),
    "metal": Fixture("transformers", partial(with_layers, make=METAL, declared={"quant_method": "metal", "bits": 4, "group_size": 64}), "mlx", 4),
    "gemma": Fixture("transformers", partial(with_layers, make=GEMMA, declared={"quant_method": "gemma", "num_bits": 4}), "gemma-int4", 4),
    "mlx-by-module": Fixture("mlx", partial(mlx, quant_predicate=mlx_by_module), "mlx", 4),
    "sinq": Fixture("sinq", partial(sinq, bits=4), "sinq", 4),
    "exl2": Fixture("exllamav2", partial(with_layers, make=exl2_layer, declared={"quant_method": "exl2", "bits": 4.5}), "exl2", 5),
    "fp-quant": Fixture("fp_quant", partial(with_layers, make=fp_quant_layer, declared={"quant_method": "fp_quant", "forward_dtype": "mxfp4"}), "fp-quant-mxfp4", 4),
    "spqr": Fixture("spqr-quant", partial(with_layers, make=spqr_layer, declared={"quant_method": "spqr", "bits": 3, "beta1": 16, "beta2": 16}), "spqr", 3),
    "qqq": Fixture("gptqmodel", partial(with_layers, make=qqq_layer, declared={"quant_method": "qqq", "bits": 4, "group_size": 128}), "qqq", 4),
    "gptq-marlin": Fixture("gptqmodel", partial(with_layers, make=gptq_marlin_layer, declared={"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"}), "gptq-marlin", 4),
    "torchao-int4": Fixture("torchao", partial(with_layers, make=torchao_layer("plain"), declared=INT4), "torchao-int4", 4),
    "torchao-int4-preshuffled": Fixture("torchao", partial(with_layers, make=torchao_layer("preshuffled"), declared=INT4), "torchao-int4", 4),
    "torchao-int4-tiles": Fixture("torchao", partial(with_layers, make=torchao_layer("tiles"), declared=INT4), "torchao-int4", 4),
    "eetq": Fixture("transformers", partial(with_layers, make=EETQ, declared={"quant_method": "eetq"}), "eetq", 8),
}  # fmt: skip

#: compressed-tensors' own presets → (format in its configuration, bits).
PRESETS = {
    "W4A16": ("pack-quantized", 4),
    "W4A16_ASYM": ("pack-quantized", 4),
    "W8A16": ("pack-quantized", 8),
    "W8A8": ("int-quantized", 8),
    "FP8": ("float-quantized", 8),
    "FP8_BLOCK": ("float-quantized", 8),
    "NVFP4": ("nvfp4-pack-quantized", 4),
    "MXFP4": ("mxfp4-pack-quantized", 4),
    "MXFP6A16": ("mxfp6-pack-quantized", 6),
    "MXFP8": ("float-quantized", 8),
    "W2A16": ("pack-quantized", 2),
    "W3A16": ("pack-quantized", 3),
    "W5A16": ("pack-quantized", 5),
    "W7A16": ("pack-quantized", 7),
}
#: ModelOpt's own configurations → (scheme, bits).
MODELOPT = {
    "FP8_DEFAULT_CFG": ("fp8", 8),
    "NVFP4_DEFAULT_CFG": ("nvfp4", 4),
    "INT4_AWQ_CFG": ("int4-awq", 4),
    "W4A8_AWQ_BETA_CFG": ("int4-awq", 4),
    "INT8_SMOOTHQUANT_CFG": ("int8", 8),
}


def fixtures() -> dict[str, Fixture]:
    made = dict(FIXED)
    for preset, (scheme, bits) in PRESETS.items():
        save = partial(compressed_tensors, preset=preset)
        made[f"compressed-tensors-{preset.lower()}"] = Fixture(
            "compressed-tensors", save, f"compressed-tensors-{scheme}", bits
        )
    for kind, (scheme, bits) in MODELOPT.items():
        name = kind.removesuffix("_CFG").removesuffix("_DEFAULT").removesuffix("_BETA").lower()
        made[f"modelopt-{name}"] = Fixture("nvidia-modelopt", partial(modelopt, kind=kind), f"modelopt-{scheme}", bits)
    for bits in (2, 3, 4, 8):
        made[f"gptq-{bits}bit"] = Fixture("gptqmodel", gptq(bits), "gptq", bits)
        made[f"hqq-{bits}bit"] = Fixture("hqq", partial(hqq, bits=bits, axis=1), "hqq", bits)
    made["hqq-1bit"] = Fixture("hqq", partial(hqq, bits=1, axis=1), "hqq", 1)
    made["hqq-3bit-axis0"] = Fixture("hqq", partial(hqq, bits=3, axis=0), "hqq", 3)
    two = partial(compressed_tensors, preset="W4A16", attention="W8A16")
    made["compressed-tensors-two-widths"] = Fixture("compressed-tensors", two, "compressed-tensors-pack-quantized", 4)
    for bits in (1, 2, 4, 8):
        made[f"hqq-{bits}bit-axis0"] = Fixture("hqq", partial(hqq, bits=bits, axis=0), "hqq", bits)
    for layout in ("gemm", "gemv", "gemv_fast", "marlin"):
        made[f"awq-{layout}"] = Fixture("autoawq", awq(layout), f"awq-{layout}", 4)
    return made


def recipe(fixture: Fixture, folder: Path, parameters: int) -> dict[str, Any]:
    """What was saved, as text."""
    beside = {
        path.name: json.loads(path.read_text())
        for path in folder.glob("*.json")
        if "config" in path.name or "qmap" in path.name
    }
    for name in list(beside):
        if name.startswith(("generation", "tokenizer")):
            del beside[name]
    files = {path.name: listing(path) for path in sorted(folder.glob("*.safetensors"))}
    return {
        "about": f"{fixture.library} {version(fixture.library)}, transformers {version('transformers')}",
        "expected": {"parameters": parameters, "scheme": fixture.scheme, "bits": fixture.bits},
        "beside": beside,
        "files": files,
    }


def listing(path: Path) -> dict[str, Any]:
    raw = path.read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    header.pop("__metadata__", None)
    return {"tensors": compress((entry["dtype"], name, tuple(entry["shape"])) for name, entry in header.items())}


def main(wanted: list[str]) -> None:
    (FIXTURES / "packed").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        plain = Path(temporary) / "plain"
        model = LlamaForCausalLM(LlamaConfig(**SIZES)).to(torch.bfloat16)
        model.save_pretrained(plain)
        for name, fixture in fixtures().items():
            if wanted and name not in wanted:
                continue
            folder = Path(temporary) / name
            own = fixture.save(plain, folder)
            parameters = own if isinstance(own, int) else model.num_parameters()
            write(FIXTURES / "packed" / f"{name}.json", recipe(fixture, folder, parameters))
            print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
