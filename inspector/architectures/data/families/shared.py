"""Rows that many families have."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Include, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

EMBED_TOKENS = Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size")

#: Grouped-query attention with separate projections: Llama's.
ATTENTION = (
    Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="o_bias"),
    Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim", when="qk_norm"),
    Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", when="qk_norm"),
    Row("inv_freq", LAYER + ".self_attn.rotary_emb.inv_freq", "head_dim // 2", leaf="", buffer=True),
)

#: Gated feed-forward (SwiGLU, GeGLU).
FEED_FORWARD = (
    Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
    Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
    Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
)

NORMS = (
    Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="norm_bias"),
    Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="norm_bias"),
    Row("norm", "model.norm", "hidden_size", bias="norm_bias"),
)

#: What the classes on top of a decoder add.
DECODER_HEADS = (
    Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    Row("score", "score", "num_labels, hidden_size", heads="ForTokenClassification", bias="True"),
    Row("qa_outputs", "qa_outputs", "2, hidden_size", heads="ForQuestionAnswering", bias="True"),
)

#: Fields of a Llama-like decoder that a configuration may leave out.
DECODER_DERIVED = {
    "head_dim": "hidden_size // num_attention_heads",
    "num_key_value_heads": "num_attention_heads",
    "qkv_bias": "attention_bias",
    "o_bias": "attention_bias",
    "num_labels": "len(id2label)",
}
DECODER_DEFAULTS = {
    "tie_word_embeddings": False,
    "attention_bias": False,
    "mlp_bias": False,
    "qk_norm": False,
    "norm_bias": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
}

#: Multi-head latent attention: DeepSeek-V2's.
LATENT_ATTENTION = (
    Row(
        "q_proj",
        LAYER + ".self_attn.q_proj",
        "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim), hidden_size",
        when="q_lora_rank is None",
    ),
    Row(
        "q_a_proj",
        LAYER + ".self_attn.q_a_proj",
        "q_lora_rank, hidden_size",
        bias="attention_bias",
        when="q_lora_rank is not None",
    ),
    Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", "q_lora_rank", when="q_lora_rank is not None"),
    Row(
        "q_b_proj",
        LAYER + ".self_attn.q_b_proj",
        "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim), q_lora_rank",
        when="q_lora_rank is not None",
    ),
    Row(
        "kv_a_proj_with_mqa",
        LAYER + ".self_attn.kv_a_proj_with_mqa",
        "kv_lora_rank + qk_rope_head_dim, hidden_size",
        bias="attention_bias",
    ),
    Row("kv_a_layernorm", LAYER + ".self_attn.kv_a_layernorm", "kv_lora_rank"),
    Row(
        "kv_b_proj",
        LAYER + ".self_attn.kv_b_proj",
        "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank",
    ),
    Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * v_head_dim", bias="attention_bias"),
)


def bert_layer(at: str, of: str = "", qkv_bias: str = "True") -> tuple[Row, ...]:
    """An encoder's layer with the norms after attention and feed-forward: BERT's. `of` goes before the fields."""
    width, within = of + "hidden_size", of + "intermediate_size"
    square = f"{width}, {width}"
    return (
        Row("q_proj", at + ".attention.self.query", square, bias=qkv_bias),
        Row("k_proj", at + ".attention.self.key", square, bias=qkv_bias),
        Row("v_proj", at + ".attention.self.value", square, bias=qkv_bias),
        Row("o_proj", at + ".attention.output.dense", square, bias="True"),
        Row("post_attention_layernorm", at + ".attention.output.LayerNorm", width, bias="True"),
        Row("up_proj", at + ".intermediate.dense", f"{within}, {width}", bias="True"),
        Row("down_proj", at + ".output.dense", f"{width}, {within}", bias="True"),
        Row("post_feedforward_layernorm", at + ".output.LayerNorm", width, bias="True"),
    )


def bert_cross_attention(
    at: str, of: str = "", when: str = "add_cross_attention", qkv_bias: str = "True"
) -> tuple[Row, ...]:
    """What a BERT-like layer has more where it attends to an encoder."""
    width = of + "hidden_size"
    square = f"{width}, {width}"
    return (
        Row("cross_q_proj", at + ".crossattention.self.query", square, bias=qkv_bias, when=when),
        Row("cross_k_proj", at + ".crossattention.self.key", square, bias=qkv_bias, when=when),
        Row("cross_v_proj", at + ".crossattention.self.value", square, bias=qkv_bias, when=when),
        Row("cross_o_proj", at + ".crossattention.output.dense", square, bias="True", when=when),
        Row("cross_layernorm", at + ".crossattention.output.LayerNorm", width, bias="True", when=when),
    )


#: DeepSeek-V3.2's indexer, which picks the keys that a query sees, in the layers that have one of their own.
_OWN_INDEXER = "index_n_heads is not None and indexer_types[layer] == 'full'"
INDEXER = (
    Row(
        "indexer_q_b_proj",
        LAYER + ".self_attn.indexer.wq_b",
        "index_n_heads * index_head_dim, q_lora_rank",
        when=_OWN_INDEXER,
    ),
    Row("indexer_k_proj", LAYER + ".self_attn.indexer.wk", "index_head_dim, hidden_size", when=_OWN_INDEXER),
    Row("indexer_k_norm", LAYER + ".self_attn.indexer.k_norm", "index_head_dim", bias="True", when=_OWN_INDEXER),
    Row(
        "indexer_weights_proj",
        LAYER + ".self_attn.indexer.weights_proj",
        "index_n_heads, hidden_size",
        when=_OWN_INDEXER,
        group="attention",
    ),
)

SPARSE, DENSE = "mlp_layer_types[layer] == 'sparse'", "mlp_layer_types[layer] != 'sparse'"


def gated(
    at: str, width: str, *, bias: str = "", when: str = "", prefix: str = "", active: str = ""
) -> tuple[Row, ...]:
    """A gated feed-forward at a path: gate, up and down; `prefix` goes before the roles."""
    return (
        Row(prefix + "gate_proj", at + ".gate_proj", f"{width}, hidden_size", bias=bias, when=when, active=active),
        Row(prefix + "up_proj", at + ".up_proj", f"{width}, hidden_size", bias=bias, when=when, active=active),
        Row(prefix + "down_proj", at + ".down_proj", f"hidden_size, {width}", bias=bias, when=when, active=active),
    )


#: A router, routed and shared experts in the layers that `mlp_layer_types` calls sparse, one feed-forward in the others.
MIXTURE = (
    *gated(LAYER + ".mlp", "intermediate_size", bias="expert_bias", when=DENSE),
    Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when=SPARSE),
    Row(
        "router_bias",
        LAYER + ".mlp.gate.e_score_correction_bias",
        "n_routed_experts",
        when=f"score_correction and {SPARSE}",
        leaf="",
    ),
    *gated(
        LAYER + ".mlp.experts.{expert<n_routed_experts}",
        "moe_intermediate_size",
        when=SPARSE,
        active="num_experts_per_tok or n_routed_experts",
    ),
    *gated(
        LAYER + ".mlp.shared_experts",
        "n_shared_experts * moe_intermediate_size",
        bias="expert_bias",
        when=f"n_shared_experts is not None and {SPARSE}",
        prefix="shared_",
    ),
)
MIXTURE_DEFAULTS = {"score_correction": True, "moe_layer_freq": 1}
MIXTURE_DERIVED = {
    "mlp_layer_types": (
        "['sparse' if layer >= first_k_dense_replace and layer % moe_layer_freq == 0 else 'dense'"
        " for layer in range(num_hidden_layers)]"
    )
}


def language_model(default_type: str, tied: str = "tie_word_embeddings") -> tuple[Include, Row]:
    """The text model of a multimodal one, and its head, under the names that older classes gave them."""
    return (
        Include("text_config", "language_model.model.", strip="model.", head="Model", default_type=default_type),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied=tied,
        ),
    )


def projector(role: str, name: str, shape: str, *, bias: str = "", when: str = "", leaf: str = "weight") -> Row:
    """A row of what leads from a tower into the text model; its roles are the modules' own words."""
    return Row(
        role,
        "multi_modal_projector." + name,
        shape,
        bias=bias,
        when=when,
        tower="projector",
        leaf=leaf,
        group="norm" if "norm" in role else "other",
    )


