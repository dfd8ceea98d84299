"""DeepSeek-OCR 2 as it was published, with code of its own: DeepSeek's mixture behind SAM and a small Qwen2.

The towers' sizes are those of the code (`deepencoderv2.py`); the configuration repeats only some of them.
"""

from __future__ import annotations

from inspector.architectures.data.families.deepseek_ocr_original import sam_tower
from inspector.architectures.table import Family, Include, Row

QWEN = "model.qwen2_model"


def encoder(role: str, name: str, shape: str, *, bias: str = "") -> Row:
    """A row of Qwen2-0.5B, which reads SAM's output between learned queries."""
    return Row(role, f"{QWEN}.model.model.layers.{{layer<24}}.{name}", shape, bias=bias, tower="encoder")


FAMILY = Family(
    name="deepseek_ocr2_original",
    types={"deepseek_ocr2_original": {}},
    rows=(
        Include("language_config", "model.", strip="model.", head="Model", default_type="deepseek"),
        *sam_tower("896"),
        encoder("input_layernorm", "input_layernorm", "896"),
        encoder("q_proj", "self_attn.q_proj", "896, 896", bias="True"),
        encoder("k_proj", "self_attn.k_proj", "128, 896", bias="True"),
        encoder("v_proj", "self_attn.v_proj", "128, 896", bias="True"),
        encoder("o_proj", "self_attn.o_proj", "896, 896"),
        encoder("post_attention_layernorm", "post_attention_layernorm", "896"),
        encoder("gate_proj", "mlp.gate_proj", "4864, 896"),
        encoder("up_proj", "mlp.up_proj", "4864, 896"),
        encoder("down_proj", "mlp.down_proj", "896, 4864"),
        Row("norm", QWEN + ".model.model.norm", "896", tower="encoder"),
        Row("embed_queries_768", QWEN + ".query_768", "144, 896", tower="encoder"),
        Row("embed_queries_1024", QWEN + ".query_1024", "256, 896", tower="encoder"),
        Row(
            "projector",
            "model.projector.layers",
            "projector_config.n_embed, projector_config.input_dim",
            bias="True",
            tower="projector",
        ),
        Row("view_seperator", "model.view_seperator", "projector_config.n_embed", leaf="", tower="projector"),
        Row("lm_head", "lm_head", "language_config.vocab_size, language_config.hidden_size", heads="ForCausalLM"),
    ),
    defaults={
        "language_config": {},
        "projector_config": {"input_dim": 896, "n_embed": 1280},
    },
)
