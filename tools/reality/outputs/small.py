"""Small models with random weights, and the list of what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

Make = Callable[[Path], "int | None"]
OUTPUTS: dict[str, Make] = {}


def output(make: Make) -> Make:
    """Registers what one function writes, under its name."""
    OUTPUTS[make.__name__] = make
    return make


def outputs(make: Callable[..., int | None], **variants: Mapping[str, Any]) -> None:
    """Registers what one function writes with several arguments, each under a name of its own."""
    OUTPUTS.update({name: partial(make, **arguments) for name, arguments in variants.items()})


def count(model: Any) -> int:
    """Parameters as PyTorch counts them: shared ones once."""
    return sum(each.numel() for each in model.parameters())


#: A class of Transformers' configurations → sizes that differ from each other, or divide each other where they must.
_DECODER = {"vocab_size": 256, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
SIZES: dict[str, dict[str, Any]] = {
    "llama": {**_DECODER, "num_hidden_layers": 3, "num_key_value_heads": 2, "max_position_embeddings": 128},
    "bert": {**_DECODER, "num_hidden_layers": 2, "max_position_embeddings": 64},
    "roberta": {**_DECODER, "num_hidden_layers": 2, "max_position_embeddings": 66},
    "distilbert": {"vocab_size": 256, "dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4},
    "vit": {
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
        "num_labels": 5,
    },
    "clip_text_model": {
        **_DECODER,
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 37,
        "num_hidden_layers": 2,
    },
}


def small(kind: str, **changed: Any) -> Any:
    """A model of a class of Transformers."""
    import transformers

    own = getattr(transformers, kind)
    return own(own.config_class(**{**SIZES[own.config_class.model_type], **changed})).eval()


def llama(**changed: Any) -> Any:
    return small("LlamaForCausalLM", **changed)


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
