"""Bills of materials: valid by the schemas of both kinds, the same each time, with what the model is and what was not read."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import hostile
import pytest
from conftest import Ran

import inspector
from inspector.report.sbom import parts

Run = Callable[..., Ran]
schemas = pytest.importorskip("jsonschema_rs")
cyclonedx = pytest.importorskip("cyclonedx.schema")
pytest.importorskip("spdx_python_model")

SCHEMA = Path(__file__).parents[1] / "fixtures/real/sbom/spdx-3.0.1.schema.json"
LINEAR = Path(__file__).parents[1] / "fixtures/real/safetensors/burn/linear.safetensors"
CARD = "---\nlicense: apache-2.0\nbase_model: org/base\n---\n"
KINDS = pytest.mark.parametrize("ending", ["cdx.json", "spdx3.json"])


@pytest.fixture(scope="module")
def spdx() -> Any:
    return schemas.validator_for(json.loads(SCHEMA.read_text()))


@cache
def cyclonedx_1_6() -> Any:
    """The schema that the library brings, in which no unknown field is allowed, with the two that it refers to."""
    folder = Path(cyclonedx.__file__).parent / "_res"
    names = ("bom-1.6.SNAPSHOT.schema.json", "spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")
    whole, *further = (json.loads((folder / name).read_text()) for name in names)
    site = whole["$id"].rpartition("/")[0]
    beside = schemas.Registry([(f"{site}/{name}", schema) for name, schema in zip(names[1:], further, strict=True)])
    return schemas.validator_for(whole, registry=beside, validate_formats=True)


@pytest.fixture(autouse=True)
def _undated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


def valid(path: Path, spdx: Any) -> Any:
    """The document, which its kind's schema accepts."""
    document = json.loads(path.read_text())
    (cyclonedx_1_6() if ".cdx." in path.name else spdx).validate(document)
    return document


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Two tensors, a card, and Python that runs a command."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "linear.safetensors").write_bytes(LINEAR.read_bytes())
    (folder / "README.md").write_text(CARD)
    (folder / "modeling_x.py").write_text("import os\nos.system('x')\n")
    return folder


def of(component: dict[str, Any], name: str) -> list[str]:
    return [each["value"] for each in component["properties"] if each["name"] == f"checkpoint-inspector:{name}"]


def test_cyclonedx_has_the_model_its_files_and_its_findings(inspect: Run, model: Path, spdx: Any) -> None:
    """The licence by SPDX's identifier; the harmful file as a vulnerability, the notes as properties."""
    file = model.parent / "m.cdx.json"
    assert inspect("audit", model, "--sbom", file, "--checksum").code == 1
    document = valid(file, spdx)
    (component,) = document["components"]
    assert (component["type"], component["name"]) == ("machine-learning-model", str(model))
    assert component["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    assert [each["name"] for each in component["pedigree"]["ancestors"]] == ["org/base"]
    assert of(component, "parameters") == of(component, "stored_elements") == [str(3 * 2 + 3 + 4 * 3)]
    assert of(component, "not_read") == ["The values of the tensors were not read: --data reads them."]
    hashes = {each["name"]: each["hashes"][0]["content"] for each in component["components"]}
    assert hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in model.iterdir()}
    (harm,) = document["vulnerabilities"]
    at = {each["bom-ref"]: each["name"] for each in component["components"]}
    assert (harm["id"], harm["ratings"][0]["severity"]) == ("remote-code", "high")
    assert [at[each["ref"]] for each in harm["affects"]] == ["modeling_x.py"]
    assert "timestamp" not in document["metadata"]


def test_hidden_files_are_hashed_but_not_those_in_hidden_folders(inspect: Run, model: Path, spdx: Any) -> None:
    file = model.parent / "m.cdx.json"
    (model / ".gitattributes").write_text("*.bin filter=lfs\n")
    (model / ".x").mkdir()
    (model / ".x" / "y").write_text("z")
    inspect("audit", model, "--sbom", file, "--checksum")
    (component,) = valid(file, spdx)["components"]
    assert [each["name"] for each in component["components"] if "hashes" not in each] == [".x/y"]
    assert of(component, "not_read")[0] == "1 file of 5 not hashed: in hidden folders, or unreadable."


def test_spdx_has_the_same(inspect: Run, model: Path, spdx: Any) -> None:
    file = model.parent / "m.spdx3.json"
    assert inspect("audit", model, "--sbom", file, "--checksum").code == 1
    graph = valid(file, spdx)["@graph"]
    packages = {each["name"]: each for each in graph if each["type"] == "ai_AIPackage"}
    assert set(packages) == {str(model), "org/base"}
    files = {each["spdxId"]: each for each in graph if each["type"] == "software_File"}
    assert {each["name"]: each["verifiedUsing"][0]["hashValue"] for each in files.values()} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in model.iterdir()
    }
    related = {each["relationshipType"]: each for each in graph if each["type"] == "Relationship"}
    assert set(related["contains"]["to"]) == set(files)
    assert files[related["hasAssociatedVulnerability"]["from"]]["name"] == "modeling_x.py"
    assert related["descendantOf"]["to"] == [packages["org/base"]["spdxId"]]
    (licence,) = (each for each in graph if each["type"] == "simplelicensing_LicenseExpression")
    assert licence["simplelicensing_licenseExpression"] == "Apache-2.0"
    assert {each["statement"].split(":")[0] for each in graph if each["type"] == "Annotation"} >= {"info executable"}


