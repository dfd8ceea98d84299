"""Sentence-transformers, model2vec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, output, small, tokenizer


def _sentences(folder: Path, *more: Any) -> Any:
    import sentence_transformers as st
    from sentence_transformers import models

    base = folder.parent / "base"
    base.mkdir(exist_ok=True)
    small("BertModel").save_pretrained(base)
    tokenizer(base).save_pretrained(base)
    transformer = models.Transformer(str(base))
    return st.SentenceTransformer(modules=[transformer, models.Pooling(64), *more], device="cpu")


@output
def sentences_dense(folder: Path) -> int:
    from sentence_transformers import models

    model = _sentences(folder, models.Dense(64, 32))
    model.save(str(folder))
    return count(model)


@output
def sentences_dense_pickled(folder: Path) -> int:
    from sentence_transformers import models

    model = _sentences(folder, models.Dense(64, 32, bias=False), models.Normalize())
    model.save(str(folder), safe_serialization=False)
    return count(model)


@output
def sentences_dense_mixed(folder: Path) -> int:
    """As sentence-t5 is published: the body as safetensors, Dense as it was first written."""
    import torch
    from sentence_transformers import models

    dense = models.Dense(64, 48)
    model = _sentences(folder, dense)
    model.save(str(folder))
    (folder / "2_Dense/model.safetensors").unlink()
    torch.save(dense.state_dict(), folder / "2_Dense/pytorch_model.bin")
    return count(model)


@output
def sentences_static(folder: Path) -> int:
    import sentence_transformers as st
    from sentence_transformers import models

    base = folder.parent / "base"
    base.mkdir(exist_ok=True)
    model = st.SentenceTransformer(modules=[models.StaticEmbedding(tokenizer(base), embedding_dim=24)], device="cpu")
    model.save(str(folder))
    return count(model)


@output
def sentences_model2vec(folder: Path) -> None:
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(
        models.WordLevel({"[PAD]": 0, "[UNK]": 1, **{f"w{number}": number + 2 for number in range(98)}}, "[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    mapping = np.arange(100) % 40
    StaticModel(
        np.random.randn(40, 16).astype("float32"), tokenizer, token_mapping=mapping, weights=np.ones(100, "float32")
    ).save_pretrained(folder)
