"""Formats of weights that are not read, known by their first bytes: what a file is, and what reads it.

    foreign_of("model.bin", b"\\x06\\0\\0\\0\\x0c\\0WhisperSpec\\0…")  →  Foreign("CTranslate2", …)

Where a format has no magic number, its suffix decides, or the name of the file beside it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from inspector.sources.filenames import ENDS
from inspector.tabular import NamedTuple


class Foreign(NamedTuple):
    """A format that is not read."""

    name: str
    reader: str  # what reads it


#: The first bytes that decide.
HEAD = 96

_CTRANSLATE2 = Foreign("CTranslate2", "CTranslate2, faster-whisper")
_GGML = Foreign("GGML", "whisper.cpp; llama.cpp before GGUF")
_COREML = Foreign("CoreML", "Apple's Core ML")
_TENSORFLOW = Foreign("TensorFlow", "TensorFlow")
_TFJS = Foreign("TensorFlow.js", "TensorFlow.js")
_ONNX = Foreign("ONNX", "ONNX Runtime")
_PADDLE = Foreign("Paddle", "PaddlePaddle")
_FASTTEXT = Foreign("fastText", "fastText, gensim")
_TENSORRT = Foreign("TensorRT", "TensorRT of the release and GPU that it was built for")
_TFLITE = Foreign("TFLite", "LiteRT, TensorFlow Lite")
_EXECUTORCH = Foreign("ExecuTorch", "ExecuTorch")
_LLAMAFILE = Foreign("llamafile", "itself: a program with a GGUF inside")
_HDF5 = Foreign("HDF5", "Keras, h5py")

#: First bytes → the format whose files have them, each from the format's own writer or specification.
_MAGICS: Mapping[bytes, Foreign] = {
    # whisper.cpp's examples/common and llama.cpp's llama.h before GGUF: 32 bits, least significant byte first
    **dict.fromkeys((b"lmgg", b"fmgg", b"tjgg", b"algg"), _GGML),
    (793712314).to_bytes(4, "little"): _FASTTEXT,  # FASTTEXT_FILEFORMAT_MAGIC_INT32 in fasttext.cc
    b"LITERTLM": Foreign("LiteRT-LM", "LiteRT-LM"),
    **dict.fromkeys((b"ptrt", b"ftrt"), _TENSORRT),
    b"MZqFpD": _LLAMAFILE,  # Cosmopolitan's executables
    b"\x89HDF\r\n\x1a\n": _HDF5,
    b"RKNN": Foreign("RKNN", "Rockchip's NPU runtime"),
    b"CBM1": Foreign("CatBoost", "CatBoost"),
    b"7767517\n": Foreign("ncnn", "ncnn"),
    b"lCRF": Foreign("CRFsuite", "CRFsuite, python-crfsuite"),  # FILEMAGIC in its crf1d_model.c
}
_STARTS = tuple(_MAGICS)
#: The same for bytes 4 to 7, where FlatBuffers have the file_identifier of their schema: schema.fbs, program.fbs.
_IDENTIFIERS: Mapping[bytes, Foreign] = {b"TFL3": _TFLITE, b"ET12": _EXECUTORCH}
#: Suffix → the format of files without a magic number.
_SUFFIXES: Mapping[str, Foreign] = {
    **dict.fromkeys((".onnx", ".onnx_data", ".onnx.data", ".ort"), _ONNX),
    ".mlmodel": _COREML,
    **dict.fromkeys((".pdparams", ".pdiparams"), _PADDLE),
    **dict.fromkeys((".engine", ".plan", ".trt"), _TENSORRT),
    **dict.fromkeys((".ftz", ".vec"), _FASTTEXT),
    ".caffemodel": Foreign("Caffe", "Caffe"),
    ".mnn": Foreign("MNN", "MNN"),
    ".tflite": _TFLITE,
    ".llamafile": _LLAMAFILE,
    ".pte": _EXECUTORCH,
    ".nemo": Foreign("NeMo", "NVIDIA NeMo"),
    ".mar": Foreign("TorchServe", "TorchServe"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), Foreign("pickle", "Python, which runs what is in it")),
}
#: Suffix of a file beside one of the same name that ends in .bin → whose weights the latter are.
_BESIDE: Mapping[str, Foreign] = {
    ".xml": Foreign("OpenVINO", "OpenVINO"),
    ".param": Foreign("ncnn", "ncnn"),
    "-weights_manifest.json": _TFJS,
}
_SHARD_OF_TFJS = re.compile(r"group\d+-shard\d+of\d+(\.bin)?|.*-shard\d+of\d+\.bin")
_VARIABLES = re.compile(r".*\.data-\d{5}-of-\d{5}")
#: CTranslate2's specs/model_spec.py: a version of 32 bits, the length of a name in 16, the name and a NUL.
_SPEC = re.compile(rb"[\x01-\x20]\0\0\0.\0\w*Spec\0", re.DOTALL)
#: A protocol buffer whose first field is a version, and whose second is text or a description: ONNX's `ModelProto` has
#: the exporter's name there (onnx.proto), Core ML's `Model` a message that begins with an input (Model.proto).
_MODEL_PROTO = re.compile(
    rb"\x08[\x01-\x20]\x12(?:(?P<onnx>[\x02-\x20][A-Za-z][\w.-])|[\x01-\xff]{1,4}\x0a)", re.DOTALL
)
#: A table of word vectors: the number of words, and of each vector's elements.
_VECTORS = re.compile(rb"[1-9]\d{0,9} [1-9]\d{0,4}\r?\n")

#: Suffixes of files that may be of these formats; those of .bin and PyTorch's own are decided by their first bytes.
_ENDS = tuple(_SUFFIXES)
SUFFIXES = (*_ENDS, "saved_model.pb")
#: Those that weights of other formats are given by mistake.
_OWN = (*ENDS["safetensors"], ".bin", ".pt", ".pth")


def foreign_of(path: str, head: bytes, beside: Container[str] = ()) -> Foreign | None:
    """The format of a file that is not read; None if it may be one that is.

    Args:
        head: the file's first `HEAD` bytes.
        beside: the paths of the files that were listed with it.
    """
    folder, _, name = path.rpartition("/")
    lower = name.lower()
    known = _IDENTIFIERS.get(head[4:8])
    if head.startswith(_STARTS):
        known = next(known for magic, known in _MAGICS.items() if head.startswith(magic))
    if known and not (known is _HDF5 and lower.endswith(ENDS["hdf5"])):
        return known
    if _SPEC.match(head):
        return _CTRANSLATE2
    if lower.endswith(_OWN) and (model := _MODEL_PROTO.match(head)):
        return _ONNX if model["onnx"] else _COREML
    return _format_of_name(lower) or (_weights_beside(folder, name, head, beside) if lower.endswith(".bin") else None)


def _format_of_name(lower: str) -> Foreign | None:
    """The format of a file without a magic number, by its name in small letters."""
    if lower.endswith(_ENDS):
        return next(known for end, known in _SUFFIXES.items() if lower.endswith(end))
    if lower == "saved_model.pb" or (".data-" in lower and _VARIABLES.fullmatch(lower)):
        return _TENSORFLOW
    return _TFJS if "-shard" in lower and _SHARD_OF_TFJS.fullmatch(lower) else None


def _weights_beside(folder: str, name: str, head: bytes, beside: Container[str]) -> Foreign | None:
    """The format of a file in .bin, by its folder and the files that it was listed with."""
    within = f"{folder}/".lower()
    if ".mlpackage/" in within or ".mlmodelc/" in within:
        return _COREML
    if name.lower().startswith("openvino"):  # as optimum names what it exports
        return _BESIDE[".xml"]
    sibling = f"{folder}/{name[:-4]}".lstrip("/")
    found = (known for end, known in _BESIDE.items() if sibling + end in beside)
    return next(found, Foreign("word2vec", "gensim") if _VECTORS.match(head) else None)


#: Core ML's folder that is one model, and TensorFlow's variables.
_FOLDER = re.compile(r"(.*?\.mlpackage|.*?\.mlmodelc|(?:.*/)?variables)/.*")


def set_of(name: str, path: str) -> str:
    """Equal for the files of one model in a format: a graph and its data, the shards, the files of a folder."""
    folder, _, last = path.rpartition("/")
    inside = _FOLDER.fullmatch(path)
    if inside is not None:
        return inside[1]
    stem = "" if name == _TFJS.name else re.sub(r"\.(?:onnx|data|xml|bin)(?![a-z]).*", "", last)
    return f"{folder}/{stem}"
