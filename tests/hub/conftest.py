"""Sample repositories on the loopback Hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session
from loopback import samples
from loopback.server import Hub, Repo


@pytest.fixture(scope="session", autouse=True)
def _session() -> Iterator[None]:
    """One HTTP session for all tests, as a program has one: each new session would read all certificates."""
    yield
    close_session()


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folders of the sample repositories, each built when first requested."""
    root = tmp_path_factory.mktemp("samples")
    recipes = {"llama-7b": samples.llama_7b, "deepseek-v3": samples.deepseek, "sample-GGUF": samples.twenty_gguf}

    def folder(name: str) -> Path:
        if not (root / name).exists():
            (root / name).mkdir()
            recipes[name](root / name)
        return root / name

    return folder


@pytest.fixture
def llama(hub: Hub, folders: Callable[[str], Path]) -> str:
    hub.repos["demo/llama-7b"] = Repo(folders("llama-7b"))
    return "demo/llama-7b"


@pytest.fixture
def single(hub: Hub, tmp_path: Path) -> str:
    """A repository of one small weight file and a configuration."""
    folder = tmp_path / "single"
    samples.safetensors(folder / "model.safetensors", samples.llama(1, 64, 128, 100))
    (folder / "config.json").write_text("{}")
    hub.repos["demo/single"] = Repo(folder)
    return "demo/single"
