"""How weights are packed: which stored tensors encode which weights, and which only serve them.

`packing_of` looks at the names' last words; the rest is loaded only if some could belong to a packed weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from inspector.model import Config, Finding, Header, Packing

#: Last words of names that no packing scheme uses: if there are no others, nothing more is loaded.
PLAIN = frozenset(
    """
    weight bias inv_freq gamma beta A_log D dt_bias sinks position_ids masked_bias e_score_correction_bias
    in_proj_weight in_proj_bias class_embedding running_mean running_var num_batches_tracked
    """.split()  # noqa: SIM905  a list of words reads better without a hundred quotes
)


def packing_of(
    config: Config | None, files: tuple[Header, ...], patterns: Mapping[str, Sequence[int]]
) -> Packing | None:
    """How the files' weights are packed; None for plain tensors.

    Args:
        patterns: the tensors' names, with numbers replaced by `{}` → their positions among the files' tensors.
    """
    if any(header.format == "gguf" for header in files):
        from inspector.quantization import ggml  # only for types that only GGUF files have

        return ggml.packing_of(files)
    if PLAIN.issuperset(pattern.rpartition(".")[2] for pattern in patterns):
        return None
    tensors = [tensor for header in files for tensor in header.tensors]
    from inspector.quantization import packing  # plain checkpoints need no schemes

    return packing.packing_of(tensors, patterns, config.declared_packing if config else {})


def piece_of_packed(names: Iterable[str]) -> str | None:
    """The first name that only a piece of a packed weight can have: `….qweight`, `….weight_scale_inv`; else None.

    Scales of activations and caches do not count: plain weights can have them too.
    """
    named = [name for name in names if name.rpartition(".")[2] not in PLAIN]
    if not named:
        return None
    from inspector.quantization.schemes import all_schemes

    ends = {end for scheme in all_schemes() for end in scheme.weights if end.rpartition(".")[2] not in PLAIN}
    ends |= {end for scheme in all_schemes() for end in scheme.side if end.startswith(".weight")}
    return next((name for name in named if name.endswith(tuple(ends - {""}))), None)


def contradictions(config: Config | None) -> tuple[Finding, ...]:
    """The finding for a configuration that declares packing although no tensor is packed."""
    if config is None or not config.declared_packing:
        return ()
    method = config.declared_packing.get("quant_method")
    named = method if isinstance(method, str) else "packed weights"
    what = f"the configuration declares {named:.40}, but no tensor is packed: dequantized, or not packed yet"
    return (Finding("quantization", "warning", what, config.path),)
