"""Sparse checkpoints for the loopback Hub: true headers, and data that is a hole in the file."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

WIDTH = {"F32": 4, "F16": 2, "BF16": 2}

Spec = tuple[str, str, tuple[int, ...]]  # name, dtype, shape


def nbytes(spec: Spec) -> int:
    _, dtype, shape = spec
    size = WIDTH[dtype]
    for dim in shape:
        size *= dim
    return size


def safetensors_head(specs: Iterable[Spec], exactly: int | None = None) -> tuple[bytes, int]:
    """(length field and header as the `safetensors` package writes it, bytes of data).

    `exactly`: pad the header to this many bytes.
    """
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for spec in specs:
        end = offset + nbytes(spec)
        entries[spec[0]] = {"dtype": spec[1], "shape": spec[2], "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text = text.ljust(exactly if exactly is not None else -(-len(text) // 8) * 8)
    return struct.pack("<Q", len(text)) + text, offset


def sparse(path: Path, head: bytes, data: int) -> Path:
    """A file of `head` and `data` bytes whose data takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + data)
    return path


def safetensors(path: Path, specs: Iterable[Spec], exactly: int | None = None) -> Path:
    return sparse(path, *safetensors_head(specs, exactly))


def sharded(folder: Path, specs: Sequence[Spec], shards: int, stem: str = "model") -> None:
    """Shards of about the same size, and their index."""
    limit = -(-sum(map(nbytes, specs)) // shards)
    groups: list[list[Spec]] = [[]]
    filled = 0
    for spec in specs:
        if filled >= limit * len(groups) and len(groups) < shards:
            groups.append([])
        groups[-1].append(spec)
        filled += nbytes(spec)
    weight_map: dict[str, str] = {}
    for number, group in enumerate(groups, 1):
        name = f"{stem}-{number:05d}-of-{len(groups):05d}.safetensors"
        safetensors(folder / name, group)
        weight_map |= {spec[0]: name for spec in group}
    index = {"metadata": {"total_size": sum(map(nbytes, specs))}, "weight_map": weight_map}
    (folder / f"{stem}.safetensors.index.json").write_text(json.dumps(index, indent=2))


def llama(layers: int = 32, hidden: int = 4096, inner: int = 11008, vocabulary: int = 32000) -> Iterator[Spec]:
    yield "model.embed_tokens.weight", "F16", (vocabulary, hidden)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            yield f"{at}.self_attn.{name}.weight", "F16", (hidden, hidden)
        yield f"{at}.self_attn.rotary_emb.inv_freq", "F16", (64,)
        for name in ("gate_proj", "up_proj"):
            yield f"{at}.mlp.{name}.weight", "F16", (inner, hidden)
        yield f"{at}.mlp.down_proj.weight", "F16", (hidden, inner)
        yield f"{at}.input_layernorm.weight", "F16", (hidden,)
        yield f"{at}.post_attention_layernorm.weight", "F16", (hidden,)
    yield "model.norm.weight", "F16", (hidden,)
    yield "lm_head.weight", "F16", (vocabulary, hidden)


LLAMA_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 32000,
    "torch_dtype": "float16",
}


def deepseek_v3() -> Iterator[Spec]:
    """DeepSeek-V3 in BF16, from its published dimensions: 61 layers, 256 experts in 58 of them."""
    hidden, dense, expert, heads = 7168, 18432, 2048, 128
    yield "model.embed_tokens.weight", "BF16", (129280, hidden)
    for layer in range(61):
        at = f"model.layers.{layer}"
        yield f"{at}.self_attn.q_a_proj.weight", "BF16", (1536, hidden)
        yield f"{at}.self_attn.q_a_layernorm.weight", "BF16", (1536,)
        yield f"{at}.self_attn.q_b_proj.weight", "BF16", (heads * 192, 1536)
        yield f"{at}.self_attn.kv_a_proj_with_mqa.weight", "BF16", (576, hidden)
        yield f"{at}.self_attn.kv_a_layernorm.weight", "BF16", (512,)
        yield f"{at}.self_attn.kv_b_proj.weight", "BF16", (heads * 256, 512)
        yield f"{at}.self_attn.o_proj.weight", "BF16", (hidden, heads * 128)
        if layer < 3:
            yield from _gated(f"{at}.mlp", dense, hidden)
        else:
            yield f"{at}.mlp.gate.weight", "BF16", (256, hidden)
            yield f"{at}.mlp.gate.e_score_correction_bias", "F32", (256,)
            for number in range(256):
                yield from _gated(f"{at}.mlp.experts.{number}", expert, hidden)
            yield from _gated(f"{at}.mlp.shared_experts", expert, hidden)
        yield f"{at}.input_layernorm.weight", "BF16", (hidden,)
        yield f"{at}.post_attention_layernorm.weight", "BF16", (hidden,)
    yield "model.norm.weight", "BF16", (hidden,)
    yield "lm_head.weight", "BF16", (129280, hidden)


