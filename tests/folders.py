"""Folders as people have them: a function each, and the checkpoints, copies and foreign files that are in it.

Files are sparse: a real header, and a hole for the data.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sparse
import sparse_torch
from sparse_gguf import write_gguf

LAYERS, WIDTH, INNER, HEADS, VOCABULARY = 2, 256, 512, 4, 512


class Expected(NamedTuple):
    """What is in a folder, worked out by hand."""

    rows: tuple[str, ...]  # each checkpoint as one types it within the folder; "" for the folder itself
    copies: tuple[str, ...] = ()  # files that hold another's tensors once more
    foreign: Mapping[str, str] = {}  # row → the name of its format, if it is one that is not read


#: Name → what makes the folder, and what is in it.
LAYOUTS: dict[str, tuple[Callable[[Path], None], Expected]] = {}


def layout(
    *rows: str, copies: tuple[str, ...] = (), foreign: Mapping[str, str] | None = None
) -> Callable[[Callable[[Path], None]], Any]:
    """Lists a folder's function, with its expectations."""

    def add(make: Callable[[Path], None]) -> Callable[[Path], None]:
        LAYOUTS[make.__name__] = (make, Expected(rows, copies, foreign or {}))
        return make

    return add


def llama(layers: int = LAYERS, dtype: str = "BF16", width: int = WIDTH) -> list[tuple[str, list[int], str]]:
    tensors = [(dtype, [VOCABULARY, width], "model.embed_tokens.weight")]
    for at in range(layers):
        start = f"model.layers.{at}."
        tensors += [(dtype, [width, width], f"{start}self_attn.{word}_proj.weight") for word in "qkvo"]
        tensors += [(dtype, [INNER, width], f"{start}mlp.{word}_proj.weight") for word in ("gate", "up")]
        tensors += [(dtype, [width, INNER], f"{start}mlp.down_proj.weight")]
        tensors += [(dtype, [width], f"{start}{word}_layernorm.weight") for word in ("input", "post_attention")]
    return [*tensors, (dtype, [width], "model.norm.weight"), (dtype, [VOCABULARY, width], "lm_head.weight")]


def config(folder: Path, layers: int = LAYERS, width: int = WIDTH) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(
            {
                "architectures": ["LlamaForCausalLM"],
                "model_type": "llama",
                "hidden_size": width,
                "intermediate_size": INNER,
                "num_hidden_layers": layers,
                "num_attention_heads": HEADS,
                "num_key_value_heads": HEADS,
                "vocab_size": VOCABULARY,
                "tie_word_embeddings": False,
                "torch_dtype": "bfloat16",
                "rms_norm_eps": 1e-5,
            }
        )
    )


