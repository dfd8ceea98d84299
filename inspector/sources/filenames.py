"""The one grammar of weight files' names: what is a weight file, and which shard of which set.

    shard_of("model-00001-of-00002.safetensors")  →  Shard(stem="model", number=1, total=2, …)
    type_of("Llama-3-8B-Q4_K_M.gguf")             →  "Q4_K_M"

Numbers count from 1, as Transformers and llama.cpp write them, or from 0, as some converters do; they have five
digits or more, between dashes, dots or underscores (`model_00000-of-000157`).
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Literal

from inspector.tabular import NamedTuple

WEIGHTS = (".safetensors", ".gguf")
#: PyTorch's own, which are pickles, and its exported programs: used if a place has no others. Its examples name what
#: they save `.pth.tar`.
PICKLED = (".bin", ".pth", ".pt", ".ckpt", ".pth.tar", ".pt2")
#: Python's own, which is PyTorch's file if it begins as one.
PICKLE = ".pkl"
#: Other frameworks': used if a place has none of the above.
OTHERS = (".npz", ".msgpack", ".h5", ".hdf5", ".keras")
#: Those read by a C library.
HDF5 = OTHERS[2:]
#: `torch.distributed.checkpoint`'s name for its list of tensors, and the suffix of the ranks' files.
COLLECTIVE, COLLECTED = ".metadata", ".distcp"
#: Suffix of an index, which maps each tensor to its shard.
INDEX = ".safetensors.index.json"
PICKLED_INDEX = ".bin.index.json"

#: Format → suffixes of its files.
ENDS = {
    "safetensors": WEIGHTS[:1],
    "gguf": WEIGHTS[1:],
    "pytorch": (*PICKLED, COLLECTED, ".pkl", ".ptl", ".tar", ".model", ".th"),
    "numpy": (".npz", ".npy"),
    "flax": (".msgpack",),
    "hdf5": HDF5,
}

#: A quantization or dtype as one word in the name of a file or folder.
TYPE = re.compile(
    r"(?:^|(?<=[-._/]))((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|MXFP4(?:_MOE)?|NVFP4|BF16|F16|F32|FP16|FP32|FP8|INT8|INT4))"
    r"(?=$|[-._/])",
    re.IGNORECASE,
)
#: Words for the same type.
_SAME = {"FP16": "F16", "FP32": "F32"}

# No checkpoint has a billion shards: longer numbers are part of a name.
_SHARD = r"(?s)(?P<stem>.*?)[-_.](?P<number>\d{5,9})[-_]of[-_](?P<total>\d{5,9})(?P<suffix>\.[A-Za-z]\w*)"


class Shard(NamedTuple):
    """One file of a set, by its name."""

    stem: str  # everything before the number, folders included: "weights/model"
    number: int  # as written: most sets count from 1
    total: int
    suffix: str  # ".safetensors"
    before: str  # the name up to the number's first digit
    digits: int  # number of digits as written
    after: str  # the rest of the name after the number

    def sibling(self, number: int) -> str:
        """The path of another shard of the set."""
        return f"{self.before}{number:0{self.digits}}{self.after}"

    def start(self, files: Container[str]) -> int:
        """The first number of the set: 0 if `files` has a shard of that number, else 1."""
        return 0 if self.number == 0 or self.sibling(0) in files else 1

    def is_complete(self, files: Container[str]) -> bool:
        """Whether every shard of the set is among `files`. Stops at the first absent one."""
        start = self.start(files)
        return all(self.sibling(number) in files for number in range(start, start + self.total))


def shard_of(path: str) -> Shard | None:
    """A file's position in a set, by its name; None if it is not part of a set.

    `path` may have folders, with "/". A number may have more digits than its total, as in real sets.
    """
    # Overlong names are skipped: only a hostile file has them, and the pattern would search from every position.
    found = re.fullmatch(_SHARD, path) if len(path) < 5000 and "of" in path else None
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


def numbered(name: str, number: int, total: int) -> str:
    """The name of a file in a set, as Transformers and llama.cpp write it; the name itself if the file is alone."""
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    return f"{stem}-{number:05}-of-{total:05}{dot}{suffix}" if total > 1 else name


def type_of(name: str) -> str | None:
    """The quantization or dtype in the name of a file or folder, the last if there are several."""
    types = TYPE.findall(name)
    return _SAME.get(types[-1].upper(), types[-1].upper()) if types else None


Format = Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
_FORMATS: dict[str, Format] = {
    ".gguf": "gguf",
    ".npz": "numpy",
    ".msgpack": "flax",
    **dict.fromkeys((*PICKLED, ".tar", COLLECTED), "pytorch"),
    **dict.fromkeys(HDF5, "hdf5"),
}


def format_of(path: str) -> Format:
    """The format of a weight file by its suffix, with or without a stem."""
    return _FORMATS.get(f".{path.rpartition('.')[2]}", "safetensors")


#: Names of files written by one rank of a run: Meta's, DeepSpeed's, Megatron's, and any with a rank. Compiled when a
#: name may match.
_RANKS = (
    r"(?P<before>(?:.*/)?consolidated\.)(?P<rank>\d\d)(?P<after>\.pth)",
    r"(?P<before>(?:.*/)?)(?:bf16_|fp16_)?(?:zero_pp_rank_(?P<replica>\d{1,5})_)?mp_rank_(?P<rank>\d{2,5})"
    r"(?P<kind>_model|_optim)(?P<after>_states\.pt)",
    r"(?P<before>(?:.*/)?mp_rank_)(?P<rank>\d\d)(?P<after>/model_(?:optim_)?rng\.pt)",
    r"(?P<before>.*rank[-_]?)(?P<rank>\d{1,5})(?P<after>\.(?:bin|pt|pth|ckpt))",
)


class Rank(NamedTuple):
    """One file of a set in which each rank wrote its own, by its name."""

    set: str  # equal for the files of one set: "consolidated.*.pth"
    number: int  # the rank among those that split the model's matrices, or among all ranks
    replica: int | None = None  # DeepSpeed: the rank among those that split the optimizer's state


def rank_of(path: str) -> Rank | None:
    """The rank that wrote a file, by its name; None if no rank did."""
    if "rank" not in path and "consolidated." not in path:
        return None
    for pattern in _RANKS if len(path) < 5000 else ():
        if found := re.fullmatch(pattern, path, re.S):
            replica = found.groupdict().get("replica")
            name = f"{found['before']}*{found['after']}"
            return Rank(name, int(found["rank"]), int(replica) if replica else None)
    return None
