"""A bill of materials as CycloneDX 1.6.

`cyclonedx-python-lib` 11 has no classes for model cards and compositions: these two are added to what it writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType, Pedigree
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.model.tool import ToolRepository
from cyclonedx.model.vulnerability import (
    BomTarget,
    Vulnerability,
    VulnerabilityRating,
    VulnerabilityScoreSource,
    VulnerabilitySeverity,
    VulnerabilitySource,
)
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.spdx import fixup_id
from packageurl import PackageURL

from inspector.model import Finding
from inspector.report.sbom.parts import TOOL, Bill, File, Model, created, is_unsafe, text_of
from inspector.scanning.unit import storable
from inspector.version import __version__

_SEVERITIES = {"error": VulnerabilitySeverity.HIGH, "warning": VulnerabilitySeverity.MEDIUM}


def document(bill: Bill) -> dict[str, Any]:
    """The document as JSON's values."""
    references = [f"model-{number}" for number in range(1, len(bill.models) + 1)]
    named = list(zip(references, bill.models, strict=True))
    when = created()
    bom = Bom(
        serial_number=bill.identity,
        components=[_model(reference, model) for reference, model in named],
        vulnerabilities=[each for reference, model in named for each in _vulnerabilities(reference, model)],
        metadata=BomMetaData(
            tools=ToolRepository(components=[_component(ComponentType.APPLICATION, "tool", TOOL, version=__version__)]),
            properties=[_property("not_audited", f"{target}: {why}") for target, why in bill.failed],
            timestamp=when,
        ),
    )
    for component in bom.components:
        bom.register_dependency(component, component.components)
    written: dict[str, Any] = json.loads(JsonV1Dot6(bom).output_as_string())
    if when is None:
        del written["metadata"]["timestamp"]
    cards = {reference: _card(model) for reference, model in named}
    for component in written.get("components", ()):
        component["modelCard"] = cards[component["bom-ref"]]
    short = [reference for reference, model in named if not model.is_whole]
    if short:
        written["compositions"] = [{"aggregate": "incomplete", "assemblies": short}]
    return written


def _model(reference: str, model: Model) -> Component:
    base, licence = model.columns.get("base"), model.columns.get("license")
    at = {file.path: f"{reference}/file-{number}" for number, file in enumerate(model.files, 1)}
    beside = [each for each in model.findings if not is_unsafe(each)]
    general = [each for each in beside if each.path is None or storable(each.path) not in at]
    return _component(
        ComponentType.MACHINE_LEARNING_MODEL,
        reference,
        model.target,
        version=model.columns.get("revision"),
        purl=PackageURL.from_string(model.purl) if model.purl else None,
        licenses=[_licence(licence)] if licence else (),
        pedigree=Pedigree(ancestors=[_base(reference, base)]) if base else None,
        properties=[
            *(_property(name, value) for name, value in model.facts.items()),
            *(_property("finding", text_of(each)) for each in general),
            *(_property("not_read", each) for each in model.unread),
        ],
        components=[
            _file(at[file.path], file, [each for each in beside if each.path and storable(each.path) == file.path])
            for file in model.files
        ],
    )


def _component(kind: ComponentType, reference: str, name: str, **values: Any) -> Component:
    return Component(type=kind, bom_ref=reference, name=name, **values)


def _base(reference: str, name: str) -> Component:
    return _component(ComponentType.MACHINE_LEARNING_MODEL, f"{reference}/base", storable(name))


def _licence(word: str) -> DisjunctiveLicense:
    """A licence of SPDX's list by its identifier, any other by what the model calls it."""
    known = fixup_id(word.strip())
    return DisjunctiveLicense(id=known) if known else DisjunctiveLicense(name=storable(word))


def _file(reference: str, file: File, findings: list[Finding]) -> Component:
    stated = [_property("stated_digest", file.stated)] if file.stated else []
    return _component(
        ComponentType.FILE,
        reference,
        file.path,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=file.sha256)] if file.sha256 else (),
        properties=[
            _property("bytes", str(file.size)),
            _property("weights", str(file.weights).lower()),
            *stated,
            *(_property("finding", text_of(each)) for each in findings),
        ],
    )


def _vulnerabilities(reference: str, model: Model) -> Iterator[Vulnerability]:
    """What could do harm. A finding about a file affects that file."""
    at = {file.path: f"{reference}/file-{number}" for number, file in enumerate(model.files, 1)}
    for number, each in enumerate(filter(is_unsafe, model.findings), 1):
        yield Vulnerability(
            bom_ref=f"{reference}/vulnerability-{number}",
            id=each.rule,
            source=VulnerabilitySource(name=TOOL),
            ratings=[
                VulnerabilityRating(
                    source=VulnerabilitySource(name=TOOL),
                    severity=_SEVERITIES[each.severity],
                    method=VulnerabilityScoreSource.OTHER,
                )
            ],
            description=text_of(each),
            affects=[BomTarget(ref=at.get(storable(each.path or ""), reference))],
        )


def _card(model: Model) -> dict[str, Any]:
    """What a model is, and what is not known about it."""
    facts = model.facts
    stated = {
        "architectureFamily": facts.get("family"),
        "modelArchitecture": facts.get("class", facts.get("model_type")),
    }
    card: dict[str, Any] = {}
    if parameters := {name: value for name, value in stated.items() if value}:
        card["modelParameters"] = parameters
    if model.unread:
        card["considerations"] = {"technicalLimitations": list(model.unread)}
    return card


def _property(name: str, value: str) -> Property:
    return Property(name=f"{TOOL}:{name}", value=value)
