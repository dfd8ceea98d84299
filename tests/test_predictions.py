"""Predictions against Transformers' own models, and the counts that articles publish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sparse
from every import every

import inspector
from inspector import ConfigError, Prediction
from inspector.architectures import family_of, formula
from inspector.architectures.counts import explain, rule_of_thumb, training_state
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import bytes_at
from inspector.architectures.scope import Scope
from inspector.opening.configs import normalize
from inspector.report import forecast

CHANGED = sorted((Path(sparse.__file__).parent / "predictions").glob("*.json"))
BOOK = {
    "vocab_size": 50257,
    "context_length": 1024,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


def shapes(prediction: Prediction) -> dict[str, tuple[int, ...]]:
    return {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()}


WRITTEN: list[tuple[dict[str, Any], str, tuple[int, ...] | None]] = [
    # The heads' width is the sum of its two parts, whatever a file says: 4 heads of 128 + 64.
    (
        {"model_type": "youtu", "qk_head_dim": 200, "num_attention_heads": 4, "q_lora_rank": 100},
        "model.layers.0.self_attn.q_b_proj.weight",
        (768, 100),
    ),
    (
        {"model_type": "glm_moe_dsa", "qk_head_dim": 192, "v_head_dim": 192, "num_attention_heads": 2},
        "model.layers.0.self_attn.kv_b_proj.weight",
        (2 * (192 + 192), 512),
    ),
    (
        {"model_type": "bailing_hybrid", "qk_head_dim": 48, "num_attention_heads": 2, "layer_group_size": 1},
        "model.layers.0.attention.q_proj.weight",
        (2 * (128 + 64), 2560),
    ),
    (
        {"model_type": "blt_patcher", "head_dim": 1, "num_key_value_heads": 4},
        "layers.0.self_attn.k_proj.weight",
        (4 * 64, 768),
    ),
    # The actions' head has the vocabulary of the model beside it.
    (
        {
            "model_type": "pi0",
            "dit_config": {"vocab_size": 999, "hidden_size": 1024},
            "vlm_config": {"text_config": {"vocab_size": 64}},
        },
        "paligemma_with_expert.gemma_expert.lm_head.weight",
        (64, 1024),
    ),
    # Patches are as wide as the whole model states: 27 of 14 pixels a side, and a class token.
    (
        {"model_type": "depth_pro", "patch_model_config": {"image_size": 288, "patch_size": 14}},
        "depth_pro.encoder.patch_encoder.model.embeddings.position_embeddings",
        (1, 27 * 27 + 1, 768),
    ),
    # Half as wide in each stage: 96, 48, 24.
    (
        {"model_type": "hiera", "embed_dim_multiplier": 0.5},
        "encoder.stages.2.layers.0.proj.weight",
        (24, 48),
    ),
    # Perceiver's pixels, or 64 channels, beside 2 x 64 waves for each coordinate and the two coordinates.
    (
        {"model_type": "perceiver", "architectures": ["PerceiverForImageClassificationFourier"]},
        "perceiver.encoder.cross_attention.attention.self.key.weight",
        (261, 261),
    ),
    (
        {"model_type": "perceiver", "architectures": ["PerceiverForImageClassificationConvProcessing"]},
        "perceiver.encoder.cross_attention.attention.self.key.weight",
        (322, 322),
    ),
    # Null means the same as an omitted list: 1536 for text, for two shared experts together.
    (
        {"model_type": "ernie4_5_vl_moe_text", "moe_intermediate_size": None},
        "layers.1.mlp.shared_experts.up_proj.weight",
        (2 * 1536, 2560),
    ),
    # Lists are read in parallel, to the end of the shorter.
    (
        {"model_type": "resnet", "depths": [1, 1, 1], "hidden_sizes": [64, 128]},
        "encoder.stages.1.layers.0.layer.2.convolution.weight",
        (128, 32, 1, 1),
    ),
    (
        {"model_type": "resnet", "depths": [1, 1, 1], "hidden_sizes": [64, 128]},
        "encoder.stages.2.layers.0.layer.2.convolution.weight",
        None,
    ),
    (
        {"model_type": "regnet", "depths": [1, 1, 1], "hidden_sizes": [64, 128]},
        "regnet.encoder.stages.2.layers.0.layer.0.convolution.weight",
        None,
    ),
    (
        {"model_type": "speecht5_hifigan", "upsample_rates": [8, 8, 2], "upsample_kernel_sizes": [16, 4]},
        "conv_post.weight",
        (1, 512 // 4, 7),
    ),
    # MiniMax M3 as published: the lightning indexer of its sparse layers, sizes in a mapping of its own.
    (
        {
            "model_type": "minimax_m3_vl_text",
            "num_hidden_layers": 2,
            "sparse_attention_config": {"sparse_attention_freq": [0, 1], "sparse_index_dim": 64},
        },
        "model.layers.1.self_attn.indexer.q_proj.weight",
        (4 * 64, 6144),
    ),
    (
        {
            "model_type": "minimax_m3_vl",
            "text_config": {
                "num_hidden_layers": 2,
                "sparse_attention_config": {"sparse_attention_freq": [0, 1], "sparse_num_index_heads": 8},
            },
        },
        "language_model.model.layers.1.self_attn.index_q_proj.weight",
        (8 * 128, 6144),
    ),
    (
        {"model_type": "minimax_m3_vl", "text_config": {"num_hidden_layers": 1}},
        "language_model.model.layers.0.self_attn.index_q_proj.weight",
        None,
    ),
]


@every(("config", "name", "shape"), WRITTEN, ids=[f"{at[0]['model_type']}-{at[1]}" for at in WRITTEN])
def test_fields_that_the_class_works_out_itself(
    config: dict[str, Any], name: str, shape: tuple[int, ...] | None
) -> None:
    """Published configurations with values that Transformers' classes overwrite, complete or shortened."""
    assert shapes(inspector.predict(config)).get(name) == shape


