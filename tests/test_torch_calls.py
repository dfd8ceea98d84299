"""Calls in a pickle that are usual in a checkpoint: each constructor with valid arguments, and with invalid ones."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.formats.pytorch.constructors import attribute, calls, fits, known
from inspector.formats.pytorch.machine import BeyondError, Budget, Machine, Stream
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Persistent


def name(path: str) -> Global:
    module, _, last = path.rpartition(".")
    return Global(module, last)


def made(path: str, *arguments: Any) -> Made:
    return Made(name(path), arguments)


ENCODED = made("_codecs.encode", "x", "latin1")
OTHER = made("mine.f")
STORAGE = Persistent(("storage", name("torch.FloatStorage"), "0", "cpu", 6))
TENSOR = made("torch._utils._rebuild_tensor_v2", STORAGE, 0, (2, 3), (3, 1))
NUMBERS = made("numpy.dtype", "f4", False, True)

#: A call → arguments that are valid, and that are not.
ARGUMENTS: dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "collections.OrderedDict": ([(), ([],)], [([], [])]),
    "collections.Counter": ([(), (None,), (Dictionary([]),), (made("collections.OrderedDict"),)], [([],), (OTHER,)]),
    "collections.deque": ([([], 5)], [([], "5"), ([], 5, 5)]),
    "collections.defaultdict": ([(name("builtins.list"),)], [(), (name("mine.f"),), ("builtins.list",)]),
    "builtins.int": ([("5",), (5, 10)], [(OTHER,)]),
    "builtins.bytearray": ([(b"x",), ("x", "latin1"), (Blob(0, 9),), (ENCODED,), (None,)], [(OTHER,), ("x", 5), ([],)]),
    "builtins.range": ([(1,), (1, 2, 3)], [(), ("1",), (1, 2, 3, 4)]),
    "builtins.object": ([()], [(1,)]),
    "_codecs.encode": ([("x", "latin1"), ("x", "UTF-8"), ("x",)], [("x", "rot13"), ("x", 5), ()]),
    "copyreg._reconstructor": (
        [(name("mine.C"), name("builtins.object"), None)],
        [(name("mine.C"), name("builtins.list"), None), (name("mine.C"), name("builtins.object"), []), ("C", "object", None)],
    ),
    "copyreg.__newobj__": ([(name("mine.C"),), (name("mine.C"), 1, [])], [(), ("C",)]),
    "datetime.datetime": (
        [(b"x",), ("x",), (ENCODED, None), (2024, 1, 2), (2024, 1, 2, 3, 4)],
        [(2024, 1), (2024, 1, 2, "3"), (OTHER,), ()],
    ),
    "fractions.Fraction": ([("1/2",), (1, 2)], [(1,), (1, 2, 3)]),
    "torch.Size": (
        [(), ([1, 2],), ((1, 2),), (made("torch.Size", (1,)),), (made("torch.Size"),)],
        [("12",), ([1.5],), (made("mine.Size", (1,)),), (Made(name("torch.Size"), [1]),)],
    ),
    "torch._utils._rebuild_tensor_v2": (
        [(STORAGE, 0, (2,), (1,)), (STORAGE, 0, (2,), (1,), False, None), (made("torch.storage.TypedStorage"), 0, (), ())],
        [(STORAGE, 0, (2,)), (TENSOR, 0, (2,), (1,)), (STORAGE, "0", (2,), (1,)), (STORAGE, 0, (2,), (1,), "x")],
    ),
    "torch._utils._rebuild_tensor_v3": (
        [(STORAGE, 0, (), (), False, None, name("torch.float8_e4m3fn"))],
        [
            (STORAGE, 0, (), (), False, None, name("torch.hub")),
            (STORAGE, 0, (), (), False, None, name("numpy.float32")),
            (STORAGE, 0, (), (), False, None, "float32"),
        ],
    ),
    "torch._utils._rebuild_parameter": ([(TENSOR, True, None), (STORAGE, 1, None)], [("x", True, None), (TENSOR, "1", None)]),
    "torch._tensor._rebuild_from_type_v2": (
        [(name("torch._utils._rebuild_tensor_v2"), name("mine.T"), (STORAGE,), None)],
        [(name("mine.f"), name("mine.T"), (), None), (name("torch.Size"), name("mine.T"), [], None)],
    ),
    "numpy.dtype": (
        [("f4", False, True), (name("numpy.float32"),), (name("builtins.int"),), ("O",), ("O8",), ("<U5",), ("M8[ns]",)],
        [("f4", "x"), (name("mine.f"),), (name("numpy.load"),), (name("torch.float32"),), ("O9",), ("f4,f4",), (5,), ()],
    ),
    "numpy.core.multiarray._reconstruct": (
        [(name("numpy.ndarray"), (0,), b"b")],
        [(name("mine.ndarray"), (0,), b"b"), ("ndarray", (0,), b"b"), (name("numpy.ndarray"), 0, b"b")],
    ),
    "numpy.core.multiarray.scalar": (
        [(NUMBERS, b"1234"), (NUMBERS, "1234")],
        [(made("numpy.dtype", "O8"), b"1"), (made("numpy.dtype"), b"1"), (made("mine.dtype", "f4"), b"1"), ("f4", b"1"), (made("numpy.dtype", name("numpy.float32")), b"1"), (Made(name("numpy.dtype"), None), b"1")],
    ),
    "torch.nn.parameter.Parameter": ([(), (TENSOR,), (TENSOR, False)], [("x",), (TENSOR, "False")]),
    "pathlib.Path": ([(), ("a", "b")], [("a", 5)]),
    "datetime.timedelta": ([(), (1, 2, 3), (1.5,)], [(OTHER,), ([],)]),
}  # fmt: skip


@every("path", ARGUMENTS)
def test_a_constructor_takes_its_own_arguments_and_no_others(path: str) -> None:
    taken, refused = ARGUMENTS[path]
    assert [fits(name(path), each) for each in taken] == [True] * len(taken)
    assert [fits(name(path), each) for each in refused] == [False] * len(refused)
    assert not fits(name(path), [*taken[0]])  # anything but a tuple


@pytest.mark.parametrize(
    "path",
    ["torch.float32", "torch.sparse_coo", "torch.FloatStorage", "torch.cuda.HalfStorage", "torch.cuda.sparse.LongTensor", "builtins.str", "numpy.ndarray"],
)  # fmt: skip
def test_a_known_name_that_is_never_called_takes_no_arguments(path: str) -> None:
    assert known(name(path))
    assert not fits(name(path), ())


def test_a_backend_of_old_modules_is_a_namespace() -> None:
    """What `torch.nn.Module.__init__` asked for before PyTorch 1.5, without arguments."""
    backend = "torch.nn.backends.thnn._get_thnn_function_backend"
    assert fits(name(backend), ())
    assert not fits(name(backend), ("os",))


def test_torchaos_records_are_known() -> None:
    """What torchao 0.18 adds to PyTorch's safe globals; nothing else of the package."""
    assert known(name("torchao.quantization.Int8Tensor"))
    assert fits(name("torchao.quantization.granularity.PerGroup"), (32,))
    assert not known(name("torchao.quantization.quantize_"))


