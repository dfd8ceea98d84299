"""The nouns: frozen data that every floor above shares, with no behaviour beyond arithmetic on itself.

Sizes are bytes, counts are elements, offsets are from a file's first byte; all are exact integers.
All are named tuples: a checkpoint may have half a million tensors and keys, which are then built and hashed at C speed,
and creating the classes at each start takes less than half as long as for dataclasses.
"""

from inspector.model.checkpoint import (
    PACKING_FIELDS,
    Checkpoint,
    Component,
    Config,
    Copy,
    Folder,
    Index,
    Origin,
    OtherFiles,
    Share,
    Variant,
)
from inspector.model.files import REGIONS, Finding, Header, Joined, Piece, Region, Severity, Tensor
from inspector.model.prediction import STACKED, Expected, Key, Prediction, RoleForecast
from inspector.model.reconciliation import (
    Adapter,
    Claim,
    ComponentSum,
    Count,
    Dimension,
    DtypeSum,
    Labelled,
    Model,
    Nominal,
    PackedSum,
    Packing,
    Reconciliation,
    RoleSum,
    Step,
)

__all__ = [
    "PACKING_FIELDS",
    "REGIONS",
    "STACKED",
    "Adapter",
    "Checkpoint",
    "Claim",
    "Component",
    "ComponentSum",
    "Config",
    "Copy",
    "Count",
    "Dimension",
    "DtypeSum",
    "Expected",
    "Finding",
    "Folder",
    "Header",
    "Index",
    "Joined",
    "Key",
    "Labelled",
    "Model",
    "Nominal",
    "Origin",
    "OtherFiles",
    "PackedSum",
    "Packing",
    "Piece",
    "Prediction",
    "Reconciliation",
    "Region",
    "RoleForecast",
    "RoleSum",
    "Severity",
    "Share",
    "Step",
    "Tensor",
    "Variant",
]
