"""The one grammar of weight files' names: what is a weight file, and which shard of which set.

    shard_of("model-00001-of-00002.safetensors")  →  Shard(stem="model", number=1, total=2, …)
    type_of("Llama-3-8B-Q4_K_M.gguf")             →  "Q4_K_M"

Numbers count from 1, as Transformers and llama.cpp write them, or from 0, as some converters do; they have five
digits or more, between dashes, dots or underscores (`model_00000-of-000157`).
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Literal, NamedTuple

WEIGHTS = (".safetensors", ".gguf")
#: PyTorch's own, which are pickles: taken where a place has no others.
PICKLED = (".bin", ".pth", ".pt", ".ckpt")
#: Other frameworks': taken where a place has none of those.
OTHERS = (".npz", ".msgpack", ".h5", ".hdf5", ".keras")
#: Those of them that a C library reads.
HDF5 = OTHERS[2:]
#: What `torch.distributed.checkpoint` calls its list of tensors, and ends the ranks' files with.
COLLECTIVE, COLLECTED = ".metadata", ".distcp"
#: End of the name of an index, which tells the shard of each tensor.
INDEX = ".safetensors.index.json"
PICKLED_INDEX = ".bin.index.json"

#: Format → what its files' names end in.
ENDS = {
    "safetensors": WEIGHTS[:1],
    "gguf": WEIGHTS[1:],
    "pytorch": (*PICKLED, ".pt2", COLLECTED, ".pkl", ".ptl", ".tar", ".model", ".th"),
    "numpy": (".npz", ".npy"),
    "flax": (".msgpack",),
    "hdf5": HDF5,
}

#: A quantization or a dtype as one word of a file's or folder's name.
TYPE = re.compile(
    r"(?:^|(?<=[-._/]))((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|MXFP4(?:_MOE)?|NVFP4|BF16|F16|F32|FP16|FP32|FP8|INT8|INT4))"
    r"(?=$|[-._/])",
    re.IGNORECASE,
)
#: Words for the same type.
_SAME = {"FP16": "F16", "FP32": "F32"}

# No checkpoint has a milliard of shards: longer numbers are part of a name.
_SHARD = re.compile(r"(?P<stem>.*?)[-_.](?P<number>\d{5,9})[-_]of[-_](?P<total>\d{5,9})(?P<suffix>\.[A-Za-z]\w*)", re.S)


class Shard(NamedTuple):
    """One file of a set, by its name."""

    stem: str  # what stands before the number, folders included: "weights/model"
    number: int  # as written: most sets count from 1
    total: int
    suffix: str  # ".safetensors"
    before: str  # the name up to the number's first digit
    digits: int  # how many the number is written with
    after: str  # the name from behind the number on

    def sibling(self, number: int) -> str:
        """The path of another shard of the set."""
        return f"{self.before}{number:0{self.digits}}{self.after}"

    def start(self, files: Container[str]) -> int:
        """What the set counts from: 0 where `files` has a shard of that number, else 1."""
        return 0 if self.number == 0 or self.sibling(0) in files else 1

    def is_complete(self, files: Container[str]) -> bool:
        """Whether every shard of the set is among `files`. Stops at the first that is absent."""
        start = self.start(files)
        return all(self.sibling(number) in files for number in range(start, start + self.total))


def shard_of(path: str) -> Shard | None:
    """What a file's name says of its place in a set; None where it is none of a set.

    `path` may have folders, with "/". A number with more digits than its total is written, as in real sets.
    """
    # Names are long only where somebody made them so, and the pattern looks for its beginning at every place.
    found = _SHARD.fullmatch(path) if len(path) < 5000 and "of" in path else None
    if found is None or "/" in path[found.end("stem") :]:
        return None
    number = found.span("number")
    return Shard(
        stem=found["stem"],
        number=int(found["number"]),
        total=int(found["total"]),
        suffix=found["suffix"],
        before=path[: number[0]],
        digits=number[1] - number[0],
        after=path[number[1] :],
    )


def type_of(name: str) -> str | None:
    """The quantization or dtype that a file's or folder's name tells, the last where it has several."""
    types = TYPE.findall(name)
    return _SAME.get(types[-1].upper(), types[-1].upper()) if types else None


Format = Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
_FORMATS: dict[str, Format] = {
    ".gguf": "gguf",
    ".npz": "numpy",
    ".msgpack": "flax",
    **dict.fromkeys((*PICKLED, COLLECTED), "pytorch"),
    **dict.fromkeys(HDF5, "hdf5"),
}


def format_of(path: str) -> Format:
    """What a weight file's name says of its format: by its ending, with or without a stem."""
    return _FORMATS.get(f".{path.rpartition('.')[2]}", "safetensors")


#: Names of files of which each rank of a run wrote its own: Meta's, DeepSpeed's, Megatron's, and any with a rank.
#: Compiled when a name may be one of them.
_RANKS = (
    r"(?P<before>(?:.*/)?consolidated\.)(?P<rank>\d\d)(?P<after>\.pth)",
    r"(?P<before>(?:.*/)?)(?:bf16_|fp16_)?(?:zero_pp_rank_(?P<replica>\d{1,5})_)?mp_rank_(?P<rank>\d{2,5})"
    r"(?P<kind>_model|_optim)(?P<after>_states\.pt)",
    r"(?P<before>(?:.*/)?mp_rank_)(?P<rank>\d\d)(?P<after>/model_(?:optim_)?rng\.pt)",
    r"(?P<before>.*rank[-_]?)(?P<rank>\d{1,5})(?P<after>\.(?:bin|pt|pth|ckpt))",
)


class Rank(NamedTuple):
    """One file of a set of which each rank wrote its own, by its name."""

    set: str  # equal for the files of one set: "consolidated.*.pth"
    number: int  # the rank among those that share the model's matrices, or all ranks
    replica: int | None = None  # DeepSpeed: the rank among those that share the optimizer's state


def rank_of(path: str) -> Rank | None:
    """What a file's name says of the rank that wrote it; None where it is none's."""
    if "rank" not in path and "consolidated." not in path:
        return None
    for pattern in _RANKS if len(path) < 5000 else ():
        if found := re.fullmatch(pattern, path, re.S):
            replica = found.groupdict().get("replica")
            name = f"{found['before']}*{found['after']}"
            return Rank(name, int(found["rank"]), int(replica) if replica else None)
    return None
