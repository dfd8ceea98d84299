"""Adapters: small weights that change a model's own, recognised by the suffixes of their names.

`adapter_config.json` (PEFT) says what to expect; kohya's and diffusers' files have no configuration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from inspector.adapters.modules import held, names_in_files
from inspector.architectures.data.conventions import TAILS
from inspector.model import Adapter, Prediction, Tensor

#: Method → its parameters, and the dimension of each that shows the rank: `…q_proj.hira_A`.
_OWN_NAMES: Mapping[str, Mapping[str, int | None]] = {
    "adamss": {"adamss_newB": None},
    "beft": {"beft_bias": None},
    "c3a": {"c3a_kernel": None},
    "deft": {"deft_P": 1, "deft_R": None},
    "delora": {"delora_A": 0, "delora_B": None, "delora_lambda": None, "delora_w_norm": None},
    "fourierft": {"fourierft_spectrum": None},
    "frod": {"frod_lambda_l": None, "frod_lambda_s_values": None},
    "glora": {f"glora_{path}.{leaf}": None for path in "ABCDE" for leaf in ("Xd", "Xu", "X", "zeros")},
    "gralora": {"gralora_A": 2, "gralora_B": None},
    "hira": {"hira_A": 0, "hira_B": None, "hira_embedding_A": 0, "hira_embedding_B": None},
    "hra": {"hra_u": 1},
    "miss": {"miss_block": None},
    "osf": {f"osf_svd_params.{factor}_low": None for factor in "SUV"},
    "poly": {"poly_lora_A": 3, "poly_lora_B": None, "poly_router.module_logits": None},
    "psoft": {"psoft_R.vector_a": 0, "psoft_R.vector_b": None},
    "pvera": {"pvera_lambda_b": None, "pvera_lambda_d": None, "pvera_A": None, "pvera_B": None},
    "randlora": {"randlora_lambda": 0, "randlora_gamma": None, "randlora_A": None, "randlora_B": None},
    "road": {"road_alpha": None, "road_theta": None},
    "shira": {"shira_weight": None, "shira_indices": None},
    "supertuning": {"supertuning_values": None, "supertuning_indices": None},
    "tinylora": {"tinylora_A": 0, "tinylora_B": None, "tinylora_P": None},
    "unilora": {f"unilora_{kind}_{matrix}": None for kind in ("indices", "scales") for matrix in "AB"},
    "vblora": {
        f"vblora_logits_{matrix}{kind}": None for matrix in "AB" for kind in ("", "_topk_weights", "_topk_indices")
    },
    "waveft": {"waveft_spectrum": None},
}
#: The same for parts that are separate layers: `…q_proj.lily_A.weight`.
_OWN_LAYERS: Mapping[str, Mapping[str, int | None]] = {
    "gralora": {"gralora_A_general": 0, "gralora_B_general": None},
    "lily": {"lily_A": 0, "lily_B": None, "lily_router": None},
    "peanut": {"peanut_A": 0, "peanut_B": None},
    "psoft": {"psoft_R": None},
    "supertuning": {"supertuning_lora_A": 0, "supertuning_lora_B": None},
}
#: Parts of which a module has several: `…q_proj.adamss_A.0`, `…q_proj.peanut_encoders.1.weight`.
_COUNTED = re.compile(r"\.((adamss|peanut)_(?:A|B|encoders|decoders)\.\d{1,4})(?:\.weight)?$")


#: What the sampler of LoRA's MonteCLoRA variant has: two priors that are trained, and two buffers.
MONTECLORA = ("std_prior", "expert_weights_prior", "gaussian_var_prior", "expert_weights")


class Ending(NamedTuple):
    """What the suffix of a tensor's name says about it."""

    text: str  # the suffix itself; "" for a name that is complete in itself
    method: str  # "" if several share the part
    part: str  # of the module's adapter: "lora_A"
    rank_at: int | None = None  # the dimension that is the rank


