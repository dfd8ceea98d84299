"""A search for the inputs that cost an audit most: at most 1 MB each, at most 2 s and 150 MB beyond a usual audit.

    PYTHONPATH=fixtures python tools/worst_inputs.py FOLDER [--only WORDS] [--rounds 30] [--seed 0]

Each kind of input is a function of a few numbers. The search begins with the largest that fits, changes one number at a
time, and keeps what costs more. What it prints is the worst of each kind: processor time (user and system), memory beyond
that of the sound model's audit, the numbers, and whether a bound was met. Exits with 1 where a kind exceeds the limits.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import hostile
from hostile.hdf5_files import hdf5

MOST = 1_000_000
SECONDS, MEGABYTES = 2.0, 150
#: The command with the most memory that it used: the system's figure for a child includes the parent's own.
COMMAND = """
import os, re
really = os._exit
def leave(code):
    most = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
    os.write(2, b"\\nVmHWM " + most.encode())
    really(code)
os._exit = leave
from inspector.__main__ import main
main()
"""

Numbers = tuple[int, ...]
Make = Callable[..., Mapping[str, bytes]]


class Kind(NamedTuple):
    """Inputs of one kind: a file's name and bytes, made from numbers with these initial values."""

    make: Make
    start: Numbers


class Cost(NamedTuple):
    """The cost of one audit."""

    seconds: float
    megabytes: float
    stopped: bool  # whether one of the program's own bounds was reached

    @property
    def share(self) -> float:
        """The larger of the two shares of the limits."""
        return max(self.seconds / SECONDS, self.megabytes / MEGABYTES)


def cost_of(folder: Path) -> Cost:
    """One audit in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([sys.executable, "-c", COMMAND, "audit", "--json", folder], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    left = ran.stderr.rpartition(b"VmHWM ")[2]
    stopped = b"not-judged" in ran.stdout or b'"checkpoints"' not in ran.stdout
    return Cost(seconds, int(left) / 1000 if left.isdigit() else float("inf"), stopped)


# --- kinds ----------------------------------------------------------------------------------------


def repeated(text: str, count: int, room: int = MOST - 1_000) -> str:
    """A repeated text, with `#` for the number of the repetition, as often as requested or as fits."""
    return ",".join(text.replace("#", str(at)) for at in range(max(1, min(count, room // (len(text) + 7)))))


def configuration(kind: int, fields: int, wide: int) -> Mapping[str, bytes]:
    types = ("llama", "swin", "albert", "mixtral", "whisper", "funnel", "encodec", "segformer", "zamba2", "qwen3_next")
    inner = repeated(f'"f#": [{repeated("1", wide)}]', fields, MOST // 2)
    return {
        "config.json": f'{{"model_type": "{types[kind % len(types)]}", "layer_types": [{inner.replace(":", ",")}], {inner}}}'.encode()
    }


def nested(levels: int, copies: int) -> Mapping[str, bytes]:
    levels = max(1, min(levels, MOST // 2 // max(1, copies) - 10))
    return {"config.json": f'{{"a": [{repeated("[" * levels + "]" * levels, copies)}]}}'.encode()}


def names(count: int, parts: int, digits: int) -> Mapping[str, bytes]:
    """Tensors whose names have numbers and words in every place."""
    word = ".".join(f"{'abcdefgh'[at % 8]}#{'9' * digits}" for at in range(parts))
    entry = f'"{word}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
    return {"model.safetensors": hostile.framed(f"{{{repeated(entry, count)}}}".encode()), hostile.INDEX: b""}


def one_name(length: int, letter: int) -> Mapping[str, bytes]:
    name = ("0.", "a.0.", "_", "é", "\\u0430", "layers.1.", "%s", ".weight")[letter % 8]
    entry = f'{{"{name * (length // len(name))}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}'
    return {"model.safetensors": hostile.framed(entry.encode()[:MOST], 1), hostile.INDEX: b""}


def index(count: int, sets: int, digits: int) -> Mapping[str, bytes]:
    pairs = ",".join(
        f'"model.layers.{at}.w":"{at % max(1, sets)}-{at:0{min(9, max(5, digits))}}-of-{count:0{min(9, max(5, digits))}}.safetensors"'
        for at in range(min(count, MOST // 75))
    )
    return {hostile.INDEX: f'{{"weight_map":{{{pairs}}}}}'.encode()}


def vocabulary(count: int, length: int, kind: int) -> Mapping[str, bytes]:
    word = ("a", "\\\\", "\\u00e9", '\\"', " ")[kind % 5] * max(1, length)
    return {
        "tokenizer.json": f'{{"added_tokens": [], "model": {{"type": "BPE", "vocab": {{{repeated(f""" "{word}#": # """, count)}}}, "merges": []}}}}'.encode()
    }


