"""Model type granitemoe_swa.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="granitemoe_swa",
    types={"granitemoe_swa": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "input_linear",
            LAYER + ".shared_mlp.input_linear",
            "2, hidden_size",
            when="shared_intermediate_size",
            group="feed_forward",
        ),
        Row(
            "output_linear",
            LAYER + ".shared_mlp.output_linear",
            "hidden_size, 1",
            when="shared_intermediate_size",
            group="feed_forward",
        ),
        Row("sinks", LAYER + ".self_attn.sinks", "num_attention_heads", leaf=""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".block_sparse_moe.router", "num_local_experts, hidden_size"),
        Row(
            "gate_up_proj",
            LAYER + ".block_sparse_moe.experts.gate_up_proj",
            "num_local_experts, 2 * intermediate_size, hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".block_sparse_moe.experts.down_proj",
            "num_local_experts, hidden_size, intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_local_experts": 8,
        "shared_intermediate_size": 0,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    derived={"num_key_value_heads": "num_attention_heads", "head_dim": "hidden_size // num_attention_heads"},
)