#: Suffixes of adapters' names: the first that fits, longer ones first.
ENDS: tuple[Ending, ...] = tuple(
    Ending(*each)
    for each in (
        (".lora_A.weight", "lora", "lora_A", 0),
        (".lora_B.weight", "lora", "lora_B", None),
        (".lora_B.bias", "lora", "lora_B_bias", None),
        (".lora_embedding_A", "lora", "lora_embedding_A", 0),
        (".lora_embedding_B", "lora", "lora_embedding_B", None),
        (".lora_magnitude_vector.weight", "dora", "magnitude", None),
        (".lora_magnitude_vector", "dora", "magnitude", None),
        (".lora.down.weight", "lora", "lora_A", 0),
        (".lora.up.weight", "lora", "lora_B", None),
        (".lora_linear_layer.down.weight", "lora", "lora_A", 0),
        (".lora_linear_layer.up.weight", "lora", "lora_B", None),
        (".lora_down.weight", "lora", "lora_A", 0),
        (".lora_up.weight", "lora", "lora_B", None),
        (".lora_mid.weight", "lora", "lora_mid", None),
        (".dora_scale", "dora", "magnitude", None),
        (".weight.lora_a", "lora", "lora_A", 0),  # GGUF
        (".weight.lora_b", "lora", "lora_B", None),
        (".lora_A", "lora", "lora_A", 0),
        (".lora_B", "lora", "lora_B", None),
        (".lora_E", "adalora", "lora_E", None),
        (".lora_diag", "lora", "lora_diag", None),
        (".lora_velora_embed", "lora", "lora_velora_embed", None),
        *((f".{part}", "lora", part, None) for part in (f"lora_monteclora_sampler.{leaf}" for leaf in MONTECLORA)),
        (".hada_w1_a", "loha", "hada_w1_a", 1),
        (".hada_w1_b", "loha", "hada_w1_b", None),
        (".hada_w2_a", "loha", "hada_w2_a", None),
        (".hada_w2_b", "loha", "hada_w2_b", None),
        (".hada_t1", "loha", "hada_t1", None),
        (".hada_t2", "loha", "hada_t2", None),
        (".lokr_w1", "lokr", "lokr_w1", None),
        (".lokr_w1_a", "lokr", "lokr_w1_a", None),
        (".lokr_w1_b", "lokr", "lokr_w1_b", None),
        (".lokr_w2", "lokr", "lokr_w2", None),
        (".lokr_w2_a", "lokr", "lokr_w2_a", 1),
        (".lokr_w2_b", "lokr", "lokr_w2_b", None),
        (".lokr_t2", "lokr", "lokr_t2", None),
        (".ia3_l", "ia3", "ia3_l", None),
        (".vera_lambda_b", "vera", "vera_lambda_b", None),
        (".vera_lambda_d", "vera", "vera_lambda_d", 0),
        (".vera_A", "vera", "vera_A", None),
        (".vera_B", "vera", "vera_B", None),
        (".oft_R.weight", "oft", "oft_R", None),
        (".oft_r", "oft", "oft_R", None),
        (".boft_R", "boft", "boft_R", None),
        (".boft_s", "boft", "boft_s", None),
        (".token_adapter.trainable_tokens_delta", "lora", "trainable_tokens_delta", None),
        (".trainable_tokens_delta", "trainable_tokens", "trainable_tokens_delta", None),
        (".ln_tuning_layers.weight", "ln_tuning", "ln_tuning_layers", None),
        (".ln_tuning_layers.bias", "ln_tuning", "ln_tuning_layers_bias", None),
        (".adaption_gate", "adaption_prompt", "adaption_gate", None),
        (".adaption_prompt", "adaption_prompt", "adaption_prompt", None),
        *((f".{part}", method, part, rank) for method, parts in _OWN_NAMES.items() for part, rank in parts.items()),
        *(
            (f".{part}.weight", method, part, rank)
            for method, parts in _OWN_LAYERS.items()
            for part, rank in parts.items()
        ),
    )
)
#: Prompt tensors, which belong to no module.
PROMPTS = frozenset({"prompt_embeddings", "prefix_task_cols", "prefix_task_rows"})
#: Parts that have as many rows as the weight that they serve.
_OUTPUTS = frozenset({"lora_B", "hada_w1_a"})
#: The names under which projections shared by all modules are stored.
WHOLE = "base_model"
#: Names that are complete in themselves.
_WHOLE = re.compile(
    rf"(?:{'|'.join(sorted(PROMPTS))})|base_model\."
    r"(?:(vblora)_vector_bank|(unilora)_theta_d|(tinylora)_v\.\d{1,4}|(frod)_(?:V|s_indices|s_size)\.\w+)"
)
#: A constant next to each pair in kohya's files, not a parameter.
ALPHA = ".alpha"
#: Untrained parts: kohya's scale, random projections, positions of a sparse matrix's trained numbers.
CONSTANTS = frozenset(
    (
        *("alpha", "adamss_newB", "delora_w_norm", "frod_V", "frod_s_indices", "frod_s_size"),
        *("lora_velora_embed", *(f"lora_monteclora_sampler.{leaf}" for leaf in MONTECLORA[2:])),
        *("shira_indices", "supertuning_indices", "tinylora_A", "tinylora_B", "tinylora_P"),
        *(f"{method}_{matrix}" for method in ("vera", "pvera", "randlora") for matrix in "AB"),
        *(f"unilora_{kind}_{matrix}" for kind in ("indices", "scales") for matrix in "AB"),
        *(f"vblora_logits_{matrix}_topk_indices" for matrix in "AB"),
        *(f"glora_{path}.zeros" for path in "ABCDE"),
    )
)
#: Modules whose parameters are adapted individually, and those parameters in the order of wrapping, the outermost last.
EXPERTS = ".experts"
STACKS = ("gate_up_proj", "down_proj")
BASE_LAYER = ".base_layer"
#: Methods that have another method's tensors and further ones.
MORE_THAN: Mapping[str, str] = {"dora": "lora", "adalora": "lora"}

