"""DeepSeek-V4: compressed attention of two kinds, hyper-connections, and experts that the first layers find by hashing."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.ffn.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="deepseek_v4",
    types={"deepseek_v4": {}},
    rows=(
        Row("input_layernorm", LAYER + ".attn_norm", "hidden_size"),
        Row("hc_attn_base", LAYER + ".hc_attn_base", "2 * hc_mult + hc_mult * hc_mult", leaf=""),
        Row("hc_attn_fn", LAYER + ".hc_attn_fn", "2 * hc_mult + hc_mult * hc_mult, hidden_size * hc_mult", leaf=""),
        Row("hc_attn_scale", LAYER + ".hc_attn_scale", "3", leaf=""),
        Row("hc_ffn_base", LAYER + ".hc_ffn_base", "2 * hc_mult + hc_mult * hc_mult", leaf=""),
        Row("hc_ffn_fn", LAYER + ".hc_ffn_fn", "2 * hc_mult + hc_mult * hc_mult, hidden_size * hc_mult", leaf=""),
        Row("hc_ffn_scale", LAYER + ".hc_ffn_scale", "3", leaf=""),
        Row(
            "gate",
            LAYER + ".ffn.gate",
            "n_routed_experts, hidden_size",
            bias="mlp_layer_types[layer] == 'moe'",
            group="feed_forward",
        ),
        Row(
            "w2",
            LAYER + ".ffn.shared_experts.w2",
            "hidden_size, moe_intermediate_size",
            bias="mlp_bias",
            group="feed_forward",
        ),
        Row(
            "w1",
            LAYER + ".ffn.shared_experts.w1",
            "moe_intermediate_size, hidden_size",
            bias="mlp_bias",
            group="feed_forward",
        ),
        Row(
            "w3",
            LAYER + ".ffn.shared_experts.w3",
            "moe_intermediate_size, hidden_size",
            bias="mlp_bias",
            group="feed_forward",
        ),
        Row(
            "wgate",
            LAYER + ".attn.compressor.wgate",
            "head_dim if layer_types[layer] == 'heavily_compressed_attention' else 2 * head_dim, hidden_size",
            when="layer_types[layer] != 'sliding_attention'",
            group="attention",
        ),
        Row(
            "norm",
            LAYER + ".attn.compressor.norm",
            "head_dim",
            when="layer_types[layer] != 'sliding_attention'",
        ),
        Row(
            "wkv",
            LAYER + ".attn.compressor.wkv",
            "head_dim if layer_types[layer] == 'heavily_compressed_attention' else 2 * head_dim, hidden_size",
            when="layer_types[layer] != 'sliding_attention'",
            group="attention",
        ),
        Row(
            "ape",
            LAYER + ".attn.compressor.ape",
            "compress_rates.heavily_compressed_attention if layer_types[layer] == 'heavily_compressed_attention' else compress_rates.compressed_sparse_attention, head_dim if layer_types[layer] == 'heavily_compressed_attention' else 2 * head_dim",
            when="layer_types[layer] != 'sliding_attention'",
            leaf="",
            group="attention",
        ),
        Row("attn_norm", LAYER + ".attn.norm", "head_dim"),
        Row("attn_wkv", LAYER + ".attn.wkv", "head_dim, hidden_size"),
        Row(
            "wo_a",
            LAYER + ".attn.wo_a",
            "o_groups * o_lora_rank, num_attention_heads * head_dim // o_groups if num_attention_heads else 0",
            group="attention",
        ),
        Row("wo_b", LAYER + ".attn.wo_b", "hidden_size, o_groups * o_lora_rank", group="attention"),
        Row("wq_a", LAYER + ".attn.wq_a", "q_lora_rank, hidden_size", group="attention"),
        Row("wq_b", LAYER + ".attn.wq_b", "num_attention_heads * head_dim, q_lora_rank", group="attention"),
        Row("attn_sink", LAYER + ".attn.attn_sink", "num_attention_heads", leaf=""),
        Row(
            "compressor_wgate",
            LAYER + ".attn.indexer.compressor.wgate",
            "2 * index_head_dim, hidden_size",
            when="layer_types[layer] == 'compressed_sparse_attention'",
            group="attention",
        ),
        Row(
            "compressor_norm",
            LAYER + ".attn.indexer.compressor.norm",
            "index_head_dim",
            when="layer_types[layer] == 'compressed_sparse_attention'",
        ),
        Row(
            "compressor_wkv",
            LAYER + ".attn.indexer.compressor.wkv",
            "2 * index_head_dim, hidden_size",
            when="layer_types[layer] == 'compressed_sparse_attention'",
            group="attention",
        ),
        Row(
            "compressor_ape",
            LAYER + ".attn.indexer.compressor.ape",
            "compress_rates.compressed_sparse_attention, 2 * index_head_dim",
            when="layer_types[layer] == 'compressed_sparse_attention'",
            leaf="",
            group="attention",
        ),
        Row(
            "indexer_wq_b",
            LAYER + ".attn.indexer.wq_b",
            "index_n_heads * index_head_dim, q_lora_rank",
            when="layer_types[layer] == 'compressed_sparse_attention'",
            group="attention",
        ),
        Row(
            "weights_proj",
            LAYER + ".attn.indexer.weights_proj",
            "index_n_heads, hidden_size",
            when="layer_types[layer] == 'compressed_sparse_attention'",
            group="attention",
        ),
        Row("q_norm", LAYER + ".attn.q_norm", "q_lora_rank"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("gate_proj", EXPERT + ".w1", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, moe_intermediate_size", active="num_experts_per_tok"),
        Row("norm", "model.norm", "hidden_size"),
        Row("head", "head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size", heads="ForCausalLM"),
        Row("hc_base", "model.hc_head.hc_base", "hc_mult", heads="ForCausalLM", leaf="", group="head"),
        Row(
            "hc_fn", "model.hc_head.hc_fn", "hc_mult, hidden_size * hc_mult", heads="ForCausalLM", leaf="", group="head"
        ),
        Row("hc_scale", "model.hc_head.hc_scale", "1", heads="ForCausalLM", leaf="", group="head"),
        Row("embed", "model.embed", "vocab_size, hidden_size", heads="Model"),
        Row("hc_head_base", "model.hc_head_base", "hc_mult", heads="Model", leaf=""),
        Row("hc_head_fn", "model.hc_head_fn", "hc_mult, hidden_size * hc_mult", heads="Model", leaf=""),
        Row("hc_head_scale", "model.hc_head_scale", "1", heads="Model", leaf=""),
        Row(
            "tid2eid",
            LAYER + ".ffn.gate.tid2eid",
            "vocab_size, num_experts_per_tok",
            when="mlp_layer_types[layer] == 'hash_moe'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 128},
        "compress_ratios": None,
        "hc_mult": 4,
        "head_dim": 512,
        "hidden_size": 4096,
        "index_head_dim": 128,
        "index_n_heads": 64,
        "mlp_bias": False,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "num_attention_heads": 64,
        "num_experts_per_tok": 6,
        "num_hash_layers": 3,
        "num_hidden_layers": 43,
        "o_groups": 8,
        "o_lora_rank": 1024,
        "q_lora_rank": 1024,
        "tie_word_embeddings": False,
        "vocab_size": 129280,
    },
    derived={
        "layer_types": (
            "['sliding_attention' if compress_ratios and compress_ratios[layer] == 0 else 'compressed_sparse_attention'"
            " if (compress_ratios[layer] == 4 if compress_ratios else layer > 1 and layer % 2)"
            " else 'heavily_compressed_attention' for layer in range(num_hidden_layers)]"
        ),
        "mlp_layer_types": (
            "['hash_moe' if layer < num_hash_layers else 'moe' for layer in range(num_hidden_layers)]"
        ),
    },
    fields={"num_local_experts": "n_routed_experts", "intermediate_size": "moe_intermediate_size"},
)
