"""Which tensors a GGUF of each architecture has, in the words of `gguf_shapes`.

From what llama.cpp's loader asks for and its converter writes. After a word, `+` adds its bias; `?` marks what may be
there or not, and no key-value tells: it is not predicted, and has a name in the bridge where it is stored, as every
other bias has. A pair is (condition, words), in `formula`'s language over what the key-values say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: Words for every layer, or (condition, words) for the layers, or the models, where it holds.
Words = str | tuple[str, str]


class Layout(NamedTuple):
    """The tensors of an architecture."""

    blocks: tuple[Words, ...]  # in each block
    inputs: tuple[Words, ...] = ("token_embd",)
    outputs: tuple[Words, ...] = ("output_norm output",)  # an `output` that may be tied ends in "="
    tied: bool = False  # whether published models mostly share the head with the embedding
    head: str = "ForCausalLM"  # what the file is read as
    derived: Mapping[str, str] = {}  # fields of which the key-values say nothing
    defaults: Mapping[str, Any] = {}


_MAYBE_TIED = ("output_norm output=",)
_DENSE_FIRST = "layer < first_k_dense_replace"
_EXPERTS_AFTER = "layer >= first_k_dense_replace"
_SIGMOID = "expert_gating_func == 2"  # llama.cpp's number for it; routers of this kind have a bias
_HAS_SHARED = "shared_expert_intermediate_size"
_NO_SHARED = {"shared_expert_intermediate_size": "0"}
_AS_DENSE = {"moe_intermediate_size": "intermediate_size"}
_RECURRENT, _ATTENTION = "num_key_value_heads == 0", "num_key_value_heads"


def _dense(*words: str, **options: Any) -> Layout:
    """A decoder whose blocks are all alike."""
    return Layout(words, **options)


def _both(condition: str, *words: str) -> tuple[Words, ...]:
    """The same condition for several words."""
    return tuple((condition, each) for each in words)


_LLAMA = (
    "@qkvo",
    ("not num_local_experts", "@mlp"),
    ("num_local_experts", "@experts:dense"),
    (f"num_local_experts and {_HAS_SHARED}", "@shared"),
    "@norms",
)


def _llama(*, tied: bool = False) -> Layout:
    return Layout(_LLAMA, outputs=_MAYBE_TIED, tied=tied, derived=_NO_SHARED)


def _gpt(qkv: str = "attn_qkv", *, learned: bool = False, tied: bool = False, normed: bool = False) -> Layout:
    """LayerNorms, one projection for queries, keys and values, and biases everywhere."""
    inputs = ("token_embd" + " position_embd" * learned + " token_embd_norm+" * normed,)
    outputs = ("output_norm+ output" + "=" * tied,)
    return Layout((f"{qkv}+ attn_output+ @plain+ @norms+",), inputs=inputs, outputs=outputs, tied=tied)


def _latent(*feed_forward: Words, indexer: bool = False, **options: Any) -> Layout:
    """DeepSeek's attention; older files have its second projection in one piece."""
    words: tuple[Words, ...] = (
        ("q_lora_rank", "@q_latent"),
        ("not q_lora_rank", "attn_q:latent"),
        "@latent",
        ("qk_head_dim != head_dim", "attn_k_b attn_v_b attn_kv_b?"),
        ("qk_head_dim == head_dim", "attn_kv_b"),
        *(("indexer.k_norm+ indexer.proj indexer.attn_k indexer.attn_q_b",) if indexer else ()),
        *feed_forward,
        "@norms",
    )
    return Layout(words, outputs=_MAYBE_TIED, **options)


_DEEPSEEK = (
    (_DENSE_FIRST, "@mlp"),
    (_EXPERTS_AFTER, "@experts"),
    (f"{_EXPERTS_AFTER} and {_SIGMOID}", "exp_probs_b"),
    (f"{_EXPERTS_AFTER} and not {_SIGMOID}", "exp_probs_b?"),
    (f"{_EXPERTS_AFTER} and n_shared_experts", "@shared:counted"),
)
_NO_SIGMOID: Mapping[str, Any] = {"expert_gating_func": 0}

_QWEN_EXPERTS = ("@qkvo @qk_norm @experts @norms",)


