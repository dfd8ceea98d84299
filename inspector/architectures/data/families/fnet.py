"""FNet: BERT with a Fourier transform in the place of attention."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "fnet.encoder.layer.{layer<num_hidden_layers}"
#: Above that many positions a fast Fourier transform is used: modeling_fnet.py, FNetBasicFourierTransform.
MATRICES = "use_tpu_fourier_optimizations and max_position_embeddings <= 4096"

FAMILY = Family(
    name="fnet",
    types={"fnet": {}},
    rows=(
        Row("embed_tokens", "fnet.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "fnet.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "fnet.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "fnet.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("projection", "fnet.embeddings.projection", "hidden_size, hidden_size", bias="True", group="embedding"),
        Row(
            "post_feedforward_layernorm",
            LAYER + ".output.LayerNorm",
            "hidden_size",
            bias="True",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row(
            "post_attention_layernorm",
            LAYER + ".fourier.output.LayerNorm",
            "hidden_size",
            bias="True",
        ),
        Row("pooler", "fnet.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForMaskedLM ForPreTraining", leaf="bias"),
        Row(
            "mlm_dense",
            "cls.predictions.transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
        ),
        Row(
            "mlm_norm",
            "cls.predictions.transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "nsp_head",
            "cls.seq_relationship",
            "2, hidden_size",
            bias="True",
            heads="ForPreTraining ForNextSentencePrediction",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
            tied="tie_word_embeddings",
        ),
        Row(
            "dft_mat_hidden",
            LAYER + ".fourier.self.dft_mat_hidden",
            "hidden_size, hidden_size",
            when=MATRICES,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "dft_mat_seq",
            LAYER + ".fourier.self.dft_mat_seq",
            "tpu_short_seq_length, tpu_short_seq_length",
            when=MATRICES,
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="fnet.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "tpu_short_seq_length": 512,
        "type_vocab_size": 4,
        "use_tpu_fourier_optimizations": False,
        "vocab_size": 32000,
    },
    head="ForMaskedLM",
)
