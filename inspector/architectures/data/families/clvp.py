"""CLVP: encoders of text and of speech tokens, and a decoder that speaks, as Tortoise has them."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

CONDITIONING_ENCODER_MEL_ATTN_BLOCKS = "conditioning_encoder.mel_attn_blocks.{layer<decoder_config.num_mel_attn_blocks}"
SPEECH_DECODER_MODEL_DECODER = "speech_decoder_model.model.decoder.layers.{layer<decoder_config.num_hidden_layers}"
TEXT_ENCODER_MODEL = "text_encoder_model.layers.{layer<text_config.num_hidden_layers}"
SPEECH_ENCODER_MODEL = "speech_encoder_model.layers.{layer<speech_config.num_hidden_layers}"

#: Half of what each head turns: ClvpRotaryPositionalEmbedding.
ROTARY = "ceil(max({0}.projection_dim // ({0}.num_attention_heads * 2), 32) / 2)"

FAMILY = Family(
    name="clvp",
    types={"clvp": {}},
    rows=(
        Row(
            "text_token_embedding",
            "conditioning_encoder.text_token_embedding",
            "text_config.vocab_size, decoder_config.hidden_size",
        ),
        Row(
            "text_position_embedding",
            "conditioning_encoder.text_position_embedding",
            "decoder_config.max_text_tokens, decoder_config.hidden_size",
        ),
        Row(
            "input_embeds_layer",
            "speech_decoder_model.model.decoder.input_embeds_layer",
            "decoder_config.vocab_size, decoder_config.hidden_size",
        ),
        Row(
            "position_embeds_layer",
            "speech_decoder_model.model.decoder.position_embeds_layer",
            "decoder_config.max_position_embeddings, decoder_config.hidden_size",
        ),
        Row("token_embedding", "text_encoder_model.token_embedding", "text_config.vocab_size, text_config.hidden_size"),
        Row(
            "speech_encoder_model_token_embedding",
            "speech_encoder_model.token_embedding",
            "speech_config.vocab_size, speech_config.hidden_size",
        ),
        Row(
            "group_norms",
            "conditioning_encoder.group_norms.{layer<decoder_config.num_mel_attn_blocks}",
            "decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "q_proj",
            CONDITIONING_ENCODER_MEL_ATTN_BLOCKS + ".q_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "k_proj",
            CONDITIONING_ENCODER_MEL_ATTN_BLOCKS + ".k_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "v_proj",
            CONDITIONING_ENCODER_MEL_ATTN_BLOCKS + ".v_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "out_proj",
            CONDITIONING_ENCODER_MEL_ATTN_BLOCKS + ".out_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "input_layernorm",
            SPEECH_DECODER_MODEL_DECODER + ".input_layernorm",
            "decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj",
            SPEECH_DECODER_MODEL_DECODER + ".attn.out_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "attn_k_proj",
            SPEECH_DECODER_MODEL_DECODER + ".attn.k_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "attn_v_proj",
            SPEECH_DECODER_MODEL_DECODER + ".attn.v_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "attn_q_proj",
            SPEECH_DECODER_MODEL_DECODER + ".attn.q_proj",
            "decoder_config.hidden_size, decoder_config.hidden_size",
            bias="decoder_config.use_attention_bias",
        ),
        Row(
            "post_attention_layernorm",
            SPEECH_DECODER_MODEL_DECODER + ".post_attention_layernorm",
            "decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "up_proj",
            SPEECH_DECODER_MODEL_DECODER + ".mlp.c_fc",
            "decoder_config.hidden_size, 4 * decoder_config.hidden_size if decoder_config.n_inner is None else decoder_config.n_inner",
            bias="True",
            transposed=True,
        ),
        Row(
            "down_proj",
            SPEECH_DECODER_MODEL_DECODER + ".mlp.c_proj",
            "4 * decoder_config.hidden_size if decoder_config.n_inner is None else decoder_config.n_inner, decoder_config.hidden_size",
            bias="True",
            transposed=True,
        ),
        Row(
            "self_attn_k_proj",
            TEXT_ENCODER_MODEL + ".self_attn.k_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.use_attention_bias",
        ),
        Row(
            "self_attn_v_proj",
            TEXT_ENCODER_MODEL + ".self_attn.v_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.use_attention_bias",
        ),
        Row(
            "self_attn_q_proj",
            TEXT_ENCODER_MODEL + ".self_attn.q_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.use_attention_bias",
        ),
        Row(
            "out_proj_o_proj",
            TEXT_ENCODER_MODEL + ".self_attn.out_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "proj",
            TEXT_ENCODER_MODEL + ".mlp.fc1.proj",
            "2 * text_config.intermediate_size, text_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "fc2_down_proj",
            TEXT_ENCODER_MODEL + ".mlp.fc2",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="True",
        ),
        Row("input_rmsnorm", TEXT_ENCODER_MODEL + ".input_rmsnorm", "text_config.hidden_size"),
        Row("post_attention_rmsnorm", TEXT_ENCODER_MODEL + ".post_attention_rmsnorm", "text_config.hidden_size"),
        Row(
            "speech_encoder_model_self_attn_k_proj",
            SPEECH_ENCODER_MODEL + ".self_attn.k_proj",
            "speech_config.hidden_size, speech_config.hidden_size",
            bias="speech_config.use_attention_bias",
        ),
        Row(
            "speech_encoder_model_self_attn_v_proj",
            SPEECH_ENCODER_MODEL + ".self_attn.v_proj",
            "speech_config.hidden_size, speech_config.hidden_size",
            bias="speech_config.use_attention_bias",
        ),
        Row(
            "speech_encoder_model_self_attn_q_proj",
            SPEECH_ENCODER_MODEL + ".self_attn.q_proj",
            "speech_config.hidden_size, speech_config.hidden_size",
            bias="speech_config.use_attention_bias",
        ),
        Row(
            "self_attn_out_proj_o_proj",
            SPEECH_ENCODER_MODEL + ".self_attn.out_proj",
            "speech_config.hidden_size, speech_config.hidden_size",
            bias="True",
        ),
        Row(
            "fc1_proj",
            SPEECH_ENCODER_MODEL + ".mlp.fc1.proj",
            "2 * speech_config.intermediate_size, speech_config.hidden_size",
            bias="True",
        ),
        Row(
            "mlp_fc2_down_proj",
            SPEECH_ENCODER_MODEL + ".mlp.fc2",
            "speech_config.hidden_size, speech_config.intermediate_size",
            bias="True",
        ),
        Row("speech_encoder_model_input_rmsnorm", SPEECH_ENCODER_MODEL + ".input_rmsnorm", "speech_config.hidden_size"),
        Row(
            "speech_encoder_model_post_attention_rmsnorm",
            SPEECH_ENCODER_MODEL + ".post_attention_rmsnorm",
            "speech_config.hidden_size",
        ),
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row(
            "mel_conv",
            "conditioning_encoder.mel_conv",
            "decoder_config.hidden_size, decoder_config.feature_size, 1",
            bias="True",
        ),
        Row("layer_norm", "speech_decoder_model.model.decoder.layer_norm", "decoder_config.hidden_size", bias="True"),
        Row("norm", "speech_decoder_model.final_norm", "decoder_config.hidden_size", bias="True"),
        Row(
            "lm_head",
            "speech_decoder_model.lm_head",
            "decoder_config.vocab_size, decoder_config.hidden_size",
            bias="True",
        ),
        Row("final_layer_norm", "text_encoder_model.final_layer_norm", "text_config.hidden_size", bias="True"),
        Row("projection", "text_encoder_model.projection", "text_config.projection_dim, text_config.hidden_size"),
        Row(
            "speech_encoder_model_final_layer_norm",
            "speech_encoder_model.final_layer_norm",
            "speech_config.hidden_size",
            bias="True",
        ),
        Row(
            "speech_encoder_model_projection",
            "speech_encoder_model.projection",
            "speech_config.projection_dim, speech_config.hidden_size",
        ),
        Row(
            "inv_freq",
            "text_encoder_model.rotary_pos_emb.inv_freq",
            ROTARY.format("text_config"),
            when="text_config.use_rotary_embedding",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "rotary_pos_emb_inv_freq",
            "speech_encoder_model.rotary_pos_emb.inv_freq",
            ROTARY.format("speech_config"),
            when="speech_config.use_rotary_embedding",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "decoder_config": {
            "feature_size": 80,
            "hidden_size": 1024,
            "max_position_embeddings": 608,
            "max_text_tokens": 404,
            "n_inner": None,
            "num_hidden_layers": 30,
            "num_mel_attn_blocks": 6,
            "use_attention_bias": True,
            "vocab_size": 8194,
        },
        "speech_config": {
            "hidden_size": 768,
            "intermediate_size": 1536,
            "num_attention_heads": 12,
            "num_hidden_layers": 20,
            "projection_dim": 768,
            "use_attention_bias": False,
            "use_rotary_embedding": True,
            "vocab_size": 256,
        },
        "text_config": {
            "hidden_size": 768,
            "intermediate_size": 1536,
            "num_attention_heads": 12,
            "num_hidden_layers": 20,
            "projection_dim": 768,
            "use_attention_bias": False,
            "use_rotary_embedding": True,
            "vocab_size": 256,
        },
    },
    head="ForConditionalGeneration",
)
