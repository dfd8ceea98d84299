"""Write fixtures/recipes and fixtures/predictions: what Transformers itself has in its models, as text.

    pip install torch transformers
    python tools/make_fixtures.py

Each model is built from its configuration on the meta device, so no memory is used and nothing is
downloaded; names and shapes are its state dict's, tied weights left out as `save_pretrained` does.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import torch
import transformers

FIXTURES = Path(__file__).parent.parent / "fixtures"
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")

Shapes = dict[str, tuple[int, ...]]


def llama(hidden: int, intermediate: int, layers: int, heads: int, kv: int, vocab: int, **more: Any) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "vocab_size": vocab,
        "torch_dtype": "bfloat16",
        **more,
    }


def decoder(model_type: str, name: str, *args: int, **more: Any) -> dict[str, Any]:
    return {**llama(*args), "model_type": model_type, "architectures": [f"{name}ForCausalLM"], **more}  # type: ignore[arg-type]


LLAMA_7B = llama(4096, 11008, 32, 32, 32, 32000, torch_dtype="float16")
LLAMA_65B = llama(8192, 22016, 80, 64, 64, 32000, torch_dtype="float16", architectures=["LlamaModel"])
GPT2 = {
    "architectures": ["GPT2LMHeadModel"],
    "model_type": "gpt2",
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_positions": 1024,
    "n_ctx": 1024,
    "vocab_size": 50257,
}
BERT = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
MIXTRAL = decoder("mixtral", "Mixtral", 4096, 14336, 32, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2)
LLAMA_31_8B = llama(4096, 14336, 32, 32, 8, 128256)

#: Checkpoints whose published sizes the recipes must reproduce to the byte, and those of the README.
CHECKPOINTS: dict[str, dict[str, Any]] = {
    "llama-7b": LLAMA_7B,
    "llama-7b-without-head": {**LLAMA_7B, "architectures": ["LlamaModel"]},
    "llama-65b-without-head": LLAMA_65B,
    "llama-3.1-8b": LLAMA_31_8B,
    "tinyllama-1.1b-chat": llama(2048, 5632, 22, 32, 4, 32000),
    "llama-3.2-1b": llama(2048, 8192, 16, 32, 8, 128256, head_dim=64, tie_word_embeddings=True),
    "qwen2.5-0.5b": decoder("qwen2", "Qwen2", 896, 4864, 24, 14, 2, 151936, tie_word_embeddings=True),
    "qwen3-0.6b": decoder("qwen3", "Qwen3", 1024, 3072, 28, 16, 8, 151936, head_dim=128, tie_word_embeddings=True),
    "gemma-2b-it": decoder("gemma", "Gemma", 2048, 16384, 18, 8, 1, 256000, head_dim=256),
    "mixtral-8x7b": MIXTRAL,
    "gpt2": GPT2,
    "gpt2-xl": {**GPT2, "n_embd": 1600, "n_layer": 48, "n_head": 25},
    "bert-base-uncased": {**BERT, "architectures": ["BertForPreTraining"]},
}


def bart(model_type: str, name: str, **more: Any) -> dict[str, Any]:
    """A small relative of BART's with a width of its own on each side."""
    return {
        "architectures": [name],
        "model_type": model_type,
        "vocab_size": 509,
        "d_model": 64,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 200,
        "decoder_ffn_dim": 136,
        "max_position_embeddings": 77,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "bos_token_id": 0,
        "decoder_start_token_id": 2,
        **more,
    }


def encoder_decoder(model_type: str, name: str, encoder: dict[str, Any], decoder: dict[str, Any]) -> dict[str, Any]:
    """An encoder before a decoder that attends to it."""
    return {
        "architectures": [name],
        "model_type": model_type,
        "encoder": encoder,
        "decoder": {**decoder, "is_decoder": True, "add_cross_attention": True},
    }


