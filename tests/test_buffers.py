"""The buffers that llama.cpp reserves: figures that the library itself printed, and its allocator by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sparse_gguf import write_gguf

import inspector
from inspector.architectures.caches import Kept
from inspector.cli.commands import inspect
from inspector.errors import UsageError
from inspector.sizing import resident
from inspector.sizing.beside import buffer_of
from inspector.sizing.engines import graphs, llama_cpp
from inspector.sizing.engines.engine import Request
from inspector.sizing.engines.graphs import Arena
from inspector.sizing.widths import WIDTHS

_CLASS = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "mixtral": "MixtralForCausalLM",
          "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM", "olmo2": "Olmo2ForCausalLM"}  # fmt: skip


def _config(kind: str, hidden: int, wide: int, heads: int, kv: int, vocabulary: int, **others: Any) -> dict[str, Any]:
    return {
        "model_type": kind, "architectures": [_CLASS[kind]], "num_hidden_layers": 2, "vocab_size": vocabulary,
        "hidden_size": hidden, "intermediate_size": wide, "num_attention_heads": heads, "num_key_value_heads": kv,
        "max_position_embeddings": 131072, **others,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("config", "at_4k", "at_32k"),
    [
        (_config("llama", 4096, 14336, 32, 8, 128256), 128.0, 156.0),
        (_config("llama", 2048, 8192, 32, 8, 128256), 72.0, 100.0),
        (_config("llama", 4096, 11008, 32, 32, 32000), 108.5, 136.5),
        (_config("mixtral", 4096, 14336, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2), 212.0, 240.0),
        (_config("qwen2", 3584, 18944, 28, 4, 152064), 150.0, 178.0),
        (_config("qwen2", 896, 4864, 14, 2, 151936), 41.3, 69.3),
        (_config("qwen3", 4096, 12288, 32, 8, 151936, head_dim=128), 116.0, 144.0),
        (_config("qwen3_moe", 2048, 6144, 32, 4, 151936, head_dim=128, num_experts=128, num_experts_per_tok=8,
                 moe_intermediate_size=768), 92.0, 120.0),
        (_config("olmo2", 4096, 11008, 32, 32, 100352), 108.52, 136.52),
    ],
    ids=["llama-3.1-8b", "llama-3.2-1b", "llama-2-7b", "mixtral", "qwen2.5-7b", "qwen2.5-0.5b", "qwen3-8b", "qwen3-30b-a3b", "olmo2-7b"],
)  # fmt: skip
def test_published_widths(config: dict[str, Any], at_4k: float, at_32k: float) -> None:
    """MiB that b11549's server printed as its compute buffer, for two layers of these widths and one sequence."""
    for context, printed in ((4096, at_4k), (32768, at_32k)):
        result = inspector.memory(config, engine="llama.cpp", context=context)
        assert result.activations
        assert result.activations.nbytes / 2**20 == pytest.approx(printed, rel=0.002)
        assert result.activations.version == "b11549"


def test_scores_are_kept_for_each_head_without_flash_attention() -> None:
    """Without flash attention scores of 32 heads are kept: 4 bytes × 512 tokens × 4,096 cells × 32, and little else."""
    config = _config("llama", 4096, 14336, 32, 8, 128256)
    plain = inspector.memory(config, engine="llama.cpp", context=4096, flash_attention=False)
    assert plain.activations
    assert 0 <= plain.activations.nbytes - 4 * 512 * 4096 * 32 < 64 * 2**20
    assert [(each.name, each.nbytes) for each in plain.other] == [("output", 4 * 128256)]


@pytest.mark.parametrize(("cache", "printed"), [("f16", 5.25), ("q8_0", 5.33)])
def test_keys_in_blocks_are_rotated_before(cache: str, printed: float) -> None:
    """MiB that b11549 printed for Qwen3 4B's widths and batches of 32 tokens: rotation adds the matrices of 128² and 64²."""
    config = _config("qwen3", 2560, 9728, 32, 8, 151936, head_dim=128)
    result = inspector.memory(config, engine="llama.cpp", context=2048, batch=32, cache_dtype=cache)
    assert result.activations
    assert result.activations.nbytes / 2**20 == pytest.approx(printed, abs=0.005)


