"""Model type tipsv2_text_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.resblocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="tipsv2_text_model",
    types={"tipsv2_text_model": {}},
    rows=(
        Row("token_embedding", "token_embedding", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".ln_1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.in_proj_weight", "3 * hidden_size, hidden_size", bias="True", leaf=""),
        Row("o_proj", LAYER + ".attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".ln_2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.c_proj", "hidden_size, intermediate_size", bias="True"),
        Row("ln_final", "ln_final", "hidden_size", bias="True"),
    ),
    defaults={"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "vocab_size": 32000},
    head="Model",
)
