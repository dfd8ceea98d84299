"""Write fixtures/composite: repositories of several models, as diffusers and sentence-transformers save them.

pip install torch transformers diffusers sentence-transformers
python tools/make_composite_fixtures.py
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import diffusers
import torch
from make_fixtures import FIXTURES, write
from make_packed_fixtures import listing
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, BertTokenizer, CLIPTextConfig, CLIPTextModel


def stable_diffusion(folder: Path) -> dict[str, int]:
    """A pipeline in F32 with a copy in F16; parameters of its parts."""
    parts = {
        "unet": diffusers.UNet2DConditionModel(
            block_out_channels=(32, 64),
            layers_per_block=1,
            cross_attention_dim=32,
            norm_num_groups=8,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        ),
        "vae": diffusers.AutoencoderKL(
            block_out_channels=[32, 64],
            norm_num_groups=8,
            down_block_types=["DownEncoderBlock2D"] * 2,
            up_block_types=["UpDecoderBlock2D"] * 2,
        ),
        "text_encoder": CLIPTextModel(
            CLIPTextConfig(
                hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2, vocab_size=1000
            )
        ),
    }
    counts = {name: sum(tensor.numel() for tensor in part.parameters()) for name, part in parts.items()}
    nothing = dict.fromkeys(("tokenizer", "safety_checker", "feature_extractor"))
    pipeline = diffusers.StableDiffusionPipeline(
        **parts, **nothing, scheduler=diffusers.DDIMScheduler(), requires_safety_checker=False
    )
    pipeline.save_pretrained(folder)
    pipeline.to(torch.float16).save_pretrained(folder, variant="fp16")
    return counts


def sentence_transformer(folder: Path) -> dict[str, int]:
    plain = folder.parent / "bert"
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertModel(BertConfig(**sizes, vocab_size=100, max_position_embeddings=64)).save_pretrained(plain)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]
    (plain / "vocab.txt").write_text("\n".join(words))
    BertTokenizer(str(plain / "vocab.txt")).save_pretrained(plain)
    parts = {
        "transformer": models.Transformer(str(plain)),
        "pooling": models.Pooling(32),
        "2_Dense": models.Dense(32, 16),
    }
    SentenceTransformer(modules=list(parts.values())).save(str(folder))
    counts = {name: sum(tensor.numel() for tensor in part.parameters()) for name, part in parts.items()}
    return {name: count for name, count in counts.items() if count}


def recipe(folder: Path, counts: dict[str, int], about: str) -> dict[str, Any]:
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    kept = [path for path in paths if path.endswith(".json") and not path.startswith("tokenizer")]
    weights = [path for path in paths if path.endswith(".safetensors")]
    return {
        "about": about,
        "expected": counts,
        "beside": {path: json.loads((folder / path).read_text()) for path in kept},
        "files": {path: listing(folder / path) for path in weights},
        "index": False,
    }


def main() -> None:
    (FIXTURES / "composite").mkdir(exist_ok=True)
    for name, save, library in (
        ("stable-diffusion", stable_diffusion, "diffusers"),
        ("sentence-transformer", sentence_transformer, "sentence-transformers"),
    ):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / name
            counts = save(folder)
            about = f"{library} {version(library)}, transformers {version('transformers')}"
            write(FIXTURES / "composite" / f"{name}.json", recipe(folder, counts, about))


if __name__ == "__main__":
    main()
