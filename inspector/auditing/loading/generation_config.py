"""Would `generate` accept the values of generation_config.json?

The bounds are those of Transformers' GenerationConfig.validate and logits_process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading.accepted_values import documents, fields, first_reported, reported, shown, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.units import integer

_FILE = "generation_config.json"


@rule("generation-field", "consistent", "error")
def generation_field(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value of a type that generation does not accept.

    Loading, or the first call of `generate`, raises a type error. Get the model's original file, or delete this one.
    """
    for entry, own in documents(subject, _FILE):
        yield from reported(_wrong_fields(own, subject.document(entry.folder + "config.json")), entry.path)


def _wrong_fields(own: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    for field, value in own.items():
        if value is not None and (should := wrong_kind("generation", "any", field, value)):
            yield f"{field} is {shown(value)}, but should be {should}"
    start, several = own.get("decoder_start_token_id"), own.get("num_return_sequences")
    if config.get("is_encoder_decoder") is True and start is own.get("bos_token_id") is None:
        yield "neither decoder_start_token_id nor bos_token_id, so decoding cannot start"
    alone = not own.get("do_sample") and own.get("num_beams") in (None, 1)
    if type(several) is int and several > 1 and alone:
        yield f"num_return_sequences is {integer(several)}, but there is neither sampling nor beam search"
    if type(start) is int and start < 0:
        yield f"decoder_start_token_id is {integer(start)}: no token has such an id"


@rule("generation-value", "consistent", "error")
def generation_value(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value that `generate` refuses.

    A temperature of 0 with sampling, `top_p` above 1, an unknown kind of cache: the file cannot be loaded, or the first
    call of `generate` fails. Values that only sampling uses are not looked at without `do_sample`.
    """
    for entry, own in documents(subject, _FILE):
        yield from first_reported([*_out_of_range(own), *_unknown_words(own), *_wrong_lists(own)], entry.path)
        share = own.get("top_p")
        if own.get("do_sample") and isinstance(share, int | float) and share > 1:
            what = f"top_p is {shown(share)}: above 1 it is ignored, and all tokens are drawn from"
            yield Found(what, entry.path, severity="warning")


def _out_of_range(own: Mapping[str, Any]) -> Iterator[str]:
    for field, allowed in data.overlay("generation")["ranges"].items():
        value = own.get(field)
        if "with" in allowed and not own.get(allowed["with"]):
            continue
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and not (
                allowed.get("above", -inf) < value and allowed.get("least", -inf) <= value <= allowed.get("most", inf)
            )
        ):
            yield f"{field} is {shown(value)}, but should be {_range(**allowed)}"
        elif isinstance(value, str):
            yield f"{field} is {shown(value)}, but should be a number"


def _range(above: float | None = None, least: float | None = None, most: float | None = None, **_: str) -> str:
    low = f"at least {least:g}" if above is None else f"more than {above:g}"
    return low if most is None else f"{low} and at most {most:g}"


def _unknown_words(own: Mapping[str, Any]) -> Iterator[str]:
    words, table = fields()["words"], data.overlay("generation")
    names = ("early_stopping", "cache_implementation", "watermarking_config")
    stopping, cache, mark = (own.get(name) for name in names)
    if isinstance(stopping, str) and stopping != "never":
        yield f'early_stopping is {shown(stopping)}, but should be true, false or "never"'
    if isinstance(cache, str) and cache not in (*words["cache_implementations"], *table["caches"]):
        yield f"cache_implementation is {shown(cache)}, which is not a kind of cache"
    odd = sorted(mark.keys() - {*words["watermark_fields"]}) if isinstance(mark, Mapping) else []
    if odd:
        yield f"watermarking_config has no field {odd[0]!r:.40}"
    for field in table["ids"]:
        value = own.get(field)
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
        if texts:
            yield f"{field} has {shown(texts[0])}, but should have ids"


def _wrong_lists(own: Mapping[str, Any]) -> Iterator[str]:
    """Lists of lists of ids."""
    for field in data.overlay("generation")["lists_of_ids"]:
        value = own.get(field)
        words = value if isinstance(value, list) else []
        if value == [] or any(not isinstance(each, list) for each in words):
            yield f"{field} is {shown(value)}, but should be a list of lists of ids"
    bias = own.get("sequence_bias")
    if isinstance(bias, Mapping):
        yield "sequence_bias is an object, but should be a list of pairs: ids, and a number"
