"""Small steps of the bridge: causes of a surplus tensor, names of shared tensors, lone indexes, and selections."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.architectures.naming import NAMELESS, Named, Names
from inspector.bridge.filters import Filter, select
from inspector.bridge.forecast import forecast
from inspector.bridge.identify import Stored
from inspector.bridge.ledger import Surplus, cause_of, short
from inspector.bridge.name import findings, infer_config, name, under_the_models_names
from inspector.bridge.outline import OutlinedRole, outline
from inspector.errors import TargetError, UsageError
from inspector.model import Config, Expected, Finding, Index, Key, Labelled, Prediction, Tensor

LLAMA = {
    "model_type": "llama",
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 10,
    "torch_dtype": "float16",
}


def row(role: str, **columns: Any) -> Expected:
    usual = {
        "group": "other",
        "tower": "text",
        "part": "weight",
        "name": role,
        "shape": (4, 6),
        "formula": (),
        "numbers": (),
    }
    return Expected(role=role, **{**usual, **columns})


def prediction(
    *expected: Expected, config: dict[str, Any] | None = None, kind: Any = "config.json", **others: Any
) -> Prediction:
    return Prediction(Config(config or {}, kind), "toy", "", expected, **others)


def cause(
    name: str, role: str, layer: int | None = None, predicted: Prediction | None = None, **columns: Any
) -> str | None:
    """The cause that claims a tensor of 24 elements."""
    group = columns.pop("group", "other")
    key = Key(columns.pop("tower", "text"), layer, None, role, columns.pop("part", "weight"), columns.pop("branch", ""))
    found = cause_of(Surplus(Tensor(name, "F32", columns.pop("shape", (4, 6)), 0, 96), key, group, predicted))
    return found.name if found else None


HEAD = row("lm_head")
STACK = row("q_proj", name="layers.{layer}.q_proj", layers=(0, 1, 2))


# --- causes -----------------------------------------------------------------------------------


def test_a_group_decides_the_cause_first() -> None:
    """By its group, whatever other cause would claim it."""
    tied = prediction(tied=(HEAD,))
    assert cause("lm_head.scales", "lm_head", predicted=tied, group="quantization") == "quantization_overhead"
    assert cause("lm_head.mask", "lm_head", predicted=tied, group="buffer") == "buffer"
    assert cause("anything", "up_proj") is None


def test_a_head_that_is_tied_and_stored() -> None:
    """It has the same role, part, tower and branch as a tensor that the prediction ties."""
    tied = prediction(tied=(HEAD,))
    assert cause("lm_head.weight", "lm_head", predicted=tied) == "tied_embeddings"
    others: list[dict[str, Any]] = [{"part": "bias"}, {"tower": "vision"}, {"branch": "cross"}]
    for other in others:
        assert cause("lm_head.weight", "lm_head", predicted=tied, **other) is None
    assert cause("other", "up_proj", predicted=tied) is None
    assert cause("lm_head.weight", "lm_head") is None


def test_a_base_beside_its_adapter() -> None:
    base = prediction(STACK, tied=(HEAD,))
    adapter = prediction(base=base)
    assert cause("q.weight", "q_proj", 1, adapter) == "duplicate"
    assert cause("head", "lm_head", None, adapter) == "duplicate"
    assert cause("q.bias", "q_proj", 1, adapter, part="bias") is None
    assert cause("q.weight", "q_proj", 1, adapter, branch="cross") is None
    assert cause("q.lora_A", "q_proj", 1, adapter, group="adapter") is None  # a predicted adapter has no more
    assert cause("q.lora_A", "q_proj", 1, base, group="adapter") == "adapter"


def test_the_base_layer_that_peft_wraps_is_a_duplicate() -> None:
    """`base_layer` is the base's own weight; a bias beside it is stored where it is trained."""
    assert cause("a.base_layer.weight", "q_proj") == "duplicate"
    assert cause("a.base_layer.bias", "q_proj", part="bias") is None
    assert cause("a.base_layer.weight", "q_proj", group="adapter") == "adapter"
    assert cause("a.lora_A.weight", "q_proj") == "adapter"
    assert cause("base_model.model.q.weight", "q_proj") == "adapter"
    assert cause("my.base_model.q.weight", "q_proj") is None


