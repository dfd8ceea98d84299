"""The vocabulary of roles is closed, and nothing uses another word."""

from __future__ import annotations

import json
import re

from click.testing import CliRunner
from every import every

import inspector
from inspector.architectures import formula, listed_gguf, load, load_gguf, load_projector, model_types
from inspector.architectures.data import conventions, gguf_names
from inspector.architectures.data.roles import BY_GROUP, GROUPS, MEANINGS, ROLES, group_of
from inspector.architectures.naming import Namer
from inspector.architectures.store import store
from inspector.architectures.table import Family, Row
from inspector.cli.commands import inspect


def strangers(family: Family) -> list[tuple[str, str]]:
    """Rows whose role is not in the vocabulary."""
    return [(row.role, row.name) for row in family.rows if isinstance(row, Row) and row.role not in ROLES]


def test_the_vocabulary_is_small_and_each_word_has_its_group_and_sentence() -> None:
    """At most 150 words, no word in two groups, none without a meaning."""
    assert len(ROLES) <= 150
    assert sum(map(len, BY_GROUP.values())) == len(ROLES) == len(MEANINGS)
    assert set(BY_GROUP) <= set(GROUPS)
    assert all(MEANINGS.values())
    assert group_of(None) == group_of("") == "other"


def test_every_row_of_every_family_has_a_role() -> None:
    """This holds for all tables of Transformers, diffusers and other published models."""
    assert {table: found for table in sorted(set(model_types().values())) if (found := strangers(load(table)))} == {}


#: A stage's first layer convolves before its norm, other stages' after it: names do not distinguish them.
EITHER = {"stages.{layer}.downsample_layers.{part}.weight"}


def test_no_row_of_one_dimension_is_a_convolution_and_no_norm_a_matrix() -> None:
    """Except for the lengths of a weight's filters; a norm has no matrix, except one for each head."""
    wrong = [
        (table, row.template)
        for table in sorted(set(model_types().values()))
        for row in load(table).rows
        if isinstance(row, Row) and row.leaf == "weight" and not row.buffer and row.template not in EITHER
        if (sizes := len(formula.dimensions(row.shape)))
        and (
            (group_of(row.role) == "convolution" and row.role != "conv_scale" and sizes < 2)
            or (group_of(row.role) == "norm" and row.role not in ("layer_scale", "q_norm", "k_norm") and 1 < sizes < 4)
        )
    ]
    assert wrong == []


def test_every_row_of_every_gguf_layout_has_a_role() -> None:
    """Of all architectures of llama.cpp."""
    families = {each.architecture: load_gguf(each.architecture, each.architecture) for each in listed_gguf()}
    families |= {name: load_projector(name) for name in store().names("projectors")}
    assert {name: found for name, family in families.items() if family and (found := strangers(family))} == {}
    assert load_projector("mystery") is None


def test_conventions_give_roles_alone() -> None:
    """Words of paths, whole paths, and GGUF's names have known roles."""
    found = {*conventions.TAILS.values(), *conventions.PATHS.values()}
    found |= {*gguf_names.BLOCK_ROLES.values(), *gguf_names.ROLES.values()}
    assert {role for role, _ in found} <= ROLES.keys()
    assert {role for role, _ in conventions.WORDS} <= ROLES.keys()


def test_a_place_is_never_glued_into_a_role() -> None:
    """Parts of an unknown model have roles too; their place is their branch."""
    names = [
        "speech_encoder_model.layers.3.self_attn.k_proj.weight",
        "blocks.0.stem1.spatial_linear.weight",
        "zap.bias",
    ]
    slots = Namer(None, {"model_type": "unheard_of"}).name(names).slots
    assert [(slot.role, slot.branch, slot.group) for slot in slots] == [
        ("k_proj", "", "attention"),
        ("proj", "spatial_linear", "feed_forward"),
        ("other", "zap", "other"),
    ]


