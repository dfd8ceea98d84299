"""`make app`: the static site, in one folder, from `app/`, the wheel, Pyodide's package and what is installed here.

    python tools/app.py FOLDER WHEEL PYODIDE

Nothing is fetched. Packages are taken from this environment as plain Python: their extension modules, which a browser
cannot load, are optional. Node compiles all of it as Pyodide would.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import distribution
from math import prod
from pathlib import Path

APP = Path(__file__).resolve().parent.parent / "app"
#: What the library imports for a file on this machine, and what for the Hub besides.
ALWAYS = ("click", "jinja2", "markupsafe", "tabulate")
HUB = (
    "huggingface_hub", "httpx2", "idna", "packaging", "pyyaml", "tqdm", "filelock", "fsspec", "typing_extensions",
)  # fmt: skip
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PAGES = "inspector/report/pages"
SUFFIXES = (".py", ".json", ".pem")


def main(folder: Path, wheel: Path, pyodide: Path) -> None:
    """Write the site into a folder, instead of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in ("index.html", "app.css", "app.js", "editor.js", "parts.js", "worker.js", "README.md"):
        shutil.copyfile(APP / name, folder / name)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, folder / "pyodide" / name)
    info = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["info"]
    (folder / "pyodide" / "pyodide-lock.json").write_text(json.dumps({"info": info, "packages": {}}), "utf-8")
    with zipfile.ZipFile(wheel) as ours:
        for name in ("page.css", "page.js"):
            (folder / name).write_bytes(ours.read(f"{PAGES}/{name}"))
        with zipfile.ZipFile(folder / "python.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as python:
            for each in ours.namelist():
                if each.startswith(("inspector/", "checkpoint_inspector")):
                    python.writestr(each, ours.read(each))
            add_packages(python, ALWAYS)
            python.write(APP / "python" / "engine.py", "engine.py")
    with zipfile.ZipFile(folder / "hub.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as hub:
        add_packages(hub, HUB)
        hub.write(APP / "python" / "httpx2_jsfetch.py", "httpx2_jsfetch.py")
    with tempfile.TemporaryDirectory() as model:
        write_model(Path(model))
        subprocess.run(["node", APP.parent / "tools/compiled.mjs", folder, model], check=True)
    write_service_worker(folder)
    total = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    print(f"{folder}: {total / 1e6:.1f} MB in {sum(each.is_file() for each in folder.rglob('*'))} files")


def add_packages(archive: zipfile.ZipFile, names: tuple[str, ...]) -> None:
    """The Python sources of installed packages, with what says their versions."""
    for name in names:
        for each in distribution(name).files or ():
            wanted = each.suffix in SUFFIXES or each.name == "METADATA"
            if wanted and ".." not in each.parts and (path := Path(str(each.locate()))).is_file():
                archive.write(path, each.as_posix())


def write_model(folder: Path) -> None:
    """A small model, in whose reading Python imports what most readings need."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16, "intermediate_size": 32}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 32, "max_position_embeddings": 64}
    (folder / "config.json").write_text(json.dumps(config | {"torch_dtype": "float32"}), "utf-8")
    shapes = {"embed_tokens.weight": [32, 16], "norm.weight": [16]}
    for layer in ("layers.0", "layers.1"):
        shapes |= {f"{layer}.self_attn.{name}_proj.weight": [16, 16] for name in "qkvo"}
        shapes |= {f"{layer}.mlp.{name}_proj.weight": [32, 16] for name in ("gate", "up")}
        shapes |= {f"{layer}.mlp.down_proj.weight": [16, 32]}
        shapes |= {f"{layer}.{name}_layernorm.weight": [16] for name in ("input", "post_attention")}
    header, end = {}, 0
    for name, shape in (
        {f"model.{name}": shape for name, shape in shapes.items()} | {"lm_head.weight": [32, 16]}
    ).items():
        begin, end = end, end + 4 * prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))


def write_service_worker(folder: Path) -> None:
    """The list of files, with a name that changes with any of them, above the script that keeps them.

    What the Hub needs is kept when it was needed.
    """
    files = sorted(each for each in folder.rglob("*") if each.is_file() and each.name != "README.md")
    digest = hashlib.sha256()
    for each in files:
        digest.update(each.read_bytes())
    names = ["./", *(each.relative_to(folder).as_posix() for each in files if each.name != "hub.zip")]
    build = json.dumps({"version": digest.hexdigest()[:16], "files": names})
    (folder / "sw.js").write_text(f"self.BUILD = {build};\n{(APP / 'sw.js').read_text('utf-8')}", "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
