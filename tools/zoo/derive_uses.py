"""Roles that follow from use: what a module's class and a block's run say, where words say something else or nothing.

fitted("embed_tokens", "time_embed.linear_1", Use("linear", "Linear", ""), "inner_dim, in_channels") → embed_condition
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from inspector.architectures.data.roles import group_of


class Use(NamedTuple):
    """What a model does with a tensor, as `build_uses` records it."""

    kind: str  # lookup, linear, conv, norm, recurrent or other
    cls: str  # the class of its module
    place: str  # gate, up or down in a block of these; "" for others


#: Words of fields that count entries of a vocabulary.
VOCABULARY = re.compile(
    r"vocab|num_embeddings|n_tokens|num_tokens|ntokens|codebook|num_audio_tokens|max_2d|entity|bucket|n_codes|ngram|"
    r"num_words|num_chars|alphabet|n_symbols|audio_num_codes|text_size|^embedding_size$|num_text_tokens|image_token_size"
)
#: Roles that say nothing of a purpose.
VAGUE = frozenset({"other", "proj", "attn_mix"})
_FEED_FORWARD = frozenset({*VAGUE, "gate_proj", "up_proj", "down_proj", "router"})
#: Group of roles → the kinds of modules that can have them.
_KINDS = {
    "norm": ("norm", "other"),
    "convolution": ("conv", "norm", "other"),
    "attention": ("linear", "conv", "norm", "other"),
    "feed_forward": ("linear", "conv", "other"),
    "router": ("linear", "other"),
    "head": ("linear", "conv", "norm", "other"),
    "state_space": ("linear", "conv", "norm", "recurrent", "other"),
}
_POSITIONS = re.compile(r"(^|[._])(rel_)?pos(_|ition|embed|$|\.)|rope|wpe")
_TYPES = re.compile(r"token_type|segment|lang|speaker|level|modality|type_embed|row_embed|column_embed")
_CONDITIONS = re.compile(
    r"(^|[._])(t|time|times|timestep|timesteps|temb|delta|delta_t|guidance|label|class|size|style|fps|camera|action|"
    r"duration|noise|cond|condition|seconds|resolution|aspect|distance|motion|y|vec|vector)(_|$|\.|emb|proj|in)|time_?step"
)
_MIXES = re.compile(r"hyper_connection|(^|\.)hc_|router_mlp|merger")
_PATCHES = re.compile(r"patch|x_embed|img_in|proj_in|conv_in|pixel|latent")


def fitted(role: str, name: str, use: Use, shape: str) -> str:
    """The role of a tensor with this use; the given one where nothing contradicts it.

    Args:
        name: the whole name, with or without numbers.
        shape: its dimensions as formulas.
    """
    path = re.sub(r"\.?\{[^{}]*\}|\.\d+", "", name)
    if role == "embed_tokens":
        return role if _looks_up_tokens(use, shape) else _embedding(path, use, shape)
    if use.kind == "lookup" and role != "lm_head" and (role in VAGUE or group_of(role) in _KINDS):
        if "relative" in path and "bias" in path:
            return "relative_attention_bias"
        return "embed_tokens" if _looks_up_tokens(use, shape) else _embedding(path, use, shape)
    if use.kind == "norm" and role in VAGUE:
        return "layer_norm"
    if use.kind == "conv" and role in ("other", "proj"):
        found = _by_class(role, path, use)
        return found if found == "block_proj" or found.endswith("qkv_proj") else "conv"
    if use.kind == "conv" and group_of(role) == "norm":  # within a norm of an image's features, or after one
        return "conv"
    if use.kind == "recurrent" and role in VAGUE:
        return "lstm_hidden" if re.search(r"(weight|bias)_hh", name) else "lstm_input"
    if (
        use.place
        and role in _FEED_FORWARD
        and use.place not in _opposite(path)
        and not _only_turned(role, use)
        and not _MIXES.search(path)
    ):
        return f"{'shared_' if 'shared_expert' in path else ''}{use.place}_proj"
    return _by_class(role, path, use) if role in VAGUE else role


def _opposite(path: str) -> str:
    """What a path that says one of up and down excludes."""
    last = path.rsplit(".", 2)[-2:]
    return "up" if "down" in last[0] else "down" if re.match("up", last[0]) else ""


def _only_turned(role: str, use: Use) -> bool:
    """Whether a role says up and the block down, or the reverse: words then say more, as of low-rank maps."""
    return {role, f"{use.place}_proj"} == {"up_proj", "down_proj"}


def _looks_up_tokens(use: Use, shape: str) -> bool:
    return use.kind in ("lookup", "other") and bool(VOCABULARY.search(_first(shape)))


def _first(shape: str) -> str:
    return shape.split(",", maxsplit=1)[0]


def _embedding(path: str, use: Use, shape: str) -> str:
    """A role of the embeddings for what is none of tokens."""
    if use.kind == "linear" and VOCABULARY.search(_first(shape)):
        return "lm_head"
    if use.kind == "conv":
        return "embed_patches"
    if use.kind == "norm":
        return "embed_norm"
    if "codebook" in path or "quantiz" in path:
        return "embed_codes"
    for words, role in (
        (_TYPES, "embed_token_types"),
        (_POSITIONS, "embed_positions"),
        (_CONDITIONS, "embed_condition"),
    ):
        if words.search(path):
            return role
    if use.kind in ("linear", "other") and _PATCHES.search(path):
        return "embed_patches"
    if use.kind == "lookup":
        return "embed_token_types"
    return "embed_features" if use.kind == "linear" else "embed_queries"


#: Words in the names of modules' classes → roles, for tensors that no word of their own names.
_CLASSES: Sequence[tuple[str, str]] = (
    ("HyperConnection", "hyper_connection"),
    ("HyperHead", "hyper_connection"),
    ("Router", "router"),
    ("Gate$", "router"),
    ("LayerScale", "layer_scale"),
    ("Snake", "activation"),
    ("SnakeBeta", "activation"),
    ("PReLU", "activation"),
    ("XIELU", "activation"),
    ("GRN", "conv_norm"),
    ("Norm", "layer_norm"),
    ("RelPos|RelativePosition", "attn_positions"),
    ("Quantize|Codebook", "codebook_state"),
)


#: Last words of paths → roles, for tensors of which the conventions say nothing.
_PATHS: Sequence[tuple[str, str]] = (
    (r"modulation|scale_shift|_ssm_scale|adaln|a2v_gate|v2a_gate", "modulation"),
    (r"sink", "sinks"),
    (r"(^|\.)(hc|mhc)_|hyper_conn|stream_mix", "hyper_connection"),
    (r"single_(transformer_)?blocks\.proj_mlp$|channelwise_linear_1$", "up_proj"),
    (r"single_(transformer_)?blocks\.proj_out$|channelwise_linear_2$", "down_proj"),
    (r"(attentions|motion_modules|transformer_in|temp_attentions)\.proj_in$", "block_proj"),
    (r"(attentions|motion_modules|transformer_in|temp_attentions)\.proj_out$", "block_proj"),
    (r"(?<!project)(to_|\.|_)(query|q)(_linear|_proj|_lin|_map)?$|\.theta_q$", "q_proj"),
    (r"(?<!log)(to_|\.|_)(key|k)(_linear|_proj|_lin|_map)?$", "k_proj"),
    (r"(to_|\.|_)(value|v)(_linear|_proj|_lin|_map)?$", "v_proj"),
    (r"(kv|key_value)(_linear|_mapper|_proj|s)?$|to_kv$", "kv_proj"),
    (r"\.wq_[a-z]{2}$", "q_proj"),  # named after the axes that they map: w, q, from d to u
    (r"\.wk_[a-z]{2}$", "k_proj"),
    (r"\.wv_[a-z]{2}$|\.v_proj_(current|delayed)$", "v_proj"),
    (r"\.wo_[a-z]{2}$", "o_proj"),
    (r"\.wr_[a-z]{2}$", "attn_positions"),
    (r"\.sqk$", "attn_scale"),
    (r"\.suv_(gate|up)$", "layer_scale"),
    (r"[if]gate_preact$", "recurrent_gate"),
    (r"ogate_preact$", "gate_attn"),
    (r"lstm_layer\.out_proj$", "out_proj"),
    (r"\.ffn\.w_out$|memory_attention\.layers\.linear2$|fuser\.layers\.pointwise_conv2$", "down_proj"),
    (r"memory_attention\.layers\.linear1$|fuser\.layers\.pointwise_conv1$|\.fc3$", "up_proj"),
    (r"pre_expert_proj$", "latent_down_proj"),
    (r"post_expert_proj$", "latent_up_proj"),
    (r"attention\.self\.conv_out_layer$", "v_proj"),
    (r"bottleneck\.(input\.)?dense$", "block_proj"),
    (r"qkv(_proj|_linear)?$|query_key_value$", "qkv_proj"),
    (r"at+(ention|n)\w*\.(out_layer|proj|out_proj\w*|dense|proj_out|projection|linear_out|out|o|fc|wo)$", "o_proj"),
    (r"attn_proj$|attn_out$", "o_proj"),
    (r"at+(ention|n)\w*\.(\w+_)?(gate|g)(_proj|_linear|_logits)?$|attn_gate$|linear_gate$|output_gate$", "gate_attn"),
    (r"at+n\w*\.(conv_\w+|\w*conv)$", "conv1d"),
    (r"(moe|mlp|ffn|experts?|block_sparse_moe|feed_forward)\.(gate|router|wg)$", "router"),
    (r"control\w*_blocks$|after_proj$|before_proj$|skip_linear$|skip_proj|concat_linear|input_block$|vace_blocks\.proj_out$",
     "block_proj"),
    (r"^proj_in$|(context_embedder|embedder|embed\w*)\.proj(_in|_out)?$|project(ion|or)\.\w*$|encoder_proj$|context_proj$|"
     r"^(\w+_)?(projection|projector|proj)$|plucker_proj$|project_(in|out)$|pooler\.\w+$", "embed_projection"),
)  # fmt: skip


def _by_class(role: str, path: str, use: Use) -> str:
    found = next((each for words, each in _CLASSES if re.search(words, use.cls)), "")
    path = re.sub(r"\.weight$|^weight$", "", path)
    return found or next((each for words, each in _PATHS if re.search(words, path)), role)


def contradicts(role: str, use: Use, shape: str) -> bool:
    """Whether a role claims a use that the tensor does not have."""
    if role == "embed_tokens":
        return not _looks_up_tokens(use, shape)
    if role in ("gate_proj", "up_proj", "down_proj") and use.place:
        return not role.startswith(use.place) and not _only_turned(role, use)
    if (role, use.kind) in (("lm_head", "lookup"), ("pointwise_conv", "linear")):
        return False  # stored once for both, and the same map
    return use.kind not in _KINDS.get(group_of(role), (use.kind,))