def added_tokens(count: int, kind: int) -> Mapping[str, bytes]:
    entry = '"#": {"content": "<t#>", "special": true}' if kind % 2 else '"#": {"content": "\\u202e#"}'
    return {"tokenizer_config.json": f'{{"added_tokens_decoder": {{{repeated(entry, count)}}}}}'.encode()}


def template(kind: int, count: int, inner: int) -> Mapping[str, bytes]:
    pieces = (
        "{% for a# in x %}", "{{ x#", "{% if a %}{{ b }}{% elif c %}", "{% set a = a ~ a %}", "{{ a|join(b)|replace(c, d) }}",
        "{% macro m#(a) %}{{ m#(a.b) }}{% endmacro %}", "{% set ns.x = [1, 'a', ns.x] %}", "{{ (a if b else 'c') ~ (d or 'e') }}",
        "{{ ['a','b','c'][x] ~ ['d','e'][y] }}", "{{ " + "(" * 90 + "a" + ")" * 90 + " }}", "{% call m(a) %}{{ b }}{% endcall %}",
        "{% filter upper %}{{ a }}{% endfilter %}", "{{ '%s' % 'a' * 40 }}", "{{ x.y.z[0]['a'](b) }}", "{# # #}", "{{ _'   ",
    )  # fmt: skip
    piece = pieces[kind % len(pieces)]
    body = piece * max(1, min(inner, 100))
    ends = {"{% for": "{% endfor %}", "{% if": "{% endif %}"}
    tail = next((end for start, end in ends.items() if piece.startswith(start)), "")
    text = (body + tail * max(1, min(inner, 100))) * max(1, count)
    return {"chat_template.jinja": text[:199_000].encode()}


