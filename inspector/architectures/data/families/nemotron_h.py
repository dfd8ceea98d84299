"""Nemotron-H: layers of one mixer each, attention, Mamba-2, a feed-forward or a mixture of experts.

Published configurations write the pattern as a text, a letter a layer: `hybrid_override_pattern` = "M-M*E…".
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer<len(layers_block_type)}"

FAMILY = Family(
    name="nemotron_h",
    types={"nemotron_h": {}},
    rows=(
        Row("embeddings", "backbone.embeddings", "vocab_size, hidden_size"),
        Row(
            "q_proj",
            LAYER + ".mixer.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            when="layers_block_type[layer] == 'full_attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".mixer.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layers_block_type[layer] == 'full_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".mixer.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layers_block_type[layer] == 'full_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".mixer.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            when="layers_block_type[layer] == 'full_attention'",
        ),
        Row("norm", LAYER + ".norm", "hidden_size"),
        Row(
            "router",
            LAYER + ".mixer.gate",
            "n_routed_experts, hidden_size",
            when="layers_block_type[layer] == 'moe'",
        ),
        Row(
            "fc1_latent_proj",
            LAYER + ".mixer.fc1_latent_proj",
            "moe_latent_size, hidden_size",
            bias="attention_bias",
            when="moe_latent_size is not None and layers_block_type[layer] == 'moe'",
            group="feed_forward",
        ),
        Row(
            "fc2_latent_proj",
            LAYER + ".mixer.fc2_latent_proj",
            "hidden_size, moe_latent_size",
            bias="attention_bias",
            when="moe_latent_size is not None and layers_block_type[layer] == 'moe'",
            group="feed_forward",
        ),
        Row(
            "in_proj",
            LAYER + ".mixer.in_proj",
            "mamba_num_heads + 2 * mamba_num_heads * mamba_head_dim + 2 * n_groups * ssm_state_size, hidden_size",
            bias="use_bias",
            when="layers_block_type[layer] == 'linear_attention'",
        ),
        Row(
            "conv1d",
            LAYER + ".mixer.conv1d",
            "mamba_num_heads * mamba_head_dim + 2 * n_groups * ssm_state_size, 1, conv_kernel",
            bias="use_conv_bias",
            when="layers_block_type[layer] == 'linear_attention'",
        ),
        Row(
            "A_log",
            LAYER + ".mixer.A_log",
            "mamba_num_heads",
            when="layers_block_type[layer] == 'linear_attention'",
            leaf="",
        ),
        Row("D", LAYER + ".mixer.D", "mamba_num_heads", when="layers_block_type[layer] == 'linear_attention'", leaf=""),
        Row(
            "dt_bias",
            LAYER + ".mixer.dt_bias",
            "mamba_num_heads",
            when="layers_block_type[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "ssm_norm",
            LAYER + ".mixer.norm",
            "mamba_num_heads * mamba_head_dim",
            when="layers_block_type[layer] == 'linear_attention'",
        ),
        Row(
            "out_proj",
            LAYER + ".mixer.out_proj",
            "hidden_size, mamba_num_heads * mamba_head_dim",
            bias="use_bias",
            when="layers_block_type[layer] == 'linear_attention'",
        ),
        Row(
            "router_bias",
            LAYER + ".mixer.gate.e_score_correction_bias",
            "n_routed_experts",
            when="layers_block_type[layer] == 'moe'",
            leaf="",
        ),
        Row(
            "up_proj",
            LAYER + ".mixer.experts.{expert<n_routed_experts}.up_proj",
            "moe_intermediate_size, moe_width",
            when="layers_block_type[layer] == 'moe'",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".mixer.up_proj",
            "intermediate_size, hidden_size",
            bias="mlp_bias",
            when="layers_block_type[layer] == 'mlp'",
        ),
        Row(
            "down_proj",
            LAYER + ".mixer.experts.{expert<n_routed_experts}.down_proj",
            "moe_width, moe_intermediate_size",
            when="layers_block_type[layer] == 'moe'",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mixer.down_proj",
            "hidden_size, intermediate_size",
            bias="mlp_bias",
            when="layers_block_type[layer] == 'mlp'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mixer.shared_experts.up_proj",
            "moe_shared_expert_intermediate_size, hidden_size",
            bias="mlp_bias",
            when="layers_block_type[layer] == 'moe'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mixer.shared_experts.down_proj",
            "hidden_size, moe_shared_expert_intermediate_size",
            bias="mlp_bias",
            when="layers_block_type[layer] == 'moe'",
        ),
        Row("norm", "backbone.norm_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="backbone.",
    defaults={
        "hybrid_override_pattern": "ME*-",
        "moe_latent_size": None,
        "attention_bias": False,
        "conv_kernel": 4,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 21504,
        "mamba_head_dim": 64,
        "mamba_num_heads": 128,
        "mlp_bias": False,
        "moe_intermediate_size": 7688,
        "moe_shared_expert_intermediate_size": 7688,
        "n_groups": 8,
        "n_routed_experts": 8,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_key_value_heads": 8,
        "ssm_state_size": 128,
        "use_bias": False,
        "use_conv_bias": True,
        "vocab_size": 131072,
    },
    derived={
        "moe_width": "hidden_size if moe_latent_size is None else moe_latent_size",
        # The published configurations write the pattern, a letter a layer.
        "layers_block_type": "['linear_attention' if hybrid_override_pattern[at] == 'M' else 'full_attention' if hybrid_override_pattern[at] == '*' else 'moe' if hybrid_override_pattern[at] == 'E' else 'mlp' for at in range(len(hybrid_override_pattern))]",
    },
    fields={"layer_types": "layers_block_type", "num_local_experts": "n_routed_experts"},
)
