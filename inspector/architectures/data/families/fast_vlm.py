"""FastVLM: FastViT of the size MCi3, as it is for inference, before a language model.

timm/models/fastvit.py. The configuration only names the network, so its sizes stand here; branches that training adds up
are one convolution each, which `inference_mode` says.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import batch_norm
from inspector.architectures.table import Family, Include, Row

TIMM = "model.vision_tower.timm_model."
STAGE = TIMM + "stages.{layer<5}."
BLOCK = TIMM + "stages.{layer<5}.blocks.{block<depths[layer]}."
STEM = 96
WIDTH = f"{STEM} * 2 ** layer"
LAST = f"{STEM} * 2 ** 5"
#: Stages whose blocks have attention, and places before them.
ATTENDS, MIXES = "layer > 2", "layer < 3"


def vision(role: str, name: str, shape: str, *, bias: str = "True", when: str = "", group: str = "convolution") -> Row:
    return Row(role, name, shape, bias=bias, when=when, tower="vision", group=group)


def stem() -> Iterator[Row]:
    """Three convolutions: of three by three over all channels, within each, and across them."""
    before = f"3 if layer == 0 else 1 if layer == 1 else {STEM}"
    kernel = "1 if layer == 2 else 3"
    name = TIMM + "stem.{layer<3}.reparam_conv"
    yield vision("embed_patches", name, f"{STEM}, {before}, {kernel}, {kernel}", group="embedding")


def blocks() -> Iterator[Row]:
    """Blocks of all stages: what mixes places, and a feed-forward with a convolution and a norm before it."""
    at = STAGE + "downsample.proj."
    yield vision("downsample", at + "0.reparam_conv", f"{WIDTH}, 1, 7, 7", when="layer > 0")
    yield vision("downsample", at + "1.reparam_conv", f"{WIDTH}, {WIDTH}, 1, 1", when="layer > 0")
    yield vision(
        "embed_positions", STAGE + "pos_emb.reparam_conv", f"{WIDTH}, 1, 7, 7", when=ATTENDS, group="embedding"
    )
    yield vision("token_mixer", BLOCK + "token_mixer.reparam_conv", f"{WIDTH}, 1, 3, 3", when=MIXES)
    yield vision("input_layernorm", BLOCK + "norm", WIDTH, when=ATTENDS, group="norm")
    yield vision(
        "qkv_proj", BLOCK + "token_mixer.qkv", f"3 * {WIDTH}, {WIDTH}", bias="", when=ATTENDS, group="attention"
    )
    yield vision("o_proj", BLOCK + "token_mixer.proj", f"{WIDTH}, {WIDTH}", when=ATTENDS, group="attention")
    yield vision("mlp_conv", BLOCK + "mlp.conv.conv", f"{WIDTH}, 1, 7, 7", bias="")
    yield from batch_norm("mlp_conv_norm", BLOCK + "mlp.conv.bn", WIDTH, tower="vision")
    yield vision("up_proj", BLOCK + "mlp.fc1", f"4 * {WIDTH}, {WIDTH}, 1, 1", group="feed_forward")
    yield vision("down_proj", BLOCK + "mlp.fc2", f"{WIDTH}, 4 * {WIDTH}, 1, 1", group="feed_forward")
    for word, when in (("layer_scale", MIXES), ("layer_scale_1", ATTENDS), ("layer_scale_2", ATTENDS)):
        yield Row(word, f"{BLOCK}{word}.gamma", f"{WIDTH}, 1, 1", when=when, tower="vision", leaf="", group="other")


def end() -> Iterator[Row]:
    """The last convolution, twice as wide, whose channels are weighed by what all places have."""
    at = TIMM + "final_conv."
    yield vision("final_conv", at + "reparam_conv", f"{LAST}, 1, 3, 3")
    yield vision("squeeze", at + "se.fc1", f"{LAST} // 16, {LAST}, 1, 1")
    yield vision("excite", at + "se.fc2", f"{LAST}, {LAST} // 16, 1, 1")


def projection(word: str, before: str) -> Row:
    shape = f"text_config.hidden_size, {before}"
    name = f"model.multi_modal_projector.{word}"
    return Row(word, name, shape, bias="multimodal_projector_bias", tower="projector", group="other")


FAMILY = Family(
    name="fast_vlm",
    types={"fast_vlm": {}},
    rows=(
        *stem(),
        *blocks(),
        *end(),
        projection("linear_1", "vision_config.hidden_size"),
        projection("linear_2", "text_config.hidden_size"),
        Include("text_config", "model.language_model.", strip="model.", head="Model", default_type="qwen2"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings or text_config.tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "multimodal_projector_bias": True,
        "text_config": {
            "hidden_size": 3584,
            "intermediate_size": 18944,
            "num_attention_heads": 28,
            "num_hidden_layers": 28,
            "num_key_value_heads": 4,
            "vocab_size": 152128,
        },
        "tie_word_embeddings": False,
        "vision_config": {
            "architecture": "fastvit_mci3",
            "hidden_size": 3072,
            "model_args": {"inference_mode": True},
        },
    },
    derived={
        "depths": "[2, 12, 24, 4, 2]"
        " if vision_config.architecture == 'fastvit_mci3' and vision_config.model_args.inference_mode"
        " else depths_of_this_timm_architecture",
    },
    head="ForConditionalGeneration",
)