#: Two layers, from as many layers of a tower as are asked for.
TWO_LAYER_PROJECTOR = (
    projector(
        "linear_1",
        "linear_1",
        "text_config.hidden_size, count(vision_feature_layer) * vision_config.hidden_size",
        bias="multimodal_projector_bias",
    ),
    projector(
        "linear_2", "linear_2", "text_config.hidden_size, text_config.hidden_size", bias="multimodal_projector_bias"
    ),
)


#: CLIP's ViT-L/14 at 336 pixels, which some configurations only name.
CLIP_LARGE = {"clip_hidden_size": 1024, "clip_image_size": 336, "clip_layers": 24, "clip_patch_size": 14}


def clip_large(prefix: str, *, optional: bool = False) -> tuple[Row, ...]:
    """CLIP's vision tower with the sizes of `CLIP_LARGE`."""
    layer = prefix + "encoder.layers.{layer<clip_layers}"
    square = "clip_hidden_size, clip_hidden_size"

    def row(role: str, name: str, shape: str = "clip_hidden_size", *, bias: str = "True", leaf: str = "weight") -> Row:
        return Row(role, name, shape, bias=bias, leaf=leaf, tower="vision", optional=optional)

    return (
        row("cls_token", prefix + "embeddings.class_embedding", bias="", leaf=""),
        row(
            "embed_patches",
            prefix + "embeddings.patch_embedding",
            "clip_hidden_size, 3, clip_patch_size, clip_patch_size",
            bias="",
        ),
        row(
            "position_embedding",
            prefix + "embeddings.position_embedding",
            "(clip_image_size // clip_patch_size) ** 2 + 1, clip_hidden_size",
            bias="",
        ),
        row("embed_norm", prefix + "pre_layrnorm"),
        row("input_layernorm", layer + ".layer_norm1"),
        row("q_proj", layer + ".self_attn.q_proj", square),
        row("k_proj", layer + ".self_attn.k_proj", square),
        row("v_proj", layer + ".self_attn.v_proj", square),
        row("o_proj", layer + ".self_attn.out_proj", square),
        row("post_attention_layernorm", layer + ".layer_norm2"),
        row("up_proj", layer + ".mlp.fc1", "4 * clip_hidden_size, clip_hidden_size"),
        row("down_proj", layer + ".mlp.fc2", "clip_hidden_size, 4 * clip_hidden_size"),
        row("norm", prefix + "post_layernorm"),
    )