SWIN = {
    "model_type": "donut-swin",
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 24,
    "depths": [1, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}

#: Changed configurations: what the tables must predict without having been made from them.
CHANGED: dict[str, dict[str, Any]] = {
    "llama-odd": llama(1152, 3080, 5, 9, 3, 32003, head_dim=96, attention_bias=True, mlp_bias=True),
    "llama-tied": llama(1024, 2816, 5, 16, 16, 50257, tie_word_embeddings=True),
    "llama-classifier": llama(
        1024,
        2816,
        3,
        16,
        4,
        999,
        architectures=["LlamaForSequenceClassification"],
        id2label={str(n): f"L{n}" for n in range(7)},
    ),
    "llama-tagger": llama(1024, 2816, 3, 16, 4, 999, architectures=["LlamaForTokenClassification"]),
    "llama-answers": llama(1024, 2816, 3, 16, 4, 999, architectures=["LlamaForQuestionAnswering"]),
    "llama-one-kv-head": llama(1024, 2816, 5, 16, 1, 32001),
    "mistral-odd": decoder("mistral", "Mistral", 1280, 3584, 5, 10, 2, 32769, head_dim=160),
    "mistral-defaults": {
        "architectures": ["MistralForCausalLM"],
        "model_type": "mistral",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 2,
        "num_attention_heads": 32,
        "vocab_size": 32000,
    },
    "qwen2-untied": decoder("qwen2", "Qwen2", 896, 4864, 5, 14, 7, 151001),
    "qwen3-untied": decoder("qwen3", "Qwen3", 1024, 3072, 5, 16, 4, 151937, head_dim=80, attention_bias=True),
    "qwen3-default-head-dim": decoder("qwen3", "Qwen3", 1024, 3072, 5, 16, 4, 151937),
    "gemma-untied": decoder("gemma", "Gemma", 1536, 6144, 5, 6, 2, 256001, head_dim=192, tie_word_embeddings=False),
    "mixtral-odd": decoder(
        "mixtral",
        "Mixtral",
        1024,
        3584,
        5,
        8,
        4,
        32002,
        num_local_experts=6,
        num_experts_per_tok=3,
        tie_word_embeddings=True,
    ),
    "gpt2-untied": {
        **GPT2,
        "n_embd": 480,
        "n_layer": 5,
        "n_head": 6,
        "n_inner": 1999,
        "n_positions": 777,
        "tie_word_embeddings": False,
    },
    "gpt2-crossed": {**GPT2, "n_layer": 3, "add_cross_attention": True, "is_decoder": True},
    "gpt2-body": {**GPT2, "architectures": ["GPT2Model"], "n_layer": 5},
    "gpt2-classifier": {**GPT2, "architectures": ["GPT2ForSequenceClassification"], "n_layer": 3},
    "bert-body": {**BERT, "architectures": ["BertModel"], "num_hidden_layers": 5, "vocab_size": 30523},
    "bert-masked": {**BERT, "intermediate_size": 1999, "max_position_embeddings": 300, "type_vocab_size": 4},
    "bert-untied": {**BERT, "tie_word_embeddings": False, "num_hidden_layers": 3},
    "bert-classifier": {**BERT, "architectures": ["BertForSequenceClassification"], "num_hidden_layers": 3},
    "bert-tagger": {**BERT, "architectures": ["BertForTokenClassification"], "num_hidden_layers": 3},
    "bert-next-sentence": {**BERT, "architectures": ["BertForNextSentencePrediction"], "num_hidden_layers": 3},
    "bert-answers": {**BERT, "architectures": ["BertForQuestionAnswering"], "num_hidden_layers": 3},
    "bert-choices": {**BERT, "architectures": ["BertForMultipleChoice"], "num_hidden_layers": 3},
    "encodec-grouped": {
        "model_type": "encodec",
        "architectures": ["EncodecModel"],
        "norm_type": "time_group_norm",
        "num_lstm_layers": 3,
        "num_residual_layers": 2,
        "upsampling_ratios": [6, 3, 2],
        "audio_channels": 2,
        "use_causal_conv": False,
        "target_bandwidths": [3.0, 24.0],
    },
    "hifigan-short": {
        "model_type": "speecht5_hifigan",
        "architectures": ["SpeechT5HifiGan"],
        "upsample_rates": [8, 4],
        "upsample_kernel_sizes": [16, 8],
        "resblock_kernel_sizes": [3, 5],
        "resblock_dilation_sizes": [[1, 3], [1, 3, 5]],
    },
    "seamless-speaks": {
        "model_type": "seamless_m4t_v2",
        "architectures": ["SeamlessM4Tv2ForSpeechToSpeech"],
        "speech_encoder_layers": 2,
        "decoder_layers": 2,
        "t2u_encoder_layers": 3,
        "t2u_decoder_layers": 2,
        "t2u_variance_predictor_hidden_dim": 192,
        "adaptor_kernel_size": 5,
        "num_adapter_layers": 2,
        "upsample_rates": [5, 4],
        "upsample_kernel_sizes": [11, 8],
        "tie_word_embeddings": False,
    },
    "t5-gated": {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "feed_forward_proj": "gated-gelu",
        "num_layers": 2,
        "num_decoder_layers": 3,
    },
    "umt5-plain-classifier": {
        "model_type": "umt5",
        "architectures": ["UMT5ForSequenceClassification"],
        "feed_forward_proj": "relu",
        "num_layers": 2,
    },
    "wav2vec2-languages": {
        "model_type": "wav2vec2",
        "architectures": ["Wav2Vec2ForCTC"],
        "num_hidden_layers": 2,
        "do_stable_layer_norm": True,
        "feat_extract_norm": "layer",
        "conv_bias": True,
        "adapter_attn_dim": 16,
        "add_adapter": True,
        "output_hidden_size": 96,
        "mask_time_prob": 0.0,
    },
    "wav2vec2-voices": {
        "model_type": "wav2vec2",
        "architectures": ["Wav2Vec2ForXVector"],
        "num_hidden_layers": 2,
        "tdnn_dim": [24, 24, 40],
        "tdnn_kernel": [5, 3, 1],
        "tdnn_dilation": [1, 2, 1],
        "use_weighted_layer_sum": True,
        "xvector_output_dim": 33,
    },
    "wav2vec2-conformer-rotary": {
        "model_type": "wav2vec2-conformer",
        "architectures": ["Wav2Vec2ConformerForPreTraining"],
        "num_hidden_layers": 2,
        "position_embeddings_type": "rotary",
        "num_codevector_groups": 4,
        "codevector_dim": 64,
    },
    "wav2vec2-bert-adapted": {
        "model_type": "wav2vec2-bert",
        "architectures": ["Wav2Vec2BertForCTC"],
        "vocab_size": 30,
        "num_hidden_layers": 2,
        "add_adapter": True,
        "output_hidden_size": 96,
        "use_intermediate_ffn_before_adapter": True,
    },
    "vits-voices": {
        "model_type": "vits",
        "architectures": ["VitsModel"],
        "num_hidden_layers": 2,
        "num_speakers": 4,
        "speaker_embedding_size": 20,
        "prior_encoder_num_flows": 2,
        "upsample_rates": [8, 4],
        "upsample_kernel_sizes": [16, 8],
    },
    "bert-cross": {
        **BERT,
        "architectures": ["BertLMHeadModel"],
        "num_hidden_layers": 2,
        "is_decoder": True,
        "add_cross_attention": True,
    },
    "gpt2-cross": {**GPT2, "n_layer": 2, "add_cross_attention": True},
    "gpt2-two-heads": {**GPT2, "architectures": ["GPT2DoubleHeadsModel"], "n_layer": 2},
    # What is stored goes by the class, whatever `is_decoder` says.
    "bart-called-decoder": bart("bart", "BartForConditionalGeneration", is_decoder=True),
    "bart-untied": bart("bart", "BartModel", tie_word_embeddings=False),
    "mbart-decoder": bart("mbart", "MBartForCausalLM"),
    "marian-shared": bart("marian", "MarianMTModel", decoder_vocab_size=301),
    "marian-apart": bart("marian", "MarianMTModel", decoder_vocab_size=301, share_encoder_decoder_embeddings=False),
    "bigbird-pegasus-biases": bart("bigbird_pegasus", "BigBirdPegasusForConditionalGeneration", use_bias=True),
    "xlm-languages": {
        "architectures": ["XLMForQuestionAnswering"],
        "model_type": "xlm",
        "emb_dim": 64,
        "n_heads": 4,
        "n_layers": 2,
        "n_langs": 7,
        "vocab_size": 503,
    },
    "bert-gpt2": encoder_decoder(
        "encoder-decoder",
        "EncoderDecoderModel",
        {**BERT, "hidden_size": 48, "num_hidden_layers": 2},
        {**GPT2, "n_embd": 96, "n_layer": 2},
    ),
    "donut": encoder_decoder(
        "vision-encoder-decoder", "VisionEncoderDecoderModel", SWIN, bart("mbart", "MBartForCausalLM")
    ),
}

META_NAMES = (
    ("model.embed_tokens.", "tok_embeddings."),
    ("lm_head.", "output."),
    ("model.", ""),
    ("self_attn.q_proj", "attention.wq"),
    ("self_attn.k_proj", "attention.wk"),
    ("self_attn.v_proj", "attention.wv"),
    ("self_attn.o_proj", "attention.wo"),
    ("mlp.gate_proj", "feed_forward.w1"),
    ("mlp.down_proj", "feed_forward.w2"),
    ("mlp.up_proj", "feed_forward.w3"),
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "ffn_norm"),
)


