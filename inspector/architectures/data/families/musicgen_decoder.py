"""MusicGen's decoder: a token embedding and a head for each codebook; Melody's has no attention to the text."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

DECODER = "model.decoder."
LAYER = DECODER + "layers.{layer<num_hidden_layers}."


def attention(name: str, before: str = "", when: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield Row(before + role, f"{LAYER}{name}.{word}", "hidden_size, hidden_size", when=when)


CROSS = "model_type != 'musicgen_melody_decoder'"

FAMILY = Family(
    name="musicgen_decoder",
    types={"musicgen_decoder": {}, "musicgen_melody_decoder": {}},
    rows=(
        Row("embed_tokens", DECODER + "embed_tokens.{codebook<num_codebooks}", "vocab_size + 1, hidden_size"),
        Row("input_layernorm", LAYER + "self_attn_layer_norm", "hidden_size", bias="True"),
        *attention("self_attn"),
        Row("post_attention_layernorm", LAYER + "encoder_attn_layer_norm", "hidden_size", bias="True", when=CROSS),
        *attention("encoder_attn", "cross_", CROSS),
        Row("up_proj", LAYER + "fc1", "ffn_dim, hidden_size"),
        Row("down_proj", LAYER + "fc2", "hidden_size, ffn_dim"),
        Row("pre_feedforward_layernorm", LAYER + "final_layer_norm", "hidden_size", bias="True"),
        Row("norm", DECODER + "layer_norm", "hidden_size", bias="True"),
        Row("lm_head", "lm_heads.{codebook<num_codebooks}", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="model.",
    prefixes={"ForCausalLM": "model.", "Model": ""},
    defaults={
        "ffn_dim": 4096,
        "hidden_size": 1024,
        "num_codebooks": 4,
        "num_hidden_layers": 24,
        "vocab_size": 2048,
    },
)
