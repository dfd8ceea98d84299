"""Pickles are judged by what an unpickler would resolve: we find what other scanners find, and hiding does not help."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
import random
import sys
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
from every import every
from hostile.files import archive, tape
from hostile.opcodes import HIDDEN, called, named
from picklescan.scanner import _unsafe_globals
from unpickling import imported, known_as

from inspector.auditing.readers import archives, pickles
from inspector.auditing.readers.archives import Piece
from inspector.auditing.readers.pickles import Budgets, PickleVerdict, judge
from inspector.auditing.run import audit
from inspector.formats.pytorch.machine import Budget, Stream
from inspector.formats.pytorch.program import programs


def judged(data: bytes, *, likely: bool = True) -> PickleVerdict:
    return judge(Piece("", lambda start, length: data[start : start + length], len(data)), Budgets(), likely=likely)


@every("how", sorted(HIDDEN))
def test_hidden_calls_are_found(how: str) -> None:
    """However a call is hidden, there is an error."""
    assert judged(HIDDEN[how]).dangerous


def test_a_pickle_beyond_the_bound_is_unread_and_not_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle with more opcodes than are read, or that unpacks to more; one that is cut off is damaged."""
    numbers = pickle.dumps(list(range(5_000)))
    monkeypatch.setattr(pickles, "MAX_OPCODES", 1_000)
    long = judged(numbers)
    assert (long.unread, [each.partition(" (")[0] for each in long.cut]) == ((), ["too many opcodes"])
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MAX_UNPACKED", 2_000)
    packed = judged(gzip.compress(numbers))
    assert packed.unread == ()
    assert packed.cut[0].startswith("unpacked: ")
    assert [each.why for each in packed.unopened] == [archives.TOO_LARGE]
    assert judged(numbers[:-10]).unread


def test_the_highest_preset_of_xz_is_read() -> None:
    """Its dictionary is 64 MiB: word lists are packed so."""
    found = judged(lzma.compress(pickle.dumps({"a": 1}), preset=9))
    assert (found.pickles, found.unopened) == (1, ())


#: Modules in which fickling 0.1.12 calls any name unsafe.
FICKLING = [
    "os",
    "posix",
    "nt",
    "subprocess",
    "sys",
    "pty",
    "commands",
    "multiprocessing",
    "_posixsubprocess",
    "code",
    "codeop",
    "runpy",
    "marshal",
    "types",
    "doctest",
    "importlib",
    "_frozen_importlib",
    "_imp",
    "pkgutil",
    "zipimport",
    "gc",
    "site",
    "unittest",
    "inspect",
    "test",
    "_operator",
    "operator",
    "functools",
    "cProfile",
    "profile",
    "pdb",
    "bdb",
    "timeit",
    "trace",
    "socket",
    "ssl",
    "httplib",
    "http",
    "urllib",
    "urllib2",
    "requests",
    "aiohttp",
    "asyncio",
    "webbrowser",
    "smtplib",
    "imaplib",
    "ftplib",
    "poplib",
    "telnetlib",
    "nntplib",
    "ctypes",
    "_ctypes",
    "pickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shutil",
    "tempfile",
    "filecmp",
    "distutils",
    "pydoc",
    "pexpect",
    "venv",
    "ensurepip",
    "pip",
    "idlelib",
    "lib2to3",
    "socketserver",
    "xmlrpc",
    "signal",
    "_signal",
    "threading",
    "_thread",
    "atexit",
    "sqlite3",
    "_sqlite3",
    "fileinput",
    "glob",
    "platform",
    "linecache",
    "difflib",
    "compileall",
    "py_compile",
    "mmap",
    "select",
    "selectors",
    "logging",
    "syslog",
    "tarfile",
    "zipfile",
    "shelve",
    "uuid",
    "_osx_support",
    "_aix_support",
    "torch.hub",
    "torch._dynamo",
    "torch._inductor",
    "torch.jit",
    "numpy.f2py",
    "numpy.distutils",
]
NAMED = [
    (module, name)
    for module, names in sorted(_unsafe_globals.items())
    for name in sorted(names if names != "*" else "x")
]
NAMED += [(module, "anything") for module in FICKLING]
NAMED += [("builtins", name) for name in ("eval", "exec", "compile", "open", "getattr", "__import__", "map", "type")]
NAMED += [
    ("torch", "load"),
    ("torch", "compile"),
    ("io", "open"),
    ("_io", "FileIO"),
    ("numpy.testing._private.utils", "runstring"),
]
NAMED += [("torch.storage", "_load_from_bytes"), ("torch.utils._config_module", "ConfigModule"), ("numpy", "load")]


