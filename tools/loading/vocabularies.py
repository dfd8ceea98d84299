"""The tokenizers of tiny downloads, each written into a folder by the library that writes real ones."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SENTENCE = "the quick brown fox jumps over the lazy dog while a small model reads bytes and tensors of many layers"
WORDS = SENTENCE.split()
NAMES = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"


def write(folder: Path, tokenizer: Any) -> None:
    """Write a tokenizer by its function's name, or by `[name, its arguments]`."""
    name, values = (tokenizer, {}) if isinstance(tokenizer, str) else tokenizer
    globals()[name](folder, **values)


def _trained(own: Tokenizer, trainer: Any) -> Tokenizer:
    own.train_from_iterator([SENTENCE] * 20, trainer)
    return own


def _save(folder: Path, own: Tokenizer, **more: Any) -> None:
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, **more).save_pretrained(folder)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False))


# --- tokenizer.json -------------------------------------------------------------------------------


def byte_pairs(folder: Path, **more: Any) -> None:
    """Byte pairs."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<pad>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    _save(folder, _trained(own, trainer), model_max_length=128, **NAMES, **more)


def vocabulary_and_merges() -> tuple[dict[str, int], list[str]]:
    """The vocabulary and the merges of `byte_pairs`."""
    with tempfile.TemporaryDirectory() as inner:
        byte_pairs(Path(inner))
        own = json.loads((Path(inner) / "tokenizer.json").read_text())["model"]
    return own["vocab"], [each if isinstance(each, str) else " ".join(each) for each in own["merges"]]


def templated(folder: Path) -> None:
    """Byte pairs, and a chat template."""
    byte_pairs(folder, chat_template=TEMPLATE)


def templated_apart(folder: Path) -> None:
    """Byte pairs framed by a post-processor, with two chat templates in files of their own."""
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


def word_pieces(folder: Path) -> None:
    """The kind of vocab.txt, as tokenizer.json."""
    own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
    names = {f"{each.strip('[]').lower()}_token": each for each in special}
    _save(folder, _trained(own, trainer), model_max_length=64, **names)


def unigram(folder: Path) -> None:
    """SentencePiece's kind, as tokenizer.json."""
    own = Tokenizer(models.Unigram())
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    _save(folder, _trained(own, trainer), model_max_length=64, **names)


def words_alone(folder: Path) -> None:
    """Whole words, and only the special fields in tokenizer_config.json."""
    special = ["<s>", "</s>", "<pad>", "<unk>"]
    own = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*special, *dict.fromkeys(WORDS)])}, "<unk>"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.add_special_tokens(special)
    _save(folder, own, **NAMES)


# --- in separate files ------------------------------------------------------------------------------------


def two_files(folder: Path, kind: str = "GPT2Tokenizer") -> None:
    """vocab.json and merges.txt."""
    vocab, merges = vocabulary_and_merges()
    _write_json(folder / "vocab.json", vocab)
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    names = {name: NAMES[name] for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": kind, **names})


def of_old(folder: Path) -> None:
    """vocab.json, merges.txt, added_tokens.json and special_tokens_map.json, as before tokenizer.json alone."""
    two_files(folder)
    size = len(json.loads((folder / "vocab.json").read_text()))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    names = {name: config[name] for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
    _write_json(folder / "added_tokens.json", {"<|call|>": size, "<|end|>": size + 1})
    _write_json(folder / "special_tokens_map.json", {**names, "additional_special_tokens": ["<|call|>"]})
    plain = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
    config["added_tokens_decoder"] = {
        str(size + at): {"content": text, "special": not at, **plain} for at, text in enumerate(("<|call|>", "<|end|>"))
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def vocabulary(folder: Path, kind: str = "BertTokenizer") -> None:
    """vocab.txt."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*WORDS, *"abcdefghijklmnopqrstuvwxyz"})]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": kind, "do_lower_case": True})


def pieces(folder: Path, kind: str = "LlamaTokenizer", name: str = "tokenizer.model", **more: Any) -> None:
    """SentencePiece's own model."""
    import sentencepiece

    sizes = {"vocab_size": more.pop("vocab_size", 70), "model_type": more.pop("model_type", "bpe")}
    text = iter([SENTENCE] * 200)
    prefix = str(folder / "made")
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=text, model_prefix=prefix, minloglevel=2, **sizes)
    (folder / "made.model").rename(folder / name)
    (folder / "made.vocab").unlink()
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": kind, **more})


def marian(folder: Path) -> None:
    """Two models of SentencePiece and a vocabulary."""
    import sentencepiece

    pieces(folder, "MarianTokenizer", "source.spm", model_type="unigram", vocab_size=40)
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    own = sentencepiece.SentencePieceProcessor(str(folder / "source.spm"))
    tokens = [*dict.fromkeys(["</s>", "<unk>", *(own.id_to_piece(at) for at in range(len(own)))]), "<pad>"]
    _write_json(folder / "vocab.json", {token: at for at, token in enumerate(tokens)})
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
    _write_json(folder / "tokenizer_config.json", config)


def sound_alphabet(folder: Path) -> None:
    """Wav2Vec2's: letters in vocab.json."""
    letters = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz'"]
    _write_json(folder / "vocab.json", {letter: at for at, letter in enumerate(letters)})
    config = {"tokenizer_class": "Wav2Vec2CTCTokenizer", "word_delimiter_token": "|", "do_lower_case": True}
    _write_json(folder / "tokenizer_config.json", config)


def bytes_alone(folder: Path) -> None:
    """ByT5's: no vocabulary at all."""
    transformers.ByT5Tokenizer().save_pretrained(folder)
