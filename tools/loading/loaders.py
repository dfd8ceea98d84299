"""What the libraries that load a download make of it, each time in a process of its own.

    ask(kind, folder, base)    Outcome(refused="", reported=["missing: lm_head.weight"], made={"weights": "9f…", …})

`kind` is a class of Transformers, or `peft`, `diffusers` or `sentence-transformers`.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import re
import signal
import warnings
from pathlib import Path
from typing import Any, NamedTuple

#: Seconds that a load may take.
LIMIT = 30
#: A tokenizer without its vocabulary has only the special tokens.
FEW_TOKENS = 20
TEXT = "the quick brown fox reads bytes of 27 layers, écrit! <s> </s> [MASK]"


class Outcome(NamedTuple):
    """The outcome of loading."""

    refused: str  # the stage and the library's words; "" if all was loaded
    reported: list[str]  # weights that are missing, unexpected or of another shape; ids without a row
    made: dict[str, str]  # part → digest of the result


def ask(kind: str, folder: Path, base: Path) -> Outcome:
    """Load a download in a child of this process, which has the libraries."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        signal.alarm(LIMIT)
        with open(os.devnull, "w") as null:  # noqa: PTH123
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
            with os.fdopen(write, "w") as out:
                json.dump(_tried(kind, folder, base), out)
                out.flush()
                os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        stated = answer.read()
    _, status = os.waitpid(pid, 0)
    return Outcome(*json.loads(stated)) if stated else Outcome(f"the process ended with {status}", [], {})


def warm(kind: str, folder: Path, base: Path) -> None:
    """Load a sound download in this process, so that its children find the libraries' modules imported."""
    _tried(kind, folder, base)