@pytest.mark.parametrize("word", ["mtp", "mtp_layers", "nextn"])
def test_layers_that_predict_further_tokens_by_their_names(word: str) -> None:
    assert cause(f"model.{word}.0.up.weight", "up_proj", 0) == "prediction_head"
    assert cause(f"model.{word}s.0.up.weight", "up_proj", 0) is None
    assert cause(f"model.{word}.0.embed.weight", "embed_tokens", 0) == "duplicate"
    assert cause(f"model.{word}.embed.weight", "embed_tokens") == "prediction_head"


@pytest.mark.parametrize("field", ["num_nextn_predict_layers", "num_mtp_layers"])
def test_layers_that_predict_further_tokens_by_their_number(field: str) -> None:
    """Three layers, and two more."""
    more = prediction(STACK, config={field: 2})
    found = [cause(f"layers.{layer}.up", "up_proj", layer, more) for layer in (2, 3, 4, 5)]
    assert found == [None, "prediction_head", "prediction_head", None]
    assert [cause(f"layers.{layer}.embed", "embed_tokens", layer, more) for layer in (2, 3)] == [None, "duplicate"]
    assert cause("tower.3.up", "up_proj", 3, more) is None
    assert cause("layers.3.head", "lm_head", 3, more) == "duplicate"
    assert cause("up", "up_proj", None, more) is None
    assert cause("vision.3.up", "up_proj", 3, more, tower="vision") is None
    assert cause("layers.3.up", "up_proj", 3, prediction(STACK, config={field: "2"})) is None
    assert cause("layers.3.up", "up_proj", 3, prediction(STACK)) is None


def test_tensors_that_a_model_may_have() -> None:
    """They have the role, tower, branch, part, layer and number of elements that the table states."""
    may = prediction(optional=(row("norm", layers=(0, 2)), row("scale"), row("router", part="bias", shape=(24,))))
    assert [cause("n", "norm", layer, may) for layer in (0, 1, 2, None)] == ["optional", None, "optional", None]
    assert [cause("s", "scale", layer, may) for layer in (0, None)] == [None, "optional"]
    assert cause("s", "scale", None, may, shape=(24,)) == "optional"
    assert cause("s", "scale", None, may, shape=(25,)) is None
    others: list[dict[str, Any]] = [{"part": "bias"}, {"tower": "vision"}, {"branch": "cross"}]
    for other in others:
        assert cause("s", "scale", None, may, **other) is None
    assert cause("r", "router", None, may, part="bias") == "optional"
    assert cause("s", "scale") is None


def test_a_bias_in_a_gguf_file() -> None:
    """No key-value announces one: it is as long as its weight has outputs, or those of all its experts."""
    plain, stacked = row("q_proj", layers=(0,), shape=(4, 6)), row("up_proj", layers=(0,), shape=(3, 4, 6), stacked=3)
    gguf, config = (prediction(plain, stacked, kind=kind) for kind in ("gguf", "config.json"))
    assert cause("b", "q_proj", 0, gguf, part="bias", shape=(4,)) == "optional"
    assert cause("b", "q_proj", 0, gguf, part="bias", shape=(6,)) is None
    assert cause("b", "q_proj", 1, gguf, part="bias", shape=(4,)) is None
    assert cause("b", "up_proj", 0, gguf, part="bias", shape=(3, 4)) == "optional"
    assert cause("b", "up_proj", 0, gguf, part="bias", shape=(3,)) is None
    assert cause("b", "q_proj", 0, config, part="bias", shape=(4,)) is None
    assert cause("b", "q_proj", 0, gguf, shape=(4,)) is None


def test_training_state() -> None:
    assert cause("optimizer.state.0.exp_avg", "") == "training_state"


