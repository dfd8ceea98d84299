"""Model type encoder-decoder: decoder, encoder by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

BERT_ENCODER = "decoder.bert.encoder.layer.{layer<decoder.num_hidden_layers}"
ENCODER_ENCODER = "encoder.encoder.layer.{layer<encoder.num_hidden_layers}"

FAMILY = Family(
    name="encoder-decoder",
    types={"encoder-decoder": {}},
    rows=(
        Include("decoder", "decoder.", tower="decoder", head="body", default_type="bert"),
        Include("encoder", "encoder.", tower="encoder", head="Model", default_type="bert"),
        Row(
            "cross_q_proj",
            BERT_ENCODER + ".crossattention.self.query",
            "decoder.hidden_size // decoder.num_attention_heads * decoder.num_attention_heads, decoder.hidden_size",
            bias="True",
            when="decoder.add_cross_attention",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            BERT_ENCODER + ".crossattention.self.key",
            "decoder.hidden_size // decoder.num_attention_heads * decoder.num_attention_heads, decoder.hidden_size",
            bias="True",
            when="decoder.add_cross_attention",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            BERT_ENCODER + ".crossattention.self.value",
            "decoder.hidden_size // decoder.num_attention_heads * decoder.num_attention_heads, decoder.hidden_size",
            bias="True",
            when="decoder.add_cross_attention",
            tower="decoder",
        ),
        Row(
            "cross_down_proj",
            BERT_ENCODER + ".crossattention.output.dense",
            "decoder.hidden_size, decoder.hidden_size",
            bias="True",
            when="decoder.add_cross_attention",
            tower="decoder",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            BERT_ENCODER + ".crossattention.output.LayerNorm",
            "decoder.hidden_size",
            bias="True",
            when="decoder.add_cross_attention",
            tower="decoder",
        ),
        Row(
            "cross_q_proj",
            ENCODER_ENCODER + ".crossattention.self.query",
            "encoder.hidden_size // encoder.num_attention_heads * encoder.num_attention_heads, encoder.hidden_size",
            bias="True",
            when="encoder.add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_k_proj",
            ENCODER_ENCODER + ".crossattention.self.key",
            "encoder.hidden_size // encoder.num_attention_heads * encoder.num_attention_heads, encoder.hidden_size",
            bias="True",
            when="encoder.add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_v_proj",
            ENCODER_ENCODER + ".crossattention.self.value",
            "encoder.hidden_size // encoder.num_attention_heads * encoder.num_attention_heads, encoder.hidden_size",
            bias="True",
            when="encoder.add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_down_proj",
            ENCODER_ENCODER + ".crossattention.output.dense",
            "encoder.hidden_size, encoder.hidden_size",
            bias="True",
            when="encoder.add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            ENCODER_ENCODER + ".crossattention.output.LayerNorm",
            "encoder.hidden_size",
            bias="True",
            when="encoder.add_cross_attention",
            tower="encoder",
        ),
        Row("mlm_bias", "decoder.cls.predictions", "decoder.vocab_size", tower="decoder", leaf="bias"),
        Row(
            "mlm_dense",
            "decoder.cls.predictions.transform.dense",
            "decoder.hidden_size, decoder.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "mlm_norm",
            "decoder.cls.predictions.transform.LayerNorm",
            "decoder.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "lm_head",
            "decoder.cls.predictions.decoder",
            "decoder.vocab_size, decoder.hidden_size",
            bias="True",
            tied="decoder.tie_word_embeddings",
            tower="decoder",
        ),
        Row(
            "enc_to_dec_proj",
            "enc_to_dec_proj",
            "decoder.hidden_size, encoder.hidden_size",
            bias="True",
            when="num_labels > 2",
        ),
    ),
    defaults={
        "decoder": {
            "add_cross_attention": True,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "tie_word_embeddings": True,
            "vocab_size": 30522,
        },
        "encoder": {
            "add_cross_attention": False,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
        },
    },
    head="Model",
)
