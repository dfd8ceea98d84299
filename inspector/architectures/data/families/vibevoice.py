"""VibeVoice: a language model that hears latents and meanings of speech, and a diffusion head that makes the next latent."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WIDTH = "text_config.hidden_size"
DIFFUSION = "model.diffusion_head."
LAYER = DIFFUSION + "layers.{layer<diffusion_head_config.num_hidden_layers}."


def connector(name: str, width: str, before: str = "") -> Iterator[Row]:
    """Two layers with a norm between them, into the language model."""
    at = f"model.{name}."
    yield Row(before + "linear_1", at + "linear_1", f"{WIDTH}, {width}", bias="True", tower="projector")
    yield Row(before + "act", at + "act", WIDTH, tower="projector", group="norm")
    yield Row(before + "linear_2", at + "linear_2", f"{WIDTH}, {WIDTH}", bias="True", tower="projector")


def diffusion() -> Iterator[Row]:
    """The head: as wide as the language model, with a feed-forward and a modulated norm a layer."""
    latent, frequencies = "audio_config.hidden_size", "diffusion_head_config.frequency_embedding_size"
    inner, bias = "diffusion_head_config.intermediate_size", "diffusion_head_config.mlp_bias"
    for role, name, shape, has_bias in (
        ("noisy_images_proj", DIFFUSION + "noisy_images_proj", f"{WIDTH}, {latent}", ""),
        ("cond_proj", DIFFUSION + "cond_proj", f"{WIDTH}, {WIDTH}", ""),
        ("timestep_fc1", DIFFUSION + "timestep_proj.fc1", f"{WIDTH}, {frequencies}", ""),
        ("timestep_fc2", DIFFUSION + "timestep_proj.fc2", f"{WIDTH}, {WIDTH}", ""),
        ("gate_proj", LAYER + "ffn.gate_proj", f"{inner}, {WIDTH}", bias),
        ("up_proj", LAYER + "ffn.up_proj", f"{inner}, {WIDTH}", bias),
        ("down_proj", LAYER + "ffn.down_proj", f"{WIDTH}, {inner}", bias),
        ("norm", LAYER + "norm", WIDTH, ""),
        ("modulation", LAYER + "linear", f"3 * {WIDTH}, {WIDTH}", ""),
        ("final_modulation", DIFFUSION + "final_layer.linear_1", f"2 * {WIDTH}, {WIDTH}", ""),
        ("final_linear", DIFFUSION + "final_layer.linear_2", f"{latent}, {WIDTH}", ""),
    ):
        yield Row(role, name, shape, bias=has_bias, tower="diffusion")


def factor(role: str) -> Row:
    return Row(role, "model." + role, "", leaf="", tower="audio")


FAMILY = Family(
    name="vibevoice",
    types={"vibevoice": {}},
    rows=(
        Include(
            "audio_config",
            "model.audio_tower.",
            tower="audio",
            head="Model",
            default_type="vibevoice_acoustic_tokenizer",
        ),
        Include(
            "semantic_model_config",
            "model.semantic_tokenizer_encoder.",
            tower="semantic",
            head="Model",
            default_type="vibevoice_acoustic_tokenizer_encoder",
        ),
        factor("latent_scaling_factor"),
        factor("latent_bias_factor"),
        *connector("multi_modal_projector", "audio_config.hidden_size"),
        *connector("semantic_connector", "semantic_model_config.hidden_size", "semantic_"),
        Include("text_config", "model.language_model.", strip="model.", head="Model", default_type="qwen2"),
        *diffusion(),
        Row(
            "lm_head",
            "lm_head",
            f"text_config.vocab_size, {WIDTH}",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "audio_config": {},
        "semantic_model_config": {"hidden_size": 128},
        "text_config": {},
        "diffusion_head_config": {
            "num_hidden_layers": 4,
            "intermediate_size": 4608,
            "frequency_embedding_size": 256,
            "mlp_bias": False,
        },
    },
)
