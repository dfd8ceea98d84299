"""SARIF checked against classes generated from its 2.1.0 schema: each property is known, required ones are present."""

from __future__ import annotations

import re
from typing import Any

import attr
import sarif_om

#: Property → the schema's definition of its value, or of each item of it. Others hold plain values.
DEFINITIONS: dict[str, type] = {
    "runs": sarif_om.Run,
    "tool": sarif_om.Tool,
    "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor,
    "shortDescription": sarif_om.MultiformatMessageString,
    "fullDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString,
    "defaultConfiguration": sarif_om.ReportingConfiguration,
    "invocations": sarif_om.Invocation,
    "results": sarif_om.Result,
    "message": sarif_om.Message,
    "locations": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation,
    "artifactLocation": sarif_om.ArtifactLocation,
    "region": sarif_om.Region,
    "logicalLocations": sarif_om.LogicalLocation,
}
#: Objects with arbitrary keys: property bags, and fingerprints by name.
FREE = frozenset({"properties", "partialFingerprints"})
#: Values that the schema enumerates, or gives a pattern: sections 3.27.10, 3.14.17 and 3.4.3 of the specification.
VALUES = {
    "level": r"none|note|warning|error",
    "columnKind": r"utf16CodeUnits|unicodeCodePoints",
    "version": r"2\.1\.0|\d[\w.+-]*",
    "uri": r"[\w.~:/?#\[\]@!$&'()*+,;=%-]*",
    "$schema": r"https://\S+sarif-schema-2\.1\.0\.json",
}


def check(value: Any, definition: type, where: str) -> None:
    """Check an object, and those within it, against their definitions."""
    assert isinstance(value, dict), where
    fields = {field.metadata["schema_property_name"]: field for field in attr.fields(definition)}
    assert value.keys() <= fields.keys(), where
    assert {name for name, field in fields.items() if field.default is attr.NOTHING} <= value.keys(), where
    for name, inner in value.items():
        if name in DEFINITIONS:
            for item in inner if isinstance(inner, list) else [inner]:
                check(item, DEFINITIONS[name], f"{where}.{name}")
        else:
            assert name in FREE or not isinstance(inner, dict), f"{where}.{name}"
            assert re.fullmatch(VALUES.get(name, ".*"), str(inner), re.DOTALL), f"{where}.{name}: {inner!r}"