@pytest.mark.parametrize(
    "path", ["os.system", "torch.load", "torch.float33", "torch.xla.FloatStorage", "numpy.load", ""]
)
def test_an_unknown_name_is_not_vouched_for(path: str) -> None:
    assert not known(name(path))
    assert not fits(name(path), ())


STATE = "torch.distributed._shard.sharded_tensor.api.ShardedTensor"


def test_classes_within_classes() -> None:
    """`getattr` of a known class, if the class within it is known as well; of nothing else."""
    getter = name("builtins.getattr")
    found = attribute(getter, (name(STATE), "ProcessGroupState"))
    assert found is not None
    assert found.path == STATE + ".ProcessGroupState"
    for what, arguments in (
        (getter, (name(STATE), "__init__")),
        (getter, (name("mine.C"), "ProcessGroupState")),
        (getter, (name(STATE), "a.b")),
        (getter, (name(STATE), 5)),
        (getter, [name(STATE), "ProcessGroupState"]),
        (getter, (name(STATE), "ProcessGroupState", None)),
        (name("builtins.setattr"), (name(STATE), "ProcessGroupState")),
        ("builtins.getattr", (name(STATE), "ProcessGroupState")),
    ):
        assert attribute(what, arguments) is None


def test_a_constructors_inner_call_has_its_arguments() -> None:
    assert calls(name("torch._tensor._rebuild_from_type_v2"), (1, 2, 3, 4)) == (1, 3)
    assert calls(name("torch._tensor._rebuild_from_type"), (1, 2, 3)) == (1, 3)
    assert calls(name("torch._tensor._rebuild_from_type"), (1, 2)) is None
    assert calls(name("copyreg._reconstructor"), (1, 2, 3)) == (1, ())
    assert calls(name("copyreg._reconstructor"), ()) is None
    assert calls(name("copyreg.__newobj__"), (1, 2, 3)) == (1, (2, 3))
    assert calls(name("copyreg.__newobj__"), ()) is None
    assert calls(name("copyreg.__newobj__"), [1]) is None
    assert calls(name("torch.Size"), (1, 2, 3)) is None


