"""Write fixtures/adapters: what PEFT saves for small models, and diffusers' and kohya's names, as recipes.

pip install torch transformers peft diffusers PyWavelets
python tools/make_adapter_fixtures.py [NAME…]
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import peft
from make_fixtures import FIXTURES, write
from make_packed_fixtures import SIZES, listing
from peft.tuners.lora.config import KasaConfig
from peft.utils import get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

MIXTURE = {
    "hidden_size": 128,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 500,
}
#: Models that are adapted; a fixture's name says which, behind an `@`.
BASES: dict[str, Callable[[], PreTrainedModel]] = {
    "": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=128, n_layer=2, n_head=4, vocab_size=500, n_positions=64)),
    "bert": lambda: BertForSequenceClassification(
        BertConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, vocab_size=300)
    ),
    "gpt_oss": lambda: GptOssForCausalLM(GptOssConfig(**MIXTURE, num_local_experts=4, num_experts_per_tok=2)),
    "qwen3_moe": lambda: Qwen3MoeForCausalLM(
        Qwen3MoeConfig(**MIXTURE, moe_intermediate_size=64, num_experts=4, num_experts_per_tok=2)
    ),
}

TARGETS = ["q_proj", "v_proj", "down_proj"]
COMMON = {"task_type": "CAUSAL_LM"}
ADAPTERS: dict[str, Any] = {
    "lora": peft.LoraConfig(r=8, target_modules=TARGETS, **COMMON),
    "lora-all-linear": peft.LoraConfig(r=4, target_modules="all-linear", **COMMON),
    "lora-first-layer": peft.LoraConfig(r=8, target_modules=TARGETS, layers_to_transform=[0], **COMMON),
    "lora-embedding": peft.LoraConfig(r=8, target_modules=[*TARGETS, "embed_tokens"], modules_to_save=["lm_head"], rank_pattern={"down_proj": 16}, **COMMON),
    "lora-rank-patterns": peft.LoraConfig(r=8, target_modules=TARGETS, rank_pattern={r".*\.layers\.1\..*q_proj": 4, "^model.layers.0.*v_proj": 2}, **COMMON),
    "lora-target-pattern": peft.LoraConfig(r=8, target_modules=r".*layers\.1\..*(q_proj|v_proj)", **COMMON),
    "lora-tokens": peft.LoraConfig(r=8, target_modules=TARGETS, trainable_token_indices=[1, 2, 3], **COMMON),
    "dora-embedding": peft.LoraConfig(r=8, target_modules=[*TARGETS, "embed_tokens"], use_dora=True, **COMMON),
    "dora": peft.LoraConfig(r=8, target_modules=TARGETS, use_dora=True, **COMMON),
    "adalora": peft.AdaLoraConfig(total_step=100, init_r=12, target_r=8, target_modules=TARGETS, **COMMON),
    "loha": peft.LoHaConfig(r=8, target_modules=TARGETS, **COMMON),
    "lokr": peft.LoKrConfig(r=8, target_modules=TARGETS, **COMMON),
    "lokr-large-rank": peft.LoKrConfig(r=64, decompose_both=True, target_modules=TARGETS, **COMMON),
    "lokr-decomposed": peft.LoKrConfig(r=2, decompose_both=True, target_modules=TARGETS, **COMMON),
    "ia3": peft.IA3Config(target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"], **COMMON),
    "prompt-tuning": peft.PromptTuningConfig(num_virtual_tokens=10, **COMMON),
    "prefix-tuning": peft.PrefixTuningConfig(num_virtual_tokens=10, **COMMON),
    "vera": peft.VeraConfig(r=16, target_modules=["q_proj", "o_proj"], **COMMON),
    "vera-without-projections": peft.VeraConfig(r=16, target_modules=["q_proj", "down_proj"], save_projection=False, **COMMON),
    "oft-shared": peft.OFTConfig(oft_block_size=32, block_share=True, target_modules=TARGETS, **COMMON),
    "oft-rank": peft.OFTConfig(r=4, oft_block_size=0, target_modules=TARGETS, **COMMON),
    "oft": peft.OFTConfig(oft_block_size=32, target_modules=TARGETS, **COMMON),
    "lora-head@gpt2": peft.LoraConfig(r=8, target_modules=["c_attn", "c_fc", "lm_head"], **COMMON),
    "lora-embedding@gpt2": peft.LoraConfig(r=8, target_modules=["c_attn", "wte"], fan_in_fan_out=True, **COMMON),
    "lora-biases@bert": peft.LoraConfig(r=8, target_modules=["query"], bias="all", task_type="SEQ_CLS"),
    "lora-own-biases@gpt2": peft.LoraConfig(r=8, target_modules=["c_attn"], bias="lora_only", **COMMON),
    "lora-tokens@bert": peft.LoraConfig(r=8, target_modules=["query"], trainable_token_indices=[1, 2]),
    "lora-replicated-layers": peft.LoraConfig(r=8, target_modules=TARGETS, layer_replication=[(0, 2), (1, 2)], **COMMON),
    "lora-all-linear@qwen3_moe": peft.LoraConfig(r=4, target_modules="all-linear", **COMMON),
    "lora-experts@gpt_oss": peft.LoraConfig(r=4, target_modules=["q_proj"], target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"], **COMMON),
    "lora-one-expert-matrix@qwen3_moe": peft.LoraConfig(r=4, target_modules=[], target_parameters=["mlp.experts.gate_up_proj"], rank_pattern={"experts.gate_up_proj": 8}, **COMMON),
    "lora-kasa": peft.LoraConfig(r=4, target_modules=TARGETS, kasa_config=KasaConfig(), **COMMON),
    "beft": peft.BeftConfig(target_modules=TARGETS, **COMMON),
    "boft": peft.BOFTConfig(boft_block_size=8, target_modules=TARGETS, **COMMON),
    "boft-blocks": peft.BOFTConfig(boft_block_size=0, boft_block_num=8, target_modules=TARGETS, **COMMON),
    "c3a": peft.C3AConfig(block_size=64, block_size_pattern={"v_proj": 32}, target_modules=TARGETS, **COMMON),
    "cartridge": peft.CartridgeConfig(num_virtual_tokens=6, num_frozen_tokens=0, **COMMON),
    "cpt": peft.CPTConfig(cpt_token_ids=[0, 1, 2, 3], cpt_mask=[1] * 4, cpt_tokens_type_mask=[1, 2, 3, 4], **COMMON),
    "deft": peft.DeftConfig(r=4, target_modules=TARGETS, **COMMON),
    "deft-parallel": peft.DeftConfig(r=4, para=True, target_modules=TARGETS, **COMMON),
    "delora": peft.DeloraConfig(r=4, target_modules=TARGETS, **COMMON),
    "fourierft": peft.FourierFTConfig(n_frequency=100, n_frequency_pattern={"v_proj": 50}, target_modules=TARGETS, **COMMON),
    "frod": peft.FrodConfig(target_modules=TARGETS, **COMMON),
    "glora": peft.GloraConfig(r=4, target_modules=TARGETS, **COMMON),
    "glora-biased@bert": peft.GloraConfig(r=4, target_modules=["query", "value"]),
    "glora-vectors": peft.GloraConfig(r=4, config_A_B="vector", config_C="vector", config_D_E="vector", target_modules=TARGETS, **COMMON),
    "gralora": peft.GraloraConfig(r=8, hybrid_r=4, gralora_k=4, target_modules=TARGETS, **COMMON),
    "hira": peft.HiraConfig(r=4, target_modules=[*TARGETS, "embed_tokens"], **COMMON),
    "hra": peft.HRAConfig(r=4, target_modules=TARGETS, **COMMON),
    "ln-tuning@gpt2": peft.LNTuningConfig(target_modules=["ln_1"], **COMMON),
    "miss": peft.MissConfig(r=16, target_modules=TARGETS, **COMMON),
    "miss-bat": peft.MissConfig(r=16, init_weights="bat", target_modules=TARGETS, **COMMON),
    "miss-mini": peft.MissConfig(r=16, init_weights="mini", mini_r=8, target_modules=TARGETS, **COMMON),
    "multitask-prompt": peft.MultitaskPromptTuningConfig(num_virtual_tokens=6, num_tasks=3, num_ranks=2, **COMMON),
    "osf": peft.OSFConfig(target_modules=TARGETS, **COMMON),
    "osf-rank": peft.OSFConfig(effective_rank=16, target_modules=TARGETS, **COMMON),
    "peanut": peft.PeanutConfig(r=4, depth=2, target_modules=TARGETS, **COMMON),
    "poly": peft.PolyConfig(r=4, n_tasks=3, n_skills=2, n_splits=2, target_modules=TARGETS, **COMMON),
    "psoft": peft.PsoftConfig(r=8, target_modules=TARGETS, **COMMON),
    "pvera": peft.PveraConfig(r=8, target_modules=TARGETS, **COMMON),
    "randlora": peft.RandLoraConfig(r=8, target_modules=TARGETS, **COMMON),
    "road": peft.RoadConfig(variant="road_4", target_modules=TARGETS, **COMMON),
    "shira": peft.ShiraConfig(r=4, target_modules=TARGETS, **COMMON),
    "supertuning": peft.SupertuningConfig(r=4, lora_alpha=8, target_modules=TARGETS, **COMMON),
    "tinylora": peft.TinyLoraConfig(r=2, u=16, weight_tying=0.5, target_modules=TARGETS, **COMMON),
    "trainable-tokens@gpt2": peft.TrainableTokensConfig(token_indices=[1, 2, 3], **COMMON),
    "unilora": peft.UniLoraConfig(r=4, save_indices=True, target_modules=TARGETS, **COMMON),
    "vblora": peft.VBLoRAConfig(r=4, num_vectors=32, vector_length=64, target_modules=TARGETS, **COMMON),
    "waveft": peft.WaveFTConfig(n_frequency=100, proportional_parameters=True, target_modules=TARGETS, **COMMON),
}  # fmt: skip


def with_peft(name: str, config: Any, folder: Path) -> dict[str, Any]:
    base = BASES[name.partition("@")[2]]()
    base.save_pretrained(folder / "base")
    plain = base.num_parameters()
    model = peft.get_peft_model(base.float(), config)
    model.save_pretrained(folder / name)
    own = json.loads((folder / name / "adapter_config.json").read_text())
    own["base_model_name_or_path"] = "base"
    for field in ("target_modules", "target_parameters"):
        if isinstance(own.get(field), list):
            own[field].sort()
    return {
        "about": f"peft {version('peft')}, transformers {version('transformers')}",
        "expected": {
            "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
            "base_parameters": plain,
        },
        "base": json.loads((folder / "base" / "config.json").read_text()),
        "beside": {"adapter_config.json": own},
        "files": {"adapter_model.safetensors": listing(folder / name / "adapter_model.safetensors")},
    }


UNET = {
    "block_out_channels": (32, 64),
    "layers_per_block": 1,
    "cross_attention_dim": 32,
    "norm_num_groups": 8,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
}
FLUX = {
    "patch_size": 1,
    "in_channels": 4,
    "num_layers": 1,
    "num_single_layers": 2,
    "attention_head_dim": 16,
    "num_attention_heads": 2,
    "joint_attention_dim": 32,
    "pooled_projection_dim": 24,
    "axes_dims_rope": (4, 4, 8),
}
#: What kohya's `networks/lora.py` adapts by default, and with `conv_dim`.
KOHYA = ["proj_in", "proj_out", "to_q", "to_k", "to_v", "to_out.0", "ff.net.0.proj", "ff.net.2"]
KOHYA_CONVOLUTIONS = ["conv1", "conv2", "downsamplers.0.conv", "upsamplers.0.conv"]
STATED = {"ss_network_module": "networks.lora", "ss_network_dim": "4", "ss_network_alpha": "2"}


def of_diffusers(folder: Path) -> dict[str, dict[str, Any]]:
    """LoRAs of a small UNet and a small Flux under diffusers' names, with and without metadata, and under kohya's."""
    import diffusers

    def unet() -> Any:
        return diffusers.UNet2DConditionModel(**UNET)

    attention = ["to_q", "to_k", "to_v", "to_out.0"]
    small = peft.LoraConfig(r=4, target_modules=attention)
    convolved = peft.LoraConfig(
        r=4,
        target_modules=[*KOHYA, *KOHYA_CONVOLUTIONS, "time_emb_proj", "conv_shortcut"],
        rank_pattern=dict.fromkeys(KOHYA_CONVOLUTIONS, 2),
    )
    linear = peft.LoraConfig(r=4, target_modules=KOHYA)
    of_flux = peft.LoraConfig(r=4, target_modules=[*attention, "x_embedder"])
    more = {**STATED, "ss_network_args": json.dumps({"conv_dim": "2", "conv_alpha": "1"})}
    flux = diffusers.FluxTransformer2DModel(**FLUX)
    return {
        "diffusers-names": image_lora(folder / "1", unet(), small, "unet", stated=False),
        "diffusers-metadata": image_lora(folder / "2", unet(), convolved, "unet"),
        "diffusers-flux": image_lora(folder / "3", flux, of_flux, "transformer"),
        "kohya-names": image_lora(folder / "4", unet(), small, {}),
        "kohya-metadata": image_lora(folder / "5", unet(), linear, STATED),
        "kohya-convolutions": image_lora(folder / "6", unet(), convolved, more),
    }


def image_lora(folder: Path, model: Any, config: Any, kind: str | dict[str, str], *, stated: bool = True) -> Any:
    """One LoRA as diffusers saves it for a part of a pipeline, or as kohya does, with its metadata."""
    import diffusers
    from diffusers.utils import convert_state_dict_to_kohya

    base = model.num_parameters()
    model.add_adapter(config)
    state = get_peft_model_state_dict(model)
    folder.mkdir()
    if isinstance(kind, dict):
        path = folder / "lora.safetensors"
        named = convert_state_dict_to_kohya({f"unet.{key}": tensor for key, tensor in state.items()})
        save_file(named, path, metadata=kind)
    else:
        pipeline = diffusers.FluxPipeline if kind == "transformer" else diffusers.StableDiffusionPipeline
        fields = {key: sorted(value) if isinstance(value, set) else value for key, value in config.to_dict().items()}
        own = {f"{kind}_lora_adapter_metadata": fields} if stated else {}
        pipeline.save_lora_weights(folder, **{f"{kind}_lora_layers": state}, **own)
        path = folder / "pytorch_lora_weights.safetensors"
    metadata = metadata_of(path)
    said = {"metadata": metadata} if set(metadata) - {"format"} else {}
    return {
        "about": f"peft {version('peft')}, diffusers {version('diffusers')}",
        "expected": {"parameters": sum(tensor.numel() for tensor in state.values()), "base_parameters": base},
        "base": {**json.loads(model.to_json_string()), "_class_name": type(model).__name__},
        "files": {path.name: {**listing(path), **said}},
    }


def metadata_of(path: Path) -> dict[str, str]:
    raw = path.read_bytes()
    return json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")]).get("__metadata__") or {}


def main(wanted: list[str]) -> None:
    (FIXTURES / "adapters").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        chosen = {name: config for name, config in ADAPTERS.items() if not wanted or name in wanted}
        recipes = {name: with_peft(name, config, folder) for name, config in chosen.items()}
        for name, made in {**recipes, **({} if wanted else of_diffusers(folder))}.items():
            write(FIXTURES / "adapters" / f"{name.replace('@', '-of-')}.json", made)


if __name__ == "__main__":
    main(sys.argv[1:])