def stored(config: Mapping[str, Any]) -> Shapes:
    """Names and shapes of what Transformers saves for a configuration."""
    settings = {
        key: value for key, value in config.items() if key not in ("model_type", "architectures", "torch_dtype")
    }
    made = transformers.CONFIG_MAPPING[config["model_type"]](**settings)
    with torch.device("meta"):
        model = getattr(transformers, config["architectures"][0])(made)
    state = model.state_dict()
    for tied in getattr(model, "all_tied_weights_keys", {}):
        state.pop(tied, None)
    for ignored in model._keys_to_ignore_on_save or ():
        state.pop(ignored, None)
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    return split_experts(shapes) if config["model_type"] == "mixtral" else shapes


def split_experts(shapes: Shapes) -> Shapes:
    """Mixtral's stacked experts under the names of its checkpoints, which `save_pretrained` restores."""
    apart: Shapes = {}
    for name, shape in shapes.items():
        head, found, tail = name.partition(".mlp.experts.")
        if not found:
            apart[name.replace(".mlp.gate.", ".block_sparse_moe.gate.") if "experts" in " ".join(shapes) else name] = (
                shape
            )
            continue
        for expert in range(shape[0]):
            base = f"{head}.block_sparse_moe.experts.{expert}"
            if tail == "gate_up_proj":
                apart[f"{base}.w1.weight"] = apart[f"{base}.w3.weight"] = (shape[1] // 2, shape[2])
            else:
                apart[f"{base}.w2.weight"] = shape[1:]
    return apart


def compress(shapes: Iterable[tuple[str, str, tuple[int, ...]]]) -> list[list[Any]]:
    """(dtype, name, shape) → `[dtype, shape, name]` with `{0..31}` for numbers that fill a range."""
    groups: dict[tuple[str, str, tuple[int, ...]], list[tuple[int, ...]]] = defaultdict(list)
    for dtype, name, shape in shapes:
        pattern = _NUMBER.sub("{}", name)
        groups[dtype, pattern, shape].append(tuple(int(number) for number in _NUMBER.findall(name)))
    lines = []
    for (dtype, pattern, shape), numbers in groups.items():
        ranges = [(min(column), max(column)) for column in zip(*numbers, strict=True)]
        if len(set(product(*(range(a, b + 1) for a, b in ranges)))) == len(numbers):
            lines.append([dtype, list(shape), pattern.format(*(f"{{{a}..{b}}}" for a, b in ranges))])
        else:
            lines += [[dtype, list(shape), pattern.format(*each)] for each in numbers]
    return lines


def shards(entries: list[tuple[str, str, tuple[int, ...]]], limit: int) -> list[list[tuple[str, str, tuple[int, ...]]]]:
    """Entries cut where the next one would pass `limit` bytes, as Transformers shards."""
    cut: list[list[tuple[str, str, tuple[int, ...]]]] = [[]]
    filled = 0
    for dtype, name, shape in entries:
        nbytes = {"F32": 4}.get(dtype, 2)
        for dim in shape:
            nbytes *= dim
        if cut[-1] and filled + nbytes > limit:
            cut.append([])
            filled = 0
        cut[-1].append((dtype, name, shape))
        filled += nbytes
    return cut


def recipe(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """The recipe of one checkpoint, with the oddities of the published one."""
    dtype = {"float16": "F16", "bfloat16": "BF16"}.get(config.get("torch_dtype", ""), "F32")
    entries = [(dtype, tensor, shape) for tensor, shape in stored(config).items()]
    beside: dict[str, Any] = {"config.json": config}
    limit, in_order = 10**13, False
    metadata: dict[str, str] | None = {"format": "pt"}
    if name == "llama-7b":
        entries = with_inv_freq(entries)
        limit = 10 * 10**9
    elif name == "qwen3-0.6b":
        entries.append((dtype, "lm_head.weight", (151936, 1024)))
    elif name == "gemma-2b-it":
        limit = 4_950_000_000
    elif name == "gpt2":
        entries, in_order = shuffled(with_masks(entries), 14_283), True
    elif name == "bert-base-uncased":
        entries = bert_published(entries)
    files = shards(entries, limit)
    paths = (
        [f"model-{n:05}-of-{len(files):05}.safetensors" for n in range(1, len(files) + 1)]
        if len(files) > 1
        else ["model.safetensors"]
    )
    return {
        "about": f"names and shapes: transformers {transformers.__version__}, {config['architectures'][0]}",
        "beside": beside,
        "files": {
            path: {"metadata": metadata, "tensors": compress(file)}
            if not in_order
            else {
                "metadata": metadata,
                "in_order": True,
                "tensors": [[dtype, list(shape), tensor] for dtype, tensor, shape in file],
            }
            for path, file in zip(paths, files, strict=True)
        },
    }


def with_inv_freq(entries: list[tuple[str, str, tuple[int, ...]]]) -> list[tuple[str, str, tuple[int, ...]]]:
    """Rotary frequencies after each attention, as checkpoints of 2023 have them."""
    done = []
    for dtype, name, shape in entries:
        done.append((dtype, name, shape))
        if name.endswith("self_attn.o_proj.weight"):
            done.append((dtype, name.replace("o_proj.weight", "rotary_emb.inv_freq"), (64,)))
    return done


def with_masks(entries: list[tuple[str, str, tuple[int, ...]]]) -> list[tuple[str, str, tuple[int, ...]]]:
    """GPT-2 as published: no prefix, a causal mask in each layer."""
    done: list[tuple[str, str, tuple[int, ...]]] = []
    for dtype, name, shape in entries:
        name = name.removeprefix("transformer.")
        if name.endswith("attn.c_attn.weight"):
            done.append((dtype, name.replace("c_attn.weight", "bias"), (1, 1, 1024, 1024)))
        done.append((dtype, name, shape))
    return done


def shuffled(entries: list[tuple[str, str, tuple[int, ...]]], header: int) -> list[tuple[str, str, tuple[int, ...]]]:
    """An order in which the header has the published length.

    The writer of 2022 went through a hash map, so the real order is chance; offsets have more digits the
    later the large tensors come, and the header's length depends on it.
    """
    for seed in range(10_000):
        order = sorted(entries)
        random.Random(seed).shuffle(order)
        if header_length(order) == header:
            return order
    raise ValueError(f"no order gives a header of {header} bytes")


def header_length(order: list[tuple[str, str, tuple[int, ...]]]) -> int:
    """Of an unpadded header of F32 tensors."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for dtype, name, shape in order:
        begin, end = end, end + 4 * prod(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    return len(json.dumps(header, separators=(",", ":")))


def bert_published(entries: list[tuple[str, str, tuple[int, ...]]]) -> list[tuple[str, str, tuple[int, ...]]]:
    """BERT as published: gamma and beta for the norms' weight and bias."""
    return [
        (dtype, name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"), shape)
        for dtype, name, shape in entries
    ]


def meta_recipe() -> dict[str, Any]:
    """Llama-3.1-8B in Meta's own words: names, and params.json."""
    entries = []
    for name, shape in stored(LLAMA_31_8B).items():
        for ours, theirs in META_NAMES:
            name = name.replace(ours, theirs)
        entries.append(("BF16", name, shape))
    params = {
        "dim": 4096,
        "ffn_dim_multiplier": 1.3,
        "multiple_of": 1024,
        "n_heads": 32,
        "n_kv_heads": 8,
        "n_layers": 32,
        "norm_eps": 1e-05,
        "rope_theta": 500000.0,
        "use_scaled_rope": True,
        "vocab_size": 128256,
    }
    return {
        "about": "Llama-3.1-8B under Meta's names",
        "beside": {"params.json": params},
        "files": {"consolidated.safetensors": {"tensors": compress(entries)}},
    }


def main() -> None:
    for folder in ("recipes", "predictions"):
        (FIXTURES / folder).mkdir(exist_ok=True)
    recipes = {name: recipe(name, config) for name, config in CHECKPOINTS.items()}
    recipes["llama-3.1-8b-meta"] = meta_recipe()
    for name, made in recipes.items():
        write(FIXTURES / "recipes" / f"{name}.json", made)
    for name, config in CHANGED.items():
        shapes = compress(("", tensor, shape) for tensor, shape in stored(config).items())
        tensors = [[shape, tensor] for _, shape, tensor in shapes]
        write(FIXTURES / "predictions" / f"{name}.json", {"config": config, "tensors": tensors})


def write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(_legible(content, 0) + "\n")


def _legible(value: Any, depth: int) -> str:
    """JSON with a line a field and a line a tensor, for diffs that can be read."""
    if not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], list)):
        return json.dumps(value)
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        return "[" + inner + ("," + inner).join(json.dumps(item) for item in value) + outer + "]"
    fields = (f"{json.dumps(key)}: {_legible(item, depth + 1)}" for key, item in value.items())
    return "{" + inner + ("," + inner).join(fields) + outer + "}"


if __name__ == "__main__":
    main()
