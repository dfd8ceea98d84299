"""Model type granitemoehybrid.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="granitemoehybrid",
    types={"granitemoehybrid": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "hidden_size, hidden_size",
            when="not ('linear_attention' in layer_types)",
        ),
        Row("k_proj", LAYER + ".self_attn.k_proj", "32, hidden_size", when="not ('linear_attention' in layer_types)"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "32, hidden_size", when="not ('linear_attention' in layer_types)"),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, hidden_size",
            when="not ('linear_attention' in layer_types)",
        ),
        Row(
            "output_linear",
            LAYER + ".block_sparse_moe.output_linear",
            "num_local_experts, hidden_size, intermediate_size",
            when="num_local_experts",
            group="convolution",
        ),
        Row(
            "input_linear",
            LAYER + ".block_sparse_moe.input_linear",
            "num_local_experts, 2 * intermediate_size, hidden_size",
            when="num_local_experts",
            group="convolution",
        ),
        Row("shared_mlp_input_linear", LAYER + ".shared_mlp.input_linear", "2 * shared_intermediate_size, hidden_size"),
        Row("shared_mlp_output_linear", LAYER + ".shared_mlp.output_linear", "hidden_size, shared_intermediate_size"),
        Row(
            "in_proj",
            LAYER + ".mamba.in_proj",
            "mamba_n_heads + 2 * mamba_n_groups * mamba_d_state + 4 * hidden_size, hidden_size",
            bias="mamba_proj_bias",
            when="'linear_attention' in layer_types",
        ),
        Row(
            "conv1d",
            LAYER + ".mamba.conv1d",
            "2 * hidden_size + 2 * mamba_n_groups * mamba_d_state, 1, mamba_d_conv",
            bias="mamba_conv_bias",
            when="'linear_attention' in layer_types",
        ),
        Row("A_log", LAYER + ".mamba.A_log", "mamba_n_heads", when="'linear_attention' in layer_types", leaf=""),
        Row("D", LAYER + ".mamba.D", "mamba_n_heads", when="'linear_attention' in layer_types", leaf=""),
        Row("dt_bias", LAYER + ".mamba.dt_bias", "mamba_n_heads", when="'linear_attention' in layer_types", leaf=""),
        Row("ssm_norm", LAYER + ".mamba.norm", "2 * hidden_size", when="'linear_attention' in layer_types"),
        Row(
            "out_proj",
            LAYER + ".mamba.out_proj",
            "hidden_size, 2 * hidden_size",
            bias="mamba_proj_bias",
            when="'linear_attention' in layer_types",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".block_sparse_moe.router.layer",
            "num_local_experts, hidden_size",
            when="num_local_experts",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_state": 256,
        "mamba_n_groups": 1,
        "mamba_n_heads": 128,
        "mamba_proj_bias": False,
        "num_hidden_layers": 32,
        "num_local_experts": 8,
        "shared_intermediate_size": 1024,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    derived={"layer_types": "['linear_attention' for layer in range(num_hidden_layers)]"},
    fields={"layers_block_type": "layer_types"},
    gguf=("granitehybrid",),
)
