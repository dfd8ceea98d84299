"""Names that training frameworks give to what they save along with a model's weights.

PyTorch, Lightning, DeepSpeed, Megatron-LM, Accelerate, Hugging Face's Trainer, Apex and timm.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

#: Keys of the weights in what they save.
WEIGHTS = (
    "state_dict",
    "model_state_dict",
    "model_state",
    "model_weights",
    "model",
    "module",
    "network",
    "net",
    "net_state_dict",
    "generator",
    "params_ema",
    "params",
    "weights",
)
#: Keys of what no forward pass needs.
STATES = frozenset(
    """
    optimizer optimizers optimizer_weights optimizer_state_dict optimizer_state optimizer_states optimizer_dict optim
    optims optim_state
    optim_state_dict lr_scheduler lr_schedulers lr_scheduler_state_dict lr_schedule scheduler schedulers
    scheduler_state_dict opt_param_scheduler scaler grad_scaler amp amp_scaler loss_scaler loops callbacks rng
    rng_state rng_states rng_tracker_states cuda_rng_state cuda_rng_states random_rng_state torch_rng_state np_rng_state
    random_states dataloader dataloader_state sampler train_state trainer
    """.split()  # noqa: SIM905  a list of words reads better without a hundred quotes
)
#: Keys of copies of the weights, averaged over the steps.
AVERAGES = frozenset(
    "ema model_ema ema_model ema_state_dict state_dict_ema ema_weights shadow_params model_ema_state_dict params_ema".split()  # noqa: E501, SIM905
)
#: Per-parameter state of optimizers.
MOMENTS = frozenset(
    """
    exp_avg exp_avg_sq max_exp_avg_sq exp_avg_sq_row exp_avg_sq_col exp_inf momentum_buffer square_avg grad_avg
    acc_delta sum prev step_size ax mu_product eta mu step v_row v_col
    """.split()  # noqa: SIM905  the same
)
#: Full-precision copies of weights that are trained in half precision.
MASTERS = frozenset(
    """
    single_partition_of_fp32_groups fp32_flat_groups fp32_groups_flat fp32_from_fp16_params fp32_from_float16_params
    master_param master_params master_weights main_param fp32_param
    """.split()  # noqa: SIM905  the same
)

#: Single numbers of a run beside the weights, by whole name: nanoGPT's, and those that Lightning's loops return.
SCALARS = frozenset("best_val_loss val_loss best_loss loss best_metric iter_num global_step epoch lr".split())  # noqa: SIM905
#: Files that ComfyUI keeps as a row of bytes beside a text encoder's weights (`comfy/text_encoders`).
FILES = frozenset({"spiece_model", "tekken_model"})


def is_data(name: str, dtype: str, shape: Sequence[int]) -> bool:
    """Whether a tensor is a file's bytes, a counter, or a number that a run measured: nothing that is trained."""
    number = prod(shape) == 1 and (name in SCALARS or dtype.startswith(("I", "U", "BOOL")))
    return number or (dtype == "U8" and name in FILES)


def is_state(name: str) -> bool:
    """Whether a tensor's name belongs to a training run's state, not to a weight."""
    words = name.split(".")
    if words[0] in STATES or words[0] in AVERAGES:
        return True
    # Deeper: an optimizer saved alone, or within an application's state. A module may be called `state` as well.
    if len(words) < 3 or "state" not in words[:-1] or words[-1] not in MOMENTS:
        return False
    return words[0] == "state" or not STATES.isdisjoint(words[: words.index("state")])


def kind_of(name: str) -> str:
    """What a tensor of a training run's state is, in a word or two; empty if the name does not say."""
    words = name.split(".")
    named = [word for word in words if not word.isdigit()]
    if any(word in MASTERS for word in words):
        return "master weights"
    if words[0] in AVERAGES:
        return "averaged weights (EMA)"
    return named[-1] if named and named[-1] in MOMENTS else ""