@every("path", CHANGED, ids=lambda path: path.stem)
def test_every_name_and_shape_is_what_transformers_has(path: Path) -> None:
    """Changed configurations: kv heads, ties, biases, odd vocabularies, explicit head_dim, heads of each kind."""
    known = json.loads(path.read_text())
    expected = {
        name: tuple(shape) for _, shape, name in sparse.expand(("", shape, name) for shape, name in known["tensors"])
    }
    assert shapes(inspector.predict(known["config"])) == expected


@pytest.mark.parametrize("tied", [True, False])
def test_a_part_of_a_part_has_its_own_configuration(tied: bool) -> None:
    """Perception Encoder's towers for sound and video are configured in the tower over both, and stored beside it."""
    towers = {"audio_config": {"hidden_size": 96}, "video_config": {"hidden_size": 64}, "hidden_size": 160}
    config = {
        "model_type": "pe_audio_video",
        "text_config": {"hidden_size": 48, "num_attention_heads": 4},
        "audio_video_config": towers,
        "tie_word_embeddings": tied,
    }
    found = shapes(inspector.predict(config))
    assert found["audio_model.audio_encoder.norm.weight"] == (96,)
    assert found["video_model.video_encoder.norm.weight"] == (64,)
    assert found["audio_video_encoder.norm.weight"] == (160,)
    assert found["audio_plus_text_head.proj.weight"] == (48, 48 + 96)
    assert ("audio_video_encoder.embedder.video_encoder.norm.weight" in found) is not tied


PRESETS = {
    "llama-7b": 6_738_415_616,
    "llama-13b": 13_015_864_320,
    "llama-33b": 32_528_943_616,
    "llama-65b": 65_285_660_672,
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
}


@every("name", PRESETS)
def test_presets_have_the_published_counts(name: str) -> None:
    """Every preset, to the parameter."""
    assert inspector.predict(name).parameters == PRESETS[name]


@every("model_type", ["apertus", "cohere", "falcon_h1", "granite", "nanochat", "olmo", "olmo2", "olmoe", "qwen3_moe"])
def test_a_bias_is_as_long_as_what_its_projection_puts_out(model_type: str) -> None:
    """The heads together are wider than the model. Transformers built each of these on the meta device."""
    sizes = {"hidden_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
    config: dict[str, Any] = {"model_type": model_type, **sizes, "num_hidden_layers": 1, "attention_bias": True}
    rows = {(row.role, row.part): row.shape for row in inspector.predict(config).expected}
    assert rows["q_proj", "bias"] == (128,)
    assert rows["o_proj", "bias"] == (96,)


EAGLE_3 = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 1,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "draft_vocab_size": 32000,
    "tie_word_embeddings": False,
}


