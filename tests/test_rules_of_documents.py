"""Rules on folders of small documents: for each condition a case, and beside it a sound one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rule_words
from every import every

Case = tuple[dict[str, Any], list[str]]


def reported(code: str, case: Case, folder: Path) -> None:
    files, expected = case
    assert rule_words.lines(code, files, folder) == expected


def scheduler(**fields: Any) -> dict[str, Any]:
    return {"scheduler_config.json": {"_class_name": "DDIMScheduler", **fields}}


DIFFUSERS: list[Case] = [
    (scheduler(beta_end=0.02, timestep_spacing="leading"), []),
    (scheduler(beta_end=None), ["scheduler_config.json: error: beta_end is null, but should be a whole number or a floating-point number or true or false"]),
    (scheduler(timestep_spacing="leadin"), []),
    (scheduler(beta_schedul="linear"), ["scheduler_config.json: warning: beta_schedul is not a field of DDIMScheduler: did you mean beta_schedule?"]),
    (scheduler(**{"Beta-Schedule": "linear"}), ["scheduler_config.json: warning: Beta-Schedule is not a field of DDIMScheduler: did you mean beta_schedule?"]),
    (scheduler(beta_schedul="linear", beta_schedule="linear"), []),
    (scheduler(_beta_schedul="linear"), []),
    (scheduler(something_of_its_own=1), []),
    ({"scheduler_config.json": {"_class_name": 5, "beta_end": None}}, ["scheduler_config.json: error: _class_name is 5, but should be a string"]),
    ({"scheduler_config.json": {"_class_name": None}}, ["scheduler_config.json: error: _class_name is null, but should be a string"]),
    ({"scheduler_config.json": {"_class_name": ["DDIMScheduler"]}}, []),
    ({"scheduler_config.json": {"_class_name": "NoScheduler", "beta_end": None}}, []),
    ({"my_scheduler_config.json": {"_class_name": "DDIMScheduler", "beta_end": None}}, []),
    ({"vae/config.json": {"_class_name": "AutoencoderKL", "act_fn": "silu", "down_block_types": ["DownEncoderBlock2D"]}}, []),
    ({"vae/config.json": {"_class_name": "AutoencoderKL", "down_block_types": ["DownEncoderBlock2"]}}, ['vae/config.json: error: down_block_types has "DownEncoderBlock2", which AutoencoderKL does not know']),
    ({"vae/config.json": {"_class_name": "AutoencoderKL", "down_block_types": ["Zebra"]}}, []),
    ({"vae/config.json": {"_class_name": "AutoencoderKL", "act_fn": "SILU"}}, ['vae/config.json: error: act_fn has "SILU", which AutoencoderKL does not know']),
]  # fmt: skip

PIPELINES: list[Case] = [
    ({"model_index.json": {"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"], "scheduler": ["diffusers", "DDPMScheduler"]}}, []),
    ({"model_index.json": {"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"]}}, ["model_index.json: error: no scheduler, which DDPMPipeline requires"]),
    ({"model_index.json": {"_class_name": "DDPMPipeline", "unet": [None, None], "scheduler": ["diffusers", "X"]}}, ["model_index.json: error: no unet, which DDPMPipeline requires"]),
    ({"model_index.json": {"_class_name": ["DDPMPipeline"]}}, []),
    ({"model_index.json": {"_class_name": "NoPipeline"}}, []),
    ({"my_model_index.json": {"_class_name": "DDPMPipeline"}}, []),
    ({"model_index.json": {"_class_name": "NoPipeline", "unet": ["diffusers", "unet2"]}}, ["model_index.json: error: unet is of class 'unet2', which Diffusers does not have"]),
    ({"model_index.json": {"unet": ["diffusers", "UNetOfTomorrow"], "vae": ["mine", "vae"], "x": ["diffusers", 3]}}, []),
]  # fmt: skip


@every("case", DIFFUSERS)
def test_fields_of_diffusers(case: Case, tmp_path: Path) -> None:
    reported("diffusers-field", case, tmp_path)


@every("case", PIPELINES)
def test_parts_of_pipelines(case: Case, tmp_path: Path) -> None:
    reported("pipeline-parts", case, tmp_path)


def settings(**fields: Any) -> dict[str, Any]:
    return {"tokenizer_config.json": fields}


TOKENIZERS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("tokenizer-files", {**settings(tokenizer_class="GPT2TokenizerFast"), "vocab.model": "x"}, ["GPT2Tokenizer needs merges.txt and vocab.json, or tokenizer.json: download them"]),
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenizer"), "vocab.model": "x", "tokenizer.json": "{}"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenizer", auto_map={"a": "b"}), "vocab.model": "x"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenizer"), "vocab.json": "{}"}, []),  # reported as halves
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenizer"), "tekken.json": "{}"}, []),
    ("tokenizer-files", settings(tokenizer_class="GPT2Tokenizer"), []),  # another rule reports that nothing is there
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenizer"), "added_tokens.json": "{}"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="BertTokenizer"), "spiece.model": "x"}, ["BertTokenizer needs vocab.txt, or tokenizer.json: download them"]),
    ("tokenizer-files", {**settings(tokenizer_class="BertTokenizer"), "vocab.txt": "x"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="PreTrainedTokenizerFast"), "vocab.txt": "x"}, ["PreTrainedTokenizerFast needs tokenizer.json, which is missing: download it"]),
    ("tokenizer-files", {**settings(tokenizer_class="TokenizersBackend"), "merges.txt": "x"}, ["TokenizersBackend needs tokenizer.json, which is missing: download it"]),
    ("tokenizer-files", {**settings(tokenizer_class="PreTrainedTokenizerFast"), "x.tiktoken": "x"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="PreTrainedTokenizerFast"), "spiece.model": "x"}, []),
    ("tokenizer-files", settings(tokenizer_class="PreTrainedTokenizerFast"), []),
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenize"), "vocab.json": "{}"}, ["GPT2Tokenize is unknown to Transformers: did you mean GPT2Tokenizer?"]),
    ("tokenizer-files", {**settings(tokenizer_class="GPT2Tokenize"), "tokenizer.model": "{}"}, []),
    ("tokenizer-files", {**settings(tokenizer_class="OfMyOwn"), "vocab.json": "{}"}, []),
    ("tokenizer-files", {**settings(tokenizer_class=3), "vocab.json": "{}"}, []),
    ("tokenizer-files", {"my_tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}, "vocab.model": "x"}, []),
    ("tokenizer-field", settings(unk_token="<u>", bos_token={"content": "<s>"}, pad_token=None, do_lower_case=True), []),
    ("tokenizer-field", settings(unk_token=""), ["unk_token is an empty string: the search for unknown text never ends"]),
    ("tokenizer-field", settings(unk_token={"content": ""}), ["unk_token is an empty string: the search for unknown text never ends"]),
    ("tokenizer-field", settings(bos_token=""), []),
    ("tokenizer-field", settings(eos_token=5), ["eos_token is 5, but should be a string"]),
    ("tokenizer-field", settings(eos_token={"text": "</s>"}), ['eos_token is {"text": "</s>"}, but should be a string']),
    ("tokenizer-field", settings(tokenizer_class=None), []),
    ("tokenizer-field", settings(tokenizer_class=["A"]), ['tokenizer_class is ["A"], but should be a string']),
    ("tokenizer-field", settings(add_bos_token="yes"), ['add_bos_token is "yes", but should be true or false']),
    ("tokenizer-field", settings(add_bos_token=None, add_eos_token=False), []),
    ("tokenizer-field", {"my_tokenizer_config.json": {"add_bos_token": "yes"}}, []),
    ("tokenizer-field", settings(model_max_length=[64]), ["model_max_length is [64], but should be a whole number or a floating-point number or true or false or null"]),
    ("tokenizer-field", settings(model_max_length=1e30), []),
    ("tokenizer-field", settings(model_max_length=None), []),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 0, "b": 1, "ab": 2}, "merges.txt": "#version: 0.2\na b\n"}, []),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 0, "b": 1, "ab": 2}, "merges.txt": "a b\r\n"}, []),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 0, "b": 1}, "merges.txt": "a b\n"}, ["it joins 'ab', which vocab.json does not have"]),
    ("vocabulary-lines", {**settings(), "vocab.json": {"b": 1, "ab": 2}, "merges.txt": "one\na b\n"}, ["the line 'one' is not a pair of pieces"]),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 1, "ab": 2}, "merges.txt": "a b c\na b\n"}, ["the line 'a b c' is not a pair of pieces"]),
    ("vocabulary-lines", {**settings(), "vocab.json": [], "merges.txt": "a b\n"}, []),
    ("vocabulary-lines", {**settings(), "vocab.json": "[", "merges.txt": "a b\n"}, []),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 1}, "merges.txt": ""}, []),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 1}, "merges.txt": "a b", "tokenizer.json": "{}"}, []),
    ("vocabulary-lines", {"vocab.json": {"a": 1}, "merges.txt": "a b"}, []),
    ("vocabulary-lines", {"my_tokenizer_config.json": {}, "vocab.json": {"a": 1}, "merges.txt": "a b"}, []),
    ("vocabulary-lines", {"t/tokenizer_config.json": {}, "t/vocab.json": {"a": 1}, "t/merges.txt": "a b"}, ["it joins 'b', which vocab.json does not have"]),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 0, "b": -1}}, ["the token 'b' has an id that is not a number"]),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": 0, "b": "1"}}, ["the token 'b' has an id that is not a number"]),
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": "0", "b": "1"}}, []),  # of another kind
    ("vocabulary-lines", {**settings(), "vocab.json": {"a": {"b": 1}}}, []),
    ("vocabulary-lines", {**settings(tokenizer_class="BertTokenizerFast"), "vocab.txt": "a\n[UNK]\n"}, []),
    ("vocabulary-lines", {**settings(tokenizer_class="BertTokenizerFast"), "vocab.txt": "a\n"}, ["no '[UNK]' in it, which BertTokenizer needs"]),
    ("vocabulary-lines", {**settings(tokenizer_class="FunnelTokenizer"), "vocab.txt": "a\n"}, []),
    ("vocabulary-lines", {"t/tokenizer_config.json": {"tokenizer_class": "ElectraTokenizer"}, "t/vocab.txt": "a"}, ["no '[UNK]' in it, which ElectraTokenizer needs"]),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "vocab.json": "{}"}, ["no merges.txt beside it, which the tokenizer needs: download it"]),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "merges.txt": ""}, ["no vocab.json beside it, which the tokenizer needs: download it"]),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "merges.txt": "", "vocab.json": "{}"}, []),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "vocab.json": "{}", "tokenizer.json": "{}"}, []),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "vocab.json": "{}", "bpe.codes": ""}, []),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "my-vocab.json": "{}"}, []),
    ("missing-merges", {"config.json": {"model_type": "llama"}, "vocab.json": "{}"}, []),
    ("missing-merges", {"config.json": {"model_type": "llama"}, "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}, "vocab.json": "{}"}, ["no merges.txt beside it, which the tokenizer needs: download it"]),
    ("missing-merges", {"config.json": {"model_type": "gpt2"}, "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"}, "vocab.json": "{}"}, []),
    ("missing-merges", {"vocab.json": "{}"}, []),
    ("no-vocabulary", settings(tokenizer_class="LlamaTokenizer"), ["LlamaTokenizer has no vocabulary beside it: download it"]),
    ("no-vocabulary", {**settings(tokenizer_class="LlamaTokenizer"), "special_tokens_map.json": "{}"}, ["LlamaTokenizer has no vocabulary beside it: download it"]),
    ("no-vocabulary", {**settings(tokenizer_class="LlamaTokenizer"), "tokenizer.model": "x"}, []),
    ("no-vocabulary", settings(tokenizer_class="LlamaTokenizer", auto_map={"a": "b"}), []),
    ("no-vocabulary", settings(tokenizer_class="ByT5Tokenizer"), []),
    ("no-vocabulary", settings(), []),
    ("no-vocabulary", {"my_tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"}}, []),
    ("tokenizer", {"tokenizer.json": {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}}, []),
]  # fmt: skip


@every(("code", "files", "expected"), TOKENIZERS)
def test_tokenizers(code: str, files: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = rule_words.lines(code, files, tmp_path)
    assert [line.partition(": error: ")[2] for line in found] == expected


def prepared(**fields: Any) -> dict[str, Any]:
    return {"preprocessor_config.json": fields}


VIT = "ViTImageProcessor"
PROCESSORS: list[Case] = [
    (prepared(image_processor_type=VIT, size={"height": 8, "width": 8}, crop_size=8), []),
    (prepared(image_processor_type=VIT + "Fast", size={"shortest_edge": 8}), []),
    (prepared(image_processor_type="ViTFeatureExtractor", size={"min_pixels": 8, "max_pixels": 8}), []),
    (prepared(image_processor_type=VIT, size={"height": 8, "wide": 8}), ["preprocessor_config.json: error: size has height, wide, but no height and width or edge length"]),
    (prepared(image_processor_type=VIT, crop_size={"height": 8}), ["preprocessor_config.json: error: crop_size has height, but no height and width or edge length"]),
    (prepared(image_processor_type=VIT, size="8"), ['preprocessor_config.json: error: size is "8", but should be a number or an object']),
    (prepared(size="8"), []),
    (prepared(image_processor_type=3), ["preprocessor_config.json: error: image_processor_type is 3, but should be a string"]),
    (prepared(feature_extractor_type=[3]), ["preprocessor_config.json: error: feature_extractor_type is [3], but should be a string"]),
    (prepared(image_processor_type="vit"), ['preprocessor_config.json: error: image_processor_type is "vit", but no such class exists']),
    (prepared(feature_extractor_type="whisper"), ['preprocessor_config.json: error: feature_extractor_type is "whisper", but no such class exists']),
    (prepared(feature_extractor_type="WhisperFeatureExtractor"), []),
    (prepared(image_processor_type="ZebraImageProcessor"), []),
    (prepared(image_processor_type="zebraImageProcessor"), ['preprocessor_config.json: error: image_processor_type is "zebraImageProcessor", but no such class exists']),
    (prepared(image_processor_type="vit", auto_map={}), []),
    (prepared(image_processor_type=VIT, do_resize="x"), []),
    ({"processor_config.json": {"image_processor": {"image_processor_type": "vit"}, "feature_extractor": {"feature_extractor_type": "w"}}}, ['processor_config.json: error: image_processor.image_processor_type is "vit", but no such class exists', 'processor_config.json: error: feature_extractor.feature_extractor_type is "w", but no such class exists']),
    ({"processor_config.json": {"image_processor": {"image_processor_type": VIT, "size": "8"}}}, ['processor_config.json: error: image_processor.size is "8", but should be a number or an object']),
    ({"processor_config.json": {"image_processor": {"image_processor_type": "vit", "auto_map": {}}, "feature_extractor": 3}}, ["processor_config.json: error: feature_extractor is 3, but should be an object"]),
    ({"my_processor_config.json": {"image_processor_type": "vit"}}, []),
    ({"config.json": {"model_type": "vit"}, **prepared(feature_extractor_type="WhisperFeatureExtractor")}, ["preprocessor_config.json: error: WhisperFeatureExtractor prepares sound, but vit takes images"]),
    ({"config.json": {"model_type": "vit"}, **prepared(feature_extractor_type="WhisperFeatureExtractor", image_processor_type=VIT)}, []),
    ({"config.json": {"model_type": "vit"}, **prepared(feature_extractor_type="ViTFeatureExtractor")}, []),
    ({"config.json": {"model_type": "whisper"}, **prepared(image_processor_type=VIT)}, ['preprocessor_config.json: warning: "ViTImageProcessor" prepares images, but whisper takes sound']),
    ({"config.json": {"model_type": "whisper"}, **prepared(image_processor_type=VIT, feature_extractor_type="WhisperFeatureExtractor")}, []),
    ({"config.json": {"model_type": "llama"}, **prepared(image_processor_type=VIT)}, []),
    ({"config.json": {"model_type": ["vit"]}, **prepared(feature_extractor_type="WhisperFeatureExtractor")}, []),
    ({"a/config.json": {"model_type": "whisper"}, "a/preprocessor_config.json": {"image_processor_type": VIT}}, ['a/preprocessor_config.json: warning: "ViTImageProcessor" prepares images, but whisper takes sound']),
]  # fmt: skip


@every("case", PROCESSORS)
def test_a_preprocessor_of_another_class_or_kind_is_reported(case: Case, tmp_path: Path) -> None:
    reported("preprocessor", case, tmp_path)


CLASSIFIER = {"model_type": "vit", "architectures": ["ViTForImageClassification"]}
CARD = {"README.md": "x"}
NO_PREPROCESSOR = "config.json: error: no preprocessor_config.json beside it, which {} needs: download it"


@every(
    ("files", "needs"),
    [
        ({"config.json": CLASSIFIER, **CARD}, "ViTForImageClassification"),
        ({"config.json": CLASSIFIER, ".gitattributes": "x"}, "ViTForImageClassification"),
        ({"config.json": {**CLASSIFIER, "auto_map": {}}, **CARD}, ""),
        ({"config.json": {**CLASSIFIER, "architectures": ["ViTModel"]}, **CARD}, ""),
        ({"config.json": {**CLASSIFIER, "architectures": []}, **CARD}, ""),
        ({"config.json": {**CLASSIFIER, "architectures": "ViTForImageClassification"}, **CARD}, ""),
        ({"config.json": {**CLASSIFIER, "model_type": "llama"}, **CARD}, ""),
        ({"config.json": {**CLASSIFIER, "model_type": ["vit"]}, **CARD}, ""),
        ({"config.json": CLASSIFIER, "processor_config.json": "{}", **CARD}, ""),
        ({"config.json": CLASSIFIER, "optimizer.pt": "x", **CARD}, ""),
        ({"config.json": CLASSIFIER, "video_preprocessor_config.json": "{}", **CARD}, ""),
        ({"vision/config.json": CLASSIFIER}, ""),
        ({"my_config.json": CLASSIFIER}, ""),
        ({"config.json": {"model_type": "whisper", "architectures": ["WhisperForCTC"]}, **CARD}, "WhisperForCTC"),
        (
            {"config.json": {"model_type": "whisper"}, **settings(processor_class="WhisperProcessor")},
            "WhisperProcessor",
        ),
        ({"config.json": CLASSIFIER, **settings(processor_class="P")}, "P"),
        ({"config.json": CLASSIFIER, **CARD, **settings(processor_class=3)}, "ViTForImageClassification"),
    ],
)
def test_models_that_need_their_input_prepared(files: dict[str, Any], needs: str, tmp_path: Path) -> None:
    reported("no-preprocessor", (files, [NO_PREPROCESSOR.format(needs)] if needs else []), tmp_path)


def test_a_model_saved_by_itself_is_not_damage(tmp_path: Path) -> None:
    """As left by `save_pretrained`: it loads, and files that prepare its input were never there."""
    line = NO_PREPROCESSOR.format("ViTForImageClassification").replace("error", "info")
    reported("no-preprocessor", ({"config.json": CLASSIFIER}, [line]), tmp_path)


def modules(*listed: Any, **files: Any) -> dict[str, Any]:
    return {"modules.json": list(listed), **{name.replace("__", "/") + ".json": each for name, each in files.items()}}


def module(path: str, kind: str) -> dict[str, Any]:
    return {"name": "0", "path": path, "type": f"sentence_transformers.models.{kind}"}


SENTENCES: list[Case] = [
    (modules(module("", "Transformer"), config={"model_type": "bert"}), []),
    (modules(module("", "Transformer")), ["modules.json: error: Transformer has no config.json: download it"]),
    (modules(module("0_T", "Transformer"), config={}), ["modules.json: error: Transformer has no 0_T/config.json: download it"]),
    (modules(module("0_T/", "Transformer"), **{"0_T__config": {"model_type": "bert"}}), []),
    (modules({"name": "0", "path": "", "type": "Transformer"}), ["modules.json: error: unknown class Transformer: its module is missing"]),
    (modules({"name": "0", "path": ""}), ["modules.json: error: module 0 lacks a name, path or type, which must be strings"]),
    (modules(module("", "Normalize"), "x"), ["modules.json: error: module 1 lacks a name, path or type, which must be strings"]),
    ({"modules.json": []}, ["modules.json: error: not a list of modules"]),
    ({"modules.json": {}}, ["modules.json: error: not a list of modules"]),
    ({"modules.json": "["}, []),
    ({"my_modules.json": {}}, []),
    (modules(module("1_P", "Pooling"), **{"1_P__config": {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}}), []),
    (modules(module("1_P", "Pooling"), **{"1_P__config": {"embedding_dimension": {}}}), ["1_P/config.json: error: Pooling needs embedding_dimension, a whole number", "1_P/config.json: error: embedding_dimension is {}, but should be a whole number or a floating-point number or a string or true or false or a list"]),
    (modules(module("1_P", "Pooling"), **{"1_P__config": {"word_embedding_dimension": 8, "pooling_mode": "MEAN"}}), ["1_P/config.json: error: unknown pooling_mode 'MEAN'"]),
    (modules(module("1_P", "Pooling"), **{"1_P__config": {"word_embedding_dimension": 8, "pooling_mode": ["mean", "x"]}}), ["1_P/config.json: error: unknown pooling_mode 'x'"]),
    (modules(module("1_N", "Normalize"), **{"1_N__config": {"module_input_name": 3, "module_output_name": "a"}}), ["1_N/config.json: error: module_input_name is 3, but should be a string"]),
    (modules(module("1_P", "Pooling"), **{"1_P__config": {"word_embedding_dimension": 8, "pool": 1}}), ["1_P/config.json: error: Pooling has no field pool"]),
    (modules(module("1_D", "Dense"), **{"1_D__config": {"in_features": 8, "out_features": 8}}), ["modules.json: error: Dense has no weights in 1_D: download them"]),
    (modules(module("1_D", "Dense"), **{"1_D__config": {"in_features": 8}, "1_D__model.onnx": ""}), ["modules.json: error: Dense has no weights in 1_D: download them", "1_D/config.json: error: Dense needs out_features, a whole number"]),
    (modules(module("1_D", "LSTM"), **{"1_D__lstm_config": {"hidden_dim": True}, "1_D__model.bin": ""}), ["modules.json: error: LSTM has no weights in 1_D: download them", "1_D/lstm_config.json: error: LSTM needs embedding_dimension, a whole number", "1_D/lstm_config.json: error: LSTM needs hidden_dim, a whole number"]),
    (modules(module("1_D", "Dense")), ["modules.json: error: Dense has no 1_D/config.json: download it"]),
]  # fmt: skip


@every("case", SENTENCES)
def test_modules_of_sentence_transformers(case: Case, tmp_path: Path) -> None:
    reported("sentence-module", case, tmp_path)


PART = ["transformers", "CLIPTextModel"]
PARTS: list[Case] = [
    ({"model_index.json": {"te": PART}, "te/config.json": "{}", "te/model.safetensors": "x"}, []),
    ({"model_index.json": {"te": PART}, "te/config.json": "{}", "te/pytorch_model.bin": "x"}, []),
    ({"model_index.json": {"te": PART}}, ["model_index.json: error: CLIPTextModel has no folder te: download it"]),
    ({"model_index.json": {"te": PART}, "te/config.json": "{}"}, ["model_index.json: error: CLIPTextModel has no weights in te: download them"]),
    ({"model_index.json": {"te": PART}, "te/a.json": "{}"}, []),
    ({"p/model_index.json": {"te": PART}, "te/config.json": "{}"}, ["p/model_index.json: error: CLIPTextModel has no folder p/te: download it"]),
    ({"model_index.json": {"te": [None, None], "x": 3}}, []),
    *(
        ({"model_index.json": {"te": ["x", kind]}, "te/config.json": "{}"}, [])
        for kind in ("CLIPTokenizer", "CLIPTokenizerFast", "DDIMScheduler", "CLIPFeatureExtractor", "CLIPImageProcessorFast")
    ),
    (modules(module("1_Pooling", "Pooling")), ["modules.json: error: Pooling has no 1_Pooling/config.json: download it"]),
    (modules(module("1_Pooling/", "Pooling"), **{"1_Pooling__a": {}}), ["modules.json: error: Pooling has no 1_Pooling/config.json: download it"]),
    (modules(module("1_Pooling", "Pooling"), **{"1_Pooling__cnn_config": {}}), []),
    (modules(module("2_Normalize", "Normalize"), module("", "Pooling"), 3), []),
    ({"modules.json": "["}, []),
]  # fmt: skip


@every("case", PARTS)
def test_parts_that_an_index_names(case: Case, tmp_path: Path) -> None:
    reported("missing-component", case, tmp_path)
