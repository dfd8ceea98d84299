"""`make demo-hub`: a Hub on this machine with sparse sample repositories, and the command using it.

With `--serve` the Hub stays on port 8765 until Ctrl-C, for trying things out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from loopback import samples
from loopback.server import Hub, Repo

#: Where `--serve` listens: the examples of the documentation use this port.
PORT = 8765
#: Command lines, and how many lines of each answer are shown.
SHOWN = (
    ("demo/llama-7b", 100),
    ("demo/deepseek-v3", 6),
    ("demo/Sample-1B-GGUF", 12),
    ("demo/Sample-1B-GGUF --include *Q8_0*", 8),
    ("demo/gated", 1),
    ("demo/nothing", 1),
)
#: The files that demo/small has in both of its revisions.
SMALL = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 512,
    "intermediate_size": 1376,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
}


def repositories(folder: Path) -> dict[str, Repo]:
    """The sample repositories, as files that take hardly any space."""
    for name in ("llama-7b", "deepseek-v3", "gguf"):
        (folder / name).mkdir()
    llama = samples.llama_7b(folder / "llama-7b")
    small = {"v1": folder / "v1", "v2": folder / "v2"}
    for name, vocabulary in (("v1", 32000), ("v2", 32064)):
        samples.safetensors(small[name] / "model.safetensors", samples.llama(4, 512, 1376, vocabulary))
        (small[name] / "config.json").write_text(json.dumps(SMALL | {"vocab_size": vocabulary}))
    return {
        "demo/llama-7b": Repo(llama),
        "demo/small": Repo(small["v2"], revisions=small),
        "demo/deepseek-v3": Repo(samples.deepseek(folder / "deepseek-v3"), all_headers=False),
        "demo/Sample-1B-GGUF": Repo(samples.twenty_gguf(folder / "gguf")),
        "demo/gated": Repo(llama, gated=True, readers=("hf_demo",)),
    }


def show(endpoint: str, folder: str, command: str, lines: int) -> None:
    """Show one command line and the beginning of its output, errors included."""
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": folder, "HF_HUB_OFFLINE": "0"}
    program = [sys.executable, "-m", "inspector", *command.split()]
    ran = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    stated = (ran.stdout + ran.stderr).splitlines()
    print(f"$ inspect {command}", *stated[:lines], *(["…"] if len(stated) > lines else []), "", sep="\n")


def main() -> None:
    serve = "--serve" in sys.argv
    with tempfile.TemporaryDirectory() as folder, Hub(repositories(Path(folder)), port=PORT if serve else 0) as hub:
        for command, lines in SHOWN:
            show(hub.endpoint, folder, command, lines)
        if serve:
            print(f"export HF_ENDPOINT={hub.endpoint}    (the Hub stays until Ctrl-C)")
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                print()


if __name__ == "__main__":
    main()