def test_a_draft_of_eagle_3(tmp_path: Path) -> None:
    """A layer that reads two vectors a token, a head of the more common tokens; the tables between them are buffers."""
    layer = "midlayer.self_attn"
    entries: list[list[Any]] = [
        ["F16", [4096, 3 * 4096], "fc.weight"],
        ["F16", [4096, 2 * 4096], f"{layer}.q_proj.weight"],
        ["F16", [1024, 2 * 4096], f"{layer}.k_proj.weight"],
        ["F16", [1024, 2 * 4096], f"{layer}.v_proj.weight"],
        ["F16", [4096, 4096], f"{layer}.o_proj.weight"],
        ["F16", [14336, 4096], "midlayer.mlp.gate_proj.weight"],
        ["F16", [14336, 4096], "midlayer.mlp.up_proj.weight"],
        ["F16", [4096, 14336], "midlayer.mlp.down_proj.weight"],
        *(["F16", [4096], f"midlayer.{norm}.weight"] for norm in ("hidden_norm", "input_layernorm")),
        ["F16", [4096], "midlayer.post_attention_layernorm.weight"],
        ["F16", [4096], "norm.weight"],
        ["F16", [32000, 4096], "lm_head.weight"],
        ["I64", [32000], "d2t"],
        ["BOOL", [128256], "t2d"],
    ]
    made = {"beside": {"config.json": EAGLE_3}, "files": {"model.safetensors": {"tensors": entries}}}
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "eagle")))
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == 424_689_664
    assert {step.cause: step.bytes for step in result.steps}.keys() == {"buffer", "header"}
    assert result.unexplained_bytes == 0


def test_medusas_heads() -> None:
    """A square matrix and a head of the vocabulary each; a head without a table is reported as a draft."""
    config = {"architectures": ["MedusaModel"], "model_type": "medusa", "hidden_size": 64, "vocab_size": 100}
    assert inspector.predict({**config, "num_heads": 3, "num_hidden_layers": 2}).parameters == 3 * (2 * 64**2 + 6400)


XL = {
    "block_out_channels": [320, 640, 1280],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "transformer_layers_per_block": [1, 2, 10],
    "cross_attention_dim": 2048,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "projection_class_embeddings_input_dim": 2816,
}


@pytest.mark.parametrize(
    ("kind", "fields", "count"),
    [
        ("UNet2DConditionModel", {"cross_attention_dim": 768}, 859_520_964),  # Stable Diffusion 1.5
        ("UNet2DConditionModel", {"cross_attention_dim": 1024, "use_linear_projection": True}, 865_910_724),  # 2.1
        ("UNet2DConditionModel", XL, 2_567_463_684),
        ("AutoencoderKL", {"block_out_channels": [128, 256, 512, 512], "layers_per_block": 2}, 83_653_863),
        ("FluxTransformer2DModel", {"guidance_embeds": True}, 11_901_408_320),
        ("FluxTransformer2DModel", {}, 11_891_178_560),
        (
            "SD3Transformer2DModel",
            {"num_layers": 38, "num_attention_heads": 38, "caption_projection_dim": 2432, "qk_norm": "rms_norm"},
            8_056_627_520,
        ),
    ],
)
def test_diffusers_models_have_as_many_parameters_as_diffusers_counts(
    kind: str, fields: dict[str, Any], count: int
) -> None:
    """Published configurations, counted on PyTorch's meta device."""
    assert inspector.predict({"_class_name": kind, **fields}).parameters == count


@pytest.mark.parametrize(("more", "count"), [({}, 163_009_536), ({"tie_word_embeddings": True}, 124_412_160)])
def test_book_configuration(more: dict[str, Any], count: int) -> None:
    """The book's keys: GPT-2 without qkv bias, with its own head and with the head tied."""
    assert inspector.predict(BOOK | more).parameters == count


def test_a_book_without_width() -> None:
    """No condition of the dialect fits: it is read as the default model, which is empty."""
    prediction = inspector.predict({"emb_dim": 0, "n_layers": 0})
    assert (prediction.family, prediction.parameters) == ("gpt2", 0)


def test_book_llama() -> None:
    """The book's keys with hidden_dim are Llama's."""
    book = {
        "vocab_size": 32000,
        "context_length": 4096,
        "emb_dim": 4096,
        "n_heads": 32,
        "n_layers": 32,
        "hidden_dim": 11008,
    }
    assert inspector.predict(book).parameters == 6_738_415_616


def test_meta_s_keys_beside_a_type() -> None:
    """mlx-examples' config.json of Llama 2 7B: Meta's keys, with a `model_type`; a field of Transformers' own prevails."""
    meta = {"model_type": "llama", "dim": 4096, "n_layers": 2, "n_heads": 32, "hidden_dim": 11008, "vocab_size": 32000}
    layer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096
    assert inspector.predict(meta).parameters == 2 * 32000 * 4096 + 2 * layer + 4096
    of_llama = meta | {"hidden_size": 4096}  # the other sizes are its class's
    assert inspector.predict(of_llama).parameters == 6_738_415_616