def test_the_smallest_hole_is_taken() -> None:
    """As in ggml-alloc.c: bytes in multiples of 32, the smallest hole that is large enough, the end only if there is none."""
    arena = Arena()
    for nbytes in (100, 32, 64, 32):  # 0–128, 128–160, 160–224, 224–256
        arena.add(nbytes)
    assert arena.top == 256
    arena.drop(4)
    arena.drop(2)
    arena.add(40)  # 64 bytes at 160, not 128 at 0
    assert arena.live[-1] == (160, 64)
    arena.add(130)
    assert arena.top == 256 + 160
    arena.drop(2)
    arena.drop(3)  # the first hole and its neighbour become one
    arena.add(160)
    assert arena.live[-1] == (0, 160)


def _file(case: dict[str, Any], path: Path) -> Path:
    """The case's file, with a hole for data."""
    entries = [
        ("F32", shape, name.replace("{}", str(layer)))
        for name, shape, *layers in case["tensors"]
        for layer in (layers[0] if layers else [0])
    ]
    write_gguf(path, [tuple(pair) for pair in case["pairs"]], entries)
    return path


def test_drawn_models(tmp_path: Path) -> None:
    """What b11549 printed for drawn models and contexts: 95 % of those answered within 5 % (docs/memory.md)."""
    ratios: dict[str, float] = {}
    unknown: list[str] = []
    for line in (Path(__file__).parents[1] / "fixtures" / "buffers_llama_cpp.jsonl").read_text().splitlines():
        case = json.loads(line)
        result = inspector.memory(_file(case, tmp_path / "model.gguf"), engine="llama.cpp", **case["options"])
        if result.activations is None:
            unknown.append(case["architecture"])
            continue
        ratios[case["architecture"]] = result.activations.nbytes / 2**20 / case["compute"]
    off = {name: ratio for name, ratio in ratios.items() if abs(ratio - 1) > 0.05}
    assert len(off) <= len(ratios) * 0.05, off
    assert len(unknown) <= 6, unknown
    assert len(ratios) >= 130


class _Any(dict[str, Any]):
    """Weights, fields and what is kept, all of them there."""

    def __missing__(self, key: str) -> Any:
        return (7, 5) if "." in key or "_" in key else 7

    def get(self, key: str, default: Any = None) -> Any:
        return (7, 5)


def test_the_data_is_sound() -> None:
    """Each name leads to a graph; each part can follow others, and then frees only what is there; each word has a size."""
    known = json.loads(graphs.DATA.read_text("utf-8"))["architectures"]
    layer = graphs.Layer(_Any(), lambda _: 7, _Any(), frozenset(), _Any())
    letters = graphs.Batch(8, 2, 256, 256, 2)
    for name, entry in known.items():
        if isinstance(entry, str):
            assert not isinstance(known[entry], str), name
            continue
        for kind in entry:
            assert all(choices[-1][0] == "" for choices in entry[kind]), name
            before, layers, after = ([tuple(graphs._steps(text, layer)) for _, text in part] for part in entry[kind])
            for step in (each for part in (*before, *layers, *after) for each in part if isinstance(each, tuple)):
                assert all(letters.number(word, 3) >= 0 and times > 0 for word, times in step), name
            starts = {graphs.left_after(part, 0) for part in before}
            assert None not in starts, name
            reached, met = set(starts), set[int]()
            for _ in range(6):  # layers
                for part in layers:
                    left = {graphs.left_after(part, live) for live in reached if live is not None} - {None}
                    if left:
                        met.add(layers.index(part))
                        reached |= left
            assert len(met) == len(set(layers)), name
            for part in after:
                assert any(graphs.left_after(part, live) is not None for live in reached if live is not None), name


def test_a_graph_that_frees_a_missing_part_is_unknown() -> None:
    """A graph whose parts do not fit each other is unknown, and no error."""
    size = (("T", 4.0),)
    assert graphs.left_after((size, size, 2), 0) == 1
    assert graphs.left_after((size, 2), 0) is None
    assert graphs.left_after((-2,), 1) is None
    assert graphs.left_after((size, frozenset({0, 1})), 2) == 3
    assert graphs.left_after((frozenset({2}),), 2) is None
    assert not graphs._is_sound([(size,), (1,), (1,)])
    assert graphs._is_sound([(size,), (size, 1), (size, 1)])


def test_real_processes(tmp_path: Path) -> None:
    """Mapped and repacked weights as b11549 printed them on an x86-64 CPU; within 5 % of what the processes took."""
    for line in (Path(__file__).parents[1] / "fixtures" / "resident_llama_cpp.jsonl").read_text().splitlines():
        case = json.loads(line)
        tensors = [(dtype, shape, name) for name, dtype, shape in case["tensors"]]
        write_gguf(tmp_path / "model.gguf", [("general.architecture", "string", "llama")], tensors)
        result = inspector.reconcile(tmp_path / "model.gguf")
        mapped, copied = resident.mapped_and_repacked(result, case["cpu"])
        printed = case["printed"]
        assert mapped / 2**20 == pytest.approx(printed["CPU_Mapped model"], abs=0.02)
        assert copied / 2**20 == pytest.approx(printed["CPU_REPACK model"], abs=0.02)
        rest = case["parts"].get("vocabulary", 0) + printed["KV"] + printed["compute"] + printed["output"]
        assert (mapped + copied) / 2**20 + rest == pytest.approx(case["resident"], rel=0.05)


