"""What determines a model's memory: weights, what its layers keep, the context that it is made for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.architectures import GGUF_ARCHITECTURE, caches
from inspector.architectures.facts import SENTENCE_LENGTH
from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.model import Config, Prediction, Reconciliation
from inspector.sizing.engines.engine import Engine
from inspector.sizing.widths import WIDTHS, Width, width
from inspector.tabular import NamedTuple

if TYPE_CHECKING:
    from inspector.sizing.engines.graphs import Buffers

#: Fields for the length of the context; the first one present counts.
CONTEXT = (
    SENTENCE_LENGTH, "max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "max_seq_length",
    "n_ctx", "seq_length", "model_max_length", "max_target_positions", "context_length",
)  # fmt: skip
#: The same for an encoder's input.
SOURCE = ("max_source_positions", "max_encoder_position_embeddings")
#: Fields for a configuration's own type.
_DTYPES = ("dtype", "torch_dtype")
#: Types that a model computes in.
PLAIN = ("float32", "float16", "bfloat16")
#: The part of a configuration that describes its language model.
LANGUAGE = ("text_config", "llm_config", "language_config", "thinker_config")
#: Fields for scaling positions beyond the original context.
SCALING = ("rope_scaling", "rope_parameters")


class Beside(NamedTuple):
    """What a server loads beside the model."""

    tower: Reconciliation | None = None  # the file of a vision tower: llama.cpp's `--mmproj`
    draft: Model | None = None  # a smaller model that drafts tokens: `--model-draft`


class Model(NamedTuple):
    """The known facts about the model."""

    target: str
    config: Config | None
    prediction: Prediction | None
    result: Reconciliation | None  # None for a configuration alone
    kept: tuple[caches.Kept, ...] | None  # None if no table says
    unknown: str  # why not
    scope: Scope | None  # the fields of the part that has a cache
    buffers: Buffers | None = None  # None if the engine's are not known
    beside: Beside = Beside()

    @property
    def format(self) -> str | None:
        return self.result.checkpoint.format if self.result else self.config.kind if self.config else None

    @property
    def context(self) -> int | None:
        """Tokens that the model is made for."""
        return self._field(CONTEXT)

    @property
    def source(self) -> int | None:
        """Tokens of an encoder's input that the model is made for; 0 for a decoder alone."""
        if self.config and caches.is_decoder_alone(self.config):
            return 0
        return self._field(SOURCE)

    def is_confirmed(self, engine: str) -> bool:
        """Whether the cache was compared with what the engine itself holds for models of this type."""
        from inspector.sizing.confirmed_types import CONFIRMED

        if (self.format == "gguf") != (engine == "llama.cpp"):
            return False  # llama.cpp was compared on GGUF files, the others on configurations
        types = {self.scope.config.get("model_type")} if self.scope is not None else set()
        if self.config:
            types |= {self.config.values.get(field) for field in ("model_type", GGUF_ARCHITECTURE)}
        return not CONFIRMED[engine].isdisjoint(types)

    def run_by(self, engine: Engine) -> Model:
        """The model with what this engine keeps."""
        if self.kept is None:
            return self
        kept = caches.of_engine(self.kept, engine.name)
        own = self.format == "gguf" and engine.name == "llama.cpp"  # its tables are of that engine's caches
        if engine.opaque and not own and any(group.stride > 1 for group in kept):
            return self._replace(kept=None, unknown=engine.opaque)
        return self._replace(kept=kept)

    def _field(self, names: tuple[str, ...]) -> int | None:
        for name in names:
            with suppress(ConfigError):
                value = self.scope[name] if self.scope is not None else self._stated(name)
                if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40:
                    return value
        return None

    @property
    def computes_in(self) -> Width:
        """The type that it computes in: the configuration's, or that of most of its plain weights."""
        values = self.scope.config if self.scope is not None else {}
        outer = self.config.values if self.config else {}
        for stated in (given.get(name) for given in (values, outer) for name in _DTYPES):
            if isinstance(stated, str) and (name := stated.removeprefix("torch.")) in PLAIN:
                return width(name)
        plain = {each.dtype: each.elements for each in self.result.dtypes} if self.result else {}
        known = [name for name in plain if name in ("F16", "BF16")] or [name for name in plain if name == "F32"]
        return WIDTHS[max(known, key=plain.__getitem__)] if known else WIDTHS["BF16"]

    def _stated(self, name: str) -> object:
        """What a configuration that no table knows states, itself or for its language model."""
        own = self.config.values if self.config else {}
        parts = (own.get(part) for part in LANGUAGE)
        return next((each[name] for each in (own, *parts) if isinstance(each, Mapping) and name in each), None)

    @property
    def scaling(self) -> str | None:
        """How positions are scaled: "yarn ×4", if the configuration says so."""
        values = self.scope.config if self.scope is not None else {}
        for name in SCALING:
            rule = values.get(name)
            if isinstance(rule, dict):
                kind = rule.get("rope_type", rule.get("type"))
                factor = rule.get("factor")
                if isinstance(kind, str) and kind != "default":
                    return f"{kind} ×{factor}" if isinstance(factor, (int, float)) else kind
        return None


def stated_context(config: Config) -> int | None:
    """Tokens that a model of an unknown type is made for, if its configuration says so."""
    return Model("", config, None, None, None, "", None).context


def of_result(result: Reconciliation) -> Model:
    """The model in files."""
    return _model_from(result.checkpoint.target, result.checkpoint.config, result.prediction, result)


def of_prediction(target: str, prediction: Prediction) -> Model:
    """The model described by a configuration, without files."""
    return _model_from(target, prediction.config, prediction, None)


def _model_from(
    target: str, config: Config | None, prediction: Prediction | None, result: Reconciliation | None
) -> Model:
    if config is None:
        return Model(target, None, prediction, result, None, "there is no configuration", None)
    try:
        return Model(target, config, prediction, result, caches.kept(config), "", caches.text_scope(config))
    except ConfigError as error:
        scope = None
        with suppress(ConfigError):
            scope = caches.text_scope(config)
        return Model(target, config, prediction, result, None, str(error), scope)
