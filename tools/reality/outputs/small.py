"""Small models with random weights, and the list of what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Make = Callable[[Path], "int | None"]
OUTPUTS: dict[str, Make] = {}


def output(make: Make) -> Make:
    """Registers what one function writes, under its name."""
    OUTPUTS[make.__name__] = make
    return make


def count(model: Any) -> int:
    """Parameters as PyTorch counts them: shared ones once."""
    return sum(each.numel() for each in model.parameters())


def llama(**changed: Any) -> Any:
    import transformers

    fields = {
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**{**fields, "max_position_embeddings": 128, **changed})
    ).eval()


def bert(kind: str = "BertModel", **changed: Any) -> Any:
    import transformers

    fields = {
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
    }
    return getattr(transformers, kind)(transformers.BertConfig(**{**fields, **changed})).eval()


def plain_config(model: Any, folder: Path) -> None:
    """A configuration that names no class, as `config.save_pretrained` writes it for a model that was not saved."""
    config = model.config.__class__.from_dict(
        {key: value for key, value in model.config.to_dict().items() if key != "architectures"}
    )
    config.save_pretrained(folder)


def tokenizer(folder: Path) -> Any:
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(251))]
    (folder / "words.txt").write_text("\n".join(words))
    try:
        return transformers.BertTokenizerFast(vocab_file=str(folder / "words.txt"))
    finally:
        (folder / "words.txt").unlink()
