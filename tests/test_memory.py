"""`inspect memory`: numbers worked out by hand, or by the engines themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from every import every
from sparse_gguf import write_gguf

import inspector
from inspector.architectures import GGUF_ARCHITECTURE, GgufArchitecture, caches, family_of, load, model_types
from inspector.architectures.data.presets import PRESETS
from inspector.architectures.table import Family, Include
from inspector.errors import ConfigError, UsageError
from inspector.model import Config
from inspector.opening import configs
from inspector.report.memory import term_rows
from inspector.sizing.devices import DEVICES, SOURCES, devices
from inspector.sizing.memory import size
from inspector.sizing.model import of_prediction
from inspector.sizing.widths import width

if TYPE_CHECKING:
    from conftest import Ran

#: Llama-3.1-8B's config.json, as far as it matters here.
LLAMA: dict[str, Any] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip


def test_llama_by_hand() -> None:
    """2 × 8 heads × 128 × 2 bytes × 32 layers are 131,072 bytes a token; 8,030,261,248 parameters in 16 bits."""
    result = inspector.memory(LLAMA, context=8192)
    assert result.cache == 8192 * 131072 == 2**30
    assert result.growth == 131072
    assert result.weights.nbytes == 16_060_522_496
    assert inspector.memory(LLAMA).request.context == 131072


def test_a_window_holds_one_less() -> None:
    """Transformers keeps the window less the token to come; the other engines have their own rules."""
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    token = 2 * 8 * 128 * 2 * 32
    assert inspector.memory(mistral, context=32768).cache == 4095 * token
    assert inspector.memory(mistral, context=100).cache == 100 * token
    assert inspector.memory(mistral, context=32768, engine="llama.cpp").cache == (4096 + 512) * token
    # 4,095 + 2,048 tokens are 384 blocks of 16, and one more if the window starts within a block
    assert inspector.memory(mistral, context=32768, engine="vllm").cache == 385 * 16 * token


def test_quantized_caches() -> None:
    """Q8_0 has 34 bytes for 32 elements, Q4_0 has 18: 1,024 keys and 1,024 values a token and layer."""
    token = 32 * (1024 // 32 * 34 + 1024 // 32 * 18)
    result = inspector.memory(LLAMA, context=1000, engine="llama.cpp", cache_dtype="q8_0,q4_0")
    assert result.cache == 1024 * token  # cells in multiples of 256
    assert inspector.memory(LLAMA, context=1024, engine="vllm", cache_dtype="fp8").cache == 1024 * 65536


def test_latent_attention() -> None:
    """DeepSeek-V3: 512 + 64 elements a token and layer, for all of its 128 heads together."""
    config = {"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]}
    assert inspector.memory(config, context=4096).cache == 4096 * 61 * 576 * 2


def test_shared_layers_keep_nothing() -> None:
    """Gemma 3n: the last 15 of 35 layers read the caches of others; of the 20, every fifth keeps all tokens."""
    (full, sliding) = caches.kept(configs.normalize({"model_type": "gemma3n_text"}))
    assert full.layers == (4, 9, 14, 19)
    assert sliding.layers == tuple(layer for layer in range(20) if layer % 5 != 4)


def test_states_do_not_grow() -> None:
    """Mamba-2.8B's 64 layers: 5,120 channels × 4 columns in 16 bits, and × 16 states in 32; llama.cpp keeps 3 columns."""
    config = {"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64, "dtype": "float16"}
    small, large = (inspector.memory(config, context=tokens) for tokens in (1, 100_000))
    assert small.cache == large.cache == 64 * (5120 * 4 * 2 + 5120 * 16 * 4)
    assert large.growth == 0
    assert inspector.memory(config, engine="llama.cpp").cache == 64 * 4 * (5120 * 3 + 5120 * 16)


def test_vllm_repeats_heads() -> None:
    """8 heads on 16 devices: each holds one; on 4 devices each holds two."""
    for tp, heads in ((4, 2), (16, 1)):
        (first, *_) = inspector.memory(LLAMA, context=1024, engine="vllm", tp=tp).devices
        assert first.cache == 1024 * 2 * heads * 128 * 2 * 32


def test_heads_that_are_not_named_are_those_of_the_queries() -> None:
    """OPT gives no number of key heads, which are then 32: each of 4 devices holds 8 of them."""
    opt = {"model_type": "opt", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32}
    (first, *_) = inspector.memory({**opt, "dtype": "float16"}, context=1024, engine="vllm", tp=4).devices
    assert first.cache == 1024 * 2 * 8 * 128 * 2 * 32


def test_the_longest_context_is_what_the_device_has_left() -> None:
    """24,564 MiB by its driver, less 512 MiB, 16,060,522,496 bytes of weights and the activations; 131,072 a token."""
    result = inspector.memory(LLAMA, gpu="rtx-4090")
    (placed,) = result.devices
    assert result.activations
    left = 24564 * 2**20 - 2**29 - 16_060_522_496 - result.activations.nbytes
    assert placed.longest_context == left // 131072
    assert placed.fits is False
    assert inspector.memory(LLAMA, gpu="rtx-4090", context=placed.longest_context).fits
    assert inspector.memory(LLAMA, gpu="rtx-4090", context=placed.longest_context + 1).fits is False


def test_experts_that_rest_are_not_read() -> None:
    """Mixtral 8x7B uses 2 of 8 experts: 12.9 of 46.7 billion parameters; nor is its token embedding read."""
    config = {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "torch_dtype": "bfloat16"}
    result = inspector.memory(config)
    assert result.model.prediction
    assert result.weights.read == 2 * (result.model.prediction.active - 32000 * 4096)


def test_training_by_hand() -> None:
    """AdamW in mixed precision: 16 bytes a parameter (ZeRO's paper); over 8 devices ZeRO 3 divides all of it."""
    from inspector.sizing.training import Plan

    parameters = 8_030_261_248
    one = inspector.memory(LLAMA, training=Plan()).training
    assert one
    assert one.weights + one.gradients + one.optimizer + one.master == 16 * parameters
    eight = inspector.memory(LLAMA, training=Plan(zero=3, devices=8)).training
    assert eight
    assert eight.weights + eight.gradients + eight.optimizer + eight.master == 16 * parameters // 8


def test_lora_by_hand() -> None:
    """Rank 16 on q_proj and v_proj: 32 × 16 × (4096 + 4096 + 4096 + 1024) parameters."""
    from inspector.sizing.training import Plan

    found = inspector.memory(LLAMA, training=Plan("lora")).training
    assert found
    assert found.trained == 32 * 16 * (4096 + 4096 + 4096 + 1024) == 6_815_744


def test_unknown_architectures_are_reported_as_unknown() -> None:
    """A generating model's table may not say what it keeps: the figure is missing, and the reason is given."""
    result = inspector.memory({"model_type": "time_series_transformer"})
    assert result.cache is None
    assert "time_series_transformer" in result.model.unknown


def test_a_table_may_say_why_its_cache_is_not_known() -> None:
    """BLT's patches are as long as its text makes them; GPT keeps nothing, which is known: 0 bytes."""
    result = inspector.memory({"model_type": "blt"}, context=64)
    assert result.cache is None
    assert any("patches" in finding.message for finding in result.findings)
    assert inspector.memory({"model_type": "openai-gpt"}, context=64).cache == 0


def test_devices() -> None:
    """Names, numbers of devices, sizes."""
    assert [each.nbytes for each in devices("2x24GiB, h100")] == [24 * 2**30, 24 * 2**30, 81559 * 2**20]
    assert devices("RTX 4090") == (DEVICES["rtx-4090"],)
    assert devices("1.5TB")[0].nbytes == 1_500_000_000_000
    with pytest.raises(UsageError, match="rtx-4090"):
        devices("rtx-4091")


@every("name", DEVICES)
def test_each_figure_of_a_device_has_a_page(name: str) -> None:
    """A sheet for bandwidth; for memory in MiB a report of what the driver shows, never a sheet's GiB."""
    assert len(SOURCES[name]) == (1 if DEVICES[name].nominal else 2)
    assert all("/" in page and "." in page.split("/")[0] for page in SOURCES[name])
    assert len(SOURCES) == len(DEVICES)


def test_types() -> None:
    """NF4: half a byte, and a 32-bit scale for 64 weights."""
    assert width("nf4").bytes_of(64) == 36
    assert width("fp8").bytes_of(7) == 7
    with pytest.raises(UsageError, match="q4_0"):
        width("q4_00")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--context", "0"), "context 0"),
        (("--cache-dtype", "q4_0"), "transformers has no cache of type Q4_0"),
        (("--engine", "tgi"), "no engine"),
        (("--fits",), "--gpu"),
        (("--tp", "3", "--gpu", "2xl4"), "--tp 3"),
        (("--train", "some"), "no training"),
        (("--lora", "r=x"), "--lora"),
    ],
)
def test_misuse_is_one_line(inspect: Callable[..., Ran], arguments: tuple[str, ...], message: str) -> None:
    """A senseless request is an error in one line, with exit code 2."""
    ran = inspect("memory", "llama-7b", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_exit_code_for_scripts(inspect: Callable[..., Ran]) -> None:
    """--fits: 0 if it does, 1 if it does not."""
    assert inspect("memory", "llama-7b", "--gpu", "h100", "--fits").code == 0
    assert inspect("memory", "llama-7b", "--gpu", "8GiB", "--fits").code == 1


def test_json_adds_up(inspect: Callable[..., Ran]) -> None:
    """Layers sum to the cache, and the parts to the total."""
    reported = json.loads(inspect("memory", "mistral-7b", "--json", "--sweep", "--train", "full", "--gpu", "l4").out)
    assert sum(each["bytes"] for each in reported["cache"]["layers"]) == reported["cache"]["bytes"]
    assert (
        reported["weights"]["bytes"] + reported["cache"]["bytes"] + reported["activations"]["bytes"]
        == reported["total"]
    )
    terms = ("weights", "gradients", "optimizer", "master", "activations")
    assert sum(reported["training"][term] for term in terms) == reported["training"]["total"]
    assert {each["cache_dtype"] for each in reported["sweep"]}


FIXTURES = Path(__file__).parents[1] / "fixtures"
FILLED = [json.loads(line) for line in (FIXTURES / "caches_transformers.jsonl").read_text().splitlines()]
PAGED = [json.loads(line) for line in (FIXTURES / "caches_vllm.jsonl").read_text().splitlines()]
PRINTED = [json.loads(line) for line in (FIXTURES / "caches_llama_cpp.jsonl").read_text().splitlines()]


@every("case", FILLED, ids=lambda case: str(case["config"]["model_type"]), parts=4)
def test_caches_that_transformers_fills(case: dict[str, Any]) -> None:
    """To the byte the size of the tensors in a model's cache after these numbers of tokens (zoo.build_caches)."""
    result = inspector.memory(case["config"], context=case["context"], source=case["source"] or 0)
    assert result.cache == case["bytes"]


@every("case", PAGED, ids=lambda case: str(case["config"]["model_type"]))
def test_pages_that_vllm_sets_aside(case: dict[str, Any]) -> None:
    """To the byte the size that vLLM's own groups of layers have for one sequence (tools/vllm_caches.py)."""
    asked = {name: case[name] for name in ("context", "batch", "tp", "cache_dtype", "source") if name in case}
    result = inspector.memory(case["config"], engine="vllm", **asked)
    assert (result.devices[0].cache if case.get("tp", 1) > 1 else result.cache) == case["bytes"]


@every("case", PRINTED, ids=lambda case: str(case["pairs"][0][2]), parts=2)
def test_buffers_that_llama_cpp_prints(case: dict[str, Any], tmp_path: Path) -> None:
    """To the hundredth of a MiB, as printed for keys, values and states (tools/llama_caches.py)."""
    write_gguf(tmp_path / "model.gguf", map(tuple, case["pairs"]), map(tuple, case.get("tensors", ())))
    model = of_prediction("", inspector.predict(tmp_path / "model.gguf"))
    names = {1: "f16", 2: "q4_0", 8: "q8_0"}
    for each in case["contexts"]:
        asked = each["context"]
        sequences = asked.get("n_seq_max", 1)
        kinds = f"{names[asked.get('type_k', 1)]},{names[asked.get('type_v', 1)]}"
        tokens = -(-asked["n_ctx"] // 256) * 256 // sequences
        reported = size(
            model,
            context=tokens,
            sequences=sequences,
            cache_dtype=kinds,
            engine="llama.cpp",
            batch=asked.get("n_ubatch"),
        )
        assert reported.confirmed  # under the name that the file has for it
        printed = sum(each["printed"])
        assert abs((reported.cache or 0) / 2**20 - printed) <= 0.00501 * max(each["figures"], 1)


@pytest.mark.parametrize(
    ("config", "options", "bytes_published"),
    [
        pytest.param(
            {**LLAMA, "model_type": "qwen3_moe", "num_hidden_layers": 48, "num_key_value_heads": 4, "head_dim": 128},
            {"engine": "vllm", "context": 262144},
            24 * 2**30,
            id="vllm-project/vllm#34076: Qwen3-Coder-30B-A3B, 24.0 GiB for 262,144 tokens",
        ),
        pytest.param(
            {"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64},
            {"engine": "llama.cpp"},
            int(23.75 * 2**20),
            id="ggml-org/llama.cpp#5328: Mamba 2.8B, 23.75 MiB a sequence",
        ),
    ],
)
def test_published_figures(config: dict[str, Any], options: dict[str, Any], bytes_published: int) -> None:
    """Figures from the engines' own messages and from authors."""
    assert inspector.memory(config, **options).cache == bytes_published


def test_weights_against_accelerate() -> None:
    """`accelerate estimate-memory` 1.x has 16,060,523,008 bytes for Llama 3.1 8B: 512 are inv_freq, a buffer."""
    assert inspector.memory(LLAMA).weights.nbytes == 16_060_523_008 - 2 * 128 * 2


def test_contexts_beyond_the_model_are_reported() -> None:
    """A longer context than the model is made for is a warning, which mentions the scaling of positions if any."""
    (plain,) = inspector.memory(LLAMA, context=200_000).findings
    scaled = {**LLAMA, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}
    (reported,) = inspector.memory(scaled, context=200_000).findings
    assert "rope scaling" in plain.message
    assert "yarn ×4.0" in reported.message


@pytest.mark.parametrize(
    ("rank", "targets", "published"), [(8, "q_proj+v_proj", 4_194_304), (16, "all-linear", 39_976_960)]
)
def test_trained_parameters_that_peft_prints(rank: int, targets: str, published: int) -> None:
    """LLaMA-7B: the output of `print_trainable_parameters` in many notebooks."""
    from inspector.sizing.training import Plan, plan_of

    plan = plan_of(Plan("qlora"), f"r={rank},targets={targets}")
    found = inspector.memory("llama-7b", training=plan).training
    assert found
    assert found.trained == published


def test_a_table_of_ones_own_may_say_what_layers_keep(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """It may use the package's formulas and blocks; an unknown kind is an error in one clear line."""
    table = {
        "about": "Llama with half of its keys.",
        "like": "llama",
        "types": {"halved": {}},
        "cache": [["full", "num_key_value_heads * head_dim // 2", "v_proj"]],
    }
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "model_type": "halved"}))
    (tmp_path / "tables").mkdir()
    path = tmp_path / "tables" / "halved.json"
    path.write_text(json.dumps(table))
    arguments = (
        "memory",
        str(tmp_path / "config.json"),
        "--tables",
        str(tmp_path / "tables"),
        "--context",
        "10",
        "--json",
    )
    assert json.loads(inspect(*arguments).out)["cache"]["bytes"] == 10 * 32 * (512 + 1024) * 2
    path.write_text(json.dumps({**table, "types": {"halved2": {}}, "cache": [["half", "v_proj"]]}))
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "model_type": "halved2"}))
    ran = inspect(*arguments)
    assert ran.code == 2
    assert "a cache of kind 'half'" in ran.err