def test_weights_are_repacked_by_type_and_instruction_set(tmp_path: Path) -> None:
    """By hand: Q4_0 in groups of 8 rows on AVX2 and of 4 with NEON, Q6_K with NEON alone; looked-up rows never."""
    tensors = [
        ("Q4_0", [12, 32], "token_embd.weight"), ("Q4_0", [12, 32], "blk.0.attn_q.weight"),
        ("Q4_0", [16, 32], "blk.0.attn_k.weight"), ("Q6_K", [8, 256], "blk.0.ffn_up.weight"),
        ("Q4_0", [2, 16, 32], "blk.0.ffn_up_exps.weight"), ("Q4_0", [2, 16, 32], "blk.0.attn_k_b.weight"),
        ("F32", [32], "output_norm.weight"),
    ]  # fmt: skip
    keys = [
        ("general.architecture", "string", "llama"),
        ("tokenizer.ggml.model", "string", "gpt2"),
        ("tokenizer.ggml.tokens", "array[string]", ["a", "b", "ab"]),
        ("tokenizer.ggml.merges", "array[string]", ["a b"]),
    ]
    write_gguf(tmp_path / "tied.gguf", keys, tensors)
    tied = inspector.reconcile(tmp_path / "tied.gguf")
    row, rows_k = 18, 210  # bytes of 32 elements in Q4_0, of 256 in Q6_K
    assert resident.mapped_and_repacked(tied, "avx2")[1] == row * (16 + 2 * 16)
    assert resident.mapped_and_repacked(tied, "neon")[1] == row * (12 + 12 + 16 + 2 * 16) + rows_k * 8
    assert dict(resident.parts_of(tied, "avx2"))["vocabulary"] == 230 * 4
    write_gguf(tmp_path / "headed.gguf", keys, [*tensors, ("Q4_0", [12, 32], "output.weight")])
    headed = inspector.reconcile(tmp_path / "headed.gguf")
    assert resident.mapped_and_repacked(headed, "neon")[1] == row * (12 + 12 + 16 + 2 * 16) + rows_k * 8


def test_the_verdict_counts_every_buffer() -> None:
    """What is on the device is the total: weights, cache, compute buffer and output."""
    config = _config("llama", 4096, 14336, 32, 8, 128256)
    found = inspector.memory(config, engine="llama.cpp", context=4096, gpu="24GiB")
    assert found.devices[0].nbytes == found.total
    assert found.touched is None


def test_older_builds() -> None:
    """Gemma 3 270M's buffer at 4,096 tokens: b9294 printed 514.50 MiB, logits of all 512 tokens; b10229 22.77; b11549 23.28."""
    config = {
        "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "vocab_size": 262144, "hidden_size": 640,
        "intermediate_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 4, "num_key_value_heads": 1,
        "head_dim": 256, "sliding_window": 512, "max_position_embeddings": 32768,
    }  # fmt: skip
    for build, printed in (("@9294", 514.5), ("@b10229", 22.77), ("", 23.28)):
        found = inspector.memory(config, engine=f"llama.cpp{build}", context=4096).activations
        assert found
        assert found.nbytes / 2**20 == pytest.approx(printed, rel=0.03)
    for wrong in ("llama.cpp@", "llama.cpp@new", "vllm@1", "llama.cpp@" + "9" * 40):
        with pytest.raises(UsageError, match=r"llama\.cpp@9294"):
            inspector.memory(config, engine=wrong)


def _tower(case: dict[str, Any], path: Path) -> Path:
    keys = [(key, "array[int32]" if isinstance(value, list) else _KINDS[type(value)], value) for key, value in case["keys"].items()
            if not isinstance(value, list) or isinstance(value[0], int)]  # fmt: skip
    return _file({"pairs": [("general.architecture", "string", "clip"), *keys], "tensors": case["tensors"]}, path)


_KINDS = {bool: "bool", int: "uint32", float: "float32", str: "string"}
_TOWERS = Path(__file__).parents[1] / "fixtures" / "towers_llama_cpp.jsonl"


