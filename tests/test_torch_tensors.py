"""Tensors within the values of a pickle: paths, kinds of tensors, and a rank's part of a whole, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.formats.pytorch import tensors
from inspector.formats.pytorch.layout import View
from inspector.formats.pytorch.tensors import MAX_DEPTH, MAX_TIMES, local_part, own_shards, sizes_of, walk
from inspector.formats.pytorch.values import Dictionary, Global, Made, Persistent, attribute
from inspector.model import Piece


def made(path: str, *arguments: Any, state: Any = None, items: list[Any] | None = None) -> Made:
    module, _, name = path.rpartition(".")
    found = Made(Global(module, name), arguments)
    found.state, found.items = state, items or []
    return found


def mapping(**pairs: Any) -> Dictionary:
    return Dictionary(list(pairs.items()))


def storage(key: Any = "0", kind: str = "FloatStorage", elements: Any = 12, *more: Any) -> Persistent:
    return Persistent(("storage", Global("torch", kind), key, "cpu", elements, *more))


def tensor(shape: Any = (3, 4), stride: Any = (4, 1), offset: Any = 0, of: Any = None) -> Made:
    return made("torch._utils._rebuild_tensor_v2", of or storage(), offset, shape, stride, False, None)


def plain(name: str, shape: tuple[int, ...] = (3, 4), stride: tuple[int, ...] = (4, 1), **more: Any) -> View:
    return View(
        **{
            "name": name,
            "dtype": "F32",
            "width": 4,
            "shape": shape,
            "stride": stride,
            "offset": 0,
            "storage": "0",
            "length": 12,
            **more,
        }
    )


def names(value: Any, root: str = "") -> list[str]:
    return [view.name for view in walk(value, root).views]


def test_parts_of_torchaos_tensors_are_named_as_torchao_flattens_them() -> None:
    """`flatten_tensor_state_dict` makes `q._weight_qdata` of the parameter `q.weight`; other classes keep their dots."""
    inner = mapping(qdata=tensor(), scale=tensor((3, 1), (1, 1)), block_size=[1, 4])
    wrapper = Global("torch._utils", "_rebuild_wrapper_subclass")

    def parameter(path: str) -> Made:
        module, _, name = path.rpartition(".")
        whole = (wrapper, Global(module, name), (), inner)
        return made("torch._tensor._rebuild_from_type_v2", *whole)

    assert names(Dictionary([("q.weight", parameter("torchao.quantization.Int8Tensor"))])) == [
        "q._weight_qdata",
        "q._weight_scale",
    ]
    assert names(Dictionary([("q.weight", parameter("mine.Packed"))])) == ["q.weight.qdata", "q.weight.scale"]


# --- paths ------------------------------------------------------------------------------------


def test_names_are_paths() -> None:
    """Keys joined by dots, numbers in lists; in the order of writing."""
    value = mapping(a=tensor(), b=[tensor(), (tensor(), 5)], c=mapping(d=tensor(), e="text"))
    assert names(value) == ["a", "b.0", "b.1.0", "c.d"]
    assert names(value, "model")[:2] == ["model.a", "model.b.0"]
    assert names(tensor()) == [""]
    assert names(Dictionary([(1, tensor()), (True, tensor()), (2.5, tensor()), ((1,), tensor())])) == [
        "1",
        "True",
        "2.5",
        "?",
    ]


def test_a_module_leaves_no_trace_of_how_it_keeps_its_parts() -> None:
    inner = made("mine.Norm", state=mapping(_parameters=mapping(weight=tensor())))
    outer = made(
        "mine.Net", state=mapping(_parameters=mapping(), _buffers=mapping(mean=tensor()), _modules=mapping(norm=inner))
    )
    found = walk(outer)
    assert ([view.name for view in found.views], found.opaque, found.complete) == (
        ["mean", "norm.weight"],
        ("mine.Net", "mine.Norm"),
        True,
    )


def test_a_shared_cyclic_configuration_hides_no_tensor() -> None:
    """A configuration that all modules refer to, and that refers to itself, is not visited forever; all tensors are listed."""
    settings = mapping(deep=mapping(a=1))
    settings.pairs.append(("self", settings))
    modules = mapping(
        **{f"m{at}": made("mine.Linear", state=mapping(weight=tensor(), config=settings)) for at in range(20)}
    )
    found = walk(modules)
    assert (len(found.views), found.complete) == (20, True)
    settings.pairs.append(("mean", tensor()))
    assert not walk(modules).complete


def test_ordered_dictionaries() -> None:
    """From pairs, lists of two, a dictionary, or filled later; their state only has versions."""
    pairs: list[Any] = [("a", tensor()), ["b", tensor()]]
    for each in (
        made("collections.OrderedDict", pairs, state=mapping(_metadata=mapping(x=tensor()))),
        made("collections.OrderedDict", Dictionary([("a", tensor()), ("b", tensor())])),
        made("collections.OrderedDict", items=pairs),
    ):
        found = walk(each)
        assert ([view.name for view in found.views], found.opaque) == (["a", "b"], ())
    assert names(made("builtins.set", [tensor(), (1, 2, tensor())])) == ["0", "1.2"]


def test_tensors_that_are_kept_elsewhere() -> None:
    kept = {"5": plain("elsewhere"), "k": plain("elsewhere", offset=3)}
    value = mapping(a=Persistent(5), b=Persistent("k"), c=Persistent("x"), d=Persistent(5.0))
    assert walk(value, kept=kept).views == (plain("a"), plain("b", offset=3))
    assert walk(value).views == ()


def test_a_value_in_many_places() -> None:
    """A container has at most eight names; a tensor may have any number."""
    shared = [tensor()]
    assert MAX_TIMES == 8
    found = walk([shared] * 8)
    assert ([view.name for view in found.views], found.complete) == ([f"{at}.0" for at in range(8)], True)
    found = walk([shared] * 9)
    assert (len(found.views), found.complete) == (8, False)
    assert walk([[]] * 99).complete
    one = tensor()
    assert len(walk([one] * 99).views) == 99


def test_values_within_each_other() -> None:
    """100 levels are entered."""

    def nested(depth: int) -> Any:
        value: Any = tensor()
        for _ in range(depth):
            value = [value]
        return value

    assert (MAX_DEPTH, len(names(nested(100))), len(names(nested(101)))) == (100, 1, 0)


def test_the_most_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values found before the limit are kept; a name of 64 characters is as much work as a value."""
    odd, one = tensor(offset=-1), tensor()
    monkeypatch.setattr(tensors, "MAX_VALUES", 4)
    assert walk([odd, one, one])[1:] == (("0",), (), True)
    found = walk([odd, one, one, one])
    assert (len(found.views), found.malformed, found.complete) == (2, ("0",), False)
    assert len(walk([one, one], "x" * 61).views) == 2
    assert len(walk([one, one], "x" * 62).views) == 1  # 64 with the dot and the digit
    monkeypatch.setattr(tensors, "MAX_VALUES", 1_000)
    monkeypatch.setattr(tensors, "MAX_TENSORS", 2)
    assert walk([one, one]).complete
    found = walk([one, one, one])
    assert (len(found.views), found.complete) == (2, False)


