"""PEFT, and the layouts of adapters that other programs write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, llama, output


def _with_lora(**fields: Any) -> Any:
    import peft

    return peft.get_peft_model(llama(), peft.LoraConfig(**{"r": 4, "target_modules": ["q_proj", "v_proj"], **fields}))


@output
def peft_state(folder: Path) -> int:
    import torch

    model = _with_lora()
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def peft_state_all(folder: Path) -> int:
    import torch

    model = _with_lora(target_modules="all-linear")
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def peft_lora(folder: Path) -> int:
    model = _with_lora()
    model.save_pretrained(folder)
    return int(model.num_parameters(only_trainable=True))


@output
def peft_embeddings(folder: Path) -> int:
    import torch

    model = _with_lora(target_modules=["embed_tokens", "q_proj"])
    for name, each in model.named_parameters():
        if "lora" in name:
            torch.nn.init.normal_(each, std=0.02)
    model.save_pretrained(folder)
    return int(model.num_parameters(only_trainable=True))


@output
def kohya_lora(folder: Path) -> int:
    """The layout of kohya's sd-scripts, written by hand."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, Any] = {}
    for at in range(2):
        for end in ("q_proj", "v_proj"):
            name = f"lora_te_text_model_encoder_layers_{at}_self_attn_{end}"
            tensors |= {
                f"{name}.lora_down.weight": torch.randn(4, 32) / 8,
                f"{name}.lora_up.weight": torch.randn(32, 4) / 8,
                f"{name}.alpha": torch.tensor(4.0),
            }
    save_file(
        tensors,
        folder / "style.safetensors",
        metadata={"ss_network_module": "networks.lora", "ss_network_dim": "4", "ss_network_alpha": "4.0"},
    )
    return sum(each.numel() for name, each in tensors.items() if not name.endswith("alpha"))
