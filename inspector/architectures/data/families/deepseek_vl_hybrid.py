"""DeepSeek-VL's larger ones: Llama that sees through SigLIP's tower and, more finely, through SAM's."""

from __future__ import annotations

from inspector.architectures.data.families.sam_vision_model import neck
from inspector.architectures.table import Family, Include, Row

FINE = "high_res_vision_config"
WIDTH, TEXT = FINE + ".output_channels", "text_config.hidden_size"


def aligner(role: str, out: str, into: str) -> Row:
    """A layer of what leads into the text model."""
    return Row(role, f"model.aligner.{role}", f"{out}, {into}", bias="True", tower="projector", group="other")


FAMILY = Family(
    name="deepseek_vl_hybrid",
    types={"deepseek_vl_hybrid": {}},
    rows=(
        Include("text_config", "model.language_model.", "model.", head="Model", default_type="llama"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Include(
            FINE,
            "model.high_res_vision_model.",
            tower="high_res_vision",
            head="Model",
            default_type="sam_vision_model",
        ),
        *neck("model.high_res_vision_neck", WIDTH, FINE + ".hidden_size", "projector"),
        Row("high_res_vision_alpha", "model.high_res_vision_alpha", "1", leaf="", tower="projector"),
        Row("downsample_conv1", "model.high_res_vision_proj.conv1", f"2 * {WIDTH}, {WIDTH}, 3, 3", tower="projector"),
        Row(
            "downsample_conv2", "model.high_res_vision_proj.conv2", f"4 * {WIDTH}, 2 * {WIDTH}, 3, 3", tower="projector"
        ),
        aligner("vision_proj", f"{TEXT} // 2", "vision_config.hidden_size"),
        aligner("high_res_vision_proj", f"{TEXT} // 2", f"4 * {WIDTH}"),
        aligner("proj", TEXT, TEXT),
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
    defaults={"high_res_vision_config": {}, "text_config": {}, "tie_word_embeddings": True, "vision_config": {}},
)
