"""Groups of tensors held against the classes of the modules that own them, over every model type of Transformers.

    python tools/zoo/groups.py draw OUT [--types a,b]    # needs torch and transformers
    python tools/zoo/groups.py check OUT [--types a,b]   # needs neither

OUT is a file of JSON lines: the type, class, config.json, and for each tensor the classes of the modules on its path,
outermost first; none for a buffer, which is one wherever it is. A class tells a group by a word of its name; the innermost that tells one counts, and a
tensor whose path tells none is left out. Some names mislead: `MISLEADING` lists them with what they are.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

#: A word of a class's name → the groups that its tensors may have. The first that fits a name counts.
TELLING: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (pattern, frozenset(groups.split()))
    for pattern, groups in (
        (r"Ada\w*Norm", "norm feed_forward"),  # and what maps a condition to its scales
        (r"PoolingHead$", "attention embedding norm"),  # and its query
        (r"(Layer|RMS|Group|Batch|Instance)Norm|Norm(\d+d)?$|Normalization", "norm buffer"),
        (r"^Conv(Transpose)?\dd$", ""),  # of whatever it is within: patches, attention, a norm
        (r"Rotary", "buffer"),
        (r"^Embedding$", "embedding attention buffer"),  # attention's: relative positions
        (r"LinearAttention|DeltaAttention|DeltaNet", "state_space attention norm convolution"),
        (r"Attention|Attn|Attender", "attention norm"),
        (r"Router|TopKGate|MoEGate", "router"),
        (r"Mamba|Mixer2|SSM|RGLRU|RecurrentBlock|KDA", "state_space norm convolution"),
        (
            r"(?<!Mixer)M[Ll][Pp]$|FeedForward|FFN|Experts?$",
            "feed_forward norm router head",
        ),  # a head of several layers
        (r"Relative\w*Embedding", "attention embedding"),
        (r"Embeddings?$|PatchEmbed", "embedding norm buffer convolution"),
        (r"Classifi|LMHead|PredictionHead|PreTrainingHeads?$", "head norm feed_forward"),
    )
)
#: Classes whose name says otherwise → the groups of their tensors.
MISLEADING: Mapping[str, frozenset[str]] = {
    "BridgeTowerResidualAttention": frozenset({"attention", "feed_forward", "norm"}),  # a whole layer
    "CvtSelfAttentionConvProjection": frozenset({"convolution", "norm"}),
    "ConvBertSelfAttention": frozenset({"attention", "convolution"}),  # of heads, and of convolutions beside them
    "EfficientLoFTRAggregatedAttention": frozenset({"attention", "convolution"}),
    "Emu3VQVAESpatialNorm": frozenset({"norm", "convolution"}),
    "FastSpeech2ConformerBatchNormConvLayer": frozenset({"norm", "convolution"}),
    "JetMoeAttention": frozenset({"attention", "router"}),  # of experts, which have a router
    "JetMoeParallelExperts": frozenset({"attention", "feed_forward"}),
    "Mask2FormerMaskedAttentionDecoderLayer": frozenset({"attention", "feed_forward", "norm"}),
    "MMGroundingDinoContrastiveEmbedding": frozenset({"head"}),  # scores of texts
    "Phi4MultimodalAudioEmbedding": frozenset({"embedding", "feed_forward", "convolution"}),  # also the layers to text
    "Phi4MultimodalImageEmbedding": frozenset({"embedding", "feed_forward"}),
}
MOST_TENSORS = 20_000


def draw(out: Path, types: Sequence[str]) -> None:
    """The principal class of each type at its default configuration, with few layers where it allows that."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    with out.open("a") as stream, multiprocessing.get_context("fork").Pool(1, maxtasksperchild=20) as pool:
        for line in pool.imap(_drawn, types or sorted(CONFIG_MAPPING_NAMES)):
            stream.write(line)
            stream.flush()


def _drawn(model_type: str) -> str:
    import warnings

    from models import auto_classes, build_model, exported_classes, resolve_class, saved_tensors
    from transformers import CONFIG_MAPPING

    warnings.simplefilter("ignore")
    try:
        names = [*auto_classes(model_type), *exported_classes(model_type)]
    except ImportError as error:
        print(model_type, error, file=sys.stderr)
        return ""
    for name in names[:1]:
        for fewer in ({"num_hidden_layers": 4}, {}):
            try:
                model = build_model(resolve_class(name), CONFIG_MAPPING[model_type](**fewer))
                stored, _ = saved_tensors(model)
            except Exception as error:
                print(model_type, name, " ".join(str(error).split())[:150], file=sys.stderr)
                continue
            tensors = {name: _classes(model, name) for name, (_, _, kind) in stored.items() if kind == "param"}
            if len(tensors) <= MOST_TENSORS:
                config = json.loads(model.config.to_json_string(use_diff=True))
                case = {"type": model_type, "class": name, "config": config, "tensors": tensors}
                return json.dumps(case, default=str) + "\n"
    return ""


def _classes(model: Any, name: str) -> list[str]:
    """The classes of the modules on a tensor's path; none if the name is not the model's own."""
    classes, module = [], model
    for word in name.split(".")[:-1]:
        module = getattr(module, word, None)
        if module is None:
            return []
        classes.append(type(module).__name__)
    return classes


def told(classes: Sequence[str]) -> tuple[str, frozenset[str]] | None:
    """The innermost class that tells of a group, and the groups."""
    for name in reversed(classes):
        if name in MISLEADING:
            return name, MISLEADING[name]
        found = next((groups for pattern, groups in TELLING if re.search(pattern, name)), None)
        if found is not None:
            return (name, found) if found else None
    return None


def check(path: Path, types: Sequence[str]) -> None:
    """Tensors whose group is none that their module's class tells: by role and class, the most frequent first."""
    differing, every, examples = Counter[tuple[str, str, str]](), 0, dict[tuple[str, str, str], str]()
    for case in map(json.loads, path.read_text().splitlines()):
        if types and case["type"] not in types:
            continue
        for name, role, group, by_class in _judged(case):
            every += 1
            if by_class and group not in by_class[1]:
                key = (by_class[0], group, role)
                differing[key] += 1
                examples.setdefault(key, f"{case['type']} {name}")
    for key, count in differing.most_common():
        print(f"{count:6} {' '.join(key)}: {examples[key]}")
    wrong = differing.total()
    print(f"{every - wrong} of {every} = {(every - wrong) / max(every, 1):.2%}")


def _judged(case: Mapping[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, frozenset[str]] | None]]:
    """The tensors whose class tells a group: name, role, group by the tables, and what the class says."""
    import inspector
    from inspector.errors import InspectorError

    try:
        rows = inspector.predict(case["config"]).expected
    except InspectorError as error:
        print(f"{case['type']}: {error}")
        return
    for row in rows:
        for key in row.keys():
            name = row.name_of(key)
            by_class = told(case["tensors"].get(name, ()))
            if by_class:
                yield name, row.role, row.group, by_class


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=("draw", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--types", default="", help="comma-separated; all without it")
    given = parser.parse_args()
    types = [each for each in given.types.split(",") if each]
    (draw if given.verb == "draw" else check)(given.file, types)


if __name__ == "__main__":
    main()