_ANY_END = tuple(ending.text for ending in ENDS)
#: Last words that denote a role alone, and the longest of them.
_TAIL_WORDS = frozenset(tail for tail in TAILS if "." not in tail)
_LONGEST_TAIL = max(map(len, _TAIL_WORDS))
#: The prefix that names the part of a pipeline.
_PART = re.compile(r"^(?:unet|transformer|te\d?|text_encoder(?:_2)?)_")
_KOHYA = re.compile(r"^(?:lora_(?:unet|te\d*|transformer|prior_te)|lycoris)_")  # and LyCORIS's own wrapper


def adapter_of(tensors: Sequence[Tensor], config: Mapping[str, Any] | None) -> Adapter | None:
    """The adapter in these tensors; None if there is none, or only a few tensors beside a model's own."""
    found = [(tensor, ending) for tensor in tensors if (ending := _ending_of(tensor.name)) is not None]
    if not found and config is not None:
        found = list(_by_prefix(tensors, config))
    if not found or (config is None and (len(found) * 2 < len(tensors) or _has_all_bases(tensors, len(found)))):
        return None
    stacks = _stacks_changed((config or {}).get("target_parameters"))
    return Adapter(
        method=_most_specific_method(ending.method for _, ending in found),
        served={tensor.name: _weight_served(tensor.name, ending.text, stacks) for tensor, ending in found},
        parts={tensor.name: ending.part for tensor, ending in found},
        ranks=_counted_ranks(found),
        constants=frozenset(tensor.name for tensor, ending in found if ending.part in CONSTANTS),
        config=config or {},
    )


def _has_all_bases(tensors: Sequence[Tensor], pieces: int) -> bool:
    """Whether every adapted module's own weight is there, as in `PeftModel.state_dict()`.

    An adapter has at most those of embeddings. Methods have up to four pieces a module.
    """
    return 4 * sum(tensor.name.endswith(f"{BASE_LAYER}.weight") for tensor in tensors) >= pieces


