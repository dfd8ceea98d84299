"""How matrices are cut among the ranks of tensor parallelism: along outputs, inputs, or not at all.

Megatron-LM's rule (arXiv:1909.08053, section 3), which fairscale (Meta's Llama), DeepSpeed and vLLM follow: the first
projections of a block are cut along their outputs, the last ones along their inputs, so that one sum brings the parts
together. Every rank has its own copy of what is added after that sum: norms, and biases of the last projections.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Role → the axis along which its weights are cut; the first of two that leaves the model's width whole. The table of
#: embeddings was cut along its width until Llama 3, which cuts the vocabulary (`VocabParallelEmbedding`).
WEIGHT_AXES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("embed_tokens", "lm_head"), (0, 1)),
    **dict.fromkeys(
        (
            "q_proj",
            "k_proj",
            "v_proj",
            "qkv_proj",
            "kv_proj",
            "q_b_proj",
            "kv_b_proj",
            "gate_proj",
            "up_proj",
            "gate_up_proj",
            "shared_gate_proj",
            "shared_up_proj",
            "shared_gate_up_proj",
        ),
        (0,),
    ),
    **dict.fromkeys(("o_proj", "down_proj", "shared_down_proj"), (1,)),
}
#: Groups of roles that every rank has whole.
WHOLE_GROUPS = frozenset(("norm", "buffer", "router"))