# --- names ------------------------------------------------------------------------------------


def stored(*names: str, shapes: dict[str, tuple[int, ...]] | None = None, **others: Any) -> Stored:
    sizes = [(shapes or {}).get(each, (4, 6)) for each in names]
    return Stored(
        [Tensor(each, "F16", size, 0, 0) for each, size in zip(names, sizes, strict=True)],
        Names(names),
        sizes,
        **others,
    )


def test_a_tables_names_need_the_configuration_of_its_parts() -> None:
    """LLaVA with a GPT-2 as its text model has GPT-2's names."""
    config = Config({"model_type": "llava", "text_config": {"model_type": "gpt2"}, "vision_config": {}}, "config.json")
    named = name(stored("language_model.transformer.wte.weight", "nothing.anybody.knows"), config)
    assert named.slots[0].row is not None
    assert named.slots[1].role == "other"
    assert name(stored("nothing.anybody.knows"), None).slots[0].role == ""


def test_more_patterns_than_are_looked_at() -> None:
    assert findings(Named((), (), ())) == ()
    (found,) = findings(Named((), (NAMELESS,), (), 12))
    what = "more than 10,000 patterns of names, although models have hundreds: the purpose of 12 tensors was not determined"
    assert found == Finding("many-names", "warning", what)


SHARED = {"lm_head.weight": ("model.embed_tokens.weight",)}


@pytest.mark.parametrize(
    ("config", "rows", "kept"),
    [
        (None, None, "model.embed_tokens.weight"),  # a head is a copy
        (LLAMA, None, "model.embed_tokens.weight"),
        (LLAMA, ("embed_tokens",), "model.embed_tokens.weight"),
        (LLAMA, ("lm_head",), "lm_head.weight"),  # predicted names are stored
    ],
)
def test_a_tensor_of_two_names(config: dict[str, Any] | None, rows: tuple[str, ...] | None, kept: str) -> None:
    given = Config(config, "config.json") if config else None
    predicted = prediction(*(row(role) for role in rows)) if rows else None
    found = under_the_models_names(stored("lm_head.weight", "model.norm.weight", shared=SHARED), given, predicted)
    (other,) = {"lm_head.weight", "model.embed_tokens.weight"} - {kept}
    assert tuple(found.names) == (kept, "model.norm.weight")
    assert found.shared == {kept: (other,)}
    plain = stored("lm_head.weight")
    assert under_the_models_names(plain, given, predicted) is plain


def test_a_configuration_that_is_inferred() -> None:
    """From the weights alone: neither from an optimizer's state nor from an adapter."""
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (50257, 768),
        "wpe.weight": (1024, 768),
        "h.0.attn.c_attn.weight": (768, 2304),
    }
    shapes |= {
        "h.0.attn.c_proj.weight": (768, 768),
        "h.0.mlp.c_fc.weight": (768, 3072),
        "h.0.mlp.c_proj.weight": (3072, 768),
    }
    shapes |= {f"{norm}.{leaf}": (768,) for norm in ("h.0.ln_1", "h.0.ln_2", "ln_f") for leaf in ("weight", "bias")}
    biases = {"attn.c_attn": 2304, "attn.c_proj": 768, "mlp.c_fc": 3072, "mlp.c_proj": 768}
    shapes |= {f"h.0.{module}.bias": (size,) for module, size in biases.items()}
    found = infer_config(stored(*shapes, shapes=shapes))
    assert found is not None
    assert (found.kind, found.values["model_type"]) == ("inferred", "gpt2")
    assert infer_config(stored("a", "b")) is None


# --- an index alone ---------------------------------------------------------------------------

WHERE = {
    "model.embed_tokens.weight": "a",
    "model.layers.0.self_attn.q_proj.weight": "b",
    "model.layers.0.self_attn.rotary_emb.inv_freq": "b",  # a constant that old files have
    "model.layers.1.self_attn.q_proj.weight": "b",
    "model.extra.weight": "b",
}