def _most_specific_method(named: Iterable[str]) -> str:
    """The method of the tensors: if both are possible, the one that has more than the other."""
    methods = {method for method in named if method}
    special = methods - set(MORE_THAN.values()) or methods
    return min(special, default="")


def _counted_ranks(found: Iterable[tuple[Tensor, Ending]]) -> dict[int, int]:
    """Rank → how many tensors have it."""
    ranks = Counter(
        tensor.shape[ending.rank_at]
        for tensor, ending in found
        if ending.rank_at is not None and len(tensor.shape) > ending.rank_at
    )
    return dict(sorted(ranks.items()))


def _by_prefix(tensors: Sequence[Tensor], config: Mapping[str, Any]) -> Iterator[tuple[Tensor, Ending]]:
    """Tensors of a method without a table, under the name in its configuration."""
    method = str(config.get("peft_type") or "").lower()[:40]
    for tensor in tensors:
        words = tensor.name.split(".")
        length = 2 if words[-1] in ("weight", "bias") else 1
        if words[0] == "base_model" and len(words) > length + 1:
            yield tensor, Ending("." + ".".join(words[-length:]), method, words[-length])


def _ending_of(name: str) -> Ending | None:
    """The adapter suffix of a name; None if it has none."""
    if name.endswith(_ANY_END):
        return next(ending for ending in ENDS if name.endswith(ending.text))
    if whole := _WHOLE.fullmatch(name):
        part = name.removeprefix("base_model.")
        first = part.partition(".")[0]
        method = whole[whole.lastindex] if whole.lastindex else "prompt"
        return Ending("", method, first if first in CONSTANTS else part)
    if counted := _COUNTED.search(name):
        return Ending(counted[0], counted[2], counted[1])
    return Ending(ALPHA, "", "alpha") if name.endswith(ALPHA) and _KOHYA.match(name) else None


def are_known(method: str, names: Iterable[str]) -> bool:
    """Whether it is known how a method names its tensors, or some of these have names of a method that is."""
    return any(ending.method == method for ending in ENDS) or any(_ending_of(name) for name in names)


def is_shared(name: str) -> bool:
    """Whether a tensor serves the whole model, and no module of it: TinyLoRA's vectors, FRoD's bases."""
    return _WHOLE.fullmatch(name) is not None


def _stacks_changed(targets: Any) -> tuple[str, ...]:
    """The parameters of experts that an adapter changes, in the order in which they are wrapped; by default all."""
    words = {target.rpartition(".")[2] for target in targets or () if isinstance(target, str)}
    return tuple(stack for stack in STACKS if stack in words) or STACKS


def _weight_served(name: str, end: str, stacks: Sequence[str]) -> str:
    """The weight that an adapter's tensor changes, under the base model's name.

    Parameters of one module are wrapped around each other, the last outermost: of `experts.base_layer.lora_A` and
    `experts.lora_A` the first is `gate_up_proj`'s.
    """
    if not end:
        return name.removeprefix("base_model.") + ".weight"
    base = _base_name(name.removesuffix(end))
    module = base.removesuffix(".weight")
    depth = module.count(BASE_LAYER)
    module = module.removesuffix(BASE_LAYER * depth)
    return f"{module}.{stacks[-1 - depth]}" if module.endswith(EXPERTS) and depth < len(stacks) else base


@lru_cache(maxsize=64)  # the pieces of one weight are adjacent
def _base_name(stem: str) -> str:
    stem = stem.removeprefix("base_model.model.").removeprefix("base_model.")
    return (_with_dots(stem) if _KOHYA.match(stem) else stem) + ".weight"