def test_an_articles_count_is_explained() -> None:
    """123,550,272 leaves out positions, biases and norm shifts, and is off by 960: 50257 × 768 is 38,597,376."""
    reported = explain(inspector.predict(BOOK | {"tie_word_embeddings": True}), 123_550_272)
    assert dict(reported.omitted) == {
        "the position embedding": 1024 * 768,
        "biases of projections": 12 * (768 + 3072 + 768),
        "shifts (biases) of norms": 25 * 768,
    }
    assert reported.residual == 38_596_416 - 50257 * 768


def test_a_model_without_head_is_explained() -> None:
    """6607.34M is 7B's LlamaModel: the head is left out, and nothing else."""
    reported = explain(inspector.predict("llama-7b"), 6_607_343_616)
    assert (reported.omitted, reported.residual) == ((("the output head", 32000 * 4096),), 0)


@pytest.mark.parametrize(
    ("params", "width", "count"),
    [
        ({"multiple_of": 256}, 11_008, 6_738_415_616),
        (
            {"multiple_of": 1024, "ffn_dim_multiplier": 1.3, "n_kv_heads": 8, "vocab_size": 128256},
            14_336,
            8_030_261_248,
        ),
    ],
)
def test_metas_feed_forward_width(params: dict[str, Any], width: int, count: int) -> None:
    """int(2·4·d/3), times the multiplier, rounded up: the multiplier is applied before the rounding."""
    base = {"dim": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 32000}
    prediction = inspector.predict(base | params)
    assert prediction.config.values["intermediate_size"] == width
    assert prediction.parameters == count
    assert any(f"{width:,}" in note for note in prediction.config.notes)


def test_mistrals_params() -> None:
    """hidden_dim and head_dim are given, experts under `moe`."""
    base = {
        "dim": 4096,
        "n_layers": 32,
        "head_dim": 128,
        "hidden_dim": 14336,
        "n_heads": 32,
        "n_kv_heads": 8,
        "vocab_size": 32000,
    }
    assert inspector.predict(base).parameters == 7_241_732_096
    moe = base | {"moe": {"num_experts_per_tok": 2, "num_experts": 8}}
    assert inspector.predict(moe).parameters == 46_702_792_704
    assert inspector.predict(moe).active == 12_879_925_248


def test_a_product_is_bounded() -> None:
    """A stranger's list of ratios multiplies to 64 bits at most, and holds numbers alone."""
    assert formula.evaluate("product(ratios)", {"ratios": [8, 5, 4, 2]}) == 320
    for ratios in ([2**40] * 100_000, ["ab", 2]):
        with pytest.raises(ConfigError):
            formula.evaluate("product(ratios)", {"ratios": ratios})


def test_bits_that_number_some_values() -> None:
    assert [formula.evaluate("bits(number)", {"number": number}) for number in (1, 2, 1024, 1025)] == [0, 1, 10, 11]


def test_a_part_of_which_there_are_many() -> None:
    """Granite 4 Vision has a Q-Former for each pair of layers, and the sides of its windows are in a string."""
    pairs = {"deepstack_layer_map": [[-1, 0], [-2, 1], [-3, 2]], "downsample_rate": "4/16"}
    prediction = inspector.predict({"model_type": "granite4_vision", **pairs})
    shapes = {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()}
    query = "qformer.encoder.layer.0.attention.attention.query.weight"
    assert [n for n in range(9) if f"model.layerwise_projectors.{n}.{query}" in shapes] == [0, 1, 2]
    assert [n for n in range(9) if f"model.spatial_projectors.{n}.{query}" in shapes] == [0, 1, 2, 3]
    assert shapes["model.layerwise_projectors.2.query"] == (1, 4 * 4, 768)
    assert shapes["model.layerwise_projectors.2.image_positions"] == (1, 16 * 16, 768)


def test_a_part_with_an_empty_type_is_what_the_whole_says() -> None:
    """Transformers writes "" for a part whose class has no type of its own."""
    talker = {"text_config": {"shared_expert_intermediate_size": 768, "head_dim": 128}}
    named, empty = (
        inspector.predict(
            {
                "model_type": "qwen3_omni_moe",
                "talker_config": {**talker, "model_type": model_type},
                "code2wav_config": {"model_type": model_type and "qwen3_omni_moe_code2wav"},
            }
        )
        for model_type in ("qwen3_omni_moe_talker", "")
    )
    assert named.expected == empty.expected


@pytest.mark.parametrize(
    ("layers", "steps"),
    [
        (4, [(1, 1, 3), (1, 5, 128), (1, 10, 320), (1, 40, 4800), (2, 40, 614_400)]),
        (6, [(1, 1, 3), (1, 1, 3), (1, 5, 128), (1, 10, 320), (1, 20, 1216), (1, 40, 4800), (2, 40, 614_400)]),
    ],
)
def test_a_patch_is_unfolded_evenly(layers: int, steps: list[tuple[int, int, int]]) -> None:
    """Inkling's tower: with fewer layers than steps some steps are skipped, with more some are repeated."""
    assert [tuple(step) for step in unfolded(num_hidden_layers=layers)] == steps