def _delta(*words: str) -> Layout:
    """Qwen's gated delta nets, every so many layers an attention with a gate in its query projection."""
    return Layout(
        (
            *_both("(layer + 1) % full_attention_interval == 0", "attn_q:gated attn_k attn_v attn_output @qk_norm"),
            ("(layer + 1) % full_attention_interval != 0", "@delta " + words[0]),
            *words[1:],
            "attn_norm post_attention_norm",
        ),
        outputs=_MAYBE_TIED,
        defaults={"full_attention_interval": 4},
    )


def _bert(*words: Words, position: bool = False) -> Layout:
    """LayerNorms after attention and feed-forward, no head but what a classifier adds."""
    inputs = "token_embd token_types" + " position_embd" * position + " token_embd_norm+"
    blocks = (*words, "attn_output_norm+ layer_output_norm+")
    return Layout(blocks, inputs=(inputs,), outputs=("cls? cls.output?",), head="Model")


def _gemma(*words: Words, **options: Any) -> Layout:
    return Layout((*words, "@mlp @norms post_attention_norm post_ffw_norm"), outputs=_MAYBE_TIED, tied=True, **options)


_RWKV6 = (
    "time_mix_w1 time_mix_w2 time_mix_lerp_x time_mix_lerp_fused time_mix_decay time_mix_decay_w1 time_mix_decay_w2 "
    "time_mix_receptance time_mix_gate time_mix_output"
)
_RWKV7 = (
    "time_mix_w0 time_mix_w1:7 time_mix_w2:7 time_mix_a0 time_mix_a1 time_mix_a2 time_mix_v0 time_mix_v1 time_mix_v2 "
    "time_mix_k_k time_mix_k_a time_mix_r_k time_mix_key time_mix_value time_mix_receptance time_mix_output"
)
_T5 = "{0}attn_q {0}attn_k {0}attn_v {0}attn_o {0}ffn_gate? {0}ffn_up {0}ffn_down {0}attn_norm {0}ffn_norm"
_T5_ENCODER: tuple[Words, ...] = (_T5.format("enc."), ("layer == 0", "enc.attn_rel_b"))
_T5_DECODER: tuple[Words, ...] = (
    _T5.format("dec."),
    "dec.cross_attn_q dec.cross_attn_k dec.cross_attn_v dec.cross_attn_o dec.cross_attn_norm",
    ("layer == 0", "dec.attn_rel_b dec.cross_attn_rel_b?"),
)

#: Architectures that have no layout: parts beside a language model. Their tensors are named, and not predicted.
NAMED = frozenset({"clip", "wavtokenizer-dec"})