def test_an_index_beside_its_prediction() -> None:
    """10 × 8 twice, two layers of 4 · 64 + 3 · 96 + 16 and a norm of 8, at two bytes each."""
    index = Index("index.json", WHERE, {"total_size": 99})
    found = outline(index, Config(LLAMA, "config.json"))
    assert found.prediction is not None
    assert found.prediction.parameters == 160 + 2 * (4 * 64 + 3 * 96 + 16) + 8
    assert (found.files, found.dtype, found.predicted, found.claimed) == (2, "F16", 2 * 1288, 99)
    assert (found.index, found.config) == (index, Config(LLAMA, "config.json"))
    assert found.surplus == ("model.extra.weight",)
    words = ["input_layernorm", "post_attention_layernorm", *(f"self_attn.{each}_proj" for each in "qkvo")]
    words += [f"mlp.{each}_proj" for each in ("gate", "up", "down")]
    whole = {f"model.layers.{layer}.{word}.weight" for layer in (0, 1) for word in words}
    assert sorted(found.absent) == sorted({*whole, "model.norm.weight", "lm_head.weight"} - WHERE.keys())
    assert [(each.role, each.tensors) for each in found.roles if each.role in ("embed_tokens", "q_proj")][:2] == [
        ("embed_tokens", 1),
        ("q_proj", 2),
    ]
    assert sum(each.tensors for each in found.roles) == 5
    assert [each[:2] for each in found.tensors] == list(WHERE.items())
    assert (found.tensors[1][2], found.tensors[1][3]) == (Key("text", 0, None, "q_proj", "weight"), "attention")


def test_an_index_without_a_configuration() -> None:
    found = outline(Index("index.json", dict(list(WHERE.items())[:2]), {"total_size": "99"}), None)
    assert (found.prediction, found.dtype, found.predicted, found.claimed, found.absent, found.surplus) == (
        None,
        None,
        None,
        None,
        (),
        (),
    )
    assert found.roles == (
        OutlinedRole("embed_tokens", "embedding", "text", "", 1),
        OutlinedRole("q_proj", "attention", "text", "", 1),
    )
    unknown = outline(
        Index("index.json", WHERE, {}), Config({"model_type": "nobody knows", "torch_dtype": "float16"}, "config.json")
    )
    assert (unknown.prediction, unknown.dtype, unknown.predicted) == (None, "F16", None)


# --- selections ----------------------------------------------------------------------------------


def labelled(
    name: str, role: str, layer: int | None = None, dtype: str = "BF16", tower: str = "text", group: str = "attention"
) -> Labelled:
    return Labelled(Tensor(name, dtype, (2,), 0, 4), "f", Key(tower, layer, None, role, "weight"), group, 2)


ALL = [
    labelled("embed", "embed_tokens", group="embedding", dtype="F32"),
    *(labelled(f"layers.{layer}.q_proj.weight", "q_proj", layer) for layer in range(12)),
    labelled("vision.0.K", "k_proj", 0, tower="vision"),
]


def asked(**how: Any) -> list[int]:
    return [ALL.index(each) for each in select(ALL, Filter(**how))]


@every(
    ("how", "places"),
    [
        ({}, list(range(14))),
        ({"pattern": "q_proj"}, list(range(1, 13))),
        ({"pattern": "Q_PROJ"}, list(range(1, 13))),  # the role
        ({"pattern": "Embedding"}, [0]),  # the group
        ({"pattern": "f32"}, [0]),  # the dtype
        ({"pattern": "LAYERS"}, None),  # a part of a name, as it is written
        ({"pattern": "layers.1."}, [2]),
        ({"pattern": "layers.1*"}, [2, 11, 12]),
        ({"pattern": "*.[0-2].*"}, [1, 2, 3, 13]),
        ({"pattern": "embe?"}, [0]),
        ({"pattern": "mbe?"}, None),
        ({"roles": ["K_PROJ", "embed_tokens"]}, [0, 13]),
        ({"groups": ["ATTENTION"], "towers": ["Vision"]}, [13]),
        ({"dtypes": ["f32"]}, [0]),
        ({"layers": "3"}, [4]),
        ({"layers": "0"}, [1, 13]),
        ({"layers": "2-4"}, [3, 4, 5]),
        ({"layers": "10, 2-3"}, [3, 4, 11]),
        ({"layers": "4-2"}, None),
        ({"layers": "999999"}, None),
    ],
)
def test_tensors_that_are_asked_for(how: dict[str, Any], places: list[int] | None) -> None:
    if places is None:
        with pytest.raises(TargetError):
            asked(**how)
    else:
        assert asked(**how) == places