def _gated(at: str, inner: int, hidden: int) -> Iterator[Spec]:
    yield f"{at}.gate_proj.weight", "BF16", (inner, hidden)
    yield f"{at}.up_proj.weight", "BF16", (inner, hidden)
    yield f"{at}.down_proj.weight", "BF16", (hidden, inner)


def llama_7b(folder: Path) -> Path:
    """LLaMA-7B as published: two shards, 13,476,835,328 bytes of tensors."""
    sharded(folder, list(llama()), 2)
    (folder / "config.json").write_text(json.dumps(LLAMA_CONFIG))
    (folder / "README.md").write_text("# LLaMA\n")
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {str(n): n for n in range(1000)}}}))
    (folder / ".gitattributes").write_text("*.safetensors filter=lfs\n")
    return folder


def deepseek(folder: Path) -> Path:
    """157 shards, 1.34 TB."""
    sharded(folder, list(deepseek_v3()), 157)
    config = {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


# --- GGUF: version 3, little-endian --------------------------------------------------------------

F32, F16, Q8_0, Q4_0 = 0, 1, 8, 2
_BLOCK = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34), Q4_0: (32, 18)}
STRING, ARRAY, UINT32, FLOAT32, INT32 = 8, 9, 4, 6, 5


def gguf(
    path: Path, tokens: int = 100, merges: int = 0, kind: int = Q4_0, layers: int = 2, token_bytes: int = 6
) -> Path:
    """A small Llama with a vocabulary of any size."""
    hidden, inner, vocabulary = 256, 512, tokens
    values = [
        _string_value("general.architecture", "llama"),
        _string_value("general.name", "sample"),
        *(
            _text(f"llama.{key}") + struct.pack("<II", UINT32, number)
            for key, number in (
                ("block_count", layers),
                ("embedding_length", hidden),
                ("feed_forward_length", inner),
                ("attention.head_count", 8),
                ("attention.head_count_kv", 8),
                ("context_length", 2048),
            )
        ),
        _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", FLOAT32, 1e-5),
        _string_value("tokenizer.ggml.model", "gpt2"),
        _strings("tokenizer.ggml.tokens", tokens, token_bytes),
        _text("tokenizer.ggml.token_type") + struct.pack("<IIQ", ARRAY, INT32, tokens) + struct.pack("<i", 1) * tokens,
    ]
    if merges:
        values.append(_strings("tokenizer.ggml.merges", merges, 2 * token_bytes + 1))
    rows = [("token_embd.weight", kind, (hidden, vocabulary)), ("output_norm.weight", F32, (hidden,))]
    for layer in range(layers):
        at = f"blk.{layer}"
        rows += [(f"{at}.attn_{x}.weight", kind, (hidden, hidden)) for x in ("q", "k", "v", "output")]
        rows += [(f"{at}.ffn_{x}.weight", kind, (hidden, inner)) for x in ("gate", "up")]
        rows += [(f"{at}.ffn_down.weight", kind, (inner, hidden))]
        rows += [(f"{at}.{x}.weight", F32, (hidden,)) for x in ("attn_norm", "ffn_norm")]
    rows.append(("output.weight", kind, (hidden, vocabulary)))
    head, offset = struct.pack("<4sIQQ", b"GGUF", 3, len(rows), len(values)) + b"".join(values), 0
    infos = []
    for name, type_, dims in rows:
        infos.append(_text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, type_, offset))
        block, width = _BLOCK[type_]
        elements = dims[0] * (dims[1] if len(dims) > 1 else 1)
        offset += -(-(elements // block * width) // 32) * 32
    head += b"".join(infos)
    return sparse(path, head.ljust(-(-len(head) // 32) * 32, b"\0"), offset)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _string_value(key: str, value: str) -> bytes:
    return _text(key) + struct.pack("<I", STRING) + _text(value)


def _strings(key: str, number: int, width: int) -> bytes:
    return (
        _text(key)
        + struct.pack("<IIQ", ARRAY, STRING, number)
        + b"".join(_text(f"{n:0{width}d}"[:width]) for n in range(number))
    )


QUANTS = [
    "BF16",
    "F16",
    "IQ3_M",
    "IQ4_XS",
    "Q2_K",
    "Q2_K_L",
    "Q3_K_L",
    "Q3_K_M",
    "Q3_K_S",
    "Q3_K_XL",
    "Q4_0",
    "Q4_K_L",
    "Q4_K_M",
    "Q4_K_S",
    "Q5_K_L",
    "Q5_K_M",
    "Q5_K_S",
    "Q6_K",
    "Q6_K_L",
    "Q8_0",
]


def twenty_gguf(folder: Path) -> Path:
    """One model in twenty quantizations (the tensors' true types are one of four)."""
    for quant in QUANTS:
        kind = F16 if "F16" in quant else Q8_0 if quant.startswith(("Q8", "Q6", "Q5")) else Q4_0
        gguf(folder / f"Sample-1B-{quant}.gguf", tokens=3200, kind=kind)
    (folder / "README.md").write_text("# Sample\n")
    return folder
