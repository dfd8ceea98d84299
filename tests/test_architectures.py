"""Published totals of mixtures of experts, and the command that lists architectures."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from every import every

from inspector.architectures import GgufArchitecture, family_of, knowledge_of, listed, model_types
from inspector.architectures.data.dialects import OWN_TYPES, type_of_class
from inspector.architectures.prediction import predict
from inspector.architectures.store import store
from inspector.architectures.table_file import joined
from inspector.cli.commands import inspect
from inspector.model import Config

#: Published total and active parameters.
PUBLISHED: dict[str, tuple[dict[str, Any], int, tuple[float, float]]] = {
    "DeepSeek-V3": (
        {"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]},
        671_026_404_352,  # its authors' 671,026,419,200 counts 58 biases of 256 experts, buffers to Transformers
        (36, 39),
    ),
    "DeepSeek-V4": (
        {"model_type": "deepseek_v4"},
        284_325_869_015,
        (13.7, 13.9),
    ),  # Transformers' class at its defaults
    "Mixtral-8x7B": ({"model_type": "mixtral"}, 46_702_792_704, (12.8, 12.95)),
    "Qwen3-235B-A22B": (
        {
            "model_type": "qwen3_moe",
            "hidden_size": 4096,
            "moe_intermediate_size": 1536,
            "num_attention_heads": 64,
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "num_hidden_layers": 94,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "vocab_size": 151936,
        },
        235_093_634_560,
        (21.9, 22.3),
    ),
    "Qwen3-Next-80B-A3B": (
        {"model_type": "qwen3_next", "intermediate_size": 5120},
        79_674_391_296,
        (3.0, 3.9),  # 3 without the two embeddings
    ),
    "gpt-oss-120b": ({"model_type": "gpt_oss"}, 116_829_156_672, (5.1, 5.75)),  # 5.1 without the token embedding
    "Llama-4-Scout, text": ({"model_type": "llama4_text"}, 107_769_861_120, (17.0, 17.3)),
    "DeepSeek-V2": (
        {
            "model_type": "deepseek_v2",
            "hidden_size": 5120,
            "intermediate_size": 12288,
            "moe_intermediate_size": 1536,
            "num_hidden_layers": 60,
            "num_attention_heads": 128,
            "n_routed_experts": 160,
            "num_experts_per_tok": 6,
            "first_k_dense_replace": 1,
        },
        235_741_434_880,
        (20.9, 21.5),
    ),
    "DeepSeekMoE-16B": (
        {
            "model_type": "deepseek",
            "hidden_size": 2048,
            "intermediate_size": 10944,
            "moe_intermediate_size": 1408,
            "num_hidden_layers": 28,
            "num_attention_heads": 16,
            "n_routed_experts": 64,
            "n_shared_experts": 2,
            "num_experts_per_tok": 6,
            "first_k_dense_replace": 1,
        },
        16_375_728_128,
        (2.7, 2.9),
    ),
    "Llama-3.2-11B-Vision": (
        {"model_type": "mllama", "vision_config": {"image_size": 560}},
        10_670_220_835,
        (10.6, 10.7),
    ),
    "Qwen3-Omni-30B-A3B": (
        {
            "model_type": "qwen3_omni_moe",
            "thinker_config": {
                "text_config": {
                    "hidden_size": 2048,
                    "moe_intermediate_size": 768,
                    "num_attention_heads": 32,
                    "num_experts": 128,
                    "num_hidden_layers": 48,
                    "num_key_value_heads": 4,
                    "head_dim": 128,
                    "vocab_size": 152064,
                },
                "vision_config": {"out_hidden_size": 2048},
                "audio_config": {"output_dim": 2048},
            },
            "talker_config": {
                "text_config": {"head_dim": 128, "shared_expert_intermediate_size": 768},
                "code_predictor_config": {"num_code_groups": 16},
            },
        },
        35_259_818_545,
        (5.2, 5.3),  # 3 of the thinker's text model
    ),
    "DBRX": (
        {
            "model_type": "dbrx",
            "d_model": 6144,
            "n_heads": 48,
            "n_layers": 40,
            "vocab_size": 100352,
            "attn_config": {"kv_n_heads": 8},
            "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        },
        131_596_523_520,
        (36.0, 36.6),
    ),
}


@every("name", PUBLISHED)
def test_published_mixtures(name: str) -> None:
    """The total to the parameter, the active ones as rounded by their makers, in units of 10⁹."""
    values, total, (low, high) = PUBLISHED[name]
    prediction = predict(Config(values, "config.json"))
    assert prediction.parameters == total
    assert low <= prediction.active / 1e9 <= high


def test_architectures_command() -> None:
    """Families with their model types and coverage, as text and as JSON."""
    shown = CliRunner().invoke(inspect, ["architectures", "qwen2"])
    assert shown.exit_code == 0
    assert "llama" in shown.output
    listed = json.loads(CliRunner().invoke(inspect, ["architectures", "--json"]).output)
    assert {each["model_type"] for each in listed["model_types"]} == set(model_types())


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({"model_type": "mistral", "sliding_window": 4096}, 4096),
        ({"model_type": "mistral", "sliding_window": None}, None),
        ({"model_type": "qwen2", "sliding_window": 32768}, None),
        ({"model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": True}, 32768),
    ],
)
def test_a_window_that_is_switched_off_is_not_a_fact(config: dict[str, object], window: int | None) -> None:
    """Qwen2's configurations give a window that no layer uses."""
    from inspector.architectures.facts import facts

    known = {fact.name: fact.value for fact in facts(Config(config, "config.json"))}
    assert known.get("window") == window