def unfolded(**vision: int) -> list[list[int]]:
    """Frames, side and channels before each layer of Inkling's tower and after the last."""
    sizes = {"num_channels": 3, "patch_size": 40, "temporal_patch_size": 2, **vision}
    values = {"model_type": "inkling_mm_model", "vision_config": sizes}
    family = family_of(values)
    assert family is not None
    plan: list[list[int]] = Scope(family, values)["plan"]
    return plan


@pytest.mark.parametrize(
    "vision", [{"patch_size": 2**32 + 15}, {"num_hidden_layers": 10**9}, {"temporal_patch_size": 0}]
)
def test_a_strangers_patch_is_refused(vision: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        unfolded(**vision)


def test_one_value_for_all_stages() -> None:
    """diffusers' U-Nets take one number for all stages, or a list of one for each."""
    scope: dict[str, Any] = {"heads": 8, "each": [5, 10], "word": "ResBlock"}
    assert formula.evaluate("spread(heads, 3)", scope) == [8, 8, 8]
    assert formula.evaluate("spread(each, 3)", scope) == [5, 10]
    assert formula.evaluate("spread(word, 2)", scope) == ["ResBlock", "ResBlock"]
    for wrong in ("spread(heads, -1)", "spread(heads, 10 ** 9)", "spread(heads, each)"):
        with pytest.raises(ConfigError):
            formula.evaluate(wrong, scope)


def test_even_steps() -> None:
    """Prime factors, their products, and the way from 1 to 64 in a number of turns: 4 and 16 are even in three."""
    scope: dict[str, Any] = {"sizes": [1, 2, 4, 16, 64], "none": []}
    assert formula.evaluate("factors(40)", scope) == [5, 2, 2, 2]
    assert formula.evaluate("products(factors(40))", scope) == [5, 10, 20, 40]
    assert formula.evaluate("factors(1)", scope) == []
    assert formula.evaluate("evenly(sizes, 64, 3)", scope) == [0, 2, 3, 4]
    assert formula.evaluate("evenly(sizes, 64, 7)", scope) == [0, 1, 2, 2, 3, 3, 4, 4]
    for wrong in ("factors(0)", "factors(2 ** 30)", "evenly(sizes, 64, 0)", "evenly(none, 64, 2)"):
        with pytest.raises(ConfigError):
            formula.evaluate(wrong, scope)


def test_a_shape_that_depends_on_something_not_in_the_tables_says_what() -> None:
    config = {"model_type": "timm_backbone", "architecture": "hf_hub:someone/model"}
    with pytest.raises(ConfigError, match=r"^the timm architecture 'hf_hub:someone/model' is not in the tables$"):
        inspector.predict(config)


def test_rule_of_thumb_and_sizes() -> None:
    """12·L·h² + V·h beside the exact count; bytes at each width; Adam's state."""
    prediction = inspector.predict("llama-7b")
    rule = rule_of_thumb(prediction)
    assert rule is not None
    assert rule.estimate == 12 * 32 * 4096**2 + 32000 * 4096
    assert bytes_at(prediction, 32) == 26_953_662_464
    state = training_state(prediction.parameters, 16)
    assert (state.gradients, state.optimizer) == (2 * prediction.parameters, 12 * prediction.parameters)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no model type": ({"hidden_size": 1}, "model_type"),
    "unknown model type": ({"model_type": "no-such-thing"}, "no-such-thing"),
    "a missing field": ({"model_type": "qwen", "hidden_size": 64}, "vocab_size"),
    "a field of the wrong type": ({"model_type": "gpt2", "n_embd": "wide"}, "n_embd"),
    "zero heads": (
        {
            "model_type": "llama",
            "hidden_size": 64,
            "num_attention_heads": 0,
            "vocab_size": 9,
            "num_hidden_layers": 1,
            "intermediate_size": 4,
        },
        "num_attention_heads",
    ),
    "endless layers": ({"model_type": "gpt2", "n_layer": 10**12}, "n_layer"),
    "negative layers": ({"model_type": "gpt2", "n_layer": -1}, "n_layer"),
    "beyond 64 bits": ({"model_type": "gpt2", "n_embd": 10**30}, "64 bits"),
    "a list for a number": ({"model_type": "gpt2", "n_layer": [1]}, "n_layer"),
    "a number as model type": ({"model_type": 7}, "model_type"),
}


