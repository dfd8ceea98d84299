"""Rules whose findings are made on the way: by the readers, the selection of files, the bridge.

One row a code: group, gravest severity, documentation.
"""

from __future__ import annotations

from inspector.auditing.rules.rule import Group, Rule
from inspector.model import Severity

_ROWS: tuple[tuple[str, Group, Severity, str, str], ...] = (
    # --- the readers: is the file all there? ------------------------------------------------------
    (
        "truncated",
        "whole",
        "error",
        "The file ends before its header says.",
        "A download that broke off, or a full disk. Download the file again.",
    ),
    (
        "json-document",
        "whole",
        "error",
        "A JSON document under a weight file's name.",
        "Most often a server's error message that was saved as the file. Download it again.",
    ),
    (
        "not-weights",
        "whole",
        "error",
        "A file of another kind under a weight file's name: a pickle, a ZIP archive, HDF5, GGML, a program.",
        "It is told by its first bytes, and never opened further. Get the file in the format that its name says.",
    ),
    (
        "unreadable-file",
        "whole",
        "error",
        "A weight file whose header cannot be read.",
        "The message says at which byte reading ended. Download the file again.",
    ),
    (
        "hole",
        "whole",
        "error",
        "Bytes between tensors that no tensor claims.",
        "The reference readers refuse such a file. Whoever wrote it has a bug, or hides something there.",
    ),
    (
        "overlap",
        "whole",
        "error",
        "Two tensors claim the same bytes.",
        "Sharing that a writer should have resolved, or a crafted header. The reference readers refuse it.",
    ),
    (
        "trailing",
        "whole",
        "error",
        "Bytes after the last tensor that none claims.",
        "An oversized file: two files run together, or something appended. safetensors refuses it; llama.cpp does not.",
    ),
    (
        "unknown-dtype",
        "whole",
        "error",
        "A dtype that the safetensors format does not have.",
        "The reference reader refuses the file. A newer format needs a newer reader.",
    ),
    (
        "unknown-type",
        "whole",
        "warning",
        "A tensor type that is not in the table of ggml's.",
        "A fork's own type or one that was removed: llama.cpp will not load the file. Or one newer than this version.",
    ),
    (
        "tensor-entry",
        "whole",
        "error",
        "A tensor's entry in the header is not what the format says.",
        "A field is missing or of the wrong type. The reference reader refuses the file.",
    ),
    (
        "tensor-shape",
        "whole",
        "error",
        "A shape with a dimension that is no size, or with more elements than 64 bits count.",
        "Crafted to overflow a reader, or damaged. Do not load it.",
    ),
    (
        "tensor-size",
        "whole",
        "error",
        "A tensor's bytes are not what its shape and dtype give.",
        "The header contradicts itself; the reference reader refuses the file.",
    ),
    (
        "data-offsets",
        "whole",
        "error",
        "Offsets that are no range of bytes.",
        "Negative, backwards, or beyond 64 bits: damaged or crafted. The reference reader refuses the file.",
    ),
    (
        "header-padding",
        "whole",
        "error",
        "The header is padded with NUL bytes.",
        "The format pads with spaces, and the reference reader refuses anything else.",
    ),
    (
        "header-start",
        "whole",
        "warning",
        "The header begins with white space.",
        "The format says that it MUST begin with `{`; the reference reader does not mind.",
    ),
    (
        "extra-field",
        "whole",
        "warning",
        "A tensor's entry has a field that the format does not know.",
        "Readers skip it. Ask whoever wrote the file what it is for.",
    ),
    (
        "metadata",
        "whole",
        "error",
        "`__metadata__` is not an object of texts.",
        "The reference reader refuses the file.",
    ),
    (
        "misaligned",
        "whole",
        "error",
        "Tensors that do not begin at a multiple of their alignment.",
        "In GGUF an error: llama.cpp refuses the file. In safetensors only a note: older writers made such files.",
    ),
    (
        "alignment",
        "whole",
        "error",
        "`general.alignment` is not a power of two of type uint32.",
        "llama.cpp refuses the file.",
    ),
    ("empty-key", "whole", "error", "A GGUF key-value without a key.", "llama.cpp refuses the file."),
    (
        "nested-array",
        "whole",
        "warning",
        "A GGUF array of arrays.",
        "The specification allows it; llama.cpp does not read it.",
    ),
    ("not-utf-8", "whole", "warning", "A GGUF name or key that is not UTF-8.", "Readers will disagree on it."),
    ("big-endian", "whole", "info", "A big-endian GGUF file.", "llama.cpp reads it on big-endian machines only."),
    ("old-version", "whole", "warning", "GGUF version 1.", "llama.cpp no longer reads it: convert the model again."),
    ("duplicate-tensor", "whole", "error", "Two tensors of one name in a GGUF file.", "llama.cpp refuses the file."),
    ("long-name", "whole", "error", "A tensor's name of 64 bytes or more.", "llama.cpp refuses the file."),
    ("n-dims", "whole", "error", "A GGUF tensor of more than four dimensions.", "llama.cpp refuses the file."),
    ("dimension", "whole", "error", "A GGUF dimension beyond 63 bits.", "Crafted to overflow a reader, or damaged."),
    (
        "elements",
        "whole",
        "error",
        "A GGUF tensor with more elements than 63 bits count.",
        "Crafted to overflow a reader, or damaged.",
    ),
    (
        "partial-block",
        "whole",
        "error",
        "Rows that are no multiple of the type's block.",
        "llama.cpp refuses the file.",
    ),
    (
        "out-of-order",
        "whole",
        "error",
        "Tensors whose data does not follow the table's order.",
        "llama.cpp refuses the file.",
    ),
    # --- the parts of a split GGUF ----------------------------------------------------------------
    (
        "split-count",
        "whole",
        "error",
        "The parts of a split GGUF disagree about how many they are.",
        "Parts of different splits were mixed; llama.cpp refuses the set. Download the parts again.",
    ),
    (
        "split-number",
        "whole",
        "error",
        "Two parts of a split GGUF have the same number.",
        "A part is there twice under two names, and another is missing. Download the parts again.",
    ),
    (
        "missing-part",
        "whole",
        "error",
        "A part of a split GGUF is not there.",
        "Its first part says how many there are. Download the missing ones.",
    ),
    (
        "split-tensors",
        "whole",
        "error",
        "A split GGUF has more or fewer tensors than its first part says.",
        "`split.tensors.count` is of all parts; llama.cpp refuses the set. Download the parts again.",
    ),
    (
        "split-duplicate",
        "whole",
        "error",
        "A tensor stands in several parts of a split GGUF.",
        "Parts of different splits were mixed; llama.cpp refuses the set. Download the parts again.",
    ),
    # --- the selection of files: is the set complete? ------------------------------------------------
    (
        "missing-shard",
        "whole",
        "error",
        "A shard that the index or the other shards' names ask for is not there.",
        "The message says which, and how many tensors are in it. Download it.",
    ),
    (
        "lone-shard",
        "whole",
        "info",
        "The target is one shard of several.",
        "Name the folder to audit the whole checkpoint.",
    ),
    (
        "index",
        "whole",
        "error",
        "The index cannot be read.",
        "It is not JSON, has no `weight_map`, or is larger than any real one. Loaders that need it will fail.",
    ),
    (
        "stale-index",
        "whole",
        "error",
        "The index names none of the files that are there.",
        "It is of another way to split the model. Delete it, or download what it names. A warning beside "
        "`model.safetensors`, which loaders take first.",
    ),
    (
        "unindexed-file",
        "whole",
        "info",
        "Weight files beside those that the index names.",
        "A second copy in another format or precision, most often. It costs disk space and is not loaded.",
    ),
    (
        "several-checkpoints",
        "whole",
        "info",
        "Weight files of more than one checkpoint lie together.",
        "Only one of them is compared with the configuration; name another to audit that.",
    ),
    (
        "many-files",
        "whole",
        "error",
        "More files in one model than any model has.",
        "Beyond 10,000 they are not looked at: weights and JSON documents first, then what lies highest. Keep "
        "data sets and build trees out of a model's folder, or name the model's own.",
    ),
    (
        "not-judged",
        "whole",
        "error",
        "Something was not looked at.",
        "It takes more time or memory than any sound model of its size does, or there is more of it than any model "
        "has: made to exhaust whoever looks at it, or to hide something behind the bounds. Do not take it for sound.",
    ),
    (
        "checksum",
        "whole",
        "error",
        "A file's checksum is not what it should be.",
        "With `--checksum`: compared with the Hub cache's blob names, with what the download noted, with a manifest "
        "or, where asked, with the Hub. The file was damaged or changed: download it again.",
    ),
    (
        "unknown-checksum",
        "whole",
        "info",
        "Nothing is known to compare a checksum with.",
        "Keep a manifest (`--write-manifest FILE`) for the next time, or name the repository with `--hub`.",
    ),
    (
        "broken-cache",
        "whole",
        "error",
        "A repository in the Hub's cache that `huggingface_hub` cannot make sense of.",
        "With `--cache`: a blob or a folder is missing. Delete the repository from the cache and download it again.",
    ),
    (
        "second-copies",
        "whole",
        "info",
        "Space in the Hub's cache that could be had back.",
        "With `--cache`: the same file under two repositories, or revisions that no branch or tag names.",
    ),
    # --- the bridge: does the configuration describe the tensors? ------------------------------------
    (
        "config",
        "consistent",
        "error",
        "The configuration cannot be read.",
        "Not JSON, or larger than any real one. Nothing can be compared with it.",
    ),
    (
        "no-prediction",
        "consistent",
        "info",
        "There is nothing to compare the tensors with.",
        "No configuration, or an architecture without a table: shapes and layers are not checked.",
    ),
    (
        "costly",
        "consistent",
        "error",
        "A configuration that asks for more work than any model does.",
        "Ten thousand layers of ten thousand groups, say: a loader would take all memory, or years. It is not "
        "followed, and the tensors are compared with nothing.",
    ),
    (
        "packing-inferred",
        "consistent",
        "warning",
        "Weights packed in a way that no configuration declares, or in another than it declares.",
        "Loaders go by the configuration. Get the one that belongs to the files.",
    ),
    (
        "packing-doubt",
        "consistent",
        "warning",
        "Packed weights whose shapes fit several widths.",
        "Without a configuration nothing tells 4 bits from 8: the number of parameters is a guess.",
    ),
    (
        "left-out-packed",
        "consistent",
        "warning",
        "A weight that the configuration leaves out of packing, and that is packed.",
        "A loader takes it for a plain weight, and fails or reads nonsense. Get the configuration of these files.",
    ),
    (
        "packed-in-part",
        "consistent",
        "warning",
        "A plain weight whose like is packed in other layers, and which the configuration does not leave out.",
        "A loader expects it packed: scales and the like are missing to it. Get the configuration of these files.",
    ),
    (
        "no-tensors",
        "consistent",
        "info",
        "A file without tensors.",
        "A vocabulary, or an empty shard. Nothing is missing that should be there.",
    ),
    (
        "shape",
        "consistent",
        "error",
        "A tensor of another shape than the configuration gives.",
        "Weights and config.json belong to different models, or one of them was edited.",
    ),
    (
        "vocab-padding",
        "consistent",
        "warning",
        "An embedding with more or fewer rows than the configuration's `vocab_size`.",
        "Tokens were added, or rows padded, without the configuration being told. Loading may fail or resize.",
    ),
    (
        "missing",
        "consistent",
        "error",
        "Tensors that the configuration asks for and that no file has.",
        "Whole layers that are missing show here. Loaders fill them with random numbers, often without a word.",
    ),
    (
        "unexplained",
        "consistent",
        "warning",
        "Tensors that the configuration does not ask for.",
        "Leftovers of training, an extra head or layers beyond `num_hidden_layers`: loaders drop them.",
    ),
    (
        "many-names",
        "consistent",
        "warning",
        "More kinds of tensors than any model has.",
        "Names are looked at a pattern at a time, and a model has hundreds of patterns. What the others are for was "
        "not looked into: a header made to cost time, or no model.",
    ),
    (
        "head-not-stored",
        "consistent",
        "warning",
        "The configuration says that the output head is not tied, and none is stored.",
        "Set `tie_word_embeddings`, or get the head: loaders would fill it with random numbers.",
    ),
    # --- the readers: is something hidden or forged? --------------------------------------------------
    (
        "duplicate-key",
        "safe",
        "error",
        "A name stands twice in a header.",
        "With the same entry it is a writer's slip and a warning; a second `__metadata__`, or a key of a GGUF, is an "
        "error, and the reference readers refuse the file.",
    ),
    (
        "conflicting-key",
        "safe",
        "error",
        "A tensor stands twice in a header, with different entries.",
        "The reference reader takes the last one, another may take the first: what one of them checked, the other does "
        "not load. An error in an audit, a warning elsewhere.",
    ),
    (
        "header-size",
        "safe",
        "error",
        "A header beyond, or near, the format's limit of 100,000,000 bytes.",
        "Beyond it the reference reader refuses the file. Near it the header is made to cost memory and time: "
        "over 16 MiB the audit does not read it, and says so as a warning. Nor is one read whose many small parts "
        "would exhaust memory.",
    ),
    (
        "index-path",
        "safe",
        "error",
        "The index names a file outside its folder.",
        "A loader that follows it reads, or overwrites, files elsewhere. It is not followed here.",
    ),
    (
        "control-character",
        "safe",
        "warning",
        "Control or invisible characters in a name.",
        "They can rewrite what a terminal shows, and make two names look like one.",
    ),
    (
        "tensor-name",
        "safe",
        "error",
        "A tensor's name is empty, or no Unicode text.",
        "An empty name is a warning; half of a surrogate pair breaks readers.",
    ),
)

RULES: tuple[Rule, ...] = tuple(
    Rule(code, group, severity, f"{title}\n\n{advice}") for code, group, severity, title, advice in _ROWS
)