def test_towers(tmp_path: Path) -> None:
    """MiB that b11549 printed for drawn vision towers: each within 1 %."""
    for line in _TOWERS.read_text().splitlines():
        case = json.loads(line)
        nbytes = buffer_of(inspector.reconcile(_tower(case, tmp_path / "mmproj.gguf")))
        assert nbytes, case["from"]
        assert nbytes / 2**20 == pytest.approx(case["compute"], rel=0.01), case["from"]


@pytest.fixture
def tower(tmp_path: Path) -> tuple[Path, int]:
    """The file of one with the sizes of Gemma 3's, and the bytes of its tensors."""
    case = next(case for case in map(json.loads, _TOWERS.read_text().splitlines()) if case["from"].startswith("Gemma3"))
    path = _tower(case, tmp_path / "mmproj.gguf")
    return path, sum(4 * math.prod(shape) * len((*layers, [0])[0]) for _, shape, *layers in case["tensors"])


def test_a_tower_and_a_draft_beside_have_their_sizes(tower: tuple[Path, int]) -> None:
    """By hand: a tower's tensors in F32; a draft's 32 layers keep 2 × 4096 × 2 bytes of each of 4,096 tokens, 2 GiB."""
    path, tensors = tower
    config = _config("llama", 2048, 8192, 32, 8, 128256)
    alone = inspector.memory(config, engine="llama.cpp", context=4096, gpu="2x80GiB")
    found = inspector.memory(config, engine="llama.cpp", context=4096, gpu="2x80GiB", mmproj=path, draft="llama-7b")
    sizes = {each.name: each.nbytes for each in found.other}
    assert sizes["mmproj"] == tensors
    assert sizes["draft cache"] == 2 * 2**30
    assert sizes["draft model"] == inspector.memory("llama-7b").weights.nbytes
    assert sizes["output"] == 4 * 128256 * (1 + 3)  # three tokens are proposed, and one more comes of them
    assert found.total - alone.total == sum(sizes.values()) - 4 * 128256
    first, second = (new.nbytes - old.nbytes for new, old in zip(found.devices, alone.devices, strict=True))
    assert second == 4 * 128256 * 3
    assert first == sum(sizes.values()) - 4 * 128256


def test_an_unknown_tower_or_draft_is_a_finding_or_an_error(tower: tuple[Path, int], tmp_path: Path) -> None:
    config = _config("llama", 2048, 8192, 32, 8, 128256)
    other = tmp_path / "other.gguf"
    keys = [("general.architecture", "string", "clip"), ("clip.projector_type", "string", "a new one")]
    write_gguf(other, keys, [("F32", [8, 8], "v.patch_embd.weight")])
    draft = tmp_path / "draft.gguf"
    write_gguf(draft, [("general.architecture", "string", "deepseek4")], [("F32", [8, 8], "token_embd.weight")])
    found = inspector.memory(config, engine="llama.cpp", mmproj=other, draft=draft)
    why = [each.message for each in found.findings if each.rule == "beside-unknown"]
    assert why[0].startswith("mmproj: what llama.cpp reserves for a tower of kind a new one is not known")
    assert [each.partition(":")[0] for each in why] == ["mmproj", "draft", "draft"]
    with pytest.raises(UsageError, match=r"llama\.cpp's, not vllm's"):
        inspector.memory(config, engine="vllm", mmproj=tower[0])
    write_gguf(other, [("general.architecture", "string", "llama")], [])
    with pytest.raises(UsageError, match="its architecture is llama"):
        inspector.memory(config, engine="llama.cpp", mmproj=other)


def test_states_that_can_be_returned_to() -> None:
    """b11549 printed 0.94 MiB of states for an LFM2 with three snapshots of each (`n_rs_seq`): four times as many."""
    kept = Kept("recurrent", (0, 1, 2, 3), 7680, 0, None, 3, None, 1, False, None, "", False, (), "")
    request = Request(4096, 1, 0, WIDTHS["F16"], WIDTHS["F16"], WIDTHS["F16"])
    (once,), (returned,) = (llama_cpp.hold([kept], each) for each in (request, request._replace(snapshots=3)))
    assert returned.nbytes == 4 * once.nbytes == 4 * 4 * 4 * 7680 * 2


def test_a_screen_names_what_is_beside(tower: tuple[Path, int]) -> None:
    result = CliRunner().invoke(inspect, ["memory", "llama-7b", "--engine", "llama.cpp", "--mmproj", str(tower[0])])
    assert result.exit_code == 0
    assert "beside" in result.output
    assert "mmproj.gguf" in result.output