# --- kinds of tensors -------------------------------------------------------------------------


def test_a_configuration_that_refers_to_itself() -> None:
    """Each node of OmegaConf's names its parent: nothing is left out, because there is no tensor in it."""
    config = made("omegaconf.dictconfig.DictConfig")
    nodes = [made("omegaconf.nodes.AnyNode", state=mapping(_parent=config, _val=at)) for at in range(MAX_TIMES + 3)]
    config.state = mapping(_content=mapping(**{f"n{at}": node for at, node in enumerate(nodes)}))
    found = walk(mapping(config=config, weight=made("torch._utils._rebuild_tensor_v2", storage(), 0, (3, 4), (4, 1))))
    assert ([view.name for view in found.views], found.complete) == (["weight"], True)


def test_a_plain_tensor() -> None:
    assert walk(tensor()).views == (plain(""),)
    half = tensor((2,), (3,), 5, storage("7", "HalfStorage", 20))
    assert walk(half).views == (plain("", (2,), (3,), dtype="F16", width=2, offset=5, storage="7", length=20),)
    assert walk(made("torch._utils._rebuild_tensor", storage(), 0, (3, 4), (4, 1))).views == (plain(""),)
    size = made("torch.Size", [3, 4])
    assert walk(tensor(size, (4, 1))).views == (plain(""),)
    old = tensor((2,), (1,), 1, storage("0", "FloatStorage", 12, ("key", 5, 4)))
    assert walk(old).views == (plain("", (2,), (1,), offset=6),)
    assert walk(storage("3", "LongStorage", 9)).views == (
        plain("", (9,), (1,), dtype="I64", width=8, storage="3", length=9),
    )