def test_cross_attention_is_a_branch() -> None:
    """The same three tensors, named as in BART, T5 and GGUF."""
    names = {
        "decoder.layers.1.encoder_attn.q_proj.weight": ("q_proj", "cross"),
        "decoder.block.1.layer.1.EncDecAttention.q.weight": ("q_proj", "cross"),
        "dec.blk.1.cross_attn_q.weight": ("q_proj", "cross"),
        "decoder.layers.1.self_attn.q_proj.weight": ("q_proj", ""),
    }
    slots = Namer().name(list(names)).slots
    assert [(slot.role, slot.branch) for slot in slots] == list(names.values())


def test_a_name_has_one_role_whatever_the_class() -> None:
    """Two rows of one name, for two classes or two conditions, are the same tensor."""
    for table in sorted(set(model_types().values())):
        keys: dict[str, tuple[str, str, str]] = {}
        for row in load(table).rows:
            if isinstance(row, Row):
                key = (row.role, row.tower, row.branch)
                assert keys.setdefault(row.template, key) == key, (table, row.template)


def test_the_command_and_the_library_say_the_same() -> None:
    """The command lists each role, and with a part of a name those that match."""
    listed = json.loads(CliRunner().invoke(inspect, ["architectures", "--roles", "--json"]).output)["roles"]
    assert {each["role"]: each["group"] for each in listed} == inspector.ROLES == ROLES
    shown = CliRunner().invoke(inspect, ["architectures", "--roles", "q_proj"]).output
    assert "queries" in shown and "attention" in shown and "lm_head" not in shown


#: Fields that count the entries of a vocabulary, or of a codebook whose codes are tokens.
_VOCABULARY = re.compile(
    r"vocab|num_embeddings|tokens|codebook|max_2d|entity|bucket|n_codes|ngram|audio_num_codes|^embedding_size$|token_size|^\d{3,}$"
)


def test_token_embeddings_have_a_vocabulary() -> None:
    """In every table: positions, times, labels and patches are other roles."""
    rows = [
        (name, row.name, row.shape)
        for name in sorted(set(model_types().values()))
        for row in load(name).rows
        if isinstance(row, Row) and row.role == "embed_tokens" and row.part == "weight" and not row.buffer
    ]
    assert len(rows) > 400
    assert [each for each in rows if not _VOCABULARY.search(each[2].split(",")[0])] == []


def test_an_embedding_of_tokens_has_a_vocabulary() -> None:
    """In Diffusers' tables, whose positions, conditions and projections are embeddings of something else."""
    counted = re.compile(r"vocab|codebook")
    for model_type, table in model_types().items():
        rows = load(table).rows if table.startswith("diffusers_") else ()
        tokens = [row for row in rows if isinstance(row, Row) and row.role == "embed_tokens"]
        assert [row.name for row in tokens if not counted.search(row.shape.split(",")[0])] == [], model_type


SAM = {"model_type": "unlimited_ocr_sam_vision_model", "architectures": ["UnlimitedOcrSamVisionEncoder"]}
DOTS = {"model_type": "dots3_note_vision_encoder", "num_hidden_layers": 1, "mlp_layer_types": ["dense"]}


@every(
    ("config", "name", "role"),
    [
        (DOTS, "blocks.{layer}.mlp.fc1.weight", "gate_proj"),
        (DOTS, "blocks.{layer}.mlp.fc3.weight", "up_proj"),
        (SAM, "blocks.{layer}.attn.qkv.weight", "qkv_proj"),
        ({"model_type": "ovis2"}, "model.visual_embeddings_table.weight", "embed_codes"),
        ({"model_type": "convbert"}, "encoder.layer.{layer}.attention.self.conv_out_layer.weight", "v_proj"),
        ({"_class_name": "AutoencoderKLMochi"}, "encoder.proj_in.weight", "pointwise_conv"),
        ({"_class_name": "LTX2VideoDiffusionDecoderModel"}, "decoder.conv_in.weight", "pointwise_conv"),
    ],
)
def test_a_role_is_what_the_module_does(config: dict[str, object], name: str, role: str) -> None:
    """As Transformers 5.24 and Diffusers 0.42.1 compute: `silu(fc1(x)) * fc3(x)`, an nn.Embedding, Linear layers."""
    assert {row.role for row in inspector.predict(config).expected if row.name == name} == {role}