def templates(count: int, kind: int, inner: int) -> Mapping[str, bytes]:
    text = json.loads(json.dumps(template(kind, 1, inner)["chat_template.jinja"].decode()[:1_000]))
    many = [{"name": f"t{at}", "template": text} for at in range(max(1, min(count, MOST // (len(text) + 60))))]
    return {"tokenizer_config.json": json.dumps({"chat_template": many}).encode()}


def opcodes(kind: int, before: int, again: int) -> Mapping[str, bytes]:
    bodies = (
        b"N0", b"}\x94", b"]\x94", b"(", b"2\x86", b"N\x85", b"h\x00", b"(h\x00h\x00h\x00e", b"(K\x01K\x02u", b"I1\n",
        b"c__builtin__\nint\n)R", b"ccollections\nOrderedDict\n)R}b", b"\x8c\x01a\x8c\x01b\x93", b"ca\nb\n", b"N.", b"\x80\x02N.",
        b"L" + b"9" * 900 + b"L\n", b"V\\u0061\n", b"S'\\x61'\n", b"F1e300\n", b"ctorch\nSize\n((K\x01ttR",
    )  # fmt: skip
    body = bodies[kind % len(bodies)]
    start = b"\x80\x04]\x94" + b"N" * max(0, min(before, 1000))
    return {"training_args.bin": start + body * max(1, min(again, (MOST - 2_000) // len(body))) + b"."}


def calls(count: int, distinct: int) -> Mapping[str, bytes]:
    each = (b"c%s\nx%d\n)R0" % (b"ab.cd", at % max(1, distinct)) for at in range(min(count, MOST // 20)))
    return {"a.pkl": b"\x80\x02" + b"".join(each) + b"N."}


def archive(members: int, size: int, packed: int, name: int) -> Mapping[str, bytes]:
    out = BytesIO()
    names = ("a/data.pkl", "x#.pkl", "#.zip", "#/model.h5", "config#.json", "../#", "code/#.py", "#.npy")
    data = (b"N0", b"\0\0", b"{}", b"PK")[packed // 2 % 4] * (max(1, size) // 2)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if packed % 2 else zipfile.ZIP_STORED) as file:
        for at in range(max(1, members)):
            file.writestr(names[name % len(names)].replace("#", str(at)), data)
            if out.tell() + 120 * at > MOST - 10_000:
                break
    return {("model.pt", "model.keras", "model.mar", "a.npz")[name // 8 % 4]: out.getvalue()}


def overlapping(members: int, levels: int) -> Mapping[str, bytes]:
    """An archive whose members are all the same, which contains another such archive."""
    data = b"N."
    for _ in range(max(1, min(levels, 6))):
        head = (
            struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, zlib.crc32(data), len(data), len(data), 5, 0) + b"a.zip"
        )
        entry = struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, zlib.crc32(data), len(data), len(data), 5, 0, 0, 0, 0, 0, 0
        )
        count = max(1, min(members, 16_000, (MOST - 1000 - len(data)) // 52 // levels))
        listed = (entry + b"a.zip") * count
        data = (
            head
            + data
            + listed
            + struct.pack(
                "<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, len(listed), len(head) + len(data), 0
            )
        )
    return {"model.pt": data[:MOST]}


def bomb(kind: int, levels: int, size: int) -> Mapping[str, bytes]:
    data = (b"N0", b"\0\0", b"(l", b"}\x94")[kind % 4] * (max(1, min(size, 200_000_000)) // 2)
    for _ in range(max(1, min(levels, 6))):
        data = gzip.compress(data, 1)
    return {"a.pkl.gz": data[:MOST]}


def tar(members: int, kind: int) -> Mapping[str, bytes]:
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=(tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)[kind % 2]) as file:
        for at in range(max(1, min(members, MOST // 1_600))):
            made = tarfile.TarInfo(f"{'x' * (120 * (kind // 2 % 2))}{at}.pkl")
            made.size = 2
            file.addfile(made, BytesIO(b"N."))
    return {"model.nemo": out.getvalue()[:MOST]}


def onnx(kind: int, depth: int, count: int) -> Mapping[str, bytes]:
    field = hostile.programs.field
    body = (
        b"\x08\x08",
        field(5, field(13, field(1, b"location") + field(2, b"../x"))),
        field(1, field(4, b"If")),
        b"\x0a\0",
    )[kind % 4]
    inner = body * max(1, min(count, MOST // 2 // len(body)))
    for _ in range(max(0, min(depth, 60))):
        inner = field(1, field(5, field(6, inner)))
    return {"model.onnx": (b"\x08\x08" + field(7, inner))[:MOST]}


def saved_model(count: int, library: int) -> Mapping[str, bytes]:
    return {
        "saved_model.pb": hostile.programs.saved_model(*["Op"] * min(count, MOST // 20), library=bool(library % 2))[
            :MOST
        ]
    }


def hdf5_file(attributes: int, size: int, links: int) -> Mapping[str, bytes]:
    text = (b'{"class_name":"Dense","module":"keras.layers","config":{}}' * 1_000)[: max(1, min(size, 60_000))]
    count = max(0, min(attributes, (MOST - 50_000) // (len(text) + 60)))
    made = hdf5(
        {f"a{at}": text for at in range(count)},
        {f"l{at}": "../x.h5" for at in range(max(0, min(links, 15_000 if not count else 500)))},
    )
    return {"model.h5": made[:MOST]}


def gguf(pairs: int, tensors: int, kind: int) -> Mapping[str, bytes]:
    key = ("general.k", "llama.block_count", "tokenizer.chat_template.", "x" * 60)[kind % 4]
    values = {f"{key}{at}": ("a", 1, ["b"] * 3, 1.5)[kind // 4 % 4] for at in range(min(pairs, MOST // 100))}
    infos = {
        f"blk.{at}.{'attn_q' if kind % 2 else 'x' + str(at)}.weight": [1] for at in range(min(tensors, MOST // 80))
    }
    return {"model.gguf": hostile.gguf({"general.architecture": "llama", **values}, infos)[:MOST]}


def array(kind: int, count: int) -> Mapping[str, bytes]:
    head = (
        "{'descr': [" + "('a#', '<f4'), " * min(count, 4000) + "], 'shape': (1,)}",
        "(" * min(count, 60_000),
        "'descr':" * min(count, 8_000),
    )[kind % 3]
    return {
        "a.npy": b"\x93NUMPY\1\0" + struct.pack("<H", min(65_535, len(head))) + head.encode()[:65_535] + b"N0" * 400_000
    }


def text(kind: int, count: int) -> Mapping[str, bytes]:
    kinds = (
        ("README.md", "---\n" + "a: [" * 10), ("a.yaml", "_target_: "), ("a.yaml", "!!python/"), ("modules.json", '{"type": "a", '),
        ("SHA256SUMS", "0" * 64 + "  a\n"), ("Modelfile", "FROM "), (".gitmodules", "url = "), ("merges.txt", "a b\n"), ("a.xml", "<!ENTITY "),
        ("params.json", '{"dim": '), ("model_index.json", '{"a": ["b", "c"], '), ("conf.json", '"_target_" :'), ("vocab.txt", "\n"),
    )  # fmt: skip
    name, piece = kinds[kind % len(kinds)]
    return {name: (piece * max(1, min(count, MOST // len(piece))))[:MOST].encode()}


KINDS: Mapping[str, Kind] = {
    "configurations": Kind(configuration, (0, 1000, 100)),
    "nested JSON": Kind(nested, (100, 2000)),
    "names": Kind(names, (20_000, 4, 1)),
    "one name": Kind(one_name, (900_000, 0)),
    "indexes": Kind(index, (12_000, 1, 5)),
    "vocabularies": Kind(vocabulary, (60_000, 1, 0)),
    "added tokens": Kind(added_tokens, (20_000, 0)),
    "templates": Kind(template, (0, 2_000, 1)),
    "many templates": Kind(templates, (10_000, 0, 1)),
    "pickles": Kind(opcodes, (0, 0, 500_000)),
    "pickles' calls": Kind(calls, (50_000, 50_000)),
    "archives": Kind(archive, (8_000, 2, 0, 0)),
    "overlapping archives": Kind(overlapping, (8_000, 2)),
    "bombs": Kind(bomb, (0, 1, 50_000_000)),
    "tar archives": Kind(tar, (900, 0)),
    "ONNX": Kind(onnx, (0, 0, 500_000)),
    "SavedModel": Kind(saved_model, (50_000, 0)),
    "HDF5": Kind(hdf5_file, (15, 60_000, 10)),
    "GGUF": Kind(gguf, (5_000, 5_000, 0)),
    "NumPy": Kind(array, (0, 4_000)),
    "texts": Kind(text, (0, 100_000)),
}


# --- the search -----------------------------------------------------------------------------------


def changed(numbers: Numbers, chance: random.Random) -> Numbers:
    """The numbers with one of them changed: by one, doubled, halved, or any small one."""
    at = chance.randrange(len(numbers))
    value = numbers[at]
    new = chance.choice((value + 1, value * 2, value // 2, max(0, value - 1), chance.randrange(40), value * 10))
    return (*numbers[:at], new, *numbers[at + 1 :])


def tried(kind: Kind, numbers: Numbers, folder: Path, base: float) -> Cost:
    shutil.rmtree(folder, ignore_errors=True)
    files = hostile.sound()
    for name, content in kind.make(*numbers).items():
        if content:
            files[name] = content
        else:
            files.pop(name, None)
    if "model.safetensors" in files or "model.gguf" in files:
        files.pop(hostile.FIRST, None)
        files.pop(hostile.SECOND, None)
        files.pop(hostile.INDEX, None)
    hostile.write(files, folder)
    cost = cost_of(folder)
    return cost._replace(megabytes=cost.megabytes - base)


def worst(kind: Kind, rounds: int, chance: random.Random, folder: Path, base: float) -> tuple[Numbers, Cost]:
    numbers = kind.start
    found = tried(kind, numbers, folder, base)
    for _ in range(rounds):
        new = changed(numbers, chance)
        cost = tried(kind, new, folder, base)
        if cost.share > found.share:
            numbers, found = new, cost
    return numbers, found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = options.folder / "model"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder)
    usual = cost_of(hostile.write(hostile.sound(), folder))
    print(f"{'a usual audit':22} {usual.seconds:5.2f} s {usual.megabytes:6.0f} MB")
    exceeded = False
    for name, kind in KINDS.items():
        if options.only in name:
            numbers, cost = worst(kind, options.rounds, random.Random(options.seed), folder, usual.megabytes)
            over = cost.seconds > SECONDS or cost.megabytes > MEGABYTES
            exceeded |= over
            mark = "EXCEEDED" if over else "bounded" if cost.stopped else ""
            print(f"{name:22} {cost.seconds:5.2f} s {cost.megabytes:6.0f} MB  {numbers!s:30} {mark}", flush=True)
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
