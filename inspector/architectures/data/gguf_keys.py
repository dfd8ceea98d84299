"""GGUF's key-values → the names of Transformers' configuration fields.

Keys follow the architecture: `llama.block_count`. They are those of the `gguf` package's `constants.Keys`.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Key → fields; several if families use different words for the same number. The value of a later key wins.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "block_count": ("num_hidden_layers",),
    "decoder_block_count": ("num_decoder_layers",),
    "embedding_length": ("hidden_size",),
    "feed_forward_length": ("intermediate_size",),
    "context_length": ("max_position_embeddings",),
    "vocab_size": ("vocab_size",),
    "attention.head_count": ("num_attention_heads",),
    "attention.head_count_kv": ("num_key_value_heads",),
    "attention.key_length": ("head_dim",),
    "attention.value_length": ("v_head_dim",),
    "attention.key_length_swa": ("swa_head_dim",),
    "attention.key_length_mla": ("qk_head_dim_given",),
    "attention.value_length_mla": ("v_head_dim",),
    "attention.q_lora_rank": ("q_lora_rank",),
    "attention.kv_lora_rank": ("kv_lora_rank",),
    "attention.sliding_window": ("sliding_window",),
    "attention.sliding_window_pattern": ("is_sliding",),
    "attention.shared_kv_layers": ("num_kv_shared_layers",),
    "attention.recurrent_layers": ("is_recurrent",),
    "attention.kv_lora_rank_swa": ("swa_kv_lora_rank",),
    "attention.key_length_mla_swa": ("swa_qk_head_dim",),
    "attention.value_length_mla_swa": ("swa_v_head_dim",),
    "attention.compress_ratios": ("compress_ratio",),
    "attention.output_group_count": ("o_groups",),
    "attention.output_lora_rank": ("o_lora_rank",),
    "attention.indexer.types": ("has_indexer",),
    "attention.indexer.top_k": ("index_topk",),
    "attention.indexer.kpool": ("index_kpool",),
    "attention.indexer.head_count": ("index_n_heads",),
    "attention.indexer.key_length": ("index_head_dim",),
    "attention.relative_buckets_count": ("relative_attention_num_buckets",),
    "attention.decay_lora_rank": ("decay_low_rank_dim",),
    "attention.iclr_lora_rank": ("a_low_rank_dim",),
    "attention.value_residual_mix_lora_rank": ("v_low_rank_dim",),
    "attention.gate_lora_rank": ("gate_low_rank_dim",),
    "attn_res.block_size": ("attn_res_block_size",),
    "hyper_connection.count": ("hc_mult",),
    "hyper_connection.low_rank": ("hc_low_rank",),
    "hash_layer_count": ("num_hash_layers",),
    "hrm.layers_per_stack": ("num_layers_per_stack",),
    "adapters.count": ("num_adapters",),
    "adapters.lora_rank": ("adapter_rank",),
    "target_hidden_size": ("target_hidden_size",),
    "norm_before_fc": ("norm_before_fc",),
    "embedding_length_out": ("backbone_hidden_size",),
    "features_length": ("codebook_dim",),
    "posnet.embedding_length": ("posnet_width",),
    "posnet.block_count": ("num_posnet_layers",),
    "convnext.embedding_length": ("convnext_width",),
    "convnext.block_count": ("num_convnext_layers",),
    "ple.conv_kernel": ("ple_conv_kernel",),
    "ple.ngram_size": ("ple_ngram_size",),
    "full_attention_interval": ("full_attention_interval",),
    "num_loops": ("num_loops",),
    "rope.dimension_count": ("qk_rope_head_dim",),
    "expert_count": ("num_local_experts", "num_experts", "n_routed_experts"),
    "expert_used_count": ("num_experts_per_tok",),
    "expert_shared_count": ("n_shared_experts",),
    "expert_feed_forward_length": ("moe_intermediate_size",),
    "expert_shared_feed_forward_length": ("shared_expert_intermediate_size",),
    "expert_chunk_feed_forward_length": ("chunk_intermediate_size",),
    "experts_per_group": ("experts_per_group",),
    "expert_gating_func": ("expert_gating_func",),
    "expert_weights_norm": ("norm_topk_prob",),
    "moe_latent_size": ("moe_latent_size",),
    "expert_latent_length": ("moe_latent_size",),
    "moe_every_n_layers": ("moe_every_n_layers",),
    "interleave_moe_layer_step": ("interleave_moe_layer_step",),
    "leading_dense_block_count": ("first_k_dense_replace",),
    "nextn_predict_layers": ("num_nextn_predict_layers",),
    "embedding_length_per_layer_input": ("hidden_size_per_layer_input",),
    "altup.num_inputs": ("altup_num_inputs",),
    "dense_2_feat_out": ("dense_2_feat_out",),
    "dense_3_feat_in": ("dense_3_feat_in",),
    "ssm.conv_kernel": ("conv_kernel",),
    "ssm.inner_size": ("mamba_intermediate_size",),
    "ssm.state_size": ("state_size", "linear_key_head_dim"),
    "ssm.time_step_rank": ("time_step_rank", "mamba_num_heads", "linear_num_value_heads"),
    "ssm.group_count": ("n_groups", "linear_num_key_heads"),
    "kda.head_dim": ("linear_head_dim",),
    "shortconv.l_cache": ("conv_L_cache",),
    "wkv.head_size": ("head_size",),
    "time_mix_extra_dim": ("time_mix_extra_dim",),
    "time_decay_extra_dim": ("time_decay_extra_dim",),
}

#: Architecture → its own meaning of keys. Gemma 4's `key_length` is that of the layers without a window.
FIELDS_OF: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gemma-embedding2": {
        "attention.key_length": ("global_head_dim",),
        "attention.key_length_swa": ("head_dim",),
        "embedding_length_out": ("embedding_dim",),
    },
    "gemma4": {"attention.key_length": ("global_head_dim",), "attention.key_length_swa": ("head_dim",)},
    "gemma4-assistant": {"attention.key_length": ("global_head_dim",), "attention.key_length_swa": ("head_dim",)},
    # A tower beside a language model: a file has one of the two, or its projectors' tables combine both.
    "clip": {
        f"{tower}.{key}": (field,)
        for tower in ("vision", "audio")
        for key, field in {
            "embedding_length": "hidden_size",
            "feed_forward_length": "intermediate_size",
            "block_count": "num_hidden_layers",
            "attention.head_count": "num_attention_heads",
            "attention.head_count_kv": "num_key_value_heads",
            "projection_dim": "projection_dim",
            "projector.scale_factor": "scale_factor",
            "spatial_merge_size": "spatial_merge_size",
            "is_deepstack_layers": "is_deepstack",
            "image_size": "image_size",
            "patch_size": "patch_size",
            "num_mel_bins": "num_mel_bins",
            "projector.stack_factor": "stack_factor",
            "feature_layer": "feature_layers",
            "sam.block_count": "sam_layers",
            "sam.embedding_length": "sam_hidden_size",
            "sam.head_count": "sam_heads",
            "conv_kernel_size": "conv_kernel_size",
            "max_pos_emb": "max_pos_emb",
            "projector.window_size": "projector_window_size",
            "projector.downsample_rate": "downsample_rate",
            "expert_count": "num_experts",
            "expert_count_per_layer": "num_experts",
            "window_size": "window_size",
        }.items()
    },
}

#: Keys that name the kind of projector, which connects a tower to the language model. Each kind has a table in
#: `projectors`.
PROJECTORS = ("clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type")

#: Kinds of projectors that represent those of both towers of a file.
PROJECTORS_IN_ONE: Mapping[str, Mapping[str, str]] = {
    "qwen2.5o": {"vision": "qwen2.5vl_merger", "audio": "qwen2a"},
}

#: Array → the field that is its length.
COUNTS: Mapping[str, str] = {"classifier.output_labels": "num_labels", "target_layers": "num_target_layers"}

#: Arrays of anything other than one number per layer → the field that is the list.
LISTS: Mapping[str, str] = {
    "ple.layers": "ple_layers",
    "ple.head_offsets": "ple_head_offsets",
    "ple.head_vocab_sizes": "ple_head_vocab_sizes",
}

#: Keys without the architecture as a prefix.
GENERAL_FIELDS: Mapping[str, str] = {
    "tokenizer.ggml.token_type_count": "type_vocab_size",
    "general.name": "_name_or_path",
}

#: Field → the tensor in blocks, or the whole name, or one of two, whose presence implies it, if no key-value does:
#: llama.cpp's loader relies on presence, too. The shape, and that of the other blocks, is predicted.
SHOWN: Mapping[str, str] = {
    "attention_bias": "attn_q.bias attn_qkv.bias",
    "attention_out_bias": "attn_output.bias",
    "mlp_bias": "ffn_up.bias",
    "ssm_conv_bias": "ssm_conv1d.bias",
    "has_ssm_norm": "ssm_norm.weight",
    "has_dense_2": "dense_2.weight",
    "use_qk_norm": "attn_q_norm.weight",
    "use_qk_norm_bias": "attn_q_norm.bias",
    "two_norms": "attn_norm_2.weight",
    "has_dense": "ffn_up.weight",
    "has_router_bias": "exp_probs_b.bias",
    "is_gated_act": "enc.blk.0.ffn_gate.weight dec.blk.0.ffn_gate.weight",
    "bias_in_each_layer": "enc.blk.1.attn_rel_b.weight dec.blk.1.attn_rel_b.weight",
    "has_token_types": "token_types.weight",
    "has_positions": "position_embd.weight",
    "has_classifier_bias": "cls.bias",
    "has_classifier_norm": "cls.norm.weight",
    "has_classifier_out": "cls.output.weight",
    "has_classifier_out_bias": "cls.output.bias",
}

#: Field → the weight in blocks: the field is the list of the layers with that weight.
SHOWN_LAYERS: Mapping[str, str] = {
    "layers_with_experts": "ffn_gate_inp",
    "layers_with_sinks": "attn_sinks",
}

#: Field → the tensor with it as first dimension: no key gives a classifier's rows if its labels have no names.
SHOWN_ROWS: Mapping[str, str] = {"classifier_rows": "cls.weight"}

#: `general.type`, or the architecture if the file has no type → a description of files that hold no model. `{}` is the
#: value of the key, if the file has it.
NO_MODELS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "adapter": ("adapter", {"adapter.type": "of type {}", "adapter.lora.alpha": "alpha {}"}),
    "imatrix": (
        "importance matrix",
        {
            "imatrix.chunk_count": "statistics of {} chunks of text, for quantizing",
            "imatrix.chunk_size": "{} tokens a chunk",
        },
    ),
    "controlvector": (
        "control vector",
        {"controlvector.model_hint": "for {}", "controlvector.layer_count": "to add to the states after {} layers"},
    ),
}

#: The same for parts beside a language model: architecture → description, and keys with their meaning.
BESIDE: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "clip": (
        "multimodal projector",
        {
            "clip.has_vision_encoder": "sees images",
            "clip.has_audio_encoder": "hears sounds",
            "clip.projector_type": "projector {}",
            "clip.vision.projector_type": "projector of images {}",
            "clip.audio.projector_type": "projector of sounds {}",
        },
    ),
}

#: The array whose length is the vocabulary if no key gives it.
TOKENS = "tokenizer.ggml.tokens"

#: Architecture → Transformers' `model_type`, if they differ.
MODEL_TYPES: Mapping[str, str] = {
    "command-r": "cohere",
    "deepseek2": "deepseek_v3",
    "bailingmoe3": "bailing_hybrid",
    "cohere2moe": "cohere2_moe",
    "deepseek2-ocr": "deepseek_v2",
    "deepseek32": "deepseek_v32",
    "deepseek4": "deepseek_v4",
    "dots3note": "dots3_note_text",
    "ernie4_5-moe": "ernie4_5_moe",
    "exaone-moe": "exaone_moe",
    "falcon-h1": "falcon_h1",
    "gemma-embedding": "gemma3_text",
    "gemma-embedding2": "embedding_gemma2_text",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4-assistant": "gemma4_assistant",
    "glm-dsa": "glm_moe_dsa",
    "glm5-next": "glm5_next_text",
    "glm4moe": "glm4_moe",
    "gpt-oss": "gpt_oss",
    "gptneox": "gpt_neox",
    "granitehybrid": "granitemoehybrid",
    "hunyuan-dense": "hunyuan_v1_dense",
    "hunyuan-moe": "hunyuan_v1_moe",
    "lfm2moe": "lfm2_moe",
    "llama-embed": "llama",
    "llama4": "llama4_text",
    "kimi-k3": "kimi_k3",
    "minimax-01": "minimax_text_01",
    "minimax-m2": "minimax_m2",
    "minimax-m3": "minimax_m3_vl_text",
    "modern-bert": "modernbert",
    "muse-glimmer": "muse_glimmer_text",
    "nemotron_h_moe": "nemotron_h",
    "nomic-bert": "nomic_bert",
    "phi2": "phi",
    "qwen2moe": "qwen2_moe",
    "qwen2vl": "qwen2_vl_text",
    "qwen35": "qwen3_5_text",
    "qwen35moe": "qwen3_5_moe_text",
    "qwen3moe": "qwen3_moe",
    "qwen3next": "qwen3_next",
    "qwen3vl": "qwen3_vl_text",
    "qwen3vlmoe": "qwen3_vl_moe_text",
    "qwen4exp": "qwen4_exp_text",
    "starcoder": "gpt_bigcode",
    "step35": "step3p5",
    "t5encoder": "t5",
}

#: Architecture → (key, model_type) if the key is present and not 0: llama.cpp reads Mixtral as a Llama.
MODEL_TYPES_BY_KEY: Mapping[str, tuple[str, str]] = {"llama": ("expert_count", "mixtral")}

#: Transformers' `model_type` → the architectures that llama.cpp's converter makes of it, where the tables above do not
#: say: the classes registered in its `conversion` package.
CONVERTED_AS: Mapping[str, str] = {
    "mistral": "llama",
    "mixtral": "llama",
    "deepseek_v2": "deepseek2 deepseek2-ocr",
    "gemma4_unified_text": "gemma4",
    "glm4_moe_lite": "deepseek2",
    "glm4v_moe_text": "glm4moe",
    "glm4v_text": "glm4",
    "glm_ocr_text": "glm4",
    "granitemoe_swa": "granite_swa",
    "mimo_v2_flash": "mimo2",
    "paddleocr_vl": "paddleocr",
    "qwen2_5_vl_text": "qwen2vl",
    "qwen3_omni_moe_text": "qwen3vlmoe",
    "solar_open": "glm4moe",
    "youtu": "deepseek2",
    "ministral3": "mistral3",
    "bamba": "granitehybrid",
    "falcon_mamba": "mamba",
    "granitemoeshared": "granitemoe",
    "qwen2_audio_encoder": "qwen2",
    "olmo3": "olmo2",
    "mt5": "t5",
    "umt5": "t5",
    "glm": "chatglm",
    "distilbert": "bert",
    "roberta": "bert",
    "xlm-roberta": "bert",
    "camembert": "bert",
}

#: Transformers' `model_type` → the first rows of its positions, which no token has and the converter leaves out.
PADDED: Mapping[str, str] = dict.fromkeys(("roberta", "xlm-roberta"), "pad_token_id + 1")
