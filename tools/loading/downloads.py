"""Tiny downloads, each written by the library that real ones are written by: `SETS` has three of them, by name.

The audit was corrected on the first set, and later on the second. The third is of other families and methods, and
only ever measured.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

Make = Callable[[Path], None]
SETS: dict[str, dict[str, Make]] = {each: {} for each in "abcdefg"}
#: Name of a download → how it is loaded: the class of Transformers, or the library.
LOADED: dict[str, str] = {}

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "the",
    "lazy",
    "dog",
    "while",
    "a",
    "small",
    "model",
    "reads",
    "bytes",
    "and",
    "tensors",
    "of",
    "many",
    "layers",
]
VOCAB = 320
LLAMA: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}
ENCODER: dict[str, Any] = {
    "vocab_size": 256,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 8,
}
SEQ2SEQ: dict[str, Any] = {
    "vocab_size": VOCAB,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
    "decoder_start_token_id": 1,
}
TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"


# --- tokenizers -----------------------------------------------------------------------------------


def byte_pairs(folder: Path, **more: Any) -> None:
    """tokenizer.json with byte pairs."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<pad>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    own.train_from_iterator([" ".join(WORDS)] * 20, trainer)
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=128, **names, **more).save_pretrained(
        folder
    )


def templated(folder: Path) -> None:
    """Byte pairs, and a chat template."""
    byte_pairs(folder, chat_template=TEMPLATE)


def word_pieces(folder: Path) -> None:
    """vocab.txt's kind, as tokenizer.json."""
    own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    own.train_from_iterator([" ".join(WORDS)] * 20, trainers.WordPieceTrainer(vocab_size=200, special_tokens=special))
    names = {f"{each.strip('[]').lower()}_token": each for each in special}
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=64, **names).save_pretrained(folder)


def unigram(folder: Path) -> None:
    """SentencePiece's kind, as tokenizer.json."""
    own = Tokenizer(models.Unigram())
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    own.train_from_iterator([" ".join(WORDS)] * 20, trainer)
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=64, **names).save_pretrained(folder)


def two_files(folder: Path, kind: str = "GPT2Tokenizer") -> None:
    """vocab.json and merges.txt, without tokenizer.json."""
    with tempfile.TemporaryDirectory() as other:
        byte_pairs(Path(other))
        model = json.loads((Path(other) / "tokenizer.json").read_text())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False))
    merges = [each if isinstance(each, str) else " ".join(each) for each in model["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, **names}))


def vocabulary(folder: Path, kind: str = "BertTokenizer") -> None:
    """vocab.txt, without tokenizer.json."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*WORDS, *"abcdefghijklmnopqrstuvwxyz"})]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, "do_lower_case": True}))


def pieces(folder: Path, kind: str = "LlamaTokenizer", name: str = "tokenizer.model", **more: Any) -> None:
    """SentencePiece's own model, without tokenizer.json."""
    import sentencepiece

    train = sentencepiece.SentencePieceTrainer.train
    train(
        sentence_iterator=iter([" ".join(WORDS)] * 200),
        model_prefix=str(folder / "made"),
        vocab_size=more.pop("vocab_size", 70),
        model_type=more.pop("model_type", "bpe"),
        minloglevel=2,
    )
    (folder / "made.model").rename(folder / name)
    (folder / "made.vocab").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, **more}))


# --- models of Transformers -----------------------------------------------------------------------


def model(
    part: str,
    name: str,
    kind: str,
    values: dict[str, Any],
    tokenizer: Make | None = byte_pairs,
    *,
    load: str = "",
    dtype: str = "float32",
    after: Make | None = None,
    **save: Any,
) -> None:
    """A download of a class of Transformers, with its configuration's fields."""

    def make(folder: Path) -> None:
        own = getattr(transformers, kind)
        own(own.config_class(**values)).to(getattr(torch, dtype)).save_pretrained(folder, **save)
        if tokenizer:
            tokenizer(folder)
        if after:
            after(folder)

    SETS[part][name] = make
    LOADED[name] = load or kind


def feature_extractor(kind: str, **values: Any) -> Make:
    return lambda folder: getattr(transformers, kind)(**values).save_pretrained(folder)


