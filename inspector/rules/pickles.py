"""What a pickle imports, read from its opcodes: nothing in it is run.

A pickle is a program. `GLOBAL`, `INST` and `STACK_GLOBAL` name what it imports, `REDUCE` calls it. The
names are what a scanner can know without running the program; a memo is followed, arithmetic is not.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from inspector.rules.subject import Subject

#: Bytes of opcodes that are read of one pickle: imports come early, tensor data lies elsewhere.
MAX_PICKLE = 8 * 1024 * 1024
MAX_OPCODES = 2_000_000
MAX_MEMBERS = 10_000
MAX_IMPORTS = 1_000

#: Modules, and names of them, that a checkpoint has no use for: calling one runs a program of the author's choice.
DANGEROUS: frozenset[str] = frozenset(
    """
    os posix nt subprocess sys pty commands popen2 socket ssl requests urllib http httpx aiohttp asyncio
    webbrowser runpy importlib imp pkgutil code codeop ctypes shutil tempfile platform marshal types pickle
    _pickle dill cloudpickle multiprocessing threading signal pydoc pdb bdb timeit profile cProfile trace
    smtplib ftplib telnetlib poplib imaplib nntplib builtins.eval builtins.exec builtins.compile
    builtins.open builtins.getattr builtins.setattr builtins.__import__ builtins.globals builtins.locals
    builtins.vars builtins.breakpoint builtins.input builtins.apply builtins.delattr builtins.execfile
    builtins.file operator.attrgetter operator.itemgetter operator.methodcaller functools.partial
    torch.hub torch.jit torch.utils.cpp_extension torch.storage._load_from_bytes torch.load
    numpy.testing._private numpy.f2py numpy.load numpy.fromfile
    """.split()  # noqa: SIM905  a list of words reads better without a hundred quotes
)
#: What PyTorch's and NumPy's own writers import.
HARMLESS: frozenset[str] = frozenset(
    """
    collections.OrderedDict collections.defaultdict torch._utils torch.nn.parameter.Parameter torch.Size
    torch.device torch.dtype torch.Tensor torch.FloatStorage torch.HalfStorage torch.BFloat16Storage
    torch.DoubleStorage torch.LongStorage torch.IntStorage torch.ShortStorage torch.CharStorage
    torch.ByteStorage torch.BoolStorage torch.storage.UntypedStorage torch.storage.TypedStorage
    torch.float16 torch.bfloat16 torch.float32 torch.float64 torch.int8 torch.int32 torch.int64
    numpy.core.multiarray numpy._core.multiarray numpy.ndarray numpy.dtype numpy.core.numeric
    builtins.set builtins.frozenset builtins.list builtins.dict builtins.tuple builtins.int builtins.float
    builtins.complex builtins.bytearray builtins.slice builtins.range builtins.object builtins.str
    _codecs.encode copyreg._reconstructor argparse.Namespace
    """.split()  # noqa: SIM905  a list of words reads better without a hundred quotes
)
_PYTHON_2 = {"__builtin__": "builtins", "__builtins__": "builtins", "copy_reg": "copyreg"}


@dataclass(frozen=True, slots=True)
class Imports:
    """What a pickle asks for."""

    names: tuple[str, ...]  # "module.name", each once, in order
    complete: bool  # whether all opcodes were read

    @property
    def dangerous(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if _listed(name, DANGEROUS))

    @property
    def unusual(self) -> tuple[str, ...]:
        """Neither known as harmless nor as dangerous."""
        return tuple(name for name in self.names if not _listed(name, DANGEROUS) and not _listed(name, HARMLESS))


def _listed(name: str, table: frozenset[str]) -> bool:
    """Whether a dotted name, or a package that it is in, is in the table."""
    words = name.split(".")
    return any(".".join(words[:length]) in table for length in range(1, len(words) + 1))


def imports_of(subject: Subject, path: str) -> Imports | None:
    """What the pickles in a file import; None where there is no pickle in it."""
    start = subject.head(path, 4)
    if start == b"PK\x03\x04":
        return _of_archive(subject, path)
    if start[:1] not in (b"\x80", b"(", b"c", b"}", b"]"):
        return None
    found = imports(subject.head(path, MAX_PICKLE))
    # Before protocol 2 a pickle has no mark of its own: text or numbers may begin like one.
    return found if start[:1] == b"\x80" or found.names or found.complete else None


def _of_archive(subject: Subject, path: str) -> Imports | None:
    """Pickles within a ZIP archive, as PyTorch writes them: `*.pkl`, and whatever else begins as one."""
    names: dict[str, None] = {}
    complete, found = True, False
    try:
        with zipfile.ZipFile(_Reader(subject, path)) as archive:
            for member in archive.infolist()[:MAX_MEMBERS]:
                if not member.filename.endswith((".pkl", ".pickle", ".debug_pkl")):
                    continue
                with archive.open(member) as stream:
                    inner = imports(stream.read(MAX_PICKLE))
                found = True
                names.update(dict.fromkeys(inner.names))
                complete &= inner.complete
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
        return Imports(tuple(names), complete=False)
    return Imports(tuple(names), complete) if found else None


class _Reader(BytesIO):
    """A file of a subject as `zipfile` wants it: read in place, never whole."""

    def __init__(self, subject: Subject, path: str) -> None:
        super().__init__()
        self._subject, self._path = subject, path
        self._size, self._at = subject.place.files.get(path, 0), 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._at)
        data = self._subject.span(self._path, self._at, left if size is None or size < 0 else min(size, left))
        self._at += len(data)
        return data


def imports(data: bytes) -> Imports:
    """What a pickle's opcodes import, from its bytes."""
    names: dict[str, None] = {}
    try:
        for name in _imported(data):
            names[name] = None
            if len(names) > MAX_IMPORTS:
                return Imports(tuple(names), complete=False)
    except (ValueError, IndexError, KeyError, OverflowError, MemoryError, UnicodeError, AttributeError):
        return Imports(tuple(names), complete=False)
    return Imports(tuple(names), complete=True)