@KINDS
def test_the_same_bytes_each_time_and_a_date_if_asked(
    ending: str, inspect: Run, model: Path, monkeypatch: pytest.MonkeyPatch, spdx: Any
) -> None:
    """Written over itself; 1,000,000,000 seconds after 1970 it is 01:46:40 on 9 September 2001."""
    file = model.parent / f"m.{ending}"
    inspect("audit", model, "--sbom", file)
    first = file.read_bytes()
    inspect("audit", model, "--sbom", file)
    assert file.read_bytes() == first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    inspect("audit", model, "--sbom", file)
    assert "2001-09-09T01:46:40" in json.dumps(valid(file, spdx))


@pytest.mark.parametrize("seconds", ["soon", "1" * 30])
def test_an_impossible_date_is_none(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
    assert parts.created() is None


@KINDS
def test_hostile_names_and_a_target_that_fails(ending: str, tmp_path: Path, spdx: Any) -> None:
    """Control characters, half of a surrogate pair, and a licence that is none: JSON, valid, and nothing else is written."""
    folder = tmp_path / "m"
    hostile.make(hostile.put("a\x1b]0;x\x07\u202e\n.bin", hostile.calls("o\x1bs", "system")), folder)
    Path(str(folder), "b\udcff.bin").write_bytes(hostile.calls("os", "system"))
    (folder / "x.safetensors").write_bytes(LINEAR.read_bytes())
    (folder / "README.md").write_text('---\nlicense: "my \x1b own"\nbase_model: "a\x07b"\n---\n')
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"weight": "x.safetensors", "t": "gone.safetensors"}})
    )
    out = tmp_path / f"m.{ending}"
    found = inspector.audit([folder, tmp_path / "absent"], sbom=out)
    assert len(found.failed) == 1
    text = out.read_text()
    assert text.isascii()
    assert "\x1b" not in text
    assert "absent" in text
    document = valid(out, spdx)
    if ending == "cdx.json":
        assert document["compositions"] == [{"aggregate": "incomplete", "assemblies": ["model-1"]}]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m", out.name]


def test_an_sbom_overwrites_no_other_file(inspect: Run, model: Path) -> None:
    """A name of no kind, a file of another kind, a folder that is absent: said before any work, and nothing is written."""
    wrong = model.parent / "x.json"
    ran = inspect("audit", model, "--sbom", wrong)
    assert (ran.code, "*.cdx.json for CycloneDX 1.6" in ran.err) == (2, True)
    other = model.parent / "config.cdx.json"
    other.write_text('{"model_type": "llama"}')
    ran = inspect("audit", model, "--sbom", other)
    assert (ran.code, "is not a CycloneDX document: not overwritten" in ran.err) == (2, True)
    assert other.read_text() == '{"model_type": "llama"}'
    assert inspect("audit", model, "--sbom", model.parent / "absent" / "x.spdx3.json").code == 2
    assert not wrong.exists()


def test_a_missing_package_is_a_sentence(inspect: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("inspector.report.sbom.cyclonedx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cyclonedx.model", None)
    ran = inspect("audit", model, "--sbom", model.parent / "m.cdx.json")
    assert ran.code == 2
    assert ran.err.startswith("inspect: a bill of materials needs cyclonedx: `")
    assert ran.err.count("\n") == 1


def test_a_scan_for_the_bill_alone_leaves_no_tables(
    inspect: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from inspector.scanning import run

    asked: dict[str, Any] = {}

    def scan(roots: list[str], out: str, **options: Any) -> run.Scan:
        asked.update(options, roots=roots, out=out, there=Path(out).is_dir())
        units, gone = {"inspected": 0, "kept": 0}, {"checkpoints": 0}
        return run.Scan(Path(out), 1, (), 0, 0, "", 0, units, gone, 0, 0, 0.0, 0, 0, 0, 0, 0, {})

    monkeypatch.setattr(run, "scan", scan)
    ran = inspect("scan", tmp_path, "--sbom", tmp_path / "a.cdx.json")
    assert (ran.code, asked["roots"], asked["there"]) == (0, [str(tmp_path)], True)
    assert (asked["sbom"], Path(asked["out"]).exists()) == (str(tmp_path / "a.cdx.json"), False)
    assert ran.out.startswith(f"{tmp_path / 'a.cdx.json'}: 0 checkpoints")
    assert "--report" not in ran.out


def test_a_repository_has_its_package_url(spdx: Any) -> None:
    """As package-url's type `huggingface` has it: the name as it is, and the commit."""
    columns = {"repository": "org/name", "revision": "0" * 40}
    model = parts.Model("org/name", columns, (parts.File("a", 1, True, None, "sha256:" + "1" * 64),), (), ())
    from inspector.report.sbom import cyclonedx
    from inspector.report.sbom import spdx as of_spdx

    bill = parts.Bill((model,))
    (component,) = cyclonedx.document(bill)["components"]
    assert component["purl"] == "pkg:huggingface/org/name@" + "0" * 40
    assert component["modelCard"] == {}
    assert of(component["components"][0], "stated_digest") == ["sha256:" + "1" * 64]
    document = of_spdx.document(bill)
    spdx.validate(document)
    (package,) = (each for each in document["@graph"] if each["type"] == "ai_AIPackage")
    assert package["software_packageUrl"] == component["purl"]
    assert package["software_downloadLocation"] == "https://huggingface.co/org/name"
