"""π0: PaliGemma beside a smaller Gemma that makes actions, and reads what PaliGemma has read."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

ROBOT = "ForConditionalGeneration"
BOTH = "paligemma_with_expert."
#: The smaller Gemma, where a configuration leaves it out: configuration_pi0.py.
SMALLER = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 8,
    "num_hidden_layers": 18,
    "num_key_value_heads": 1,
    "vocab_size": 257152,
}
EXPERT, WIDTH = BOTH + "gemma_expert.", "dit_config.hidden_size"


def linear(role: str, out: str, into: str) -> Row:
    """A layer between actions, states or time and the smaller Gemma."""
    return Row(role, role, f"{out}, {into}", bias="True", heads=ROBOT, tower="dit", group="other")


FAMILY = Family(
    name="pi0",
    types={"pi0": {}},
    rows=(
        Include(
            "vlm_config",
            BOTH + "paligemma.model.",
            tower="vlm",
            head="Model",
            default_type="paligemma",
            heads=ROBOT,
        ),
        Include("vlm_config", "vlm.", tower="vlm", head="Model", default_type="paligemma", heads="Model"),
        Include(
            "dit_config",
            EXPERT + "model.",
            tower="dit",
            head="Model",
            default_type="gemma",
            heads=ROBOT,
            without="embed_tokens",
            defaults=SMALLER,
        ),
        Include(
            "dit_config",
            "dit.",
            tower="dit",
            head="Model",
            default_type="gemma",
            heads="Model",
            defaults=SMALLER,
        ),
        # It has no embedding that it could be tied to.
        Row("lm_head", EXPERT + "lm_head", f"dit_config.vocab_size, {WIDTH}", heads=ROBOT, tower="dit"),
        linear("state_proj", WIDTH, "max_state_dim"),
        linear("action_in_proj", WIDTH, "max_action_dim"),
        linear("action_time_mlp_in", WIDTH, f"2 * {WIDTH}"),
        linear("action_time_mlp_out", WIDTH, WIDTH),
        linear("action_out_proj", "max_action_dim", WIDTH),
    ),
    head=ROBOT,
    defaults={
        "dit_config": SMALLER,
        "max_action_dim": 32,
        "max_state_dim": 32,
        "vlm_config": {},
    },
)
