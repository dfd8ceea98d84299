"""Write fixtures/adapters: what PEFT saves for one small Llama, and diffusers' and kohya's names, as recipes.

pip install torch transformers peft diffusers
python tools/make_adapter_fixtures.py
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import peft
import torch
from make_fixtures import FIXTURES, write
from make_packed_fixtures import SIZES, listing
from peft.utils import get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

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
}  # fmt: skip


def with_peft(name: str, config: Any, plain: Path, folder: Path) -> dict[str, Any]:
    model = peft.get_peft_model(LlamaForCausalLM.from_pretrained(plain, dtype=torch.float32), config)
    model.save_pretrained(folder / name)
    own = json.loads((folder / name / "adapter_config.json").read_text())
    own["base_model_name_or_path"] = "base"
    if isinstance(own.get("target_modules"), list):
        own["target_modules"].sort()
    base = json.loads((plain / "config.json").read_text())
    return {
        "about": f"peft {version('peft')}, transformers {version('transformers')}",
        "expected": {"parameters": sum(p.numel() for p in model.parameters() if p.requires_grad)},
        "base": base,
        "beside": {"adapter_config.json": own},
        "files": {"adapter_model.safetensors": listing(folder / name / "adapter_model.safetensors")},
    }


def of_unet(folder: Path) -> dict[str, dict[str, Any]]:
    """One LoRA of a small UNet under diffusers' names and under kohya's."""
    import diffusers
    from diffusers.utils import convert_state_dict_to_kohya

    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64),
        layers_per_block=1,
        cross_attention_dim=32,
        norm_num_groups=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )
    unet.add_adapter(peft.LoraConfig(r=4, target_modules=["to_q", "to_k", "to_v", "to_out.0"]))
    state = get_peft_model_state_dict(unet)
    diffusers.StableDiffusionPipeline.save_lora_weights(folder / "diffusers", unet_lora_layers=state)
    kohya = convert_state_dict_to_kohya({f"unet.{name}": tensor for name, tensor in state.items()})
    save_file(kohya, folder / "kohya.safetensors")
    files = {
        "diffusers-names": folder / "diffusers" / "pytorch_lora_weights.safetensors",
        "kohya-names": folder / "kohya.safetensors",
    }
    return {
        name: {
            "about": f"peft {version('peft')}, diffusers {version('diffusers')}",
            "expected": {"parameters": sum(tensor.numel() for tensor in state.values())},
            "files": {path.name: listing(path)},
        }
        for name, path in files.items()
    }


def main() -> None:
    (FIXTURES / "adapters").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        LlamaForCausalLM(LlamaConfig(**SIZES)).save_pretrained(folder / "plain")
        recipes = {name: with_peft(name, config, folder / "plain", folder) for name, config in ADAPTERS.items()}
        for name, made in {**recipes, **of_unet(folder)}.items():
            write(FIXTURES / "adapters" / f"{name}.json", made)


if __name__ == "__main__":
    main()
