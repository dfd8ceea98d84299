"""A bill of materials as SPDX 3.0.1, with the profile AI."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from cyclonedx.spdx import fixup_id
from spdx_python_model.bindings import v3_0_1 as spdx

from inspector.report.sbom.parts import TOOL, Bill, File, Model, created, is_unsafe, text_of
from inspector.scanning.unit import storable
from inspector.version import __version__

#: The document's mandatory date where none was asked for.
_UNDATED = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNKNOWN_LICENCE = "https://spdx.org/rdf/3.0.1/terms/ExpandedLicensing/NoAssertionLicense"
_PROFILES = ("core", "software", "ai", "simpleLicensing", "security")


def document(bill: Bill) -> dict[str, Any]:
    """The document as JSON-LD's values."""
    written = _Document(f"urn:uuid:{bill.identity}")
    for number, model in enumerate(bill.models, 1):
        written.add_model(f"model-{number}", model)
    return written.closed(bill)


class _Document:
    """A document while elements are added."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._all = spdx.SHACLObjectSet()
        when = created()
        self._by = spdx.CreationInfo(_id="_:creation", specVersion="3.0.1", created=when or _UNDATED)
        if when is None:
            self._by.comment = "No date was asked for: SOURCE_DATE_EPOCH states one."
        agent = self._element(spdx.SoftwareAgent, "agent", name=f"{TOOL} {__version__}")
        self._by.createdBy = [agent]
        self._models: list[Any] = []

    def _element(self, kind: Any, anchor: str, **values: Any) -> Any:
        made = kind(spdxId=f"{self._name}#{anchor}", creationInfo=self._by, **values)
        self._all.add(made)
        return made

    def _relate(self, name: str, start: Any, kind: str, to: list[Any]) -> None:
        self._element(
            spdx.Relationship, name, from_=start, relationshipType=getattr(spdx.RelationshipType, kind), to=to
        )

    def add_model(self, name: str, model: Model) -> None:
        """The package of a model, with its files, licence, base and findings."""
        facts, repository = model.facts, model.columns.get("repository")
        values: dict[str, Any] = {}
        if repository:
            values |= {
                "software_downloadLocation": f"https://huggingface.co/{repository}",
                "software_packageUrl": model.purl,
            }
        if model.columns.get("revision"):
            values["software_packageVersion"] = model.columns["revision"]
        if model.unread:
            values["ai_limitation"] = " ".join(model.unread)
        package = self._element(
            spdx.ai_AIPackage,
            name,
            name=model.target,
            software_primaryPurpose=spdx.software_SoftwarePurpose.model,
            ai_typeOfModel=list(
                dict.fromkeys(facts[each] for each in ("family", "model_type", "class") if each in facts)
            ),
            ai_hyperparameter=[spdx.DictionaryEntry(key=key, value=value) for key, value in facts.items()],
            **values,
        )
        self._models.append(package)
        files = {file.path: self._file(f"{name}-file-{number}", file) for number, file in enumerate(model.files, 1)}
        if files:
            self._relate(f"{name}-contains", package, "contains", [*files.values()])
        self._add_licence(name, package, model.columns.get("license"))
        if base := model.columns.get("base"):
            origin = self._element(spdx.ai_AIPackage, f"{name}-base", name=storable(base))
            self._relate(f"{name}-descends", package, "descendantOf", [origin])
        for number, each in enumerate(model.findings, 1):
            about = files.get(storable(each.path or ""), package)
            if is_unsafe(each):
                own = f"{name}-vulnerability-{number}"
                harm = self._element(spdx.security_Vulnerability, own, name=each.rule, description=text_of(each))
                self._relate(f"{own}-of", about, "hasAssociatedVulnerability", [harm])
            else:
                self._element(
                    spdx.Annotation,
                    f"{name}-finding-{number}",
                    annotationType=spdx.AnnotationType.review,
                    subject=about,
                    statement=text_of(each),
                )

    def _file(self, name: str, file: File) -> Any:
        """SPDX 3.0 has no field for a file's size: it is in the comment."""
        purpose = spdx.software_SoftwarePurpose.model if file.weights else spdx.software_SoftwarePurpose.file
        stated = f", {file.stated} by its store" if file.stated else ""
        hashes = [spdx.Hash(algorithm=spdx.HashAlgorithm.sha256, hashValue=file.sha256)] if file.sha256 else []
        return self._element(
            spdx.software_File,
            name,
            name=file.path,
            comment=f"{file.size} bytes{stated}",
            software_primaryPurpose=purpose,
            verifiedUsing=hashes,
        )

    def _add_licence(self, name: str, package: Any, word: str | None) -> None:
        declared: Any = _UNKNOWN_LICENCE
        if word:
            known = fixup_id(word.strip())
            declared = (
                self._element(
                    spdx.simplelicensing_LicenseExpression, f"{name}-licence", simplelicensing_licenseExpression=known
                )
                if known
                else self._element(
                    spdx.simplelicensing_SimpleLicensingText,
                    f"{name}-licence",
                    name=storable(word),
                    simplelicensing_licenseText=storable(word),
                )
            )
        self._relate(f"{name}-declared", package, "hasDeclaredLicense", [declared])
        self._relate(f"{name}-concluded", package, "hasConcludedLicense", [_UNKNOWN_LICENCE])

    def closed(self, bill: Bill) -> dict[str, Any]:
        """The finished document."""
        profiles = [getattr(spdx.ProfileIdentifierType, each) for each in _PROFILES]
        failed = "; ".join(f"{target}: {why}" for target, why in bill.failed)
        content = self._element(
            spdx.software_Sbom,
            "sbom",
            rootElement=self._models,
            element=sorted(self._all.foreach_type(spdx.Element), key=lambda each: each.spdxId),
            profileConformance=profiles,
            software_sbomType=[spdx.software_SbomType.analyzed],
        )
        if failed:
            content.comment = f"Not audited: {failed}"
        self._element(spdx.SpdxDocument, "document", rootElement=[content], profileConformance=profiles)
        data: dict[str, Any] = spdx.JSONLDSerializer().serialize_data(self._all, force_at_graph=True)
        data["@graph"].sort(key=lambda each: each.get("spdxId", ""))
        return data
