"""BigBird-Pegasus: BART's layers, with an encoder whose attention has words of its own."""

from __future__ import annotations

from inspector.architectures.data.families.bart import (
    DEFAULTS,
    EMBEDDINGS,
    ENCODER,
    FIELDS,
    HEADS,
    WHOLE,
    decoder_layers,
    feed_forward,
    norm,
)
from inspector.architectures.table import Family, Row

#: Divided in floats and cut: modeling_bigbird_pegasus.py, all_head_size.
HEAD_WIDTH = "d_model // encoder_attention_heads * encoder_attention_heads"

FAMILY = Family(
    name="bigbird_pegasus",
    types={"bigbird_pegasus": {}},
    rows=(
        *EMBEDDINGS,
        Row(
            "embed_positions",
            "model.encoder.embed_positions",
            "max_position_embeddings, d_model",
            heads=WHOLE,
            tower="encoder",
        ),
        norm("embed_norm", "model.encoder.layernorm_embedding", "encoder", WHOLE),
        Row("embed_positions", "model.decoder.embed_positions", "max_position_embeddings, d_model", tower="decoder"),
        norm("embed_norm", "model.decoder.layernorm_embedding", "decoder"),
        *(
            Row(
                role,
                f"{ENCODER}.self_attn.self.{word}",
                f"{HEAD_WIDTH}, d_model",
                bias="use_bias",
                heads=WHOLE,
                tower="encoder",
            )
            for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"))
        ),
        Row("o_proj", ENCODER + ".self_attn.output", "d_model, d_model", bias="use_bias", heads=WHOLE, tower="encoder"),
        *feed_forward(ENCODER, "encoder", WHOLE),
        *decoder_layers("use_bias"),
        # modeling_bigbird_pegasus.py names no tied weights for the decoder alone.
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForConditionalGeneration", tied="tie_word_embeddings"),
        *HEADS[1:],
    ),
    prefix="model.",
    defaults={
        **DEFAULTS,
        "vocab_size": 96103,
        "encoder_layers": 16,
        "decoder_layers": 16,
        "encoder_attention_heads": 16,
        "max_position_embeddings": 4096,
        "use_bias": False,
        "logits_bias": True,
    },
    fields=FIELDS,
    head="ForConditionalGeneration",
)
