"""Which tensors each of PEFT's methods gives to a module that it adapts, and which to the whole model.

After `peft/tuners/<method>/layer.py` and `model.py` of PEFT 0.21. Shapes and conditions are in `formula`'s language,
over the fields of adapter_config.json and what `adapter_prediction` says of the module:

outputs, inputs     of its weight
r                   its rank: its own where a pattern names it, else the adapter's
experts             matrices that the weight holds
kernel_…            rows and columns of a convolution's kernel
has_bias            whether the module has one
feedforward         whether `feedforward_modules` names it
modules             how many modules are adapted, and `sizes` the sum of their weights' elements
width, keys         of the model: its token embedding's columns; keys and values of all layers
small_…, large_…    the factors of `outputs` and `inputs` (LoKr)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """One tensor."""

    part: str  # as `adapters.ENDS` calls it; a number that counts from 0 is written `{}`
    shape: str
    when: str = ""
    times: str = ""  # how many, where they are counted


class Method(NamedTuple):
    """What one `peft_type` stores; random projections that nobody trains are left out."""

    pieces: tuple[Piece, ...] = ()  # of each adapted module
    embedding: tuple[Piece, ...] = ()  # of an embedding, where that differs
    convolution: tuple[Piece, ...] = ()  # of a convolution over images
    stacked: tuple[Piece, ...] = ()  # of all experts of a layer
    shared: tuple[Piece, ...] = ()  # of the whole model
    rank: str = "r"  # the field that a pattern overrides
    pattern: str = "rank_pattern"
    dimensions: int = 2  # of the weights that can be adapted
    usual_target: str = ""  # role of what is adapted where the configuration names nothing
    defaults: Mapping[str, Any] = {}  # fields that older configurations lack
    derived: Mapping[str, str] = {}  # words of the shapes, and fields that may be null


_LORA = (Piece("lora_A", "r, inputs"), Piece("lora_B", "outputs, r"))
_SHARE = "max(1, round(outputs * inputs / sizes * (n_frequency * modules)))"
_SMALL_WHOLE = "not decompose_both or 2 * r >= max(small_outputs, small_inputs)"
_LARGE_WHOLE = "2 * r >= max(large_outputs, large_inputs)"
#: GLoRA's paths: which of them, over how many rows and columns, by which field, in the vector's shape.
_GLORA = (
    ("A", "outputs", "inputs", "config_A_B", "outputs, 1"),
    ("B", "outputs", "inputs", "config_A_B", "outputs, 1"),
    ("C", "inputs", "1", "config_C", "inputs, 1"),
    ("D", "outputs", "1", "config_D_E", "outputs"),
    ("E", "outputs", "1", "config_D_E", "outputs"),
)
_TOKENS = "num_virtual_tokens * num_transformer_submodules"
_PROMPT = Method(
    shared=(Piece("prompt_embeddings", f"{_TOKENS}, width"),),
    defaults={"num_transformer_submodules": 1},
)


def _glora(path: str, rows: str, columns: str, field_: str, vector: str) -> tuple[Piece, ...]:
    has = "True" if path in "AB" else "has_bias"
    return (
        Piece(f"glora_{path}.Xd", f"{rows}, r", f"{has} and {field_} == 'lora'"),
        Piece(f"glora_{path}.Xu", f"r, {columns}", f"{has} and {field_} == 'lora'"),
        Piece(f"glora_{path}.X", vector, f"{has} and {field_} == 'vector'"),
        Piece(f"glora_{path}.X", "1", f"{has} and {field_} == 'constant'"),
    )


#: `peft_type` → what it stores. Without a line: AdaMSS, whose sizes are told by the base's weights, Shadow and X-LoRA,
#: which are models of their own, and adaption prompts, whose target is no weight.
METHODS: Mapping[str, Method] = {
    "LORA": Method(
        pieces=(
            *_LORA,
            Piece("lora_B_bias", "outputs", "lora_bias"),
            Piece("lora_diag", "r", "kasa_config is not None"),
            Piece("magnitude", "outputs", "use_dora"),
        ),
        embedding=(
            Piece("lora_embedding_A", "r, outputs"),
            Piece("lora_embedding_B", "inputs, r"),
            Piece("magnitude", "inputs", "use_dora"),
        ),
        convolution=(Piece("lora_A", "r, inputs, kernel_rows, kernel_columns"), Piece("lora_B", "outputs, r, 1, 1")),
        stacked=(Piece("lora_A", "experts * r, inputs"), Piece("lora_B", "outputs, experts * r")),
    ),
    "ADALORA": Method(
        (Piece("lora_A", "init_r, inputs"), Piece("lora_B", "outputs, init_r"), Piece("lora_E", "init_r, 1")),
        rank="init_r",
    ),
    "BEFT": Method((Piece("beft_bias", "1, outputs"),)),
    # Without its CUDA extension PEFT makes one factor whatever the configuration says.
    "BOFT": Method(
        (Piece("boft_R", "boft_n_butterfly_factor, inputs // block, block, block"), Piece("boft_s", "outputs, 1")),
        derived={"block": "boft_block_size or inputs // boft_block_num"},
    ),
    "C3A": Method(
        (Piece("c3a_kernel", "outputs // block_size, inputs // block_size, block_size"),),
        rank="block_size",
        pattern="block_size_pattern",
    ),
    "CARTRIDGE": Method(shared=(Piece("prompt_embeddings", "num_virtual_tokens, keys"),)),
    "CPT": Method(shared=(Piece("prompt_embeddings", "len(cpt_token_ids), width"),)),
    "DEFT": Method((Piece("deft_P", "outputs, r"), Piece("deft_R", "r, inputs", "not para"))),
    "DELORA": Method((Piece("delora_A", "r, inputs"), Piece("delora_B", "outputs, r"), Piece("delora_lambda", "1"))),
    "FOURIERFT": Method(
        (Piece("fourierft_spectrum", "n_frequency"),), rank="n_frequency", pattern="n_frequency_pattern"
    ),
    "FROD": Method(
        (
            Piece("frod_lambda_l", "inputs"),
            Piece(
                "frod_lambda_s_values",
                "max(1, min(scaled(inputs * inputs, sparse_rate), inputs * (inputs - 1)))",
                "sparse_rate > 0",
            ),
        )
    ),
    "GLORA": Method(tuple(piece for path in _GLORA for piece in _glora(*path))),
    "GRALORA": Method(
        (
            Piece("gralora_A", "gralora_k, inputs // gralora_k, r"),
            Piece("gralora_B", "gralora_k, r, outputs // gralora_k"),
            Piece("gralora_A_general", "hybrid_r, inputs", "hybrid_r > 0"),
            Piece("gralora_B_general", "outputs, hybrid_r", "hybrid_r > 0"),
        ),
        defaults={"hybrid_r": 0},
    ),
    "HIRA": Method(
        (Piece("hira_A", "r, inputs"), Piece("hira_B", "outputs, r")),
        embedding=(Piece("hira_embedding_A", "r, outputs"), Piece("hira_embedding_B", "inputs, r")),
    ),
    "HRA": Method((Piece("hra_u", "inputs, r"),)),
    "IA3": Method((Piece("ia3_l", "1, inputs", "feedforward"), Piece("ia3_l", "outputs, 1", "not feedforward"))),
    # What layers share is stored with each of them.
    "LILY": Method(
        (
            Piece("lily_A", "r, inputs"),
            Piece("lily_B", "num_B * r, outputs"),
            Piece("lily_router", "num_B, r"),
        )
    ),
    "LN_TUNING": Method(
        (Piece("ln_tuning_layers", "outputs"), Piece("ln_tuning_layers_bias", "outputs", "has_bias")), dimensions=1
    ),
    "LOHA": Method(
        (
            Piece("hada_w1_a", "outputs, r"),
            Piece("hada_w1_b", "r, inputs"),
            Piece("hada_w2_a", "outputs, r"),
            Piece("hada_w2_b", "r, inputs"),
        )
    ),
    # A Kronecker product of a small and a large factor, each whole or in two where the rank is small.
    "LOKR": Method(
        (
            Piece("lokr_w1", "small_outputs, small_inputs", _SMALL_WHOLE),
            Piece("lokr_w1_a", "small_outputs, r", f"not ({_SMALL_WHOLE})"),
            Piece("lokr_w1_b", "r, small_inputs", f"not ({_SMALL_WHOLE})"),
            Piece("lokr_w2", "large_outputs, large_inputs", _LARGE_WHOLE),
            Piece("lokr_w2_a", "large_outputs, r", f"not ({_LARGE_WHOLE})"),
            Piece("lokr_w2_b", "r, large_inputs", f"not ({_LARGE_WHOLE})"),
        ),
        defaults={"decompose_factor": -1},
    ),
    "MISS": Method(
        (
            Piece("miss_block", "r, outputs", "init_weights not in ['bat', 'mini']"),
            Piece("miss_block", "outputs // r, r, r", "init_weights == 'bat'"),
            Piece("miss_block", "r, mini_r", "init_weights == 'mini'"),
        )
    ),
    "MULTITASK_PROMPT_TUNING": Method(
        shared=(
            *_PROMPT.shared,
            Piece("prefix_task_cols", f"num_tasks, {_TOKENS}, num_ranks"),
            Piece("prefix_task_rows", "num_tasks, num_ranks, width"),
        ),
        defaults=_PROMPT.defaults,
    ),
    # Rotations of blocks of inputs, each by the part of a skew matrix above its diagonal.
    "OFT": Method(
        (Piece("oft_R", "1 if block_share else inputs // block, block * (block - 1) // 2"),),
        derived={"block": "oft_block_size or inputs // r"},
    ),
    "OSF": Method(
        (
            Piece("osf_svd_params.S_low", "low"),
            Piece("osf_svd_params.U_low", "outputs, low"),
            Piece("osf_svd_params.V_low", "low, inputs"),
        ),
        rank="effective_rank",
        derived={"effective_rank": "min(outputs, inputs) // 2", "low": "min(outputs, inputs) - effective_rank"},
    ),
    "PEANUT": Method(
        (
            Piece("peanut_A", "r, outputs"),
            Piece("peanut_B", "outputs, r"),
            Piece("peanut_encoders.{}", "r, r", times="depth"),
            Piece("peanut_decoders.{}", "r, r", times="depth"),
        )
    ),
    "POLY": Method(
        (
            Piece("poly_lora_A", "n_splits, n_skills, inputs // n_splits, r"),
            Piece("poly_lora_B", "n_splits, n_skills, r, outputs // n_splits"),
            Piece("poly_router.module_logits", "n_tasks, n_splits * n_skills"),
        )
    ),
    "PREFIX_TUNING": Method(shared=(Piece("prompt_embeddings", "num_virtual_tokens, keys"),)),
    "PROMPT_TUNING": _PROMPT,
    "P_TUNING": _PROMPT,
    "PSOFT": Method(
        (
            Piece("psoft_R", "r * (r - 1) // 2", "psoft_orth"),
            Piece("psoft_R", "r, r", "not psoft_orth"),
            Piece("psoft_R.vector_a", "r", "psoft_mag_a"),
            Piece("psoft_R.vector_b", "r", "psoft_mag_b"),
        )
    ),
    "PVERA": Method((Piece("pvera_lambda_b", "outputs"), Piece("pvera_lambda_d", "2 * r"))),
    "RANDLORA": Method(
        (
            Piece("randlora_gamma", "ceil(min(outputs, inputs) / r), min(outputs, inputs)"),
            Piece("randlora_lambda", "r, ceil(min(outputs, inputs) / r)"),
        )
    ),
    "ROAD": Method(
        tuple(
            Piece(part, shape, f"variant == '{variant}'")
            for variant, shape in (("road_1", "outputs // 2"), ("road_2", "outputs"), ("road_4", "2 * outputs"))
            for part in ("road_theta", "road_alpha")
        )
    ),
    "SHIRA": Method((Piece("shira_weight", "r * (outputs + inputs)"),)),
    "SUPERTUNING": Method(
        (
            Piece("supertuning_values", "scaled(outputs * inputs, 1 - sparsity)"),
            Piece("supertuning_lora_A", "r, inputs", "r is not None"),
            Piece("supertuning_lora_B", "outputs, r", "r is not None"),
        )
    ),
    "TINYLORA": Method(
        shared=(Piece("tinylora_v.{}", "u", times="max(1, round(modules * (1.0 - weight_tying)))"),),
    ),
    "TRAINABLE_TOKENS": Method(
        (Piece("trainable_tokens_delta", "len(token_indices), inputs"),), usual_target="embed_tokens"
    ),
    "UNILORA": Method(shared=(Piece("unilora_theta_d", "theta_d_length"),)),
    "VBLORA": Method(
        (
            Piece("vblora_logits_A", "r, inputs // vector_length, num_vectors", "not save_only_topk_weights"),
            Piece("vblora_logits_B", "outputs // vector_length, r, num_vectors", "not save_only_topk_weights"),
            Piece("vblora_logits_A_topk_weights", "r, inputs // vector_length, topk - 1", "save_only_topk_weights"),
            Piece("vblora_logits_B_topk_weights", "outputs // vector_length, r, topk - 1", "save_only_topk_weights"),
        ),
        shared=(Piece("vblora_vector_bank", "num_vectors, vector_length"),),
    ),
    # Two vectors a module; the projections between them are random, shared, and buffers where they are saved.
    "VERA": Method((Piece("vera_lambda_b", "outputs"), Piece("vera_lambda_d", "r"))),
    "WAVEFT": Method(
        (Piece("waveft_spectrum", f"{_SHARE} if proportional_parameters else n_frequency"),),
        rank="n_frequency",
        pattern="n_frequency_pattern",
    ),
}