def lstm(at: str, width: str, number: str, *, when: str = "", tower: str = "text") -> Iterator[Row]:
    """PyTorch's LSTM, as wide as it is fed: the weights of the four gates are in one tensor.

    Args:
        number: its layers, whose index is `at`, or `layer` where the path has none: `weight_ih_l0`.
    """
    index = "at" if "{layer" in at else "layer"
    for word, shape in (
        ("weight_ih", f"4 * {width}, {width}"),
        ("weight_hh", f"4 * {width}, {width}"),
        ("bias_ih", f"4 * {width}"),
        ("bias_hh", f"4 * {width}"),
    ):
        name = f"{at}.{word}_l{{{index}<{number}}}"
        yield Row("lstm_" + word, name, shape, when=when, tower=tower, leaf="", group="state_space")


def summary(name: str, width: str, heads: str) -> Row:
    """What sums a sequence up in one vector: `SequenceSummary` of XLM, XLNet, ELECTRA and GPT-2."""
    return Row(
        "summary",
        name + ".summary",
        f"num_labels if summary_proj_to_labels else {width}, {width}",
        bias="True",
        when="summary_use_proj",
        heads=heads,
        group="head",
    )


#: Fields of the summary that a configuration may leave out.
SUMMARY_DEFAULTS = {"summary_use_proj": True, "summary_proj_to_labels": False}


def squad_head(at: str, width: str, heads: str) -> tuple[Row, ...]:
    """Start, end and possibility of an answer, each from the one before: XLM's and XLNet's `ForQuestionAnswering`."""
    return (
        Row("start_logits", at + "start_logits.dense", f"1, {width}", bias="True", heads=heads, group="head"),
        Row("end_dense", at + "end_logits.dense_0", f"{width}, 2 * {width}", bias="True", heads=heads, group="head"),
        Row("end_norm", at + "end_logits.LayerNorm", width, bias="True", heads=heads),
        Row("end_logits", at + "end_logits.dense_1", f"1, {width}", bias="True", heads=heads, group="head"),
        Row(
            "answer_dense", at + "answer_class.dense_0", f"{width}, 2 * {width}", bias="True", heads=heads, group="head"
        ),
        Row("answer_class", at + "answer_class.dense_1", f"1, {width}", heads=heads, group="head"),
    )


def vit_layers(
    at: str,
    *,
    bias: str = "qkv_bias",
    width: str = "hidden_size",
    attention: str = "hidden_size",
    inner: str = "intermediate_size",
    heads: str = "",
    tower: str = "text",
) -> tuple[Row, ...]:
    """Layers of a vision transformer under their names before Transformers 5, as files have them."""

    def row(role: str, name: str, shape: str, bias: str = "True") -> Row:
        return Row(role, f"{at}.{name}", shape, bias=bias, heads=heads, tower=tower)

    return (
        row("input_layernorm", "layernorm_before", width),
        row("q_proj", "attention.attention.query", f"{attention}, {width}", bias),
        row("k_proj", "attention.attention.key", f"{attention}, {width}", bias),
        row("v_proj", "attention.attention.value", f"{attention}, {width}", bias),
        row("o_proj", "attention.output.dense", f"{width}, {attention}"),
        row("post_attention_layernorm", "layernorm_after", width),
        row("up_proj", "intermediate.dense", f"{inner}, {width}"),
        row("down_proj", "output.dense", f"{width}, {inner}"),
    )


def batch_norm(
    role: str, name: str, size: str, *, when: str = "", heads: str = "", tower: str = "text"
) -> tuple[Row, ...]:
    """A batch norm: its scale and shift, and the statistics that it keeps."""

    def statistic(word: str, shape: str) -> Row:
        return Row(
            f"{role}_{word}",
            f"{name}.{word}",
            shape,
            when=when,
            heads=heads,
            tower=tower,
            leaf="",
            buffer=True,
            persistent=True,
        )

    return (
        Row(role, name, size, bias="True", when=when, heads=heads, tower=tower, group="norm"),
        statistic("running_mean", size),
        statistic("running_var", size),
        statistic("num_batches_tracked", ""),
    )
