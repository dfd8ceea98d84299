"""OpenAssistant's reward models, with code of their own: GPT-NeoX and one number for a text."""

from __future__ import annotations

from inspector.architectures.data.families.gpt_neox import FAMILY as GPT_NEOX
from inspector.architectures.table import Row

FAMILY = GPT_NEOX._replace(
    name="gpt_neox_reward_model",
    types={"gpt_neox_reward_model": {}},
    rows=(
        *(row for row in GPT_NEOX.rows if not (isinstance(row, Row) and row.heads)),
        Row("score", "out_proj", "1, hidden_size", bias="True"),
    ),
    classes={"GPTNeoXRewardModel": "RewardModel"},
    head="RewardModel",
)