def _tried(kind: str, folder: Path, base: Path) -> Outcome:
    """The stages of loading, up to the first that refuses."""
    reported: list[str] = []
    made: dict[str, str] = {}
    stages = _STAGES.get(kind, _of_transformers)(kind, folder, base, reported, made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stage, work in stages:
            try:
                work()
            except BaseException as error:
                return Outcome(f"{stage}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", reported, made)
    return Outcome("", reported, made)


def digest(value: Any) -> str:
    """A short digest of a document, or of tensors by name."""
    if isinstance(value, dict) and any(hasattr(each, "detach") for each in value.values()):
        import torch

        total = hashlib.sha256()
        for name, tensor in sorted(value.items()):
            total.update(f"{name} {tuple(tensor.shape)}".encode())
            if not tensor.is_meta:
                total.update(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return total.hexdigest()[:16]
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _info(found: dict[str, Any], reported: list[str]) -> None:
    for how in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        reported += sorted(f"{how}: {str(each)[:120]}" for each in found.get(how) or ())[:4]


# --- Transformers ---------------------------------------------------------------------------------


#: Tasks whose automatic classes people use to load a model.
_TASKS = (
    *("CausalLM", "Seq2SeqLM", "SpeechSeq2Seq", "SequenceClassification", "TokenClassification", "QuestionAnswering"),
    *("MaskedLM", "ImageTextToText", "CTC", "ImageClassification"),
)


def _auto(kind: str) -> Any:
    """The automatic class that chooses a class by the configuration."""
    import transformers

    for name in (*(f"AutoModelFor{task}" for task in _TASKS), "AutoModel"):
        auto = getattr(transformers, name)
        for each in auto._model_mapping._model_mapping.values():
            if kind == each or (isinstance(each, tuple | list) and kind in each):
                return auto
    return getattr(transformers, kind)


def _of_transformers(kind: str, folder: Path, base: Path, reported: list[str], made: dict[str, str]) -> Any:
    import torch
    import transformers

    kept: dict[str, Any] = {}

    def configure() -> None:
        values = transformers.AutoConfig.from_pretrained(folder).to_dict()
        made["config"] = digest({k: v for k, v in values.items() if k not in ("transformers_version", "_name_or_path")})

    def load() -> None:
        model, info = _auto(kind).from_pretrained(folder, output_loading_info=True)
        _info(info, reported)
        kept["model"] = model
        made["weights"] = digest(model.state_dict())

    def tokenize() -> None:
        own = transformers.AutoTokenizer.from_pretrained(folder)
        ids = own(TEXT)["input_ids"]
        kept["ids"] = ids
        special = sorted(set(own.all_special_ids))
        made["tokenizer"] = digest([ids, special, own.chat_template, sorted(own.get_vocab().items(), key=str)])
        if len(own) < FEW_TOKENS:
            reported.append("a tokenizer that knows next to nothing")
        rows = _rows(kept["model"])
        if rows and (beyond := [each for each in {*ids, *special, len(own) - 1} if each is not None and each >= rows]):
            reported.append(f"ids beyond {rows} rows: {beyond[:4]}")

    def generate() -> None:
        config = transformers.GenerationConfig.from_pretrained(folder)
        made["generation"] = digest({k: v for k, v in config.to_dict().items() if k != "transformers_version"})

    def run() -> None:
        model = kept["model"]
        if (
            not _rows(model)
            or "ids" not in kept
            or hasattr(model.config, "vision_config")
            or kind.startswith(("Whisper", "Speech2Text"))
        ):
            return
        ids = torch.tensor([kept["ids"][:12]])
        with torch.no_grad():
            if getattr(model, "can_generate", bool)():
                model.generate(ids, max_new_tokens=2, do_sample=False)
            else:
                model(ids)

    transformers.logging.set_verbosity_error()
    original = base if kind == "peft" else Path(os.environ.get("SEED", str(folder)))
    yield "configuration", configure
    yield "weights", load
    if (original / "tokenizer_config.json").exists():
        yield "tokenizer", tokenize
    if (folder / "generation_config.json").exists():  # optional for a model
        yield "generation settings", generate
    yield "running", run
    yield from _processors(folder, original, made)


def _processors(folder: Path, original: Path, made: dict[str, str]) -> Any:
    """The processors of images and sound, if the sound download has them."""
    import transformers

    def process() -> None:
        values = json.loads((original / "preprocessor_config.json").read_text())
        auto = "AutoImageProcessor" if "image_processor_type" in values else "AutoFeatureExtractor"
        made["preprocessor"] = digest(getattr(transformers, auto).from_pretrained(folder).to_dict())

    def process_all() -> None:
        made["processor"] = digest(transformers.AutoProcessor.from_pretrained(folder).to_dict())

    if (original / "preprocessor_config.json").exists():
        yield "preprocessor", process
    if (original / "processor_config.json").exists():
        yield "processor", process_all


def _rows(model: Any) -> int:
    try:
        own = model.get_input_embeddings()
        return int(own.num_embeddings)
    except (AttributeError, NotImplementedError):
        return 0


# --- the other libraries --------------------------------------------------------------------------


def _of_peft(kind: str, folder: Path, base: Path, reported: list[str], made: dict[str, str]) -> Any:
    import peft
    import transformers
    from peft import peft_model

    transformers.logging.set_verbosity_error()

    def configure() -> None:
        peft.PeftConfig.from_pretrained(str(folder))

    def load() -> None:
        put = peft_model.set_peft_model_state_dict

        def listening(*arguments: Any, **more: Any) -> Any:
            result = put(*arguments, **more)
            reported.extend(sorted(f"unexpected_keys: {each}" for each in result.unexpected_keys)[:4])
            return result

        peft_model.set_peft_model_state_dict = listening
        model = transformers.AutoModelForCausalLM.from_pretrained(base)
        with warnings.catch_warnings(record=True) as stated:
            warnings.simplefilter("always")
            own = peft.PeftModel.from_pretrained(model, str(folder))
        reported.extend(str(each.message)[:160] for each in stated if "missing" in str(each.message).lower())
        made["weights"] = digest(peft.get_peft_model_state_dict(own))

    yield "configuration", configure
    yield "weights", load


def _listening() -> io.StringIO:
    """The libraries' log from here on."""
    stated = io.StringIO()
    for name in ("diffusers", "transformers", "sentence_transformers"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        logger.addHandler(logging.StreamHandler(stated))
        logger.propagate = False
    return stated


_SAID = re.compile(r"newly initialized|not used when|MISSING|UNEXPECTED|MISMATCH|were not expected|are not expected")


def _of_diffusers(kind: str, folder: Path, base: Path, reported: list[str], made: dict[str, str]) -> Any:
    def load() -> None:
        import diffusers
        import torch

        stated = _listening()
        own = diffusers.DiffusionPipeline.from_pretrained(folder)
        for name, part in own.components.items():
            if isinstance(part, torch.nn.Module):
                made[name] = digest(part.state_dict())
            elif hasattr(part, "image_processor_type") or "Processor" in type(part).__name__:
                made[name] = digest(part.to_dict())
            elif callable(part):
                made[name] = digest(part("the quick brown fox")["input_ids"])
            elif part is not None:
                made[name] = digest(dict(part.config))
        reported.extend(line[:160] for line in stated.getvalue().splitlines() if _SAID.search(line))

    yield "pipeline", load


def _of_sentences(kind: str, folder: Path, base: Path, reported: list[str], made: dict[str, str]) -> Any:
    def load() -> None:
        from sentence_transformers import SentenceTransformer

        stated = _listening()
        own = SentenceTransformer(str(folder), device="cpu")
        tokens: Any = getattr(own.tokenizer, "get_vocab", dict)() or getattr(own.tokenizer, "get_vocab_size", int)()
        rows = max((each.num_embeddings for each in own.modules() if hasattr(each, "num_embeddings")), default=0)
        highest = max(tokens.values()) if isinstance(tokens, dict) and tokens else 0
        if rows and highest >= rows:
            reported.append(f"ids beyond {rows} rows: {highest}")
        made["weights"] = digest(own.state_dict())
        made["vector"] = digest([round(float(each), 4) for each in own.encode(["the quick brown fox"])[0]])
        reported.extend(line[:160] for line in stated.getvalue().splitlines() if _SAID.search(line))

    yield "model", load


_STAGES = {"peft": _of_peft, "diffusers": _of_diffusers, "sentence-transformers": _of_sentences}
