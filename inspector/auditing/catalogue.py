"""Every rule of the audit: each is one function, whose docstring is its documentation.

A rule with its own check is a function with the decorator `rule` in a module of one of the folders named after the
questions, where it is found; a package inside such a folder holds what its rules share, and is not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast, get_args

from inspector.auditing import completeness, consistency, loading, safety, values
from inspector.auditing.rule import Group, Rule
from inspector.model import Severity
from inspector.model.codes import Code

#: A folder for each question. Rules run in the order of their codes, whichever folder they are in.
FOLDERS = (completeness, consistency, loading, values, safety)


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, group by group."""
    place = {code: number for number, code in enumerate(get_args(Code))}
    rules = sorted((*_found_while_reading(), *_in_folders()), key=lambda rule: place[rule.code])
    return {each.code: each for each in rules}


@cache
def with_checks() -> tuple[Rule, ...]:
    """The rules with a check of their own, in the same order."""
    return tuple(each for each in all_rules().values() if each.check)


def _in_folders() -> Iterator[Rule]:
    for folder in FOLDERS:
        for module in iter_modules(folder.__path__, f"{folder.__name__}."):
            if not module.ispkg:
                yield from (each for each in vars(import_module(module.name)).values() if isinstance(each, Rule))


def _found_while_reading() -> Iterator[Rule]:
    for row in re.split(r"\n(?=\S)", _FOUND_WHILE_READING.strip()):
        head, _, text = " ".join(row.split()).partition(": ")
        code, group, severity = head.split()
        documentation = text.replace(". ", ".\n\n", 1)
        yield Rule(cast("Code", code), cast("Group", group), cast("Severity", severity), documentation)


