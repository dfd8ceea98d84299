"""SpeechT5: one encoder and decoder, with what goes before and after them for speech or for text.

modeling_speecht5.py. What hears speech is wav2vec 2.0's.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row

HEARS, SPEAKS = "ForSpeechToText ForSpeechToSpeech", "ForTextToSpeech ForSpeechToSpeech"

ENCODER_WRAPPED_ENCODER = "speecht5.encoder.wrapped_encoder.layers.{layer<encoder_layers}"
DECODER_WRAPPED_DECODER = "speecht5.decoder.wrapped_decoder.layers.{layer<decoder_layers}"
SPEECH_DECODER_POSTNET = "speech_decoder_postnet.layers.{layer<speech_decoder_postnet_layers}"


def speech_prenet() -> Iterator[Row]:
    """From the waveform to the encoder."""
    at = "speecht5.encoder.prenet."
    for row in (
        wav2vec2.masked_embedding(at),
        *wav2vec2.waveform_encoder(at, word="feature_encoder"),
        *wav2vec2.feature_projection(at),
        *wav2vec2.positional_convolution(at, part=""),
    ):
        yield row._replace(heads=HEARS, tower="encoder")


FAMILY = Family(
    name="speecht5",
    types={"speecht5": {}},
    rows=(
        *speech_prenet(),
        Row(
            "pe_k",
            "speecht5.encoder.wrapped_encoder.embed_positions.pe_k",
            "2 * encoder_max_relative_position, hidden_size // encoder_attention_heads",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "q_proj",
            ENCODER_WRAPPED_ENCODER + ".attention.q_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER_WRAPPED_ENCODER + ".attention.k_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER_WRAPPED_ENCODER + ".attention.v_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER_WRAPPED_ENCODER + ".attention.out_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("layer_norm", ENCODER_WRAPPED_ENCODER + ".layer_norm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "intermediate_dense",
            ENCODER_WRAPPED_ENCODER + ".feed_forward.intermediate_dense",
            "encoder_ffn_dim, hidden_size",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "output_dense",
            ENCODER_WRAPPED_ENCODER + ".feed_forward.output_dense",
            "hidden_size, encoder_ffn_dim",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row("norm", ENCODER_WRAPPED_ENCODER + ".final_layer_norm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "input_layernorm",
            DECODER_WRAPPED_DECODER + ".self_attn_layer_norm",
            "hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "q_proj",
            DECODER_WRAPPED_DECODER + ".self_attn.q_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER_WRAPPED_DECODER + ".self_attn.k_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER_WRAPPED_DECODER + ".self_attn.v_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER_WRAPPED_DECODER + ".self_attn.out_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER_WRAPPED_DECODER + ".encoder_attn.k_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER_WRAPPED_DECODER + ".encoder_attn.v_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "cross_q_proj",
            DECODER_WRAPPED_DECODER + ".encoder_attn.q_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER_WRAPPED_DECODER + ".encoder_attn.out_proj",
            "hidden_size, hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "cross_encoder_attn_layer_norm",
            DECODER_WRAPPED_DECODER + ".encoder_attn_layer_norm",
            "hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "intermediate_dense",
            DECODER_WRAPPED_DECODER + ".feed_forward.intermediate_dense",
            "decoder_ffn_dim, hidden_size",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row(
            "output_dense",
            DECODER_WRAPPED_DECODER + ".feed_forward.output_dense",
            "hidden_size, decoder_ffn_dim",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row("norm", DECODER_WRAPPED_DECODER + ".final_layer_norm", "hidden_size", bias="True", tower="decoder"),
        Row(
            "prenet",
            "speecht5.decoder.prenet.layers.{layer<speech_decoder_prenet_layers}",
            "speech_decoder_prenet_units, speech_decoder_prenet_units if layer > 0 else num_mel_bins",
            bias="True",
            heads=SPEAKS,
            tower="decoder",
        ),
        Row(
            "conv",
            SPEECH_DECODER_POSTNET + ".conv",
            "num_mel_bins if (layer + 1) % speech_decoder_postnet_layers == 0 else speech_decoder_postnet_units, speech_decoder_postnet_units if layer > 0 else num_mel_bins, 5",
            heads=SPEAKS,
        ),
        Row(
            "batch_norm",
            SPEECH_DECODER_POSTNET + ".batch_norm",
            "num_mel_bins if (layer + 1) % speech_decoder_postnet_layers == 0 else speech_decoder_postnet_units",
            bias="True",
            heads=SPEAKS,
        ),
        Row(
            "wrapped_encoder_layer_norm",
            "speecht5.encoder.wrapped_encoder.layer_norm",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "embed_tokens",
            "speecht5.encoder.prenet.embed_tokens",
            "vocab_size, hidden_size",
            heads="ForTextToSpeech",
            tower="encoder",
        ),
        Row(
            "alpha",
            "speecht5.encoder.prenet.encode_positions.alpha",
            "",
            heads="ForTextToSpeech",
            tower="encoder",
            leaf="",
        ),
        Row(
            "embed_tokens",
            "speecht5.decoder.prenet.embed_tokens",
            "vocab_size, hidden_size",
            heads="ForSpeechToText",
            tower="decoder",
        ),
        Row(
            "final_layer",
            "speecht5.decoder.prenet.final_layer",
            "hidden_size, speech_decoder_prenet_units",
            bias="True",
            heads=SPEAKS,
            tower="decoder",
        ),
        Row(
            "alpha",
            "speecht5.decoder.prenet.encode_positions.alpha",
            "",
            heads=SPEAKS,
            tower="decoder",
            leaf="",
        ),
        Row(
            "speaker_embeds_layer",
            "speecht5.decoder.prenet.speaker_embeds_layer",
            "hidden_size, hidden_size + speaker_embedding_dim",
            bias="True",
            heads=SPEAKS,
            tower="decoder",
        ),
        Row(
            "lm_head",
            "text_decoder_postnet.lm_head",
            "vocab_size, hidden_size",
            heads="ForSpeechToText",
            tied="tie_word_embeddings",
        ),
        Row(
            "feat_out",
            "speech_decoder_postnet.feat_out",
            "num_mel_bins * reduction_factor, hidden_size",
            bias="True",
            heads=SPEAKS,
        ),
        Row(
            "prob_out",
            "speech_decoder_postnet.prob_out",
            "reduction_factor, hidden_size",
            bias="True",
            heads=SPEAKS,
        ),
        Row(
            "running_mean",
            SPEECH_DECODER_POSTNET + ".batch_norm.running_mean",
            "num_mel_bins if (layer + 1) % speech_decoder_postnet_layers == 0 else speech_decoder_postnet_units",
            heads=SPEAKS,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            SPEECH_DECODER_POSTNET + ".batch_norm.running_var",
            "num_mel_bins if (layer + 1) % speech_decoder_postnet_layers == 0 else speech_decoder_postnet_units",
            heads=SPEAKS,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            SPEECH_DECODER_POSTNET + ".batch_norm.num_batches_tracked",
            "",
            heads=SPEAKS,
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="speecht5.",
    defaults={
        "conv_bias": False,
        "conv_dim": [512, 512, 512, 512, 512, 512, 512],
        "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
        "decoder_ffn_dim": 3072,
        "decoder_layers": 6,
        "encoder_attention_heads": 12,
        "mask_time_prob": 0.05,
        "mask_feature_prob": 0.0,
        "encoder_ffn_dim": 3072,
        "encoder_layers": 12,
        "encoder_max_relative_position": 160,
        "feat_extract_norm": "group",
        "hidden_size": 768,
        "num_conv_pos_embedding_groups": 16,
        "num_conv_pos_embeddings": 128,
        "num_mel_bins": 80,
        "reduction_factor": 2,
        "speaker_embedding_dim": 512,
        "speech_decoder_postnet_layers": 5,
        "speech_decoder_postnet_units": 256,
        "speech_decoder_prenet_layers": 2,
        "speech_decoder_prenet_units": 256,
        "tie_word_embeddings": True,
        "vocab_size": 81,
    },
    fields={"num_attention_heads": "encoder_attention_heads", "num_hidden_layers": "encoder_layers"},
    head="ForSpeechToText",
)
