"""Published models: totals to the parameter, and real configurations and indexes where they are beside the project."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import pytest
import real

from inspector.architectures import family_of
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import predict
from inspector.model import Config
from inspector.opening import configs
from inspector.opening.configs import normalize


def llama(layers: int, hidden: int, width: int, heads: int, vocabulary: int, **more: Any) -> dict[str, Any]:
    """Fields that all relatives of Llama have."""
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": width,
        "num_attention_heads": heads,
        "vocab_size": vocabulary,
        **more,
    }


INTERN_VIT_300M = {
    "model_type": "intern_vit_6b",
    "hidden_size": 1024,
    "image_size": 448,
    "intermediate_size": 4096,
    "norm_type": "layer_norm",
    "num_hidden_layers": 24,
    "patch_size": 14,
    "qk_normalization": False,
    "qkv_bias": True,
}
SIGLIP_400M = {
    "model_type": "siglip",
    "hidden_size": 1152,
    "image_size": 980,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "patch_size": 14,
}

ALIGNER = {"depth": 2, "n_embed": 2048, "projector_type": "mlp_gelu"}

DEEPSEEK_OCR = {
    "language_config": {
        **llama(12, 1280, 6848, 10, 129280, num_key_value_heads=10),
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 896,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "num_experts_per_tok": 6,
        "use_mla": False,
    },
    "projector_config": {"input_dim": 2048, "model_type": "mlp_projector", "n_embed": 1280},
    "vision_config": {"model_type": "vision"},
}

#: Model → its configuration's fields, the parameters that its repository states.
TOTALS: Mapping[str, tuple[dict[str, Any], int]] = {
    "InternLM2-7B": (
        llama(32, 4096, 14336, 32, 92544, model_type="internlm2", num_key_value_heads=8),
        7_737_708_544,
    ),
    "InternLM3-8B": (
        llama(48, 4096, 10240, 32, 128512, model_type="internlm3", num_key_value_heads=2, head_dim=128),
        8_804_241_408,
    ),
    "Baichuan2-7B": (llama(32, 4096, 11008, 32, 125696, model_type="baichuan"), 7_505_973_248),
    "MiniCPM-2B": (
        llama(40, 2304, 5760, 36, 122753, model_type="minicpm", num_key_value_heads=36),
        2_724_880_896,
    ),
    "Yi-34B": (llama(60, 7168, 20480, 56, 64000, model_type="Yi", num_key_value_heads=8), 34_388_917_248),
    "EXAONE-3.5-7.8B": (
        {
            **llama(32, 4096, 14336, 32, 102400, model_type="exaone", num_key_value_heads=8),
            "num_hidden_layers": None,
            "num_layers": 32,
        },
        7_818_448_896,
    ),
    "phi-1.5": (
        {"model_type": "phi-msft", "vocab_size": 51200, "n_embd": 2048, "n_layer": 24, "n_head": 32},
        1_418_270_720,
    ),
    "Phi-3-small-8k": (
        {
            "model_type": "phi3small",
            "hidden_size": 4096,
            "ff_intermediate_size": 14336,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "num_key_value_heads": 8,
            "vocab_size": 100352,
        },
        7_392_272_384,
    ),
    "cogvlm-chat-hf": ({"model_type": "cogvlm"}, 17_639_685_376),
    "dots.ocr": (
        {**llama(28, 1536, 8960, 12, 151936, model_type="dots_ocr", num_key_value_heads=2), "vision_config": {}},
        3_039_179_264,
    ),
    "gte-base-en-v1.5": ({"model_type": "new", "type_vocab_size": 0}, 136_776_192),
    "gte-large-en-v1.5": (llama(24, 1024, 4096, 16, 30528, model_type="new", type_vocab_size=2), 434_139_136),
    "gte-multilingual-base": ({"model_type": "new", "vocab_size": 250048}, 305_368_320),
    "Phi-4-multimodal-instruct": ({"model_type": "phi4mm"}, 5_574_460_384 - 160),  # 160 are statistics of sounds
    "moondream2": ({"model_type": "moondream1", "architectures": ["HfMoondream"], "config": {}}, 1_927_237_104),
    "stablelm-3b-4e1t": (llama(32, 2560, 6912, 32, 50304, model_type="stablelm_epoch"), 2_795_443_200),
    "mamba-2.8b": (
        {"d_model": 2560, "n_layer": 64, "vocab_size": 50277, "ssm_cfg": {}, "pad_vocab_size_multiple": 8},
        2_768_345_600,
    ),
    "SmolLM3-3B": (
        llama(36, 2048, 11008, 16, 128256, model_type="smollm3", num_key_value_heads=4),
        3_075_098_624,
    ),
    "LFM2-1.2B": (
        {
            **llama(16, 2048, 2048, 32, 65536, model_type="lfm2", num_key_value_heads=8),
            "block_ff_dim": 12288,
            "full_attn_idxs": [2, 5, 8, 10, 12, 14],
            "tie_embedding": True,
        },
        1_170_340_608,
    ),
    "gemma-3-4b-it": (
        {
            "model_type": "gemma3",
            "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34},
            "vision_config": {
                "hidden_size": 1152,
                "image_size": 896,
                "intermediate_size": 4304,
                "num_attention_heads": 16,
                "num_hidden_layers": 27,
                "patch_size": 14,
                "vision_use_head": False,
            },
        },
        4_300_079_472,
    ),
    "Mistral-Small-3.1-24B": (
        {
            "model_type": "mistral3",
            "text_config": {
                **llama(40, 5120, 32768, 32, 131072, model_type="mistral", num_key_value_heads=8, head_dim=128),
            },
            "vision_config": {
                "model_type": "pixtral",
                "hidden_size": 1024,
                "image_size": 1540,
                "intermediate_size": 4096,
                "num_attention_heads": 16,
                "num_hidden_layers": 24,
                "patch_size": 14,
            },
        },
        24_011_361_280,
    ),
    "Qwen2-VL-7B-Instruct": (
        {
            **llama(28, 3584, 18944, 28, 152064, model_type="qwen2_vl", num_key_value_heads=4),
            "tie_word_embeddings": False,
            "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "hidden_size": 3584},
        },
        8_291_375_616,
    ),
    "InternVL2.5-8B": (  # its index: 16,150,730,752 bytes at 16 bits
        {
            "model_type": "internvl_chat",
            "architectures": ["InternVLChatModel"],
            "downsample_ratio": 0.5,
            "llm_config": llama(32, 4096, 14336, 32, 92553, model_type="internlm2", num_key_value_heads=8),
            "vision_config": INTERN_VIT_300M,
        },
        8_075_365_376,
    ),
    "Phi-3.5-vision-instruct": (
        {
            **llama(32, 3072, 8192, 32, 32064, model_type="phi3_v", num_key_value_heads=32),
            "img_processor": {"image_dim_out": 1024, "name": "clip_vision_model"},
        },
        4_146_621_440,
    ),
    "MiniCPM-V-2.6": (
        {
            **llama(28, 3584, 18944, 28, 151666, model_type="minicpmv", num_key_value_heads=4),
            "drop_vision_last_layer": False,
            "version": 2.6,
            "vision_config": SIGLIP_400M,
        },
        8_099_175_152,
    ),
    "MiniCPM-Llama3-V-2.5": (
        {
            **llama(32, 4096, 14336, 32, 128256, model_type="minicpmv", num_key_value_heads=8),
            "drop_vision_last_layer": False,
            "query_num": 96,
            "version": "2.5",
            "vision_config": SIGLIP_400M,
        },
        8_537_092_336,
    ),
    # 16,407,657,776 are published, which counts 27 rotary frequencies of 32 in F32 as 64 parameters each, and as
    # parameters the correction biases of 26 routers of 64 experts.
    "Kimi-VL-A3B-Instruct": (
        {
            "model_type": "kimi_vl",
            "text_config": {
                **llama(27, 2048, 11264, 16, 163840, model_type="deepseek_v3", num_key_value_heads=16),
                "first_k_dense_replace": 1,
                "kv_lora_rank": 512,
                "moe_intermediate_size": 1408,
                "n_routed_experts": 64,
                "n_shared_experts": 2,
                "num_experts_per_tok": 6,
                "q_lora_rank": None,
            },
            "vision_config": {"model_type": "moonvit"},
        },
        16_407_657_776 - 27 * 64 - 26 * 64,
    ),
    # 2,089,297,547 are published, which counts the flags of 65,536 codes as parameters.
    "Janus-Pro-1B": (
        {
            "model_type": "multi_modality",
            "aligner_config": {"params": {**ALIGNER, "input_dim": 1024}},
            "gen_aligner_config": {"params": {**ALIGNER, "input_dim": 8}},
            "gen_head_config": {"params": {"image_token_embed": 2048, "image_token_size": 16384, "n_embed": 2048}},
            "gen_vision_config": {"model_type": "gen_vision", "params": {"image_token_size": 16384, "n_embed": 8}},
            "language_config": llama(24, 2048, 5632, 16, 102400, model_type="llama"),
            "vision_config": {"params": {"image_size": 384, "select_layer": -1}},
        },
        2_089_297_547 - 65_536,
    ),
    # Its file: 1,144,685,320 bytes at 16 bits, 64,528 of them its header.
    "jina-embeddings-v3": (
        {
            "architectures": ["XLMRobertaModel"],
            "auto_map": {"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_lora.XLMRobertaLoRA"},
            "lora_adaptations": [
                "retrieval.query",
                "retrieval.passage",
                "separation",
                "classification",
                "text-matching",
            ],
        },
        (1_144_685_320 - 64_528) // 2,
    ),
    # Its index: 13,518,798,848 bytes at 16 bits, 8,192 of them 32 rotary frequencies of 64 in F32.
    "llava-v1.5-7b": (
        {**llama(32, 4096, 11008, 32, 32000, model_type="llava_llama"), "mm_projector_type": "mlp2x_gelu"},
        (13_518_798_848 - 8_192) // 2,
    ),
    # Its index: 15,666,819,072 bytes at 16 bits, 421,580,800 of them a layer that predicts several tokens at once.
    "MiMo-7B": (
        {
            **llama(36, 4096, 11008, 32, 151680, model_type="mimo", num_key_value_heads=8, head_dim=128),
            "attention_bias": True,
            "num_nextn_predict_layers": 1,
            "tie_word_embeddings": False,
        },
        (15_666_819_072 - 421_580_800) // 2,
    ),
    "Qwen-7B-Chat": (  # its index: 15,442,649,088 bytes at 16 bits
        llama(32, 4096, 22016, 32, 151936, model_type="qwen", kv_channels=128),
        7_721_324_544,
    ),
    "granite-3.1-1b-a400m": (  # an index of it at 32 bits: 5,338,513,408 bytes
        {
            **llama(24, 1024, 512, 16, 49155, model_type="granitemoe", num_key_value_heads=8, num_local_experts=32),
            "tie_word_embeddings": True,
        },
        1_334_628_352,
    ),
    "Qwen3.5-2B, text": (
        {
            **llama(24, 2048, 6144, 8, 248320, model_type="qwen3_5_text", num_key_value_heads=2, head_dim=256),
            "architectures": ["Qwen3_5ForCausalLM"],
            "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 6,
            "linear_num_value_heads": 16,
            "tie_word_embeddings": True,
        },
        1_881_825_088,
    ),
    "Spark-X2.5-4B": (
        {
            **llama(36, 2560, 10240, 16, 131072, model_type="spark2_5", num_key_value_heads=4, head_dim=256),
            "tie_word_embeddings": True,
        },
        4_112_079_360,
    ),
    # Its index: 16,061,784,576 bytes at 16 bits, 8,704 of them 34 rotary frequencies of 64 in F32.
    "openPangu-Embedded-7B": (
        {
            **llama(34, 4096, 12800, 32, 153376, model_type="PanguEmbedded", num_key_value_heads=8),
            "bias": True,
            "tie_word_embeddings": False,
        },
        (16_061_784_576 - 8_704) // 2,
    ),
    "LocateAnything-3B": (  # its index: 7,661,331,936 bytes at 16 bits
        {
            "model_type": "locateanything",
            "text_config": {
                **llama(36, 2048, 11008, 16, 152681, model_type="qwen2", num_key_value_heads=2),
                "tie_word_embeddings": True,
            },
            "vision_config": {"model_type": "moonvit", "hidden_size": 1152, "merge_kernel_size": [2, 2]},
        },
        3_830_665_968,
    ),
    "oasst-rm-2.1-pythia-1.4b": (  # its index: 5,246,377,988 bytes at 32 bits
        llama(24, 2048, 8192, 16, 50288, model_type="gpt_neox_reward_model", architectures=["GPTNeoXRewardModel"]),
        1_311_594_497,
    ),
    "DeepSeek-OCR": (
        {"model_type": "deepseek_vl_v2", "architectures": ["DeepseekOCRForCausalLM"], **DEEPSEEK_OCR},
        3_336_106_240,
    ),
    "Unlimited-OCR": (
        {"model_type": "unlimited-ocr", "architectures": ["UnlimitedOCRForCausalLM"], **DEEPSEEK_OCR},
        3_336_106_240,
    ),
    "Dream-v0-7B": (
        {
            **llama(28, 3584, 18944, 28, 152064, model_type="Dream", num_key_value_heads=4),
            "architectures": ["DreamModel"],
            "tie_word_embeddings": False,
        },
        7_615_616_512,
    ),
    "LLaDA-8B": (
        {
            "model_type": "llada",
            "architectures": ["LLaDAModelLM"],
            "block_type": "llama",
            "d_model": 4096,
            "embedding_size": 126464,
            "layer_norm_with_affine": True,
            "mlp_hidden_size": 12288,
            "n_heads": 32,
            "n_kv_heads": 32,
            "n_layers": 32,
            "weight_tying": False,
        },
        8_015_581_184,
    ),
    "OLMo-1B": (
        {
            "model_type": "hf_olmo",
            "d_model": 2048,
            "embedding_size": 50304,
            "mlp_hidden_size": None,
            "mlp_ratio": 8,
            "n_heads": 16,
            "n_layers": 16,
            "weight_tying": True,
        },
        1_176_764_416,
    ),
    "OLMo-7B": (
        {
            "model_type": "hf_olmo",
            "d_model": 4096,
            "embedding_size": 50304,
            "mlp_hidden_size": 22016,
            "n_heads": 32,
            "n_layers": 32,
            "weight_tying": False,
        },
        6_888_095_744,
    ),
    "NV-Embed-v2": (  # its four files: 15,702,070,552 bytes at 16 bits, 38,168 of them headers
        {
            "model_type": "nvembed",
            "architectures": ["NVEmbedModel"],
            "latent_attention_config": {"model_type": "latent_attention"},
            "text_config": llama(32, 4096, 14336, 32, 32000, model_type="bidir_mistral", num_key_value_heads=8),
        },
        7_851_016_192,
    ),
    "InternLM2-7B, by its class": (
        {
            **llama(32, 4096, 14336, 32, 92544, model_type="internlm", num_key_value_heads=8),
            "architectures": ["InternLM2ForCausalLM"],
        },
        7_737_708_544,
    ),
    "MiniCPM-V-2": (  # its two files: 6,870,008,816 bytes at 16 bits, 77,232 of them headers
        {
            **llama(40, 2304, 5760, 36, 122753, model_type="minicpmv", num_key_value_heads=36),
            "drop_vision_last_layer": True,
            "image_size": 448,
            "tie_word_embeddings": False,
            "vision_encoder": "vit_so400m_patch14_siglip_384.webli",
        },
        3_434_965_792,
    ),
    "flan-t5-xl": (
        {
            "model_type": "t5",
            "architectures": ["T5ForConditionalGeneration"],
            "d_ff": 5120,
            "d_model": 2048,
            "feed_forward_proj": "gated-gelu",
            "num_heads": 32,
            "num_layers": 24,
            "tie_word_embeddings": False,
        },
        2_849_757_184,
    ),
    "mt5-small": (
        {
            "model_type": "mt5",
            "architectures": ["MT5ForConditionalGeneration"],
            "d_ff": 1024,
            "d_model": 512,
            "feed_forward_proj": "gated-gelu",
            "num_heads": 6,
            "num_layers": 8,
            "tie_word_embeddings": False,
            "vocab_size": 250112,
        },
        300_176_768,
    ),
    "byt5-small": (
        {
            "model_type": "t5",
            "architectures": ["T5ForConditionalGeneration"],
            "d_ff": 3584,
            "d_model": 1472,
            "feed_forward_proj": "gated-gelu",
            "num_decoder_layers": 4,
            "num_heads": 6,
            "num_layers": 12,
            "tie_word_embeddings": False,
            "vocab_size": 384,
        },
        299_637_760,
    ),
    "T5 1.1 XXL, encoder": (  # 9,524,621,312 bytes at 16 bits
        {
            "model_type": "t5",
            "architectures": ["T5EncoderModel"],
            "d_ff": 10240,
            "d_model": 4096,
            "feed_forward_proj": "gated-gelu",
            "num_heads": 64,
            "num_layers": 24,
        },
        4_762_310_656,
    ),
    "Stable Diffusion XL, second text encoder": (
        {
            "model_type": "clip_text_model",
            "architectures": ["CLIPTextModelWithProjection"],
            "hidden_size": 1280,
            "intermediate_size": 5120,
            "num_hidden_layers": 32,
            "projection_dim": 1280,
        },
        694_659_840,
    ),
}


#: Model → its configuration's fields, the parameters that Transformers' own class has with them.
COUNTED: Mapping[str, tuple[dict[str, Any], int]] = {
    "Depth-Anything-V2-Large": (
        {
            "model_type": "depth_anything",
            "architectures": ["DepthAnythingForDepthEstimation"],
            "backbone_config": {
                "model_type": "dinov2",
                "hidden_size": 1024,
                "image_size": 518,
                "num_attention_heads": 16,
                "num_hidden_layers": 24,
                "out_features": ["stage5", "stage12", "stage18", "stage24"],
                "reshape_hidden_states": False,
            },
            "fusion_hidden_size": 256,
            "neck_hidden_sizes": [256, 512, 1024, 1024],
            "reassemble_hidden_size": 1024,
        },
        335_315_649,
    ),
    "LFM2-VL-1.6B": (
        {
            "model_type": "lfm2_vl",
            "architectures": ["Lfm2VlForConditionalGeneration"],
            "text_config": {
                **llama(16, 2048, 12288, 32, 65536, model_type="lfm2", num_key_value_heads=8),
                "block_auto_adjust_ff_dim": True,
                "block_multiple_of": 256,
                "full_attn_idxs": [2, 5, 8, 10, 12, 14],
            },
            "vision_config": {
                **llama(26, 1152, 4304, 16, 0, model_type="siglip2_vision_model"),
                "vision_use_head": False,
            },
        },
        1_584_804_000,
    ),
    "timesformer-hr-finetuned-k400": (
        {
            "model_type": "timesformer",
            "architectures": ["TimesformerForVideoClassification"],
            "image_size": 448,
            "num_frames": 16,
            "num_labels": 400,
        },
        122_024_080,
    ),
    "VITS of 109 voices": (
        {
            "model_type": "vits",
            "architectures": ["VitsModel"],
            "num_speakers": 109,
            "speaker_embedding_size": 256,
            "vocab_size": 178,
        },
        39_690_608,
    ),
    "Llama-3.2-11B-Vision-Instruct": (  # 906 tensors
        {
            "model_type": "mllama",
            "architectures": ["MllamaForConditionalGeneration"],
            "text_config": llama(40, 4096, 14336, 32, 128256, model_type="mllama_text_model", num_key_value_heads=8),
            "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 1280, "image_size": 560},
        },
        10_670_220_835,
    ),
    "deberta-v3-base": (
        {
            **llama(12, 768, 3072, 12, 128100, model_type="deberta-v2"),
            "architectures": ["DebertaV2ForSequenceClassification"],
            "norm_rel_ebd": "layer_norm",
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "position_buckets": 256,
            "relative_attention": True,
            "share_att_key": True,
        },
        184_423_682,
    ),
    "deberta-v2-xlarge": (
        {
            **llama(24, 1536, 6144, 24, 128100, model_type="deberta-v2"),
            "architectures": ["DebertaV2Model"],
            "conv_kernel_size": 3,
            "norm_rel_ebd": "layer_norm",
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "position_buckets": 256,
            "relative_attention": True,
            "share_att_key": True,
        },
        884_593_152,
    ),
    "deberta-base": (
        {
            **llama(12, 768, 3072, 12, 50265, model_type="deberta"),
            "architectures": ["DebertaForSequenceClassification"],
            "pos_att_type": ["c2p", "p2c"],
            "position_biased_input": False,
            "relative_attention": True,
        },
        139_193_858,
    ),
    "WavLM by its defaults, for voices": ({"model_type": "wavlm", "architectures": ["WavLMForXVector"]}, 100_493_132),
    "ImageGPT by its defaults, with its head": (
        {"model_type": "imagegpt", "architectures": ["ImageGPTForCausalImageModeling"]},
        76_682_240,
    ),
    "wav2vec2-large-960h-lv60": (
        {
            **llama(24, 1024, 4096, 16, 32, model_type="wav2vec2"),
            "architectures": ["Wav2Vec2ForCTC"],
            "conv_bias": True,
            "feat_extract_norm": "layer",
        },
        315_471_520,
    ),
    "electra-large-discriminator": (
        {
            **llama(24, 1024, 4096, 16, 30522, model_type="electra", embedding_size=1024),
            "architectures": ["ElectraForPreTraining"],
        },
        335_142_913,
    ),
    "resnet-18": (
        {
            "model_type": "resnet",
            "architectures": ["ResNetForImageClassification"],
            "depths": [2, 2, 2, 2],
            "hidden_sizes": [64, 128, 256, 512],
            "layer_type": "basic",
            "num_labels": 1000,
        },
        11_689_512,
    ),
    "conv-bert-medium-small": (
        {
            **llama(12, 384, 1536, 8, 30522, model_type="convbert", embedding_size=128, num_groups=2),
            "architectures": ["ConvBertModel"],
        },
        17_475_888,
    ),
    "swinv2-large": (
        {
            "model_type": "swinv2",
            "architectures": ["Swinv2ForImageClassification"],
            "depths": [2, 2, 18, 2],
            "embed_dim": 192,
            "num_heads": [6, 12, 24, 48],
        },
        195_206_006,
    ),
    "canine-s": ({"model_type": "canine", "architectures": ["CanineModel"]}, 132_082_944),
    "hf-seamless-m4t-medium": (
        {
            "model_type": "seamless_m4t",
            "architectures": ["SeamlessM4TModel"],
            "decoder_ffn_dim": 4096,
            "decoder_layers": 12,
            "encoder_ffn_dim": 4096,
            "encoder_layers": 12,
            "speech_encoder_layers": 12,
            "t2u_decoder_layers": 4,
            "t2u_encoder_layers": 4,
            "vocab_size": 256206,
        },
        1_209_461_122,
    ),
    "vit-gpt2-image-captioning": (
        {
            "model_type": "vision-encoder-decoder",
            "architectures": ["VisionEncoderDecoderModel"],
            "decoder": {"model_type": "gpt2", "add_cross_attention": True},
            "encoder": {"model_type": "vit"},
        },
        239_195_904,
    ),
    "donut-base": (
        {
            "model_type": "vision-encoder-decoder",
            "architectures": ["VisionEncoderDecoderModel"],
            "decoder": {
                "model_type": "mbart",
                "add_cross_attention": True,
                "add_final_layer_norm": True,
                "d_model": 1024,
                "decoder_layers": 4,
                "is_decoder": True,
                "is_encoder_decoder": False,
                "max_position_embeddings": 1536,
                "vocab_size": 57525,
            },
            "encoder": {
                "model_type": "donut-swin",
                "depths": [2, 2, 14, 2],
                "embed_dim": 128,
                "hidden_size": 1024,
                "image_size": [2560, 1920],
                "num_heads": [4, 8, 16, 32],
                "window_size": 10,
            },
        },
        201_852_024,
    ),
}


@pytest.mark.parametrize("name", [*TOTALS, *COUNTED])
def test_published_totals(name: str) -> None:
    """Configurations as they were published, with what they leave out and the types that their own code gave them."""
    values, total = {**TOTALS, **COUNTED}[name]
    assert predict(normalize(values)).parameters == total


#: Model → its configuration's fields, the dtype of its tensors, the bytes of its one file as the format's writer makes it.
FILES: Mapping[str, tuple[dict[str, Any], str, int]] = {
    "ALBERT base, a classifier": (
        {
            **llama(12, 768, 3072, 12, 30000, model_type="albert", embedding_size=128),
            "architectures": ["AlbertForSequenceClassification"],
            "id2label": {"0": "a", "1": "b", "2": "c"},
        },
        "F32",
        46_746_988,
    ),
    "detr-resnet-50, four labels": (
        {
            "model_type": "detr",
            "architectures": ["DetrForObjectDetection"],
            "backbone": "resnet50",
            "backbone_config": None,
            "d_model": 256,
            "decoder_ffn_dim": 2048,
            "decoder_layers": 6,
            "encoder_ffn_dim": 2048,
            "encoder_layers": 6,
            "id2label": {"0": "a", "1": "b", "2": "c", "3": "d"},
            "num_queries": 100,
            "use_timm_backbone": True,
        },
        "F32",
        166_497_908,
    ),
    "whisper-small": (
        {
            "model_type": "whisper",
            "architectures": ["WhisperForConditionalGeneration"],
            "d_model": 768,
            "decoder_ffn_dim": 3072,
            "decoder_layers": 12,
            "encoder_ffn_dim": 3072,
            "encoder_layers": 12,
            "vocab_size": 51865,
        },
        "F32",
        966_995_080,
    ),
    "trocr-base-handwritten": (
        {
            "model_type": "vision-encoder-decoder",
            "architectures": ["VisionEncoderDecoderModel"],
            "decoder": {
                "model_type": "trocr",
                "add_cross_attention": True,
                "cross_attention_hidden_size": 768,
                "d_model": 1024,
                "decoder_ffn_dim": 4096,
                "decoder_layers": 12,
                "tie_word_embeddings": True,
                "vocab_size": 50265,
            },
            "encoder": {"model_type": "vit", "hidden_size": 768, "image_size": 384, "qkv_bias": False},
            "tie_word_embeddings": False,
        },
        "F32",
        1_335_747_032,
    ),
    "Qwen1.5-0.5B at 32 bits": (
        llama(24, 1024, 2816, 16, 151936, model_type="qwen2", num_key_value_heads=16, tie_word_embeddings=True),
        "F32",
        1_855_983_640,
    ),
    "pythia-410m, a classifier": (
        {
            **llama(24, 1024, 4096, 16, 50304, model_type="gpt_neox"),
            "architectures": ["GPTNeoXForSequenceClassification"],
            "id2label": {"0": "a", "1": "b", "2": "c"},
        },
        "F32",
        1_415_337_224,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_published_files(name: str) -> None:
    """To the byte, which takes the length of every name and every offset."""
    values, dtype, size = FILES[name]
    prediction = predict(normalize(values))
    shapes = {row.name_of(key): list(row.shape) for row in prediction.expected for key in row.keys()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for tensor, shape in sorted(shapes.items()):
        begin, end = end, end + prod(shape) * {"F32": 4, "F16": 2}[dtype]
        header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"))
    assert 8 + -(-len(text) // 8) * 8 + end == size


@pytest.mark.parametrize(
    ("architecture", "model_type"),
    [
        ("LlamaForCausalLM", "llama"),
        ("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl"),
        ("Gemma3ForCausalLM", "gemma3_text"),
        ("RWForCausalLM", "RefinedWeb"),
        ("QWenLMHeadModel", "qwen"),
        ("BailingMoeV2ForCausalLM", "bailing_moe_v2"),
        ("HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe"),
        ("GPTNeoXForCausalLM", "gpt_neox"),
        ("NobodyKnowsForCausalLM", None),
    ],
)
def test_the_class_tells_the_type(architecture: str, model_type: str | None) -> None:
    """Where a configuration has no `model_type`."""
    assert normalize({"architectures": [architecture]}).model_type == model_type


def test_the_text_part_tells_the_type() -> None:
    """A lone text part is the model; beside a vision part its type names the whole's."""
    text = llama(2, 64, 128, 4, 1000, model_type="llama")
    assert predict(normalize({"text_config": text})).family == "llama"
    whole = normalize({"text_config": {"model_type": "gemma3_text"}, "vision_config": {"hidden_size": 64}})
    assert whole.model_type == "gemma3"
    assert whole.notes


