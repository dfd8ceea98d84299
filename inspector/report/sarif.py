"""An audit as SARIF 2.1.0, the format of code-scanning services."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inspector.auditing.catalogue import all_rules
from inspector.auditing.examination import Audited
from inspector.auditing.rule import Rule
from inspector.auditing.run import Audit
from inspector.model import Finding
from inspector.units import escape
from inspector.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
#: GitHub's scale from 0 to 10 for ranking security findings.
_SECURITY = {"error": "8.0", "warning": "5.0", "info": "1.0"}


def document(result: Audit) -> dict[str, Any]:
    """`inspect audit --sarif`."""
    rules = list(all_rules().values())
    at: dict[str, int] = {rule.code: number for number, rule in enumerate(rules)}
    driver = {
        "name": "checkpoint-inspector",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    results = [_result(finding, model, at) for model in result.checkpoints for finding in model.findings]
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(result)],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(result: Audit) -> dict[str, Any]:
    failures = [{"level": "error", "message": {"text": escape(str(each.reason))}} for each in result.failed]
    return {"executionSuccessful": not failures, **({"toolExecutionNotifications": failures} if failures else {})}


def _rule(rule: Rule) -> dict[str, Any]:
    properties: dict[str, Any] = {"tags": [rule.group], "seen": list(rule.seen)}
    if rule.group == "safe":
        properties |= {"tags": [rule.group, "security"], "security-severity": _SECURITY[rule.severity]}
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.documentation.replace("\n\n", " ").replace("\n", " ")},
        "help": {"text": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": properties,
    }


def _result(finding: Finding, model: Audited, at: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {
        # Weight files have no lines, but services require one.
        "physicalLocation": {"artifactLocation": {"uri": _uri(finding, model)}, "region": {"startLine": 1}}
    }
    if finding.tensor is not None:
        location["logicalLocations"] = [{"name": escape(finding.tensor), "kind": "member"}]
    place = f"{escape(finding.tensor, 200)}: " if finding.tensor else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": at[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": place + escape(finding.message)},
        "locations": [location],
        "partialFingerprints": {"checkpointInspector/v1": _fingerprint(finding, model)},
    }


def _uri(finding: Finding, model: Audited) -> str:
    """The location: relative to the working directory if below it, as code scanning expects."""
    if model.root is None:
        return quote(f"{model.target}/{finding.path or ''}".rstrip("/"), safe="/:@", errors="replace")
    full = Path(model.root) / (finding.path or "")
    try:
        full = full.absolute()
        path = full.relative_to(Path.cwd())
    except (ValueError, OSError):  # outside it, or the working directory was deleted
        return "file://" + quote(full.as_posix(), errors="surrogateescape")
    return quote(path.as_posix(), errors="surrogateescape")


def _fingerprint(finding: Finding, model: Audited) -> str:
    """Equal for the same finding in the next run, whatever the numbers in its message."""
    identity = "\0".join((finding.rule, _uri(finding, model), finding.tensor or ""))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
