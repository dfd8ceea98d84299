"""A loopback Hub that `huggingface_hub` takes for the real one, with an empty cache and nobody logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants
from loopback import samples
from loopback.server import Hub, Repo

from inspector.sources import http


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(http, "FIRST_WAIT", 0.01)
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        yield server


@pytest.fixture(scope="session", autouse=True)
def _session() -> Iterator[None]:
    """One HTTP session for all tests, as a program has one: making it reads all certificates."""
    yield
    close_session()


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The sample repositories' folders, each built when first asked for."""
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
