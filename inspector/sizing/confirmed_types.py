"""Types whose caches were compared with what an engine itself holds (`tools/write_confirmed.py` writes this)."""

from __future__ import annotations

from collections.abc import Mapping

_TRANSFORMERS = """
afmoe apertus apertus1p5_text arcee aria aria_text audioflamingo3 axk1 axk2 aya_vision bailing_hybrid bamba bart beam
bert bert-generation big_bird bigbird_pegasus biogpt bitnet blenderbot blenderbot-small bloom camembert canary
chameleon clvp_decoder codegen cohere cohere2 cohere2_moe cohere2_vision cohere_asr cohere_compass cohere_compass_text
cosmos3_edge cosmos3_omni cpmant csm ctrl cwm data2vec-text dbrx deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32
deepseek_v4 deepseek_vl deepseek_vl_hybrid dia diffllama diffusion_gemma doge dory dots1 dots3_note_text electra emu3
emu3_text_model encoder-decoder ernie ernie4_5 ernie4_5_moe ernie4_5_vl_moe evolla exaone exaone4 exaone4_5 exaone_moe
falcon falcon_h1 falcon_mamba flaubert flex_olmo flint florence2 fsmt fun_asr_nano fuyu gemma gemma2 gemma3
gemma3_text gemma3n_text gemma4 gemma4_text gemma4_unified gemma4_unified_text git glm glm4 glm46v glm4_moe
glm4_moe_lite glm4v glm4v_moe glm5_next_text glm_moe_dsa glm_ocr glmasr glmga got_ocr2 gpt-sw3 gpt2 gpt_bigcode
gpt_neo gpt_neox gpt_neox_japanese gpt_oss gptj gradium_phonon_tts granite granite4_vision granite_docling
granite_speech granite_speech_plus granite_swa granitemoe granitemoe_swa granitemoehybrid granitemoeshared helium
higgs_audio_v2 hrm_text hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl hy_v3 hy_v4 hy_v4_vl hyperclovax
hyperclovax_vision_v2 idefics2 idefics3 imagegpt inkling2_text inkling_text internlm3 internvl iquestcoder jais2 jamba
janus jetmoe kimi_linear kolibri1 kosmos-2.5 laguna lara_mini led lfm2 lfm2_moe lfm2_vl lfm3 lfm3_vl llama llama4_text
llava llava_next llava_next_video llava_onevision longcat_flash longt5 m2m_100 mamba mamba2 marian mbart megatron-bert
mellum mimo_v2_flash minicpm3 minicpm_ocr minicpmv4_6 minicpmv4_7 minimax minimax_m2 minimax_m3_vl_text ministral
ministral3 mistral mistral3 mistral4 mistral_large4 mixtral mllama_text_model modernbert-decoder molmo2 moonshine
moonshine_streaming moshi moss_transcribe_diarize mpt mt5 muse_glimmer musicflamingo musicgen musicgen_decoder
musicgen_melody_decoder mvp nanochat nemotron nemotron_h nemotron_h_omni nllb-moe olmo olmo2 olmo3 olmo_hybrid olmoe
openai-gpt opt ovis2 paddleocr_vl paligemma pegasus pegasus_x persimmon phi phi3 phi4_multimodal phimoe pix2struct
plbart pocket_tts pop2piano pp_chart2table pp_formulanet prophetnet qianfan_ocr qwen2 qwen2_5_omni_thinker qwen2_5_vl
qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_5_moe_text qwen3_5_text qwen3_asr qwen3_moe qwen3_next
qwen3_omni_moe_thinker qwen3_vl qwen3_vl_moe qwen4_exp qwen4_exp_text recurrent_gemma reformer rembert roberta
roberta-prelayernorm roc_bert roformer rwkv sarvam_mla sarvam_moe seamless_m4t seamless_m4t_v2 seed_oss shieldgemma2
smollm3 smolvlm solar_open speech-encoder-decoder speech_to_text speecht5 stablelm starcoder2 step3p7
switch_transformers t5 t5gemma t5gemma2 trocr udop umt5 unlimited_ocr vaultgemma vibevoice vibevoice_asr voxtral
whisper xglm xlm xlm-roberta xlm-roberta-xl xlnet xlstm xmod youtu zamba zamba2 zaya
"""
_LLAMA_CPP = """
afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bert bitnet bloom chameleon chatglm
codeshell cogvlm cohere2 cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 dflash
dots1 dots3note dream eagle3 ernie4_5 ernie4_5-moe eurobert exaone exaone-moe exaone4 falcon falcon-h1 gemma
gemma-embedding gemma-embedding2 gemma2 gemma3 gemma3n gemma4 gemma4-assistant glm-dsa glm4 glm4moe glm5-next gpt-oss
gpt2 gptneox granite granite_swa granitehybrid granitemoe graniteswitch grok grovemoe hrm_text hunyuan-dense
hunyuan-moe hunyuan_vl hy_v3 hy_v4 internlm2 jais jais2 jamba jina-bert-v2 jina-bert-v3 kimi-k3 kimi-linear laguna
lfm2 lfm2moe llada llada-moe llama llama-embed llama4 maincoder mamba mamba2 maple mellum mimo2 minicpm minicpm3
minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 modern-bert mpt muse-glimmer nanbeige nemotron nemotron_h
nemotron_h_moe neo-bert nomic-bert nomic-bert-moe olmo olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3
phimoe plamo plamo2 plamo3 plm pockettts qwen qwen2 qwen2moe qwen2vl qwen3 qwen35 qwen35moe qwen3moe qwen3next
qwen3tts qwen3vl qwen3vlmoe qwen4exp refact rnd1 rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 spark2_5
stablelm starcoder starcoder2 step35 t5 t5encoder talkie wavtokenizer-dec xverse
"""
_VLLM = """
apertus arcee bloom cohere2 cwm deepseek_v3 ernie4_5 ernie4_5_moe exaone4 exaone_moe falcon falcon_h1 falcon_mamba
gemma gemma2 gemma3_text glm4 gpt2 gpt_bigcode gpt_neox gpt_oss granite granitemoe jais2 jamba laguna llama mamba
mamba2 minicpm3 minimax_m3_vl_text mixtral nanochat olmo olmo2 olmo3 olmoe opt persimmon phi phi3 qwen2 qwen2_moe
qwen3 qwen3_moe qwen3_next seed_oss solar_open stablelm starcoder2 vaultgemma zamba2
"""

#: Engine → model types, or for llama.cpp GGUF architectures.
CONFIRMED: Mapping[str, frozenset[str]] = {
    "transformers": frozenset(_TRANSFORMERS.split()),
    "llama.cpp": frozenset(_LLAMA_CPP.split()),
    "vllm": frozenset(_VLLM.split()),
}
