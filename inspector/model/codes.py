"""The codes of all findings. A type checker refuses any other, wherever a finding is made."""

from __future__ import annotations

from typing import Literal

#: What an audit may find, in the order in which `inspect audit --rules` lists it.
# fmt: off
Code = Literal[
    # complete: found while the files are read
    "truncated", "missing-blob", "json-document", "not-weights", "unreadable-file", "hole", "overlap", "trailing",
    "unknown-dtype", "unknown-type", "tensor-entry", "tensor-shape", "tensor-size", "data-offsets", "header-padding",
    "header-start", "extra-field", "metadata", "misaligned", "alignment", "empty-key", "nested-array", "not-utf-8",
    "big-endian", "storage", "shared-storage", "view", "pickled-object", "old-version", "duplicate-tensor", "long-name",
    "long-key", "n-dims", "dimension", "elements", "partial-block", "out-of-order", "split-count", "split-number",
    "missing-part", "split-tensors", "split-duplicate", "refused", "missing-shard", "lone-shard", "index",
    "stale-index", "unindexed-file", "several-checkpoints", "many-files", "not-judged", "checksum", "unknown-checksum",
    "broken-cache", "second-copies",
    # complete: found by a rule's own function
    "lfs-pointer", "html-page", "wrong-extension", "unfinished-download", "broken-link", "special-file", "no-access",
    "extra-shard", "stale-shards", "index-mismatch", "unindexed-tensors", "missing-component", "second-index",
    "split-name", "no-index", "shadowed-shards", "file-case", "folder-for-file", "lone-part", "missing-merges",
    "no-vocabulary", "no-adapter-config", "misnamed", "missing-config", "pipeline-index", "no-weights",
    "default-weights", "adapter-beside", "index-metadata", "pickled-weights", "sentence-module", "empty-file",
    "blank-file", "sparse-hole", "error-message", "endless-name", "wrong-kind",
    # consistent: found while the files are read
    "config", "no-prediction", "unread-experts", "costly", "packing-inferred", "packing-doubt", "left-out-packed",
    "packed-in-part", "no-tensors", "shape", "vocab-padding", "missing", "unexplained", "many-names", "head-not-stored",
    # consistent: found by a rule's own function
    "dtype", "tied-head-stored", "tokenizer-size", "declared-total", "declared-parameters", "quantization",
    "adapter-rank", "document", "tensor-in-two-files", "gguf-vocabulary", "chat-template", "config-field",
    "model-type", "rope", "generation-field", "config-choice", "generation-value", "token-id", "layer-list",
    "transposed", "tensor-names", "dtype-mixture", "tokenizer", "special-token", "half-adapter", "adapter-targets",
    "gguf-keys", "gguf-name", "pipeline-parts", "diffusers-field", "packing-declared", "undeclared-float8",
    "packing-both", "packing-words", "side-data-missing", "side-data", "tokenizer-files", "tokenizer-field",
    "template-names", "added-tokens", "vocabulary-lines", "preprocessor", "no-preprocessor", "gguf-type",
    "gguf-unknown", "gguf-sizes", "gguf-tensors", "gguf-dimensions", "gguf-weight-type", "gguf-alignment",
    "gguf-tokens", "gguf-template", "no-adapter-weights", "adapter-pieces", "adapter-field",
    # the data, with `--data`
    "scrambled-tensor", "zero-block", "repeated-block", "text-in-tensor", "not-finite", "packed-scale", "zero-tensor",
    "constant-tensor", "value-scale", "lost-bits", "noise", "repeated-tensor", "copies-differ",
    "exchanged-tensors",
    # safe: found while the files are read
    "duplicate-key", "conflicting-key", "header-size", "index-path", "template-render", "control-character",
    "tensor-name",
    # safe: found by a rule's own function
    "pickle", "unopened", "template-code", "template-wording", "tokenizer-wording", "link-outside", "file-name",
    "look-alike", "terminal-code", "duplicate-field",
    "polyglot", "executable", "remote-code", "keras-lambda", "graph-operation", "torchscript",
    "yaml-code", "python-name", "repository-program", "hidden-archive", "outside-path", "external-data",
]
# fmt: on

#: What an estimate of memory may say of its own certainty.
MemoryCode = Literal[
    "beside-unknown",
    "cache-type",
    "cache-unconfirmed",
    "cache-unknown",
    "context-beyond",
    "context-unknown",
    "weights-packed",
]
