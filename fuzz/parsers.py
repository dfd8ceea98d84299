"""Coverage-guided fuzzing of small parsers by themselves: `make fuzz`, or `python fuzz/parsers.py`.

The first byte says which: a configuration or Meta's params.json with its prediction, an adapter's configuration,
an index, a tokenizer, a pickle, NumPy's arrays, a manifest, a project file, a template, files of PyTorch, Keras,
TensorFlow and ONNX, YAML. Any exception but InspectorError ends the run. `documents.py` has what an audit makes of
the same in a model's folder.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector import settings
    from inspector.adapters import prediction as adapter_prediction
    from inspector.architectures import table  # noqa: F401  imported late otherwise, and not instrumented
    from inspector.architectures.prediction import predict
    from inspector.auditing import checksums
    from inspector.auditing.readers import archives, pickles, templates
    from inspector.auditing.readers.jinja import statements  # noqa: F401  the same
    from inspector.auditing.readers.tokenizer_json import highest_token
    from inspector.auditing.safety import outside_paths, programs
    from inspector.auditing.safety.keras import keras_lambda
    from inspector.auditing.subject import Subject
    from inspector.errors import InspectorError
    from inspector.formats.pytorch import reader
    from inspector.opening import configs, selection
    from inspector.sources.listing import entries
    from inspector.sources.local import LocalPlace

import hostile  # noqa: E402  found through the path above
from hostile.programs import keras, onnx, saved_model  # noqa: E402  the same
from hostile.templates import REACHING  # noqa: E402  the same
from hostile.torch_files import PLAIN, STRIDED, TIED, torch_pickles, torch_zip  # noqa: E402  the same

BASE = configs.normalize(hostile.CONFIG)


def config(path: Path) -> None:
    predict(configs.load(path))


def adapter(path: Path) -> None:
    adapter_prediction.predict(configs.load(path).values, predict(BASE))


def index(path: Path) -> None:
    with closing(LocalPlace(path.parent)) as place:
        selection.by_index(place, path.name, required=False)


def tokenizer(path: Path) -> None:
    with closing(LocalPlace(path.parent)) as place:
        highest_token(Subject(place, list(entries(path.parent)), str(path.parent)), "")


def pickle(path: Path) -> None:
    data = path.read_bytes()
    piece = archives.Piece("", lambda start, length: data[start : start + length], len(data))
    pickles.judge(piece, pickles.Budgets(), likely=True)


def template(path: Path) -> None:
    templates.judge(path.read_text("utf-8", "replace"))


def weights(path: Path) -> None:
    with closing(LocalPlace(path.parent).open(path.name)) as source:
        found = reader.read(source, path.name)
        assert sum(region.size for region in found.regions) == source.size


def document(path: Path) -> None:
    with closing(LocalPlace(path.parent)) as place:
        subject = Subject(place, list(entries(path.parent)), str(path.parent))
        for rule in (
            keras_lambda,
            programs.graph_operation,
            programs.yaml_code,
            outside_paths.external_data,
        ):
            list(rule.findings(subject))


def array(path: Path) -> None:
    with closing(LocalPlace(path.parent)) as place:
        subject = Subject(place, list(entries(path.parent)), str(path.parent))
        pickles.pickle_verdicts(subject)


#: File → its parser. The first byte of an input selects one.
PARSERS: tuple[tuple[str, Callable[[Path], object]], ...] = (
    ("config.json", config),
    ("params.json", config),
    ("adapter_config.json", adapter),
    ("model.safetensors.index.json", index),
    ("tokenizer.json", tokenizer),
    ("vocab.json", tokenizer),
    ("data.pkl", pickle),
    ("data.npy", array),
    ("SHA256SUMS", checksums.read_manifest),
    ("pyproject.toml", lambda path: settings.load(path.parent)),
    ("chat_template.jinja", template),
    ("model.bin", weights),
    ("model.keras", document),
    ("saved_model.pb", document),
    ("model.onnx", document),
    ("conf.yaml", document),
)

PARAMS = {"dim": 64, "n_layers": 2, "n_heads": 4, "multiple_of": 32, "ffn_dim_multiplier": 1.3, "norm_eps": 1e-5}
SEEDS: tuple[tuple[int, bytes], ...] = (
    (0, hostile.dump(hostile.CONFIG)),
    (0, hostile.dump({"model_type": "deepseek_v3", "n_routed_experts": 4, "first_k_dense_replace": 1})),
    (0, hostile.dump({"model_type": "llava", "text_config": hostile.CONFIG, "vision_config": {}})),
    (0, hostile.dump({"emb_dim": 64, "n_heads": 4, "n_layers": 2, "context_length": 8, "vocab_size": 9})),
    (1, hostile.dump(PARAMS)),
    (2, hostile.dump({"peft_type": "LORA", "r": 8, "target_modules": ["q_proj"], "rank_pattern": {"k_proj": 4}})),
    (2, hostile.dump({"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 4, "target_modules": "all-linear"})),
    (3, b'{"weight_map": {"a": "b.safetensors", "c": "../d"}, "metadata": {"total_size": 1}}'),
    (4, hostile.tokenizer(5, 2)),
    (4, b'{"model": {"type": "Unigram", "vocab": [["a", -1.5], ["b", 0]]}}'),
    (5, b'{"a": 0, "b": 1}'),
    (6, hostile.calls("posix", "system")),
    (7, b"\x93NUMPY\x01\x00\x10\x00{'descr': '|O' }" + hostile.calls("posix", "system")),
    (8, b"0" * 64 + b" *config.json\n"),
    *((10, text.encode()) for text in REACHING),
    (11, torch_zip(PLAIN)),
    (11, torch_zip(STRIDED, aligned=False)),
    (11, torch_pickles(TIED)),
    (12, keras(class_name="Lambda", module="keras.layers")),
    (13, saved_model("MatMul", "ReadFile", library=True)),
    (14, onnx("../x", deep=True)),
    (15, b"a: !!python/name:os.system\nb:\n  _target_: os.system\n"),
    (9, b'[tool.checkpoint-inspector]\nignore = ["pickle"]\nfail-on = "warning"\n'),
)


def one_input(data: bytes, folder: Path) -> None:
    """Read one file, alone in its folder, by its parser."""
    name, parser = PARSERS[data[0] % len(PARSERS)] if data else PARSERS[0]
    path = folder / name
    path.write_bytes(data[1:])
    try:
        parser(path)
    except InspectorError as error:
        assert "\n" not in str(error), error
    finally:
        path.unlink()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryDirectory() as folder:
        for number, (kind, content) in enumerate(SEEDS):
            Path(corpus, str(number)).write_bytes(bytes([kind]) + content)
        atheris.Setup([*sys.argv, corpus], lambda data: one_input(data, Path(folder)))
        atheris.Fuzz()
