"""What a pickle imports, read from its opcodes: nothing in it is run.

A pickle is a program. `GLOBAL`, `INST` and `STACK_GLOBAL` name what it imports, `REDUCE` calls it. The
names are what a scanner can know without running the program; a memo is followed, arithmetic is not.
"""

from __future__ import annotations

import logging
import pickletools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO

from inspector.auditing.rules.archives import pickles_in
from inspector.auditing.rules.subject import Subject

MAX_OPCODES = 400_000
#: Opcodes that are read of all of a model's pickles together.
MAX_ALL_OPCODES = 1_000_000
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
    doctest _aix_support _osx_support _pyrepl idlelib lib2to3 ensurepip distutils setuptools pkg_resources pip
    logging.config cgitb linecache compileall zipimport zipfile tarfile mmap fileinput site venv test
    uuid._get_command_stdout functools.reduce io.open io.FileIO _io.open _io.FileIO codecs.open
    _operator.attrgetter _operator.itemgetter _operator.methodcaller joblib.numpy_pickle.load pandas.io.pickle
    pandas.read_pickle torch._inductor torch._dynamo torch.fx torch.package torch.utils.bottleneck
    torch.utils.collect_env torch.utils.data.datapipes torch.serialization.load numpy.lib.npyio
    torch.hub torch.jit torch.utils.cpp_extension torch.storage._load_from_bytes torch.load
    numpy.testing._private numpy.f2py numpy.load numpy.fromfile
    """.split()  # noqa: SIM905  a list of words reads better without a hundred quotes
)
#: What PyTorch's and NumPy's own writers import, and what Transformers' trainer leaves.
HARMLESS: frozenset[str] = frozenset(
    """
    collections.OrderedDict collections.defaultdict torch._utils torch.nn.parameter.Parameter torch.Size
    torch.device torch.dtype torch.Tensor torch.FloatStorage torch.HalfStorage torch.BFloat16Storage
    torch.DoubleStorage torch.LongStorage torch.IntStorage torch.ShortStorage torch.CharStorage
    torch.ByteStorage torch.BoolStorage torch.storage.UntypedStorage torch.storage.TypedStorage
    torch.float16 torch.bfloat16 torch.float32 torch.float64 torch.int8 torch.int32 torch.int64
    numpy.core.multiarray numpy._core.multiarray numpy.ndarray numpy.dtype numpy.core.numeric
    builtins.set builtins.frozenset builtins.list builtins.dict builtins.tuple builtins.int builtins.float
    transformers.training_args transformers.trainer_utils transformers.trainer_pt_utils
    transformers.training_args_seq2seq accelerate.state accelerate.utils.dataclasses
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
    scanned: tuple[str, ...] = ()  # those that another scanner calls dangerous

    @property
    def dangerous(self) -> tuple[str, ...]:
        own = (name for name in self.names if _listed(name, DANGEROUS))
        return tuple(dict.fromkeys((*own, *self.scanned)))

    @property
    def unusual(self) -> tuple[str, ...]:
        """Neither known as harmless nor as dangerous."""
        return tuple(name for name in self.names if not _listed(name, DANGEROUS) and not _listed(name, HARMLESS))


def _listed(name: str, table: frozenset[str]) -> bool:
    """Whether a dotted name, or a package that it is in, is in the table."""
    words = name.split(".")
    return any(".".join(words[:length]) in table for length in range(1, len(words) + 1))


class Budget:
    """Opcodes that may still be read."""

    def __init__(self, opcodes: int = MAX_ALL_OPCODES) -> None:
        self.opcodes = opcodes


def imports_of(subject: Subject, path: str, budget: Budget) -> Imports | None:
    """What the pickles in a file import; None where there is no pickle in it.

    With `picklescan` installed, what it calls dangerous is so, whatever the tables here say.
    """
    stored = pickles_in(subject, path)
    if stored is None or (not stored.pickles and stored.complete):
        return None
    each = [imports(data, budget) for data in stored.pickles]
    names = dict.fromkeys(name for one in each for name in one.names)
    together = Imports(tuple(names), stored.complete and all(one.complete for one in each))
    # Text or numbers may begin as a pickle without a mark does.
    if not stored.certain and not (together.names or together.complete):
        return None
    return replace(together, scanned=_scanned(stored.pickles)) if together.complete else together


def _scanned(pickles: Iterable[bytes]) -> tuple[str, ...]:
    """Imports that `picklescan` calls dangerous; nothing where it is not installed."""
    try:
        from picklescan.scanner import SafetyLevel, scan_pickle_bytes
    except ImportError:
        return ()
    logging.getLogger("picklescan").setLevel(logging.CRITICAL)  # what it finds is told here, and once
    found: list[str] = []
    for data in pickles:
        with suppress(ValueError):  # a damaged pickle: what the tables here say of it stands
            scanned = scan_pickle_bytes(BytesIO(data), "").globals
            found += [f"{each.module}.{each.name}" for each in scanned if each.safety == SafetyLevel.Dangerous]
    return tuple(found)


def imports(data: bytes, budget: Budget | None = None) -> Imports:
    """What a pickle's opcodes import, from its bytes."""
    names: dict[str, None] = {}
    machine = _Machine(budget or Budget())
    try:
        for name in _imported(data, machine):
            names[name] = None
            if len(names) > MAX_IMPORTS:
                return Imports(tuple(names), complete=False)
    except (ValueError, IndexError, KeyError, OverflowError, MemoryError, UnicodeError, AttributeError):
        return Imports(tuple(names), complete=False)
    return Imports(tuple(names), complete=True)


def _imported(data: bytes, machine: _Machine) -> Iterator[str]:
    """Each import. PyTorch's old format is several pickles, one after the other, and then raw data."""
    stream = BytesIO(data)
    while True:
        for opcode, argument, _ in pickletools.genops(stream):
            name = machine.step(opcode.name, argument)
            if name:
                yield name
        if data[stream.tell() : stream.tell() + 1] != b"\x80":
            return


class _Machine:
    """As much of the pickle machine as is needed to know what `STACK_GLOBAL` finds on the stack: texts."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.texts: list[str] = []  # the last ones pushed
        self.memo: dict[int, str] = {}
        self.memoized = 0  # `MEMOIZE` counts everything that is kept, texts or not
        self.steps = 0

    def step(self, opcode: str, argument: object) -> str | None:
        """Take one opcode; what it imports. Raises ValueError after more opcodes than are read."""
        self.steps += 1
        self.budget.opcodes -= 1
        if self.steps > MAX_OPCODES or self.budget.opcodes < 0:
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
