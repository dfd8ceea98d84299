"""What programs around a model write: converters, image tools, word processors, agents."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .frameworks import MLX
from .small import count, llama, output, outputs, small

CONVERTER = "LLAMA_CPP"  # the environment's name for a folder with convert_hf_to_gguf.py


def _for_llama_cpp(folder: Path) -> Any:
    """A model with a tokenizer that llama.cpp's converter knows."""
    import sentencepiece

    model = llama(vocab_size=320)
    model.save_pretrained(folder)
    text = folder / "text.txt"
    text.write_text("\n".join(f"the model number {at} counts its words" for at in range(200)))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "tokenizer"), vocab_size=320, byte_fallback=True,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    text.unlink()
    (folder / "tokenizer.vocab").unlink()
    return model


def _converted(folder: Path, arguments: tuple[str, ...], name: str = "model.gguf") -> int:
    plain = folder.parent / "plain"
    plain.mkdir()
    model = _for_llama_cpp(plain)
    command = [sys.executable, f"{os.environ[CONVERTER]}/convert_hf_to_gguf.py", str(plain), *arguments]
    command += ["--outfile", str(folder / name)]
    subprocess.run(command, check=True, capture_output=True)
    return count(model)


outputs(
    _converted,
    llama_cpp_f16={"arguments": ("--outtype", "f16"), "name": "model-f16.gguf"},
    llama_cpp_q8={"arguments": ("--outtype", "q8_0")},
    llama_cpp_split={"arguments": ("--outtype", "bf16", "--split-max-tensors", "12"), "name": "m.gguf"},
)


def _lycoris(folder: Path, algorithm: str) -> int:
    import torch
    from lycoris import LycorisNetwork, create_lycoris

    model = llama()
    LycorisNetwork.apply_preset({"target_module": ["LlamaDecoderLayer"]})
    network = create_lycoris(model, 1.0, linear_dim=4, linear_alpha=2.0, algo=algorithm)
    network.apply_to()
    for each in network.parameters():
        torch.nn.init.normal_(each, std=0.02)
    network.save_weights(str(folder / "style.safetensors"), torch.float16, {"ss_network_module": "lycoris.kohya"})
    return sum(value.numel() for name, value in network.state_dict().items() if not name.endswith("alpha"))


outputs(_lycoris, **{f"lycoris_{name}": {"algorithm": name} for name in ("lora", "loha", "lokr")})


@output
def comfy_text_encoder(folder: Path) -> int:
    """ComfyUI's CheckpointSave of a text encoder, under its own prefix, beside its workflow in the metadata."""
    from safetensors.torch import save_file

    model = small("CLIPTextModel")
    state = {f"text_encoders.clip_l.transformer.{name}": each.contiguous() for name, each in model.state_dict().items()}
    workflow = {"prompt": json.dumps({"1": {"class_type": "CLIPSave"}}), "workflow": json.dumps({"nodes": []})}
    save_file(state, folder / "clip_l_00001_.safetensors", metadata=workflow)
    return sum(each.numel() for each in state.values())


@output
def spacy_pipeline(folder: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("tagger")
    for label in ("NOUN", "VERB"):
        tagger.add_label(label)
    nlp.initialize()
    nlp.to_disk(folder)


@output
def baselines_policy(folder: Path) -> None:
    import gymnasium  # noqa: F401  the environment of the agent
    from stable_baselines3 import PPO

    PPO("MlpPolicy", "CartPole-v1", device="cpu", n_steps=16).save(folder / "ppo_cartpole.zip")


@output
def mlx_adapters(folder: Path) -> int:
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.models import llama as of_mlx
    from mlx_lm.tuner.utils import linear_to_lora_layers

    model = of_mlx.Model(of_mlx.ModelArgs(**MLX))
    model.freeze()
    parameters = {"rank": 8, "scale": 20.0, "dropout": 0.0}
    linear_to_lora_layers(model, 2, parameters)
    trained = dict(tree_flatten(model.trainable_parameters()))
    mx.save_safetensors(str(folder / "adapters.safetensors"), trained)
    settings = {"fine_tune_type": "lora", "num_layers": 2, "lora_parameters": parameters, "model": "org/base"}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return sum(int(each.size) for each in trained.values())


@output
def mlx_npz(folder: Path) -> int:
    """As mlx-examples' convert.py wrote a Llama at first."""
    import mlx.core as mx

    shapes = {"tok_embeddings.weight": (256, 64), "norm.weight": (64,), "output.weight": (256, 64)}
    for at in range(2):
        shapes |= {f"layers.{at}.attention.{name}.weight": (64, 64) for name in ("wq", "wk", "wv", "wo")}
        shapes |= {f"layers.{at}.feed_forward.{name}.weight": (128, 64) for name in ("w1", "w3")}
        shapes |= {f"layers.{at}.feed_forward.w2.weight": (64, 128)}
        shapes |= {f"layers.{at}.{name}.weight": (64,) for name in ("attention_norm", "ffn_norm")}
    mx.savez(str(folder / "weights.npz"), **{name: mx.random.normal(shape) for name, shape in shapes.items()})
    sizes = {
        "dim": 64,
        "n_layers": 2,
        "n_heads": 4,
        "n_kv_heads": 4,
        "head_dim": 16,
        "hidden_dim": 128,
        "vocab_size": 256,
    }
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "norm_eps": 1e-5, **sizes}))
    return sum(math.prod(shape) for shape in shapes.values())