@every("layers", ["", "a", "3-", "-3", "1234567", "1-1234567", "1,,2", "1-2-3", "٣"])
def test_lists_of_layers_that_are_none(layers: str) -> None:
    if layers == "٣":  # a digit of another script
        assert asked(layers=layers) == [4]
        return
    with pytest.raises(UsageError) as raised:
        asked(layers=layers)
    assert str(raised.value) == f"{layers} is not a list of layers: write 3, 3-7 or 0,2,4-6"


def test_a_filter_without_a_match_lists_the_values_there_are() -> None:
    """It lists the values that exist, in the words of the request, and at most thirty of a kind."""
    with pytest.raises(TargetError) as raised:
        asked(pattern="x" * 70, roles=["a", "b"], groups=["c"], towers=["d"], dtypes=["e"], layers="7")
    assert str(raised.value) == (
        f"no tensor matches '{'x' * 59}…' and has role a or b and has group c and has tower d and has dtype e and "
        "is in layer 7; roles: embed_tokens, k_proj, q_proj; dtypes: BF16, F32; layers: 0 to 11"
    )
    with pytest.raises(TargetError, match=rf"^no tensor is in layer {'99,' * 13}…; roles"):
        asked(layers="99," * 20 + "99")  # 39 characters of it, and an ellipsis
    many = [labelled(str(at), f"r{at:02}") for at in range(31)]
    with pytest.raises(TargetError) as raised:
        select(many, Filter(roles=["z"]))
    listed = ", ".join(f"r{at:02}" for at in range(30))
    assert str(raised.value) == f"no tensor has role z; roles: {listed} and 1 more; dtypes: BF16"
    with pytest.raises(TargetError, match=r"roles: r00, .*, r29; dtypes"):
        select(many[:30], Filter(roles=["z"]))
    assert select([], Filter(roles=["z"])) == []


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("full", "reported"),
    [
        ("lm_head.weight", "lm_head"),
        ("weight", "weight"),
        ("model.layers.3.self_attn.q_proj.weight", "self_attn.q_proj"),
        ("model.layers.{layer}.self_attn.q_proj.bias", "q_proj.bias"),
        ("model.layers.{layer}.rotary_emb.inv_freq", "rotary_emb.inv_freq"),
        ("h.0.weight", "h"),
    ],
)
def test_names_in_short(full: str, reported: str) -> None:
    assert short(full) == reported


def test_why_nothing_is_predicted() -> None:
    """Too much work is an error, with the original message; a draft is not a model of its type."""
    costly = Config({**LLAMA, "num_hidden_layers": 10_001}, "config.json", "here/config.json")
    what = "the configuration gives 10001 for `num_hidden_layers`: not a number of layers or experts"
    assert forecast(costly) == (None, (Finding("costly", "error", what, "here/config.json"),))
    draft = Config({**LLAMA, "architectures": ["Eagle" + "x" * 80]}, "config.json", "config.json")
    named = "Eagle" + "x" * 54 + "…"
    why = f"{named} is a draft for speculative decoding, not a model of its type"
    assert forecast(draft) == (None, (Finding("no-prediction", "info", why, "config.json"),))
    none = "no prediction: there is no configuration, and no known family explains the tensors"
    assert forecast(None) == (None, (Finding("no-prediction", "info", none, None),))