@every(
    "odd",
    [
        tensor(offset=-1),
        tensor(offset=True),
        tensor((3, 4), (4,)),
        tensor((3, -4)),
        tensor("34"),
        tensor((1,) * 65, (1,) * 65),
        tensor(of=Persistent(("storage", Global("torch", "FloatStorage"), "0", "cpu"))),
        tensor(of=Persistent(("other", Global("torch", "FloatStorage"), "0", "cpu", 12))),
        tensor(of=Persistent(("storage", "FloatStorage", "0", "cpu", 12))),
        tensor(of=storage(kind="StrangeStorage")),
        tensor(of=storage(key=2.5)),
        tensor(of=storage(elements=-1)),
        made("torch._utils._rebuild_tensor_v2", storage(), 0, (3, 4)),
        made("torch._utils._rebuild_tensor_v2", "0", 0, (3, 4), (4, 1)),
        Made(Global("torch._utils", "_rebuild_tensor_v2"), "no tuple"),
    ],
)  # fmt: skip
def test_descriptions_that_are_none(odd: Made) -> None:
    """The tensor is reported as malformed by its name, and others are read."""
    found = walk(mapping(a=odd, b=tensor()))
    assert ([view.name for view in found.views], found.malformed, found.complete) == (["b"], ("a",), True)


def test_the_most_dimensions() -> None:
    assert walk(tensor((1,) * 64, (1,) * 64)).views[0].shape == (1,) * 64
    assert sizes_of([2, 3]) == sizes_of(made("torch.Size", (2, 3))) == (2, 3)
    assert sizes_of(made("torch.Size")) == ()
    assert [sizes_of(odd) for odd in ("23", 5, None, [1.0], [True], made("a.Size", (2,)))] == [None] * 6


@pytest.mark.parametrize(
    "wrapper",
    [
        lambda inner: made("torch._utils._rebuild_parameter", inner, True, None),
        lambda inner: made("torch._utils._rebuild_parameter_with_state", inner, True, None, None),
        lambda inner: made("torch.nn.parameter.Parameter", inner),
        lambda inner: made(
            "torch._tensor._rebuild_from_type_v2", inner.what, Global("mine", "Mine"), inner.arguments, None
        ),
        lambda inner: made("torch._utils._rebuild_parameter", made("torch.nn.parameter.Parameter", inner)),
    ],
)
def test_parameters_and_subclasses(wrapper: Any) -> None:
    assert walk(wrapper(tensor())).views == (plain(""),)


def test_a_tensor_that_names_its_dtype() -> None:
    """`_rebuild_tensor_v3`: 48 bytes of an untyped storage are 24 elements of two bytes."""

    def third(dtype: Any) -> Made:
        return made(
            "torch._utils._rebuild_tensor_v3", storage("0", "UntypedStorage", 48), 0, (3, 4), (4, 1), False, None, dtype
        )

    assert walk(third(Global("torch", "bfloat16"))).views == (plain("", dtype="BF16", width=2, length=24),)
    assert walk(third(Global("torch", "strange"))).malformed == ("",)
    six = made("torch._utils._rebuild_tensor_v3", storage("0", "UntypedStorage", 48), 0, (3, 4), (4, 1), False, None)
    assert walk(six).malformed == ("",)
    assert walk(third("bfloat16")).malformed == ("",)