#: `general.architecture` → its layout.
LAYOUTS: Mapping[str, Layout] = {
    # Llama and what differs from it by a word
    "llama": _llama(),
    "llama-embed": _llama(),
    "mistral3": _llama(),
    "refact": _llama(),
    "minicpm": _llama(tied=True),
    "granite": _llama(tied=True),
    "granitemoe": _llama(tied=True),
    "deci": Layout(
        (
            ("num_attention_heads and not num_key_value_heads", "attn_output:linear attn_norm"),
            (_ATTENTION, "@qkvo attn_norm"),
            ("intermediate_size", "@mlp ffn_norm"),
        ),
        outputs=_MAYBE_TIED,
    ),
    "llama4": Layout(
        (
            "@qkvo",
            *_both("interleave_moe_layer_step and (layer + 1) % interleave_moe_layer_step == 0", "@experts", "@shared"),
            ("not interleave_moe_layer_step or (layer + 1) % interleave_moe_layer_step != 0", "@mlp"),
            "@norms",
        ),
        outputs=_MAYBE_TIED,
        derived={"shared_expert_intermediate_size": "moe_intermediate_size"},
        defaults={"interleave_moe_layer_step": 1},
    ),
    "baichuan": _dense("@qkvo @mlp @norms"),
    "xverse": _dense("@qkvo @mlp @norms"),
    "internlm2": _dense("@qkvo @mlp @norms"),
    "orion": _dense("@qkvo @mlp @norms+", outputs=("output_norm+ output",)),
    "plamo": _dense("@qkvo @mlp attn_norm"),
    "smollm3": _dense("@qkvo @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "exaone": _dense("@qkvo @mlp @norms", outputs=_MAYBE_TIED),
    "llada": _dense("@qkv attn_output @mlp @norms", outputs=_MAYBE_TIED),
    "arcee": _dense("@qkvo @plain @norms", outputs=_MAYBE_TIED),
    "apertus": _dense("@qkvo @qk_norm @plain @norms"),
    "maincoder": _dense("@qkvo @qk_norm @mlp @norms", outputs=_MAYBE_TIED),
    "hunyuan-dense": _dense("@qkvo @qk_norm @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "hunyuan_vl": _dense("@qkvo @qk_norm @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "ernie4_5": _dense("@qkvo @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "paddleocr": _dense("@qkvo @mlp @norms", outputs=_MAYBE_TIED),
    "pangu-embedded": _dense("@qkvo+ @mlp @norms", outputs=_MAYBE_TIED),
    "seed_oss": _dense("@qkv+ attn_output @mlp attn_norm post_attention_norm", outputs=_MAYBE_TIED),
    "exaone4": _dense("@qkvo @qk_norm @mlp post_attention_norm post_ffw_norm", outputs=_MAYBE_TIED),
    "stablelm": _dense(
        "@qkv attn_output attn_q_norm:heads? attn_k_norm:heads? @mlp @norms+", outputs=("output_norm+ output",)
    ),
    "chameleon": _dense("@qkvo @qk_norm:heads+ @mlp @norms", outputs=_MAYBE_TIED),
    "command-r": Layout(
        ("@qkvo", ("num_hidden_layers >= 64", "@qk_norm:heads"), "@mlp attn_norm"), outputs=_MAYBE_TIED, tied=True
    ),
    "cohere2": _dense("@qkvo @mlp attn_norm", outputs=_MAYBE_TIED, tied=True),
    "olmo": _dense("@qkvo @mlp", outputs=("output=",)),
    "olmo2": _dense("@qkvo @qk_norm:wide @mlp post_attention_norm post_ffw_norm"),
    "openelm": _dense("attn_qkv @qk_norm attn_output @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "bitnet": _dense("@qkvo @mlp @norms attn_sub_norm ffn_sub_norm", outputs=_MAYBE_TIED, tied=True),
    "glm4": _dense("@qkvo @fused @norms post_attention_norm post_ffw_norm", outputs=_MAYBE_TIED),
    "chatglm": _dense("attn_qkv+ attn_output @fused @norms", outputs=_MAYBE_TIED),
    "cogvlm": _dense(
        "attn_qkv attn_output @mlp @norms vis_attn_qkv vis_attn_output vis_gate vis_up vis_down", outputs=_MAYBE_TIED
    ),
    # Qwen
    "qwen": _dense("attn_qkv+ attn_output @mlp:half @norms"),
    "qwen2": _dense("@qkv+ attn_output @mlp @norms", outputs=_MAYBE_TIED),
    "qwen2vl": _dense("@qkv+ attn_output @mlp @norms", outputs=_MAYBE_TIED),
    "dream": _dense("@qkv+ attn_output @mlp @norms", outputs=_MAYBE_TIED),
    "qwen3": _dense("@qkvo @qk_norm @mlp @norms", outputs=("output_norm output= cls.output?",)),
    "qwen3vl": _dense("@qkvo @qk_norm @mlp @norms", outputs=("output_norm output= cls.output?",)),
    "qwen2moe": _dense("@qkv+ attn_output @experts ffn_gate_inp_shexp @shared @norms"),
    "qwen3moe": Layout(_QWEN_EXPERTS, outputs=_MAYBE_TIED),
    "qwen3vlmoe": Layout(_QWEN_EXPERTS, outputs=_MAYBE_TIED),
    "rnd1": Layout(_QWEN_EXPERTS, outputs=_MAYBE_TIED),
    "llada-moe": Layout(_QWEN_EXPERTS),
    "qwen3next": _delta("ssm_ba ssm_in:delta?", "@experts ffn_gate_inp_shexp @shared"),
    "qwen35": _delta("ssm_beta ssm_alpha", "@mlp"),
    "qwen35moe": _delta("ssm_beta ssm_alpha", "@experts ffn_gate_inp_shexp @shared"),
    # GPT-2's kin
    "gpt2": _gpt("attn_qkv:equal", learned=True, tied=True),
    "starcoder": _gpt(learned=True, tied=True),
    "codeshell": _gpt(),
    "gptneox": _gpt(),
    "bloom": _gpt(tied=True, normed=True),
    "mpt": Layout(
        ("attn_qkv attn_output @plain @norms attn_q_norm:wide? attn_k_norm:wide?",),
        inputs=("token_embd position_embd?",),
        outputs=("output_norm output=",),
        tied=True,
    ),
    "falcon": Layout(
        (
            "attn_qkv attn_output @plain attn_norm+",
            # 40B and 180B have a norm before each half; Falcon 2, as wide as no other, has one for both.
            ("num_key_value_heads > 1 and hidden_size != 4096", "attn_norm_2+"),
            ("num_key_value_heads == 1 or hidden_size == 4096", "attn_norm_2?"),
        ),
        outputs=("output_norm+ output=",),
    ),
    "jais": _dense("attn_qkv+ attn_output+ @mlp+ @norms+", outputs=("output_norm+ output",)),
    "jais2": _dense("@qkvo+ @plain+ @norms+", outputs=("output_norm+ output=",)),
    "gptj": _dense("@qkvo @plain+ attn_norm+", outputs=("output_norm+ output+",)),
    "starcoder2": _dense("@qkvo+ @plain+ @norms+", outputs=("output_norm+ output=",), tied=True),
    "nemotron": _dense("@qkvo @plain @norms+", outputs=("output_norm+ output",)),
    "phi2": _dense("@qkvo+ @plain+ attn_norm+", outputs=("output_norm+ output+",)),
    "phi3": _dense("attn_qkv attn_output @fused @norms", outputs=_MAYBE_TIED),
    "phimoe": _dense("@qkvo+ @experts:dense @norms+", outputs=("output_norm+ output+",)),
    # Gemma
    "gemma": _dense("@qkvo @mlp @norms", outputs=_MAYBE_TIED, tied=True),
    "gemma2": _gemma("@qkvo"),
    "gemma3": _gemma("@qkvo @qk_norm"),
    "gemma-embedding": Layout(
        ("@qkvo @qk_norm @mlp @norms post_attention_norm post_ffw_norm",),
        outputs=("output_norm", ("dense_2_feat_out", "dense_2"), ("dense_3_feat_in", "dense_3")),
        head="Model",
        defaults={"dense_2_feat_out": 0, "dense_3_feat_in": 0},
    ),
    "gemma3n": _gemma(
        "@qkvo @qk_norm inp_gate proj post_norm altup_correct_coef altup_correct_scale altup_predict_coef "
        "altup_router altup_router_norm laurel_l laurel_r laurel_post_norm",
        inputs=(
            "token_embd per_layer_token_embd per_layer_model_proj per_layer_proj_norm altup_proj altup_unembd_proj",
        ),
        defaults={"altup_num_inputs": 4, "laurel_rank": 64, "hidden_size_per_layer_input": 256},
    ),
    "gemma4": _gemma(
        "attn_q:sliding attn_output:sliding attn_q_norm:sliding layer_output_scale",
        ("layer < num_hidden_layers - num_kv_shared_layers", "attn_k:sliding attn_k_norm:sliding"),
        ("layer < num_hidden_layers - num_kv_shared_layers and (is_sliding or not k_eq_v)", "attn_v:sliding"),
        ("layer < num_hidden_layers - num_kv_shared_layers and not is_sliding and k_eq_v", "attn_v:sliding?"),
        ("layer >= num_hidden_layers - num_kv_shared_layers", "attn_k:sliding? attn_v:sliding? attn_k_norm:sliding?"),
        ("hidden_size_per_layer_input", "inp_gate proj post_norm"),
        (
            "num_local_experts",
            "ffn_gate_inp ffn_gate_inp.scale ffn_gate_up_exps ffn_down_exps ffn_down_exps.scale "
            "pre_ffw_norm_2 post_ffw_norm_1 post_ffw_norm_2",
        ),
        inputs=(
            "token_embd",
            ("hidden_size_per_layer_input", "per_layer_token_embd per_layer_model_proj per_layer_proj_norm"),
        ),
        # The larger models, which have no embeddings a layer, take the keys of full attention as values.
        derived={"k_eq_v": "not hidden_size_per_layer_input", "global_head_dim": "head_dim"},
        defaults={"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0},
    ),
    # encoders
    "bert": _bert("attn_q+ attn_k:equal+ attn_v:equal+ attn_output+ @plain+", position=True),
    "jina-bert-v2": _bert("@qkvo+ @qk_norm:wide? ffn_gate ffn_up ffn_down+ attn_norm_2?"),
    "jina-bert-v3": _bert("attn_qkv+ attn_output+ @plain+"),
    "nomic-bert": _bert("attn_qkv attn_output ffn_gate ffn_up ffn_down"),
    "nomic-bert-moe": _bert(
        "attn_qkv+ attn_output+",
        (
            "moe_every_n_layers and layer % moe_every_n_layers == 1",
            "ffn_gate_inp ffn_up_exps:dense ffn_down_exps:dense",
        ),
        ("not moe_every_n_layers or layer % moe_every_n_layers != 1", "@plain+"),
    ),
    "modern-bert": Layout(
        ("attn_qkv attn_output @fused ffn_norm", ("layer > 0", "attn_norm"), ("layer == 0", "attn_norm?")),
        inputs=("token_embd token_embd_norm",),
        outputs=("output_norm cls? cls.norm? cls.output?",),
        head="Model",
    ),
    "neo-bert": Layout(
        ("attn_qkv attn_output @fused @norms",), outputs=("enc.output_norm cls? cls.output?",), head="Model"
    ),
    "eurobert": _dense("@qkvo @mlp @norms", outputs=("output_norm",), head="Model"),
    "t5": Layout(
        (*_T5_ENCODER, *_T5_DECODER),
        outputs=("enc.output_norm dec.output_norm output=",),
        head="ForConditionalGeneration",
    ),
    "t5encoder": Layout(_T5_ENCODER, outputs=("enc.output_norm output?",), head="EncoderModel"),
    # mixtures of experts
    "grok": Layout(
        ("@qkvo @experts @mlp? @norms attn_output_norm layer_output_norm",), outputs=_MAYBE_TIED, derived=_AS_DENSE
    ),
    "dbrx": _dense("attn_qkv attn_output @experts:dense attn_norm attn_output_norm"),
    "olmoe": _dense("@qkvo @qk_norm:wide @experts:dense @norms"),
    "arctic": _dense("@qkvo @mlp:square @experts:dense @norms ffn_norm_exps", outputs=_MAYBE_TIED),
    "deepseek": Layout(("@qkvo", *_DEEPSEEK, "@norms"), outputs=_MAYBE_TIED, defaults=_NO_SIGMOID),
    "deepseek2": _latent(*_DEEPSEEK, defaults=_NO_SIGMOID),
    "deepseek2-ocr": Layout(("@qkvo", *_DEEPSEEK, "@norms"), outputs=_MAYBE_TIED, defaults=_NO_SIGMOID),
    "mistral4": _latent(*_DEEPSEEK, defaults=_NO_SIGMOID),
    "glm-dsa": _latent(*_DEEPSEEK, indexer=True, defaults=_NO_SIGMOID),
    "minicpm3": _latent("@mlp", derived={"v_head_dim": "hidden_size // num_attention_heads"}),
    "plm": _latent("@plain", tied=True),
    "glm4moe": Layout(
        (
            "@qkv+ attn_output attn_q_norm? attn_k_norm?",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            (f"{_EXPERTS_AFTER} and n_shared_experts", "@shared:counted"),
            "attn_norm post_attention_norm",
        ),
        outputs=_MAYBE_TIED,
    ),
    "bailingmoe": Layout(
        ("@qkvo @experts @shared:counted @norms",),
        derived={"head_dim": "qk_rope_head_dim"},
    ),
    "bailingmoe2": Layout(
        (
            "attn_qkv attn_output @qk_norm",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            (f"{_EXPERTS_AFTER} and n_shared_experts", "@shared"),
            "@norms",
        ),
        derived={"shared_expert_intermediate_size": "n_shared_experts * moe_intermediate_size"},
    ),
    "dots1": Layout(("@qkvo @qk_norm", *_DEEPSEEK, "@norms"), defaults={"expert_gating_func": 2}),
    "afmoe": Layout(
        (
            "@qkvo attn_gate @qk_norm",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            (f"{_EXPERTS_AFTER} and n_shared_experts", "@shared:counted"),
            "@norms post_attention_norm post_ffw_norm",
        ),
        outputs=_MAYBE_TIED,
    ),
    "ernie4_5-moe": Layout(
        (
            "@qkvo",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            (f"{_EXPERTS_AFTER} and {_HAS_SHARED}", "@shared"),
            "@norms",
        ),
        outputs=_MAYBE_TIED,
        tied=True,
        derived=_NO_SHARED,
    ),
    "exaone-moe": Layout(
        (
            "@qkvo @qk_norm",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b @shared"),
            "@norms",
        ),
        derived={"shared_expert_intermediate_size": "n_shared_experts * moe_intermediate_size"},
    ),
    "hunyuan-moe": _dense("@qkvo @qk_norm @experts:dense @shared @norms", outputs=_MAYBE_TIED, tied=True),
    "gpt-oss": _dense(
        "@qkvo+ attn_sinks @experts+ attn_norm post_attention_norm", derived={"head_dim": "qk_rope_head_dim"}
    ),
    "smallthinker": _dense("@qkvo @experts @norms", outputs=_MAYBE_TIED),
    "grovemoe": _dense(
        "@qkvo @qk_norm @experts ffn_gate_chexps ffn_up_chexps ffn_down_chexps @norms",
        outputs=_MAYBE_TIED,
        derived={"chunk_intermediate_size": "head_dim"},
    ),
    "minimax-m2": _dense("@qkvo @qk_norm:wide @experts:dense exp_probs_b @norms"),
    "mimo2": Layout(
        (
            "attn_q attn_k attn_v:own attn_output:own",
            ("is_sliding", "attn_sinks"),
            ("not is_sliding", "attn_sinks?"),
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            "@norms",
        ),
        defaults={"first_k_dense_replace": 1},  # MiMo-V2-Flash; no key tells
    ),
    "step35": Layout(
        (
            "attn_q attn_k attn_v:own attn_output:own attn_gate:heads @qk_norm",
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b @shared"),
            "@norms",
        ),
    ),
    # recurrent
    "mamba": _dense("@mamba attn_norm", outputs=_MAYBE_TIED, tied=True),
    "mamba2": _dense("@mamba2 attn_norm", outputs=_MAYBE_TIED),
    "rwkv6": _dense(
        _RWKV6,
        "time_mix_lerp_w? time_mix_lerp_k? time_mix_lerp_v? time_mix_lerp_r? time_mix_lerp_g?",  # older files
        "time_mix_key time_mix_value time_mix_first time_mix_ln+ channel_mix_lerp_k channel_mix_lerp_r "
        "channel_mix_key channel_mix_value channel_mix_receptance attn_norm+ attn_norm_2+",
        inputs=("token_embd token_embd_norm+",),
        outputs=("output_norm+ output",),
    ),
    "rwkv6qwen2": _dense(
        _RWKV6,
        "time_mix_key:grouped+ time_mix_value:grouped+ time_mix_receptance.bias time_mix_first? @mlp @norms",
        outputs=("output_norm output output_norm.bias?",),
    ),
    "rwkv7": _dense(
        _RWKV7,
        "time_mix_lerp_fused:6 time_mix_g1 time_mix_g2 time_mix_ln+ channel_mix_lerp_k channel_mix_key "
        "channel_mix_value attn_norm+ attn_norm_2+",
        inputs=("token_embd token_embd_norm+",),
        outputs=("output_norm+ output",),
    ),
    "arwkv7": Layout(
        (
            _RWKV7,
            "time_mix_ln? @mlp @norms",
            ("gate_low_rank_dim", "time_mix_g1 time_mix_g2 time_mix_lerp_fused:6"),
            ("not gate_low_rank_dim", "time_mix_lerp_fused"),
        ),
        defaults={"gate_low_rank_dim": 0},
    ),
    # layers of both kinds
    "jamba": Layout(
        (
            (_RECURRENT, "@mamba ssm_dt_norm ssm_b_norm ssm_c_norm"),
            (_ATTENTION, "@qkvo"),
            # Published models have experts in every second layer; no key tells which.
            ("num_local_experts and layer % 2 == 1", "@experts:dense @mlp?"),
            ("not num_local_experts or layer % 2 == 0", "@mlp @experts:dense?"),
            "@norms",
        ),
        outputs=_MAYBE_TIED,
    ),
    "falcon-h1": _dense(
        "@qkvo ssm_in:2 ssm_conv1d:2+ ssm_dt.bias ssm_a:2 ssm_d:2 ssm_norm:2? ssm_out @mlp @norms",
        outputs=_MAYBE_TIED,
    ),
    "granitehybrid": Layout(
        (
            (_RECURRENT, "@mamba2"),
            (_ATTENTION, "@qkvo"),
            ("not num_local_experts", "@mlp"),
            ("num_local_experts", "@experts:dense"),
            (f"num_local_experts and {_HAS_SHARED}", "@shared"),
            "@norms",
        ),
        outputs=_MAYBE_TIED,
        tied=True,
        derived=_NO_SHARED,
    ),
    "nemotron_h": Layout(
        (
            ("num_key_value_heads == 0 and intermediate_size == 0", "@mamba2"),
            ("num_key_value_heads and intermediate_size == 0", "@qkvo"),
            ("intermediate_size", "@plain"),
            "attn_norm",
        ),
        outputs=_MAYBE_TIED,
    ),
    "nemotron_h_moe": Layout(
        (
            ("num_key_value_heads == 0 and intermediate_size == 0", "@mamba2"),
            ("num_key_value_heads and intermediate_size == 0", "@qkvo"),
            ("intermediate_size", "ffn_gate_inp exp_probs_b ffn_up_shexp ffn_down_shexp"),
            ("intermediate_size and not moe_latent_size", "ffn_up_exps ffn_down_exps"),
            (
                "intermediate_size and moe_latent_size",
                "ffn_latent_down ffn_latent_up ffn_up_exps:latent ffn_down_exps:latent",
            ),
            "attn_norm",
        ),
        outputs=_MAYBE_TIED,
        defaults={"moe_latent_size": 0},
    ),
    "lfm2": Layout(
        ((_RECURRENT, "@shortconv"), (_ATTENTION, "@qkvo @qk_norm"), "@mlp @norms"),
        outputs=("token_embd_norm output= dense_2?",),
        tied=True,
        defaults={"dense_2_feat_out": 128},
    ),
    "lfm2moe": Layout(
        (
            (_RECURRENT, "@shortconv"),
            (_ATTENTION, "@qkvo @qk_norm"),
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b"),
            "@norms",
        ),
        outputs=("token_embd_norm output=",),
        tied=True,
    ),
    "plamo2": Layout(
        (
            (
                _RECURRENT,
                "ssm_in ssm_conv1d ssm_x:heads ssm_dt:heads+ ssm_a:heads ssm_d:heads ssm_out ssm_dt_norm:heads "
                "ssm_b_norm ssm_c_norm",
            ),
            (_ATTENTION, "attn_qkv:own @qk_norm:heads attn_output:own"),
            "@fused @norms post_attention_norm post_ffw_norm",
        ),
        outputs=_MAYBE_TIED,
        tied=True,
        derived={"time_step_dim": "max(64, hidden_size // 16)"},
    ),
    "plamo3": _dense(
        "attn_qkv:own @qk_norm attn_output:own @fused @norms post_attention_norm post_ffw_norm",
        outputs=_MAYBE_TIED,
        tied=True,
    ),
    "kimi-linear": Layout(
        (
            (
                _RECURRENT,
                "attn_q:kda attn_k:kda attn_v:kda attn_output:kda ssm_conv1d_q ssm_conv1d_k ssm_conv1d_v ssm_f_a "
                "ssm_f_b ssm_g_a ssm_g_b ssm_beta:kda ssm_a:kda ssm_dt.bias:kda ssm_norm:kda",
            ),
            (f"{_ATTENTION} and q_lora_rank", "@q_latent"),
            (f"{_ATTENTION} and not q_lora_rank", "attn_q:latent"),
            (_ATTENTION, "@latent attn_k_b attn_v_b attn_kv_b?"),
            (_DENSE_FIRST, "@mlp"),
            (_EXPERTS_AFTER, "@experts exp_probs_b @shared:counted"),
            "@norms",
        ),
        defaults={"n_shared_experts": 1},
    ),
}
