"""Model type sapiens2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="sapiens2",
    types={"sapiens2": {}},
    rows=(
        Row("embed_class", "cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "projection",
            "patch_embed.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            group="embedding",
        ),
        Row(
            "mask_token",
            "embeddings.mask_token",
            "1, 1, hidden_size",
            when="use_mask_token",
            leaf="",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".ln1", "hidden_size"),
        Row("q_proj", LAYER + ".attn.wq", "hidden_size, hidden_size", bias="query_bias"),
        Row(
            "k_proj",
            LAYER + ".attn.wk",
            "num_key_value_heads_per_layer[layer] * (hidden_size // num_attention_heads), hidden_size",
            bias="key_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attn.wv",
            "num_key_value_heads_per_layer[layer] * (hidden_size // num_attention_heads), hidden_size",
            bias="value_bias",
        ),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="proj_bias"),
        Row("gamma", LAYER + ".attn.gamma", "hidden_size", group="norm"),
        Row("w3", LAYER + ".ffn.w3", "hidden_size, intermediate_size", bias="mlp_bias", group="feed_forward"),
        Row(
            "w12",
            LAYER + ".ffn.w12",
            "2 * intermediate_size if use_gated_mlp else intermediate_size, hidden_size",
            bias="mlp_bias",
            group="feed_forward",
        ),
        Row("q_norm", LAYER + ".attn.q_norm", "hidden_size // num_attention_heads", when="use_qk_norm"),
        Row("k_norm", LAYER + ".attn.k_norm", "hidden_size // num_attention_heads", when="use_qk_norm"),
        Row("post_attention_layernorm", LAYER + ".ln2", "hidden_size"),
        Row("storage_tokens", "storage_tokens", "1, num_register_tokens, hidden_size", leaf="", group="convolution"),
        Row("input_layernorm", "ln1", "hidden_size"),
    ),
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "key_bias": True,
        "mlp_bias": True,
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "num_key_value_heads_per_layer": [
            16,
            16,
            16,
            16,
            16,
            16,
            16,
            16,
            8,
            8,
            8,
            8,
            8,
            8,
            8,
            8,
            16,
            16,
            16,
            16,
            16,
            16,
            16,
            16,
        ],
        "num_register_tokens": 8,
        "patch_size": 16,
        "proj_bias": True,
        "query_bias": True,
        "use_gated_mlp": True,
        "use_mask_token": False,
        "use_qk_norm": True,
        "value_bias": True,
    },
    head="Model",
)
