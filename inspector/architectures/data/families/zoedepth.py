"""ZoeDepth: relative depth by DPT's neck and head, and metric depth by bins that move from layer to layer.

Of several sets of bins each has a name, which is a word in its tensors' names. Those of the published models are known.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.depth_anything import convolution, head, neck
from inspector.architectures.table import Family, Include, Row

PUBLISHED = ("nyu", "kitti")
ONE, MANY = "len(bin_configurations) == 1", "len(bin_configurations) > 1"
SEED, BINS = "bottleneck_features", "bin_embedding_dim"


def metric(role: str, name: str, shape: str, when: str = "") -> Row:
    """A convolution of one by one."""
    return convolution(role, f"metric_head.{name}", f"{shape}, 1, 1", when=when, group="head")


def two(role: str, name: str, widths: tuple[str, str, str], when: str = "") -> Iterator[Row]:
    """Two such convolutions, from the first width by the second to the third."""
    before, inner, after = widths
    yield metric(f"{role}_conv1", f"{name}.conv1", f"{inner}, {before}", when)
    yield metric(f"{role}_conv2", f"{name}.conv2", f"{after}, {inner}", when)


def binomial(role: str, at: str, width: str, inner: str, when: str) -> Iterator[Row]:
    """What mixes the bins at each pixel: two numbers for probabilities and two for a temperature."""
    yield metric(role, f"{at}.mlp.0", f"{inner}, {width}", when)
    yield metric(role, f"{at}.mlp.2", f"4, {inner}", when)


def one_head() -> Iterator[Row]:
    """One set of bins."""
    yield from two("bins", "seed_bin_regressor", (SEED, "256", "bin_configurations[0].n_bins"), ONE)
    yield from two("attractors", "attractors.{layer<4}", (BINS, BINS, "num_attractors[layer]"), ONE)
    width = f"num_relative_features + 1 + {BINS}"
    yield from binomial("binomial", "conditional_log_binomial", width, f"({width}) // 2", ONE)


def named_head(word: str) -> Iterator[Row]:
    """One of several sets of bins."""
    own = f"{MANY} and '{word}' in bin_names"
    bins = f"bin_configurations[place(bin_names, '{word}')].n_bins"
    yield from two(f"{word}_bins", f"seed_bin_regressors.{word}", (SEED, f"{BINS} // 2", bins), own)
    at = f"attractors.{word}.{{layer<len(num_attractors)}}"
    yield from two(f"{word}_attractors", at, (BINS, BINS, "16"), own)
    width = f"num_relative_features + {BINS}"
    yield from binomial(f"{word}_binomial", f"conditional_log_binomial.{word}", width, f"({width}) // 4", own)


def router() -> Iterator[Row]:
    """A small transformer that tells which set of bins an image is for."""
    at = "metric_head.patch_transformer."
    layer = at + "transformer_encoder.{layer<num_patch_transformer_layers or 0}"
    width, inner = "patch_transformer_hidden_size", "patch_transformer_intermediate_size"

    def linear(role: str, name: str, shape: str) -> Row:
        return Row(role, name, shape, bias="True", when=MANY, tower="router")

    yield linear("embed_patches", at + "embedding_convPxP", f"{width}, {SEED}, 1, 1")
    for role, name in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("o_proj", "out_proj")):
        yield linear(role, f"{layer}.self_attn.{name}", f"{width}, {width}")
    yield linear("post_attention_layernorm", layer + ".norm1", width)
    yield linear("up_proj", layer + ".linear1", f"{inner}, {width}")
    yield linear("down_proj", layer + ".linear2", f"{width}, {inner}")
    yield linear("post_feedforward_layernorm", layer + ".norm2", width)
    yield linear("classifier_dense", "metric_head.mlp_classifier.linear1", "128, 128")
    yield linear("classifier", "metric_head.mlp_classifier.linear2", "2, 128")


FAMILY = Family(
    name="zoedepth",
    types={"zoedepth": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Backbone", default_type="beit"),
        *neck(
            readout="readout_type == 'project'",
            bias="use_bias_in_fusion_residual",
            norm="use_batch_norm_in_fusion_residual",
        ),
        convolution(
            "relative_projection", "relative_head.projection", "256, 256, 3, 3", when="add_projection", group="head"
        ),
        *head("relative_head", "num_relative_features"),
        metric("bottleneck", "conv2", f"{SEED}, {SEED}"),
        *two("seed_projector", "seed_projector", (SEED, "projector_width", BINS)),
        *two("projectors", "projectors.{layer<4}", ("fusion_hidden_size", "projector_width", BINS)),
        *one_head(),
        *(row for word in PUBLISHED for row in named_head(word)),
        *router(),
    ),
    defaults={
        "add_projection": False,
        "backbone_config": {
            "hidden_size": 1024,
            "image_size": 384,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "use_relative_position_bias": True,
        },
        "bin_configurations": [{"n_bins": 64}],
        "bin_embedding_dim": 128,
        "bottleneck_features": 256,
        "fusion_hidden_size": 256,
        "neck_hidden_sizes": [96, 192, 384, 768],
        "num_attractors": [16, 8, 4, 1],
        "num_patch_transformer_layers": None,
        "num_relative_features": 32,
        "readout_type": "project",
        "reassemble_factors": [4, 2, 1, 0.5],
        "use_batch_norm_in_fusion_residual": False,
    },
    derived={
        "bin_names": "[bin_configurations[at].name for at in range(len(bin_configurations))]",
        "projector_width": f"{BINS} // 2 if {MANY} else 128",
        "use_bias_in_fusion_residual": "not use_batch_norm_in_fusion_residual",
    },
    head="ForDepthEstimation",
)