# --- as the machine notes them --------------------------------------------------------------------


def reached(what: Any, arguments: Any, named: Any = None, steps: int = 99) -> list[tuple[str, str, bool]]:
    machine = Machine(Stream.of(b""), Budget(steps))
    machine.call(what, arguments, named)
    return [(each.path, each.use, each.known) for each in machine.reached.values()]


def test_calls_within_calls() -> None:
    """A subclass is rebuilt by a function that is an argument: both are recorded, each with its own arguments."""
    rebuild, plain = "torch._tensor._rebuild_from_type_v2", "torch._utils._rebuild_tensor_v2"
    usual = (STORAGE, 0, (2,), (1,), False, None)
    assert reached(name(rebuild), (name(plain), name("mine.T"), usual, None)) == [
        (rebuild, "call", True),
        (plain, "call", True),
    ]
    assert reached(name(rebuild), (name(plain), name("mine.T"), (), None)) == [
        (rebuild, "call", True),
        (plain, "call", False),
    ]
    assert reached(name("copyreg.__newobj__"), (name("os.system"), "true")) == [
        ("copyreg.__newobj__", "call", True),
        ("os.system", "call", False),
    ]
    assert reached(name("copyreg.__newobj__"), (OTHER, "true")) == [
        ("copyreg.__newobj__", "call", False),
        (".the result of another call", "call", False),
    ]


def test_a_call_with_names_is_not_the_usual_one() -> None:
    machine = Machine(Stream.of(b""), Budget(9))
    named = Dictionary([("a", 1)])
    found = machine.call(name("torch.Size"), (), named)
    assert isinstance(found, Made)
    assert (found.path, found.arguments, found.named) == ("torch.Size", (), named)
    assert [each.known for each in machine.reached.values()] == [False]


def test_a_class_within_a_class_is_not_a_call() -> None:
    """`getattr` was left on the stack as an unknown name; what it leads to is known."""
    machine = Machine(Stream.of(b""), Budget(9))
    getter = machine.name("builtins", "getattr")
    outer = machine.name(*STATE.rsplit(".", 1))
    found = machine.call(getter, (outer, "ProcessGroupState"))
    assert isinstance(found, Global)
    assert [(each.path, each.use, each.known) for each in machine.reached.values()] == [
        (STATE, "name", True),
        (STATE + ".ProcessGroupState", "name", True),
    ]
    assert isinstance(machine.call(getter, (outer, "ProcessGroupState"), Dictionary([("x", 1)])), Made)


def test_calls_within_calls_are_counted() -> None:
    """Two calls in turn are two steps; three exceed a limit of two."""

    def nested(depth: int) -> tuple[Any, ...]:
        arguments: tuple[Any, ...] = (name("mine.C"),)
        for _ in range(depth - 1):
            arguments = (name("copyreg.__newobj__"), *arguments)
        return arguments

    assert len(reached(name("copyreg.__newobj__"), nested(2), steps=2)) == 2
    with pytest.raises(BeyondError, match=r"^too many calls$"):
        reached(name("copyreg.__newobj__"), nested(3), steps=2)
