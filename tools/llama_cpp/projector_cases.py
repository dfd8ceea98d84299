"""What llama.cpp's converter writes beside language models, as cases: `fixtures/gguf_projectors.jsonl`.

    python tools/llama_cpp/projector_cases.py FILE...

The files are those of `convert_hf_to_gguf.py --mmproj` for tiny models of Transformers. A line has a file's `clip.*`
key-values and its tensors, those of one pattern and shape together.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from load_cases import patterns  # noqa: E402

import inspector  # noqa: E402

OUT = ROOT / "fixtures" / "gguf_projectors.jsonl"


def line(path: Path) -> str:
    """A file's case."""
    (header,) = inspector.open(path).files
    keys = {key: value for key, value in header.metadata.items() if key.startswith("clip.")}
    tensors = {tensor.name: list(tensor.shape) for tensor in header.tensors}
    case = {"from": path.name.partition("-")[0], "keys": keys, "tensors": patterns(tensors)}
    return json.dumps(case, separators=(",", ":"))


def main() -> None:
    lines = sorted(line(Path(path)) for path in sys.argv[1:])
    OUT.write_text("\n".join(lines) + "\n")
    print(len(lines), "files")


if __name__ == "__main__":
    main()