def test_sparse_and_quantized_tensors() -> None:
    """Their components are tensors beside each other, each with a word for what it is."""
    parts = (tensor(), tensor(), tensor())
    coo = made("torch._utils._rebuild_sparse_tensor", Global("torch", "sparse_coo"), (*parts[:2], (9, 9), True))
    assert names(mapping(a=coo)) == ["a.indices", "a.values"]
    csr = made(
        "torch._utils._rebuild_sparse_tensor",
        made("torch.serialization._get_layout", "torch.sparse_csr"),
        (*parts, (9, 9)),
    )
    assert names(mapping(a=csr)) == ["a.crow_indices", "a.col_indices", "a.values"]
    quantizer = (Global("torch", "per_channel_affine"), tensor(), tensor(), 0)
    channels = made("torch._utils._rebuild_qtensor", storage(), 0, (3, 4), (4, 1), quantizer, False, None)
    assert names(mapping(a=channels)) == ["a", "a.scales", "a.zero_points"]
    whole = made(
        "torch._utils._rebuild_qtensor",
        storage(),
        0,
        (3, 4),
        (4, 1),
        (Global("torch", "per_tensor_affine"), 0.5, 3),
        False,
        None,
    )
    assert names(mapping(a=whole)) == ["a"]


def test_jagged_and_nested_tensors() -> None:
    """A function's arguments by keyword or by position; without the keywords there is nothing."""
    rebuild = "torch.nested._internal.nested_tensor._rebuild_njt"
    jagged = made(rebuild, mapping(values=tensor(), offsets=tensor(), lengths=None, ragged=1))
    assert names(mapping(a=jagged)) == ["a.values", "a.offsets"]
    for odd in (made(rebuild, tensor()), made(rebuild)):
        assert (names(mapping(a=odd)), walk(odd).malformed) == ([], ("",))
    nested = made("torch._utils._rebuild_nested_tensor", tensor(), tensor(), tensor(), tensor())
    assert names(mapping(a=nested)) == ["a.buffer", "a.sizes", "a.strides", "a.storage_offsets"]


# --- parts of a whole -------------------------------------------------------------------------


def shard(dim: Any, kind: str = "Shard") -> Made:
    return made(f"torch.distributed.tensor.placement_types.{kind}", state=mapping(dim=dim))


REPLICATE = made("torch.distributed.tensor.placement_types.Replicate", state=mapping())


def spec(placements: Any, ranks: Any, place: Any) -> Made:
    """With a mesh as in torch before 2.9: a tensor of all ranks, whose shape is the mesh's."""
    ranks_tensor = made("torch._utils._rebuild_tensor_v2", storage(), 0, ranks)
    mesh = made("torch.distributed.device_mesh.DeviceMesh", state=mapping(mesh=ranks_tensor, _coordinate_on_dim=place))
    return made("torch.distributed.tensor._dtensor_spec.DTensorSpec", state=mapping(mesh=mesh, placements=placements))


def start(whole: tuple[int, ...], local: tuple[int, ...], how: Any) -> tuple[int, ...] | None:
    """Where a rank's part begins; None if it is not declared as a part."""

    def views_of(name: str, _: object) -> list[View]:
        return [plain(name, local, (1,) * len(local))]

    (view,) = local_part(views_of, "a", whole, mapping(_local_tensor=tensor(), _spec=how))
    if view.piece is None:
        return None
    assert view.piece == Piece(view.piece[0], whole)
    return tuple(view.piece[0])