def _with_dots(stem: str) -> str:
    """`lora_unet_down_blocks_1_attentions_0_attn1_to_q` → `unet_down_blocks.1.attentions.0.attn1.to_q`."""
    stem = (
        re.sub(r"_(\d+)(?=_|$)", r".\1.", stem.removeprefix("lora_").removeprefix("lycoris_"))
        .replace("._", ".")
        .replace("..", ".")
        .strip(".")
    )
    stem = stem.replace("mid_block_", "mid_block.")  # the one block without a number
    return ".".join(map(_with_tail, stem.split(".")))


def _with_tail(word: str) -> str:
    """`attn1_to_q` → `attn1.to_q`: the known word at the end set apart."""
    at = word.find("_", max(0, len(word) - _LONGEST_TAIL - 1))
    while at >= 0:
        if word[at + 1 :] in _TAIL_WORDS:
            return f"{word[:at]}.{word[at + 1 :]}"
        at = word.find("_", at + 1)
    return word


def resolved(adapter: Adapter, base: Prediction) -> Adapter:
    """The adapter with the base's own names for the weights that it changes, if they are written differently.

    PEFT's names are those in memory. kohya joins the words of a name with `_`, for XL with the original code's blocks;
    diffusers prefixes the name of the pipeline's part.
    """
    in_files = names_in_files((*base.expected, *base.tied), base.config)
    served = {name: in_files.get(weight, weight) for name, weight in adapter.served.items()}
    adapter = adapter._replace(served=served, in_files=in_files)
    names = [name for row in base.expected if row.part == "weight" for name in row.names()]
    known = frozenset(names)
    if all(weight in known for weight in served.values()):
        return adapter
    per_block = base.config.values.get("layers_per_block", 2)
    flat = {_with_underscores(name): name for name in names}
    if isinstance(per_block, int):
        flat |= {
            _with_underscores(other): name for name in names if (other := _original_block(name, per_block)) != name
        }
    for name, weight in served.items():
        joined = _with_underscores(weight)
        served[name] = weight if weight in known else flat.get(joined) or flat.get(_PART.sub("", joined)) or weight
    return adapter


def _with_underscores(name: str) -> str:
    return name.replace(".", "_")


def _original_block(name: str, per_block: int) -> str:
    """A denoiser's block with the original code's number, which also counts convolutions and resamplings."""
    match = re.match(r"(down|up)_blocks\.(\d+)\.attentions\.(\d+)\.", name)
    if match:
        first, side = (1, "input") if match[1] == "down" else (0, "output")
        number = first + int(match[2]) * (per_block + 1) + int(match[3])
        return f"{side}_blocks.{number}.1.{name[match.end() :]}"
    return name.replace("mid_block.attentions.0.", "middle_block.1.")


def labels_stored(adapter: Adapter, base: Prediction, tensors: Iterable[Tensor]) -> int | None:
    """How many labels the base's head has: by the head that is stored, or by what changes it; None without either."""
    shapes = {
        adapter.served[tensor.name] if adapter.parts.get(tensor.name) in _OUTPUTS else _bare(tensor.name): tensor.shape
        for tensor in tensors
    }
    for row in held(base.expected, base.config):
        shape = shapes.get(row.name, ())
        if "num_labels" in row.formula and len(shape) == len(row.shape):
            return shape[row.formula.index("num_labels")]
    return None


def _bare(name: str) -> str:
    """A name without what PEFT sets in front of it: `base_model.classifier.weight` beside a prompt."""
    return base_names([name]).get(name, name.removeprefix(f"{WHOLE}."))


def base_names(names: Iterable[str], in_files: Mapping[str, str] = {}) -> dict[str, str]:
    """Whole weights saved with an adapter → their names in the base model.

    Args:
        in_files: `Adapter.in_files`.
    """
    renamed = {}
    for name in names:
        bare = name.removeprefix("base_model.model.")
        bare = re.sub(r"\.(base_layer|modules_to_save(\.default)?|original_module)(?=\.)", "", bare)
        if bare != name:
            renamed[name] = in_files.get(bare, bare)
    return renamed