@every(("module", "name"), NAMED, parts=3)
def test_each_name_that_picklescan_or_fickling_lists_is_dangerous(module: str, name: str) -> None:
    """Each name in the lists of picklescan and fickling, in an old and a new protocol."""
    assert judged(f"c{module}\n{name}\n(tR.".encode()).dangerous
    assert judged(called(named(module, name))).dangerous


@every("module", sorted(sys.stdlib_module_names - {"this", "antigravity"}), parts=3)
def test_no_module_of_pythons_is_passed_over(module: str) -> None:
    """A call of a function in any module of Python's standard library is reported."""
    found = judged(called(named(module, "do")))
    assert found.dangerous or found.unusual


WRAPPED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda data: archive({"archive/data.pkl": data}),
    "zip, named otherwise": lambda data: archive({"notes.txt": data}),
    "zip in zip": lambda data: archive({"a.zip": archive({"data.pkl": data})}),
    "zip in tar in gzip": lambda data: gzip.compress(tape({"a": archive({"data.pkl": data})})),
    "tar in zip": lambda data: archive({"model.tar": tape({"pickle": data})}),
    "zip after other bytes": lambda data: b"any bytes" + archive({"data.pkl": data}),
    "NumPy in zip": lambda data: archive({"a.npy": b"\x93NUMPY\x01\0\x10\0{'descr': '|O'} " + data}),
}


@every("how", sorted(WRAPPED))
def test_archives_are_opened(how: str) -> None:
    """However it is packed, the content is judged; harmless content passes in the same packing."""
    assert judged(WRAPPED[how](HIDDEN["protocol 0"])).dangerous == ("posix.system",)
    harmless = judged(WRAPPED[how](pickle.dumps(OrderedDict(a=1), protocol=2)))
    assert (harmless.dangerous, harmless.unusual, harmless.unread, harmless.unopened) == ((), (), (), ())


def test_checksums_and_flags_do_not_hide_a_member() -> None:
    """A wrong checksum, an encryption flag, another name in the local header: some loaders read it all the same."""
    raw = archive({"data.pkl": HIDDEN["protocol 2"]})
    central = raw.index(b"PK\1\2")
    for at, value in ((14, b"\0\0\0\0"), (6, b"\1\0"), (30, b"x"), (central + 8, b"\1\0"), (central + 16, b"\0\0\0\0")):
        assert judged(raw[:at] + value + raw[at + len(value) :]).dangerous == ("posix.system",)


@pytest.mark.parametrize("protocol", range(6))
def test_values_of_pythons_own_are_not_a_finding(protocol: int) -> None:
    """Containers, numbers and texts of every kind, in every protocol."""
    value = {
        "list": [1, -1, 2**31, 2**100, 1.5, True, None],
        "text": ["größe", "x" * 300, b"bytes", bytearray(b"x"), b"y" * 70_000, "z" * 70_000],
        "sets": [{1, 2}, frozenset((3,))],
        "dictionaries": [OrderedDict(a=1), defaultdict(list, a=[1]), {(1, 2): 3 + 4j}],
    }
    found = judged(pickle.dumps(value, protocol=protocol))
    assert (found.dangerous, found.unusual, found.unread) == ((), (), ())


BOMBS: dict[str, bytes | None] = {
    "a million opcodes": b"N0" * 499_000 + b"N.",
    "a million lists": b"]" * 990_000 + b".",
    "lists within each other": b"]" * 400_000 + b"a" * 399_999 + b".",
    "tuples doubled": b"\x80\x04)" + b"2\x86" * 400_000 + b".",
    "a memo doubled": b"\x80\x04]\x94" + b"h\x00h\x00\x86\x94" * 100_000 + b".",
    "a dictionary doubled": b"\x80\x04}\x94" + b"h\x00h\x00h\x00s" * 100_000 + b".",
    "a length of 2**63": b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f" + bytes(100),
    "a length below zero": b"\x80\x02T\xff\xff\xff\xff" + bytes(100),
    "a number of a million digits": b"I" + b"9" * 900_000 + b"\n.",
    "a number of a megabyte": b"\x80\x02\x8b" + (900_000).to_bytes(4, "little") + b"\x7f" * 900_000 + b".",
    "a line without end": b"c" + b"a" * 900_000,
    "marks": b"(" * 990_000,
    "names": b"".join(b"cm%d\nn\n0" % number for number in range(80_000)) + b"N.",
    "nothing": b"",
    "a quarter of a gigabyte of zeros": None,  # compressed only where requested
}


