"""Model type chameleon.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
ENCODER_DOWN = "model.vqmodel.encoder.down.{layer}"
DOWN_BLOCK = "model.vqmodel.encoder.down.{layer}.block.{block}"

FAMILY = Family(
    name="chameleon",
    types={"chameleon": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("embed_patches", "model.vqmodel.encoder.mid.block_1.conv1", ""),
        Row("conv1_embed_patches", "model.vqmodel.encoder.mid.block_2.conv1", ""),
        Row("embedding", "model.vqmodel.quantize.embedding", ""),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", "", leaf="bias"),
        Row("k_norm", LAYER + ".self_attn.k_norm", ""),
        Row("k_norm", LAYER + ".self_attn.k_norm", "", leaf="bias"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("embed_patches", DOWN_BLOCK + ".conv1", ""),
        Row("input_layernorm", DOWN_BLOCK + ".norm1", ""),
        Row("conv2", DOWN_BLOCK + ".conv2", ""),
        Row("conv", ENCODER_DOWN + ".downsample.conv", ""),
        Row("nin_shortcut", DOWN_BLOCK + ".nin_shortcut", "", group="convolution"),
        Row("post_attention_layernorm", DOWN_BLOCK + ".norm2", ""),
        Row("norm", "model.norm", ""),
        Row("conv_in", "model.vqmodel.encoder.conv_in", ""),
        Row("input_layernorm", "model.vqmodel.encoder.mid.block_1.norm1", ""),
        Row("post_attention_layernorm", "model.vqmodel.encoder.mid.block_1.norm2", ""),
        Row("conv2", "model.vqmodel.encoder.mid.block_1.conv2", ""),
        Row("attn_1_norm", "model.vqmodel.encoder.mid.attn_1.norm", ""),
        Row("q", "model.vqmodel.encoder.mid.attn_1.q", "", group="attention"),
        Row("k", "model.vqmodel.encoder.mid.attn_1.k", "", group="attention"),
        Row("v", "model.vqmodel.encoder.mid.attn_1.v", "", group="attention"),
        Row("proj_out", "model.vqmodel.encoder.mid.attn_1.proj_out", "", group="attention"),
        Row("norm1_input_layernorm", "model.vqmodel.encoder.mid.block_2.norm1", ""),
        Row("norm2_post_attention_layernorm", "model.vqmodel.encoder.mid.block_2.norm2", ""),
        Row("block_2_conv2", "model.vqmodel.encoder.mid.block_2.conv2", ""),
        Row("norm_out", "model.vqmodel.encoder.norm_out", ""),
        Row("conv_out", "model.vqmodel.encoder.conv_out", ""),
        Row("quant_conv", "model.vqmodel.quant_conv", ""),
        Row("post_quant_conv", "model.vqmodel.post_quant_conv", ""),
        Row("lm_head", "lm_head", ""),
    ),
    prefix="model.",
    gguf=("chameleon",),
    names_only=True,
    head="ForConditionalGeneration",
)
