"""Tiny downloads of further families, methods and libraries: sets `d` and `e`.

The audit was corrected on faults in `d`. Those of `e` were only ever counted.
"""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from downloads import (
    ENCODER,
    LLAMA,
    LOADED,
    SEQ2SEQ,
    SETS,
    VISION,
    VOCAB,
    Make,
    adapter,
    byte_pairs,
    feature_extractor,
    model,
    pickled,
    pieces,
    templated,
    two_files,
    unigram,
    vocabulary,
    word_pieces,
)

TEXT: dict[str, Any] = {**ENCODER, "vocab_size": VOCAB, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
NAMED: dict[str, Any] = {"vocab_size": VOCAB, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
SMALL = {"size": {"height": 32, "width": 32}}


def without(values: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in fields}


def processor(kind: str, extractor: Make, tokenizer: Make = byte_pairs, **more: Any) -> Make:
    """A processor of a feature extractor and a tokenizer, in the files that Transformers gives it."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as inner:
            at = Path(inner)
            extractor(at)
            tokenizer(at)
            own = transformers.AutoTokenizer.from_pretrained(at)
            try:
                first: Any = transformers.AutoImageProcessor.from_pretrained(at)
            except Exception:
                first = transformers.AutoFeatureExtractor.from_pretrained(at)
            getattr(transformers, kind)(first, own, **more).save_pretrained(folder)

    return make


CONVOLUTION: dict[str, Any] = {
    **without(ENCODER, "max_position_embeddings"),
    "vocab_size": 40,
    "conv_dim": (16, 16),
    "conv_stride": (2, 2),
    "conv_kernel": (3, 3),
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
}
CLIP_TEXT = {**TEXT, "max_position_embeddings": 32}

# --- d: text --------------------------------------------------------------------------------------
model("d", "phi", "PhiForCausalLM", {**LLAMA, "partial_rotary_factor": 0.5}, templated)
model("d", "gemma2-sharded", "Gemma2ForCausalLM", {**LLAMA, "head_dim": 8}, max_shard_size="40KB", dtype="bfloat16")
model("d", "starcoder2", "Starcoder2ForCausalLM", LLAMA, lambda folder: two_files(folder, "GPT2Tokenizer"))
model("d", "cohere", "CohereForCausalLM", LLAMA)
model("d", "gptj-bin", "GPTJForCausalLM", {**NAMED, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4}, after=pickled)  # fmt: skip
model("d", "olmoe", "OlmoeForCausalLM", {**LLAMA, "num_experts": 4, "num_experts_per_tok": 2}, max_shard_size="60KB")
model("d", "glm4", "Glm4ForCausalLM", {**LLAMA, "head_dim": 8}, templated)
model("d", "xlm-roberta", "XLMRobertaForMaskedLM", {**TEXT, "max_position_embeddings": 66}, unigram)
model("d", "mobilebert", "MobileBertForSequenceClassification", {**ENCODER, "embedding_size": 16, "intra_bottleneck_size": 32, "num_labels": 2}, vocabulary)  # fmt: skip
model("d", "longformer", "LongformerForMaskedLM", {**TEXT, "max_position_embeddings": 66, "attention_window": [8, 8]})  # fmt: skip
model("d", "mt5", "MT5ForConditionalGeneration", {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}, unigram)  # fmt: skip
model("d", "blenderbot", "BlenderbotSmallForConditionalGeneration", {**SEQ2SEQ, "forced_eos_token_id": 1})
# --- d: images, sound, both -----------------------------------------------------------------------
model("d", "deit", "DeiTForImageClassification", {**VISION, "num_labels": 3}, None, after=feature_extractor("DeiTImageProcessor", **SMALL, crop_size={"height": 32, "width": 32}))  # fmt: skip
model("d", "segformer", "SegformerForSemanticSegmentation", {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 16], "num_attention_heads": [1, 2, 2, 2], "decoder_hidden_size": 16, "num_labels": 3}, None, after=feature_extractor("SegformerImageProcessor", **SMALL))  # fmt: skip
model("d", "mobilenet", "MobileNetV2ForImageClassification", {"depth_multiplier": 0.25, "image_size": 32, "num_labels": 3}, None, after=feature_extractor("MobileNetV2ImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("d", "wavlm", "WavLMForSequenceClassification", {**CONVOLUTION, "num_labels": 2}, None, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("d", "speech-to-text", "Speech2TextForConditionalGeneration", {**without(SEQ2SEQ, "max_position_embeddings"), "max_source_positions": 50, "max_target_positions": 40, "input_feat_per_channel": 16, "conv_channels": 16, "num_conv_layers": 2, "conv_kernel_sizes": [3, 3]}, after=feature_extractor("Speech2TextFeatureExtractor", feature_size=16, num_mel_bins=16))  # fmt: skip
model("d", "blip", "BlipForConditionalGeneration", {"text_config": {**CLIP_TEXT, "encoder_hidden_size": 32}, "vision_config": VISION, "projection_dim": 16}, None, after=processor("BlipProcessor", feature_extractor("BlipImageProcessor", **SMALL), word_pieces))  # fmt: skip
model("d", "llava-processor", "LlavaForConditionalGeneration", {"text_config": {"model_type": "llama", **LLAMA}, "vision_config": {"model_type": "clip_vision_model", **VISION}, "image_token_index": 5, "image_token_id": 5}, None, after=processor("LlavaProcessor", feature_extractor("CLIPImageProcessor", size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}), templated, patch_size=8))  # fmt: skip
model("d", "clip-processor", "CLIPModel", {"text_config": CLIP_TEXT, "vision_config": VISION, "projection_dim": 16}, None, after=processor("CLIPProcessor", feature_extractor("CLIPImageProcessor", size={"shortest_edge": 32})))  # fmt: skip
model("d", "whisper-processor", "WhisperForConditionalGeneration", {**without(SEQ2SEQ, "max_position_embeddings"), "max_source_positions": 50, "max_target_positions": 40, "num_mel_bins": 16, "begin_suppress_tokens": None}, None, after=processor("WhisperProcessor", feature_extractor("WhisperFeatureExtractor", feature_size=16)))  # fmt: skip
# --- d: adapters ----------------------------------------------------------------------------------
adapter("d", "fourierft", "FourierFTConfig", n_frequency=8, target_modules=["q_proj", "v_proj"])
adapter("d", "vblora", "VBLoRAConfig", r=2, num_vectors=8, vector_length=8, topk=2, target_modules=["q_proj", "o_proj"])
adapter("d", "miss", "MissConfig", r=4, target_modules=["q_proj", "v_proj"])
adapter("d", "lora-wide", "LoraConfig", r=4, target_modules=["q_proj", "gate_proj"], modules_to_save=["lm_head"], lora_dropout=0.1, use_dora=True)  # fmt: skip
adapter("d", "tokens", "TrainableTokensConfig", token_indices=[1, 4, 9])
adapter(
    "d", "lora-few", "LoraConfig", r=2, target_modules=["up_proj"], layers_to_transform=[0], layers_pattern="layers"
)

# --- e: text --------------------------------------------------------------------------------------
model("e", "smollm3", "SmolLM3ForCausalLM", LLAMA, templated)
model("e", "codegen", "CodeGenForCausalLM", {**NAMED, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4, "n_ctx": 64}, lambda folder: two_files(folder, "CodeGenTokenizer"))  # fmt: skip
model("e", "nemotron-sharded", "NemotronForCausalLM", {**LLAMA, "head_dim": 8}, max_shard_size="40KB", dtype="float16")
model("e", "deepseek", "DeepseekV3ForCausalLM", {**LLAMA, "num_key_value_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16, "first_k_dense_replace": 1, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "n_shared_experts": 1})  # fmt: skip
model("e", "gpt-neo-bin", "GPTNeoForCausalLM", {**NAMED, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64}, after=pickled)  # fmt: skip
model("e", "mamba2", "Mamba2ForCausalLM", {**NAMED, "hidden_size": 32, "state_size": 4, "num_hidden_layers": 2, "num_heads": 8, "head_dim": 8, "n_groups": 1})  # fmt: skip
model("e", "gpt-oss", "GptOssForCausalLM", {**LLAMA, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "layer_types": ["sliding_attention", "full_attention"]}, templated, dtype="bfloat16")  # fmt: skip
model("e", "camembert", "CamembertForTokenClassification", {**TEXT, "max_position_embeddings": 66, "num_labels": 3}, unigram)  # fmt: skip
model("e", "squeezebert", "SqueezeBertForMaskedLM", {**ENCODER, "embedding_size": 32}, vocabulary)
model("e", "xlnet", "XLNetLMHeadModel", {"vocab_size": VOCAB, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2})  # fmt: skip
model("e", "m2m", "M2M100ForConditionalGeneration", {**SEQ2SEQ, "forced_eos_token_id": 1})
model("e", "led", "LEDForConditionalGeneration", {**without(SEQ2SEQ, "max_position_embeddings"), "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64, "attention_window": [8, 8]})  # fmt: skip
model("e", "umt5-spm", "T5ForConditionalGeneration", {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}, lambda folder: pieces(folder, "T5Tokenizer", "spiece.model", model_type="unigram", extra_ids=0, vocab_size=40))  # fmt: skip
# --- e: images, sound, both -----------------------------------------------------------------------
model("e", "convnext", "ConvNextForImageClassification", {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 16], "image_size": 32, "num_labels": 3}, None, after=feature_extractor("ConvNextImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("e", "mobilevit", "MobileViTForImageClassification", {"image_size": 32, "hidden_sizes": [16, 16, 16], "neck_hidden_sizes": [8, 8, 16, 16, 16, 16, 16], "num_attention_heads": 2, "num_labels": 3}, None, after=feature_extractor("MobileViTImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("e", "yolos", "YolosForObjectDetection", {**VISION, "image_size": [32, 32], "num_detection_tokens": 4, "num_labels": 3}, None, after=feature_extractor("YolosImageProcessor", size={"shortest_edge": 32, "longest_edge": 48}))  # fmt: skip
model("e", "videomae", "VideoMAEForVideoClassification", {**VISION, "num_frames": 4, "num_labels": 3}, None, after=feature_extractor("VideoMAEImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("e", "unispeech", "UniSpeechForCTC", CONVOLUTION, None, after=feature_extractor("Wav2Vec2FeatureExtractor"))
model("e", "clap", "ClapAudioModel", {"window_size": 4, "spec_size": 32, "num_mel_bins": 8, "patch_embeds_hidden_size": 8, "depths": [1, 1], "num_attention_heads": [1, 2], "patch_size": 4, "patch_stride": [4, 4], "projection_dim": 16, "hidden_size": 16, "num_hidden_layers": 2}, None, after=feature_extractor("ClapFeatureExtractor", feature_size=8))  # fmt: skip
model("e", "siglip2", "SiglipModel", {"text_config": CLIP_TEXT, "vision_config": VISION}, None, after=processor("SiglipProcessor", feature_extractor("SiglipImageProcessor", **SMALL)))  # fmt: skip
model("e", "internvl", "InternVLForConditionalGeneration", {"text_config": {"model_type": "qwen2", **LLAMA}, "vision_config": {**VISION, "image_size": [32, 32], "patch_size": [8, 8]}, "image_token_id": 5}, templated, after=feature_extractor("GotOcr2ImageProcessor", **SMALL))  # fmt: skip
model("e", "git", "GitForCausalLM", {**CLIP_TEXT, "vision_config": VISION}, None, after=processor("GitProcessor", feature_extractor("CLIPImageProcessor", size={"shortest_edge": 32}), word_pieces))  # fmt: skip
# --- e: adapters ----------------------------------------------------------------------------------
adapter("e", "randlora", "RandLoraConfig", r=4, target_modules=["q_proj", "o_proj"])
adapter("e", "shira", "ShiraConfig", r=2, target_modules=["q_proj", "v_proj"])
adapter("e", "lora-head", "LoraConfig", r=4, target_modules=["q_proj", "v_proj", "o_proj"], modules_to_save=["embed_tokens"], rank_pattern={"o_proj": 2})  # fmt: skip
adapter("e", "lora-all", "LoraConfig", r=2, target_modules="all-linear", bias="all")
adapter("e", "road", "RoadConfig", group_size=4, target_modules=["q_proj"])
adapter("e", "cpt", "CPTConfig", cpt_token_ids=[1, 2, 3], cpt_mask=[1, 1, 1], cpt_tokens_type_mask=[1, 2, 2])


# --- pipelines ------------------------------------------------------------------------------------


def _pipeline(part: str, name: str, make: Make) -> None:
    SETS[part][name] = make
    LOADED[name] = "diffusers"


def _latent(channels: int = 4) -> Any:
    import diffusers

    return diffusers.AutoencoderKL(
        block_out_channels=(8, 16),
        norm_num_groups=4,
        latent_channels=channels,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )


def _text(kind: str = "CLIPTextModel") -> Any:
    own = transformers.CLIPTextConfig(**CLIP_TEXT, projection_dim=16)
    return getattr(transformers, kind)(own)


def _parts(folder: Path, head: str, parts: dict[str, Any], **values: Any) -> None:
    """A pipeline, put together of its parts."""
    import diffusers

    index: dict[str, Any] = {"_class_name": head, "_diffusers_version": diffusers.__version__, **values}
    for name, own in parts.items():
        if own is None:
            index[name] = [None, None]
        elif own is byte_pairs:
            byte_pairs(folder / name)
            index[name] = ["transformers", "PreTrainedTokenizerFast"]
        else:
            own.save_pretrained(folder / name)
            index[name] = [type(own).__module__.split(".")[0], type(own).__name__]
    (folder / "model_index.json").write_text(json.dumps(index, indent=2))


BLOCKS: dict[str, Any] = {
    "sample_size": 8,
    "layers_per_block": 1,
    "block_out_channels": (8, 16),
    "norm_num_groups": 4,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
}


def _large(folder: Path) -> None:
    import diffusers

    net = diffusers.UNet2DConditionModel(
        **BLOCKS,
        cross_attention_dim=64,
        attention_head_dim=(2, 4),
        transformer_layers_per_block=(1, 1),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=64,
    )
    parts = {
        "vae": _latent(),
        "text_encoder": _text(),
        "text_encoder_2": _text("CLIPTextModelWithProjection"),
        "tokenizer": byte_pairs,
        "tokenizer_2": byte_pairs,
        "unet": net,
        "scheduler": diffusers.EulerDiscreteScheduler(),
        "image_encoder": None,
        "feature_extractor": None,
    }
    _parts(folder, "StableDiffusionXLPipeline", parts, force_zeros_for_empty_prompt=True)


def _flux(folder: Path) -> None:
    import diffusers

    net = diffusers.FluxTransformer2DModel(
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
    )
    t5 = transformers.T5EncoderModel(
        transformers.T5Config(vocab_size=VOCAB, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)
    )
    parts = {
        "vae": _latent(1),
        "text_encoder": _text(),
        "text_encoder_2": t5,
        "tokenizer": byte_pairs,
        "tokenizer_2": byte_pairs,
        "transformer": net,
        "scheduler": diffusers.FlowMatchEulerDiscreteScheduler(),
        "image_encoder": None,
        "feature_extractor": None,
    }
    _parts(folder, "FluxPipeline", parts)


def _image_to_image(folder: Path) -> None:
    import diffusers

    net = diffusers.UNet2DConditionModel(**BLOCKS, cross_attention_dim=32, attention_head_dim=4)
    vision = transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(**VISION, projection_dim=32))
    parts = {
        "vae": _latent(),
        "image_encoder": vision,
        "unet": net,
        "scheduler": diffusers.PNDMScheduler(skip_prk_steps=True),
        "safety_checker": None,
        "feature_extractor": transformers.CLIPImageProcessor(size={"shortest_edge": 32}),
    }
    _parts(folder, "StableDiffusionImageVariationPipeline", parts, requires_safety_checker=False)


def _pixart(folder: Path) -> None:
    import diffusers

    net = diffusers.PixArtTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        out_channels=8,
        num_layers=2,
        sample_size=8,
        cross_attention_dim=16,
        caption_channels=32,
        norm_num_groups=4,
    )
    t5 = transformers.T5EncoderModel(
        transformers.T5Config(vocab_size=VOCAB, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)
    )
    parts = {
        "tokenizer": byte_pairs,
        "text_encoder": t5,
        "vae": _latent(),
        "transformer": net,
        "scheduler": diffusers.DPMSolverMultistepScheduler(),
    }
    _parts(folder, "PixArtAlphaPipeline", parts)


_pipeline("d", "stable-diffusion-xl", _large)
_pipeline("d", "image-variation", _image_to_image)
_pipeline("e", "flux", _flux)
_pipeline("e", "pixart", _pixart)


# --- sentence-transformers ------------------------------------------------------------------------


def _sentences(folder: Path, make: Any) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts

    with tempfile.TemporaryDirectory() as inner:
        transformers.DistilBertModel(
            transformers.DistilBertConfig(vocab_size=256, dim=32, n_layers=2, n_heads=4, hidden_dim=64)
        ).save_pretrained(inner)
        word_pieces(Path(inner))
        SentenceTransformer(modules=make(parts, inner), device="cpu").save(str(folder))


def _static(parts: Any, inner: str) -> list[Any]:
    from tokenizers import Tokenizer

    return [parts.StaticEmbedding(Tokenizer.from_file(f"{inner}/tokenizer.json"), embedding_dim=16)]


SETS["d"]["sentences-weighted"] = lambda folder: _sentences(folder, lambda p, inner: [p.Transformer(inner, max_seq_length=32), p.Pooling(32, "max"), p.Dropout(0.1), p.Dense(32, 8)])  # fmt: skip
SETS["e"]["sentences-static"] = lambda folder: _sentences(folder, _static)
SETS["e"]["sentences-cnn"] = lambda folder: _sentences(folder, lambda p, inner: [p.Transformer(inner, max_seq_length=32), p.CNN(32, 16), p.Pooling(48)])  # fmt: skip
LOADED |= dict.fromkeys(("sentences-weighted", "sentences-static", "sentences-cnn"), "sentence-transformers")


# --- GGUF -----------------------------------------------------------------------------------------


def _gguf(folder: Path, kind: str, *, bias: bool = False, norms: bool = False) -> None:
    """A decoder for llama.cpp, with byte pairs as its vocabulary."""
    import gguf
    import numpy

    with tempfile.TemporaryDirectory() as inner:
        byte_pairs(Path(inner))
        own = json.loads((Path(inner) / "tokenizer.json").read_text())
    vocab = own["model"]["vocab"]
    tokens = sorted(vocab, key=vocab.__getitem__)
    merges = [each if isinstance(each, str) else " ".join(each) for each in own["model"]["merges"]]
    wide, inner_size, head = 64, 128, 16
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (len(tokens), wide), "output_norm.weight": (wide,)}
    for number in range(2):
        layer: dict[str, tuple[int, ...]] = {
            "attn_norm": (wide,),
            "ffn_norm": (wide,),
            "attn_q": (wide, wide),
            "attn_k": (32, wide),
            "attn_v": (32, wide),
            "attn_output": (wide, wide),
            "ffn_gate": (inner_size, wide),
            "ffn_up": (inner_size, wide),
            "ffn_down": (wide, inner_size),
        }
        layer |= {"attn_q_norm": (head,), "attn_k_norm": (head,)} if norms else {}
        shapes |= {f"blk.{number}.{name}.weight": shape for name, shape in layer.items()}
        if bias:
            shapes |= {f"blk.{number}.attn_{each}.bias": (size,) for each, size in (("q", wide), ("k", 32), ("v", 32))}
    writer = gguf.GGUFWriter(str(folder / f"{kind}-F16.gguf"), kind)
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(wide)
    writer.add_block_count(2)
    writer.add_feed_forward_length(inner_size)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token.startswith("<") else 1 for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(2)
    writer.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")
    for name, shape in shapes.items():
        writer.add_tensor(name, numpy.full(shape, 0.01, dtype="f4" if len(shape) == 1 else "f2"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


SETS["d"]["gguf-qwen2"] = partial(_gguf, kind="qwen2", bias=True)
SETS["e"]["gguf-qwen3"] = partial(_gguf, kind="qwen3", norms=True)
LOADED |= dict.fromkeys(("gguf-qwen2", "gguf-qwen3"), "llama.cpp")


# --- FP8 ------------------------------------------------------------------------------------------


def _float8(folder: Path) -> None:
    """FP8 in blocks of 32 × 32, in shards with an index."""
    from safetensors.torch import save_file

    own = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**LLAMA, head_dim=8)).bfloat16()
    own.config.dtype = torch.bfloat16
    own.config.architectures = ["Qwen3ForCausalLM"]
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if name.endswith("proj.weight"):
            tensors[name] = tensor.to(torch.float8_e4m3fn)
            tensors[name + "_scale_inv"] = torch.ones([-(-size // 32) for size in tensor.shape])
        else:
            tensors[name] = tensor.clone()
    tensors.pop("lm_head.weight") if own.config.tie_word_embeddings else None
    names = sorted(tensors)
    index: dict[str, str] = {}
    for number, some in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), 1):
        file = f"model-{number:05}-of-00002.safetensors"
        save_file({name: tensors[name] for name in some}, folder / file, {"format": "pt"})
        index |= dict.fromkeys(some, file)
    total = sum(each.numel() * each.element_size() for each in tensors.values())
    text = json.dumps({"metadata": {"total_size": total}, "weight_map": index}, indent=2)
    (folder / "model.safetensors.index.json").write_text(text)
    how = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [32, 32]}
    (folder / "config.json").write_text(json.dumps({**own.config.to_dict(), "quantization_config": how}, indent=2))
    templated(folder)


SETS["e"]["fp8-sharded"] = _float8
LOADED["fp8-sharded"] = "Qwen3ForCausalLM"
