"""Fun-ASR-Nano: its encoder, two layers of attention that adapt it, and Qwen3."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

PROJECTOR = "model.multi_modal_projector."
WIDTH, INNER = "adaptor_config.hidden_size", "adaptor_config.intermediate_size"


def projector() -> Iterator[Row]:
    layer = PROJECTOR + "layers.{layer<adaptor_config.num_hidden_layers}."
    middle = "adaptor_config.projector_hidden_size"
    for role, name, shape in (
        ("linear_1", PROJECTOR + "linear_1", f"{middle}, audio_config.hidden_size"),
        ("linear_2", PROJECTOR + "linear_2", f"{WIDTH}, {middle}"),
        ("input_layernorm", layer + "input_layernorm", WIDTH),
        *(
            (word, layer + "self_attn." + word, f"{WIDTH}, {WIDTH}")
            for word in ("q_proj", "k_proj", "v_proj", "o_proj")
        ),
        ("post_attention_layernorm", layer + "post_attention_layernorm", WIDTH),
        ("up_proj", layer + "mlp.fc1", f"{INNER}, {WIDTH}"),
        ("down_proj", layer + "mlp.fc2", f"{WIDTH}, {INNER}"),
    ):
        yield Row(role, name, shape, bias="True", tower="projector")


FAMILY = Family(
    name="fun_asr_nano",
    types={"fun_asr_nano": {}},
    rows=(
        Include("audio_config", "model.audio_tower.", tower="audio", head="Model", default_type="fun_asr_nano_encoder"),
        *projector(),
        Include("text_config", "model.language_model.", strip="model.", head="Model", default_type="qwen3"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "adaptor_config": {
            "hidden_size": 1024,
            "intermediate_size": 256,
            "num_hidden_layers": 2,
            "projector_hidden_size": 2048,
        },
        "audio_config": {},
        "text_config": {
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_hidden_layers": 28,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "tie_word_embeddings": True,
        },
        "tie_word_embeddings": True,
    },
)