@every("case", BAD)
def test_bad_configurations_are_one_clear_error(case: str) -> None:
    """The message names what is missing or absurd."""
    config, stated = BAD[case]
    with pytest.raises(ConfigError, match=r"^[^\n]+$") as caught:
        inspector.predict(config)
    assert stated in str(caught.value)


def test_the_prediction_does_not_look_at_the_tensors(tmp_path: Path) -> None:
    """Another file under the same configuration has the same prediction."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    folder = sparse.make(recipe, tmp_path / "a")
    before = inspector.reconcile(inspector.open(folder)).prediction
    sparse.write_safetensors(folder / "model.safetensors", [("F32", [3], "model.norm.weight")])
    assert inspector.reconcile(inspector.open(folder)).prediction == before


@pytest.mark.parametrize("labels", [{"0": "LABEL_0"}, {"0": "no", "1": "perhaps", "2": "yes"}])
def test_a_head_has_as_many_rows_as_the_file_has_labels(labels: dict[str, str]) -> None:
    """A reward model or a reranker has one label; the class's two default labels are not added."""
    config = {"model_type": "llama", "architectures": ["LlamaForSequenceClassification"], "hidden_size": 64}
    found = shapes(inspector.predict({**config, "num_hidden_layers": 1, "id2label": labels}))
    assert found["score.weight"] == (len(labels), 64)


def test_a_class_is_believed_before_a_dialect() -> None:
    """`dim` and `n_layers` are Meta's fields, and also those of Z-Image and of DistilBERT."""
    words = {"dim": 3840, "n_layers": 30, "n_heads": 30}
    assert inspector.predict(words).family == "llama"
    assert inspector.predict({**words, "architectures": ["DistilBertModel"]}).family == "distilbert"
    assert normalize({**words, "_class_name": "NewTransformer2DModel"}).model_type == "NewTransformer2DModel"


def test_a_config_json_cannot_claim_ggufs_names() -> None:
    """`general.architecture` is a key of GGUF's key-values: in a config.json it has no meaning."""
    config = {"model_type": "llama", "general.architecture": "llama", "num_hidden_layers": 1}
    assert "model.layers.0.self_attn.q_proj.weight" in shapes(inspector.predict(config))


def test_null_is_not_the_types_own_value() -> None:
    """GLM-4.7 Flash without the low rank of its queries: 20 heads of 192 + 64, from 2,048."""
    found = shapes(inspector.predict({"model_type": "glm4_moe_lite", "q_lora_rank": None, "num_hidden_layers": 1}))
    assert found["model.layers.0.self_attn.q_proj.weight"] == (20 * (192 + 64), 2048)
    assert "model.layers.0.self_attn.q_a_proj.weight" not in found


@pytest.mark.parametrize(("freeze", "kind"), [(True, "buffer"), (False, "norm")])
def test_a_detector_freezes_its_backbones_norms(freeze: bool, kind: str) -> None:
    """A ResNet of one basic block has six norms: a stem of 4, 4 and 8 channels, the block's and its shortcut's 16."""
    backbone = {"model_type": "rt_detr_resnet", "embedding_size": 8, "hidden_sizes": [16], "depths": [1]}
    config = {
        "model_type": "rt_detr",
        "freeze_backbone_batch_norms": freeze,
        "backbone_config": {**backbone, "layer_type": "basic", "out_indices": [1], "downsample_in_first_stage": True},
        "encoder_in_channels": [16],
        "decoder_in_channels": [256],
        "num_feature_levels": 1,
    }
    prediction = inspector.predict(config)
    at = "model.backbone.model.embedder.embedder.0.normalization."
    norms = [row for row in prediction.expected if ".backbone." in row.name and ".normalization." in row.name]
    assert {row.group for row in norms if row.role == "conv_norm"} == {kind}
    assert sum(row.parameters for row in norms) == (0 if freeze else 2 * (4 + 4 + 8 + 16 + 16 + 16))
    assert sum(row.role == "num_batches_tracked" for row in norms) == (0 if freeze else 6)
    assert sum(row.role == "num_batches_tracked" for row in prediction.buffers) == (6 if freeze else 0)
    named = Namer(family_of(config), config).name([at + leaf for leaf in ("weight", "bias", "num_batches_tracked")])
    assert [slot.group for slot in named.slots] == [kind, kind, "buffer"]


def test_null_experts_per_token_shape_nothing() -> None:
    """All experts then count as active."""
    config = {"model_type": "granitemoe", "num_hidden_layers": 1, "num_local_experts": 4}
    some, null = (inspector.predict({**config, "num_experts_per_tok": number}) for number in (2, None))
    assert shapes(some) == shapes(null)
    assert some.active < null.active == null.parameters