def test_kimi_k3_weighs_what_its_index_states() -> None:
    """1,560,860,324,864 bytes in 497,220 tensors: each expert's weight has two, of 4 bits and of a scale for 32 of them."""
    attends = [*range(4, 93, 4), 93]
    text = {
        "hidden_size": 7168, "intermediate_size": 33792, "moe_intermediate_size": 3072, "num_hidden_layers": 93,
        "num_attention_heads": 96, "num_experts": 896, "num_experts_per_token": 16, "num_shared_experts": 2,
        "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840, "routed_expert_hidden_size": 3584,
        "latent_moe_use_norm": True, "attn_res_block_size": 12, "mla_use_output_gate": True,
        "linear_attn_config": {
            "full_attn_layers": attends, "head_dim": 128, "num_heads": 96, "short_conv_kernel_size": 4,
            "use_full_rank_gate": True,
        },
    }  # fmt: skip
    found = predict(Config({"model_type": "kimi_k3", "text_config": text, "vision_config": {}}, "config.json"))
    wide = ("A_log", "dt_bias", "attn_sub_norm", "conv1d", "router_bias")
    nbytes = tensors = 0
    for row in found.expected:
        number = sum(1 for _ in row.keys())
        packed = ".experts." in row.name
        bits = 4 if packed else 32 if row.role in wide else 16
        nbytes += number * prod(row.shape) * bits // 8 + (number * prod(row.shape) // 32 if packed else 0)
        tensors += number * (1 + packed)
    assert (nbytes, tensors) == (1_560_860_324_864, 497_220)


def test_the_page_lists_no_type_without_a_table_that_has_one() -> None:
    """A name in parentheses in the section's first column says which model is meant, whose type has a table."""
    section = (
        Path("docs/architectures.md").read_text(encoding="utf-8").split("## Types without a table")[1].split("\n## ")[0]
    )
    names = [name for line in section.splitlines() if line.startswith("| ") for name in line.split("|")[1].split(",")]
    classes = re.findall(r"`([A-Z]\w+)`", section)
    assert len(names) > 5
    assert len(classes) > 40
    assert [name for name in names if "(" not in name and family_of({"model_type": name.strip()})] == []
    assert [name for name in classes if OWN_TYPES.get(name) or type_of_class(name)] == []


def test_every_table_says_what_it_was_made_from_and_how() -> None:
    """Package, version and place; derived or by hand. What a hand adds to a derived table is in an overlay."""
    tables = [
        (kind, name, store().find(kind, name))
        for kind in ("families", "gguf", "projectors")
        for name in store().names(kind)
    ]
    unsaid = [
        f"{kind}/{name}"
        for kind, name, table in tables
        if not table.get("source") or table.get("made") not in ("derived", "hand")
    ]
    assert len(tables) > 1000
    assert unsaid == []
    derived = [joined(table["source"]) for *_, table in tables if table["made"] == "derived"]
    assert [source for source in derived if not re.match(r"(Transformers|diffusers) [\d.]+: ", source)] == []


def test_every_type_has_a_coverage_figure() -> None:
    """Types that no library has are compared with configurations whose tensors are known, and say how many."""
    assert [each.model_type for each in listed() if each.default is None and each.changed is None] == []
    outside = {
        each: number
        for name in store().names("families")
        for each, number in store().find("families", name).get("outside", {}).items()
    }
    assert [each for each, number in outside.items() if number < 1] == []


@pytest.mark.parametrize(
    ("config", "table", "checked"),
    [
        ({"model_type": "afmoe"}, "families/afmoe", r"Transformers \d+\.\d+\.\d+"),
        ({"model_type": "PriorTransformer"}, "families/diffusers_prior_transformer", r"diffusers \d+\.\d+\.\d+"),
        ({"model_type": "baichuan"}, "families/baichuan", "2 configurations with known tensors"),
        ({"general.architecture": GgufArchitecture("llama")}, "gguf/llama", "llama.cpp of .+"),
        ({"model_type": "unheard_of"}, None, None),
    ],
)
def test_knowledge_names_its_table_and_the_release_it_was_checked_against(
    config: dict[str, Any], table: str | None, checked: str | None
) -> None:
    """The table, and the newest release, or the number of configurations, that it was compared with."""
    known = knowledge_of(config)
    assert known.table == table
    assert (known.made in ("derived", "hand")) == (table is not None)
    assert known.checked_against == checked or re.fullmatch(str(checked), str(known.checked_against))


def test_the_knowledge_is_shown_and_in_the_json(tmp_path: Path) -> None:
    """`inspect architectures TYPE` shows it for a few types; the JSON of a prediction has it."""
    shown = CliRunner().invoke(inspect, ["architectures", "afmoe"]).output
    assert re.search(r"afmoe: from Transformers \S+: models/afmoe, by hand; checked against Transformers \d", shown)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    found = json.loads(CliRunner().invoke(inspect, ["predict", str(tmp_path / "config.json"), "--json"]).output)
    assert found["knowledge"].keys() == {"table", "made_from", "made", "checked_against", "asked", "relative"}
    assert found["knowledge"]["table"] == "families/gpt2"
    assert found["knowledge"]["asked"] is None
