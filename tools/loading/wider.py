"""Tiny downloads of yet other families, tokenizers, methods and libraries: sets `f` and `g`.

Each was written before a fault in it was seen, and counted before a rule was corrected from it.
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
    WORDS,
    YARN,
    Make,
    adapter,
    byte_pairs,
    feature_extractor,
    model,
    packed,
    pickled,
    pieces,
    templated,
    two_files,
    unigram,
    vocabulary,
    word_pieces,
)
from further import BLOCKS, CLIP_TEXT, CONVOLUTION, NAMED, SMALL, TEXT, processor, without

# --- tokenizers -----------------------------------------------------------------------------------


def words_alone(folder: Path) -> None:
    """tokenizer.json with whole words, and no tokenizer_config.json field beyond the special ones."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    special = ["<s>", "</s>", "<pad>", "<unk>"]
    own = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*special, *dict.fromkeys(WORDS)])}, "<unk>"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.add_special_tokens(special)
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, **names).save_pretrained(folder)


def templated_apart(folder: Path) -> None:
    """Byte pairs framed by a post-processor, with two chat templates in files of their own."""
    from tokenizers import processors

    byte_pairs(folder)
    own = transformers.AutoTokenizer.from_pretrained(folder)
    own._tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    own.chat_template = {
        "default": "{% for m in messages %}{{ m['content'] }}{% endfor %}",
        "tools": "{{ tools | tojson }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}",
    }
    own.save_pretrained(folder)