def pickled(folder: Path) -> None:
    """The same weights as a file of PyTorch."""
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [2.0] * 4,
    "original_max_position_embeddings": 64,
}
model("a", "llama", "LlamaForCausalLM", LLAMA, templated)
model("a", "llama-sharded", "LlamaForCausalLM", LLAMA, max_shard_size="40KB")
model("a", "llama-spm", "LlamaForCausalLM", LLAMA, pieces)
model("a", "llama-bin", "LlamaForCausalLM", LLAMA, after=pickled)
model("a", "qwen3-moe", "Qwen3MoeForCausalLM", {**LLAMA, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}, dtype="bfloat16")  # fmt: skip
model("a", "gpt2-files", "GPT2LMHeadModel", {"vocab_size": VOCAB, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "bos_token_id": 0, "eos_token_id": 1}, two_files)  # fmt: skip
model("a", "phi3-longrope", "Phi3ForCausalLM", {**LLAMA, "rope_parameters": LONG, "original_max_position_embeddings": 64})  # fmt: skip
model("a", "gemma3", "Gemma3ForCausalLM", {**LLAMA, "head_dim": 8})
model("a", "bert-cls", "BertForSequenceClassification", {**ENCODER, "num_labels": 3}, vocabulary)
model("a", "roberta-ner", "RobertaForTokenClassification", {**ENCODER, "vocab_size": VOCAB, "max_position_embeddings": 66, "num_labels": 5, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2})  # fmt: skip
model("a", "t5", "T5ForConditionalGeneration", {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}, unigram)  # fmt: skip
model("a", "bart", "BartForConditionalGeneration", {**SEQ2SEQ, "forced_bos_token_id": 0, "forced_eos_token_id": 1})
model("a", "llava", "LlavaForConditionalGeneration", {"text_config": {"model_type": "llama", **LLAMA}, "vision_config": {"model_type": "clip_vision_model", **VISION}, "image_token_index": 5, "image_token_id": 5})  # fmt: skip
model("a", "qwen2-vl", "Qwen2VLForConditionalGeneration", {"text_config": {**LLAMA, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}}, "vision_config": {"depth": 2, "embed_dim": 32, "num_heads": 4, "hidden_size": 32, "patch_size": 4}, "image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 7, "vision_end_token_id": 8})  # fmt: skip
model("a", "whisper", "WhisperForConditionalGeneration", {key: value for key, value in SEQ2SEQ.items() if key != "max_position_embeddings"} | {"max_source_positions": 50, "max_target_positions": 40, "num_mel_bins": 16, "begin_suppress_tokens": None}, after=feature_extractor("WhisperFeatureExtractor", feature_size=16))  # fmt: skip
model("a", "wav2vec2", "Wav2Vec2ForCTC", {**{key: value for key, value in ENCODER.items() if key != "max_position_embeddings"}, "vocab_size": 40, "conv_dim": (16, 16), "conv_stride": (2, 2), "conv_kernel": (3, 3), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4}, None, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("a", "swin", "SwinForImageClassification", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4, "num_labels": 4}, None, after=feature_extractor("ViTImageProcessor", size={"height": 32, "width": 32}))  # fmt: skip
model("a", "clip", "CLIPModel", {"text_config": {**ENCODER, "vocab_size": VOCAB, "max_position_embeddings": 32, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}, "vision_config": VISION, "projection_dim": 16})  # fmt: skip
model("a", "mamba", "MambaForCausalLM", {"vocab_size": VOCAB, "hidden_size": 32, "state_size": 4, "num_hidden_layers": 2, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2})  # fmt: skip

model("b", "mistral-sharded", "MistralForCausalLM", {**LLAMA, "sliding_window": 32}, templated, max_shard_size="40KB", dtype="float16")  # fmt: skip
model("b", "qwen2-files", "Qwen2ForCausalLM", {**LLAMA, "tie_word_embeddings": True}, lambda folder: two_files(folder, "Qwen2Tokenizer"))  # fmt: skip
model("b", "llama-yarn", "LlamaForCausalLM", {**LLAMA, "rope_parameters": YARN})
model("b", "gemma-spm", "GemmaForCausalLM", {**LLAMA, "head_dim": 8}, lambda folder: pieces(folder, "GemmaTokenizer"))
model("b", "gpt-neox", "GPTNeoXForCausalLM", {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"})  # fmt: skip
model("b", "opt-bin", "OPTForCausalLM", {"vocab_size": VOCAB, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64, "max_position_embeddings": 64, "word_embed_proj_dim": 32, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}, dtype="float16", after=pickled)  # fmt: skip
model("b", "mixtral", "MixtralForCausalLM", {**LLAMA, "num_local_experts": 4}, max_shard_size="60KB")
model("b", "distilbert", "DistilBertForMaskedLM", {"vocab_size": 256, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}, word_pieces)  # fmt: skip
model("b", "electra-qa", "ElectraForQuestionAnswering", {**ENCODER, "embedding_size": 16}, vocabulary)
model("b", "deberta", "DebertaV2ForSequenceClassification", {**ENCODER, "vocab_size": 128, "pos_att_type": ["p2c", "c2p"], "relative_attention": True}, unigram)  # fmt: skip
model("b", "mbart", "MBartForConditionalGeneration", {**SEQ2SEQ, "forced_eos_token_id": 1})
model("b", "marian", "MarianMTModel", {**SEQ2SEQ, "decoder_start_token_id": 2, "forced_eos_token_id": 1})
model("b", "siglip", "SiglipModel", {"text_config": {**ENCODER, "vocab_size": VOCAB, "max_position_embeddings": 32, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}, "vision_config": VISION})  # fmt: skip
model("b", "vit", "ViTForImageClassification", {**VISION, "num_labels": 7}, None, after=feature_extractor("ViTImageProcessor", size={"height": 32, "width": 32}))  # fmt: skip
model("b", "hubert", "HubertForCTC", {**{key: value for key, value in ENCODER.items() if key != "max_position_embeddings"}, "vocab_size": 40, "conv_dim": (16, 16), "conv_stride": (2, 2), "conv_kernel": (3, 3), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4}, None, after=feature_extractor("Wav2Vec2FeatureExtractor"))  # fmt: skip
model("b", "paligemma", "PaliGemmaForConditionalGeneration", {"text_config": {"model_type": "gemma", **LLAMA, "head_dim": 8}, "vision_config": {"model_type": "siglip_vision_model", **VISION}, "projection_dim": 32, "image_token_index": 5, "image_token_id": 5})  # fmt: skip
model("b", "pvt", "PvtForImageClassification", {"image_size": 32, "depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 16], "num_attention_heads": [1, 2, 2, 2], "num_labels": 3}, None)  # fmt: skip

model("c", "qwen3", "Qwen3ForCausalLM", {**LLAMA, "head_dim": 16, "tie_word_embeddings": True}, templated)
model("c", "olmo2-sharded", "Olmo2ForCausalLM", LLAMA, max_shard_size="50KB", dtype="bfloat16")
model("c", "granite", "GraniteForCausalLM", {**LLAMA, "embedding_multiplier": 2.0}, lambda folder: two_files(folder, "GPT2Tokenizer"))  # fmt: skip
model("c", "stablelm-bin", "StableLmForCausalLM", LLAMA, after=pickled)
model("c", "bloom", "BloomForCausalLM", {"vocab_size": VOCAB, "hidden_size": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2})  # fmt: skip
model("c", "falcon", "FalconForCausalLM", {"vocab_size": VOCAB, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "multi_query": True, "bos_token_id": 0, "eos_token_id": 1})  # fmt: skip
model("c", "albert", "AlbertForMaskedLM", {**ENCODER, "embedding_size": 16}, unigram)
model("c", "mpnet-cls", "MPNetForSequenceClassification", {**ENCODER, "num_labels": 2, "max_position_embeddings": 66}, word_pieces)  # fmt: skip
model("c", "modernbert", "ModernBertForMaskedLM", {**ENCODER, "vocab_size": VOCAB, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2, "cls_token_id": 0, "sep_token_id": 1, "global_attn_every_n_layers": 2})  # fmt: skip
model("c", "pegasus", "PegasusForConditionalGeneration", {**SEQ2SEQ, "forced_eos_token_id": 1})
model("c", "beit", "BeitForImageClassification", {**VISION, "num_labels": 3}, None, after=feature_extractor("BeitImageProcessor", size={"height": 32, "width": 32}))  # fmt: skip
model("c", "resnet", "ResNetForImageClassification", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic", "num_labels": 3}, None, after=feature_extractor("ConvNextImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("c", "dinov2", "Dinov2Model", VISION, None, after=feature_extractor("BitImageProcessor", size={"shortest_edge": 32}))  # fmt: skip
model("c", "blip2-vision", "SiglipVisionModel", VISION, None, after=feature_extractor("SiglipImageProcessor", size={"height": 32, "width": 32}))  # fmt: skip
model("c", "idefics3", "Idefics3ForConditionalGeneration", {"text_config": {"model_type": "llama", **LLAMA}, "vision_config": {**VISION}, "image_token_id": 5, "scale_factor": 2})  # fmt: skip
model("c", "ast", "ASTForAudioClassification", {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "max_length": 32, "num_mel_bins": 16, "num_labels": 4}, None, after=feature_extractor("ASTFeatureExtractor", num_mel_bins=16, max_length=32))  # fmt: skip


# --- adapters -------------------------------------------------------------------------------------


def adapter(part: str, name: str, kind: str, **values: Any) -> None:
    """An adapter of PEFT for the download `llama`."""

    def make(folder: Path) -> None:
        import peft

        base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))
        own = getattr(peft, kind)(task_type="CAUSAL_LM", base_model_name_or_path="example/tiny", **values)
        peft.get_peft_model(base, own).save_pretrained(folder)

    SETS[part][name] = make
    LOADED[name] = "peft"


adapter("a", "lora", "LoraConfig", r=4, target_modules=["q_proj", "v_proj"])
adapter("a", "lora-saved", "LoraConfig", r=4, target_modules="all-linear", modules_to_save=["lm_head"], exclude_modules=["lm_head"])  # fmt: skip
adapter("a", "dora", "LoraConfig", r=4, use_dora=True, target_modules=["q_proj", "down_proj"])
adapter("a", "lora-patterns", "LoraConfig", r=4, rank_pattern={"q_proj": 8}, alpha_pattern={"q_proj": 16}, layers_to_transform=[1], target_modules=["q_proj", "down_proj"])  # fmt: skip
adapter("a", "ia3", "IA3Config", target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"])
adapter("a", "prompt", "PromptTuningConfig", num_virtual_tokens=5)
adapter("a", "loha", "LoHaConfig", r=4, target_modules=["q_proj", "v_proj"])
adapter("c", "lora-layers", "LoraConfig", r=4, target_modules=["gate_proj", "up_proj", "k_proj"], lora_alpha=8)
adapter("c", "lora-tokens", "LoraConfig", r=3, target_modules=["v_proj"], modules_to_save=["embed_tokens", "lm_head"])
adapter("c", "adalora", "AdaLoraConfig", init_r=6, target_r=3, total_step=10, target_modules=["q_proj", "k_proj"])
adapter("c", "boft", "BOFTConfig", boft_block_size=4, target_modules=["q_proj", "o_proj"])
adapter("c", "hra", "HRAConfig", r=4, target_modules=["v_proj"])
adapter("c", "ln", "LNTuningConfig", target_modules=["input_layernorm"])
adapter("c", "p-tuning", "PromptEncoderConfig", num_virtual_tokens=6, encoder_hidden_size=16)
adapter("b", "lora-regex", "LoraConfig", r=2, target_modules=r".*\.(q|o)_proj", bias="lora_only")
adapter("b", "lora-embedding", "LoraConfig", r=2, target_modules=["embed_tokens", "gate_proj"])
adapter("b", "rslora", "LoraConfig", r=8, use_rslora=True, target_modules=["k_proj"], trainable_token_indices=[1, 3])
adapter("b", "lokr", "LoKrConfig", r=4, target_modules=["q_proj", "v_proj"])
adapter("b", "vera", "VeraConfig", r=4, target_modules=["q_proj"])
adapter("b", "prefix", "PrefixTuningConfig", num_virtual_tokens=4)
adapter("b", "oft", "OFTConfig", oft_block_size=8, target_modules=["q_proj", "v_proj"])


# --- what other libraries write -------------------------------------------------------------------


def _diffusion(part: str, name: str, make: Make) -> None:
    SETS[part][name] = make
    LOADED[name] = "diffusers"


def _ddpm(folder: Path) -> None:
    import diffusers

    net = diffusers.UNet2DModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    diffusers.DDPMPipeline(net, diffusers.DDPMScheduler()).save_pretrained(folder)


def _autoencoder() -> Any:
    import diffusers

    return diffusers.AutoencoderKL(
        block_out_channels=(8, 16),
        norm_num_groups=4,
        latent_channels=4,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )


def _clip_text() -> Any:
    values = {**ENCODER, "vocab_size": VOCAB, "max_position_embeddings": 32}
    return transformers.CLIPTextModel(
        transformers.CLIPTextConfig(**values, bos_token_id=0, eos_token_id=1, pad_token_id=2)
    )


def _stable(folder: Path) -> None:
    import diffusers

    net = diffusers.UNet2DConditionModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        cross_attention_dim=32,
        attention_head_dim=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )
    _autoencoder().save_pretrained(folder / "vae")
    net.save_pretrained(folder / "unet")
    _clip_text().save_pretrained(folder / "text_encoder")
    byte_pairs(folder / "tokenizer")
    diffusers.DDIMScheduler().save_pretrained(folder / "scheduler")
    parts = {
        "scheduler": ["diffusers", "DDIMScheduler"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "tokenizer": ["transformers", "PreTrainedTokenizerFast"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
        "feature_extractor": [None, None],
        "safety_checker": [None, None],
    }
    head = {"_class_name": "StableDiffusionPipeline", "_diffusers_version": diffusers.__version__}
    (folder / "model_index.json").write_text(json.dumps({**head, "requires_safety_checker": False, **parts}, indent=2))


def _dit(folder: Path) -> None:
    import diffusers

    net = diffusers.DiTTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        num_layers=2,
        sample_size=8,
        num_embeds_ada_norm=10,
        norm_num_groups=4,
    )
    scheduler = diffusers.DDIMScheduler()
    diffusers.DiTPipeline(net, _autoencoder(), scheduler, id2label={"0": "a"}).save_pretrained(folder)


def _consistency(folder: Path) -> None:
    import diffusers

    net = diffusers.UNet2DModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
    )
    diffusers.ConsistencyModelPipeline(net, diffusers.CMStochasticIterativeScheduler()).save_pretrained(folder)


_diffusion("a", "ddpm", _ddpm)
_diffusion("c", "consistency", _consistency)
_diffusion("a", "stable-diffusion", _stable)
_diffusion("b", "dit", _dit)


def _sentences(folder: Path, *more: Callable[[Any], Any]) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts

    with tempfile.TemporaryDirectory() as inner:
        transformers.BertModel(transformers.BertConfig(**ENCODER)).save_pretrained(inner)
        word_pieces(Path(inner))
        modules = [parts.Transformer(inner, max_seq_length=32), parts.Pooling(32), *(each(parts) for each in more)]
        SentenceTransformer(modules=modules, device="cpu").save(str(folder))


SETS["a"]["sentences"] = lambda folder: _sentences(folder, lambda p: p.Dense(32, 16), lambda p: p.Normalize())
SETS["b"]["sentences-plain"] = lambda folder: _sentences(folder, lambda p: p.Normalize())
SETS["b"]["sentences-norm"] = lambda folder: _sentences(folder, lambda p: p.LayerNorm(32), lambda p: p.Dense(32, 8))
SETS["c"]["sentences-dense"] = lambda folder: _sentences(folder, lambda p: p.Dense(32, 24, bias=False), lambda p: p.Normalize())  # fmt: skip
LOADED |= dict.fromkeys(("sentences", "sentences-plain", "sentences-norm", "sentences-dense"), "sentence-transformers")


# --- packed weights -------------------------------------------------------------------------------


def packed(part: str, name: str, quantizer: Callable[[], Any], **values: Any) -> None:
    """A Llama that Transformers packs and writes."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as plain:
            own = {**LLAMA, "hidden_size": 128, "intermediate_size": 256, **values}
            transformers.LlamaForCausalLM(transformers.LlamaConfig(**own)).bfloat16().save_pretrained(plain)
            loaded = transformers.LlamaForCausalLM.from_pretrained(
                plain, quantization_config=quantizer(), device_map="cpu", dtype=torch.bfloat16
            )
            loaded.save_pretrained(folder)
            byte_pairs(folder)

    SETS[part][name] = make
    LOADED[name] = "LlamaForCausalLM"


packed("a", "bnb-nf4", lambda: transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4"))
packed("c", "bnb-fp4", lambda: transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="fp4", bnb_4bit_use_double_quant=True))  # fmt: skip
packed("b", "bnb-int8", lambda: transformers.BitsAndBytesConfig(load_in_8bit=True))


def _float8(folder: Path) -> None:
    """FP8 in blocks of 128, as DeepSeek's and Qwen's."""
    from safetensors.torch import save_file

    values = {**LLAMA, "hidden_size": 128, "intermediate_size": 256}
    own = transformers.LlamaForCausalLM(transformers.LlamaConfig(**values)).bfloat16()
    own.config.dtype = torch.bfloat16
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if name.endswith("proj.weight"):
            blocks = [-(-size // 128) for size in tensor.shape]
            tensors[name] = tensor.to(torch.float8_e4m3fn)
            tensors[name + "_scale_inv"] = torch.ones(blocks)
        else:
            tensors[name] = tensor
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    own.config.save_pretrained(folder)
    own.generation_config.save_pretrained(folder)
    byte_pairs(folder)
    _declare(folder, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]})


def _declare(folder: Path, how: dict[str, Any]) -> None:
    path = folder / "config.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "architectures": ["LlamaForCausalLM"], "quantization_config": how}, indent=2))


def _compressed(folder: Path) -> None:
    """compressed-tensors' 4-bit integers in groups, packed into I32."""
    from safetensors.torch import save_file

    own = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)).bfloat16()
    tensors: dict[str, Any] = {}
    for name, tensor in own.state_dict().items():
        if "layers" in name and name.endswith("proj.weight"):
            rows, width = tensor.shape
            stem = name.removesuffix("weight")
            tensors[stem + "weight_packed"] = torch.zeros(rows, width // 8, dtype=torch.int32)
            tensors[stem + "weight_scale"] = torch.ones(rows, width // 16, dtype=torch.bfloat16)
            tensors[stem + "weight_shape"] = torch.tensor([rows, width])
        else:
            tensors[name] = tensor
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    own.config.save_pretrained(folder)
    byte_pairs(folder)
    weights = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 16, "dynamic": False}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    how = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": group}}
    _declare(folder, {**how, "ignore": ["lm_head"], "quantization_status": "compressed"})


SETS["a"]["fp8"] = _float8
SETS["b"]["compressed"] = _compressed
LOADED |= dict.fromkeys(("fp8", "compressed"), "LlamaForCausalLM")


# --- GGUF -----------------------------------------------------------------------------------------


def _gguf(folder: Path, *, split: bool = False) -> None:
    """A Llama for llama.cpp, with a vocabulary of SentencePiece's kind."""
    import gguf
    import numpy

    wide, inner = 32, 64
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *dict.fromkeys(WORDS)]
    layer: dict[str, tuple[int, ...]] = {
        "attn_norm": (wide,),
        "ffn_norm": (wide,),
        "attn_q": (wide, wide),
        "attn_k": (16, wide),
    }
    layer |= {"attn_v": (16, wide), "attn_output": (wide, wide), "ffn_gate": (inner, wide), "ffn_up": (inner, wide)}
    layer |= {"ffn_down": (wide, inner)}
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(tokens), wide),
        "output.weight": (len(tokens), wide),
    }
    shapes |= {"output_norm.weight": (wide,)}
    shapes |= {f"blk.{number}.{name}.weight": shape for number in range(2) for name, shape in layer.items()}
    more: Any = {"split_max_tensors": 9, "split_max_size": 0} if split else {}
    writer = gguf.GGUFWriter(str(folder / "model-F32.gguf"), "llama", **more)
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(wide)
    writer.add_block_count(2)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types([2, 3, 3, *[6] * 256, *[1] * (len(tokens) - 259)])
    for name, number in (("bos", 1), ("eos", 2), ("unk", 0)):
        getattr(writer, f"add_{name}_token_id")(number)
    for name, shape in shapes.items():
        writer.add_tensor(name, numpy.full(shape, 0.01, dtype="f4"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


SETS["a"]["gguf"] = _gguf
SETS["b"]["gguf-split"] = lambda folder: _gguf(folder, split=True)
LOADED |= dict.fromkeys(("gguf", "gguf-split"), "llama.cpp")


def make(part: str, out: Path, only: tuple[str, ...] = ()) -> None:
    """Write the downloads of a set; one whose library is absent is told and left out."""
    transformers.logging.set_verbosity_error()
    for name, build in SETS[part].items():
        folder = out / name
        if folder.exists() or (only and name not in only):
            continue
        torch.manual_seed(0)
        folder.mkdir(parents=True)
        try:
            build(folder)
        except Exception as error:
            print(f"{name} left out: {type(error).__name__}: {str(error)[:200]}")
            shutil.rmtree(folder)