#: Rules whose findings come from the readers, the selection of files, the bridge and options. Each row has a code, a
#: group and a severity; then a sentence, which is the title, why it matters and what to do.
_FOUND_WHILE_READING = """
truncated whole error: The file ends before its header says. The download was interrupted, or the disk was full.
    Download the file again.
missing-blob whole error: A manifest of Ollama's store names a blob that the store does not have, or one of another
    size. The pull was interrupted, or the blob was deleted by hand. `ollama pull` fetches what is missing.
json-document whole error: A weight file that is a JSON document. Most often a server's error message that was saved as
    the file. Download it again.
not-weights whole error: A weight file that is not what its name says: a pickle, a ZIP archive, HDF5, GGML,
    a program. It is recognised by its first bytes and read no further. Get the file in the format that its name
    implies.
unreadable-file whole error: A weight file whose header cannot be read. The message says at which byte reading ended.
    Download the file again.
hole whole error: Bytes between tensors that no tensor claims. The reference readers refuse such a file. Whoever wrote
    it has a bug, or hides something there.
overlap whole error: Two tensors claim the same bytes. Shared data that the writer should have stored once per tensor,
    or a crafted header. The reference readers refuse it.
trailing whole error: Bytes after the end of the contents. Two files were concatenated, or something was appended.
    safetensors refuses the file; llama.cpp, PyTorch, NumPy and h5py do not, for which it is a warning.
unknown-dtype whole error: A dtype that the safetensors format does not have. The reference reader refuses the file. A
    newer format needs a newer reader.
unknown-type whole warning: A tensor type that ggml's table does not have. A fork's or a removed type, which llama.cpp
    does not load; or one newer than this version.
tensor-entry whole error: A tensor's entry in the header violates the format. A field is missing or of the wrong type.
    The reference reader refuses the file.
tensor-shape whole error: A shape with an invalid dimension, or with more elements than 64 bits can count. Crafted to
    overflow a reader, or damaged. Do not load it.
tensor-size whole error: A tensor's byte count does not follow from its shape and dtype. The header contradicts itself;
    the reference reader refuses the file.
data-offsets whole error: A tensor's offsets are not a valid range of bytes. Negative, backwards, or beyond 64 bits:
    damaged or crafted. The reference reader refuses the file.
header-padding whole error: The header is padded with NUL bytes. The format pads with spaces, and the reference reader
    refuses anything else.
header-start whole info: The header begins with white space. The specification says that it MUST begin with `{`; the
    reference reader accepts it anyway.
extra-field whole warning: A tensor's entry has a field that the format does not define. Readers skip it. Ask the file's
    author what it is for.
metadata whole error: `__metadata__` is not an object whose values are strings. The reference reader refuses the file.
misaligned whole error: Tensors that do not begin at a multiple of their alignment. An error in GGUF: llama.cpp refuses
    the file. Only a note in safetensors: older writers produced such files.
alignment whole error: `general.alignment` is not a power of two of type uint32. llama.cpp refuses the file.
empty-key whole error: A GGUF key-value without a key. llama.cpp refuses the file.
nested-array whole error: A GGUF array of arrays. The specification allows it; llama.cpp does not read it.
not-utf-8 whole warning: A GGUF name or key that is not UTF-8. Readers treat it differently.
big-endian whole info: A big-endian GGUF or PyTorch file. llama.cpp reads it only on big-endian machines; PyTorch swaps
    the bytes.
storage whole error: A tensor's storage is missing from a PyTorch file, or is shorter than the tensor. Part of the
    archive is missing, or it was crafted. PyTorch refuses the file: download it again.
shared-storage whole info: Two names in a PyTorch file refer to the same bytes. Usually tied weights: an output head
    that is the token embedding. They are counted once.
view whole info: A tensor of a PyTorch file is a view of a larger storage, or is not contiguous. Saving a slice saves
    the whole storage behind it: `tensor.clone()` before saving makes the file smaller.
pickled-object whole info: A PyTorch file holds objects of classes, tensors without data, or records that are
    compressed. Such a file needs these classes to be installed, and it needs trust: loading imports and runs them.
old-version whole error: GGUF version 1. llama.cpp no longer reads it: convert the model again.
duplicate-tensor whole error: Two tensors in a GGUF file have the same name. llama.cpp refuses the file.
long-name whole error: A tensor's name of 64 bytes or more. llama.cpp refuses the file.
long-key whole info: A GGUF key of more than 65,535 bytes. The specification forbids it; llama.cpp reads it
    nevertheless. No known writer produces such keys.
n-dims whole error: A GGUF tensor of more than four dimensions. llama.cpp refuses the file.
dimension whole error: A GGUF dimension beyond 63 bits. Crafted to overflow a reader, or damaged.
elements whole error: A GGUF tensor with more elements than 63 bits can count. Crafted to overflow a reader, or damaged.
partial-block whole error: Rows whose length is not a multiple of the type's block size. llama.cpp refuses the file.
out-of-order whole error: Tensors whose data does not follow the table's order. llama.cpp refuses the file.
split-count whole error: The parts of a split GGUF disagree about their number. Parts of different splits were mixed;
    llama.cpp refuses the set. Download the parts again.
split-number whole error: Two parts of a split GGUF have the same number. One part is present twice under two names, and
    another is missing. Download the parts again.
missing-part whole error: A part of a split GGUF is missing. Its first part says how many there are. Download the
    missing ones.
split-tensors whole error: A split GGUF has more or fewer tensors than its first part states. `split.tensors.count`
    covers all parts; llama.cpp refuses the set. Download the parts again.
split-duplicate whole error: A tensor is stored in several parts of a split GGUF. Parts of different splits were mixed;
    llama.cpp refuses the set. Download the parts again.
refused whole error: The format's own library refuses a file in which the audit found nothing. An error for
    `safetensors`; a warning for the `gguf` package, which llama.cpp's converter uses. Both are tried if installed. The
    message quotes the library.
missing-shard whole error: A shard that the index or the other shards' names require is missing. The message says which,
    and how many tensors it holds. Download it.
lone-shard whole info: The target is one shard of several. Name the folder to audit the whole checkpoint.
index whole error: The index cannot be read. It is not JSON, has no `weight_map`, or is larger than any real one.
    Loaders that need it will fail.
stale-index whole error: The index names none of the files that are there. It describes a different split of the model.
    Delete it, or download the files it names. Only a warning beside `model.safetensors`, which loaders prefer.
unindexed-file whole info: Weight files beside those that the index names. Usually a second copy in another format or
    precision. It takes up disk space and is not loaded.
several-checkpoints whole info: Weight files of more than one checkpoint are in one folder. Each is checked against the
    configuration named like it, the shared one if it fits, or its tensors alone.
many-files whole error: A model has an implausible number of files. Files beyond the first 10,000 are skipped; weights
    and JSON documents come first, then files near the root. Keep data sets and build trees out of a model's folder, or
    name the model's own folder.
not-judged whole error: Something was not examined. It takes more time or memory than a sound model of its size needs,
    or there is more of it than any model has: it may be meant to exhaust scanners, or to hide something beyond their
    limits. Do not trust it.
checksum whole error: A file's checksum is wrong. With `--checksum`: compared with the Hub cache's blob names, with what
    the download recorded, with a manifest or, on request, with the Hub. The file was damaged or changed: download it
    again.
unknown-checksum whole info: No checksum is known to compare the file with. Write a manifest (`--write-manifest FILE`)
    for the next audit, or name the repository with `--hub`.
broken-cache whole error: A repository in the Hub's cache that `huggingface_hub` cannot interpret. With `--cache`: a
    blob or a folder is missing. Delete the repository from the cache and download it again.
second-copies whole info: Space in the Hub's cache that could be reclaimed. With `--cache`: the same file in two
    repositories, or revisions to which no branch or tag points.
config consistent error: The configuration cannot be read. Not JSON, or larger than any real one. Nothing can be
    compared with it.
no-prediction consistent warning: There is nothing to compare the tensors with. No configuration, or an architecture
    without a table: shapes and layers are not checked. A warning where a list in the configuration is shorter than the
    layers or stages that it is for: no model can be made from it.
unread-experts consistent info: The configuration counts experts that the prediction does not have. The table of this
    `model_type` describes a dense model, and uses none of the fields that count experts: a relative with experts has
    the same type. Sizes predicted from it are too small.
costly consistent error: A configuration demands more work than any model needs. For example ten thousand layers of ten
    thousand groups, which would take all memory, or years. It is not followed, so the tensors are not compared with
    anything.
packing-inferred consistent warning: Weights are packed in a way that the configuration does not declare, or declares
    differently. Loaders rely on the configuration. Get the one that belongs to the files.
packing-doubt consistent info: Packed weights have shapes that fit several bit widths. Without a configuration, 4
    bits cannot be distinguished from 8, so the number of parameters is a guess.
left-out-packed consistent warning: A weight that the configuration exempts from packing is packed. A loader takes it
    for a plain weight, and fails or reads nonsense. Get the configuration of these files.
packed-in-part consistent warning: A weight is plain although other layers' are packed and the configuration does not
    exempt it. A loader expects it to be packed, with scales that are missing. Get the configuration of these files.
no-tensors consistent info: A file without tensors. A GGUF with only a vocabulary, or an empty shard. No expected tensor
    is missing.
shape consistent error: A tensor's shape is not the one that follows from the configuration. Weights and config.json
    belong to different models, or one of them was edited.
vocab-padding consistent warning: An embedding has more or fewer rows than the configuration's `vocab_size`. Tokens were
    added, or rows padded, and the configuration was not updated. Loading may fail or resize.
missing consistent error: Tensors that follow from the configuration are in no file. These may be whole layers. Loaders
    fill them with random numbers, often silently.
unexplained consistent warning: Tensors that do not follow from the configuration. Leftovers of training, an extra head
    or layers beyond `num_hidden_layers`: loaders drop them.
many-names consistent warning: An implausible number of different tensor names. Names are grouped into patterns, of
    which a model has hundreds. Names beyond the limit were not identified: the header is meant to cost time, or this is
    not a model.
head-not-stored consistent warning: The configuration says that the output head is not tied, and none is stored. Set
    `tie_word_embeddings`, or get the head: loaders fill it with random numbers.
duplicate-key safe error: A name appears twice in a header. With identical entries it is a writer's mistake, and a
    warning; a second `__metadata__`, or a GGUF key, is an error, and the reference readers refuse the file.
conflicting-key safe warning: A tensor appears twice in a header, with different entries. The reference reader takes the
    last one, others may take the first, so a program may load another tensor than the one that was checked.
header-size safe error: A header beyond, or near, the format's limit of 100,000,000 bytes. Beyond it the reference
    reader refuses the file. Near it the header is meant to cost memory and time: the audit does not read headers over
    16 MiB, with a warning, nor one whose many small parts would exhaust memory.
index-path safe error: The index names a file outside its folder. A loader that follows it reads, or overwrites, files
    elsewhere. The audit does not follow it.
template-render safe error: A chat template does harm or fails when rendered. With `--deep`, templates are rendered in
    Jinja's sandbox, in a process without files and network, for five conversations. An error if the sandbox stops it,
    or it takes more than 2 s, 256 MB or 10 million characters; a note if it fails on all five. Its behaviour on others
    is judged by its code: see template-code.
control-character safe warning: Control or invisible characters in a name. They can rewrite what a terminal shows, and
    make two different names look the same.
tensor-name safe error: A tensor's name is empty, or is not valid Unicode. An empty name is a warning; half of a
    surrogate pair breaks readers.
"""
