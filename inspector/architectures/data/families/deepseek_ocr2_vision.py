"""DeepSeek-OCR 2's towers: SAM's, and Qwen2 that reads its output before learned queries."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

QWEN = "qwen2_model."
WIDTH = "encoder_config.hidden_size"

FAMILY = Family(
    name="deepseek_ocr2_vision",
    types={"deepseek_ocr2_vision": {}},
    rows=(
        Include(
            "sam_config", "sam_model.", tower="vision", head="Model", default_type="deepseek_ocr2_sam_vision_model"
        ),
        Include(
            "encoder_config",
            QWEN + "model.model.",
            tower="encoder",
            head="Model",
            default_type="deepseek_ocr2_encoder",
            without="embed_tokens",
        ),
        # One for each place of an image of 768 and of 1,024 pixels a side: modeling_deepseek_ocr2.py.
        Row("embed_queries_768", QWEN + "query_768", f"12 * 12, {WIDTH}", tower="encoder"),
        Row("embed_queries_1024", QWEN + "query_1024", f"16 * 16, {WIDTH}", tower="encoder"),
    ),
    head="Model",
    defaults={"encoder_config": {}, "sam_config": {}},
)