def test_names_of_mambas_own_checkpoints() -> None:
    """`backbone.embedding` where Transformers has `backbone.embeddings`."""
    config = normalize({"d_model": 64, "n_layer": 1, "vocab_size": 100, "ssm_cfg": {"layer": "Mamba2", "headdim": 32}})
    assert config.model_type == "mamba2"
    prediction = predict(config)
    named = Namer(family_of(config.values), config.values).name(["backbone.embedding.weight", "lm_head.weight"])
    assert named.key(0) in {key for row in prediction.expected for key in row.keys()}
    assert named.key(1).role == "lm_head"


# --- real configurations and indexes, where they are ---------------------------------------------

#: What no family can predict: parts of image pipelines, and files that only describe packing or hosting.
NO_MODEL = ("stable-difusion", "image-generation", "__quantize_config", "__configuration.json")
CONFIGS = [path for path in real.files("config/*.json") if not any(word in path.name for word in NO_MODEL)]
#: Index → bytes that its total counts beyond the prediction's at 16 bits, and why.
BEYOND: Mapping[str, int] = {
    "Decentralised-AI+falcon-40b__pytorch_model.bin": 65024 * 8192 * 2,  # the tied head, stored too
    "drcege+RedPajama-INCITE-7B-Base__pytorch_model.bin": 32 * (2048 * 2048 // 8 + 2 + 128),  # masks, as bits; inv_freq
    "nuxwork+llama-7b-hf__pytorch_model.bin": 4096,  # inv_freq
    "Ibtasam-98+medgemma-27b-it__model.safetensors": 0,
    "amansingh61+bloom@4bf48c6__model.safetensors": 0,
    "amansingh61+bloom__pytorch_model.bin": 0,
    "ananddhanabal+gemma__model.safetensors": 0,
    "bryce-hoehn+Qwen3.5-25B-REAP-A3B-Coding__model.safetensors": 0,
    "fetchwiki+mistralai-Devstral-Small-2507__model.safetensors": 0,
    "mikeybellissimo+LoRA-MPT__pytorch_model.bin": 0,
    "root-hypercube+qwen3-mlx__model.safetensors": 0,
}


DEEPSEEK_OCR_2 = "sen-ye+DeepSeek-OCR2-query-ablation__"


def config_of(stem: str) -> Config:
    """The configuration beside a real index."""
    paths = {path.name: path for path in CONFIGS}
    owner = re.split("__|@", stem, maxsplit=1)[0]
    name = f"{owner}__config.json" if f"{owner}__config.json" in paths else f"{owner}__src__config.json"
    return configs.load(paths[name])


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_real_configurations_predict(path: Path) -> None:
    """Each of them, without an error."""
    assert predict(configs.load(path)).parameters > 0


@pytest.mark.parametrize("stem", [stem for stem in BEYOND if real.has(f"index/{stem}.index.json")])
def test_real_indexes_are_explained(stem: str) -> None:
    """Every tensor has a role; what is stored is what is predicted, key by key, and the total is the sum to the byte."""
    index = json.loads(real.file(f"index/{stem}.index.json").read_text())
    config = config_of(stem)
    prediction = predict(config)
    named = Namer(family_of(config.values), config.values).name(list(index["weight_map"]))
    assert all(slot.role for slot in named.slots)
    expected = {key for row in prediction.expected for key in row.keys()}
    known = expected | {key for row in (*prediction.buffers, *prediction.tied) for key in row.keys()}
    stored = {key for key, slot in zip(named.keys(), named.slots, strict=True) if slot.group != "buffer"}
    assert expected <= stored <= known
    assert int(index["metadata"]["total_size"]) == 2 * prediction.parameters + BEYOND[stem]


# The licence of its index is unknown: it is not among our own data.
if real.has(f"index/{DEEPSEEK_OCR_2}model.safetensors.index.json"):

    def test_deepseek_ocr_2_is_named_whole() -> None:
        """All 2,707 names, and the published count; its index claims a megabyte more than that, which no tensor has."""
        index = json.loads(real.file(f"index/{DEEPSEEK_OCR_2}model.safetensors.index.json").read_text())
        prediction = predict(configs.load(real.file(f"config/{DEEPSEEK_OCR_2}config.json")))
        assert {row.name_of(key) for row in prediction.expected for key in row.keys()} == set(index["weight_map"])
        assert prediction.parameters == 3_389_119_360
        assert index["metadata"]["total_size"] == 2 * prediction.parameters + 1_010_688
