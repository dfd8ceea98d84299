"""What a target means: a local path if it exists, otherwise decided by its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from huggingface_hub import constants
from loopback import faults, samples
from loopback.reading import report
from loopback.server import Hub, Repo

from inspector import api
from inspector.errors import InspectorError, TargetError, UsageError
from inspector.report import text
from inspector.sources import hub as hub_source
from inspector.sources import remote
from inspector.sources.hub import HubName, parse
from inspector.sources.hub_api import Repository
from inspector.sources.targets import place_of

COMMIT = "0" * 40


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("gpt2", HubName("gpt2")),
        ("gpt2@v1", HubName("gpt2", revision="v1")),
        ("hf://gpt2", HubName("gpt2")),
        ("org/name", HubName("org/name")),
        ("hf://org/name", HubName("org/name")),
        ("org/name@main", HubName("org/name", revision="main")),
        (f"org/name@{COMMIT}", HubName("org/name", revision=COMMIT)),
        ("org/name@refs/pr/3", HubName("org/name", revision="refs/pr/3")),
        ("org/name@refs/pr/3/sub/model.gguf", HubName("org/name", revision="refs/pr/3", path="sub/model.gguf")),
        ("org/name/model.safetensors", HubName("org/name", path="model.safetensors")),
        ("org/name/sub/folder/", HubName("org/name", path="sub/folder")),
        ("org/name@v1/sub/model.gguf", HubName("org/name", revision="v1", path="sub/model.gguf")),
        ("hf://datasets/org/name/x.safetensors", HubName("org/name", "dataset", path="x.safetensors")),
        ("https://huggingface.co/org/name", HubName("org/name")),
        ("https://huggingface.co/org/name/tree/v1/sub", HubName("org/name", revision="v1", path="sub")),
        (
            "https://huggingface.co/org/name/blob/main/a%20b.gguf?download=true",
            HubName("org/name", revision="main", path="a b.gguf"),
        ),
        (
            "https://huggingface.co/org/name/resolve/refs%2Fpr%2F1/model.gguf",
            HubName("org/name", revision="refs/pr/1", path="model.gguf"),
        ),
    ],
)
def test_names_on_the_hub(target: str, name: HubName) -> None:
    """Ids, URIs and pages mean the same thing."""
    assert parse(target) == name


@pytest.mark.parametrize(
    "target",
    [
        "hf://",
        "hf://a/b@",
        "hf://buckets/a/b",
        "https://huggingface.co/org",
        "hf://a--b/c",
        "hf://a/b/c//d",
        "hf://a/b/../../c",
    ],
)
def test_an_invalid_name_is_reported(target: str) -> None:
    with pytest.raises(UsageError, match=r"not a name on the Hub|only models, datasets and spaces|points outside"):
        parse(target)


@pytest.mark.parametrize(
    "target",
    [
        "./a/b",
        "../a/b",
        "/a/b",
        "~/a/b",
        "a\\b",
        "model.safetensors",
        "x.gguf",
        "config.json",
        "a//b",
        "a/b//c",
        "a b",
        "a--b/c",
        "Gewichte/für/mich",
        "模型/x",
    ],
)
def test_a_path_is_not_looked_up_on_the_hub(hub: Hub, target: str) -> None:
    with pytest.raises(TargetError, match="no such file or folder"):
        api.open(target)
    assert hub.log == []


def test_a_local_path_wins_and_the_output_says_so(
    hub: Hub, single: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An existing folder takes precedence, which the output states if it hides a cached repository."""
    samples.safetensors(tmp_path / "demo" / "single" / "model.safetensors", samples.llama(2, 64, 128, 100))
    monkeypatch.chdir(tmp_path)
    local, remote = api.open(single), api.open(f"hf://{single}")
    assert (local.origin.kind, remote.origin.kind) == ("local", "hub")
    assert "local path" not in text.overview(api.reconcile(local))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    (tmp_path / "hub" / "models--demo--single").mkdir(parents=True)
    hiding = text.overview(api.reconcile(api.open(single)))
    assert f"local path {tmp_path}/demo/single; the Hub's is hf://demo/single" in hiding
    assert f"from the Hub: {hub.endpoint}/demo/single, commit " in text.overview(api.reconcile(remote))
    with pytest.raises(UsageError, match="has no revisions: write hf://demo/single"):
        api.open(single, revision="v1")


