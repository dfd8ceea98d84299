"""Model type pi0: dit_config, vlm_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="pi0",
    types={"pi0": {}},
    rows=(
        Include(
            "dit_config",
            "paligemma_with_expert.gemma_expert.",
            tower="dit",
            head="ForCausalLM",
            default_type="gemma",
            heads="ForConditionalGeneration",
            without="embed_tokens",
        ),
        Include("dit_config", "dit.", tower="dit", head="Model", default_type="gemma", heads="Model"),
        Include(
            "vlm_config",
            "paligemma_with_expert.paligemma.model.",
            tower="vlm",
            head="Model",
            default_type="paligemma",
            heads="ForConditionalGeneration",
        ),
        Include("vlm_config", "vlm.", tower="vlm", head="Model", default_type="paligemma", heads="Model"),
        Row(
            "action_out_proj",
            "action_out_proj",
            "max_action_dim, dit_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "action_in_proj",
            "action_in_proj",
            "dit_config.hidden_size, max_action_dim",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "action_time_mlp_in",
            "action_time_mlp_in",
            "dit_config.hidden_size, 2 * dit_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "action_time_mlp_out",
            "action_time_mlp_out",
            "dit_config.hidden_size, dit_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "state_proj",
            "state_proj",
            "dit_config.hidden_size, max_state_dim",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "lm_head",
            "paligemma_with_expert.gemma_expert.lm_head",
            "dit_config.vocab_size, dit_config.hidden_size",
            when="dit_config.tie_word_embeddings",
            heads="ForConditionalGeneration",
        ),
    ),
    defaults={
        "dit_config": {"hidden_size": 1024, "tie_word_embeddings": True, "vocab_size": 257152},
        "max_action_dim": 32,
        "max_state_dim": 32,
    },
    head="ForConditionalGeneration",
)