def test_whole_floats_are_sizes() -> None:
    """Some writers of JSON have no integers."""
    config = {"model_type": "llama", "num_hidden_layers": 1}
    found = shapes(inspector.predict({**config, "hidden_size": 4096.0}))
    assert found == shapes(inspector.predict({**config, "hidden_size": 4096}))
    with pytest.raises(ConfigError):
        inspector.predict({**config, "hidden_size": 4096.5})


def test_no_model_has_so_many_tensors() -> None:
    """A configuration with 300,000 tensors is refused before they are listed."""
    with pytest.raises(ConfigError, match="tensors"):
        inspector.predict({"model_type": "mixtral", "num_hidden_layers": 300, "num_local_experts": 400})


def test_an_unknown_class_is_reported_as_unknown() -> None:
    """The body is predicted, and the report says that the class is unknown."""
    config = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1}
    known, unknown = (inspector.predict({**config, "architectures": [f"LlamaFor{head}"]}) for head in ("CausalLM", "X"))
    assert not known.config.notes
    assert any("LlamaForX" in note for note in unknown.config.notes)


def test_a_layer_that_predicts_further_tokens_is_like_the_last_of_a_stated_list() -> None:
    """Lists of layers' types have an entry for each layer that the model counts, and none for those beyond."""
    stated = {"indexer_types": ["shared"] * 3 + ["full"], "mlp_layer_types": ["dense"] + ["sparse"] * 3}
    config = {"model_type": "glm_moe_dsa", "num_hidden_layers": 4, "num_nextn_predict_layers": 1, **stated}
    ahead = {row.role: row for row in inspector.predict(config).ahead if row.branch == "indexer"}
    assert {number for row in ahead.values() for number in row.layers or ()} == {4}
    assert ahead["k_proj"].shape == (128, 6144)


def test_layers_that_predict_further_tokens_are_listed_beside_the_model() -> None:
    """DeepSeek-V3's authors: 671 billion, and 11.5 billion of the module beside its shared embedding and head."""
    prediction = inspector.predict({"model_type": "deepseek_v3", "num_nextn_predict_layers": 1})
    assert prediction.parameters == 671_026_404_352
    layer = 187_107_328 + 257 * 3 * 2048 * 7168 + 256 * 7168 + 2 * 7168
    assert layer == 11_507_286_016
    assert sum(row.parameters for row in prediction.ahead) == layer + 2 * 7168**2 + 3 * 7168
    assert {number for row in prediction.ahead for number in row.layers or ()} == {61}
    copies = {row.name: row.parameters for row in prediction.optional}
    assert list(copies.values()) == [129_280 * 7168] * 2
    document = forecast.document(prediction, tensors=True)
    assert document["parameters"]["predicted"] == sum(role["parameters"] for role in document["roles"])
    heads = document["prediction_heads"]
    assert document["parameters"]["prediction_heads"] == heads["parameters"] == 11_610_067_968
    assert sum(role["parameters"] for role in heads["roles"]) == 11_610_067_968
    assert {"model.layers.61.eh_proj.weight"} == {
        each["name"] for each in heads["tensors"] if each["role"] == "mtp_proj"
    }