@every(
    ("whole", "local", "placements", "ranks", "place", "expected"),
    [
        ((10, 4), (3, 4), [shard(0)], (4,), [0], (0, 0)),
        ((10, 4), (3, 4), [shard(0)], (4,), [2], (6, 0)),
        ((10, 4), (1, 4), [shard(0)], (4,), [3], (9, 0)),  # as cut by torch.chunk: 3, 3, 3, 1
        ((5, 4), (0, 4), [shard(0)], (4,), [3], (5, 0)),  # 2, 2, 1 and nothing
        ((10, 4), (10, 2), [shard(1)], (2,), [1], (0, 2)),
        ((10, 4), (10, 4), [REPLICATE], (4,), [3], (0, 0)),
        ((8, 4), (2, 4), [shard(0), shard(0)], (2, 2), [1, 1], (6, 0)),
        ((8, 4), (4, 2), [shard(0), shard(1)], (2, 2), [1, 1], (4, 2)),
        ((8, 4), (4, 4), [REPLICATE, shard(0)], (3, 2), [2, 1], (4, 0)),
        # FSDP over tensor parallelism: the second dimension cuts first
        ((8, 4), (2, 4), [shard(0, "_StridedShard"), shard(0)], (2, 2), [1, 0], (2, 0)),
        ((8, 4), (2, 4), [shard(0, "_StridedShard"), shard(0)], (2, 2), [0, 1], (4, 0)),
        # an impossible case
        ((10, 4), (4, 4), [shard(0)], (4,), [3], None),
        ((10, 4), (3,), [shard(0)], (4,), [0], None),
        ((10, 4), (3, 4), [shard(2)], (4,), [0], None),
        ((10, 4), (3, 4), [shard(True)], (4,), [0], None),
        ((10, 4), (3, 4), [shard(0)], (0,), [0], None),
        ((10, 4), (3, 4), [shard(0)], (4, 2), [0], None),
        ((10, 4), (3, 4), [shard(0)], (4,), [0, 1], None),
        ((10, 4), (3, 4), [shard(0)], (4,), [-1], None),
        ((10, 4), (10, 4), [made("torch.distributed.tensor.placement_types.Partial")], (4,), [0], None),
        ((10, 4), (10, 4), [made("torch.distributed.tensor.placement_types._NormPartial")], (4,), [0], None),
        ((10, 4), (3, 4), "S0", (4,), [0], None),
        ((10, 4), (3, 4), [shard(0)], (4,), None, None),
        ((10, 4), (3, 4), [shard(0)], None, [0], None),
    ],
)  # fmt: skip
def test_where_a_ranks_part_begins(
    whole: tuple[int, ...],
    local: tuple[int, ...],
    placements: Any,
    ranks: Any,
    place: Any,
    expected: tuple[int, ...] | None,
) -> None:
    assert start(whole, local, spec(placements, ranks, place)) == expected


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (mapping(shape=(4,)), (6, 0)),
        (mapping(shape=4), (6, 0)),
        (mapping(axes=[mapping(shape=(2, 2))]), (6, 0)),
        (mapping(axes=(mapping(shape=4),)), (6, 0)),
        (mapping(axes=[mapping(shape="4")]), None),
        (mapping(), None),
    ],
)
def test_a_mesh_of_today(layout: Dictionary, expected: tuple[int, ...] | None) -> None:
    """Its layout gives the number of ranks along each dimension."""
    mesh = made("torch.distributed.device_mesh.DeviceMesh", state=mapping(_layout=layout, _coordinate_on_dim=(2,)))
    assert start((10, 4), (3, 4), mapping(mesh=mesh, placements=(shard(0),))) == expected


def test_a_part_without_a_tensor() -> None:
    assert local_part(lambda *_: [plain("a")], "a", (3,), mapping(_local_tensor="none")) == []
    assert local_part(lambda *_: [], "a", (3,), mapping(_local_tensor=tensor())) == []
    assert local_part(lambda *_: None, "a", (3,), mapping(_local_tensor=tensor())) == []


def test_shards_of_a_sharded_tensor() -> None:
    """Each has its offsets in the whole; one that does not fit is a separate tensor, one without offsets is none."""

    def one(offsets: Any, local: Any = None) -> Made:
        return made(
            "S", state=mapping(tensor=local or tensor(), metadata=made("M", state=mapping(shard_offsets=offsets)))
        )

    def parts(*shards: Any) -> list[Any]:
        return [
            view.piece and view.piece[0]
            for view in own_shards(lambda name, _: [plain(name)], "a", (6, 4), (list(shards),))
        ]

    assert parts(one([0, 0]), one((3, 0))) == [(0, 0), (3, 0)]
    assert parts(one([4, 0])) == [None]
    assert parts(one([0]), one([0, 0, 0])) == [None, None]
    assert parts(one("00"), one([-1, 0]), one(None), one([0, 0], "none")) == []
    assert (
        own_shards(lambda *_: [plain("a")], "a", (6, 4), ())
        == own_shards(lambda *_: [plain("a")], "a", (6, 4), ("x",))
        == []
    )


def test_attributes() -> None:
    """Of a state, or of a pair of states if a class has slots; attributes that are None are left out."""
    pair = made("A", state=(mapping(a=1, b=None), mapping(b=2, a=3)))
    assert [attribute(pair, name) for name in "abc"] == [1, 2, None]
    assert (attribute(mapping(a=1), "a"), attribute(None, "a"), attribute("a", "a")) == (1, None, None)