def test_a_decoder_alone_attends_to_no_encoder() -> None:
    """BART's decoder as a language model: its own 12 layers of 1,024 keys and values, and no cross-attention."""
    config = {"model_type": "bart", "architectures": ["BartForCausalLM"], "dtype": "float16"}
    assert inspector.memory(config, context=100).cache == 12 * 100 * 2 * 1024 * 2
    assert inspector.memory(config, context=100, source=10).cache == 12 * 110 * 2 * 1024 * 2


def test_caches_that_nobody_compared_are_marked(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """A cache that was never compared with the engine's own is marked, in text and JSON."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    known = inspect("memory", str(tmp_path / "config.json"))
    assert "unconfirmed" not in known.out
    reported = inspect("memory", str(tmp_path / "config.json"), "--engine", "llama.cpp", "--full")
    assert "F16, unconfirmed" in reported.out
    assert "not compared with" in reported.out
    document = json.loads(inspect("memory", str(tmp_path / "config.json"), "--engine", "llama.cpp", "--json").out)
    assert document["cache"]["confirmed"] is False


def test_a_layout_of_the_engines_own_is_unknown() -> None:
    """What DeepSeek-V4 keeps of compressed tokens: Transformers' cache follows the table, vLLM's does not.

    vLLM reported that 30,000 tokens need 6.66 GiB on each of two devices.
    """
    config = {"model_type": "deepseek_v4", "architectures": ["DeepseekV4ForCausalLM"]}
    known, reported = (inspector.memory(config, engine=name, context=30_000) for name in ("transformers", "vllm"))
    assert known.cache
    assert reported.cache is None
    assert "a layout of its own" in reported.model.unknown
    gguf = Config({"model_type": "gptj", GGUF_ARCHITECTURE: GgufArchitecture("gptj")}, "gguf")
    with pytest.raises(ConfigError, match="no loader"):
        caches.kept(gguf)


def test_a_part_that_only_reads_does_not_stand_for_the_whole() -> None:
    """Bark's three models follow one another, and keep nothing together that a table could say."""
    assert inspector.memory({"model_type": "bark"}).cache is None


def test_compressed_tokens_in_llama_cpp(tmp_path: Path) -> None:
    """DeepSeek-V4-Flash: llama.cpp printed 473.89 MiB for 65,536 tokens, 6 kinds of cells and states together."""
    numbers = {"block_count": 43, "embedding_length": 4096, "attention.head_count": 64, "attention.head_count_kv": 1}
    numbers |= {"attention.key_length": 512, "attention.value_length": 512, "attention.indexer.key_length": 128}
    pairs: list[tuple[str, str, Any]] = [(f"deepseek4.{key}", "uint32", value) for key, value in numbers.items()]
    pairs += [
        ("deepseek4.attention.sliding_window", "uint32", 128),
        ("deepseek4.attention.compress_ratios", "array[uint32]", [0, 0, *(4, 128) * 20, 4]),
    ]
    write_gguf(tmp_path / "model.gguf", [("general.architecture", "string", "deepseek4"), *pairs], [])
    found = inspector.memory(tmp_path / "model.gguf", engine="llama.cpp", context=65_536)
    assert found.cache
    assert round(found.cache / 2**20, 2) == 473.89


def test_confirmed_types_are_those_of_the_fixtures() -> None:
    """`tools/write_confirmed.py` writes them from the fixtures."""
    from inspector.sizing.confirmed_types import CONFIRMED

    assert CONFIRMED["transformers"] == {case["config"]["model_type"] for case in FILLED}
    assert CONFIRMED["llama.cpp"] == {case["pairs"][0][2] for case in PRINTED}
    assert CONFIRMED["vllm"] == {case["config"]["model_type"] for case in PAGED}


def test_presets_have_their_published_context() -> None:
    """LLaMA 2,048 tokens, Llama 2 4,096, Llama 3.1 131,072; Mistral's first release has a window of 4,096."""
    contexts = {
        name: inspector.memory(name).request.context for name in ("llama-7b", "llama-2-70b", "llama-3.1-8b", "gpt2")
    }
    assert contexts == {"llama-7b": 2048, "llama-2-70b": 4096, "llama-3.1-8b": 131_072, "gpt2": 1024}
    mistral = inspector.memory("mistral-7b", engine="transformers")
    # A layer with a window of 4,096 holds 4,095 tokens, of 8 heads of 128, keys and values, in 2 bytes.
    assert mistral.cache == 32 * 4095 * 2 * 8 * 128 * 2
    assert inspector.memory("mixtral-8x7b").cache == 32 * 32768 * 2 * 8 * 128 * 2


def test_packed_weights_of_a_configuration() -> None:
    """FP8 packs linear layers; embeddings, head and norms stay: Llama 3.1 8B has 1,050,939,392 + 266,240 of these."""
    packed = {**LLAMA, "quantization_config": {"quant_method": "fp8"}}
    plain = 2 * (2 * 128256 * 4096 + 65 * 4096)
    scales = 4 * 32 * (2 * 32 * 32 + 2 * 8 * 32 + 3 * 112 * 32)  # one for 128 × 128 weights, in 32 bits
    result = inspector.memory(packed)
    assert result.weights.nbytes == (8_030_261_248 - plain // 2) + plain + scales
    assert not result.findings
    (reported,) = inspector.memory({**LLAMA, "quantization_config": {"quant_method": "aqlm", "bits": 4}}).findings
    assert "packed by aqlm" in reported.message
    (reported,) = inspector.memory(
        {**LLAMA, "quantization": {"bits": 4}}
    ).findings  # as MLX declares it, but for a group
    assert "declares weights packed:" in reported.message
    assert inspector.memory({**LLAMA, "quant_config": {"quant_method": "fp8"}}).weights == result.weights


def test_blocks_of_fp8_from_the_configuration_alone() -> None:
    """DeepSeek-V3's files are 688,574,839,360 bytes, 15,424,227,552 of them its 62nd layer, which Transformers ignores.

    Routers stay plain; their 58 biases for 256 experts are stored in 32 bits, and counted here in 16.
    """
    config = json.loads((FIXTURES / "recipes/deepseek-v3-fp8.json").read_text())["beside"]["config.json"]
    assert inspector.memory(config).weights.nbytes == 688_574_839_360 - 15_424_227_552 - 58 * 256 * 2


def test_scales_that_are_quantized_too() -> None:
    """NF4 with double quantization: for 64 weights a byte, for 256 of these 4 bytes (QLoRA, section 3), and two tables."""
    declared = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    nested = {**LLAMA, "quantization_config": {**declared, "bnb_4bit_use_double_quant": True}}
    linear = 8_030_261_248 - 2 * 128256 * 4096 - 65 * 4096
    expected = 2 * (8_030_261_248 - linear) + linear // 2 + linear // 64 + linear // 64 // 256 * 4
    result = inspector.memory(nested).weights.nbytes
    assert 0 <= result - expected <= 32 * 7 * 1300  # tables of 16 and 256 in 32 bits, and a description


@every("name, linear", {"mixtral-8x7b": 1_342_177_280, "llama-7b": 6_476_005_376}.items())
def test_experts_in_one_tensor_are_left_plain_by_bitsandbytes(name: str, linear: int) -> None:
    """Elements of the modules that `replace_with_bnb_linear` of Transformers 5.24 replaces: of Mixtral attention alone."""
    total = inspector.predict(name).parameters
    expected = linear // 2 + linear // 64 * 4 + 2 * (total - linear)
    for result in (inspector.memory(name, weights="nf4"), inspector.memory(name, weights="int8")):
        bits = 4 if result.weights.dtype.endswith("nf4") else 8
        exact = expected if bits == 4 else linear + 2 * (total - linear)
        assert 0 < result.weights.nbytes - exact < exact // 1000
    written = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    config = {**PRESETS[name], "quantization_config": written}
    assert (
        inspector.memory({**config, "transformers_version": "5.2.0"}).weights.nbytes
        == inspector.memory(name, weights="nf4").weights.nbytes
    )
    older = inspector.memory({**config, "transformers_version": "4.44.0"}).weights.nbytes
    assert older < total * 0.65


def test_weights_in_a_mixture_are_those_of_the_quantizer() -> None:
    """`--weights q4_k_m` is the size of the published file's tensors, as `inspect quants` says it."""
    (quant,) = (each for each in inspector.quants("llama-3.1-8b").quants if each.name == "Q4_K_M")
    assert inspector.memory("llama-3.1-8b", weights="q4_k_m", engine="llama.cpp").weights.nbytes == 4_912_898_048
    assert quant.nbytes == 4_912_898_048


def test_an_unknown_type_still_has_its_weights_and_context(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Of a type without a table: the weights of the files, why the rest is missing, the stated context."""
    numpy = pytest.importorskip("numpy")
    from safetensors.numpy import save_file

    unknown = {"model_type": "mystery", "text_config": {"max_position_embeddings": 65536}}
    (tmp_path / "config.json").write_text(json.dumps(unknown))
    ran = inspect("memory", tmp_path / "config.json")
    assert ran.code == 2
    assert "states a context of 65,536 tokens" in ran.err
    save_file({"mix.weight": numpy.zeros((8, 8), "float16")}, tmp_path / "model.safetensors")
    result = inspector.memory(tmp_path)
    assert (result.weights.nbytes, result.cache, result.request.context) == (128, None, 65536)
    assert [each.rule for each in result.findings] == ["cache-unknown"]


@pytest.mark.parametrize(
    ("stated", "engine", "width"),
    [
        ("bfloat16", "transformers", 2),
        ("float32", "transformers", 4),
        (None, "transformers", 4),
        ("float32", "vllm", 2),
    ],
)
def test_weights_are_loaded_in_the_type_of_the_model(
    stated: str | None, engine: str, width: int, tmp_path: Path
) -> None:
    """`get_memory_footprint` of Transformers 5.24 for GPT-2s in F32: half of the file where `dtype` says so."""
    numpy = pytest.importorskip("numpy")
    from safetensors.numpy import save_file

    config = {
        "model_type": "gpt2",
        "n_embd": 8,
        "n_layer": 1,
        "n_head": 2,
        "vocab_size": 16,
        "n_positions": 4,
        "dtype": stated,
    }
    (tmp_path / "config.json").write_text(json.dumps({key: value for key, value in config.items() if value}))
    rows = inspector.predict(tmp_path / "config.json").expected
    tensors = {name: numpy.zeros(row.shape, "float32") for row in rows for name in row.names()}
    save_file(tensors, tmp_path / "model.safetensors")
    result = inspector.memory(tmp_path, engine=engine).weights
    assert result.nbytes == width * sum(each.size for each in tensors.values())
    assert any("is loaded in" in each for each in result.assumes) == (width == 2)


@pytest.mark.parametrize(("stage", "divided"), [(0, 0), (1, 12), (2, 14), (3, 16)])
def test_zero_divides_states_gradients_and_weights_by_stage(stage: int, divided: int) -> None:
    """AdamW in mixed precision: weights and gradients have 2 bytes each, states and the copy 12 (arXiv:1910.02054)."""
    from inspector.sizing.training import Plan

    number, devices = 8_030_261_248, 16
    found = inspector.memory(LLAMA, training=Plan(zero=stage, devices=devices)).training
    assert found
    assert found.weights + found.gradients + found.optimizer + found.master == (16 - divided) * number + -(
        -divided * number // devices
    )


@pytest.mark.parametrize(
    ("optimizer", "precision", "states"),
    [
        ("adamw", "mixed", 8 * 8_030_261_248),
        ("adamw", "bf16", 4 * 8_030_261_248),
        ("adamw", "fp32", 8 * 8_030_261_248),
        ("sgd", "mixed", 0),
        # 2 × (1 byte and 4 for 256), since Llama's tensors have multiples of 256 elements, none below 4,096
        ("adamw-8bit", "mixed", 2 * (8_030_261_248 + 4 * (8_030_261_248 // 256))),
        # momentum of matrices in layers, AdamW for the embedding, the head and 65 norms
        ("muon", "mixed", 4 * (8_030_261_248 - 1_050_939_392) + 8 * 1_050_939_392),
        # rows and columns: 128,256 + 4,096 twice; in each layer q, o: 8,192, k, v: 5,120, three of 18,432; norms whole
        ("adafactor", "mixed", 4 * (2 * 132352 + 32 * (2 * 8192 + 2 * 5120 + 3 * 18432) + 65 * 4096)),
    ],
)
def test_states_of_optimizers(optimizer: str, precision: str, states: int) -> None:
    """Llama 3.1 8B, worked out by hand."""
    from inspector.sizing.training import Plan

    found = inspector.memory(LLAMA, training=Plan(optimizer=optimizer, precision=precision)).training
    assert found
    assert found.optimizer == states


#: Table 1 of "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (Rajbhandari et al., 2020): GB on
#: each device, by number of devices, for 7.5 billion, 128 billion and a trillion parameters, at stages 1, 2 and 3.
ZERO = {
    4: ((52.5, 41.3, 30), (896, 704, 512), (7000, 5500, 4000)),
    16: ((35.6, 21.6, 7.5), (608, 368, 128), (4750, 2875, 1000)),
    64: ((31.4, 16.6, 1.88), (536, 284, 32), (4187, 2218, 250)),
    256: ((30.4, 15.4, 0.47), (518, 263, 8), (4046, 2054, 62.5)),
    1024: ((30.1, 15.1, 0.12), (513, 257, 2), (4011, 2013, 15.6)),
}


@every("devices", ZERO)
@every("stage", [1, 2, 3])
def test_zeros_own_table(devices: int, stage: int) -> None:
    """Its authors' figures for mixed precision and Adam, to the printed digits."""
    from inspector.sizing.training import Plan

    found = inspector.memory(LLAMA, training=Plan(zero=stage, devices=devices)).training
    assert found is not None
    each = (found.weights + found.gradients + found.optimizer + found.master) / found.trained
    for parameters, printed in zip((7.5e9, 128e9, 1e12), ZERO[devices], strict=True):
        gigabytes = each * parameters / 1e9
        assert gigabytes == pytest.approx(printed[stage - 1], rel=0.006, abs=0.006)


@every(
    "name",
    ["all-mpnet-base-v2", "deberta-v3-base", "vit-base-patch16-224", "clip-vit-base-patch32", "bge-large-en-v1.5"],
)
def test_an_encoder_keeps_nothing(name: str, made: Callable[[str], Path]) -> None:
    """No class of its type generates: a cache of 0 bytes, with a word for it, and nothing is said to be unknown."""
    result = inspector.memory(made(name))
    assert (result.cache, result.growth, result.model.kept, result.findings) == (0, 0, (), ())
    assert ("cache", "0", "0 B", "none: it generates nothing") in term_rows(result)


def _says(family: Family, depth: int = 0) -> bool:
    """Whether a family, or a part of it that generates, says what layers keep, or why that is unknown."""
    if family.cache is not None or family.uncached:
        return True
    parts = (entry for entry in family.rows if isinstance(entry, Include) and entry.tower in ("text", "decoder"))
    found = (family_of({"model_type": part.default_type}) for part in parts)
    return depth < 4 and any(_says(part, depth + 1) for part in found if part)


def test_every_type_that_generates_says_what_its_layers_keep() -> None:
    """Or why that is unknown."""
    families = {name: load(name) for name in set(model_types().values()) if not name.startswith("diffusers_")}
    causal = {name: family for name, family in families.items() if family.head in ("ForCausalLM", "LMHeadModel")}
    assert len(causal) > 200
    assert sorted(name for name, family in causal.items() if not _says(family)) == []


@pytest.mark.parametrize(
    ("config", "cached"),
    [
        # 3 layers × 2 heads × 16 × keys and values × 70 tokens × 2 bytes
        (
            {
                "model_type": "exaone",
                "hidden_size": 64,
                "num_layers": 3,
                "num_attention_heads": 4,
                "num_key_value_heads": 2,
            },
            26880,
        ),
        # 2 layers × 2 groups × 8 × keys and values × 70 × 2
        (
            {
                "model_type": "chatglm",
                "num_hidden_layers": 2,
                "multi_query_attention": True,
                "multi_query_group_num": 2,
                "kv_channels": 8,
                "num_attention_heads": 4,
                "hidden_size": 32,
            },
            8960,
        ),
        # 2 layers × 4 heads × 8 × keys and values × 70 × 2
        (
            {
                "model_type": "qwen",
                "num_hidden_layers": 2,
                "kv_channels": 8,
                "num_attention_heads": 4,
                "hidden_size": 32,
            },
            17920,
        ),
    ],
)
def test_plain_attention_of_types_with_code_of_their_own(config: dict[str, Any], cached: int) -> None:
    """Keys and values of every token, calculated by hand from the configuration's fields."""
    assert (
        70 * 2 * sum(each.elements * len(each.layers) for each in caches.kept(Config(config, "config.json"))) == cached
    )


def test_a_decoder_alone_has_no_encoder_to_keep_anything_of() -> None:
    """Whatever `add_cross_attention` says: ProphetNet's default has it."""
    values = {"model_type": "prophetnet", "add_cross_attention": True, "vocab_size": 50}
    assert caches.is_decoder_alone(Config({**values, "architectures": ["ProphetNetForCausalLM"]}, "config.json"))
    assert not caches.is_decoder_alone(
        Config({**values, "architectures": ["ProphetNetForConditionalGeneration"]}, "config.json")
    )


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        (("--gpu", "24"), "'24' is a device's memory without its unit: 24GB?"),
        (("--gpu", "4090"), "no device is called '4090': did you mean rtx-4090?"),
        (("--engine", "Ollama"), "Ollama runs llama.cpp; known: transformers"),
        (("--weights", "4bit"), "did you mean nf4, q4_k_m, gptq-4bit, awq-4bit?"),
        (("--cache-dtype", "q8", "--engine", "llama.cpp"), "did you mean q8_0?"),
    ],
)
def test_words_that_people_use(options: tuple[str, ...], stated: str, inspect: Callable[..., Ran]) -> None:
    ran = inspect("memory", "llama-7b", *options)
    assert ran.code == 2
    assert stated in ran.err


def test_names_in_any_spelling() -> None:
    """An engine without regard to case and punctuation; a size as people read it."""
    result = inspector.memory(LLAMA, engine="LLaMA-cpp", gpu="2x24 gb", context=8192)
    assert result.engine.name == "llama.cpp"
    assert [each.device.name for each in result.devices if each.device][:1] == ["24 GB"]
    assert devices("24g")[0].name == "24GiB"
    assert devices("64 b")[0].name == "64 B"


def test_heads_that_devices_cannot_share(inspect: Callable[..., Ran]) -> None:
    """vLLM: "Total number of attention heads (32) must be divisible by tensor parallel size (3)"."""
    ran = inspect("memory", "llama-3.1-8b", "--engine", "vllm", "--gpu", "3xa100")
    assert ran.code == 2
    assert "3 devices cannot share 32 attention heads evenly, and it refuses: --tp 2, or --pp" in ran.err
    assert inspector.memory(LLAMA, engine="vllm", gpu="3xa100", pp=3, context=8192).fits


@pytest.mark.parametrize(
    ("heads", "keys", "tp", "each"), [(6, 6, 3, 2), (6, 2, 2, 1), (6, 2, 3, None), (8, 1, 2, None), (6, 3, 2, None), (4, 4, 3, None)]
)  # fmt: skip
def test_transformers_divides_heads(heads: int, keys: int, tp: int, each: int | None) -> None:
    """What Llama's cache had on rank 0 of `tp_plan="auto"` (release 5.24, gloo): heads; or it failed ("shape is invalid")."""
    config = {
        **LLAMA, "hidden_size": 16 * heads, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": heads,
        "num_key_value_heads": keys, "vocab_size": 120,
    }  # fmt: skip
    if each is None:
        with pytest.raises(
            UsageError, match=rf"transformers: {tp} devices cannot share {keys if keys % tp else heads}"
        ):
            inspector.memory(config, context=10, tp=tp)
    else:
        (first, *_) = inspector.memory(config, context=10, tp=tp).devices
        assert first.cache == 2 * 2 * each * 10 * 16 * 2  # keys and values, layers, heads, tokens, elements, bytes


def test_each_context_is_divided_alike(inspect: Callable[..., Ran]) -> None:
    """Columns are of the devices that were asked for: 131,072 tokens take 32 times as much as 4,096."""
    out = inspect("memory", "llama-3.1-8b", "--tp", "4", "--gpu", "4xa100").out
    cache = next(line for line in out.splitlines() if line.startswith("cache")).split()
    assert (cache[2], cache[6]) == ("MB", "GB")
    assert 1000 * float(cache[5]) == pytest.approx(32 * float(cache[1]), rel=0.01)