def safe(path: Path, layers: int = LAYERS, dtype: str = "BF16", **more: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    sparse.write_safetensors(path, llama(layers, dtype, **more), {"format": "pt"})
    return path


def model(folder: Path, layers: int = LAYERS, **more: Any) -> None:
    config(folder, layers)
    safe(folder / "model.safetensors", layers, **more)


def shards(folder: Path, stem: str = "model", end: str = "safetensors") -> None:
    config(folder)
    tensors, weight_map = llama(), dict[str, str]()
    for number, own in ((1, tensors[:8]), (2, tensors[8:])):
        name = f"{stem}-{number:05}-of-00002.{end}"
        if end == "bin":
            sparse_torch.write(folder / name, [(name_, dtype, shape) for dtype, shape, name_ in own])
        else:
            sparse.write_safetensors(folder / name, own, {"format": "pt"})
        weight_map |= {each[2]: name for each in own}
    (folder / f"{stem}.{end}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def torch(path: Path, layers: int = LAYERS, dtype: str = "BF16", *, moments: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sparse_torch.write(path, [(name, dtype, shape) for dtype, shape, name in llama(layers, dtype)], moments)


def optimizer(path: Path, layers: int = LAYERS) -> None:
    """AdamW's state as PyTorch saves it: two moments of each parameter in F32."""
    state = [
        (f"state.{number}.{moment}", "F32", shape)
        for number, (_, shape, _) in enumerate(llama(layers))
        for moment in ("exp_avg", "exp_avg_sq")
    ]
    sparse_torch.write(path, state)


NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "model.layers.": "blk.",
}  # fmt: skip


def gguf(path: Path, kind: str = "Q8_0", layers: int = LAYERS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = []
    for _, shape, name in llama(layers):
        for old, new in NAMES.items():
            name = name.replace(old, new)
        tensors.append((kind if len(shape) > 1 else "F32", shape, name))
    values: list[tuple[str, str, Any]] = [
        ("general.architecture", "string", "llama"),
        ("llama.block_count", "uint32", layers),
        ("llama.context_length", "uint32", 2048),
        ("llama.embedding_length", "uint32", WIDTH),
        ("llama.feed_forward_length", "uint32", INNER),
        ("llama.attention.head_count", "uint32", HEADS),
        ("llama.attention.layer_norm_rms_epsilon", "float32", 1e-5),
        ("llama.vocab_size", "uint32", VOCABULARY),
    ]
    write_gguf(path, values, tensors)


META = {
    "model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output", "model.layers.": "layers.",
    "self_attn.q_proj": "attention.wq", "self_attn.k_proj": "attention.wk", "self_attn.v_proj": "attention.wv",
    "self_attn.o_proj": "attention.wo", "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3",
    "mlp.down_proj": "feed_forward.w2", "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip


def metas() -> Iterator[tuple[str, str, list[int]]]:
    """Llama's tensors under Meta's own names."""
    for dtype, shape, name in llama():
        for old, new in META.items():
            name = name.replace(old, new)
        yield name, dtype, shape


def raw(path: Path, start: bytes, size: int = 50_000) -> Path:
    """A file of these first bytes, and a hole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(start)
    os.truncate(path, max(size, len(start)))
    return path


def text(path: Path, content: str = "{}") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


# --- one model, and copies of it ----------------------------------------------------------------


@layout("", copies=("pytorch_model.bin",))
def safetensors_and_bin(root: Path) -> None:
    model(root)
    torch(root / "pytorch_model.bin")
    text(root / "tokenizer.json")


@layout("", copies=("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"))
def sharded_both_ways(root: Path) -> None:
    shards(root)
    shards(root, "pytorch_model", "bin")


@layout("", copies=("original/consolidated.00.pth",))
def metas_original(root: Path) -> None:
    shards(root)
    (root / "original").mkdir()
    sparse_torch.write(root / "original" / "consolidated.00.pth", list(metas()))
    text(root / "original" / "params.json", json.dumps({"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS}))


@layout("", copies=("consolidated.safetensors",))
def mistrals_consolidated(root: Path) -> None:
    shards(root)
    sparse.write_safetensors(root / "consolidated.safetensors", [(d, s, n) for n, d, s in metas()], {"format": "pt"})
    text(root / "params.json", json.dumps({"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS}))


@layout("", copies=("model.fp16.safetensors",))
def fp16_variant(root: Path) -> None:
    model(root, dtype="F32")
    safe(root / "model.fp16.safetensors", dtype="F16")


@layout("", copies=("model-q8_0.gguf",))
def gguf_beside(root: Path) -> None:
    model(root)
    gguf(root / "model-q8_0.gguf")


@layout("", copies=(".git/lfs/objects",))
def git_clone(root: Path) -> None:
    shards(root)
    for number in (1, 2):
        path = root / f"model-{number:05}-of-00002.safetensors"
        oid = hashlib.sha256(path.read_bytes()).hexdigest()
        there = root / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(path.read_bytes())
    raw(root / ".git" / "objects" / "pack" / "pack-1.pack", b"PACK", 4_000)


@layout("")
def download_folder(root: Path) -> None:
    """`hf download --local-dir`: a record of each file, and one that stopped."""
    model(root)
    text(root / ".cache" / "huggingface" / "download" / "model.safetensors.metadata", "c\n" * 3)
    raw(root / ".cache" / "huggingface" / "download" / "abc.incomplete", b"", 12_345)


# --- several models -----------------------------------------------------------------------------


@layout("gpt", "llama-3.1-8b", "llama-3.1-8b-q4_k_m", "lora", "qwen3-0.6b")
def five(root: Path) -> None:
    model(root / "gpt", 1)
    model(root / "llama-3.1-8b")
    gguf(root / "llama-3.1-8b-q4_k_m" / "Meta-Llama-3.1-8B-Q4_K_M.gguf")
    model(root / "qwen3-0.6b", 3)
    lora(root / "lora")


def lora(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    start = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    tensors = [("F32", [8, WIDTH], f"{start}A.weight"), ("F32", [WIDTH, 8], f"{start}B.weight")]
    sparse.write_safetensors(folder / "adapter_model.safetensors", tensors, {"format": "pt"})
    text(
        folder / "adapter_config.json",
        json.dumps({"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj"]}),
    )


@layout(
    "TheBloke/Mistral-GGUF",
    "bartowski/Llama-GGUF/Llama-Q4_K_M.gguf",
    "bartowski/Llama-GGUF/Llama-Q5_K_M.gguf",
)
def lm_studio(root: Path) -> None:
    gguf(root / "bartowski" / "Llama-GGUF" / "Llama-Q4_K_M.gguf", "Q4_K")
    gguf(root / "bartowski" / "Llama-GGUF" / "Llama-Q5_K_M.gguf", "Q5_K")
    gguf(root / "TheBloke" / "Mistral-GGUF" / "mistral.Q4_K_M.gguf", "Q4_K")


@layout("base", "base-Q8_0")
def a_pair(root: Path) -> None:
    model(root / "base")
    gguf(root / "base-Q8_0" / "other-Q8_0.gguf", layers=3)


@layout("Llama-F16.gguf", "Llama-Q4_K_M.gguf", "Llama-Q8_0.gguf")
def quantizations(root: Path) -> None:
    gguf(root / "Llama-Q4_K_M.gguf", "Q4_K")
    gguf(root / "Llama-Q8_0.gguf", "Q8_0")
    gguf(root / "Llama-F16.gguf", "F16")
    text(root / "README.md", "# Llama")


@layout("a.safetensors", "b.safetensors")
def two_loose(root: Path) -> None:
    safe(root / "a.safetensors", 1)
    safe(root / "b.safetensors", 2)


@layout("encoder.pth", "decoder.pt", "taesd.bin")
def loose_torch(root: Path) -> None:
    torch(root / "encoder.pth", 1)
    torch(root / "decoder.pt", 2)
    torch(root / "taesd.bin", 3)


@layout("a.pkl", "b.pkl")
def torch_under_a_pickles_name(root: Path) -> None:
    """As many tools save them."""
    torch(root / "a.pkl", 1)
    torch(root / "b.pkl", 2)


@layout("data", "model", foreign={"data": "pickle"})
def a_programs_pickles(root: Path) -> None:
    """Any number of pickled data frames is one row."""
    model(root / "model")
    for number in range(12):
        raw(root / "data" / f"frame_{number}.pkl", b"\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94.", 15)


@layout("")
def one_torch_file_under_a_pickles_name(root: Path) -> None:
    torch(root / "flownet.pkl", 1)
    text(root / "__init__.py", "")


@layout("models--org--one/snapshots/{c}", "models--org--two/snapshots/{c}")
def hub_cache(root: Path) -> None:
    for number, name in enumerate(("one", "two"), 1):
        home = root / f"models--org--{name}"
        snapshot = home / "snapshots" / ("c" * 40)
        blobs = home / "blobs"
        snapshot.mkdir(parents=True)
        blobs.mkdir()
        model(blobs, number)
        for file in ("model.safetensors", "config.json"):
            (blobs / file).rename(blobs / f"{file}-{name}")
            (snapshot / file).symlink_to(Path("..") / ".." / "blobs" / f"{file}-{name}")
        text(home / "refs" / "main", "c" * 40)
        raw(blobs / "half.incomplete", b"", 777)


# --- runs ---------------------------------------------------------------------------------------


@layout("", "checkpoint-500", "checkpoint-1000")
def trainer(root: Path) -> None:
    model(root)
    text(root / "training_args.bin", "x" * 100)
    for step in (500, 1000):
        folder = root / f"checkpoint-{step}"
        model(folder)
        optimizer(folder / "optimizer.pt")
        for name in ("scheduler.pt", "rng_state.pth", "training_args.bin"):
            raw(folder / name, b"PK\3\4", 500)
        text(folder / "trainer_state.json", json.dumps({"global_step": step}))


@layout("checkpoint-500", "checkpoint-1000")
def trainer_unfinished(root: Path) -> None:
    for step in (500, 1000):
        model(root / f"checkpoint-{step}")
        optimizer(root / f"checkpoint-{step}" / "optimizer.pt")
        text(root / f"checkpoint-{step}" / "trainer_state.json", json.dumps({"global_step": step}))


@layout("", "checkpoint-100", "checkpoint-200")
def peft_run(root: Path) -> None:
    lora(root)
    for step in (100, 200):
        lora(root / f"checkpoint-{step}")
        optimizer(root / f"checkpoint-{step}" / "optimizer.pt", 1)


@layout("")
def pipeline(root: Path) -> None:
    text(
        root / "model_index.json", json.dumps({"_class_name": "P", "a": ["t", "LlamaModel"], "b": ["t", "LlamaModel"]})
    )
    model(root / "a", 1)
    model(root / "b", 2)


@layout("", "v1-5-pruned.safetensors", copies=("v1-5-pruned.ckpt",))
def single_file_beside_a_pipeline(root: Path) -> None:
    """As Stable Diffusion 1.5 is published: all parts once more in one file, under their author's names."""
    pipeline(root)
    safe(root / "v1-5-pruned.safetensors", 3)
    torch(root / "v1-5-pruned.ckpt", 3)


@layout("iter_0000010/mp_rank_00")
def megatron(root: Path) -> None:
    """Megatron-LM's steps, with a folder for each rank."""
    torch(root / "iter_0000010" / "mp_rank_00" / "model_optim_rng.pt")
    text(root / "latest_checkpointed_iteration.txt", "10")


# --- formats that are not read -------------------------------------------------------------------

CTRANSLATE2 = struct.pack("<I", 6) + struct.pack("<H", 12) + b"WhisperSpec\0" + struct.pack("<II", 3, 100)
GGML = b"lmgg" + struct.pack("<11I", 51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1)


def onnx(path: Path) -> Path:
    """A model whose IR version, producer and opset are where the exporter writes them."""
    return raw(path, b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x80\x10", 60_000)


@layout("faster-whisper", "llama", foreign={"faster-whisper": "CTranslate2"})
def ctranslate2_beside_a_model(root: Path) -> None:
    model(root / "llama")
    raw(root / "faster-whisper" / "model.bin", CTRANSLATE2)
    text(root / "faster-whisper" / "config.json", json.dumps({"alignment_heads": [[1, 0]], "suppress_ids": []}))


@layout("ggml-base.bin", "ggml-tiny.en.bin", foreign={"ggml-base.bin": "GGML", "ggml-tiny.en.bin": "GGML"})
def whisper_cpp(root: Path) -> None:
    raw(root / "ggml-base.bin", GGML)
    raw(root / "ggml-tiny.en.bin", GGML, 30_000)


@layout("")
def onnx_beside(root: Path) -> None:
    model(root)
    onnx(root / "onnx" / "model.onnx")
    raw(root / "onnx" / "model.onnx_data", b"", 200_000)


@layout("", foreign={"": "ONNX"})
def onnx_alone(root: Path) -> None:
    onnx(root / "model.onnx")
    raw(root / "model.onnx_data", b"", 200_000)
    text(root / "config.json", json.dumps({"model_type": "bert"}))


@layout("", foreign={"": "TensorFlow.js"})
def tfjs(root: Path) -> None:
    manifest = [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"], "weights": []}]
    text(root / "model.json", json.dumps({"format": "graph-model", "weightsManifest": manifest}))
    for number in (1, 2):
        raw(root / f"group1-shard{number}of2.bin", os.urandom(64))


@layout("", foreign={"": "CoreML"})
def coreml(root: Path) -> None:
    package = root / "Model.mlpackage"
    text(package / "Manifest.json", json.dumps({"fileFormatVersion": "1.0.0"}))
    raw(package / "Data" / "com.apple.CoreML" / "model.mlmodel", b"\x08\x07\x12\x04\x0a\x02ab")
    raw(package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin", struct.pack("<II", 2, 2))


@layout(
    "cc.en.bin", "lid.ftz", "wiki.vec", foreign={"cc.en.bin": "fastText", "lid.ftz": "fastText", "wiki.vec": "fastText"}
)
def fasttext(root: Path) -> None:
    raw(root / "cc.en.bin", struct.pack("<ii", 793712314, 12))
    raw(root / "lid.ftz", struct.pack("<ii", 793712314, 12))
    text(root / "wiki.vec", "2 3\nthe 0.1 0.2 0.3\nof 0.1 0.2 0.3\n")


@layout("", foreign={"": "OpenVINO"})
def openvino(root: Path) -> None:
    text(root / "openvino_model.xml", '<?xml version="1.0"?>\n<net name="Model0" version="11">\n</net>\n')
    raw(root / "openvino_model.bin", os.urandom(64), 90_000)


@layout(
    "inference.pdiparams",
    "model_state.pdparams",
    foreign={"inference.pdiparams": "Paddle", "model_state.pdparams": "Paddle"},
)
def paddle(root: Path) -> None:
    raw(root / "inference.pdiparams", struct.pack("<IQI", 0, 0, 0) + b"\x08\x05\x10\x40")
    raw(root / "inference.pdmodel", b"\x0a\x10")
    raw(root / "model_state.pdparams", b"\x80\x02}q\x00")


@layout("")
def pth_tar(root: Path) -> None:
    torch(root / "model_best.pth.tar")


@layout("engine.plan", "net.pt2", "model.tflite", "phi.llamafile",
        foreign={"engine.plan": "TensorRT", "model.tflite": "TFLite", "phi.llamafile": "llamafile"})  # fmt: skip
def exports(root: Path) -> None:
    raw(root / "engine.plan", b"ptrt\xf0\0\0\0")
    raw(root / "model.tflite", b"\x1c\0\0\0TFL3")
    raw(root / "phi.llamafile", b"MZqFpD='\n")
    torch(root / "net.pt2")


def made(name: str, folder: Path) -> tuple[Path, Expected]:
    """A layout in a folder, which is created."""
    make, expected = LAYOUTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    return folder, expected


def size_of(folder: Path) -> tuple[int, int]:
    """Bytes and number of all regular files below a folder: hidden ones too, each inode once."""
    seen: dict[tuple[int, int], int] = {}
    for here, _, names in os.walk(folder):
        for path in (Path(here, name) for name in names):
            if path.is_file():
                status = path.stat()
                seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values()), len(seen)
