"""Model type blt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LOCAL_ENCODER = "model.local_encoder.layers.{layer<encoder_config.num_hidden_layers}"
GLOBAL_TRANSFORMER = "model.global_transformer.layers.{layer<global_config.num_hidden_layers}"
LOCAL_DECODER = "model.local_decoder.layers.{layer<decoder_config.num_hidden_layers}"
LOCAL_DECODER_CROSS_ATTN_LAYERS = "model.local_decoder.cross_attn_layers.{layer<9}"
PATCHER = "model.patcher.layers.{layer<patcher_config.num_hidden_layers}"

FAMILY = Family(
    name="blt",
    types={"blt": {}},
    rows=(
        Row(
            "patch_embedding_projection",
            "model.local_encoder.patch_embedding_projection",
            "encoder_config.hidden_size * encoder_config.cross_attn_k, encoder_config.hidden_size",
        ),
        Row(
            "token_embedding_projection",
            "model.global_transformer.token_embedding_projection",
            "global_config.hidden_size, global_config.encoder_cross_output_size",
            when="num_labels > 2",
        ),
        Row(
            "local_decoder_patch_embedding_projection",
            "model.local_decoder.patch_embedding_projection",
            "decoder_config.hidden_size * decoder_config.cross_attn_k, decoder_config.hidden_size_global",
        ),
        Row(
            "encoder_hash_tok_embedding",
            "model.encoder_hash_tok_embedding",
            "6 * encoder_hash_byte_group_nb_functions * encoder_hash_byte_group_vocab, encoder_config.hidden_size",
        ),
        Row(
            "patcher_embed_tokens",
            "model.patcher.embed_tokens",
            "patcher_config.vocab_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row("input_layernorm", LOCAL_ENCODER + ".input_layernorm", "encoder_config.hidden_size"),
        Row(
            "q_proj",
            LOCAL_ENCODER + ".self_attn.q_proj",
            "encoder_config.num_attention_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
        ),
        Row(
            "k_proj",
            LOCAL_ENCODER + ".self_attn.k_proj",
            "encoder_config.num_key_value_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
        ),
        Row(
            "v_proj",
            LOCAL_ENCODER + ".self_attn.v_proj",
            "encoder_config.num_key_value_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
        ),
        Row(
            "o_proj",
            LOCAL_ENCODER + ".self_attn.o_proj",
            "encoder_config.hidden_size, encoder_config.num_attention_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads)",
        ),
        Row("post_attention_layernorm", LOCAL_ENCODER + ".post_attention_layernorm", "encoder_config.hidden_size"),
        Row(
            "gate_proj",
            LOCAL_ENCODER + ".mlp.gate_proj",
            "encoder_config.intermediate_size, encoder_config.hidden_size",
        ),
        Row("up_proj", LOCAL_ENCODER + ".mlp.up_proj", "encoder_config.intermediate_size, encoder_config.hidden_size"),
        Row(
            "down_proj",
            LOCAL_ENCODER + ".mlp.down_proj",
            "encoder_config.hidden_size, encoder_config.intermediate_size",
        ),
        Row(
            "self_attn_q_proj",
            GLOBAL_TRANSFORMER + ".self_attn.q_proj",
            "global_config.hidden_size, global_config.hidden_size",
        ),
        Row(
            "self_attn_k_proj",
            GLOBAL_TRANSFORMER + ".self_attn.k_proj",
            "global_config.num_key_value_heads * global_config.head_dim, global_config.hidden_size",
        ),
        Row(
            "self_attn_v_proj",
            GLOBAL_TRANSFORMER + ".self_attn.v_proj",
            "global_config.num_key_value_heads * global_config.head_dim, global_config.hidden_size",
        ),
        Row(
            "self_attn_o_proj",
            GLOBAL_TRANSFORMER + ".self_attn.o_proj",
            "global_config.hidden_size, global_config.hidden_size",
        ),
        Row(
            "mlp_gate_proj",
            GLOBAL_TRANSFORMER + ".mlp.gate_proj",
            "global_config.intermediate_size, global_config.hidden_size",
        ),
        Row(
            "mlp_up_proj",
            GLOBAL_TRANSFORMER + ".mlp.up_proj",
            "global_config.intermediate_size, global_config.hidden_size",
        ),
        Row(
            "mlp_down_proj",
            GLOBAL_TRANSFORMER + ".mlp.down_proj",
            "global_config.hidden_size, global_config.intermediate_size",
        ),
        Row("global_transformer_input_layernorm", GLOBAL_TRANSFORMER + ".input_layernorm", "global_config.hidden_size"),
        Row(
            "global_transformer_post_attention_layernorm",
            GLOBAL_TRANSFORMER + ".post_attention_layernorm",
            "global_config.hidden_size",
        ),
        Row(
            "local_decoder_self_attn_q_proj",
            LOCAL_DECODER + ".self_attn.q_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_self_attn_k_proj",
            LOCAL_DECODER + ".self_attn.k_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_self_attn_v_proj",
            LOCAL_DECODER + ".self_attn.v_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_self_attn_o_proj",
            LOCAL_DECODER + ".self_attn.o_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_mlp_gate_proj",
            LOCAL_DECODER + ".mlp.gate_proj",
            "decoder_config.intermediate_size, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_mlp_up_proj",
            LOCAL_DECODER + ".mlp.up_proj",
            "decoder_config.intermediate_size, decoder_config.hidden_size",
        ),
        Row(
            "local_decoder_mlp_down_proj",
            LOCAL_DECODER + ".mlp.down_proj",
            "decoder_config.hidden_size, decoder_config.intermediate_size",
        ),
        Row("local_decoder_input_layernorm", LOCAL_DECODER + ".input_layernorm", "decoder_config.hidden_size"),
        Row(
            "local_decoder_post_attention_layernorm",
            LOCAL_DECODER + ".post_attention_layernorm",
            "decoder_config.hidden_size",
        ),
        Row(
            "cross_q_proj",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".q_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "cross_k_proj",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".k_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "cross_v_proj",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".v_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "cross_o_proj",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".o_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "cross_q_norm",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".q_norm",
            "decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "cross_k_norm",
            LOCAL_DECODER_CROSS_ATTN_LAYERS + ".k_norm",
            "decoder_config.hidden_size",
            when="decoder_config.cross_attn_all_layers and layer < decoder_config.num_hidden_layers or not decoder_config.cross_attn_all_layers and layer == 0",
        ),
        Row(
            "patcher_self_attn_q_proj",
            PATCHER + ".self_attn.q_proj",
            "patcher_config.hidden_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_self_attn_k_proj",
            PATCHER + ".self_attn.k_proj",
            "patcher_config.num_key_value_heads * patcher_config.head_dim, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_self_attn_v_proj",
            PATCHER + ".self_attn.v_proj",
            "patcher_config.num_key_value_heads * patcher_config.head_dim, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_self_attn_o_proj",
            PATCHER + ".self_attn.o_proj",
            "patcher_config.hidden_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_mlp_gate_proj",
            PATCHER + ".mlp.gate_proj",
            "patcher_config.intermediate_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_mlp_up_proj",
            PATCHER + ".mlp.up_proj",
            "patcher_config.intermediate_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_mlp_down_proj",
            PATCHER + ".mlp.down_proj",
            "patcher_config.hidden_size, patcher_config.intermediate_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_input_layernorm",
            PATCHER + ".input_layernorm",
            "patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "patcher_post_attention_layernorm",
            PATCHER + ".post_attention_layernorm",
            "patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "cross_q_proj",
            "model.local_encoder.cross_attn_layers.0.q_proj",
            "encoder_config.num_attention_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row(
            "cross_k_proj",
            "model.local_encoder.cross_attn_layers.0.k_proj",
            "encoder_config.num_key_value_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row(
            "cross_v_proj",
            "model.local_encoder.cross_attn_layers.0.v_proj",
            "encoder_config.num_key_value_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads), encoder_config.hidden_size",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row(
            "cross_o_proj",
            "model.local_encoder.cross_attn_layers.0.o_proj",
            "encoder_config.hidden_size, encoder_config.num_attention_heads * (encoder_config.hidden_size // encoder_config.num_attention_heads)",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row(
            "cross_q_norm",
            "model.local_encoder.cross_attn_layers.0.q_norm",
            "encoder_config.hidden_size",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row(
            "cross_k_norm",
            "model.local_encoder.cross_attn_layers.0.k_norm",
            "encoder_config.hidden_size",
            when="encoder_config.num_hidden_layers or not encoder_config.cross_attn_all_layers",
        ),
        Row("norm", "model.local_decoder.norm", "decoder_config.hidden_size"),
        Row("patcher_norm", "model.patcher.norm", "patcher_config.hidden_size", when="patch_in_forward"),
        Row(
            "lm_head",
            "model.patcher.lm_head",
            "patcher_config.vocab_size, patcher_config.hidden_size",
            when="patch_in_forward",
        ),
        Row(
            "embed_tokens",
            "model.local_encoder.embed_tokens",
            "encoder_config.vocab_size, encoder_config.hidden_size",
            heads="ForCausalLM",
            tied="tie_word_embeddings",
        ),
        Row(
            "embed_tokens",
            "model.local_encoder.embed_tokens",
            "encoder_config.vocab_size, encoder_config.hidden_size",
            heads="Model",
        ),
        Row("lm_head_114", "lm_head", "vocab_size, decoder_config.hidden_size", heads="ForCausalLM"),
    ),
    prefix="model.",
    defaults={
        "decoder_config": {
            "cross_attn_all_layers": True,
            "cross_attn_k": 2,
            "head_dim": 64,
            "hidden_size": 1024,
            "hidden_size_global": 2048,
            "intermediate_size": 2816,
            "num_attention_heads": 16,
            "num_hidden_layers": 9,
            "num_key_value_heads": 16,
        },
        "encoder_config": {
            "cross_attn_all_layers": False,
            "cross_attn_k": 2,
            "hidden_size": 1024,
            "intermediate_size": 2730,
            "num_attention_heads": 16,
            "num_hidden_layers": 1,
            "num_key_value_heads": 16,
            "vocab_size": 260,
        },
        "encoder_hash_byte_group_nb_functions": 1,
        "encoder_hash_byte_group_vocab": 500002,
        "global_config": {
            "encoder_cross_output_size": None,
            "head_dim": 128,
            "hidden_size": 2048,
            "intermediate_size": 5632,
            "num_attention_heads": 16,
            "num_hidden_layers": 25,
            "num_key_value_heads": 16,
        },
        "patch_in_forward": True,
        "patcher_config": {
            "head_dim": 64,
            "hidden_size": 768,
            "intermediate_size": 2048,
            "num_attention_heads": 12,
            "num_hidden_layers": 14,
            "num_key_value_heads": 12,
            "vocab_size": 260,
        },
        "tie_word_embeddings": False,
        "vocab_size": 260,
    },
)