#: Of these, unmarked data that is not a complete pickle, as any numbers may be.
NO_PICKLES = {"nothing", "marks"}
#: Of these, data beyond the limit, or that ends too early.
UNREAD = {
    *("a length of 2**63", "a length below zero", "names", "a quarter of a gigabyte of zeros"),
    *("a line without end", "a number of a million digits"),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
@pytest.mark.gate
def test_bombs_end(name: str) -> None:
    """Pickles that exhaust an unpickler's time or memory do not exhaust ours; unread parts are reported."""
    data = BOMBS[name]
    found = judged(gzip.compress(b"\x80\x04" + bytes(1 << 28)) if data is None else data)
    assert bool(found.pickles) == (name not in NO_PICKLES)
    assert bool(found.unread) == (name in UNREAD)


UNFOLDING = {
    "lists, each twice in the next": b"\x80\2]" + b"".join(b"q%c](h%ch%ce" % (at, at, at) for at in range(30)) + b".",
    "tuples doubled": b"\x80\2K\1" + b"2\x86" * 60 + b".",
    "a list in itself": b"\x80\2]q\0" + b"h\0a" * 100 + b".",
}


@pytest.mark.parametrize("name", sorted(UNFOLDING))
def test_a_program_that_unfolds_without_end_is_odd(name: str) -> None:
    """Small programs whose values fill any memory as soon as they are printed or compared."""
    assert judged(UNFOLDING[name]).odd


def test_a_shared_or_cyclic_list_is_not_odd() -> None:
    """A list that is shared, or contains itself, is not a finding; values left on the stack are."""
    shared: list[object] = [1, 2]
    within: list[object] = []
    within.append(within)
    assert not any(judged(pickle.dumps(each, protocol=2)).odd for each in ([shared] * 5_000, within))
    assert judged(b"\x80\2NNN.").odd == ("it leaves 2 values behind",)


def test_text_is_not_a_pickle(tmp_path: Path) -> None:
    """Documents whose first letters are opcodes are not treated as programs."""
    texts = [
        "config\nfile\n",
        "(in brackets)\nand\n",
        "import os\nprint()\n",
        "N.\n",
        "I1\n.",
        "MIT License\n\nx",
        "]",
        "cos\n",
    ]
    files: hostile.Files = {f"{number}.txt": text.encode() for number, text in enumerate(texts)}
    folder = hostile.make(lambda made: made.update(files), tmp_path)
    assert [each.rule for model in audit([folder]).checkpoints for each in model.findings] == []


@every("protocol", range(6))
@every("kind", ["u4", "i8", "f4", "b1", "c16", "S3", "U5", "M8[ns]"])
def test_arrays_of_numbers_are_not_a_finding(kind: str, protocol: int) -> None:
    """NumPy's random state, as every trainer keeps it, and arrays of each kind of numbers."""
    import numpy as np

    data = pickle.dumps([np.zeros(3, np.dtype(kind)), np.random.RandomState(0).get_state()], protocol=protocol)
    found = judged(data)
    assert (found.dangerous, found.unusual, found.unread) == ((), (), ())


@every("seed", range(8))
def test_python_imports_nothing_that_is_not_reached(seed: int) -> None:
    """Of mutated pickles: what Python's unpickler would import is reported, or the program is damaged."""
    chance = random.Random(seed)
    pickles = [each for each in HIDDEN.values() if len(each) < 1_000]
    reported = 0
    for _ in range(400):
        data = bytearray(chance.choice(pickles))
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((*b"(.0120RbcioqrhjtX\x81\x85\x86\x93\x94", 0x8C, 0))
        program = programs(Stream.of(bytes(data)), Budget(10_000), most=1)[0]
        own = {(each.module, each.name) for each in program.reached}
        if program.damage is None and all(module for module, _ in own):
            names = imported(bytes(data))
            reported += bool(names)
            assert all(known_as(name, own) for name in names), (data, names, own)
    assert reported > 20  # otherwise nothing was compared