def of_old(folder: Path) -> None:
    """vocab.json, merges.txt, added_tokens.json and special_tokens_map.json, as before tokenizer.json alone."""
    two_files(folder)
    vocab = json.loads((folder / "vocab.json").read_text())
    (folder / "added_tokens.json").write_text(json.dumps({"<|call|>": len(vocab), "<|end|>": len(vocab) + 1}))
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    (folder / "special_tokens_map.json").write_text(json.dumps({**names, "additional_special_tokens": ["<|call|>"]}))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config["added_tokens_decoder"] = {
        str(len(vocab) + at): {
            "content": text,
            "special": not at,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "single_word": False,
        }
        for at, text in enumerate(("<|call|>", "<|end|>"))
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def bytes_alone(folder: Path) -> None:
    """ByT5's: no vocabulary at all."""
    transformers.ByT5Tokenizer().save_pretrained(folder)


def marian(folder: Path) -> None:
    """Two models of SentencePiece and a vocabulary."""
    pieces(folder, "MarianTokenizer", "source.spm", model_type="unigram", vocab_size=40)
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    import sentencepiece

    own = sentencepiece.SentencePieceProcessor(str(folder / "source.spm"))
    tokens = [*dict.fromkeys(["</s>", "<unk>", *(own.id_to_piece(at) for at in range(len(own)))]), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: at for at, token in enumerate(tokens)}, ensure_ascii=False))
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def sound_alphabet(folder: Path) -> None:
    """Wav2Vec2's: letters in vocab.json."""
    letters = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz'"]
    (folder / "vocab.json").write_text(json.dumps({letter: at for at, letter in enumerate(letters)}))
    config = {"tokenizer_class": "Wav2Vec2CTCTokenizer", "word_delimiter_token": "|", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


# --- f: text --------------------------------------------------------------------------------------
ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}  # fmt: skip
model("f", "llama3-rope", "LlamaForCausalLM", {**LLAMA, "rope_parameters": ROPE, "eos_token_id": [1, 3]}, templated_apart)  # fmt: skip
model("f", "olmo3", "Olmo3ForCausalLM", {**LLAMA, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 16})  # fmt: skip
model("f", "qwen2-moe-sharded", "Qwen2MoeForCausalLM", {**LLAMA, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 32}, max_shard_size="50KB", dtype="bfloat16")  # fmt: skip
model("f", "gpt-bigcode", "GPTBigCodeForCausalLM", {**NAMED, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}, of_old)  # fmt: skip
model("f", "falcon-mamba", "FalconMambaForCausalLM", {**NAMED, "hidden_size": 32, "state_size": 4, "num_hidden_layers": 2})  # fmt: skip
model("f", "helium-words", "HeliumForCausalLM", {**LLAMA, "head_dim": 8}, words_alone)
model("f", "xglm", "XGLMForCausalLM", {**NAMED, "d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4, "max_position_embeddings": 64})  # fmt: skip
model("f", "granitemoe", "GraniteMoeForCausalLM", {**LLAMA, "num_local_experts": 4, "num_experts_per_tok": 2}, dtype="float16")  # fmt: skip
model("f", "persimmon-bin", "PersimmonForCausalLM", without(LLAMA, "num_key_value_heads"), after=pickled)
model("f", "mpt", "MptForCausalLM", {**NAMED, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64})
model("f", "exaone4", "Exaone4ForCausalLM", {**LLAMA, "sliding_window": 16, "sliding_window_pattern": 2, "layer_types": ["sliding_attention", "full_attention"]}, templated)  # fmt: skip
model("f", "byt5", "T5ForConditionalGeneration", {"vocab_size": 400, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}, bytes_alone)  # fmt: skip
model("g", "marian-spm", "MarianMTModel", {**SEQ2SEQ, "vocab_size": 80, "decoder_start_token_id": 2, "pad_token_id": 40, "eos_token_id": 0, "forced_eos_token_id": 0}, marian)  # fmt: skip
model("f", "plbart", "PLBartForConditionalGeneration", {**SEQ2SEQ, "forced_eos_token_id": 1})
model("f", "switch", "SwitchTransformersForConditionalGeneration", {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "num_experts": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}, unigram)  # fmt: skip
model("f", "big-bird", "BigBirdForSequenceClassification", {**TEXT, "max_position_embeddings": 128, "attention_type": "original_full", "num_labels": 2})  # fmt: skip
model("f", "convbert", "ConvBertForMaskedLM", {**ENCODER, "embedding_size": 32, "conv_kernel_size": 3}, vocabulary)
model("f", "layoutlm", "LayoutLMForTokenClassification", {**ENCODER, "max_2d_position_embeddings": 64, "num_labels": 5}, word_pieces)  # fmt: skip
model("f", "esm", "EsmForMaskedLM", {**TEXT, "position_embedding_type": "rotary", "mask_token_id": 3}, None)
# --- f: images, sound, both -----------------------------------------------------------------------
model("f", "regnet", "RegNetForImageClassification", {"embedding_size": 8, "hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "groups_width": 8, "num_labels": 3}, None, after=feature_extractor("ConvNextImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("f", "dpt", "DPTForDepthEstimation", {**VISION, "backbone_out_indices": [0, 1, 0, 1], "neck_hidden_sizes": [8, 8, 8, 8], "fusion_hidden_size": 8, "reassemble_factors": [4, 2, 1, 0.5]}, None, after=feature_extractor("DPTImageProcessor", **SMALL))  # fmt: skip
model("f", "levit", "LevitForImageClassification", {"image_size": 32, "hidden_sizes": [16, 16, 16], "num_attention_heads": [1, 1, 1], "depths": [1, 1, 1], "key_dim": [8, 8, 8], "num_labels": 2}, None, after=feature_extractor("LevitImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("f", "owlvit", "OwlViTForObjectDetection", {"text_config": {**CLIP_TEXT, "max_position_embeddings": 16}, "vision_config": VISION, "projection_dim": 16}, None, after=processor("OwlViTProcessor", feature_extractor("OwlViTImageProcessor", **SMALL, crop_size={"height": 32, "width": 32})))  # fmt: skip
model("f", "sew", "SEWForCTC", {**CONVOLUTION, "squeeze_factor": 2}, sound_alphabet, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("f", "moonshine", "MoonshineForConditionalGeneration", {**NAMED, "hidden_size": 32, "intermediate_size": 64, "encoder_num_hidden_layers": 2, "decoder_num_hidden_layers": 2, "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4, "decoder_start_token_id": 0}, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("f", "encodec", "EncodecModel", {"hidden_size": 16, "num_filters": 4, "upsampling_ratios": [2, 2], "codebook_size": 16, "codebook_dim": 16}, None, after=feature_extractor("EncodecFeatureExtractor"))  # fmt: skip
model("f", "vilt", "ViltForQuestionAnswering", {**ENCODER, "vocab_size": 256, "image_size": 32, "patch_size": 8, "num_labels": 4}, None, after=processor("ViltProcessor", feature_extractor("ViltImageProcessor", size={"shortest_edge": 32}), word_pieces))  # fmt: skip
model("f", "smolvlm", "SmolVLMForConditionalGeneration", {"text_config": {"model_type": "llama", **LLAMA}, "vision_config": VISION, "image_token_id": 5, "scale_factor": 2}, templated, after=feature_extractor("SmolVLMImageProcessor", size={"longest_edge": 64}))  # fmt: skip
model("f", "qwen25-vl", "Qwen2_5_VLForConditionalGeneration", {"text_config": {**LLAMA, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}}, "vision_config": {"depth": 2, "hidden_size": 32, "num_heads": 4, "intermediate_size": 64, "out_hidden_size": 32, "patch_size": 4, "fullatt_block_indexes": [1]}, "image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 7, "vision_end_token_id": 8}, max_shard_size="60KB", after=feature_extractor("Qwen2VLImageProcessor"))  # fmt: skip
model("f", "gemma3-mm", "Gemma3ForConditionalGeneration", {"text_config": {**LLAMA, "head_dim": 8}, "vision_config": {"model_type": "siglip_vision_model", **VISION}, "mm_tokens_per_image": 4, "image_token_index": 5, "boi_token_index": 6, "eoi_token_index": 7}, templated, after=feature_extractor("Gemma3ImageProcessor", **SMALL))  # fmt: skip
model("f", "trocr", "VisionEncoderDecoderModel", {"encoder": {"model_type": "vit", **VISION}, "decoder": {"model_type": "bert", **ENCODER, "is_decoder": True, "add_cross_attention": True}, "decoder_start_token_id": 2, "pad_token_id": 0}, word_pieces, after=feature_extractor("ViTImageProcessor", **SMALL))  # fmt: skip
model("f", "patchtst", "PatchTSTForPrediction", {"num_input_channels": 2, "context_length": 16, "patch_length": 4, "patch_stride": 4, "num_hidden_layers": 1, "d_model": 16, "num_attention_heads": 2, "ffn_dim": 32, "prediction_length": 4}, None)  # fmt: skip
# --- f: adapters ----------------------------------------------------------------------------------
adapter("f", "lora-pissa", "LoraConfig", r=4, target_modules=["q_proj", "v_proj"], init_lora_weights="gaussian", lora_alpha=32)  # fmt: skip
adapter("f", "lora-some", "LoraConfig", r=4, target_modules=["o_proj", "down_proj"], layers_to_transform=[0, 1], alpha_pattern={"o_proj": 2}, fan_in_fan_out=False)  # fmt: skip
adapter("f", "c3a", "C3AConfig", block_size=16, target_modules=["q_proj", "v_proj"])
adapter("f", "lora-bias", "LoraConfig", r=3, target_modules=["k_proj"], bias="none", use_rslora=True, modules_to_save=["norm"])  # fmt: skip
adapter("f", "waveft", "WaveFTConfig", n_frequency=8, target_modules=["q_proj"])
adapter("f", "delora", "DeloraConfig", r=4, target_modules=["v_proj", "up_proj"])
adapter("f", "multitask", "MultitaskPromptTuningConfig", num_virtual_tokens=4, num_tasks=2, num_ranks=2)
adapter("f", "adaption", "AdaptionPromptConfig", adapter_len=4, adapter_layers=1)


# --- pipelines ------------------------------------------------------------------------------------


def pipeline(part: str, name: str, head: str, parts: Any, **values: Any) -> None:
    """A pipeline, put together of parts that `parts()` makes by name."""

    def make(folder: Path) -> None:
        import diffusers
        from further import _parts

        assert hasattr(diffusers, head)
        _parts(folder, head, parts(diffusers), **values)

    SETS[part][name] = make
    LOADED[name] = "diffusers"


def _t5() -> Any:
    values = {"vocab_size": VOCAB, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4}
    return transformers.T5EncoderModel(transformers.T5Config(**values))


def _clip(kind: str = "CLIPTextModel") -> Any:
    return getattr(transformers, kind)(transformers.CLIPTextConfig(**CLIP_TEXT, projection_dim=32))


def _latents(d: Any, channels: int = 4) -> Any:
    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    return d.AutoencoderKL(block_out_channels=(8, 16), norm_num_groups=4, latent_channels=channels, **kinds)


def _inpainting(d: Any) -> dict[str, Any]:
    net = d.UNet2DConditionModel(**{**BLOCKS, "in_channels": 9}, cross_attention_dim=32, attention_head_dim=4)
    return {
        "vae": _latents(d),
        "text_encoder": _clip(),
        "tokenizer": byte_pairs,
        "unet": net,
        "scheduler": d.LMSDiscreteScheduler(),
        "safety_checker": None,
        "feature_extractor": transformers.CLIPImageProcessor(size={"shortest_edge": 32}),
        "image_encoder": None,
    }


def _third(d: Any) -> dict[str, Any]:
    net = d.SD3Transformer2DModel(
        sample_size=8,
        patch_size=2,
        in_channels=4,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=32,
        caption_projection_dim=32,
        pooled_projection_dim=64,
        out_channels=4,
    )
    return {
        "transformer": net,
        "scheduler": d.FlowMatchEulerDiscreteScheduler(shift=3.0),
        "vae": _latents(d),
        "text_encoder": _clip("CLIPTextModelWithProjection"),
        "tokenizer": byte_pairs,
        "text_encoder_2": _clip("CLIPTextModelWithProjection"),
        "tokenizer_2": byte_pairs,
        "text_encoder_3": _t5(),
        "tokenizer_3": byte_pairs,
        "image_encoder": None,
        "feature_extractor": None,
    }


def _kandinsky(d: Any) -> dict[str, Any]:
    net = d.PriorTransformer(num_attention_heads=2, attention_head_dim=8, num_layers=1, embedding_dim=16, num_embeddings=7, additional_embeddings=4)  # fmt: skip
    vision = transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(**VISION, projection_dim=16))
    text = transformers.CLIPTextModelWithProjection(transformers.CLIPTextConfig(**CLIP_TEXT, projection_dim=16))
    scheduler = d.UnCLIPScheduler(variance_type="fixed_small_log", num_train_timesteps=10, prediction_type="sample")
    return {
        "prior": net,
        "image_encoder": vision,
        "text_encoder": text,
        "tokenizer": byte_pairs,
        "scheduler": scheduler,
        "image_processor": transformers.CLIPImageProcessor(size={"shortest_edge": 32}),
    }


def _latent_upscale(d: Any) -> dict[str, Any]:
    net = d.UNet2DModel(
        sample_size=8,
        in_channels=6,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    vq = d.VQModel(block_out_channels=(8, 16), norm_num_groups=4, latent_channels=3, num_vq_embeddings=16, down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)  # fmt: skip
    return {"vqvae": vq, "unet": net, "scheduler": d.DPMSolverMultistepScheduler(algorithm_type="dpmsolver++")}


pipeline("f", "inpainting", "StableDiffusionInpaintPipeline", _inpainting, requires_safety_checker=False)
pipeline("f", "stable-3", "StableDiffusion3Pipeline", _third)
pipeline("f", "kandinsky", "KandinskyV22PriorPipeline", _kandinsky)
pipeline("f", "super-resolution", "LDMSuperResolutionPipeline", _latent_upscale)


# --- sentence-transformers ------------------------------------------------------------------------


def sentences(part: str, name: str, make: Any, tokenizer: Make = word_pieces) -> None:
    def build(folder: Path) -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers import models as parts

        with tempfile.TemporaryDirectory() as inner:
            transformers.MPNetModel(transformers.MPNetConfig(**{**ENCODER, "max_position_embeddings": 66})).save_pretrained(inner)  # fmt: skip
            tokenizer(Path(inner))
            prompts = {"query": "query: ", "passage": "passage: "}
            SentenceTransformer(modules=make(parts, inner), device="cpu", prompts=prompts).save(str(folder))

    SETS[part][name] = build
    LOADED[name] = "sentence-transformers"


sentences("f", "sentences-cls", lambda p, at: [p.Transformer(at, max_seq_length=32, do_lower_case=True), p.Pooling(32, "cls"), p.Normalize()])  # fmt: skip
sentences("f", "sentences-lstm", lambda p, at: [p.Transformer(at), p.LSTM(32, 8), p.Pooling(16), p.Dense(16, 8, activation_function=torch.nn.Identity())])  # fmt: skip


# --- cross-encoders and packed weights ------------------------------------------------------------
packed("f", "bnb-nf4-double", lambda: transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, llm_int8_skip_modules=["lm_head", "down_proj"]), tie_word_embeddings=True)  # fmt: skip


def _fine_float8(folder: Path) -> None:
    """Mixtral in FP8 by blocks, experts and all, one file."""
    from safetensors.torch import save_file

    own = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**LLAMA, "num_hidden_layers": 3})).bfloat16()
    own.config.dtype = torch.bfloat16
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if name.endswith("proj.weight") and "layers.0" not in name:
            tensors[name] = tensor.to(torch.float8_e4m3fn)
            tensors[name + "_scale_inv"] = torch.ones([-(-size // 16) for size in tensor.shape])
        else:
            tensors[name] = tensor.clone()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    how = {
        "quant_method": "fp8",
        "weight_block_size": [16, 16],
        "modules_to_not_convert": ["model.layers.0", "lm_head"],
    }
    values = {**own.config.to_dict(), "architectures": ["LlamaForCausalLM"], "quantization_config": how}
    (folder / "config.json").write_text(json.dumps(values, indent=2))
    of_old(folder)


SETS["f"]["fp8-some"] = _fine_float8
LOADED["fp8-some"] = "LlamaForCausalLM"


# --- GGUF -----------------------------------------------------------------------------------------


WIDE, INNER, HEAD = 64, 128, 16


def _shapes(kind: str, tokens: int) -> dict[str, tuple[int, ...]]:
    """The tensors of a small model of an architecture."""
    whole: dict[str, tuple[int, ...]] = {"token_embd.weight": (tokens, WIDE), "output_norm.weight": (WIDE,)}
    layer: dict[str, tuple[int, ...]] = {"attn_norm.weight": (WIDE,), "attn_output.weight": (WIDE, WIDE)}
    layer |= {"ffn_down.weight": (WIDE, INNER), "ffn_up.weight": (INNER, WIDE)}
    if kind == "phi2":
        whole |= {"output.weight": (tokens, WIDE), "output.bias": (tokens,), "output_norm.bias": (WIDE,)}
        layer |= {"attn_norm.bias": (WIDE,), "attn_qkv.weight": (3 * WIDE, WIDE), "attn_qkv.bias": (3 * WIDE,)}
        layer |= {"attn_output.bias": (WIDE,), "ffn_down.bias": (WIDE,), "ffn_up.bias": (INNER,)}
    else:
        layer |= {"attn_q.weight": (WIDE, WIDE), "attn_k.weight": (32, WIDE), "attn_v.weight": (32, WIDE)}
    if kind == "gemma2":
        norms = ("ffn_norm", "post_attention_norm", "post_ffw_norm")
        layer |= {"ffn_gate.weight": (INNER, WIDE), **{f"{each}.weight": (WIDE,) for each in norms}}
    if kind == "llama":
        del layer["ffn_down.weight"], layer["ffn_up.weight"]
        layer |= {"ffn_norm.weight": (WIDE,), "ffn_gate_inp.weight": (4, WIDE), "ffn_down_exps.weight": (4, WIDE, 32)}
        layer |= {"ffn_gate_exps.weight": (4, 32, WIDE), "ffn_up_exps.weight": (4, 32, WIDE)}
    return whole | {f"blk.{number}.{name}": shape for number in range(2) for name, shape in layer.items()}


def _sizes(writer: Any, kind: str) -> None:
    """The key-values of a small model of an architecture."""
    writer.add_name(f"tiny {kind}")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDE)
    writer.add_block_count(2)
    writer.add_feed_forward_length(32 if kind == "llama" else INNER)
    writer.add_head_count(4)
    writer.add_head_count_kv(4 if kind == "phi2" else 2)
    writer.add_rope_dimension_count(HEAD)
    writer.add_file_type(7)
    if kind == "llama":
        writer.add_expert_count(4)
        writer.add_expert_used_count(2)
    if kind == "phi2":
        writer.add_layer_norm_eps(1e-5)
    else:
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_key_length(HEAD)
        writer.add_value_length(HEAD)
    if kind == "gemma2":
        writer.add_attn_logit_softcapping(50.0)
        writer.add_final_logit_softcapping(30.0)
        writer.add_sliding_window(32)


def _tokens(writer: Any, kind: str) -> int:
    """A vocabulary of byte pairs; how many tokens it has."""
    with tempfile.TemporaryDirectory() as inner:
        byte_pairs(Path(inner))
        own = json.loads((Path(inner) / "tokenizer.json").read_text())
    vocab = own["model"]["vocab"]
    tokens = sorted(vocab, key=vocab.__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe" if kind == "llama" else "default")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token.startswith("<") else 1 for token in tokens])
    writer.add_token_merges([each if isinstance(each, str) else " ".join(each) for each in own["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(True)
    return len(tokens)


def ggufs(folder: Path, kind: str, *, split: bool = False) -> None:
    """A decoder for llama.cpp by the rows of its architecture, in Q8_0 where a row has whole blocks."""
    import gguf
    import numpy

    more: Any = {"split_max_tensors": 9, "split_max_size": 0} if split else {}
    writer = gguf.GGUFWriter(str(folder / f"{kind}-Q8_0.gguf"), kind, **more)
    _sizes(writer, kind)
    for name, shape in _shapes(kind, _tokens(writer, kind)).items():
        values = numpy.full(shape, 0.01, dtype="f4")
        if len(shape) > 1 and ".ffn_gate_inp." not in name:
            packing = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, packing), raw_dtype=packing)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


SETS["f"]["gguf-moe-split"] = partial(ggufs, kind="llama", split=True)
SETS["f"]["gguf-gemma2"] = partial(ggufs, kind="gemma2")
SETS["g"]["gguf-phi2"] = partial(ggufs, kind="phi2")
SETS["g"]["gguf-mixture"] = partial(ggufs, kind="llama")
LOADED |= dict.fromkeys(("gguf-moe-split", "gguf-gemma2", "gguf-phi2", "gguf-mixture"), "llama.cpp")

# --- g: text --------------------------------------------------------------------------------------
model("g", "qwen3-yarn", "Qwen3ForCausalLM", {**LLAMA, "head_dim": 8, "rope_parameters": YARN}, of_old, max_shard_size="45KB")  # fmt: skip
model("g", "arcee", "ArceeForCausalLM", LLAMA, templated_apart)
model("g", "cohere2", "Cohere2ForCausalLM", {**LLAMA, "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]}, dtype="float16")  # fmt: skip
model("g", "ernie45", "Ernie4_5ForCausalLM", {**LLAMA, "head_dim": 8}, pieces)
model("g", "glm4-moe", "Glm4MoeForCausalLM", {**LLAMA, "head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "partial_rotary_factor": 0.5}, max_shard_size="60KB", dtype="bfloat16")  # fmt: skip
model("g", "biogpt-bin", "BioGptForCausalLM", {**TEXT}, after=pickled)
model("g", "rwkv", "RwkvForCausalLM", {**NAMED, "hidden_size": 32, "attention_hidden_size": 32, "num_hidden_layers": 2, "context_length": 64})  # fmt: skip
model("g", "jamba", "JambaForCausalLM", {**LLAMA, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1, "num_experts": 2, "num_experts_per_tok": 1, "mamba_d_state": 4, "mamba_dt_rank": 4, "use_mamba_kernels": False})  # fmt: skip
model("g", "roformer", "RoFormerForMaskedLM", {**TEXT, "embedding_size": 32}, words_alone)
model("g", "funnel", "FunnelForSequenceClassification", {"vocab_size": 256, "block_sizes": [1, 1], "num_decoder_layers": 1, "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64, "num_labels": 2}, vocabulary)  # fmt: skip
model("g", "rembert", "RemBertForTokenClassification", {**TEXT, "input_embedding_size": 16, "output_embedding_size": 16, "num_labels": 3}, unigram)  # fmt: skip
model("g", "megatron-bert", "MegatronBertForQuestionAnswering", ENCODER, word_pieces, max_shard_size="50KB")
model("g", "longt5", "LongT5ForConditionalGeneration", {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, "encoder_attention_type": "local", "local_radius": 7}, unigram)  # fmt: skip
model("g", "prophetnet", "ProphetNetForConditionalGeneration", {"vocab_size": 256, "hidden_size": 32, "encoder_ffn_dim": 64, "num_encoder_layers": 2, "num_encoder_attention_heads": 4, "decoder_ffn_dim": 64, "num_decoder_layers": 2, "num_decoder_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2}, vocabulary)  # fmt: skip
model("g", "nllb-moe", "NllbMoeForConditionalGeneration", {**SEQ2SEQ, "num_experts": 2, "expert_capacity": 8, "encoder_sparse_step": 2, "decoder_sparse_step": 2})  # fmt: skip
# --- g: images, sound, both -----------------------------------------------------------------------
model("g", "poolformer", "PoolFormerForImageClassification", {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_labels": 3}, None, after=feature_extractor("PoolFormerImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("g", "efficientnet", "EfficientNetForImageClassification", {"image_size": 32, "width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 16, "kernel_sizes": [3], "in_channels": [32], "out_channels": [16], "depthwise_padding": [], "strides": [1], "num_block_repeats": [1], "expand_ratios": [1], "num_labels": 2}, None, after=feature_extractor("EfficientNetImageProcessor", **SMALL))  # fmt: skip
model("g", "glpn", "GLPNForDepthEstimation", {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 16], "num_attention_heads": [1, 2, 2, 2], "decoder_hidden_size": 8}, None, after=feature_extractor("GLPNImageProcessor"))  # fmt: skip
model("g", "sam", "SamModel", {"vision_config": {"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 8, "mlp_dim": 32, "num_pos_feats": 8, "global_attn_indexes": [0]}, "prompt_encoder_config": {"hidden_size": 16, "image_size": 32, "patch_size": 8, "mask_input_channels": 4}, "mask_decoder_config": {"hidden_size": 16, "num_hidden_layers": 1, "mlp_dim": 32, "num_attention_heads": 2, "iou_head_hidden_dim": 16}}, None, after=feature_extractor("SamImageProcessor"))  # fmt: skip
model("g", "data2vec-audio", "Data2VecAudioForCTC", {**without(CONVOLUTION, "num_conv_pos_embeddings"), "conv_pos_kernel_size": 3, "num_conv_pos_embeddings": 2}, sound_alphabet, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("g", "dac", "DacModel", {"encoder_hidden_size": 8, "downsampling_ratios": [2, 2], "decoder_hidden_size": 16, "n_codebooks": 2, "codebook_size": 16, "codebook_dim": 4}, None, after=feature_extractor("DacFeatureExtractor"))  # fmt: skip
model("g", "speecht5", "SpeechT5ForSpeechToText", {**NAMED, "hidden_size": 32, "encoder_layers": 1, "encoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_layers": 1, "decoder_attention_heads": 4, "decoder_ffn_dim": 64, "conv_dim": [16, 16], "conv_stride": [2, 2], "conv_kernel": [3, 3], "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4}, after=feature_extractor("SpeechT5FeatureExtractor"))  # fmt: skip
model("g", "blip2", "Blip2ForConditionalGeneration", {"vision_config": VISION, "qformer_config": {**ENCODER, "encoder_hidden_size": 32, "num_hidden_layers": 2}, "text_config": {"model_type": "opt", **NAMED, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "ffn_dim": 64, "max_position_embeddings": 64, "word_embed_proj_dim": 32}, "num_query_tokens": 4, "image_token_index": 5}, after=feature_extractor("BlipImageProcessor", **SMALL))  # fmt: skip
model("g", "chinese-clip", "ChineseCLIPModel", {"text_config": ENCODER, "vision_config": VISION, "projection_dim": 16}, None, after=processor("ChineseCLIPProcessor", feature_extractor("ChineseCLIPImageProcessor", **SMALL, crop_size={"height": 32, "width": 32}), word_pieces))  # fmt: skip
model("g", "mistral3", "Mistral3ForConditionalGeneration", {"text_config": {"model_type": "mistral", **LLAMA}, "vision_config": {"model_type": "pixtral", **VISION}, "image_token_index": 5}, templated, after=feature_extractor("PixtralImageProcessor", size={"longest_edge": 32}, patch_size={"height": 8, "width": 8}))  # fmt: skip
model("g", "idefics2", "Idefics2ForConditionalGeneration", {"text_config": {"model_type": "mistral", **LLAMA}, "vision_config": VISION, "perceiver_config": {"resampler_n_latents": 4, "resampler_depth": 1, "resampler_n_heads": 2, "resampler_head_dim": 8, "num_key_value_heads": 1, "hidden_size": 32}, "image_token_id": 5}, templated, after=feature_extractor("Idefics2ImageProcessor", size={"shortest_edge": 32, "longest_edge": 64}))  # fmt: skip
model("g", "bark", "BarkSemanticModel", {"block_size": 64, "input_vocab_size": VOCAB, "output_vocab_size": VOCAB, "num_layers": 1, "num_heads": 4, "hidden_size": 32}, None)  # fmt: skip
model("g", "time-series", "TimeSeriesTransformerForPrediction", {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2], "num_time_features": 1, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}, None)  # fmt: skip
# --- g: adapters ----------------------------------------------------------------------------------
adapter("g", "lora-loftq", "LoraConfig", r=2, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], lora_alpha=4, lora_dropout=0.05)  # fmt: skip
adapter("g", "dora-ranks", "LoraConfig", r=2, use_dora=True, target_modules="all-linear", rank_pattern={r"layers.1.*q_proj": 6})  # fmt: skip
adapter("g", "gralora", "GraloraConfig", r=8, gralora_k=2, target_modules=["q_proj", "o_proj"])
adapter("g", "ia3-more", "IA3Config", target_modules=["v_proj", "up_proj"], feedforward_modules=["up_proj"], modules_to_save=["lm_head"])  # fmt: skip
adapter("g", "lokr-full", "LoKrConfig", r=2, decompose_both=True, target_modules=["q_proj", "down_proj"])
adapter("g", "loha-ranks", "LoHaConfig", r=2, rank_pattern={"q_proj": 4}, target_modules=["q_proj", "gate_proj"])
adapter("g", "lora-tokens-more", "LoraConfig", r=2, target_modules=["v_proj"], trainable_token_indices={"embed_tokens": [2, 5]})  # fmt: skip
adapter("g", "oft-more", "OFTConfig", r=4, oft_block_size=0, target_modules=["k_proj", "v_proj"])


def _control(d: Any) -> dict[str, Any]:
    net = d.UNet2DConditionModel(**BLOCKS, cross_attention_dim=32, attention_head_dim=4)
    return {
        "vae": _latents(d),
        "text_encoder": _clip(),
        "tokenizer": byte_pairs,
        "unet": net,
        "controlnet": d.ControlNetModel.from_unet(net, conditioning_embedding_out_channels=(4, 8)),
        "scheduler": d.UniPCMultistepScheduler(),
        "safety_checker": None,
        "feature_extractor": None,
        "image_encoder": None,
    }


def _aura(d: Any) -> dict[str, Any]:
    net = d.AuraFlowTransformer2DModel(sample_size=8, patch_size=2, in_channels=4, num_mmdit_layers=1, num_single_dit_layers=1, attention_head_dim=8, num_attention_heads=4, caption_projection_dim=32, joint_attention_dim=32, out_channels=4, pos_embed_max_size=16)  # fmt: skip
    return {
        "tokenizer": byte_pairs,
        "text_encoder": _t5(),
        "vae": _latents(d),
        "transformer": net,
        "scheduler": d.FlowMatchEulerDiscreteScheduler(),
    }


def _dance(d: Any) -> dict[str, Any]:
    net = d.UNet1DModel(block_out_channels=(8, 8, 16), extra_in_channels=16, sample_size=32)
    return {"unet": net, "scheduler": d.IPNDMScheduler()}


def _plain(d: Any) -> dict[str, Any]:
    kinds = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    net = d.UNet2DModel(sample_size=8, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4, **kinds)
    return {"unet": net, "scheduler": d.DDIMScheduler(beta_schedule="squaredcos_cap_v2")}


pipeline("g", "controlnet", "StableDiffusionControlNetPipeline", _control, requires_safety_checker=False)
pipeline("g", "aura", "AuraFlowPipeline", _aura)
pipeline("g", "dance", "DanceDiffusionPipeline", _dance)
pipeline("g", "ddim", "DDIMPipeline", _plain)
sentences("g", "sentences-layers", lambda p, at: [p.Transformer(at, max_seq_length=16), p.Pooling(32, ["mean", "max"]), p.Dense(64, 32), p.LayerNorm(32)])  # fmt: skip
sentences("g", "sentences-bow", lambda p, _: [p.BoW(vocab=["the", "quick", "brown", "fox"]), p.Dense(4, 8)])
packed("g", "bnb-int8-some", lambda: transformers.BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=["lm_head", "o_proj"]))  # fmt: skip