def test_mimo_is_published_with_the_layer_that_predicts_ahead() -> None:
    """MiMo-7B has 7,833,409,536 parameters, of which 210,790,400 predict a further token."""
    sizes = {"hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32, "num_key_value_heads": 8}
    config = {"model_type": "mimo", **sizes, "num_hidden_layers": 36, "vocab_size": 151680, "head_dim": 128}
    prediction = inspector.predict({**config, "tie_word_embeddings": False, "num_nextn_predict_layers": 1})
    assert sum(row.parameters for row in prediction.ahead) == 210_790_400
    assert prediction.parameters + 210_790_400 == 7_833_409_536


def test_gemma_3ns_layers_without_keys_of_their_own() -> None:
    """E4B's published total counts 31,461,120 parameters that nothing reads: keys, values and norms of 15 layers."""
    prediction = inspector.predict({"model_type": "gemma3n"})
    assert prediction.parameters == 7_818_517_072
    assert sum(row.parameters for row in prediction.optional) == 15 * (2 * 512 * 2048 + 256) == 31_461_120


def test_a_parts_field_may_follow_from_the_whole() -> None:
    """BLIP-2's Q-Former reads as many features as the vision tower outputs, whatever its own configuration says."""
    config = {"model_type": "blip-2", "vision_config": {"hidden_size": 96, "num_attention_heads": 4}}
    name = "qformer.encoder.layer.0.crossattention.attention.key.weight"
    assert shapes(inspector.predict(config))[name] == (768, 96)
    assert shapes(inspector.predict({**config, "qformer_config": {"encoder_hidden_size": 80}}))[name] == (768, 96)


def test_whose_word_on_tied_heads_counts() -> None:
    """The whole's setting, or its class's default; with Qwen2-VL's class the text model's, too, if that ties."""

    def tied(model_type: str, **fields: Any) -> bool:
        found = shapes(inspector.predict({"model_type": model_type, **fields}))
        return not any(name.endswith("lm_head.weight") for name in found)

    both = [
        {"tie_word_embeddings": stated, "text_config": {"tie_word_embeddings": not stated}} for stated in (True, False)
    ]
    assert [tied("qwen2_vl", **fields) for fields in both] == [True, True]
    assert [tied("qwen3_5_moe", **fields) for fields in both] == [True, False]
    assert not tied("qwen2_vl", text_config={"vocab_size": 100})
    texts = [{"text_config": {"tie_word_embeddings": stated}} for stated in (True, False)]
    assert [tied("qwen2_vl", **fields) for fields in texts] == [True, False]
    assert [tied("qwen3_5_moe", **fields) for fields in texts] == [False, False]
    assert [tied("gemma3", **fields) for fields in texts] == [True, True]


@every(
    ("own", "counted"),
    [
        ({"num_experts": 2}, "num_experts = 2"),
        ({"num_experts": 1}, None),
        ({"num_experts": [1, 4, 2]}, "num_experts = 4"),
        ({"moe": {"num_local_experts": 8}}, "num_local_experts = 8"),
        ({}, None),
    ],
)
def test_experts_that_a_table_does_not_use_are_noted(own: dict[str, Any], counted: str | None) -> None:
    """Llama has none: two or more are missing from the prediction, one would be the usual feed-forward."""
    notes = inspector.predict({"model_type": "llama", **own}).config.notes
    note = f"{counted}, which the table of llama does not use: the experts are missing from the prediction"
    assert notes == ((note,) if counted else ())


@every(
    ("model_type", "stated", "feed_forward", "parameters"),
    [
        ("t5", True, "relu", 204_032), ("t5", False, "gated-gelu", 171_264), ("t5", None, "relu", 171_264),
        ("longt5", True, "relu", 204_032), ("longt5", False, "gated-gelu", 171_264),
        ("mt5", True, "relu", 204_032), ("umt5", True, "relu", 204_288), ("umt5", False, "gated-gelu", 171_520),
    ],
)  # fmt: skip
def test_a_stated_gate_overrides_what_the_activation_implies(
    model_type: str, stated: bool | None, feed_forward: str, parameters: int
) -> None:
    """The parameters are those of Transformers 5.24's AutoModelForSeq2SeqLM."""
    config: dict[str, Any] = {
        "model_type": model_type,
        "architectures": ["T5ForConditionalGeneration"],
        "feed_forward_proj": feed_forward,
    }
    config |= {"num_layers": 2, "d_model": 64, "d_ff": 128, "num_heads": 4, "d_kv": 16, "vocab_size": 100}
    own = {} if stated is None else {"is_gated_act": stated}
    assert inspector.predict(config | own).parameters == parameters


def test_exaone_with_biases() -> None:
    """Two layers as Transformers 5.24 saves them: biases of q, k, v and o (64 + 32 + 32 + 64) and of the three maps."""
    config: dict[str, Any] = {"model_type": "exaone", "architectures": ["ExaoneForCausalLM"], "hidden_size": 64}
    config |= {
        "num_layers": 2,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
    }
    plain, biased = (inspector.predict(config | {"attention_bias": on, "mlp_bias": on}) for on in (False, True))
    assert biased.parameters - plain.parameters == 2 * (64 + 32 + 32 + 64 + 96 + 96 + 64)
    names = {name for row in biased.expected for name in row.names()}
    assert {"transformer.h.1.attn.attention.out_proj.bias", "transformer.h.1.mlp.c_fc_0.bias"} <= names
    assert {row.role for row in biased.expected if "c_fc_0" in row.name} == {"gate_proj"}


def test_the_head_of_a_language_model_alone_in_a_family_of_several_towers() -> None:
    """Step-3.7-Flash's class is not Transformers': its model has what the one with towers has, and the head."""
    found = inspector.predict({"model_type": "step3p7", "architectures": ["Step3p7FlashForCausalLM"]})
    assert found.parameters == 197_824_847_872
    assert "predicted as ForConditionalGeneration" in found.config.notes[-1]