def _imported(data: bytes) -> Iterator[str]:
    """Each import. PyTorch's old format is several pickles, one after the other, and then raw data."""
    stream = BytesIO(data)
    machine = _Machine()
    while True:
        for opcode, argument, _ in pickletools.genops(stream):
            name = machine.step(opcode.name, argument)
            if name:
                yield name
        if data[stream.tell() : stream.tell() + 1] != b"\x80":
            return


class _Machine:
    """As much of the pickle machine as is needed to know what `STACK_GLOBAL` finds on the stack: texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []  # the last ones pushed
        self.memo: dict[int, str] = {}
        self.memoized = 0  # `MEMOIZE` counts everything that is kept, texts or not
        self.steps = 0

    def step(self, opcode: str, argument: object) -> str | None:
        """Take one opcode; what it imports. Raises ValueError after more opcodes than are read."""
        self.steps += 1
        if self.steps > MAX_OPCODES:
            raise ValueError("more opcodes than are read")
        if opcode in ("GLOBAL", "INST"):
            return _dotted(*str(argument).split(" ", 1))
        if opcode == "STACK_GLOBAL":
            return _dotted(*self.texts[-2:]) if len(self.texts) >= 2 else "an unknown name"
        if isinstance(argument, str):
            self._push(argument)
        elif opcode == "MEMOIZE":
            self._keep(self.memoized)
        elif isinstance(argument, int) and opcode.endswith("PUT"):
            self._keep(argument)
        elif isinstance(argument, int) and opcode.endswith("GET") and argument in self.memo:
            self._push(self.memo[argument])
        return None

    def _push(self, text: str) -> None:
        self.texts = [*self.texts[-3:], text]

    def _keep(self, number: int) -> None:
        self.memoized += 1
        if self.texts:
            self.memo[number] = self.texts[-1]


def _dotted(module: str, name: str = "") -> str:
    return f"{_PYTHON_2.get(module, module)}.{name}"