def test_two_revisions_are_a_contradiction(hub: Hub, single: str) -> None:
    assert api.open(f"{single}@main", revision="main").origin.revision
    with pytest.raises(UsageError, match="two revisions: main in the name, and --revision v2"):
        api.open(f"{single}@main", revision="v2")


def test_a_page_of_the_endpoint_is_its_repository(hub: Hub, single: str) -> None:
    """URLs on HF_ENDPOINT are read through the API, so they get commit and configuration."""
    checkpoint = api.open(f"{hub.endpoint}/{single}/resolve/main/model.safetensors")
    assert checkpoint.origin.kind == "hub"
    assert checkpoint.config is not None


def test_any_url_of_a_file(hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another server is read by ranges, without a token, in one request, and the configuration in another.

    Only a whole model's usual name has one beside it; secrets stay out of the report.
    """
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    commit = api.open(single).origin.revision
    hub.settled().clear()
    url = f"{hub.storage}/storage/{single}/{commit}/model.safetensors"
    found = report(f"{url}?signature=secret")
    assert found["source"] | {"bytes_read": 0} == {
        "kind": "url",
        "location": url,
        "revision": None,
        "requests": 2,
        "redirects": 0,
        "bytes_read": 0,
    }
    assert [entry.path.rpartition("/")[2].partition("?")[0] for entry in hub.settled()] == [
        "model.safetensors",
        "config.json",
    ]
    assert [entry.token for entry in hub.settled()] == [None, None]


def test_a_url_of_an_empty_file(hub: Hub, tmp_path: Path) -> None:
    """A server answers 416 to any range of an empty file."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "model.safetensors").touch()
    hub.repos["demo/empty"] = Repo(tmp_path / "empty")
    commit = place_of("demo/empty").origin().revision
    for target in ("demo/empty", f"{hub.storage}/storage/demo/empty/{commit}/model.safetensors?signature=secret"):
        with pytest.raises(InspectorError, match="is empty"):
            api.open(target)


@pytest.mark.parametrize("url", ["http://", "http:///x", "https://[::1/model.gguf", "http://127.0.0.1:99999/x.gguf"])
def test_urls_that_are_none(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(InspectorError) as caught:
        api.open(url)
    assert "\n" not in str(caught.value)


def test_a_prediction_for_a_repository(hub: Hub, llama: str) -> None:
    """`inspect predict org/name` reads the configuration alone."""
    assert api.predict(llama).parameters == 6_738_415_616
    assert len(hub.answered()) == 2


def test_a_small_file_of_a_server_without_ranges(hub: Hub, single: str) -> None:
    """A file that arrives whole within the first request is as good as a range of it."""
    hub.fault("/storage/", faults.ignores_range)
    assert len(api.open(single).files) == 1


def test_addresses_are_quoted() -> None:
    """A revision is one segment of a path, a file may be several."""
    assert Repository("https://h", "dataset", "a/b", "refs/pr/1").file("x y/z?.gguf") == (
        "https://h/datasets/a/b/resolve/refs%2Fpr%2F1/x%20y/z%3F.gguf"
    )


def test_the_endpoint_is_where_the_hub_is() -> None:
    """Only URLs below the endpoint, or below the Hub's own addresses, belong to the Hub."""
    assert hub_source.is_hub_url("https://huggingface.co/org/name")
    assert hub_source.is_hub_url(f"{constants.ENDPOINT}/org/name")
    assert not hub_source.is_hub_url("https://huggingface.co.example.org/org/name")
    assert not hub_source.is_hub_url("https://example.org/org/name")


@pytest.mark.parametrize(
    ("tag", "files"),
    [
        ("Q4_K_M", ["sample-Q4_K_M.gguf"]),
        ("q4_k_m", ["sample-Q4_K_M.gguf"]),
        ("sample-Q8_0.gguf", ["sample-Q8_0.gguf"]),
    ],
)
@pytest.mark.parametrize("start", ["", "hf://", "hf.co/", "huggingface.co/"])
def test_a_tag_is_a_type(hub: Hub, tmp_path: Path, tag: str, files: list[str], start: str) -> None:
    """A quantization tag, as llama.cpp and Ollama write it, in any case, or the name of a file."""
    for name in ("Q4_K_M", "Q8_0", "Q4_K_S"):
        (tmp_path / f"sample-{name}.gguf").write_bytes(samples_gguf())
    (tmp_path / "config.json").write_text("{}")
    hub.repos["org/sample-GGUF"] = Repo(tmp_path)
    place = place_of(f"{start}org/sample-GGUF:{tag}")
    assert sorted(path for path in place.files if path.endswith(".gguf")) == files
    assert "config.json" in place.files


def samples_gguf() -> bytes:
    return b"GGUF" + bytes([3, 0, 0, 0]) + bytes(16)


def test_a_tag_that_does_not_exist_is_reported_with_those_that_do(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "sample-Q8_0.gguf").write_bytes(samples_gguf())
    hub.repos["org/sample-GGUF"] = Repo(tmp_path)
    with pytest.raises(TargetError, match="no GGUF file of type Q4_K_M; there is Q8_0"):
        place_of("org/sample-GGUF:Q4_K_M")


@pytest.mark.parametrize(
    "target",
    [
        "nothere/config.json",
        "x.ggu",
        "here/model",
        "here/deep/model.safetensors",
        "mode",
        "a.b",
        "~/x",
        "..\\x",
        "./org/name",
    ],
)
def test_a_file_name_or_misspelt_path_is_never_looked_up_on_the_hub(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Names of files, paths within an existing folder, and misspelt local names are not looked up on the Hub."""
    (tmp_path / "here").mkdir()
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match="no such file or folder"):
        place_of(target)
    assert hub.log == []


def _set(hub: Hub, folder: Path, *more: str) -> str:
    """The URL, on a host that is no Hub's, of a model in two shards; its folder has another file that is not asked for."""
    samples.sharded(folder, [*samples.llama(1, 8, 16, 10)], 2)
    config = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 16, "vocab_size": 10}
    config |= {"num_hidden_layers": 1, "num_attention_heads": 2, "architectures": ["LlamaForCausalLM"]}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    if more:
        index = {"weight_map": dict(zip(more, more, strict=True))}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    hub.repos["demo/set"] = Repo(folder)
    commit = place_of("demo/set").origin().revision
    hub.settled().clear()
    return f"{hub.storage}/storage/demo/set/{commit}/{{}}?signature=secret"


@pytest.mark.parametrize("named", ["model.safetensors.index.json", "model-00001-of-00002.safetensors"])
def test_a_set_behind_a_url(named: str, hub: Hub, tmp_path: Path) -> None:
    """Any server with ranges: the shards that the index names, and the configuration beside it, each requested once."""
    url = _set(hub, tmp_path)
    found = report(url.format(named))
    assert [each["path"] for each in found["files"]] == [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    assert found["architecture"]["model_type"] == "llama"
    assert found["source"]["location"] == url.partition("?")[0].format(named)
    assert [each for each in found["findings"] if each["severity"] == "error"] == []
    # Embeddings and head, the projections of a layer's attention and of its feed-forward part, three norms.
    assert found["parameters"]["logical"] == 2 * 10 * 8 + 4 * 8 * 8 + 3 * 8 * 16 + 3 * 8
    asked = [entry.path.rpartition("/")[2].removesuffix("?signature=secret") for entry in hub.settled()]
    there = [*(each["path"] for each in found["files"]), "config.json", "model.safetensors.index.json"]
    assert sorted(asked) == sorted(there)
    assert {entry.token for entry in hub.settled()} == {None}


def test_a_set_behind_a_url_that_lacks_a_shard(hub: Hub, tmp_path: Path) -> None:
    """What the index names and the server does not have is reported; a shard without its set is one file."""
    url = _set(hub, tmp_path)
    for lost in ("model-00000", "model-00002"):
        hub.fault(lost, faults.status(404))
    assert "missing-shard" in {each["rule"] for each in report(url.format("model.safetensors.index.json"))["findings"]}
    hub.fault("index.json", faults.status(404))
    found = report(url.format("model-00001-of-00002.safetensors"))
    assert "lone-shard" in {each["rule"] for each in found["findings"]}
    with pytest.raises(InspectorError, match="404"):
        api.open(url.format("model.safetensors.index.json"))


def test_a_set_behind_a_url_is_bounded(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that names more files than a set has costs no more requests than that."""
    monkeypatch.setattr(remote, "MOST_ASKED", 3)
    url = _set(hub, tmp_path, *(f"model-0000{n}-of-00009.safetensors" for n in range(1, 9)))
    hub.fault("of-00009", faults.status(404))
    with pytest.raises(InspectorError, match="more than 3 files"):
        api.open(url.format("model.safetensors.index.json"))
    assert len(hub.settled()) <= 4
