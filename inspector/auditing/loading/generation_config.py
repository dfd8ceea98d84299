"""Would `generate` accept the values of generation_config.json?

The bounds are those of Transformers' GenerationConfig.validate and logits_process.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector.auditing.loading.config_fields import MOST, shown
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject


class _Range(NamedTuple):
    """From `least` to `most`; whether the lower end does not belong to it."""

    least: float
    most: float = math.inf
    open_below: bool = False
    only: str = ""  # the flag without which the value is not looked at

    def has(self, value: float) -> bool:
        above = value > self.least if self.open_below else value >= self.least
        return above and value <= self.most

    def __str__(self) -> str:
        low = f"more than {self.least:g}" if self.open_below else f"at least {self.least:g}"
        if self.most == math.inf:
            return low
        return f"{low} and at most {self.most:g}"


_POSITIVE, _COUNT = _Range(0, open_below=True), _Range(1)
_SAMPLED = "do_sample"
#: Fields whose value `generate` tests.
_RANGES: Mapping[str, _Range] = {
    "max_new_tokens": _COUNT,
    "num_beams": _COUNT,
    "num_return_sequences": _COUNT,
    "repetition_penalty": _POSITIVE,
    "encoder_repetition_penalty": _POSITIVE,
    "temperature": _POSITIVE._replace(only=_SAMPLED),
    "top_k": _Range(0, only=_SAMPLED),
    "top_p": _Range(0, only=_SAMPLED),
    "min_p": _Range(0, 1, only=_SAMPLED),
    "typical_p": _Range(0, 1, open_below=True, only=_SAMPLED),
}
#: Kinds of cache (ALL_CACHE_IMPLEMENTATIONS), names that are deprecated included.
_CACHES = frozenset(
    {
        *("static", "offloaded_static", "dynamic", "offloaded", "quantized", "paged", "sliding_window"),
        *("hybrid", "hybrid_chunked", "offloaded_hybrid", "offloaded_hybrid_chunked"),
    }
)
#: Fields of `watermarking_config`: those of green lists, and those of SynthID.
_WATERMARKS = frozenset(
    {
        *("greenlist_ratio", "bias", "hashing_key", "seeding_scheme", "context_width"),
        *("ngram_len", "keys", "context_history_size", "sampling_table_seed", "sampling_table_size"),
        *("skip_first_ngram_calls", "debug_mode"),
    }
)
#: Fields that hold ids of tokens.
_IDS = (
    *("eos_token_id", "bos_token_id", "pad_token_id", "suppress_tokens", "begin_suppress_tokens"),
    "forced_eos_token_id",
)


@rule("generation-value", "consistent", "error")
def generation_value(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value that `generate` refuses.

    A temperature of 0 with sampling, `top_p` above 1, an unknown kind of cache: the file cannot be loaded, or the first
    call of `generate` fails. Values that only sampling uses are not looked at without `do_sample`.
    """
    for entry in subject.named("generation_config.json"):
        own = subject.document(entry.path) if entry.name == "generation_config.json" else {}
        yield from (Found(what, entry.path) for what in [*_beyond(own), *_unknown(own), *_wrong_lists(own)][:MOST])
        share = own.get("top_p")
        if own.get(_SAMPLED) and isinstance(share, int | float) and share > 1:
            what = f"top_p is {shown(share)}: above 1 it is ignored, and all tokens are drawn from"
            yield Found(what, entry.path, severity="warning")


def _beyond(own: Mapping[str, Any]) -> Iterator[str]:
    for field, allowed in _RANGES.items():
        value = own.get(field)
        if allowed.only and not own.get(allowed.only):
            continue
        if isinstance(value, int | float) and not isinstance(value, bool) and not allowed.has(value):
            yield f"{field} is {shown(value)}, but should be {allowed}"
        elif isinstance(value, str):
            yield f"{field} is {shown(value)}, but should be a number"


def _unknown(own: Mapping[str, Any]) -> Iterator[str]:
    stopping, cache, mark = (
        own.get(each) for each in ("early_stopping", "cache_implementation", "watermarking_config")
    )
    if isinstance(stopping, str) and stopping != "never":
        yield f'early_stopping is {shown(stopping)}, but should be true, false or "never"'
    if isinstance(cache, str) and cache not in _CACHES:
        yield f"cache_implementation is {shown(cache)}, which is not a kind of cache"
    odd = sorted(mark.keys() - _WATERMARKS) if isinstance(mark, Mapping) else []
    if odd:
        yield f"watermarking_config has no field {odd[0]!r:.40}"
    for field in _IDS:
        value = own.get(field)
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
        if texts:
            yield f"{field} has {shown(texts[0])}, but should have ids"


def _wrong_lists(own: Mapping[str, Any]) -> Iterator[str]:
    """Lists of lists of ids."""
    for field in ("bad_words_ids", "force_words_ids"):
        value = own.get(field)
        words = value if isinstance(value, list) else []
        if value == [] or any(not isinstance(each, list) for each in words):
            yield f"{field} is {shown(value)}, but should be a list of lists of ids"
    bias = own.get("sequence_bias")
    if isinstance(bias, Mapping):
        yield "sequence_bias is an object, but should be a list of pairs: ids, and a number"
