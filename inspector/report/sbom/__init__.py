"""Software bills of materials: an audit, or the tables of a scan, as CycloneDX 1.6 or as SPDX 3.0."""
