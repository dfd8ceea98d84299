"""Files of the HDF5 library with what an attacker would hide in them, for tests/test_hdf5.py: needs h5py.

    python tools/make_hdf5_fixtures.py

Each has groups of many links, attributes of every size, and data in other files, in the oldest and the newest of the
library's formats, with bytes before the superblock and without. What is expected is what h5py itself tells.
"""

from __future__ import annotations

import base64
import json
import tempfile
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np

TO = Path(__file__).parents[1] / "fixtures" / "hdf5.json"
LONG = "{" + "x" * 70_000 + "}"


def main() -> None:
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.h5")
        for version in ("earliest", "latest"):
            for before in (0, 512):
                fill(path, version, before)
                packed = base64.b85encode(zlib.compress(path.read_bytes(), 9)).decode()
                made[f"{version}, {before} bytes before"] = {"file": packed, **told(path)}
    TO.write_text("{\n" + ",\n".join(f'"{name}": {json.dumps(each)}' for name, each in made.items()) + "\n}\n")


def fill(path: Path, version: str, before: int) -> None:
    with h5py.File(path, "w", libver=version, userblock_size=before) as file:
        file["layers/dense/vars"] = h5py.ExternalLink("../one.h5", "/a")
        file["inner"] = h5py.SoftLink("/layers")
        for number in range(120):  # more than lie in one node, or one block
            file[f"many/link{number}"] = h5py.ExternalLink(f"/etc/{number}.h5", "/a")
            file.create_group(f"groups/{number}")
        data = file.create_dataset("w", (64,), "u1", external=[("/etc/passwd", 0, 32), ("/etc/group", 0, 32)])
        data.attrs["of any length"] = LONG
        for number in range(60):
            file["groups"].attrs[f"fixed{number}"] = np.bytes_(b"value %d" % number)
        if version == "latest":
            file["groups"].attrs["huge"] = np.bytes_(LONG.encode())
            layout = h5py.VirtualLayout((4,), "u1")
            layout[:] = h5py.VirtualSource("/etc/secret.h5", "d", (4,))
            file.create_virtual_dataset("v", layout)


def told(path: Path) -> dict[str, Any]:
    """Names of other files, and each attribute's name with its length, by h5py."""
    files: list[str] = []
    attributes: dict[str, int] = {}
    with h5py.File(path) as file:
        pending: list[Any] = [file]
        for group in pending:
            attributes |= {name: len(value) for name, value in group.attrs.items()}
            for name in group if isinstance(group, h5py.Group) else ():
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.ExternalLink):
                    files.append(link.filename)
                elif isinstance(link, h5py.HardLink):
                    pending.append(group[name])
            if isinstance(group, h5py.Dataset):
                files += [each[0] for each in group.external or ()]
                files += [each.file_name for each in group.virtual_sources()] if group.is_virtual else []
    return {"files": sorted(files), "attributes": attributes}


if __name__ == "__main__":
    main()
